package solve

import (
	"fmt"
	"slices"
	"testing"
)

// TestFigure9 is acceptance N-27 for the solver: the program of the NoSE paper's figure 9, as it is printed, has exactly
// three solutions in (d11 ... d15). Each one found is forbidden, until the solver proves that there is no other. (N-26 to
// N-29 are proven for the program that designs are chosen by in package choice.)
func TestFigure9(t *testing.T) {
	t.Run("N-27", func(t *testing.T) {
		p := &Problem{}
		for j := range 5 { // d1 ... d5: the column family is built
			p.Columns = append(p.Columns, binary(fmt.Sprintf("d%d", j+1), 1))
		}
		for j := range 5 { // d11 ... d15: the query uses it
			p.Columns = append(p.Columns, binary(fmt.Sprintf("d1%d", j+1), 0))
			p.Rows = append(p.Rows, Row{Name: fmt.Sprintf("d1%d <= d%d", j+1, j+1), Lower: inf(-1), Upper: 0, Terms: []Term{{5 + j, 1}, {j, -1}}})
		}
		d := func(j int, a float64) Term { return Term{5 + j - 11, a} }
		p.Rows = append(p.Rows,
			Row{Name: "d14 <= d13", Lower: inf(-1), Upper: 0, Terms: []Term{d(14, 1), d(13, -1)}},
			Row{Name: "d15 <= d12 + d14", Lower: inf(-1), Upper: 0, Terms: []Term{d(15, 1), d(12, -1), d(14, -1)}},
			Row{Name: "d11 + d12 + d13 = 1", Lower: 1, Upper: 1, Terms: []Term{d(11, 1), d(12, 1), d(13, 1)}},
			Row{Name: "d11 + d12 + d14 = 1", Lower: 1, Upper: 1, Terms: []Term{d(11, 1), d(12, 1), d(14, 1)}},
			Row{Name: "d11 + d15 = 1", Lower: 1, Upper: 1, Terms: []Term{d(11, 1), d(15, 1)}},
		)
		want := []string{"[0 0 1 1 1]", "[0 1 0 0 1]", "[1 0 0 0 0]"}
		if got := figure9ByHand(p); !slices.Equal(got, want) {
			t.Fatalf("by trying: %v", got)
		}
		var got []string
		for {
			s := solved(t, p, Limits{})
			if s.Status == Infeasible {
				break
			}
			if wantProven(t, s, Optimal); len(got) == 4 {
				t.Fatalf("too many: %v", got)
			}
			uses := s.Values[5:]
			if s.Objective != sum(uses) {
				t.Fatalf("built %v, used %v", s.Values[:5], uses)
			}
			got = append(got, fmt.Sprint(uses))
			other := Row{Lower: 1 - sum(uses), Upper: inf(1)} // at least one value differs
			for j, v := range uses {
				other.Terms = append(other.Terms, Term{5 + j, 1 - 2*v})
			}
			p.Rows = append(p.Rows, other)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func figure9ByHand(p *Problem) (found []string) {
	for bits := range 32 {
		values := make([]float64, 10)
		for j := range 5 {
			v := float64(bits >> j & 1)
			values[j], values[5+j] = v, v
		}
		if p.Check(values) == nil {
			found = append(found, fmt.Sprint(values[5:]))
		}
	}
	slices.Sort(found)
	return found
}

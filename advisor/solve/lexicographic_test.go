package solve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLexicographic(t *testing.T) {
	// Left and right must be covered. Least cost 4 is to be had with two of a to d, one of each side, or with e or f alone
	// (g costs a hair more); the fewest are e, f; and f is smaller than e.
	p := &Problem{
		Columns: []Column{binary("a", 0), binary("b", 0), binary("c", 0), binary("d", 0), binary("e", 0), binary("f", 0), binary("g", 0)},
		Rows:    []Row{row("left", 1, inf(1), 1, 0, 1, 0, 1, 1, 1), row("right", 1, inf(1), 0, 1, 0, 1, 1, 1, 1)},
	}
	for _, unit := range []float64{1, 1e-7, 1e7} {
		t.Run(fmt.Sprint(unit), func(t *testing.T) {
			cost := Objective{Name: "cost", Costs: []float64{2 * unit, 2 * unit, 2 * unit, 2 * unit, 4 * unit, 4 * unit, 4.0001 * unit}}
			count := Objective{Name: "count", Costs: []float64{1, 1, 1, 1, 1, 1, 1}}
			size := Objective{Name: "size", Costs: []float64{1, 1, 1, 1, 9, 8, 2}}
			solutions, err := Lexicographic(context.Background(), New(Config{}), p, []Objective{cost, count, size}, Limits{})
			if err != nil || len(solutions) != 3 {
				t.Fatal(solutions, err)
			}
			for i, want := range []float64{4 * unit, 1, 8} {
				wantProven(t, solutions[i], Optimal)
				if math.Abs(solutions[i].Objective-want) > 1e-9*want {
					t.Errorf("objective %d is %v, want %v", i, solutions[i].Objective, want)
				}
			}
			if got := solutions[2].Values; !slices.Equal(got, []float64{0, 0, 0, 0, 0, 1, 0}) {
				t.Errorf("values %v", got)
			}
		})
	}
}

func TestLexicographicSlack(t *testing.T) {
	p := &Problem{Columns: []Column{binary("a", 0), binary("b", 0), binary("c", 0)}, Rows: []Row{row("", 1, 1, 1, 1, 1)}}
	for _, c := range []struct {
		slack float64
		want  []float64
	}{{0, []float64{1, 0, 0}}, {0.05, []float64{0, 1, 0}}, {0.2, []float64{0, 0, 1}}} {
		objectives := []Objective{{Name: "cost", Costs: []float64{100, 104, 119}, Slack: c.slack}, {Name: "size", Costs: []float64{9, 8, 1}}}
		solutions, err := Lexicographic(context.Background(), New(Config{}), p, objectives, Limits{})
		if err != nil || !slices.Equal(solutions[1].Values, c.want) {
			t.Errorf("slack %v: %+v, %v", c.slack, solutions, err)
		}
	}
}

func TestLexicographicEnds(t *testing.T) {
	none := &Problem{Columns: []Column{binary("a", 0)}, Rows: []Row{row("", 2, 3, 1)}}
	aims := []Objective{{Costs: []float64{1}}, {Costs: []float64{2}}}
	solutions, err := Lexicographic(context.Background(), New(Config{}), none, aims, Limits{})
	if err != nil || len(solutions) != 1 || solutions[0].Status != Infeasible {
		t.Errorf("%+v, %v", solutions, err)
	}
	for _, bad := range []Objective{{Costs: []float64{1, 2}}, {Costs: []float64{1}, Slack: -1}, {Costs: []float64{1}, Slack: math.NaN()}, {Costs: []float64{math.NaN()}}} {
		if _, err := Lexicographic(context.Background(), New(Config{}), none, []Objective{bad}, Limits{}); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// TestLexicographicKeepsFirst: the later objectives never cost the first anything.
func TestLexicographicKeepsFirst(t *testing.T) {
	here := inProcess{}
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		unit := rapid.SampledFrom([]float64{1e-6, 1, 1e6}).Draw(t, "unit")
		first, second := Objective{Name: "first"}, Objective{Name: "second"}
		for j := range p.Columns {
			first.Costs = append(first.Costs, unit*p.Columns[j].Cost)
			second.Costs = append(second.Costs, float64((j*7)%5)-2)
		}
		solutions, err := Lexicographic(context.Background(), here, p, []Objective{first, second}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(solutions) < 2 || solutions[1].Values == nil {
			return
		}
		for j := range p.Columns {
			p.Columns[j].Cost = first.Costs[j]
		}
		if got, best := p.Objective(solutions[1].Values), solutions[0].Objective; got > best+1e-8*math.Abs(best) {
			t.Fatalf("first objective %v, and %v after the second", best, got)
		}
	})
}

// inProcess solves in the test's own process.
type inProcess struct{}

func (inProcess) Solve(ctx context.Context, p *Problem, limits Limits) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return solveHere(ctx, p, limits, func(*Solution) error { return nil }, func(Progress) {})
}

// TestFigure9 is acceptance N-27: the integer program of the NoSE paper's figure 9 has exactly three solutions in
// (d11 ... d15). Each one found is forbidden, until the solver proves that there is no other.
func TestFigure9(t *testing.T) {
	t.Run("N-27", func(t *testing.T) {
		if !exactEngine {
			t.Log("checked by trying all values instead: this build proves nothing")
		}
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
		if !exactEngine {
			return
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

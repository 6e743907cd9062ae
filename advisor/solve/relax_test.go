package solve

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func close6(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-6 }

func sameFloats(a, b []float64) bool { return slices.EqualFunc(a, b, close6) }

func sameRanges(a, b []Range) bool {
	return slices.EqualFunc(a, b, func(x, y Range) bool { return close6(x.Down, y.Down) && close6(x.Up, y.Up) })
}

func TestRelax(t *testing.T) {
	never := inf(1)
	for _, c := range []struct {
		name    string
		problem Problem
		want    Relaxation
	}{
		{
			// min 2a+3b, a+b>=4, a+3b>=6. By hand: the corner is (3,1). It stays the corner while the slope of the costs is
			// between those of the rows: 1/3 < 2/3 < 1, so a between 1 and 3, b between 2 and 6. Row 1 from r: a=(3r-6)/2 and
			// b=(6-r)/2 not negative for r in [2,6]. Row 2 from s: b=(s-4)/2, a=(12-s)/2 for s in [4,12].
			"toolchain 2.6",
			Problem{
				Columns: []Column{{"a", 2, 0, never, true}, {"b", 3, 0, never, true}},
				Rows:    []Row{row("", 4, never, 1, 1), row("", 6, never, 1, 3)},
			},
			Relaxation{
				Status: Optimal, Objective: 9, Values: []float64{3, 1}, Duals: []float64{1.5, 0.5},
				CostRange: []Range{{1, 1}, {1, 3}},
			},
		},
		{
			// The budget of a knapsack: max 10a+6b+4c, a+b+c<=1.5. b is split; c stays out until it is 2 cheaper; one
			// unit more of budget is worth 6, for half a unit up (b whole) and half down (b none). The second row has slack.
			"knapsack, with a slack row",
			Problem{
				Columns: []Column{binary("a", -10), binary("b", -6), binary("c", -4)},
				Rows:    []Row{row("budget", inf(-1), 1.5, 1, 1, 1), row("wide", -1, 7, 0, 0, 1)},
			},
			Relaxation{
				Status: Optimal, Objective: -13, Values: []float64{1, 0.5, 0}, Duals: []float64{-6, 0},
				CostRange: []Range{{never, 4}, {4, 2}, {2, never}},
			},
		},
		{
			"tiny costs",
			Problem{
				Columns: []Column{{"a", 2e-7, 0, never, true}, {"b", 3e-7, 0, never, true}},
				Rows:    []Row{row("", 4, never, 1, 1), row("", 6, never, 1, 3)},
			},
			Relaxation{
				Status: Optimal, Objective: 9e-7, Values: []float64{3, 1}, Duals: []float64{1.5e-7, 0.5e-7},
				CostRange: []Range{{1e-7, 1e-7}, {1e-7, 3e-7}},
			},
		},
		{"no rows", Problem{Columns: []Column{{"x", 1, 2, 3, false}}},
			Relaxation{Status: Optimal, Objective: 2, Values: []float64{2}, CostRange: []Range{{1, never}}}},
		{"nothing", Problem{}, Relaxation{Status: Optimal}},
		{"empty rows", Problem{Columns: []Column{{"x", 1, 2, 3, false}}, Rows: []Row{row("", -1, 1), row("", 1, 9, 1), row("", -1, 1)}},
			Relaxation{Status: Optimal, Objective: 2, Values: []float64{2}, Duals: []float64{0, 0, 0},
				CostRange: []Range{{1, never}}}},
		{"infeasible", Problem{Columns: []Column{binary("x", 1)}, Rows: []Row{row("", 2, 3, 1)}}, Relaxation{Status: Infeasible}},
		{"infeasible empty row", Problem{Columns: []Column{binary("x", 1)}, Rows: []Row{row("", 2, 3)}}, Relaxation{Status: Infeasible}},
		{"unbounded", Problem{Columns: []Column{{"x", -1, 0, never, false}}, Rows: []Row{row("", 2, never, 1)}}, Relaxation{Status: Unbounded}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(Config{}).Relax(context.Background(), &c.problem)
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != c.want.Status || !close6(r.Objective, c.want.Objective) || !sameFloats(r.Values, c.want.Values) || !sameFloats(r.Duals, c.want.Duals) {
				t.Errorf("got  %+v\nwant %+v", *r, c.want)
			}
			if !sameRanges(r.CostRange, c.want.CostRange) {
				t.Errorf("ranges: got  %+v\nwant %+v", *r, c.want)
			}
		})
	}
}

// TestRelaxRanges moves costs to just inside their ranges: the values must stay optimal.
func TestRelaxRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		r, err := Exact.Relax(p)
		if err != nil || r.Status != Optimal {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		j := rapid.IntRange(0, len(p.Columns)-1).Draw(t, "column")
		for _, by := range []float64{-inside(r.CostRange[j].Down), inside(r.CostRange[j].Up)} {
			moved := &Problem{Columns: slices.Clone(p.Columns), Rows: p.Rows}
			moved.Columns[j].Cost += by
			again, err := Exact.Relax(moved)
			if err != nil || again.Status != Optimal || moved.Objective(r.Values) > again.Objective+1e-5 {
				t.Fatalf("cost of column %d moved by %v: %+v, then %+v (%v)", j, by, r, again, err)
			}
		}
	})
}

// TestBound: no multipliers bound a problem above its optimum, be they any, and the relaxation's come to the relaxation; without ranges it is the same.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		best, feasible := bruteForce(p)
		any := make([]float64, len(p.Rows))
		for i := range any {
			any[i] = float64(rapid.IntRange(-12, 12).Draw(t, "multiplier")) / 4
		}
		if v := p.Bound(any); feasible && v > best+1e-9 {
			t.Fatalf("at least %g by %v, and the optimum is %g", v, any, best)
		}
		r, err := Exact.Relax(p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == Optimal && math.Abs(p.Bound(r.Duals)-r.Objective) > 1e-5 {
			t.Fatalf("at least %g by its multipliers, and the relaxation is %g", p.Bound(r.Duals), r.Objective)
		}
		p.Unranged = true
		bare, err := Exact.Relax(p)
		if err != nil || bare.Status != r.Status || bare.CostRange != nil || r.Status == Optimal && !close6(bare.Objective, r.Objective) {
			t.Fatalf("%+v, with ranges %+v (%v)", bare, r, err)
		}
	})
}

func inside(amount float64) float64 { return min(amount, 5) * (1 - 1e-5) }

// TestMixed solves problems with continuous columns, and compares with every choice of the integers. It is done in processes, as the product does it: once in many thousands
// an assertion of the engine's own fails on such a problem (OsiClpSolverInterface::crunch), and it is asked again with the problem preprocessed.
func TestMixed(t *testing.T) {
	solver, n := New(Config{}), 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > 25 { // each starts a process
			return
		}
		p := problems(t)
		for j := range p.Columns {
			p.Columns[j].Integer = j%2 == 0 || j > 5
		}
		best := inf(1)
		fixed := &Problem{Columns: slices.Clone(p.Columns), Rows: p.Rows}
		var try func(j int)
		try = func(j int) {
			if j == len(p.Columns) {
				if r, err := Exact.Relax(fixed); err == nil && r.Status == Optimal {
					best = min(best, r.Objective)
				}
				return
			}
			if !p.Columns[j].Integer {
				try(j + 1)
				return
			}
			for v := 0.0; v <= p.Columns[j].Upper; v++ {
				fixed.Columns[j].Lower, fixed.Columns[j].Upper = v, v
				try(j + 1)
			}
		}
		try(0)
		s, err := solver.Solve(context.Background(), p, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if math.IsInf(best, 1) && s.Status != Infeasible || !math.IsInf(best, 1) && (s.Status != Optimal || math.Abs(s.Objective-best) > 1e-5) {
			t.Fatalf("%+v, but the optimum is %v", s, best)
		}
	})
}

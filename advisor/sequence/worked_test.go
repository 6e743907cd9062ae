package sequence

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// The tables of seed 004's figures 1 to 3.
const (
	cf1 = iota // view of q1
	cf2
	cf3
	cf4 // view of q2
	cf5
	cf6
	cf7 // with cf3 another source of cf6
	families
)

// figure1 is the example of figures 1 and 2 (W-7): q1 from cf1, or cf2 and cf3; q2 from cf4, or cf5 and cf6. At the first step q1 is asked more
// often, at the second q2. Space is for one view.
func figure1() *Problem {
	p := &Problem{Steps: []Step{{Space: 17}, {Space: 17}}}
	for n := range families {
		size := 3.0
		if n == cf1 || n == cf4 {
			size = 10
		}
		p.Tables = append(p.Tables, Table{Name: "CF" + string(rune('1'+n)), Size: size, Upkeep: []float64{0, 0}, Birth: []float64{0, 1}})
	}
	query := func(view, first, second int, weights ...float64) Demand {
		return Demand{Weights: weights, States: 3, Arcs: []choice.Arc{
			{From: choice.Source, To: choice.Sink, Price: 1, Table: view},
			{From: choice.Source, To: 2, Price: 4, Table: first},
			{From: 2, To: choice.Sink, Price: 6, Table: second},
		}}
	}
	p.Demands = []Demand{query(cf1, cf2, cf3, 9, 1), query(cf4, cf5, cf6, 1, 9)}
	either := func(a, b, c int) Load { // from a, or from b and c (W-29 to W-32)
		return Load{States: 3, Arcs: []choice.Arc{
			{From: choice.Source, To: choice.Sink, Price: 2, Table: a},
			{From: choice.Source, To: 2, Price: 2, Table: b},
			{From: 2, To: choice.Sink, Price: 3, Table: c},
		}}
	}
	p.Loads = make([]Load, families)
	p.Loads[cf1], p.Loads[cf4] = either(cf2, cf2, cf3), either(cf5, cf5, cf6)
	p.Loads[cf2], p.Loads[cf3], p.Loads[cf5] = either(cf1, cf1, cf1), either(cf1, cf1, cf1), either(cf4, cf4, cf4)
	p.Loads[cf6] = either(cf4, cf7, cf3)
	return p
}

func tables(list ...int) []bool {
	open := make([]bool, families)
	for _, n := range list {
		open[n] = true
	}
	return open
}

func solve1(t *testing.T, p *Problem) *Result {
	t.Helper()
	r, err := Solve(context.Background(), p, Options{Ties: true, Solver: solve.New(solve.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Proven || !r.Fewest || r.Cost != p.Cost(r.Open) {
		t.Fatalf("%+v", r)
	}
	return r
}

// TestFlip is W-7: the view of the query that is asked more often, the join of the other, and both change places. What it costs is
// counted by hand (W-8, W-9, W-10).
func TestFlip(t *testing.T) {
	p := figure1()
	r := solve1(t, p)
	if !slices.Equal(r.Open[0], tables(cf1, cf5, cf6)) || !slices.Equal(r.Open[1], tables(cf2, cf3, cf4)) {
		t.Fatalf("%v", r.Open)
	}
	// 9*1 + 1*10 at the first step, 1*10 + 9*1 at the second; cf2, cf3 and cf4 created at 1 and filled at 2 each.
	if r.Cost != 19+19+3*(1+2) {
		t.Errorf("cost %g", r.Cost)
	}
	t.Run("W-11 W-8", func(t *testing.T) { // nothing changes, nothing is paid
		same := [][]bool{tables(cf1, cf5, cf6), tables(cf1, cf5, cf6)}
		if c := p.Cost(same); c != 19+9*10+1*1 {
			t.Errorf("cost %g", c)
		}
	})
	t.Run("W-12", func(t *testing.T) { // the first load is an option: birth at the first step
		q := figure1()
		for n := range q.Tables {
			q.Tables[n].Birth[0] = 5
		}
		q.Tables[cf5].There = true
		if got := solve1(t, q).Cost; got != r.Cost+2*5 {
			t.Errorf("cost %g, without the first load %g", got, r.Cost)
		}
	})
	t.Run("W-16", func(t *testing.T) { // with space for both views there is nothing to change
		q := figure1()
		q.Steps = []Step{{}, {}}
		if got := solve1(t, q); got.Cost != 20 || !slices.Equal(got.Open[1], tables(cf1, cf4)) {
			t.Errorf("%+v", got)
		}
	})
}

// TestPlansOfQ2 is W-13 and W-14: q2 has exactly two paths, {CF4} and {CF5, CF6}.
func TestPlansOfQ2(t *testing.T) {
	p := figure1()
	p.Steps, p.Demands = []Step{{}}, p.Demands[1:]
	p.Demands[0].Weights = []float64{1}
	for n := range p.Tables {
		p.Tables[n].Upkeep, p.Tables[n].Birth = []float64{0}, []float64{0}
	}
	var least [][]bool // sets that answer, none of which is without a table that it can do without
	for mask := range 1 << families {
		open := make([]bool, families)
		for n := range open {
			open[n] = mask&(1<<n) != 0
		}
		if math.IsInf(p.Cost([][]bool{open}), 1) {
			continue
		}
		spare := false
		for n, is := range open {
			if is {
				open[n] = false
				spare = spare || !math.IsInf(p.Cost([][]bool{open}), 1)
				open[n] = true
			}
		}
		if !spare {
			least = append(least, open)
		}
	}
	if len(least) != 2 || !slices.Equal(least[0], tables(cf4)) || !slices.Equal(least[1], tables(cf5, cf6)) {
		t.Fatalf("%v", least)
	}
}

// TestLoadOfCF6 is W-27 to W-33 for CF6: it is filled from CF4, or from CF7 and CF3 of the step before, and only if it is created.
func TestLoadOfCF6(t *testing.T) {
	p := figure1()
	p.Demands = nil
	p.Steps = []Step{{}, {}}
	for _, c := range []struct {
		name   string
		before []int
		cost   float64
	}{
		{"W-32 from CF4", []int{cf4}, 1 + 2},
		{"W-30 W-32 from CF7 and CF3", []int{cf7, cf3}, 1 + 5},
		{"W-33 one plan, the cheaper", []int{cf3, cf4, cf7}, 1 + 2},
		{"W-28 CF7 without CF3", []int{cf7}, math.Inf(1)},
		{"W-31 from nothing", nil, math.Inf(1)},
		{"W-33 none if it is there", []int{cf6}, 0},
	} {
		before, after := tables(c.before...), tables(append(c.before, cf6)...)
		if got := p.Cost([][]bool{before, after}); got != c.cost {
			t.Errorf("%s: %g, want %g", c.name, got, c.cost)
		}
		// The solver comes to the same if all is settled.
		q := *p
		q.Demands = []Demand{{Weights: []float64{0, 1}, States: 2, Arcs: []choice.Arc{{From: choice.Source, To: choice.Sink, Table: cf6}, {From: choice.Source, To: choice.Sink, Price: 50, Table: choice.None}}}}
		q.Tables = slices.Clone(p.Tables)
		for n := range q.Tables {
			if q.Tables[n].Birth = []float64{1e6, 1}; before[n] {
				q.Tables[n].There = true
			}
			q.Tables[n].Drop = 1e6
		}
		if got := solve1(t, &q); got.Cost != min(c.cost, 50) {
			t.Errorf("%s: solved at %g, want %g", c.name, got.Cost, c.cost)
		}
	}
}

// TestLocals is W-22: a span of n steps takes n-1 local programs, so that pruning is linear in the steps (W-51); and W-25: only tables that they chose are kept.
func TestLocals(t *testing.T) {
	for _, span := range []int{2, 4, 8, 16, 32, 44} {
		p := synthetic(1, shape{queries: 3, entities: 4, variants: 2, steps: span + 1, weights: cycles})
		r, err := Solve(context.Background(), p, Options{Pruned: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Locals != span-1 {
			t.Errorf("span %d: %d local programs", span, r.Locals)
		}
		for step := range r.Open {
			for n, is := range r.Open[step] {
				if _, kept := slices.BinarySearch(r.Kept, n); is && !kept {
					t.Errorf("span %d: table %d is kept at step %d, but pruned", span, n, step)
				}
			}
		}
	}
}

// TestHandedDown is W-23 and W-24: children keep their parent's designs at their first and last step, and are handed what it found: the whole tree's
// designs are those of the root alone at the root's steps, and those of a child given just the root's at the child's.
func TestHandedDown(t *testing.T) {
	for seed := range uint64(5) {
		p := synthetic(seed, shape{queries: 3, entities: 4, variants: 2, steps: 9, weights: cycles})
		s, ideal, all := solvedTree(t, p)
		alone := newTree(s, ideal)
		for _, span := range [][3]int{{0, 4, 8}, {0, 2, 4}, {4, 6, 8}, {2, 3, 4}} {
			if err := alone.solveLocal(span[0], span[1], span[2], span[2]-span[0] == 8); err != nil {
				t.Fatal(err)
			}
			for _, step := range span {
				if !slices.Equal(alone.design[step], all.design[step]) {
					t.Errorf("seed %d: the design of step %d is another after the program of %v", seed, step, span)
				}
			}
		}
	}
}

// solvedTree is a problem's workload summary tree, solved, with the solver and the best designs of the steps alone that it began with.
func solvedTree(t *testing.T, p *Problem) (s *solver, ideal [][]bool, all *tree) {
	t.Helper()
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	s = &solver{ctx: context.Background(), p: p, in: in, known: math.Inf(1), bound: math.Inf(-1), grain: 1e-13 * p.largestCost(), result: &Result{}}
	if ideal, err = s.designSteps(); err != nil {
		t.Fatal(err)
	}
	all = newTree(s, ideal)
	if err := all.solveAll(); err != nil {
		t.Fatal(err)
	}
	return s, ideal, all
}

// TestFreeChanges: where changing costs nothing, local programs leave each step its own best design, those of the middles among them.
func TestFreeChanges(t *testing.T) {
	for seed := range uint64(5) {
		p := synthetic(seed, shape{queries: 3, entities: 4, variants: 2, steps: 9, weights: func(group, step int) float64 { return float64((7*step + 3*group) % 5) }})
		for n := range p.Tables {
			p.Tables[n].Birth = make([]float64, len(p.Steps))
			p.Loads[n] = Load{States: 2, Arcs: []choice.Arc{{From: choice.Source, To: choice.Sink, Table: choice.None}}}
		}
		_, ideal, all := solvedTree(t, p)
		if got, want := p.Cost(all.design), p.Cost(ideal); !about(got, want) {
			t.Errorf("seed %d: the tree's designs cost %g, those of the steps alone %g", seed, got, want)
		}
	}
}

// TestSummary is W-20 and W-21: three steps, sampled at points or over what is around them, for half of the span.
func TestSummary(t *testing.T) {
	p := &Problem{Steps: make([]Step, 9), Demands: []Demand{{Weights: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}}}, Most: 1}
	for _, s := range []int{1, 2, 7} {
		p.Steps[s].Closed = true
	}
	q := p.summaryProblem([3]int{0, 4, 8}, false)
	if got := q.Demands[0].Weights; !slices.Equal(got, []float64{4, 20, 36}) || len(q.Steps) != 3 || q.Steps[1].Closed || q.Steps[2].Closed || q.Most != 4 {
		t.Errorf("points: %+v", q)
	}
	q = p.summaryProblem([3]int{0, 4, 8}, true)
	if got := q.Demands[0].Weights; !slices.Equal(got, []float64{4 * 2, 4 * 5.5, 4 * 8.5}) {
		t.Errorf("means: %v", got)
	}
	q = p.summaryProblem([3]int{0, 1, 2}, false)
	if got := q.Demands[0].Weights; !slices.Equal(got, []float64{1, 2, 3}) || !q.Steps[1].Closed || !q.Steps[2].Closed || q.Most != 1 {
		t.Errorf("a leaf is the steps themselves: %+v", q)
	}
}

// TestErrors: what can not be solved says what it is.
func TestErrors(t *testing.T) {
	p := figure1()
	p.Steps[1].Space = 10
	var space *SpaceError
	if _, err := Solve(context.Background(), p, Options{}); !errors.As(err, &space) || space.Step != 1 || space.Space != 10 || space.Smallest != 12 || !space.Proven {
		t.Errorf("%v", err)
	}
	p = figure1()
	p.Demands[1].Arcs = p.Demands[1].Arcs[1:2]
	p.Demands[1].Name = "q2"
	var without *UnsatisfiableError
	if _, err := Solve(context.Background(), p, Options{}); !errors.As(err, &without) || without.Demand != 1 || without.Name != "q2" || without.Step != 0 {
		t.Errorf("%v", err)
	}
	for part, spoil := range map[string]func(p *Problem){
		"problem": func(p *Problem) { p.Steps = nil },
		"step":    func(p *Problem) { p.Steps[0].Closed = true },
		"table":   func(p *Problem) { p.Tables[2].Birth = p.Tables[2].Birth[:1] },
		"demand":  func(p *Problem) { p.Demands[0].Weights[1] = -1 },
		"load":    func(p *Problem) { p.Loads[1].Arcs[0].Table = families },
	} {
		p := figure1()
		spoil(p)
		var invalid *InvalidError
		if _, err := Solve(context.Background(), p, Options{}); !errors.As(err, &invalid) || invalid.Part != part {
			t.Errorf("%s: %v", part, err)
		}
	}
	p = figure1()
	p.Demands[0].Arcs = append(p.Demands[0].Arcs, choice.Arc{From: 2, To: 2, Table: choice.None})
	var invalid *InvalidError
	if _, err := Solve(context.Background(), p, Options{}); !errors.As(err, &invalid) {
		t.Errorf("a circle: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(ctx, figure1(), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

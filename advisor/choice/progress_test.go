package choice

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// talking is a solver that says what it has proven before it answers, and talks on when nobody asks any more.
type talking struct {
	solve.Solver
	asked int
	late  func()
}

func (s *talking) Watch(ctx context.Context, p *solve.Problem, limits solve.Limits, watch func(solve.Progress)) (*solve.Solution, error) {
	s.asked++
	solution, err := s.Solve(ctx, p, limits)
	if err == nil && solution.Status == solve.Optimal {
		watch(solve.Progress{Objective: math.Inf(1), Bound: solution.Objective * 0.999})
		watch(solve.Progress{Objective: solution.Objective, Bound: solution.Objective})
	}
	s.late = func() { watch(solve.Progress{Objective: 0, Bound: 0}) }
	return solution, err
}

// cover makes a problem whose dual bound has a gap: sets that cover elements, three each, at the same price.
func cover(r *rand.Rand) *Problem {
	p := &Problem{}
	for range 25 {
		p.Tables = append(p.Tables, Table{Upkeep: 1, Size: 1})
	}
	for range 60 {
		d := Demand{Weight: 1, States: 2}
		for _, n := range r.Perm(25)[:3] {
			d.Arcs = append(d.Arcs, Arc{From: Source, To: Sink, Table: n})
		}
		p.Demands = append(p.Demands, d)
	}
	return p
}

// TestEngineProgress: what the engine says is told as progress of the whole, and never more than is true.
func TestEngineProgress(t *testing.T) {
	asked := 0
	for seed := range uint64(3) {
		p := cover(rand.New(rand.NewPCG(seed, 5)))
		s := &talking{Solver: solve.New(solve.Config{})}
		var told []Progress
		r, err := Solve(context.Background(), p, Options{Solver: s, Branching: -1, Progress: func(x Progress) { told = append(told, x) }})
		if err != nil || s.asked == 0 {
			continue
		}
		asked++
		n := len(told)
		s.late()
		if len(told) != n {
			t.Errorf("seed %d: progress after the end", seed)
		}
		for _, x := range told {
			if x.Bound > r.Cost*(1+1e-6)+1e-9 || x.Cost < r.Cost*(1-1e-6)-1e-9 || x.Bound > x.Cost {
				t.Errorf("seed %d: told cost %g and bound %g, the least is %g", seed, x.Cost, x.Bound, r.Cost)
			}
		}
	}
	if asked == 0 {
		t.Error("the engine was never asked")
	}
	t.Logf("asked in %d", asked)
}

package choice

import (
	"context"
	"slices"

	"github.com/helenus-db/helenus/advisor/ablation"
)

// spaceFilter says what a limit on space rules out, whatever it costs. Priced, the limit is one condition among thousands, and where
// little fits, its multiplier would have to be beyond all costs before the bound said that something does not. So the question
// is asked by itself: of the problem in which tables cost their size and nothing else does anything, a dual bound above
// the limit says that there is no choice within it; that opening a table, or closing it, or using an arc, would lift the
// bound above the limit, settles it for the problem itself.
type spaceFilter struct {
	in    *instance // of sizes
	limit float64
	dual  *dual
}

// tight are the steps at a node of the branching.
const (
	tightRounds = 30
	tightSteps  = 15
)

// newSpaceFilter returns the space filter of an instance; nil if space is not limited.
func newSpaceFilter(in *instance) *spaceFilter {
	if in.problem.Space == 0 || ablation.Without(ablation.SpaceFilter) {
		return nil
	}
	small := &instance{problem: &Problem{Tables: in.problem.Tables, Demands: in.problem.Demands}, upkeep: in.size, size: in.size, unit: 1, done: in.done, status: append([]int8(nil), in.status...)}
	for i := range in.demands {
		d := in.demands[i]
		d.Edges = slices.Clone(d.Edges)
		for j := range d.Edges {
			d.Edges[j].Price = 0
		}
		d.needed = slices.Clone(d.needed)
		d.groups, d.grouped = nil, 0
		small.demands = append(small.demands, d)
	}
	if small.presolve() >= 0 {
		return nil
	}
	s := &spaceFilter{in: small, limit: in.problem.Space * (1 + 1e-9), dual: newDual(small, small.status)}
	s.dual.initMultipliers()
	return s
}

// fixAtRoot settles what can be settled in an instance beforehand. False: nothing fits.
func (s *spaceFilter) fixAtRoot(ctx context.Context, in *instance) bool {
	x := s.dual
	idle := 0
	for round := 0; round < tightRounds && idle < 3 && ctx.Err() == nil; round++ {
		if !x.ascend(ctx, pauseSteps, s.limit) || x.bound > s.limit {
			return false
		}
		before := s.in.arcCount()
		fixed, dropped := x.fixTables(s.limit), x.pruneArcs(s.limit)
		if idle++; fixed || dropped*20 > before {
			idle = 0
		}
		if (fixed || dropped > 0) && !x.presolve() {
			return false
		}
	}
	in.paths.Work += s.in.paths.Work
	left := map[int]map[int32]bool{}
	for i := range s.in.demands {
		d := &s.in.demands[i]
		origins := make(map[int32]bool, len(d.Edges))
		for _, a := range d.Edges {
			origins[a.Origin] = true
		}
		left[d.number] = origins
	}
	for n, is := range s.in.status {
		if in.status[n] == free {
			in.status[n] = is
		}
	}
	for i := range in.demands {
		d := &in.demands[i]
		kept := d.Edges[:0]
		for _, a := range d.Edges {
			if left[d.number][a.Origin] {
				kept = append(kept, a)
			}
		}
		d.Edges = kept
	}
	return in.presolve() < 0
}

// fixAtNode settles tables under a state of the branching, from multipliers on, which it changes. False: nothing fits.
func (s *spaceFilter) fixAtNode(ctx context.Context, in *instance, status []int8, lambda []float64) bool {
	x := newDual(s.in, append([]int8(nil), s.in.status...))
	for n, is := range status {
		if is != free {
			x.status[n] = is
		}
	}
	copy(x.lambda, lambda)
	before := s.in.paths.Work
	fits := x.ascend(ctx, tightSteps, s.limit) && x.bound <= s.limit
	in.paths.Work += s.in.paths.Work - before
	if !fits {
		return false
	}
	x.fixTables(s.limit)
	copy(lambda, x.lambda)
	for n, is := range x.status {
		if status[n] == free {
			status[n] = is
		}
	}
	return true
}

package choice

import (
	"math"

	"github.com/helenus-db/helenus/advisor/graph"
	"github.com/helenus-db/helenus/advisor/solve"
)

// localBranching looks for choices where the multipliers say that the best ones are, and then further and further away from there.
//
// With multipliers that bound by L, what a choice costs is L and a sum of parts, none of which is negative: what its paths cost, multipliers
// included, more than the cheapest do; the reduced costs of its tables; and space that it leaves, at its price. So each choice that costs less than L + reach
// is made of arcs and tables that are no further from the bound than reach, each by itself (pruneArcs, fixTables). A program of those alone is
// small while the reach is, and where the multipliers are the relaxation's, a good choice is in it: its distance is spread over many
// parts. What is not in it costs L + reach at least. So with the least cost in it, or a bound of that, the least of the two bounds
// all choices; and once the reach is the distance of the best choice known, the program holds everything that could be better.
//
// Programs have arcs at most: at first so many, each further one twice as many, up to all that could be better.
//
// TPC-H's designs at 80 % of space over 1,984 candidates: few large tables fill it, and the relaxation is 3 % below the best. Of 94,000 arcs that the subgradient method leaves
// its multipliers leave 35,000 at the distance of a design that is 9 % above it. CBC does not come through these in minutes; of the nearest 8,000 it finds
// the best design of all in half a minute, where the best one over some 150 promising candidates is 5 % dearer.
func (w *partSolver) localBranching(x *dual, arcs int) error {
	if w.options.Distances {
		x.recordDistances(w.result)
	}
	for ; w.ctx.Err() == nil && w.bound < cutoff(w.known, w.options.Limits.Gap); arcs *= nearer {
		all := w.known - x.bound + tolerance(w.known)
		in, reach := x.largestReach(arcs, all)
		ended, err := w.solveProgram(in, x.bound+reach)
		if err != nil || !ended || reach >= all {
			return err
		}
	}
	return nil
}

// How many arcs a program has at first, and how many times as many the next one. nearFrom is from how many arcs on a part is not given to the solver
// whole, and nearTries how often a reach is tried that leaves as many arcs as there may be.
const (
	nearArcs  = 4000
	nearer    = 2
	nearFrom  = 6000
	nearTries = 12
)

// largestReach is the greatest reach, up to all there is, within which an instance has no more than so many arcs, and what is left of the instance then.
func (x *dual) largestReach(arcs int, all float64) (in *instance, reach float64) {
	if in = x.fixBeyondReach(all); in.arcCount() <= arcs {
		return in, all
	}
	low, high := 0.0, all
	in = nil
	for range nearTries {
		middle := (low + high) / 2
		if some := x.fixBeyondReach(middle); some.arcCount() <= arcs {
			in, low = some, middle
		} else {
			high = middle
		}
	}
	if in == nil {
		in = x.fixBeyondReach(low)
	}
	return in, low
}

// recordDistances says how far tables are from the bound.
func (x *dual) recordDistances(r *Result) {
	if r.Distances == nil {
		r.Distances = make([]float64, len(x.status))
		for n := range r.Distances {
			r.Distances[n] = math.Inf(1)
		}
	}
	for n, s := range x.status {
		if s == open {
			r.Distances[n] = 0
		}
	}
	for i := range x.in.demands {
		d := &x.in.demands[i]
		x.arcLifts(i, func(e *graph.Edge, lift float64) {
			if n := d.Roles[e.Role].Table; n != None {
				r.Distances[n] = min(r.Distances[n], max(0, lift))
			}
		})
	}
}

// fixBeyondReach is what is left of the instance within a distance from the bound; no arcs if there is no choice so near.
func (x *dual) fixBeyondReach(reach float64) *instance {
	in, limit := x.in.clone(), x.bound+reach
	y := newDual(in, in.status)
	y.loadState(x.saveState())
	for y.evaluate() {
		fixed := y.fixTables(limit)
		dropped := y.pruneArcs(limit)
		if !fixed && dropped == 0 {
			if x.space > 0 && in.openSize() > x.space*(1+1e-12) {
				break // what has to be there does not fit
			}
			return in
		}
		if !y.presolve() {
			break
		}
	}
	in.demands = nil
	return in
}

// solveProgram gives an instance to the integer program's solver: the part, or what of it is likely to be of use, while whatever else there is costs as much as beyond at
// least. False: a limit ended the solver.
func (w *partSolver) solveProgram(in *instance, beyond float64) (ended bool, err error) {
	if len(in.demands) == 0 { // it has no choice
		w.bound = max(w.bound, min(beyond, w.known))
		return true, nil
	}
	p := newProgram(in)
	w.result.Stats.Solved = max(w.result.Stats.Solved, len(p.problem.Columns))
	if w.best != nil {
		if s := newSearch(in, 0); s.isFeasible(w.best) {
			p.setStart(w.best)
		}
	}
	choice, solution, failed, err := p.runSolver(w.ctx, w.options.Solver, w.programLimits(), w.watchProgram())
	if choice != nil {
		s := newSearch(w.in, 0)
		s.setChoice(choice)
		if t := s.totalCost(); better(t, w.known) {
			w.best, w.known = choice, t
		}
	}
	if failed != nil {
		w.result.Failure = failed
		return true, nil //nolint:nilerr // that program says nothing more; another may
	}
	if err != nil || solution == nil {
		return false, err // of a context that ended there is none: what there is stays
	}
	w.result.Engine = solution.Engine
	switch {
	case solution.Status == solve.Optimal, solution.Status == solve.Infeasible && p.problem.Start == nil:
		w.bound = max(w.bound, min(beyond, w.known))
	case !math.IsInf(solution.Bound, 0) && solution.Status != solve.Unproven:
		w.bound = max(w.bound, min(beyond, solution.Bound+in.openUpkeep(), w.known))
	}
	if solution.Status == solve.Stopped {
		w.result.Stopped = solution.Limit
	}
	return solution.Status == solve.Optimal || solution.Status == solve.Infeasible || solution.Limit == solve.LimitGap, nil
}

// openSize is the space of the tables that are open.
func (in *instance) openSize() (sum float64) {
	for n, s := range in.status {
		if s == open {
			sum += in.size[n]
		}
	}
	return sum
}

// openUpkeep is what tables that are open cost to keep: the program does not count it.
func (in *instance) openUpkeep() (sum float64) {
	for n, s := range in.status {
		if s == open {
			sum += in.upkeep[n]
		}
	}
	return sum
}

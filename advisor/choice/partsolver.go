package choice

import (
	"math"
	"time"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/solve"
)

// partSolver is what is done about one part.
type partSolver struct {
	*solver
	in     *instance
	budget int

	best   []bool // nil: none was found
	known  float64
	bound  float64
	fewest bool
	exact  bool // the multipliers are the relaxation's
}

// solvePart finds the part's cheapest choice, from that of the whole on, then the one with the fewest tables.
func (w *partSolver) solvePart(whole []bool) error {
	first, cost := w.in.firstChoice(w.searchBudget()/8, w.dual.spacePrice(w.in), whole)
	w.best, w.known = first, cost
	x := newDual(w.in, append([]int8(nil), w.in.status...))
	x.loadState(w.dual)
	if !x.ascend(w.ctx, rootSteps, w.known) {
		w.bound = w.known // nothing else is left
		return nil
	}
	w.bound = x.bound
	if w.bound < cutoff(w.known, w.options.Limits.Gap) && w.ctx.Err() == nil {
		if err := w.branchThenSolve(x); err != nil {
			return err
		}
	}
	if w.best == nil || !w.options.Ties || w.bound < w.known-1e-9*math.Abs(w.known) || w.ctx.Err() != nil {
		return nil //nolint:nilerr // the context ended: what there is stays
	}
	return w.breakTies(x)
}

// programArcs is how many arcs a part may have to become an integer program. With more the solver does not even come to the
// end of the first relaxation within minutes, and needs gigabytes; the branching gets more instead.
const (
	programArcs = 200_000
	instead     = 4 // times the branching's budget
	before      = 8 // what goes to the simplex method if branching does not end soon gets this part of the budget
)

// branchThenSolve branches, then asks the solver.
func (w *partSolver) branchThenSolve(x *dual) error {
	large, far := w.in.arcCount() > programArcs, w.wantsLocalBranching()
	if budget := w.budget; budget > 0 && !far && !ablation.Without(ablation.Branching) {
		switch {
		case large:
			budget *= instead
		case w.polishSoon():
			budget /= before
		}
		b := &branchAndBound{ctx: w.ctx, in: w.in, tight: newSpaceFilter(w.in), best: w.best, known: w.known, gap: w.options.Limits.Gap, budget: w.in.paths.Work + budget}
		b.limit = cutoff(w.known, b.gap)
		done := b.searchTree(x)
		w.best, w.known = b.best, b.known
		w.bound = max(w.bound, min(b.left, w.known))
		if done {
			w.result.Engine = "branching"
			if w.bound = max(w.bound, b.limit); b.gap == 0 {
				w.bound = w.known
			}
			return nil
		}
		if w.ctx.Err() != nil {
			return nil //nolint:nilerr // the context ended: what there is stays
		}
	}
	if w.options.Solver == nil {
		return nil
	}
	if !w.useExactMultipliers(x) {
		w.bound = w.known
		return nil
	}
	if far && w.exact && w.best != nil {
		return w.localBranching(x, nearArcs)
	}
	if w.bound >= cutoff(w.known, w.options.Limits.Gap) || w.ctx.Err() != nil || w.in.arcCount() > programArcs {
		return nil //nolint:nilerr // the context ended: what there is stays
	}
	_, err := w.solveProgram(w.in, math.Inf(1))
	return err
}

// watchProgram passes on what the engine says of this part, as progress of the whole: its choice with the part's better one, and
// its bound with what the part's has risen by.
func (w *partSolver) watchProgram() func(solve.Progress) {
	if w.options.Progress == nil {
		return nil
	}
	part, bound, cost, lowest := w.known, w.bound, w.solver.known, w.solver.bound
	return func(x solve.Progress) {
		now := Progress{Cost: cost, Bound: lowest, Elapsed: time.Since(w.began)}
		if x.Objective < part && !math.IsInf(cost, 1) {
			now.Cost -= part - x.Objective
		}
		if x.Bound > bound && !math.IsInf(bound, -1) {
			now.Bound += min(x.Bound, part) - bound
		}
		now.Bound = min(now.Bound, now.Cost)
		w.options.Progress(now)
	}
}

// programLimits are those of the whole; the wall is the context's.
func (w *partSolver) programLimits() solve.Limits {
	return solve.Limits{Nodes: w.options.Limits.Nodes, Iterations: w.options.Limits.Iterations, Gap: w.options.Limits.Gap}
}

// breakTies looks for the fewest tables, then the smallest, among the choices of the least cost. Both are one objective: sizes
// are shares of their sum, which together count less than one table. With the cost held by a multiplier it is the same
// problem again (a bound for any multiplier), so the same steps apply.
func (w *partSolver) breakTies(x *dual) error {
	w.fewest = true
	limit := w.known + 1e-9*math.Abs(w.known)
	if !x.evaluate() { // the branching has used the same demands
		return nil
	}
	fixed := x.fixTables(limit)
	if dropped := x.pruneArcs(limit); (fixed || dropped > 0) && !x.presolve() {
		return nil
	}
	costs := make([]float64, len(w.in.status))
	sum := 1.0
	for n, s := range w.in.status {
		if s == free {
			sum += w.in.size[n]
		}
	}
	any := false
	for n, s := range w.in.status {
		if s == free && !w.problem.Tables[n].Free {
			costs[n] = 1 + w.in.size[n]/sum
			any = true
		}
	}
	if !any {
		return nil
	}
	price := func(choice []bool) float64 {
		t := 0.0
		for n, is := range choice {
			if is && w.in.status[n] == free {
				t += costs[n]
			}
		}
		return t
	}
	within := func(choice []bool) bool {
		s := newSearch(w.in, 0)
		s.setChoice(choice)
		return s.totalCost() <= limit
	}
	done, err := w.fewerTables(x, costs, price, within)
	w.fewest = done
	if err != nil || done || w.options.Solver == nil || w.ctx.Err() != nil || w.in.arcCount() > tieArcs {
		return err
	}
	p := newProgram(w.in)
	p.setStart(w.best)
	p.holdObjective(limit, costs)
	choice, solution, _, err := p.runSolver(w.ctx, w.options.Solver, solve.Limits{Nodes: tieNodes, Iterations: tieIterations}, nil)
	if err != nil {
		return err
	}
	if choice != nil && within(choice) && price(choice) < price(w.best)-1e-12 {
		w.takeTie(choice)
	}
	w.fewest = solution != nil && solution.Status == solve.Optimal
	return nil
}

// The limits of the last program: it only chooses among choices of equal cost.
const (
	tieArcs       = 6000
	tieNodes      = 300
	tieIterations = 100_000 // some ten seconds
)

func (w *partSolver) takeTie(choice []bool) {
	if choice == nil {
		return
	}
	s := newSearch(w.in, 0)
	s.setChoice(choice)
	w.best, w.known = append([]bool(nil), s.open...), s.totalCost()
}

// fewerTables solves the tie's objective by bounds and branching, and reports whether it came to the end.
func (w *partSolver) fewerTables(x *dual, costs []float64, price func([]bool) float64, within func([]bool) bool) (bool, error) {
	in, factor := w.tieInstance(costs)
	y := newDual(in, in.status)
	y.loadState(x.saveState())
	y.theta = 0 // another objective, another direction
	for i := range y.lambda {
		y.lambda[i] *= factor
	}
	// What best costs, with the greatest cost that counts as least: what comes to that is of no use.
	known := price(w.best) + factor*(w.known+1e-9*math.Abs(w.known))
	best := w.best
	offer := func(choice []bool) {
		if choice == nil || !within(choice) {
			return
		}
		if t := price(choice) + factor*(w.known+1e-9*math.Abs(w.known)); t < known-1e-7 {
			best, known = append([]bool(nil), choice...), t
		}
	}
	defer func() { w.takeTie(best) }()
	for range rounds {
		before := y.bound
		if !y.ascend(w.ctx, pauseSteps, known-1e-7) || y.bound >= known-1e-7 {
			return true, nil
		}
		found, _ := in.firstChoice(w.searchBudget()/8, y.spacePrice(), y.suggestChoice(0.5), best)
		offer(found)
		fixed := y.fixTables(known - 1e-7)
		dropped := y.pruneArcs(known - 1e-7)
		if (fixed || dropped > 0) && !y.presolve() {
			return true, nil
		}
		if w.ctx.Err() != nil {
			return false, nil
		}
		if !fixed && dropped == 0 && y.bound < before+0.01*(known-before) {
			break
		}
	}
	if w.budget <= 0 {
		return false, nil
	}
	b := &branchAndBound{ctx: w.ctx, in: in, accept: within, best: best, known: known, limit: known - 1e-7, budget: in.paths.Work + w.budget/4}
	done := b.searchTree(y)
	best = b.best
	return done, nil
}

// tieInstance is the instance with the objective costs + factor (cost - least cost).
func (w *partSolver) tieInstance(costs []float64) (*instance, float64) {
	factor := 1.0
	if w.known > 0 {
		factor = 1000 / w.known
	}
	in := w.in.clone()
	in.upkeep = nil
	for n, u := range w.in.upkeep {
		in.upkeep = append(in.upkeep, factor*u+costs[n])
	}
	for i := range in.demands {
		d := &in.demands[i]
		for j := range d.Edges {
			d.Edges[j].Price *= factor
		}
	}
	return in, factor
}

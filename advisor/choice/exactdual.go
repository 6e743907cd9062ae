package choice

import (
	"math"

	"github.com/helenus-db/helenus/advisor/ablation"
)

// polishArcs is up to how many arcs the relaxation is given to the simplex method, and farArcs where a limit on space leaves it as the only bound that is worth
// anything: a hundred thousand arcs take ten seconds.
// polishRounds is how often, as each time less is left.
const (
	polishArcs   = 60_000
	farArcs      = 250_000
	polishRounds = 4
)

// worthArcs is from how many arcs on the simplex method is sooner done than much branching.
const worthArcs = 1000

// polishSoon reports whether a part is to be branched over only a little before it is polished. With a limit on space the relaxation
// is weak, and branching, which looks at space by itself, the better of the two.
func (w *partSolver) polishSoon() bool {
	_, ok := w.options.Solver.(Relaxer)
	return ok && w.problem.Space == 0 && w.in.arcCount() >= worthArcs && w.in.arcCount() <= polishArcs
}

// wantsLocalBranching reports whether a part is one of which only what is near the bound is given to the solver at first: a limit on space leaves it large.
func (w *partSolver) wantsLocalBranching() bool {
	_, ok := w.options.Solver.(Relaxer)
	return ok && !ablation.Without(ablation.NearFirst) && w.problem.Space > 0 && w.in.arcCount() >= nearFrom && w.in.arcCount() <= farArcs
}

// useExactMultipliers replaces a part's multipliers by the exact ones. The subgradient method comes close to the relaxation's optimum and no
// further; the last percent is what would rule out most of the arcs that are left. The simplex method finds that optimum, and its
// row prices are the multipliers. They are used as any others are: a bound holds for all multipliers, so nothing hangs
// on the engine's tolerances. It reports whether there may be something left below the limit.
func (w *partSolver) useExactMultipliers(x *dual) bool {
	engine, ok := w.options.Solver.(Relaxer)
	if !ok || ablation.Without(ablation.ExactPrices) {
		return true
	}
	if !x.evaluate() || !w.pruneFurther(x) { // the branching has used the same demands
		return false
	}
	most := polishArcs
	if w.wantsLocalBranching() {
		most = farArcs
	}
	for range polishRounds {
		before := w.in.arcCount()
		if before > most || w.ctx.Err() != nil {
			break
		}
		p := newProgram(w.in)
		p.problem.Unranged = true
		relaxed, err := engine.Relax(w.ctx, p.problem)
		if err != nil || relaxed.Duals == nil {
			break // what there is stays: the engine may fail, or be missing
		}
		former, bound := append([]float64(nil), x.lambda...), x.bound
		for i, row := range p.rows {
			if x.lambda[i] = 0; row >= 0 {
				x.lambda[i] = math.Abs(relaxed.Duals[row])
			}
		}
		if space := w.in.problem.Space; space > 0 {
			x.lambda[w.in.count] *= w.in.unit / space // the row is in what settled tables leave of it
		}
		if !x.evaluate() {
			return false
		}
		if x.bound <= bound { // no better
			copy(x.lambda, former)
			return x.evaluate()
		}
		w.exact = true
		w.bound = max(w.bound, min(x.bound, w.known))
		if x.bound >= cutoff(w.known, w.options.Limits.Gap) {
			break
		}
		limit := w.known + tolerance(w.known)
		fixed := x.fixTables(limit)
		if dropped := x.pruneArcs(limit); (fixed || dropped > 0) && !x.presolve() || !x.evaluate() {
			return false
		}
		if w.in.arcCount()*5 > before*4 {
			break
		}
	}
	return true
}

// pruneFurther makes more of the subgradient method's steps for as long as they rule out arcs. Of a large part they do when the bound no longer
// rises: other multipliers of about the same bound rule out others. It is to the simplex method's good, whose time grows faster
// than the number of arcs.
func (w *partSolver) pruneFurther(x *dual) bool {
	for idle := 0; idle < thinIdle && w.ctx.Err() == nil && w.bound < cutoff(w.known, w.options.Limits.Gap); idle++ {
		before := w.in.arcCount()
		x.theta = 0
		if !x.ascend(w.ctx, rootSteps, w.known) {
			return false
		}
		w.bound = max(w.bound, min(x.bound, w.known))
		limit := w.known + tolerance(w.known)
		fixed := x.fixTables(limit)
		if dropped := x.pruneArcs(limit); (fixed || dropped > 0) && !x.presolve() || !x.evaluate() {
			return false
		}
		if w.in.arcCount()*20 < before*19 {
			idle = -1
		}
	}
	return true
}

// thinIdle is after how many rounds that rule out less than a twentieth of the arcs no more are made.
const thinIdle = 3

package sequence

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// Options say how to solve.
type Options struct {
	Solver   solve.Solver   // for what annealing does not settle; nil: none
	Limits   solve.Limits   // Nodes and Iterations for the solver; Gap and Wall for the whole
	Pruned   bool           // only with tables that are promising: above all those that the local programs of the workload summary tree choose (Algorithms 1 and 2)
	Mean     bool           // a local program's step weighs what the steps around it weigh on average, not what it weighs itself (W-21)
	Start    [][]bool       // a sequence to begin from, by step and table; nil: none
	Ties     bool           // among sequences of equal cost, one of the fewest tables over all steps, of those the smallest (W-41)
	Progress func(Progress) // if set, it is told of each better sequence and greater bound, by one goroutine at a time
}

// Progress is how far a solve has come.
type Progress struct {
	Cost    float64 // of the best sequence, +Inf if there is none yet
	Bound   float64
	Elapsed time.Duration
}

// Result is what was found.
type Result struct {
	Open   [][]bool // by step and table
	Cost   float64
	Bound  float64 // no sequence costs less; with Options.Pruned none of the tables that are left
	Proven bool    // Cost is the least
	Fewest bool    // proven: no sequence of this cost has fewer tables over all steps, or as many and smaller ones (Options.Ties)
	// Stopped says what ended the solve before its end: "gap", "nodes", "iterations", "wall", "cancelled" or "failed"; else empty.
	Stopped string
	Failure error // of the solver, if it failed: a *solve.WorkerError
	Engine  string
	Kept    []int // tables that pruning left; nil without
	Locals  int   // local programs of the workload summary tree
}

// The reasons of Result.Stopped that are not the solver's.
const (
	StoppedCancelled = "cancelled"
	StoppedFailed    = "failed"
	StoppedNodes     = "nodes"
)

var (
	errWall = errors.New("sequence: the time limit is reached")
	// errNone: neither a sequence nor a proof that there is none.
	errNone = errors.New("sequence: no sequence was found within the limits: allow more time")
)

// How much is done: changes that are annealed for each table at each step that is not settled, of how many a round is at least, and the most of both; in how many tries from a high temperature; how large a program may be, and
// one that only chooses among sequences of equal cost.
const (
	changesPerChoice = 60
	changesPerRound  = 200
	mostRounds       = 80
	mostChanges      = 100_000
	annealingTries   = 4
	programArcs      = 120_000
	tieArcs          = 20_000
	tieNodes         = 300
	tieIteration     = 100_000 // some ten seconds
)

// solver is one solve under way.
type solver struct {
	ctx     context.Context
	options Options
	began   time.Time
	p       *Problem
	in      *instance
	best    [][]bool
	known   float64
	bound   float64
	grain   float64 // what is rounding, whatever the cost
	result  *Result
}

// Solve finds a sequence of least cost:
//
//  1. The best design of each step by itself (package choice). All of them bound: nothing is answered and kept for less, and changing costs at least nothing.
//  2. With Options.Pruned, what is promising is left (tree.go).
//  3. Annealing (anneal.go): from those designs, or one of them kept throughout, whichever is the best; then in rounds near what came of it (refine.go).
//  4. The integer program of all steps (expand.go), if it is not too large, from the best of these.
//  5. Of sequences of the least cost one of the fewest tables, by the same program.
//
// The error is an *InvalidError, an *UnsatisfiableError, a *SpaceError, or the context's if it ended before there was any sequence.
func Solve(ctx context.Context, p *Problem, o Options) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if o.Limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Limits.Wall, errWall)
		defer cancel()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &solver{ctx: ctx, options: o, began: time.Now(), p: p, known: math.Inf(1), bound: math.Inf(-1), grain: 1e-13 * p.largestCost(), result: &Result{Engine: "annealing"}}
	var err error
	if s.in, err = newInstance(p); err != nil {
		return nil, err
	}
	s.offerSequence(o.Start)
	err = s.run()
	if err != nil && (s.best == nil || ctx.Err() == nil) {
		return nil, err
	}
	if s.best == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, errNone
	}
	return s.fillResult(), nil
}

func (s *solver) run() error {
	designs, err := s.designSteps()
	if err != nil {
		return err
	}
	if s.options.Pruned && len(s.p.Steps) > 2 {
		if err := s.prune(designs); err != nil {
			return err
		}
	}
	s.searchByChance(designs)
	x := s.in.expand(nil)
	if !s.canStop() && !s.gapClosed() {
		if err := s.solveProgram(x); err != nil {
			return err
		}
	}
	if s.options.Ties && s.best != nil && s.ctx.Err() == nil {
		return s.breakTies(x)
	}
	return nil
}

// designSteps finds the best design of each step, those of steps that ask the same once, and bounds by them. A step's error is that of the whole: what answers everything in the least
// space does so at every step, so the step that has the least is looked at first.
func (s *solver) designSteps() (designs [][]bool, err error) {
	steps := len(s.p.Steps)
	order := make([]int, steps)
	for t := range order {
		order[t] = t
	}
	space := func(t int) float64 {
		if v := s.p.Steps[t].Space; v > 0 {
			return v
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case space(a) < space(b):
			return -1
		case space(a) > space(b):
			return 1
		}
		return 0
	})
	designs = make([][]bool, steps)
	bound := 0.0
	var met []*stepDesign
	for _, t := range order {
		at := slices.IndexFunc(met, func(d *stepDesign) bool { return s.p.sameStep(d.step, t) })
		if at < 0 {
			d, err := s.designStep(t)
			if err != nil {
				return nil, err
			}
			at, met = len(met), append(met, d)
		}
		designs[t] = met[at].open
		bound += met[at].bound
	}
	s.liftBound(bound)
	return designs, nil
}

// stepDesign is the best design of a step, and what none costs less than.
type stepDesign struct {
	step  int
	open  []bool
	bound float64
}

func (s *solver) designStep(t int) (*stepDesign, error) {
	o := choice.Options{Limits: solve.Limits{Gap: s.options.Limits.Gap}}
	if s.best != nil {
		o.Start = s.best[t]
	}
	r, err := choice.Solve(s.ctx, s.p.staticProblem(t), o)
	var tight *choice.SpaceError
	switch {
	case errors.As(err, &tight):
		return nil, &SpaceError{Step: t, Space: s.p.Steps[t].Space, Smallest: tight.Smallest, Proven: tight.Proven}
	case err != nil && s.best != nil: // there is a sequence; of this step nothing is known
		return &stepDesign{t, s.best[t], 0}, nil
	case err != nil:
		return nil, err
	}
	return &stepDesign{t, r.Open, max(0, r.Bound)}, nil
}

// sameStep reports whether two steps ask the same for the same.
func (p *Problem) sameStep(s, t int) bool {
	return p.sameWeights(s, t) && p.Steps[s].Space == p.Steps[t].Space && !slices.ContainsFunc(p.Tables, func(x Table) bool { return x.Upkeep[s] != x.Upkeep[t] })
}

// searchByChance anneals: from the designs of the steps, each in its place or one of them throughout, whichever is the best, and then in rounds near what came of it.
func (s *solver) searchByChance(designs [][]bool) {
	s.offerSequence(designs)
	var met [][]bool
	for _, d := range designs {
		if len(met) < throughout && !slices.ContainsFunc(met, func(o []bool) bool { return slices.Equal(o, d) }) {
			met = append(met, d)
			s.offerSequence(slices.Repeat([][]bool{d}, len(designs)))
		}
	}
	begin := s.best
	if begin == nil {
		begin = designs // of which changes are not allowed, or do not fit
	}
	s.annealFrom(begin, changesPerChoice)
}

// throughout is of how many designs it is tried to keep them throughout.
const throughout = 8

// annealFrom anneals from a sequence, with so many changes for each table at each step that is not settled: some tries from a heat at which little is left of it, as many come to
// more than one that is as long, and then rounds near the best of them.
func (s *solver) annealFrom(begin [][]bool, each int) {
	if s.canStop() && s.best != nil || s.gapClosed() {
		return
	}
	changes := min(each*s.in.freeCount(), mostChanges)
	var best *annealing
	for seed := range s.hotTries() {
		a := newAnnealing(s.in, 1+seed)
		a.setSequence(begin)
		a.coolDown(s.ctx, changes/annealingTries)
		if a.best != nil && (best == nil || a.least < best.least) {
			best = a
		}
	}
	if best != nil {
		best.neighbourhoodSearch(s.ctx, changes, max(1, min(mostRounds, changes/changesPerRound)))
		s.offerSequence(best.best)
	}
}

// hotTries is in how many tries it is annealed from a high temperature: in one where nothing has to make room for anything else and there is a sequence to begin from. What leads from
// it to the best is not dearer on its way then, so that more tries come to the same.
func (s *solver) hotTries() uint64 {
	if s.best != nil && !slices.ContainsFunc(s.p.Steps, func(t Step) bool { return t.Space > 0 }) {
		return 1
	}
	return annealingTries
}

// freeCount is how many tables at steps are not settled.
func (in *instance) freeCount() (count int) {
	for _, status := range in.status {
		for _, is := range status {
			if is == free {
				count++
			}
		}
	}
	return count
}

// canStop reports whether the solve may end: the gap is small enough, or the time is over.
func (s *solver) canStop() bool {
	return s.ctx.Err() != nil || s.options.Limits.Gap > 0 && s.known-s.bound <= s.options.Limits.Gap*s.known
}

// gapClosed reports whether the bound has come to the cost.
func (s *solver) gapClosed() bool {
	return s.best != nil && s.known-s.bound <= 1e-9*math.Abs(s.known)+s.grain
}

// largestCost is the greatest cost of a single thing.
func (p *Problem) largestCost() (v float64) {
	for n := range p.Tables {
		x := &p.Tables[n]
		v = max(v, x.Drop, slices.Max(x.Upkeep), slices.Max(x.Birth))
		for _, a := range p.Loads[n].Arcs {
			v = max(v, a.Price)
		}
	}
	for i := range p.Demands {
		weight := slices.Max(p.Demands[i].Weights)
		for _, a := range p.Demands[i].Arcs {
			v = max(v, weight*a.Price)
		}
	}
	return v
}

// offerSequence takes a sequence if it is better than the best so far.
func (s *solver) offerSequence(list [][]bool) {
	if list == nil {
		return
	}
	if c := s.p.Cost(list); better(c, s.known) {
		s.best, s.known = cloneBools(list), c
		s.reportProgress()
	}
}

func (s *solver) liftBound(bound float64) {
	if bound > s.bound {
		s.bound = bound
		s.reportProgress()
	}
}

func (s *solver) reportProgress() {
	if s.options.Progress != nil {
		s.options.Progress(Progress{s.known, min(s.bound, s.known), time.Since(s.began)})
	}
}

// better reports whether a is better than b by more than rounding.
func better(a, b float64) bool { return a < b && (math.IsInf(b, 1) || a < b-1e-11*math.Abs(b)) }

func cloneBools(list [][]bool) [][]bool {
	next := make([][]bool, len(list))
	for t := range list {
		next[t] = append([]bool(nil), list[t]...)
	}
	return next
}

// solveProgram gives the program of all steps to the solver.
func (s *solver) solveProgram(x *expansion) error {
	if s.options.Solver == nil || x.arcCount() > programArcs {
		return nil
	}
	q, err := choice.NewProgram(&x.problem, x.limits)
	if err != nil {
		return nil //nolint:nilerr // what must be there breaks a limit: then there is no sequence, which the designs of the steps have said or will
	}
	limits := solve.Limits{Nodes: s.options.Limits.Nodes, Iterations: s.options.Limits.Iterations, Gap: s.options.Limits.Gap}
	if at, ok := s.ctx.Deadline(); ok { // an engine that stops by itself says how far its bound has come
		limits.Wall = max(time.Until(at)*9/10, time.Millisecond)
	}
	a, err := x.run(s.ctx, q, s.options.Solver, limits, s.best, false)
	if err != nil {
		return err
	}
	s.offerSequence(a.open)
	s.liftBound(a.bound)
	if s.result.Failure = a.failure; a.engine != "" {
		s.result.Engine, s.result.Stopped = a.engine, a.limit
	}
	if a.optimal {
		s.liftBound(s.known)
	}
	return nil
}

// breakTies looks for the fewest tables, then the smallest, among the sequences of the least cost: what can be left out goes, and where the cost is proven the program
// says whether fewer would do. Both are one objective: sizes are shares of their sum over all steps, which together count less than one table.
func (s *solver) breakTies(x *expansion) error {
	thin := newAnnealing(s.in, 0)
	if thin.setSequence(s.best); thin.best != nil {
		if thin.dropRedundant(); s.p.Cost(thin.best) <= s.known+1e-12*math.Abs(s.known) {
			s.best = thin.best
		}
	}
	if !s.gapClosed() || s.options.Solver == nil || x.arcCount() > tieArcs {
		return nil
	}
	total := 1.0
	for _, size := range s.in.size {
		total += size * float64(len(s.in.status))
	}
	each := make([]float64, len(s.in.size))
	for n := range each {
		if !s.p.Tables[n].Free {
			each[n] = 1 + s.in.size[n]/total
		}
	}
	limit := s.known + 1e-9*math.Abs(s.known) + s.grain
	q, err := choice.NewProgram(&x.problem, x.limits)
	if err != nil {
		return nil //nolint:nilerr // as in solveProgram
	}
	q.Hold(limit-x.offset, x.counts(each))
	a, err := x.run(s.ctx, q, s.options.Solver, solve.Limits{Nodes: tieNodes, Iterations: tieIteration}, s.best, false)
	if err != nil {
		return err
	}
	if a.open != nil && s.p.Cost(a.open) <= limit && countEach(a.open, each) < countEach(s.best, each)-1e-12 {
		s.best = a.open
		s.known = s.p.Cost(s.best)
	}
	s.result.Fewest = a.optimal
	return nil
}

// countEach adds up what the tables of a sequence count.
func countEach(list [][]bool, each []float64) (sum float64) {
	for t := range list {
		for n, is := range list[t] {
			if is {
				sum += each[n]
			}
		}
	}
	return sum
}

// fillResult fills in the result.
func (s *solver) fillResult() *Result {
	r := s.result
	r.Open, r.Cost, r.Bound = s.best, s.known, min(s.bound, s.known)
	r.Proven = s.known-s.bound <= 2e-9*math.Abs(s.known)+s.grain
	if r.Proven {
		r.Bound, r.Stopped = r.Cost, ""
		return r
	}
	if errors.Is(context.Cause(s.ctx), errWall) {
		r.Stopped = solve.LimitWall
	}
	if r.Stopped == "" {
		switch {
		case s.ctx.Err() != nil:
			r.Stopped = StoppedCancelled
		case r.Failure != nil:
			r.Stopped = StoppedFailed
		case s.canStop():
			r.Stopped = solve.LimitGap
		default:
			r.Stopped = StoppedNodes
		}
	}
	return r
}

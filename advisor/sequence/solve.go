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
	Solver   solve.Solver   // for what the relaxation and branching do not settle; nil: none
	Limits   solve.Limits   // Nodes and Iterations for the solver; Gap and Wall for the whole
	Pruned   bool           // only with tables that the local programs of the workload summary tree choose (Algorithms 1 and 2)
	Mean     bool           // a local program's step weighs what the steps around it weigh on average, not what it weighs itself (W-21)
	Start    [][]bool       // a sequence to begin from, by step and table; nil: none
	Direct   bool           // no local programs and little search: the integer program gets what is left soon
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
	// Stopped says what ended the solve before its end: "gap", "nodes", "wall", "cancelled" or "failed"; else empty.
	Stopped string
	Failure error // of the solver, if it failed: a *solve.WorkerError
	Engine  string
	Kept    []int // tables that pruning left; nil without
	Locals  int   // local programs of the workload summary tree
	Stats   Stats
}

// Stats are figures of a solve.
type Stats struct {
	Arcs          int // of all demands and loads, at one step
	Classes       int // steps that differ from the one before in what they weigh
	ArcsLeft      int // of demands, over all classes, after the reduction
	TablesLeft    int // steps of tables that are not settled by it
	Columns, Rows int // of the largest integer program that was given to the solver
	Nodes         int // branched
}

// The reasons of Result.Stopped that are not the solver's.
const (
	StoppedCancelled = "cancelled"
	StoppedFailed    = "failed"
	StoppedNodes     = "nodes"
)

var errWall = errors.New("sequence: the time limit is reached")

// solver is one solve under way.
type solver struct {
	ctx     context.Context
	options Options
	began   time.Time
	p       *Problem
	in      *instance
	alive   []int // the tables that it has; nil: all of the problem
	best    [][]bool
	known   float64
	bound   float64
	effort  effort
	grain   float64    // what is rounding, whatever the cost
	seeds   [][][]bool // sequences to search from
	ideals  *ideals
	result  *Result
}

// Solve finds a sequence of least cost. The error is an *InvalidError, an *UnsatisfiableError, a *SpaceError, or the context's if it ended
// before there was any sequence.
func Solve(ctx context.Context, p *Problem, o Options) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if o.Limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Limits.Wall, errWall)
		defer cancel()
	}
	s := &solver{ctx: ctx, options: o, began: time.Now(), p: p, known: math.Inf(1), bound: math.Inf(-1), grain: 1e-13 * p.largestCost(), ideals: &ideals{at: map[int]*ideal{}}, effort: fullEffort, result: &Result{}}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var err error
	if s.in, err = newInstance(p); err != nil {
		return nil, err
	}
	for i := range p.Demands {
		s.result.Stats.Arcs += len(p.Demands[i].Arcs)
	}
	for n := range p.Loads {
		s.result.Stats.Arcs += len(p.Loads[n].Arcs)
	}
	s.result.Stats.Classes = len(s.in.begin) - 1
	s.offerSequence(o.Start)
	if x := newDual(s.in); x.evaluate() { // without multipliers: every demand at its cheapest
		s.liftBound(x.bound)
	}
	if o.Direct {
		s.effort = directEffort
	} else if len(p.Steps) > 2 {
		err = s.solveLocalPrograms()
	}
	if err == nil {
		err = s.run()
	}
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

// solveLocalPrograms solves the local programs. With Options.Pruned the instance is left with the tables that they chose; otherwise the problem is solved
// with those first, for a sequence to begin from.
func (s *solver) solveLocalPrograms() error {
	t, err := s.solveTree()
	if err != nil {
		return err
	}
	s.result.Locals = t.locals
	kept := t.keptTables()
	if math.IsInf(s.p.Cost(t.design), 1) {
		// A table does not live long enough, or too many come at once. What takes the least space can be kept throughout.
		list, err := s.smallestSequence()
		if err != nil {
			return err
		}
		for n, is := range list[0] {
			if at, found := slices.BinarySearch(kept, n); is && !found {
				kept = slices.Insert(kept, at, n)
			}
		}
	}
	s.offerSequence(t.design)
	if s.options.Pruned {
		for _, n := range s.promisingTables() {
			if at, found := slices.BinarySearch(kept, n); !found {
				kept = slices.Insert(kept, at, n)
			}
		}
		s.seeds = [][][]bool{s.idealSequence()}
		s.result.Kept = kept
		if s.best != nil && !slices.ContainsFunc(s.best, func(d []bool) bool { return usesOutside(d, kept) }) {
			s.restrictTables(kept)
			return nil
		}
		s.best, s.known = nil, math.Inf(1) // Options.Start has tables that were not kept: what is chosen from those counts
		s.offerSequence(t.design)
		s.restrictTables(kept)
		return nil
	}
	in := *s.in
	in.status, in.unborn, in.demands = cloneStatus(s.in.status), cloneBools(s.in.unborn), nil
	for i := range s.in.demands {
		in.demands = append(in.demands, slices.Clone(s.in.demands[i]))
	}
	first := &solver{ctx: s.ctx, options: s.options, effort: fullEffort, began: s.began, p: s.p, in: &in, best: s.best, known: s.known, bound: math.Inf(-1), grain: s.grain, result: &Result{}}
	first.seeds = [][][]bool{s.idealSequence()}
	first.options.Ties, first.options.Progress, first.options.Start = false, nil, s.best
	first.restrictTables(kept)
	if err := first.run(); err != nil {
		return err
	}
	s.offerSequence(first.best)
	return nil
}

// pricedRounds is how long multipliers are raised for to see what is promising beside what the local programs chose.
const pricedRounds = 3

// promisingTables are the tables that the relaxation over all of them makes something of. A local program knows three of the steps, and takes what is
// best for just these: a table that serves no three of them best, but all together, is in none of their designs. The relaxation knows all
// steps and no integers, so the two fail on different tables.
func (s *solver) promisingTables() []int {
	x := newDual(s.in)
	x.initMultipliers()
	if !x.evaluate() {
		return nil
	}
	x.initSpacePrices(s.stepCostScale())
	for range pricedRounds {
		if !x.ascend(s.ctx, pauseSteps, s.known) {
			return nil
		}
	}
	return x.likelyTables()
}

// restrictTables leaves the instance with some of the tables.
func (s *solver) restrictTables(kept []int) {
	s.in.closeAllBut(kept)
	alive := s.in.aliveTables()
	in, _ := s.in.subInstance(alive)
	s.setInstance(in, alive)
}

// usesOutside reports whether a design has tables that are not in a list.
func usesOutside(design []bool, kept []int) bool {
	for n, is := range design {
		if _, found := slices.BinarySearch(kept, n); is && !found {
			return true
		}
	}
	return false
}

// effort is how much is done, in arcs looked at.
type effort struct {
	searching int // by each search
	branching int
	program   int // arcs up to which what is left becomes an integer program
	nodes     int // that its solver may branch, 0: as Options.Limits says
}

var (
	fullEffort   = effort{10_000_000, 150_000_000, 60_000, 0}
	localEffort  = effort{1_000_000, 4_000_000, 2_000, 100}
	directEffort = effort{1_000_000, 4_000_000, 400_000, 0}
)

const (
	pauseSteps = 40 // between reductions
	rounds     = 60
)

// run bounds, searches, reduces, branches, and asks the solver.
func (s *solver) run() error {
	if s.offerSequence(s.options.Start); s.best != nil {
		s.searchFrom(nil, s.toAlive(s.best), nil)
	}
	for _, list := range s.seeds {
		s.searchFrom(nil, s.toAlive(list), nil)
	}
	x, ok, err := s.reduceInstance()
	if err != nil {
		return err
	}
	if !ok {
		s.liftBound(s.known) // no sequence is as good as the best one: only rounding can say that
		return nil
	}
	s.result.Stats.ArcsLeft, s.result.Stats.TablesLeft = s.in.sizeLeft()
	if !s.gapClosed() && !s.canStop() {
		if err := s.branchThenSolve(x); err != nil {
			return err
		}
	}
	if s.options.Ties && s.gapClosed() && s.ctx.Err() == nil {
		return s.breakTies(x)
	}
	return nil
}

// searchFrom searches from a sequence with tables that the multipliers (may be nil) make much of.
func (s *solver) searchFrom(x *dual, begin [][]bool, tables []int) {
	q := newSearch(s.in, s.effort.searching, s.ctx.Done())
	q.descendFrom(begin, tables, func(t int) float64 {
		if x != nil && x.spacePrice(t) > 0 {
			return x.spacePrice(t)
		}
		if space := s.p.Steps[t].Space; space > 0 {
			return 1e-3 * s.stepCostScale() / space
		}
		return 0
	})
	if better(q.least, s.known) {
		s.offerSequence(s.fromAlive(q.best))
	}
}

// stepCostScale is of the order of what a step costs.
func (s *solver) stepCostScale() float64 {
	if s.best != nil {
		return s.known / float64(len(s.p.Steps))
	}
	sum := 0.0
	for i := range s.in.demands {
		for t, k := range s.in.class {
			if g := s.in.demands[i][k]; len(g.arcs) > 0 {
				sum += g.floor * s.p.Demands[i].Weights[t]
			}
		}
	}
	return max(sum, s.bound, s.grain) / float64(len(s.p.Steps))
}

// reduceInstance raises the dual bound and leaves out what it shows to be useless. False: nothing is left.
func (s *solver) reduceInstance() (*dual, bool, error) {
	if s.best == nil { // the steps along the multipliers go by what is known
		s.searchFrom(nil, nil, nil)
	}
	x := newDual(s.in)
	x.initMultipliers()
	if !x.evaluate() {
		return x, false, s.impossibleError()
	}
	s.liftBound(x.bound)
	x.initSpacePrices(s.stepCostScale())
	idle, dry, next := 0, 0, 0
	for round := range rounds {
		before := s.bound
		if !x.ascend(s.ctx, pauseSteps, s.known) {
			return x, false, s.impossibleError()
		}
		s.liftBound(x.bound)
		if known := s.known; round >= next {
			often := x.likelyTables()
			s.searchFrom(x, x.suggestSequence(0.5), often)
			s.searchFrom(x, x.suggestSequence(0.2), often)
			if s.known < known {
				dry = 0
			}
			dry++
			next = round + dry
			if s.best == nil && s.ctx.Err() == nil {
				if _, err := s.smallestSequence(); err != nil {
					return x, false, err
				}
			}
		}
		if s.ctx.Err() != nil || s.canStop() && (!s.options.Ties || !s.gapClosed()) {
			return x, true, nil //nolint:nilerr // the context ended: what there is stays
		}
		limit := s.known + tolerance(s.known) + s.grain
		fixed := x.fixTables(limit)
		if !x.evaluate() {
			return x, false, nil
		}
		stay, gone := x.pruneArcs(limit)
		if fixed > 0 || gone > 0 {
			x.presolve(stay)
			if alive := s.in.aliveTables(); len(alive)*5 < len(s.in.size)*4 {
				x = x.subDual(alive)
				s.setInstance(x.in, alive)
			}
			if !x.evaluate() {
				return x, false, nil
			}
		}
		arcs, _ := s.in.sizeLeft()
		if idle++; s.bound > before+0.005*(s.known-before) || gone*20 > arcs {
			idle = 0
		} else {
			x.theta = 0 // from here on anew: the average may point elsewhere by now
		}
		if idle == 3 || s.gapClosed() {
			break
		}
	}
	return x, true, nil
}

// likelyTables are the tables that the multipliers make something of at some step.
func (x *dual) likelyTables() (list []int) {
	for n := range x.in.size {
		for t := range x.status {
			if x.status[t][n] == free && (x.kept[t][n] > 0.05 || x.used[t][n] > 0.05) {
				list = append(list, n)
				break
			}
		}
	}
	return list
}

// impossibleError is the error if no sequence was found where none can be.
func (s *solver) impossibleError() error {
	if s.best != nil {
		return nil
	}
	_, err := s.smallestSequence()
	return err
}

// branchThenSolve branches, then asks the solver.
func (s *solver) branchThenSolve(x *dual) error {
	margin := max(1e-10, s.options.Limits.Gap) * math.Abs(s.known)
	b := &branchAndBound{ctx: s.ctx, in: s.in, best: s.toAlive(s.best), known: s.known, limit: s.known - margin, margin: margin, budget: s.effort.branching}
	done := b.searchTree(x)
	s.result.Stats.Nodes = b.nodes
	s.offerSequence(s.fromAlive(b.best))
	if s.result.Engine = "branching"; done {
		s.liftBound(min(s.known, b.limit))
		if s.options.Limits.Gap == 0 {
			s.liftBound(s.known)
		}
		return nil
	}
	s.liftBound(min(b.left, b.limit))
	if arcs, _ := s.in.sizeLeft(); s.options.Solver == nil || s.ctx.Err() != nil || arcs > s.effort.program {
		return nil //nolint:nilerr // the context ended: what there is stays
	}
	return s.solveProgram()
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

func cloneStatus(list [][]int8) [][]int8 {
	next := make([][]int8, len(list))
	for t := range list {
		next[t] = append([]int8(nil), list[t]...)
	}
	return next
}

func cloneBools(list [][]bool) [][]bool {
	next := make([][]bool, len(list))
	for t := range list {
		next[t] = append([]bool(nil), list[t]...)
	}
	return next
}

// solverLimits are the solver's.
func (s *solver) solverLimits() solve.Limits {
	l := solve.Limits{Nodes: s.options.Limits.Nodes, Iterations: s.options.Limits.Iterations, Gap: s.options.Limits.Gap}
	if s.effort.nodes > 0 {
		l.Nodes = s.effort.nodes
	}
	if at, ok := s.ctx.Deadline(); ok { // an engine that stops by itself says how far its bound has come
		l.Wall = max(time.Until(at)*9/10, time.Millisecond)
	}
	return l
}

// solveProgram solves one integer program of all that is not settled.
func (s *solver) solveProgram() error {
	if s.options.Solver == nil {
		return nil
	}
	p := newProgram(s.in)
	s.result.Stats.Columns, s.result.Stats.Rows = len(p.problem.Columns), len(p.problem.Rows)
	if s.best != nil {
		p.setStart(s.toAlive(s.best))
	}
	list, solution, failed, err := p.runSolver(s.ctx, s.options.Solver, s.solverLimits())
	if err != nil {
		return err
	}
	if list != nil {
		s.offerSequence(s.fromAlive(list))
	}
	if s.result.Failure = failed; solution == nil {
		return nil
	}
	s.result.Engine = solution.Engine
	switch solution.Status {
	case solve.Optimal:
		s.liftBound(s.known)
	case solve.Stopped:
		s.liftBound(solution.Bound + p.openUpkeep())
		s.result.Stopped = solution.Limit
	}
	return nil
}

// smallestSequence begins from the tables that take the least space, kept throughout. The error is a *SpaceError if they do not fit.
func (s *solver) smallestSequence() ([][]bool, error) {
	tight := 0
	for t, step := range s.p.Steps {
		if step.Space > 0 && (s.p.Steps[tight].Space == 0 || step.Space < s.p.Steps[tight].Space) {
			tight = t
		}
	}
	r, err := choice.MinimiseSize(s.ctx, s.p.staticProblem(tight), choice.Options{Solver: s.options.Solver})
	if err != nil {
		return nil, err
	}
	if space := s.p.Steps[tight].Space; space > 0 && r.Cost > space*(1+1e-12) {
		return nil, &SpaceError{Step: tight, Space: space, Smallest: r.Cost, Proven: r.Proven}
	}
	list := make([][]bool, len(s.p.Steps))
	for t := range list {
		list[t] = r.Open
	}
	s.offerSequence(list)
	s.searchFrom(nil, s.toAlive(list), nil)
	return list, nil
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
		default:
			r.Stopped = StoppedNodes
		}
	}
	return r
}

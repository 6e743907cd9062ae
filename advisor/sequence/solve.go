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
	s := &solver{ctx: ctx, options: o, began: time.Now(), p: p, known: math.Inf(1), bound: math.Inf(-1), grain: 1e-13 * p.largest(), ideals: &ideals{at: map[int]*ideal{}}, effort: fullEffort, result: &Result{}}
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
	s.offer(o.Start)
	if x := newDual(s.in); x.evaluate() { // without multipliers: every demand at its cheapest
		s.lift(x.bound)
	}
	if o.Direct {
		s.effort = directEffort
	} else if len(p.Steps) > 2 {
		err = s.prune()
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
	return s.finish(), nil
}

// prune solves the local programs. With Options.Pruned the instance is left with the tables that they chose; otherwise the problem is solved
// with those first, for a sequence to begin from.
func (s *solver) prune() error {
	t, err := s.plant()
	if err != nil {
		return err
	}
	s.result.Locals = t.locals
	kept := t.kept()
	if math.IsInf(s.p.Cost(t.design), 1) {
		// A table does not live long enough, or too many come at once. What takes the least space can be kept throughout.
		list, err := s.smallest()
		if err != nil {
			return err
		}
		for n, is := range list[0] {
			if at, found := slices.BinarySearch(kept, n); is && !found {
				kept = slices.Insert(kept, at, n)
			}
		}
	}
	s.offer(t.design)
	if s.options.Pruned {
		for _, n := range s.priced() {
			if at, found := slices.BinarySearch(kept, n); !found {
				kept = slices.Insert(kept, at, n)
			}
		}
		s.seeds = [][][]bool{s.separate()}
		s.result.Kept = kept
		if s.best != nil && !slices.ContainsFunc(s.best, func(d []bool) bool { return outside(d, kept) }) {
			s.restrict(kept)
			return nil
		}
		s.best, s.known = nil, math.Inf(1) // Options.Start has tables that were not kept: what is chosen from those counts
		s.offer(t.design)
		s.restrict(kept)
		return nil
	}
	in := *s.in
	in.status, in.unborn, in.demands = clone2(s.in.status), clone(s.in.unborn), nil
	for i := range s.in.demands {
		in.demands = append(in.demands, slices.Clone(s.in.demands[i]))
	}
	first := &solver{ctx: s.ctx, options: s.options, effort: fullEffort, began: s.began, p: s.p, in: &in, best: s.best, known: s.known, bound: math.Inf(-1), grain: s.grain, result: &Result{}}
	first.seeds = [][][]bool{s.separate()}
	first.options.Ties, first.options.Progress, first.options.Start = false, nil, s.best
	first.restrict(kept)
	if err := first.run(); err != nil {
		return err
	}
	s.offer(first.best)
	return nil
}

// pricedRounds is how long multipliers are raised for to see what is promising beside what the local programs chose.
const pricedRounds = 3

// priced are the tables that the relaxation over all of them makes something of. A local program knows three of the steps, and takes what is
// best for just these: a table that serves no three of them best, but all together, is in none of their designs. The relaxation knows all
// steps and no integers, so the two fail on different tables.
func (s *solver) priced() []int {
	x := newDual(s.in)
	x.share()
	if !x.evaluate() {
		return nil
	}
	x.charge(s.scale())
	for range pricedRounds {
		if !x.ascend(s.ctx, pauseSteps, s.known) {
			return nil
		}
	}
	return x.often()
}

// restrict leaves the instance with some of the tables.
func (s *solver) restrict(kept []int) {
	s.in.restrict(kept)
	alive := s.in.alive()
	in, _ := s.in.shrink(alive)
	s.leave(in, alive)
}

// outside tells whether a design has tables that are not in a list.
func outside(design []bool, kept []int) bool {
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
	if s.offer(s.options.Start); s.best != nil {
		s.attempt(nil, s.narrow(s.best), nil)
	}
	for _, list := range s.seeds {
		s.attempt(nil, s.narrow(list), nil)
	}
	x, ok, err := s.reduce()
	if err != nil {
		return err
	}
	if !ok {
		s.lift(s.known) // no sequence is as good as the best one: only rounding can say that
		return nil
	}
	s.result.Stats.ArcsLeft, s.result.Stats.TablesLeft = s.in.left()
	if !s.closed() && !s.enough() {
		if err := s.settle(x); err != nil {
			return err
		}
	}
	if s.options.Ties && s.closed() && s.ctx.Err() == nil {
		return s.ties(x)
	}
	return nil
}

// attempt searches from a sequence with tables that the multipliers (may be nil) make much of.
func (s *solver) attempt(x *dual, begin [][]bool, tables []int) {
	q := newSearch(s.in, s.effort.searching, s.ctx.Done())
	q.attempt(begin, tables, func(t int) float64 {
		if x != nil && x.rate(t) > 0 {
			return x.rate(t)
		}
		if space := s.p.Steps[t].Space; space > 0 {
			return 1e-3 * s.scale() / space
		}
		return 0
	})
	if better(q.least, s.known) {
		s.offer(s.widen(q.best))
	}
}

// scale is of the order of what a step costs.
func (s *solver) scale() float64 {
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

// reduce raises the dual bound and leaves out what it shows to be useless. False: nothing is left.
func (s *solver) reduce() (*dual, bool, error) {
	if s.best == nil { // the steps along the multipliers go by what is known
		s.attempt(nil, nil, nil)
	}
	x := newDual(s.in)
	x.share()
	if !x.evaluate() {
		return x, false, s.impossible()
	}
	s.lift(x.bound)
	x.charge(s.scale())
	idle, dry, next := 0, 0, 0
	for round := range rounds {
		before := s.bound
		if !x.ascend(s.ctx, pauseSteps, s.known) {
			return x, false, s.impossible()
		}
		s.lift(x.bound)
		if known := s.known; round >= next {
			often := x.often()
			s.attempt(x, x.hint(0.5), often)
			s.attempt(x, x.hint(0.2), often)
			if s.known < known {
				dry = 0
			}
			dry++
			next = round + dry
			if s.best == nil && s.ctx.Err() == nil {
				if _, err := s.smallest(); err != nil {
					return x, false, err
				}
			}
		}
		if s.ctx.Err() != nil || s.enough() && (!s.options.Ties || !s.closed()) {
			return x, true, nil //nolint:nilerr // the context ended: what there is stays
		}
		limit := s.known + slack(s.known) + s.grain
		fixed := x.fix(limit)
		if !x.evaluate() {
			return x, false, nil
		}
		stay, gone := x.prune(limit)
		if fixed > 0 || gone > 0 {
			x.compact(stay)
			if alive := s.in.alive(); len(alive)*5 < len(s.in.size)*4 {
				x = x.shrink(alive)
				s.leave(x.in, alive)
			}
			if !x.evaluate() {
				return x, false, nil
			}
		}
		arcs, _ := s.in.left()
		if idle++; s.bound > before+0.005*(s.known-before) || gone*20 > arcs {
			idle = 0
		} else {
			x.theta = 0 // from here on anew: the average may point elsewhere by now
		}
		if idle == 3 || s.closed() {
			break
		}
	}
	return x, true, nil
}

// often are the tables that the multipliers make something of at some step.
func (x *dual) often() (list []int) {
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

// impossible is the error if no sequence was found where none can be.
func (s *solver) impossible() error {
	if s.best != nil {
		return nil
	}
	_, err := s.smallest()
	return err
}

// settle branches, then asks the solver.
func (s *solver) settle(x *dual) error {
	margin := max(1e-10, s.options.Limits.Gap) * math.Abs(s.known)
	b := &branch{ctx: s.ctx, in: s.in, best: s.narrow(s.best), known: s.known, limit: s.known - margin, margin: margin, budget: s.effort.branching}
	done := b.run(x)
	s.result.Stats.Nodes = b.nodes
	s.offer(s.widen(b.best))
	if s.result.Engine = "branching"; done {
		s.lift(min(s.known, b.limit))
		if s.options.Limits.Gap == 0 {
			s.lift(s.known)
		}
		return nil
	}
	s.lift(min(b.left, b.limit))
	if arcs, _ := s.in.left(); s.options.Solver == nil || s.ctx.Err() != nil || arcs > s.effort.program {
		return nil //nolint:nilerr // the context ended: what there is stays
	}
	return s.whole()
}

// enough tells whether the solve may end: the gap is small enough, or the time is over.
func (s *solver) enough() bool {
	return s.ctx.Err() != nil || s.options.Limits.Gap > 0 && s.known-s.bound <= s.options.Limits.Gap*s.known
}

// closed tells whether the bound has come to the cost.
func (s *solver) closed() bool {
	return s.best != nil && s.known-s.bound <= 1e-9*math.Abs(s.known)+s.grain
}

// largest is the greatest cost of a single thing.
func (p *Problem) largest() (v float64) {
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

// offer takes a sequence if it is better than the best so far.
func (s *solver) offer(list [][]bool) {
	if list == nil {
		return
	}
	if c := s.p.Cost(list); better(c, s.known) {
		s.best, s.known = clone(list), c
		s.report()
	}
}

func (s *solver) lift(bound float64) {
	if bound > s.bound {
		s.bound = bound
		s.report()
	}
}

func (s *solver) report() {
	if s.options.Progress != nil {
		s.options.Progress(Progress{s.known, min(s.bound, s.known), time.Since(s.began)})
	}
}

// better tells whether a is better than b by more than rounding.
func better(a, b float64) bool { return a < b && (math.IsInf(b, 1) || a < b-1e-11*math.Abs(b)) }

func clone2(list [][]int8) [][]int8 {
	next := make([][]int8, len(list))
	for t := range list {
		next[t] = append([]int8(nil), list[t]...)
	}
	return next
}

func clone(list [][]bool) [][]bool {
	next := make([][]bool, len(list))
	for t := range list {
		next[t] = append([]bool(nil), list[t]...)
	}
	return next
}

// limits are the solver's.
func (s *solver) limits() solve.Limits {
	l := solve.Limits{Nodes: s.options.Limits.Nodes, Iterations: s.options.Limits.Iterations, Gap: s.options.Limits.Gap}
	if s.effort.nodes > 0 {
		l.Nodes = s.effort.nodes
	}
	if at, ok := s.ctx.Deadline(); ok { // an engine that stops by itself says how far its bound has come
		l.Wall = max(time.Until(at)*9/10, time.Millisecond)
	}
	return l
}

// whole solves one integer program of all that is not settled.
func (s *solver) whole() error {
	if s.options.Solver == nil {
		return nil
	}
	p := newProgram(s.in)
	s.result.Stats.Columns, s.result.Stats.Rows = len(p.problem.Columns), len(p.problem.Rows)
	if s.best != nil {
		p.start(s.narrow(s.best))
	}
	list, solution, failed, err := p.run(s.ctx, s.options.Solver, s.limits())
	if err != nil {
		return err
	}
	if list != nil {
		s.offer(s.widen(list))
	}
	if s.result.Failure = failed; solution == nil {
		return nil
	}
	s.result.Engine = solution.Engine
	switch solution.Status {
	case solve.Optimal:
		s.lift(s.known)
	case solve.Stopped:
		s.lift(solution.Bound + p.settled())
		s.result.Stopped = solution.Limit
	}
	return nil
}

// smallest begins from the tables that take the least space, kept throughout. The error is a *SpaceError if they do not fit.
func (s *solver) smallest() ([][]bool, error) {
	tight := 0
	for t, step := range s.p.Steps {
		if step.Space > 0 && (s.p.Steps[tight].Space == 0 || step.Space < s.p.Steps[tight].Space) {
			tight = t
		}
	}
	r, err := choice.Smallest(s.ctx, s.p.static(tight), choice.Options{Solver: s.options.Solver})
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
	s.offer(list)
	s.attempt(nil, s.narrow(list), nil)
	return list, nil
}

// finish fills in the result.
func (s *solver) finish() *Result {
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

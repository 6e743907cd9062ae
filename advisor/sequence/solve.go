package sequence

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// Options say how to solve.
type Options struct {
	Solver   solve.Solver   // for what the relaxation and branching do not settle; nil: none
	Limits   solve.Limits   // Nodes for the solver; Gap and Wall for the whole
	Pruned   bool           // only with tables that the local programs of the workload summary tree choose (Algorithms 1 and 2)
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
	best    [][]bool
	known   float64
	bound   float64
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
	s := &solver{ctx: ctx, options: o, began: time.Now(), p: p, known: math.Inf(1), bound: math.Inf(-1), result: &Result{}}
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
	if err := s.run(); err != nil {
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

// How much is done, in arcs looked at and in subgradient steps.
const (
	searching  = 400_000_000 // by the first search
	branching  = 300_000_000
	pauseSteps = 40 // between reductions
	rounds     = 60
	programMax = 60_000 // arcs up to which what is left becomes an integer program
)

// run bounds, searches, reduces, branches, and asks the solver.
func (s *solver) run() error {
	s.offer(s.options.Start)
	if s.known < math.Inf(1) {
		s.attempt(nil, s.best, nil, searching/8)
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
func (s *solver) attempt(x *dual, begin [][]bool, tables []int, budget int) {
	q := newSearch(s.in, budget, s.ctx.Done())
	q.attempt(begin, tables, func(t int) float64 {
		if x != nil && x.rate(t) > 0 {
			return x.rate(t)
		}
		if space := s.p.Steps[t].Space; space > 0 {
			return 1e-3 * s.scale() / space
		}
		return 0
	})
	s.offer(q.best)
}

// scale is of the order of what a step costs.
func (s *solver) scale() float64 {
	for _, v := range []float64{s.known, s.bound} {
		if v > 0 && !math.IsInf(v, 0) {
			return v / float64(len(s.p.Steps))
		}
	}
	return 1
}

// reduce raises the dual bound and leaves out what it shows to be useless. False: nothing is left.
func (s *solver) reduce() (*dual, bool, error) {
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
			s.attempt(x, x.hint(0.5), often, searching/16)
			s.attempt(x, x.hint(0.2), often, searching/16)
			if s.known < known {
				dry = 0
			}
			dry++
			next = round + dry
			if s.best == nil && s.ctx.Err() == nil {
				if err := s.smallest(); err != nil {
					return x, false, err
				}
			}
		}
		if s.ctx.Err() != nil || s.enough() && (!s.options.Ties || !s.closed()) {
			return x, true, nil
		}
		limit := s.known + slack(s.known)
		fixed := x.fix(limit)
		if !x.evaluate() {
			return x, false, nil
		}
		stay, gone := x.prune(limit)
		if fixed > 0 || gone > 0 {
			x.compact(stay)
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
	return s.smallest()
}

// settle branches, then asks the solver.
func (s *solver) settle(x *dual) error {
	margin := max(1e-10, s.options.Limits.Gap) * math.Abs(s.known)
	b := &branch{ctx: s.ctx, in: s.in, best: s.best, known: s.known, limit: s.known - margin, margin: margin, budget: branching}
	done := b.run(x)
	s.result.Stats.Nodes = b.nodes
	s.offer(b.best)
	if s.result.Engine = "branching"; done {
		s.lift(min(s.known, b.limit))
		if s.options.Limits.Gap == 0 {
			s.lift(s.known)
		}
		return nil
	}
	s.lift(min(b.left, b.limit))
	if arcs, _ := s.in.left(); s.options.Solver == nil || s.ctx.Err() != nil || arcs > programMax {
		return nil //nolint:nilerr // the context ended: what there is stays
	}
	return s.whole()
}

// enough tells whether the solve may end: the gap is small enough, or the time is over.
func (s *solver) enough() bool {
	return s.ctx.Err() != nil || s.options.Limits.Gap > 0 && s.known-s.bound <= s.options.Limits.Gap*s.known
}

// closed tells whether the bound has come to the cost.
func (s *solver) closed() bool { return s.best != nil && s.known-s.bound <= 1e-9*math.Abs(s.known) }

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

func clone(list [][]bool) [][]bool {
	next := make([][]bool, len(list))
	for t := range list {
		next[t] = append([]bool(nil), list[t]...)
	}
	return next
}

// whole solves one integer program of all that is not settled.
func (s *solver) whole() error {
	if s.options.Solver == nil {
		return nil
	}
	p := newProgram(s.in)
	s.result.Stats.Columns, s.result.Stats.Rows = len(p.problem.Columns), len(p.problem.Rows)
	if s.best != nil {
		p.start(s.best)
	}
	list, solution, failed, err := p.run(s.ctx, s.options.Solver, solve.Limits{Nodes: s.options.Limits.Nodes, Gap: s.options.Limits.Gap})
	if err != nil {
		return err
	}
	if s.result.Failure = failed; solution == nil {
		return nil
	}
	s.offer(list)
	s.result.Engine = solution.Engine
	switch {
	case solution.Status == solve.Optimal:
		s.lift(s.known)
	case solution.Status == solve.Stopped:
		s.lift(solution.Bound + p.settled())
		s.result.Stopped = solution.Limit
	}
	return nil
}

// ties looks for the fewest tables, then the smallest, among the sequences of the least cost. Both are one objective: sizes are shares
// of their sum over all steps, which together count less than one table; and the cost counts a thousand tables, so that no bound is lost in
// rounding. Only sequences of the least cost are taken.
func (s *solver) ties(x *dual) error {
	limit := s.known + 1e-9*math.Abs(s.known)
	if !x.evaluate() {
		s.result.Fewest = true
		return nil
	}
	x.fix(limit)
	if !x.evaluate() {
		s.result.Fewest = true
		return nil
	}
	stay, _ := x.prune(limit)
	x.compact(stay)
	total := 1.0
	for _, size := range s.in.size {
		total += size * float64(len(s.in.status))
	}
	unit := max(s.known/1000, 1e-9)
	costs := make([]float64, len(s.in.size))
	q := *s.p
	q.Tables = append([]Table(nil), s.p.Tables...)
	for n := range q.Tables {
		t := &q.Tables[n]
		if t.Free {
			continue
		}
		costs[n] = 1 + s.in.size[n]/total
		t.Upkeep = append([]float64(nil), t.Upkeep...)
		for i := range t.Upkeep {
			t.Upkeep[i] += unit * costs[n]
		}
	}
	in := *s.in
	in.p = &q
	in.status, in.unborn, in.demands = nil, nil, nil
	for t := range s.in.status {
		in.status = append(in.status, append([]int8(nil), s.in.status[t]...))
		in.unborn = append(in.unborn, append([]bool(nil), s.in.unborn[t]...))
	}
	for i := range s.in.demands {
		in.demands = append(in.demands, append([]*graph(nil), s.in.demands[i]...))
	}
	accept := func(list [][]bool) bool { return s.p.Cost(list) <= limit }
	take := func(list [][]bool) {
		if list != nil && accept(list) && q.Cost(list) < q.Cost(s.best) {
			s.best = list
		}
	}
	y := x.child()
	y.in = &in
	small := 1e-7 * unit
	for range 5 {
		known := q.Cost(s.best)
		if !y.ascend(s.ctx, pauseSteps, known-small) || y.bound >= known-small {
			s.result.Fewest, s.known = true, s.p.Cost(s.best)
			return nil
		}
		for _, begin := range [][][]bool{s.best, y.hint(0.5)} {
			search := newSearch(&in, searching/16, s.ctx.Done())
			search.attempt(begin, nil, y.rate)
			take(search.best)
		}
		fixed := y.fix(q.Cost(s.best) - small)
		if !y.evaluate() {
			s.result.Fewest, s.known = true, s.p.Cost(s.best)
			return nil
		}
		stay, gone := y.prune(q.Cost(s.best) - small)
		if y.compact(stay); fixed == 0 && gone == 0 {
			break
		}
	}
	known := q.Cost(s.best)
	b := &branch{ctx: s.ctx, in: &in, accept: accept, best: s.best, known: known, limit: known - small, margin: small, budget: branching / 4}
	done := b.run(y)
	take(b.best)
	s.known, s.result.Fewest = s.p.Cost(s.best), done
	if arcs, _ := in.left(); done || s.options.Solver == nil || s.ctx.Err() != nil || arcs > tieMax {
		return nil //nolint:nilerr // the context ended: what there is stays
	}
	p := newProgram(s.in)
	p.start(s.best)
	p.hold(limit-p.settled(), costs)
	list, solution, _, err := p.run(s.ctx, s.options.Solver, solve.Limits{Nodes: tieNodes, Wall: tieWall})
	if err != nil || solution == nil {
		return err
	}
	take(list)
	s.known, s.result.Fewest = s.p.Cost(s.best), solution.Status == solve.Optimal
	return nil
}

// The limits of the last program: it only chooses among sequences of equal cost.
const (
	tieMax   = 6000
	tieNodes = 300
	tieWall  = 10 * time.Second
)

// smallest begins from the tables that take the least space, kept throughout. The error is a *SpaceError if they do not fit.
func (s *solver) smallest() error {
	tight := 0
	for t, step := range s.p.Steps {
		if step.Space > 0 && (s.p.Steps[tight].Space == 0 || step.Space < s.p.Steps[tight].Space) {
			tight = t
		}
	}
	r, err := choice.Smallest(s.ctx, s.p.static(tight), choice.Options{Solver: s.options.Solver})
	if err != nil {
		return err
	}
	if space := s.p.Steps[tight].Space; space > 0 && r.Cost > space*(1+1e-12) {
		return &SpaceError{Step: tight, Space: space, Smallest: r.Cost, Proven: r.Proven}
	}
	list := make([][]bool, len(s.p.Steps))
	for t := range list {
		list[t] = r.Open
	}
	s.offer(list)
	s.attempt(nil, list, nil, searching/8)
	return nil
}

// finish fills in the result.
func (s *solver) finish() *Result {
	r := s.result
	r.Open, r.Cost, r.Bound = s.best, s.known, min(s.bound, s.known)
	r.Proven = s.known-s.bound <= 2e-9*math.Abs(s.known)
	if r.Proven {
		r.Bound, r.Stopped = r.Cost, ""
		return r
	}
	if r.Stopped == "" {
		switch {
		case errors.Is(context.Cause(s.ctx), errWall):
			r.Stopped = solve.LimitWall
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

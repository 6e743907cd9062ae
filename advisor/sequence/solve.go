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
	s.offer(o.Start)
	if err := s.whole(); err != nil {
		return nil, err
	}
	if s.best == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.space(); err != nil {
			return nil, err
		}
		return nil, errNone
	}
	return s.finish(), nil
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
	if s.options.Ties && solution.Status == solve.Optimal {
		return s.ties()
	}
	return nil
}

// ties looks for the fewest tables, then the smallest, among the sequences of the least cost: in one objective, in which all
// sizes together count less than one table.
func (s *solver) ties() error {
	total := 1.0
	for _, size := range s.in.size {
		total += size * float64(len(s.in.status))
	}
	costs := make([]float64, len(s.in.size))
	for n := range costs {
		if !s.p.Tables[n].Free {
			costs[n] = 1 + s.in.size[n]/total
		}
	}
	p := newProgram(s.in)
	p.start(s.best)
	p.hold(s.known+1e-9*math.Abs(s.known)-p.settled(), costs)
	list, solution, _, err := p.run(s.ctx, s.options.Solver, solve.Limits{Nodes: s.options.Limits.Nodes})
	if err != nil || solution == nil || list == nil {
		return err
	}
	if c := s.p.Cost(list); c <= s.known+2e-9*math.Abs(s.known) {
		s.best, s.known = list, c
		s.result.Fewest = solution.Status == solve.Optimal
	}
	return nil
}

// space returns a *SpaceError if that is why there is no sequence.
func (s *solver) space() error {
	tight := -1
	for t, step := range s.p.Steps {
		if step.Space > 0 && (tight < 0 || step.Space < s.p.Steps[tight].Space) {
			tight = t
		}
	}
	if tight < 0 {
		return nil
	}
	r, err := choice.Smallest(s.ctx, s.p.static(tight), choice.Options{Solver: s.options.Solver})
	if err != nil {
		return err
	}
	if space := s.p.Steps[tight].Space; r.Cost > space*(1+1e-12) {
		return &SpaceError{Step: tight, Space: space, Smallest: r.Cost, Proven: r.Proven}
	}
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

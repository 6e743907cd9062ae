package choice

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/solve"
)

// Options say how to solve. The zero value: without an integer program's solver, to the end of the branching's budget.
type Options struct {
	Solver solve.Solver // for parts that branching does not settle; nil: none
	Limits solve.Limits // Nodes and Iterations for the solver; Gap and Wall for the whole
	Start  []bool       // a choice to begin from; nil: none
	Ties   bool         // among choices of equal cost, one with the fewest tables, of those the smallest
	// Branching is how many arcs the branching may look at, 0: 150 million (a third of a second); below 0: none.
	Branching int
	// Searching is how many arcs the first search may look at, 0: 60 million; later ones look at an eighth each. Where a solver gets what is
	// left anyhow, and there is a choice to begin from, most of that is time lost.
	Searching int
	// Distances asks for Result.Distances.
	Distances bool
	// Progress, if set, is told of each better choice and greater bound, by one goroutine at a time, and, while the
	// integer program's solver is at work, of what it says.
	Progress func(Progress)
}

// Progress is how far a solve has come.
type Progress struct {
	Cost    float64 // of the best choice, +Inf if there is none yet
	Bound   float64
	Elapsed time.Duration
}

// Result is what was found.
type Result struct {
	Open   []bool // by table
	Cost   float64
	Bound  float64 // no choice costs less
	Proven bool    // Cost is the least
	Fewest bool    // proven: no choice of this cost has fewer tables, or as many and smaller ones (Options.Ties)
	// Stopped says what ended the solve before its end: "gap", "nodes", "wall", "cancelled" or "failed"; else empty.
	Stopped string
	Failure error  // of the solver, if it failed: a *solve.WorkerError
	Engine  string // what proved or found it: "dual", "branching", or the solver's name
	Stats   Stats
	// Distances are, by table, by how much more any choice costs in which a demand uses it than the bound that the linear relaxation gives:
	// where a limit on space leaves too much for one program, good choices are made of what is near. nil: they were not asked for, or not needed.
	Distances []float64
}

// Stats are figures of a solve.
type Stats struct {
	Columns, Rows int // of the whole integer program
	Solved        int // columns of the largest program that was given to the solver
}

// The reasons of Result.Stopped that are not the solver's.
const (
	StoppedCancelled = "cancelled"
	StoppedFailed    = "failed"
	StoppedNodes     = "nodes"
)

const (
	branching  = 150_000_000
	searching  = 60_000_000
	rounds     = 60
	pauseSteps = 40 // between reductions
)

// solver is one solve under way.
type solver struct {
	ctx     context.Context
	options Options
	began   time.Time
	problem *Problem
	in      *instance
	best    []bool
	known   float64
	bound   float64
	result  *Result
	dual    *dualState          // where the reduction has come to
	offered func(choice []bool) // told of each better choice; nil: nobody
}

// Solve finds a choice of least cost. The error is an *UnsatisfiableError, a *SpaceError, or the context's if it ended
// before there was any choice.
func Solve(ctx context.Context, p *Problem, o Options) (*Result, error) {
	if o.Limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Limits.Wall, errWall)
		defer cancel()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m := mergeDemands(p); m != nil && !ablation.Without(ablation.Merging) {
		return m.solveAndSplit(ctx, o)
	}
	return solveOnce(ctx, p, o, nil)
}

// solveOnce is Solve without merging. offered, if not nil, is told of each better choice.
func solveOnce(ctx context.Context, p *Problem, o Options, offered func([]bool)) (*Result, error) {
	s := &solver{ctx: ctx, options: o, began: time.Now(), problem: p, known: math.Inf(1), bound: math.Inf(-1), result: &Result{Engine: "dual"}, offered: offered}
	var err error
	if s.in, err = compileProblem(p); err != nil {
		return nil, err
	}
	s.in.done = ctx.Done()
	s.result.Stats.Columns, s.result.Stats.Rows = s.in.programSize()
	if err := s.run(); err != nil {
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

var (
	errWall = errors.New("choice: the time limit is reached")
	errNone = errors.New("choice: no choice was found within the limits: allow more nodes or time")
)

// searchBudget is how many arcs the first search may look at.
func (s *solver) searchBudget() int {
	if s.options.Searching > 0 {
		return s.options.Searching
	}
	return searching
}

// offerChoice takes a choice if it is better than the best so far.
func (s *solver) offerChoice(choice []bool) {
	if choice == nil {
		return
	}
	if c := s.problem.Cost(choice); better(c, s.known) {
		s.best, s.known = append([]bool(nil), choice...), c
		if s.offered != nil {
			s.offered(s.best)
		}
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

// canStop reports whether the solve may end: it is proven, the gap is small enough, or the time is over.
func (s *solver) canStop() bool {
	return s.ctx.Err() != nil || s.gapClosed() || s.relativeGap() <= s.options.Limits.Gap && s.options.Limits.Gap > 0
}

// gapClosed reports whether the bound has come to the cost.
func (s *solver) gapClosed() bool {
	return s.best != nil && s.known-s.bound <= 1e-10*math.Abs(s.known)
}

func (s *solver) relativeGap() float64 {
	if s.known <= s.bound {
		return 0
	}
	return (s.known - s.bound) / max(math.Abs(s.known), math.Abs(s.bound))
}

func (s *solver) run() error {
	if s.options.Start != nil {
		s.offerChoice(s.options.Start)
	}
	if tight := newSpaceFilter(s.in); tight != nil && !tight.fixAtRoot(s.ctx, s.in) {
		least, err := s.smallestChoice() // nothing fits
		if err != nil {
			return err
		}
		s.offerChoice(least)
		return nil
	}
	var hints [][]bool
	if s.best != nil {
		hints = append(hints, s.best)
	}
	found, _ := s.in.firstChoice(s.searchBudget(), 0, hints...)
	s.offerChoice(found)
	if s.best == nil && s.problem.Space > 0 {
		// The search does not look at space first. What takes the least is a choice to begin from, if it fits.
		least, err := s.smallestChoice()
		if err != nil {
			return err
		}
		found, _ = s.in.firstChoice(s.searchBudget(), 0, least)
		s.offerChoice(least)
		s.offerChoice(found)
	}
	if !s.reduceInstance() {
		// No choice is as good as the best one: only rounding can say that.
		s.bound = s.known
		return nil
	}
	if s.options.Limits.Gap > 0 && s.relativeGap() <= s.options.Limits.Gap {
		return nil
	}
	return s.solveParts()
}

// reduceInstance raises the dual bound and leaves out what it shows to be useless. False: nothing is left.
func (s *solver) reduceInstance() bool {
	x := newDual(s.in, s.in.status)
	x.initMultipliers()
	x.initSpacePrice(s.ctx)
	defer func() { s.dual = x.saveState() }()
	idle, dry := 0, 0 // rounds without a better bound, searches without a better choice
	next := 0
	for round := range rounds {
		before := s.bound
		if !x.ascend(s.ctx, pauseSteps, s.known) {
			return false
		}
		s.liftBound(x.bound)
		if known := s.known; round >= next { // the longer nothing is found, the more seldom it is looked for
			found, _ := s.in.multiStart(s.searchBudget()/8, x.spacePrice(), x.suggestChoice(0.5), x.suggestChoice(0.2))
			if s.offerChoice(found); s.known < known {
				dry = 0
			}
			dry++
			next = round + dry
		}
		if s.ctx.Err() != nil || s.canStop() && (!s.options.Ties || !s.gapClosed()) {
			return true // ties are looked for only among choices that are proven
		}
		limit := s.known + tolerance(s.known)
		fixed := x.fixTables(limit)
		dropped := x.pruneArcs(limit)
		if (fixed || dropped > 0) && !x.presolve() {
			return false
		}
		if idle++; s.bound > before+0.005*(s.known-before) || dropped*20 > s.in.arcCount() {
			idle = 0
		} else {
			x.theta = 0 // from here on anew: the average may point elsewhere by now
		}
		if idle == 3 {
			break
		}
		if s.gapClosed() {
			break
		}
	}
	return true
}

// solveParts solves the parts that are left.
func (s *solver) solveParts() error {
	parts, settled := s.in.independentParts()
	least, bound, fewest := settled, settled, true
	choice := make([]bool, len(s.in.status))
	for n, t := range s.in.status {
		choice[n] = t == open
	}
	complete := true
	budget := s.options.Branching
	if budget == 0 {
		budget = branching
	}
	for _, p := range parts {
		w := &partSolver{solver: s, in: p.in, budget: max(0, budget/len(parts))}
		if err := w.solvePart(s.best); err != nil {
			return err
		}
		bound += w.bound
		fewest = fewest && w.fewest
		if w.best == nil {
			complete = false
			continue
		}
		least += w.known
		for _, n := range p.tables {
			choice[n] = w.best[n]
		}
	}
	s.liftBound(min(bound, s.known))
	if complete {
		if c := s.problem.Cost(choice); !math.IsInf(c, 1) && c <= s.known+tolerance(s.known) {
			s.best, s.known = choice, c
		}
		s.result.Fewest = fewest && s.options.Ties
	}
	if bound >= least-1e-9*math.Abs(least) && complete {
		s.bound = max(s.bound, s.known-1e-9*math.Abs(s.known))
	}
	return nil
}

// fillResult fills in the result.
func (s *solver) fillResult() *Result {
	r := s.result
	r.Open, r.Cost, r.Bound = s.best, s.known, min(s.bound, s.known)
	r.Proven = s.known-s.bound <= 2e-9*math.Abs(s.known)
	if r.Proven {
		r.Bound = r.Cost
		r.Stopped = ""
	} else if r.Stopped == "" {
		switch {
		case errors.Is(context.Cause(s.ctx), errWall):
			r.Stopped = solve.LimitWall
		case s.ctx.Err() != nil:
			r.Stopped = StoppedCancelled
		case r.Failure != nil:
			r.Stopped = StoppedFailed
		case s.options.Limits.Gap > 0 && s.relativeGap() <= s.options.Limits.Gap:
			r.Stopped = solve.LimitGap
		default:
			r.Stopped = StoppedNodes
		}
	}
	return r
}

// smallestChoice returns the choice that takes the least space, or a *SpaceError if that does not fit.
func (s *solver) smallestChoice() ([]bool, error) {
	r, err := MinimiseSize(s.ctx, s.problem, Options{Solver: s.options.Solver, Limits: s.options.Limits, Branching: s.options.Branching})
	if err != nil {
		return nil, err
	}
	if math.IsInf(s.problem.Cost(r.Open), 1) {
		return nil, &SpaceError{Space: s.problem.Space, Smallest: r.Cost, Proven: r.Proven}
	}
	return r.Open, nil
}

// MinimiseSize finds the choice of the smallest size that satisfies all demands; its size is the result's Cost.
func MinimiseSize(ctx context.Context, p *Problem, o Options) (*Result, error) {
	small := &Problem{Tables: append([]Table(nil), p.Tables...), Demands: append([]Demand(nil), p.Demands...)}
	for n := range small.Tables {
		t := &small.Tables[n]
		t.Upkeep = t.Size
		if t.Free {
			t.Upkeep = 0
		}
	}
	for i := range small.Demands {
		small.Demands[i].Weight = 0
	}
	return Solve(ctx, small, o)
}

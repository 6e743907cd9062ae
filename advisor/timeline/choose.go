package timeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// In pruned mode each solve ends when it is as good as that, or has taken so many steps of the simplex method, unless the caller says otherwise.
const (
	prunedGap        = 1e-4
	prunedIterations = 50_000
)

// mostRounds is how often the program is solved anew with further migration plans.
const mostRounds = 6

// Choose finds a calendar for a workload whose statements have weights over time. Given the same workload and options it
// answers the same.
//
// The error is an *InputError or *StatementError, a *design.UnanswerableError if a query has no plan, a *SpaceError if no
// tables fit, or the context's if it ended before there were candidates and plans, or before any tables that fit were found. A context that
// ends later, or a limit of time, makes the calendar the best so far, if need be one without changes: Stopped says so.
func Choose(ctx context.Context, w *workload.Workload, o Options) (*Calendar, error) {
	began := time.Now()
	t, err := prepareTask(ctx, w, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := t.withWall(ctx, began)
	defer cancel()
	c, err := t.findCalendar(ctx)
	if err != nil {
		return nil, err
	}
	c.Phases, c.Duration = t.phases, time.Since(began)
	return c, nil
}

// findCalendar finds the calendar of a task.
func (t *task) findCalendar(ctx context.Context) (*Calendar, error) {
	in, corners, err := t.sweepPrices(ctx)
	if err != nil {
		return nil, err
	}
	for n := range in {
		in[n] = in[n] || t.study.Must(n)
	}
	t.endPhase("sweep")
	if t.options.SpaceShare > 0 {
		full, err := t.chooseDesign(ctx, designQuestion{weights: t.weightsAt(-1), in: in})
		if outOfTime(ctx, err) {
			full, err = t.fallbackDesign(ctx, -1, in, corners)
			t.notes = append(t.notes, "the time was over before the best design without a limit on space was found: the share is of the best one so far")
		}
		if err != nil {
			return nil, err
		}
		t.full = t.bytesOf(full.Open)
		t.space = t.full * t.options.SpaceShare
	}
	b, err := t.designBaselines(ctx, in, corners)
	if err != nil {
		return nil, err
	}
	defer b.cancelMean()
	t.endPhase("baselines")
	s := t.newSearch()
	if err := s.run(ctx, b, in); err != nil {
		return nil, err
	}
	t.endPhase("solve")
	c := s.readCalendar(b)
	t.endPhase("read")
	return c, nil
}

// search looks for a calendar: programs are solved in which the price of filling a table is at first the least that it could
// be, and is put right for the tables that the solution creates, until it is right for all that one does.
type search struct {
	*task
	loader  *loader
	problem *sequence.Problem
	bounds  []float64 // by candidate, see loader.arcsOf

	open    [][]bool // the best calendar so far
	cost    float64  // of it, without writes of the existing tables
	designs [][]bool // of runs, of calendars that were met on the way
	bound   float64
	result  *sequence.Result // the last one
	kept    int
	locals  int
	rounds  int
	proven  bool
	fewest  bool
	stopped string
	pruned  bool // over the promising candidates
	effort  int  // how many times as often annealing is tried; above 1 runs are designed
}

func (t *task) newSearch() *search {
	return &search{task: t, loader: &loader{task: t, tables: t.tables, byTree: map[string]*treeSources{}}, cost: math.Inf(1), effort: 1}
}

// run looks for the calendar. Exact mode begins with pruned mode's, so it never has a dearer one; of few candidates, all promising, the program
// is solved at once, of many within a limit on space what is near (exact.go).
func (s *search) run(ctx context.Context, b *baselineDesigns, in []bool) error {
	if !s.options.Exact {
		return s.solvePromising(ctx, b, in)
	}
	if n := countOpen(in); n > proofTables || n < len(s.tables) {
		within, cancel := withShare(ctx, prunedShare)
		defer cancel()
		few := s.newSearch()
		if err := few.solvePromising(within, b, in); err != nil && within.Err() == nil {
			return err
		}
		if s.open = few.open; few.kept == len(s.tables) {
			s.bound = few.bound // of all candidates
		}
		s.endPhase("pruned")
		if s.space > 0 && n > proofTables && s.options.Solver != nil { // of fewer the program is no trouble
			return s.searchExact(ctx, b, in)
		}
	}
	return s.solveAll(ctx, b)
}

// prepareProblem makes the problem, in which tables are filled from those of the loader, for some candidates, nil: for all; and offers the calendar that there is, and
// those that never change.
func (s *search) prepareProblem(b *baselineDesigns, in []bool) {
	s.problem = s.task.sequenceProblem()
	s.bounds = make([]float64, len(s.tables))
	s.problem.Loads = make([]sequence.Load, len(s.tables))
	for n := range s.tables {
		if s.bounds[n] = math.NaN(); in == nil || in[n] {
			s.problem.Loads[n] = s.loader.arcsOf(n, s.bounds[n])
		}
	}
	if found := s.open; found != nil { // its cost is not known yet
		s.open = nil
		s.offerCalendar(found)
	}
	for _, r := range []*choice.Result{b.first, b.last} {
		s.offerCalendar(s.sameThroughout(r.Open))
	}
}

// offerMean offers the best single design for the mean weights, kept throughout, and reports whether the search has to end.
func (s *search) offerMean(ctx context.Context, b *baselineDesigns) (halted bool, err error) {
	if err := b.awaitMean(); err != nil {
		return false, err
	}
	s.offerCalendar(s.sameThroughout(b.average.Open))
	return s.mustStop(ctx), nil
}

// solvePromising looks for the calendar over the promising candidates, from the best single design on.
func (s *search) solvePromising(ctx context.Context, b *baselineDesigns, in []bool) error {
	s.pruned = true
	s.loader.tables = nil
	var keep []int
	for n, table := range s.tables {
		if in[n] {
			keep, s.loader.tables = append(keep, n), append(s.loader.tables, table)
		}
	}
	s.prepareProblem(b, in)
	if s.space > 0 && len(keep) > proofTables && s.options.Solver != nil && s.open != nil && ctx.Err() == nil {
		keep, err := s.searchByRuns(ctx, b, in)
		if err != nil {
			return err
		}
		if s.result != nil {
			s.kept = len(keep)
			s.proven = s.cost <= s.bound*(1+1e-9)
			return nil
		}
	}
	if halted, err := s.offerMean(ctx, b); halted || err != nil {
		return err
	}
	r, err := s.solveSequence(ctx, restrictProblem(s.problem, keep), sequence.Options{Pruned: true, Start: toRestricted(s.open, keep)})
	switch {
	case err == nil:
		for i, n := range r.Kept {
			r.Kept[i] = keep[n]
		}
		r.Open = fromRestricted(r.Open, keep, len(s.tables))
		s.locals = r.Locals
	case s.open == nil:
		return err
	default: // what is known so far has to do
		r = &sequence.Result{}
	}
	keep = s.promisingTables(r, b)
	s.kept = len(keep)
	s.bound = s.lowerBound()
	return s.solveInRounds(ctx, keep)
}

// solveAll looks for the calendar over all candidates.
func (s *search) solveAll(ctx context.Context, b *baselineDesigns) error {
	s.prepareProblem(b, nil)
	if halted, err := s.offerMean(ctx, b); halted || err != nil {
		return err
	}
	s.bound = max(s.bound, s.lowerBound())
	return s.solveInRounds(ctx, nil)
}

// solveInRounds solves the program over some candidates, nil: over all, until nothing that its calendar fills is dearer than it says.
func (s *search) solveInRounds(ctx context.Context, keep []int) error {
	p := s.problem
	if keep != nil {
		p = restrictProblem(p, keep)
	}
	for round := 0; round < mostRounds && !s.proven; round++ {
		if round > 0 && ctx.Err() != nil {
			s.stopped = stopReason(ctx)
			break
		}
		s.rounds++
		r, err := s.solveSequence(ctx, p, sequence.Options{Start: toRestricted(s.open, keep), Ties: true})
		if err != nil {
			if s.open != nil && ctx.Err() != nil {
				s.stopped = stopReason(ctx)
				break
			}
			return err
		}
		s.result = r
		s.bound = max(s.bound, r.Bound)
		open := fromRestricted(r.Open, keep, len(s.tables))
		cost, dear := s.trueCost(open)
		if cost <= s.cost*(1+1e-12) {
			s.open, s.cost, s.fewest = open, cost, r.Fewest
		}
		s.stopped = r.Stopped
		if s.cost <= s.bound*(1+1e-9) || len(dear) == 0 {
			s.proven = r.Proven && s.cost <= s.bound*(1+1e-9)
			break
		}
		for n, price := range dear {
			if math.IsNaN(s.bounds[n]) || price > s.bounds[n] {
				s.bounds[n] = price
			}
			s.problem.Loads[n] = s.loader.arcsOf(n, s.bounds[n])
		}
		if p = s.problem; keep != nil {
			p = restrictProblem(s.problem, keep)
		}
	}
	if s.open == nil {
		return fmt.Errorf("timeline: no calendar was found within the limits: allow more time")
	}
	return nil
}

func (s *search) solveSequence(ctx context.Context, p *sequence.Problem, o sequence.Options) (*sequence.Result, error) {
	o.Solver, o.Limits, o.Progress = s.options.Solver, s.solverLimits(), s.options.Progress
	if s.options.Limits == (solve.Limits{}) && s.pruned {
		o.Limits.Gap, o.Limits.Iterations = prunedGap, prunedIterations
	}
	r, err := sequence.Solve(ctx, p, o)
	return r, s.explainError(err, 0, s.space)
}

// sameThroughout keeps one design through all steps.
func (s *search) sameThroughout(open []bool) [][]bool {
	list := make([][]bool, s.steps)
	for step := range list {
		list[step] = open
	}
	return list
}

// offerCalendar takes a calendar if it is better than the best so far.
func (s *search) offerCalendar(open [][]bool) {
	if cost, _ := s.trueCost(open); cost < s.cost {
		s.open, s.cost = open, cost
	}
}

// trueCost is what a calendar really costs, with the cheapest plan for filling each table; +Inf if there is none. dear are the
// candidates whose filling costs more than the program says, with what it costs.
func (s *search) trueCost(open [][]bool) (cost float64, dear map[int]float64) {
	cost = s.problem.Cost(open)
	dear = map[int]float64{}
	for step := 1; step < s.steps; step++ {
		for n := range s.tables {
			if !open[step][n] || open[step-1][n] {
				continue
			}
			told := loadPrice(&s.problem.Loads[n], open[step-1])
			_, real := s.cheapestFilling(n, open[step-1])
			if real > told*(1+1e-12) {
				cost += real - told
				dear[n] = max(dear[n], real)
			}
		}
	}
	return cost, dear
}

// loadPrice is the price of the cheapest path of a load.
func loadPrice(l *sequence.Load, open []bool) float64 {
	d := choice.Demand{States: max(2, l.States), Arcs: l.Arcs}
	_, price := d.CheapestPath(open)
	return price
}

// cheapestFilling is the cheapest path to fill a candidate from the tables of a step; +Inf if there is none.
func (s *search) cheapestFilling(n int, open []bool) (via []int, price float64) {
	w := s.loader.fillPathsOf(n, math.Inf(1), func(n int) bool { return open[n] })
	d := choice.Demand{States: max(2, w.States), Arcs: w.Arcs}
	return d.CheapestPath(open)
}

// promisingTables are the candidates that are looked at together: those that pruning has left, those of the baselines and those
// that must be there.
func (s *search) promisingTables(r *sequence.Result, b *baselineDesigns) []int {
	in := make([]bool, len(s.tables))
	for _, n := range r.Kept {
		in[n] = true
	}
	for _, design := range slices.Concat(r.Open, s.open, b.distinctDesigns()) {
		for n, kept := range design {
			in[n] = in[n] || kept
		}
	}
	keep := []int{}
	for n := range s.tables {
		if in[n] || s.study.Must(n) {
			keep = append(keep, n)
		}
	}
	return keep
}

// restrictProblem is a problem with some of its tables alone, numbered by their place in keep.
func restrictProblem(p *sequence.Problem, keep []int) *sequence.Problem {
	number := make([]int, len(p.Tables))
	for n := range number {
		number[n] = -1
	}
	q := *p
	q.Tables, q.Demands, q.Loads = nil, nil, nil
	for i, n := range keep {
		number[n] = i
		q.Tables = append(q.Tables, p.Tables[n])
	}
	for _, n := range keep {
		l := p.Loads[n]
		q.Loads = append(q.Loads, sequence.Load{States: l.States, Arcs: renumberArcs(l.Arcs, number)})
	}
	for _, d := range p.Demands {
		if d.Needed != nil {
			if d.Needed = renumber(d.Needed, number); len(d.Needed) == 0 {
				continue
			}
		}
		d.Arcs = renumberArcs(d.Arcs, number)
		q.Demands = append(q.Demands, d)
	}
	return &q
}

// toRestricted says a calendar in the numbers of a restricted problem; keep nil: it is not restricted.
func toRestricted(open [][]bool, keep []int) [][]bool {
	if keep == nil || open == nil {
		return open
	}
	list := make([][]bool, len(open))
	for step, tables := range open {
		own := make([]bool, len(keep))
		for i, n := range keep {
			own[i] = tables[n]
		}
		list[step] = own
	}
	return list
}

// fromRestricted is the inverse of toRestricted.
func fromRestricted(open [][]bool, keep []int, tables int) [][]bool {
	if keep == nil {
		return open
	}
	list := make([][]bool, len(open))
	for step := range open {
		list[step] = make([]bool, tables)
		for i, n := range keep {
			list[step][n] = open[step][i]
		}
	}
	return list
}

// bytesOf is what the new tables of a choice take.
func (t *task) bytesOf(open []bool) float64 {
	sum := 0.0
	for n, table := range t.tables {
		if open[n] && !table.Kept {
			sum += t.study.Bytes(table)
		}
	}
	return sum
}

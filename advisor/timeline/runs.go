package timeline

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
)

// Where space is limited and promising candidates are many, calendars have one design for each run of steps whose weights are the same: a third of
// the designs for seed 004's cycles. They are designed one after the other (follow, hold), then changed together (package sequence's annealing).
// What they are measured by is an integer program of runs, over the tables of the average's design and of each distinct step's, with what fills them.
//
// Its bound holds for all calendars over these tables, with changes within runs, too, if
// what filling costs does not depend on what is there. Proof: of the designs of a run take the one that serves its
// weights best, for all of it. Serving costs no more, as weights within the run differ by a factor alone. A table of it that was not
// there before the run was born in the run, and is born now at its first step; a table of the next run's that it lacks was born
// after it, or is in both cases born there, and is born now at the next run's first step. So nothing is dearer if births at the first
// step of a run cost no more than at its others, and at the next one's first no more than at its others. No table is dropped
// that was not. Overlap, Life, Most and windows could forbid the calendar so made, so with these there is no bound.

// runTables is how many tables the program of runs is about at most, runsIterations how long each solve of it takes after the relaxation, in steps of
// the simplex method, unless the caller says otherwise: on TPC-H twenty times as many have not lifted a bound, nor found a better calendar.
const (
	runTables      = 150
	runsIterations = 1
)

// byRun is a problem with one step for each run.
func byRun(p *sequence.Problem, runs []stretch) *sequence.Problem {
	q := *p
	q.Steps, q.Tables, q.Demands = nil, slices.Clone(p.Tables), slices.Clone(p.Demands)
	sums := func(list []float64) []float64 {
		var out []float64
		for _, x := range runs {
			sum := 0.0
			for t := x.from; t <= x.to; t++ {
				sum += list[t]
			}
			out = append(out, sum)
		}
		return out
	}
	for _, x := range runs {
		q.Steps = append(q.Steps, p.Steps[x.from])
	}
	for n := range q.Tables {
		var birth []float64
		for _, x := range runs {
			birth = append(birth, p.Tables[n].Birth[x.from])
		}
		q.Tables[n].Upkeep, q.Tables[n].Birth = sums(p.Tables[n].Upkeep), birth
	}
	for i := range q.Demands {
		q.Demands[i].Weights = sums(p.Demands[i].Weights)
	}
	return &q
}

// runsBound tells whether no calendar changes within runs to gain by it, as long as filling costs the same whatever is there.
func runsBound(p *sequence.Problem, runs []stretch) bool {
	if p.Overlap || p.Life > 1 || p.Most > 0 || slices.ContainsFunc(p.Steps, func(s sequence.Step) bool { return s.Closed }) {
		return false
	}
	for n := range p.Tables {
		birth := p.Tables[n].Birth
		for i, x := range runs {
			for t := x.from + 1; t <= x.to; t++ {
				if birth[x.from] > birth[t] || i+1 < len(runs) && birth[runs[i+1].from] > birth[t] {
					return false
				}
			}
		}
	}
	return true
}

// core are the tables that the program of runs is about: those of single designs, and for each the cheapest that fill it.
func (s *search) core(b *known, in []bool) []int {
	keep := s.promising(&sequence.Result{}, b)
	has := make([]bool, len(s.tables))
	for _, n := range keep {
		has[n] = true
	}
	for _, n := range keep {
		w := s.loader.load(n, math.Inf(1), func(n int) bool { return in[n] })
		d := choice.Demand{States: max(2, w.States), Arcs: w.Arcs}
		way, _ := d.Way(in)
		for _, a := range way {
			if k := w.Arcs[a].Table; k != choice.None {
				has[k] = true
			}
		}
	}
	keep = keep[:0]
	for n, is := range has {
		if is {
			keep = append(keep, n)
		}
	}
	return keep
}

// follow designs the runs one after the other, from a design for the first: each of tables that the one before has or fills, which cost then
// what filling them does.
func (s *search) follow(ctx context.Context, first, in, held []bool, runs []stretch) {
	open := make([][]bool, s.steps)
	last := first
	for i, x := range runs {
		if i > 0 {
			able, extra := slices.Clone(last), make([]float64, len(s.tables))
			for n := range s.tables {
				if in[n] && !last[n] {
					price := s.fillingFrom(n, last)
					able[n] = !math.IsInf(price, 1)
					extra[n] = s.problem.Tables[n].Birth[x.from] + price
				}
			}
			r, err := s.choose(ctx, single{weights: s.over(x), space: s.space, in: able, start: last, extra: extra, held: held, brief: true})
			if err != nil {
				return // there is the single design
			}
			last = r.Open
		}
		for t := x.from; t <= x.to; t++ {
			open[t] = last
		}
	}
	s.offer(open)
}

// over are how often statements run in a stretch.
func (t *task) over(x stretch) []float64 {
	weights := make([]float64, len(t.work.Statements))
	for step := x.from; step <= x.to; step++ {
		for k := range weights {
			weights[k] += t.weight(step, k)
		}
	}
	return weights
}

// hold finds tables to keep in all runs, and a first run's design with them. Of the runs' own best designs most tables can be filled out of the design
// before, as its statements read the same columns some way or other; what can not be is mostly small (names of customers, their segments), and nothing is
// good without it. So what is small is held throughout, what is large is done without, and the runs are designed anew, until all
// that the next one has can be filled. nil: it can be as it is, so there is nothing to design anew, or it could not be designed.
func (s *search) hold(ctx context.Context, b *known, in []bool, runs []stretch) (first, able, held []bool) {
	able, held = slices.Clone(in), make([]bool, len(s.tables))
	var designs [][]bool
	for _, x := range runs {
		designs = append(designs, b.ideal[x.from].Open)
	}
	for round := range mostHolds {
		again := false
		for i := 1; i < len(runs); i++ {
			for n, is := range designs[i] {
				if !is || designs[i-1][n] || held[n] || !able[n] || !math.IsInf(s.fillingFrom(n, designs[i-1]), 1) {
					continue
				}
				again = true
				if held[n] = s.problem.Tables[n].Size <= smallShare*s.space; !held[n] {
					able[n] = false
				}
			}
		}
		if !again && round == 0 {
			return nil, nil, nil
		}
		if !again {
			break
		}
		solved := map[string][]bool{}
		for i, x := range runs {
			key := s.weightsKey(x.from)
			if solved[key] == nil && remains(designs[i], able, held) {
				solved[key] = designs[i]
			}
			if solved[key] == nil {
				r, err := s.choose(ctx, single{weights: s.over(x), space: s.space, in: able, held: held, brief: true})
				if err != nil {
					return nil, nil, nil
				}
				solved[key] = r.Open
			}
			designs[i] = solved[key]
		}
	}
	return designs[0], able, held
}

// remains tells whether a design is still the best: it has no table that it may not have, and all that it must have.
func remains(design, able, held []bool) bool {
	for n, is := range design {
		if is && !able[n] || held[n] && !is {
			return false
		}
	}
	return true
}

// mostHolds is how often runs are designed anew with more tables held, smallShare the share of the space up to which a table is held.
const (
	mostHolds  = 3
	smallShare = 0.02
)

// byRuns designs the runs one after the other, anneals the calendar so made, and bounds what any calendar over the same tables costs. It returns those.
func (s *search) byRuns(ctx context.Context, b *known, in []bool) ([]int, error) {
	runs := s.stretches()
	if first, able, held := s.hold(ctx, b, in, runs); first != nil {
		s.follow(ctx, first, able, held, runs)
	} else {
		s.follow(ctx, b.first.Open, in, nil, runs)
	}
	if err := b.join(); err != nil {
		return nil, err
	}
	s.offer(s.always(b.average.Open))
	keep := s.core(b, in)
	if len(keep) > runTables {
		return keep, nil
	}
	s.rounds++
	bounded := make(chan *bounding, 1)
	if x := s.boundedBy(keep, runs); x != nil {
		go func() { x.run(ctx); bounded <- x }()
	} else {
		bounded <- nil
	}
	s.anneal(ctx, in, runs)
	if x := <-bounded; x != nil && x.err == nil {
		s.bound, s.result = x.bound, x.last
		if x.open != nil {
			s.offer(ofSteps(widened(x.open, keep, len(s.tables)), runs))
		}
	} else if x == nil {
		s.bound = 0 // nothing costs less
		s.result = &sequence.Result{Engine: "annealing", Stopped: solve.LimitIterations}
	}
	s.thin(in, runs)
	if s.result != nil {
		s.stopped = s.result.Stopped
	}
	return keep, nil
}

// anneal looks for a better calendar of one design for each run: once from hot, then in rounds near the best.
func (s *search) anneal(ctx context.Context, in []bool, runs []stretch) {
	if s.options.Life > 1 || s.open == nil {
		return // a run's designs are not as old as its steps
	}
	p, keep := s.whole(in)
	q := byRun(p, runs)
	for _, rounds := range []int{0, annealRounds} {
		o := sequence.Annealing{Start: narrowed(s.ofRuns(runs), keep), Changes: min(annealChanges*len(runs), mostChanges), Rounds: rounds}
		var found [anneals][][]bool
		var wait sync.WaitGroup
		slots := make(chan struct{}, sideBySide)
		for seed := range found {
			own := o
			own.Seed = 1 + uint64(seed)
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				open, err := sequence.Anneal(ctx, q, own)
				if err == nil {
					found[seed] = open
				}
			})
		}
		wait.Wait()
		for _, open := range found {
			if open != nil {
				s.offer(ofSteps(widened(open, keep, len(s.tables)), runs))
			}
		}
	}
}

// thin leaves out of the best calendar what it is not dearer without (W-41).
func (s *search) thin(in []bool, runs []stretch) {
	if s.options.Life > 1 || s.open == nil {
		return
	}
	p, keep := s.whole(in)
	open, err := sequence.Thin(byRun(p, runs), narrowed(s.ofRuns(runs), keep))
	if err != nil {
		return
	}
	thin := ofSteps(widened(open, keep, len(s.tables)), runs)
	if cost, _ := s.truth(thin); cost <= s.cost*(1+1e-9) {
		s.open, s.cost = thin, cost
	}
}

// whole is the problem over some candidates, each filled as it truly can be out of these.
func (s *search) whole(in []bool) (*sequence.Problem, []int) {
	p := *s.problem
	p.Loads = slices.Clone(p.Loads)
	var keep []int
	for n := range s.tables {
		if in[n] {
			keep = append(keep, n)
			p.Loads[n] = s.loader.arcsOf(n, math.Inf(1))
		}
	}
	return restricted(&p, keep), keep
}

// anneals is how often annealing is tried, from hot and in rounds; annealChanges how many changes it makes for each run, mostChanges how many in all, and
// annealRounds in how many rounds.
const (
	anneals       = 2
	annealChanges = 37_500
	mostChanges   = 300_000
	annealRounds  = 80
)

// ofRuns are the designs of the best calendar, one for each run.
func (s *search) ofRuns(runs []stretch) (list [][]bool) {
	for _, x := range runs {
		list = append(list, s.open[x.from])
	}
	return list
}

// ofSteps is the inverse of ofRuns.
func ofSteps(designs [][]bool, runs []stretch) (open [][]bool) {
	for i, x := range runs {
		for t := x.from; t <= x.to; t++ {
			open = append(open, designs[i])
		}
	}
	return open
}

// bounding bounds what calendars over some candidates cost, by the program of runs with filling at its least, window by window: a calendar costs at
// least what its windows do, each as if what it begins with were there for nothing. So time grows with the number of windows, and
// windows that are alike, as those of cycles are, are looked at once. If one window holds all, what the program finds is a calendar, too. It can be
// run beside the search.
type bounding struct {
	problem *sequence.Problem // of runs
	start   [][]bool
	options sequence.Options

	bound float64
	last  *sequence.Result
	open  [][]bool // of one window that holds all; nil: there are several
	err   error    // not even the first window was bounded
}

// boundedBy is what bounds calendars over some candidates; nil: nothing does (runsBound).
func (s *search) boundedBy(keep []int, runs []stretch) *bounding {
	if !runsBound(s.problem, runs) {
		return nil
	}
	o := sequence.Options{Solver: s.options.Solver, Limits: s.limits(), Direct: true, Progress: s.options.Progress}
	if s.options.Limits == (solve.Limits{}) {
		o.Limits.Gap, o.Limits.Iterations = prunedGap, runsIterations
	}
	return &bounding{problem: byRun(restricted(s.problem, keep), runs), start: narrowed(s.ofRuns(runs), keep), options: o}
}

func (x *bounding) run(ctx context.Context) {
	bounds := map[string]float64{}
	runs := len(x.problem.Steps)
	count := (runs + windowRuns - 1) / windowRuns
	for w := range count {
		from, to := w*runs/count, (w+1)*runs/count
		q := window(x.problem, from, to)
		key := windowKey(q)
		bound, known := bounds[key]
		if !known {
			o := x.options
			o.Start = x.start[from:to]
			r, err := sequence.Solve(ctx, q, o)
			if err != nil {
				if x.last == nil {
					x.err = err
				}
				return // the windows before count
			}
			bound, bounds[key], x.last = r.Bound, r.Bound, r
			if count == 1 {
				x.open = r.Open
			}
		}
		x.bound += max(0, bound)
	}
}

// windowRuns is how many runs a window has at most: seed 004's cycles of 12 steps are one.
const windowRuns = 4

// window is a problem over some of its steps. What there is at the first of them was there before.
func window(p *sequence.Problem, from, to int) *sequence.Problem {
	if from == 0 && to == len(p.Steps) {
		return p
	}
	q := *p
	q.Steps, q.Tables, q.Demands = p.Steps[from:to], slices.Clone(p.Tables), slices.Clone(p.Demands)
	for n := range q.Tables {
		x := &q.Tables[n]
		x.Upkeep, x.Birth = x.Upkeep[from:to], slices.Clone(x.Birth[from:to])
		if from > 0 {
			x.There, x.Birth[0] = false, 0
		}
	}
	for i := range q.Demands {
		q.Demands[i].Weights = q.Demands[i].Weights[from:to]
	}
	return &q
}

// windowKey tells windows of one problem apart.
func windowKey(p *sequence.Problem) string {
	var b []byte
	put := func(list []float64) {
		for _, v := range list {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	for n := range p.Tables {
		x := &p.Tables[n]
		if put(x.Upkeep); x.There {
			b = append(b, 1)
		}
		put(x.Birth)
	}
	for i := range p.Demands {
		put(p.Demands[i].Weights)
	}
	return string(b)
}

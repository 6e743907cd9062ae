package timeline

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/guard"
)

// Where space is limited and promising candidates are many, calendars have one design for each run of steps whose weights are the same: a third of
// the designs for seed 004's cycles. The linear program of runs says what none of them costs less than, and what is of no use; the runs are
// designed out of the rest, and out of all, as the rest may lack what fills it, by annealing: where the same weights come again and again, the first runs, for the others
// to have their designs too; of a drift, four spans. And all is changed together once more, where weights come again by the
// program of what is near (localbranch.go), else by annealing (package sequence: Relax, LocalBranch, Anneal).
//
// The bound holds for all calendars over the promising candidates, with changes within runs, too, as in it
// what filling costs does not depend on what is there. Proof: of the designs of a run take the one that serves its
// weights best, for all of it. Serving costs no more, as weights within the run differ by a factor alone. A table of it that was not
// there before the run was born in the run, and is born now at its first step; a table of the next run's that it lacks was born
// after it, or is in both cases born there, and is born now at the next run's first step. So nothing is dearer if births at the first
// step of a run cost no more than at its others, and at the next one's first no more than at its others. No table is dropped
// that was not. Overlap, Life, Most and windows could forbid the calendar so made, so with these there is no bound but the plainest.

// run is a run of steps of which the weights are the same, or for whose later ones no table may be created: one design
// serves it, as changing within it only costs (identical adjacent steps, merged).
type run struct{ from, to int }

func (t *task) weightRuns() []run {
	var list []run
	for step := range t.steps {
		closed := len(t.options.Windows) > 0 && !t.options.Windows[step]
		if step > 0 && (closed || t.weightsKey(step) == t.weightsKey(step-1)) {
			list[len(list)-1].to = step
		} else {
			list = append(list, run{step, step})
		}
	}
	return list
}

// problemByRun is a problem with one step for each run.
func problemByRun(p *sequence.Problem, runs []run) *sequence.Problem {
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

// noChangeWithinRuns reports whether no calendar changes within runs to gain by it, as long as filling costs the same whatever is there.
func noChangeWithinRuns(p *sequence.Problem, runs []run) bool {
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

// searchByRuns relaxes the program of runs, which bounds what any calendar over the candidates costs and tells which of these count; anneals the runs out of those
// from a high temperature; and looks near the best calendar that came of that. It returns the candidates, for which the bound holds; none: there are too many
// for that, or nothing that solves linear programs, or the time is over.
func (s *search) searchByRuns(ctx context.Context, b *baselineDesigns, in []bool) ([]int, error) {
	relaxer, able := s.options.Solver.(choice.Relaxer)
	runs := s.weightRuns()
	if !able || countOpen(in)*min(len(runs), windowRuns) > relaxTables {
		return nil, nil
	}
	var all []int
	for n, is := range in {
		if is {
			all = append(all, n)
		}
	}
	whole, err := relaxWindows(ctx, problemByRun(restrictProblem(s.problem, all), runs), relaxer)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, solve.ErrNoSimplex) {
			s.noteFailure(err)
		}
		return nil, nil //nolint:nilerr // it can be done otherwise, or the time is over
	}
	s.rounds++
	some := fromRestricted([][]bool{whole.some}, all, len(s.tables))[0]
	for _, n := range s.promisingTables(&sequence.Result{}, b) {
		some[n] = true
	}
	few, recurs := s.mergeRuns(runs)
	if !ablation.Without(ablation.MultiStart) {
		s.annealMultiStart(ctx, some, few, 0, multiStartSeeds)
	}
	if countOpen(some) < len(all) && !ablation.Without(ablation.MultiStartAll) { // some has been chosen as if tables were filled out of nothing: what they are filled from may be missing (decision 31)
		tries := multiStartSeeds / 2
		if !recurs {
			tries /= 2 // of drifts three come to as much as six
		}
		for from, was := 0, math.Inf(1); s.cost < 0.99*was && from < 2*tries; from += tries { // where it pays, once more
			was = s.cost
			s.annealMultiStart(ctx, in, few, from, tries)
		}
	}
	s.improveTogether(ctx, in, fromRestricted([][]bool{whole.moves}, all, len(s.tables))[0], few, recurs)
	if err := b.awaitMean(); err != nil {
		return nil, err
	}
	s.offerCalendar(s.sameThroughout(b.average.Open))
	s.smoothRuns(in, runs)
	s.dropRedundant(in, runs)
	s.result = &sequence.Result{Engine: "annealing"}
	if s.stopped = stopReason(ctx); s.stopped == "" {
		s.stopped = solve.LimitIterations
	}
	s.bound = s.lowerBound()
	if noChangeWithinRuns(s.problem, runs) {
		s.bound = max(s.bound, whole.bound)
	}
	return all, nil
}

// improveTogether changes the best calendar's runs together: where weights come again by the program of what is near it, and where that finds nothing, or runs are many, or weights drift, by
// annealing. Exact mode anneals first, and solves the program as often as there is something to find.
func (s *search) improveTogether(ctx context.Context, in, moves []bool, runs []run, recurs bool) {
	if s.effort == 1 && recurs && s.localBranching(ctx, in, moves, runs) && len(runs) < togetherFrom {
		return
	}
	s.annealRuns(ctx, in, s.open, runs)
	if s.effort == 1 {
		return
	}
	for range s.effort {
		if !s.localBranching(ctx, in, moves, runs) {
			return
		}
	}
}

// mergeRuns are as few spans of runs as are designed together, and whether these are all, as the same come again and again; of a weight that drifts, by a little
// from run to run, some of about as many runs each, as no design pays for the next run alone.
func (s *search) mergeRuns(runs []run) (few []run, recurs bool) {
	if len(s.distinctSteps()) <= windowRuns {
		return runs, true
	}
	for i := range windowRuns {
		few = append(few, run{runs[i*len(runs)/windowRuns].from, runs[(i+1)*len(runs)/windowRuns-1].to})
	}
	return few, false
}

// annealMultiStart anneals the first runs, from a high temperature, with so many seeds after the first ones, and lets their designs come again where their weights do.
func (s *search) annealMultiStart(ctx context.Context, some []bool, runs []run, first, seeds int) {
	if s.options.Life > 1 {
		return // see annealRuns
	}
	until := s.firstRunsOf(runs)
	p, keep := s.wholeProblem(some)
	q := problemByRun(p, runs).Window(0, until.count)
	start := toRestricted(designsOfRuns(s.open, runs[:until.count]), keep)
	for _, designs := range annealSeeds(ctx, q, first*s.effort, seeds*s.effort, sequence.AnnealOptions{Start: start, Changes: min(multiStartChanges*until.count, mostChanges)}) {
		list := fromRestricted(designs, keep, len(s.tables))
		s.designs = append(s.designs, list...)
		s.offerCalendar(designsOfSteps(until.repeatDesigns(list), runs))
	}
}

// firstRuns are the runs until all weights have been there, a window at least: the others' designs are theirs.
type firstRuns struct {
	weights []string // of all runs
	count   int
}

func (s *search) firstRunsOf(runs []run) firstRuns {
	var weights []string
	for _, x := range runs {
		weights = append(weights, s.weightsKey(x.from))
	}
	return firstRunsByWeights(weights)
}

func firstRunsByWeights(weights []string) firstRuns {
	last := 0
	for i, key := range weights {
		if !slices.Contains(weights[:i], key) {
			last = i
		}
	}
	return firstRuns{weights, min(len(weights), max(windowRuns, last+1))}
}

// matchingRun is the last of the first runs that has the weights of another, and comes after the same weights if one does; of the first it is the run itself.
func (f *firstRuns) matchingRun(i int) int {
	if i < f.count {
		return i
	}
	at := 0
	for j := f.count - 1; j > 0; j-- {
		switch {
		case f.weights[j] != f.weights[i]:
		case f.weights[j-1] == f.weights[i-1]:
			return j
		case at == 0:
			at = j
		}
	}
	return at
}

// repeatDesigns are the designs of all runs, given those of the first.
func (f *firstRuns) repeatDesigns(designs [][]bool) (list [][]bool) {
	for i := range f.weights {
		list = append(list, designs[f.matchingRun(i)])
	}
	return list
}

// relaxTables is of how many candidates, times the runs that are looked at together, a relaxation is solved: it takes some three seconds for a quarter of these.
// togetherFrom is from how many runs on it is annealed after the program of what is near, too.
const (
	relaxTables  = 3000
	togetherFrom = 7
)

// annealRuns looks for a better calendar of one design for each run, in rounds near another; nil: there is none.
func (s *search) annealRuns(ctx context.Context, in []bool, from [][]bool, runs []run) {
	if s.options.Life > 1 || from == nil || ablation.Without(ablation.Neighbourhoods) {
		return // a run's designs are not as old as its steps
	}
	p, keep := s.wholeProblem(in)
	q := problemByRun(p, runs)
	o := sequence.AnnealOptions{Start: toRestricted(designsOfRuns(from, runs), keep), Changes: min(annealChanges*len(runs), mostChanges), Rounds: annealRounds}
	for _, designs := range annealSeeds(ctx, q, 0, anneals*s.effort, o) {
		list := fromRestricted(designs, keep, len(s.tables))
		s.designs = append(s.designs, list...)
		s.offerCalendar(designsOfSteps(list, runs))
	}
}

// annealSeeds are the sequences that annealing finds with so many seeds after the first ones, in their order.
func annealSeeds(ctx context.Context, p *sequence.Problem, first, seeds int, o sequence.AnnealOptions) (list [][][]bool) {
	found := make([][][]bool, seeds)
	guard.Each(guard.Advice, sideBySide, seeds, func(seed int) {
		own := o
		own.Seed = 1 + uint64(first+seed)
		if open, err := sequence.Anneal(ctx, p, own); err == nil {
			found[seed] = open
		}
	})
	return slices.DeleteFunc(found, func(open [][]bool) bool { return open == nil })
}

// smoothRuns moves changes to other runs, where all together is cheaper so, and takes designs of calendars that were not the best.
func (s *search) smoothRuns(in []bool, runs []run) {
	if s.options.Life > 1 || s.open == nil || ablation.Without(ablation.Smoothing) {
		return
	}
	p, keep := s.wholeProblem(in)
	designs := slices.Clone(s.designs)
	slices.Reverse(designs) // those that came last are the best mostly
	if open, err := sequence.Smooth(problemByRun(p, runs), toRestricted(designsOfRuns(s.open, runs), keep), toRestricted(designs, keep)); err == nil {
		s.offerCalendar(designsOfSteps(fromRestricted(open, keep, len(s.tables)), runs))
	}
}

// dropRedundant leaves out of the best calendar what it is not dearer without (W-41).
func (s *search) dropRedundant(in []bool, runs []run) {
	if s.options.Life > 1 || s.open == nil {
		return
	}
	p, keep := s.wholeProblem(in)
	open, err := sequence.DropRedundant(problemByRun(p, runs), toRestricted(designsOfRuns(s.open, runs), keep))
	if err != nil {
		return
	}
	thin := designsOfSteps(fromRestricted(open, keep, len(s.tables)), runs)
	if cost, _ := s.trueCost(thin); cost <= s.cost*(1+1e-9) {
		s.open, s.cost = thin, cost
	}
}

// wholeProblem is the problem over some candidates, each filled as it truly can be out of these.
func (s *search) wholeProblem(in []bool) (*sequence.Problem, []int) {
	p := *s.problem
	p.Loads = slices.Clone(p.Loads)
	var keep []int
	for n := range s.tables {
		if in[n] {
			keep = append(keep, n)
			p.Loads[n] = s.loader.arcsOf(n, math.Inf(1))
		}
	}
	return restrictProblem(&p, keep), keep
}

// multiStartSeeds is how often annealing is tried from a high temperature over what the relaxation keeps, half as often over all and of drifts a quarter, once more where that paid, and multiStartChanges how many changes it makes for each run: many tries of a third of the
// changes come to more than few of all, and never to as little. anneals and annealChanges are the same in rounds, annealRounds is of how many, and mostChanges the most changes in all.
const (
	multiStartSeeds   = 12
	multiStartChanges = 12_500
	anneals           = 2
	annealChanges     = 37_500
	mostChanges       = 300_000
	annealRounds      = 80
)

// designsOfRuns are the designs of a calendar at the begin of each run.
func designsOfRuns(open [][]bool, runs []run) (list [][]bool) {
	if open == nil {
		return nil
	}
	for _, x := range runs {
		list = append(list, open[x.from])
	}
	return list
}

// designsOfSteps is the inverse of designsOfRuns.
func designsOfSteps(designs [][]bool, runs []run) (open [][]bool) {
	for i, x := range runs {
		for t := x.from; t <= x.to; t++ {
			open = append(open, designs[i])
		}
	}
	return open
}

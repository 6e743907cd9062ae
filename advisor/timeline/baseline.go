package timeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/internal/guard"
)

// baselineDesigns are the designs for single sets of weights that baselines are made of.
type baselineDesigns struct {
	first, last *choice.Result
	ideal       []*choice.Result               // by step
	average     *choice.Result                 // nil until join
	mean        func() (*choice.Result, error) // waits for it; nil: nobody looks for it
	leave       func()                         // makes that end
}

// awaitMean waits for the design for the mean weights, which is looked for meanwhile: it takes longest, and little hangs on it.
func (k *baselineDesigns) awaitMean() (err error) {
	if k.mean != nil {
		k.average, err = k.mean()
		k.mean = nil
	}
	return err
}

// cancelMean is for who may go without having joined: nothing goes on behind him.
func (k *baselineDesigns) cancelMean() {
	if k.mean != nil {
		k.leave()
		_ = k.awaitMean() //nolint:errcheck // it was not wanted
	}
}

// distinctDesigns are all of them, those of equal weights once.
func (k *baselineDesigns) distinctDesigns() (list [][]bool) {
	if k.average != nil {
		list = append(list, k.average.Open)
	}
	met := map[*choice.Result]bool{}
	for _, r := range k.ideal {
		if !met[r] {
			met[r] = true
			list = append(list, r.Open)
		}
	}
	return list
}

// designBaselines finds the best designs for the weights of each step, and for the mean ones, over some of the candidates. Steps of equal weights, and weights
// that differ by a factor alone, have one design. Where these are integer programs, they begin from drafts; that for the mean weights is solved behind what follows, and of a
// drift, whose steps have weights of their own, those of the first and the last one alone are solved at all.
func (t *task) designBaselines(ctx context.Context, in []bool, corners [][]bool) (*baselineDesigns, error) {
	within, cancel := withShare(ctx, baselineShare)
	mean := t.weightsKey(-1)
	asked, programs := t.distinctSteps(), t.usesProgram(in)
	steps := asked
	if !slices.ContainsFunc(asked, func(step int) bool { return t.weightsKey(step) == mean }) {
		steps = append(slices.Clone(asked), -1)
	}
	designs := slices.Clone(corners)
	solved := map[string]*choice.Result{}
	ask := steps
	if programs && !ablation.Without(ablation.Drafts) {
		ask = nil
		for i, draft := range t.draftDesigns(within, steps, in, corners) {
			step, key := steps[i], t.weightsKey(steps[i])
			if draft != nil {
				solved[key], designs = draft, append(designs, draft.Open)
			}
			last := asked[len(asked)-1]
			if step >= 0 && (draft == nil || key != mean && (len(asked) <= windowRuns || step == 0 || step == last)) {
				ask = append(ask, step)
			}
		}
	}
	found, errs := t.bestDesigns(within, ask, solved, in, corners)
	for i, step := range ask {
		key := t.weightsKey(step)
		if outOfTime(within, errs[i]) {
			if found[i], errs[i] = solved[key], nil; found[i] == nil {
				found[i], errs[i] = t.fallbackDesign(within, step, in, designs)
			}
		}
		if errs[i] != nil {
			cancel()
			return nil, t.atStep(errs[i], step)
		}
		solved[key] = found[i]
		designs = append(designs, found[i].Open)
	}
	k := &baselineDesigns{}
	for step := range t.steps {
		k.ideal = append(k.ideal, solved[t.weightsKey(step)])
	}
	k.first, k.last = k.ideal[0], k.ideal[t.steps-1]
	if !programs || slices.ContainsFunc(ask, func(step int) bool { return t.weightsKey(step) == mean }) {
		cancel()
		k.average = solved[mean]
		return k, nil
	}
	t.startMeanDesign(within, cancel, k, in, designs)
	return k, nil
}

// startMeanDesign begins to solve the program of the mean weights, from the best of the designs for them: that saves most of the proof. Steps whose weights are these but for a factor
// have what comes of it, too. cancel is called once it has ended.
func (t *task) startMeanDesign(ctx context.Context, cancel func(), k *baselineDesigns, in []bool, designs [][]bool) {
	q := designQuestion{weights: t.weightsAt(-1), space: t.space, in: in}
	q.start = t.cheapestOf(q.weights, designs)
	type answer struct {
		r   *choice.Result
		err error
	}
	came := make(chan answer)
	asks := t.restrictQuestion(q)
	background, stop := context.WithCancel(ctx)
	guard.Go(guard.Advice, func() {
		var a answer
		a.err = guard.Do(guard.Advice, func() (err error) { a.r, err = asks.solve(background); return err })
		came <- a
	}, nil)
	k.leave = stop
	k.mean = func() (*choice.Result, error) {
		defer cancel()
		a := <-came
		stop()
		if err := t.explainError(a.err, 0, t.space); outOfTime(ctx, err) {
			if a.r, err = t.fallbackDesign(ctx, -1, in, designs); err != nil {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
		t.noteFailure(a.r.Failure)
		mean := t.weightsKey(-1)
		for step := range k.ideal {
			if t.weightsKey(step) == mean {
				own, share := *a.r, sumOf(t.weightsAt(step))/sumOf(q.weights)
				own.Cost, own.Bound = share*own.Cost, share*own.Bound
				k.ideal[step] = &own
			}
		}
		k.first, k.last = k.ideal[0], k.ideal[len(k.ideal)-1]
		return a.r, nil
	}
}

func sumOf(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// usesProgram reports whether single designs are what an integer program of some of the candidates finds.
func (t *task) usesProgram(in []bool) bool {
	n := countOpen(in)
	return t.space > 0 && n > proofTables && n <= programTables && t.options.Solver != nil
}

// bestDesigns finds the best designs for some steps' weights, or all steps' (-1), from drafts by the keys of these weights, or else from the best of some designs. Without
// a limit on space, and among few candidates, they are proven.
func (t *task) bestDesigns(ctx context.Context, steps []int, drafts map[string]*choice.Result, in []bool, corners [][]bool) ([]*choice.Result, []error) {
	var list []designQuestion
	for _, step := range steps {
		q := designQuestion{weights: t.weightsAt(step), space: t.space, in: in}
		if draft := drafts[t.weightsKey(step)]; draft != nil {
			q.start = draft.Open
		} else if t.space > 0 {
			q.start = t.cheapestOf(q.weights, corners)
		}
		list = append(list, q)
	}
	return t.chooseAll(ctx, list)
}

// cheapestOf is the cheapest of some designs within the limit on space; nil: none is.
func (t *task) cheapestOf(weights []float64, designs [][]bool) (best []bool) {
	p, least := t.staticProblem(weights, t.space), math.Inf(1)
	for _, open := range designs {
		if c := p.Cost(open); c < least {
			best, least = open, c
		}
	}
	return best
}

func countOpen(open []bool) (n int) {
	for _, x := range open {
		if x {
			n++
		}
	}
	return n
}

// weightsKey is the same for steps whose weights differ by a factor alone. Step -1 is all of them together.
func (t *task) weightsKey(step int) string {
	weights := t.weightsAt(step)
	scale := 0.0
	for _, w := range weights {
		scale = max(scale, w)
	}
	var b strings.Builder
	for _, w := range weights {
		fmt.Fprintf(&b, " %.12g", w/scale)
	}
	return b.String()
}

// atStep puts a step's number to an error about space.
func (t *task) atStep(err error, step int) error {
	var space *SpaceError
	if errors.As(err, &space) && step >= 0 {
		space.Step = step
	}
	return err
}

// compareBaselines says what the baselines cost.
func (s *search) compareBaselines(k *baselineDesigns) []*Baseline {
	constant := make([]float64, s.steps)
	for step := range constant {
		constant[step] = s.existingWritesAt(step)
	}
	static := func(name string, r *choice.Result) *Baseline {
		chosen := s.newTables(r.Open)
		b := &Baseline{Name: name, Bytes: s.bytesOf(r.Open), Tables: len(chosen), Proven: r.Proven}
		for step := range s.steps {
			b.Steps, b.Chosen = append(b.Steps, constant[step]+s.workloadCost(step, r.Open)), append(b.Chosen, chosen)
		}
		b.Steps[0] += s.problem.InitialCost(r.Open)
		return b
	}
	list := []*Baseline{static(Average, k.average), static(First, k.first), static(Last, k.last)}
	ideal := &Baseline{Name: Ideal, Proven: true}
	best := map[string][]bool{} // by the key of a step's weights
	for step, r := range k.ideal {
		key := s.weightsKey(step)
		if best[key] == nil {
			best[key] = s.leastAt(step, r)
		}
		open := best[key]
		chosen := s.newTables(open)
		ideal.Steps, ideal.Chosen = append(ideal.Steps, constant[step]+s.workloadCost(step, open)), append(ideal.Chosen, chosen)
		ideal.Bytes, ideal.Tables, ideal.Proven = max(ideal.Bytes, s.bytesOf(open)), max(ideal.Tables, len(chosen)), ideal.Proven && r.Proven
		if step == 0 {
			ideal.Steps[0] += s.problem.InitialCost(open)
		}
	}
	list = append(list, ideal)
	for _, b := range list {
		for _, c := range b.Steps {
			b.Cost += c
		}
	}
	return list
}

// leastAt is a step's own design: where that is not proven, the best of those that were met on the way to the calendar, if one is better.
func (s *search) leastAt(step int, r *choice.Result) []bool {
	best := r.Open
	if r.Proven {
		return best
	}
	least := s.workloadCost(step, best)
	for _, open := range slices.Concat(s.designs, s.open) {
		if s.space > 0 && s.bytesOf(open) > s.space {
			continue
		}
		if cost := s.workloadCost(step, open); cost < least {
			best, least = open, cost
		}
	}
	return best
}

// workloadCost is what the statements of a step cost over some tables, without writes of the existing ones (equation 2).
func (s *search) workloadCost(step int, open []bool) float64 {
	sum := 0.0
	for n := range s.problem.Tables {
		if open[n] {
			sum += s.problem.Tables[n].Upkeep[step]
		}
	}
	for i := range s.problem.Demands {
		d := &s.problem.Demands[i]
		at := choice.Demand{States: d.States, Arcs: d.Arcs, Needed: d.Needed}
		if !at.Required(open) {
			continue
		}
		_, price := at.CheapestPath(open)
		if math.IsInf(price, 1) {
			return price
		}
		sum += d.Weights[step] * price
	}
	return sum
}

// newTables are the new tables of a design.
func (t *task) newTables(open []bool) (list []*model.Table) {
	for n, is := range open {
		if is && !t.tables[n].Kept {
			list = append(list, t.tables[n])
		}
	}
	return list
}

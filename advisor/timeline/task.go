package timeline

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/guard"
)

// sideBySide is how many designs are looked for at a time.
const sideBySide = 2

// task is a workload prepared for choosing a calendar.
type task struct {
	options Options
	study   *design.Study
	work    *workload.Workload // the statements of the mix
	demands []design.Demand
	graphs  [][]choice.Arc // of the demands
	tables  []*model.Table // candidates
	steps   int
	length  []time.Duration // of the steps
	rates   [][]float64     // by step and statement, executions per second
	space   float64
	full    float64
	partial bool // candidates were swept for as long as there was time
	extract map[*model.Table]cost.Cost
	loading []cost.Cost               // by candidate
	answers map[string]*choice.Result // single designs, by what was asked
	phases  []design.Phase
	last    time.Time
	notes   []string
}

// poolTables is how many candidates are proposed, in either mode, unless the caller says otherwise. The pool is filled level by
// level, so that what is left out is what is least likely to be needed; where it does not hold all, queries are cut once (W-17), so that more levels are in it. What
// calendars cost hangs on it more than on how they are looked for (decision 30): views of some of the conditions share what space there is. Of all 24,000 that seed 004's workload
// has, plans are so many that package plan cuts them off.
const poolTables = 6000

// prepareTask checks what was asked for, proposes candidates and plans.
func prepareTask(ctx context.Context, w *workload.Workload, o Options) (*task, error) {
	if o.Cost == nil {
		o.Cost = cost.Default()
	}
	own, _ := w.In(w.Mix)
	if err := own.CheckTime(); err != nil {
		return nil, &InputError{err.Error()}
	}
	t := &task{options: o, steps: own.TimeSteps(), last: time.Now(), extract: map[*model.Table]cost.Cost{}, answers: map[string]*choice.Result{}}
	if err := o.validate(t.steps); err != nil {
		return nil, err
	}
	if o.MostTables == 0 {
		o.MostTables = poolTables
	}
	timed := *own
	if len(o.Interval) > 0 {
		timed.Interval = o.Interval
	}
	var err error
	if t.rates, err = checkedRates(own, t.steps); err != nil {
		return nil, err
	}
	for step := range t.steps {
		t.length = append(t.length, timed.IntervalOf(step))
	}
	t.study, err = design.NewStudy(ctx, w, design.Options{Cost: o.Cost, Solver: o.Solver, Limits: o.Limits, Allow: o.allowTable, Once: o.Once, Sparing: true, Most: o.MostTables,
		Candidates: o.Candidates, NoEnumeration: o.NoEnumeration, SpaceLimit: o.Space})
	if err != nil {
		return nil, err
	}
	t.work, t.tables, t.demands = t.study.Prepared(), t.study.Candidates(), t.study.Demands()
	t.space = t.study.Limit()
	for _, table := range t.tables {
		t.loading = append(t.loading, cost.Load(o.Cost, table))
	}
	for _, d := range t.demands {
		arcs := make([]choice.Arc, len(d.Space.Arcs))
		for i, a := range d.Space.Arcs {
			n, ok := t.study.Number(a.Table)
			if !ok {
				n = choice.None
			}
			arcs[i] = choice.Arc{From: a.From, To: a.To, Price: d.Prices[i], Table: n}
		}
		t.graphs = append(t.graphs, arcs)
	}
	t.endPhase("prepare")
	return t, nil
}

// allowTable leaves out, besides what the caller does, tables that no migration fills: those with collections.
func (o *Options) allowTable(table *model.Table) bool {
	return len(table.Nests) == 0 && (o.Allow == nil || o.Allow(table))
}

// endPhase notes that a phase has ended.
func (t *task) endPhase(phase string) {
	now := time.Now()
	t.phases, t.last = append(t.phases, design.Phase{Name: phase, Duration: now.Sub(t.last)}), now
}

// weightOf is how often a statement runs in a step.
func (t *task) weightOf(step, statement int) float64 {
	return t.rates[step][statement] * t.length[step].Seconds()
}

// extractCost is what reading a table whole costs.
func (t *task) extractCost(table *model.Table) cost.Cost {
	c, ok := t.extract[table]
	if !ok {
		c = cost.Extract(t.options.Cost, table)
		t.extract[table] = c
	}
	return c
}

// upkeepOf is the work of keeping a candidate true through a step, without support queries.
func (t *task) upkeepOf(step, n int) float64 {
	sum := 0.0
	for i := range t.work.Statements {
		if puts := t.study.Puts(i, n); puts > 0 {
			sum += t.weightOf(step, i) * puts
		}
	}
	return sum
}

// keepCost is C^U, equation 16: the work of keeping a candidate true while it is filled, during the step before the one that
// it is for. The share of the step that loading takes, times what keeping it through the whole step would cost.
func (t *task) keepCost(step, n int) float64 {
	return t.upkeepOf(step-1, n) * t.loadTime(n) / t.length[step-1].Seconds()
}

// loadTime is how long writing all rows of a candidate takes, seconds.
func (t *task) loadTime(n int) float64 { return cost.Seconds(t.options.Cost, t.loading[n].Latency) }

// sequenceProblem is the task in the terms of package sequence, without the loads.
func (t *task) sequenceProblem() *sequence.Problem {
	p := &sequence.Problem{Overlap: t.options.Overlap, Most: t.options.Most, Life: t.options.Life}
	for step := range t.steps {
		closed := step > 0 && len(t.options.Windows) > 0 && !t.options.Windows[step]
		p.Steps = append(p.Steps, sequence.Step{Space: t.space, Closed: closed})
	}
	for n, table := range t.tables {
		x := sequence.Table{Name: table.String(), Size: t.study.Bytes(table), Drop: t.options.Drop, There: table.Kept, Fixed: t.study.Must(n), Free: table.Kept}
		for step := range t.steps {
			x.Upkeep = append(x.Upkeep, t.upkeepOf(step, n))
			birth := 0.0
			if step > 0 {
				birth = t.loading[n].Work + t.keepCost(step, n)
			} else if t.options.InitialLoad {
				birth = t.loading[n].Work
			}
			x.Birth = append(x.Birth, birth)
		}
		p.Tables = append(p.Tables, x)
	}
	for i, d := range t.demands {
		x := sequence.Demand{Name: d.Name, States: d.Space.States, Arcs: t.graphs[i], Needed: d.Needed}
		for step := range t.steps {
			x.Weights = append(x.Weights, t.weightOf(step, d.Statement)*d.Times)
		}
		p.Demands = append(p.Demands, x)
	}
	return p
}

// staticProblem is the problem of one design, with each statement running so often.
func (t *task) staticProblem(weights []float64, space float64) *choice.Problem {
	p := &choice.Problem{Space: space}
	for n, table := range t.tables {
		x := choice.Table{Name: table.String(), Size: t.study.Bytes(table), Fixed: t.study.Must(n), Free: table.Kept}
		for i, w := range weights {
			if puts := t.study.Puts(i, n); puts > 0 {
				x.Upkeep += w * puts
			}
		}
		p.Tables = append(p.Tables, x)
	}
	for i, d := range t.demands {
		p.Demands = append(p.Demands, choice.Demand{Name: d.Name, Weight: weights[d.Statement] * d.Times, States: d.Space.States, Arcs: t.graphs[i], Needed: d.Needed})
	}
	return p
}

// existingWrites is what writing the existing tables costs over all steps.
func (t *task) existingWrites() float64 {
	sum := 0.0
	for step := range t.steps {
		sum += t.existingWritesAt(step)
	}
	return sum
}

// existingWritesAt is what writing the existing tables costs in a step.
func (t *task) existingWritesAt(step int) float64 {
	sum := 0.0
	for i := range t.work.Statements {
		sum += t.weightOf(step, i) * t.study.Written(i)
	}
	return sum
}

// weightsAt are how often each statement runs in a step; of step -1, in all.
func (t *task) weightsAt(step int) []float64 {
	list := make([]float64, len(t.work.Statements))
	for i := range list {
		for s := range t.steps {
			if step < 0 || s == step {
				list[i] += t.weightOf(s, i)
			}
		}
	}
	return list
}

// How good the designs of baselines are, and how many steps of the simplex method pruned mode takes for one that is within a limit on space: begun from a draft CBC
// has found the best of TPC-H's by then; proving some of them takes five times as many.
const (
	staticGap        = 1e-3
	staticIterations = 15_000
)

// proofTables is how many candidates single designs within a limit are proven over; of more, what is found counts.
const proofTables = 60

// programTables is how many candidates an integer program of a single design has at most: with a solver, so many are no trouble.
const programTables = 300

// Of more than proofTables within a limit, searches and branching settle little before the integer program's solver has its turn: arcs that they look at.
const (
	briefSearching = 4_000_000
	briefBranching = 4_000_000
)

// designQuestion is a question of one design.
type designQuestion struct {
	weights []float64 // of the statements
	space   float64
	in      []bool // candidates that there are
	start   []bool // a design to begin from, or nil
}

// key is the same for the same question.
func (q *designQuestion) key() string {
	b := append([]byte(nil), designKey(q.in)...)
	b = append(b, byte(min(1, len(q.start))))
	b = append(b, designKey(q.start)...)
	for _, list := range [][]float64{{q.space}, q.weights} {
		for _, v := range list {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return string(b)
}

// chooseDesign finds the best single design. What was asked before is answered as before: a calendar of many periods asks the same in each.
func (t *task) chooseDesign(ctx context.Context, q designQuestion) (*choice.Result, error) {
	key := q.key()
	if r := t.answers[key]; r != nil {
		return r, nil
	}
	r, err := t.solveSingle(ctx, q)
	if err == nil && ctx.Err() == nil {
		t.answers[key] = r
		t.noteFailure(r.Failure)
	}
	return r, err
}

// noteFailure says of a calendar that its solver failed: another run may come to another calendar then. It is said once.
func (t *task) noteFailure(failure error) {
	if failure == nil || slices.ContainsFunc(t.notes, func(note string) bool { return strings.HasPrefix(note, solverFailed) }) {
		return
	}
	t.notes = append(t.notes, fmt.Sprintf("%s (%v): some designs are the best of a search without it", solverFailed, failure))
}

const solverFailed = "the solver failed"

// chooseAll is chooseDesign for several questions, some side by side. The designs are in the order of the questions, nil where there is an error.
func (t *task) chooseAll(ctx context.Context, list []designQuestion) ([]*choice.Result, []error) {
	results, errs := make([]*choice.Result, len(list)), make([]error, len(list))
	var asks []*restrictedQuestion
	var places []int
	for i, q := range list {
		if results[i] = t.answers[q.key()]; results[i] == nil {
			asks, places = append(asks, t.restrictQuestion(q)), append(places, i)
		}
	}
	guard.Each(guard.Advice, sideBySide, len(asks), func(k int) { results[places[k]], errs[places[k]] = asks[k].solve(ctx) })
	for i, q := range list {
		if errs[i] = t.explainError(errs[i], 0, q.space); errs[i] == nil && ctx.Err() == nil {
			t.answers[q.key()] = results[i]
			t.noteFailure(results[i].Failure)
		}
	}
	return results, errs
}

// solveSingle is chooseDesign without a memory.
func (t *task) solveSingle(ctx context.Context, q designQuestion) (*choice.Result, error) {
	r, err := t.restrictQuestion(q).solve(ctx)
	if err != nil {
		return nil, t.explainError(err, 0, q.space)
	}
	return r, nil
}

// restrictedQuestion is a question of one design in the terms of package choice: of the candidates that there are alone. It can be solved beside others.
type restrictedQuestion struct {
	problem *choice.Problem
	options choice.Options
	keep    []int // its tables, as they are numbered in the task
	tables  int   // of the task
}

func (r *restrictedQuestion) solve(ctx context.Context) (*choice.Result, error) {
	found, err := choice.Solve(ctx, r.problem, r.options)
	if err != nil {
		return nil, err
	}
	found.Open = fromRestricted([][]bool{found.Open}, r.keep, r.tables)[0]
	return found, nil
}

// restrictQuestion puts a question in those terms.
func (t *task) restrictQuestion(q designQuestion) *restrictedQuestion {
	p, keep, in := t.staticProblem(q.weights, q.space), []int{}, q.in
	number := make([]int, len(t.tables))
	var tables []choice.Table
	for n := range t.tables {
		if number[n] = -1; in[n] {
			number[n] = len(keep)
			keep, tables = append(keep, n), append(tables, p.Tables[n])
		}
	}
	p.Tables = tables
	demands := p.Demands[:0]
	for _, d := range p.Demands {
		if d.Needed != nil {
			if d.Needed = renumber(d.Needed, number); len(d.Needed) == 0 {
				continue
			}
		}
		d.Arcs = renumberArcs(d.Arcs, number)
		demands = append(demands, d)
	}
	p.Demands = demands
	limits := t.solverLimits()
	limits.Gap = max(limits.Gap, staticGap)
	var from []bool
	if q.start != nil {
		from = toRestricted([][]bool{q.start}, keep)[0]
	}
	o := choice.Options{Solver: t.options.Solver, Limits: limits, Ties: len(keep) <= proofTables, Start: from}
	if q.space > 0 && len(keep) > proofTables {
		if o.Searching, o.Branching = briefSearching, briefBranching; !t.options.Exact && t.options.Limits == (solve.Limits{}) {
			o.Limits.Iterations = staticIterations
		}
	}
	return &restrictedQuestion{p, o, keep, len(t.tables)}
}

// renumberArcs are the arcs that read tables which have a number, under that number, or none.
func renumberArcs(arcs []choice.Arc, number []int) []choice.Arc {
	var left []choice.Arc
	for _, a := range arcs {
		if a.Table != choice.None {
			if a.Table = number[a.Table]; a.Table < 0 {
				continue
			}
		}
		left = append(left, a)
	}
	return left
}

// renumber are the numbers of those tables that have one.
func renumber(tables, number []int) []int {
	list := []int{}
	for _, n := range tables {
		if number[n] >= 0 {
			list = append(list, number[n])
		}
	}
	return list
}

// mostIterations is how long an integer program is solved for, in steps of the simplex method, unless the caller says otherwise: the same
// input ends in the same calendar on any machine. A busy hundred thousand is some 20 s.
const mostIterations = 100_000

func (t *task) solverLimits() solve.Limits {
	if t.options.Limits == (solve.Limits{}) {
		return solve.Limits{Nodes: 5000, Iterations: mostIterations}
	}
	return t.options.Limits
}

// explainError says in terms of steps and statements what a solver could not do.
func (t *task) explainError(err error, step int, space float64) error {
	var (
		tight   *choice.SpaceError
		tightAt *sequence.SpaceError
		none    *choice.UnsatisfiableError
		noneAt  *sequence.UnsatisfiableError
	)
	unanswered := func(demand int) error {
		d := t.demands[demand]
		return &design.UnanswerableError{Statement: t.work.Statements[d.Statement].ID, Query: d.Space.Query.String()}
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tight):
		return &SpaceError{Step: step, Limit: space, Smallest: tight.Smallest, Proven: tight.Proven && !t.partial}
	case errors.As(err, &tightAt):
		return &SpaceError{Step: tightAt.Step, Limit: space, Smallest: tightAt.Smallest, Proven: tightAt.Proven && !t.partial}
	case errors.As(err, &none):
		return unanswered(none.Demand)
	case errors.As(err, &noneAt):
		return unanswered(noneAt.Demand)
	}
	return fmt.Errorf("timeline: %w", err)
}

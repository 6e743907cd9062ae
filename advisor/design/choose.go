package design

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Choose chooses tables for a workload: new ones among the candidates, besides the existing ones, which are free. Given
// the same workload and options it answers the same.
//
// The error is an *UnanswerableError if a query has no plan, a *SpaceError if no choice fits the space limit, or the
// context's if it ended before there was any choice. A context that ends later, a limit, or a solver that fails makes the
// design one that is not proven (Design.Stopped).
func Choose(ctx context.Context, w *workload.Workload, o Options) (*Design, error) {
	s, err := NewStudy(ctx, w, o)
	if err != nil {
		return nil, err
	}
	return s.Design(ctx)
}

// Study is a workload prepared for choosing: its candidates and their plans. From it come the design, and answers to what
// would be if. It is for one goroutine.
type Study struct {
	*task
	options   Options
	pool      []string    // what limits have cut off
	size      int         // candidates
	rates     [][]float64 // by mix and statement, if there are several
	others    []string    // statements that are no part of the mix
	began     time.Time
	best      selection // once Design has been called
	result    *choice.Result
	unchanged *Design
}

// NewStudy enumerates candidates and plans.
func NewStudy(ctx context.Context, w *workload.Workload, o Options) (*Study, error) {
	s := &Study{began: time.Now()}
	if len(o.Mixes) > 0 {
		var err error
		if w, s.others, s.rates, err = meanOf(w, o.Mixes); err != nil {
			return nil, fmt.Errorf("design: %w", err)
		}
	} else {
		w, s.others = w.In(w.Mix)
	}
	t, pool, err := prepareTask(ctx, w, &o)
	if err != nil {
		return nil, err
	}
	s.task, s.options, s.pool, s.size = t, o, pool.Truncated, len(pool.Tables)
	return s, nil
}

// Design chooses.
func (s *Study) Design(ctx context.Context) (*Design, error) {
	best, result, err := s.chooseTables(ctx, s.options)
	if err != nil {
		return nil, err
	}
	var robust *Robust
	if len(s.rates) > 0 {
		var worst selection
		if robust, worst, err = s.searchRegret(ctx, best); err != nil {
			return nil, err
		}
		if robust.Worst = s.options.Worst; robust.Worst {
			best = worst
		}
	}
	s.best, s.result = best, result
	s.endPhase("solve")
	d := s.designOf(best, result)
	if d.Robust = robust; robust != nil && robust.Worst {
		d.adoptWorstCase(robust)
	}
	d.Rejected = s.rejectionsOf(best)
	for _, id := range s.options.Sensitivity {
		x, err := s.weightSensitivity(ctx, s.options, best, id)
		if err != nil {
			return nil, err
		}
		d.Sensitive = append(d.Sensitive, *x)
	}
	s.endPhase("explain")
	d.Phases, d.Duration = s.phases, time.Since(s.began)
	s.unchanged = d
	return d, nil
}

// designOf reads a design off a choice, with what is proven of it.
func (s *Study) designOf(c selection, r *choice.Result) *Design {
	d := s.readDesign(c, s.options.Cost.Name())
	d.Variables, d.Constraints = r.Stats.Columns, r.Stats.Rows
	d.Candidates, d.Others = s.size, s.others
	d.Truncated = append(append([]string(nil), s.pool...), s.truncated...)
	d.Late, d.Breaches = d.lateWrites(), breachesOf(s.work)
	d.Bound = min(r.Bound+s.existingWrites(), d.After)
	if d.Proven = r.Proven; d.Proven {
		d.Bound = d.After
	}
	if d.After > 0 && d.Bound < d.After*(1-1e-9) {
		d.Gap = (d.After - d.Bound) / d.After
	}
	d.Engine, d.Stopped, d.Fewest = r.Engine, r.Stopped, r.Fewest
	if r.Failure != nil && !d.Proven {
		d.Truncated = append(d.Truncated, fmt.Sprintf("the solver failed (%v): this is the best of a search without it", r.Failure))
	}
	return d
}

// breachesOf are the writes of a workload that may break the model's word.
func breachesOf(w *workload.Workload) (list []Breach) {
	for _, s := range w.Statements {
		if s.Write == nil {
			continue
		}
		for _, b := range s.Write.Breaches(w.Graph) {
			if x := (Breach{s.ID, b.Reason, b.Query == nil}); !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	return list
}

// adoptWorstCase makes what is proven of a design that of the worst case. The bound stays that of the mean cost.
func (d *Design) adoptWorstCase(r *Robust) {
	d.Proven, d.Fewest = r.Proven, false
	if d.Gap = 0; !d.Proven && r.Regret[1] > 0 {
		d.Gap = (r.Regret[1] - r.Bound) / r.Regret[1]
	}
}

// ErrSpace says that no choice of candidates that answers all queries fits into the space allowed. The error itself is a
// *SpaceError.
var ErrSpace = errors.New("design: no choice of tables that answers every statement fits into the space limit")

// SpaceError says how much space is needed at least.
type SpaceError struct {
	Limit    float64 // bytes allowed
	Smallest float64 // bytes of the smallest choice found
	Proven   bool    // nothing smaller will do
}

func (e *SpaceError) Error() string {
	word := "the smallest such choice takes"
	if !e.Proven {
		word = "one is known that takes"
	}
	return fmt.Sprintf("%v of %.0f bytes: %s %.0f bytes", ErrSpace, e.Limit, word, math.Ceil(e.Smallest))
}

// Is makes it an ErrSpace.
func (e *SpaceError) Is(target error) bool { return target == ErrSpace }

// prepareTask fills in the options and builds the task.
func prepareTask(ctx context.Context, w *workload.Workload, o *Options) (*task, *enumerate.Pool, error) {
	if o.Solver == nil {
		return nil, nil, errors.New("design: no solver given")
	}
	if o.Cost == nil {
		o.Cost = cost.Default()
	}
	if o.Limits == (solve.Limits{}) {
		o.Limits = solve.Limits{Nodes: 5000, Wall: time.Minute}
	}
	if o.SpaceLimit == 0 {
		o.SpaceLimit = w.SpaceLimit
	}
	began := time.Now()
	safe, err := o.safetyChecker(w)
	if err != nil {
		return nil, nil, err
	}
	allow := o.allowFunc() // what is not safe may be a step to what is
	pool := enumerate.NewPool(func(table *model.Table) bool { return allow(table) && (table.Kept || !safe.refusesTable(table)) })
	if o.Most > enumerate.DefaultMost {
		pool.Limit(o.Most)
	}
	fixed := map[string]bool{}
	for _, list := range [][]*model.Table{keptOf(w.Tables), keptOf(o.Candidates), o.Fixed, o.Candidates} {
		for _, table := range list {
			if o.OnlyExisting && !table.Kept {
				continue
			}
			if reason := cost.Refusal(o.Cost, table); len(table.Nests) > 0 && reason != "" {
				return nil, nil, fmt.Errorf("design: table %s: the cost model %s does not allow %s", table, o.Cost.Name(), reason)
			}
			pool.Add(table)
		}
	}
	for _, table := range o.Fixed {
		fixed[table.ID()] = true
	}
	full := false // more could be proposed
	if !o.NoEnumeration && !o.OnlyExisting {
		proposals := enumerate.Options{Allow: allow, Once: o.Once, Sparing: o.Sparing, Most: o.Most, Arithmetic: cost.Arithmetic(o.Cost)}
		proposals.PartitionBytes, proposals.Indexes = cost.Proposals(o.Cost)
		proposals.Collections = proposals.Indexes
		enumerated := enumerate.Workload(w, proposals)
		full = len(enumerated.Tables) == o.Most
		pool.Truncated = append(pool.Truncated, enumerated.Truncated...)
		for _, table := range enumerated.Tables {
			pool.Add(table)
		}
	}
	enumerated := time.Now()
	t, err := newTask(ctx, w, o, pool.Tables, fixed)
	if err != nil {
		var none *UnanswerableError
		if errors.As(err, &none) && full {
			none.Most = o.Most
		}
		return nil, nil, safe.explainUnsafe(ctx, w, *o, err)
	}
	t.chargePenalties(safe)
	t.phases, t.last = []Phase{{"enumerate", enumerated.Sub(began)}}, enumerated
	t.endPhase("plan")
	return t, pool, nil
}

// allowFunc is Options.Allow together with what the cost model refuses. Tables that are there are always allowed.
func (o *Options) allowFunc() func(*model.Table) bool {
	own := o.Allow
	return func(table *model.Table) bool {
		return table.Kept || (own == nil || own(table)) && cost.Refusal(o.Cost, table) == ""
	}
}

func keptOf(tables []*model.Table) []*model.Table {
	var list []*model.Table
	for _, table := range tables {
		if table.Kept {
			list = append(list, table)
		}
	}
	return list
}

// endPhase notes that a phase has ended.
func (t *task) endPhase(phase string) {
	now := time.Now()
	t.phases, t.last = append(t.phases, Phase{phase, now.Sub(t.last)}), now
}

// choiceProblem is the task in the terms of package choice.
func (t *task) choiceProblem() *choice.Problem {
	p := &choice.Problem{Space: t.space}
	for n, table := range t.candidates {
		p.Tables = append(p.Tables, choice.Table{Name: table.String(), Upkeep: t.putWork(n), Size: t.arithmetic.TableBytes(table), Fixed: t.fixed[n], Free: table.Kept})
	}
	for _, d := range t.demands {
		if t.graphs[d] == nil {
			arcs := make([]choice.Arc, len(d.space.Arcs))
			for i, a := range d.space.Arcs {
				n, candidate := t.number[a.Table]
				if !candidate {
					n = choice.None
				}
				arcs[i] = choice.Arc{From: a.From, To: a.To, Price: d.prices[i], Table: n}
			}
			t.graphs[d] = arcs
		}
		p.Demands = append(p.Demands, choice.Demand{Name: d.name, Weight: t.weights[d.statement] * d.times, States: d.space.States, Arcs: t.graphs[d], Needed: d.needed})
	}
	return p
}

// chooseTables solves the task.
func (t *task) chooseTables(ctx context.Context, o Options) (selection, *choice.Result, error) {
	return t.solveInTime(ctx, o, t.choiceProblem(), nil)
}

// solveInTime solves a problem of the task, or a changed one, with writes in time. start is a choice to begin from, nil or not possible: none.
func (t *task) solveInTime(ctx context.Context, o Options, p *choice.Problem, start selection) (selection, *choice.Result, error) {
	if len(t.ceilingWrites()) > 0 {
		return t.solveWithCeilings(ctx, o, p, start)
	}
	return t.solveOnce(ctx, o, p, start)
}

// solveOnce is solveInTime but for ceilings of writes.
func (t *task) solveOnce(ctx context.Context, o Options, p *choice.Problem, start selection) (selection, *choice.Result, error) {
	r, err := choice.Solve(ctx, p, choice.Options{Solver: o.Solver, Limits: o.Limits, Start: start, Ties: true, Branching: o.Branching, Progress: o.Progress})
	var (
		space *choice.SpaceError
		none  *choice.UnsatisfiableError
	)
	switch {
	case errors.As(err, &space):
		return nil, nil, &SpaceError{Limit: space.Space, Smallest: space.Smallest, Proven: space.Proven}
	case errors.As(err, &none):
		d := t.demands[none.Demand]
		return nil, nil, t.safe.explainUnsafe(ctx, t.work, o, &UnanswerableError{Statement: t.work.Statements[d.statement].ID, Query: d.space.Query.String()})
	case err != nil:
		return nil, nil, fmt.Errorf("design: %w", err)
	}
	return t.dropUnused(r.Open), r, nil
}

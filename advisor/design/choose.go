package design

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Choose chooses tables for a workload: new ones among the candidates, besides the existing ones, which are free. Given
// the same workload and options it answers the same.
//
// The error is an *UnanswerableError if a query has no plan, ErrSpace if no choice fits the space limit, or the solver's.
func Choose(ctx context.Context, w *workload.Workload, o Options) (*Design, error) {
	began := time.Now()
	t, pool, err := prepare(w, &o)
	if err != nil {
		return nil, err
	}
	best, solution, err := t.choose(ctx, o)
	if err != nil {
		return nil, err
	}
	t.ended("solve")
	d := t.design(best, o.Cost)
	d.Variables, d.Constraints = t.variables, t.constraints
	d.Candidates = len(pool.Tables)
	d.Truncated = append(append([]string(nil), pool.Truncated...), t.truncated...)
	d.Bound = min(solution.Bound+t.constant(), d.After)
	if d.After > 0 && d.Bound < d.After*(1-1e-9) {
		d.Gap = (d.After - d.Bound) / d.After
	}
	d.Proven = solution.Status == solve.Optimal
	d.Engine = solution.Engine
	d.Rejected = t.rejections(best)
	for _, id := range o.Sensitivity {
		s, err := t.sensitivity(ctx, o, best, id)
		if err != nil {
			return nil, err
		}
		d.Sensitive = append(d.Sensitive, *s)
	}
	t.ended("explain")
	d.Phases, d.Duration = t.phases, time.Since(began)
	return d, nil
}

// ErrSpace says that no choice of candidates that answers all queries fits into the space allowed.
var ErrSpace = errors.New("design: no choice of tables that answers every statement fits into the space limit: raise space_limit")

// errNoSolution says that the solver found nothing although there may be something.
var errNoSolution = errors.New("design: the solver found no choice of tables within its limits: allow it more nodes or time")

// prepare fills in the options and builds the task.
func prepare(w *workload.Workload, o *Options) (*task, *enumerate.Pool, error) {
	if o.Solver == nil {
		return nil, nil, errors.New("design: no solver given")
	}
	if o.Cost == nil {
		o.Cost = cost.NewConstants(cost.Parameters{})
	}
	if o.Limits == (solve.Limits{}) {
		o.Limits = solve.Limits{Nodes: 5000, Wall: time.Minute}
	}
	if o.SpaceLimit == 0 {
		o.SpaceLimit = w.SpaceLimit
	}
	began := time.Now()
	pool := enumerate.NewPool(o.Allow, o.Candidates...)
	if !o.NoEnumeration {
		enumerated := enumerate.Workload(w, enumerate.Options{Allow: o.Allow, Arithmetic: cost.Arithmetic(o.Cost)})
		pool.Truncated = append(pool.Truncated, enumerated.Truncated...)
		for _, table := range enumerated.Tables {
			pool.Add(table)
		}
	}
	enumerated := time.Now()
	t, err := newTask(w, o.Cost, pool.Tables, o.SpaceLimit)
	if err != nil {
		return nil, nil, err
	}
	t.phases, t.last = []Phase{{"enumerate", enumerated.Sub(began)}}, enumerated
	t.ended("plan")
	return t, pool, nil
}

// ended notes that a phase has ended.
func (t *task) ended(phase string) {
	now := time.Now()
	t.phases, t.last = append(t.phases, Phase{phase, now.Sub(t.last)}), now
}

// choose solves the task: from a greedy choice on.
func (t *task) choose(ctx context.Context, o Options) (choice, *solve.Solution, error) {
	incumbent, known, feasible := t.greedy()
	if !feasible {
		known, incumbent = math.Inf(1), nil
	}
	r := t.reduce(known, incumbent)
	p := newProgram(t, r)
	t.variables, t.constraints = len(p.problem.Columns), len(p.problem.Rows)
	if feasible {
		p.start(incumbent)
	}
	best, solution, err := p.solve(ctx, o.Solver, o.Limits)
	var failed *solve.WorkerError
	if errors.As(err, &failed) && feasible && ctx.Err() == nil {
		// The engine died. There is an answer nevertheless, only not a proven one.
		t.cut(fmt.Sprintf("the solver failed (%s): this is the choice of a search by single tables", failed.What))
		return t.used(incumbent), &solve.Solution{Status: solve.Unproven, Bound: r.bound, Engine: "search"}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if best == nil {
		switch {
		case feasible:
			best = incumbent
		case solution.Status == solve.Infeasible:
			return nil, nil, ErrSpace
		default:
			return nil, nil, errNoSolution
		}
	}
	if r.capped { // the solution is the best of what was left in
		t.cut("plans were left out of the integer program that are dear, but not proven useless")
		solution.Bound = r.bound
		if solution.Status == solve.Optimal {
			solution.Status = solve.Unproven
		}
	}
	solution.Bound = max(solution.Bound, r.bound)
	return t.used(best), solution, nil
}

// cut notes, once, that something was cut off.
func (t *task) cut(what string) {
	for _, x := range t.truncated {
		if x == what {
			return
		}
	}
	t.truncated = append(t.truncated, what)
}

// used drops the tables that no plan reads. A support query's plan may read a table that nothing else does.
func (t *task) used(c choice) choice {
	for {
		reads := make(choice, len(c))
		for _, d := range t.demands {
			if !d.active(c) {
				continue
			}
			way, _ := d.space.CheapestWay(t.priceOf(d), t.chosen(c))
			for _, a := range way {
				if n, ok := t.number[a.Table]; ok {
					reads[n] = true
				}
			}
		}
		same := true
		for n := range c {
			same = same && reads[n] == c[n]
		}
		if same {
			return c
		}
		c = reads
	}
}

// design reads tables and plans off a choice.
func (t *task) design(c choice, m cost.Model) *Design {
	d := &Design{Name: t.work.Name, Mix: t.work.Mix, Model: m.Name(), Answerable: true}
	none := make(choice, len(c))
	readers := map[*model.Table][]string{}
	for i, s := range t.work.Statements {
		st := &Statement{Statement: s}
		if s.Query != nil {
			st.Plan = t.planOf(i, c)
			st.Cost = cost.Plan(m, st.Plan)
			if st.Current = t.planOf(i, none); st.Current != nil {
				st.CurrentCost = cost.Plan(m, st.Current)
			} else {
				d.Answerable = false
			}
			for _, table := range st.Plan.Tables() {
				readers[table] = append(readers[table], s.ID)
			}
		} else {
			st.Writes, st.Cost, st.CurrentCost = t.writes(i, c, m, readers)
		}
		d.Before += s.Weight * st.CurrentCost.Work
		d.After += s.Weight * st.Cost.Work
		d.Statements = append(d.Statements, st)
	}
	for _, table := range t.existing {
		if len(readers[table]) > 0 {
			d.Tables = append(d.Tables, &Table{Table: table, Name: table.Name, Bytes: t.arithmetic.TableBytes(table), Statements: readers[table]})
		}
	}
	taken := map[string]bool{}
	for _, table := range t.existing {
		taken[table.Name] = true
	}
	for n, table := range t.candidates {
		if !c[n] {
			continue
		}
		name := table.Name
		if name == "" {
			name = tableName(table, taken)
		}
		taken[name] = true
		d.Tables = append(d.Tables, &Table{Table: table, Name: name, CQL: table.CQL(t.keyspace(table), name), Bytes: t.arithmetic.TableBytes(table), Statements: readers[table]})
	}
	return d
}

// keyspace is where a candidate goes: where its base is, else where all existing tables are.
func (t *task) keyspace(table *model.Table) string {
	if table.Keyspace != "" {
		return table.Keyspace
	}
	keyspace := ""
	for _, e := range t.existing {
		if keyspace != "" && e.Keyspace != keyspace {
			return ""
		}
		keyspace = e.Keyspace
	}
	return keyspace
}

// planOf is the cheapest plan of a query of the workload under a choice, nil if there is none.
func (t *task) planOf(statement int, c choice) *plan.Plan {
	for _, d := range t.demands {
		if d.statement == statement && d.needed == nil {
			p, _ := d.space.Cheapest(t.priceOf(d), t.chosen(c))
			return p
		}
	}
	return nil
}

// writes plans a write: support queries, then what is written, for each table. Support queries that several tables need
// are planned with the first and paid once.
func (t *task) writes(statement int, c choice, m cost.Model, readers map[*model.Table][]string) (plans []*plan.WritePlan, now, before cost.Cost) {
	s := t.work.Statements[statement]
	for _, table := range t.existing {
		if t.arithmetic.Modifies(s.Write, table) {
			p := &plan.WritePlan{Write: s.Write, Table: table, Steps: t.arithmetic.WriteSteps(s.Write, table, nil)}
			plans = append(plans, p)
			before = before.Plus(cost.Write(m, p))
		}
	}
	now = before
	paid := map[*demand]bool{}
	for n, table := range t.candidates {
		if !c[n] || !t.arithmetic.Modifies(s.Write, table) {
			continue
		}
		p := &plan.WritePlan{Write: s.Write, Table: table, Steps: t.writeSteps(statement, n)}
		for _, d := range t.supports[kept{statement, n}] {
			if paid[d] {
				continue
			}
			paid[d] = true
			support, _ := d.space.Cheapest(t.priceOf(d), t.chosen(c))
			p.Support = append(p.Support, support)
			now = now.Plus(cost.Plan(m, support).Times(d.times))
			for _, read := range support.Tables() {
				if ids := readers[read]; len(ids) == 0 || ids[len(ids)-1] != s.ID {
					readers[read] = append(ids, s.ID)
				}
			}
		}
		plans = append(plans, p)
		for i := range p.Steps {
			now = now.Plus(m.Step(&p.Steps[i], false))
		}
	}
	return plans, now, before
}

// tableName makes a name of what a table is for: entities_by_partition_key.
func tableName(table *model.Table, taken map[string]bool) string {
	what := table.Tree.Entities[0]
	for _, e := range table.Tree.Entities { // the entity of which there is a row each
		if len(table.Tree.Determined(e).Entities) == len(table.Tree.Entities) {
			what = e
			break
		}
	}
	name := model.Identifier(what.Name)
	if table.Base != nil {
		name = "helenus_" + table.Base.Name
	}
	name += "_by"
	for _, f := range table.Partition {
		name += "_" + table.ColumnName(f)
	}
	name = name[:min(len(name), 44)]
	if !taken[name] {
		return name
	}
	for i := 2; ; i++ {
		if next := fmt.Sprintf("%s_%d", name, i); !taken[next] {
			return next
		}
	}
}

// rejections says why candidates were not chosen: for each that some query could read, what it would save and cost. The
// nearest to being chosen come first, at most as many as listed, but all look-up tables.
func (t *task) rejections(c choice) []Rejection {
	const listed = 25
	total, _ := t.total(c)
	var list []Rejection
	for n, table := range t.candidates {
		if c[n] {
			continue
		}
		r, ok := t.reject(n, c, total)
		if ok {
			r.Table = table
			list = append(list, r)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		if (list[i].Table.Base != nil) != (list[j].Table.Base != nil) {
			return list[i].Table.Base != nil
		}
		return list[i].Saves-list[i].Costs > list[j].Saves-list[j].Costs
	})
	for i := range list {
		if i >= listed && list[i].Table.Base == nil {
			return list[:i]
		}
	}
	return list
}

// reject compares the choice with what it would be with one candidate more.
func (t *task) reject(n int, c choice, total float64) (Rejection, bool) {
	var r Rejection
	with := c.with(n)
	gain, steps := 0.0, 0
	for _, i := range t.readers[n] {
		d := t.demands[i]
		if d.needed != nil {
			continue
		}
		now := t.answer(d, c).work
		way, work := t.forced(d, n, with)
		if way == nil {
			continue
		}
		weight := t.weights[d.statement]
		r.Saves += weight * max(0, now-work)
		length := 0
		for _, a := range way {
			length += len(a.Steps)
		}
		// Name the statement that gains most; if none does, the one that it serves most directly.
		better := weight*(now-work) > gain
		if r.Plan == nil || better || gain <= 0 && !better && length < steps {
			gain, steps = max(0, weight*(now-work)), length
			r.Statement, r.Work, r.Instead = t.work.Statements[d.statement].ID, work, now
			r.Plan = &plan.Plan{Query: d.space.Query}
			for _, a := range way {
				r.Plan.Steps = append(r.Plan.Steps, a.Steps...)
			}
		}
	}
	if r.Plan == nil {
		return r, false // of use only together with other tables that were not chosen, or for support queries
	}
	r.Costs = t.putWork(n)
	feasible := true
	for _, d := range t.demands {
		if d.needed != nil && d.active(with) && !d.active(c) {
			a := t.answer(d, with)
			feasible = feasible && a.feasible
			r.Costs += t.weights[d.statement] * d.times * a.work
		}
	}
	_, fits := t.total(with)
	switch {
	case r.Saves <= 1e-9*(1+total):
		r.Reason = fmt.Sprintf("never cheaper: %s would take %.3g instead of %.3g", r.Statement, r.Work, r.Instead)
	case !feasible:
		r.Reason = fmt.Sprintf("%s would take %.3g instead of %.3g, but to keep it true takes further tables, which cost more than that saves", r.Statement, r.Work, r.Instead)
	case !fits:
		r.Reason = fmt.Sprintf("%s would take %.3g instead of %.3g, but its %.3g MB do not fit into the space limit", r.Statement, r.Work, r.Instead, t.arithmetic.TableBytes(t.candidates[n])/1e6)
	default:
		r.Reason = fmt.Sprintf("writes cost more than reads save: %s would take %.3g instead of %.3g; in all reads would save %.3g a second, writes cost %.3g more", r.Statement, r.Work, r.Instead, r.Saves, r.Costs)
	}
	return r, true
}

// forced is the cheapest way of a demand that reads a candidate.
func (t *task) forced(d *demand, n int, c choice) ([]*plan.Arc, float64) {
	allowed := t.chosen(c)
	price := t.priceOf(d)
	best, least := []*plan.Arc(nil), math.Inf(1)
	for _, a := range d.space.Arcs {
		if t.candidates[n] != a.Table {
			continue
		}
		head, before, ok := d.space.CheapestBetween(plan.Start, a.From, price, allowed)
		if !ok {
			continue
		}
		tail, after, ok := d.space.CheapestBetween(a.To, plan.Answered, price, allowed)
		if !ok {
			continue
		}
		if sum := before + price(a) + after; sum < least {
			least = sum
			best = append(append(head, a), tail...)
		}
	}
	return best, least
}

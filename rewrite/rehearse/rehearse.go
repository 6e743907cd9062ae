package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// The bounds of a trial. Worlds go on until each query was answered with rows and each write was carried out.
const (
	worlds      = 3
	mostWorlds  = 6
	asks        = 4     // of a query, at the start of a world
	asksAfter   = 2     // of each, after a write
	writesEach  = 2     // times that each write is said in a world
	draws       = 6     // for a write that would break the model's word
	mostSent    = 12000 // requests
	mostCounter = 8     // rows of a counter-example
)

// unnamed is the keyspace of tables that name none.
const unnamed = "helenus_rehearsal"

// rehearsal is one trial of a design.
type rehearsal struct {
	work    *workload.Workload
	schema  *schema.Schema
	tables  []*model.Table // as they are named
	named   map[*model.Table]*model.Table
	reads   []*read
	writes  []*write
	pool    map[*model.Attribute][][]byte
	session *cassandra
	sent    int // requests, to sessions before
	trial   *design.Trial
}

type read struct {
	id       string
	query    *workload.Query
	program  *planrun.Program
	answered bool
	untried  string // why it can not be tried
	wrong    bool
}

type write struct {
	statement *workload.Statement
	program   *planrun.WriteProgram
	applied   bool
	untried   string
}

// Design carries a design of a workload out on made entities, and says what differs.
func Design(ctx context.Context, w *workload.Workload, d *design.Design) (*design.Trial, error) {
	r := &rehearsal{work: w, named: map[*model.Table]*model.Table{}, pool: literals(w), schema: &schema.Schema{}, trial: &design.Trial{}}
	if err := r.define(d); err != nil {
		return nil, err
	}
	r.compile(d)
	for n := uint64(0); n < worlds || n < mostWorlds && !r.enough(); n++ {
		if err := r.world(ctx, n); err != nil {
			return nil, err
		}
		if r.spent() || len(r.trial.Wrong) > 0 && n+1 >= worlds {
			break
		}
	}
	r.tell(d)
	return r.trial, nil
}

// define makes the tables by what is printed of them; those that are there by what they are.
func (r *rehearsal) define(d *design.Design) error {
	var err error
	for _, t := range d.Tables {
		texts := t.DDL()
		keyspace := t.Table.Keyspace
		if texts == nil {
			texts = []string{t.Table.CQL(keyspace, t.Name)}
		}
		before := count(r.schema)
		if r.schema, err = lint.Define(r.schema, unnamed, texts...); err != nil {
			return fmt.Errorf("what is printed of table %s can not be run: %w", t.Name, err)
		}
		own := *t.Table
		own.Name, own.Keyspace = t.Name, unnamed
		for _, k := range r.schema.Keyspaces {
			for i := range k.Tables {
				k.Tables[i].Counter = false // a count is a value like any
				if k.Tables[i].Name == t.Name && !before[k.Name+"."+t.Name] {
					own.Keyspace = k.Name
				}
			}
		}
		r.named[t.Table] = &own
		r.tables = append(r.tables, &own)
	}
	for _, t := range r.tables {
		if t.Base != nil {
			if t.Base = r.named[t.Base]; t.Base == nil {
				return fmt.Errorf("the rows that table %s looks up are in no table of the design", t.Name)
			}
		}
	}
	return nil
}

// count lists the tables of a schema.
func count(s *schema.Schema) map[string]bool {
	names := map[string]bool{}
	if s != nil {
		for _, k := range s.Keyspaces {
			for _, t := range k.Tables {
				names[k.Name+"."+t.Name] = true
			}
		}
	}
	return names
}

// steps are those of a plan, over tables as they are named.
func (r *rehearsal) steps(list []plan.Step) []plan.Step {
	list = slices.Clone(list)
	for i := range list {
		if t := r.named[list[i].Table]; t != nil {
			list[i].Table = t
		}
	}
	return list
}

// plan is one over tables as they are named.
func (r *rehearsal) plan(p *plan.Plan) *plan.Plan {
	return &plan.Plan{Query: p.Query, Steps: r.steps(p.Steps)}
}

// few is a query and its plan with limits that cut among the few rows that there are: the same number is the same afterwards, too.
func few(q *workload.Query, p *plan.Plan) (*workload.Query, *plan.Plan) {
	own := *q
	less := map[int]int{}
	for _, n := range []*int{&own.Limit, &own.PerLimit} {
		if *n > 2 {
			if less[*n] == 0 {
				less[*n] = 2 + len(less)
			}
			*n = less[*n]
		}
	}
	p.Query = &own
	for i := range p.Steps {
		for _, n := range []*int{&p.Steps[i].Limit, &p.Steps[i].PerPartition} {
			if less[*n] > 0 {
				*n = less[*n]
			}
		}
	}
	return &own, p
}

// compile makes programs of all plans.
func (r *rehearsal) compile(d *design.Design) {
	for _, s := range d.Statements {
		switch {
		case s.Plan != nil:
			query, p := few(s.Plan.Query, r.plan(s.Plan))
			one := &read{id: s.Statement.ID, query: query}
			var err error
			if one.program, err = planrun.Compile(p); err != nil {
				one.untried = err.Error()
			}
			r.reads = append(r.reads, one)
		case s.Statement.Write != nil:
			one := &write{statement: s.Statement}
			var plans []*plan.WritePlan
			for _, p := range s.Writes {
				t := r.named[p.Table]
				if t == nil || t.Existing { // the application's own
					continue
				}
				own := &plan.WritePlan{Write: p.Write, Table: t, Steps: r.steps(p.Steps)}
				for _, q := range p.Support {
					own.Support = append(own.Support, r.plan(q))
				}
				plans = append(plans, own)
			}
			if len(plans) > 0 {
				var err error
				if one.program, err = planrun.CompileWrite(s.Statement.Write, plans); err != nil {
					one.untried = err.Error()
				}
			}
			r.writes = append(r.writes, one)
		}
	}
}

// world tries all on one world.
func (r *rehearsal) world(ctx context.Context, number uint64) error {
	w := newWorld(r.work.Graph, r.pool, randomOf(number, 1))
	if r.session != nil {
		r.sent += r.session.sent
	}
	r.session = newCassandra(r.schema, unnamed)
	for _, t := range r.tables {
		if err := r.fill(w, t); err != nil {
			return fmt.Errorf("filling table %s: %w", t.Name, err)
		}
	}
	for i, q := range r.reads {
		for n := range asks {
			if err := r.ask(ctx, w, q, randomOf(number, 2, uint64(i), uint64(n)), ""); err != nil { //nolint:gosec // few
				return err
			}
		}
	}
	var turns []int
	for i := range r.writes {
		for range writesEach {
			turns = append(turns, i)
		}
	}
	random := randomOf(number, 3)
	random.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	for n, i := range turns {
		if r.spent() || len(r.trial.Wrong) > 0 && r.blamed() {
			return nil
		}
		x := r.writes[i]
		if x.untried != "" && x.applied {
			continue
		}
		next, said, err := r.change(ctx, w, x, number, uint64(n)) //nolint:gosec // few
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		w = next
		if x.untried != "" {
			return nil // the tables are not what they would be any more
		}
		for j, q := range r.reads {
			for again := range uint64(asksAfter) {
				if err := r.ask(ctx, w, q, randomOf(number, 4, uint64(n), uint64(j), again), said); err != nil { //nolint:gosec // few
					return err
				}
			}
		}
	}
	return nil
}

// blamed tells whether a write has spoilt the tables.
func (r *rehearsal) blamed() bool { return r.trial.Wrong[len(r.trial.Wrong)-1].After != "" }

// spent tells whether there were as many requests as there may be.
func (r *rehearsal) spent() bool { return r.sent+r.session.sent > mostSent }

// change says a write with some parameters that keep the model's word. It returns the world after it, nil if there are none, and the write in words.
func (r *rehearsal) change(ctx context.Context, w *world, x *write, number, turn uint64) (*world, string, error) {
	for n := range uint64(draws) {
		next := w.clone()
		next.random = randomOf(number, 5, turn, n)
		with, ok := next.told(x.statement.Write)
		if !ok || !next.apply(x.statement.Write, with) {
			continue
		}
		if x.untried != "" {
			return nil, "", nil
		}
		if x.program != nil {
			if err := x.program.Run(ctx, r.session, with, planrun.RunOptions{Parallel: 1}); err != nil {
				if ctx.Err() != nil {
					return nil, "", ctx.Err()
				}
				x.untried = reason(err)
				return next, "", nil
			}
		}
		x.applied = true
		for _, t := range r.tables {
			if !t.Existing || !plan.Modifies(x.statement.Write, t) {
				continue
			}
			if err := r.session.empty(t); err != nil {
				return nil, "", err
			}
			if err := r.fill(next, t); err != nil {
				return nil, "", err
			}
		}
		return next, x.statement.String() + " " + values(x.statement.Write.Parameters(), with), nil
	}
	return nil, "", nil
}

// ask asks a query once and notes what differs.
func (r *rehearsal) ask(ctx context.Context, w *world, q *read, random rnd, after string) error {
	if q.untried != "" || q.wrong || r.spent() {
		return nil
	}
	own := *w
	own.random = random
	query, with := q.query, planrun.Parameters{}
	row, ok := own.conditions(query.Tree, query.Where, with)
	if !ok || !own.known(query.Known, row, with) {
		return nil
	}
	whole, ok := own.answer(query, with)
	if !ok {
		return nil
	}
	rows, err := q.program.Run(ctx, r.session, with, planrun.RunOptions{Parallel: 1})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.untried = reason(err)
		return nil
	}
	q.answered = q.answered || len(whole) > 0
	got := written(rows)
	how, want := wrong(query, whole, got)
	if how == "" {
		return nil
	}
	q.wrong = true
	r.trial.Wrong = append(r.trial.Wrong, design.Counter{Statement: q.id, With: values(query.Parameters(), with), After: after, How: how,
		Was: got[:min(len(got), mostCounter)], Right: want[:min(len(want), mostCounter)]})
	return nil
}

// enough tells whether each query was answered with rows, and each write carried out.
func (r *rehearsal) enough() bool {
	return !slices.ContainsFunc(r.reads, func(q *read) bool { return !q.answered && q.untried == "" }) &&
		!slices.ContainsFunc(r.writes, func(x *write) bool { return !x.applied && x.untried == "" })
}

// tell notes what was not tried. Of a write that always breaks what the model says the design warns already.
func (r *rehearsal) tell(d *design.Design) {
	add := func(id, why string) {
		r.trial.Untried = append(r.trial.Untried, design.Untried{Statement: id, Reason: why})
	}
	for _, q := range r.reads {
		switch {
		case q.wrong:
		case q.untried != "":
			add(q.id, q.untried)
		case !q.answered:
			add(q.id, "none of the entities that were made answers it")
		}
	}
	for _, x := range r.writes {
		switch {
		case x.untried != "":
			add(x.statement.ID, x.untried)
		case !x.applied && !slices.ContainsFunc(d.Breaches, func(b design.Breach) bool { return b.Always && b.Statement == x.statement.ID }):
			add(x.statement.ID, "for none of the entities that were made it keeps what the model says")
		}
	}
}

// reason is why something can not be run here, without the request.
func reason(err error) string {
	var unknown *memory.UnknownError
	if errors.As(err, &unknown) {
		return unknown.Error()
	}
	return err.Error()
}

// values writes parameters.
func values(list []workload.Parameter, with planrun.Parameters) string {
	var parts []string
	for _, p := range list {
		var each []string
		for _, v := range with[p.Name] {
			each = append(each, shown(p.Field.Attribute.Type, v))
		}
		parts = append(parts, p.Name+" "+strings.Join(each, ", "))
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

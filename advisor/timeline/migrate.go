package timeline

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// joinedOn are the keys by which a source's rows are joined to those of the sources before.
func joinedOn(tree model.Tree, before []Source, source *plan.Source) []model.Field {
	var on []model.Field
	for _, e := range tree.Entities {
		key := e.KeyFields()
		held := slices.ContainsFunc(before, func(b Source) bool { return hasAll(&b, key) })
		if !held && len(before) > 0 {
			held = heldTogether(before, key)
		}
		if held && !slices.ContainsFunc(key, func(f model.Field) bool { return !source.Holds(f) }) {
			on = model.AppendNew(on, key...)
		}
	}
	return on
}

func hasAll(b *Source, key []model.Field) bool {
	return !slices.ContainsFunc(key, func(f model.Field) bool { return !b.Has(f) })
}

func heldTogether(list []Source, key []model.Field) bool {
	return !slices.ContainsFunc(key, func(f model.Field) bool {
		return !slices.ContainsFunc(list, func(b Source) bool { return b.Has(f) })
	})
}

// Has reports whether the source has a field of the target's graph.
func (b *Source) Has(f model.Field) bool {
	column := b.As.Column(f)
	return !column.IsZero() && b.Table.Has(column)
}

// rowsOf asks for all rows of a table.
func rowsOf(target *model.Table) *workload.Query {
	return &workload.Query{Tree: target.Tree, Select: target.Fields()}
}

// planMigration looks for a plan of the migration that needs no parameters, over its sources alone: nil if there is none.
func (s *search) planMigration(m *Migration) {
	var tables []*model.Table
	own := map[*model.Table]*model.Table{} // what stands for what
	for i := range m.Sources {
		scanned := *m.Sources[i].Table
		scanned.ScanAllowed = true
		own[&scanned] = m.Sources[i].Table
		tables = append(tables, &scanned)
	}
	space, err := plan.NewSpace(rowsOf(m.Target), tables, cost.Arithmetic(s.options.Cost))
	if err != nil {
		return // too large to be planned: its sources can be scanned
	}
	price := func(a *plan.Arc) float64 {
		sum := 0.0
		for i := range a.Steps {
			sum += s.options.Cost.Step(&a.Steps[i], a.From == plan.SourceState && i == 0).Work
		}
		return sum
	}
	p, _ := space.Cheapest(price, func(*model.Table) bool { return true })
	if p == nil {
		return
	}
	for i := range p.Steps {
		if t := own[p.Steps[i].Table]; t != nil {
			p.Steps[i].Table = t
		}
	}
	m.Plan = p
}

// Question is a migration query: its plans over the tables of the step before are what a target may be filled by.
type Question struct {
	Of    string // ID of the statement that it is made of; "": it is the complement
	Query *workload.Query
}

// migrationQueries are the migration queries of a target: of each query of the workload whose plans read it, the same FROM and
// WHERE without groups, order and limits, selecting what the target holds (W-26); and the complement, the target's partition
// key in WHERE and all else in SELECT (W-27).
func (t *task) migrationQueries(target *model.Table) []Question {
	var list []Question
	for i := range t.demands {
		d := &t.demands[i]
		if d.Needed != nil {
			continue
		}
		for _, a := range d.Space.Arcs {
			if a.Table == target {
				list = append(list, Question{t.work.Statements[d.Statement].ID, sourceQuery(d.Space.Query, target, a)})
				break
			}
		}
	}
	return append(list, Question{"", complementQuery(target)})
}

// sourceQuery is a query as it asks for a target that an arc of its plans reads.
func sourceQuery(q *workload.Query, target *model.Table, a *plan.Arc) *workload.Query {
	own := &workload.Query{Tree: q.Tree, Where: q.Where}
	for i := range a.Steps {
		if s := &a.Steps[i]; s.Table == target {
			for _, column := range target.Fields() {
				if f := s.As.Field(column); !f.IsZero() && q.Tree.Has(f.Entity) {
					own.Select = model.AppendNew(own.Select, f)
				}
			}
		}
	}
	return own
}

// complementQuery asks for a target by its partition key.
func complementQuery(target *model.Table) *workload.Query {
	q := &workload.Query{Tree: target.Tree}
	for _, f := range target.Partition {
		q.Where = append(q.Where, workload.Predicate{Field: f, Op: workload.Equal, Value: "?"})
	}
	for _, f := range target.Fields() {
		if !slices.Contains(target.Partition, f) {
			q.Select = append(q.Select, f)
		}
	}
	if len(q.Select) == 0 {
		q.Select = target.Fields()
	}
	return q
}

// setQuestion finds the migration query of which a migration's sources are a plan: the first whose plans over those alone there
// are. Where it is none of them, the target's rows without a condition are what is asked.
func (s *search) setQuestion(m *Migration) {
	var tables []*model.Table
	for i := range m.Sources {
		tables = append(tables, m.Sources[i].Table)
	}
	for _, q := range s.migrationQueries(m.Target) {
		if space, err := plan.NewSpace(q.Query, tables, cost.Arithmetic(s.options.Cost)); err == nil && len(space.Arcs) > 0 {
			m.Question, m.Of = q.Query, q.Of
			return
		}
	}
	m.Question = rowsOf(m.Target)
}

// tableNamer names the tables that a migration's plan reads.
func (x *Step) tableNamer(m *Migration) func(*model.Table) string {
	return func(t *model.Table) string {
		for _, s := range m.Sources {
			if s.Table == t {
				return s.Name
			}
		}
		return t.Name
	}
}

package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
)

// Planned is a query with the plan that answers it.
type Planned struct {
	Statement *workload.Statement
	Plan      *plan.Plan // nil: none
}

// FromWorkload makes an input of a workload over tables: each query is planned over them as cheaply as can be. Tables must have
// names. The error is one of the tables' definitions.
func FromWorkload(w *workload.Workload, tables []*model.Table) (*Input, error) {
	planned := []Planned{}
	for _, s := range w.Statements {
		if s.Query != nil {
			planned = append(planned, Planned{s, cheapestPlan(s.Query, tables)})
		}
	}
	return FromPlans(w, tables, planned)
}

// cheapestPlan is the plan of least work; one that scans only if there is no other.
func cheapestPlan(q *workload.Query, tables []*model.Table) *plan.Plan {
	scanned := make([]*model.Table, len(tables))
	original := map[*model.Table]*model.Table{}
	for i, t := range tables {
		own := *t
		own.ScanAllowed = true
		scanned[i] = &own
		original[&own] = t
	}
	m := cost.Default()
	price := func(a *plan.Arc) float64 {
		work := 0.0
		for i := range a.Steps {
			work += m.Step(&a.Steps[i], a.From == plan.SourceState && i == 0).Work
		}
		return work
	}
	for _, list := range [][]*model.Table{tables, scanned} {
		space, err := plan.NewSpace(q, list, nil)
		if err != nil {
			continue
		}
		if p, _ := space.Cheapest(price, func(*model.Table) bool { return true }); p != nil {
			for i := range p.Steps {
				if t := original[p.Steps[i].Table]; t != nil {
					p.Steps[i].Table = t
				}
			}
			return p
		}
	}
	return nil
}

// FromPlans makes an input of a workload whose queries are answered by plans over tables.
func FromPlans(w *workload.Workload, tables []*model.Table, planned []Planned) (*Input, error) {
	in := &Input{Name: w.Name, Facts: map[Reference]*Fact{}}
	for _, t := range tables {
		var err error
		if in.Schema, err = Define(in.Schema, t.Keyspace, definitions(t)...); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		in.Facts[Reference{t.Keyspace, t.Name}] = factOf(t)
	}
	if in.Schema == nil {
		in.Schema, _ = Define(nil, "") // no statement, no error
	}
	for _, x := range planned {
		in.Questions = append(in.Questions, questionOf(x))
	}
	for _, s := range w.Statements {
		if s.Write != nil {
			in.Writes = append(in.Writes, classifyWrite(s, tables))
		}
	}
	in.Attributes = attributesOf(w.Graph, tables)
	return in, nil
}

// definitions are the statements that make a table and its indexes.
func definitions(t *model.Table) []string {
	out := []string{t.CQL(t.Keyspace, t.Name)}
	for _, x := range t.Indexes {
		using := ""
		if x.SAI {
			using = " USING 'sai'"
		}
		out = append(out, fmt.Sprintf("CREATE INDEX %s ON %s (%s)%s", model.Quote(x.Name), quotedName(Reference{t.Keyspace, t.Name}), model.Quote(t.ColumnName(x.Field)), using))
	}
	return out
}

// factOf says what a table of a model is.
func factOf(t *model.Table) *Fact {
	f := &Fact{Rows: t.Entries(), RowBytes: t.RowBytes(), Partitions: t.Partitions(), Distinct: map[string]float64{}, Named: map[string]bool{}, Bucketed: t.Bucket != nil}
	if t.Bucket != nil {
		if len(t.Partition) == 0 { // nothing but the bucket
			f.Partitions = 1
		}
		f.Partitions *= max(1, t.Bucket.Count)
	}
	roots := rules.Identity(t)
	var of []string
	whole := *t
	whole.Existing = false
	for _, e := range roots {
		of = append(of, e.Name)
		if whole.Identifies() {
			for _, k := range e.KeyFields() {
				if t.InKey(k) {
					f.Key = append(f.Key, Column{t.ColumnName(k), t.ColumnType(k)})
				}
			}
			continue
		}
		for _, k := range e.KeyFields() {
			if c := k.Attribute.Copied; c == nil || !hasCopy(t, k) {
				f.Key = append(f.Key, Column{t.ColumnName(k), t.ColumnType(k)})
			}
		}
	}
	f.Of = strings.Join(of, " and ")
	for _, x := range t.Fields() {
		name := t.ColumnName(x)
		f.Distinct[name] = x.Distinct()
		f.Named[name] = x.IsKey() || slices.ContainsFunc(x.Entity.Alternate, func(key []*model.Attribute) bool { return slices.Contains(key, x.Attribute) })
	}
	for _, x := range rules.Statics(t) {
		f.Statics = append(f.Statics, t.ColumnName(x))
	}
	return f
}

// hasCopy reports whether the primary key has what an attribute is a copy of.
func hasCopy(t *model.Table, k model.Field) bool {
	for _, r := range t.Tree.Edges {
		if owner := r.Other(k.Entity); owner != nil && r.Base() == k.Attribute.Copied.Edge && t.InKey(model.Field{Entity: owner, Attribute: k.Attribute.Copied.Of}) {
			return true
		}
	}
	return false
}

// questionOf writes a planned query as SELECTs.
func questionOf(x Planned) Question {
	s := x.Statement
	q := Question{ID: s.ID, Text: s.String(), Access: rules.AccessOfPlan(x.Plan)}
	if trace, err := rules.Map(s.Query); err == nil {
		q.Mapped = trace
	}
	if x.Plan == nil {
		q.Lost = "no table, and no tables one after the other, hold its answer"
		return q
	}
	reads := readsOf(x.Plan)
	for i := range reads {
		q.Reads = append(q.Reads, Read{Keyspace: reads[i].table.Keyspace, Select: reads[i].buildSelect(s.Query, len(reads) == 1), Client: reads[i].client})
	}
	return q
}

// plannedRead is a read of a plan with all conditions on its table.
type plannedRead struct {
	table  *model.Table
	step   *plan.Step
	where  []plan.Binding
	sort   bool // the client sorts
	client bool // or leaves rows out
}

// readsOf lists the reads of a plan, with the client's conditions that are on columns of theirs.
func readsOf(p *plan.Plan) []*plannedRead {
	var out []*plannedRead
	for i := range p.Steps {
		s := &p.Steps[i]
		switch s.Kind {
		case plan.Get, plan.IndexGet, plan.Scan:
			r := &plannedRead{table: s.Table, step: s, where: slices.Concat(s.Partition, s.Clustering)}
			if !s.Verify { // then the reader checks the rows of its own accord, which are those that were asked for
				r.where = append(r.where, s.Where...)
			}
			out = append(out, r)
		case plan.Filter:
			for _, b := range s.Where {
				for j := len(out) - 1; j >= 0; j-- {
					if out[j].columnOf(b.Field) != "" && b.Op != workload.NotEqual {
						out[j].where, out[j].client = append(out[j].where, b), true
						break
					}
				}
			}
		case plan.Sort:
			if len(out) > 0 {
				out[len(out)-1].sort, out[len(out)-1].client = true, true
			}
		}
	}
	return out
}

// columnOf is the name of the column that holds a field, "" if there is none.
func (r *plannedRead) columnOf(f model.Field) string {
	if r.step.As != nil {
		f = r.step.As.Column(f)
	}
	if f.IsZero() || !r.table.Has(f) {
		return ""
	}
	return r.table.ColumnName(f)
}

// operators of conditions in CQL; a prefix is a range.
var operators = map[workload.Op]cql.Op{
	workload.Equal: cql.OpEQ, workload.In: cql.OpIn, workload.Less: cql.OpLT, workload.LessOrEqual: cql.OpLE,
	workload.Greater: cql.OpGT, workload.GreaterOrEqual: cql.OpGE, workload.Like: cql.OpGE,
}

// buildSelect writes the SELECT. Only one that answers the query alone is sorted.
func (r *plannedRead) buildSelect(q *workload.Query, alone bool) *cql.Select {
	s := &cql.Select{Table: cql.TableRef{Keyspace: r.table.Keyspace, Table: r.table.Name}, AllowFiltering: r.step.Kind == plan.Scan}
	for _, f := range r.step.Fields {
		if c := r.columnOf(f); c != "" {
			s.Columns = append(s.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: c}})
		}
	}
	n := 0
	add := func(column string, op cql.Op) {
		s.Where = append(s.Where, cql.Relation{Columns: []string{column}, Op: op, Value: &cql.Marker{Index: n}})
		n++
	}
	for _, b := range r.where {
		if c := r.columnOf(b.Field); c != "" {
			add(c, operators[b.Op])
		}
	}
	if b := r.table.Bucket; b != nil {
		op := cql.OpEQ
		if len(r.step.Bucket) == 0 && b.Count > 1 {
			op = cql.OpIn
		}
		add(r.table.BucketColumn(), op)
	}
	for _, l := range []struct {
		n  int
		to *cql.Term
	}{{r.step.Limit, &s.Limit}, {r.step.PerPartition, &s.PerPartitionLimit}} {
		if l.n > 0 && !r.client {
			*l.to = &cql.Literal{Kind: cql.LiteralInteger, Text: strconv.Itoa(l.n)}
		}
	}
	if alone && (r.sort || r.step.Reverse) && len(q.Aggregates) == 0 {
		for _, o := range q.OrderBy {
			if c := r.columnOf(o.Field); c != "" {
				s.OrderBy = append(s.OrderBy, cql.Ordering{Column: c, Descending: o.Desc})
			}
		}
	}
	return s
}

// classifyWrite classifies a write: it changes rows of as many tables.
func classifyWrite(s *workload.Statement, tables []*model.Table) Classified {
	c := Classified{Statement: s.ID, Text: s.String(), Access: rules.None, Tables: []string{}}
	for _, t := range tables {
		if plan.Modifies(s.Write, t) {
			c.Tables = append(c.Tables, Reference{t.Keyspace, t.Name}.String())
		}
	}
	switch len(c.Tables) {
	case 0:
	case 1:
		c.Access = rules.Partition
		for _, t := range tables {
			if plan.Modifies(s.Write, t) && len(plan.SupportQueries(s.Write, t)) > 0 {
				c.Access = rules.MultiTable // it reads before it writes
			}
		}
	default:
		c.Access = rules.MultiTable
	}
	return c
}

// attributesOf lists the attributes of a model with the columns that hold them. A copy of another entity's key may stand as
// what it is a copy of.
func attributesOf(g *model.Graph, tables []*model.Table) []Attribute {
	var out []Attribute
	for _, e := range g.Entities {
		owner := homeTable(e, tables)
		var create string
		if owner == nil {
			made := &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Partition: e.KeyFields()}
			for _, a := range e.Attributes {
				if f := (model.Field{Entity: e, Attribute: a}); !f.IsKey() {
					made.Values = append(made.Values, f)
				}
			}
			owner = made
			owner.Name = rules.Plural(e.Name)
			if len(tables) > 0 {
				owner.Keyspace = tables[0].Keyspace
			}
			create = made.CQL(owner.Keyspace, owner.Name)
		}
		for _, a := range e.Attributes {
			f := model.Field{Entity: e, Attribute: a}
			x := Attribute{Name: f.String(), Owner: Reference{owner.Keyspace, owner.Name}, Create: create, Home: &Column{columnFor(owner, f), a.Type}}
			for _, t := range tables {
				for _, place := range t.Whole().Entities {
					at := model.Field{Entity: place, Attribute: a}
					if place.Base() == e && t.Has(at) {
						x.Places = append(x.Places, Place{Reference{t.Keyspace, t.Name}, t.ColumnName(at)})
					} else if n := t.NestOf(at); place.Base() == e && n != nil {
						x.Places = append(x.Places, Place{Reference{t.Keyspace, t.Name}, t.NestColumn(at)})
					}
				}
			}
			if a.Copied != nil && len(x.Places) == 0 {
				x.Places = copiedColumns(a, tables)
			}
			out = append(out, x)
		}
	}
	return out
}

// copiedColumns are the columns of what an attribute is a copy of, in tables that hold both its entities.
func copiedColumns(a *model.Attribute, tables []*model.Table) []Place {
	var out []Place
	for _, t := range tables {
		for _, e := range t.Tree.Entities {
			f := model.Field{Entity: e, Attribute: a.Copied.Of}
			if t.Has(f) && slices.ContainsFunc(t.Tree.Edges, func(r *model.Relationship) bool { return r.Base() == a.Copied.Edge }) {
				out = append(out, Place{Reference{t.Keyspace, t.Name}, t.ColumnName(f)})
			}
		}
	}
	return out
}

// columnFor is the name of the column that a field would have in a table.
func columnFor(t *model.Table, f model.Field) string {
	name := model.Identifier(f.Attribute.Name)
	for _, x := range t.Fields() {
		if x != f && t.ColumnName(x) == name {
			return model.Identifier(f.Entity.Name) + "_" + name
		}
	}
	return name
}

// homeTable is the table that an entity's own attributes belong to: one of nothing else, with its key for primary key.
func homeTable(e *model.Entity, tables []*model.Table) *model.Table {
	for _, t := range tables {
		if len(t.Tree.Entities) == 1 && t.Tree.Entities[0] == e && len(t.Key()) == len(e.Key) && t.Identifies() {
			return t
		}
	}
	for _, t := range tables {
		if roots := rules.Identity(t); len(roots) == 1 && roots[0] == e && t.Identifies() {
			return t
		}
	}
	return nil
}

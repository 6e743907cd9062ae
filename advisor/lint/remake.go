package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// remade makes the table that the mapping rules make of one SELECT: its table taken for an entity whose attributes are the
// columns, and whose key is that of what rows stand for, or the whole primary key.
func (in *Input) remade(f *Finding, t *schema.Table) (*Fix, error) {
	if t == nil || f.read == nil {
		return nil, fmt.Errorf("the table is not known")
	}
	if t.Counter {
		return nil, fmt.Errorf("%s counts: counters can not be copied to another table", t.Name)
	}
	var by []string
	for _, name := range restricted(f.read.Select) {
		by = append(by, model.Identifier(name))
	}
	if len(by) == 0 {
		return nil, fmt.Errorf("it asks for all rows: only a condition, or another way to go over them (token ranges), would help")
	}
	g, e, fact := in.asEntity(t)
	q, err := asQuery(f.read.Select, t, e)
	if err != nil {
		return nil, err
	}
	trace, err := rules.Map(g, q)
	if err != nil {
		return nil, err
	}
	trace.Table.Columns = map[model.Field]string{}
	for _, a := range e.Attributes {
		trace.Table.Columns[model.Field{Entity: e, Attribute: a}] = a.Name
	}
	on := refOf(t)
	trace.Name = in.free(on, model.Identifier(t.Name)+"_by_"+strings.Join(by, "_"))
	on.Table = trace.Name
	read, err := parseSelect(trace.CQL(on.Keyspace))
	if err != nil {
		return nil, err
	}
	made := *fact
	made.Statics = nil
	made.Bucketed = trace.Table.Bucket != nil
	if made.Partitions = 0; made.Bucketed {
		made.Partitions = max(1, trace.Table.Bucket.Count)
	}
	return &Fix{
		CQL: []string{trace.Table.CQL(on.Keyspace, trace.Name)}, Statements: []string{read.String()},
		Says:     "Make the table, copy the rows, write to both, and read this one." + remains(trace),
		question: f.with(read), facts: map[Reference]*Fact{on: &made},
	}, nil
}

// asEntity takes a table for an entity.
func (in *Input) asEntity(t *schema.Table) (*model.Graph, *model.Entity, *Fact) {
	fact := in.fact(refOf(t))
	e := &model.Entity{Name: t.Name, Count: max(1, fact.Rows)}
	for _, c := range t.Columns {
		e.Attributes = append(e.Attributes, &model.Attribute{Name: c.Name, Type: c.Type, Distinct: fact.Distinct[c.Name]})
	}
	for _, k := range fact.Key {
		if a := e.Attribute(k.Name); a != nil {
			e.Key = append(e.Key, a)
		}
	}
	if len(e.Key) == 0 || len(e.Key) < len(fact.Key) {
		e.Key = nil
		for _, c := range t.PrimaryKey() {
			e.Key = append(e.Key, e.Attribute(c.Name))
		}
	}
	return &model.Graph{Entities: []*model.Entity{e}}, e, fact
}

// asQuery takes a SELECT for a query over the entity of its table. The error says what of it has no place there.
func asQuery(s *cql.Select, t *schema.Table, e *model.Entity) (*workload.Query, error) {
	q := &workload.Query{Tree: model.Tree{Entities: []*model.Entity{e}}}
	if len(s.GroupBy) > 0 || s.Distinct || s.PerPartitionLimit != nil {
		return nil, fmt.Errorf("it groups, or asks for one of each: the rules have no table for that")
	}
	mentioned := map[string]bool{}
	for _, x := range s.Columns {
		c, ok := x.Expr.(*cql.ColumnRef)
		if !ok {
			return nil, fmt.Errorf("it selects more than columns: the rules have no table for that")
		}
		mentioned[c.Name] = true
	}
	for _, c := range t.Columns {
		if len(s.Columns) == 0 || mentioned[c.Name] {
			q.Select = append(q.Select, e.Field(c.Name))
		}
	}
	ops := map[cql.Op]workload.Op{
		cql.OpEQ: workload.Equal, cql.OpIn: workload.In, cql.OpLT: workload.Less, cql.OpLE: workload.LessOrEqual, cql.OpGT: workload.Greater, cql.OpGE: workload.GreaterOrEqual,
		cql.OpContains: workload.Equal,
	}
	for _, w := range s.Where {
		op, ok := ops[w.Op]
		if !ok || w.Token || w.Element != nil || len(w.Columns) != 1 {
			return nil, fmt.Errorf("it has a condition that the rules do not know (%s)", strings.Join(w.Columns, ", "))
		}
		field := e.Field(w.Columns[0])
		if field.IsZero() {
			return nil, fmt.Errorf("table %s has no column %s", t.Name, w.Columns[0])
		}
		if _, several := rules.Element(field.Attribute.Type); several != (w.Op == cql.OpContains) {
			return nil, fmt.Errorf("collection %s is compared as a whole: the rules have no table for that", field.Attribute.Name)
		}
		q.Where = append(q.Where, workload.Predicate{Field: field, Op: op, Value: "?"})
	}
	for _, o := range s.OrderBy {
		q.OrderBy = append(q.OrderBy, workload.Order{Field: e.Field(o.Column), Desc: o.Descending})
	}
	if slices.ContainsFunc(q.OrderBy, func(o workload.Order) bool { return o.Field.IsZero() }) {
		return nil, fmt.Errorf("it is sorted by what is no column")
	}
	return q, nil
}

package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Support is a query that a write needs answered before it can be applied to a table (seed 003, section 7.2).
type Support struct {
	Query *workload.Query
	Times float64 // executions per execution of the write
}

// Modifies tells whether a write changes rows of a table.
//
// A verified look-up table is only ever added to: what a delete leaves behind in it is found stale by its readers.
func Modifies(w *workload.Write, t *model.Table) bool {
	for _, at := range Targets(w, t) {
		if modifies(at, t) {
			return true
		}
	}
	return false
}

// modifies is Modifies for a target.
func modifies(w *workload.Write, t *model.Table) bool {
	switch w.Kind {
	case workload.Update:
		for _, f := range sets(w) {
			if t.InKey(f) || t.Base == nil && t.Has(f) {
				return true
			}
		}
		return false
	case workload.Delete:
		return t.Base == nil && t.Tree.Has(w.Entity)
	case workload.Insert:
		if !t.Tree.Has(w.Entity) {
			return false
		}
		if t.Existing {
			return owns(t, w.Entity)
		}
		for _, r := range t.Tree.Edges {
			if r.Other(w.Entity) != nil && !connects(w, r) {
				return false // the new entity is not related, so the join has no row of it
			}
		}
		return true
	case workload.Connect:
		return connects(w, nil) && t.Tree.HasEdge(w.Connections[0].Edge)
	case workload.Disconnect:
		return t.Base == nil && t.Tree.HasEdge(w.Connections[0].Edge)
	}
	return false
}

// owns tells whether an existing table has one row for each e: then inserting e inserts a row. Other existing tables with
// e in their graph hold e because of a relationship.
func owns(t *model.Table, e *model.Entity) bool {
	return len(t.Tree.Determined(e).Entities) == len(t.Tree.Entities)
}

// connects tells whether the write has a connection over r, or any if r is nil.
func connects(w *workload.Write, r *model.Relationship) bool {
	for _, c := range w.Connections {
		if r == nil || c.Edge == r {
			return true
		}
	}
	return false
}

// sets returns the fields that a write gives new values.
func sets(w *workload.Write) []model.Field {
	return append(w.Set[:len(w.Set):len(w.Set)], w.Increments...)
}

// fields is a set of fields.
type fields map[model.Field]bool

func (s fields) add(list ...model.Field) {
	for _, f := range list {
		s[f] = true
	}
}

// known returns the fields whose values the statement brings, as they are before it.
func known(w *workload.Write) fields {
	s := fields{}
	s.add(w.Given...)
	switch w.Kind {
	case workload.Insert:
		s.add(w.Set...)
	case workload.Connect, workload.Disconnect:
		s.add(w.Entity.KeyFields()...)
	}
	for _, c := range w.Connections {
		s.add(c.Entity.KeyFields()...)
	}
	for _, p := range w.Where {
		if p.Op == workload.Equal {
			s.add(p.Field)
		}
	}
	return s
}

// moves tells whether an update changes a field of the table's primary key: then its rows are deleted and put again.
func moves(w *workload.Write, t *model.Table) bool {
	if w.Kind != workload.Update || t.Base != nil {
		return false
	}
	for _, f := range sets(w) {
		if t.InKey(f) {
			return true
		}
	}
	return false
}

// Required returns the fields of the table's rows that must be found out before a write can be applied to it (seed 003,
// algorithm 3, line 1). Attributes of an inserted entity that the statement does not set are null, not required.
func Required(w *workload.Write, t *model.Table) []model.Field {
	have := known(w)
	list := t.Key()
	if w.Kind == workload.Insert || w.Kind == workload.Connect || moves(w, t) {
		list = t.Fields()
	}
	if w.Kind == workload.Update && !moves(w, t) {
		have.add(w.Set...) // the table's key does not change, or only new entries are put
		for _, f := range w.Increments {
			if t.Has(f) && !t.InKey(f) {
				list = append(list, f) // what is added to must be known
			}
		}
	}
	var required []model.Field
	for _, f := range list {
		if have[f] || w.Kind == workload.Insert && f.Entity == w.Entity {
			continue
		}
		required = append(required, f)
	}
	return required
}

// SupportQueries returns the queries that must be answered before a write can be applied to a table that it modifies
// (seed 003, algorithm 3, and figure 12). Existing tables need none: the application knows how it writes them.
func SupportQueries(w *workload.Write, t *model.Table) []Support {
	if t.Existing {
		return nil
	}
	var list []Support
	asked := map[string]bool{}
	for _, at := range Targets(w, t) {
		required := Required(at, t)
		if len(required) == 0 || !modifies(at, t) {
			continue
		}
		support := supportChain
		switch w.Kind {
		case workload.Insert, workload.Connect, workload.Disconnect:
			support = supportAround
		}
		for _, s := range support(at, w, t, required) {
			if key := s.Query.Key(); !asked[key] { // two targets find out which entities the statement speaks of
				asked[key] = true
				list = append(list, s)
			}
		}
	}
	return list
}

// supportAround splits the table's graph at what the statement connects: one query for each part in which something is
// missing, from the entity whose key the statement brings.
func supportAround(w, _ *workload.Write, t *model.Table, required []model.Field) []Support {
	var list []Support
	ask := func(part model.Tree, e *model.Entity) {
		q := &workload.Query{Where: byKey(e), Known: w.Given}
		for _, f := range required {
			if part.Has(f.Entity) {
				q.Select = append(q.Select, f)
			}
		}
		if len(q.Select) > 0 {
			q.Tree = from(part, e)
			list = append(list, Support{q, 1})
		}
	}
	apart := func(r *model.Relationship, _ *model.Entity) bool { return !connects(w, r) }
	for _, c := range w.Connections {
		if t.Tree.HasEdge(c.Edge) {
			ask(t.Tree.Reach(c.Entity, apart), c.Entity)
		}
	}
	if w.Kind != workload.Insert {
		ask(t.Tree.Reach(w.Entity, apart), w.Entity)
	}
	return list
}

// supportChain finds the entities that an update or delete speaks of, unless it names one by key, then for each of them
// what else the table's rows hold.
func supportChain(w, whole *workload.Write, t *model.Table, required []model.Field) []Support {
	var list []Support
	times := 1.0
	have := known(w)
	var rest []model.Field
	named := true
	for _, k := range w.Entity.KeyFields() {
		named = named && have[k]
	}
	if !named {
		list = append(list, Support{&workload.Query{Tree: whole.Tree, Select: whole.Entity.KeyFields(), Where: whole.Where}, 1})
		times = Affected(whole)
	}
	for _, f := range required {
		if f.Entity != w.Entity || !f.IsKey() {
			rest = append(rest, f)
		}
	}
	if len(rest) > 0 {
		entities := []*model.Entity{w.Entity}
		for _, f := range rest {
			entities = append(entities, f.Entity)
		}
		q := &workload.Query{Tree: from(t.Tree.Span(entities), w.Entity), Select: rest, Where: byKey(w.Entity), Known: besides(have, w.Entity)}
		list = append(list, Support{q, times})
	}
	return list
}

// besides returns the known fields, without an entity's key, by name.
func besides(have fields, e *model.Entity) []model.Field {
	var list []model.Field
	for f := range have {
		if f.Entity != e || !f.IsKey() {
			list = append(list, f)
		}
	}
	return model.SortFields(list)
}

func byKey(e *model.Entity) []workload.Predicate {
	var where []workload.Predicate
	for _, k := range e.KeyFields() {
		where = append(where, workload.Predicate{Field: k, Op: workload.Equal, Value: "?"})
	}
	return where
}

// from returns the tree with e first.
func from(tree model.Tree, e *model.Entity) model.Tree {
	return tree.Reach(e, func(*model.Relationship, *model.Entity) bool { return true })
}

// Affected estimates how many entities an update or delete speaks of.
func Affected(w *workload.Write) float64 {
	return max(0, min(Rows(w.Tree, w.Where), w.Entity.Count))
}

// WriteSteps returns the deletes and puts by which a write is applied to a table that it modifies, once the support
// queries are answered.
func WriteSteps(w *workload.Write, t *model.Table) []Step {
	put := Step{Kind: Put, Table: t, Fields: t.Fields()}
	remove := Step{Kind: Remove, Table: t, Fields: t.Key()}
	for _, at := range Targets(w, t) {
		if !modifies(at, t) {
			continue
		}
		rows := writtenRows(at, w, t)
		gone := w.Kind == workload.Delete || w.Kind == workload.Disconnect && !t.Existing
		if gone || moves(at, t) {
			remove.Requests += rows
		}
		if !gone {
			put.Requests += rows
		}
	}
	var steps []Step
	for _, s := range []Step{remove, put} {
		if s.Requests > 0 {
			s.Rows = s.Requests
			if s.Kind == Put {
				s.Bytes = s.Rows * t.RowBytes()
			}
			steps = append(steps, s)
		}
	}
	return steps
}

// writtenRows estimates how many rows of the table a write changes: those of the join that belong to the entities and
// relationships that it speaks of.
func writtenRows(w, whole *workload.Write, t *model.Table) float64 {
	if t.Existing && w.Kind != workload.Update && w.Kind != workload.Delete {
		return 1
	}
	per := func(e *model.Entity) float64 { return t.Entries() / max(1, e.Count) }
	switch w.Kind {
	case workload.Insert:
		// Of each part around the new entity, the rows that belong to the entity it is connected to.
		rows := 1.0
		for _, c := range w.Connections {
			if t.Tree.HasEdge(c.Edge) {
				part := t.Tree.Reach(c.Entity, func(r *model.Relationship, _ *model.Entity) bool { return r != c.Edge })
				rows *= part.Rows() / max(1, c.Entity.Count)
			}
		}
		return rows
	case workload.Connect, workload.Disconnect:
		return t.Entries() / max(1, w.Connections[0].Edge.Pairs())
	}
	return Affected(whole) * per(w.Entity)
}

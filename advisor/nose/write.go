package nose

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Modifies tells whether a write changes rows of a table. Tables of the application and look-up tables are as in package
// plan.
func (Arithmetic) Modifies(w *workload.Write, t *model.Table) bool {
	if t.Existing || t.Base != nil {
		return plan.Modifies(w, t)
	}
	switch w.Kind {
	case workload.Update:
		return touches(t.Fields(), set(w))
	case workload.Delete:
		return t.Tree.Has(w.Entity)
	case workload.Insert:
		if !t.Tree.Has(w.Entity) {
			return false
		}
		if len(t.Tree.Entities) == 1 {
			return touches(t.Fields(), w.Set)
		}
		for _, r := range t.Tree.Edges {
			if r.Other(w.Entity) != nil && !connects(w, r) {
				return false
			}
		}
		return true
	case workload.Connect, workload.Disconnect:
		return len(w.Connections) > 0 && t.Tree.HasEdge(w.Connections[0].Edge)
	}
	return false
}

// set returns the fields that a write gives values.
func set(w *workload.Write) []model.Field {
	return append(append([]model.Field(nil), w.Set...), w.Increments...)
}

// touches tells whether two lists of fields share one.
func touches(a, b []model.Field) bool {
	for _, f := range a {
		for _, g := range b {
			if f == g {
				return true
			}
		}
	}
	return false
}

func connects(w *workload.Write, r *model.Relationship) bool {
	for _, c := range w.Connections {
		if c.Edge == r {
			return true
		}
	}
	return false
}

// moves tells whether an update sets a field of the table's key.
func moves(w *workload.Write, t *model.Table) bool {
	return w.Kind == workload.Update && touches(t.Key(), set(w))
}

// without returns the fields that are not among others.
func without(fields []model.Field, others ...model.Field) []model.Field {
	var rest []model.Field
	for _, f := range fields {
		if !touches([]model.Field{f}, others) {
			rest = append(rest, f)
		}
	}
	return rest
}

// SupportQueries returns what must be read before a write is applied to a table. Each is executed once.
func (Arithmetic) SupportQueries(w *workload.Write, t *model.Table) []plan.Support {
	if t.Existing || t.Base != nil {
		return plan.SupportQueries(w, t)
	}
	var queries []*workload.Query
	switch w.Kind {
	case workload.Insert:
		queries = forInsert(w, t)
	case workload.Connect, workload.Disconnect:
		queries = forConnection(w, t)
	default:
		queries = forChange(w, t)
	}
	var list []plan.Support
	for _, q := range queries {
		if len(q.Select) > 0 {
			list = append(list, plan.Support{Query: q, Times: 1})
		}
	}
	return list
}

// forInsert asks each part around the new entity for its fields, by the key of what the new entity is connected to there.
func forInsert(w *workload.Write, t *model.Table) []*workload.Query {
	if len(t.Tree.Entities) == 1 {
		return nil
	}
	var ids []model.Field
	for _, c := range w.Connections {
		ids = append(ids, c.Entity.KeyFields()...)
	}
	required := without(without(t.Fields(), w.Set...), ids...)
	var queries []*workload.Query
	for _, b := range branches(t.Tree, w.Entity) {
		q := ask(b.tree, b.root, required)
		q.Where = by(nil, b.root)
		queries = append(queries, q)
	}
	return queries
}

// forConnection asks the part with the target by the target's key, other parts by the source's, and the source for its own
// fields. (Their code leaves the latter out, and fails over other parts.)
func forConnection(w *workload.Write, t *model.Table) []*workload.Query {
	target := w.Connections[0]
	required := without(without(t.Fields(), w.Entity.KeyFields()...), target.Entity.KeyFields()...)
	if w.Kind == workload.Disconnect {
		required = without(without(t.Key(), w.Entity.KeyFields()...), target.Entity.KeyFields()...)
	}
	var queries []*workload.Query
	alone := model.Tree{Entities: []*model.Entity{w.Entity}}
	own := ask(alone, w.Entity, required)
	own.Where = by(nil, w.Entity)
	queries = append(queries, own)
	for _, b := range branches(t.Tree, w.Entity) {
		if b.edge == target.Edge {
			q := ask(b.tree, b.root, required)
			q.Where = by(nil, target.Entity)
			queries = append(queries, q)
			continue
		}
		q := ask(b.with, w.Entity, without(required, w.Entity.KeyFields()...))
		q.Select = inside(q.Select, b.tree)
		q.Where = by(nil, w.Entity)
		queries = append(queries, q)
	}
	return queries
}

// forChange asks the statement's own graph for the entities that an update or delete speaks of, then each part around the
// entity for what the table holds of it.
func forChange(w *workload.Write, t *model.Table) []*workload.Query {
	required := t.Key()
	if moves(w, t) {
		required = t.Fields()
	}
	if w.Kind == workload.Update {
		required = without(required, set(w)...)
	}
	var asked []model.Field
	for _, p := range w.Where {
		asked = append(asked, p.Field)
	}
	if required = without(required, asked...); len(required) == 0 {
		return nil
	}
	first := &workload.Query{Tree: w.Tree, Where: w.Where}
	for _, f := range required {
		if f.Entity == w.Entity {
			first.Select = append(first.Select, f)
		}
	}
	first.Select = model.AppendNew(first.Select, without(w.Entity.KeyFields(), asked...)...)
	queries := []*workload.Query{first}
	for _, b := range branches(t.Tree, w.Entity) {
		q := ask(b.with, w.Entity, required)
		q.Select = inside(q.Select, b.tree)
		q.Where = by(nil, w.Entity)
		queries = append(queries, q)
	}
	return queries
}

// branch is a part of a tree around an entity.
type branch struct {
	edge *model.Relationship // that leads there
	root *model.Entity       // its other end
	tree model.Tree          // without the entity, from root
	with model.Tree          // the same with the entity, from it
}

func branches(tree model.Tree, e *model.Entity) []branch {
	var list []branch
	for _, r := range tree.Edges {
		root := r.Other(e)
		if root == nil {
			continue
		}
		list = append(list, branch{
			edge: r, root: root,
			tree: tree.Reach(root, func(x *model.Relationship, _ *model.Entity) bool { return x != r }),
			with: tree.Reach(e, func(x *model.Relationship, from *model.Entity) bool { return from != e || x == r }),
		})
	}
	return list
}

// ask asks a part of a graph for those of some fields that are in it.
func ask(tree model.Tree, from *model.Entity, fields []model.Field) *workload.Query {
	whole := tree.Reach(from, func(*model.Relationship, *model.Entity) bool { return true })
	return &workload.Query{Tree: whole, Select: inside(fields, whole)}
}

func inside(fields []model.Field, tree model.Tree) []model.Field {
	var list []model.Field
	for _, f := range fields {
		if tree.Has(f.Entity) {
			list = append(list, f)
		}
	}
	return list
}

// by adds equalities on an entity's key.
func by(where []workload.Predicate, e *model.Entity) []workload.Predicate {
	for _, k := range e.KeyFields() {
		where = append(where, workload.Predicate{Field: k, Op: workload.Equal, Value: "?"})
	}
	return where
}

// WriteSteps returns a delete if rows go or move, a put if they come, change or move: of as many rows as the product of
// what the support queries find. Without any, an insert writes one; others write the rows that their equalities let
// through.
func (Arithmetic) WriteSteps(w *workload.Write, t *model.Table, found []float64) []plan.Step {
	rows := 1.0
	for _, n := range found {
		rows *= n
	}
	if len(found) == 0 && w.Kind != workload.Insert && !t.Existing {
		rows = entries(t) * changed(w)
	}
	step := func(kind plan.Kind, fields []model.Field) plan.Step {
		return plan.Step{Kind: kind, Table: t, Fields: fields, Requests: rows, Rows: rows, Bytes: entryBytes(t)}
	}
	switch {
	case w.Kind == workload.Delete || w.Kind == workload.Disconnect:
		return []plan.Step{step(plan.Remove, t.Key())}
	case moves(w, t) && t.Base == nil:
		return []plan.Step{step(plan.Remove, t.Key()), step(plan.Put, t.Fields())}
	}
	return []plan.Step{step(plan.Put, t.Fields())}
}

// changed is the share of a table's rows that a write without support queries changes.
func changed(w *workload.Write) float64 {
	share := 1.0
	if w.Kind == workload.Connect || w.Kind == workload.Disconnect {
		for _, f := range append(w.Entity.KeyFields(), w.Connections[0].Entity.KeyFields()...) {
			share /= Distinct(f)
		}
		return share
	}
	seen := map[model.Field]bool{}
	for _, p := range w.Where {
		if !seen[p.Field] {
			seen[p.Field] = p.Op != workload.NotEqual
			share *= predicateShare(p)
		}
	}
	return share
}

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
	for _, at := range plan.Targets(w, t) {
		if modifies(at, t) {
			return true
		}
	}
	return false
}

// modifies is Modifies for one occurrence of the entity, of which their code knows no second.
func modifies(w *workload.Write, t *model.Table) bool {
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
	var list []plan.Support
	for _, at := range plan.Targets(w, t) {
		for _, q := range support(at, w, t) {
			list = append(list, plan.Support{Query: q, Times: 1})
		}
	}
	return list
}

// support returns the queries for one occurrence of the entity of a whole write.
func support(at, whole *workload.Write, t *model.Table) []*workload.Query {
	if !modifies(at, t) {
		return nil
	}
	var queries []*workload.Query
	switch whole.Kind {
	case workload.Insert:
		queries = forInsert(at, t)
	case workload.Connect, workload.Disconnect:
		queries = forConnection(at, t)
	default:
		queries = forChange(at, whole, t)
	}
	var list []*workload.Query
	for _, q := range queries {
		if len(q.Select) > 0 {
			list = append(list, q)
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
		q.Where = byKey(b.root)
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
	own.Where = byKey(w.Entity)
	queries = append(queries, own)
	for _, b := range branches(t.Tree, w.Entity) {
		if b.edge == target.Edge {
			q := ask(b.tree, b.root, required)
			q.Where = byKey(target.Entity)
			queries = append(queries, q)
			continue
		}
		q := ask(b.with, w.Entity, without(required, w.Entity.KeyFields()...))
		q.Select = inside(q.Select, b.tree)
		q.Where = byKey(w.Entity)
		queries = append(queries, q)
	}
	return queries
}

// forChange asks the statement's own graph for the entities that an update or delete speaks of, then each part around the
// entity for what the table holds of it.
func forChange(w, whole *workload.Write, t *model.Table) []*workload.Query {
	required := t.Key()
	if moves(w, t) {
		required = t.Fields()
	}
	if w.Kind == workload.Update {
		required = without(required, set(w)...)
	}
	if !moves(w, t) {
		for _, f := range w.Increments { // what is added to must be known; their code has no increments
			if t.Has(f) {
				required = append(required[:len(required):len(required)], f)
			}
		}
	}
	var asked []model.Field
	for _, p := range w.Where {
		asked = append(asked, p.Field)
	}
	if required = without(required, asked...); len(required) == 0 {
		return nil
	}
	first := &workload.Query{Tree: whole.Tree, Where: whole.Where}
	for _, f := range required {
		if f.Entity == w.Entity {
			first.Select = append(first.Select, model.Field{Entity: whole.Entity, Attribute: f.Attribute})
		}
	}
	for _, k := range without(w.Entity.KeyFields(), asked...) {
		first.Select = model.AppendNew(first.Select, model.Field{Entity: whole.Entity, Attribute: k.Attribute})
	}
	queries := []*workload.Query{first}
	for _, b := range branches(t.Tree, w.Entity) {
		q := ask(b.with, w.Entity, required)
		q.Select = inside(q.Select, b.tree)
		q.Where = byKey(w.Entity)
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

// byKey are equalities on an entity's key.
func byKey(e *model.Entity) (where []workload.Predicate) {
	for _, k := range e.KeyFields() {
		where = append(where, workload.Predicate{Field: k, Op: workload.Equal, Value: "?"})
	}
	return where
}

// WriteSteps returns a delete if rows go or move, a put if they come, change or move: of as many rows as the product of
// what the support queries find. Without any, an insert writes one; others write the rows that their equalities let
// through.
func (Arithmetic) WriteSteps(w *workload.Write, t *model.Table, found []float64) []plan.Step {
	if t.Existing || t.Base != nil {
		return plan.WriteSteps(w, t)
	}
	remove := plan.Step{Kind: plan.Remove, Table: t, Fields: t.Key()}
	put := plan.Step{Kind: plan.Put, Table: t, Fields: t.Fields()}
	for _, at := range plan.Targets(w, t) {
		if !modifies(at, t) {
			continue
		}
		rows := 1.0
		asked := min(len(support(at, w, t)), len(found))
		for _, n := range found[:asked] {
			rows *= n
		}
		if found = found[asked:]; asked == 0 && w.Kind != workload.Insert {
			rows = entries(t) * changed(at)
		}
		gone := w.Kind == workload.Delete || w.Kind == workload.Disconnect
		if gone || moves(at, t) {
			remove.Rows, remove.Bytes = remove.Rows+rows, remove.Bytes+entryBytes(t)
		}
		if !gone {
			put.Rows, put.Bytes = put.Rows+rows, put.Bytes+entryBytes(t)
		}
	}
	var steps []plan.Step
	for _, s := range []plan.Step{remove, put} {
		if s.Bytes > 0 {
			s.Requests = s.Rows
			steps = append(steps, s)
		}
	}
	return steps
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

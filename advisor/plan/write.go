package plan

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Support is a query that a write needs answered before it can be applied to a table (seed 003, section 7.2).
type Support struct {
	Query *workload.Query
	Times float64 // executions per execution of the write
}

// Modifies reports whether a write changes rows of a table.
//
// A verified look-up table is only ever added to: what a delete leaves behind in it is found stale by its readers.
func Modifies(w *workload.Write, t *model.Table) bool {
	if len(t.Nests) == 0 && !slices.ContainsFunc(t.Tree.Entities, func(e *model.Entity) bool { return e.Base() == w.Entity.Base() }) {
		return false // most tables, which is asked of each for each write
	}
	return slices.ContainsFunc(Facets(t), func(f Facet) bool { return len(f.ownChanges(w, changesWithoutParts(w, f.Table))) > 0 })
}

// modifiesAt reports whether an update or delete changes a table because of its entity at one place in its tree.
func modifiesAt(w *workload.Write, t *model.Table) bool {
	if w.Kind == workload.Delete {
		return t.Base == nil
	}
	for _, f := range writtenFields(w) {
		if inPlaceKey(t, f) || t.Base == nil && t.Has(f) {
			return true
		}
	}
	return false
}

// inPlaceKey reports whether a field says where a row is: it is in the primary key, or the bucket is computed from it.
func inPlaceKey(t *model.Table, f model.Field) bool {
	return t.InKey(f) || t.Bucket != nil && t.Bucket.Of == f
}

// hasRowEach reports whether an existing table has one row for each e: then inserting e inserts a row. Other existing tables with
// e in their graph hold e because of a relationship.
func hasRowEach(t *model.Table, e *model.Entity) bool {
	return len(t.Tree.Determined(e).Entities) == len(t.Tree.Entities)
}

// writtenFields returns the fields that a write gives new values.
func writtenFields(w *workload.Write) []model.Field {
	return append(w.Set[:len(w.Set):len(w.Set)], w.Increments...)
}

// fields is a set of fields.
type fields map[model.Field]bool

func (s fields) add(list ...model.Field) {
	for _, f := range list {
		s[f] = true
	}
}

// movesRows reports whether an update changes a field of the table's primary key, at any occurrence of its entity: then its rows
// are deleted and put again.
func movesRows(w *workload.Write, t *model.Table) bool {
	if w.Kind != workload.Update || t.Base != nil {
		return false
	}
	for _, at := range Targets(w, t) {
		if slices.ContainsFunc(writtenFields(at), func(f model.Field) bool { return inPlaceKey(t, f) }) {
			return true
		}
	}
	return false
}

// SupportQueries returns the queries that must be answered before a write can be applied to a table that it modifies
// (seed 003, algorithm 3, and figure 12): Find, and the parts of its Changes. Existing tables need none.
func SupportQueries(w *workload.Write, t *model.Table) []Support {
	if t.Existing {
		return nil
	}
	var list []Support
	asked := map[string]bool{}
	add := func(q *workload.Query, times float64) {
		if key := q.Key(); !asked[key] {
			asked[key] = true
			list = append(list, Support{q, times})
		}
	}
	find, times := Find(w), 1.0
	if find != nil {
		times = Affected(w)
	}
	for _, f := range Facets(t) {
		for _, c := range f.Changes(w) {
			if find != nil {
				add(find, 1)
			}
			for _, q := range c.Parts {
				add(q, times)
			}
		}
	}
	return list
}

// knownBesides returns the known fields of a part of a tree that a query does not ask by, by name.
func knownBesides(have fields, part model.Tree, where []workload.Predicate) []model.Field {
	var list []model.Field
	for f := range have {
		if part.Has(f.Entity) && !slices.ContainsFunc(where, func(p workload.Predicate) bool { return p.Field == f }) {
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

// rootedAt returns the tree with e first.
func rootedAt(tree model.Tree, e *model.Entity) model.Tree {
	return tree.Reach(e, func(*model.Relationship, *model.Entity) bool { return true })
}

// Affected estimates how many entities an update or delete speaks of.
func Affected(w *workload.Write) float64 {
	return max(0, min(Rows(w.Tree, w.Where), w.Entity.Count))
}

// WriteSteps returns the deletes and puts by which a write is applied to a table that it modifies, once the support
// queries are answered. A put of an update that moves no rows writes what is set, and the key.
func WriteSteps(w *workload.Write, t *model.Table) []Step {
	var steps []Step
	for _, f := range Facets(t) {
		steps = append(steps, f.writeSteps(w, t)...)
	}
	return steps
}

// rowsAffected estimates how many rows of the table a change is of: those of the join that belong to the entities and relationships
// that the statement speaks of. That they stand in several places of one row at once is as good as never.
func (c *Change) rowsAffected(w *workload.Write, t *model.Table) float64 {
	if t.Existing && w.Kind != workload.Update && w.Kind != workload.Delete {
		return 1
	}
	per := func(e *model.Entity) float64 { return t.Entries() / max(1, e.Count) }
	switch w.Kind {
	case workload.Insert:
		// Of each part around the new entity, the rows that belong to the entity it is connected to.
		rows := 1.0
		if len(c.entitiesNamed(Self)) > 1 {
			return 0
		}
		for _, n := range c.Named {
			if n.By != Self {
				part := t.Tree.Reach(n.Entity, func(r *model.Relationship, _ *model.Entity) bool { return !c.isWritten(w, r) })
				rows *= part.Rows() / max(1, n.Entity.Count)
			}
		}
		return rows
	case workload.Connect, workload.Disconnect:
		if c.Gone != nil && c.staysInPlace(w, t) {
			return 0 // put over
		}
		if c.Gone != nil {
			return per(c.Named[0].Entity)
		}
		if c.also {
			return 0
		}
		return t.Entries() / max(1, w.Connections[0].Edge.Pairs())
	}
	return Affected(w) * per(w.Entity)
}

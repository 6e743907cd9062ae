package plan

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// view is a way to see a table in a query, with those of its collections that are unnested.
type view struct {
	as    *Embedding
	nests []*model.Nest
}

// viewsOf returns the ways to see a table in a query of which its whole graph, collections and all, can be seen in some ways:
// each, with every choice among the collections that begin in it. What is not unnested is as if it were not there, and
// rows are those of the table without it. An embedding begins with an entity of the rows.
func viewsOf(t *model.Table, ways []*Embedding) []view {
	var list []view
	if len(t.Nests) == 0 {
		for _, as := range ways {
			list = append(list, view{as: as})
		}
		return list
	}
	for _, as := range ways {
		var begun []*model.Nest
		for _, n := range t.Nests {
			if slices.Contains(as.table, t.Owner(n)) && slices.Contains(as.table, n.Tree.Entities[0]) {
				begun = append(begun, n)
			}
		}
		for mask := range 1 << len(begun) {
			v := view{as: &Embedding{}}
			for i, n := range begun {
				if mask&(1<<i) == 0 {
					v.nests = append(v.nests, n)
				}
			}
			keep := func(of model.Tree) {
				for i, e := range as.table {
					if of.Has(e) {
						v.as.table, v.as.query = append(v.as.table, e), append(v.as.query, as.query[i])
					}
				}
			}
			if keep(t.Tree); len(v.as.table) == 0 {
				continue
			}
			for _, n := range v.nests {
				keep(n.Tree)
			}
			if !slices.ContainsFunc(list, func(other view) bool { return other.sameView(v) }) {
				list = append(list, v)
			}
		}
	}
	return list
}

func (v view) sameView(w view) bool {
	return slices.Equal(v.nests, w.nests) && slices.Equal(v.as.table, w.as.table) && slices.Equal(v.as.query, w.as.query)
}

// nestedEntities returns the entities of the query that only collections hold.
func (u *usable) nestedEntities() uint64 {
	all := uint64(0)
	for _, n := range u.nested {
		all |= n
	}
	return all
}

// Facet is what a write may change of a table: its rows, or the elements of one of its collections, which are changed as
// the rows of a table of their own would be (model.Table.Spread).
type Facet struct {
	Table *model.Table // without collections
	Nest  *model.Nest  // nil: the rows
	rows  *model.Table // of a collection, the table whose rows have it
}

// Facets returns the facets of a table, its rows first. A table without collections has one: itself.
func Facets(t *model.Table) []Facet {
	list := []Facet{{Table: t.Plain()}}
	for _, n := range t.Nests {
		list = append(list, Facet{t.Spread(n), n, list[0].Table})
	}
	return list
}

// Changes returns the ways in which a write meets rows, or elements, of the facet. Elements that go with their row are not
// met: what deletes the row deletes them.
func (f Facet) Changes(w *workload.Write) []Change { return f.ownChanges(w, Changes(w, f.Table)) }

// ownChanges drops changes by which elements go with their rows.
func (f Facet) ownChanges(w *workload.Write, changes []Change) []Change {
	if f.Nest == nil {
		return changes
	}
	return slices.DeleteFunc(changes, func(c Change) bool {
		switch w.Kind {
		case workload.Delete:
			return f.rows.Tree.Has(c.Named[0].Entity)
		case workload.Disconnect:
			return slices.ContainsFunc(f.rows.Tree.Edges, func(r *model.Relationship) bool { return c.isWritten(w, r) })
		case workload.Connect: // the row stands elsewhere with another partner
			return c.Gone != nil && f.rows.Tree.HasEdge(c.Gone) &&
				!slices.ContainsFunc(c.Gone.Other(c.Named[0].Entity).KeyFields(), func(k model.Field) bool { return !f.rows.InKey(k) })
		}
		return false
	})
}

// writeSteps returns the deletes and puts that apply a write to the facet.
func (f Facet) writeSteps(w *workload.Write, t *model.Table) []Step {
	changes := f.Changes(w)
	moving := movesRows(w, f.Table)
	put := Step{Kind: Put, Table: t, Fields: f.Table.Fields()}
	remove := Step{Kind: Remove, Table: t, Fields: f.Table.Key()}
	if w.Kind == workload.Update && !moving && t.Base == nil {
		put.Fields = f.Table.Key()
		for _, c := range changes {
			for _, x := range c.setFields(w, writtenFields(w)) {
				if f.Table.Has(x) {
					put.Fields = model.AppendNew(put.Fields, x)
				}
			}
		}
	}
	written := *f.Table // of a row, what is put: of an update in place the key and what is set
	if written.Values = put.Fields[len(f.Table.Key()):]; w.Kind == workload.Update && !moving {
		written.Static = nil
	}
	size := written.RowBytes()
	together := false // the elements of a row, as the row is put too
	if f.Nest != nil {
		put.Nests, remove.Nests, size = []*model.Nest{f.Nest}, []*model.Nest{f.Nest}, f.Nest.ElementBytes(put.Fields)
		together = movesRows(w, f.rows)
	}
	gone := w.Kind == workload.Delete || w.Kind == workload.Disconnect && !t.Existing
	for i := range changes {
		rows := changes[i].rowsAffected(w, f.Table)
		requests := rows
		if together || f.Nest != nil && w.Kind == workload.Insert && slices.ContainsFunc(changes[i].entitiesNamed(Self), f.rows.Tree.Has) {
			requests = min(rows, changes[i].rowsAffected(w, f.rows))
		}
		if gone || changes[i].Gone != nil || moving && !together {
			remove.Requests += requests
			remove.Rows += rows
		}
		if !gone && changes[i].Gone == nil {
			put.Requests += requests
			put.Rows += rows
		}
	}
	var steps []Step
	for _, s := range []Step{remove, put} {
		if s.Requests > 0 {
			if s.Kind == Put {
				s.Bytes = s.Rows * size
			}
			steps = append(steps, s)
		}
	}
	return steps
}

package plan

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// A CONNECT replaces: an end of its relationship that may have one partner has the new one from then on, whoever it had, if
// anybody. Where the relationship is 1:1 that holds for both ends: the new partner's old partner is left with none. So the
// rows go in which such an end stands at the edge, with whom it stood there; and rows that come hold none of its old pair at
// their other edges (Change.Not).
//
// INSERT takes nobody's partner away: whom it connects a new entity to is free, as far as the relationship allows one.

// isNearEnd reports whether e is the end of an edge where the connection of a statement has the statement's entity.
func isNearEnd(w *workload.Write, r *model.Relationship, e *model.Entity) bool {
	stated := w.Connections[0].Edge
	return (r.From == e) == (stated.From == w.Entity)
}

// singlePartnerEnds returns the ends of an edge of the relationship of a CONNECT that have one partner at most, as the statement names
// them.
func singlePartnerEnds(w *workload.Write, r *model.Relationship) []Named {
	var list []Named
	for _, e := range []*model.Entity{r.From, r.To} {
		switch {
		case !r.ToOne(e):
		case isNearEnd(w, r, e):
			list = append(list, Named{e, Self})
		default:
			list = append(list, Named{e, 0})
		}
	}
	return list
}

// pairEdges returns the edges of a tree that are of the relationship of a CONNECT or DISCONNECT.
func pairEdges(w *workload.Write, tree model.Tree) []*model.Relationship {
	var list []*model.Relationship
	for _, r := range tree.Edges {
		if r.Base() == w.Connections[0].Edge.Base() {
			list = append(list, r)
		}
	}
	return list
}

// replacedRows returns the changes by which rows go, of a CONNECT.
func replacedRows(w *workload.Write, t *model.Table) []Change {
	if t.Existing || t.Base != nil {
		return nil // their readers know
	}
	var list []Change
	for _, r := range pairEdges(w, t.Tree) {
		for _, n := range singlePartnerEnds(w, r) {
			list = append(list, Change{Named: []Named{n}, Gone: r})
		}
	}
	return list
}

// excludeOldPairs makes the change of a CONNECT, at some of the edges of its relationship, keep clear of the old pairs at the others.
// False: there are no such rows, as an entity that has one partner stands at an edge with the new one and at another with the
// old one.
func (c *Change) excludeOldPairs(w *workload.Write, t *model.Table, chosen []*model.Relationship) bool {
	if t.Existing || t.Base != nil {
		return true
	}
	for _, r := range pairEdges(w, t.Tree) {
		if slices.Contains(chosen, r) || c.isWritten(w, r) {
			continue
		}
		for _, n := range singlePartnerEnds(w, r) {
			if c.isNamed(n.Entity, n.By) {
				return false
			}
			if !slices.Contains(c.Not, n) {
				c.Not = append(c.Not, n)
			}
		}
	}
	return true
}

// sideTree is what is left of a table's tree around the end of a pair without the edge where somebody else will stand.
func (c *Change) sideTree(t *model.Table) model.Tree {
	return t.Tree.Reach(c.Named[0].Entity, func(r *model.Relationship, _ *model.Entity) bool { return r != c.Gone })
}

// staysInPlace reports whether the key of the rows that go says nothing of the partner: then what comes with the new partner stands
// where they stood, as long as there is something. (Over several edges of the relationship that is not said.)
func (c *Change) staysInPlace(w *workload.Write, t *model.Table) bool {
	if len(pairEdges(w, t.Tree)) > 1 {
		return false
	}
	side := c.sideTree(t)
	return !slices.ContainsFunc(placeFields(t), func(f model.Field) bool { return !side.Has(f.Entity) })
}

// placeFields are the fields that say where a row is.
func placeFields(t *model.Table) []model.Field {
	list := t.Key()
	if t.Bucket != nil && !t.Bucket.Of.IsZero() { // what it is of need not be a column
		list = model.AppendNew(list, t.Bucket.Of)
	}
	return list
}

// incomingChange is the change by which rows come at the same edge.
func (c *Change) incomingChange() *Change {
	n, other := c.Named[0], Named{c.Gone.Other(c.Named[0].Entity), Self}
	if n.By == Self {
		other.By = 0
		return &Change{Named: []Named{n, other}}
	}
	return &Change{Named: []Named{other, n}}
}

// settleGone fills in what is known of rows that go, and what has to be asked. What the statement says of the entities around the
// pair holds for those that are around it when it is one: of the old partner, and whom that leads to, it says nothing. Where
// the rows come back in the same places the questions are those that the new rows need answered anyway.
func (c *Change) settleGone(w *workload.Write, t *model.Table) {
	come := c.incomingChange()
	come.Known = come.knownFields(w, t)
	around := t.Tree.Reach(c.Named[0].Entity, func(r *model.Relationship, _ *model.Entity) bool { return r.Base() != c.Gone.Base() })
	for _, k := range come.Known {
		if around.Has(k.Field.Entity) {
			c.Known = append(c.Known, k)
		}
	}
	if !c.staysInPlace(w, t) {
		c.Parts = partQueries(w, t, c)
		return
	}
	for _, q := range partQueries(w, t, come) {
		if q.Tree.Has(c.Named[0].Entity) {
			c.Parts = append(c.Parts, q)
		}
	}
}

package enumerate

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// Collections are proposed (Options.Collections) where what hangs on an entity over a to-many relationship is read together with
// it and asked for by nothing of its own: no condition, no order, no key that rows at hand bring. Then the table that a part
// has a row of for each partner has a fold, with a row for each of the entities and the partners as elements. That is
// another candidate besides, so no design is lost; cost models decide.

// The bounds within which a collection is a good idea. Cassandra reads a collection as a whole, and advises to keep them small.
const (
	mostElements  = 1000 // of a row, where the model says how many partners an entity has at most
	meanElements  = 32   // of a row, where it says only how many it has in the mean
	elementBytes  = 4096 // an element, mean; the hard limit is 64 KB
	nestBytesMost = 65536
)

// foldTables returns the folds of a table of the part: over each edge where there is one, and over all that are apart.
func (x part) foldTables(t *model.Table) []*model.Table {
	var list []*model.Table
	all := t
	for _, r := range x.tree.Edges {
		for _, owner := range []*model.Entity{r.From, r.To} {
			one := x.foldEdge(t, r, owner)
			if one == nil {
				continue
			}
			list = append(list, one)
			if all.Tree.HasEdge(r) {
				if more := x.foldEdge(all, r, owner); more != nil {
					all = more
				}
			}
		}
	}
	if len(all.Nests) > 1 {
		list = append(list, all)
	}
	return list
}

// foldEdge makes the other side of an edge a collection of its owner; nil if that can not be, or should not.
func (x part) foldEdge(t *model.Table, r *model.Relationship, owner *model.Entity) *model.Table {
	first := r.Other(owner)
	if r.ToOne(owner) || !fewPartners(r, owner) {
		return nil
	}
	rows, inside := t.Tree.Cut(r, owner)
	if len(inside.Determined(first).Entities) != len(inside.Entities) || x.entry != nil && inside.Has(x.entry) {
		return nil
	}
	for _, list := range [][]model.Field{x.ask.equal, x.ask.ranges, x.ask.others, x.ask.order, t.Partition} {
		if hasFieldIn(list, inside) {
			return nil
		}
	}
	if slices.ContainsFunc(t.Nests, func(n *model.Nest) bool { return inside.Has(t.Owner(n)) }) || t.Bucket != nil && !t.Bucket.Of.IsZero() && inside.Has(t.Bucket.Of.Entity) {
		return nil
	}
	n := &model.Nest{Edge: r, Tree: inside}
	f := *t
	f.Tree, f.Clustering, f.Values, f.Static = rows, nil, nil, nil
	for _, c := range t.Clustering {
		switch {
		case !inside.Has(c.Entity):
			f.Clustering = append(f.Clustering, c)
		case n.Key.IsZero():
			n.Key = c
		default:
			return nil // two fields tell elements apart
		}
	}
	for _, v := range t.Values {
		if inside.Has(v.Entity) {
			n.Values = append(n.Values, v)
		} else {
			f.Values = append(f.Values, v)
		}
	}
	if size := n.ElementBytes(n.Values); n.Key.IsZero() || size > elementBytes || size*meanPartners(r, owner) > nestBytesMost {
		return nil
	}
	f.Nests = append(t.Nests[:len(t.Nests):len(t.Nests)], n)
	completingIDs(&f)
	return &f
}

// meanPartners is how many partners an entity has over a relationship, in the mean.
func meanPartners(r *model.Relationship, e *model.Entity) float64 { return r.Pairs() / max(1, e.Count) }

// fewPartners reports whether an entity has few enough partners for a collection.
func fewPartners(r *model.Relationship, e *model.Entity) bool {
	most := r.Most
	if e == r.To {
		most = r.MostBack
	}
	if most > 0 {
		return most <= mostElements
	}
	return meanPartners(r, e) <= meanElements
}

// heldBy reports whether a table has all values and collections of another of the same graph and primary key.
func heldBy(a, b *model.Table) bool {
	return subset(a.Values, b.Values) && !slices.ContainsFunc(a.Nests, func(n *model.Nest) bool {
		return !slices.ContainsFunc(b.Nests, func(other *model.Nest) bool { return sameElements(n, other) && subset(n.Values, other.Values) })
	})
}

// sameElements reports whether two collections have the same elements.
func sameElements(a, b *model.Nest) bool {
	return a.Edge == b.Edge && a.Key == b.Key && a.Tree.Key() == b.Tree.Key()
}

// unitedNests returns the collections of both; false if they can not be in one table.
func unitedNests(a, b []*model.Nest) ([]*model.Nest, bool) {
	all := slices.Clone(a)
next:
	for _, n := range b {
		for i, own := range all {
			if sameElements(own, n) {
				both := *own
				both.Values = model.AppendNew(slices.Clone(own.Values), n.Values...)
				all[i] = &both
				continue next
			}
			if own.Edge == n.Edge || slices.ContainsFunc(n.Tree.Entities, own.Tree.Has) { // an entity that two ways lead to would close a circle
				return nil, false
			}
		}
		all = append(all, n)
	}
	return all, true
}

package enumerate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

const (
	allPairs   = 12 // tables of one key and graph up to which the unions of all pairs are proposed
	mostGraphs = 6  // graphs of one key of which the tables are united
)

// combine adds unions, and what writes need for those.
func (e *enumeration) combine() {
	e.pool.Combine()
	e.support()
}

// Combine adds unions of tables over the same graph with the same primary key and different values: of each two, and of
// all (section 4.1.3, where the tables have no clustering key). Of more than allPairs tables only that of all is added,
// and those of pairs in which neither has all values that some third has, and more.
//
// Rule "unions": one table serves what both serve, by as many requests. Of tables with different primary keys a union
// would have to have one of the keys: that is a form of a part of its own.
func (p *Pool) Combine() {
	groups := map[string][]*model.Table{}
	var order []string
	wholes := map[string][]*model.Table{} // by the primary key alone: the unions of all
	var keys []string
	for _, t := range p.Tables {
		if t.Existing || t.Base != nil || len(t.Indexes) > 0 {
			continue
		}
		alike := *t
		alike.Values, alike.Static = nil, nil
		key := alike.ID()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], t)
	}
	for _, key := range order {
		group := groups[key]
		if len(group) > allPairs {
			group = largest(group)
		}
		all := group[0]
		for i, a := range group {
			if len(group) <= allPairs {
				for _, b := range group[:i] {
					p.unite(a, b)
				}
			}
			all = united(all, a)
		}
		p.unite(all, all)
		key := keyText(all)
		if wholes[key] == nil {
			keys = append(keys, key)
		}
		wholes[key] = append(wholes[key], all)
	}
	for _, key := range keys {
		list := wholes[key]
		if len(list) > mostGraphs {
			p.cut("of %d tables by %s over different graphs not all are united", len(list), list[0])
			list = list[:mostGraphs]
		}
		for i, a := range list {
			for _, b := range list[:i] {
				p.add(larger(a, b))
			}
		}
	}
}

// larger returns the union of two tables with the same primary key over the union of their graphs; nil if the rows would
// not be the same. Each row of the one must have exactly one partner in what the other's graph has besides: then the
// planner may read the larger table for what was asked of the smaller graph.
func larger(a, b *model.Table) *model.Table {
	tree, err := a.Tree.Union(b.Tree)
	if err != nil || !extends(a.Tree, tree) || !extends(b.Tree, tree) {
		return nil
	}
	t := united(a, b)
	t.Tree = tree
	return t
}

// extends tells whether the larger tree has exactly one row for each of the smaller.
func extends(small, large model.Tree) bool {
	reached := large.Reach(small.Entities[0], func(r *model.Relationship, from *model.Entity) bool {
		return small.HasEdge(r) || !small.Has(r.Other(from)) && r.ToOne(from) && !r.Optional
	})
	return len(reached.Entities) == len(large.Entities)
}

// keyText names the primary key.
func keyText(t *model.Table) string {
	var b strings.Builder
	for _, f := range model.SortFields(slices.Clone(t.Partition)) {
		b.WriteString(f.String() + ",")
	}
	for _, f := range t.Clustering {
		b.WriteString(";" + f.String())
		if slices.Contains(t.Desc, f) {
			b.WriteString(" desc")
		}
	}
	if t.Bucket != nil {
		fmt.Fprintf(&b, " %v", *t.Bucket)
	}
	return b.String()
}

// largest returns the tables whose values no other's hold.
func largest(group []*model.Table) []*model.Table {
	var list []*model.Table
	for _, a := range group {
		held := false
		for _, b := range group {
			held = held || len(b.Values) > len(a.Values) && subset(a.Values, b.Values)
		}
		if !held {
			list = append(list, a)
		}
	}
	return list
}

func (p *Pool) unite(a, b *model.Table) {
	if a == b || !subset(a.Values, b.Values) && !subset(b.Values, a.Values) {
		p.add(united(a, b))
	}
}

func united(a, b *model.Table) *model.Table {
	t := *a
	t.Static = nil
	t.Values = model.AppendNew(a.Values[:len(a.Values):len(a.Values)], b.Values...)
	return &t
}

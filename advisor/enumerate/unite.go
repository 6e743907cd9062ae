package enumerate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

const (
	allPairs   = 12 // tables of one key and graph up to which the unions of all pairs are proposed
	fewTables  = 4  // tables of one key and graph that are united with those over other graphs
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
// Then, of tables with the same primary key over different graphs, the unions over both graphs, where the larger table
// serves whoever reads the smaller one; of each graph that of all, and those by which some query ends.
//
// Rule "unions": one table serves what both serve, by as many requests. Of tables with different primary keys a union
// would have to have one of the keys: that is a form of a part of its own.
func (p *Pool) Combine() {
	groups := map[string][]*model.Table{}
	var order []string
	same := map[string][][]*model.Table{} // groups by the primary key alone
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
		if same[key] == nil {
			keys = append(keys, key)
		}
		ends := []*model.Table{all}
		for _, t := range group {
			if p.ends[t.ID()] && len(ends) < fewTables {
				ends = append(ends, t)
			}
		}
		same[key] = append(same[key], ends)
	}
	for _, key := range keys {
		list := same[key]
		if len(list) > mostGraphs {
			p.cut("of tables over %d graphs with the same key as %s not all are united", len(list), list[0][0])
			list = list[:mostGraphs]
		}
		for i, group := range list {
			for _, other := range list[:i] {
				for _, a := range group {
					for _, b := range other {
						p.add(larger(a, b))
					}
				}
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

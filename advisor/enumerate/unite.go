package enumerate

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

const (
	allPairs   = 12 // tables of one key and graph up to which the unions of all pairs are proposed
	mostTables = 10 // tables of one partition key that are united with those of other clustering keys and graphs
)

// combineTables adds unions, and what writes need for those.
func (e *enumeration) combineTables() {
	e.pool.Combine()
	e.addSupport()
}

// Combine adds unions of tables over the same graph with the same primary key and different values: of each two, and of
// all (section 4.1.3, where the tables have no clustering key). Of more than allPairs tables only that of all is added,
// and those of pairs in which neither has all values that some third has, and more.
//
// A union serves what both serve, by as many requests, at the cost of wider rows: it is an offer besides the two, no reason
// to leave them out. Readers with another partition key can not share it, unless theirs begins with the same fields: then
// they are among the readers for which keys are ordered (rule orders). As it is done after each level, unions of three and
// more come of those of two while there is room.
func (p *Pool) Combine() {
	if p.isFull() { // looking for what there is no room for takes longest
		return
	}
	for _, group := range p.sameKeyGroups() {
		if len(group) > allPairs {
			p.noteCut("of %d tables with the same primary key as %s not all are united", len(group), group[0])
			group = maximalTables(group)
		}
		all := group[0]
		for i, a := range group {
			if len(group) <= allPairs {
				for _, b := range group[:i] {
					p.addUnion(a, b)
				}
			}
			if more := unionOf(all, a); more != nil {
				all = more
			}
		}
		p.addUnion(all, all)
	}
}

// sameKeyGroups returns the tables in groups of the same graph and primary key, in the order of the pool.
func (p *Pool) sameKeyGroups() [][]*model.Table {
	number := map[string]int{}
	var groups [][]*model.Table
	for _, t := range p.Tables {
		if t.Existing || t.Base != nil || len(t.Indexes) > 0 {
			continue
		}
		key := *t
		key.Values, key.Static, key.Nests = nil, nil, nil
		id := key.ID() + key.Tree.Key() + fmt.Sprint(key.Key()) // with the numbers of occurrences, which the ID does without: fields of two numberings do not mix
		n, known := number[id]
		if !known {
			n = len(groups)
			number[id], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], t)
	}
	return groups
}

// uniteAcross adds, of tables that have the same partition key but another clustering key or graph, those with the primary key
// of the one and the fields of both, where the rows of the graph of both are those of each: of the unions of all tables of
// a key and graph, and of those by which some query ends. Where these are few, those that only lead on, holding ids, are united
// with them, too.
func (p *Pool) uniteAcross() {
	if p.isFull() {
		return
	}
	same := map[string][]*model.Table{} // by the partition key alone
	leading := map[string][]*model.Table{}
	var keys []string
	partition := func(t *model.Table) string { return (&model.Table{Partition: t.Partition, Bucket: t.Bucket}).ID() }
	apart := func(t *model.Table) {
		key := partition(t)
		if same[key] == nil {
			keys = append(keys, key)
		}
		same[key] = append(same[key], t)
	}
	groups := p.sameKeyGroups()
	for _, group := range groups {
		all := group[0]
		for _, t := range group[1:] {
			if more := unionOf(all, t); more != nil {
				all = more
			}
		}
		apart(all)
	}
	for _, group := range groups {
		for _, t := range group {
			switch {
			case len(group) > 1 && p.ends[t.ID()]:
				apart(t)
			case len(group) > 1 && leadsOn(t):
				leading[partition(t)] = append(leading[partition(t)], t)
			}
		}
	}
	for _, key := range keys {
		list := same[key]
		if len(list) <= mostTables {
			list = append(distinctTables(list), leading[key]...)
		}
		over := map[string][]*model.Table{} // those over one graph first: the readers of the one are often those of the other
		for _, b := range list {
			tree := b.Tree.Key()
			for _, a := range over[tree] {
				p.addIfNew(largerTable(a, b))
				p.addIfNew(largerTable(b, a))
			}
			if len(over[tree]) < mostTables {
				over[tree] = append(over[tree], b)
			}
		}
		if len(list) > mostTables {
			p.noteCut("of %d tables with the same partition key as %s not all are united", len(list), list[0])
			list = list[:mostTables]
		}
		for i, a := range list {
			for j, b := range list {
				if i != j && len(b.Nests) == 0 {
					p.addIfNew(largerTable(a, b))
				}
			}
		}
	}
}

// leadsOn reports whether a table has ids of entities besides its key, and nothing else.
func leadsOn(t *model.Table) bool {
	return len(t.Values) > 0 && len(t.Nests) == 0 && !slices.ContainsFunc(t.Values, func(f model.Field) bool { return !f.IsKey() })
}

// distinctTables leaves out tables that occur before: the union of all of a group may be one of them.
func distinctTables(list []*model.Table) (kept []*model.Table) {
	known := map[string]bool{}
	for _, t := range list {
		if id := t.ID() + fmt.Sprint(t.Key()); !known[id] {
			known[id] = true
			kept = append(kept, t)
		}
	}
	return kept
}

// largerTable returns a table with the primary key of a that has b's fields too, over the union of their graphs; nil if the
// rows would not be the same. Each row of the one must have exactly one partner in what the other's graph has besides: then
// the planner may read the larger table for what was asked of the smaller graph.
func largerTable(a, b *model.Table) *model.Table {
	tree, err := a.Tree.Union(b.Tree)
	if err != nil || !extendsRows(a.Tree, tree) || !extendsRows(b.Tree, tree) {
		return nil
	}
	for _, n := range a.Nests {
		if slices.ContainsFunc(n.Tree.Entities, tree.Has) {
			return nil
		}
	}
	t := *a
	t.Static = nil
	t.Tree = tree
	t.Values = model.AppendNew(a.Values[:len(a.Values):len(a.Values)], minus(b.Fields(), a.Key())...)
	return &t
}

// extendsRows reports whether the larger tree has exactly one row for each of the smaller.
func extendsRows(small, large model.Tree) bool {
	for _, e := range small.Entities {
		if !large.Has(e) {
			return false
		}
	}
	for _, r := range small.Edges {
		if !large.HasEdge(r) {
			return false
		}
	}
	reached := large.Reach(small.Entities[0], func(r *model.Relationship, from *model.Entity) bool {
		return small.HasEdge(r) || !small.Has(r.Other(from)) && r.ToOne(from) && !r.Optional
	})
	return len(reached.Entities) == len(large.Entities)
}

// maximalTables returns the tables whose values no other's hold.
func maximalTables(group []*model.Table) []*model.Table {
	var list []*model.Table
	for _, a := range group {
		held := false
		for _, b := range group {
			held = held || heldBy(a, b) && !heldBy(b, a)
		}
		if !held {
			list = append(list, a)
		}
	}
	return list
}

func (p *Pool) addUnion(a, b *model.Table) {
	if a == b || !heldBy(a, b) && !heldBy(b, a) {
		p.addIfNew(unionOf(a, b))
	}
}

// unionOf returns a table with the values and collections of both; nil if those can not be in one.
func unionOf(a, b *model.Table) *model.Table {
	t := *a
	t.Static = nil
	t.Values = model.AppendNew(a.Values[:len(a.Values):len(a.Values)], b.Values...)
	nests, ok := unitedNests(a.Nests, b.Nests)
	if t.Nests = nests; !ok {
		return nil
	}
	return &t
}

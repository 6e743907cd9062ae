package enumerate

import "github.com/helenus-db/helenus/advisor/model"

// allPairs is the number of tables of one key up to which the unions of all pairs are proposed.
const allPairs = 12

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
	for _, t := range p.Tables {
		if t.Existing || t.Base != nil {
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
	}
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

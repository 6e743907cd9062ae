package enumerate

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// The levels of enumeration: what is left out first if the budget does not suffice comes last.
const (
	exact   = iota // keys by all equalities; values: all that is asked for, or keys alone
	divided        // values: some of what is asked for
	relaxed        // keys by some of the equalities, the other fields as values, or left to other tables
	scarce         // both
	levels         // how many there are
)

// names of the levels, for people.
var levelNames = [levels]string{"views and key tables", "views of some of the values", "views of some of the conditions", "views of some of the conditions and values"}

// The limits of a part's forms.
const (
	allSubsets = 4  // fields of which all subsets are tried; of more all, all but each, and each alone
	allUnions  = 4  // groups of values of which all unions are tried; of more none, all, each alone, all but each
	maxChains  = 8  // orders of one set of key fields
	maxFamily  = 32 // sets of fields that readers of one tree can bind
)

// addForms adds the tables that may answer a part, of one level, as the rules say (rules.go).
//
// Not covered by these, so that the optimum over NoSE's candidates may be missed: values of which more than
// allUnions groups are to be told apart, keys of more than allSubsets fields, and readers of a tree that need more than
// maxChains orders. Pool.Truncated says so.
func (p *Pool) addForms(x part, level int) {
	var key []model.Field
	if x.entry != nil {
		key = x.entry.KeyFields()
	}
	equal := minus(x.fieldsIn(x.ask.equal), key)
	choices, cut := p.rules.bound(x, key)
	if cut {
		p.noteCut("%s: of %d equalities not all combinations are tried as keys", x.ask.query, len(equal))
		if level == scarce {
			return
		}
	}
	for _, choice := range choices {
		whole := len(choice) == len(equal)
		if whole != (level == exact || level == divided) {
			continue
		}
		bound := append(slices.Clone(key), choice...)
		if len(bound) == 0 && len(x.ask.equal) > 0 {
			continue
		}
		for _, chain := range p.rules.orders(p, x, bound, whole) {
			for _, suffix := range p.rules.suffix(x, bound) {
				p.addKeyed(x, chain, suffix, level)
			}
		}
	}
}

// addKeyed adds the tables of a key.
func (p *Pool) addKeyed(x part, chain [][]model.Field, suffix []model.Field, level int) {
	t := model.Table{Tree: x.tree}
	if len(chain) == 0 {
		t.Bucket = &model.Bucket{Count: 1} // nothing is bound: one partition has all rows
	} else {
		t.Partition = chain[0]
		for _, more := range chain[1:] {
			t.Clustering = append(t.Clustering, more...)
		}
	}
	t.Clustering = model.AppendNew(t.Clustering, suffix...)
	for _, t.Desc = range p.rules.directions(suffix, x.ask) {
		for _, ids := range p.rules.sources(&t) {
			keyed := t
			keyed.Clustering = model.AppendNew(slices.Clone(t.Clustering), ids...)
			p.addFilled(x, &keyed, level)
		}
	}
}

// addFilled adds a table with each choice of values.
func (p *Pool) addFilled(x part, t *model.Table, level int) {
	groups := x.valueGroups(t)
	choices, cut := subsets(len(groups), allUnions)
	if cut {
		p.noteCut("%s: of %d groups of values not all unions are tried", x.ask.query, len(groups))
	}
	for _, choice := range choices {
		extreme := len(choice) == 0 || len(choice) == len(groups)
		if extreme != (level == exact || level == relaxed) {
			continue
		}
		v := *t
		for _, i := range choice {
			v.Values = model.AppendNew(v.Values, groups[i]...)
		}
		v.Values = minus(v.Values, v.Key())
		for _, ids := range p.rules.missing(x, &v, groups) {
			full := v
			full.Values = append(slices.Clone(v.Values), ids...)
			p.addTable(x, &full, len(choice) == len(groups), len(choice) == 0)
		}
	}
}

// addTable adds a table, with buckets and indexes. all: it has all values that are asked for; none: none of them.
func (p *Pool) addTable(x part, t *model.Table, all, none bool) {
	p.addIfNew(t)
	if all && !slices.ContainsFunc(x.exits, func(e *model.Entity) bool { return e != x.entry }) {
		p.ends[t.ID()] = true
	}
	if all || none {
		p.addIfNew(withBuckets(t, p.partitionBytes))
	}
	if p.indexes && all {
		p.addIfNew(x.withIndexes(t))
	}
	if p.collections && all {
		for _, folded := range x.foldTables(t) {
			p.addIfNew(folded)
		}
	}
}

// valueGroups returns the fields that values are chosen among, those together that NoSE takes together: what is selected; and
// of each entity the fields compared by equality, those compared by !=, and the others that conditions and ORDER BY speak
// of.
func (x part) valueGroups(t *model.Table) [][]model.Field {
	var groups [][]model.Field
	add := func(list []model.Field) {
		if list = minus(list, t.Key()); len(list) == 0 {
			return
		}
		for _, g := range groups {
			if len(g) == len(list) && subset(g, list) {
				return
			}
		}
		groups = append(groups, list)
	}
	var wanted []model.Field
	for _, f := range x.ask.wanted {
		if x.tree.Has(f.Entity) {
			wanted = append(wanted, f)
		}
	}
	add(wanted)
	for _, e := range x.tree.Entities {
		add(fieldsOf(x.fieldsIn(x.ask.equal), e))
		add(fieldsOf(x.fieldsIn(x.ask.others), e))
		add(model.AppendNew(fieldsOf(x.fieldsIn(x.ask.ranges), e), fieldsOf(x.ask.order, e)...))
	}
	return groups
}

func fieldsOf(list []model.Field, e *model.Entity) []model.Field {
	var own []model.Field
	for _, f := range list {
		if f.Entity == e {
			own = append(own, f)
		}
	}
	return own
}

// holdsKey reports whether the fields hold a key of e.
func holdsKey(e *model.Entity, fields []model.Field) bool {
	return subset(e.KeyFields(), fields) || slices.ContainsFunc(e.Alternate, func(key []*model.Attribute) bool {
		for _, a := range key {
			if !slices.Contains(fields, model.Field{Entity: e, Attribute: a}) {
				return false
			}
		}
		return len(key) > 0
	})
}

// reader is a set of fields that some reader of a tree can bind or is sorted by, from the front.
type reader []model.Field

// noteReader notes what the readers of a part's tree can bind. It reports whether that is new.
func (p *Pool) noteReader(x part) bool {
	bound := x.fieldsIn(x.ask.equal)
	if x.entry != nil {
		bound = model.AppendNew(x.entry.KeyFields(), bound...)
	}
	id := x.tree.Key()
	if _, known := p.trees[id]; !known {
		for other, tree := range p.trees {
			if len(tree.Entities) > len(x.tree.Entities) && extendsRows(x.tree, tree) {
				p.smaller[other] = append(p.smaller[other], id)
			} else if len(tree.Entities) < len(x.tree.Entities) && extendsRows(tree, x.tree) {
				p.smaller[id] = append(p.smaller[id], other)
			}
		}
		slices.Sort(p.smaller[id])
		p.trees[id] = x.tree
	}
	before := len(p.readers[id])
	note := func(set []model.Field) {
		for _, known := range p.readers[id] {
			if len(known) == len(set) && subset(known, set) {
				return
			}
		}
		if len(p.readers[id]) == maxFamily {
			p.noteCut("tables over %s have more than %d kinds of readers", x.tree.Path(), maxFamily)
			return
		}
		p.readers[id] = append(p.readers[id], reader(slices.Clone(set)))
	}
	if len(bound) > 0 {
		note(bound)
	}
	for _, suffix := range p.rules.suffix(x, bound) {
		for i := range suffix {
			note(append(slices.Clone(bound), suffix[:i+1]...))
		}
	}
	return len(p.readers[id]) > before
}

// keyChains is rule orders: the orders of a table's bound fields, each as the partition key and what follows. whole: these are all equalities of the part; then those of each one entity are tried as partition key
// too, as the paper's algorithm 1 has it.
func (p *Pool) keyChains(x part, bound []model.Field, whole bool) [][][]model.Field {
	if len(bound) == 0 {
		return [][][]model.Field{nil}
	}
	family := [][]model.Field{bound}
	add := func(set []model.Field) {
		if len(set) == 0 || len(family) >= maxFamily {
			return
		}
		for _, known := range family {
			if len(known) == len(set) && subset(known, set) {
				return
			}
		}
		family = append(family, set)
	}
	for _, r := range p.readers[x.tree.Key()] {
		add(common(bound, r))
	}
	for _, s := range p.smaller[x.tree.Key()] {
		for _, r := range p.readers[s] {
			add(common(bound, r))
		}
	}
	for _, e := range x.tree.Entities { // whatever is read by key: by what writes need, or after another table
		if k := e.KeyFields(); subset(k, bound) {
			add(common(bound, k))
		}
	}
	if whole && x.entry == nil {
		for _, e := range x.tree.Entities {
			add(fieldsOf(bound, e))
		}
	}
	for i := 0; i < len(family); i++ {
		for j := range i {
			add(common(family[i], family[j]))
		}
	}
	var list [][][]model.Field
	full := false
	most := maxChains
	if len(bound) > allSubsets {
		most /= 4
	}
	var walk func(chain [][]model.Field)
	walk = func(chain [][]model.Field) {
		last := chain[len(chain)-1]
		if len(last) == len(bound) {
			if len(list) == most {
				p.noteCut("%s: tables by %d fields could be ordered in more than %d ways", x.ask.query, len(bound), most)
				full = true
				return
			}
			split := [][]model.Field{chain[0]}
			for i := 1; i < len(chain); i++ {
				split = append(split, minus(chain[i], chain[i-1]))
			}
			list = append(list, split)
			return
		}
		for _, next := range minimalCovers(family, last) {
			if full {
				return
			}
			walk(append(chain[:len(chain):len(chain)], next))
		}
	}
	for _, first := range minimalCovers(family, nil) {
		if full {
			break
		}
		walk([][]model.Field{first})
	}
	return list
}

// minimalCovers returns the smallest sets of a family that hold a set and more.
func minimalCovers(family [][]model.Field, set []model.Field) [][]model.Field {
	var list [][]model.Field
	for _, a := range family {
		if len(a) <= len(set) || !subset(set, a) {
			continue
		}
		least := true
		for _, b := range family {
			between := len(b) > len(set) && len(b) < len(a) && subset(set, b) && subset(b, a)
			least = least && !between
		}
		if least {
			list = append(list, a)
		}
	}
	return list
}

// subsets returns the subsets of n things, the whole first; of more than most things some, and cut.
func subsets(n, most int) (list [][]int, cut bool) {
	if n <= most {
		for mask := 1<<n - 1; mask >= 0; mask-- {
			list = append(list, members(n, func(i int) bool { return mask&(1<<i) != 0 }))
		}
		return list, false
	}
	list = append(list, members(n, func(int) bool { return true }))
	for i := range n {
		list = append(list, members(n, func(k int) bool { return k != i }), []int{i})
	}
	return append(list, nil), true
}

func members(n int, in func(int) bool) []int {
	list := make([]int, 0, n)
	for i := range n {
		if in(i) {
			list = append(list, i)
		}
	}
	return list
}

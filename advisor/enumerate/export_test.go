package enumerate

import (
	"reflect"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// RuleNames are the names of the rules.
func RuleNames() (list []string) {
	for f := range reflect.TypeFor[rules]().Fields() {
		list = append(list, f.Name)
	}
	return list
}

// Without enumerates without a rule: whatever it leaves out is there besides.
func Without(w *workload.Workload, o Options, rule string) *Pool {
	r := proven
	unpruned[rule](&r)
	return enumeratePool(w, o, &r)
}

// Wrong enumerates with a wrong variant of a rule.
func Wrong(w *workload.Workload, o Options, rule string) *Pool {
	r := proven
	wrong[rule](&r)
	return enumeratePool(w, o, &r)
}

// unpruned are the rules that leave nothing out, by name.
var unpruned = map[string]func(*rules){
	"rim": func(r *rules) { r.rim = func(model.Tree, *model.Entity) bool { return false } },
	"entries": func(r *rules) {
		r.entries = func(*queryShape, part, *model.Entity) (checked, unchecked bool) { return true, true }
	},
	"bound": func(r *rules) {
		r.bound = func(x part, key []model.Field) ([][]model.Field, bool) {
			proposed, cut := boundChoices(x, key)
			fields := slices.Clone(proposed[0])
			for _, list := range [][]model.Field{x.ask.wanted, x.ask.ranges, x.ask.others, x.ask.order} {
				fields = model.AppendNew(fields, minus(x.fieldsIn(list), key)...)
			}
			return append(proposed, fewest(fields, 5)...), cut
		}
	},
	"orders": func(r *rules) {
		r.orders = func(p *Pool, x part, bound []model.Field, whole bool) [][][]model.Field {
			list := p.keyChains(x, bound, whole)
			if len(bound) > 4 {
				return list
			}
			for _, key := range permutations(bound) {
				for cut := 1; cut <= len(key); cut++ {
					list = append(list, [][]model.Field{key[:cut], key[cut:]})
				}
			}
			return list
		}
	},
	"suffix": func(r *rules) {
		r.suffix = func(x part, bound []model.Field) [][]model.Field {
			list := x.suffixChoices(bound)
			fields := model.AppendNew(slices.Clone(x.fieldsIn(x.ask.ranges)), x.fieldsIn(x.ask.order)...)
			for _, set := range fewest(minus(fields, bound), 4) {
				list = append(list, permutations(set)...)
			}
			return list
		}
	},
	"directions": func(r *rules) {
		r.directions = func(suffix []model.Field, a *queryShape) [][]model.Field {
			return append([][]model.Field{descendingColumns(suffix, a)}, fewest(suffix, 4)...)
		}
	},
	"sources": func(r *rules) {
		r.sources = func(t *model.Table) [][]model.Field {
			list := [][]model.Field{completingIDs(t)}
			var ids []model.Field
			for _, e := range t.Tree.Entities {
				ids = model.AppendNew(ids, minus(e.KeyFields(), t.Key())...)
			}
			for _, set := range fewest(ids, 3) {
				list = append(list, permutations(set)...)
			}
			return list
		}
	},
	"own": func(r *rules) { // the keys anywhere
		r.own = func(t *model.Table, q *workload.Query) []*model.Table {
			list := ownTables(t, q)
			keys, _ := supportKeys(t, q)
			if keys = minus(keys, t.Partition); len(keys) == 0 {
				return list
			}
			for at := range len(t.Clustering) + 1 {
				if len(minus(keys, t.Clustering[:at])) == len(keys) {
					list = append(list, keyedAt(t, keys, at))
				}
			}
			return list
		}
	},
	"missing": func(r *rules) {
		r.missing = func(x part, t *model.Table, groups [][]model.Field) [][]model.Field {
			list := [][]model.Field{x.missingIDs(t, groups)}
			var ids []model.Field
			for _, e := range t.Tree.Entities {
				ids = model.AppendNew(ids, minus(e.KeyFields(), t.Fields())...)
			}
			return append(list, fewest(ids, 4)...)
		}
	},
	"statics": func(r *rules) { r.statics = func(_ *enumeration, t *model.Table) []model.Field { return t.Static } },
}

// wrong are rules that leave out too much.
var wrong = map[string]func(*rules){
	"rim": func(r *rules) { // of which a row may have none, or several
		r.rim = func(tree model.Tree, e *model.Entity) bool { _, n := edgesOf(tree, e); return n == 1 }
	},
	"entries": func(r *rules) { // only where the query goes on: no key that is all of the part
		r.entries = func(a *queryShape, p part, e *model.Entity) (checked, unchecked bool) {
			if len(p.tree.Entities) == 1 {
				return false, false
			}
			return entryChoices(a, p, e)
		}
	},
	"bound": func(r *rules) { // not all of several
		r.bound = func(x part, key []model.Field) ([][]model.Field, bool) {
			choices, cut := boundChoices(x, key)
			if len(choices[0]) > 1 {
				choices = choices[1:]
			}
			return choices, cut
		}
	},
	"orders": func(r *rules) { // all of them make the partition key
		r.orders = func(p *Pool, x part, bound []model.Field, whole bool) [][][]model.Field {
			if len(bound) == 0 {
				return p.keyChains(x, bound, whole)
			}
			return [][][]model.Field{{bound}}
		}
	},
	"suffix": func(r *rules) { // one field, of an order, too
		r.suffix = func(x part, bound []model.Field) [][]model.Field {
			var list [][]model.Field
			for _, s := range x.suffixChoices(bound) {
				list = append(list, s[:min(1, len(s))])
			}
			return list
		}
	},
	"directions": func(r *rules) { // none
		r.directions = func([]model.Field, *queryShape) [][]model.Field { return [][]model.Field{nil} }
	},
	"sources": func(r *rules) { // those of all entities
		r.sources = func(t *model.Table) [][]model.Field {
			var ids []model.Field
			for _, e := range t.Tree.Entities {
				ids = model.AppendNew(ids, minus(e.KeyFields(), t.Key())...)
			}
			return [][]model.Field{ids}
		}
	},
	"own": func(r *rules) { // none
		r.own = func(*model.Table, *workload.Query) []*model.Table { return nil }
	},
	"missing": func(r *rules) { // none
		r.missing = func(part, *model.Table, [][]model.Field) [][]model.Field { return [][]model.Field{nil} }
	},
	"statics": func(r *rules) { // whatever is to-one
		r.statics = func(_ *enumeration, t *model.Table) []model.Field {
			if len(t.Clustering) == 0 {
				return nil
			}
			return t.Values
		}
	},
}

// fewest returns the subsets of the first so many of some fields.
func fewest(fields []model.Field, most int) (list [][]model.Field) {
	fields = fields[:min(most, len(fields))]
	for mask := range 1 << len(fields) {
		var set []model.Field
		for i, f := range fields {
			if mask&(1<<i) != 0 {
				set = append(set, f)
			}
		}
		list = append(list, set)
	}
	return list
}

func permutations(fields []model.Field) [][]model.Field {
	if len(fields) == 0 {
		return [][]model.Field{nil}
	}
	var list [][]model.Field
	for i, f := range fields {
		for _, p := range permutations(append(slices.Clone(fields[:i]), fields[i+1:]...)) {
			list = append(list, append([]model.Field{f}, p...))
		}
	}
	return list
}

// Query adds the candidates of one query, and its views as the paper has them, with the keys of all entities, and without
// values. These are more than is needed (rule sources), but what people expect to find; Workload leaves them out.
func (p *Pool) Query(q *workload.Query, relax bool) {
	e := &enumeration{pool: p, asked: map[string]bool{}, over: map[string][]*piece{}}
	e.addQuery(q)
	for _, first := range append([]*model.Entity{nil}, q.Tree.Entities...) {
		if t := Materialize(q, first); t != nil {
			p.addIfNew(t)
			p.addIfNew(&model.Table{Tree: t.Tree, Partition: t.Partition, Clustering: t.Clustering})
		}
	}
	for level := range levels {
		if relax || level < relaxed {
			e.runLevel(level)
		}
	}
}

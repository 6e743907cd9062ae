package plan

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// builder builds a space. What does not depend on the state is worked out once: for the query, and for each way in which
// a table can be seen in it.
type builder struct {
	query      *workload.Query
	estimator  Estimator
	usable     []*usable
	fields     map[model.Field]int // relevant fields
	names      []model.Field       // the same by number
	predicates []predicate         // of Where
	keys       []key               // of the query's entities
	determined []uint64            // by entity: those of the query that one of it determines
	constant   fixed               // what is the same in all rows of the answer
	order      []order             // what is left of ORDER BY
	wanted     set                 // fields that the end needs
	bindable   set                 // fields that columns of keys and indexes are bound to
	required   uint64              // entities that must be joined
	all        uint64              // all predicates

	states    []state
	efforts   []float64 // the least effort to reach each state
	open      []int     // states that are not expanded yet
	index     map[state]int
	filters   map[uint64][]Binding // by predicates
	arcs      []*Arc
	truncated bool
}

// predicate is one of Query.Where.
type predicate struct {
	field  int
	entity uint64
}

// key is a key of an entity of the query.
type key struct {
	entity int
	fields set
	equal  uint64 // predicates that name it; 0: the query does not
}

// order is a part of ORDER BY.
type order struct {
	field int
	desc  bool
}

func newBuilder(q *workload.Query, tables []*model.Table) (*builder, error) {
	if len(q.Tree.Entities) > 64 || len(q.Where) > 64 {
		return nil, fmt.Errorf("query over %d entities with %d conditions: plans are made for up to 64 of each", len(q.Tree.Entities), len(q.Where))
	}
	b := &builder{query: q, fields: map[model.Field]int{}, index: map[state]int{}, filters: map[uint64][]Binding{}, all: 1<<len(q.Where) - 1}
	if len(q.Where) == 64 {
		b.all = ^uint64(0)
	}
	for _, e := range q.Tree.Entities {
		b.determined = append(b.determined, b.entitySet(q.Tree.Determined(e)))
	}
	var listed []*usable
	for _, t := range tables {
		listed = append(listed, b.usablesOf(t)...)
	}
	b.numberFields(listed)
	if len(b.names) > 256 {
		return nil, fmt.Errorf("query with %d fields and keys: plans are made for up to 256", len(b.names))
	}
	b.deriveConstants()
	for _, u := range listed {
		b.bindColumns(u)
		if b.isComplete(u) {
			b.usable = append(b.usable, u)
			b.bindable.unite(u.bound)
		}
	}
	b.required = b.entitySet(neededTree(q))
	return b, nil
}

// fieldsAtEnd are the fields that the end of the query needs.
func fieldsAtEnd(q *workload.Query) []model.Field {
	list := append(append([]model.Field(nil), q.Select...), q.Ordered()...)
	list = append(append(list, q.Per...), q.GroupBy...)
	for _, a := range q.Aggregates {
		if !a.Field.IsZero() {
			list = append(list, a.Field)
		}
	}
	return list
}

// numberFields numbers the fields that matter: what is asked for and by, and what binds later reads: the keys of entities, and
// whatever tables that are there already are keyed by.
func (b *builder) numberFields(listed []*usable) {
	q := b.query
	for _, f := range fieldsAtEnd(q) {
		b.numberField(f)
	}
	for i := range min(len(b.names), 256) {
		b.wanted.add(i)
	}
	for _, p := range q.Where {
		b.numberField(p.Field)
	}
	for _, e := range q.Tree.Entities {
		for _, k := range keysOf(e) {
			for _, a := range k {
				b.numberField(model.Field{Entity: e, Attribute: a})
			}
		}
	}
	for _, u := range listed {
		for _, column := range u.table.Key() {
			if f := u.as.Field(column); (u.table.Existing || u.table.Kept) && q.Tree.Has(f.Entity) {
				b.numberField(f)
			}
		}
	}
}

// keysOf returns the keys of an entity. Those of which an attribute may be missing name nothing.
func keysOf(e *model.Entity) [][]*model.Attribute {
	keys := [][]*model.Attribute{e.Key}
	for _, k := range e.Alternate {
		whole := true
		for _, a := range k {
			whole = whole && a.Null == 0
		}
		if whole {
			keys = append(keys, k)
		}
	}
	return keys
}

func (b *builder) numberField(f model.Field) {
	if _, ok := b.fields[f]; !ok {
		b.fields[f] = len(b.names)
		b.names = append(b.names, f)
	}
}

// deriveConstants works out what the conditions alone tell: keys that are named, values that are the same in all rows, and what
// that leaves of ORDER BY.
func (b *builder) deriveConstants() {
	q := b.query
	for _, p := range q.Where {
		b.predicates = append(b.predicates, predicate{b.fields[p.Field], b.entityBit(p.Field.Entity)})
	}
	for i, e := range q.Tree.Entities {
		for _, attributes := range keysOf(e) {
			k := key{entity: i}
			named := true
			for _, a := range attributes {
				f := model.Field{Entity: e, Attribute: a}
				k.fields.add(b.fields[f])
				n := b.equalityOn(f)
				if named = named && n >= 0; named {
					k.equal |= 1 << n
				}
			}
			if !named {
				k.equal = 0
			}
			b.keys = append(b.keys, k)
		}
	}
	for _, p := range q.Where {
		if p.Op == workload.Equal {
			b.constant.fields.add(b.fields[p.Field])
			i := b.fields[p.Field]
			b.wanted[i>>6] &^= 1 << (i & 63) // its value is known
		}
	}
	b.closeDetermined(&b.constant)
	known := b.constant
	for _, o := range q.OrderBy {
		if i := b.fields[o.Field]; !b.isFixed(&known, i) {
			b.order = append(b.order, order{i, o.Desc})
			known.fields.add(i)
			b.closeDetermined(&known)
		}
	}
}

// equalityOn returns the first equality on f, by number; -1 if there is none.
func (b *builder) equalityOn(f model.Field) int {
	for n, p := range b.query.Where {
		if p.Field == f && p.Op == workload.Equal {
			return n
		}
	}
	return -1
}

// fixed is what is the same in some rows: fields, and entities of which there is one.
type fixed struct {
	fields   set
	entities uint64
}

// closeDetermined adds the entities that the fields name by key, and what those determine.
func (b *builder) closeDetermined(k *fixed) {
	for i := range b.keys {
		if x := &b.keys[i]; k.fields.holds(x.fields) {
			k.entities |= b.determined[x.entity]
		}
	}
}

// isFixed reports whether a field is the same.
func (b *builder) isFixed(k *fixed, field int) bool {
	return k.fields.has(field) || k.entities&b.entityBit(b.names[field].Entity) != 0
}

// atMostOneRow reports whether a state has one row at most: an entity that is named by key determines all that is joined.
func (b *builder) atMostOneRow(s state) bool {
	determined := uint64(0)
	for i := range b.keys {
		if k := &b.keys[i]; k.equal != 0 && s.applied&k.equal == k.equal && s.joined&(1<<k.entity) != 0 {
			determined |= b.determined[k.entity]
		}
	}
	return s.joined&^determined == 0
}

// usefulFields are the fields at hand that can still make a difference: that the end needs, that a condition is still to be
// checked on, or that a later read can be bound to. States that differ in others only have the same future, so they are
// one.
func (b *builder) usefulFields(at set, applied uint64) set {
	keep := b.wanted
	keep.unite(b.bindable)
	for n := range b.predicates {
		if applied&(1<<n) == 0 {
			keep.add(b.predicates[n].field)
		}
	}
	for i := range at {
		at[i] &= keep[i]
	}
	return at
}

// addsAnything reports whether a table may have something that is not at hand.
func (b *builder) addsAnything(s state, u *usable) bool {
	if u.common&^s.joined != 0 || u.base != nil {
		return true
	}
	useful := b.usefulFields(u.fields, s.applied)
	return !s.fields.holds(useful)
}

// neededTree is the query's tree without the entities at its rim that change nothing: no field of them is asked for, and
// each row has exactly one.
func neededTree(q *workload.Query) model.Tree {
	used := map[*model.Entity]bool{}
	for _, f := range fieldsAtEnd(q) {
		used[f.Entity] = true
	}
	for _, p := range q.Where {
		used[p.Field.Entity] = true
	}
	tree := q.Tree
	for again := true; again; {
		again = false
		for _, e := range tree.Entities {
			edge, ends := edgesOf(tree, e)
			if used[e] || ends != 1 || !exactlyOne(edge, edge.Other(e)) {
				continue
			}
			tree, _ = tree.Cut(edge, edge.Other(e))
			again = true
			break
		}
	}
	return tree
}

// exactlyOne reports whether each entity of an end of a relationship has exactly one partner. To's end of 1:1 has if
// there are as many of both and none of From is without.
func exactlyOne(r *model.Relationship, from *model.Entity) bool {
	if r.Optional || !r.ToOne(from) {
		return false
	}
	return r.Kind != model.OneToOne || from == r.From || r.From.Count == r.To.Count
}

// edgesOf returns an edge of e in the tree, and how many it has.
func edgesOf(tree model.Tree, e *model.Entity) (edge *model.Relationship, n int) {
	for _, r := range tree.Edges {
		if r.Other(e) != nil {
			edge, n = r, n+1
		}
	}
	return edge, n
}

// entitySet returns the entities of tree as a set of entities of the query.
func (b *builder) entitySet(tree model.Tree) uint64 { return entityMask(b.query.Tree, tree) }

func (b *builder) entityBit(e *model.Entity) uint64 {
	for i, x := range b.query.Tree.Entities {
		if x == e {
			return 1 << i
		}
	}
	return 0
}

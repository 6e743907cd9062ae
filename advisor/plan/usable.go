package plan

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// usable is a table that can take part in plans of the query, seen in it in one way.
type usable struct {
	table  *model.Table
	as     *Embedding // for steps: nil if it maps each entity to itself
	common uint64     // entities shared with the query
	fields set        // relevant fields that it holds
	bound  set        // those that bind columns of its keys and indexes
	held   []model.Field
	kinds  []Kind // of reads that are possible at all
	free   set    // columns of the partition key that only rows at hand can bind

	partition, clustering []column
	indexes               []column
	bucket                *column // what the bucket is of
	base                  *usable // of a look-up table

	plain  set           // those of fields that columns of the rows hold
	nests  []*model.Nest // collections that are unnested
	nested []uint64      // by these, what they hold of the query
	inside []model.Field // of the query, what is of use of all of them
}

// column is a column of a key as the query sees it.
type column struct {
	field  model.Field // of the query; of the table if it lies beyond
	number int         // of the relevant field, -1 if it is none
	entity uint64      // of the field; 0 if it lies beyond
	anchor uint64      // the shared entity that determines the value: the field's own, or the one that it hangs from
	equal  int         // the first equality on it, -1 for none
	in     int         // the first IN
	bounds []int       // ranges: LIKE, or at most one lower and one upper bound
	known  bool        // the application knows the value besides
	desc   bool
	sai    bool // of an index
}

// usablesOf returns the ways in which t can take part. There is none if it shares nothing with the query or has rows that
// the query's join does not have one of each: what it holds beyond the query must be there exactly once for each row.
// (Fewer rows would do for no query. More would do for DISTINCT, min and max, but no model says that each entity has at
// least one partner over a to-many edge.)
func (b *builder) usablesOf(t *model.Table) []*usable {
	if !b.meets(t.Tree) && !slices.ContainsFunc(t.Nests, func(n *model.Nest) bool { return b.meets(n.Tree) }) || !t.Identifies() {
		return nil
	}
	ways, more := embeddings(t.Whole(), b.query.Tree)
	b.truncated = b.truncated || more
	var list []*usable
	for _, v := range viewsOf(t, ways) {
		as := v.as
		u := &usable{table: t, as: as, nests: v.nests}
		if as.isIdentity() {
			u.as = nil
		}
		for _, e := range as.query {
			u.common |= b.entityBit(e)
		}
		tree := t.Tree
		for _, n := range v.nests {
			tree = tree.With(n)
			nested := uint64(0)
			for _, e := range n.Tree.Entities {
				nested |= b.entityBit(as.Field(model.Field{Entity: e}).Entity)
			}
			u.nested = append(u.nested, nested)
		}
		reached := tree.Reach(as.table[0], func(r *model.Relationship, from *model.Entity) bool {
			if slices.Contains(as.table, from) && slices.Contains(as.table, r.Other(from)) {
				return true
			}
			return exactlyOne(r, from) || t.Existing && r.ToOne(from)
		})
		if len(reached.Entities) == len(tree.Entities) {
			list = append(list, u)
		}
	}
	return list
}

// meets tells whether a tree has an entity of the query's, or an occurrence of one. Most tables have none.
func (b *builder) meets(tree model.Tree) bool {
	for _, e := range tree.Entities {
		for _, q := range b.query.Tree.Entities {
			if e.Base() == q.Base() {
				return true
			}
		}
	}
	return false
}

// bindColumns works out what the columns of a table are to the query.
func (b *builder) bindColumns(u *usable) {
	t := u.table
	for _, f := range t.Fields() {
		c := b.columnOf(u, f)
		if c.number >= 0 {
			u.fields.add(c.number)
			u.held = append(u.held, c.field)
		}
	}
	u.plain = u.fields
	for _, n := range u.nests {
		for _, f := range n.Fields() {
			if c := b.columnOf(u, f); c.number >= 0 {
				u.fields.add(c.number)
				u.inside = append(u.inside, c.field)
			}
		}
	}
	add := func(list *[]column, fields []model.Field) {
		for _, f := range fields {
			c := b.columnOf(u, f)
			*list = append(*list, c)
			if c.number >= 0 {
				u.bound.add(c.number)
			}
		}
	}
	add(&u.partition, t.Partition)
	add(&u.clustering, t.Clustering)
	for _, i := range t.Indexes {
		add(&u.indexes, []model.Field{i.Field})
		u.indexes[len(u.indexes)-1].sai = i.SAI
	}
	if t.Bucket != nil && !t.Bucket.Of.IsZero() {
		c := b.columnOf(u, t.Bucket.Of)
		u.bucket = &c
		if c.number >= 0 {
			u.bound.add(c.number)
		}
	}
	reachable := true
	for i := range u.partition {
		switch c := &u.partition[i]; {
		case c.equal >= 0 || c.known || c.in >= 0:
		case c.number >= 0:
			u.free.add(c.number)
		default:
			reachable = false
		}
	}
	if reachable {
		u.kinds = append(u.kinds, Get)
	}
	if len(t.Indexes) > 0 {
		u.kinds = append(u.kinds, IndexGet)
	}
	if t.ScanAllowed && t.Base == nil {
		u.kinds = append(u.kinds, Scan)
	}
}

// columnOf sees a column in the query.
func (b *builder) columnOf(u *usable, f model.Field) column {
	c := column{field: f, number: -1, equal: -1, in: -1, desc: slices.Contains(u.table.Desc, f)}
	q := f
	if u.as != nil {
		q = u.as.Field(f)
	}
	if !q.IsZero() {
		c.entity = b.entityBit(q.Entity) & u.common
	}
	if c.entity == 0 {
		c.anchor = b.anchorOf(u, f.Entity)
		c.known = u.as == nil && !b.query.Tree.Has(f.Entity) && b.knowsValue(u, f) // else the query speaks of another one, over another relationship
		return c
	}
	c.field, c.anchor = q, c.entity
	if n, ok := b.fields[q]; ok {
		c.number = n
	}
	c.equal = b.equalityOn(q)
	c.known = b.knowsValue(u, q)
	like, lower, upper := false, false, false
	for n, p := range b.query.Where {
		if p.Field != q {
			continue
		}
		isLower := p.Op == workload.Greater || p.Op == workload.GreaterOrEqual
		isUpper := p.Op == workload.Less || p.Op == workload.LessOrEqual
		switch {
		case p.Op == workload.In && c.in < 0:
			c.in = n
		case p.Op == workload.Like && !like:
			like, c.bounds = true, []int{n}
		case !like && (isLower && !lower || isUpper && !upper):
			lower, upper = lower || isLower, upper || isUpper
			c.bounds = append(c.bounds, n)
		}
	}
	return c
}

// anchorOf returns the shared entity that an entity beyond the query hangs from.
func (b *builder) anchorOf(u *usable, e *model.Entity) uint64 {
	tree := u.table.Tree
	for i, x := range b.query.Tree.Entities {
		if u.common&(1<<i) == 0 {
			continue
		}
		at := u.as.Column(model.Field{Entity: x}).Entity
		beyond := tree.Reach(at, func(r *model.Relationship, from *model.Entity) bool {
			return b.entityBit(u.as.Field(model.Field{Entity: r.Other(from)}).Entity)&u.common == 0
		})
		if beyond.Has(e) {
			return 1 << i
		}
	}
	return 0
}

// isComplete reports whether the table has a row for each of those that are asked for. A row without a value for a column of
// the key is in no table, so the query must have a condition on the field, which no row without a value satisfies. (The
// application's own tables are as they are.)
func (b *builder) isComplete(u *usable) bool {
	t := u.table
	if t.Base != nil {
		for _, held := range b.usablesOf(t.Base) {
			if held.as == nil {
				u.base = held
				b.bindColumns(held)
			}
		}
		if u.base == nil || u.as != nil || !coversKey(t, t.Base) {
			return false
		}
	}
	if t.Existing {
		return true
	}
	list := append(append([]column(nil), u.partition...), u.clustering...)
	if u.bucket != nil {
		list = append(list, *u.bucket)
	}
	for _, c := range list {
		if c.field.Attribute.Null > 0 && (c.entity == 0 || !b.hasCondition(c.field)) {
			return false
		}
	}
	return true
}

// hasCondition reports whether the query has a condition on f.
func (b *builder) hasCondition(f model.Field) bool {
	for _, p := range b.query.Where {
		if p.Field == f {
			return true
		}
	}
	return false
}

// knowsValue reports whether the value of f is known for all rows of the table that can be asked for: f is known, and in the
// table belongs to what an entity that the query names by key determines.
func (b *builder) knowsValue(u *usable, f model.Field) bool {
	if !slices.Contains(b.query.Known, f) {
		return false
	}
	for _, e := range b.query.Tree.Entities {
		named := true
		for _, k := range e.KeyFields() {
			named = named && b.equalityOn(k) >= 0
		}
		if named && b.entityBit(e)&u.common != 0 && u.table.Tree.Determined(u.as.Column(model.Field{Entity: e}).Entity).Has(u.as.Column(f).Entity) {
			return true
		}
	}
	return false
}

// coversKey reports whether a look-up table holds the whole primary key of its base.
func coversKey(lookUp, base *model.Table) bool {
	for _, f := range base.Key() {
		if !lookUp.InKey(f) {
			return false
		}
	}
	return true
}

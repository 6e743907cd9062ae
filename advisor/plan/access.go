package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// tableAccess is one way to read a table from a state.
type tableAccess struct {
	kind       Kind
	partition  []Binding
	clustering []Binding
	where      []Binding // IndexGet and Scan
	bucket     []Binding
	applied    uint64  // predicates that the server checks
	fed        uint64  // entities of which fields bind columns
	requests   float64 // for each row at hand
	several    bool    // there may be more than one of them
	fixed      fixed   // what is the same in all rows that one request finds, for a row at hand
	matched    set     // fields bound to what the rows at hand have

	inOrder bool // the rows of each request come in the order asked for
	reverse bool
}

// accessTable finds out how a table is read in a way from a state; false if it can not be.
func (b *builder) accessTable(from state, u *usable, kind Kind) (tableAccess, bool) {
	a := tableAccess{kind: kind, requests: 1, fixed: b.constant}
	switch kind {
	case Get:
		if !from.fields.holds(u.free) {
			return a, false
		}
		list := make([]Binding, 0, len(u.partition)+len(u.clustering))
		a.partition = list[:0:len(u.partition)]
		a.clustering = list[len(u.partition):len(u.partition):cap(list)]
		for i := range u.partition {
			if !b.bindEqual(&a, &a.partition, from, &u.partition[i], true) {
				return a, false
			}
		}
		for i := range u.clustering {
			c := &u.clustering[i]
			if !b.bindEqual(&a, &a.clustering, from, c, false) {
				b.bindRange(&a, &a.clustering, c)
				break
			}
		}
		b.bindBuckets(&a, from, u)
	case IndexGet:
		if !b.bindIndexes(&a, from, u) {
			return a, false
		}
	case Scan:
		if from.joined != 0 {
			return a, false
		}
		for i := range u.indexes {
			if u.indexes[i].equal >= 0 {
				return a, false // Cassandra takes the index, if there is one: it can not be told to scan
			}
		}
		for n, p := range b.query.Where {
			if serverFilterable(p.Op) && u.plain.has(b.predicates[n].field) {
				a.where = append(a.where, Binding{p.Field, p.Op, p.Value})
				a.applied |= 1 << n
			}
		}
		for i := range u.partition {
			if c := &u.partition[i]; c.number >= 0 {
				a.fixed.fields.add(c.number) // in each partition
			}
		}
	}
	if from.joined != 0 && !b.joinsRows(from, u, &a) {
		return a, false
	}
	b.closeDetermined(&a.fixed)
	if kind != IndexGet {
		a.inOrder, a.reverse = b.inOrder(u, a.fixed)
		a.inOrder = a.inOrder && (kind == Get || !a.reverse) // scans go one way only
	}
	return a, true
}

// serverFilterable are the comparisons that Cassandra makes when it filters.
func serverFilterable(op workload.Op) bool {
	return op != workload.In && op != workload.Like && op != workload.NotEqual
}

// bindEqual binds a column by equality: to a parameter of the query, else to a value known besides, else to a field at hand,
// else to each of several parameters.
func (b *builder) bindEqual(a *tableAccess, list *[]Binding, from state, c *column, partition bool) bool {
	switch {
	case c.equal >= 0:
		p := &b.query.Where[c.equal]
		*list = append(*list, Binding{c.field, workload.Equal, p.Value})
		if from.applied&(1<<c.equal) != 0 && c.entity&from.joined != 0 {
			a.matched.add(c.number)
		}
		a.applied |= 1 << c.equal
	case c.known:
		*list = append(*list, Binding{c.field, workload.Equal, "?"})
	case c.number >= 0 && from.fields.has(c.number) && from.joined&c.entity != 0:
		*list = append(*list, Binding{Field: c.field, Op: workload.Equal})
		a.fed |= c.entity
		a.matched.add(c.number)
	case c.in >= 0:
		p := &b.query.Where[c.in]
		*list = append(*list, Binding{c.field, workload.In, p.Value})
		a.applied |= 1 << c.in
		if !partition {
			return true
		}
		a.requests *= max(1, p.Items)
		a.several = true
	default:
		return false
	}
	if c.number >= 0 {
		a.fixed.fields.add(c.number)
	}
	return true
}

// bindRange binds a column to bounds, where the query has them.
func (b *builder) bindRange(a *tableAccess, list *[]Binding, c *column) {
	for _, n := range c.bounds {
		p := &b.query.Where[n]
		*list = append(*list, Binding{c.field, p.Op, p.Value})
		a.applied |= 1 << n
	}
}

// bindBuckets finds out which buckets must be read: that of a value which is known, those between bounds, else all.
func (b *builder) bindBuckets(a *tableAccess, from state, u *usable) {
	t := u.table
	if t.Bucket == nil || t.Bucket.Count <= 1 && t.Bucket.Of.IsZero() {
		return
	}
	count := max(1, t.Bucket.Count)
	if c := u.bucket; c != nil {
		told := tableAccess{requests: 1}
		switch {
		case b.bindEqual(&told, &a.bucket, from, c, true):
			a.requests *= min(count, told.requests)
			a.several = a.several || told.several
			a.fed |= told.fed
			return
		case t.Bucket.Width > 0 && len(c.bounds) > 0 && b.query.Where[c.bounds[0]].Op != workload.Like:
			b.bindRange(&told, &a.bucket, c)
			a.requests *= max(1, count*model.RangeSelectivity)
			a.several = true
			return
		}
	}
	a.requests *= count
	a.several = a.several || count > 1
}

// bindIndexes binds indexed columns: of a storage-attached index all that have a condition it can answer, of others the
// first. Where the partition key is bound too, one partition is asked instead of all nodes.
func (b *builder) bindIndexes(a *tableAccess, from state, u *usable) bool {
	for i := range u.indexes {
		c := &u.indexes[i]
		if len(a.where) > 0 && !c.sai {
			continue
		}
		if c.equal < 0 && c.in >= 0 && (c.number < 0 || !from.fields.has(c.number)) {
			continue
		}
		if c.equal < 0 && !c.known && c.number >= 0 && from.fields.has(c.number) && c.field.Attribute.Null > 0 && !b.hasCondition(c.field) {
			continue // rows at hand without a value would find no row, not even their own
		}
		if !b.bindEqual(a, &a.where, from, c, false) {
			ranges := c.sai && c.field.Attribute.Type != "text" && c.field.Attribute.Type != "varchar" && c.field.Attribute.Type != "ascii"
			if ranges && len(c.bounds) > 0 && b.query.Where[c.bounds[0]].Op != workload.Like {
				b.bindRange(a, &a.where, c)
			}
		}
		if len(a.where) > 0 && !c.sai {
			break
		}
	}
	if len(a.where) == 0 {
		return false
	}
	if u.table.Bucket != nil {
		return true
	}
	within := *a
	within.partition = nil
	for i := range u.partition {
		if !b.bindEqual(&within, &within.partition, from, &u.partition[i], true) || within.several {
			return true
		}
	}
	*a = within
	return true
}

// joinsRows reports whether the rows that are read belong to the rows at hand: they share entities, and each shared entity is
// determined by one of which a whole key is bound to what the rows at hand have.
func (b *builder) joinsRows(from state, u *usable, a *tableAccess) bool {
	shared := from.joined & u.common
	if shared == 0 {
		return false
	}
	determined := uint64(0)
	for i := range b.keys {
		if k := &b.keys[i]; shared&(1<<k.entity) != 0 && a.matched.holds(k.fields) {
			determined |= b.determined[k.entity]
		}
	}
	return shared&^determined == 0
}

// inOrder reports whether the rows of one request come in the order asked for, or in its reverse: the columns of ORDER BY
// follow one another in the clustering key, but for columns that are the same in all those rows, or in all that agree in
// what comes before.
func (b *builder) inOrder(u *usable, same fixed) (ordered, reverse bool) {
	at, told := 0, false
	for _, o := range b.order {
		if b.isFixed(&same, o.field) {
			continue
		}
		for at < len(u.clustering) && b.isConstant(&same, &u.clustering[at]) {
			at++
		}
		if at == len(u.clustering) || u.clustering[at].number != o.field {
			return false, false
		}
		if flip := u.clustering[at].desc != o.desc; !told {
			reverse, told = flip, true
		} else if flip != reverse {
			return false, false
		}
		same.fields.add(o.field)
		b.closeDetermined(&same)
		at++
	}
	return true, reverse
}

// isConstant reports whether a column has one value.
func (b *builder) isConstant(k *fixed, c *column) bool {
	return c.number >= 0 && k.fields.has(c.number) || k.entities&c.anchor != 0
}

// arcSteps writes an arc's steps, without their estimates.
func (b *builder) arcSteps(u *usable, a tableAccess, filtered uint64) []Step {
	n := 1
	if u.base != nil || len(u.nests) > 0 {
		n++
	}
	if filtered != 0 {
		n++
	}
	steps := append(make([]Step, 0, n), Step{Kind: a.kind, Table: u.table, As: u.as, Partition: a.partition, Clustering: a.clustering, Where: a.where, Bucket: a.bucket, Fields: u.held, Nests: u.nests})
	if u.base != nil {
		steps = append(steps, b.verifyStep(u, a))
	}
	if len(u.nests) > 0 {
		steps = append(steps, Step{Kind: Unnest, Table: u.table, As: u.as, Fields: u.inside, Nests: u.nests})
	}
	if filtered != 0 {
		steps = append(steps, Step{Kind: Filter, Where: b.bindingsOf(filtered)})
	}
	return steps
}

// bindingsOf returns some predicates as bindings; the same slice each time.
func (b *builder) bindingsOf(mask uint64) []Binding {
	list := b.filters[mask]
	if list == nil {
		for n, p := range b.query.Where {
			if mask&(1<<n) != 0 {
				list = append(list, Binding{p.Field, p.Op, p.Value})
			}
		}
		b.filters[mask] = list
	}
	return list
}

// verifyStep reads the base rows that a look-up table's entries name, and checks again what the look-up was asked for.
func (b *builder) verifyStep(u *usable, a tableAccess) Step {
	base := u.table.Base
	s := Step{Kind: Get, Table: base, Verify: true, Fields: u.base.held}
	for _, f := range base.Partition {
		s.Partition = append(s.Partition, Binding{Field: f, Op: workload.Equal})
	}
	for _, f := range base.Clustering {
		s.Clustering = append(s.Clustering, Binding{Field: f, Op: workload.Equal})
	}
	s.Where = append(append([]Binding(nil), a.partition...), a.clustering...)
	return s
}

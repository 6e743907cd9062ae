package plan

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// finishArc adds what comes after the last read, in the order in which it is meant: groups, one of each, the order, so many
// of each parent, so many of all. What the server has done already, or can do as well, is left to it.
//
// The server can group if one request finds all rows. It can limit each request if nothing is filtered, grouped or
// dropped afterwards: the first rows of the answer are among the first of each request, if those come in the order that
// is asked for. So many of each parent are among the first of a request if its rows have one parent.
func (b *builder) finishArc(arc *Arc, from, to state, u *usable, a tableAccess, filtered bool) {
	q := b.query
	read := &arc.Steps[0]
	var last []Step
	add := func(s Step) { last = append(last, s) }
	one := b.atMostOneRow(from) && !a.several // request
	plain := !filtered && u.base == nil && len(u.nests) == 0
	sorted := to.sorted
	sort := func() {
		if !sorted {
			add(Step{Kind: Sort, Fields: q.Ordered(), Order: q.OrderBy})
		}
		sorted = true
	}
	if len(q.GroupBy) > 0 || len(q.Aggregates) > 0 {
		switch {
		case plain && b.serverGroups(from, u, a) && (sorted || b.orderSurvives(q.GroupBy)):
			read.Grouped, read.Group, read.Aggregates = true, q.GroupBy, q.Aggregates
			plain = sorted && q.PerLimit == 0
		case !b.orderSurvives(q.GroupBy):
			sort()
			fallthrough
		default:
			add(Step{Kind: Group, Group: q.GroupBy, Aggregates: q.Aggregates})
			plain = false
		}
	}
	if q.Distinct && !b.rowsDistinct(to) {
		if !b.orderSurvives(q.Select) {
			sort()
		}
		add(Step{Kind: Distinct, Fields: q.Select})
		plain = false
	}
	sort()
	ordered := to.sorted || a.inOrder
	pushed := 0
	switch {
	case !plain || !ordered:
	case q.PerLimit > 0 && b.sameParent(a):
		pushed = smallerLimit(q.PerLimit, q.Limit)
	case q.PerLimit == 0:
		pushed = q.Limit
	}
	switch {
	case pushed == 0:
	case a.kind == Get:
		read.Limit, read.Reverse = pushed, read.Reverse || a.inOrder && a.reverse
	case a.kind == Scan && (q.PerLimit > 0 || !to.sorted):
		read.PerPartition = pushed
	default:
		read.Limit = pushed
	}
	if q.PerLimit > 0 {
		add(Step{Kind: LimitEach, Fields: q.Per, Limit: q.PerLimit})
	}
	if q.Limit > 0 && (q.PerLimit > 0 || !one || !to.sorted || read.Limit != q.Limit) {
		add(Step{Kind: Limit, Limit: q.Limit})
	}
	arc.Steps = append(arc.Steps, last...)
}

// orderSurvives reports whether rows can be put in order when nothing but some fields is left of them. Else groups, and the one
// kept of each, are in the order of their first rows.
func (b *builder) orderSurvives(fields []model.Field) bool {
	for _, o := range b.order {
		if !slices.Contains(fields, b.names[o.field]) {
			return false
		}
	}
	return true
}

// smallerLimit is the smaller limit, of which 0 is none.
func smallerLimit(a, b int) int {
	if b > 0 {
		return min(a, b)
	}
	return a
}

// serverGroups reports whether one request finds all rows and CQL can group them: by columns of the partition key, and
// those that come first in the clustering key, but for those bound by equality.
func (b *builder) serverGroups(from state, u *usable, a tableAccess) bool {
	q := b.query
	if from.joined != 0 || a.several || a.kind != Get && len(q.GroupBy) > 0 {
		return false
	}
	for _, g := range q.Aggregates {
		if strings.EqualFold(g.Func, "avg") && isInteger(g.Field.Attribute.Type) {
			return false // Cassandra cuts the fraction off
		}
	}
	var left, equal set
	for _, f := range q.GroupBy {
		left.add(b.fields[f])
	}
	for _, x := range append(a.partition[:len(a.partition):len(a.partition)], a.clustering...) {
		if n, ok := b.fields[x.Field]; ok && x.Op == workload.Equal {
			equal.add(n)
		}
	}
	for i := range left {
		left[i] &^= equal[i]
	}
	for i := range u.clustering {
		c := &u.clustering[i]
		switch {
		case left == set{}:
			return true
		case c.number >= 0 && left.has(c.number):
			left[c.number>>6] &^= 1 << (c.number & 63)
		case c.number >= 0 && equal.has(c.number):
		default:
			return false
		}
	}
	return left == set{}
}

// isInteger reports whether values of a CQL type are whole numbers.
func isInteger(cqlType string) bool {
	switch strings.ToLower(cqlType) {
	case "tinyint", "smallint", "int", "bigint", "varint", "counter":
		return true
	}
	return false
}

// rowsDistinct reports whether no two rows are the same in what is selected: it determines each entity that is joined, or each
// group.
func (b *builder) rowsDistinct(to state) bool {
	q := b.query
	k := b.constant
	for _, f := range q.Select {
		k.fields.add(b.fields[f])
	}
	b.closeDetermined(&k)
	if len(q.GroupBy) > 0 || len(q.Aggregates) > 0 {
		for _, f := range q.GroupBy {
			if !b.isFixed(&k, b.fields[f]) {
				return false
			}
		}
		return true
	}
	return to.joined&^k.entities == 0
}

// sameParent reports whether the rows of one request have the same parent.
func (b *builder) sameParent(a tableAccess) bool {
	for _, f := range b.query.Per {
		if !b.isFixed(&a.fixed, b.fields[f]) {
			return false
		}
	}
	return true
}

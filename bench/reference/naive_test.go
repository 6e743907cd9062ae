package reference_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/reference"
)

// naive is data in memory and what statements mean by definition: loops, and no SQL.
type naive struct {
	rows  map[*model.Entity]map[int]map[*model.Attribute]any
	pairs map[*model.Relationship]map[[2]int]bool
	next  map[*model.Entity]int
}

func newNaive(w *data.World) *naive {
	n := &naive{map[*model.Entity]map[int]map[*model.Attribute]any{}, map[*model.Relationship]map[[2]int]bool{}, map[*model.Entity]int{}}
	for _, e := range w.Graph().Entities {
		n.rows[e], n.next[e] = map[int]map[*model.Attribute]any{}, w.Count(e)
		for i := range w.Count(e) {
			n.rows[e][i] = map[*model.Attribute]any{}
			for _, a := range e.Attributes {
				n.rows[e][i][a] = w.Value(e, i, a)
			}
		}
	}
	for _, r := range w.Graph().Relationships {
		n.pairs[r] = map[[2]int]bool{}
		_ = w.Pairs(r, func(from, to int) error { n.pairs[r][[2]int{from, to}] = true; return nil })
	}
	return n
}

type joined map[*model.Entity]int

func (n *naive) join(tree model.Tree) []joined {
	whole := tree.Reach(tree.Entities[0], func(*model.Relationship, *model.Entity) bool { return true })
	var found []joined
	for i := range n.rows[whole.Entities[0].Base()] {
		found = append(found, joined{whole.Entities[0]: i})
	}
	for _, edge := range whole.Edges {
		var next []joined
		for _, r := range found {
			for pair := range n.pairs[edge.Base()] {
				here, there, to := pair[0], pair[1], edge.To
				if _, known := r[edge.From]; !known {
					here, there, to = there, here, edge.From
				}
				if r[edge.Other(to)] == here {
					more := joined{to: there}
					for e, i := range r {
						more[e] = i
					}
					next = append(next, more)
				}
			}
		}
		found = next
	}
	return found
}

func (n *naive) value(r joined, f model.Field) any {
	return n.rows[f.Entity.Base()][r[f.Entity]][f.Attribute]
}

// order compares two values of one type; null comes first.
func order(a, b any) int {
	switch x := a.(type) {
	case nil:
		if b == nil {
			return 0
		}
		return -1
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y)
		}
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y)
		}
	case bool:
		if y, ok := b.(bool); ok {
			return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y))
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y)
		}
	case gocql.UUID:
		if y, ok := b.(gocql.UUID); ok {
			return bytes.Compare(x[:], y[:])
		}
	}
	if b == nil {
		return 1
	}
	panic(fmt.Sprintf("%T and %T", a, b))
}

func compares(op workload.Op, v any, with []any) bool {
	if v == nil {
		return false
	}
	if op == workload.In {
		return slices.ContainsFunc(with, func(x any) bool { return x != nil && order(v, x) == 0 })
	}
	if with[0] == nil {
		return false
	}
	if op == workload.Like {
		return strings.HasPrefix(v.(string), strings.TrimSuffix(with[0].(string), "%"))
	}
	c := order(v, with[0])
	switch op {
	case workload.Equal:
		return c == 0
	case workload.NotEqual:
		return c != 0
	case workload.Greater:
		return c > 0
	case workload.GreaterOrEqual:
		return c >= 0
	case workload.Less:
		return c < 0
	}
	return c <= 0
}

// satisfying are the rows of the join that satisfy conditions; their values are parameters with names, or plain "?".
func (n *naive) satisfying(tree model.Tree, where []workload.Predicate, with reference.Parameters) []joined {
	var found []joined
	names := workload.Names(where)
rows:
	for _, r := range n.join(tree) {
		for i, p := range where {
			name := p.Value
			if name == "?" {
				name = names[i]
			}
			if with[name] == nil {
				panic(name)
			}
			if !compares(p.Op, n.value(r, p.Field), with[name]) {
				continue rows
			}
		}
		found = append(found, r)
	}
	return found
}

// result is a row of an answer before limits.
type result struct{ out, order, per []any }

func (n *naive) answer(q *workload.Query, with reference.Parameters) []result {
	rows := n.satisfying(q.Tree, q.Where, with)
	make := func(r joined, aggregates []any) result {
		var x result
		for _, f := range q.Select {
			x.out = append(x.out, n.value(r, f))
		}
		x.out = append(x.out, aggregates...)
		for _, o := range q.OrderBy {
			x.order = append(x.order, n.value(r, o.Field))
		}
		for _, f := range q.Per {
			x.per = append(x.per, n.value(r, f))
		}
		return x
	}
	var all []result
	if len(q.GroupBy)+len(q.Aggregates) > 0 {
		groups := map[string][]joined{}
		if len(q.GroupBy) == 0 {
			groups[""] = nil
		}
		for _, r := range rows {
			key := ""
			for _, f := range q.GroupBy {
				key += fmt.Sprintf("%#v|", n.value(r, f))
			}
			groups[key] = append(groups[key], r)
		}
		for _, group := range groups {
			var aggregates []any
			for _, a := range q.Aggregates {
				aggregates = append(aggregates, n.aggregate(group, a))
			}
			first := joined{}
			if len(group) > 0 {
				first = group[0]
			}
			all = append(all, make(first, aggregates))
		}
	} else {
		for _, r := range rows {
			all = append(all, make(r, nil))
		}
	}
	if q.Distinct {
		seen := map[string]bool{}
		all = slices.DeleteFunc(all, func(r result) bool {
			key := fmt.Sprintf("%#v", r.out)
			defer func() { seen[key] = true }()
			return seen[key]
		})
	}
	slices.SortStableFunc(all, func(a, b result) int { return before(q, a, b) })
	return all
}

func before(q *workload.Query, a, b result) int {
	for i, o := range q.OrderBy {
		if c := order(a.order[i], b.order[i]); c != 0 {
			if o.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

func (n *naive) aggregate(group []joined, a workload.Aggregate) any {
	if a.Field.IsZero() {
		return int64(len(group))
	}
	var least, greatest any
	count, whole, sum := int64(0), int64(0), 0.0
	for _, r := range group {
		v := n.value(r, a.Field)
		if v == nil {
			continue
		}
		count++
		if least == nil || order(v, least) < 0 {
			least = v
		}
		if greatest == nil || order(v, greatest) > 0 {
			greatest = v
		}
		switch x := v.(type) {
		case int64:
			whole += x
		case float64:
			sum += x
		}
	}
	double := a.Field.Attribute.Type == "double"
	switch {
	case a.Func == "count":
		return count
	case a.Func == "min":
		return least
	case a.Func == "max":
		return greatest
	case a.Func == "sum" && double:
		return sum
	case a.Func == "sum":
		return whole
	case count == 0:
		return nil
	case double:
		return sum / float64(count)
	}
	return float64(whole) / float64(count)
}

// apply is Reference.Apply in memory.
func (n *naive) apply(w *workload.Write, with reference.Parameters) {
	e := w.Entity.Base()
	find := func(e *model.Entity, key []any) int {
	rows:
		for i, row := range n.rows[e.Base()] {
			for j, a := range e.Key {
				if order(row[a], key[j]) != 0 {
					continue rows
				}
			}
			return i
		}
		panic(fmt.Sprint("no ", e.Name, key))
	}
	own := func() int {
		var key []any
		for _, f := range w.Entity.KeyFields() {
			key = append(key, with[workload.KeyName(f)][0])
		}
		return find(e, key)
	}
	pair := func(i, of int) [2]int {
		c := w.Connections[i]
		nth := 0
		for _, before := range w.Connections[:i] {
			if before.Edge.Role(w.Entity) == c.Edge.Role(w.Entity) {
				nth++
			}
		}
		var key []any
		for _, f := range c.Entity.KeyFields() {
			key = append(key, with[c.Edge.Role(w.Entity)+"."+f.Attribute.Name][nth])
		}
		other := find(c.Entity, key)
		if c.Edge.From == w.Entity {
			return [2]int{of, other}
		}
		return [2]int{other, of}
	}
	switch w.Kind {
	case workload.Insert:
		row := map[*model.Attribute]any{}
		for _, f := range w.Set {
			row[f.Attribute] = with[workload.SetName(f)][0]
		}
		i := n.next[e]
		n.rows[e][i] = row
		for c := range w.Connections {
			n.pairs[w.Connections[c].Edge.Base()][pair(c, i)] = true
		}
		n.next[e]++
	case workload.Connect:
		r, link := w.Connections[0].Edge.Base(), pair(0, own())
		for other := range n.pairs[r] { // whoever may have one partner leaves the one that it had
			if (r.Kind == model.OneToOne || r.Kind == model.ManyToOne) && other[0] == link[0] || (r.Kind == model.OneToOne || r.Kind == model.OneToMany) && other[1] == link[1] {
				delete(n.pairs[r], other)
			}
		}
		n.pairs[w.Connections[0].Edge.Base()][pair(0, own())] = true
	case workload.Disconnect:
		delete(n.pairs[w.Connections[0].Edge.Base()], pair(0, own()))
	default:
		chosen := map[int]bool{}
		for _, r := range n.satisfying(w.Tree, w.Where, with) {
			chosen[r[w.Entity]] = true
		}
		for i := range chosen {
			if w.Kind == workload.Delete {
				delete(n.rows[e], i)
				for r, pairs := range n.pairs {
					for p := range pairs {
						if r.From == e && p[0] == i || r.To == e && p[1] == i {
							delete(pairs, p)
						}
					}
				}
				continue
			}
			for _, f := range w.Set {
				n.rows[e][i][f.Attribute] = with[workload.SetName(f)][0]
			}
			for _, f := range w.Increments {
				switch x := with[workload.AddName(f)][0].(type) {
				case int64:
					if v, ok := n.rows[e][i][f.Attribute].(int64); ok {
						n.rows[e][i][f.Attribute] = v + x
					}
				case float64:
					if v, ok := n.rows[e][i][f.Attribute].(float64); ok {
						n.rows[e][i][f.Attribute] = v + x
					}
				}
			}
		}
	}
}

package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// The oracle: data of a random model in memory, and what a conceptual query asks of it by definition. All values are
// texts, compared as texts; null is a value of its own.

const null = "\x00"

// world is data.
type world struct {
	rows  map[*model.Entity][]map[*model.Attribute]string
	links map[*model.Relationship][][2]int // numbers of From and To
}

// related is one row of the join: which of the rows of each entity.
type related map[*model.Entity]int

func (w *world) value(r related, f model.Field) string {
	return w.rows[f.Entity.Base()][r[f.Entity]][f.Attribute]
}

// join returns all rows of the join over a tree.
func (w *world) join(tree model.Tree) []related {
	whole := tree.Reach(tree.Entities[0], func(*model.Relationship, *model.Entity) bool { return true })
	var found []related
	for i := range w.rows[whole.Entities[0].Base()] {
		found = append(found, related{whole.Entities[0]: i})
	}
	for _, edge := range whole.Edges {
		var next []related
		for _, r := range found {
			for _, link := range w.links[edge.Base()] {
				at, to, other := link[0], link[1], edge.To
				if _, known := r[edge.From]; !known {
					at, to, other = link[1], link[0], edge.From
				}
				if r[edge.Other(other)] != at {
					continue
				}
				more := related{other: to}
				for e, i := range r {
					more[e] = i
				}
				next = append(next, more)
			}
		}
		found = next
	}
	return found
}

// asked is a query with the values of its parameters.
type asked struct {
	*workload.Query
	values map[string][]string    // by parameter; several for IN
	known  map[model.Field]string // Query.Known
}

func (a *asked) satisfies(p workload.Predicate, v string) bool {
	return compares(p.Op, v, a.values[p.Value])
}

func compares(op workload.Op, v string, with []string) bool {
	if v == null {
		return false
	}
	switch op {
	case workload.Equal:
		return v == with[0]
	case workload.NotEqual:
		return v != with[0]
	case workload.Greater:
		return v > with[0]
	case workload.GreaterOrEqual:
		return v >= with[0]
	case workload.Less:
		return v < with[0]
	case workload.LessOrEqual:
		return v <= with[0]
	case workload.Like:
		return strings.HasPrefix(v, with[0])
	case workload.In:
		return slices.Contains(with, v)
	}
	panic("comparison " + op)
}

// line is a row of an answer.
type line struct {
	out   string   // what is selected
	order []string // ORDER BY
	per   string   // the per-parent limit's parent
}

// hand is a row in the client: values, and aggregates once it is grouped.
type hand struct {
	fields     map[model.Field]string
	aggregates []string
	nested     map[*model.Nest]collection // read, and not made rows of yet
}

func (a *asked) line(h hand) line {
	var out, per []string
	for _, f := range a.Select {
		out = append(out, h.fields[f])
	}
	l := line{}
	for _, o := range a.OrderBy {
		l.order = append(l.order, h.fields[o.Field])
	}
	for _, f := range a.Per {
		per = append(per, h.fields[f])
	}
	l.out, l.per = strings.Join(append(out, h.aggregates...), "|"), strings.Join(per, "|")
	return l
}

// before compares by ORDER BY.
func (a *asked) before(x, y []string) int {
	for i, o := range a.OrderBy {
		c := strings.Compare(x[i], y[i])
		if o.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// fieldsOf are all that the end of the query needs of a row.
func (a *asked) fieldsOf() []model.Field {
	list := model.AppendNew(slices.Clone(a.Select), a.Ordered()...)
	list = model.AppendNew(list, a.Per...)
	list = model.AppendNew(list, a.GroupBy...)
	for _, g := range a.Aggregates {
		if !g.Field.IsZero() {
			list = model.AppendNew(list, g.Field)
		}
	}
	return list
}

// answer is what is asked, by definition, before limits.
func (a *asked) answer(w *world) []line {
	var hands []hand
rows:
	for _, r := range w.join(a.Tree) {
		for _, p := range a.Where {
			if !a.satisfies(p, w.value(r, p.Field)) {
				continue rows
			}
		}
		h := hand{fields: map[model.Field]string{}}
		for _, f := range a.fieldsOf() {
			h.fields[f] = w.value(r, f)
		}
		hands = append(hands, h)
	}
	sort.SliceStable(hands, func(i, j int) bool { return a.before(a.line(hands[i]).order, a.line(hands[j]).order) < 0 })
	if len(a.GroupBy) > 0 || len(a.Aggregates) > 0 {
		hands = group(hands, a.GroupBy, a.Aggregates)
	}
	if a.Distinct {
		hands = distinct(hands, a.Select)
	}
	var lines []line
	for _, h := range hands {
		lines = append(lines, a.line(h))
	}
	sort.SliceStable(lines, func(i, j int) bool { return a.before(lines[i].order, lines[j].order) < 0 })
	return lines
}

func key(h hand, fields []model.Field) string {
	var values []string
	for _, f := range fields {
		values = append(values, h.fields[f])
	}
	return strings.Join(values, "|")
}

// distinct keeps the first of rows with the same values.
func distinct(hands []hand, fields []model.Field) []hand {
	seen := map[string]bool{}
	var kept []hand
	for _, h := range hands {
		if k := key(h, fields) + "|" + strings.Join(h.aggregates, "|"); !seen[k] {
			seen[k] = true
			kept = append(kept, h)
		}
	}
	return kept
}

// group makes a row of each group with the fields of its first, in the order in which groups are met; one of all rows if there is nothing to group by.
func group(hands []hand, by []model.Field, aggregates []workload.Aggregate) []hand {
	var order []string
	groups := map[string][]hand{}
	for _, h := range hands {
		k := key(h, by)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], h)
	}
	if len(by) == 0 && len(order) == 0 {
		order = []string{""}
	}
	var made []hand
	for _, k := range order {
		h := hand{fields: map[model.Field]string{}}
		if len(groups[k]) > 0 {
			h.fields = maps.Clone(groups[k][0].fields)
		}
		for _, a := range aggregates {
			h.aggregates = append(h.aggregates, aggregate(groups[k], a))
		}
		made = append(made, h)
	}
	return made
}

func aggregate(hands []hand, a workload.Aggregate) string {
	if a.Field.IsZero() {
		return strconv.Itoa(len(hands))
	}
	var values []string
	sum := 0
	for _, h := range hands {
		if v := h.fields[a.Field]; v != null {
			values = append(values, v)
			n, _ := strconv.Atoi(v)
			sum += n
		}
	}
	switch {
	case a.Func == "count":
		return strconv.Itoa(len(values))
	case a.Func == "sum":
		return strconv.Itoa(sum)
	case len(values) == 0:
		return null
	case a.Func == "min":
		return slices.Min(values)
	case a.Func == "max":
		return slices.Max(values)
	}
	return fmt.Sprintf("%d/%d", sum, len(values))
}

// wrong says what is wrong with an answer; "" if it is one that the query allows. Where limits cut among equals, any of
// them will do.
func (a *asked) wrong(got, whole []line) string {
	for i := 1; i < len(got); i++ {
		if a.before(got[i-1].order, got[i].order) > 0 {
			return fmt.Sprintf("row %d is out of order", i)
		}
	}
	kept := whole
	if a.PerLimit > 0 {
		kept = nil
		n := map[string]int{}
		for _, l := range whole {
			if n[l.per]++; n[l.per] <= a.PerLimit {
				kept = append(kept, l)
			}
		}
	}
	if a.Limit > 0 && len(kept) > a.Limit {
		kept = kept[:a.Limit]
	}
	if len(got) != len(kept) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(kept))
	}
	count := func(lines []line) map[string]int {
		n := map[string]int{}
		for _, l := range lines {
			n[fmt.Sprintf("%q", l)]++
		}
		return n
	}
	for l, n := range count(got) {
		if n > count(whole)[l] {
			return fmt.Sprintf("row %s is there %d times, %d in the data", l, n, count(whole)[l])
		}
	}
	per := map[string]int{}
	for i, l := range got {
		if a.before(l.order, kept[i].order) != 0 {
			return fmt.Sprintf("row %d is %q, not of the first in order: want %q", i, l, kept[i])
		}
		if per[l.per]++; a.PerLimit > 0 && per[l.per] > a.PerLimit {
			return "more rows of one parent than the limit"
		}
	}
	return ""
}

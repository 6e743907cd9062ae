package planrun_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// What a conceptual query asks of data, by definition and in Go values: all rows of the join that satisfy the conditions,
// then groups, then one of each, in order, so many of each parent, so many of all. Null satisfies nothing, comes first, and
// counts for nothing.

// world is data of a model: Go values of the types that exec.Decode makes.
type world struct {
	random *rand.Rand
	rows   map[*model.Entity][]map[*model.Attribute]any
	links  map[*model.Relationship][][2]int // numbers of From and To
}

// newWorld draws data: few entities, and values that often meet.
func newWorld(g *model.Graph, seed uint64) *world {
	w := &world{rand.New(rand.NewPCG(seed, 7)), map[*model.Entity][]map[*model.Attribute]any{}, map[*model.Relationship][][2]int{}}
	for _, e := range g.Entities {
		e.Count = float64(2 + w.random.IntN(5))
		w.rows[e] = make([]map[*model.Attribute]any, int(e.Count))
		for i := range w.rows[e] {
			row := map[*model.Attribute]any{}
			for _, a := range e.Attributes {
				if row[a] = w.draw(a.Type); w.random.Float64() < a.Null {
					row[a] = nil
				}
			}
			for j, k := range e.Key {
				n := i
				if len(e.Key) > 1 {
					n = []int{i / 2, i % 2}[j]
				}
				row[k] = sample(k.Type, n)
			}
			w.rows[e][i] = row
		}
	}
	for _, r := range g.Relationships {
		nf, nt := len(w.rows[r.From]), len(w.rows[r.To])
		add := func(from, to int) { w.links[r] = append(w.links[r], [2]int{from, to}) }
		there := func() bool { return !r.Optional || w.random.IntN(10) < 6 }
		switch r.Kind {
		case model.OneToOne:
			r.Optional = r.Optional || nf > nt
			for i, j := range w.random.Perm(nt)[:min(nf, nt)] {
				if there() {
					add(i, j)
				}
			}
		case model.ManyToOne:
			for i := range nf {
				if there() {
					add(i, w.random.IntN(nt))
				}
			}
		case model.OneToMany:
			for j := range nt {
				if there() {
					add(w.random.IntN(nf), j)
				}
			}
		case model.ManyToMany:
			for i := range nf {
				for j := range nt {
					if w.random.IntN(10) < 4 {
						add(i, j)
					}
				}
			}
		}
	}
	return w
}

// sample is one of a type's values, by number; greater numbers are not always greater values.
func sample(cqlType string, n int) any {
	switch cqlType {
	case "int", "bigint":
		return int64(n*7%5 - 2 + n/5*10)
	case "double":
		return float64(n*7%5) - 1.5 + float64(n/5*10)
	case "boolean":
		return n%2 == 1
	case "timestamp":
		return time.UnixMilli(int64(n*7%5-2) * 86_400_000 * 3).UTC().Add(time.Duration(n) * time.Millisecond)
	case "date":
		return time.Unix(int64(n*7%5-2)*86400+int64(n/5)*864000, 0).UTC()
	case "uuid":
		u := gocql.UUID{byte(n * 77), 1, 2, 3, 4, 5, 0x41, 7, 0x82, 9, 10, 11, 12, 13, 14, byte(n)}
		return u
	case "text":
		return strings.Repeat("ab", n%3) + []string{"", "a", "\u00e9", "\x7f", "z"}[n%5] + fmt.Sprint(n/15)
	}
	panic("type " + cqlType)
}

func (w *world) draw(cqlType string) any { return sample(cqlType, w.random.IntN(6)) }

// joined is one row of a join: which of the rows of each entity.
type joined map[*model.Entity]int

func (w *world) value(r joined, f model.Field) any {
	return w.rows[f.Entity.Base()][r[f.Entity]][f.Attribute]
}

// join returns all rows of the join over a tree.
func (w *world) join(tree model.Tree) []joined {
	whole := tree.Reach(tree.Entities[0], func(*model.Relationship, *model.Entity) bool { return true })
	var found []joined
	for i := range w.rows[whole.Entities[0].Base()] {
		found = append(found, joined{whole.Entities[0]: i})
	}
	for _, edge := range whole.Edges {
		var next []joined
		for _, r := range found {
			for _, link := range w.links[edge.Base()] {
				at, to, other := link[0], link[1], edge.To
				if _, known := r[edge.From]; !known {
					at, to, other = link[1], link[0], edge.From
				}
				if r[edge.Other(other)] == at {
					more := maps.Clone(r)
					more[other] = to
					next = append(next, more)
				}
			}
		}
		found = next
	}
	return found
}

// order compares values as Cassandra does; nil comes first.
func order(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(map[bool]int{true: 1}[a != nil], map[bool]int{true: 1}[b != nil])
	}
	switch x := a.(type) {
	case int64:
		return cmp.Compare(x, b.(int64))
	case float64:
		return cmp.Compare(x, b.(float64))
	case string:
		return strings.Compare(x, b.(string))
	case bool:
		return cmp.Compare(map[bool]int{true: 1}[x], map[bool]int{true: 1}[b.(bool)])
	case time.Time:
		return x.Compare(b.(time.Time))
	case gocql.UUID: // all of one version
		y := b.(gocql.UUID)
		return bytes.Compare(x[:], y[:])
	}
	panic(fmt.Sprintf("a value of type %T", a))
}

// asked is a query with the values of its parameters: by predicate, several for IN; nil is null.
type asked struct {
	*workload.Query
	values [][]any
}

func satisfies(op workload.Op, v any, with []any) bool {
	if v == nil || len(with) == 0 || with[0] == nil && op != workload.In {
		return false
	}
	switch op {
	case workload.Equal:
		return order(v, with[0]) == 0
	case workload.NotEqual:
		return order(v, with[0]) != 0
	case workload.Greater:
		return order(v, with[0]) > 0
	case workload.GreaterOrEqual:
		return order(v, with[0]) >= 0
	case workload.Less:
		return order(v, with[0]) < 0
	case workload.LessOrEqual:
		return order(v, with[0]) <= 0
	case workload.Like:
		return strings.HasPrefix(v.(string), strings.TrimSuffix(with[0].(string), "%"))
	case workload.In:
		return slices.ContainsFunc(with, func(x any) bool { return x != nil && order(v, x) == 0 })
	}
	panic("comparison " + op)
}

// draw draws parameters, mostly such that a row is found.
func (w *world) ask(q *workload.Query) *asked {
	a := &asked{Query: q}
	rows := w.join(q.Tree)
	var lucky joined
	if len(rows) > 0 {
		lucky = rows[w.random.IntN(len(rows))]
	}
	for i, p := range q.Where {
		if n := slices.IndexFunc(q.Where, func(x workload.Predicate) bool { return x.Value == p.Value }); n < i && p.Value != "?" {
			a.values = append(a.values, a.values[n]) // the same parameter
			continue
		}
		value := func() any {
			if lucky != nil && w.random.IntN(10) < 8 {
				if v := w.value(lucky, p.Field); v != nil {
					return v
				}
			}
			return w.draw(p.Field.Attribute.Type)
		}
		values := []any{value()}
		switch {
		case p.Op == workload.In:
			for range w.random.IntN(4) {
				values = append(values, value())
			}
			if w.random.IntN(20) == 0 {
				values = append(values, nil)
			}
		case w.random.IntN(60) == 0:
			values[0] = nil
		case p.Op == workload.Like:
			text := []rune(values[0].(string))
			values[0] = string(text[:w.random.IntN(len(text)+1)]) + "%"
		}
		a.values = append(a.values, values)
	}
	return a
}

// parameters are the values by the names of the parameters.
func (a *asked) parameters(t testing.TB) planrun.Parameters {
	with := planrun.Parameters{}
	for i, p := range a.Where {
		name := p.Value
		if name == "?" {
			name = workload.Names(a.Where)[i]
		}
		cells := [][]byte{}
		for _, v := range a.values[i] {
			cell, err := planrun.Encode(p.Field.Attribute.Type, v)
			if err != nil {
				t.Fatal(err)
			}
			cells = append(cells, cell)
		}
		with[name] = cells
	}
	return with
}

// line is a row of an answer: values by field, and aggregates.
type line struct {
	fields     map[model.Field]any
	aggregates []any
}

func (l line) key(fields []model.Field) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%#v|", l.fields[f])
	}
	return b.String()
}

func (l line) out(a *asked) string { return l.key(a.Select) + fmt.Sprintf("%#v", l.aggregates) }

func (a *asked) compare(x, y line) int {
	for _, o := range a.OrderBy {
		if c := order(x.fields[o.Field], y.fields[o.Field]); c != 0 {
			return map[bool]int{false: c, true: -c}[o.Desc]
		}
	}
	return 0
}

// answer is what is asked, before limits.
func (a *asked) answer(w *world) []line {
	var lines []line
rows:
	for _, r := range w.join(a.Tree) {
		for i, p := range a.Where {
			if !satisfies(p.Op, w.value(r, p.Field), a.values[i]) {
				continue rows
			}
		}
		l := line{fields: map[model.Field]any{}}
		for _, e := range a.Tree.Entities {
			for _, attribute := range e.Attributes {
				f := model.Field{Entity: e, Attribute: attribute}
				l.fields[f] = w.value(r, f)
			}
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, a.compare)
	if len(a.GroupBy) > 0 || len(a.Aggregates) > 0 {
		lines = a.grouped(lines)
	}
	if a.Distinct {
		met := map[string]bool{}
		lines = slices.DeleteFunc(lines, func(l line) bool {
			again := met[l.out(a)]
			met[l.out(a)] = true
			return again
		})
	}
	return lines
}

func (a *asked) grouped(lines []line) []line {
	var keys []string
	groups := map[string][]line{}
	for _, l := range lines {
		k := l.key(a.GroupBy)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], l)
	}
	if len(a.GroupBy) == 0 && len(lines) == 0 {
		keys, groups[""] = []string{""}, []line{}
	}
	var made []line
	for _, k := range keys {
		l := line{fields: map[model.Field]any{}}
		if len(groups[k]) > 0 {
			l.fields = groups[k][0].fields
		}
		for _, g := range a.Aggregates {
			l.aggregates = append(l.aggregates, aggregate(g, groups[k]))
		}
		made = append(made, l)
	}
	return made
}

func aggregate(g workload.Aggregate, lines []line) any {
	if g.Field.IsZero() {
		return int64(len(lines))
	}
	var (
		count, whole int64
		sum          float64
		best         any
	)
	for _, l := range lines {
		v := l.fields[g.Field]
		if v == nil {
			continue
		}
		count++
		switch x := v.(type) {
		case int64:
			whole += x
			sum += float64(x)
		case float64:
			sum += x
		}
		if best != nil {
			if c := order(v, best); c == 0 || c < 0 != (g.Func == "min") {
				continue
			}
		}
		best = v
	}
	switch {
	case g.Func == "count":
		return count
	case g.Func == "min" || g.Func == "max":
		return best
	case g.Func == "avg" && count == 0:
		return nil
	case g.Func == "avg":
		return sum / float64(count)
	case g.Field.Attribute.Type == "double":
		return sum
	}
	return whole
}

// wrong says what is wrong with an answer; "" if it is one that the query allows. Where limits cut among equals, any of
// them will do. All of ORDER BY and PER are among what is selected.
func (a *asked) wrong(got *planrun.Rows, whole []line) string {
	lines := make([]line, len(got.Cells))
	for i, row := range got.Cells {
		lines[i].fields = map[model.Field]any{}
		for j, column := range got.Columns {
			v, err := planrun.Decode(column.Type, row[j])
			if err != nil {
				return err.Error()
			}
			if column.Aggregate.Func != "" {
				lines[i].aggregates = append(lines[i].aggregates, v)
			} else {
				lines[i].fields[column.Field] = v
			}
		}
	}
	kept := whole
	if a.PerLimit > 0 {
		n := map[string]int{}
		kept = slices.DeleteFunc(slices.Clone(whole), func(l line) bool {
			n[l.key(a.Per)]++
			return n[l.key(a.Per)] > a.PerLimit
		})
	}
	if a.Limit > 0 {
		kept = kept[:min(a.Limit, len(kept))]
	}
	if len(lines) != len(kept) {
		return fmt.Sprintf("%d rows, want %d of %d", len(lines), len(kept), len(whole))
	}
	count := map[string]int{}
	for _, l := range whole {
		count[l.out(a)]++
	}
	per := map[string]int{}
	for i, l := range lines {
		if count[l.out(a)]--; count[l.out(a)] < 0 {
			return fmt.Sprintf("row %d is not in the data, or too often: %s", i, l.out(a))
		}
		if a.compare(l, kept[i]) != 0 {
			return fmt.Sprintf("row %d is %s, not of the first in order: want %s", i, l.out(a), kept[i].out(a))
		}
		if per[l.key(a.Per)]++; a.PerLimit > 0 && per[l.key(a.Per)] > a.PerLimit {
			return "more rows of one parent than the limit"
		}
	}
	return ""
}

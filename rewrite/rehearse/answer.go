package rehearse

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// operands are what a condition compares with.
func operands(p workload.Predicate, name string, with planrun.Parameters) [][]byte {
	var list [][]byte
	plain := 0
	texts := p.List()
	for _, text := range texts {
		switch {
		case !strings.HasPrefix(text, "?"):
			list = append(list, literal(p.Field.Attribute.Type, text))
		case p.Op == workload.In && len(texts) == 1 && p.Value == text && text == "?":
			list = append(list, with[name]...)
		case p.Op == workload.In && p.Value == text:
			list = append(list, with[text]...)
		case text == "?":
			if plain < len(with[name]) {
				list = append(list, with[name][plain])
			}
			plain++
		default:
			list = append(list, with[text]...)
		}
	}
	return list
}

// meets tells whether a row of a join satisfies conditions.
func (w *world) meets(r combined, where []workload.Predicate, with planrun.Parameters) bool {
	names := workload.Names(where)
	for i, p := range where {
		if !satisfies(p.Op, p.Field.Attribute.Type, w.value(r, p.Field), operands(p, names[i], with)) {
			return false
		}
	}
	return true
}

// conditions draws the parameters of conditions, mostly so that some row of the join satisfies all: that row is returned, nil if there is none.
func (w *world) conditions(tree model.Tree, where []workload.Predicate, with planrun.Parameters) (combined, bool) {
	rows, ok := w.join(tree)
	if !ok {
		return nil, false
	}
	var fixed []workload.Predicate // by what is written alone
	for _, p := range where {
		if !slices.ContainsFunc(p.List(), func(v string) bool { return strings.HasPrefix(v, "?") }) {
			fixed = append(fixed, p)
		}
	}
	rows = slices.DeleteFunc(rows, func(r combined) bool {
		return !w.meets(r, fixed, nil) || slices.ContainsFunc(where, func(p workload.Predicate) bool { return w.value(r, p.Field) == nil })
	})
	var lucky combined
	if len(rows) > 0 {
		lucky = rows[w.random.IntN(len(rows))]
	}
	names := workload.Names(where)
	for i, p := range where {
		have := w.draw(p.Field.Attribute)
		if lucky != nil {
			have = w.value(lucky, p.Field)
		}
		plain := 0
		for _, text := range p.List() {
			if text == "?" {
				plain++
			} else if strings.HasPrefix(text, "?") && with[text] == nil {
				with[text] = w.compared(p, have, 1, text == p.Value)
			}
		}
		if plain > 0 {
			with[names[i]] = w.compared(p, have, plain, p.Value == "?")
		}
	}
	return lucky, true
}

// compared are values that a condition compares with, which a value satisfies if it can.
func (w *world) compared(p workload.Predicate, have []byte, count int, list bool) [][]byte {
	a := p.Field.Attribute
	switch p.Op {
	case workload.Equal:
		return [][]byte{have}
	case workload.Like:
		return [][]byte{append(slices.Clone(have[:min(len(have), 1)]), '%')}
	case workload.In:
		if list {
			count = 1 + w.random.IntN(3)
		}
		made := [][]byte{have}
		for len(made) < count {
			made = append(made, w.draw(a))
		}
		w.random.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
		return made
	}
	const tries = 6
	for range tries {
		if v := w.draw(a); satisfies(p.Op, a.Type, have, [][]byte{v}) {
			return [][]byte{v}
		}
	}
	return [][]byte{have}
}

// known gives the parameters of GIVEN what is so: of the entities of a row, or of what those determine.
func (w *world) known(fields []model.Field, r combined, with planrun.Parameters) bool {
	for _, f := range fields {
		v, ok := w.fact(r, f)
		if !ok {
			return false
		}
		with[workload.GivenName(f)] = [][]byte{v}
	}
	return true
}

// fact is what a field has of an entity of a row, or of one that those determine. A guest determines no room: the one that he has booked once is not that of the booking which is spoken of.
func (w *world) fact(r combined, f model.Field) ([]byte, bool) {
	if n, ok := r[f.Entity]; ok {
		return w.rows[f.Entity.Base()][n][f.Attribute], true
	}
	for _, e := range slices.SortedFunc(maps.Keys(r), func(a, b *model.Entity) int { return strings.Compare(a.Name, b.Name) }) {
		tree, err := w.graph.Connect([]*model.Entity{e.Base(), f.Entity})
		if err != nil || !tree.Determined(e.Base()).Has(f.Entity) {
			continue
		}
		rows, _ := w.join(tree)
		for _, x := range rows {
			if x[e.Base()] == r[e] {
				return w.value(x, f), true
			}
		}
	}
	return nil, false
}

// line is a row of an answer before limits.
type line struct {
	out   string // what is selected, and aggregates
	order string // by what is sorted
	per   string
	first combined
}

// answer is what a query asks for, before limits. false: the join is too large.
func (w *world) answer(q *workload.Query, with planrun.Parameters) ([]line, bool) {
	rows, ok := w.join(q.Tree)
	if !ok {
		return nil, false
	}
	rows = slices.DeleteFunc(rows, func(r combined) bool { return !w.meets(r, q.Where, with) })
	slices.SortStableFunc(rows, func(a, b combined) int {
		for _, o := range q.OrderBy {
			d := planrun.Compare(o.Field.Attribute.Type, w.value(a, o.Field), w.value(b, o.Field))
			if d != 0 && o.Desc {
				return -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	})
	text := func(r combined, fields []model.Field) string {
		parts := make([]string, len(fields))
		for i, f := range fields {
			if r == nil {
				parts[i] = "null"
			} else {
				parts[i] = shown(f.Attribute.Type, w.value(r, f))
			}
		}
		return strings.Join(parts, ", ")
	}
	var lines []line
	add := func(first combined, rest []string) {
		out := text(first, q.Select)
		if len(rest) > 0 {
			out = strings.TrimPrefix(out+", "+strings.Join(rest, ", "), ", ")
		}
		lines = append(lines, line{out: "(" + out + ")", order: text(first, q.Ordered()), per: text(first, q.Per), first: first})
	}
	if len(q.GroupBy)+len(q.Aggregates) == 0 {
		for _, r := range rows {
			add(r, nil)
		}
	} else {
		var keys []string
		groups := map[string][]combined{}
		for _, r := range rows {
			k := text(r, q.GroupBy)
			if groups[k] == nil {
				keys = append(keys, k)
			}
			groups[k] = append(groups[k], r)
		}
		if len(q.GroupBy) == 0 && len(rows) == 0 {
			keys = []string{""}
		}
		for _, k := range keys {
			var rest []string
			for _, a := range q.Aggregates {
				rest = append(rest, w.aggregate(a, groups[k]))
			}
			var first combined
			if len(groups[k]) > 0 {
				first = groups[k][0]
			}
			add(first, rest)
		}
	}
	if q.Distinct {
		met := map[string]bool{}
		lines = slices.DeleteFunc(lines, func(l line) bool {
			again := met[l.out]
			met[l.out] = true
			return again
		})
	}
	return lines, true
}

// aggregate is one of a group, in words.
func (w *world) aggregate(a workload.Aggregate, group []combined) string {
	if a.Field.IsZero() {
		return strconv.Itoa(len(group))
	}
	of := a.Field.Attribute.Type
	count, sum := 0, 0.0
	var best []byte
	for _, r := range group {
		v := w.value(r, a.Field)
		if v == nil {
			continue
		}
		count++
		sum += number(of, v)
		if d := planrun.Compare(of, v, best); best == nil || a.Func == "min" && d < 0 || a.Func == "max" && d > 0 {
			best = v
		}
	}
	switch a.Func {
	case "count":
		return strconv.Itoa(count)
	case "min", "max":
		return shown(of, best)
	case "avg":
		if count == 0 {
			return "null"
		}
		return rounded(sum / float64(count))
	}
	return rounded(sum)
}

func rounded(f float64) string { return strconv.FormatFloat(f, 'g', 7, 64) }

// written writes the rows that a program answered with, as line.out does.
func written(got *planrun.Rows) []string {
	list := make([]string, len(got.Cells))
	for i, cells := range got.Cells {
		parts := make([]string, len(cells))
		for j, c := range cells {
			column := got.Columns[j]
			parts[j] = shown(column.Type, c)
			if f := column.Aggregate.Func; c != nil && (f == "sum" || f == "avg") {
				parts[j] = rounded(number(column.Type, c))
			}
		}
		list[i] = "(" + strings.Join(parts, ", ") + ")"
	}
	return list
}

// wrong says how rows are no answer to a query, and which would be one; "" if they are.
func wrong(q *workload.Query, whole []line, got []string) (how string, want []string) {
	kept := whole
	if q.PerLimit > 0 {
		n := map[string]int{}
		kept = slices.DeleteFunc(slices.Clone(whole), func(l line) bool {
			n[l.per]++
			return n[l.per] > q.PerLimit
		})
	}
	if q.Limit > 0 {
		kept = kept[:min(q.Limit, len(kept))]
	}
	for _, l := range kept {
		want = append(want, l.out)
	}
	if len(got) != len(kept) {
		return fmt.Sprintf("%d rows in place of %d", len(got), len(kept)), want
	}
	count := map[string]int{}
	for _, l := range whole {
		count[l.order+"|"+l.out]++
	}
	for i, g := range got {
		key := kept[i].order + "|" + g
		if count[key]--; count[key] < 0 {
			if slices.ContainsFunc(whole, func(l line) bool { return l.out == g }) {
				return "rows in another order, or too often", want
			}
			return "a row that does not belong to it", want
		}
	}
	return "", want
}

// randomOf are the random numbers of a part of a trial: the same whatever others drew.
func randomOf(parts ...uint64) *rand.Rand {
	seed := uint64(0)
	for _, p := range parts {
		seed = seed*1_000_003 + p
	}
	return rand.New(rand.NewPCG(36, seed)) //nolint:gosec // the same design, the same trial
}

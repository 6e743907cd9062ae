package memory

import (
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Answer is what a SELECT returns.
type Answer struct {
	Columns []string
	Rows    [][]Value
}

// Select carries out a SELECT.
func (s *Store) Select(st *cql.Select, args Args) (*Answer, error) {
	t, err := s.table(st.Table)
	if err != nil {
		return nil, err
	}
	if st.JSON || len(st.GroupBy) > 0 {
		return nil, unknown("JSON or GROUP BY")
	}
	out, count, err := t.selection(st)
	if err != nil {
		return nil, err
	}
	rows, err := t.matching(st, args)
	if err != nil {
		return nil, err
	}
	if rows, err = t.ordered(rows, st); err != nil {
		return nil, err
	}
	if st.Distinct {
		rows = t.first(rows, 1)
	}
	if st.PerPartitionLimit != nil {
		n, err := number(st.PerPartitionLimit, args)
		if err != nil {
			return nil, err
		}
		rows = t.first(rows, n)
	}
	if count {
		out.Rows = [][]Value{{strconv.Itoa(len(rows))}}
	} else {
		for _, r := range rows {
			cells := make([]Value, len(out.Columns))
			for i, c := range out.Columns {
				cells[i] = t.value(r, c)
			}
			out.Rows = append(out.Rows, cells)
		}
	}
	if st.Limit != nil {
		n, err := number(st.Limit, args)
		if err != nil {
			return nil, err
		}
		out.Rows = out.Rows[:min(n, len(out.Rows))]
	}
	return out, nil
}

// selection lists the columns asked for. count tells that it is count(*).
func (t *table) selection(st *cql.Select) (out *Answer, count bool, err error) {
	out = &Answer{}
	if len(st.Columns) == 0 {
		for _, c := range t.Columns {
			out.Columns = append(out.Columns, c.Name)
		}
	}
	for _, c := range st.Columns {
		switch x := c.Expr.(type) {
		case *cql.ColumnRef:
			if t.Column(x.Name) == nil {
				return nil, false, unknown("column %s, which %s has not,", x.Name, t.Name)
			}
			out.Columns = append(out.Columns, x.Name)
		case *cql.FunctionCall:
			if x.Name != "count" || !x.Star || len(st.Columns) > 1 {
				return nil, false, unknown("%s", x)
			}
			return &Answer{Columns: []string{"count"}}, true, nil
		default:
			return nil, false, unknown("%s", x)
		}
	}
	return out, false, nil
}

// number is what a LIMIT says.
func number(t cql.Term, args Args) (int, error) {
	v, err := Of(t, args)
	if err != nil {
		return 0, err
	}
	text, _ := v.(string)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, unknown("LIMIT %s", Text(v))
	}
	return n, nil
}

// first keeps the first n rows of each partition.
func (t *table) first(rows []*row, n int) []*row {
	seen := map[string]int{}
	return slices.DeleteFunc(slices.Clone(rows), func(r *row) bool {
		seen[r.part]++
		return seen[r.part] > n
	})
}

// matching lists the rows of an answer, as they lie.
func (t *table) matching(st *cql.Select, args Args) ([]*row, error) {
	var out []*row
	for _, r := range t.sorted() {
		fits := true
		for i := range st.Where {
			ok, err := Matches(&st.Where[i], args, func(column string) (Value, error) {
				if t.Column(column) == nil {
					return nil, unknown("column %s, which %s has not,", column, t.Name)
				}
				return t.value(r, column), nil
			})
			if err != nil {
				return nil, err
			}
			fits = fits && ok
		}
		if fits {
			out = append(out, r)
		}
	}
	return out, nil
}

// ordered sorts rows as ORDER BY says: over clustering columns in their order or its reverse, rows of one partition as they lie or the other way
// round; rows of several are merged.
func (t *table) ordered(rows []*row, st *cql.Select) ([]*row, error) {
	if len(st.OrderBy) == 0 {
		return rows, nil
	}
	reverse := false
	for _, o := range st.OrderBy {
		c := t.Column(o.Column)
		if o.ANN != nil || c == nil {
			return nil, unknown("ORDER BY %s", o.Column)
		}
		if c.Kind == schema.Clustering {
			reverse = c.Descending != o.Descending
		}
	}
	if reverse {
		rows = slices.Clone(rows)
		slices.Reverse(rows)
	}
	slices.SortStableFunc(rows, func(a, b *row) int {
		for _, o := range st.OrderBy {
			d := strings.Compare(Text(t.value(a, o.Column)), Text(t.value(b, o.Column)))
			if d != 0 && o.Descending {
				return -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	})
	return rows, nil
}

// Matches tells whether a row meets a condition; of says what it has in a column. Null meets none.
func Matches(w *cql.Relation, args Args, of func(column string) (Value, error)) (bool, error) {
	if w.Token || w.Op == cql.OpExpr || w.Op == cql.OpLike {
		return false, unknown("a condition by token, expr or LIKE")
	}
	var have []string
	var first Value
	for i, c := range w.Columns {
		v, err := of(c)
		if err != nil {
			return false, err
		}
		if i == 0 {
			first = v
		}
		if v == nil {
			return false, nil
		}
		have = append(have, Text(v))
	}
	if w.Op == cql.OpBetween {
		bounds, ok := w.Value.(*cql.Tuple)
		if !ok || len(bounds.Elements) != 2 {
			return false, unknown("BETWEEN %s", w.Value)
		}
		low, err := Matches(&cql.Relation{Columns: w.Columns, Op: cql.OpGE, Value: bounds.Elements[0]}, args, of)
		if err != nil || !low {
			return false, err
		}
		return Matches(&cql.Relation{Columns: w.Columns, Op: cql.OpLE, Value: bounds.Elements[1]}, args, of)
	}
	want, err := Of(w.Value, args)
	if err != nil || want == nil {
		return false, err
	}
	if w.Element != nil {
		key, err := Of(w.Element, args)
		if err != nil {
			return false, err
		}
		m, ok := first.(Map)
		k, single := key.(string)
		if !ok || !single || w.Op != cql.OpEQ {
			return false, unknown("a condition on an element of %s", w.Columns[0])
		}
		return m[k] == want, nil
	}
	switch w.Op {
	case cql.OpContains:
		if m, ok := first.(Map); ok {
			for _, v := range m {
				if v == want {
					return true, nil
				}
			}
			return false, nil
		}
		text, _ := want.(string)
		return slices.Contains(Elements(first), text), nil
	case cql.OpContainsKey:
		m, _ := first.(Map)
		text, _ := want.(string)
		_, ok := m[text]
		return ok, nil
	case cql.OpIn:
		list, ok := want.(List)
		if !ok || len(have) > 1 {
			return false, unknown("IN %s", w.Value)
		}
		return slices.Contains(list, have[0]), nil
	}
	bound := []string{Text(want)}
	if w.Tuple || len(have) > 1 {
		list, ok := want.(List)
		if !ok {
			return false, unknown("a condition on (%s)", strings.Join(w.Columns, ", "))
		}
		bound = list
	}
	d := slices.Compare(have, bound)
	switch w.Op {
	case cql.OpEQ:
		return d == 0, nil
	case cql.OpNE:
		return d != 0, nil
	case cql.OpLT:
		return d < 0, nil
	case cql.OpLE:
		return d <= 0, nil
	case cql.OpGT:
		return d > 0, nil
	case cql.OpGE:
		return d >= 0, nil
	}
	return false, unknown("a condition by %s", w.Op)
}

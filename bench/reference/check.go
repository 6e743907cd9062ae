package reference

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/advisor/workload"
)

// # When an answer is right
//
// All rows of the answer before limits are known, with what the query orders and limits by. Rows that come equally early are a
// class. What is left open by the statement is the order in a class, and which of its rows limits keep.
//
// How many rows of a class are kept of each parent (LIMIT n PER) is not open: n, less those of earlier classes, or all that
// there are. So it is known which class each row of the answer belongs to by its place alone: classes are checked one by one.
// A row given may be that of several parents, if what is selected does not tell them apart. Whether there is an assignment is a
// question of flow: from each different row, as often as it was given, to the parents that have it, as often as they do, and
// from each parent as many as are kept of it (at most, if LIMIT cuts the class). It is answered by augmenting paths (Ford and
// Fulkerson).

// WrongError says in which way an answer is not one that a query allows.
type WrongError struct {
	Query  *workload.Query
	Reason string
}

func (e *WrongError) Error() string { return e.Reason + ": " + e.Query.String() }

// Check tells whether rows, of which each has the values of Select, then of Aggregates, are an answer to a query: nil, or a
// *WrongError. It accepts every right answer and no other; but mean values, and sums of floating numbers, may differ from ours
// in the ninth digit.
func (r *Reference) Check(q *workload.Query, with Parameters, rows [][]any) error {
	whole, err := r.lines(q, with)
	if err != nil {
		return err
	}
	wrong := func(format string, args ...any) error { return &WrongError{q, fmt.Sprintf(format, args...)} }
	columns := types(q)
	given := make([]string, len(rows))
	for i, row := range rows {
		if len(row) != len(columns) {
			return wrong("row %d has %d values, want %d", i+1, len(row), len(columns))
		}
		stored := make([]any, len(row))
		for j, v := range row {
			if stored[j], err = answered(q, j, columns[j], v); err != nil {
				return wrong("row %d: %v", i+1, err)
			}
		}
		given[i] = shown(q, stored)
	}
	before := map[string]int{} // rows of each parent in earlier classes
	at := 0
	for len(whole) > 0 {
		size := 1
		for size < len(whole) && sameOrder(whole[0], whole[size]) {
			size++
		}
		class := whole[:size]
		whole = whole[size:]
		kept, all := keep(q, class, before)
		most := all
		if q.Limit > 0 {
			most = min(all, q.Limit-at)
		}
		if len(given) < at+most {
			return wrong("%d rows, want %d or more: after %d there should be one like %s", len(given), at+most, len(given), class[0].show(q))
		}
		if reason := assign(q, class, kept, given[at:at+most], at); reason != "" {
			return wrong("%s", reason)
		}
		if at += most; q.Limit > 0 && at == q.Limit {
			break
		}
	}
	if len(given) > at {
		return wrong("%d rows, want %d: row %d is %s", len(given), at, at+1, given[at])
	}
	return nil
}

// answered is a value of an answer as it would be stored.
func answered(q *workload.Query, column int, cqlType string, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	if n := column - len(q.Select); n >= 0 && q.Aggregates[n].Func == "avg" {
		if d, ok := v.(*inf.Dec); ok {
			return strconv.ParseFloat(d.String(), 64)
		}
	}
	return put(fmt.Sprintf("column %d", column+1), cqlType, v)
}

// shown writes a stored row, so that equal ones look the same.
func shown(q *workload.Query, row []any) string {
	parts := make([]string, len(row))
	for i, v := range row {
		if n := i - len(q.Select); n >= 0 && (q.Aggregates[n].Func == "avg" || q.Aggregates[n].Func == "sum") {
			if f, ok := v.(float64); ok {
				v = rounded(f)
			}
		}
		parts[i] = text(v)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// rounded keeps nine digits; a number that is whole then is one.
func rounded(f float64) any {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	scale := math.Pow(10, 8-math.Floor(math.Log10(math.Abs(f))))
	return math.Round(f*scale) / scale
}

func (l line) show(q *workload.Query) string { return shown(q, l.out) }

func sameOrder(a, b line) bool {
	for i := range a.order {
		if compare(a.order[i], b.order[i]) != 0 {
			return false
		}
	}
	return true
}

// keep says how many rows of a class are kept of each parent, and in all, and counts them.
func keep(q *workload.Query, class []line, before map[string]int) (kept map[string]int, all int) {
	of := map[string]int{}
	for _, l := range class {
		of[l.per]++
	}
	for parent, n := range of {
		if q.PerLimit > 0 {
			had := before[parent]
			before[parent] += n
			of[parent] = min(n, max(0, q.PerLimit-had))
		}
		all += of[parent]
	}
	return of, all
}

// assign says why rows can not be those that are kept of a class; "" if they can.
func assign(q *workload.Query, class []line, kept map[string]int, given []string, at int) string {
	has := map[string]map[string]int{} // rows of the class, by what is shown and parent
	for _, l := range class {
		s := l.show(q)
		if has[s] == nil {
			has[s] = map[string]int{}
		}
		has[s][l.per]++
	}
	flow := map[string]map[string]int{} // by parent and row
	used := map[string]int{}            // by parent
	for i, s := range given {
		if len(has[s]) == 0 {
			return fmt.Sprintf("row %d is %s, want one like %s", at+i+1, s, class[0].show(q))
		}
		if !augment(s, has, kept, flow, used, map[string]bool{}) {
			return fmt.Sprintf("row %d, %s, is there too often, or more of its kind than the limits let through", at+i+1, s)
		}
	}
	return ""
}

// augment finds a parent for one more row, moving others where it must.
func augment(row string, has map[string]map[string]int, kept map[string]int, flow map[string]map[string]int, used map[string]int, seen map[string]bool) bool {
	if seen[row] {
		return false
	}
	seen[row] = true
	for parent, n := range has[row] {
		if flow[parent] == nil {
			flow[parent] = map[string]int{}
		}
		if flow[parent][row] == n {
			continue
		}
		if used[parent] < kept[parent] {
			used[parent]++
			flow[parent][row]++
			return true
		}
		for other, units := range flow[parent] {
			if units > 0 && other != row && augment(other, has, kept, flow, used, seen) {
				flow[parent][other]--
				flow[parent][row]++
				return true
			}
		}
	}
	return false
}

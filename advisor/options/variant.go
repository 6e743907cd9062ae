package options

import (
	"fmt"
	"math"
	"slices"
)

// makeVariants makes step 1a's tables of a query: every assignment of its filter fields to the row key and to the indexes, which
// are interchangeable. Those that index least come first.
func (f *finder) makeVariants(q *Query) {
	fields := q.filter.members()
	free := len(fields)
	for free > 1 && assignments(free, f.config.Indexes) > float64(f.config.Limits.Variants) {
		free--
	}
	if free < len(fields) {
		f.noteCut("%s has %d filter fields, which make %.3g table variants: only those with the last %d in the row key are made", q.ID, len(fields), assignments(len(fields), f.config.Indexes), len(fields)-free)
	}
	var key set
	for _, i := range fields[free:] {
		key = key.with(i)
	}
	var assign func(at int, key set, indexes []set)
	assign = func(at int, key set, indexes []set) {
		if at == free {
			if key.empty() || !key.in(q.ranges) || q.ranges == q.filter { // Cassandra reads no partition by ranges alone
				q.Variants = append(q.Variants, f.newVariant(q, key, slices.Clone(indexes)))
			}
			return
		}
		i := fields[at]
		assign(at+1, key.with(i), indexes)
		for j := range indexes {
			was := indexes[j]
			indexes[j] = was.with(i)
			assign(at+1, key, indexes)
			indexes[j] = was
		}
		if len(indexes) < f.config.Indexes {
			assign(at+1, key, append(indexes, set{}.with(i)))
		}
	}
	assign(0, key, nil)
	slices.SortStableFunc(q.Variants, func(a, b *Table) int {
		x, y := a.indexedFields(), b.indexedFields()
		if x != y {
			return x - y
		}
		return len(a.indexes) - len(b.indexes)
	})
}

// assignments counts the ways to assign k fields to the row key and to s indexes that are not told apart: for each number of
// indexed fields, those chosen times the partitions of them into at most s parts.
func assignments(k, s int) float64 {
	parts := make([][]float64, k+1) // Stirling numbers of the second kind
	for n := range parts {
		parts[n] = make([]float64, k+1)
		for m := range parts[n] {
			switch {
			case n == 0 && m == 0:
				parts[n][m] = 1
			case n > 0 && m > 0:
				parts[n][m] = float64(m)*parts[n-1][m] + parts[n-1][m-1]
			}
		}
	}
	total, choose := 0.0, 1.0
	for n := 0; n <= k; n++ {
		for m := 0; m <= min(n, s); m++ {
			total += choose * parts[n][m]
		}
		choose = choose * float64(k-n) / float64(n+1)
	}
	return math.Round(total)
}

// newVariant is one table of a query.
func (f *finder) newVariant(q *Query, key set, indexes []set) *Table {
	t := &Table{u: &f.universe, Tree: q.Tree, key: key, indexes: indexes, queries: set{}.with(q.number)}
	t.rest = q.selected.minus(q.filter)
	t.ranges = key.and(q.ranges)
	t.setNames()
	t.least = t.Columns()
	return t
}

func (f *finder) noteCut(format string, args ...any) {
	f.report.Cut = append(f.report.Cut, fmt.Sprintf(format, args...))
}

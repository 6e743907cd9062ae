package planrun_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// fake is a Cassandra that holds tables of a design in memory and answers the SELECTs of programs. It refuses what
// Cassandra refuses.
type fake struct {
	exec.Session
	mu     sync.Mutex
	tables map[string]*stored
	sent   []exec.Query
	before func(n int, q exec.Query) error // the n-th request, from 0
	met    map[string]int                  // features
}

// stored is a table with its rows.
type stored struct {
	*model.Table
	names, types []string // columns: of the partition key, with the bucket, of the clustering key, then values
	partition    int      // columns of the partition key
	key          int      // columns of the primary key
	rows         [][]any  // sorted
}

func columnsOf(t *model.Table) *stored {
	s := &stored{Table: t}
	add := func(fields []model.Field) {
		for _, f := range fields {
			s.names, s.types = append(s.names, t.ColumnName(f)), append(s.types, t.ColumnType(f))
		}
	}
	add(t.Partition)
	if t.Bucket != nil {
		s.names, s.types = append(s.names, t.BucketColumn()), append(s.types, t.Bucket.Type())
	}
	s.partition = len(s.names)
	add(t.Clustering)
	s.key = len(s.names)
	add(t.Values)
	return s
}

// store fills a table: a row for each of the join, but none where a column of the key has no value.
func (w *world) store(t *model.Table) *stored {
	s := columnsOf(t)
	fields := t.Fields()
rows:
	for _, r := range w.join(t.Tree) {
		var row []any
		for i, f := range fields {
			if i == len(t.Partition) && t.Bucket != nil {
				row = append(row, w.bucket(t, r))
			}
			v := w.value(r, f)
			if v == nil && i < len(t.Partition)+len(t.Clustering) {
				continue rows
			}
			row = append(row, v)
		}
		if len(fields) == len(t.Partition) && t.Bucket != nil {
			row = append(row, w.bucket(t, r))
		}
		s.rows = append(s.rows, row)
	}
	// The order of the partitions means nothing.
	sort.SliceStable(s.rows, func(i, j int) bool {
		a, b := s.rows[i], s.rows[j]
		if c := strings.Compare(s.token(a), s.token(b)); c != 0 {
			return c < 0
		}
		for n, f := range t.Clustering {
			if c := order(a[s.partition+n], b[s.partition+n]); c != 0 {
				return c < 0 != slices.Contains(t.Desc, f)
			}
		}
		return false
	})
	return s
}

func (w *world) bucket(t *model.Table, r joined) any {
	if t.Bucket.Of.IsZero() {
		return int64(0)
	}
	cell, err := planrun.Encode(t.Bucket.Of.Attribute.Type, w.value(r, t.Bucket.Of))
	if err != nil {
		panic(err)
	}
	return t.Bucket.Number(cell)
}

func (t *stored) token(row []any) string {
	h := exec.TokenOf(fmt.Appendf(nil, "%#v", row[:t.partition]))
	return fmt.Sprintf("%20d %#v", uint64(h)+1<<63, row[:t.partition])
}

// refusal is an error that Cassandra answers.
type refusal struct {
	code int
	text string
}

func (r *refusal) Code() int       { return r.code }
func (r *refusal) Message() string { return r.text }
func (r *refusal) Error() string   { return r.text }

const invalid = 0x2200

func refuse(format string, args ...any) error { return &refusal{invalid, fmt.Sprintf(format, args...)} }

// restriction is what a statement asks of one column.
type restriction struct {
	column int
	op     cql.Op
	values []any
}

func (r restriction) allows(v any) bool {
	if v == nil {
		return false
	}
	switch c := order(v, r.values[0]); r.op {
	case cql.OpEQ:
		return c == 0
	case cql.OpGT:
		return c > 0
	case cql.OpGE:
		return c >= 0
	case cql.OpLT:
		return c < 0
	case cql.OpLE:
		return c <= 0
	}
	return slices.ContainsFunc(r.values, func(x any) bool { return order(v, x) == 0 })
}

// Query implements exec.Session.
func (f *fake) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	f.mu.Lock()
	n := len(f.sent)
	f.sent = append(f.sent, q)
	f.mu.Unlock()
	if f.before != nil {
		if err := f.before(n, q); err != nil {
			return exec.Answer{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return exec.Answer{}, err
	}
	rows, err := f.answer(q)
	if err != nil {
		return exec.Answer{}, fmt.Errorf("%w: %s", err, q.Text)
	}
	if q.Most > 0 && len(rows) > q.Most {
		return exec.Answer{}, exec.ErrTooManyRows
	}
	return exec.Answer{Rows: rows}, nil
}

func (f *fake) note(feature string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.met != nil {
		f.met[feature]++
	}
}

func (f *fake) answer(q exec.Query) ([][][]byte, error) {
	statement, err := cql.Parse(q.Text)
	if err != nil {
		return nil, refuse("%v", err)
	}
	s := statement.(*cql.Select)
	t := f.tables[s.Table.Table]
	if t == nil {
		return nil, refuse("unconfigured table %s", s.Table.Table)
	}
	where, err := t.restrictions(s, q.Values)
	if err != nil {
		return nil, err
	}
	bound, err := f.access(t, s, where)
	if err != nil {
		return nil, err
	}
	if q.Routed > 0 && q.Routed != t.partition {
		return nil, refuse("%d values are said to be the partition key of %d columns", q.Routed, t.partition)
	}
	var rows [][]any
	for _, row := range t.rows {
		if !slices.ContainsFunc(where, func(r restriction) bool { return !r.allows(row[r.column]) }) {
			rows = append(rows, row)
		}
	}
	if len(s.OrderBy) > 0 {
		if !bound || s.OrderBy[0].Column != t.names[t.partition] {
			return nil, refuse("ORDER BY is only supported when the partition key is restricted")
		}
		if s.OrderBy[0].Descending != slices.Contains(t.Desc, t.Clustering[0]) {
			f.note("reverse")
			slices.Reverse(rows)
		}
	}
	if s.PerPartitionLimit != nil {
		f.note("per partition limit")
		met, most := map[string]int{}, limitOf(s.PerPartitionLimit)
		rows = slices.DeleteFunc(slices.Clone(rows), func(row []any) bool {
			met[t.token(row)]++
			return met[t.token(row)] > most
		})
	}
	return f.selected(t, s, where, rows)
}

func limitOf(term cql.Term) int {
	n := 0
	_, _ = fmt.Sscan(term.(*cql.Literal).Text, &n)
	return n
}

// restrictions reads WHERE. A column takes one equality, or one bound each way.
func (t *stored) restrictions(s *cql.Select, values [][]byte) ([]restriction, error) {
	var list []restriction
	taken := map[string]bool{}
	for _, rel := range s.Where {
		at := slices.Index(t.names, rel.Columns[0])
		if at < 0 {
			return nil, refuse("Undefined column name %s in table %s", rel.Columns[0], t.Name)
		}
		way := map[cql.Op]string{cql.OpEQ: "=", cql.OpIn: "=", cql.OpGT: ">", cql.OpGE: ">", cql.OpLT: "<", cql.OpLE: "<"}[rel.Op]
		if taken[rel.Columns[0]+way] || taken[rel.Columns[0]+"="] || way == "=" && (taken[rel.Columns[0]+"<"] || taken[rel.Columns[0]+">"]) || way == "" {
			return nil, refuse("%s cannot be restricted by more than one relation like that", rel.Columns[0])
		}
		taken[rel.Columns[0]+way] = true
		cell := values[rel.Value.(*cql.Marker).Index]
		if cell == nil || len(cell) == 0 && at == 0 && t.partition == 1 {
			return nil, refuse("Invalid null value in condition for column %s", rel.Columns[0])
		}
		cells := [][]byte{cell}
		if rel.Op == cql.OpIn {
			cells = nil
			for n := binary.BigEndian.Uint32(cell); n > 0; n-- {
				size := binary.BigEndian.Uint32(cell[4:])
				cells, cell = append(cells, cell[8:8+size]), cell[4+size:]
			}
		}
		r := restriction{column: at, op: rel.Op}
		for _, c := range cells {
			v, err := planrun.Decode(t.types[at], c)
			if err != nil || v == nil {
				return nil, refuse("not a value of %s", rel.Columns[0])
			}
			r.values = append(r.values, v)
		}
		list = append(list, r)
	}
	return list, nil
}

// access refuses what needs ALLOW FILTERING and has none. bound: the whole partition key is.
func (f *fake) access(t *stored, s *cql.Select, where []restriction) (bound bool, err error) {
	on := map[int]cql.Op{}
	for _, r := range where {
		on[r.column] = r.op
	}
	keys := 0
	for i := range t.partition {
		if op, ok := on[i]; ok && op == cql.OpEQ {
			keys++
		} else if ok && op == cql.OpIn {
			return false, refuse("the partition key is bound by IN, which programs do not do")
		}
	}
	bound = keys == t.partition
	if s.AllowFiltering {
		f.note("allow filtering")
		return bound, nil
	}
	at, ranged := t.partition, false
	for bound && at < t.key && !ranged {
		op, ok := on[at]
		if !ok {
			break
		}
		ranged = op != cql.OpEQ && op != cql.OpIn
		if op == cql.OpIn {
			f.note("clustering IN")
		}
		delete(on, at)
		at++
	}
	for column := range on {
		if bound && column < t.partition {
			continue
		}
		i := slices.IndexFunc(t.Indexes, func(i model.Index) bool { return t.ColumnName(i.Field) == t.names[column] })
		switch {
		case i < 0:
			return false, refuse("Cannot execute this query as it might involve data filtering: use ALLOW FILTERING")
		case on[column] != cql.OpEQ && (!t.Indexes[i].SAI || t.types[column] == "text"):
			return false, refuse("an index does not support that operator")
		}
		f.note("index")
	}
	return bound, nil
}

// selected makes the cells of the answer.
func (f *fake) selected(t *stored, s *cql.Select, where []restriction, rows [][]any) ([][][]byte, error) {
	aggregated := slices.ContainsFunc(s.Columns, func(c cql.Selector) bool { _, ok := c.Expr.(*cql.FunctionCall); return ok })
	onlyStatic := !slices.ContainsFunc(s.Columns, func(c cql.Selector) bool {
		ref, ok := c.Expr.(*cql.ColumnRef)
		return !ok || !slices.ContainsFunc(t.Static, func(f model.Field) bool { return t.ColumnName(f) == ref.Name })
	})
	if onlyStatic {
		return nil, refuse("Cannot restrict clustering columns when selecting only static columns")
	}
	groups := [][][]any{}
	switch {
	case len(s.GroupBy) > 0:
		f.note("GROUP BY")
		prefix, err := t.groupPrefix(s, where)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			if i == 0 || !bytes.Equal(fmt.Appendf(nil, "%#v", row[:prefix]), fmt.Appendf(nil, "%#v", rows[i-1][:prefix])) {
				groups = append(groups, nil)
			}
			groups[len(groups)-1] = append(groups[len(groups)-1], row)
		}
	case aggregated:
		f.note("aggregates")
		groups = append(groups, rows)
	default:
		for _, row := range rows {
			groups = append(groups, [][]any{row})
		}
	}
	if s.Limit != nil {
		f.note("limit")
		groups = groups[:min(len(groups), limitOf(s.Limit))]
	}
	answer := make([][][]byte, 0, len(groups))
	for _, g := range groups {
		var cells [][]byte
		for _, c := range s.Columns {
			cell, err := t.evaluate(c.Expr, g)
			if err != nil {
				return nil, err
			}
			cells = append(cells, cell)
		}
		answer = append(answer, cells)
	}
	return answer, nil
}

// groupPrefix is how many columns of the primary key tell groups apart: GROUP BY takes them in their order, all of the
// partition key, and may leave out what an equality restricts.
func (t *stored) groupPrefix(s *cql.Select, where []restriction) (int, error) {
	at := 0
	for _, e := range s.GroupBy {
		name := e.(*cql.ColumnRef).Name
		for at < t.key && t.names[at] != name {
			if !slices.ContainsFunc(where, func(r restriction) bool { return r.column == at && r.op == cql.OpEQ }) {
				return 0, refuse("Group by currently only support groups of columns following their declared order in the PRIMARY KEY")
			}
			at++
		}
		if at++; at > t.key {
			return 0, refuse("Group by on %s, which is not in the PRIMARY KEY", name)
		}
	}
	if at < t.partition {
		return 0, refuse("Group by is not supported on only a part of the partition key")
	}
	return at, nil
}

func (t *stored) evaluate(e cql.Expr, rows [][]any) ([]byte, error) {
	switch e := e.(type) {
	case *cql.ColumnRef:
		at := slices.Index(t.names, e.Name)
		if at < 0 {
			return nil, refuse("Undefined column name %s", e.Name)
		}
		return planrun.Encode(t.types[at], rows[0][at])
	case *cql.FunctionCall:
		if e.Star {
			return exec.FromInt64(int64(len(rows))), nil
		}
		inner, to := e.Args[0], ""
		if cast, ok := inner.(*cql.Cast); ok {
			inner, to = cast.Term, cast.Type.String()
		}
		at := slices.Index(t.names, inner.(*cql.ColumnRef).Name)
		if to == "" {
			to = t.types[at]
		}
		return aggregated(e.Name, to, at, rows)
	}
	return nil, refuse("no such selection here: %s", e)
}

func aggregated(function, cqlType string, at int, rows [][]any) ([]byte, error) {
	var list []any
	whole, sum := int64(0), 0.0
	for _, row := range rows {
		if v := row[at]; v != nil {
			list = append(list, v)
			switch x := v.(type) {
			case int64:
				whole += x
			case float64:
				sum += x
			}
		}
	}
	switch {
	case function == "count":
		return exec.FromInt64(int64(len(list))), nil
	case function == "sum" && cqlType == "double":
		return planrun.Encode(cqlType, sum)
	case function == "sum" && (cqlType == "bigint" || cqlType == "int"):
		return planrun.Encode(cqlType, whole)
	case len(list) == 0:
		return nil, nil
	case function == "min":
		return planrun.Encode(cqlType, slices.MinFunc(list, order))
	case function == "max":
		return planrun.Encode(cqlType, slices.MaxFunc(list, order))
	}
	return nil, refuse("no %s of %s", function, cqlType)
}

var errFake = errors.New("as the test will have it")

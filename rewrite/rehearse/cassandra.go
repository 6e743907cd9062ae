package rehearse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// cassandra is an exec.Session over tables in memory. Cells become texts that are ordered as they are, and back.
type cassandra struct {
	keyspace string // in use
	schema   *schema.Schema
	store    *memory.Store
	mu       sync.Mutex
	parsed   map[string]cql.Statement
	sent     int // requests
}

func newCassandra(s *schema.Schema, keyspace string) *cassandra {
	return &cassandra{keyspace: keyspace, schema: s, store: memory.New(s, keyspace), parsed: map[string]cql.Statement{}}
}

// Agree implements exec.Session.
func (c *cassandra) Agree(context.Context) error { return nil }

// Scan implements exec.Session.
func (c *cassandra) Scan(ctx context.Context, q exec.Query, row func(cells [][]byte) error) error {
	a, err := c.Query(ctx, q)
	for _, r := range a.Rows {
		if err == nil {
			err = row(r)
		}
	}
	return err
}

// Query implements exec.Session.
func (c *cassandra) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return exec.Answer{}, err
	}
	c.sent++
	st := c.parsed[q.Text]
	if st == nil {
		var err error
		if st, err = cql.Parse(q.Text); err != nil {
			return exec.Answer{}, err
		}
		c.parsed[q.Text] = st
	}
	if s, ok := st.(*cql.Select); ok {
		return c.read(s, q.Values)
	}
	return exec.Answer{}, c.write(st, q.Values)
}

// table is that of a statement.
func (c *cassandra) table(ref cql.TableRef) (*schema.Table, error) {
	ref = ref.In(c.keyspace)
	if t := c.schema.Table(ref.Keyspace, ref.Table); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("there is no table %s", ref)
}

// cell is the value that a marker is bound to.
func cell(t cql.Term, values [][]byte) ([]byte, *cql.Marker, error) {
	m, ok := t.(*cql.Marker)
	if !ok || m.Index >= len(values) {
		return nil, nil, &memory.UnknownError{What: fmt.Sprintf("the value %s", t)}
	}
	return values[m.Index], m, nil
}

// column is the type of a column.
func columnType(t *schema.Table, name string) (string, error) {
	if x := t.Column(name); x != nil {
		return x.Type, nil
	}
	return "", fmt.Errorf("%s has no column %s", t.Name, name)
}

// where binds the values of conditions.
func where(t *schema.Table, list []cql.Relation, values [][]byte, args memory.Args) error {
	for i := range list {
		w := &list[i]
		value, m, err := cell(w.Value, values)
		if err != nil {
			return err
		}
		of, err := columnType(t, w.Columns[0])
		if err != nil {
			return err
		}
		if w.Op != cql.OpIn {
			args[memory.Key(m)] = valueOf(of, value)
			continue
		}
		elements, err := planrun.Elements(value, 1)
		if err != nil {
			return err
		}
		in := memory.List{}
		for _, e := range elements {
			in = append(in, ordered(of, e))
		}
		args[memory.Key(m)] = in
	}
	return nil
}

// valueOf is a cell as it is stored: a collection by its elements.
func valueOf(cqlType string, value []byte) memory.Value {
	if value == nil {
		return nil
	}
	kind := memory.Collection(cqlType)
	parts := map[string]int{"set": 1, "list": 1, "map": 2}[kind]
	if parts == 0 {
		return ordered(cqlType, value)
	}
	elements, err := planrun.Elements(value, parts)
	if err != nil {
		return string(value)
	}
	var list memory.List
	for _, e := range elements {
		list = append(list, string(e))
	}
	switch kind {
	case "set":
		return memory.SetOf(list...)
	case "list":
		return list
	}
	m := memory.Map{}
	for i := 0; i < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

// cellOf is a stored value as a cell.
func cellOf(cqlType string, v memory.Value) []byte {
	switch x := v.(type) {
	case string:
		return unordered(cqlType, x)
	case memory.Set, memory.List:
		list := memory.Elements(x)
		return joined(len(list), list)
	case memory.Map:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			parts = append(parts, k, x[k])
		}
		return joined(len(x), parts)
	}
	return nil
}

// read answers a SELECT.
func (c *cassandra) read(s *cql.Select, values [][]byte) (exec.Answer, error) {
	t, err := c.table(s.Table)
	if err != nil {
		return exec.Answer{}, err
	}
	args := memory.Args{}
	if err := where(t, s.Where, values, args); err != nil {
		return exec.Answer{}, err
	}
	grouped := len(s.GroupBy) > 0 || slices.ContainsFunc(s.Columns, func(x cql.Selector) bool { _, ok := x.Expr.(*cql.FunctionCall); return ok })
	plain := *s
	if grouped {
		plain.Columns, plain.GroupBy, plain.Limit = nil, nil, nil
	}
	a, err := c.store.Select(&plain, args)
	if err != nil {
		return exec.Answer{}, err
	}
	types := make([]string, len(a.Columns))
	for i, name := range a.Columns {
		if types[i], err = columnType(t, name); err != nil {
			return exec.Answer{}, err
		}
	}
	rows := make([][][]byte, len(a.Rows))
	for i, r := range a.Rows {
		rows[i] = make([][]byte, len(r))
		for j, v := range r {
			rows[i][j] = cellOf(types[j], v)
		}
	}
	if grouped {
		return group(s, t, a.Columns, rows)
	}
	return exec.Answer{Columns: a.Columns, Rows: rows}, nil
}

// group makes one row of each group: of a partition, and of the columns that it is grouped by; of one of all without those.
func group(s *cql.Select, t *schema.Table, columns []string, rows [][][]byte) (exec.Answer, error) {
	var keys []string
	groups := map[string][][][]byte{}
	var by []string
	for _, x := range s.GroupBy {
		ref, ok := x.(*cql.ColumnRef)
		if !ok {
			return exec.Answer{}, &memory.UnknownError{What: x.String()}
		}
		by = append(by, ref.Name)
	}
	if len(by) > 0 {
		for _, k := range t.PartitionKey() {
			by = append(by, k.Name)
		}
	} else if len(rows) == 0 {
		keys, groups[""] = []string{""}, nil
	}
	for _, r := range rows {
		key := ""
		for _, name := range by {
			key += strconv.Quote(string(r[slices.Index(columns, name)]))
		}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], r)
	}
	if l, ok := s.Limit.(*cql.Literal); ok {
		most, err := strconv.Atoi(l.Text)
		if err != nil {
			return exec.Answer{}, err
		}
		keys = keys[:min(most, len(keys))]
	}
	var out exec.Answer
	for _, key := range keys {
		var made [][]byte
		for _, x := range s.Columns {
			one, err := aggregated(x.Expr, t, columns, groups[key])
			if err != nil {
				return exec.Answer{}, err
			}
			made = append(made, one)
		}
		out.Rows = append(out.Rows, made)
	}
	return out, nil
}

// aggregated is what an expression is of a group: of a column the first row's.
func aggregated(expr cql.Term, t *schema.Table, columns []string, rows [][][]byte) ([]byte, error) {
	call, ok := expr.(*cql.FunctionCall)
	if !ok {
		ref, ok := expr.(*cql.ColumnRef)
		if !ok || len(rows) == 0 {
			return nil, nil
		}
		return rows[0][slices.Index(columns, ref.Name)], nil
	}
	if call.Star {
		return planrun.Encode("bigint", int64(len(rows)))
	}
	if len(call.Args) != 1 {
		return nil, &memory.UnknownError{What: call.String()}
	}
	term, wide := call.Args[0], ""
	if cast, ok := term.(*cql.Cast); ok {
		term, wide = cast.Term, cast.Type.String()
	}
	ref, ok := term.(*cql.ColumnRef)
	if !ok {
		return nil, &memory.UnknownError{What: call.String()}
	}
	of, err := columnType(t, ref.Name)
	if err != nil {
		return nil, err
	}
	if wide == "" {
		wide = of
	}
	at := slices.Index(columns, ref.Name)
	var best []byte
	count, sum := int64(0), 0.0
	for _, r := range rows {
		v := r[at]
		if v == nil {
			continue
		}
		count++
		sum += number(of, v)
		if d := planrun.Compare(of, v, best); best == nil || call.Name == "min" && d < 0 || call.Name == "max" && d > 0 {
			best = v
		}
	}
	switch strings.ToLower(call.Name) {
	case "count":
		return planrun.Encode("bigint", count)
	case "min", "max":
		return best, nil
	case "sum":
		if wide == "float" || wide == "double" {
			return planrun.Encode(wide, sum)
		}
		return planrun.Encode(wide, strconv.FormatFloat(sum, 'f', -1, 64))
	}
	return nil, &memory.UnknownError{What: call.String()}
}

// write carries an INSERT, UPDATE or DELETE out; what is not set is left out of it.
func (c *cassandra) write(st cql.Statement, values [][]byte) error {
	args := memory.Args{}
	bind := func(of string, term cql.Term) (set bool, err error) {
		value, m, err := cell(term, values)
		if err != nil || exec.IsUnset(value) {
			return false, err
		}
		args[memory.Key(m)] = valueOf(of, value)
		return true, nil
	}
	element := func(term cql.Term) error {
		value, m, err := cell(term, values)
		if err == nil {
			args[memory.Key(m)] = string(value)
		}
		return err
	}
	switch x := st.(type) {
	case *cql.Insert:
		t, err := c.table(x.Table)
		if err != nil {
			return err
		}
		own := &cql.Insert{Table: x.Table}
		for i, name := range x.Columns {
			of, err := columnType(t, name)
			if err != nil {
				return err
			}
			set, err := bind(of, x.Values[i])
			if err != nil {
				return err
			}
			if set {
				own.Columns, own.Values = append(own.Columns, name), append(own.Values, x.Values[i])
			}
		}
		return c.store.Write(own, args)
	case *cql.Update:
		t, err := c.table(x.Table)
		if err != nil {
			return err
		}
		own := &cql.Update{Table: x.Table, Where: x.Where}
		for _, a := range x.Assignments {
			of, err := columnType(t, a.Column)
			if err != nil {
				return err
			}
			if a.Element != nil {
				of = "blob" // elements are kept as they are
				if err := element(a.Element); err != nil {
					return err
				}
			}
			set, err := bind(of, a.Value)
			if err != nil {
				return err
			}
			if set {
				own.Assignments = append(own.Assignments, a)
			}
		}
		if err := where(t, x.Where, values, args); err != nil {
			return err
		}
		return c.store.Write(own, args)
	case *cql.Delete:
		t, err := c.table(x.Table)
		if err != nil {
			return err
		}
		for _, d := range x.Columns {
			if d.Element != nil {
				if err := element(d.Element); err != nil {
					return err
				}
			}
		}
		if err := where(t, x.Where, values, args); err != nil {
			return err
		}
		return c.store.Write(x, args)
	}
	return &memory.UnknownError{What: cql.Verb(st)}
}

package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Parameters are values of a statement's parameters, by their names (workload.Parameter): several for IN, a nil value is null.
type Parameters map[string][]any

// Cells encodes the values of some parameters, by the types of their fields: what a program of rewrite/exec is run with.
func (p Parameters) Cells(list []workload.Parameter) (planrun.Parameters, error) {
	made := planrun.Parameters{}
	for _, x := range list {
		values, ok := p[x.Name]
		if !ok {
			return nil, fmt.Errorf("no value was drawn for parameter %s", x.Name)
		}
		made[x.Name] = make([][]byte, len(values))
		for i, v := range values {
			var err error
			if made[x.Name][i], err = planrun.Encode(x.Field.Attribute.Type, v); err != nil {
				return nil, fmt.Errorf("parameter %s: %w", x.Name, err)
			}
		}
	}
	return made, nil
}

// query is a piece of SQL with its values.
type query struct {
	strings.Builder
	values []any
}

// from writes the join over a tree, and returns the alias of each entity.
func (r *Reference) from(q *query, tree model.Tree) map[*model.Entity]string {
	alias := map[*model.Entity]string{}
	whole := tree.Reach(tree.Entities[0], func(*model.Relationship, *model.Entity) bool { return true })
	for i, e := range whole.Entities {
		alias[e] = fmt.Sprintf("e%d", i)
		if i == 0 {
			q.WriteString(" FROM " + r.entity(e) + " AS e0")
			continue
		}
		edge := whole.Edges[i-1]
		at, near, far := alias[edge.From], "f", "t"
		if edge.To != e || alias[edge.From] == "" {
			at, near, far = alias[edge.To], "t", "f"
		}
		fmt.Fprintf(q, " JOIN %s AS r%d ON r%d.%s = %s.n JOIN %s AS e%d ON e%d.n = r%d.%s", r.relationship(edge), i, i, near, at, r.entity(e), i, i, i, far)
	}
	return alias
}

// cell is a field in SQL.
func cell(alias map[*model.Entity]string, f model.Field) string {
	return alias[f.Entity] + "." + column(f.Entity, f.Attribute)
}

// where writes the conditions.
func (r *Reference) where(q *query, alias map[*model.Entity]string, list []workload.Predicate, with Parameters) error {
	names := workload.Names(list)
	for i, p := range list {
		q.WriteString([]string{" WHERE ", " AND "}[min(i, 1)])
		compared, err := values(p, names[i], with)
		if err != nil {
			return err
		}
		if err := condition(q, cell(alias, p.Field), p, compared); err != nil {
			return err
		}
	}
	return nil
}

// condition writes one.
func condition(q *query, field string, p workload.Predicate, compared []any) error {
	if p.Op == workload.In {
		q.WriteString(field + " IN (" + strings.TrimPrefix(strings.Repeat(", ?", len(compared)), ", ") + ")")
		for _, v := range compared {
			stored, err := put(p.Field.String(), p.Field.Attribute.Type, v)
			if err != nil {
				return err
			}
			q.values = append(q.values, stored)
		}
		return nil
	}
	if len(compared) != 1 {
		return fmt.Errorf("%s %s is given %d values", p.Field, p.Op, len(compared))
	}
	if p.Op == workload.Like {
		pattern, ok := compared[0].(string)
		prefix, isPrefix := strings.CutSuffix(pattern, "%")
		if k, _ := kindOf(p.Field.Attribute.Type); !ok || !isPrefix || !k.text {
			return &ValueError{p.Field.String() + " LIKE", p.Field.Attribute.Type, compared[0]}
		}
		q.WriteString("(" + field + " >= ? AND substr(" + field + ", 1, length(?)) = ?)")
		q.values = append(q.values, prefix, prefix, prefix)
		return nil
	}
	stored, err := put(p.Field.String(), p.Field.Attribute.Type, compared[0])
	if err != nil {
		return err
	}
	q.WriteString(field + " " + string(p.Op) + " ?")
	q.values = append(q.values, stored)
	return nil
}

// values are what a predicate compares with; name is that of its plain "?".
func values(p workload.Predicate, name string, with Parameters) ([]any, error) {
	given := func(name string) ([]any, error) {
		list, ok := with[name]
		if !ok {
			return nil, fmt.Errorf("parameter %q has no value", name)
		}
		return list, nil
	}
	var all []any
	plain := 0
	for _, text := range p.List() {
		if !strings.HasPrefix(text, "?") {
			v, err := literal(p, text)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
			continue
		}
		if text != "?" {
			list, err := given(text)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
			continue
		}
		list, err := given(name)
		if err != nil {
			return nil, err
		}
		if p.Op == workload.In && p.Value != "?" { // one of several in brackets
			if plain >= len(list) {
				return nil, fmt.Errorf("parameter %q has %d values, which are too few", name, len(list))
			}
			list = list[plain : plain+1]
			plain++
		}
		all = append(all, list...)
	}
	return all, nil
}

func literal(p workload.Predicate, text string) (any, error) {
	if p.Op == workload.Like {
		return data.Literal("text", text)
	}
	v, err := data.Literal(p.Field.Attribute.Type, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Field, err)
	}
	return v, nil
}

// line is a row of an answer, as stored.
type line struct {
	out   []any
	order []any  // ORDER BY
	per   string // the parent of a limit for each
}

// lines are the rows of the answer before limits, in order.
func (r *Reference) lines(q *workload.Query, with Parameters) ([]line, error) {
	statement, err := r.translate(q, with)
	if err != nil {
		return nil, err
	}
	rows, err := r.database.Query(statement.String(), statement.values...)
	if err != nil {
		return nil, fmt.Errorf("reference: %w: %s", err, statement.String())
	}
	defer func() { _ = rows.Close() }() // the error is that of rows.Err
	outs := len(q.Select) + len(q.Aggregates)
	var found []line
	for rows.Next() {
		all := make([]any, outs+len(q.OrderBy)+len(q.Per))
		to := make([]any, len(all))
		for i := range all {
			to[i] = &all[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		l := line{out: all[:outs:outs], order: all[outs : outs+len(q.OrderBy)]}
		for _, v := range all[outs+len(q.OrderBy):] {
			l.per += text(v) + "|"
		}
		found = append(found, l)
	}
	return found, rows.Err()
}

// translate writes the query in SQL, without its limits.
func (r *Reference) translate(q *workload.Query, with Parameters) (*query, error) {
	grouped := len(q.GroupBy) > 0 || len(q.Aggregates) > 0
	for _, f := range slices.Concat(q.Select, q.Ordered(), q.Per) {
		if grouped && !slices.Contains(q.GroupBy, f) || q.Distinct && !slices.Contains(q.Select, f) {
			return nil, fmt.Errorf("reference: %s has several values in a row of the answer: %s", f, q)
		}
	}
	text, from := &query{}, &query{}
	alias := r.from(from, q.Tree)
	var items []string
	for _, f := range q.Select {
		items = append(items, cell(alias, f))
	}
	for _, a := range q.Aggregates {
		item, err := aggregate(alias, a)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	for _, f := range slices.Concat(q.Ordered(), q.Per) {
		items = append(items, cell(alias, f))
	}
	text.WriteString("SELECT ")
	if q.Distinct {
		text.WriteString("DISTINCT ")
	}
	text.WriteString(strings.Join(items, ", ") + from.String())
	if err := r.where(text, alias, q.Where, with); err != nil {
		return nil, err
	}
	for i, f := range q.GroupBy {
		text.WriteString([]string{" GROUP BY ", ", "}[min(i, 1)] + cell(alias, f))
	}
	for i, o := range q.OrderBy {
		text.WriteString([]string{" ORDER BY ", ", "}[min(i, 1)] + cell(alias, o.Field))
		if o.Desc {
			text.WriteString(" DESC")
		}
	}
	return text, nil
}

// aggregate writes a function.
func aggregate(alias map[*model.Entity]string, a workload.Aggregate) (string, error) {
	if a.Field.IsZero() {
		return "count(*)", nil
	}
	x := cell(alias, a.Field)
	k, _ := kindOf(a.Field.Attribute.Type)
	switch {
	case a.Func == "count", a.Func == "min", a.Func == "max":
		return a.Func + "(" + x + ")", nil
	case !k.number:
		return "", fmt.Errorf("reference: %s of %s, which is %s", a.Func, a.Field, a.Field.Attribute.Type)
	case a.Func == "sum":
		return "coalesce(sum(" + x + "), 0)", nil
	case a.Func == "avg" && k.decimal:
		return "avg(" + x + ") / 1e4", nil // as they are stored, without the point
	case a.Func == "avg":
		return "avg(" + x + ")", nil
	}
	return "", fmt.Errorf("reference: there is no function %s", a.Func)
}

// types are those of a query's columns: fields, then aggregates. Sums are of wide types, mean values of double.
func types(q *workload.Query) []string {
	var list []string
	for _, f := range q.Select {
		list = append(list, f.Attribute.Type)
	}
	for _, a := range q.Aggregates {
		k := kind{}
		if !a.Field.IsZero() {
			k, _ = kindOf(a.Field.Attribute.Type)
		}
		switch {
		case a.Func == "count", a.Func == "sum" && k.sql == "INTEGER" && k.whole:
			list = append(list, "bigint")
		case a.Func == "avg", a.Func == "sum" && k.sql == "REAL":
			list = append(list, "double")
		default:
			list = append(list, a.Field.Attribute.Type)
		}
	}
	return list
}

// Answer returns an answer to a query: its rows, of which each has the values of Select, then of Aggregates. Where limits cut
// among equals there are others that are right, see Check.
func (r *Reference) Answer(q *workload.Query, with Parameters) ([][]any, error) {
	found, err := r.lines(q, with)
	if err != nil {
		return nil, err
	}
	columns := types(q)
	per := map[string]int{}
	answer := [][]any{}
	for _, l := range found {
		if per[l.per]++; q.PerLimit > 0 && per[l.per] > q.PerLimit {
			continue
		}
		if q.Limit > 0 && len(answer) == q.Limit {
			break
		}
		row := make([]any, len(columns))
		for i, v := range l.out {
			row[i] = take(columns[i], v)
		}
		answer = append(answer, row)
	}
	return answer, nil
}

// Contents calls row with each row that a table must hold: the values of its fields in the order of Fields, and, of a table with
// buckets, the number of its bucket (int64) after them; one row for each key. Rows without a value in a column of the key are
// left out. The slice is row's own; row must not use the reference.
func (r *Reference) Contents(t *model.Table, row func([]any) error) error {
	text, from := &query{}, &query{}
	alias := r.from(from, t.Tree)
	fields := t.Fields()
	var items, has []string
	for _, f := range fields {
		items = append(items, cell(alias, f))
	}
	for _, f := range t.Key() {
		has = append(has, cell(alias, f)+" IS NOT NULL")
	}
	bucket := t.Bucket != nil && !t.Bucket.Of.IsZero()
	if bucket {
		items = append(items, cell(alias, t.Bucket.Of))
	}
	text.WriteString("SELECT " + strings.Join(items, ", ") + from.String() + " WHERE " + strings.Join(append(has, "1"), " AND "))
	if !t.Identifies() && len(t.Key()) > 0 {
		text.WriteString(" GROUP BY " + strings.Join(items[:len(has)], ", "))
	}
	rows, err := r.database.Query(text.String(), text.values...)
	if err != nil {
		return fmt.Errorf("reference: %w: %s", err, text.String())
	}
	defer func() { _ = rows.Close() }() // the error is that of rows.Err
	for rows.Next() {
		values := make([]any, len(items))
		to := make([]any, len(items))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return fmt.Errorf("reference: %w", err)
		}
		for i, f := range fields {
			values[i] = take(f.Attribute.Type, values[i])
		}
		if bucket {
			of := t.Bucket.Of.Attribute.Type
			cell, err := planrun.Encode(of, take(of, values[len(fields)]))
			if err != nil {
				return fmt.Errorf("reference: bucket of %s: %w", t.Bucket.Of, err)
			}
			values[len(fields)] = t.Bucket.Number(cell)
		} else if t.Bucket != nil {
			values = append(values, int64(0))
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

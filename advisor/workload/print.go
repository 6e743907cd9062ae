package workload

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// String writes the statement in its language; it parses back to the same statement.
func (s *Statement) String() string {
	switch {
	case s.Query != nil:
		return s.Query.String()
	case s.Write != nil:
		return s.Write.String()
	}
	return ""
}

// String writes the query in its language.
func (q *Query) String() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	if q.Distinct {
		b.WriteString("DISTINCT ")
	}
	b.WriteString(strings.Join(append(model.Names(q.Select), aggregates(q.Aggregates)...), ", ") + " FROM " + q.Tree.Path())
	writeWhere(&b, q.Where)
	if len(q.GroupBy) > 0 {
		b.WriteString(" GROUP BY " + join(q.GroupBy))
	}
	if len(q.OrderBy) > 0 {
		b.WriteString(" ORDER BY " + orders(q.OrderBy))
	}
	if q.PerLimit > 0 {
		b.WriteString(" LIMIT " + strconv.Itoa(q.PerLimit) + " PER " + join(q.Per))
	}
	if q.Limit > 0 {
		b.WriteString(" LIMIT " + strconv.Itoa(q.Limit))
	}
	if len(q.Known) > 0 {
		b.WriteString(" GIVEN " + join(q.Known))
	}
	return b.String()
}

// Key names the query by what it asks, without the order of its clauses' parts: queries that are answered by the same
// rows have the same key. Queries that differ in the numbers of occurrences only may have different ones.
func (q *Query) Key() string {
	predicates := make([]string, len(q.Where))
	for i, p := range q.Where {
		if predicates[i] = p.Field.String() + " " + string(p.Op); p.Op == In {
			predicates[i] += fmt.Sprint(" ", p.Items)
		}
	}
	sort.Strings(predicates)
	sorted := func(fields []model.Field) string { return join(model.SortFields(slices.Clone(fields))) }
	key := fmt.Sprintf("%s|%s|%s|%s|%d|%s", q.Tree.Key(), sorted(q.Select), strings.Join(predicates, ","), orders(q.OrderBy), q.Limit, sorted(q.Known))
	if q.Distinct || q.PerLimit > 0 || len(q.GroupBy) > 0 || len(q.Aggregates) > 0 {
		functions := aggregates(q.Aggregates)
		sort.Strings(functions)
		key += fmt.Sprintf("|%t|%d|%s|%s|%s", q.Distinct, q.PerLimit, sorted(q.Per), sorted(q.GroupBy), strings.Join(functions, ","))
	}
	return key
}

func writeWhere(b *strings.Builder, where []Predicate) {
	for i, p := range where {
		b.WriteString([]string{" WHERE ", " AND "}[min(i, 1)])
		fmt.Fprintf(b, "%s %s %s", p.Field, p.Op, p.Value)
		if p.Op == In && !strings.HasPrefix(p.Value, "(") && p.Items != usualItems {
			b.WriteString(" ITEMS " + strconv.FormatFloat(p.Items, 'f', -1, 64))
		}
	}
}

// Ordered returns the fields of ORDER BY.
func (q *Query) Ordered() []model.Field {
	fields := make([]model.Field, len(q.OrderBy))
	for i, o := range q.OrderBy {
		fields[i] = o.Field
	}
	return fields
}

func orders(list []Order) string {
	parts := make([]string, len(list))
	for i, o := range list {
		if parts[i] = o.Field.String(); o.Desc {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

func join(fields []model.Field) string { return strings.Join(model.Names(fields), ", ") }

// String writes func(Entity.attribute).
func (a Aggregate) String() string {
	if a.Field.IsZero() {
		return a.Func + "(*)"
	}
	return a.Func + "(" + a.Field.String() + ")"
}

func aggregates(list []Aggregate) []string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.String()
	}
	return texts
}

// String writes the write in its language.
func (w *Write) String() string {
	var b strings.Builder
	switch w.Kind {
	case Insert:
		b.WriteString("INSERT INTO " + w.Entity.Name + " SET " + w.assignments())
		for i, c := range w.Connections {
			b.WriteString([]string{" AND CONNECT TO ", ", "}[min(i, 1)])
			b.WriteString(c.Edge.Role(w.Entity) + marks(c.Entity))
		}
	case Update:
		b.WriteString("UPDATE " + w.Entity.Name + " FROM " + w.Tree.Path() + " SET " + w.assignments())
		writeWhere(&b, w.Where)
	case Delete:
		b.WriteString("DELETE FROM " + w.Tree.Path())
		writeWhere(&b, w.Where)
	case Connect, Disconnect:
		b.WriteString(string(w.Kind) + " " + w.Entity.Name + marks(w.Entity))
		b.WriteString(map[WriteKind]string{Connect: " TO ", Disconnect: " FROM "}[w.Kind])
		for _, c := range w.Connections {
			b.WriteString(c.Edge.Role(w.Entity) + marks(c.Entity))
		}
	}
	if len(w.Given) > 0 {
		b.WriteString(" GIVEN " + join(w.Given))
	}
	return b.String()
}

func (w *Write) assignments() string {
	var parts []string
	for _, f := range w.Set {
		parts = append(parts, f.Attribute.Name+" = ?")
	}
	for _, f := range w.Increments {
		parts = append(parts, f.Attribute.Name+" = "+f.Attribute.Name+" + ?")
	}
	return strings.Join(parts, ", ")
}

func marks(e *model.Entity) string {
	return "(" + strings.TrimSuffix(strings.Repeat("?, ", len(e.Key)), ", ") + ")"
}

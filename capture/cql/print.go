package cql

import (
	"strings"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// printer writes CQL. With normal set it writes the text of a fingerprint instead: tables with keyspace, no values.
type printer struct {
	out       []byte
	normal    bool
	keyspace  string
	selection bool // within a selection, where writetime and ttl are functions
}

func render(n interface{ print(*printer) }) string {
	p := printer{}
	n.print(&p)
	return p.String()
}

func (p *printer) String() string { return string(p.out) }

func (p *printer) write(text string) { p.out = append(p.out, text...) }

func (p *printer) writeByte(c byte) { p.out = append(p.out, c) }

func (p *printer) words(text ...string) {
	for _, t := range text {
		p.write(t)
	}
}

func (p *printer) name(name string) {
	if lexer.Plain(name) {
		p.write(name)
		return
	}
	p.quoted(name, '"')
}

func (p *printer) quoted(text string, quote byte) {
	p.writeByte(quote)
	for {
		n := strings.IndexByte(text, quote)
		if n < 0 {
			break
		}
		p.write(text[:n+1])
		p.writeByte(quote)
		text = text[n+1:]
	}
	p.write(text)
	p.writeByte(quote)
}

func (p *printer) names(names []string) {
	p.writeByte('(')
	for i, n := range names {
		p.comma(i)
		p.name(n)
	}
	p.writeByte(')')
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.write(", ")
	}
}

// and writes before, then AND between the items of a clause.
func (p *printer) and(i int, before string) {
	if i > 0 {
		before = " AND "
	}
	p.write(before)
}

func (p *printer) table(t TableRef) {
	if t = t.In(p.keyspace); t.Keyspace != "" {
		p.name(t.Keyspace)
		p.writeByte('.')
	}
	p.name(t.Table)
}

func (s *Select) print(p *printer) {
	p.write("SELECT ")
	if s.JSON {
		p.write("JSON ")
	}
	if s.Distinct {
		p.write("DISTINCT ")
	}
	p.selectors(s.Columns)
	p.write(" FROM ")
	p.table(s.Table)
	p.where(s.Where)
	p.selection = true
	for i, g := range s.GroupBy {
		if i == 0 {
			p.write(" GROUP BY ")
		}
		p.comma(i)
		g.print(p)
	}
	p.selection = false
	for i, o := range s.OrderBy {
		if i == 0 {
			p.write(" ORDER BY ")
		}
		p.comma(i)
		p.name(o.Column)
		p.after(" ANN OF ", o.ANN)
		if o.Descending {
			p.write(" DESC")
		}
	}
	p.after(" PER PARTITION LIMIT ", s.PerPartitionLimit)
	p.after(" LIMIT ", s.Limit)
	if s.AllowFiltering {
		p.write(" ALLOW FILTERING")
	}
}

func (p *printer) selectors(selectors []Selector) {
	if len(selectors) == 0 {
		p.writeByte('*')
	}
	p.selection = true
	for i := range selectors {
		p.comma(i)
		selectors[i].print(p)
	}
	p.selection = false
}

// String prints the selector as CQL. Unlike the String of its Expr it follows the rules of a selection, where ttl and
// writetime need no quotes.
func (s Selector) String() string {
	p := printer{selection: true}
	s.print(&p)
	return p.String()
}

func (s *Selector) print(p *printer) {
	s.Expr.print(p)
	if s.Alias != "" {
		p.write(" AS ")
		p.name(s.Alias)
	}
}

// after writes the term with what introduces it, if there is a term.
func (p *printer) after(words string, t Term) {
	if t != nil {
		p.write(words)
		t.print(p)
	}
}

func (p *printer) where(relations []Relation) {
	for i := range relations {
		p.and(i, " WHERE ")
		relations[i].print(p)
	}
}

// String prints the relation as CQL.
func (r *Relation) String() string { return render(r) }

func (r *Relation) print(p *printer) {
	switch {
	case r.Op == OpExpr:
		p.write("expr(")
		p.name(r.Index)
		p.write(", ")
		r.Value.print(p)
		p.writeByte(')')
		return
	case r.Token:
		p.write("token")
		p.names(r.Columns)
	case r.Tuple || len(r.Columns) != 1:
		p.names(r.Columns)
		if r.Op != OpIn && r.Op != OpNotIn && r.Value != nil {
			p.row(r.Op, r.Value)
			return
		}
	default:
		p.name(r.Columns[0])
		p.part(r.Element, "")
	}
	p.operation(r.Op, r.Value)
}

// part writes [element] or .field.
func (p *printer) part(element Term, field string) {
	if element != nil {
		p.writeByte('[')
		element.print(p)
		p.writeByte(']')
	}
	if field != "" {
		p.writeByte('.')
		p.name(field)
	}
}

func (p *printer) operation(op Op, value Term) {
	p.words(" ", op.String())
	if value == nil {
		return
	}
	p.writeByte(' ')
	if t, ok := value.(*Tuple); ok && op == OpBetween && len(t.Elements) == 2 {
		t.Elements[0].print(p)
		p.write(" AND ")
		t.Elements[1].print(p)
		return
	}
	value.print(p)
}

// row writes a comparison of several columns. Its values are as many as the columns, so a fingerprint shows them all: one
// "?" would not be a row of that many.
func (p *printer) row(op Op, value Term) {
	p.words(" ", op.String())
	p.writeByte(' ')
	if t, ok := value.(*Tuple); ok && op == OpBetween && len(t.Elements) == 2 {
		p.rowValues(t.Elements[0])
		p.write(" AND ")
		p.rowValues(t.Elements[1])
		return
	}
	p.rowValues(value)
}

func (p *printer) rowValues(value Term) {
	if t, ok := value.(*Tuple); ok {
		p.list("(", t.Elements, ")")
		return
	}
	value.print(p)
}

// using writes the options in the order they came in; in a fingerprint, those that count.
func (p *printer) using(u Using) {
	if p.normal {
		timestamp, ttl := u.Timestamp(), u.TTL()
		if p.after(" USING TIMESTAMP ", timestamp); timestamp != nil {
			p.after(" AND TTL ", ttl)
		} else {
			p.after(" USING TTL ", ttl)
		}
		return
	}
	for i, o := range u {
		p.and(i, " USING ")
		p.write([...]string{"TIMESTAMP ", "TTL "}[index(o.TTL)])
		o.Value.print(p)
	}
}

func (s *Insert) print(p *printer) {
	p.write("INSERT INTO ")
	p.table(s.Table)
	p.writeByte(' ')
	if s.JSON != nil {
		p.after("JSON ", s.JSON)
		if s.DefaultUnset {
			p.write(" DEFAULT UNSET")
		}
	} else {
		p.names(s.Columns)
		p.write(" VALUES ")
		p.list("(", s.Values, ")")
	}
	if s.IfNotExists {
		p.write(" IF NOT EXISTS")
	}
	p.using(s.Using)
}

func (s *Update) print(p *printer) {
	p.write("UPDATE ")
	p.table(s.Table)
	p.using(s.Using)
	p.write(" SET ")
	for i, a := range s.Assignments {
		p.comma(i)
		p.name(a.Column)
		p.part(a.Element, a.Field)
		p.write(" = ")
		if a.Op == AssignAdd || a.Op == AssignSubtract {
			p.name(a.Column)
			p.write([...]string{AssignAdd: " + ", AssignSubtract: " - "}[a.Op])
		}
		a.Value.print(p)
		if a.Op == AssignPrepend {
			p.write(" + ")
			p.name(a.Column)
		}
	}
	p.where(s.Where)
	p.conditions(s.IfExists, s.Conditions)
}

func (p *printer) conditions(exists bool, conditions []Condition) {
	if exists {
		p.write(" IF EXISTS")
	}
	for i, c := range conditions {
		p.and(i, " IF ")
		p.name(c.Column)
		p.part(c.Element, c.Field)
		p.operation(c.Op, c.Value)
	}
}

func (s *Delete) print(p *printer) {
	p.write("DELETE ")
	for i, d := range s.Columns {
		p.comma(i)
		p.name(d.Column)
		p.part(d.Element, d.Field)
	}
	if len(s.Columns) > 0 {
		p.writeByte(' ')
	}
	p.write("FROM ")
	p.table(s.Table)
	p.using(s.Using)
	p.where(s.Where)
	p.conditions(s.IfExists, s.Conditions)
}

func (s *Batch) print(p *printer) {
	p.words("BEGIN ", [...]string{BatchLogged: "", BatchUnlogged: "UNLOGGED ", BatchCounter: "COUNTER "}[s.Type], "BATCH")
	p.using(s.Using)
	var seen map[string]bool
	for i, child := range s.Statements {
		p.writeByte(' ')
		start := len(p.out)
		child.print(p)
		p.writeByte(';')
		if !p.normal || len(s.Statements) == 1 {
			continue
		}
		if i == 0 {
			seen = map[string]bool{}
		}
		if text := p.out[start:]; seen[string(text)] {
			p.out = p.out[:start-1]
		} else {
			seen[string(text)] = true
		}
	}
	p.write(" APPLY BATCH")
}

func (s *Use) print(p *printer) {
	p.write("USE ")
	p.name(s.Keyspace)
}

func (s *Truncate) print(p *printer) {
	p.write("TRUNCATE ")
	p.table(s.Table)
}

// String prints the statement.
func (s *Select) String() string { return render(s) }

// String prints the statement.
func (s *Insert) String() string { return render(s) }

// String prints the statement.
func (s *Update) String() string { return render(s) }

// String prints the statement.
func (s *Delete) String() string { return render(s) }

// String prints the statement, with a semicolon after each of its children.
func (s *Batch) String() string { return render(s) }

// String prints the statement.
func (s *Use) String() string { return render(s) }

// String prints the statement.
func (s *Truncate) String() string { return render(s) }

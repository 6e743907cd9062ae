package cql

import (
	"slices"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

func (p *parser) statement() Statement {
	switch {
	case p.isWord("SELECT"):
		return p.selectStatement()
	case p.isWord("BEGIN"):
		return p.batch()
	case p.isWord("USE"):
		p.next()
		return &Use{p.name("keyspace")}
	case p.isWord("TRUNCATE"):
		p.next()
		if !p.acceptWords("TABLE") {
			p.acceptWords("COLUMNFAMILY")
		}
		return &Truncate{p.table()}
	}
	if st := p.modification(); st != nil {
		return st
	}
	return p.definition()
}

// modification reads what may stand in a batch; nil if nothing of that begins here.
func (p *parser) modification() Statement {
	switch {
	case p.isWord("INSERT"):
		return p.insert()
	case p.isWord("UPDATE"):
		return p.update()
	case p.isWord("DELETE"):
		return p.delete()
	}
	return nil
}

func (p *parser) selectStatement() Statement {
	s := &Select{}
	p.next()
	s.JSON = p.selectWord("JSON")
	s.Distinct = p.selectWord("DISTINCT")
	s.Columns = p.selectors()
	p.expectWords("FROM")
	s.Table = p.table()
	if p.acceptWords("WHERE") {
		s.Where = p.where()
	}
	if p.acceptWords("GROUP", "BY") {
		s.GroupBy = append(s.GroupBy, p.expression(true))
		for p.accept(',') {
			s.GroupBy = append(s.GroupBy, p.expression(true))
		}
	}
	if p.acceptWords("ORDER", "BY") {
		s.OrderBy = append(s.OrderBy, p.ordering())
		for p.accept(',') {
			s.OrderBy = append(s.OrderBy, p.ordering())
		}
	}
	if p.acceptWords("PER", "PARTITION", "LIMIT") {
		s.PerPartitionLimit = p.count()
	}
	if p.acceptWords("LIMIT") {
		s.Limit = p.count()
	}
	s.AllowFiltering = p.acceptWords("ALLOW", "FILTERING")
	return s
}

// selectWord passes over JSON or DISTINCT if a selection follows; otherwise the word is itself a column.
func (p *parser) selectWord(word string) bool {
	if !p.isWord(word) {
		return false
	}
	t := p.peek()
	if !p.startsOperand(t, true) && !t.Is('*') && !t.Is('-') {
		return false
	}
	if wordAt(t, "AS") && wordAt(p.after(t), "AS") && !isName(p.after(p.after(t))) { // a column called as, or an alias called so
		return false
	}
	p.next()
	return true
}

// selectors reads a selection; none for *.
func (p *parser) selectors() (selectors []Selector) {
	if p.accept('*') {
		return nil
	}
	for more := true; more; more = p.accept(',') {
		if selectors == nil {
			selectors = make([]Selector, 0, 4)
		}
		selectors = append(selectors, p.selector())
	}
	return selectors
}

func (p *parser) selector() Selector {
	s := Selector{Expr: p.expression(true)}
	if p.acceptWords("AS") {
		s.Alias = p.name("alias")
	}
	return s
}

func (p *parser) ordering() Ordering {
	o := Ordering{Column: p.column()}
	if p.acceptWords("ANN", "OF") {
		o.ANN = p.expression(false)
	}
	if o.Descending = p.acceptWords("DESC"); !o.Descending {
		p.acceptWords("ASC")
	}
	return o
}

// count reads an integer or a marker.
func (p *parser) count() Term {
	if p.tok.Kind == lexer.Integer {
		return p.literal()
	}
	return p.marker("integer or bind marker")
}

// part reads [element] or .field after a column, if one of them is there.
func (p *parser) part() (element Term, field string) {
	switch {
	case p.accept('['):
		element = p.expression(false)
		p.expect(']')
	case p.accept('.'):
		field = p.name("field")
	}
	return element, field
}

func (p *parser) using() (u Using) {
	if !p.acceptWords("USING") {
		return u
	}
	for more := true; more; more = p.acceptWords("AND") {
		switch {
		case p.acceptWords("TIMESTAMP"):
			u = append(u, UsingOption{false, p.count()})
		case p.acceptWords("TTL"):
			u = append(u, UsingOption{true, p.count()})
		default:
			p.fail("TIMESTAMP or TTL")
		}
	}
	return u
}

func (p *parser) insert() Statement {
	s := &Insert{}
	p.expectWords("INSERT", "INTO")
	s.Table = p.table()
	if p.acceptWords("JSON") {
		if s.JSON = p.json(); p.acceptWords("DEFAULT") {
			if s.DefaultUnset = p.acceptWords("UNSET"); !s.DefaultUnset {
				p.expectWords("NULL")
			}
		}
	} else {
		s.Columns = p.columns()
		p.expectWords("VALUES")
		if s.Values = p.terms('(', ')'); len(s.Values) == 0 {
			p.fail("values")
		}
	}
	s.IfNotExists = p.ifNotExists()
	s.Using = p.using()
	return s
}

func (p *parser) json() Term {
	if p.tok.Kind == lexer.String {
		return p.literal()
	}
	return p.marker("string or bind marker")
}

func (p *parser) update() Statement {
	s := &Update{}
	p.next()
	s.Table = p.table()
	s.Using = p.using()
	p.expectWords("SET")
	seen := assigned{}
	for more := true; more; more = p.accept(',') {
		at := p.tok
		a := p.assignment()
		if p.err == nil && seen.clashes(&a, s.Assignments) {
			p.tok = at
			p.fail("another column")
		}
		s.Assignments = append(s.Assignments, a)
	}
	p.expectWords("WHERE")
	s.Where = p.where()
	s.IfExists, s.Conditions = p.conditions()
	return s
}

// clashes reports whether both can not be done at once: a column is set as a whole and in another way, or a field is set twice.
func (a *Assignment) clashes(b *Assignment) bool {
	if a.Column != b.Column {
		return false
	}
	return a.whole() || b.whole() || a.Field != "" && a.Field == b.Field
}

// assigned finds clashes among many assignments; of few, which are all that are ever seen, it takes no notice.
type assigned struct{ by map[[2]string]bool }

// few is how many assignments are compared with each other.
const few = 16

func (s *assigned) clashes(a *Assignment, before []Assignment) bool {
	if len(before) < few {
		return slices.ContainsFunc(before, func(b Assignment) bool { return b.clashes(a) })
	}
	if s.by == nil {
		s.by = map[[2]string]bool{}
		for i := range before {
			s.note(&before[i])
		}
	}
	clash := s.by[[2]string{a.Column, "="}] || a.whole() && s.by[[2]string{a.Column}] || a.Field != "" && s.by[[2]string{a.Column, "." + a.Field}]
	s.note(a)
	return clash
}

func (s *assigned) note(a *Assignment) {
	s.by[[2]string{a.Column}] = true
	if a.whole() {
		s.by[[2]string{a.Column, "="}] = true
	}
	if a.Field != "" {
		s.by[[2]string{a.Column, "." + a.Field}] = true
	}
}

// whole reports whether a column is set as a whole.
func (a *Assignment) whole() bool { return a.Op == AssignSet && a.Element == nil && a.Field == "" }

func (p *parser) assignment() Assignment {
	a := Assignment{Column: p.column(), Op: AssignSet}
	a.Element, a.Field = p.part()
	whole := a.Element == nil && a.Field == ""
	switch {
	case whole && p.accept(lexer.Plus):
		a.Op, a.Value = AssignAdd, p.expression(false)
		return a
	case whole && p.accept(lexer.Minus):
		a.Op, a.Value = AssignSubtract, p.expression(false)
		return a
	}
	p.expect('=')
	if whole && p.columnNext(p.tok) {
		p.same(a.Column)
		switch {
		case p.tok.Kind == lexer.Integer: // c = c -1, where the minus belongs to the number
			a.Op, a.Value = AssignAdd, p.literal()
		case p.accept('-'):
			a.Op, a.Value = AssignSubtract, p.expression(false)
		default:
			p.expect('+')
			a.Op, a.Value = AssignAdd, p.expression(false)
		}
		return a
	}
	a.Value = p.expression(false)
	if whole && p.accept('+') {
		p.same(a.Column)
		a.Op = AssignPrepend
	}
	return a
}

// same reads the column that an assignment adds to, which can only be the one it assigns.
func (p *parser) same(column string) {
	at := *p
	if p.column() != column && p.err == nil {
		*p = at
		p.fail("the column that is assigned")
	}
}

// columnNext reports whether t, the current token or the one after it, is a column's name and no function's.
func (p *parser) columnNext(t lexer.Token) bool {
	if !isColumn(t) {
		return false
	}
	after := p.after(t)
	return !after.Is('(') && !after.Is('.')
}

func (p *parser) delete() Statement {
	s := &Delete{}
	p.next()
	if !p.isWord("FROM") {
		for more := true; more; more = p.accept(',') {
			d := Deletion{Column: p.column()}
			d.Element, d.Field = p.part()
			s.Columns = append(s.Columns, d)
		}
	}
	p.expectWords("FROM")
	s.Table = p.table()
	if p.acceptWords("USING") {
		p.expectWords("TIMESTAMP")
		s.Using = Using{{false, p.count()}}
	}
	p.expectWords("WHERE")
	s.Where = p.where()
	s.IfExists, s.Conditions = p.conditions()
	return s
}

func (p *parser) batch() Statement {
	s := &Batch{}
	p.next()
	if p.acceptWords("UNLOGGED") {
		s.Type = BatchUnlogged
	} else if p.acceptWords("COUNTER") {
		s.Type = BatchCounter
	}
	p.expectWords("BATCH")
	s.Using = p.using()
	for st := p.modification(); st != nil; st = p.modification() {
		s.Statements = append(s.Statements, st)
		p.accept(';')
	}
	p.expectWords("APPLY", "BATCH")
	return s
}

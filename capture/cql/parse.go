package cql

import "strings"

// MaxDepth is how deep terms, types and brackets may nest, and how long a chain of operators or of fields may be.
const MaxDepth = 200

// Parse reads one statement, with any number of semicolons after it. The error is a *SyntaxError. The tree refers to
// the memory of text.
func Parse(text string) (Statement, error) {
	p := parser{lexer: lexer{src: text}}
	p.next()
	st := p.statement()
	for p.accept(";") {
	}
	if p.tok.kind != tokenEnd {
		p.fail("end of statement")
	}
	if p.err != nil {
		// Only now, not at every trial that failed, because it reads the text from its beginning.
		before := text[:p.err.Offset]
		p.err.Line = 1 + strings.Count(before, "\n")
		p.err.Column = len(before) - strings.LastIndexByte(before, '\n')
		return nil, p.err
	}
	return st, nil
}

// parser holds one token of look-ahead. A copy of it is a state to go back to.
type parser struct {
	lexer
	tok     token
	depth   int
	markers int
	err     *SyntaxError // the first; after it tok is tokenEnd for good
}

func (p *parser) next() {
	if p.err == nil {
		p.tok = p.lexer.next()
	}
}

// peek returns the token after tok.
func (p *parser) peek() token {
	l := p.lexer
	return l.next()
}

func (p *parser) text(t token) string { return p.src[t.start:t.end] }

// fail records the first error and ends the text.
func (p *parser) fail(expected string) {
	if p.err != nil {
		return
	}
	p.err = &SyntaxError{Offset: p.tok.start, Found: p.found(), Expected: expected}
	p.tok = token{tokenEnd, len(p.src), len(p.src)}
}

// found describes the current token without telling a literal.
func (p *parser) found() string {
	text := p.text(p.tok)
	switch p.tok.kind {
	case tokenSymbol:
		return "'" + text + "'"
	case tokenQuoted:
		return "quoted name"
	case tokenWord:
		if classOf(text) != 0 {
			return strings.ToUpper(text)
		}
		return "name"
	case tokenBad:
		if text[0] == '\'' || text[0] == '"' || text[0] == '$' || text[0] == '/' {
			return "unclosed " + text[:1]
		}
	}
	return tokenNames[p.tok.kind]
}

// nested counts a step down and reports whether it is one too many.
func (p *parser) nested() bool {
	p.depth++
	if p.depth > MaxDepth {
		p.fail("less nesting")
		return true
	}
	return false
}

func (p *parser) is(symbol string) bool {
	return p.tok.kind == tokenSymbol && p.text(p.tok) == symbol
}

func (p *parser) accept(symbol string) bool {
	if !p.is(symbol) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(symbol string) {
	if !p.accept(symbol) {
		p.fail("'" + symbol + "'")
	}
}

func (p *parser) isWord(word string) bool { return p.wordAt(p.tok, word) }

func (p *parser) wordAt(t token, word string) bool {
	return t.kind == tokenWord && equalFold(p.text(t), word)
}

func (p *parser) symbolAt(t token, symbol string) bool {
	return t.kind == tokenSymbol && p.text(t) == symbol
}

// acceptWords passes over the words if all of them come next. Only one token of look-ahead is needed by the grammar
// after the first word, so the second decides.
func (p *parser) acceptWords(words ...string) bool {
	if !p.isWord(words[0]) || len(words) > 1 && !p.wordAt(p.peek(), words[1]) {
		return false
	}
	p.expectWords(words...)
	return true
}

func (p *parser) expectWords(words ...string) {
	for _, w := range words {
		if !p.isWord(w) {
			p.fail(w)
			return
		}
		p.next()
	}
}

// isName reports whether t may be a name.
func (p *parser) isName(t token) bool {
	switch t.kind {
	case tokenQuoted:
		return t.end-t.start > 2
	case tokenWord:
		return classOf(p.text(t))&reserved == 0
	}
	return false
}

func (p *parser) name(what string) string {
	if !p.isName(p.tok) {
		p.fail(what)
		return ""
	}
	name := p.nameOf(p.tok)
	p.next()
	return name
}

func (p *parser) nameOf(t token) string {
	text := p.text(t)
	if t.kind == tokenQuoted {
		return unquote(text[1:len(text)-1], `"`)
	}
	return fold(text)
}

func unquote(text, quote string) string {
	if strings.Contains(text, quote) {
		return strings.ReplaceAll(text, quote+quote, quote)
	}
	return text
}

// column reads a column's name, which unlike any other name may be empty, as some tables of old have one.
func (p *parser) column() string {
	if p.tok.kind == tokenQuoted && p.tok.end-p.tok.start == 2 {
		p.next()
		return ""
	}
	return p.name("column")
}

func (p *parser) columns() []string {
	p.expect("(")
	columns := []string{p.column()}
	for p.accept(",") {
		columns = append(columns, p.column())
	}
	p.expect(")")
	return columns
}

func (p *parser) table() TableRef {
	first := p.name("table")
	if p.accept(".") {
		return TableRef{first, p.name("table")}
	}
	return TableRef{Table: first}
}

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
	return p.opaque()
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
	if !p.accept("*") {
		s.Columns = append(s.Columns, p.selector())
		for p.accept(",") {
			s.Columns = append(s.Columns, p.selector())
		}
	}
	p.expectWords("FROM")
	s.Table = p.table()
	if p.acceptWords("WHERE") {
		s.Where = p.where()
	}
	if p.acceptWords("GROUP", "BY") {
		s.GroupBy = append(s.GroupBy, p.expression(true))
		for p.accept(",") {
			s.GroupBy = append(s.GroupBy, p.expression(true))
		}
	}
	if p.acceptWords("ORDER", "BY") {
		s.OrderBy = append(s.OrderBy, p.ordering())
		for p.accept(",") {
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
	if !p.startsOperand(t, true) && !p.symbolAt(t, "*") && !p.symbolAt(t, "-") {
		return false
	}
	p.next()
	return true
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
	if p.tok.kind == tokenInteger {
		return p.literal()
	}
	return p.marker("integer or bind marker")
}

// part reads [element] or .field after a column, if one of them is there.
func (p *parser) part() (element Term, field string) {
	switch {
	case p.accept("["):
		element = p.expression(false)
		p.expect("]")
	case p.accept("."):
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
		case u.Timestamp == nil && p.acceptWords("TIMESTAMP"):
			u.Timestamp = p.count()
		case u.TTL == nil && p.acceptWords("TTL"):
			u.TTL = p.count()
			u.TTLFirst = u.Timestamp == nil
		default:
			p.fail("TIMESTAMP or TTL, each once")
		}
	}
	u.TTLFirst = u.TTLFirst && u.Timestamp != nil
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
		if s.Values = p.terms("(", ")"); len(s.Values) != len(s.Columns) {
			p.fail("as many values as columns")
		}
	}
	s.IfNotExists = p.ifNotExists()
	s.Using = p.using()
	return s
}

func (p *parser) json() Term {
	if p.tok.kind == tokenString {
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
	s.Assignments = append(s.Assignments, p.assignment())
	for p.accept(",") {
		s.Assignments = append(s.Assignments, p.assignment())
	}
	p.expectWords("WHERE")
	s.Where = p.where()
	s.IfExists, s.Conditions = p.conditions()
	return s
}

func (p *parser) assignment() Assignment {
	a := Assignment{Column: p.column(), Op: AssignSet}
	a.Element, a.Field = p.part()
	whole := a.Element == nil && a.Field == ""
	switch {
	case whole && p.accept("+="):
		a.Op, a.Value = AssignAdd, p.expression(false)
		return a
	case whole && p.accept("-="):
		a.Op, a.Value = AssignSubtract, p.expression(false)
		return a
	}
	p.expect("=")
	if whole && p.columnNext(p.tok) {
		p.same(a.Column)
		switch {
		case p.tok.kind == tokenInteger: // c = c -1, where the minus belongs to the number
			a.Op, a.Value = AssignAdd, p.literal()
		case p.accept("-"):
			a.Op, a.Value = AssignSubtract, p.expression(false)
		default:
			p.expect("+")
			a.Op, a.Value = AssignAdd, p.expression(false)
		}
		return a
	}
	a.Value = p.expression(false)
	if whole && p.accept("+") {
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
func (p *parser) columnNext(t token) bool {
	if !p.isName(t) && p.text(t) != `""` {
		return false
	}
	l := lexer{p.src, t.end}
	after := l.next()
	return !p.symbolAt(after, "(") && !p.symbolAt(after, ".")
}

func (p *parser) delete() Statement {
	s := &Delete{}
	p.next()
	if !p.isWord("FROM") {
		for more := true; more; more = p.accept(",") {
			d := Deletion{Column: p.column()}
			d.Element, d.Field = p.part()
			s.Columns = append(s.Columns, d)
		}
	}
	p.expectWords("FROM")
	s.Table = p.table()
	if s.Using = p.using(); s.Using.TTL != nil {
		p.fail("TIMESTAMP only")
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
		p.accept(";")
	}
	p.expectWords("APPLY", "BATCH")
	return s
}

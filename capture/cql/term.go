package cql

import (
	"strings"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// expression reads a sum: the top of the grammar of terms. In a selection it may refer to columns.
func (p *parser) expression(selection bool) Term {
	left := p.product(selection)
	for n := 0; p.is('+') || p.is('-'); n++ {
		if !selection && p.is('+') {
			if t := p.peek(); p.columnNext(t) {
				break
			}
		}
		op := p.operatorOf(n)
		left = &Arithmetic{op, left, p.product(selection)}
	}
	return left
}

func (p *parser) product(selection bool) Term {
	left := p.unary(selection)
	for n := 0; p.is('*') || p.is('/') || p.is('%'); n++ {
		op := p.operatorOf(n)
		left = &Arithmetic{op, left, p.unary(selection)}
	}
	return left
}

// operatorOf passes over an arithmetic operator; n says how many of the chain there were before.
func (p *parser) operatorOf(n int) byte {
	op := p.tok.Code
	if n >= MaxDepth {
		p.fail("fewer operators")
	}
	p.next()
	return op
}

func (p *parser) unary(selection bool) Term {
	if !p.accept('-') {
		return p.modified(selection)
	}
	if !selection {
		return &Negation{p.primary(false)}
	}
	if p.nested() {
		return nil
	}
	t := &Negation{p.unary(true)}
	p.depth--
	return t
}

// modified reads an operand with the fields, elements and slices that a selection may take of it.
func (p *parser) modified(selection bool) Term {
	t := p.primary(selection)
	for n := 0; selection && (p.is('.') || p.is('[')); n++ {
		if n >= MaxDepth {
			p.fail("fewer fields and elements")
			break
		}
		if p.accept('.') {
			t = &Field{t, p.name("field")}
			continue
		}
		p.next()
		var from Term
		if !p.is(lexer.Range) {
			from = p.expression(false)
		}
		if !p.accept(lexer.Range) {
			t = &Element{t, from}
		} else {
			s := &Slice{Of: t, From: from}
			if from == nil || !p.is(']') {
				s.To = p.expression(false)
			}
			t = s
		}
		p.expect(']')
	}
	return t
}

func (p *parser) primary(selection bool) Term {
	if p.nested() {
		return nil
	}
	t := p.innermost(selection)
	p.depth--
	return t
}

func (p *parser) innermost(selection bool) Term {
	switch {
	case p.tok.Value() || p.isWord("NULL"):
		return p.literal()
	case p.is('?'), p.is(':'):
		return p.marker("bind marker")
	case p.is('('):
		if t := p.typeCast(selection); t != nil {
			return t
		}
		elements := p.elements(selection, '(', ')')
		if len(elements) == 0 {
			p.fail("term")
		}
		return &Tuple{elements}
	case p.is('['):
		return &List{p.elements(selection, '[', ']')}
	case p.is('{'):
		return p.braces(selection)
	case p.isWord("CAST") && p.peek().Is('('):
		p.next()
		p.next()
		t := &Cast{}
		if selection {
			t.Term = p.expression(true)
		} else {
			t.Term = p.primary(false)
		}
		p.expectWords("AS")
		if p.tok.Keyword.Class()&lexer.NativeType == 0 {
			p.fail("native type")
		}
		t.Type.Name = p.name("native type")
		p.expect(')')
		return t
	}
	return p.call(selection)
}

// typeCast reads (type) term, or returns nil without having moved if that is not what stands here. A colon after the
// bracket begins a bind marker if a plain name follows; otherwise it stands between the key and the value of a map.
func (p *parser) typeCast(selection bool) Term {
	if t := p.peek(); !isName(t) && t.Kind != lexer.String && !wordAt(t, "SET") {
		return nil
	}
	before := *p
	p.next()
	typ := p.typ()
	if p.accept(')') && p.startsOperand(p.tok, selection) && (!p.is(':') || p.columnNext(p.peek())) {
		return &TypeCast{typ, p.primary(selection)}
	}
	before.scanned = p.scanned
	*p = before
	return nil
}

// slices reports whether the bracket t opens a slice and not a list, which only the dots tell, as far as they may be. All
// such looks together read no more than the text has, so that nesting them does not make them dear.
func (p *parser) slices(t lexer.Token) bool {
	l := lexer.Lexer{Source: p.src, Position: int(t.Start)}
	depth := 0
	for ; p.scanned < len(p.src); p.scanned++ {
		switch t := l.Next(); {
		case t.Kind == lexer.End:
			return false
		case t.Is('['), t.Is('('), t.Is('{'):
			depth++
		case t.Is(']'), t.Is(')'), t.Is('}'):
			if depth--; depth == 0 {
				return false
			}
		case t.Is(lexer.Range) && depth == 1:
			return true
		}
	}
	return false
}

// startsOperand reports whether t, the current token or the one after it, can begin an operand.
func (p *parser) startsOperand(t lexer.Token, selection bool) bool {
	switch t.Kind {
	case lexer.Symbol:
		return strings.IndexByte("?:([{", t.Code) >= 0 && (!selection || !t.Is('[') || !p.slices(t))
	case lexer.Quoted, lexer.Word:
		if wordAt(t, "NULL") {
			return true
		}
		if !isName(t) && !wordAt(t, "TOKEN") {
			return false
		}
		if selection {
			return p.startsSelected(t)
		}
		return !p.columnNext(t)
	}
	return t.Value()
}

// startsSelected tells, for a word in a selection, AS before an alias and PER before PARTITION from columns of these names.
func (p *parser) startsSelected(t lexer.Token) bool {
	switch {
	case wordAt(t, "AS"):
		after := p.after(t)
		return !isName(after) || wordAt(after, "AS") || wordAt(after, "PER")
	case wordAt(t, "PER"):
		return !wordAt(p.after(t), "PARTITION")
	}
	return true
}

func (p *parser) literal() Term {
	text := p.text(p.tok)
	l := p.nodes.literals.next()
	l.Text = text
	switch p.tok.Kind {
	case lexer.String:
		l.Kind = LiteralString
		if text[0] == '$' {
			l.Text = text[2 : len(text)-2]
		} else {
			l.Text = unquote(text[1:len(text)-1], "'")
		}
	case lexer.Integer:
		l.Kind = LiteralInteger
	case lexer.Float:
		l.Kind = LiteralFloat
		switch c := text[len(text)-1] | 0x20; {
		case c == 'n':
			l.Text = "NaN"
		case c == 'y' && text[0] == '-':
			l.Text = "-Infinity"
		case c == 'y':
			l.Text = "Infinity"
		}
	case lexer.Boolean:
		l.Kind, l.Text = LiteralBoolean, lexer.Fold(text)
	case lexer.Duration:
		l.Kind = LiteralDuration
	case lexer.UUID:
		l.Kind = LiteralUUID
	case lexer.Blob:
		l.Kind = LiteralBlob
	default:
		l.Text = "" // null
	}
	p.next()
	return l
}

func (p *parser) marker(expected string) Term {
	m := p.nodes.markers.next()
	m.Index = p.markers
	switch {
	case p.accept('?'):
	case p.accept(':'):
		m.Name = p.name("name of the bind marker")
	default:
		p.fail(expected)
		return nil
	}
	p.markers++
	return m
}

// terms reads a list of terms, which may be empty.
func (p *parser) terms(open, end byte) []Term { return p.elements(false, open, end) }

func (p *parser) elements(selection bool, open, end byte) []Term {
	p.expect(open)
	var elements []Term
	if !p.is(end) {
		for more := true; more; more = p.accept(',') {
			elements = append(elements, p.expression(selection))
		}
	}
	p.expect(end)
	return elements
}

// braces reads a set, a map or a value of a user-defined type.
func (p *parser) braces(selection bool) Term {
	if t := p.peek(); !selection && isName(t) {
		if p.after(t).Is(':') {
			return p.udt()
		}
	}
	p.expect('{')
	if p.accept('}') {
		return &Set{}
	}
	first := p.expression(selection)
	if !p.accept(':') {
		s := &Set{[]Term{first}}
		for p.accept(',') {
			s.Elements = append(s.Elements, p.expression(selection))
		}
		p.expect('}')
		return s
	}
	m := &Map{[]MapEntry{{first, p.expression(selection)}}}
	for p.accept(',') {
		key := p.expression(selection)
		p.expect(':')
		m.Entries = append(m.Entries, MapEntry{key, p.expression(selection)})
	}
	p.expect('}')
	return m
}

func (p *parser) udt() Term {
	u := &UDT{}
	p.next()
	for more := true; more; more = p.accept(',') {
		name := p.name("field")
		p.expect(':')
		u.Fields = append(u.Fields, FieldValue{name, p.expression(false)})
	}
	p.expect('}')
	return u
}

// call reads a function call or, in a selection, the name of a column.
func (p *parser) call(selection bool) Term {
	if !isName(p.tok) && !p.isWord("TOKEN") {
		p.fail("term")
		return nil
	}
	after, keyspace := p.peek(), ""
	if after.Is('.') {
		if after = p.after(p.after(after)); !selection || after.Is('(') {
			keyspace = p.name("keyspace")
			p.next()
		}
	}
	switch {
	case !after.Is('(') && selection:
		c := p.nodes.columns.next()
		c.Name = p.name("column")
		return c
	case !after.Is('('):
		p.fail("term")
		return nil
	case selection && keyspace == "" && (p.isWord("TTL") || p.isWord("WRITETIME") || p.isWord("MAXWRITETIME")):
		return p.metadata()
	case !isFunction(p.tok):
		p.fail("function")
		return nil
	}
	c := &FunctionCall{Keyspace: keyspace, Name: p.nameOf(p.tok)}
	star := selection && keyspace == "" && p.isWord("COUNT")
	p.next()
	if c.Star = star && p.acceptStar(); !c.Star {
		c.Args = p.elements(selection, '(', ')')
	}
	return c
}

// acceptStar passes over (*).
func (p *parser) acceptStar() bool {
	if !p.peek().Is('*') {
		return false
	}
	p.next()
	p.next()
	p.expect(')')
	return true
}

// metadata reads writetime(column) and its like, which ask not for a value but for what is stored beside it.
func (p *parser) metadata() Term {
	c := &FunctionCall{Name: p.tok.Keyword.String(), OfColumn: true}
	p.next()
	p.expect('(')
	if !isName(p.tok) {
		p.fail("column")
		return nil
	}
	if p.version == V41 {
		c.Args = []Term{&ColumnRef{p.column()}}
	} else {
		c.Args = []Term{p.modified(true)}
	}
	p.expect(')')
	return c
}

// isFunction reports whether t may name a function.
func isFunction(t lexer.Token) bool {
	return wordAt(t, "TOKEN") || isName(t) && t.Keyword.Class()&lexer.NoFunction == 0
}

// functionName reads the name of a function, with or without its keyspace.
func (p *parser) functionName() (keyspace, name string) {
	if p.peek().Is('.') {
		keyspace = p.name("keyspace")
		p.next()
	}
	return keyspace, p.localFunction()
}

// localFunction reads the name of a function without keyspace.
func (p *parser) localFunction() string {
	if !isFunction(p.tok) {
		p.fail("function")
		return ""
	}
	name := p.nameOf(p.tok)
	p.next()
	return name
}

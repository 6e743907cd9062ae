package cql

import "strings"

// expression reads a sum: the top of the grammar of terms. In a selection it may refer to columns.
func (p *parser) expression(selection bool) Term {
	left := p.product(selection)
	for n := 0; p.is("+") || p.is("-"); n++ {
		if !selection && p.is("+") {
			if t := p.peek(); p.columnNext(t) {
				break
			}
		}
		left = p.arithmetic(n, left, selection, p.product)
	}
	return left
}

func (p *parser) product(selection bool) Term {
	left := p.unary(selection)
	for n := 0; p.is("*") || p.is("/") || p.is("%"); n++ {
		left = p.arithmetic(n, left, selection, p.unary)
	}
	return left
}

// arithmetic reads an operator and its right side; n says how many of the chain there were before.
func (p *parser) arithmetic(n int, left Term, selection bool, right func(bool) Term) Term {
	if n >= MaxDepth {
		p.fail("fewer operators")
		return left
	}
	op := p.src[p.tok.start]
	p.next()
	return &Arithmetic{op, left, right(selection)}
}

func (p *parser) unary(selection bool) Term {
	if !p.accept("-") {
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
	for n := 0; selection && (p.is(".") || p.is("[")); n++ {
		if n >= MaxDepth {
			p.fail("fewer fields and elements")
			break
		}
		if p.accept(".") {
			t = &Field{t, p.name("field")}
			continue
		}
		p.next()
		var from Term
		if !p.is("..") {
			from = p.expression(false)
		}
		if !p.accept("..") {
			t = &Element{t, from}
		} else {
			s := &Slice{Of: t, From: from}
			if from == nil || !p.is("]") {
				s.To = p.expression(false)
			}
			t = s
		}
		p.expect("]")
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
	case p.tok.value() || p.isWord("NULL"):
		return p.literal()
	case p.is("?"), p.is(":"):
		return p.marker("bind marker")
	case p.is("("):
		if t := p.typeCast(selection); t != nil {
			return t
		}
		elements := p.elements(selection, "(", ")")
		if len(elements) == 0 {
			p.fail("term")
		}
		return &Tuple{elements}
	case p.is("["):
		return &List{p.elements(selection, "[", "]")}
	case p.is("{"):
		return p.braces(selection)
	case p.isWord("CAST") && p.symbolAt(p.peek(), "("):
		p.next()
		p.next()
		t := &Cast{}
		if selection {
			t.Term = p.expression(true)
		} else {
			t.Term = p.primary(false)
		}
		p.expectWords("AS")
		if classOf(p.text(p.tok))&nativeType == 0 || p.tok.kind != tokenWord {
			p.fail("native type")
		}
		t.Type.Name = p.name("native type")
		p.expect(")")
		return t
	}
	return p.call(selection)
}

// typeCast reads (type) term, or returns nil without having moved if that is not what stands here. A colon after the
// bracket begins a bind marker if a plain name follows; otherwise it stands between the key and the value of a map.
func (p *parser) typeCast(selection bool) Term {
	if t := p.peek(); !p.isName(t) && t.kind != tokenString && !p.wordAt(t, "SET") {
		return nil
	}
	before := *p
	p.next()
	typ := p.typ()
	if p.accept(")") && p.startsOperand(p.tok, selection) && (!p.is(":") || p.columnNext(p.peek())) {
		return &TypeCast{typ, p.primary(selection)}
	}
	*p = before
	return nil
}

// startsOperand reports whether t, the current token or the one after it, can begin an operand. AS is taken for the
// word before an alias, although a column could be called so.
func (p *parser) startsOperand(t token, selection bool) bool {
	switch t.kind {
	case tokenSymbol:
		return strings.Contains("?:([{", p.text(t))
	case tokenQuoted, tokenWord:
		if p.wordAt(t, "NULL") {
			return true
		}
		if !p.isName(t) && !p.wordAt(t, "TOKEN") {
			return false
		}
		if selection {
			return !p.wordAt(t, "AS")
		}
		return !p.columnNext(t)
	}
	return t.value()
}

func (p *parser) literal() Term {
	text := p.text(p.tok)
	l := &Literal{Text: text}
	switch p.tok.kind {
	case tokenString:
		l.Kind = LiteralString
		if text[0] == '$' {
			l.Text = text[2 : len(text)-2]
		} else {
			l.Text = unquote(text[1:len(text)-1], "'")
		}
	case tokenInteger:
		l.Kind = LiteralInteger
	case tokenFloat:
		l.Kind = LiteralFloat
		switch c := text[len(text)-1] | 0x20; {
		case c == 'n':
			l.Text = "NaN"
		case c == 'y' && text[0] == '-':
			l.Text = "-Infinity"
		case c == 'y':
			l.Text = "Infinity"
		}
	case tokenBoolean:
		l.Kind, l.Text = LiteralBoolean, fold(text)
	case tokenDuration:
		l.Kind = LiteralDuration
	case tokenUUID:
		l.Kind = LiteralUUID
	case tokenBlob:
		l.Kind = LiteralBlob
	default:
		l.Text = "" // null
	}
	p.next()
	return l
}

func (p *parser) marker(expected string) Term {
	m := &Marker{Index: p.markers}
	switch {
	case p.accept("?"):
	case p.accept(":"):
		m.Name = p.name("name of the bind marker")
	default:
		p.fail(expected)
		return nil
	}
	p.markers++
	return m
}

// terms reads a list of terms, which may be empty.
func (p *parser) terms(open, end string) []Term { return p.elements(false, open, end) }

func (p *parser) elements(selection bool, open, end string) []Term {
	p.expect(open)
	var elements []Term
	if !p.is(end) {
		for more := true; more; more = p.accept(",") {
			elements = append(elements, p.expression(selection))
		}
	}
	p.expect(end)
	return elements
}

// braces reads a set, a map or a value of a user-defined type.
func (p *parser) braces(selection bool) Term {
	if t := p.peek(); !selection && p.isName(t) {
		if l := (lexer{p.src, t.end}); p.symbolAt(l.next(), ":") {
			return p.udt()
		}
	}
	p.expect("{")
	if p.accept("}") {
		return &Set{}
	}
	first := p.expression(selection)
	if !p.accept(":") {
		s := &Set{[]Term{first}}
		for p.accept(",") {
			s.Elements = append(s.Elements, p.expression(selection))
		}
		p.expect("}")
		return s
	}
	m := &Map{[]MapEntry{{first, p.expression(selection)}}}
	for p.accept(",") {
		key := p.expression(selection)
		p.expect(":")
		m.Entries = append(m.Entries, MapEntry{key, p.expression(selection)})
	}
	p.expect("}")
	return m
}

func (p *parser) udt() Term {
	u := &UDT{}
	p.next()
	for more := true; more; more = p.accept(",") {
		name := p.name("field")
		p.expect(":")
		u.Fields = append(u.Fields, FieldValue{name, p.expression(false)})
	}
	p.expect("}")
	return u
}

// call reads a function call or, in a selection, the name of a column.
func (p *parser) call(selection bool) Term {
	if !p.isName(p.tok) && !p.isWord("TOKEN") {
		p.fail("term")
		return nil
	}
	c := &FunctionCall{}
	l := p.lexer
	after := l.next()
	if p.symbolAt(after, ".") {
		l.next()
		if after = l.next(); !selection || p.symbolAt(after, "(") {
			c.Keyspace = p.name("keyspace")
			p.next()
		}
	}
	switch c.Name = p.nameOf(p.tok); {
	case !p.symbolAt(after, "(") && selection:
		return &ColumnRef{p.name("column")}
	case !p.symbolAt(after, "("):
		p.fail("term")
		return nil
	case selection && c.Keyspace == "" && ofColumn(c.Name):
		return p.metadata(c)
	case !p.isFunction(p.tok):
		p.fail("function")
		return nil
	}
	star := selection && c.Keyspace == "" && p.isWord("count")
	p.next()
	if c.Star = star && p.acceptStar(); !c.Star {
		c.Args = p.elements(selection, "(", ")")
	}
	return c
}

// acceptStar passes over (*).
func (p *parser) acceptStar() bool {
	if !p.symbolAt(p.peek(), "*") {
		return false
	}
	p.next()
	p.next()
	p.expect(")")
	return true
}

// ofColumn reports whether a function asks not for a value but for what is stored beside it.
func ofColumn(name string) bool {
	return name == "ttl" || name == "writetime" || name == "maxwritetime"
}

// metadata reads writetime(column) and its like. A function of the user's own, whose name needs quotes then, is refused
// because the tree could not tell it apart.
func (p *parser) metadata(c *FunctionCall) Term {
	if p.tok.kind != tokenWord {
		p.fail("another function")
		return nil
	}
	p.next()
	p.expect("(")
	if !p.isName(p.tok) {
		p.fail("column")
		return nil
	}
	c.Args = []Term{p.modified(true)}
	p.expect(")")
	return c
}

// isFunction reports whether t may name a function.
func (p *parser) isFunction(t token) bool {
	if t.kind == tokenQuoted {
		return p.isName(t)
	}
	return p.wordAt(t, "TOKEN") || p.isName(t) && classOf(p.text(t))&noFunction == 0
}

// typ reads a type.
func (p *parser) typ() (t Type) {
	if p.nested() {
		return t
	}
	defer func() { p.depth-- }()
	word := ""
	if p.tok.kind == tokenWord {
		word = fold(p.text(p.tok))
	}
	if n, ok := typeArguments[word]; ok && p.symbolAt(p.peek(), "<") {
		p.next()
		p.next()
		t.Name, t.Args = word, []Type{p.typ()}
		for i := 1; (i < n || n == 0) && p.accept(","); i++ {
			t.Args = append(t.Args, p.typ())
		}
		if word == "vector" {
			if p.expect(","); p.tok.kind != tokenInteger {
				p.fail("dimensions")
			}
			t.Dimensions = p.text(p.tok)
			p.next()
		}
		if len(t.Args) < n {
			p.fail("','")
		}
		p.expect(">")
		return t
	}
	switch {
	case p.tok.kind == tokenString:
		l, _ := p.literal().(*Literal)
		return Type{Name: l.Text, Custom: true}
	case classOf(word)&nativeType != 0 && !p.symbolAt(p.peek(), "."):
		p.next()
		return Type{Name: word}
	}
	t.UDT = true
	t.Name = p.typeName(!p.symbolAt(p.peek(), "."))
	if p.accept(".") {
		t.Keyspace, t.Name = t.Name, p.typeName(true)
	}
	return t
}

// typeName reads the name of a user-defined type or, if not last, of its keyspace.
func (p *parser) typeName(last bool) string {
	if last && p.tok.kind == tokenWord && classOf(p.text(p.tok))&noType != 0 {
		p.fail("type")
	}
	return p.name("type")
}

// typeArguments says how many types each of the types with arguments takes, 0 meaning any number.
var typeArguments = map[string]int{"frozen": 1, "list": 1, "map": 2, "set": 1, "tuple": 0, "vector": 1}

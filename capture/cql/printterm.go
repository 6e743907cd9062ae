package cql

import "github.com/helenus-db/helenus/capture/cql/lexer"

// list writes terms between brackets.
func (p *printer) list(open string, terms []Term, end string) {
	p.write(open)
	for i, t := range terms {
		p.comma(i)
		t.print(p)
	}
	p.write(end)
}

// collapsed writes the whole of a tuple or collection as "(?)" in a fingerprint, so that its length does not tell. Only
// a selection keeps it, because columns may stand in it.
func (p *printer) collapsed() bool {
	if !p.normal || p.selection {
		return false
	}
	p.write("(?)")
	return true
}

// repeats reports whether an item adds nothing to a fingerprint: a value after a value.
func (p *printer) repeats(terms []Term, i int) bool {
	return p.normal && i > 0 && isValue(terms[i-1]) && isValue(terms[i])
}

func isValue(t Term) bool {
	switch t.(type) {
	case *Literal, *Marker:
		return true
	}
	return false
}

func (p *printer) composite(open string, terms []Term, end string) {
	if p.collapsed() {
		return
	}
	p.write(open)
	for i, t := range terms {
		if !p.repeats(terms, i) {
			p.comma(i)
			t.print(p)
		}
	}
	p.write(end)
}

// bracketed writes t so that it reads as one operand.
func (p *printer) bracketed(t Term, brackets bool) {
	if brackets {
		p.writeByte('(')
		t.print(p)
		p.writeByte(')')
		return
	}
	t.print(p)
}

// binding says how tightly a term holds together: 1 a sum, 2 a product, 3 a negation, 4 what has fields or elements
// taken of it, 5 everything else.
func binding(t Term) int {
	switch t := t.(type) {
	case *Arithmetic:
		if t.Op == '+' || t.Op == '-' {
			return 1
		}
		return 2
	case *Negation:
		return 3
	case *Field, *Element, *Slice:
		return 4
	}
	return 5
}

func (m *Marker) print(p *printer) {
	if m.Name == "" || p.normal {
		p.writeByte('?')
		return
	}
	p.writeByte(':')
	p.name(m.Name)
}

func (l *Literal) print(p *printer) {
	switch {
	case p.normal:
		p.writeByte('?')
	case l.Kind == LiteralNull:
		p.write("null")
	case l.Kind == LiteralString:
		p.quoted(l.Text, '\'')
	default:
		p.write(l.Text)
	}
}

func (c *ColumnRef) print(p *printer) { p.name(c.Name) }

func (f *FunctionCall) print(p *printer) {
	switch {
	case f.Keyspace != "":
		p.function(f.Keyspace)
		p.writeByte('.')
		p.function(f.Name)
	case f.Name == "token", f.OfColumn:
		p.write(f.Name)
	default:
		p.function(f.Name)
	}
	if f.Star {
		p.write("(*)")
		return
	}
	p.list("(", f.Args, ")")
}

// function writes the name of a function or of its keyspace, which must not begin like something else.
func (p *printer) function(name string) {
	if lexer.Plain(name) && name != "expr" && lexer.Lookup(name).Class()&lexer.NoFunction == 0 {
		p.write(name)
		return
	}
	p.quoted(name, '"')
}

func (c *Cast) print(p *printer) {
	p.write("CAST(")
	p.bracketed(c.Term, !p.selection && binding(c.Term) < 4)
	p.write(" AS ")
	c.Type.print(p)
	p.writeByte(')')
}

func (c *TypeCast) print(p *printer) {
	p.writeByte('(')
	c.Type.print(p)
	p.write(") ")
	p.bracketed(c.Term, binding(c.Term) < 5)
}

func (a *Arithmetic) print(p *printer) {
	own := binding(a)
	p.bracketed(a.Left, binding(a.Left) < own)
	p.words(" ", string(rune(a.Op)), " ")
	p.bracketed(a.Right, binding(a.Right) <= own)
}

// The blank keeps the minus from becoming part of a number or the beginning of a comment.
func (n *Negation) print(p *printer) {
	p.write("- ")
	p.bracketed(n.Term, binding(n.Term) < 3 || !p.selection && binding(n.Term) == 3)
}

func (t *Tuple) print(p *printer) { p.composite("(", t.Elements, ")") }

func (l *List) print(p *printer) { p.composite("[", l.Elements, "]") }

func (s *Set) print(p *printer) { p.composite("{", s.Elements, "}") }

func (m *Map) print(p *printer) {
	if p.collapsed() {
		return
	}
	p.writeByte('{')
	for i, e := range m.Entries {
		if p.normal && i > 0 && isValue(e.Key) && isValue(e.Value) && isValue(m.Entries[i-1].Key) && isValue(m.Entries[i-1].Value) {
			continue
		}
		p.comma(i)
		e.Key.print(p)
		p.write(": ")
		e.Value.print(p)
	}
	p.writeByte('}')
}

func (u *UDT) print(p *printer) {
	if p.collapsed() {
		return
	}
	p.writeByte('{')
	for i, f := range u.Fields {
		p.comma(i)
		p.name(f.Name)
		p.write(": ")
		f.Value.print(p)
	}
	p.writeByte('}')
}

func (f *Field) print(p *printer) {
	p.bracketed(f.Of, binding(f.Of) < 4)
	if _, ok := f.Of.(*Literal); ok {
		p.writeByte(' ') // or the dot would belong to the number
	}
	p.writeByte('.')
	p.name(f.Name)
}

func (e *Element) print(p *printer) {
	p.bracketed(e.Of, binding(e.Of) < 4)
	p.writeByte('[')
	p.outside(e.Key)
	p.writeByte(']')
}

func (s *Slice) print(p *printer) {
	p.bracketed(s.Of, binding(s.Of) < 4)
	p.writeByte('[')
	if s.From != nil {
		p.outside(s.From)
		p.writeByte(' ')
	}
	p.write("..")
	if s.To != nil {
		p.writeByte(' ')
		p.outside(s.To)
	}
	p.writeByte(']')
}

// outside writes a term that stands in a selection but follows the rules outside of it.
func (p *printer) outside(t Term) {
	selection := p.selection
	p.selection = false
	t.print(p)
	p.selection = selection
}

// String prints the type as CQL.
func (t Type) String() string { return render(&t) }

func (t *Type) print(p *printer) {
	switch {
	case t.Custom && p.normal: // it is quoted like a string, so it may be one that stands here by mistake
		p.writeByte('?')
		return
	case t.Custom:
		p.quoted(t.Name, '\'')
		return
	case !t.UDT:
		p.write(t.Name)
	default:
		if t.Keyspace != "" {
			p.name(t.Keyspace)
			p.writeByte('.')
		}
		if _, arguments := typeArguments[t.Name]; arguments || !lexer.Plain(t.Name) || reservedTypes[t.Name] || lexer.Lookup(t.Name).Class()&lexer.NoType != 0 {
			p.quoted(t.Name, '"')
		} else {
			p.name(t.Name)
		}
		return
	}
	for i := range t.Args {
		if i == 0 {
			p.writeByte('<')
		}
		p.comma(i)
		t.Args[i].print(p)
	}
	if t.Dimensions != "" {
		p.words(", ", t.Dimensions)
	}
	if len(t.Args) > 0 {
		p.writeByte('>')
	}
}

// String prints the marker.
func (m *Marker) String() string { return render(m) }

// String prints the constant.
func (l *Literal) String() string { return render(l) }

// String prints the column's name.
func (c *ColumnRef) String() string { return render(c) }

// String prints the call. Outside of a selection's own printing, writetime and ttl come in quotes.
func (f *FunctionCall) String() string { return render(f) }

// String prints the conversion.
func (c *Cast) String() string { return render(c) }

// String prints the type hint and its term.
func (c *TypeCast) String() string { return render(c) }

// String prints the operation.
func (a *Arithmetic) String() string { return render(a) }

// String prints the negation.
func (n *Negation) String() string { return render(n) }

// String prints the tuple.
func (t *Tuple) String() string { return render(t) }

// String prints the list.
func (l *List) String() string { return render(l) }

// String prints the set.
func (s *Set) String() string { return render(s) }

// String prints the map.
func (m *Map) String() string { return render(m) }

// String prints the value.
func (u *UDT) String() string { return render(u) }

// String prints the field.
func (f *Field) String() string { return render(f) }

// String prints the element.
func (e *Element) String() string { return render(e) }

// String prints the slice.
func (s *Slice) String() string { return render(s) }

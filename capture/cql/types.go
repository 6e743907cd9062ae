package cql

import (
	"strconv"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// typeArguments says how many types each of the types with arguments takes, 0 meaning any number.
var typeArguments = map[string]int{"frozen": 1, "list": 1, "map": 2, "set": 1, "tuple": 0, "vector": 1}

// typ reads a type.
func (p *parser) typ() (t Type) {
	if p.nested() {
		return t
	}
	t = p.typeWithin()
	p.depth--
	return t
}

func (p *parser) typeWithin() (t Type) {
	if p.tok.Keyword != 0 && p.peek().Is('<') {
		if n, ok := typeArguments[p.tok.Keyword.String()]; ok {
			return p.typeWithArguments(p.tok.Keyword.String(), n)
		}
	}
	switch {
	case p.tok.Kind == lexer.String:
		return Type{Name: p.stringLiteral(), Custom: true}
	case p.tok.Keyword.Class()&lexer.NativeType != 0 && !p.peek().Is('.'):
		t.Name = p.tok.Keyword.String()
		p.next()
		return t
	}
	t.UDT = true
	t.Name = p.typeName(!p.peek().Is('.'))
	if p.accept('.') {
		t.Keyspace, t.Name = t.Name, p.typeName(true)
	}
	return t
}

// typeWithArguments reads a type of n arguments, or of at least one if n is 0.
func (p *parser) typeWithArguments(name string, n int) Type {
	p.next()
	p.next()
	t := Type{Name: name, Args: []Type{p.typ()}}
	if name == "frozen" && !t.Args[0].freezable() {
		p.fail("a collection, tuple or user-defined type")
	}
	for i := 1; (i < n || n == 0) && p.accept(','); i++ {
		t.Args = append(t.Args, p.typ())
	}
	if name == "vector" {
		p.expect(',')
		t.Dimensions = p.text(p.tok)
		if _, err := strconv.ParseInt(t.Dimensions, 10, 32); err != nil || p.tok.Kind != lexer.Integer {
			p.fail("dimensions")
		}
		p.next()
	}
	if len(t.Args) < n {
		p.fail("','")
	}
	p.expect('>')
	return t
}

// freezable reports whether frozen<t> makes sense.
func (t *Type) freezable() bool { return t.UDT || len(t.Args) > 0 }

// typeName reads the name of a user-defined type or, if not last, of its keyspace.
func (p *parser) typeName(last bool) string {
	if last && p.tok.Kind == lexer.Word && (p.tok.Keyword.Class()&lexer.NoType != 0 || p.tok.Keyword == 0 && reservedTypes[p.text(p.tok)]) {
		p.fail("type")
	}
	return p.name("type")
}

// reservedTypes are the names that the server keeps for types to come; in lower case only, as it looks at what was written.
var reservedTypes = map[string]bool{"byte": true, "complex": true, "enum": true, "interval": true, "macaddr": true, "bitstring": true}

// typeList reads (type, ...), which may be empty.
func (p *parser) typeList() []Type {
	types := []Type{}
	p.expect('(')
	if !p.is(')') {
		for more := true; more; more = p.accept(',') {
			types = append(types, p.typ())
		}
	}
	p.expect(')')
	return types
}

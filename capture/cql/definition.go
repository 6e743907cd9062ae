package cql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// Object is a kind of thing that a statement defines, drops or describes.
type Object uint8

// The objects.
const (
	ObjectKeyspace Object = iota + 1
	ObjectTable
	ObjectType
	ObjectIndex
	ObjectView
	ObjectFunction
	ObjectAggregate
	ObjectTrigger
	ObjectRole
	ObjectUser
	ObjectIdentity
)

var objectNames = [...]string{"?", "KEYSPACE", "TABLE", "TYPE", "INDEX", "MATERIALIZED VIEW", "FUNCTION", "AGGREGATE", "TRIGGER", "ROLE",
	"USER", "IDENTITY"}

// String returns the object as CQL writes it.
func (o Object) String() string {
	if int(o) >= len(objectNames) {
		return objectNames[0]
	}
	return objectNames[o]
}

// object reads what a statement defines; 0 if nothing known comes next.
func (p *parser) object() Object {
	for o := ObjectKeyspace; o <= ObjectIdentity; o++ {
		switch o {
		case ObjectTable:
			if p.acceptWords("COLUMNFAMILY") {
				return o
			}
		case ObjectView:
			if p.acceptWords("MATERIALIZED") {
				p.expectWords("VIEW")
				return o
			}
			continue
		}
		if p.acceptWords(o.String()) {
			return o
		}
	}
	return 0
}

// definition reads a statement on the schema or on roles.
func (p *parser) definition() Statement {
	switch {
	case p.acceptWords("CREATE"):
		return p.create()
	case p.acceptWords("ALTER"):
		return p.alter()
	case p.acceptWords("DROP"):
		return p.drop()
	case p.acceptWords("ADD"):
		return p.addIdentity()
	case p.isWord("GRANT"), p.isWord("REVOKE"):
		return p.grant()
	case p.acceptWords("LIST"):
		return p.list()
	case p.acceptWords("DESCRIBE"), p.acceptWords("DESC"):
		return p.describe()
	}
	p.fail("a CQL statement")
	return nil
}

func (p *parser) create() Statement {
	replace := false
	if p.acceptWords("OR") {
		p.expectWords("REPLACE")
		replace = true
	}
	custom := !replace && p.acceptWords("CUSTOM")
	o := p.object()
	if replace && o != ObjectFunction && o != ObjectAggregate {
		p.fail("FUNCTION or AGGREGATE")
	}
	if custom && o != ObjectIndex {
		p.fail("INDEX")
	}
	switch o {
	case ObjectKeyspace:
		return p.createKeyspace()
	case ObjectTable:
		return p.createTable()
	case ObjectType:
		return p.createType()
	case ObjectIndex:
		return p.createIndex(custom)
	case ObjectView:
		return p.createView()
	case ObjectFunction:
		return p.createFunction(replace)
	case ObjectAggregate:
		return p.createAggregate(replace)
	case ObjectTrigger:
		return p.createTrigger()
	case ObjectRole, ObjectUser:
		return p.role(false, o == ObjectUser)
	}
	p.fail("what to create")
	return nil
}

func (p *parser) alter() Statement {
	switch o := p.object(); o {
	case ObjectKeyspace:
		return p.alterKeyspace()
	case ObjectTable:
		return p.alterTable()
	case ObjectType:
		return p.alterType()
	case ObjectView:
		return p.alterView()
	case ObjectRole, ObjectUser:
		return p.role(true, o == ObjectUser)
	}
	p.fail("what to alter")
	return nil
}

// Drop is any DROP.
type Drop struct {
	Object   Object
	IfExists bool
	// Name is what is dropped; without keyspace for a trigger, role, user or identity, and Keyspace alone for a keyspace.
	Name      TableRef
	On        TableRef // the table of a trigger
	Arguments []Type   // of a function or aggregate; nil if not said
}

func (p *parser) drop() Statement {
	s := &Drop{Object: p.object()}
	if s.Object == 0 {
		p.fail("what to drop")
		return nil
	}
	s.IfExists = p.ifExists()
	switch s.Object {
	case ObjectKeyspace:
		s.Name.Keyspace = p.name("keyspace")
	case ObjectTable, ObjectIndex, ObjectView:
		s.Name = p.table()
	case ObjectType:
		s.Name = p.userType()
	case ObjectFunction, ObjectAggregate:
		s.Name.Keyspace, s.Name.Table = p.functionName()
		if p.is('(') {
			s.Arguments = p.typeList()
		}
	case ObjectTrigger:
		s.Name.Table = p.name("trigger")
		p.expectWords("ON")
		s.On = p.table()
	case ObjectRole:
		s.Name.Table = p.roleName()
	case ObjectUser, ObjectIdentity:
		s.Name.Table = p.wordOrString(s.Object.String())
	}
	return s
}

func (s *Drop) print(p *printer) {
	p.words("DROP ", s.Object.String(), " ")
	if s.IfExists {
		p.write("IF EXISTS ")
	}
	switch s.Object {
	case ObjectKeyspace:
		p.name(s.Name.Keyspace)
	case ObjectTable, ObjectIndex, ObjectView:
		p.table(s.Name)
	case ObjectType:
		p.userType(s.Name)
	case ObjectFunction, ObjectAggregate:
		p.qualifiedFunction(s.Name.In(p.keyspace))
		if s.Arguments != nil {
			p.typeList(s.Arguments)
		}
	case ObjectTrigger:
		p.name(s.Name.Table)
		p.write(" ON ")
		p.table(s.On)
	case ObjectRole:
		p.roleName(s.Name.Table)
	case ObjectUser, ObjectIdentity:
		p.wordOrString(s.Name.Table)
	}
}

// Word is a keyword as the value of a property.
type Word struct{ Text string }

func (w *Word) print(p *printer) { p.write(w.Text) }

// Property is one property of a keyspace, table, view or index. Value is a *Literal, a *Word or a *Map of literals.
type Property struct {
	Name  string
	Value Term
}

// properties reads properties after WITH. A name may be given once only.
func (p *parser) properties() []Property {
	var properties []Property
	seen := map[string]bool{}
	for more := true; more; more = p.acceptWords("AND") {
		properties = append(properties, p.property(seen))
	}
	return properties
}

func (p *parser) property(seen map[string]bool) Property {
	property := Property{Name: p.once(seen, "property")}
	p.expect('=')
	switch {
	case p.is('{'):
		property.Value = p.propertyMap()
	case p.tok.Value():
		property.Value = p.literal()
	case p.tok.Keyword != 0 && p.tok.Keyword.Class()&lexer.Reserved == 0:
		property.Value = &Word{p.tok.Keyword.String()}
		p.next()
	default:
		p.fail("constant or map")
	}
	return property
}

// once reads a name that may not have been seen before.
func (p *parser) once(seen map[string]bool, what string) string {
	at := p.tok
	name := p.name(what)
	if p.err == nil && seen[name] {
		p.tok = at
		p.fail("each " + what + " once")
	}
	seen[name] = true
	return name
}

// propertyMap reads a map of constants. A key may be given once only.
func (p *parser) propertyMap() Term {
	m := &Map{}
	p.expect('{')
	seen := map[string]bool{}
	for more := !p.is('}'); more; more = p.accept(',') {
		if !p.tok.Value() {
			p.fail("constant")
		}
		at, raw := p.tok, p.text(p.tok)
		key := p.literal()
		if l, _ := key.(*Literal); l.Kind == LiteralBoolean {
			l.Text = raw // true and TRUE are two keys
		} else {
			raw = l.Text
		}
		if seen[raw] && p.err == nil {
			p.tok = at
			p.fail("each key once")
		}
		seen[raw] = true
		if p.expect(':'); !p.tok.Value() {
			p.fail("constant")
		}
		m.Entries = append(m.Entries, MapEntry{key, p.literal()})
	}
	p.expect('}')
	return m
}

// properties writes properties with what stands before the first. In a fingerprint it keeps their names only.
func (p *printer) properties(before string, properties []Property) {
	for i := range properties {
		p.and(i, before)
		p.name(properties[i].Name)
		p.write(" = ")
		properties[i].print(p)
	}
}

func (o *Property) print(p *printer) {
	m, ok := o.Value.(*Map)
	if !ok {
		o.Value.print(p)
		return
	}
	if p.collapsed() {
		return
	}
	p.writeByte('{')
	for i, e := range m.Entries {
		p.comma(i)
		e.Key.print(p)
		p.write(": ")
		e.Value.print(p)
	}
	p.writeByte('}')
}

// CreateKeyspace is CREATE KEYSPACE.
type CreateKeyspace struct {
	Keyspace    string
	IfNotExists bool
	Properties  []Property
}

func (p *parser) createKeyspace() Statement {
	s := &CreateKeyspace{IfNotExists: p.ifNotExists(), Keyspace: p.name("keyspace")}
	p.expectWords("WITH")
	s.Properties = p.properties()
	return s
}

func (s *CreateKeyspace) print(p *printer) {
	p.words("CREATE KEYSPACE ", ifNotExists(s.IfNotExists))
	p.name(s.Keyspace)
	p.properties(" WITH ", s.Properties)
}

// AlterKeyspace is ALTER KEYSPACE.
type AlterKeyspace struct {
	Keyspace   string
	IfExists   bool
	Properties []Property
}

func (p *parser) alterKeyspace() Statement {
	s := &AlterKeyspace{IfExists: p.ifExists(), Keyspace: p.name("keyspace")}
	p.expectWords("WITH")
	s.Properties = p.properties()
	return s
}

func (s *AlterKeyspace) print(p *printer) {
	p.words("ALTER KEYSPACE ", ifExists(s.IfExists))
	p.name(s.Keyspace)
	p.properties(" WITH ", s.Properties)
}

// CreateTrigger is CREATE TRIGGER.
type CreateTrigger struct {
	Name        string
	IfNotExists bool
	Table       TableRef
	Class       string // of the trigger's Java code
}

func (p *parser) createTrigger() Statement {
	s := &CreateTrigger{IfNotExists: p.ifNotExists(), Name: p.name("trigger")}
	p.expectWords("ON")
	s.Table = p.table()
	p.expectWords("USING")
	s.Class = p.stringLiteral()
	return s
}

func (s *CreateTrigger) print(p *printer) {
	p.words("CREATE TRIGGER ", ifNotExists(s.IfNotExists))
	p.name(s.Name)
	p.write(" ON ")
	p.table(s.Table)
	p.write(" USING ")
	p.text(s.Class)
}

// text writes a string, which a fingerprint does not tell.
func (p *printer) text(text string) { (&Literal{Kind: LiteralString, Text: text}).print(p) }

func ifNotExists(is bool) string {
	if is {
		return "IF NOT EXISTS "
	}
	return ""
}

func ifExists(is bool) string {
	if is {
		return "IF EXISTS "
	}
	return ""
}

// integer reads a number that a Java long holds.
func (p *parser) integer() string {
	text := p.text(p.tok)
	if _, err := strconv.ParseInt(text, 10, 64); err != nil || p.tok.Kind != lexer.Integer {
		p.fail("integer")
	}
	p.next()
	return text
}

// IsDefinitions tells whether a file begins, after comments, with a word of CQL's definitions rather than a key of YAML.
func IsDefinitions(text string) bool {
	l := lexer.Lexer{Source: text}
	first := l.Next()
	if first.Kind != lexer.Word {
		return false
	}
	word := strings.ToUpper(text[first.Start:first.End])
	return slices.Contains([]string{"CREATE", "USE", "DROP", "ALTER", "INSERT"}, word) && !l.Next().Is(':')
}

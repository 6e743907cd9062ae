package cql

import "github.com/helenus-db/helenus/capture/cql/lexer"

// ColumnDefinition is a column of a table, or a field of a type (which is neither static nor masked).
type ColumnDefinition struct {
	Name   string
	Type   Type
	Static bool
	Mask   *Mask // nil if the column is not masked
}

// Mask is the function that hides a column's values; without Name, DEFAULT.
type Mask struct {
	Keyspace, Name string
	Args           []Term
}

// columnDefinition reads what follows a column's name.
func (p *parser) columnDefinition(name string) ColumnDefinition {
	c := ColumnDefinition{Name: name, Type: p.typ(), Static: p.acceptWords("STATIC")}
	if p.isWord("MASKED") {
		c.Mask = p.mask()
	}
	return c
}

func (p *parser) mask() *Mask {
	m := &Mask{}
	p.expectWords("MASKED", "WITH")
	if p.isWord("DEFAULT") && !p.peek().Is('(') && !p.peek().Is('.') {
		p.next()
		return m
	}
	m.Keyspace, m.Name = p.functionName()
	m.Args = p.terms('(', ')')
	return m
}

func (c *ColumnDefinition) print(p *printer) {
	p.name(c.Name)
	p.writeByte(' ')
	c.Type.print(p)
	if c.Static {
		p.write(" STATIC")
	}
	c.Mask.print(p)
}

func (m *Mask) print(p *printer) {
	if m == nil {
		return
	}
	if p.write(" MASKED WITH "); m.Name == "" {
		p.write("DEFAULT")
		return
	}
	p.qualifiedFunction(TableRef{m.Keyspace, m.Name})
	p.list("(", m.Args, ")")
}

// CreateTable is CREATE TABLE. A key that was given beside a column's type stands in PartitionKey like any other.
type CreateTable struct {
	Table                       TableRef
	IfNotExists                 bool
	Columns                     []ColumnDefinition
	PartitionKey, ClusteringKey []string
	Layout
}

// Layout is what WITH says of a table or view.
type Layout struct {
	ClusteringOrder []Ordering // Column and Descending only
	CompactStorage  bool       // of a table only
	Properties      []Property
}

func (p *parser) createTable() Statement {
	s := &CreateTable{IfNotExists: p.ifNotExists(), Table: p.table()}
	p.expect('(')
	seen := map[string]bool{}
	for more := true; more; more = p.accept(',') {
		if (p.is(',') || p.is(')')) && len(s.Columns)+len(s.PartitionKey) > 0 { // columns may be left out
			continue
		}
		switch {
		case p.isWord("PRIMARY"):
			p.primaryKey(&s.PartitionKey, &s.ClusteringKey)
		default:
			c := p.columnDefinition(p.once(seen, "column"))
			s.Columns = append(s.Columns, c)
			if p.isWord("PRIMARY") {
				p.oneKey(s.PartitionKey)
				p.expectWords("PRIMARY", "KEY")
				s.PartitionKey = []string{c.Name}
			}
		}
	}
	if len(s.Columns)+len(s.PartitionKey) == 0 {
		p.fail("column")
	}
	p.expect(')')
	s.Layout = p.layout(true)
	return s
}

// oneKey refuses a second primary key.
func (p *parser) oneKey(partition []string) {
	if partition != nil {
		p.fail("one PRIMARY KEY")
	}
}

// primaryKey reads PRIMARY KEY (...).
func (p *parser) primaryKey(partition, clustering *[]string) {
	p.oneKey(*partition)
	p.expectWords("PRIMARY", "KEY")
	p.expect('(')
	if p.accept('(') {
		for more := true; more; more = p.accept(',') {
			*partition = append(*partition, p.name("column"))
		}
		p.expect(')')
	} else {
		*partition = []string{p.name("column")}
	}
	for p.accept(',') {
		*clustering = append(*clustering, p.name("column"))
	}
	p.expect(')')
}

// layout reads WITH and what follows, if it comes next.
func (p *parser) layout(table bool) (l Layout) {
	if !p.acceptWords("WITH") {
		return l
	}
	properties, columns := map[string]bool{}, map[string]bool{}
	for more := true; more; more = p.acceptWords("AND") {
		switch {
		case table && p.acceptWords("COMPACT", "STORAGE"):
			l.CompactStorage = true
		case p.isWord("CLUSTERING") && wordAt(p.peek(), "ORDER"):
			p.next()
			p.expectWords("ORDER", "BY")
			p.expect('(')
			l.ClusteringOrder = p.clusteringOrder(l.ClusteringOrder, columns)
			p.expect(')')
		default:
			l.Properties = append(l.Properties, p.property(properties))
		}
	}
	return l
}

func (p *parser) clusteringOrder(orders []Ordering, seen map[string]bool) []Ordering {
	for more := true; more; more = p.accept(',') {
		o := Ordering{Column: p.once(seen, "column")}
		if o.Descending = p.acceptWords("DESC"); !o.Descending {
			p.expectWords("ASC")
		}
		orders = append(orders, o)
	}
	return orders
}

func (s *CreateTable) print(p *printer) {
	p.words("CREATE TABLE ", ifNotExists(s.IfNotExists))
	p.table(s.Table)
	p.write(" (")
	for i := range s.Columns {
		p.comma(i)
		s.Columns[i].print(p)
	}
	if s.PartitionKey != nil {
		p.comma(len(s.Columns))
		p.primaryKey(s.PartitionKey, s.ClusteringKey)
	}
	p.writeByte(')')
	p.layout(&s.Layout)
}

func (p *printer) primaryKey(partition, clustering []string) {
	p.write("PRIMARY KEY (")
	if len(partition) == 1 {
		p.name(partition[0])
	} else {
		p.names(partition)
	}
	for _, c := range clustering {
		p.write(", ")
		p.name(c)
	}
	p.writeByte(')')
}

func (p *printer) layout(l *Layout) {
	before := " WITH "
	for i, o := range l.ClusteringOrder {
		if i == 0 {
			p.write(" WITH CLUSTERING ORDER BY (")
		}
		p.comma(i)
		p.name(o.Column)
		p.write([...]string{" ASC", " DESC"}[index(o.Descending)])
	}
	if len(l.ClusteringOrder) > 0 {
		p.writeByte(')')
		before = " AND "
	}
	if l.CompactStorage {
		p.words(before, "COMPACT STORAGE")
		before = " AND "
	}
	p.properties(before, l.Properties)
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Alteration says what an ALTER TABLE or ALTER TYPE does.
type Alteration uint8

// The alterations.
const (
	AlterAdd            Alteration = iota + 1 // columns or fields
	AlterDrop                                 // columns
	AlterRename                               // columns or fields
	AlterRetype                               // a column or field
	AlterMask                                 // a column; without a mask it is unmasked
	AlterCompactStorage                       // which is dropped
	AlterProperties
)

// Rename is one renaming of a column or field.
type Rename struct{ From, To string }

// AlterTable is ALTER TABLE.
type AlterTable struct {
	Table    TableRef
	IfExists bool
	Does     Alteration
	IfColumn bool               // ADD IF NOT EXISTS; ALTER, DROP and RENAME IF EXISTS
	Columns  []ColumnDefinition // Name only for AlterDrop, Name and Type for AlterRetype, Name and Mask for AlterMask
	// Timestamp is the time of AlterDrop in microseconds, as written; "" if not said.
	Timestamp  string
	Renames    []Rename
	Properties []Property
}

func (p *parser) alterTable() Statement {
	s := &AlterTable{IfExists: p.ifExists(), Table: p.table()}
	switch {
	case p.acceptWords("ALTER"):
		s.IfColumn = p.ifExists()
		c := ColumnDefinition{Name: p.column()}
		switch {
		case !s.IfColumn && p.acceptWords("TYPE"):
			s.Does, c.Type = AlterRetype, p.typ()
		case p.acceptWords("DROP"):
			s.Does = AlterMask
			p.expectWords("MASKED")
		default:
			s.Does, c.Mask = AlterMask, p.mask()
		}
		s.Columns = []ColumnDefinition{c}
	case p.acceptWords("ADD"):
		s.Does, s.IfColumn = AlterAdd, p.ifNotExists()
		p.oneOrSeveral(func() { s.Columns = append(s.Columns, p.columnDefinition(p.name("column"))) })
	case p.isWord("DROP") && p.dropsCompactStorage():
		s.Does = AlterCompactStorage
		p.expectWords("DROP", "COMPACT", "STORAGE")
	case p.acceptWords("DROP"):
		s.Does, s.IfColumn = AlterDrop, p.ifExists()
		p.oneOrSeveral(func() { s.Columns = append(s.Columns, ColumnDefinition{Name: p.name("column")}) })
		if p.acceptWords("USING") {
			p.expectWords("TIMESTAMP")
			s.Timestamp = p.integer()
		}
	case p.acceptWords("RENAME"):
		s.Does, s.IfColumn = AlterRename, p.ifExists()
		s.Renames = p.renames("column")
	case p.acceptWords("WITH"):
		s.Does, s.Properties = AlterProperties, p.properties()
	default:
		p.fail("ALTER, ADD, DROP, RENAME or WITH")
	}
	return s
}

// dropsCompactStorage reports whether DROP is followed by COMPACT STORAGE and not by a column called compact.
func (p *parser) dropsCompactStorage() bool {
	t := p.peek()
	return wordAt(t, "COMPACT") && wordAt(p.after(t), "STORAGE")
}

// oneOrSeveral reads an item, or (item, ...).
func (p *parser) oneOrSeveral(item func()) {
	if !p.accept('(') {
		item()
		return
	}
	for more := true; more; more = p.accept(',') {
		item()
	}
	p.expect(')')
}

func (p *parser) renames(what string) (renames []Rename) {
	for more := true; more; more = p.acceptWords("AND") {
		r := Rename{From: p.name(what)}
		p.expectWords("TO")
		r.To = p.name(what)
		renames = append(renames, r)
	}
	return renames
}

func (s *AlterTable) print(p *printer) {
	p.words("ALTER TABLE ", ifExists(s.IfExists))
	p.table(s.Table)
	switch s.Does {
	case AlterAdd:
		p.words(" ADD ", ifNotExists(s.IfColumn), "(")
		for i := range s.Columns {
			p.comma(i)
			s.Columns[i].print(p)
		}
		p.writeByte(')')
	case AlterDrop:
		p.words(" DROP ", ifExists(s.IfColumn), "(")
		for i := range s.Columns {
			p.comma(i)
			p.name(s.Columns[i].Name)
		}
		p.writeByte(')')
		if s.Timestamp != "" {
			p.write(" USING TIMESTAMP ")
			(&Literal{Kind: LiteralInteger, Text: s.Timestamp}).print(p)
		}
	case AlterRename:
		p.words(" RENAME ", ifExists(s.IfColumn))
		p.renames(s.Renames)
	case AlterRetype:
		p.write(" ALTER ")
		p.name(s.Columns[0].Name)
		p.write(" TYPE ")
		s.Columns[0].Type.print(p)
	case AlterMask:
		p.words(" ALTER ", ifExists(s.IfColumn))
		p.name(s.Columns[0].Name)
		if s.Columns[0].Mask == nil {
			p.write(" DROP MASKED")
		}
		s.Columns[0].Mask.print(p)
	case AlterCompactStorage:
		p.write(" DROP COMPACT STORAGE")
	case AlterProperties:
		p.properties(" WITH ", s.Properties)
	}
}

func (p *printer) renames(renames []Rename) {
	for i, r := range renames {
		p.and(i, "")
		p.name(r.From)
		p.write(" TO ")
		p.name(r.To)
	}
}

// CreateType is CREATE TYPE.
type CreateType struct {
	Type        TableRef
	IfNotExists bool
	Fields      []ColumnDefinition
}

// userType reads the name of a user-defined type.
func (p *parser) userType() TableRef {
	t := TableRef{Table: p.typeName(!p.peek().Is('.'))}
	if p.accept('.') {
		t.Keyspace, t.Table = t.Table, p.typeName(true)
	}
	return t
}

func (p *parser) createType() Statement {
	s := &CreateType{IfNotExists: p.ifNotExists(), Type: p.userType()}
	p.expect('(')
	for more := true; more; more = p.accept(',') {
		if len(s.Fields) == 0 || !p.is(',') && !p.is(')') { // fields may be left out
			s.Fields = append(s.Fields, ColumnDefinition{Name: p.name("field"), Type: p.typ()})
		}
	}
	p.expect(')')
	return s
}

func (s *CreateType) print(p *printer) {
	p.words("CREATE TYPE ", ifNotExists(s.IfNotExists))
	p.userType(s.Type)
	p.write(" (")
	for i := range s.Fields {
		p.comma(i)
		s.Fields[i].print(p)
	}
	p.writeByte(')')
}

// AlterType is ALTER TYPE.
type AlterType struct {
	Type     TableRef
	IfExists bool
	Does     Alteration       // AlterAdd, AlterRename or AlterRetype
	IfField  bool             // ADD IF NOT EXISTS, RENAME IF EXISTS
	Field    ColumnDefinition // of AlterAdd and AlterRetype
	Renames  []Rename
}

func (p *parser) alterType() Statement {
	s := &AlterType{IfExists: p.ifExists(), Type: p.userType()}
	switch {
	case p.acceptWords("ALTER"):
		s.Does, s.Field.Name = AlterRetype, p.name("field")
		p.expectWords("TYPE")
		s.Field.Type = p.typ()
	case p.acceptWords("ADD"):
		s.Does, s.IfField = AlterAdd, p.ifNotExists()
		s.Field = ColumnDefinition{Name: p.name("field"), Type: p.typ()}
	case p.acceptWords("RENAME"):
		s.Does, s.IfField = AlterRename, p.ifExists()
		s.Renames = p.renames("field")
	default:
		p.fail("ALTER, ADD or RENAME")
	}
	return s
}

func (s *AlterType) print(p *printer) {
	p.words("ALTER TYPE ", ifExists(s.IfExists))
	p.userType(s.Type)
	switch s.Does {
	case AlterRetype:
		p.write(" ALTER ")
		p.name(s.Field.Name)
		p.write(" TYPE ")
		s.Field.Type.print(p)
	case AlterAdd:
		p.words(" ADD ", ifNotExists(s.IfField))
		s.Field.print(p)
	case AlterRename:
		p.words(" RENAME ", ifExists(s.IfField))
		p.renames(s.Renames)
	}
}

// wordOrString reads a name that is given as a word, whose case is kept, or as a string.
func (p *parser) wordOrString(what string) string {
	switch {
	case p.tok.Kind == lexer.String:
		return p.stringLiteral()
	case p.tok.Kind == lexer.Word && p.tok.Keyword == 0:
		word := p.text(p.tok)
		p.next()
		return word
	}
	p.fail("name of the " + what + " or string")
	return ""
}

package cql

// IndexTarget is what an index is on: the values of a column, or what Of says: "values", "keys", "entries" or "full".
type IndexTarget struct{ Column, Of string }

// CreateIndex is CREATE INDEX and CREATE CUSTOM INDEX.
type CreateIndex struct {
	Name        string // "" if the server is to choose one
	Custom      bool
	IfNotExists bool
	Table       TableRef
	Targets     []IndexTarget
	Class       string // "" if not said
	Properties  []Property
}

func (p *parser) createIndex(custom bool) Statement {
	s := &CreateIndex{Custom: custom, IfNotExists: p.ifNotExists()}
	if !p.isWord("ON") {
		s.Name = p.name("index")
	}
	p.expectWords("ON")
	s.Table = p.table()
	p.expect('(')
	for more := !p.is(')'); more; more = p.accept(',') {
		s.Targets = append(s.Targets, p.indexTarget())
	}
	p.expect(')')
	if p.acceptWords("USING") {
		s.Class = p.stringLiteral()
	}
	if p.acceptWords("WITH") {
		s.Properties = p.properties()
	}
	return s
}

func (p *parser) indexTarget() (t IndexTarget) {
	for _, of := range [...]string{"VALUES", "KEYS", "ENTRIES", "FULL"} {
		if p.isWord(of) && p.peek().Is('(') {
			t.Of = p.tok.Keyword.String()
			p.next()
			p.next()
			t.Column = p.column()
			p.expect(')')
			return t
		}
	}
	t.Column = p.column()
	return t
}

func (s *CreateIndex) print(p *printer) {
	p.write("CREATE ")
	if s.Custom {
		p.write("CUSTOM ")
	}
	p.words("INDEX ", ifNotExists(s.IfNotExists))
	if s.Name != "" {
		p.name(s.Name)
		p.writeByte(' ')
	}
	p.write("ON ")
	p.table(s.Table)
	p.write(" (")
	for i, t := range s.Targets {
		p.comma(i)
		if t.Of != "" {
			p.words(t.Of, "(")
		}
		p.name(t.Column)
		if t.Of != "" {
			p.writeByte(')')
		}
	}
	p.writeByte(')')
	if s.Class != "" {
		p.write(" USING ")
		p.text(s.Class)
	}
	p.properties(" WITH ", s.Properties)
}

// CreateView is CREATE MATERIALIZED VIEW.
type CreateView struct {
	View                        TableRef
	IfNotExists                 bool
	Columns                     []Selector // empty means *
	From                        TableRef
	Where                       []Relation
	PartitionKey, ClusteringKey []string
	Layout
}

func (p *parser) createView() Statement {
	s := &CreateView{IfNotExists: p.ifNotExists(), View: p.table()}
	p.expectWords("AS", "SELECT")
	s.Columns = p.selectors()
	p.expectWords("FROM")
	s.From = p.table()
	if p.acceptWords("WHERE") {
		s.Where = p.where()
	}
	p.primaryKey(&s.PartitionKey, &s.ClusteringKey)
	s.Layout = p.layout(false)
	return s
}

func (s *CreateView) print(p *printer) {
	p.words("CREATE MATERIALIZED VIEW ", ifNotExists(s.IfNotExists))
	p.table(s.View)
	p.write(" AS SELECT ")
	p.selectors(s.Columns)
	p.write(" FROM ")
	p.table(s.From)
	p.where(s.Where)
	p.writeByte(' ')
	p.primaryKey(s.PartitionKey, s.ClusteringKey)
	p.layout(&s.Layout)
}

// AlterView is ALTER MATERIALIZED VIEW.
type AlterView struct {
	View       TableRef
	IfExists   bool
	Properties []Property
}

func (p *parser) alterView() Statement {
	s := &AlterView{IfExists: p.ifExists(), View: p.table()}
	p.expectWords("WITH")
	s.Properties = p.properties()
	return s
}

func (s *AlterView) print(p *printer) {
	p.words("ALTER MATERIALIZED VIEW ", ifExists(s.IfExists))
	p.table(s.View)
	p.properties(" WITH ", s.Properties)
}

package cql

import "strings"

// Describe is DESCRIBE.
type Describe struct {
	// What is described: CLUSTER, SCHEMA, KEYSPACES, KEYSPACE, TABLES, TABLE, INDEX, MATERIALIZED VIEW, TYPES, TYPE, FUNCTIONS,
	// FUNCTION, AGGREGATES, AGGREGATE, or "" for whatever has the name.
	What      string
	Name      TableRef // Keyspace alone for KEYSPACE, where it may be left out
	Full      bool     // FULL SCHEMA
	Only      bool     // ONLY KEYSPACE
	Internals bool     // WITH INTERNALS
}

func (p *parser) describe() Statement {
	s := &Describe{}
	p.described(s)
	if p.acceptWords("WITH") {
		p.expectWords("INTERNALS")
		s.Internals = true
	}
	return s
}

func (p *parser) described(s *Describe) {
	for _, all := range [...]string{"CLUSTER", "KEYSPACES", "TABLES", "TYPES", "FUNCTIONS", "AGGREGATES"} {
		if p.acceptWords(all) || all == "TABLES" && p.acceptWords("COLUMNFAMILIES") {
			s.What = all
			return
		}
	}
	after := p.peek()
	switch {
	case p.acceptWords("FULL"):
		s.Full = true
		p.expectWords("SCHEMA")
		s.What = "SCHEMA"
	case p.acceptWords("SCHEMA"):
		s.What = "SCHEMA"
	case p.isWord("ONLY") && wordAt(after, "KEYSPACE"), p.isWord("KEYSPACE"):
		s.What, s.Only = "KEYSPACE", p.acceptWords("ONLY")
		p.next()
		if isName(p.tok) {
			s.Name.Keyspace = p.name("keyspace")
		}
	case p.acceptWords("TABLE"), p.acceptWords("COLUMNFAMILY"):
		s.What, s.Name = "TABLE", p.table()
	case p.acceptWords("INDEX"):
		s.What, s.Name = "INDEX", p.table()
	case p.acceptWords("MATERIALIZED"):
		p.expectWords("VIEW")
		s.What, s.Name = "MATERIALIZED VIEW", p.table()
	case p.isWord("TYPE") && isName(after):
		p.next()
		s.What, s.Name = "TYPE", p.userType()
	case (p.isWord("FUNCTION") || p.isWord("AGGREGATE")) && (isName(after) || wordAt(after, "TOKEN")):
		s.What = strings.ToUpper(p.tok.Keyword.String())
		p.next()
		s.Name.Keyspace, s.Name.Table = p.functionName()
	default:
		s.Name = p.qualified("what to describe")
	}
}

func (s *Describe) print(p *printer) {
	p.write("DESCRIBE ")
	if s.Full {
		p.write("FULL ")
	}
	if s.Only {
		p.write("ONLY ")
	}
	p.write(s.What)
	if s.What != "" && s.Name != (TableRef{}) {
		p.writeByte(' ')
	}
	switch {
	case s.What == "TYPE":
		p.userType(s.Name)
	case s.What == "FUNCTION", s.What == "AGGREGATE":
		p.qualifiedFunction(s.Name.In(p.keyspace))
	case s.Name.Table != "":
		p.described(s)
	case s.Name.Keyspace != "":
		p.name(s.Name.Keyspace)
	}
	if s.Internals {
		p.write(" WITH INTERNALS")
	}
}

// described writes a name; one of which nobody knows what it is gets no keyspace, because it may be one.
func (p *printer) described(s *Describe) {
	if s.What == "" && s.Name.Keyspace == "" {
		p.describable(s.Name.Table)
		return
	}
	if s.What == "" {
		p.describable(s.Name.Keyspace)
		p.writeByte('.')
		p.name(s.Name.Table)
		return
	}
	p.table(s.Name)
}

// describable writes a name so that it is not taken for what is described.
func (p *printer) describable(name string) {
	switch name {
	case "cluster", "keyspaces", "tables", "columnfamilies", "types", "functions", "aggregates":
		p.quoted(name, '"')
	default:
		p.name(name)
	}
}

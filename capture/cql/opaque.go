package cql

import "strings"

// verbs classifies the statements that have no tree. The longest that fits a text wins, so those with the same
// beginning stand longest first. OR REPLACE and CUSTOM are passed over.
var verbs = []struct {
	words  []string
	kind   Kind
	object object
}{
	{[]string{"CREATE", "KEYSPACE"}, KindDDL, objectKeyspace},
	{[]string{"CREATE", "SCHEMA"}, KindDDL, objectKeyspace},
	{[]string{"CREATE", "TABLE"}, KindDDL, objectTable},
	{[]string{"CREATE", "COLUMNFAMILY"}, KindDDL, objectTable},
	{[]string{"CREATE", "INDEX"}, KindDDL, objectOn},
	{[]string{"CREATE", "MATERIALIZED", "VIEW"}, KindDDL, objectTable},
	{[]string{"CREATE", "TYPE"}, KindDDL, objectTable},
	{[]string{"CREATE", "FUNCTION"}, KindDDL, objectNone},
	{[]string{"CREATE", "AGGREGATE"}, KindDDL, objectNone},
	{[]string{"CREATE", "TRIGGER"}, KindDDL, objectOn},
	{[]string{"CREATE", "ROLE"}, KindRole, objectNone},
	{[]string{"CREATE", "USER"}, KindRole, objectNone},
	{[]string{"ALTER", "KEYSPACE"}, KindDDL, objectKeyspace},
	{[]string{"ALTER", "SCHEMA"}, KindDDL, objectKeyspace},
	{[]string{"ALTER", "TABLE"}, KindDDL, objectTable},
	{[]string{"ALTER", "COLUMNFAMILY"}, KindDDL, objectTable},
	{[]string{"ALTER", "MATERIALIZED", "VIEW"}, KindDDL, objectTable},
	{[]string{"ALTER", "TYPE"}, KindDDL, objectTable},
	{[]string{"ALTER", "ROLE"}, KindRole, objectNone},
	{[]string{"ALTER", "USER"}, KindRole, objectNone},
	{[]string{"DROP", "KEYSPACE"}, KindDDL, objectKeyspace},
	{[]string{"DROP", "SCHEMA"}, KindDDL, objectKeyspace},
	{[]string{"DROP", "TABLE"}, KindDDL, objectTable},
	{[]string{"DROP", "COLUMNFAMILY"}, KindDDL, objectTable},
	{[]string{"DROP", "INDEX"}, KindDDL, objectIndex},
	{[]string{"DROP", "MATERIALIZED", "VIEW"}, KindDDL, objectTable},
	{[]string{"DROP", "TYPE"}, KindDDL, objectTable},
	{[]string{"DROP", "FUNCTION"}, KindDDL, objectNone},
	{[]string{"DROP", "AGGREGATE"}, KindDDL, objectNone},
	{[]string{"DROP", "TRIGGER"}, KindDDL, objectOn},
	{[]string{"DROP", "ROLE"}, KindRole, objectNone},
	{[]string{"DROP", "USER"}, KindRole, objectNone},
	{[]string{"DROP", "IDENTITY"}, KindRole, objectNone},
	{[]string{"ADD", "IDENTITY"}, KindRole, objectNone},
	{[]string{"GRANT"}, KindRole, objectNone},
	{[]string{"REVOKE"}, KindRole, objectNone},
	{[]string{"LIST"}, KindRole, objectNone},
	{[]string{"DESCRIBE"}, KindOther, objectNone},
	{[]string{"DESC"}, KindOther, objectNone},
}

// object says where a statement names its table.
type object uint8

const (
	objectNone     object = iota
	objectTable           // after the verb
	objectKeyspace        // after the verb, a keyspace
	objectIndex           // after the verb, an index
	objectOn              // after ON
)

// opaque classifies a statement, finds its table and passes over the rest up to a semicolon.
func (p *parser) opaque() Statement {
	start := p.tok.start
	s := &Opaque{}
	object := p.verb(s)
	if p.isWord("IF") {
		p.next()
		p.acceptWords("NOT")
		p.expectWords("EXISTS")
	}
	switch object {
	case objectNone:
	case objectKeyspace:
		s.Table.Keyspace = p.name("keyspace")
	case objectOn:
		for p.tok.kind != tokenEnd && !p.isWord("ON") {
			p.next()
		}
		p.expectWords("ON")
		p.opaqueTable(s)
	case objectTable:
		p.opaqueTable(s)
	case objectIndex:
		p.opaqueTable(s)
		s.Table.Table = ""
	}
	for ; p.tok.kind != tokenEnd && !p.is(";"); p.next() {
		if p.tok.kind == tokenBad {
			p.fail("rest of the statement")
		}
	}
	if p.err == nil {
		s.Text = strings.TrimRight(p.src[start:p.tok.start], " \t\r\n")
		if s.nameEnd > 0 {
			s.nameEnd -= start
		}
	}
	return s
}

func (p *parser) opaqueTable(s *Opaque) {
	end := p.tok.end
	if s.Table = p.table(); s.Table.Keyspace == "" {
		s.nameEnd = end
	}
}

// verb reads what the statement does.
func (p *parser) verb(s *Opaque) object {
	first := p.tok
	for i := range verbs {
		v := &verbs[i]
		if !p.isWord(v.words[0]) {
			continue
		}
		before := *p
		p.next()
		if len(v.words) > 1 {
			p.acceptWords("OR", "REPLACE")
			p.acceptWords("CUSTOM")
		}
		if len(v.words) > 1 && !p.isWord(v.words[1]) {
			*p = before
			continue
		}
		p.expectWords(v.words[1:]...)
		s.Class, s.Verb = v.kind, strings.Join(v.words, " ")
		return v.object
	}
	p.tok = first
	p.fail("a CQL statement")
	return objectNone
}

// secret returns the offset from which the text may hold a password that somebody forgot to quote.
func (s *Opaque) secret() int {
	if s.Class == KindRole {
		l := lexer{src: s.Text}
		for t := l.next(); t.kind != tokenEnd; t = l.next() {
			if t.kind == tokenWord && equalFold(s.Text[t.start:t.end], "with") {
				return t.end
			}
		}
	}
	return len(s.Text)
}

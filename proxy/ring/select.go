package ring

import "strconv"

// Table is one of the tables that say where nodes are.
type Table string

// The tables.
const (
	Local   Table = "local"
	Peers   Table = "peers"
	PeersV2 Table = "peers_v2"
)

// addresses returns the columns with a node's address and port for clients; port is "" if the table has none.
func (t Table) addresses() (address, port string) {
	switch t {
	case Local:
		return "rpc_address", "rpc_port"
	case Peers:
		return "rpc_address", ""
	}
	return "native_address", "native_port"
}

// key returns the column with a node's address among the nodes.
func (t Table) key() string {
	if t == Local {
		return "broadcast_address"
	}
	return "peer"
}

// form is how a result column shows a table's column.
type form byte

const (
	bare   form = iota // as it is
	casted             // as text
	toJSON             // as JSON text
	counts             // count(...): how many rows
	other              // something else, or not of a table's column
)

type selector struct {
	column string
	form   form
	name   string // alias, "" without one
}

type operand struct {
	marker bool
	text   string // literal, or the marker's name
	index  int    // of the marker among all markers
}

type condition struct {
	column string
	in     []operand
}

// Select is a SELECT from one of the tables.
type Select struct {
	Table Table
	// Unread says why result columns that may show an address could not be told apart; "" if all could.
	Unread string
	// Markers tells that values are bound to it.
	Markers bool

	json  bool
	star  bool
	list  []selector
	where []condition
	limit operand // text and marker empty: none
}

// maxText is the longest statement that is looked at, bytes.
const maxText = 4096

// Mentions tells whether a statement said while keyspace was in use may ask where nodes are. It allocates nothing.
func Mentions[T string | []byte](keyspace string, statement T) bool {
	if len(statement) > maxText {
		return false
	}
	return (keyspace == "system" || contains(statement, "system")) && (contains(statement, "local") || contains(statement, "peers"))
}

// contains looks for a word of lower case letters, in any case.
func contains[T string | []byte](s T, of string) bool {
	first := of[0]
	for i := 0; i+len(of) <= len(s); i++ {
		if s[i]|0x20 != first {
			continue
		}
		j := 1
		for j < len(of) && s[i+j]|0x20 == of[j] {
			j++
		}
		if j == len(of) {
			return true
		}
	}
	return false
}

// Parse reads a statement that was said while keyspace was in use; nil if it is not a SELECT from one of the tables.
func Parse(keyspace, statement string) *Select {
	if len(statement) > maxText {
		return nil
	}
	p := parser{lexer: lexer{s: statement}}
	if !p.next().is("select") {
		return nil
	}
	q := &Select{}
	p.clause(q)
	if !p.next().is("from") {
		return nil
	}
	name := p.next()
	if !name.named() {
		return nil
	}
	if p.peek().is(".") {
		p.next()
		keyspace = name.text
		name = p.next()
	}
	switch q.Table = Table(name.text); {
	case keyspace != "system" || !name.named():
		return nil
	case q.Table != Local && q.Table != Peers && q.Table != PeersV2:
		return nil
	}
	p.rest(q)
	q.judge()
	return q
}

type parser struct {
	lexer
	markers int
}

// clause reads what stands between SELECT and FROM.
func (p *parser) clause(q *Select) {
	// JSON and DISTINCT are no reserved words: they may be a column's name.
	if p.modifier("json") {
		q.json = true
	}
	p.modifier("distinct")
	if p.peek().is("*") {
		p.next()
		q.star = true
		return
	}
	for {
		q.list = append(q.list, p.selector())
		if !p.peek().is(",") {
			return
		}
		p.next()
	}
}

func (p *parser) modifier(name string) bool {
	if t := p.peek(); t.kind != word || t.text != name {
		return false
	}
	after := *p
	after.next()
	switch t := after.peek(); {
	case t.is(","), t.is("from"), t.is("as"), t.is("("), t.is("."), t.is("["), t.kind == end:
		return false
	}
	p.next()
	return true
}

// selector reads one selector, up to the comma or FROM that ends it, or the end.
func (p *parser) selector() (s selector) {
	s.form = other
	var tokens []token
	depth := 0
	for {
		t := p.peek()
		if t.kind == end || (depth == 0 && (t.is(",") || t.is("from"))) {
			break
		}
		p.next()
		switch {
		case t.kind == marker:
			p.markers++
		case t.is("(") || t.is("[") || t.is("{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			depth--
		case depth == 0 && t.is("as") && len(tokens) > 0:
			s.name = p.next().text
			continue
		}
		tokens = append(tokens, t)
	}
	s.column, s.form = shape(tokens)
	return s
}

// shape recognises NAME, CAST(NAME AS text), toJson(NAME), count(...); of others it returns the first table column that
// may hold an address.
func shape(t []token) (string, form) {
	is := func(i int, s string) bool { return i < len(t) && t[i].is(s) }
	switch {
	case len(t) == 1 && t[0].named():
		return t[0].text, bare
	case len(t) > 2 && is(0, "count") && is(1, "("):
		return "", counts
	case len(t) > 2 && (is(0, "writetime") || is(0, "maxwritetime") || is(0, "ttl")) && is(1, "("):
		return "", other
	case len(t) == 6 && is(0, "cast") && is(1, "(") && t[2].named() && is(3, "as") && is(5, ")"):
		if is(4, "text") || is(4, "varchar") || is(4, "ascii") {
			return t[2].text, casted
		}
	case len(t) == 4 && (is(0, "tojson") || is(0, "to_json")) && is(1, "(") && t[2].named() && is(3, ")"):
		return t[2].text, toJSON
	}
	for _, x := range t {
		if x.named() && located(x.text) {
			return x.text, other
		}
	}
	return "", other
}

// located tells whether a column says where clients find a node.
func located(column string) bool {
	switch column {
	case "rpc_address", "rpc_port", "native_address", "native_port":
		return true
	}
	return false
}

// rest reads what stands after the table's name.
func (p *parser) rest(q *Select) {
	t := p.next()
	for t.kind != end {
		switch {
		case t.is("where"):
			t = p.where(q)
			continue
		case t.is("per"): // PER PARTITION LIMIT: every partition has one row
			p.next()
			p.next()
			p.operand(p.next())
		case t.is("limit"):
			q.limit, _ = p.operand(p.next())
		}
		t = p.next()
	}
	q.Markers = p.markers > 0
}

// where reads conditions and returns the token after them. One that is not understood selects every row.
func (p *parser) where(q *Select) token {
	for {
		var c condition
		name := p.next()
		op := p.next()
		understood := name.named()
		switch {
		case op.is("="):
			o, ok := p.operand(p.next())
			c, understood = condition{name.text, []operand{o}}, understood && ok
		case op.is("in"):
			c.column = name.text
			t := p.next()
			for understood = understood && t.is("("); understood && t.kind != end && !t.is(")"); {
				if t = p.next(); t.is(")") {
					break
				}
				o, ok := p.operand(t)
				c.in, understood = append(c.in, o), understood && ok
				t = p.next()
				understood = understood && (t.is(",") || t.is(")"))
			}
		default:
			understood = false
		}
		t := p.peek()
		for !understood && !over(t) && !t.is("and") {
			if t = p.next(); t.kind == marker {
				p.markers++
			}
			t = p.peek()
		}
		if understood {
			q.where = append(q.where, c)
		}
		if t = p.next(); !t.is("and") {
			return t
		}
	}
}

// over tells whether a token ends the conditions.
func over(t token) bool {
	return t.kind == end || t.is("limit") || t.is("order") || t.is("group") || t.is("per") || t.is("allow") || t.is(";")
}

func (p *parser) operand(t token) (operand, bool) {
	switch t.kind {
	case marker:
		p.markers++
		return operand{marker: true, text: t.text, index: p.markers - 1}, true
	case text, plain:
		return operand{text: t.text}, true
	}
	return operand{}, false
}

// judge says whether all result columns are understood.
func (q *Select) judge() {
	for _, s := range q.list {
		if s.form == other && s.column != "" {
			q.Unread = "a function of " + s.column
		}
	}
}

// most is how many rows the statement wants, -1 for all.
func (q *Select) most(bound []Bound) int {
	o := q.limit
	if o.marker {
		for i, b := range bound {
			if (b.Name != "" && b.Name == o.text) || (b.Name == "" && i == o.index) {
				if n, ok := number(b.Value); ok {
					return n
				}
			}
		}
		return -1
	}
	if n, err := strconv.Atoi(o.text); err == nil && n >= 0 {
		return n
	}
	return -1
}

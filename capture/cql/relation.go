package cql

import "github.com/helenus-db/helenus/capture/cql/lexer"

func (p *parser) where() []Relation {
	relations := make([]Relation, 0, 3)
	for more := true; more; more = p.acceptWords("AND") {
		relations = append(relations, p.relation())
	}
	return relations
}

func (p *parser) relation() (r Relation) {
	switch {
	case p.isWord("TOKEN"):
		p.next()
		r.Token, r.Columns = true, p.columns()
		r.Op = p.operator(comparison | between)
		r.Value = p.operand(r.Op)
	case p.is('('):
		if after := p.peek(); isColumn(after) {
			if t := p.after(after); t.Is(',') || t.Is(')') {
				return p.multiColumn()
			}
		}
		if p.nested() {
			return r
		}
		p.next()
		r = p.relation()
		p.expect(')')
		p.depth--
	case p.accept(lexer.Expr):
		r.Op, r.Index = OpExpr, p.name("index")
		p.expect(',')
		r.Value = p.expression(false)
		p.expect(')')
	default:
		name := p.nodes.names.next()
		name[0] = p.column()
		r.Columns = name[:]
		operators := comparison | between | membership | containment | like | isNotNull
		if p.accept('[') {
			r.Element = p.expression(false)
			p.expect(']')
			operators = comparison
		}
		r.Op = p.operator(operators)
		r.Value = p.operand(r.Op)
	}
	return r
}

// multiColumn reads a relation on (columns). Its values are tuples of as many elements, or markers.
func (p *parser) multiColumn() Relation {
	r := Relation{Tuple: true, Columns: p.columns()}
	row := func() Term {
		if !p.is('(') {
			return p.marker("tuple or bind marker")
		}
		t := &Tuple{p.terms('(', ')')}
		if len(t.Elements) == 0 {
			p.fail("term")
		}
		return t
	}
	switch r.Op = p.operator(comparison | between | membership); {
	case r.Op == OpBetween:
		low := row()
		p.expectWords("AND")
		r.Value = &Tuple{[]Term{low, row()}}
	case (r.Op == OpIn || r.Op == OpNotIn) && p.accept('('):
		t, tuples := &Tuple{}, p.is('(')
		for more := !p.is(')'); more; more = p.accept(',') {
			if p.is('(') != tuples {
				p.fail("tuples only or bind markers only")
			}
			t.Elements = append(t.Elements, row())
		}
		p.expect(')')
		r.Value = t
	case r.Op == OpIn || r.Op == OpNotIn:
		r.Value = p.marker("'(' or bind marker")
	default:
		r.Value = row()
	}
	return r
}

// operators is a set of groups of operators: what may follow depends on what stands before.
type operators uint8

const (
	comparison operators = 1 << iota
	membership
	containment
	between
	like
	isNotNull
)

// operatorTable lists what each operator is written as. The longer of two with the same beginning comes first.
var operatorTable = []struct {
	group operators
	op    Op
	words []string
}{
	{membership, OpIn, []string{"IN"}},
	{membership, OpNotIn, []string{"NOT", "IN"}},
	{containment, OpContainsKey, []string{"CONTAINS", "KEY"}},
	{containment, OpContains, []string{"CONTAINS"}},
	{containment, OpNotContains, []string{"NOT", "CONTAINS"}},
	{between, OpBetween, []string{"BETWEEN"}},
	{like, OpLike, []string{"LIKE"}},
	{isNotNull, OpIsNotNull, []string{"IS", "NOT", "NULL"}},
}

// opSymbols gives the symbols of the comparisons.
var opSymbols = [...]byte{OpEQ: '=', OpLT: '<', OpLE: lexer.LessEqual, OpGT: '>', OpGE: lexer.GreaterEqual, OpNE: lexer.NotEqual}

func (p *parser) operator(allowed operators) Op {
	if p.tok.Kind == lexer.Symbol && allowed&comparison != 0 {
		for op := OpEQ; op <= OpNE; op++ {
			if p.accept(opSymbols[op]) {
				return op
			}
		}
	} else if p.tok.Kind == lexer.Word {
		for i := range operatorTable {
			if o := &operatorTable[i]; (p.version == Latest || o.words[0] != "NOT") && allowed&o.group != 0 && (o.op != OpContainsKey || !p.keyspaceKey()) && p.acceptWords(o.words...) {
				if o.op == OpNotContains && p.acceptWords("KEY") {
					return OpNotContainsKey
				}
				return o.op
			}
		}
	}
	p.fail("operator")
	return 0
}

// keyspaceKey reports whether the word after the next is a keyspace called key, of a function.
func (p *parser) keyspaceKey() bool {
	t := p.peek()
	return wordAt(t, "KEY") && p.after(t).Is('.')
}

// operand reads what follows an operator on a single column.
func (p *parser) operand(op Op) Term {
	switch op {
	case OpIsNotNull:
		return nil
	case OpIn, OpNotIn:
		if !p.is('(') {
			return p.marker("'(' or bind marker")
		}
		return &Tuple{p.terms('(', ')')}
	case OpBetween:
		low := p.expression(false)
		p.expectWords("AND")
		return &Tuple{[]Term{low, p.expression(false)}}
	}
	return p.expression(false)
}

// conditions reads IF EXISTS or IF with conditions. A column may itself be called exists.
func (p *parser) conditions() (exists bool, conditions []Condition) {
	if !p.acceptWords("IF") {
		return false, nil
	}
	if p.isWord("EXISTS") {
		t := p.peek()
		operator := wordAt(t, "IN") || wordAt(t, "NOT") || wordAt(t, "CONTAINS")
		if t.Kind != lexer.Symbol && !operator || t.Is(';') {
			p.next()
			return true, nil
		}
	}
	conditions = append(conditions, p.condition())
	for p.acceptWords("AND") {
		conditions = append(conditions, p.condition())
	}
	return false, conditions
}

func (p *parser) condition() Condition {
	c := Condition{Column: p.column()}
	operators := comparison | membership | containment
	if c.Element, c.Field = p.part(); c.Element != nil || c.Field != "" {
		operators = comparison | membership
	}
	c.Op = p.operator(operators)
	c.Value = p.operand(c.Op)
	return c
}

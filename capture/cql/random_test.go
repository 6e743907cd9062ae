package cql

import (
	"slices"

	"pgregory.net/rapid"
)

// trees draws random trees in the form in which the parser builds them.
type trees struct{ t *rapid.T }

var randomNames = []string{
	"a", "b2", "user_id", "Mixed", "with space", `quo"te`, "ünï", "select", "json", "distinct", "key", "ttl", "writetime",
	"count", "cast", "as", "token", "exists", "contains", "like", "between", "in", "ann", "per", "partition", "group",
	"int", "text", "list", "map", "vector", "frozen", "true", "nan", "expr", "values", "default", "unset", "timestamp", "P1Y", "p1y", "e5",
}

func (g trees) number(label string, low, high int) int {
	return rapid.IntRange(low, high).Draw(g.t, label)
}

func (g trees) flag(label string) bool { return rapid.Bool().Draw(g.t, label) }

func (g trees) name() string { return rapid.SampledFrom(randomNames).Draw(g.t, "name") }

// column draws a name that may be empty, as those of columns may.
func (g trees) column() string {
	if g.number("empty", 0, 30) == 0 {
		return ""
	}
	return g.name()
}

func (g trees) columns(n int) []string {
	columns := make([]string, n)
	for i := range columns {
		columns[i] = g.column()
	}
	return columns
}

func (g trees) table() TableRef {
	t := TableRef{Table: g.name()}
	if g.flag("qualified") {
		t.Keyspace = g.name()
	}
	return t
}

func (g trees) literal() Term {
	return rapid.SampledFrom([]*Literal{
		{LiteralNull, ""}, {LiteralString, ""}, {LiteralString, "it's"}, {LiteralString, "$$ ? -- /*"}, {LiteralInteger, "0"},
		{LiteralInteger, "-7"}, {LiteralFloat, "1."}, {LiteralFloat, "-1.5e-3"}, {LiteralFloat, "NaN"}, {LiteralFloat, "-Infinity"},
		{LiteralBoolean, "true"}, {LiteralDuration, "1y2mo"}, {LiteralDuration, "-PT1H"}, {LiteralDuration, "3µs"},
		{LiteralUUID, "550E8400-e29b-41d4-a716-446655440000"}, {LiteralBlob, "0xCAFE"}, {LiteralBlob, "0x"},
	}).Draw(g.t, "literal")
}

func (g trees) marker() Term {
	m := &Marker{}
	if g.flag("named") {
		m.Name = g.name()
	}
	return m
}

func (g trees) value() Term {
	if g.flag("marker") {
		return g.marker()
	}
	l := *g.literal().(*Literal)
	return &l
}

func (g trees) terms(depth int, selection bool, low int) []Term {
	var terms []Term
	for range g.number("terms", low, 3) {
		terms = append(terms, g.term(depth, selection))
	}
	return terms
}

func (g trees) native() Type {
	return Type{Name: rapid.SampledFrom([]string{"int", "text", "timeuuid", "date"}).Draw(g.t, "native")}
}

func (g trees) typ(depth int) Type {
	if depth <= 0 {
		return g.native()
	}
	switch g.number("type", 0, 7) {
	case 0:
		return Type{Name: g.name(), UDT: true}
	case 1:
		return Type{Keyspace: g.name(), Name: g.name(), UDT: true}
	case 2:
		return Type{Name: "map", Args: []Type{g.typ(depth - 1), g.typ(depth - 1)}}
	case 3:
		return Type{Name: "vector", Args: []Type{g.typ(depth - 1)}, Dimensions: "3"}
	case 4:
		return Type{Name: "tuple", Args: []Type{g.typ(depth - 1), g.typ(depth - 1), g.native()}}
	case 5:
		return Type{Name: rapid.SampledFrom([]string{"list", "set"}).Draw(g.t, "collection"), Args: []Type{g.typ(depth - 1)}}
	case 6:
		return Type{Name: "frozen", Args: []Type{{Name: "list", Args: []Type{g.typ(depth - 1)}}}}
	}
	return g.native()
}

// term draws a term whose operands hold together tightly enough to need no brackets.
func (g trees) term(depth int, selection bool) Term { return g.bound(depth, selection, 1) }

func (g trees) bound(depth int, selection bool, tight int) Term {
	if depth <= 0 {
		if selection && g.flag("column") {
			return &ColumnRef{g.name()}
		}
		return g.value()
	}
	depth--
	shape := g.number("shape", 0, 5)
	switch {
	case shape == 0 && tight <= 1:
		op := rapid.SampledFrom([]byte("+-")).Draw(g.t, "operator")
		return &Arithmetic{op, g.bound(depth, selection, 1), g.bound(depth, selection, 2)}
	case shape == 1 && tight <= 2:
		op := rapid.SampledFrom([]byte("*/%")).Draw(g.t, "operator")
		return &Arithmetic{op, g.bound(depth, selection, 2), g.bound(depth, selection, 3)}
	case shape == 2 && tight <= 3:
		if selection {
			return &Negation{g.bound(depth, true, 3)}
		}
		return &Negation{g.bound(depth, false, 5)}
	case shape == 3 && tight <= 4 && selection:
		return g.part(depth)
	}
	return g.primary(depth, selection)
}

// part draws a field, element or slice of something.
func (g trees) part(depth int) Term {
	var of Term = &ColumnRef{g.name()}
	if depth > 0 && g.flag("nested") {
		of = g.part(depth - 1)
	}
	switch g.number("part", 0, 3) {
	case 0:
		return &Field{of, g.name()}
	case 1:
		return &Slice{of, g.value(), g.value()}
	case 2:
		return &Slice{of, nil, g.term(depth, false)}
	}
	return &Element{of, g.term(depth, false)}
}

func (g trees) primary(depth int, selection bool) Term {
	switch g.number("primary", 0, 10) {
	case 0:
		return &FunctionCall{Name: g.function(), Args: g.terms(depth, selection, 0)}
	case 1:
		return &FunctionCall{Keyspace: g.name(), Name: g.function(), Args: g.terms(depth, selection, 0)}
	case 2:
		if selection {
			return &Cast{g.term(depth, true), g.native()}
		}
		return &Cast{g.primary(depth-1, false), g.native()}
	case 3:
		return &TypeCast{g.typ(2), g.primary(depth-1, selection)}
	case 4:
		return &Tuple{g.terms(depth, selection, 1)}
	case 5:
		return &List{g.terms(depth, selection, 0)}
	case 6:
		return &Set{g.terms(depth, selection, 0)}
	case 7:
		m := &Map{}
		for range g.number("entries", 1, 3) {
			key := g.value() // in a selection, (a): b may also be a type hint on a bind marker
			if !selection {
				key = g.term(depth, false)
			}
			m.Entries = append(m.Entries, MapEntry{key, g.term(depth, selection)})
		}
		return m
	case 8:
		if !selection {
			u := &UDT{}
			for range g.number("fields", 1, 3) {
				u.Fields = append(u.Fields, FieldValue{g.name(), g.term(depth, false)})
			}
			return u
		}
		if g.flag("star") {
			return &FunctionCall{Name: "count", Star: true}
		}
		name := rapid.SampledFrom([]string{"ttl", "writetime", "maxwritetime"}).Draw(g.t, "metadata")
		return &FunctionCall{Name: name, Args: []Term{&ColumnRef{g.name()}}, OfColumn: true}
	case 9:
		if selection {
			return &ColumnRef{g.name()}
		}
	}
	return g.value()
}

func (g trees) function() string { return g.name() }

func (g trees) where() []Relation {
	relations := make([]Relation, g.number("relations", 1, 3))
	for i := range relations {
		relations[i] = g.relation()
	}
	return relations
}

func (g trees) list(item func() Term) Term {
	t := &Tuple{}
	for range g.number("list", 0, 3) {
		t.Elements = append(t.Elements, item())
	}
	return t
}

func (g trees) relation() Relation {
	comparison := Op(g.number("comparison", int(OpEQ), int(OpNE)))
	term := func() Term { return g.term(2, false) }
	switch g.number("relation", 0, 9) {
	case 0:
		return Relation{Columns: g.columns(g.number("columns", 1, 3)), Token: true, Op: comparison, Value: term()}
	case 1:
		return Relation{Columns: g.columns(2), Tuple: true, Op: comparison, Value: &Tuple{[]Term{term(), term()}}}
	case 2:
		row := func() Term { return &Tuple{[]Term{term(), term()}} }
		if g.flag("markers") {
			row = g.marker
		}
		return Relation{Columns: g.columns(2), Tuple: true, Op: OpIn, Value: g.list(row)}
	case 3:
		return Relation{Columns: []string{g.column()}, Element: term(), Op: comparison, Value: term()}
	case 4:
		return Relation{Op: OpExpr, Index: g.name(), Value: term()}
	case 5:
		return Relation{Columns: []string{g.column()}, Op: OpIsNotNull}
	case 6:
		return Relation{Columns: []string{g.column()}, Op: OpIn, Value: g.list(term)}
	case 7:
		return Relation{Columns: []string{g.column()}, Op: OpIn, Value: g.marker()}
	case 8:
		op := rapid.SampledFrom([]Op{OpContains, OpContainsKey, OpLike}).Draw(g.t, "op")
		return Relation{Columns: []string{g.column()}, Op: op, Value: term()}
	}
	return Relation{Columns: []string{g.column()}, Op: comparison, Value: term()}
}

func (g trees) conditions() (bool, []Condition) {
	n := g.number("conditions", -1, 2)
	if n < 0 {
		return true, nil
	}
	var conditions []Condition
	for range n {
		c := Condition{Column: g.column(), Op: Op(g.number("comparison", int(OpEQ), int(OpNE))), Value: g.term(1, false)}
		switch g.number("condition", 0, 4) {
		case 0:
			c.Element = g.term(1, false)
		case 1:
			c.Field = g.name()
		case 2:
			c.Op, c.Value = OpIn, g.list(g.value)
		case 3:
			c.Op = OpContains
		}
		conditions = append(conditions, c)
	}
	return false, conditions
}

func (g trees) count() Term {
	if g.flag("marker") {
		return g.marker()
	}
	return &Literal{LiteralInteger, "10"}
}

func (g trees) using() (u Using) {
	for range g.number("options", 0, 3) {
		u = append(u, UsingOption{g.flag("ttl"), g.count()})
	}
	return u
}

// endsLikeHint tells whether a term ends in a name in brackets. An alias can not follow: Cassandra takes "(a) AS" for the column called as, with a hint that it is of type a.
func endsLikeHint(t Term) bool {
	switch t := t.(type) {
	case *Arithmetic:
		return endsLikeHint(t.Right)
	case *Negation:
		return endsLikeHint(t.Term)
	case *TypeCast:
		return endsLikeHint(t.Term)
	case *Tuple:
		if len(t.Elements) != 1 {
			return false
		}
		switch t.Elements[0].(type) {
		case *ColumnRef, *Field:
			return true
		}
	}
	return false
}

func (g trees) selectStatement() *Select {
	s := &Select{Table: g.table(), JSON: g.flag("json"), Distinct: g.flag("distinct"), AllowFiltering: g.flag("filtering")}
	for range g.number("selectors", 0, 3) {
		sel := Selector{Expr: g.term(3, true)}
		if !endsLikeHint(sel.Expr) && g.flag("alias") {
			sel.Alias = g.name()
		}
		s.Columns = append(s.Columns, sel)
	}
	if g.flag("where") {
		s.Where = g.where()
	}
	if g.flag("group") {
		s.GroupBy = []Expr{&ColumnRef{g.name()}, &FunctionCall{Name: "floor", Args: g.terms(1, true, 1)}}
	}
	switch g.number("order", 0, 2) {
	case 0:
		s.OrderBy = []Ordering{{Column: g.column(), Descending: g.flag("descending")}, {Column: g.column()}}
	case 1:
		s.OrderBy = []Ordering{{Column: g.column(), ANN: &List{g.terms(0, false, 1)}}}
	}
	if g.flag("per partition") {
		s.PerPartitionLimit = g.count()
	}
	if g.flag("limit") {
		s.Limit = g.count()
	}
	return s
}

func (g trees) insert() *Insert {
	s := &Insert{Table: g.table(), IfNotExists: g.flag("if"), Using: g.using()}
	if g.number("json", 0, 3) == 0 {
		s.JSON, s.DefaultUnset = &Literal{LiteralString, `{"a": 'b'}`}, g.flag("unset")
		return s
	}
	s.Columns = g.columns(g.number("columns", 1, 3))
	for range s.Columns {
		s.Values = append(s.Values, g.term(2, false))
	}
	return s
}

func (g trees) update() *Update {
	s := &Update{Table: g.table(), Using: g.using(), Where: g.where()}
	for range g.number("assignments", 1, 3) {
		a := Assignment{Column: g.column(), Op: AssignOp(g.number("assign", int(AssignSet), int(AssignPrepend))), Value: g.term(2, false)}
		if a.Op == AssignSet && g.flag("element") {
			a.Element = g.term(1, false)
		} else if a.Op == AssignSet && g.flag("field") {
			a.Field = g.name()
		}
		if !slices.ContainsFunc(s.Assignments, func(b Assignment) bool { return b.clashes(&a) }) {
			s.Assignments = append(s.Assignments, a)
		}
	}
	s.IfExists, s.Conditions = g.conditions()
	return s
}

func (g trees) delete() *Delete {
	s := &Delete{Table: g.table(), Where: g.where()}
	if g.flag("timestamp") {
		s.Using = Using{{false, g.count()}}
	}
	for range g.number("deletions", 0, 2) {
		d := Deletion{Column: g.column()}
		if g.flag("element") {
			d.Element = g.term(1, false)
		} else if g.flag("field") {
			d.Field = g.name()
		}
		s.Columns = append(s.Columns, d)
	}
	s.IfExists, s.Conditions = g.conditions()
	return s
}

func (g trees) modification() Statement {
	switch g.number("modification", 0, 2) {
	case 0:
		return g.insert()
	case 1:
		return g.update()
	}
	return g.delete()
}

// statement draws a statement and numbers its markers.
func (g trees) statement() Statement {
	var st Statement
	switch g.number("statement", 0, 12) {
	case 0, 1, 2:
		st = g.selectStatement()
	case 3, 4:
		st = g.modification()
	case 5:
		b := &Batch{Type: BatchType(g.number("batch", 0, 2)), Using: g.using()}
		for range g.number("children", 0, 3) {
			b.Statements = append(b.Statements, g.modification())
		}
		st = b
	case 6, 7, 8:
		st = g.definition()
	case 9, 10:
		st = g.administration()
	case 11:
		st = g.describe()
	default:
		st = rapid.SampledFrom([]Statement{&Use{g.name()}, &Truncate{g.table()}}).Draw(g.t, "other")
	}
	for i, m := range Markers(st) {
		m.Index = i
	}
	return st
}

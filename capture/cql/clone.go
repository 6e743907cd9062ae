package cql

import "slices"

// Clone returns a deep copy of a statement; only strings are shared. nil gives nil, and so does a tree of a definition that does not
// print to CQL.
func Clone(st Statement) Statement {
	switch s := st.(type) {
	case *Select:
		c := *s
		c.Columns = slices.Clone(s.Columns)
		for i := range c.Columns {
			c.Columns[i].Expr = CloneTerm(c.Columns[i].Expr)
		}
		c.Where = cloneRelations(s.Where)
		c.GroupBy = cloneTerms(s.GroupBy)
		c.OrderBy = slices.Clone(s.OrderBy)
		for i := range c.OrderBy {
			c.OrderBy[i].ANN = CloneTerm(c.OrderBy[i].ANN)
		}
		c.PerPartitionLimit = CloneTerm(s.PerPartitionLimit)
		c.Limit = CloneTerm(s.Limit)
		return &c
	case *Insert:
		c := *s
		c.Columns = slices.Clone(s.Columns)
		c.Values = cloneTerms(s.Values)
		c.JSON = CloneTerm(s.JSON)
		c.Using = cloneUsing(s.Using)
		return &c
	case *Update:
		c := *s
		c.Using = cloneUsing(s.Using)
		c.Assignments = slices.Clone(s.Assignments)
		for i := range c.Assignments {
			c.Assignments[i].Element = CloneTerm(c.Assignments[i].Element)
			c.Assignments[i].Value = CloneTerm(c.Assignments[i].Value)
		}
		c.Where = cloneRelations(s.Where)
		c.Conditions = cloneConditions(s.Conditions)
		return &c
	case *Delete:
		c := *s
		c.Columns = slices.Clone(s.Columns)
		for i := range c.Columns {
			c.Columns[i].Element = CloneTerm(c.Columns[i].Element)
		}
		c.Using = cloneUsing(s.Using)
		c.Where = cloneRelations(s.Where)
		c.Conditions = cloneConditions(s.Conditions)
		return &c
	case *Batch:
		c := *s
		c.Using = cloneUsing(s.Using)
		c.Statements = slices.Clone(s.Statements)
		for i := range c.Statements {
			c.Statements[i] = Clone(c.Statements[i])
		}
		return &c
	case *Use:
		c := *s
		return &c
	case *Truncate:
		c := *s
		return &c
	case nil:
		return nil
	}
	c, _ := Parse(st.String()) // a definition, which nobody changes in a hurry
	return c
}

// CloneTerm returns a deep copy of a term; nil gives nil.
func CloneTerm(t Term) Term {
	switch t := t.(type) {
	case *Marker:
		c := *t
		return &c
	case *Literal:
		c := *t
		return &c
	case *ColumnRef:
		c := *t
		return &c
	case *FunctionCall:
		return &FunctionCall{t.Keyspace, t.Name, cloneTerms(t.Args), t.Star, t.OfColumn}
	case *Cast:
		return &Cast{CloneTerm(t.Term), cloneType(t.Type)}
	case *TypeCast:
		return &TypeCast{cloneType(t.Type), CloneTerm(t.Term)}
	case *Arithmetic:
		return &Arithmetic{t.Op, CloneTerm(t.Left), CloneTerm(t.Right)}
	case *Negation:
		return &Negation{CloneTerm(t.Term)}
	case *Tuple:
		return &Tuple{cloneTerms(t.Elements)}
	case *List:
		return &List{cloneTerms(t.Elements)}
	case *Set:
		return &Set{cloneTerms(t.Elements)}
	case *Map:
		entries := slices.Clone(t.Entries)
		for i, e := range entries {
			entries[i] = MapEntry{CloneTerm(e.Key), CloneTerm(e.Value)}
		}
		return &Map{entries}
	case *UDT:
		fields := slices.Clone(t.Fields)
		for i := range fields {
			fields[i].Value = CloneTerm(fields[i].Value)
		}
		return &UDT{fields}
	case *Field:
		return &Field{CloneTerm(t.Of), t.Name}
	case *Element:
		return &Element{CloneTerm(t.Of), CloneTerm(t.Key)}
	case *Slice:
		return &Slice{CloneTerm(t.Of), CloneTerm(t.From), CloneTerm(t.To)}
	}
	return nil
}

func cloneTerms(terms []Term) []Term {
	c := slices.Clone(terms)
	for i := range c {
		c[i] = CloneTerm(c[i])
	}
	return c
}

func cloneRelations(relations []Relation) []Relation {
	c := slices.Clone(relations)
	for i := range c {
		c[i].Columns = slices.Clone(c[i].Columns)
		c[i].Element = CloneTerm(c[i].Element)
		c[i].Value = CloneTerm(c[i].Value)
	}
	return c
}

func cloneConditions(conditions []Condition) []Condition {
	c := slices.Clone(conditions)
	for i := range c {
		c[i].Element = CloneTerm(c[i].Element)
		c[i].Value = CloneTerm(c[i].Value)
	}
	return c
}

func cloneUsing(u Using) Using {
	c := slices.Clone(u)
	for i := range c {
		c[i].Value = CloneTerm(c[i].Value)
	}
	return c
}

func cloneType(t Type) Type {
	t.Args = slices.Clone(t.Args)
	for i := range t.Args {
		t.Args[i] = cloneType(t.Args[i])
	}
	return t
}

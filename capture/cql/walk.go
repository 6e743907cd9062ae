package cql

// Walk calls visit for every term of a statement in the order of the text, a term before those in it. It does not go
// into a term for which visit returns false.
func Walk(st Statement, visit func(Term) bool) {
	w := walker(visit)
	switch s := st.(type) {
	case *Select:
		for _, c := range s.Columns {
			w.term(c.Expr)
		}
		w.relations(s.Where)
		w.terms(s.GroupBy)
		for _, o := range s.OrderBy {
			w.term(o.ANN)
		}
		w.term(s.PerPartitionLimit)
		w.term(s.Limit)
	case *Insert:
		w.terms(s.Values)
		w.term(s.JSON)
		w.using(s.Using)
	case *Update:
		w.using(s.Using)
		for _, a := range s.Assignments {
			w.term(a.Element)
			w.term(a.Value)
		}
		w.relations(s.Where)
		w.conditions(s.Conditions)
	case *Delete:
		for _, d := range s.Columns {
			w.term(d.Element)
		}
		w.using(s.Using)
		w.relations(s.Where)
		w.conditions(s.Conditions)
	case *Batch:
		w.using(s.Using)
		for _, child := range s.Statements {
			Walk(child, visit)
		}
	case *CreateTable:
		w.masks(s.Columns)
	case *AlterTable:
		w.masks(s.Columns)
	case *CreateView:
		for _, c := range s.Columns {
			w.term(c.Expr)
		}
		w.relations(s.Where)
	case *CreateAggregate:
		w.term(s.Initial)
	}
}

// WalkTerm is Walk for one term, which may be nil.
func WalkTerm(t Term, visit func(Term) bool) { walker(visit).term(t) }

type walker func(Term) bool

func (w walker) masks(columns []ColumnDefinition) {
	for _, c := range columns {
		if c.Mask != nil {
			w.terms(c.Mask.Args)
		}
	}
}

func (w walker) relations(relations []Relation) {
	for _, r := range relations {
		w.term(r.Element)
		w.term(r.Value)
	}
}

func (w walker) conditions(conditions []Condition) {
	for _, c := range conditions {
		w.term(c.Element)
		w.term(c.Value)
	}
}

func (w walker) using(u Using) {
	for _, o := range u {
		w.term(o.Value)
	}
}

func (w walker) terms(terms []Term) {
	for _, t := range terms {
		w.term(t)
	}
}

func (w walker) term(t Term) {
	if t == nil || !w(t) {
		return
	}
	switch t := t.(type) {
	case *FunctionCall:
		w.terms(t.Args)
	case *Cast:
		w.term(t.Term)
	case *TypeCast:
		w.term(t.Term)
	case *Arithmetic:
		w.term(t.Left)
		w.term(t.Right)
	case *Negation:
		w.term(t.Term)
	case *Tuple:
		w.terms(t.Elements)
	case *List:
		w.terms(t.Elements)
	case *Set:
		w.terms(t.Elements)
	case *Map:
		for _, e := range t.Entries {
			w.term(e.Key)
			w.term(e.Value)
		}
	case *UDT:
		for _, f := range t.Fields {
			w.term(f.Value)
		}
	case *Field:
		w.term(t.Of)
	case *Element:
		w.term(t.Of)
		w.term(t.Key)
	case *Slice:
		w.term(t.Of)
		w.term(t.From)
		w.term(t.To)
	}
}

// Markers returns the bind markers of a statement in the order of the text. In a parsed statement the i-th has Index i;
// in one that was changed since, Index still says which value of the original request it stands for.
func Markers(st Statement) []*Marker {
	var markers []*Marker
	Walk(st, func(t Term) bool {
		if m, ok := t.(*Marker); ok {
			markers = append(markers, m)
		}
		return true
	})
	return markers
}

// Conditional reports whether a statement is a light-weight transaction: it, or a statement of the batch, has IF.
func Conditional(st Statement) bool {
	switch s := st.(type) {
	case *Insert:
		return s.IfNotExists
	case *Update:
		return s.IfExists || len(s.Conditions) > 0
	case *Delete:
		return s.IfExists || len(s.Conditions) > 0
	case *Batch:
		for _, child := range s.Statements {
			if Conditional(child) {
				return true
			}
		}
	}
	return false
}

// Tables returns the tables and views that a statement names, as written and each once, in the order of the text. Types,
// indexes and functions are none, but CREATE INDEX and triggers name the table they are on.
func Tables(st Statement) []TableRef {
	switch s := st.(type) {
	case *Select:
		return []TableRef{s.Table}
	case *Insert:
		return []TableRef{s.Table}
	case *Update:
		return []TableRef{s.Table}
	case *Delete:
		return []TableRef{s.Table}
	case *Truncate:
		return []TableRef{s.Table}
	case *CreateTable:
		return []TableRef{s.Table}
	case *AlterTable:
		return []TableRef{s.Table}
	case *CreateIndex:
		return []TableRef{s.Table}
	case *CreateTrigger:
		return []TableRef{s.Table}
	case *CreateView:
		return []TableRef{s.View, s.From}
	case *AlterView:
		return []TableRef{s.View}
	case *Drop:
		switch s.Object {
		case ObjectTable, ObjectView:
			return []TableRef{s.Name}
		case ObjectTrigger:
			return []TableRef{s.On}
		}
	case *Batch:
		var tables []TableRef
		seen := map[TableRef]bool{}
		for _, child := range s.Statements {
			for _, t := range Tables(child) {
				if !seen[t] {
					seen[t] = true
					tables = append(tables, t)
				}
			}
		}
		return tables
	}
	return nil
}

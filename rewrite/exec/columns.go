package exec

import (
	"slices"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
)

// Shows tells whether an answer has these columns, by name and type, and some more at its end. Who was told of a statement's columns before a table or a
// type was altered knows others, and would misread the rows. (Where the types of an answer are not known, the names count alone.)
func (a *Answer) Shows(columns []proxy.Column, more int) bool {
	if len(a.Columns) != len(columns)+more {
		return false
	}
	for i := range columns {
		if a.Columns[i] != columns[i].Name || a.typed != nil && !a.typed(i, columns[i].Type) {
			return false
		}
	}
	return true
}

// equal tells whether two types are one. Versions of the protocol write some types as custom ones: of these nothing is said.
func equal(a, b *proxy.Type) bool {
	if a.Code == proxy.TypeCustom || b.Code == proxy.TypeCustom {
		return true
	}
	return a.Code == b.Code && a.Keyspace == b.Keyspace && a.Name == b.Name && slices.Equal(a.Fields, b.Fields) &&
		slices.EqualFunc(a.Elements, b.Elements, func(a, b proxy.Type) bool { return equal(&a, &b) })
}

// described tells whether a type is the one that the protocol describes so.
func described(t gocql.TypeInfo, p *proxy.Type) bool {
	if t == nil || t.Type() == gocql.TypeCustom || p.Code == proxy.TypeCustom {
		return true
	}
	if int(t.Type()) != int(p.Code) {
		return false
	}
	parts := func(all ...gocql.TypeInfo) bool {
		if len(all) != len(p.Elements) {
			return false
		}
		for i := range all {
			if !described(all[i], &p.Elements[i]) {
				return false
			}
		}
		return true
	}
	switch t := t.(type) {
	case gocql.UDTTypeInfo:
		types := make([]gocql.TypeInfo, len(t.Elements))
		for i, f := range t.Elements {
			types[i] = f.Type
		}
		sameName := func(f gocql.UDTField, name string) bool { return f.Name == name }
		return t.KeySpace == p.Keyspace && t.Name == p.Name && slices.EqualFunc(t.Elements, p.Fields, sameName) && parts(types...)
	case gocql.TupleTypeInfo:
		return parts(t.Elems...)
	case gocql.CollectionType:
		if t.Key != nil {
			return parts(t.Key, t.Elem)
		}
		return parts(t.Elem)
	}
	return true
}

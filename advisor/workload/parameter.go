package workload

import (
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// Parameter is a value that a statement needs when it is run. Whoever runs it gives the values by Name.
//
// "?name" is its own name, and the same value wherever it stands. A plain "?" has the name of what it is for:
//
//	WHERE items.end_date >= ?    "items.end_date >="   (of two of the same the second is "items.end_date >= #2")
//	WHERE items.id IN (?, ?, 7)  "items.id IN"         (two values; those of one ? for the list are any number)
//	GIVEN items.name             "GIVEN items.name"
//	SET items.rating = ?         "SET items.rating"
//	SET rating = rating + ?      "ADD items.rating"
//	CONNECT items(?) TO seller(?)  "items.id =" and "seller.id", which is role and attribute; so of INSERT
//
// The value of LIKE is a pattern: a prefix followed by one %.
type Parameter struct {
	Name  string
	Field model.Field // what the value is compared with, or what it becomes
	Op    Op          // = for all that is no condition
	Items int         // values that belong together: 1, the number of "?" in a list of IN, or 0 for any number
}

// Parameters returns what the query needs, each name once, in the order of the text.
func (q *Query) Parameters() []Parameter {
	return append(conditions(q.Where), given(q.Known)...)
}

// Parameters returns what the write needs, each name once, in the order of the text.
func (w *Write) Parameters() []Parameter {
	var list []Parameter
	for _, f := range w.Set {
		list = append(list, Parameter{SetName(f), f, Equal, 1})
	}
	for _, f := range w.Increments {
		list = append(list, Parameter{AddName(f), f, Equal, 1})
	}
	if w.Kind == Connect || w.Kind == Disconnect {
		for _, f := range w.Entity.KeyFields() {
			list = append(list, Parameter{KeyName(f), f, Equal, 1})
		}
	}
	for i, c := range w.Connections {
		for _, f := range c.Entity.KeyFields() {
			list = append(list, Parameter{ConnectionName(w, i, f.Attribute), f, Equal, 1})
		}
	}
	return append(append(list, conditions(w.Where)...), given(w.Given)...)
}

func given(fields []model.Field) []Parameter {
	var list []Parameter
	for _, f := range fields {
		list = append(list, Parameter{GivenName(f), f, Equal, 1})
	}
	return list
}

// GivenName is the name of the parameter for a field of GIVEN.
func GivenName(f model.Field) string { return "GIVEN " + f.String() }

// SetName is the name of the parameter for the new value of a field.
func SetName(f model.Field) string { return "SET " + f.String() }

// AddName is the name of the parameter for what is added to a field.
func AddName(f model.Field) string { return "ADD " + f.String() }

// KeyName is the name of the parameter for a field of the key of what CONNECT and DISCONNECT name first.
func KeyName(f model.Field) string { return f.String() + " =" }

// ConnectionName is the name of the parameter for an attribute of the key of a write's nth connection.
func ConnectionName(w *Write, n int, a *model.Attribute) string {
	return w.Connections[n].Edge.Role(w.Entity) + "." + a.Name
}

// conditions are the parameters of a WHERE.
func conditions(where []Predicate) []Parameter {
	var list []Parameter
	named := map[string]bool{}
	names := Names(where)
	for i, p := range where {
		values := p.List()
		marks := 0
		for _, v := range values {
			switch {
			case v == "?":
				marks++
			case strings.HasPrefix(v, "?") && !named[v]:
				named[v] = true
				one := Parameter{v, p.Field, p.Op, 1}
				if p.Op == In && v != p.Value {
					one.Op = Equal // one of a list
				} else if p.Op == In {
					one.Items = 0
				}
				list = append(list, one)
			}
		}
		if p.Op == In && p.Value == "?" {
			list = append(list, Parameter{names[i], p.Field, p.Op, 0})
		} else if marks > 0 {
			list = append(list, Parameter{names[i], p.Field, p.Op, marks})
		}
	}
	return list
}

// Names returns, for each predicate, the name of the parameter that stands for its plain "?", whether it has one or not.
func Names(where []Predicate) []string {
	names := make([]string, len(where))
	met := map[string]int{}
	for i, p := range where {
		names[i] = p.Field.String() + " " + string(p.Op)
		if met[names[i]]++; met[names[i]] > 1 {
			names[i] += " #" + strconv.Itoa(met[names[i]])
		}
	}
	return names
}

// List returns what the predicate compares with: its Value, or the values in the brackets of IN.
func (p Predicate) List() []string {
	inner, ok := strings.CutPrefix(p.Value, "(")
	if p.Op != In || !ok {
		return []string{p.Value}
	}
	tokens, err := lex(strings.TrimSuffix(inner, ")"))
	if err != nil {
		return []string{p.Value} // no list that the parser has made
	}
	var list []string
	for _, t := range tokens {
		if t.isValue() {
			list = append(list, t.text)
		}
	}
	return list
}

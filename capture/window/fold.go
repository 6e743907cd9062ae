package window

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// This file takes apart what is bound, or comes, as one value, so that each part of it is a variable, or a result column, too: the columns of
// (a, b) = ? and (a, b) IN ?, the elements of a tuple (pair.0), the fields of a user-defined type (address.city), the keys and values of a map (roles.key).
// They stand behind those that the statement was prepared with, which keep their places.

// maxParts is how many parts one column has at most; what has more is left whole.
const maxParts = 64

// maxFolds is how deep types are followed into each other.
const maxFolds = 8

// width is how many parts a value of a type has, 1 of what is left whole.
func width(t *proxy.Type, depth int) int {
	list := t.Code == proxy.TypeList || t.Code == proxy.TypeSet
	switch {
	case depth > maxFolds || len(t.Elements) == 0:
		return 1
	case list && !folded(&t.Elements[0]), !list && !folded(t):
		return 1
	}
	n := 0
	for i := range t.Elements {
		n += width(&t.Elements[i], depth+1)
	}
	return n
}

// folded tells whether a type is of several parts.
func folded(t *proxy.Type) bool {
	switch t.Code {
	case proxy.TypeTuple, proxy.TypeUDT, proxy.TypeMap:
		return len(t.Elements) > 0
	case proxy.TypeList, proxy.TypeSet:
		return len(t.Elements) == 1 && folded(&t.Elements[0])
	}
	return false
}

// parts are the columns that a value of a column is made of; none, if it is left whole.
func parts(c *proxy.Column) []proxy.Column {
	if !divided(&c.Type) {
		return nil
	}
	whole := *c
	whole.Name = trace.ColumnOf(c.Name)
	names, in := several(c.Name)
	out := unfold(nil, whole, names, 0)
	if in || whole.Name != c.Name {
		for i := range out {
			out[i].Name = "in(" + out[i].Name + ")" // as Cassandra calls a list of values of one column
		}
	}
	return out
}

// divided tells whether values of a type are taken apart.
func divided(t *proxy.Type) bool { return folded(t) && width(t, 0) <= maxParts }

// unfold appends the parts of a column. names are those of the elements, if it stands for several columns.
func unfold(out []proxy.Column, c proxy.Column, names []string, depth int) []proxy.Column {
	t := c.Type
	if depth > maxFolds || !folded(&t) {
		return append(out, c)
	}
	if t.Code == proxy.TypeList || t.Code == proxy.TypeSet { // of tuples: each part is a list
		inner := c
		inner.Type = t.Elements[0]
		for _, p := range unfold(nil, inner, names, depth+1) {
			p.Type = proxy.Type{Code: proxy.TypeList, Elements: []proxy.Type{p.Type}}
			out = append(out, p)
		}
		return out
	}
	for i := range t.Elements {
		one := c
		one.Type = t.Elements[i]
		switch {
		case len(names) == len(t.Elements):
			one.Name = names[i]
		case i < len(t.Fields):
			one.Name += "." + t.Fields[i]
		case t.Code == proxy.TypeMap:
			one.Name += [...]string{".key", ".value"}[min(i, 1)]
		default:
			one.Name += fmt.Sprintf(".%d", i)
		}
		out = unfold(out, one, nil, depth+1)
	}
	return out
}

// several are the columns that a variable's name lists, as Cassandra calls what (a, b) is compared with: "(a,b)", of a list "in(a,b)"; nil if it is of one.
func several(name string) (columns []string, in bool) {
	inner := name
	if len(name) > 2 && strings.EqualFold(name[:2], "in") {
		inner, in = name[2:], true
	}
	if len(inner) < 2 || inner[0] != '(' || inner[len(inner)-1] != ')' || !strings.Contains(inner, ",") {
		return nil, false
	}
	columns = strings.Split(inner[1:len(inner)-1], ",")
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	return columns, in
}

// each calls yield for all that a value which is taken apart is made of, with the number of the part that it is of, the first of which is first.
func each(t *proxy.Type, b []byte, first int, yield func(part int, t *proxy.Type, b []byte)) {
	step(t, b, first, 0, yield)
}

func step(t *proxy.Type, b []byte, first, depth int, yield func(part int, t *proxy.Type, b []byte)) {
	if len(b) == 0 {
		return
	}
	if depth > maxFolds || !folded(t) {
		yield(first, t, b)
		return
	}
	rounds := 1
	if t.Code != proxy.TypeTuple && t.Code != proxy.TypeUDT {
		if len(b) < 4 {
			return
		}
		rounds, b = min(int(int32(binary.BigEndian.Uint32(b))), value.MaxElements), b[4:] //nolint:gosec // a negative number is none
	}
	for range rounds {
		at := first
		for i := range t.Elements {
			if len(b) < 4 { // a tuple may have fewer elements than its type
				return
			}
			n := int(int32(binary.BigEndian.Uint32(b))) //nolint:gosec // a negative one is a null
			if b = b[4:]; n > len(b) {
				return
			}
			if n > 0 {
				step(&t.Elements[i], b[:n], at, depth+1, yield)
				b = b[n:]
			}
			at += width(&t.Elements[i], depth+1)
		}
	}
}

// unfolded is a statement with the parts of its variables and result columns behind them. variables and results say which is the first part of each, 0 if it has none.
func unfolded(st *trace.Statement) (out *trace.Statement, variables, results []int) {
	own := *st
	own.Variables, variables = unfoldAll(st.Variables)
	own.Results, results = unfoldAll(st.Results)
	if len(own.Variables) == len(st.Variables) && len(own.Results) == len(st.Results) {
		return st, variables, results
	}
	if st.Ranges != nil {
		own.Ranges = slices.Clone(st.Ranges)
		for i, r := range st.Ranges {
			if i < len(variables) && variables[i] > 0 {
				own.Ranges = append(own.Ranges, slices.Repeat([]bool{r}, len(parts(&st.Variables[i])))...)
			}
		}
	}
	return &own, variables, results
}

func unfoldAll(columns []proxy.Column) (out []proxy.Column, first []int) {
	out, first = slices.Clone(columns), make([]int, len(columns))
	for i := range columns {
		if p := parts(&columns[i]); len(p) > 0 {
			first[i] = len(out)
			out = append(out, p...)
		}
	}
	return out, first
}

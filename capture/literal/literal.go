// Package literal reads the values that an application has written into the text of a statement, and those that it sends with a text that was not
// prepared, as if it had been: a description of the statement with a variable for each, and the values in the form of the protocol. capture/window uses it
// for QUERY, in windows only. It imports capture/cql, capture/schema, capture/trace, and proxy for the types of the hooks.
//
// Of the values of bind markers only the schema tells the types: without it they are not looked at.
//
// Without the schema the type of a constant is what it looks like: an integer, a text or a UUID. That is enough for joins, since
// equal values of a column look alike; but the text of a date is a text, and not equal to a timestamp. Of constants of
// other kinds and of function calls nothing is read, but each has its place.
//
// Where it is thin: the TTL and timestamp of USING, the conditions of IF and what stands in a selection are left out, so places are not those that
// the same statement's variables have when it is prepared; collections and tuples that are written as literals are not looked into, but those of IN and of several columns.
package literal

import (
	"encoding/hex"
	"math/big"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// MaxValues is how many values of one statement are read.
const MaxValues = 256

// Said is a statement as it was said.
type Said struct {
	Keyspace string         // in use
	Text     string         // with its literals
	Values   []proxy.Value  // of its bind markers
	Schema   *schema.Schema // nil: not known
}

// Read returns what st says with the values that were said. st has no Variables; it is not changed. nil: there are none, or the text can not be parsed.
func Read(st *trace.Statement, said Said) (*trace.Statement, []proxy.Value) {
	parsed, err := cql.Parse(said.Text)
	if err != nil {
		return nil, nil
	}
	r := reader{said: said}
	switch s := parsed.(type) {
	case *cql.Select:
		r.table(s.Table)
		r.where(s.Where)
	case *cql.Insert:
		r.table(s.Table)
		for i, v := range s.Values {
			if i < len(s.Columns) {
				r.term(s.Columns[i], v, false)
			}
		}
	case *cql.Update:
		r.table(s.Table)
		for _, a := range s.Assignments {
			if a.Element == nil && a.Field == "" {
				r.term(a.Column, a.Value, false)
			}
		}
		r.where(s.Where)
	case *cql.Delete:
		r.table(s.Table)
		r.where(s.Where)
	}
	if r.values == nil {
		return nil, nil
	}
	out := *st
	out.Variables, out.Ranges, out.PartitionKey = r.variables, r.ranges, r.partitionKey()
	return &out, r.values
}

// reader collects values with their columns.
type reader struct {
	said      Said
	at        cql.TableRef
	known     *schema.Table // nil if it is not
	variables []proxy.Column
	ranges    []bool
	values    []proxy.Value
}

func (r *reader) table(t cql.TableRef) {
	r.at = t.In(r.said.Keyspace)
	r.known = r.said.Schema.Table(r.at.Keyspace, r.at.Table)
}

// typeOf is the type of a column, none if it is not known.
func (r *reader) typeOf(column string) proxy.Type {
	if r.known != nil {
		if c := r.known.Column(column); c != nil {
			return TypeOf(c.Type)
		}
	}
	return proxy.Type{}
}

// partitionKey returns the variables that are the partition key; nil if one has none of its own, or its value is not of the column's class.
func (r *reader) partitionKey() (out []int) {
	if r.known == nil {
		return nil
	}
	for _, c := range r.known.PartitionKey() {
		at, n := -1, 0
		for i := range r.variables {
			if r.variables[i].Name == c.Name {
				at, n = i, n+1
			}
		}
		t := TypeOf(c.Type)
		if n != 1 || r.ranges[at] || value.ClassOf(&r.variables[at].Type) != value.ClassOf(&t) {
			return nil
		}
		out = append(out, at)
	}
	return out
}

// bound is the value of a bind marker; nothing if it was not sent.
func (r *reader) bound(m *cql.Marker) (v proxy.Value) {
	for i := range r.said.Values {
		if x := &r.said.Values[i]; x.Name != "" && x.Name == m.Name || x.Name == "" && i == m.Index {
			v = *x
			break
		}
	}
	v.Name = "" // it has the place of its column
	return v
}

func (r *reader) where(all []cql.Relation) {
	for _, w := range all {
		if w.Token || len(w.Columns) == 0 || w.Value == nil || w.Element != nil {
			continue
		}
		if w.Tuple || len(w.Columns) > 1 {
			r.rows(&w)
			continue
		}
		switch w.Op {
		case cql.OpEQ:
			r.term(w.Columns[0], w.Value, false)
		case cql.OpContains, cql.OpContainsKey:
			r.element(w.Columns[0], w.Value, w.Op)
		case cql.OpLT, cql.OpLE, cql.OpGT, cql.OpGE:
			r.term(w.Columns[0], w.Value, true)
		case cql.OpIn:
			switch list := w.Value.(type) {
			case *cql.Tuple:
				for _, v := range list.Elements {
					r.term(w.Columns[0], v, false)
				}
			case *cql.Marker:
				r.enter("in("+w.Columns[0]+")", proxy.Type{Code: proxy.TypeList, Elements: []proxy.Type{r.typeOf(w.Columns[0])}}, list, false)
			}
		}
	}
}

// rows enters what several columns are compared with.
func (r *reader) rows(w *cql.Relation) {
	together := proxy.Type{Code: proxy.TypeTuple}
	for _, c := range w.Columns {
		together.Elements = append(together.Elements, r.typeOf(c))
	}
	name, ranged := "("+strings.Join(w.Columns, ",")+")", w.Op == cql.OpLT || w.Op == cql.OpLE || w.Op == cql.OpGT || w.Op == cql.OpGE
	row := func(t cql.Term) {
		if list, ok := t.(*cql.Tuple); ok && len(list.Elements) == len(w.Columns) {
			for i, v := range list.Elements {
				r.term(w.Columns[i], v, ranged)
			}
			return
		}
		r.enter(name, together, t, ranged)
	}
	switch list, listed := w.Value.(*cql.Tuple); {
	case w.Op == cql.OpIn && listed:
		for _, t := range list.Elements {
			row(t)
		}
	case w.Op == cql.OpIn:
		r.enter("in"+name, proxy.Type{Code: proxy.TypeList, Elements: []proxy.Type{together}}, w.Value, false)
	case w.Op == cql.OpEQ || ranged:
		row(w.Value)
	}
}

// term enters one value of a column.
func (r *reader) term(column string, t cql.Term, ranged bool) {
	r.enter(column, r.typeOf(column), t, ranged)
}

// element enters what a collection is to contain. As Cassandra names such a variable it stands for no column.
func (r *reader) element(column string, t cql.Term, op cql.Op) {
	of, n := r.typeOf(column).Elements, 0
	name := "value(" + column + ")"
	if op == cql.OpContainsKey {
		name = "key(" + column + ")"
	} else if len(of) == 2 {
		n = 1
	}
	var one proxy.Type
	if n < len(of) {
		one = of[n]
	}
	r.enter(name, one, t, false)
}

// enter enters a value of a type: the one that is given for a marker's, a constant's own.
func (r *reader) enter(name string, of proxy.Type, t cql.Term, ranged bool) {
	if len(r.values) == MaxValues {
		return
	}
	c := proxy.Column{Keyspace: r.at.Keyspace, Table: r.at.Table, Name: name}
	var v proxy.Value
	switch x := t.(type) {
	case *cql.Literal:
		c.Type.Code, v.Bytes = constant(x)
		v.Null = x.Kind == cql.LiteralNull
	case *cql.Marker:
		c.Type, v = of, r.bound(x)
	}
	r.variables, r.ranges, r.values = append(r.variables, c), append(r.ranges, ranged), append(r.values, v)
}

// constant is a constant in the form of the protocol; no bytes if it is of a kind that is not read.
func constant(l *cql.Literal) (code uint16, b []byte) {
	switch l.Kind {
	case cql.LiteralString:
		return proxy.TypeVarchar, []byte(l.Text)
	case cql.LiteralInteger:
		n, ok := new(big.Int).SetString(l.Text, 10)
		if !ok || n.BitLen() > 512 {
			return 0, nil
		}
		return proxy.TypeVarint, varint(n)
	case cql.LiteralUUID:
		if b, err := hex.DecodeString(strings.ReplaceAll(l.Text, "-", "")); err == nil && len(b) == 16 {
			return proxy.TypeUUID, b
		}
	}
	return 0, nil
}

// varint is minimal two's complement.
func varint(n *big.Int) []byte {
	if n.Sign() >= 0 {
		return append([]byte{0}, n.Bytes()...) // a leading zero too many is taken off by who hashes
	}
	size := uint(len(n.Bytes())) + 1
	return new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 8*size)).Bytes()
}

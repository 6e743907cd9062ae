// Package literal reads the values that an application has written into the text of a statement, as if they had been bound: a
// description of the statement with a variable for each, and the values in the form of the protocol. capture/window uses it
// for QUERY, in windows only. It imports capture/cql, capture/trace, and proxy for the types of the hooks.
//
// Without the schema the type of a constant is what it looks like: an integer, a text or a UUID. That is enough for joins, since
// equal values of a column look alike; but the text of a date is a text, and not equal to a timestamp. Of constants of
// other kinds, of function calls and of bind markers nothing is read, but each has its place.
//
// Where it is thin: the TTL and timestamp of USING, the conditions of IF and what stands in a selection are left out, so places are not those that
// the same statement's variables have when it is prepared; collections and tuples but those of IN are not looked into.
package literal

import (
	"encoding/hex"
	"math/big"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

// Type codes of the protocol.
const (
	codeVarint  = 0x000E
	codeVarchar = 0x000D
	codeUUID    = 0x000C
)

// MaxValues is how many values of one statement are read.
const MaxValues = 256

// Read returns what st says with the values that stand in text, which is said in a keyspace. st has no Variables; it is not
// changed. nil: there are none, or the text can not be parsed.
func Read(st *trace.Statement, keyspace, text string) (*trace.Statement, []proxy.Value) {
	parsed, err := cql.Parse(text)
	if err != nil {
		return nil, nil
	}
	r := reader{}
	switch s := parsed.(type) {
	case *cql.Select:
		r.table(s.Table, keyspace)
		r.where(s.Where)
	case *cql.Insert:
		r.table(s.Table, keyspace)
		for i, v := range s.Values {
			if i < len(s.Columns) {
				r.term(s.Columns[i], v, false)
			}
		}
	case *cql.Update:
		r.table(s.Table, keyspace)
		for _, a := range s.Assignments {
			r.term(a.Column, a.Value, false)
		}
		r.where(s.Where)
	case *cql.Delete:
		r.table(s.Table, keyspace)
		r.where(s.Where)
	}
	if r.values == nil {
		return nil, nil
	}
	out := *st
	out.Variables, out.Ranges, out.PartitionKey = r.variables, r.ranges, nil
	return &out, r.values
}

// reader collects values with their columns.
type reader struct {
	at        cql.TableRef
	variables []proxy.Column
	ranges    []bool
	values    []proxy.Value
}

func (r *reader) table(t cql.TableRef, keyspace string) { r.at = t.In(keyspace) }

func (r *reader) where(all []cql.Relation) {
	for _, w := range all {
		if w.Token || len(w.Columns) != 1 || w.Value == nil {
			continue
		}
		switch w.Op {
		case cql.OpEQ, cql.OpContains, cql.OpContainsKey:
			r.term(w.Columns[0], w.Value, false)
		case cql.OpLT, cql.OpLE, cql.OpGT, cql.OpGE:
			r.term(w.Columns[0], w.Value, true)
		case cql.OpIn:
			if list, ok := w.Value.(*cql.Tuple); ok {
				for _, v := range list.Elements {
					r.term(w.Columns[0], v, false)
				}
			}
		}
	}
}

// term enters one value of a column.
func (r *reader) term(column string, t cql.Term, ranged bool) {
	if len(r.values) == MaxValues {
		return
	}
	c := proxy.Column{Keyspace: r.at.Keyspace, Table: r.at.Table, Name: column}
	var v proxy.Value
	if l, ok := t.(*cql.Literal); ok {
		c.Type.Code, v.Bytes = constant(l)
		v.Null = l.Kind == cql.LiteralNull
	}
	r.variables, r.ranges, r.values = append(r.variables, c), append(r.ranges, ranged), append(r.values, v)
}

// constant is a constant in the form of the protocol; no bytes if it is of a kind that is not read.
func constant(l *cql.Literal) (code uint16, b []byte) {
	switch l.Kind {
	case cql.LiteralString:
		return codeVarchar, []byte(l.Text)
	case cql.LiteralInteger:
		n, ok := new(big.Int).SetString(l.Text, 10)
		if !ok || n.BitLen() > 512 {
			return 0, nil
		}
		return codeVarint, varint(n)
	case cql.LiteralUUID:
		if b, err := hex.DecodeString(strings.ReplaceAll(l.Text, "-", "")); err == nil && len(b) == 16 {
			return codeUUID, b
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

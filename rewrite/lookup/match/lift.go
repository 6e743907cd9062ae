package match

import (
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// place is what a marker of a SELECT stands for.
type place struct {
	name    string // by which Cassandra knows it, "" if that is not known here
	cqlType string // "" likewise
}

// places are the markers of the conditions of a SELECT.
type places map[*cql.Marker]place

// of names a marker as requests do.
func (p places) of(m *cql.Marker) kind.Marker {
	out := kind.Marker{Index: m.Index, Name: m.Name}
	if out.Name == "" && m.Index >= 0 {
		out.Name = p[m].name
	}
	return out
}

// comparisons are the operators that compare a column with a value of its own type.
var comparisons = map[cql.Op]bool{cql.OpEQ: true, cql.OpLT: true, cql.OpLE: true, cql.OpGT: true, cql.OpGE: true}

// lift puts markers in the place of the values that stand in conditions, which become the read's: so all texts of one statement are read by
// the same statements of ours, as their prepared twin is. left tells that a value is left which Cassandra alone reads, or may refuse.
func (l *LookUp) lift(where []cql.Relation, r *Read) (lifted []cql.Relation, at places, left bool) {
	lifted, at = append([]cql.Relation(nil), where...), places{}
	for i := range lifted {
		w := &lifted[i]
		var cqlType string
		if len(w.Columns) == 1 && w.Element == nil && !w.Token && !w.Tuple {
			if column := l.Base.Column(w.Columns[0]); column != nil {
				cqlType = compared(w.Op, column.Type)
			}
		}
		switch v := w.Value.(type) {
		case *cql.Marker:
			p := place{cqlType: cqlType}
			if comparisons[w.Op] && cqlType != "" {
				p.name = w.Columns[0]
			}
			at[v] = p
		case *cql.Literal:
			b, s := constant(v, cqlType)
			if cqlType == "" || s != known {
				left = true
				continue
			}
			r.given = append(r.given, b)
			m := &cql.Marker{Index: -len(r.given)}
			at[m], w.Value = place{cqlType: cqlType}, m
		default:
			left = true
		}
		if _, bound := w.Element.(*cql.Marker); w.Element != nil && !bound {
			left = true
		}
	}
	return lifted, at, left
}

// compared is the type of a value that is compared with a column of a type, "" if that is not known here.
func compared(op cql.Op, column string) string {
	switch {
	case comparisons[op]:
		return column
	case op == cql.OpContains:
		for _, kind := range []string{"list", "set"} {
			if of, ok := elementsOf(column, kind); ok {
				return of[0]
			}
		}
	}
	return ""
}

// judged are the types of which valid says the same as Cassandra: the native ones but duration, whose bytes are numbers of any length and one sign.
var judged = strings.ReplaceAll(native, " duration ", " ")

// Takes tells whether Cassandra takes bytes as a value of a type, as far as that is known here.
func Takes(b []byte, cqlType string) bool { return cqlType == "" || valid(b, cqlType) == known }

// nowhere makes a key that a row of the base could have: of each column a value that Cassandra takes.
func (l *LookUp) nowhere() [][]byte {
	key := make([][]byte, len(l.Key))
	for i, k := range l.Key {
		n := 1
		for _, allowed := range sizes[k.Type] {
			n = max(n, allowed)
		}
		key[i] = []byte(strings.Repeat("\x00", n))
		switch k.Type {
		case "text", "varchar", "ascii":
			key[i] = []byte("0")
		case "timeuuid":
			key[i][6] = 0x10
		}
	}
	return key
}

package capture

import (
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
)

// about is what is known of a statement from its text alone. It is not changed once made.
type about struct {
	fingerprint string
	keyspace    string
	table       string
	kind        cql.Kind
	text        string // normalised
	shown       string // what of the text may be logged; see slowrequest.go
	conditional bool
	restricted  string // by what it restricts its rows; see values.go
	ranges      func(variables []proxy.Column) []bool
	parts       []string // a BATCH: fingerprints of its first children
}

// describe makes the description of a statement, nil if it could not be parsed.
func describe(print cql.Print, keyspace, text string, statement cql.Statement) *about {
	a := &about{fingerprint: print.String(), keyspace: keyspace, text: text, kind: cql.KindOther}
	if statement == nil {
		return a
	}
	a.shown = shown(statement, text)
	a.kind = statement.Kind()
	a.conditional = cql.Conditional(statement)
	if t, ok := table(statement); ok {
		t = t.In(keyspace)
		a.keyspace, a.table = t.Keyspace, t.Table
	}
	a.ranges, a.restricted = rangesOf(statement), restrictions(statement)
	return a
}

// bytes is about how much memory the description takes.
func (a *about) bytes() int64 { return int64(256 + len(a.text) + len(a.keyspace) + len(a.table)) }

// table returns the one table that a statement is about.
func table(st cql.Statement) (cql.TableRef, bool) {
	switch s := st.(type) {
	case *cql.Select:
		return s.Table, true
	case *cql.Insert:
		return s.Table, true
	case *cql.Update:
		return s.Table, true
	case *cql.Delete:
		return s.Table, true
	case *cql.Batch:
		var one cql.TableRef
		for i, child := range s.Statements {
			t, ok := table(child)
			if !ok || i > 0 && t != one {
				return cql.TableRef{}, false
			}
			one = t
		}
		return one, len(s.Statements) > 0
	}
	if tables := cql.Tables(st); len(tables) > 0 {
		return tables[0], true
	}
	return cql.TableRef{}, false
}

// rangesOf returns a function that tells which bind variables of a SELECT are compared by order; nil if none is. The
// variables are known only once the statement is prepared.
func rangesOf(st cql.Statement) func([]proxy.Column) []bool {
	s, ok := st.(*cql.Select)
	if !ok {
		return nil
	}
	ranged := map[string]bool{}
	for _, w := range s.Where {
		switch w.Op {
		case cql.OpLT, cql.OpLE, cql.OpGT, cql.OpGE:
			if !w.Token {
				for _, c := range w.Columns {
					ranged[c] = true
				}
			}
		}
	}
	if len(ranged) == 0 {
		return nil
	}
	return func(variables []proxy.Column) []bool {
		out := make([]bool, len(variables))
		for i, v := range variables {
			out[i] = ranged[v.Name]
		}
		return out
	}
}

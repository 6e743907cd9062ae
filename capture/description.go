package capture

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
)

// description is what is known of a statement from its text alone. It is not changed once made.
type description struct {
	fingerprint string
	keyspace    string
	table       string
	kind        cql.Kind
	text        string // normalised
	shown       string // what of the text may be logged; see slowrequest.go
	conditional bool
	restricted  string // by what it restricts its rows; see values.go
	ranges      func(variables []proxy.Column) []bool
	key, sets   []string // of a write, as trace.Statement has them
	limited     bool
	parts       []string // a BATCH: fingerprints of its first children
}

// describeStatement makes the description of a statement, nil if it could not be parsed. The names in the tree are pieces of the
// client's text, with its literals: what is kept of them is copied, or the whole text would stay in memory.
func describeStatement(print cql.Print, keyspace, text string, statement cql.Statement) *description {
	a := &description{fingerprint: print.String(), keyspace: keyspace, text: text, kind: cql.KindOther}
	if statement == nil {
		return a
	}
	a.shown = loggableText(statement, text)
	a.kind = statement.Kind()
	a.conditional = cql.Conditional(statement)
	if t, ok := tableOf(statement); ok {
		t = t.In(keyspace)
		a.keyspace, a.table = strings.Clone(t.Keyspace), strings.Clone(t.Table)
	}
	a.ranges, a.restricted = rangesOf(statement), restrictionText(statement)
	a.key, a.sets = writeColumns(statement)
	cloneNames(a.key)
	cloneNames(a.sets)
	if s, ok := statement.(*cql.Select); ok {
		a.limited = s.Limit != nil || s.PerPartitionLimit != nil
	}
	return a
}

// memoryBytes is about how much memory the description takes.
func (a *description) memoryBytes() int64 {
	n := 256 + len(a.text) + len(a.keyspace) + len(a.table) + len(a.restricted)
	for _, list := range [...][]string{a.key, a.sets} {
		for _, name := range list {
			n += 16 + len(name)
		}
	}
	return int64(n)
}

// tableOf returns the one table that a statement is about.
func tableOf(st cql.Statement) (cql.TableRef, bool) {
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
			t, ok := tableOf(child)
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

// writeColumns returns the columns that tell a statement's rows, by =, and those that it sets. What is added to what was there (a counter, a
// list) is not set.
func writeColumns(st cql.Statement) (key, sets []string) {
	var where []cql.Relation
	switch s := st.(type) {
	case *cql.Select:
		where = s.Where
	case *cql.Insert:
		return nil, slices.Clone(s.Columns)
	case *cql.Update:
		where = s.Where
		for _, a := range s.Assignments {
			if a.Op == cql.AssignSet && a.Element == nil && a.Field == "" {
				sets = append(sets, a.Column)
			}
		}
	case *cql.Delete:
		where = s.Where
	}
	for _, w := range where {
		if w.Op == cql.OpEQ && !w.Token && w.Element == nil {
			key = append(key, w.Columns...)
		}
	}
	return key, sets
}

// cloneNames takes names out of the text that they are pieces of.
func cloneNames(names []string) {
	for i := range names {
		names[i] = strings.Clone(names[i])
	}
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
					ranged[strings.Clone(c)] = true
				}
				ranged["("+strings.Join(w.Columns, ",")+")"] = true // as Cassandra calls one value for all
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

package writers

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// template is a captured write.
type template struct {
	statement *capture.Statement
	table     *schema.Table
	key       []string // columns that say which row, or rows
	sets      []string // the others that get a value; of a DELETE those that lose theirs
	whole     bool     // it concerns rows as such: an INSERT, or a DELETE of rows
	deletes   bool
	insert    bool
	unless    bool // IF NOT EXISTS: to be refused is no failure
	class     safety.Class
}

// allColumns are all columns that have values in the statement.
func (w *template) allColumns() []string {
	if w.deletes {
		return w.key
	}
	return slices.Concat(w.key, w.sets)
}

// readTemplate makes the template of a statement. It is not ok, with the reason, if that can not be; "" if it is no write at all.
func readTemplate(st *capture.Statement, s *schema.Schema) (w *template, reason string) {
	if st.Defines() {
		return nil, ""
	}
	parsed, err := st.Parse()
	if err != nil {
		return nil, "Helenus can not parse it"
	}
	w = &template{statement: st}
	var ref cql.TableRef
	var where []cql.Relation
	switch x := parsed.(type) {
	case *cql.Insert:
		if x.JSON != nil {
			return nil, "INSERT JSON does not say which columns it has"
		}
		ref, w.insert, w.whole, w.unless = x.Table, true, true, x.IfNotExists
		w.sets = slices.Clone(x.Columns)
	case *cql.Update:
		ref, where = x.Table, x.Where
		for _, a := range x.Assignments {
			if !slices.Contains(w.sets, a.Column) {
				w.sets = append(w.sets, a.Column)
			}
		}
	case *cql.Delete:
		ref, where, w.deletes, w.whole = x.Table, x.Where, true, len(x.Columns) == 0
		for _, c := range x.Columns {
			w.sets = append(w.sets, c.Column)
		}
	default:
		return nil, ""
	}
	ref = ref.In(st.Keyspace)
	if w.table = s.Table(ref.Keyspace, ref.Table); w.table == nil {
		return nil, "its table is not in the schema"
	}
	if w.insert {
		w.sets = slices.DeleteFunc(w.sets, func(name string) bool {
			key := isKey(w.table, name)
			if key {
				w.key = append(w.key, name)
			}
			return key
		})
	}
	for _, r := range where {
		if (r.Op == cql.OpEQ || r.Op == cql.OpIn) && !r.Token && r.Element == nil {
			w.key = append(w.key, r.Columns...)
		}
	}
	w.class = w.classOf(st.Conditional)
	return w, ""
}

func isKey(t *schema.Table, name string) bool {
	c := t.Column(name)
	return c != nil && (c.Kind == schema.PartitionKey || c.Kind == schema.Clustering)
}

// classOf is what happens when two writers meet in it (docs/design/mapping.md 4.1).
func (w *template) classOf(conditional bool) safety.Class {
	switch {
	case conditional:
		return safety.LWT
	case w.table.Counter:
		return safety.Counter
	case len(w.table.Views) > 0:
		return safety.View
	case w.insert, w.deletes && w.whole:
		return safety.Append
	}
	return safety.Overwrite
}

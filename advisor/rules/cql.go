package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// CQL is the SELECT by which the table of a trace answers its query, as far as Trace.Left leaves it to the table: with the columns
// that the client needs for the rest. It is sorted as rows lie.
func (t *Trace) CQL(keyspace string) string {
	q, table := t.Query, t.Table
	asked := slices.Clone(q.Select)
	for _, a := range q.Aggregates {
		if !a.Field.IsZero() {
			asked = model.AppendNew(asked, a.Field)
		}
	}
	asked = model.AppendNew(asked, q.GroupBy...)
	var where []string
	for _, p := range q.Where {
		name := model.Quote(table.ColumnName(p.Field))
		switch {
		case p.Op == workload.Equal:
			where = append(where, name+" = ?")
		case p.Op == workload.In:
			where = append(where, name+" IN ?")
		case ranged(p.Op) && len(table.Clustering) > 0 && table.Clustering[0] == p.Field:
			op := string(p.Op)
			if p.Op == workload.Like { // a prefix: from it on; the end is the client's to bind
				op = ">="
			}
			where = append(where, fmt.Sprintf("%s %s ?", name, op))
			if p.Op == workload.Like {
				where = append(where, name+" < ?")
			}
		default:
			asked = model.AppendNew(asked, p.Field)
		}
	}
	if table.Bucket != nil {
		where = append([]string{table.BucketColumn() + " = ?"}, where...)
	}
	asked = model.AppendNew(asked, q.Ordered()...)
	columns := make([]string, len(asked))
	for i, f := range asked {
		columns[i] = model.Quote(table.ColumnName(f))
	}
	if len(columns) == 0 { // count(*)
		columns = []string{"count(*)"}
	}
	name := model.Quote(t.Name)
	if keyspace != "" {
		name = model.Quote(keyspace) + "." + name
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + name
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if q.Limit > 0 && len(t.Left) == 0 {
		text += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	return text
}

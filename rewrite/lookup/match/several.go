package match

import (
	"github.com/helenus-db/helenus/capture/cql"
)

// several compiles Fetch for the rows of several partitions at once, "" where it is not to be: it can name partitions by one column
// only, and Cassandra refuses IN on the partition key together with an index. Where * stands for the columns it is not known yet
// which they are.
func (l *LookUp) several(fetch *cql.Select) string {
	if l.Partition != 1 || len(fetch.Columns) == 0 || len(l.Base.Indexes) > 0 {
		return ""
	}
	s := *fetch
	partition := l.Key[0].Name
	s.Columns = append(append([]cql.Selector(nil), s.Columns...), cql.Selector{Expr: &cql.ColumnRef{Name: partition}})
	s.Where = append([]cql.Relation(nil), s.Where...)
	for i := range s.Where {
		if w := &s.Where[i]; len(w.Columns) == 1 && w.Columns[0] == partition {
			w.Op = cql.OpIn
		}
	}
	text, _ := anonymous(&s, nil)
	return text
}

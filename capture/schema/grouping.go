package schema

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// aggregates are Cassandra's own; users' are not known here.
var aggregates = map[string]bool{"count": true, "min": true, "max": true, "sum": true, "avg": true}

// grouped says why a SELECT is refused for DISTINCT, GROUP BY, an aggregate, or for what it selects; "" if it is not. keyRange: it does not name its
// partitions.
func (r *restrictions) grouped(s *cql.Select, keyRange bool) string {
	requested := projection(s.Columns)
	var static, other bool // columns are requested
	for _, name := range requested {
		switch c := r.table.Column(name); {
		case c == nil:
			return "no such column"
		case c.Kind == Static:
			static = true
		case c.Kind != PartitionKey:
			other = true
		}
	}
	if static && !other && len(r.clustering) > 0 {
		return "clustering columns may not be restricted where only static columns are selected"
	}
	if reason := r.groups(s); reason != "" {
		return reason
	}
	if s.PerPartitionLimit != nil && (s.Distinct || len(s.GroupBy) == 0 && aggregated(s)) {
		return "PER PARTITION LIMIT does not go with DISTINCT and aggregates"
	}
	if s.Distinct {
		return r.distinct(s, requested, other, keyRange)
	}
	return ""
}

// aggregated reports whether something that is selected is an aggregate.
func aggregated(s *cql.Select) bool {
	found := false
	for _, c := range s.Columns {
		cql.WalkTerm(c.Expr, func(t cql.Term) bool {
			f, ok := t.(*cql.FunctionCall)
			found = found || ok && aggregates[strings.ToLower(f.Name)]
			return true
		})
	}
	return found
}

// distinct says why DISTINCT is refused: it is for whole partitions.
func (r *restrictions) distinct(s *cql.Select, requested []string, other, keyRange bool) string {
	if len(s.Columns) == 0 { // *
		for _, c := range r.table.Columns {
			other = other || c.Kind == Clustering || c.Kind == Regular
			requested = append(requested, c.Name)
		}
	}
	if len(r.clustering) > 0 || slices.ContainsFunc(r.others, func(x restriction) bool { return x.columns[0].Kind != Static }) {
		return "DISTINCT goes with restrictions of the partition key and static columns only"
	}
	if other {
		return "DISTINCT is for the partition key and static columns"
	}
	for _, c := range r.table.PartitionKey() {
		if keyRange && !slices.Contains(requested, c.Name) {
			return "DISTINCT needs the whole partition key"
		}
	}
	return ""
}

// groups says why GROUP BY is refused: it names the primary key from its begin, but for columns that are given by =, and the partition key whole.
func (r *restrictions) groups(s *cql.Select) string {
	if len(s.GroupBy) == 0 {
		return ""
	}
	key := r.table.PrimaryKey()
	next := 0
	for i, g := range s.GroupBy {
		name := ""
		switch x := g.(type) {
		case *cql.ColumnRef:
			name = x.Name
		case *cql.FunctionCall:
			if i < len(s.GroupBy)-1 {
				return "a function may only stand at the end of GROUP BY"
			}
			if columns := refs(x); len(columns) == 1 {
				name = columns[0]
			}
		}
		if c := r.table.Column(name); c == nil || c.Kind != PartitionKey && c.Kind != Clustering {
			return "GROUP BY is for columns of the primary key"
		}
		for ; next < len(key) && key[next].Name != name; next++ {
			if !r.given(key[next].Name) {
				return "GROUP BY follows the order of the primary key"
			}
		}
		if next == len(key) {
			return "GROUP BY follows the order of the primary key"
		}
		next++
	}
	if next < len(key) && key[next].Kind == PartitionKey {
		return "GROUP BY needs the whole partition key"
	}
	if s.Distinct && next > len(r.table.PartitionKey()) {
		return "GROUP BY of clustering columns does not go with DISTINCT"
	}
	return ""
}

// given reports whether a column of the primary key is given by =.
func (r *restrictions) given(column string) bool {
	for _, list := range [...][]restriction{r.partition, r.clustering} {
		for i := range list {
			if list[i].equal && !list[i].relations[0].Token && slices.ContainsFunc(list[i].columns, func(c *Column) bool { return c.Name == column }) {
				return true
			}
		}
	}
	return false
}

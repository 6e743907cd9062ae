package rules

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Reason is what a mapping rule has to do with the primary key of a table.
type Reason struct {
	Rule   string   `json:"rule"`
	Fields []string `json:"fields"`
}

// Explain says which mapping rules the primary key of a table follows for the queries that read it: by which each of its parts is
// there. What no rule asks for is left out.
func Explain(t *model.Table, queries ...*workload.Query) []Reason {
	given := map[string][]string{}
	add := func(rule string, f model.Field) { given[rule] = append(given[rule], f.String()) }
	for _, f := range t.Key() {
		switch {
		case slices.Contains(t.Partition, f):
			add("MR2", f)
		case asks(queries, f, func(op workload.Op) bool { return op == workload.Equal || op == workload.In }):
			add("MR2", f)
		case asks(queries, f, ranged):
			add("MR3", f)
		case slices.ContainsFunc(queries, func(q *workload.Query) bool { return about(q.Ordered(), f) }):
			add("MR4", f)
		case f.IsKey():
			add("MR5", f)
		}
	}
	var out []Reason
	for _, m := range Mappings {
		if fields := given[m.ID]; len(fields) > 0 {
			out = append(out, Reason{m.ID, fields})
		}
	}
	return out
}

// asks tells whether a query has such a condition on a field.
func asks(queries []*workload.Query, f model.Field, such func(workload.Op) bool) bool {
	return slices.ContainsFunc(queries, func(q *workload.Query) bool {
		return slices.ContainsFunc(q.Where, func(p workload.Predicate) bool { return such(p.Op) && same(p.Field, f) })
	})
}

func about(fields []model.Field, f model.Field) bool {
	return slices.ContainsFunc(fields, func(x model.Field) bool { return same(x, f) })
}

// same tells whether two fields are of one attribute, whatever the occurrences of their entity.
func same(a, b model.Field) bool {
	return a.Attribute == b.Attribute && a.Entity.Base() == b.Entity.Base()
}

// Reasons writes reasons in a line: MR2 Hotel.city; MR5 Hotel.hotel_id.
func Reasons(list []Reason) string {
	parts := make([]string, len(list))
	for i, r := range list {
		parts[i] = r.Rule + " " + strings.Join(r.Fields, ", ")
	}
	return strings.Join(parts, "; ")
}

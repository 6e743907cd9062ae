package options

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Query is a read query as the method sees it: what it selects, and by what it filters. Join criteria are filter fields, too;
// since a join makes two fields equal, they are one field here, that of which the other is a copy.
type Query struct {
	ID       string
	Weight   float64
	Tree     model.Tree
	Selected []model.Field
	Filters  []model.Field
	Variants []*Table

	number         int
	selected, all  set
	filter, ranges set // ranges: filters that are no equalities
}

// Remark is something that a person should know, about one statement or, with ID empty, about all.
type Remark struct {
	ID   string `json:"statement,omitempty"`
	Text string `json:"text"`
}

// String is the remark with its statement before it.
func (r Remark) String() string {
	if r.ID == "" {
		return r.Text
	}
	return r.ID + ": " + r.Text
}

// readStatements takes the queries that the method supports, and names the others (B-5, B-6).
func (f *finder) readStatements() {
	var reads, writes float64
	for _, s := range f.work.Statements {
		if s.IsWrite() {
			writes += s.Weight
			f.writes = append(f.writes, s)
			if len(s.Write.Increments) > 0 {
				f.addRemark(s.ID, "it adds to a field: an aggregate, which the method leaves to counters; it is taken for an UPDATE")
			}
			continue
		}
		reads += s.Weight
		if reason := Unsupported(s.Query); reason != "" {
			f.report.Unsupported = append(f.report.Unsupported, Remark{s.ID, reason})
			continue
		}
		f.addQuery(s)
	}
	if writes > reads {
		f.addRemark("", fmt.Sprintf("the workload is write-heavy (%.4g writes to %.4g reads): the method only makes reads fast; let a method that counts writes decide, such as helenus design", writes, reads))
	}
	for _, q := range f.report.Queries { // after all filters, so that keys are written in the order of the conditions
		q.selected = f.set(q.Selected...)
		q.all = q.filter.or(q.selected)
		f.remarkOnJoins(q)
	}
}

// Supported is the part of a workload that options are made for, without the tables that are there.
func Supported(w *workload.Workload) *workload.Workload {
	fresh := *w
	fresh.Tables = nil
	fresh.Statements = slices.DeleteFunc(slices.Clone(w.Statements), func(s *workload.Statement) bool {
		return s.Query != nil && Unsupported(s.Query) != "" || !s.PartOf(w.Mix)
	})
	return &fresh
}

// Unsupported says why the method can not take a query, "" if it can.
func Unsupported(q *workload.Query) string {
	switch {
	case len(q.Aggregates) > 0 || len(q.GroupBy) > 0:
		return "aggregates are not supported: keep counters, or compute it in the application"
	case q.PerLimit > 0:
		return "LIMIT ... PER is not supported: run one query for each group"
	}
	for _, p := range q.Where {
		if p.Op != workload.NotEqual {
			return ""
		}
	}
	return "a query without a condition that a key or an index could serve reads a whole table: no variant answers it by one look-up"
}

func (f *finder) addQuery(s *workload.Statement) {
	q := &Query{ID: s.ID, Weight: s.Weight, Tree: s.Query.Tree, number: min(len(f.report.Queries), maxFields)} // more are refused
	selected := canonicalAll(q.Tree, s.Query.Select)
	for _, p := range s.Query.Where {
		field := canonical(q.Tree, p.Field)
		switch p.Op {
		case workload.NotEqual:
			f.addRemark(s.ID, fmt.Sprintf("%s != ? is checked by the reader: the field becomes a selected one", field))
			selected = append(selected, field)
			continue
		case workload.Equal, workload.In:
		default:
			q.ranges = q.ranges.or(f.set(field))
		}
		q.Filters = model.AppendNew(q.Filters, field)
	}
	if len(s.Query.OrderBy) > 0 {
		f.addRemark(s.ID, "ORDER BY is not part of the method: its fields are stored, the application sorts, or the table's clustering order is chosen so")
		selected = append(selected, canonicalAll(q.Tree, s.Query.Ordered())...)
	}
	if s.Query.Distinct {
		f.addRemark(s.ID, "DISTINCT is left to the reader")
	}
	q.Selected = model.AppendNew(nil, selected...)
	q.filter = f.set(q.Filters...)
	switch {
	case !q.ranges.empty() && q.ranges == q.filter:
		f.addRemark(s.ID, "the method takes every operator for supported; Cassandra compares ranges in clustering columns and indexes only, so the row key of this query, which has ranges alone, is behind a bucket: one partition of all rows (MR3)")
	case !q.ranges.empty():
		f.addRemark(s.ID, "the method takes every operator for supported; Cassandra compares ranges in clustering columns and indexes only, so a row key of ranges alone is left out")
	}
	f.report.Queries = append(f.report.Queries, q)
}

// remarkOnJoins remarks on relationships that a query joins.
func (f *finder) remarkOnJoins(q *Query) {
	for _, r := range q.Tree.Edges {
		if r.Kind == model.ManyToMany {
			f.addRemark(q.ID, fmt.Sprintf("it joins %s, a relationship of many to many: two tables with a collection each (a set of keys in %s, or in %s) may take less room than the joined table", r.Name, r.From.Name, r.To.Name))
		}
	}
}

func (f *finder) addRemark(id, text string) {
	f.report.Remarks = append(f.report.Remarks, Remark{id, text})
}

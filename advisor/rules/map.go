package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Step is what one mapping rule did.
type Step struct {
	Rule   string // MR1 to MR5
	Adds   []string
	Reason string
	Table  string // [partition][clustering][values] after it
}

// Trace is how a query became a table.
type Trace struct {
	Query  *workload.Query
	Steps  []Step
	Table  *model.Table
	Name   string // of the table
	Match  Match
	Access Access   // of the query over the table
	Left   []string // what the client has to do, and what the method does not support
}

// UnsupportedError tells of a query that no table can be made of.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string {
	return "the mapping rules have no table for it: " + e.Reason
}

// mapper holds a table in the making.
type mapper struct {
	q     *workload.Query
	t     *model.Table
	trace *Trace
	equal []model.Field
}

// Map applies MR1 to MR5 to a query. The error is an *UnsupportedError.
func Map(q *workload.Query) (*Trace, error) {
	m := &mapper{q: q, t: &model.Table{Tree: q.Tree, Types: map[model.Field]string{}}, trace: &Trace{Query: q, Access: Partition}}
	if len(q.Where) == 0 {
		m.left("it has no condition: every partition is read")
		m.trace.Access = TableScan
	}
	m.entities()
	m.equality()
	m.inequality()
	m.ordering()
	if err := m.key(); err != nil {
		return nil, err
	}
	m.t.Static = Statics(m.t)
	if len(m.t.Static) > 0 {
		last := &m.trace.Steps[len(m.trace.Steps)-1]
		last.Reason += fmt.Sprintf("; the partition key determines %s: static", list(m.t.Static))
		last.Table = m.t.String()
	}
	if err := m.t.Validate(); err != nil {
		return nil, &UnsupportedError{err.Error()}
	}
	m.others()
	m.trace.Table, m.trace.Name = m.t, Name(m.t, m.searched())
	m.t.Name = m.trace.Name
	m.trace.Match = MatchQuery(q, m.t)
	return m.trace, nil
}

func (m *mapper) left(format string, args ...any) {
	m.trace.Left = append(m.trace.Left, fmt.Sprintf(format, args...))
}

// step notes what a rule did.
func (m *mapper) step(rule string, adds []model.Field, format string, args ...any) {
	s := Step{Rule: rule, Adds: []string{}, Reason: fmt.Sprintf(format, args...), Table: m.t.String()}
	for _, f := range adds {
		s.Adds = append(s.Adds, f.String())
	}
	m.trace.Steps = append(m.trace.Steps, s)
}

// entities is MR1.
func (m *mapper) entities() {
	var asked []model.Field
	asked = model.AppendNew(asked, m.q.Select...)
	for _, a := range m.q.Aggregates {
		if !a.Field.IsZero() {
			asked = model.AppendNew(asked, a.Field)
		}
	}
	asked = model.AppendNew(asked, m.q.GroupBy...)
	asked = model.AppendNew(asked, m.q.Per...)
	for _, p := range m.q.Where {
		asked = model.AppendNew(asked, p.Field)
	}
	asked = model.AppendNew(asked, m.q.Ordered()...)
	m.t.Values = asked
	what := "entity " + m.q.Tree.Entities[0].Name
	if n := len(m.q.Tree.Edges); n > 0 {
		what = "relationship " + m.q.Tree.Path()
		if n > 1 {
			what = "relationships " + m.q.Tree.Path()
		}
	}
	m.step("MR1", asked, "%s: a row for each instance, a column for each attribute asked for", what)
}

// equality is MR2.
func (m *mapper) equality() {
	for _, p := range m.q.Where {
		if p.Op != workload.Equal && p.Op != workload.In {
			continue
		}
		m.equal = model.AppendNew(m.equal, p.Field)
		if p.Op == workload.In {
			m.trace.Access = Partitions
		}
		if element, ok := Element(p.Field.Attribute.Type); ok {
			m.t.Types[p.Field] = element
			m.left("%s has several values: a row is stored for each", p.Field)
		}
	}
	m.toKey(&m.t.Partition, m.equal)
	if len(m.equal) == 0 {
		m.step("MR2", nil, "nothing is compared for equality")
		return
	}
	m.step("MR2", m.equal, "compared for equality: the front of the primary key, and all of it must be known to find a partition")
}

// toKey moves fields from the values into a part of the key.
func (m *mapper) toKey(part *[]model.Field, fields []model.Field) {
	*part = model.AppendNew(*part, fields...)
	m.t.Values = slices.DeleteFunc(slices.Clone(m.t.Values), func(f model.Field) bool { return slices.Contains(fields, f) })
}

// ranged tells whether a comparison is one by order.
func ranged(op workload.Op) bool {
	switch op {
	case workload.Less, workload.LessOrEqual, workload.Greater, workload.GreaterOrEqual, workload.Like:
		return true
	}
	return false
}

// inequality is MR3.
func (m *mapper) inequality() {
	var all []model.Field
	for _, p := range m.q.Where {
		if ranged(p.Op) && !m.t.InKey(p.Field) {
			all = model.AppendNew(all, p.Field)
		}
	}
	if len(all) == 0 {
		m.step("MR3", nil, "nothing is compared by order")
		return
	}
	chosen := all[0]
	for _, o := range m.q.OrderBy { // a range on what sorts leaves the order as it is
		if slices.Contains(all, o.Field) {
			chosen = o.Field
			break
		}
	}
	for _, f := range all {
		if f != chosen {
			m.left("%s is compared by order, too, and one clustering column can be: the client compares it", f)
		}
	}
	m.toKey(&m.t.Clustering, []model.Field{chosen})
	why := "compared by order: a clustering column after all that is compared for equality"
	if len(m.t.Partition) == 0 {
		m.bucket(chosen)
		why += "; there is nothing to name a partition by, so a bucket is made up"
	}
	m.step("MR3", []model.Field{chosen}, "%s", why)
}

// Bounds of partitions.
const (
	MostPartition = 100e6   // bytes
	MostRows      = 100_000 // rows
	FewRows       = 1000    // up to which a table may be one partition
)

// assumedSpan is over how many seconds times are taken to spread: nothing is known about it.
const assumedSpan = 365 * 24 * 3600.

// bucket makes a partition key up for a table without one: one bucket, or as many as keep partitions small, of time if rows
// are compared by it, so that a range reads few.
func (m *mapper) bucket(by model.Field) {
	whole := *m.t
	whole.Bucket = &model.Bucket{Count: 1}
	rows := m.q.Tree.Rows()
	count := math.Ceil(max(whole.Bytes()/MostPartition, rows/MostRows))
	if rows > FewRows {
		count = max(2, count)
	}
	switch {
	case count <= 1:
	case by.Attribute.Type == "timestamp" || by.Attribute.Type == "date":
		whole.Bucket = &model.Bucket{Of: by, Width: math.Ceil(assumedSpan / count), Count: count}
	default:
		roots := identity(m.q.Tree, nil)
		whole.Bucket = &model.Bucket{Of: roots[0].KeyFields()[0], Count: count}
	}
	m.t.Bucket = whole.Bucket
	if count > 1 {
		m.trace.Access = Partitions
		m.left("the answer comes from up to %g buckets: the client asks each, and merges", count)
	}
}

// ordering is MR4.
func (m *mapper) ordering() {
	var adds []model.Field
	ranges := slices.Clone(m.t.Clustering)
	sorted := true // the clustering columns so far are those that the answer is sorted by
	for i, o := range m.q.OrderBy {
		if slices.Contains(m.t.Partition, o.Field) {
			continue // the same in all rows, but for IN
		}
		if i == 0 && len(ranges) == 1 && ranges[0] != o.Field {
			sorted = false
		}
		if !slices.Contains(m.t.Clustering, o.Field) {
			adds = append(adds, o.Field)
			m.toKey(&m.t.Clustering, []model.Field{o.Field})
		}
		if o.Desc {
			m.t.Desc = append(m.t.Desc, o.Field)
		}
	}
	switch {
	case len(m.q.OrderBy) == 0:
		m.step("MR4", nil, "the answer is not sorted")
		return
	case !sorted:
		m.left("rows lie by %s first, since a range is asked of it: the client sorts by %s", ranges[0], list(m.q.Ordered()))
	case m.trace.Access == Partitions:
		m.left("each partition is sorted: the client merges the answers of several")
	}
	m.step("MR4", adds, "the answer is sorted by it: rows lie in that order")
}

// key is MR5.
func (m *mapper) key() error {
	roots := identity(m.q.Tree, m.t.Key())
	var names []string
	var adds []model.Field
	for _, e := range roots {
		names = append(names, e.Name)
		for _, f := range e.KeyFields() {
			if !m.has(f) {
				adds = append(adds, f)
				m.toKey(&m.t.Clustering, []model.Field{f})
			}
		}
	}
	if len(m.t.Partition) == 0 && m.t.Bucket == nil { // without condition: rows are spread by their key
		first := roots[0].KeyFields()
		m.t.Clustering = slices.DeleteFunc(m.t.Clustering, func(f model.Field) bool { return slices.Contains(first, f) })
		m.t.Partition = first
		if len(m.q.OrderBy) > 0 {
			m.left("the answer is sorted by %s, and rows of all partitions are not: the client sorts", list(m.q.Ordered()))
		}
	}
	m.t.Desc = slices.DeleteFunc(m.t.Desc, func(f model.Field) bool { return !slices.Contains(m.t.Clustering, f) })
	if len(m.t.Key()) == 0 && m.t.Bucket == nil {
		return &UnsupportedError{"its entities have no key"}
	}
	why := fmt.Sprintf("the key of %s, which a row stands for, is part of the primary key", strings.Join(names, " and "))
	if len(adds) > 0 {
		why = fmt.Sprintf("the key of %s, which a row stands for: without it rows would overwrite each other", strings.Join(names, " and "))
	}
	m.step("MR5", adds, "%s", why)
	return nil
}

// has tells whether the key has a field, or what it is a copy of.
func (m *mapper) has(f model.Field) bool {
	if m.t.InKey(f) {
		return true
	}
	c := f.Attribute.Copied
	if c == nil {
		return false
	}
	for _, r := range m.q.Tree.Edges {
		if owner := r.Other(f.Entity); owner != nil && r.Base() == c.Edge && m.t.InKey(model.Field{Entity: owner, Attribute: c.Of}) {
			return true
		}
	}
	return false
}

// others names what the query asks besides, which no rule speaks of.
func (m *mapper) others() {
	for _, p := range m.q.Where {
		if p.Op == workload.NotEqual {
			m.left("%s is compared by !=: the client leaves rows out", p.Field)
		}
	}
	if len(m.q.Aggregates) > 0 || len(m.q.GroupBy) > 0 {
		m.left("it groups: the rules make a table of the rows, and the groups are made of these")
	}
	if m.q.Distinct {
		m.left("it asks for different rows only: rows of the table may be the same in what is asked for")
	}
	if m.q.PerLimit > 0 {
		m.left("LIMIT PER is left to the client")
	}
}

// searched returns what the query asks by, equalities first, in its order.
func (m *mapper) searched() []model.Field {
	out := slices.Clone(m.equal)
	for _, p := range m.q.Where {
		if p.Op != workload.NotEqual {
			out = model.AppendNew(out, p.Field)
		}
	}
	return out
}

// identity returns the entities that rows of the join over a tree stand for: the fewest that determine all others. Of two in
// 1:1 it is that of which the key has more already, else the first.
func identity(tree model.Tree, key []model.Field) []*model.Entity {
	known := func(e *model.Entity) int {
		n := 0
		for _, f := range e.KeyFields() {
			if slices.Contains(key, f) {
				n++
			}
		}
		return n
	}
	all := slices.Clone(tree.Entities)
	slices.SortStableFunc(all, func(a, b *model.Entity) int {
		if n := len(tree.Determined(b).Entities) - len(tree.Determined(a).Entities); n != 0 {
			return n
		}
		return known(b) - known(a)
	})
	covered := map[*model.Entity]bool{}
	var roots []*model.Entity
	for _, e := range all {
		if covered[e] {
			continue
		}
		roots = append(roots, e)
		for _, d := range tree.Determined(e).Entities {
			covered[d] = true
		}
	}
	// An entity may have been taken that later ones determine: leave out what the rest determines without it.
	for i := len(roots) - 1; i >= 0; i-- {
		rest := slices.Delete(slices.Clone(roots), i, i+1)
		if slices.ContainsFunc(rest, func(x *model.Entity) bool { return tree.Determined(x).Has(roots[i]) }) {
			roots = rest
		}
	}
	slices.SortStableFunc(roots, func(a, b *model.Entity) int { return slices.Index(tree.Entities, a) - slices.Index(tree.Entities, b) })
	return roots
}

// Identity returns the entities that a row of a table stands for: their keys must be in its primary key (MR5).
func Identity(t *model.Table) []*model.Entity { return identity(t.Tree, t.Key()) }

// Element returns the type of the elements of a set or list. A frozen one is a single value.
func Element(cqlType string) (string, bool) {
	for _, collection := range []string{"set<", "list<"} {
		if inner, ok := strings.CutPrefix(cqlType, collection); ok {
			return strings.TrimSuffix(inner, ">"), true
		}
	}
	return "", false
}

// list writes fields.
func list(fields []model.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.String()
	}
	return strings.Join(names, ", ")
}

package plan

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Kind says what a step does.
type Kind string

// The kinds of steps. Those up to Scan are reads of a table.
const (
	Get      Kind = "get"       // one or more partitions, by the whole partition key, with conditions on clustering columns
	IndexGet Kind = "index get" // by a secondary index, from every node
	Scan     Kind = "scan"      // of all rows, on every node, with ALLOW FILTERING
	Filter   Kind = "filter"    // in the client
	Sort     Kind = "sort"      // in the client
	Limit    Kind = "limit"     // in the client
	// Unnest makes rows of collections, in the client: of each row that the step before has read one for each element, with
	// those of its fields; of several collections one for each combination; of a row with an empty one none.
	Unnest Kind = "unnest"
	// Group makes one row of each group, with aggregates, in the order in which groups are met; of no rows at all one, if
	// there is nothing to group by. Distinct keeps the first of rows that are the same in Fields (and in aggregates),
	// LimitEach the first Limit of rows that are. All of them are done by the client.
	Group     Kind = "group"
	Distinct  Kind = "distinct"
	LimitEach Kind = "limit each"
	Put       Kind = "put"
	Remove    Kind = "delete"
)

// Binding gives a column the value of a parameter of the statement, or of a field that an earlier step has read. A column
// may have two, a lower and an upper bound. IN on a column of the partition key is one get for each value; LIKE on a
// clustering column is the range of texts with that prefix.
type Binding struct {
	Field model.Field // of the query; Step.As says which column of the table holds it
	Op    workload.Op
	// Value is the parameter ("?", "?name" or a literal); empty if the value is the same field of an earlier step's
	// rows, once for each distinct combination.
	Value string
}

// Step is one operation of a plan.
type Step struct {
	Kind  Kind
	Table *model.Table // reads, puts and deletes
	// As says which entity of the query each entity of the table is; nil: they are the same.
	As *Embedding
	// Partition binds the partition key; Clustering a prefix of the clustering columns (equalities, then a range); Where
	// what the server filters by (IndexGet and Scan), or the client (Filter). An IndexGet with Partition asks that
	// partition only.
	Partition  []Binding
	Clustering []Binding
	Where      []Binding
	Bucket     []Binding        // of a table with buckets: what tells which to read; none: all of them
	Reverse    bool             // partitions are read in the reverse of the clustering order
	Fields     []model.Field    // read, written, sorted or limited by
	Order      []workload.Order // Sort
	// Group and Aggregates are what Group makes, or the server, where a read is Grouped.
	Group      []model.Field
	Aggregates []workload.Aggregate
	Grouped    bool
	// Nests are the collections that a read returns with its rows, for the Unnest that follows, which has them too. A Put or
	// Remove with one (never more) is of its elements: Fields are the row's key, the element's, and what it holds.
	Nests []*model.Nest
	// Limit is how many rows are kept: by Limit of all, by LimitEach of each of its groups, by the server of each
	// request (of groups, if it is Grouped). PerPartition is how many a Scan keeps of each partition. 0: all.
	Limit, PerPartition int
	// Verify: the rows are read to check what a look-up table said; rows that do not satisfy Where any longer are
	// dropped.
	Verify bool

	// Estimates, for one execution of the statement.
	Requests float64 // gets, puts or deletes sent
	Rows     float64 // rows they return or write, in all
	Scanned  float64 // rows that the servers read in order to find them, if more; of Unnest: entries of the sets and maps that hold the elements
	Bytes    float64 // that the rows carry
	Left     float64 // rows after the step
}

// Plan answers a query.
type Plan struct {
	Query *workload.Query
	Steps []Step
}

// WritePlan keeps one table true under a write: support queries first, then deletes and puts.
type WritePlan struct {
	Write   *workload.Write
	Table   *model.Table
	Support []*Plan
	Steps   []Step
}

// Tables returns the tables that the plan reads, each once, in order.
func (p *Plan) Tables() []*model.Table {
	var tables []*model.Table
	for i := range p.Steps {
		if t := p.Steps[i].Table; t != nil && !hasTable(tables, t) {
			tables = append(tables, t)
		}
	}
	return tables
}

func hasTable(tables []*model.Table, t *model.Table) bool {
	for _, x := range tables {
		if x == t {
			return true
		}
	}
	return false
}

// String writes the steps, one a line.
func (p *Plan) String() string {
	lines := make([]string, len(p.Steps))
	for i := range p.Steps {
		lines[i] = fmt.Sprintf("%d. %s", i+1, p.Steps[i].String())
	}
	return strings.Join(lines, "\n")
}

// String says what the step does, in a line.
func (s *Step) String() string { return s.Text(tableTitle) }

// Text is String with names for tables.
func (s *Step) Text(name func(*model.Table) string) string {
	var b strings.Builder
	switch s.Kind {
	case Filter:
		return "filter by " + s.bindingsText(s.Where)
	case Sort:
		return "sort by " + s.orderText()
	case Limit:
		return fmt.Sprintf("keep the first %d", s.Limit)
	case LimitEach:
		return fmt.Sprintf("keep the first %d of each %s", s.Limit, fieldList(s.Fields))
	case Distinct:
		return "keep one of each " + fieldList(s.Fields)
	case Group:
		return s.groupingText()
	case Unnest:
		return fmt.Sprintf("make a row of each element of %s (%s)", s.elementNames(), amountText(s.Left, "row"))
	case Put, Remove:
		if len(s.Nests) > 0 {
			verb, preposition := "put", "into"
			if s.Kind == Remove {
				verb, preposition = "delete", "from"
			}
			return fmt.Sprintf("%s %s %s the %s of %s", verb, amountText(s.Rows, "element"), preposition, s.elementNames(), name(s.Table))
		}
	}
	switch s.Kind {
	case Put:
		return fmt.Sprintf("put %s into %s", amountText(s.Rows, "row"), name(s.Table))
	case Remove:
		return fmt.Sprintf("delete %s from %s", amountText(s.Rows, "row"), name(s.Table))
	case Get:
		fmt.Fprintf(&b, "get %s", name(s.Table))
		if by := s.bindingsText(append(append([]Binding(nil), s.Partition...), s.Clustering...)); by != "" {
			b.WriteString(" by " + by)
		}
	case IndexGet:
		fmt.Fprintf(&b, "read %s by its secondary index on %s", name(s.Table), s.bindingsText(s.Where))
		if len(s.Partition) > 0 {
			b.WriteString(", in the partition of " + s.bindingsText(s.Partition))
		}
	case Scan:
		fmt.Fprintf(&b, "scan %s", name(s.Table))
		if len(s.Where) > 0 {
			b.WriteString(", filtering by " + s.bindingsText(s.Where))
		}
	}
	if s.Kind == Get && s.Table.Bucket != nil && s.Table.Bucket.Count > 1 {
		if len(s.Bucket) > 0 {
			b.WriteString(", in the buckets of " + s.bindingsText(s.Bucket))
		} else {
			fmt.Fprintf(&b, ", in all %.0f buckets", s.Table.Bucket.Count)
		}
	}
	if len(s.Nests) > 0 {
		b.WriteString(", with its " + s.elementNames())
	}
	if s.Reverse {
		b.WriteString(", in reverse")
	}
	if s.Verify {
		fmt.Fprintf(&b, ", check %s", s.bindingsText(s.Where))
	}
	if s.Grouped {
		b.WriteString(", " + s.groupingText())
	}
	if s.Limit > 0 {
		fmt.Fprintf(&b, ", first %d", s.Limit)
	}
	if s.PerPartition > 0 {
		fmt.Fprintf(&b, ", first %d of each partition", s.PerPartition)
	}
	fmt.Fprintf(&b, " (%s, %s", amountText(s.Requests, "request"), amountText(s.Rows, "row"))
	if s.Scanned > s.Rows {
		fmt.Fprintf(&b, ", %.0f scanned", s.Scanned)
	}
	b.WriteString(")")
	return b.String()
}

// called is what the table of a step calls a field: the column, where the table says how its columns are called, else the attribute.
func (s *Step) called(f model.Field) string {
	if s.Table != nil {
		for _, own := range []model.Field{f, s.As.Column(f)} {
			if column, ok := s.Table.Columns[own]; ok {
				return column
			}
		}
	}
	return f.Attribute.Name
}

// columnFields returns the fields of a step as its table has them.
func (s *Step) columnFields() []model.Field {
	list := make([]model.Field, len(s.Fields))
	for i, f := range s.Fields {
		list[i] = s.As.Column(f)
	}
	return list
}

// elementNames names the collections of a step.
func (s *Step) elementNames() string {
	names := make([]string, len(s.Nests))
	for i, n := range s.Nests {
		names[i] = n.Edge.Role(s.Table.Owner(n))
	}
	return strings.Join(names, " and ")
}

// orderText writes what is sorted by.
func (s *Step) orderText() string {
	parts := make([]string, len(s.Order))
	for i, o := range s.Order {
		if parts[i] = o.Field.Attribute.Name; o.Desc {
			parts[i] += " descending"
		}
	}
	return strings.Join(parts, ", ")
}

// groupingText writes what is grouped by, and the aggregates.
func (s *Step) groupingText() string {
	text := "group"
	if len(s.Group) > 0 {
		text += " by " + fieldList(s.Group)
	}
	for i, a := range s.Aggregates {
		name := "*"
		if !a.Field.IsZero() {
			name = a.Field.Attribute.Name
		}
		text += fmt.Sprintf("%s%s(%s)", []string{": ", ", "}[min(i, 1)], a.Func, name)
	}
	return text
}

func amountText(n float64, what string) string {
	text := fmt.Sprintf("%.1f", n)
	if n >= 10 || n == float64(int(n)) {
		text = fmt.Sprintf("%.0f", n)
	}
	if text == "1" {
		return "1 " + what
	}
	return text + " " + what + "s"
}

func tableTitle(t *model.Table) string {
	if t.Name != "" {
		return t.Name
	}
	return t.String()
}

func (s *Step) bindingsText(list []Binding) string {
	parts := make([]string, len(list))
	for i, b := range list {
		value := b.Value
		if value == "" {
			value = "each found"
		}
		parts[i] = fmt.Sprintf("%s %s %s", s.called(b.Field), b.Op, value)
	}
	return strings.Join(parts, ", ")
}

func fieldList(fields []model.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Attribute.Name
	}
	return strings.Join(names, ", ")
}

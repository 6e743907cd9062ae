package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// remake is a copy of a table in the making, for one SELECT: by the mapping rules, with the columns of the table for attributes and its whole
// primary key for what rows stand for. A key that was declared is never cut: what may seem to be the same in all rows of a
// value is so by what was seen, not by what is allowed.
type remake struct {
	t       *schema.Table
	s       *cql.Select
	equal   []string // compared for equality, or by a list
	element *trial.Element
	of      string // of an element
	ranged  string
	made    schema.Table
	bucket  *trial.Bucket
}

// remadeTable makes the table of one SELECT.
func (in *Input) remadeTable(f *Finding, t *schema.Table) (*Fix, error) {
	if t == nil || f.read == nil {
		return nil, fmt.Errorf("the table is not known")
	}
	if t.Counter {
		return nil, fmt.Errorf("%s counts: counters can not be copied to another table", t.Name)
	}
	m := &remake{t: t, s: f.read.Select}
	if err := m.sortConditions(); err != nil {
		return nil, err
	}
	if len(m.equal) == 0 && m.element == nil && m.ranged == "" {
		return nil, fmt.Errorf("it asks for all rows: only a condition, or another way to go over them (token ranges), would help")
	}
	fact := in.factOf(refOf(t))
	m.made = schema.Table{Keyspace: t.Keyspace, DefaultTTL: t.DefaultTTL}
	var by []string
	for _, name := range restrictedColumns(m.s) {
		by = append(by, model.Identifier(name))
	}
	m.made.Name = in.freeName(refOf(t), model.Identifier(t.Name), "_by_"+strings.Join(by, "_"))
	m.makeColumns()
	if err := m.checkComparable(); err != nil {
		return nil, err
	}
	few := m.addBucket(fact)
	if sameKey(&m.made, t) {
		return nil, fmt.Errorf("the table that the rules make of it has the primary key that %s has: (%s)", t.Name, joinNames(t.PrimaryKey()))
	}
	on := refOf(&m.made)
	made := *fact
	made.Statics, made.Bucketed, made.Partitions = nil, m.bucket != nil, 0
	if m.bucket != nil {
		made.Partitions = float64(m.bucket.Count) * max(1, few)
	}
	fix := &Fix{
		CQL: []string{createText(&m.made)}, Says: "Make the table, copy the rows, write to both, and read this one.",
		facts: map[Reference]*Fact{on: &made}, of: refOf(t), to: on, element: m.element, bucket: m.bucket,
	}
	way, err := m.newRead()
	if err != nil {
		return nil, err
	}
	fix.Statements, fix.question = []string{way.Select.String()}, f.questionWith(way.Select)
	fix.asks = []trial.Ask{{Old: withKeyspace(f.read.Select, f.read.Keyspace), New: way}}
	fix.Says += m.clientText(&way)
	c := &trial.Copy{Of: t, In: &m.made, Element: m.element, Bucket: m.bucket}
	if fresh := c.Fresh(); len(fresh) > 0 && len(in.writesOn(fix.of)) == 0 { // else each of them says what it takes
		fix.Says += fmt.Sprintf(" Where a statement changes %s of a row, or deletes it, delete the row with its former value: %s.", strings.Join(fresh, " or "), c.Removal())
	}
	if name := c.NeverEmpty(); name != "" {
		fix.Says += fmt.Sprintf(" Cassandra takes no empty partition key: rows whose %s is '' are not in the table; leave out what is said of these, and ask for '' as before.", name)
	}
	if m.bucket == nil && !slices.ContainsFunc(t.PartitionKey(), func(k schema.Column) bool { return slices.Contains(m.equal, k.Name) }) {
		fix.Says += fmt.Sprintf(" A partition holds all rows of one (%s): it grows with them, without bound; where a value has many rows, add a bucket to the partition key.", joinNames(m.made.PartitionKey()))
	}
	return fix, nil
}

// sortConditions sorts what the statement asks by. The error says what there is no table for.
func (m *remake) sortConditions() error {
	s := m.s
	if len(s.GroupBy) > 0 || s.Distinct || s.PerPartitionLimit != nil || s.JSON {
		return fmt.Errorf("it groups, or asks for so many of each partition: the rules have no table for that")
	}
	for _, x := range s.Columns {
		if _, ok := x.Expr.(*cql.ColumnRef); !ok && !isCount(s) {
			return fmt.Errorf("it selects more than columns: the rules have no table for that")
		}
	}
	for _, w := range s.Where {
		if w.Token || w.Element != nil || w.Tuple || len(w.Columns) != 1 {
			return fmt.Errorf("it has a condition that the rules do not know (%s)", strings.Join(w.Columns, ", "))
		}
		c := m.t.Column(w.Columns[0])
		if c == nil {
			return fmt.Errorf("table %s has no column %s", m.t.Name, w.Columns[0])
		}
		element, several := rules.Element(c.Type)
		switch {
		case several != (w.Op == cql.OpContains) || strings.HasPrefix(c.Type, "map<"):
			return fmt.Errorf("collection %s is compared as a whole, or by a key: the rules have no table for that", c.Name)
		case several && m.element != nil:
			return fmt.Errorf("it asks for elements of two collections: the rules have no table for that")
		case several:
			m.element = &trial.Element{Column: c.Name, As: m.freeColumn(c.Name + "_value")}
			m.of = element
		case w.Op == cql.OpEQ || w.Op == cql.OpIn:
			if l, ok := w.Value.(*cql.Literal); ok && l.Kind == cql.LiteralString && l.Text == "" {
				return fmt.Errorf("it asks for %s = '', and Cassandra takes no empty partition key", c.Name)
			}
			m.equal = appendNew(m.equal, c.Name)
		case w.Op == cql.OpLT || w.Op == cql.OpLE || w.Op == cql.OpGT || w.Op == cql.OpGE:
			if m.ranged != "" && m.ranged != c.Name {
				return fmt.Errorf("%s and %s are both compared by order, and rows lie by one of them", m.ranged, c.Name)
			}
			m.ranged = c.Name
		default:
			return fmt.Errorf("it has a condition that the rules do not know (%s %s)", c.Name, w.Op)
		}
	}
	return nil
}

// isCount reports whether a SELECT is of count(*).
func isCount(s *cql.Select) bool {
	if len(s.Columns) != 1 {
		return false
	}
	x, ok := s.Columns[0].Expr.(*cql.FunctionCall)
	return ok && x.Name == "count" && x.Star
}

// freeColumn is a name that no column has.
func (m *remake) freeColumn(name string) string {
	for m.t.Column(name) != nil {
		name += "_"
	}
	return name
}

func appendNew(list []string, more ...string) []string {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// makeColumns makes the columns: what is compared for equality is the partition key; then what is compared by order, what the answer is sorted
// by, and the rest of the table's own key in its order. Where the statement reads its rows backwards, all of them lie the other way round.
func (m *remake) makeColumns() {
	n := 0
	add := func(c schema.Column, kind schema.ColumnKind, descending bool) {
		if slices.ContainsFunc(m.made.Columns, func(x schema.Column) bool { return x.Name == c.Name }) {
			return
		}
		c.Kind, c.Descending, c.Position = kind, descending, -1
		if kind == schema.PartitionKey || kind == schema.Clustering {
			c.Position = n
			n++
		}
		m.made.Columns = append(m.made.Columns, c)
	}
	for _, name := range m.equal {
		add(*m.t.Column(name), schema.PartitionKey, false)
	}
	if m.element != nil {
		add(schema.Column{Name: m.element.As, Type: m.of}, schema.PartitionKey, false)
	}
	n = 0
	backwards := readsBackwards(m.s, m.t)
	order := func(name string) bool {
		for _, o := range m.s.OrderBy {
			if o.Column == name {
				return o.Descending
			}
		}
		return m.t.Column(name).Descending != backwards
	}
	if m.ranged != "" {
		add(*m.t.Column(m.ranged), schema.Clustering, order(m.ranged))
	}
	for _, o := range m.s.OrderBy {
		if c := m.t.Column(o.Column); c != nil {
			add(*c, schema.Clustering, o.Descending)
		}
	}
	for _, c := range append(m.t.ClusteringKey(), m.t.PartitionKey()...) {
		add(c, schema.Clustering, order(c.Name))
	}
	asked := map[string]bool{}
	for _, x := range m.s.Columns {
		if c, ok := x.Expr.(*cql.ColumnRef); ok {
			asked[c.Name] = true
		}
	}
	for _, c := range m.t.Columns {
		if len(m.s.Columns) == 0 || asked[c.Name] {
			add(c, schema.Regular, false)
		}
	}
	sortColumns(&m.made)
}

// checkComparable looks whether the table compares values as the statement does. A partition is found by the bytes of its key, what is clustered or
// filtered is compared by value, and an index may find more than equal values.
func (m *remake) checkComparable() error {
	for _, name := range restrictedColumns(m.s) {
		if more := m.t.FindsMore(name); more != "" {
			return fmt.Errorf("%s: a table would not", more)
		}
	}
	one := !slices.ContainsFunc(m.t.PartitionKey(), func(k schema.Column) bool { return !slices.Contains(m.equal, k.Name) })
	for _, k := range m.made.PrimaryKey() {
		was := m.t.Column(k.Name) // nil: an element
		if was != nil && was.Kind == k.Kind && (one || k.Kind == schema.Clustering) || schema.Findable(k.Type) {
			continue
		}
		return fmt.Errorf("%s is of type %s, of which Cassandra takes values of different bytes for equal (or which can not be in a key): as part of another key it is not found by what finds it now", k.Name, k.Type)
	}
	return nil
}

// readsBackwards reports whether a statement reads the rows of a partition from the last to the first.
func readsBackwards(s *cql.Select, t *schema.Table) bool {
	for _, o := range s.OrderBy {
		if c := t.Column(o.Column); c != nil && c.Kind == schema.Clustering { // also one that is the same in all rows: those after it are read backwards, too
			return c.Descending != o.Descending
		}
	}
	return false
}

// fewValues is how many values a partition key may have at the most to be taken for one that has few, whatever the table grows to.
const fewValues = 32

// addBucket adds a bucket to the partition key where there is none, where its values are few, or where partitions would be too large. It returns
// how many values there are, 0 if nobody knows.
func (m *remake) addBucket(fact *Fact) float64 {
	few := 1.0
	for _, c := range m.made.PartitionKey() {
		n := fact.Distinct[c.Name]
		if c.Type == "boolean" {
			n = 2
		}
		few *= n
	}
	rows := max(fact.Rows, 1) / max(few, 1)
	var count float64
	switch partition := m.made.PartitionKey(); {
	case len(partition) == 0:
		count = max(1, math.Ceil(max(rows*fact.RowBytes/rules.MostPartition, rows/rules.MostRows)))
		if rows > rules.FewRows {
			count = max(2, count)
		}
		few = 0
	case few == 0 || slices.ContainsFunc(m.t.PartitionKey(), func(k schema.Column) bool { return slices.Contains(m.equal, k.Name) }):
		return few
	case few <= fewValues && fact.Rows > rules.FewRows, few <= 2:
		count = max(16, math.Ceil(max(rows*fact.RowBytes/rules.MostPartition, rows/rules.MostRows)))
	default:
		if count = math.Ceil(max(rows*fact.RowBytes/rules.MostPartition, rows/rules.MostRows)); count <= 1 {
			return few
		}
	}
	var by []string
	for _, k := range m.t.PrimaryKey() {
		by = append(by, k.Name)
	}
	m.bucket = &trial.Bucket{Column: m.freeColumn(bucketColumn), Count: int(count), By: by}
	m.made.Columns = append(m.made.Columns, schema.Column{Name: m.bucket.Column, Type: "int", Kind: schema.PartitionKey, Position: len(m.made.PartitionKey())})
	sortColumns(&m.made)
	return few
}

// newRead is how the question is asked of the new table: with the same columns, conditions, order and limit.
func (m *remake) newRead() (trial.Way, error) {
	s := cql.Clone(m.s).(*cql.Select) //nolint:forcetypeassert // of its own kind
	s.Table, s.AllowFiltering = cql.TableRef{Keyspace: m.made.Keyspace, Table: m.made.Name}, false
	if len(s.Columns) == 0 {
		s.Columns = allColumns(m.t)
	}
	for i := range s.Where {
		if w := &s.Where[i]; w.Op == cql.OpContains {
			w.Op, w.Columns = cql.OpEQ, []string{m.element.As}
		}
	}
	s.OrderBy = slices.DeleteFunc(s.OrderBy, func(o cql.Ordering) bool {
		return slices.ContainsFunc(m.made.PartitionKey(), func(c schema.Column) bool { return c.Name == o.Column }) // the same in all rows
	})
	m.orderWhole(s)
	way := trial.Way{Select: s}
	if m.bucket != nil {
		if isCount(s) {
			return way, fmt.Errorf("it counts, and the rows of a value are in several partitions: the client would have to add up")
		}
		s.Where = append(s.Where, cql.Relation{Columns: []string{m.bucket.Column}, Op: cql.OpEQ, Value: &cql.Marker{}})
		way.Each, way.Buckets = m.bucket.Column, m.bucket.Count
		mergeInClient(&way, m.s, m.t)
	}
	var err error
	way.Select, err = parseSelect(s.String()) // its markers are counted anew
	return way, err
}

// orderWhole has a statement that is asked of several partitions order by all of the clustering key, as it says it is ordered at all: rows that are alike by what it names came in the order of the
// one partition that they were in, and Cassandra sorts those of several by what is named alone.
func (m *remake) orderWhole(s *cql.Select) {
	several := slices.ContainsFunc(s.Where, func(w cql.Relation) bool { return w.Op == cql.OpIn })
	key := m.made.ClusteringKey()
	if n := len(s.OrderBy); several && n > 0 && n < len(key) && key[n-1].Name == s.OrderBy[n-1].Column {
		for _, c := range key[n:] {
			s.OrderBy = append(s.OrderBy, cql.Ordering{Column: c.Name, Descending: c.Descending})
		}
	}
}

// mergeInClient has the client put answers of several statements together, as the one statement would have: sorted as its rows are, and cut.
func mergeInClient(way *trial.Way, s *cql.Select, t *schema.Table) {
	way.Order, way.Limit = slices.Clone(s.OrderBy), s.Limit
	if inOnePartition(s, t) { // also rows that are alike by what it names lie in order there
		backwards := readsBackwards(s, t)
		for _, c := range t.ClusteringKey() {
			if !slices.ContainsFunc(way.Order, func(o cql.Ordering) bool { return o.Column == c.Name }) {
				way.Order = append(way.Order, cql.Ordering{Column: c.Name, Descending: c.Descending != backwards})
			}
		}
	}
	for _, o := range way.Order {
		if !slices.ContainsFunc(way.Select.Columns, func(x cql.Selector) bool { c, ok := x.Expr.(*cql.ColumnRef); return ok && c.Name == o.Column }) {
			way.Select.Columns = append(way.Select.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: o.Column}})
		}
	}
}

// inOnePartition reports whether a statement is about one partition.
func inOnePartition(s *cql.Select, t *schema.Table) bool {
	by := restrictionsOf(s)
	return !slices.ContainsFunc(t.PartitionKey(), func(k schema.Column) bool { return by[k.Name] != equal })
}

// clientText says what a way leaves to the client.
func (m *remake) clientText(way *trial.Way) string {
	if m.bucket == nil {
		return ""
	}
	return fmt.Sprintf(" %s is a hash of (%s) modulo %d, which the writer computes: ask for each from 0 to %d, at once,%s.",
		m.bucket.Column, strings.Join(m.bucket.By, ", "), m.bucket.Count, m.bucket.Count-1, mergeText(way))
}

// mergeText says how the client puts answers together.
func mergeText(way *trial.Way) string {
	text := " and put the rows together"
	if len(way.Order) > 0 {
		text = " merge the rows by " + orderText(way.Order)
	}
	if way.Limit != nil {
		text += ", and keep the first " + way.Limit.String() + " (LIMIT) of them all"
	}
	return text
}

// allColumns selects the columns of a table one by one.
func allColumns(t *schema.Table) []cql.Selector {
	var out []cql.Selector
	for _, c := range t.Columns {
		out = append(out, cql.Selector{Expr: &cql.ColumnRef{Name: c.Name}})
	}
	return out
}

// withKeyspace is a SELECT that names its keyspace.
func withKeyspace(s *cql.Select, keyspace string) *cql.Select {
	own := *s
	own.Table = s.Table.In(keyspace)
	return &own
}

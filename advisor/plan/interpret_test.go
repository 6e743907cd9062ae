package plan_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// The interpreter runs plans over tables in memory. It does what Cassandra does and no more: what CQL would refuse is an
// error, rows that no clustering key orders come in any order.

// stored is a table with its rows, by partition.
type stored struct {
	partitions map[string][]map[model.Field]string
	order      []string                              // of the tokens: none that means anything
	nests      map[string]map[*model.Nest]collection // by the row's primary key
}

// collection is a nest in a row, as Cassandra holds it: a set of keys, and maps in which a null has no entry.
type collection struct {
	keys   map[string]bool
	values map[model.Field]map[string]string
}

// nest fills a row's collections.
func (w *world) nest(t *model.Table, row related) map[*model.Nest]collection {
	filled := map[*model.Nest]collection{}
	for _, n := range t.Nests {
		c := collection{map[string]bool{}, map[model.Field]map[string]string{}}
		for _, f := range n.Values {
			c.values[f] = map[string]string{}
		}
	elements:
		for _, r := range w.join(t.Tree.With(n)) {
			for e, i := range row {
				if r[e] != i {
					continue elements
				}
			}
			k := w.value(r, n.Key)
			c.keys[k] = true
			for _, f := range n.Values {
				if v := w.value(r, f); v != null {
					c.values[f][k] = v
				}
			}
		}
		filled[n] = c
	}
	return filled
}

// primary writes a row's primary key.
func primary(t *model.Table, row map[model.Field]string) string {
	var values []string
	for _, f := range t.Key() {
		values = append(values, row[f])
	}
	return partitionKey(values)
}

// unnest makes rows of collections.
func (m *machine) unnest(s *plan.Step) {
	for _, n := range s.Nests {
		var found []hand
		for _, h := range m.hands {
			c, ok := h.nested[n]
			if !ok {
				m.refuse(s, "a collection that was not read")
			}
			for _, k := range slices.Sorted(maps.Keys(c.keys)) {
				more := hand{fields: maps.Clone(h.fields), nested: h.nested}
				for _, f := range s.Fields {
					switch column := s.As.Column(f); {
					case column == n.Key:
						more.fields[f] = k
					case n.Holds(column):
						more.fields[f] = null
						if v, there := c.values[column][k]; there {
							more.fields[f] = v
						}
					}
				}
				found = append(found, more)
			}
		}
		m.hands = found
	}
	for _, f := range s.Fields {
		if !slices.ContainsFunc(s.Nests, func(n *model.Nest) bool { return n.Holds(s.As.Column(f)) }) {
			m.refuse(s, "%s is in none of the collections", f)
		}
	}
	for i := range m.hands {
		m.hands[i].nested = nil
	}
	if len(s.Nests) > 1 {
		m.ran["several nests"]++
	}
}

// scatter is a number that looks random.
func scatter(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64() * 0x9e3779b97f4a7c15 >> 7
}

// bucket is the bucket of a value.
func bucket(b *model.Bucket, v string) int {
	switch {
	case b.Of.IsZero() || v == null:
		return 0
	case b.Width > 0:
		return int(float64(v[0]-'0') / b.Width)
	}
	return int(scatter(v) % uint64(b.Count))
}

func partitionKey(values []string) string { return strings.Join(values, "|") }

// store fills a table: a row for each of the join, but none where a column of the key has no value.
func (w *world) store(t *model.Table) *stored {
	s := &stored{partitions: map[string][]map[model.Field]string{}, nests: map[string]map[*model.Nest]collection{}}
rows:
	for _, r := range w.join(t.Tree) {
		row := map[model.Field]string{}
		for _, f := range t.Fields() {
			if row[f] = w.value(r, f); row[f] == null && t.InKey(f) {
				continue rows
			}
		}
		var values []string
		for _, f := range t.Partition {
			values = append(values, row[f])
		}
		if t.Bucket != nil {
			n := 0
			if !t.Bucket.Of.IsZero() {
				n = bucket(t.Bucket, w.value(r, t.Bucket.Of))
			}
			values = append(values, strconv.Itoa(n))
		}
		k := partitionKey(values)
		s.partitions[k] = append(s.partitions[k], row)
		s.nests[primary(t, row)] = w.nest(t, r)
	}
	s.sort(t)
	return s
}

// sort orders the partitions, and the rows of each.
func (s *stored) sort(t *model.Table) {
	for k, rows := range s.partitions {
		s.order = append(s.order, k)
		sort.SliceStable(rows, func(i, j int) bool {
			for _, f := range t.Clustering {
				if c := strings.Compare(rows[i][f], rows[j][f]); c != 0 {
					return c < 0 != slices.Contains(t.Desc, f)
				}
			}
			return false
		})
	}
	sort.Slice(s.order, func(i, j int) bool { return scatter(s.order[i]) < scatter(s.order[j]) })
}

// machine runs one plan.
type machine struct {
	world  *world
	asked  *asked
	tables map[*model.Table]*stored
	hands  []hand
	first  bool
	ran    map[string]int // features met, to tell that the tests meet all
}

type notExecutable struct{ reason string }

func (m *machine) refuse(s *plan.Step, format string, args ...any) {
	panic(notExecutable{fmt.Sprintf(format, args...) + ": " + s.String()})
}

// run returns the rows that a plan answers.
func (m *machine) run(p *plan.Plan) (lines []line, err error) {
	defer func() {
		if r := recover(); r != nil {
			not, ok := r.(notExecutable)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s", not.reason)
		}
	}()
	m.hands, m.first = []hand{{fields: map[model.Field]string{}}}, true
	for i := range p.Steps {
		m.step(&p.Steps[i])
	}
	for _, h := range m.hands {
		full := hand{map[model.Field]string{}, h.aggregates, nil}
		for _, f := range append(append(slices.Clone(m.asked.Select), m.asked.Ordered()...), m.asked.Per...) {
			full.fields[f] = m.has(h, f, "the answer")
		}
		lines = append(lines, m.asked.line(full))
	}
	return lines, nil
}

// has returns a value that must be at hand: read, or named by an equality.
func (m *machine) has(h hand, f model.Field, what string) string {
	if v, ok := h.fields[f]; ok {
		return v
	}
	for _, p := range m.asked.Where {
		if p.Field == f && p.Op == workload.Equal {
			return m.asked.values[p.Value][0]
		}
	}
	panic(notExecutable{fmt.Sprintf("%s needs %s, which is not at hand", what, f)})
}

func (m *machine) step(s *plan.Step) {
	m.ran[string(s.Kind)]++
	switch s.Kind {
	case plan.Get, plan.IndexGet, plan.Scan:
		m.read(s)
	case plan.Unnest:
		m.unnest(s)
	case plan.Filter:
		var kept []hand
	rows:
		for _, h := range m.hands {
			for _, b := range s.Where {
				if !compares(b.Op, m.has(h, b.Field, "the filter"), m.asked.values[b.Value]) {
					continue rows
				}
			}
			kept = append(kept, h)
		}
		m.hands = kept
	case plan.Sort:
		sort.SliceStable(m.hands, func(i, j int) bool {
			for _, o := range s.Order {
				c := strings.Compare(m.has(m.hands[i], o.Field, "the sort"), m.has(m.hands[j], o.Field, "the sort"))
				if c != 0 {
					return c < 0 != o.Desc
				}
			}
			return false
		})
	case plan.Group:
		for _, h := range m.hands {
			for _, f := range s.Group {
				h.fields[f] = m.has(h, f, "the grouping")
			}
			for _, a := range s.Aggregates {
				if !a.Field.IsZero() {
					h.fields[a.Field] = m.has(h, a.Field, "the aggregate")
				}
			}
		}
		m.hands = group(m.hands, s.Group, s.Aggregates)
	case plan.Distinct:
		for _, h := range m.hands {
			for _, f := range s.Fields {
				h.fields[f] = m.has(h, f, "DISTINCT")
			}
		}
		m.hands = distinct(m.hands, s.Fields)
	case plan.LimitEach:
		n := map[string]int{}
		var kept []hand
		for _, h := range m.hands {
			k := ""
			for _, f := range s.Fields {
				k += m.has(h, f, "the limit") + "|"
			}
			if n[k]++; n[k] <= s.Limit {
				kept = append(kept, h)
			}
		}
		m.hands = kept
	case plan.Limit:
		m.hands = m.hands[:min(len(m.hands), s.Limit)]
	default:
		m.refuse(s, "a step of kind %q", s.Kind)
	}
}

// bound returns the values that a binding gives its column for a row at hand.
func (m *machine) bound(h hand, b plan.Binding) []string {
	switch b.Value {
	case "":
		return []string{m.has(h, b.Field, "the binding")}
	case "?":
		v, ok := m.asked.known[b.Field]
		if !ok {
			panic(notExecutable{"the value of " + b.Field.String() + " is not known"})
		}
		return []string{v}
	}
	v, ok := m.asked.values[b.Value]
	if !ok {
		panic(notExecutable{"no parameter " + b.Value})
	}
	if b.Op == workload.In {
		v = slices.Compact(slices.Sorted(slices.Values(v)))
	}
	return v
}

// read runs a step that reads a table, once for each row at hand.
func (m *machine) read(s *plan.Step) {
	t := s.Table
	data := m.tables[t]
	column := func(b plan.Binding) model.Field {
		f := s.As.Column(b.Field)
		if !t.Has(f) {
			m.refuse(s, "%s has no column %s", t, f)
		}
		return f
	}
	if s.As != nil {
		m.ran["embedding"]++
	}
	if s.Reverse {
		m.ran["reverse"]++
	}
	if len(s.Bucket) > 0 {
		m.ran["bucket told"]++
	}
	var found []hand
	for _, h := range m.hands {
		var answers [][]map[model.Field]string
		switch s.Kind {
		case plan.Get:
			answers = m.get(s, h, data, column)
		case plan.IndexGet:
			answers = [][]map[model.Field]string{m.indexGet(s, h, data, column)}
		case plan.Scan:
			if !m.first || !t.ScanAllowed {
				m.refuse(s, "a scan that is not the first step, or not allowed")
			}
			var rows []map[model.Field]string
			for _, k := range data.order {
				n := 0
				for _, row := range data.partitions[k] {
					if m.matches(h, s, row, s.Where, column, plain) && (s.PerPartition == 0 || n < s.PerPartition) {
						rows = append(rows, row)
						n++
					}
				}
			}
			answers = [][]map[model.Field]string{rows}
		}
		for _, rows := range answers {
			found = append(found, m.answer(s, h, rows)...)
		}
	}
	m.hands, m.first = found, false
}

// answer makes rows at hand of those that one request finds.
func (m *machine) answer(s *plan.Step, h hand, rows []map[model.Field]string) []hand {
	if !s.Grouped && s.Limit > 0 {
		rows = rows[:min(len(rows), s.Limit)]
		m.ran["limit on the server"]++
	}
	if s.PerPartition > 0 {
		m.ran["per partition limit"]++
	}
	var found []hand
	for _, row := range rows {
		more := hand{fields: map[model.Field]string{}}
		if len(s.Nests) > 0 {
			more.nested = m.tables[s.Table].nests[primary(s.Table, row)]
		}
		for f, v := range h.fields {
			more.fields[f] = v
		}
		for _, f := range s.Fields {
			c := s.As.Column(f)
			v, ok := row[c]
			if !ok {
				m.refuse(s, "there is no column for %s", f)
			}
			if old, known := more.fields[f]; known && old != v {
				m.refuse(s, "row joined wrongly: %s is %q at hand and %q in the table", f, old, v)
			}
			more.fields[f] = v
		}
		found = append(found, more)
	}
	if !s.Grouped {
		return found
	}
	m.ran["group on the server"]++
	m.groupable(s)
	found = group(found, s.Group, s.Aggregates)
	if s.Limit > 0 {
		found = found[:min(len(found), s.Limit)]
	}
	return found
}

// groupable refuses what CQL would not group: GROUP BY takes columns of the primary key in order, without those bound by
// equality.
func (m *machine) groupable(s *plan.Step) {
	if !m.first {
		m.refuse(s, "aggregates of many requests")
	}
	if s.Kind != plan.Get && len(s.Group) > 0 {
		m.refuse(s, "grouped without a partition key")
	}
	equal := map[model.Field]bool{}
	for _, b := range append(slices.Clone(s.Partition), s.Clustering...) {
		if b.Op != workload.Equal {
			if slices.Contains(s.Partition, b) {
				m.refuse(s, "aggregates over several partitions")
			}
			continue
		}
		equal[s.As.Column(b.Field)] = true
	}
	left := map[model.Field]bool{}
	for _, f := range s.Group {
		if c := s.As.Column(f); !equal[c] {
			left[c] = true
		}
	}
	for _, c := range s.Table.Clustering {
		if len(left) == 0 {
			return
		}
		if !left[c] && !equal[c] {
			break
		}
		delete(left, c)
	}
	if len(left) > 0 {
		m.refuse(s, "GROUP BY columns that are no prefix of the primary key")
	}
}

// get reads the partitions that a row at hand asks for.
func (m *machine) get(s *plan.Step, h hand, data *stored, column func(plan.Binding) model.Field) [][]map[model.Field]string {
	t := s.Table
	keys := [][]string{nil}
	if len(s.Partition) != len(t.Partition) {
		m.refuse(s, "the partition key is not bound")
	}
	for i, f := range t.Partition {
		b := s.Partition[i]
		if column(b) != f || b.Op != workload.Equal && b.Op != workload.In {
			m.refuse(s, "partition key column %s is not bound", f)
		}
		if b.Op == workload.In {
			m.ran["multi-get"]++
		}
		var next [][]string
		for _, k := range keys {
			for _, v := range m.bound(h, b) {
				next = append(next, append(slices.Clone(k), v))
			}
		}
		keys = next
	}
	if t.Bucket != nil {
		var next [][]string
		for _, k := range keys {
			for _, n := range m.buckets(s, h) {
				next = append(next, append(slices.Clone(k), strconv.Itoa(n)))
			}
		}
		keys = next
	}
	at := 0
	for i, b := range s.Clustering {
		if i > 0 && column(b) == column(s.Clustering[i-1]) {
			if isPoint(b.Op) || isPoint(s.Clustering[i-1].Op) || b.Op == workload.Like {
				m.refuse(s, "column %s is bound twice", b.Field)
			}
			continue
		}
		if i > 0 && !isPoint(s.Clustering[i-1].Op) {
			m.refuse(s, "a clustering column after a range")
		}
		if at == len(t.Clustering) || t.Clustering[at] != column(b) {
			m.refuse(s, "clustering column %s is bound out of order", b.Field)
		}
		if b.Op == workload.NotEqual {
			m.refuse(s, "a clustering column bound by !=")
		}
		if b.Op != workload.Equal {
			m.ran["clustering "+string(b.Op)]++
		}
		at++
	}
	var answers [][]map[model.Field]string
	for _, k := range keys {
		var rows []map[model.Field]string
		for _, row := range data.partitions[partitionKey(k)] {
			if m.matches(h, s, row, s.Clustering, column, anything) {
				rows = append(rows, row)
			}
		}
		if s.Reverse {
			slices.Reverse(rows)
		}
		answers = append(answers, rows)
	}
	return answers
}

func isPoint(op workload.Op) bool { return op == workload.Equal || op == workload.In }

// buckets are the numbers of the buckets that a read must look into.
func (m *machine) buckets(s *plan.Step, h hand) []int {
	b := s.Table.Bucket
	wanted := map[int]bool{}
	for i := range int(b.Count) {
		wanted[i] = true
	}
	for _, c := range s.Bucket {
		if s.As.Column(c.Field) != b.Of {
			m.refuse(s, "the bucket is not of %s", c.Field)
		}
		values := m.bound(h, c)
		for i := range wanted {
			switch {
			case isPoint(c.Op):
				wanted[i] = wanted[i] && slices.ContainsFunc(values, func(v string) bool { return bucket(b, v) == i })
			case b.Width == 0:
				m.refuse(s, "a range of hashes")
			case c.Op == workload.Greater || c.Op == workload.GreaterOrEqual:
				wanted[i] = wanted[i] && i >= bucket(b, values[0])
			case c.Op == workload.Less || c.Op == workload.LessOrEqual:
				wanted[i] = wanted[i] && i <= bucket(b, values[0])
			default:
				m.refuse(s, "a bucket told by %s", c.Op)
			}
		}
	}
	var list []int
	for i := range int(b.Count) {
		if wanted[i] {
			list = append(list, i)
		}
	}
	if len(list) > 1 {
		m.ran["several buckets"]++
	}
	return list
}

func anything(workload.Op) bool { return true }

// plain are the comparisons that Cassandra makes when it filters.
func plain(op workload.Op) bool {
	return op != workload.In && op != workload.Like && op != workload.NotEqual
}

// matches reports whether a row satisfies bindings.
func (m *machine) matches(h hand, s *plan.Step, row map[model.Field]string, list []plan.Binding, column func(plan.Binding) model.Field, allowed func(workload.Op) bool) bool {
	for _, b := range list {
		if !allowed(b.Op) {
			m.refuse(s, "Cassandra does not filter by %s", b.Op)
		}
		if !compares(b.Op, row[column(b)], m.bound(h, b)) {
			return false
		}
	}
	return true
}

// indexGet reads by indexes, of the whole table or of one partition.
func (m *machine) indexGet(s *plan.Step, h hand, data *stored, column func(plan.Binding) model.Field) []map[model.Field]string {
	t := s.Table
	if len(s.Where) == 0 {
		m.refuse(s, "an index read without a condition")
	}
	for _, b := range s.Where {
		i := slices.IndexFunc(t.Indexes, func(i model.Index) bool { return i.Field == column(b) })
		switch {
		case i < 0:
			m.refuse(s, "no index on %s", b.Field)
		case b.Op == workload.Equal:
		case !t.Indexes[i].SAI || !plain(b.Op) || b.Field.Attribute.Type == "text":
			m.refuse(s, "an index asked by %s", b.Op)
		}
		if !t.Indexes[i].SAI && len(s.Where) > 1 {
			m.refuse(s, "two indexes at once")
		}
	}
	if len(s.Partition) > 0 {
		m.ran["index in one partition"]++
		if len(s.Partition) != len(t.Partition) || t.Bucket != nil {
			m.refuse(s, "part of a partition key")
		}
	}
	if len(s.Where) > 1 {
		m.ran["several indexes"]++
	}
	var rows []map[model.Field]string
	for _, k := range data.order {
		for _, row := range data.partitions[k] {
			if m.matches(h, s, row, s.Partition, column, func(op workload.Op) bool { return op == workload.Equal }) && m.matches(h, s, row, s.Where, column, anything) {
				rows = append(rows, row)
			}
		}
	}
	sort.Slice(rows, func(i, j int) bool { return scatter(fmt.Sprint(rows[i])) < scatter(fmt.Sprint(rows[j])) })
	return rows
}

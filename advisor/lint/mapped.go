package lint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
)

// instance is a row of the join that a query is over: values of fields, made of a few instances of each entity.
type instance = trial.Row

// mappingTrial is a trial of a table that the mapping rules made of a query: the query is answered from the join, and from the table.
type mappingTrial struct {
	x        *rules.Trace
	keyspace string
	rand     *rand.Rand
	rows     []instance
	values   map[model.Field]map[workload.Op]memory.Value
	limit    int
	store    *memory.Store // with the table
	buckets  int
	columns  map[model.Field]string // of the table
	fields   map[string]model.Field // by column
}

// TryMapping tries a table of the mapping rules on generated instances before it is shown. The error says how answers would differ, or why nobody can tell.
func TryMapping(x *rules.Trace, keyspace string) error {
	for _, f := range x.Query.Select {
		if x.Table.Types[f] != "" {
			return fmt.Errorf("it asks for the elements of %s and for all of them: a table with a row for each has one at a time", f)
		}
	}
	const rounds = 4
	for round := range uint64(rounds) {
		m := &mappingTrial{x: x, keyspace: keyspace, rand: rand.New(rand.NewPCG(trialSeed, round))} //nolint:gosec // a test of ours, no secret
		m.makeRows()
		if err := m.fillTable(); err != nil {
			return err
		}
		for range rounds {
			if err := m.tryAsk(); err != nil {
				return err
			}
		}
	}
	return nil
}

// each is how many instances an entity has, and mostRows how many of their combinations are looked at.
const (
	each     = 3
	mostRows = 60
)

// makeRows makes instances and their connections, and all rows of the join.
func (m *mappingTrial) makeRows() {
	tree := m.x.Query.Tree
	values := map[*model.Entity][]instance{}
	for _, e := range tree.Entities {
		for i := range each {
			one := instance{}
			for _, a := range e.Attributes {
				f := model.Field{Entity: e, Attribute: a}
				one[f] = strconv.Itoa(m.rand.IntN(2))
				if _, several := rules.Element(a.Type); several {
					one[f] = memory.SetOf(strconv.Itoa(m.rand.IntN(3)), strconv.Itoa(m.rand.IntN(3)))
				}
			}
			if n := len(e.Key); n > 0 { // no two have the same key
				one[model.Field{Entity: e, Attribute: e.Key[n-1]}] = strconv.Itoa(i)
			}
			values[e] = append(values[e], one)
		}
	}
	type pair struct{ from, to int }
	linked := map[*model.Relationship]map[pair]bool{}
	for _, r := range tree.Edges {
		links := map[pair]bool{}
		turn := m.rand.Perm(each)
		for i := range each {
			switch one, back := r.ToOne(r.From), r.ToOne(r.To); {
			case one && back:
				links[pair{i, turn[i]}] = true
			case one:
				links[pair{i, m.rand.IntN(each)}] = true
			case back:
				links[pair{m.rand.IntN(each), i}] = true
			default:
				links[pair{i, m.rand.IntN(each)}], links[pair{m.rand.IntN(each), i}] = true, true
			}
		}
		linked[r] = links
	}
	owner := map[string]int{} // of keys
	var walk func(n int, chosen map[*model.Entity]int)
	walk = func(n int, chosen map[*model.Entity]int) {
		if n == len(tree.Entities) {
			row := instance{}
			for e, i := range chosen {
				for f, v := range values[e][i] {
					row[f] = v
				}
			}
			m.copyKeys(row)
			for e, i := range chosen { // a key that is a copy of others' may come twice: then it is that of the first
				key := fmt.Sprintf("%p", e)
				for _, f := range e.KeyFields() {
					key += " " + memory.Text(row[f])
				}
				if first, taken := owner[key]; taken && first != i {
					return
				}
				owner[key] = i
			}
			m.rows = append(m.rows, row)
			return
		}
		for i := range each {
			chosen[tree.Entities[n]] = i
			fits := true
			for _, r := range tree.Edges {
				from, ok := chosen[r.From]
				to, too := chosen[r.To]
				fits = fits && (!ok || !too || linked[r][pair{from, to}])
			}
			if fits {
				walk(n+1, chosen)
			}
			delete(chosen, tree.Entities[n])
		}
	}
	walk(0, map[*model.Entity]int{})
	m.rand.Shuffle(len(m.rows), func(i, j int) { m.rows[i], m.rows[j] = m.rows[j], m.rows[i] })
	m.rows = m.rows[:min(len(m.rows), mostRows)]
}

// copyKeys gives attributes that repeat another entity's key the value of that.
func (m *mappingTrial) copyKeys(row instance) {
	for range m.x.Query.Tree.Entities { // one may be a copy of a copy
		for f := range row {
			c := f.Attribute.Copied
			if c == nil {
				continue
			}
			for _, r := range m.x.Query.Tree.Edges {
				if owner := r.Other(f.Entity); owner != nil && r.Base() == c.Edge {
					row[f] = row[model.Field{Entity: owner, Attribute: c.Of}]
				}
			}
		}
	}
}

// tryAsk draws values, asks in both ways and says how the answers differ.
func (m *mappingTrial) tryAsk() error {
	q := m.x.Query
	m.values, m.limit = map[model.Field]map[workload.Op]memory.Value{}, 1+m.rand.IntN(3)
	if len(m.rows) == 0 {
		return nil
	}
	row := m.rows[m.rand.IntN(len(m.rows))]
	for _, p := range q.Where {
		v := row[p.Field]
		if list := memory.Elements(v); len(list) > 0 {
			v = list[0]
		}
		if p.Op == workload.In {
			v = memory.List{memory.Text(v), strconv.Itoa(m.rand.IntN(each))}
		}
		if m.values[p.Field] == nil {
			m.values[p.Field] = map[workload.Op]memory.Value{}
		}
		m.values[p.Field][p.Op] = v
	}
	all := m.answerFrom(m.rows)
	got, err := m.readTable()
	if err != nil {
		return err
	}
	if len(m.x.Left) > 0 { // the client does the rest, which it is told of
		got = m.answerFrom(got)
	}
	whole := len(q.Aggregates) == 0 && len(q.GroupBy) == 0 && q.PerLimit == 0 && !q.Distinct
	want := len(all)
	if whole && q.Limit > 0 {
		want = min(want, m.limit)
		got = got[:min(len(got), map[bool]int{true: m.limit, false: len(got)}[len(m.x.Left) > 0])]
	}
	if len(got) != want {
		return fmt.Errorf("the table that was made would change answers: %d rows for %d on generated rows", len(got), want)
	}
	lines := func(rows []instance, fields []model.Field) []string {
		out := make([]string, len(rows))
		for i, r := range rows {
			for _, f := range fields {
				out[i] += memory.Text(r[f]) + ", "
			}
		}
		return out
	}
	count := map[string]int{}
	for _, l := range lines(all, q.Select) {
		count[l]++
	}
	for _, l := range lines(got, q.Select) {
		if count[l]--; count[l] < 0 {
			return fmt.Errorf("the table that was made would change answers: a row (%s) that does not belong to it", strings.TrimSuffix(l, ", "))
		}
	}
	if whole && !slices.Equal(lines(got, q.Ordered()), lines(all[:len(got)], q.Ordered())) {
		return fmt.Errorf("the table that was made would change answers: rows in another order")
	}
	return nil
}

// answerFrom is what the query asks for of some rows, without its limit.
func (m *mappingTrial) answerFrom(rows []instance) []instance {
	q := m.x.Query
	out := slices.DeleteFunc(slices.Clone(rows), func(r instance) bool {
		return slices.ContainsFunc(q.Where, func(p workload.Predicate) bool {
			have, there := r[p.Field] // of what Cassandra has compared already it need not be
			return there && !trial.Meets(have, p.Op, m.values[p.Field][p.Op])
		})
	})
	slices.SortStableFunc(out, func(a, b instance) int { return trial.Compare(a, b, q.OrderBy) })
	return out
}

// fillTable fills the table from the join.
func (m *mappingTrial) fillTable() error {
	t := m.x.Table
	s, err := Define(nil, m.keyspace, t.CQL(m.keyspace, m.x.Name))
	if err != nil {
		return err
	}
	s.Table(m.keyspace, m.x.Name).Counter = false // a count is a value like any
	m.store = memory.New(s, m.keyspace)
	fields := t.Fields()
	m.columns, m.fields = map[model.Field]string{}, map[string]model.Field{}
	for _, f := range fields {
		m.columns[f] = t.ColumnName(f)
		m.fields[m.columns[f]] = f
	}
	bucket := t.BucketColumn()
	insert := &cql.Insert{Table: cql.TableRef{Keyspace: m.keyspace, Table: m.x.Name}}
	for _, f := range fields {
		insert.Columns, insert.Values = append(insert.Columns, m.columns[f]), append(insert.Values, &cql.Marker{Name: m.columns[f]})
	}
	m.buckets = 1
	if t.Bucket != nil {
		m.buckets = int(min(t.Bucket.Count, mostBuckets))
		insert.Columns, insert.Values = append(insert.Columns, t.BucketColumn()), append(insert.Values, &cql.Marker{Name: t.BucketColumn()})
	}
	for i, r := range m.rows {
		for _, one := range m.splitElements(r) {
			args := memory.Args{bucket: strconv.Itoa(i % m.buckets)}
			for _, f := range fields {
				args[m.columns[f]] = one[f]
			}
			if err := m.store.Write(insert, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTable asks the table as the fix says.
func (m *mappingTrial) readTable() ([]instance, error) {
	var out []instance
	for n := range m.buckets {
		read, err := parseSelect(m.x.CQL(m.keyspace))
		if err != nil {
			return nil, err
		}
		args := memory.Args{}
		for i := range read.Where {
			w := &read.Where[i]
			name := "w" + strconv.Itoa(i)
			args[name], w.Value = strconv.Itoa(n), &cql.Marker{Name: name}
			for _, p := range m.x.Query.Where {
				if m.columns[p.Field] == w.Columns[0] && (operators[p.Op] == w.Op || p.Op == workload.Like) {
					args[name] = m.values[p.Field][p.Op]
				}
				if m.columns[p.Field] == w.Columns[0] && p.Op == workload.Like && w.Op == cql.OpLT { // the end of the prefix
					args[name] = memory.Text(m.values[p.Field][p.Op]) + "~"
				}
			}
		}
		if read.Limit != nil {
			read.Limit = &cql.Literal{Kind: cql.LiteralInteger, Text: strconv.Itoa(m.limit)}
		}
		a, err := m.store.Select(read, args)
		if err != nil {
			return nil, err
		}
		for _, r := range a.Rows {
			row := instance{}
			for i, c := range a.Columns {
				if f, ok := m.fields[c]; ok {
					row[f] = r[i]
				}
			}
			for _, p := range m.x.Query.Where { // by equality it is what was asked for
				if _, asked := row[p.Field]; !asked && p.Op == workload.Equal {
					row[p.Field] = m.values[p.Field][p.Op]
				}
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// splitElements makes a row for each element of a set that the table has one for.
func (m *mappingTrial) splitElements(r instance) []instance {
	out := []instance{r}
	for f := range m.x.Table.Types {
		if _, several := rules.Element(f.Attribute.Type); !several {
			continue
		}
		var longer []instance
		for _, one := range out {
			for _, e := range memory.Elements(one[f]) {
				own := instance{}
				for k, v := range one {
					own[k] = v
				}
				own[f] = e
				longer = append(longer, own)
			}
		}
		out = longer
	}
	return out
}

package memory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// twins is a table on a real Cassandra and the same in memory, to which the same statements are said.
type twins struct {
	t       *testing.T
	session *gocql.Session
	store   *memory.Store
	table   *schema.Table
	rand    *rand.Rand
	refused map[string]int // statements that Cassandra does not take, by what it says
	said    []string       // writes that it took
}

// tableOf describes a table in words: "a partition", "b clustering desc", "f regular set<text>"; it has text where no type is said.
func tableOf(keyspace, name string, columns ...string) *schema.Table {
	out := &schema.Table{Keyspace: keyspace, Name: name}
	position := map[schema.ColumnKind]int{}
	for _, words := range columns {
		parts := strings.Fields(words)
		c := schema.Column{Name: parts[0], Kind: schema.ColumnKind(parts[1]), Position: -1, Type: "text"}
		if c.Kind == "partition" {
			c.Kind = schema.PartitionKey
		}
		if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
			c.Position = position[c.Kind]
			position[c.Kind]++
		}
		for _, more := range parts[2:] {
			if more == "desc" {
				c.Descending = true
			} else {
				c.Type = more
			}
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

// create is the table's CREATE TABLE.
func create(x *schema.Table) string {
	var columns, key, order []string
	for _, c := range x.Columns {
		static := ""
		if c.Kind == schema.Static {
			static = " STATIC"
		}
		columns = append(columns, c.Name+" "+strings.ReplaceAll(c.Type, ",", ", ")+static)
	}
	for _, c := range x.PartitionKey() {
		key = append(key, c.Name)
	}
	text := fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY ((%s)", x.Name, strings.Join(columns, ", "), strings.Join(key, ", "))
	for _, c := range x.ClusteringKey() {
		text += ", " + c.Name
		order = append(order, c.Name+map[bool]string{true: " DESC", false: " ASC"}[c.Descending])
	}
	text += "))"
	if len(order) > 0 {
		text += " WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"
	}
	return text
}

// TestTwin: what statements at random leave and answer is what they leave and answer on a real Cassandra.
func TestTwin(t *testing.T) {
	session, keyspace := cassandratest.Keyspace(t)
	began := time.Now()
	for n, table := range []*schema.Table{
		tableOf(keyspace, "one", "a partition", "f regular set<text>", "l regular list<text>", "m regular map<text,text>", "v regular", "w regular"),
		tableOf(keyspace, "two", "a partition", "b clustering desc", "m regular map<text,text>", "s static", "v regular", "w regular"),
		tableOf(keyspace, "three", "a partition", "b partition", "c clustering", "d clustering desc", "f regular set<text>", "v regular"),
		tableOf(keyspace, "four", "a partition", "b clustering", "c clustering", "s static set<text>", "u static", "v regular"),
	} {
		t.Run(table.Name, func(t *testing.T) {
			if err := session.Query(create(table)).Exec(); err != nil {
				t.Fatal(err)
			}
			w := &twins{t: t, session: session, table: table, rand: rand.New(rand.NewPCG(uint64(n), 7)), refused: map[string]int{}} //nolint:gosec // a test
			w.store = memory.New(&schema.Schema{Keyspaces: []schema.Keyspace{{Name: keyspace, Tables: []schema.Table{*table}}}}, keyspace)
			const writes, questions = 100, 3
			rows, asked := 0, 0
			for range writes {
				said := w.write()
				for range questions {
					n, ok := w.ask(said)
					if ok {
						asked++
					}
					rows += n
				}
				if t.Failed() {
					t.Log(strings.Join(w.said, "\n"))
					return
				}
			}
			t.Logf("%d answers, %d rows; refused %v", asked, rows, w.refused)
			if asked < writes || 2*rows < asked {
				t.Errorf("%d answers of %d rows only: that shows nothing", asked, rows)
			}
		})
	}
	t.Logf("in %s", time.Since(began))
}

func (w *twins) chance(of int) bool { return w.rand.IntN(of) == 0 }

func pick[T any](w *twins, list ...T) T { return list[w.rand.IntN(len(list))] }

// value is a literal, of few.
func (w *twins) value() string { return "'" + strconv.Itoa(w.rand.IntN(4)) + "'" }

// values are several.
func (w *twins) values() string {
	list := []string{w.value()}
	for range w.rand.IntN(3) {
		list = append(list, w.value())
	}
	return strings.Join(list, ", ")
}

// of is a literal for a column, now and then null.
func (w *twins) of(c *schema.Column) string {
	if w.chance(8) {
		return "null"
	}
	switch memory.Collection(c.Type) {
	case "set":
		return "{" + w.values() + "}"
	case "list":
		return "[" + w.values() + "]"
	case "map":
		return "{" + w.value() + ": " + w.value() + "}"
	}
	return w.value()
}

// others are the columns outside of the key, of a kind.
func (w *twins) others(kind schema.ColumnKind) (out []schema.Column) {
	for _, c := range w.table.Columns {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// key names a row, or, with static, a partition.
func (w *twins) key(static bool) string {
	var parts []string
	list := w.table.PrimaryKey()
	if static {
		list = w.table.PartitionKey()
	}
	for i, c := range list {
		if i == len(list)-1 && !static && w.chance(6) && len(list) > 1 {
			parts = append(parts, c.Name+" IN ("+w.values()+")")
			continue
		}
		parts = append(parts, c.Name+" = "+w.value())
	}
	return strings.Join(parts, " AND ")
}

// assignment is one of an UPDATE.
func (w *twins) assignment(c *schema.Column) string {
	kind := memory.Collection(c.Type)
	if kind == "" || w.chance(3) {
		return c.Name + " = " + w.of(c)
	}
	switch {
	case kind == "map" && w.chance(2):
		return fmt.Sprintf("%s[%s] = %s", c.Name, w.value(), pick(w, w.value(), "null"))
	case kind == "set":
		return fmt.Sprintf("%s = %s %s {%s}", c.Name, c.Name, pick(w, "+", "-"), w.values())
	case kind == "map" && w.chance(2):
		return fmt.Sprintf("%s = %s - {%s}", c.Name, c.Name, w.values())
	case kind == "map":
		return fmt.Sprintf("%s = %s + {%s: %s}", c.Name, c.Name, w.value(), w.value())
	}
	if w.chance(3) {
		return fmt.Sprintf("%s = [%s] + %s", c.Name, w.values(), c.Name)
	}
	return fmt.Sprintf("%s = %s %s [%s]", c.Name, c.Name, pick(w, "+", "-"), w.values())
}

// condition is an IF, now and then.
func (w *twins) condition() string {
	if !w.chance(4) {
		return ""
	}
	return pick(w, " IF EXISTS", " IF v = "+w.value(), " IF v = null", " IF v != "+w.value(), " IF v IN ("+w.values()+")", " IF v > "+w.value(), " IF v != null")
}

// write says a write to both.
func (w *twins) write() string {
	text := w.change()
	st, err := cql.Parse(text)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	if err := w.session.Query(text).DefaultTimestamp(false).Exec(); err != nil {
		w.refuse(text, err)
		return text
	}
	if err := w.store.Write(st, nil); err != nil {
		w.t.Errorf("%s: %v", text, err)
	}
	w.said = append(w.said, text)
	return text
}

// refuse notes that Cassandra does not take a statement; any other error is one of the test.
func (w *twins) refuse(text string, err error) {
	var request gocql.RequestError
	if !errors.As(err, &request) || request.Code() != gocql.ErrCodeInvalid && request.Code() != gocql.ErrCodeSyntax {
		w.t.Errorf("%s: %v", text, err)
	}
	w.refused[err.Error()]++
}

// change is a write at random.
func (w *twins) change() string {
	statics := w.others(schema.Static)
	clustering := w.table.ClusteringKey()
	switch n := w.rand.IntN(10); {
	case n < 4:
		static := len(statics) > 0 && w.chance(5)
		var columns, values []string
		for i := range w.table.Columns {
			c := &w.table.Columns[i]
			switch {
			case c.Kind == schema.PartitionKey || c.Kind == schema.Clustering && !static:
				columns, values = append(columns, c.Name), append(values, w.value())
			case c.Kind == schema.Static || c.Kind == schema.Regular && !static:
				if static || w.chance(2) {
					columns, values = append(columns, c.Name), append(values, w.of(c))
				}
			}
		}
		return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)%s", w.table.Name, strings.Join(columns, ", "), strings.Join(values, ", "), pick(w, "", "", "", " IF NOT EXISTS"))
	case n < 8:
		static := len(statics) > 0 && w.chance(4)
		list := w.others(map[bool]schema.ColumnKind{true: schema.Static, false: schema.Regular}[static])
		w.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var set []string
		for i := range list[:1+w.rand.IntN(len(list))] {
			set = append(set, w.assignment(&list[i]))
		}
		text := fmt.Sprintf("UPDATE %s SET %s WHERE %s", w.table.Name, strings.Join(set, ", "), w.key(static))
		if !static {
			text += w.condition()
		}
		return text
	case n < 9 && len(clustering) > 0 && w.chance(2):
		text := fmt.Sprintf("DELETE FROM %s WHERE %s", w.table.Name, w.key(true))
		return text + pick(w, "", " AND "+clustering[0].Name+" = "+w.value(), " AND "+clustering[0].Name+pick(w, " > ", " <= ")+w.value(),
			" AND "+clustering[0].Name+" >= "+w.value()+" AND "+clustering[0].Name+" < "+w.value())
	case n < 9:
		return fmt.Sprintf("DELETE FROM %s WHERE %s%s", w.table.Name, w.key(false), w.condition())
	}
	list := w.others(pick(w, schema.Regular, schema.Regular, schema.Static))
	if len(list) == 0 {
		list = w.others(schema.Regular)
	}
	c := pick(w, list...)
	what := c.Name
	if memory.Collection(c.Type) == "map" && w.chance(2) {
		what += "[" + w.value() + "]"
	}
	return fmt.Sprintf("DELETE %s FROM %s WHERE %s", what, w.table.Name, w.key(c.Kind == schema.Static))
}

// question is a SELECT at random.
func (w *twins) question() string {
	var where []string
	restrict := func(c schema.Column) string {
		switch w.rand.IntN(5) {
		case 0:
			return c.Name + " IN (" + w.values() + ")"
		case 1:
			return c.Name + pick(w, " > ", " >= ", " < ", " <= ") + w.value()
		case 2:
			return c.Name + " >= " + w.value() + " AND " + c.Name + " < " + w.value()
		}
		return c.Name + " = " + w.value()
	}
	one := w.chance(2)
	for _, c := range w.table.PartitionKey() {
		if one {
			where = append(where, c.Name+" = "+w.value())
		} else if w.chance(2) {
			where = append(where, pick(w, c.Name+" = "+w.value(), c.Name+" IN ("+w.values()+")"))
		}
	}
	clustering := w.table.ClusteringKey()
	if len(clustering) == 2 && w.chance(5) {
		where = append(where, fmt.Sprintf("(%s, %s) %s (%s, %s)", clustering[0].Name, clustering[1].Name, pick(w, ">", ">=", "<", "<=", "="), w.value(), w.value()))
	} else {
		for _, c := range clustering {
			if w.chance(3) {
				where = append(where, restrict(c))
			}
		}
	}
	for _, c := range w.table.Columns {
		if c.Kind != schema.Regular && c.Kind != schema.Static || !w.chance(6) {
			continue
		}
		switch memory.Collection(c.Type) {
		case "":
			where = append(where, restrict(c))
		case "map":
			if c.Kind == schema.Static {
				continue
			}
			where = append(where, pick(w, c.Name+" CONTAINS "+w.value(), c.Name+" CONTAINS KEY "+w.value(), fmt.Sprintf("%s[%s] = %s", c.Name, w.value(), w.value())))
		default:
			if c.Kind != schema.Static { // Cassandra 5.0 finds a partition by elements of a static collection that were deleted: it does not look whether they live
				where = append(where, c.Name+" CONTAINS "+w.value())
			}
		}
	}
	columns := "*"
	switch {
	case w.chance(6):
		columns = "count(*)"
	case w.chance(8):
		var list []string
		for _, c := range append(w.table.PartitionKey(), w.others(schema.Static)...) {
			list = append(list, c.Name)
		}
		columns = "DISTINCT " + strings.Join(list, ", ")
	case w.chance(3):
		columns = pick(w, "v, a", "a", "v")
	}
	text := "SELECT " + columns + " FROM " + w.table.Name
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if len(clustering) > 0 && w.chance(3) {
		text += " ORDER BY " + clustering[0].Name + pick(w, " ASC", " DESC")
	}
	if w.chance(6) {
		text += " PER PARTITION LIMIT " + pick(w, "1", "2")
	}
	if w.chance(4) {
		text += " LIMIT " + pick(w, "1", "2", "3")
	}
	return text + " ALLOW FILTERING"
}

// ask asks both and compares; it returns how many rows there were, and whether Cassandra took the question.
func (w *twins) ask(said string) (int, bool) {
	text := w.question()
	st, err := cql.Parse(text)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	s := st.(*cql.Select) //nolint:forcetypeassert // it is one
	want, err := w.cassandra(text)
	if err != nil {
		w.refuse(text, err)
		return 0, false
	}
	got := w.lines(text, s)
	if !w.ordered(s) {
		if s.Limit != nil { // which of several partitions come first is nobody's promise
			if len(got) != len(want) {
				w.t.Errorf("after %s:\n%s\n%d rows, on Cassandra %d: %v, on Cassandra %v", said, text, len(got), len(want), got, want)
			}
			return len(want), true
		}
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("after %s:\n%s\nis      %v,\non Cassandra %v", said, text, got, want)
	}
	return len(want), true
}

// ordered tells whether the order of all rows is promised: they are of one partition.
func (w *twins) ordered(s *cql.Select) bool {
	for _, c := range w.table.PartitionKey() {
		if !slices.ContainsFunc(s.Where, func(r cql.Relation) bool { return len(r.Columns) == 1 && r.Columns[0] == c.Name && r.Op == cql.OpEQ }) {
			return false
		}
	}
	return true
}

// lines are the rows in memory.
func (w *twins) lines(text string, s *cql.Select) []string {
	a, err := w.store.Select(s, nil)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	out := make([]string, 0, len(a.Rows))
	for _, r := range a.Rows {
		row := map[string]memory.Value{}
		for i, c := range a.Columns {
			row[c] = r[i]
		}
		out = append(out, line(row))
	}
	return out
}

// line writes a row by the names of its columns.
func line(row map[string]memory.Value) string {
	var parts []string
	for name, v := range row {
		parts = append(parts, name+"="+memory.Text(v))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// cassandra are the rows of a real one.
func (w *twins) cassandra(text string) ([]string, error) {
	iter := w.session.Query(text).PageSize(0).Iter()
	out := []string{}
	for {
		got := map[string]any{}
		if !iter.MapScan(got) {
			break
		}
		row := map[string]memory.Value{}
		for name, v := range got {
			c := w.table.Column(name)
			switch x := v.(type) {
			case int64:
				row[name] = strconv.FormatInt(x, 10)
			case string:
				if row[name] = nil; x != "" { // no value is empty
					row[name] = x
				}
			case []string:
				if row[name] = nil; len(x) > 0 {
					row[name] = memory.List(x)
				}
				if len(x) > 0 && c != nil && memory.Collection(c.Type) == "set" {
					row[name] = memory.SetOf(x...)
				}
			case map[string]string:
				if row[name] = nil; len(x) > 0 {
					row[name] = memory.Map(x)
				}
			}
		}
		out = append(out, line(row))
	}
	return out, iter.Close()
}

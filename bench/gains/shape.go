package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const keyspace = "gains"

// shape is a table of the application, with columns that it is read by though no key leads there.
type shape struct {
	rows      int
	partition int // rows of a partition
	width     int // bytes of a row's text
	columns   []column
}

// column is one that is read by.
type column struct {
	name     string
	rows     int    // of a value
	form     string // of the read: one of forms
	distinct int    // values: the table's rows by rows
}

// forms of reads, by what comes before and after the restriction.
var forms = map[string]struct{ selects, rest string }{
	"all":   {"*", ""},
	"some":  {"id, n", ""},
	"limit": {"id, n, note", " LIMIT 3"},
}

// whole and few are the tables of a run, by their rows.
var (
	whole = []int{2000, 3000, 4000, 5000, 6000, 8000, 10000, 12000, 15000, 18000, 22000, 26000, 30000, 36000, 42000, 50000}
	few   = []int{2000, 5000, 12000, 30000}
)

// shapes are the tables of some sizes: rows of 40 to 1,000 bytes, in partitions of 1 to 100, and of each table three columns of one, two and five rows a value.
func shapes(sizes []int) []*shape {
	partitions, widths, list := []int{1, 10, 100}, []int{40, 200, 1000}, []string{"all", "some", "limit"}
	var out []*shape
	for i, rows := range sizes {
		s := &shape{rows: rows, partition: partitions[i%3], width: widths[(i/3)%3]}
		for j, each := range []int{1, 2, 5} {
			s.columns = append(s.columns, column{name: fmt.Sprintf("c%d", j), rows: each, form: list[(i+j)%3], distinct: rows / each})
		}
		out = append(out, s)
	}
	return out
}

func (s *shape) table() string { return fmt.Sprintf("%s.t%d", keyspace, s.rows) }

// create are the statements that make the table.
func (s *shape) create() []string {
	var columns []string
	for _, c := range s.columns {
		columns = append(columns, c.name+" text")
	}
	return []string{fmt.Sprintf("CREATE TABLE %s (id int, n int, note text, %s, PRIMARY KEY ((id), n))", s.table(), strings.Join(columns, ", "))}
}

// insert is the statement of a row, and its values.
func (s *shape) insert(i int) (text string, values []any) {
	names, marks := []string{"id", "n", "note"}, "?, ?, ?"
	values = []any{i / s.partition, i % s.partition, note(i, s.width)}
	for _, c := range s.columns {
		names, marks = append(names, c.name), marks+", ?"
		values = append(values, c.value(i))
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", s.table(), strings.Join(names, ", "), marks), values
}

// value is a row's; rows of a value are strewn over the table.
func (c *column) value(row int) string { return fmt.Sprintf("%s-%d", c.name, row%c.distinct) }

// read is the statement by a column, and a value that is there.
func (s *shape) read(c *column, r *rand.Rand) (text string, value any) {
	f := forms[c.form]
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?%s ALLOW FILTERING", f.selects, s.table(), c.name, f.rest), c.value(r.IntN(c.distinct))
}

// note is a text that does not compress to nothing.
func note(i, width int) string {
	r := rand.New(rand.NewPCG(uint64(i), 1)) //nolint:gosec // any will do
	b := make([]byte, width)
	for k := range b {
		b[k] = byte('a' + r.IntN(26))
	}
	return string(b)
}

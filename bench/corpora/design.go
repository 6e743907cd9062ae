package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/schema"
)

// table is a table of a design: rows of one entity.
type table struct {
	name       string
	label      string // what it was called before it was given a name that says nothing
	of         *entity
	partition  []column
	clustering []column
	values     []column
	index      string  // column with a secondary index
	view       string  // the table that it is a materialised view of, which the database writes
	share      float64 // of the instances that it holds; 0: all
}

// column is a column and the path from the table's entity that it holds.
type column struct {
	name, path string
	desc       bool
	static     bool
	// form is what the value is made into: "text" and whatever else names a way of writing it as text ("user#", "upper"); equal forms of equal
	// values are equal. "set": the keys of all that the path, a role, leads to, in one cell; over pairs, those of the other ends.
	form string
}

// parseTables reads a design, a line for each table:
//
//	name(Entity): partition | clustering | values [; index=column] [; share=0.01] [; view=table]
//	column = [-|!][name=]path[~form]
//
// with - for descending order and ! for a static column. A column without a name is called like its attribute, or role_id.
func parseTables(w *world, text string) []*table {
	var out []*table
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		head, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		name, of, ok2 := strings.Cut(strings.TrimSuffix(head, ")"), "(")
		if !ok || !ok2 {
			panic("corpora: " + line) // a mistake in a corpus
		}
		t := &table{name: name, label: name, of: w.entity(of)}
		options := strings.Split(rest, ";")
		for _, o := range options[1:] {
			key, value, _ := strings.Cut(strings.TrimSpace(o), "=")
			switch key {
			case "index":
				t.index = value
			case "share":
				_, _ = fmt.Sscan(value, &t.share)
			case "view":
				t.view = value
			}
		}
		for i, part := range strings.Split(options[0], "|") {
			for _, f := range strings.Fields(part) {
				var c column
				f, c.desc = strings.CutPrefix(f, "-")
				f, c.static = strings.CutPrefix(f, "!")
				if c.name, c.path, ok = strings.Cut(f, "="); !ok {
					c.path = f
					c.name = strings.ReplaceAll(f, ".", "_")
					if t.of.edge(f) != nil {
						c.name += "_id"
					}
				}
				if c.path, c.form, _ = strings.Cut(c.path, "~"); c.form != "set" {
					t.of.attributeOf(c.path)
				}
				switch i {
				case 0:
					t.partition = append(t.partition, c)
				case 1:
					t.clustering = append(t.clustering, c)
				default:
					t.values = append(t.values, c)
				}
			}
		}
		out = append(out, t)
	}
	return out
}

func (t *table) key() []column     { return append(slices.Clone(t.partition), t.clustering...) }
func (t *table) columns() []column { return append(t.key(), t.values...) }

func (t *table) column(path string) *column {
	for _, list := range [][]column{t.partition, t.clustering, t.values} {
		for i := range list {
			if list[i].path == path {
				return &list[i]
			}
		}
	}
	return nil
}

func (t *table) named(name string) *column {
	for _, c := range t.columns() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

// quoted is a name as CQL has it.
func quoted(name string) string {
	if strings.ToLower(name) != name {
		return `"` + name + `"`
	}
	return name
}

// counts tells whether it is a table of counters.
func (t *table) counts() bool {
	return slices.ContainsFunc(t.values, func(c column) bool {
		if c.form != "" {
			return false
		}
		_, a := t.of.attributeOf(c.path)
		return a.cqlType == "counter"
	})
}

// holds tells whether an instance is in the table.
func (t *table) holds(i int) bool {
	return t.share == 0 || float64(uint64(i)*0x9E3779B97F4A7C15>>40)/(1<<24) < t.share
}

// odd gives tables and columns the names of a grown system: prefixes, abbreviations, and in each table one column that is
// called differently than elsewhere.
func odd(tables []*table, random *rand.Rand) {
	prefix := []string{"tbl_", "t_", "app_", "x", "cf_"}[random.IntN(5)]
	taken := map[string]bool{}
	short := func(s string, n int) string {
		var b strings.Builder
		for i, r := range s {
			if i == 0 || !strings.ContainsRune("aeiou", r) {
				b.WriteRune(r)
			}
		}
		out := b.String()
		return out[:min(len(out), n)]
	}
	for _, t := range tables {
		name := prefix + short(t.name, 9)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s%s%d", prefix, short(t.name, 9), n)
		}
		taken[name] = true
		t.name = name
		all := t.columns()
		renamed := all[random.IntN(len(all))].name
		for _, list := range [][]column{t.partition, t.clustering, t.values} {
			for i := range list {
				if list[i].name == renamed {
					list[i].name = []string{"ref", "val", "owner", "k", "fld", "src"}[random.IntN(6)]
					for n := 2; t.twice(list[i].name); n++ {
						list[i].name = fmt.Sprintf("%s%d", strings.TrimRight(list[i].name, "0123456789"), n)
					}
					if t.index == renamed {
						t.index = list[i].name
					}
				}
			}
		}
	}
}

func (t *table) twice(name string) bool {
	n := 0
	for _, c := range t.columns() {
		if c.name == name {
			n++
		}
	}
	return n > 1
}

// scramble gives everything names that say nothing.
func scramble(tables []*table, random *rand.Rand) {
	numbers := random.Perm(len(tables))
	for i, t := range tables {
		t.name = fmt.Sprintf("t%d", numbers[i])
		next := random.Perm(len(t.columns()))
		n := 0
		for _, list := range [][]column{t.partition, t.clustering, t.values} {
			for k := range list {
				name := fmt.Sprintf("c%d", next[n])
				n++
				if t.index == list[k].name {
					t.index = name
				}
				list[k].name = name
			}
		}
	}
}

// schemaOf is what Cassandra would say of the tables.
func schemaOf(w *world, keyspace string, tables []*table) *schema.Schema {
	ks := schema.Keyspace{Name: keyspace, Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}}
	for _, t := range tables {
		one := schema.Table{Keyspace: keyspace, Name: t.name, ID: t.name}
		add := func(list []column, kind schema.ColumnKind) {
			if kind == schema.Regular {
				list = slices.Clone(list)
				slices.SortFunc(list, func(a, b column) int { return strings.Compare(a.name, b.name) })
			}
			for i, c := range list {
				position := i
				if kind == schema.Regular {
					position = -1
				}
				kind := kind
				if c.static {
					kind = schema.Static
				}
				one.Columns = append(one.Columns, schema.Column{Name: c.name, Kind: kind, Position: position, Type: w.typeOf(t, c), Descending: c.desc})
				one.Counter = one.Counter || w.typeOf(t, c) == "counter"
			}
		}
		add(t.partition, schema.PartitionKey)
		add(t.clustering, schema.Clustering)
		add(t.values, schema.Regular)
		if t.index != "" {
			one.Indexes = []schema.Index{{Name: t.name + "_" + t.index, Kind: "COMPOSITES", Column: t.index, On: "values"}}
		}
		for _, v := range tables {
			if v.view != "" && v.view == t.label {
				one.Views = append(one.Views, v.name)
			}
		}
		if t.view == "" {
			ks.Tables = append(ks.Tables, one)
			continue
		}
		of := slices.IndexFunc(tables, func(x *table) bool { return x.label == t.view })
		ks.Views = append(ks.Views, schema.View{Table: one, Of: tables[of].name})
	}
	slices.SortFunc(ks.Tables, func(a, b schema.Table) int { return strings.Compare(a.Name, b.Name) })
	return &schema.Schema{Keyspaces: []schema.Keyspace{ks}}
}

// measured is what a measurement of the tables would say: all rows are looked at.
func measured(w *world, keyspace string, tables []*table) []schema.Stats {
	var out []schema.Stats
	for _, t := range tables {
		if t.view != "" {
			continue
		}
		s := schema.Stats{Keyspace: keyspace, Table: t.name, Exact: true}
		different := make([]map[int]bool, len(t.columns()))
		for c := range different {
			different[c] = map[int]bool{}
		}
		partitions, nulls, rows := map[string]bool{}, make([]int, len(different)), 0
		for i := range t.of.count {
			if !t.holds(i) {
				continue
			}
			rows++
			partition := ""
			for c, col := range t.columns() {
				if col.form == "set" {
					continue
				}
				v, ok := t.of.held(i, col)
				if !ok {
					nulls[c]++
					continue
				}
				different[c][v.n] = true
				if c < len(t.partition) {
					partition += fmt.Sprint(v.n, " ")
				}
			}
			partitions[partition] = true
		}
		s.Rows, s.Partitions, s.Sampled = float64(rows), float64(len(partitions)), rows
		for c, col := range t.columns() {
			size := sizeOf(w.typeOf(t, col))
			s.Columns = append(s.Columns, schema.ColumnStats{Name: col.name, Distinct: float64(len(different[c])), MeanBytes: size, Nulls: float64(nulls[c]) / float64(max(rows, 1))})
			s.MeanRowBytes += size
		}
		out = append(out, s)
	}
	return out
}

// typeOf is the CQL type of a column.
func (w *world) typeOf(t *table, c column) string {
	switch c.form {
	case "":
		_, a := t.of.attributeOf(c.path)
		return a.cqlType
	case "set":
		r := w.backwards(t.of, c.path)
		_, a := r.of.attributeOf(r.element())
		return "set<" + a.cqlType + ">"
	}
	return "text"
}

// element is the path to what a set has of each instance that is related: its key; of a pair, that of its other end.
func (r *relation) element() string {
	if r.of.pairs && r == r.of.edges[0] {
		return r.of.edges[1].name
	}
	return r.of.key[0]
}

func sizeOf(cqlType string) float64 {
	switch cqlType {
	case "int", "date":
		return 4
	case "bigint", "double", "timestamp", "counter":
		return 8
	case "uuid", "timeuuid":
		return 16
	case "boolean":
		return 1
	}
	return 18
}

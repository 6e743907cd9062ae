package diagram

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// Schema is what a Chebotko diagram shows.
type Schema struct {
	Name    string
	Tables  []*Table
	Types   []*Type
	Queries []Query
	Arrows  []Arrow
	// Unshown is what is known of the schema and is not in its boxes, in sentences.
	Unshown []string
}

// Table is a box. Its columns are in the order partition key, clustering columns, all others.
type Table struct {
	Keyspace, Name string
	Columns        []Column
}

// Part is what a column is in its table.
type Part string

// The parts.
const (
	Partition  Part = "K"
	Clustering Part = "C"
	Static     Part = "S"
	Regular    Part = ""
)

// Column is a row of a table's box.
type Column struct {
	Name    string
	Type    cql.Type
	Part    Part
	Desc    bool // of a clustering column
	Indexed bool
	// Fields are the names of a tuple's fields, for the logical level; CQL has none.
	Fields []string
}

// Type is a user-defined type.
type Type struct {
	Keyspace string
	Name     string // "": it is called <Column>_type
	Column   string // the column that it was thought of for, if it has no name
	Fields   []Field
}

// Field is one of a type's.
type Field struct {
	Name string
	Type cql.Type
}

// Title is the name of the type, or what it has by default (D-7).
func (t *Type) Title() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Column + "_type"
}

// Query is an access pattern: a number such as Q1, what it is called, and what it says.
type Query struct{ Number, Name, Text string }

// Arrow says that a query comes to table To, from table From or, if that is -1, from outside.
type Arrow struct{ Query, From, To int }

// sort brings the columns into their order.
func (t *Table) sort(partition, clustering []string) {
	place := func(c Column) int {
		if i := slices.Index(partition, c.Name); i >= 0 {
			return i
		}
		if i := slices.Index(clustering, c.Name); i >= 0 {
			return len(partition) + i
		}
		return len(partition) + len(clustering)
	}
	slices.SortStableFunc(t.Columns, func(a, b Column) int { return place(a) - place(b) })
}

// column returns the column of that name, or nil.
func (t *Table) column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// table returns the number of a table, -1 if it is not there. Without a keyspace the first of that name.
func (s *Schema) table(keyspace, name string) int {
	return slices.IndexFunc(s.Tables, func(t *Table) bool { return t.Name == name && (keyspace == "" || t.Keyspace == keyspace) })
}

// title is what a table's box is called: its name, with the keyspace before it if there are several.
func (s *Schema) title(t *Table) string {
	if slices.ContainsFunc(s.Tables, func(other *Table) bool { return other.Keyspace != t.Keyspace }) && t.Keyspace != "" {
		return t.Keyspace + "." + t.Name
	}
	return t.Name
}

// Mark is what stands behind a column.
func (c *Column) Mark() string {
	var marks []string
	switch {
	case c.Part == Clustering && c.Desc:
		marks = append(marks, "C↓")
	case c.Part == Clustering:
		marks = append(marks, "C↑")
	case c.Part != Regular:
		marks = append(marks, string(c.Part))
	}
	if c.Indexed {
		marks = append(marks, "IDX")
	}
	if c.Type.Name == "counter" {
		marks = append(marks, "++")
	}
	return strings.Join(marks, " ")
}

// Logical is a name with the notation of its type: [list], {set}, <map>, *user-defined type*, (tuple).
func Logical(name string, t cql.Type) string {
	inner := t
	for inner.Name == "frozen" && !inner.UDT && len(inner.Args) > 0 {
		inner = inner.Args[0]
	}
	switch {
	case inner.UDT:
		return "*" + name + "*"
	case len(inner.Args) == 0:
		return name
	}
	last := inner.Args[len(inner.Args)-1] // of a map: of its values
	switch inner.Name {
	case "list":
		return "[" + Logical(name, last) + "]"
	case "set":
		return "{" + Logical(name, last) + "}"
	case "map":
		return "<" + Logical(name, last) + ">"
	case "tuple":
		return "(" + name + ")"
	}
	return name
}

// composite is the user-defined type or tuple within a type, if there is one, the outermost.
func composite(t cql.Type) (found cql.Type, ok bool) {
	if t.UDT || t.Name == "tuple" {
		return t, true
	}
	for i := range t.Args {
		if found, ok = composite(t.Args[len(t.Args)-1-i]); ok {
			return found, true
		}
	}
	return found, false
}

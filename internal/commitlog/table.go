package commitlog

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ID is a table's.
type ID [16]byte

// ParseID reads an id as CQL writes it.
func ParseID(text string) (id ID, err error) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%q is no table id", text)
	}
	return ID(b), nil
}

// Column is one column of a table, as the schema says it.
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // partition_key, clustering, static or regular
	Type string `json:"type"` // as CQL writes it
}

// Table is what is to be known of a table, so as to read its mutations.
type Table struct {
	Keyspace, Name string

	partition  int   // columns of the partition key
	clustering []int // lengths of the clustering key's columns
	columns    map[string]column
}

// column is how the cells of a column are written.
type column struct {
	name     string
	length   int  // of each value
	multiple bool // it has a cell for each element
}

// What a length may be besides a number of bytes.
const (
	written = -1 // each value is written with its own
	unknown = -2 // it is a class that is not known
)

// NewTable makes a Table of its columns: those of the partition and of the clustering key each in their order.
func NewTable(keyspace, name string, columns []Column) *Table {
	t := &Table{Keyspace: keyspace, Name: name, columns: map[string]column{}}
	for _, c := range columns {
		length, multiple := form(c.Type)
		switch c.Kind {
		case "partition_key":
			t.partition++
		case "clustering":
			t.clustering = append(t.clustering, length)
		default:
			t.columns[c.Name] = column{c.Name, length, multiple}
		}
	}
	return t
}

// lengths of the types that Cassandra takes for fixed. (smallint, tinyint, date and time are not among them.)
var lengths = map[string]int{"boolean": 1, "int": 4, "float": 4, "bigint": 8, "double": 8, "timestamp": 8, "uuid": 16, "timeuuid": 16, "empty": 0}

// others are the further types that Cassandra has by itself, and that are one cell.
var others = []string{"ascii", "blob", "counter", "date", "decimal", "duration", "inet", "smallint", "text", "time", "tinyint", "varchar", "varint"}

// form says how values of a type are written.
func form(cqlType string) (length int, multiple bool) {
	name, inner, _ := strings.Cut(strings.TrimSpace(cqlType), "<")
	inner = strings.TrimSuffix(inner, ">")
	n, fixed := lengths[name]
	switch {
	case fixed:
		return n, false
	case name == "frozen":
		length, _ = form(inner)
		return length, false
	case name == "list", name == "set", name == "map":
		return written, true
	case name == "tuple":
		return written, false
	case name == "vector":
		element, count, ok := cutLast(inner)
		size, err := strconv.Atoi(strings.TrimSpace(count))
		if of, _ := form(element); ok && err == nil && size > 0 && of >= 0 {
			return of * size, false
		}
		return written, false
	case strings.HasPrefix(name, "'"):
		return unknown, false
	case slices.Contains(others, name):
		return written, false
	}
	return written, true // a type of the keyspace's own that is not frozen has a cell for each field
}

// cutLast cuts "vector<int, 2>, 3" at its last comma.
func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, ',')
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

// SplitKey cuts a partition key into its columns.
func (t *Table) SplitKey(key []byte) ([][]byte, error) {
	if t.partition == 1 {
		return [][]byte{key}, nil
	}
	parts := make([][]byte, 0, t.partition)
	r := reader{b: key}
	for range t.partition {
		parts = append(parts, r.take(uint64(r.short())))
		r.take(1)
	}
	if r.failed || len(r.b) > 0 {
		return nil, ErrMalformed
	}
	return parts, nil
}

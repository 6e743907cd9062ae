// Package schema holds what Cassandra says of its own tables: keyspaces, tables, columns, indexes and views as they stand
// in system_schema (Read), how much is in them (Measure), by which path a statement reaches its rows (Classify), and all that
// it says of them (Analyse): its predicates and the roles of their columns, order and limits, whether it is conditional,
// whether it may be sent twice, and whether a server needs ALLOW FILTERING for it (VerdictOf).
//
// VerdictOf repeats what Cassandra 5.0 decides when it prepares a SELECT. It is held to that by TestFilteringAgreesWithCassandra,
// which sends generated SELECTs on six tables (composite keys, clustering, static columns, collections, older and
// storage-attached indexes, on clustering columns too, vectors) to a real server, with and without ALLOW FILTERING:
//
//	HELENUS_FILTERING=4000 bin/with go test -v -run FilteringAgrees ./capture/schema
//
// Its generator draws selections, DISTINCT, GROUP BY, aggregates, LIKE and SASI indexes too. Figures of a run with 2,300 statements: 5.0.8 takes 220 as they
// are, 904 with ALLOW FILTERING only and 1,176 not at all; no disagreement.
//
// It imports capture/cql and gocql, nothing else of ours. A Schema is a plain value: read once, never changed
// after, safe to share and to print as JSON. Everything in it is sorted, so that equal clusters give equal documents.
//
// Where the link is thin: a change of a user-defined type does not show in the digests of the tables that have columns of it; statistics are estimates taken from one
// coordinator at consistency ONE, biased by whatever the sampled token ranges happen to hold. VerdictOf was not asked about
// values of the wrong type and aggregates that users have made, and judges by 5.0 whatever the server. Of a batch that
// names its partitions by markers nobody can say whether they are one: it counts as several.
package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
)

// Schema is the set of application keyspaces of one cluster at one moment.
type Schema struct {
	Keyspaces []Keyspace `json:"keyspaces"` // by name
}

// Keyspace is one keyspace and its tables.
type Keyspace struct {
	Name        string            `json:"name"`
	Replication map[string]string `json:"replication,omitempty"`
	Tables      []Table           `json:"tables"`          // by name; materialised views are not among them
	Views       []View            `json:"views,omitempty"` // by name
	Types       []UserType        `json:"types,omitempty"`
	Functions   []Function        `json:"functions,omitempty"` // by name and arguments
}

// UserType is a user-defined type.
type UserType struct {
	Name   string  `json:"name"`
	Fields []Field `json:"fields"` // in their order
}

// Field is one field of a user-defined type.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Function is a user-defined function or aggregate. Its body is not kept.
type Function struct {
	Name      string   `json:"name"`
	Arguments []string `json:"arguments"` // types; functions of one name differ by these
	Returns   string   `json:"returns"`   // type
	Aggregate bool     `json:"aggregate,omitempty"`
	State     string   `json:"state,omitempty"` // of an aggregate: the function that takes in a row
	Final     string   `json:"final,omitempty"` // and the one that makes the result, "" for none
	Language  string   `json:"language,omitempty"`
}

// ColumnKind is the part that a column plays in its table, in system_schema's own words.
type ColumnKind string

// The kinds of column.
const (
	PartitionKey ColumnKind = "partition_key"
	Clustering   ColumnKind = "clustering"
	Static       ColumnKind = "static"
	Regular      ColumnKind = "regular"
)

// Table is one table of the application.
type Table struct {
	Keyspace   string   `json:"keyspace"`
	Name       string   `json:"name"`
	ID         string   `json:"id"`      // changes when a table is dropped and created again
	Columns    []Column `json:"columns"` // partition key, clustering key, static, regular; the last two by name
	Indexes    []Index  `json:"indexes,omitempty"`
	Views      []string `json:"views,omitempty"`       // names of the materialised views over it
	Triggers   []string `json:"triggers,omitempty"`    // names
	DefaultTTL int      `json:"default_ttl,omitempty"` // seconds, 0 if rows live for ever
	GCGrace    int      `json:"gc_grace,omitempty"`    // seconds that tombstones are kept for
	ReadRepair string   `json:"read_repair,omitempty"` // BLOCKING unless the table says otherwise; "" if it is not known
	Counter    bool     `json:"counter,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	Flags      []string `json:"flags,omitempty"` // as in system_schema.tables: compound, counter, dense, super
}

// View is a materialised view: a copy of a table's rows that the database keeps, so that nobody writes it. Columns have the names that they have there. It is apart from tables: what is
// said of these, that they can be written, say, or measured, is not so of it.
type View struct {
	Table          // keyspace, name, id and columns
	Of      string `json:"of"`                // the table of the same keyspace that it is made of
	Partial bool   `json:"partial,omitempty"` // its WHERE asks for more than keys that are not null: it has some of the rows
}

// Column is one column of a table.
type Column struct {
	Name       string     `json:"name"`
	Kind       ColumnKind `json:"kind"`
	Position   int        `json:"position"` // in the partition or the clustering key, from 0; -1 elsewhere
	Type       string     `json:"type"`     // as CQL writes it, e.g. "frozen<list<uuid>>"
	Descending bool       `json:"descending,omitempty"`
	Masked     bool       `json:"masked,omitempty"` // what a role reads of it depends on its permissions UNMASK and SELECT_MASKED
}

// Index is one secondary index.
type Index struct {
	Name    string            `json:"name"`
	Kind    string            `json:"kind"`   // COMPOSITES, KEYS or CUSTOM
	Column  string            `json:"column"` // the column it is on
	On      string            `json:"on"`     // what of the column: "values", "keys", "entries" or "full"
	Options map[string]string `json:"options,omitempty"`
}

// Class is the implementation of a custom index, "" for Cassandra's own secondary index.
func (x Index) Class() string {
	c := x.Options["class_name"]
	return c[strings.LastIndexByte(c, '.')+1:]
}

// Keyspace returns a keyspace by its internal name, or nil.
func (s *Schema) Keyspace(name string) *Keyspace {
	if s == nil {
		return nil
	}
	i := sort.Search(len(s.Keyspaces), func(i int) bool { return s.Keyspaces[i].Name >= name })
	if i < len(s.Keyspaces) && s.Keyspaces[i].Name == name {
		return &s.Keyspaces[i]
	}
	return nil
}

// Type returns a user-defined type by its internal name, or nil.
func (k *Keyspace) Type(name string) *UserType {
	if k == nil {
		return nil
	}
	for i := range k.Types {
		if k.Types[i].Name == name {
			return &k.Types[i]
		}
	}
	return nil
}

// Table returns a table by internal names, or nil.
func (s *Schema) Table(keyspace, name string) *Table { return s.Keyspace(keyspace).Table(name) }

// Table returns a table of the keyspace by its internal name, or nil.
func (k *Keyspace) Table(name string) *Table {
	if k == nil {
		return nil
	}
	i := sort.Search(len(k.Tables), func(i int) bool { return k.Tables[i].Name >= name })
	if i < len(k.Tables) && k.Tables[i].Name == name {
		return &k.Tables[i]
	}
	return nil
}

// View returns a materialised view by internal names, or nil.
func (s *Schema) View(keyspace, name string) *View {
	if k := s.Keyspace(keyspace); k != nil {
		for i := range k.Views {
			if k.Views[i].Name == name {
				return &k.Views[i]
			}
		}
	}
	return nil
}

// Column returns a column by its internal name, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// PartitionKey returns the columns of the partition key in order.
func (t *Table) PartitionKey() []Column { return t.ofKind(PartitionKey) }

// ClusteringKey returns the clustering columns in order.
func (t *Table) ClusteringKey() []Column { return t.ofKind(Clustering) }

// PrimaryKey returns the partition key followed by the clustering key.
func (t *Table) PrimaryKey() []Column { return append(t.PartitionKey(), t.ClusteringKey()...) }

func (t *Table) ofKind(k ColumnKind) []Column {
	var out []Column
	for _, c := range t.Columns {
		if c.Kind == k {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Position < out[j].Position })
	return out
}

// Digest is a short stable hash (32 hex digits) of what a rewrite rests on: the table's id, its columns with their types, kinds,
// positions and order, default TTL and counter flag. Indexes, views and comments are left out: rows are found and read the same
// with or without them. (Whether Cassandra would refuse the statement as it was written is asked of each statement.)
func (t *Table) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q.%q %s ttl=%d counter=%t\n", t.Keyspace, t.Name, t.ID, t.DefaultTTL, t.Counter)
	columns := append([]Column(nil), t.Columns...)
	sort.Slice(columns, func(i, j int) bool { return columns[i].Name < columns[j].Name })
	for _, c := range columns {
		fmt.Fprintf(h, "%q %s %d %q %t\n", c.Name, c.Kind, c.Position, c.Type, c.Descending)
		if c.Masked {
			fmt.Fprintf(h, "%q is masked\n", c.Name)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// sortColumns brings columns into the order of Table.Columns.
func sortColumns(columns []Column) {
	rank := map[ColumnKind]int{PartitionKey: 0, Clustering: 1, Static: 2, Regular: 3}
	sort.Slice(columns, func(i, j int) bool {
		a, b := columns[i], columns[j]
		if a.Kind != b.Kind {
			return rank[a.Kind] < rank[b.Kind]
		}
		if a.Position != b.Position {
			return a.Position < b.Position
		}
		return a.Name < b.Name
	})
}

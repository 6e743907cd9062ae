package match

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
)

// MaxValue is the largest value that can be a partition key, in bytes.
const MaxValue = 65535

// MaxName is the longest table name that Cassandra takes.
const MaxName = 48

// Refusal says which correctness condition forbids something, and why. It is an error.
type Refusal struct {
	Condition string // "C4"
	Reason    string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Condition + ": " + r.Reason }

func refuse(condition, format string, args ...any) *Refusal {
	return &Refusal{condition, fmt.Sprintf(format, args...)}
}

// LookUp is a look-up over its base table, as both were when it was approved.
type LookUp struct {
	plan.LookUp
	Base      *schema.Table
	By        schema.Column   // the column that the look-up is keyed by
	Key       []schema.Column // primary key of the base
	Partition int             // how many of Key are its partition key
	// Names of the look-up table's own columns, chosen so as to differ from those of the base: which kind of entry (see package
	// maintain), its id, and a regular column by which it has a writetime; and the partition key of the table of pending rows.
	EntryKind, EntryID, Written, Bucket string

	statements map[string]bool
	text       texts
	standIn    [][]byte // see EntryKey
}

// byteEqual are the types for which Cassandra's = is equality of bytes. The others are refused, as the column looked up by and in the base's
// key: decimal 1.0 and 1.00, two NaNs, a varint with leading zeros, or the booleans 0x01 and 0x69 are equal to Cassandra where they are
// clustered or filtered, and not where they are a partition key. The look-up has one where the base has the other.
var byteEqual = map[string]bool{"ascii": true, "text": true, "varchar": true, "blob": true, "int": true, "bigint": true,
	"smallint": true, "tinyint": true, "timestamp": true, "date": true, "time": true, "uuid": true, "timeuuid": true, "inet": true}

// plainly are the values with which an index option leaves an index one that finds equal bytes; with any other value
// of these options it finds more.
var plainly = map[string]string{"case_sensitive": "true", "normalize": "false", "ascii": "false", "analyzed": "false", "mode": "PREFIX",
	"index_analyzer": "", "query_analyzer": "", "analyzer_class": ""}

// analyses tells whether an index finds more than equal values, and by which option.
func analyses(x schema.Index) (option, value string, ok bool) {
	for _, option := range slices.Sorted(maps.Keys(plainly)) {
		if value, given := x.Options[option]; given && value != plainly[option] {
			return option, value, true
		}
	}
	return "", "", false
}

// New prepares a look-up over its base table, or says which condition forbids it. The result is not changed afterwards.
func New(lu plan.LookUp, base *schema.Table) (*LookUp, *Refusal) {
	if base == nil {
		return nil, refuse("C20", "table %s.%s is not in the schema", lu.Keyspace, lu.Base)
	}
	if base.Counter {
		return nil, refuse("C17", "%s.%s is a counter table: its writes have no timestamp and can not be written twice", lu.Keyspace, lu.Base)
	}
	if lu.Table == "" || len(lu.Table) > MaxName || lu.Table == lu.Base {
		return nil, refuse("C1", "%q can not be the name of a look-up table over %s: 1 to %d letters, and not the base's own", lu.Table, lu.Base, MaxName)
	}
	column := base.Column(lu.Column)
	if column == nil {
		return nil, refuse("C20", "table %s.%s has no column %s", lu.Keyspace, lu.Base, lu.Column)
	}
	switch column.Kind {
	case schema.Static:
		return nil, refuse("C8", "%s is a static column: one value belongs to all rows of a partition", column.Name)
	case schema.PartitionKey, schema.Clustering:
		return nil, refuse("C11", "%s is part of the primary key: a key column has no WRITETIME to settle its entries by", column.Name)
	}
	if strings.Contains(column.Type, "<") && !strings.HasPrefix(column.Type, "frozen<") && !strings.HasPrefix(column.Type, "vector<") {
		return nil, refuse("C9", "%s is a collection (%s): it can not be a key", column.Name, column.Type)
	}
	if !byteEqual[column.Type] {
		return nil, refuse("C19", "%s is of type %s, whose equality is not equality of bytes", column.Name, column.Type)
	}
	for _, x := range base.Indexes {
		if option, value, ok := analyses(x); ok && x.Column == column.Name {
			return nil, refuse("C19", "index %s on %s finds more than equal values (%s = %s)", x.Name, column.Name, option, value)
		}
	}
	l := &LookUp{LookUp: lu, Base: base, By: *column, Key: base.PrimaryKey(), Partition: len(base.PartitionKey()),
		statements: make(map[string]bool, len(lu.Statements))}
	if l.Partition == 0 {
		return nil, refuse("C20", "the partition key of %s.%s is not known", lu.Keyspace, lu.Base)
	}
	for i, k := range l.Key {
		switch {
		case byteEqual[k.Type]:
		case i < l.Partition: // they differ if their bytes do, but are clustered in the look-up, where equal ones are one row
			return nil, refuse("C19", "partition key column %s is of type %s, whose equality is not equality of bytes: two partitions may have one entry", k.Name, k.Type)
		default: // one row, which its writers, its entries and the base may each write with other bytes
			return nil, refuse("C19", "clustering column %s is of type %s, whose equality is not equality of bytes: one row may have several keys", k.Name, k.Type)
		}
	}
	l.standIn = l.makeStandIn()
	for _, s := range lu.Statements {
		l.statements[s] = true
	}
	l.EntryKind, l.EntryID, l.Written, l.Bucket = l.free("entry_kind"), l.free("entry_id"), l.free("written"), l.free("bucket")
	l.text = l.write()
	return l, nil
}

// free returns a name that neither the column nor the key of the base has.
func (l *LookUp) free(name string) string {
	for l.By.Name == name || l.key(name) >= 0 {
		name += "_"
	}
	return name
}

// maxEntryKey is how long the key of a base row, all columns together, may be to have room in the look-up, beside kind and id: Cassandra takes
// clustering keys of 65,535 bytes in all. The base has partition and clustering key apart, and so room for twice as much.
const maxEntryKey = MaxValue - 1 - 8

// makeStandIn makes the key that stands for all keys without room: the shortest there is.
func (l *LookUp) makeStandIn() [][]byte {
	key := make([][]byte, len(l.Key))
	for i, k := range l.Key {
		n := 0
		if allowed, ok := sizes[k.Type]; ok {
			n = allowed[0]
		}
		key[i] = make([]byte, n)
	}
	return key
}

// EntryKey returns the key under which a row of the base has its entries: its own, or, if that is too long to be a key of the look-up,
// the one that stands for all such rows. A read that finds it runs as it was written.
func (l *LookUp) EntryKey(key [][]byte) (entry [][]byte, own bool) {
	n := 0
	for _, k := range key {
		n += len(k)
	}
	if n > maxEntryKey || l.StandsIn(key) {
		return l.standIn, false
	}
	return key, true
}

// StandIn is the key that stands for those that have no room.
func (l *LookUp) StandIn() [][]byte { return l.standIn }

// StandsIn tells whether the key of an entry is not that of one row, but stands for rows whose keys have no room. (A row
// that has this very key is treated as one of them.)
func (l *LookUp) StandsIn(key [][]byte) bool { return slices.EqualFunc(key, l.standIn, bytes.Equal) }

// expands tells whether the driver would take one value of this type for several.
func expands(cqlType string) bool {
	return strings.HasPrefix(cqlType, "tuple<") || strings.HasPrefix(cqlType, "frozen<tuple<")
}

// key finds a column of the primary key, -1 if it is none.
func (l *LookUp) key(column string) int {
	for i := range l.Key {
		if l.Key[i].Name == column {
			return i
		}
	}
	return -1
}

// Indexable tells whether a value of the column has an entry: Cassandra takes no empty partition key, and none over 64 kB.
func Indexable(value []byte) bool { return len(value) > 0 && len(value) <= MaxValue }

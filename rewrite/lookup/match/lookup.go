package match

import (
	"bytes"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// MaxValue is the largest value that can be a partition key, in bytes.
const MaxValue = 65535

// LookUp is a look-up over its base table, as both were when it was approved.
type LookUp struct {
	plan.Rewrite
	Base      *schema.Table
	By        schema.Column   // the column that the look-up is keyed by; none of a look-up that the application keeps (Over)
	Asked     []schema.Column // the columns that reads ask by: By, or what an application's table is keyed by
	Key       []schema.Column // primary key of the base
	Partition int             // how many of Key are its partition key
	// Names of the look-up table's own columns, chosen so as to differ from those of the base: which kind of entry (see package
	// maintain), its id, and a regular column by which it has a writetime; and the partition key of the table of pending rows.
	EntryKind, EntryID, Written, Bucket string

	statements map[string]bool
	text       texts
	standIn    [][]byte // see EntryKey
	foreign    *Keys    // where the keys are found, if that is a table of the application's
}

// New prepares a look-up over its base table, or says which condition forbids it. The result is not changed afterwards.
func New(lu plan.Rewrite, base *schema.Table) (*LookUp, *condition.Refusal) {
	c := &candidate{Rewrite: lu, base: base}
	if base != nil {
		c.column = base.Column(lu.Column)
	}
	if refusal := first(tableChecks, c); refusal != nil {
		return nil, refusal
	}
	l := &LookUp{Rewrite: lu, Base: base, By: *c.column, Asked: []schema.Column{*c.column}, Key: base.PrimaryKey(), Partition: len(base.PartitionKey())}
	l.approve(lu.Statements)
	l.standIn = l.makeStandIn()
	l.EntryKind, l.EntryID, l.Written, l.Bucket = l.free("entry_kind"), l.free("entry_id"), l.free("written"), l.free("bucket")
	l.text = l.write()
	return l, nil
}

// approve takes down which statements may be answered.
func (l *LookUp) approve(fingerprints []string) {
	l.statements = make(map[string]bool, len(fingerprints))
	for _, s := range fingerprints {
		l.statements[s] = true
	}
}

// free returns a name that neither the column nor the key of the base has.
func (l *LookUp) free(name string) string {
	for l.By.Name == name || l.key(name) >= 0 {
		name += "_"
	}
	return name
}

// MaxEntryKey is how long the key of a base row, all columns together, may be to have room in the look-up, beside kind and id: Cassandra takes
// clustering keys of 65,535 bytes in all. The base has partition and clustering key apart, and so room for twice as much.
const MaxEntryKey = MaxValue - 1 - 8

// makeStandIn makes the key that stands for all keys without room: the shortest there is; nil if no key can be too long, as all its columns are short.
func (l *LookUp) makeStandIn() [][]byte {
	key, long := make([][]byte, len(l.Key)), false
	for i, k := range l.Key {
		n := 0
		if allowed, ok := sizes[k.Type]; ok {
			n = allowed[0]
		} else {
			long = true
		}
		key[i] = make([]byte, n)
	}
	if !long {
		return nil
	}
	return key
}

// EntryKey returns the key under which a row of the base has its entries: its own, or, if that is too long to be a key of the look-up,
// the one that stands for all such rows. A read that finds it runs as it was written.
func (l *LookUp) EntryKey(key [][]byte) (entry [][]byte, own bool) {
	if l.standIn == nil {
		return key, true
	}
	n := 0
	for _, k := range key {
		n += len(k)
	}
	if n > MaxEntryKey || l.StandsIn(key) {
		return l.standIn, false
	}
	return key, true
}

// StandIn is the key that stands for those that have no room.
func (l *LookUp) StandIn() [][]byte { return l.standIn }

// StandsIn tells whether the key of an entry is not that of one row, but stands for rows whose keys have no room. (A row
// that has this very key is treated as one of them. It has an empty text or blob in it.)
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

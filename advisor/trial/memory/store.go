package memory

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Store is a set of tables with their rows.
type Store struct {
	keyspace string // in use
	tables   map[cql.TableRef]*table
}

type table struct {
	*schema.Table
	key     []schema.Column // primary key
	parts   int             // how many of them are the partition key
	rows    map[string]*row
	statics map[string]*row // the static columns of partitions; their keys are partition keys
	lying   []*row          // sorted, nil after a write
}

// row is a row that was written; it exists if it was inserted, or has a value.
type row struct {
	key      []string // primary key
	part     string   // its partition, joined
	hash     uint64   // of the partition
	inserted bool
	cells    map[string]Value
}

// New returns the tables of a schema without rows; keyspace is in use.
func New(s *schema.Schema, keyspace string) *Store {
	out := &Store{keyspace: keyspace, tables: map[cql.TableRef]*table{}}
	for i := range s.Keyspaces {
		k := &s.Keyspaces[i]
		for j := range k.Tables {
			t := &k.Tables[j]
			out.tables[cql.TableRef{Keyspace: t.Keyspace, Table: t.Name}] = &table{Table: t, key: t.PrimaryKey(), parts: len(t.PartitionKey()), rows: map[string]*row{}, statics: map[string]*row{}}
		}
	}
	return out
}

func (s *Store) table(ref cql.TableRef) (*table, error) {
	t := s.tables[ref.In(s.keyspace)]
	if t == nil {
		return nil, fmt.Errorf("there is no table %s", ref)
	}
	if t.Counter {
		return nil, unknown("the counters of %s", t.Name)
	}
	return t, nil
}

// joined is one string for several, different for different ones.
func joined(parts []string) string {
	var b []byte
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(len(p)), 10)
		b = append(append(append(b, ':'), p...), ',')
	}
	return string(b)
}

// Hash is a number for some values, here in place of a token.
func Hash(parts []string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(joined(parts))) // never fails
	return h.Sum64()
}

func (r *row) exists() bool {
	if r.inserted {
		return true
	}
	for _, v := range r.cells {
		if v != nil {
			return true
		}
	}
	return false
}

// empty is a row, or what stands for a partition, without anything.
func (t *table) empty(key []string) *row {
	partition := key[:min(len(key), t.parts)]
	return &row{key: slices.Clone(key), part: joined(partition), hash: Hash(partition), cells: map[string]Value{}}
}

// at returns the row of a key, made if it is not there.
func (t *table) at(key []string) *row {
	id := joined(key)
	r := t.rows[id]
	if r == nil {
		r = t.empty(key)
		t.rows[id] = r
	}
	return r
}

func (t *table) value(r *row, column string) Value {
	for i, c := range t.key {
		if c.Name == column {
			if i >= len(r.key) {
				return nil // of a partition that has static columns and no row
			}
			return r.key[i]
		}
	}
	if c := t.Column(column); c != nil && c.Kind == schema.Static {
		if p := t.statics[r.part]; p != nil {
			return p.cells[column]
		}
		return nil
	}
	return r.cells[column]
}

// sorted lists the rows that exist, by partition in the order of Hash, then as they lie. A partition that has static columns and no row
// is one that has its partition key only.
func (t *table) sorted() []*row {
	if t.lying != nil {
		return t.lying
	}
	rows := []*row{}
	full := map[string]bool{}
	for _, r := range t.rows {
		if r.exists() {
			rows = append(rows, r)
			full[r.part] = true
		}
	}
	n := t.parts
	for p, r := range t.statics {
		if !full[p] && r.exists() {
			rows = append(rows, r)
		}
	}
	clustering := t.key[n:]
	slices.SortFunc(rows, func(a, b *row) int {
		if d := cmp.Or(cmp.Compare(a.hash, b.hash), strings.Compare(a.part, b.part)); d != 0 {
			return d
		}
		for i, c := range clustering {
			if n+i >= len(a.key) || n+i >= len(b.key) {
				return len(a.key) - len(b.key)
			}
			if d := strings.Compare(a.key[n+i], b.key[n+i]); d != 0 {
				if c.Descending {
					return -d
				}
				return d
			}
		}
		return 0
	})
	t.lying = rows
	return rows
}

// Dump writes all that a table holds; what it writes is the same only if that is.
func (s *Store) Dump(keyspace, name string) string {
	t := s.tables[cql.TableRef{Keyspace: keyspace, Table: name}]
	if t == nil {
		return ""
	}
	var b strings.Builder
	for _, r := range t.sorted() {
		fmt.Fprintf(&b, "%q %t", r.key, r.inserted)
		for _, c := range t.Columns {
			b.WriteByte(' ')
			b.WriteString(strconv.Quote(Text(t.value(r, c.Name))))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

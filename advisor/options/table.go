package options

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// Table is a table of an option: a row key and indexes, each of filter fields that are concatenated, and other columns.
// Tables are not changed once made.
type Table struct {
	Tree    model.Tree // its rows are those of the join over it
	Purpose Purpose
	For     string // look-up and insert tables: the statement that needs them

	u       *universe
	key     set
	indexes []set // sorted, distinct, none empty
	rest    set
	ranges  set // a part of key that is compared by ranges: clustering columns
	split   set // a part of key that the partition consists of, the others being clustering columns; empty: all but ranges
	queries set // those it answers
	least   int // the columns of the smallest table that has become part of it
	all     set
	id      string

	physical         *model.Table // once asked for
	primary, columns set          // its primary key, and all its fields
}

// Purpose says why a table is there.
type Purpose string

// The purposes.
const (
	Read   Purpose = "read"    // answers queries
	LookUp Purpose = "look-up" // says where an UPDATE or DELETE finds its rows
	Helper Purpose = "insert"  // holds what an INSERT needs of another entity; never merged
)

// setNames sorts and names what has been set.
func (t *Table) setNames() {
	t.physical = nil
	if t.Purpose == "" {
		t.Purpose = Read
	}
	t.indexes = slices.DeleteFunc(t.indexes, set.empty)
	slices.SortFunc(t.indexes, func(a, b set) int {
		switch {
		case a.less(b):
			return -1
		case b.less(a):
			return 1
		}
		return 0
	})
	t.indexes = slices.Compact(t.indexes)
	t.all = t.key.or(t.rest)
	for _, x := range t.indexes {
		t.all = t.all.or(x)
	}
	t.id = t.String() + " " + t.Tree.Key()
	if t.Purpose == Helper { // a read table of the same content stays beside it
		t.id += " insert"
	}
}

// Key is the row key's filter fields, none if the table is read by indexes alone.
func (t *Table) Key() []model.Field { return t.u.fieldsOf(t.key) }

// Indexes are the secondary indexes' fields.
func (t *Table) Indexes() [][]model.Field {
	list := make([][]model.Field, len(t.indexes))
	for i, x := range t.indexes {
		list[i] = t.u.fieldsOf(x)
	}
	return list
}

// Rest is the other columns.
func (t *Table) Rest() []model.Field { return t.u.fieldsOf(t.rest) }

// Columns counts columns as seed 000 does: the row key is one, each index is one, and so is each other field (B-45).
func (t *Table) Columns() int {
	n := len(t.indexes) + t.rest.len()
	if !t.key.empty() {
		n++
	}
	return n
}

// indexedFields counts indexed fields.
func (t *Table) indexedFields() int {
	n := 0
	for _, x := range t.indexes {
		n += x.len()
	}
	return n
}

// String writes "key fields | index fields; index fields | others", in the seed's way of concatenating, the fields with
// their entities.
func (t *Table) String() string {
	var indexes []string
	for _, x := range t.indexes {
		indexes = append(indexes, t.concatenate(x))
	}
	key := t.concatenate(t.key)
	if !t.split.empty() {
		key = t.concatenate(t.split) + " + " + t.concatenate(t.key.minus(t.split))
	}
	rest := model.Names(t.Rest())
	sort.Strings(rest)
	return fmt.Sprintf("key %s | index %s | %s", orDash(key), orDash(strings.Join(indexes, "; ")), orDash(strings.Join(rest, ", ")))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (t *Table) concatenate(s set) string { return strings.Join(model.Names(t.u.fieldsOf(s)), "_") }

// partitionSet is what must be known to read by the row key.
func (t *Table) partitionSet() set {
	if !t.split.empty() {
		return t.split
	}
	if p := t.key.minus(t.ranges); !p.empty() {
		return p
	}
	return t.key
}

// accessBy tells how a table is read by the values of a filter: whether by the row key, and by how many indexes. It is not ok
// if some field of the filter is in none of them.
func (t *Table) accessBy(filter set) (byKey bool, indexes int, ok bool) {
	var covered set
	if p := t.partitionSet(); !p.empty() && p.in(filter) {
		byKey, covered = true, t.key
	}
	for _, x := range t.indexes {
		if x.in(filter) && !x.in(covered) {
			indexes++
			covered = covered.or(x)
		}
	}
	return byKey, indexes, (byKey || indexes > 0) && filter.in(covered)
}

// Answers reports whether one request to the table answers the query (B-3).
func (t *Table) Answers(q *Query) bool {
	_, _, ok := t.accessBy(q.filter)
	return ok && q.all.in(t.all)
}

// stores reports whether the table stores f, under its own name or that of its column.
func (t *Table) stores(f model.Field) bool {
	return slices.ContainsFunc([]model.Field{canonical(t.Tree, f), f}, func(f model.Field) bool {
		i, ok := t.u.number[f]
		return ok && t.all.has(i)
	})
}

// Physical is the table as Cassandra has it. The primary key is the row key with, as clustering columns, its ranges and what
// tells the rows apart; a row key of ranges alone has a bucket before it, as by rule MR3 (D-28); a table without a row key has its first entity's own key there, and the indexed fields (B-16).
func (t *Table) Physical() *model.Table {
	if t.physical == nil {
		t.physical = t.physicalTable()
		t.primary, t.columns = t.u.set(t.physical.Key()...), t.u.set(t.physical.Fields()...)
	}
	return t.physical
}

// primaryKey is the primary key of the table that Cassandra has.
func (t *Table) primaryKey() set {
	t.Physical()
	return t.primary
}

// storedFields is all fields of the table that Cassandra has.
func (t *Table) storedFields() set {
	t.Physical()
	return t.columns
}

func (t *Table) physicalTable() *model.Table {
	p := &model.Table{Tree: t.Tree}
	p.Partition = t.u.fieldsOf(t.partitionSet())
	p.Clustering = t.u.fieldsOf(t.key.minus(t.partitionSet()))
	if !t.key.empty() && t.key.in(t.ranges) { // of which Cassandra makes no partition: all rows are in one, of a made-up column
		p.Partition, p.Clustering, p.Bucket = nil, t.u.fieldsOf(t.key), &model.Bucket{Count: 1}
	}
	if t.key.empty() {
		p.Partition = canonicalAll(t.Tree, t.Tree.Entities[0].KeyFields())
		for _, x := range t.indexes {
			for _, f := range t.u.fieldsOf(x) {
				if !p.InKey(f) {
					p.Clustering = append(p.Clustering, f)
				}
			}
		}
	}
	t.completeKey(p)
	for _, i := range t.all.members() {
		if f := t.u.fields[i]; !p.InKey(f) {
			p.Values = append(p.Values, f)
		}
	}
	for _, x := range t.indexes {
		for _, f := range t.u.fieldsOf(x) {
			sole := len(p.Partition) == 1 && p.Partition[0] == f // is looked up by anyhow
			if !sole && !p.HasIndex(f) {
				p.Indexes = append(p.Indexes, model.Index{Field: f, SAI: true})
			}
		}
	}
	return p
}

// completeKey appends the keys of the tree's entities, those first that determine most others, and takes back what the rows are
// told apart without.
func (t *Table) completeKey(p *model.Table) {
	entities := slices.Clone(t.Tree.Entities)
	slices.SortStableFunc(entities, func(a, b *model.Entity) int {
		return len(t.Tree.Determined(b).Entities) - len(t.Tree.Determined(a).Entities)
	})
	var added [][]model.Field
	for _, e := range entities {
		if p.Identifies() {
			break
		}
		var more []model.Field
		for _, f := range canonicalAll(t.Tree, e.KeyFields()) {
			if !p.InKey(f) {
				more = append(more, f)
			}
		}
		p.Clustering = append(p.Clustering, more...)
		added = append(added, more)
	}
	for _, more := range added {
		was := p.Clustering
		p.Clustering = slices.DeleteFunc(slices.Clone(was), func(f model.Field) bool { return slices.Contains(more, f) })
		if !p.Identifies() {
			p.Clustering = was
		}
	}
}

// Physical are the option's tables as Cassandra has them.
func (o *Option) Physical() []*model.Table {
	if o.Given {
		return o.given
	}
	list := make([]*model.Table, len(o.Tables))
	for i, t := range o.Tables {
		list[i] = t.Physical()
	}
	return list
}

package model

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// rowOverhead is what Cassandra stores with a row beyond its values: flags, sizes, timestamps. Bytes, approximate.
const rowOverhead = 16

// Table is a column family over a tree: one row for each combination of related entities, projected onto the fields.
// A table that is not Existing is a candidate.
type Table struct {
	Tree       Tree
	Partition  []Field // order matters in CQL only
	Clustering []Field
	Values     []Field
	Desc       []Field // those of Clustering that are sorted in descending order
	Static     []Field // those of Values that a partition has once

	// Nests are collections in the rows, of which Tree, and all that says what the rows are, knows nothing.
	Nests []*Nest

	// Bucket is one more column of the partition key, which may then have no fields: what no query has an equality for is
	// read bucket by bucket, and what would be one partition too large is split.
	Bucket *Bucket

	Keyspace, Name string // "" for candidates until a design names them

	// Existing tables belong to the application: they cost nothing to keep, and are not changed.
	Existing bool
	// Kept tables are there, too, but in a design without a cluster: they take no space and can not be given up; their
	// writes are those of the design, with support queries, and cost what they cost.
	Kept        bool
	Indexes     []Index          // secondary indexes
	ScanAllowed bool             // statements of the application read it with ALLOW FILTERING
	Count       float64          // rows as observed; 0: estimated from the tree
	Columns     map[Field]string // column names, where they differ from what ColumnName makes
	Types       map[Field]string // column types, where they differ from the attribute's

	// Base makes the table a verified look-up: whoever reads it reads the base rows again, by primary key, and checks
	// the condition there. So entries may be stale, and writes only ever add to it.
	Base *Table
}

// Index is a secondary index of a table.
type Index struct {
	Name  string
	Field Field
	SAI   bool // a storage-attached index, as of Cassandra 5.0
}

// Bucket is a made-up column that spreads rows over partitions. Readers that can not tell the bucket read all of them; see
// Number for what is in it.
type Bucket struct {
	Of    Field   // what the bucket is computed from: its hash, or with Width its time; zero: all in the one bucket 0
	Width float64 // of a time bucket, seconds; 0: a hash bucket
	Count float64 // number of buckets
}

// NewTable returns a candidate over the smallest tree in g that holds all fields. It is an error if there is more than
// one such tree (name the edges then), or none.
func NewTable(g *Graph, partition, clustering, values []Field, edges ...*Relationship) (*Table, error) {
	t := &Table{Partition: partition, Clustering: clustering, Values: values}
	if len(partition) == 0 {
		return nil, fmt.Errorf("table %s has no partition key", t)
	}
	var entities []*Entity
	for _, f := range t.Fields() {
		if !contains(entities, f.Entity) {
			entities = append(entities, f.Entity)
		}
	}
	var err error
	if len(edges) > 0 || len(entities) == 1 {
		t.Tree, err = NewTree(entities[0], edges...)
	} else {
		t.Tree, err = g.Connect(entities)
	}
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t, err)
	}
	return t, t.Validate()
}

// Connect returns the smallest tree that holds the entities, joining them to the first one by one over shortest ways.
// It is an error if there is no way, or two of the same length.
func (g *Graph) Connect(entities []*Entity) (Tree, error) {
	tree := Tree{Entities: entities[:1]}
	for _, e := range entities[1:] {
		if tree.Has(e) {
			continue
		}
		way, err := g.way(tree, e)
		if err != nil {
			return Tree{}, err
		}
		if tree, err = NewTree(entities[0], append(append([]*Relationship(nil), tree.Edges...), way...)...); err != nil {
			return Tree{}, err
		}
	}
	return tree, nil
}

// way finds the shortest way from the tree to e, breadth first.
func (g *Graph) way(tree Tree, e *Entity) ([]*Relationship, error) {
	type reached struct {
		way  []*Relationship
		more bool // there is another way of the same length
	}
	seen := map[*Entity]*reached{}
	frontier := append([]*Entity(nil), tree.Entities...)
	for _, x := range frontier {
		seen[x] = &reached{}
	}
	for len(frontier) > 0 && seen[e] == nil {
		var next []*Entity
		level := map[*Entity]*reached{}
		for _, x := range frontier {
			for _, r := range g.Edges(x) {
				y := r.Other(x)
				switch {
				case seen[y] != nil:
				case level[y] != nil:
					level[y].more = true
				default:
					level[y] = &reached{way: append(append([]*Relationship(nil), seen[x].way...), r), more: seen[x].more}
					next = append(next, y)
				}
			}
		}
		for y, l := range level {
			seen[y] = l
		}
		frontier = next
	}
	switch found := seen[e]; {
	case found == nil:
		return nil, fmt.Errorf("no relationships connect %s to %s", tree.Entities[0].Name, e.Name)
	case found.more:
		return nil, fmt.Errorf("%s and %s are connected in several ways: name the relationships", tree.Entities[0].Name, e.Name)
	default:
		return found.way, nil
	}
}

// Validate returns what is wrong with the table: a field twice, a field outside of the tree, no partition key, or, for a
// candidate, a primary key that does not tell the rows apart.
func (t *Table) Validate() error {
	if len(t.Partition) == 0 && t.Bucket == nil {
		return fmt.Errorf("table %s has no partition key", t)
	}
	seen := map[Field]bool{}
	for _, f := range t.Fields() {
		if f.IsZero() {
			return fmt.Errorf("table %s has a field without a name", t)
		}
		if seen[f] {
			return fmt.Errorf("table %s has field %s twice", t, f)
		}
		seen[f] = true
		if !t.Tree.Has(f.Entity) {
			return fmt.Errorf("table %s has field %s, but %s is not in its graph %s", t, f, f.Entity.Name, t.Tree.Path())
		}
	}
	if !t.Existing && !t.Identifies() {
		return t.overwrites()
	}
	for _, i := range t.Indexes {
		if !seen[i.Field] {
			return fmt.Errorf("table %s has index %s on %s, which is not one of its fields", t, i.Name, i.Field)
		}
	}
	return t.validateOptions()
}

// overwrites is the error of a table that does not tell its rows apart.
func (t *Table) overwrites() error {
	return fmt.Errorf("table %s: rows can share a primary key: it does not determine every entity of %s", t, t.Tree.Path())
}

// validateOptions checks descending and static columns and the bucket.
func (t *Table) validateOptions() error {
	for _, f := range t.Desc {
		if !slices.Contains(t.Clustering, f) {
			return fmt.Errorf("table %s sorts by %s, which is not one of its clustering columns", t, f)
		}
	}
	for _, f := range t.Static {
		switch {
		case !slices.Contains(t.Values, f) || len(t.Clustering) == 0:
			return fmt.Errorf("table %s: %s can not be static: only values beside a clustering key can", t, f)
		case !t.Existing && !contains(t.determined(t.Partition), f.Entity):
			return fmt.Errorf("table %s: %s can not be static: a partition may have several", t, f)
		}
	}
	if b := t.Bucket; b != nil && (!isCount(b.Count) || !(b.Width >= 0) || !b.Of.IsZero() && !t.Tree.Has(b.Of.Entity) || b.Of.IsZero() && b.Count != 1) {
		return fmt.Errorf("table %s: its bucket needs a field of the tree and a number of buckets, or one bucket of nothing", t)
	}
	return t.validateNests()
}

// Identifies tells whether the primary key determines every entity of the tree: whether each row of the join has a row
// of its own.
func (t *Table) Identifies() bool { return len(t.determined(t.Key())) == len(t.Tree.Entities) }

// determined returns the entities that values of the fields determine: those whose key is among them, and what is reached
// from those over to-one edges.
func (t *Table) determined(fields []Field) []*Entity {
	var determined []*Entity
	for _, e := range t.Tree.Entities {
		if !t.keyed(e, fields) {
			continue
		}
		for _, d := range t.Tree.Determined(e).Entities {
			if !contains(determined, d) {
				determined = append(determined, d)
			}
		}
	}
	return determined
}

// Tells reports whether the fields of a row tell what f is: it is among them, a copy of what is, or of what belongs to an entity that they name.
func (t *Table) Tells(fields []Field, f Field) bool { return t.given(f, fields, maxCopies) }

// keyed tells whether the fields hold a key of e.
func (t *Table) keyed(e *Entity, fields []Field) bool { return t.keyedBy(e, fields, maxCopies) }

// maxCopies bounds how deep weak entities own each other: files may say that two attributes are copies of each other.
const maxCopies = 6

// keyedBy follows at most that many copies.
func (t *Table) keyedBy(e *Entity, fields []Field, copies int) bool {
	all := func(key []*Attribute) bool {
		for _, k := range key {
			if !t.given(Field{e, k}, fields, copies) {
				return false
			}
		}
		return len(key) > 0
	}
	return all(e.Key) || slices.ContainsFunc(e.Alternate, all)
}

// given tells whether f is among the fields, or is a copy of what is, or of what belongs to an entity that they name.
func (t *Table) given(f Field, fields []Field, copies int) bool {
	if slices.Contains(fields, f) {
		return true
	}
	c := f.Attribute.Copied
	if c == nil || copies == 0 {
		return false
	}
	for _, r := range t.Tree.Edges {
		owner := r.Other(f.Entity)
		if owner != nil && r.Base() == c.Edge && (t.given(Field{owner, c.Of}, fields, copies-1) || t.keyedBy(owner, fields, copies-1)) {
			return true
		}
	}
	return false
}

// Key returns the primary key: partition and clustering fields.
func (t *Table) Key() []Field {
	return append(append(make([]Field, 0, len(t.Partition)+len(t.Clustering)), t.Partition...), t.Clustering...)
}

// Fields returns all fields, the key's first.
func (t *Table) Fields() []Field { return append(t.Key(), t.Values...) }

// Has tells whether f is a field of the table.
func (t *Table) Has(f Field) bool { return t.InKey(f) || slices.Contains(t.Values, f) }

// InKey tells whether f is in the primary key.
func (t *Table) InKey(f Field) bool {
	return slices.Contains(t.Partition, f) || slices.Contains(t.Clustering, f)
}

// HasIndex tells whether there is a secondary index on f.
func (t *Table) HasIndex(f Field) bool {
	for _, i := range t.Indexes {
		if i.Field == f {
			return true
		}
	}
	return false
}

// Names are the names of fields.
func Names(fields []Field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.String()
	}
	return list
}

// String writes [partition][clustering][values], with attribute names where they are clear; what is descending, static or a
// bucket says so.
func (t *Table) String() string {
	short := t.names()
	list := func(fields []Field, marked []Field, mark string, more ...string) string {
		var names []string
		for _, f := range fields {
			name := short[f]
			if slices.Contains(marked, f) {
				name += mark
			}
			names = append(names, name)
		}
		return "[" + strings.Join(append(names, more...), ", ") + "]"
	}
	var bucket []string
	if t.Bucket != nil {
		bucket = append(bucket, t.Bucket.String())
	}
	text := list(t.Partition, nil, "", bucket...) + list(t.Clustering, t.Desc, " desc") + list(t.Values, t.Static, " static")
	for _, n := range t.Nests {
		text += n.notation()
	}
	return text
}

// String writes bucket(Entity.attribute), with the number of buckets or their width.
func (b *Bucket) String() string {
	switch {
	case b.Of.IsZero():
		return "bucket"
	case b.Width > 0:
		return fmt.Sprintf("bucket(%s / %gs)", b.Of, b.Width)
	}
	return fmt.Sprintf("bucket(%s %% %g)", b.Of, b.Count)
}

// names gives each field its attribute's name, and its entity's with it where two fields share one.
func (t *Table) names() map[Field]string {
	count := map[string]int{}
	for _, f := range t.Fields() {
		if !f.IsZero() {
			count[f.Attribute.Name]++
		}
	}
	names := map[Field]string{}
	for _, f := range t.Fields() {
		switch {
		case f.IsZero():
			names[f] = "?"
		case count[f.Attribute.Name] > 1:
			names[f] = f.String()
		default:
			names[f] = f.Attribute.Name
		}
	}
	return names
}

// ID names a table by its whole content: tables that hold the same in the same order have the same ID, also where
// occurrences of an entity are numbered in another order. Partition keys and values are sets, statics a part of them; the ID
// of an existing table is its name.
func (t *Table) ID() string {
	if t.Existing {
		return "existing " + t.Keyspace + "." + t.Name
	}
	id := list(t.Partition, true, nil) + list(t.Clustering, false, t.Desc) + list(t.Values, true, t.Static) + t.Tree.Key()
	if whole := t.Whole(); whole.repeats() {
		id = whole.Code(t.holds)
	} else {
		id += t.nestID()
	}
	if t.Bucket != nil {
		id += t.bucketID()
	}
	if len(t.Indexes) > 0 {
		id += t.indexID()
	}
	if t.Base != nil {
		id += " look-up of " + t.Base.ID()
	}
	return id
}

// list writes fields as a part of an ID; those of marked have a sign.
func list(fields []Field, sorted bool, marked []Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		if names[i] = f.String(); slices.Contains(marked, f) {
			names[i] += "!"
		}
	}
	if sorted {
		sort.Strings(names)
	}
	return "[" + strings.Join(names, ",") + "]"
}

// holds writes what the table holds of an entity, and where.
func (t *Table) holds(e *Entity) string {
	var parts []string
	add := func(where string, fields []Field, ordered bool, marked []Field) {
		for i, f := range fields {
			if f.Entity != e {
				continue
			}
			part := where
			if ordered {
				part += fmt.Sprint(i)
			}
			if slices.Contains(marked, f) {
				part += "!"
			}
			parts = append(parts, part+"."+f.Attribute.Name)
		}
	}
	add("K", t.Partition, false, nil)
	add("C", t.Clustering, true, t.Desc)
	add("V", t.Values, false, t.Static)
	for _, i := range t.Indexes {
		add("I", []Field{i.Field}, false, nil)
	}
	if t.Bucket != nil && !t.Bucket.Of.IsZero() {
		add("B", []Field{t.Bucket.Of}, false, nil)
	}
	if nested := t.nested(e); nested != "" {
		parts = append(parts, nested)
	}
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

func (t *Table) bucketID() string {
	of := ""
	switch {
	case t.Bucket.Of.IsZero():
	case t.Tree.repeats(): // t.holds says of which occurrence
		of = t.Bucket.Of.Attribute.Name
	default:
		of = t.Bucket.Of.String()
	}
	return fmt.Sprintf(" bucket of %s by %g in %g", of, t.Bucket.Width, t.Bucket.Count)
}

func (t *Table) indexID() string {
	var names []string
	for _, i := range t.Indexes {
		name := i.Field.Attribute.Name
		if !t.Tree.repeats() {
			name = i.Field.String()
		}
		names = append(names, fmt.Sprintf("%s %t", name, i.SAI))
	}
	sort.Strings(names)
	return " index on " + strings.Join(names, ",")
}

// Entries is the number of rows.
func (t *Table) Entries() float64 {
	if t.Count > 0 {
		return t.Count
	}
	return t.Tree.Rows()
}

// RowBytes is the size of a row, bytes, without replication: without static columns and collections, and with as much of the
// others as is there.
func (t *Table) RowBytes() float64 {
	size := float64(rowOverhead)
	for _, f := range t.Key() {
		size += f.Size()
	}
	for _, f := range t.Values {
		if !slices.Contains(t.Static, f) {
			size += f.Size() * (1 - f.Attribute.Null)
		}
	}
	if t.Bucket != nil {
		size += TypeSize(t.Bucket.Type())
	}
	return size
}

// Bytes is the size of the table, bytes, without replication and compression.
func (t *Table) Bytes() float64 {
	static := 0.0
	for _, f := range t.Static {
		static += f.Size() * (1 - f.Attribute.Null)
	}
	if static > 0 {
		static *= t.Partitions()
	}
	return t.Entries()*t.RowBytes() + static + t.nestBytes()
}

// Partitions estimates the number of partitions: of the combinations of those entities that the partition key speaks of, as
// many as have a row; all of them if the partition key tells them apart, else as many different values as they are expected
// to have.
func (t *Table) Partitions() float64 {
	partitions := 1.0
	if len(t.Partition) > 0 {
		partitions = t.values()
	}
	if t.Bucket != nil && t.Bucket.Count > 1 {
		partitions = Distinct(t.Entries(), partitions*t.Bucket.Count)
	}
	return partitions
}

// values estimates how many different values the fields of the partition key have.
func (t *Table) values() float64 {
	var entities []*Entity
	for _, f := range t.Partition {
		if !contains(entities, f.Entity) {
			entities = append(entities, f.Entity)
		}
	}
	span := t.Tree.Span(entities)
	combinations := min(t.Tree.present(span), t.Entries())
	known := t.determined(t.Partition)
	values, told := 1.0, true
	for _, e := range span.Entities {
		told = told && contains(known, e)
	}
	if told {
		return max(1, combinations)
	}
	var keyed []*Entity
	for _, e := range entities {
		of := 1.0
		for _, f := range t.Partition {
			if f.Entity == e {
				of *= f.Distinct()
			}
		}
		switch {
		case t.keyed(e, t.Partition):
			keyed = append(keyed, e)
		case !contains(known, e): // else a key says already
			values *= max(1, Distinct(t.Tree.present(Tree{Entities: []*Entity{e}}), of))
		}
	}
	if len(keyed) > 0 {
		values *= t.Tree.present(t.Tree.Span(keyed))
	}
	return Distinct(combinations, values)
}

package model

import (
	"fmt"
	"slices"
	"strings"
)

// Nest is a collection in the rows of a table: what belongs to the partners that an entity of the row has over a to-many
// relationship, an element for each (B-7). The table has its rows whether there are partners or not; an entity without any
// has an empty collection, which Cassandra does not tell from none.
//
// In Cassandra a nest is several columns of the row: a set with the key of each element, and for each value a map from that
// key to it, which has no entry where the value is null. So an element is added, changed in one value and taken away by key,
// without reading and without replacing the others. It is all, or none, of one write, as they are of one row. (One map to
// tuples would be smaller, but a tuple can be replaced only as a whole; lists have no key, so that what is sent twice is
// there twice.)
type Nest struct {
	// Edge leads from an entity of the table's tree to the first entity of Tree.
	Edge *Relationship
	// Tree is what the elements are about: the entity at the other end, and what it determines.
	Tree Tree
	// Key tells the elements of a row apart, and with the row's key names an entity of Tree. It is never null.
	Key    Field
	Values []Field
}

// Fields returns the fields of an element, the key first.
func (n *Nest) Fields() []Field { return append([]Field{n.Key}, n.Values...) }

// Holds tells whether f is in the elements.
func (n *Nest) Holds(f Field) bool { return n.Key == f || slices.Contains(n.Values, f) }

// Spread returns the table that has a row for each element of one of the table's nests: over the graph of both, with the
// key of the element after that of the row, and the element's values. What is true of its rows under a write is true of the
// elements.
func (t *Table) Spread(n *Nest) *Table {
	return &Table{Tree: t.Tree.With(n), Partition: t.Partition, Clustering: append(t.Clustering[:len(t.Clustering):len(t.Clustering)], n.Key),
		Values: n.Values, Desc: t.Desc, Bucket: t.Bucket, Keyspace: t.Keyspace, Name: t.Name, Kept: t.Kept}
}

// Plain returns the table without its nests: itself if it has none.
func (t *Table) Plain() *Table {
	if len(t.Nests) == 0 {
		return t
	}
	plain := *t
	plain.Nests = nil
	return &plain
}

// Whole returns the tree with those of the nests.
func (t *Table) Whole() Tree {
	whole := t.Tree
	for _, n := range t.Nests {
		whole = whole.With(n)
	}
	return whole
}

// With returns the tree with that of a nest.
func (t Tree) With(n *Nest) Tree {
	t.Entities = append(t.Entities[:len(t.Entities):len(t.Entities)], n.Tree.Entities...)
	t.Edges = append(append(t.Edges[:len(t.Edges):len(t.Edges)], n.Edge), n.Tree.Edges...)
	return t
}

// NestOf returns the nest that holds f, nil if none does.
func (t *Table) NestOf(f Field) *Nest {
	for _, n := range t.Nests {
		if n.Holds(f) {
			return n
		}
	}
	return nil
}

// Owner is the entity of the table's tree that the elements of a nest belong to.
func (t *Table) Owner(n *Nest) *Entity { return n.Edge.Other(n.Tree.Entities[0]) }

// validateNests checks the nests of a table that is all right without them.
func (t *Table) validateNests() error {
	whole := t.Tree
	for _, n := range t.Nests {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("table %s: the collection over %s %s", t, n.Edge.Name, fmt.Sprintf(format, args...))
		}
		switch {
		case t.Existing || t.Base != nil:
			return wrong("can only be one of a table of our own")
		case len(n.Tree.Entities) == 0 || t.Owner(n) == nil || !t.Tree.Has(t.Owner(n)):
			return wrong("does not begin at an entity of the rows")
		case n.Edge.ToOne(t.Owner(n)):
			return wrong("would have one element at most: that is a value")
		case len(n.Tree.Determined(n.Tree.Entities[0]).Entities) != len(n.Tree.Entities):
			return wrong("has several elements for a partner")
		case slices.ContainsFunc(n.Tree.Entities, whole.Has):
			return wrong("holds an entity that is there already")
		case n.Key.IsZero() || n.Key.Attribute.Null > 0:
			return wrong("has no key, or one that may be missing")
		}
		for i, f := range n.Fields() {
			switch {
			case !n.Tree.Has(f.Entity):
				return wrong("can not hold %s", f)
			case slices.Contains(n.Fields()[:i], f):
				return wrong("has %s twice", f)
			case strings.EqualFold(f.Attribute.Type, "counter") || i == 0 && strings.EqualFold(f.Attribute.Type, "duration"):
				return wrong("can not hold %s: Cassandra has no collections of %ss there", f, f.Attribute.Type)
			}
		}
		if !t.Spread(n).Identifies() {
			return wrong("can have elements with the same key")
		}
		whole = whole.With(n)
	}
	return nil
}

// cellOverhead is what Cassandra stores with an entry of a collection beyond its key and value: flags, a timestamp, sizes.
// Bytes, approximate.
const cellOverhead = 8

// ElementBytes is the size of an element of a nest, bytes: its key in the set, and, as far as the values are there, each with
// the key once more. Of only some fields: that of what is read for them.
func (n *Nest) ElementBytes(fields []Field) float64 {
	size := n.Key.Size() + cellOverhead
	for _, f := range n.Values {
		if slices.Contains(fields, f) {
			size += (n.Key.Size() + f.Size() + cellOverhead) * (1 - f.Attribute.Null)
		}
	}
	return size
}

// Entries is how many entries of its set and maps an element has in those that are read for some fields.
func (n *Nest) Entries(fields []Field) float64 {
	entries := 1.0
	for _, f := range n.Values {
		if slices.Contains(fields, f) {
			entries += 1 - f.Attribute.Null
		}
	}
	return entries
}

// nestBytes is the size of all collections of the table, bytes.
func (t *Table) nestBytes() float64 {
	size := 0.0
	for _, n := range t.Nests {
		size += t.Tree.With(n).Rows() * n.ElementBytes(n.Values)
	}
	return size
}

// nestID names the nests by their content, in any order.
func (t *Table) nestID() string {
	var ids []string
	for _, n := range t.Nests {
		ids = append(ids, fmt.Sprintf(" nest over %s of %s[%s]%s", n.Edge.Name, n.Tree.Key(), n.Key, list(n.Values, true, nil)))
	}
	slices.Sort(ids)
	return strings.Join(ids, "")
}

// label writes what a nest holds of an entity; "" if the entity is none of its own.
func (t *Table) nested(e *Entity) string {
	for _, n := range t.Nests {
		if !n.Tree.Has(e) {
			continue
		}
		parts := []string{"N"}
		if n.Key.Entity == e {
			parts = append(parts, "NK."+n.Key.Attribute.Name)
		}
		for _, f := range n.Values {
			if f.Entity == e {
				parts = append(parts, "NV."+f.Attribute.Name)
			}
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	}
	return ""
}

// notation writes a nest: {reservations: ReservationID -> StartDate, EndDate}.
func (n *Nest) notation() string {
	text := "{" + n.Edge.Role(n.Edge.Other(n.Tree.Entities[0])) + ": " + n.Key.Attribute.Name
	for i, f := range n.Values {
		text += []string{" -> ", ", "}[min(i, 1)]
		if f.Entity == n.Key.Entity {
			text += f.Attribute.Name
		} else {
			text += f.String()
		}
	}
	return text + "}"
}

// NestColumn is the name of the column that holds the keys of a nest's elements, if f is its key, or else of that which
// maps them to a value: the name of the role, and for values the attribute's after it (reservations,
// reservations_start_date). Numbers tell those apart that would be the same.
func (t *Table) NestColumn(f Field) string {
	taken := map[string]bool{}
	for _, own := range t.Fields() {
		taken[t.ColumnName(own)] = true
	}
	if t.Bucket != nil {
		taken[t.BucketColumn()] = true
	}
	for _, n := range t.Nests {
		set := Identifier(n.Edge.Role(t.Owner(n)))
		for _, x := range n.Fields() {
			name := set
			if x != n.Key {
				name += "_" + Identifier(x.Attribute.Name)
			}
			for i, first := 2, name; taken[name]; i++ {
				name = fmt.Sprintf("%s_%d", first, i)
			}
			if taken[name] = true; x == f {
				return name
			}
		}
	}
	return ""
}

// NestType is the CQL type of that column.
func (t *Table) NestType(f Field) string {
	n := t.NestOf(f)
	if n == nil {
		return ""
	}
	if f == n.Key {
		return "set<" + frozen(n.Key.Attribute.Type) + ">"
	}
	return "map<" + frozen(n.Key.Attribute.Type) + ", " + frozen(f.Attribute.Type) + ">"
}

// frozen writes a type as an element's: collections within others must be.
func frozen(cqlType string) string {
	if plain, _, ok := strings.Cut(strings.ToLower(cqlType), "<"); ok && (plain == "list" || plain == "set" || plain == "map") {
		return "frozen<" + cqlType + ">"
	}
	return cqlType
}

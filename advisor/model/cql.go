package model

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// ColumnName is the name of the column that holds f: the attribute's name as a lower-case CQL identifier (HotelCity
// becomes hotel_city). Where fields of the table would share one, the name of the entity comes before it, or, of an entity
// that the tree holds more than once, of its role: from_user_nickname, to_user_nickname. A number tells the rest apart.
func (t *Table) ColumnName(f Field) string {
	if name, ok := t.Columns[f]; ok {
		return name
	}
	fields := t.Fields()
	plain := Identifier(f.Attribute.Name)
	if t.shared(plain, f) == 0 {
		return plain
	}
	taken := map[string]bool{}
	for _, other := range fields {
		if own, ok := t.Columns[other]; ok {
			taken[own] = true
		} else if name := Identifier(other.Attribute.Name); t.shared(name, other) == 0 {
			taken[name] = true
		}
	}
	for _, other := range fields {
		name := Identifier(other.Attribute.Name)
		if _, own := t.Columns[other]; own || t.shared(name, other) == 0 {
			continue
		}
		name = Identifier(t.role(other.Entity)) + "_" + name
		for n, first := 2, name; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", first, n)
		}
		if taken[name] = true; other == f {
			return name
		}
	}
	return Identifier(t.role(f.Entity)) + "_" + plain // not one of the table's
}

// ColumnType is the CQL type of the column that holds f. A table with a counter can hold nothing else but its key, and a key none: elsewhere a count is a bigint.
func (t *Table) ColumnType(f Field) string {
	if own, ok := t.Types[f]; ok {
		return own
	}
	if isCounter(f) && !t.countsAlone() {
		return "bigint"
	}
	return f.Attribute.Type
}

// Uncounted are the counters of the model that the table holds as bigints: unlike a counter, one that two writers add to at once may count one of them.
func (t *Table) Uncounted() (fields []Field) {
	for _, f := range t.Fields() {
		if isCounter(f) && t.ColumnType(f) != f.Attribute.Type {
			fields = append(fields, f)
		}
	}
	return fields
}

func isCounter(f Field) bool { return strings.EqualFold(f.Attribute.Type, "counter") }

// countsAlone tells whether the table can have counters: it holds nothing else.
func (t *Table) countsAlone() bool {
	return len(t.Nests) == 0 && len(t.Indexes) == 0 && !slices.ContainsFunc(slices.Concat(t.Partition, t.Clustering), isCounter) &&
		!slices.ContainsFunc(t.Values, func(f Field) bool { return !isCounter(f) })
}

// shared counts the other fields whose column would have that name too.
func (t *Table) shared(name string, f Field) int {
	n := 0
	for _, other := range t.Fields() {
		if other != f && Identifier(other.Attribute.Name) == name {
			n++
		}
	}
	return n
}

// role is what an entity is called in the table: its name, or, where the tree holds it more than once, the name by which it
// is reached from the tree's first.
func (t *Table) role(e *Entity) string {
	if !t.Tree.repeats() {
		return e.Name
	}
	role := e.Base().Name
	var walk func(from *Entity, came *Relationship)
	walk = func(from *Entity, came *Relationship) {
		for _, r := range t.Tree.Edges {
			if to := r.Other(from); r != came && to != nil {
				if to == e {
					role = r.Role(from)
				}
				walk(to, r)
			}
		}
	}
	walk(t.Tree.Entities[0], nil)
	return role
}

// CQL is the statement that creates the table.
func (t *Table) CQL(keyspace, name string) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE ")
	if keyspace != "" {
		b.WriteString(Quote(keyspace) + ".")
	}
	b.WriteString(Quote(name) + " (\n")
	partition := t.columnNames(t.Partition)
	if t.Bucket != nil {
		bucket := Quote(t.BucketColumn())
		partition = append(partition, bucket)
		fmt.Fprintf(&b, "  %s %s,\n", bucket, t.Bucket.Type())
	}
	for _, f := range t.Fields() {
		cqlType := t.ColumnType(f)
		if slices.Contains(t.Static, f) {
			cqlType += " STATIC"
		}
		fmt.Fprintf(&b, "  %s %s,\n", Quote(t.ColumnName(f)), cqlType)
	}
	for _, n := range t.Nests {
		for _, f := range n.Fields() {
			fmt.Fprintf(&b, "  %s %s,\n", Quote(t.NestColumn(f)), t.NestType(f))
		}
	}
	key := append([]string{"(" + strings.Join(partition, ", ") + ")"}, t.columnNames(t.Clustering)...)
	b.WriteString("  PRIMARY KEY (" + strings.Join(key, ", ") + ")\n)")
	if len(t.Desc) > 0 {
		order := t.columnNames(t.Clustering)
		for i, f := range t.Clustering {
			order[i] += map[bool]string{true: " DESC", false: " ASC"}[slices.Contains(t.Desc, f)]
		}
		b.WriteString(" WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")")
	}
	return b.String()
}

func (t *Table) columnNames(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = Quote(t.ColumnName(f))
	}
	return names
}

// Identifier makes a lower-case CQL identifier of a name: HotelCity becomes hotel_city.
func Identifier(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if !isWord(r) {
			r = '_'
		}
		if unicode.IsUpper(r) {
			afterLower := i > 0 && unicode.IsLower(runes[i-1])
			startsWord := i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || startsWord {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isWord(r rune) bool {
	return r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Quote returns an identifier as it must be written in CQL.
func Quote(name string) string {
	plain := name != "" && name[0] >= 'a' && name[0] <= 'z' && !reserved[name]
	for _, r := range name {
		plain = plain && (r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// reserved holds the words that CQL does not take as identifiers.
var reserved = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create default
		delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace limit
		materialized mbean mbeans modify nan norecursive not null of on or order primary rename replace revoke schema
		select set table to token truncate unlogged unset update use using view where with`) {
		words[w] = true
	}
	return words
}()

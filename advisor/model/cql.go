package model

import (
	"fmt"
	"strings"
	"unicode"
)

// ColumnName is the name of the column that holds f: the attribute's name as a lower-case CQL identifier (HotelCity
// becomes hotel_city), with the entity's before it where two fields of the table would share one.
func (t *Table) ColumnName(f Field) string {
	if name, ok := t.Columns[f]; ok {
		return name
	}
	name := Identifier(f.Attribute.Name)
	for _, other := range t.Fields() {
		if other != f && Identifier(other.Attribute.Name) == name {
			return Identifier(f.Entity.Name) + "_" + name
		}
	}
	return name
}

// CQL is the statement that creates the table.
func (t *Table) CQL(keyspace, name string) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + Quote(name) + " (\n")
	if keyspace != "" {
		b.Reset()
		b.WriteString("CREATE TABLE " + Quote(keyspace) + "." + Quote(name) + " (\n")
	}
	for _, f := range t.Fields() {
		cqlType := f.Attribute.Type
		if own, ok := t.Types[f]; ok {
			cqlType = own
		}
		fmt.Fprintf(&b, "  %s %s,\n", Quote(t.ColumnName(f)), cqlType)
	}
	fmt.Fprintf(&b, "  PRIMARY KEY ((%s)", t.columnList(t.Partition))
	if len(t.Clustering) > 0 {
		b.WriteString(", " + t.columnList(t.Clustering))
	}
	b.WriteString(")\n)")
	return b.String()
}

func (t *Table) columnList(fields []Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = Quote(t.ColumnName(f))
	}
	return strings.Join(names, ", ")
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

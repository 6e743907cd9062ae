package twintest

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// field is a column; its name is as CQL writes it.
type field struct{ name, cqlType string }

// Table is a table of random columns, and an application that writes it in random ways and asks for rows by one column. It is not safe for
// concurrent use: each of several writers has one of its own (As).
type Table struct {
	Name string
	// LookedUp is the column that reads ask by, as the schema writes it.
	LookedUp string

	random                                 *rand.Rand
	partition, clustering, regular, static []field // the first regular column is LookedUp
	descending                             []bool  // of the clustering columns
	index                                  string  // how that of LookedUp is made; "" if there is none
	now                                    func() int64
}

const (
	plainIndex      = "CREATE INDEX ON %s"
	storageAttached = "CREATE CUSTOM INDEX ON %s USING 'StorageAttachedIndex'"
)

var columnNames = []string{"a", "b", `"C"`, `"d e"`, `"select"`, `"ключ"`, "g_1", "value", "ttl", `"key"`, "k", `"x""y"`, "json", "writetime"}

// NewTable makes the table of a seed.
func NewTable(name string, seed int64) *Table {
	r := rand.New(rand.NewSource(seed))
	t := &Table{Name: name, random: r}
	names := slices.Clone(columnNames)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	next := func(types []string) field {
		c := field{names[0], types[r.Intn(len(types))]}
		names = names[1:]
		return c
	}
	for range 1 + r.Intn(2) {
		t.partition = append(t.partition, next(keyTypes))
	}
	for range r.Intn(4) {
		t.clustering, t.descending = append(t.clustering, next(keyTypes)), append(t.descending, r.Intn(2) == 0)
	}
	t.regular = []field{next(keyTypes)}
	for range 1 + r.Intn(4) {
		t.regular = append(t.regular, next([][]string{keyTypes, otherTypes}[r.Intn(2)]))
	}
	if len(t.clustering) > 0 && r.Intn(2) == 0 {
		t.static = []field{next(keyTypes)}
	}
	if t.LookedUp = t.regular[0].name; t.LookedUp[0] == '"' {
		t.LookedUp = strings.ReplaceAll(t.LookedUp[1:len(t.LookedUp)-1], `""`, `"`)
	}
	t.now = stamps(r)
	if t.index = []string{"", plainIndex, storageAttached}[r.Intn(3)]; strings.ContainsAny(t.LookedUp, " \"к") || t.regular[0].cqlType == "blob" {
		t.index = strings.Replace(t.index, storageAttached, plainIndex, 1) // Cassandra takes names of letters and digits alone there, and no blobs
	}
	return t
}

// As is the same table for another writer, who says other things, with timestamps of its own.
func (t *Table) As(seed int64) *Table {
	own := *t
	own.random = rand.New(rand.NewSource(seed))
	own.now = stamps(own.random)
	return &own
}

// stamps are the timestamps of a client: none (nil), or an hour behind the clock or ahead of it, perhaps with some that are equal.
func stamps(r *rand.Rand) func() int64 {
	ties, away := r.Intn(2) == 0, time.Duration(r.Intn(3)-1)*time.Hour
	if away == 0 {
		return nil
	}
	at, turn := time.Now().Add(away).UnixMicro(), 0
	return func() int64 {
		if turn++; !ties || turn%3 == 0 {
			at += 7
		}
		return at
	}
}

func names(columns []field) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name
	}
	return strings.Join(list, ", ")
}

func (t *Table) key() []field { return slices.Concat(t.partition, t.clustering) }

// Definition is its CREATE TABLE.
func (t *Table) Definition() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE @." + t.Name + " (")
	for _, c := range slices.Concat(t.key(), t.regular) {
		b.WriteString(c.name + " " + c.cqlType + ", ")
	}
	for _, c := range t.static {
		b.WriteString(c.name + " " + c.cqlType + " STATIC, ")
	}
	b.WriteString("PRIMARY KEY ((" + names(t.partition) + ")")
	for _, c := range t.clustering {
		b.WriteString(", " + c.name)
	}
	b.WriteString("))")
	for i, c := range t.clustering {
		b.WriteString([]string{" WITH CLUSTERING ORDER BY (", ", "}[min(i, 1)] + c.name)
		if t.descending[i] {
			b.WriteString(" DESC")
		} else {
			b.WriteString(" ASC")
		}
	}
	if len(t.clustering) > 0 {
		b.WriteString(")")
	}
	return b.String()
}

// Index is its CREATE INDEX; "" if rows are found by filtering.
func (t *Table) Index() string {
	if t.index == "" {
		return ""
	}
	return fmt.Sprintf(t.index, "@."+t.Name+" ("+t.regular[0].name+")")
}

// Alteration is an ALTER TABLE that takes nothing away.
func (t *Table) Alteration() string {
	return "ALTER TABLE @." + t.Name + []string{" ADD added int", " WITH comment = 'altered'"}[t.random.Intn(2)]
}

// Reads are statements that ask by the column: all columns, some, with a LIMIT, WRITETIME, with a condition on another column if one can have one.
func (t *Table) Reads() []string {
	by := " FROM @." + t.Name + " WHERE " + t.regular[0].name + " = ?"
	some := []field{t.regular[0]}
	for _, c := range slices.Concat(t.key(), t.regular[1:], t.static) {
		if t.random.Intn(2) == 0 {
			some = append(some, c)
		}
	}
	list := []string{"SELECT *" + by, "SELECT " + names(some) + by, "SELECT " + names(some) + by + " LIMIT 2",
		"SELECT WRITETIME(" + t.regular[0].name + ") AS written, " + names(t.partition) + by, "SELECT " + names(t.key()) + by + " LIMIT ?"}
	if also := t.condition(); also != nil {
		list = append(list, "SELECT "+names(t.key())+by+" AND "+also.name+" = ?", "SELECT "+names(t.key())+", WRITETIME("+also.name+")"+by+" AND "+also.name+" >= ? LIMIT ?")
	}
	for i := range list {
		if t.index == "" || strings.Contains(list[i], " AND ") {
			list[i] += " ALLOW FILTERING"
		}
	}
	return list
}

// condition is the column that a read's second condition is on.
func (t *Table) condition() *field {
	for i := range t.regular[1:] {
		if c := &t.regular[1+i]; slices.Contains(keyTypes, c.cqlType) {
			return c
		}
	}
	return nil
}

// Read is one of Reads with values, in either way; sometimes of so small a page that not all rows have room.
func (t *Table) Read(text string) Statement {
	s := Statement{Way: Execute, Text: text, Values: []Value{Raw(t.some(t.regular[0]).raw)}}
	if strings.Contains(text, " AND ") {
		s.Values = append(s.Values, Raw(t.some(*t.condition()).raw))
	}
	if strings.Contains(text, "LIMIT ?") {
		s.Values = append(s.Values, []Value{Int(1), Int(3), Int(1000), Int(0), Int(-1), Null(), Unset()}[t.random.Intn(7)])
	}
	if t.random.Intn(5) == 0 {
		s.Page = 3
	}
	if t.random.Intn(5) == 0 {
		s.Way = Query
	}
	return s
}

// some is a value of a column: of few, but for the one that is looked up.
func (t *Table) some(c field) sample {
	if c != t.regular[0] {
		return samples[c.cqlType](t.random.Intn(4))
	}
	return samples[c.cqlType](t.random.Intn(8))
}

// Write is a write of any kind.
func (t *Table) Write() Statement {
	switch n := t.random.Intn(20); {
	case n < 2: // Cassandra gives these its own timestamps
		return t.phrase().write(true)
	case n < 17:
		s := t.phrase().write(false)
		s.At = t.stamp()
		return s
	}
	s := Statement{Way: Batch, Unlogged: t.random.Intn(2) == 0, At: t.stamp()}
	if t.random.Intn(4) == 0 {
		s.Level = primitive.ConsistencyLevelSerial
	}
	for range 1 + t.random.Intn(4) {
		s.Children = append(s.Children, t.childPhrase().write(false))
	}
	if t.random.Intn(4) == 0 { // upon a condition, if all is of one partition
		s.Children = append(s.Children, t.childPhrase().write(true))
	}
	return s
}

func (t *Table) stamp() int64 {
	if t.now == nil {
		return 0
	}
	return t.now()
}

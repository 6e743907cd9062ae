package infer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
)

// This file leaves out of keys what others of their columns determine: a member has one tenant, so that a setting's key is its member and its name, though
// the tenant's id is in its primary key too. What is determined is looked up in rows that share a value (docs/design/mapping.md A3).

// samples are the rows that were kept of each table.
type samples map[table]*sampled

// sampled are the rows of one table by the values in them, and what they say, once that was asked for: many tables are compared with one.
type sampled struct {
	rows map[uint64][]profile.Row
	said map[fact]facts
}

// fact is what is asked of rows: what is in one column, by what is in another.
type fact struct {
	by, column string
	kept       bool
}

func (s samples) add(keys []profile.Key) {
	for i := range keys {
		k := &keys[i]
		for _, row := range k.Rows {
			of := table{row.Keyspace, row.Table}
			if s[of] == nil {
				s[of] = &sampled{rows: map[uint64][]profile.Row{}, said: map[fact]facts{}}
			}
			s[of].rows[k.Hash] = append(s[of].rows[k.Hash], row)
		}
	}
}

// has tells whether rows of a table were kept.
func (s samples) has(of table) bool { return s[of] != nil }

// cell is the hash of a row's value in a column.
func cell(row *profile.Row, column string) (uint64, bool) {
	i, ok := slices.BinarySearchFunc(row.Cells, column, func(c profile.Cell, name string) int {
		switch {
		case c.Column < name:
			return -1
		case c.Column > name:
			return 1
		}
		return 0
	})
	if !ok {
		return 0, false
	}
	return row.Cells[i].Hash, true
}

// facts are what rows with a value in one column have in another, by the value, in the order of these.
type facts []group

// group is what rows with a value have.
type group struct {
	value uint64
	has   []uint64
}

// facts are what the rows of a table say of two of its columns. kept: only by values by which rows were kept, of which there are no others then, and not by those with so
// many that some were not kept.
func (s samples) facts(of table, by, column string, kept bool) facts {
	t, asked := s[of], fact{by, column, kept}
	if t == nil {
		return nil
	}
	if known, ok := t.said[asked]; ok {
		return known
	}
	found := map[uint64][]uint64{}
	for hash, rows := range t.rows {
		if kept && len(rows) >= fullGroup {
			continue
		}
		for i := range rows {
			h, ok := cell(&rows[i], by)
			if !ok || kept && h != hash {
				continue
			}
			if v, ok := cell(&rows[i], column); ok && !slices.Contains(found[h], v) {
				found[h] = append(found[h], v)
			}
		}
	}
	out := make(facts, 0, len(found))
	for _, value := range slices.Sorted(maps.Keys(found)) {
		out = append(out, group{value, found[value]})
	}
	t.said[asked] = out
	return out
}

// tuples are what the rows of a table have in a column, by what they have in several others together.
func (s samples) tuples(of table, by []string, column string) facts {
	found := map[uint64][]uint64{}
	if t := s[of]; t != nil {
		for _, rows := range t.rows {
			for i := range rows {
				together, known := cells(&rows[i], by)
				if v, ok := cell(&rows[i], column); known && ok && !slices.Contains(found[together], v) {
					found[together] = append(found[together], v)
				}
			}
		}
	}
	out := make(facts, 0, len(found))
	for _, value := range slices.Sorted(maps.Keys(found)) {
		out = append(out, group{value, found[value]})
	}
	return out
}

// severally counts the different values that some columns of a table have together, and those of which there were several rows at a time that other columns tell apart.
func (s samples) severally(of table, by, apart []string) (n, several int) {
	t := s[of]
	if t == nil || len(apart) == 0 {
		return 0, 0
	}
	type place struct {
		apart       uint64
		first, last int64
	}
	places := map[uint64][]place{} // by what the columns have together
	for _, rows := range t.rows {
		for i := range rows {
			together, known := cells(&rows[i], by)
			other, told := cells(&rows[i], apart)
			if !known || !told {
				continue
			}
			list := places[together]
			at := slices.IndexFunc(list, func(p place) bool { return p.apart == other })
			if at < 0 {
				places[together] = append(list, place{other, rows[i].First, rows[i].Last})
				continue
			}
			list[at].first, list[at].last = min(list[at].first, rows[i].First), max(list[at].last, rows[i].Last)
		}
	}
	for _, list := range places {
		slices.SortFunc(list, func(x, y place) int { return cmp.Compare(x.first, y.first) })
		for i := 1; i < len(list); i++ {
			if list[i].first <= list[i-1].last {
				several++
				break
			}
		}
	}
	return len(places), several
}

// cells is a hash of what a row has in some columns, if it has all of them.
func cells(row *profile.Row, columns []string) (hash uint64, all bool) {
	for _, c := range columns {
		h, ok := cell(row, c)
		if !ok {
			return 0, false
		}
		hash = (hash ^ h) * 0x9E3779B97F4A7C15
		hash ^= hash >> 29
	}
	return hash, true
}

// common are the groups of the same values.
func (f facts) common(o facts) [][2]*group {
	both := make([][2]*group, 0, min(len(f), len(o)))
	for i, k := 0, 0; i < len(f) && k < len(o); {
		switch {
		case f[i].value < o[k].value:
			i++
		case f[i].value > o[k].value:
			k++
		default:
			both = append(both, [2]*group{&f[i], &o[k]})
			i, k = i+1, k+1
		}
	}
	return both
}

// Bounds of what is taken to be determined.
const (
	leastGroups = 8    // values with rows in both tables
	byChance    = 1e-6 // chance of that many agreeing if they had nothing to do with each other
)

// agreement is how many values have the same rows' cells in two tables, and how many would with those of another value.
type agreement struct{ n, agreed, decoys int }

// holds tells whether all agree, and would not by chance.
func (a agreement) holds() bool {
	return a.n >= leastGroups && a.agreed == a.n && math.Pow(float64(a.decoys+1)/float64(a.n+2), float64(a.n)) < byChance
}

// agree compares what is determined in one table with what another one says: all that a value has there is to be what it has here.
func agree(here, there facts) agreement {
	return here.against(there, func(list, of []uint64) bool {
		return !slices.ContainsFunc(list, func(v uint64) bool { return !slices.Contains(of, v) })
	})
}

// meet counts the values of which two tables have a cell in common.
func meet(here, there facts) agreement {
	return here.against(there, func(list, of []uint64) bool {
		return slices.ContainsFunc(list, func(v uint64) bool { return slices.Contains(of, v) })
	})
}

// against compares what two tables have for the same values: each value's with its own, and with that of the next one, the null control.
func (f facts) against(o facts, same func(list, of []uint64) bool) (a agreement) {
	both := f.common(o)
	for i, x := range both {
		a.n++
		if same(x[0].has, x[1].has) {
			a.agreed++
		}
		if same(x[0].has, both[(i+1)%len(both)][1].has) {
			a.decoys++
		}
	}
	return a
}

// none tells whether what agrees is no more than would by chance, two standard deviations or less, and not the most of it.
func (a agreement) none() bool {
	p := a.chance()
	return a.n >= 3*leastGroups && a.agreed < a.n/2 && a.excess() <= 2*math.Sqrt(float64(a.n)*p*(1-p))
}

// narrow leaves out of a key of several columns what the others determine.
func (b *modeller) narrow(src *source) {
	for again := true; again && len(src.key) > 1; {
		again = false
		for _, name := range slices.Clone(src.key) {
			text := b.determined(src, name)
			if text == "" {
				text = b.cut(src, name)
			}
			if text == "" {
				text = b.common(src, name)
			}
			if text != "" {
				src.key = slices.DeleteFunc(slices.Clone(src.key), func(k string) bool { return k == name })
				src.implied = append(src.implied, text)
				again = true
				break
			}
		}
	}
}

// determined says by what a column of a key is determined, "" if by nothing: another column of the key holds the key of an entity that has it.
func (b *modeller) determined(src *source, name string) string {
	c := src.schema.Column(name)
	for _, by := range src.key {
		x := src.schema.Column(by)
		if by == name || src.spread(by, name) {
			continue
		}
		for _, t := range b.targets(src, *x) {
			if t.probability < Probable {
				continue
			}
			if other, a := b.same(src, *x, *c, t.to); other != "" {
				return fmt.Sprintf("%s determines %s: in %d of %d rows looked at it is %s, %d by chance", by, name, a.agreed, a.n, t.to.id(other), a.decoys)
			}
		}
	}
	return ""
}

// common says by what a column of a key is determined where no rows were seen, "" if by nothing: the tables of two others or more, and of all the others, are kept by it, too, which have keys
// without it. That is a tenant. Of one other alone it may be somebody else: whose playlist a track is in is not whose track it is.
func (b *modeller) common(src *source, name string) string {
	if b.samples.has(src.name) || len(src.key) < 3 {
		return ""
	}
	var of []string
	for _, by := range src.key {
		if by == name {
			continue
		}
		to, p := b.likely(src, *src.schema.Column(by))
		if to == nil || p.probability() < Probable || to.position(name) < 0 || to.keyed(name) || to.schema.Column(name).Type != src.schema.Column(name).Type {
			return ""
		}
		of = append(of, to.name.table)
	}
	return fmt.Sprintf("%s are kept by %s, too", strings.Join(of, " and "), name)
}

// same finds the column of an entity's table that a column of another table always equals, where both speak of the same one.
func (b *modeller) same(src *source, x, c schema.Column, to *source) (column string, found agreement) {
	if !b.samples.has(src.name) || !b.samples.has(to.name) {
		return "", found
	}
	here := b.samples.facts(src.name, x.Name, c.Name, false)
	for _, y := range to.schema.Columns {
		if y.Type != c.Type || y.Name == to.key[0] {
			continue
		}
		if a := agree(here, b.samples.facts(to.name, to.key[0], y.Name, false)); a.holds() && a.n > found.n {
			column, found = y.Name, a
		}
	}
	return column, found
}

// cut says by what a column of a key is determined that cuts a partition into pieces, "" if by nothing: what happened at one time was on one day. That is so if rows with the same
// time, of several partners, say so; and of a time that is each there once, if the column is called, or typed, as a piece of time. That a time is there once has to be seen: forecasts
// of several days are issued at one time. What a timeuuid tells is told apart anyway. Where no rows were seen a name is believed, but not that of a day or a time by its type. A number beside
// somebody's key is a piece, too, where each time is there once.
func (b *modeller) cut(src *source, name string) string {
	c := src.schema.Column(name)
	if c.Kind != schema.PartitionKey {
		return ""
	}
	for _, by := range src.key {
		x := src.schema.Column(by)
		if by == name || x.Kind != schema.Clustering || x.Type != "timestamp" && x.Type != "timeuuid" && (x.Type != "date" || timelike(c.Type)) {
			continue
		}
		pieces := b.samples.facts(src.name, by, name, false)
		if slices.ContainsFunc(pieces, func(g group) bool { return len(g.has) > 1 }) {
			continue
		}
		if a := b.alone(src, by, name, pieces); a.holds() {
			return fmt.Sprintf("%s determines %s: of %d values that several rows have, each has one, %d by chance", by, name, a.n, a.decoys)
		}
		seen := x.Type == "timeuuid" || len(pieces) >= leastGroups || src.once(by) || !b.samples.has(src.name) && !timelike(c.Type)
		if seen && !src.needs(name) && (timelike(c.Type) || period(words(name)) || src.once(by) && b.piece(src, *c)) {
			return fmt.Sprintf("%s is a piece of time, and %s says when", name, by)
		}
	}
	return ""
}

// piece tells whether a number in a partition key is nobody's key, beside a column that is somebody's: partitions are cut by it.
func (b *modeller) piece(src *source, c schema.Column) bool {
	return dense(c.Type) && src.rows() >= manyRows && len(b.probable(src, c)) == 0 && slices.ContainsFunc(src.schema.PartitionKey(), func(x schema.Column) bool {
		return x.Name != c.Name && len(b.probable(src, x)) > 0
	})
}

// needs tells whether there are more rows than the other columns of the key can tell apart, by what was measured.
func (s *source) needs(name string) bool {
	most := 1.0
	for _, k := range s.key {
		if k != name {
			most *= s.distinct(k)
		}
	}
	return s.countable() && most > 0 && s.rows() > 1.05*most
}

// alone compares the pieces that rows with one value are in, of values with rows that another column of the key tells apart, with those of the next value.
func (b *modeller) alone(src *source, by, name string, pieces facts) (a agreement) {
	apart := map[uint64]bool{}
	for _, other := range src.key {
		if other == by || other == name {
			continue
		}
		for _, g := range b.samples.facts(src.name, by, other, false) {
			if len(g.has) > 1 {
				apart[g.value] = true
			}
		}
	}
	for i, g := range pieces {
		if !apart[g.value] {
			continue
		}
		a.n++
		a.agreed++
		if pieces[(i+1)%len(pieces)].has[0] == g.has[0] {
			a.decoys++
		}
	}
	return a
}

// spread tells whether what was measured speaks against one column determining another: there are more partitions by both than values of the first.
func (s *source) spread(by, name string) bool {
	partition := s.schema.PartitionKey()
	if s.stats == nil || len(partition) != 2 || s.distinct(by) == 0 {
		return false
	}
	for _, c := range partition {
		if c.Name != by && c.Name != name {
			return false
		}
	}
	return s.stats.Partitions > 1.05*s.distinct(by)
}

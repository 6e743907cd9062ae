package infer

import (
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file finds pairs that are kept from both sides: who follows whom, and by whom one is followed.

// paired is a copy of pairs: the same two entities, the other way round, as many, with nothing of its own, or called so; and rows do not speak against it.
func (b *modeller) paired(c *copied, src, base *source) bool {
	if !src.ofTwo() || !base.ofTwo() || src.rows() < fewRows || src.rows() < once*base.rows() || base.rows() < once*src.rows() {
		return false
	}
	for _, k := range src.key {
		for _, of := range base.key {
			x, y := *src.schema.Column(k), *base.schema.Column(of)
			if c.columns[k] == "" && c.column(of) == "" && x.Type == y.Type && src.position(k) != base.position(of) && b.sameEnd(src, x, base, y) {
				c.columns[k] = of
			}
		}
	}
	if len(c.columns) == 1 && !b.remaining(c, src, base) || len(c.columns) == 0 {
		clear(c.columns)
		return false
	}
	sides := crossed(src, base)
	if sides == 1 && !b.asManyOfEach(c, src, base) {
		sides = 0
	}
	all := b.more(c, src, base)
	if !all && sides == 0 || b.contradicted(src, base, c.inverse()) {
		clear(c.columns)
		return false
	}
	c.proof.add("size", 2, "pairs of the same two, the other way round, and as many")
	if n := len(c.columns) - 2; all && n > 0 {
		c.proof.add("definition", 1, "what else is in %s is in %s, too", src.name.table, base.name.table)
	}
	if !all {
		c.proof.add("name", float64(sides), "%s and %s are called after the two from either side", src.name.table, base.name.table)
	}
	return true
}

// sameEnd tells whether columns of two tables of pairs hold the same end: the key of the same entity, or values travel between the two.
func (b *modeller) sameEnd(src *source, x schema.Column, base *source, y schema.Column) bool {
	if e, travels := b.joins[newPair(src.id(x.Name), base.id(y.Name))]; travels && e.confidence >= Probable {
		return true
	}
	to := b.probable(src, x)
	return slices.ContainsFunc(b.probable(base, y), func(of *source) bool { return slices.Contains(to, of) })
}

// remaining makes the columns of two tables of pairs one of which it is not known what they hold, where the others are one: each has as many values as the other.
func (b *modeller) remaining(c *copied, src, base *source) bool {
	for _, k := range src.key {
		for _, of := range base.key {
			if c.columns[k] == "" && c.column(of) == "" && src.schema.Column(k).Type == base.schema.Column(of).Type && src.position(k) != base.position(of) {
				c.columns[k] = of
				return !slices.ContainsFunc(src.key, func(k string) bool { return !asManyValues(src, k, base, c.columns[k]) })
			}
		}
	}
	return false
}

// Bounds of what numbers say alone.
const (
	// tellingRows and tellingValues are how many rows, and values of each column, say something by being as many.
	tellingRows, tellingValues = 300, 8
)

// counted is a copy of what is called by several columns, by numbers: its primary key has columns for all of them that lead to the same, or are of times, or are the only ones that may be, found
// in another order; and there are as many rows, and as many values of each, and of something else that both have. That is so by chance where all combinations are there, which they are not.
func (b *modeller) counted(c *copied, src, base *source) bool {
	if len(base.key) < 2 || merePairs(src, base) || src.rows() < tellingRows || !src.countable() || !base.countable() || src.rows() < once*base.rows() || base.rows() < once*src.rows() {
		return false
	}
	leads, product := false, 1.0
	for _, k := range base.key {
		x, same := b.asManyIn(c, src, base, *base.schema.Column(k), src.schema.PrimaryKey())
		if x == "" || src.distinct(x) < tellingValues {
			clear(c.columns)
			return false
		}
		c.columns[x], leads, product = k, leads || same, product*src.distinct(x)
	}
	first := c.columns[src.schema.PrimaryKey()[0].Name]
	if !leads || product < 2*src.rows() || first != "" && first == base.schema.PrimaryKey()[0].Name || b.contradicted(src, base, c.inverse()) {
		clear(c.columns)
		return false
	}
	more := len(src.schema.Columns) == len(base.key)
	for _, y := range base.schema.Columns {
		if c.column(y.Name) != "" {
			continue
		}
		x, same := b.asManyIn(c, src, base, y, src.schema.Columns)
		if more = more || x != ""; same {
			c.columns[x] = y.Name
		}
	}
	if !more || slices.ContainsFunc(src.schema.PrimaryKey(), func(x schema.Column) bool { return c.columns[x.Name] == "" && !timelike(x.Type) && !b.bucket(x) }) {
		clear(c.columns)
		return false
	}
	c.proof.add("size", 3, "%s has %.0f rows, %s %.0f, and as many different values of each part of the key, which are found in another order", src.name, src.rows(), base.name, base.rows())
	return true
}

// asManyIn is the one of some columns of a table that has as many values as a column of another one, and leads to the same; or, if none is known to, is the only one that has as many. It tells
// whether it is known to lead there.
func (b *modeller) asManyIn(c *copied, src, base *source, y schema.Column, of []schema.Column) (column string, same bool) {
	var alike, led []string
	for _, x := range of {
		if c.columns[x.Name] != "" || x.Type != y.Type || !asManyValues(src, x.Name, base, y.Name) {
			continue
		}
		alike = append(alike, x.Name)
		if b.sameEnd(src, x, base, y) {
			led = append(led, x.Name)
		}
	}
	switch {
	case len(led) == 1:
		return led[0], true
	case len(led) == 0 && len(alike) == 1 && (timelike(y.Type) || len(b.probable(base, y)) == 0):
		return alike[0], false
	}
	return "", false
}

// asManyValues tells whether two columns have as many different values, where that is all that is known of them: to the last one, if all rows of both were counted.
func asManyValues(src *source, x string, base *source, y string) bool {
	d, off := src.distinct(x), 1-Full
	if exactly(src, base) {
		off = 0
	}
	return d > 0 && math.Abs(d-base.distinct(y)) <= off*d
}

// exactly tells whether all rows of two tables were counted.
func exactly(src, base *source) bool {
	return src.stats != nil && base.stats != nil && src.stats.Exact && base.stats.Exact
}

// merePairs tells whether two tables are kept by the same two columns from either side, and no more. Two things that people do with posts may well be as many, and as many of them do both, to some
// percent: that says nothing, unless it is so to the last one.
func merePairs(src, base *source) bool {
	return len(base.key) == 2 && len(src.schema.PrimaryKey()) == 2 && !exactly(src, base)
}

// probable are the tables whose key a column probably holds: before copies are known several have one key, a player's counters that of the player, and which of them is the likeliest may be
// otherwise for another column.
func (b *modeller) probable(src *source, c schema.Column) (out []*source) {
	for _, t := range b.targets(src, c) {
		if t.probability >= Probable {
			out = append(out, t.to)
		}
	}
	return out
}

// crossed counts of two tables which of them is what the rows of the other are found by: both of owners_by_account and accounts_by_owner, one of followers_by_artist and
// artists_by_user.
func crossed(src, base *source) (n int) {
	for _, x := range [][2]*source{{src, base}, {base, src}} {
		if x[0].called(x[1].foundBy()) {
			n++
		}
	}
	return n
}

// foundBy is what a table's name says that its rows are found by, singular; nil if it says nothing.
func (s *source) foundBy() []string {
	if !s.by {
		return nil
	}
	return noun(strings.Join(words(s.name.table)[len(s.plain)+1:], "_"))
}

// asManyOfEach tells whether both columns of the key have as many values in a table as in the other one.
func (b *modeller) asManyOfEach(c *copied, src, base *source) bool {
	for _, k := range src.key {
		if d := src.distinct(k); d == 0 || math.Abs(d-base.distinct(c.columns[k])) > (1-Full)*d {
			return false
		}
	}
	return true
}

// mirrored tells whether another table has the same primary key from the other side. A row of one that is found by something is a pair then, whatever it is called after: owners by account,
// beside accounts by owner, are no owners. Nor are friends, beside who they are friends of.
func (b *modeller) mirrored(src *source) bool {
	primary := src.schema.PrimaryKey()
	begins := func(of *source, c schema.Column) bool {
		return slices.ContainsFunc(of.schema.PartitionKey(), func(x schema.Column) bool { return x.Name == c.Name && x.Type == c.Type })
	}
	return !b.arranges(src) && slices.ContainsFunc(b.sources, func(x *source) bool {
		other := x.schema.PrimaryKey()
		return x != src && x.name.keyspace == src.name.keyspace && len(other) == len(primary) && begins(x, primary[len(primary)-1]) && begins(src, other[len(other)-1]) &&
			!slices.ContainsFunc(primary, func(c schema.Column) bool { return x.position(c.Name) < 0 })
	})
}

// arranges tells whether a table that says by what it is found has, besides its primary key, nothing but columns of what it is called after, which has a key of its own: posts by user, with what they say,
// are no pairs, whoever likes posts.
func (b *modeller) arranges(src *source) bool {
	return src.by && len(src.schema.Columns) > len(src.schema.PrimaryKey()) && slices.ContainsFunc(b.sources, func(of *source) bool {
		return of != src && !of.by && same(of.noun, src.noun) && slices.ContainsFunc(src.schema.PrimaryKey(), func(c schema.Column) bool { return b.wholeKey(of, c) }) &&
			!slices.ContainsFunc(src.schema.Columns, func(c schema.Column) bool {
				o := of.schema.Column(c.Name)
				return src.position(c.Name) < 0 && (o == nil || o.Type != c.Type)
			})
	})
}

// ofTwo tells whether a table was measured that has two columns for its key, and in its primary key no more but what these determine: a tenant.
func (s *source) ofTwo() bool {
	return s.stats != nil && len(s.key) == 2 && len(s.schema.PrimaryKey()) == 2+len(s.implied)
}

// more finds what a table of pairs has besides them in another one, with as many values: under the same name, or where rows of both have the same. It tells whether that is all.
func (b *modeller) more(c *copied, src, base *source) bool {
	all := true
	key := []string{c.columns[src.key[0]], c.columns[src.key[1]]}
	for _, x := range src.schema.Columns {
		if x.Kind != schema.Regular {
			continue
		}
		for _, y := range base.schema.Columns {
			d := src.distinct(x.Name)
			if y.Kind != schema.Regular || y.Type != x.Type || c.column(y.Name) != "" || math.Abs(d-base.distinct(y.Name)) > (1-Full)*max(d, 1) {
				continue
			}
			if x.Name == y.Name || agree(b.samples.tuples(src.name, src.key, x.Name), b.samples.tuples(base.name, key, y.Name)).beyond() {
				c.columns[x.Name] = y.Name
				break
			}
		}
		all = all && c.columns[x.Name] != ""
	}
	return all
}

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
		x := *src.schema.Column(k)
		to, p := b.likely(src, x)
		if to == nil || p.probability() < Probable {
			return false
		}
		for _, k := range base.key {
			y := *base.schema.Column(k)
			if of, q := b.likely(base, y); of == to && q.probability() >= Probable && c.column(y.Name) == "" && src.position(x.Name) != base.position(y.Name) {
				c.columns[x.Name] = y.Name
				break
			}
		}
	}
	if len(c.columns) != 2 {
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
// beside accounts by owner, are no owners.
func (b *modeller) mirrored(src *source) bool {
	primary := src.schema.PrimaryKey()
	begins := func(of *source, c schema.Column) bool {
		return slices.ContainsFunc(of.schema.PartitionKey(), func(x schema.Column) bool { return x.Name == c.Name && x.Type == c.Type })
	}
	return src.by && slices.ContainsFunc(b.sources, func(x *source) bool {
		other := x.schema.PrimaryKey()
		return x != src && x.name.keyspace == src.name.keyspace && len(other) == len(primary) && begins(x, primary[len(primary)-1]) && begins(src, other[len(other)-1]) &&
			!slices.ContainsFunc(primary, func(c schema.Column) bool { return x.position(c.Name) < 0 })
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

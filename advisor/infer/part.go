package infer

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file tells what looks like a copy and has other rows, or other columns.

// part tells whether a table has some of the rows of another one, and not nearly all: those of today, or those that are active. Whoever asks it in place of the other
// misses the rest, so it is no base, however well it would do as one.
func (b *modeller) part(src, of *source) bool {
	if len(of.key) != 1 || len(src.key) != 1 || src.stats == nil || of.stats == nil || src.rows() >= leastOwn*of.rows() || !of.once(of.key[0]) || of.schema.Counter {
		return false
	}
	c := b.ruledCopy(src, of)
	if c == nil || c.certainty() < Proven {
		return false
	}
	return c.proof.odds("burst") > 0 || c.proof.odds("values") > 1 && c.column(of.key[0]) == src.key[0] // its rows are there, and it does not merely refer to them
}

// slicesOfOne tells whether two tables are of one kind by their names, which differ in numbers alone (calls_20261119 and calls_20261120, events_0 and events_1), and
// by their columns. Each has rows of its own then, though nothing else is as like one as the other.
func slicesOfOne(x, y *source) bool {
	kind := func(s *source) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, s.name.table)
	}
	return kind(x) == kind(y) && slices.EqualFunc(x.schema.Columns, y.schema.Columns, func(a, b schema.Column) bool { return a.Name == b.Name && a.Type == b.Type && a.Kind == b.Kind })
}

// overwrites tells whether a table has one row where the base has several: by account, of which there are several log-ins, only one of these. It is about the account then.
func (b *modeller) overwrites(c *copied, src, base *source) bool {
	primary := src.schema.PrimaryKey()
	of := base.column(c.columns[primary[0].Name])
	if len(primary) != 1 || of == nil || base.keyed(of.Name) || base.rows() < fewRows {
		return false
	}
	return math.Round(of.Distinct) < once*base.rows()*(1-of.Nulls)
}

// namesakes tells whether two columns of one name are two things: the state of an account and that of its limits. Rows with the same key then have no more of their
// values in common than rows of two keys. What changes all the time differs, too, from one look to the next, but not always.
func (b *modeller) namesakes(c *copied, src, base *source, name string) bool {
	if len(base.key) != 1 || c.column(base.key[0]) == "" {
		return false
	}
	return meet(b.samples.facts(src.name, c.column(base.key[0]), name, false), b.samples.facts(base.name, base.key[0], name, false)).none()
}

// outgrows tells whether a table has more rows than a key of several columns, which has each of its values once, can tell apart: what was measured each hour, beside the
// latest of it.
func (b *modeller) outgrows(src, base *source) bool {
	return len(base.key) > 1 && src.countable() && base.countable() && base.rows() < leastOwn*src.rows()
}

// repeats tells whether a table has rows of one key of several columns at the same time, told apart by what else is in its primary key: parcels of a line, of which some have
// two. What is at one place and then at another, as who rises in a table of scores, is the same.
func (b *modeller) repeats(c *copied, src, base *source) bool {
	if len(base.key) < 2 {
		return false
	}
	n, several := b.severally(c, src, base)
	return n >= leastGroups && float64(several) > fewTwice*float64(n)
}

// severally counts the keys of the base that were seen in rows of a copy, and those that several rows had at the same time, told apart by what else is in its primary key.
func (b *modeller) severally(c *copied, src, base *source) (n, several int) {
	var key, rest []string
	for _, k := range base.key {
		key = append(key, c.column(k))
	}
	for _, x := range src.schema.PrimaryKey() {
		if !slices.Contains(key, x.Name) {
			rest = append(rest, x.Name)
		}
	}
	return b.samples.severally(src.name, key, rest)
}

// fewTwice is the share of keys that may be there twice in a copy, where the application left what a row was before.
const fewTwice = 0.05

// apart tells whether a key of the same name is all that two tables have in common, of which each is kept under a partner of its own, which the other one knows nothing of: the messages of
// channels and those between two, both numbered from one on. What says by its name that it is found otherwise is a copy all the same.
func (b *modeller) apart(src *source, x schema.Column, base *source) bool {
	if src.by && same(src.noun, base.noun) || !b.strangers(src, x.Name, base) || !b.strangers(base, base.key[0], src) {
		return false
	}
	p := b.weigh(src, x, base, false)
	return p.odds("feed") <= 0 && p.odds("values") < 1
}

// strangers tells whether a table is kept under partners of which the other one knows nothing: columns of its partition key, besides a key, lead to what none of the other's does.
func (b *modeller) strangers(src *source, key string, other *source) bool {
	found := false
	for _, c := range src.schema.PartitionKey() {
		if c.Name == key {
			return false
		}
		to, p := b.likely(src, c)
		if to == nil || to == other || p.probability() < Probable {
			continue
		}
		found = true
		for _, y := range other.schema.Columns {
			of := b.probable(other, y)
			if slices.Contains(of, to) || len(of) == 0 && y.Name == c.Name && y.Type == c.Type { // what leads elsewhere is called so by chance
				return false
			}
		}
	}
	return found
}

package infer

import (
	"math"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file finds pairs that are kept from both sides: who follows whom, and by whom one is followed.

// paired is a copy of pairs: the same two entities, the other way round, as many, with nothing of its own; and rows do not speak against it.
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
	if len(c.columns) != 2 || !b.more(c, src, base) || b.contradicted(src, base, c.inverse()) {
		clear(c.columns)
		return false
	}
	c.proof.add("size", 2, "pairs of the same two, the other way round, and as many")
	if n := len(c.columns) - 2; n > 0 {
		c.proof.add("definition", 1, "what else is in %s is in %s, too", src.name.table, base.name.table)
	}
	return true
}

// ofTwo tells whether a table was measured that has two columns for its key, and in its primary key no more but what these determine: a tenant.
func (s *source) ofTwo() bool {
	return s.stats != nil && len(s.key) == 2 && len(s.schema.PrimaryKey()) == 2+len(s.implied)
}

// more finds what a table of pairs has besides them in another one, with as many values: under the same name, or where rows of both have the same. It tells whether that is all.
func (b *modeller) more(c *copied, src, base *source) bool {
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
		if c.columns[x.Name] == "" {
			return false
		}
	}
	return true
}

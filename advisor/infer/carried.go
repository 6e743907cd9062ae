package infer

import "math"

// carried is a copy of what is called by several columns, by what travels: all parts of the other's key go from its primary key to that one, and it has as many rows.
func (b *modeller) carried(c *copied, src, base *source) bool {
	if len(base.key) < 2 || len(src.schema.PrimaryKey()) < len(base.key) || !src.countable() || src.rows() < Full*base.rows() || base.rows() < Full*src.rows() {
		return false
	}
	for _, p := range b.directed[[2]table{src.name, base.name}] {
		least := math.Inf(1)
		for _, l := range p.links {
			of, to := src.schema.Column(l.from), base.schema.Column(l.to)
			if of == nil || to == nil || of.Type != to.Type || src.position(l.from) < 0 || !base.keyed(l.to) || c.columns[l.from] != "" || c.column(l.to) != "" {
				continue
			}
			c.columns[l.from] = l.to
			least = min(least, l.odds*l.confidence)
		}
		if len(c.columns) == len(base.key) && !b.contradicted(src, base, c.inverse()) {
			c.proof.add("feed", least, "all %d parts of the key of %s travel together from the primary key of %s", len(base.key), base.name, src.name)
			c.proof.add("size", 2, "%s has %.0f rows, %s %.0f", src.name, src.rows(), base.name, base.rows())
			return true
		}
		clear(c.columns)
	}
	return false
}

// inverse is the copy's columns by those of the base.
func (c *copied) inverse() map[string]string {
	out := map[string]string{}
	for x, y := range c.columns {
		out[y] = x
	}
	return out
}

package infer

import (
	"slices"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file finds copies by what they are called.

// named is a copy by its name: the same noun, and all its columns are columns of the base ("videos_by_tag").
func (b *modeller) named(c *copied, src, base *source) bool {
	if !src.by || !same(base.noun, src.noun) {
		return false
	}
	for _, x := range src.schema.Columns {
		o := base.schema.Column(x.Name)
		if o == nil || o.Type != x.Type {
			return false
		}
	}
	for _, x := range src.schema.Columns {
		c.columns[x.Name] = x.Name
	}
	c.proof.add("name", 2, "%s is called after %s, and has no columns of its own", src.name.table, base.name.table)
	c.proof.add("definition", 2, "all of its columns are columns of %s", base.name.table)
	if x := src.schema.Column(base.key[0]); len(base.key) == 1 && x != nil {
		for _, e := range b.weigh(src, *x, base, true) {
			if e.Group == "values" || e.Group == "feed" {
				c.proof = append(c.proof, e)
			}
		}
	}
	return true
}

// namedWithMore is a copy by its name that has columns besides those of the base, as the title of a course in classes by teacher: none of them in its primary key, which has all of the
// base's key, and as many rows as the base.
func (b *modeller) namedWithMore(c *copied, src, base *source) bool {
	if !src.by || !same(base.noun, src.noun) || !src.countable() || !base.countable() || src.rows() < Full*base.rows() || base.rows() < Full*src.rows() {
		return false
	}
	for _, k := range base.key {
		if src.position(k) < 0 {
			return false
		}
	}
	for _, x := range src.schema.Columns {
		if o := base.schema.Column(x.Name); o != nil && o.Type == x.Type {
			c.columns[x.Name] = x.Name
		}
	}
	foreign := func(x schema.Column) bool { return c.columns[x.Name] == "" }
	if slices.ContainsFunc(src.schema.PrimaryKey(), foreign) || b.contradicted(src, base, c.inverse()) {
		clear(c.columns)
		return false
	}
	c.proof.add("name", 2, "%s is called after %s, and its primary key is of columns of that, with all of the key", src.name.table, base.name.table)
	c.proof.add("size", 2, "%s has %.0f rows, %s %.0f", src.name, src.rows(), base.name, base.rows())
	return true
}

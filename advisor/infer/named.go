package infer

import (
	"slices"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file finds copies by what they are called.

// ownByName tells of a table that was not measured whether a column of its primary key, which is called after it, is what its rows are called by. UUIDs are, but where the table holds pairs from
// one of two sides, or refers to what the column is called after: tracks that somebody saved are no tracks. Numbers may count what something else has, as the lines of an order; a large
// number that is called as the table is does not.
func (b *modeller) ownByName(s *source, c schema.Column) bool {
	about := subject(c.Name)
	switch {
	case b.mirrored(s), b.refers(s, c):
		return false
	case uuids(c.Type):
		return true
	case !dense(c.Type):
		return false
	}
	return c.Type == "bigint" && !s.by && s.called(about) && s.position(c.Name) == len(s.schema.PrimaryKey())-1
}

// arrangedKey is the column of the primary key of a table that says by what it is found that is all of the key of what it is called after, "" if there is none, or if it holds pairs.
func (b *modeller) arrangedKey(s *source) string {
	if !s.by || b.mirrored(s) {
		return ""
	}
	for _, c := range s.schema.PrimaryKey() {
		if slices.ContainsFunc(b.sources, func(x *source) bool {
			return x != s && b.wholeKey(x, c) && (same(x.noun, s.noun) || endsIn(x.noun, s.noun))
		}) {
			return c.Name
		}
	}
	return ""
}

// wholeKey tells whether a column's name and type are those of all of a table's primary key.
func (b *modeller) wholeKey(x *source, c schema.Column) bool {
	primary := x.schema.PrimaryKey()
	return len(primary) == 1 && primary[0].Name == c.Name && primary[0].Type == c.Type
}

// refers tells whether a column of a table's primary key, which ends in what its name does (saved_tracks, lines of an order), is another table's: that one is called after the column alone, and
// this one is kept for something that it does not know; or it has all rows of one value beside each other, told apart by something else.
func (b *modeller) refers(s *source, c schema.Column) bool {
	if s.by || s.called(subject(c.Name)) {
		return false
	}
	others := slices.DeleteFunc(s.schema.PrimaryKey(), func(x schema.Column) bool {
		return x.Name == c.Name || timelike(x.Type) || period(b.name(x.Name).words)
	})
	if partition := s.schema.PartitionKey(); len(partition) == 1 && partition[0].Name == c.Name {
		return len(others) > 0
	}
	return slices.ContainsFunc(b.owners(c.Name), func(of *source) bool {
		return of != s && of.position(c.Name) >= 0 && slices.ContainsFunc(others, func(x schema.Column) bool { return of.schema.Column(x.Name) == nil })
	})
}

// nowhereElse tells whether no other table has a column of that name, or is called after it.
func (b *modeller) nowhereElse(s *source, c schema.Column) bool {
	about := subject(c.Name)
	return !slices.ContainsFunc(b.sources, func(x *source) bool {
		return x != s && (x.schema.Column(c.Name) != nil || len(about) > 0 && x.called(about))
	})
}

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

// namedWithMore is a copy by its name that has columns besides those of the base, as the title of a course in classes by teacher: its primary key has all of the base's key and,
// besides columns of the base, pieces of time at the most; and it has as many rows as the base. Unmeasured, it may be found by a partner that the base does not name.
func (b *modeller) namedWithMore(c *copied, src, base *source) bool {
	unmeasured := src.stats == nil && base.stats == nil
	if !src.by || !same(base.noun, src.noun) || !unmeasured && !asManyRows(src, base) || unmeasured && b.mirrored(src) {
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
	foreign := func(x schema.Column) bool {
		return c.columns[x.Name] == "" && !timelike(x.Type) && !b.bucket(x) && (!unmeasured || x.Kind != schema.PartitionKey)
	}
	if slices.ContainsFunc(src.schema.PrimaryKey(), foreign) || b.contradicted(src, base, c.inverse()) {
		clear(c.columns)
		return false
	}
	c.proof.add("name", 2, "%s is called after %s, and its primary key is of columns of that, with all of the key", src.name.table, base.name.table)
	if unmeasured {
		c.proof.add("definition", 1, "%s is found by something else", src.name.table)
		return true
	}
	c.proof.add("size", 2, "%s has %.0f rows, %s %.0f", src.name, src.rows(), base.name, base.rows())
	return true
}

// extended is a copy of what is called by several columns, with what is said of it besides: its primary key is that one's, under the same names and in the same order, and it is called after it, with a
// word more, as ticket_ratings are. A part of the key is the base's own: of pairs, those that are members and those that are invited may be others.
func (b *modeller) extended(c *copied, src, base *source) bool {
	one, other := src.schema.PrimaryKey(), base.schema.PrimaryKey()
	if len(base.key) < 2 || len(src.noun) <= len(base.noun) || !begins(src.noun, base.noun) || b.outgrows(src, base) ||
		!slices.EqualFunc(one, other, func(x, y schema.Column) bool { return x.Name == y.Name && x.Type == y.Type }) {
		return false
	}
	own := slices.ContainsFunc(base.key, func(k string) bool { return len(b.probable(base, *base.schema.Column(k))) == 0 })
	for _, x := range one {
		c.columns[x.Name] = x.Name
	}
	if !own || b.contradicted(src, base, c.inverse()) {
		clear(c.columns)
		return false
	}
	c.proof.add("name", 2, "%s is called after %s", src.name.table, base.name.table)
	c.proof.add("definition", 1, "both have the same primary key")
	return true
}

// asManyRows tells whether two tables have as many rows, and enough of them for that to say something.
func asManyRows(src, base *source) bool {
	return src.countable() && base.countable() && src.rows() >= Full*base.rows() && base.rows() >= Full*src.rows()
}

// bucket tells whether a column of a partition key is a piece of time by its name.
func (b *modeller) bucket(c schema.Column) bool {
	return c.Kind == schema.PartitionKey && period(b.name(c.Name).words)
}

// rearranged is a copy of what is called by several columns, by their names: they are all in its primary key, under the same names and in another order; and there are as many rows, and as many
// different values of each: the scores of a season by rank, and by player. One of the two tables has all columns of the other one; else they are called as those of pairs from both sides are, and
// have more than the pairs in common. Unmeasured, they have to be called so.
func (b *modeller) rearranged(c *copied, src, base *source) bool {
	unmeasured := src.stats == nil && base.stats == nil
	sides := b.sidesByName(src, base)
	if len(base.key) < 2 || src.position(base.key[0]) < 0 || !unmeasured && !asManyRows(src, base) || !sides && (unmeasured || merePairs(src, base)) || inOrder(src, base) {
		return false
	}
	for _, x := range src.schema.Columns {
		if o := base.schema.Column(x.Name); o != nil && o.Type == x.Type && b.tells(x.Name) {
			c.columns[x.Name] = x.Name
		}
	}
	lacks := func(x schema.Column) bool { return c.columns[x.Name] == "" }
	apart := slices.ContainsFunc(base.key, func(k string) bool {
		return src.position(k) < 0 || c.columns[k] == "" || !unmeasured && !asManyValues(src, k, base, k)
	})
	all := len(c.columns) == min(len(src.schema.Columns), len(base.schema.Columns))
	if apart || slices.ContainsFunc(src.schema.PrimaryKey(), lacks) || !all && (!sides || len(c.columns) <= len(base.key)) || b.contradicted(src, base, c.inverse()) {
		clear(c.columns)
		return false
	}
	c.proof.add("name", 2, "the primary key of %s has all of the key of %s in another order, and %d columns of them are called alike", src.name.table, base.name.table, len(c.columns))
	if unmeasured {
		c.proof.add("definition", 1, "%s and %s are called after the same", src.name.table, base.name.table)
		return true
	}
	c.proof.add("size", 2, "%s has %.0f rows, %s %.0f, and as many different values of each", src.name, src.rows(), base.name, base.rows())
	return true
}

// inOrder tells whether a table's primary key begins with the same column as another's: nothing is found by it that is not by that one.
func inOrder(src, base *source) bool {
	return src.schema.PrimaryKey()[0].Name == base.schema.PrimaryKey()[0].Name
}

// sidesByName tells whether two tables of pairs are called as those that are kept from both sides: the one says by what it is found, and lists one of the two, or what the last word of the other's
// name says (match_results, results_by_player); or both are of the same words (post_tags and tag_posts), one of them with one more (friends, friends_of).
func (b *modeller) sidesByName(src, base *source) bool {
	if len(base.key) != 2 || len(src.schema.PrimaryKey()) != 2 {
		return false
	}
	for _, x := range [][2]*source{{src, base}, {base, src}} {
		one, other := x[0], x[1]
		listed := slices.ContainsFunc(one.schema.PrimaryKey(), func(c schema.Column) bool {
			return one.called(b.name(c.Name).subject) || slices.ContainsFunc(b.probable(one, c), func(to *source) bool { return same(to.noun, one.noun) })
		})
		if one.by && (listed || same(one.noun, other.noun) || endsIn(other.noun, one.noun)) {
			return true
		}
		if w, o := words(one.name.table), words(other.name.table); len(w) == len(o)+1 && slices.Equal(w[:len(o)], o) {
			return true
		}
	}
	return slices.Equal(sortedWords(src), sortedWords(base))
}

// sortedWords are the words of a table's name, singular, in order.
func sortedWords(s *source) (out []string) {
	for _, w := range words(s.name.table) {
		out = append(out, singular(w))
	}
	slices.Sort(out)
	return out
}

package infer

import (
	"fmt"
	"math"

	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/sketch"
	"github.com/helenus-db/helenus/capture/value"
)

// This file knows columns of texts that are made of keys: "user:123" holds the key of a user, "acme|bob" those of a tenant and a user.

// allMade is the share of a column's texts that have to have a piece.
const allMade = 0.95

// made notes the pieces that all texts of a column have, as columns of their own.
func (b *modeller) made(c *profile.Column) {
	if n := c.Classes[value.UUID.String()]; n > 0 && float64(n) >= allMade*float64(c.Read+c.Bound) {
		b.spelt[c.Keyspace+"."+c.Table+"."+c.Name] = true
	}
	for i := range c.Pieces {
		x := &c.Pieces[i]
		if x.Values == nil || float64(x.Seen) < allMade*float64(c.Read+c.Bound) {
			continue
		}
		of := c.Keyspace + "." + c.Table + "." + c.Name
		one := piece{id: fmt.Sprintf("%s (part %d, %s)", of, x.Number+1, x.Class), class: x.Class}
		b.values.add(one.id, x.Values)
		b.pieces[of] = append(b.pieces[of], one)
	}
}

// uuids tells whether a type's values are UUIDs.
func uuids(cqlType string) bool { return cqlType == "uuid" || cqlType == "timeuuid" }

// piece is a part of a column's texts.
type piece struct{ id, class string }

// alikeUUIDs tells whether two columns of different types hold the same UUIDs: a text spells them, or one is of another kind of UUID. Their types say nothing of that, values do.
func (b *modeller) alikeUUIDs(column, cqlType, key, keyType string) bool {
	may := func(id, of string) bool { return uuids(of) || textual(of) && b.spelt[id] } // a collection of them is none
	if !may(column, cqlType) || !may(key, keyType) {
		return false
	}
	v, k := b.values.of[column], b.values.of[key]
	return v != nil && k != nil && v.meets(k)
}

// textual tells whether a type's values are texts.
func textual(cqlType string) bool {
	return cqlType == "text" || cqlType == "varchar" || cqlType == "ascii"
}

// fits tells whether a piece of a class may be a value of a type.
func fits(class, cqlType string) bool {
	switch {
	case dense(cqlType):
		return class == value.Integer.String()
	case cqlType == "uuid" || cqlType == "timeuuid":
		return class == value.UUID.String()
	}
	return textual(cqlType) && (class == value.Text.String() || class == value.UUID.String()) // texts that spell a UUID are hashed as that
}

// as is the column that has the values of another one as a column may hold them: itself, if the types are the same, or one is of texts that spell UUIDs, or a piece of its texts, whichever
// has most in common with it; "" if it can not hold them.
func (b *modeller) as(src *source, c schema.Column, to *source) string {
	key, own := to.schema.Column(to.key[0]), src.id(c.Name)
	pieces := b.pieces[own]
	found, most := "", 0.0
	if c.Type == key.Type || b.alikeUUIDs(own, c.Type, to.id(key.Name), key.Type) {
		found = own
	}
	if len(pieces) == 0 {
		return found
	}
	if found != "" {
		_, of := b.contained(own, to.id(key.Name), key.Type, to.rows())
		most = of.share * float64(of.n)
	}
	for _, x := range pieces {
		if !fits(x.class, key.Type) {
			continue
		}
		_, of := b.contained(x.id, to.id(key.Name), key.Type, to.rows())
		if x.class == value.Text.String() && !b.words(of, to) {
			continue
		}
		if share := of.share * float64(of.n); found == "" || share > most {
			found, most = x.id, share
		}
	}
	return found
}

// words tells whether parts of texts that are no identifiers by their form are keys of a table: nearly all of them, or as many as were seen of all keys. Words are in
// many columns, and a part is one of several that are tried, so a few equal ones say nothing.
func (b *modeller) words(of overlap, to *source) bool {
	k := b.values.of[to.id(to.key[0])]
	if k == nil || of.n < leastValues {
		return false
	}
	seen := 1.0
	if rows := to.rows(); to.stats != nil && k.distinct < rows {
		seen = k.distinct / rows
	}
	low, _ := sketch.Interval(int(math.Round(of.share*float64(of.n))), of.n)
	return low >= within || seen >= leastSeen && of.share >= within*seen
}

// leastSeen is the share of a table's keys that has to be seen for a part of texts to be held against them.
const leastSeen = 0.25

// part tells whether values of a column are held by a piece of its texts.
func (t *target) part() bool { return t.as != t.in.id(t.column.Name) }

// differing is how many different values of another table's key a column has, which are in it as they are or as a piece: "acme|bob" and "acme|ann" are two texts, and
// one acme, as far as these were seen.
func (b *modeller) differing(src *source, c schema.Column, as string) float64 {
	d := src.distinct(c.Name)
	if !b.shared(src, c, as) {
		return d
	}
	seen := b.values.of[as].distinct
	if d == 0 {
		return seen
	}
	return min(d, seen)
}

// shared tells whether several texts of a column have the same piece.
func (b *modeller) shared(src *source, c schema.Column, as string) bool {
	if as == "" || as == src.id(c.Name) {
		return false
	}
	whole, x := b.values.of[src.id(c.Name)], b.values.of[as]
	return whole != nil && x != nil && x.distinct < samePieces*whole.distinct
}

// samePieces is the share of the different texts of a column from which on each is taken to have a piece of its own: sketches count within some percent.
const samePieces = 0.9

// finest is the target whose key tells most apart, of those that a column's texts hold by different parts: "acme|bob" holds a tenant and a user, which the tenant
// does not tell. nil if nothing speaks for one.
func (b *modeller) finest(list []target) *target {
	var found *target
	most, second := 0.0, 0.0
	for i := range list {
		t := &list[i]
		if t.probability < list[0].probability-tie {
			break
		}
		x := b.values.of[t.as]
		if !t.part() || x == nil || dense(t.to.schema.Column(t.to.key[0]).Type) {
			return nil
		}
		if found == nil || x.distinct > most {
			found, most, second = t, x.distinct, most
		} else {
			second = max(second, x.distinct)
		}
	}
	if found == nil || most < 1.5*second {
		return nil
	}
	b.assert(found, true)
	return found
}

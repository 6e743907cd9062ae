package infer

import (
	"fmt"

	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/value"
)

// This file knows columns of texts that are made of identifiers: "user:123" holds the key of a user.

// allMade is the share of a column's texts that have to have a piece.
const allMade = 0.95

// made notes the pieces that all texts of a column have, as columns of their own.
func (b *modeller) made(c *profile.Column) {
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

// piece is a part of a column's texts.
type piece struct{ id, class string }

// classOf is the class of the values of a type that texts may be made of, "" of others.
func classOf(cqlType string) string {
	switch {
	case dense(cqlType):
		return value.Integer.String()
	case cqlType == "uuid" || cqlType == "timeuuid":
		return value.UUID.String()
	}
	return ""
}

// as is the column that has the values of another one as a column may hold them: itself, if the types are the same, or a piece of its texts, the one that
// has most in common with it; "" if it can not hold them.
func (b *modeller) as(src *source, c schema.Column, to *source) string {
	key := to.schema.Column(to.key[0])
	if c.Type == key.Type {
		return src.id(c.Name)
	}
	if c.Type != "text" && c.Type != "varchar" && c.Type != "ascii" {
		return ""
	}
	found, most := "", 0.0
	for _, x := range b.pieces[src.id(c.Name)] {
		if x.class != classOf(key.Type) {
			continue
		}
		_, of := b.contained(x.id, to.id(key.Name), key.Type, to.rows())
		if share := of.share * float64(of.n); found == "" || share > most {
			found, most = x.id, share
		}
	}
	return found
}

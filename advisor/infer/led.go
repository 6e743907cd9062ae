package infer

import (
	"cmp"
	"slices"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file follows values on: what travels to a column that leads somewhere leads there, too. Whom a post is put into the feed of comes from the list of who follows, and
// nobody reads the person.

// beside is a column of another table that values travel from, or to.
type beside struct {
	of       table
	column   string
	evidence evidence
}

// noteBeside notes for a column what values travel to it from, and the other way round.
func (b *modeller) noteBeside(column string, of table, other string, e evidence) {
	for i := range b.beside[column] {
		if x := &b.beside[column][i]; x.of == of && x.column == other {
			if e.confidence > x.evidence.confidence {
				x.evidence = e
			}
			return
		}
	}
	b.beside[column] = append(b.beside[column], beside{of, other, e})
}

// led finds what a column leads to by columns that lead there, and that its values travel from or to; nil if by none, or to two places. A text of which a part travels may lead to
// what has all of its parts.
func (b *modeller) led(src *source, c schema.Column) (*source, proof) {
	list := slices.Clone(b.beside[src.id(c.Name)])
	if len(list) == 0 {
		return nil, nil
	}
	slices.SortFunc(list, func(x, y beside) int {
		return cmp.Or(cmp.Compare(y.evidence.confidence, x.evidence.confidence), cmp.Compare(x.of.String(), y.of.String()), cmp.Compare(x.column, y.column))
	})
	var found *target
	var targets []target
	for _, x := range list {
		in := b.at(x.of)
		if in == nil || in.base == src {
			continue
		}
		h := in.base.held[in.inBase(x.column)]
		if h == nil || h.part != nil {
			continue
		}
		if targets == nil {
			targets = b.targets(src, c)
		}
		at := slices.IndexFunc(targets, func(t target) bool { return t.to == h.to })
		if at < 0 || targets[at].denied() || targets[at].part() || found != nil && found.to != h.to {
			return nil, nil
		}
		if found == nil {
			found = &targets[at]
			b.assert(found, true)
			found.proof.add("feed", 3*x.evidence.confidence, "values travel between it and %s, which leads there: %d of %d looked at", in.id(x.column), x.evidence.hits, x.evidence.observed)
		}
	}
	if found == nil || found.proof.probability() < Probable || b.either(targets) {
		return nil, nil
	}
	return found.to, found.proof
}

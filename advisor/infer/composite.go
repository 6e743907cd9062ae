package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// This file finds relationships by keys of several columns: a parcel is of a line, which is called by its order and its number there.

// fullGroup is how many rows of one table are kept of a value: of as many there may be more (capture/profile).
const fullGroup = 8

// compose finds the relationships of an entity by keys of several columns. One column of them leads where the key's own does, to the order, and the rest are
// among what that one has: the line's number is one of the order's. Columns that hold partners by themselves go on doing so.
func (b *modeller) compose(src *source) {
	if !b.samples.has(src.name) {
		return
	}
	for _, to := range b.sources {
		if to.base != to || to == src || to.linked || len(to.key) < 2 || to.name.keyspace != src.name.keyspace || !b.samples.has(to.name) {
			continue
		}
		for _, at := range b.anchors(src, to) {
			columns, p := b.composed(src, at.column, to, at.part)
			if columns == nil {
				continue
			}
			switch partner := to.held[at.part]; {
			case src.held[at.column] != nil:
			case partner != nil: // what it leads to by itself is known now, too
				b.hold(src, src, *src.schema.Column(at.column), partner.to, slices.Clone(p))
			default:
				columns[at.part] = at.column
			}
			b.holdParts(src, to, columns, p)
			break
		}
	}
}

// anchor is a column that holds a part of another table's key.
type anchor struct{ column, part string }

// anchors are the columns that lead where a part of the other table's key does, or whose values travel to it.
func (b *modeller) anchors(src, to *source) (out []anchor) {
	for _, c := range src.schema.Columns {
		of := src.held[c.Name]
		if of == nil && (!b.travel[src.id(c.Name)] || len(src.key) == 1 && src.keyed(c.Name)) {
			continue
		}
		for _, k := range to.key {
			partner := to.held[k]
			leads := of != nil && partner != nil && of.to == partner.to
			if of == nil {
				e, travels := b.joins[newPair(src.id(c.Name), to.id(k))]
				leads = travels && e.confidence >= Probable
			}
			if leads {
				out = append(out, anchor{c.Name, k})
			}
		}
	}
	return out
}

// composed finds the columns of a table that hold the rest of another one's key, where one holds a part of it: by column of that key.
func (b *modeller) composed(src *source, at string, to *source, k string) (map[string]string, proof) {
	columns, p := map[string]string{}, proof{}
	for _, part := range to.key {
		if part == k {
			continue
		}
		best, most := "", agreement{}
		for _, c := range src.schema.Columns {
			taken := c.Name == at || src.held[c.Name] != nil || len(src.key) == 1 && src.keyed(c.Name)
			for _, other := range columns {
				taken = taken || other == c.Name
			}
			if taken || c.Type != to.schema.Column(part).Type {
				continue
			}
			if a := b.among(src, at, c.Name, to, k, part); a.beyond() && a.excess() > most.excess() {
				best, most = c.Name, a
			}
		}
		if best == "" {
			return nil, nil
		}
		columns[part] = best
		p.add("values", 3, "with the same %s, %s is one of %s in %d of %d rows looked at, %d by chance", at, best, to.id(part), most.agreed, most.n, most.decoys)
	}
	p.add("definition", 2, "%s is a part of the same key as %s", src.id(at), to.id(k))
	return columns, p
}

// among compares what a column has with what another table has under the same value; of values with so many rows there that some are not kept nothing is said.
func (b *modeller) among(src *source, anchor, column string, to *source, key, part string) agreement {
	return agree(b.samples.facts(src.name, anchor, column, false), b.samples.facts(to.name, key, part, true))
}

// excess is how many more agree than would by chance.
func (a agreement) excess() float64 { return float64(a.agreed) - float64(a.n)*a.chance() }

// chance is how likely it is that one agrees with another's.
func (a agreement) chance() float64 { return float64(a.decoys+1) / float64(a.n+2) }

// beyond tells whether nearly all agree, and six standard deviations more than would by chance.
func (a agreement) beyond() bool {
	p := a.chance()
	return a.n >= leastGroups && float64(a.agreed) >= within*float64(a.n) && a.excess() >= 6*math.Sqrt(float64(a.n)*p*(1-p))
}

// holdParts makes a relationship that several columns hold, by column of the partner's key: those that hold no other.
func (b *modeller) holdParts(src, to *source, columns map[string]string, p proof) {
	parts := slices.DeleteFunc(slices.Clone(to.key), func(k string) bool { return columns[k] == "" })
	first := columns[parts[0]]
	role := b.ruled.called(src.id(first), strings.Join(to.noun, "_"))
	r := &model.Relationship{From: src.entity, To: to.entity, Kind: model.ManyToOne, Forward: b.role(src.entity, plain(role)), Reached: min(src.rows(), max(1, to.rows()))}
	back := plain(plural(strings.Join(src.noun, "_")))
	if b.between(src.entity, to.entity) {
		back += "_as_" + r.Forward
	}
	r.Backward = b.role(to.entity, back)
	r.Name = b.unique(strings.ToLower(src.entity.Name) + "_" + r.Forward)
	b.m.Graph.Relationships = append(b.m.Graph.Relationships, r)
	b.m.Relationships = append(b.m.Relationships, Relationship{
		Name: r.Name, From: r.From.Name, To: r.To.Name, Kind: r.Kind, Forward: r.Forward, Backward: r.Backward,
		Column: src.id(first), Confidence: p.probability(), Evidence: p,
	})
	for _, k := range parts {
		c := columns[k]
		src.held[c] = &held{relation: r, to: to, part: to.own[k].Attribute}
		if own := src.own[c]; src.keyed(c) {
			own.Attribute.Copied = &model.Copy{Edge: r, Of: to.own[k].Attribute}
		} else {
			delete(src.own, c)
			src.entity.Attributes = slices.DeleteFunc(src.entity.Attributes, func(a *model.Attribute) bool { return a == own.Attribute })
		}
	}
}

// attribute is the partner's attribute that a column holds.
func (h *held) attribute() *model.Attribute {
	if h.part != nil {
		return h.part
	}
	return h.to.entity.Key[0]
}

// keyColumns are the columns that a statement compares by = and that are parts of its entity's key of several.
func (s *said) keyColumns() (out []string) {
	for _, c := range s.query.where {
		if _, copied := s.source.ownKey(c.column); c.Op == workload.Equal && !c.list && (copied || c.Field.Entity == s.source.entity && c.Field.IsKey()) {
			out = append(out, c.column)
		}
	}
	return out
}

// whole puts first what feeds a part of a key of several columns, if all parts are fed; else it is no join.
func (f *flows) whole(e *edge) {
	to := f.all[e.to]
	fed := map[string]bool{}
	for i := range e.feeds {
		fed[e.feeds[i].To.Column] = true
	}
	for i := 0; i < len(e.feeds); i++ {
		if bound := to.source.fields[e.feeds[i].To.Column]; len(bound.Entity.Key) == 1 || !bound.IsKey() {
			continue
		}
		columns := to.keyColumns()
		if missing := slices.IndexFunc(columns, func(c string) bool { return !fed[c] }); missing >= 0 || len(columns) < len(to.source.entity.Key) {
			reason := fmt.Sprintf("%s identifies a %s only with the rest of its key", e.feeds[i].To.Column, to.source.entity.Name)
			f.leave(&edge{feeds: e.feeds[i : i+1], joins: e.joins[i : i+1]}, reason)
			e.feeds, e.joins = slices.Delete(e.feeds, i, i+1), slices.Delete(e.joins, i, i+1)
			i--
			continue
		}
		e.feeds[0], e.feeds[i] = e.feeds[i], e.feeds[0]
		e.joins[0], e.joins[i] = e.joins[i], e.joins[0]
		e.composite = true
	}
}

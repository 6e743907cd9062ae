package infer

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// This file finds relationships by keys of several columns: a parcel is of a line, which is called by its order and its number there.

// fullGroup is how many rows of one table are kept of a value: of as many there may be more (capture/profile).
const fullGroup = 8

// compose finds the relationships of an entity by keys of several columns, the longest keys first: by what travels together (passage.go), by rows, and by names. By rows, one
// column leads where the key's own does, to the order, and the rest are among what that one has: the line's number is one of the order's. Columns that hold partners
// by themselves go on doing so.
func (b *modeller) compose(src *source) {
	var targets []*source
	for _, to := range b.sources {
		if to.composite(src) && to.owns() {
			targets = append(targets, to)
		}
	}
	slices.SortStableFunc(targets, func(x, y *source) int { return len(y.key) - len(x.key) })
	for _, to := range targets {
		found := b.travelling(src, to)
		if len(found) == 0 {
			found = b.joined(src, to)
		}
		if len(found) == 0 {
			found = b.byRows(src, to)
		}
		if len(found) == 0 {
			found = b.calledAlike(src, to)
		}
		for _, r := range found {
			if r.proof.probability() >= Probable && !to.oneEach(src, r) {
				b.refer(src, to, r)
			}
		}
	}
}

// composite tells whether a table is an entity's with a key of several columns, to which another table may refer.
func (s *source) composite(from *source) bool {
	return s.base == s && !s.linked && len(s.key) > 1 && s.name.keyspace == from.name.keyspace
}

// owns tells whether a part of the key is the table's own: what has none is called by its partners, and whoever has those need not mean it.
func (s *source) owns() bool {
	return slices.ContainsFunc(s.key, func(k string) bool { return s.held[k] == nil || s.held[k].part != nil })
}

// oneEach tells whether a table leads with all of its key to another one, of which all of the key would lead back: the seats that are left on a flight are the flight's, and not the flight theirs.
func (s *source) oneEach(to *source, back referred) bool {
	covers := func(columns map[string]string, key []string) bool {
		return !slices.ContainsFunc(key, func(k string) bool { return !slices.Contains(slices.Collect(maps.Values(columns)), k) })
	}
	return s != to && covers(back.columns, to.key) && slices.ContainsFunc(s.holding(), func(c string) bool {
		h := s.held[c]
		return h.to == to && h.part != nil && covers(h.columns, s.key)
	})
}

// refer makes the relationship that columns hold, unless they are those of another one that says more.
func (b *modeller) refer(src, to *source, r referred) {
	if c := r.alone(); c != "" {
		if src.held[c] == nil && (len(src.key) != 1 || !src.keyed(c)) {
			b.holdText(src, to, c, r)
		}
		return
	}
	columns := maps.Clone(r.columns)
	for _, k := range to.key {
		c := r.columns[k]
		switch partner := to.held[k]; {
		case src.held[c] != nil:
			delete(columns, k)
		case len(src.key) == 1 && src.keyed(c):
			return
		case partner != nil && partner.part == nil:
			b.hold(src, src, *src.schema.Column(c), partner.to, slices.Clone(r.proof)) // what it leads to by itself is known now, too
			delete(columns, k)
		}
	}
	if len(columns) > 0 {
		b.holdParts(src, to, columns, r)
	}
}

// byRows finds the key of another table in a table's columns by rows.
func (b *modeller) byRows(src, to *source) (out []referred) {
	if src == to || !b.samples.has(src.name) || !b.samples.has(to.name) {
		return nil
	}
	taken := map[string]bool{}
	for _, at := range b.anchors(src, to) {
		columns, p := b.composed(src, at.column, to, at.part)
		if columns == nil || slices.ContainsFunc(slices.Collect(maps.Values(columns)), func(c string) bool { return taken[c] }) {
			continue
		}
		for _, c := range columns {
			taken[c] = true
		}
		columns[at.part] = at.column
		out = append(out, referred{columns, p})
	}
	return out
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

// relateWhole relates an entity to one with a key of several columns, of which a column is the first that holds it.
func (b *modeller) relateWhole(src, to *source, first string, p proof) *model.Relationship {
	role := b.ruled.called(src.id(first), strings.Join(to.noun, "_"))
	r := &model.Relationship{From: src.entity, To: to.entity, Kind: model.ManyToOne, Forward: b.role(src.entity, plain(role)), Reached: min(src.rows(), max(1, to.rows()))}
	back := plain(plural(strings.Join(src.noun, "_")))
	if b.between(src.entity, to.entity) {
		back += "_as_" + r.Forward
	}
	if r.Backward = b.role(to.entity, back); src == to && r.Backward == r.Forward {
		r.Backward += "_of"
	}
	if st := src.column(first); st != nil && st.Nulls > 0 {
		r.Optional = true
	}
	r.Name = b.unique(strings.ToLower(src.entity.Name) + "_" + r.Forward)
	b.m.Graph.Relationships = append(b.m.Graph.Relationships, r)
	b.m.Relationships = append(b.m.Relationships, Relationship{
		Name: r.Name, From: r.From.Name, To: r.To.Name, Kind: r.Kind, Forward: r.Forward, Backward: r.Backward,
		Column: src.id(first), Confidence: p.probability(), Evidence: p,
	})
	return r
}

// holdParts makes a relationship that several columns hold, by column of the partner's key: those that hold no other.
func (b *modeller) holdParts(src, to *source, columns map[string]string, found referred) {
	parts := slices.DeleteFunc(slices.Clone(to.key), func(k string) bool { return columns[k] == "" })
	r := b.relateWhole(src, to, columns[parts[0]], found.proof)
	for _, k := range parts {
		b.holdPart(src, columns[k], &held{relation: r, to: to, part: to.own[k].Attribute, columns: found.columns})
	}
}

// holdPart notes what a column holds: it is no attribute then, or, in a key, a copy.
func (b *modeller) holdPart(src *source, c string, h *held) {
	src.held[c] = h
	own := src.own[c]
	if src.keyed(c) {
		own.Attribute.Copied = &model.Copy{Edge: h.relation, Of: h.part}
		return
	}
	delete(src.own, c)
	src.entity.Attributes = slices.DeleteFunc(src.entity.Attributes, func(a *model.Attribute) bool { return a == own.Attribute })
}

// attribute is the partner's attribute that a column holds.
func (h *held) attribute() *model.Attribute {
	if h.part != nil {
		return h.part
	}
	return h.to.entity.Key[0]
}

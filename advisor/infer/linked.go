package infer

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// This file makes m:n relationships of tables of pairs: those that hold two other tables' keys, and nothing of their own. What they say of their ends is the ends': the tenant that both of them have, the
// title of a recipe that somebody has tagged, whom a comment that somebody is mentioned in is by.

// loan is what a column says of a partner, the end of a pair or what a partition is of: what a column of that one's table does.
type loan struct {
	by     string // the column of the base that holds the partner
	end    *source
	column string
}

// name is by what the partner that a loan leads to is held.
func (l loan) name() string { return l.by + "." + l.column }

// link marks tables that hold pairs of two other tables' keys and nothing of their own, in none of their copies either.
func (b *modeller) link() {
	for _, src := range b.sources {
		if src.base == src && len(src.key) == 2 && b.ruled.called(src.name.String(), "") == "" {
			if src.linked = b.pairsOnly(src); !src.linked {
				for _, x := range append([]*source{src}, b.views[src]...) {
					x.lent = nil
				}
			}
		}
	}
	for _, src := range b.sources { // of pairs of what is itself a pair nothing can be said
		for _, k := range src.key {
			if !src.linked {
				break
			}
			if to, _ := b.best(src, *src.schema.Column(k)); to != nil && to.linked {
				src.linked = false
			}
		}
	}
}

// pairsOnly tells whether a table, with its copies, has nothing but the keys of two others, and what it says of these.
func (b *modeller) pairsOnly(src *source) bool {
	ends := map[string]*source{}
	for _, k := range src.key {
		to, p := b.best(src, *src.schema.Column(k))
		if to == nil || p.probability() < Probable {
			return false
		}
		ends[k] = to
	}
	for _, x := range append([]*source{src}, b.views[src]...) {
		x.lent = map[string]loan{}
		keys := map[string]string{} // the columns of x that hold the ends
		for _, k := range src.key {
			if keys[k] = k; x != src {
				keys[k] = x.copied.column(k)
			}
		}
		for _, c := range x.schema.Columns {
			if c.Name == keys[src.key[0]] || c.Name == keys[src.key[1]] {
				continue
			}
			said := false
			for _, k := range src.key {
				if column := b.saysOf(x, c, keys[k], ends[k]); column != "" && !said {
					x.lent[c.Name], said = loan{k, ends[k], column}, true
				}
			}
			if !said {
				return false
			}
		}
	}
	return true
}

// saysOf is the column of an end's table that a column of a table of pairs repeats, "" if it repeats none: rows of the same end say the same. Where there are too few of both, what the end's table is
// kept by is believed to be the same under the same name, and so is what people repeat to show it; when something was, or how it is, may be the pair's own.
func (b *modeller) saysOf(src *source, c schema.Column, key string, end *source) string {
	column, _ := b.same(src, *src.schema.Column(key), c, end)
	if column != "" || b.seenTogether(src, key, end) {
		return column
	}
	of := end.schema.Column(c.Name)
	if own := b.name(c.Name).words; of == nil && len(own) > len(end.noun) && slices.Equal(own[:len(end.noun)], end.noun) { // recipe_title
		of = end.schema.Column(strings.Join(own[len(end.noun):], "_"))
	}
	if of == nil || of.Type != c.Type || end.keyed(of.Name) || end.position(of.Name) < 0 && !shown(of.Name) {
		return ""
	}
	return of.Name
}

// seenTogether tells whether enough rows of a table and of what a column of it leads to were seen for what they have in common to show.
func (b *modeller) seenTogether(src *source, key string, end *source) bool {
	return len(b.samples.facts(src.name, key, key, false).common(b.samples.facts(end.name, end.key[0], end.key[0], false))) >= leastGroups
}

// shown tells whether a column is called as what is repeated to show what something is.
func shown(column string) bool {
	all := words(column)
	return len(all) > 0 && slices.Contains([]string{"name", "title", "label", "caption", "headline", "subject", "handle", "nick", "username", "slug", "url", "avatar", "nombre", "titulo", "nom", "titre", "titel"}, all[len(all)-1])
}

// lend gives what a table of pairs says of its ends' partners occurrences of their own: who wrote a comment is not who is mentioned in it.
func (b *modeller) lend(src *source) {
	from, to := src.held[src.key[0]], src.held[src.key[1]]
	met := map[*model.Entity]int{}
	for _, h := range []*held{from, to} {
		met[h.to.entity]++
	}
	for _, x := range append([]*source{src}, b.views[src]...) {
		for _, c := range x.schema.Columns {
			l, lent := x.lent[c.Name]
			if !lent || l.end.held[l.column] == nil || src.held[l.name()] != nil {
				continue
			}
			h := *l.end.held[l.column]
			h.partner = nil
			for name, other := range src.held { // another part of the same key
				if other.relation == h.relation && strings.HasPrefix(name, l.by+".") {
					h.partner, h.edge = other.partner, other.edge
				}
			}
			if h.partner == nil {
				met[h.to.entity]++
				h.partner = b.m.Graph.Occurrence(h.to.entity, met[h.to.entity])
				h.edge = b.m.Graph.Between(h.relation, src.held[l.by].partner, h.partner)
			}
			src.held[l.name()] = &h
		}
	}
}

// relateMany makes the m:n relationship of a table of pairs.
func (b *modeller) relateMany(src *source) {
	var ends []*source
	var names []string
	var whole proof
	confidence := 1.0
	for _, name := range src.key {
		to, p := b.best(src, *src.schema.Column(name))
		ends, names = append(ends, to), append(names, name)
		confidence = min(confidence, p.probability())
		whole = append(whole, p...)
	}
	from, to := ends[0].entity, ends[1].entity
	forward, backward := strings.Join(ends[1].noun, "_"), strings.Join(ends[0].noun, "_")
	if from == to { // its ends are told apart by their columns only
		forward, backward = strings.Join(subject(names[1]), "_"), strings.Join(subject(names[0]), "_")
	}
	r := &model.Relationship{
		From: from, To: to, Kind: model.ManyToMany, Optional: true, Degree: src.rows() / max(1, from.Count),
		Forward: b.role(from, plain(plural(forward))), Backward: b.role(to, plain(plural(backward))),
	}
	if from == to && r.Forward == r.Backward {
		r.Backward += "_of"
	}
	r.Name = b.unique(plain(src.name.table))
	b.m.Graph.Relationships = append(b.m.Graph.Relationships, r)
	b.m.Relationships = append(b.m.Relationships, Relationship{
		Name: r.Name, From: from.Name, To: to.Name, Kind: r.Kind, Forward: r.Forward, Backward: r.Backward,
		Column: src.name.String(), Confidence: confidence, Evidence: whole,
	})
	src.entity = from
	src.held[names[0]] = &held{relation: r, to: ends[0]}
	src.held[names[1]] = &held{relation: r, to: ends[1]}
}

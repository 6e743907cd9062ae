package infer

import (
	"maps"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// This file knows texts that are all of a key of several columns, joined: "WEB#12" is the issue with the number 12 of the project WEB.

// alone is the column that holds all parts of a key, "" if several do.
func (r *referred) alone() string {
	columns := slices.Compact(slices.Sorted(maps.Values(r.columns)))
	if len(columns) != 1 {
		return ""
	}
	return columns[0]
}

// joined finds the columns of texts that have as many parts as a key, each of which may be one of it, and the first that leads to a partner only values of that one.
func (b *modeller) joined(src, to *source) (out []referred) {
	for _, c := range src.schema.Columns {
		if len(src.key) == 1 && src.keyed(c.Name) {
			continue
		}
		if r := b.spells(src, c, to); r.proof.probability() >= Probable && !b.rivals(src, c, to) {
			out = append(out, r)
		}
	}
	return out
}

// spells weighs whether a column's texts are made of the parts of a key, in its order.
func (b *modeller) spells(src *source, c schema.Column, to *source) (r referred) {
	pieces := b.pieces[src.id(c.Name)]
	if !textual(c.Type) || len(pieces) != len(to.key) {
		return r
	}
	r.columns = map[string]string{}
	for i, k := range to.key {
		part := to.schema.Column(k)
		if !fits(pieces[i].class, part.Type) {
			return referred{}
		}
		odds, of := b.contained(pieces[i].id, to.id(k), part.Type, to.distinct(k))
		switch {
		case odds < 0:
			return referred{}
		case odds > 0:
			r.proof.add("values", odds, "part %d of %s: %v", i+1, c.Name, of)
		}
		r.columns[k] = c.Name
	}
	if len(r.proof) == 0 {
		return referred{}
	}
	switch d, rows := src.distinct(c.Name), to.rows(); {
	case d == 0 || to.stats == nil:
	case d <= 1.1*rows:
		r.proof.add("size", 0.5, "%.0f different values against %.0f keys", d, rows)
	default:
		r.proof.add("size", -4, "%.0f different values, but only %.0f keys", d, rows)
	}
	r.proof.add("definition", 0.8, "it has as many parts as the key of %s, and no other key has these", to.name)
	return r
}

// rivals tells whether a column's texts may be the keys of another table as well.
func (b *modeller) rivals(src *source, c schema.Column, to *source) bool {
	if !textual(c.Type) || len(b.pieces[src.id(c.Name)]) < 2 {
		return false
	}
	return slices.ContainsFunc(b.sources, func(other *source) bool {
		if other == to || other == src || len(other.key) != len(to.key) || !other.composite(src) {
			return false
		}
		r := b.spells(src, c, other)
		return r.proof.probability() >= Probable
	})
}

// spelledWhole tells whether a column's texts are all of a key, so that a part of them leads nowhere by itself.
func (b *modeller) spelledWhole(src *source, c schema.Column) bool {
	if !textual(c.Type) {
		return false
	}
	for _, to := range b.sources {
		if !to.composite(src) {
			continue
		}
		if r := b.spells(src, c, to); to != src && r.proof.probability() >= Probable && !b.rivals(src, c, to) {
			return true
		}
		for _, r := range b.travelling(src, to) {
			if r.alone() == c.Name && r.proof.probability() >= Probable {
				return true
			}
		}
	}
	return false
}

// composeAlike finds the columns of texts that other columns hold a key of several columns by: what is a key elsewhere is one here, too.
func (b *modeller) composeAlike(src *source) {
	for _, c := range src.schema.Columns {
		if !textual(c.Type) || src.held[c.Name] != nil || len(src.key) == 1 && src.keyed(c.Name) || b.values.of[src.id(c.Name)] == nil {
			continue
		}
		var best referred
		var of *source
		for _, known := range b.texts {
			if known.to == src || known.to.name.keyspace != src.name.keyspace {
				continue
			}
			r := referred{columns: map[string]string{}}
			odds, text := b.contained(src.id(c.Name), known.column, c.Type, known.to.rows())
			if odds <= 0 || known.column == src.id(c.Name) {
				continue
			}
			r.proof.add("values", odds, "%s holds the key of %s: %v", known.column, known.to.name, text)
			r.proof.add("definition", 0.8, "it is a text as those")
			for _, k := range known.to.key {
				r.columns[k] = c.Name
			}
			if r.proof.probability() > best.proof.probability() {
				best, of = r, known.to
			}
		}
		if of != nil && best.proof.probability() >= Probable {
			b.holdText(src, of, c.Name, best)
		}
	}
}

// spelled is a column of texts that holds a key of several columns.
type spelled struct {
	column string
	to     *source
}

// holdText makes the relationship of a column that holds all of a key: what it holds is another name of the partner.
func (b *modeller) holdText(src, to *source, c string, found referred) {
	r := b.relateWhole(src, to, c, found.proof)
	if to.text == nil {
		to.text = &model.Attribute{Name: b.attributeName(to.entity, c), Type: src.schema.Column(c).Type}
		if st := src.column(c); st != nil {
			to.text.Size = st.MeanBytes
		}
		to.entity.Attributes = append(to.entity.Attributes, to.text)
		to.entity.Alternate = append(to.entity.Alternate, []*model.Attribute{to.text})
	}
	b.texts = append(b.texts, spelled{src.id(c), to})
	b.holdPart(src, c, &held{relation: r, to: to, part: to.text, columns: found.columns})
}

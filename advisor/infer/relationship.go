package infer

import (
	"fmt"
	"math"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// prior is the log-odds that any two columns of the same type are the same thing.
const prior = -1

// caps keep groups of evidence that say the same several times from piling up.
var caps = map[string]float64{"name": 2, "type": 1, "size": 3, "feed": 5, "person": word}

// proof is a list of evidence for one assertion.
type proof []Evidence

func (p *proof) add(group string, odds float64, format string, args ...any) {
	*p = append(*p, Evidence{group, odds, fmt.Sprintf(format, args...)})
}

// probability adds the groups up, each capped, on the prior.
func (p proof) probability() float64 {
	if len(p) == 0 {
		return 0
	}
	groups := map[string]float64{}
	for _, e := range p {
		groups[e.Group] += e.LogOdds
	}
	sum := float64(prior)
	for _, g := range []string{"name", "type", "size", "feed", "person"} { // in a fixed order: floating-point sums depend on it
		sum += min(groups[g], caps[g])
	}
	return math.Round(1000/(1+math.Exp(-sum))) / 1000
}

// best finds the table whose key a column most probably holds.
func (b *modeller) best(src *source, c schema.Column) (*source, proof) {
	var best *source
	var most proof
	for _, to := range b.sources {
		if to == src || to.base != to || to.linked || len(to.key) != 1 || to.schema.Column(to.key[0]).Type != c.Type {
			continue
		}
		if p := b.ruled.rule(b.prove(src, c, to), src.name.String()+"."+c.Name, to.name.String(), to.key[0]); p.probability() > most.probability() {
			best, most = to, p
		}
	}
	return best, most
}

// prove weighs what speaks for a column holding the key of another table.
func (b *modeller) prove(src *source, c schema.Column, to *source) proof {
	var p proof
	key := to.key[0]
	about := subject(c.Name)
	switch {
	case c.Name == key && identifies(key):
		p.add("name", 2, "both columns are called %s", key)
	case identifies(c.Name) && same(about, to.noun):
		p.add("name", 1.8, "%s is named after %s", c.Name, to.name.table)
	case identifies(c.Name) && endsIn(about, to.noun):
		p.add("name", 0.8, "%s ends in the name of %s", c.Name, to.name.table)
	case c.Name == key:
		p.add("name", 0.8, "both columns are called %s", key)
	case same(words(c.Name), to.noun):
		p.add("name", 0.8, "%s is the singular of %s", c.Name, to.name.table)
	}
	switch c.Type {
	case "uuid", "timeuuid":
		p.add("type", 1, "both are %s", c.Type)
	default:
		p.add("type", 0.2, "both are %s", c.Type)
	}
	if d, rows := src.distinct(c.Name), to.rows(); d > 0 && to.stats != nil {
		switch {
		case d <= 1.1*rows:
			p.add("size", 0.5, "%.0f different values against %.0f keys", d, rows)
		case d > 1.5*rows:
			p.add("size", -4, "%.0f different values, but only %.0f keys", d, rows)
		}
	}
	if e, ok := b.joins[newPair(src.name.String()+"."+c.Name, to.name.String()+"."+key)]; ok {
		p.add("feed", 3*e.confidence, "values travel between them: %d of %d looked at", e.hits, e.observed)
	}
	return p
}

// relate finds the relationships of an entity: columns that hold other entities' keys. Such a column stops being an
// attribute, unless it is part of the entity's own key.
func (b *modeller) relate(src *source) {
	for _, c := range src.schema.Columns {
		if len(src.key) == 1 && src.keyed(c.Name) {
			continue
		}
		to, p := b.best(src, c)
		confidence := p.probability()
		if to == nil || confidence < Probable {
			continue
		}
		if b.between(src.entity, to.entity) {
			continue // a path could not tell the two apart: the column stays an attribute
		}
		role := strings.Join(subject(c.Name), "_")
		if role == "" {
			role = strings.Join(to.noun, "_")
		}
		role = b.ruled.called(src.name.String()+"."+c.Name, role)
		r := &model.Relationship{
			From: src.entity, To: to.entity, Kind: model.ManyToOne,
			Forward:  b.role(src.entity, plain(role)),
			Backward: b.role(to.entity, plain(plural(strings.Join(src.noun, "_")))),
		}
		if st := src.column(c.Name); st != nil && st.Nulls > 0 {
			r.Optional = true
		}
		if d := src.distinct(c.Name); d > 0 {
			r.Reached = min(d, max(1, to.rows()))
		}
		if d := src.distinct(c.Name); d > 0 && d >= 0.99*src.rows() && src.rows() >= max(30, to.rows()/2) && c.Kind == schema.Regular {
			r.Kind = model.OneToOne
			p.add("size", 0, "%.0f different values in %.0f rows: each only once", d, src.rows())
		}
		r.Name = b.unique(strings.ToLower(src.entity.Name) + "_" + r.Forward)
		b.m.Graph.Relationships = append(b.m.Graph.Relationships, r)
		b.m.Relationships = append(b.m.Relationships, Relationship{
			Name: r.Name, From: r.From.Name, To: r.To.Name, Kind: r.Kind, Forward: r.Forward, Backward: r.Backward,
			Column: src.name.String() + "." + c.Name, Confidence: confidence, Evidence: p,
		})
		if src.keyed(c.Name) {
			continue // the entity is named by its parent too: it keeps its copy
		}
		src.edges = append(src.edges, r)
		old := src.fields[c.Name]
		for i, a := range src.entity.Attributes {
			if a == old.Attribute {
				src.entity.Attributes = append(src.entity.Attributes[:i], src.entity.Attributes[i+1:]...)
				break
			}
		}
		src.fields[c.Name] = to.fields[to.key[0]]
	}
}

// relateMany makes the m:n relationship of a table of pairs.
func (b *modeller) relateMany(src *source) {
	var ends []*source
	var whole proof
	confidence := 1.0
	for _, c := range src.schema.PrimaryKey() {
		to, p := b.best(src, c)
		ends = append(ends, to)
		src.fields[c.Name] = to.fields[to.key[0]]
		confidence = min(confidence, p.probability())
		whole = append(whole, p...)
	}
	from, to := ends[0].entity, ends[1].entity
	r := &model.Relationship{
		From: from, To: to, Kind: model.ManyToMany, Optional: true, Degree: src.rows() / max(1, from.Count),
		Forward:  b.role(from, plain(plural(strings.Join(ends[1].noun, "_")))),
		Backward: b.role(to, plain(plural(strings.Join(ends[0].noun, "_")))),
	}
	r.Name = b.unique(plain(src.name.table))
	b.m.Graph.Relationships = append(b.m.Graph.Relationships, r)
	b.m.Relationships = append(b.m.Relationships, Relationship{
		Name: r.Name, From: from.Name, To: to.Name, Kind: r.Kind, Forward: r.Forward, Backward: r.Backward,
		Column: src.name.String(), Confidence: confidence, Evidence: whole,
	})
	src.entity, src.edges = from, []*model.Relationship{r}
}

func (b *modeller) between(a, c *model.Entity) bool {
	for _, r := range b.m.Graph.Edges(a) {
		if r.Other(a) == c {
			return true
		}
	}
	return false
}

// role makes a role name that e has not.
func (b *modeller) role(e *model.Entity, name string) string {
	if name == "" {
		name = "other"
	}
	free := func(s string) bool {
		for _, r := range b.m.Graph.Edges(e) {
			if strings.EqualFold(r.Role(e), s) {
				return false
			}
		}
		return true
	}
	for n := 2; !free(name); n++ {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	return name
}

func (b *modeller) unique(name string) string {
	for n := 2; b.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	b.taken[name] = true
	return name
}

func (s *source) column(name string) *schema.ColumnStats {
	if s.stats == nil {
		return nil
	}
	return s.stats.Column(name)
}

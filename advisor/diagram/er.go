package diagram

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/internal/words"
)

// ER is the conceptual diagram of a graph (D-9): entities with their attributes, keys underlined, and relationships with their
// cardinalities, the one side leading to the many side. An entity part of whose key is that of another is weak, and its
// relationship to that one heavy. An m:n relationship with attributes has become an entity when its file was read.
func ER(name string, g *model.Graph) *picture.Picture {
	p := &picture.Picture{Kind: picture.ER, Title: name, Subtitle: fmt.Sprintf("Conceptual model: %s, %s", words.Plural(len(g.Entities), "entity", "entities"), words.Plural(len(g.Relationships), "relationship", "relationships"))}
	weak, copies, alternate := false, false, false
	owners := map[*model.Relationship]bool{}
	for _, e := range g.Entities {
		b := picture.Box{Shape: picture.Entity, Name: e.Name}
		for _, key := range []bool{true, false} {
			for _, a := range e.Attributes {
				isKey := slices.Contains(e.Key, a)
				if isKey != key {
					continue
				}
				row := picture.Row{Name: a.Name, Key: isKey, Split: !key && len(b.Rows) == len(e.Key) && len(e.Key) > 0}
				if slices.ContainsFunc(e.Alternate, func(k []*model.Attribute) bool { return slices.Contains(k, a) }) {
					row.Mark, alternate = "AK", true
				}
				if c := a.Copied; c != nil && c.Edge.Other(e) != nil {
					row.Mark, copies = "= "+c.Edge.Role(e)+"."+c.Of.Name, true
					if isKey {
						b.Shape, weak = picture.Weak, true
						owners[c.Edge] = true
					}
				}
				b.Rows = append(b.Rows, row)
			}
		}
		p.Boxes = append(p.Boxes, b)
	}
	for _, r := range g.Relationships {
		p.Links = append(p.Links, related(g, r, owners[r]))
	}
	signs := []picture.Item{{Sign: "1 | 0..1", Text: "one; one or none"}, {Sign: "n", Text: "any number"}, {Sign: "key", Text: "underlined: what tells the entities apart"}}
	if alternate {
		signs = append(signs, picture.Item{Sign: "AK", Text: "part of another key"})
	}
	if copies {
		signs = append(signs, picture.Item{Sign: "= role.attribute", Text: "always equal to that of the entity which the role leads to"})
	}
	if weak {
		signs = append(signs, picture.Item{Sign: "double border", Text: "weak: it has its key from the entities that heavy lines lead to"})
	}
	p.Add(picture.List{Heading: "Notation", Items: signs})
	return p
}

// related is a relationship as a link from its one side to its many side.
func related(g *model.Graph, r *model.Relationship, identifies bool) picture.Link {
	from, to := slices.Index(g.Entities, r.From), slices.Index(g.Entities, r.To)
	one, many := picture.One, picture.ZeroOrMany
	if r.Optional {
		one = picture.ZeroOrOne
	}
	l := picture.Link{From: from, To: to, Label: r.Name, Double: identifies, Detail: fmt.Sprintf("%s: %s %s %s; from %s as %s, from %s as %s", r.Name, r.From.Name, r.Kind, r.To.Name, r.From.Name, r.Forward, r.To.Name, r.Backward)}
	switch r.Kind {
	case model.OneToMany:
		l.Start, l.Finish = one, many
	case model.ManyToOne:
		l.From, l.To, l.Start, l.Finish = to, from, one, many
	case model.ManyToMany:
		l.Start, l.Finish = many, many
	case model.OneToOne:
		l.Start, l.Finish = picture.ZeroOrOne, one
	}
	return l
}

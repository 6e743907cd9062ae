package workload

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// Breach is how a write would break the model's word: always, or if a query finds something. A model says of which
// relationships each entity of one end has a partner (they are not Optional), and which attributes each has (Null is 0), and
// plans rely on it: they read tables that have no rows of entities without. An application that means its model does not
// run such a write, or not then.
type Breach struct {
	Reason string
	Query  *Query // for what would be left without a partner; nil: always
}

// Breaches are how a write over a graph would break its word. That a CONNECT takes a partner of a 1:1 relationship away from
// another is not among them.
func (w *Write) Breaches(g *model.Graph) []Breach {
	var list []Breach
	for _, a := range w.Entity.Attributes {
		if f := (model.Field{Entity: w.Entity, Attribute: a}); w.Kind == Insert && a.Null == 0 && a.Copied == nil && !slices.Contains(w.Set, f) {
			list = append(list, Breach{Reason: fmt.Sprintf("it inserts a %s without the %s that each has", w.Entity.Name, a.Name)})
		}
	}
	for _, r := range g.Relationships {
		of := dependent(r)
		if of == nil || r.Optional {
			continue
		}
		partner := r.From
		if partner == of {
			partner = r.To
		}
		connects := slices.ContainsFunc(w.Connections, func(c Connection) bool { return c.Edge.Base() == r })
		switch {
		case w.Kind == Insert && w.Entity.Base() == of && !connects:
			list = append(list, Breach{Reason: fmt.Sprintf("it inserts a %s without the %s that each has (%s)", of.Name, partner.Name, r.Name)})
		case w.Kind == Disconnect && connects:
			list = append(list, Breach{Reason: fmt.Sprintf("it leaves a %s without the %s that each has (%s)", of.Name, partner.Name, r.Name)})
		case w.Kind == Delete && w.Entity.Base() == partner:
			list = append(list, Breach{fmt.Sprintf("it would leave a %s without the %s that each has (%s)", of.Name, partner.Name, r.Name), orphans(g, w, r, of)})
		}
	}
	return list
}

// dependent is the end of a relationship of which each entity has a partner, if it is not optional; nil for m:n.
func dependent(r *model.Relationship) *model.Entity {
	switch r.Kind {
	case model.ManyToOne, model.OneToOne:
		return r.From
	case model.OneToMany:
		return r.To
	}
	return nil
}

// orphans asks for those that would be left without a partner: the statement's tree, and beyond its entity one of the other end.
func orphans(g *model.Graph, w *Write, r *model.Relationship, of *model.Entity) *Query {
	const beyond = 99 // an occurrence that no statement has
	other := g.Occurrence(of, beyond)
	edge := g.Between(r, w.Entity, other)
	if of == r.From {
		edge = g.Between(r, other, w.Entity)
	}
	tree := model.Tree{Entities: append(slices.Clone(w.Tree.Entities), other), Edges: append(slices.Clone(w.Tree.Edges), edge)}
	return &Query{Tree: tree, Select: other.KeyFields(), Where: w.Where, Limit: 1}
}

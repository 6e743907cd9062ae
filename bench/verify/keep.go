package verify

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// A model says of which relationships each entity of one end has a partner (they are not Optional), and which attributes each has (Null is
// 0), and plans rely on it: they read tables that have no rows of entities without. A write that would break the model's word is not applied, as an application
// that means its model would not run it.

// breach is how a write would break the model's word: always, or if a query finds something.
type breach struct {
	reason string
	query  *workload.Query // nil: always
}

// breaches are those of a write.
func breaches(g *model.Graph, w *workload.Write) []breach {
	var list []breach
	for _, a := range w.Entity.Attributes {
		if f := (model.Field{Entity: w.Entity, Attribute: a}); w.Kind == workload.Insert && a.Null == 0 && a.Copied == nil && !slices.Contains(w.Set, f) {
			list = append(list, breach{reason: fmt.Sprintf("it inserts a %s without the %s that each has", w.Entity.Name, a.Name)})
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
		connects := slices.ContainsFunc(w.Connections, func(c workload.Connection) bool { return c.Edge.Base() == r })
		switch {
		case w.Kind == workload.Insert && w.Entity.Base() == of && !connects:
			list = append(list, breach{reason: fmt.Sprintf("it inserts a %s without the %s that each has (%s)", of.Name, partner.Name, r.Name)})
		case w.Kind == workload.Disconnect && connects:
			list = append(list, breach{reason: fmt.Sprintf("it leaves a %s without the %s that each has (%s)", of.Name, partner.Name, r.Name)})
		case w.Kind == workload.Delete && w.Entity.Base() == partner:
			list = append(list, breach{fmt.Sprintf("it would leave a %s without the %s that each has (%s)", of.Name, partner.Name, r.Name), left(g, w, r, of)})
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

// left asks for those that would be left without a partner: the statement's tree, and beyond its entity one of the other end.
func left(g *model.Graph, w *workload.Write, r *model.Relationship, of *model.Entity) *workload.Query {
	const beyond = 99 // an occurrence that no statement has
	other := g.Occurrence(of, beyond)
	edge := g.Between(r, w.Entity, other)
	if of == r.From {
		edge = g.Between(r, other, w.Entity)
	}
	tree := model.Tree{Entities: append(slices.Clone(w.Tree.Entities), other), Edges: append(slices.Clone(w.Tree.Edges), edge)}
	return &workload.Query{Tree: tree, Select: other.KeyFields(), Where: w.Where, Limit: 1}
}

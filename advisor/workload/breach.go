package workload

import (
	"fmt"
	"maps"
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
	// With says which parameters of the write stand for those of the query that it names otherwise, by name.
	With map[string]string
}

// Breaches are how a write over a graph would break its word.
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
		case w.Kind == Connect && connects && r.Kind == model.OneToOne:
			list = append(list, robbed(g, w, r)...)
		case w.Kind == Delete && w.Entity.Base() == partner:
			list = append(list, Breach{Reason: left(r, of, partner), Query: orphans(g, w, r, of)})
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

func left(r *model.Relationship, of, partner *model.Entity) string {
	return fmt.Sprintf("it would leave a %s without the %s that each has (%s)", of.Name, partner.Name, r.Name)
}

// robbed is how a CONNECT takes the partner of a 1:1 relationship away from whoever had it: another than whom it connects, so that
// an attribute of the key is another. One breach for each attribute of the key.
func robbed(g *model.Graph, w *Write, r *model.Relationship) (list []Breach) {
	partner, named := r.To, func(a *model.Attribute) string { return ConnectionName(w, 0, a) }
	self := func(a *model.Attribute) string { return KeyName(model.Field{Entity: w.Entity, Attribute: a}) }
	if stated := w.Connections[0].Edge; stated.From != w.Entity { // the one that has to have a partner is the connection's
		named, self = self, named
	}
	other := g.Occurrence(r.From, beyond)
	tree := model.Tree{Entities: []*model.Entity{partner, other}, Edges: []*model.Relationship{g.Between(r, other, partner)}}
	var where []Predicate
	with := map[string]string{}
	for _, k := range partner.KeyFields() {
		where = append(where, Predicate{Field: k, Op: Equal, Value: "?"})
		with[k.String()+" ="] = named(k.Attribute)
	}
	for _, k := range other.KeyFields() {
		differs := Predicate{Field: k, Op: NotEqual, Value: "?"}
		own := maps.Clone(with)
		own[Names([]Predicate{differs})[0]] = self(k.Attribute)
		list = append(list, Breach{left(r, r.From, partner), &Query{Tree: tree, Select: other.KeyFields(), Where: append(slices.Clone(where), differs), Limit: 1}, own})
	}
	return list
}

const beyond = 99 // an occurrence that no statement has

// orphans asks for those that would be left without a partner: the statement's tree, and beyond its entity one of the other end.
func orphans(g *model.Graph, w *Write, r *model.Relationship, of *model.Entity) *Query {
	other := g.Occurrence(of, beyond)
	edge := g.Between(r, w.Entity, other)
	if of == r.From {
		edge = g.Between(r, other, w.Entity)
	}
	tree := model.Tree{Entities: append(slices.Clone(w.Tree.Entities), other), Edges: append(slices.Clone(w.Tree.Edges), edge)}
	return &Query{Tree: tree, Select: other.KeyFields(), Where: w.Where, Limit: 1}
}

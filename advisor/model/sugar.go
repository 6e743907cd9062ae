package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What a file may say shorter than the graph does. A weak entity's key is unique within its owner only: the owner's key is
// copied in front of it, so that all other code sees composite keys. A relationship's attributes are those of its many side,
// where each has one partner at most; a many-to-many relationship with attributes becomes an entity, whose key is that of
// both ends, with a relationship to each: `takes` with a grade, from Student (role courses) to Course (role students), is an
// entity takes with the roles From's name and To's name, which both find by the relationship's own name.

// own completes the keys of weak entities. Owners may be weak themselves: theirs come first.
func (d *Document) own(file string, g *Graph) error {
	done := map[*Entity]bool{}
	var complete func(i int, within []*Entity) error
	complete = func(i int, within []*Entity) error {
		ed, e := &d.Entities[i], g.Entities[i]
		if ed.Owner.IsZero() || done[e] {
			return nil
		}
		if contains(within, e) {
			return ed.Owner.Wrong(file, "entity %s owns itself", e.Name)
		}
		way, err := g.Follow(e, ed.Owner.Text)
		if err == nil && (!way.ToOne() || way.Edge.From == way.Edge.To) {
			err = fmt.Errorf("%s is no owner: each %s needs one %s", ed.Owner.Text, e.Name, way.To().Name)
		}
		if err != nil {
			return ed.Owner.Wrong(file, "entity %s: %s", e.Name, err)
		}
		for j, owner := range g.Entities {
			if owner == way.To() {
				if err := complete(j, append(within, e)); err != nil {
					return err
				}
			}
		}
		done[e] = true
		e.Key = append(copyKey(e, way.To(), way.Edge, way.Role()), e.Key...)
		return nil
	}
	for i := range d.Entities {
		if err := complete(i, nil); err != nil {
			return err
		}
	}
	return nil
}

// copies finds what attributes are copies of.
func (d *EntityDocument) copies(file string, g *Graph, e *Entity) error {
	for i, a := range e.Attributes {
		text := d.Attributes[i].Copy
		if text.IsZero() {
			continue
		}
		role, attribute, _ := strings.Cut(text.Text, ".")
		way, err := g.Follow(e, role)
		if err == nil && !way.ToOne() {
			err = fmt.Errorf("a copy is of the one that a role leads to: %s leads to several", role)
		}
		var of Field
		if err == nil {
			of, err = way.To().known(attribute)
		}
		if err != nil {
			return text.Wrong(file, "attribute %s.%s: %s", e.Name, a.Name, err)
		}
		a.Copied = &Copy{way.Edge, of.Attribute}
	}
	return nil
}

// copyKey gives e attributes for the key of another entity, under the same names, or with its role before where those are
// taken.
func copyKey(e, of *Entity, edge *Relationship, role string) []*Attribute {
	var key []*Attribute
	for _, k := range of.Key {
		further := *k
		further.Copied = &Copy{edge, k}
		if further.Distinct == 0 && len(of.Key) == 1 {
			further.Distinct = of.Count
		}
		if e.Attribute(further.Name) != nil {
			further.Name = role + "_" + k.Name
		}
		key = append(key, &further)
	}
	e.Attributes = append(append([]*Attribute(nil), key...), e.Attributes...)
	return key
}

// reify gives the attributes of a relationship a place.
func (d *RelationshipDocument) reify(file string, g *Graph) error {
	if len(d.Attributes) == 0 {
		return nil
	}
	r := g.Relationship(d.Name.Text)
	var err error
	switch r.Kind {
	case ManyToOne, OneToOne:
		err = give(r.From, attributes(d.Attributes))
	case OneToMany:
		err = give(r.To, attributes(d.Attributes))
	default:
		err = g.link(r, attributes(d.Attributes))
	}
	if err != nil {
		return d.Name.Wrong(file, "relationship %s: %s", r.Name, err)
	}
	return nil
}

func give(e *Entity, attributes []*Attribute) error {
	for _, a := range attributes {
		if e.Attribute(a.Name) != nil {
			return fmt.Errorf("its attribute %s becomes one of %s, which has one of that name", a.Name, e.Name)
		}
		e.Attributes = append(e.Attributes, a)
	}
	return (&Graph{Entities: []*Entity{e}}).Validate()
}

// link replaces a many-to-many relationship by an entity of its name.
func (g *Graph) link(r *Relationship, attributes []*Attribute) error {
	if g.Entity(r.Name) != nil {
		return errors.New("with its attributes it becomes an entity, and one has its name")
	}
	from, to := r.From.Name, r.To.Name
	if from == to {
		from, to = r.Backward, r.Forward
	}
	e := &Entity{Name: r.Name, Count: max(1, r.Pairs()), Attributes: attributes}
	first := &Relationship{Name: r.Name + "_" + from, From: e, To: r.From, Kind: ManyToOne, Forward: from, Backward: r.Name, MostBack: r.Most}
	second := &Relationship{Name: r.Name + "_" + to, From: e, To: r.To, Kind: ManyToOne, Forward: to, Backward: r.Name, MostBack: r.MostBack}
	if r.From == r.To {
		first.Backward, second.Backward = r.Forward, r.Backward
	}
	e.Key = copyKey(e, r.From, first, from)
	e.Key = append(e.Key, copyKey(e, r.To, second, to)...)
	if err := (&Graph{Entities: []*Entity{e}}).Validate(); err != nil {
		return err
	}
	g.Entities = append(g.Entities, e)
	i := slices.Index(g.Relationships, r)
	g.Relationships = slices.Replace(g.Relationships, i, i+1, first, second)
	return nil
}

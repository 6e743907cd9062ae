package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Way is a relationship of the graph and a direction to follow it in.
type Way struct {
	Edge    *Relationship
	Forward bool // to Edge.To
}

// Role is the name of the way.
func (w Way) Role() string {
	if w.Forward {
		return w.Edge.Forward
	}
	return w.Edge.Backward
}

// To is the entity that it leads to.
func (w Way) To() *Entity {
	if w.Forward {
		return w.Edge.To
	}
	return w.Edge.From
}

// ToOne tells whether it leads from an entity to one at most.
func (w Way) ToOne() bool {
	switch w.Edge.Kind {
	case OneToOne:
		return true
	case ManyToOne:
		return w.Forward
	case OneToMany:
		return !w.Forward
	}
	return false
}

// Between is the occurrence of the way's relationship that leads from one occurrence of an entity to another.
func (w Way) Between(g *Graph, from, to *Entity) *Relationship {
	if w.Forward {
		return g.Between(w.Edge, from, to)
	}
	return g.Between(w.Edge, to, from)
}

// Ways returns the ways that lead from e, in the order of the graph. A relationship from an entity to itself is two.
func (g *Graph) Ways(e *Entity) []Way {
	e = e.Base()
	var ways []Way
	for _, r := range g.Relationships {
		if r.From == e {
			ways = append(ways, Way{r, true})
		}
		if r.To == e {
			ways = append(ways, Way{r, false})
		}
	}
	return ways
}

// Follow finds a way by name: a role name, or, where only one way leads there, the name of the entity at the other end.
func (g *Graph) Follow(from *Entity, name string) (Way, error) {
	ways := g.Ways(from)
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		var found []Way
		for _, w := range ways {
			if same(w.Role(), name) {
				found = append(found, w)
			}
		}
		if len(found) == 0 {
			for _, w := range ways {
				if same(w.To().Name, name) || same(w.To().Name+"s", name) {
					found = append(found, w)
				}
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return Way{}, fmt.Errorf("%s leads from %s by %d relationships: name the role", name, from.Name, len(found))
	}
	known := make([]string, 0, len(ways))
	for _, w := range ways {
		known = append(known, w.Role())
	}
	return Way{}, &NameError{What: "relationship of " + from.Name, Name: name, Known: known}
}

// Scope grows a tree from paths, and knows what their names stand for.
//
// A step names the entity that the way leads to. The same step again names the same one; a way to an entity that the tree
// holds already, over another relationship, leads to a further occurrence of it. AS makes a further occurrence over the
// same relationship too, and names it: of two rooms of one hotel, `hotel.rooms AS a, hotel.rooms AS b`. The alias Room#2
// asks for the second occurrence and no other; Tree.Path writes those, so that what is printed reads back to the same.
type Scope struct {
	Graph *Graph
	Tree  Tree

	names []scoped
}

type scoped struct {
	name   string
	entity *Entity
	alias  bool
}

// Start begins a path at an entity of the graph, or goes on from a name of the scope. All paths start in one tree.
func (s *Scope) Start(name, alias string) (*Entity, error) {
	if len(s.Tree.Entities) > 0 {
		if alias == "" {
			return s.Entity(name)
		}
		// The first entity's alias is repeated with each path.
		if e, err := s.Entity(alias); err == nil {
			return e, nil
		}
		return nil, fmt.Errorf("%s is no alias of %s", alias, s.Tree.Entities[0].Name)
	}
	e, err := s.Graph.occurrence(name)
	if err != nil {
		return nil, err
	}
	if base, nth, ok := numbered(alias); ok && base == e.Base().Name {
		e = s.Graph.Occurrence(e, nth)
	}
	s.Tree = Tree{Entities: []*Entity{e}}
	s.name(name, alias, e)
	return e, nil
}

func (s *Scope) name(name, alias string, e *Entity) {
	if alias != "" {
		name = alias
	}
	if n := (scoped{name, e, alias != ""}); !slices.Contains(s.names, n) {
		s.names = append(s.names, n)
	}
}

// Step follows a way from an entity of the tree; alias is "" without AS.
func (s *Scope) Step(from *Entity, name, alias string) (*Entity, error) {
	way, err := s.Graph.Follow(from, name)
	if err != nil {
		return nil, err
	}
	if e := s.known(from, way, alias); e != nil {
		if alias == "" {
			s.name(name, "", e)
		}
		return e, nil
	}
	to := s.unmet(way.To())
	if base, _, ok := numbered(alias); strings.Contains(alias, "#") && (!ok || base != way.To().Name) {
		return nil, fmt.Errorf("%s is no occurrence of %s: write %s#2, or a name without #", alias, way.To().Name, way.To().Name)
	}
	if base, nth, ok := numbered(alias); ok && base == way.To().Name {
		to = s.Graph.Occurrence(way.To(), nth)
	}
	for _, n := range s.names {
		if alias != "" && n.alias && n.name == alias {
			return nil, fmt.Errorf("%s closes a circle: it is the name of %s, which another way leads to", alias, n.entity.Name)
		}
	}
	tree, err := NewTree(s.Tree.Entities[0], append(slices.Clone(s.Tree.Edges), way.Between(s.Graph, from, to))...)
	if err != nil {
		return nil, err
	}
	s.Tree = tree
	s.name(name, alias, to)
	return to, nil
}

// known returns the entity that the step leads to if the tree has it already: with an alias, the one of that name.
func (s *Scope) known(from *Entity, way Way, alias string) *Entity {
	for _, r := range s.Tree.Edges {
		at, to := r.From, r.To
		if !way.Forward {
			at, to = to, at
		}
		if r.Base() != way.Edge || at != from {
			continue
		}
		if alias == "" || slices.Contains(s.names, scoped{alias, to, true}) {
			return to
		}
	}
	return nil
}

// unmet returns the first occurrence of an entity that the tree does not hold.
func (s *Scope) unmet(e *Entity) *Entity {
	for nth := 1; ; nth++ {
		if further := s.Graph.Occurrence(e, nth); !s.Tree.Has(further) {
			return further
		}
	}
}

// Entity finds what a name stands for: an alias, else the name of a step, else an entity of the tree.
func (s *Scope) Entity(name string) (*Entity, error) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, level := range [][]scoped{s.level(true), s.level(false), s.entities()} {
			var found []*Entity
			for _, n := range level {
				if same(n.name, name) && !slices.Contains(found, n.entity) {
					found = append(found, n.entity)
				}
			}
			switch len(found) {
			case 0:
				continue
			case 1:
				return found[0], nil
			}
			return nil, fmt.Errorf("%s stands for %d different ones here: name them with AS", name, len(found))
		}
	}
	var known []string
	for _, n := range s.names {
		known = append(known, n.name)
	}
	return nil, &NameError{What: "entity or role of " + s.Tree.Path(), Name: name, Known: known}
}

func (s *Scope) level(aliases bool) []scoped {
	return slices.DeleteFunc(slices.Clone(s.names), func(n scoped) bool { return n.alias != aliases })
}

func (s *Scope) entities() []scoped {
	names := make([]scoped, len(s.Tree.Entities))
	for i, e := range s.Tree.Entities {
		names[i] = scoped{name: e.Name, entity: e}
	}
	return names
}

// Path reads a path as it stands in a table's document, a.b AS c.d, and returns where it ends.
func (s *Scope) Path(text string) (*Entity, error) {
	var at *Entity
	for i, part := range strings.Split(text, ".") {
		words := strings.Fields(part)
		alias := ""
		switch {
		case len(words) == 3 && strings.EqualFold(words[1], "AS"):
			alias = words[2]
		case len(words) != 1:
			return nil, fmt.Errorf("%q is no step of a path: write role, or role AS name", part)
		}
		var err error
		if i == 0 {
			at, err = s.Start(words[0], alias)
		} else {
			at, err = s.Step(at, words[0], alias)
		}
		if err != nil {
			return nil, err
		}
	}
	return at, nil
}

// Field finds a field by a path to its entity, which begins at a name of the scope: hotel.city, room.hotel.city. In a scope
// without paths it is one of any entity of the graph.
func (s *Scope) Field(text string) (Field, error) {
	parts := strings.Split(text, ".")
	if len(s.Tree.Entities) == 0 {
		return s.Graph.Field(text)
	}
	if len(parts) < 2 {
		return Field{}, fmt.Errorf("%q is not a field: write Entity.attribute", text)
	}
	e, err := s.Entity(parts[0])
	if err != nil {
		return Field{}, err
	}
	for _, role := range parts[1 : len(parts)-1] {
		if e, err = s.Step(e, role, ""); err != nil {
			return Field{}, err
		}
	}
	return e.known(parts[len(parts)-1])
}

// known returns the field of a name, or a *NameError.
func (e *Entity) known(name string) (Field, error) {
	if f := e.Field(name); !f.IsZero() {
		return f, nil
	}
	return Field{}, &NameError{What: "attribute of " + e.Name, Name: name, Known: e.names()}
}

// occurrence finds an entity, or a numbered occurrence of one: User, User#2.
func (g *Graph) occurrence(name string) (*Entity, error) {
	base, nth, ok := numbered(name)
	if !ok {
		base, nth = name, 1
	}
	e := g.Entity(base)
	if e == nil {
		return nil, &NameError{What: "entity", Name: name, Known: g.names()}
	}
	return g.Occurrence(e, nth), nil
}

// maxOccurrence bounds the numbers of occurrences that a text may ask for.
const maxOccurrence = 99

// numbered cuts User#2 into User and 2.
func numbered(name string) (base string, nth int, ok bool) {
	base, number, ok := strings.Cut(name, "#")
	if !ok {
		return "", 0, false
	}
	nth, err := strconv.Atoi(number)
	return base, nth, err == nil && nth >= 1 && nth <= maxOccurrence
}

// Path writes the tree as one or more paths that start at its first entity: "guest.reservations, guest.address". Further
// occurrences, and steps whose name stands for something else in the tree, have their number as alias: "comment.author,
// comment.receiver AS User#2".
func (t Tree) Path() string {
	if len(t.Entities) == 0 {
		return ""
	}
	var paths []string
	var walk func(e *Entity, came *Relationship, prefix string)
	walk = func(e *Entity, came *Relationship, prefix string) {
		leaf := true
		for _, r := range t.Edges {
			if to := r.Other(e); r != came && to != nil {
				leaf = false
				walk(to, r, prefix+"."+r.Role(e)+t.alias(e, r))
			}
		}
		if leaf {
			paths = append(paths, prefix)
		}
	}
	first := t.Entities[0]
	start := first.Base().Name
	if first.Of != nil {
		start += " AS " + first.Name
	}
	walk(first, nil, start)
	return strings.Join(paths, ", ")
}

// alias is what the step from e over r is followed by.
func (t Tree) alias(e *Entity, r *Relationship) string {
	to, role := r.Other(e), r.Role(e)
	needed := to.Of != nil
	for _, other := range t.Edges {
		needed = needed || other != r && other.Base() == r.Base() && (other.From == e) == (r.From == e) && other.Other(e) != nil
	}
	for _, x := range t.Entities {
		needed = needed || x != to && x.Name == role
	}
	if !needed {
		return ""
	}
	return fmt.Sprintf(" AS %s#%d", to.Base().Name, max(1, to.Nth))
}

// Step follows a name from an entity, as Follow does, and returns the relationship of the graph and the entity at its other
// end. Whoever builds trees in which an entity may occur again wants a Scope.
func (g *Graph) Step(from *Entity, name string) (*Relationship, *Entity, error) {
	way, err := g.Follow(from, name)
	if err != nil {
		return nil, nil, err
	}
	return way.Edge, way.To(), nil
}

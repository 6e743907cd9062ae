package model

import (
	"fmt"
	"strings"
)

// Hierarchy says that an entity is the supertype of others (seed 001, hierarchical patterns). They are no entities of the graph:
// all that they have is an attribute of the supertype, absent where an instance is of another subtype.
type Hierarchy struct {
	Type     *Attribute // which subtype an instance is of: a text, or a set of texts if it may be of several
	Subtypes []string
	Of       map[*Attribute]string // the subtype that an attribute belongs to; none: the supertype
	Disjoint bool                  // an instance is of one subtype at most
	Covering bool                  // every instance is of a subtype
}

// HierarchyDocument is the hierarchy below an entity in a file.
type HierarchyDocument struct {
	Type     Placed            `yaml:"type"` // name of the attribute; it is added if it is not there
	Disjoint bool              `yaml:"disjoint,omitempty"`
	Covering bool              `yaml:"covering,omitempty"`
	Subtypes []SubtypeDocument `yaml:"subtypes"`
}

// SubtypeDocument is a subtype in a file.
type SubtypeDocument struct {
	Name       Placed   `yaml:"name"`
	Attributes []Placed `yaml:"attributes,flow,omitempty"` // of the supertype's, those that only it has
}

// hierarchy reads the hierarchy below an entity, if there is one.
func (d *EntityDocument) hierarchy(file string, e *Entity) error {
	if d.Hierarchy == nil {
		return nil
	}
	h := &Hierarchy{Disjoint: d.Hierarchy.Disjoint, Covering: d.Hierarchy.Covering, Of: map[*Attribute]string{}}
	cqlType := "set<text>"
	if h.Disjoint {
		cqlType = "text"
	}
	name := d.Hierarchy.Type
	if name.Text == "" {
		return d.Name.Wrong(file, "entity %s: its hierarchy does not say which attribute holds the type", e.Name)
	}
	if h.Type = e.Attribute(name.Text); h.Type == nil {
		h.Type = &Attribute{Name: name.Text, Type: cqlType, Distinct: float64(max(1, len(d.Hierarchy.Subtypes)))}
		e.Attributes = append(e.Attributes, h.Type)
	}
	if isSet := strings.Contains(h.Type.Type, "set<"); isSet == h.Disjoint {
		return name.Wrong(file, "entity %s: %s is of type %s, and the subtypes are said to be disjoint: %t. It must be %s", e.Name, name.Text, h.Type.Type, h.Disjoint, cqlType)
	}
	if len(d.Hierarchy.Subtypes) == 0 {
		return name.Wrong(file, "entity %s: its hierarchy has no subtypes", e.Name)
	}
	seen := map[string]bool{}
	for _, s := range d.Hierarchy.Subtypes {
		if s.Name.Text == "" || seen[s.Name.Text] || s.Name.Text == e.Name {
			return name.Wrong(file, "entity %s: subtype %q is there twice, has no name or is the entity itself", e.Name, s.Name.Text)
		}
		seen[s.Name.Text] = true
		h.Subtypes = append(h.Subtypes, s.Name.Text)
		for _, own := range s.Attributes {
			a := e.Attribute(own.Text)
			switch {
			case a == nil:
				return own.Wrong(file, "%s", &NameError{What: "attribute of " + e.Name, Name: own.Text, Known: e.names()})
			case h.Of[a] != "":
				return own.Wrong(file, "attribute %s belongs to %s and to %s: one that several subtypes have is the supertype's", own.Text, h.Of[a], s.Name.Text)
			case a == h.Type || Field{e, a}.IsKey():
				return own.Wrong(file, "attribute %s is what tells instances of %s apart, not one of %s alone", own.Text, e.Name, s.Name.Text)
			}
			h.Of[a] = s.Name.Text
		}
	}
	e.Hierarchy = h
	return nil
}

// newHierarchyDocument returns the document of a hierarchy.
func newHierarchyDocument(e *Entity) *HierarchyDocument {
	h := e.Hierarchy
	if h == nil {
		return nil
	}
	d := &HierarchyDocument{Type: Placed{Text: h.Type.Name}, Disjoint: h.Disjoint, Covering: h.Covering}
	for _, name := range h.Subtypes {
		s := SubtypeDocument{Name: Placed{Text: name}}
		for _, a := range e.Attributes {
			if h.Of[a] == name {
				s.Attributes = append(s.Attributes, Placed{Text: a.Name})
			}
		}
		d.Subtypes = append(d.Subtypes, s)
	}
	return d
}

// String says what kind of hierarchy it is.
func (h *Hierarchy) String() string {
	kind := map[bool]string{true: "disjoint", false: "not disjoint"}[h.Disjoint]
	return fmt.Sprintf("%s; %s, %s", strings.Join(h.Subtypes, ", "), kind, map[bool]string{true: "covering", false: "not covering"}[h.Covering])
}

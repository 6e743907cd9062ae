package neutral

import (
	"errors"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// types are the CQL types of the form's.
var types = map[string]string{
	"id": "uuid", "integer": "bigint", "float": "double", "date": "timestamp", "string": "text", "boolean": "boolean",
}

// sizes are what a value takes where the form leaves it open, bytes.
var sizes = map[string]float64{"id": 16, "integer": 8, "float": 8, "date": 8, "string": 10, "boolean": 1}

// kinds are the form's kinds of relationships.
var kinds = map[string]model.Kind{
	"one_to_one": model.OneToOne, "one_to_many": model.OneToMany, "many_to_one": model.ManyToOne, "many_to_many": model.ManyToMany,
}

func (d *graphDocument) graph(file string) (*model.Graph, error) {
	g := &model.Graph{}
	links := map[string]float64{} // counts of link entities that go away
	for i := range d.Entities {
		ed := &d.Entities[i]
		if ed.Link && d.bare(ed) {
			links[ed.Name.Text] = ed.Count
			continue
		}
		e, err := ed.entity(file)
		if err != nil {
			return nil, err
		}
		g.Entities = append(g.Entities, e)
	}
	for i := range d.Relationships {
		r, err := d.Relationships[i].relationship(file, g, links)
		if err != nil {
			return nil, err
		}
		g.Relationships = append(g.Relationships, r)
	}
	if err := g.Validate(); err != nil {
		return nil, &model.FileError{File: file, Reason: err.Error()}
	}
	return g, nil
}

// bare tells whether a link entity has nothing of its own: only an id, and only the one relationship that goes via it.
func (d *graphDocument) bare(e *entityDocument) bool {
	via := 0
	for _, r := range d.Relationships {
		if r.From.Text == e.Name.Text || r.To.Text == e.Name.Text {
			return false
		}
		if r.Via.Text == e.Name.Text {
			via++
		}
	}
	return via == 1 && len(e.Fields) == 1
}

func (d *entityDocument) entity(file string) (*model.Entity, error) {
	e := &model.Entity{Name: d.Name.Text, Count: d.Count}
	var composite []string
	for _, f := range d.Fields {
		kind := strings.ToLower(f.Type.Text)
		if types[kind] == "" {
			return nil, f.Type.Wrong(file, "field %s.%s: %s", e.Name, f.Name.Text,
				&model.NameError{What: "type", Name: f.Type.Text, Known: []string{"id", "integer", "float", "date", "string", "boolean"}})
		}
		a := &model.Attribute{Name: f.Name.Text, Type: types[kind], Size: f.Size, Distinct: f.Declared}
		if a.Size == 0 {
			a.Size = sizes[kind]
		}
		if a.Size == model.TypeSize(a.Type) {
			a.Size = 0
		}
		if f.Effective != (model.Field{Entity: e, Attribute: a}).Distinct() {
			a.Effective = f.Effective
		}
		e.Attributes = append(e.Attributes, a)
		if f.ID {
			e.Key = append(e.Key, a)
		}
		composite = append(composite, f.Options.Composite...)
	}
	// Parts of a key that are no fields of their own: numbers within what the first part names.
	for _, part := range composite {
		a := e.Attribute(part)
		if a == nil {
			a = &model.Attribute{Name: part, Type: "bigint"}
			e.Attributes = append(e.Attributes, a)
		}
		if !slices.Contains(e.Key, a) {
			e.Key = append(e.Key, a)
		}
	}
	if err := (&model.Graph{Entities: []*model.Entity{e}}).Validate(); err != nil {
		return nil, d.Name.Wrong(file, "%s", err)
	}
	return e, nil
}

func (d *relationshipDocument) relationship(file string, g *model.Graph, links map[string]float64) (*model.Relationship, error) {
	r := &model.Relationship{Kind: kinds[d.Kind.Text], Forward: d.Forward, Backward: d.Back}
	if r.Kind == "" {
		return nil, d.Kind.Wrong(file, "kind %q is none of one_to_one, one_to_many, many_to_one, many_to_many", d.Kind.Text)
	}
	var known []string
	for _, e := range g.Entities {
		known = append(known, e.Name)
	}
	for _, end := range []struct {
		name model.Placed
		to   **model.Entity
	}{{d.From, &r.From}, {d.To, &r.To}} {
		if *end.to = g.Entity(end.name.Text); *end.to == nil {
			return nil, end.name.Wrong(file, "%s", &model.NameError{What: "entity", Name: end.name.Text, Known: known})
		}
	}
	if count, ok := links[d.Via.Text]; ok {
		r.Degree = count / r.From.Count
	} else if d.Via.Text != "" {
		return nil, d.Via.Wrong(file, "%s holds more than the relationship: relate both ends to it instead of going via it", d.Via.Text)
	}
	if r.Forward == "" {
		r.Forward = role(r.To.Name, r.Kind == model.OneToMany || r.Kind == model.ManyToMany)
	}
	if r.Backward == "" {
		r.Backward = role(r.From.Name, r.Kind == model.ManyToOne || r.Kind == model.ManyToMany)
	}
	r.Name = r.From.Name + "_" + r.Forward
	if err := (&model.Graph{Relationships: []*model.Relationship{r}}).Validate(); err != nil {
		return nil, d.From.Wrong(file, "%s", err)
	}
	if err := twice(g, r); err != nil {
		return nil, d.From.Wrong(file, "%s", err)
	}
	return r, nil
}

// twice refuses a role that an entity has already.
func twice(g *model.Graph, r *model.Relationship) error {
	for _, end := range []struct {
		of   *model.Entity
		role string
	}{{r.From, r.Forward}, {r.To, r.Backward}} {
		for _, other := range g.Edges(end.of) {
			if other.Role(end.of) == end.role {
				return errors.New(end.of.Name + " has two relationships called " + end.role + ": name them by fk and reverse_fk")
			}
		}
	}
	return nil
}

// role makes a role of an entity's name: Hotel, or Hotels; Amenities; PointsOfInterest.
func role(name string, many bool) string {
	if !many {
		return name
	}
	for _, of := range []string{"Of", "_of_"} {
		if head, tail, ok := strings.Cut(name, of); ok && head != "" && tail != "" && strings.ToUpper(tail[:1]) == tail[:1] {
			return role(head, true) + of + tail
		}
	}
	switch stem, last := name[:len(name)-1], name[len(name)-1]; {
	case last == 's':
		return name
	case last == 'y' && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	}
	return name + "s"
}

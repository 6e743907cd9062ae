package workload

import (
	"maps"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// Safety is what a workload says of who writes, and of tables in which several writers can meet (package safety).
type Safety struct {
	Principal string            // the entity whose members write; "": guessed by its name
	Owners    map[string]string // by statement ID, Entity.attribute that names who sends it, or * for anyone
	Require   bool              // no new table may be unsafe
	Classes   []string          // of writes that must not meet; empty: of all
	Penalty   float64           // cost of each write to a new table that is unsafe, besides its own
}

// Classes are the words for classes of writes: those of package safety.
var Classes = []string{"lwt", "counter", "modify", "overwrite", "append", "view"}

type safetyDocument struct {
	Principal model.Placed            `yaml:"principal,omitempty"`
	Owners    map[string]model.Placed `yaml:"owners,omitempty"`
	Require   required                `yaml:"require_safe,omitempty"`
	Penalty   float64                 `yaml:"penalty,omitempty"`
}

// required is a list of classes, or allWrites alone.
type required []model.Placed

// allWrites is what yes stands for: no new table may be unsafe.
const allWrites = "true"

// UnmarshalYAML takes a truth value or a list.
func (r *required) UnmarshalYAML(decode func(any) error) error {
	all := false
	if decode(&all) == nil {
		if *r = nil; all {
			*r = required{{Text: allWrites}}
		}
		return nil
	}
	return decode((*[]model.Placed)(r))
}

// MarshalYAML writes yes, or the list.
func (r required) MarshalYAML() (any, error) {
	if len(r) == 1 && r[0].Text == allWrites {
		return true, nil
	}
	names := make([]string, len(r))
	for i, c := range r {
		names[i] = c.Text
	}
	return names, nil
}

// safety takes over what a file says.
func (d *document) safety(file string, w *Workload) error {
	s := d.Safety
	if s == nil {
		return nil
	}
	w.Safety = &Safety{Principal: s.Principal.Text, Require: len(s.Require) > 0, Penalty: s.Penalty}
	if s.Principal.Text != "" && w.Graph.Entity(s.Principal.Text) == nil {
		return s.Principal.Wrong(file, "principal: %s", unknown("entity", s.Principal.Text, w.Graph.Entities, func(e *model.Entity) string { return e.Name }))
	}
	for _, id := range slices.Sorted(maps.Keys(s.Owners)) {
		o := s.Owners[id]
		if w.Statement(id) == nil {
			return o.Wrong(file, "owners: %s", unknown("statement", id, w.Statements, func(s *Statement) string { return s.ID }))
		}
		if o.Text != "*" {
			if _, err := w.Graph.Field(o.Text); err != nil {
				return o.Wrong(file, "owners: %s", err)
			}
		}
		if w.Safety.Owners == nil {
			w.Safety.Owners = map[string]string{}
		}
		w.Safety.Owners[id] = o.Text
	}
	for _, c := range s.Require {
		if c.Text == allWrites {
			continue
		}
		if !slices.Contains(Classes, c.Text) {
			return c.Wrong(file, "require_safe: %s", &model.NameError{What: "class of writes", Name: c.Text, Known: Classes})
		}
		w.Safety.Classes = append(w.Safety.Classes, c.Text)
	}
	if !IsWeight(s.Penalty) {
		return d.Name.Wrong(file, "safety: penalty %g is not a number from 0 on", s.Penalty)
	}
	return nil
}

func unknown[T any](what, name string, list []T, nameOf func(T) string) error {
	known := make([]string, len(list))
	for i, x := range list {
		known[i] = nameOf(x)
	}
	return &model.NameError{What: what, Name: name, Known: known}
}

// document is what the file says of it, nil if nothing.
func (s *Safety) document() *safetyDocument {
	if s == nil {
		return nil
	}
	d := &safetyDocument{Principal: model.Placed{Text: s.Principal}, Penalty: s.Penalty}
	for id, owner := range s.Owners {
		if d.Owners == nil {
			d.Owners = map[string]model.Placed{}
		}
		d.Owners[id] = model.Placed{Text: owner}
	}
	for _, c := range s.Classes {
		d.Require = append(d.Require, model.Placed{Text: c})
	}
	if s.Require && len(s.Classes) == 0 {
		d.Require = required{{Text: allWrites}}
	}
	return d
}

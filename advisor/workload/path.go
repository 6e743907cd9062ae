package workload

import (
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// reference is a dotted name, not yet resolved.
type reference struct {
	parts []token
}

func (p *parser) entity() (*model.Entity, error) {
	t := p.next()
	if t.kind != word {
		return nil, p.wrong(t, "expected an entity")
	}
	e := p.graph.Entity(t.text)
	if e == nil {
		return nil, p.noEntity(t)
	}
	return e, nil
}

func (p *parser) noEntity(t token) error {
	var known []string
	for _, e := range p.graph.Entities {
		known = append(known, e.Name)
	}
	return p.unknown(t, &model.NameError{What: "entity", Name: t.text, Known: known})
}

// from reads one or more paths.
func (p *parser) from() error {
	for {
		t := p.next()
		if t.kind != word {
			return p.wrong(t, "expected an entity")
		}
		alias, err := p.alias()
		if err != nil {
			return err
		}
		e, err := p.scope.Start(t.text, alias.text)
		if err != nil {
			return p.unknown(t, err)
		}
		for p.take(".") {
			step := p.next()
			if step.kind != word {
				return p.wrong(step, "expected a relationship of %s", e.Name)
			}
			if alias, err = p.alias(); err != nil {
				return err
			}
			if e, err = p.scope.Step(e, step.text, alias.text); err != nil {
				return p.unknown(step, err)
			}
		}
		if !p.take(",") {
			return nil
		}
	}
}

// alias reads AS name, if it comes next.
func (p *parser) alias() (token, error) {
	if !p.take("AS") {
		return token{}, nil
	}
	t := p.next()
	if t.kind != word {
		return t, p.wrong(t, "expected a name")
	}
	return t, nil
}

func (p *parser) references(star bool) ([]reference, error) {
	var list []reference
	for {
		r, err := p.reference(star)
		if err != nil {
			return nil, err
		}
		if list = append(list, r); !p.take(",") {
			return list, nil
		}
	}
}

// reference reads a.b.c, or a.b.* if star.
func (p *parser) reference(star bool) (reference, error) {
	var r reference
	for {
		t := p.next()
		isStar := star && t.text == "*" && len(r.parts) > 0
		if t.kind != word && !isStar {
			return r, p.wrong(t, "expected a field: a path from an entity of FROM, such as Guest.name")
		}
		r.parts = append(r.parts, t)
		if t.text == "*" || !p.take(".") {
			break
		}
	}
	if len(r.parts) < 2 {
		return r, p.wrong(r.parts[0], "%q is not a field: write entity.attribute", r.parts[0].text)
	}
	return r, nil
}

func (p *parser) fields() ([]model.Field, error) {
	var fields []model.Field
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		if fields = model.AppendNew(fields, f); !p.take(",") {
			return fields, nil
		}
	}
}

func (p *parser) field() (model.Field, error) {
	r, err := p.reference(false)
	if err != nil {
		return model.Field{}, err
	}
	fields, err := p.resolveAll(r)
	if err != nil {
		return model.Field{}, err
	}
	return fields[0], nil
}

// resolveAll finds the field that a reference names, or all fields of an entity. Steps that FROM does not have become part
// of the tree.
func (p *parser) resolveAll(r reference) ([]model.Field, error) {
	e, err := p.scope.Entity(r.parts[0].text)
	if err != nil {
		return nil, p.unknown(r.parts[0], err)
	}
	last := len(r.parts) - 1
	for _, t := range r.parts[1:last] {
		if e, err = p.scope.Step(e, t.text, ""); err != nil {
			return nil, p.unknown(t, err)
		}
	}
	if r.parts[last].text == "*" {
		fields := make([]model.Field, len(e.Attributes))
		for i, a := range e.Attributes {
			fields[i] = model.Field{Entity: e, Attribute: a}
		}
		return fields, nil
	}
	f, err := p.attribute(e, r.parts[last])
	return []model.Field{f}, err
}

func (p *parser) attribute(e *model.Entity, t token) (model.Field, error) {
	f := e.Field(t.text)
	if !f.IsZero() {
		return f, nil
	}
	var known []string
	for _, a := range e.Attributes {
		known = append(known, a.Name)
	}
	return f, p.unknown(t, &model.NameError{What: "attribute of " + e.Name, Name: t.text, Known: known})
}

// given reads fields of any entity of the graph.
func (p *parser) given() ([]model.Field, error) {
	list, err := p.references(false)
	if err != nil {
		return nil, err
	}
	var fields []model.Field
	for _, r := range list {
		if len(r.parts) != 2 {
			return nil, p.wrong(r.parts[0], "GIVEN takes fields as Entity.attribute")
		}
		f, err := p.graph.Field(r.parts[0].text + "." + r.parts[1].text)
		if err != nil {
			at := r.parts[0]
			if e, _, _ := strings.Cut(at.text, "#"); p.graph.Entity(e) != nil {
				at = r.parts[1]
			}
			return nil, p.unknown(at, err)
		}
		fields = model.AppendNew(fields, f)
	}
	return fields, nil
}

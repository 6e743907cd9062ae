package workload

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

func (p *parser) insert() (*Write, error) {
	if err := p.expect("INTO"); err != nil {
		return nil, err
	}
	e, err := p.entity()
	if err != nil {
		return nil, err
	}
	w := &Write{Kind: Insert, Entity: e, Tree: model.Tree{Entities: []*model.Entity{e}}}
	p.scope.Tree = w.Tree
	if p.take("SET") {
		if err = p.assignments(w); err != nil {
			return nil, err
		}
	}
	w.Set = model.AppendNew(w.Set, e.KeyFields()...) // the key is always given
	if !p.take("AND") {
		return w, nil
	}
	if err := p.expect("CONNECT"); err != nil {
		return nil, err
	}
	if err := p.expect("TO"); err != nil {
		return nil, err
	}
	for {
		c, err := p.connection(e, w.Connections)
		if err != nil {
			return nil, err
		}
		w.Connections = append(w.Connections, c)
		if !p.take(",") {
			return w, nil
		}
	}
}

func (p *parser) update() (*Write, error) {
	name := p.next()
	if name.kind != word {
		return nil, p.wrong(name, "expected an entity")
	}
	w := &Write{Kind: Update}
	if p.take("FROM") {
		if err := p.from(); err != nil {
			return nil, err
		}
	} else if _, err := p.scope.Start(name.text, ""); err != nil {
		return nil, p.unknown(name, err)
	}
	var err error
	if w.Entity, err = p.scope.Entity(name.text); err != nil {
		return nil, p.unknown(name, err)
	}
	if err := p.expect("SET"); err != nil {
		return nil, err
	}
	if err := p.assignments(w); err != nil {
		return nil, err
	}
	if w.Where, err = p.where(); err != nil {
		return nil, err
	}
	w.Tree = p.scope.Tree
	return w, nil
}

func (p *parser) remove() (*Write, error) {
	if err := p.expect("FROM"); err != nil {
		return nil, err
	}
	if err := p.from(); err != nil {
		return nil, err
	}
	w := &Write{Kind: Delete, Entity: p.scope.Tree.Entities[0]}
	var err error
	if w.Where, err = p.where(); err != nil {
		return nil, err
	}
	w.Tree = p.scope.Tree
	return w, nil
}

func (p *parser) connect(kind WriteKind, preposition string) (*Write, error) {
	e, err := p.entity()
	if err != nil {
		return nil, err
	}
	if err := p.marks(e); err != nil {
		return nil, err
	}
	if err := p.expect(preposition); err != nil {
		return nil, err
	}
	c, err := p.connection(e, nil)
	if err != nil {
		return nil, err
	}
	return &Write{Kind: kind, Entity: e, Tree: model.Tree{Entities: []*model.Entity{e}}, Connections: []Connection{c}}, nil
}

// connection reads role(?). The other end is an entity of the graph, or, where the relationship leads from an entity to
// itself, a further occurrence that is not among the ends before.
func (p *parser) connection(from *model.Entity, before []Connection) (Connection, error) {
	t := p.next()
	if t.kind != word {
		return Connection{}, p.wrong(t, "expected a relationship of %s", from.Name)
	}
	way, err := p.graph.Follow(from, t.text)
	if err != nil {
		return Connection{}, p.unknown(t, err)
	}
	to := way.To()
	for nth := 2; to == from || slices.ContainsFunc(before, func(c Connection) bool { return c.Entity == to && to.Of != nil }); nth++ {
		to = p.graph.Occurrence(from, nth)
	}
	return Connection{Edge: way.Between(p.graph, from, to), Entity: to}, p.marks(to)
}

// marks reads (?), with one parameter for each part of the key.
func (p *parser) marks(e *model.Entity) error {
	if err := p.expect("("); err != nil {
		return err
	}
	for i := range e.Key {
		if i > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		if t := p.next(); !t.isValue() {
			return p.wrong(t, "expected the key of %s: %d parameters", e.Name, len(e.Key))
		}
	}
	return p.expect(")")
}

// assignments reads SET: attribute = ?, and of an update attribute = attribute + ?.
func (p *parser) assignments(w *Write) error {
	for {
		t := p.peek()
		if t.kind != word {
			return p.wrong(t, "expected an attribute of %s", w.Entity.Name)
		}
		f, err := p.assigned(w.Entity)
		if err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
		if slices.Contains(w.Increments, f) || slices.Contains(w.Set, f) {
			return p.wrong(t, "%s is set twice", f)
		}
		switch v := p.peek(); {
		case v.isValue():
			p.next()
			w.Set = append(w.Set, f)
		case v.kind == word && w.Kind == Update:
			if err := p.increment(w.Entity, f); err != nil {
				return err
			}
			w.Increments = append(w.Increments, f)
		default:
			return p.wrong(v, "expected ? or a literal")
		}
		if !p.take(",") {
			return nil
		}
	}
}

// assigned reads attribute, or entity.attribute.
func (p *parser) assigned(e *model.Entity) (model.Field, error) {
	t := p.peek()
	if p.tokens[p.at+1].text != "." {
		return p.attribute(e, p.next())
	}
	f, err := p.field()
	if err == nil && f.Entity != e {
		err = p.wrong(t, "%s is not an attribute of %s", f, e.Name)
	}
	return f, err
}

// increment reads the right side of n = n + ?.
func (p *parser) increment(e *model.Entity, f model.Field) error {
	t := p.peek()
	same, err := p.assigned(e)
	if err != nil {
		return err
	}
	if same != f {
		return p.wrong(t, "expected ?, a literal, or %s + ?: a value is not computed from another attribute", f.Attribute.Name)
	}
	if f.IsKey() {
		return p.wrong(t, "%s is part of the key: it can not be added to", f)
	}
	if v := p.peek(); v.kind == literal && v.text[0] == '-' { // n -1
		p.next()
		return nil
	}
	if !p.take("+") && !p.take("-") {
		return p.wrong(p.peek(), "expected + or -")
	}
	if v := p.next(); !v.isValue() {
		return p.wrong(v, "expected ? or a literal")
	}
	return nil
}

package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// Parse reads a statement. Errors are *SyntaxError; where a name is not known it wraps a *model.NameError.
func Parse(g *model.Graph, text string) (*Statement, error) { return parse(g, text, false) }

// ParseLoosely reads a statement as Parse does, but lets a grouped query be ordered by what has several values in a group,
// as files of other tools do. Such a query means nothing until that is taken out.
func ParseLoosely(g *model.Graph, text string) (*Statement, error) { return parse(g, text, true) }

func parse(g *model.Graph, text string, loose bool) (*Statement, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{graph: g, text: text, tokens: tokens, loose: loose}
	s := &Statement{}
	switch verb := p.next(); strings.ToUpper(verb.text) {
	case "SELECT":
		s.Query, err = p.query()
	case "INSERT":
		s.Write, err = p.insert()
	case "UPDATE":
		s.Write, err = p.update()
	case "DELETE":
		s.Write, err = p.remove()
	case "CONNECT":
		s.Write, err = p.connect(Connect, "TO")
	case "DISCONNECT":
		s.Write, err = p.connect(Disconnect, "FROM")
	default:
		err = p.wrong(verb, "expected SELECT, INSERT, UPDATE, DELETE, CONNECT or DISCONNECT")
	}
	if err == nil && p.take("GIVEN") {
		var given []model.Field
		if given, err = p.given(); s.Write != nil {
			s.Write.Given = given
		} else if err == nil {
			s.Query.Known = given
		}
	}
	if err == nil && p.peek().kind != end {
		err = p.wrong(p.peek(), "unexpected %q", p.peek().text)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

type parser struct {
	graph  *model.Graph
	text   string
	tokens []token
	at     int

	loose bool // ORDER BY may name what GROUP BY does not

	tree  model.Tree
	scope []named
}

// named is what a name of the FROM clause stands for.
type named struct {
	name   string
	entity *model.Entity
}

// reference is a dotted name, not yet resolved.
type reference struct {
	parts []token
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// take steps over a keyword or symbol if it comes next.
func (p *parser) take(text string) bool {
	if t := p.peek(); (t.kind == word || t.kind == symbol) && strings.EqualFold(t.text, text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if p.take(text) {
		return nil
	}
	if t := p.peek(); t.kind != end {
		return p.wrong(t, "expected %s, not %q", text, t.text)
	}
	return p.wrong(p.peek(), "expected %s", text)
}

func (p *parser) wrong(t token, format string, args ...any) error {
	return &SyntaxError{Text: p.text, Offset: t.offset, Reason: fmt.Sprintf(format, args...)}
}

// unknown wraps an error about a name with its place.
func (p *parser) unknown(t token, err error) error {
	var name *model.NameError
	if errors.As(err, &name) {
		return &placed{SyntaxError{Text: p.text, Offset: t.offset, Reason: err.Error()}, err}
	}
	return p.wrong(t, "%s", err)
}

// placed is a SyntaxError with a cause.
type placed struct {
	SyntaxError
	cause error
}

func (e *placed) Unwrap() []error { return []error{&e.SyntaxError, e.cause} }

func (p *parser) query() (*Query, error) {
	q := &Query{Distinct: p.take("DISTINCT")}
	selected, err := p.selection()
	if err != nil {
		return nil, err
	}
	if err := p.expect("FROM"); err != nil {
		return nil, err
	}
	if err := p.from(); err != nil {
		return nil, err
	}
	for _, item := range selected {
		if err := p.selected(q, item); err != nil {
			return nil, err
		}
	}
	if q.Where, err = p.where(); err != nil {
		return nil, err
	}
	if err := p.groupAndOrder(q); err != nil {
		return nil, err
	}
	if p.take("LIMIT") {
		t := p.next()
		n, err := strconv.Atoi(t.text)
		if t.kind != literal || err != nil || n < 1 {
			return nil, p.wrong(t, "LIMIT takes a whole number, 1 or more")
		}
		q.Limit = n
	}
	q.Tree = p.tree
	return q, nil
}

// selected resolves an item of SELECT, now that FROM is known.
func (p *parser) selected(q *Query, item selection) error {
	if item.function == "" {
		fields, err := p.resolveAll(item.reference)
		q.Select = model.AppendNew(q.Select, fields...)
		return err
	}
	a := Aggregate{Func: item.function}
	if len(item.parts) > 0 {
		fields, err := p.resolveAll(item.reference)
		if err != nil {
			return err
		}
		a.Field = fields[0]
	}
	if !slices.Contains(q.Aggregates, a) {
		q.Aggregates = append(q.Aggregates, a)
	}
	return nil
}

// groupAndOrder reads GROUP BY and ORDER BY, in either order.
func (p *parser) groupAndOrder(q *Query) error {
	for {
		var err error
		switch t := p.peek(); {
		case q.GroupBy == nil && p.take("GROUP"):
			if err = p.expect("BY"); err == nil {
				q.GroupBy, err = p.fields()
			}
		case q.OrderBy == nil && p.take("ORDER"):
			q.OrderBy, err = p.orderBy()
		default:
			return p.checkGroups(q, t)
		}
		if err != nil {
			return err
		}
	}
}

// checkGroups refuses fields that have several values in one row of the result.
func (p *parser) checkGroups(q *Query, at token) error {
	if len(q.GroupBy) == 0 && len(q.Aggregates) == 0 {
		return nil
	}
	for i, f := range append(slices.Clone(q.Select), q.Ordered()...) {
		if wrong := (&GroupError{f, i >= len(q.Select)}); !slices.Contains(q.GroupBy, f) && !(p.loose && wrong.Ordered) {
			return &placed{SyntaxError{Text: p.text, Offset: at.offset, Reason: wrong.Error()}, wrong}
		}
	}
	return nil
}

// GroupError tells of a field of which a group of a grouped query has several values.
type GroupError struct {
	Field   model.Field
	Ordered bool // it is in ORDER BY, not in SELECT
}

func (e *GroupError) Error() string {
	return fmt.Sprintf("%s has several values in a group: GROUP BY does not name it", e.Field)
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

func (p *parser) orderBy() ([]Order, error) {
	if err := p.expect("BY"); err != nil {
		return nil, err
	}
	var fields []Order
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		desc := p.take("DESC")
		if !desc {
			p.take("ASC")
		}
		if !slices.ContainsFunc(fields, func(o Order) bool { return o.Field == f }) {
			fields = append(fields, Order{Field: f, Desc: desc})
		}
		if !p.take(",") {
			return fields, nil
		}
	}
}

func (p *parser) insert() (*Write, error) {
	if err := p.expect("INTO"); err != nil {
		return nil, err
	}
	e, err := p.entity()
	if err != nil {
		return nil, err
	}
	w := &Write{Kind: Insert, Entity: e, Tree: model.Tree{Entities: []*model.Entity{e}}}
	if err := p.start(e); err != nil {
		return nil, err
	}
	if p.take("SET") {
		if w.Set, err = p.assignments(e); err != nil {
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
		c, err := p.connection(e)
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
	e, err := p.entity()
	if err != nil {
		return nil, err
	}
	w := &Write{Kind: Update, Entity: e}
	if p.take("FROM") {
		err = p.from()
	} else {
		err = p.start(e)
	}
	if err != nil {
		return nil, err
	}
	if !p.tree.Has(e) {
		return nil, p.wrong(p.peek(), "%s is updated, but not in the path %s", e.Name, p.tree.Path())
	}
	if err := p.expect("SET"); err != nil {
		return nil, err
	}
	if w.Set, err = p.assignments(e); err != nil {
		return nil, err
	}
	if w.Where, err = p.where(); err != nil {
		return nil, err
	}
	w.Tree = p.tree
	return w, nil
}

func (p *parser) remove() (*Write, error) {
	if err := p.expect("FROM"); err != nil {
		return nil, err
	}
	if err := p.from(); err != nil {
		return nil, err
	}
	w := &Write{Kind: Delete, Entity: p.tree.Entities[0]}
	var err error
	if w.Where, err = p.where(); err != nil {
		return nil, err
	}
	w.Tree = p.tree
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
	c, err := p.connection(e)
	if err != nil {
		return nil, err
	}
	return &Write{Kind: kind, Entity: e, Tree: model.Tree{Entities: []*model.Entity{e}}, Connections: []Connection{c}}, nil
}

// connection reads role(?).
func (p *parser) connection(from *model.Entity) (Connection, error) {
	t := p.next()
	if t.kind != word {
		return Connection{}, p.wrong(t, "expected a relationship of %s", from.Name)
	}
	edge, to, err := p.graph.Step(from, t.text)
	if err != nil {
		return Connection{}, p.unknown(t, err)
	}
	return Connection{Edge: edge, Entity: to}, p.marks(to)
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
		if t := p.next(); t.kind != mark && t.kind != literal {
			return p.wrong(t, "expected the key of %s: %d parameters", e.Name, len(e.Key))
		}
	}
	return p.expect(")")
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

func (p *parser) start(e *model.Entity) error {
	if len(p.tree.Entities) > 0 && p.tree.Entities[0] != e {
		return p.wrong(p.peek(), "all paths of FROM start at %s", p.tree.Entities[0].Name)
	}
	if len(p.tree.Entities) == 0 {
		p.tree = model.Tree{Entities: []*model.Entity{e}}
	}
	p.scope = append(p.scope, named{e.Name, e})
	return nil
}

// from reads one or more paths.
func (p *parser) from() error {
	for {
		e, err := p.entity()
		if err != nil {
			return err
		}
		if err := p.start(e); err != nil {
			return err
		}
		for p.take(".") {
			t := p.next()
			if t.kind != word {
				return p.wrong(t, "expected a relationship of %s", e.Name)
			}
			if e, err = p.walk(e, t); err != nil {
				return err
			}
			p.scope = append(p.scope, named{t.text, e})
		}
		if !p.take(",") {
			return nil
		}
	}
}

// walk follows a step of a path and makes it part of the tree.
func (p *parser) walk(from *model.Entity, t token) (*model.Entity, error) {
	edge, to, err := p.graph.Step(from, t.text)
	if err != nil {
		return nil, p.unknown(t, err)
	}
	if p.tree.HasEdge(edge) {
		return to, nil
	}
	tree, err := model.NewTree(p.tree.Entities[0], append(append([]*model.Relationship(nil), p.tree.Edges...), edge)...)
	if err != nil {
		return nil, p.wrong(t, "%s", err)
	}
	p.tree = tree
	return to, nil
}

// selection is an item of SELECT: a reference, or a function of one; count(*) has no parts.
type selection struct {
	function string
	reference
}

var functions = []string{"count", "sum", "min", "max", "avg"}

func (p *parser) selection() ([]selection, error) {
	var list []selection
	for {
		var (
			item selection
			err  error
		)
		if t := p.peek(); t.kind == word && p.tokens[p.at+1].text == "(" {
			item, err = p.function()
		} else {
			item.reference, err = p.reference(true)
		}
		if err != nil {
			return nil, err
		}
		if list = append(list, item); !p.take(",") {
			return list, nil
		}
	}
}

func (p *parser) function() (selection, error) {
	t := p.next()
	item := selection{function: strings.ToLower(t.text)}
	if !slices.Contains(functions, item.function) {
		return item, p.unknown(t, &model.NameError{What: "function", Name: t.text, Known: functions})
	}
	p.next() // the bracket
	if item.function == "count" && p.take("*") {
		return item, p.expect(")")
	}
	var err error
	if item.reference, err = p.reference(false); err != nil {
		return item, err
	}
	return item, p.expect(")")
}

func (p *parser) references(star bool) ([]reference, error) {
	var list []reference
	for {
		r, err := p.reference(star)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
		if !p.take(",") {
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

// resolveAll finds the field that a reference names, or all fields of an entity.
func (p *parser) resolveAll(r reference) ([]model.Field, error) {
	e, err := p.lookUp(r.parts[0])
	if err != nil {
		return nil, err
	}
	last := len(r.parts) - 1
	for _, t := range r.parts[1:last] {
		if e, err = p.walk(e, t); err != nil {
			return nil, err
		}
	}
	if r.parts[last].text == "*" {
		fields := make([]model.Field, len(e.Attributes))
		for i, a := range e.Attributes {
			fields[i] = model.Field{Entity: e, Attribute: a}
		}
		return fields, nil
	}
	return p.attribute(e, r.parts[last])
}

func (p *parser) attribute(e *model.Entity, t token) ([]model.Field, error) {
	f := e.Field(t.text)
	if f.IsZero() {
		var known []string
		for _, a := range e.Attributes {
			known = append(known, a.Name)
		}
		return nil, p.unknown(t, &model.NameError{What: "attribute of " + e.Name, Name: t.text, Known: known})
	}
	return []model.Field{f}, nil
}

// lookUp finds what the first name of a path stands for: a name of FROM, else an entity of the tree.
func (p *parser) lookUp(t token) (*model.Entity, error) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, n := range p.scope {
			if same(n.name, t.text) {
				return n.entity, nil
			}
		}
		for _, e := range p.tree.Entities {
			if same(e.Name, t.text) {
				return e, nil
			}
		}
	}
	var known []string
	for _, n := range p.scope {
		known = append(known, n.name)
	}
	return nil, p.unknown(t, &model.NameError{What: "entity or role of " + p.tree.Path(), Name: t.text, Known: known})
}

func (p *parser) assignments(e *model.Entity) ([]model.Field, error) {
	var fields []model.Field
	for {
		t := p.peek()
		if t.kind != word {
			return nil, p.wrong(t, "expected an attribute of %s", e.Name)
		}
		var found []model.Field
		var err error
		if p.tokens[p.at+1].text == "." {
			var f model.Field
			if f, err = p.field(); err == nil && f.Entity != e {
				err = p.wrong(t, "%s is not an attribute of %s", f, e.Name)
			}
			found = []model.Field{f}
		} else {
			found, err = p.attribute(e, p.next())
		}
		if err != nil {
			return nil, err
		}
		fields = model.AppendNew(fields, found...)
		if err := p.expect("="); err != nil {
			return nil, err
		}
		if v := p.next(); v.kind != mark && v.kind != literal {
			return nil, p.wrong(v, "expected ? or a literal")
		}
		if !p.take(",") {
			return fields, nil
		}
	}
}

func (p *parser) where() ([]Predicate, error) {
	if !p.take("WHERE") {
		return nil, nil
	}
	var predicates []Predicate
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		op := p.next()
		switch Op(op.text) {
		case Equal, Greater, GreaterOrEqual, Less, LessOrEqual:
		default:
			return nil, p.wrong(op, "%q is not supported: conditions are =, >, >=, < and <=, joined by AND", op.text)
		}
		value := p.next()
		if value.kind != mark && value.kind != literal {
			return nil, p.wrong(value, "expected ? or a literal")
		}
		predicates = append(predicates, Predicate{Field: f, Op: Op(op.text), Value: value.text})
		if !p.take("AND") {
			return predicates, nil
		}
	}
}

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
		e := p.graph.Entity(r.parts[0].text)
		if e == nil {
			return nil, p.noEntity(r.parts[0])
		}
		found, err := p.attribute(e, r.parts[1])
		if err != nil {
			return nil, err
		}
		fields = model.AppendNew(fields, found...)
	}
	return fields, nil
}

package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

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
	at := p.peek()
	if err := p.groupAndOrder(q); err != nil {
		return nil, err
	}
	for p.take("LIMIT") {
		if err := p.limit(q); err != nil {
			return nil, err
		}
	}
	q.Tree = p.scope.Tree
	return q, p.checkValues(q, at)
}

// limit reads n, or n PER fields.
func (p *parser) limit(q *Query) error {
	t := p.next()
	n, err := strconv.Atoi(t.text)
	if t.kind != literal || err != nil || n < 1 {
		return p.wrong(t, "LIMIT takes a whole number, 1 or more")
	}
	switch per := p.peek(); {
	case p.take("PER"):
		if q.PerLimit > 0 {
			return p.wrong(per, "LIMIT PER is there twice")
		}
		q.PerLimit = n
		q.Per, err = p.fields()
	case q.Limit > 0:
		return p.wrong(t, "LIMIT is there twice")
	default:
		q.Limit = n
	}
	return err
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
		switch {
		case q.GroupBy == nil && p.take("GROUP"):
			if err = p.expect("BY"); err == nil {
				q.GroupBy, err = p.fields()
			}
		case q.OrderBy == nil && p.take("ORDER"):
			if err = p.expect("BY"); err == nil {
				q.OrderBy, err = p.orderBy()
			}
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) orderBy() ([]Order, error) {
	var orders []Order
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		if err := p.ordered(f); err != nil {
			return nil, err
		}
		desc := p.take("DESC")
		if !desc {
			p.take("ASC")
		}
		if !slices.ContainsFunc(orders, func(o Order) bool { return o.Field == f }) {
			orders = append(orders, Order{Field: f, Desc: desc})
		}
		if !p.take(",") {
			return orders, nil
		}
	}
}

// checkValues refuses fields that have several values in one row of the result.
func (p *parser) checkValues(q *Query, at token) error {
	one, what := q.GroupBy, "a group: GROUP BY does not name it"
	switch {
	case len(q.GroupBy) > 0 || len(q.Aggregates) > 0:
	case q.Distinct:
		one, what = q.Select, "a row of DISTINCT: SELECT does not name it"
	default:
		return nil
	}
	wrong := func(fields []model.Field, ordered bool) error {
		for _, f := range fields {
			if !slices.Contains(one, f) && (!ordered || !p.loose) {
				err := &GroupError{Field: f, Of: what, Ordered: ordered}
				at := p.named(f, at)
				return &placed{SyntaxError{Text: p.text, Offset: at.offset, Length: len(at.text), Reason: err.Error()}, err}
			}
		}
		return nil
	}
	if err := wrong(q.Select, false); err != nil {
		return err
	}
	if err := wrong(q.Per, false); err != nil {
		return err
	}
	return wrong(q.Ordered(), true)
}

// named is where the text first names a field's attribute after a dot, or at.
func (p *parser) named(f model.Field, at token) token {
	for i := 1; i < len(p.tokens); i++ {
		if t := p.tokens[i]; p.tokens[i-1].text == "." && strings.EqualFold(t.text, f.Attribute.Name) {
			return t
		}
	}
	return at
}

// GroupError tells of a field of which a row of the result has several values.
type GroupError struct {
	Field   model.Field
	Of      string // the row, and why
	Ordered bool   // the field is in ORDER BY
}

func (e *GroupError) Error() string { return fmt.Sprintf("%s has several values in %s", e.Field, e.Of) }

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
		if err := p.ordered(f); err != nil {
			return nil, err
		}
		found, err := p.condition(f)
		if err != nil {
			return nil, err
		}
		if predicates = append(predicates, found...); !p.take("AND") {
			return predicates, nil
		}
	}
}

// ordered refuses durations: what is asked or sorted by becomes part of a key, and Cassandra takes them in none (a month is not so many days).
func (p *parser) ordered(f model.Field) error {
	if strings.EqualFold(f.Attribute.Type, "duration") {
		return p.wrong(p.tokens[p.at-1], "%s is a duration: Cassandra has these in no key and in no order, so nothing can be asked or sorted by it; an amount of one unit (bigint) can", f)
	}
	return nil
}

// condition reads what follows the field. BETWEEN is two conditions.
func (p *parser) condition(f model.Field) ([]Predicate, error) {
	op := p.next()
	switch strings.ToUpper(op.text) {
	case "<>":
		op.text = string(NotEqual)
	case "=", "!=", ">", ">=", "<", "<=":
	case "IN":
		in, err := p.items(f)
		return []Predicate{in}, err
	case "LIKE":
		pattern := p.next()
		if !pattern.isValue() || pattern.kind == literal && !isPrefix(pattern.text) {
			return nil, p.wrong(pattern, "LIKE takes ? or a prefix such as 'abc%%', with no other wildcards")
		}
		return []Predicate{{Field: f, Op: Like, Value: pattern.text}}, nil
	case "BETWEEN":
		from, err := p.value()
		if err != nil {
			return nil, err
		}
		if err := p.expect("AND"); err != nil {
			return nil, err
		}
		to, err := p.value()
		return []Predicate{{Field: f, Op: GreaterOrEqual, Value: from}, {Field: f, Op: LessOrEqual, Value: to}}, err
	default:
		if op.kind == end {
			return nil, p.wrong(op, "expected a comparison")
		}
		return nil, p.wrong(op, "%q is not supported: conditions are =, !=, >, >=, <, <=, IN, BETWEEN and LIKE, joined by AND", op.text)
	}
	value, err := p.value()
	return []Predicate{{Field: f, Op: Op(op.text), Value: value}}, err
}

func (p *parser) value() (string, error) {
	t := p.next()
	if !t.isValue() {
		return "", p.wrong(t, "expected ? or a literal")
	}
	return t.text, nil
}

// isPrefix tells whether a pattern of LIKE asks for a prefix.
func isPrefix(pattern string) bool {
	inner := strings.TrimSuffix(pattern, "'")
	body, ok := strings.CutSuffix(inner, "%")
	return ok && len(body) > 1 && pattern[0] == '\'' && !strings.ContainsAny(body, "%_")
}

// usualItems is how many values IN ? is taken to have where it does not say.
const usualItems = 10

// items reads the values of IN: a list of them, or a parameter for the list with their mean number: ?ids ITEMS 20.
func (p *parser) items(f model.Field) (Predicate, error) {
	in := Predicate{Field: f, Op: In, Items: usualItems}
	if !p.take("(") {
		t := p.next()
		if in.Value = t.text; t.kind != mark {
			return in, p.wrong(t, "IN takes a list of values in brackets, or ?")
		}
		if p.take("ITEMS") {
			n := p.next()
			var err error
			if in.Items, err = strconv.ParseFloat(n.text, 64); n.kind != literal || err != nil || in.Items < 1 || in.Items > 1e6 {
				return in, p.wrong(n, "ITEMS takes the mean number of values, 1 to 1000000")
			}
		}
		return in, nil
	}
	var values []string
	for {
		v, err := p.value()
		if err != nil {
			return in, err
		}
		if values = append(values, v); !p.take(",") {
			break
		}
	}
	in.Value, in.Items = "("+strings.Join(values, ", ")+")", float64(len(values))
	return in, p.expect(")")
}

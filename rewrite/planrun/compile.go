package planrun

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// compiler makes a program of a plan. Fields get slots in the rows at hand as they are met. What a field is known to be at
// hand by is followed step by step, forth; what is still needed of it, back: only that is read.
type compiler struct {
	query      *workload.Query
	program    *Program
	slots      map[model.Field]int
	known      map[model.Field]bool // read, or the same as a value that the server has compared with
	nests      map[nestedCell]int   // slots of collections' cells
	aggregates []int                // slots
	grouped    bool
}

// cellType is a CQL type taken apart.
type cellType struct {
	name  string
	kind  kind
	width int
}

func typeOf(name string) cellType {
	k, width := kindOf(name)
	return cellType{name, k, width}
}

func (t cellType) compare(a, b []byte) int { return compare(t.kind, t.width, a, b) }

// Compile makes a program of a plan. A *StepError with ErrPlan says which step can not be executed, and why.
func Compile(p *plan.Plan) (*Program, error) {
	c := compiler{query: p.Query, program: &Program{}, slots: map[model.Field]int{}, known: map[model.Field]bool{}}
	fail := func(n int, err error) error {
		s := &p.Steps[n]
		e := &StepError{Step: n + 1, Kind: s.Kind, Reason: ErrPlan, Err: err}
		if s.Table != nil {
			e.Table = tableName(s.Table)
		}
		return e
	}
	if len(p.Steps) == 0 {
		return nil, fmt.Errorf("%w: it has no steps", ErrPlan)
	}
	if err := c.operands(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	needed := c.needed(p)
	for i := range p.Steps {
		step, err := c.step(&p.Steps[i], i, needed[i])
		if err != nil {
			return nil, fail(i, err)
		}
		c.program.steps = append(c.program.steps, step)
	}
	if err := c.answer(); err != nil {
		return nil, fail(len(p.Steps)-1, err)
	}
	c.program.direct = c.isDirect()
	return c.program, nil
}

// isDirect tells whether the answer is what one request returns, column by column.
func (c *compiler) isDirect() bool {
	p := c.program
	if len(p.steps) != 1 {
		return false
	}
	r, ok := p.steps[0].(*read)
	if !ok || !r.single || r.grouping != nil || len(r.left)+len(r.checks) > 0 || r.marker >= 0 || len(r.targets) != len(p.out) {
		return false
	}
	for i, t := range r.targets {
		if t.slot != p.out[i] || t.convert != nil {
			return false
		}
	}
	return true
}

// needed returns, for each step, which fields something after it needs, or the answer.
func (c *compiler) needed(p *plan.Plan) []map[model.Field]bool {
	list := make([]map[model.Field]bool, len(p.Steps))
	after := map[model.Field]bool{}
	add := func(fields ...model.Field) {
		for _, f := range fields {
			if !f.IsZero() {
				after[f] = true
			}
		}
	}
	add(p.Query.Select...)
	for i := len(p.Steps) - 1; i >= 0; i-- {
		s := &p.Steps[i]
		list[i] = map[model.Field]bool{}
		for f := range after {
			list[i][f] = true
		}
		switch s.Kind {
		case plan.Filter:
			for _, b := range s.Where {
				add(b.Field)
			}
		case plan.Sort:
			for _, o := range s.Order {
				add(o.Field)
			}
		case plan.LimitEach, plan.Distinct:
			add(s.Fields...)
		case plan.Group:
			add(s.Group...)
			for _, a := range s.Aggregates {
				add(a.Field)
			}
		default:
			for _, b := range slices.Concat(s.Partition, s.Clustering, s.Bucket, s.Where) {
				if b.Value == "" {
					add(b.Field)
				}
			}
		}
	}
	return list
}

// slot returns where a field is in the rows at hand.
func (c *compiler) slot(f model.Field) int {
	if n, ok := c.slots[f]; ok {
		return n
	}
	n := c.program.width
	c.program.width++
	c.slots[f] = n
	return n
}

// at returns the slot of a field that must be at hand: read, or the value of an equality.
func (c *compiler) at(f model.Field) (int, error) {
	if n := c.equality(f); n >= 0 && !c.known[f] && !c.isFilled(f) {
		c.program.filled = append(c.program.filled, filling{c.slot(f), n})
	} else if n < 0 && !c.known[f] {
		return 0, fmt.Errorf("%s is not at hand", f)
	}
	return c.slot(f), nil
}

// know notes that the rows at hand have a field's value: that of an equality which the server has checked.
func (c *compiler) know(f model.Field) {
	if n := c.equality(f); n >= 0 && !c.isFilled(f) {
		c.program.filled = append(c.program.filled, filling{c.slot(f), n})
	}
	c.known[f] = true
}

func (c *compiler) isFilled(f model.Field) bool {
	n := c.slot(f)
	return slices.ContainsFunc(c.program.filled, func(x filling) bool { return x.slot == n })
}

// equality is the operand of the first equality on f; -1 if there is none.
func (c *compiler) equality(f model.Field) int {
	return slices.IndexFunc(c.query.Where, func(p workload.Predicate) bool { return p.Field == f && p.Op == workload.Equal })
}

// operands makes one for each condition of the query.
func (c *compiler) operands() error {
	names := workload.Names(c.query.Where)
	for i, p := range c.query.Where {
		o := operand{op: p.Op, type_: p.Field.Attribute.Type}
		values := p.List()
		marks := 0
		for _, v := range values {
			if v == "?" {
				marks++
			}
		}
		at := 0
		for _, v := range values {
			x := part{name: v, items: 1}
			switch {
			case p.Op == workload.In && p.Value == v && strings.HasPrefix(v, "?"): // the list itself
				x.index, x.items = -1, 0
				if v == "?" {
					x.name = names[i]
				}
			case v == "?":
				x.name, x.index, x.items = names[i], at, marks
				at++
			case strings.HasPrefix(v, "?"):
			default:
				cell, err := literalCell(o.type_, v)
				if err != nil {
					return fmt.Errorf("condition %s %s %s: %w", p.Field, p.Op, p.Value, err)
				}
				x = part{cell: cell}
			}
			o.parts = append(o.parts, x)
		}
		c.program.operands = append(c.program.operands, o)
	}
	c.program.where = len(c.query.Where)
	return nil
}

// literalCell is the cell of a literal of the language.
func literalCell(cqlType, literal string) ([]byte, error) {
	if inner, ok := strings.CutPrefix(literal, "'"); ok {
		return Encode(cqlType, strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'"))
	}
	if k, _ := kindOf(cqlType); k == text {
		return nil, &TypeError{cqlType, literal}
	}
	return Encode(cqlType, literal)
}

// same returns the query's conditions that a binding may mean.
func (c *compiler) same(b plan.Binding) []int {
	var same []int
	for n, p := range c.query.Where {
		if p.Field == b.Field && p.Op == b.Op && p.Value == b.Value {
			same = append(same, n)
		}
	}
	return same
}

// operand finds what a column is bound to. A plan names the condition by field, comparison and value; where a query has
// several of the same, columns are bound to the first. A value that the application knows besides is no condition.
func (c *compiler) operand(b plan.Binding) (int, error) {
	if same := c.same(b); len(same) > 0 {
		return same[0], nil
	}
	if b.Op != workload.Equal || b.Value != "?" || !slices.Contains(c.query.Known, b.Field) {
		return 0, fmt.Errorf("the query has no condition %s %s %s", b.Field, b.Op, b.Value)
	}
	name := workload.GivenName(b.Field)
	for n := c.program.where; n < len(c.program.operands); n++ {
		if c.program.operands[n].parts[0].name == name {
			return n, nil
		}
	}
	c.program.operands = append(c.program.operands, operand{op: workload.Equal, type_: b.Field.Attribute.Type, parts: []part{{name: name, items: 1}}})
	return len(c.program.operands) - 1, nil
}

// conditions compiles what the client checks: some of the query's conditions. Of several of the same they are the last,
// as columns were bound to the first.
func (c *compiler) conditions(list []plan.Binding) ([]condition, error) {
	made := make([]condition, len(list))
	left := map[plan.Binding]int{}
	for _, b := range list {
		left[b]++
	}
	for i, b := range list {
		same := c.same(b)
		if len(same) < left[b] {
			return nil, fmt.Errorf("the query has no condition %s %s %s", b.Field, b.Op, b.Value)
		}
		made[i] = condition{slot: c.slot(b.Field), operand: same[len(same)-left[b]], op: b.Op, type_: typeOf(b.Field.Attribute.Type)}
		left[b]--
	}
	return made, nil
}

// answer finds the columns of the answer among what is at hand.
func (c *compiler) answer() error {
	p := c.program
	for _, f := range c.query.Select {
		n, err := c.at(f)
		if err != nil {
			return err
		}
		p.columns, p.out = append(p.columns, Column{Field: f, Type: f.Attribute.Type}), append(p.out, n)
	}
	if len(c.query.Aggregates) > 0 && !c.grouped {
		return fmt.Errorf("no step makes the groups that the query asks for")
	}
	for i, a := range c.query.Aggregates {
		p.columns, p.out = append(p.columns, Column{Aggregate: a, Type: aggregateType(a)}), append(p.out, c.aggregates[i])
	}
	return nil
}

// aggregate returns the slots of the query's aggregates, and notes that they are at hand.
func (c *compiler) aggregate() []int {
	for len(c.aggregates) < len(c.query.Aggregates) {
		c.aggregates = append(c.aggregates, c.program.width)
		c.program.width++
	}
	c.grouped = true
	return c.aggregates
}

// tableName is a table's name as CQL writes it.
func tableName(t *model.Table) string {
	if t.Keyspace != "" {
		return model.Quote(t.Keyspace) + "." + model.Quote(t.Name)
	}
	return model.Quote(t.Name)
}

// converter makes cells of one type of those of another; nil if they are the same.
type converter func([]byte) ([]byte, error)

// conversion is how cells of a type become such of another.
func conversion(from, to string) (converter, error) {
	a, b := typeOf(from), typeOf(to)
	same := strings.EqualFold(from, to) || a.kind == b.kind && a.width == b.width && a.kind != unknown || a.kind == uuid && b.kind == timeuuid || a.kind == timeuuid && b.kind == uuid
	if same {
		return nil, nil
	}
	if a.kind == unknown || b.kind == unknown || a.kind != b.kind && (a.kind != whole || b.kind != varint && b.kind != decimal && b.kind != floating) && (a.kind != varint || b.kind != whole) {
		return nil, fmt.Errorf("a value of type %s is no value of type %s", from, to)
	}
	return func(cell []byte) ([]byte, error) {
		v, err := Decode(from, cell)
		if err != nil {
			return nil, err
		}
		return Encode(to, v)
	}, nil
}

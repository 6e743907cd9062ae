package planrun

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// question is a support query, whichever tables need its answer.
type question struct {
	query   *workload.Query
	program *Program
	names   []string // of the parameters that its callers give values of, in their order; of Find none: the write's own
	step    int      // in the account
}

// holding is a table that a write changes: how its rows are made and written. The values of a row at hand stand in slots,
// one for each field of the table's tree that matters.
type holding struct {
	table   *model.Table // whose rows they are; of a collection model.Table.Spread
	nest    *model.Nest  // nil: rows
	name    string       // as CQL writes it
	width   int          // slots
	changes []change
	key     []column // with the bucket's column after the partition key
	routed  int      // so many of them are the partition key
	bucket  int      // slot of what the bucket is computed from; -1: nothing
	values  []column // besides the key
	puts    bool     // rows are put
	deletes bool     // rows are deleted
	moves   bool     // an update that may change keys: rows are deleted and put, and know all occurrences of the entity
	selves  []self   // those occurrences, of an update
	put     string   // the text that puts a whole row
	remove  string
	steps   [2]int // in the account: of deletes, of puts
}

// column is a column of a table and the slot of its value.
type column struct {
	slot    int // -1: the bucket
	name    string
	convert converter // from the attribute's type to the column's; nil if they are the same
	static  bool
}

// self is an occurrence of an updated entity: its key, and what is set.
type self struct {
	entity *model.Entity
	key    []int // slots
	set    []assignment
}

// assignment gives a slot a new value.
type assignment struct {
	slot, operand int
	add           bool
	type_         string
}

// change is plan.Change, compiled.
type change struct {
	self  *model.Entity // the occurrence of an update or delete
	found []int         // slots of the key that Find tells, in the order of the key
	known []filledBy
	parts []piece
	not   []apart
	gone  bool     // of CONNECT: its rows go
	text  string   // of an update that moves nothing: what is put
	puts  []column // and its columns, the key's first
	set   []assignment
}

// apart says that a row in which two keys are the same is none (plan.Change.Not).
type apart struct{ key, other []int } // slots

// filledBy gives a slot what the statement says; two of one slot must say the same.
type filledBy struct {
	slot    int
	operand operand // no parts: null
	set     bool    // an attribute of what is inserted: may be null
	asks    bool    // a condition of an update or delete: nothing satisfies it if the value is null
}

// piece is a support query, and where what it asks by and what it answers stands.
type piece struct {
	question int
	by       []int // slots, in the order of the question's names
	out      []cellOf
}

// cellOf is a column of an answer and the slot where it goes.
type cellOf struct{ column, slot int }

// CompileWrite makes a program of one write and the plans of all tables of a design that it changes. Support queries are run
// by the plans given, wherever they stand; one that has none gets one over the tables that the plans name, if there is any:
// the plan of a table that the write does not change only lends that table.
// Existing tables are written by their application and left out. An error says what is missing (ErrPlan).
func CompileWrite(w *workload.Write, plans []*plan.WritePlan) (*WriteProgram, error) {
	c := &writeCompiler{write: w, program: &WriteProgram{write: w}, plans: map[string]*plan.Plan{}, asked: map[string]int{}}
	for _, p := range plans {
		c.gather(p)
	}
	if err := c.compile(plans); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return c.program, nil
}

type writeCompiler struct {
	write   *workload.Write
	program *WriteProgram
	plans   map[string]*plan.Plan // of support queries, by workload.Query.Key
	tables  []*model.Table        // all that are named
	asked   map[string]int        // questions, by the same
}

func (c *writeCompiler) gather(p *plan.WritePlan) {
	add := func(t *model.Table) {
		if !slices.Contains(c.tables, t) {
			c.tables = append(c.tables, t)
		}
	}
	add(p.Table)
	for _, s := range p.Support {
		c.plans[s.Query.Key()] = s
		for _, t := range s.Tables() {
			add(t)
		}
	}
}

func (c *writeCompiler) compile(plans []*plan.WritePlan) error {
	maintained := slices.ContainsFunc(plans, func(p *plan.WritePlan) bool { return !p.Table.Existing && plan.Modifies(c.write, p.Table) })
	if find := plan.Find(c.write); find != nil && maintained { // nobody needs to know whom a write speaks of that changes no table
		n, err := c.question(find)
		if err != nil {
			return err
		}
		c.program.find = c.program.questions[n]
	}
	for _, f := range c.write.Set {
		c.program.values = append(c.program.values, parameter(workload.SetName(f), 0, f.Attribute.Type))
	}
	for _, f := range c.write.Increments {
		if k, _ := kindOf(f.Attribute.Type); k != whole && k != floating && k != varint && k != decimal {
			return fmt.Errorf("nothing can be added to %s, a %s", f, f.Attribute.Type)
		}
		c.program.values = append(c.program.values, parameter(workload.AddName(f), 0, f.Attribute.Type))
	}
	seen := map[*model.Table]bool{}
	for _, p := range plans {
		if seen[p.Table] || p.Table.Existing {
			continue
		}
		seen[p.Table] = true
		if err := c.table(p.Table); err != nil {
			return fmt.Errorf("table %s: %w", tableName(p.Table), err)
		}
	}
	c.merge()
	return nil
}

// merge has questions answered by others that ask the same of the same, and for more fields: one read for two tables of
// which one needs less.
func (c *writeCompiler) merge() {
	list := c.program.questions
	for _, h := range c.program.holdings {
		for i := range h.changes {
			for j := range h.changes[i].parts {
				p := &h.changes[i].parts[j]
				for n, larger := range list {
					if larger != c.program.find && plan.AnswerHolds(larger.query, list[p.question].query) {
						p.ask(n, list[p.question], larger)
					}
				}
			}
		}
	}
}

// ask has the piece ask another question, whose answer holds that of its own.
func (p *piece) ask(n int, own, other *question) {
	by := make([]int, len(p.by))
	for i, name := range other.names {
		by[i] = p.by[slices.Index(own.names, name)]
	}
	for i := range p.out {
		p.out[i].column = slices.Index(other.query.Select, own.query.Select[p.out[i].column])
	}
	p.question, p.by = n, by
}

// parameter is the operand of one value of a parameter.
func parameter(name string, nth int, cqlType string) operand {
	return operand{op: workload.Equal, type_: cqlType, parts: []part{{name: name, index: nth}}}
}

// question returns the number of a support query.
func (c *writeCompiler) question(q *workload.Query) (int, error) {
	key := q.Key()
	if n, ok := c.asked[key]; ok {
		return n, nil
	}
	p := c.plans[key]
	if p == nil {
		s, err := plan.NewSpace(q, c.tables, nil)
		if err != nil {
			return 0, err
		}
		if p, _ = s.Cheapest(effort, func(*model.Table) bool { return true }); p == nil {
			return 0, fmt.Errorf("no plan for the support query %s: plan the write with the tables of the whole design", q)
		}
	}
	program, err := Compile(p)
	if err != nil {
		return 0, fmt.Errorf("support query %s: %w", q, err)
	}
	made := &question{query: p.Query, program: program, step: len(c.program.steps)}
	c.program.steps = append(c.program.steps, WriteStep{Kind: plan.Get, Query: p.Query})
	n := len(c.program.questions)
	c.program.questions = append(c.program.questions, made)
	c.asked[key] = n
	return n, nil
}

// effort prices plans where nobody has: requests above all.
func effort(a *plan.Arc) float64 {
	sum := 0.0
	for i := range a.Steps {
		s := &a.Steps[i]
		sum += s.Requests + s.Rows/100 + s.Scanned/1000
	}
	return sum
}

// table compiles what is done to one table: to its rows, and to the elements of each of its collections.
func (c *writeCompiler) table(t *model.Table) error {
	if t.Name == "" {
		return errors.New("it has no name: name the design's tables")
	}
	steps := plan.WriteSteps(c.write, t)
	moves := false // rows do, and their elements with them
	for _, f := range plan.Facets(t) {
		h := &holding{table: f.Table, nest: f.Nest, name: tableName(t), bucket: -1}
		for i := range steps {
			if s := &steps[i]; f.Nest == nil && len(s.Nests) == 0 || len(s.Nests) > 0 && s.Nests[0] == f.Nest {
				h.deletes = h.deletes || s.Kind == plan.Remove
				h.puts = h.puts || s.Kind == plan.Put
			}
		}
		update := c.write.Kind == workload.Update
		if h.moves = update && (h.deletes && h.puts || moves && h.puts); f.Nest == nil {
			moves = h.moves
		}
		if err := c.facet(t, f, h); err != nil {
			return err
		}
	}
	return nil
}

// facet compiles what is done to the rows of a table, or to the elements of one of its collections.
func (c *writeCompiler) facet(whole *model.Table, f plan.Facet, h *holding) error {
	t := f.Table
	slots := map[model.Field]int{}
	slot := func(f model.Field) int {
		n, ok := slots[f]
		if !ok {
			n = len(slots)
			slots[f] = n
		}
		return n
	}
	if err := c.columns(whole, h, slot); err != nil {
		return err
	}
	update := c.write.Kind == workload.Update
	for _, x := range f.Changes(c.write) {
		made, err := c.change(&x, slot)
		if err != nil {
			return err
		}
		if update && !h.moves && t.Base == nil {
			c.inPlace(h, made)
			if len(made.set) == 0 {
				continue // what the statement sets here is no column
			}
		}
		h.deletes = h.deletes || made.gone // however few rows that may be
		h.changes = append(h.changes, *made)
	}
	if update {
		for _, e := range t.Tree.Entities {
			if e.Base() == c.write.Entity.Base() {
				h.selves = append(h.selves, c.self(e, slots))
			}
		}
	}
	h.width = len(slots)
	if len(h.changes) == 0 {
		return nil
	}
	for i, kind := range []plan.Kind{plan.Remove, plan.Put} {
		if h.steps[i] = len(c.program.steps); []bool{h.deletes, h.puts}[i] {
			c.program.steps = append(c.program.steps, WriteStep{Kind: kind, Table: h.name})
		}
	}
	c.program.holdings = append(c.program.holdings, h)
	return nil
}

// columns compiles the columns of a table, and the texts.
func (c *writeCompiler) columns(whole *model.Table, h *holding, slot func(model.Field) int) error {
	t := h.table
	name := func(f model.Field) string {
		if h.nest != nil && h.nest.Holds(f) {
			return model.Quote(whole.NestColumn(f))
		}
		return model.Quote(whole.ColumnName(f))
	}
	add := func(list *[]column, fields []model.Field) error {
		for _, f := range fields {
			convert, err := conversion(f.Attribute.Type, t.ColumnType(f))
			if err != nil {
				return err
			}
			*list = append(*list, column{slot(f), name(f), convert, slices.Contains(t.Static, f)})
		}
		return nil
	}
	if err := add(&h.key, t.Partition); err != nil {
		return err
	}
	if t.Bucket != nil {
		h.key = append(h.key, column{slot: -1, name: model.Quote(whole.BucketColumn())})
		if !t.Bucket.Of.IsZero() {
			h.bucket = slot(t.Bucket.Of)
		}
	}
	h.routed = len(h.key)
	if err := add(&h.key, t.Clustering); err != nil {
		return err
	}
	if err := add(&h.values, t.Values); err != nil {
		return err
	}
	h.put, h.remove = h.putText(slices.Concat(h.key, h.values)), h.removeText()
	return nil
}

func insertText(table string, columns []column) string {
	names := make([]string, len(columns))
	for i, k := range columns {
		names[i] = k.name
	}
	return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + ")"
}

// change compiles one way in which the write meets the table.
func (c *writeCompiler) change(x *plan.Change, slot func(model.Field) int) (*change, error) {
	made := &change{gone: x.Gone != nil}
	for _, n := range x.Not {
		i := slices.IndexFunc(x.Named, func(by plan.Named) bool { return by.By == n.By })
		made.not = append(made.not, apart{slotsOf(n.Entity.KeyFields(), slot), slotsOf(x.Named[i].Entity.KeyFields(), slot)})
	}
	if k := c.write.Kind; k == workload.Update || k == workload.Delete {
		made.self = x.Named[0].Entity
		if c.program.find != nil {
			made.found = slotsOf(made.self.KeyFields(), slot)
		}
	}
	for _, k := range x.Known {
		filled := filledBy{slot: slot(k.Field), set: c.write.Kind == workload.Insert && !k.Field.IsKey(), asks: made.self != nil && !strings.HasPrefix(k.Name, "GIVEN ")}
		switch {
		case k.Value == "" && made.found != nil:
			continue // its key is found
		case k.Value == "":
		case strings.HasPrefix(k.Value, "?"):
			name := k.Value
			if name == "?" {
				name = k.Name
			}
			filled.operand = parameter(name, k.Nth, k.Field.Attribute.Type)
		default:
			cell, err := literalCell(k.Field.Attribute.Type, k.Value)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", k.Field, k.Value, err)
			}
			filled.operand = operand{op: workload.Equal, type_: k.Field.Attribute.Type, parts: []part{{cell: cell}}}
		}
		made.known = append(made.known, filled)
	}
	for _, q := range x.Parts {
		n, err := c.question(q)
		if err != nil {
			return nil, err
		}
		asked := c.program.questions[n]
		p := piece{question: n}
		asked.names = nil
		names := workload.Names(asked.query.Where)
		for i, by := range asked.query.Where {
			p.by = append(p.by, slot(by.Field))
			asked.names = append(asked.names, names[i])
		}
		for _, f := range asked.query.Known {
			p.by = append(p.by, slot(f))
			asked.names = append(asked.names, workload.GivenName(f))
		}
		for i, f := range asked.query.Select {
			p.out = append(p.out, cellOf{i, slot(f)})
		}
		made.parts = append(made.parts, p)
	}
	return made, nil
}

func slotsOf(fields []model.Field, slot func(model.Field) int) []int {
	list := make([]int, len(fields))
	for i, f := range fields {
		list[i] = slot(f)
	}
	return list
}

// inPlace compiles what an update puts that moves no rows: the key, and what is set at one occurrence of the entity.
func (c *writeCompiler) inPlace(h *holding, made *change) {
	slots := map[model.Field]int{}
	for i, f := range h.table.Values {
		slots[f] = h.values[i].slot
	}
	made.set = c.self(made.self, slots).set
	made.puts = slices.Clone(h.key)
	onlyStatic := true
	for _, v := range h.values {
		if slices.ContainsFunc(made.set, func(a assignment) bool { return a.slot == v.slot }) {
			made.puts = append(made.puts, v)
			onlyStatic = onlyStatic && v.static
		}
	}
	if onlyStatic && len(made.puts) > len(h.key) {
		made.puts = slices.Delete(made.puts, h.routed, len(h.key)) // the partition is enough
	}
	made.text = h.putText(made.puts)
}

// self compiles an occurrence of the entity of an update. What is set of it and has no slot is nothing to the table.
func (c *writeCompiler) self(e *model.Entity, slots map[model.Field]int) self {
	made := self{entity: e}
	for _, f := range e.KeyFields() {
		if n, ok := slots[f]; ok {
			made.key = append(made.key, n)
		}
	}
	for i, f := range slices.Concat(c.write.Set, c.write.Increments) {
		if n, ok := slots[model.Field{Entity: e, Attribute: f.Attribute}]; ok {
			made.set = append(made.set, assignment{n, i, i >= len(c.write.Set), f.Attribute.Type})
		}
	}
	return made
}

package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"

	"github.com/helenus-db/helenus/advisor/trial/memory"
)

// Case is a change that is to leave all answers as they are.
type Case struct {
	Keyspace string // in use
	Old, New *schema.Schema
	Table    *schema.Table // of Old: what is asked of, written and copied
	Copy     *Copy         // nil: statements change only
	Asks     []Ask
	Writes   []cql.Statement // of the application, on Table
	Upkeep   []*Upkeep       // what each takes afterwards; nil without a copy
	// Unique are columns of which no two rows agree in all, where the change is for such rows only.
	Unique []string
	// Settled are columns that the partition key determines.
	Settled []string
	// Full: no column is null, as no attribute of a model is.
	Full bool
}

// Rounds is how many sets of rows a case is tried on; with each some dozen questions and writes. It is tried on more, mostRounds at the most, until each
// question was answered with rows, and each write changed some.
const (
	Rounds     = 5
	mostRounds = 4 * Rounds
)

// Run tries the case. The error is a *DifferError, a *memory.UnknownError, or says what else is wrong.
func (c *Case) Run(seed uint64) error {
	met := &answered{asks: make([]int, len(c.Asks)), writes: make([]bool, len(c.Writes))}
	for round := 0; round < Rounds || round < mostRounds && !met.enough(); round++ {
		g := &generator{rand: rand.New(rand.NewPCG(seed, uint64(round))), c: c, met: met} //nolint:gosec // a test of ours, no secret
		if err := c.round(g); err != nil {
			return err
		}
	}
	return met.idle(c)
}

func (c *Case) round(g *generator) error {
	for i := range c.Asks {
		f, err := g.aim(c.Asks[i].Old)
		if err != nil {
			return err
		}
		g.aims = append(g.aims, f)
	}
	old, now := memory.New(c.Old, c.Keyspace), memory.New(c.New, c.Keyspace)
	replaced := c.New.Table(c.Table.Keyspace, c.Table.Name) == nil
	both := func(st cql.Statement, args memory.Args) error {
		if err := old.Write(st, args); err != nil || replaced {
			return err
		}
		return now.Write(st, args)
	}
	if err := g.rows(both); err != nil {
		return err
	}
	if c.Copy != nil {
		source := now
		if replaced {
			source = old
		}
		if err := c.fill(source, now); err != nil {
			return err
		}
	}
	if err := c.asked(g, old, now); err != nil {
		return err
	}
	const writes = 8
	for n := 0; n < writes && len(c.Writes) > 0; n++ {
		i := g.rand.IntN(len(c.Writes))
		args, ok := g.args(c.Writes[i])
		if !ok || c.Full && c.makes(old, c.Writes[i], args) {
			continue
		}
		before := old.Dump(c.Table.Keyspace, c.Table.Name)
		if err := old.Write(c.Writes[i], args); err != nil {
			return fmt.Errorf("%s: %w", c.Writes[i], err)
		}
		g.met.writes[i] = g.met.writes[i] || before != old.Dump(c.Table.Keyspace, c.Table.Name)
		if c.Copy == nil {
			if err := now.Write(c.Writes[i], args); err != nil {
				return err
			}
		} else if err := c.Upkeep[i].run(now, c.Copy, args); err != nil {
			return fmt.Errorf("%s: %w", c.Writes[i], err)
		}
		if err := c.asked(g, old, now); err != nil {
			return fmt.Errorf("after %s: %w", c.Writes[i], err)
		}
	}
	return nil
}

// makes tells whether an UPDATE is of a row that is not there, which would make one of nulls.
func (c *Case) makes(s *memory.Store, w cql.Statement, args memory.Args) bool {
	x, ok := w.(*cql.Update)
	if !ok {
		return false
	}
	a, err := s.Select(&cql.Select{Table: x.Table, Where: x.Where}, args)
	return err != nil || len(a.Rows) == 0
}

// fill copies all rows that there are.
func (c *Case) fill(from, to *memory.Store) error {
	u := c.Copy.fill()
	read, err := cql.Parse(u.Steps[0].CQL)
	if err != nil {
		return err
	}
	put, err := cql.Parse(u.Steps[1].CQL)
	if err != nil {
		return err
	}
	list, err := rows(from, read, nil)
	if err != nil {
		return err
	}
	return u.each(to, c.Copy, put, memory.Args{}, "new_", c.Copy.entries(list))
}

// asked asks each question a few times: of what it was aimed at, and of anything.
func (c *Case) asked(g *generator, old, now *memory.Store) error {
	const times = 3
	for i := range c.Asks {
		for n := range times {
			v, err := g.question(c.Asks[i].Old)
			if err != nil {
				return err
			}
			if own := g.aims[i].values; n > 0 && own != nil {
				own[limitKey], own[perKey] = v[limitKey], v[perKey]
				v = own
			}
			found, err := c.Asks[i].compare(old, now, c.Copy, c.Table, v)
			if err != nil {
				return err
			}
			g.met.asks[i] = max(g.met.asks[i], found)
		}
	}
	return nil
}

// generator makes rows and values.
type generator struct {
	rand   *rand.Rand
	c      *Case
	sample []map[string]memory.Value // rows that were made
	unique map[string]bool
	aims   []*focus // of the questions, one each
	met    *answered
	exact  bool // a row's key is taken as it is
}

// domain lists the values of a column: few, so that rows agree in some; what statements compare it with is among them.
func (g *generator) domain(column *schema.Column) []string {
	size := 3
	key := g.c.Table.PrimaryKey()
	switch {
	case column.Kind == schema.Regular:
		size = 2
	case column.Type == "boolean":
		return []string{"false", "true"}
	case len(key) == 1 && key[0].Name == column.Name:
		size = 12
	case column.Kind == schema.Clustering && key[len(key)-1].Name == column.Name:
		size = 6
	}
	const sorted = 5 // so that answers have several of them, on which ever side of a bound
	if slices.ContainsFunc(g.c.Asks, func(a Ask) bool { return compares(a.Old, column.Name) }) {
		size = max(size, sorted)
	}
	out := make([]string, size)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	for _, a := range g.c.Asks {
		for _, w := range a.Old.Where {
			if l, ok := w.Value.(*cql.Literal); ok && len(w.Columns) == 1 && w.Columns[0] == column.Name && l.Kind != cql.LiteralNull {
				out = append(out, l.Text)
			}
		}
	}
	return out
}

// compares tells whether a SELECT has a range of a column, or sorts by it.
func compares(s *cql.Select, column string) bool {
	return slices.ContainsFunc(s.OrderBy, func(o cql.Ordering) bool { return o.Column == column }) || slices.ContainsFunc(s.Where, func(w cql.Relation) bool {
		return len(w.Columns) == 1 && w.Columns[0] == column && (w.Op == cql.OpLT || w.Op == cql.OpLE || w.Op == cql.OpGT || w.Op == cql.OpGE || w.Op == cql.OpBetween)
	})
}

// value draws one.
func (g *generator) value(column *schema.Column) memory.Value {
	domain := g.domain(column)
	one := func() string { return domain[g.rand.IntN(len(domain))] }
	kind := memory.Collection(column.Type)
	if kind == "" {
		return one()
	}
	n := 1 + g.rand.IntN(3)
	list, m := memory.List{}, memory.Map{}
	for range n {
		list = append(list, one())
		m[one()] = one()
	}
	switch kind {
	case "set":
		return memory.SetOf(list...)
	case "map":
		return m
	}
	return list
}

// row draws a whole row.
func (g *generator) row() map[string]memory.Value {
	out := map[string]memory.Value{}
	var partition []string
	for _, c := range g.c.Table.Columns {
		switch {
		case slices.Contains(g.c.Settled, c.Name):
			out[c.Name] = settled(partition)
			continue
		case c.Kind == schema.PartitionKey || c.Kind == schema.Clustering:
			out[c.Name] = g.value(&c)
		case g.c.Full || g.rand.IntN(6) > 0:
			out[c.Name] = g.value(&c)
		default:
			out[c.Name] = nil
		}
		if c.Kind == schema.PartitionKey {
			partition = append(partition, memory.Text(out[c.Name]))
		}
	}
	return out
}

// settled is what a partition determines.
func settled(partition []string) string { return strconv.FormatUint(memory.Hash(partition)%3, 10) }

// fresh tells whether a row agrees with none so far in the columns that are unique, or in the key.
func (g *generator) fresh(r map[string]memory.Value) bool {
	if len(g.c.Unique) == 0 {
		return true
	}
	id := func(columns []string) string {
		var parts []string
		for _, c := range columns {
			parts = append(parts, memory.Text(r[c]))
		}
		return fmt.Sprintf("%q%q", columns, parts)
	}
	var key []string
	for _, k := range g.c.Table.PrimaryKey() {
		key = append(key, k.Name)
	}
	if g.unique == nil {
		g.unique = map[string]bool{}
	}
	a, b := id(g.c.Unique), id(key)
	if g.unique[a] || g.unique[b] || slices.ContainsFunc(g.c.Unique, func(c string) bool { return r[c] == nil }) {
		return false
	}
	g.unique[a], g.unique[b] = true, true
	return true
}

// rows writes some by INSERT, or, where the application never inserts, by UPDATE, so that they are there by their values only; and some
// static columns alone.
func (g *generator) rows(write func(cql.Statement, memory.Args) error) error {
	t := g.c.Table
	ref := cql.TableRef{Keyspace: t.Keyspace, Table: t.Name}
	inserts := len(g.c.Writes) == 0 || slices.ContainsFunc(g.c.Writes, func(w cql.Statement) bool { _, ok := w.(*cql.Insert); return ok })
	var list []map[string]memory.Value
	for range 10 + g.rand.IntN(16) {
		list = append(list, g.row())
	}
	random := len(list)
	for _, f := range g.aims {
		list = append(list, f.rows...)
	}
	for n, r := range list {
		if !g.fresh(r) {
			continue
		}
		insert := &cql.Insert{Table: ref}
		update := &cql.Update{Table: ref}
		alone := n < random && g.rand.IntN(12) == 0
		if alone { // in a partition of its own
			for _, c := range t.PartitionKey() {
				r[c.Name] = "alone"
			}
		}
		args := memory.Args{}
		for name, v := range r {
			args[name] = v
		}
		for _, c := range t.Columns {
			m := &cql.Marker{Name: c.Name}
			key := c.Kind == schema.PartitionKey || c.Kind == schema.Clustering
			if !alone || c.Kind == schema.PartitionKey || c.Kind == schema.Static {
				insert.Columns, insert.Values = append(insert.Columns, c.Name), append(insert.Values, m)
			}
			if key {
				update.Where = append(update.Where, cql.Relation{Columns: []string{c.Name}, Op: cql.OpEQ, Value: m})
			} else {
				update.Assignments = append(update.Assignments, cql.Assignment{Column: c.Name, Op: cql.AssignSet, Value: m})
			}
		}
		g.sample = append(g.sample, r)
		var st cql.Statement = insert
		statics := slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Kind == schema.Static })
		switch {
		case alone && !statics:
			continue
		case !alone && !inserts && len(update.Assignments) > 0:
			st = update
		}
		if err := write(st, args); err != nil {
			return err
		}
	}
	return nil
}

// pick draws a value of a column that some row has, mostly.
func (g *generator) pick(column string, row map[string]memory.Value) memory.Value {
	c := g.c.Table.Column(column)
	if c == nil {
		return "0"
	}
	if v := row[column]; v != nil && (g.exact || g.rand.IntN(5) > 0) {
		return v
	}
	return g.value(c)
}

// one is a row that was made, often one of those that a question is aimed at.
func (g *generator) one() map[string]memory.Value {
	if len(g.sample) == 0 {
		return g.row()
	}
	if n := len(g.aims); n > 0 && g.rand.IntN(2) == 0 {
		if f := g.aims[g.rand.IntN(n)]; len(f.rows) > 0 {
			return f.rows[g.rand.IntN(len(f.rows))]
		}
	}
	return g.sample[g.rand.IntN(len(g.sample))]
}

// question draws the values that a SELECT is asked with.
func (g *generator) question(s *cql.Select) (values, error) {
	v := values{limitKey: strconv.Itoa(1 + g.rand.IntN(2)*g.rand.IntN(4)), perKey: strconv.Itoa(1 + g.rand.IntN(2))}
	row := g.one()
	for i := range s.Where {
		w := &s.Where[i]
		if len(w.Columns) != 1 || w.Token || w.Op == cql.OpExpr {
			return nil, &memory.UnknownError{What: "the condition " + (&cql.Select{Where: s.Where[i : i+1]}).String()}
		}
		name := w.Columns[0]
		c := g.c.Table.Column(name)
		if c == nil {
			return nil, &memory.UnknownError{What: "a condition on " + name}
		}
		single := g.single(name)
		switch w.Op {
		case cql.OpIn:
			list := memory.List{}
			for range 1 + g.rand.IntN(3) {
				list = append(list, memory.Text(g.value(single)))
			}
			v[at(name, w.Op)] = list
		case cql.OpContains, cql.OpContainsKey:
			v[at(name, w.Op)] = g.value(single)
		default:
			v[at(name, w.Op)] = g.pick(name, row)
		}
	}
	return v, nil
}

// args draws the values of a write. ok is false where none fit.
func (g *generator) args(st cql.Statement) (memory.Args, bool) {
	out := memory.Args{}
	row := g.one()
	g.exact = g.rand.IntN(4) > 0
	defer func() { g.exact = false }()
	bind := func(t cql.Term, draw func() memory.Value) {
		if m, ok := t.(*cql.Marker); ok {
			out[memory.Key(m)] = draw()
			return
		}
		cql.WalkTerm(t, func(t cql.Term) bool {
			if m, ok := t.(*cql.Marker); ok {
				out[memory.Key(m)] = memory.Text(g.value(&schema.Column{Type: "text"}))
			}
			return true
		})
	}
	where := func(list []cql.Relation) {
		for _, w := range list {
			bind(w.Value, func() memory.Value {
				if w.Op == cql.OpIn {
					return memory.List{memory.Text(g.pick(w.Columns[0], row)), memory.Text(g.pick(w.Columns[0], g.one()))}
				}
				return g.pick(w.Columns[0], row)
			})
		}
	}
	set := func(column string, t cql.Term, element cql.Term, op cql.AssignOp) {
		c := g.c.Table.Column(column)
		if c == nil {
			return
		}
		own := *c
		switch {
		case element != nil:
			own.Type = "text"
		case op == cql.AssignSubtract && memory.Collection(c.Type) == "map":
			own.Type = "set<text>"
		}
		if element != nil {
			bind(element, func() memory.Value { return g.value(&schema.Column{Type: "text"}) })
		}
		bind(t, func() memory.Value {
			if !g.c.Full && g.rand.IntN(8) == 0 && c.Kind != schema.PartitionKey && c.Kind != schema.Clustering {
				return nil
			}
			if v := g.one()[column]; v != nil && own.Type == c.Type && g.rand.IntN(2) == 0 { // in and out of the answers
				return v
			}
			return g.value(&own)
		})
	}
	switch x := st.(type) {
	case *cql.Insert:
		if len(g.c.Unique)+len(g.c.Settled) > 0 {
			row = g.row()
			if !g.fresh(row) {
				return nil, false
			}
			g.sample = append(g.sample, row)
			for i, c := range x.Columns {
				bind(x.Values[i], func() memory.Value { return row[c] })
			}
			break
		}
		for i, c := range x.Columns {
			if inKey(g.c.Table, c) {
				bind(x.Values[i], func() memory.Value { return g.pick(c, row) })
				continue
			}
			set(c, x.Values[i], nil, cql.AssignSet)
		}
	case *cql.Update:
		where(x.Where)
		for _, a := range x.Assignments {
			set(a.Column, a.Value, a.Element, a.Op)
		}
		for _, k := range x.Conditions {
			bind(k.Value, func() memory.Value { return g.pick(k.Column, row) })
		}
	case *cql.Delete:
		where(x.Where)
		for _, d := range x.Columns {
			if d.Element != nil {
				bind(d.Element, func() memory.Value { return g.value(&schema.Column{Type: "text"}) })
			}
		}
		for _, k := range x.Conditions {
			bind(k.Value, func() memory.Value { return g.pick(k.Column, row) })
		}
	}
	for _, u := range usingOf(st) {
		bind(u.Value, func() memory.Value { return "1" })
	}
	return out, true
}

func usingOf(st cql.Statement) cql.Using {
	switch x := st.(type) {
	case *cql.Insert:
		return x.Using
	case *cql.Update:
		return x.Using
	case *cql.Delete:
		return x.Using
	}
	return nil
}

package trial

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"

	"github.com/helenus-db/helenus/advisor/trial/memory"
)

// focus is a question that several rows answer, and others nearly. Rows at random seldom meet four conditions at once: a question
// that nothing answers is answered alike in all ways.
type focus struct {
	old    *cql.Select
	values values
	rows   []map[string]memory.Value // that meet all its conditions, and some that miss one
}

// aim makes a focus for a SELECT: a row, what it is asked for by, and rows that meet this, or all of it but one condition. It has no rows
// where none can be made, as of a column that is to be two things.
func (g *generator) aim(old *cql.Select) (*focus, error) {
	const tries, rows = 20, 8
	f := &focus{old: old}
	for range tries {
		row := g.whole()
		v, err := g.asking(old, row)
		if err != nil {
			return nil, err
		}
		fixed := map[string]memory.Value{}
		for i := range old.Where { // what is compared with something that is written has that
			if err := g.meet(fixed, row, &old.Where[i], v); err != nil {
				return nil, err
			}
		}
		if met, err := g.matches(old, row, v); err != nil {
			return nil, err
		} else if !met {
			continue
		}
		f.values = v
		f.rows = append(f.rows, row)
		break
	}
	if len(f.rows) == 0 {
		return f, nil
	}
	for n := range rows {
		row := g.whole()
		miss := -1
		if n%4 == 3 {
			miss = g.rand.IntN(max(1, len(old.Where)))
		}
		fixed := map[string]memory.Value{}
		for i := range old.Where {
			if i == miss {
				continue
			}
			if err := g.meet(fixed, row, &old.Where[i], f.values); err != nil {
				return nil, err
			}
		}
		f.rows = append(f.rows, g.settle(row))
	}
	return f, nil
}

// whole is a row of which a question may be asked: no column that it compares is null.
func (g *generator) whole() map[string]memory.Value {
	full := g.c.Full
	g.c.Full = true
	row := g.row()
	g.c.Full = full
	return row
}

// asking are values by which a question finds a row.
func (g *generator) asking(s *cql.Select, row map[string]memory.Value) (values, error) {
	v, err := g.question(s)
	if err != nil {
		return nil, err
	}
	for i := range s.Where {
		w := &s.Where[i]
		name := w.Columns[0]
		have := row[name]
		switch {
		case w.Element != nil: // of a map, compared with what is written
		case w.Op == cql.OpEQ:
			v[at(name, w.Op)] = have
		case w.Op == cql.OpIn:
			list := append(memory.List{}, v[at(name, w.Op)].(memory.List)...) //nolint:forcetypeassert // question made it
			if n := len(list); n < 2 {
				list = append(list, memory.Text(have))
			} else {
				list[g.rand.IntN(n)] = memory.Text(have)
			}
			v[at(name, w.Op)] = list
		case w.Op == cql.OpContains || w.Op == cql.OpContainsKey:
			if one := g.element(have, w.Op); one != "" {
				v[at(name, w.Op)] = one
			}
		default:
			if have == nil {
				continue
			}
			const tries = 20
			for range tries {
				v[at(name, w.Op)] = g.value(g.single(name))
				if ok, err := g.holds(w, row, v); err != nil || ok {
					break
				}
			}
		}
	}
	return v, nil
}

// element is one of those of a collection.
func (g *generator) element(v memory.Value, op cql.Op) string {
	list := slices.Clone(memory.Elements(v))
	if m, ok := v.(memory.Map); ok {
		for k, x := range m {
			if op == cql.OpContains {
				k = x
			}
			list = append(list, k)
		}
		slices.Sort(list) // a map has no order, and a trial is the same each time
	}
	if len(list) == 0 {
		return ""
	}
	return list[g.rand.IntN(len(list))]
}

// single is a column with the type of what its values, or its elements, are.
func (g *generator) single(name string) *schema.Column {
	c := g.c.Table.Column(name)
	if c == nil || memory.Collection(c.Type) == "" && c.Type == "boolean" {
		return c
	}
	return &schema.Column{Name: c.Name, Kind: c.Kind, Type: "text"}
}

// meet changes a row so that it meets a condition. fixed are the columns that are what they have to be.
func (g *generator) meet(fixed, row map[string]memory.Value, w *cql.Relation, v values) error {
	name := w.Columns[0]
	if _, done := fixed[name]; done || slices.Contains(g.c.Settled, name) {
		return nil
	}
	if w.Op == cql.OpEQ && w.Element == nil {
		want, err := g.wanted(w, v)
		if err != nil {
			return err
		}
		row[name], fixed[name] = want, want
		return nil
	}
	c := g.c.Table.Column(name)
	if c == nil {
		return nil
	}
	const tries = 20
	for range tries {
		ok, err := g.holds(w, row, v)
		if err != nil || ok {
			return err
		}
		want, err := g.wanted(w, v)
		if err != nil {
			return err
		}
		list, several := want.(memory.List)
		switch one := memory.Text(want); {
		case w.Op == cql.OpIn && several && len(list) > 0:
			row[name] = list[g.rand.IntN(len(list))]
		case w.Op == cql.OpContains && memory.Collection(c.Type) == "set":
			row[name] = memory.SetOf(one, memory.Text(g.value(g.single(name))))
		case w.Op == cql.OpContains && memory.Collection(c.Type) == "list":
			row[name] = memory.List{memory.Text(g.value(g.single(name))), one}
		default:
			row[name] = g.value(c)
		}
	}
	return nil
}

// wanted is what a condition compares with.
func (g *generator) wanted(w *cql.Relation, v values) (memory.Value, error) {
	if len(markers(w)) == 0 {
		return memory.Of(w.Value, nil)
	}
	return v[at(w.Columns[0], w.Op)], nil
}

// holds tells whether a row meets a condition.
func (g *generator) holds(w *cql.Relation, row map[string]memory.Value, v values) (bool, error) {
	want, err := g.wanted(w, v)
	if err != nil {
		return false, err
	}
	own := *w
	own.Value = &cql.Marker{Name: "v"}
	return memory.Matches(&own, memory.Args{"v": want}, func(column string) (memory.Value, error) { return row[column], nil })
}

// matches tells whether a row meets all conditions of a question.
func (g *generator) matches(s *cql.Select, row map[string]memory.Value, v values) (bool, error) {
	for i := range s.Where {
		if ok, err := g.holds(&s.Where[i], row, v); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// settle gives a row anew what its partition determines.
func (g *generator) settle(row map[string]memory.Value) map[string]memory.Value {
	var partition []string
	for _, k := range g.c.Table.PartitionKey() {
		partition = append(partition, memory.Text(row[k.Name]))
	}
	for _, name := range g.c.Settled {
		row[name] = settled(partition)
	}
	return row
}

// answered notes how many rows the questions and writes of a case met, so that it goes on until all did.
type answered struct {
	asks   []int // most rows of an answer
	writes []bool
}

// enough tells whether each question was answered with rows, and each write changed some.
func (a *answered) enough() bool {
	return !slices.ContainsFunc(a.asks, func(n int) bool { return n == 0 }) && !slices.Contains(a.writes, false)
}

// idle is a question that no row answered.
func (a *answered) idle(c *Case) error {
	for i, n := range a.asks {
		if n == 0 {
			return &memory.UnknownError{What: fmt.Sprintf("%s, which none of the rows that were made answers,", c.Asks[i].Old)}
		}
	}
	return nil
}

package recommend

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
)

// tryWrites tries what the sketch says of writes: the statements that it prints for each change a new table from what it holds before the write to what it
// holds after it. It returns where they do not.
func (t *joinTrial) tryWrites(tables []*design.Table, d *design.Design) error {
	for _, s := range d.Statements[1:] {
		w := s.Statement.Write
		if w.Kind != workload.Insert && w.Kind != workload.Update && w.Kind != workload.Delete {
			continue
		}
		before, after, ok := t.changedRows(w)
		if !ok {
			continue
		}
		for _, p := range s.Writes {
			i := slices.IndexFunc(tables, func(n *design.Table) bool { return n.Table == p.Table })
			if i < 0 || !distinctKeys(p.Table, before) || !distinctKeys(p.Table, after) {
				continue // the application's own, or rows that a model would not have
			}
			if err := t.tryWrite(tables[i], p, before, after); err != nil {
				return fmt.Errorf("%s: %w", s.Statement, err)
			}
		}
	}
	return nil
}

// changedRows are the rows of the join before a write of one of its entities, and after it. false: none of them is met by one.
func (t *joinTrial) changedRows(w *workload.Write) (before, after []found, ok bool) {
	if len(t.rows) == 0 {
		return nil, nil, false
	}
	one := t.rows[t.rand.IntN(len(t.rows))]
	key := w.Entity.Base().KeyFields()
	for _, f := range key {
		if _, known := one[f]; !known {
			return nil, nil, false
		}
	}
	for _, r := range t.rows {
		if slices.ContainsFunc(key, func(f model.Field) bool { return memory.Text(r[f]) != memory.Text(one[f]) }) {
			before, after = append(before, r), append(after, r)
			continue
		}
		switch w.Kind {
		case workload.Insert:
			after = append(after, r)
		case workload.Delete:
			before = append(before, r)
		default:
			now := maps.Clone(r)
			for _, f := range w.Set {
				f.Entity = f.Entity.Base()
				if _, known := now[f]; known && !slices.Contains(key, f) {
					now[f] = strconv.Itoa(fieldValues)
				}
			}
			before, after = append(before, r), append(after, now)
		}
	}
	return before, after, true
}

// distinctKeys reports whether different rows have different keys in a table.
func distinctKeys(t *model.Table, rows []found) bool {
	seen := map[string]string{}
	keys, fields := t.Key(), t.Fields()
	for _, r := range rows {
		key, whole := lineOf(keys, r), lineOf(fields, r)
		if have, again := seen[key]; again && have != whole {
			return false
		}
		seen[key] = whole
	}
	return true
}

func lineOf(fields []model.Field, r found) string {
	var line []byte
	for _, f := range fields {
		line = append(strconv.AppendQuote(line, memory.Text(r[f])), ' ')
	}
	return string(line)
}

// tryWrite carries the printed statements of a write out on a table with the rows before it, and compares with one of the rows after it.
func (t *joinTrial) tryWrite(n *design.Table, p *plan.WritePlan, before, after []found) error {
	name := model.Quote(n.Name)
	if n.Table.Keyspace != "" {
		name = model.Quote(n.Table.Keyspace) + "." + name
	}
	say := func(s *memory.Store, step *plan.Step, rows []found) error {
		text, names := writeText(step, name)
		st, err := cql.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		columns := map[string]model.Field{}
		for _, f := range n.Table.Fields() {
			columns[n.Table.ColumnName(f)] = f
		}
		for _, r := range rows {
			args := memory.Args{}
			for i, a := range names {
				args["#"+strconv.Itoa(i)] = r[columns[a[len("old_"):]]] // which is as long as new_
			}
			if slices.ContainsFunc(n.Table.Key(), func(f model.Field) bool { return r[f] == nil }) {
				continue
			}
			if err := s.Write(st, args); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	}
	put := &plan.Step{Kind: plan.Put, Table: n.Table}
	got, want := memory.New(t.all, t.joined.reads[0].access.Keyspace), memory.New(t.all, t.joined.reads[0].access.Keyspace)
	if err := say(got, put, before); err != nil {
		return err
	}
	if err := say(want, put, after); err != nil {
		return err
	}
	fields := n.Table.Fields()
	without := func(rows, others []found) []found {
		have := map[string]bool{}
		for _, o := range others {
			have[lineOf(fields, o)] = true
		}
		return slices.DeleteFunc(slices.Clone(rows), func(r found) bool { return have[lineOf(fields, r)] })
	}
	gone, come := without(before, after), without(after, before)
	for _, of := range []struct {
		kind plan.Kind
		rows []found
	}{{plan.Remove, gone}, {plan.Put, come}} {
		for i := range p.Steps {
			if p.Steps[i].Kind != of.kind {
				continue
			}
			if err := say(got, &p.Steps[i], of.rows); err != nil {
				return err
			}
		}
	}
	if is, should := got.Dump(n.Table.Keyspace, n.Name), want.Dump(n.Table.Keyspace, n.Name); is != should {
		return fmt.Errorf("what is to be written besides would leave %s with other rows than it has to have: on generated rows %s in place of %s",
			n.Name, strings.Join(strings.Fields(is), " "), strings.Join(strings.Fields(should), " "))
	}
	return nil
}

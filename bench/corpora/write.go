package main

import (
	"fmt"
	"slices"
	"strings"
)

// nearest is the instance of an entity that a page knows.
func (f *frame) nearest(e *entity) *frame {
	for at := f; at != nil; at = at.up {
		if at.e == e {
			return at
		}
	}
	return nil
}

// write writes an instance to every table that has it.
func (s *site) write(t int64, f *frame, st step) int64 {
	e := s.w.entity(st.name)
	at := f.nearest(e)
	var i int
	fed := map[string]origin{}
	switch {
	case st.kind == insertOne:
		partners := map[string]int{}
		for _, role := range st.with {
			if near := f.nearest(e.edge(role).to); near != nil {
				partners[role] = near.i
			}
		}
		i = s.w.add(e, partners)
	case at != nil:
		i = at.i
		fed = at.row
	default:
		i = s.random.IntN(e.count)
	}
	batch := uint64(0)
	if st.mode == inBatch {
		s.batches++
		batch = s.batches
	}
	group := map[stepKind]string{insertOne: "insert ", updateOne: "update ", deleteOne: "delete "}[st.kind] + e.name
	if st.kind == updateOne {
		group += "." + st.by
	}
	s.writes[group]++
	fresh := datum{}
	if st.kind == updateOne {
		a := e.attribute(st.by)
		fresh = datum{of: e, at: a, n: s.random.IntN(max(a.distinct, 100_000))}
		if a.distinct > 0 {
			fresh.n %= a.distinct
		}
	}
	end := t
	for _, tab := range s.tables {
		if tab.of != e || !tab.holds(i) {
			continue
		}
		q, binds, ok := s.written(f, tab, i, st, fed, fresh)
		if !ok {
			continue
		}
		q.group = group
		switch st.mode {
		case atOnce, inBatch:
			end = max(end, s.say(t, q, binds, nil, batch))
		default:
			t = s.say(t, q, binds, nil, 0) + pause/4
			end = t
		}
	}
	return end + pause
}

// written is the statement that writes an instance to a table; false: the table has nothing of it.
func (s *site) written(f *frame, t *table, i int, st step, fed map[string]origin, fresh datum) (*statement, [][]bound, bool) {
	var columns []column
	for _, c := range t.columns() {
		if c.form == "set" {
			continue
		}
		if _, ok := t.of.value(i, c.path); ok || st.kind == insertOne {
			columns = append(columns, c)
		}
	}
	bind := func(list []column) (binds [][]bound, names []string) {
		for _, c := range list {
			b, _ := f.known(t.of, i, c.path, fed)
			if role, attribute, inner := strings.Cut(c.path, "."); inner {
				if near := f.nearest(t.of.edge(role).to); near != nil {
					b.from = near.row[attribute]
				}
			}
			if b = b.formed(c.form); c.form == whole {
				b.datum, _ = t.of.held(i, c)
				b.from = fed[c.path+"~"+whole]
			}
			binds, names = append(binds, []bound{b}), append(names, quoted(c.name))
		}
		return binds, names
	}
	key, names := bind(t.key())
	where := strings.Join(names, " = ? AND ") + " = ?"
	switch st.kind {
	case insertOne:
		binds, names := bind(columns)
		text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quoted(t.name), strings.Join(names, ", "), strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", "))
		return s.prepared(text, t, nil, nil, columns, false), binds, true
	case deleteOne:
		return s.prepared(fmt.Sprintf("DELETE FROM %s WHERE %s", quoted(t.name), where), t, nil, t.key(), nil, false), key, true
	}
	c := t.column(st.by)
	if c == nil || slices.ContainsFunc(t.key(), func(k column) bool { return k.path == st.by }) {
		return nil, nil, false
	}
	text := fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", quoted(t.name), quoted(c.name), where)
	return s.prepared(text, t, nil, t.key(), []column{*c}, false), append([][]bound{{{datum: fresh}}}, key...), true
}

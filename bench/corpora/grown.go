package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/trace"
)

// Applications as they grow over the years are written in code here, by what they say: with caches in front of what they read, retries
// behind it, columns that are made of others, several services, and jobs. What is true of them is known as of the others.

// troubles are what networks and nodes do to statements.
type troubles struct {
	failing float64 // share of statements that time out, and are said again
	slow    float64 // share of reads that are said again while they are under way, by speculative execution
}

var usual = troubles{failing: 0.01, slow: 0.02}

// troubled tells whether something comes in between a statement and its answer.
func (s *site) troubled(st *statement) bool {
	if s.troubles == (troubles{}) {
		return false
	}
	x := s.random.Float64()
	return x < s.troubles.failing || !st.trace.Write && x < s.troubles.failing+s.troubles.slow
}

// trouble says a statement that is answered too late, or by an error, and returns when it is said again.
func (s *site) trouble(t int64, st *statement, binds [][]bound, batch uint64) int64 {
	e := &trace.Execution{Statement: st.trace, Start: t, Process: max(s.process, 1), Batch: batch, Last: true, Rows: -1, Failed: true}
	for place, list := range binds {
		for _, b := range list {
			v := s.hash(b.datum)
			v.Index = uint16(place) // #nosec G115 -- few
			e.Binds = append(e.Binds, v)
			e.MadeBinds = append(e.MadeBinds, s.made(b.datum, len(e.Binds))...)
		}
	}
	st.count++
	e.Sequence = uint32(st.count) // #nosec G115 -- few
	s.out = append(s.out, e)
	if s.random.Float64() < 0.5 { // a replica's time-out, in the middle of the second
		e.End = t + int64((200+400*s.random.Float64())*float64(time.Millisecond))
		return e.End + pause
	}
	e.End = t + int64((20+40*s.random.Float64())*float64(time.Millisecond)) // the other one answers sooner
	return t + int64(8*time.Millisecond)
}

// made is a value in the form in which a column holds it.
func made(d datum, form string) datum {
	d.form = form
	return d
}

// keeps tells whether a value is told by a form of it: that of a set, and letters in lower case, are others.
func keeps(form string) bool {
	return form == "" || form == "text" || form == whole || strings.HasSuffix(form, "#")
}

// formed is a bound value in a form. Where it keeps the value, that comes from where the value came from.
func (b bound) formed(form string) bound {
	if !keeps(form) {
		b.from = origin{}
	}
	if form != "" {
		b.datum = made(b.datum, form)
	}
	return b
}

// elements are the further values of a cell.
func (d *datum) elements() []datum {
	if d == nil || d.more == nil {
		return nil
	}
	return *d.more
}

// client is a thread of a service, in the middle of a request.
type client struct {
	s *site
	t int64
}

// call makes a chore of code.
func (s *site) call(weight float64, process uint64, does func(c *client)) chore {
	return chore{weight, process, func(t int64) int64 {
		c := &client{s, t}
		does(c)
		return c.t
	}}
}

func (s *site) table(label string) *table {
	for _, t := range s.tables {
		if t.label == label {
			return t
		}
	}
	panic("corpora: no table " + label) // a mistake in a corpus
}

func (s *site) has(label string) bool {
	return slices.ContainsFunc(s.tables, func(t *table) bool { return t.label == label })
}

// any is an instance, by popularity.
func (c *client) any(entity string) *frame {
	e := c.s.w.entity(entity)
	return &frame{e: e, i: zipf(c.s.random, e.count, 0.7), row: map[string]origin{}}
}

func (c *client) chance(share float64) bool { return c.s.random.Float64() < share }

// to is the partner that an instance has; what is known of it is its key, from where that of the relation is. nil if there is none.
func (f *frame) to(role string) *frame {
	r := f.e.edge(role)
	if r.target[f.i] < 0 {
		return nil
	}
	row := map[string]origin{}
	for _, part := range r.to.keys() {
		if row[part] = f.row[role+"."+part]; len(r.to.key) == 1 {
			row[part] = f.row[role]
		}
	}
	return &frame{e: r.to, i: r.target[f.i], row: row, up: f}
}

// many lists the partners that an instance has, of which it is not known yet who they are.
func (f *frame) many(w *world, role string) []int {
	list := w.backwards(f.e, role).inverse[f.i]
	return list[:min(len(list), most)]
}

// cond is a condition: of a column, by path, which is bound to values.
type cond struct {
	path string
	to   []bound
}

// is binds a column to what a frame has: its value at a path.
func is(path string, f *frame, at string) cond {
	v, ok := f.e.value(f.i, at)
	if !ok {
		panic("corpora: " + f.e.name + " has no " + at) // a mistake in a corpus
	}
	return cond{path, []bound{{datum: v, from: f.row[at]}}}
}

// in binds a column to what several frames have.
func in(path string, frames []*frame, at string) cond {
	c := cond{path: path}
	seen := map[datum]bool{}
	for _, f := range frames {
		if v, ok := f.e.value(f.i, at); ok && !seen[v] {
			seen[v] = true
			c.to = append(c.to, bound{datum: v, from: f.row[at]})
		}
	}
	return c
}

// find reads rows: some of the columns of a table ("*": all), by conditions, with so many rows in a page (0: all of them). A limit is a
// number in pick: "title price limit 10".
func (c *client) find(label, pick string, rows []int, page int, where ...cond) []*frame {
	t := c.s.table(label)
	pick, limit, limited := strings.Cut(pick, " limit ")
	n := len(rows)
	if limited {
		_, _ = fmt.Sscan(limit, &n)
	}
	rows = rows[:min(n, len(rows))]
	var selected, by []column
	var names, conditions []string
	var binds [][]bound
	list := false
	for _, p := range where {
		col := t.at(p.path)
		by, binds = append(by, col), append(binds, nil)
		for _, b := range p.to {
			b = b.formed(col.form)
			binds[len(binds)-1] = append(binds[len(binds)-1], b)
		}
		if list = list || len(p.to) != 1 || p.path == ""; list {
			conditions = append(conditions, quoted(col.name)+" IN ?")
		} else {
			conditions = append(conditions, quoted(col.name)+" = ?")
		}
	}
	if len(where) > 0 && len(where[len(where)-1].to) == 0 {
		return nil // an empty list
	}
	what := "*"
	if pick == "*" {
		selected = t.columns()
	} else {
		for p := range strings.FieldsSeq(pick) {
			p, optional := strings.CutSuffix(p, "?")
			if optional && !t.has(p) {
				continue
			}
			selected = append(selected, t.at(p))
			names = append(names, quoted(t.at(p).name))
		}
		what = strings.Join(names, ", ")
	}
	text := "SELECT " + what + " FROM " + quoted(t.name)
	if len(conditions) > 0 {
		text += " WHERE " + strings.Join(conditions, " AND ")
	}
	if limited {
		text += " LIMIT " + limit
	}
	st := c.s.prepared(text, t, selected, by, nil, list)
	st.list = st.list || len(rows) > 1
	if len(where) == 0 {
		st.scan = true
	}
	run := st.answers()
	var out []*frame
	var cells [][]*datum
	for _, i := range rows {
		row, line := map[string]origin{}, make([]*datum, len(selected))
		for k, col := range selected {
			line[k] = c.s.cell(t, i, col)
			if keeps(col.form) {
				row[col.path] = origin{st, k, run}
			}
			if col.form == whole {
				for _, part := range t.of.edge(col.path).to.keys() {
					row[col.path+"."+part] = origin{st, k, run}
				}
			}
		}
		for k, col := range by { // what was asked for came from there
			if keeps(col.form) && len(binds[k]) == 1 {
				row[col.path] = binds[k][0].from
			}
		}
		out, cells = append(out, &frame{e: t.of, i: i, row: row}), append(cells, line)
	}
	for from := 0; ; from += page {
		to := len(cells)
		if page > 0 {
			to = min(to, from+page)
		}
		c.t = c.s.say(c.t, st, binds, cells[from:to], 0) + pause
		if to == len(cells) {
			return out
		}
		st.roots-- // the next page is the same question
		c.s.out[len(c.s.out)-1].Last = false
		c.s.paged[st.trace.Fingerprint]++
	}
}

// one is find of one row.
func (c *client) one(label, pick string, f *frame, where ...cond) *frame {
	out := c.find(label, pick, []int{f.i}, 0, where...)[0]
	for path, from := range f.row {
		if _, known := out.row[path]; !known {
			out.row[path] = from
		}
	}
	return out
}

// cell is what a row has in a column, nil if nothing.
func (s *site) cell(t *table, i int, col column) *datum {
	if col.form == "set" {
		var all []datum
		r := s.w.backwards(t.of, col.path)
		for _, j := range r.inverse[i] {
			v, _ := r.of.value(j, r.element())
			all = append(all, v)
		}
		if len(all) == 0 {
			return nil
		}
		rest := all[1:]
		all[0].more = &rest
		return &all[0]
	}
	v, ok := t.of.held(i, col)
	if !ok {
		return nil
	}
	return &v
}

// at is the column of a path: "buyer", "buyer~text".
func (t *table) at(path string) column {
	for _, c := range t.columns() {
		if c.path == path || c.form != "" && c.path+"~"+c.form == path {
			return c
		}
	}
	panic("corpora: " + t.label + " has no " + path) // a mistake in a corpus
}

// has tells whether a table has a path.
func (t *table) has(path string) bool {
	return slices.ContainsFunc(t.columns(), func(c column) bool { return c.path == path || c.path+"~"+c.form == path })
}

// cached tells whether an instance is in a cache of the service; if not it is put there, for so long.
func (c *client) cached(cache string, f *frame, keep time.Duration) bool {
	cache += fmt.Sprint(c.s.process)
	of := c.s.caches[cache]
	if of == nil {
		of = map[int]int64{}
		c.s.caches[cache] = of
	}
	if until, ok := of[f.i]; ok && c.t < until {
		return true
	}
	of[f.i] = c.t + int64(keep)
	return false
}

// together does several things at once: all begin now, and it goes on when the last is done.
func together[T any](c *client, of []T, do func(c *client, x T)) {
	end := c.t
	for k, x := range of {
		one := &client{c.s, c.t + int64(k)*10_000}
		do(one, x)
		end = max(end, one.t)
	}
	c.t = end
}

// make makes an instance, related to those that are known, and writes it to tables, one statement after the other, or in a BATCH. What
// is written to the first table counts as one thing; so do copies of it.
func (c *client) make(entity string, batch bool, tables string, partners map[string]*frame) *frame {
	e := c.s.w.entity(entity)
	ids, known := map[string]int{}, map[string]origin{}
	for role, f := range partners {
		ids[role] = f.i
		for path, from := range f.row { // what is copied of it, and all of its key
			known[role+"."+path] = from
		}
		known[role] = f.row[f.e.key[0]]
	}
	f := &frame{e: e, i: c.s.w.add(e, ids), row: known}
	c.write(f, step{kind: insertOne}, "insert "+entity, batch, tables)
	return f
}

// set changes an attribute in tables.
func (c *client) set(f *frame, attribute string, batch bool, tables string) {
	c.write(f, step{kind: updateOne, by: attribute}, "update "+f.e.name+"."+attribute, batch, tables)
}

func (c *client) write(f *frame, st step, group string, batch bool, tables string) {
	number := uint64(0)
	if batch {
		c.s.batches++
		number = c.s.batches
	}
	c.s.writes[group]++
	fresh := datum{}
	if st.kind == updateOne {
		fresh = datum{of: f.e, at: f.e.attribute(st.by), n: c.s.random.IntN(100_000)}
		if d := fresh.at.distinct; d > 0 {
			fresh.n %= d
		}
	}
	end := c.t
	for label := range strings.FieldsSeq(tables) {
		q, binds, ok := c.s.written(f, c.s.table(label), f.i, st, f.row, fresh)
		if !ok {
			panic("corpora: nothing to write in " + label) // a mistake in a corpus
		}
		q.group = group
		if batch {
			end = max(end, c.s.say(c.t, q, binds, nil, number))
			continue
		}
		c.t = c.s.say(c.t, q, binds, nil, 0) + pause/4
		end = c.t
	}
	c.t = end + pause
}

// increment adds to a counter.
func (c *client) increment(label string, f *frame) {
	t := c.s.table(label)
	var binds [][]bound
	var names []string
	for _, k := range t.key() {
		v, _ := t.of.value(f.i, k.path)
		binds, names = append(binds, []bound{{datum: v, from: f.row[k.path]}}), append(names, quoted(k.name)+" = ?")
	}
	i := slices.IndexFunc(t.values, func(v column) bool { return c.s.w.typeOf(t, v) == "counter" })
	text := fmt.Sprintf("UPDATE %s SET %s = %s + 1 WHERE %s", quoted(t.name), quoted(t.values[i].name), quoted(t.values[i].name), strings.Join(names, " AND "))
	st := c.s.prepared(text, t, nil, t.key(), nil, false)
	st.group = "count " + label
	c.s.writes[st.group]++
	c.t = c.s.say(c.t, st, binds, nil, 0) + pause
}

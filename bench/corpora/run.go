package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// statement is what the application says, with what is true of it.
type statement struct {
	trace       *trace.Statement
	text        string
	table       *table
	kind        string
	group       string // of a write: what it is a part of, "insert Bid"
	count       int
	sources     map[int]map[origin]float64         // by place of the variable: executions by where the value came from
	followed    map[int]map[origin]map[uint32]bool // by place of the variable and origin: answers whose values were bound
	joined      map[origin]bool                    // what texts that are bound were joined of
	runs        uint32                             // answers, of which each page is a part
	consumption map[*statement]float64             // executions fed by a statement
	list        bool                               // it returns several rows
	scan        bool                               // it reads the whole table, which is nothing conceptual
	roots       float64                            // executions fed by none
}

// origin is the answer's column in which a value was delivered; the zero origin: it came from outside.
type origin struct {
	st     *statement
	column int
	run    uint32 // which of its answers; 0 in statement.sources and followed, which are of all
}

// frame is an instance that a page knows, with where it knows its values from.
type frame struct {
	e   *entity
	i   int
	row map[string]origin
	up  *frame
}

// site is an application that runs over one of its designs.
type site struct {
	w          *world
	keyspace   string
	tables     []*table
	dao        bool // one statement for each table, SELECT *
	random     *rand.Rand
	statements map[string]*statement // by fingerprint
	texts      map[string]*statement
	out        []*trace.Execution
	batches    uint64
	writes     map[string]float64 // conceptual writes
	process    uint64             // what says the next statement
	troubles   troubles
	paged      map[string]uint64 // following pages, by fingerprint
	caches     map[string]map[int]int64
}

// say lets the application say a statement and returns when the answer is there.
func (s *site) say(t int64, st *statement, binds [][]bound, rows [][]*datum, batch uint64) int64 {
	if s.troubled(st) {
		t = s.trouble(t, st, binds, batch)
	}
	end := t + int64(math.Exp(s.random.NormFloat64()*0.4)*800_000) // 0.8 ms, log-normal
	e := &trace.Execution{Statement: st.trace, Start: t, End: end, Process: max(s.process, 1), Batch: batch, Last: true, Rows: -1}
	producers := map[*statement]bool{}
	for place, list := range binds {
		for _, b := range list {
			v := s.hash(b.datum)
			v.Index = uint16(place) // #nosec G115 -- few
			e.Binds = append(e.Binds, v)
			e.MadeBinds = append(e.MadeBinds, s.made(b.datum, len(e.Binds))...)
			st.comes(place, b.from)
			for _, part := range b.parts {
				part.run = 0
				st.joined[part] = true
			}
			if b.from.st != nil && !b.from.either() {
				producers[b.from.st] = true
			}
		}
	}
	if len(producers) == 0 || st.beyond(producers) {
		st.roots++
	}
	for p := range producers {
		st.consumption[p] += 1 / float64(len(producers))
	}
	st.count++
	if !st.trace.Write {
		e.Rows = len(rows)
		for r, row := range rows[:min(len(rows), value.MaxRows)] {
			for c, d := range row {
				v := value.Value{Null: true}
				if d != nil {
					v = s.hash(*d)
				}
				v.Index, v.Row = uint16(c), uint16(r) // #nosec G115 -- few
				e.Cells = append(e.Cells, v)
				if d != nil {
					e.MadeCells = append(e.MadeCells, s.made(*d, len(e.Cells))...)
				}
				for _, x := range d.elements() {
					v := s.hash(x)
					v.Index, v.Row = uint16(c), uint16(r) // #nosec G115 -- few
					e.Cells = append(e.Cells, v)
				}
			}
		}
	}
	e.Sequence = uint32(st.count) // #nosec G115 -- few
	s.out = append(s.out, e)
	return end
}

// comes notes where a value that is bound comes from.
func (st *statement) comes(place int, from origin) {
	run := from.run
	from.run = 0
	if st.sources[place] == nil {
		st.sources[place], st.followed[place] = map[origin]float64{}, map[origin]map[uint32]bool{}
	}
	if st.followed[place][from] == nil {
		st.followed[place][from] = map[uint32]bool{}
	}
	st.sources[place][from]++
	st.followed[place][from][run] = true
}

// answers numbers the next answer.
func (st *statement) answers() uint32 {
	st.runs++
	return st.runs
}

// either tells whether what was delivered is the key of one of several entities, which is no relationship.
func (o origin) either() bool {
	c := o.st.table.named(o.st.trace.Results[o.column].Name)
	if c == nil || o.st.table.of.edge(c.path) != nil {
		return false
	}
	a := o.st.table.of.attribute(c.path)
	return a != nil && len(a.of) > 0
}

// beyond tells whether the conceptual language can not say what a statement and its producers say together: the first rows of a list, and a list for each of these, or the
// first of one; and whether one of them reads counters, which are in no other table.
func (st *statement) beyond(producers map[*statement]bool) bool {
	for p := range producers {
		if (st.list || st.trace.Limited) && p.list && p.trace.Limited || st.table.counts() || p.table.counts() {
			return true
		}
	}
	return false
}

// prepared returns the statement of a text.
func (s *site) prepared(text string, t *table, results, where, sets []column, list bool) *statement {
	if st := s.texts[text]; st != nil {
		return st
	}
	fingerprint, normalised, parsed, err := cql.FingerprintText(text, s.keyspace)
	if err != nil {
		panic(fmt.Sprintf("corpora: %s: %v", text, err)) // a fault of this package
	}
	if st := s.statements[fingerprint.String()]; st != nil { // with another number in it, as of LIMIT
		s.texts[text] = st
		return st
	}
	st := &statement{
		text: normalised, table: t, kind: parsed.Kind().String(), sources: map[int]map[origin]float64{}, followed: map[int]map[origin]map[uint32]bool{}, consumption: map[*statement]float64{}, joined: map[origin]bool{},
		trace: &trace.Statement{Fingerprint: fingerprint.String(), Keyspace: s.keyspace, Table: t.name, Write: parsed.Kind() != cql.KindSelect, Limited: strings.Contains(text, " LIMIT ")},
	}
	for _, c := range sets {
		st.trace.Sets = append(st.trace.Sets, c.name)
	}
	for i, c := range append(slices.Clone(sets), where...) {
		v := s.describe(t, c)
		if list && i == len(sets)+len(where)-1 {
			v.Name, v.Type = "in("+c.name+")", proxy.Type{Code: proxy.TypeList, Elements: []proxy.Type{v.Type}}
		}
		st.trace.Variables = append(st.trace.Variables, v)
	}
	if parsed.Kind() != cql.KindInsert {
		for _, c := range where {
			st.trace.Key = append(st.trace.Key, c.name)
		}
	}
	for _, c := range results {
		st.trace.Results = append(st.trace.Results, s.describe(t, c))
	}
	s.statements[fingerprint.String()], s.texts[text] = st, st
	return st
}

// known finds the value of a column of instance i of an entity, and where a page knows it from.
func (f *frame) known(e *entity, i int, path string, fed map[string]origin) (bound, bool) {
	v, ok := e.value(i, path)
	if from, given := fed[path]; given {
		return bound{datum: v, from: from}, ok
	}
	r := e.edge(path)
	for at := f; at != nil && ok; at = at.up {
		if r != nil && at.e == r.to && at.i == r.target[i] {
			return bound{datum: v, from: at.row[at.e.key[0]]}, true
		}
		if r != nil && r.to.edge(path) == nil && at.e.edge(path) != nil && at.e.edge(path).to == r.to && at.e.edge(path).target[at.i] == r.target[i] {
			if from, has := at.row[path]; has {
				return bound{datum: v, from: from}, true
			}
		}
	}
	return bound{datum: v}, false
}

// choice is a table to read from, by which columns.
type choice struct {
	t     *table
	where []column
	lacks bool // it has not all that is wanted
}

// choose finds the table for a read of instance i, or of those like it, by what is known: the first that has all that is wanted.
func (s *site) choose(f *frame, e *entity, i int, fed map[string]origin, wanted []string, single bool) choice {
	var second *choice
	for _, t := range s.tables {
		if t.of != e || t.share != 0 && single {
			continue
		}
		var c choice
		c.t = t
		whole, fedToo := true, 0
		for _, p := range t.partition {
			if _, ok := f.known(e, i, p.path, fed); !ok {
				whole = false
				break
			}
			c.where = append(c.where, p)
		}
		if whole {
			for _, p := range t.clustering {
				if _, given := fed[p.path]; !given && !single {
					break
				}
				if _, ok := f.known(e, i, p.path, fed); !ok {
					break
				}
				c.where = append(c.where, p)
			}
		}
		for _, w := range c.where {
			if _, given := fed[w.path]; given {
				fedToo++
			}
		}
		if !whole || fedToo < len(fed) {
			c.where = nil
			for path := range fed {
				if x := t.column(path); x != nil && t.index == x.name && len(fed) == 1 {
					c.where = []column{*x}
				}
			}
			if c.where == nil {
				continue
			}
		}
		if single && len(c.where) < len(t.key()) && t.index == "" && !slices.ContainsFunc(c.where, func(x column) bool { return e.attribute(x.path) != nil }) {
			continue // several rows
		}
		all := true
		for _, p := range wanted {
			all = all && t.column(p) != nil
		}
		if all {
			return c
		}
		if c.lacks = true; second == nil {
			second = &c
		}
	}
	if second == nil {
		panic(fmt.Sprintf("corpora: no table of %s is read by %v", e.name, fed)) // a mistake in a corpus
	}
	return *second
}

// read reads rows and returns a frame for each.
func (s *site) read(t int64, f *frame, st step, e *entity, rows []int, fed map[string]origin, single bool) ([]*frame, *table, int64) {
	var wanted []string
	for _, next := range st.steps {
		if next.kind == followOne {
			wanted = append(wanted, next.name)
		}
	}
	wanted = append(wanted, st.cols...)
	c := s.choose(f, e, rows[0], fed, wanted, single)
	var selected []column
	for _, col := range c.t.columns() {
		isWhere := slices.ContainsFunc(c.where, func(w column) bool { return w.path == col.path })
		picked := len(st.cols) == 0 && e.edge(col.path) == nil || slices.Contains(wanted, col.path) || slices.Contains(e.key, col.path)
		if s.dao || picked && !isWhere || strings.Contains(col.path, ".") {
			selected = append(selected, col)
		}
	}
	if len(selected) == 0 {
		selected = c.t.columns()
	}
	var names, conditions []string
	for _, col := range selected {
		names = append(names, quoted(col.name))
	}
	for _, w := range c.where {
		conditions = append(conditions, quoted(w.name)+" = ?")
	}
	what := strings.Join(names, ", ")
	if s.dao {
		what = "*"
	}
	text := fmt.Sprintf("SELECT %s FROM %s WHERE %s", what, quoted(c.t.name), strings.Join(conditions, " AND "))
	if st.limit > 0 && !s.dao {
		text += fmt.Sprintf(" LIMIT %d", st.limit)
	}
	q := s.prepared(text, c.t, selected, c.where, nil, false)
	q.list = q.list || !single
	run := q.answers()
	binds := make([][]bound, len(c.where))
	known := map[string]origin{}
	for i, w := range c.where {
		b, _ := f.known(e, rows[0], w.path, fed)
		binds[i] = []bound{b}
		known[w.path] = b.from
	}
	var out []*frame
	var cells [][]*datum
	for _, i := range rows {
		same := c.t.holds(i)
		for k, w := range c.where {
			v, ok := e.value(i, w.path)
			same = same && ok && v == binds[k][0].datum
		}
		if !same || st.limit > 0 && len(out) >= st.limit {
			continue
		}
		row := map[string]origin{}
		for path, from := range fed {
			row[path] = from
		}
		line := make([]*datum, len(selected))
		for k, col := range selected {
			if v, ok := e.value(i, col.path); ok {
				line[k] = &v
			}
			if from, isBound := known[col.path]; isBound {
				row[col.path] = from
			} else if _, before := row[col.path]; !before {
				row[col.path] = origin{q, k, run}
			}
		}
		for path, from := range known {
			row[path] = from
		}
		out, cells = append(out, &frame{e, i, row, f}), append(cells, line)
	}
	end := s.say(t, q, binds, cells, 0)
	if !c.lacks || single && st.by == "" || len(e.key) != 1 || e.edge(e.key[0]) != nil {
		return out, c.t, end
	}
	over, key := c.t, step{kind: readOne, cols: st.cols, steps: st.steps}
	for i, f := range out { // the table has the keys only: what is wanted is read by these, one by one
		var whole []*frame
		if whole, over, end = s.read(end+pause, f.up, key, e, []int{f.i}, map[string]origin{e.key[0]: f.row[e.key[0]]}, true); len(whole) == 1 {
			out[i] = whole[0]
		}
	}
	return out, over, end
}

// readList reads the partners of several frames in one statement, by IN.
func (s *site) readList(t int64, frames []*frame, r *relation, st step) int64 {
	c := s.choose(frames[0], r.to, r.target[frames[0].i], map[string]origin{r.to.key[0]: {}}, st.cols, true)
	var names []string
	selected := []column{*c.t.column(r.to.key[0])}
	for _, col := range c.t.columns() {
		if r.to.edge(col.path) == nil && col.path != r.to.key[0] {
			selected = append(selected, col)
		}
	}
	for _, col := range selected {
		names = append(names, quoted(col.name))
	}
	q := s.prepared(fmt.Sprintf("SELECT %s FROM %s WHERE %s IN ?", strings.Join(names, ", "), quoted(c.t.name), quoted(selected[0].name)), c.t, selected, selected[:1], nil, true)
	var binds []bound
	var cells [][]*datum
	seen := map[int]bool{}
	for _, f := range frames {
		i := r.target[f.i]
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		v, _ := r.to.value(i, r.to.key[0])
		binds = append(binds, bound{datum: v, from: f.row[r.name]})
		line := make([]*datum, len(selected))
		for k, col := range selected {
			if v, ok := r.to.value(i, col.path); ok {
				line[k] = &v
			}
		}
		cells = append(cells, line)
	}
	if len(binds) == 0 {
		return t
	}
	return s.say(t, q, [][]bound{binds}, cells, 0)
}

// pause is between an answer and the next request.
const pause = 100_000

// do does a step for a frame, and what follows for each row. It returns when all is done.
func (s *site) do(t int64, f *frame, over *table, st step) int64 {
	if st.share > 0 && s.random.Float64() > st.share {
		return t
	}
	switch st.kind {
	case readOne:
		e := s.w.entity(st.name)
		i := zipf(s.random, e.count, 0.7)
		fed := map[string]origin{}
		for _, k := range e.key {
			fed[k] = origin{}
		}
		if st.by != "" {
			fed = map[string]origin{st.by: {}}
		}
		rows := []int{i}
		if r := e.edge(st.by); r != nil { // a list by a partner from outside
			rows = r.inverse[max(r.target[i], 0)]
		}
		frames, table, end := s.read(t, f, st, e, rows[:min(len(rows), most)], fed, st.by == "")
		return s.each(end+pause, frames, table, st)
	case followOne:
		r := f.e.edge(st.name)
		if r.target[f.i] < 0 || embedded(over, r, st) {
			return t
		}
		frames, table, end := s.read(t, f, st, r.to, []int{r.target[f.i]}, map[string]origin{r.to.key[0]: f.row[r.name]}, true)
		return s.each(end+pause, frames, table, st)
	case listMany:
		r := s.w.backwards(f.e, st.name)
		rows := r.inverse[f.i]
		if len(rows) == 0 {
			return t
		}
		frames, table, end := s.read(t, f, st, r.of, rows[:min(len(rows), most)], map[string]origin{r.name: f.row[f.e.key[0]]}, false)
		return s.each(end+pause, frames, table, st)
	}
	return s.write(t, f, st)
}

// most is how many rows a list has.
const most = 25

// embedded tells whether what a step would read is in the table that was read before.
func embedded(over *table, r *relation, st step) bool {
	if over == nil || len(st.steps) > 0 || len(st.cols) == 0 {
		return false
	}
	for _, a := range st.cols {
		if over.column(r.name+"."+a) == nil {
			return false
		}
	}
	return true
}

// each does the further steps of a step for each of its rows.
func (s *site) each(t int64, frames []*frame, over *table, st step) int64 {
	for _, next := range st.steps {
		rows := frames
		if next.first > 0 {
			rows = rows[:min(len(rows), next.first)]
		}
		if len(rows) == 0 {
			continue
		}
		if next.kind == followOne && next.mode == inList && !s.dao {
			if r := rows[0].e.edge(next.name); !embedded(over, r, next) {
				t = s.readList(t, rows, r, next) + pause
			}
			continue
		}
		end := t
		for k, f := range rows {
			if next.mode == atOnce {
				end = max(end, s.do(t+int64(k)*10_000, f, over, next))
				continue
			}
			t = s.do(t, f, over, next)
			end = t
		}
		t = end
	}
	return t
}

// chore is something that is done again and again, with its share of all.
type chore struct {
	weight  float64
	process uint64
	does    func(t int64) int64 // and returns when it is done
}

// chores are what an application's pages do.
func (s *site) chores(pages []page) (out []chore) {
	for _, p := range pages {
		out = append(out, chore{p.weight, 1, func(t int64) int64 {
			for _, st := range p.does {
				t = s.do(t, nil, nil, st)
			}
			return t
		}})
	}
	return out
}

// run simulates threads until so many statements have been said, and brings them into the order of their ends.
func (s *site) run(chores []chore, threads, statements int, think time.Duration) {
	sum := 0.0
	for _, p := range chores {
		sum += p.weight
	}
	at := make([]int64, threads)
	for i := range at {
		at[i] = int64(s.random.Float64()*float64(think)) + 1_000_000
	}
	for len(s.out) < statements {
		next := 0
		for i := range at {
			if at[i] < at[next] {
				next = i
			}
		}
		x := s.random.Float64() * sum
		for _, p := range chores {
			if x -= p.weight; x <= 0 {
				s.process = p.process
				at[next] = p.does(at[next]) + int64(s.random.ExpFloat64()*float64(think)) + 1
				break
			}
		}
	}
	sort.SliceStable(s.out, func(i, j int) bool { return s.out[i].End < s.out[j].End })
}

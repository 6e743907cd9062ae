package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// What a write must do to tables, by definition: it changes the data, and each table is what store makes of that. Against it
// stands what package plan says: support queries before, then deletes and puts.

// given is a write with the values of its parameters.
type given struct {
	*workload.Write
	values map[string][]string
}

func (g *given) value(text, name string, nth int) string {
	if text == "?" {
		text = name
	}
	list := g.values[text]
	return list[min(nth, len(list)-1)]
}

// clone copies data, so that a write can be tried.
func (w *world) clone() *world {
	c := &world{rows: map[*model.Entity][]map[*model.Attribute]string{}, links: map[*model.Relationship][][2]int{}}
	for e, rows := range w.rows {
		for _, r := range rows {
			c.rows[e] = append(c.rows[e], maps.Clone(r))
		}
	}
	for r, pairs := range w.links {
		c.links[r] = slices.Clone(pairs)
	}
	return c
}

// find returns the number of the entity with a key, -1 if there is none.
func (w *world) find(e *model.Entity, key func(*model.Attribute) string) int {
	return slices.IndexFunc(w.rows[e.Base()], func(row map[*model.Attribute]string) bool {
		return !slices.ContainsFunc(e.Key, func(k *model.Attribute) bool { return row[k] != key(k) })
	})
}

// spoken returns the entities that an update or delete speaks of.
func (w *world) spoken(g *given) []int {
	a := &asked{Query: &workload.Query{Where: g.Where}, values: g.values}
	var list []int
rows:
	for _, r := range w.join(g.Tree) {
		for _, p := range g.Where {
			if !a.satisfies(p, w.value(r, p.Field)) {
				continue rows
			}
		}
		if n := r[g.Entity]; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// apply changes the data as the statement says.
func (w *world) apply(g *given) {
	e := g.Entity.Base()
	connection := func(n int) int {
		c := g.Connections[n]
		nth := 0
		for _, before := range g.Connections[:n] {
			if before.Edge.Role(g.Entity) == c.Edge.Role(g.Entity) {
				nth++
			}
		}
		return w.find(c.Entity, func(k *model.Attribute) string {
			return g.value("?", workload.ConnectionName(g.Write, n, k), nth)
		})
	}
	pair := func(self, n int) (*model.Relationship, [2]int) {
		c := g.Connections[n]
		if c.Edge.From == g.Entity {
			return c.Edge.Base(), [2]int{self, connection(n)}
		}
		return c.Edge.Base(), [2]int{connection(n), self}
	}
	self := func() int {
		return w.find(e, func(k *model.Attribute) string {
			return g.value("?", workload.KeyName(model.Field{Entity: g.Entity, Attribute: k}), 0)
		})
	}
	switch g.Kind {
	case workload.Insert:
		row := map[*model.Attribute]string{}
		for _, a := range e.Attributes {
			row[a] = null
		}
		for _, f := range g.Set {
			row[f.Attribute] = g.value("?", workload.SetName(f), 0)
		}
		links := map[*model.Relationship][][2]int{}
		for i := range g.Connections {
			r, p := pair(len(w.rows[e]), i)
			links[r] = append(links[r], p)
		}
		w.rows[e] = append(w.rows[e], row)
		for r, list := range links {
			w.links[r] = append(w.links[r], list...)
		}
	case workload.Update:
		for _, n := range w.spoken(g) {
			row := w.rows[e][n]
			for _, f := range g.Set {
				row[f.Attribute] = g.value("?", workload.SetName(f), 0)
			}
			for _, f := range g.Increments {
				row[f.Attribute] = plus(row[f.Attribute], g.value("?", workload.AddName(f), 0))
			}
		}
	case workload.Delete:
		w.remove(e, w.spoken(g))
	case workload.Connect:
		r, p := pair(self(), 0)
		w.relate(r, p)
	case workload.Disconnect:
		r, p := pair(self(), 0)
		w.links[r] = slices.DeleteFunc(w.links[r], func(x [2]int) bool { return x == p })
	}
}

// relate makes a pair of two entities; one that may have one partner leaves the one that it has.
func (w *world) relate(r *model.Relationship, pair [2]int) {
	one := [2]bool{r.Kind == model.OneToOne || r.Kind == model.ManyToOne, r.Kind == model.OneToOne || r.Kind == model.OneToMany}
	kept := slices.DeleteFunc(slices.Clone(w.links[r]), func(x [2]int) bool {
		return x == pair || one[0] && x[0] == pair[0] || one[1] && x[1] == pair[1]
	})
	w.links[r] = append(kept, pair)
}

// plus adds to a value; nothing stays nothing.
func plus(v, n string) string {
	if v == null {
		return null
	}
	a, _ := strconv.Atoi(v)
	b, _ := strconv.Atoi(n)
	return strconv.Itoa(a + b)
}

// remove takes entities away, and what they are related by.
func (w *world) remove(e *model.Entity, gone []int) {
	number := make([]int, len(w.rows[e]))
	var rows []map[*model.Attribute]string
	for i, row := range w.rows[e] {
		number[i] = -1
		if !slices.Contains(gone, i) {
			number[i] = len(rows)
			rows = append(rows, row)
		}
	}
	w.rows[e] = rows
	for r, pairs := range w.links {
		var kept [][2]int
		for _, p := range pairs {
			if r.From == e {
				p[0] = number[p[0]]
			}
			if r.To == e {
				p[1] = number[p[1]]
			}
			if p[0] >= 0 && p[1] >= 0 {
				kept = append(kept, p)
			}
		}
		w.links[r] = kept
	}
}

// lawful reports whether the data keep what the model promises: keys tell apart, no value is missing that may not, each
// relationship is of its kind.
func (w *world) lawful(g *model.Graph) bool {
	for _, e := range g.Entities {
		if len(w.rows[e]) == 0 {
			return false
		}
		for _, key := range append([][]*model.Attribute{e.Key}, e.Alternate...) {
			seen := map[string]bool{}
			for _, row := range w.rows[e] {
				text := ""
				for _, a := range key {
					text += row[a] + "|"
				}
				if seen[text] {
					return false
				}
				seen[text] = true
			}
		}
		for _, row := range w.rows[e] {
			for _, a := range e.Attributes {
				if row[a] == null && a.Null == 0 {
					return false
				}
			}
		}
	}
	for _, r := range g.Relationships {
		seen := map[[2]int]bool{}
		ends := [2]map[int]int{{}, {}}
		for _, p := range w.links[r] {
			if seen[p] {
				return false
			}
			seen[p] = true
			ends[0][p[0]]++
			ends[1][p[1]]++
		}
		one := func(e *model.Entity, toOne, must bool, n map[int]int) bool {
			for i := range w.rows[e] {
				if toOne && n[i] > 1 || must && n[i] != 1 {
					return false
				}
			}
			return true
		}
		forward := r.Kind == model.OneToOne || r.Kind == model.ManyToOne
		backward := r.Kind == model.OneToOne || r.Kind == model.OneToMany
		equal := r.Kind == model.OneToOne && r.From.Count == r.To.Count
		if !one(r.From, forward, forward && !r.Optional, ends[0]) || !one(r.To, backward, backward && !r.Optional && (r.Kind != model.OneToOne || equal), ends[1]) {
			return false
		}
	}
	return true
}

// kept is a table that is maintained: its rows by primary key.
type kept map[string]map[model.Field]string

// place is where a row stands; false: a column of its key has no value.
func place(t *model.Table, row map[model.Field]string) (string, bool) {
	var values []string
	for _, f := range t.Key() {
		if row[f] == null {
			return "", false
		}
		values = append(values, row[f])
	}
	if b := t.Bucket; b != nil && !b.Of.IsZero() {
		values = append(values, strconv.Itoa(bucket(b, row[b.Of])))
	}
	return strings.Join(values, "|"), true
}

// whole is the table as it must be.
func (w *world) whole(t *model.Table) kept {
	k := kept{}
	for _, r := range w.join(t.Tree) {
		row := map[model.Field]string{}
		of := t.Fields()
		if t.Bucket != nil && !t.Bucket.Of.IsZero() {
			of = model.AppendNew(of, t.Bucket.Of)
		}
		for _, f := range of {
			row[f] = w.value(r, f)
		}
		if at, ok := place(t, row); ok {
			if k[at] != nil {
				panic("two rows with one key")
			}
			if t.Bucket != nil && !t.Has(t.Bucket.Of) {
				delete(row, t.Bucket.Of)
			}
			k[at] = row
		}
	}
	return k
}

// keeper applies writes to tables by what package plan says.
type keeper struct {
	*testing.T
	m       *maker
	tables  []*model.Table
	data    map[*model.Table]kept
	stored  map[*model.Table]*stored
	answers map[string][]map[model.Field]string // of support queries, of the write at hand
	ran     []string                            // plans of the write at hand
}

// query answers a support query by a plan that is drawn.
func (k *keeper) query(g *given, q *workload.Query, known map[model.Field]string) []map[model.Field]string {
	id := fmt.Sprint(q.Key(), known)
	if rows, ok := k.answers[id]; ok {
		return rows
	}
	a := &asked{Query: &workload.Query{}, values: maps.Clone(g.values), known: known}
	*a.Query = *q
	if len(known) > 0 {
		a.Where = slices.Clone(q.Where)
		for i := range a.Where {
			a.Where[i].Value = fmt.Sprintf("?k%d", i)
			a.values[a.Where[i].Value] = []string{known[a.Where[i].Field]}
		}
	}
	s, err := plan.NewSpace(a.Query, k.tables, nil)
	if err != nil {
		k.Fatal(err)
	}
	plans := s.Plans(30)
	if len(plans) == 0 {
		k.Fatalf("no plan for %s", q)
	}
	p := pick(k.m, plans)
	k.ran = append(k.ran, fmt.Sprintf("for %v: %s", known, p))
	run := &machine{world: k.m.world, asked: a, tables: k.stored, ran: map[string]int{}}
	if _, err := run.run(p); err != nil {
		k.Fatalf("%v\nsupport query %s\n%s\n%s", err, q, p, tablesOf(p))
	}
	rows := []map[model.Field]string{}
	for _, h := range run.hands {
		row := map[model.Field]string{}
		for _, f := range q.Select {
			row[f] = run.has(h, f, "the answer")
		}
		rows = append(rows, row)
	}
	k.answers[id] = rows
	return rows
}

// rows returns the rows of a change: what is known of each.
func (k *keeper) rows(g *given, c *plan.Change) []map[model.Field]string {
	starts := []map[model.Field]string{{}}
	if find := plan.Find(g.Write); find != nil {
		starts = nil
		seen := map[string]bool{}
		for _, row := range k.query(g, find, nil) {
			start := map[model.Field]string{}
			for f, v := range row {
				start[model.Field{Entity: c.Named[0].Entity, Attribute: f.Attribute}] = v
			}
			if id := fmt.Sprint(start); !seen[id] {
				seen[id] = true
				starts = append(starts, start)
			}
		}
	}
	var rows []map[model.Field]string
starts:
	for _, start := range starts {
		for _, known := range c.Known {
			v := null
			if known.Value != "" {
				v = g.value(known.Value, known.Name, known.Nth)
			}
			if old, met := start[known.Field]; known.Value == "" && met {
				continue
			} else if met && old != v {
				continue starts
			}
			start[known.Field] = v
		}
		found := []map[model.Field]string{start}
		for _, q := range c.Parts {
			by := map[model.Field]string{}
			for _, f := range q.Known {
				by[f] = start[f]
			}
			for _, p := range q.Where {
				by[p.Field] = start[p.Field]
			}
			var more []map[model.Field]string
			for _, answer := range k.query(g, q, by) {
				for _, row := range found {
					both := maps.Clone(row)
					maps.Copy(both, answer)
					more = append(more, both)
				}
			}
			found = more
		}
		rows = append(rows, found...)
	}
	return rows
}

// write applies a write to all tables.
func (k *keeper) write(g *given) {
	k.answers, k.ran = map[string][]map[model.Field]string{}, nil
	type put struct {
		t       *model.Table
		at      string
		columns map[model.Field]string
		whole   bool
	}
	var puts []put
	var gone []put
	for _, t := range k.tables {
		changes := plan.Changes(g.Write, t)
		steps := plan.WriteSteps(g.Write, t)
		deletes := slices.ContainsFunc(steps, func(s plan.Step) bool { return s.Kind == plan.Remove })
		fields := []model.Field(nil)
		for _, s := range steps {
			if s.Kind == plan.Put {
				fields = s.Fields
			}
		}
		changed := map[*model.Entity][]string{} // keys of updated entities
		rows := make([][]map[model.Field]string, len(changes))
		for i := range changes {
			rows[i] = k.rows(g, &changes[i])
			for _, row := range rows[i] {
				e := changes[i].Named[0].Entity
				changed[e.Base()] = append(changed[e.Base()], keyText(row, e))
			}
		}
		for i := range changes {
		rows:
			for _, row := range rows[i] {
				for _, not := range changes[i].Not {
					for _, n := range changes[i].Named {
						if n.By == not.By && keyText(row, n.Entity) == keyText(row, not.Entity) {
							continue rows
						}
					}
				}
				if changes[i].Gone != nil || deletes && g.Kind != workload.Connect {
					if at, ok := place(t, row); ok {
						gone = append(gone, put{t: t, at: at})
					}
				}
				if fields == nil || changes[i].Gone != nil {
					continue
				}
				row = maps.Clone(row)
				if g.Kind == workload.Update {
					at := []*model.Entity{changes[i].Named[0].Entity}
					if deletes {
						at = nil
						for _, e := range t.Tree.Entities {
							if e.Base() == g.Entity.Base() && slices.Contains(changed[e.Base()], keyText(row, e)) {
								at = append(at, e)
							}
						}
					}
					for _, e := range at {
						for _, f := range g.Set {
							row[model.Field{Entity: e, Attribute: f.Attribute}] = g.value("?", workload.SetName(f), 0)
						}
						for _, f := range g.Increments {
							own := model.Field{Entity: e, Attribute: f.Attribute}
							if _, has := row[own]; has {
								row[own] = plus(row[own], g.value("?", workload.AddName(f), 0))
							}
						}
					}
				}
				at, ok := place(t, row)
				if !ok {
					continue
				}
				columns := map[model.Field]string{}
				for _, f := range fields {
					if g.Kind == workload.Update && !deletes && !t.InKey(f) && f.Entity != changes[i].Named[0].Entity {
						continue // what another change writes
					}
					if v, has := row[f]; has {
						columns[f] = v
					} else if g.Kind != workload.Update || deletes {
						k.Fatalf("%s: the value of %s is not known for %s", g, f, t)
					}
				}
				puts = append(puts, put{t, at, columns, g.Kind != workload.Update || deletes})
			}
		}
	}
	for _, p := range gone {
		delete(k.data[p.t], p.at)
	}
	for _, p := range puts {
		if old := k.data[p.t][p.at]; old != nil && !p.whole {
			maps.Copy(old, p.columns)
		} else {
			k.data[p.t][p.at] = p.columns
		}
	}
	k.arrange()
}

func keyText(row map[model.Field]string, e *model.Entity) string {
	text := ""
	for _, f := range e.KeyFields() {
		v, ok := row[f]
		if !ok {
			v = "?"
		}
		text += v + "|"
	}
	return text
}

// arrange makes what the machine reads from what is kept.
func (k *keeper) arrange() {
	for t, rows := range k.data {
		s := &stored{partitions: map[string][]map[model.Field]string{}}
		for _, at := range slices.Sorted(maps.Keys(rows)) {
			row := rows[at]
			var values []string
			for _, f := range t.Partition {
				values = append(values, row[f])
			}
			if t.Bucket != nil {
				n := "0"
				if !t.Bucket.Of.IsZero() {
					n = at[strings.LastIndex(at, "|")+1:]
				}
				values = append(values, n)
			}
			s.partitions[partitionKey(values)] = append(s.partitions[partitionKey(values)], row)
		}
		s.sort(t)
		k.stored[t] = s
	}
}

// wrong says how a table differs from what it must be.
func (k *keeper) wrong(t *model.Table) string {
	want := k.m.world.whole(t)
	var lines []string
	for at, row := range want {
		if !maps.Equal(row, k.data[t][at]) {
			lines = append(lines, fmt.Sprintf("  %s: is %v, must be %v", at, k.data[t][at], row))
		}
	}
	for at, row := range k.data[t] {
		if want[at] == nil {
			lines = append(lines, fmt.Sprintf("  %s: is %v, must not be", at, row))
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// prune takes fields out of a table's key that it does not need, and others.
func (m *maker) prune(t *model.Table) *model.Table {
	for _, f := range some(m, t.Clustering, 0.6) {
		less := *t
		drop := func(list []model.Field) []model.Field {
			return slices.DeleteFunc(slices.Clone(list), func(x model.Field) bool { return x == f })
		}
		less.Clustering, less.Desc = drop(t.Clustering), drop(t.Desc)
		if slices.ContainsFunc(t.Indexes, func(i model.Index) bool { return i.Field == f }) || less.Validate() != nil {
			continue
		}
		*t = less
	}
	return t
}

// plain are tables by which everything can be found: of each entity by its key, and each relationship both ways.
func (m *maker) plain() []*model.Table {
	var list []*model.Table
	for _, e := range m.graph.Entities {
		t := &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Partition: e.KeyFields(), ScanAllowed: true}
		for _, a := range e.Attributes {
			if f := (model.Field{Entity: e, Attribute: a}); !f.IsKey() {
				t.Values = append(t.Values, f)
			}
		}
		list = append(list, t)
	}
	for _, r := range m.graph.Relationships {
		from, to := r.From, r.To
		if from == to {
			to = m.graph.Occurrence(to, 2)
		}
		edge := m.graph.Between(r, from, to)
		for _, ends := range [][2]*model.Entity{{from, to}, {to, from}} {
			list = append(list, &model.Table{Tree: model.Tree{Entities: []*model.Entity{ends[0], ends[1]}, Edges: []*model.Relationship{edge}},
				Partition: ends[0].KeyFields(), Clustering: ends[1].KeyFields(), ScanAllowed: true})
		}
	}
	return list
}

// change draws a write that keeps the data lawful, nil if none was found.
func (m *maker) change() *given {
	for range 40 {
		g := &given{Write: &workload.Write{}, values: map[string][]string{}}
		m.draw(g)
		after := m.world.clone()
		if !m.sound(g) {
			continue
		}
		after.apply(g)
		if after.lawful(m.graph) {
			return g
		}
	}
	return nil
}

// sound reports whether what a statement takes for true is true: an entity that it names by its key is there, and is what it
// says.
func (m *maker) sound(g *given) bool {
	if (g.Kind == workload.Update || g.Kind == workload.Delete) && plan.Find(g.Write) == nil {
		return len(m.world.spoken(g)) == 1
	}
	return g.Kind == workload.Insert || len(g.Connections) == 1
}

func (m *maker) draw(g *given) {
	e := pick(m, m.graph.Entities)
	g.Entity, g.Tree = e, model.Tree{Entities: []*model.Entity{e}}
	value := func(a *model.Attribute) string {
		if m.chance(a.Null) {
			return null
		}
		if slices.Contains(e.Key, a) || len(e.Alternate) > 0 && e.Alternate[0][0] == a {
			return strconv.Itoa(m.IntN(9))
		}
		v := strconv.Itoa(m.IntN(3))
		if m.chance(0.3) {
			v += strconv.Itoa(m.IntN(2))
		}
		return v
	}
	switch m.IntN(6) {
	case 0, 1:
		g.Kind = workload.Insert
		for _, a := range e.Attributes {
			if slices.Contains(e.Key, a) || a.Null == 0 || m.chance(0.7) {
				g.set(model.Field{Entity: e, Attribute: a}, value(a))
			}
		}
		m.connections(g)
	case 2, 3:
		g.Kind = workload.Update
		m.conditions(g)
		e = g.Entity.Base()
		for _, a := range e.Attributes {
			f := model.Field{Entity: g.Entity, Attribute: a}
			switch key := slices.Contains(e.Key, a); {
			case key && m.chance(0.05), !key && m.chance(0.4):
				g.set(f, value(a))
			case !key && a.Type == "int" && m.chance(0.3):
				g.Increments = append(g.Increments, f)
				g.values[workload.AddName(f)] = []string{strconv.Itoa(1 + m.IntN(2))}
			}
		}
	case 4:
		g.Kind = workload.Delete
		m.conditions(g)
	case 5:
		if len(m.graph.Relationships) == 0 {
			return
		}
		r := pick(m, m.graph.Relationships)
		g.Kind = pick(m, []workload.WriteKind{workload.Connect, workload.Disconnect})
		forward := m.chance(0.5)
		p := [2]int{m.IntN(len(m.world.rows[r.From])), m.IntN(len(m.world.rows[r.To]))}
		if links := m.world.links[r]; g.Kind == workload.Disconnect {
			if len(links) == 0 {
				return
			}
			p = pick(m, links)
		}
		g.Entity = r.From
		if !forward {
			g.Entity, p[0], p[1] = r.To, p[1], p[0]
		}
		g.Tree = model.Tree{Entities: []*model.Entity{g.Entity}}
		for _, f := range g.Entity.KeyFields() {
			g.values[workload.KeyName(f)] = []string{m.world.rows[g.Entity][p[0]][f.Attribute]}
		}
		m.connect(g, r, forward, p[1])
	}
	m.given(g)
}

func (g *given) set(f model.Field, v string) {
	g.Set = append(g.Set, f)
	g.values[workload.SetName(f)] = []string{v}
}

// connect adds a connection to an entity.
func (m *maker) connect(g *given, r *model.Relationship, forward bool, to int) {
	other := r.To
	if !forward {
		other = r.From
	}
	for nth := 2; other == g.Entity || slices.ContainsFunc(g.Connections, func(c workload.Connection) bool { return c.Entity == other && other.Of != nil }); nth++ {
		other = m.graph.Occurrence(other, nth)
	}
	edge := m.graph.Between(r, g.Entity, other)
	if !forward {
		edge = m.graph.Between(r, other, g.Entity)
	}
	g.Connections = append(g.Connections, workload.Connection{Edge: edge, Entity: other})
	for _, k := range other.Key {
		name := workload.ConnectionName(g.Write, len(g.Connections)-1, k)
		g.values[name] = append(g.values[name], m.world.rows[other.Base()][to][k])
	}
}

// connections draws what a new entity is connected to.
func (m *maker) connections(g *given) {
	for _, r := range m.graph.Relationships {
		for _, forward := range []bool{true, false} {
			end, other := r.From, r.To
			toOne, must := r.Kind == model.OneToOne || r.Kind == model.ManyToOne, !r.Optional
			if !forward {
				end, other = other, end
				toOne = r.Kind == model.OneToOne || r.Kind == model.OneToMany
			}
			if end != g.Entity {
				continue
			}
			n := m.IntN(3)
			if toOne {
				n = m.IntN(2)
				if must {
					n = 1
				}
			}
			for _, to := range m.Perm(len(m.world.rows[other]))[:min(n, len(m.world.rows[other]))] {
				m.connect(g, r, forward, to)
			}
		}
	}
}

// conditions draws what an update or delete speaks of.
func (m *maker) conditions(g *given) {
	q := m.query()
	for len(q.Tree.Entities) > 3 {
		q = m.query()
	}
	g.Entity, g.Tree = pick(m, q.Tree.Entities), q.Tree
	if m.chance(0.5) {
		g.Where = q.Where
		g.values = q.values
		return
	}
	rows := m.world.join(g.Tree)
	if len(rows) == 0 {
		g.Tree = model.Tree{Entities: []*model.Entity{g.Entity}}
		rows = m.world.join(g.Tree)
	}
	r := pick(m, rows)
	equal := func(f model.Field) {
		p := workload.Predicate{Field: f, Op: workload.Equal, Value: fmt.Sprintf("?p%d", len(g.Where))}
		g.values[p.Value] = []string{m.world.value(r, f)}
		g.Where = append(g.Where, p)
	}
	for _, f := range g.Entity.KeyFields() {
		equal(f)
	}
	for _, f := range some(m, fieldsIn(g.Tree), 0.15) {
		if m.world.value(r, f) != null && !slices.ContainsFunc(g.Where, func(p workload.Predicate) bool { return p.Field == f }) {
			equal(f)
		}
	}
}

// given draws what else the application knows: of the entity that the statement names, and of those that it connects it to.
func (m *maker) given(g *given) {
	if m.chance(0.6) {
		return
	}
	know := func(e *model.Entity, row int) {
		for _, f := range some(m, fieldsIn(model.Tree{Entities: []*model.Entity{e}}), 0.4) {
			if v := m.world.rows[e.Base()][row][f.Attribute]; v != null && !f.IsKey() {
				g.Given = model.AppendNew(g.Given, f)
				g.values[workload.GivenName(f)] = []string{v}
			}
		}
	}
	switch g.Kind {
	case workload.Update, workload.Delete:
		if spoken := m.world.spoken(g); plan.Find(g.Write) == nil && len(spoken) == 1 {
			know(g.Entity, spoken[0])
		}
	case workload.Connect, workload.Disconnect:
		if len(g.Connections) == 1 {
			know(g.Entity, m.world.find(g.Entity, func(k *model.Attribute) string {
				return g.values[workload.KeyName(model.Field{Entity: g.Entity, Attribute: k})][0]
			}))
		}
	}
}

// TestTablesStayTrue runs random writes: after each of them all tables are what they are when they are made anew from the
// data. N-37 to N-40: support queries and steps suffice.
func TestTablesStayTrue(t *testing.T) {
	met := map[string]int{}
	writes := 0
	for seed := range worlds(t, 12) {
		m := newMaker(seed)
		m.Rand = rand.New(rand.NewPCG(seed, 7))
		if !m.world.lawful(m.graph) {
			continue
		}
		k := &keeper{T: t, m: m, tables: m.plain(), data: map[*model.Table]kept{}, stored: map[*model.Table]*stored{}}
		for range 3 {
			q := m.query()
			for range 3 {
				x := m.prune(m.table(q)).Plain() // TestWritesToCollections has the others
				if len(m.world.join(x.Tree)) < 400 {
					k.tables = append(k.tables, x)
				}
			}
		}
		for _, x := range k.tables {
			k.data[x] = m.world.whole(x)
		}
		k.arrange()
		for range 12 {
			g := m.change()
			if g == nil {
				continue
			}
			writes++
			before := maps.Clone(k.data)
			for x := range before {
				before[x] = maps.Clone(before[x])
				for at, row := range before[x] {
					before[x][at] = maps.Clone(row)
				}
			}
			k.write(g)
			m.world.apply(g)
			for _, x := range k.tables {
				if wrong := k.wrong(x); wrong != "" {
					t.Fatalf("seed %d: %s\nwith %q\nleaves %s bucket %v static %v over %s\n%s\nbefore %v\n%s", seed, g, g.values, x, x.Bucket, x.Static, x.Tree.Path(), wrong, before[x], changesOf(g.Write, x)+"\n"+strings.Join(k.ran, "\n"))
				}
				if c := plan.Changes(g.Write, x); len(c) > 0 {
					met[string(g.Kind)]++
				} else if plan.Modifies(g.Write, x) {
					t.Fatal("modified without a change")
				}
			}
		}
	}
	t.Logf("%d writes; tables changed by %v", writes, met)
}

func changesOf(w *workload.Write, t *model.Table) string {
	var lines []string
	if find := plan.Find(w); find != nil {
		lines = append(lines, "find "+find.String())
	}
	for _, c := range plan.Changes(w, t) {
		var names []string
		for _, n := range c.Named {
			names = append(names, fmt.Sprintf("%s=%d", n.Entity.Name, n.By))
		}
		lines = append(lines, "change "+strings.Join(names, " "))
		for _, q := range c.Parts {
			lines = append(lines, "  "+q.String())
		}
	}
	for _, r := range t.Tree.Edges {
		lines = append(lines, fmt.Sprintf("  %s %s %s-%s optional %v", r.Name, r.Kind, r.From.Name, r.To.Name, r.Optional))
	}
	return strings.Join(lines, "\n")
}

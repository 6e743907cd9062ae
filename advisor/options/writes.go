package options

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// WriteCost is how many requests one execution of a write takes in an option, for each row that it finds.
type WriteCost struct {
	Statement     string
	Reads, Writes int
	Warning       string // it does not find its rows in some table; "" else
}

// target is what an UPDATE or DELETE, or one end of a CONNECT, changes.
type target struct {
	fields []model.Field       // what it sets or removes
	edge   *model.Relationship // CONNECT and DISCONNECT: only tables over it
	filter []model.Field
	ranges []model.Field // those of filter that are no equalities
	given  []model.Field // known besides
	tree   model.Tree
}

// makesRows reports whether a write makes rows: the values of other entities that those have must then be known.
func makesRows(w *workload.Write) bool {
	return w.Kind == workload.Insert || w.Kind == workload.Connect
}

func targetOf(w *workload.Write) target {
	t := target{tree: w.Tree, given: w.Given, fields: w.Set}
	for _, p := range w.Where {
		t.filter = model.AppendNew(t.filter, p.Field)
		if p.Op != workload.Equal && p.Op != workload.In {
			t.ranges = append(t.ranges, p.Field)
		}
	}
	switch w.Kind {
	case workload.Delete, workload.Insert:
		if w.Kind == workload.Delete {
			for _, a := range w.Entity.Attributes {
				t.fields = append(t.fields, model.Field{Entity: w.Entity, Attribute: a})
			}
		}
	case workload.Connect, workload.Disconnect:
		c := w.Connections[0]
		t.edge = c.Edge
		t.filter = append(slices.Clone(w.Entity.KeyFields()), c.Entity.KeyFields()...)
	case workload.Update:
		t.fields = append(slices.Clone(w.Set), w.Increments...)
	}
	return t
}

// changesRows reports whether a write changes rows of a table: it holds one of the fields (B-30, B-32), under any occurrence of
// their entity.
func (f *finder) changesRows(s *workload.Statement, c target, t *Table) bool {
	if c.edge != nil {
		return slices.ContainsFunc(t.Tree.Edges, func(r *model.Relationship) bool { return r.Base() == c.edge.Base() })
	}
	for _, e := range t.Tree.Entities {
		if e.Base() != s.Write.Entity.Base() {
			continue
		}
		if s.Write.Kind == workload.Insert && !insertsWholeRows(s.Write, e, t) {
			continue
		}
		for _, x := range c.fields {
			if t.stores(model.Field{Entity: e, Attribute: x.Attribute}) {
				return true
			}
		}
	}
	return false
}

// insertsWholeRows reports whether an INSERT of e makes rows of a table: it is connected to every entity of which the primary key has a
// field. The seed would write null there, which Cassandra refuses; what has no partner yet has no row in a join.
func insertsWholeRows(w *workload.Write, e *model.Entity, t *Table) bool {
	reached := t.Tree.Reach(e, func(r *model.Relationship, from *model.Entity) bool { return from != e || connectsBy(w, r) })
	return !slices.ContainsFunc(t.Physical().Key(), func(x model.Field) bool { return !reached.Has(x.Entity) })
}

// knownFields is the fields of a table whose values are given by a list of fields.
func (f *finder) knownFields(t *Table, fields []model.Field) set {
	var s set
	for _, x := range fields {
		for _, e := range t.Tree.Entities {
			if e.Base() != x.Entity.Base() {
				continue
			}
			y := model.Field{Entity: e, Attribute: x.Attribute}
			for _, y := range []model.Field{y, canonical(t.Tree, y)} {
				if i, ok := f.universe.number[y]; ok {
					s = s.with(i)
				}
			}
		}
	}
	return s
}

// findsRows says how a write finds its rows in a table: it knows their whole primary key; or reads the table, which must hold all
// that the write filters by, by a part of that; or neither.
func (f *finder) findsRows(t *Table, c target) (direct, byTable bool) {
	filter := f.knownFields(t, c.filter)
	if t.primaryKey().in(filter.or(f.knownFields(t, c.given))) {
		return true, true
	}
	for _, x := range c.filter {
		if f.knownFields(t, []model.Field{x}).and(t.storedFields()).empty() {
			return false, false
		}
	}
	if p := t.partitionSet(); !p.empty() && p.in(filter) {
		return false, true
	}
	return false, slices.ContainsFunc(t.indexes, func(x set) bool { return x.in(filter) })
}

// findsByTable reports whether the write finds its rows by reading the table.
func (f *finder) findsByTable(t *Table, c target) bool {
	_, ok := f.findsRows(t, c)
	return ok
}

// leadsTo reports whether the write, reading table x by what it knows, learns where its rows of t are.
func (f *finder) leadsTo(x, t *Table, c target) bool {
	if x == t || x.Purpose == Helper {
		return false
	}
	if !f.findsByTable(x, c) {
		return false
	}
	learned := f.knownFields(t, x.Physical().Fields()).or(f.knownFields(t, c.filter)).or(f.knownFields(t, c.given))
	return t.primaryKey().in(learned)
}

// writeCost counts the requests of a write (metric 1).
func (f *finder) writeCost(s *workload.Statement, list []*Table) WriteCost {
	cost := WriteCost{Statement: s.ID}
	c := targetOf(s.Write)
	lookUps := map[*Table]bool{}
	for _, t := range list {
		if !f.changesRows(s, c, t) {
			continue
		}
		cost.Writes++
		if makesRows(s.Write) {
			continue
		}
		if s.Write.Kind == workload.Update && f.changesKey(t, c) {
			cost.Writes++ // the row gets another primary key: delete, and insert
		}
		direct, byTable := f.findsRows(t, c)
		switch i := slices.IndexFunc(list, func(x *Table) bool { return f.leadsTo(x, t, c) }); {
		case direct:
		case byTable:
			lookUps[t] = true
		case i >= 0:
			lookUps[list[i]] = true
		default:
			cost.Warning = joinText(cost.Warning, fmt.Sprintf("does not find its rows in table (%s)", t))
		}
	}
	cost.Reads = len(lookUps)
	if makesRows(s.Write) {
		for _, h := range f.helperTables(s, list) {
			if slices.ContainsFunc(list, func(t *Table) bool { return f.hasHelper(t, h) }) {
				cost.Reads++
			}
		}
	}
	return cost
}

func joinText(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// changesKey reports whether an UPDATE changes a primary key of the table.
func (f *finder) changesKey(t *Table, c target) bool {
	return !f.knownFields(t, c.fields).and(t.primaryKey()).empty()
}

// helperTables are the tables that an INSERT or CONNECT needs for the values of other entities that its rows in joined tables hold
// (B-31): one for each of those entities, by its key if the step before holds that, or else by the key of the entity before.
func (f *finder) helperTables(s *workload.Statement, list []*Table) []*Table {
	w, made := s.Write, []*Table{}
	c := targetOf(w)
	values := slices.Concat(w.Set, w.Given)
	starts := map[*model.Entity]bool{w.Entity.Base(): true}
	for _, x := range w.Connections {
		values = append(values, x.Entity.KeyFields()...)
		starts[x.Entity.Base()] = true
	}
	if w.Kind == workload.Insert {
		for _, a := range w.Entity.Attributes { // what is not set is null
			values = append(values, model.Field{Entity: w.Entity, Attribute: a})
		}
	} else {
		values = append(values, w.Entity.KeyFields()...)
	}
	for _, t := range list {
		if t.Purpose == Helper || len(t.Tree.Entities) < 2 || !f.changesRows(s, c, t) {
			continue
		}
		missing := t.storedFields().minus(f.knownFields(t, values))
		if missing.empty() {
			continue
		}
		done := map[*model.Entity]bool{}
		var visit func(e *model.Entity, over *model.Relationship, from *model.Entity) bool
		visit = func(e *model.Entity, over *model.Relationship, from *model.Entity) bool {
			done[e] = true
			var further []model.Field // keys that lead on
			var edges []*model.Relationship
			for _, r := range t.Tree.Edges {
				o := r.Other(e)
				if o == nil || done[o] || e.Base() == w.Entity.Base() && !connectsBy(w, r) {
					continue
				}
				if visit(o, r, e) && r.ToOne(e) && !starts[o.Base()] {
					further, edges = append(further, o.KeyFields()...), append(edges, r)
				}
			}
			need := f.set(further...)
			for _, i := range missing.members() {
				if f.fields[i].Entity == e {
					need = need.with(i)
				}
			}
			if need.empty() || e.Base() == w.Entity.Base() && w.Kind == workload.Insert {
				return !need.empty()
			}
			h := &Table{u: &f.universe, Purpose: Helper, For: s.ID}
			h.key = f.set(e.KeyFields()...)
			if !starts[e.Base()] && over != nil && !over.ToOne(from) {
				edges = append(edges, over)
				need = need.or(h.key)
				h.key = f.set(from.KeyFields()...)
			}
			var err error
			if h.Tree, err = model.NewTree(e, edges...); err != nil {
				return false // it is a part of the table's tree
			}
			h.rest = need.minus(h.key)
			h.setNames()
			h.least = h.Columns()
			made = append(made, h)
			return true
		}
		for _, e := range t.Tree.Entities {
			if e.Base() == w.Entity.Base() && !done[e] {
				visit(e, nil, nil)
			}
		}
	}
	return mergeHelpers(made)
}

// connectsBy reports whether a write says which the other end of a relationship is.
func connectsBy(w *workload.Write, r *model.Relationship) bool {
	return slices.ContainsFunc(w.Connections, func(c workload.Connection) bool { return c.Edge.Base() == r.Base() })
}

// mergeHelpers makes one helper of those of the same entity and key.
func mergeHelpers(list []*Table) []*Table {
	var out []*Table
	for _, h := range list {
		i := slices.IndexFunc(out, func(o *Table) bool { return o.key == h.key && o.Tree.Key() == h.Tree.Key() })
		if i < 0 {
			out = append(out, h)
			continue
		}
		both := *out[i]
		both.rest, both.For = both.rest.or(h.rest), joinWords(both.For, h.For)
		both.setNames()
		both.least = both.Columns()
		out[i] = &both
	}
	return out
}

// hasHelper reports whether a table has what a helper would.
func (f *finder) hasHelper(t, h *Table) bool {
	return t.key == h.key && t.Tree.Key() == h.Tree.Key() && h.all.in(t.all)
}

// rounds is how often all writes are served: a look-up table for one of them is a table that others may have to write. What is
// not served then is warned of.
const rounds = 3

// serveAll lets every UPDATE and DELETE find its rows in the tables of each schema.
func (f *finder) serveAll(ways []tables) []tables {
	for _, s := range f.writes {
		c := targetOf(s.Write)
		if makesRows(s.Write) || len(c.filter) == 0 {
			continue
		}
		var next []tables
		for _, way := range ways {
			next = append(next, f.serveWrite(s, c, way, 2*len(way))...)
		}
		if len(next) > f.config.Limits.LookUps {
			f.noteCutOnce(fmt.Sprintf("of the ways to serve the look-ups of writes, %d of each schema are ranked", f.config.Limits.LookUps))
			next = next[:f.config.Limits.LookUps]
		}
		ways = next
	}
	return ways
}

// addLookUps completes a merged schema for the writes (step 1e): it returns every way to do so, up to a bound.
func (f *finder) addLookUps(list tables) []tables {
	ways := []tables{list}
	for range rounds {
		next := f.serveAll(ways)
		same := slices.EqualFunc(next, ways, func(a, b tables) bool { return a.key() == b.key() })
		if ways = next; same {
			break
		}
	}
	for i, way := range ways {
		var helpers []*Table
		for _, s := range f.writes {
			if !makesRows(s.Write) {
				continue
			}
			for _, h := range f.helperTables(s, way) {
				if !slices.ContainsFunc(way, func(t *Table) bool { return f.hasHelper(t, h) }) {
					helpers = append(helpers, h)
				}
			}
		}
		ways[i] = sortTables(append(slices.Clone(way), mergeHelpers(helpers)...))
	}
	return ways
}

func (f *finder) noteCutOnce(text string) {
	if !slices.Contains(f.report.Cut, text) {
		f.report.Cut = append(f.report.Cut, text)
	}
}

// serveWrite lets one write find its rows in every table that it changes: in each that it can not, by another index or row key
// there, or by a look-up table (B-33). At most left tables are served: each step serves one.
func (f *finder) serveWrite(s *workload.Statement, c target, list tables, left int) []tables {
	if left == 0 {
		return []tables{list}
	}
	for i, t := range list {
		if !f.changesRows(s, c, t) {
			continue
		}
		if direct, byTable := f.findsRows(t, c); direct || byTable {
			continue
		}
		if slices.ContainsFunc(list, func(x *Table) bool { return f.leadsTo(x, t, c) }) {
			continue
		}
		var ways []tables
		if x := f.indexedBy(t, c); x != nil && f.findsByTable(x, c) {
			next := slices.Clone(list)
			next[i] = x
			ways = append(ways, f.serveWrite(s, c, f.dropNeedless(next), left-1)...)
		}
		if x := f.lookUpFor(s, t, c); x != nil && f.leadsTo(x, t, c) {
			budget := f.config.Limits.LookUps
			merged, _ := f.mergeFixpoints(withLookUp(list, x), &budget) // B-34
			for _, m := range merged[:min(len(merged), 2)] {
				ways = append(ways, f.serveWrite(s, c, m, left-1)...)
			}
		}
		if len(ways) == 0 {
			continue // writeCost warns
		}
		return ways[:min(len(ways), f.config.Limits.LookUps+1)]
	}
	return []tables{list}
}

// withLookUp adds a look-up table: to one that looks up by the same, if there is one.
func withLookUp(list tables, x *Table) []*Table {
	out := slices.Clone(list)
	i := slices.IndexFunc(out, func(o *Table) bool { return o.Purpose == LookUp && o.key == x.key && o.Tree.Key() == x.Tree.Key() })
	if i < 0 {
		return append(out, x)
	}
	both := *out[i]
	both.rest, both.For = both.rest.or(x.rest), joinWords(both.For, x.For)
	both.setNames()
	both.least = both.Columns()
	out[i] = &both
	return out
}

// indexedBy is the table with the filter as its row key, if it has none, or as one more index; an index whose fields are a
// part of the row key is none: the partition consists of those fields then, and the others are clustering columns (B-35).
func (f *finder) indexedBy(t *Table, c target) *Table {
	for _, x := range c.filter {
		if !slices.ContainsFunc(t.Tree.Entities, func(e *model.Entity) bool { return e.Base() == x.Entity.Base() }) {
			return nil // the table would have to join another entity
		}
	}
	filter := f.storedColumns(t, c.filter)
	n := *t
	n.indexes = slices.Clone(t.indexes)
	switch {
	case t.key.empty():
		n.key, n.ranges = filter, f.storedColumns(t, c.ranges)
		n.indexes = slices.DeleteFunc(n.indexes, func(x set) bool { return x == filter })
	case filter.in(t.key) && t.split.empty() && t.ranges.empty():
		n.split = filter
	case len(t.indexes) < f.config.Indexes:
		n.indexes = append(n.indexes, filter)
	default:
		return nil
	}
	n.rest = n.rest.minus(filter)
	n.For = joinWords(n.For, "")
	n.setNames()
	return &n
}

// storedColumns is the fields under which a table stores, or would store, a list of fields.
func (f *finder) storedColumns(t *Table, fields []model.Field) set {
	var s set
	for _, x := range fields {
		for _, e := range t.Tree.Entities {
			if e.Base() == x.Entity.Base() {
				y := model.Field{Entity: e, Attribute: x.Attribute}
				if t.stores(y) && t.all.has(f.number[y]) {
					s = s.with(f.number[y])
				} else {
					s = s.or(f.set(canonical(t.Tree, y)))
				}
				break
			}
		}
	}
	return s
}

// lookUpFor is a table that leads from the write's filter to the primary key of a table, nil if nothing relates the two.
func (f *finder) lookUpFor(s *workload.Statement, t *Table, c target) *Table {
	var entities []*model.Entity
	add := func(e *model.Entity) {
		if !slices.Contains(entities, e) {
			entities = append(entities, e)
		}
	}
	for _, x := range c.filter {
		add(x.Entity)
	}
	for _, x := range t.Physical().Key() {
		add(x.Entity)
	}
	whole, err := c.tree.Union(t.Tree)
	if err != nil {
		return nil
	}
	l := &Table{u: &f.universe, Purpose: LookUp, For: s.ID, Tree: whole.Span(entities)}
	l.key, l.ranges = f.set(canonicalAll(l.Tree, c.filter)...), f.set(canonicalAll(l.Tree, c.ranges)...)
	l.rest = t.primaryKey().minus(l.key) // under the names that the table has them by
	l.setNames()
	l.least = l.Columns()
	return l
}

// purposeText lists what tables are for, in one line.
func purposeText(t *Table) string {
	if t.Purpose == Read {
		return string(t.Purpose)
	}
	return string(t.Purpose) + " for " + strings.ReplaceAll(t.For, " ", ", ")
}

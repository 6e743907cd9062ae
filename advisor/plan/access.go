package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// access is one way to read a table from a state.
type access struct {
	kind       Kind
	partition  []Binding
	clustering []Binding
	where      []Binding // IndexGet and Scan
	applied    uint64    // predicates that the server checks
	fed        uint64    // entities of which fields bind columns
}

// access finds out how a table is read in a way from a state; false if it can not be.
func (b *builder) access(from state, u *usable, kind Kind) (access, bool) {
	a := access{kind: kind}
	t := u.table
	switch kind {
	case Get:
		for _, f := range t.Partition {
			if !b.bind(&a, &a.partition, from, u, f) {
				return a, false
			}
		}
		for _, f := range t.Clustering {
			if !b.bind(&a, &a.clustering, from, u, f) {
				b.bindRange(&a, f)
				break
			}
		}
	case IndexGet:
		bound := false
		for _, i := range t.Indexes {
			if bound = b.bind(&a, &a.where, from, u, i.Field); bound {
				break
			}
		}
		if !bound {
			return a, false
		}
	case Scan:
		if !t.ScanAllowed || from.joined != 0 || t.Base != nil {
			return a, false
		}
		for n, p := range b.query.Where {
			if t.Has(p.Field) {
				a.where = append(a.where, Binding{p.Field, p.Op, p.Value})
				a.applied |= 1 << n
			}
		}
	}
	return a, from.joined == 0 || b.joins(from, u, a)
}

// bind binds a column by equality: to a parameter of the query, else to a value known besides, else to a field at hand.
func (b *builder) bind(a *access, list *[]Binding, from state, u *usable, f model.Field) bool {
	for n, p := range b.query.Where {
		if p.Field == f && p.Op == workload.Equal {
			*list = append(*list, Binding{f, workload.Equal, p.Value})
			a.applied |= 1 << n
			return true
		}
	}
	if b.knows(u.table, f) {
		*list = append(*list, Binding{f, workload.Equal, "?"})
		return true
	}
	i, relevant := b.fields[f]
	if !relevant || !from.fields.has(i) || from.joined&b.bit(f.Entity) == 0 {
		return false
	}
	*list = append(*list, Binding{Field: f, Op: workload.Equal})
	a.fed |= b.bit(f.Entity)
	return true
}

// knows tells whether the value of f is known for all rows of the table that can be asked for: f is known, and in the
// table belongs to what an entity that the query names by key determines.
func (b *builder) knows(t *model.Table, f model.Field) bool {
	known := false
	for _, k := range b.query.Known {
		known = known || k == f
	}
	if !known {
		return false
	}
	for _, e := range b.query.Tree.Entities {
		named := true
		for _, k := range e.KeyFields() {
			named = named && b.asked(k)
		}
		if named && t.Tree.Has(e) && t.Tree.Determined(e).Has(f.Entity) {
			return true
		}
	}
	return false
}

// asked tells whether the query has an equality on f.
func (b *builder) asked(f model.Field) bool {
	for _, p := range b.query.Where {
		if p.Field == f && p.Op == workload.Equal {
			return true
		}
	}
	return false
}

// bindRange binds the clustering column after the bound ones to a lower and an upper bound, where the query has them.
func (b *builder) bindRange(a *access, f model.Field) {
	var lower, upper bool
	for n, p := range b.query.Where {
		if p.Field != f {
			continue
		}
		isLower := p.Op == workload.Greater || p.Op == workload.GreaterOrEqual
		isUpper := p.Op == workload.Less || p.Op == workload.LessOrEqual
		if isLower && !lower || isUpper && !upper {
			lower, upper = lower || isLower, upper || isUpper
			a.clustering = append(a.clustering, Binding{f, p.Op, p.Value})
			a.applied |= 1 << n
		}
	}
}

// joins tells whether the rows that are read belong to the rows at hand: they share entities, and each shared entity is
// determined by one whose whole key is bound to the rows at hand.
func (b *builder) joins(from state, u *usable, a access) bool {
	shared := b.tree(from.joined & u.common)
	if len(shared.Entities) == 0 {
		return false
	}
	bound := map[model.Field]bool{}
	for _, list := range [][]Binding{a.partition, a.clustering, a.where} {
		for _, x := range list {
			bound[x.Field] = x.Op == workload.Equal && (x.Value == "" || b.holds(from, x.Field))
		}
	}
	determined := map[*model.Entity]bool{}
	for _, e := range shared.Entities {
		keyed := true
		for _, k := range e.KeyFields() {
			keyed = keyed && bound[k]
		}
		if !keyed {
			continue
		}
		for _, d := range u.table.Tree.Determined(e).Entities {
			determined[d] = true
		}
	}
	for _, e := range shared.Entities {
		if !determined[e] {
			return false
		}
	}
	return true
}

// holds tells whether all rows at hand have the parameter's value in f.
func (b *builder) holds(from state, f model.Field) bool {
	for n, p := range b.query.Where {
		if p.Field == f && p.Op == workload.Equal && from.applied&(1<<n) != 0 {
			return true
		}
	}
	return false
}

// rows estimates the rows of the join over some entities that satisfy some predicates.
func (b *builder) rows(joined, applied uint64) float64 {
	if joined == 0 {
		return 1
	}
	var predicates []workload.Predicate
	for n, p := range b.query.Where {
		if applied&(1<<n) != 0 {
			predicates = append(predicates, p)
		}
	}
	return Rows(b.tree(joined), predicates)
}

// Rows estimates the rows of the join over a tree that satisfy all predicates on it, under uniformity and independence,
// for a statement that asks for something that is there: where the equalities would let less than one combination of the
// entities that they speak of (and those between) through, one is taken.
func Rows(tree model.Tree, predicates []workload.Predicate) float64 {
	var equal []workload.Predicate
	var entities []*model.Entity
	for _, p := range predicates {
		if p.Op == workload.Equal && tree.Has(p.Field.Entity) {
			equal = append(equal, p)
			entities = append(entities, p.Field.Entity)
		}
	}
	rows := share(tree, predicates)
	if len(entities) == 0 {
		return rows
	}
	if core := share(tree.Span(entities), equal); core < 1 {
		rows /= core
	}
	return rows
}

// share is Rows for a statement that asks for anything. An equality on a whole key finds one entity; otherwise each field
// takes its share once.
func share(tree model.Tree, predicates []workload.Predicate) float64 {
	rows := tree.Rows()
	equal := map[model.Field]bool{}
	for _, p := range predicates {
		if p.Op == workload.Equal {
			equal[p.Field] = true
		}
	}
	keyed := map[model.Field]bool{}
	for _, e := range tree.Entities {
		whole := true
		for _, k := range e.KeyFields() {
			whole = whole && equal[k]
		}
		if !whole {
			continue
		}
		rows /= max(1, e.Count)
		for _, k := range e.KeyFields() {
			keyed[k] = true
		}
	}
	seen := map[model.Field]bool{}
	for _, p := range predicates {
		if seen[p.Field] || keyed[p.Field] || !tree.Has(p.Field.Entity) {
			continue
		}
		seen[p.Field] = true
		if equal[p.Field] {
			rows /= p.Field.Distinct()
		} else {
			rows *= model.RangeSelectivity
		}
	}
	return rows
}

// steps writes an arc's steps with their estimates.
func (b *builder) steps(from, to state, u *usable, a access, filtered uint64) []Step {
	t := u.table
	before := b.rows(from.joined, from.applied)
	served := b.rows(from.joined|u.common, from.applied|a.applied)
	requests := 1.0
	if from.joined != 0 {
		if requests = before; !b.each(from, a.fed) {
			requests = model.Distinct(before, b.domain(from, a.fed))
		}
		served *= requests / max(before, 1e-12)
	}
	width := 0.0
	var fields []model.Field
	for _, f := range t.Fields() {
		if _, relevant := b.fields[f]; relevant {
			fields = append(fields, f)
			width += f.Size()
		}
	}
	read := Step{Kind: a.kind, Table: t, Partition: a.partition, Clustering: a.clustering, Where: a.where, Fields: fields,
		Requests: requests, Rows: served, Bytes: served * (width + rowHeader), Left: b.rows(from.joined|u.common, from.applied|a.applied)}
	switch a.kind {
	case Scan:
		read.Scanned = t.Entries()
	case IndexGet:
		read.Scanned = served
	}
	steps := []Step{read}
	if t.Base != nil {
		steps = append(steps, b.verify(t, a, served))
	}
	if filtered != 0 {
		filter := Step{Kind: Filter, Left: b.rows(to.joined, to.applied)}
		for n, p := range b.query.Where {
			if filtered&(1<<n) != 0 {
				filter.Where = append(filter.Where, Binding{p.Field, p.Op, p.Value})
			}
		}
		steps = append(steps, filter)
	}
	return steps
}

// rowHeader is what a row takes in an answer beyond its values, bytes.
const rowHeader = 16

// verify reads the base rows that a look-up table's entries name, and checks again what the look-up was asked for.
func (b *builder) verify(t *model.Table, a access, rows float64) Step {
	base := t.Base
	s := Step{Kind: Get, Table: base, Verify: true, Requests: rows, Rows: rows, Left: rows}
	width := 0.0
	for _, f := range base.Fields() {
		if _, relevant := b.fields[f]; relevant {
			s.Fields = append(s.Fields, f)
			width += f.Size()
		}
	}
	s.Bytes = rows * (width + rowHeader)
	for _, f := range base.Partition {
		s.Partition = append(s.Partition, Binding{Field: f, Op: workload.Equal})
	}
	for _, f := range base.Clustering {
		s.Clustering = append(s.Clustering, Binding{Field: f, Op: workload.Equal})
	}
	s.Where = append(append([]Binding(nil), a.partition...), a.clustering...)
	return s
}

// each tells whether every row at hand feeds a read by values of its own: the entities that feed it, and those that the
// query names by key, determine all others.
func (b *builder) each(from state, fed uint64) bool {
	joined := b.tree(from.joined)
	determined := uint64(0)
	for _, e := range joined.Entities {
		named := true
		for _, k := range e.KeyFields() {
			named = named && b.holds(from, k)
		}
		if named || fed&b.bit(e) != 0 {
			determined |= b.entities(joined.Determined(e))
		}
	}
	return determined == from.joined
}

// domain estimates how many different combinations of the entities that feed a read there are.
func (b *builder) domain(from state, fed uint64) float64 {
	if fed == 0 {
		return 1
	}
	joined := b.tree(from.joined)
	var entities []*model.Entity
	for _, e := range joined.Entities {
		if fed&b.bit(e) != 0 {
			entities = append(entities, e)
		}
	}
	span := b.entities(joined.Span(entities))
	for _, e := range entities {
		span |= b.entities(joined.Determined(e))
	}
	return max(1, b.rows(span, from.applied))
}

// finish adds what comes after the last read: a sort if the rows are not in order, a limit. A limit is given to the
// server only if its rows are the answer, so never below a filter.
func (b *builder) finish(arc *Arc, from, to state, filtered bool) {
	left := b.rows(to.joined, to.applied)
	if !to.sorted {
		arc.Steps = append(arc.Steps, Step{Kind: Sort, Fields: b.query.Ordered(), Rows: left, Left: left})
	}
	limit := b.query.Limit
	if limit == 0 {
		return
	}
	read := &arc.Steps[0]
	if to.sorted && !filtered && from.joined == 0 && arc.Table.Base == nil {
		read.Limit = limit
		if read.Rows > float64(limit) {
			share := float64(limit) / read.Rows
			read.Rows, read.Bytes, read.Scanned, read.Left = float64(limit), read.Bytes*share, read.Scanned*share, float64(limit)
		}
		return
	}
	arc.Steps = append(arc.Steps, Step{Kind: Limit, Limit: limit, Left: min(left, float64(limit))})
}

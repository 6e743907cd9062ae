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
			bound[x.Field] = x.Op == workload.Equal && (x.Value == "" || holds(b.query, from.applied, x.Field))
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

// steps writes an arc's steps, without their estimates.
func (b *builder) steps(u *usable, a access, filtered uint64) []Step {
	t := u.table
	read := Step{Kind: a.kind, Table: t, Partition: a.partition, Clustering: a.clustering, Where: a.where, Fields: b.held(t)}
	steps := []Step{read}
	if t.Base != nil {
		steps = append(steps, b.verify(t, a))
	}
	if filtered != 0 {
		filter := Step{Kind: Filter}
		for n, p := range b.query.Where {
			if filtered&(1<<n) != 0 {
				filter.Where = append(filter.Where, Binding{p.Field, p.Op, p.Value})
			}
		}
		steps = append(steps, filter)
	}
	return steps
}

// held returns the relevant fields of a table.
func (b *builder) held(t *model.Table) []model.Field {
	var fields []model.Field
	for _, f := range t.Fields() {
		if _, relevant := b.fields[f]; relevant {
			fields = append(fields, f)
		}
	}
	return fields
}

// verify reads the base rows that a look-up table's entries name, and checks again what the look-up was asked for.
func (b *builder) verify(t *model.Table, a access) Step {
	s := Step{Kind: Get, Table: t.Base, Verify: true, Fields: b.held(t.Base)}
	for _, f := range t.Base.Partition {
		s.Partition = append(s.Partition, Binding{Field: f, Op: workload.Equal})
	}
	for _, f := range t.Base.Clustering {
		s.Clustering = append(s.Clustering, Binding{Field: f, Op: workload.Equal})
	}
	s.Where = append(append([]Binding(nil), a.partition...), a.clustering...)
	return s
}

// finish adds what comes after the last read: a sort if the rows are not in order, a limit. A limit is given to the
// server only if its rows are the answer, so never below a filter.
func (b *builder) finish(arc *Arc, from, to state, filtered bool) {
	if !to.sorted {
		arc.Steps = append(arc.Steps, Step{Kind: Sort, Fields: b.query.Ordered()})
	}
	limit := b.query.Limit
	if limit == 0 {
		return
	}
	if to.sorted && !filtered && from.joined == 0 && arc.Table.Base == nil {
		arc.Steps[0].Limit = limit
		return
	}
	arc.Steps = append(arc.Steps, Step{Kind: Limit, Limit: limit})
}

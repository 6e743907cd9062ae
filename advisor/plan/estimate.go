package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// means is the Estimator of Means.
type means struct {
	query *workload.Query
	memo  map[Point]float64 // rows
}

// rowHeader is what a row takes in an answer beyond its values, bytes.
const rowHeader = 16

// Estimate fills in the estimates.
func (m *means) Estimate(r *Read, steps []Step) float64 {
	left := m.rows(r.To.Joined, r.To.Applied)
	for i := range steps {
		switch s := &steps[i]; {
		case s.Verify:
			s.Requests, s.Rows, s.Left = steps[i-1].Rows, steps[i-1].Rows, steps[i-1].Rows
			s.Bytes = s.Rows * (width(s.Fields) + rowHeader)
		case i == 0:
			m.read(r, s)
		case s.Kind == Filter:
			s.Left = left
		case s.Kind == Sort:
			s.Rows, s.Left = left, left
		case s.Kind == Limit:
			s.Left = min(left, float64(s.Limit))
		}
	}
	return 0
}

// read estimates the first step of an arc.
func (m *means) read(r *Read, s *Step) {
	before := m.rows(r.From.Joined, r.From.Applied)
	s.Left = m.rows(r.Served.Joined, r.Served.Applied)
	s.Rows, s.Requests = s.Left, 1
	if !r.First() {
		if s.Requests = before; !m.each(r) {
			s.Requests = model.Distinct(before, m.domain(r))
		}
		s.Rows *= s.Requests / max(before, 1e-12)
	}
	s.Requests *= max(1, r.Each)
	s.Bytes = s.Rows * (width(s.Fields) + rowHeader)
	switch s.Kind {
	case Scan:
		s.Scanned = r.Table.Entries()
	case IndexGet:
		s.Scanned = s.Rows
	}
	if limit := float64(s.Limit) * s.Requests; limit > 0 && s.Rows > limit {
		share := limit / s.Rows
		s.Rows, s.Bytes, s.Scanned, s.Left = limit, s.Bytes*share, s.Scanned*share, limit
	}
}

func width(fields []model.Field) float64 {
	sum := 0.0
	for _, f := range fields {
		sum += f.Size()
	}
	return sum
}

// rows estimates the rows of the join over some entities that satisfy some predicates.
func (m *means) rows(joined, applied uint64) float64 {
	if joined == 0 {
		return 1
	}
	at := Point{Joined: joined, Applied: applied}
	if rows, ok := m.memo[at]; ok {
		return rows
	}
	var predicates []workload.Predicate
	for n, p := range m.query.Where {
		if applied&(1<<n) != 0 {
			predicates = append(predicates, p)
		}
	}
	rows := Rows(m.tree(joined), predicates)
	m.memo[at] = rows
	return rows
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

// each tells whether every row at hand feeds a read by values of its own: the entities that feed it, and those that the
// query names by key, determine all others.
func (m *means) each(r *Read) bool {
	joined := m.tree(r.From.Joined)
	determined := uint64(0)
	for i, e := range m.query.Tree.Entities {
		if r.From.Joined&(1<<i) == 0 {
			continue
		}
		named := true
		for _, k := range e.KeyFields() {
			named = named && holds(m.query, r.From.Applied, k)
		}
		if named || r.Fed&(1<<i) != 0 {
			determined |= members(m.query.Tree, joined.Determined(e))
		}
	}
	return determined == r.From.Joined
}

// domain estimates how many different combinations of the entities that feed a read there are.
func (m *means) domain(r *Read) float64 {
	if r.Fed == 0 {
		return 1
	}
	joined := m.tree(r.From.Joined)
	fed := m.tree(r.From.Joined & r.Fed).Entities
	span := members(m.query.Tree, joined.Span(fed))
	for _, e := range fed {
		span |= members(m.query.Tree, joined.Determined(e))
	}
	return max(1, m.rows(span, r.From.Applied))
}

func (m *means) tree(joined uint64) model.Tree { return part(m.query.Tree, joined) }

// members returns the entities of a part of a tree as a set of entities of the tree.
func members(whole, tree model.Tree) uint64 {
	var mask uint64
	for i, e := range whole.Entities {
		if tree.Has(e) {
			mask |= 1 << i
		}
	}
	return mask
}

// part returns the part of a tree with some of its entities.
func part(whole model.Tree, mask uint64) model.Tree {
	var t model.Tree
	for i, e := range whole.Entities {
		if mask&(1<<i) != 0 {
			t.Entities = append(t.Entities, e)
		}
	}
	for _, r := range whole.Edges {
		if t.Has(r.From) && t.Has(r.To) {
			t.Edges = append(t.Edges, r)
		}
	}
	return t
}

// holds tells whether all rows have the parameter's value in f once some predicates are applied.
func holds(q *workload.Query, applied uint64, f model.Field) bool {
	for n, p := range q.Where {
		if p.Field == f && p.Op == workload.Equal && applied&(1<<n) != 0 {
			return true
		}
	}
	return false
}

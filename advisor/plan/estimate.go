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
	m.estimateRead(r, steps)
	for i := 1; i < len(steps); i++ {
		s := &steps[i]
		before := steps[i-1].Left
		s.Rows, s.Left = before, before
		switch s.Kind {
		case Get: // verifies
			s.Requests, s.Rows, s.Left = steps[i-1].Rows, steps[i-1].Rows, steps[i-1].Rows
			s.Bytes = s.Rows * (rowWidth(s.Fields) + rowHeader)
		case Unnest:
			s.Rows = 0 // elements, which add up, while the rows that they make multiply
			for i, n := range r.Unnested {
				elements := steps[0].Rows * m.elementsPerRow(r, n)
				s.Rows += elements
				s.Scanned += elements * s.Nests[i].Entries(s.columnFields())
			}
			s.Left = m.rowsOf(r.To.Joined, r.Served.Applied)
		case Filter:
			s.Left = m.rowsOf(r.To.Joined, r.To.Applied)
		case Group:
			s.Left = groupCount(before, s.Group)
		case Distinct:
			s.Left = combinations(before, s.Fields)
		case LimitEach:
			s.Left = min(before, float64(s.Limit)*combinations(before, s.Fields))
		case Limit:
			s.Left = min(before, float64(s.Limit))
		}
	}
	return 0
}

// groupCount estimates how many groups some rows make: one if there is nothing to group by.
func groupCount(rows float64, by []model.Field) float64 {
	if len(by) == 0 {
		return 1
	}
	return combinations(rows, by)
}

// combinations estimates how many different values of fields there are among rows.
func combinations(rows float64, fields []model.Field) float64 {
	values := 1.0
	for _, f := range fields {
		values *= f.Distinct()
	}
	return model.Distinct(rows, values)
}

// estimateRead estimates the first step of an arc.
func (m *means) estimateRead(r *Read, steps []Step) {
	s := &steps[0]
	before := m.rowsOf(r.From.Joined, r.From.Applied)
	s.Left = m.rowsOf(r.Served.Joined, r.Served.Applied)
	s.Rows, s.Requests = s.Left, 1
	if !r.First() {
		if s.Requests = before; !m.feedsEachRow(r) {
			s.Requests = model.Distinct(before, m.fedCombinations(r))
		}
		s.Rows *= s.Requests / max(before, 1e-12)
	}
	s.Requests *= max(1, r.Each)
	size := rowWidth(s.Fields) + rowHeader
	switch s.Kind {
	case Scan:
		s.Scanned = r.Table.Entries()
		if most := float64(s.PerPartition) * r.Table.Partitions(); most > 0 && s.Rows > most {
			s.Rows, s.Left = most, most
		}
	case IndexGet:
		s.Scanned = s.Rows
	}
	if s.Grouped { // the rows are read, the groups come back
		s.Scanned = max(s.Scanned, s.Rows)
		s.Rows = groupCount(s.Rows, s.Group)
		s.Left = s.Rows
		size = rowWidth(s.Group) + float64(len(s.Aggregates))*aggregateBytes + rowHeader
	}
	for i, n := range s.Nests {
		size += m.elementsPerRow(r, r.Unnested[i]) * n.ElementBytes(steps[1].columnFields())
	}
	s.Bytes = s.Rows * size
	if limit := float64(s.Limit) * s.Requests; limit > 0 && s.Rows > limit {
		share := limit / s.Rows
		s.Rows, s.Bytes, s.Left = limit, s.Bytes*share, min(s.Left, limit)
		if !s.Grouped {
			s.Scanned *= share
		}
	}
}

// elementsPerRow estimates how many elements a row has in a collection that stands for some entities.
func (m *means) elementsPerRow(r *Read, nested uint64) float64 {
	return m.rowsOf(r.Served.Joined|nested, r.Served.Applied) / max(m.rowsOf(r.Served.Joined, r.Served.Applied), 1e-12)
}

// aggregateBytes is the size of the value of a function over a group.
const aggregateBytes = 8

func rowWidth(fields []model.Field) float64 {
	sum := 0.0
	for _, f := range fields {
		sum += f.Size()
	}
	return sum
}

// rowsOf estimates the rows of the join over some entities that satisfy some predicates: no fewer than with further ones of the
// query, by which the statement asks for something that is there.
func (m *means) rowsOf(joined, applied uint64) float64 {
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
	rows := max(Rows(m.subtree(joined), predicates), m.rowsWithMore(at))
	if seen := m.query.Returned; seen > 0 && len(predicates) == len(m.query.Where) && joined == 1<<len(m.query.Tree.Entities)-1 {
		if m.query.Limit == 0 || seen > rows { // a limit hides what there is beyond
			rows = seen
		}
	}
	m.memo[at] = rows
	return rows
}

// allFurther is how many equalities are left to a read up to which all sets of them are looked at; of more only the whole.
const allFurther = 6

// rowsWithMore is the greatest estimate with more of the query's equalities on what is joined.
func (m *means) rowsWithMore(at Point) float64 {
	left, count := uint64(0), 0
	for n, p := range m.query.Where {
		if at.Applied&(1<<n) == 0 && (p.Op == workload.Equal || p.Op == workload.In) && m.subtree(at.Joined).Has(p.Field.Entity) {
			left, count = left|1<<n, count+1
		}
	}
	switch {
	case count == 0:
		return 0
	case count > allFurther:
		return m.rowsOf(at.Joined, at.Applied|left)
	}
	most := 0.0
	for n := range m.query.Where {
		if left&(1<<n) != 0 {
			most = max(most, m.rowsOf(at.Joined, at.Applied|1<<n))
		}
	}
	return most
}

// Rows estimates the rows of the join over a tree that satisfy all predicates on it, under uniformity and independence,
// for a statement that asks for something that is there: where the equalities would let less than one combination of the
// entities that they speak of (and those between) through, one is taken; for IN, one for each value.
func Rows(tree model.Tree, predicates []workload.Predicate) float64 {
	var equal []workload.Predicate
	var entities []*model.Entity
	least := 1.0
	for _, p := range predicates {
		if (p.Op == workload.Equal || p.Op == workload.In) && tree.Has(p.Field.Entity) {
			equal = append(equal, p)
			entities = append(entities, p.Field.Entity)
			if p.Op == workload.In {
				least *= min(max(1, p.Items), p.Field.Distinct())
			}
		}
	}
	rows := rowsUnconditional(tree, predicates)
	if len(entities) == 0 {
		return rows
	}
	if core := rowsUnconditional(tree.Span(entities), equal); core < least {
		rows *= least / core
	}
	return rows
}

// rowsUnconditional is Rows for a statement that asks for anything. Equalities on a whole key find one entity; otherwise each field
// takes its share once.
func rowsUnconditional(tree model.Tree, predicates []workload.Predicate) float64 {
	rows := tree.Rows()
	on := map[model.Field][]workload.Predicate{}
	equal := map[model.Field]bool{}
	for _, p := range predicates {
		on[p.Field] = append(on[p.Field], p)
		equal[p.Field] = equal[p.Field] || p.Op == workload.Equal
	}
	named := map[model.Field]bool{}
	for _, e := range tree.Entities {
		for _, key := range append([][]*model.Attribute{e.Key}, e.Alternate...) {
			whole := len(key) > 0
			for _, a := range key {
				whole = whole && equal[model.Field{Entity: e, Attribute: a}]
			}
			if !whole {
				continue
			}
			rows /= tree.Asked(e)
			for _, a := range key {
				named[model.Field{Entity: e, Attribute: a}] = true
			}
			break
		}
	}
	for _, p := range predicates {
		if list := on[p.Field]; list != nil && !named[p.Field] && tree.Has(p.Field.Entity) {
			rows *= selectivity(p.Field, list)
		}
		delete(on, p.Field)
	}
	return rows
}

// selectivity is the share of an entity set that all predicates on one field let through: of its values an equality lets
// one through, IN as many as it has, ranges (both ends of one together) and prefixes RangeSelectivity, != all but one.
// Nothing holds of entities without a value.
func selectivity(f model.Field, predicates []workload.Predicate) float64 {
	values := f.Distinct()
	most, others := 1.0, 1.0
	for _, p := range predicates {
		switch p.Op {
		case workload.Equal:
			most = min(most, 1/values)
		case workload.In:
			most = min(most, max(1, p.Items)/values)
		case workload.NotEqual:
			others *= 1 - 1/values
		default:
			most = min(most, model.RangeSelectivity)
		}
	}
	return most * others * (1 - min(1, max(0, f.Attribute.Null)))
}

// feedsEachRow reports whether every row at hand feeds a read by values of its own: the entities that feed it, and those that the
// query names by key, determine all others.
func (m *means) feedsEachRow(r *Read) bool {
	joined := m.subtree(r.From.Joined)
	determined := uint64(0)
	for i, e := range m.query.Tree.Entities {
		if r.From.Joined&(1<<i) == 0 {
			continue
		}
		named := true
		for _, k := range e.KeyFields() {
			named = named && fixesParameter(m.query, r.From.Applied, k)
		}
		if named || r.Fed&(1<<i) != 0 {
			determined |= entityMask(m.query.Tree, joined.Determined(e))
		}
	}
	return determined == r.From.Joined
}

// fedCombinations estimates how many different combinations of the entities that feed a read there are.
func (m *means) fedCombinations(r *Read) float64 {
	if r.Fed == 0 {
		return 1
	}
	joined := m.subtree(r.From.Joined)
	fed := m.subtree(r.From.Joined & r.Fed).Entities
	span := entityMask(m.query.Tree, joined.Span(fed))
	for _, e := range fed {
		span |= entityMask(m.query.Tree, joined.Determined(e))
	}
	return max(1, m.rowsOf(span, r.From.Applied))
}

func (m *means) subtree(joined uint64) model.Tree { return subtreeOf(m.query.Tree, joined) }

// entityMask returns the entities of a part of a tree as a set of entities of the tree.
func entityMask(whole, tree model.Tree) uint64 {
	var mask uint64
	for i, e := range whole.Entities {
		if tree.Has(e) {
			mask |= 1 << i
		}
	}
	return mask
}

// subtreeOf returns the part of a tree with some of its entities.
func subtreeOf(whole model.Tree, mask uint64) model.Tree {
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

// fixesParameter reports whether all rows have the parameter's value in f once some predicates are applied.
func fixesParameter(q *workload.Query, applied uint64, f model.Field) bool {
	for n, p := range q.Where {
		if p.Field == f && p.Op == workload.Equal && applied&(1<<n) != 0 {
			return true
		}
	}
	return false
}

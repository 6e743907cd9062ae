package enumerate

import (
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// The limits of enumeration. They keep time and memory bounded; what they cut off is told (Pool.Truncated).
const (
	maxRelaxed = 5    // fields that are relaxed in all combinations; of more, one or two at a time
	maxQueries = 2000 // queries that one query is cut into
)

// Materialize returns the query's materialised view (algorithm 1): the equality fields of an entity as partition key;
// then the other equality fields, the other conditions' fields, the fields of ORDER BY and the keys of all entities as
// clustering key; the selected fields as values. first is the entity; nil puts all equality fields into the partition
// key. It returns nil if there is no such equality.
func Materialize(q *workload.Query, first *model.Entity) *model.Table {
	return materialize(q, first, false)
}

// materialize, if minimal, leaves out the keys that others determine.
func materialize(q *workload.Query, first *model.Entity, minimal bool) *model.Table {
	t := &model.Table{Tree: q.Tree}
	key := map[model.Field]bool{}
	add := func(to *[]model.Field, f model.Field) {
		if !key[f] {
			key[f] = true
			*to = append(*to, f)
		}
	}
	for _, p := range q.Where {
		if p.Op == workload.Equal && (first == nil || p.Field.Entity == first) {
			add(&t.Partition, p.Field)
		}
	}
	if len(t.Partition) == 0 {
		return nil
	}
	for _, p := range q.Where {
		if p.Op == workload.Equal {
			add(&t.Clustering, p.Field)
		}
	}
	for _, p := range q.Where {
		add(&t.Clustering, p.Field)
	}
	for _, f := range q.Ordered() {
		add(&t.Clustering, f)
	}
	for i := len(q.Tree.Entities) - 1; i >= 0; i-- {
		e := q.Tree.Entities[i]
		if minimal && determinedByOthers(q.Tree, e, i) {
			continue
		}
		for _, k := range e.KeyFields() {
			add(&t.Clustering, k)
		}
	}
	for _, f := range q.Select {
		add(&t.Values, f)
	}
	return t
}

// determinedByOthers tells whether the key of another entity that is kept determines the i-th entity, e. Of entities that
// determine each other the first is kept.
func determinedByOthers(tree model.Tree, e *model.Entity, i int) bool {
	for j, other := range tree.Entities {
		if other == e || !tree.Determined(other).Has(e) {
			continue
		}
		if j < i || !tree.Determined(e).Has(other) {
			return true
		}
	}
	return false
}

// Decompose cuts the query at an edge of its graph (section 4.1.2 and figure 6): the prefix finds the entities at the
// edge, on the side away from where FROM starts; the remainder answers the query from there on. ok is false if the
// prefix has no equality.
func Decompose(q *workload.Query, edge *model.Relationship) (prefix, remainder *workload.Query, ok bool) {
	end := edge.From
	if with, _ := q.Tree.Cut(edge, edge.From); with.Has(q.Tree.Entities[0]) {
		end = edge.To
	}
	return decompose(q, edge, end)
}

// decompose makes the side with the entity end the prefix.
func decompose(q *workload.Query, edge *model.Relationship, end *model.Entity) (prefix, remainder *workload.Query, ok bool) {
	front, back := q.Tree.Cut(edge, end)
	prefix = &workload.Query{Tree: front, Select: end.KeyFields()}
	remainder = &workload.Query{}
	for _, e := range q.Tree.Entities {
		if back.Has(e) || e == end {
			remainder.Tree.Entities = append(remainder.Tree.Entities, e)
		}
	}
	for _, r := range q.Tree.Edges {
		if back.HasEdge(r) || r == edge {
			remainder.Tree.Edges = append(remainder.Tree.Edges, r)
		}
	}
	for _, k := range end.KeyFields() {
		remainder.Where = append(remainder.Where, workload.Predicate{Field: k, Op: workload.Equal, Value: "?"})
	}
	for _, p := range q.Where {
		if front.Has(p.Field.Entity) {
			prefix.Where = append(prefix.Where, p)
			ok = ok || p.Op == workload.Equal
		} else {
			remainder.Where = append(remainder.Where, p)
		}
	}
	for _, f := range q.Select {
		if front.Has(f.Entity) {
			prefix.Select = model.AppendNew(prefix.Select, f)
		} else {
			remainder.Select = model.AppendNew(remainder.Select, f)
		}
	}
	if len(remainder.Select) == 0 {
		remainder.Select = end.KeyFields()
	}
	for _, o := range q.OrderBy {
		if front.Has(o.Field.Entity) {
			prefix.OrderBy = append(prefix.OrderBy, o)
		} else {
			remainder.OrderBy = append(remainder.OrderBy, o)
		}
	}
	return prefix, remainder, ok
}

// enumerator collects the candidates of one query.
type enumerator struct {
	relax     bool
	pool      *Pool
	seen      map[string]bool
	truncated bool
}

// query enumerates q (algorithm 2). The closed edges have been cut already.
func (e *enumerator) query(q *workload.Query, closed []*model.Relationship) {
	if !e.visit(q, closed) {
		return
	}
	e.views(q)
	for _, edge := range q.Tree.Edges {
		if hasEdge(closed, edge) {
			continue
		}
		for _, end := range []*model.Entity{edge.From, edge.To} {
			prefix, remainder, ok := decompose(q, edge, end)
			if !ok {
				continue
			}
			if e.visit(prefix, q.Tree.Edges) {
				e.views(prefix)
			}
			e.query(remainder, append(closed[:len(closed):len(closed)], edge))
		}
	}
}

// visit tells whether the query is new, and there is room for it.
func (e *enumerator) visit(q *workload.Query, closed []*model.Relationship) bool {
	var key strings.Builder
	key.WriteString(q.Key())
	for _, r := range q.Tree.Edges {
		if hasEdge(closed, r) {
			key.WriteString("|" + r.Name)
		}
	}
	if e.seen[key.String()] {
		return false
	}
	if len(e.seen) >= maxQueries {
		e.truncated = true
		return false
	}
	e.seen[key.String()] = true
	return true
}

func hasEdge(edges []*model.Relationship, r *model.Relationship) bool {
	for _, x := range edges {
		if x == r {
			return true
		}
	}
	return false
}

// views adds the views of q and of its relaxed forms.
func (e *enumerator) views(q *workload.Query) {
	e.viewsOf(q)
	if !e.relax {
		return
	}
	for _, relaxed := range Relax(q) {
		e.viewsOf(relaxed)
	}
}

// viewsOf adds each form of the query's materialised view: with its values, with its keys alone, and for each entity the
// selected attributes by key.
func (e *enumerator) viewsOf(q *workload.Query) {
	starts := []*model.Entity{nil}
	for _, p := range q.Where {
		if p.Op == workload.Equal && !hasEntity(starts, p.Field.Entity) {
			starts = append(starts, p.Field.Entity)
		}
	}
	for _, first := range starts {
		for _, minimal := range []bool{false, true} {
			t := materialize(q, first, minimal)
			if t == nil {
				continue
			}
			e.pool.add(t)
			if len(t.Values) > 0 {
				e.pool.add(&model.Table{Tree: t.Tree, Partition: t.Partition, Clustering: t.Clustering})
			}
		}
	}
	for _, entity := range q.Tree.Entities {
		t := &model.Table{Tree: model.Tree{Entities: []*model.Entity{entity}}, Partition: entity.KeyFields()}
		for _, f := range q.Select {
			if f.Entity == entity && !f.IsKey() {
				t.Values = append(t.Values, f)
			}
		}
		if len(t.Values) > 0 {
			e.pool.add(t)
		}
	}
}

func hasEntity(list []*model.Entity, e *model.Entity) bool {
	for _, x := range list {
		if x == e {
			return true
		}
	}
	return false
}

// Relax returns the query without some of its conditions and ORDER BY fields, which become selected fields, in all ways
// that leave an equality (section 4.1.2).
func Relax(q *workload.Query) []*workload.Query {
	var candidates []model.Field
	for _, p := range q.Where {
		candidates = model.AppendNew(candidates, p.Field)
	}
	candidates = model.AppendNew(candidates, q.Ordered()...)
	var list []*workload.Query
	n := len(candidates)
	for _, subset := range subsets(n) {
		relaxed := &workload.Query{Tree: q.Tree, Select: q.Select[:len(q.Select):len(q.Select)], Limit: q.Limit}
		drop := map[model.Field]bool{}
		for _, i := range subset {
			drop[candidates[i]] = true
			relaxed.Select = model.AppendNew(relaxed.Select, candidates[i])
		}
		equal := false
		for _, p := range q.Where {
			if !drop[p.Field] {
				relaxed.Where = append(relaxed.Where, p)
				equal = equal || p.Op == workload.Equal
			}
		}
		for _, o := range q.OrderBy {
			if !drop[o.Field] {
				relaxed.OrderBy = append(relaxed.OrderBy, o)
			}
		}
		if equal {
			list = append(list, relaxed)
		}
	}
	return list
}

// subsets returns the non-empty subsets of n things; of many things only those of one and two.
func subsets(n int) [][]int {
	var list [][]int
	if n > maxRelaxed {
		for i := range n {
			list = append(list, []int{i})
			for j := range i {
				list = append(list, []int{j, i})
			}
		}
		return list
	}
	for mask := 1; mask < 1<<n; mask++ {
		var subset []int
		for i := range n {
			if mask&(1<<i) != 0 {
				subset = append(subset, i)
			}
		}
		list = append(list, subset)
	}
	return list
}

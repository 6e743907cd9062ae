package enumerate

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Materialize returns the query's materialised view (algorithm 1): the equality fields of an entity as partition key;
// then the other equality fields, the other conditions' fields, the fields of ORDER BY and the keys of all entities as
// clustering key; the selected fields as values. first is the entity; nil puts all equality fields into the partition
// key. It returns nil if there is no such equality.
func Materialize(q *workload.Query, first *model.Entity) *model.Table {
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
		for _, k := range q.Tree.Entities[i].KeyFields() {
			add(&t.Clustering, k)
		}
	}
	for _, f := range q.Select {
		add(&t.Values, f)
	}
	return t
}

// determinedByOthers reports whether the key of another entity that is kept determines the i-th entity, e. Of entities that
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
	return cutAt(q, edge, end)
}

// cutAt makes the side with the entity end the prefix.
func cutAt(q *workload.Query, edge *model.Relationship, end *model.Entity) (prefix, remainder *workload.Query, ok bool) {
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

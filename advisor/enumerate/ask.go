package enumerate

import (
	"math/bits"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// queryShape is a query as enumeration sees it.
type queryShape struct {
	query *workload.Query
	tree  model.Tree // without what changes nothing, see trimRim

	equal  []model.Field // compared by = or IN: what a key can be bound by
	ranges []model.Field // compared by <, >, <=, >= or LIKE: what the column after those can be
	others []model.Field // compared by !=: filters only
	order  []model.Field // of ORDER BY, or else of GROUP BY: rows of a group come together if they are sorted so
	desc   []model.Field // of order
	due    []model.Field // of order, without what the statement's values determine
	wanted []model.Field // what the answer is made of
}

func newQueryShape(q *workload.Query, r *rules) *queryShape {
	a := &queryShape{query: q, tree: q.Tree}
	for _, p := range q.Where {
		if p.Op == workload.Equal || p.Op == workload.In {
			a.equal = model.AppendNew(a.equal, p.Field)
		}
	}
	for _, p := range q.Where {
		switch {
		case slices.Contains(a.equal, p.Field):
		case p.Op == workload.NotEqual:
			a.others = model.AppendNew(a.others, p.Field)
		default:
			a.ranges = model.AppendNew(a.ranges, p.Field)
		}
	}
	var fixed []model.Field // the same in all rows
	for _, p := range q.Where {
		if p.Op == workload.Equal {
			fixed = append(fixed, p.Field)
		}
	}
	for _, o := range q.OrderBy {
		if slices.Contains(a.order, o.Field) || slices.Contains(fixed, o.Field) {
			continue // in order already
		}
		a.order = append(a.order, o.Field)
		if o.Desc {
			a.desc = append(a.desc, o.Field)
		}
	}
	a.wanted = model.AppendNew(a.wanted, q.Select...)
	a.wanted = model.AppendNew(a.wanted, q.GroupBy...)
	a.wanted = model.AppendNew(a.wanted, q.Per...)
	for _, g := range q.Aggregates {
		if !g.Field.IsZero() {
			a.wanted = model.AppendNew(a.wanted, g.Field)
		}
	}
	if len(a.order) == 0 {
		for _, f := range q.GroupBy {
			if !slices.Contains(a.equal, f) {
				a.order = model.AppendNew(a.order, f)
			}
		}
	}
	for _, f := range a.order {
		if !determinesEntity(q.Tree, fixed, f.Entity) {
			a.due = append(a.due, f)
		}
	}
	a.trimRim(r)
	return a
}

// trimRim takes entities off the rim of the tree of which no field is asked for (rule rim).
func (a *queryShape) trimRim(r *rules) {
	used := map[*model.Entity]bool{}
	for _, list := range [][]model.Field{a.wanted, a.equal, a.ranges, a.others, a.order} {
		for _, f := range list {
			used[f.Entity] = true
		}
	}
	for again := true; again && len(a.tree.Entities) > 1; {
		again = false
		for _, e := range a.tree.Entities {
			if used[e] || !r.rim(a.tree, e) {
				continue
			}
			var keep []*model.Entity
			for _, x := range a.tree.Entities {
				if x != e {
					keep = append(keep, x)
				}
			}
			a.tree, again = a.tree.Span(keep), true
			break
		}
	}
}

// edgesOf returns an edge of e in the tree, and how many it has.
func edgesOf(tree model.Tree, e *model.Entity) (edge *model.Relationship, n int) {
	for _, r := range tree.Edges {
		if r.From == e || r.To == e {
			edge, n = r, n+1
		}
	}
	return edge, n
}

// part is a piece of a query that one table may answer.
type part struct {
	ask  *queryShape
	tree model.Tree
	// entry is the entity whose key the rows at hand bring; nil: the table is read first, by what the statement brings.
	entry *model.Entity
	exits []*model.Entity // entities from which the query goes on beyond the tree
	// checked: the entry's own conditions have been checked by what was read before.
	checked bool
}

// fieldsIn returns the fields of a list that the part's table is asked about.
func (x part) fieldsIn(list []model.Field) []model.Field {
	var in []model.Field
	for _, f := range list {
		if x.tree.Has(f.Entity) && (!x.checked || f.Entity != x.entry) {
			in = append(in, f)
		}
	}
	return in
}

// The limits of decomposition: of trees with more entities not all parts are tried.
const (
	wholeParts = 6 // entities up to which all connected parts are taken
	smallParts = 3 // entities of the parts that are taken of larger trees, besides paths, sides and the whole
)

// queryParts returns the pieces that a query may be cut into. cut reports whether some were left out.
//
// NoSE cuts graphs recursively at edges, which makes every connected part of a tree: n(n+1)/2 of a chain of n, but
// 2^(n-1)+n-1 of a star. Beyond wholeParts only these are taken: parts of up to smallParts entities, all paths, both sides
// of each edge with and without the end beyond it (the paper's prefixes and remainders of one cut), and the whole: at
// most n^3 parts.
//
// once takes the whole and both sides of each edge alone.
func (a *queryShape) queryParts(r *rules, once bool) (list []part, cut bool) {
	trees, cut := connectedParts(a.tree)
	if once {
		trees, cut = oneEdgeCuts(a.tree), false
	}
	for _, tree := range trees {
		p := part{ask: a, tree: tree}
		for _, e := range tree.Entities {
			for _, r := range a.tree.Edges {
				if (r.From == e || r.To == e) && !tree.HasEdge(r) {
					p.exits = append(p.exits, e)
					break
				}
			}
		}
		if len(a.equal) == 0 || hasFieldIn(a.equal, tree) {
			list = append(list, p)
		}
		for _, e := range tree.Entities {
			q := p
			q.entry, q.checked = e, true
			checked, unchecked := r.entries(a, p, e)
			if checked {
				list = append(list, q)
			}
			if q.checked = false; unchecked {
				list = append(list, q)
			}
		}
	}
	return list, cut
}

// oneEdgeCuts returns a tree and what it falls into if it is cut at one edge: of k edges 2k+1 parts, the largest first.
func oneEdgeCuts(tree model.Tree) []model.Tree {
	list := []model.Tree{tree}
	for _, r := range tree.Edges {
		with, without := tree.Cut(r, r.From)
		list = append(list, with, without)
	}
	slices.SortStableFunc(list, func(x, y model.Tree) int { return len(y.Entities) - len(x.Entities) })
	return list
}

// connectedParts returns connected parts of a tree, the largest first.
func connectedParts(tree model.Tree) (list []model.Tree, cut bool) {
	n := len(tree.Entities)
	if n > 64 {
		return []model.Tree{tree}, true
	}
	number := map[*model.Entity]int{}
	for i, e := range tree.Entities {
		number[e] = i
	}
	next := make([]uint64, n)
	for _, r := range tree.Edges {
		next[number[r.From]] |= 1 << number[r.To]
		next[number[r.To]] |= 1 << number[r.From]
	}
	most := n
	if n > wholeParts {
		most, cut = smallParts, true
	}
	seen := map[uint64]bool{}
	var masks []uint64
	add := func(mask uint64) {
		if mask != 0 && !seen[mask] {
			seen[mask] = true
			masks = append(masks, mask)
		}
	}
	for i := range n {
		add(1 << i)
	}
	for i := 0; i < len(masks); i++ { // grow by one neighbour at a time
		if bits.OnesCount64(masks[i]) >= most {
			continue
		}
		for j := range n {
			if masks[i]&(1<<j) == 0 && next[j]&masks[i] != 0 {
				add(masks[i] | 1<<j)
			}
		}
	}
	if cut {
		add(1<<n - 1)
		for i := range n {
			for j := range i {
				add(maskOf(tree.Span([]*model.Entity{tree.Entities[i], tree.Entities[j]}), number))
			}
		}
		for _, r := range tree.Edges {
			with, without := tree.Cut(r, r.From)
			from, to := maskOf(with, number), maskOf(without, number)
			add(from)
			add(to)
			add(from | 1<<number[r.To])
			add(to | 1<<number[r.From])
		}
	}
	slices.SortStableFunc(masks, func(x, y uint64) int {
		if d := bits.OnesCount64(y) - bits.OnesCount64(x); d != 0 {
			return d
		}
		if x < y {
			return -1
		}
		return 1
	})
	for _, mask := range masks {
		var t model.Tree
		for i, e := range tree.Entities {
			if mask&(1<<i) != 0 {
				t.Entities = append(t.Entities, e)
			}
		}
		for _, r := range tree.Edges {
			if mask&(1<<number[r.From]) != 0 && mask&(1<<number[r.To]) != 0 {
				t.Edges = append(t.Edges, r)
			}
		}
		list = append(list, t)
	}
	return list, cut
}

func maskOf(tree model.Tree, number map[*model.Entity]int) (mask uint64) {
	for _, e := range tree.Entities {
		mask |= 1 << number[e]
	}
	return mask
}

// hasFieldIn reports whether a field of the list is of an entity of the tree.
func hasFieldIn(list []model.Field, tree model.Tree) bool {
	return slices.ContainsFunc(list, func(f model.Field) bool { return tree.Has(f.Entity) })
}

// subset reports whether all of a are in b.
func subset(a, b []model.Field) bool {
	for _, f := range a {
		if !slices.Contains(b, f) {
			return false
		}
	}
	return true
}

// minus returns a without those of b.
func minus(a, b []model.Field) []model.Field {
	var left []model.Field
	for _, f := range a {
		if !slices.Contains(b, f) {
			left = append(left, f)
		}
	}
	return left
}

// common returns those of a that are in b.
func common(a, b []model.Field) []model.Field {
	var both []model.Field
	for _, f := range a {
		if slices.Contains(b, f) {
			both = append(both, f)
		}
	}
	return both
}

package rehearse

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// row is an entity: cells by attribute.
type row = map[*model.Attribute][]byte

// world is a few entities, and which of them are related.
type world struct {
	graph  *model.Graph
	random *rand.Rand
	pool   map[*model.Attribute][][]byte // what statements compare with, and what is just beyond
	rows   map[*model.Entity][]row
	links  map[*model.Relationship][][2]int // numbers of From and To
	copies map[*model.Relationship]bool     // over which a copied attribute comes
}

// fewest and more are how many entities of a kind there are; several more of which one other has many, so that limits cut and orders show.
const fewest, more, several = 3, 4, 6

// newWorld makes a world.
func newWorld(g *model.Graph, pool map[*model.Attribute][][]byte, random *rand.Rand) *world {
	w := &world{graph: g, random: random, pool: pool, rows: map[*model.Entity][]row{}, links: map[*model.Relationship][][2]int{}, copies: map[*model.Relationship]bool{}}
	for _, e := range g.Entities {
		for _, a := range e.Attributes {
			if a.Copied != nil {
				w.copies[a.Copied.Edge.Base()] = true
			}
		}
	}
	for _, e := range g.Entities {
		size := fewest + random.IntN(more)
		if slices.ContainsFunc(g.Relationships, func(r *model.Relationship) bool {
			return r.Kind == model.ManyToOne && r.From == e || r.Kind == model.OneToMany && r.To == e
		}) {
			size += several
		}
		for n := range size {
			w.rows[e] = append(w.rows[e], w.entity(e, n))
		}
	}
	for _, r := range g.Relationships {
		w.relate(r)
	}
	w.copy()
	w.mend()
	return w
}

// literals are the values that statements compare attributes with, and what comes just before and after each.
func literals(w *workload.Workload) map[*model.Attribute][][]byte {
	pool := map[*model.Attribute][][]byte{}
	add := func(where []workload.Predicate) {
		for _, p := range where {
			a := p.Field.Attribute
			for _, text := range p.List() {
				if strings.HasPrefix(text, "?") {
					continue
				}
				cell := literal(a.Type, strings.ReplaceAll(text, "%", ""))
				if cell == nil {
					continue
				}
				list := [][]byte{cell}
				if n := len(cell); n > 0 && (p.Op != workload.Equal && p.Op != workload.In && p.Op != workload.Like) && !strings.EqualFold(a.Type, "boolean") {
					for _, by := range []int{1, -1} {
						if last := int(cell[n-1]) + by; last >= 0 && last < 0x7f {
							near := bytes.Clone(cell)
							near[n-1] = byte(last) //nolint:gosec // in bounds
							list = append(list, near)
							if satisfies(p.Op, a.Type, near, [][]byte{cell}) { // mostly such: there may be further conditions
								list = append(list, near, near)
							}
						}
					}
				}
				if !slices.ContainsFunc(pool[a], func(x []byte) bool { return bytes.Equal(x, cell) }) {
					pool[a] = append(pool[a], list...)
				}
			}
		}
	}
	for _, s := range w.Statements {
		if s.Query != nil {
			add(s.Query.Where)
		} else {
			add(s.Write.Where)
		}
	}
	return pool
}

// draw is a value of an attribute: of few, so that they meet.
func (w *world) draw(a *model.Attribute) []byte {
	const few = 4
	if list := w.pool[a]; len(list) > 0 && w.random.IntN(2) == 0 {
		return list[w.random.IntN(len(list))]
	}
	return sample(a.Type, w.random.IntN(few))
}

// maybe is a value, or null where the model says that some have none.
func (w *world) maybe(a *model.Attribute) []byte {
	if a.Null > 0 && w.random.Float64() < max(a.Null, 0.2) {
		return nil
	}
	return w.draw(a)
}

// keys are the keys of an entity.
func keys(e *model.Entity) [][]*model.Attribute {
	return slices.Concat([][]*model.Attribute{e.Key}, e.Alternate)
}

// entity makes one; n is a number that no other has.
func (w *world) entity(e *model.Entity, n int) row {
	made := row{}
	for _, a := range e.Attributes {
		made[a] = w.maybe(a)
	}
	for _, key := range keys(e) {
		own := slices.DeleteFunc(slices.Clone(key), func(a *model.Attribute) bool { return a.Copied != nil || strings.EqualFold(a.Type, "boolean") })
		for i, a := range key {
			if made[a] == nil {
				made[a] = w.draw(a)
			}
			if len(own) > 0 && a == own[len(own)-1] {
				if made[a] = sample(a.Type, n); n < len(w.pool[a]) {
					made[a] = w.pool[a][n]
				}
			} else if i < len(key) {
				made[a] = sample(a.Type, w.random.IntN(2))
			}
		}
	}
	return made
}

// relate draws who is related to whom.
func (w *world) relate(r *model.Relationship) {
	from, to := len(w.rows[r.From]), len(w.rows[r.To])
	add := func(f, t int) { w.links[r] = append(w.links[r], [2]int{f, t}) }
	there := func() bool { return !r.Optional || w.copies[r] || w.random.IntN(10) < 7 }
	switch r.Kind {
	case model.OneToOne:
		for i, j := range w.random.Perm(to)[:min(from, to)] {
			if there() {
				add(i, j)
			}
		}
	case model.ManyToOne:
		for i := range from {
			if there() {
				add(i, w.random.IntN(to))
			}
		}
	case model.OneToMany:
		for j := range to {
			if there() {
				add(w.random.IntN(from), j)
			}
		}
	default:
		for i := range from {
			for j := range to {
				if w.random.IntN(10) < 4 {
					add(i, j)
				}
			}
		}
	}
}

// partner is the one that an entity has over a to-one edge, -1 if it has none.
func (w *world) partner(r *model.Relationship, of *model.Entity, n int) int {
	near, far := 0, 1
	if r.From != of {
		near, far = 1, 0
	}
	for _, l := range w.links[r] {
		if l[near] == n {
			return l[far]
		}
	}
	return -1
}

// owned is what a copied attribute of an entity has to be, nil if there is nobody to copy from.
func (w *world) owned(e *model.Entity, a *model.Attribute, n int) []byte {
	edge := a.Copied.Edge.Base()
	other := w.partner(edge, e, n)
	if other < 0 {
		return nil
	}
	return w.rows[edge.Other(e).Base()][other][a.Copied.Of]
}

// copy gives copied attributes what they are copies of; one may be a copy of a copy.
func (w *world) copy() {
	const deepest = 6
	for range deepest {
		for _, e := range w.graph.Entities {
			for _, a := range e.Attributes {
				for n := range w.rows[e] {
					if a.Copied != nil {
						w.rows[e][n][a] = w.owned(e, a, n)
					}
				}
			}
		}
	}
}

// mend takes away what would break the model's word, until nothing does.
func (w *world) mend() {
	for again := true; again; {
		again = false
		for _, e := range w.graph.Entities {
			if gone := w.unlawful(e); len(gone) > 0 {
				w.remove(e, gone)
				again = true
			}
		}
	}
}

// lawful tells whether a world keeps the model's word.
func (w *world) lawful() bool {
	for _, e := range w.graph.Entities {
		if len(w.unlawful(e)) > 0 {
			return false
		}
	}
	for r, pairs := range w.links {
		forward, back := ones(r)
		for i, p := range pairs {
			if slices.ContainsFunc(pairs[:i], func(l [2]int) bool { return l == p || forward && l[0] == p[0] || back && l[1] == p[1] }) {
				return false
			}
		}
	}
	return true
}

// unlawful are the entities that share a key with one before, lack what each has, or copy what they should not.
func (w *world) unlawful(e *model.Entity) (list []int) {
	seen := map[string]bool{}
	for n, one := range w.rows[e] {
		bad := false
		for i, key := range keys(e) {
			id := string(rune('0' + i))
			for _, a := range key {
				bad = bad || one[a] == nil && (i == 0 || a.Null == 0)
				id += "|" + shown(a.Type, one[a])
			}
			bad = bad || len(key) > 0 && seen[id]
			seen[id] = true
		}
		for _, a := range e.Attributes {
			bad = bad || one[a] == nil && a.Null == 0 && a.Copied == nil || a.Copied != nil && !bytes.Equal(one[a], w.owned(e, a, n))
		}
		for _, r := range w.graph.Relationships {
			for side, end := range []*model.Entity{r.From, r.To} {
				bad = bad || end == e && !r.Optional && dependent(r, side) && !slices.ContainsFunc(w.links[r], func(l [2]int) bool { return l[side] == n })
			}
		}
		if bad {
			list = append(list, n)
		}
	}
	return list
}

// ones tells whether a From may have one To only, and the other way round.
func ones(r *model.Relationship) (forward, back bool) {
	return r.Kind == model.OneToOne || r.Kind == model.ManyToOne, r.Kind == model.OneToOne || r.Kind == model.OneToMany
}

// dependent tells whether each entity of a side, From or To, has exactly one partner, if the relationship is not optional.
func dependent(r *model.Relationship, side int) bool {
	forward, back := ones(r)
	if r.Kind == model.OneToOne && side == 1 {
		return r.From.Count == r.To.Count
	}
	return side == 0 && forward || side == 1 && back
}

// remove takes entities away, and their relationships.
func (w *world) remove(e *model.Entity, gone []int) {
	number := make([]int, len(w.rows[e]))
	var rows []row
	for i, one := range w.rows[e] {
		if number[i] = len(rows); slices.Contains(gone, i) {
			number[i] = -1
			continue
		}
		rows = append(rows, one)
	}
	w.rows[e] = rows
	for r, pairs := range w.links {
		var left [][2]int
		for _, p := range pairs {
			if r.From == e {
				p[0] = number[p[0]]
			}
			if r.To == e {
				p[1] = number[p[1]]
			}
			if p[0] >= 0 && p[1] >= 0 {
				left = append(left, p)
			}
		}
		w.links[r] = left
	}
}

// clone is the same world, to try a write on.
func (w *world) clone() *world {
	own := *w
	own.rows, own.links = map[*model.Entity][]row{}, map[*model.Relationship][][2]int{}
	for e, rows := range w.rows {
		for _, r := range rows {
			own.rows[e] = append(own.rows[e], maps.Clone(r))
		}
	}
	for r, pairs := range w.links {
		own.links[r] = slices.Clone(pairs)
	}
	return &own
}

// combined is one row of a join: the numbers of its entities.
type combined map[*model.Entity]int

// value is what a row of a join has in a field.
func (w *world) value(r combined, f model.Field) []byte {
	return w.rows[f.Entity.Base()][r[f.Entity]][f.Attribute]
}

// mostCombined is how many rows of a join are looked at: of more a query is not tried.
const mostCombined = 4000

// join are all rows of the join over a tree; false: there are too many.
func (w *world) join(tree model.Tree) ([]combined, bool) {
	whole := tree.Reach(tree.Entities[0], func(*model.Relationship, *model.Entity) bool { return true })
	var found []combined
	for i := range w.rows[whole.Entities[0].Base()] {
		found = append(found, combined{whole.Entities[0]: i})
	}
	for _, edge := range whole.Edges {
		var next []combined
		for _, r := range found {
			for _, link := range w.links[edge.Base()] {
				at, to, other := link[0], link[1], edge.To
				if _, known := r[edge.From]; !known {
					at, to, other = link[1], link[0], edge.From
				}
				if r[edge.Other(other)] == at {
					longer := maps.Clone(r)
					longer[other] = to
					next = append(next, longer)
				}
			}
		}
		if found = next; len(found) > mostCombined {
			return nil, false
		}
	}
	return found, true
}

// satisfies compares as a condition does: null satisfies nothing.
func satisfies(op workload.Op, cqlType string, v []byte, with [][]byte) bool {
	if v == nil || len(with) == 0 || with[0] == nil && op != workload.In {
		return false
	}
	if op == workload.In {
		return slices.ContainsFunc(with, func(x []byte) bool { return x != nil && planrun.Compare(cqlType, v, x) == 0 })
	}
	if op == workload.Like {
		return bytes.HasPrefix(v, bytes.TrimSuffix(with[0], []byte("%")))
	}
	switch d := planrun.Compare(cqlType, v, with[0]); op {
	case workload.NotEqual:
		return d != 0
	case workload.Greater:
		return d > 0
	case workload.GreaterOrEqual:
		return d >= 0
	case workload.Less:
		return d < 0
	case workload.LessOrEqual:
		return d <= 0
	default:
		return d == 0
	}
}

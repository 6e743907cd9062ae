package sequence

import (
	"context"
	"math"
)

// branch searches what is left to its end: it opens and closes tables at steps one after the other, and turns back where the bound says
// that nothing better is to be found.
type branch struct {
	ctx    context.Context
	in     *instance
	search *search
	accept func(list [][]bool) bool // further conditions on a sequence; nil: none
	best   [][]bool
	known  float64 // what best costs
	limit  float64 // branches that cost no less are of no use
	left   float64 // least bound of what was not searched
	margin float64 // by which a sequence must be better to count
	nodes  int
	budget int // of arcs looked at
}

// nodeSteps is how many subgradient steps are made at a node.
const nodeSteps = 25

// run searches from the dual's state and returns whether all was searched.
func (b *branch) run(x *dual) bool {
	b.left = math.Inf(1)
	in := *b.in // the search gets each node's status
	b.search = newSearch(&in, math.MaxInt, b.ctx.Done())
	b.node(x)
	return math.IsInf(b.left, 1)
}

// child is a copy of a dual, to be changed.
func (x *dual) child() *dual {
	y := newDual(x.in)
	for t := range x.status {
		copy(y.status[t], x.status[t])
		copy(y.unborn[t], x.unborn[t])
		copy(y.kept[t], x.kept[t])
		copy(y.used[t], x.used[t])
		copy(y.loadAt[t], x.loadAt[t])
	}
	y.lambda = append(y.lambda[:0], x.lambda...)
	y.gradient = append(y.gradient[:0], x.gradient...)
	y.direction = append(y.direction[:0], x.direction...)
	y.loaded = append(y.loaded, x.loaded...)
	return y
}

func (b *branch) node(from *dual) {
	if b.budget <= 0 || b.ctx.Err() != nil {
		b.left = min(b.left, from.bound)
		return
	}
	b.nodes++
	x := from.child()
	defer func() { b.budget -= x.s.work + b.search.s.work; b.search.s.work = 0 }()
	for range 3 {
		if !x.ascend(b.ctx, nodeSteps, b.limit) || x.bound >= b.limit {
			return
		}
		if x.fix(b.limit) == 0 {
			break
		}
	}
	if !x.evaluate() || x.bound >= b.limit {
		return
	}
	b.offer(x)
	if x.bound >= b.limit {
		return
	}
	t, n := b.pick(x)
	if t < 0 {
		return // everything is settled: the multipliers may speak of less than that, the sequence itself is exact
	}
	order := []int8{open, closed}
	if x.kept[t][n] < 0.5 {
		order = []int8{closed, open}
	}
	b.budget -= x.s.work
	x.s.work = 0
	for _, to := range order {
		was := x.status[t][n]
		x.status[t][n] = to
		b.node(x)
		x.status[t][n] = was
	}
}

// offer tries the sequences that the multipliers suggest.
func (b *branch) offer(x *dual) {
	s := b.search
	s.in.status, s.in.unborn = x.status, x.unborn
	s.best, s.least = nil, math.Inf(1)
	for t := range s.rate {
		s.rate[t] = 2 * x.rate(t)
	}
	s.set(x.hint(0.5))
	if !s.buy() {
		return
	}
	b.take(s)
	if s.tuneAll(nil); s.best != nil {
		b.take(s)
	}
}

// take makes the present sequence the best if it is.
func (b *branch) take(s *search) {
	v := s.total()
	if !(v < b.limit) || !s.fits() || b.accept != nil && !b.accept(s.open) {
		return
	}
	b.best, b.known, b.limit = clone(s.open), v, v-b.margin
}

// pick chooses the table and step to branch over: where ways and courses disagree most, and between neither nor; step -1 if all is settled.
func (b *branch) pick(x *dual) (step, table int) {
	step, most := -1, -1.0
	for t := range x.status {
		space := b.in.p.Steps[t].Space
		for n, s := range x.status[t] {
			if s != free {
				continue
			}
			k := x.kept[t][n]
			score := 1 - math.Abs(2*k-1) + math.Abs(x.used[t][n]-k)
			if space > 0 { // what is large decides over most of the rest
				score += 2 * min(1, b.in.size[n]/space)
			}
			if score > most {
				step, table, most = t, n, score
			}
		}
	}
	return step, table
}

package sequence

import (
	"context"
	"math"
)

// branchAndBound searches what is left to its end: it opens and closes tables at steps one after the other, and turns back where the bound says
// that nothing better is to be found.
type branchAndBound struct {
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

// searchTree searches from the dual's state and returns whether all was searched.
func (b *branchAndBound) searchTree(x *dual) bool {
	b.left = math.Inf(1)
	in := *b.in // the search gets each node's status
	b.search = newSearch(&in, math.MaxInt, b.ctx.Done())
	b.exploreNode(x)
	return math.IsInf(b.left, 1)
}

// childNode is a copy of a dual, to be changed.
func (x *dual) childNode() *dual {
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

func (b *branchAndBound) exploreNode(from *dual) {
	if b.budget <= 0 || b.ctx.Err() != nil {
		b.left = min(b.left, from.bound)
		return
	}
	b.nodes++
	x := from.childNode()
	defer func() { b.budget -= x.s.work + b.search.s.work; b.search.s.work = 0 }()
	for range 3 {
		if !x.ascend(b.ctx, nodeSteps, b.limit) || x.bound >= b.limit {
			return
		}
		if x.fixTables(b.limit) == 0 {
			break
		}
	}
	if !x.evaluate() || x.bound >= b.limit {
		return
	}
	b.offerHint(x)
	if x.bound >= b.limit {
		return
	}
	t, n := b.branchingVariable(x)
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
		b.exploreNode(x)
		x.status[t][n] = was
	}
}

// offerHint tries the sequences that the multipliers suggest.
func (b *branchAndBound) offerHint(x *dual) {
	s := b.search
	s.in.status, s.in.unborn = x.status, x.unborn
	s.best, s.least = nil, math.Inf(1)
	for t := range s.rate {
		s.rate[t] = 2 * x.spacePrice(t)
	}
	s.setSequence(x.suggestSequence(0.5))
	if !s.repairDemands() {
		return
	}
	b.takeIfBetter(s)
	if s.tuneAll(nil); s.best != nil {
		b.takeIfBetter(s)
	}
}

// takeIfBetter makes the present sequence the best if it is.
func (b *branchAndBound) takeIfBetter(s *search) {
	v := s.totalCost()
	if !(v < b.limit) || !s.fitsSpace() || b.accept != nil && !b.accept(s.open) {
		return
	}
	b.best, b.known, b.limit = cloneBools(s.open), v, v-b.margin
}

// branchingVariable chooses the table and step to branch over: where paths and courses disagree most, and between neither nor; step -1 if all is settled.
func (b *branchAndBound) branchingVariable(x *dual) (step, table int) {
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

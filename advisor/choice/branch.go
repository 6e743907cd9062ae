package choice

import (
	"context"
	"math"
)

// branchAndBound searches a part to its end: it opens and closes tables one after the other, and turns back where the bound says
// that nothing better is to be found.
type branchAndBound struct {
	ctx    context.Context
	in     *instance
	accept func(open []bool) bool // further conditions on a choice; nil: none
	tight  *spaceFilter           // nil: space is not limited
	best   []bool
	known  float64 // what best costs
	limit  float64 // branches that cost no less are of no use
	left   float64 // least bound of what was not searched
	gap    float64 // that is good enough
	budget int     // of instance.work
}

// rootSteps and nodeSteps are how many subgradient steps are made.
const (
	rootSteps = 300
	nodeSteps = 25
)

// cutoff is the greatest cost that is better than another by more than rounding, and by more than the gap that is good
// enough.
func cutoff(v, gap float64) float64 {
	if math.IsInf(v, 1) {
		return v
	}
	return v - max(1e-10, gap)*math.Abs(v)
}

// searchTree searches from the dual's state and returns whether all was searched.
func (b *branchAndBound) searchTree(x *dual) bool {
	b.left = math.Inf(1)
	var tight []float64
	if b.tight != nil {
		tight = b.tight.dual.lambda
	}
	b.exploreNode(x.status, x.lambda, tight, x.bound, x.kept, x.used)
	return math.IsInf(b.left, 1)
}

func (b *branchAndBound) exploreNode(status []int8, lambda, tight []float64, bound float64, kept, used []float64) {
	if b.in.paths.Work > b.budget || b.ctx.Err() != nil {
		b.left = min(b.left, bound)
		return
	}
	status = append([]int8(nil), status...)
	if b.tight != nil {
		if tight = append([]float64(nil), tight...); !b.tight.fixAtNode(b.ctx, b.in, status, tight) {
			return
		}
	}
	x := newDual(b.in, status)
	copy(x.lambda, lambda)
	copy(x.kept, kept)
	copy(x.used, used)
	for range 3 {
		if !x.ascend(b.ctx, nodeSteps, b.limit) || x.bound >= b.limit {
			return
		}
		if !x.fixTables(b.limit) {
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
	n := b.branchingTable(x)
	if n < 0 {
		// Everything is settled: the multipliers may speak of less than that, the choice itself is exact.
		return
	}
	order := []int8{open, closed}
	if x.kept[n] < 0.5 {
		order = []int8{closed, open}
	}
	for _, to := range order {
		next := append([]int8(nil), x.status...)
		next[n] = to
		b.exploreNode(next, x.lambda, tight, max(bound, x.bound), x.kept, x.used)
	}
}

// offerHint tries the choices that the multipliers suggest.
func (b *branchAndBound) offerHint(x *dual) {
	keep := b.in.status
	b.in.status = x.status
	defer func() { b.in.status = keep }()
	s := newSearch(b.in, 0)
	s.rate = 2 * x.spacePrice()
	s.setChoice(x.suggestChoice(0.5))
	if !s.repairDemands(x.spacePrice()) {
		return
	}
	s.closeUseless(-1)
	if t := s.totalCost(); t < b.limit && (b.accept == nil || b.accept(s.open)) {
		b.best, b.known, b.limit = append([]bool(nil), s.open...), t, cutoff(t, b.gap)
	}
}

// branchingTable chooses the table to branch over: that of which the paths and the reduced costs disagree most; -1 if none is free.
func (b *branchAndBound) branchingTable(x *dual) int {
	best, most := -1, -1.0
	for n, s := range x.status {
		if s != free {
			continue
		}
		k := max(x.kept[n], 0)
		score := 1 - math.Abs(2*k-1) + math.Abs(x.used[n]-k)
		if x.space > 0 { // what is large decides over most of the rest
			score += 2 * min(1, b.in.size[n]/x.space)
		}
		if score > most {
			best, most = n, score
		}
	}
	return best
}

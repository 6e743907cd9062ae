package design

import (
	"math"
	"sort"

	"github.com/helenus-db/helenus/advisor/plan"
)

// reduction says which arcs and candidates may be part of a best choice.
type reduction struct {
	arcs   [][]bool // by demand
	tables []bool
	bound  float64 // no choice costs less
	capped bool    // arcs were left out that may be part of a best choice
}

// The greatest number of arcs of a demand in the integer program. It bounds the time that a design takes.
const (
	maxQueryArcs   = 400
	maxSupportArcs = 120
)

// rounds is how often the reduction is repeated with what it has left.
const rounds = 6

// reduce leaves out what can not be part of a best choice, so that the integer program stays small. known is what some
// choice, the incumbent, costs; +Inf and nil if none is known.
//
// An arc is of no use to a demand if even the cheapest plan over it is dearer than the demand's plan over existing
// tables, which are free. And it is of no use if a lower bound on the whole with the arc in it is above known. The bound
// shares a candidate's upkeep out among the queries that can still read it: each query then costs at least its cheapest
// plan with those shares in the prices, and the sum of these is below every choice. (A support query's floor is shared
// out among the candidates that need it, as part of their upkeep.)
func (t *task) reduce(known float64, incumbent choice) *reduction {
	r := &reduction{arcs: make([][]bool, len(t.demands)), tables: make([]bool, len(t.candidates))}
	for n := range r.tables {
		r.tables[n] = true
	}
	for n, d := range t.demands {
		r.arcs[n] = make([]bool, len(d.space.Arcs))
		limit := math.Inf(1)
		if a := t.cheapest(d, func(int) bool { return false }); a.feasible {
			limit = a.work
		}
		over := through(d, nil, d.prices)
		for i := range d.space.Arcs {
			r.arcs[n][i] = over[i] <= limit+slack(limit)
		}
	}
	for range rounds {
		if !t.round(r, known) {
			break
		}
	}
	if incumbent != nil { // else what is dear may be all that is feasible
		t.cap(r, incumbent)
	}
	return r
}

// cap leaves out the least promising arcs of demands that have too many: those over which the plan is dearest when what it
// costs to keep a candidate is shared out among all that can read it. The plans of the incumbent stay.
func (t *task) cap(r *reduction, incumbent choice) {
	upkeep := t.upkeep()
	readers := make([]float64, len(t.candidates))
	for n := range t.demands {
		for _, table := range t.readable(r, n) {
			readers[table]++
		}
	}
	for n, d := range t.demands {
		most := maxQueryArcs
		if d.needed != nil {
			most = maxSupportArcs
		}
		var left []int
		for i := range r.arcs[n] {
			if r.arcs[n][i] {
				left = append(left, i)
			}
		}
		if len(left) <= most {
			continue
		}
		r.capped = true
		prices := make([]float64, len(d.prices))
		for i, a := range d.space.Arcs {
			prices[i] = t.weights[d.statement] * d.times * d.prices[i]
			if table, ok := t.number[a.Table]; ok {
				prices[i] += upkeep[table] / max(1, readers[table])
			}
		}
		over := through(d, r.arcs[n], prices)
		sort.SliceStable(left, func(i, j int) bool { return over[left[i]] < over[left[j]] })
		for _, i := range left[most:] {
			r.arcs[n][i] = false
		}
		if !d.active(incumbent) {
			continue
		}
		way, _ := d.space.CheapestWay(t.priceOf(d), t.chosen(incumbent))
		for _, a := range way {
			r.arcs[n][a.Number] = true
		}
	}
}

// slack keeps rounding from leaving out what is as good.
func slack(v float64) float64 { return 1e-7 * (1 + math.Abs(v)) }

// round reduces once and tells whether it left anything out.
func (t *task) round(r *reduction, known float64) bool {
	upkeep := make([]float64, len(t.candidates))
	for n := range upkeep {
		upkeep[n] = t.putWork(n)
	}
	raw := make([][]float64, len(t.demands)) // price of the cheapest plan over each arc
	least := make([]float64, len(t.demands))
	for n, d := range t.demands {
		raw[n] = through(d, r.arcs[n], d.prices)
		least[n] = minimum(raw[n])
		if d.needed == nil || math.IsInf(least[n], 1) {
			continue
		}
		alive := 0.0
		for _, table := range d.needed {
			if r.tables[table] {
				alive++
			}
		}
		for _, table := range d.needed {
			upkeep[table] += t.weights[d.statement] * d.times * least[n] / max(1, alive)
		}
	}
	readers := make([]float64, len(t.candidates))
	for n, d := range t.demands {
		if d.needed == nil {
			for _, table := range t.readable(r, n) {
				readers[table]++
			}
		}
	}
	bound := 0.0
	over := make([][]float64, len(t.demands)) // the same with shares of the upkeep
	floor := make([]float64, len(t.demands))
	for n, d := range t.demands {
		if d.needed != nil {
			continue
		}
		prices := make([]float64, len(d.prices))
		for i, a := range d.space.Arcs {
			prices[i] = t.weights[d.statement] * d.prices[i]
			if table, ok := t.number[a.Table]; ok && readers[table] > 0 {
				prices[i] += upkeep[table] / readers[table]
			}
		}
		over[n] = through(d, r.arcs[n], prices)
		floor[n] = minimum(over[n])
		bound += floor[n]
	}
	r.bound = bound
	changed := false
	drop := func(n, i int, whole float64) {
		if r.arcs[n][i] && whole > known+slack(known) {
			r.arcs[n][i], changed = false, true
		}
	}
	for n, d := range t.demands {
		weight := t.weights[d.statement] * d.times
		for i := range d.space.Arcs {
			if d.needed == nil {
				drop(n, i, bound-floor[n]+over[n][i])
			} else {
				drop(n, i, bound+weight*(raw[n][i]-least[n]))
			}
		}
	}
	return t.prune(r, readers, bound, known) || changed
}

// prune leaves out candidates that nothing can read any more, or that only support queries can read and that cost too
// much for that; then the support queries that nothing needs, and the arcs over those candidates.
func (t *task) prune(r *reduction, readers []float64, bound, known float64) bool {
	read := make([]bool, len(t.candidates))
	for n := range t.demands {
		for _, table := range t.readable(r, n) {
			read[table] = true
		}
	}
	changed := false
	for n := range t.candidates {
		if r.tables[n] && (!read[n] || readers[n] == 0 && bound+t.putWork(n) > known+slack(known)) {
			r.tables[n], changed = false, true
		}
	}
	for n, d := range t.demands {
		dead := d.needed != nil
		for _, table := range d.needed {
			dead = dead && !r.tables[table]
		}
		for i, a := range d.space.Arcs {
			table, candidate := t.number[a.Table]
			if r.arcs[n][i] && (dead || candidate && !r.tables[table]) {
				r.arcs[n][i], changed = false, true
			}
		}
	}
	return changed
}

// readable returns the candidates that a demand's arcs still read, each once.
func (t *task) readable(r *reduction, n int) []int {
	var list []int
	seen := make(map[int]bool)
	for i, a := range t.demands[n].space.Arcs {
		if table, ok := t.number[a.Table]; ok && r.arcs[n][i] && !seen[table] {
			seen[table] = true
			list = append(list, table)
		}
	}
	return list
}

func minimum(list []float64) float64 {
	least := math.Inf(1)
	for _, v := range list {
		least = min(least, v)
	}
	return least
}

// through is, for each arc, the price of the cheapest plan over it along arcs that are kept; +Inf if there is none.
func through(d *demand, keep []bool, prices []float64) []float64 {
	arcs := make([]*plan.Arc, 0, len(d.space.Arcs))
	for i, a := range d.space.Arcs {
		if keep == nil || keep[i] {
			arcs = append(arcs, a)
		}
	}
	to := distances(d.space.States, arcs, prices, plan.Start, false)
	from := distances(d.space.States, arcs, prices, plan.Answered, true)
	list := make([]float64, len(prices))
	for i := range list {
		list[i] = math.Inf(1)
	}
	for _, a := range arcs {
		list[a.Number] = to[a.From] + prices[a.Number] + from[a.To]
	}
	return list
}

// distances returns the price of the cheapest way from a state to every other, or back.
func distances(states int, arcs []*plan.Arc, prices []float64, source int, back bool) []float64 {
	dist := make([]float64, states)
	for i := range dist {
		dist[i] = math.Inf(1)
	}
	dist[source] = 0
	for again := true; again; {
		again = false
		for _, a := range arcs {
			from, to := a.From, a.To
			if back {
				from, to = to, from
			}
			if next := dist[from] + prices[a.Number]; next < dist[to]-1e-12 {
				dist[to], again = next, true
			}
		}
	}
	return dist
}

package choice

import (
	"context"
	"math"
)

// dual is a lower bound on the cost of every choice, and what it tells of single tables and arcs.
//
// The conditions "demand d uses table n only if n is open" have multipliers u(d,n) >= 0, "demand d is there if n is open,
// of which it is needed" v(d,n) >= 0, and the space limit has one, m >= 0. With their weighted violations added to the
// cost nothing connects demands and tables any more: each demand takes its cheapest way with u in the prices; a support
// query is taken if that is less than the sum of its v; a table is open if its reduced cost, upkeep + m size + sum of v -
// sum of u, is negative. The sum of these is at most the cost of every choice (weak duality), for any multipliers; a
// subgradient method looks for those that raise it most. At best it comes to the linear relaxation's optimum.
type dual struct {
	in     *instance
	status []int8
	lambda []float64 // multipliers: of the demands, then of the space
	space  float64   // the limit, 0: none

	bound   float64
	prices  []float64 // by demand: of the cheapest way with u
	reduced []float64 // by table: reduced cost
	gradient,
	direction []float64
	used []float64 // by table: how often the ways used it lately, and whether it was open, 0 to 1
	kept []float64
}

func newDual(in *instance, status []int8) *dual {
	n := in.multipliers()
	d := &dual{in: in, status: status, space: in.problem.Space, lambda: make([]float64, n), gradient: make([]float64, n), direction: make([]float64, n),
		prices: make([]float64, len(in.demands)), reduced: make([]float64, len(status)), used: make([]float64, len(status)), kept: make([]float64, len(status))}
	return d
}

// share sets the multipliers to begin from: a table's upkeep, and the least price of the demands that it raises, are
// shared out among the queries that read it.
func (x *dual) share() {
	in := x.in
	burden := append([]float64(nil), in.upkeep...)
	for i := range in.demands {
		d := &in.demands[i]
		if d.always {
			continue
		}
		least := d.ways(make([]float64, len(d.tables)), x.status)
		if math.IsInf(least, 1) {
			continue
		}
		v := x.lambda[d.at+len(d.tables):]
		for j, n := range d.needed {
			v[j] = least / float64(len(d.needed))
			burden[n] += v[j]
		}
	}
	for i := range in.demands {
		d := &in.demands[i]
		if !d.always {
			continue
		}
		for j, n := range d.tables[1:] {
			count := 0
			for _, r := range in.readers[n] {
				if in.demands[r.demand].always {
					count++
				}
			}
			x.lambda[d.at+1+j] = burden[n] / float64(count)
		}
	}
}

// evaluate computes the bound and, in gradient, by how much the present answer violates each condition. False: there is no
// choice at all.
func (x *dual) evaluate() bool {
	in := x.in
	m := x.lambda[len(x.lambda)-1]
	bound := -m * x.space
	for n := range x.reduced {
		x.reduced[n] = in.upkeep[n] + m*in.size[n]
	}
	clear(x.gradient)
	for i := range in.demands {
		d := &in.demands[i]
		u := x.lambda[d.at : d.at+len(d.tables)]
		v := x.lambda[d.at+len(d.tables) : d.at+len(d.tables)+len(d.needed)]
		for j, n := range d.tables[1:] {
			x.reduced[n] -= u[j+1]
		}
		sum, must := 0.0, d.always
		for j, n := range d.needed {
			if x.status[n] == closed {
				continue
			}
			x.reduced[n] += v[j]
			sum += v[j]
			must = must || x.status[n] == open
		}
		price := d.ways(u, x.status)
		in.work += len(d.arcs)
		x.prices[i] = price
		if math.IsInf(price, 1) {
			if must {
				return false
			}
			for _, n := range d.needed { // no way: none of these can be open
				x.status[n] = closed
			}
			continue
		}
		there := must || price < sum
		if there {
			bound += price - sum
			g := x.gradient[d.at:]
			for at := int32(Answered); at != Start; {
				a := &d.arcs[d.over[at]]
				g[a.table]++
				at = a.from
			}
			g[0] = 0
			for j := range v {
				g[len(u)+j]--
			}
		}
	}
	size := 0.0
	for n, s := range x.status {
		if s == closed {
			continue
		}
		is := s == open || x.reduced[n] < 0
		if is {
			bound += x.reduced[n]
			size += in.size[n]
		}
		used := 0.0
		for _, r := range in.readers[n] {
			if x.gradient[r.at] > 0 {
				used = 1
			}
			if is {
				x.gradient[r.at]--
			}
		}
		if is {
			for _, r := range in.needers[n] {
				x.gradient[r.at]++
			}
			x.kept[n] += (1 - x.kept[n]) * 0.1
		} else {
			x.kept[n] -= x.kept[n] * 0.1
		}
		x.used[n] += (used - x.used[n]) * 0.1
	}
	if x.space > 0 {
		x.gradient[len(x.gradient)-1] = size - x.space
	}
	x.bound = bound
	return true
}

// ascend makes a number of subgradient steps towards known, the cost of the best choice, and ends with the multipliers
// that gave the greatest bound. False: no choice is left.
func (x *dual) ascend(ctx context.Context, steps int, known float64) bool {
	best, bestLambda := math.Inf(-1), append([]float64(nil), x.lambda...)
	theta, idle := 1.0, 0
	clear(x.direction)
	for range steps {
		if !x.evaluate() {
			return false
		}
		if x.bound > best+1e-7*math.Abs(best) || math.IsInf(best, -1) {
			idle = 0
		} else {
			idle++
		}
		if x.bound > best {
			best = x.bound
			copy(bestLambda, x.lambda)
		}
		if best >= known || ctx.Err() != nil {
			break
		}
		if idle >= 8 {
			theta /= 2
			idle = 0
			copy(x.lambda, bestLambda)
			clear(x.direction)
			if theta < 1e-3 {
				break
			}
			continue
		}
		if !x.step(theta, known, best) {
			break
		}
	}
	copy(x.lambda, bestLambda)
	return x.evaluate()
}

// step moves the multipliers along the violations, turned away from the last direction as far as they oppose it
// (Camerini, Fratta, Maffioli), by Polyak's length.
func (x *dual) step(theta, known, best float64) bool {
	for i, l := range x.lambda {
		if l <= 0 && x.gradient[i] < 0 {
			x.gradient[i] = 0
		}
	}
	along, norm := 0.0, 0.0
	for i, g := range x.gradient {
		along += g * x.direction[i]
		norm += x.direction[i] * x.direction[i]
	}
	turn := 0.0
	if along < 0 && norm > 0 {
		turn = -1.5 * along / norm
	}
	norm = 0
	for i, g := range x.gradient {
		v := g + turn*x.direction[i]
		if x.lambda[i] <= 0 && v < 0 {
			v = 0
		}
		x.direction[i] = v
		norm += v * v
	}
	if norm == 0 {
		return false
	}
	target := known
	if math.IsInf(target, 1) {
		target = best + max(1, math.Abs(best))*0.1
	}
	length := theta * (target + 1e-4*math.Abs(target) - x.bound) / norm
	for i := range x.lambda {
		x.lambda[i] = max(0, x.lambda[i]+length*x.direction[i])
	}
	return true
}

// fix settles tables whose other state would lift the bound above a limit. It tells whether it settled any.
func (x *dual) fix(limit float64) bool {
	changed := false
	for n, s := range x.status {
		if s != free {
			continue
		}
		switch r := x.reduced[n]; {
		case r >= 0 && x.bound+r > limit:
			x.status[n], changed = closed, true
		case r < 0 && x.bound-r > limit:
			x.status[n], changed = open, true
		}
	}
	return changed
}

// prune leaves out arcs whose use would lift the bound above a limit: with the arc, its demand takes the cheapest way over
// it, and its table is open. It tells how many it left out. The instance must be compacted then.
func (x *dual) prune(limit float64) int {
	dropped := 0
	for i := range x.in.demands {
		d := &x.in.demands[i]
		if math.IsInf(x.prices[i], 1) {
			continue
		}
		u := x.lambda[d.at : d.at+len(d.tables)]
		sum := 0.0
		must := d.always
		for j, n := range d.needed {
			if x.status[n] != closed {
				sum += x.lambda[d.at+len(d.tables)+j]
			}
			must = must || x.status[n] == open
		}
		rest := x.bound - (x.prices[i] - sum)
		if !must {
			rest = x.bound - min(0, x.prices[i]-sum)
		}
		d.ways(u, x.status)
		d.backward(u, x.status)
		kept := d.arcs[:0]
		for _, a := range d.arcs {
			over := rest + d.price[a.from] + a.price + u[a.table] + d.back[a.to] - sum
			if a.table != 0 && x.status[d.tables[a.table]] == free {
				over += max(0, x.reduced[d.tables[a.table]])
			}
			if over > limit {
				dropped++
				continue
			}
			kept = append(kept, a)
		}
		d.arcs = kept
	}
	return dropped
}

// compact leaves out what is settled, keeping the multipliers of the rest. False: no choice is left.
func (x *dual) compact() bool {
	in := x.in
	type held struct {
		tables, needed []int32
		lambda         []float64
	}
	before := map[int]held{}
	for i := range in.demands {
		d := &in.demands[i]
		before[d.number] = held{append([]int32(nil), d.tables...), append([]int32(nil), d.needed...), append([]float64(nil), x.lambda[d.at:d.at+len(d.tables)+len(d.needed)]...)}
	}
	space := x.lambda[len(x.lambda)-1]
	copy(in.status, x.status)
	if in.compact() >= 0 {
		return false
	}
	next := newDual(in, in.status)
	for i := range in.demands {
		d := &in.demands[i]
		h := before[d.number]
		value := make(map[int32]float64, len(h.tables))
		for j, n := range h.tables {
			value[n] = h.lambda[j]
		}
		for j, n := range d.tables[1:] {
			next.lambda[d.at+1+j] = value[n]
		}
		for j, n := range h.needed {
			value[n] = h.lambda[len(h.tables)+j]
		}
		for j, n := range d.needed {
			next.lambda[d.at+len(d.tables)+j] = value[n]
		}
	}
	next.lambda[len(next.lambda)-1] = space
	next.used, next.kept = x.used, x.kept
	*x = *next
	return true
}

// hint is a choice that the multipliers suggest: the tables of negative reduced cost, and those that the ways use.
func (x *dual) hint(often float64) []bool {
	list := make([]bool, len(x.status))
	for n, s := range x.status {
		list[n] = s == open || s == free && (x.kept[n] > often || x.used[n] > often)
	}
	return list
}

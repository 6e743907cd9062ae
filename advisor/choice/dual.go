package choice

import (
	"context"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/graph"
)

// dual is a lower bound on the cost of every choice, and what it tells of single tables and arcs.
//
// The conditions "demand d uses table n only if n is open" have multipliers u(d,n) >= 0, "demand d is there if n is open,
// of which it is needed" v(d,n) >= 0, and the space limit has one, m >= 0. With their weighted violations added to the
// cost nothing connects demands and tables any more: each demand takes its cheapest path with u in the prices; a support
// query is taken if that is less than the sum of its v; a table is open if its reduced cost, upkeep + m size + sum of v -
// sum of u, is negative. The sum of these is at most the cost of every choice (weak duality), for any multipliers; a
// subgradient method looks for those that raise it most. At best it comes to the linear relaxation's optimum.
type dual struct {
	in     *instance
	status []int8
	lambda []float64 // multipliers: of the demands, then of the space
	space  float64   // the limit, 0: none
	fixed  bool      // the multiplier of the space stays as it is

	bound   float64
	prices  []float64 // by demand: of the cheapest path with u
	sums    []float64 // by demand: what those that need it pay for it: sums of v and w
	there   []bool    // by demand: it is taken
	must    []bool    // by demand: whatever it costs
	reduced []float64 // by table: reduced cost
	gradient,
	direction []float64
	theta, weight float64   // of the steps, see ascend; 0: none has been made
	used          []float64 // by table: how often the paths used it lately, and whether it was open, 0 to 1
	kept          []float64
}

func newDual(in *instance, status []int8) *dual {
	n := in.multiplierCount()
	d := &dual{in: in, status: status, space: in.problem.Space, lambda: make([]float64, n), gradient: make([]float64, n), direction: make([]float64, n),
		prices: make([]float64, len(in.demands)), sums: make([]float64, len(in.demands)), there: make([]bool, len(in.demands)), must: make([]bool, len(in.demands)), reduced: make([]float64, len(status)), used: make([]float64, len(status)), kept: make([]float64, len(status))}
	return d
}

// initMultipliers sets the multipliers to begin from: a table's upkeep, and the least price of the demands that it raises, are
// shared out among the queries that read it.
func (x *dual) initMultipliers() {
	in := x.in
	burden := append([]float64(nil), in.upkeep...)
	for i := range in.demands {
		d := &in.demands[i]
		if d.always {
			continue
		}
		least := d.Shortest(1, d.barred(x.status), &in.paths)
		if math.IsInf(least, 1) {
			continue
		}
		v := x.lambda[d.at+len(d.Roles):]
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
		for j, role := range d.Roles[1:] {
			n, count := role.Table, 0
			for _, r := range in.readers[n] {
				if in.demands[r.demand].always {
					count++
				}
			}
			x.lambda[d.at+1+j] = burden[n] / float64(count)
		}
	}
}

// initSpacePrice sets the multipliers to begin from where space is limited. What space is worth is seldom of the order of anything else there is,
// and steps along all multipliers at once are long in coming to it, or never do; with a price of space that stays, the others are soon found. So
// prices are tried, each from the multipliers of the one before: a higher one if what is open at it takes more than there is, else a lower
// one, until the two are close. The bound is concave in the price, so that the best one lies between them.
func (x *dual) initSpacePrice(ctx context.Context) {
	if x.space == 0 || ablation.Without(ablation.SpacePricing) || !x.evaluate() {
		return
	}
	x.fixed = true
	defer func() { x.fixed, x.theta = false, 0 }()
	best, most := slices.Clone(x.lambda), x.bound
	low, high := 0.0, math.Inf(1)
	first := newSearch(x.in, 0).priceScale() / x.space * x.in.unit
	m := first
	for range charges {
		x.setSpacePrice(m)
		x.theta = 0
		if !x.ascend(ctx, chargeSteps, math.Inf(1)) {
			return // there is no choice, whatever the multipliers
		}
		if x.bound > most {
			most = x.bound
			copy(best, x.lambda)
		}
		if x.recentSpace() > x.space {
			low = m
		} else {
			high = m
		}
		switch {
		case math.IsInf(high, 1) && m > chargeMost*first:
			copy(x.lambda, best) // what is still open must be
			return
		case math.IsInf(high, 1):
			m *= chargeFar
		case low == 0:
			m /= chargeFar
		case high < low*chargeClose:
			copy(x.lambda, best)
			return
		default:
			m = math.Sqrt(low * high)
		}
	}
	copy(x.lambda, best)
}

// How a price of space is looked for: so many prices, so many steps at each, from one to the next until there is one on either side, and how
// close they are in the end. Space that costs so many times as much as anything else is not made dearer: what must be open fills it, and rounding of what that costs
// would be more than the rest of the bound.
const (
	charges     = 24
	chargeSteps = 60
	chargeFar   = 4
	chargeClose = 1.02
	chargeMost  = 1e6
)

// recentSpace is the space of what was open lately.
func (x *dual) recentSpace() float64 {
	sum := 0.0
	for n, s := range x.status {
		if s != closed {
			sum += x.kept[n] * x.in.size[n]
		}
	}
	return sum
}

// setSpacePrice sets the multiplier of the space. What demands pay for a table follows what it costs, in the shares that they had, or in
// equal ones.
func (x *dual) setSpacePrice(m float64) {
	in, last := x.in, len(x.lambda)-1
	was := x.spacePrice()
	x.lambda[last] = m
	more := x.spacePrice() - was
	for n, s := range x.status {
		if s == closed || in.size[n] == 0 {
			continue
		}
		burden, paid, readers := in.upkeep[n]+was*in.size[n], 0.0, 0
		for _, r := range in.needers[n] {
			burden += x.lambda[r.at]
		}
		for _, r := range in.readers[n] {
			paid += x.lambda[r.at]
			if in.demands[r.demand].always {
				readers++
			}
		}
		for _, r := range in.readers[n] {
			switch {
			case paid > 0 && burden > 0:
				x.lambda[r.at] *= (burden + more*in.size[n]) / burden
			case in.demands[r.demand].always:
				x.lambda[r.at] += (burden + more*in.size[n]) / float64(readers)
			}
		}
	}
}

// spacePrice is what the multipliers say that a byte of the space costs.
func (x *dual) spacePrice() float64 { return x.lambda[len(x.lambda)-1] / x.in.unit }

// evaluate computes the bound and, in gradient, by how much the present answer violates each condition. False: there is no
// choice at all.
func (x *dual) evaluate() bool {
	in := x.in
	m := x.spacePrice()
	bound := -m * x.space
	for n := range x.reduced {
		x.reduced[n] = in.upkeep[n] + m*in.size[n]
	}
	clear(x.gradient)
	clear(x.sums)
	for i := range in.demands {
		d := &in.demands[i]
		x.must[i] = d.always
		for j, n := range d.needed {
			if x.status[n] == closed {
				continue
			}
			v := x.lambda[d.at+len(d.Roles)+j]
			x.reduced[n] += v
			x.sums[i] += v
			x.must[i] = x.must[i] || x.status[n] == open
		}
		copy(d.full, x.lambda[d.at:d.at+len(d.Roles)])
		for j, role := range d.Roles[1:] {
			x.reduced[role.Table] -= d.full[j+1]
		}
		for k := range d.groups {
			w := x.lambda[d.groupsAt+k]
			x.sums[d.groups[k].raised] += w
			for _, j := range d.groups[k].roles {
				d.full[j] += w
			}
		}
	}
	for i := range in.demands {
		d := &in.demands[i]
		d.bar(d.full, x.status)
		price := d.Shortest(1, d.full, &in.paths)
		x.prices[i] = price
		x.there[i] = false
		if math.IsInf(price, 1) {
			if x.must[i] {
				return false
			}
			for _, n := range d.needed { // no path: none of these can be open
				x.status[n] = closed
			}
			continue
		}
		if !x.must[i] && price >= x.sums[i] {
			continue
		}
		x.there[i] = true
		bound += price - x.sums[i]
		g := x.gradient[d.at:]
		d.Walk(&in.paths, func(_ int32, e *graph.Edge) { g[e.Role]++ })
		g[0] = 0
		for j := range d.needed {
			g[len(d.Roles)+j]--
		}
	}
	for i := range in.demands {
		d := &in.demands[i]
		for k := range d.groups {
			at := d.groupsAt + k
			for _, j := range d.groups[k].roles {
				x.gradient[at] += x.gradient[d.at+int(j)]
			}
			if x.there[d.groups[k].raised] {
				x.gradient[at]--
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
	if x.space > 0 && !x.fixed {
		x.gradient[len(x.gradient)-1] = (size - x.space) / in.unit
	}
	x.bound = bound
	return true
}

// ascend makes a number of steps towards known, the cost of the best choice, and ends with the multipliers that gave the
// greatest bound. False: no choice is left.
//
// It is the volume algorithm (Barahona and Anbil): the answers along the way are averaged, with a weight that makes their
// violation least; each step goes from the best multipliers along the average's violation, which comes to be that of a
// solution of the relaxation. A step that raises the bound is kept; after several that do not, steps become shorter.
func (x *dual) ascend(ctx context.Context, steps int, known float64) bool {
	if !x.evaluate() {
		return false
	}
	best := x.bound
	center := append([]float64(nil), x.lambda...)
	if x.theta == 0 {
		x.theta, x.weight = 0.1, 0.1
		copy(x.direction, x.gradient)
	}
	theta, weight := x.theta, x.weight
	defer func() { x.theta, x.weight = max(theta, 1e-3), weight }()
	worse := 0
	progress, last := best, 0
	for i := range steps {
		if best >= known || ctx.Err() != nil {
			break
		}
		norm := 0.0
		for i, v := range x.direction {
			if v > 0 || center[i] > 0 {
				norm += v * v
			}
		}
		if norm < 1e-18 {
			break
		}
		target := min(known, best+max(0.1*math.Abs(best), 1e-9))
		length := theta * max(target-best, 0.02*(target-best)) / norm
		for i, v := range x.direction {
			x.lambda[i] = max(0, center[i]+length*v)
		}
		if !x.evaluate() {
			return false
		}
		x.updateDirection(weight)
		if x.bound > best {
			along := 0.0
			for i, v := range x.direction {
				along += v * x.gradient[i]
			}
			if along > 0 {
				theta = min(2, theta*1.5)
			}
			best, worse = x.bound, 0
			copy(center, x.lambda)
		} else if worse++; worse >= 6 {
			theta, worse = max(1e-4, theta*0.6), 0
		}
		if i-last >= 60 {
			if best-progress < 0.01*(min(known, 2*math.Abs(best))-best) {
				weight = max(weight/2, 1e-3)
			}
			progress, last = best, i
		}
	}
	copy(x.lambda, center)
	return x.evaluate()
}

// updateDirection takes the last answer's violation into the average, with the share up to most that makes it least.
func (x *dual) updateDirection(most float64) {
	up, down := 0.0, 0.0
	for i, g := range x.gradient {
		v := x.direction[i]
		up += v * (v - g)
		down += (v - g) * (v - g)
	}
	share := most
	if down > 0 {
		share = min(most, max(most/10, up/down))
	}
	for i, g := range x.gradient {
		x.direction[i] += share * (g - x.direction[i])
	}
}

// fixTables settles tables whose other state would lift the bound above a limit. It reports whether it settled any.
func (x *dual) fixTables(limit float64) bool {
	changed := false
	room := math.Inf(1)
	if x.space > 0 {
		room = x.space * (1 + 1e-12)
		for n, s := range x.status {
			if s == open {
				room -= x.in.size[n]
			}
		}
	}
	for n, s := range x.status {
		if s != free {
			continue
		}
		switch r := x.reduced[n]; {
		case x.in.size[n] > room+1e-12*x.space:
			x.status[n], changed = closed, true
		case x.bound+x.openingLift(n, -1) > limit:
			x.status[n], changed = closed, true
		case r < 0 && x.bound-r > limit:
			x.status[n], changed = open, true
		}
	}
	return changed
}

// openingLift is by how much opening a table lifts the bound, with the demands that it raises other than one.
func (x *dual) openingLift(n, but int) float64 {
	sum := max(0, x.reduced[n])
	for _, k := range x.in.needers[n] {
		if !x.must[k.demand] && int(k.demand) != but {
			sum += max(0, x.prices[k.demand]-x.sums[k.demand])
		}
	}
	return sum
}

// pruneArcs leaves out arcs whose use would lift the bound above a limit. It tells how many it left out. The instance must be compacted then.
func (x *dual) pruneArcs(limit float64) int {
	dropped := 0
	for i := range x.in.demands {
		d := &x.in.demands[i]
		kept := d.Edges[:0]
		x.arcLifts(i, func(e *graph.Edge, lift float64) {
			if x.bound+lift > limit {
				dropped++
				return
			}
			kept = append(kept, *e)
		})
		if !math.IsInf(x.prices[i], 1) {
			d.Edges = kept
		}
	}
	return dropped
}

// arcLifts tells by how much the use of each arc of a demand would lift the bound: with the arc, the demand takes the cheapest path over it, and its table is open. Of a
// demand without a path it tells nothing.
func (x *dual) arcLifts(i int, tell func(e *graph.Edge, lift float64)) {
	d := &x.in.demands[i]
	if math.IsInf(x.prices[i], 1) {
		return
	}
	now := x.prices[i]
	if !x.there[i] {
		now = x.sums[i]
	}
	d.bar(d.full, x.status)
	p := &x.in.paths
	d.Shortest(1, d.full, p)
	d.ShortestBack(1, d.full, p)
	for j := range d.Edges {
		e := &d.Edges[j]
		lift := p.Price[e.From] + e.Price + d.full[e.Role] + p.Back[e.To] - now
		if n := d.Roles[e.Role].Table; n != None && x.status[n] == free {
			lift += x.openingLift(int(n), i)
		}
		tell(e, lift)
	}
}

// presolve leaves out what is settled, keeping the multipliers of the rest. False: no choice is left.
func (x *dual) presolve() bool {
	in, held := x.in, x.saveState()
	copy(in.status, x.status)
	if in.presolve() >= 0 {
		return false
	}
	next := newDual(in, in.status)
	next.loadState(held)
	next.used, next.kept = x.used, x.kept
	*x = *next
	return true
}

// dualState is where a dual has come to, for one over some of the same demands.
type dualState struct {
	demands       map[int]demandState // by number
	space         [2]float64
	theta, weight float64
}

// demandState has a demand's multipliers, each with its direction.
type demandState struct {
	roles  map[graph.Role][2]float64
	needed map[int32][2]float64
	groups map[int][2]float64 // by id
}

func (x *dual) saveState() *dualState {
	in, last := x.in, len(x.lambda)-1
	at := func(i int) [2]float64 { return [2]float64{x.lambda[i], x.direction[i]} }
	h := &dualState{demands: make(map[int]demandState, len(in.demands)), space: at(last), theta: x.theta, weight: x.weight}
	for i := range in.demands {
		d := &in.demands[i]
		one := demandState{make(map[graph.Role][2]float64, len(d.Roles)), make(map[int32][2]float64, len(d.needed)), make(map[int][2]float64, len(d.groups))}
		for j, role := range d.Roles[1:] {
			one.roles[role] = at(d.at + 1 + j)
		}
		for j, n := range d.needed {
			one.needed[n] = at(d.at + len(d.Roles) + j)
		}
		for k, g := range d.groups {
			one.groups[g.id] = at(d.groupsAt + k)
		}
		h.demands[d.number] = one
	}
	return h
}

// spacePrice is that of the multipliers held.
func (h *dualState) spacePrice(in *instance) float64 { return h.space[0] / in.unit }

func (x *dual) loadState(h *dualState) {
	in := x.in
	take := func(i int, v [2]float64) { x.lambda[i], x.direction[i] = v[0], v[1] }
	take(len(x.lambda)-1, h.space)
	x.theta, x.weight = h.theta, h.weight
	for i := range in.demands {
		d := &in.demands[i]
		one := h.demands[d.number]
		for j, role := range d.Roles[1:] {
			take(d.at+1+j, one.roles[role])
		}
		for j, n := range d.needed {
			take(d.at+len(d.Roles)+j, one.needed[n])
		}
		for k, g := range d.groups {
			var sum [2]float64
			for _, id := range g.from {
				sum[0] += one.groups[id][0]
				sum[1] += one.groups[id][1]
			}
			take(d.groupsAt+k, sum)
		}
	}
}

// suggestChoice is a choice that the multipliers suggest: the tables of negative reduced cost, and those that the paths use.
func (x *dual) suggestChoice(often float64) []bool {
	list := make([]bool, len(x.status))
	for n, s := range x.status {
		list[n] = s == open || s == free && (x.kept[n] > often || x.used[n] > often)
	}
	return list
}

package sequence

import (
	"context"
	"math"
	"slices"
)

// dual is a lower bound on the cost of every sequence, and what it tells of single tables, arcs and steps.
//
// The conditions that tie graphs to tables get multipliers, not negative: "demand i uses table n at t only if n is kept at t" u,
// "demand i is there at t if n is kept, of which it is needed" v, "the load of g for t uses n only if that is kept at t-1" w, the
// space of a step m, and the number of tables that are created for it. With their weighted violations added to the cost nothing
// connects demands, loads and tables any more: each demand takes at each step its cheapest path with u in the prices; each load
// its cheapest path with w, which comes to the cost of creating its table; and each table goes along time on the cheapest course
// between kept and not kept (timepath.go), where a step costs its upkeep and what is paid and received for it. The sum of these is at
// most the cost of every sequence, for any multipliers; a subgradient method looks for those that raise it most. A course is a shortest
// path, so at best the sum comes to the optimum of the linear relaxation in which creating, keeping and dropping are as tight as can be.
//
// Steps of one class share u and v: for them a demand's cheapest path is looked for once.
type dual struct {
	in     *instance
	status [][]int8 // by step and table
	unborn [][]bool

	lambda    []float64 // multipliers: of the demands' roles and needed tables, of space by step, of creations by step, of loads
	gradient  []float64 // by how much the present answer violates each condition
	direction []float64 // average of these
	at        [][]int   // by demand and class: its first multiplier
	spaceAt   int
	mostAt    int
	loadAt    [][]int32  // by step and table: the first multiplier, -1: all are zero, as nobody has looked
	loaded    [][2]int32 // steps and tables that have some, in the order in which they got them
	unit      []float64  // by step: of space

	bound   float64
	price   [][]float64 // by demand and class: of the cheapest path with u
	sums    [][]float64 // by demand and class: what those that need it pay for it
	must    [][]int     // by demand and class: how many steps it is there for at all events
	reduced [][]float64 // by step and table
	birth   [][]float64 // by step and table: of creating it; set where the course was looked for
	course  []float64   // by table: what its course costs
	keeps   [][]bool    // by step and table: what the course keeps
	births  [][]bool    // by step and table: the course creates it for that step
	used    [][]float64 // by step and table: how often paths used it lately, and whether it was kept, 0 to 1
	kept    [][]float64

	theta, weight float64 // of the steps of ascend; 0: none has been made
	s             *scratch
	full          []float64
	timePath      timePath
}

func newDual(in *instance) *dual {
	steps, tables := len(in.status), len(in.size)
	x := &dual{in: in, s: newScratch(in.states), course: make([]float64, tables)}
	for t := range in.status {
		x.status = append(x.status, append([]int8(nil), in.status[t]...))
		x.unborn = append(x.unborn, append([]bool(nil), in.unborn[t]...))
		x.unit = append(x.unit, max(in.p.Steps[t].Space, 1e-300))
	}
	matrix := func() [][]float64 {
		list := make([][]float64, steps)
		for t := range list {
			list[t] = make([]float64, tables)
		}
		return list
	}
	x.reduced, x.birth, x.used, x.kept = matrix(), matrix(), matrix(), matrix()
	for range steps {
		x.keeps, x.births = append(x.keeps, make([]bool, tables)), append(x.births, make([]bool, tables))
		at := make([]int32, tables)
		for n := range at {
			at[n] = -1
		}
		x.loadAt = append(x.loadAt, at)
	}
	x.timePath = newTimePath(steps)
	x.layOutMultipliers()
	return x
}

// layOutMultipliers lays out the multipliers of demands, space and creations, all zero.
func (x *dual) layOutMultipliers() {
	in, n, classes := x.in, 0, len(x.in.begin)-1
	x.at = nil
	longest := 1
	for i := range in.demands {
		at := make([]int, classes)
		for k, g := range in.demands[i] {
			at[k] = n
			n += len(g.roles) + len(in.needed[i])
			longest = max(longest, len(g.roles))
		}
		x.at = append(x.at, at)
	}
	for _, g := range in.loads {
		longest = max(longest, len(g.roles))
	}
	x.spaceAt, x.mostAt = n, n+len(in.status)
	n += 2 * len(in.status)
	x.lambda, x.gradient, x.direction = make([]float64, n), make([]float64, n), make([]float64, n)
	x.full = make([]float64, longest)
	numbers := func() [][]float64 {
		list := make([][]float64, len(in.demands))
		for i := range list {
			list[i] = make([]float64, classes)
		}
		return list
	}
	x.price, x.sums = numbers(), numbers()
	x.must = make([][]int, len(in.demands))
	for i := range x.must {
		x.must[i] = make([]int, classes)
	}
}

// stepCount is how many steps a class has.
func (in *instance) stepCount(k int) int { return in.begin[k+1] - in.begin[k] }

// initMultipliers sets multipliers to begin from: what keeping a table costs, creating it included, is shared out among the demands that
// read it, by what they weigh.
func (x *dual) initMultipliers() {
	in := x.in
	count := make([]float64, len(in.size))
	for k := range len(in.begin) - 1 {
		clear(count)
		for i := range in.demands {
			for _, r := range in.demands[i][k].roles[1:] {
				count[r.table] += in.p.Demands[i].Weights[in.begin[k]]
			}
		}
		for i := range in.demands {
			weight := in.p.Demands[i].Weights[in.begin[k]]
			for j, r := range in.demands[i][k].roles {
				if j > 0 && count[r.table] > 0 {
					x.lambda[x.at[i][k]+j] = in.p.Tables[r.table].Upkeep[in.begin[k]] * weight / count[r.table]
				}
			}
		}
	}
}

// initSpacePrices sets the multipliers of space to begin from: of rates of all orders that which gives the greatest bound.
func (x *dual) initSpacePrices(worth float64) {
	if !x.in.spaceLimited() {
		return
	}
	best, least := 0.0, math.Inf(-1)
	set := func(m float64) {
		for t, step := range x.in.p.Steps {
			if step.Space > 0 {
				x.lambda[x.spaceAt+t] = m
			}
		}
	}
	if x.evaluate() {
		least = x.bound
	}
	for m := worth * 1e-5; m < worth*1e2; m *= 3 {
		if set(m); x.evaluate() && x.bound > least {
			best, least = m, x.bound
		}
	}
	set(best)
}

// spaceLimited reports whether some step has a limit on space.
func (in *instance) spaceLimited() bool {
	return slices.ContainsFunc(in.p.Steps, func(s Step) bool { return s.Space > 0 })
}

// spacePrice is what the multipliers say that a unit of the space of a step costs.
func (x *dual) spacePrice(t int) float64 { return x.lambda[x.spaceAt+t] / x.unit[t] }

// closedInClass reports whether a table is closed at all steps of a class.
func (x *dual) closedInClass(k int, n int32) bool {
	for t := x.in.begin[k]; t < x.in.begin[k+1]; t++ {
		if x.status[t][n] != closed {
			return false
		}
	}
	return true
}

// demandMultipliers sets full to what a demand pays by role.
func (x *dual) demandMultipliers(i, k int) []float64 {
	g := x.in.demands[i][k]
	full := x.full[:len(g.roles)]
	copy(full, x.lambda[x.at[i][k]:])
	full[0] = 0
	for j, r := range g.roles {
		if j > 0 && x.closedInClass(k, r.table) {
			full[j] = math.Inf(1)
		}
	}
	return full
}

// loadMultipliers sets full to what a load pays by role.
func (x *dual) loadMultipliers(t, n int) []float64 {
	g := x.in.loads[n]
	full := x.full[:len(g.roles)]
	if at := x.loadAt[t][n]; at >= 0 {
		copy(full, x.lambda[at:])
	} else {
		clear(full)
	}
	full[0] = 0
	for j, r := range g.roles {
		if j > 0 && x.status[t-1][r.table] == closed {
			full[j] = math.Inf(1)
		}
	}
	return full
}

// evaluate computes the bound and the gradient. False: there is no sequence at all.
func (x *dual) evaluate() bool {
	in, p := x.in, x.in.p
	bound := 0.0
	clear(x.gradient)
	x.s.work += len(x.lambda) + 5*len(in.size)*len(x.status) // about as much as arcs
	for t, step := range p.Steps {
		m := x.spacePrice(t)
		bound -= m*step.Space + x.lambda[x.mostAt+t]*float64(p.Most)
		for n := range x.reduced[t] {
			x.reduced[t][n] = p.Tables[n].Upkeep[t] + m*in.size[n]
			x.used[t][n] *= 0.9
		}
	}
	for i := range in.demands {
		for k := range in.demands[i] {
			more, ok := x.evaluateDemand(i, k)
			if !ok {
				return false
			}
			bound += more
		}
	}
	for _, l := range x.loaded {
		t, g := int(l[0]), in.loads[l[1]]
		for j, r := range g.roles[1:] {
			x.reduced[t-1][r.table] -= x.lambda[int(x.loadAt[t][l[1]])+1+j]
		}
	}
	for n := range in.size {
		cost := x.evaluateTable(n)
		if math.IsInf(cost, 1) {
			return false
		}
		bound += cost
	}
	x.bound = bound
	x.addTableViolations()
	return true
}

// evaluateDemand adds a demand's part to the reduced costs and gradient of a class, and returns its part of the bound.
func (x *dual) evaluateDemand(i, k int) (bound float64, ok bool) {
	in := x.in
	g, at := in.demands[i][k], x.at[i][k]
	begin, end := in.begin[k], in.begin[k+1]
	if len(g.arcs) == 0 && in.needed[i] != nil && len(in.needed[i]) == 0 {
		return 0, true
	}
	steps := end - begin
	must := steps
	sums := 0.0
	if !in.alwaysThere(i) {
		must = 0
		for t := begin; t < end; t++ {
			for _, n := range in.needed[i] {
				if x.status[t][n] == open {
					must++
					break
				}
			}
		}
		for j, n := range in.needed[i] {
			v := x.lambda[at+len(g.roles)+j]
			sums += v
			for t := begin; t < end; t++ {
				x.reduced[t][n] += v
			}
		}
	}
	price := g.shortestPath(in.p.Demands[i].Weights[begin], x.demandMultipliers(i, k), x.s)
	x.price[i][k], x.sums[i][k], x.must[i][k] = price, sums, must
	for j, r := range g.roles {
		if u := x.lambda[at+j]; j > 0 && u != 0 {
			for t := begin; t < end; t++ {
				x.reduced[t][r.table] -= u
			}
		}
	}
	if math.IsInf(price, 1) {
		if must > 0 {
			return 0, false
		}
		for _, n := range in.needed[i] { // no path: none of these can be kept
			for t := begin; t < end; t++ {
				x.status[t][n] = closed
			}
		}
		return 0, true
	}
	taken := must
	if price < sums {
		taken = steps
	}
	if taken == 0 {
		return 0, true
	}
	g.walkPath(x.s, func(_ int32, a *arc) {
		if a.role != 0 {
			x.gradient[at+int(a.role)] += float64(taken)
			n := g.roles[a.role].table
			for t := begin; t < end; t++ {
				x.used[t][n] = min(1, x.used[t][n]+0.1)
			}
		}
	})
	for j := range in.needed[i] {
		x.gradient[at+len(g.roles)+j] -= float64(taken)
	}
	return float64(taken) * (price - sums), true
}

// evaluateTable finds a table's course, notes what it keeps and creates, and returns its cost; +Inf if there is none.
func (x *dual) evaluateTable(n int) float64 {
	in := x.in
	last := len(x.status) - 1
	idle := !in.p.Tables[n].There
	for t := 0; t <= last && idle; t++ {
		idle = x.status[t][n] != open && (x.status[t][n] == closed || x.reduced[t][n] >= 0)
	}
	if idle {
		for t := range x.keeps {
			x.keeps[t][n], x.births[t][n] = false, false
			x.kept[t][n] *= 0.9
		}
		x.course[n] = 0
		return 0
	}
	x.computeBirths(n)
	x.loadTimePath(n)
	cost := x.timePath.forwardPass()
	x.course[n] = cost
	if math.IsInf(cost, 1) {
		return cost
	}
	x.timePath.traceBack(func(t int, keep, born bool) {
		x.keeps[t][n], x.births[t][n] = keep, born
		x.kept[t][n] *= 0.9
		if keep {
			x.kept[t][n] += 0.1
		}
	})
	for t := 1; t <= last; t++ {
		if x.births[t][n] {
			x.evaluateLoad(t, n)
		}
	}
	return cost
}

// computeBirths computes what creating a table costs for each step.
func (x *dual) computeBirths(n int) {
	p := x.in.p
	for t := range x.status {
		x.birth[t][n] = math.Inf(1)
		if x.unborn[t][n] || x.status[t][n] == closed || t > 0 && x.status[t-1][n] == open {
			continue
		}
		cost := p.Tables[n].Birth[t]
		if t > 0 {
			cost += x.lambda[x.mostAt+t]
			if p.Overlap {
				cost += x.spacePrice(t-1) * x.in.size[n]
			}
			if g := x.in.loads[n]; x.loadAt[t][n] < 0 {
				cost += g.floor
			} else {
				cost += g.shortestPath(1, x.loadMultipliers(t, n), x.s)
			}
		}
		x.birth[t][n] = cost
	}
}

func (x *dual) loadTimePath(n int) {
	k := &x.timePath
	k.there, k.drop, k.life = x.in.p.Tables[n].There, x.in.p.Tables[n].Drop, x.in.p.Life
	for t := range x.status {
		k.keep[t], k.birth[t], k.status[t] = x.reduced[t][n], x.birth[t][n], x.status[t][n]
	}
}

// evaluateLoad notes the path by which a table is created for a step.
func (x *dual) evaluateLoad(t, n int) {
	g := x.in.loads[n]
	if math.IsInf(g.shortestPath(1, x.loadMultipliers(t, n), x.s), 1) {
		x.unborn[t][n] = true // the tables that it could be read from are closed
		return
	}
	at := x.loadAt[t][n]
	if at < 0 {
		at = int32(len(x.lambda))
		x.loadAt[t][n] = at
		x.loaded = append(x.loaded, [2]int32{int32(t), int32(n)})
		for range g.roles {
			x.lambda, x.gradient, x.direction = append(x.lambda, 0), append(x.gradient, 0), append(x.direction, 0)
		}
	}
	g.walkPath(x.s, func(_ int32, a *arc) {
		if a.role != 0 {
			x.gradient[int(at)+int(a.role)]++
			h := g.roles[a.role].table
			x.used[t-1][h] = min(1, x.used[t-1][h]+0.1)
		}
	})
}

// addTableViolations takes the tables' part into the gradient.
func (x *dual) addTableViolations() {
	in := x.in
	for i := range in.demands {
		for k, g := range in.demands[i] {
			at := x.at[i][k]
			for j, r := range g.roles {
				if j > 0 {
					x.gradient[at+j] -= x.keptIn(k, int(r.table))
				}
			}
			for j, n := range in.needed[i] {
				x.gradient[at+len(g.roles)+j] += x.keptIn(k, int(n))
			}
		}
	}
	for _, l := range x.loaded {
		t := int(l[0])
		for j, r := range in.loads[l[1]].roles {
			if j > 0 && x.keeps[t-1][r.table] {
				x.gradient[int(x.loadAt[t][l[1]])+j]--
			}
		}
	}
	p := in.p
	for t, step := range p.Steps {
		size, born := 0.0, 0
		for n, is := range x.keeps[t] {
			if is {
				size += in.size[n]
			}
			if x.births[t][n] {
				born++
			}
			if p.Overlap && t+1 < len(x.births) && x.births[t+1][n] {
				size += in.size[n]
			}
		}
		if step.Space > 0 {
			x.gradient[x.spaceAt+t] = (size - step.Space) / x.unit[t]
		}
		if p.Most > 0 && t > 0 {
			x.gradient[x.mostAt+t] = float64(born - p.Most)
		}
	}
}

// keptIn is how many steps of a class a table is kept at.
func (x *dual) keptIn(k, n int) (count float64) {
	for t := x.in.begin[k]; t < x.in.begin[k+1]; t++ {
		if x.keeps[t][n] {
			count++
		}
	}
	return count
}

// ascend makes a number of steps towards known, the cost of the best sequence, and ends with the multipliers that gave the greatest
// bound. False: no sequence is left. It is the volume algorithm, as in package choice: the answers along the way are averaged, with a weight that
// makes their violation least; each step goes from the best multipliers along the average's violation.
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
	worse, progress, last := 0, best, 0
	for i := range steps {
		if best >= known || ctx.Err() != nil {
			break
		}
		center = append(center, make([]float64, len(x.lambda)-len(center))...) // loads that were not looked at before
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
		length := theta * (target - best) / norm
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
			center = append(center[:0], x.lambda...)
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
	clear(x.lambda)
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

// suggestSequence is a sequence that the multipliers suggest: what the courses keep, and the paths use, often enough.
func (x *dual) suggestSequence(often float64) [][]bool {
	list := make([][]bool, len(x.status))
	for t := range list {
		list[t] = make([]bool, len(x.in.size))
		for n, s := range x.status[t] {
			list[t][n] = s == open || s == free && (x.kept[t][n] > often || x.used[t][n] > often)
		}
	}
	return list
}

package sequence

import "math"

// fixTables settles tables at steps, and creations, whose other state would lift the bound above a limit: a course that keeps the table,
// does not, or creates it there, costs at least so much more than the cheapest. It tells how many it settled.
func (x *dual) fixTables(limit float64) (count int) {
	in := x.in
	for n := range in.size {
		loose := false
		for t := range x.status {
			loose = loose || x.status[t][n] == free
		}
		if !loose {
			continue
		}
		x.computeBirths(n)
		x.loadTimePath(n)
		x.timePath.forwardPass()
		x.timePath.backwardPass()
		rest := x.bound - x.course[n]
		for t := range x.status {
			if !x.unborn[t][n] && !math.IsInf(x.birth[t][n], 1) && rest+x.timePath.costCreating(t) > limit {
				x.unborn[t][n] = true
				count++
			}
			if x.status[t][n] != free {
				continue
			}
			switch {
			case rest+x.timePath.costKeeping(t)+x.raisedLift(t, n, -1) > limit:
				x.status[t][n] = closed
				count++
			case rest+x.timePath.costWithout(t) > limit:
				x.status[t][n] = open
				count++
			}
		}
	}
	if in.spaceLimited() {
		count += x.closeOversized()
	}
	return count
}

// closeOversized closes what does not fit beside what is open.
func (x *dual) closeOversized() (count int) {
	for t, step := range x.in.p.Steps {
		if step.Space == 0 {
			continue
		}
		room := step.Space * (1 + 1e-12)
		for n, s := range x.status[t] {
			if s == open {
				room -= x.in.size[n]
			}
		}
		for n, s := range x.status[t] {
			if s == free && x.in.size[n] > room+1e-12*step.Space {
				x.status[t][n] = closed
				count++
			}
		}
	}
	return count
}

// raisedLift is by how much the demands other than one that keeping a table at a step raises lift the bound.
func (x *dual) raisedLift(t, n, but int) float64 {
	sum := 0.0
	k := x.in.class[t]
	for _, i := range x.in.demandsNeeding(n) {
		if i != but && x.must[i][k] < x.in.stepCount(k) {
			sum += max(0, x.price[i][k]-x.sums[i][k])
		}
	}
	return sum
}

// demandsNeeding are the demands that need a table.
func (in *instance) demandsNeeding(n int) []int {
	if in.needers == nil {
		in.needers = make([][]int, len(in.size))
		for i, list := range in.needed {
			for _, n := range list {
				in.needers[n] = append(in.needers[n], i)
			}
		}
	}
	return in.needers[n]
}

// pruneArcs finds the arcs whose use at any step of their class would lift the bound above a limit: with the arc, its demand takes the
// cheapest path over it, and its table is kept. It returns, by demand and class, which arcs stay (nil: all), and how many go.
func (x *dual) pruneArcs(limit float64) (stay [][][]bool, gone int) {
	in := x.in
	steps, tables := len(x.status), len(in.size)
	keeping := make([][]float64, steps) // how much keeping a table at a step costs more
	for t := range keeping {
		keeping[t] = make([]float64, tables)
	}
	for n := range in.size {
		x.computeBirths(n)
		x.loadTimePath(n)
		x.timePath.forwardPass()
		x.timePath.backwardPass()
		for t := range keeping {
			keeping[t][n] = math.Inf(1)
			if x.status[t][n] != closed {
				keeping[t][n] = max(0, x.timePath.costKeeping(t)-x.course[n])
			}
		}
	}
	stay = make([][][]bool, len(in.demands))
	for i := range in.demands {
		stay[i] = make([][]bool, len(in.demands[i]))
		for k, g := range in.demands[i] {
			if math.IsInf(x.price[i][k], 1) || len(g.arcs) == 0 {
				continue
			}
			weight := in.p.Demands[i].Weights[in.begin[k]]
			rest := x.bound - x.price[i][k]
			if x.must[i][k] < in.stepCount(k) && x.price[i][k] >= x.sums[i][k] {
				rest = x.bound - x.sums[i][k] // it is not taken at some steps
			}
			full := x.demandMultipliers(i, k)
			g.shortestPath(weight, full, x.s)
			g.shortestToSink(weight, full, x.s)
			least := make([]float64, len(g.roles))
			for j, r := range g.roles {
				if j == 0 {
					continue
				}
				least[j] = math.Inf(1)
				for t := in.begin[k]; t < in.begin[k+1]; t++ {
					least[j] = min(least[j], keeping[t][r.table]+x.raisedLift(t, int(r.table), i))
				}
			}
			kept, lost := make([]bool, len(g.arcs)), 0
			for a := range g.arcs {
				arc := &g.arcs[a]
				over := rest + x.s.price[arc.from] + weight*arc.price + full[arc.role] + x.s.back[arc.to] + least[arc.role]
				if kept[a] = over <= limit; !kept[a] {
					lost++
				}
			}
			if lost > 0 {
				stay[i][k], gone = kept, gone+lost
			}
		}
	}
	return stay, gone
}

// presolve leaves out of the instance what is settled, and what pruneArcs has found; the multipliers of the rest are kept. The instance
// takes the dual's status.
func (x *dual) presolve(stay [][][]bool) {
	in := x.in
	for t := range x.status {
		copy(in.status[t], x.status[t])
		copy(in.unborn[t], x.unborn[t])
	}
	type old struct {
		at    int
		roles []int32
		count int
	}
	from := make([][]old, len(in.demands))
	for i := range in.demands {
		from[i] = make([]old, len(in.demands[i]))
		for k, g := range in.demands[i] {
			o := old{at: x.at[i][k], count: len(g.roles)}
			is := make([]bool, len(g.roles))
			changed := stay != nil && stay[i][k] != nil
			for j, r := range g.roles {
				is[j] = j == 0 || !x.closedInClass(k, r.table)
				changed = changed || !is[j]
			}
			if changed {
				in.demands[i][k], o.roles = g.subgraph(func(a int) bool {
					return is[g.arcs[a].role] && (stay == nil || stay[i][k] == nil || stay[i][k][a])
				})
			}
			from[i][k] = o
		}
	}
	lambda, direction, loads, space := x.lambda, x.direction, x.loadAt, x.spaceAt
	x.layOutMultipliers()
	take := func(to, from int) { x.lambda[to], x.direction[to] = lambda[from], direction[from] }
	for i := range in.demands {
		for k, g := range in.demands[i] {
			o, at := from[i][k], x.at[i][k]
			for j := range g.roles {
				was := j
				if o.roles != nil {
					was = int(o.roles[j])
				}
				take(at+j, o.at+was)
			}
			for j := range in.needed[i] {
				take(at+len(g.roles)+j, o.at+o.count+j)
			}
		}
	}
	for j := range 2 * len(x.status) {
		take(x.spaceAt+j, space+j)
	}
	shift := x.mostAt + len(x.status) - (space + 2*len(x.status))
	for i := space + 2*len(x.status); i < len(lambda); i++ {
		x.lambda, x.direction, x.gradient = append(x.lambda, lambda[i]), append(x.direction, direction[i]), append(x.gradient, 0)
	}
	for _, l := range x.loaded {
		loads[l[0]][l[1]] += int32(shift)
	}
}

// arcs is how many arcs the demands have, over all classes, and how many steps of tables are free.
func (in *instance) sizeLeft() (arcs, tables int) {
	for i := range in.demands {
		for _, g := range in.demands[i] {
			arcs += len(g.arcs)
		}
	}
	for t := range in.status {
		for _, s := range in.status[t] {
			if s == free {
				tables++
			}
		}
	}
	return arcs, tables
}

package sequence

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/graph"
)

// search improves a sequence. Its steps are whole courses: of one table, given all others, the best course along time is found
// at once (tuneTable), so that no move is lost because a table would have to come or go at several steps together.
type search struct {
	in       *instance
	open     [][]bool
	price    [][]float64 // by demand and step: of the cheapest path, weighed; 0 if it is not there, +Inf if there is none
	uses     [][][]int32 // by demand and step: the tables of that path
	load     [][]float64 // by step and table that is created for it: of the cheapest path of its load, else 0
	sources  [][][]int32 // by step and table: the tables of that path
	born     [][]int32   // by step: tables that are created for it
	size     []float64   // by step
	rate     []float64   // by step: what a unit of space beyond the limit costs
	concern  [][]int32   // by table: the demands that can read it or that it raises
	feeds    [][]int32   // by table: the tables whose load can read it
	barred   int         // table that may not be bought; choice.None
	timePath timePath
	sums     float64 // of what weigh added up, for what is rounding
	s        *graph.Paths
	journal  [][2]int32 // flips, steps and tables
	budget   int        // of scratch.work, for each descent
	limit    int        // of scratch.work, for this one
	done     <-chan struct{}

	best  [][]bool // within all limits
	least float64
}

func newSearch(in *instance, budget int, done <-chan struct{}) *search {
	steps, tables := len(in.status), len(in.size)
	s := &search{in: in, concern: make([][]int32, tables), feeds: make([][]int32, tables), timePath: newTimePath(steps), s: newPaths(in.states), budget: budget, done: done,
		size: make([]float64, steps), rate: make([]float64, steps), born: make([][]int32, steps), barred: choice.None, least: math.Inf(1)}
	for range steps {
		s.open = append(s.open, make([]bool, tables))
		s.load = append(s.load, make([]float64, tables))
		s.sources = append(s.sources, make([][]int32, tables))
	}
	note := func(lists [][]int32, n, i int32) {
		if l := lists[n]; len(l) == 0 || l[len(l)-1] != i {
			lists[n] = append(l, i)
		}
	}
	for i := range in.demands {
		s.price, s.uses = append(s.price, make([]float64, steps)), append(s.uses, make([][]int32, steps))
		seen := map[int32]bool{}
		for _, r := range in.demands[i].Roles[1:] {
			seen[r.Table] = true
		}
		for _, n := range in.needed[i] {
			seen[n] = true
		}
		for n := range seen {
			note(s.concern, n, int32(i))
		}
	}
	for g := range in.loads {
		if !in.mayBeBorn(g) {
			continue
		}
		for _, r := range in.loads[g].Roles[1:] {
			note(s.feeds, r.Table, int32(g))
		}
	}
	return s
}

// mayBeBorn reports whether a table may be created for any step but the first.
func (in *instance) mayBeBorn(n int) bool {
	for t := 1; t < len(in.unborn); t++ {
		if !in.unborn[t][n] {
			return true
		}
	}
	return false
}

// budgetSpent reports whether no more moves are to be tried; cancelled, whether the search must end with what it has.
func (s *search) budgetSpent() bool { return s.s.Work > s.limit || s.cancelled() }

func (s *search) cancelled() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// setSequence makes a sequence the present one. Tables that must be open are, closed ones are not.
func (s *search) setSequence(list [][]bool) {
	for t := range s.open {
		for n, status := range s.in.status[t] {
			s.open[t][n] = status == open || status == free && list != nil && list[t][n]
		}
	}
	for t := range s.open {
		s.recountStep(t)
		for i := range s.in.demands {
			s.repriceDemand(i, t)
		}
	}
	s.journal = s.journal[:0]
}

// recountStep counts anew what is created for a step, and how much space it takes.
func (s *search) recountStep(t int) {
	p := s.in.p
	for _, n := range s.born[t] {
		s.load[t][n] = 0
	}
	s.born[t] = s.born[t][:0]
	s.size[t] = 0
	for n, is := range s.open[t] {
		if is {
			s.size[t] += s.in.size[n]
			if !p.keptBefore(s.open, t, n) {
				s.born[t] = append(s.born[t], int32(n))
				s.repriceLoad(t, n)
			}
		} else if p.Overlap && t+1 < len(s.open) && s.open[t+1][n] {
			s.size[t] += s.in.size[n]
		}
	}
}

// repriceLoad finds the cheapest path to fill a table that is created for a step.
func (s *search) repriceLoad(t, n int) {
	if t == 0 {
		return
	}
	g := s.in.loads[n]
	s.load[t][n] = g.Cheapest(s.open[t-1], s.s)
	s.sources[t][n] = s.pathTables(g, s.load[t][n], s.sources[t][n])
}

func (s *search) pathTables(g *graph.Graph, price float64, list []int32) []int32 {
	list = list[:0]
	if !math.IsInf(price, 1) {
		g.Walk(s.s, func(_ int32, e *graph.Edge) {
			if e.Role != 0 {
				list = append(list, g.Roles[e.Role].Table)
			}
		})
	}
	return list
}

// repriceDemand finds a demand's cheapest path at a step.
func (s *search) repriceDemand(i, t int) {
	s.price[i][t] = s.demandCost(i, t)
	if s.price[i][t] == 0 && !s.in.demandPresent(i, s.open[t]) {
		s.uses[i][t] = s.uses[i][t][:0]
		return
	}
	s.uses[i][t] = s.pathTables(s.in.demands[i], s.price[i][t], s.uses[i][t])
}

// demandCost is what a demand costs at a step.
func (s *search) demandCost(i, t int) float64 {
	if !s.in.demandPresent(i, s.open[t]) {
		return 0
	}
	v := s.in.demands[i].Cheapest(s.open[t], s.s)
	if math.IsInf(v, 1) {
		return v
	}
	return v * s.in.p.Demands[i].Weights[t]
}

// excessCost is what so much space at a step costs for being too much.
func (s *search) excessCost(t int, size float64) float64 {
	if limit := s.in.p.Steps[t].Space; limit > 0 && size > limit*(1+1e-12) {
		return s.rate[t] * (size - limit)
	}
	return 0
}

// totalCost is what the present sequence costs, with what is paid for space; +Inf if a demand has no path or a limit is broken.
func (s *search) totalCost() float64 {
	p, sum := s.in.p, 0.0
	for t := range s.open {
		for i := range s.price {
			sum += s.price[i][t]
		}
		for n, is := range s.open[t] {
			if is {
				sum += p.Tables[n].Upkeep[t]
			} else if p.keptBefore(s.open, t, n) {
				sum += p.Tables[n].Drop
			}
		}
		for _, n := range s.born[t] {
			sum += p.Tables[n].Birth[t] + s.load[t][n]
		}
		if t > 0 && len(s.born[t]) > 0 && (p.Steps[t].Closed || p.Most > 0 && len(s.born[t]) > p.Most) {
			return math.Inf(1)
		}
		sum += s.excessCost(t, s.size[t])
	}
	if p.Life > 1 && !s.keepsLife() {
		return math.Inf(1)
	}
	return sum
}

// keepsLife reports whether all tables are kept as long as they must be.
func (s *search) keepsLife() bool {
	for t := range s.open {
		for _, n := range s.born[t] {
			for e := t + 1; e < len(s.open) && e < t+s.in.p.Life; e++ {
				if !s.open[e][n] {
					return false
				}
			}
		}
	}
	return true
}

// fitsSpace reports whether the present sequence is within the space of all steps.
func (s *search) fitsSpace() bool {
	for t, step := range s.in.p.Steps {
		if step.Space > 0 && s.size[t] > step.Space*(1+1e-12) {
			return false
		}
	}
	return true
}

// recordBest notes the present sequence if it is the best within all limits.
func (s *search) recordBest() {
	if !s.fitsSpace() {
		return
	}
	if v := s.totalCost(); better(v, s.least) {
		s.best, s.least = cloneBools(s.open), v
	}
}

// setCourse makes a table's course the present one.
func (s *search) setCourse(n int, course func(t int) bool) {
	first, last := -1, -1
	for t := range s.open {
		if s.open[t][n] == course(t) {
			continue
		}
		s.open[t][n] = !s.open[t][n]
		s.journal = append(s.journal, [2]int32{int32(t), int32(n)})
		if first < 0 {
			first = t
		}
		last = t
		for _, i := range s.concern[n] {
			if s.mayChangePath(int(i), t, n) {
				s.repriceDemand(int(i), t)
			}
		}
	}
	if first < 0 {
		return
	}
	for t := max(0, first-1); t <= min(last+1, len(s.open)-1); t++ {
		s.recountStep(t)
	}
}

// mayChangePath reports whether a demand's path may be another now that a table was opened or closed.
func (s *search) mayChangePath(i, t, n int) bool {
	return s.open[t][n] || slices.Contains(s.uses[i][t], int32(n)) || slices.Contains(s.in.needed[i], int32(n))
}

// mark and rollback: what was flipped since is flipped back.
func (s *search) mark() int { return len(s.journal) }

func (s *search) rollback(mark int) {
	flipped := map[int32]map[int32]bool{} // by table
	for _, f := range s.journal[mark:] {
		if flipped[f[1]] == nil {
			flipped[f[1]] = map[int32]bool{}
		}
		flipped[f[1]][f[0]] = !flipped[f[1]][f[0]]
	}
	for n, steps := range flipped {
		s.setCourse(int(n), func(t int) bool { return s.open[t][n] != steps[int32(t)] })
	}
	s.journal = s.journal[:mark]
}

// tuneTable finds the best course of a table, given all others, and takes it if it is better than the present one. It reports whether it was.
func (s *search) tuneTable(n int) bool {
	now := s.weighTable(n)
	cost := s.timePath.forwardPass()
	if math.IsInf(cost, 1) || !math.IsInf(now, 1) && cost >= now-1e-11*s.sums {
		return false
	}
	course := make([]bool, len(s.open))
	s.timePath.traceBack(func(t int, keep, _ bool) { course[t] = keep })
	s.setCourse(n, func(t int) bool { return course[t] })
	return true
}

// weighTable sets the time path to what a table's courses cost, and returns what the present one does.
func (s *search) weighTable(n int) float64 {
	p, k := s.in.p, &s.timePath
	x := &p.Tables[n]
	k.there, k.drop, k.life = x.There, x.Drop, p.Life
	s.sums = 0
	for t := range s.open {
		k.status[t] = s.in.status[t][n]
		s.setKeepCost(t, n)
	}
	for t := range s.open {
		k.birth[t] = s.creationCost(t, n)
	}
	now, was := 0.0, x.There
	young := 0 // how many steps it must still be kept
	for t := range s.open {
		is := s.open[t][n]
		switch {
		case is && !was:
			now += k.birth[t]
			young = p.Life
		case was && !is:
			if now += x.Drop; young > 0 {
				now = math.Inf(1)
			}
		}
		if is {
			now += k.keep[t]
		}
		if is && k.status[t] == closed || !is && k.status[t] == open {
			now = math.Inf(1)
		}
		young--
		was = is
	}
	return now
}

// setKeepCost sets what keeping a table at a step costs more than not, all else being as it is.
func (s *search) setKeepCost(t, n int) {
	k, is := &s.timePath, s.open[t][n]
	if k.keep[t] = 0; k.status[t] != free {
		return
	}
	size := s.in.size[n]
	others := s.size[t]
	if is || s.in.p.Overlap && t+1 < len(s.open) && s.open[t+1][n] {
		others -= size
	}
	on, off := s.in.p.Tables[n].Upkeep[t]+s.excessCost(t, others+size)-s.excessCost(t, others), 0.0
	compare := func(now float64, value func() float64, same bool) {
		other := now
		if !same {
			s.open[t][n] = !is
			other = value()
			s.open[t][n] = is
		}
		if math.IsInf(now, 1) && math.IsInf(other, 1) {
			return
		}
		if is {
			on, off = on+now, off+other
		} else {
			on, off = on+other, off+now
		}
	}
	for _, i := range s.concern[n] {
		needed := slices.Contains(s.in.needed[i], int32(n))
		compare(s.price[i][t], func() float64 { return s.demandCost(int(i), t) }, is && !needed && !slices.Contains(s.uses[i][t], int32(n)))
	}
	if t+1 < len(s.open) {
		for _, g := range s.born[t+1] {
			if int(g) == n || !slices.Contains(s.feeds[n], g) {
				continue
			}
			compare(s.load[t+1][g], func() float64 { return s.in.loads[g].Cheapest(s.open[t], s.s) }, is && !slices.Contains(s.sources[t+1][g], int32(n)))
		}
	}
	switch {
	case math.IsInf(off, 1) && !math.IsInf(on, 1):
		k.status[t] = open
	case math.IsInf(on, 1):
		k.status[t] = closed
	default:
		k.keep[t] = on - off
		s.sums += on + off
	}
}

// creationCost is what creating a table for a step costs, with what it takes of the step before.
func (s *search) creationCost(t, n int) float64 {
	p := s.in.p
	if s.in.unborn[t][n] {
		return math.Inf(1)
	}
	cost := p.Tables[n].Birth[t]
	if t == 0 {
		return cost
	}
	is := s.open[t][n] && !s.open[t-1][n]
	if others := len(s.born[t]); p.Most > 0 {
		if is {
			others--
		}
		if others >= p.Most {
			return math.Inf(1)
		}
	}
	if is {
		cost += s.load[t][n]
	} else {
		cost += s.in.loads[n].Cheapest(s.open[t-1], s.s)
	}
	if size := s.in.size[n]; p.Overlap && size > 0 {
		others := s.size[t-1]
		if s.open[t-1][n] || s.open[t][n] {
			others -= size
		}
		cost += s.excessCost(t-1, others+size) - s.excessCost(t-1, others)
	}
	return cost
}

// repairDemands opens tables until every demand has a path at every step: for each the cheapest path with what opening its tables there costs
// in the price. False: it can not.
func (s *search) repairDemands() bool {
	p := s.in.p
	for again := true; again; {
		again = false
		for t := range s.open {
			for i := range s.in.demands {
				if !math.IsInf(s.price[i][t], 1) {
					continue
				}
				g := s.in.demands[i]
				u := make([]float64, len(g.Roles))
				for j, r := range g.Roles {
					if j == 0 || s.open[t][r.Table] {
						continue
					}
					n := int(r.Table)
					if s.in.status[t][n] == closed || n == s.barred {
						u[j] = math.Inf(1)
						continue
					}
					u[j] = p.Tables[n].Upkeep[t] + s.rate[t]*s.in.size[n] + 1e-12
					if (t == 0 || !s.open[t-1][n]) && (t+1 == len(s.open) || !s.open[t+1][n]) {
						u[j] += p.Tables[n].Birth[t]
						if floor := floorPrice(s.in.loads[n]); t > 0 && !math.IsInf(floor, 1) {
							u[j] += floor
						}
					}
				}
				if math.IsInf(g.Shortest(p.Demands[i].Weights[t], u, s.s), 1) {
					return false
				}
				var list []int
				g.Walk(s.s, func(_ int32, e *graph.Edge) {
					if e.Role != 0 && !s.open[t][g.Roles[e.Role].Table] {
						list = append(list, int(g.Roles[e.Role].Table))
					}
				})
				for _, n := range list {
					again = true
					s.openTable(t, n)
				}
			}
		}
	}
	return true
}

// openTable opens a table at a step, and from as long before as it takes to create it.
func (s *search) openTable(t, n int) {
	p, from := s.in.p, t
	for from > 0 && !s.open[from-1][n] {
		if !s.in.unborn[from][n] && (p.Most == 0 || len(s.born[from]) < p.Most) && !math.IsInf(s.in.loads[n].Cheapest(s.open[from-1], s.s), 1) {
			break
		}
		if s.in.status[from-1][n] == closed {
			break
		}
		from--
	}
	until := t
	if p.Life > 1 {
		until = min(len(s.open)-1, max(t, from+p.Life-1))
	}
	s.setCourse(n, func(e int) bool { return s.open[e][n] || e >= from && e <= until && s.in.status[e][n] != closed })
}

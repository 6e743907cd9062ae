package sequence

import (
	"math"
	"slices"
)

// How the rate for space rises and falls, how many designs smoothing chooses from, and
// how often all tables are tuned (it ends by itself but for rounding).
const (
	swings  = 4
	swing   = 8
	rises   = 30
	designs = 40
	tunings = 30
)

// descendFrom descends from a sequence. tables are those that it may open besides the ones that it keeps. Where space is limited the
// descent is over sequences beyond it, too, which pay for what is too much, at a rate that rises until all fits, falls, and rises again.
func (s *search) descendFrom(begin [][]bool, tables []int, rate func(t int) float64) {
	for t := range s.rate {
		s.rate[t] = rate(t)
	}
	s.setSequence(begin)
	if !s.repairDemands() {
		return
	}
	s.descend(tables)
	if !s.in.spaceLimited() {
		return
	}
	s.descendUntilFits(tables)
	for range swings {
		if s.cancelled() || s.best == nil {
			return
		}
		for t := range s.rate {
			s.rate[t] /= swing
		}
		s.descend(tables)
		s.descendUntilFits(tables)
	}
}

// descendUntilFits descends with rising rates for the space of those steps that have too little, until all fits.
func (s *search) descendUntilFits(tables []int) {
	for range rises {
		if s.fitsSpace() {
			return
		}
		for t, step := range s.in.p.Steps {
			if step.Space > 0 && s.size[t] > step.Space*(1+1e-12) {
				s.rate[t] *= 2
			}
		}
		if s.descend(nil); s.fitsSpace() && !s.cancelled() {
			s.descend(tables)
		}
	}
}

// tuneAll tunes what is kept anywhere, and some more tables, until nothing gets better.
func (s *search) tuneAll(more []int) {
	for round, again := 0, true; again && round < tunings && !s.cancelled(); round++ {
		again = false
		for _, n := range s.presentTables(more) {
			again = s.tuneTable(n) || again
		}
	}
	s.recordBest()
}

// presentTables lists the tables that are kept at some step, and more.
func (s *search) presentTables(more []int) []int {
	is := make([]bool, len(s.in.size))
	for _, n := range more {
		is[n] = true
	}
	for t := range s.open {
		for n, open := range s.open[t] {
			is[n] = is[n] || open
		}
	}
	var list []int
	for n := range is {
		if is[n] {
			list = append(list, n)
		}
	}
	return list
}

// descend takes steps while they help: tables tuned; designs exchanged between steps; a table kept out of an interval of time and what lacks
// bought anew; a table let in for an interval, and then those tuned that it may make useless.
func (s *search) descend(tables []int) {
	s.limit = s.s.work + s.budget
	s.tuneAll(tables)
	s.smoothDesigns(nil)
	for again := true; again && !s.budgetSpent(); {
		again = false
		for _, n := range s.presentTables(tables) {
			for _, interval := range s.intervalsOf(n) {
				if s.budgetSpent() {
					return
				}
				again = s.flipInterval(n, interval[0], interval[1]) || again
			}
		}
		again = s.tryDetours() || again
		if again {
			s.tuneAll(tables)
			s.smoothDesigns(nil)
		}
	}
}

// tryDetours tries for each demand, where space is limited, the paths that it would take if space cost more: all tables of one are let in
// together, over all steps or those of a class, and what they make useless goes. It reports whether any was better.
func (s *search) tryDetours() (found bool) {
	if !s.in.spaceLimited() {
		return false
	}
	last := len(s.open) - 1
	for i := range s.in.demands {
		for _, factor := range [...]float64{1, 8, 64} {
			if s.budgetSpent() {
				return found
			}
			found = s.tryDetour(i, 0, last, factor) || found
			if classes := len(s.in.begin) - 1; classes > 1 && classes <= maxIntervals {
				for k := range classes {
					found = s.tryDetour(i, s.in.begin[k], s.in.begin[k+1]-1, factor) || found
				}
			}
		}
	}
	return found
}

func (s *search) tryDetour(i, from, to int, factor float64) bool {
	g, p := s.in.demands[i][s.in.class[from]], s.in.p
	space := p.Steps[from].Space
	if len(g.arcs) == 0 || space == 0 || !s.in.demandPresent(i, s.open[from]) {
		return false
	}
	before, mark := s.totalCost(), s.mark()
	if math.IsInf(before, 1) {
		return false
	}
	rate := factor * before / float64(len(s.open)) / space / 8
	u := make([]float64, len(g.roles))
	for j, r := range g.roles {
		n := int(r.table)
		switch {
		case j == 0:
		case s.in.status[from][n] == closed:
			u[j] = math.Inf(1)
		case s.open[from][n] && !slices.Contains(s.uses[i][from], r.table):
			u[j] = 1e-12 // others keep it
		default:
			u[j] = p.Tables[n].Upkeep[from] + rate*s.in.size[n]
		}
	}
	if math.IsInf(g.shortestPath(p.Demands[i].Weights[from], u, s.s), 1) {
		return false
	}
	path := s.pathTables(g, 0, nil)
	var touched []int
	for _, n := range path {
		touched = append(touched, s.neighboursOf(int(n), from, to)...)
		s.setCourse(int(n), func(t int) bool {
			return s.open[t][n] || t >= from && t <= to && s.in.status[t][n] == free
		})
	}
	if s.mark() == mark {
		return false
	}
	slices.Sort(touched)
	for _, k := range slices.Compact(touched) {
		if !slices.Contains(path, int32(k)) {
			s.tuneTable(k)
		}
	}
	for _, n := range path {
		s.tuneTable(int(n))
	}
	if better(s.totalCost(), before) {
		s.recordBest()
		return true
	}
	s.rollback(mark)
	return false
}

// intervalsOf are the intervals over which a table may be let in or kept out as one: where it is kept now; else those of the classes,
// and of what is before and after each.
func (s *search) intervalsOf(n int) (list [][2]int) {
	last := len(s.open) - 1
	add := func(from, to int) {
		if x := [2]int{from, to}; !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	for t := 0; t <= last; t++ {
		if !s.open[t][n] {
			continue
		}
		from := t
		for t < last && s.open[t+1][n] {
			t++
		}
		add(from, t)
	}
	if list != nil {
		return list
	}
	add(0, last)
	if classes := len(s.in.begin) - 1; classes <= maxIntervals {
		for k := range classes {
			add(s.in.begin[k], s.in.begin[k+1]-1)
		}
	}
	return list
}

// maxIntervals is up to how many classes a table is tried in each alone.
const maxIntervals = 8

// flipInterval turns a table over during an interval, repairs, and takes that back unless it is better. It reports whether it was.
func (s *search) flipInterval(n, from, to int) bool {
	before, mark := s.totalCost(), s.mark()
	was := s.open[from][n]
	touched := s.neighboursOf(n, from, to)
	s.setCourse(n, func(t int) bool {
		if t < from || t > to || s.in.status[t][n] != free {
			return s.open[t][n]
		}
		return !was
	})
	if s.mark() == mark {
		return false
	}
	if was {
		s.barred = n
		ok := s.repairDemands()
		s.barred = -1
		if !ok {
			s.rollback(mark)
			return false
		}
		for _, f := range s.journal[mark:] {
			if !slices.Contains(touched, int(f[1])) {
				touched = append(touched, int(f[1]))
			}
		}
	}
	for _, k := range touched {
		if k != n {
			s.tuneTable(k)
		}
	}
	if s.tuneTable(n); better(s.totalCost(), before) {
		s.recordBest()
		return true
	}
	s.rollback(mark)
	return false
}

// neighboursOf are the kept tables that a demand or load can read which can read n, during an interval.
func (s *search) neighboursOf(n, from, to int) []int {
	is := map[int32]bool{}
	for t := from; t <= to; t++ {
		for _, i := range s.concern[n] {
			for _, k := range s.uses[i][t] {
				is[k] = true
			}
		}
	}
	var list []int
	for k := range is {
		list = append(list, int(k))
	}
	slices.Sort(list)
	return list
}

// Smooth gives each step of a sequence the design of another of its steps, or one of some more, where all together is cheaper so: changes come sooner or
// later, or not at all. It answers the best, the sequence itself if that is. The error is an *InvalidError or an *UnsatisfiableError.
func Smooth(p *Problem, list, more [][]bool) ([][]bool, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	s := newSearch(in, fullEffort.searching, nil)
	if s.setSequence(list); math.IsInf(s.totalCost(), 1) {
		return list, nil
	}
	s.smoothDesigns(more)
	if s.best == nil || !better(p.Cost(s.best), p.Cost(list)) {
		return list, nil
	}
	return s.best, nil
}

// smoothDesigns chooses for each step one of the designs of all steps, or of some more: a shortest path along time, in which a design costs what
// answering and keeping do, and two in a row what the change between them does. Life is not looked at; what breaks it is not taken.
func (s *search) smoothDesigns(more [][]bool) {
	var pool [][]bool
	for _, list := range [][][]bool{s.open, more} {
		for _, design := range list {
			if len(pool) < designs && !slices.ContainsFunc(pool, func(d []bool) bool { return slices.Equal(d, design) }) {
				pool = append(pool, append([]bool(nil), design...))
			}
		}
	}
	if len(pool) < 2 {
		return
	}
	steps := len(s.open)
	costs := make([][]float64, steps)
	before, mark := s.totalCost(), s.mark()
	for t := range costs {
		costs[t] = make([]float64, len(pool))
		for d := range pool {
			if t > 0 && s.in.class[t] == s.in.class[t-1] && s.sameUpkeep(t) {
				costs[t][d] = costs[t-1][d]
				continue
			}
			costs[t][d] = s.designCost(t, pool[d])
		}
	}
	loads := make([][][]tableChange, len(pool)) // between two designs
	for a := range pool {
		loads[a] = make([][]tableChange, len(pool))
		for b := range pool {
			loads[a][b] = s.changeBetween(pool[a], pool[b])
		}
	}
	over := make([][]int, steps)
	sum := make([]float64, len(pool))
	for t := range steps {
		next := make([]float64, len(pool))
		over[t] = make([]int, len(pool))
		for b := range pool {
			if next[b] = math.Inf(1); math.IsInf(costs[t][b], 1) {
				continue
			}
			if t == 0 {
				next[b] = costs[t][b] + s.initialCost(pool[b])
				continue
			}
			for a := range pool {
				if v := sum[a] + costs[t][b]; v < next[b] {
					if v += s.transitionCost(t, loads[a][b], pool[a]); v < next[b] {
						next[b], over[t][b] = v, a
					}
				}
			}
		}
		sum = next
	}
	best := 0
	for b := range sum {
		if sum[b] < sum[best] {
			best = b
		}
	}
	if !better(sum[best], before) {
		return
	}
	chosen := make([][]bool, steps)
	for t := steps - 1; t >= 0; t-- {
		chosen[t] = pool[best]
		best = over[t][best]
	}
	for n := range s.in.size {
		s.setCourse(n, func(t int) bool { return s.in.status[t][n] == open || s.in.status[t][n] == free && chosen[t][n] })
	}
	if !better(s.totalCost(), before) {
		s.rollback(mark)
		return
	}
	s.recordBest()
}

// sameUpkeep reports whether a step is like the one before in what a design costs in it.
func (s *search) sameUpkeep(t int) bool {
	p := s.in.p
	if p.Steps[t].Space != p.Steps[t-1].Space || s.rate[t] != s.rate[t-1] {
		return false
	}
	for n := range p.Tables {
		if p.Tables[n].Upkeep[t] != p.Tables[n].Upkeep[t-1] {
			return false
		}
	}
	return true
}

// designCost is what a design costs at a step, but for changes.
func (s *search) designCost(t int, design []bool) float64 {
	keep := s.open[t]
	defer func() { s.open[t] = keep }()
	s.open[t] = design
	sum, size := 0.0, 0.0
	for n, is := range design {
		if is {
			if s.in.status[t][n] == closed {
				return math.Inf(1)
			}
			sum += s.in.p.Tables[n].Upkeep[t]
			size += s.in.size[n]
		} else if s.in.status[t][n] == open {
			return math.Inf(1)
		}
	}
	for i := range s.in.demands {
		sum += s.demandCost(i, t)
	}
	return sum + s.excessCost(t, size)
}

// tableChange is a table that is created or dropped between two designs, and what filling it costs.
type tableChange struct {
	table   int
	dropped bool
	price   float64
}

func (s *search) changeBetween(a, b []bool) (list []tableChange) {
	for n := range a {
		switch {
		case a[n] && !b[n]:
			list = append(list, tableChange{table: n, dropped: true})
		case b[n] && !a[n]:
			list = append(list, tableChange{table: n, price: s.in.loads[n].cheapestPrice(a, s.s)})
		}
	}
	return list
}

// transitionCost is what a change costs at the start of a step.
func (s *search) transitionCost(t int, list []tableChange, before []bool) float64 {
	p, sum, created, coming := s.in.p, 0.0, 0, 0.0
	for _, l := range list {
		if l.dropped {
			sum += p.Tables[l.table].Drop
			continue
		}
		if s.in.unborn[t][l.table] {
			return math.Inf(1)
		}
		created++
		sum += p.Tables[l.table].Birth[t] + l.price
		coming += s.in.size[l.table]
	}
	if p.Most > 0 && created > p.Most {
		return math.Inf(1)
	}
	if p.Overlap && coming > 0 && p.Steps[t-1].Space > 0 {
		size := 0.0
		for n, is := range before {
			if is {
				size += s.in.size[n]
			}
		}
		sum += s.excessCost(t-1, size+coming) - s.excessCost(t-1, size)
	}
	return sum
}

// initialCost is what it costs to come to a first design.
func (s *search) initialCost(design []bool) (sum float64) {
	for n, is := range design {
		x := &s.in.p.Tables[n]
		switch {
		case is && !x.There:
			sum += x.Birth[0]
		case !is && x.There:
			sum += x.Drop
		}
	}
	return sum
}

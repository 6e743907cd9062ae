package sequence

import (
	"math"
	"slices"
)

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
	s := newSearch(in, searching, nil)
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
			if t > 0 && s.in.p.sameWeights(t-1, t) && s.sameUpkeep(t) {
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
			list = append(list, tableChange{table: n, price: s.in.loads[n].Cheapest(a, s.s)})
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

// designs is how many designs smoothing chooses from.
const designs = 40

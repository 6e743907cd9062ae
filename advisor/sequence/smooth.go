package sequence

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/graph"
)

// Smooth gives each step of a sequence the design of another of its steps, or one of some more, where all together is cheaper so: changes come sooner or
// later, or not at all. It answers the best, the sequence itself if that is. The error is an *InvalidError or an *UnsatisfiableError.
//
// It is no search: with a design for each step out of a list, a sequence is a path along time on which a design costs what answering and keeping do, and two in a row what the change
// between them does, so the best is a shortest path. Life is not looked at; what breaks it is not taken.
func Smooth(p *Problem, list, more [][]bool) ([][]bool, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	var pool [][]bool
	for _, design := range slices.Concat(list, more) {
		if len(pool) < poolSize && !slices.ContainsFunc(pool, func(d []bool) bool { return slices.Equal(d, design) }) {
			pool = append(pool, design)
		}
	}
	s := &smoothing{in: in, paths: newPaths(in.states), pool: pool}
	if found := s.shortestPath(); found != nil && better(p.Cost(found), p.Cost(list)) {
		return found, nil
	}
	return list, nil
}

// poolSize is of how many designs Smooth chooses.
const poolSize = 40

// smoothing is the shortest path along time over a pool of designs.
type smoothing struct {
	in    *instance
	paths *graph.Paths
	pool  [][]bool
}

// shortestPath is the cheapest sequence of designs of the pool; nil: there is none.
func (s *smoothing) shortestPath() (list [][]bool) {
	changes := make([][]change, len(s.pool))
	for a := range s.pool {
		for b := range s.pool {
			changes[a] = append(changes[a], s.changeBetween(s.pool[a], s.pool[b]))
		}
	}
	over := make([][]int, len(s.in.status)) // by step and design: the design before
	sum := make([]float64, len(s.pool))     // by design: of the cheapest path to it
	for t := range over {
		next := graph.Infinities(len(s.pool))
		over[t] = make([]int, len(s.pool))
		for b, design := range s.pool {
			cost := s.designCost(t, design)
			if math.IsInf(cost, 1) {
				continue
			}
			if t == 0 {
				next[b] = cost + s.in.p.InitialCost(design)
				continue
			}
			for a := range s.pool {
				if v := sum[a] + cost; v < next[b] {
					if v += s.changeCost(t, &changes[a][b]); v < next[b] {
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
	if math.IsInf(sum[best], 1) {
		return nil
	}
	list = make([][]bool, len(over))
	for t := len(over) - 1; t >= 0; t-- {
		list[t] = slices.Clone(s.pool[best])
		best = over[t][best]
	}
	return list
}

// designCost is what a design costs at a step, but for changes; +Inf if it is not allowed.
func (s *smoothing) designCost(t int, design []bool) (sum float64) {
	p, size := s.in.p, 0.0
	for n, is := range design {
		switch status := s.in.status[t][n]; {
		case is && status == closed, !is && status == open:
			return math.Inf(1)
		case is:
			sum += p.Tables[n].Upkeep[t]
			size += s.in.size[n]
		}
	}
	if !p.Steps[t].holds(size) {
		return math.Inf(1)
	}
	for i, g := range s.in.demands {
		if s.in.demandPresent(i, design) {
			price := g.Cheapest(design, s.paths)
			if math.IsInf(price, 1) {
				return price
			}
			sum += p.Demands[i].Weights[t] * price
		}
	}
	return sum
}

// holds reports whether tables of a size fit into a step's space.
func (s Step) holds(size float64) bool { return s.Space == 0 || size <= s.Space*(1+1e-12) }

// change is what leads from one design to another.
type change struct {
	created []int
	price   float64 // of filling those, and of what is dropped
	size    float64 // of the design before with those
}

func (s *smoothing) changeBetween(before, after []bool) (c change) {
	for n := range before {
		if before[n] || after[n] {
			c.size += s.in.size[n]
		}
		switch {
		case before[n] && !after[n]:
			c.price += s.in.p.Tables[n].Drop
		case after[n] && !before[n]:
			c.created = append(c.created, n)
			c.price += s.in.loads[n].Cheapest(before, s.paths)
		}
	}
	return c
}

// changeCost is what a change costs at the start of a step; +Inf if it is not allowed.
func (s *smoothing) changeCost(t int, c *change) float64 {
	p, sum := s.in.p, c.price
	if p.Most > 0 && len(c.created) > p.Most || p.Overlap && len(c.created) > 0 && !p.Steps[t-1].holds(c.size) {
		return math.Inf(1)
	}
	for _, n := range c.created {
		if s.in.unborn[t][n] {
			return math.Inf(1)
		}
		sum += p.Tables[n].Birth[t]
	}
	return sum
}

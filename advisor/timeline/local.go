package timeline

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
)

// local improves designs within a limit on space, by dropping, adding and exchanging tables while that pays. It is what
// everything else begins from: where few large tables fit, relaxations say little, and what is found here is what a
// calendar is made of unless the programs find better.
type local struct {
	size    []float64
	free    []bool
	fixed   []bool
	demands []localDemand
	touches [][]int // by table: the demands whose ways read it, or that are there because of it
	limit   float64
	best    []float64 // by state, while a demand is looked at
}

// localDemand is a demand with its arcs in an order in which one pass over them finds the cheapest way.
type localDemand struct {
	states int
	arcs   []choice.Arc
	needed []int
}

// newLocal prepares some candidates; others are never open. The numbers are those of all candidates.
func (t *task) newLocal(in []bool) *local {
	l := &local{limit: t.space, touches: make([][]int, len(t.tables))}
	for n, table := range t.tables {
		l.size, l.free, l.fixed = append(l.size, t.study.Bytes(table)), append(l.free, table.Kept), append(l.fixed, t.study.Must(n))
	}
	for i, d := range t.demands {
		x := localDemand{states: d.Space.States, needed: d.Needed}
		read := map[int]bool{}
		for _, a := range t.graphs[i] {
			if a.Table != choice.None && !in[a.Table] {
				continue
			}
			x.arcs = append(x.arcs, a)
			if a.Table != choice.None {
				read[a.Table] = true
			}
		}
		rank := ranks(x.states, x.arcs)
		slices.SortStableFunc(x.arcs, func(a, b choice.Arc) int { return rank[a.From] - rank[b.From] })
		for _, n := range d.Needed {
			read[n] = true
		}
		for n := range t.tables {
			if read[n] {
				l.touches[n] = append(l.touches[n], i)
			}
		}
		l.demands = append(l.demands, x)
		l.best = make([]float64, max(len(l.best), x.states))
	}
	return l
}

// ranks orders states so that arcs lead upwards: a state's rank is the longest way to it.
func ranks(states int, arcs []choice.Arc) []int {
	rank := make([]int, states)
	for again, rounds := true, 0; again && rounds <= states; rounds++ {
		again = false
		for _, a := range arcs {
			if rank[a.To] <= rank[a.From] {
				rank[a.To], again = rank[a.From]+1, true
			}
		}
	}
	return rank
}

// price is what a demand costs over some tables, per execution; 0 if it is not there.
func (l *local) price(i int, open []bool) float64 {
	d := &l.demands[i]
	if d.needed != nil && !slices.ContainsFunc(d.needed, func(n int) bool { return open[n] }) {
		return 0
	}
	best := l.best[:d.states]
	for s := range best {
		best[s] = math.Inf(1)
	}
	best[choice.Start] = 0
	for i := range d.arcs {
		a := &d.arcs[i]
		if a.Table != choice.None && !open[a.Table] {
			continue
		}
		if v := best[a.From] + a.Price; v < best[a.To] {
			best[a.To] = v
		}
	}
	return best[choice.Answered]
}

// climb is one search under way: for some weights of the demands and costs of keeping tables, which may be negative.
type climb struct {
	*local
	weights []float64
	keep    []float64
	open    []bool
	parts   []float64 // what each demand costs
	bytes   float64
}

func (l *local) climb(weights, keep []float64, open []bool) *climb {
	c := &climb{local: l, weights: weights, keep: keep, open: slices.Clone(open), parts: make([]float64, len(l.demands))}
	for i := range l.demands {
		c.parts[i] = l.price(i, c.open)
	}
	for n := range c.open {
		if c.open[n] && !l.free[n] {
			c.bytes += l.size[n]
		}
	}
	return c
}

// times is weight times price, where nothing is unanswerable for being seldom.
func times(weight, price float64) float64 {
	if math.IsInf(price, 1) {
		return price
	}
	return weight * price
}

// flip opens or closes tables, and returns by how much that changes the cost.
func (c *climb) flip(tables ...int) float64 {
	change := 0.0
	for _, n := range tables {
		sign := 1.0
		if c.open[n] = !c.open[n]; !c.open[n] {
			sign = -1
		}
		change += sign * c.keep[n]
		if !c.free[n] {
			c.bytes += sign * c.size[n]
		}
	}
	for k, n := range tables {
		for _, i := range c.touches[n] {
			if k > 0 && slices.Contains(c.touches[tables[0]], i) {
				continue // it has been looked at
			}
			was := times(c.weights[i], c.parts[i])
			c.parts[i] = c.price(i, c.open)
			now := times(c.weights[i], c.parts[i])
			switch {
			case math.IsInf(now, 1) && math.IsInf(was, 1):
			default:
				change += now - was
			}
		}
	}
	return change
}

func (c *climb) cost() float64 {
	sum := 0.0
	for n := range c.open {
		if c.open[n] {
			sum += c.keep[n]
		}
	}
	for i := range c.parts {
		sum += times(c.weights[i], c.parts[i])
	}
	return sum
}

func (c *climb) fits() bool { return c.limit == 0 || c.bytes <= c.limit*(1+1e-12) }

// squeeze drops tables until what is left fits, each time the one that costs least for what it takes. It tells whether that
// succeeds.
func (c *climb) squeeze() bool {
	for !c.fits() {
		least, worst := -1, math.Inf(1)
		for n := range c.open {
			if !c.open[n] || c.fixed[n] || c.free[n] {
				continue
			}
			change := c.flip(n)
			c.flip(n)
			if rate := change / min(c.size[n], max(1, c.bytes-c.limit)); rate < worst {
				least, worst = n, rate
			}
		}
		if least < 0 {
			return false
		}
		c.flip(least)
	}
	return true
}

// mostPasses bounds how often all exchanges are tried.
const mostPasses = 30

// improve drops, adds and exchanges tables while that pays.
func (c *climb) improve(in []bool) {
	for range mostPasses {
		better := false
		for a := range c.open {
			if !in[a] || c.fixed[a] {
				continue
			}
			if c.open[a] {
				if c.flip(a) > 0 {
					c.flip(a)
				} else {
					better = better || c.keep[a] > 0
				}
				continue
			}
			before := slices.Clone(c.open)
			start := c.cost()
			c.flip(a)
			if c.squeezeBut(a) && c.cost() < start*(1-1e-9) {
				better = true
				continue
			}
			c.restore(before)
		}
		if !better {
			return
		}
	}
}

// squeezeBut is squeeze that keeps a table.
func (c *climb) squeezeBut(a int) bool {
	fixed := c.fixed[a]
	c.fixed[a] = true
	ok := c.squeeze()
	c.fixed[a] = fixed
	return ok
}

func (c *climb) restore(open []bool) {
	for n := range open {
		if open[n] != c.open[n] {
			c.flip(n)
		}
	}
}

// design is the best design that is found from several.
func (l *local) design(weights, keep []float64, from [][]bool, in []bool) ([]bool, float64) {
	var best []bool
	least := math.Inf(1)
	for _, open := range from {
		c := l.climb(weights, keep, open)
		if !c.squeeze() {
			continue
		}
		c.improve(in)
		if cost := c.cost(); cost < least {
			best, least = slices.Clone(c.open), cost
		}
	}
	return best, least
}

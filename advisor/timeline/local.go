package timeline

import (
	"context"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
)

// localSearch improves designs within a limit on space, by dropping, adding and exchanging tables while that pays. It is what
// everything else begins from: where few large tables fit, relaxations say little, and what is found here is what a
// calendar is made of unless the programs find better.
type localSearch struct {
	size       []float64
	free       []bool
	fixed      []bool
	demands    []localDemand
	neighbours [][]int // by table: those that share a demand with it, once that was asked for
	touches    [][]int // by table: the demands whose paths read it, or that are there because of it
	limit      float64
	candidates int             // that it was made for
	best       []float64       // by state, while a demand is looked at
	ctx        context.Context // once it has ended, what is found so far has to do; nil: it does not
}

// localDemand is a demand with its arcs in an order in which one pass over them finds the cheapest path.
type localDemand struct {
	states int
	arcs   []choice.Arc
	needed []int
}

// newLocalSearch prepares some candidates; others are never open. The numbers are those of all candidates.
func (t *task) newLocalSearch(in []bool) *localSearch {
	l := &localSearch{limit: t.space, candidates: countOpen(in), touches: make([][]int, len(t.tables)), neighbours: make([][]int, len(t.tables))}
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
		rank := topologicalRanks(x.states, x.arcs)
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

// topologicalRanks orders states so that arcs lead upwards: a state's rank is the longest path to it.
func topologicalRanks(states int, arcs []choice.Arc) []int {
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

// demandPrice is what a demand costs over some tables, per execution; 0 if it is not there.
func (l *localSearch) demandPrice(i int, open []bool) float64 {
	d := &l.demands[i]
	if d.needed != nil && !slices.ContainsFunc(d.needed, func(n int) bool { return open[n] }) {
		return 0
	}
	best := l.best[:d.states]
	for s := range best {
		best[s] = math.Inf(1)
	}
	best[choice.Source] = 0
	for i := range d.arcs {
		a := &d.arcs[i]
		if a.Table != choice.None && !open[a.Table] {
			continue
		}
		if v := best[a.From] + a.Price; v < best[a.To] {
			best[a.To] = v
		}
	}
	return best[choice.Sink]
}

// hillClimb is one search under way: for some weights of the demands and costs of keeping tables, which may be negative.
type hillClimb struct {
	*localSearch
	weights []float64
	keep    []float64
	in      []bool // candidates that may be open
	open    []bool
	parts   []float64 // what each demand costs
	sum     float64   // of all that can be answered
	broken  int       // demands that can not
	bytes   float64
	log     []int // tables flipped, for undoing
	via     []int // by state, the arc over which it is reached, while a path is bought
}

// impossible is what can not be: dear enough to be left, and not so dear that sums lose all else.
const impossible = 1e24

func (l *localSearch) startClimb(weights, keep []float64, open, in []bool) *hillClimb {
	c := &hillClimb{localSearch: l, weights: weights, keep: keep, in: in, open: slices.Clone(open), parts: make([]float64, len(l.demands)), via: make([]int, len(l.best))}
	for i := range l.demands {
		c.parts[i] = l.demandPrice(i, c.open)
		c.addDemandCost(i, 1)
	}
	for n := range c.open {
		if c.open[n] {
			c.sum += c.keep[n]
			if !l.free[n] {
				c.bytes += l.size[n]
			}
		}
	}
	return c
}

// addDemandCost adds what a demand costs, or takes it away.
func (c *hillClimb) addDemandCost(i int, sign float64) {
	if math.IsInf(c.parts[i], 1) {
		c.broken += int(sign)
	} else {
		c.sum += sign * c.weights[i] * c.parts[i]
	}
}

// flipTable opens or closes a table.
func (c *hillClimb) flipTable(n int) {
	sign := 1.0
	if c.open[n] = !c.open[n]; !c.open[n] {
		sign = -1
	}
	c.sum += sign * c.keep[n]
	if !c.free[n] {
		c.bytes += sign * c.size[n]
	}
	for _, i := range c.touches[n] {
		c.addDemandCost(i, -1)
		c.parts[i] = c.demandPrice(i, c.open)
		c.addDemandCost(i, 1)
	}
	c.log = append(c.log, n)
}

// totalCost is what the design costs; more than impossible if it does not answer everything.
func (c *hillClimb) totalCost() float64 { return c.sum + float64(c.broken)*impossible }

// penalisedCost is the cost with a price of space.
func (c *hillClimb) penalisedCost(price float64) float64 { return c.totalCost() + price*c.bytes }

// expired reports whether to stop looking.
func (l *localSearch) expired() bool { return l.ctx != nil && l.ctx.Err() != nil }

func (c *hillClimb) fitsSpace() bool { return c.limit == 0 || c.bytes <= c.limit*(1+1e-12) }

// undoTo flips back what has been flipped since.
func (c *hillClimb) undoTo(since int) {
	for len(c.log) > since {
		n := c.log[len(c.log)-1]
		c.flipTable(n)
		c.log = c.log[:len(c.log)-2]
	}
}

// tryMove does something and keeps it if the value falls.
func (c *hillClimb) tryMove(price float64, do func()) bool {
	before, since := c.penalisedCost(price), len(c.log)
	do()
	if c.penalisedCost(price) < before-1e-9*abs(before) {
		return true
	}
	c.undoTo(since)
	return false
}

// buyPath opens the tables of a demand's cheapest path, if those that are closed cost their keeping and their space, and one may
// not be opened.
func (c *hillClimb) buyPath(i, not int, price float64) {
	d := &c.demands[i]
	best := c.best[:d.states]
	for s := range best {
		best[s] = math.Inf(1)
	}
	best[choice.Source] = 0
	weight := max(c.weights[i], 1e-9)
	for k := range d.arcs {
		a := &d.arcs[k]
		v := best[a.From] + weight*a.Price
		if n := a.Table; n != choice.None && !c.open[n] {
			if n == not || !c.in[n] {
				continue
			}
			v += max(0, c.keep[n]) + price*c.size[n]
		}
		if v < best[a.To] {
			best[a.To], c.via[a.To] = v, k
		}
	}
	if math.IsInf(best[choice.Sink], 1) {
		return
	}
	for s := choice.Sink; s != choice.Source; s = d.arcs[c.via[s]].From {
		if n := d.arcs[c.via[s]].Table; n != choice.None && !c.open[n] {
			c.flipTable(n)
		}
	}
}

// closeUseless closes tables that are not worth their keeping and space, of those that share a demand with one.
func (c *hillClimb) closeUseless(n int, price float64) {
	for _, k := range c.neighboursOf(n) {
		if k != n && c.open[k] && !c.fixed[k] {
			before, since := c.penalisedCost(price), len(c.log)
			if c.flipTable(k); c.penalisedCost(price) > before {
				c.undoTo(since)
			}
		}
	}
}

// improveTables opens, closes and exchanges tables while that pays at a price of space.
func (c *hillClimb) improveTables(price float64) {
	for i := range c.parts {
		if math.IsInf(c.parts[i], 1) {
			c.buyPath(i, choice.None, price)
		}
	}
	for range mostPasses {
		better := false
		for n := range c.open {
			switch {
			case c.expired():
				return
			case c.fixed[n] || !c.in[n]:
			case c.open[n]:
				better = c.tryMove(price, func() {
					c.flipTable(n)
					for _, i := range c.touches[n] {
						c.buyPath(i, n, price)
					}
					c.closeUseless(n, price)
				}) || better
			default:
				better = c.tryMove(price, func() {
					before := c.totalCost()
					if c.flipTable(n); c.totalCost()-c.keep[n] < before || c.keep[n] < 0 { // else nothing reads it
						c.closeUseless(n, price)
					}
				}) || better
			}
			c.log = c.log[:0]
		}
		if !better {
			return
		}
	}
}

// The prices of space that a design is looked for at.
const (
	mostPasses = 4
	mostPrices = 10
	fillPasses = 3
)

// bestDesign is the best design within the limit that is found from some: the price of space is raised until what is best fits,
// and then halved in between, each search beginning from the one before; what is left of the space is filled.
func (l *localSearch) bestDesign(weights, keep []float64, from [][]bool, in []bool) ([]bool, float64) {
	var best []bool
	least := math.Inf(1)
	take := func(c *hillClimb) {
		if c.fitsSpace() && c.broken == 0 && c.totalCost() < least {
			best, least = slices.Clone(c.open), c.totalCost()
		}
	}
	var start *hillClimb
	for _, open := range from {
		own := slices.Clone(open)
		for n := range own {
			own[n] = own[n] && (in[n] || l.fixed[n])
		}
		c := l.startClimb(weights, keep, own, in)
		take(c)
		if start == nil || c.totalCost() < start.totalCost() {
			start = c
		}
	}
	if l.limit == 0 {
		start.improveTables(0)
		take(start)
		return best, least
	}
	low, high := 0.0, 0.0
	price := max(abs(start.sum), 1) / l.limit
	for range mostPrices {
		if l.expired() {
			break
		}
		start.improveTables(price)
		if start.fitsSpace() {
			high = price
			take(start)
			fill := l.startClimb(weights, keep, start.open, in)
			fill.fillSpace()
			take(fill)
		} else {
			low = price
		}
		switch {
		case high == 0:
			price *= 4
		case low == 0:
			price /= 4
		default:
			price = math.Sqrt(low * high)
		}
		if high > 0 && low > 0 && high < low*1.05 {
			break
		}
	}
	if best != nil {
		fill := l.startClimb(weights, keep, best, in)
		fill.fillSpace()
		take(fill)
	}
	return best, least
}

// fillSpace opens and exchanges tables as far as there is room.
func (c *hillClimb) fillSpace() {
	for range fillPasses {
		better := false
		for n := range c.open {
			if c.expired() {
				return
			}
			if c.fixed[n] || !c.in[n] || c.open[n] {
				continue
			}
			before, since := c.totalCost(), len(c.log)
			if c.flipTable(n); c.totalCost() >= before {
				c.undoTo(since)
				continue
			}
			c.closeUseless(n, 0)
			for !c.fitsSpace() {
				least, at := math.Inf(1), -1
				for k := range c.open {
					if k == n || !c.open[k] || c.fixed[k] || c.free[k] {
						continue
					}
					mark, was := len(c.log), c.totalCost()
					c.flipTable(k)
					if rate := (c.totalCost() - was) / min(c.size[k], c.bytes+c.size[k]-c.limit); rate < least {
						least, at = rate, k
					}
					c.undoTo(mark)
				}
				if at < 0 || c.totalCost() >= before {
					break
				}
				c.flipTable(at)
			}
			if c.fitsSpace() && c.totalCost() < before-1e-9*abs(before) {
				better = true
			} else {
				c.undoTo(since)
			}
			c.log = c.log[:0]
		}
		if !better {
			return
		}
	}
}

// neighboursOf are the tables that share a demand with one, each once.
func (l *localSearch) neighboursOf(n int) []int {
	if l.neighbours[n] == nil {
		met := map[int]bool{}
		list := []int{}
		for _, i := range l.touches[n] {
			for k := range l.demands[i].arcs {
				if t := l.demands[i].arcs[k].Table; t != choice.None && !met[t] {
					met[t], list = true, append(list, t)
				}
			}
		}
		slices.Sort(list)
		l.neighbours[n] = list
	}
	return l.neighbours[n]
}

package design

import "github.com/helenus-db/helenus/advisor/plan"

// maxComparisons is how many choices the search for a first one compares.
const maxComparisons = 4000

// greedy finds a choice to begin from: it answers each demand by the plan that is cheapest when what new tables cost to
// keep is counted in, then drops and adds single tables as long as that helps. ok is false if it finds none; there may
// be one nevertheless if space is limited.
func (t *task) greedy() (c choice, total float64, ok bool) {
	c = make(choice, len(t.candidates))
	upkeep := t.upkeep()
	for again := true; again; {
		again = false
		for _, d := range t.demands {
			if !d.active(c) || t.answer(d, c).feasible && d.needed != nil {
				continue
			}
			for _, n := range t.open(d, c, upkeep) {
				if !c[n] {
					c[n], again = true, true
				}
			}
		}
	}
	if total, ok = t.total(c); !ok {
		return t.shrink(c)
	}
	return t.improve(c, total)
}

// upkeep estimates what keeping each candidate costs, support queries included.
func (t *task) upkeep() []float64 {
	list := make([]float64, len(t.candidates))
	for n := range list {
		list[n] = t.putWork(n)
	}
	for _, d := range t.demands {
		for _, n := range d.needed {
			list[n] += t.weights[d.statement] * d.times * d.floor
		}
	}
	return list
}

// open returns the candidates of the plan that is cheapest with the upkeep of those not yet chosen.
func (t *task) open(d *demand, c choice, upkeep []float64) []int {
	price := t.priceOf(d)
	weight := t.weights[d.statement] * d.times
	way, _ := d.space.CheapestWay(func(a *plan.Arc) float64 {
		p := weight * price(a)
		if n, ok := t.number[a.Table]; ok && !c[n] {
			p += upkeep[n] + 1e-9 // of equal plans, one with fewer tables
		}
		return p
	}, everything)
	var list []int
	for _, a := range way {
		if n, ok := t.number[a.Table]; ok {
			list = append(list, n)
		}
	}
	return list
}

// improve drops and adds single tables while that makes it cheaper.
func (t *task) improve(c choice, total float64) (choice, float64, bool) {
	comparisons := 0
	for again := true; again && comparisons < maxComparisons; {
		again = false
		for n := range t.candidates {
			next := c.with(n)
			if c[n] {
				next = c.without(n)
			}
			comparisons++
			if sum, ok := t.total(next); ok && sum < total-1e-9 {
				c, total, again = next, sum, true
			}
		}
	}
	return c, total, true
}

// shrink drops tables, largest first, until what is left fits, then improves that.
func (t *task) shrink(c choice) (choice, float64, bool) {
	for {
		largest := -1
		for n := range c {
			if !c[n] {
				continue
			}
			if total, ok := t.total(c.without(n)); ok {
				return t.improve(c.without(n), total)
			}
			if largest < 0 || t.arithmetic.TableBytes(t.candidates[n]) > t.arithmetic.TableBytes(t.candidates[largest]) {
				largest = n
			}
		}
		if largest < 0 {
			return c, 0, false
		}
		c = c.without(largest)
	}
}

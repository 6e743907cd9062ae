package choice

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/graph"
)

// search improves a choice by steps. It keeps, for each demand that is there, its price under the present choice, and the
// tables of its cheapest path: closing another one changes nothing. What is not there is looked at when it comes.
type search struct {
	in     *instance
	open   []bool
	price  []float64 // by demand: of the cheapest path, +Inf if there is none
	path   [][]int32 // by demand: the tables of that path that are to be chosen
	stale  []bool    // by demand: it is not there, and the price is a former choice's
	there  []int     // by demand: how many open tables need it, and one if it is there always
	floor  []float64 // by demand: with all tables
	pay    []float64 // by role of a demand: what repairDemands has it pay
	sum    float64   // cost without the demands that have no path
	lack   int       // demands there that have no path
	size   float64
	rate   float64 // what a unit of space beyond the limit costs
	best   []bool  // the cheapest choice on the way that is within the limit; nil: none
	least  float64 // what it costs
	budget int     // of instance.work
}

func newSearch(in *instance, budget int) *search {
	s := &search{in: in, open: make([]bool, len(in.status)), price: make([]float64, len(in.demands)), path: make([][]int32, len(in.demands)), stale: make([]bool, len(in.demands)), there: make([]int, len(in.demands))}
	most := 0
	all := make([]bool, len(in.status))
	for n, is := range in.status {
		all[n] = is != closed
	}
	for i := range in.demands {
		d := &in.demands[i]
		most = max(most, len(d.Roles))
		s.floor = append(s.floor, d.Cheapest(all, &in.paths))
	}
	s.pay, s.budget = make([]float64, most), in.paths.Work+budget
	return s
}

// budgetSpent reports whether a search is to end: its budget is gone, or the time is over.
func (s *search) budgetSpent() bool { return s.in.paths.Work > s.budget || s.cancelled() }

func (s *search) cancelled() bool {
	select {
	case <-s.in.done:
		return true
	default:
		return false
	}
}

// setChoice makes a choice the present one. Tables that must be open are, closed ones are not.
func (s *search) setChoice(choice []bool) {
	for n := range s.open {
		s.open[n] = s.in.status[n] == open || choice != nil && choice[n] && s.in.status[n] != closed
	}
	for i := range s.in.demands {
		d := &s.in.demands[i]
		s.there[i] = 0
		if d.always {
			s.there[i] = 1
		}
		for _, n := range d.needed {
			if s.open[n] {
				s.there[i]++
			}
		}
		s.stale[i] = true
	}
	s.recomputeSums()
}

// recomputeSums adds up anew what the present choice costs and takes.
func (s *search) recomputeSums() {
	s.sum, s.lack, s.size = 0, 0, 0
	for n, is := range s.open {
		if is {
			s.sum += s.in.upkeep[n]
			s.size += s.in.size[n]
		}
	}
	for i := range s.there {
		s.addDemandPrice(i, 1)
	}
}

// addDemandPrice adds a demand's price to the sum, or takes it away.
func (s *search) addDemandPrice(i int, sign float64) {
	if s.there[i] == 0 {
		return
	}
	if s.stale[i] {
		s.price[i], s.stale[i] = s.cheapestPrice(i), false
	}
	switch {
	case math.IsInf(s.price[i], 1):
		s.lack += int(sign)
	default:
		s.sum += sign * s.price[i]
	}
}

// totalCost is what the present choice costs.
func (s *search) totalCost() float64 {
	if s.lack > 0 || s.in.problem.Space > 0 && s.size > s.in.problem.Space*(1+1e-12) {
		return math.Inf(1)
	}
	return s.sum
}

// isFeasible reports whether a choice, as far as its tables are not closed, satisfies all demands within the limit.
func (s *search) isFeasible(choice []bool) bool {
	s.setChoice(choice)
	return !math.IsInf(s.totalCost(), 1)
}

// penalisedCost is totalCost, but what goes beyond the limit on space is paid for.
func (s *search) penalisedCost() float64 {
	if s.lack > 0 {
		return math.Inf(1)
	}
	return s.sum + s.rate*s.excessSpace()
}

// excessSpace is by how much the present choice is beyond the limit on space.
func (s *search) excessSpace() float64 {
	if limit := s.in.problem.Space; limit > 0 && s.size > limit*(1+1e-12) {
		return s.size - limit
	}
	return 0
}

// recordBest notes the present choice if it is the best within the limits so far.
func (s *search) recordBest() {
	if t := s.totalCost(); !math.IsInf(t, 1) && (s.best == nil || better(t, s.least)) {
		s.best, s.least = append(s.best[:0], s.open...), t
	}
}

func (s *search) cheapestPrice(i int) float64 {
	d := &s.in.demands[i]
	price := d.Cheapest(s.open, &s.in.paths)
	s.path[i] = s.path[i][:0]
	if !math.IsInf(price, 1) {
		d.Walk(&s.in.paths, func(_ int32, e *graph.Edge) {
			if e.Role != 0 {
				s.path[i] = append(s.path[i], d.Roles[e.Role].Table)
			}
		})
	}
	return price
}

// flipTable opens or closes a table.
func (s *search) flipTable(n int) {
	sign := 1.0
	if s.open[n] {
		sign = -1
	}
	s.open[n] = !s.open[n]
	s.sum += sign * s.in.upkeep[n]
	s.size += sign * s.in.size[n]
	for _, r := range s.in.needers[n] {
		i := int(r.demand)
		s.addDemandPrice(i, -1)
		s.there[i] += int(sign)
		s.addDemandPrice(i, 1)
	}
	for _, r := range s.in.readers[n] {
		i := int(r.demand)
		if s.stale[i] || sign < 0 && !slices.Contains(s.path[i], int32(n)) {
			continue
		}
		s.addDemandPrice(i, -1)
		s.stale[i] = true
		s.addDemandPrice(i, 1)
	}
}

// repairDemands opens tables until every demand has a path: for each the cheapest path with the burden of what must be opened for it
// in the price; m is what a unit of space costs. False: it can not.
func (s *search) repairDemands(m float64) bool {
	burden := make([]float64, len(s.open))
	for n := range burden {
		burden[n] = s.in.upkeep[n] + m*s.in.size[n]
	}
	for i := range s.in.demands {
		for _, n := range s.in.demands[i].needed {
			burden[n] += s.floor[i]
		}
	}
	for s.lack > 0 {
		for i := range s.in.demands {
			if s.there[i] == 0 || !math.IsInf(s.price[i], 1) {
				continue
			}
			d := &s.in.demands[i]
			for j, r := range d.Roles {
				s.pay[j] = 0
				if j > 0 && !s.open[r.Table] {
					s.pay[j] = burden[r.Table] + 1e-12
				}
			}
			d.bar(s.pay, s.in.status)
			if math.IsInf(d.Shortest(1, s.pay, &s.in.paths), 1) {
				return false
			}
			var path []int32
			d.Walk(&s.in.paths, func(_ int32, e *graph.Edge) { path = append(path, d.Roles[e.Role].Table) })
			for _, n := range path {
				if n != None && !s.open[n] {
					s.flipTable(int(n))
				}
			}
		}
	}
	return true
}

// better reports whether a is better than b by more than rounding.
func better(a, b float64) bool { return a < b && (math.IsInf(b, 1) || a < b-1e-11*math.Abs(b)) }

// descend takes single steps while they help: a table closed; a table opened; a table closed and what lacks bought anew; a
// table opened and then those closed that it makes useless. If it is not wide, tables are only closed, of which there are few, and
// that is done to its end.
func (s *search) descend(wide bool) {
	s.recomputeSums()
	total := s.penalisedCost()
	s.recordBest()
	again := true
	// Sums that are kept up to date wear off, and space may be dear: of two choices of one value each may look better than the other, for ever. Settled, a choice has one value.
	improved := func() bool {
		if !better(s.penalisedCost(), total) {
			return false
		}
		s.recomputeSums()
		if !better(s.penalisedCost(), total) {
			return false
		}
		total, again = s.penalisedCost(), true
		s.recordBest()
		return true
	}
	for again {
		again = false
		for n := range s.open {
			if s.in.status[n] != free || !wide && !s.open[n] || wide && s.budgetSpent() || s.cancelled() {
				continue
			}
			if s.flipTable(n); improved() {
				continue
			}
			before := append([]bool(nil), s.open...)
			before[n] = !before[n]
			if s.open[n] {
				if len(s.in.readers[n]) > 0 {
					s.closeUseless(n)
				}
				if s.excessSpace() > 0 {
					s.closeUseless(-1)
				}
			} else if s.lack > 0 {
				s.in.status[n] = closed
				s.repairDemands(s.rate)
				s.in.status[n] = free
				s.closeUseless(-1)
			}
			if !improved() {
				s.restoreChoice(before)
			}
		}
	}
}

// closeUseless closes tables whose closing does no harm, in order; only those that demands which can read n can read, unless n is
// -1.
func (s *search) closeUseless(n int) {
	for _, k := range s.neighboursOf(n) {
		if k == n || !s.open[k] || s.in.status[k] != free || s.lack > 0 {
			continue
		}
		before := s.penalisedCost()
		s.flipTable(k)
		if s.lack > 0 || s.penalisedCost() > before {
			s.flipTable(k)
		}
	}
}

func (s *search) neighboursOf(n int) []int {
	var list []int
	if n < 0 {
		for k, is := range s.open {
			if is {
				list = append(list, k)
			}
		}
		return list
	}
	for k, is := range s.open {
		if is && s.in.readTogether(n, k) {
			list = append(list, k)
		}
	}
	return list
}

// restoreChoice returns to a former choice.
func (s *search) restoreChoice(choice []bool) {
	for n := range s.open {
		if s.open[n] != choice[n] {
			s.flipTable(n)
		}
	}
}

// multiStart descends from several beginnings and returns the best choice; nil if it finds none. m is what a unit of space may
// cost, where it is limited.
func (in *instance) multiStart(budget int, m float64, hints ...[]bool) (best []bool, least float64) {
	least = math.Inf(1)
	for _, h := range hints {
		if found, t := in.descendFrom(budget, h, m); better(t, least) {
			best, least = found, t
		}
	}
	return best, least
}

// descendFrom descends from one beginning; the choice is nil if it finds none within the space.
//
// With a limit on space the descent is over choices beyond it, too, which pay for what is too much, at a rate that rises until the
// choice fits. Then it falls again, and rises: what was given up for space may come back in place of something else.
func (in *instance) descendFrom(budget int, begin []bool, m float64) (choice []bool, total float64) {
	s := newSearch(in, budget)
	if in.problem.Space == 0 {
		m = 0
	} else if m = max(m, 1e-3*s.priceScale()/in.problem.Space); math.IsInf(m, 1) {
		m = 0
	}
	s.rate = m
	s.setChoice(begin)
	if !s.repairDemands(m) {
		return nil, math.Inf(1)
	}
	s.closeUseless(-1)
	s.descend(true)
	if in.problem.Space > 0 {
		s.descendUntilFits()
		for range swings {
			if s.budgetSpent() || s.best == nil {
				break
			}
			s.rate /= swing
			s.descend(true)
			s.descendUntilFits()
		}
	}
	if s.best == nil {
		return nil, math.Inf(1)
	}
	return s.best, s.least
}

// How often the rate for space falls again, by how much, and how often it may rise.
const (
	swings = 3
	swing  = 8
	rises  = 24
)

// descendUntilFits descends with a rising rate for space until the choice is within the limit.
func (s *search) descendUntilFits() {
	for n := 0; n < rises && s.excessSpace() > 0; n++ {
		s.rate *= 2
		s.closeUseless(-1)
		s.descend(false)
		if s.excessSpace() == 0 {
			s.descend(true)
		}
	}
}

// priceScale is of the order of the dearest thing that space could be needed for.
func (s *search) priceScale() float64 {
	worth := 1e-12
	for _, u := range s.in.upkeep {
		worth = max(worth, u)
	}
	for _, p := range s.floor {
		if !math.IsInf(p, 1) {
			worth = max(worth, p)
		}
	}
	return worth
}

// firstChoice is multiStart, from nothing too.
func (in *instance) firstChoice(budget int, m float64, hints ...[]bool) ([]bool, float64) {
	best, least := in.multiStart(budget, m, hints...)
	if found, t := in.descendFrom(budget, nil, m); better(t, least) {
		best, least = found, t
	}
	return best, least
}

// Greedy are choices that take no search, one for each of some prices of space, the dearer the smaller: each demand in turn buys the tables of its cheapest path, those that
// were bought before for nothing, and then what is of no use any more goes. They take no more than reading the problem some times over; none of them has to fit.
func Greedy(p *Problem) (list [][]bool) {
	unlimited := *p
	unlimited.Space = 0
	in, err := compileProblem(&unlimited)
	if err != nil {
		return nil
	}
	upkeep, price := slices.Clone(in.upkeep), 0.0
	for range greedyPrices {
		for n := range upkeep {
			in.upkeep[n] = upkeep[n] + price*in.size[n]
		}
		s := newSearch(in, 0)
		if s.setChoice(nil); !s.repairDemands(0) {
			return list
		}
		s.closeUseless(-1)
		list = append(list, slices.Clone(s.open))
		if price *= greedyRise; price == 0 {
			price = max(s.sum, 1) / max(s.size, 1) / (greedyRise * greedyRise)
		}
	}
	return list
}

// The prices of space at which Greedy buys.
const (
	greedyPrices = 16
	greedyRise   = 4
)

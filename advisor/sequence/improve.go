package sequence

import (
	"slices"
)

// How the rate for space rises and falls, and how often all tables are tuned (it ends by itself but for rounding).
const (
	swings  = 4
	swing   = 8
	rises   = 30
	tunings = 30
)

// descendFrom descends from a sequence. Where space is limited the
// descent is over sequences beyond it, too, which pay for what is too much, at a rate that rises until all fits, falls, and rises again.
func (s *search) descendFrom(begin [][]bool, rate func(t int) float64) {
	for t := range s.rate {
		s.rate[t] = rate(t)
	}
	s.setSequence(begin)
	if !s.repairDemands() {
		return
	}
	s.descend()
	if !s.in.spaceLimited() {
		return
	}
	s.descendUntilFits()
	for range swings {
		if s.cancelled() || s.best == nil {
			return
		}
		for t := range s.rate {
			s.rate[t] /= swing
		}
		s.descend()
		s.descendUntilFits()
	}
}

// descendUntilFits descends with rising rates for the space of those steps that have too little, until all fits.
func (s *search) descendUntilFits() {
	for range rises {
		if s.fitsSpace() {
			return
		}
		for t, step := range s.in.p.Steps {
			if step.Space > 0 && s.size[t] > step.Space*(1+1e-12) {
				s.rate[t] *= 2
			}
		}
		if s.tuneAll(); s.fitsSpace() && !s.cancelled() {
			s.descend()
		}
	}
}

// tuneAll gives one table after the other its best course, given all others', until none gets better: coordinate descent, of which each step is a shortest path
// along time.
func (s *search) tuneAll() {
	for round, again := 0, true; again && round < tunings && !s.cancelled(); round++ {
		again = false
		for n := range s.in.size {
			if s.mayBeKept(n) {
				again = s.tuneTable(n) || again
			}
		}
	}
	s.recordBest()
}

// mayBeKept reports whether a table is free at some step.
func (s *search) mayBeKept(n int) bool {
	return slices.ContainsFunc(s.in.status, func(status []int8) bool { return status[n] == free })
}

// descend takes steps while they help: courses tuned; a table kept out of an interval of time and what lacks bought anew; a table let in for an interval, and then
// those tuned that it may make useless.
func (s *search) descend() {
	s.limit = s.s.Work + s.budget
	s.tuneAll()
	for again := true; again && !s.budgetSpent(); {
		again = false
		for n := range s.in.size {
			if !s.mayBeKept(n) {
				continue
			}
			for _, interval := range s.intervalsOf(n) {
				if s.budgetSpent() {
					return
				}
				again = s.flipInterval(n, interval[0], interval[1]) || again
			}
		}
		if again {
			s.tuneAll()
		}
	}
}

// intervalsOf are the intervals over which a table may be let in or kept out as one: where it is kept now; else those in which demands weigh
// the same.
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

// maxIntervals is up to how many of these a table is tried in each alone.
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

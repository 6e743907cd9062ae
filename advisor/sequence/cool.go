package sequence

import (
	"context"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/graph"
)

// How a search cools down: what a change may cost that is taken as often as not, as a share of what a step costs on average, at the begin and at the
// end; and how often rates of space are looked at.
const (
	heat     = 1
	cold     = 1e-4
	rateRise = 1.25
	rateFall = 0.95
	every    = 50
)

// coolDown makes so many changes, from hot to cold.
func (s *annealing) coolDown(ctx context.Context, changes int) {
	s.initSpaceRates()
	s.annealBetween(ctx, changes, heat, cold)
}

// initSpaceRates sets what space costs at first: as if a step's were worth what the step costs.
func (s *annealing) initSpaceRates() {
	for t, step := range s.p.Steps {
		if step.Space > 0 {
			s.rate[t] = s.meanStepCost() / step.Space
		}
	}
}

// meanStepCost is what a step costs on average.
func (s *annealing) meanStepCost() float64 { return s.cost / float64(len(s.open)) }

// annealBetween makes so many changes, from one heat to another. Every second one goes with a further one: two that are good together may be bad
// alone, as where one frees the space that the other needs.
func (s *annealing) annealBetween(ctx context.Context, changes int, heat, cold float64) {
	scale := s.meanStepCost()
	worst := 100 * scale
	for k := range changes {
		done := float64(k) / float64(changes)
		warm := scale * heat * math.Pow(cold/heat, done)
		if k%every == 0 {
			if ctx.Err() != nil {
				return
			}
			for t := range s.rate {
				if s.fitsSpace(t) {
					s.rate[t] *= rateFall
				} else {
					s.rate[t] *= rateRise
				}
			}
		}
		s.journal = s.journal[:0]
		m, before := s.mark(), s.penalisedCost(worst)
		s.makeMove(worst)
		if s.random.IntN(2) == 0 {
			s.makeMove(worst)
		}
		after := s.penalisedCost(worst)
		if after > before && s.random.Float64() >= math.Exp((before-after)/warm) {
			s.rollback(m)
			continue
		}
		s.recordBest()
	}
}

// makeMove turns a table over, or gives a demand another path, at some steps, with what goes with it.
func (s *annealing) makeMove(worst float64) {
	s.chooseSteps()
	first := s.chosen[0]
	s.touched = s.touched[:0]
	if s.random.IntN(2) == 0 {
		i := int32(s.random.IntN(len(s.in.demands)))
		if !s.in.demandPresent(int(i), s.open[first]) {
			return
		}
		for _, t := range s.chosen {
			s.noteTouched(t, i)
		}
		path, ok := s.randomDetour(first, i, graph.None, 1)
		if !ok {
			return
		}
		for _, t := range s.chosen {
			for _, n := range path.list[:path.count] {
				s.openTable(t, n)
			}
		}
	} else {
		n := s.pickTable(first)
		if n < 0 {
			return
		}
		is := s.open[first][n]
		for _, t := range s.chosen {
			if s.open[t][n] != is || s.in.status[t][n] != free || s.held[t][n] {
				continue
			}
			for _, x := range s.concern[n] {
				if !is || s.path[t][x.of].has(n) {
					s.noteTouched(t, x.of)
				}
			}
			if !is {
				s.openTable(t, n)
				continue
			}
			lost := s.concern[n]
			s.flipTable(t, n)
			for _, x := range lost {
				i := x.of
				if p := s.price[t][i]; p > 0 && (math.IsInf(p, 1) || s.random.IntN(2) == 0) {
					if path, ok := s.randomDetour(t, i, n, 1); ok {
						for _, k := range path.list[:path.count] {
							s.openTable(t, k)
						}
					}
				}
			}
		}
	}
	s.closeUseless(worst)
}

// chooseSteps chooses the steps of a change: one, an interval, or all that weigh demands as one does, as every second day may. What is better
// at one of those is better at all, and a table for one alone may only look dear because it is filled so often.
func (s *annealing) chooseSteps() {
	from := s.random.IntN(len(s.open))
	s.chosen = append(s.chosen[:0], from)
	switch s.random.IntN(4) {
	case 0:
		for t := range s.random.IntN(len(s.open) - from) {
			s.chosen = append(s.chosen, from+1+t)
		}
	case 1:
		s.chosen = append(s.chosen[:0], s.alike[from]...)
	}
}

// pickTable chooses a table that is open, or one that is not, as often the one as the other; -1: there is none.
func (s *annealing) pickTable(t int) int32 {
	is := s.random.IntN(2) == 0
	count := 0
	for n, status := range s.in.status[t] {
		if status == free && s.open[t][n] == is {
			count++
		}
	}
	if count == 0 {
		return -1
	}
	at := s.random.IntN(count)
	for n, status := range s.in.status[t] {
		if status == free && s.open[t][n] == is {
			if at--; at < 0 {
				return int32(n)
			}
		}
	}
	return -1
}

// noteTouched notes the tables of a demand's path: they may be of no use soon.
func (s *annealing) noteTouched(t int, i int32) {
	w := &s.path[t][i]
	if w.count < 0 {
		return
	}
	for _, n := range w.list[:w.count] {
		if !slices.Contains(s.touched, n) {
			s.touched = append(s.touched, n)
		}
	}
}

// randomDetour is a path of a demand that is cheap with made-up prices for tables that must be opened for it, times a factor; without one table. False:
// there is none.
func (s *annealing) randomDetour(t int, i, without int32, times float64) (w reads, ok bool) {
	g := s.in.demands[i]
	u := s.u[:len(g.Roles)]
	factor := times * math.Exp(4*s.random.Float64()-3)
	for j, r := range g.Roles {
		n := r.Table
		switch {
		case j == 0:
			u[j] = 0
		case n == without || s.in.status[t][n] == closed:
			u[j] = math.Inf(1)
		case s.open[t][n] && !slices.Contains(s.touched, n):
			u[j] = 0
		default:
			x := &s.p.Tables[n]
			u[j] = x.Upkeep[t] + factor*s.rate[t]*s.in.size[n]
			if t > 0 && !s.open[t-1][n] {
				u[j] += x.Birth[t]
			}
			u[j] *= 0.5 + s.random.Float64()
		}
	}
	if math.IsInf(g.Shortest(s.p.Demands[i].Weights[t], u, s.s), 1) {
		return w, false
	}
	w.takePath(g, s.s)
	return w, w.count >= 0
}

// openTable opens a table at a step, and as long before as nothing is there that fills it.
func (s *annealing) openTable(t int, n int32) {
	for ; t >= 0 && !s.open[t][n]; t-- {
		if s.in.status[t][n] != free {
			return
		}
		broken := s.broken
		if s.flipTable(t, n); s.broken <= broken {
			return
		}
	}
}

// closeUseless closes tables that are of no use any more.
func (s *annealing) closeUseless(worst float64) {
	for _, n := range s.touched {
		for _, t := range s.chosen {
			if !s.open[t][n] || s.in.status[t][n] != free || s.held[t][n] {
				continue
			}
			m, before := s.mark(), s.penalisedCost(worst)
			if s.flipTable(t, n); s.penalisedCost(worst) > before {
				s.rollback(m)
			}
		}
	}
}

package timeline

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
)

// run is a run of steps of which the weights are the same, or for whose later ones no table may be created: one design
// serves it, as changing within it only costs (identical adjacent steps, merged).
type run struct{ from, to int }

func (t *task) weightRuns() []run {
	var list []run
	for step := range t.steps {
		closed := len(t.options.Windows) > 0 && !t.options.Windows[step]
		if step > 0 && (closed || t.weightsKey(step) == t.weightsKey(step-1)) {
			list[len(list)-1].to = step
		} else {
			list = append(list, run{step, step})
		}
	}
	return list
}

// mostDescents bounds how often all runs are designed anew.
const mostDescents = 10

// descend makes a calendar of designs for the steps: each run is designed anew in turn, with what filling its tables
// costs that the run before has not, and what the next one saves, until none gets better. Only what filling costs at least
// counts, and nothing of further conditions: the caller finds out what the calendar is worth.
func (s *search) descend(l *localSearch, from []*choice.Result, in []bool) [][]bool {
	list := s.weightRuns()
	designs := make([][]bool, len(list))
	for i, x := range list {
		designs[i] = from[x.from].Open
	}
	for range mostDescents {
		better := false
		for i := range list {
			if l.expired() {
				break
			}
			weights, keep := s.runCosts(list, designs, i, in)
			starts := [][]bool{designs[i]}
			for _, k := range []int{i - 1, i + 1} {
				if k >= 0 && k < len(list) && !slices.Equal(designs[k], designs[i]) {
					starts = append(starts, designs[k])
				}
			}
			able, possible := slices.Clone(in), true
			for n := range able {
				if keep[n] >= impossible/2 { // nothing fills it
					possible = possible && !designs[i][n]
					able[n], keep[n] = false, 0
				}
			}
			now := math.Inf(1)
			if possible {
				now = l.startClimb(weights, keep, designs[i], able).totalCost()
			}
			if open, cost := l.bestDesign(weights, keep, starts, able); open != nil && (math.IsInf(now, 1) || cost < now-1e-9*abs(now)) {
				designs[i], better = open, true
			}
		}
		if !better {
			break
		}
	}
	open := make([][]bool, s.steps)
	for i, x := range list {
		for step := x.from; step <= x.to; step++ {
			open[step] = designs[i]
		}
	}
	return open
}

func abs(v float64) float64 { return max(v, -v) }

// runCosts are the weights of a run's demands, and what each candidate costs in it, between the designs before and after.
func (s *search) runCosts(list []run, designs [][]bool, i int, in []bool) (weights, keep []float64) {
	x := list[i]
	for d := range s.problem.Demands {
		sum := 0.0
		for step := x.from; step <= x.to; step++ {
			sum += s.problem.Demands[d].Weights[step]
		}
		weights = append(weights, sum)
	}
	for n := range s.problem.Tables {
		table := &s.problem.Tables[n]
		sum := 0.0
		if !in[n] {
			keep = append(keep, 0)
			continue
		}
		for step := x.from; step <= x.to; step++ {
			sum += table.Upkeep[step]
		}
		before := table.There
		if i > 0 {
			before = designs[i-1][n]
		}
		if before {
			sum -= table.Drop
		} else {
			sum += s.fillCost(n, x.from, designs[max(0, i-1)])
		}
		if i+1 < len(list) {
			if designs[i+1][n] {
				sum -= s.fillCost(n, list[i+1].from, nil)
			} else {
				sum += table.Drop
			}
		}
		keep = append(keep, sum)
	}
	return weights, keep
}

// fillCost is what filling a candidate for a step costs: from the tables of the step before; nil: at least.
func (s *search) fillCost(n, step int, before []bool) float64 {
	sum := s.problem.Tables[n].Birth[step]
	switch {
	case step == 0:
	case before == nil:
		least, _ := s.loader.leastCost(n)
		sum += least
	default:
		sum += min(impossible, s.fillingFrom(n, before))
	}
	return sum
}

// fillingFrom is the price of filling, remembered.
func (s *search) fillingFrom(n int, before []bool) float64 {
	key := designKey(before)
	known := s.fillings[key]
	if known == nil {
		known = map[int]float64{}
		s.fillings[key] = known
	}
	price, ok := known[n]
	if !ok {
		_, price = s.cheapestFilling(n, before)
		known[n] = price
	}
	return price
}

// designKey tells designs apart.
func designKey(open []bool) string {
	key := make([]byte, (len(open)+7)/8)
	for n, is := range open {
		if is {
			key[n>>3] |= 1 << (n & 7)
		}
	}
	return string(key)
}

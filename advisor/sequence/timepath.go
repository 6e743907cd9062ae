package sequence

import "math"

// timePath is the question of a table's course along time: at which steps it is kept. It is a shortest path, found by one pass
// forward.
type timePath struct {
	there  bool
	drop   float64
	life   int
	keep   []float64 // by step: what keeping it costs
	birth  []float64 // by step: what creating it costs, +Inf: it can not be
	status []int8

	off, on []float64 // by step: cheapest up to it, if it is not kept; if it is, and may go after it
	born    []int32   // by step: on comes of a creation for that step, -1: of having been kept before
}

func newTimePath(steps int) timePath {
	list := func() []float64 { return make([]float64, steps) }
	return timePath{keep: list(), birth: list(), status: make([]int8, steps), off: list(), on: list(), born: make([]int32, steps)}
}

// lifeEnd is the last step that a table must be kept at which is created for step t.
func (k *timePath) lifeEnd(t int) int { return min(len(k.keep)-1, t+max(1, k.life)-1) }

// keepCost is what it costs to keep a table from one step to another; +Inf if it can not be.
func (k *timePath) keepCost(from, to int) float64 {
	sum := 0.0
	for t := from; t <= to; t++ {
		if k.status[t] == closed {
			return math.Inf(1)
		}
		sum += k.keep[t]
	}
	return sum
}

// absentCost is what it costs not to have the table before a step.
func (k *timePath) absentCost(t int) float64 {
	if t > 0 {
		return k.off[t-1]
	}
	if k.there {
		return math.Inf(1)
	}
	return 0
}

// forwardPass returns the cost of the cheapest course, +Inf if there is none.
func (k *timePath) forwardPass() float64 {
	last := len(k.keep) - 1
	for t := range k.on {
		k.on[t], k.born[t] = math.Inf(1), -1
	}
	for t := range k.keep {
		before := math.Inf(1) // it was kept
		if t > 0 {
			before = k.on[t-1]
		} else if k.there {
			before = 0
		}
		k.off[t] = math.Inf(1)
		if k.status[t] != open {
			k.off[t] = min(k.absentCost(t), before+k.drop)
		}
		if k.status[t] == closed {
			k.on[t] = math.Inf(1)
			continue
		}
		if v := before + k.keep[t]; v <= k.on[t] {
			k.on[t], k.born[t] = v, -1
		}
		if e := k.lifeEnd(t); !math.IsInf(k.birth[t], 1) {
			if v := k.absentCost(t) + k.birth[t] + k.keepCost(t, e); v < k.on[e] {
				k.on[e], k.born[e] = v, int32(t)
			}
		}
	}
	return min(k.off[last], k.on[last])
}

// traceBack goes back along the course that forward found, and tells of each step whether the table is kept, and created for it.
func (k *timePath) traceBack(tell func(t int, keep, born bool)) {
	t := len(k.keep) - 1
	on := k.on[t] < k.off[t]
	for t >= 0 {
		if !on {
			tell(t, false, false)
			if t > 0 {
				on = k.off[t] < k.off[t-1]
			}
			t--
			continue
		}
		b := int(k.born[t])
		if b < 0 {
			tell(t, true, false)
			t--
			continue
		}
		for ; t >= b; t-- {
			tell(t, true, t == b)
		}
		on = false
	}
}

package plan

import "math"

// WithinLatency returns the space of those plans alone whose latency, summed over their arcs, is not above a ceiling: each state
// is split by the latency of the paths that lead to it. A path from which no plan can end in time is left out at once. least
// is the latency of the quickest plan, +Inf if there is none. Beyond MaxArcs plans are missing (Truncated).
func (s *Space) WithinLatency(latency func(*Arc) float64, ceiling float64) (within *Space, least float64) {
	rest := make([]float64, s.States) // until answered, by state
	known := make([]bool, s.States)
	known[SinkState] = true
	var quickest func(at int) float64
	quickest = func(at int) float64 {
		if !known[at] {
			known[at], rest[at] = true, math.Inf(1)
			for _, a := range s.out[at] {
				rest[at] = min(rest[at], latency(a)+quickest(a.To))
			}
		}
		return rest[at]
	}
	least = quickest(SourceState)
	if ceiling *= 1 + 1e-9; s.slowestLatency(latency) <= ceiling {
		return s, least
	}
	type point struct {
		state int
		spent float64
	}
	within = &Space{Query: s.Query, States: 2, Truncated: s.Truncated, out: make([][]*Arc, 2)}
	numbers := map[point]int{{SourceState, 0}: SourceState}
	for queue := []point{{SourceState, 0}}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		from := numbers[p]
		for _, a := range s.out[p.state] {
			next := point{a.To, p.spent + latency(a)}
			if next.spent+quickest(a.To) > ceiling {
				continue
			}
			if len(within.Arcs) >= MaxArcs {
				within.Truncated = true
				continue
			}
			to, there := numbers[next]
			switch {
			case a.To == SinkState:
				to = SinkState
			case !there:
				to = within.States
				within.States++
				within.out = append(within.out, nil)
				numbers[next] = to
				queue = append(queue, next)
			}
			own := *a
			own.Number, own.From, own.To = len(within.Arcs), from, to
			within.Arcs = append(within.Arcs, &own)
			within.out[from] = append(within.out[from], &own)
		}
	}
	return within, least
}

// slowestLatency is the latency of the slowest plan; 0 if there is none.
func (s *Space) slowestLatency(latency func(*Arc) float64) float64 {
	most := make([]float64, s.States)
	known := make([]bool, s.States)
	known[SinkState] = true
	var rest func(at int) float64
	rest = func(at int) float64 {
		if !known[at] {
			known[at], most[at] = true, math.Inf(-1)
			for _, a := range s.out[at] {
				most[at] = max(most[at], latency(a)+rest(a.To))
			}
		}
		return most[at]
	}
	return max(0, rest(SourceState))
}

package solve

import "math"

// Scale is the power of two that brings the largest cost near 10,000 when it is small or huge. The engines compare
// costs with absolute tolerances down to 1e-9; the caller's unit may be seconds or nanoseconds.
func (p *Problem) Scale() float64 {
	largest := 0.0
	for _, c := range p.Columns {
		largest = max(largest, math.Abs(c.Cost))
	}
	if largest == 0 || largest >= 1<<10 && largest <= 1<<30 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, min(14-exponent, 1000)) // of costs that are next to nothing: finite
}

// solveTrivial answers what the engines do not take: no columns, or no row with a term. Nil if p is not such.
func solveTrivial(p *Problem) *Solution {
	for _, r := range p.Rows {
		if len(r.Terms) > 0 {
			continue
		}
		if !withinBounds(0, r.Lower, r.Upper) {
			return NewSolution(p, Infeasible, nil, math.Inf(1), EngineHeuristic)
		}
	}
	for _, r := range p.Rows {
		if len(r.Terms) > 0 {
			return nil
		}
	}
	values := make([]float64, len(p.Columns))
	unbounded := false
	for i, c := range p.Columns {
		lower, upper := c.Lower, c.Upper
		if c.Integer {
			lower, upper = math.Ceil(lower-Tolerance), math.Floor(upper+Tolerance)
		}
		if lower > upper {
			return NewSolution(p, Infeasible, nil, math.Inf(1), EngineHeuristic)
		}
		values[i] = cheapestIn(c.Cost, lower, upper)
		unbounded = unbounded || math.IsInf(values[i], 0)
	}
	if unbounded {
		return NewSolution(p, Unbounded, nil, math.Inf(-1), EngineHeuristic)
	}
	return NewSolution(p, Optimal, values, math.Inf(-1), EngineHeuristic)
}

// cheapestIn is the value in [lower, upper] of least cost; at no cost, the one nearest to zero.
func cheapestIn(cost, lower, upper float64) float64 {
	switch {
	case cost > 0:
		return lower
	case cost < 0:
		return upper
	}
	return min(max(0, lower), upper)
}

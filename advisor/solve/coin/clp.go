//go:build cgo

package coin

import (
	"fmt"
	"math"

	"github.com/lanl/clp"

	"github.com/helenus-db/helenus/advisor/solve"
)

// Relax implements solve.Engine.
func (Engine) Relax(p *solve.Problem) (*solve.Relaxation, error) { return relax(p) }

// relax solves p without its integer conditions.
func relax(p *solve.Problem) (*solve.Relaxation, error) {
	n, m := len(p.Columns), len(p.Rows)
	columns := make([][]clp.Nonzero, n)
	rows := make([]clp.Bounds, m)
	entries := 0
	for i, r := range p.Rows {
		rows[i] = clp.Bounds{Lower: coin(r.Lower), Upper: coin(r.Upper)}
		entries += len(r.Terms)
		for _, t := range r.Terms {
			columns[t.Column] = append(columns[t.Column], clp.Nonzero{Index: i, Value: t.Coefficient})
		}
	}
	scale := p.Scale()
	bounds, cost := make([]clp.Bounds, n), make([]float64, n)
	matrix := clp.NewPackedMatrix()
	matrix.SetDimensions(m, 0)
	matrix.Reserve(n, entries, false) // else each column that is appended moves all those before it
	for j, c := range p.Columns {
		bounds[j], cost[j] = clp.Bounds{Lower: coin(c.Lower), Upper: coin(c.Upper)}, c.Cost*scale
		matrix.AppendColumn(columns[j])
	}
	s := clp.NewSimplex()
	s.LoadProblem(matrix, bounds, cost, rows, nil)
	s.SetOptimizationDirection(clp.Minimize)
	status := s.Dual(clp.NoValuesPass, clp.NoStartFinishOptions)
	if status != clp.Optimal && status != clp.Infeasible && status != clp.Unbounded {
		status = s.Primal(clp.NoValuesPass, clp.NoStartFinishOptions) // 10, for one, asks for the other method
	}
	switch status {
	case clp.Optimal:
	case clp.Infeasible:
		return &solve.Relaxation{Status: solve.Infeasible}, nil
	case clp.Unbounded:
		return &solve.Relaxation{Status: solve.Unbounded}, nil
	default:
		return nil, fmt.Errorf("coin: clp gave up (status %d, secondary status %d)", status, s.SecondaryStatus())
	}

	r := &solve.Relaxation{Status: solve.Optimal, Values: s.PrimalColumnSolution(), Duals: s.DualRowSolution()}
	for j, c := range p.Columns {
		r.Values[j] = min(max(r.Values[j], c.Lower), c.Upper) + 0
	}
	for i := range r.Duals {
		r.Duals[i] = tidy(r.Duals[i]) / scale
	}
	r.Objective = p.Objective(r.Values)
	if p.Unranged {
		return r, nil
	}
	r.CostRange = costRanges(s, n, scale)
	if m == 0 {
		r.CostRange = freeRanges(p, r.Values)
	}
	return r, nil
}

// costRanges asks clp's "dual ranging", with numbers good to about 1e-7 of the scaled cost.
func costRanges(s *clp.Simplex, n int, scale float64) []solve.Range {
	which, up, down := make([]int, n), make([]float64, n), make([]float64, n)
	for j := range which {
		which[j] = j
	}
	ranges := make([]solve.Range, n)
	if rows, _ := s.Dims(); n == 0 || rows == 0 { // no basis to range over
		return ranges
	}
	if s.DualRanging(n, which, up, make([]int, n), down, make([]int, n), nil, nil) != 0 {
		return ranges // nothing is known to hold: no room at all
	}
	for j := range ranges {
		ranges[j] = solve.Range{Down: amount(down[j]) / scale, Up: amount(up[j]) / scale}
	}
	return ranges
}

// freeRanges is costRanges for a problem without rows: each column stays where it is while its cost keeps its sign.
func freeRanges(p *solve.Problem, values []float64) []solve.Range {
	ranges := make([]solve.Range, len(p.Columns))
	for j, c := range p.Columns {
		if values[j] == c.Lower {
			ranges[j] = solve.Range{Down: max(0, c.Cost), Up: math.Inf(1)}
		}
		if values[j] == c.Upper {
			ranges[j].Down = math.Inf(1)
			ranges[j].Up = max(ranges[j].Up, -c.Cost)
		}
	}
	return ranges
}

// coin writes infinity as COIN-OR does, as the greatest double.
func coin(v float64) float64 { return min(max(v, -math.MaxFloat64), math.MaxFloat64) }

// tidy rounds away the last digits, which are noise: to nine significant ones, and to zero below 1e-9.
func tidy(v float64) float64 {
	if math.Abs(v) < 1e-9 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-8)
	return math.Round(v/unit) * unit
}

// amount turns one of clp's ranges into ours: never negative, infinite from 1e30 on, rounded to 1e-6.
func amount(v float64) float64 {
	switch {
	case v >= 1e30:
		return math.Inf(1)
	case v < 1e6:
		return max(0, math.Round(v*1e6)/1e6)
	}
	return v
}

package solve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Heuristic is the Solver without an engine: pure Go, in this process, deterministic. Its answer is Unproven (unless the
// bounds alone show that there is none) and carries the trivial bound. It takes nothing from Limits but Wall.
//
// It descends: columns are taken dearest first, each is given its cheapest value, and the consequences are carried
// through the rows (domains); a value that leaves no solution is forbidden and the next is tried, with a limited number
// of steps back. It is tried in the order of cost, of cost per row that the column is in, and with all columns that only
// make room at their greatest value. Then local search: a column is
// forced off its value, the columns within two rows of it are freed, the others stay, and the descent fills in the rest;
// what is cheaper is kept, until no column helps or the effort (terms looked at, not time) is spent.
type Heuristic struct{}

// Solve implements Solver.
func (Heuristic) Solve(ctx context.Context, p *Problem, limits Limits) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := limits.validate(); err != nil {
		return nil, err
	}
	if s := solveTrivial(p); s != nil {
		return s, nil
	}
	inner := ctx
	if limits.Wall > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, limits.Wall)
		defer cancel()
	}
	values, feasible := searchSolution(inner, p, heuristicEffort)
	if !feasible {
		return NewSolution(p, Infeasible, nil, 0, EngineHeuristic), nil
	}
	if err := ctx.Err(); err != nil {
		if values == nil {
			return nil, fmt.Errorf("solve: stopped: %w", err)
		}
		s := NewSolution(p, Stopped, values, p.Floor(), EngineHeuristic)
		s.Limit = LimitCancelled
		return s, nil
	}
	return NewSolution(p, Unproven, values, p.Floor(), EngineHeuristic), nil
}

const (
	heuristicEffort = 300_000_000
	stepsBack       = 200  // per descent
	neighbours      = 2000 // freed in one move of the local search, at most
)

// descent is one attempt to put a solution together, on top of the domains' present state.
type descent struct {
	ctx    context.Context
	d      *domains
	cutoff float64 // only cheaper solutions are of use
	effort int     // of d.work, in total
}

// searchSolution returns a feasible solution or nil, and whether there can be one: false is a proof.
func searchSolution(ctx context.Context, p *Problem, effort int) (best []float64, feasible bool) {
	d := newDomains(p)
	for j := range p.Columns {
		if d.lower[j] > d.upper[j] {
			return nil, false // an integer column without an integer
		}
	}
	for i := range p.Rows {
		d.queue, d.queued[i] = append(d.queue, i), true
	}
	if !d.propagate() {
		return nil, false
	}
	s := &descent{ctx: ctx, d: d, cutoff: math.Inf(1), effort: effort}
	root := len(d.trail)
	keep := func(values []float64) bool {
		d.undoTo(root)
		if values == nil {
			return false
		}
		values = p.Snap(values)
		if p.Check(values) != nil || best != nil && p.Objective(values) >= p.Objective(best) {
			return false
		}
		best = values
		// A cheaper solution must be cheaper by more than rounding.
		s.cutoff = p.Objective(best) - 1e-9*max(1e-9, math.Abs(p.Objective(best)))
		return true
	}

	orders := [][]int{columnsByWeight(p, costOf), columnsByWeight(p, func(p *Problem, j int) float64 { return costOf(p, j) / float64(1+len(d.uses[j])) })}
	if p.Start != nil {
		s.fixAtValues(orders[0], p.Start)
		keep(s.fillColumns(orders[0]))
		if p.Check(p.Start) == nil { // as it is, if that is better
			keep(slices.Clone(p.Start))
		}
	}
	for _, o := range orders {
		keep(s.fillColumns(o))
	}
	s.fixAtValues(roomyColumns(p, d))
	keep(s.fillColumns(orders[0]))
	for improved := best != nil; improved; {
		improved = false
		for _, j := range orders[0] {
			if s.effortSpent() {
				return best, true
			}
			improved = keep(s.moveColumn(j, best, orders[0])) || improved
		}
	}
	return best, true
}

func (s *descent) effortSpent() bool { return s.d.work > s.effort || s.ctx.Err() != nil }

func costOf(p *Problem, j int) float64 { return math.Abs(p.Columns[j].Cost) }

// columnsByWeight sorts the columns by weight, greatest first, integer ones before the others; ties by index.
func columnsByWeight(p *Problem, weight func(*Problem, int) float64) []int {
	o := make([]int, len(p.Columns))
	for j := range o {
		o[j] = j
	}
	slices.SortStableFunc(o, func(a, b int) int {
		if x, y := p.Columns[a].Integer, p.Columns[b].Integer; x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(weight(p, b), weight(p, a))
	})
	return o
}

// roomyColumns is the columns that only ever make room, and their greatest values: open everything first, and let the local
// search close what is not needed. Where rows are tight the cheap way into the search leads to dead ends.
func roomyColumns(p *Problem, d *domains) (columns []int, values []float64) {
	values = make([]float64, len(p.Columns))
	for j, c := range p.Columns {
		room := c.Integer && !math.IsInf(d.upper[j], 1) && len(d.uses[j]) > 0
		for _, u := range d.uses[j] {
			r := p.Rows[u.row]
			room = room && (u.coefficient > 0 && math.IsInf(r.Upper, 1) || u.coefficient < 0 && math.IsInf(r.Lower, -1))
		}
		if values[j] = d.upper[j]; room {
			columns = append(columns, j)
		}
	}
	return columns, values
}

// consistent propagates, and holds the cost against the cutoff.
func (s *descent) consistent() bool {
	return s.d.propagate() && (s.d.infinite > 0 || s.d.floor < s.cutoff)
}

// fixColumn gives a column a value if that leaves a solution, and otherwise leaves all as it was.
func (s *descent) fixColumn(j int, v float64) bool {
	mark := len(s.d.trail)
	s.d.narrowColumn(j, v, v)
	if s.consistent() {
		return true
	}
	s.d.undoTo(mark)
	return false
}

// fixAtValues fixes the columns at the given values, those that can be.
func (s *descent) fixAtValues(columns []int, values []float64) {
	for _, j := range columns {
		v := values[j]
		if s.d.p.Columns[j].Integer {
			v = math.Round(v)
		}
		if s.d.lower[j] < s.d.upper[j] && v >= s.d.lower[j] && v <= s.d.upper[j] {
			s.fixColumn(j, v)
		}
	}
}

// fillColumns fixes every column, each at its cheapest value that leaves a solution, and returns the values; nil if it came to
// a dead end too often, or the cutoff, effort or context ended it.
func (s *descent) fillColumns(columns []int) []float64 {
	type choice struct {
		mark, at int
		value    float64
	}
	var choices []choice
	dead := 0
	for at := 0; at < len(columns); {
		j := columns[at]
		lower, upper := s.d.lower[j], s.d.upper[j]
		if lower == upper {
			at++
			continue
		}
		if s.effortSpent() && s.cutoff < math.Inf(1) || s.ctx.Err() != nil {
			return nil
		}
		mark, v := len(s.d.trail), s.cheapestValue(j)
		if s.fixColumn(j, v) {
			choices = append(choices, choice{mark, at, v})
			at++
			continue
		}
		for !s.forbidValue(j, v) { // a dead end: the last choice was wrong, or one before it
			if dead++; dead > stepsBack || len(choices) == 0 {
				return nil
			}
			last := choices[len(choices)-1]
			choices = choices[:len(choices)-1]
			s.d.undoTo(last.mark)
			at, j, v = last.at, columns[last.at], last.value
		}
	}
	return slices.Clone(s.d.lower)
}

// cheapestValue is the cheapest value of a column that is finite.
func (s *descent) cheapestValue(j int) float64 {
	v := cheapestIn(s.d.p.Columns[j].Cost, s.d.lower[j], s.d.upper[j])
	if math.IsInf(v, 0) {
		v = min(max(0, s.d.lower[j]), s.d.upper[j])
	}
	return v
}

// forbidValue takes a value away from a column. From the middle of an integer column's domain the lower part goes with it,
// and a continuous column is put at the far end, or halfway to it: descents may miss solutions.
func (s *descent) forbidValue(j int, v float64) bool {
	lower, upper := s.d.lower[j], s.d.upper[j]
	if !s.d.p.Columns[j].Integer {
		far := pick(v == lower, upper, lower)
		return !math.IsInf(far, 0) && (s.fixColumn(j, far) || s.fixColumn(j, v+(far-v)/2))
	}
	if v == upper {
		upper = v - 1
	} else {
		lower = v + 1
	}
	if lower > upper {
		return false
	}
	mark := len(s.d.trail)
	s.d.narrowColumn(j, lower, upper)
	if s.consistent() {
		return true
	}
	s.d.undoTo(mark)
	return false
}

// moveColumn is one step of the local search: column j off its value in best.
func (s *descent) moveColumn(j int, best []float64, columns []int) []float64 {
	p := s.d.p
	if !p.Columns[j].Integer || s.d.lower[j] == s.d.upper[j] {
		return nil
	}
	target := best[j] - 1
	if best[j] == s.d.lower[j] {
		target = best[j] + 1
	}
	if target < s.d.lower[j] || target > s.d.upper[j] || !s.fixColumn(j, target) {
		return nil
	}
	free := s.neighboursOf(j)
	var others []int
	for _, k := range columns {
		if !free[k] && p.Columns[k].Integer {
			others = append(others, k)
		}
	}
	s.fixAtValues(others, best)
	return s.fillColumns(columns)
}

// neighboursOf is the columns that share a row with j, and those that share a row with them, as far as there is room.
func (s *descent) neighboursOf(j int) map[int]bool {
	p := s.d.p
	free := map[int]bool{j: true}
	ring := []int{j}
	for range 2 {
		var next []int
		for _, k := range ring {
			for _, u := range s.d.uses[k] {
				terms := p.Rows[u.row].Terms
				s.d.work += len(terms)
				if len(free)+len(terms) > neighbours {
					continue
				}
				for _, t := range terms {
					if !free[t.Column] {
						free[t.Column] = true
						next = append(next, t.Column)
					}
				}
			}
		}
		ring = next
	}
	return free
}

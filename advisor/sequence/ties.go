package sequence

import (
	"math"

	"github.com/helenus-db/helenus/advisor/solve"
)

// breakTies looks for the fewest tables, then the smallest, among the sequences of the least cost. Both are one objective: sizes are shares
// of their sum over all steps, which together count less than one table; and the cost counts a thousand tables, so that no bound is lost in
// rounding. Only sequences of the least cost are taken.
func (s *solver) breakTies(x *dual) error {
	limit := s.known + 1e-9*math.Abs(s.known) + s.grain
	if !x.evaluate() {
		s.result.Fewest = true
		return nil
	}
	x.fixTables(limit)
	if !x.evaluate() {
		s.result.Fewest = true
		return nil
	}
	stay, _ := x.pruneArcs(limit)
	x.presolve(stay)
	total := 1.0
	for _, size := range s.in.size {
		total += size * float64(len(s.in.status))
	}
	unit := s.known / 1000
	if unit == 0 {
		unit = 1
	}
	costs := make([]float64, len(s.in.size))
	q := *s.in.p
	q.Tables = append([]Table(nil), s.in.p.Tables...)
	for n := range q.Tables {
		t := &q.Tables[n]
		if t.Free {
			continue
		}
		costs[n] = 1 + s.in.size[n]/total
		t.Upkeep = append([]float64(nil), t.Upkeep...)
		for i := range t.Upkeep {
			t.Upkeep[i] += unit * costs[n]
		}
	}
	in := *s.in
	in.p = &q
	in.status, in.unborn, in.demands = nil, nil, nil
	for t := range s.in.status {
		in.status = append(in.status, append([]int8(nil), s.in.status[t]...))
		in.unborn = append(in.unborn, append([]bool(nil), s.in.unborn[t]...))
	}
	for i := range s.in.demands {
		in.demands = append(in.demands, append([]*graph(nil), s.in.demands[i]...))
	}
	accept := func(list [][]bool) bool { return s.p.Cost(s.fromAlive(list)) <= limit }
	best := s.toAlive(s.best)
	counted := func() float64 { return s.known + unit*s.sumCosts(best, costs) }
	defer func() { s.best = s.fromAlive(best); s.known = s.p.Cost(s.best) }()
	take := func(list [][]bool) {
		if list != nil && accept(list) && s.sumCosts(list, costs) < s.sumCosts(best, costs) {
			best = list
		}
	}
	y := x.childNode()
	y.in = &in
	small := 1e-7 * unit
	for range 5 {
		known := counted()
		if !y.ascend(s.ctx, pauseSteps, known-small) || y.bound >= known-small {
			s.result.Fewest = true
			return nil
		}
		for _, begin := range [][][]bool{best, y.suggestSequence(0.5)} {
			search := newSearch(&in, s.effort.searching, s.ctx.Done())
			search.descendFrom(begin, nil, y.spacePrice)
			take(search.best)
		}
		fixed := y.fixTables(counted() - small)
		if !y.evaluate() {
			s.result.Fewest = true
			return nil
		}
		stay, gone := y.pruneArcs(counted() - small)
		if y.presolve(stay); fixed == 0 && gone == 0 {
			break
		}
	}
	known := counted()
	b := &branchAndBound{ctx: s.ctx, in: &in, accept: accept, best: best, known: known, limit: known - small, margin: small, budget: s.effort.branching / 4}
	done := b.searchTree(y)
	take(b.best)
	s.result.Fewest = done
	if arcs, _ := in.sizeLeft(); done || s.options.Solver == nil || s.ctx.Err() != nil || arcs > tieMax {
		return nil //nolint:nilerr // the context ended: what there is stays
	}
	p := newProgram(s.in)
	p.setStart(best)
	p.holdObjective(limit-p.openUpkeep(), costs)
	list, solution, _, err := p.runSolver(s.ctx, s.options.Solver, solve.Limits{Nodes: tieNodes, Iterations: tieIterations})
	if err != nil || solution == nil {
		return err
	}
	take(list)
	s.result.Fewest = solution.Status == solve.Optimal
	return nil
}

// sumCosts adds up what the tables of a sequence count.
func (s *solver) sumCosts(list [][]bool, costs []float64) (sum float64) {
	for t := range list {
		for n, is := range list[t] {
			if is {
				sum += costs[n]
			}
		}
	}
	return sum
}

// The limits of the last program: it only chooses among sequences of equal cost.
const (
	tieMax        = 6000
	tieNodes      = 300
	tieIterations = 100_000 // some ten seconds
)

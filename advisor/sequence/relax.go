package sequence

import (
	"context"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// withLeastLoads is the instance with what filling costs at its least, whatever is there.
func (in *instance) withLeastLoads() *instance {
	lean := *in
	lean.loads = make([]*graph, len(in.loads))
	never := func(int) bool { return false }
	for n, g := range in.loads {
		var arcs []choice.Arc
		if len(g.arcs) > 0 {
			arcs = []choice.Arc{{From: choice.Source, To: choice.Sink, Price: g.floor, Table: choice.None}}
		}
		lean.loads[n], _ = compileGraph(2, arcs, never, never)
	}
	return &lean
}

// Relaxed is the linear relaxation of a problem in which filling costs its least, whatever is there.
type Relaxed struct {
	Bound float64     // no sequence costs less
	Kept  [][]float64 // by step and table: how much of it there is
	// Prices are, by step and table, what a table costs more at the step and less at the one before: of what creating it costs, the share that the step bears.
	Prices [][]float64
}

// Relax solves that relaxation. What it keeps nothing of is seldom of use.
func Relax(ctx context.Context, p *Problem, s choice.Relaxer) (*Relaxed, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	q := newProgram(in.withLeastLoads())
	r, err := q.solveRelaxation(ctx, s)
	if err != nil {
		return nil, err
	}
	x := &Relaxed{Bound: q.problem.Bound(r.Duals) + q.openUpkeep()}
	for t := range q.kept {
		kept := make([]float64, len(q.kept[t]))
		for n, c := range q.kept[t] {
			switch {
			case c >= 0:
				kept[n] = r.Values[c]
			case in.status[t][n] == open:
				kept[n] = 1
			}
		}
		x.Kept = append(x.Kept, kept)
		prices := make([]float64, len(q.changes[t]))
		for n, row := range q.changes[t] {
			if row >= 0 {
				prices[n] = -r.Duals[row]
			}
		}
		x.Prices = append(x.Prices, prices)
	}
	return x, nil
}

// solveRelaxation solves a program without its integer conditions, for the multipliers of its rows.
func (p *program) solveRelaxation(ctx context.Context, s choice.Relaxer) (*solve.Relaxation, error) {
	p.problem.Unranged = true
	r, err := s.Relax(ctx, p.problem)
	if err == nil && r.Duals == nil {
		err = errNone
	}
	return r, err
}

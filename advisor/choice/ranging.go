package choice

import (
	"context"
	"math"

	"github.com/helenus-db/helenus/advisor/solve"
)

// Relaxer solves linear relaxations with ranges, as solve.Process does.
type Relaxer interface {
	Relax(ctx context.Context, p *solve.Problem) (*solve.Relaxation, error)
}

// Share is the part of a problem's cost that one weight weighs.
type Share struct {
	Weight  float64
	Upkeep  []float64 // by table: of Table.Upkeep, per unit of the weight
	Demands []float64 // by demand: of Demand.Weight, per unit of the weight
}

// rangingArcs is up to how many arcs a relaxation is worth its while. Of RUBiS's 25,000 it takes longer than five solves do,
// and is not whole; of small problems it mostly is.
const rangingArcs = 3000

// WeightRange tells between which values of a weight a choice that is the best at its present value is known to stay the best;
// only the present value if nothing more is known. The choice may stay the best beyond.
//
// The weight is made the cost of one column of the integer program, which is held equal to what it weighs. If the
// relaxation's optimum costs what the choice does, and as much of it by that column, then both are the same line as
// functions of the weight. As long as the relaxation's values stay optimal, which its ranging tells for a column's cost,
// no choice is below that line.
func WeightRange(ctx context.Context, r Relaxer, p *Problem, choice []bool, share Share) (from, to float64) {
	from, to = share.Weight, share.Weight
	arcs, slope := 0, 0.0
	for i := range p.Demands {
		d := &p.Demands[i]
		if arcs += len(d.Arcs); share.Demands[i] != 0 && d.Required(choice) {
			_, price := d.CheapestPath(choice)
			slope += share.Demands[i] * price
		}
	}
	if arcs > rangingArcs || share.Weight <= 0 {
		return from, to
	}
	in, err := compileProblem(p)
	if err != nil {
		return from, to
	}
	program := newProgram(in)
	columns := program.problem.Columns
	row := solve.Row{Name: "weighed"}
	weigh := func(column int, part float64) {
		if part != 0 {
			columns[column].Cost = max(0, columns[column].Cost-share.Weight*part)
			row.Terms = append(row.Terms, solve.Term{Column: column, Coefficient: -part})
		}
	}
	settled, settledSlope := 0.0, 0.0
	for n, status := range in.status {
		if choice[n] {
			slope += share.Upkeep[n]
		}
		switch status {
		case free:
			weigh(program.column[n], share.Upkeep[n])
		case open:
			settled, settledSlope = settled+in.upkeep[n], settledSlope+share.Upkeep[n]
		}
	}
	for i := range in.demands {
		if d := &in.demands[i]; share.Demands[d.number] != 0 {
			for k, e := range d.Edges {
				weigh(program.arcs[i]+k, e.Price/share.Weight)
			}
		}
	}
	weighed := program.addColumn(solve.Column{Name: "weighed", Cost: share.Weight, Upper: math.Inf(1)})
	row.Terms = append(row.Terms, solve.Term{Column: weighed, Coefficient: 1})
	program.addRow(row)
	relaxed, err := r.Relax(ctx, program.problem)
	if err != nil || relaxed.Status != solve.Optimal {
		return from, to // then it is not known
	}
	cost := p.Cost(choice)
	if math.Abs(relaxed.Objective+settled-cost) > 1e-7*(1+cost) || math.Abs(relaxed.Values[weighed]+settledSlope-slope) > 1e-6*(1+slope) {
		return from, to
	}
	room := relaxed.CostRange[weighed]
	const inside = 1 - 1e-5 // what the ranging rounds away
	return max(0, share.Weight-room.Down*inside), share.Weight + room.Up*inside
}

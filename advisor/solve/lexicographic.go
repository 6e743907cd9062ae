package solve

import (
	"context"
	"fmt"
	"math"
)

// Objective is one of several aims in order of importance.
type Objective struct {
	Name  string
	Costs []float64 // one per column, in place of the columns' own

	// Slack is how much of this objective later ones may give away, relative to its value: 0.01 lets it get one per
	// cent worse for their sake. Zero still leaves a billionth, for rounding.
	Slack float64
}

// Lexicographic minimises the objectives one after the other, each among the solutions that are best for those before
// (least cost, then fewest tables, then least size). It returns one solution per objective; the last is the answer, and
// Objective, Bound and Gap of each speak of its own objective. It ends early, with fewer solutions, where one has no values. Where a
// limit stops an objective, what was found for it is what the next ones keep to. The limits hold for each solve.
func Lexicographic(ctx context.Context, s Solver, p *Problem, objectives []Objective, limits Limits) ([]*Solution, error) {
	work := &Problem{Columns: append([]Column(nil), p.Columns...), Rows: append([]Row(nil), p.Rows...), Start: p.Start}
	var solutions []*Solution
	for _, o := range objectives {
		if len(o.Costs) != len(p.Columns) || !(o.Slack >= 0 && o.Slack <= largest) {
			return nil, fmt.Errorf("solve: objective %q not valid: %d costs for %d columns, slack %g (must not be negative)", o.Name, len(o.Costs), len(p.Columns), o.Slack)
		}
		for j := range work.Columns {
			work.Columns[j].Cost = o.Costs[j]
		}
		solution, err := s.Solve(ctx, work, limits)
		if err != nil {
			return nil, fmt.Errorf("solve: objective %q: %w", o.Name, err)
		}
		solutions = append(solutions, solution)
		if solution.Values == nil {
			return solutions, nil
		}
		work.Rows = append(work.Rows, keep(o, solution.Objective))
		work.Start = solution.Values
	}
	return solutions, nil
}

// keep is the row that holds an objective at its value. Engines overstep rows by absolute amounts, so the row is scaled
// like the costs: otherwise small costs would leak into later objectives.
func keep(o Objective, value float64) Row {
	top := 0.0
	for _, c := range o.Costs {
		top = max(top, math.Abs(c))
	}
	scale := rowScale(top)
	row := Row{Lower: math.Inf(-1), Upper: scale * (value + max(o.Slack, 1e-9)*math.Abs(value))}
	for j, c := range o.Costs {
		if c != 0 {
			row.Terms = append(row.Terms, Term{Column: j, Coefficient: c * scale})
		}
	}
	return row
}

package solve

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Solver solves integer programs.
type Solver interface {
	// Solve returns an error for a problem that is not valid (*InvalidError), an engine that failed (*WorkerError), or a
	// context that ended before there was any solution; if there was one it is the answer, Stopped by LimitCancelled. That there is no solution, or none was proven, is not an error: see Solution.Status.
	Solve(ctx context.Context, p *Problem, limits Limits) (*Solution, error)
}

// Progress is how far a solve has come, by the engine's own account: for people, not to be acted on.
type Progress struct {
	Objective float64 // of the best solution so far, +Inf if there is none
	Bound     float64 // -Inf if there is none
	Nodes     int
}

// Watched is a Solver that tells its progress, some times a second, from another goroutine.
type Watched interface {
	Solver
	Watch(ctx context.Context, p *Problem, limits Limits, watch func(Progress)) (*Solution, error)
}

// Limits says when to stop early. The zero value: only at the proven optimum.
type Limits struct {
	// Nodes is the greatest number of branch-and-bound nodes, zero for no limit. Deterministic.
	Nodes int
	// Iterations is the greatest number of steps of the simplex method, over all nodes; zero for no limit. It is looked at between nodes and
	// whenever a solution is found, so the first relaxation is always solved. Deterministic, and nearer to time than Nodes are.
	Iterations int
	// Gap is the relative gap (see Solution.Gap) that is good enough, zero for the optimum. Deterministic.
	Gap float64
	// Wall is the greatest duration, zero for no limit. How far the search comes depends on the machine then: a last
	// resort, on top of the others.
	Wall time.Duration
}

func (l Limits) validate() error {
	if l.Nodes < 0 || l.Nodes > math.MaxInt32 || l.Iterations < 0 || l.Iterations > math.MaxInt32 || l.Wall < 0 || !(l.Gap >= 0 && l.Gap < 1) {
		return fmt.Errorf("solve: limits not valid: nodes %d and iterations %d (0 to 2^31-1), gap %g (0 to below 1), wall %v (not negative)", l.Nodes, l.Iterations, l.Gap, l.Wall)
	}
	return nil
}

// Status says what is known about a solution.
type Status int

// The statuses. The zero value is none of them.
const (
	Optimal    Status = iota + 1 // proven: no solution costs less
	Stopped                      // a limit was reached; Solution.Bound says how much less one might cost
	Infeasible                   // proven: no solution
	Unbounded                    // without the integer conditions, no end to how little it may cost
	Unproven                     // the best a heuristic found, or Values is nil because it found none; nothing is proven
)

var statusNames = [...]string{Optimal: "optimal", Stopped: "stopped", Infeasible: "infeasible", Unbounded: "unbounded", Unproven: "unproven"}

func (s Status) String() string {
	if s < Optimal || s > Unproven {
		return fmt.Sprintf("status %d", int(s))
	}
	return statusNames[s]
}

// The limits that may have stopped a search, see Solution.Limit.
const (
	LimitNodes      = "nodes"
	LimitIterations = "iterations"
	LimitGap        = "gap"
	LimitWall       = "wall"
	// LimitCancelled: the context ended.
	LimitCancelled = "cancelled"
)

// The engines, see Solution.Engine.
const (
	EngineCBC       = "cbc"       // COIN-OR branch and cut
	EngineCLP       = "clp"       // COIN-OR simplex: the problem has no integer column
	EngineHeuristic = "heuristic" // our own greedy and local search
)

// Solution is what a solver found.
type Solution struct {
	Status Status
	Limit  string // which limit stopped the search; empty unless Stopped

	// Values has one value per column, integer columns exact integers wherever that is feasible. It is nil if there is
	// no solution or none was found. Values that are there have been checked against the problem (Problem.Check).
	Values    []float64
	Objective float64 // cost of Values; +Inf without values
	Bound     float64 // no solution costs less; -Inf if nothing is known
	Gap       float64 // (Objective-Bound) / max(|Objective|, |Bound|); 0 if they are equal, +Inf if not known
	Nodes     int     // branch-and-bound nodes
	Engine    string  // which engine found Values or proved there are none
}

// NewSolution fills in objective and gap, and keeps bound below objective.
func NewSolution(p *Problem, status Status, values []float64, bound float64, engine string) *Solution {
	s := &Solution{Status: status, Values: values, Objective: math.Inf(1), Bound: bound, Engine: engine}
	switch status {
	case Infeasible:
		s.Bound = math.Inf(1)
	case Unbounded:
		s.Objective, s.Bound = math.Inf(-1), math.Inf(-1)
	}
	if values != nil {
		s.Objective = p.Objective(values)
		if status == Optimal || s.Bound > s.Objective {
			s.Bound = s.Objective
		}
	}
	s.Gap = relativeGap(s.Objective, s.Bound)
	return s
}

func relativeGap(objective, bound float64) float64 {
	if objective == bound {
		return 0
	}
	if math.IsInf(objective, 0) || math.IsInf(bound, 0) {
		return math.Inf(1)
	}
	return (objective - bound) / max(math.Abs(objective), math.Abs(bound))
}

// Range says how far a number may fall and rise, as two amounts that are not negative, good to about a millionth; +Inf
// for without end.
type Range struct{ Down, Up float64 }

// Relaxation is the optimum of a problem without its integer conditions, and how it reacts to small changes. Where the
// optimum is degenerate (more rows meet in it than need to) the ranges are those of one basis: they may be narrower than
// the truth, never wider.
type Relaxation struct {
	Status    Status // Optimal, Infeasible or Unbounded; all below is set only if Optimal
	Objective float64
	Values    []float64 // per column

	// Duals, per row: what one unit more of the row's binding bound changes the objective by; zero if none binds.
	Duals []float64
	// CostRange, per column: how far its cost may fall and rise while Values stay optimal.
	CostRange []Range
}

// Bound is what no solution costs less than, by multipliers of the rows: with every row's violation added to the cost, each column goes to whichever
// of its bounds is the cheaper. That holds for any multipliers (weak duality), so nothing hangs on an engine's tolerances; with
// a relaxation's Duals it comes to its Objective. A multiplier whose sign its row does not allow counts as zero. -Inf if a column without a bound is worth it.
func (p *Problem) Bound(multipliers []float64) float64 {
	reduced := make([]float64, len(p.Columns))
	for j, c := range p.Columns {
		reduced[j] = c.Cost
	}
	sum := 0.0
	for i, r := range p.Rows {
		y := multipliers[i]
		side := r.Lower
		if y < 0 {
			side = r.Upper
		}
		if y == 0 || math.IsInf(side, 0) {
			continue
		}
		sum += y * side
		for _, t := range r.Terms {
			reduced[t.Column] -= y * t.Coefficient
		}
	}
	for j, c := range p.Columns {
		side := c.Lower
		if reduced[j] < 0 {
			side = c.Upper
		}
		if reduced[j] != 0 {
			sum += reduced[j] * side
		}
	}
	return sum
}

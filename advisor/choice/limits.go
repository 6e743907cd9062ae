package choice

import (
	"context"
	"errors"
	"math"

	"github.com/helenus-db/helenus/advisor/solve"
)

// Limit is a condition on tables besides those of a Problem: all that are kept take no more than Most of something.
type Limit struct {
	Takes []Take
	Most  float64 // above 0
}

// Take is how much of something a table takes; each table is named once.
type Take struct {
	Table int
	Of    float64
}

// Program is the integer program of a problem with any number of limits. Solve knows space alone: what it bounds and searches with would have to look at each limit
// by itself. Who has several, as designs of several steps have, gives them to the integer program's solver as they are, and bounds by its linear relaxation.
type Program struct {
	own *program
}

// NewProgram makes the program of a problem and further limits. The error is an *UnsatisfiableError, or says that what must be kept breaks a limit.
func NewProgram(p *Problem, limits []Limit) (*Program, error) {
	in, err := compileProblem(p)
	if err != nil {
		return nil, err
	}
	if p.Space > 0 && in.openSize() > p.Space*(1+1e-12) { // where nothing else takes space the program has no row for it
		return nil, errTight
	}
	q := &program{in: in, compact: true}
	q.build()
	for _, l := range limits {
		row := solve.Row{Lower: math.Inf(-1), Upper: 1}
		for _, x := range l.Takes {
			switch in.status[x.Table] {
			case open:
				row.Upper -= x.Of / l.Most
			case free:
				row.Terms = append(row.Terms, solve.Term{Column: q.column[x.Table], Coefficient: x.Of / l.Most})
			}
		}
		if q.addRow(row) < 0 && row.Upper < -1e-9 {
			return nil, errTight
		}
	}
	return &Program{q}, nil
}

// errTight: tables that must be there do not fit.
var errTight = errors.New("choice: what must be kept breaks a limit")

// Columns and Rows are how large the program is.
func (p *Program) Columns() int { return len(p.own.problem.Columns) }

// Rows is the other side of it.
func (p *Program) Rows() int { return len(p.own.problem.Rows) }

// Relaxed is the linear relaxation of a program.
type Relaxed struct {
	Bound float64   // no choice costs less
	Kept  []float64 // by table: how much of it is kept
}

// Relax solves the program without its integer conditions. The bound is the multipliers', so that nothing hangs on the engine's tolerances.
func (p *Program) Relax(ctx context.Context, r Relaxer) (*Relaxed, error) {
	p.own.problem.Unranged = true
	relaxed, err := r.Relax(ctx, p.own.problem)
	switch {
	case err != nil:
		return nil, err
	case relaxed.Duals == nil:
		return nil, errNone
	}
	x := &Relaxed{Bound: p.own.problem.Bound(relaxed.Duals) + p.own.in.openUpkeep()}
	for n, c := range p.own.column {
		switch {
		case c >= 0:
			x.Kept = append(x.Kept, relaxed.Values[c])
		case p.own.in.status[n] == open:
			x.Kept = append(x.Kept, 1)
		default:
			x.Kept = append(x.Kept, 0)
		}
	}
	return x, nil
}

// Answer is what a solver makes of a program.
type Answer struct {
	Open    []bool  // by table; nil: it found none
	Bound   float64 // no choice costs less; -Inf: that is not known
	Optimal bool    // nor less than Open
	Limit   string  // that stopped the solver; empty: none
	Engine  string
	Failure error // of the solver, a *solve.WorkerError; what it had found by then counts
}

// Solve gives the program to a solver. start is a choice to begin from, nil: none; bare is solve.Problem.Bare.
func (p *Program) Solve(ctx context.Context, s solve.Solver, limits solve.Limits, start []bool, bare bool) (*Answer, error) {
	if p.own.problem.Bare = bare; start != nil {
		p.own.setStart(start)
	}
	choice, solution, failed, err := p.own.runSolver(ctx, s, limits, nil)
	if err != nil {
		return nil, err
	}
	a := &Answer{Open: choice, Bound: math.Inf(-1), Failure: failed}
	if solution != nil {
		a.Engine, a.Limit, a.Optimal = solution.Engine, solution.Limit, solution.Status == solve.Optimal
		if solution.Status == solve.Optimal || solution.Status == solve.Stopped {
			a.Bound = solution.Bound + p.own.in.openUpkeep()
		}
	}
	return a, nil
}

// Hold has the program count tables, by what each counts, among the choices that cost no more than a value.
func (p *Program) Hold(value float64, counts []float64) { p.own.holdObjective(value, counts) }

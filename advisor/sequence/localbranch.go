package sequence

import (
	"context"
	"math"

	"github.com/helenus-db/helenus/advisor/solve"
)

// Neighbourhood are the sequences near one.
type Neighbourhood struct {
	Start    [][]bool // a sequence within all limits
	Changing []bool   // by table: it may come and go, as whatever does so in Start. The others last: they are kept at all steps or at none
	// Alike is, by step, the first one that has the same tables, as it has in Start; nil: each has its own. Where the same weights come again and again, the program
	// is as large as that of those that differ, and of what leads from one to another.
	Alike  []int
	Solver solve.Solver
	Limits solve.Limits
}

// LocalBranch looks for the best sequence near one, by the integer program of them (program.go). It answers Start if there is none that costs less, or none was
// found within the limits. failure is of the solver (a *solve.WorkerError); what it had found by then counts.
//
// Nearly all tables of a good sequence last: what comes and goes are a few large ones, with what these are made from. With the others lasting the program
// has one column in place of one for each step for most tables, and one flow for most demands, so that it is solved within seconds where that of all
// sequences is not within minutes. And it sees what annealing (anneal.go) does not: that a dozen small tables, rearranged at all steps at once, make
// room for a large one to stay.
func LocalBranch(ctx context.Context, p *Problem, o Neighbourhood) (list [][]bool, failure, err error) {
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	least := p.Cost(o.Start)
	if math.IsInf(least, 1) {
		return nil, nil, errNone
	}
	in, err := newInstance(p)
	if err != nil {
		return nil, nil, err
	}
	in.twin = o.tiedSteps(len(p.Tables))
	q := newProgram(in)
	q.setStart(o.Start)
	q.problem.Bare = true
	found, _, failure, err := q.runSolver(ctx, o.Solver, o.Limits)
	switch {
	case err != nil:
		return nil, failure, err
	case found != nil && better(p.Cost(found), least):
		return found, failure, nil
	}
	return o.Start, failure, nil
}

// tiedSteps are, by step and table, the first step at which the table is to be what it is at that step.
func (o *Neighbourhood) tiedSteps(tables int) (twin [][]int) {
	for t := range o.Start {
		list := make([]int, tables)
		for n := range list {
			if list[n] = t; o.Alike != nil {
				list[n] = o.Alike[t]
			}
		}
		twin = append(twin, list)
	}
	for n := range tables {
		lasts := !o.Changing[n]
		for t := range o.Start {
			lasts = lasts && o.Start[t][n] == o.Start[0][n]
		}
		for t := range twin {
			if lasts {
				twin[t][n] = 0
			}
		}
	}
	return twin
}

package design

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
)

// program is the binary integer program of a task (seed 003, figures 8, 9 and 13).
//
// There is a binary column for each candidate (the paper's delta_j), which costs its weighted puts, and for each demand
// a column for each arc of its plan space, which costs the arc's weighted work. Arcs carry a flow from Start to
// Answered: of 1 for a query, and for a support query of as much as the tables that need it are chosen. Flow that enters
// a state leaves it. So an arc may follow any that ends where it begins (figure 9: d15 <= d12 + d14), and costs belong to
// arcs, not to pairs of query and table. Of the arcs of one demand that read a candidate, a plan takes at most one; so
// their sum is at most the candidate's column: the tightest form of delta_ij <= delta_j.
//
// Once the tables are chosen, the cheapest flow is a cheapest way in a graph without circles, and some cheapest flow is
// whole: arcs need no integer condition.
type program struct {
	task    *task
	problem *solve.Problem
	arcs    [][]int // by demand: the columns of its arcs, -1 for arcs left out
	flows   []int   // by demand: the column of a support query's flow, -1 if there is none
}

// newProgram builds the program of what a reduction has left.
func newProgram(t *task, r *reduction) *program {
	p := &program{task: t, problem: &solve.Problem{}}
	for n, table := range t.candidates {
		c := solve.Column{Name: fmt.Sprintf("table %d %s", n, table), Cost: t.putWork(n), Integer: true}
		if r.tables[n] {
			c.Upper = 1
		}
		p.column(c)
	}
	if t.space > 0 {
		row := solve.Row{Name: "space", Lower: math.Inf(-1), Upper: 1}
		for n, table := range t.candidates {
			row.Terms = append(row.Terms, solve.Term{Column: n, Coefficient: t.arithmetic.TableBytes(table) / t.space})
		}
		p.row(row)
	}
	for n, d := range t.demands {
		p.demand(n, d, r)
	}
	return p
}

func (p *program) column(c solve.Column) int {
	p.problem.Columns = append(p.problem.Columns, c)
	return len(p.problem.Columns) - 1
}

func (p *program) row(r solve.Row) {
	if len(r.Terms) > 0 {
		p.problem.Rows = append(p.problem.Rows, r)
	}
}

// demand adds the flow of one demand.
func (p *program) demand(n int, d *demand, r *reduction) {
	weight := p.task.weights[d.statement] * d.times
	flow := -1
	if d.needed != nil {
		flow = p.column(solve.Column{Name: fmt.Sprintf("flow %d %s", n, d.name), Upper: 1})
		for _, table := range d.needed {
			if !r.tables[table] {
				continue
			}
			p.row(solve.Row{Name: fmt.Sprintf("flow %d needed by table %d", n, table), Lower: 0, Upper: math.Inf(1),
				Terms: []solve.Term{{Column: flow, Coefficient: 1}, {Column: table, Coefficient: -1}}})
		}
	}
	states := make([][]solve.Term, d.space.States)
	used := make(map[int][]solve.Term, len(d.reads))
	columns := make([]int, len(d.space.Arcs))
	for i, a := range d.space.Arcs {
		columns[i] = -1
		if !r.arcs[n][i] {
			continue
		}
		c := p.column(solve.Column{Name: fmt.Sprintf("arc %d of flow %d", i, n), Cost: weight * d.prices[i], Upper: 1})
		columns[i] = c
		states[a.From] = append(states[a.From], solve.Term{Column: c, Coefficient: 1})
		if a.To != plan.Answered {
			states[a.To] = append(states[a.To], solve.Term{Column: c, Coefficient: -1})
		}
		if table, ok := p.task.number[a.Table]; ok {
			used[table] = append(used[table], solve.Term{Column: c, Coefficient: 1})
		}
	}
	for s, terms := range states {
		row := solve.Row{Name: fmt.Sprintf("state %d of flow %d", s, n), Terms: terms}
		switch {
		case s == plan.Answered:
			continue
		case s == plan.Start && flow >= 0:
			row.Terms = append(row.Terms, solve.Term{Column: flow, Coefficient: -1})
		case s == plan.Start:
			row.Lower, row.Upper = 1, 1
		}
		p.row(row)
	}
	for _, table := range d.reads {
		if len(used[table]) > 0 {
			p.row(solve.Row{Name: fmt.Sprintf("table %d in flow %d", table, n), Lower: math.Inf(-1), Upper: 0,
				Terms: append(used[table], solve.Term{Column: table, Coefficient: -1})})
		}
	}
	p.arcs = append(p.arcs, columns)
	p.flows = append(p.flows, flow)
}

// start makes a choice the program's first solution.
func (p *program) start(c choice) {
	values := make([]float64, len(p.problem.Columns))
	for n := range c {
		if c[n] {
			values[n] = 1
		}
	}
	for n, d := range p.task.demands {
		if !d.active(c) {
			continue
		}
		if p.flows[n] >= 0 {
			values[p.flows[n]] = 1
		}
		way, _ := d.space.CheapestWay(p.task.priceOf(d), p.task.chosen(c))
		for _, a := range way {
			if column := p.arcs[n][a.Number]; column >= 0 {
				values[column] = 1
			}
		}
	}
	p.problem.Start = values
}

// The limits of the second solve: it only chooses among choices of equal work.
const (
	tieNodes = 300
	tieWall  = 10 * time.Second
)

// solve chooses: least work, of such choices one with the fewest tables, of such one with the smallest (seed 003, section
// 5). The last two are one objective: sizes are fractions of their sum, so that together they count less than one table.
// The solution returned is the first one's.
func (p *program) solve(ctx context.Context, s solve.Solver, limits solve.Limits) (choice, *solve.Solution, error) {
	first, err := s.Solve(ctx, p.problem, limits)
	if err != nil || first.Values == nil {
		return nil, first, err
	}
	best := first.Values
	ties := &solve.Problem{Columns: append([]solve.Column(nil), p.problem.Columns...), Rows: append([]solve.Row(nil), p.problem.Rows...), Start: best}
	keep := solve.Row{Name: "work", Lower: math.Inf(-1), Upper: 1 + 1e-9}
	for i := range ties.Columns {
		if c := &ties.Columns[i]; c.Cost != 0 && first.Objective > 0 {
			keep.Terms = append(keep.Terms, solve.Term{Column: i, Coefficient: c.Cost / first.Objective})
			c.Cost = 0
		}
	}
	if len(keep.Terms) > 0 {
		ties.Rows = append(ties.Rows, keep)
	}
	whole := 1.0
	for _, table := range p.task.candidates {
		whole += p.task.arithmetic.TableBytes(table)
	}
	for n, table := range p.task.candidates {
		ties.Columns[n].Cost = 1 + p.task.arithmetic.TableBytes(table)/whole
	}
	second, err := s.Solve(ctx, ties, solve.Limits{Nodes: tieNodes, Wall: tieWall})
	var failed *solve.WorkerError
	switch {
	case err != nil && (ctx.Err() != nil || !errors.As(err, &failed)):
		return nil, nil, err
	case err == nil && second.Values != nil:
		best = second.Values
	}
	c := make(choice, len(p.task.candidates))
	for n := range c {
		c[n] = best[n] > 0.5
	}
	return c, first, nil
}

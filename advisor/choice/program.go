package choice

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/helenus-db/helenus/advisor/graph"
	"github.com/helenus-db/helenus/advisor/solve"
)

// program is the integer program of an instance (seed 003, figures 8, 9 and 13): a binary column for each free table (the
// paper's delta_j), which costs its upkeep; for each arc a column, and for a demand that is there only if a table needs
// it, one for its flow. Flow goes from Source to Sink: 1, or as much as the tables that need it are chosen. What
// enters a state leaves it; so an arc may follow any that ends where it begins (figure 9: d15 <= d12 + d14), and costs
// belong to arcs. Of the arcs of a demand that read a table a path takes at most one; so their sum is at most the table's
// column: the tightest form of delta_ij <= delta_j.
//
// With the tables chosen the cheapest flow is a cheapest path in a graph without circles, and some cheapest flow is whole:
// only the tables need an integer condition.
type program struct {
	in      *instance
	problem *solve.Problem
	column  []int // by table, -1 if it is not free
	flows   []int // by demand, -1 if it is there always
	arcs    []int // by demand: the column of its first arc
	rows    []int // by multiplier of the dual: the row whose price it is, -1 if there is none
	compact bool  // demands with a shortcut are written in fewer rows and columns, which the dual has no multipliers for
}

func newProgram(in *instance) *program {
	p := &program{in: in}
	p.build()
	return p
}

func (p *program) build() {
	in := p.in
	p.problem, p.column, p.rows = &solve.Problem{}, make([]int, len(in.status)), make([]int, in.multiplierCount())
	for i := range p.rows {
		p.rows[i] = -1
	}
	space := solve.Row{Lower: math.Inf(-1), Upper: 1}
	for n, s := range in.status {
		p.column[n] = -1
		if s == open && in.problem.Space > 0 {
			space.Upper -= in.size[n] / in.problem.Space
		}
		if s != free {
			continue
		}
		p.column[n] = p.addColumn(solve.Column{Name: fmt.Sprintf("table %d %s", n, in.problem.Tables[n].Name), Cost: in.upkeep[n], Upper: 1, Integer: true})
		if in.problem.Space > 0 && in.size[n] > 0 {
			space.Terms = append(space.Terms, solve.Term{Column: p.column[n], Coefficient: in.size[n] / in.problem.Space})
		}
	}
	p.rows[in.count] = p.addRow(space)
	for i := range in.demands {
		p.addDemand(i)
	}
	for i := range in.demands {
		d := &in.demands[i]
		for n, g := range d.groups {
			row := solve.Row{Lower: math.Inf(-1), Upper: 0, Terms: []solve.Term{{Column: p.flows[g.raised], Coefficient: -1}}}
			in := make([]bool, len(d.Roles))
			for _, j := range g.roles {
				in[j] = true
			}
			for k, e := range d.Edges {
				if in[e.Role] {
					row.Terms = append(row.Terms, solve.Term{Column: p.arcs[i] + k, Coefficient: 1})
				}
			}
			p.rows[d.groupsAt+n] = p.addRow(row)
		}
	}
}

// programSize returns how many columns and rows the program has.
func (in *instance) programSize() (columns, rows int) {
	if in.problem.Space > 0 {
		rows++
	}
	for _, s := range in.status {
		if s == free {
			columns++
		}
	}
	for i := range in.demands {
		d := &in.demands[i]
		seen := make([]bool, d.States)
		for _, e := range d.Edges {
			seen[e.From] = true
		}
		for _, is := range seen {
			rows += oneIf(is)
		}
		columns += len(d.Edges)
		rows += len(d.Roles) - 1 + len(d.needed) + len(d.groups)
		columns += oneIf(!d.always)
	}
	return columns, rows
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *program) addColumn(c solve.Column) int {
	p.problem.Columns = append(p.problem.Columns, c)
	return len(p.problem.Columns) - 1
}

// addRow adds a row and returns its number, -1 if it says nothing.
func (p *program) addRow(r solve.Row) int {
	if len(r.Terms) == 0 {
		return -1
	}
	p.problem.Rows = append(p.problem.Rows, r)
	return len(p.problem.Rows) - 1
}

// shortcut finds a demand's arc that satisfies it for nothing over one table, where one table needs the demand: what is created need not be if it was
// there before. Then there is a flow only if the one is kept and the other is not, which is one row in place of two. -1: there is none.
func (d *demand) shortcut() int {
	if d.always || len(d.needed) != 1 {
		return -1
	}
	for k, e := range d.Edges {
		if e.From == Source && e.To == Sink && e.Price == 0 && e.Role != 0 && d.Roles[e.Role].Table != d.needed[0] {
			return k
		}
	}
	return -1
}

// addDemand adds the flow of one demand.
func (p *program) addDemand(i int) {
	d := &p.in.demands[i]
	flow, short := -1, -1
	if p.compact {
		short = d.shortcut()
	}
	switch {
	case short >= 0:
		flow = p.addColumn(solve.Column{Upper: 1})
		p.addRow(solve.Row{Lower: 0, Upper: math.Inf(1), Terms: []solve.Term{{Column: flow, Coefficient: 1}, {Column: p.column[d.needed[0]], Coefficient: -1}, {Column: p.column[d.Roles[d.Edges[short].Role].Table], Coefficient: 1}}})
	case !d.always:
		flow = p.addColumn(solve.Column{Name: fmt.Sprintf("flow %d", d.number), Upper: 1})
		for j, n := range d.needed {
			p.rows[d.at+len(d.Roles)+j] = p.addRow(solve.Row{Lower: 0, Upper: math.Inf(1), Terms: []solve.Term{{Column: flow, Coefficient: 1}, {Column: p.column[n], Coefficient: -1}}})
		}
	}
	p.flows = append(p.flows, flow)
	p.arcs = append(p.arcs, len(p.problem.Columns))
	states := make([][]solve.Term, d.States)
	used := make([][]solve.Term, len(d.Roles))
	for k, e := range d.Edges {
		if k == short { // its number stays
			p.addColumn(solve.Column{})
			continue
		}
		c := p.addColumn(solve.Column{Cost: e.Price, Upper: 1})
		states[e.From] = append(states[e.From], solve.Term{Column: c, Coefficient: 1})
		if e.To != Sink {
			states[e.To] = append(states[e.To], solve.Term{Column: c, Coefficient: -1})
		}
		used[e.Role] = append(used[e.Role], solve.Term{Column: c, Coefficient: 1})
	}
	for s, terms := range states {
		row := solve.Row{Terms: terms}
		switch {
		case s == Sink:
			continue
		case s == Source && flow >= 0:
			row.Terms = append(row.Terms, solve.Term{Column: flow, Coefficient: -1})
		case s == Source:
			row.Lower, row.Upper = 1, 1
		}
		p.addRow(row)
	}
	for j, r := range d.Roles[1:] {
		if used[j+1] == nil {
			continue // the shortcut's alone
		}
		p.rows[d.at+1+j] = p.addRow(solve.Row{Lower: math.Inf(-1), Upper: 0, Terms: append(used[j+1], solve.Term{Column: p.column[r.Table], Coefficient: -1})})
	}
}

// setStart makes a choice the program's first solution.
func (p *program) setStart(choice []bool) {
	values := make([]float64, len(p.problem.Columns))
	for n, c := range p.column {
		if c >= 0 && choice[n] {
			values[c] = 1
		}
	}
	s := newSearch(p.in, 0)
	s.setChoice(choice)
	for i := range p.in.demands {
		d := &p.in.demands[i]
		if s.there[i] == 0 || math.IsInf(s.cheapestPrice(i), 1) {
			continue
		}
		if p.compact && int(p.in.paths.Over[Sink]) == d.shortcut() {
			continue
		}
		if p.flows[i] >= 0 {
			values[p.flows[i]] = 1
		}
		d.Walk(&p.in.paths, func(k int32, _ *graph.Edge) { values[p.arcs[i]+int(k)] = 1 })
	}
	p.problem.Start = values
}

// holdObjective replaces the objective by the given costs of tables, and holds the present one at most at a value. The row is
// scaled so that the engine's tolerance is far below what counts. Held at nothing, nothing is used that costs anything.
func (p *program) holdObjective(value float64, costs []float64) {
	const scale = 1e4
	for n, s := range p.in.status {
		if s == open {
			value -= p.in.upkeep[n]
		}
	}
	row := solve.Row{Name: "cost", Lower: math.Inf(-1), Upper: scale}
	for i := range p.problem.Columns {
		c := &p.problem.Columns[i]
		switch {
		case c.Cost != 0 && value > 0:
			row.Terms = append(row.Terms, solve.Term{Column: i, Coefficient: scale * c.Cost / value})
		case c.Cost != 0:
			c.Upper = 0
		}
		c.Cost = 0
	}
	p.addRow(row)
	for n, c := range p.column {
		if c >= 0 {
			p.problem.Columns[c].Cost = costs[n]
		}
	}
}

// runSolver hands the program to the solver and returns the choice; nil if there is none. failed is a *solve.WorkerError; the choice is what the solver found before then. watch,
// if not nil, is told of the engine's progress, from another goroutine, but not after run has come back.
func (p *program) runSolver(ctx context.Context, s solve.Solver, limits solve.Limits, watch func(solve.Progress)) (choice []bool, solution *solve.Solution, failed, err error) {
	if watched, ok := s.(solve.Watched); ok && watch != nil {
		var (
			mutex sync.Mutex
			over  bool
		)
		solution, err = watched.Watch(ctx, p.problem, limits, func(x solve.Progress) {
			mutex.Lock()
			defer mutex.Unlock()
			if !over {
				watch(x)
			}
		})
		mutex.Lock()
		over = true
		mutex.Unlock()
	} else {
		solution, err = s.Solve(ctx, p.problem, limits)
	}
	var worker *solve.WorkerError
	switch {
	case errors.As(err, &worker) && worker.Found != nil:
		return p.choiceOf(worker.Found.Values), nil, err, nil
	case errors.As(err, &worker), errors.Is(err, solve.ErrMemory):
		return nil, nil, err, nil
	case err != nil && ctx.Err() != nil:
		return nil, nil, nil, nil //nolint:nilerr // the context ended: what there is stays
	case err != nil:
		return nil, nil, nil, err
	case solution.Values == nil:
		return nil, solution, nil, nil
	}
	return p.choiceOf(solution.Values), solution, nil, nil
}

// choiceOf are the tables that a solution keeps.
func (p *program) choiceOf(values []float64) []bool {
	list := make([]bool, len(p.column))
	for n, c := range p.column {
		list[n] = c >= 0 && values[c] > 0.5 || p.in.status[n] == open
	}
	return list
}

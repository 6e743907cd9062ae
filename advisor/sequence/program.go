package sequence

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// program is the integer program of an instance (seed 004, equations 1 to 14): for each step and table that is not settled a
// binary column (the paper's delta_jt), one for its creation (delta^L) and one for its end; for each demand and step, and each load
// and step, a flow through the graph, with a column for each arc (delta_ijt, delta^E).
//
//	kept(t) - kept(t-1) = created(t) - dropped(t)                 equation 4
//	flow out of Source = 1, or at least each kept table that needs the demand; in = out elsewhere     5, 6
//	arcs of one role <= kept(t)                                   7
//	flow of a load at t = created(t); its arcs of one role <= kept(t-1)        9 to 12
//	sizes of what is kept, and with Overlap of what is created for t+1, <= the space of t      14
//	created for t-Life+1 to t <= kept(t);  sum of created(t) <= Most
//
// With the tables chosen the rest is flows of least cost, which some whole ones are: only kept needs an integer condition.
//
// A table that must be the same at several steps (twin) has one column for them, and one for each creation between the same. A demand flows once for all steps at which what
// it can read is the same columns, with the sum of their weights, and so does a load: the program is a fraction of what it was (localbranch.go).
type program struct {
	in      *instance
	problem *solve.Problem
	kept    [][]int // by step and table: its column, -1 if it is settled
	created [][]int // -1 if it never is
	changes [][]int // by step and table: the row of equation 4, -1: nothing can change
	flows   []flow
}

// flow is that of a demand or a load at a step.
type flow struct {
	g       *graph
	step    int
	demand  int     // choice.None: a load
	weight  float64 // a load's: at how many steps it is
	table   int     // whose load it is
	arcs    int     // column of the first arc
	through int     // column of how much flows, -1: 1
	roles   []int   // by role: the row that ties it to its table, -1: none
}

func newProgram(in *instance) *program {
	p := &program{in: in, problem: &solve.Problem{}}
	for t := range in.status {
		kept, created, changes := make([]int, len(in.size)), make([]int, len(in.size)), make([]int, len(in.size))
		for n, s := range in.status[t] {
			x := &in.p.Tables[n]
			kept[n], created[n], changes[n] = -1, -1, -1
			switch {
			case s == free && in.asAt(t, n) < t:
				kept[n] = p.kept[in.asAt(t, n)][n]
				p.problem.Columns[kept[n]].Cost += x.Upkeep[t]
			case s == free:
				kept[n] = p.addColumn(solve.Column{Name: fmt.Sprintf("table %d step %d", n, t), Cost: x.Upkeep[t], Upper: 1, Integer: true})
			}
		}
		p.kept, p.created, p.changes = append(p.kept, kept), append(p.created, created), append(p.changes, changes)
		for n, s := range in.status[t] {
			x := &in.p.Tables[n]
			if t > 0 && in.asAt(t, n) == in.asAt(t-1, n) || s == closed && (t == 0 && !x.There || t > 0 && in.status[t-1][n] == closed) {
				continue
			}
			first, times, birth := in.changeOf(t, n)
			if first < t {
				created[n], changes[n] = p.created[first][n], p.changes[first][n]
				continue
			}
			row := rowBuilder{lower: 0, upper: 0}
			p.addKept(&row, t, n, 1)
			if t > 0 {
				p.addKept(&row, t-1, n, -1)
			} else if x.There {
				row.subtractConstant(1)
			}
			if !in.unborn[t][n] && s != closed {
				created[n] = p.addColumn(solve.Column{Cost: birth, Upper: 1})
				row.addTerm(created[n], -1)
			}
			row.addTerm(p.addColumn(solve.Column{Cost: float64(times) * x.Drop, Upper: 1}), 1)
			changes[n] = p.addRow(row)
		}
	}
	p.addLimits()
	for t := range in.status {
		for i := range in.demands {
			if weight, first := p.flowWeight(i, t); first {
				p.addDemand(i, t, weight)
			}
		}
		for n, c := range p.created[t] {
			if t == 0 || c < 0 {
				continue
			}
			if first, times, _ := in.changeOf(t, n); first == t {
				p.addFlow(flow{g: in.loads[n], step: t, demand: choice.None, weight: float64(times), table: n, through: c}, t-1)
			}
		}
	}
	return p
}

// flowWeight is that of a demand at all steps that are the same for it as one; first reports whether that is the first of them.
func (p *program) flowWeight(i, t int) (sum float64, first bool) {
	for s, w := range p.in.p.Demands[i].Weights {
		if !p.sameFlow(i, s, t) {
			continue
		}
		if s < t {
			return 0, false
		}
		sum += w
	}
	return sum, true
}

// sameFlow reports whether a demand's graph and all that it can read, or that raises it, are the same at two steps.
func (p *program) sameFlow(i, s, t int) bool {
	in := p.in
	g := in.demands[i][in.class[t]]
	if s == t || in.demands[i][in.class[s]] != g {
		return s == t
	}
	is := func(n int32) bool {
		return p.kept[s][n] == p.kept[t][n] && in.status[s][n] == in.status[t][n]
	}
	for _, r := range g.roles[1:] {
		if !is(r.table) {
			return false
		}
	}
	for _, n := range in.needed[i] {
		if !is(n) {
			return false
		}
	}
	return true
}

// rowBuilder is a row under construction.
type rowBuilder struct {
	terms        []solve.Term
	lower, upper float64
}

func (s *rowBuilder) addTerm(column int, coefficient float64) {
	s.terms = append(s.terms, solve.Term{Column: column, Coefficient: coefficient})
}

// mergeTerm adds to what there may be of a column already.
func (s *rowBuilder) mergeTerm(column int, coefficient float64) {
	for i := range s.terms {
		if s.terms[i].Column == column {
			s.terms[i].Coefficient += coefficient
			return
		}
	}
	s.addTerm(column, coefficient)
}

// subtractConstant takes a number that is settled to the other side.
func (s *rowBuilder) subtractConstant(v float64) { s.lower, s.upper = s.lower+v, s.upper+v }

// addKept adds whether a table is kept at a step.
func (p *program) addKept(s *rowBuilder, t, n int, coefficient float64) {
	switch p.in.status[t][n] {
	case free:
		s.addTerm(p.kept[t][n], coefficient)
	case open:
		s.subtractConstant(-coefficient)
	}
}

func (p *program) addColumn(c solve.Column) int {
	p.problem.Columns = append(p.problem.Columns, c)
	return len(p.problem.Columns) - 1
}

func (p *program) addRow(s rowBuilder) int {
	p.problem.Rows = append(p.problem.Rows, solve.Row{Terms: s.terms, Lower: s.lower, Upper: s.upper})
	return len(p.problem.Rows) - 1
}

// addLimits adds the rows of space, life, and how many tables are created at once.
func (p *program) addLimits() {
	q := p.in.p
	for t, step := range q.Steps {
		if step.Space > 0 {
			row := rowBuilder{lower: math.Inf(-1), upper: 1}
			for n, size := range p.in.size {
				if size == 0 {
					continue
				}
				p.addKept(&row, t, n, size/step.Space)
				if q.Overlap && t+1 < len(q.Steps) && p.created[t+1][n] >= 0 {
					row.addTerm(p.created[t+1][n], size/step.Space)
				}
			}
			p.addRow(row)
		}
		if q.Most > 0 && t > 0 {
			row := rowBuilder{lower: math.Inf(-1), upper: float64(q.Most)}
			for _, c := range p.created[t] {
				if c >= 0 {
					row.addTerm(c, 1)
				}
			}
			p.addRow(row)
		}
		for n := range q.Tables {
			if q.Life < 2 || p.in.status[t][n] == open {
				continue
			}
			row := rowBuilder{lower: math.Inf(-1), upper: 0}
			for s := max(0, t-q.Life+1); s <= t; s++ {
				if c := p.created[s][n]; c >= 0 {
					row.mergeTerm(c, 1)
				}
			}
			if len(row.terms) > 0 {
				p.addKept(&row, t, n, -1)
				p.addRow(row)
			}
		}
	}
}

// addDemand adds the flow of a demand at a step, and at those that are the same for it.
func (p *program) addDemand(i, t int, weight float64) {
	f := flow{g: p.in.demands[i][p.in.class[t]], step: t, demand: i, weight: weight, table: choice.None, through: -1}
	if !p.in.alwaysThere(i) {
		raised := false
		for _, n := range p.in.needed[i] {
			switch p.in.status[t][n] {
			case open:
				f.through = -1
				p.addFlow(f, t)
				return
			case free:
				raised = true
			}
		}
		if !raised {
			return
		}
		f.through = p.addColumn(solve.Column{Upper: 1})
		for _, n := range p.in.needed[i] {
			if p.in.status[t][n] == free {
				p.addRow(rowBuilder{terms: []solve.Term{{Column: f.through, Coefficient: 1}, {Column: p.kept[t][n], Coefficient: -1}}, lower: 0, upper: math.Inf(1)})
			}
		}
	}
	p.addFlow(f, t)
}

// addFlow adds a flow that reads the tables of a step.
func (p *program) addFlow(f flow, reads int) {
	g := f.g
	f.arcs = len(p.problem.Columns)
	states, used := make([][]solve.Term, g.states), make([][]solve.Term, len(g.roles))
	for _, a := range g.arcs {
		c := solve.Column{Cost: f.weight * a.price, Upper: 1}
		if a.role != 0 && p.in.status[reads][g.roles[a.role].table] == closed {
			c.Upper = 0
		}
		column := p.addColumn(c)
		states[a.from] = append(states[a.from], solve.Term{Column: column, Coefficient: 1})
		if a.to != choice.Sink {
			states[a.to] = append(states[a.to], solve.Term{Column: column, Coefficient: -1})
		}
		used[a.role] = append(used[a.role], solve.Term{Column: column, Coefficient: 1})
	}
	for s, terms := range states {
		row := rowBuilder{terms: terms}
		switch {
		case s == choice.Sink || len(terms) == 0 && s != choice.Source:
			continue
		case s == choice.Source && f.through >= 0:
			row.addTerm(f.through, -1)
		case s == choice.Source:
			row.subtractConstant(1)
		}
		p.addRow(row)
	}
	f.roles = make([]int, len(used))
	for r := range used {
		f.roles[r] = -1
		if n := int(g.roles[r].table); r > 0 && p.in.status[reads][n] == free {
			f.roles[r] = p.addRow(rowBuilder{terms: append(used[r], solve.Term{Column: p.kept[reads][n], Coefficient: -1}), lower: math.Inf(-1), upper: 0})
		}
	}
	p.flows = append(p.flows, f)
}

// setStart makes a sequence the program's first solution.
func (p *program) setStart(list [][]bool) {
	values := make([]float64, len(p.problem.Columns))
	for t := range list {
		for n, c := range p.kept[t] {
			if c >= 0 && list[t][n] {
				values[c] = 1
			}
		}
		for n, c := range p.created[t] {
			if c >= 0 && list[t][n] && !p.in.p.keptBefore(list, t, n) {
				values[c] = 1
			}
		}
	}
	s := newScratch(p.in.states)
	for _, f := range p.flows {
		reads := list[f.step]
		if f.demand == choice.None {
			if values[f.through] == 0 {
				continue
			}
			reads = list[f.step-1]
		} else if !p.in.demandPresent(f.demand, reads) {
			continue
		}
		if math.IsInf(f.g.cheapestPrice(reads, s), 1) {
			continue
		}
		if f.through >= 0 {
			values[f.through] = 1
		}
		f.g.walkPath(s, func(i int32, _ *arc) { values[f.arcs+int(i)] = 1 })
	}
	p.problem.Start = values
}

// keptBefore reports whether a table was kept before a step.
func (p *Problem) keptBefore(list [][]bool, t, n int) bool {
	if t == 0 {
		return p.Tables[n].There
	}
	return list[t-1][n]
}

// demandPresent reports whether a demand must be satisfied by a step's tables.
func (in *instance) demandPresent(i int, open []bool) bool {
	if in.alwaysThere(i) {
		return true
	}
	for _, n := range in.needed[i] {
		if open[n] {
			return true
		}
	}
	return false
}

// holdObjective replaces the objective by what each kept table counts, and holds the present one at a value.
func (p *program) holdObjective(value float64, costs []float64) {
	const scale = 1e4 // the engine's tolerance must be far below what counts
	row := rowBuilder{lower: math.Inf(-1), upper: scale}
	for i := range p.problem.Columns {
		c := &p.problem.Columns[i]
		if c.Cost != 0 && value > 0 {
			row.addTerm(i, scale*c.Cost/value)
		}
		c.Cost = 0
	}
	if len(row.terms) > 0 {
		p.addRow(row)
	}
	for t := range p.kept {
		for n, c := range p.kept[t] {
			if c >= 0 {
				p.problem.Columns[c].Cost = costs[n]
			}
		}
	}
}

// openUpkeep is what tables that are open at all events cost to keep, which the program's costs lack.
func (p *program) openUpkeep() float64 {
	v := 0.0
	for t := range p.in.status {
		for n, s := range p.in.status[t] {
			if s == open {
				v += p.in.p.Tables[n].Upkeep[t]
			}
		}
	}
	return v
}

// runSolver hands the program to the solver and returns the sequence, nil if there is none. A solver that fails (*solve.WorkerError) is
// no error here: failed says so, what it had found by then is the sequence, and what was known before stays.
func (p *program) runSolver(ctx context.Context, s solve.Solver, limits solve.Limits) (list [][]bool, solution *solve.Solution, failed, err error) {
	solution, err = s.Solve(ctx, p.problem, limits)
	var worker *solve.WorkerError
	switch {
	case errors.As(err, &worker) && worker.Found != nil:
		return p.sequenceOf(worker.Found.Values), nil, err, nil
	case errors.As(err, &worker), errors.Is(err, solve.ErrMemory):
		return nil, nil, err, nil
	case err != nil && ctx.Err() != nil:
		return nil, nil, nil, nil //nolint:nilerr // the context ended: what there is stays
	case err != nil:
		return nil, nil, nil, err
	case solution.Values == nil:
		return nil, solution, nil, nil
	}
	return p.sequenceOf(solution.Values), solution, nil, nil
}

// sequenceOf are the tables that a solution keeps, by step.
func (p *program) sequenceOf(values []float64) (list [][]bool) {
	for t := range p.kept {
		tables := make([]bool, len(p.kept[t]))
		for n, c := range p.kept[t] {
			tables[n] = c >= 0 && values[c] > 0.5 || p.in.status[t][n] == open
		}
		list = append(list, tables)
	}
	return list
}

package sequence

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/graph"
	"github.com/helenus-db/helenus/advisor/solve"
)

// expansion is a problem of several steps as a choice: of a table at a step is made a table of the choice, which is kept or not. So there is one kind of
// program for designs of one step and of many (equations 1 to 14 of seed 004):
//
//   - What answers a demand at a step is over that step's tables, with its weight there.
//   - A table at a step t raises a demand of its own: that it comes from somewhere. It does for nothing over the same table at t-1, or else for what its birth costs and
//     over a path of its load, over the tables of t-1 (equation 4, and 9 to 12). At the first step its birth is part of its upkeep.
//   - Dropping: a table is dropped as often as it was there before or was born, less once if it is kept in the end. So each birth costs a drop more, and its
//     not being kept in the end one, of which so many were too many (offset).
//   - Each step's space is a limit of its own. Where births themselves are limited (Most, Overlap, Life) each is a table of the choice, too: it counts
//     among those of its step, takes space in the step before, and raises a demand for its table at each of the steps that it has to live.
//
// Tables that must be the same at several steps (twin) are one table of the choice: what it is at those is added up, and a demand that asks the same of the same
// tables at several steps is one.
type expansion struct {
	in      *instance
	twin    [][]int
	problem choice.Problem
	limits  []choice.Limit
	at      [][]int // by step and table: its number in the choice, -1: it is never kept
	born    [][]int // by step and table: the number of its birth, -1: births have none
	offset  float64
	merged  map[string]int // demands of the choice, by what they ask of which tables, where steps share tables
}

// expand makes the choice of an instance. twin is, by step and table, the first step at which it must be what it is at this one; nil: each step is its own.
func (in *instance) expand(twin [][]int) *expansion {
	x := &expansion{in: in, twin: twin, merged: map[string]int{}}
	x.addTables()
	for t := range in.status {
		for i, g := range in.demands {
			x.addDemand(i, t, g)
		}
		for n := range in.size {
			x.addOrigin(t, n)
		}
	}
	x.addEnds()
	x.addLimits()
	return x
}

// addTables adds each table at each step, once for those steps at which it must be the same.
func (x *expansion) addTables() {
	in := x.in
	for t := range in.status {
		at, born := make([]int, len(in.size)), make([]int, len(in.size))
		x.at, x.born = append(x.at, at), append(x.born, born)
		for n := range in.size {
			born[n] = -1
			first := t
			if x.twin != nil {
				first = x.twin[t][n]
			}
			upkeep := in.p.Tables[n].Upkeep[t]
			switch {
			case in.status[t][n] == closed:
				at[n] = -1
			case first < t:
				at[n] = x.at[first][n]
				x.problem.Tables[at[n]].Upkeep += upkeep
			default:
				at[n] = len(x.problem.Tables)
				x.problem.Tables = append(x.problem.Tables, choice.Table{Name: fmt.Sprintf("step %d", t), Upkeep: upkeep, Fixed: in.status[t][n] == open})
			}
		}
	}
}

// arcsAt are a graph's arcs over the tables of a step.
func (x *expansion) arcsAt(g *graph.Graph, t int) (list []choice.Arc) {
	for i := range g.Edges {
		e := &g.Edges[i]
		n := choice.None
		if e.Role != 0 {
			if n = x.at[t][g.Roles[e.Role].Table]; n < 0 {
				continue
			}
		}
		list = append(list, choice.Arc{From: int(e.From), To: int(e.To), Price: e.Price, Table: n})
	}
	return list
}

// addDemand adds a demand at a step.
func (x *expansion) addDemand(i, t int, g *graph.Graph) {
	d := choice.Demand{Weight: x.in.p.Demands[i].Weights[t], States: g.States, Arcs: x.arcsAt(g, t)}
	if !x.in.alwaysThere(i) {
		d.Needed = []int{}
		for _, n := range x.in.needed[i] {
			if k := x.at[t][n]; k >= 0 {
				d.Needed = append(d.Needed, k)
			}
		}
		if len(d.Needed) == 0 {
			return
		}
	}
	if last := x.sameDemand(i, &d); last != nil {
		last.Weight += d.Weight
		return
	}
	x.problem.Demands = append(x.problem.Demands, d)
}

// sameDemand is the demand that is there already and asks the same of the same tables; what is to tell kinds of demands apart. nil: there is none.
func (x *expansion) sameDemand(what int, d *choice.Demand) *choice.Demand {
	if x.twin == nil {
		return nil
	}
	key := binary.AppendVarint(nil, int64(what))
	for _, n := range d.Needed {
		key = binary.AppendVarint(key, int64(n))
	}
	key = append(key, 0x80, 0)
	for i := range d.Arcs {
		key = binary.AppendVarint(key, int64(d.Arcs[i].Table))
	}
	at, known := x.merged[string(key)]
	if !known {
		x.merged[string(key)] = len(x.problem.Demands)
		return nil
	}
	return &x.problem.Demands[at]
}

// addOrigin adds what a table at a step asks: that it comes from somewhere.
func (x *expansion) addOrigin(t, n int) {
	in, k := x.in, x.at[t][n]
	y := &in.p.Tables[n]
	if k < 0 {
		return
	}
	birth := y.Birth[t] + y.Drop
	if t == 0 {
		if !y.There {
			x.problem.Tables[k].Upkeep += birth
			x.addLife(t, n, k)
		}
		return
	}
	before := x.at[t-1][n]
	if before == k {
		return
	}
	d := choice.Demand{Weight: 1, States: 2, Needed: []int{k}}
	if before >= 0 {
		d.Arcs = append(d.Arcs, choice.Arc{From: choice.Source, To: choice.Sink, Table: before})
	}
	if !in.unborn[t][n] {
		g, source := in.loads[n], choice.Source
		d.States = g.States
		if in.p.Most > 0 || in.p.Overlap || in.p.Life > 1 {
			x.born[t][n] = len(x.problem.Tables)
			x.problem.Tables = append(x.problem.Tables, choice.Table{Name: fmt.Sprintf("born for step %d", t)})
			source = d.States
			d.States++
			d.Arcs = append(d.Arcs, choice.Arc{From: choice.Source, To: source, Price: birth, Table: x.born[t][n]})
			birth = 0
			x.addLife(t, n, x.born[t][n])
		}
		for _, a := range x.arcsAt(g, t-1) {
			if a.From == choice.Source {
				a.From, a.Price = source, a.Price+birth
			}
			d.Arcs = append(d.Arcs, a)
		}
	}
	if last := x.sameDemand(-1-n, &d); last != nil { // the same comes again: whatever of its prices differs is paid each time
		for i := range d.Arcs {
			last.Arcs[i].Price += d.Arcs[i].Price
		}
		return
	}
	x.problem.Demands = append(x.problem.Demands, d)
}

// addLife adds that what is born for a step lives as long as it must.
func (x *expansion) addLife(t, n, born int) {
	for s := t; s < min(t+x.in.p.Life, len(x.at)); s++ {
		if k := x.at[s][n]; k != born {
			d := choice.Demand{Weight: 1, States: 2, Needed: []int{born}}
			if k >= 0 {
				d.Arcs = []choice.Arc{{From: choice.Source, To: choice.Sink, Table: k}}
			}
			x.problem.Demands = append(x.problem.Demands, d)
		}
	}
}

// addEnds adds what is dropped, as far as births do not bear it.
func (x *expansion) addEnds() {
	last := x.at[len(x.at)-1]
	for n := range x.in.size {
		y := &x.in.p.Tables[n]
		if y.Drop == 0 {
			continue
		}
		if y.There {
			x.offset += y.Drop
		}
		if last[n] < 0 {
			continue
		}
		x.offset -= y.Drop
		x.problem.Demands = append(x.problem.Demands, choice.Demand{Weight: 1, States: 2, Arcs: []choice.Arc{
			{From: choice.Source, To: choice.Sink, Table: last[n]}, {From: choice.Source, To: choice.Sink, Price: y.Drop, Table: choice.None},
		}})
	}
}

// addLimits adds space, and how many are born at once.
func (x *expansion) addLimits() {
	p := x.in.p
	for t, step := range p.Steps {
		if step.Space > 0 {
			l := choice.Limit{Most: step.Space}
			for n, size := range x.in.size {
				if size == 0 {
					continue
				}
				if k := x.at[t][n]; k >= 0 {
					l.Takes = append(l.Takes, choice.Take{Table: k, Of: size})
				}
				if p.Overlap && t+1 < len(p.Steps) && x.born[t+1][n] >= 0 {
					l.Takes = append(l.Takes, choice.Take{Table: x.born[t+1][n], Of: size})
				}
			}
			x.limits = append(x.limits, l)
		}
		if p.Most > 0 && t > 0 {
			l := choice.Limit{Most: float64(p.Most)}
			for _, k := range x.born[t] {
				if k >= 0 {
					l.Takes = append(l.Takes, choice.Take{Table: k, Of: 1})
				}
			}
			x.limits = append(x.limits, l)
		}
	}
}

// arcCount is how many arcs the choice has.
func (x *expansion) arcCount() (sum int) {
	for i := range x.problem.Demands {
		sum += len(x.problem.Demands[i].Arcs)
	}
	return sum
}

// choiceOf says a sequence as a choice.
func (x *expansion) choiceOf(list [][]bool) []bool {
	open := make([]bool, len(x.problem.Tables))
	for t := range list {
		for n, is := range list[t] {
			if k := x.at[t][n]; is && k >= 0 {
				open[k] = true
			}
			if k := x.born[t][n]; is && k >= 0 {
				open[k] = !list[t-1][n]
			}
		}
	}
	return open
}

// sequenceOf is the reverse.
func (x *expansion) sequenceOf(open []bool) [][]bool {
	if open == nil {
		return nil
	}
	list := make([][]bool, len(x.at))
	for t := range list {
		list[t] = make([]bool, len(x.at[t]))
		for n, k := range x.at[t] {
			list[t][n] = k >= 0 && open[k]
		}
	}
	return list
}

// answer is what a solver makes of the program.
type answer struct {
	open    [][]bool
	bound   float64
	optimal bool
	limit   string
	engine  string
	failure error
}

// solve gives the program to a solver.
func (x *expansion) solve(ctx context.Context, s solve.Solver, limits solve.Limits, start [][]bool, bare bool) (*answer, error) {
	q, err := choice.NewProgram(&x.problem, x.limits)
	if err != nil {
		return nil, err
	}
	return x.run(ctx, q, s, limits, start, bare)
}

func (x *expansion) run(ctx context.Context, q *choice.Program, s solve.Solver, limits solve.Limits, start [][]bool, bare bool) (*answer, error) {
	var from []bool
	if start != nil {
		from = x.choiceOf(start)
	}
	a, err := q.Solve(ctx, s, limits, from, bare)
	if err != nil {
		return nil, err
	}
	return &answer{x.sequenceOf(a.Open), a.Bound + x.offset, a.Optimal, a.Limit, a.Engine, a.Failure}, nil
}

// counts are what each table of the choice counts if a table at a step counts so much.
func (x *expansion) counts(each []float64) []float64 {
	list := make([]float64, len(x.problem.Tables))
	for t := range x.at {
		for n, k := range x.at[t] {
			if k >= 0 {
				list[k] += each[n]
			}
		}
	}
	return list
}

// Relaxed is the linear relaxation of a problem in which filling costs its least, whatever is there.
type Relaxed struct {
	Bound float64     // no sequence costs less
	Kept  [][]float64 // by step and table: how much of it there is
}

// Relax solves that relaxation. What it keeps nothing of is seldom of use.
func Relax(ctx context.Context, p *Problem, r choice.Relaxer) (*Relaxed, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	in.leastLoads()
	x := in.expand(nil)
	q, err := choice.NewProgram(&x.problem, x.limits)
	if err != nil {
		return nil, err
	}
	relaxed, err := q.Relax(ctx, r)
	if err != nil {
		return nil, err
	}
	found := &Relaxed{Bound: relaxed.Bound + x.offset}
	for t := range x.at {
		kept := make([]float64, len(x.at[t]))
		for n, k := range x.at[t] {
			if k >= 0 {
				kept[n] = relaxed.Kept[k]
			}
		}
		found.Kept = append(found.Kept, kept)
	}
	return found, nil
}

// leastLoads has filling cost its least, whatever is there.
func (in *instance) leastLoads() {
	for n, g := range in.loads {
		if len(g.Edges) > 0 {
			in.loads[n], _ = graph.Compile(2, []choice.Arc{{From: choice.Source, To: choice.Sink, Price: floorPrice(g), Table: choice.None}}, 1)
		}
	}
}

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

// LocalBranch looks for the best sequence near one, by the integer program of them. It answers Start if there is none that costs less, or none was
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
	a, err := in.expand(o.tiedSteps(len(p.Tables))).solve(ctx, o.Solver, o.Limits, o.Start, true)
	switch {
	case err != nil:
		return nil, nil, err
	case a.open != nil && better(p.Cost(a.open), least):
		return a.open, a.failure, nil
	}
	return o.Start, a.failure, nil
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

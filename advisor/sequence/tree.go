package sequence

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/guard"
)

// tree is the workload summary tree (W-20 to W-25). A node stands for the steps from one to another, summed up as three: the first, the
// middle, the last. Its local program is a sequence of these; the designs found are handed on to its children, which keep them at their
// first and last step (W-23) and choose but the middle one. So a span of n steps takes n-1 local programs (W-22), and in the end each step has a
// design that was chosen beside those of the steps next to it: put together they are a sequence, unless a table does not live long enough.
type tree struct {
	s      *solver
	base   *instance
	mutex  sync.Mutex
	tokens chan struct{} // as many as may be at work at once
	group  guard.Group
	design [][]bool // by step
	locals int
	err    error
}

// solveTree solves all local programs, side by side. The designs depend on the problem only, not on which is solved first.
func (s *solver) solveTree() (*tree, error) {
	t := &tree{s: s, base: s.in, tokens: make(chan struct{}, runtime.GOMAXPROCS(0)), design: make([][]bool, len(s.p.Steps))}
	t.group.Go(guard.Advice, func() { t.solveNode(0, len(s.p.Steps)-1, true) })
	t.group.Wait()
	return t, t.err
}

// solveNode solves the local program of a span, then those of its halves.
func (t *tree) solveNode(from, to int, root bool) {
	if from+1 >= to {
		return
	}
	middle := (from + to) / 2
	err := t.withToken(func() error { return t.solveLocal(from, middle, to, root) })
	if err != nil {
		t.mutex.Lock()
		t.err = err
		t.mutex.Unlock()
		return
	}
	t.group.Go(guard.Advice, func() { t.solveNode(from, middle, false) })
	t.group.Go(guard.Advice, func() { t.solveNode(middle, to, false) })
}

func (t *tree) withToken(do func() error) error {
	t.tokens <- struct{}{}
	defer func() { <-t.tokens }()
	return do()
}

// solveLocal solves one local program.
func (t *tree) solveLocal(from, middle, to int, root bool) error {
	steps := [3]int{from, middle, to}
	q := t.s.p.summaryProblem(steps, t.s.options.Mean)
	t.mutex.Lock()
	t.locals++
	first, last := t.design[from], t.design[to]
	t.mutex.Unlock()
	in := t.base.summaryInstance(q, steps)
	if !root {
		for n := range q.Tables {
			q.Tables[n].There = first[n]
		}
		in.fixDesign(0, first)
		in.fixDesign(2, last)
	}
	s := &solver{ctx: t.s.ctx, options: Options{Solver: t.s.options.Solver, Limits: solve.Limits{Gap: max(localGap, t.s.options.Limits.Gap)}}, effort: localEffort,
		began: time.Now(), p: q, in: in, known: math.Inf(1), bound: math.Inf(-1), grain: t.s.grain, result: &Result{}}
	if root {
		s.seeds = [][][]bool{{t.s.idealDesign(from), t.s.idealDesign(middle), t.s.idealDesign(to)}}
	} else {
		for _, design := range [][]bool{first, t.s.idealDesign(middle), last} {
			s.seeds = append(s.seeds, [][]bool{first, design, last})
		}
	}
	if err := s.run(); err != nil && root {
		return err // no space, or no path: that is so for the whole
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch {
	case s.best == nil && root:
		if err := t.s.ctx.Err(); err != nil {
			return err
		}
		return errNone
	case s.best == nil:
		t.design[middle] = first
	case root:
		t.design[from], t.design[middle], t.design[to] = s.best[0], s.best[1], s.best[2]
	default:
		t.design[middle] = s.best[1]
	}
	return nil
}

// localGap is what a local program may be away from its optimum: what it finds is to be found promising, not to be used.
const localGap = 1e-5

// fixDesign fixes the design of a step.
func (in *instance) fixDesign(t int, design []bool) {
	for n, is := range design {
		in.status[t][n] = closed
		if is {
			in.status[t][n] = open
		}
	}
}

// keptTables lists the tables of all designs.
func (t *tree) keptTables() []int {
	var list []int
	for n := range t.base.size {
		if slices.ContainsFunc(t.design, func(d []bool) bool { return d[n] }) {
			list = append(list, n)
		}
	}
	return list
}

// summaryProblem is a problem over three of the steps. What a step weighs is what it weighs itself, or with mean what those around it do on
// average, for half of the span (W-21). A change is possible if it is at any step up to the later one. How long tables live is left to the whole.
func (p *Problem) summaryProblem(steps [3]int, mean bool) *Problem {
	q := &Problem{Loads: p.Loads, Overlap: p.Overlap}
	from, middle, to := steps[0], steps[1], steps[2]
	parts := [3][2]int{{from, from}, {middle, middle}, {to, to}}
	if mean {
		parts = [3][2]int{{from, (from + middle) / 2}, {(from+middle)/2 + 1, (middle + to) / 2}, {(middle+to)/2 + 1, to}}
	}
	half := float64(to-from) / 2
	sample := func(list []float64) []float64 {
		next := make([]float64, 3)
		for i, part := range parts {
			for t := part[0]; t <= part[1]; t++ {
				next[i] += list[t] * half / float64(part[1]-part[0]+1)
			}
		}
		return next
	}
	for i, t := range steps {
		step := Step{Space: p.Steps[t].Space, Closed: i > 0}
		for u := steps[max(0, i-1)] + 1; u <= t; u++ {
			step.Closed = step.Closed && p.Steps[u].Closed
		}
		q.Steps = append(q.Steps, step)
	}
	if p.Most > 0 {
		q.Most = p.Most * max(middle-from, to-middle)
	}
	for n := range p.Tables {
		x := p.Tables[n]
		x.Upkeep = sample(x.Upkeep)
		x.Birth = []float64{x.Birth[from], x.Birth[middle], x.Birth[to]}
		q.Tables = append(q.Tables, x)
	}
	for i := range p.Demands {
		d := p.Demands[i]
		d.Weights = sample(d.Weights)
		q.Demands = append(q.Demands, d)
	}
	return q
}

// summaryInstance is the instance of a summary, over the same graphs.
func (in *instance) summaryInstance(q *Problem, steps [3]int) *instance {
	next := &instance{p: q, needed: in.needed, loads: in.loads, size: in.size, states: in.states}
	next.findClasses()
	for i, t := range steps {
		next.status = append(next.status, append([]int8(nil), in.status[t]...))
		unborn := append([]bool(nil), in.unborn[t]...)
		for n := range unborn {
			unborn[n] = in.status[t][n] == closed || i > 0 && (q.Steps[i].Closed || len(in.loads[n].arcs) == 0)
		}
		next.unborn = append(next.unborn, unborn)
	}
	for i := range in.demands {
		list := make([]*graph, len(next.begin)-1)
		for k := range list {
			list[k] = in.demands[i][0]
		}
		next.demands = append(next.demands, list)
	}
	return next
}

// closeAllBut closes all tables but some, at all steps.
func (in *instance) closeAllBut(kept []int) {
	is := make([]bool, len(in.size))
	for _, n := range kept {
		is[n] = true
	}
	for t := range in.status {
		for n := range is {
			if !is[n] {
				in.status[t][n], in.unborn[t][n] = closed, true
			}
		}
	}
	less := func(g *graph) *graph {
		next, _ := g.subgraph(func(a int) bool { r := g.arcs[a].role; return r == 0 || is[g.roles[r].table] })
		return next
	}
	loads := make([]*graph, len(in.loads))
	for n, g := range in.loads {
		loads[n] = less(g)
	}
	in.loads = loads
	for i := range in.demands {
		g := less(in.demands[i][0])
		for k := range in.demands[i] {
			in.demands[i][k] = g
		}
	}
}

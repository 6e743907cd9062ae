package sequence

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/internal/guard"
)

// tree is the workload summary tree (W-20 to W-25). A node stands for the steps from one to another, summed up as three: the first, the
// middle, the last. Its local program is a sequence of these; the designs found are handed on to its children, which keep them at their
// first and last step (W-23) and choose but the middle one. So a span of n steps takes n-1 local programs (W-22), and in the end each step has a
// design that was chosen beside those of the steps next to it: put together they are a sequence, unless a table does not live long enough.
//
// A local program weighs its three steps by what they weigh themselves (or what those around them do on average), for half of the
// span each. What it finds is promising, not final: it ends at a gap of 1e-5, and is a program only where it is small.
type tree struct {
	s      *solver
	ideal  [][]bool // by step, its best design by itself
	mutex  sync.Mutex
	tokens chan struct{} // as many as may be at work at once
	group  guard.Group
	design [][]bool // by step
	locals int
	err    error
}

// localGap is what a local program may be away from its optimum, and localArcs up to how many arcs it is given to the integer program's solver.
const (
	localGap  = 1e-5
	localArcs = 5_000
)

// newTree is a tree over a problem, given the best designs of its steps.
func newTree(s *solver, ideal [][]bool) *tree {
	return &tree{s: s, ideal: ideal, tokens: make(chan struct{}, runtime.GOMAXPROCS(0)), design: make([][]bool, len(s.p.Steps))}
}

// solveAll solves all local programs, side by side. The designs depend on the problem only, not on which is solved first.
func (t *tree) solveAll() error {
	t.group.Go(guard.Advice, func() { t.solveNode(0, len(t.design)-1, true) })
	t.group.Wait()
	return t.err
}

// solveNode solves the local program of a span, then those of its halves.
func (t *tree) solveNode(from, to int, root bool) {
	if from+1 >= to {
		return
	}
	middle := (from + to) / 2
	t.tokens <- struct{}{}
	err := t.solveLocal(from, middle, to, root)
	<-t.tokens
	if err != nil {
		t.mutex.Lock()
		t.err = err
		t.mutex.Unlock()
		return
	}
	t.group.Go(guard.Advice, func() { t.solveNode(from, middle, false) })
	t.group.Go(guard.Advice, func() { t.solveNode(middle, to, false) })
}

// solveLocal solves one local program.
func (t *tree) solveLocal(from, middle, to int, root bool) error {
	steps := [3]int{from, middle, to}
	q := t.s.p.summaryProblem(steps, t.s.options.Mean)
	t.mutex.Lock()
	t.locals++
	first, last := t.design[from], t.design[to]
	t.mutex.Unlock()
	if !root {
		for n := range q.Tables {
			q.Tables[n].There = first[n]
		}
	}
	in, err := newInstance(q)
	if err != nil {
		return err
	}
	seeds := [][][]bool{{t.ideal[from], t.ideal[middle], t.ideal[to]}}
	if !root {
		in.fixDesign(0, first)
		in.fixDesign(2, last)
		seeds = [][][]bool{{first, first, last}, {first, t.ideal[middle], last}, {first, last, last}}
	}
	s := &solver{ctx: t.s.ctx, options: Options{Solver: t.s.options.Solver, Limits: solve.Limits{Gap: max(localGap, t.s.options.Limits.Gap), Nodes: tieNodes}}, p: q, in: in,
		known: math.Inf(1), bound: math.Inf(-1), grain: t.s.grain, result: &Result{}}
	for _, seed := range seeds {
		s.offerSequence(seed)
	}
	begin := s.best
	if begin == nil {
		begin = seeds[0]
	}
	s.annealFrom(begin, changesPerChoice)
	if x := in.expand(nil); x.arcCount() <= localArcs {
		if err := s.solveProgram(x); err != nil && s.ctx.Err() == nil {
			return err
		}
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch {
	case s.best == nil && root:
		t.design[from], t.design[middle], t.design[to] = t.ideal[from], t.ideal[middle], t.ideal[to]
	case s.best == nil:
		t.design[middle] = first
	case root:
		t.design[from], t.design[middle], t.design[to] = s.best[0], s.best[1], s.best[2]
	default:
		t.design[middle] = s.best[1]
	}
	return nil
}

// fixDesign fixes the design of a step.
func (in *instance) fixDesign(t int, design []bool) {
	for n, is := range design {
		in.status[t][n] = closed
		if is {
			in.status[t][n] = open
		}
	}
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

// prune leaves the tables that the local programs choose (Algorithms 1 and 2), and with them what the steps' best designs have, what the linear relaxation of all steps keeps some
// of, and what there is already: a local program knows three of the steps, and takes what is best for just these. A table that serves no three of them best, but all together, is in none
// of their designs. The relaxation knows all steps and no integers, so the two fail on different tables.
func (s *solver) prune(ideal [][]bool) error {
	t := newTree(s, ideal)
	if err := t.solveAll(); err != nil {
		return err
	}
	s.offerSequence(t.design)
	kept := make([]bool, len(s.p.Tables))
	for _, design := range slices.Concat(t.design, ideal, s.best) {
		for n, is := range design {
			kept[n] = kept[n] || is
		}
	}
	if relaxer, able := s.options.Solver.(choice.Relaxer); able && s.in.expand(nil).arcCount() <= programArcs {
		if r, err := Relax(s.ctx, s.p, relaxer); err == nil { // else it is done without
			s.liftBound(r.Bound)
			for _, list := range r.Kept {
				for n, v := range list {
					kept[n] = kept[n] || v > support
				}
			}
		}
	}
	s.result.Locals = t.locals
	for n, is := range kept {
		if is {
			s.result.Kept = append(s.result.Kept, n)
			continue
		}
		for t := range s.in.status {
			s.in.status[t][n], s.in.unborn[t][n] = closed, true
		}
	}
	return nil
}

// support is how much of a table the relaxation has to keep for it to count.
const support = 0.01

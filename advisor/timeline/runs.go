package timeline

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/advisor/solve"
)

// Where space is limited and single designs were too many to prove, what they are made of is nevertheless what a calendar is made
// of. So one integer program is solved over the tables of the average's design and of each distinct step's, with what fills them,
// and with one design for each run of steps whose weights are the same: a third of the columns for seed 004's cycles.
//
// That every calendar of it is one is plain. Its bound holds for all calendars over these tables, with changes within runs, too, if
// what filling costs does not depend on what is there. Proof: of the designs of a run take the one that serves its
// weights best, for all of it. Serving costs no more, as weights within the run differ by a factor alone. A table of it that was not
// there before the run was born in the run, and is born now at its first step; a table of the next run's that it lacks was born
// after it, or is in both cases born there, and is born now at the next run's first step. So nothing is dearer if births at the first
// step of a run cost no more than at its others, and at the next one's first no more than at its others. No table is dropped
// that was not. Overlap, Life, Most and windows could forbid the calendar so made, so with these there is no bound.
//
// Once it matters which tables there are to fill others from, a table may be worth creating within a run because one that is
// created at its begin fills it: then the program's calendars are looked for, and the bound stays that of before.

// runTables is how many tables the program of runs is about at most, runsWall how long each solve of it takes unless the caller says otherwise.
const (
	runTables = 150
	runsWall  = 20 * time.Second
)

// byRun is a problem with one step for each run.
func byRun(p *sequence.Problem, runs []stretch) *sequence.Problem {
	q := *p
	q.Steps, q.Tables, q.Demands = nil, slices.Clone(p.Tables), slices.Clone(p.Demands)
	sums := func(list []float64) []float64 {
		var out []float64
		for _, x := range runs {
			sum := 0.0
			for t := x.from; t <= x.to; t++ {
				sum += list[t]
			}
			out = append(out, sum)
		}
		return out
	}
	for _, x := range runs {
		q.Steps = append(q.Steps, p.Steps[x.from])
	}
	for n := range q.Tables {
		var birth []float64
		for _, x := range runs {
			birth = append(birth, p.Tables[n].Birth[x.from])
		}
		q.Tables[n].Upkeep, q.Tables[n].Birth = sums(p.Tables[n].Upkeep), birth
	}
	for i := range q.Demands {
		q.Demands[i].Weights = sums(p.Demands[i].Weights)
	}
	return &q
}

// runsBound tells whether no calendar changes within runs to gain by it, as long as filling costs the same whatever is there.
func runsBound(p *sequence.Problem, runs []stretch) bool {
	if p.Overlap || p.Life > 1 || p.Most > 0 || slices.ContainsFunc(p.Steps, func(s sequence.Step) bool { return s.Closed }) {
		return false
	}
	for n := range p.Tables {
		birth := p.Tables[n].Birth
		for i, x := range runs {
			for t := x.from + 1; t <= x.to; t++ {
				if birth[x.from] > birth[t] || i+1 < len(runs) && birth[runs[i+1].from] > birth[t] {
					return false
				}
			}
		}
	}
	return true
}

// core are the tables that the program of runs is about: those of single designs, and for each the cheapest that fill it.
func (s *search) core(b *known, in []bool) []int {
	keep := s.promising(&sequence.Result{}, b)
	has := make([]bool, len(s.tables))
	for _, n := range keep {
		has[n] = true
	}
	for _, n := range keep {
		w := s.loader.load(n, math.Inf(1), func(n int) bool { return in[n] })
		d := choice.Demand{States: max(2, w.States), Arcs: w.Arcs}
		way, _ := d.Way(in)
		for _, a := range way {
			if k := w.Arcs[a].Table; k != choice.None {
				has[k] = true
			}
		}
	}
	keep = keep[:0]
	for n, is := range has {
		if is {
			keep = append(keep, n)
		}
	}
	return keep
}

// follow designs the runs one after the other, from a design for the first: each of tables that the one before has or fills, which cost then
// what filling them does.
func (s *search) follow(ctx context.Context, first []bool, in []bool, runs []stretch) {
	open := make([][]bool, s.steps)
	last := first
	for i, x := range runs {
		if i > 0 {
			able, extra := slices.Clone(last), make([]float64, len(s.tables))
			for n := range s.tables {
				if in[n] && !last[n] {
					price := s.fillingFrom(n, last)
					able[n] = !math.IsInf(price, 1)
					extra[n] = s.problem.Tables[n].Birth[x.from] + price
				}
			}
			weights := make([]float64, len(s.work.Statements))
			for t := x.from; t <= x.to; t++ {
				for k := range weights {
					weights[k] += s.weight(t, k)
				}
			}
			r, err := s.choose(ctx, weights, s.space, able, last, extra)
			if err != nil {
				return // there is the single design
			}
			last = r.Open
		}
		for t := x.from; t <= x.to; t++ {
			open[t] = last
		}
	}
	s.offer(open)
}

// byRuns solves the program of runs, with ways to fill tables told as far as its calendars turn on them. It returns the tables that it is about.
func (s *search) byRuns(ctx context.Context, b *known, in []bool) []int {
	runs := s.stretches()
	s.follow(ctx, b.first.Open, in, runs)
	keep := s.core(b, in)
	if len(keep) > runTables {
		return keep
	}
	all := s.loader.tables
	s.loader.tables, s.loader.byTree = nil, map[string]*treeSources{}
	for _, n := range keep {
		s.loader.tables = append(s.loader.tables, s.tables[n])
	}
	whatever := runsBound(s.problem, runs)
	s.bound = 0 // nothing costs less
	var start [][]bool
	for s.rounds < mostRounds && ctx.Err() == nil {
		s.rounds++
		start = nil
		for _, x := range runs {
			start = append(start, s.open[x.from])
		}
		o := sequence.Options{Solver: s.options.Solver, Limits: s.limits(), Start: narrowed(start, keep), Direct: true, Ties: false, Progress: s.options.Progress}
		if s.options.Limits == (solve.Limits{}) {
			o.Limits.Gap, o.Limits.Wall = prunedGap, runsWall
		}
		r, err := sequence.Solve(ctx, byRun(restricted(s.problem, keep), runs), o)
		if err != nil {
			if s.result == nil { // as if nothing had been tried
				s.loader.tables, s.loader.byTree, s.rounds = all, map[string]*treeSources{}, 0
			}
			return keep
		}
		if whatever {
			s.bound = max(s.bound, r.Bound)
		}
		open := make([][]bool, s.steps)
		for i, wide := range widened(r.Open, keep, len(s.tables)) {
			for t := runs[i].from; t <= runs[i].to; t++ {
				open[t] = wide
			}
		}
		cost, dear := s.truth(open)
		if cost <= s.cost*(1+1e-12) {
			s.open, s.cost = open, cost
		}
		s.result, s.stopped = r, r.Stopped
		if len(dear) == 0 || s.cost <= r.Bound*(1+2*prunedGap) {
			break
		}
		whatever = false         // from here on it matters what is there
		for _, n := range keep { // what nothing there fills is told at once
			for i := 1; i < len(runs); i++ {
				if before := open[runs[i].from-1]; !before[n] && math.IsInf(s.fillingFrom(n, before), 1) {
					dear[n] = math.Inf(1)
				}
			}
		}
		for n, price := range dear {
			if math.IsNaN(s.bounds[n]) || price > s.bounds[n] {
				s.bounds[n] = price
			}
			s.problem.Loads[n] = s.loader.arcsOf(n, s.bounds[n])
		}
	}
	return keep
}

package sequence

import (
	"context"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// problems draws problems of so few tables and steps that all sequences can be tried, with all limits there are. All numbers are small and whole, so that costs are exact.
func problems(t *rapid.T) *Problem {
	shape := rapid.SampledFrom([][2]int{{3, 3}, {2, 4}, {4, 2}, {3, 2}, {2, 3}}).Draw(t, "tables and steps")
	tables, steps := shape[0], shape[1]
	number := func(most int, of string) float64 { return float64(rapid.IntRange(0, most).Draw(t, of)) }
	series := func(most int, of string) (list []float64) {
		for range steps {
			list = append(list, number(most, of))
		}
		return list
	}
	arcs := func(states, most int) (list []choice.Arc) {
		order := append([]int{choice.Source}, []int{2, 3}[:states-2]...)
		order = append(order, choice.Sink)
		for range rapid.IntRange(1, most).Draw(t, "arcs") {
			from := rapid.IntRange(0, states-2).Draw(t, "from")
			to := rapid.IntRange(from+1, states-1).Draw(t, "to")
			list = append(list, choice.Arc{From: order[from], To: order[to], Price: number(6, "price"), Table: rapid.IntRange(choice.None, tables-1).Draw(t, "table")})
		}
		return list
	}
	p := &Problem{Overlap: rapid.Bool().Draw(t, "overlap"), Most: rapid.IntRange(0, 2).Draw(t, "most"), Life: rapid.IntRange(0, 3).Draw(t, "life")}
	limited := rapid.Bool().Draw(t, "limited")
	for k := range steps {
		step := Step{Closed: k > 0 && rapid.IntRange(0, 3).Draw(t, "closed") == 3}
		if limited {
			step.Space = 2 + number(8, "space")
		}
		p.Steps = append(p.Steps, step)
	}
	for range tables {
		p.Tables = append(p.Tables, Table{Size: number(4, "size"), Upkeep: series(3, "upkeep"), Birth: series(4, "birth"), Drop: number(2, "drop"),
			There: rapid.Bool().Draw(t, "there"), Fixed: rapid.IntRange(0, 9).Draw(t, "fixed") == 9, Free: rapid.IntRange(0, 9).Draw(t, "free") == 9})
		p.Loads = append(p.Loads, Load{States: 3, Arcs: arcs(3, 4)})
	}
	for range rapid.IntRange(1, 3).Draw(t, "demands") {
		d := Demand{Weights: series(4, "weight"), States: rapid.IntRange(2, 4).Draw(t, "states")}
		d.Arcs = append(arcs(d.States, 5), choice.Arc{From: choice.Source, To: choice.Sink, Price: number(9, "price"), Table: rapid.IntRange(0, tables-1).Draw(t, "table")})
		if rapid.IntRange(0, 3).Draw(t, "raised") == 3 {
			d.Needed = []int{rapid.IntRange(0, tables-1).Draw(t, "needs it")}
		}
		p.Demands = append(p.Demands, d)
	}
	return p
}

// anySequence draws a sequence, which need not be within any limits.
func anySequence(t *rapid.T, p *Problem) (list [][]bool) {
	for range p.Steps {
		list = append(list, rapid.SliceOfN(rapid.Bool(), len(p.Tables), len(p.Tables)).Draw(t, "design"))
	}
	return list
}

// clone is a copy that may be changed.
func (p *Problem) clone() *Problem {
	q := *p
	q.Steps, q.Tables, q.Loads, q.Demands = slices.Clone(p.Steps), slices.Clone(p.Tables), slices.Clone(p.Loads), slices.Clone(p.Demands)
	for n := range q.Tables {
		q.Tables[n].Upkeep, q.Tables[n].Birth = slices.Clone(p.Tables[n].Upkeep), slices.Clone(p.Tables[n].Birth)
		q.Loads[n].Arcs = slices.Clone(p.Loads[n].Arcs)
	}
	for i := range q.Demands {
		q.Demands[i].Weights, q.Demands[i].Arcs = slices.Clone(p.Demands[i].Weights), slices.Clone(p.Demands[i].Arcs)
	}
	return &q
}

// priceOfAll is the least of all paths from Source to Sink over open tables, which are tried.
func priceOfAll(arcs []choice.Arc, open []bool) float64 {
	var onward func(state int) float64
	onward = func(state int) float64 {
		if state == choice.Sink {
			return 0
		}
		best := math.Inf(1)
		for _, a := range arcs {
			if a.From == state && (a.Table == choice.None || open[a.Table]) {
				best = min(best, a.Price+onward(a.To))
			}
		}
		return best
	}
	return onward(choice.Source)
}

// priceByRuns is what a sequence costs, told table by table: each is kept in runs of steps, which begin with a birth and end with a drop, but for those that begin before the first step or
// end after the last. Problem.Cost, which goes step by step, is held against it.
func (p *Problem) priceByRuns(list [][]bool) (sum float64) {
	last := len(list) - 1
	born := make([]int, len(list))
	taken := make([]float64, len(list))
	for n, x := range p.Tables {
		if x.There && !list[0][n] {
			sum += x.Drop
		}
		for from := 0; from <= last; from++ {
			if !list[from][n] {
				if x.Fixed {
					return math.Inf(1)
				}
				continue
			}
			to := from
			for to < last && list[to+1][n] {
				to++
			}
			if from > 0 || !x.There {
				sum += x.Birth[from]
				born[from]++
				if to < last && to-from+1 < p.Life {
					return math.Inf(1)
				}
			}
			if from > 0 {
				sum += priceOfAll(p.Loads[n].Arcs, list[from-1])
			}
			if to < last {
				sum += x.Drop
			}
			takes := from
			if p.Overlap && from > 0 {
				takes--
			}
			for t := takes; t <= to; t++ {
				if t >= from {
					sum += x.Upkeep[t]
				}
				if !x.Free {
					taken[t] += x.Size
				}
			}
			from = to
		}
	}
	for t, step := range p.Steps {
		if t > 0 && (step.Closed && born[t] > 0 || p.Most > 0 && born[t] > p.Most) {
			return math.Inf(1)
		}
		if step.Space > 0 && taken[t] > step.Space {
			return math.Inf(1)
		}
		for _, d := range p.Demands {
			if d.Needed == nil || slices.ContainsFunc(d.Needed, func(n int) bool { return list[t][n] }) {
				price := priceOfAll(d.Arcs, list[t])
				if math.IsInf(price, 1) {
					return price
				}
				sum += d.Weights[t] * price
			}
		}
	}
	return sum
}

// about reports whether two costs are the same but for rounding.
func about(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-7*(1+math.Abs(b)) }

// notMore reports whether the second of two costs is not above the first but for rounding.
func notMore(before, after float64) bool { return after <= before || about(after, before) }

// dying is a solver whose process dies.
type dying struct{}

func (dying) Solve(context.Context, *solve.Problem, solve.Limits) (*solve.Solution, error) {
	return nil, &solve.WorkerError{What: "died", Err: solve.ErrMemory}
}

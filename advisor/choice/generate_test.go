package choice

import (
	"context"
	"iter"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
)

// problems draws problems so small that all choices can be tried: up to so many tables, and four demands of up to four states. All numbers are small and whole, so that costs are exact and ties frequent.
func problems(t *rapid.T, tables int) *Problem {
	p := &Problem{}
	for range rapid.IntRange(2, tables).Draw(t, "tables") {
		p.Tables = append(p.Tables, Table{
			Upkeep: float64(rapid.IntRange(0, 6).Draw(t, "upkeep")), Size: float64(rapid.IntRange(0, 5).Draw(t, "size")),
			Fixed: rapid.IntRange(0, 11).Draw(t, "fixed") == 11, Free: rapid.IntRange(0, 9).Draw(t, "free") == 9,
		})
	}
	for range rapid.IntRange(1, 4).Draw(t, "demands") {
		d := Demand{Weight: float64(rapid.IntRange(0, 3).Draw(t, "weight")), States: rapid.IntRange(2, 4).Draw(t, "states")}
		order := append([]int{Source}, []int{2, 3}[:d.States-2]...)
		order = append(order, Sink)
		for range rapid.IntRange(2, 8).Draw(t, "arcs") {
			from := rapid.IntRange(0, len(order)-2).Draw(t, "from")
			to := rapid.IntRange(from+1, len(order)-1).Draw(t, "to")
			d.Arcs = append(d.Arcs, Arc{From: order[from], To: order[to], Price: float64(rapid.IntRange(0, 9).Draw(t, "price")), Table: rapid.IntRange(None, len(p.Tables)-1).Draw(t, "table")})
		}
		if rapid.IntRange(0, 2).Draw(t, "raised") == 2 {
			d.Needed = []int{}
			for n := range p.Tables {
				if rapid.Bool().Draw(t, "needs it") {
					d.Needed = append(d.Needed, n)
				}
			}
		}
		p.Demands = append(p.Demands, d)
	}
	if rapid.Bool().Draw(t, "limited") {
		p.Space = float64(rapid.IntRange(1, 4*len(p.Tables)).Draw(t, "space"))
	}
	return p
}

// choices are all that there are, each in the same list.
func (p *Problem) choices() iter.Seq[[]bool] {
	open := make([]bool, len(p.Tables))
	return func(yield func([]bool) bool) {
		for mask := range 1 << len(open) {
			for n := range open {
				open[n] = mask>>n&1 == 1
			}
			if !yield(open) {
				return
			}
		}
	}
}

// leastOf is the least of what choices cost by a price of our own.
func (p *Problem) leastOf(price func(open []bool) float64) float64 {
	least := math.Inf(1)
	for open := range p.choices() {
		least = min(least, price(open))
	}
	return least
}

// priceByPaths is what a choice costs, by the definition in the package's comment and with all paths tried: Problem.Cost is held against it.
func (p *Problem) priceByPaths(open []bool) (sum float64) {
	size := 0.0
	for n, t := range p.Tables {
		switch {
		case open[n] && !t.Free:
			sum, size = sum+t.Upkeep, size+t.Size
		case open[n]:
			sum += t.Upkeep
		case t.Fixed:
			return math.Inf(1)
		}
	}
	if p.Space > 0 && size > p.Space {
		return math.Inf(1)
	}
	for _, d := range p.Demands {
		if d.Needed != nil && !slices.ContainsFunc(d.Needed, func(n int) bool { return open[n] }) {
			continue
		}
		var onward func(state int) float64
		onward = func(state int) float64 {
			if state == Sink {
				return 0
			}
			best := math.Inf(1)
			for _, a := range d.Arcs {
				if a.From == state && (a.Table == None || open[a.Table]) {
					best = min(best, a.Price+onward(a.To))
				}
			}
			return best
		}
		price := onward(Source)
		if math.IsInf(price, 1) {
			return price
		}
		sum += d.Weight * price
	}
	return sum
}

// clone is a copy that may be changed.
func (p *Problem) clone() *Problem {
	q := &Problem{Tables: slices.Clone(p.Tables), Space: p.Space}
	for _, d := range p.Demands {
		d.Arcs, d.Needed = slices.Clone(d.Arcs), slices.Clone(d.Needed)
		q.Demands = append(q.Demands, d)
	}
	return q
}

// about reports whether two costs are the same but for rounding.
func about(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-7*(1+math.Abs(b)) }

// engine solves integer programs of a few 0/1 columns by trying all their values, each with the linear program of the other columns: no process, and no branching that could be wrong as ours is.
type engine struct{}

func (engine) Solve(_ context.Context, p *solve.Problem, _ solve.Limits) (*solve.Solution, error) {
	rest := &solve.Problem{Columns: slices.Clone(p.Columns), Rows: p.Rows, Unranged: true}
	var best []float64
	var failed error
	var try func(at int)
	try = func(at int) {
		for at < len(p.Columns) && !p.Columns[at].Integer {
			at++
		}
		if at < len(p.Columns) {
			for v := p.Columns[at].Lower; v <= p.Columns[at].Upper; v++ {
				rest.Columns[at].Lower, rest.Columns[at].Upper = v, v
				try(at + 1)
			}
			return
		}
		switch r, err := (coin.Engine{}).Relax(rest); {
		case err != nil:
			failed = err
		case r.Status == solve.Optimal && (best == nil || p.Objective(r.Values) < p.Objective(best)):
			best = r.Values
		}
	}
	try(0)
	if best == nil {
		return solve.NewSolution(p, solve.Infeasible, nil, math.Inf(1), solve.EngineCLP), failed
	}
	return solve.NewSolution(p, solve.Optimal, best, math.Inf(-1), solve.EngineCLP), failed
}

func (engine) Relax(_ context.Context, p *solve.Problem) (*solve.Relaxation, error) {
	return coin.Engine{}.Relax(p)
}

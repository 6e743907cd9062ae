package sequence

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

func TestMain(m *testing.M) {
	solve.ServeIfWorker()
	os.Exit(m.Run())
}

// trials is how many random problems to try: n, or HELENUS_TEST_ROUNDS times as many.
func trials(n int) int {
	if f, err := strconv.Atoi(os.Getenv("HELENUS_TEST_ROUNDS")); err == nil && f > 0 {
		return n * f
	}
	return n
}

// random makes a small problem of the kind that designs over time pose: layered graphs, tables that raise demands, loads, and all
// limits there are.
func random(r *rand.Rand, tables, steps, demands int) *Problem {
	p := &Problem{Overlap: r.IntN(3) == 0}
	coarse := r.IntN(3) == 0 // few different numbers: many ties
	number := func(most float64) float64 {
		if coarse {
			return float64(r.IntN(4))
		}
		return r.Float64() * most
	}
	if r.IntN(4) == 0 {
		p.Life = 1 + r.IntN(3)
	}
	if r.IntN(4) == 0 {
		p.Most = 1 + r.IntN(2)
	}
	space := 0.0
	if r.IntN(2) == 0 {
		space = float64(3 + r.IntN(8))
	}
	for t := range steps {
		step := Step{Space: space, Closed: t > 0 && r.IntN(6) == 0}
		if space > 0 && r.IntN(4) == 0 {
			step.Space += float64(r.IntN(4))
		}
		p.Steps = append(p.Steps, step)
	}
	repeat := make([]bool, steps) // the step is like the one before
	for t := 1; t < steps; t++ {
		repeat[t] = r.IntN(3) == 0
	}
	series := func(most float64) []float64 {
		list := make([]float64, steps)
		for t := range list {
			if list[t] = number(most); repeat[t] {
				list[t] = list[t-1]
			}
		}
		return list
	}
	graph := func(states, arcs int) []choice.Arc {
		var list []choice.Arc
		for range arcs {
			from, to := r.IntN(states), r.IntN(states)
			rank := func(s int) int { // Start first, Answered last
				switch s {
				case choice.Start:
					return -1
				case choice.Answered:
					return states
				}
				return s
			}
			if rank(from) > rank(to) {
				from, to = to, from
			}
			if from == to {
				continue
			}
			n := r.IntN(tables+1) - 1
			if r.IntN(6) > 0 && n < 0 {
				n = r.IntN(tables)
			}
			list = append(list, choice.Arc{From: from, To: to, Price: number(5), Table: n})
		}
		return list
	}
	for range tables {
		p.Tables = append(p.Tables, Table{Size: 1 + float64(r.IntN(4)), Upkeep: series(2), Birth: series(3), Drop: number(1) * float64(r.IntN(2)),
			There: r.IntN(3) == 0, Fixed: r.IntN(12) == 0, Free: r.IntN(10) == 0})
		states := 2 + r.IntN(2)
		p.Loads = append(p.Loads, Load{States: states, Arcs: graph(states, 2+r.IntN(5))})
	}
	for i := range demands {
		states := 2 + r.IntN(3)
		d := Demand{Name: fmt.Sprint(i), Weights: series(5), States: states, Arcs: graph(states, 3+r.IntN(8))}
		for range r.IntN(4) { // else many have no way
			d.Arcs = append(d.Arcs, choice.Arc{From: choice.Start, To: choice.Answered, Price: number(9), Table: r.IntN(tables)})
		}
		if r.IntN(4) == 0 {
			for n := range tables {
				if r.IntN(3) == 0 {
					d.Needed = append(d.Needed, n)
				}
			}
		}
		p.Demands = append(p.Demands, d)
	}
	return p
}

// small is a random problem of 2 to 5 tables and 2 to 4 steps, such that all sequences can be tried.
func small(seed, bits int) *Problem {
	r := rand.New(rand.NewPCG(uint64(seed), 11))
	for {
		tables, steps := 2+r.IntN(4), 2+r.IntN(3)
		if tables*steps <= bits {
			return random(r, tables, steps, 1+r.IntN(5))
		}
	}
}

// count adds up the tables of a sequence over its steps, and their sizes.
func (p *Problem) count(list [][]bool) (tables int, size float64) {
	for t := range list {
		for n, is := range list[t] {
			if is && !p.Tables[n].Free {
				tables++
				size += p.Tables[n].Size
			}
		}
	}
	return tables, size
}

// enumerate tries all sequences.
func enumerate(p *Problem) (least float64, tables int, size float64) {
	least, tables, size = math.Inf(1), math.MaxInt, math.Inf(1)
	list := make([][]bool, len(p.Steps))
	for t := range list {
		list[t] = make([]bool, len(p.Tables))
	}
	for mask := range 1 << (len(p.Tables) * len(p.Steps)) {
		for t := range list {
			for n := range list[t] {
				list[t][n] = mask&(1<<(t*len(p.Tables)+n)) != 0
			}
		}
		c := p.Cost(list)
		if math.IsInf(c, 1) {
			continue
		}
		k, s := p.count(list)
		switch {
		case math.IsInf(least, 1) || c < least-1e-9*(1+least):
			least, tables, size = c, k, s
		case c <= least+1e-9*(1+least) && (k < tables || k == tables && s < size):
			tables, size = k, s
		}
	}
	return least, tables, size
}

var answered, nodes, programs int

// TestBruteForce: what is found is the least over all sequences, with the fewest and smallest tables (W-41).
func TestBruteForce(t *testing.T) {
	for seed := range trials(20) {
		p := small(seed, 10)
		least, tables, size := enumerate(p)
		got, err := Solve(context.Background(), p, Options{Solver: solve.New(solve.Config{}), Ties: true})
		if math.IsInf(least, 1) {
			if err == nil {
				t.Fatalf("seed %d: a sequence of %g where there is none", seed, got.Cost)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v, but %g is possible", seed, err, least)
		}
		if math.Abs(got.Cost-least) > 1e-8*(1+least) || !got.Proven || math.Abs(p.Cost(got.Open)-got.Cost) > 1e-9 {
			t.Fatalf("seed %d: cost %g (proven %v), the least is %g", seed, got.Cost, got.Proven, least)
		}
		answered++
		nodes += got.Stats.Nodes
		if got.Stats.Columns > 0 {
			programs++
		}
		if k, s := p.count(got.Open); k != tables || s != size || !got.Fewest {
			t.Fatalf("seed %d: %d tables of size %g (proven %v), best are %d of %g", seed, k, s, got.Fewest, tables, size)
		}
	}
	t.Logf("%d answered, %d nodes, %d programs", answered, nodes, programs)
}

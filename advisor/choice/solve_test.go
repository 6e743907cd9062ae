package choice

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

// rounds is how many random problems to try: n, or HELENUS_TEST_ROUNDS times as many.
func trials(n int) int {
	if f, err := strconv.Atoi(os.Getenv("HELENUS_TEST_ROUNDS")); err == nil && f > 0 {
		return n * f
	}
	return n
}

// random makes a problem of the kind that designs pose: layered graphs, tables that raise demands.
func random(r *rand.Rand, tables, demands int) *Problem {
	p := &Problem{}
	coarse := r.IntN(2) == 0 // few different numbers: many ties
	number := func(most float64) float64 {
		if coarse {
			return float64(r.IntN(4))
		}
		return r.Float64() * most
	}
	for range tables {
		p.Tables = append(p.Tables, Table{Upkeep: number(6), Size: 1 + float64(r.IntN(5)), Fixed: r.IntN(15) == 0, Free: r.IntN(12) == 0})
	}
	for i := range demands {
		d := Demand{Name: fmt.Sprint(i), Weight: 1 + number(3), States: 2 + r.IntN(4)}
		for range 2 + r.IntN(10) {
			from, to := r.IntN(d.States), r.IntN(d.States)
			rank := func(s int) int { // Start first, Answered last
				return map[int]int{Source: -1, Sink: d.States}[s]*2 + s*boolean(s > 1)
			}
			if rank(from) >= rank(to) {
				from, to = to, from
			}
			if from == to || from == Sink || to == Source {
				continue
			}
			n := r.IntN(tables+1) - 1
			if r.IntN(6) > 0 && n < 0 {
				n = r.IntN(tables)
			}
			d.Arcs = append(d.Arcs, Arc{From: from, To: to, Price: number(9), Table: n})
		}
		if r.IntN(3) == 0 {
			for n := range tables {
				if r.IntN(3) == 0 {
					d.Needed = append(d.Needed, n)
				}
			}
		}
		p.Demands = append(p.Demands, d)
	}
	if r.IntN(3) == 0 {
		p.Space = float64(2 + r.IntN(10))
	}
	return p
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// enumerate tries all choices.
func enumerate(p *Problem) (least float64, count int, size float64) {
	least, count, size = math.Inf(1), 0, math.Inf(1)
	open := make([]bool, len(p.Tables))
	for mask := range 1 << len(open) {
		for n := range open {
			open[n] = mask&(1<<n) != 0
		}
		c := p.Cost(open)
		if math.IsInf(c, 1) {
			continue
		}
		k, s := p.countTables(open)
		switch {
		case c < least-1e-9*(1+least) || math.IsInf(least, 1):
			least, count, size = c, k, s
		case c <= least+1e-9*(1+least) && (k < count || k == count && s < size):
			count, size = k, s
		}
	}
	return least, count, size
}

// TestBruteForce: what is found is the least over all choices, with the fewest and smallest tables. The three columns of
// cases: the branching alone; without it; too little of it, and the solver behind it.
func TestBruteForce(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		budget int
		solver solve.Solver
	}{
		{"N-26 N-29 branching", 600, 0, nil},
		{"N-26 N-29 branching and integer program", 15, 1, solve.New(solve.Config{})},
		{"N-26 N-29 integer program", 15, -1, solve.New(solve.Config{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range trials(c.n) {
				r := rand.New(rand.NewPCG(uint64(seed), 7))
				p := random(r, 2+r.IntN(8), 1+r.IntN(7))
				least, count, size := enumerate(p)
				got, err := Solve(context.Background(), p, Options{Solver: c.solver, Branching: c.budget, Ties: true})
				if math.IsInf(least, 1) {
					if err == nil {
						t.Fatalf("seed %d: a choice of %g where there is none", seed, got.Cost)
					}
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v, but %g is possible", seed, err, least)
				}
				k, s := p.countTables(got.Open)
				if math.Abs(got.Cost-least) > 1e-9*(1+least) || !got.Proven || math.Abs(p.Cost(got.Open)-got.Cost) > 1e-9 {
					t.Fatalf("seed %d: cost %g (proven %v), the least is %g", seed, got.Cost, got.Proven, least)
				}
				if k != count || s != size || !got.Fewest {
					t.Fatalf("seed %d: %d tables of size %g (proven %v), best are %d of %g", seed, k, s, got.Fewest, count, size)
				}
			}
		})
	}
}

// TestBruteForceTight: TestBruteForce with the smallest space that will do, and little more.
func TestBruteForceTight(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		budget int
		solver solve.Solver
	}{
		{"branching", 250, 0, nil},
		{"branching and integer program", 25, 1, solve.New(solve.Config{})},
		{"integer program", 25, -1, solve.New(solve.Config{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			limited := 0
			for seed := range trials(c.n) {
				r := rand.New(rand.NewPCG(uint64(seed), 9))
				p := random(r, 3+r.IntN(7), 2+r.IntN(6))
				p.Space = 0
				if r.IntN(2) == 0 { // sizes as of files, of all orders
					for n := range p.Tables {
						p.Tables[n].Size = math.Round(math.Exp(5 + 15*r.Float64()))
					}
				}
				smallest, err := MinimiseSize(context.Background(), p, Options{})
				if err != nil || smallest.Cost == 0 {
					continue
				}
				unlimited, _, _ := enumerate(p)
				for _, factor := range []float64{1, 1.05, 1.2, 1.5} {
					p.Space = smallest.Cost * factor
					least, count, size := enumerate(p)
					if least > unlimited {
						limited++
					}
					got, err := Solve(context.Background(), p, Options{Solver: c.solver, Branching: c.budget, Ties: true})
					if err != nil {
						t.Fatalf("seed %d, %g times the smallest: %v, but %g is possible", seed, factor, err, least)
					}
					k, s := p.countTables(got.Open)
					if math.Abs(got.Cost-least) > 1e-9*(1+least) || !got.Proven || math.Abs(p.Cost(got.Open)-got.Cost) > 1e-9 {
						t.Fatalf("seed %d, %g times the smallest: cost %g (proven %v), the least is %g", seed, factor, got.Cost, got.Proven, least)
					}
					if k != count || s-size > 1e-6*size || !got.Fewest {
						t.Fatalf("seed %d, %g times the smallest: %d tables of size %g (proven %v), best are %d of %g", seed, factor, k, s, got.Fewest, count, size)
					}
				}
			}
			if limited < c.n/2 {
				t.Errorf("the limit matters for %d problems only", limited)
			}
		})
	}
}

// TestSpaceError: the size that the error names is the smallest that will do.
func TestSpaceError(t *testing.T) {
	tried := 0
	for seed := range trials(300) {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		p := random(r, 2+r.IntN(7), 1+r.IntN(6))
		p.Space = 1
		_, err := Solve(context.Background(), p, Options{})
		var space *SpaceError
		if !errors.As(err, &space) {
			continue
		}
		tried++
		smallest := math.Inf(1)
		open := make([]bool, len(p.Tables))
		p.Space = 0
		for mask := range 1 << len(open) {
			for n := range open {
				open[n] = mask&(1<<n) != 0
			}
			if _, size := p.countTables(open); !math.IsInf(p.Cost(open), 1) {
				smallest = min(smallest, size)
			}
		}
		if space.Smallest != smallest || !space.Proven {
			t.Fatalf("seed %d: %+v, the smallest is %g", seed, space, smallest)
		}
	}
	if tried < 20 {
		t.Errorf("only %d problems did not fit", tried)
	}
}

// countTables counts the tables of a choice, and adds up their sizes.
func (p *Problem) countTables(open []bool) (count int, size float64) {
	for n, t := range p.Tables {
		if open[n] && !t.Free {
			count++
			size += t.Size
		}
	}
	return count, size
}

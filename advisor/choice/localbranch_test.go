package choice

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// limited is a random problem with a limit on space that most of its tables together are beyond, and the least that a choice costs; +Inf: there is none.
func limited(seed, stream uint64) (*Problem, float64) {
	r := rand.New(rand.NewPCG(seed, stream))
	p := random(r, 5+r.IntN(6), 3+r.IntN(5))
	sum := 0.0
	for _, x := range p.Tables {
		sum += x.Size
	}
	p.Space = sum * (0.3 + 0.5*r.Float64())
	least, _, _ := enumerate(p)
	return p, least
}

// dearest is the dearest choice that fits.
func dearest(p *Problem) (worst []bool, most float64) {
	open := make([]bool, len(p.Tables))
	for mask := range 1 << len(open) {
		for n := range open {
			open[n] = mask&(1<<n) != 0
		}
		if c := p.Cost(open); !math.IsInf(c, 1) && (worst == nil || c > most) {
			worst, most = slices.Clone(open), c
		}
	}
	return worst, most
}

// TestDominated: what others dominate is never needed, and something is dominated. Each problem has copies of its tables besides, some of them worse: all of
// these go.
func TestDominated(t *testing.T) {
	closedTables := 0
	for seed := range uint64(trials(200)) {
		p, least := limited(seed, 31)
		if math.IsInf(least, 1) {
			continue
		}
		own := len(p.Tables)
		for n := range own {
			worse := p.Tables[n]
			worse.Upkeep += float64(n % 2)
			worse.Size += float64(n % 3)
			worse.Fixed = false
			p.Tables = append(p.Tables, worse)
		}
		for i := range p.Demands {
			d := &p.Demands[i]
			for _, a := range d.Arcs {
				if a.Table != None {
					a.Table += own
					d.Arcs = append(d.Arcs, a)
				}
			}
			for _, n := range d.Needed {
				d.Needed = append(d.Needed, n+own)
			}
		}
		in, err := compileProblem(p)
		if err != nil {
			t.Fatal(err)
		}
		in.closeDominated()
		rest := math.Inf(1)
		open := make([]bool, len(p.Tables))
		for mask := range 1 << own { // of the copies none can be left that is of use
			for n := range own {
				open[n] = mask&(1<<n) != 0 && in.status[n] != closed || p.Tables[n].Fixed
			}
			rest = min(rest, p.Cost(open))
		}
		if rest > least+1e-9*(1+least) {
			t.Fatalf("seed %d: %g over what is not outdone, %g over all", seed, rest, least)
		}
		for n := range own {
			if in.status[n] != free && p.Tables[n].Fixed {
				continue
			}
			if in.status[n+own] == free && in.status[n] == free {
				t.Fatalf("seed %d: a table and a copy of it that is no better are both left", seed)
			}
			closedTables++
		}
	}
	if closedTables < 500 {
		t.Errorf("%d tables were outdone", closedTables)
	}
}

// TestLocalBranching: programs of what is near the bound find the least of all choices, by whatever steps they grow, and no bound on the way is above it. One that is ended by a
// limit says no more than is sure.
func TestLocalBranching(t *testing.T) {
	met, grown := 0, 0
	for seed := range uint64(trials(60)) {
		p, least := limited(seed, 32)
		if math.IsInf(least, 1) {
			continue
		}
		for _, limits := range []solve.Limits{{}, {Nodes: 1}} {
			in, err := compileProblem(p)
			if err != nil {
				t.Fatal(err)
			}
			s := &solver{ctx: context.Background(), options: Options{Solver: solve.New(solve.Config{}), Limits: limits, Distances: true}, problem: p, in: in, result: &Result{}}
			w := &partSolver{solver: s, in: in, known: math.Inf(1), bound: math.Inf(-1)}
			w.best, w.known = dearest(p)
			x := newDual(in, in.status)
			x.initMultipliers()
			if !x.ascend(w.ctx, rootSteps, w.known) || !w.useExactMultipliers(x) || w.bound >= w.known {
				continue
			}
			met++
			for arcs := 1; ; arcs *= 3 {
				some, reach := x.largestReach(arcs, w.known-x.bound)
				ended, err := w.solveProgram(some, x.bound+reach)
				if err != nil {
					t.Fatal(err)
				}
				if w.bound > least+1e-6*(1+least) || w.known < least-1e-6*(1+least) {
					t.Fatalf("seed %d, %d arcs: between %g and %g, and the least is %g", seed, arcs, w.bound, w.known, least)
				}
				if !ended || arcs > in.arcCount() {
					break
				}
				grown++
			}
			if err := w.localBranching(x, 4); err != nil {
				t.Fatal(err)
			}
			if w.bound > least+1e-6*(1+least) || limits.Nodes == 0 && math.Abs(w.known-least) > 1e-6*(1+least) {
				t.Errorf("seed %d: between %g and %g, and the least is %g", seed, w.bound, w.known, least)
			}
			if s.result.Distances == nil {
				t.Errorf("seed %d: no distances", seed)
			}
		}
	}
	if met < 20 || grown < 20 {
		t.Errorf("%d problems, %d programs that grew", met, grown)
	}
}

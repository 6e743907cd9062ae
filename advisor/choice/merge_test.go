package choice

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// repeated makes a problem in which many tables raise demands that are the same but for them.
func repeated(r *rand.Rand, tables int) *Problem {
	p := random(r, tables, 3)
	for range 2 + r.IntN(2) {
		template := random(r, tables, 1).Demands[0]
		for n := range tables {
			if r.IntN(4) > 0 {
				d := template
				d.Needed = []int{n}
				p.Demands = append(p.Demands, d)
			}
		}
	}
	return p
}

// TestAlike: where demands that are alike are taken together, what is found is still the least over all choices.
func TestAlike(t *testing.T) {
	together, divided := 0, 0
	for seed := range uint64(trials(400)) {
		p := repeated(rand.New(rand.NewPCG(seed, 11)), 8)
		m := mergeDemands(p)
		if m == nil {
			continue
		}
		together++
		least, count, size := enumerate(p)
		o := Options{Ties: true, Branching: []int{0, 200_000}[seed%2]}
		if seed%16 == 0 {
			o.Solver, o.Branching = solve.New(solve.Config{}), -1
		}
		r, err := Solve(context.Background(), p, o)
		if math.IsInf(least, 1) {
			if err == nil {
				t.Errorf("seed %d: %g, though there is no choice", seed, r.Cost)
			}
			continue
		}
		if err != nil {
			t.Errorf("seed %d: %v, but there is a choice of %g", seed, err, least)
			continue
		}
		if first, err := solveOnce(context.Background(), m.problem, Options{}, nil); err == nil && p.Cost(first.Open) > first.Cost*(1+1e-9)+1e-9 {
			divided++
		}
		k, s := p.countTables(r.Open)
		switch {
		case math.Abs(p.Cost(r.Open)-r.Cost) > 1e-9*(1+r.Cost):
			t.Errorf("seed %d: a choice of %g is said to cost %g", seed, p.Cost(r.Open), r.Cost)
		case r.Bound > least*(1+1e-8)+1e-9:
			t.Errorf("seed %d: bound %g, the least is %g", seed, r.Bound, least)
		case r.Proven && r.Cost > least*(1+1e-8)+1e-9:
			t.Errorf("seed %d: %g is said to be proven, the least is %g", seed, r.Cost, least)
		case !r.Proven:
			t.Errorf("seed %d: %g is not proven, bound %g, stopped by %q, the least is %g", seed, r.Cost, r.Bound, r.Stopped, least)
		case r.Fewest && (k != count || math.Abs(s-size) > 1e-6):
			t.Errorf("seed %d: %d tables of size %g, there is a choice of as much with %d of %g", seed, k, s, count, size)
		}
	}
	t.Logf("%d problems, in %d the classes had to be divided", together, divided)
	if together < 100 || divided < 10 {
		t.Error("too few to say anything")
	}
}

// TestMergedCost: no choice costs more in the merged problem than in the problem, however classes are divided; once each has one
// demand, it costs the same.
func TestMergedCost(t *testing.T) {
	for seed := range uint64(trials(60)) {
		r := rand.New(rand.NewPCG(seed, 12))
		p := repeated(r, 7)
		m := mergeDemands(p)
		if m == nil {
			continue
		}
		for {
			whole := make([]bool, len(p.Tables))
			for mask := range 1 << len(p.Tables) {
				for n := range whole {
					whole[n] = mask&(1<<n) != 0
				}
				a, b := m.problem.Cost(whole), p.Cost(whole)
				if a > b*(1+1e-9)+1e-9 || math.IsInf(a, 1) != math.IsInf(b, 1) {
					t.Fatalf("seed %d: choice %b costs %g merged, %g in the problem", seed, mask, a, b)
				}
			}
			for n := range whole {
				whole[n] = r.IntN(3) > 0
			}
			before := m.problem.Cost(whole)
			if !m.splitClasses(whole) {
				for n := range whole {
					whole[n] = true
				}
				if m.splitClasses(whole) {
					continue
				}
				if a, b := m.problem.Cost(whole), p.Cost(whole); math.Abs(a-b) > 1e-9*(1+b) && !math.IsInf(b, 1) {
					t.Errorf("seed %d: nothing is left to divide, but a choice costs %g merged, %g in the problem", seed, a, b)
				}
				break
			}
			if after := m.problem.Cost(whole); !math.IsInf(after, 1) && math.Abs(after-p.Cost(whole)) > 1e-9*(1+after) {
				t.Errorf("seed %d: divided by a choice, it costs %g merged (%g before), %g in the problem", seed, after, before, p.Cost(whole))
			}
		}
	}
}

// TestExactMultipliers: the simplex method's multipliers give a bound that is no lower than the subgradient method's, most often higher, and rule
// out no choice of least cost.
func TestExactMultipliers(t *testing.T) {
	higher := 0
	for seed := range uint64(trials(8)) {
		p := cover(rand.New(rand.NewPCG(seed, 5)))
		exact, err := Solve(context.Background(), p, Options{})
		if err != nil || !exact.Proven {
			t.Fatalf("seed %d: %v, proven %v", seed, err, exact.Proven)
		}
		in, err := compileProblem(p)
		if err != nil {
			t.Fatal(err)
		}
		s := &solver{ctx: context.Background(), options: Options{Solver: solve.New(solve.Config{})}, problem: p, in: in, known: exact.Cost, best: exact.Open, result: &Result{}}
		w := &partSolver{solver: s, in: in, best: exact.Open, known: exact.Cost}
		x := newDual(in, in.status)
		x.initMultipliers()
		if !x.ascend(s.ctx, 20, exact.Cost) {
			t.Fatalf("seed %d: nothing is left", seed)
		}
		before := x.bound
		if !w.useExactMultipliers(x) {
			continue // the bound says that nothing is better
		}
		if x.bound < before-1e-9 || w.bound > exact.Cost*(1+1e-9) {
			t.Errorf("seed %d: bound %g was %g, the least is %g", seed, x.bound, before, exact.Cost)
		}
		if x.bound > before+1e-6 {
			higher++
		}
		search := newSearch(in, 0)
		search.setChoice(exact.Open)
		if total := search.totalCost(); math.Abs(total-exact.Cost) > 1e-9*exact.Cost {
			t.Errorf("seed %d: the best choice costs %g in what is left, not %g", seed, total, exact.Cost)
		}
	}
	if higher == 0 {
		t.Error("no bound was lifted")
	}
}

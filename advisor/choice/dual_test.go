package choice

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/graph"
)

// settledSome compiles a problem and settles some of its tables by chance; nil: it has no choice.
func settledSome(t *rapid.T, p *Problem) (*instance, []int8) {
	in, err := compileProblem(p)
	if err != nil {
		return nil, nil
	}
	status := slices.Clone(in.status)
	for n, s := range status {
		if s == free {
			status[n] = rapid.SampledFrom([]int8{free, free, open, closed}).Draw(t, "status")
		}
	}
	return in, status
}

// multiply draws any multipliers, in steps of a half: all but those of roles of no table, and of a space without a limit, which are of no condition.
func multiply(t *rapid.T, x *dual) {
	for i := range x.lambda {
		x.lambda[i] = float64(rapid.IntRange(0, 12).Draw(t, "multiplier")) / 2
	}
	for i := range x.in.demands {
		x.lambda[x.in.demands[i].at] = 0
	}
	if x.space == 0 {
		x.lambda[x.in.count] = 0
	}
}

// agrees reports whether a choice has tables as they are settled.
func agrees(choice []bool, status []int8) bool {
	for n, s := range status {
		if s == open && !choice[n] || s == closed && choice[n] {
			return false
		}
	}
	return true
}

// TestAnyMultipliers: whatever the multipliers, and whatever tables are settled, the bound is no more than the least of all choices with those; nor is it with what opening a table, closing it, or
// using an arc lifts it by, of those that do so. Where it says that there is no choice there is none.
func TestAnyMultipliers(t *testing.T) {
	met, lifted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 5)
		in, status := settledSome(t, p)
		if in == nil {
			return
		}
		settled := slices.Clone(status)
		x := newDual(in, status)
		multiply(t, x)
		least := func(of func(open []bool) bool, more func(open []bool) float64) float64 {
			return p.leastOf(func(open []bool) float64 {
				if !agrees(open, settled) || !of(open) {
					return math.Inf(1)
				}
				return p.priceByPaths(open) + more(open)
			})
		}
		any, nothing := func([]bool) bool { return true }, func([]bool) float64 { return 0 }
		all := least(any, nothing)
		if !x.evaluate() {
			if !math.IsInf(all, 1) {
				t.Fatalf("no choice, and the least is %g", all)
			}
			return
		}
		met++
		if x.bound > all+1e-9 {
			t.Fatalf("at least %g, and the least is %g", x.bound, all)
		}
		for n, s := range x.status {
			if s != free {
				continue
			}
			if v, lift := least(func(open []bool) bool { return open[n] }, nothing), x.openingLift(n, -1); x.bound+lift > v+1e-9 {
				t.Fatalf("with table %d at least %g and %g, and the least with it is %g", n, x.bound, lift, v)
			} else if lift > 0 {
				lifted++
			}
			if v := least(func(open []bool) bool { return !open[n] }, nothing); x.reduced[n] < 0 && x.bound-x.reduced[n] > v+1e-9 {
				t.Fatalf("without table %d at least %g and %g, and the least without it is %g", n, x.bound, -x.reduced[n], v)
			}
		}
		for i := range in.demands {
			d := &in.demands[i]
			x.arcLifts(i, func(e *graph.Edge, lift float64) {
				v := least(func(open []bool) bool { return p.Demands[d.number].Required(open) }, func(open []bool) float64 {
					return d.overEdge(e, open) - d.Cheapest(open, &graph.Paths{Price: make([]float64, d.States), Over: make([]int32, d.States)})
				})
				if x.bound+lift > v+1e-9 {
					t.Fatalf("over arc %+v of demand %d at least %g and %g, and the least over it is %g", e, d.number, x.bound, lift, v)
				}
			})
		}
	})
	if met < 30 || lifted < 5 {
		t.Errorf("%d problems with a choice, %d tables that lift a bound", met, lifted)
	}
}

// overEdge is the price of a demand's cheapest path over one of its edges, with open tables.
func (d *demand) overEdge(e *graph.Edge, open []bool) float64 {
	price := func(e *graph.Edge) float64 {
		if e.Role != 0 && !open[d.Roles[e.Role].Table] {
			return math.Inf(1)
		}
		return e.Price
	}
	var onward func(state, to int32) float64
	onward = func(state, to int32) float64 {
		if state == to {
			return 0
		}
		best := math.Inf(1)
		for i := range d.Edges {
			if d.Edges[i].From == state {
				best = min(best, price(&d.Edges[i])+onward(d.Edges[i].To, to))
			}
		}
		return best
	}
	return onward(Source, e.From) + price(e) + onward(e.To, Sink)
}

// TestFixing: what is settled and left out because it would lift the bound above a limit is not needed by any choice up to that limit: over what is left the least is the same. And the bound does not fall.
func TestFixing(t *testing.T) {
	settled, dropped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 6)
		in, err := compileProblem(p)
		least := p.leastOf(p.priceByPaths)
		if err != nil || math.IsInf(least, 1) {
			return
		}
		limit := least + float64(rapid.IntRange(0, 3).Draw(t, "above the least"))
		x := newDual(in, in.status)
		if rapid.Bool().Draw(t, "from the begin") {
			x.initMultipliers()
		} else {
			multiply(t, x)
		}
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			before := x.bound
			if !x.ascend(context.Background(), rapid.IntRange(0, 40).Draw(t, "steps"), math.Inf(1)) {
				t.Fatalf("nothing is left, and the least is %g", least)
			}
			if before != 0 && x.bound < before-1e-9*(1+math.Abs(before)) {
				t.Fatalf("at least %g, and after more steps %g", before, x.bound)
			}
			arcs := in.arcCount()
			x.fixTables(limit + tolerance(limit))
			n := x.pruneArcs(limit + tolerance(limit))
			if left := in.arcCount(); left != arcs-n {
				t.Fatalf("of %d arcs %d are left, %d were left out", arcs, left, n)
			}
			dropped += n
			before = x.bound
			if !x.presolve() || !x.evaluate() {
				t.Fatalf("nothing is left, and the least is %g", least)
			}
			if x.bound < before-1e-9*(1+math.Abs(before)) || x.bound > least+1e-9*(1+least) {
				t.Fatalf("at least %g, compacted %g, and the least is %g", before, x.bound, least)
			}
			rest := p.leastOf(func(open []bool) float64 {
				s := newSearch(in, 0)
				s.setChoice(open)
				return s.totalCost()
			})
			if !about(rest, least) {
				t.Fatalf("%g over what is left, and %g over all", rest, least)
			}
		}
		for _, s := range in.status {
			if s != free {
				settled++
			}
		}
	})
	if settled < 30 || dropped < 30 {
		t.Errorf("%d tables were settled, %d arcs left out", settled, dropped)
	}
}

// TestState: multipliers are what they were after they were taken over into a copy, whatever that was named in; with nothing held a copy begins at nothing.
func TestState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, err := compileProblem(problems(t, 6))
		if err != nil {
			return
		}
		x := newDual(in, in.status)
		if multiply(t, x); !x.evaluate() {
			return
		}
		own := in.clone()
		y := newDual(own, own.status)
		y.loadState(x.saveState())
		if !slices.Equal(x.lambda, y.lambda) || !y.evaluate() || y.bound != x.bound {
			t.Fatalf("%v comes to %g, taken over %v to %g", x.lambda, x.bound, y.lambda, y.bound)
		}
		if y.loadState(&dualState{}); slices.ContainsFunc(y.lambda, func(v float64) bool { return v != 0 }) {
			t.Fatalf("nothing was held, and the multipliers are %v", y.lambda)
		}
	})
}

// TestSpacePrice: the prices of space that are tried leave no multiplier below nothing, and end with a bound that is no lower than the one that they began from, and holds.
func TestSpacePrice(t *testing.T) {
	higher := 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 6)
		in, err := compileProblem(p)
		if err != nil || p.Space == 0 {
			return
		}
		least := p.leastOf(p.priceByPaths)
		x := newDual(in, in.status)
		if x.initMultipliers(); !x.evaluate() {
			return
		}
		before := x.bound
		x.setSpacePrice(float64(rapid.IntRange(0, 20).Draw(t, "price")) / 4)
		if slices.ContainsFunc(x.lambda, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 0) }) {
			t.Fatalf("multipliers %v", x.lambda)
		}
		if x.evaluate() && x.bound > least+1e-9*(1+least) {
			t.Fatalf("at least %g, and the least is %g", x.bound, least)
		}
		y := newDual(in, in.status)
		y.initMultipliers()
		if y.initSpacePrice(context.Background()); !y.evaluate() {
			return
		}
		if y.bound < before-1e-9*(1+math.Abs(before)) || y.bound > least+1e-9*(1+least) || y.fixed {
			t.Fatalf("at least %g, priced %g, and the least is %g", before, y.bound, least)
		}
		if y.bound > before+1e-6 {
			higher++
		}
	})
	if higher == 0 {
		t.Error("no bound was lifted")
	}
}

// TestFullSpace: where what must be there fills the space whatever that costs, its price ends, and the bound is not of rounding. (It rose to 10^14 times what all else cost, and a bound of 1.06 came of it
// where the least is 1.)
func TestFullSpace(t *testing.T) {
	over := func(weight float64, arcs ...Arc) Demand { return Demand{Weight: weight, States: 3, Arcs: arcs} }
	p := &Problem{Space: 1, Tables: []Table{{Size: 1}, {}, {Size: 1}}, Demands: []Demand{
		over(0, Arc{From: Source, To: Sink, Table: 0}), over(0, Arc{From: Source, To: Sink, Table: 0}),
		over(0, Arc{From: Source, To: 2, Table: 0}, Arc{From: Source, To: 2, Table: 2}, Arc{From: 2, To: Sink, Table: 0}),
		over(1, Arc{From: Source, To: Sink, Price: 1, Table: 0}, Arc{From: Source, To: Sink, Price: 1, Table: 1}),
	}}
	in, err := compileProblem(p)
	if err != nil {
		t.Fatal(err)
	}
	x := newDual(in, in.status)
	x.initMultipliers()
	x.initSpacePrice(context.Background())
	if !x.evaluate() || x.bound > 1+1e-9 || x.spacePrice() > 1e8 {
		t.Errorf("at least %g at a price of %g, and the least is 1", x.bound, x.spacePrice())
	}
}

// TestBranching: a branch and bound that may look at as much as it is given bounds what it did not come to, and what it comes to is a choice that was to be had; searched to its end it has the least
// of those that are accepted.
func TestBranching(t *testing.T) {
	ended, cut := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 7)
		in, err := compileProblem(p)
		if err != nil {
			return
		}
		without := rapid.IntRange(0, len(p.Tables)-1).Draw(t, "a table that is not accepted")
		accept := func(open []bool) bool { return p.Tables[without].Fixed || !open[without] }
		if rapid.Bool().Draw(t, "all are accepted") {
			accept = func([]bool) bool { return true }
		}
		least := p.leastOf(p.priceByPaths)
		b := &branchAndBound{ctx: context.Background(), in: in, tight: newSpaceFilter(in), accept: accept, known: math.Inf(1), limit: math.Inf(1)}
		b.budget = in.paths.Work + rapid.SampledFrom([]int{0, 30, 300, 1 << 40}).Draw(t, "budget")
		x := newDual(in, slices.Clone(in.status))
		if x.initMultipliers(); !x.evaluate() {
			return
		}
		done := b.searchTree(x)
		if b.best != nil && (!accept(b.best) || !about(p.priceByPaths(b.best), b.known) || b.known < least-1e-9) {
			t.Fatalf("%v for %g, and the least is %g", b.best, b.known, least)
		}
		if least < b.known-1e-7*(1+least) && accept(slices.Repeat([]bool{true}, len(p.Tables))) && b.left > least+1e-9*(1+least) {
			t.Fatalf("found %g, at least %g beyond, and the least is %g", b.known, b.left, least)
		}
		if done != math.IsInf(b.left, 1) {
			t.Fatalf("searched to the end: %v, and %g is left", done, b.left)
		}
		if done {
			ended++
		} else {
			cut++
		}
	})
	if ended < 20 || cut < 5 {
		t.Errorf("%d were searched to the end, %d not", ended, cut)
	}
}

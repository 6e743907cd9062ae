package choice

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSpaceFilter: what a limit on space is said to rule out is in no choice within it, and something is ruled out.
func TestSpaceFilter(t *testing.T) {
	settled, none, fitting := 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 77))
		p := random(r, 4+r.IntN(5), 2+r.IntN(4))
		sum := 0.0
		for _, x := range p.Tables {
			sum += x.Size
		}
		p.Space = sum * (0.1 + 0.6*r.Float64())
		in, err := compileProblem(p)
		if err != nil {
			continue
		}
		s := newSpaceFilter(in)
		if s == nil {
			t.Fatalf("seed %d: no squeeze of a limit on space", seed)
		}
		before := in.arcCount()
		fits := s.fixAtRoot(context.Background(), in)
		least, choices := math.Inf(1), 0
		for mask := range 1 << len(p.Tables) {
			open := make([]bool, len(p.Tables))
			for n := range open {
				open[n] = mask&(1<<n) != 0
			}
			cost := p.Cost(open)
			if math.IsInf(cost, 1) {
				continue
			}
			if least = min(least, cost); !fits {
				t.Fatalf("seed %d: nothing is said to fit, but %v does", seed, open)
			}
			choices++
		}
		if !fits {
			none++
			continue
		}
		// The best choice costs the same over what is left.
		rest := math.Inf(1)
		for mask := range 1 << len(p.Tables) {
			open := make([]bool, len(p.Tables))
			allowed := true
			for n := range open {
				open[n] = mask&(1<<n) != 0
				allowed = allowed && (!open[n] || in.status[n] != closed) && (open[n] || in.status[n] != 1)
			}
			if allowed {
				rest = min(rest, p.Cost(open))
			}
		}
		if math.Abs(rest-least) > 1e-9*(1+least) && (!math.IsInf(rest, 1) || !math.IsInf(least, 1)) {
			t.Fatalf("seed %d: %g over what is left, %g over all", seed, rest, least)
		}
		if choices > 0 {
			fitting++
		}
		if in.arcCount() < before {
			settled++
		}
	}
	t.Logf("something was settled in %d of %d problems that have a choice; %d were seen to have none", settled, fitting, none)
	if settled == 0 || none == 0 || fitting == 0 {
		t.Error("nothing was settled, or all or none fit")
	}
}

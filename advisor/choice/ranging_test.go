package choice

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// TestWeightRange: within the weights that the relaxation's ranging gives the best choice stays the best of all choices; and it
// gives some in a good share of problems.
func TestWeightRange(t *testing.T) {
	relaxer := solve.New(solve.Config{})
	tried, ranged, endless := 0, 0, 0
	for seed := range trials(60) {
		r := rand.New(rand.NewPCG(uint64(seed), 9)) //nolint:gosec // few
		p := random(r, 2+r.IntN(6), 1+r.IntN(5))
		best, err := Solve(context.Background(), p, Options{})
		if err != nil {
			continue
		}
		share := Share{Weight: 0.5 + r.Float64()*3}
		for _, d := range p.Demands {
			share.Demands = append(share.Demands, float64(r.IntN(2))*d.Weight/share.Weight)
		}
		for _, x := range p.Tables {
			share.Upkeep = append(share.Upkeep, float64(r.IntN(2))*r.Float64()*x.Upkeep/share.Weight)
		}
		tried++
		from, to := WeightRange(context.Background(), relaxer, p, best.Open, share)
		if from > share.Weight || to < share.Weight {
			t.Fatalf("seed %d: %g is not between %g and %g", seed, share.Weight, from, to)
		}
		if to > from {
			ranged++
		}
		if math.IsInf(to, 1) {
			endless++
		}
		for _, weight := range []float64{from, (from + share.Weight) / 2, (share.Weight + min(to, 100)) / 2, min(to, 1e4)} {
			moved := *p
			moved.Tables, moved.Demands = slices.Clone(p.Tables), slices.Clone(p.Demands)
			for n := range moved.Tables {
				moved.Tables[n].Upkeep += (weight - share.Weight) * share.Upkeep[n]
			}
			for i := range moved.Demands {
				moved.Demands[i].Weight += (weight - share.Weight) * share.Demands[i]
			}
			if least, _, _ := enumerate(&moved); moved.Cost(best.Open) > least+1e-6*(1+least) {
				t.Fatalf("seed %d: at %g, between %g and %g, the choice costs %g, the best %g", seed, weight, from, to, moved.Cost(best.Open), least)
			}
		}
	}
	t.Logf("of %d problems %d have a range, %d of them without an end", tried, ranged, endless)
	if ranged*3 < tried || endless == 0 {
		t.Error("the relaxation tells too little")
	}
}

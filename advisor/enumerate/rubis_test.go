package enumerate_test

import (
	"context"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/solve"
)

// TestRUBiS: under the cost models of NoSE's code the pool has designs that are better than the exact optimum over NoSE's
// own candidates (222.18 and 2.2251 for bidding, 107.6 and 1.0060 for browsing), and is smaller than NoSE's (598 and 426).
func TestRUBiS(t *testing.T) {
	w := load(t, "rubis.yaml")
	for _, c := range []struct {
		mix, model string
		most       float64
		candidates int
	}{
		{mix: "bidding", model: "nose:request_count", most: 222.18, candidates: 598},
		{mix: "bidding", model: "nose:cassandra", most: 2.2251, candidates: 598},
		{mix: "browsing", model: "nose:request_count", most: 107.6, candidates: 426},
		{mix: "browsing", model: "nose:cassandra", most: 1.00601, candidates: 426},
	} {
		t.Run("N-43 "+c.mix+" "+c.model, func(t *testing.T) {
			if err := w.SetMix(c.mix); err != nil {
				t.Fatal(err)
			}
			m, err := cost.ByName(c.model)
			if err != nil {
				t.Fatal(err)
			}
			p := enumerate.Workload(w, enumerate.Options{Arithmetic: cost.Arithmetic(m)})
			if len(p.Tables) > c.candidates {
				t.Errorf("%d candidates, cut off: %v", len(p.Tables), p.Truncated)
			}
			d, err := design.Choose(context.Background(), w, design.Options{Cost: m, Solver: solve.New(solve.Config{}), Limits: solve.Limits{Wall: 2 * time.Second},
				Candidates: p.Tables, NoEnumeration: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%g with %d tables of %d, proven: %t", d.After, len(d.Tables), len(p.Tables), d.Proven)
			if d.After > c.most+1e-9*c.most {
				t.Errorf("%g, want at most %g", d.After, c.most)
			}
		})
	}
}

package design_test

import (
	"math"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
)

// TestWithin: the plans of a space within a ceiling are those of the whole that are quick enough, all of them.
func TestWithin(t *testing.T) {
	m := cost.Default()
	latency := func(a *plan.Arc) float64 {
		sum := 0.0
		for i := range a.Steps {
			sum += m.Step(&a.Steps[i], a.From == plan.SourceState && i == 0).Latency
		}
		return sum
	}
	texts := func(plans []*plan.Plan, most float64) (list []string) {
		for _, p := range plans {
			if cost.Plan(m, p).Latency <= most*(1+1e-9) {
				list = append(list, p.String())
			}
		}
		slices.Sort(list)
		return list
	}
	cut := 0
	for seed := range trials(20) {
		w, pool := instance(uint64(seed))
		for _, s := range w.Statements {
			if s.Query == nil {
				continue
			}
			whole, err := plan.NewSpace(s.Query, pool, nil)
			if err != nil {
				t.Fatal(err)
			}
			all := whole.Plans(10_000)
			for _, p := range all[:min(4, len(all))] {
				ceiling := cost.Plan(m, p).Latency
				within, least := whole.WithinLatency(latency, ceiling)
				got, want := texts(within.Plans(10_000), math.Inf(1)), texts(all, ceiling)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, %s within %g: %d plans, want %d", seed, s.ID, ceiling, len(got), len(want))
				}
				if none, _ := whole.WithinLatency(latency, least*0.99); len(none.Arcs) != 0 {
					t.Errorf("seed %d, %s: plans quicker than the quickest", seed, s.ID)
				}
				if len(want) < len(all) {
					cut++
				}
			}
		}
	}
	if cut == 0 {
		t.Error("no ceiling cuts anything off")
	}
	t.Logf("%d ceilings cut something off", cut)
}

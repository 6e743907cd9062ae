package verify

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/bench/generate"
)

// TestDesigns: over our designs of random workloads and over random ones, every statement has a plan, and every table that a write
// changes is maintained. The same seed makes the same, if no clock stops the search.
func TestDesigns(t *testing.T) {
	for seed := uint64(1); seed < 4; seed++ {
		for _, name := range []string{Ours, "random:1"} {
			draw := func() *Design {
				w := generate.Varied(seed)
				rng := rand.New(rand.NewPCG(seed, 1))
				make := func() (*Design, error) { return random(name, w, rng) }
				if name == Ours {
					make = func() (*Design, error) { return ours(t.Context(), w, 10*time.Minute, rng) }
				}
				d, err := make()
				if errors.Is(err, errTooMany) {
					return nil
				}
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, name, err)
				}
				if len(d.Reads)+len(d.Writes) != len(w.Statements) {
					t.Errorf("seed %d, %s: %d statements of %d", seed, name, len(d.Reads)+len(d.Writes), len(w.Statements))
				}
				return d
			}
			d, again := draw(), draw()
			if d == nil {
				continue
			}
			d.name("k", "t")
			again.name("k", "t")
			if text(d.Tables) != text(again.Tables) {
				t.Errorf("seed %d, %s:\n%s\nand then\n%s", seed, name, text(d.Tables), text(again.Tables))
			}
			for i, r := range d.Reads {
				if len(r.Plans) == 0 || len(r.Plans) > mostPlans || r.Plans[0].String() != again.Reads[i].Plans[0].String() {
					t.Errorf("seed %d, %s, %s: %d plans, the first %s", seed, name, r.Statement.ID, len(r.Plans), r.Plans[0])
				}
			}
			for _, w := range d.Writes {
				n := 0
				for _, table := range d.Tables {
					if plan.Modifies(w.Statement.Write, table) {
						n++
					}
				}
				if n != len(w.Plans) {
					t.Errorf("seed %d, %s, %s: %d tables are maintained of %d", seed, name, w.Statement.ID, len(w.Plans), n)
				}
			}
		}
	}
}

package verify

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/generate"
	"github.com/helenus-db/helenus/advisor/plan"
)

// TestDesigns: every statement of random workloads has a plan over ours and over random designs, and every table that a
// write changes is maintained.
func TestDesigns(t *testing.T) {
	n := 20
	if s := os.Getenv("N"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	tables, plans := 0, 0
	for seed := range uint64(n) {
		for n := range 2 {
			w := generate.Varied(seed)
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			var d *Design
			var err error
			if n == 0 {
				d, err = ours(t.Context(), w, time.Second, rng)
			} else {
				d, err = random("random:1", w, rng)
			}
			if err != nil {
				t.Logf("seed %d, design %d: %v", seed, n, err)
				continue
			}
			tables += len(d.Tables)
			if len(d.Reads)+len(d.Writes) != len(w.Statements) {
				t.Errorf("seed %d, %s: %d statements of %d", seed, d.Name, len(d.Reads)+len(d.Writes), len(w.Statements))
			}
			for _, r := range d.Reads {
				plans += len(r.Plans)
			}
			for _, x := range d.Writes {
				for _, table := range d.Tables {
					if plan.Modifies(x.Statement.Write, table) {
						plans++
					}
				}
			}
		}
	}
	t.Log(tables, plans)
}

//go:build !race

package enumerate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// Optima over whole pools take ten times as long under the race detector: `make test` runs them by themselves.

// TestNoWorseWhereSupportIsShared: under our own model, where what a write asks for one table may answer for another, and a table may
// answer for itself, the optimum over the pool is not above that over NoSE's candidates, whatever the limit of space. The seeds are
// those at which one of the two was missing once: of 2004 to 2043 support queries shared by containment, or tables that know their own
// rows (rule own), of 2175 and 2311 partitions that the write has to look up first, of 2261 and 2671 an estimate that found fewer rows by
// fewer conditions. HELENUS_TEST_ENUMERATE=150 tries as many further ones.
func TestNoWorseWhereSupportIsShared(t *testing.T) {
	m := cost.Default()
	arithmetic := cost.Arithmetic(m)
	limits, more := []float64{0.8, 0}, rounds(t, 3)
	if more > 3 {
		limits = []float64{0.999, 0.8, 0.7, 0}
	}
	seeds := []int{2004, 2021, 2023, 2043, 2175, 2261, 2311, 2671}
	for n := range more {
		seeds = append(seeds, 3001+n)
	}
	compared := 0
	for _, seed := range seeds {
		w := generate.Workload(small(seed), uint64(seed))
		r := newReference(w, arithmetic)
		if len(r.tables) > 250 { // more than can be solved in a second or two
			continue
		}
		p := enumerate.Workload(w, enumerate.Options{Arithmetic: arithmetic})
		limit := 0.0
		for _, tighter := range limits {
			theirs, err := proving(w, m, r.tables, limit)
			if err != nil {
				break // none of NoSE's designs fits
			}
			ours, err := proving(w, m, p.Tables, limit)
			var space *design.SpaceError
			if errors.As(err, &space) && !space.Proven {
				break
			}
			if err != nil {
				t.Errorf("seed %d, space %g: %v, but NoSE's candidates have a design of %g", seed, limit, err, theirs.After)
				break
			}
			if compared++; ours.Bound > theirs.After*(1+1e-6) {
				t.Errorf("seed %d, space %g: %g, but NoSE's candidates have %g by\n%s\nand ours\n%s\nfor\n%s", seed, limit, ours.After, theirs.After, describe(theirs, p), describe(ours, p), statements(w))
			}
			size := 0.0
			for _, x := range theirs.Tables {
				size += x.Bytes
			}
			limit = size * tighter
		}
	}
	t.Logf("%d optima compared, over %d workloads", compared, len(seeds))
	if compared < len(seeds) {
		t.Errorf("only %d optima were compared", compared)
	}
}

// proving is best with few of the solver's nodes: what it comes to, and its bound, do not depend on the machine.
func proving(w *workload.Workload, m cost.Model, tables []*model.Table, limit float64) (*design.Design, error) {
	return design.Choose(context.Background(), w, design.Options{Cost: m, Solver: solve.New(solve.Config{}), Limits: solve.Limits{Nodes: 100, Gap: 1e-7},
		Candidates: tables, NoEnumeration: true, SpaceLimit: limit, Branching: 500_000})
}

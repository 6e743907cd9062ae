//go:build !race

package enumerate_test

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/bench/generate"
	"github.com/helenus-db/helenus/internal/long"
)

// Whole pools of candidates take ten times as long to make and look at under the race detector: `make test` runs this by itself.

// Every candidate is a table that can be, collections and unions of them, too. Two of these workloads once had tables with two
// collections of the same entity over two relationships, others unions of tables that number an entity's occurrences
// otherwise: circles both, without an end for whoever walks along them. `make test-long` takes 150 workloads.
func TestCandidatesAreTables(t *testing.T) {
	seeds := uint64(30)
	if long.Tests() {
		seeds = 150
	}
	for seed := range seeds {
		for _, table := range enumerate.Workload(generate.Varied(seed), enumerate.Options{Collections: true}).Tables {
			if err := table.Validate(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}

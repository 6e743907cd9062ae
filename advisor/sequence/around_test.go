package sequence

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// among tries all sequences in which tables last, but for some.
func among(p *Problem, changing []bool) float64 {
	least := math.Inf(1)
	list := make([][]bool, len(p.Steps))
	for t := range list {
		list[t] = make([]bool, len(p.Tables))
	}
	for mask := range 1 << (len(p.Tables) * len(p.Steps)) {
		lasts := true
		for t := range list {
			for n := range list[t] {
				list[t][n] = mask&(1<<(t*len(p.Tables)+n)) != 0
				lasts = lasts && (changing[n] || list[t][n] == list[0][n])
			}
		}
		if lasts {
			least = min(least, p.Cost(list))
		}
	}
	return least
}

// TestAround: what is found near a sequence is the best of all those in which the other tables last; with a gap no more than that above it.
func TestAround(t *testing.T) {
	met, better := 0, 0
	for seed := range trials(60) {
		p := small(seed, 10)
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		start, err := Anneal(context.Background(), p, Annealing{Changes: 20, Seed: uint64(seed)})
		if err != nil {
			continue
		}
		met++
		changing, all := make([]bool, len(p.Tables)), make([]bool, len(p.Tables))
		for n := range changing {
			changing[n] = r.IntN(2) == 0
			for s := range start {
				all[n] = all[n] || changing[n] || start[s][n] != start[0][n]
			}
		}
		want := among(p, all)
		for _, gap := range []float64{0, 0.05} {
			o := Surroundings{Start: start, Changing: changing, Solver: solve.New(solve.Config{}), Limits: solve.Limits{Gap: gap}}
			open, failure, err := Around(context.Background(), p, o)
			if err != nil || failure != nil {
				t.Fatalf("seed %d: %v, %v", seed, failure, err)
			}
			got, was := p.Cost(open), p.Cost(start)
			if got < want-1e-7*(1+want) || got > min(was, want+gap*was)+1e-7*(1+want) {
				t.Errorf("seed %d: %g from %g with a gap of %g, the least is %g", seed, got, was, gap, want)
			}
			if got < was-1e-7*(1+was) {
				better++
			}
		}
	}
	if met < trials(60)/2 || better < met/10 {
		t.Errorf("%d problems, of which %d were made better", met, better)
	}
}

// TestAroundNothing: near what is no sequence there is nothing to look for.
func TestAroundNothing(t *testing.T) {
	p := small(1, 10)
	list := make([][]bool, len(p.Steps))
	for t := range list {
		list[t] = make([]bool, len(p.Tables))
	}
	if p.Cost(list) < math.Inf(1) {
		t.Fatal("it needs no tables")
	}
	if _, _, err := Around(context.Background(), p, Surroundings{Start: list, Changing: make([]bool, len(p.Tables)), Solver: solve.New(solve.Config{})}); err == nil {
		t.Error("no error")
	}
}

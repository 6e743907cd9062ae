package sequence

import (
	"context"
	"math"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// TestRelax: the relaxation of a problem never says more than the least that a sequence costs, found by trying all; and where nothing ties steps together it
// is about the least in many cases.
func TestRelax(t *testing.T) {
	solver := solve.New(solve.Config{})
	met, tight := 0, 0
	for seed := range trials(30) {
		p := small(seed, 10)
		want, _, _ := enumerate(p)
		if math.IsInf(want, 1) {
			continue
		}
		r, err := Relax(context.Background(), p, solver)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if r.Bound > want+1e-7*(1+want) {
			t.Errorf("seed %d: at least %g, and the least is %g", seed, r.Bound, want)
		}
		met++
		if r.Bound > want-1e-6*(1+want) {
			tight++
		}
	}
	if met < trials(30)/2 || tight < met/5 {
		t.Errorf("of %d bounds %d are the least", met, tight)
	}
}

// TestSmooth: of all paths to give steps the designs of a list, the cheapest is found, and nothing dearer than the sequence it began from.
func TestSmooth(t *testing.T) {
	met, moved := 0, 0
	for seed := range trials(100) {
		p := small(seed, 10)
		r, err := Solve(context.Background(), p, Options{})
		if err != nil {
			continue
		}
		if want, _, _ := enumerate(p); r.Cost > want+1e-9*(1+want) {
			continue // annealing alone does not always come to the least
		}
		// From one design throughout; to choose from are those of the best.
		list := make([][]bool, len(p.Steps))
		for step := range list {
			list[step] = r.Open[0]
		}
		if math.IsInf(p.Cost(list), 1) || p.Life > 1 {
			continue
		}
		met++
		got, err := Smooth(p, list, r.Open)
		if err != nil {
			t.Fatal(err)
		}
		if c := p.Cost(got); c < r.Cost-1e-9*(1+r.Cost) || c > p.Cost(list)+1e-9*(1+r.Cost) || c > r.Cost+1e-9*(1+r.Cost) {
			t.Errorf("seed %d: %g from %g, and all of the list comes to %g", seed, c, p.Cost(list), r.Cost)
		}
		if p.Cost(list) > r.Cost*(1+1e-9) {
			moved++
		}
	}
	if met < trials(100)/4 || moved < 2 {
		t.Errorf("%d sequences, %d to be moved", met, moved)
	}
}

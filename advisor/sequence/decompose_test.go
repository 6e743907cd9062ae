package sequence

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// TestRelax: the relaxation of a problem never says more than the least that a sequence costs, found by trying all; and where nothing ties steps together it
// is about the least in many cases.
func TestRelax(t *testing.T) {
	solver := solve.New(solve.Config{})
	met, tight := 0, 0
	for seed := range trials(60) {
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
	if met < trials(60)/2 || tight < met/5 {
		t.Errorf("of %d bounds %d are the least", met, tight)
	}
}

// TestDecompose: designing steps apart never says more than the least that a sequence costs, whatever the prices: those of the relaxation, none at all, or moved
// a dozen times; what it finds are sequences; and moved prices are mostly better than none.
func TestDecompose(t *testing.T) {
	solver := solve.New(solve.Config{})
	met, sequences, least, close := 0, 0, 0, 0
	for seed := range trials(60) {
		p := small(seed, 10)
		want, _, _ := enumerate(p)
		if math.IsInf(want, 1) {
			continue
		}
		met++
		for _, rounds := range []int{1, 12} {
			best := math.Inf(1)
			o := DecomposeOptions{Rounds: rounds, Known: want, Found: func(open [][]bool) float64 {
				best = min(best, p.Cost(open))
				return want
			}}
			if rounds > 1 {
				o.Relaxer = solver
			}
			r, err := Decompose(context.Background(), p, o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if r.Bound > want+1e-7*(1+want) {
				t.Errorf("seed %d: at least %g after %d rounds, and the least is %g", seed, r.Bound, r.Rounds, want)
			}
			if best < want-1e-7*(1+want) {
				t.Errorf("seed %d: a sequence of %g, and the least is %g", seed, best, want)
			}
			if rounds == 1 {
				continue
			}
			if !math.IsInf(best, 1) {
				sequences++
			}
			if best <= want+1e-7*(1+want) {
				least++
			}
			if r.Bound > want-1e-2*(1+want) {
				close++
			}
		}
	}
	t.Logf("of %d problems %d had a sequence, %d the least, %d a bound within a hundredth", met, sequences, least, close)
	if met < trials(60)/2 || sequences < met*3/4 || least < met/2 || close < met/2 {
		t.Errorf("of %d problems %d had a sequence, %d the least, %d a bound within a hundredth", met, sequences, least, close)
	}
}

// TestKinds: steps at which the same comes after the same share their prices, so that cycles of any length are as many problems as those of
// a few periods; the bound holds all the same.
func TestKinds(t *testing.T) {
	solver := solve.New(solve.Config{})
	random := rand.New(rand.NewPCG(3, 5))
	met := 0
	for range 12 {
		p := periodic(random, 4, 8)
		x, err := newMultipliers(p)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(x.first); n != 3 {
			t.Fatalf("%d kinds of steps, not 3: the first, and both turns", n)
		}
		best, err := Solve(context.Background(), p, Options{Solver: solver})
		if err != nil || !best.Proven {
			t.Fatalf("%v, %v", best, err)
		}
		want := best.Cost
		r, err := Decompose(context.Background(), p, DecomposeOptions{Relaxer: solver, Rounds: 4, Known: want})
		if err != nil {
			t.Fatal(err)
		}
		if r.Bound > want+1e-7*(1+want) {
			t.Errorf("at least %g, and the least is %g", r.Bound, want)
		}
		met++
	}
	if met < 6 {
		t.Errorf("%d problems", met)
	}
}

// periodic is a random problem of two kinds of steps in turn.
func periodic(r *rand.Rand, tables, steps int) *Problem {
	for {
		p := random(r, tables, 2, 4)
		p.Overlap, p.Most, p.Life = false, 0, 0
		repeat := func(list []float64) (long []float64) {
			for t := range steps {
				long = append(long, list[t%2])
			}
			return long
		}
		begin := p.Steps
		p.Steps = nil
		for t := range steps {
			s := begin[t%2]
			s.Closed = false
			p.Steps = append(p.Steps, s)
		}
		for n := range p.Tables {
			p.Tables[n].Upkeep, p.Tables[n].Birth = repeat(p.Tables[n].Upkeep), repeat(p.Tables[n].Birth)
		}
		for i := range p.Demands {
			p.Demands[i].Weights = repeat(p.Demands[i].Weights)
		}
		if _, err := Solve(context.Background(), p, Options{}); err == nil && p.stepKey(1) != p.stepKey(2) {
			return p
		}
	}
}

// TestSmooth: of all paths to give steps the designs of a list, the cheapest is found, and nothing dearer than the sequence it began from.
func TestSmooth(t *testing.T) {
	met, moved := 0, 0
	for seed := range trials(150) {
		p := small(seed, 12)
		r, err := Solve(context.Background(), p, Options{})
		if err != nil {
			continue
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
	if met < trials(150)/4 || moved < 4 {
		t.Errorf("%d sequences, %d to be moved", met, moved)
	}
}

// TestClosedThroughout: where nothing may be created after the first step, what is created all the same is there from the first on, however many paths
// there would be to fill it.
func TestClosedThroughout(t *testing.T) {
	met := 0
	for seed := range trials(60) {
		p := small(seed, 10)
		for step := 1; step < len(p.Steps); step++ {
			p.Steps[step].Closed = true
		}
		for n := range p.Loads { // more than any demand reads
			for m := range p.Tables {
				p.Loads[n].Arcs = append(p.Loads[n].Arcs, p.Loads[n].Arcs...)
				p.Loads[n].Arcs = append(p.Loads[n].Arcs, choice.Arc{From: choice.Source, To: choice.Sink, Price: float64(m), Table: m})
			}
		}
		want, _, _ := enumerate(p)
		if math.IsInf(want, 1) {
			continue
		}
		met++
		r, err := Decompose(context.Background(), p, DecomposeOptions{Rounds: 3, Known: want, Found: func(open [][]bool) float64 { return min(want, p.Cost(open)) }})
		if err != nil || r.Bound > want+1e-7*(1+want) {
			t.Errorf("seed %d: %+v, %v, and the least is %g", seed, r, err, want)
		}
	}
	if met < trials(60)/3 {
		t.Errorf("%d problems", met)
	}
}

// TestMendWhole: what a table lacks is opened as a whole, though opening one part of it looks for the paths of demands that read it.
func TestMendWhole(t *testing.T) {
	const parts = 4
	p := &Problem{Steps: []Step{{}, {}}, Loads: make([]Load, parts+1)}
	load := Load{States: parts + 1}
	for n := range parts + 1 {
		size := 1.0
		if n == parts {
			size = 100
		}
		p.Tables = append(p.Tables, Table{Name: string(rune('a' + n)), Size: size, Upkeep: []float64{1, 1}, Birth: []float64{0, 1}})
		arcs := []choice.Arc{{From: choice.Source, To: choice.Sink, Price: 9, Table: choice.None}} // its own path goes over the load's states backwards
		at := choice.Source
		for to := parts; to > 1; to-- {
			arcs, at = append(arcs, choice.Arc{From: at, To: to, Price: 1, Table: n}), to
		}
		arcs = append(arcs, choice.Arc{From: at, To: choice.Sink, Price: 1, Table: n})
		p.Demands = append(p.Demands, Demand{Name: p.Tables[n].Name, Weights: []float64{1, 1}, States: parts + 1, Arcs: arcs})
		p.Loads[n] = Load{States: 2, Arcs: []choice.Arc{{From: choice.Source, To: choice.Sink, Price: 1, Table: choice.None}}}
		if n == parts {
			continue
		}
		a := choice.Arc{From: n + 1, To: n + 2, Price: 1, Table: n} // states 2 to parts lie between
		if n == 0 {
			a.From = choice.Source
		}
		if n == parts-1 {
			a.To = choice.Sink
		}
		load.Arcs = append(load.Arcs, a)
	}
	p.Loads[parts] = load
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	s := newAnnealing(in, 0)
	s.setSequence([][]bool{make([]bool, parts+1), {parts: true}})
	if !s.openMissingSources() {
		t.Fatal("nothing lacks")
	}
	for n := range parts {
		if !s.open[0][n] {
			t.Errorf("%s lacks", p.Tables[n].Name)
		}
	}
	if s.open[0][parts] || math.IsInf(p.Cost(s.open), 1) {
		t.Errorf("%v costs %g", s.open, p.Cost(s.open))
	}
}

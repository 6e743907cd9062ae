package sequence

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"
)

// TestAnneal: what annealing answers costs what it counted, keeps all limits, is never below the least of all sequences, mostly is it, and is the same
// again with the same seed.
func TestAnneal(t *testing.T) {
	met, least := 0, 0
	for seed := range trials(150) {
		p := small(seed, 10)
		want, _, _ := enumerate(p)
		if math.IsInf(want, 1) {
			continue
		}
		start, err := Solve(context.Background(), p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		// From the best there is only falling back to; from nothing it must find a sequence by itself.
		for k, begin := range [][][]bool{start.Open, nil, start.Open} {
			o := AnnealOptions{Start: begin, Changes: 400, Rounds: k * 2, Seed: uint64(seed)}
			open, err := Anneal(context.Background(), p, o)
			switch {
			case errors.Is(err, errNone) && begin == nil:
				continue
			case err != nil:
				t.Fatalf("seed %d: %v", seed, err)
			}
			again, err := Anneal(context.Background(), p, o)
			if err != nil || !reflect.DeepEqual(open, again) {
				t.Fatalf("seed %d: not the same again (%v)", seed, err)
			}
			got := p.Cost(open)
			if got < want-1e-8*(1+want) || math.IsInf(got, 1) || begin != nil && got > start.Cost+1e-8*(1+want) {
				t.Fatalf("seed %d: %g, the least is %g", seed, got, want)
			}
			if begin == nil {
				met++
				if got <= want+1e-8*(1+want) {
					least++
				}
			}
		}
	}
	if met < trials(150)/4 || least < met/2 {
		t.Errorf("from nothing %d problems were answered, %d of them at the least cost", met, least)
	}
}

// TestRefined: rounds near a sequence that is not the best lead to one that is, in most cases, and never to a dearer one.
func TestRefined(t *testing.T) {
	met, least := 0, 0
	for seed := range trials(400) {
		p := small(seed, 10)
		want, _, _ := enumerate(p)
		if math.IsInf(want, 1) {
			continue
		}
		begin, err := Anneal(context.Background(), p, AnnealOptions{Changes: 3, Seed: uint64(seed)})
		if err != nil || p.Cost(begin) <= want+1e-8*(1+want) {
			continue
		}
		open, err := Anneal(context.Background(), p, AnnealOptions{Start: begin, Changes: 800, Rounds: 8, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Cost(open)
		if got < want-1e-8*(1+want) || got > p.Cost(begin)+1e-8*(1+want) {
			t.Fatalf("seed %d: %g from %g, the least is %g", seed, got, p.Cost(begin), want)
		}
		met++
		if got <= want+1e-8*(1+want) {
			least++
		}
	}
	if met < trials(400)/20 || least < met*2/3 {
		t.Errorf("of %d sequences that were not the best %d became it", met, least)
	}
}

// TestDropRedundant: W-41, of what costs the same the fewer and smaller tables: from the least with all tables added that cost nothing, thinning comes back to as
// few as there are in most cases, and never is dearer.
func TestDropRedundant(t *testing.T) {
	met, fewest := 0, 0
	for seed := range trials(200) {
		p := small(seed, 10)
		for n := range p.Tables {
			clear(p.Tables[n].Upkeep)
			clear(p.Tables[n].Birth)
			p.Tables[n].Drop = 0
			p.Tables[n].Fixed = false
		}
		want, tables, size := enumerate(p)
		if math.IsInf(want, 1) {
			continue
		}
		r, err := Solve(context.Background(), p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Cost > want+1e-9*(1+want) {
			continue // annealing alone does not always come to the least
		}
		for step := range r.Open {
			for n := range r.Open[step] {
				r.Open[step][n] = true
				if c := p.Cost(r.Open); c > r.Cost+1e-9*(1+want) {
					r.Open[step][n] = false
				}
			}
		}
		if math.IsInf(p.Cost(r.Open), 1) {
			continue // what was left out was needed, step by step
		}
		thin, err := DropRedundant(p, r.Open)
		if err != nil {
			t.Fatal(err)
		}
		if c := p.Cost(thin); c > p.Cost(r.Open)+1e-9*(1+want) {
			t.Fatalf("seed %d: thinned it costs %g, the least is %g", seed, c, want)
		}
		for step := range thin {
			for n, is := range thin[step] {
				if !is || p.Tables[n].Free {
					continue
				}
				thin[step][n] = false
				if c := p.Cost(thin); c <= want+1e-9*(1+want) && p.Life < 2 {
					t.Errorf("W-41: seed %d: table %d is not needed at step %d", seed, n, step)
				}
				thin[step][n] = true
			}
		}
		met++
		if k, s := p.count(thin); k < tables || k == tables && s < size-1e-9 {
			t.Fatalf("seed %d: %d tables of %g, and the fewest are %d of %g", seed, k, s, tables, size)
		} else if k == tables {
			fewest++
		}
	}
	if met < trials(200)/4 || fewest < met*2/3 {
		t.Errorf("of %d sequences %d were thinned to the fewest tables", met, fewest)
	}
}

// TestAnnealed: after any changes the sums are those of the present sequence, and undone changes leave nothing behind.
func TestAnnealed(t *testing.T) {
	met := 0
	for seed := range trials(100) {
		p := small(seed, 16)
		for i := range p.Steps {
			p.Steps[i].Space = 0
		}
		in, err := newInstance(p)
		if err != nil {
			continue
		}
		s := newAnnealing(in, uint64(seed))
		s.setSequence(nil)
		for range 60 {
			m, value, open := s.mark(), s.penalisedCost(1e3), cloneBools(s.open)
			s.makeMove(1e3)
			if c := p.Cost(s.open); s.broken == 0 && math.Abs(c-s.cost) > 1e-9*(1+c) || s.broken > 0 != math.IsInf(c, 1) {
				t.Fatalf("seed %d: %g, %d broken, and it costs %g", seed, s.cost, s.broken, c)
			}
			if s.broken == 0 {
				met++
			}
			if s.random.IntN(2) == 0 {
				if s.rollback(m); s.penalisedCost(1e3) != value || !reflect.DeepEqual(open, s.open) {
					t.Fatalf("seed %d: %g before, %g after", seed, value, s.penalisedCost(1e3))
				}
			}
		}
	}
	if met < 500 {
		t.Errorf("only %d whole sequences were met", met)
	}
}

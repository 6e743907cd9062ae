package sequence

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// among tries all sequences in which tables last, but for some, and some steps have the same.
func among(p *Problem, changing []bool, alike []int) float64 {
	least := math.Inf(1)
	for list := range p.sequences() {
		lasts := true
		for t := range list {
			for n := range list[t] {
				lasts = lasts && (changing[n] || list[t][n] == list[0][n]) && list[t][n] == list[alike[t]][n]
			}
		}
		if lasts {
			least = min(least, p.Cost(list))
		}
	}
	return least
}

// TestLocalBranch: what is found near a sequence is the best of all those in which the other tables last, and steps that are to be alike are; with a gap no more than that above it.
func TestLocalBranch(t *testing.T) {
	met, better := 0, 0
	for seed := range trials(60) {
		p := small(seed, 12)
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		start, err := Anneal(context.Background(), p, AnnealOptions{Changes: 20, Seed: uint64(seed)})
		if err != nil {
			continue
		}
		alike := make([]int, len(start))
		byTurns := r.IntN(2) == 0 // what is created again and again
		for t := range alike {
			switch alike[t] = t; {
			case byTurns:
				alike[t] = t % 2
			case r.IntN(2) == 0:
				alike[t] = alike[r.IntN(t+1)]
			}
			start[t] = start[alike[t]]
			for i := range p.Demands {
				if w := p.Demands[i].Weights; byTurns {
					w[t] = float64(1+(t+i)%2*30) * w[0]
				}
			}
		}
		if math.IsInf(p.Cost(start), 1) {
			continue
		}
		met++
		changing, all := make([]bool, len(p.Tables)), make([]bool, len(p.Tables))
		for n := range changing {
			changing[n] = r.IntN(3) > 0
			for s := range start {
				all[n] = all[n] || changing[n] || start[s][n] != start[0][n]
			}
		}
		want := among(p, all, alike)
		for _, gap := range []float64{0, 0.05} {
			o := Neighbourhood{Start: start, Changing: changing, Alike: alike, Solver: solve.New(solve.Config{}), Limits: solve.Limits{Gap: gap}}
			open, failure, err := LocalBranch(context.Background(), p, o)
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
	if met < trials(60)/3 || better < met/10 {
		t.Errorf("%d problems, of which %d were made better", met, better)
	}
}

// TestTwins: where steps share tables, a sequence costs as a choice what it costs, with what is created again and again.
func TestTwins(t *testing.T) {
	met, again := 0, 0
	for seed := range trials(200) {
		p := small(seed, 16)
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		o := Neighbourhood{Changing: make([]bool, len(p.Tables))}
		for t := range p.Steps {
			o.Alike = append(o.Alike, t%2)
		}
		for range 30 {
			o.Start = nil
			for t := range p.Steps {
				o.Start = append(o.Start, make([]bool, len(p.Tables)))
				for n := range p.Tables {
					o.Start[t][n] = p.Tables[n].Fixed || r.IntN(2) == 0
				}
				o.Start[t] = o.Start[o.Alike[t]]
			}
			want := p.Cost(o.Start)
			in, err := newInstance(p)
			if math.IsInf(want, 1) || err != nil || slices.ContainsFunc(in.status[0], func(s int8) bool { return s == closed }) {
				continue
			}
			met++
			for n := range p.Tables {
				if len(p.Steps) > 3 && o.Start[1][n] && !o.Start[0][n] {
					again++
				}
			}
			x := in.expand(o.tiedSteps(len(p.Tables)))
			if got := x.problem.Cost(x.choiceOf(o.Start)) + x.offset; math.Abs(got-want) > 1e-6*(1+want) {
				t.Errorf("seed %d: %g, not %g", seed, got, want)
			}
			break
		}
	}
	if met < trials(200)/3 || again < met/20 {
		t.Errorf("%d problems, %d tables that are created again", met, again)
	}
}

// TestLocalBranchNothing: near what is no sequence there is nothing to look for.
func TestLocalBranchNothing(t *testing.T) {
	p := small(1, 10)
	list := make([][]bool, len(p.Steps))
	for t := range list {
		list[t] = make([]bool, len(p.Tables))
	}
	if p.Cost(list) < math.Inf(1) {
		t.Fatal("it needs no tables")
	}
	if _, _, err := LocalBranch(context.Background(), p, Neighbourhood{Start: list, Changing: make([]bool, len(p.Tables)), Solver: solve.New(solve.Config{})}); err == nil {
		t.Error("no error")
	}
}

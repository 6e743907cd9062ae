package choice

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestFlips: after any tables were opened and closed, one after the other, the sums are those of the present choice, as they are added up anew; and a former choice comes back as it was.
func TestFlips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 6)
		in, err := compileProblem(p)
		if err != nil {
			return
		}
		s := newSearch(in, 0)
		s.setChoice(rapid.SliceOfN(rapid.Bool(), len(p.Tables), len(p.Tables)).Draw(t, "choice"))
		begin := slices.Clone(s.open)
		check := func() {
			size := 0.0
			for n, is := range s.open {
				if is {
					size += in.size[n]
				}
			}
			if got, want := s.totalCost(), p.priceByPaths(s.open); !about(got, want) || s.size != size {
				t.Fatalf("%v costs %g and takes %g; by all paths %g, and %g", s.open, got, s.size, want, size)
			}
			if over := s.excessSpace(); (over > 0) != (p.Space > 0 && size > p.Space) || over > 0 && over != size-p.Space {
				t.Fatalf("%g too much: %g of %g", over, size, p.Space)
			}
		}
		check()
		for range rapid.IntRange(0, 12).Draw(t, "flips") {
			if n := rapid.IntRange(0, len(p.Tables)-1).Draw(t, "table"); in.status[n] == free {
				s.flipTable(n)
				check()
			}
		}
		s.restoreChoice(begin)
		check()
		if !slices.Equal(s.open, begin) || s.isFeasible(begin) != !math.IsInf(p.priceByPaths(begin), 1) {
			t.Fatalf("%v, and it was %v", s.open, begin)
		}
	})
}

// TestRepair: what demands lack is opened and nothing is closed, unless no choice has it; then what is of no use goes, which is never dearer.
func TestRepair(t *testing.T) {
	repaired := 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 6)
		in, err := compileProblem(p)
		if err != nil {
			return
		}
		s := newSearch(in, 0)
		s.setChoice(rapid.SliceOfN(rapid.Bool(), len(p.Tables), len(p.Tables)).Draw(t, "choice"))
		begin, lacked := slices.Clone(s.open), s.lack > 0
		unlimited := p.clone()
		unlimited.Space = 0
		beyond := unlimited.leastOf(func(open []bool) float64 { // of those that have what there is
			for n, is := range begin {
				if is && !open[n] || open[n] && in.status[n] == closed {
					return math.Inf(1)
				}
			}
			return unlimited.priceByPaths(open)
		})
		if done := s.repairDemands(rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "price of space")); done != !math.IsInf(beyond, 1) {
			t.Fatalf("repaired: %v, and the least beyond %v is %g", done, begin, beyond)
		} else if !done {
			return
		}
		for n, is := range begin {
			if is && !s.open[n] || s.open[n] && in.status[n] == closed {
				t.Fatalf("%v was made of %v", s.open, begin)
			}
		}
		if s.lack != 0 || math.IsInf(unlimited.priceByPaths(s.open), 1) {
			t.Fatalf("%v lacks %d", s.open, s.lack)
		}
		if lacked {
			repaired++
		}
		s.rate = rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "rate")
		before, kept := s.penalisedCost(), slices.Clone(s.open)
		if s.closeUseless(-1); s.penalisedCost() > before || s.lack > 0 {
			t.Fatalf("%g, and without what is of no use %g", before, s.penalisedCost())
		}
		for n, is := range s.open {
			if is && !kept[n] || !is && in.status[n] == open {
				t.Fatalf("%v was made of %v", s.open, kept)
			}
		}
	})
	if repaired < 3 {
		t.Errorf("only %d lacked something", repaired)
	}
}

// TestDescent: from anywhere the descent comes to a choice within the limit that costs what it says, or to none, which without a limit it never does; no table opened, closed, or bought anew makes it better.
func TestDescent(t *testing.T) {
	met, least := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 7)
		in, err := compileProblem(p)
		if err != nil {
			return
		}
		best := p.leastOf(p.priceByPaths)
		var begin []bool
		if rapid.Bool().Draw(t, "from somewhere") {
			begin = rapid.SliceOfN(rapid.Bool(), len(p.Tables), len(p.Tables)).Draw(t, "begin")
		}
		open, cost := in.descendFrom(1<<40, begin, rapid.SampledFrom([]float64{0, 1}).Draw(t, "price of space"))
		if open == nil {
			if p.Space == 0 || !math.IsInf(cost, 1) {
				t.Fatalf("none, for %g", cost)
			}
			return
		}
		if !about(p.priceByPaths(open), cost) || cost < best-1e-9 {
			t.Fatalf("%v for %g, by all paths %g, and the least is %g", open, cost, p.priceByPaths(open), best)
		}
		for n := range open {
			if in.status[n] == free {
				open[n] = !open[n]
				if v := p.priceByPaths(open); p.Space == 0 && v < cost-1e-9 {
					t.Fatalf("%g, and with table %d turned over %g", cost, n, v)
				}
				open[n] = !open[n]
			}
		}
		if met++; about(cost, best) {
			least++
		}
	})
	if met < 30 || least*10 < met*8 {
		t.Errorf("of %d descents %d came to the least", met, least)
	}
}

// TestParts: pieces that share no table cost together, with what is settled, what the whole does; a limit on space ties them into one.
func TestParts(t *testing.T) {
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 4)
		other := problems(t, 4) // a second one beside it, which has nothing to do with it
		for i := range other.Demands {
			d := &other.Demands[i]
			for k := range d.Arcs {
				if d.Arcs[k].Table != None {
					d.Arcs[k].Table += len(p.Tables)
				}
			}
			for k := range d.Needed {
				d.Needed[k] += len(p.Tables)
			}
		}
		p.Tables, p.Demands = append(p.Tables, other.Tables...), append(p.Demands, other.Demands...)
		in, err := compileProblem(p)
		least := p.leastOf(p.priceByPaths)
		if err != nil || math.IsInf(least, 1) {
			return
		}
		list, sum := in.independentParts()
		if p.Space > 0 && len(list) > 1 {
			t.Fatalf("%d parts within a limit", len(list))
		}
		if len(list) > 1 {
			several++
		}
		owner := make([]int, len(p.Tables))
		for k, part := range list {
			best := math.Inf(1)
			for open := range p.choices() {
				s := newSearch(part.in, 0)
				s.setChoice(open)
				best = min(best, s.totalCost())
			}
			sum += best
			for _, n := range part.tables {
				if owner[n] != 0 || in.status[n] != free {
					t.Fatalf("table %d is in part %d and %d", n, owner[n], k+1)
				}
				owner[n] = k + 1
			}
		}
		for n, s := range in.status {
			if (s == free) != (owner[n] > 0) {
				t.Fatalf("table %d is %d, and in part %d", n, s, owner[n])
			}
		}
		if !about(sum, least) {
			t.Fatalf("%d parts come to %g, and the least is %g", len(list), sum, least)
		}
	})
	if several < 3 {
		t.Errorf("only %d problems fell into parts", several)
	}
}

// TestJaccard: the share of what is in both, of lists that are counted by hand.
func TestJaccard(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		want float64
	}{
		{nil, nil, 0},
		{[]int{1, 2}, nil, 0},
		{[]int{1, 2}, []int{1, 2}, 1},
		{[]int{1, 2, 3}, []int{2, 3, 4}, 0.5},
		{[]int{1, 4}, []int{2, 3, 4}, 0.25},
		{[]int{5}, []int{1, 2, 3}, 0},
	} {
		if got, back := jaccardIndex(c.a, c.b), jaccardIndex(c.b, c.a); got != c.want || back != got {
			t.Errorf("%v and %v: %g, the other way round %g, want %g", c.a, c.b, got, back, c.want)
		}
	}
}

// TestRounding: what counts as better, and what a branch must be below, at the edges of rounding.
func TestRounding(t *testing.T) {
	never := math.Inf(1)
	for _, c := range []struct {
		a, b float64
		want bool
	}{{1, 2, true}, {2, 1, false}, {1, 1, false}, {1, never, true}, {never, never, false}, {1e6 - 1e-6, 1e6, false}, {1e6 - 1e-4, 1e6, true}, {-2, -1, true}} {
		if got := better(c.a, c.b); got != c.want {
			t.Errorf("%g is better than %g: %v", c.a, c.b, got)
		}
	}
	for _, c := range []struct{ v, gap, want float64 }{{never, 0.1, never}, {100, 0.1, 90}, {1e10, 0, 1e10 - 1}, {0, 0.1, 0}, {-100, 0.1, -110}} {
		if got := cutoff(c.v, c.gap); got != c.want {
			t.Errorf("below %g by %g is %g, want %g", c.v, c.gap, got, c.want)
		}
	}
}

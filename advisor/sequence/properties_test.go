package sequence

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

// TestCost: the definition that everything is held against, step by step, is what the runs of tables come to, of every sequence.
func TestCost(t *testing.T) {
	met, impossible := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		for list := range p.sequences() {
			got, want := p.Cost(list), p.priceByRuns(list)
			if got != want {
				t.Fatalf("%v costs %g, by runs %g", list, got, want)
			}
			if met++; math.IsInf(want, 1) {
				impossible++
			}
		}
	})
	if impossible == met || impossible == 0 {
		t.Errorf("of %d sequences %d are impossible", met, impossible)
	}
}

// bracketed is the least of all sequences, with what Solve says of it without a solver: never less, never a bound above it, and a sequence that costs what it says.
func bracketed(t *rapid.T, p *Problem, o Options) (least float64, r *Result) {
	least, _, _ = enumerate(p)
	r, err := Solve(context.Background(), p, o)
	var tight *SpaceError
	var none *UnsatisfiableError
	switch {
	case errors.As(err, &tight), errors.As(err, &none):
		if !math.IsInf(least, 1) {
			t.Fatalf("%v, and the least is %g", err, least)
		}
		return least, nil
	case err != nil:
		t.Fatal(err)
	case r.Cost < least-1e-9*(1+least), !notMore(least, r.Bound), !about(p.priceByRuns(r.Open), r.Cost), r.Proven != (r.Stopped == ""), r.Proven && !about(r.Cost, least):
		t.Fatalf("%+v, by runs %g, and the least is %g", r, p.priceByRuns(r.Open), least)
	}
	return least, r
}

// TestChangedProblems: what a change of a problem does to its least cost is known beforehand; and before and after it Solve says no less, and comes to the least nearly always.
func TestChangedProblems(t *testing.T) {
	met, above := 0, 0
	for _, c := range []struct {
		name   string
		change func(t *rapid.T, p *Problem)
		holds  func(before, after float64) bool
	}{
		{"all costs a thousand times as high", func(_ *rapid.T, p *Problem) {
			for n := range p.Tables {
				x := &p.Tables[n]
				x.Drop *= 1000
				for s := range p.Steps {
					x.Upkeep[s], x.Birth[s] = 1000*x.Upkeep[s], 1000*x.Birth[s]
				}
				for k := range p.Loads[n].Arcs {
					p.Loads[n].Arcs[k].Price *= 1000
				}
			}
			for i := range p.Demands {
				for s := range p.Steps {
					p.Demands[i].Weights[s] *= 1000
				}
			}
		}, func(before, after float64) bool { return about(after, 1000*before) }},
		{"more space at a step", func(t *rapid.T, p *Problem) {
			if s := &p.Steps[rapid.IntRange(0, len(p.Steps)-1).Draw(t, "step")]; s.Space > 0 {
				s.Space += float64(rapid.IntRange(1, 4).Draw(t, "more"))
			}
		}, notMore},
		{"any number at once", func(_ *rapid.T, p *Problem) { p.Most = 0 }, notMore},
		{"one step less to live", func(_ *rapid.T, p *Problem) { p.Life = max(0, p.Life-1) }, notMore},
		{"a window more", func(t *rapid.T, p *Problem) {
			p.Steps[rapid.IntRange(0, len(p.Steps)-1).Draw(t, "step")].Closed = false
		}, notMore},
		{"filled without space", func(_ *rapid.T, p *Problem) { p.Overlap = false }, notMore},
		{"there already, and dropped for nothing", func(t *rapid.T, p *Problem) {
			x := &p.Tables[rapid.IntRange(0, len(p.Tables)-1).Draw(t, "table")]
			x.There, x.Drop = true, 0
		}, notMore},
		{"a statement without weight, answered by what is there", func(_ *rapid.T, p *Problem) {
			p.Demands = append(p.Demands, Demand{Weights: make([]float64, len(p.Steps)), States: 2, Arcs: []choice.Arc{{From: choice.Source, To: choice.Sink, Price: 3, Table: choice.None}}})
		}, func(before, after float64) bool { return about(after, before) }},
		{"another way to fill", func(t *rapid.T, p *Problem) {
			l := &p.Loads[rapid.IntRange(0, len(p.Tables)-1).Draw(t, "table")]
			l.Arcs = append(l.Arcs, choice.Arc{From: choice.Source, To: choice.Sink, Price: 2, Table: rapid.IntRange(choice.None, len(p.Tables)-1).Draw(t, "from")})
		}, notMore},
		{"another way to answer", func(t *rapid.T, p *Problem) {
			d := &p.Demands[rapid.IntRange(0, len(p.Demands)-1).Draw(t, "demand")]
			d.Arcs = append(d.Arcs, choice.Arc{From: choice.Source, To: choice.Sink, Price: 2, Table: rapid.IntRange(choice.None, len(p.Tables)-1).Draw(t, "over")})
		}, notMore},
		{"no candidate less", func(t *rapid.T, p *Problem) {
			n := rapid.IntRange(0, len(p.Tables)-1).Draw(t, "table")
			if p.Tables[n].Fixed || p.Tables[n].There {
				return
			}
			without := func(a choice.Arc) bool { return a.Table == n }
			for i := range p.Demands {
				p.Demands[i].Arcs = slices.DeleteFunc(p.Demands[i].Arcs, without)
			}
			for k := range p.Loads {
				p.Loads[k].Arcs = slices.DeleteFunc(p.Loads[k].Arcs, without)
			}
		}, func(before, after float64) bool { return notMore(after, before) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			checks := 0
			rapid.Check(t, func(t *rapid.T) {
				if checks++; checks > 30 { // each tries all sequences of two problems
					return
				}
				p := problems(t)
				q := p.clone()
				c.change(t, q)
				before, first := bracketed(t, p, Options{})
				after, second := bracketed(t, q, Options{})
				if !c.holds(before, after) {
					t.Fatalf("%g, and then %g", before, after)
				}
				for _, r := range []*Result{first, second} {
					if r != nil {
						met++
					}
				}
				if first != nil && !about(first.Cost, before) || second != nil && !about(second.Cost, after) {
					above++
				}
			})
		})
	}
	if above*20 > met {
		t.Errorf("of %d answers %d are above the least", met, above)
	}
}

// TestChangesForNothing: where creating costs nothing and nothing limits it the least is that of the steps, each by itself, and it is proven; where it costs more than everything it is that of the best design
// throughout.
func TestChangesForNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		p.Most, p.Life, p.Overlap = 0, 0, false
		for s := range p.Steps {
			p.Steps[s].Closed, p.Steps[s].Space = false, p.Steps[0].Space
		}
		for n := range p.Tables {
			p.Tables[n].There, p.Tables[n].Drop, p.Loads[n] = false, 0, Load{}
			p.Loads[n].Arcs = []choice.Arc{{From: choice.Source, To: choice.Sink, Table: choice.None}}
			clear(p.Tables[n].Birth)
		}
		sum, possible := 0.0, true
		for s := range p.Steps {
			r, err := choice.Solve(context.Background(), p.staticProblem(s), choice.Options{})
			if possible = err == nil; !possible {
				break
			}
			sum += r.Cost
		}
		r, err := Solve(context.Background(), p, Options{})
		if (err == nil) != possible || possible && (!r.Proven || !about(r.Cost, sum)) {
			t.Fatalf("%+v (%v), and the steps come to %g", r, err, sum)
		}
		if !possible {
			return
		}
		throughout := p.staticProblem(0)
		for s := 1; s < len(p.Steps); s++ {
			at := p.staticProblem(s)
			for n := range at.Tables {
				throughout.Tables[n].Upkeep += at.Tables[n].Upkeep
			}
			for i := range at.Demands {
				throughout.Demands[i].Weight += at.Demands[i].Weight
			}
		}
		for n := range p.Tables {
			for s := 1; s < len(p.Steps); s++ {
				p.Tables[n].Birth[s] = 1e6
			}
			p.Tables[n].Drop = 1e6
		}
		want, err := choice.Solve(context.Background(), throughout, choice.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if least, _, _ := enumerate(p); !about(least, want.Cost) {
			t.Fatalf("%g, and the best design throughout %g", least, want.Cost)
		}
	})
}

// TestSingleStep: a choice is a sequence of one step, at the same cost, whichever tables are kept; both are solved to the same.
func TestSingleStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		at := rapid.IntRange(0, len(p.Steps)-1).Draw(t, "step")
		c := p.staticProblem(at)
		q := SingleStep(c)
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		for list := range q.sequences() {
			if got, want := q.Cost(list), c.Cost(list[0]); got != want {
				t.Fatalf("%v costs %g, as a choice %g", list[0], got, want)
			}
		}
		one, first := Solve(context.Background(), q, Options{})
		other, second := choice.Solve(context.Background(), c, choice.Options{})
		if (first == nil) != (second == nil) || first == nil && (!one.Proven || !about(one.Cost, other.Cost)) {
			t.Fatalf("%+v (%v), as a choice %+v (%v)", one, first, other, second)
		}
	})
}

// TestWindow: a sequence costs what it does in the windows before and after any cut, and what leads from the one to the other; the window of all steps is the problem.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		p.Overlap, p.Life, p.Most = false, 0, 0
		if p.Window(0, len(p.Steps)) != p {
			t.Fatal("the window of all steps is another problem")
		}
		before := p.clone()
		cut := rapid.IntRange(1, len(p.Steps)-1).Draw(t, "cut")
		first, second := p.Window(0, cut), p.Window(cut, len(p.Steps))
		if err := errors.Join(first.Validate(), second.Validate()); err != nil && !p.Steps[cut].Closed {
			t.Fatal(err)
		}
		for list := range p.sequences() {
			between := 0.0
			for n, x := range p.Tables {
				switch {
				case list[cut][n] && !list[cut-1][n]:
					between += x.Birth[cut] + priceOfAll(p.Loads[n].Arcs, list[cut-1])
					if p.Steps[cut].Closed {
						between = math.Inf(1)
					}
				case list[cut-1][n] && !list[cut][n]:
					between += x.Drop
				}
			}
			own := second.clone()
			own.Steps[0].Closed = false // who cuts there changes nothing within
			if got, want := first.Cost(list[:cut])+between+own.Cost(list[cut:]), p.Cost(list); got != want {
				t.Fatalf("%v costs %g, cut at %d %g", list, want, cut, got)
			}
		}
		if !reflect.DeepEqual(p, before) {
			t.Fatal("a window changed the problem")
		}
	})
}

// TestExpandedAndBack: what a sequence is as a choice is the sequence again, and counts as many tables.
func TestExpandedAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		in, err := newInstance(p)
		if err != nil {
			return
		}
		x, each := in.expand(nil), make([]float64, len(p.Tables))
		for n := range each {
			each[n] = float64(1 + n)
		}
		counts := x.counts(each)
		for list := range p.sequences() {
			if math.IsInf(p.Cost(list), 1) {
				continue
			}
			alive := cloneBools(list)
			for s := range alive {
				for n := range alive[s] {
					alive[s][n] = list[s][n] && x.at[s][n] >= 0
				}
			}
			open, sum := x.choiceOf(list), 0.0
			for k, is := range open {
				if is {
					sum += counts[k]
				}
			}
			if back := x.sequenceOf(open); !reflect.DeepEqual(back, alive) || sum != countEach(alive, each) {
				t.Fatalf("%v came back as %v, and counts %g, not %g", list, back, sum, countEach(alive, each))
			}
		}
	})
}

// TestThinned: what is left out makes nothing dearer, and leaving out once more changes nothing; what is not within the limits comes back as it is.
func TestThinned(t *testing.T) {
	thinner := 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		list := anySequence(t, p)
		thin, err := DropRedundant(p, list)
		var none *UnsatisfiableError
		if errors.As(err, &none) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		before, after := p.Cost(list), p.Cost(thin)
		if math.IsInf(before, 1) {
			if !reflect.DeepEqual(thin, list) && math.IsInf(after, 1) {
				t.Fatalf("%v was made of %v, which is not within the limits", thin, list)
			}
			return
		}
		again, err := DropRedundant(p, thin)
		if err != nil || !notMore(before, after) || !reflect.DeepEqual(again, thin) {
			t.Fatalf("%g, thinned %g, and once more %v of %v (%v)", before, after, again, thin, err)
		}
		for s := range thin {
			for n, is := range thin[s] {
				if is && !list[s][n] {
					t.Fatalf("table %d at step %d was put in", n, s)
				}
			}
		}
		if !reflect.DeepEqual(thin, list) {
			thinner++
		}
	})
	if thinner == 0 {
		t.Error("nothing was left out")
	}
}

// TestSmoothed: of all ways to give each step one of some designs, which are tried, the cheapest is answered, unless the sequence itself is as good.
func TestSmoothed(t *testing.T) {
	moved := 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		p.Life = 0
		list, more := anySequence(t, p), anySequence(t, p)[:1]
		got, err := Smooth(p, list, more)
		if err != nil {
			return // no table answers something
		}
		in, err := newInstance(p)
		if err != nil {
			t.Fatal(err)
		}
		pool, best := slices.Concat(list, more), p.Cost(list)
		var extend func(begun [][]bool)
		extend = func(begun [][]bool) {
			if len(begun) == len(p.Steps) {
				best = min(best, p.Cost(begun))
				return
			}
			for _, d := range pool {
				dead := false
				for n, is := range d {
					dead = dead || is && in.status[len(begun)][n] == closed // of no use to anything
				}
				if !dead {
					extend(append(slices.Clone(begun), d))
				}
			}
		}
		extend(nil)
		if c := p.Cost(got); !about(c, best) {
			t.Fatalf("%g from %g, and the best of the designs is %g", c, p.Cost(list), best)
		} else if c < p.Cost(list) {
			moved++
		}
	})
	if moved == 0 {
		t.Error("nothing was moved")
	}
}

// TestSmoothedCosts: what designs cost at their steps, and what leads to the first and from each to the next, is together what the sequence of them costs, and not allowed where that is not.
func TestSmoothedCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		p.Life = 0
		in, err := newInstance(p)
		if err != nil {
			return
		}
		s := &smoothing{in: in, paths: newPaths(in.states)}
		for list := range p.sequences() {
			sum, dead := p.InitialCost(list[0]), false
			for k, design := range list {
				for n, is := range design {
					dead = dead || is && in.status[k][n] == closed // of no use to anything
				}
				if sum += s.designCost(k, design); k > 0 {
					c := s.changeBetween(list[k-1], design)
					sum += s.changeCost(k, &c)
				}
			}
			if want := p.Cost(list); !dead && sum != want || dead && !math.IsInf(sum, 1) {
				t.Fatalf("%v costs %g, design by design %g", list, want, sum)
			}
		}
	})
}

// TestMoves: whatever annealing does, and takes back, its sizes and births are those of the present sequence, tables that are settled stay, and held ones are not closed.
func TestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		in, err := newInstance(p)
		if err != nil {
			return
		}
		s := newAnnealing(in, rapid.Uint64().Draw(t, "seed"))
		s.setSequence(anySequence(t, p))
		s.initSpaceRates()
		check := func(what string) {
			for k := range s.open {
				size, born := 0.0, 0
				for n, x := range p.Tables {
					before := x.There
					if k > 0 {
						before = s.open[k-1][n]
					}
					if s.open[k][n] && !before {
						born++
					}
					if s.open[k][n] || p.Overlap && k+1 < len(s.open) && s.open[k+1][n] {
						size += in.size[n]
					}
					if status := in.status[k][n]; status == open && !s.open[k][n] || status == closed && s.open[k][n] {
						t.Fatalf("%s: table %d at step %d is %v, and was settled", what, n, k, s.open[k][n])
					}
					if s.bits[k][0]>>n&1 == 1 != s.open[k][n] {
						t.Fatalf("%s: table %d at step %d has another bit", what, n, k)
					}
				}
				if s.size[k] != size || s.born[k] != born || s.fitsSpace(k) != (p.Steps[k].Space == 0 || size <= p.Steps[k].Space) {
					t.Fatalf("%s: step %d takes %g and %d are born, counted were %g and %d", what, k, size, born, s.size[k], s.born[k])
				}
			}
			if c := p.priceByRuns(s.open); s.broken == 0 && !slices.ContainsFunc([]int{0, 1, 2, 3}[:len(s.open)], func(k int) bool { return !s.fitsSpace(k) }) && !about(s.cost, c) {
				t.Fatalf("%s: %g, by runs %g", what, s.cost, c)
			}
		}
		check("begun")
		for range rapid.IntRange(1, 25).Draw(t, "moves") {
			m := s.mark()
			switch rapid.IntRange(0, 2).Draw(t, "move") {
			case 0:
				s.makeMove(1e3)
			case 1:
				before := cloneBools(s.open)
				s.favourPath()
				held := cloneBools(s.held)
				for _, k := range s.chosen {
					for n, is := range held[k] {
						if s.open[k][n] && !before[k][n] && !is {
							t.Fatalf("table %d at step %d is favoured, and not held", n, k)
						}
					}
				}
				s.makeMove(1e3)
				for k := range held {
					for n, is := range held[k] {
						if is && !s.open[k][n] {
							t.Fatalf("table %d at step %d was held and closed", n, k)
						}
					}
					clear(s.held[k])
				}
			default:
				s.makeMove(1e3)
				s.rollback(m)
			}
			check("moved")
		}
		if s.best != nil && !about(p.priceByRuns(s.best), s.least) {
			t.Fatalf("the best is said to cost %g, by runs %g", s.least, p.priceByRuns(s.best))
		}
	})
}

// TestInterrupted: a solve, and annealing, that are ended in the middle answer the best so far: never dearer than what they began from, with a bound that holds; and what is told on the way falls and rises.
func TestInterrupted(t *testing.T) {
	p := synthetic(3, shape{queries: 3, entities: 4, variants: 2, steps: 6, weights: cycles, share: 0.8})
	whole, err := Solve(context.Background(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	designs := make([][]bool, len(p.Steps))
	smallest, err := choice.MinimiseSize(context.Background(), p.staticProblem(0), choice.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for s := range designs {
		designs[s] = smallest.Open
	}
	begin, cancelled := p.Cost(designs), 0
	for after := range 6 {
		ctx, cancel := context.WithCancel(context.Background())
		said, last := 0, Progress{Cost: math.Inf(1), Bound: math.Inf(-1)}
		r, err := Solve(ctx, p, Options{Start: designs, Progress: func(x Progress) {
			if x.Cost > last.Cost || x.Bound < last.Bound || x.Bound > x.Cost {
				t.Errorf("%+v after %+v", x, last)
			}
			last = x
			if said++; said > after {
				cancel()
			}
		}})
		cancel()
		if err != nil || r.Cost > begin || r.Bound > whole.Cost || r.Cost < whole.Bound-1e-9*whole.Bound || p.Cost(r.Open) != r.Cost {
			t.Errorf("after %d: %+v, %v; it began from %g", after, r, err, begin)
		} else if r.Stopped == StoppedCancelled {
			cancelled++
		}
		open, err := Anneal(ctx, p, AnnealOptions{Start: designs, Changes: 1000, Rounds: after})
		if err != nil || p.Cost(open) > begin {
			t.Errorf("annealed for no time: %g from %g, %v", p.Cost(open), begin, err)
		}
	}
	if cancelled == 0 {
		t.Error("nothing was cancelled in the middle")
	}
	if _, err := Solve(context.Background(), p, Options{Limits: solve.Limits{Wall: time.Nanosecond}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no time: %v", err)
	}
}

// TestStopped: what is not proven says what ended it; a solver that dies is told, and does no harm.
func TestStopped(t *testing.T) {
	p := synthetic(1, shape{queries: 4, entities: 5, variants: 2, steps: 6, weights: cycles, share: 0.6})
	first, err := Solve(context.Background(), p, Options{})
	if err != nil || first.Proven || first.Stopped != StoppedNodes {
		t.Fatalf("%+v, %v", first, err)
	}
	r, err := Solve(context.Background(), p, Options{Solver: dying{}})
	if err != nil || r.Stopped != StoppedFailed || !errors.Is(r.Failure, solve.ErrMemory) || r.Cost != first.Cost {
		t.Errorf("%+v, %v", r, err)
	}
	for _, gap := range []float64{0.3, 0.6} {
		r, err = Solve(context.Background(), p, Options{Limits: solve.Limits{Gap: gap}})
		if err != nil || (r.Stopped == solve.LimitGap) != (r.Cost-r.Bound <= gap*r.Cost) || r.Proven || r.Bound > first.Cost {
			t.Errorf("a gap of %g: between %g and %g, stopped by %q, proven %v (%v)", gap, r.Bound, r.Cost, r.Stopped, r.Proven, err)
		}
	}
	open, failure, err := LocalBranch(context.Background(), p, Neighbourhood{Start: first.Open, Changing: make([]bool, len(p.Tables)), Solver: dying{}})
	if err != nil || !errors.Is(failure, solve.ErrMemory) || !reflect.DeepEqual(open, first.Open) {
		t.Errorf("near it: %v, %v", failure, err)
	}
	if _, err := Relax(context.Background(), p, solve.New(solve.Config{Path: "/nowhere"})); !errors.Is(err, solve.ErrNoSimplex) {
		t.Errorf("relaxed: %v", err)
	}
}

// TestValidate: each fault of a problem is told with the part that has it, by everything that takes a problem.
func TestValidate(t *testing.T) {
	nan, never := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		spoil func(p *Problem)
		words string
	}{
		{func(p *Problem) { p.Steps = nil }, "problem 0: it has no steps"},
		{func(p *Problem) { p.Most = -1 }, "problem 0: Most and Life must not be negative"},
		{func(p *Problem) { p.Life = -1 }, "problem 0: Most and Life must not be negative"},
		{func(p *Problem) { p.Loads = p.Loads[1:] }, "problem 0: 6 loads for 7 tables"},
		{func(p *Problem) { p.Steps[1].Space = -1 }, "step 1: the space must be a number that is not negative"},
		{func(p *Problem) { p.Steps[1].Space = nan }, "step 1: the space"},
		{func(p *Problem) { p.Steps[0].Closed = true }, "step 0: the first step is never closed"},
		{func(p *Problem) { p.Tables[2].Upkeep = nil }, "table 2: upkeep for 0 and birth for 2 of 2 steps"},
		{func(p *Problem) { p.Tables[2].Birth = []float64{1} }, "table 2: upkeep for 2 and birth for 1 of 2 steps"},
		{func(p *Problem) { p.Tables[3].Size = never }, "table 3: size and costs must be numbers that are not negative"},
		{func(p *Problem) { p.Tables[3].Drop = -1 }, "table 3: size and costs"},
		{func(p *Problem) { p.Tables[3].Birth[1] = nan }, "table 3: size and costs"},
		{func(p *Problem) { p.Tables[3].Upkeep[1] = -2 }, "table 3: size and costs"},
		{func(p *Problem) { p.Demands[1].Weights = []float64{1} }, "demand 1: 1 weights for 2 steps"},
		{func(p *Problem) { p.Demands[1].Weights[0] = nan }, "demand 1: 2 weights for 2 steps, or one that is negative or no number"},
		{func(p *Problem) { p.Demands[1].States = 1 }, "demand 1: it needs the states Start and Answered"},
		{func(p *Problem) { p.Demands[0].Needed = []int{7} }, "demand 0: there is no table 7 to need it"},
		{func(p *Problem) { p.Demands[0].Needed = []int{-1} }, "demand 0: there is no table -1 to need it"},
		{func(p *Problem) { p.Demands[0].Arcs[0].From = 3 }, "demand 0: arc 0 leads from 3 to 1, but the states are 3"},
		{func(p *Problem) { p.Demands[0].Arcs[1].To = choice.Source }, "demand 0: arc 1 leads from 0 to 0"},
		{func(p *Problem) { p.Demands[0].Arcs[1].From = choice.Sink }, "demand 0: arc 1 leads from 1 to 2"},
		{func(p *Problem) { p.Demands[0].Arcs[2].Table = 7 }, "demand 0: arc 2 is over table 7, which there is not"},
		{func(p *Problem) { p.Demands[0].Arcs[2].Table = -2 }, "demand 0: arc 2 is over table -2"},
		{func(p *Problem) { p.Demands[0].Arcs[2].Price = -1 }, "demand 0: the price of arc 2 must be a number that is not negative"},
		{func(p *Problem) { p.Loads[4].Arcs[0].Price = never }, "load 4: the price of arc 0"},
		{func(p *Problem) { p.Loads[4].Arcs[1].To = -1 }, "load 4: arc 1 leads from 0 to -1"},
		{func(p *Problem) { p.Loads[4].Arcs = append(p.Loads[4].Arcs, choice.Arc{From: 2, To: 2, Table: cf1}) }, "load 4: its arcs go in a circle"},
	} {
		p := figure1()
		list := [][]bool{tables(cf1, cf5, cf6), tables(cf1, cf5, cf6)}
		c.spoil(p)
		for name, ask := range map[string]func() error{
			"Solve":         func() error { _, err := Solve(context.Background(), p, Options{}); return err },
			"Anneal":        func() error { _, err := Anneal(context.Background(), p, AnnealOptions{Start: list}); return err },
			"DropRedundant": func() error { _, err := DropRedundant(p, list); return err },
			"Smooth":        func() error { _, err := Smooth(p, list, nil); return err },
			"LocalBranch": func() error {
				_, _, err := LocalBranch(context.Background(), p, Neighbourhood{Start: list})
				return err
			},
			"Relax": func() error { _, err := Relax(context.Background(), p, solve.New(solve.Config{})); return err },
		} {
			var invalid *InvalidError
			if err := ask(); !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), "sequence: problem not valid: "+c.words) {
				t.Errorf("%s: %v, want %q", name, err, c.words)
			}
		}
	}
}

// TestTiedSteps: a table that may not change is one for all steps, one that changes in the sequence itself is not, and steps that are alike share theirs.
func TestTiedSteps(t *testing.T) {
	start := [][]bool{{true, false, true}, {true, true, true}, {true, false, true}}
	for _, c := range []struct {
		changing []bool
		alike    []int
		want     [][]int
	}{
		{[]bool{false, false, false}, nil, [][]int{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}}},
		{[]bool{false, false, true}, nil, [][]int{{0, 0, 0}, {0, 1, 1}, {0, 2, 2}}},
		{[]bool{true, true, false}, []int{0, 1, 0}, [][]int{{0, 0, 0}, {1, 1, 0}, {0, 0, 0}}},
	} {
		o := &Neighbourhood{Start: start, Changing: c.changing, Alike: c.alike}
		if got := o.tiedSteps(3); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, %v: %v, want %v", c.changing, c.alike, got, c.want)
		}
	}
}

package choice

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/solve"
)

// TestCost: the definition that everything is held against is what trying all paths says, and the path that it names is to be had for the price that it names.
func TestCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 5)
		for open := range p.choices() {
			if got, want := p.Cost(open), p.priceByPaths(open); got != want {
				t.Fatalf("%v costs %g, by all paths %g", open, got, want)
			}
			for i := range p.Demands {
				path, price := p.Demands[i].CheapestPath(open)
				at, sum := Source, 0.0
				for _, k := range path {
					a := p.Demands[i].Arcs[k]
					if a.From != at || a.Table != None && !open[a.Table] {
						t.Fatalf("demand %d goes by %v over %v", i, path, open)
					}
					at, sum = a.To, sum+a.Price
				}
				if path != nil && (at != Sink || sum != price) || (path == nil) != math.IsInf(price, 1) {
					t.Fatalf("demand %d goes by %v for %g, which is %g", i, path, price, sum)
				}
			}
		}
	})
}

// solved is what Solve comes to without a solver: the least, proven, by a choice that costs as much by all paths; +Inf with the error that there is none.
func solved(t *rapid.T, p *Problem, o Options) float64 {
	r, err := Solve(context.Background(), p, o)
	var tight *SpaceError
	var none *UnsatisfiableError
	switch {
	case errors.As(err, &none), errors.As(err, &tight):
		return math.Inf(1)
	case err != nil:
		t.Fatal(err)
	case !r.Proven || r.Bound != r.Cost || r.Stopped != "" || !about(p.priceByPaths(r.Open), r.Cost):
		t.Fatalf("%+v, and by all paths it costs %g", r, p.priceByPaths(r.Open))
	}
	return r.Cost
}

// TestChangedProblems: what a change of a problem does to its least cost is known without solving either: nothing, a factor, not more, or not less.
func TestChangedProblems(t *testing.T) {
	same := func(before, after float64) bool { return about(after, before) }
	notMore := func(before, after float64) bool { return after <= before || about(after, before) }
	for _, c := range []struct {
		name   string
		change func(t *rapid.T, p *Problem)
		holds  func(before, after float64) bool
	}{
		{"all costs a thousand times as high", func(_ *rapid.T, p *Problem) {
			for n := range p.Tables {
				p.Tables[n].Upkeep *= 1000
			}
			for i := range p.Demands {
				p.Demands[i].Weight *= 1000
			}
		}, func(before, after float64) bool { return about(after, 1000*before) }},
		{"sizes in another unit", func(_ *rapid.T, p *Problem) {
			for n := range p.Tables {
				p.Tables[n].Size *= 1 << 40
			}
			p.Space *= 1 << 40
		}, same},
		{"tables, demands and arcs in another order", func(t *rapid.T, p *Problem) {
			order := make([]int, len(p.Tables))
			for n := range order {
				order[n] = n
			}
			to := rapid.Permutation(order).Draw(t, "to")
			tables := slices.Clone(p.Tables)
			for n, k := range to {
				p.Tables[k] = tables[n]
			}
			p.Demands = rapid.Permutation(p.Demands).Draw(t, "demands")
			for i := range p.Demands {
				d := &p.Demands[i]
				d.Arcs = rapid.Permutation(d.Arcs).Draw(t, "arcs")
				for k, a := range d.Arcs {
					if a.Table != None {
						d.Arcs[k].Table = to[a.Table]
					}
				}
				for k, n := range d.Needed {
					d.Needed[k] = to[n]
				}
			}
		}, same},
		{"a demand in two halves", func(t *rapid.T, p *Problem) {
			i := rapid.IntRange(0, len(p.Demands)-1).Draw(t, "demand")
			p.Demands[i].Weight /= 2
			p.Demands = append(p.Demands, p.Demands[i])
		}, same},
		{"a statement without weight, answered by what is there", func(t *rapid.T, p *Problem) {
			d := Demand{States: 2, Arcs: []Arc{{From: Source, To: Sink, Price: 5, Table: None}}}
			for n := range p.Tables {
				d.Arcs = append(d.Arcs, Arc{From: Source, To: Sink, Price: float64(n), Table: n})
			}
			p.Demands = append(p.Demands, d)
		}, same},
		{"a candidate more", func(t *rapid.T, p *Problem) {
			n := len(p.Tables)
			p.Tables = append(p.Tables, Table{Upkeep: float64(rapid.IntRange(0, 6).Draw(t, "upkeep")), Size: 1})
			for i := range p.Demands {
				d := &p.Demands[i]
				a := d.Arcs[rapid.IntRange(0, len(d.Arcs)-1).Draw(t, "beside")]
				d.Arcs = append(d.Arcs, Arc{From: a.From, To: a.To, Price: float64(rapid.IntRange(0, 9).Draw(t, "price")), Table: n})
				if d.Needed != nil && rapid.Bool().Draw(t, "needs it") {
					d.Needed = append(d.Needed, n)
				}
			}
		}, notMore},
		{"a candidate less", func(t *rapid.T, p *Problem) {
			n := rapid.IntRange(0, len(p.Tables)-1).Draw(t, "without")
			if p.Tables[n].Fixed {
				return
			}
			for i := range p.Demands {
				d := &p.Demands[i]
				d.Arcs = slices.DeleteFunc(d.Arcs, func(a Arc) bool { return a.Table == n })
			}
		}, func(before, after float64) bool { return notMore(after, before) }},
		{"a candidate's copy", func(t *rapid.T, p *Problem) {
			n := rapid.IntRange(0, len(p.Tables)-1).Draw(t, "of")
			twin := len(p.Tables)
			p.Tables = append(p.Tables, p.Tables[n])
			p.Tables[twin].Fixed = false
			for i := range p.Demands {
				d := &p.Demands[i]
				for _, a := range d.Arcs {
					if a.Table == n {
						a.Table = twin
						d.Arcs = append(d.Arcs, a)
					}
				}
				if slices.Contains(d.Needed, n) {
					d.Needed = append(d.Needed, twin)
				}
			}
		}, same},
		{"more space", func(t *rapid.T, p *Problem) { p.Space += p.Space * rapid.Float64Range(0, 2).Draw(t, "more") }, notMore},
		{"one unit of space less", func(_ *rapid.T, p *Problem) {
			if p.Space > 1 {
				p.Space--
			}
		}, func(before, after float64) bool { return notMore(after, before) }},
		{"a state within an arc", func(t *rapid.T, p *Problem) {
			d := &p.Demands[rapid.IntRange(0, len(p.Demands)-1).Draw(t, "demand")]
			k := rapid.IntRange(0, len(d.Arcs)-1).Draw(t, "arc")
			a := d.Arcs[k]
			d.Arcs[k] = Arc{From: a.From, To: d.States, Price: a.Price / 2, Table: None}
			d.Arcs = append(d.Arcs, Arc{From: d.States, To: a.To, Price: a.Price / 2, Table: a.Table})
			d.States++
		}, same},
		{"a dearer arc beside one", func(t *rapid.T, p *Problem) {
			d := &p.Demands[rapid.IntRange(0, len(p.Demands)-1).Draw(t, "demand")]
			a := d.Arcs[rapid.IntRange(0, len(d.Arcs)-1).Draw(t, "arc")]
			a.Price++
			d.Arcs = append(d.Arcs, a)
		}, same},
		{"a unit more of upkeep", func(t *rapid.T, p *Problem) {
			p.Tables[rapid.IntRange(0, len(p.Tables)-1).Draw(t, "table")].Upkeep++
		}, func(before, after float64) bool { return notMore(after, before) && notMore(before+1, after) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := problems(t, 7)
				before := solved(t, p, Options{})
				q := p.clone()
				c.change(t, q)
				if after := solved(t, q, Options{}); !c.holds(before, after) {
					t.Fatalf("%g, and then %g", before, after)
				}
			})
		})
	}
}

// TestLimitBinds: space for everything is as good as no limit, space for the best choice costs as much, and a hair less does not hold it: limits are kept to the last unit.
func TestLimitBinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 6)
		p.Space = 0
		least := solved(t, p, Options{})
		if math.IsInf(least, 1) {
			return
		}
		_, _, size := enumerate(p)
		all := 0.0
		for _, x := range p.Tables {
			all += x.Size
		}
		for _, space := range []float64{size, all} {
			if p.Space = space; space > 0 {
				if got := solved(t, p, Options{}); !about(got, least) {
					t.Fatalf("%g within %g, and %g without a limit", got, space, least)
				}
			}
		}
		if p.Space = size - 0.5; p.Space <= 0 {
			return
		}
		if got, want := solved(t, p, Options{}), p.leastOf(p.priceByPaths); !about(got, want) {
			t.Fatalf("%g within %g, and the least is %g", got, p.Space, want)
		}
	})
}

// TestNothingPaid: where keeping costs nothing and nothing is limited, all is kept that is of use, and the least is what the demands' cheapest paths cost; a best choice that must be kept costs what it cost.
func TestNothingPaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 7)
		p.Space = 0
		r, err := Solve(context.Background(), p, Options{})
		if err != nil {
			return
		}
		fixed := p.clone()
		for n, is := range r.Open {
			fixed.Tables[n].Fixed = is
		}
		if got := solved(t, fixed, Options{}); !about(got, r.Cost) {
			t.Fatalf("%g, and with its tables fixed %g", r.Cost, got)
		}
		want, all := 0.0, slices.Repeat([]bool{true}, len(p.Tables))
		for n := range p.Tables {
			p.Tables[n].Upkeep = 0
		}
		p.Demands = slices.DeleteFunc(p.Demands, func(d Demand) bool { return d.Needed != nil })
		for i := range p.Demands {
			_, price := p.Demands[i].CheapestPath(all)
			want += p.Demands[i].Weight * price
		}
		if got := solved(t, p, Options{}); !about(got, want) {
			t.Fatalf("%g, and the cheapest paths are %g", got, want)
		}
	})
}

// TestSame: the same problem has the same result, to the last figure, with a solver or without.
func TestSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 6)
		for _, o := range []Options{{Ties: true}, {Solver: engine{}, Branching: -1, Ties: true}} {
			first, err := Solve(context.Background(), p.clone(), o)
			again, other := Solve(context.Background(), p.clone(), o)
			if !reflect.DeepEqual(first, again) || (err == nil) != (other == nil) {
				t.Fatalf("%+v, then %+v (%v, %v)", first, again, err, other)
			}
		}
	})
}

// TestTies: of the choices of the least cost, what is said to be one of the fewest tables, and of those the smallest, is one: also where the least is nothing, and if the solver has to find it.
func TestTies(t *testing.T) {
	met, said := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 5)
		if rapid.Bool().Draw(t, "for nothing") {
			for n := range p.Tables {
				p.Tables[n].Upkeep = 0
			}
			for i := range p.Demands {
				p.Demands[i].Weight = 0
			}
		}
		least, count, size := enumerate(p)
		if math.IsInf(least, 1) {
			return
		}
		for _, o := range []Options{{Ties: true}, {Ties: true, Solver: engine{}, Branching: -1}} {
			r, err := Solve(context.Background(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			met++
			if k, s := p.countTables(r.Open); r.Fewest && (k != count || s != size) || !about(r.Cost, least) {
				t.Fatalf("%d tables of %g for %g; the least is %g, with %d of %g", k, s, r.Cost, least, count, size)
			}
			if r.Fewest {
				said++
			}
		}
	})
	if said*10 < met*9 {
		t.Errorf("of %d answers %d are said to be of the fewest tables", met, said)
	}
}

// interrupted are problems whose proof takes a while, with the least that a choice costs.
func interrupted(t *testing.T) (list []*Problem, least []float64) {
	for seed := range uint64(4) {
		p := cover(rand.New(rand.NewPCG(seed, 5)))
		if seed%2 == 1 { // sizes of all kinds, and a limit that binds
			for n := range p.Tables {
				p.Tables[n].Size = float64(1 + n*n%17)
			}
			p.Space = 120
		}
		r, err := Solve(context.Background(), p, Options{Solver: solve.New(solve.Config{})})
		if err != nil || !r.Proven {
			t.Fatalf("seed %d: %+v, %v", seed, r, err)
		}
		list, least = append(list, p), append(least, r.Cost)
	}
	return list, least
}

// TestInterrupted: a solve that is ended in the middle answers the best so far: within all limits, never dearer than what it began from, and with a bound that holds; and says that it was cancelled.
func TestInterrupted(t *testing.T) {
	list, least := interrupted(t)
	cancelled := 0
	for i, p := range list {
		for after := range 12 {
			ctx, cancel := context.WithCancel(context.Background())
			said := 0
			o := Options{Progress: func(x Progress) {
				if x.Bound > least[i]*(1+1e-9) || x.Cost < least[i]*(1-1e-9) || x.Bound > x.Cost {
					t.Errorf("problem %d: between %g and %g, and the least is %g", i, x.Bound, x.Cost, least[i])
				}
				if said++; said > after {
					cancel()
				}
			}}
			if after%2 == 0 {
				o.Start = slices.Repeat([]bool{true}, len(p.Tables))
			}
			r, err := Solve(ctx, p, o)
			cancel()
			switch {
			case err != nil && errors.Is(err, context.Canceled) && (o.Start == nil || math.IsInf(p.Cost(o.Start), 1)):
				continue
			case err != nil:
				t.Fatalf("problem %d, after %d: %v", i, after, err)
			case o.Start != nil && r.Cost > p.Cost(o.Start), r.Bound > least[i]*(1+1e-9), !about(p.priceByPaths(r.Open), r.Cost), r.Cost < least[i]*(1-1e-9):
				t.Errorf("problem %d, after %d: %+v, and the least is %g", i, after, r, least[i])
			case !r.Proven && said > after && r.Stopped != StoppedCancelled:
				t.Errorf("problem %d, after %d: stopped by %q", i, after, r.Stopped)
			case r.Stopped == StoppedCancelled:
				cancelled++
			}
		}
	}
	if cancelled < 10 {
		t.Errorf("only %d were cancelled in the middle", cancelled)
	}
}

// TestProgress: costs that are told fall, and bounds rise, up to those of the result.
func TestProgress(t *testing.T) {
	list, _ := interrupted(t)
	for i, p := range list {
		last := Progress{Cost: math.Inf(1), Bound: math.Inf(-1)}
		r, err := Solve(context.Background(), p, Options{Progress: func(x Progress) {
			if x.Cost > last.Cost || x.Bound < last.Bound || x.Elapsed < last.Elapsed {
				t.Errorf("problem %d: %+v after %+v", i, x, last)
			}
			last = x
		}})
		if err != nil || r.Cost > last.Cost || r.Bound < last.Bound-1e-9 || math.IsInf(last.Cost, 1) {
			t.Errorf("problem %d: %+v after %+v, %v", i, r, last, err)
		}
	}
}

// dying is a solver whose process dies.
type dying struct{}

func (dying) Solve(context.Context, *solve.Problem, solve.Limits) (*solve.Solution, error) {
	return nil, &solve.WorkerError{What: "died", Err: solve.ErrMemory}
}

// TestStopped: what is not proven says what ended it, and keeps a gap that was asked for; what is proven says nothing.
func TestStopped(t *testing.T) {
	list, least := interrupted(t)
	for _, c := range []struct {
		name    string
		options Options
		stopped string
		failed  bool
	}{
		{"to the end", Options{}, "", false},
		{"a gap", Options{Limits: solve.Limits{Gap: 0.5}}, solve.LimitGap, false},
		{"no branching", Options{Branching: -1}, StoppedNodes, false},
		{"a solver without nodes", Options{Branching: -1, Solver: solve.New(solve.Config{}), Limits: solve.Limits{Nodes: 1}}, "", false},
		{"a solver that dies", Options{Branching: -1, Solver: dying{}}, StoppedFailed, true},
	} {
		p, want := list[0], least[0]
		r, err := Solve(context.Background(), p, c.options)
		if err != nil {
			t.Fatal(c.name, err)
		}
		ok := r.Stopped == c.stopped || c.name == "a solver without nodes" && (r.Proven || r.Stopped == solve.LimitNodes)
		if !ok || (r.Failure != nil) != c.failed || r.Proven != (r.Stopped == "") || r.Bound > want || r.Cost < want {
			t.Errorf("%s: %+v, want it stopped by %q", c.name, r, c.stopped)
		}
		if gap := c.options.Limits.Gap; gap > 0 && r.Cost-r.Bound > gap*r.Cost {
			t.Errorf("%s: between %g and %g", c.name, r.Bound, r.Cost)
		}
	}
	for _, o := range []Options{{Limits: solve.Limits{Wall: time.Nanosecond}}, {Limits: solve.Limits{Wall: time.Nanosecond}, Ties: true}} {
		if r, err := Solve(context.Background(), list[0], o); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no time: %+v, %v", r, err)
		}
	}
}

// TestImpossible: that there is no choice is said if and only if there is none, and which demand, or how much space, it is for want of.
func TestImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 6)
		least := p.leastOf(p.priceByPaths)
		_, err := Solve(context.Background(), p, Options{})
		if (err != nil) != math.IsInf(least, 1) {
			t.Fatalf("%v, and the least is %g", err, least)
		}
		without := p.clone()
		without.Space = 0
		var none *UnsatisfiableError
		var tight *SpaceError
		switch {
		case errors.As(err, &none):
			if !strings.Contains(err.Error(), "can not be satisfied") || !math.IsInf(without.leastOf(without.priceByPaths), 1) {
				t.Fatalf("%v, and with all space there is one", err)
			}
			without.Demands = slices.Delete(without.Demands, none.Demand, none.Demand+1)
			if _, err := Solve(context.Background(), without, Options{}); errors.As(err, &none) {
				return // another one, too
			} else if err != nil {
				t.Fatalf("without it: %v", err)
			}
		case errors.As(err, &tight):
			smallest := without.leastOf(func(open []bool) float64 {
				if math.IsInf(without.priceByPaths(open), 1) {
					return math.Inf(1)
				}
				_, size := p.countTables(open)
				return size
			})
			if tight.Smallest != smallest || tight.Space != p.Space || !strings.Contains(err.Error(), "is needed") {
				t.Fatalf("%v, and the smallest is %g", err, smallest)
			}
			p.Space = tight.Smallest
			if math.IsInf(solved(t, p, Options{}), 1) {
				t.Fatalf("%g does not do", tight.Smallest)
			}
		}
	})
}

// TestGreedy: each choice that takes no search answers everything, and the dearer space is the less the last ones take; none is better than the best.
func TestGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 7)
		unlimited := p.clone()
		unlimited.Space = 0
		least, list := unlimited.leastOf(unlimited.priceByPaths), Greedy(p)
		if (len(list) == 0) != math.IsInf(least, 1) {
			t.Fatalf("%d choices, and the least is %g", len(list), least)
		}
		for _, open := range list {
			if c := unlimited.priceByPaths(open); math.IsInf(c, 1) || c < least {
				t.Fatalf("%v costs %g, and the least is %g", open, c, least)
			}
		}
		if len(list) > 0 {
			_, first := p.countTables(list[0])
			smallest, err := MinimiseSize(context.Background(), unlimited, Options{})
			if _, last := p.countTables(list[len(list)-1]); err != nil || last > first || smallest.Cost > last {
				t.Fatalf("%g, then %g, and the smallest is %+v (%v)", first, last, smallest, err)
			}
		}
	})
}

// TestStart: a start that costs as little as any is kept or equalled, whatever little else is done; one that is no choice is no harm.
func TestStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 7)
		least := p.leastOf(p.priceByPaths)
		start := rapid.SliceOfN(rapid.Bool(), len(p.Tables), len(p.Tables)).Draw(t, "start")
		r, err := Solve(context.Background(), p, Options{Start: start, Branching: -1, Searching: 1})
		if err != nil {
			if !math.IsInf(p.priceByPaths(start), 1) {
				t.Fatalf("%v, and the start costs %g", err, p.priceByPaths(start))
			}
			return
		}
		if r.Cost > p.priceByPaths(start) || !about(p.priceByPaths(r.Open), r.Cost) || r.Bound > least+1e-7*(1+least) || r.Cost < least {
			t.Fatalf("%+v from %g, and the least is %g", r, p.priceByPaths(start), least)
		}
	})
}

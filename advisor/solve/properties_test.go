package solve

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// points are all values of a problem whose columns are all integer and bounded, each in the same slice.
func points(p *Problem) func(yield func([]float64) bool) {
	values := make([]float64, len(p.Columns))
	return func(yield func([]float64) bool) {
		var try func(j int) bool
		try = func(j int) bool {
			if j == len(values) {
				return yield(values)
			}
			for v := p.Columns[j].Lower; v <= p.Columns[j].Upper; v++ {
				if values[j] = v; !try(j + 1) {
					return false
				}
			}
			return true
		}
		try(0)
	}
}

// narrowed draws bounds within those of a column.
func narrowed(t *rapid.T, d *domains) (column int, lower, upper float64) {
	column = rapid.IntRange(0, len(d.lower)-1).Draw(t, "column")
	from, to := int(d.lower[column]), int(d.upper[column])
	from = rapid.IntRange(from, to).Draw(t, "lower")
	return column, float64(from), float64(rapid.IntRange(from, to).Draw(t, "upper"))
}

// TestPropagation: narrowing never takes a solution away that was within the bounds, "no solution is left" is so, and sums and the floor are those of what is left; undone, all is as it was.
func TestPropagation(t *testing.T) {
	ended, narrower := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		d := newDomains(p)
		check := func() {
			fresh := &Problem{Columns: slices.Clone(p.Columns), Rows: p.Rows}
			for j := range fresh.Columns {
				fresh.Columns[j].Lower, fresh.Columns[j].Upper = d.lower[j], d.upper[j]
			}
			want := newDomains(fresh)
			if math.Abs(d.floor-want.floor) > 1e-9 || d.infinite != want.infinite || math.Abs(d.floor-fresh.Floor()) > 1e-9 {
				t.Fatalf("the floor is %g, anew %g", d.floor, want.floor)
			}
			for i := range d.rows {
				if a, b := d.rows[i], want.rows[i]; math.Abs(a.least-b.least) > 1e-9 || math.Abs(a.greatest-b.greatest) > 1e-9 {
					t.Fatalf("row %d comes to %+v, anew %+v", i, a, b)
				}
			}
		}
		lower, upper := slices.Clone(d.lower), slices.Clone(d.upper)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			mark := len(d.trail)
			began, end := slices.Clone(d.lower), slices.Clone(d.upper)
			j, low, high := narrowed(t, d)
			d.narrowColumn(j, low, high)
			left := false
			within := func(values []float64, lower, upper []float64) bool {
				for k, v := range values {
					if v < lower[k] || v > upper[k] {
						return false
					}
				}
				return true
			}
			asked, until := slices.Clone(d.lower), slices.Clone(d.upper)
			possible := d.propagate()
			for values := range points(p) {
				if p.Check(values) != nil || !within(values, asked, until) {
					continue
				}
				if left = true; possible && !within(values, d.lower, d.upper) {
					t.Fatalf("%v was taken away: from %v to %v", values, d.lower, d.upper)
				}
			}
			if !possible {
				if ended++; left {
					t.Fatal("nothing is left, it says")
				}
				d.undoTo(mark)
				if !slices.Equal(d.lower, began) || !slices.Equal(d.upper, end) {
					t.Fatalf("undone it is from %v to %v, and was from %v to %v", d.lower, d.upper, began, end)
				}
			} else if !slices.Equal(d.lower, asked) || !slices.Equal(d.upper, until) {
				narrower++
			}
			check()
		}
		if d.undoTo(0); !slices.Equal(d.lower, lower) || !slices.Equal(d.upper, upper) || len(d.queue) > 0 || slices.Contains(d.queued, true) {
			t.Fatalf("undone it is from %v to %v, and was from %v to %v", d.lower, d.upper, lower, upper)
		}
		check()
	})
	if ended < 3 || narrower < 3 {
		t.Errorf("%d narrowings left nothing, %d narrowed more", ended, narrower)
	}
}

// TestChangedProblems: what a change of a problem does to its optimum is known beforehand. Linear programs only, by the simplex method, as branching is held against all points elsewhere.
func TestChangedProblems(t *testing.T) {
	same := func(before, after float64) bool { return close6(before, after) }
	notMore := func(before, after float64) bool { return after <= before+1e-6 }
	for _, c := range []struct {
		name   string
		change func(t *rapid.T, p *Problem)
		holds  func(before, after float64) bool
	}{
		{"costs a thousandth as high", func(_ *rapid.T, p *Problem) {
			for j := range p.Columns {
				p.Columns[j].Cost /= 1024
			}
		}, func(before, after float64) bool { return close6(before/1024, after) }},
		{"rows in another unit", func(t *rapid.T, p *Problem) {
			for i := range p.Rows {
				r := &p.Rows[i]
				r.Lower, r.Upper, r.Terms = 8*r.Lower, 8*r.Upper, slices.Clone(r.Terms)
				for k := range r.Terms {
					r.Terms[k].Coefficient *= 8
				}
			}
		}, same},
		{"rows turned round", func(t *rapid.T, p *Problem) {
			for i := range p.Rows {
				r := &p.Rows[i]
				r.Lower, r.Upper, r.Terms = -r.Upper, -r.Lower, slices.Clone(r.Terms)
				for k := range r.Terms {
					r.Terms[k].Coefficient *= -1
				}
			}
		}, same},
		{"rows in another order", func(t *rapid.T, p *Problem) { p.Rows = rapid.Permutation(p.Rows).Draw(t, "rows") }, same},
		{"a row twice", func(t *rapid.T, p *Problem) { p.Rows = append(p.Rows, p.Rows...) }, same},
		{"a row less", func(t *rapid.T, p *Problem) { p.Rows = p.Rows[:max(0, len(p.Rows)-1)] }, notMore},
		{"more room in a column", func(t *rapid.T, p *Problem) {
			p.Columns[rapid.IntRange(0, len(p.Columns)-1).Draw(t, "column")].Upper++
		}, notMore},
		{"a column more", func(t *rapid.T, p *Problem) {
			p.Columns = append(p.Columns, Column{Cost: -1, Upper: 1})
			for i := range p.Rows {
				p.Rows[i].Terms = append(slices.Clone(p.Rows[i].Terms), Term{len(p.Columns) - 1, 1})
			}
		}, notMore},
		{"a column that costs a unit more", func(t *rapid.T, p *Problem) {
			p.Columns[rapid.IntRange(0, len(p.Columns)-1).Draw(t, "column")].Cost++
		}, func(before, after float64) bool { return notMore(after, before) && after <= before+2+1e-6 }}, // of which there are two at most
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := problems(t)
				q := &Problem{Columns: slices.Clone(p.Columns), Rows: slices.Clone(p.Rows)}
				c.change(t, q)
				least := func(p *Problem) float64 {
					r, err := Exact.Relax(p)
					if err != nil {
						t.Fatal(err)
					}
					if r.Status == Infeasible {
						return inf(1)
					}
					return r.Objective
				}
				if before, after := least(p), least(q); !c.holds(before, after) {
					t.Fatalf("%g, and then %g", before, after)
				}
			})
		})
	}
}

// TestBounds: from below come the bounds of the columns, then the relaxation; from above the heuristic, and a start, which never makes it worse.
func TestBounds(t *testing.T) {
	started := 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		best, feasible := bruteForce(p)
		r, err := Exact.Relax(p)
		if err != nil || r.Status == Infeasible && feasible || r.Status == Optimal && (r.Objective > best+1e-6 || p.Floor() > r.Objective+1e-6) {
			t.Fatalf("%g by the columns, %+v relaxed, and the optimum is %g (%v)", p.Floor(), r, best, err)
		}
		if !feasible {
			return
		}
		plain, err := Heuristic{}.Solve(context.Background(), p, Limits{})
		if err != nil || plain.Objective < best-1e-9 {
			t.Fatalf("%+v, and the optimum is %g (%v)", plain, best, err)
		}
		p.Start = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 0.5}), len(p.Columns), len(p.Columns)).Draw(t, "start")
		s, err := Heuristic{}.Solve(context.Background(), p, Limits{})
		if err != nil || s.Objective < best-1e-9 || p.Check(p.Start) == nil && s.Objective > p.Objective(p.Start)+1e-9 {
			t.Fatalf("%+v from %v, and the optimum is %g (%v)", s, p.Start, best, err)
		}
		if p.Check(p.Start) == nil {
			started++
		}
	})
	if started == 0 { // of 100 there are 4 to 20, by the seed
		t.Errorf("only %d starts were feasible", started)
	}
}

// TestSnap: what is a hair off an integer is snapped to it if that holds, else nothing is touched; snapping twice is snapping once.
func TestSnap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		values := make([]float64, len(p.Columns))
		for j, c := range p.Columns {
			values[j] = float64(rapid.IntRange(0, int(c.Upper)).Draw(t, "value")) + rapid.SampledFrom([]float64{0, 1e-8, -1e-8, 0.4}).Draw(t, "off by")
		}
		before := slices.Clone(values)
		snapped := p.Snap(values)
		if !slices.Equal(values, before) || !slices.Equal(p.Snap(snapped), snapped) {
			t.Fatalf("%v became %v, snapped %v, again %v", before, values, snapped, p.Snap(snapped))
		}
		if slices.Equal(snapped, values) {
			return
		}
		for j, v := range snapped {
			if v != math.Round(v) || math.Abs(v-values[j]) > 0.5 || math.Signbit(v) && v == 0 {
				t.Fatalf("%v was snapped to %v", values, snapped)
			}
		}
		if err := p.Check(snapped); err != nil {
			t.Fatalf("%v was snapped to %v: %v", values, snapped, err)
		}
	})
}

// TestTrivial: what has no row with a term is answered as all points say, and anything else is left to the engines.
func TestTrivial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		terms := slices.ContainsFunc(p.Rows, func(r Row) bool { return len(r.Terms) > 0 })
		if rapid.Bool().Draw(t, "without terms") {
			for i := range p.Rows {
				p.Rows[i].Terms = nil
			}
			terms = false
		}
		s := solveTrivial(p)
		best, feasible := bruteForce(p)
		switch {
		case s == nil && terms:
		case s == nil:
			t.Fatal("no answer")
		case s.Status == Infeasible && !feasible:
		case s.Status != Optimal || !feasible || !close6(s.Objective, best) || p.Check(s.Values) != nil:
			t.Fatalf("%+v, and the optimum is %g", s, best)
		}
	})
}

// TestScale: costs are brought near 10,000 by a power of two, if they are far from it, so that scaling rounds nothing.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Problem{}
		for range rapid.IntRange(0, 4).Draw(t, "columns") {
			p.Columns = append(p.Columns, Column{Cost: rapid.Float64Range(-1, 1).Draw(t, "cost") * math.Pow(10, float64(rapid.IntRange(-15, 19).Draw(t, "power")))})
		}
		largest := 0.0
		for _, c := range p.Columns {
			largest = max(largest, math.Abs(c.Cost))
		}
		scale := p.Scale()
		fraction, _ := math.Frexp(scale)
		switch v := largest * scale; {
		case fraction != 0.5:
			t.Fatalf("%g is no power of two", scale)
		case largest == 0 && scale != 1, scale == 1 && largest > 0 && (v < 1<<10 || v > 1<<30):
			t.Fatalf("%g by %g", largest, scale)
		case scale != 1 && largest > 1e-290 && (v < 1<<13 || v > 1<<14), v > 1<<30:
			t.Fatalf("%g by %g is %g", largest, scale, v)
		}
	})
}

// TestNewSolution: objective, bound and gap of each status, counted by hand.
func TestNewSolution(t *testing.T) {
	p := &Problem{Columns: []Column{{Cost: 4, Upper: 9}, {Cost: -1, Upper: 9}}}
	for _, c := range []struct {
		name                  string
		status                Status
		values                []float64
		bound                 float64
		objective, least, gap float64
	}{
		{"optimal: the bound is the objective", Optimal, []float64{2, 0}, 1, 8, 8, 0},
		{"stopped in between", Stopped, []float64{2, 0}, 6, 8, 6, 0.25},
		{"stopped, and the bound is beyond", Stopped, []float64{2, 0}, 9, 8, 8, 0},
		{"stopped, and nothing is known", Stopped, []float64{2, 0}, inf(-1), 8, inf(-1), inf(1)},
		{"stopped with nothing", Stopped, nil, 6, inf(1), 6, inf(1)},
		{"below zero", Stopped, []float64{0, 8}, -10, -8, -10, 0.2},
		{"on either side", Unproven, []float64{1, 0}, -4, 4, -4, 2},
		{"none", Infeasible, nil, 0, inf(1), inf(1), 0},
		{"without end", Unbounded, nil, 0, inf(-1), inf(-1), 0},
	} {
		s := NewSolution(p, c.status, c.values, c.bound, EngineCBC)
		if s.Objective != c.objective || s.Bound != c.least || s.Gap != c.gap || s.Status != c.status || s.Engine != EngineCBC || s.Limit != "" {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// TestRounding: how bounds of an integer column are rounded inwards, and which steps of a continuous one are too small to be taken.
func TestRounding(t *testing.T) {
	p := &Problem{Columns: []Column{{Upper: 10, Integer: true}, {Upper: 10}, {Lower: inf(-1), Upper: inf(1)}}}
	for _, c := range []struct {
		column    int
		low, high float64
		want      [2]float64
	}{
		{0, 0.2, 3.8, [2]float64{1, 3}},
		{0, 1 + 1e-9, 3 - 1e-9, [2]float64{1, 3}}, // a hair off is rounding
		{0, 2.2, 2.8, [2]float64{3, 2}},           // nothing is left
		{1, 2, 7, [2]float64{2, 7}},
		{1, 1e-4, 10 - 1e-4, [2]float64{0, 10}}, // hardly narrower
		{1, 4 + 1e-9, 4, [2]float64{4, 4}},      // crossed by rounding
		{1, 5, 4, [2]float64{5, 4}},             // crossed for good
		{2, -1e9, 1e9, [2]float64{-1e9, 1e9}},   // any bound is news
	} {
		d := newDomains(p)
		if low, high := d.roundBounds(c.column, c.low, c.high); low != c.want[0] || high != c.want[1] {
			t.Errorf("[%g, %g] of column %d is [%g, %g], want %v", c.low, c.high, c.column, low, high, c.want)
		}
	}
}

// TestDomainsWithoutEnd: columns without bounds make a row's sum infinite, and the floor; a row with one such column bounds it.
func TestDomainsWithoutEnd(t *testing.T) {
	p := &Problem{
		Columns: []Column{{Cost: 1, Lower: inf(-1), Upper: inf(1)}, {Upper: 4, Integer: true}},
		Rows:    []Row{row("both", 6, 9, 1, 1), row("one", inf(-1), 3, 0, 1)},
	}
	d := newDomains(p)
	if d.infinite != 1 || d.rows[0].leastInfinite != 1 || d.rows[0].greatestInfinite != 1 {
		t.Fatalf("%+v", d)
	}
	d.queue, d.queued[0], d.queued[1] = []int{0, 1}, true, true
	if !d.propagate() || d.lower[0] != 3 || d.upper[0] != 9 || d.upper[1] != 3 || d.infinite != 0 || d.floor != 3 {
		t.Errorf("from %v to %v, at least %g", d.lower, d.upper, d.floor)
	}
	if d.undoTo(0); d.infinite != 1 || !math.IsInf(d.upper[0], 1) || d.rows[0].greatestInfinite != 1 {
		t.Errorf("undone: %+v", d)
	}
	narrow := &Problem{Columns: []Column{binary("a", 1), binary("b", 1)}, Rows: []Row{row("", 2, 2, 1, 1), row("", inf(-1), 1, 1, 1)}}
	if _, possible := searchSolution(context.Background(), narrow, 1000); possible {
		t.Error("two of which one may be")
	}
}

// TestRoomy: columns that only make room are those that every row wants greater, and integer, and with an end.
func TestRoomy(t *testing.T) {
	p := &Problem{
		Columns: []Column{binary("makes room", 1), binary("takes it", 1), binary("both", 1), binary("in no row", 1), {"without end", 1, 0, inf(1), true}, {"no integer", 1, 0, 1, false}},
		Rows:    []Row{row("", 1, inf(1), 1, -1, 1, 0, 1, 1), row("", inf(-1), 0, -1, 1, 1)},
	}
	columns, values := roomyColumns(p, newDomains(p))
	if !slices.Equal(columns, []int{0}) || values[0] != 1 {
		t.Errorf("%v at %v", columns, values)
	}
	order := columnsByWeight(&Problem{Columns: []Column{binary("", 1), {Cost: 9, Upper: 1}, binary("", -3), binary("", 1)}}, costOf)
	if !slices.Equal(order, []int{2, 0, 3, 1}) { // integers first, the dearest first, the rest as they come
		t.Errorf("%v", order)
	}
}

// TestSameAgain: the heuristic and the simplex method answer the same to the same.
func TestSameAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		first, err := Heuristic{}.Solve(context.Background(), p, Limits{})
		again, other := Heuristic{}.Solve(context.Background(), p, Limits{})
		if !reflect.DeepEqual(first, again) || err != nil || other != nil {
			t.Fatalf("%+v, then %+v (%v, %v)", first, again, err, other)
		}
		relaxed, err := Exact.Relax(p)
		twice, other := Exact.Relax(p)
		if !reflect.DeepEqual(relaxed, twice) || err != nil || other != nil {
			t.Fatalf("%+v, then %+v (%v, %v)", relaxed, twice, err, other)
		}
	})
}

// ending is an engine during which the caller's context ends.
type ending struct {
	fake
	cancel func()
}

func (e ending) Solve(ctx context.Context, p *Problem, limits Limits, preprocess bool, start []float64, watch func(Progress)) (*Solution, error) {
	e.cancel()
	return e.fake.Solve(ctx, p, limits, preprocess, start, watch)
}

// TestStartComesFirst: the engine is given a feasible start, which was sent ahead, or none where there is none; what can not be is answered without it.
func TestStartComesFirst(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var ahead *Solution
	s, err := solveHere(ctx, ending{cancel: cancel}, &request{Problem: *cover()}, func(s *Solution) error { ahead = s; return nil }, func(Progress) {})
	if err != nil || ahead == nil || ctx.Err() == nil || !slices.Equal(s.Values, ahead.Values) || ahead.Objective != 4 || ahead.Status != Unproven {
		t.Errorf("%+v after %+v, %v", s, ahead, err)
	}
	lost := errors.New("the parent is gone")
	if _, err := solveHere(context.Background(), fake{}, &request{Problem: *cover()}, func(*Solution) error { return lost }, func(Progress) {}); !errors.Is(err, lost) {
		t.Errorf("nobody hears it: %v", err)
	}
	impossible := &Problem{Columns: []Column{binary("x", 1)}, Rows: []Row{row("", 2, 3, 1)}}
	if s, err := solveHere(context.Background(), nil, &request{Problem: *impossible}, nil, nil); err != nil || s.Status != Infeasible {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestHeuristicIsStopped: a heuristic that is stopped in the middle answers what it has as cancelled, or says that it has nothing.
func TestHeuristicIsStopped(t *testing.T) {
	p := warehouse(6, 10)
	full, err := Heuristic{}.Solve(context.Background(), p, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for effort := 1; effort < 1<<22; effort *= 8 {
		values, feasible := searchSolution(context.Background(), p, effort)
		if !feasible || values != nil && (p.Check(values) != nil || p.Objective(values) < full.Objective*0.9) {
			t.Errorf("after %d: %v, feasible %v", effort, values, feasible)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if values, feasible := searchSolution(ctx, p, heuristicEffort); !feasible || values != nil {
		t.Errorf("cancelled before: %v", values)
	}
}

// TestErrors: errors name what is concerned, by number, and by name where there is one; a worker's with its last words, and its cause within.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&InvalidError{"column", 3, "", "bad"}, "solve: problem not valid: column 3: bad"},
		{&InvalidError{"row", 3, "sum", "bad"}, `solve: problem not valid: row 3 ("sum"): bad`},
		{&InfeasibleError{Part: "column", Index: 1, Value: 0.5, Upper: 1, Fraction: true}, "solve: values not feasible: column 1 is 0.5 and must be an integer"},
		{&InfeasibleError{Part: "row", Index: 2, Name: "sum", Value: 7, Lower: 1, Upper: 3}, `solve: values not feasible: row 2 ("sum") is 7 and must lie in [1, 3]`},
		{&WorkerError{Path: "/bin/x", What: "died", Err: ErrMemory}, "solve: worker /bin/x: died: solve: out of memory"},
		{&WorkerError{Path: "/bin/x", What: "died", Words: "help", Err: ErrMemory}, "solve: worker /bin/x: died: solve: out of memory; it last said: help"},
		{&MissingError{"", "it is gone"}, "no exact solver: it is gone"},
		{&MissingError{"/bin/x", "is none"}, "no exact solver: /bin/x is none"},
	} {
		if c.err.Error() != c.want {
			t.Errorf("%q, want %q", c.err, c.want)
		}
	}
	if !errors.Is(&WorkerError{Err: ErrMemory}, ErrMemory) || !errors.Is(&MissingError{}, ErrNoSimplex) {
		t.Error("a cause is lost")
	}
	for words, want := range map[string]error{"std::bad_alloc": ErrMemory, "fatal error: out of memory": ErrMemory, "goodbye": errWorker} {
		if got := causeOfDeath(errWorker, nil, words); !errors.Is(got, want) {
			t.Errorf("%q: %v", words, got)
		}
	}
	if got := causeOfDeath(nil, errWorker, ""); !errors.Is(got, errWorker) {
		t.Errorf("it ended well, but said nothing: %v", got)
	}
	for said, want := range map[string]string{"old": `speaks "old"`, "": "is no solver"} {
		if got := (&strangerError{said}).missingError("/bin/x", "", nil).Error(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

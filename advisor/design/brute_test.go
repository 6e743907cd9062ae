package design_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// trials is how many random instances to try: n, or HELENUS_TEST_ROUNDS times as many (20 for the 2,000 of the issue).
func trials(n int) int {
	if f, err := strconv.Atoi(os.Getenv("HELENUS_TEST_ROUNDS")); err == nil && f > 0 {
		return n * f
	}
	return n
}

// instance makes a small workload and some of its candidates, those of each statement's cheapest plans among them as luck
// will have it.
func instance(seed uint64) (*workload.Workload, []*model.Table) {
	r := rand.New(rand.NewPCG(seed, 30))
	w := generate.Workload(generate.Shape{Entities: 2 + r.IntN(2), Queries: 1 + r.IntN(2), Updates: r.IntN(2), Inserts: 1 + r.IntN(2), Attributes: 3, Count: 1000, Degree: 2, Rewire: 0.1, Walk: 2, Conditions: 2, Range: 0.3, Order: 0.2}, seed)
	pool := enumerate.Workload(w, enumerate.Options{Collections: true}).Tables
	pool = slices.Clone(pool)
	r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return w, pool[:min(len(pool), 5+r.IntN(3))]
}

// TestSmallInstances: the design costs what the best of all sets of tables costs, by plans alone; some with a limit on
// space, and the error then names the smallest set.
func TestSmallInstances(t *testing.T) {
	solved, none, tight, nested := 0, 0, 0, 0
	m := cost.Default()
	for seed := range trials(100) {
		w, pool := instance(uint64(seed))
		limit := 0.0
		if seed%3 == 0 {
			for _, x := range pool {
				limit += x.Bytes() / 3
			}
		}
		least, smallest := math.Inf(1), math.Inf(1)
		for mask := range 1 << len(pool) {
			var tables []*model.Table
			size := 0.0
			for i, x := range pool {
				if mask&(1<<i) != 0 {
					tables = append(tables, x)
					size += x.Bytes()
				}
			}
			if c := work(w, m, tables); !math.IsInf(c, 1) {
				smallest = min(smallest, size)
				if limit == 0 || size <= limit*(1+1e-12) {
					least = min(least, c)
				}
			}
		}
		d, err := design.Choose(context.Background(), w, design.Options{Solver: solver(), Cost: m, Candidates: pool, NoEnumeration: true, SpaceLimit: limit})
		var space *design.SpaceError
		switch {
		case math.IsInf(smallest, 1):
			if err == nil {
				t.Fatalf("N-4: seed %d: a design of %g where there is none", seed, d.After)
			}
			none++
		case math.IsInf(least, 1):
			if !errors.As(err, &space) || math.Abs(space.Smallest-smallest) > 1e-9*smallest || !space.Proven {
				t.Fatalf("N-4: seed %d: %v, the smallest set takes %g", seed, err, smallest)
			}
			tight++
		case err != nil:
			t.Fatalf("N-4: seed %d: %v, but %g is possible", seed, err, least)
		default:
			if math.Abs(d.After-least) > 1e-9*(1+least) || !d.Proven || !d.Fewest {
				t.Fatalf("N-4: seed %d: designed %g (proven %v, fewest %v), the best of all sets is %g", seed, d.After, d.Proven, d.Fewest, least)
			}
			solved++
			if slices.ContainsFunc(d.Tables, func(x *design.Table) bool { return len(x.Table.Nests) > 0 }) {
				nested++
			}
		}
	}
	t.Logf("%d solved, %d of them with collections, %d without an answer, %d without space", solved, nested, none, tight)
	if nested == 0 {
		t.Error("B-7: no design has a collection")
	}
	if solved*4 < trials(100) {
		t.Errorf("only %d instances have an answer", solved)
	}
}

// TestShuffled: statements in another order cost the same.
func TestShuffled(t *testing.T) {
	for seed := range trials(2) {
		w := generate.Workload(generate.Shape{Entities: 4, Queries: 6, Updates: 2, Inserts: 2, Attributes: 4, Count: 1000, Degree: 2, Rewire: 0.1, Walk: 3, Conditions: 2, Range: 0.3, Order: 0.2}, uint64(seed))
		first := choose(t, w, design.Options{})
		r := rand.New(rand.NewPCG(uint64(seed), 31))
		r.Shuffle(len(w.Statements), func(i, j int) { w.Statements[i], w.Statements[j] = w.Statements[j], w.Statements[i] })
		again := choose(t, w, design.Options{})
		if math.Abs(first.After-again.After) > 1e-9*first.After || len(first.Tables) != len(again.Tables) || !first.Proven {
			t.Errorf("seed %d: %g with %d tables (proven %v), shuffled %g with %d", seed, first.After, len(first.Tables), first.Proven, again.After, len(again.Tables))
		}
	}
}

// TestWhatIf: absences, a table forced in, and the front of space against cost are what designs with those options are.
func TestWhatIf(t *testing.T) {
	w := only(load(t, "nose-hotel.yaml"), "fig3")
	o := design.Options{Solver: solver(), NoEnumeration: true}
	all := choose(t, w, design.Options{})
	for _, x := range all.Tables {
		o.Candidates = append(o.Candidates, x.Table)
	}
	for _, x := range all.Rejected[:min(8, len(all.Rejected))] {
		o.Candidates = append(o.Candidates, x.Table)
	}
	for _, x := range choose(t, w, design.Options{SpaceLimit: all.Bytes() * 0.7}).Tables {
		o.Candidates = append(o.Candidates, x.Table)
	}
	ctx := context.Background()
	s, err := design.NewStudy(ctx, w, o)
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Design(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var pool []*model.Table
	for _, x := range base.Tables {
		pool = append(pool, x.Table)
	}
	for _, x := range base.Rejected[:min(2, len(base.Rejected))] {
		pool = append(pool, x.Table)
	}
	possible := 0
	for _, x := range pool {
		if forbidden := o; true {
			forbidden.Allow = allBut(x)
			want, wantErr := design.Choose(ctx, w, forbidden)
			got, err := s.Without(ctx, x)
			switch {
			case err != nil:
				t.Fatal(err)
			case got.Possible != (wantErr == nil):
				t.Errorf("without %s: possible %v, but %v", x, got.Possible, wantErr)
			case got.Possible && (math.Abs(got.Cost-want.After) > 1e-9*want.After || got.Worse < -1e-9 || math.Abs(got.Worse-(got.Cost-base.After)) > 1e-9):
				t.Errorf("without %s: %g (%g worse), designed without it %g", x, got.Cost, got.Worse, want.After)
			case got.Possible:
				possible++
			}
		}
		fixed := o
		fixed.Fixed = []*model.Table{x}
		want := choose(t, w, fixed)
		got, err := s.With(ctx, x)
		if err != nil || math.Abs(got.Cost-want.After) > 1e-9*want.After || !slices.ContainsFunc(want.Tables, func(y *design.Table) bool { return y.Table.ID() == x.ID() }) {
			t.Errorf("with %s: %+v (%v), designed with it %g", x, got, err, want.After)
		}
	}
	if possible == 0 {
		t.Error("no table can be spared")
	}
	front, err := s.Pareto(ctx, 5)
	if err != nil || len(front) < 2 {
		t.Fatal(front, err)
	}
	for i, p := range front {
		if i > 0 && (p.Bytes <= front[i-1].Bytes || p.Cost >= front[i-1].Cost) {
			t.Errorf("the front is none: %+v", front)
		}
		limited := o
		limited.SpaceLimit = p.Bytes * (1 + 1e-9)
		if d := choose(t, w, limited); math.Abs(d.After-p.Cost) > 1e-9*p.Cost || !p.Proven {
			t.Errorf("%+v, designed with that space %g", p, d.After)
		}
	}
	if last := front[len(front)-1]; math.Abs(last.Cost-base.After) > 1e-9*base.After {
		t.Errorf("the front ends at %g, not %g", last.Cost, base.After)
	}
	limited := o
	limited.SpaceLimit = front[0].Bytes - 1
	var space *design.SpaceError
	if _, err := design.Choose(ctx, w, limited); !errors.As(err, &space) || math.Abs(space.Smallest-front[0].Bytes) > 1 {
		t.Errorf("a byte less than %g: %v", front[0].Bytes, err)
	}
}

// TestCancelled: a design that is stopped is the best so far, with a bound.
func TestCancelled(t *testing.T) {
	w := load(t, "hotel.yaml")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := design.Options{Solver: solver(), Branching: -1}
	o.Progress = func(p choice.Progress) {
		if !math.IsInf(p.Cost, 1) && !math.IsInf(p.Bound, -1) {
			cancel()
		}
	}
	d, err := design.Choose(ctx, w, o)
	if err != nil || d.Proven || d.Stopped != "cancelled" || d.Bound > d.After || d.Bound <= 0 || len(d.Tables) == 0 {
		t.Fatalf("%+v, %v", d, err)
	}
}

// TestKept: tables that are there take no space, are kept though nothing reads them, and cost their writes.
func TestKept(t *testing.T) {
	w := load(t, "eac.yaml")
	kept := figure16(t, w.Graph)
	for i, x := range kept {
		x.Kept, x.Name = true, string(rune('a'+i))
	}
	only := choose(t, w, design.Options{Candidates: kept, OnlyExisting: true})
	if want := work(w, cost.Default(), kept); math.Abs(only.After-want) > 1e-9*want || !only.Proven || only.Bytes() != 0 || len(only.Tables) != len(kept) {
		t.Errorf("only those: %g (proven %v, %g bytes, %d tables), by plans %g", only.After, only.Proven, only.Bytes(), len(only.Tables), want)
	}
	for _, x := range only.Tables {
		if x.IsNew() || x.CQL != "" {
			t.Errorf("%s is to be made", x.Table)
		}
	}
	more := choose(t, w, design.Options{Candidates: kept})
	if more.After > only.After || !more.Proven {
		t.Errorf("%g with new tables, %g without", more.After, only.After)
	}
}

package timeline

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
)

// twoViews is the workload of W-7 with space for one view and one join.
func twoViews(t *testing.T, o Options) *Calendar {
	t.Helper()
	w, tables := figured(t, "90, 90, 1, 1", "1, 1, 90, 90", 1, 2, 3, 4, 8)
	o.Candidates, o.NoEnumeration = tables, true
	o.Space = (tables[0].Bytes() + tables[3].Bytes()) * 0.99
	return scheduled(t, w, o)
}

// changes counts the tables that are created on the way.
func changes(c *Calendar) (n int) {
	for _, s := range c.Steps {
		n += len(s.Migrations)
	}
	return n
}

// TestOptions: what may be asked for besides.
func TestOptions(t *testing.T) {
	plain := twoViews(t, Options{Exact: true})
	if changes(plain) == 0 {
		t.Fatal("nothing changes")
	}
	t.Run("W-20 W-25 pruned finds the same here", func(t *testing.T) {
		if c := twoViews(t, Options{}); math.Abs(c.Cost-plain.Cost) > 1e-9*plain.Cost {
			t.Errorf("%g, exact %g", c.Cost, plain.Cost)
		}
	})
	t.Run("W-12 the first step's tables cost their loading, if asked", func(t *testing.T) {
		c := twoViews(t, Options{Exact: true, InitialLoad: true})
		if plain.Steps[0].MigrationCost != 0 || c.Steps[0].MigrationCost <= 0 || c.Cost <= plain.Cost {
			t.Errorf("%g and %g, in all %g and %g", plain.Steps[0].MigrationCost, c.Steps[0].MigrationCost, plain.Cost, c.Cost)
		}
	})
	t.Run("windows", func(t *testing.T) {
		c := twoViews(t, Options{Exact: true, Windows: []bool{true, false, false, true}})
		if len(c.Steps[1].Created)+len(c.Steps[2].Created) > 0 || c.Cost < plain.Cost {
			t.Errorf("created %v and %v; %g, without windows %g", c.Steps[1].Created, c.Steps[2].Created, c.Cost, plain.Cost)
		}
	})
	t.Run("so many at once", func(t *testing.T) {
		c := twoViews(t, Options{Exact: true, Most: 1})
		for _, s := range c.Steps[1:] {
			if len(s.Created) > 1 {
				t.Errorf("step %d: %v", s.Number, s.Created)
			}
		}
	})
	t.Run("least life", func(t *testing.T) {
		c := twoViews(t, Options{Exact: true, Life: 4})
		for i, s := range c.Steps[1:3] {
			for _, dropped := range s.Dropped {
				if c.Steps[i].tableNamed(dropped) != nil && strings.Contains(strings.Join(c.Steps[0].Created, " "), dropped) {
					t.Errorf("step %d drops %s, which was made for step 0", s.Number, dropped)
				}
			}
		}
	})
	t.Run("dropping costs", func(t *testing.T) {
		c := twoViews(t, Options{Exact: true, Drop: 1e12})
		for _, s := range c.Steps {
			if len(s.Dropped) > 0 {
				t.Errorf("step %d drops %v for 1e12", s.Number, s.Dropped)
			}
		}
	})
	t.Run("overlap", func(t *testing.T) {
		c := twoViews(t, Options{Exact: true, Overlap: true})
		for i, s := range c.Steps[1:] {
			size := c.Steps[i].Bytes
			for _, m := range s.Migrations {
				size += m.Bytes
			}
			if size > c.Space*(1+1e-9) {
				t.Errorf("during step %d tables take %g of %g", i, size, c.Space)
			}
		}
	})
	t.Run("W-45 a share of the mean design's size", func(t *testing.T) {
		w, tables := figured(t, "90, 1", "1, 90", 1, 2, 3, 4, 8)
		c := scheduled(t, w, Options{Candidates: tables, NoEnumeration: true, SpaceShare: 0.99, Exact: true})
		if both := tables[0].Bytes() + tables[3].Bytes(); math.Abs(c.Full-both) > 1 || math.Abs(c.Space-0.99*both) > 1 {
			t.Errorf("100 %% is %g, 99 %% %g; both views take %g", c.Full, c.Space, both)
		}
		for _, s := range c.Steps {
			if s.Bytes > c.Space {
				t.Errorf("W-16: step %d takes %g of %g", s.Number, s.Bytes, c.Space)
			}
		}
	})
	t.Run("what is there is free, and W-11 only new tables are created", func(t *testing.T) {
		w, tables := figured(t, "90, 90", "1, 1", 1, 2, 3, 4, 8)
		tables[0].Kept = true
		c := scheduled(t, w, Options{Candidates: tables, NoEnumeration: true, InitialLoad: true, Exact: true})
		for _, name := range c.Steps[0].Created {
			if name == "CF1" {
				t.Error("CF1 is created, and was there")
			}
		}
		if c.Steps[0].tableNamed("CF1") == nil {
			t.Error("CF1 was there, serves best, and is gone")
		}
	})
	t.Run("W-1 a weight of zero is answered", func(t *testing.T) {
		w, tables := figured(t, "1, 0", "0, 1", 1, 2, 3, 4, 8)
		c := scheduled(t, w, Options{Candidates: tables, NoEnumeration: true, Exact: true})
		for _, s := range c.Steps {
			for _, p := range s.Plans {
				if p.Plan == nil {
					t.Errorf("W-53: step %d: %s has no plan", s.Number, p.Statement.Statement.ID)
				}
			}
		}
	})
	t.Run("steps of different length", func(t *testing.T) {
		c := twoViews(t, Options{Exact: true, Interval: []time.Duration{time.Hour, time.Hour, time.Millisecond, time.Millisecond}})
		if changes(c) >= changes(plain) && c.Steps[3].kinds() == plain.Steps[3].kinds() {
			t.Errorf("two milliseconds change as much as two hours: %d tables", changes(c))
		}
	})
}

func (x *Step) kinds() string {
	var list []string
	for _, p := range x.Plans {
		list = append(list, p.planKind())
	}
	return strings.Join(list, " ")
}

// TestBadInput: what can not be a calendar.
func TestBadInput(t *testing.T) {
	w, tables := figured(t, "90, 1", "1, 90", 1, 2, 3, 4, 8)
	choose := func(o Options) error {
		o.Solver, o.Candidates, o.NoEnumeration = solve.New(solve.Config{}), tables, true
		_, err := Choose(context.Background(), w, o)
		return err
	}
	var space *SpaceError
	if err := choose(Options{Space: 1000}); !errors.As(err, &space) || space.Limit != 1000 || space.Smallest < 1e5 {
		t.Errorf("too little space: %v", err)
	}
	for name, o := range map[string]Options{"life": {Life: -1}, "at once": {Most: -1}, "windows": {Windows: []bool{true}}, "interval": {Interval: []time.Duration{0}},
		"drop": {Drop: math.NaN()}, "share": {SpaceShare: -1}, "twice": {Space: 1, SpaceShare: 1}} {
		if err := choose(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w.Statements[0].Steps[0], w.Statements[1].Steps[0] = 0, 0
	var input *InputError
	if err := choose(Options{}); !errors.As(err, &input) || !strings.Contains(err.Error(), "no statement is left in time step 0") {
		t.Errorf("no statement left: %v", err)
	}
	w.Statements[0].Steps = []float64{1, -1}
	var statement *StatementError
	if err := choose(Options{}); !errors.As(err, &statement) || statement.Statement != "q1" {
		t.Errorf("a negative weight: %v", err)
	}
	w.Statements[0].Steps = []float64{1}
	if err := choose(Options{}); err == nil || !strings.Contains(err.Error(), "for 1 time steps") && !strings.Contains(err.Error(), "time steps") {
		t.Errorf("different numbers of steps: %v", err)
	}
	w.Statements[0].Steps = []float64{1, 1}
	tables = tables[:1]
	var none *design.UnanswerableError
	if err := choose(Options{}); !errors.As(err, &none) || none.Statement != "q2" {
		t.Errorf("no plan: %v", err)
	}
}

// TestCheck: W-53, the validator finds what is put wrong.
func TestCheck(t *testing.T) {
	for name, spoil := range map[string]func(c *Calendar){
		"a plan reads what is not there": func(c *Calendar) { c.Steps[0].Plans[0].Statement = c.Steps[3].Plans[0].Statement },
		"what is used is dropped":        func(c *Calendar) { c.Steps[2].Dropped = append(c.Steps[2].Dropped, c.Steps[2].Tables[0].Name) },
		"nothing fills a table":          func(c *Calendar) { c.Steps[2].Migrations = nil },
		"filled from what comes":         func(c *Calendar) { c.Steps[2].Migrations[0].Sources[0].Table = c.Steps[2].Migrations[0].Target },
		"a table goes without a word":    func(c *Calendar) { c.Steps[2].Dropped = nil },
		"a column comes from nowhere": func(c *Calendar) {
			m := c.Steps[2].Migrations[0]
			own := *m.Target
			own.Values = append(own.Values[:len(own.Values):len(own.Values)], model.Field{Entity: own.Tree.Entities[0], Attribute: &model.Attribute{Name: "colour"}})
			m.Target = &own
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := twoViews(t, Options{Exact: true})
			spoil(c)
			if c.Check() == nil {
				t.Error("W-53: nothing is found")
			}
		})
	}
}

// TestLeast: over few candidates and steps no sequence of tables at all is cheaper than the calendar, at the true price of
// filling (W-8 to W-13, W-28 to W-33).
func TestLeast(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 8))
	for range 12 {
		w, tables := figured(t, "1, 1, 1", "1, 1, 1", 1, 3, 4, 7, 8)
		for _, s := range w.Statements {
			for i := range s.Steps {
				s.Steps[i] = math.Round(random.Float64()*random.Float64()*1000) / 50
			}
			s.Steps[0] += 0.1
			s.Steps[1] += 0.1
			s.Steps[2] += 0.1
		}
		all := 0.0
		for _, table := range tables {
			all += table.Bytes()
		}
		o := Options{Candidates: tables, NoEnumeration: true, Exact: true, Space: all * (0.5 + random.Float64()/2), InitialLoad: random.IntN(2) == 0,
			Overlap: random.IntN(3) == 0, Life: random.IntN(3), Interval: []time.Duration{time.Duration(1+random.IntN(600)) * time.Second}}
		o.Solver = solve.New(solve.Config{})
		c, err := Choose(context.Background(), w, o)
		if err != nil {
			var space *SpaceError
			if errors.As(err, &space) {
				continue
			}
			t.Fatal(err)
		}
		if err := c.Check(); err != nil {
			t.Errorf("W-53: %v", err)
		}
		least := brute(t, prepared(t, w, o))
		if math.Abs(c.Cost-least) > 1e-6*least || !c.Proven {
			t.Errorf("%g (proven %v), the least is %g", c.Cost, c.Proven, least)
		}
	}
}

// brute is the least cost of any sequence of three steps.
func brute(t *testing.T, x *task) float64 {
	t.Helper()
	s := &search{task: x, loader: &loader{task: x, tables: x.tables, byTree: map[string]*treeSources{}}, problem: x.sequenceProblem()}
	for n := range x.tables {
		w := s.loader.fillPathsOf(n, math.Inf(1), nil)
		s.problem.Loads = append(s.problem.Loads, w.Load)
	}
	best, n := math.Inf(1), len(x.tables)
	open := func(mask int) []bool {
		list := make([]bool, n)
		for i := range list {
			list[i] = mask&(1<<i) != 0
		}
		return list
	}
	var able []int // that answer everything within the space
	for mask := range 1 << n {
		if cost := s.workloadCost(0, open(mask)); !math.IsInf(cost, 1) && (x.space == 0 || x.bytesOf(open(mask)) <= x.space) {
			able = append(able, mask)
		}
	}
	for _, a := range able {
		for _, b := range able {
			for _, c := range able {
				best = min(best, s.problem.Cost([][]bool{open(a), open(b), open(c)}))
			}
		}
	}
	return best + x.existingWrites()
}

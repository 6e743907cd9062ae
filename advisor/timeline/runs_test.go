package timeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/long"
)

// searched is a search over all candidates of a workload that has looked at nothing but single designs; ok false: nothing fits.
func searched(t *testing.T, w *workload.Workload, o Options) (s *search, b *baselineDesigns, in []bool, ok bool) {
	t.Helper()
	o.Solver = solve.New(solve.Config{})
	x := prepared(t, w, o)
	in = slices.Repeat([]bool{true}, len(x.tables))
	b, err := x.designBaselines(context.Background(), in, nil)
	if err != nil {
		return nil, nil, nil, false
	}
	s = x.newSearch()
	s.problem, s.bounds = x.sequenceProblem(), slices.Repeat([]float64{math.NaN()}, len(x.tables))
	for n := range x.tables {
		s.problem.Loads = append(s.problem.Loads, s.loader.arcsOf(n, s.bounds[n]))
	}
	return s, b, in, true
}

// TestRuns: one design for each run of equal weights, made apart, is never below the least of all sequences, nor above the
// single designs; and the relaxation's bound, where it states one, is never above the least.
func TestRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	problems, met, least := 12, 0, 0
	if long.Tests() {
		problems = 30
	}
	for range problems {
		w, tables := figured(t, "1, 1, 1", "1, 1, 1", 1, 3, 4, 7, 8)
		for _, x := range w.Statements {
			for i := range x.Steps {
				x.Steps[i] = 0.1 + math.Round(random.Float64()*random.Float64()*1000)/50
			}
			if random.IntN(2) == 0 {
				x.Steps[1] = x.Steps[0]
			}
		}
		all := 0.0
		for _, table := range tables {
			all += table.Bytes()
		}
		o := Options{Candidates: tables, NoEnumeration: true, Space: all * (0.5 + random.Float64()/2), Interval: []time.Duration{time.Duration(1+random.IntN(600)) * time.Second}}
		s, b, in, ok := searched(t, w, o)
		if !ok {
			continue
		}
		met++
		truth := brute(t, s.task) - s.existingWrites()
		for _, open := range b.distinctDesigns() {
			s.offerCalendar(s.sameThroughout(open))
		}
		keep, err := s.searchByRuns(context.Background(), b, in)
		if err != nil || keep == nil {
			t.Fatalf("%v, %v", keep, err)
		}
		if s.cost < truth*(1-1e-9) || s.bound > truth*(1+1e-9) {
			t.Errorf("%g, bound %g, and the least is %g", s.cost, s.bound, truth)
		}
		if s.cost < truth*(1+1e-6) {
			least++
		}
	}
	if met < problems/2 || least < met*2/3 {
		t.Errorf("of %d problems, %d of which have a solution, %d were solved", problems, met, least)
	}
}

// failing is a solver whose worker dies whenever it is asked for a relaxation.
type failing struct{ *solve.Process }

func (failing) Relax(context.Context, *solve.Problem) (*solve.Relaxation, error) {
	return nil, &solve.WorkerError{What: "died"}
}

// TestFailedSolver: a solver that fails is told of, once; there is a calendar all the same.
func TestFailedSolver(t *testing.T) {
	w, tables := figured(t, "90, 1, 90", "1, 90, 1", 1, 2, 3, 4, 8)
	s, b, in, ok := searched(t, w, Options{Candidates: tables, NoEnumeration: true, Space: (tables[0].Bytes() + tables[3].Bytes()) * 0.99})
	if !ok {
		t.Fatal("nothing fits")
	}
	s.options.Solver = failing{solve.New(solve.Config{})}
	for range 2 {
		if keep, err := s.searchByRuns(context.Background(), b, in); keep != nil || err != nil {
			t.Fatalf("%v, %v", keep, err)
		}
	}
	if len(s.notes) != 1 || !strings.HasPrefix(s.notes[0], solverFailed) {
		t.Errorf("%q", s.notes)
	}
}

// TestRecur: designs of the first runs come again with their weights, after the same weights if they do: in cycles of three weights, the fourth run on is the
// first again, but for what it comes after.
func TestRecur(t *testing.T) {
	f := firstRunsByWeights(strings.Fields("day night peak day night peak night day"))
	if f.count != windowRuns {
		t.Fatalf("the first %d", f.count)
	}
	for i, want := range []int{0, 1, 2, 3, 1, 2, 1, 3} {
		if at := f.matchingRun(i); at != want {
			t.Errorf("run %d is as run %d, not %d", i, at, want)
		}
	}
}

// TestLocalBranching: where all tables may come and go, what is found near the best single design is within the gap of the best calendar of runs, in most cases the least of all calendars, and
// never below that.
func TestLocalBranching(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 12))
	met, least, better := 0, 0, 0
	for range 30 {
		w, tables := figured(t, "1, 1, 1", "1, 1, 1", 1, 2, 3, 4, 8)
		for k, x := range w.Statements {
			for i := range x.Steps {
				x.Steps[i] = 0.1 + float64((i+k)%2)*random.Float64()
			}
			x.Steps[2] = x.Steps[0] // comes again
		}
		s, b, in, ok := searched(t, w, Options{Candidates: tables, NoEnumeration: true, Space: (tables[0].Bytes() + tables[3].Bytes()) * (0.8 + 0.3*random.Float64())})
		if !ok {
			continue
		}
		met++
		s.offerCalendar(s.sameThroughout(b.average.Open))
		was := s.cost
		if s.localBranching(context.Background(), in, in, s.weightRuns()) != (s.cost < was) {
			t.Errorf("%g from %g", s.cost, was)
		}
		if s.cost < was {
			better++
		}
		truth := brute(t, s.task) - s.existingWrites()
		if s.cost < truth*(1-1e-9) {
			t.Errorf("%g, and the least is %g", s.cost, truth)
		}
		if s.cost <= truth*(1+localBranchGap) {
			least++
		}
	}
	if met < 15 || least < met*3/4 || better < met/4 {
		t.Errorf("%d problems, %d better than a single design, %d at the least cost", met, better, least)
	}
}

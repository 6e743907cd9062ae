//go:build !race

package timeline

import (
	"context"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/long"
)

// Interrupted searches of TPC-H take ten times as long under the race detector: `make test` runs them by themselves.

// many is a workload with more candidates than are all looked at.
func many(t *testing.T) (*workload.Workload, Options) {
	t.Helper()
	w, err := workload.Load("../../examples/designs/tpch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return w, Options{SpaceShare: 0.95, MostTables: fewTables + 60}
}

// TestSweptNoFurther: interrupted before, while and after candidates are swept, a search has a calendar.
func TestSweptNoFurther(t *testing.T) {
	for _, asked := range []int{0, 1, 100, 3000} {
		w, o := many(t)
		c, err := prepared(t, w, o).findCalendar(after(asked))
		if err != nil {
			t.Fatalf("interrupted at %d: %v", asked, err)
		}
		if err := c.Check(); err != nil {
			t.Errorf("W-53: interrupted at %d: %v", asked, err)
		}
		if c.Stopped != "cancelled" || !(c.Bound > 0) || c.Cost < c.Bound {
			t.Errorf("interrupted at %d: stopped by %q, %g, at least %g", asked, c.Stopped, c.Cost, c.Bound)
		}
		t.Logf("interrupted at %d: %g, at least %g", asked, c.Cost, c.Bound)
	}
}

// TestInterruptedSolver: a search that is interrupted at one of its solver's solves has a calendar.
func TestInterruptedSolver(t *testing.T) {
	for _, last := range []int{1, 3} {
		w, o := many(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		x := prepared(t, w, o)
		solver := &counting{Process: solve.New(solve.Config{}), last: last, cancel: cancel}
		x.options.Solver = solver
		c, err := x.findCalendar(ctx)
		if err != nil {
			t.Fatalf("interrupted at solve %d: %v", last, err)
		}
		if err := c.Check(); err != nil {
			t.Errorf("W-53: interrupted at solve %d: %v", last, err)
		}
		if solver.asked < last || c.Stopped != "cancelled" || !(c.Bound > 0) || c.Cost > c.Baseline(Average).Cost*(1+1e-9) {
			t.Errorf("interrupted at solve %d of %d: stopped by %q, %g, at least %g", last, solver.asked, c.Stopped, c.Cost, c.Bound)
		}
		t.Logf("interrupted at solve %d of %d: %g, at least %g", last, solver.asked, c.Cost, c.Bound)
	}
}

// behind is a context that has ended when something is over.
type behind struct {
	context.Context
	over func() bool
}

func (c behind) Err() error {
	if c.over() {
		return context.Canceled
	}
	return nil
}

// TestInterruptedExact: exact mode begins with the calendar of pruned mode, so however little comes of its own search, here nothing, it has none that is
// dearer (W-46). The calendar of pruned mode is made whole for it: of `make test-long`.
func TestInterruptedExact(t *testing.T) {
	long.Only(t, "half a minute of one core")
	w, _ := many(t)
	x := prepared(t, w, Options{SpaceShare: 0.8, Exact: true})
	c, err := x.findCalendar(behind{context.Background(), func() bool { return x.phases[len(x.phases)-1].Name == "pruned" }})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		t.Errorf("W-53: %v", err)
	}
	if average := c.Baseline(Average).Cost; c.Cost > average*(1-0.318) || c.Pruned || !(c.Bound > 0) || c.Bound > c.Cost || c.Stopped != "cancelled" {
		t.Errorf("W-46: %g, at least %g, stopped by %q; the mean's design %g", c.Cost, c.Bound, c.Stopped, average)
	}
}

// TestPool: as many candidates are proposed as there is room for, and where that is not all there are, of one cut of each query (W-17), which is said.
func TestPool(t *testing.T) {
	w, _ := many(t)
	x := prepared(t, w, Options{SpaceShare: 0.8})
	if n := len(x.tables); n < poolTables*9/10 || n > poolTables { // some are of no use to anything
		t.Errorf("%d candidates of %d", n, poolTables)
	}
	if said := strings.Join(x.study.Cut(), "\n"); !strings.Contains(said, "cut at one edge at most") {
		t.Error("W-17: it is not said that queries are cut once")
	}
}

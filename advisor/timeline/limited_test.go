package timeline

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// impatient is a context that ends when it has been asked so often whether it has.
type impatient struct {
	context.Context
	mutex sync.Mutex
	left  int
	done  chan struct{}
}

func after(asked int) *impatient {
	return &impatient{Context: context.Background(), left: asked, done: make(chan struct{})}
}

func (c *impatient) Done() <-chan struct{} { return c.done }

func (c *impatient) Err() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.left--; c.left == -1 {
		close(c.done)
	}
	if c.left < 0 {
		return context.Canceled
	}
	return nil
}

// weighed is a workload in which the calendar changes, and the options for it.
func weighed(t *testing.T, space float64) (*workload.Workload, Options) {
	t.Helper()
	w, tables := figured(t, "90, 90, 1, 1", "1, 1, 90, 90", 1, 2, 3, 4, 8)
	return w, Options{Candidates: tables, NoEnumeration: true, Space: (tables[0].Bytes() + tables[3].Bytes()) * space}
}

// TestInterrupted: wherever a search is interrupted, there is a calendar; its bound is true, and it costs no less than the
// best and no more than no change at all.
func TestInterrupted(t *testing.T) {
	for name, exact := range map[string]bool{"exact": true, "pruned": false} {
		for _, share := range []bool{false, true} {
			if share {
				name += ", a share of space"
			}
			t.Run(name, func(t *testing.T) {
				w, o := weighed(t, 0.99)
				if o.Exact = exact; share {
					o.Space, o.SpaceShare = 0, 0.99
				}
				whole, err := prepared(t, w, o).findCalendar(context.Background())
				if err != nil || exact && !whole.Proven || changes(whole) == 0 {
					t.Fatalf("%v, %+v", err, whole)
				}
				finished, best := false, 0
				for asked := 0; !finished; asked = asked*2 + 1 {
					if asked > 1e7 {
						t.Fatal("it never ends")
					}
					ctx := after(asked)
					c, err := prepared(t, w, o).findCalendar(ctx)
					if err != nil {
						t.Fatalf("interrupted at %d: %v", asked, err)
					}
					finished = ctx.left >= 0
					if err := c.Check(); err != nil {
						t.Errorf("W-53: interrupted at %d: %v", asked, err)
					}
					if c.Cost < whole.Cost*(1-1e-9) || c.Bound > whole.Cost*(1+1e-9) || c.Bound <= 0 {
						t.Errorf("interrupted at %d: %g, at least %g; the best is %g", asked, c.Cost, c.Bound, whole.Cost)
					}
					if !c.Proven && c.Gap < (c.Cost-whole.Cost)/c.Cost-1e-9 {
						t.Errorf("interrupted at %d: a gap of %g, and the best is %g of %g", asked, c.Gap, whole.Cost, c.Cost)
					}
					for _, b := range c.Baselines[:3] {
						if c.Cost > b.Cost*(1+1e-9) {
							t.Errorf("interrupted at %d: %g, and %s costs %g", asked, c.Cost, b.Name, b.Cost)
						}
					}
					if c.Cost > whole.Cost*(1+1e-9) && c.Stopped != "cancelled" {
						t.Errorf("interrupted at %d, and stopped by %q", asked, c.Stopped)
					}
					if c.Cost <= whole.Cost*(1+1e-9) {
						best++
					}
					var out bytes.Buffer
					if err := errors.Join(c.JSON(&out), c.Text(&out)); err != nil {
						t.Errorf("interrupted at %d: %v", asked, err)
					}
				}
				if best < 1 {
					t.Error("the best was never found")
				}
			})
		}
	}
}

// TestNoTime: a limit of time that is over before anything was looked at, and a context that had ended before the search.
func TestNoTime(t *testing.T) {
	w, o := weighed(t, 0.99)
	o.Solver, o.Limits = solve.New(solve.Config{}), solve.Limits{Wall: time.Nanosecond}
	c, err := Choose(context.Background(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Stopped != solve.LimitWall || c.Proven || !(c.Gap > 0 && c.Gap <= 1) || changes(c) > 0 {
		t.Errorf("stopped by %q, proven %v, gap %g, %d changes", c.Stopped, c.Proven, c.Gap, changes(c))
	}
	if err := c.Check(); err != nil {
		t.Errorf("W-53: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if c, err = prepared(t, w, o).findCalendar(ended); err != nil || c.Stopped != "cancelled" || c.Check() != nil {
		t.Errorf("%v", err)
	}
	if _, err := Choose(ended, w, o); !errors.Is(err, context.Canceled) {
		t.Errorf("without candidates there is no calendar: %v", err)
	}
	o.Space = 1
	if _, err := Choose(context.Background(), w, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nothing fits: %v", err)
	}
}

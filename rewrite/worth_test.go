package rewrite

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/gain"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// slowly makes the statements of the database take their time: the original read, those of the look-up, and writes of the base.
func (w *world) slowly(original, lookup, write time.Duration) {
	w.db.Before.Set(func(_ context.Context, q exec.Query) error {
		switch {
		case q.Text == byGuest:
			time.Sleep(original)
		case strings.Contains(q.Text, "INSERT INTO hotel.stays_by_guest"):
			time.Sleep(8 * write)
		case strings.Contains(q.Text, "stays_by_guest"):
			time.Sleep(lookup)
		case strings.HasPrefix(q.Text, "UPDATE hotel.stays"):
			time.Sleep(write)
		}
		return nil
	})
}

// promising makes a change that serves, of which its reads took so long before.
func promising(t *testing.T, before time.Duration, promise plan.Promise) *world {
	t.Helper()
	w := newWorld(t)
	w.fill(10, 3)
	w.boot(quick())
	w.engine.options.Before = func(plan.Rewrite) (b gain.Before) {
		var h histogram.Histogram
		for range 500 {
			h.Add(uint64(before.Microseconds()))
		}
		h.AddTo(&b.Reads)
		return b
	}
	lu := advice(t)
	lu.Promise = promise
	if _, err := w.engine.Approve(context.Background(), "m1", lu, "ann"); err != nil {
		t.Fatal(err)
	}
	w.await(migrate.Serving)
	return w
}

// TestSlowerThanBefore: a change that makes its reads slower is turned back by itself, by reads that ran as written meanwhile, and says so
// everywhere, also after a restart. Every answer is right all the while.
func TestSlowerThanBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := promising(t, 2600*time.Microsecond, plan.Promise{Reads: 4.5})
		defer func() { w.stop() }()
		w.slowly(2600*time.Microsecond, 11900*time.Microsecond, 0)
		want, reads := w.direct("guest1"), 0
		for ; reads < 5_000 && w.state() == migrate.Serving; reads++ {
			if got := w.ask(byGuest, str("guest1")); !exec.Equal(got.rows, want) {
				t.Fatalf("read %d: %d rows instead of %d", reads, len(got.rows), len(want))
			}
			time.Sleep(20 * time.Millisecond)
		}
		w.await(migrate.Suspended)
		m := w.engine.Migrations()[0]
		if m.Reason != "slower than before: p50 11.9 ms against 2.6 ms" || reads > 2_500 {
			t.Errorf("%q after %d reads", m.Reason, reads)
		}
		if got := w.ask(byGuest, str("guest1")); !got.forwarded || !exec.Equal(got.rows, want) {
			t.Errorf("a read is still answered: %+v", got)
		}
		for _, text := range []string{"turned back: slower than before: p50 11.9 ms against 2.6 ms", "0.2 times as fast; promised were 4.5 times", "lost so far: "} {
			if !strings.Contains(m.Gain.Text, text) {
				t.Errorf("%q is not in %q", text, m.Gain.Text)
			}
		}
		if n := testutil.CollectAndCount(w.engine, "helenus_change_latency_seconds"); n != 3 {
			t.Errorf("%d sides in the metrics", n)
		}
		if n := testutil.CollectAndCount(w.engine, "helenus_change_gain_ratio"); n != 2 {
			t.Errorf("%d ratios in the metrics", n)
		}
		w.stop()
		w.boot(quick())
		if again := w.engine.Migrations()[0]; again.State != migrate.Suspended || again.Gain.Text != m.Gain.Text {
			t.Errorf("after a restart: %s, %+v", again.State, again.Gain)
		}
	})
}

// TestKeepsItsPromise: a change that is faster goes on, runs few reads as written, and says what it saved.
func TestKeepsItsPromise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := promising(t, 12*time.Millisecond, plan.Promise{Reads: 4.5})
		defer func() { w.stop() }()
		w.slowly(12*time.Millisecond, 3*time.Millisecond, 0)
		forwarded := 0
		for range 600 {
			if w.ask(byGuest, str("guest1")).forwarded {
				forwarded++
			}
			time.Sleep(20 * time.Millisecond)
		}
		m := w.engine.Migrations()[0]
		if m.State != migrate.Serving || forwarded > 0 {
			t.Errorf("%s: %s; %d reads as written", m.State, m.Reason, forwarded)
		}
		if !strings.Contains(m.Gain.Text, "4.0 times as fast; promised were 4.5 times\nsaved so far: 5.4 s in 600 reads") {
			t.Error(m.Gain.Text)
		}
	})
}

// TestWritesSlowerThanPromised: a change whose writes take much more than was promised is rolled back, so that they are rid of it.
func TestWritesSlowerThanPromised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := promising(t, 12*time.Millisecond, plan.Promise{Reads: 4.5, Writes: 2.1})
		defer func() { w.stop() }()
		w.slowly(12*time.Millisecond, 3*time.Millisecond, 2*time.Millisecond)
		for n := 0; n < 10_000 && w.state() == migrate.Serving; n++ {
			if a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0)); a.failed {
				t.Fatalf("write: %+v", a)
			}
			time.Sleep(20 * time.Millisecond)
		}
		w.await(migrate.RolledBack)
		m := w.engine.Migrations()[0]
		if !strings.HasPrefix(m.Reason, "its writes are slower than promised: p50 1") || !strings.Contains(m.Reason, "against 2.0 ms alone, promised 2.1 times") {
			t.Error(m.Reason)
		}
		began := time.Now()
		if a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0)); a.failed || time.Since(began) > 3*time.Millisecond {
			t.Errorf("a write after that took %v: %+v", time.Since(began), a)
		}
	})
}

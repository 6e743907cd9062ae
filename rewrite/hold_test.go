package rewrite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

// What is held comes as far as shadow, over restarts, too, and serves once the cut-over is ordered.
func TestHeldUntilTheCutOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(quick())
		defer func() { w.stop() }()
		_, err := w.engine.ApproveOn(context.Background(), "m1", advice(t), migrate.Terms{Actor: "ann", Hold: true})
		must(t, err)
		waiting := func() {
			t.Helper()
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			if m := w.engine.Migrations()[0]; m.State != migrate.Shadow || m.Progress.Throttled != migrate.Held || w.served("guest1") {
				t.Fatalf("%s, %q", m.State, m.Waits())
			}
		}
		waiting()
		w.stop()
		w.boot(quick())
		waiting()
		if err := testutil.CollectAndCompare(w.engine, strings.NewReader(`
# HELP helenus_change_throttled 1 if a change waits; reason is cassandra (a statement of ours failed, and is tried again), held (a person orders the cut-over), paused (a person has, and lets it go on), throttled (it goes on, at the rate that a person ordered), requests (some from before do not end), unreadable (a client's can not be read) or bulk (somebody else is to fill its table); the text is in `+"`helenus changes`"+`.
# TYPE helenus_change_throttled gauge
helenus_change_throttled{change_id="m1",reason="bulk"} 0
helenus_change_throttled{change_id="m1",reason="cassandra"} 0
helenus_change_throttled{change_id="m1",reason="held"} 1
helenus_change_throttled{change_id="m1",reason="paused"} 0
helenus_change_throttled{change_id="m1",reason="requests"} 0
helenus_change_throttled{change_id="m1",reason="throttled"} 0
helenus_change_throttled{change_id="m1",reason="unreadable"} 0
`), "helenus_change_throttled"); err != nil {
			t.Error(err)
		}
		must(t, w.engine.CutOver(context.Background(), "m1", "bob"))
		w.await(migrate.Serving)
		if !w.served("guest1") {
			t.Error("not served after the cut-over")
		}
		var order *migrate.ErrState
		if err := w.engine.CutOver(context.Background(), "m1", "bob"); !errors.As(err, &order) {
			t.Errorf("a second cut-over: %v", err)
		}
		if err := w.engine.Hold(context.Background(), "m1", "bob"); !errors.As(err, &order) {
			t.Errorf("what serves was held: %v", err)
		}
		// One that has served may be held when it is suspended: it is verified and compared, and no more.
		must(t, w.engine.manager.Suspend(context.Background(), "m1", "tried out", false))
		w.await(migrate.Suspended)
		must(t, w.engine.Hold(context.Background(), "m1", "bob"))
		must(t, w.engine.Hold(context.Background(), "m1", "bob"))
		must(t, w.engine.Resume(context.Background(), "m1", "bob"))
		waiting()
		must(t, w.engine.CutOver(context.Background(), "m1", "bob"))
		w.await(migrate.Serving)
		said := ""
		for _, e := range w.engine.Migrations()[0].Events {
			said += e.Actor + ": " + e.Text + "\n"
		}
		for _, want := range []string{"ann: approved, and held", "bob: held", "bob: cut-over ordered"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in its history:\n%s", want, said)
			}
		}
	})
}

// An order to hold that can not be stored is none, so nobody rests on it.
func TestHoldThatIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(2, 1)
		w.boot(quick())
		defer func() { w.stop() }()
		_, err := w.engine.ApproveOn(context.Background(), "m1", advice(t), migrate.Terms{Actor: "ann", Hold: true})
		must(t, err)
		w.await(migrate.Shadow)
		w.store.Before.Set(func(string, string) error { return errFull })
		if err := w.engine.CutOver(context.Background(), "m1", "bob"); err == nil {
			t.Error("it was taken")
		}
		w.store.Before.Clear()
		time.Sleep(time.Hour)
		if w.state() != migrate.Shadow {
			t.Error("it serves")
		}
	})
}

package rewrite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

func pausing(on bool) migrate.ThrottleOrder { return migrate.ThrottleOrder{Paused: &on} }

func pacing(rate int) migrate.ThrottleOrder { return migrate.ThrottleOrder{Rate: &rate} }

// waitsFor checks which reason of helenus_change_throttled is 1; "" for none.
func waitsFor(t *testing.T, e *Engine, want string) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	must(t, registry.Register(e))
	families, err := registry.Gather()
	must(t, err)
	waits := map[string]bool{}
	for _, f := range families {
		if f.GetName() != "helenus_change_throttled" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "reason" {
					waits[l.GetValue()] = m.GetGauge().GetValue() == 1
				}
			}
		}
	}
	for _, reason := range []string{"bulk", "cassandra", "held", "paused", "requests", "throttled", "unreadable"} {
		if on, there := waits[reason]; !there || on != (reason == want) {
			t.Errorf("helenus_change_throttled of %s is %v (there: %v); it waits for %q", reason, on, there, want)
		}
	}
}

// A change that is paused fills nothing, over a restart, too; it goes on where it was, at the rate that a person orders, while it is filled and while it is verified.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 5) // 60 rows
		w.boot(quick())
		defer func() { w.stop() }()
		ctx := context.Background()
		_, err := w.engine.ApproveOn(ctx, "m1", advice(t), migrate.Terms{Actor: "ann"})
		must(t, err)
		must(t, w.engine.Throttle(ctx, "m1", pausing(true), "ann"))
		paused := func(state migrate.State) {
			t.Helper()
			time.Sleep(time.Hour)
			synctest.Wait()
			m := w.migration()
			if m.State != state || m.Progress.Throttled != migrate.Paused || !m.Throttle.Paused || w.served("guest1") {
				t.Fatalf("%s, %q, %+v", m.State, m.Waits(), m.Throttle)
			}
			waitsFor(t, w.engine, "paused")
		}
		paused(migrate.Backfill)
		if n := w.entries("guest1"); n > 0 {
			t.Errorf("%d entries were filled while it was paused", n)
		}
		w.stop()
		w.boot(quick())
		paused(migrate.Backfill)

		must(t, w.engine.Throttle(ctx, "m1", migrate.ThrottleOrder{Rate: new(2), Paused: new(bool)}, "bob"))
		began := time.Now()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if m := w.migration(); m.State != migrate.Backfill || m.Throttle != (migrate.Throttle{Rate: 2}) || m.Progress.Throttled != "" {
			t.Fatalf("%s, %+v, %q", m.State, m.Throttle, m.Waits())
		}
		waitsFor(t, w.engine, "throttled")
		w.await(migrate.Verify)
		if took := time.Since(began); took < 29*time.Second || took > 40*time.Second {
			t.Errorf("60 rows at 2 a second were filled in %v", took)
		}
		must(t, w.engine.Throttle(ctx, "m1", pausing(true), "bob"))
		w.stop()
		w.boot(quick())
		paused(migrate.Verify)
		must(t, w.engine.Throttle(ctx, "m1", pausing(false), "bob"))
		began = time.Now()
		w.await(migrate.Serving)
		if took := time.Since(began); took < 55*time.Second || took > 90*time.Second {
			t.Errorf("60 rows and 60 entries at 2 a second were compared in %v", took)
		}
		waitsFor(t, w.engine, "")

		var state *migrate.ErrState
		if err := w.engine.Throttle(ctx, "m1", pausing(true), "bob"); !errors.As(err, &state) {
			t.Errorf("what serves was paused: %v", err)
		}
		must(t, w.engine.Throttle(ctx, "m1", pacing(0), "bob"))
		if m := w.migration(); m.Throttle != (migrate.Throttle{}) {
			t.Errorf("%+v", m.Throttle)
		}
		for _, bad := range []migrate.ThrottleOrder{{}, pacing(-1), pacing(migrate.MaxRate + 1)} {
			if err := w.engine.Throttle(ctx, "m1", bad, "bob"); err == nil {
				t.Errorf("%+v was taken", bad)
			}
		}
		said := ""
		for _, e := range w.migration().Events {
			said += e.Actor + ": " + e.Text + "\n"
		}
		for _, want := range []string{"ann: paused", "bob: goes on after a pause, at most 2 rows a second", "bob: throttled: as the settings say"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in its history:\n%s", want, said)
			}
		}
		must(t, w.engine.Rollback(ctx, "m1", "bob"))
		w.await(migrate.RolledBack)
		if err := w.engine.Throttle(ctx, "m1", pacing(5), "bob"); !errors.As(err, &state) {
			t.Errorf("what was rolled back was throttled: %v", err)
		}
	})
}

// Who waits at a low rate does not rest on it: another rate, a pause and a roll-back are obeyed within a second.
func TestThrottleIsObeyedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 5)
		settings := quick()
		settings.Workers = 4
		settings.Rate = 1
		w.boot(settings)
		defer func() { w.stop() }()
		ctx := context.Background()
		_, err := w.engine.ApproveOn(ctx, "m1", advice(t), migrate.Terms{Actor: "ann"})
		must(t, err)
		w.await(migrate.Backfill)
		time.Sleep(5 * time.Second)
		must(t, w.engine.Throttle(ctx, "m1", pacing(100_000), "ann"))
		began := time.Now()
		w.await(migrate.Verify)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the rate of before was held for %v", took)
		}
	})
}

// All members obey an order that any of them was given: the pause, the rate, which is that of all together, and its end; and what the leader was at goes on.
func TestThrottleInAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := newFleet(t, 2) // 40 rows
		defer f.close()
		leader, follower := f.leader(), f.all[1]
		if leader == follower {
			t.Fatal("who came second leads")
		}
		if _, err := follower.engine.Approve(ctx, "m1", advice(t), "ann"); err != nil {
			t.Fatal(err)
		}
		must(t, follower.engine.Throttle(ctx, "m1", pausing(true), "ann"))
		time.Sleep(time.Second) // the leader hears of it
		leader.await(migrate.Backfill)
		follower.await(migrate.Backfill)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		for _, w := range f.all {
			if m := w.migration(); m.State != migrate.Backfill || m.Progress.Throttled != migrate.Paused {
				t.Fatalf("%s: %s, %q", w.member.ID(), m.State, m.Waits())
			}
			waitsFor(t, w.engine, "paused")
		}
		if n := f.entries("guest1") + f.entries("guest2"); n > 0 {
			t.Errorf("%d entries were filled while it was paused", n)
		}
		must(t, follower.engine.Throttle(ctx, "m1", migrate.ThrottleOrder{Rate: new(1), Paused: new(bool)}, "ann"))
		began := time.Now()
		leader.await(migrate.Verify)
		if took := time.Since(began); took < 30*time.Second || took > 100*time.Second {
			t.Errorf("40 rows at 1 a second by two members were filled in %v", took)
		}

		// A pass that is under way goes on at the new rate: it is not begun anew.
		must(t, leader.engine.Throttle(ctx, "m1", pacing(2), "bob"))
		time.Sleep(20 * time.Second) // half of its 80 rows and entries
		began = time.Now()
		must(t, follower.engine.Throttle(ctx, "m1", pacing(4), "ann"))
		leader.await(migrate.Serving)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("40 rows and entries at 4 a second took %v: the pass was begun anew", took)
		}
		leader.answered()
		follower.answered()
	})
}

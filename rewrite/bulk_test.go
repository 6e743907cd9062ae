package rewrite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

// A change that others fill waits in backfill until a person says that they have; then it is verified as after a backfill of our own, which finds what
// they left out.
func TestFilledByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(quick())
		ctx := context.Background()
		_, err := w.engine.ApproveOn(ctx, "m1", advice(t), migrate.Terms{Actor: "ann", Fill: migrate.FillBulk})
		must(t, err)
		var state *migrate.ErrState
		if _, err := w.engine.Spark("m1"); !errors.As(err, &state) {
			t.Errorf("a script before dual writes are on: %v", err)
		}
		w.await(migrate.Backfill)
		time.Sleep(time.Hour)
		if m := w.migration(); m.State != migrate.Backfill || m.Progress.Throttled != migrate.WaitsForBulk || m.T0 == 0 {
			t.Fatalf("%+v", m)
		}
		script, err := w.engine.Spark("m1")
		if err != nil || !strings.Contains(script, "stays_by_guest") || !strings.Contains(script, `"read_consistency": "ALL"`) {
			t.Errorf("%v: %s", err, script)
		}
		w.stop()
		w.boot(quick()) // it waits on over a restart
		defer func() { w.stop() }()
		time.Sleep(time.Hour)
		if m := w.migration(); m.State != migrate.Backfill {
			t.Fatalf("%+v", m)
		}
		must(t, w.engine.Filled(ctx, "m1", "ann"))
		w.await(migrate.Serving)
		if m := w.migration(); m.Repaired == 0 || !w.served("guest1") {
			t.Errorf("%+v", m)
		}
		if err := w.engine.Filled(ctx, "m1", "ann"); !errors.As(err, &state) {
			t.Errorf("filled while it serves: %v", err)
		}
	})
}

// A table that is filled anew is to be filled by the others again.
func TestFilledAgainByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(quick())
		defer func() { w.stop() }()
		ctx := context.Background()
		_, err := w.engine.ApproveOn(ctx, "m1", advice(t), migrate.Terms{Actor: "ann", Fill: migrate.FillBulk})
		must(t, err)
		w.await(migrate.Backfill)
		must(t, w.engine.Filled(ctx, "m1", "ann"))
		w.await(migrate.Serving)
		must(t, w.engine.manager.Refill(ctx, "m1", "the test wants it so"))
		w.await(migrate.Backfill)
		time.Sleep(time.Hour)
		if m := w.migration(); m.State != migrate.Backfill {
			t.Errorf("%s", m.State)
		}
	})
}

func TestFillTerms(t *testing.T) {
	if err := (&migrate.Terms{Fill: "spark"}).Check(); err == nil {
		t.Error("fill: spark is taken")
	}
}

package rewrite

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestTurnBack: reads run as written at once, entries are written as before, and a person resumes it.
func TestTurnBack(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		if !w.served("guest1") {
			t.Fatal("not served before")
		}
		w.engine.TurnBack("for the test")
		if w.served("guest1") {
			t.Error("served")
		}
		synctest.Wait()
		if m := w.engine.Migrations()[0]; m.State != migrate.Suspended || m.Reason != "for the test" {
			t.Errorf("%+v", m)
		}
		w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0))
		synctest.Wait()
		if ok, _, _ := w.entry("zoe"); !ok {
			t.Error("no entry is written")
		}
		must(t, w.engine.Resume(t.Context(), "m1", "ann"))
		w.await(migrate.Serving)
		if !w.served("zoe") {
			t.Error("not served again")
		}
	})
}

// TestPanicInAServedRead: it runs as it was written.
func TestPanicInAServedRead(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		before := guard.Count(guard.Reads)
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.Contains(q.Text, "stays_by_guest") {
				panic("for the test")
			}
			return nil
		})
		if w.served("guest1") { // and it was answered
			t.Error("served")
		}
		w.db.Before.Clear()
		if guard.Count(guard.Reads) == before {
			t.Error("not counted")
		}
		if !w.served("guest1") {
			t.Error("one panic ended serving")
		}
	})
}

// TestPanicInATakenWrite: it is forwarded as it was written, and nothing is served before the look-up was verified.
func TestPanicInATakenWrite(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest") {
				panic("for the test")
			}
			return nil
		})
		if a := w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0)); !a.forwarded || a.failed {
			t.Errorf("%+v", a)
		}
		if w.served("guest1") {
			t.Error("served although an entry is missing")
		}
		synctest.Wait()
		w.db.Before.Clear()
		w.await(migrate.Serving)
		if !w.served("guest1") || !w.served("zoe") {
			t.Error("not served again by itself")
		}
	})
}

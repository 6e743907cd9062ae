package rewrite

import (
	"testing"
	"testing/synctest"

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

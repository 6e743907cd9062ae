package rewrite

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// starved are settings under which only very many reads of the application would do.
func starved() migrate.Settings {
	s := quick()
	s.ShadowReads, s.ShadowLeast, s.ShadowFor = 10000, 1000, 24*time.Hour
	return s
}

// fails makes the statement fail as it was written, as if it met too many tombstones, while failing is set.
func (w *world) fails(failing *atomic.Bool) {
	w.db.Before.Set(func(_ context.Context, q exec.Query) error {
		if failing.Load() && strings.HasPrefix(q.Text, byGuest[:len(byGuest)-len(" ALLOW FILTERING")]) && !strings.Contains(q.Text, "room = ?") {
			return exectest.Timeout
		}
		return nil
	})
}

// TestAMissedEntryIsNoDifference: a write goes on without its entry, and reads are turned back, while an earlier read is being compared. It finds a row without entry, which is
// what verification is for: nobody is asked.
func TestAMissedEntryIsNoDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(starved())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Shadow)
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			switch {
			case q.Text == byGuest:
				time.Sleep(100 * time.Millisecond)
			case strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest "):
				return exec.ErrNoConnection
			}
			return nil
		})
		over := make(chan struct{})
		go func() {
			defer close(over)
			if a := w.ask(byGuest, str("guest1")); !a.forwarded {
				t.Error("it was not compared")
			}
		}()
		time.Sleep(10 * time.Millisecond)
		if a := w.ask(insertRow, str("room9"), num(9), num(9), str("guest1"), str("new")); a.failed {
			t.Error("the write failed")
		}
		<-over
		w.db.Before.Set(func(context.Context, exec.Query) error { return nil })
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			if w.state() == migrate.Suspended {
				t.Fatalf("suspended: %s", w.migration().Reason)
			}
		}
		w.await(migrate.Shadow)
	})
}

// Case 23: an original that always fails does not keep the change that would help it from serving.
func TestOriginalAlwaysFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		var failing atomic.Bool
		failing.Store(true)
		w.fails(&failing)
		w.boot(starved())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Shadow)
		for w.state() == migrate.Shadow {
			if got := w.ask(byGuest, str("guest1")); got.forwarded && !got.failed {
				t.Fatal("the original does not fail")
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		w.await(migrate.Serving)
		m := w.migration()
		if m.ByRanges < 5 || m.ByReads != 0 || m.Compared != m.ByReads+m.ByOwn+m.ByRanges {
			t.Errorf("%d compared: %d, %d, %d", m.Compared, m.ByReads, m.ByOwn, m.ByRanges)
		}
		if m.Clean.IsZero() || m.Events[len(m.Events)-1].Time.Sub(m.Approved) > 10*time.Minute {
			t.Errorf("%+v", m.Events)
		}
		if got := w.ask(byGuest, str("guest1")); got.forwarded || len(got.rows) == 0 {
			t.Errorf("%+v", got)
		}
	})
}

// What differs is found by token ranges, too.
func TestRangesDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		var failing atomic.Bool
		w.fails(&failing)
		w.boot(starved())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Shadow)
		failing.Store(true)
		w.empty()
		w.ask(byGuest, str("guest1"))
		w.await(migrate.Suspended)
		if m := w.migration(); !strings.Contains(m.Mismatch, "0 rows") || m.Compared != 0 {
			t.Errorf("%q", m.Mismatch)
		}
	})
}

// A statement that seldom comes is compared by Helenus itself; after the time set that is enough.
func TestRareReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(starved())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Shadow)
		w.ask(byGuest, str("guest1"))
		time.Sleep(23 * time.Hour)
		synctest.Wait()
		if w.state() != migrate.Shadow {
			t.Errorf("%s before the time", w.state())
		}
		time.Sleep(2 * time.Hour)
		w.await(migrate.Serving)
		if m := w.migration(); m.ByReads != 1 || m.ByOwn < 5 || m.ByRanges != 0 {
			t.Errorf("%d, %d, %d", m.ByReads, m.ByOwn, m.ByRanges)
		}
	})
}

// TestShadowOverRestarts: the time in shadow counts over restarts, so that a process that is started anew each night comes to serve; a difference has it begin anew.
func TestShadowOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(starved())
		must(t, w.approve("m1"))
		w.await(migrate.Shadow)
		for range 3 {
			for range 7 * 120 { // reads come more often than anything is stored
				w.ask(byGuest, str("guest1"))
				time.Sleep(30 * time.Second)
			}
			synctest.Wait()
			if w.state() != migrate.Shadow {
				t.Fatalf("%s before the time", w.state())
			}
			w.stop()
			w.boot(starved())
			w.await(migrate.Shadow)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if w.state() != migrate.Shadow {
			t.Errorf("%s before the time", w.state())
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if w.state() != migrate.Serving {
			t.Errorf("%s after 25 hours in shadow", w.state())
		}
		w.stop()
	})
}

// A comparison that began before the tables were doubted suspends nothing: the change is verified, and goes on by itself. Without that it is suspended.
func TestAComparisonOfBeforeSuspendsNothing(t *testing.T) {
	for _, doubted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.fill(6, 2)
			s := quick()
			s.ShadowReads, s.ShadowLeast, s.ShadowFor = 10000, 1000, 24*time.Hour
			w.boot(s)
			defer func() { w.stop() }()
			must(t, w.approve("m1"))
			w.await(migrate.Shadow)
			time.Sleep(time.Minute) // its own samples are over
			w.empty()
			w.ask(byGuest, str("guest1")) // is compared, again and again
			time.Sleep(50 * time.Millisecond)
			if doubted {
				must(t, w.engine.manager.Reverify(context.Background(), "m1", "somebody emptied it"))
			}
			w.await(map[bool]migrate.State{true: migrate.Shadow, false: migrate.Suspended}[doubted])
			time.Sleep(time.Minute)
			if m := w.migration(); doubted && (m.State != migrate.Shadow || m.Differed != 0) {
				t.Errorf("%s, %s, %d differed", m.State, m.Reason, m.Differed)
			}
		})
	}
}

// A statement that Cassandra refuses runs as it was written, and so do the others of its change if they are refused, too: then the change has failed. It is the change's
// again once Cassandra answers it.
func TestRefusedStatementRunsAsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = "SELECT room, day, n FROM hotel.stays WHERE guest = ? ALLOW FILTERING"
		w := newWorld(t)
		w.fill(6, 2)
		var forbidden atomic.Pointer[[]string]
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if list := forbidden.Load(); list != nil && slices.Contains(*list, q.Text) {
				return exectest.Refuse("Guardrail allow_filtering violated: Querying with ALLOW FILTERING is not allowed")
			}
			return nil
		})
		forbidden.Store(&[]string{keys})
		w.boot(starved())
		defer func() { w.stop() }()
		c := advice(t)
		print, text, _, err := cql.FingerprintText(keys, "")
		must(t, err)
		c.Statements, c.Texts = append(c.Statements, print.String()), append(c.Texts, text)
		_, err = w.engine.Approve(t.Context(), "m1", c, "ann")
		must(t, err)
		w.await(migrate.Shadow)
		time.Sleep(25 * time.Hour)
		w.await(migrate.Serving)
		if got := w.ask(byGuest, str("guest1")); got.forwarded {
			t.Errorf("the other statement is not served: %+v", got)
		}
		if got := w.ask(keys, str("guest1")); !got.forwarded || !got.failed {
			t.Errorf("answered what Cassandra refuses: %+v", got)
		}
		if m := w.migration(); !strings.Contains(m.Refused[print.String()], "Guardrail") || len(m.Refused) != 1 {
			t.Errorf("refused: %v", m.Refused)
		}

		w.stop() // a new process verifies, asks again for it alone, and still leaves it
		w.boot(starved())
		w.await(migrate.Serving)
		if got := w.ask(keys, str("guest1")); !got.forwarded {
			t.Errorf("answered after a start: %+v", got)
		}

		forbidden.Store(nil)
		must(t, w.engine.Verify(t.Context(), "m1", "ann"))
		if got := w.ask(keys, str("guest1")); got.forwarded || got.failed {
			t.Errorf("Cassandra answers it again, but it runs as written: %+v", got)
		}
		if m := w.migration(); len(m.Refused) != 0 {
			t.Errorf("still refused: %v", m.Refused)
		}
	})
}

// A change all of whose statements Cassandra refuses has failed, with what it says.
func TestAllStatementsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if q.Text == byGuest {
				return exectest.Refuse("not today")
			}
			return nil
		})
		w.boot(starved())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Failed)
		if m := w.migration(); !strings.Contains(m.Reason, "not today") {
			t.Errorf("%s: %s", m.State, m.Reason)
		}
	})
}

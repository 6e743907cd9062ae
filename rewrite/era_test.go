package rewrite

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// patient is a process whose statements have all the time that they need.
func patient(w *world) {
	e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Bypass: w.bypassed.Store, Schema: w.db.Schema, Migrate: quick(), Every: 1 << 60,
		Kinds: kinds.All(kinds.Settings{LookUp: lookup.Settings{Maintain: maintain.Settings{Timeout: time.Hour, Workers: 1}}})})
	must(w.t, err)
	w.engine = e
	must(w.t, e.Restore(context.Background()))
	w.run(e)
}

// TestRemovedAfterItWasEmptied: what writes replaced is about to be removed, or waits to be, when the base is emptied, and takes its time. It hides no entry of a row that comes again with its timestamp
// of before.
func TestRemovedAfterItWasEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		patient(w)
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		goOn := make(chan struct{})
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "DELETE FROM hotel.stays_by_guest ") {
				<-goOn
			}
			return nil
		})
		w.send(setGuest, stamped(5000), str("cal"), str("room2"), num(1), num(0)) // what this replaces is being removed
		w.send(setGuest, stamped(6000), str("dan"), str("room2"), num(1), num(0))
		w.removed() // this waits
		if a := w.ask("TRUNCATE hotel.stays"); a.failed {
			t.Fatalf("%+v", a)
		}
		time.Sleep(5 * time.Minute)
		close(goOn)
		w.await(migrate.Serving)
		time.Sleep(time.Minute)
		w.reloaded()
		w.send(setGuest, stamped(5500), str("cal"), str("room2"), num(1), num(0))
		for _, guest := range []string{"ann", "cal"} {
			if !w.served(guest) { // compares with the base, too
				t.Errorf("%s is not served", guest)
			}
		}
	})
}

// TestLostBeforeItWasEmptied: a write is lost, though its entry was put, and then the table is filled anew. Once it is carried out after all its row is found.
func TestLostBeforeItWasEmptied(t *testing.T) {
	for name, c := range map[string]struct {
		refill func(*world)
		killed bool // the process; what is to be removed then goes with what it knew
	}{
		"the base is emptied":   {func(w *world) { w.ask("TRUNCATE hotel.stays") }, false},
		"a client writes to it": {func(w *world) { w.ask("DELETE FROM hotel.stays_by_guest WHERE guest = ?", str("ann")) }, false},
		"replicated otherwise": {func(w *world) {
			w.db.Replicate("hotel", map[string]string{"class": "SimpleStrategy", "replication_factor": "3"})
			w.engine.Look()(w.db.Schema())
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				var losing atomic.Bool
				w.db.Before.Set(func(_ context.Context, q exec.Query) error {
					if losing.Load() && q.Text == setGuest {
						return exectest.Timeout
					}
					return nil
				})
				if name == "the base is emptied" {
					w.ask("TRUNCATE hotel.stays") // of those before it nothing is carried out any more
				}
				losing.Store(true)
				if a := w.send(setGuest, stamped(time.Now().UnixMicro()), str("zoe"), str("room3"), num(1), num(0)); !a.failed {
					t.Fatalf("%+v", a)
				}
				losing.Store(false)
				if c.killed {
					w.stop()
					w.boot(quick())
					w.await(migrate.Serving)
				}
				if name != "the base is emptied" {
					c.refill(w)
				}
				time.Sleep(time.Second)
				w.await(migrate.Serving)
				must(t, w.db.Write(setGuest, [][]byte{str("zoe"), str("room3"), num(1), num(0)}, time.Now().UnixMicro()))
				if !w.served("zoe") { // compares with the base, too
					t.Error("not served")
				}
			})
		})
	}
}

package rewrite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// crowded boots an Engine that is told who else is connected.
func (w *world) crowded(fleet bool, others *atomic.Pointer[Others]) {
	w.boot(quick())
	w.stop()
	o := w.engine.options
	o.Fleet = fleet
	o.Others = func(context.Context, string) Others { return *others.Load() }
	e, err := New(o)
	must(w.t, err)
	w.engine = e
	must(w.t, e.Restore(context.Background()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	w.stop = func() { cancel(); <-done; e.Close(ctx) }
}

// Another process with a state of its own is refused at approval, and found while a change serves.
func TestAnotherHelenus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		var others atomic.Pointer[Others]
		alone, other := &Others{}, &Others{Helenus: []Peer{{Owner: "fedcba", Address: "10.0.0.9", Count: 3}}}
		others.Store(other)
		w.crowded(false, &others)
		defer func() { w.stop() }()
		var refused *ErrNotAlone
		if err := w.approve("m1"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "10.0.0.9") || !strings.Contains(err.Error(), "fedcba") {
			t.Errorf("approved beside another: %v", err)
		}
		if len(w.engine.Migrations()) != 0 {
			t.Error("a change was begun")
		}
		others.Store(alone)
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		time.Sleep(3 * othersEvery)
		if !w.served("guest1") {
			t.Error("alone, and not served")
		}
		others.Store(other)
		time.Sleep(othersEvery + time.Second)
		synctest.Wait()
		if m := w.engine.Migrations()[0]; m.State != migrate.Suspended || !strings.Contains(m.Reason, "10.0.0.9") {
			t.Errorf("%s: %s", m.State, m.Reason)
		}
		if w.served("guest1") {
			t.Error("served beside another")
		}
		if err := w.engine.Resume(context.Background(), "m1", "ann"); !errors.As(err, &refused) {
			t.Errorf("resumed beside another: %v", err)
		}
		others.Store(alone)
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		w.await(migrate.Serving)
	})
}

// A state that somebody empties while the process runs has another owner from then on, and the process's own connections look like those of another helenus: it is said what happened.
func TestTheStateIsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		var others atomic.Pointer[Others]
		others.Store(&Others{})
		w.crowded(false, &others)
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		time.Sleep(2 * othersEvery)
		was, err := migrate.Owner(t.Context(), w.store)
		must(t, err)
		must(t, w.store.Delete(t.Context(), migrate.KindOwner, migrate.KindOwner))
		others.Store(&Others{Helenus: []Peer{{Owner: was, Address: "127.0.0.1", Count: 3}}})
		time.Sleep(othersEvery + time.Second)
		synctest.Wait()
		if m := w.engine.Migrations()[0]; m.State != migrate.Suspended || !strings.Contains(m.Reason, "Start all processes of helenus anew") || strings.Contains(m.Reason, "Stop it") {
			t.Errorf("%s: %s", m.State, m.Reason)
		}
	})
}

// A state that can not be read for a moment, as one that is kept in Cassandra, is no other helenus.
func TestUnreadStateIsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		var others atomic.Pointer[Others]
		others.Store(&Others{})
		w.crowded(false, &others)
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		w.store.Loading.Set(func(string, string) error { return errors.New("timed out") })
		time.Sleep(3 * othersEvery)
		synctest.Wait()
		w.store.Loading.Clear()
		if w.state() != migrate.Serving || !w.served("guest1") {
			t.Errorf("%s: %s", w.state(), w.engine.Migrations()[0].Reason)
		}
	})
}

// Applications that go past us are named to whoever approves; where not all can be seen a table of another's is taken for a sign of it.
func TestWhoGoesPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		foreign := schema.Table{Keyspace: "hotel", Name: "stays_by_status", Comment: "helenus r-9 owner " + testOwner}
		w.db.Add(foreign)
		var others atomic.Pointer[Others]
		others.Store(&Others{Unseen: "node 10.0.0.1: unauthorized"})
		w.crowded(false, &others)
		defer func() { w.stop() }()
		var refused *ErrNotAlone
		if err := w.approve("m1"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "hotel.stays_by_status") {
			t.Errorf("beside another's table: %v", err)
		}
		w.db.Drop("hotel", "stays_by_status")
		others.Store(&Others{Unseen: "node 10.0.0.1: unauthorized", Clients: []Peer{{Address: "10.0.0.5", User: "joe", Driver: "DataStax Python Driver", Count: 2}}})
		m, err := w.engine.Approve(context.Background(), "m1", advice(t), "ann")
		must(t, err)
		last := m.Events[len(m.Events)-1].Text
		for _, want := range []string{"warning", "joe", "DataStax Python Driver", "10.0.0.5", "it can not be seen", "unauthorized"} {
			if !strings.Contains(last, want) {
				t.Errorf("%q is not in %q", want, last)
			}
		}
		w.await(migrate.Serving)
	})
}

// A member of a fleet takes nothing on, and answers from nothing that was approved when it was alone.
func TestFleetTakesNothingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		var others atomic.Pointer[Others]
		others.Store(&Others{})
		w.crowded(false, &others)
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		w.stop()
		w.crowded(true, &others)
		defer func() { w.stop() }()
		if m := w.engine.Migrations()[0]; m.State != migrate.Suspended || !strings.Contains(m.Reason, "topology: fleet") {
			t.Errorf("%s: %s", m.State, m.Reason)
		}
		var refused *ErrNotAlone
		if err := w.engine.Resume(context.Background(), "m1", "ann"); !errors.As(err, &refused) {
			t.Errorf("resumed: %v", err)
		}
		if err := w.approve("m2"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "topology: fleet") {
			t.Errorf("approved: %v", err)
		}
	})
}

// TestToldOnce: who is connected past Helenus is told of once, however many connections it has and however often it comes.
func TestToldOnce(t *testing.T) {
	told := map[Peer]bool{}
	cron := Peer{Address: "10.0.0.1", User: "cron", Driver: "python", Count: 1}
	more, other := cron, cron
	more.Count, other.Address = 7, "10.0.0.2"
	for i, c := range []struct {
		clients []Peer
		news    bool
	}{
		{nil, false}, {[]Peer{cron}, true}, {[]Peer{more}, false}, {nil, false}, {[]Peer{cron}, false}, {[]Peer{cron, other}, true}, {[]Peer{other}, false},
	} {
		if o := (Others{Clients: c.clients}); o.news(told) != c.news {
			t.Errorf("%d: %v: %v", i, c.clients, !c.news)
		}
	}
	for i := range 10 * mostTold {
		o := Others{Clients: []Peer{{Driver: fmt.Sprint(i)}}}
		o.news(told)
	}
	if len(told) > mostTold+1 {
		t.Errorf("%d are remembered", len(told))
	}
}

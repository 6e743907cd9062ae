package rewrite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestBypass: from the moment that the kill-switch is on nothing is rewritten, over a restart; when it is off again, nothing is
// served before it was verified, and then what was written unseen is there.
func TestBypass(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		if !w.served("guest1") {
			t.Fatal("not served")
		}
		must(t, w.engine.Bypass(ctx, true, "ann"))
		// A write that nobody sees: it moves a row from guest1 to guest4, and a new row comes.
		if got := w.ask(setGuest, str("guest4"), str("room1"), num(0), num(0)); got.failed {
			t.Fatalf("%+v", got)
		}
		w.ask(insertRow, str("room77"), num(1), num(1), str("guest1"), str("booked"))
		for _, guest := range []string{"guest1", "guest4"} {
			if w.served(guest) { // compares with the base, too
				t.Errorf("%s is served", guest)
			}
		}
		if b := w.engine.Bypassed(); !b.On || b.Actor != "ann" || b.Since.IsZero() || w.state() != migrate.Suspended {
			t.Errorf("%+v, %s", b, w.state())
		}
		must(t, w.engine.Bypass(ctx, true, "bob")) // again: nothing changes
		if b := w.engine.Bypassed(); b.Actor != "ann" {
			t.Errorf("%+v", b)
		}
		for _, err := range []error{w.engine.Resume(ctx, "m1", "ann"), w.approve("m2")} {
			if !errors.Is(err, ErrBypassed) {
				t.Errorf("while it is on: %v", err)
			}
		}
		w.stop()
		w.bypassed.Store(false) // another process
		w.boot(quick())
		if !w.bypassed.Load() || !w.engine.Bypassed().On || w.state() != migrate.Suspended {
			t.Error("it does not hold over a restart")
		}
		// Off waits for what is under way, unseen; if that does not end it stays on.
		limited, cancel := context.WithTimeout(ctx, time.Second)
		w.mu.Lock()
		w.barrier = func(ctx context.Context) { <-ctx.Done() }
		w.mu.Unlock()
		if err := w.engine.Bypass(limited, false, "ann"); err == nil || !w.bypassed.Load() || !w.engine.Bypassed().On {
			t.Errorf("off did not wait for requests: %v", err)
		}
		cancel()
		w.mu.Lock()
		w.barrier = nil
		w.mu.Unlock()
		began := time.Now()
		must(t, w.engine.Bypass(ctx, false, "ann"))
		if waited := time.Since(began); w.bypassed.Load() || w.engine.Bypassed().On || waited < quick().Settle {
			t.Errorf("off after %v: %+v", waited, w.engine.Bypassed())
		}
		must(t, w.engine.Bypass(ctx, false, "ann"))
		if w.served("guest1") || w.state() != migrate.Suspended {
			t.Errorf("served without being verified; %s", w.state())
		}
		must(t, w.engine.Resume(ctx, "m1", "ann"))
		w.await(migrate.Serving)
		for _, guest := range []string{"guest1", "guest4"} {
			if !w.served(guest) {
				t.Errorf("%s is not served", guest)
			}
		}
	})
}

// TestBypassIsNotHeldUp: it takes effect though nothing can be saved, and though an order to end it is waiting.
func TestBypassIsNotHeldUp(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		broken := errors.New("disk full")
		w.store.Before.Set(func(string, string) error { return broken })
		if err := w.engine.Bypass(ctx, true, "ann"); !errors.Is(err, broken) {
			t.Errorf("that it could not be saved is not said: %v", err)
		}
		if !w.bypassed.Load() || w.served("guest1") || w.state() != migrate.Suspended {
			t.Errorf("it did not take effect; %s", w.state())
		}
		w.store.Before.Clear()
		must(t, w.engine.Bypass(ctx, true, "ann"))
		waits := make(chan struct{})
		w.mu.Lock()
		w.barrier = func(ctx context.Context) { close(waits); time.Sleep(time.Minute) }
		w.mu.Unlock()
		ended := make(chan error, 1)
		go func() { ended <- w.engine.Bypass(ctx, false, "ann") }()
		<-waits
		if w.bypassed.Load() {
			t.Error("requests are not seen again while it is waited")
		}
		must(t, w.engine.Bypass(ctx, true, "bob"))
		if err := <-ended; err == nil || !w.bypassed.Load() || !w.engine.Bypassed().On {
			t.Errorf("an order that was overtaken: %v", err)
		}
	})
}

// TestBypassAfterACrash: a process that died between saving that it is on and suspending comes up bypassed and suspended.
func TestBypassAfterACrash(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		must(t, w.store.Save(context.Background(), kindBypass, kindBypass, Bypass{On: true, Actor: "ann"}))
		w.stop()
		w.boot(quick())
		if !w.bypassed.Load() || w.state() != migrate.Suspended {
			t.Errorf("%v %s", w.bypassed.Load(), w.state())
		}
	})
}

// TestBypassWaitsForNoApproval: an approval may wait for a node that is down. Requests are bypassed meanwhile, and who asks whether they are is told; what was approved is
// suspended, too. (In the machine's own time: a bubble's stands still while a lock is waited for.)
func TestBypassWaitsForNoApproval(t *testing.T) {
	w := newWorld(t)
	looks, goOn := make(chan struct{}), make(chan struct{})
	e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Bypass: w.bypassed.Store, Schema: w.db.Schema, Migrate: quick(), Kinds: few(),
		Others: func(context.Context, string) Others { close(looks); <-goOn; return Others{} }})
	must(t, err)
	ctx := context.Background()
	must(t, e.Restore(ctx))
	approved, bypassed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := e.Approve(ctx, "m1", advice(t), "ann")
		approved <- err
	}()
	<-looks
	go func() { bypassed <- e.Bypass(ctx, true, "bob") }()
	told := make(chan struct{})
	go func() {
		defer close(told)
		for !e.Bypassed().On || !w.bypassed.Load() {
			time.Sleep(time.Millisecond)
		}
	}()
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Error("it waits for an approval, and so does who asks how it stands")
	}
	select {
	case err := <-bypassed:
		t.Errorf("the order has ended before what was being approved was suspended: %v", err)
	default:
	}
	if err := e.Resume(ctx, "m1", "ann"); !errors.Is(err, ErrBypassed) {
		t.Errorf("while it is on: %v", err)
	}
	close(goOn)
	must(t, errors.Join(<-approved, <-bypassed))
	if got := e.Migrations()[0].State; got != migrate.Suspended {
		t.Errorf("what was being approved is %s", got)
	}
}

// alone is a fleet of which this process is the only member that is heard of.
type alone struct{ lease time.Duration }

func (alone) Serving() bool                                     { return true }
func (alone) Barrier(context.Context, func(string)) error       { return nil }
func (alone) Followed(time.Duration) bool                       { return true }
func (alone) Moment() time.Duration                             { return 1 }
func (alone) Blocked() string                                   { return "" }
func (alone) Leads() bool                                       { return true }
func (alone) Lead(ctx context.Context, f func(context.Context)) { f(ctx) }
func (a alone) Quiet(_ context.Context, stored <-chan struct{}) error {
	select {
	case <-stored:
	case <-time.After(a.lease):
	}
	return nil
}

// TestBypassInAFleetIsNotHeldUp: a state that hangs, whoever asks it for what, holds requests of a member up for no longer than others may answer by what they pass by. (In the
// machine's own time, as above.)
func TestBypassInAFleetIsNotHeldUp(t *testing.T) {
	for name, hang := range map[string]func(w *world, e *Engine, goOn <-chan struct{}){
		"while it suspends": func(w *world, _ *Engine, goOn <-chan struct{}) {
			w.store.Before.Set(func(kind, _ string) error {
				if kind == change.Kind {
					<-goOn
				}
				return nil
			})
		},
		"while it follows others": func(w *world, e *Engine, goOn <-chan struct{}) {
			asked := make(chan struct{})
			w.store.Loading.Set(func(kind, _ string) error {
				if kind == kindBypass {
					close(asked)
					<-goOn
					return errFull
				}
				return nil
			})
			go func() { _ = e.Follow(context.Background()) }()
			<-asked
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Bypass: w.bypassed.Store, Schema: w.db.Schema, Migrate: quick(), Kinds: few(), Changes: change.Open(w.store), Members: alone{100 * time.Millisecond}})
			must(t, err)
			w.engine = e
			ctx := context.Background()
			must(t, e.Restore(ctx))
			must(t, w.approve("m1"))
			goOn, bypassed := make(chan struct{}), make(chan error, 1)
			hang(w, e, goOn)
			go func() { bypassed <- e.Bypass(ctx, true, "ann") }()
			for began := time.Now(); !w.bypassed.Load(); time.Sleep(time.Millisecond) {
				if time.Since(began) > 5*bypassPatience {
					t.Fatal("it waits for the state")
				}
			}
			close(goOn)
			if err := <-bypassed; name == "while it suspends" && err != nil {
				t.Error(err)
			}
			if got := e.Migrations()[0].State; got != migrate.Suspended {
				t.Errorf("%s", got)
			}
		})
	}
}

package rewrite

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// interferences are what people do to a change, or to its base, at any moment of its life; each ends with an order after which it goes on. id is the change that is to serve then.
var interferences = map[string]func(w *world, t *testing.T) (id string){
	"suspended": func(w *world, t *testing.T) string {
		must(t, w.engine.manager.Suspend(context.Background(), "m1", "for the test", false))
		return w.resume(t)
	},
	"a key column is renamed, and back": func(w *world, t *testing.T) string {
		w.redefine(func(b *schema.Table) { b.Columns[2].Name = "number" })
		w.engine.Look()(w.db.Schema())
		w.redefine(func(b *schema.Table) { b.Columns[2].Name = "n" })
		w.engine.Look()(w.db.Schema())
		return w.resume(t)
	},
	"a column is added": func(w *world, t *testing.T) string {
		w.redefine(func(b *schema.Table) {
			b.Columns = append(b.Columns, schema.Column{Name: "stars", Kind: schema.Regular, Position: -1, Type: "int"})
		})
		w.engine.Look()(w.db.Schema())
		return "m1"
	},
	"the base is emptied": func(w *world, _ *testing.T) string {
		w.ask("TRUNCATE hotel.stays")
		for i := range 3 {
			w.ask(insertRow, str("room1"), num(1), num(i), str(fmt.Sprint("guest", i)), str("after"))
		}
		return "m1"
	},
	"rolled back, dropped, and approved anew": (*world).anew,
	"its table is dropped by hand": func(w *world, t *testing.T) string {
		w.db.Drop("hotel", "stays_by_guest")
		w.engine.Look()(w.db.Schema())
		return w.anew(t)
	},
	"its table is emptied by a client": func(w *world, _ *testing.T) string {
		w.ask("TRUNCATE hotel.stays_by_guest")
		return "m1"
	},
	"bypassed for a while, in which a row is written": func(w *world, t *testing.T) string {
		must(t, w.engine.Bypass(context.Background(), true, "ann"))
		w.ask(insertRow, str("room8"), num(8), num(1), str("guest1"), str("unseen"))
		must(t, w.engine.Bypass(context.Background(), false, "ann"))
		return w.resume(t)
	},
	"rows of the base live longer": func(w *world, _ *testing.T) string {
		for _, ttl := range []int{100, 0} {
			w.redefine(func(b *schema.Table) { b.DefaultTTL = ttl })
			w.engine.Look()(w.db.Schema())
		}
		return "m1"
	},
	"held, cut over and paused for a while": func(w *world, t *testing.T) string {
		ctx := context.Background()
		held := w.engine.Hold(ctx, "m1", "ann") == nil // else it serves already
		paused := true
		_ = w.engine.Throttle(ctx, "m1", migrate.ThrottleOrder{Paused: &paused}, "ann") // in some states there is no pace
		time.Sleep(time.Minute)
		paused = false
		_ = w.engine.Throttle(ctx, "m1", migrate.ThrottleOrder{Paused: &paused}, "ann")
		if held {
			must(t, w.engine.CutOver(ctx, "m1", "ann"))
		}
		return "m1"
	},
}

// anew has m1 be rolled back and dropped, and approved as m2.
func (w *world) anew(t *testing.T) string {
	must(t, w.engine.Rollback(context.Background(), "m1", "ann"))
	w.awaitOf("m1", migrate.RolledBack)
	must(t, w.engine.Drop(context.Background(), "m1", "ann"))
	must(t, w.approve("m2"))
	return "m2"
}

// resume resumes m1, if it was stopped.
func (w *world) resume(t *testing.T) string {
	time.Sleep(time.Second)
	synctest.Wait()
	if s := w.migration().State; s == migrate.Suspended || s == migrate.Failed {
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
	}
	return "m1"
}

// awaitOf waits, in the time of the bubble, for a state of one change.
func (w *world) awaitOf(id string, want migrate.State) {
	w.t.Helper()
	for range 10000 {
		synctest.Wait()
		for _, m := range w.engine.Migrations() {
			if m.ID == id && m.State == want {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("%s is not %s: %+v", id, want, w.engine.Migrations())
}

// strides is how many steps are between those that are interfered with: fewer with the race detector, which finds what it finds in some, and none in long runs.
func strides(usual int) int {
	switch {
	case long.Tests():
		return 1
	case raced:
		return 10 * usual
	}
	return usual
}

// TestInterfereAnywhere: whatever is done at any step of a change, at each statement of ours and each time that it is stored, it serves in the end, and answers are right.
func TestInterfereAnywhere(t *testing.T) {
	for name, interfere := range interferences {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at += strides(1) {
				reached := false
				ok := t.Run(fmt.Sprint("step ", at), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { reached = interferedAt(t, at, interfere) })
				})
				if !ok {
					return // the steps after it would mostly say the same
				}
				if !reached {
					if at < 20 {
						t.Fatalf("only %d steps", at)
					}
					return
				}
			}
		})
	}
}

// interferedAt has a change be interfered with at a step; false: it has not so many.
func interferedAt(t *testing.T, at int, interfere func(*world, *testing.T) string) bool {
	w := newWorld(t)
	w.fill(4, 2)
	var n atomic.Int64
	reached := make(chan struct{})
	hit := func() bool {
		if n.Add(1) != int64(at) {
			return false
		}
		close(reached)
		return true
	}
	w.db.Before.Set(func(context.Context, exec.Query) error {
		if hit() {
			time.Sleep(10 * time.Millisecond) // it is under way meanwhile; the store is asked under locks, on which nobody can wait in a bubble
		}
		return nil
	})
	w.store.Before.Set(func(string, string) error { hit(); return nil })
	w.boot(quick())
	defer func() { w.stop() }()
	approved := make(chan error, 1)
	go func() { approved <- w.approve("m1") }()
	select {
	case <-reached:
	case <-time.After(10 * time.Minute): // before it is swept
		return false
	}
	if len(w.engine.Migrations()) == 0 {
		must(t, <-approved)
	}
	id := interfere(w, t)
	w.awaitOf(id, migrate.Serving)
	w.ask(insertRow, str("room7"), num(7), num(1), str("guest1"), str("new"))
	for _, guest := range []string{"guest0", "guest1", "guest2"} {
		if !w.served(guest) {
			t.Errorf("%s is not served", guest)
		}
	}
	return true
}

// TestInterfereAnywhereInAFleet: the same at the member that does not lead, at statements of ours; at each of them in long runs.
func TestInterfereAnywhereInAFleet(t *testing.T) {
	for _, name := range []string{"suspended", "the base is emptied", "rolled back, dropped, and approved anew", "its table is emptied by a client", "held, cut over and paused for a while"} {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at += strides(5) {
				reached := false
				ok := t.Run(fmt.Sprint("step ", at), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { reached = interferedByAMemberAt(t, at, interferences[name]) })
				})
				if !ok {
					return
				}
				if !reached {
					if at < 15 {
						t.Fatalf("only %d steps", at)
					}
					return
				}
			}
		})
	}
}

func interferedByAMemberAt(t *testing.T, at int, interfere func(*world, *testing.T) string) bool {
	f := newFleet(t, 2)
	defer f.close()
	leader, other := f.leader(), f.all[1]
	var n atomic.Int64
	reached := make(chan struct{})
	f.db.Before.Set(func(context.Context, exec.Query) error {
		if n.Add(1) == int64(at) {
			close(reached)
			time.Sleep(10 * time.Millisecond)
		}
		return nil
	})
	go func() { _ = leader.approve("m1") }()
	select {
	case <-reached:
	case <-time.After(10 * time.Minute):
		return false
	}
	for len(other.engine.Migrations()) == 0 { // which has not heard of it yet
		time.Sleep(10 * time.Millisecond)
	}
	interfere(other.world, t)
	for _, w := range f.all {
		w.answered()
		w.say(insertRow, str("room7"), num(7), num(1), str("guest1"), str("new"))
		for _, guest := range []string{"guest0", "guest1", "guest2"} {
			for _, w := range f.all {
				w.same(guest)
			}
		}
	}
	return true
}

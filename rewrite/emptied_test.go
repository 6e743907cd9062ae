package rewrite

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// stamped has a request bring its timestamp.
func stamped(at int64) func(*proxy.Request) {
	return func(r *proxy.Request) { r.HasTimestamp, r.Timestamp = true, at }
}

var emptiedKey = [][]byte{str("room3"), num(1), num(0)}

// removed has entries of ann be removed up to 2099, each of which would hide one of a write of before that comes later.
func (w *world) removed() {
	for i, guest := range []string{"ann", "bob"} {
		w.send(setGuest, stamped(int64(1000*(i+1))+100), append([][]byte{str(guest)}, emptiedKey...)...)
		time.Sleep(time.Second)
	}
}

// reloaded writes a row of before anew, as who restores a table does.
func (w *world) reloaded() {
	w.send(setGuest, stamped(1500), append([][]byte{str("ann")}, emptiedKey...)...)
}

// TestKilledWhileEmptied: a process is killed once the base was emptied through it, before it could store what follows from that. Nothing of before hides what is written later.
func TestKilledWhileEmptied(t *testing.T) {
	for _, state := range []migrate.State{migrate.Serving, migrate.Suspended} {
		t.Run(string(state), func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				w.removed()
				if state == migrate.Suspended {
					must(t, w.engine.manager.Suspend(context.Background(), "m1", "for the test", false))
				}
				w.db.Before.Set(func(_ context.Context, q exec.Query) error {
					if q.Text == "TRUNCATE hotel.stays" {
						w.store.Before.Set(func(string, string) error { return errFull })
					}
					return nil
				})
				if a := w.ask("TRUNCATE hotel.stays"); a.failed || !a.forwarded {
					t.Fatalf("%+v", a)
				}
				w.stop()
				w.store.Before.Clear()
				w.boot(quick())
				if state == migrate.Suspended {
					must(t, w.engine.Resume(context.Background(), "m1", "ann"))
				}
				w.await(migrate.Serving)
				w.reloaded()
				if !w.served("ann") { // compares with the base, too
					t.Error("not served")
				}
				if m := w.migration(); m.Emptying != 0 || m.Refill {
					t.Errorf("%d statements empty it; to be filled anew: %t", m.Emptying, m.Refill)
				}
			})
		})
	}
}

// TestMemberGoneWhileEmptied: the same of a member of a fleet, whom the others take off the register.
func TestMemberGoneWhileEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		must(t, leader.approve("m1"))
		leader.answered()
		other.answered()
		leader.removed()
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if q.Text == "TRUNCATE hotel.stays" {
				other.cut.Store(true)
			}
			return nil
		})
		if a := other.say("TRUNCATE hotel.stays"); a.failed {
			t.Fatalf("%+v", a)
		}
		other.die()
		time.Sleep(time.Minute)
		leader.await(migrate.Serving)
		leader.answered()
		leader.reloaded()
		leader.same("ann")
	})
}

// TestEmptiedOrNot: what Cassandra refuses to empty is left as it is, and a state that hangs keeps nobody waiting for long.
func TestEmptiedOrNot(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		unauthorized := proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x2100}
		if a := w.say("", "TRUNCATE hotel.stays", false, unauthorized); a == nil || a.forwarded != 1 || a.serving {
			t.Fatalf("%+v", a)
		}
		if m := w.migration(); m.State != migrate.Serving || m.Emptying != 0 || !w.served("guest1") {
			t.Errorf("refused: %s, %d statements empty it", m.State, m.Emptying)
		}
		goOn := make(chan struct{})
		var hangs atomic.Bool
		w.store.Before.Set(func(string, string) error {
			hangs.Store(true)
			<-goOn
			return nil
		})
		began := time.Now()
		if a := w.ask("TRUNCATE hotel.stays"); a.failed || !a.forwarded || !hangs.Load() || time.Since(began) > emptyingPatience {
			t.Errorf("%+v, after %v; the state was asked: %t", a, time.Since(began), hangs.Load())
		}
		if w.served("guest1") {
			t.Error("served")
		}
		w.store.Before.Clear()
		close(goOn)
		w.await(migrate.Serving)
		var told bool
		for _, e := range w.migration().Events {
			told = told || strings.HasPrefix(e.Text, "emptied, and filled anew")
		}
		if m := w.migration(); m.Emptying != 0 || !told {
			t.Errorf("%d statements empty it; %+v", m.Emptying, m.Events)
		}
	})
}

// TestEmptiedBeforeItWasFilled: entries are written, and removed, before a change is filled. It is stopped then, and somebody empties the base.
func TestEmptiedBeforeItWasFilled(t *testing.T) {
	for name, broken := range map[string]bool{"suspended": false, "broken": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.fill(6, 2)
				w.boot(quick())
				defer func() { w.stop() }()
				w.mu.Lock()
				w.barrier = func(ctx context.Context) { <-ctx.Done() }
				w.mu.Unlock()
				must(t, w.approve("m1"))
				w.await(migrate.DualWrite)
				w.removed()
				must(t, w.engine.manager.Suspend(context.Background(), "m1", "for the test", broken))
				w.ask("TRUNCATE hotel.stays")
				synctest.Wait()
				w.mu.Lock()
				w.barrier = nil
				w.mu.Unlock()
				must(t, w.engine.Resume(context.Background(), "m1", "ann"))
				time.Sleep(30 * time.Second) // it is filled, and compares or serves
				w.reloaded()
				w.ask(byGuest, str("ann"))
				w.await(migrate.Serving)
				if !w.served("ann") {
					t.Error("not served")
				}
			})
		})
	}
}

// TestEmptyingIsNotedLate: the state is so slow, or others are so long before it, that a TRUNCATE is answered before it is noted that it is about to go on.
func TestEmptyingIsNotedLate(t *testing.T) {
	unauthorized := proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x2100}
	for name, answer := range map[string]proxy.Response{"emptied": {}, "refused": unauthorized} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				serving(t, func(t *testing.T, w *world) {
					goOn := make(chan struct{})
					w.store.Before.Set(func(string, string) error {
						<-goOn
						return nil
					})
					go func() { _, _ = w.engine.manager.Note(context.Background(), "m1", "by the way") }()
					synctest.Wait()
					a := w.say("", "TRUNCATE hotel.stays", false, answer)
					time.Sleep(2 * emptyingPatience)
					synctest.Wait()
					if a == nil || a.forwarded != 1 {
						t.Errorf("%+v", a)
					}
					w.store.Before.Clear()
					close(goOn)
					synctest.Wait()
					w.await(migrate.Serving)
					if m := w.migration(); m.Emptying != 0 {
						t.Errorf("%d statements empty it", m.Emptying)
					}
				})
			}
		})
	}
}

// TestDroppedAndMadeAgain: a base is dropped, and made again by the definition of a snapshot, which gives it the id that it had (WITH ID). Its rows went as those of a TRUNCATE
// go: nothing of before hides what is written later.
func TestDroppedAndMadeAgain(t *testing.T) {
	gone := func(w *world) { w.db.Drop("hotel", "stays") }
	look := func(w *world) { w.engine.Look()(w.db.Schema()) }
	again := func(w *world) { w.db.Add(stays()) }
	resume := func(w *world) { must(w.t, w.engine.Resume(context.Background(), "m1", "ann")) }
	for name, steps := range map[string][]func(*world){
		"it is seen": {gone, look, again, look, resume},
		"another is there in between": {gone, func(w *world) {
			other := stays()
			other.ID = "2"
			w.db.Add(other)
		}, look, gone, again, look, resume},
		"while another thing keeps the change from going on": {func(w *world) {
			w.redefine(func(b *schema.Table) { b.Columns = slices.Delete(b.Columns, 3, 4) })
		}, look, gone, look, again, look, resume},
		"while it is suspended": {func(w *world) { must(w.t, w.engine.manager.Suspend(context.Background(), "m1", "for the test", false)) }, gone, look, again, look, resume},
		"while it has failed": {func(w *world) {
			w.db.Before.Set(func(_ context.Context, q exec.Query) error {
				if strings.Contains(q.Text, "WHERE token") {
					return errRefused
				}
				return nil
			})
			must(w.t, w.engine.manager.Reverify(context.Background(), "m1", "for the test"))
			w.await(migrate.Failed)
			w.db.Before.Clear()
		}, gone, look, again, look, resume},
		"faster than anybody looks": {func(w *world) {
			if a := w.say("", "DROP TABLE hotel.stays", false, proxy.Response{Opcode: proxy.OpResult}); a == nil || a.forwarded != 1 {
				w.t.Fatalf("%+v", a)
			}
		}, gone, again, look},
		"with its keyspace": {func(w *world) { w.say("", "DROP KEYSPACE hotel", false, proxy.Response{Opcode: proxy.OpResult}) }, gone, again, look},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				w.removed()
				for _, step := range steps {
					step(w)
					synctest.Wait()
				}
				w.await(migrate.Serving)
				w.reloaded()
				if !w.served("ann") { // compares with the base, too
					t.Error("not served")
				}
			})
		})
	}
}

package rewrite

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// hanging has entries that are put wait until they are given up.
func hanging(ctx context.Context, q exec.Query) error {
	if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") {
		<-ctx.Done()
		return exectest.Timeout
	}
	return nil
}

// waited is how long twenty writes took in all whose entries hang, one after the other, a tenth of a second apart.
func waited(t *testing.T, say func(text string, values ...[]byte) answer) (sum time.Duration) {
	t.Helper()
	for i := range 20 {
		began := time.Now()
		if a := say(insertRow, str("room9"), num(9), num(i), str("guest1"), str("new")); a.failed {
			t.Error("a write failed")
		}
		sum += time.Since(began)
		time.Sleep(100 * time.Millisecond)
	}
	return sum
}

// TestBeforeItServesAFailingEntryCostsAMemberNoMore: while a table is filled, and while it is verified, writes whose entries can not be written wait in a fleet as long as in a process
// alone; and nothing is missing afterwards.
func TestBeforeItServesAFailingEntryCostsAMemberNoMore(t *testing.T) {
	ctx := context.Background()
	for _, state := range []migrate.State{migrate.Backfill, migrate.Verify} {
		synctest.Test(t, func(t *testing.T) {
			hold := func(w *world) {
				t.Helper()
				_, err := w.engine.Approve(ctx, "m1", advice(t), "ann")
				must(t, err)
				if state == migrate.Verify {
					must(t, w.engine.Throttle(ctx, "m1", pacing(10), "ann"))
					w.await(migrate.Verify)
				}
				must(t, w.engine.Throttle(ctx, "m1", pausing(true), "ann"))
				w.await(state)
				time.Sleep(5 * time.Second) // everybody has heard of it
			}
			alone := newWorld(t)
			alone.fill(4, 5)
			alone.boot(quick())
			hold(alone)
			alone.db.Before.Set(hanging)
			may := waited(t, alone.ask)
			alone.db.Before.Clear()
			alone.stop()

			f := newFleet(t, 3)
			defer f.close()
			hold(f.leader().world)
			f.db.Before.Set(hanging)
			for _, w := range f.all {
				if took := waited(t, w.say); took > may+100*time.Millisecond {
					t.Errorf("in state %s writes through member %s waited for %v, those of a process alone for %v", state, w.member.ID(), took, may)
				}
				if now := w.state(); now != state {
					t.Fatalf("it is %s", now)
				}
			}
			f.db.Before.Clear()
			must(t, f.leader().engine.Throttle(ctx, "m1", migrate.ThrottleOrder{Rate: new(0), Paused: new(bool)}, "ann"))
			for _, w := range f.all {
				w.answered()
				w.same("guest1")
			}
		})
	}
}

// TestNoWriteOvertakesTheOrderThatTurnsBack: a member's order to verify takes a second to be stored, and until others have heard of it they answer by the change. A write that goes on without its
// entry meanwhile, because others could not be written just before, waits for that as the first did.
func TestNoWriteOvertakesTheOrderThatTurnsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		_, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann")
		must(t, err)
		leader.answered()
		other.answered()
		a := other.engine.active["r-1"]
		a.breaker.trip(a.uptime(), "for the test")
		other.engine.turnBack(a, "for the test", func(ctx context.Context, id, reason string) error {
			time.Sleep(time.Second)
			return other.engine.manager.Reverify(ctx, id, reason)
		})
		if a := other.say(insertRow, str("room9"), num(9), num(1), str("guest1"), str("new")); a.failed {
			t.Error("the write failed")
		}
		leader.same("guest1")
		for _, w := range f.all {
			w.answered()
			w.same("guest1")
		}
	})
}

// TestWhatIsOwedIsVerifiedFirst: while the leader compares tables another member leaves an entry out, and has not said so a minute later. Nothing goes on until it has.
func TestWhatIsOwedIsVerifiedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		_, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann")
		must(t, err)
		for len(other.engine.Migrations()) == 0 || other.state() != migrate.Verify {
			time.Sleep(time.Millisecond)
		}
		a := other.engine.active["r-1"]
		for !a.free() && !a.used() {
			time.Sleep(time.Millisecond)
		}
		if a.used() {
			t.Fatal("it was not known that nothing rests on it before something did")
		}
		debt := a.reliance.debt
		debt.paying.Store(true) // who gives the order is slow
		a.breaker.trip(a.uptime(), "for the test")
		if a := other.say(insertRow, str("room0"), num(0), num(9), str("guest1"), str("new")); a.failed {
			t.Error("the write failed")
		}
		time.Sleep(time.Minute)
		for _, w := range f.all {
			if now := w.state(); now != migrate.Verify {
				t.Errorf("it is %s though an entry is owed", now)
			}
		}
		guard.In(&other.engine.wait, guard.Migrations, func() { other.engine.pay(a, "for the test") })
		for _, w := range f.all {
			w.answered()
			w.same("guest1")
		}
	})
}

// TestCloseWaitsForWhatIsOwed: an entry was left out just before the process ends, in no time to spare. The order to verify is given, and waited for.
func TestCloseWaitsForWhatIsOwed(t *testing.T) {
	for range 20 { // who comes first is chance; the race detector sees what nobody waits for
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 2)
			defer f.close()
			_, err := f.leader().engine.Approve(context.Background(), "r-1", advice(t), "ann")
			must(t, err)
			other := f.all[1]
			other.answered()
			a := other.engine.active["r-1"]
			a.reliance.debt.missed.Add(1)
			guard.In(&other.engine.wait, guard.Migrations, func() { other.engine.owe(a, "for the test") })
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			other.engine.Close(ended)
			other.stop()
			if n := a.reliance.debt.missed.Load(); n != 0 || other.engine.unsaved.Load() != 0 {
				t.Errorf("closed with %d entries owed and %d orders under way", n, other.engine.unsaved.Load())
			}
		})
	}
}

// TestWhoHasFollowedIsNotAllWhoDo: the leader turns a change back, and one member has followed that while another answers by the change still. Writes through the one wait for the other.
func TestWhoHasFollowedIsNotAllWhoDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := newFleet(t, 3)
		defer f.close()
		_, err := f.leader().engine.Approve(ctx, "r-1", advice(t), "ann")
		must(t, err)
		for _, w := range f.all {
			w.answered()
		}
		leader, one, other := f.leader(), f.all[1], f.all[2]
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") {
				return exec.ErrNoConnection
			}
			return nil
		})
		must(t, leader.engine.manager.Reverify(ctx, "r-1", "for the test"))
		must(t, one.member.Step(ctx))
		if a := other.say(byGuest, str("guest1")); a.forwarded || one.state() != migrate.Verify {
			t.Fatal("one was to have followed, and the other was not")
		}
		if a := one.say(insertRow, str("room9"), num(9), num(1), str("guest1"), str("new")); a.failed {
			t.Error("the write failed")
		}
		other.same("guest1")
		f.db.Before.Clear()
		for _, w := range f.all {
			w.answered()
			w.same("guest1")
		}
	})
}

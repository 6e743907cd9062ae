package rewrite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// A fleet of engines over one database and one store, in memory: the real engines, states and members, in the time of the bubble.

type fleetWorld struct {
	*world
	all []*memberWorld
}

// memberWorld is one process of it.
type memberWorld struct {
	*world
	member *fleet.Member
	ended  context.CancelFunc
	dead   atomic.Bool
	flying atomic.Int64
	cut    atomic.Bool // it can not store what becomes of changes
	stored func()      // called once it has; may be nil
}

// ownStore is the store as a process reaches it.
type ownStore struct {
	*exectest.Store
	of *memberWorld
}

func (s ownStore) Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	if s.of.cut.Load() {
		return 0, errors.New("no majority")
	}
	version, err := s.Store.Replace(ctx, kind, id, version, v, entries...)
	if err == nil && s.of.stored != nil {
		s.of.stored()
	}
	return version, err
}

func newFleet(t testing.TB, n int) *fleetWorld {
	f := &fleetWorld{world: newWorld(t)}
	f.fill(4, 5)
	for range n {
		f.join()
	}
	return f
}

// join starts one more process.
func (f *fleetWorld) join() *memberWorld {
	f.t.Helper()
	w := &memberWorld{world: &world{t: f.t, db: f.db, store: f.store}}
	w.barrier = func(ctx context.Context) { // requests that are under way
		for w.flying.Load() > 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	book := change.Open(ownStore{f.store, w})
	w.member = fleet.New(fleet.Options{Store: f.store, ID: fmt.Sprint("m", len(f.all)+1), Form: 1, Truth: fleet.Truth{
		Follow: []func(context.Context) error{func(ctx context.Context) error {
			if w.dead.Load() {
				return errors.New("dead")
			}
			return errors.Join(book.Sync(ctx), w.engine.Follow(ctx))
		}},
		Rules: func() uint64 { return w.engine.Rules() }, Barrier: func(ctx context.Context) error { return w.engine.Barrier(ctx) }, Withholding: func() bool { return w.dead.Load() || w.engine.Withholding() },
		Blocked: func() string { return w.engine.Unfollowed() }, Reverify: func(ctx context.Context, why string) error { return w.engine.ReverifyAll(ctx, why) },
		Connected: func(context.Context) (map[string]bool, error) {
			on := map[string]bool{}
			for _, x := range f.all {
				on[x.member.ID()] = !x.dead.Load()
			}
			return on, nil
		},
	}})
	e, err := New(Options{Session: f.db, Store: f.store, Changes: book, Traffic: w, Bypass: w.bypassed.Store, Schema: f.db.Schema, Migrate: quick(), Every: 1 << 60, Kinds: few(), Members: w.member})
	if err != nil {
		f.t.Fatal(err)
	}
	w.engine = e
	ctx, cancel := context.WithCancel(context.Background())
	w.ended = cancel
	if err := e.Restore(ctx); err != nil {
		f.t.Fatal(err)
	}
	alone, err := w.member.Join(ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	if alone {
		if err := e.ReverifyAll(ctx, "alone"); err != nil {
			f.t.Fatal(err)
		}
	}
	f.all = append(f.all, w)
	go w.member.Run(ctx)
	go w.member.Reap(ctx)
	w.run(e)
	return w
}

// die is kill -9: nothing of it happens any more.
func (w *memberWorld) die() {
	w.dead.Store(true)
	w.ended()
	w.stop()
}

func (f *fleetWorld) close() {
	for _, w := range f.all {
		if !w.dead.Load() {
			w.die()
		}
	}
	time.Sleep(time.Second) // a barrier that was awaited beside returns: in a bubble nothing that sleeps may outlive the test
}

func (f *fleetWorld) leader() *memberWorld {
	for range 1000 {
		for _, w := range f.all {
			if !w.dead.Load() && w.member.Leads() {
				return w
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.t.Fatal("nobody leads")
	return nil
}

// alive are the processes that live.
func (f *fleetWorld) alive() []*memberWorld {
	return slices.DeleteFunc(slices.Clone(f.all), func(w *memberWorld) bool { return w.dead.Load() })
}

// say sends a statement through a member, as one that is under way.
func (w *memberWorld) say(text string, values ...[]byte) answer {
	w.flying.Add(1)
	defer w.flying.Add(-1)
	return w.ask(text, values...)
}

// answered waits until a member answers by the change.
func (w *memberWorld) answered() {
	w.t.Helper()
	for range 3000 {
		if a := w.say(byGuest, str("guest1")); !a.forwarded && !a.failed {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("member %s does not answer by the change: %s; %+v", w.member.ID(), w.member.Trouble(), w.engine.Migrations())
}

// same compares an answer through a member with the database's own.
func (w *memberWorld) same(guest string) {
	w.t.Helper()
	got := w.say(byGuest, str(guest))
	own, err := w.db.Query(context.Background(), exec.Query{Text: byGuest, Values: [][]byte{str(guest)}})
	if err != nil {
		w.t.Fatal(err)
	}
	if !exec.Equal(got.rows, own.Rows) {
		w.t.Errorf("member %s answers %d rows for %s (as written: %v), the base has %d", w.member.ID(), len(got.rows), guest, got.forwarded, len(own.Rows))
	}
}

// What is approved at a follower is carried out by the leader, and served at both; so are roll-back, resume and drop.
func TestOrdersAtAnyMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := newFleet(t, 2)
		defer f.close()
		leader := f.leader()
		follower := f.all[1]
		if leader == follower {
			t.Fatal("who came second leads")
		}
		if _, err := follower.engine.Approve(ctx, "r-1", advice(t), "ann"); err != nil {
			t.Fatal(err)
		}
		if _, err := leader.engine.Approve(ctx, "r-2", advice(t), "bob"); !errors.As(err, new(*migrate.ErrAlreadyApproved)) {
			t.Errorf("approved twice, through two members: %v", err)
		}
		leader.answered()
		follower.answered()
		for _, w := range f.all {
			w.same("guest2")
		}
		if err := follower.engine.Rollback(ctx, "r-1", "ann"); err != nil {
			t.Fatal(err)
		}
		if a := follower.say(byGuest, str("guest1")); !a.forwarded {
			t.Error("answered by a change that was rolled back here")
		}
		leader.await(migrate.RolledBack)
		follower.await(migrate.RolledBack)
		if err := follower.engine.Drop(ctx, "r-1", "ann"); err != nil {
			t.Fatal(err)
		}
		leader.await(migrate.Dropped)
		var trail []string
		for _, e := range f.store.Trail() {
			if strings.HasPrefix(e.Target, "r-") {
				trail = append(trail, e.Action+" "+e.After)
			}
		}
		t.Log(strings.Join(trail, ", "))
	})
}

// TestAMissedEntryTurnsAllBack: a write whose entry can not be written at one member goes on when no member answers by the change any more.
func TestAMissedEntryTurnsAllBack(t *testing.T) {
	for _, store := range []string{"works", "fails"} {
		t.Run("the store "+store, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 2)
				defer f.close()
				leader, other := f.leader(), f.all[1]
				if _, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann"); err != nil {
					t.Fatal(err)
				}
				leader.answered()
				other.answered()
				f.db.Before.Set(func(_ context.Context, q exec.Query) error {
					if strings.Contains(q.Text, "stays_by_guest") && strings.HasPrefix(q.Text, "INSERT") {
						return exec.ErrNoConnection
					}
					return nil
				})
				if store == "fails" {
					f.store.Before.Set(func(kind, _ string) error {
						if kind == change.Kind {
							return errors.New("no majority")
						}
						return nil
					})
				}
				began := time.Now()
				if a := other.say(insertRow, str("room9"), num(9), num(1), str("guest1"), str("new")); a.failed {
					t.Fatal("the write failed")
				}
				t.Logf("the write took %v", time.Since(began))
				if waited := time.Since(began); store == "fails" && waited < 3500*time.Millisecond || waited > 6*time.Second { // the lease counts from the last beat, of two a second
					t.Errorf("the write waited for %v", waited)
				}
				leader.same("guest1")
				other.same("guest1")
				if a := leader.say(byGuest, str("guest1")); !a.forwarded {
					t.Error("the leader answers by the change")
				}
				f.db.Before.Set(func(context.Context, exec.Query) error { return nil })
				f.store.Before.Set(func(string, string) error { return nil })
				leader.answered()
				leader.same("guest1")
				other.answered()
				other.same("guest1")
			})
		})
	}
}

// TestNoWriteIsRefusedForWhatNothingRestsOn: of a change approved with refuse no member refuses a write while the table is being filled, nor while it is suspended, and nothing is missing
// afterwards; while it serves each does.
func TestNoWriteIsRefusedForWhatNothingRestsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		fails := func() {
			f.db.Before.Set(func(_ context.Context, q exec.Query) error {
				if strings.Contains(q.Text, "stays_by_guest") && strings.HasPrefix(q.Text, "INSERT") {
					return exectest.Timeout
				}
				return nil
			})
		}
		writes := func(refused bool) {
			t.Helper()
			for i, w := range f.all {
				if a := w.say(insertRow, str("room9"), num(9), num(i), str("guest1"), str("new")); a.failed != refused {
					t.Errorf("in state %s member %s: %+v", w.state(), w.member.ID(), a)
				}
			}
		}
		same := func() {
			t.Helper()
			for _, w := range f.all {
				w.answered()
				w.same("guest1")
			}
		}
		fails()
		if _, err := leader.engine.ApproveOn(ctx, "r-1", advice(t), migrate.Terms{Actor: "ann", OnEntryFailure: migrate.Refuse}); err != nil {
			t.Fatal(err)
		}
		for leader.state() != migrate.Backfill || other.state() != migrate.Backfill {
			time.Sleep(10 * time.Millisecond)
		}
		writes(false)
		f.db.Before.Clear()
		same()

		fails()
		writes(true)
		f.db.Before.Clear()
		same()

		if err := other.engine.manager.Suspend(ctx, "r-1", "for the test", false); err != nil {
			t.Fatal(err)
		}
		leader.await(migrate.Suspended)
		fails()
		writes(false)
		f.db.Before.Clear()
		if err := leader.engine.Resume(ctx, "r-1", "ann"); err != nil {
			t.Fatal(err)
		}
		same()
	})
}

// TestAnOutageIsOneDoubt: entries can not be written for a while, and writes go on through the leader. Each is verified, but all together once: it serves soon after the last.
func TestAnOutageIsOneDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		defer f.close()
		leader := f.leader()
		if _, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann"); err != nil {
			t.Fatal(err)
		}
		leader.answered()
		f.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.Contains(q.Text, "stays_by_guest") && strings.HasPrefix(q.Text, "INSERT") {
				return exec.ErrNoConnection
			}
			return nil
		})
		for began, n := time.Now(), 0; time.Since(began) < 90*time.Second; n++ {
			leader.say(insertRow, str("room9"), num(9), num(n%2), str("guest1"), str("new"))
			time.Sleep(time.Second)
		}
		f.db.Before.Set(func(context.Context, exec.Query) error { return nil })
		over := time.Now()
		for _, w := range f.all {
			w.answered()
			w.same("guest1")
		}
		if took := time.Since(over); took > time.Minute {
			t.Errorf("it serves %v after the outage", took)
		}
	})
}

// TestAnotherLeads: the leader dies in each state; another goes on from where it was, and serves once the dead one is off the register.
func TestAnotherLeads(t *testing.T) {
	for _, state := range []migrate.State{migrate.Approved, migrate.DualWrite, migrate.Backfill, migrate.Verify, migrate.Shadow, migrate.Serving} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				defer f.close()
				leader := f.leader()
				if _, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann"); err != nil {
					t.Fatal(err)
				}
				for leader.state() != state && leader.state() != migrate.Serving {
					time.Sleep(10 * time.Millisecond)
				}
				t.Logf("it dies in state %s", leader.state())
				leader.die()
				died := time.Now()
				next := f.leader()
				if took := time.Since(died); took > 15*time.Second {
					t.Errorf("another leads after %v", took)
				}
				t.Logf("another leads after %v", time.Since(died))
				next.say(insertRow, str("room8"), num(8), num(1), str("guest1"), str("new"))
				for _, w := range f.alive() {
					w.answered()
					w.same("guest1")
				}
				t.Logf("all serve after %v", time.Since(died))
			})
		})
	}
}

// TestTheKillSwitchIsEverybodys: it holds at all members, and none answers while another's requests pass unseen.
func TestTheKillSwitchIsEverybodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		if _, err := leader.engine.Approve(ctx, "r-1", advice(t), "ann"); err != nil {
			t.Fatal(err)
		}
		leader.answered()
		other.answered()
		if err := other.engine.Bypass(ctx, true, "ann"); err != nil {
			t.Fatal(err)
		}
		if !other.bypassed.Load() {
			t.Error("the relay is not bypassed when the order returns")
		}
		if a := leader.say(byGuest, str("guest1")); !a.forwarded {
			t.Error("the leader answers by the change while the other's writes pass unseen")
		}
		time.Sleep(10 * time.Second)
		if !leader.bypassed.Load() || !leader.engine.Bypassed().On {
			t.Error("the other member does not know of the kill-switch")
		}
		other.say(insertRow, str("room7"), num(7), num(1), str("guest1"), str("unseen"))
		if err := leader.engine.Bypass(ctx, false, "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if other.bypassed.Load() {
			t.Error("the kill-switch is on still at the other member")
		}
		if err := other.engine.Resume(ctx, "r-1", "ann"); err != nil {
			t.Fatal(err)
		}
		leader.answered()
		leader.same("guest1")
	})
}

// TestWhoJoinsBypassesWhenNobodyAnswers: a process comes up when the kill-switch was just stored, and another has not heard of it and answers by the change still.
func TestWhoJoinsBypassesWhenNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := newFleet(t, 2)
		defer f.close()
		leader, other := f.leader(), f.all[1]
		_, err := leader.engine.Approve(ctx, "r-1", advice(t), "ann")
		must(t, err)
		leader.answered()
		other.die() // it was ordered to bypass, and died once that was stored
		must(t, f.store.Decide(ctx, kindBypass, kindBypass, Bypass{On: true, Actor: "ann"}))
		again := f.join()
		for i := range 100 {
			if a := again.say(insertRow, str("room7"), num(7), num(i), str("guest1"), str("new")); a.failed {
				t.Error("a write failed")
			}
			leader.same("guest1")
			time.Sleep(100 * time.Millisecond)
		}
		if !again.bypassed.Load() || !leader.bypassed.Load() {
			t.Error("it is not bypassed ten seconds later")
		}
	})
}

// TestNoMemberIsWrong: writes through all members, some of whose entries can not be written, while members come and die; every answer is compared.
func TestNoMemberIsWrong(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	if raced {
		seeds = 1
	}
	all := 0
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // seeded on purpose
			f := newFleet(t, 3)
			defer f.close()
			if _, err := f.leader().engine.Approve(context.Background(), "r-1", advice(t), "ann"); err != nil {
				t.Fatal(err)
			}
			served := 0
			var one sync.Mutex                        // statements are sent by many
			failing := rand.New(rand.NewPCG(seed, 6)) //nolint:gosec // seeded on purpose
			f.db.Before.Set(func(_ context.Context, q exec.Query) error {
				one.Lock()
				defer one.Unlock()
				if strings.Contains(q.Text, "stays_by_guest") && strings.HasPrefix(q.Text, "INSERT") && failing.IntN(150) == 0 {
					return exec.ErrNoConnection
				}
				return nil
			})
			for step := range 1500 {
				alive := f.alive()
				w := alive[random.IntN(len(alive))]
				guest := fmt.Sprint("guest", random.IntN(5))
				switch n := random.IntN(20); {
				case n < 6:
					w.say(insertRow, str(fmt.Sprint("room", random.IntN(4))), num(random.IntN(5)), num(random.IntN(2)), str(guest), str(fmt.Sprint(step)))
				case n < 9:
					w.say(setGuest, str(guest), str(fmt.Sprint("room", random.IntN(4))), num(random.IntN(5)), num(random.IntN(2)))
				case n < 10:
					w.say(deleteRow, str(fmt.Sprint("room", random.IntN(4))), num(random.IntN(5)), num(random.IntN(2)))
				case step%500 == 499 && len(alive) > 1:
					w.die()
					f.join()
				default:
					before := w.engine.Migrations()
					w.same(guest)
					if len(before) > 0 && before[0].State == migrate.Serving && w.member.Serving() {
						served++
					}
				}
				time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
				if t.Failed() {
					t.Fatalf("seed %d, step %d", seed, step)
				}
			}
			t.Logf("seed %d: %d answers while it served", seed, served)
			all += served
		})
	}
	if all < 100*seeds { // in one of them hardly any may be
		t.Errorf("%d answers while it served: hardly anything was tried", all)
	}
}

var (
	_ Members        = (*fleet.Member)(nil)
	_ fleet.Store    = (*exectest.Store)(nil)
	_ change.Shared  = (*exectest.Store)(nil)
	_ proxy.Rewriter = (*Engine)(nil)
)

// asking is a member that looks whether it is asked under the engine's lock, which it may itself be waiting for.
type asking struct {
	Members
	engine *Engine
	held   bool
}

func (a *asking) Blocked() string {
	if a.held = !a.engine.mu.TryLock(); !a.held {
		a.engine.mu.Unlock()
	}
	return "another can not be verified"
}

func TestTheFleetIsNotAskedUnderTheLock(t *testing.T) {
	e := &Engine{}
	a := &asking{engine: e}
	e.options.Members = a
	if why := e.blocked(); why != "another can not be verified" || a.held {
		t.Errorf("%q, under the lock: %v", why, a.held)
	}
}

// TestAnotherDoubtOfTheSame: while the leader compares tables another member misses entries, for the same reason as before, in the part that was compared already. Its order says
// nothing new but that it was given: the comparison begins anew all the same. So it does if the order can be stored only after what the leader found.
func TestAnotherDoubtOfTheSame(t *testing.T) {
	first := exec.Ring(2)[0]
	var rooms [][]byte
	for i := 0; len(rooms) < 4; i++ {
		room := str(fmt.Sprintf("room%d", 100+i))
		if at := int64(exec.TokenOf(room)); at > first.First && at <= first.Last {
			rooms = append(rooms, room)
		}
	}
	for _, stores := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 2)
			defer f.close()
			leader, other := f.leader(), f.all[1]
			if _, err := leader.engine.Approve(context.Background(), "r-1", advice(t), "ann"); err != nil {
				t.Fatal(err)
			}
			leader.answered()
			other.answered()
			var missing atomic.Bool
			var scans atomic.Int64
			miss := func(room []byte, n int) {
				missing.Store(true)
				other.say(insertRow, room, num(9), num(n), str("guest1"), str("new"))
				missing.Store(false)
			}
			f.db.Before.Set(func(_ context.Context, q exec.Query) error {
				switch {
				case strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") && missing.Load():
					return exec.ErrNoConnection
				case !strings.HasPrefix(q.Text, "SELECT room, day, n, guest, WRITETIME(guest), TTL(guest) FROM hotel.stays WHERE token("):
				case string(q.Values[0]) != string(exec.FromInt64(first.First)) && scans.Add(1) == 1:
					other.cut.Store(!stores)
					for _, room := range rooms {
						miss(room, 1)
					}
				}
				return nil
			})
			leader.stored = func() { other.cut.Store(false) } // what it found: it is then for the other to say that this is not all
			miss(rooms[0], 0)
			for _, w := range f.all {
				w.answered()
				w.same("guest1")
			}
		})
	}
}

package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// serving runs a test on a world that serves.
func serving(t *testing.T, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(quick())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		f(t, w)
	})
}

func (w *world) approve(id string) error {
	_, err := w.engine.Approve(context.Background(), id, advice(w.t), "ann")
	return err
}

// served asks for a guest and tells whether the look-up answered; the answer must be right in any case.
func (w *world) served(guest string) bool {
	w.t.Helper()
	got := w.ask(byGuest, str(guest))
	if want := w.direct(guest); got.failed || !exec.Equal(got.rows, want) {
		w.t.Fatalf("%s: got %q, want %q", guest, got.rows, want)
	}
	return !got.forwarded
}

// A crash after each write to the store, and between any two statements of ours, loses nothing: the next process serves
// in the end, and every row has its entry.
func TestCrashAnywhere(t *testing.T) {
	for at := 1; ; at++ {
		crashed := false
		t.Run(fmt.Sprint("step ", at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.fill(4, 2)
				var n atomic.Int64
				crash := make(chan struct{})
				hit := func() error {
					if n.Add(1) == int64(at) {
						close(crash)
					}
					if n.Load() >= int64(at) {
						return errCrashed
					}
					return nil
				}
				w.db.Before.Set(func(ctx context.Context, _ exec.Query) error {
					if ctx.Value(writeKey{}) != nil {
						return nil
					}
					return hit()
				})
				w.store.Before.Set(func(string, string) error { return hit() })
				w.boot(quick())
				_ = w.approve("m1")
				select {
				case <-crash:
					crashed = true
				case <-time.After(time.Hour):
				}
				w.stop()
				w.db.Before.Clear()
				w.store.Before.Clear()
				w.boot(quick())
				defer func() { w.stop() }()
				if len(w.engine.Migrations()) == 0 {
					must(t, w.approve("m1")) // the crash came before the approval was saved
				}
				w.await(migrate.Serving)
				if !w.served("guest1") {
					t.Error("not served")
				}
				if m := w.engine.Migrations()[0]; m.Repaired != 0 || m.Last.Missing != 0 {
					t.Errorf("verification had to repair: %+v", m)
				}
			})
		})
		if !crashed {
			if at < 20 {
				t.Fatalf("only %d steps", at)
			}
			return
		}
	}
}

func TestRollbackFromEveryState(t *testing.T) {
	for _, state := range []migrate.State{migrate.Approved, migrate.Created, migrate.DualWrite, migrate.Backfill, migrate.Verify,
		migrate.Shadow, migrate.Serving, migrate.Suspended, migrate.Failed} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.fill(3, 1)
				base := stays()
				lookup, refusal := match.New(advice(t), &base)
				if refusal != nil {
					t.Fatal(refusal)
				}
				if state != migrate.Approved {
					for _, text := range []string{lookup.Create("m1"), lookup.CreatePending("m1")} {
						_, err := w.db.Query(context.Background(), exec.Query{Text: text})
						must(t, err)
					}
				}
				must(t, putChange(w.store,
					&Change{ID: "m1", Rewrite: advice(t), Base: base, State: state, Form: 1, T0: 1}))
				block, open := context.WithCancel(context.Background())
				w.db.Before.Set(func(ctx context.Context, _ exec.Query) error { // the work of the state does not get anywhere
					if ctx.Value(writeKey{}) != nil {
						return nil
					}
					select {
					case <-ctx.Done():
					case <-block.Done():
					}
					return ctx.Err()
				})
				w.boot(quick())
				defer func() { open(); w.stop() }()
				synctest.Wait()
				must(t, w.engine.Rollback(context.Background(), "m1", "bob"))
				if w.engine.Rule("", byGuest) != nil {
					t.Error("reads are still looked at after the order")
				}
				w.await(migrate.RolledBack)
				if w.engine.Rule("", setGuest) != nil {
					t.Error("writes are still looked at")
				}
				open()
				var order *migrate.ErrState
				if err := w.engine.Rollback(context.Background(), "m1", "bob"); !errors.As(err, &order) {
					t.Errorf("a second roll-back: %v", err)
				}
				must(t, w.engine.Drop(context.Background(), "m1", "bob"))
				if w.db.Schema().Table("hotel", "stays_by_guest") != nil {
					t.Error("the table is still there")
				}
				if w.db.Schema().Table("hotel", "stays") == nil {
					t.Error("the application's table is gone")
				}
				must(t, w.approve("m2")) // and all over again
				for w.engine.Migrations()[1].State != migrate.Serving {
					time.Sleep(time.Second)
				}
			})
		})
	}
}

func TestApproval(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		var already *migrate.ErrAlreadyApproved
		if err := w.approve("m2"); !errors.As(err, &already) || already.Migration != "m1" {
			t.Errorf("second approval of the same look-up: %v", err)
		}
		if err := w.approve("m1"); !errors.As(err, &already) {
			t.Errorf("second approval of the same id: %v", err)
		}
		if err := w.approve("../x"); err == nil {
			t.Error("a bad id was taken")
		}
		if err := w.engine.Drop(context.Background(), "m1", "ann"); err == nil {
			t.Error("a serving look-up was dropped")
		}
		if err := w.engine.Resume(context.Background(), "m1", "ann"); err == nil {
			t.Error("a serving look-up was resumed")
		}
		if err := w.engine.Rollback(context.Background(), "nobody", "ann"); !errors.Is(err, migrate.ErrUnknown) {
			t.Errorf("roll-back of an unknown change: %v", err)
		}
		stale := advice(t)
		stale.SchemaDigest, stale.Column = "0", "status"
		var refusal *condition.Refusal
		if _, err := w.engine.Approve(context.Background(), "m3", stale, "ann"); !errors.As(err, &refusal) || refusal.Condition != "C20" {
			t.Errorf("C20: %v", err)
		}
	})
}

// A table of the look-up's name that is not this change's is never touched, and the approval fails for good.
func TestOwnershipAmbiguous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		foreign := stays()
		foreign.Name, foreign.Comment = "stays_by_guest", "ours, hands off"
		w.db.Add(foreign)
		w.boot(quick())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Failed)
		if m := w.engine.Migrations()[0]; !strings.Contains(m.Reason, "ownership ambiguous") {
			t.Error(m.Reason)
		}
		must(t, w.engine.Rollback(context.Background(), "m1", "ann"))
		w.await(migrate.RolledBack)
		var ownership *migrate.ErrOwnership
		if err := w.engine.Drop(context.Background(), "m1", "ann"); !errors.As(err, &ownership) {
			t.Errorf("drop: %v", err)
		}
		if w.db.Schema().Table("hotel", "stays_by_guest") == nil {
			t.Error("somebody else's table was dropped")
		}
	})
}

// TestDropOfWhatDoesNotFitAnyMore: a change that this version refuses to keep can be rolled back, and is dropped once somebody has removed its table.
func TestDropOfWhatDoesNotFitAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		w := newWorld(t)
		base := stays()
		base.Columns[3].Type = "decimal"
		w.db.Redefine(base)
		table := stays()
		table.Name = "stays_by_guest"
		w.db.Add(table)
		must(t, putChange(w.store, &Change{ID: "m1", Rewrite: advice(t), Base: base, State: migrate.Serving, Form: 1, T0: 1}))
		w.boot(quick())
		defer func() { w.stop() }()
		must(t, w.engine.Rollback(ctx, "m1", "ann"))
		w.await(migrate.RolledBack)
		if err := w.engine.Drop(ctx, "m1", "ann"); err == nil || !strings.Contains(err.Error(), "by hand") {
			t.Errorf("%v", err)
		}
		w.db.Drop("hotel", "stays_by_guest")
		must(t, w.engine.Drop(ctx, "m1", "ann"))
		w.await(migrate.Dropped)
	})
}

// While Cassandra is down a change waits and says why; then it goes on.
func TestWaitsForCassandra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		var down atomic.Bool
		var puts atomic.Int64
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest") {
				if puts.Add(1) == 5 {
					down.Store(true)
				}
			}
			if down.Load() {
				return exectest.Timeout
			}
			return nil
		})
		w.boot(quick())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		m := w.engine.Migrations()[0]
		if m.State != migrate.Backfill || m.Progress.Throttled == "" {
			t.Fatalf("%+v", m)
		}
		if n := metric(t, w.engine, "helenus_change_throttled"); n != 1 {
			t.Errorf("%v reasons say that it waits", n)
		}
		down.Store(false)
		w.await(migrate.Serving)
		if !w.served("guest1") {
			t.Error("not served")
		}
	})
}

// Whatever an approval waits for, it is shown after a moment, and as long as it waits, also while it is tried again.
func TestApprovalSaysWhatItWaitsFor(t *testing.T) {
	hang := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute): // as long as gocql waits for agreement
		}
		return exectest.Timeout
	}
	for name, c := range map[string]struct {
		at     func(w *world, down *atomic.Bool)
		reason string
	}{
		"the table can not be created": {func(w *world, down *atomic.Bool) {
			w.db.Before.Set(func(ctx context.Context, q exec.Query) error {
				if down.Load() && strings.HasPrefix(q.Text, "CREATE") {
					return hang(ctx)
				}
				return nil
			})
		}, migrate.WaitsForNodes},
		"requests do not end": {func(w *world, down *atomic.Bool) {
			w.barrier = func(ctx context.Context) {
				for down.Load() && ctx.Err() == nil {
					time.Sleep(time.Second)
				}
			}
		}, migrate.WaitsForRequests},
		"entries can not be written": {func(w *world, down *atomic.Bool) {
			w.db.Before.Set(func(ctx context.Context, q exec.Query) error {
				if down.Load() && strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest") {
					return exectest.Timeout
				}
				return nil
			})
		}, "backfill hotel.stays_by_guest"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.fill(6, 2)
				var down atomic.Bool
				down.Store(true)
				c.at(w, &down)
				w.boot(quick())
				defer func() { down.Store(false); w.stop() }()
				must(t, w.approve("m1"))
				time.Sleep(10 * time.Second)
				for i := range 300 {
					synctest.Wait()
					if m := w.engine.Migrations()[0]; m.Waits() == "" || i == 0 && !strings.Contains(m.Waits(), c.reason) {
						t.Fatalf("%s: %q", m.State, m.Waits())
					}
					time.Sleep(700 * time.Millisecond)
				}
				down.Store(false)
				w.await(migrate.Serving)
				if m := w.engine.Migrations()[0]; m.Waits() != "" {
					t.Errorf("it waits: %q", m.Waits())
				}
			})
		})
	}
}

func TestSweepFindsMissing(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		// A writer that bypasses the proxy.
		must(t, w.db.Write(insertRow, [][]byte{str("past"), num(1), num(1), str("guest1"), str("x")}, time.Now().UnixMicro()))
		w.await(migrate.Suspended)
		if w.served("guest1") {
			t.Error("still served")
		}
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		w.await(migrate.Serving)
		if !w.served("guest1") {
			t.Error("not served after it was repaired")
		}
		if m := w.engine.Migrations()[0]; m.Repaired != 1 {
			t.Errorf("%+v", m)
		}
	})
}

// While a connection can not be read nothing is served, and nothing verified; when it has gone, all goes on by itself.
func TestOpaqueConnection(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		ended := w.engine.Opaque(&proxy.Client{Address: "10.0.0.1:1"})
		if w.served("guest1") {
			t.Error("served while somebody writes unseen")
		}
		w.await(migrate.Verify)
		must(t, w.db.Write(insertRow, [][]byte{str("unseen"), num(1), num(1), str("guest1"), str("x")}, time.Now().UnixMicro()))
		time.Sleep(time.Hour)
		synctest.Wait()
		if m := w.engine.Migrations()[0]; m.State != migrate.Verify || m.Progress.Throttled != Unreadable || !strings.Contains(m.Reason, "10.0.0.1:1") {
			t.Errorf("%s, %q, %q", m.State, m.Progress.Throttled, m.Reason)
		}
		ended()
		w.await(migrate.Serving)
		if !w.served("guest1") {
			t.Error("not served, though it is verified")
		}
	})
}

// A look-up that answers wrongly is found out by shadow reads while it serves.
func TestMismatchSuspends(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		a, err := w.db.Query(context.Background(), exec.Query{Text: "SELECT guest, room, day, n FROM hotel.stays_by_guest WHERE guest = ?", Values: [][]byte{str("guest1")}})
		must(t, err)
		for _, row := range a.Rows {
			_, err := w.db.Query(context.Background(), exec.Query{Text: "DELETE FROM hotel.stays_by_guest USING TIMESTAMP ? WHERE guest = ? AND room = ? AND day = ? AND n = ?",
				Values: append([][]byte{exec.FromInt64(time.Now().UnixMicro())}, row...)})
			must(t, err)
		}
		w.engine.options.Every = 1 // every read is compared
		w.ask(byGuest, str("guest1"))
		w.await(migrate.Suspended)
		if m := w.engine.Migrations()[0]; m.Mismatch == "" || strings.Contains(m.Mismatch, "guest1") {
			t.Errorf("%q", m.Mismatch)
		}
	})
}

// Reads whose plan fails run as written; when most do, the change is suspended.
func TestErrorRateSuspends(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.Contains(q.Text, "stays_by_guest WHERE guest = ? LIMIT") {
				return exectest.Timeout
			}
			return nil
		})
		for range errorWindow {
			if w.served("guest1") {
				t.Fatal("served")
			}
		}
		w.await(migrate.Suspended)
	})
}

// Reads that Cassandra refuses as they were written, too, are their client's fault, and no reason to suspend.
func TestReadsThatAreRefusedAnyway(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.Contains(q.Text, "WHERE guest = ?") {
				return exectest.Timeout
			}
			return nil
		})
		refused := &refusing{client{w: w, ctx: context.Background(), done: make(chan answer, 1)}}
		for range 3 * errorWindow {
			w.sendBy(refused, &refused.client, byGuest, nil, str("guest1"))
		}
		w.db.Before.Set(func(context.Context, exec.Query) error { return nil })
		synctest.Wait()
		if !w.served("guest1") {
			t.Errorf("%+v", w.engine.Migrations()[0])
		}
	})
}

// refusing is a relay to a Cassandra that refuses all.
type refusing struct{ client }

func (c *refusing) Forward(_ *proxy.Request, f proxy.Forward) {
	f.Done(proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x2200})
	c.done <- answer{forwarded: true, failed: true, code: 0x2200}
}

func TestMetrics(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.served("guest1")
		w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0))
		problems, err := testutil.CollectAndLint(w.engine)
		if err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
		want := `
# HELP helenus_change_info A change that was approved, and has not ended longest ago; always 1. Structure is the table that it makes, with the keyspace if that is not the application's.
# TYPE helenus_change_info gauge
helenus_change_info{change_id="m1",keyspace="hotel",structure="stays_by_guest",table="stays"} 1
# HELP helenus_change_writes_total Entries of writes: written first (written), not to be written (failed), and writes that went on without theirs (missed); after a missed one reads run as written until it is verified again.
# TYPE helenus_change_writes_total counter
helenus_change_writes_total{change_id="m1",result="failed"} 0
helenus_change_writes_total{change_id="m1",result="missed"} 0
helenus_change_writes_total{change_id="m1",result="written"} 1
`
		if err := testutil.CollectAndCompare(w.engine, strings.NewReader(want), "helenus_change_info", "helenus_change_writes_total"); err != nil {
			t.Error(err)
		}
	})
}

// What was decided at approval is kept, shown, and told to whoever writes entries.
func TestApprovedOnTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(2, 1)
		w.boot(quick())
		defer func() { w.stop() }()
		despite := []plan.Overrule{{Condition: "C20", Statement: "4ad1f0"}}
		if _, err := w.engine.ApproveOn(context.Background(), "m1", advice(t), migrate.Terms{Actor: "ann", OnEntryFailure: "ignore"}); err == nil {
			t.Error("approved on terms that nobody knows")
		}
		_, err := w.engine.ApproveOn(context.Background(), "m1", advice(t), migrate.Terms{Actor: "ann", OnEntryFailure: migrate.Refuse, Despite: despite})
		must(t, err)
		w.await(migrate.Serving)
		w.stop()
		w.boot(quick())
		m := w.engine.Migrations()[0]
		audited := slices.ContainsFunc(m.Events, func(e migrate.Event) bool {
			return e.Actor == "ann" && strings.Contains(e.Text, "despite C20") && strings.Contains(e.Text, "4ad1f0")
		})
		if m.OnEntryFailure != migrate.Refuse || !slices.Equal(m.Despite, despite) || !audited {
			t.Errorf("%+v", m)
		}
		if !w.engine.active["m1"].refuse {
			t.Error("the engine does not know")
		}
	})
}

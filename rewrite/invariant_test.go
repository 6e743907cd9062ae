package rewrite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// setUntil is setGuest with a time to live.
const setUntil = "UPDATE hotel.stays USING TTL ? SET guest = ? WHERE room = ? AND day = ? AND n = ?"

// A write that lost in the base may have its entry placed above the winner's (at T0, or at the least timestamp of entries):
// its time to live must not become the winner's.
func TestC10TheLosersTTLIsNotTheWinners(t *testing.T) {
	key := [][]byte{str("room3"), num(1), num(0)}
	at := func(ts int64) func(*proxy.Request) {
		return func(r *proxy.Request) { r.HasTimestamp, r.Timestamp = true, ts }
	}
	t.Run("C11 a time of its own", func(t *testing.T) {
		serving(t, func(t *testing.T, w *world) {
			w.send(setGuest, at(5000), append([][]byte{str("zoe")}, key...)...)
			time.Sleep(time.Second)
			w.send(setUntil, at(4000), append([][]byte{num(10), str("zoe")}, key...)...)
			time.Sleep(2 * time.Minute)
			if w.served("zoe"); len(w.direct("zoe")) != 1 {
				t.Error("the test does not test anything")
			}
		})
	})
	t.Run("backfilled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			must(t, w.db.Write(setUntil, append([][]byte{num(100), str("zoe")}, key...), 1000))
			w.boot(quick())
			defer func() { w.stop() }()
			must(t, w.approve("m1"))
			w.await(migrate.Serving)
			w.send(setGuest, at(time.Now().Add(-time.Minute).UnixMicro()), append([][]byte{str("zoe")}, key...)...)
			time.Sleep(10 * time.Minute)
			if w.served("zoe"); len(w.direct("zoe")) != 1 {
				t.Error("the test does not test anything")
			}
		})
	})
}

// Cassandra takes a null for "no time to live" (CASSANDRA-12216).
func TestC6NullTTL(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.ask(setUntil, nil, str("zoe"), str("room3"), num(1), num(0))
		if !w.served("zoe") || len(w.direct("zoe")) != 1 {
			t.Error("not served")
		}
	})
}

// What looks as if Cassandra would refuse it changes nothing; but if Cassandra takes it, the look-up is verified.
func TestTakenThoughItSeemedInvalid(t *testing.T) {
	for _, taken := range []bool{true, false} {
		serving(t, func(t *testing.T, w *world) {
			r := &proxy.Request{Opcode: proxy.OpExecute, Text: setUntil, Prepared: &proxy.Prepared{Text: setUntil}, Consistency: 1}
			for _, v := range [][]byte{{1}, str("zoe"), str("room3"), num(1), num(0)} { // a time to live of one byte
				r.Values = append(r.Values, proxy.Value{Bytes: v})
			}
			sent := make(chan proxy.Forward, 1)
			r.Responder, r.Rule = forwarded(sent), w.engine.Rule("", setUntil)
			if !w.engine.Take(r) {
				t.Fatal("not even looked at")
			}
			f := <-sent
			if w.entries("zoe") != 0 {
				t.Error("it has an entry")
			}
			f.Done(proxy.Response{Opcode: proxy.OpResult, Failed: !taken, ErrorCode: 0x2200})
			synctest.Wait()
			if w.served("guest1") == taken {
				t.Errorf("taken %t: served wrongly", taken)
			}
			w.await(migrate.Serving) // by itself
		})
	}
}

// forwarded is a relay that only notes what it is told to send.
type forwarded chan proxy.Forward

func (f forwarded) Forward(_ *proxy.Request, how proxy.Forward) { f <- how }
func (f forwarded) Answer(*proxy.Request, proxy.Rows)           {}
func (f forwarded) Fail(*proxy.Request, int32, string)          {}

// A connection that can not be read was there before the change was.
func TestOpaqueBeforeApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.boot(quick())
		defer func() { w.stop() }()
		ended := w.engine.Opaque(&proxy.Client{Address: "10.0.0.1:1"})
		must(t, w.approve("m1"))
		w.await(migrate.Verify)
		time.Sleep(time.Hour)
		synctest.Wait()
		if m := w.engine.Migrations()[0]; m.State != migrate.Verify || m.Progress.Throttled != Unreadable {
			t.Errorf("%s, %q", m.State, m.Progress.Throttled)
		}
		ended()
		w.await(migrate.Serving)
	})
}

// What was dropped may be approved again under its id, as the advice keeps its own; all its work is done again.
func TestApprovedAgainAfterDrop(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		var already *migrate.ErrAlreadyApproved
		must(t, w.engine.Rollback(ctx, "m1", "ann"))
		w.await(migrate.RolledBack)
		if err := w.approve("m1"); !errors.As(err, &already) {
			t.Errorf("its table is still there: %v", err)
		}
		must(t, w.engine.Drop(ctx, "m1", "ann"))
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		if m := w.engine.Migrations(); len(m) != 1 || m[0].Entries != 24 || m[0].Repaired != 0 {
			t.Errorf("%+v", m)
		}
		if w.ask(setGuest, str("zoe"), str("room3"), num(1), num(0)); !w.served("guest1") || !w.served("zoe") {
			t.Error("not served")
		}
		w.stop() // and so it is after a restart
		w.boot(quick())
		if w.await(migrate.Serving); !w.served("zoe") {
			t.Error("not served")
		}
	})
}

// A look-up that is gone is not compared, but said to be gone.
func TestVerifyOfWhatIsGone(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.db.Drop("hotel", "stays_by_guest")
		w.engine.Look()(w.db.Schema())
		var state *migrate.ErrState
		if err := w.engine.Verify(context.Background(), "m1", "ann"); !errors.As(err, &state) {
			t.Errorf("%v", err)
		}
	})
}

// A pass that found a row without entry turns the reads back, also if it could not end.
func TestSweepThatFailsAfterItFound(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		must(t, w.db.Write(insertRow, [][]byte{str("past"), num(1), num(1), str("guest1"), str("x")}, time.Now().UnixMicro()))
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT") {
				return exectest.Timeout
			}
			return nil
		})
		w.await(migrate.Suspended)
		if w.served("guest1") {
			t.Error("still served")
		}
	})
}

// Sampling does not read an answer whole that the look-up would not give.
func TestSampleIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 1)
		for i := range 20 {
			must(t, w.db.Write(setGuest, [][]byte{str("ann"), str("room1"), num(100 + i), num(0)}, 2000))
		}
		whole := 0
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if len(q.Values) == 1 && string(q.Values[0]) == "ann" { // the entries are asked for with a limit
				whole++
			}
			return nil
		})
		w.boot(quick())
		defer func() { w.stop() }()
		lookUps(w.engine).Reader.Entries = 10
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		if whole > 0 {
			t.Errorf("%d reads of more rows than the look-up would answer", whole)
		}
	})
}

package rewrite

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// bootWith is boot with a clock of Helenus's own, and comes to a state in which the change then stays.
func (w *world) bootWith(now func() time.Time, want migrate.State) {
	w.t.Helper()
	e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Schema: w.db.Schema, Migrate: quick(), Kinds: few(), Every: 1 << 60, Now: now})
	must(w.t, err)
	w.engine = e
	must(w.t, e.Restore(context.Background()))
	if want != migrate.Serving && want != migrate.Suspended {
		w.barrier = func(ctx context.Context) {
			if w.state() == want {
				<-ctx.Done()
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	w.stop = func() {
		cancel()
		<-done
		e.Close(ctx)
	}
	must(w.t, w.approve("m1"))
	if want == migrate.Suspended {
		w.await(migrate.Serving)
		must(w.t, e.manager.Suspend(ctx, "m1", "the test wants it so", false))
	}
	w.await(want)
}

// written is one statement of the application, and the timestamp that its client gives it, 0 for none.
type written struct {
	text   string
	values [][]byte
	at     int64
}

// at gives a request the protocol's default timestamp.
func at(timestamp int64) func(*proxy.Request) {
	return func(r *proxy.Request) { r.HasTimestamp, r.Timestamp = timestamp != 0, timestamp }
}

// anyWrite draws one of the statements that exectest understands, on few rows, so that they meet.
func anyWrite(r *rand.Rand, client int64) written {
	key := [][]byte{str(fmt.Sprint("room", r.Intn(2))), num(r.Intn(2)), num(1)}
	guest := [][]byte{str(fmt.Sprint("guest", r.Intn(4)))}
	const where = " WHERE room = ? AND day = ? AND n = ?"
	var w written
	switch r.Intn(11) {
	case 0, 1:
		w = written{text: insertRow, values: append(append(key, guest...), str("booked"))}
	case 2, 3:
		w = written{text: setGuest, values: append(guest, key...)}
	case 4:
		w = written{text: "UPDATE hotel.stays SET status = ?" + where, values: append([][]byte{str(fmt.Sprint("status", r.Intn(3)))}, key...)}
	case 5:
		w = written{text: deleteRow, values: key}
	case 6:
		w = written{text: "DELETE guest FROM hotel.stays" + where, values: key}
	case 7:
		w = written{text: setGuest, values: append([][]byte{nil}, key...)}
	case 8:
		w = written{text: "UPDATE hotel.stays USING TTL 50000 SET guest = ?" + where, values: append(guest, key...)}
	case 9:
		w = written{text: "INSERT INTO hotel.stays (room, day, n, status) VALUES (?, ?, ?, 'alone')", values: key}
	case 10:
		w = written{text: fmt.Sprintf("UPDATE hotel.stays USING TIMESTAMP %d SET guest = 'literal'%s", client+int64(r.Intn(2000)-1000), where), values: key}
	}
	if r.Intn(3) == 0 {
		w.at = client
	}
	return w
}

// cells is all that a base shows, row by row: values, WRITETIMEs, times to live.
func cells(t *testing.T, db *exectest.Memory) (rows []string) {
	t.Helper()
	a, err := db.Query(context.Background(), exec.Query{Text: "SELECT room, day, n, guest, WRITETIME(guest), TTL(guest), status, WRITETIME(status) FROM hotel.stays"})
	must(t, err)
	shown := func(b []byte) any {
		n, ok := exec.Int64(b)
		if !ok {
			return "null"
		}
		return n
	}
	for _, r := range a.Rows {
		day, _ := exec.Int32(r[1])
		n, _ := exec.Int32(r[2])
		ttl, _ := exec.Int32(r[5])
		rows = append(rows, fmt.Sprintf("%s %d %d guest %q at %v TTL %d status %q at %v", r[0], day, n, r[3], shown(r[4]), ttl, r[6], shown(r[7])))
	}
	return rows
}

// less are the rows of a that are not in b.
func less(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(row string) bool { return slices.Contains(b, row) })
}

// G1 without a Cassandra: the coordinator's clock, the client's and Helenus's are all apart, and the base is after each
// statement what it is without Helenus, WRITETIMEs and times to live included.
func TestTwinInMemory(t *testing.T) {
	apart := []time.Duration{-10 * time.Minute, -5 * time.Millisecond, 0, 5 * time.Millisecond, 10 * time.Minute}
	for _, state := range []migrate.State{migrate.DualWrite, migrate.Verify, migrate.Serving, migrate.Suspended} {
		for i, own := range apart {
			for j, coordinator := range apart {
				client := apart[(i+2*j)%len(apart)]
				t.Run(fmt.Sprintf("%s, Helenus %s, coordinator %s, client %s", state, own, coordinator, client), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r := rand.New(rand.NewSource(int64(10*i + j)))
						var step atomic.Int64 // of Helenus's clock, at random
						w := newWorld(t)
						w.db.Now = func() time.Time { return time.Now().Add(coordinator) }
						w.fill(2, 2)
						w.bootWith(func() time.Time { return time.Now().Add(own + time.Duration(step.Load())) }, state)
						defer w.stop()
						alone := exectest.New()
						alone.Now = w.db.Now
						alone.Add(stays())
						other := &world{t: t, db: alone}
						other.fill(2, 2)
						for n := range 60 {
							s := anyWrite(r, time.Now().Add(client).UnixMicro())
							got := w.send(s.text, at(s.at), s.values...)
							if err := alone.Write(s.text, s.values, s.at); (err != nil) != got.failed {
								t.Fatalf("statement %d: %s: failed %v, without Helenus %v", n, s.text, got.failed, err)
							}
							if have, want := cells(t, w.db), cells(t, alone); !slices.Equal(have, want) {
								t.Fatalf("after statement %d, %s at %d: %q, without Helenus %q", n, s.text, s.at, less(have, want), less(want, have))
							}
							time.Sleep(time.Duration(1+r.Intn(3000)) * time.Microsecond)
							if own != 0 && r.Intn(10) == 0 {
								step.Store(r.Int63n(int64(time.Minute)) - int64(30*time.Second))
							}
						}
						if w.state() != state {
							t.Errorf("it is %s: %s", w.state(), w.engine.Migrations()[0].Reason)
						}
					})
				})
			}
		}
	}
}

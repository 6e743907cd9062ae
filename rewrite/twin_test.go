package rewrite

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// skew is how Helenus's clock goes, beside that of the machine, which is Cassandra's.
type skew struct {
	name string
	now  func(real time.Time) time.Time
}

// skews are in an order in which a clock that never goes back shows each of them: the furthest ahead is the last.
func skews() []skew {
	off := func(d time.Duration) func(time.Time) time.Time {
		return func(t time.Time) time.Time { return t.Add(d) }
	}
	begun := time.Now()
	random, mu := rand.New(rand.NewSource(27)), sync.Mutex{}
	return []skew{
		{"10 minutes behind", off(-10 * time.Minute)},
		{"5 ms behind", off(-5 * time.Millisecond)},
		{"right", off(0)},
		{"5 ms ahead", off(5 * time.Millisecond)},
		{"drifting", func(t time.Time) time.Time { return t.Add(t.Sub(begun) / 50) }},
		{"stepping", func(t time.Time) time.Time {
			mu.Lock()
			defer mu.Unlock()
			return t.Add(time.Duration(random.Int63n(int64(time.Minute))) - 30*time.Second)
		}},
		{"10 minutes ahead", off(10 * time.Minute)},
	}
}

// before begins the rooms of what is written before a change is approved.
const before = "before / "

// twin is Helenus in front of a real Cassandra, with a clock that the test sets, and two keyspaces: the application
// writes one through Helenus, and the other straight, by the same statements.
type twin struct {
	*live
	clock           atomic.Pointer[skew]
	server          atomic.Pointer[proxy.Server]
	hold            atomic.Pointer[hold]
	through, direct *twintest.Side
	beside          *twintest.Conn // straight to the keyspace that is written through Helenus
	turnedBack      map[string]int // forms after which the state was another
}

// hold keeps changes in a state whose work begins with a barrier.
type hold struct {
	state   migrate.State
	over    chan struct{} // closed: those that wait go on
	waiting atomic.Int64
}

// Barrier implements migrate.Traffic.
func (w *twin) Barrier(ctx context.Context) error {
	if h := w.hold.Load(); h != nil && slices.ContainsFunc(w.engine.Migrations(), func(m migrate.Change) bool { return m.State == h.state }) {
		h.waiting.Add(1)
		defer h.waiting.Add(-1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.over:
		}
	}
	return w.server.Load().Barrier(ctx)
}

func newTwin(t *testing.T) *twin {
	t.Helper()
	s := connect(t)
	w := &twin{live: &live{t: t, session: s, keyspace: fmt.Sprintf("twin_%d", time.Now().UnixNano()), store: &exectest.Store{}}, turnedBack: map[string]int{}}
	w.pool = exec.NewPool(func() (*gocql.Session, error) { return s, nil })
	w.clock.Store(&skews()[2])
	other := w.keyspace + "_direct"
	for _, keyspace := range []string{w.keyspace, other} {
		w.do("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		t.Cleanup(func() {
			if err := s.Query("DROP KEYSPACE " + keyspace).Exec(); err != nil {
				t.Error(err)
			}
		})
		for _, table := range twintest.Tables {
			w.do(strings.ReplaceAll(table, "@", keyspace))
		}
	}
	w.read()
	address := os.Getenv("HELENUS_TEST_CASSANDRA")
	settings := fast()
	settings.Settle, settings.Ranges, settings.ShadowSelf = 10*time.Millisecond, 2, 8
	engine, err := New(Options{Session: w.pool, Store: w.store, Traffic: w, Schema: w.schema.Load, Migrate: settings, Kinds: few(), Every: 1 << 60,
		Now: func() time.Time { return w.clock.Load().now(time.Now()) }})
	must(t, err)
	w.engine = engine
	must(t, engine.Restore(t.Context()))
	server, err := proxy.New(proxy.Options{ContactPoints: []string{address}, Listen: "127.0.0.1:0", Rewriter: engine})
	must(t, err)
	w.server.Store(server)
	must(t, server.Start(t.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); engine.Run(ctx) }()
	t.Cleanup(func() {
		down, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if err := server.Shutdown(down); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		cancel()
		<-done
		engine.end()
		engine.wait.Wait()
	})
	for !server.Ready() {
		time.Sleep(10 * time.Millisecond)
	}
	w.through, w.direct = twintest.NewSide(w.dial(server.Addrs()[0], w.keyspace)), twintest.NewSide(w.dial(address, other))
	w.beside = w.dial(address, w.keyspace)
	return w
}

func (w *twin) dial(address, keyspace string) *twintest.Conn {
	w.t.Helper()
	c, err := twintest.Dial(address, keyspace, 20*time.Second)
	must(w.t, err)
	w.t.Cleanup(c.Close)
	return c
}

// approve has all look-ups of the base made, which come to stay in a state.
func (w *twin) approve(want migrate.State) {
	w.t.Helper()
	held := &hold{state: migrate.DualWrite, over: make(chan struct{})}
	if want == migrate.DualWrite || want == migrate.Verify {
		w.hold.Store(held)
	}
	for _, l := range twintest.LookUps {
		w.approveOne(l)
	}
	if want == migrate.Verify { // a barrier does not say whose it is: all must have come to the one before
		w.come(migrate.DualWrite)
		for held.waiting.Load() < int64(len(twintest.LookUps)) {
			time.Sleep(time.Millisecond)
		}
		w.hold.Store(&hold{state: want, over: make(chan struct{})})
		close(held.over)
	}
	w.come(want)
}

func (w *twin) approveOne(l twintest.LookUp) {
	w.t.Helper()
	print, text, _, err := cql.FingerprintText(strings.ReplaceAll(l.Text, "@", w.keyspace), "")
	must(w.t, err)
	_, err = w.engine.Approve(w.t.Context(), l.Table+"-"+l.Column, plan.Rewrite{Keyspace: w.keyspace, Base: l.Table, Column: l.Column, Table: l.Table + "_by_" + l.Column,
		Statements: []string{print.String()}, Texts: []string{text}, SchemaDigest: w.schema.Load().Table(w.keyspace, l.Table).Digest()}, "ann")
	must(w.t, err)
}

// come waits until all are in a state, or brings them there: as a person would, who resumes what was suspended, and makes anew
// what failed.
func (w *twin) come(want migrate.State) {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		there := true
		for _, m := range w.engine.Migrations() {
			switch {
			case m.State == want:
				continue
			case m.State == migrate.Suspended:
				must(w.t, w.engine.Resume(w.t.Context(), m.ID, "ann"))
			case m.State == migrate.Serving && want == migrate.Suspended:
				must(w.t, w.engine.manager.Suspend(w.t.Context(), m.ID, "the test wants it so", false))
			case m.State == migrate.Failed:
				w.t.Errorf("%s failed: %s", m.ID, m.Reason)
				must(w.t, w.engine.Rollback(w.t.Context(), m.ID, "ann"))
			case m.State == migrate.RolledBack:
				must(w.t, w.engine.Drop(w.t.Context(), m.ID, "ann"))
			case m.State == migrate.Dropped:
				w.approveOne(twintest.LookUps[slices.IndexFunc(twintest.LookUps, func(l twintest.LookUp) bool { return l.Table+"-"+l.Column == m.ID })])
			case time.Now().After(deadline):
				w.t.Fatalf("%s is %s, not %s: %s %+v", m.ID, m.State, want, m.Reason, m.Events)
			}
			there = false
		}
		if there {
			return
		}
		w.read() // a schema that changed meanwhile
		time.Sleep(5 * time.Millisecond)
	}
}

// stays tells whether all are in a state.
func (w *twin) stays(want migrate.State) bool {
	return !slices.ContainsFunc(w.engine.Migrations(), func(m migrate.Change) bool { return m.State != want })
}

// run has one form written on both sides, in a room of its own, and compares the answers.
func (w *twin) run(f twintest.Form, room string, client func() int64) {
	w.t.Helper()
	make := func() []twintest.Statement {
		at := int64(0)
		g := &twintest.Gen{Room: room, Guest: "guest", Stamps: client != nil, Now: func() int64 { at++; return at }}
		if client != nil {
			g.Now = client
		}
		return f.Sequence(g)
	}
	for i, s := range make() {
		got, err := w.through.Run(room, s)
		if err != nil {
			w.t.Fatalf("%s: statement %d: %s: through Helenus: %v", room, i+1, s, err)
		}
		want, err := w.direct.Run(room, s)
		if err != nil {
			w.t.Fatalf("%s: statement %d: %s: %v", room, i+1, s, err)
		}
		if got.Code != want.Code || (!f.Made && fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows)) {
			w.t.Errorf("%s: statement %d: %.200s: answered by %v %s %q, and without Helenus by %v %s %q", room, i+1, s, got.Code, got.Message, got.Rows, want.Code, want.Message, want.Rows)
		}
		if refusal := f.Refused && i == 3; want.Refused() != refusal || want.Failed() && !refusal {
			w.t.Errorf("%s: statement %d is not as the form says: %.200s: %v %s", room, i+1, s, want.Code, want.Message)
		}
	}
}

// answers compares what Helenus answers to the look-ups' statements with what Cassandra does, for every value that occurs.
func (w *twin) answers() {
	w.t.Helper()
	for _, l := range twintest.LookUps {
		all, err := w.beside.Do(twintest.Statement{Text: "SELECT " + l.Column + " FROM @." + l.Table, Page: 1 << 20})
		must(w.t, err)
		values := map[string]bool{}
		for _, r := range all.Rows {
			if r[0] != nil && len(r[0]) < 1000 && (l.Column != "ticket" || len(values) < 50) {
				values[string(r[0])] = true
			}
		}
		for _, v := range slices.Sorted(maps.Keys(values)) {
			s := twintest.Statement{Way: twintest.Execute, Text: l.Text, Values: []twintest.Value{twintest.Raw([]byte(v))}}
			got, err := w.through.Do(s)
			must(w.t, err)
			want, err := w.beside.Do(s)
			must(w.t, err)
			if got.Code != want.Code || !exec.Equal(got.Rows, want.Rows) {
				w.t.Errorf("%s %q: %d rows (%v %s), without Helenus %d", l.Text, v, len(got.Rows), got.Code, got.Message, len(want.Rows))
			}
		}
	}
}

// compare reports what is otherwise in the keyspace that was written through Helenus.
func (w *twin) compare(made map[string]bool) {
	w.t.Helper()
	found, cells, err := twintest.Compare(w.through, w.direct, func(room string) bool { return made[room] })
	must(w.t, err)
	const shown = 12
	for i, d := range found {
		if i < shown {
			w.t.Error(d)
		}
	}
	if len(found) > 0 {
		rooms := map[string]bool{}
		for _, d := range found {
			rooms[d.Room] = true
		}
		w.t.Errorf("%d of %d cells and rows differ, in %d rooms", len(found), cells, len(rooms))
	}
	w.t.Logf("%d cells compared", cells)
}

// G1: what statements of the application do to its tables is the same with and without Helenus, whatever its clock shows, in
// every state of a change, with client timestamps and without.
func TestCassandraTwin(t *testing.T) {
	// By default a form meets three of the clocks while a change serves and one otherwise, each another one: half a minute.
	all := os.Getenv("HELENUS_TWIN") == "all"
	turns := map[migrate.State][]int{migrate.Serving: {0, 2, 5}, migrate.DualWrite: {1}, migrate.Verify: {3}, migrate.Suspended: {4}}
	for i, state := range []migrate.State{migrate.DualWrite, migrate.Verify, migrate.Serving, migrate.Suspended} {
		t.Run(string(state), func(t *testing.T) {
			w := newTwin(t)
			for _, f := range twintest.Forms() { // rows from before, of which a shadow has something to compare
				w.run(f, before+f.Name, nil)
			}
			w.approve(state)
			forms := append(twintest.Forms(), twintest.Refusals()...)
			made := map[string]bool{}
			for _, f := range forms {
				made[before+f.Name] = f.Made
			}
			for k, s := range skews() {
				w.clock.Store(&s)
				var client func() int64 // an hour behind the machine, or ahead: which write wins is no matter of milliseconds
				manner := "no timestamps"
				if (i+k)%2 == 0 {
					away := time.Hour
					if k%4 < 2 {
						away = -away
					}
					manner = fmt.Sprint("client timestamps ", away)
					last := time.Now().Add(away).UnixMicro()
					client = func() int64 { last += 7; return last }
				}
				for n, f := range forms {
					if !all && !slices.Contains(turns[state], (n+k+i)%7) {
						continue
					}
					room := fmt.Sprintf("%s / %s / %s", s.name, manner, f.Name)
					made[room] = f.Made
					w.run(f, room, client)
					if !w.stays(state) {
						w.turnedBack[f.Name]++
						w.come(state)
					}
				}
				if state == migrate.Serving {
					w.answers()
				}
			}
			time.Sleep(1200 * time.Millisecond) // what lives for a second is gone on both sides
			w.compare(made)
			w.run(twintest.Truncation(), "truncated", nil)
			w.compare(made)
			t.Logf("turned back by: %v", w.turnedBack)
		})
	}
}

// With Helenus's clock 5 ms ahead, what is acknowledged right after a write of the looked-up column has its effect: updates of
// another column, deletions, and conditional writes.
func TestCassandraAcknowledgedIsDone(t *testing.T) {
	w := newTwin(t)
	for _, f := range twintest.Forms()[:2] {
		w.run(f, before+f.Name, nil)
	}
	w.run(twintest.Expiring(), before+"expiring", nil)
	w.approve(migrate.Serving)
	w.clock.Store(&skews()[3])
	insert := "INSERT INTO @.stays (room, day, n, guest, note) VALUES (?, 1, 1, ?, 'first')"
	noted := func(note string) func([][][]byte) bool {
		return func(rows [][][]byte) bool { return len(rows) == 1 && string(rows[0][0]) == note }
	}
	none := func(rows [][][]byte) bool { return len(rows) == 0 }
	for _, c := range []struct {
		name, text string
		done       func(rows [][][]byte) bool
	}{
		{"update of another column", "UPDATE @.stays SET note = 'second' WHERE room = ? AND day = 1 AND n = 1", noted("second")},
		{"delete of the partition", "DELETE FROM @.stays WHERE room = ?", none},
		{"delete of a range", "DELETE FROM @.stays WHERE room = ? AND day >= 1", none},
		{"conditional update", "UPDATE @.stays SET note = 'second' WHERE room = ? AND day = 1 AND n = 1 IF EXISTS", noted("second")},
		{"conditional delete", "DELETE FROM @.stays WHERE room = ? AND day = 1 AND n = 1 IF EXISTS", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			const times = 100
			lost, refused := 0, 0
			for i := range times {
				room := fmt.Sprint(c.name, " ", i)
				for _, s := range []twintest.Statement{
					{Way: twintest.Execute, Text: insert, Values: []twintest.Value{twintest.Text(room), twintest.Text("guest1")}},
					{Way: twintest.Execute, Text: c.text, Values: []twintest.Value{twintest.Text(room)}},
				} {
					a, err := w.through.Do(s)
					must(t, err)
					if applied, known := a.Applied(); a.Failed() || known && !applied {
						refused++
					}
				}
				a, err := w.beside.Do(twintest.Statement{Way: twintest.Execute, Text: "SELECT note FROM @.stays WHERE room = ?", Values: []twintest.Value{twintest.Text(room)}})
				must(t, err)
				if !c.done(a.Rows) {
					lost++
				}
			}
			if lost > 0 || refused > 0 {
				t.Errorf("%d of %d had no effect, %d were refused", lost, times, refused)
			}
		})
	}
	w.answers()
}

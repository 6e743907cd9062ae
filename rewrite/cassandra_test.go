package rewrite

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// live is an Engine over a real Cassandra, with a relay that sends on over gocql.
type live struct {
	t        *testing.T
	session  *gocql.Session
	pool     *exec.Pool
	keyspace string
	store    *exectest.Store
	engine   *Engine
	stop     func()
	schema   atomic.Pointer[schema.Schema]
	under    sync.RWMutex // held for reading while a request is under way
}

// Barrier implements migrate.Traffic.
func (l *live) Barrier(context.Context) error {
	l.under.Lock()
	defer l.under.Unlock()
	return nil
}

func connect(t *testing.T) *gocql.Session {
	t.Helper()
	address := os.Getenv("HELENUS_TEST_CASSANDRA")
	if address == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: no Cassandra to test against")
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	c := gocql.NewCluster(host)
	c.Port, _ = strconv.Atoi(port)
	c.Timeout, c.ConnectTimeout = 20*time.Second, 10*time.Second
	c.DisableInitialHostLookup = true
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// newLive makes a keyspace with an empty base table.
func newLive(t *testing.T) *live {
	t.Helper()
	s := connect(t)
	l := &live{t: t, session: s, keyspace: fmt.Sprintf("rewrite_%d", time.Now().UnixNano()), store: &exectest.Store{}}
	l.pool = exec.NewPool(func() (*gocql.Session, error) { return s, nil })
	l.do(fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", l.keyspace))
	t.Cleanup(func() {
		if err := s.Query("DROP KEYSPACE " + l.keyspace).Exec(); err != nil {
			t.Error(err)
		}
	})
	l.do(l.in(`CREATE TABLE %s.stays (room text, day int, n int, guest text, status text,
		PRIMARY KEY ((room), day, n)) WITH CLUSTERING ORDER BY (day DESC, n ASC)`))
	l.read()
	return l
}

func (l *live) in(text string) string { return fmt.Sprintf(text, l.keyspace) }

func (l *live) do(text string, values ...any) {
	l.t.Helper()
	if err := l.session.Query(text, values...).Exec(); err != nil {
		l.t.Fatalf("%s: %v", text, err)
	}
}

// read reads the schema, as after an event.
func (l *live) read() {
	l.t.Helper()
	s, err := schema.Read(context.Background(), l.session, l.keyspace)
	if err != nil {
		l.t.Fatal(err)
	}
	l.schema.Store(s)
	if l.engine != nil {
		l.engine.Look()(s)
	}
}

func (l *live) statement() string {
	return l.in("SELECT room, day, n, guest, status FROM %s.stays WHERE guest = ? ALLOW FILTERING")
}

func (l *live) advice() plan.Rewrite {
	print, text, _, err := cql.FingerprintText(l.statement(), "")
	if err != nil {
		l.t.Fatal(err)
	}
	return plan.Rewrite{Keyspace: l.keyspace, Base: "stays", Column: "guest", Table: "stays_by_guest",
		Statements: []string{print.String()}, Texts: []string{text},
		SchemaDigest: l.schema.Load().Table(l.keyspace, "stays").Digest()}
}

func (l *live) boot(settings migrate.Settings) {
	l.t.Helper()
	l.engine = nil
	l.read()
	e, err := New(Options{Session: l.pool, Store: l.store, Traffic: l, Schema: l.schema.Load, Migrate: settings})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := e.Restore(context.Background()); err != nil {
		l.t.Fatal(err)
	}
	l.engine = e
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	l.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		e.end() // what is under way ends now, as in a crash
		e.wait.Wait()
	})
	l.t.Cleanup(l.stop)
}

func (l *live) state() migrate.Change { return l.engine.Migrations()[0] }

func (l *live) await(want migrate.State) {
	l.t.Helper()
	for range 2400 {
		if l.state().State == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	m := l.state()
	l.t.Fatalf("still %s (%s), not %s: %+v %+v", m.State, m.Reason, want, m.Progress, m.Events)
}

type bytesValue []byte

func (b bytesValue) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return b, nil }

// wire is the relay's part for one request.
type wire struct {
	l    *live
	done chan answer
}

func (c *wire) Forward(r *proxy.Request, f proxy.Forward) {
	go func() {
		a := answer{forwarded: true}
		values := make([]any, len(r.Values))
		raw := make([][]byte, len(r.Values))
		for i, v := range r.Values {
			values[i], raw[i] = bytesValue(v.Bytes), v.Bytes
		}
		var err error
		if st, e := cql.Parse(r.Text); e == nil && st.Kind() == cql.KindSelect {
			var got exec.Answer
			got, err = c.l.pool.Query(context.Background(), exec.Query{Text: r.Text, Values: raw, Consistency: gocql.One})
			a.rows = got.Rows
		} else {
			q := c.l.session.Query(r.Text, values...).Consistency(gocql.One)
			if r.HasTimestamp {
				q = q.WithTimestamp(r.Timestamp)
			}
			err = q.Exec()
		}
		a.failed = err != nil
		if f.Done != nil {
			code := int32(0x1100)
			var failure gocql.RequestError
			if errors.As(err, &failure) {
				code = int32(failure.Code())
			}
			f.Done(proxy.Response{Opcode: proxy.OpResult, Failed: a.failed, ErrorCode: code, Body: body(a.rows)})
		}
		c.done <- a
	}()
}

func (c *wire) Answer(_ *proxy.Request, rows proxy.Rows) { c.done <- answer{rows: rows} }
func (c *wire) Fail(_ *proxy.Request, code int32, text string) {
	c.done <- answer{failed: true, code: code}
}

// ask sends a prepared statement through the engine.
func (l *live) ask(text string, values ...[]byte) answer {
	l.under.RLock()
	defer l.under.RUnlock()
	c := &wire{l: l, done: make(chan answer, 1)}
	r := &proxy.Request{Opcode: proxy.OpExecute, Version: 4, Text: text, Consistency: uint16(gocql.One), PageSize: 5000, Responder: c,
		Prepared: &proxy.Prepared{Text: text, ResultMetadata: []byte{0}}}
	for _, v := range values {
		r.Values = append(r.Values, proxy.Value{Bytes: v, Null: v == nil})
	}
	r.Rule = l.engine.Rule("", text)
	if r.Rule == nil || !l.engine.Take(r) {
		c.Forward(r, proxy.Forward{})
	}
	return <-c.done
}

func (l *live) load(rows int) {
	l.t.Helper()
	random := rand.New(rand.NewSource(1))
	for i := range rows {
		l.do(l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?)"), fmt.Sprint("room", i%(rows/6+1)),
			random.Intn(4), i, fmt.Sprint("guest", random.Intn(20)), "booked")
	}
}

func fast() migrate.Settings {
	return migrate.Settings{Settle: 100 * time.Millisecond, Ranges: 16, Retry: 50 * time.Millisecond, ShadowReads: 1, ShadowLeast: 1,
		ShadowSelf: 40, SweepEvery: time.Hour, SampleDelay: 50 * time.Millisecond}
}

// The answers of the look-up must come in the order of the original statement: ties of a guest over many partitions,
// several rows a partition, one clustering column descending.
func TestCassandraOrder(t *testing.T) {
	l := newLive(t)
	l.load(600)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "order", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	rows := 0
	for g := range 21 {
		guest := str(fmt.Sprint("guest", g))
		original, err := l.pool.Query(context.Background(), exec.Query{Text: l.statement(), Values: [][]byte{guest}, Consistency: gocql.One})
		if err != nil {
			t.Fatal(err)
		}
		got := l.ask(l.statement(), guest)
		if got.forwarded {
			t.Fatalf("guest%d: ran as written", g)
		}
		if !exec.Equal(got.rows, original.Rows) {
			t.Fatalf("guest%d: got %q, want %q", g, got.rows, original.Rows)
		}
		rows += len(got.rows)
	}
	if rows != 600 {
		t.Fatalf("%d rows in all, want 600", rows)
	}
	if m := l.state(); m.Last.Missing != 0 || m.Last.Rows != 600 || m.Entries != 600 {
		t.Fatalf("%+v", m)
	}
}

// writers change guests of a few rows as fast as they can, through the engine, until stopped.
func (l *live) writers(n int) (stop func()) {
	var wait sync.WaitGroup
	var end, done atomic.Bool
	set := l.in("UPDATE %s.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?")
	insert := l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?)")
	remove := l.in("DELETE FROM %s.stays WHERE room = ? AND day = ? AND n = ?")
	for i := range n {
		wait.Add(1)
		go func() {
			defer wait.Done()
			random := rand.New(rand.NewSource(int64(i)))
			for !end.Load() {
				room, day, k := str(fmt.Sprint("hot", random.Intn(3))), num(random.Intn(2)), num(random.Intn(2))
				guest := str(fmt.Sprint("guest", random.Intn(5)))
				switch random.Intn(8) {
				case 0:
					l.ask(remove, room, day, k)
				case 1, 2:
					l.ask(insert, room, day, k, guest, str("booked"))
				case 3:
					l.ask(set, nil, room, day, k)
				default:
					l.ask(set, guest, room, day, k)
				}
			}
		}()
	}
	return func() {
		if !done.Swap(true) {
			end.Store(true)
			wait.Wait()
		}
	}
}

// equal compares every guest's answer through the engine with the original's.
func (l *live) equal() {
	l.t.Helper()
	for g := range 20 {
		guest := str(fmt.Sprint("guest", g))
		original, err := l.pool.Query(context.Background(), exec.Query{Text: l.statement(), Values: [][]byte{guest}, Consistency: gocql.One})
		if err != nil {
			l.t.Fatal(err)
		}
		if got := l.ask(l.statement(), guest); !exec.Equal(got.rows, original.Rows) {
			l.t.Errorf("guest%d: %d rows through the engine, %d without", g, len(got.rows), len(original.Rows))
		}
	}
}

func TestCassandraConcurrentWriters(t *testing.T) {
	l := newLive(t)
	l.load(300)
	l.boot(fast())
	stop := l.writers(8)
	defer stop()
	if _, err := l.engine.Approve(context.Background(), "busy", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	time.Sleep(2 * time.Second)
	during, err := l.engine.manager.CheckOnce(context.Background(), "busy")
	if err != nil || during.Missing > 0 {
		t.Fatalf("while written to: %+v, %v", during, err)
	}
	stop()
	after, err := l.engine.manager.CheckOnce(context.Background(), "busy")
	if err != nil || after.Missing > 0 {
		t.Fatalf("afterwards: %+v, %v", after, err)
	}
	if m := l.state(); m.State != migrate.Serving || m.Repaired != 0 {
		t.Fatalf("%+v", m)
	}
	l.equal()
	t.Logf("%+v, garbage %+v", after, lookUps(l.engine).Maintainer.Counts())
}

// Every state of a change is left by a crash, and taken up again by another process, while writers go on.
func TestCassandraCrashInEveryState(t *testing.T) {
	l := newLive(t)
	l.load(200)
	with := func(change func(*migrate.Settings)) migrate.Settings {
		s := fast()
		change(&s)
		return s
	}
	for i, c := range []struct {
		in       migrate.State
		settings migrate.Settings // with which it comes to this state, and stays there long enough
		after    time.Duration
	}{
		{migrate.DualWrite, with(func(s *migrate.Settings) { s.Settle = time.Hour }), 300 * time.Millisecond},
		{migrate.Backfill, with(func(s *migrate.Settings) { s.Rate = 20 }), 300 * time.Millisecond},
		{migrate.Shadow, with(func(s *migrate.Settings) { s.ShadowReads, s.ShadowLeast, s.ShadowFor = 1<<40, 1<<40, time.Hour }), 300 * time.Millisecond},
		{migrate.Verify, with(func(s *migrate.Settings) { s.Settle = time.Hour }), 0}, // as which one in shadow begins again
	} {
		l.boot(c.settings)
		stop := l.writers(2)
		if i == 0 {
			_, err := l.engine.Approve(context.Background(), "crash", l.advice(), "ann")
			must(t, err)
		}
		l.await(c.in)
		time.Sleep(c.after)
		if state := l.state().State; state != c.in {
			t.Errorf("crashed in %s, not in %s", state, c.in)
		}
		stop()
		l.stop()
	}
	l.boot(fast())
	l.await(migrate.Serving)
	result, err := l.engine.manager.CheckOnce(context.Background(), "crash")
	if err != nil || result.Missing > 0 || l.state().Repaired > 0 {
		t.Fatalf("%+v, %v, %+v", result, err, l.state())
	}
	l.equal()
}

func TestCassandraLookUpDroppedBehindOurBack(t *testing.T) {
	l := newLive(t)
	l.load(50)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "drop", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	l.do(l.in("DROP TABLE %s.stays_by_guest"))
	// Before the schema event comes: reads fall back, writes go on.
	l.equal()
	set := l.in("UPDATE %s.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?")
	if a := l.ask(set, str("guest1"), str("room0"), num(0), num(0)); a.failed {
		t.Fatalf("a write failed because the look-up is gone: %+v", a)
	}
	l.read()
	if m := l.state(); m.State != migrate.Suspended || !m.Broken {
		t.Fatalf("%+v", m)
	}
	if a := l.ask(l.statement(), str("guest1")); !a.forwarded {
		t.Fatal("still served")
	}
	l.equal()
	if err := l.engine.Rollback(context.Background(), "drop", "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.RolledBack)
	if err := l.engine.Drop(context.Background(), "drop", "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Dropped)
}

func TestCassandraBaseAltered(t *testing.T) {
	l := newLive(t)
	l.load(50)
	l.boot(fast())
	if _, err := l.engine.Approve(context.Background(), "alter", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	advice := l.advice()
	l.do(l.in("ALTER TABLE %s.stays ADD note text"))
	l.read()
	l.await(migrate.Serving) // after it was verified again
	l.equal()
	if err := l.engine.Rollback(context.Background(), "alter", "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.RolledBack)
	if _, err := l.engine.Approve(context.Background(), "stale", advice, "ann"); err == nil {
		t.Fatal("advice on another schema was approved")
	}
	// New advice meets the table of the old change, which is not its own.
	if _, err := l.engine.Approve(context.Background(), "next", l.advice(), "ann"); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if l.engine.Migrations()[1].State == migrate.Failed {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if m := l.engine.Migrations()[1]; m.State != migrate.Failed || m.Reason == "" {
		t.Fatalf("%+v", m)
	}
	if err := l.session.Query(l.in("SELECT guest FROM %s.stays_by_guest LIMIT 1")).Exec(); err != nil {
		t.Fatalf("somebody else's table was touched: %v", err)
	}
}

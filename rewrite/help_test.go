package rewrite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/verify"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// The base of the tests: two rows a partition, the second clustering column descending.
const (
	byGuest   = "SELECT room, day, n, guest, status FROM hotel.stays WHERE guest = ? ALLOW FILTERING"
	setGuest  = "UPDATE hotel.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?"
	insertRow = "INSERT INTO hotel.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?)"
	deleteRow = "DELETE FROM hotel.stays WHERE room = ? AND day = ? AND n = ?"
)

func stays() schema.Table {
	return schema.Table{Keyspace: "hotel", Name: "stays", ID: "1", Columns: []schema.Column{
		{Name: "room", Kind: schema.PartitionKey, Position: 0, Type: "text"},
		{Name: "day", Kind: schema.Clustering, Position: 0, Type: "int", Descending: true},
		{Name: "n", Kind: schema.Clustering, Position: 1, Type: "int"},
		{Name: "guest", Kind: schema.Regular, Position: -1, Type: "text"},
		{Name: "status", Kind: schema.Regular, Position: -1, Type: "text"},
	}}
}

func advice(t testing.TB) plan.Rewrite {
	t.Helper()
	print, text, _, err := cql.FingerprintText(byGuest, "")
	if err != nil {
		t.Fatal(err)
	}
	base := stays()
	return plan.Rewrite{Keyspace: "hotel", Base: "stays", Column: "guest", Table: "stays_by_guest",
		Statements: []string{print.String()}, Texts: []string{text}, SchemaDigest: base.Digest()}
}

// world is an Engine over a database in memory, with a relay that does what it is told.
type world struct {
	t      testing.TB
	db     *exectest.Memory
	store  *exectest.Store
	engine *Engine
	stop   func()

	bypassed atomic.Bool     // the relay's switch
	nodes    func() []string // of the cluster

	mu       sync.Mutex
	barriers int
	barrier  func(context.Context)
}

func (w *world) Barrier(ctx context.Context) error {
	w.mu.Lock()
	w.barriers++
	f := w.barrier
	w.mu.Unlock()
	if f != nil {
		f(ctx)
	}
	return ctx.Err()
}

func quick() migrate.Settings {
	return migrate.Settings{Settle: 5 * time.Second, Ranges: 4, Workers: 1, ShadowReads: 1, ShadowLeast: 1, ShadowSelf: 8,
		SweepEvery: time.Hour}
}

// few has all kinds work in few parts, and in few buckets: thousands of passes over a handful of rows would mostly clear and compare empty ones.
func few() kinds.Set {
	return kinds.All(kinds.Settings{LookUp: lookup.Settings{Verify: verify.Settings{Ranges: 2, Workers: 1, Buckets: 256}}})
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, db: exectest.New(), store: &exectest.Store{}}
	base := stays()
	base.GCGrace = 10 * 24 * 3600
	w.db.Add(base)
	return w
}

// boot starts an Engine on what the store and the database hold, as a process does.
func (w *world) boot(settings migrate.Settings) {
	w.t.Helper()
	e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Bypass: w.bypassed.Store, Schema: w.db.Schema, Nodes: w.nodes, Migrate: settings, Every: 1 << 60, Kinds: few()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine = e
	if err := e.Restore(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.run(e)
}

// lookUps is what carries the look-ups of an Engine out.
func lookUps(e *Engine) *lookup.Runner { return e.runners[plan.LookUp].(*lookup.Runner) }

// putChange stores a change as an engine does, getChange reads m1 as it is stored.
func putChange(s *exectest.Store, m *Change) error {
	_, err := change.Open(s).Change(context.Background(), m.ID, func(r *change.Record) (_ []store.Entry, err error) {
		r.State = m.State
		r.Work, err = change.Part(m)
		return nil, err
	})
	return err
}

func getChange(s *exectest.Store, m *Change) error {
	all, err := change.Open(s).All(context.Background())
	if err != nil || len(all) == 0 {
		return errors.Join(err, store.ErrNotFound)
	}
	err = json.Unmarshal(all[0].Work, m)
	m.State = all[0].State
	return err
}

// run has an Engine work until stop.
func (w *world) run(e *Engine) {
	w.engine = e
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx) }()
	w.stop = func() {
		cancel()
		<-done
		e.Close(ctx)
	}
}

// state returns the state of the first change.
func (w *world) state() migrate.State {
	w.t.Helper()
	list := w.engine.Migrations()
	if len(list) == 0 {
		w.t.Fatalf("no change")
	}
	return list[0].State
}

// await waits, in the time of the bubble, for a state.
func (w *world) await(want migrate.State) {
	w.t.Helper()
	for range 100000 {
		synctest.Wait() // what follows from a state is done, too
		if w.state() == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("still %s, not %s: %+v", w.state(), want, w.engine.Migrations()[0])
}

// answer is what a client was told.
type answer struct {
	rows      proxy.Rows
	forwarded bool
	code      int32
	failed    bool
}

// client is a fake relay for one request: what is forwarded is carried out on the database.
type client struct {
	w    *world
	ctx  context.Context
	done chan answer
}

func (c *client) Forward(r *proxy.Request, f proxy.Forward) {
	go func() {
		a := answer{forwarded: true}
		run := func(text string, values []proxy.Value) {
			if text == "" {
				return // prepared elsewhere: whatever it does
			}
			raw := make([][]byte, len(values))
			for i, v := range values {
				raw[i] = v.Bytes
			}
			ts := r.Timestamp // 0: the database chooses
			if st, err := cql.Parse(text); err == nil && (st.Kind() == cql.KindSelect || st.Kind() == cql.KindTruncate) {
				got, err := c.w.db.Query(c.ctx, exec.Query{Text: text, Values: raw})
				a.rows, a.failed = got.Rows, err != nil
				if err != nil {
					a.code = 0x1300 // read failure
				}
				return
			}
			if before, ok := c.w.db.Before.Get(); ok {
				if err := before(c.ctx, exec.Query{Text: text, Values: raw}); err != nil {
					a.failed, a.code = true, 0x1100
					return
				}
			}
			if err := c.w.db.Write(text, raw, ts); err != nil {
				a.failed, a.code = true, 0x2200
			}
		}
		if r.Opcode == proxy.OpBatch {
			for _, child := range r.Children {
				run(child.Text, child.Values)
			}
		} else {
			run(r.Text, r.Values)
		}
		if f.Done != nil {
			opcode := proxy.OpResult
			if a.failed {
				opcode = proxy.OpError
			}
			f.Done(proxy.Response{Opcode: opcode, Failed: a.failed, ErrorCode: a.code, Body: body(a.rows)})
		}
		c.done <- a
	}()
}

// body is a RESULT Rows answer without metadata.
func body(rows proxy.Rows) []byte {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	b := append(exec.FromInt32(2), exec.FromInt32(4)...)
	b = append(b, exec.FromInt32(int32(columns))...)
	b = append(b, exec.FromInt32(int32(len(rows)))...)
	for _, row := range rows {
		for _, c := range row {
			if c == nil {
				b = append(b, exec.FromInt32(-1)...)
				continue
			}
			b = append(append(b, exec.FromInt32(int32(len(c)))...), c...)
		}
	}
	return b
}

func (c *client) Answer(_ *proxy.Request, rows proxy.Rows) { c.done <- answer{rows: rows} }

func (c *client) Fail(_ *proxy.Request, code int32, _ string) {
	c.done <- answer{failed: true, code: code}
}

// ask sends a prepared statement through the engine, as the relay does, and returns what the client was told.
func (w *world) ask(text string, values ...[]byte) answer { return w.send(text, nil, values...) }

func (w *world) send(text string, change func(*proxy.Request), values ...[]byte) answer {
	c := &client{w: w, ctx: context.Background(), done: make(chan answer, 1)}
	return w.sendBy(c, c, text, change, values...)
}

// sendBy is send with a relay of one's own.
func (w *world) sendBy(by proxy.Responder, c *client, text string, change func(*proxy.Request), values ...[]byte) answer {
	r := &proxy.Request{Opcode: proxy.OpExecute, Version: 4, Text: text, Consistency: 1, PageSize: 5000, Responder: by,
		Prepared: &proxy.Prepared{Text: text, ResultMetadata: []byte{0}}}
	for _, v := range values {
		r.Values = append(r.Values, proxy.Value{Bytes: v, Null: v == nil})
	}
	if st, err := cql.Parse(text); err == nil {
		if s, ok := st.(*cql.Select); ok {
			for _, column := range s.Columns {
				r.Prepared.Results = append(r.Prepared.Results, proxy.Column{Name: column.Expr.String()})
			}
		}
	}
	if change != nil {
		change(r)
	}
	r.Rule = w.engine.Rule(r.Keyspace, r.Text)
	if w.bypassed.Load() || r.Rule == nil || !w.engine.Take(r) {
		c.Forward(r, proxy.Forward{})
	}
	return <-c.done
}

func num(n int) []byte { return exec.FromInt32(int32(n)) }

func str(s string) []byte { return []byte(s) }

// fill puts rows into the base at early timestamps.
func (w *world) fill(rooms, days int) {
	w.t.Helper()
	for room := range rooms {
		for day := range days {
			for n := range 2 {
				err := w.db.Write(insertRow, [][]byte{str(fmt.Sprint("room", room)), num(day), num(n),
					str(fmt.Sprint("guest", (room+day)%5)), str("booked")}, int64(1000+room))
				if err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
}

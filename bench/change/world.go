package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/bench/product"
	"github.com/helenus-db/helenus/internal/cassandra"
)

const (
	keyspace = "change"

	aValue     = 2 // rows of a value
	executions = 5 // of a statement until it is advised on
	wideRows   = 1_000
	plainRows  = 1_000
	heavy      = 20 // guests with many stays

	// costs are those of a Cassandra that reads a row in 0.2 ms when it filters: so few rows are as good as many to be advised on.
	costs = "model: cassandra\nscan_row_ms: 0.2\n"

	// Rooms and ids from here on are written by the bench's own operations.
	heavyRoom = 1_000_000
	freshRoom = 2_000_000
)

// world is a Cassandra with an application's tables, and two processes before it.
type world struct {
	settings
	dir     string
	cluster *cassandra.Cluster
	relay   *relay
	direct  *gocql.Session // straight to Cassandra, unstamped
	near    *gocql.Session // through the relay alone, stamped
	with    *helenus       // changes serve
	without *helenus       // there are none
	others  []string       // the changes of wide; there is one more, of stays by guest
	next    atomic.Int64   // numbers what operations write: no two write the same key or value, unless they are to
}

// start starts all but the changes.
func start(ctx context.Context, s settings) (_ *world, err error) {
	w := &world{settings: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.stop(err))
		}
	}()
	if w.dir, err = os.MkdirTemp("", "helenus-change-"); err != nil {
		return nil, err
	}
	// An address of its own: a node's port is the same everywhere.
	shown := netip.AddrFrom4([4]byte{127, 200, byte(os.Getpid() >> 8), byte(os.Getpid())})
	w.cluster, err = cassandra.Start(ctx, cassandra.Options{
		Dir: filepath.Join(w.dir, "cassandra"), Heap: s.heap, Progress: func(line string) { s.say("%s", line) }, Extra: map[string]any{
			"broadcast_rpc_address": shown.String(),
			// What is measured is work, and a busy machine may take long for it.
			"read_request_timeout": "60s", "range_request_timeout": "60s", "write_request_timeout": "60s", "request_timeout": "60s", "native_transport_timeout": "60s",
		},
	})
	if err != nil {
		return nil, err
	}
	point, err := netip.ParseAddrPort(w.cluster.ContactPoints()[0])
	if err != nil {
		return nil, err
	}
	behind := netip.AddrPortFrom(shown, point.Port()).String()
	if w.relay, err = startRelay(behind, point.String()); err != nil {
		return nil, err
	}
	if w.direct, err = product.Connect(point.String(), false); err != nil {
		return nil, err
	}
	if w.near, err = product.Connect(behind, true); err != nil {
		return nil, err
	}
	if err := w.create(ctx); err != nil {
		return nil, err
	}
	cost := filepath.Join(w.dir, "cost.yaml")
	if err := os.WriteFile(cost, []byte(costs), 0o600); err != nil {
		return nil, err
	}
	if w.with, err = newHelenus("with", s.helenus, w.dir, behind, "--keyspaces", keyspace, "--cost", cost); err != nil {
		return nil, err
	}
	if w.without, err = newHelenus("without", s.helenus, w.dir, behind, "--keyspaces", keyspace, "--cost", cost); err != nil {
		return nil, err
	}
	if err := w.shareOwner(ctx); err != nil {
		return nil, err
	}
	if err := w.with.Start(); err != nil {
		return nil, err
	}
	return w, w.with.open(ctx)
}

// shareOwner has both processes begin with one state, and so with one owner: tables of another's would, rightly, turn all changes back where it can not
// be seen who else is connected, and here it can not (asksForOthers).
func (w *world) shareOwner(ctx context.Context) error {
	if err := w.without.Start(); err != nil {
		return err
	}
	if err := w.without.open(ctx); err != nil {
		return err
	}
	w.without.stop()
	return os.CopyFS(w.with.Dir, os.DirFS(w.without.Dir))
}

// stop ends everything. What is left of a run that failed are the logs.
func (w *world) stop(failed error) error {
	for _, h := range []*helenus{w.with, w.without} {
		if h != nil {
			h.stop()
		}
	}
	for _, s := range []*gocql.Session{w.direct, w.near} {
		if s != nil {
			s.Close()
		}
	}
	if w.relay != nil {
		w.relay.close()
	}
	var err error
	if w.cluster != nil {
		err = w.cluster.Stop()
	}
	if failed != nil {
		w.say("logs and state are left in %s", w.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// columns of wide that are looked up.
func (w *world) columns() []string {
	list := make([]string, w.lookedUp)
	for i := range list {
		list[i] = fmt.Sprintf("c%d", i)
	}
	return list
}

// create makes the tables and fills them.
func (w *world) create(ctx context.Context) error {
	texts := []string{
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE " + keyspace + ".plain (id int PRIMARY KEY, name text, amount int)",
		"CREATE TABLE " + keyspace + ".stays (room int, n int, guest text, note text, PRIMARY KEY ((room), n))",
		"CREATE TABLE " + keyspace + ".wide (id int PRIMARY KEY, amount int, " + strings.Join(w.columns(), " text, ") + " text)",
	}
	for _, text := range texts {
		if err := w.direct.Query(text).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	w.say("filling tables of %d, %d and %d rows", plainRows, wideRows, w.rows)
	return errors.Join(
		each(ctx, plainRows, func(i int) error { return run(ctx, w.direct, w.plainInsert(i)) }),
		each(ctx, w.rows, func(i int) error { return run(ctx, w.direct, stay(i, guest(i/aValue), i)) }),
		each(ctx, wideRows, func(i int) error { return run(ctx, w.direct, w.wideInsert(i, i/aValue)) }),
	)
}

// operation is one statement of the application.
type operation struct {
	text   string
	values []any
}

func guest(i int) string { return fmt.Sprintf("guest %d", i) }

// wealthy is a guest with many stays.
func wealthy(i int) string { return fmt.Sprintf("regular %d", i%heavy) }

func stay(room int, guest string, note int) operation {
	return operation{"INSERT INTO " + keyspace + ".stays (room, n, guest, note) VALUES (?, ?, ?, ?)", []any{room, 0, guest, fmt.Sprintf("note %d", note)}}
}

func move(room int, guest string) operation {
	return operation{"UPDATE " + keyspace + ".stays SET guest = ? WHERE room = ? AND n = ?", []any{guest, room, 0}}
}

func leave(room int) operation {
	return operation{"DELETE FROM " + keyspace + ".stays WHERE room = ? AND n = ?", []any{room, 0}}
}

func staysOf(guest string) operation {
	return operation{"SELECT room, n, note FROM " + keyspace + ".stays WHERE guest = ? ALLOW FILTERING", []any{guest}}
}

func (w *world) plainInsert(i int) operation {
	return operation{"INSERT INTO " + keyspace + ".plain (id, name, amount) VALUES (?, ?, ?)", []any{i % plainRows, fmt.Sprintf("name %d", i), i}}
}

func (w *world) plainRead(i int) operation {
	return operation{"SELECT name, amount FROM " + keyspace + ".plain WHERE id = ?", []any{i % plainRows}}
}

func (w *world) wideInsert(id, value int) operation {
	names := w.columns()
	o := operation{"INSERT INTO " + keyspace + ".wide (id, amount, " + strings.Join(names, ", ") + ") VALUES (?, ?" + strings.Repeat(", ?", len(names)) + ")", []any{id, id}}
	for _, c := range names {
		o.values = append(o.values, fmt.Sprintf("%s %d", c, value))
	}
	return o
}

func (w *world) wideAmount(i int) operation {
	return operation{"UPDATE " + keyspace + ".wide SET amount = ? WHERE id = ?", []any{i, i % wideRows}}
}

func (w *world) wideRead(column string, value int) operation {
	return operation{"SELECT id, amount FROM " + keyspace + ".wide WHERE " + column + " = ? ALLOW FILTERING", []any{fmt.Sprintf("%s %d", column, value)}}
}

func run(ctx context.Context, s *gocql.Session, o operation) error {
	if err := s.Query(o.text, o.values...).WithContext(ctx).Iter().Close(); err != nil {
		return fmt.Errorf("%s: %w", o.text, err)
	}
	return nil
}

// workers is how many operations of a load are under way at a time.
const workers = 8

// each runs n operations, workers at a time, and returns the first error.
func each(ctx context.Context, n int, do func(i int) error) error {
	var (
		work  sync.WaitGroup
		next  atomic.Int64
		once  sync.Once
		first error
	)
	for range workers {
		work.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					once.Do(func() { first = err })
					return
				}
			}
		})
	}
	work.Wait()
	return errors.Join(first, ctx.Err())
}

// lookedUpReads are the reads that changes are wanted for, by table.column.
func (w *world) lookedUpReads(value int) map[string]operation {
	reads := map[string]operation{"stays.guest": staysOf(guest(value))}
	for _, c := range w.columns() {
		reads["wide."+c] = w.wideRead(c, value)
	}
	return reads
}

// ask has the application read through the process, so that it learns and compares.
func (w *world) ask(ctx context.Context, times int) error {
	random := rand.New(rand.NewPCG(1, uint64(w.next.Add(1)))) //nolint:gosec // any numbers will do
	for range times {
		reads := w.lookedUpReads(random.IntN(wideRows / aValue))
		for _, name := range slices.Sorted(maps.Keys(reads)) {
			if err := run(ctx, w.with.stamped, reads[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// change brings the changes to serve, in the way that everybody does, and starts the process without any.
func (w *world) change(ctx context.Context) error {
	w.say("waiting for advice on %d columns", w.lookedUp+1)
	var ids map[string]string
	for begun := time.Now(); len(ids) <= w.lookedUp; {
		if err := w.ask(ctx, executions); err != nil {
			return err
		}
		var err error
		if ids, err = w.with.lookUps(ctx); err != nil {
			return err
		}
		if time.Since(begun) > 2*time.Minute {
			return fmt.Errorf("%w for all of %v: only for %v", errNoAdvice, slices.Sorted(maps.Keys(w.lookedUpReads(0))), slices.Sorted(maps.Keys(ids)))
		}
	}
	w.say("approving each and waiting until it serves")
	for name := range w.lookedUpReads(0) {
		id := ids[name]
		if id == "" {
			return fmt.Errorf("%w for %s, but for %v", errNoAdvice, name, ids)
		}
		if name != "stays.guest" {
			w.others = append(w.others, id)
		}
		if _, err := w.with.CLI(ctx, "approve", id, "--detach"); err != nil {
			return err
		}
		err := w.with.Until(ctx, "change "+id+" serves", 10*time.Minute, func() (bool, error) {
			if err := w.ask(ctx, 1); err != nil && ctx.Err() == nil { // a busy Cassandra fails filtering reads now and then; nothing rests on these
				w.say("not compared: %v", err)
			}
			return w.with.InState(ctx, "serving", []string{id})
		})
		if err != nil {
			return err
		}
	}
	for i := range heavy * w.heavyStays {
		if err := run(ctx, w.with.stamped, stay(heavyRoom+i, wealthy(i), i)); err != nil {
			return err
		}
	}
	if err := w.without.Start(); err != nil {
		return err
	}
	return w.without.open(ctx)
}

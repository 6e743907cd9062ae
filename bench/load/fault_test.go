package load_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// wire is a way to Cassandra that can be cut, as if the node were killed.
type wire struct {
	listener net.Listener
	to       string
	mutex    sync.Mutex
	cut      bool
	open     map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, to: to, open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.carry(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.set(true)
		all.Wait()
	})
	return w
}

func (w *wire) carry(c net.Conn) {
	defer func() { _ = c.Close() }()
	w.mutex.Lock()
	refused := w.cut
	w.mutex.Unlock()
	if refused {
		return
	}
	up, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer func() { _ = up.Close() }()
	w.mutex.Lock()
	w.open[c], w.open[up] = true, true
	w.mutex.Unlock()
	var both sync.WaitGroup
	for _, ends := range [][2]net.Conn{{c, up}, {up, c}} {
		both.Go(func() {
			_, _ = io.Copy(ends[0], ends[1])
			_ = ends[0].Close()
			_ = ends[1].Close()
		})
	}
	both.Wait()
}

// set cuts the wire, or mends it.
func (w *wire) set(cut bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.cut = cut; cut {
		for c := range w.open {
			_ = c.Close()
		}
		clear(w.open)
	}
}

func over(t *testing.T, w *wire) (session *gocql.Session, connect func() (*gocql.Session, error)) {
	t.Helper()
	cfg := cassandratest.Config(t, w.listener.Addr().String())
	cfg.ReconnectInterval = 100 * time.Millisecond
	cfg.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 3, Interval: 100 * time.Millisecond}
	cfg.ConnectTimeout = 2 * time.Second
	cfg.Logger = quiet{}
	connect = cfg.CreateSession
	session, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session, connect
}

type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// table is one of a schema of a workload, under a name of its own.
func table(t *testing.T, list []*model.Table, name, as string) []*model.Table {
	t.Helper()
	for _, x := range list {
		if x.Name == name {
			own := *x
			own.Name = as
			return []*model.Table{&own}
		}
	}
	t.Fatalf("no table %s", name)
	return nil
}

func count(t *testing.T, s *gocql.Session, keyspace, table string) (n int) {
	t.Helper()
	if err := s.Query("SELECT count(*) FROM " + keyspace + "." + table).Consistency(gocql.One).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCassandraGoesAway cuts the connection in the middle of a load: it goes on when Cassandra is there again, or stops, says
// where, and goes on from there when it is asked to.
func TestCassandraGoesAway(t *testing.T) {
	direct, keyspace := cassandratest.Keyspace(t)
	w := newWire(t, cassandratest.ContactPoints(t)[0])
	ctx := context.Background()
	wl, world := design(t, "rubis.yaml", 0.05)
	for name, patience := range map[string]time.Duration{"waits": time.Minute, "stops": -1} {
		t.Run(name, func(t *testing.T) {
			session, connect := over(t, w) // each its own: one does not always find its way back
			tables := append(table(t, wl.Schemas["rubis_baseline"], "buynow", "first_"+name), table(t, wl.Schemas["rubis_expert"], "item_bids", "item_bids_"+name)...)
			if err := load.Define(ctx, direct, keyspace, tables); err != nil {
				t.Fatal(err)
			}
			mended := make(chan struct{})
			source := &cutting{Source: world, table: tables[1], at: 4000, cut: func() {
				w.set(true)
				time.AfterFunc(2500*time.Millisecond, func() { w.set(false); close(mended) })
			}}
			waited := false
			list, err := load.Tables(ctx, session, keyspace, tables, source, load.Options{Patience: patience, Connect: connect, Writers: 4, Progress: func(p load.Progress) {
				waited = waited || p.Waiting != nil && strings.Contains(p.String(), "waiting for Cassandra")
			}})
			select {
			case <-mended:
			case <-time.After(10 * time.Second):
				t.Fatalf("nothing was cut: %v", err)
			}
			var stopped *load.StoppedError
			switch {
			case patience > 0 && (err != nil || len(list) != 2 || !waited):
				t.Fatalf("%v %v, waited %v", list, err, waited)
			case patience < 0:
				if !errors.As(err, &stopped) || len(list) != 1 || stopped.Table != tables[1].Name || stopped.Rows() == 0 || stopped.Rows() > 4000 {
					t.Fatalf("%v %v", list, err)
				}
				t.Log(err)
				if list, err = load.Tables(ctx, direct, keyspace, tables, world, load.Options{After: stopped}); err != nil || len(list) != 1 || list[0].Rows != 10000-stopped.Rows() {
					t.Fatalf("%v %v", list, err)
				}
			}
			if n := count(t, direct, keyspace, tables[1].Name); n != 10000 {
				t.Errorf("%d rows, want 10000", n)
			}
		})
	}
}

// cutting is a source that cuts the wire when so many rows of a table are read.
type cutting struct {
	load.Source
	table *model.Table
	at    int
	cut   func()
}

func (c *cutting) Contents(t *model.Table, row func([]any) error) error {
	n := 0
	return c.Source.Contents(t, func(values []any) error {
		if n++; t == c.table && n == c.at {
			c.cut()
		}
		return row(values)
	})
}

// TestMatch changes live tables in every way that Match looks at.
func TestMatch(t *testing.T) {
	session, keyspace := cassandratest.Keyspace(t)
	ctx := context.Background()
	wl, _ := design(t, "rubis.yaml", 0.01)
	tables := table(t, wl.Schemas["rubis_expert"], "item_bids", "item_bids")
	tables[0].Indexes = []model.Index{{Name: "i", Field: tables[0].Values[0]}}
	var mismatch *load.MismatchError
	if err := load.Match(ctx, session, keyspace, tables); !errors.As(err, &mismatch) || mismatch.Got != "not there" {
		t.Error(err)
	}
	if err := load.Define(ctx, session, keyspace, tables); err != nil {
		t.Fatal(err)
	}
	if err := load.Match(ctx, session, keyspace, tables); err != nil {
		t.Fatal(err)
	}
	first := func(list []model.Field) []model.Field { return append([]model.Field(nil), list...) }
	for i, change := range []func(t *model.Table) string{
		func(x *model.Table) string { x.Desc = x.Clustering[:1]; return x.ColumnName(x.Clustering[0]) },
		func(x *model.Table) string { x.Values = first(x.Values[1:]); return "" },
		func(x *model.Table) string {
			x.Types = map[model.Field]string{x.Values[0]: "blob"}
			return x.ColumnName(x.Values[0])
		},
		func(x *model.Table) string {
			x.Partition, x.Clustering = append(first(x.Partition), x.Clustering[0]), first(x.Clustering[1:])
			return x.ColumnName(x.Partition[1])
		},
		func(x *model.Table) string { x.Static = x.Values[:1]; return x.ColumnName(x.Values[0]) },
		func(x *model.Table) string { x.Indexes[0].SAI = true; return x.ColumnName(x.Values[0]) },
		func(x *model.Table) string { x.Bucket = &model.Bucket{Count: 1}; return "bucket" },
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			own := *tables[0]
			own.Indexes = append([]model.Index(nil), own.Indexes...)
			column := change(&own)
			err := load.Match(ctx, session, keyspace, []*model.Table{&own})
			if !errors.As(err, &mismatch) || column != "" && mismatch.Column != column {
				t.Errorf("%v, want %s", err, column)
			}
			t.Log(err)
		})
	}
}

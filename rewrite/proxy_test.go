package rewrite

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// late is a Traffic that is known only after the engine was made.
type late struct{ server atomic.Pointer[proxy.Server] }

func (l *late) Barrier(ctx context.Context) error { return l.server.Load().Barrier(ctx) }

// The whole chain: an ordinary gocql application, the relay, the engine, a real Cassandra. The application writes and
// reads by literal and bound statements and by batches, before, during and after the change.
func TestCassandraThroughTheProxy(t *testing.T) {
	l := newLive(t)
	l.load(200)
	traffic := &late{}
	engine, err := New(Options{Session: l.pool, Store: l.store, Traffic: traffic, Schema: l.schema.Load, Migrate: fast(), Every: 5})
	if err != nil {
		t.Fatal(err)
	}
	l.engine = engine
	must(t, engine.Restore(context.Background()))
	if engine.Epoch() != 0 {
		t.Error("the epoch is raised before there is a change")
	}
	server, err := proxy.New(proxy.Options{ContactPoints: []string{os.Getenv("HELENUS_TEST_CASSANDRA")}, Listen: "127.0.0.1:0", Rewriter: engine})
	must(t, err)
	traffic.server.Store(server)
	must(t, server.Start(context.Background()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); engine.Run(ctx) }()
	defer func() {
		down, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if err := server.Shutdown(down); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		cancel()
		<-done
		engine.end()
		engine.wait.Wait()
	}()
	for !server.Ready() {
		time.Sleep(10 * time.Millisecond)
	}
	host, port, err := net.SplitHostPort(server.Addrs()[0])
	must(t, err)
	cluster := gocql.NewCluster(host)
	cluster.Port, _ = strconv.Atoi(port)
	cluster.ProtoVersion, cluster.DisableInitialHostLookup, cluster.Timeout = 4, true, 20*time.Second
	cluster.Consistency = gocql.One
	app, err := cluster.CreateSession()
	must(t, err)
	defer app.Close()

	ask := func(s *gocql.Session, guest string) (out []string) {
		t.Helper()
		iter := s.Query(l.statement(), guest).Consistency(gocql.One).Iter()
		var room, g, status string
		var day, n int
		for iter.Scan(&room, &day, &n, &g, &status) {
			out = append(out, fmt.Sprint(room, day, n, g, status))
		}
		if err := iter.Close(); err != nil {
			t.Error(err)
		}
		return out
	}
	ask(app, "guest1") // prepared before there is anything to rewrite
	var wait sync.WaitGroup
	var end atomic.Bool
	for i := range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for k := 0; !end.Load(); k++ {
				room, guest := fmt.Sprint("hot", i), fmt.Sprint("guest", k%20)
				var err error
				switch k % 5 {
				case 0:
					err = app.Query(l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, ?, ?, ?, ?)"), room, k%3, k%2, guest, "x").Exec()
				case 1:
					err = app.Query(l.in("UPDATE %s.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?"), guest, room, k%3, k%2).Exec()
				case 2:
					b := app.NewBatch(gocql.LoggedBatch)
					b.Query(l.in("UPDATE %s.stays SET guest = ? WHERE room = ? AND day = ? AND n = ?"), guest, room, k%3, 0)
					b.Query(fmt.Sprintf("UPDATE %s.stays SET guest = '%s' WHERE room = '%s' AND day = %d AND n = 1", l.keyspace, guest, room, k%3))
					err = app.ExecuteBatch(b)
				case 3:
					err = app.Query(l.in("DELETE FROM %s.stays WHERE room = ? AND day = ? AND n = ?"), room, k%3, k%2).Exec()
				case 4:
					err = app.Query(fmt.Sprintf("UPDATE %s.stays SET status = 'y' WHERE room = '%s' AND day = %d AND n = 1", l.keyspace, room, k%3)).Exec()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	_, err = engine.Approve(context.Background(), "chain", l.advice(), "ann")
	must(t, err)
	l.await(migrate.Serving)
	time.Sleep(500 * time.Millisecond)
	for g := range 20 { // beside the writers; every fifth is compared
		ask(app, fmt.Sprint("guest", g))
	}
	end.Store(true)
	wait.Wait()
	for g := range 20 {
		guest := fmt.Sprint("guest", g)
		if got, want := fmt.Sprint(ask(app, guest)), fmt.Sprint(ask(l.session, guest)); got != want {
			t.Errorf("%s: %s through the proxy, %s without", guest, got, want)
		}
	}
	if m := l.state(); m.State != migrate.Serving || m.Repaired != 0 {
		t.Fatalf("%s %s %+v", m.State, m.Reason, m.Events)
	}
	result, err := engine.manager.CheckOnce(context.Background(), "chain")
	if err != nil || result.Missing > 0 {
		t.Errorf("%+v %v", result, err)
	}
	c := engine.active["chain"].counts
	if c.served.Load() < 25 || c.written.Load() == 0 || c.between(becauseFailed, unservedEnd) > 0 || c.failed.Load() > 0 {
		t.Errorf("served %d, as written %d, fallen back %d, writes %d, failed %d", c.served.Load(), c.between(0, becauseFailed), c.between(becauseFailed, unservedEnd), c.written.Load(), c.failed.Load())
	}
	must(t, engine.Rollback(context.Background(), "chain", "bob"))
	l.await(migrate.RolledBack)
	if got, want := fmt.Sprint(ask(app, "guest1")), fmt.Sprint(ask(l.session, "guest1")); got != want {
		t.Errorf("after the roll-back: %s, want %s", got, want)
	}
}

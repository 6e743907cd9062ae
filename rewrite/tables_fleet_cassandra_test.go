package rewrite

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// TestCassandraRandomTablesOfAFleet: random writes of every kind go through two members of a fleet at once, over random tables, while members die and others
// come. Whoever is asked answers as Cassandra does, and no row is without its entry. Seeds as of TestCassandraRandomTables.
func TestCassandraRandomTablesOfAFleet(t *testing.T) {
	first, n := randomSeeds(t, 0)
	if n == 0 {
		t.Skip("three deaths and as many leases take a minute: HELENUS_RANDOM_TABLES=1+1, or `make test-long`")
	}
	w := newTwin(t) // for its keyspace; its own engine knows of no change
	for seed := first; seed < first+int64(n); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w.t, w.live.t = t, t
			f := &randomFleet{random: &random{twin: w, Table: twintest.NewTable(fmt.Sprint("fleet_", seed), seed)}, store: &exectest.Store{}, dice: rand.New(rand.NewSource(seed))}
			defer func() {
				if t.Failed() {
					t.Logf("%s; %s\n%s", f.Definition(), f.Index(), strings.Join(f.said, "\n"))
				}
			}()
			f.run(seed)
		})
	}
}

// randomFleet is members before one keyspace, with one state.
type randomFleet struct {
	*random
	store *exectest.Store
	dice  *rand.Rand
	all   []*memberLive
}

// memberLive is one process of it.
type memberLive struct {
	engine *Engine
	member *fleet.Member
	server *proxy.Server
	conn   *twintest.Conn
	dead   bool
	die    func()
}

// Barrier implements migrate.Traffic.
func (m *memberLive) Barrier(ctx context.Context) error { return m.server.Barrier(ctx) }

// join starts one more.
func (f *randomFleet) join() {
	t := f.t
	t.Helper()
	f.twin.read() // as a process does when it starts
	m := &memberLive{}
	book := change.Open(f.store)
	m.member = fleet.New(fleet.Options{Store: f.store, ID: fmt.Sprint("m", len(f.all)+1), Form: 1, Truth: fleet.Truth{
		Follow: []func(context.Context) error{book.Sync, func(ctx context.Context) error { return m.engine.Follow(ctx) }},
		Rules:  func() uint64 { return m.engine.Rules() }, Barrier: func(ctx context.Context) error { return m.engine.Barrier(ctx) }, Withholding: func() bool { return m.engine.Withholding() },
		Blocked: func() string { return m.engine.Unfollowed() }, Reverify: func(ctx context.Context, why string) error { return m.engine.ReverifyAll(ctx, why) },
		Connected: func(context.Context) (map[string]bool, error) {
			on := map[string]bool{}
			for _, x := range f.all {
				on[x.member.ID()] = !x.dead
			}
			return on, nil
		},
	}})
	settings := fast()
	settings.Settle, settings.Ranges, settings.ShadowSelf = 10*time.Millisecond, 2, 8
	pool := exec.NewPool(func() (*gocql.Session, error) { return f.session, nil })
	var err error
	m.engine, err = New(Options{Session: pool, Store: f.store, Changes: book, Traffic: m, Schema: f.schema.Load, Migrate: settings, Kinds: few(), Every: 1 << 60, Members: m.member})
	must(t, err)
	m.server, err = proxy.New(proxy.Options{ContactPoints: []string{os.Getenv("HELENUS_TEST_CASSANDRA")}, Listen: "127.0.0.1:0", Rewriter: m.engine})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	must(t, m.engine.Restore(ctx))
	alone, err := m.member.Join(ctx)
	must(t, err)
	if alone {
		must(t, m.engine.ReverifyAll(ctx, "alone"))
	}
	must(t, m.server.Start(ctx))
	var running sync.WaitGroup
	running.Go(func() { m.member.Run(ctx) })
	running.Go(func() { m.member.Reap(ctx) })
	running.Go(func() { m.engine.Run(ctx) })
	m.die = sync.OnceFunc(func() {
		at, now := context.WithCancel(context.Background())
		now() // connections end where they are
		_ = m.server.Shutdown(at)
		cancel()
		m.engine.end()
		running.Wait()
		m.engine.wait.Wait()
		m.dead = true
	})
	t.Cleanup(m.die)
	for !m.server.Ready() {
		time.Sleep(10 * time.Millisecond)
	}
	m.conn = f.dial(m.server.Addrs()[0], f.keyspace)
	f.all = append(f.all, m)
}

// alive are those that have not died.
func (f *randomFleet) alive() []*memberLive {
	return slices.DeleteFunc(slices.Clone(f.all), func(m *memberLive) bool { return m.dead })
}

func (f *randomFleet) any() *memberLive { a := f.alive(); return a[f.dice.Intn(len(a))] }

func (f *randomFleet) run(seed int64) {
	f.do(strings.ReplaceAll(f.Definition(), "@", f.keyspace))
	if index := f.Index(); index != "" {
		f.do(strings.ReplaceAll(index, "@", f.keyspace))
	}
	f.twin.read()
	f.join()
	f.join()
	f.writeAtOnce(seed * 100)
	f.reads = f.Reads()
	f.approveBy(f.any().engine)
	for round := range int64(6) {
		leaves := round%2 == 1
		done := make(chan struct{})
		go func() { defer close(done); f.writeAtOnce(seed*100 + 1 + round) }()
		if leaves { // amid writes
			time.Sleep(time.Duration(f.dice.Intn(200)) * time.Millisecond)
			f.any().die()
		}
		<-done
		if leaves {
			f.join()
		}
		f.compareAnswers()
	}
	m := f.any()
	result, err := m.engine.manager.CheckOnce(f.t.Context(), f.Name)
	if err != nil || result.Missing > 0 {
		f.t.Errorf("%+v %v", result, err)
	}
	for _, m := range f.all {
		if a := m.engine.active[f.Name]; a != nil {
			f.served += a.counts.served.Load()
		}
	}
	if f.served < 100 {
		f.t.Errorf("only %d reads were served", f.served)
	}
	must(f.t, f.any().engine.Rollback(f.t.Context(), f.Name, "ann"))
	for f.stateOf(m) != migrate.RolledBack {
		time.Sleep(10 * time.Millisecond)
	}
	must(f.t, m.engine.Drop(f.t.Context(), f.Name, "ann"))
	for _, m := range f.alive() {
		m.die()
	}
}

func (f *randomFleet) stateOf(m *memberLive) migrate.State {
	for _, c := range m.engine.Migrations() {
		if c.ID == f.Name {
			return c.State
		}
	}
	return ""
}

// serve waits until the change serves at all members, while the application reads through each.
func (f *randomFleet) serve() {
	f.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		serving := true
		for _, m := range f.alive() {
			serving = serving && f.stateOf(m) == migrate.Serving && m.member.Serving()
			for _, text := range f.reads {
				_, err := m.conn.Do(f.Read(text))
				must(f.t, err)
			}
		}
		if serving {
			return
		}
		for _, c := range f.alive()[0].engine.Migrations() {
			if c.State == migrate.Failed || c.State == migrate.Suspended || time.Now().After(deadline) {
				f.t.Fatalf("%s: %s %+v %+v", c.State, c.Reason, c.Progress, c.Events)
			}
		}
	}
}

// compareAnswers holds answers of each member against those of Cassandra.
func (f *randomFleet) compareAnswers() {
	f.t.Helper()
	f.serve()
	for _, m := range f.alive() {
		for _, text := range f.reads {
			for range 12 {
				f.compareAnswer(m.conn, f.Read(text))
			}
		}
	}
}

// writeAtOnce has writers write through all members. One whose member dies goes on through another; what was under way may have been carried out or not.
func (f *randomFleet) writeAtOnce(seed int64) {
	var writers sync.WaitGroup
	members := f.alive()
	for i := range int64(6) {
		own, at := f.As(seed*10+i), int(i)
		writers.Go(func() {
			c := f.reconnect(members, &at)
			if c == nil {
				return
			}
			defer func() {
				if c != nil {
					c.Close()
				}
			}()
			for range 25 {
				st := own.Write()
				got, err := c.Do(st)
				if err != nil { // it died
					c.Close()
					if c = f.reconnect(members, &at); c == nil {
						return
					}
				}
				f.mu.Lock()
				f.said = append(f.said, fmt.Sprintf("writer %d by %s: %x %v %s", i, members[at].member.ID(), uint32(got.Code), err, st))
				f.mu.Unlock()
			}
		})
	}
	writers.Wait()
}

// reconnect connects to another member than the one at; one that is about to die may take connections still.
func (f *randomFleet) reconnect(members []*memberLive, at *int) *twintest.Conn {
	for range 100 {
		*at = (*at + 1) % len(members)
		if c, err := twintest.Dial(members[*at].server.Addrs()[0], f.keyspace, 20*time.Second); err == nil {
			return c
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.t.Error("no member takes connections")
	return nil
}

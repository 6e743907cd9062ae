package rewrite

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/gain"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestCassandraSlowerThanTheIndex is cases 04 and 14 played out: reads by an index that finds 60 rows a value, for which a look-up is
// forced on, become slower, and are turned back by themselves, while all answers stay what Cassandra's are.
func TestCassandraSlowerThanTheIndex(t *testing.T) {
	const guests, each = 40, 60
	l := newLive(t)
	l.do(l.in("CREATE INDEX ON %s.stays (guest)"))
	var wait sync.WaitGroup
	for w := range 8 {
		wait.Go(func() {
			for i := w; i < guests*each; i += 8 {
				err := l.session.Query(l.in("INSERT INTO %s.stays (room, day, n, guest, status) VALUES (?, 1, 1, ?, 'booked')"),
					fmt.Sprint("room", i), fmt.Sprint("guest", i%guests)).Exec()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	original := func(n int) exec.Answer {
		a, err := l.pool.Query(context.Background(), exec.Query{Text: l.statement(), Values: [][]byte{str(fmt.Sprint("guest", n%guests))}, Consistency: gocql.One})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var before histogram.Histogram
	for n := range 300 {
		began := time.Now()
		if a := original(n); len(a.Rows) != each {
			t.Fatalf("%d rows of guest%d, want %d", len(a.Rows), n, each)
		}
		if n >= 100 { // warm
			before.Add(uint64(time.Since(began).Microseconds()))
		}
	}
	l.read()
	engine, err := New(Options{Session: l.pool, Store: l.store, Traffic: l, Schema: l.schema.Load, Migrate: fast(),
		Gain: gain.Settings{Every: 200 * time.Millisecond}, Before: func(plan.Rewrite) (b gain.Before) {
			before.AddTo(&b.Reads)
			return b
		}})
	must(t, err)
	must(t, engine.Restore(context.Background()))
	l.engine = engine
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); engine.Run(ctx) }()
	defer func() { cancel(); <-done; engine.end(); engine.wait.Wait() }()
	lu := l.advice()
	lu.Promise = plan.Promise{Reads: 3} // as was promised in case 04
	if _, err := engine.Approve(context.Background(), "slower", lu, "ann"); err != nil {
		t.Fatal(err)
	}
	l.await(migrate.Serving)
	served, began := 0, time.Now()
	for n := 0; l.state().State == migrate.Serving && time.Since(began) < 2*time.Minute; n++ {
		got := l.ask(l.statement(), str(fmt.Sprint("guest", n%guests)))
		if n%50 == 0 && !exec.Equal(got.rows, original(n).Rows) {
			t.Fatalf("read %d: %d rows, not those of the original", n, len(got.rows))
		}
		if !got.forwarded {
			served++
		}
	}
	m := l.state()
	t.Logf("turned back after %d served reads in %v: %s\n%s", served, time.Since(began).Round(time.Millisecond), m.Reason, m.Gain.Text)
	if m.State != migrate.Suspended || !strings.HasPrefix(m.Reason, "slower than before: p") || m.Gain.Measured >= 1 || m.Gain.Verdict != m.Reason {
		t.Errorf("%s: %s", m.State, m.Reason)
	}
	if got := l.ask(l.statement(), str("guest1")); !got.forwarded || len(got.rows) != each {
		t.Errorf("a read is still answered by the look-up: %d rows", len(got.rows))
	}
}

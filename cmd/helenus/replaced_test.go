package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/handover"
)

// again is a retry policy for requests that may be carried out twice: a while later, at the same host, for as long as the
// old process may wait for requests under way (drain-timeout).
type again struct{ used atomic.Int64 }

// Attempt implements gocql.RetryPolicy.
func (a *again) Attempt(q gocql.RetryableQuery) bool {
	if q.Attempts() > 500 {
		return false
	}
	a.used.Add(1)
	select {
	case <-time.After(20 * time.Millisecond):
	case <-q.Context().Done():
	}
	return true
}

// GetRetryType implements gocql.RetryPolicy.
func (a *again) GetRetryType(error) gocql.RetryType { return gocql.Retry }

// TestReplacedUnderADriver replaces Helenus twice, by --take-over and by SIGTERM to the old process at about the same time,
// while a real driver reads and writes a real Cassandra through it: nothing is lost. gocql retries, but gives up when its one
// host has no connection for a moment, as it is while every connection waits for the next process; so the application says
// again what may be carried out twice, within the old process's drain-timeout.
func TestReplacedUnderADriver(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	straight, keyspace := cassandratest.Keyspace(t)
	must(t, straight, "CREATE TABLE "+keyspace+".t (k int PRIMARY KEY, v int)")
	p := newProcess(t, point)
	p.start()
	p.awaitReady()

	policy := &again{}
	cluster := cassandratest.Config(t, p.listen)
	cluster.RetryPolicy, cluster.NumConns, cluster.ReconnectInterval, cluster.Logger = policy, 4, 100*time.Millisecond, quiet{}
	cluster.DefaultIdempotence = true
	through, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()

	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	var answered, said, failed atomic.Int64
	for w := range 8 {
		work.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				k, v := w*1000+i%50, 0
				var err error
				for until := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
					if err = through.Query("INSERT INTO "+keyspace+".t (k, v) VALUES (?, ?)", k, i).Exec(); err == nil {
						err = through.Query("SELECT v FROM "+keyspace+".t WHERE k = ?", k).Scan(&v)
					}
					if err == nil || time.Now().After(until) {
						break
					}
					said.Add(1)
				}
				if err == nil && v != i {
					t.Errorf("key %d is %d, want %d", k, v, i)
				}
				if err != nil {
					failed.Add(1)
					t.Errorf("a request failed: %v", err)
					return
				}
				answered.Add(2)
			}
		})
	}
	more := func() {
		for n := answered.Load() + 400; answered.Load() < n && failed.Load() == 0; {
			time.Sleep(10 * time.Millisecond)
		}
	}
	for i := range 2 {
		more()
		await(t, "it can be taken over from", func() bool {
			_, err := os.Stat(filepath.Join(p.state, handover.File))
			return err == nil
		})
		old, ended := p.cmd, p.ended
		p.start("--take-over")
		if i == 1 { // an init system that ends the old one while the new one takes over
			await(t, "the old one agrees", func() bool { return strings.Count(p.output.String(), `msg="handing over"`) == 2 })
			_ = old.Process.Signal(syscall.SIGTERM)
		}
		<-ended
		if code := old.ProcessState.ExitCode(); code != 0 {
			t.Errorf("process %d ended with code %d", i, code)
		}
		p.awaitReady()
	}
	more()
	cancel()
	work.Wait()
	t.Logf("%d requests were answered, %d failed; the driver retried %d, the application %d",
		answered.Load(), failed.Load(), policy.used.Load(), said.Load())
}

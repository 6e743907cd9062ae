package planrun_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// road leads to a Cassandra and can be cut, as if the node were killed: connections end, and no new ones are taken.
type road struct {
	t        testing.TB
	to, at   string
	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
	wait     sync.WaitGroup
}

func newRoad(t testing.TB, to string) *road {
	r := &road{t: t, to: to, at: "127.0.0.1:0"}
	r.mend()
	t.Cleanup(func() { r.cut(); r.wait.Wait() })
	return r
}

func (r *road) mend() {
	l, err := net.Listen("tcp", r.at)
	if err != nil {
		r.t.Fatal(err)
	}
	r.at = l.Addr().String()
	r.mu.Lock()
	r.listener = l
	r.mu.Unlock()
	r.wait.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", r.to)
			if err != nil {
				_ = near.Close()
				continue
			}
			r.mu.Lock()
			r.open = append(r.open, near, far)
			gone := r.listener != l
			r.mu.Unlock()
			for _, ways := range [][2]net.Conn{{near, far}, {far, near}} {
				r.wait.Go(func() { _, _ = io.Copy(ways[0], ways[1]); _ = ways[0].Close() })
			}
			if gone {
				_ = near.Close()
				_ = far.Close()
			}
		}
	})
}

func (r *road) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.listener.Close()
	for _, c := range r.open {
		_ = c.Close()
	}
	r.listener, r.open = nil, nil
}

// TestCassandraKilled cuts the way to Cassandra in the middle of programs: each ends with an error that names its step, in
// time, and once Cassandra is back programs answer again: by gocql's own looking for hosts that were down, or, where that is off
// or has lost the host, because the pool makes another session.
func TestCassandraKilled(t *testing.T) {
	db := open(t)
	s := newShop(t)
	for _, table := range []string{"items", "bids"} {
		db.create(t, s.db.tables[table])
	}
	for name, interval := range map[string]time.Duration{"gocql connects again": 200 * time.Millisecond, "the pool connects again": 0} {
		t.Run(name, func(t *testing.T) { killed(t, s, interval) })
	}
}

func killed(t *testing.T, s *shop, interval time.Duration) {
	road := newRoad(t, cassandratest.ContactPoints(t)[0])
	config := cassandratest.Config(t, road.at)
	config.Timeout, config.ConnectTimeout = 2*time.Second, 2*time.Second
	config.Logger = log.New(io.Discard, "", 0) // which connections are refused is no news
	config.ReconnectInterval = interval
	config.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 2, Interval: 100 * time.Millisecond}
	pool := exec.NewPool(config.CreateSession)
	defer pool.Close()
	program, err := planrun.Compile(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	run := func() (*planrun.Rows, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		return program.Run(ctx, pool, s.with, planrun.RunOptions{Parallel: 4})
	}
	answers := func() bool {
		rows, err := run()
		return err == nil && len(rows.Cells) == categoryItems*itemBids
	}
	for range 100 { // the machine may be busy
		if answers() {
			break
		}
	}
	var (
		work   sync.WaitGroup
		failed = make(chan error, 3)
	)
	for range 3 {
		work.Go(func() {
			for {
				if rows, err := run(); err != nil {
					failed <- err
					return
				} else if len(rows.Cells) != categoryItems*itemBids {
					failed <- errors.New("part of an answer")
					return
				}
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	road.cut()
	work.Wait()
	for range 3 {
		var step *planrun.StepError
		if err := <-failed; !errors.As(err, &step) || step.Table == "" || !errors.Is(err, planrun.ErrUnavailable) && !errors.Is(err, planrun.ErrTimeout) {
			t.Error(err)
		}
	}
	road.mend()
	for start := time.Now(); !answers(); {
		if time.Since(start) > time.Minute {
			t.Fatal("no answer after Cassandra is back")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

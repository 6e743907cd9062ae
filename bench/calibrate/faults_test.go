package calibrate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/bench/calibrate"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

func there(t *testing.T, s *gocql.Session, keyspace string) bool {
	t.Helper()
	var name string
	err := s.Query("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?", keyspace).Scan(&name)
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func open(t *testing.T) *gocql.Session {
	t.Helper()
	c := cassandratest.Config(t, cassandratest.ContactPoints(t)[0])
	c.NumConns = 1
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestInTheWay: what another run has left behind is dropped; what is not ours, or in use, is not.
func TestInTheWay(t *testing.T) {
	ctx, session := t.Context(), open(t)
	var centre string
	if err := session.Query("SELECT data_center FROM system.local").Scan(&centre); err != nil {
		t.Fatal(err)
	}
	keyspace := fmt.Sprintf("calibrate_way_%d", os.Getpid())
	first, second := calibrate.NewScratch(session, keyspace, centre), calibrate.NewScratch(session, keyspace, centre)
	t.Cleanup(func() {
		if err := second.Drop(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(first.Clear(ctx), first.Create(ctx)); err != nil {
		t.Fatal(err)
	}
	var way *calibrate.InTheWayError
	if err := second.Clear(ctx); !errors.As(err, &way) || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Fatalf("another run is at work: %v", err)
	}
	if err := second.Create(ctx); err == nil || second.Made() {
		t.Fatalf("made where it is already: %v, to be dropped: %t", err, second.Made())
	}
	first.Die() // as by kill -9: the marker's row dies, too, some seconds later
	if err := second.Clear(ctx); err != nil || there(t, session, keyspace) {
		t.Fatalf("a dead run: %v, the keyspace is there: %t", err, there(t, session, keyspace))
	}
	if err := second.Create(ctx); err != nil {
		t.Fatal(err)
	}
	if err := session.Query("CREATE TABLE " + keyspace + ".orders (id int PRIMARY KEY)").Exec(); err != nil {
		t.Fatal(err)
	}
	if err := first.Clear(ctx); !errors.As(err, &way) || !slices.Equal(way.Tables, []string{"orders"}) || !there(t, session, keyspace) {
		t.Fatalf("a table of somebody else's: %v", err)
	}
}

// TestRefused: settings that do not fit, and a cluster that has other work, are refused before anything is made.
func TestRefused(t *testing.T) {
	session := open(t)
	keyspace := fmt.Sprintf("calibrate_refused_%d", os.Getpid())
	for name, c := range map[string]struct {
		o    calibrate.Options
		says string
	}{
		"more replicas than nodes": {calibrate.Options{Replication: 7}, "replication 7: the data centre"},
		"more than there are":      {calibrate.Options{Replication: 1, Consistency: "two"}, "consistency TWO: there would be 1 replica(s)"},
		"an unknown level":         {calibrate.Options{Consistency: "QUROUM"}, `consistency "QUROUM"`},
	} {
		c.o.Connect, c.o.Keyspace = connect(t), keyspace
		var setting *calibrate.SettingError
		if _, err := calibrate.Measure(t.Context(), c.o); !errors.As(err, &setting) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = session.Query("SELECT key FROM system.local").Exec()
				}
			}
		})
	}
	var busy *calibrate.BusyError
	_, err := calibrate.Measure(t.Context(), calibrate.Options{Connect: connect(t), Keyspace: keyspace})
	close(stop)
	clients.Wait()
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "requests a second of other clients") {
		t.Errorf("under load: %v", err)
	}
	if there(t, session, keyspace) {
		t.Error("the keyspace was made")
	}
}

// TestStopped: whenever it is stopped, nothing stays behind, no goroutine either.
func TestStopped(t *testing.T) {
	session := open(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, phase := range []string{"load", "measure"} {
		ctx, cancel := context.WithCancel(t.Context())
		keyspace := fmt.Sprintf("calibrate_stopped_%d", os.Getpid())
		made := false
		_, err := calibrate.Measure(ctx, calibrate.Options{
			Connect: connect(t), Keyspace: keyspace, Quick: true, Force: true, Budget: time.Second,
			Progress: func(p calibrate.Progress) {
				if p.Phase == phase {
					made = there(t, session, keyspace)
					cancel()
				}
			},
		})
		if !errors.Is(err, context.Canceled) || !made || there(t, session, keyspace) {
			t.Errorf("stopped in phase %s: %v; the keyspace was made: %t, is there: %t", phase, err, made, there(t, session, keyspace))
		}
		cancel()
	}
}

// wire leads to Cassandra, and can be cut.
type wire struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	cut      bool
	all      []net.Conn
	work     sync.WaitGroup
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, to: to}
	w.work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			w.mu.Lock()
			if w.cut || err != nil {
				near.Close()
				if err == nil {
					far.Close()
				}
			} else {
				w.all = append(w.all, near, far)
				w.work.Go(func() { _, _ = io.Copy(far, near); far.Close() })
				w.work.Go(func() { _, _ = io.Copy(near, far); near.Close() })
			}
			w.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		l.Close()
		w.set(true)
		w.work.Wait()
	})
	return w
}

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut = cut; cut {
		for _, c := range w.all {
			c.Close()
		}
		w.all = nil
	}
}

// quiet keeps gocql from telling of what is meant.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// TestAway: a Cassandra that goes away in the middle is waited for, and the calibration begins again.
func TestAway(t *testing.T) {
	session := open(t)
	w := newWire(t, cassandratest.ContactPoints(t)[0])
	keyspace := fmt.Sprintf("calibrate_away_%d", os.Getpid())
	var once sync.Once
	var remarks []string
	set, err := calibrate.Measure(t.Context(), calibrate.Options{
		Connect: func(string) (*gocql.Session, error) {
			c := cassandratest.Config(t, w.listener.Addr().String())
			c.ReconnectInterval, c.Logger = 200*time.Millisecond, quiet{}
			return c.CreateSession()
		},
		Keyspace: keyspace, Quick: true, Force: true, Budget: time.Second,
		Progress: func(p calibrate.Progress) {
			if p.Text != "" {
				remarks = append(remarks, p.Text)
			}
			if p.Phase == "measure" {
				once.Do(func() {
					w.set(true)
					time.AfterFunc(2*time.Second, func() { w.set(false) })
				})
			}
		},
	})
	if err != nil {
		t.Fatalf("%v; %q", err, remarks)
	}
	if len(set.Measurements) == 0 || !slices.ContainsFunc(set.Notes, func(n string) bool { return strings.Contains(n, "begun again after") }) {
		t.Errorf("%d measurements, notes %q", len(set.Measurements), set.Notes)
	}
	if there(t, session, keyspace) {
		t.Error("the keyspace stayed behind")
	}
}

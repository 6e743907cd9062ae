package calibrate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/calibrate"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// there tells whether there are keyspaces of a prefix.
func there(t *testing.T, s *gocql.Session, prefix string) bool {
	t.Helper()
	found := false
	for names := s.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter().Scanner(); names.Next(); {
		var name string
		if err := names.Scan(&name); err != nil {
			t.Fatal(err)
		}
		found = found || strings.HasPrefix(name, prefix+"_")
	}
	return found
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

// TestAnotherAtWork: one calibration would measure the other, so the second is refused.
func TestAnotherAtWork(t *testing.T) {
	prefix := fmt.Sprintf("calibrate_%d", os.Getpid())
	first, err := scratch.Begin(t.Context(), scratch.Options{Prefix: prefix, Connect: func() (*gocql.Session, error) { return connect(t)("") }})
	if err != nil {
		t.Fatal(err)
	}
	var other *scratch.AtWorkError
	if _, err := calibrate.Measure(t.Context(), calibrate.Options{Connect: connect(t), Prefix: prefix, Force: true, Quick: true}); !errors.As(err, &other) || other.Process != os.Getpid() {
		t.Errorf("beside another: %v", err)
	}
	if err := first.End(); err != nil {
		t.Error(err)
	}
	if there(t, open(t), prefix) {
		t.Error("keyspaces are left behind")
	}
}

// TestRefused: settings that do not fit, and a cluster that has other work, are refused before anything is made.
func TestRefused(t *testing.T) {
	session := open(t)
	prefix := fmt.Sprintf("calibrate_%d", os.Getpid())
	for name, c := range map[string]struct {
		o    calibrate.Options
		says string
	}{
		"more replicas than nodes": {calibrate.Options{Replication: 7}, "replication 7: the data centre"},
		"more than there are":      {calibrate.Options{Replication: 1, Consistency: "two"}, "consistency TWO: there would be 1 replica(s)"},
		"an unknown level":         {calibrate.Options{Consistency: "QUROUM"}, `consistency "QUROUM"`},
	} {
		c.o.Connect, c.o.Prefix = connect(t), prefix
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
	_, err := calibrate.Measure(t.Context(), calibrate.Options{Connect: connect(t), Prefix: prefix})
	close(stop)
	clients.Wait()
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "requests a second of other clients") {
		t.Errorf("under load: %v", err)
	}
	if there(t, session, prefix) {
		t.Error("the keyspace was made")
	}
}

// TestStopped: whenever it is stopped, nothing stays behind, no goroutine either.
func TestStopped(t *testing.T) {
	session := open(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), cassandratest.Outliving())
	for _, phase := range []string{"load", "measure"} {
		ctx, cancel := context.WithCancel(t.Context())
		prefix := fmt.Sprintf("calibrate_%d", os.Getpid())
		made := false
		_, err := calibrate.Measure(ctx, calibrate.Options{
			Connect: connect(t), Prefix: prefix, Quick: true, Force: true, Budget: time.Second,
			Progress: func(p calibrate.Progress) {
				if p.Phase == phase {
					made = there(t, session, prefix)
					cancel()
				}
			},
		})
		if !errors.Is(err, context.Canceled) || !made || there(t, session, prefix) {
			t.Errorf("stopped in phase %s: %v; the keyspace was made: %t, is there: %t", phase, err, made, there(t, session, prefix))
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
	prefix := fmt.Sprintf("calibrate_%d", os.Getpid())
	var once sync.Once
	var remarks []string
	set, err := calibrate.Measure(t.Context(), calibrate.Options{
		Connect: func(string) (*gocql.Session, error) {
			c := cassandratest.Config(t, w.listener.Addr().String())
			c.ReconnectInterval, c.Logger = 200*time.Millisecond, quiet{}
			return c.CreateSession()
		},
		Prefix: prefix, Quick: true, Force: true, Budget: time.Second,
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
	if there(t, session, prefix) {
		t.Error("the keyspace stayed behind")
	}
}

package proxy_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func TestTheRelayAnswers(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		t.Run(string('0'+version), func(t *testing.T) {
			s := startProxy(t, startMock(t, nil), proxy.Options{})
			c := connect(t, s, version)
			h, body, err := c.Call(wire.OpPrepare, proxytest.PrepareBody(version, "SELECT a FROM t"))
			if err != nil || h.Opcode != wire.OpResult {
				t.Fatalf("PREPARE: %+v %q %v", h, body, err)
			}
			h, body, err = c.Call(wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID("SELECT a FROM t")))
			if err != nil || h.Opcode != wire.OpResult || !bytes.Equal(body, wire.AppendInt(nil, wire.ResultVoid)) {
				t.Fatalf("EXECUTE: %+v %q %v", h, body, err)
			}
		})
	}
}

func startMock(t testing.TB, h proxytest.Handler) *proxytest.Server {
	t.Helper()
	m, err := proxytest.Start(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func startProxy(t testing.TB, m *proxytest.Server, o proxy.Options) *proxy.Server {
	t.Helper()
	if o.ContactPoints == nil {
		o.ContactPoints = []string{m.Addr}
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	o.Log = slog.New(slog.NewTextHandler(logTo(t), &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_ = s.Shutdown(ctx)
	})
	return s
}

// inTime connects to a server that gives handshakes little time, until one was in time, and tells how many were not: a busy machine takes as long for one as
// a client that stalls, and is counted as one.
func inTime(t testing.TB, dial func() (*proxytest.Client, error)) (c *proxytest.Client, late uint64) {
	t.Helper()
	await(t, func() bool {
		one, err := dial()
		if err != nil {
			late++
			if one != nil {
				one.Close()
			}
			return false
		}
		t.Cleanup(one.Close)
		c = one
		return true
	})
	return c, late
}

// testLog is a log among a test's output until the test is over: nobody may write there afterwards.
type testLog struct {
	mu sync.Mutex
	t  testing.TB // nil once it is over
}

func logTo(t testing.TB) *testLog {
	l := &testLog{t: t}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.t = nil
	})
	return l
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t != nil {
		l.t.Log(string(bytes.TrimSpace(b)))
	}
	return len(b), nil
}

func connect(t testing.TB, s *proxy.Server, version byte, options ...string) *proxytest.Client {
	t.Helper()
	c, err := proxytest.Connect(s.Addrs()[0], version, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

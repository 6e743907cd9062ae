package control_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/proxy/control"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines is a log that a test can read.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), s)
}

// start runs a connection until the test ends.
func start(t *testing.T, o control.Options) (*control.Connection, *lines) {
	t.Helper()
	l := &lines{}
	o.Log, o.DialTimeout = slog.New(slog.NewTextHandler(l, nil)), time.Second
	k := control.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { k.Run(ctx); close(ended) }()
	t.Cleanup(func() {
		cancel()
		if <-ended; k.Up() {
			t.Error("up after its end")
		}
	})
	return k, l
}

func await(t *testing.T, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}

func mock(t *testing.T, h proxytest.Handler) *proxytest.Server {
	t.Helper()
	m, err := proxytest.Start(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	authenticate := func(success bool) proxytest.Handler {
		return func(r *proxytest.Request) {
			switch {
			case r.Header.Opcode == wire.OpStartup:
				r.Reply(wire.OpAuthenticate, wire.AppendString(nil, "PasswordAuthenticator"))
			case success:
				r.Reply(wire.OpAuthChallenge, wire.AppendBytes(nil, []byte("more")))
			default:
				r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrCredentials, "Provided username x and/or password are incorrect"))
			}
		}
	}
	for name, c := range map[string]struct {
		handler        proxytest.Handler
		user, password string
		want           string
	}{
		"no credentials":    {authenticate(true), "", "", "give it a user and a password"},
		"wrong credentials": {authenticate(false), "x", "y", "password are incorrect"},
		"no password":       {authenticate(false), "x", "", "none was given (HELENUS_PASSWORD)"},
		"another mechanism": {authenticate(true), "x", "y", "wants more than a user and a password"},
		"not Cassandra":     {func(r *proxytest.Request) { r.Conn.SendRaw([]byte("HTTP/1.0 400 Bad Request\r\n\r\n")) }, "", "", "what answers is not Cassandra"},
		"TLS asked for":     {func(r *proxytest.Request) { r.Conn.SendRaw([]byte{0x15, 3, 3, 0, 2, 2, 0x50}); r.Conn.Close() }, "", "", "it speaks TLS there: set cassandra-tls"},
		"nothing said":      {func(r *proxytest.Request) { r.Conn.Close() }, "", "", "does Cassandra ask for TLS there? Then set cassandra-tls"},
		"a longer mechanism": {proxytest.Authenticate("com.example.Kerberos", func(int, []byte) ([]byte, bool, string) { return []byte("challenge"), false, "" }, nil),
			"x", "y", "Cassandra authenticates by com.example.Kerberos, which wants more"},
		"a cut frame": {func(r *proxytest.Request) { r.Conn.SendRaw([]byte{0x84, 0, 0, 0, 2, 0}); r.Conn.Close() }, "", "", "a frame was cut short"},
		"no peers table": {func(r *proxytest.Request) {
			if strings.Contains(r.Text(), "peers") {
				r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrInvalid, "unconfigured table"))
				return
			}
			proxytest.Default(r)
		}, "", "", "reading system.peers"},
		"rows that can not be read": {func(r *proxytest.Request) {
			if strings.Contains(r.Text(), "local") {
				r.Reply(wire.OpResult, wire.AppendInt(wire.AppendInt(nil, wire.ResultRows), 1))
				return
			}
			proxytest.Default(r)
		}, "", "", "can not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			m := mock(t, c.handler)
			k, l := start(t, control.Options{ContactPoints: []string{m.Addr}, Username: c.user, Password: c.password})
			await(t, func() bool { return l.has(c.want) })
			if k.Up() {
				t.Error("up")
			}
			if !strings.Contains(k.Why(), c.want) {
				t.Errorf("why it is down: %q", k.Why())
			}
			if c.password != "" && l.has("password="+c.password) {
				t.Error("the password is in the log")
			}
		})
	}
}

func TestTheNextContactPointIsTried(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	m := mock(t, nil)
	nodes := make(chan []control.Node, 1)
	k, _ := start(t, control.Options{ContactPoints: []string{l.Addr().String(), m.Addr}, OnNodes: func(n []control.Node) { nodes <- n }})
	await(t, k.Up)
	if n := <-nodes; len(n) != 1 || n[0].Address != m.Addr || n[0] != k.Nodes()[0] {
		t.Errorf("nodes %+v", n)
	}
}

package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]proxy.Options{
		"no contact point": {Listen: "127.0.0.1:0"},
		"is not host:port": {ContactPoints: []string{"cassandra"}, Listen: "127.0.0.1:0"},
		"listen address":   {ContactPoints: []string{"127.0.0.1:1"}, Listen: "here"},
		"neither":          {ContactPoints: []string{"127.0.0.1:1"}, Listen: "127.0.0.1:0", Topology: "ring"},
	} {
		if _, err := proxy.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := proxy.New(proxy.Options{ContactPoints: []string{"127.0.0.1:1"}, Listen: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) || !strings.Contains(err.Error(), "choose another") {
		t.Errorf("the error is %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBackendThatComesLate(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	s := startProxy(t, nil, proxy.Options{ContactPoints: []string{address}})
	if c, err := proxytest.Dial(s.Addrs()[0], 4); err == nil { // or the reset was there first
		if _, _, err := c.Read(); err == nil {
			t.Error("a client is kept while no node answers")
		}
		c.Close()
	}
	if s.Ready() {
		t.Error("ready without a backend")
	}
	m, err := proxytest.StartAt(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	await(t, s.Ready)
	call(t, connect(t, s, 4), wire.OpQuery, proxytest.QueryBody(4, "x"))
	if s.Stats().Unreachable == 0 {
		t.Error("the refused client is not counted")
	}
}

func TestControlConnectionAuthenticates(t *testing.T) {
	got := make(chan string, 10)
	m := startMock(t, func(r *proxytest.Request) {
		switch r.Header.Opcode {
		case wire.OpStartup:
			r.Reply(wire.OpAuthenticate, wire.AppendString(nil, "org.apache.cassandra.auth.PasswordAuthenticator"))
		case wire.OpAuthResponse:
			got <- string(r.Body)
			r.Reply(wire.OpAuthSuccess, wire.AppendInt(nil, -1))
		default:
			proxytest.Default(r)
		}
	})
	recorder := &tally{}
	s := startProxy(t, m, proxy.Options{Username: "helenus", Password: "secret", Recorder: recorder})
	await(t, s.Ready)
	if b := <-got; b != "\x00\x00\x00\x0f\x00helenus\x00secret" {
		t.Errorf("the token is %q", b)
	}
	c, err := proxytest.Dial(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	startup := wire.AppendShort(nil, 3)
	for _, o := range []string{"CQL_VERSION", "3.0.0", "APPLICATION_NAME", "shop", "CLIENT_ID", "i1"} {
		startup = wire.AppendString(startup, o)
	}
	call(t, c, wire.OpStartup, startup)
	// Long requests are for those who authenticated.
	call(t, c, wire.OpAuthResponse, wire.AppendBytes(nil, []byte("token")))
	call(t, c, wire.OpQuery, proxytest.QueryBody(4, "q", make([]byte, 100_000)))
	await(t, func() bool { return len(recorder.find("q")) == 1 })
	if x := *recorder.find("q")[0].Client; x.Application != "shop" || x.Instance != "i1" || !x.User || x.Version != 4 || x.Address == "" {
		t.Errorf("the client is %+v", x)
	}
}

func TestShutdownDrains(t *testing.T) {
	release := make(chan struct{})
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == "slow" {
			go func() { <-release; proxytest.Default(r) }()
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{})
	c := connect(t, s, 4)
	if err := c.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, "slow")); err != nil {
		t.Fatal(err)
	}
	call(t, c, wire.OpQuery, proxytest.QueryBody(4, "quick"))
	ended := make(chan error, 1)
	go func() { ended <- s.Shutdown(context.Background()) }()
	await(t, func() bool {
		_, body := call(t, c, wire.OpQuery, proxytest.QueryBody(4, "new"))
		r := wire.NewReader(body)
		return r.Int() == wire.ErrOverloaded
	})
	if late, err := net.Dial("tcp", s.Addrs()[0]); err == nil {
		late.Close()
		t.Error("a connection is accepted")
	}
	close(release)
	if h, _, err := c.Read(); err != nil || h.Stream != 1 || h.Opcode != wire.OpResult {
		t.Errorf("the request in flight was answered %+v %v", h, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTooManyConnections(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{MaxConnections: 1})
	connect(t, s, 4)
	if _, err := proxytest.Connect(s.Addrs()[0], 4); err == nil {
		t.Error("the second connection is served")
	}
	if n := s.Stats().Refused; n != 1 {
		t.Errorf("%d refused", n)
	}
}

func TestUpstreamThatEndsEndsTheClient(t *testing.T) {
	m := startMock(t, nil)
	s := startProxy(t, m, proxy.Options{})
	c := connect(t, s, 5)
	m.Cut()
	if h, _, err := c.Read(); err == nil {
		t.Errorf("read %+v", h)
	}
	call(t, connect(t, s, 5), wire.OpQuery, proxytest.QueryBody(5, "x"))
}

// TestConcurrentUse is what crashes cql-proxy: many clients that say USE and PREPARE at once.
func TestConcurrentUse(t *testing.T) {
	recorder := &tally{}
	w := &scripted{}
	w.epoch.Store(1)
	s := startProxy(t, startMock(t, nil), proxy.Options{Recorder: recorder, Rewriter: w})
	var work sync.WaitGroup
	for i := range 32 {
		work.Add(1)
		go func() {
			defer work.Done()
			version := byte(4 + i%2)
			c, err := proxytest.Connect(s.Addrs()[0], version)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for j := range 20 {
				text := fmt.Sprintf("SELECT %d", j)
				for _, q := range []struct {
					opcode byte
					body   []byte
				}{{wire.OpQuery, proxytest.QueryBody(version, fmt.Sprintf("USE k%d", i))}, {wire.OpPrepare, proxytest.PrepareBody(version, text)},
					{wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(text))}} {
					if h, body, err := c.Call(q.opcode, q.body); err != nil || h.Opcode != wire.OpResult {
						t.Errorf("%+v %q %v", h, body, err)
						return
					}
				}
			}
			recorder.mu.Lock()
			defer recorder.mu.Unlock()
		}()
	}
	work.Wait()
	c := connect(t, s, 4)
	call(t, c, wire.OpQuery, proxytest.QueryBody(4, "USE mine"))
	call(t, c, wire.OpQuery, proxytest.QueryBody(4, "SELECT in mine"))
	await(t, func() bool { return len(recorder.find("SELECT in mine")) == 1 })
	if k := recorder.records["SELECT in mine"].keyspace; k != "mine" {
		t.Errorf("keyspace %q", k)
	}
}

func TestSampling(t *testing.T) {
	rows := proxytest.RowsBody("k", "t", columns, [][][]byte{{[]byte("1"), []byte("x")}})
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == "q" || r.Header.Opcode == wire.OpExecute {
			// tracing id, warnings, payload: all that shifts the body
			body := append(make([]byte, 16), wire.AppendString(wire.AppendShort(nil, 1), "warning")...)
			body = append(body, wire.AppendBytes(wire.AppendString(wire.AppendShort(nil, 1), "k"), []byte("v"))...)
			r.ReplyFlags(wire.OpResult, wire.FlagTracing|wire.FlagWarnings|wire.FlagCustomPayload, append(body, rows...))
			return
		}
		proxytest.Default(r)
	})
	recorder := &tally{}
	recorder.sampling.Store(true)
	s := startProxy(t, m, proxy.Options{Recorder: recorder})
	for _, version := range []byte{4, 5} {
		c := connect(t, s, version)
		text := fmt.Sprintf("SELECT v%d", version)
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, text))
		call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(text), []byte("v1"), nil))
		await(t, func() bool { return len(recorder.find(text)) == 1 })
		x := recorder.find(text)[0]
		if len(x.Values) != 2 || string(x.Values[0].Bytes) != "v1" || !x.Values[1].Null || !bytes.Equal(x.Response, rows[4:]) || x.Rows != 1 || !x.Warned {
			t.Errorf("v%d: sampled %+v", version, x)
		}
	}
}

// TestIdleConnectionsAreSmall bounds what an idle connection costs the proxy, both sides' buffers and stacks included.
func TestIdleConnectionsAreSmall(t *testing.T) {
	if raced {
		t.Skip("pools forget what they are given under the race detector; make test runs it once more without")
	}
	m := startMock(t, nil)
	s := startProxy(t, m, proxy.Options{})
	const n = 200
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	cost := func(address string) int {
		before := memory()
		for range n {
			c, err := proxytest.Connect(address, 4)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			call(t, c, wire.OpQuery, proxytest.QueryBody(4, "x"))
		}
		return (int(memory()) - int(before)) / n
	}
	// The least of three: what else the process does meanwhile (the race detector, the log) is in the figure.
	each := math.MaxInt
	for range 3 {
		ends := cost(m.Addr) // of the test's client and the mock's server
		each = min(each, cost(s.Addrs()[0])-ends)
	}
	t.Logf("an idle connection costs the proxy %d bytes", each)
	if each > 50<<10 {
		t.Errorf("an idle connection costs %d bytes, more than 50 kB", each)
	}
}

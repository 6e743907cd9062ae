package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func isOverloaded(h wire.Header, body []byte) bool {
	r := wire.NewReader(body)
	return h.Opcode == wire.OpError && r.Int() == wire.ErrOverloaded
}

func register(t *testing.T, c *proxytest.Client, events ...string) {
	t.Helper()
	body := wire.AppendShort(nil, uint16(len(events)))
	for _, e := range events {
		body = wire.AppendString(body, e)
	}
	if h, answer := call(t, c, wire.OpRegister, body); h.Opcode != wire.OpReady {
		t.Fatalf("REGISTER was answered %+v %q", h, answer)
	}
}

// TestRefusedClientsAreToldWhy: in their own version, on their own stream, with the limit and its setting; and no node is
// dialled for them.
func TestRefusedClientsAreToldWhy(t *testing.T) {
	for setting, o := range map[string]proxy.Options{
		"max-connections":            {MaxConnections: 1},
		"max-connections-per-client": {MaxConnectionsPerClient: 1},
	} {
		m := startMock(t, nil)
		s := startProxy(t, m, o)
		await(t, s.Ready)
		connect(t, s, 4)
		inUse := len(m.Conns())
		for _, version := range []byte{3, 4, 5, 66} {
			c, err := proxytest.Dial(s.Addrs()[0], version)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Send(7, wire.OpOptions, 0, nil); err != nil {
				t.Fatal(err)
			}
			h, body, err := c.Read()
			if err != nil || !isOverloaded(h, body) || h.Stream != 7 || h.Version != min(version, 5)|wire.ResponseBit ||
				!strings.Contains(string(body), setting+" allows") {
				t.Errorf("%s, version %d: answered %+v %q %v", setting, version, h, body, err)
			}
			if _, _, err := c.Read(); err == nil {
				t.Error("the connection stays")
			}
			c.Close()
		}
		if n := len(m.Conns()); n != inUse {
			t.Errorf("%d connections to Cassandra, %d before the refusals", n, inUse)
		}
		if n := s.Stats().Refused; n != 4 {
			t.Errorf("%d refused", n)
		}
	}
}

// TestFloodIsBounded: who connects and says nothing takes what the limits allow and no more, even of the refusals, and
// does not keep it.
func TestFloodIsBounded(t *testing.T) {
	m := startMock(t, nil)
	s := startProxy(t, m, proxy.Options{MaxConnections: 10, HandshakeTimeout: 300 * time.Millisecond})
	await(t, s.Ready)
	for range 200 {
		c, err := net.Dial("tcp", s.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	await(t, func() bool { return s.Stats().Accepted == 200 })
	if n := s.Stats().Connections; n > 10 {
		t.Errorf("%d connections", n)
	}
	await(t, func() bool { x := s.Stats(); return x.Connections == 0 && x.Unfinished == x.Accepted-x.Refused })
	c, _ := inTime(t, func() (*proxytest.Client, error) { return proxytest.Connect(s.Addrs()[0], 4) })
	call(t, c, wire.OpQuery, proxytest.QueryBody(4, "x"))
}

// TestTooManyRequests: a burst is served, what is beyond it is answered Overloaded without asking Cassandra, whatever its
// length; the limit is the address's, not the connection's; and requests that do not count are served.
func TestTooManyRequests(t *testing.T) {
	for _, version := range []byte{4, 5} {
		var asked atomic.Int64
		m := startMock(t, func(r *proxytest.Request) {
			if r.Text() == "x" || r.Header.Opcode == wire.OpExecute {
				asked.Add(1)
			}
			proxytest.Default(r)
		})
		var clock atomic.Int64
		s := startProxy(t, m, proxy.Options{MaxRequestsPerClient: 10, RequestBurst: 4, Clock: clock.Load})
		a, b := connect(t, s, version), connect(t, s, version)
		long := proxytest.ExecuteBody(version, []byte("id"), make([]byte, 300<<10)) // longer than a buffer: it is streamed
		short := proxytest.QueryBody(version, "x")
		ask := func(c *proxytest.Client, opcode byte, body []byte) bool {
			t.Helper()
			h, answer := call(t, c, opcode, body)
			if !isOverloaded(h, answer) {
				return h.Opcode == wire.OpResult
			}
			if !strings.Contains(string(answer), "max-requests-per-client") {
				t.Errorf("answered %q", answer)
			}
			return false
		}
		for i, q := range []struct {
			c      *proxytest.Client
			opcode byte
			body   []byte
			want   bool
		}{{a, wire.OpQuery, short, true}, {b, wire.OpExecute, long, true}, {a, wire.OpExecute, long, true}, {b, wire.OpQuery, short, true},
			{b, wire.OpQuery, short, false}, {a, wire.OpExecute, long, false}, {b, wire.OpExecute, long, false}, {a, wire.OpQuery, short, false}} {
			if got := ask(q.c, q.opcode, q.body); got != q.want {
				t.Errorf("version %d, request %d: served %v, want %v", version, i, got, q.want)
			}
		}
		register(t, a, "STATUS_CHANGE")
		if h, _ := call(t, b, wire.OpOptions, nil); h.Opcode != wire.OpSupported {
			t.Errorf("OPTIONS was answered %+v", h)
		}
		clock.Add(100_000_000)
		if !ask(a, wire.OpExecute, long) || ask(b, wire.OpQuery, short) {
			t.Error("a tenth of a second later one more is due, not none and not two")
		}
		if n := asked.Load(); n != 5 {
			t.Errorf("Cassandra was asked %d times", n)
		}
		if n := s.Stats().Limited; n != 5 {
			t.Errorf("%d refused", n)
		}
	}
}

// TestDrainTellsClients: who registered for it hears that the node is down, at the address at which it knows it, is served
// on for the grace, then refused, and its connection is closed once it is quiet.
func TestDrainTellsClients(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			t.Parallel()
			s := startProxy(t, startMock(t, nil), proxy.Options{DrainGrace: 2 * time.Second}) // in which even a busy machine asks once
			at := tcp(s.Addrs()[0])
			c, deaf := connect(t, s, version), connect(t, s, version)
			register(t, c, "TOPOLOGY_CHANGE", "STATUS_CHANGE")
			register(t, deaf, "SCHEMA_CHANGE")
			ended := make(chan error, 1)
			go func() { ended <- s.Shutdown(context.Background()) }()
			h, body, err := c.Read()
			want := wire.AppendString(wire.AppendString(nil, "STATUS_CHANGE"), "DOWN")
			want = wire.AppendInt(append(append(want, 4), at.IP.To4()...), int32(at.Port))
			if err != nil || h.Opcode != wire.OpEvent || h.Stream != -1 || h.Version != version|wire.ResponseBit || !bytes.Equal(body, want) {
				t.Fatalf("heard %+v %q %v, want %q", h, body, err, want)
			}
			if h, body := call(t, c, wire.OpQuery, proxytest.QueryBody(version, "x")); h.Opcode != wire.OpResult {
				t.Errorf("in the grace a request is answered %+v %q", h, body)
			}
			for { // refused, or closed when it is quiet: no result any more, and no silence
				h, body, err := deaf.Call(wire.OpQuery, proxytest.QueryBody(version, "x"))
				if err != nil || isOverloaded(h, body) {
					break
				}
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if x := s.Stats(); x.Drains != 1 || x.Cut != 0 || x.Drained != 2 {
				t.Errorf("stats %+v", x)
			}
		})
	}
}

// TestRefusedRegistrationHearsNothing: what Cassandra did not accept is not registered.
func TestRefusedRegistrationHearsNothing(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode == wire.OpRegister {
			r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrProtocol, "Invalid value 'NONSENSE' for Type"))
			return
		}
		proxytest.Default(r)
	})
	s := startProxy(t, m, proxy.Options{})
	c := connect(t, s, 4)
	body := wire.AppendString(wire.AppendString(wire.AppendShort(nil, 2), "STATUS_CHANGE"), "NONSENSE")
	if h, _ := call(t, c, wire.OpRegister, body); h.Opcode != wire.OpError {
		t.Fatalf("%+v", h)
	}
	go func() { _ = s.Shutdown(context.Background()) }()
	if h, body, err := c.Read(); err == nil {
		t.Errorf("heard %+v %q", h, body)
	}
}

// TestDrainLosesNothing: clients that ask without a pause, and go elsewhere when they are told to, get an answer to every
// request: from this proxy or the next. The connection ends at a moment when nothing is under way.
func TestDrainLosesNothing(t *testing.T) {
	var carriedOut sync.Map
	m := startMock(t, func(r *proxytest.Request) {
		if text := r.Text(); strings.HasPrefix(text, "write ") {
			if _, twice := carriedOut.LoadOrStore(text, true); twice {
				t.Errorf("%q was carried out twice", text)
			}
		}
		proxytest.Default(r)
	})
	first, second := startProxy(t, m, proxy.Options{}), startProxy(t, m, proxy.Options{})
	var work sync.WaitGroup
	var refused, unknown, asked atomic.Int64
	ended := make(chan struct{})
	for i := range 20 {
		work.Go(func() {
			version := byte(3 + i%3)
			c, err := proxytest.Connect(first.Addrs()[0], version)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { c.Close() }()
			elsewhere := func() {
				c.Close()
				if c, err = proxytest.Connect(second.Addrs()[0], version); err != nil {
					t.Error(err)
				}
			}
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				text := fmt.Sprintf("write %d %d", i, n)
				asked.Add(1)
				h, body, err := c.Call(wire.OpQuery, proxytest.QueryBody(version, text))
				switch {
				case err != nil: // the request crossed with the end of the connection
					unknown.Add(1)
					elsewhere()
				case isOverloaded(h, body):
					refused.Add(1)
					if _, done := carriedOut.Load(text); done {
						t.Errorf("%q was refused and carried out", text)
					}
					elsewhere()
				case h.Opcode != wire.OpResult:
					t.Errorf("answered %+v %q", h, body)
				}
			}
		})
	}
	await(t, func() bool { return asked.Load() > 2000 })
	if err := first.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	close(ended)
	work.Wait()
	if n := first.Stats(); n.Cut != 0 {
		t.Errorf("%d connections were cut", n.Cut)
	}
	t.Logf("%d asked, %d refused, %d not known", asked.Load(), refused.Load(), unknown.Load())
	if refused.Load()+unknown.Load() > 20 {
		t.Error("a client was turned away more than once")
	}
}

// TestDrainIsBounded: a request that is never answered does not hold the end up.
func TestDrainIsBounded(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() != "never" {
			proxytest.Default(r)
		}
	})
	s := startProxy(t, m, proxy.Options{DrainTimeout: 2 * time.Second}) // much more than it takes to end the one that is quiet
	busy, quiet := connect(t, s, 4), connect(t, s, 4)
	if err := busy.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, "never")); err != nil {
		t.Fatal(err)
	}
	call(t, busy, wire.OpQuery, proxytest.QueryBody(4, "x"))
	if err := s.Shutdown(context.Background()); err == nil {
		t.Error("nothing was cut off")
	}
	for _, c := range []*proxytest.Client{busy, quiet} {
		if _, _, err := c.Read(); err == nil {
			t.Error("a connection is open")
		}
	}
	if x := s.Stats(); x.Cut != 1 || x.Drained != 1 {
		t.Errorf("stats %+v", x)
	}
}

// TestConnectionsEndInSteps: not all clients come to the other hosts at once.
func TestConnectionsEndInSteps(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{DrainTimeout: 12 * time.Second}) // a quarter of which the lots are spread over: a machine that halts makes one of some
	var mu sync.Mutex
	var ends []time.Time
	var work sync.WaitGroup
	for range 30 {
		c := connect(t, s, 4)
		work.Go(func() {
			if _, _, err := c.Read(); err == nil {
				t.Error("heard something")
			}
			c.Close()
			mu.Lock()
			defer mu.Unlock()
			ends = append(ends, time.Now())
		})
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	work.Wait()
	slices.SortFunc(ends, time.Time.Compare)
	// However slow the machine is, it makes no lots of three out of one lot of thirty: half of them end well after the first.
	lots, last := 1, ends[0]
	for _, at := range ends {
		if at.Sub(last) > 30*time.Millisecond {
			lots++
		}
		last = at
	}
	if lots < 5 {
		t.Errorf("30 connections ended in %d lots over %v", lots, ends[len(ends)-1].Sub(ends[0]))
	}
}

// TestHandOverInOneProcess: a second server accepts on the sockets of the first, with their nodes; clients of the first are not
// told that anything is down.
func TestHandOverInOneProcess(t *testing.T) {
	a, _ := startPair(t)
	old := startProxy(t, a, proxy.Options{Topology: proxy.Mirror})
	await(t, old.Ready)
	addrs := old.Addrs()
	c := connect(t, old, 4)
	register(t, c, "STATUS_CHANGE")
	second, err := proxytest.Connect(addrs[1], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_, behind := call(t, second, wire.OpQuery, proxytest.QueryBody(4, "who"))
	var kept []proxy.Listener
	for _, l := range old.Listeners() {
		f, err := l.Listener.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		again, err := net.FileListener(f)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, proxy.Listener{Listener: again, Slot: l.Slot, Node: l.Node})
	}
	if err := old.HandOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h, body, err := c.Read(); err == nil {
		t.Errorf("heard %+v %q", h, body)
	}
	waiting, err := proxytest.Dial(addrs[1], 4)
	if err != nil {
		t.Fatalf("refused between two processes: %v", err)
	}
	defer waiting.Close()
	next := startProxy(t, a, proxy.Options{Topology: proxy.Mirror, Inherited: kept})
	await(t, next.Ready)
	if !slices.Equal(next.Addrs(), addrs) {
		t.Errorf("listening on %v, handed over were %v", next.Addrs(), addrs)
	}
	if h, _ := call(t, waiting, wire.OpStartup, wire.AppendString(wire.AppendString(wire.AppendShort(nil, 1), "CQL_VERSION"), "3.0.0")); h.Opcode != wire.OpReady {
		t.Errorf("who waited is answered %+v", h)
	}
	if _, body := call(t, waiting, wire.OpQuery, proxytest.QueryBody(4, "who")); !bytes.Equal(body, behind) {
		t.Errorf("the second listener leads to node %q, before to %q", body, behind)
	}
}

// TestOpenerOfOnesOwn: listeners come from where the options say.
func TestOpenerOfOnesOwn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := startProxy(t, startMock(t, nil), proxy.Options{Listen: "127.0.0.1:1", Open: func(_ context.Context, address string) (net.Listener, error) {
		if address != "127.0.0.1:1" {
			t.Errorf("%s is opened", address)
		}
		return l, nil
	}})
	if s.Addrs()[0] != l.Addr().String() {
		t.Errorf("listening on %v", s.Addrs())
	}
	connect(t, s, 4)
}

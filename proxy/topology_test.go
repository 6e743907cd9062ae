package proxy_test

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func tcp(address string) *net.TCPAddr {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		panic(err)
	}
	return a
}

// startPair starts two nodes that know each other.
func startPair(t *testing.T) (a, b *proxytest.Server) {
	t.Helper()
	var mu sync.Mutex
	var nodes []*proxytest.Server
	handler := func(self int) proxytest.Handler {
		return func(r *proxytest.Request) {
			mu.Lock()
			other := nodes[1-self].Addr
			mu.Unlock()
			switch text := r.Text(); {
			case r.Header.Opcode == wire.OpQuery && strings.Contains(text, "peers"):
				r.Reply(wire.OpResult, proxytest.PeersBody(tcp(other), tcp("127.0.0.9:9042")))
			case r.Header.Opcode == wire.OpQuery && text == "who":
				r.Reply(wire.OpResult, wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), string('0'+byte(self))))
			default:
				proxytest.Default(r)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range 2 {
		m, err := proxytest.StartAt(fmt.Sprintf("127.0.0.%d:0", i+1), handler(i)) // the gates follow the order of addresses
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		nodes = append(nodes, m)
	}
	return nodes[0], nodes[1]
}

func TestSingleTopologyShowsOneNode(t *testing.T) {
	a, _ := startPair(t)
	s := startProxy(t, a, proxy.Options{})
	for _, version := range []byte{4, 5} {
		c := connect(t, s, version)
		_, body := call(t, c, wire.OpQuery, proxytest.QueryBody(version, "SELECT * FROM system.local"))
		if want := withoutHost(proxytest.LocalBody(tcp(s.Addrs()[0]))); !bytes.Equal(withoutHost(body), want) {
			t.Errorf("system.local is %q, want %q", body, want)
		}
		_, body = call(t, c, wire.OpQuery, proxytest.QueryBody(version, "select * from SYSTEM.peers_v2"))
		if want := proxytest.PeersBody(); !bytes.Equal(body, want) {
			t.Errorf("system.peers_v2 is %q, want %q", body, want)
		}
	}
}

// withoutHost cuts a one-row system.local before the host id, which the mock derives from the address.
func withoutHost(b []byte) []byte { return b[:bytes.Index(b, []byte("rack1"))] }

func TestMirrorTopologyShowsEveryNode(t *testing.T) {
	a, b := startPair(t)
	var mu sync.Mutex
	var heard []proxy.Event
	s := startProxy(t, a, proxy.Options{Topology: proxy.Mirror, OnEvent: func(e proxy.Event) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, e)
	}})
	await(t, s.Ready)
	addrs := s.Addrs()
	if len(addrs) != 3 { // the third node is not there, but it has a listener: whether it is up is the driver's to find out
		t.Fatalf("listening on %v", addrs)
	}
	if n := s.Nodes(); len(n) != 3 || n[0].DataCenter != "dc1" || n[0].Version != "5.0.8" || len(n[0].HostID) != 32 {
		t.Errorf("nodes %+v", n)
	}
	for i := range 2 {
		c, err := proxytest.Connect(addrs[i], 4)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, body := call(t, c, wire.OpQuery, proxytest.QueryBody(4, "who"))
		if who := int(body[len(body)-1] - '0'); who != i {
			t.Errorf("listener %d leads to node %d", i, who)
		}
		_, body = call(t, c, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.peers_v2"))
		other := tcp(addrs[1-i])
		if !bytes.Contains(body, append([]byte{0, 0, 0, 4}, wire.AppendInt(nil, int32(other.Port))...)) {
			t.Errorf("system.peers_v2 behind listener %d does not name %v: %q", i, other, body)
		}
		for _, node := range []*proxytest.Server{a, b} {
			if bytes.Contains(body, wire.AppendInt([]byte{0, 0, 0, 4}, int32(tcp(node.Addr).Port))) {
				t.Errorf("system.peers_v2 behind listener %d names %s itself", i, node.Addr)
			}
		}
	}
	c := connect(t, s, 4)
	status := func(address *net.TCPAddr) []byte {
		body := wire.AppendString(wire.AppendString(nil, "STATUS_CHANGE"), "DOWN")
		return wire.AppendInt(append(append(body, 4), address.IP.To4()...), int32(address.Port))
	}
	schema := wire.AppendString(wire.AppendString(nil, "SCHEMA_CHANGE"), "UPDATED")
	for _, x := range []string{"TABLE", "k", "t"} {
		schema = wire.AppendString(schema, x)
	}
	a.Event(status(tcp("127.0.0.77:1"))) // nobody knows it: dropped
	a.Event(status(tcp(b.Addr)))
	a.Event(schema)
	for _, want := range [][]byte{status(tcp(addrs[1])), schema} {
		if h, body, err := c.Read(); err != nil || h.Opcode != wire.OpEvent || !bytes.Equal(body, want) {
			t.Errorf("heard %+v %q %v, want %q", h, body, err, want)
		}
	}
	has := func(e proxy.Event) func() bool {
		return func() bool { mu.Lock(); defer mu.Unlock(); return slices.Contains(heard, e) }
	}
	await(t, has(proxy.Event{Kind: proxy.EventStatus, Change: "DOWN", Address: b.Addr}))
	await(t, has(proxy.Event{Kind: proxy.EventSchema, Change: "UPDATED", Keyspace: "k", Table: "t"}))
	if heard[0].Kind != proxy.EventConnected {
		t.Errorf("the first event is %+v", heard[0])
	}
	a.Cut() // the control connection comes back and says so
	await(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, e := range heard {
			if e.Kind == proxy.EventConnected {
				n++
			}
		}
		return n == 2
	})
}

func TestPreparedTopologyReads(t *testing.T) {
	const text = "SELECT rpc_address, rpc_port FROM system.local"
	cells := []proxytest.Column{{Name: "rpc_address", Type: 16}, {Name: "rpc_port", Type: 9}}
	m := startMock(t, func(r *proxytest.Request) {
		switch r.Header.Opcode {
		case wire.OpPrepare:
			body := proxytest.PreparedBody(4, text, nil, nil)
			r.Reply(wire.OpResult, append(body[:len(body)-8], proxytest.MetadataBytes("system", "local", cells)...))
		case wire.OpExecute:
			r.Reply(wire.OpResult, wire.AppendRows(nil, wire.AppendNoMetadata(nil, 2), [][][]byte{{{1, 2, 3, 4}, {0, 0, 0, 1}}}))
		default:
			proxytest.Default(r)
		}
	})
	s := startProxy(t, m, proxy.Options{})
	c := connect(t, s, 4)
	call(t, c, wire.OpPrepare, proxytest.PrepareBody(4, text))
	_, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID(text)))
	want := wire.AppendRows(nil, wire.AppendNoMetadata(nil, 2), [][][]byte{{{127, 0, 0, 1}, wire.AppendInt(nil, int32(tcp(s.Addrs()[0]).Port))}})
	if !bytes.Equal(body, want) {
		t.Errorf("answered %q, want %q", body, want)
	}
}

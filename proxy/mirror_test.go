package proxy_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// mockNode is a node of a mockCluster.
type mockNode struct {
	*proxytest.Server
	id   byte
	dc   string
	peer [4]byte // its address among the nodes

	schema byte         // which version it has; the cluster's lock is held
	asked  atomic.Int32 // how often for its peers
}

// mockCluster is nodes that list each other; which are listed changes.
type mockCluster struct {
	t      *testing.T
	mu     sync.Mutex
	listed []*mockNode
}

var (
	mockLocal = []proxytest.Column{{Name: "key", Type: 13}, {Name: "rpc_address", Type: 16}, {Name: "rpc_port", Type: 9}, {Name: "data_center", Type: 13},
		{Name: "rack", Type: 13}, {Name: "host_id", Type: 12}, {Name: "broadcast_address", Type: 16}, {Name: "schema_version", Type: 12}}
	mockPeers = []proxytest.Column{{Name: "peer", Type: 16}, {Name: "native_address", Type: 16}, {Name: "native_port", Type: 9}, {Name: "data_center", Type: 13},
		{Name: "rack", Type: 13}, {Name: "host_id", Type: 12}, {Name: "schema_version", Type: 12}}
)

func (n *mockNode) host() []byte { return bytes.Repeat([]byte{n.id}, 16) }

func (n *mockNode) event(kind, change string) []byte {
	return inetEvent(kind, change, tcp(n.Addr))
}

func inetEvent(kind, change string, a *net.TCPAddr) []byte {
	body := wire.AppendString(wire.AppendString(nil, kind), change)
	return wire.AppendInt(append(append(body, 4), a.IP.To4()...), int32(a.Port))
}

// start starts a node, which is not listed yet, at an address ("" for any).
func (c *mockCluster) start(id byte, dc, address string) *mockNode {
	c.t.Helper()
	n := &mockNode{id: id, dc: dc, peer: [4]byte{10, 0, 0, id}}
	if address == "" {
		address = "127.0.0.1:0"
	}
	var err error
	n.Server, err = proxytest.StartAt(address, func(r *proxytest.Request) { c.answer(n, r) })
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(n.Close)
	return n
}

func (c *mockCluster) list(nodes ...*mockNode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = nodes
}

func (c *mockCluster) answer(self *mockNode, r *proxytest.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := c.listed
	text := ""
	if r.Header.Opcode == wire.OpQuery {
		text = r.Text()
	}
	schema := func(n *mockNode) []byte { return bytes.Repeat([]byte{n.schema}, 16) }
	switch {
	case text == "who":
		r.Reply(wire.OpResult, wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), string('0'+self.id)))
	case text == "slow": // never answered
	case text == "CREATE TABLE k.t":
		body := wire.AppendInt(nil, wire.ResultSchemaChange)
		for _, s := range []string{"CREATED", "TABLE", "k", "t"} {
			body = wire.AppendString(body, s)
		}
		r.Reply(wire.OpResult, body)
	case strings.Contains(text, "system.local"):
		a := tcp(self.Addr)
		r.Reply(wire.OpResult, proxytest.RowsBody("system", "local", mockLocal, [][][]byte{{[]byte("local"), a.IP.To4(),
			wire.AppendInt(nil, int32(a.Port)), []byte(self.dc), []byte("r1"), self.host(), self.peer[:], schema(self)}}))
	case strings.Contains(text, "system.peers"):
		self.asked.Add(1)
		var rows [][][]byte
		for _, n := range listed {
			if n == self {
				continue
			}
			a := tcp(n.Addr)
			rows = append(rows, [][]byte{n.peer[:], a.IP.To4(), wire.AppendInt(nil, int32(a.Port)), []byte(n.dc), []byte("r1"), n.host(), schema(n)})
		}
		r.Reply(wire.OpResult, proxytest.RowsBody("system", "peers_v2", mockPeers, rows))
	default:
		proxytest.Default(r)
	}
}

// who tells to which node an address leads; "" if to none.
func who(address string) string {
	c, err := proxytest.Connect(address, 4)
	if err != nil {
		return ""
	}
	defer c.Close()
	_, body, err := c.Call(wire.OpQuery, proxytest.QueryBody(4, "who"))
	if err != nil || len(body) == 0 {
		return ""
	}
	return string(body[len(body)-1])
}

func hear(t *testing.T, c *proxytest.Client, want []byte) {
	t.Helper()
	if h, body, err := c.Read(); err != nil || h.Opcode != wire.OpEvent || h.Stream != -1 || !bytes.Equal(body, want) {
		t.Fatalf("heard %+v %q %v, want %q", h, body, err, want)
	}
}

// gates waits until there are n of them and their nodes are known: who asks before sees no peers, and is told of each as new.
func gates(t *testing.T, s *proxy.Server, n int) {
	t.Helper()
	await(t, func() bool { return s.Ready() && len(s.Addrs()) == n })
}

func TestGatesFollowTheNodes(t *testing.T) {
	cluster := &mockCluster{t: t}
	a, b := cluster.start(1, "dc1", ""), cluster.start(2, "dc2", "")
	cluster.list(a, b)
	s := startProxy(t, b.Server, proxy.Options{Topology: proxy.Mirror})
	gates(t, s, 2)
	addrs := s.Addrs()
	// The first slot is that of the first data centre's node, whatever the contact point.
	if who(addrs[0]) != "1" || who(addrs[1]) != "2" {
		t.Fatalf("the gates lead to %q and %q", who(addrs[0]), who(addrs[1]))
	}
	client, err := proxytest.Connect(addrs[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	register(t, client, "TOPOLOGY_CHANGE", "STATUS_CHANGE")
	gocql, err := proxytest.Connect(addrs[0], 5, "DRIVER_NAME", "github.com/gocql/gocql")
	if err != nil {
		t.Fatal(err)
	}
	defer gocql.Close()
	register(t, gocql, "TOPOLOGY_CHANGE", "STATUS_CHANGE")

	// A third joins. What Cassandra says of it is not passed on: there is no listener yet.
	c := cluster.start(3, "dc1", "")
	a.Event(c.event("TOPOLOGY_CHANGE", "NEW_NODE"))
	cluster.list(a, b, c)
	b.Event(c.event("TOPOLOGY_CHANGE", "NEW_NODE"))
	await(t, func() bool { return len(s.Addrs()) == 3 })
	third := s.Addrs()[2]
	hear(t, client, inetEvent("TOPOLOGY_CHANGE", "NEW_NODE", tcp(third)))
	hear(t, client, inetEvent("STATUS_CHANGE", "UP", tcp(third)))
	among := &net.TCPAddr{IP: net.IP(c.peer[:]), Port: tcp(third).Port}
	hear(t, gocql, inetEvent("TOPOLOGY_CHANGE", "NEW_NODE", among))
	hear(t, gocql, inetEvent("STATUS_CHANGE", "UP", among))
	if who(third) != "3" || !slices.Equal(s.Addrs()[:2], addrs) {
		t.Errorf("gates %v, the third leads to %q", s.Addrs(), who(third))
	}

	// It goes down: its clients are cut off, others are told, its listener stays.
	a.Event(c.event("STATUS_CHANGE", "DOWN"))
	hear(t, client, inetEvent("STATUS_CHANGE", "DOWN", tcp(third)))
	hear(t, gocql, inetEvent("STATUS_CHANGE", "DOWN", among))
	c.Close()
	if who(third) != "" {
		t.Error("its gate leads somewhere")
	}
	conn, err := net.Dial("tcp", third)
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
		conn.Close()
	}
	// A reset, not an end in good order: after that the Node.js driver waits a minute for the answer to its STARTUP.
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("who connects to the listener of the node that is down hears %v", err)
	}

	// It comes back at another address, and keeps its gate.
	c = cluster.start(3, "dc1", "127.0.0.5:0")
	cluster.list(a, b, c)
	b.Event(c.event("STATUS_CHANGE", "UP"))
	await(t, func() bool { return who(third) == "3" })

	// It is replaced by a node with its address.
	d := &mockNode{Server: c.Server, id: 4, dc: "dc1", peer: c.peer}
	cluster.list(a, b, d)
	b.Event(d.event("STATUS_CHANGE", "UP"))
	await(t, func() bool {
		return slices.ContainsFunc(s.Nodes(), func(n proxy.Node) bool { return strings.HasPrefix(n.HostID, "0404") })
	})
	hear(t, client, inetEvent("TOPOLOGY_CHANGE", "NEW_NODE", tcp(third)))
	hear(t, client, inetEvent("STATUS_CHANGE", "UP", tcp(third)))
	if who(third) != "3" { // the mock's process is the same
		t.Error("the gate of the replaced node is gone")
	}

	// It leaves: its listener closes, a client with a request under way is waited for, the others' are told.
	inFlight, err := proxytest.Connect(third, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer inFlight.Close()
	if err := inFlight.Send(1, wire.OpQuery, 0, proxytest.QueryBody(4, "slow")); err != nil {
		t.Fatal(err)
	}
	// The answer to what is asked next proves that the slow request was read: before, the connection is quiet and is ended at once.
	if _, _, err := inFlight.Call(wire.OpQuery, proxytest.QueryBody(4, "who")); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return s.Stats().Connections == 3 })
	cluster.list(a, b)
	b.Event(d.event("TOPOLOGY_CHANGE", "REMOVED_NODE"))
	hear(t, client, inetEvent("TOPOLOGY_CHANGE", "REMOVED_NODE", tcp(third)))
	await(t, func() bool { return len(s.Addrs()) == 2 })
	await(t, func() bool {
		h, body, err := inFlight.Call(wire.OpQuery, proxytest.QueryBody(4, "who"))
		return err == nil && h.Opcode == wire.OpError && bytes.HasPrefix(body, wire.AppendInt(nil, wire.ErrOverloaded))
	})
	if _, err := proxytest.Connect(third, 4); err == nil {
		t.Error("the listener of the node that left is open")
	}

	// The first slot's node leaves: applications are configured with that address, so it leads to the others now.
	cluster.list(b)
	b.Event(a.event("TOPOLOGY_CHANGE", "REMOVED_NODE"))
	await(t, func() bool { return who(addrs[0]) == "2" })
	if !slices.Equal(s.Addrs(), addrs) {
		t.Errorf("listening at %v, want %v", s.Addrs(), addrs)
	}
	e := cluster.start(5, "dc1", "") // the next one gets it
	cluster.list(b, e)
	b.Event(e.event("TOPOLOGY_CHANGE", "NEW_NODE"))
	await(t, func() bool { return who(addrs[0]) == "5" })
	if n := s.Stats().Unlistened; n != 0 {
		t.Errorf("%d nodes without a listener", n)
	}
}

// TestNodeThatIsListedLate: its row comes seconds after the event, as with Cassandra.
func TestNodeThatIsListedLate(t *testing.T) {
	cluster := &mockCluster{t: t}
	a, b := cluster.start(1, "dc1", ""), cluster.start(2, "dc1", "")
	cluster.list(a)
	s := startProxy(t, a.Server, proxy.Options{Topology: proxy.Mirror})
	await(t, s.Ready)
	a.Event(b.event("TOPOLOGY_CHANGE", "NEW_NODE"))
	await(t, func() bool { return len(s.Nodes()) == 1 })
	cluster.list(a, b)
	await(t, func() bool { return len(s.Addrs()) == 2 })
	cluster.list(a) // not listed for a while, and nobody said that it left
	await(t, func() bool { return len(s.Addrs()) == 1 })
}

func TestListenAddresses(t *testing.T) {
	cluster := &mockCluster{t: t}
	a, b, c := cluster.start(1, "dc1", "127.0.0.1:0"), cluster.start(2, "dc1", "127.0.0.2:0"), cluster.start(3, "dc1", "127.0.0.3:0")
	cluster.list(a, b, c)
	free, err := net.Listen("tcp", "127.0.7.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	s := startProxy(t, a.Server, proxy.Options{Topology: proxy.Mirror, Listen: "127.0.7.1:" + port + ", 127.0.7.2:" + port,
		Advertise: "192.0.2.1:7000,192.0.2.2"})
	gates(t, s, 2)
	await(t, func() bool { return s.Stats().Unlistened == 1 }) // the third has no address
	for i, n := range []string{"1", "2"} {
		if got := who(s.Addrs()[i]); got != n {
			t.Errorf("address %d leads to %q", i, got)
		}
	}
	client := connect(t, s, 4)
	_, body := call(t, client, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.peers_v2"))
	second := tcp("192.0.2.2:" + port)
	want := wire.AppendBytes(wire.AppendBytes(nil, second.IP.To4()), wire.AppendInt(nil, int32(second.Port)))
	if !bytes.Contains(body, want) || bytes.Contains(body, c.host()) {
		t.Errorf("the peers are %q, want %q among them and not the node without a listener", body, want)
	}
	_, body = call(t, client, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.local"))
	first := tcp("192.0.2.1:7000")
	if want := wire.AppendBytes(wire.AppendBytes(nil, first.IP.To4()), wire.AppendInt(nil, int32(first.Port))); !bytes.Contains(body, want) {
		t.Errorf("system.local is %q, want %q in it", body, want)
	}
}

func TestUnspecifiedListenAddress(t *testing.T) {
	cluster := &mockCluster{t: t}
	a, b := cluster.start(1, "dc1", ""), cluster.start(2, "dc1", "")
	cluster.list(a, b)
	s := startProxy(t, a.Server, proxy.Options{Topology: proxy.Mirror, Listen: "0.0.0.0:0"})
	gates(t, s, 2)
	_, port, _ := net.SplitHostPort(s.Addrs()[0])
	for _, host := range []string{"127.0.0.1", "127.0.0.77"} {
		c, err := proxytest.Connect(net.JoinHostPort(host, port), 4)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, body := call(t, c, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.peers_v2"))
		if want := wire.AppendBytes(nil, net.ParseIP(host).To4()); !bytes.Contains(body, want) {
			t.Errorf("a client of %s sees the peers %q", host, body)
		}
	}
}

func TestSingleSpreadsAndFailsOver(t *testing.T) {
	cluster := &mockCluster{t: t}
	a, b, far := cluster.start(1, "dc1", ""), cluster.start(2, "dc1", ""), cluster.start(3, "dc2", "")
	cluster.list(a, b, far)
	s := startProxy(t, a.Server, proxy.Options{})
	await(t, s.Ready)
	seen := make(map[string]int)
	for range 6 {
		seen[who(s.Addrs()[0])]++
	}
	if seen["1"] != 3 || seen["2"] != 3 {
		t.Errorf("clients went to %v, want three each to the nodes of the nearest data centre", seen)
	}
	b.Close()
	for range 4 {
		if got := who(s.Addrs()[0]); got != "1" {
			t.Errorf("a client went to %q", got)
		}
	}
	client := connect(t, s, 4)
	_, local := call(t, client, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.local"))
	if bytes.Contains(local, a.host()) || bytes.Contains(local, b.host()) {
		t.Errorf("system.local shows a node's own host id: %q", local)
	}
	a.Event(far.event("STATUS_CHANGE", "DOWN"))
	schema := wire.AppendString(wire.AppendString(nil, "SCHEMA_CHANGE"), "UPDATED")
	for _, x := range []string{"TABLE", "k", "t"} {
		schema = wire.AppendString(schema, x)
	}
	a.Event(schema)
	hear(t, client, schema) // and nothing of nodes
}

// TestSchemaChangesAreHeldBack: a client that sees one node can not find out whether the others have its new table, so it is
// answered when they have. In mirror it sees them all, and looks itself.
func TestSchemaChangesAreHeldBack(t *testing.T) {
	for topology, held := range map[proxy.Topology]bool{proxy.Single: true, proxy.Mirror: false} {
		for _, down := range []bool{false, true} { // a node that is down is not waited for
			cluster := &mockCluster{t: t}
			a, b := cluster.start(1, "dc1", ""), cluster.start(2, "dc2", "")
			cluster.list(a, b)
			s := startProxy(t, a.Server, proxy.Options{Topology: topology})
			await(t, s.Ready)
			cluster.mu.Lock()
			a.schema = 1
			cluster.mu.Unlock()
			if down {
				b.Close()
			}
			client := connect(t, s, 4)
			asked := func() int32 { return a.asked.Load() + b.asked.Load() } // whichever it was connected to
			before := asked()
			answer := make(chan error, 1)
			go func() {
				h, body, err := client.Call(wire.OpQuery, proxytest.QueryBody(4, "CREATE TABLE k.t"))
				if err == nil && (h.Opcode != wire.OpResult || !bytes.Contains(body, []byte("CREATED"))) {
					err = fmt.Errorf("%+v %q", h, body)
				}
				answer <- err
			}()
			if held && !down {
				await(t, func() bool { return asked() >= before+5 }) // of which the control connection may have asked two
				select {
				case err := <-answer:
					t.Errorf("%s: answered before the nodes agree: %v", topology, err)
				default:
				}
				cluster.mu.Lock()
				b.schema = 1
				cluster.mu.Unlock()
			}
			if err := <-answer; err != nil {
				t.Errorf("%s, down is %v: %v", topology, down, err)
			}
		}
	}
}

func TestFleet(t *testing.T) {
	cluster := &mockCluster{t: t}
	a := cluster.start(1, "dc1", "")
	cluster.list(a)
	var members []string
	for _, host := range []string{"127.0.8.1", "127.0.8.2"} {
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, l.Addr().String())
		l.Close()
	}
	one := startProxy(t, a.Server, proxy.Options{Topology: proxy.Fleet, Listen: members[0], Fleet: members})
	two := startProxy(t, a.Server, proxy.Options{Topology: proxy.Fleet, Listen: members[1], Fleet: members})
	await(t, func() bool { return one.Ready() && two.Ready() })
	client := connect(t, one, 4)
	register(t, client, "TOPOLOGY_CHANGE", "STATUS_CHANGE")
	other := tcp(members[1])
	_, body := call(t, client, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.peers_v2"))
	if want := wire.AppendBytes(wire.AppendBytes(nil, other.IP.To4()), wire.AppendInt(nil, int32(other.Port))); !bytes.Contains(body, want) {
		t.Errorf("the peers are %q", body)
	}
	// The values of a WHERE select among the invented rows.
	for _, c := range []struct {
		peer net.IP
		want bool
	}{{other.IP.To4(), true}, {net.IP{9, 9, 9, 9}, false}} {
		_, body = call(t, client, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.peers_v2 WHERE peer = ?", c.peer))
		if got := bytes.Contains(body, wire.AppendBytes(nil, other.IP.To4())); got != c.want {
			t.Errorf("WHERE peer = %v: %q", c.peer, body)
		}
	}
	_, body = call(t, client, wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.local"))
	if self := tcp(members[0]); bytes.Contains(body, a.host()) || !bytes.Contains(body, wire.AppendInt(wire.AppendInt(nil, 4), int32(self.Port))) {
		t.Errorf("system.local is %q", body)
	}
	if err := two.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	hear(t, client, inetEvent("STATUS_CHANGE", "DOWN", other))
	_ = startProxy(t, a.Server, proxy.Options{Topology: proxy.Fleet, Listen: members[1], Fleet: members})
	hear(t, client, inetEvent("STATUS_CHANGE", "UP", other))

	if _, err := proxy.New(proxy.Options{ContactPoints: []string{a.Addr}, Topology: proxy.Fleet, Listen: "127.0.0.1:1", Fleet: members}); err == nil ||
		!strings.Contains(err.Error(), "not among the fleet's members") {
		t.Errorf("a process that is no member: %v", err)
	}
}

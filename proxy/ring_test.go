package proxy_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apache "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/ring"
)

// reader is a driver's session that reads one row by its key, with tracing; it returns the trace's id.
type reader struct {
	name  string
	read  func(k int) ([]byte, error)
	close func()
}

type lastTrace struct {
	mu sync.Mutex
	id []byte
}

func (l *lastTrace) Trace(id []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id = bytes.Clone(id)
}

func (l *lastTrace) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

const keyedRead = "SELECT v FROM r.t WHERE k = ?"

func gocqlReader(t *testing.T, addrs []string) reader {
	cluster := gocql.NewCluster(addrs...)
	cluster.Port = tcp(addrs[0]).Port // it takes the node that it asks about the others to be at this port
	cluster.ProtoVersion = 4
	cluster.Timeout, cluster.ConnectTimeout = 20*time.Second, 20*time.Second
	cluster.ReconnectInterval = time.Second
	cluster.Logger = quiet{}
	cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	cluster.Consistency = gocql.One
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	var trace lastTrace
	return reader{"gocql", func(k int) ([]byte, error) {
		var v int
		err := session.Query(keyedRead, k).Trace(&trace).Scan(&v)
		return trace.take(), err
	}, session.Close}
}

// heard is the events that a client was told.
type heard struct {
	mu   sync.Mutex
	seen []string
}

// hearing has a client of its own register, so that it is certain which node it is connected to.
func hearing(t *testing.T, address string) *heard {
	t.Helper()
	c, err := proxytest.Connect(address, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	register(t, c, ring.StatusChange, ring.TopologyChange)
	h := &heard{}
	go func() {
		for {
			header, body, err := c.Read()
			if errors.Is(err, os.ErrDeadlineExceeded) { // nothing happens for a while
				continue
			}
			if err != nil {
				return
			}
			if e, ok := ring.ReadEvent(header.Flags, body); ok {
				h.mu.Lock()
				h.seen = append(h.seen, e.Change+" "+e.Address.String())
				h.mu.Unlock()
			}
		}
	}()
	return h
}

func (h *heard) saw(what string) func() bool {
	return func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Contains(h.seen, what)
	}
}

func apacheReader(t *testing.T, addrs []string) reader {
	cluster := apache.NewCluster(addrs...)
	cluster.Timeout, cluster.ConnectTimeout = 20*time.Second, 20*time.Second
	cluster.ReconnectInterval = time.Second
	cluster.PoolConfig.HostSelectionPolicy = apache.TokenAwareHostPolicy(apache.RoundRobinHostPolicy())
	cluster.Consistency = apache.One
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	var trace lastTrace
	return reader{"apache v2", func(k int) ([]byte, error) {
		var v int
		err := session.Query(keyedRead, k).Trace(&trace).Scan(&v)
		return trace.take(), err
	}, session.Close}
}

// direct is a session on one node, for looking at what happened.
func direct(t *testing.T, address string) *gocql.Session {
	t.Helper()
	host, port, _ := strings.Cut(address, ":")
	cluster := gocql.NewCluster(host)
	fmt.Sscan(port, &cluster.Port)
	cluster.ProtoVersion, cluster.DisableInitialHostLookup, cluster.NumConns = 4, true, 1
	cluster.Timeout, cluster.ConnectTimeout, cluster.Consistency, cluster.Logger = 20*time.Second, 20*time.Second, gocql.One, quiet{}
	// An event of the ring would have gocql put the node that it finds in place of the one that it was given, and cut what is under way.
	cluster.Events.DisableNodeStatusEvents, cluster.Events.DisableTopologyEvents = true, true
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

// firstAtReplica reads keys with tracing and returns how many reads the coordinator answered from its own data, and of
// how many nodes. With one replica a key, a read that goes elsewhere first shows two sources.
func firstAtReplica(t *testing.T, session *gocql.Session, r reader, keys int) (local, nodes int) {
	t.Helper()
	var traces []gocql.UUID
	for k := range keys {
		id, err := r.read(k)
		if err != nil {
			t.Fatalf("%s: reading key %d: %v", r.name, k, err)
		}
		traces = append(traces, gocql.UUID(id))
	}
	coordinators := make(map[string]bool)
	for some := range slices.Chunk(traces, 50) {
		first := make(map[gocql.UUID]string) // the coordinator of each
		await(t, func() bool {               // traces are written after the answer
			iter := session.Query("SELECT session_id, coordinator, duration FROM system_traces.sessions WHERE session_id IN ?", some).Iter()
			var id gocql.UUID
			var coordinator string
			for duration := 0; iter.Scan(&id, &coordinator, &duration); {
				if duration > 0 {
					first[id] = coordinator
				}
			}
			return iter.Close() == nil && len(first) == len(some) // a busy machine's Cassandra may time out
		})
		var elsewhere map[gocql.UUID]bool
		await(t, func() bool {
			elsewhere = make(map[gocql.UUID]bool)
			iter := session.Query("SELECT session_id, source FROM system_traces.events WHERE session_id IN ?", some).Iter()
			var id gocql.UUID
			for source := ""; iter.Scan(&id, &source); {
				elsewhere[id] = elsewhere[id] || source != first[id]
			}
			return iter.Close() == nil
		})
		for id, coordinator := range first {
			if away, traced := elsewhere[id]; traced && !away {
				local++
				coordinators[coordinator] = true
			}
		}
	}
	return local, len(coordinators)
}

// TestMirrorFollowsTheCluster is the proof that drivers keep token-aware routing through the proxy, on a real cluster
// that a node joins, that loses it and gets it back, and that it leaves.
func TestMirrorFollowsTheCluster(t *testing.T) {
	realCassandra(t)
	long.Only(t, "three nodes take a minute to start: `make test-long` runs this")
	c, err := cassandra.Start(t.Context(), cassandra.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	session := direct(t, c.Node(0).Addr())
	for _, text := range []string{
		"CREATE KEYSPACE r WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE r.t (k int PRIMARY KEY, v int)",
	} {
		if err := session.Query(text).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	const keys = 200
	for k := range keys {
		if err := session.Query("INSERT INTO r.t (k, v) VALUES (?, ?)", k, k).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	// An address for each node, all with one port, as docs/limits.md asks for: gocql takes the nodes to be so.
	free, err := net.Listen("tcp", "127.0.252.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var listen []string
	for i := range 3 {
		listen = append(listen, fmt.Sprintf("127.0.252.%d:%d", i+1, tcp(free.Addr().String()).Port))
	}
	free.Close()
	s := startProxy(t, nil, proxy.Options{ContactPoints: []string{c.Node(1).Addr()}, Topology: proxy.Mirror, Listen: strings.Join(listen, ",")})
	gates(t, s, 2)
	told := hearing(t, s.Addrs()[0])
	readers := []reader{gocqlReader(t, s.Addrs()), apacheReader(t, s.Addrs())}
	for _, r := range readers {
		defer r.close()
	}
	prove := func(when string, nodes int) {
		t.Helper()
		for _, r := range readers {
			var best, of int
			for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) { // drivers take a while to follow
				local, n := firstAtReplica(t, session, r, 30)
				if local == 30 && n == nodes {
					best, of = firstAtReplica(t, session, r, keys)
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: %s: %d of 30 reads reached a replica first, on %d of %d nodes", when, r.name, local, n, nodes)
				}
			}
			t.Logf("%s: %s: %d of %d reads reached a replica first, on %d nodes", when, r.name, best, keys, of)
			if best*100 < keys*99 {
				t.Errorf("%s: %s: %d of %d reads reached a replica first", when, r.name, best, keys)
			}
		}
	}
	prove("two nodes", 2)

	third, err := c.Add(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gates(t, s, 3)
	gate := s.Addrs()[2]
	await(t, told.saw("NEW_NODE "+gate))
	prove("a third joined", 3)

	if err := third.Stop(); err != nil { // says so to the others, which tell at once; a crash takes them 20 s to notice
		t.Fatal(err)
	}
	await(t, told.saw("DOWN "+gate))
	if conn, err := net.Dial("tcp", gate); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the listener of the node that is down: %v", err)
	} else if err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("the node is down, and a client that connects to its listener hears %v", err)
		}
		conn.Close()
	}
	if err := third.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	prove("it came back", 3)

	if err := third.Decommission(t.Context()); err != nil {
		t.Fatal(err)
	}
	gates(t, s, 2)
	if conn, err := net.Dial("tcp", gate); err == nil {
		conn.Close()
		t.Error("the listener of the node that left is still open")
	}
	await(t, told.saw("REMOVED_NODE "+gate))
	prove("it left", 2)
	var rows int
	if err := session.Query("SELECT count(*) FROM r.t").Scan(&rows); err != nil || rows != keys {
		t.Errorf("%d rows, %v, want %d", rows, err, keys)
	}
}

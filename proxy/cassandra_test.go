package proxy_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// realCassandra returns the contact points of a real Cassandra.
func realCassandra(t *testing.T) []string {
	t.Helper()
	a := os.Getenv("HELENUS_TEST_CASSANDRA")
	if a == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: make test sets it to a real Cassandra")
	}
	return strings.Split(a, ",")
}

func TestGocqlThroughTheProxy(t *testing.T) {
	for _, topology := range []proxy.Topology{proxy.Single, proxy.Mirror} {
		t.Run(string(topology), func(t *testing.T) {
			points := realCassandra(t)
			recorder := &tally{}
			rewriter := &scripted{}
			rewriter.epoch.Store(1)
			var schema atomic.Int32
			s := startProxy(t, nil, proxy.Options{ContactPoints: points, Topology: topology, Recorder: recorder, Rewriter: rewriter,
				OnEvent: func(e proxy.Event) {
					if e.Kind == proxy.EventSchema && e.Table == "t" {
						schema.Add(1)
					}
				}})
			await(t, s.Ready)
			cluster := gocql.NewCluster(s.Addrs()...)
			cluster.ProtoVersion = 4
			cluster.Timeout, cluster.ConnectTimeout = 20*time.Second, 20*time.Second
			if topology == proxy.Mirror { // declined: it asks what is supported first
				cluster.Compressor = gocql.SnappyCompressor{}
			}
			session, err := cluster.CreateSession()
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			keyspace := fmt.Sprintf("proxy_%s_%d", topology, os.Getpid())
			run := func(text string, values ...any) {
				t.Helper()
				if err := session.Query(text, values...).Exec(); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			run("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
			defer run("DROP KEYSPACE " + keyspace)
			run("CREATE TABLE " + keyspace + ".t (a int, b int, c text, PRIMARY KEY (a, b))")
			for i := range 10 {
				run("INSERT INTO "+keyspace+".t (a, b, c) VALUES (?, ?, ?)", 1, i, "c")
			}
			batch := session.NewBatch(gocql.LoggedBatch)
			batch.Query("UPDATE "+keyspace+".t SET c = ? WHERE a = ? AND b = ?", "d", 1, 0)
			batch.Query("DELETE FROM "+keyspace+".t WHERE a = ? AND b = ?", 1, 9)
			if err := session.ExecuteBatch(batch); err != nil {
				t.Fatal(err)
			}
			iter := session.Query("SELECT b, c FROM "+keyspace+".t WHERE a = ?", 1).PageSize(4).Iter()
			n := 0
			for scan := iter.Scanner(); scan.Next(); n++ {
				var b int
				var c string
				if err := scan.Scan(&b, &c); err != nil {
					t.Fatal(err)
				}
				if want := map[bool]string{true: "d", false: "c"}[b == 0]; c != want {
					t.Errorf("row %d: %q, want %q", b, c, want)
				}
			}
			if err := iter.Close(); err != nil {
				t.Fatal(err)
			}
			if n != 9 {
				t.Errorf("%d rows, want 9", n)
			}
			await(t, func() bool { return schema.Load() > 0 })
			if rewriter.opaque.Load() != 0 {
				t.Error("a connection compresses")
			}
			text := "SELECT b, c FROM " + keyspace + ".t WHERE a = ?"
			// Pages may come over several connections, each of which tells of its own: when, and in which order, is not said.
			await(t, func() bool { return len(recorder.find(text)) == 3 })
			x := recorder.find(text)
			slices.SortFunc(x, func(a, b proxy.Exchange) int { return cmp.Compare(a.Start, b.Start) })
			if len(x) != 3 || x[0].Rows != 4 || !x[0].MorePages || x[0].Paged || !x[1].Paged || x[2].MorePages {
				t.Errorf("exchanges of the paged read: %+v", x)
			}
			if p := recorder.prepared(text); p == nil || len(p.Variables) != 1 || p.Variables[0].Name != "a" || len(p.PartitionKey) != 1 || len(p.Results) != 2 {
				t.Errorf("prepared: %+v", p)
			}
		})
	}
}

// TestIDsOfAnEarlierProxyArePreparedAgain: drivers keep prepared ids across reconnects; with rules in force a proxy that was
// restarted makes them prepare again, and the application notices nothing.
func TestIDsOfAnEarlierProxyArePreparedAgain(t *testing.T) {
	points := realCassandra(t)
	rewriter := &scripted{}
	rewriter.epoch.Store(1)
	first := startProxy(t, nil, proxy.Options{ContactPoints: points})
	await(t, first.Ready)
	cluster := gocql.NewCluster(first.Addrs()...)
	cluster.ProtoVersion = 4
	cluster.Timeout, cluster.ConnectTimeout = 20*time.Second, 20*time.Second
	cluster.ReconnectInterval = 100 * time.Millisecond
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	read := func() error {
		var key string
		return session.Query("SELECT key FROM system.local WHERE key = ?", "local").Scan(&key)
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	recorder := &tally{}
	startProxy(t, nil, proxy.Options{ContactPoints: points, Listen: first.Addrs()[0], Recorder: recorder, Rewriter: rewriter})
	await(t, func() bool { return read() == nil })
	await(t, func() bool { return len(recorder.find("SELECT key FROM system.local WHERE key = ?")) > 0 })
}

// TestVersion5AgainstCassandra exercises segments with the server that defines them, long answers included.
func TestVersion5AgainstCassandra(t *testing.T) {
	points := realCassandra(t)
	s := startProxy(t, nil, proxy.Options{ContactPoints: points, Recorder: &tally{}})
	await(t, s.Ready)
	c := connect(t, s, 5)
	keyspace := fmt.Sprintf("proxy_v5_%d", os.Getpid())
	call := func(text string, values ...[]byte) []byte {
		t.Helper()
		h, body, err := c.Call(wire.OpQuery, proxytest.QueryBody(5, text, values...))
		if err != nil || h.Opcode != wire.OpResult {
			t.Fatalf("%s: %+v %.200q %v", text, h, body, err)
		}
		return body
	}
	call("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	defer call("DROP KEYSPACE " + keyspace)
	call("CREATE TABLE " + keyspace + ".t (a int PRIMARY KEY, b blob)")
	for _, size := range []int{10, 100_000, 131_000, 400_000, 3_000_000} {
		call("INSERT INTO "+keyspace+".t (a, b) VALUES (1, ?)", make([]byte, size))
		if body := call("SELECT b FROM " + keyspace + ".t WHERE a = 1"); len(body) < size {
			t.Errorf("a blob of %d bytes came back in an answer of %d", size, len(body))
		}
	}
}

// TestCassandraAndProxyRefuseAlike compares what the proxy says to strange versions with what Cassandra says.
func TestCassandraAndProxyRefuseAlike(t *testing.T) {
	points := realCassandra(t)
	s := startProxy(t, nil, proxy.Options{ContactPoints: points})
	for _, frame := range [][]byte{{6, 0, 0, 7, 5, 0, 0, 0, 0}, {7, 0, 0, 7, 5, 0, 0, 0, 0}, {66, 0, 0, 7, 5, 0, 0, 0, 0}, []byte("GET / HTTP/1.0\r\n\r\n")} {
		var answers [2]string
		for i, address := range []string{points[0], s.Addrs()[0]} {
			c, err := proxytest.Dial(address, 4)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Conn.Write(frame); err != nil {
				t.Fatal(err)
			}
			h, body, err := c.Read()
			if err != nil {
				t.Fatal(err)
			}
			answers[i] = fmt.Sprintf("%+v %q", h, body)
			c.Close()
		}
		if answers[0] != answers[1] {
			t.Errorf("to % x Cassandra answers %s, the proxy %s", frame, answers[0], answers[1])
		}
	}
}

// TestTheKeyspaceIsKnown, as Cassandra takes it: from USE with and without quotes, from version 5's requests, and from the
// flag that it also obeys in version 4.
func TestTheKeyspaceIsKnown(t *testing.T) {
	points := realCassandra(t)
	for _, version := range []byte{4, 5} {
		recorder := &tally{}
		s := startProxy(t, nil, proxy.Options{ContactPoints: points, Recorder: recorder})
		c := connect(t, s, version)
		query := func(text string) {
			t.Helper()
			if h, body := call(t, c, wire.OpQuery, proxytest.QueryBody(version, text)); h.Opcode != wire.OpResult {
				t.Fatalf("%s: %q", text, body)
			}
		}
		names := []string{fmt.Sprintf("proxy_a%d_%d", version, os.Getpid()), fmt.Sprintf("Proxy_B%d_%d", version, os.Getpid())}
		for _, name := range names {
			query(`CREATE KEYSPACE "` + name + `" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
			defer query(`DROP KEYSPACE "` + name + `"`)
			query(`CREATE TABLE "` + name + `".t (a int PRIMARY KEY)`)
		}
		ids := make(map[string]bool)
		for i, name := range names {
			query(`USE "` + name + `"`)
			text := fmt.Sprintf("SELECT a FROM t WHERE a = %d", i)
			query(text)
			await(t, func() bool { return len(recorder.find(text)) == 1 })
			if got := recorder.at("", text).keyspace; got != name {
				t.Errorf("v%d: in use is %q, noticed %q", version, name, got)
			}
			_, body := call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, "INSERT INTO t (a) VALUES (?)"))
			r := wire.NewReader(body)
			r.Int()
			ids[string(r.String())] = true
		}
		if len(ids) != 2 {
			t.Errorf("v%d: one text in two keyspaces has one id", version)
		}
		query("USE " + names[0])
		text := "SELECT a FROM t WHERE a = 2"
		body := wire.AppendShort(wire.AppendLongString(nil, text), 1)
		if version >= 5 {
			body = append(body, 0, 0, 0)
		}
		body = wire.AppendString(append(body, byte(wire.ParamKeyspace)), names[1])
		_, answer := call(t, c, wire.OpQuery, body)
		if !strings.Contains(string(answer), names[1]) {
			t.Errorf("v%d: Cassandra does not obey the flag: %q", version, answer)
		}
		if got := recorder.at("", text).keyspace; got != names[1] {
			t.Errorf("v%d: noticed %q", version, got)
		}
	}
}

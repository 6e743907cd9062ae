package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// obeyed says a QUERY that has to succeed.
func obeyed(t *testing.T, c *proxytest.Client, text string) []byte {
	t.Helper()
	h, body := call(t, c, wire.OpQuery, proxytest.QueryBody(c.Version, text))
	if h.Opcode != wire.OpResult {
		t.Fatalf("%s was answered %q", text, body)
	}
	return body
}

// prepared is what a driver keeps of a statement.
type preparedHere struct{ id, metadata []byte }

// keep prepares a text, as a driver does.
func keep(t *testing.T, c *proxytest.Client, text string) (p preparedHere) {
	t.Helper()
	h, body := call(t, c, wire.OpPrepare, proxytest.PrepareBody(c.Version, text))
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags) // Cassandra warns of USE
	if kind := r.Int(); h.Opcode != wire.OpResult || kind != wire.ResultPrepared {
		t.Fatalf("PREPARE of %q was answered %q", text, body)
	}
	p.id = r.String()
	if c.Version >= 5 {
		p.metadata = r.String()
	}
	return p
}

// execute executes a kept statement with values.
func execute(t *testing.T, c *proxytest.Client, p preparedHere, values ...[]byte) (wire.Header, []byte) {
	t.Helper()
	b := wire.AppendString(nil, string(p.id))
	if c.Version >= 5 {
		b = wire.AppendString(b, string(p.metadata))
	}
	rest := proxytest.QueryBody(c.Version, "", values...)
	return call(t, c, wire.OpExecute, append(b, rest[4:]...))
}

// TestCassandraKeepsIDsOverRestarts, of the proxy and of the node: clients with ids from before execute them, and hardly any is told to
// prepare again. A rule's text is swapped in on the way, and a quoted keyspace is followed.
func TestCassandraKeepsIDsOverRestarts(t *testing.T) {
	realCassandra(t) // or skip
	long.Only(t, "a cluster of its own, restarted; the same is in memory beside it")
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cluster, err := cassandra.Start(ctx, cassandra.Options{Durable: true}) // else the node may lose what it prepared last
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	}()
	points := cluster.ContactPoints()
	for _, version := range []byte{4, 5} {
		w, recorder := &scripted{}, &tally{}
		s := startProxy(t, nil, proxy.Options{ContactPoints: points, Rewriter: w, Recorder: recorder})
		await(t, s.Ready)
		c := connect(t, s, version)
		ks := fmt.Sprintf(`"MyKs%d_%d"`, version, os.Getpid())
		obeyed(t, c, "CREATE KEYSPACE "+ks+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		obeyed(t, c, "USE "+ks)
		for _, table := range []string{"t", "u"} {
			obeyed(t, c, "CREATE TABLE "+table+" (a int PRIMARY KEY, b text)")
			obeyed(t, c, "INSERT INTO "+table+" (a, b) VALUES (1, 'in "+table+"')")
		}
		one := wire.AppendInt(nil, 1)
		const statements = 20
		var list []preparedHere
		for i := range statements {
			list = append(list, keep(t, c, fmt.Sprintf("SELECT a, b FROM t WHERE a = ? AND b = 'in t' LIMIT %d ALLOW FILTERING", i+1)))
		}
		text := "SELECT a, b FROM t WHERE a = ?"
		mine := keep(t, c, text)
		finds := func(c *proxytest.Client) string {
			t.Helper()
			h, body := execute(t, c, mine, one)
			switch {
			case h.Opcode != wire.OpResult:
				t.Fatalf("v%d: answered %q", version, body)
			case bytes.Contains(body, []byte("in t")):
				return "t"
			case bytes.Contains(body, []byte("in u")):
				return "u"
			}
			return ""
		}
		if got := finds(c); got != "t" {
			t.Errorf("v%d: found in %q", version, got)
		}
		if got := recorder.keyspaceOf(text); `"`+got+`"` != ks {
			t.Errorf("v%d: the keyspace is %q", version, got)
		}
		w.set(text, rule("SELECT a, b FROM u WHERE a = ?"))
		await(t, func() bool { return finds(c) == "u" })
		if again := keep(t, c, text); !bytes.Equal(again.id, mine.id) {
			t.Errorf("v%d: preparing again gave another id", version)
		}
		if finds(c) != "u" {
			t.Errorf("v%d: the rule is not followed", version)
		}
		s.Bypass(true)
		if finds(c) != "t" {
			t.Errorf("v%d: bypassed, the rule is followed", version)
		}
		s.Bypass(false)
		w.set(text, rule("SELECT b, a FROM u WHERE a = ?")) // would be misread
		for range 20 {
			if finds(c) != "t" {
				t.Errorf("v%d: a text that does not fit is run", version)
			}
		}
		await(t, func() bool { x := s.Rules(); return len(x) == 1 && x[0].Refused["columns"] == 1 })

		// Another proxy, as after a restart: nobody is told to prepare again.
		unprepared := func(s *proxy.Server) (n int) {
			for range 4 {
				c := connect(t, s, version)
				for _, p := range list {
					h, body := execute(t, c, p, one)
					if h.Opcode == wire.OpResult {
						continue
					}
					r := wire.NewReader(body)
					if code := r.Int(); code != wire.ErrUnprepared {
						t.Errorf("v%d: answered %q", version, body)
					}
					n++
				}
				c.Close()
			}
			return n
		}
		second := startProxy(t, nil, proxy.Options{ContactPoints: points, Rewriter: w, Recorder: recorder})
		if n := unprepared(second); n != 0 {
			t.Errorf("v%d: after a restart of the proxy %d executions were answered UNPREPARED", version, n)
		}
		t.Logf("v%d: the second proxy looked up %d statements", version, second.Stats().Resolved)

		// The node is killed and started: it has its ids, and so have we.
		if err := cluster.Node(0).Kill(); err != nil {
			t.Fatal(err)
		}
		await(t, func() bool { return !s.Ready() })
		if err := cluster.Node(0).Start(ctx); err != nil {
			t.Fatal(err)
		}
		for !s.Ready() && ctx.Err() == nil {
			time.Sleep(100 * time.Millisecond)
		}
		if n := unprepared(s); n != 0 {
			t.Errorf("v%d: after kill -9 and a restart of the node %d of %d executions were answered UNPREPARED", version, n, 4*statements)
		}
	}
}

package cassandra

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/long"
)

func startCluster(t *testing.T, opt Options) *Cluster {
	t.Helper()
	needCassandra(t)
	opt.Progress = func(line string) { t.Log(line) }
	c, err := Start(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func open(t *testing.T, n *Node) *gocql.Session {
	t.Helper()
	session, err := n.connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

func TestOneNodeSurvivesCrashAndStop(t *testing.T) {
	long.Only(t, "several nodes, or starts, take a minute")
	c := startCluster(t, Options{Durable: true})
	node := c.Node(0)
	address := node.Addr()
	first := open(t, node)
	for _, statement := range []string{
		"CREATE KEYSPACE crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE crash.t (k int PRIMARY KEY, v text)",
		"INSERT INTO crash.t (k, v) VALUES (1, 'flushed')",
	} {
		if err := first.Query(statement).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := c.Flush(context.Background(), "crash"); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(context.Background(), "nonesuch"); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("flushing an unknown keyspace: %v", err)
	}
	if err := first.Query("INSERT INTO crash.t (k, v) VALUES (2, 'logged')").Exec(); err != nil {
		t.Fatal(err)
	}
	first.Close()
	for name, end := range map[string]func() error{"crash": node.Kill, "stop": node.Stop} {
		pid := node.Pid()
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if died := node.Died(); died != nil {
			t.Errorf("%s: it is said to have died: %v", name, died)
		}
		if !gone(pid) || node.Pid() != 0 || len(c.Pids()) != 0 {
			t.Fatalf("%s: node %d still runs", name, pid)
		}
		if err := node.Start(context.Background()); err != nil {
			t.Fatalf("start after %s: %v", name, err)
		}
		if node.Addr() != address {
			t.Fatalf("start after %s: moved from %s to %s", name, address, node.Addr())
		}
		session := open(t, node)
		var rows int
		if err := session.Query("SELECT count(*) FROM crash.t").Scan(&rows); err != nil || rows != 2 {
			t.Errorf("start after %s: %d rows, %v; want 2", name, rows, err)
		}
		session.Close()
	}
	// Killed by somebody else it says so, with the end of its log.
	p := node.proc.Load()
	p.Kill()
	<-p.Done()
	if died := node.Died(); died == nil || !strings.Contains(died.Error(), "has died (signal: killed)") || !strings.Contains(died.Error(), "INFO") {
		t.Errorf("killed by somebody else: %v", died)
	}
	if err := node.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if died := node.Died(); died != nil {
		t.Errorf("started again: %v", died)
	}
	pids := c.Pids()
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		t.Errorf("the temporary directory is left: %v", err)
	}
}

func TestThreeNodes(t *testing.T) {
	long.Only(t, "several nodes, or starts, take a minute")
	c := startCluster(t, Options{Nodes: 3, Heap: "384m"})
	if len(c.Pids()) != 3 || len(c.ContactPoints()) != 3 {
		t.Fatalf("pids %v, contact points %v; want three each", c.Pids(), c.ContactPoints())
	}
	session := open(t, c.Node(0))
	for _, statement := range []string{
		"CREATE KEYSPACE k3 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
		"CREATE TABLE k3.t (k int PRIMARY KEY, v int)",
	} {
		if err := session.Query(statement).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := session.AwaitSchemaAgreement(context.Background()); err != nil {
		t.Fatal(err)
	}
	insert := func(k int) {
		t.Helper()
		for patience := 30; ; patience-- { // a node that is slow answers late; one that is not there is Unavailable
			err := session.Query("INSERT INTO k3.t (k, v) VALUES (?, 1)", k).Consistency(gocql.All).Exec()
			if late := (*gocql.RequestErrWriteTimeout)(nil); errors.As(err, &late) && patience > 0 {
				continue
			}
			if err != nil {
				t.Fatalf("writing key %d to all nodes: %v", k, err)
			}
			return
		}
	}
	insert(1)
	if err := c.Node(2).Kill(); err != nil {
		t.Fatal(err)
	}
	if len(c.Pids()) != 2 {
		t.Fatalf("pids %v after a crash, want two", c.Pids())
	}
	if err := c.Node(2).Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	insert(2) // the others see it alive at once, which is what Start waited for
}

func TestExtraSettingsReachTheNode(t *testing.T) {
	long.Only(t, "several nodes, or starts, take a minute")
	c := startCluster(t, Options{Extra: map[string]any{
		"authenticator": "PasswordAuthenticator", "authorizer": "CassandraAuthorizer", "role_manager": "CassandraRoleManager",
		"num_tokens": 16,
	}})
	session := open(t, c.Node(0)) // as Cassandra's first user
	var tokens []string
	if err := session.Query("SELECT tokens FROM system.local").Scan(&tokens); err != nil || len(tokens) != 16 {
		t.Errorf("%d tokens, %v; want 16", len(tokens), err)
	}
	stranger := &Node{addr: c.Node(0).addr, cluster: &Cluster{opt: Options{Username: "nobody", Password: "nothing"}}}
	if session, err := stranger.connect(); err == nil {
		session.Close()
		t.Error("a stranger was let in")
	}
}

func TestNodeJoinsAndLeaves(t *testing.T) {
	long.Only(t, "several nodes, or starts, take a minute")
	c := startCluster(t, Options{Heap: "384m", Host: "127.0.251.1"})
	session := open(t, c.Node(0))
	for _, statement := range []string{
		"CREATE KEYSPACE j WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE j.t (k int PRIMARY KEY)",
	} {
		if err := session.Query(statement).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const rows = 40
	for k := range rows {
		if err := session.Query("INSERT INTO j.t (k) VALUES (?)", k).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	count := func(n *Node) (found int) {
		t.Helper()
		if err := open(t, n).Query("SELECT count(*) FROM j.t").Scan(&found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	added, err := c.Add(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Nodes()) != 2 || added.Addr() == c.Node(0).Addr() || count(added) != rows {
		t.Fatalf("nodes %v after one joined, %d rows", c.ContactPoints(), count(added))
	}
	if err := c.Node(0).Decommission(context.Background()); err == nil {
		t.Error("the first node may leave")
	}
	if err := added.Decommission(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := count(c.Node(0)); len(c.Nodes()) != 1 || added.Pid() != 0 || got != rows {
		t.Errorf("nodes %v after one left, %d rows, want %d", c.ContactPoints(), got, rows)
	}
	if again, err := c.Add(context.Background()); err != nil || again.Addr() == added.Addr() { // whose address is still known as that of one who left
		t.Errorf("another joins: %v", err)
	}
}

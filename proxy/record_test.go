package proxy_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	apache "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy/proxytest/fault"
)

var again = flag.Bool("record", false, "record testdata/sessions anew from the Cassandra in HELENUS_TEST_CASSANDRA")

// said is one statement, with what it binds.
type said struct {
	text   string
	values []any
}

// conversation is what the recorded drivers say: schema, prepared writes, pages, a batch, a lightweight transaction, an error.
func conversation(keyspace string) (setup, list []said) {
	table := keyspace + ".t"
	setup = []said{
		{text: "CREATE KEYSPACE IF NOT EXISTS " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"},
		{text: "CREATE TABLE IF NOT EXISTS " + table + " (id int, n int, name text, tags set<text>, PRIMARY KEY (id, n))"},
	}
	for i := range 12 {
		list = append(list, said{"INSERT INTO " + table + " (id, n, name, tags) VALUES (?, ?, ?, ?)", []any{1, i, strings.Repeat("name ", 1+i), []string{"a", "b"}}})
	}
	return setup, append(list,
		said{"SELECT * FROM " + table + " WHERE id = ?", []any{1}},
		said{"SELECT name FROM " + table + " WHERE id = ? AND n > ?", []any{1, 3}},
		said{"UPDATE " + table + " SET name = ? WHERE id = ? AND n = ? IF name = ?", []any{"new", 1, 1, "old"}},
		said{"SELECT nothing FROM " + table, nil},
		said{"DELETE FROM " + table + " WHERE id = ?", []any{1}},
	)
}

// TestRecordSessions makes testdata/sessions: of every driver's connections the one that was used, as a tap between driver
// and Cassandra saw it. Connections that read system tables are left out: these answers are the proxy's to change.
func TestRecordSessions(t *testing.T) {
	if !*again {
		return // they are committed
	}
	points := realCassandra(t)
	for _, d := range []struct {
		name    string
		version int
		talk    func(address string, version int, list []said) error
	}{
		{"gocql-v3", 3, talkGocql}, {"gocql-v4", 4, talkGocql}, {"apache-v4", 4, talkApache}, {"apache-v5", 5, talkApache},
	} {
		var mu sync.Mutex
		sessions := make(map[int]session)
		relay, err := fault.Start(points[0], fault.Options{Tap: func(n int, way fault.Way, b []byte) {
			mu.Lock()
			defer mu.Unlock()
			sessions[n] = sessions[n].said(way, b)
		}})
		if err != nil {
			t.Fatal(err)
		}
		setup, list := conversation(strings.ReplaceAll(d.name, "-", "_"))
		if err := talkGocql(points[0], 4, setup); err != nil {
			t.Fatal(err)
		}
		if err := d.talk(relay.Addr, d.version, list); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		relay.Close()
		var best session
		for _, s := range sessions {
			if !bytes.Contains(s.all(fault.Up), []byte("system")) && len(s.all(fault.Down)) > len(best.all(fault.Down)) {
				best = s
			}
		}
		if err := os.MkdirAll("testdata/sessions", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/sessions/"+d.name+".session", best.encode(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes up, %d down, in %d chunks", d.name, len(best.all(fault.Up)), len(best.all(fault.Down)), len(best))
	}
}

func talkGocql(address string, version int, list []said) error {
	c := gocql.NewCluster(address)
	c.ProtoVersion, c.Timeout, c.ConnectTimeout, c.NumConns, c.PageSize = version, 20*time.Second, 20*time.Second, 1, 5
	c.DisableInitialHostLookup, c.Logger = true, quiet{}
	s, err := c.CreateSession()
	if err != nil {
		return err
	}
	defer s.Close()
	b, inserts := s.NewBatch(gocql.LoggedBatch), 0
	for _, q := range list {
		if err := s.Query(q.text, q.values...).Iter().Close(); (err != nil) != strings.Contains(q.text, "nothing") {
			return fmt.Errorf("%s: %w", q.text, err)
		}
		if strings.HasPrefix(q.text, "INSERT") {
			b.Query(q.text, q.values...)
			inserts++
		}
	}
	if inserts == 0 {
		return nil
	}
	return s.ExecuteBatch(b)
}

func talkApache(address string, version int, list []said) error {
	c := apache.NewCluster(address)
	c.ProtoVersion, c.Timeout, c.ConnectTimeout, c.NumConns, c.PageSize = version, 20*time.Second, 20*time.Second, 1, 5
	c.DisableInitialHostLookup = true
	s, err := c.CreateSession()
	if err != nil {
		return err
	}
	defer s.Close()
	b := s.Batch(apache.LoggedBatch)
	for _, q := range list {
		if err := s.Query(q.text, q.values...).Iter().Close(); (err != nil) != strings.Contains(q.text, "nothing") {
			return fmt.Errorf("%s: %w", q.text, err)
		}
		if strings.HasPrefix(q.text, "INSERT") {
			b.Query(q.text, q.values...)
		}
	}
	return b.Exec()
}

// quiet is a logger of gocql that says nothing.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

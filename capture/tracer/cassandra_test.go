package tracer_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/capturetest"
	"github.com/helenus-db/helenus/capture/tracer"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// TestRealTraffic: two real drivers speak through the real proxy to a real Cassandra. Conditional writes, their serial levels, warnings,
// pages, failures and callers are counted as they were; what is traced is a statement of the application with its own values, which
// Cassandra does not keep.
func TestRealTraffic(t *testing.T) {
	contact := cassandratest.ContactPoints(t)[0]
	ctx := context.Background()
	r := capture.New(capture.Options{Windows: window.Options{Off: true}})
	t.Cleanup(r.Close) // after the proxy
	address := capturetest.Proxy(t, contact, r)
	connect := func(at string, keyspace string) (*gocql.Session, error) {
		c := cassandratest.Config(t, at)
		c.Keyspace = keyspace
		return c.CreateSession()
	}
	session, err := connect(address, "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	run := func(text string, values ...any) {
		t.Helper()
		if err := session.Query(text, values...).Exec(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	run("CREATE KEYSPACE IF NOT EXISTS traced WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	run("DROP TABLE IF EXISTS traced.t")
	run("CREATE TABLE traced.t (id int, n int, note text, PRIMARY KEY (id, n))")
	for n := range 25 {
		run("INSERT INTO traced.t (id, n, note) VALUES (?, ?, ?)", 1, n, "note")
	}
	rows := session.Query("SELECT n FROM traced.t WHERE id = ?", 1).PageSize(10).Iter()
	read, n := 0, 0
	for rows.Scan(&n) {
		read++
	}
	if err := rows.Close(); err != nil || read != 25 {
		t.Fatalf("%d rows are read of 25, %v", read, err)
	}
	for i, want := range []bool{true, false} {
		applied, err := session.Query("INSERT INTO traced.t (id, n) VALUES (?, ?) IF NOT EXISTS", 2, 1).SerialConsistency(gocql.LocalSerial).MapScanCAS(map[string]any{})
		if err != nil || applied != want {
			t.Fatalf("conditional write %d: applied %v, %v", i, applied, err)
		}
	}
	batch := session.NewBatch(gocql.UnloggedBatch)
	for id := range 30 {
		batch.Query("INSERT INTO traced.t (id, n, note) VALUES (?, ?, ?)", 100+id, 1, strings.Repeat("x", 400))
	}
	if err := session.ExecuteBatch(batch); err != nil {
		t.Fatal(err)
	}

	c := apache.NewCluster("127.0.0.1")
	_, port, _ := net.SplitHostPort(address)
	c.Port, _ = strconv.Atoi(port)
	c.ProtoVersion, c.DisableInitialHostLookup, c.Timeout, c.ConnectTimeout = 5, true, time.Minute, time.Minute
	second, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for range 4 {
		if err := second.Query("SELECT note FROM traced.t WHERE id = ? AND n = ?", 1, 1).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Query("INSERT INTO traced.t (id, n, note) VALUES (5, 5, 'literal')").Exec(); err != nil {
		t.Fatal(err)
	}

	const inserted, inserts = "INSERT INTO traced.t (id, n, note) VALUES (?, ?, ?)", 25 + 30 + 1
	var s *capture.Snapshot
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // the last answer is with the client before it is counted
		s = r.Counts()
		if slices.ContainsFunc(s.Statements, func(x capture.Statement) bool { return x.Text == inserted && x.Count >= inserts }) || time.Now().After(deadline) {
			break
		}
	}
	find := func(text string) capture.Statement {
		t.Helper()
		for _, x := range s.Statements {
			if x.Text == text {
				return x
			}
		}
		t.Fatalf("%s is not among %d statements", text, len(s.Statements))
		return capture.Statement{}
	}
	insert := find(inserted)
	if insert.Count != inserts || insert.InBatch != 30 || len(insert.Callers) == 0 || insert.Callers[0].Count == 0 {
		t.Errorf("inserts: %d, %d of them in a batch, by %+v", insert.Count, insert.InBatch, insert.Callers)
	}
	if x := find("SELECT n FROM traced.t WHERE id = ?"); x.Count != 3 || x.MorePages != 2 || x.Paged != 2 || x.Rows.Sum != 25 {
		t.Errorf("pages: %+v", x)
	}
	if x := find("INSERT INTO traced.t (id, n) VALUES (?, ?) IF NOT EXISTS"); x.Applied != 1 || x.NotApplied != 1 || x.SerialConsistency.Of("LOCAL_SERIAL") != 2 {
		t.Errorf("conditional: applied %d, not %d, levels %v", x.Applied, x.NotApplied, x.SerialConsistency)
	}
	if x := find("BEGIN UNLOGGED BATCH INSERT INTO traced.t (id, n, note) VALUES (?, ?, ?); APPLY BATCH"); x.Count != 1 || x.Warnings.Of("batch_size") != 1 || x.Warnings.Of("batch_partitions") != 1 {
		t.Errorf("batch: %d executions, warnings %v", x.Count, x.Warnings)
	}

	asked := find("SELECT note FROM traced.t WHERE id = ? AND n = ?")
	if _, err := r.NextExecution(ctx, insert.Fingerprint); !errors.Is(err, capture.ErrNotARead) {
		t.Errorf("a write is traced: %v", err)
	}
	said := make(chan error, 1)
	go func() {
		time.Sleep(200 * time.Millisecond)
		said <- second.Query("SELECT note FROM traced.t WHERE id = ? AND n = ?", 1, 7).Exec()
	}()
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	e, err := r.NextExecution(waiting, asked.Fingerprint)
	if err != nil || len(e.Values) != 2 || string(e.Values[1].Bytes) != "\x00\x00\x00\x07" || <-said != nil {
		t.Fatalf("the execution is %+v, %v", e, err)
	}
	trace, err := tracer.Again(waiting, func(keyspace string) (*gocql.Session, error) { return connect(contact, keyspace) }, asked.Fingerprint, e)
	if err != nil {
		t.Fatal(err)
	}
	if trace.Rows != 1 || trace.Duration <= 0 || len(trace.Events) < 3 || trace.Kept != "" {
		t.Errorf("%+v", trace)
	}
	var sessions int
	for range 600 { // Cassandra writes and deletes on its own time
		sessions = session.Query("SELECT session_id FROM system_traces.sessions").Iter().NumRows()
		if sessions == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if sessions != 0 {
		t.Errorf("Cassandra keeps %d traces, with the values", sessions)
	}
	if r.Sampling(nil) {
		t.Error("values are still copied")
	}
}

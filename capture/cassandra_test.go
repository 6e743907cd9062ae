package capture

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
)

// TestHotelThroughTheProxy: a real application (gocql) speaks through the real proxy to a real Cassandra, and the registry finds its
// statements and its N+1 join.
func TestHotelThroughTheProxy(t *testing.T) {
	contact := os.Getenv("HELENUS_TEST_CASSANDRA")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA names no contact point (make test sets it)")
	}
	ctx := context.Background()
	r := New(Options{})
	defer r.Close()
	server, err := proxy.New(proxy.Options{ContactPoints: []string{contact}, Listen: "127.0.0.1:0", Recorder: r})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	}()
	for deadline := time.Now().Add(30 * time.Second); !server.Ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the proxy is not ready after 30 s")
		}
	}
	host, port, err := net.SplitHostPort(server.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	cluster := gocql.NewCluster(host)
	cluster.Port, _ = strconv.Atoi(port)
	cluster.Timeout, cluster.ConnectTimeout = 30*time.Second, 30*time.Second
	session, err := cluster.CreateSession()
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
	keyspace := fmt.Sprintf("capture_test_%d_%d", os.Getpid(), time.Now().UnixNano())
	run(`CREATE KEYSPACE ` + keyspace + ` WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
	defer func() { run(`DROP KEYSPACE ` + keyspace) }()
	run(`CREATE TABLE ` + keyspace + `.reservations (room int, day int, guest uuid, PRIMARY KEY (room, day))`)
	run(`CREATE TABLE ` + keyspace + `.guests (guest uuid PRIMARY KEY, name text)`)
	const rooms, days, guests = 40, 4, 50
	var ids []gocql.UUID
	for i := range guests {
		id := gocql.TimeUUID()
		ids = append(ids, id)
		run(`INSERT INTO `+keyspace+`.guests (guest, name) VALUES (?, ?)`, id, fmt.Sprint("guest ", i))
	}
	for room := range rooms {
		b := session.NewBatch(gocql.UnloggedBatch)
		for day := range days {
			b.Query(`INSERT INTO `+keyspace+`.reservations (room, day, guest) VALUES (?, ?, ?)`, room, day, ids[(room*days+day*7)%guests])
		}
		if err := session.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	var found []feed.Feed
	pages := 0
	for deadline := time.Now().Add(60 * time.Second); len(found) == 0 && time.Now().Before(deadline); {
		for range 20 {
			pages++
			var guest gocql.UUID
			iter := session.Query(`SELECT guest FROM `+keyspace+`.reservations WHERE room = ?`, pages*7%rooms).Iter()
			var list []gocql.UUID
			for iter.Scan(&guest) {
				list = append(list, guest)
			}
			if err := iter.Close(); err != nil {
				t.Fatal(err)
			}
			for _, guest := range list {
				var name string
				if err := session.Query(`SELECT name FROM `+keyspace+`.guests WHERE guest = ?`, guest).Scan(&name); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(5 * time.Millisecond) // an application that never pauses has finished before decoys are old enough
		}
		found = r.Windows().Feeds()
	}
	s := r.Snapshot()
	if len(s.Feeds) != 1 {
		t.Fatalf("feeds after %d pages: %+v", pages, s.Feeds)
	}
	f := s.Feeds[0]
	if f.From.Table != "reservations" || f.From.Column != "guest" || f.To.Table != "guests" || f.To.Column != "guest" || f.Shape != feed.NPlusOne ||
		f.PerExecution < 2 || f.PerExecution > days || f.SupportRead || f.Decoys > f.Hits/2 {
		t.Errorf("feed: %+v", f)
	}
	live, err := schema.Read(ctx, session, keyspace)
	if err != nil {
		t.Fatal(err)
	}
	from, to := s.Statement(f.From.Fingerprint), s.Statement(f.To.Fingerprint)
	if from.Count != uint64(pages) || to.Count != uint64(pages*days) || from.Rows.Sum != uint64(pages*days) {
		t.Errorf("%d pages: counted %d and %d executions, %d rows", pages, from.Count, to.Count, from.Rows.Sum)
	}
	for st, want := range map[*Statement]schema.Class{from: schema.Partition, to: schema.Row} {
		parsed, err := st.Parse()
		if err != nil {
			t.Fatalf("%s: %v", st.Text, err)
		}
		if got := schema.Classify(parsed, live, st.Keyspace); got.Class != want {
			t.Errorf("%s is classified as %s", st.Text, got.Class)
		}
		if st.Keyspace != keyspace || len(st.Variables) != 1 || len(st.Results) != 1 || st.Latency.P50() <= 0 || st.Errors != 0 {
			t.Errorf("statement: %+v", st)
		}
	}
	batches, children := uint64(0), uint64(0)
	for _, st := range s.Statements {
		if st.Keyspace == keyspace && st.Kind == "batch" {
			batches += st.Count
		}
		if st.Keyspace == keyspace && st.Kind == "insert" {
			children += st.InBatch
		}
	}
	if batches != rooms || children != rooms*days {
		t.Errorf("%d batches with %d children, want %d with %d", batches, children, rooms, rooms*days)
	}
}

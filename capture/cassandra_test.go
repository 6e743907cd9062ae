package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/capturetest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// TestHotelThroughTheProxy: a real application (gocql) speaks through the real proxy to a real Cassandra, and the registry finds its
// statements and its N+1 join.
func TestHotelThroughTheProxy(t *testing.T) {
	contact := cassandratest.ContactPoints(t)[0]
	ctx := context.Background()
	direct, keyspace := cassandratest.Keyspace(t)
	r := New(Options{})
	t.Cleanup(r.Close) // after the proxy
	session, err := cassandratest.Config(t, capturetest.Proxy(t, contact, r)).CreateSession()
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
	for deadline := time.Now().Add(4 * time.Minute); len(found) == 0 && time.Now().Before(deadline); {
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
	var s *Snapshot
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // the last answer is with the client before it is counted
		s = r.Snapshot()
		if len(s.Feeds) != 1 || s.Statement(s.Feeds[0].To.Fingerprint).Count >= uint64(pages*days) || time.Now().After(deadline) {
			break
		}
	}
	if len(s.Feeds) != 1 {
		t.Fatalf("feeds after %d pages: %+v", pages, s.Feeds)
	}
	f := s.Feeds[0]
	if f.From.Table != "reservations" || f.From.Column != "guest" || f.To.Table != "guests" || f.To.Column != "guest" || f.Shape != feed.NPlusOne ||
		f.PerExecution < 2 || f.PerExecution > days || f.SupportRead || f.Decoys > f.Hits/2 {
		t.Errorf("feed: %+v", f)
	}
	live, err := schema.Read(ctx, direct, keyspace)
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

// TestHabitsThroughTheProxy: what the application does with what it read, seen in real traffic: an account is read and written back, a name is
// taken if nobody has it, and of an order's lines those are looked at that are open. And the values of a QUERY that is not prepared: their types are
// told by the schema.
func TestHabitsThroughTheProxy(t *testing.T) {
	contact := cassandratest.ContactPoints(t)[0]
	direct, keyspace := cassandratest.Keyspace(t)
	for _, table := range []string{"accounts (id int PRIMARY KEY, balance int)", "names (name text PRIMARY KEY, since int)", "lines (buyer int, item int, state int, PRIMARY KEY (buyer, item))",
		"items (id int PRIMARY KEY, title text)", "asked (id int PRIMARY KEY, v text)"} {
		if err := direct.Query("CREATE TABLE " + table).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	const buyers, lines = 40, 5
	for b := range buyers {
		for l := range lines {
			if err := direct.Query("INSERT INTO lines (buyer, item, state) VALUES (?, ?, ?)", b, 1000+b*lines+l, (b+l)%3).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if err := direct.Query("INSERT INTO accounts (id, balance) VALUES (?, ?)", b, 7_000_000+b).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	live := schema.NewLive(func() (*gocql.Session, error) { return direct, nil }, nil, "")
	if _, err := live.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := New(Options{Windows: window.Options{Schema: live.Schema}})
	t.Cleanup(r.Close) // after the proxy
	address := capturetest.Proxy(t, contact, r)
	cluster := cassandratest.Config(t, address)
	cluster.Keyspace = keyspace
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
	var s *Snapshot
	n := 0
	for deadline := time.Now().Add(4 * time.Minute); time.Now().Before(deadline); {
		for range 30 {
			n++
			var balance int
			if err := session.Query("SELECT balance FROM accounts WHERE id = ?", n*7%buyers).Scan(&balance); err != nil {
				t.Fatal(err)
			}
			run("UPDATE accounts SET balance = ? WHERE id = ?", balance+n, n*7%buyers)
			name, since := fmt.Sprint("name ", n*n%97, " ", n/3), 0
			if err := session.Query("SELECT since FROM names WHERE name = ?", name).Scan(&since); errors.Is(err, gocql.ErrNotFound) {
				run("INSERT INTO names (name, since) VALUES (?, ?)", name, n)
			} else if err != nil {
				t.Fatal(err)
			}
			if n%2 == 0 { // so that half of the names are taken
				if err := session.Query("SELECT since FROM names WHERE name = ?", name).Scan(&since); err != nil {
					t.Fatal(err)
				}
			}
			iter := session.Query("SELECT item, state FROM lines WHERE buyer = ?", n*11%buyers).Iter()
			var item, state int
			var open []int
			for iter.Scan(&item, &state) {
				if state == 1 {
					open = append(open, item)
				}
			}
			if err := iter.Close(); err != nil {
				t.Fatal(err)
			}
			for _, item := range open {
				run("SELECT title FROM items WHERE id = ?", item)
			}
			time.Sleep(5 * time.Millisecond)
		}
		if s = r.Snapshot(); len(s.Echoes) >= 2 && len(s.Feeds) >= 1 && s.Feeds[0].Use == feed.UseBy {
			break
		}
	}
	var got []string
	for _, f := range s.Flows() {
		one := fmt.Sprintf("%s.%s -> %s.%s %s %s%s", f.From.Table, f.From.Column, f.To.Table, f.To.Column, f.Shape, f.Use, f.By)
		if f.Outcome != nil {
			one += f.Outcome.When
		}
		if f.Change != nil {
			one += fmt.Sprint(f.Change.Columns)
		}
		got = append(got, fmt.Sprint(one, " race ", f.Race))
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{
		"accounts.id -> accounts.id read-modify-write [balance] race true", "lines.item -> items.id n+1 subsetstate race false", "names.name -> names.name check no row race true",
	}, got); d != "" {
		t.Errorf("after %d rounds: %s", n, d)
	}

	ask(t, address, keyspace, "SELECT v FROM asked WHERE id = ?", 40)
	var looked profile.Column
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		// The last answer is with the client before it is with the recorder.
		if looked = column(r, "asked", "id"); looked.Classes["integer"] == 40 {
			break
		}
	}
	if looked.Classes["integer"] != 40 || looked.Distinct != 40 {
		t.Errorf("values of unprepared queries: %+v", looked)
	}
}

// column is what the newest epoch knows of a column, the zero value if nothing.
func column(r *Registry, table, name string) (found profile.Column) {
	for _, e := range r.Snapshot().Profiles.Epochs {
		for _, c := range e.Columns {
			if c.Table == table && c.Name == name {
				found = c
			}
		}
	}
	return found
}

// ask sends a text n times, with an int bound and not prepared, as drivers do that do not prepare everything.
func ask(t *testing.T, address, keyspace, text string, n int) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // all was said
	say := func(opcode byte, body []byte) {
		t.Helper()
		frame := append([]byte{4, 0, 0, 1, opcode}, binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
		if _, err := c.Write(append(frame, body...)); err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 9)
		if _, err := io.ReadFull(c, head); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, binary.BigEndian.Uint32(head[5:]))
		if _, err := io.ReadFull(c, answer); err != nil || head[4] == 0 {
			t.Fatalf("opcode %d: %q, %v", opcode, answer, err)
		}
	}
	long := func(text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	say(1, []byte("\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0"))
	say(7, append(long("USE "+keyspace), 0, 1, 0))
	for i := range n {
		say(7, append(append(long(text), 0, 1, 1, 0, 1, 0, 0, 0, 4), binary.BigEndian.AppendUint32(nil, uint32(i))...))
	}
}

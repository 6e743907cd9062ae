package schema

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/google/go-cmp/cmp"
)

// connect opens a session to the test cluster and makes a keyspace of its own, which is dropped at the end.
func connect(t *testing.T) (*gocql.Session, string) {
	contact := os.Getenv("HELENUS_TEST_CASSANDRA")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA names no contact point (make test sets it)")
	}
	host, port, err := net.SplitHostPort(contact)
	if err != nil {
		t.Fatal(err)
	}
	cluster := gocql.NewCluster(host)
	if cluster.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	cluster.Timeout, cluster.ConnectTimeout = 30*time.Second, 30*time.Second
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	keyspace := fmt.Sprintf("schema_test_%d_%d", os.Getpid(), time.Now().UnixNano())
	run(t, session, `CREATE KEYSPACE `+keyspace+` WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
	t.Cleanup(func() {
		run(t, session, `DROP KEYSPACE `+keyspace)
		session.Close()
	})
	return session, keyspace
}

func run(t *testing.T, session *gocql.Session, text string, values ...any) {
	t.Helper()
	if err := session.Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestReadFromCassandra(t *testing.T) {
	session, keyspace := connect(t)
	ctx := context.Background()
	run(t, session, `CREATE TABLE `+keyspace+`.rooms (hotel_id uuid, "Wing" text, room_id int, floor int static, tags map<text, frozen<list<int>>>, rate int,
		PRIMARY KEY ((hotel_id, "Wing"), room_id)) WITH CLUSTERING ORDER BY (room_id DESC) AND default_time_to_live = 77 AND comment = 'rooms'`)
	run(t, session, `CREATE INDEX rooms_by_rate ON `+keyspace+`.rooms (rate)`)
	run(t, session, `CREATE CUSTOM INDEX rooms_by_floor ON `+keyspace+`.rooms (floor) USING 'StorageAttachedIndex'`)
	run(t, session, `CREATE INDEX rooms_by_tag ON `+keyspace+`.rooms (keys(tags))`)
	run(t, session, `CREATE TABLE `+keyspace+`.visits (id int PRIMARY KEY, n counter)`)

	s, err := Read(ctx, session)
	if err != nil {
		t.Fatal(err)
	}
	k := s.Keyspace(keyspace)
	if k == nil || s.Keyspace("system") != nil || s.Keyspace("system_schema") != nil {
		t.Fatalf("keyspaces: %+v", s.Keyspaces)
	}
	only, err := Read(ctx, session, keyspace)
	if err != nil || len(only.Keyspaces) != 1 {
		t.Fatalf("read one keyspace: %v, %v", only, err)
	}
	if d := cmp.Diff(k, only.Keyspace(keyspace)); d != "" {
		t.Error(d)
	}
	rooms := k.Table("rooms")
	if rooms == nil || rooms.ID == "" {
		t.Fatalf("tables: %+v", k.Tables)
	}
	class := map[string]string{"class_name": "StorageAttachedIndex", "target": "floor"}
	want := &Table{Keyspace: keyspace, Name: "rooms", ID: rooms.ID, DefaultTTL: 77, GCGrace: 864000, ReadRepair: "BLOCKING", Comment: "rooms", Flags: []string{"compound"},
		Columns: []Column{
			{"hotel_id", PartitionKey, 0, "uuid", false, false}, {"Wing", PartitionKey, 1, "text", false, false}, {"room_id", Clustering, 0, "int", true, false},
			{"floor", Static, -1, "int", false, false}, {"rate", Regular, -1, "int", false, false}, {"tags", Regular, -1, "map<text, frozen<list<int>>>", false, false},
		},
		Indexes: []Index{
			{"rooms_by_floor", "CUSTOM", "floor", "values", class},
			{"rooms_by_rate", "COMPOSITES", "rate", "values", map[string]string{"target": "rate"}},
			{"rooms_by_tag", "COMPOSITES", "tags", "keys", map[string]string{"target": "keys(tags)"}},
		}}
	if d := cmp.Diff(want, rooms); d != "" {
		t.Error(d)
	}
	if v := k.Table("visits"); v == nil || !v.Counter {
		t.Errorf("counter table: %+v", v)
	}

	before := rooms.Digest()
	run(t, session, `ALTER TABLE `+keyspace+`.rooms ADD note text`)
	after, err := Read(ctx, session, keyspace)
	if err != nil {
		t.Fatal(err)
	}
	if after.Table(keyspace, "rooms").Digest() == before {
		t.Error("a new column does not show in the digest")
	}
}

// TestReadViews: a view is apart from tables, with its own key, and the columns and names of its table.
func TestReadViews(t *testing.T) {
	session, keyspace := connect(t)
	run(t, session, `CREATE TABLE `+keyspace+`.guests (id uuid, day int, "Name" text, PRIMARY KEY (id, day))`)
	const view = `CREATE MATERIALIZED VIEW %s.%s AS SELECT * FROM %[1]s.guests WHERE "Name" IS NOT NULL AND id IS NOT NULL AND day %[3]s PRIMARY KEY ("Name", id, day) WITH CLUSTERING ORDER BY (id DESC, day ASC)`
	run(t, session, fmt.Sprintf(view, keyspace, "by_name", "IS NOT NULL"))
	run(t, session, fmt.Sprintf(view, keyspace, "later", "> 3"))
	s, err := Read(context.Background(), session, keyspace)
	if err != nil {
		t.Fatal(err)
	}
	k := s.Keyspace(keyspace)
	if len(k.Tables) != 1 || len(k.Views) != 2 || s.Table(keyspace, "by_name") != nil || s.View(keyspace, "guests") != nil {
		t.Fatalf("tables %+v, views %+v", k.Tables, k.Views)
	}
	whole, some := s.View(keyspace, "by_name"), s.View(keyspace, "later")
	if whole.Of != "guests" || whole.Partial || whole.ID == "" || len(whole.Columns) != 3 || whole.PartitionKey()[0].Name != "Name" {
		t.Errorf("%+v", whole)
	}
	if some.Of != "guests" || !some.Partial || !some.ClusteringKey()[0].Descending {
		t.Errorf("%+v", some)
	}
}

// TestReadCode: types, functions, aggregates. A server that allows no functions has none to read.
func TestReadCode(t *testing.T) {
	session, keyspace := connect(t)
	ctx := context.Background()
	run(t, session, `CREATE TYPE `+keyspace+`.street (name text, "No" int)`)
	run(t, session, `CREATE TYPE `+keyspace+`.address (street frozen<street>, tags set<text>)`)
	run(t, session, `CREATE TABLE `+keyspace+`.guests (id uuid PRIMARY KEY, home frozen<address>)`)
	allowed := true
	if err := session.Query(`CREATE FUNCTION ` + keyspace + `.plus (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + b;'`).Exec(); err != nil {
		t.Logf("functions are switched off: %v", err)
		allowed = false
	} else {
		run(t, session, `CREATE AGGREGATE `+keyspace+`.total (int) SFUNC plus STYPE int INITCOND 0`)
	}
	s, err := Read(ctx, session, keyspace)
	if err != nil {
		t.Fatal(err)
	}
	k := s.Keyspace(keyspace)
	want := []UserType{{"address", []Field{{"street", "frozen<street>"}, {"tags", "set<text>"}}}, {"street", []Field{{"name", "text"}, {"No", "int"}}}}
	if d := cmp.Diff(want, k.Types); d != "" {
		t.Error(d)
	}
	if k.Type("street") == nil || k.Type("none") != nil || (*Keyspace)(nil).Type("street") != nil {
		t.Error("types are not found by name")
	}
	var functions []Function
	if allowed {
		functions = []Function{{Name: "plus", Arguments: []string{"int", "int"}, Returns: "int", Language: "java"},
			{Name: "total", Arguments: []string{"int"}, Returns: "int", Aggregate: true, State: "plus"}}
	}
	if d := cmp.Diff(functions, k.Functions); d != "" {
		t.Error(d)
	}
	run(t, session, `ALTER TYPE `+keyspace+`.street ADD floor int`)
	if s, err = Read(ctx, session, keyspace); err != nil || len(s.Keyspace(keyspace).Type("street").Fields) != 3 {
		t.Errorf("after ALTER TYPE: %+v, %v", s, err)
	}
}

// TestLiveFollowsChanges: what is dropped and made again under its name is another table, with another digest, and so is one that is altered; what is
// refreshed while a keyspace comes and goes is right in the end.
func TestLiveFollowsChanges(t *testing.T) {
	session, keyspace := connect(t)
	ctx := context.Background()
	live := NewLive(func() (*gocql.Session, error) { return session, nil }, []string{keyspace}, "")
	read := func() *Table {
		t.Helper()
		s, err := live.Refresh(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if s != live.Schema() || live.Advisable().Keyspace(keyspace) == nil {
			t.Fatal("what was read is not what is there")
		}
		return s.Table(keyspace, "t")
	}
	if read() != nil {
		t.Error("a table that was not made is there")
	}
	run(t, session, `CREATE TABLE `+keyspace+`.t (k int PRIMARY KEY, v text)`)
	first := read()
	run(t, session, `DROP TABLE `+keyspace+`.t`)
	if read() != nil {
		t.Error("a table that was dropped is there")
	}
	run(t, session, `CREATE TABLE `+keyspace+`.t (k int PRIMARY KEY, v text)`)
	second := read()
	if first.ID == second.ID || first.Digest() == second.Digest() || cmp.Diff(first.Columns, second.Columns) != "" {
		t.Errorf("made again under its name it is the same table: %s, %s", first.ID, second.ID)
	}
	run(t, session, `DROP TABLE `+keyspace+`.t`)
	run(t, session, `CREATE TABLE `+keyspace+`.t (k text, v int, PRIMARY KEY (k, v))`)
	if third := read(); third.ID == second.ID || third.Column("k").Type != "text" || third.Column("v").Kind != Clustering {
		t.Errorf("made again with other types: %+v", third)
	}
	run(t, session, `ALTER TABLE `+keyspace+`.t ADD w int`)
	fourth := read()
	run(t, session, `ALTER TABLE `+keyspace+`.t DROP w`)
	run(t, session, `ALTER TABLE `+keyspace+`.t ADD w int`)
	if fifth := read(); fourth.ID != fifth.ID || fourth.Column("w") == nil || fifth.Column("w") == nil {
		t.Errorf("altered: %+v, %+v", fourth, fifth)
	}
}

func TestMeasureOnCassandra(t *testing.T) {
	session, keyspace := connect(t)
	ctx := context.Background()
	run(t, session, `CREATE TABLE `+keyspace+`.empty (a int PRIMARY KEY, b text)`)
	run(t, session, `CREATE TABLE `+keyspace+`.small (room int, day int, id uuid, guest int, pair frozen<tuple<int, int>>, note text, PRIMARY KEY ((room), day, id))`)
	run(t, session, `CREATE TABLE `+keyspace+`.large (room int, day int, guest int, PRIMARY KEY ((room), day))`)
	for i := range 60 {
		run(t, session, `INSERT INTO `+keyspace+`.small (room, day, id, guest, pair) VALUES (?, ?, uuid(), ?, (1, 2))`, i%6, i, i%10)
	}
	const rooms, days = 3000, 10
	for i := range rooms {
		b := session.NewBatch(gocql.UnloggedBatch)
		for day := range days {
			b.Query(`INSERT INTO `+keyspace+`.large (room, day, guest) VALUES (?, ?, ?)`, i, day, (i*days+day)%7)
		}
		if err := session.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Read(ctx, session, keyspace)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := MeasureAll(ctx, session, s)
	if err != nil || len(stats) != 3 {
		t.Fatalf("%v, %v", stats, err)
	}
	empty, large, small := stats[0], stats[1], stats[2]
	if empty.Rows != 0 || !empty.Exact || empty.RowsPer("b") != 0 {
		t.Errorf("empty: %+v", empty)
	}
	if small.Rows != 60 || small.Partitions != 6 || !small.Exact || small.Column("guest").Distinct != 10 || small.RowsPer("guest") != 6 ||
		small.Column("id").Distinct != 60 || small.Column("note").Nulls != 1 || small.Column("pair") != nil || small.MeanRowBytes != 28 {
		t.Errorf("small: %+v", small)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > want/5 {
			t.Errorf("%s: %v, want %v within a fifth", what, got, want)
		}
	}
	near("rows", large.Rows, rooms*days)
	near("partitions", large.Partitions, rooms)
	near("rooms", large.Column("room").Distinct, rooms)
	near("guests", large.Column("guest").Distinct, 7)
	near("rows a guest", large.RowsPer("guest"), rooms*days/7)
	if large.Exact || large.Sampled > probes*probeRows {
		t.Errorf("large was sampled with %d rows, exact %t", large.Sampled, large.Exact)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Measure(cancelled, session, s.Table(keyspace, "large")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled measurement: %v", err)
	}
}

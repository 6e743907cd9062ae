package infer_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

func single(keyspace string, tables ...schema.Table) *schema.Schema {
	for i := range tables { // Schema.Table searches by name
		for j := i; j > 0 && tables[j].Name < tables[j-1].Name; j-- {
			tables[j], tables[j-1] = tables[j-1], tables[j]
		}
	}
	return &schema.Schema{Keyspaces: []schema.Keyspace{{Name: keyspace, Tables: tables}}}
}

func inferred(t *testing.T, traffic *infertest.Traffic, s *schema.Schema, stats ...schema.Stats) *infer.Model {
	t.Helper()
	snapshot := traffic.Snapshot()
	m, err := infer.Infer(snapshot, s, stats)
	if err != nil {
		t.Fatal(err)
	}
	conserved(t, m, snapshot)
	return m
}

func entity(m *infer.Model, name string) *infer.Entity {
	for i := range m.Entities {
		if m.Entities[i].Name == name {
			return &m.Entities[i]
		}
	}
	return nil
}

func TestEntities(t *testing.T) {
	counter := infertest.Table("ks", "page_views", "page_id uuid", "", "views counter")
	counter.Counter = true
	ours := infertest.Table("ks", "helenus_users_by_email", "email text", "user_id uuid", "written boolean")
	ours.Comment = "helenus r-123456"
	tests := []struct {
		name   string
		tables []schema.Table
		stats  []schema.Stats
		want   string // entity
		key    string
		tabled string
		also   string // alternate keys
		none   string // entity that must not be there
	}{
		{name: "the key named after the table is the entity's", tables: []schema.Table{infertest.Table("ks", "rooms", "hotel_id uuid", "room_id uuid", "number text")},
			want: "Room", key: "room_id", tabled: "ks.rooms"},
		{name: "E6 a number within its parent needs the whole key", tables: []schema.Table{infertest.Table("ks", "rooms", "hotel_id uuid", "number int", "rate double")},
			want: "Room", key: "hotel_id number", tabled: "ks.rooms"},
		{name: "values that repeat speak against the name", tables: []schema.Table{infertest.Table("ks", "rooms", "hotel_id uuid", "room_id int", "rate double")},
			stats: []schema.Stats{infertest.Measured("ks", "rooms", 8000, 400, "room_id 20 4", "hotel_id 400 16")},
			want:  "Room", key: "hotel_id room_id", tabled: "ks.rooms"},
		{name: "another table of the same entity is no entity", tables: []schema.Table{
			infertest.Table("ks", "videos", "video_id uuid", "", "title text", "tag text"), infertest.Table("ks", "videos_by_tag", "tag text", "video_id uuid", "title text")},
			want: "Video", key: "video_id", tabled: "ks.videos ks.videos_by_tag", none: "VideosByTag"},
		{name: "E2 a table keyed by one other column shows an alternate key", tables: []schema.Table{
			infertest.Table("ks", "users", "user_id uuid", "", "email text"), infertest.Table("ks", "users_by_email", "email text", "", "user_id uuid")},
			want: "User", key: "user_id", tabled: "ks.users ks.users_by_email", also: "email"},
		{name: "E10 counters are attributes of what they count", tables: []schema.Table{counter, infertest.Table("ks", "pages", "page_id uuid", "", "url text")}, want: "Page", key: "page_id", tabled: "ks.pages ks.page_views", none: "PageView"},
		{name: "our own tables are left out", tables: []schema.Table{ours, infertest.Table("ks", "users", "user_id uuid", "", "email text")}, want: "User", key: "user_id", tabled: "ks.users", none: "HelenusUser"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := inferred(t, &infertest.Traffic{Keyspace: "ks", Seconds: 10}, single("ks", tt.tables...), tt.stats...)
			e := entity(m, tt.want)
			if e == nil {
				t.Fatalf("no entity %s in %+v", tt.want, m.Entities)
			}
			if got := strings.Join(e.Key, " "); got != tt.key {
				t.Errorf("key %s, want %s", got, tt.key)
			}
			if got := strings.Join(e.Tables, " "); got != tt.tabled {
				t.Errorf("tables %s, want %s", got, tt.tabled)
			}
			if got := strings.Join(e.Alternate, " "); got != tt.also {
				t.Errorf("alternate keys %q, want %q", got, tt.also)
			}
			if tt.none != "" && entity(m, tt.none) != nil {
				t.Errorf("%s is an entity", tt.none)
			}
		})
	}
}

func TestRelationships(t *testing.T) {
	users := infertest.Table("ks", "users", "user_id uuid", "", "name text")
	tests := []struct {
		name   string
		tables []schema.Table
		stats  []schema.Stats
		want   string // "name From.forward -> To.backward kind", or "" for none
		least  float64
		most   float64
	}{
		{name: "E3 equal names and types", tables: []schema.Table{users, infertest.Table("ks", "orders", "order_id uuid", "", "user_id uuid")},
			want: "order_user Order.user -> User.orders n:1", least: 0.85, most: 0.95},
		{name: "noun_id against id", tables: []schema.Table{infertest.Table("ks", "users", "id uuid", "", "name text"), infertest.Table("ks", "orders", "id uuid", "", "user_id uuid")},
			want: "order_user Order.user -> User.orders n:1", least: 0.8, most: 0.95},
		{name: "other types never", tables: []schema.Table{users, infertest.Table("ks", "orders", "order_id uuid", "", "user_id bigint")}},
		{name: "equal types alone are not enough", tables: []schema.Table{users, infertest.Table("ks", "orders", "order_id uuid", "", "token uuid")}},
		{name: "more values than keys speak against it", tables: []schema.Table{users, infertest.Table("ks", "orders", "order_id uuid", "", "user_id uuid")},
			stats: []schema.Stats{infertest.Measured("ks", "users", 100, 100, "user_id 100 16"), infertest.Measured("ks", "orders", 5000, 5000, "user_id 4000 16")}},
		{name: "each value once is 1:1", tables: []schema.Table{users, infertest.Table("ks", "accounts", "account_id uuid", "", "user_id uuid")},
			stats: []schema.Stats{infertest.Measured("ks", "users", 1000, 1000, "user_id 1000 16"), infertest.Measured("ks", "accounts", 900, 900, "user_id 900 16")},
			want:  "account_user Account.user -> User.accounts 1:1", least: 0.9, most: 0.95},
		{name: "E4 a table of pairs is m:n", tables: []schema.Table{users, infertest.Table("ks", "groups", "group_id uuid", "", "title text"), infertest.Table("ks", "memberships", "user_id uuid", "group_id uuid")},
			want: "memberships User.groups -> Group.users m:n", least: 0.85, most: 0.95},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := inferred(t, &infertest.Traffic{Keyspace: "ks", Seconds: 10}, single("ks", tt.tables...), tt.stats...)
			got := ""
			if len(m.Relationships) > 1 {
				t.Fatalf("%d relationships", len(m.Relationships))
			}
			for _, r := range m.Relationships {
				got = r.Name + " " + r.From + "." + r.Forward + " -> " + r.To + "." + r.Backward + " " + string(r.Kind)
				if r.Confidence < tt.least || r.Confidence > tt.most {
					t.Errorf("confidence %.3f, want %.2f to %.2f; evidence %+v", r.Confidence, tt.least, tt.most, r.Evidence)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFeedsRaiseConfidence(t *testing.T) {
	s := single("ks", infertest.Table("ks", "users", "user_id uuid", "", "name text"), infertest.Table("ks", "orders", "order_id uuid", "", "buyer uuid"))
	quiet := &infertest.Traffic{Keyspace: "ks", Seconds: 10}
	if m := inferred(t, quiet, s); len(m.Relationships) != 0 {
		t.Fatalf("a column with another name was taken for a key without evidence: %+v", m.Relationships)
	}
	loud := &infertest.Traffic{Keyspace: "ks", Seconds: 10}
	from := loud.Say("SELECT buyer FROM orders WHERE order_id = ?", 100, 900, 1)
	to := loud.Say("SELECT name FROM users WHERE user_id = ?", 100, 900, 1)
	loud.Feed(from, "orders", "buyer", to, "users", "user_id", feed.Feed{Executions: 100, Hits: 99, Producers: 99, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 0.97})
	m := inferred(t, loud, s)
	if len(m.Relationships) != 1 || m.Relationships[0].Forward != "buyer" || m.Relationships[0].Confidence < infer.Probable {
		t.Fatalf("relationships %+v", m.Relationships)
	}
	if len(m.Joins) != 1 || !m.Joins[0].Accepted {
		t.Fatalf("joins %+v", m.Joins)
	}
	path := m.Workload.Statement(m.Joins[0].Query)
	if path == nil || path.String() != "SELECT User.user_id, User.name FROM User.orders WHERE Order.order_id = ?" {
		t.Errorf("path query %v", path)
	}
}

func TestStatements(t *testing.T) {
	tests := []struct {
		text string
		want string // the conceptual statements, or "! reason"
	}{
		{"SELECT * FROM rooms WHERE hotel_id = ? ORDER BY room_id DESC LIMIT 10",
			"SELECT Hotel.hotel_id, Room.room_id, Room.floor, Room.number, Room.rate FROM Room.hotel WHERE Hotel.hotel_id = ? ORDER BY Room.room_id DESC LIMIT 1"}, // as many as were answered
		{"SELECT number FROM hotel.rooms WHERE hotel_id = 5e2a0000-0000-4000-8000-000000000000 AND room_id > ?", "SELECT Room.number FROM Room.hotel WHERE Hotel.hotel_id = ? AND Room.room_id > ?"},
		{"UPDATE reservations SET guest_id = ?, status = ? WHERE room_id = ? AND start_date = ? AND reservation_id = ?",
			"UPDATE Reservation FROM Reservation SET status = ? WHERE Reservation.reservation_id = ? GIVEN Room.room_id, Reservation.start_date; CONNECT Reservation(?) TO guest(?) GIVEN Room.room_id, Reservation.start_date"},
		{"DELETE guest_id FROM reservations WHERE room_id = ? AND start_date = ? AND reservation_id = ?", "DISCONNECT Reservation(?) FROM guest(?) GIVEN Room.room_id, Reservation.start_date"},
		{"DELETE FROM reservations WHERE room_id = ?", "DELETE FROM Reservation.room WHERE Room.room_id = ?"},
		{"INSERT INTO guests (guest_id, name) VALUES (?, ?) IF NOT EXISTS", "INSERT INTO Guest SET guest_id = ?, name = ?"},
		{"SELECT count(*) FROM guests WHERE guest_id = ?", "! computes count(*) in Cassandra"},
		{"SELECT name FROM guests", "! reads the whole table"},
		{"SELECT name FROM guests WHERE token(guest_id) > ?", "! a scan by token ranges"},
		{"SELECT name FROM guests WHERE guest_id IN (?, ?)", "! asks for a list of values (IN) that no other statement supplies"},
		{"SELECT DISTINCT room_id FROM reservations WHERE room_id = ?", "! SELECT DISTINCT reads partitions, not rows"},
		{"SELECT JSON name FROM guests WHERE guest_id = ?", "! SELECT JSON: the answer is built by Cassandra"},
		{"SELECT status FROM reservations WHERE start_date > ? ALLOW FILTERING", "! asks for a range only, nothing by equality"},
		{"INSERT INTO guests JSON ?", "! INSERT JSON: its columns are not known before it runs"},
		{"UPDATE guests SET name = ? WHERE guest_id IN (?, ?)", "! writes several rows at once"},
		{"BEGIN BATCH INSERT INTO guests (guest_id) VALUES (?) APPLY BATCH", "! a batch: its statements are counted one by one"},
		{"TRUNCATE guests", "! neither reads nor writes rows (truncate)"},
		{"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "! neither reads nor writes rows (ddl)"},
		{"SELECT a FROM other WHERE b = ?", "! table hotel.other is not in the schema that was read"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			traffic := &infertest.Traffic{Keyspace: "hotel", Seconds: 10}
			traffic.Say(tt.text, 40, 1000, 1)
			m := inferred(t, traffic, infertest.HotelSchema(), infertest.HotelStatistics()...)
			var got []string
			for _, st := range m.Workload.Statements {
				got = append(got, st.String())
			}
			for _, u := range m.Unexplained {
				got = append(got, "! "+u.Reason)
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

// A fork in the feed graph becomes two paths and no cross product, and a circle is cut.
func TestForksAndCircles(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "users", "user_id uuid", "", "name text"),
		infertest.Table("ks", "orders", "user_id uuid", "order_id uuid", "total int"),
		infertest.Table("ks", "comments", "user_id uuid", "comment_id uuid", "body text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	user := traffic.Say("SELECT user_id, name FROM users WHERE user_id = ?", 100, 900, 1)
	orders := traffic.Say("SELECT user_id, order_id, total FROM orders WHERE user_id = ?", 100, 900, 5)
	comments := traffic.Say("SELECT comment_id, body FROM comments WHERE user_id = ?", 100, 900, 5)
	fed := feed.Feed{Executions: 100, Hits: 100, Producers: 100, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 0.99}
	traffic.Feed(user, "users", "user_id", orders, "orders", "user_id", fed)
	traffic.Feed(user, "users", "user_id", comments, "comments", "user_id", fed)
	fed.Hits = 60
	traffic.Feed(orders, "orders", "user_id", user, "users", "user_id", fed)
	m := inferred(t, traffic, s)
	paths, reasons := 0, ""
	for _, st := range m.Workload.Statements {
		if len(st.Sources) > 1 {
			paths++
		}
	}
	for _, j := range m.Joins {
		reasons += j.Reason + "\n"
	}
	if paths != 2 || !strings.Contains(reasons, "circle") {
		t.Errorf("%d path queries; reasons:\n%s", paths, reasons)
	}
}

// Two lists of so many rows each, below one entity, are two paths: each has its LIMIT for itself.
func TestLimitedListsBesideEachOther(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "users", "user_id uuid", "", "name text"),
		infertest.Table("ks", "orders", "user_id uuid", "order_id uuid", "total int"),
		infertest.Table("ks", "comments", "user_id uuid", "comment_id uuid", "body text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	user := traffic.Say("SELECT user_id, name FROM users WHERE user_id = ?", 100, 900, 1)
	orders := traffic.Say("SELECT order_id, total FROM orders WHERE user_id = ? LIMIT 5", 100, 900, 5)
	comments := traffic.Say("SELECT comment_id, body FROM comments WHERE user_id = ? LIMIT 8", 100, 900, 8)
	fed := feed.Feed{Executions: 100, Hits: 100, Producers: 100, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 0.99}
	traffic.Feed(user, "users", "user_id", orders, "orders", "user_id", fed)
	traffic.Feed(user, "users", "user_id", comments, "comments", "user_id", fed)
	m := inferred(t, traffic, s)
	for _, j := range m.Joins {
		if !j.Accepted {
			t.Errorf("%s -> %s is not used: %s", j.From, j.To, j.Reason)
		}
	}
	if n := len(m.Workload.Statements); n != 2 {
		t.Errorf("%d statements, 2 paths are wanted:\n%s", n, texts(m))
	}
}

// A list bound by IN is a join if another statement supplies it.
func TestInListIsJoined(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "hotel", Seconds: 100}
	from := traffic.Say("SELECT guest_id FROM reservations WHERE room_id = ? AND start_date = ?", 100, 900, 5)
	to := traffic.Say("SELECT name FROM guests WHERE guest_id IN ?", 100, 900, 5)
	traffic.Feed(from, "reservations", "guest_id", to, "guests", "guest_id",
		feed.Feed{Executions: 500, Hits: 500, Producers: 100, Followed: 1, PerExecution: 5, Shape: feed.InList, Confidence: 0.99})
	m := inferred(t, traffic, infertest.HotelSchema(), infertest.HotelStatistics()...)
	if len(m.Workload.Statements) != 1 || len(m.Workload.Statements[0].Sources) != 2 {
		var text strings.Builder
		_ = m.Describe().Text(&text)
		t.Errorf("want one path query:\n%s", text.String())
	}
}

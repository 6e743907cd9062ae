package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// related lists relationships as "From.role -> To".
func related(m *infer.Model) string {
	var out []string
	for _, r := range m.Relationships {
		out = append(out, r.From+"."+r.Forward+" -> "+r.To)
	}
	return strings.Join(out, ", ")
}

// texts lists the conceptual statements.
func texts(m *infer.Model) string {
	var out []string
	for _, s := range m.Workload.Statements {
		out = append(out, s.String())
	}
	return strings.Join(out, "\n")
}

// A listing by day holds what it lists, though it has columns of its own and is not called so; what refers to the key refers to the thing.
func TestListingIsACopy(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "latest_videos", "day date", "added timestamp,videoid uuid", "title text"),
		infertest.Table("ks", "ratings", "videoid uuid", "userid uuid", "stars int"),
		infertest.Table("ks", "videos", "videoid uuid", "", "title text", "len int"))
	m := inferred(t, &infertest.Traffic{Keyspace: "ks", Seconds: 10}, s,
		infertest.Measured("ks", "latest_videos", 2000, 30, "day 30 4", "added 2000 8", "videoid 2000 16", "title 2000 20"),
		infertest.Measured("ks", "ratings", 6000, 1900, "videoid 1900 16", "userid 5000 16", "stars 5 4"),
		infertest.Measured("ks", "videos", 2000, 2000, "videoid 2000 16", "title 2000 20", "len 900 4"))
	if e := entity(m, "Video"); e == nil || strings.Join(e.Tables, " ") != "ks.videos ks.latest_videos" || len(m.Entities) != 2 {
		t.Errorf("entities %+v", m.Entities)
	}
	if got := related(m); got != "Rating.video -> Video" {
		t.Errorf("relationships %s", got)
	}
}

// Writes say what is a copy, whatever it is called; they are one write, and the copy's own columns are attributes of what it holds.
func TestWritesNameCopies(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "items", "item_id uuid", "", "title text", "seller uuid"),
		infertest.Table("ks", "shelf", "vendor uuid", "thing uuid", "headline text", "badge text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	a := traffic.Say("INSERT INTO items (item_id, title, seller) VALUES (?, ?, ?)", 100, 900, 0)
	b := traffic.Say("INSERT INTO shelf (vendor, thing, headline, badge) VALUES (?, ?, ?, ?)", 100, 900, 0)
	traffic.Together(a, b, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0})
	m := inferred(t, traffic, s)
	if len(m.Entities) != 1 || strings.Join(m.Entities[0].Tables, " ") != "ks.items ks.shelf" || strings.Join(m.Entities[0].Attributes, " ") != "item_id seller title badge" {
		t.Errorf("entities %+v", m.Entities)
	}
	if got := texts(m); got != "INSERT INTO Item SET item_id = ?, title = ?, seller = ?, badge = ?" {
		t.Errorf("workload\n%s", got)
	}
	if w := m.Workload.Statements[0]; w.Weight != 1 || len(m.UsesOf(w.ID)) != 2 {
		t.Errorf("weight %g, uses %+v", w.Weight, m.UsesOf(w.ID))
	}
	conserved(t, m, traffic.Snapshot())
}

// A copy of a few of the rows is not read in the place of all.
func TestPartIsNotWhole(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "items", "item_id uuid", "", "title text"),
		infertest.Table("ks", "items_by_title", "title text", "item_id uuid"))
	for rows, want := range map[float64]int{20: 1, 2000: 2} {
		m := inferred(t, &infertest.Traffic{Keyspace: "ks", Seconds: 10}, s,
			infertest.Measured("ks", "items", 2000, 2000, "item_id 2000 16", "title 2000 20"), infertest.Measured("ks", "items_by_title", rows, rows, "item_id 2000 16", "title 2000 20"))
		if len(m.Entities) != 1 || len(m.Tables) != want || m.Table("ks", "items_by_title") == nil {
			t.Errorf("%.0f rows: %d entities, %d tables", rows, len(m.Entities), len(m.Tables))
		}
	}
}

// What is in the primary key may be a partner's key.
func TestKeyColumnsAreEdges(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "guilds", "guild_id uuid", "", "label text"),
		infertest.Table("ks", "members", "guild_id uuid", "user_id uuid", "joined timestamp"),
		infertest.Table("ks", "users", "user_id uuid", "", "nick text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	list := traffic.Say("SELECT user_id, joined FROM members WHERE guild_id = ?", 100, 900, 10)
	nick := traffic.Say("SELECT nick FROM users WHERE user_id = ?", 1000, 900, 1)
	traffic.Say("UPDATE members SET joined = ? WHERE guild_id = ? AND user_id = ?", 10, 900, 0)
	traffic.Feed(list, "members", "user_id", nick, "users", "user_id",
		feed.Feed{Executions: 1000, Hits: 1000, Producers: 100, Followed: 1, PerExecution: 10, Shape: feed.FanOut, Confidence: 1})
	m := inferred(t, traffic, s)
	if got := related(m); got != "Member.guild -> Guild, Member.user -> User" {
		t.Errorf("relationships %s", got)
	}
	if len(m.Joins) != 1 || !m.Joins[0].Accepted {
		t.Fatalf("joins %+v", m.Joins)
	}
	want := "UPDATE Member FROM Member SET joined = ? WHERE Member.guild_id = ? AND Member.user_id = ? GIVEN Guild.guild_id, User.user_id"
	if got := texts(m); !strings.Contains(got, "Guild.guild_id = ?") || !strings.Contains(got, "User.nick") || !strings.Contains(got, want) {
		t.Errorf("workload\n%s", got)
	}
}

// Two relationships to one entity, and one to the like of it, are followed each for itself.
func TestRolesAreToldApart(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "messages", "recipient_id uuid", "message_id timeuuid", "sender_id uuid", "body text"),
		infertest.Table("ks", "persons", "person_id uuid", "", "name text", "guardian uuid"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	inbox := traffic.Say("SELECT message_id, sender_id, body FROM messages WHERE recipient_id = ?", 100, 900, 10)
	person := traffic.Say("SELECT * FROM persons WHERE person_id = ?", 1100, 900, 1)
	fed := feed.Feed{Executions: 1100, Hits: 1000, Share: 0.9, Producers: 100, Followed: 1, PerExecution: 10, Shape: feed.FanOut, Confidence: 1}
	traffic.Feed(inbox, "messages", "sender_id", person, "persons", "person_id", fed)
	traffic.Feed(inbox, "messages", "recipient_id", person, "persons", "person_id", feed.Feed{Executions: 1100, Confidence: 1, Producers: 1})
	traffic.Feed(person, "persons", "guardian", person, "persons", "person_id", feed.Feed{Executions: 1100, Hits: 100, Share: 0.09, Producers: 100, Followed: 0.1, PerExecution: 1, Confidence: 1})
	m := inferred(t, traffic, s)
	if got := related(m); got != "Message.recipient -> Person, Message.sender -> Person, Person.guardian -> Person" {
		t.Errorf("relationships %s", got)
	}
	path := ""
	for _, st := range m.Workload.Statements {
		if len(st.Sources) > 1 {
			path = st.String()
		}
	}
	if !strings.Contains(path, "WHERE Person.person_id = ?") || strings.Count(path, ".name") != 1 || strings.Contains(path, "Person.name") {
		t.Errorf("the join asks for the recipient's name: %s", path)
	}
	conserved(t, m, traffic.Snapshot())
}

// What is tied is asked, and not decided by the alphabet.
func TestTiesAreQuestions(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "alphas", "id uuid", "", "x text"),
		infertest.Table("ks", "betas", "id uuid", "", "y text"),
		infertest.Table("ks", "gammas", "id uuid", "", "ref uuid"))
	m := inferred(t, &infertest.Traffic{Keyspace: "ks", Seconds: 10}, s,
		infertest.Measured("ks", "alphas", 500, 500, "id 500 16"), infertest.Measured("ks", "betas", 500, 500, "id 500 16"), infertest.Measured("ks", "gammas", 500, 500, "id 500 16", "ref 300 16"))
	if len(m.Relationships) != 0 || len(m.Questions) != 1 {
		t.Fatalf("relationships %s, questions %+v", related(m), m.Questions)
	}
	q := m.Questions[0]
	if q.Kind != infer.WhichRelationship || q.Subject != "ks.gammas.ref" || len(q.Candidates) != 3 || q.Candidates[0].Certainty != q.Candidates[1].Certainty {
		t.Errorf("%+v", q)
	}
}

// Pages are parts of one execution.
func TestPagesAreNoExecutions(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "hotel", Seconds: 10}
	traffic.Say(infertest.RoomsOfHotel, 100, 900, 10)
	snapshot := traffic.Snapshot()
	snapshot.Statements[0].Paged = 60
	m, err := infer.Infer(snapshot, infertest.HotelSchema(), infertest.HotelStatistics())
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Workload.Statements[0].Weight; w != 4 {
		t.Errorf("weight %g, want 4", w)
	}
}

// Two stays of each guest are no copy of the guests, though writes of the two go together one by one, as far as was seen: rows say so, counted or estimated from a
// sample. A copy of which some rows are there twice, because what a row was before was left, stays one; and so does what too few rows were seen of.
func TestRowsOfItsOwnAreNoCopy(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "guests", "guest_id uuid", "", "name text"),
		infertest.Table("ks", "stays", "guest_id uuid", "arrival date", "room int"))
	for _, test := range []struct {
		guests, stays float64
		estimated     bool
		entities      int
	}{
		{40, 40, false, 1}, {40, 48, false, 1}, {40, 80, false, 2}, {40, 62, false, 2},
		{4000, 4000, true, 1}, {4000, 4800, true, 1}, {4000, 8000, true, 2}, {4000, 7600, true, 2},
		{10, 20, false, 2}, {10, 20, true, 1}, {2, 4, false, 1},
	} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		a := traffic.Say("INSERT INTO guests (guest_id, name) VALUES (?, ?)", 100, 900, 0)
		b := traffic.Say("INSERT INTO stays (guest_id, arrival, room) VALUES (?, ?, ?)", 100, 900, 0)
		traffic.Together(a, b, [2]int{0, 0})
		own := fmt.Sprint("guest_id ", test.guests, " 16")
		stats := []schema.Stats{infertest.Measured("ks", "guests", test.guests, test.guests, own, "name 40 9"),
			infertest.Measured("ks", "stays", test.stays, test.guests, own, "arrival 2 4", "room 40 4")}
		stats[0].Exact, stats[1].Exact = !test.estimated, !test.estimated
		m, err := infer.WithCorrections(traffic.Snapshot(), s, stats, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Entities) != test.entities {
			t.Errorf("%+v: %d entities", test, len(m.Entities))
		}
	}
}

// Of the two directions in which an order and its two tickets are written together capture tells one, whichever comes first: a ticket goes with one order, but is none, in whatever table it is found.
func TestTicketsAreNoOrders(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	order := traffic.Say("INSERT INTO orders (order_no, total) VALUES (?, ?)", 1000, 900, 1)
	ticket := traffic.Say("INSERT INTO sold_by_show (show_id, seat_id, order_no) VALUES (?, ?, ?)", 2000, 900, 1)
	snapshot := traffic.Snapshot()
	snapshot.Bursts = []burst.Pair{{From: ticket, To: order, Writes: 2000, Accompanied: 2000, Tried: 2000, Mean: 1, Equal: []burst.Equal{{From: 2, To: 0, Share: 1, Mean: 1, Same: true}}}}
	m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "orders", "order_no bigint", "", "total int"), infertest.Table("ks", "sold_by_show", "show_id uuid", "seat_id uuid", "order_no bigint"),
		infertest.Table("ks", "shows", "show_id uuid", "", "title text"), infertest.Table("ks", "seats", "seat_id uuid", "", "tier text")),
		[]schema.Stats{
			infertest.Measured("ks", "orders", 4000, 4000, "order_no 4000 8", "total 900 4"), infertest.Measured("ks", "sold_by_show", 9000, 600, "show_id 600 16", "seat_id 2000 16", "order_no 3900 8"),
			infertest.Measured("ks", "shows", 600, 600, "show_id 600 16", "title 600 9"), infertest.Measured("ks", "seats", 2000, 2000, "seat_id 2000 16", "tier 4 9"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := held(m); got != "orders seats shows sold_by_show" {
		t.Errorf("%s", got)
	}
}

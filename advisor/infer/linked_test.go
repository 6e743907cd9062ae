package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Tables by names and types alone: what holds nothing but two keys and what is said of these is an m:n relationship, and what has something of its own is an entity.
func TestPairsAndWhatTheyRepeat(t *testing.T) {
	recipes, tags := infertest.Table("ks", "recipes", "recipe_id uuid", "", "title text", "created timestamp"), infertest.Table("ks", "tags", "tag_id uuid", "", "about text")
	agents, teams := infertest.Table("ks", "agents", "tenant_id uuid", "agent_id uuid", "mail text"), infertest.Table("ks", "teams", "tenant_id uuid", "team_id uuid", "label text")
	tickets := infertest.Table("ks", "tickets", "tenant_id uuid", "number int", "subject text")
	for _, c := range []struct {
		tables []schema.Table
		want   string
	}{
		{[]schema.Table{recipes, tags, infertest.Table("ks", "recipe_tags", "tag_id uuid", "recipe_id uuid")}, "recipes tags"},
		{[]schema.Table{recipes, tags, infertest.Table("ks", "recipe_tags", "tag_id uuid", "recipe_id uuid", "title text")}, "recipes tags"},
		{[]schema.Table{recipes, tags, infertest.Table("ks", "recipe_tags", "tag_id uuid", "recipe_id uuid", "recipe_title text")}, "recipes tags"},
		{[]schema.Table{recipes, tags, infertest.Table("ks", "recipe_tags", "tag_id uuid", "recipe_id uuid", "created timestamp")}, "recipe_tags recipes tags"}, // when it was tagged
		{[]schema.Table{recipes, tags, infertest.Table("ks", "recipe_tags", "tag_id uuid", "recipe_id uuid", "title text", "weight int")}, "recipe_tags recipes tags"},
		{[]schema.Table{agents, teams, infertest.Table("ks", "team_agents", "tenant_id uuid, team_id uuid", "agent_id uuid")}, "agents teams"}, // the tenant is both's
		{[]schema.Table{agents, teams, infertest.Table("ks", "team_agents", "tenant_id uuid, team_id uuid", "agent_id uuid", "since timestamp")}, "agents team_agents teams"},
		{[]schema.Table{tickets, infertest.Table("ks", "ticket_ratings", "tenant_id uuid", "number int", "stars int")}, "tickets+ticket_ratings"},
		{[]schema.Table{agents, teams, infertest.Table("ks", "team_agents", "team_id uuid", "agent_id uuid", "since date"), infertest.Table("ks", "team_agent_invites", "team_id uuid", "agent_id uuid", "sent date")}, "agents team_agent_invites team_agents teams"},
	} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", c.tables...), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s: %s, want %s; %s", c.tables[len(c.tables)-1].Name, got, c.want, related(m))
		}
	}
}

// What rows say again of a comment that somebody is mentioned in is the comment's, whatever it is called; and who wrote it is another user than who is mentioned.
func TestMentions(t *testing.T) {
	for _, own := range []bool{false, true} { // x3 is not what the comment says
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 400 {
			author, body := fmt.Sprint("user ", i*7%50), fmt.Sprint("body ", i%90)
			rows.Add("t1", "a1", fmt.Sprint("comment ", i), "a2", author, "a3", body)
			if own {
				body = fmt.Sprint("body ", i*13%90)
			}
			rows.Add("t3", "x1", fmt.Sprint("user ", i*11%50), "x2", fmt.Sprint("comment ", i), "x4", author, "x3", body)
		}
		for i := range 50 {
			rows.Add("t2", "b1", fmt.Sprint("user ", i), "b2", fmt.Sprint("mail ", i))
		}
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		list := traffic.Say("SELECT x2, x3, x4 FROM t3 WHERE x1 = ?", 1000, 900, 5)
		comment := traffic.Say("SELECT a3 FROM t1 WHERE a1 = ?", 1000, 900, 1)
		user := traffic.Say("SELECT b2 FROM t2 WHERE b1 = ?", 1000, 900, 1)
		traffic.Feed(list, "t3", "x2", comment, "t1", "a1", all(0, feed.NPlusOne))
		traffic.Feed(list, "t3", "x4", user, "t2", "b1", all(0, feed.NPlusOne))
		snapshot := traffic.Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "t1", "a1 uuid", "", "a2 uuid", "a3 text"), infertest.Table("ks", "t2", "b1 uuid", "", "b2 text"), infertest.Table("ks", "t3", "x1 uuid", "x2 uuid", "x3 text", "x4 uuid")),
			[]schema.Stats{
				infertest.Measured("ks", "t1", 400, 400, "a1 400 16", "a2 50 16", "a3 90 9"), infertest.Measured("ks", "t2", 50, 50, "b1 50 16", "b2 50 9"),
				infertest.Measured("ks", "t3", 1200, 50, "x1 50 16", "x2 400 16", "x3 90 9", "x4 50 16"),
			})
		if err != nil {
			t.Fatal(err)
		}
		want := "t1 t2"
		if own {
			want = "t1 t2 t3"
		}
		if got := held(m); got != want {
			t.Errorf("own %v: %s, want %s; %s", own, got, want, related(m))
		}
		if mentioned, author := m.Field("ks", "t3", "x1"), m.Field("ks", "t3", "x4"); mentioned.Entity == author.Entity || author.Entity.Base() != mentioned.Entity.Base() {
			t.Errorf("own %v: who is mentioned is %s, who wrote it %s", own, mentioned, author)
		}
		if body := m.Field("ks", "t3", "x3"); !own && body != m.Field("ks", "t1", "a3") {
			t.Errorf("the body is %s", body)
		}
	}
}

// A static column says something of what the partition is of: what that is known to have, or something more. It can be read, and written without a row.
func TestStaticColumns(t *testing.T) {
	stops := infertest.Table("ks", "stops", "tour_id uuid", "seq int", "weight int")
	for _, name := range []string{"plate", "weather"} {
		stops.Columns = append(stops.Columns, schema.Column{Name: name, Type: "text", Kind: schema.Static, Position: -1})
	}
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	traffic.Say("SELECT seq, plate, weather FROM stops WHERE tour_id = ?", 1000, 900, 5)
	traffic.Say("UPDATE stops SET weather = ? WHERE tour_id = ?", 1000, 900, 0)
	traffic.Say("UPDATE stops SET weather = ?, weight = ? WHERE tour_id = ? AND seq = ?", 1000, 900, 0)
	traffic.Say("INSERT INTO stops (tour_id, seq, plate, weight) VALUES (?, ?, ?, ?)", 1000, 900, 0)
	m, err := infer.Infer(traffic.Snapshot(), single("ks", infertest.Table("ks", "tours", "tour_id uuid", "", "plate text"), stops), nil)
	if err != nil {
		t.Fatal(err)
	}
	if plate, weather := m.Field("ks", "stops", "plate"), m.Field("ks", "stops", "weather"); plate.String() != "Tour.plate" || weather.String() != "Tour.weather" {
		t.Errorf("%s, %s", plate, weather)
	}
	if got := texts(m); len(m.Unexplained) > 0 || strings.Count(got, "UPDATE Tour FROM Tour SET weather") != 2 {
		t.Errorf("%s; not explained %v", got, m.Unexplained)
	}
}

// Names in other languages, and plurals that no ending tells.
func TestNamesOfOtherEndings(t *testing.T) {
	for _, c := range []struct {
		one, other schema.Table
		want       string
	}{
		{infertest.Table("ks", "rechnungen", "rechnung_nr bigint", "", "betrag int", "kasse int"), infertest.Table("ks", "rechnungen_je_kasse", "kasse int", "rechnung_nr bigint", "betrag int"), "rechnungen+rechnungen_je_kasse; "},
		{infertest.Table("ks", "materialien", "material_kz text", "", "bezeichnung text"), infertest.Table("ks", "proben", "barcode text", "", "material_kz text"), "materialien proben; Proben.material -> Materialien"},
		{infertest.Table("ks", "people", "id uuid", "", "mail text"), infertest.Table("ks", "homes", "home_id uuid", "", "person_id uuid"), "homes people; Home.person -> Person"},
		{infertest.Table("ks", "cuisines", "cuisine text", "", "about text"), infertest.Table("ks", "dishes", "dish_id uuid", "", "cuisine text"), "cuisines dishes; Dish.cuisine -> Cuisine"},
		{infertest.Table("ks", "years", "year int", "", "about text"), infertest.Table("ks", "dishes", "dish_id uuid", "", "year int"), "dishes years; "},
		{infertest.Table("ks", "shelves", "owner uuid", "shelf text", "public boolean"), infertest.Table("ks", "shelf_books", "owner uuid, shelf text", "book uuid", "added date"), "shelf_books shelves; ShelfBook.shelf -> Shelf"},
	} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", c.one, c.other), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m) + "; " + related(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.one.Name, got, c.want)
		}
	}
}

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

// Numbers are alike everywhere, so that a key's name is all that two tables of them have in common. It says that they are of one thing only if it says of what: pk does
// not, nor does a name that columns of other types have.
func TestNamesThatAnythingHas(t *testing.T) {
	for _, c := range []struct{ key, players, teams, want string }{
		{"pk", "players", "teams", "players teams"},
		{"row_id", "players", "teams", "players teams"},
		{"player_id", "players", "player_scores", "players+player_scores"},
		{"pk", "players", "players_online", "players+players_online"},
	} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", c.players, c.key+" int", "", "nick text", "born int", "mail text"), infertest.Table("ks", c.teams, c.key+" int", "", "title text")),
			[]schema.Stats{
				infertest.Measured("ks", c.players, 1500, 1500, c.key+" 1500 4", "nick 1400 8", "born 60 4", "mail 1500 9"),
				infertest.Measured("ks", c.teams, 1480, 1480, c.key+" 1480 4", "title 1300 8"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s of %s and %s: %s, want %s", c.key, c.players, c.teams, got, c.want)
		}
	}
}

// In a primary key a number leads to the key that is called like it, unless columns of other types are called so, too.
func TestNamesOfSeveralTypes(t *testing.T) {
	for _, c := range []struct {
		other, want string
	}{{"note text", "Line.lot -> Lot"}, {"lot text", ""}} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "lots", "lot int", "", "title text"), infertest.Table("ks", "lines", "lot int", "line_no int", "amount int"),
			infertest.Table("ks", "others", "other_id uuid", "", c.other)),
			[]schema.Stats{
				infertest.Measured("ks", "lots", 300, 300, "lot 300 4", "title 290 9"),
				infertest.Measured("ks", "lines", 2000, 290, "lot 290 4", "line_no 12 4", "amount 90 4"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); got != c.want {
			t.Errorf("with %s: %q, want %q", c.other, got, c.want)
		}
	}
}

// The word that a scheme of names puts before all tables says nothing of any, unless it is a table's own.
func TestSchemesOfNames(t *testing.T) {
	for _, c := range []struct {
		first string
		want  bool
	}{{"lkp_", true}, {"item_", false}, {"", true}} {
		tables := []schema.Table{infertest.Table("ks", "items", "item_id uuid", "", "reason_id uuid")}
		for _, name := range []string{"reasons", "units", "colours"} {
			tables = append(tables, infertest.Table("ks", c.first+name, "code uuid", "", "label text"))
		}
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(related(m), "Item.reason -> "); got != c.want {
			t.Errorf("%q: %q", c.first, related(m))
		}
	}
}

// Areas that have things of one name each have things of their own, however many tables begin with an area's name: so too where a thing is in one area alone,
// and another's key ends in its name.
func TestAreasInNames(t *testing.T) {
	var tables []schema.Table
	var stats []schema.Stats
	for i, area := range []string{"billing", "sales", "crm"} {
		for j, thing := range []string{"courier", "invoice", "contact", "sales_" + area}[:4-min(i, 1)] {
			name, key := area+"_"+thing+"s", area+"_"+thing+"_id"
			tables = append(tables, infertest.Table("ks", name, key+" uuid", "", "label text"))
			rows := float64(1000 * (40 - 9*i + j))
			stats = append(stats, infertest.Measured("ks", name, rows, rows, fmt.Sprintf("%s %.0f 16", key, rows), "label 50 9"))
		}
	}
	m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), stats)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Graph.Entities) != len(tables) {
		t.Errorf("%d entities of %d tables", len(m.Graph.Entities), len(tables))
	}
}

// Names that are not quoted are in lower case: tblOrder is tblorder, and orderid is its key. Where only one table is called so it is its name.
func TestTablesThatSayTheyAre(t *testing.T) {
	for _, c := range []struct {
		first string
		want  bool
	}{{"tbl", true}, {"", false}} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "tblorder", "id bigint", "", "placed timestamp"), infertest.Table("ks", c.first+"shipment", "id bigint", "", "orderid bigint", "trackingno text"),
			infertest.Table("ks", c.first+"colour", "id bigint", "", "label text")),
			[]schema.Stats{
				infertest.Measured("ks", "tblorder", 4000, 4000, "id 4000 8", "placed 4000 8"),
				infertest.Measured("ks", c.first+"shipment", 3000, 3000, "id 3000 8", "orderid 1900 8", "trackingno 3000 9"),
				infertest.Measured("ks", c.first+"colour", 2000, 2000, "id 2000 8", "label 40 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); (got == "Tblshipment.order -> Tblorder") != c.want {
			t.Errorf("%q: %q", c.first, got)
		}
	}
}

// An area that has a thing in two tables, by its key and by something else, has it once: the area's word says nothing there either.
func TestAreasWithLookUps(t *testing.T) {
	m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
		infertest.Table("ks", "shop_product", "id bigint", "", "name text", "price int", "category_id bigint"),
		infertest.Table("ks", "shop_product_by_category", "category_id bigint", "id bigint", "name text"),
		infertest.Table("ks", "shop_category", "id bigint", "", "label text"), infertest.Table("ks", "shop_item", "id bigint", "", "product_id bigint", "amount int")),
		[]schema.Stats{
			infertest.Measured("ks", "shop_product", 900, 900, "id 900 8", "name 900 9", "price 400 4", "category_id 40 8"),
			infertest.Measured("ks", "shop_product_by_category", 900, 40, "id 900 8", "name 900 9", "category_id 40 8"),
			infertest.Measured("ks", "shop_category", 40, 40, "id 40 8", "label 40 9"), infertest.Measured("ks", "shop_item", 6000, 6000, "id 6000 8", "product_id 800 8", "amount 9 4"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := related(m); !strings.Contains(got, "ShopItem.product -> ShopProduct") {
		t.Errorf("%q", got)
	}
}

// A key that is called after its own table is no other's, whatever its name ends in, as long as nothing else is known of the two.
func TestKeysOfTheirOwn(t *testing.T) {
	for _, c := range [][2]string{{"items", "order_items"}, {"notes", "visit_notes"}, {"users", "admin_users"}} {
		var tables []schema.Table
		var stats []schema.Stats
		for i, name := range c {
			key, rows := strings.TrimSuffix(name, "s")+"_id", float64(5000-1000*i)
			tables = append(tables, infertest.Table("ks", name, key+" uuid", "", "label text"))
			stats = append(stats, infertest.Measured("ks", name, rows, rows, fmt.Sprintf("%s %.0f 16", key, rows), "label 50 9"))
		}
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), stats)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Graph.Entities) != 2 {
			t.Errorf("%s and %s are %d entities", c[0], c[1], len(m.Graph.Entities))
		}
	}
}

// A table by something else is no other thing of an area: employee_id leads to hr_employees, whether there is hr_employees_by_team or not.
func TestAreasWithTablesBySomething(t *testing.T) {
	for _, by := range []string{"hr_employees_by_team", "hr_offices"} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "hr_employees", "id int", "", "name text", "team_id int"), infertest.Table("ks", "hr_teams", "id int", "", "title text"),
			infertest.Table("ks", "hr_leaves", "employee_id int", "id int", "days int"), infertest.Table("ks", by, "team_id int", "id int")),
			[]schema.Stats{
				infertest.Measured("ks", "hr_employees", 500, 500, "id 500 4", "name 499 9", "team_id 30 4"), infertest.Measured("ks", "hr_teams", 30, 30, "id 30 4", "title 30 9"),
				infertest.Measured("ks", "hr_leaves", 2500, 450, "employee_id 450 4", "id 2500 4", "days 20 4"), infertest.Measured("ks", by, 500, 30, "team_id 30 4", "id 500 4"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); !strings.Contains(got, ".employee -> HrEmployee") {
			t.Errorf("with %s: %s", by, got)
		}
	}
}

// Areas have things of like names, whose keys are called after the thing alone: such a name says nothing of the two. It does where one is the other's by its name.
func TestKeysCalledWithoutTheArea(t *testing.T) {
	for _, c := range []struct {
		one, other, key string
		want            int
	}{
		{"billing_addresses", "shipping_addresses", "address_id", 2},
		{"crm_notes", "hr_notes", "note_id", 2},
		{"user_roles", "team_roles", "role_id", 2},
		{"addresses", "checked_addresses", "address_id", 1},
		{"crm_notes", "late_crm_notes", "note_id", 1},
		{"crm_notes", "crm_notes_by_customer", "note_id", 1},
	} {
		var tables []schema.Table
		var stats []schema.Stats
		for i, name := range []string{c.one, c.other} {
			rows := float64(2500 - 500*i)
			tables = append(tables, infertest.Table("ks", name, c.key+" uuid", "", "label text"))
			stats = append(stats, infertest.Measured("ks", name, rows, rows, fmt.Sprintf("%s %.0f 16", c.key, rows), "label 50 9"))
		}
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), stats)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Graph.Entities) != c.want {
			t.Errorf("%s and %s are %d entities, want %d", c.one, c.other, len(m.Graph.Entities), c.want)
		}
	}
}

// Of two tables with a key of the column's name, by which they are equally probable, it leads to the one that is called so, and else to the one of its own area; to neither from
// elsewhere.
func TestNearestOfEqualNames(t *testing.T) {
	for _, c := range []struct{ from, column, one, other, want string }{
		{"prices", "item_id", "items", "order_items", "Price.item -> Item"},
		{"billing_invoices", "address_id", "billing_addresses", "shipping_addresses", "BillingInvoice.address -> BillingAddress"},
		{"shipping_parcels", "address_id", "billing_addresses", "shipping_addresses", "ShippingParcel.address -> ShippingAddress"},
		{"visits", "address_id", "billing_addresses", "shipping_addresses", ""},
	} {
		var clustering string
		if c.other == "order_items" {
			clustering = c.column + " int"
		}
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", c.from, "code text", "", c.column+" int", "amount int"), infertest.Table("ks", c.one, c.column+" int", "", "label text"),
			infertest.Table("ks", c.other, cond(clustering == "", c.column+" int", "order_id int"), clustering, "text text")),
			[]schema.Stats{
				infertest.Measured("ks", c.from, 2500, 2500, "code 2500 9", c.column+" 1500 4", "amount 300 4"), infertest.Measured("ks", c.one, 2000, 2000, c.column+" 2000 4", "label 1999 9"),
				infertest.Measured("ks", c.other, 2000, 900, c.column+" 2000 4", "order_id 900 4", "text 900 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); c.want == "" && strings.Contains(got, ".address ->") || !strings.Contains(got, c.want) {
			t.Errorf("%s.%s: %s", c.from, c.column, got)
		}
	}
}

func cond(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// Where home_team and away_team are followed to teams, winner_team leads there, though nobody follows it; not if it has more values than there are teams, and not for a name
// that has a mark of an identifier alone in common.
func TestNamesInCompany(t *testing.T) {
	for _, c := range []struct {
		column, followed string
		distinct         int
		want             bool
	}{{"winner_team", "home_team", 180, true}, {"winner_team", "home_team", 900, false}, {"referee_id", "home_id", 180, false}} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		match := traffic.Say(fmt.Sprintf("SELECT %s, %s FROM matches WHERE match_id = ?", c.followed, c.column), 1000, 900, 1)
		team := traffic.Say("SELECT name FROM teams WHERE number = ?", 1000, 900, 1)
		traffic.Feed(match, "matches", c.followed, team, "teams", "number", all(0, feed.Single))
		m, err := infer.Infer(traffic.Snapshot(), single("ks",
			infertest.Table("ks", "matches", "match_id uuid", "", c.followed+" int", c.column+" int"), infertest.Table("ks", "teams", "number int", "", "name text")),
			[]schema.Stats{
				infertest.Measured("ks", "matches", 4000, 4000, "match_id 4000 16", c.followed+" 180 4", fmt.Sprintf("%s %d 4", c.column, c.distinct)),
				infertest.Measured("ks", "teams", 180, 180, "number 180 4", "name 180 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		role, _, _ := strings.Cut(c.column, "_id")
		if got := strings.Contains(related(m), "Match."+role+" -> Team"); got != c.want {
			t.Errorf("%+v: %s", c, related(m))
		}
	}
}

// Whom a post is put into the feed of comes from the list of who follows, and leads to people as that does, though nobody reads the person; not if it has more values than there are people.
func TestValuesFollowedOn(t *testing.T) {
	for _, c := range []struct {
		distinct int
		want     bool
	}{{1800, true}, {9000, false}} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		fans := traffic.Say("SELECT f2 FROM fans WHERE f1 = ?", 1000, 900, 5)
		person := traffic.Say("SELECT name FROM people WHERE p1 = ?", 1000, 900, 1)
		home := traffic.Say("INSERT INTO home (h1, h2, h3) VALUES (?, ?, ?)", 1000, 900, 0)
		traffic.Feed(fans, "fans", "f2", person, "people", "p1", all(0, feed.NPlusOne))
		write := all(0, feed.NPlusOne)
		write.SupportRead = true
		traffic.Feed(fans, "fans", "f2", home, "home", "h1", write)
		m, err := infer.Infer(traffic.Snapshot(), single("ks",
			infertest.Table("ks", "people", "p1 bigint", "", "name text"), infertest.Table("ks", "fans", "f1 bigint", "f2 bigint", "since timestamp"), infertest.Table("ks", "home", "h1 bigint", "h2 timeuuid", "h3 text")),
			[]schema.Stats{
				infertest.Measured("ks", "people", 2000, 2000, "p1 2000 8", "name 2000 9"), infertest.Measured("ks", "fans", 6000, 1500, "f1 1500 8", "f2 1700 8", "since 6000 8"),
				infertest.Measured("ks", "home", 20000, float64(c.distinct), fmt.Sprintf("h1 %d 8", c.distinct), "h2 15000 16", "h3 4 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(related(m), "Home.h1 -> Person"); got != c.want {
			t.Errorf("%d different: %s", c.distinct, related(m))
		}
	}
}

// Values are followed on over several columns, whatever the tables are called: in whichever order these are looked at.
func TestValuesFollowedFurther(t *testing.T) {
	for _, names := range [][3]string{{"fans", "home", "notes"}, {"fans", "notes", "home"}, {"notes", "home", "fans"}, {"home", "fans", "notes"}} {
		first, second, third := names[0], names[1], names[2]
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		from := traffic.Say(fmt.Sprintf("SELECT f2 FROM %s WHERE f1 = ?", first), 1000, 900, 5)
		person := traffic.Say("SELECT name FROM people WHERE p1 = ?", 1000, 900, 1)
		next := traffic.Say(fmt.Sprintf("SELECT h2 FROM %s WHERE h1 = ?", second), 1000, 900, 5)
		last := traffic.Say(fmt.Sprintf("SELECT n2 FROM %s WHERE n1 = ?", third), 1000, 900, 5)
		traffic.Feed(from, first, "f2", person, "people", "p1", all(0, feed.NPlusOne))
		traffic.Feed(from, first, "f2", next, second, "h1", all(0, feed.NPlusOne))
		traffic.Feed(next, second, "h1", last, third, "n1", all(0, feed.NPlusOne))
		m, err := infer.Infer(traffic.Snapshot(), single("ks",
			infertest.Table("ks", "people", "p1 bigint", "", "name text"), infertest.Table("ks", first, "f1 bigint", "f2 bigint", "since timestamp"),
			infertest.Table("ks", second, "h1 bigint", "h2 timeuuid", "h3 text"), infertest.Table("ks", third, "n1 bigint", "n2 timeuuid", "n3 text")),
			[]schema.Stats{
				infertest.Measured("ks", "people", 2000, 2000, "p1 2000 8", "name 2000 9"), infertest.Measured("ks", first, 6000, 1500, "f1 1500 8", "f2 1700 8", "since 6000 8"),
				infertest.Measured("ks", second, 20000, 1800, "h1 1800 8", "h2 15000 16", "h3 4 9"), infertest.Measured("ks", third, 20000, 1800, "n1 1800 8", "n2 15000 16", "n3 4 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{".h1 -> Person", ".n1 -> Person"} {
			if !strings.Contains(related(m), want) {
				t.Errorf("%v: no %s: %s", names, want, related(m))
			}
		}
	}
}

// Whatever a relationship rests on is told, however many other tables it might have led to.
func TestAllEvidenceIsWorded(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	fans := traffic.Say("SELECT f2 FROM fans WHERE f1 = ?", 1000, 900, 5)
	person := traffic.Say("SELECT name FROM people WHERE p1 = ?", 1000, 900, 1)
	match := traffic.Say("SELECT home_team, winner_team FROM matches WHERE match_id = ?", 1000, 900, 1)
	team := traffic.Say("SELECT name FROM teams WHERE number = ?", 1000, 900, 1)
	home := traffic.Say("INSERT INTO home (h1, h2, h3) VALUES (?, ?, ?)", 1000, 900, 0)
	traffic.Feed(fans, "fans", "f2", person, "people", "p1", all(0, feed.NPlusOne))
	traffic.Feed(fans, "fans", "f2", home, "home", "h1", all(0, feed.NPlusOne))
	traffic.Feed(match, "matches", "home_team", team, "teams", "number", all(0, feed.Single))
	tables := []schema.Table{
		infertest.Table("ks", "people", "p1 bigint", "", "name text"), infertest.Table("ks", "fans", "f1 bigint", "f2 bigint", "since timestamp"), infertest.Table("ks", "home", "h1 bigint", "h2 timeuuid", "h3 text"),
		infertest.Table("ks", "matches", "match_id uuid", "", "home_team bigint", "winner_team bigint"), infertest.Table("ks", "teams", "number bigint", "", "name text"),
	}
	for i := range 9 {
		tables = append(tables, infertest.Table("ks", fmt.Sprintf("a%c", 'a'+i), fmt.Sprintf("k%c bigint", 'a'+i), "", "name text"))
	}
	m, err := infer.Infer(traffic.Snapshot(), single("ks", tables...), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Home.h1 -> Person", "Match.winner_team -> Team"} {
		if !strings.Contains(related(m), want) {
			t.Errorf("no %s: %s", want, related(m))
		}
	}
	for _, r := range m.Relationships {
		for _, e := range r.Evidence {
			if e.Text == "" {
				t.Errorf("%s -> %s by %s: %s %+.1f is not told", r.From, r.To, r.Column, e.Group, e.LogOdds)
			}
		}
	}
}

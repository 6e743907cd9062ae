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

// Classes by teacher are classes, though they have the title of the course besides: by their name, and as there are as many. Of more or fewer rows that is not known, nor
// where a column of the primary key is none of the class.
func TestCopiesByNameWithMore(t *testing.T) {
	for _, c := range []struct {
		what, partition, clustering string
		rows                        float64
		want                        string
	}{
		{"as many", "teacher_id int", "course_id int, class_no int", 500, "class+class_by_teacher"},
		{"more", "teacher_id int", "course_id int, class_no int", 900, "class class_by_teacher"},
		{"fewer", "teacher_id int", "course_id int, class_no int", 300, "class class_by_teacher"},
		{"another column", "teacher_id int", "course_id int, class_no int, colour text", 500, "class class_by_teacher"},
		{"a part of the key", "teacher_id int", "course_id int", 500, "class class_by_teacher"},
	} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "class", "course_id int", "class_no int", "teacher_id int", "room text"),
			infertest.Table("ks", "class_by_teacher", c.partition, c.clustering, "course_title text")),
			[]schema.Stats{
				infertest.Measured("ks", "class", 500, 120, "course_id 120 4", "class_no 9 4", "teacher_id 90 4", "room 60 9"),
				infertest.Measured("ks", "class_by_teacher", c.rows, 90, "teacher_id 90 4", "course_id 120 4", "class_no 9 4", "colour 400 9", "course_title 118 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// So are reviews by user, whose key of its own is called id and is a number, which says nothing.
func TestCopiesByNameOfOneKey(t *testing.T) {
	for _, c := range []struct {
		rows float64
		want string
	}{{500, "review+review_by_user"}, {900, "review review_by_user"}} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "review", "product_id bigint", "id bigint", "user_id bigint", "stars int"),
			infertest.Table("ks", "review_by_user", "user_id bigint", "id bigint", "product_id bigint", "stars int", "product_name text")),
			[]schema.Stats{
				infertest.Measured("ks", "review", 500, 120, "product_id 120 8", "id 500 8", "user_id 200 8", "stars 5 4"),
				infertest.Measured("ks", "review_by_user", c.rows, 90, "user_id 200 8", fmt.Sprintf("id %.0f 8", c.rows), "product_id 120 8", "stars 5 4", "product_name 118 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%.0f rows: %s, want %s", c.rows, got, c.want)
		}
	}
}

// Roles of users have role_id for their key, too, and are read by user; what leads to roles makes these no roles of users.
func TestWhatIsReadIsNoCopyByItsName(t *testing.T) {
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	list := traffic.Say("SELECT role_id FROM user_roles_by_user WHERE user_id = ?", 1000, 900, 5)
	one := traffic.Say("SELECT role FROM user_roles WHERE role_id = ?", 1000, 900, 1)
	role := traffic.Say("SELECT label FROM roles WHERE role_id = ?", 1000, 900, 1)
	traffic.Feed(list, "user_roles_by_user", "role_id", one, "user_roles", "role_id", all(0, feed.NPlusOne))
	traffic.Feed(one, "user_roles", "role", role, "roles", "role_id", all(0, feed.NPlusOne))
	m, err := infer.Infer(traffic.Snapshot(), single("ks",
		infertest.Table("ks", "user_roles", "role_id uuid", "", "user_id uuid", "role uuid", "granted timestamp"),
		infertest.Table("ks", "user_roles_by_user", "user_id uuid", "role_id uuid"),
		infertest.Table("ks", "roles", "role_id uuid", "", "label text")),
		[]schema.Stats{
			infertest.Measured("ks", "user_roles", 4000, 4000, "role_id 4000 16", "user_id 1800 16", "role 30 16", "granted 4000 8"),
			infertest.Measured("ks", "user_roles_by_user", 4000, 1800, "user_id 1800 16", "role_id 4000 16"),
			infertest.Measured("ks", "roles", 30, 30, "role_id 30 16", "label 30 9"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := held(m); got != "roles user_roles+user_roles_by_user" {
		t.Errorf("%s", got)
	}
}

// Plurals of other languages are understood where they add to the singular, and what a table is arranged by where its name says so in them; a number is an identifier in German, too.
func TestNamesInOtherLanguages(t *testing.T) {
	for _, c := range []struct{ table, by, column, entity string }{
		{"adresses", "adresses_par_client", "adresse_id", "Adress"}, //nolint:misspell // French
		{"direcciones", "direcciones_por_cliente", "direccion_id", "Direccione"}, {"kunden", "kunden_nach_ort", "kunde_nr", "Kunden"},
	} {
		place := strings.Split(c.by, "_")[2]
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", c.table, "id uuid", "", "name text", place+" text"), infertest.Table("ks", c.by, place+" text", c.column+" uuid", "name text"),
			infertest.Table("ks", "visite", "numero int", "", c.column+" uuid")),
			[]schema.Stats{
				infertest.Measured("ks", c.table, 900, 900, "id 900 16", "name 890 9", place+" 80 9"), infertest.Measured("ks", c.by, 900, 80, place+" 80 9", c.column+" 900 16", "name 890 9"),
				infertest.Measured("ks", "visite", 3000, 3000, "numero 3000 4", c.column+" 600 16"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); held(m) != c.table+"+"+c.by+" visite" || !strings.HasSuffix(got, "-> "+c.entity) {
			t.Errorf("%s: %s; %s", c.table, held(m), got)
		}
	}
}

// Pairs that are kept from both sides are one, also where each has the tenant before it, whom both ends determine.
func TestPairsOfATenant(t *testing.T) {
	rows := &infertest.Rows{Keyspace: "ks"}
	for i := range 1500 {
		n, label := i%300, i*7%100
		tenant := fmt.Sprint("tenant ", n%10)
		label += 9 - label%10 - (9 - n%10) // of the same tenant
		rows.Add("tasks", "tenant_id", tenant, "task_id", fmt.Sprint("task ", n))
		rows.Add("labels", "tenant_id", tenant, "label_id", fmt.Sprint("label ", label))
		for _, table := range []string{"task_labels", "tasks_by_label"} {
			rows.Add(table, "tenant_id", tenant, "task_id", fmt.Sprint("task ", n), "label_id", fmt.Sprint("label ", label))
		}
	}
	snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
	snapshot.Profiles = rows.Document()
	m, err := infer.Infer(snapshot, single("ks",
		infertest.Table("ks", "tasks", "tenant_id uuid, task_id uuid", "", "title text"), infertest.Table("ks", "labels", "tenant_id uuid", "label_id uuid", "name text"),
		infertest.Table("ks", "task_labels", "tenant_id uuid, task_id uuid", "label_id uuid"), infertest.Table("ks", "tasks_by_label", "tenant_id uuid, label_id uuid", "task_id uuid")),
		[]schema.Stats{
			infertest.Measured("ks", "tasks", 300, 300, "tenant_id 10 16", "task_id 300 16", "title 300 9"), infertest.Measured("ks", "labels", 100, 10, "tenant_id 10 16", "label_id 100 16", "name 90 9"),
			infertest.Measured("ks", "task_labels", 1500, 300, "tenant_id 10 16", "task_id 300 16", "label_id 100 16"),
			infertest.Measured("ks", "tasks_by_label", 1500, 100, "tenant_id 10 16", "label_id 100 16", "task_id 300 16"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := held(m); got != "labels tasks" || !strings.Contains(related(m), "Task.labels -> Label") {
		t.Errorf("%s, %s: %v", got, related(m), m.Entities)
	}
}

// Pairs that are kept from both sides with other columns on each are one where the two are called after each other's sides, or one of them is and both have as many of each; what is called
// otherwise, or has other pairs, is not.
func TestPairsCalledAfterBothSides(t *testing.T) {
	for _, c := range []struct {
		name, table string
		rows        float64
		owners      int
		want        string
	}{
		{"both", "accounts_by_owner", 5000, 1800, "accounts accounts_by_owner+owners_by_account owners"},
		{"one, as many of each", "holdings_by_owner", 5000, 1800, "accounts holdings_by_owner+owners_by_account owners"},
		{"one, fewer owners", "holdings_by_owner", 5000, 1600, "accounts holdings_by_owner owners owners_by_account"},
		{"fewer", "accounts_by_owner", 4000, 1500, "accounts accounts_by_owner owners owners_by_account"},
		{"called otherwise", "holdings", 5000, 1800, "accounts holdings owners owners_by_account"},
	} {
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
			infertest.Table("ks", "accounts", "account_id uuid", "", "label text"), infertest.Table("ks", "owners", "owner_id uuid", "", "name text"),
			infertest.Table("ks", "owners_by_account", "account_id uuid", "owner_id uuid", "role text"), infertest.Table("ks", c.table, "owner_id uuid", "account_id uuid", "share int")),
			[]schema.Stats{
				infertest.Measured("ks", "accounts", 2000, 2000, "account_id 2000 16", "label 1900 9"), infertest.Measured("ks", "owners", 2500, 2500, "owner_id 2500 16", "name 2400 9"),
				infertest.Measured("ks", "owners_by_account", 5000, 1500, "account_id 1500 16", "owner_id 1800 16", "role 4 9"),
				infertest.Measured("ks", c.table, c.rows, float64(c.owners), "account_id 1500 16", fmt.Sprintf("owner_id %d 16", c.owners), "share 100 4"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Unmeasured, owners by account and accounts by owner are pairs, not owners that have one account each, and accounts that have one owner. Without the other side they may be.
func TestBothSidesUnmeasured(t *testing.T) {
	for _, both := range []bool{true, false} {
		tables := []schema.Table{
			infertest.Table("ks", "accounts", "account_id uuid", "", "label text"), infertest.Table("ks", "owners", "owner_id uuid", "", "name text"),
			infertest.Table("ks", "owners_by_account", "account_id uuid", "owner_id uuid", "role text"),
		}
		want := "accounts owners+owners_by_account"
		if both {
			tables, want = append(tables, infertest.Table("ks", "accounts_by_owner", "owner_id uuid", "account_id uuid", "share int")), "accounts accounts_by_owner owners owners_by_account"
		}
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != want {
			t.Errorf("both %v: %s, want %s (%s)", both, got, want, related(m))
		}
	}
}

// Guests by their e-mail address, which is unique, are guests, who are called by their number in a chain. What is last in a key and no such thing identifies as before.
func TestFoundByIsNoKey(t *testing.T) {
	m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks",
		infertest.Table("ks", "guests", "chain_code text, guest_no int", "", "name text", "email text"), infertest.Table("ks", "guests_by_email", "chain_code text, email text", "", "guest_no int"),
		infertest.Table("ks", "goods_by_shelf", "shelf text", "sku text", "price int")),
		[]schema.Stats{
			infertest.Measured("ks", "guests", 2500, 2500, "chain_code 15 4", "guest_no 400 4", "name 2400 9", "email 2500 20"),
			infertest.Measured("ks", "guests_by_email", 2500, 2500, "chain_code 15 4", "email 2500 20", "guest_no 400 4"), infertest.Measured("ks", "goods_by_shelf", 900, 30, "shelf 30 9", "sku 900 9", "price 80 4"),
		})
	if err != nil {
		t.Fatal(err)
	}
	if e := entity(m, "Guest"); held(m) != "goods_by_shelf guests+guests_by_email" || e == nil || strings.Join(e.Key, " ") != "chain_code guest_no" || strings.Join(entity(m, "Good").Key, " ") != "sku" {
		t.Errorf("%s: %+v", held(m), m.Entities)
	}
}

// The passengers of a booking and its lines, both numbered from one on and written together, are two things, whatever is equal. So are lines and discounts that both have a position, of which
// there are more; a copy that goes on counting under another name is one.
func TestNumbersOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		table, number, line string
		rows                float64
		want                string
	}{
		{"passengers", "passenger_no", "line_no", 6000, "booking_lines passengers"},
		{"discounts", "position", "position", 8000, "booking_lines discounts"},
		{"sold", "number", "line_no", 6000, "booking_lines+sold"},
	} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		one := traffic.Say("INSERT INTO booking_lines (locator, "+c.line+", fare, flight_no) VALUES (?, ?, ?, ?)", 1000, 900, 1)
		other := traffic.Say("INSERT INTO "+c.table+" (locator, "+c.number+", name) VALUES (?, ?, ?)", 1000, 900, 1)
		snapshot := traffic.Snapshot()
		snapshot.Bursts = []burst.Pair{{From: one, To: other, Writes: 1000, Accompanied: 1000, Tried: 1000, Mean: 1, Equal: []burst.Equal{{From: 0, To: 0, Share: 1, Same: true}, {From: 1, To: 1, Share: 1, Same: true}}}}
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "booking_lines", "locator text", c.line+" int", "fare int", "flight_no text"), infertest.Table("ks", c.table, "locator text", c.number+" int", "name text")),
			[]schema.Stats{
				infertest.Measured("ks", "booking_lines", 6000, 3000, "locator 3000 6", c.line+" 9 4", "fare 500 4", "flight_no 250 6"),
				infertest.Measured("ks", c.table, c.rows, 3000, "locator 3000 6", c.number+" 9 4", "name 5000 9"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.table, got, c.want)
		}
	}
}

// What has the channel and the message of pinned messages is of messages, which are called by a number of their own: not of those that are pinned.
func TestCalledAfterAnother(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "channels", "channel_id bigint", "", "name text"), infertest.Table("ks", "messages", "channel_id bigint, bucket int", "message_id bigint", "content text"),
		infertest.Table("ks", "pinned_messages", "channel_id bigint", "message_id bigint", "pinned_at timestamp"), infertest.Table("ks", "attachments", "channel_id bigint, message_id bigint", "attachment_id bigint", "url text"))
	m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := related(m); got != "Attachment.channel -> Channel, Attachment.message -> Message, Message.channel -> Channel, PinnedMessage.channel -> Channel, PinnedMessage.message -> Message" {
		t.Errorf("%s", got)
	}
}

// What is left on a flight, counted in a table with the flight's key, is the flight's: the flight is not of its counter, too.
func TestCountersOfWholeKeys(t *testing.T) {
	s := single("ks", infertest.Table("ks", "flights", "flight_no text, departs date", "", "gate text"), infertest.Table("ks", "seats_left", "flight_no text, departs date", "", "free counter"))
	s.Keyspaces[0].Tables[1].Counter = true
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	left := traffic.Say("SELECT flight_no, departs, free FROM seats_left WHERE flight_no = ? AND departs = ?", 1000, 900, 1)
	flight := traffic.Say("SELECT gate FROM flights WHERE flight_no = ? AND departs = ?", 1000, 900, 1)
	for _, column := range []string{"flight_no", "departs"} {
		traffic.Feed(left, "seats_left", column, flight, "flights", column, feed.Feed{Executions: 1000, Hits: 1000, Producers: 1000, Followed: 1, PerExecution: 1, Confidence: 1})
	}
	m, err := infer.Infer(traffic.Snapshot(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := related(m); got != "SeatsLeft.flight -> Flight" {
		t.Errorf("%s", got)
	}
}

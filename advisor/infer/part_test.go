package infer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/schema"
)

// held lists the tables of each entity, sorted, the base table first.
func held(m *infer.Model) string {
	var out []string
	for _, e := range m.Entities {
		out = append(out, strings.ReplaceAll(strings.Join(e.Tables, "+"), "ks.", ""))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// A table for each day, of which none was read: the next day's rows are others, though all is called alike and there are as many.
func TestTablesOfDays(t *testing.T) {
	for _, c := range []struct{ second, want string }{{"calls_20261120", "calls_20261119 calls_20261120"}, {"call_details", "call_details+calls_20261119"}} {
		var tables []schema.Table
		var stats []schema.Stats
		for _, name := range []string{"calls_20261119", c.second} {
			tables = append(tables, infertest.Table("ks", name, "hour int", "call_id uuid", "callee text", "duration int"))
			stats = append(stats, infertest.Measured("ks", name, 2500, 24, "hour 24 4", "call_id 2500 16", "callee 900 12", "duration 600 4"))
		}
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), single("ks", tables...), stats)
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// What has a part of the rows is no base of what has all of them, however well it would do by its key: who asks it in place of the other misses the rest.
func TestPartsAreNoBases(t *testing.T) {
	for _, c := range []struct {
		active int
		want   string
	}{{600, "orders+active_orders"}, {2950, "active_orders+orders"}} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 3000 {
			order := fmt.Sprint("order ", i)
			rows.Add("orders", "customer_id", fmt.Sprint("customer ", i%700), "order_id", order)
			if i < c.active {
				rows.Add("active_orders", "order_id", order)
			}
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		n := float64(c.active)
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "active_orders", "order_id uuid", "", "state text"),
			infertest.Table("ks", "orders", "customer_id uuid", "order_id uuid", "state text")),
			[]schema.Stats{
				infertest.Measured("ks", "active_orders", n, n, fmt.Sprintf("order_id %g 16", n), "state 4 6"),
				infertest.Measured("ks", "orders", 3000, 700, "customer_id 700 16", "order_id 3000 16", "state 4 6"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%d active: %s, want %s", c.active, got, c.want)
		}
	}
}

// Calls from one cell are written within milliseconds of each other, so that a write of a call has that of another one in common with the copy. What tells a fan-out is that its key
// is written several times.
func TestCopiesOfWhatIsPopular(t *testing.T) {
	for _, c := range []struct {
		mean float64 // writes of the second table with the call's id
		want string
	}{{1, "calls+calls_of_subscriber subscribers"}, {3, "calls calls_of_subscriber subscribers"}, {0, "calls calls_of_subscriber subscribers"}} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		one := traffic.Say("INSERT INTO calls (call_id, cell, duration) VALUES (?, ?, ?)", 1000, 900, 0)
		other := traffic.Say("INSERT INTO calls_of_subscriber (msisdn, call_id, cell) VALUES (?, ?, ?)", 1000, 900, 0)
		snapshot := traffic.Snapshot()
		p := burst.Pair{From: one, To: other, Writes: 1000, Accompanied: 1000, Tried: 1000, Mean: 1.6, Equal: []burst.Equal{
			{From: 0, To: 1, Share: 1, Same: true, Mean: c.mean}, {From: 1, To: 2, Share: 1, Same: true, Mean: 1.6},
		}}
		if c.mean == 0 { // found before it was told by column
			p.Equal[1].Mean = 0
		}
		snapshot.Bursts = []burst.Pair{p}
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "calls", "call_id uuid", "", "cell int", "duration int"), infertest.Table("ks", "calls_of_subscriber", "msisdn text", "call_id uuid", "cell int"),
			infertest.Table("ks", "subscribers", "msisdn text", "", "name text")), nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, m, snapshot)
		if got := held(m); got != c.want {
			t.Errorf("%g writes: %s, want %s", c.mean, got, c.want)
		}
	}
}

// The state of an account and that of its limits are two, though both are called state and both are of one account: rows of the same account have other values. Where a row says
// the same in both, though not at every look, it is one.
func TestNamesakes(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(i int) string // the state of limits; that of an account is state i%5
		one  bool
	}{
		{"two", func(i int) string { return fmt.Sprint("state ", i*7%11) }, false},
		{"one", func(i int) string { return fmt.Sprint("state ", i%5) }, true},
		{"one that changes", func(i int) string { return fmt.Sprint("state ", (i+min(i%3, 1))%5) }, true},
	} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 300 {
			account := fmt.Sprint("account ", i)
			rows.Add("accounts", "account_id", account, "state", fmt.Sprint("state ", i%5))
			if c.name == "one that changes" { // some were read twice
				rows.Add("accounts", "account_id", account, "state", fmt.Sprint("state ", (i+i%2)%5))
			}
			rows.Add("limits", "account_id", account, "state", c.of(i))
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "accounts", "account_id uuid", "", "state text", "owner text"), infertest.Table("ks", "limits", "account_id uuid", "", "state text", "amount int")),
			[]schema.Stats{infertest.Measured("ks", "accounts", 300, 300, "account_id 300 16", "state 5 7", "owner 280 12"), infertest.Measured("ks", "limits", 300, 300, "account_id 300 16", "state 11 7", "amount 90 4")})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Field("ks", "accounts", "state") == m.Field("ks", "limits", "state"); held(m) != "accounts+limits" || got != c.one {
			t.Errorf("%s: %s, one state %v", c.name, held(m), got)
		}
	}
}

// Every account has a log-in that owns it, and no other account has that: that does not make it a copy of log-ins, arranged by account. Of the others of an account it has none, however
// many there are. Where each has its own account it may be one.
func TestOneOfSeveralIsNoCopy(t *testing.T) {
	for _, c := range []struct {
		logins int
		want   string
	}{{2400, "accounts logins"}, {1200, "accounts+logins"}} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range c.logins {
			rows.Add("logins", "login", fmt.Sprint("login ", i), "account_id", fmt.Sprint("account ", i%1200))
			if i < 1200 {
				rows.Add("accounts", "account_id", fmt.Sprint("account ", i), "owner_login", fmt.Sprint("login ", i))
			}
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		n := float64(c.logins)
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "accounts", "account_id bigint", "", "owner_login text", "plan text"), infertest.Table("ks", "logins", "login text", "", "account_id bigint", "role text")),
			[]schema.Stats{
				infertest.Measured("ks", "accounts", 1200, 1200, "account_id 1200 8", "owner_login 1200 12", "plan 3 4"),
				infertest.Measured("ks", "logins", n, n, fmt.Sprintf("login %g 12", n), "account_id 1200 8", "role 3 5"),
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%d log-ins: %s, want %s", c.logins, got, c.want)
		}
	}
}

// Of what is written several times after something else only the first is near enough to be seen beside it, where each write takes long. Rows that were seen tell that there are
// several, where nothing was counted; and where none was seen, that more is inserted.
func TestSlowWritesAreNoCopies(t *testing.T) {
	for _, c := range []struct {
		stays int // of each guest
		seen  bool
		want  string
	}{{1, true, "guests+stays"}, {3, true, "guests stays"}, {1, false, "guests+stays"}, {3, false, "guests stays"}} {
		traffic, rows := &infertest.Traffic{Keyspace: "ks", Seconds: 10}, &infertest.Rows{Keyspace: "ks"}
		guest := traffic.Say("INSERT INTO guests (guest_id, name) VALUES (?, ?)", 100, 900, 0)
		stay := traffic.Say("INSERT INTO stays (guest_id, arrival, room) VALUES (?, ?, ?)", uint64(100*c.stays), 900, 0) // #nosec G115 -- few
		traffic.Together(guest, stay, [2]int{0, 0})
		for i := range 40 {
			id := fmt.Sprint("guest ", i)
			rows.Add("guests", "guest_id", id, "name", fmt.Sprint("name ", i))
			for n := range c.stays {
				rows.Add("stays", "guest_id", id, "arrival", fmt.Sprint("day ", n), "room", fmt.Sprint("room ", i))
			}
		}
		snapshot := traffic.Snapshot()
		if c.seen {
			snapshot.Profiles = rows.Document()
		}
		m, err := infer.Infer(snapshot, single("ks",
			infertest.Table("ks", "guests", "guest_id uuid", "", "name text"), infertest.Table("ks", "stays", "guest_id uuid", "arrival date", "room int")), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := held(m); got != c.want {
			t.Errorf("%d stays of each guest, rows seen %v: %s, want %s", c.stays, c.seen, got, c.want)
		}
	}
}

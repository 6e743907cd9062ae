package options

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
)

func has(r *Report, tables string) *Option {
	for _, o := range r.Options {
		if schema(o.Tables) == tables {
			return o
		}
	}
	return nil
}

func cost(t *testing.T, o *Option, id string) (reads, writes int) {
	t.Helper()
	for _, w := range o.Writes {
		if w.Statement == id {
			return w.Reads, w.Writes
		}
	}
	t.Fatalf("%s is no write of %s", id, o.Name)
	return 0, 0
}

// TestLookUpsB32B33 (B-32, B-33): q4 changes lname, which q2's table holds, and says the fname, by which that table can not be read: it gets
// an index (a), or a look-up table (b), each an option.
func TestLookUpsB32B33(t *testing.T) {
	r := find(t, read(t, customer+q2+q4+q5), Config{Indexes: 1})
	for name, tables := range map[string]string{
		"(a) an index":        "key customer.age_customer.address_customer.lname | index customer.fname | -",
		"(a) a row key":       "key customer.fname | index customer.age_customer.address_customer.lname | -",
		"(b) a look-up table": "key customer.age_customer.address_customer.lname | index - | customer.fname\nkey customer.fname | index - | customer.address, customer.age, customer.id, customer.lname",
	} {
		o := has(r, tables)
		if o == nil {
			t.Errorf("%s: no option is\n%s", name, tables)
			continue
		}
		reads, writes := cost(t, o, "q4")
		wants := map[string]int{"(a) an index": 2, "(a) a row key": 1, "(b) a look-up table": 3} // lname in a primary key is moved
		if reads != 1 || writes != wants[name] {
			t.Errorf("%s: q4 takes %d reads and %d writes, want 1 and %d (B-37)", name, reads, writes, wants[name])
		}
		if len(o.Warnings) > 0 {
			t.Errorf("%s: %q", name, o.Warnings)
		}
		// B-30: an INSERT is one request for each table that holds one of its fields.
		if reads, writes := cost(t, o, "q5"); reads != 0 || writes != len(o.Tables) {
			t.Errorf("%s: q5 takes %d reads and %d writes over %d tables", name, reads, writes, len(o.Tables))
		}
	}
	answered(t, r)
}

// TestLookUpMergedB34 (B-34): the look-up table for q4 over q2's table has the row key of q1's, and is merged with it where it may be.
func TestLookUpMergedB34(t *testing.T) {
	r := find(t, read(t, customer+
		`- {id: a, text: "SELECT customer.id FROM customer WHERE customer.age = ?", weight: 1}`+"\n"+
		`- {id: u, text: "UPDATE customer SET age = ? WHERE customer.lname = ?", weight: 1}`+"\n"+
		`- {id: v, text: "UPDATE customer SET age = ? WHERE customer.lname = ? AND customer.fname = ?", weight: 1}`+"\n"), Config{})
	want := `key customer.age | index - | customer.id
key customer.lname | index - | customer.age, customer.fname, customer.id
key customer.lname_customer.fname | index - | customer.age, customer.id`
	if o := has(r, want); o == nil || len(o.Warnings) > 0 {
		var all []string
		for _, o := range r.Options {
			all = append(all, schema(o.Tables))
		}
		t.Errorf("options:\n%s\nwant one of a read table and two look-up tables", strings.Join(all, "\n\n"))
	}
	// A read table without a row key takes the look-up table's.
	r = find(t, read(t, customer+
		`- {id: a, text: "SELECT customer.id, customer.lname FROM customer WHERE customer.age = ?", weight: 1}`+"\n"+
		`- {id: u, text: "UPDATE customer SET age = ? WHERE customer.lname = ?", weight: 1}`+"\n"), Config{Indexes: 1})
	if has(r, "key customer.lname | index customer.age | customer.id") == nil {
		t.Error("no option reads by the look-up's row key and the query's index")
	}
}

// TestCompoundB35 (B-35): an index on a part of the row key is none: that part becomes the partition.
func TestCompoundB35(t *testing.T) {
	r := find(t, read(t, customer+
		`- {id: a, text: "SELECT customer.id FROM customer WHERE customer.age = ? AND customer.lname = ?", weight: 1}`+"\n"+
		`- {id: u, text: "DELETE FROM customer WHERE customer.lname = ?", weight: 1}`+"\n"), Config{})
	o := r.Options[0]
	if got, want := schema(o.Tables), "key customer.lname + customer.age | index - | customer.id"; got != want {
		t.Fatalf("the best option is\n%s\nwant\n%s", got, want)
	}
	if got, want := o.Tables[0].Physical().String(), "[lname][age, id][]"; got != want {
		t.Errorf("Cassandra's is %s, want %s", got, want)
	}
	answered(t, r)
}

// TestInsertHelpersB31 (B-31): rows of a join need the values of the other entities, which tables hold that are not merged.
func TestInsertHelpersB31(t *testing.T) {
	w, err := workload.Load("../../examples/designs/hotel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool { return s.ID != "arrivals" && s.ID != "book" })
	r := find(t, w, Config{})
	want := `key Guest.guest_id | index - | Guest.email, Guest.name
key Hotel.city_Reservation.start_date | index - | Guest.email, Guest.name, Reservation.end_date, Reservation.reservation_id, Room.number
key Hotel.hotel_id | index - | Hotel.city
key Room.room_id | index - | Hotel.hotel_id, Room.number`
	if got := schema(r.Options[0].Tables); got != want {
		t.Errorf("tables\n%s\nwant\n%s", got, want)
	}
	if reads, writes := cost(t, r.Options[0], "book"); reads != 3 || writes != 1 {
		t.Errorf("book takes %d reads and %d writes, want 3 and 1 (B-37)", reads, writes)
	}
	for _, x := range r.Options[0].Tables {
		if (x.Purpose == Helper) != (len(x.Tree.Entities) < 3) {
			t.Errorf("%s is %s", x, x.Purpose)
		}
	}
}

// TestMetricsB36toB43 computes every metric of one option by hand.
func TestMetricsB36toB43(t *testing.T) {
	w := read(t, strings.NewReplacer("{name: fname, type: text}", "{name: fname, type: text, size: 10}", "{name: lname, type: text}", "{name: lname, type: text, size: 30}", "{name: address, type: text}", "{name: address, type: text, size: 40}").Replace(customer)+q1+
		`- {id: q6, text: "SELECT customer.address FROM customer WHERE customer.age = ?", weight: 1}`+"\n"+q5+
		`- {id: w2, text: "UPDATE customer SET address = ? WHERE customer.fname = ? GIVEN customer.id, customer.age", weight: 3}`+"\n")
	r := find(t, w, Config{Indexes: 1, Costs: Costs{Key: 1, Index: 7, Byte: 0.01}})
	// fname by row key, age by index: one table of fname, age, lname, address, and its key id.
	o := has(r, "key customer.fname | index customer.age | customer.address, customer.lname")
	if o == nil {
		t.Fatal("no such option")
	}
	m := o.Metrics
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("B-43 indexes per table", m.AvgIndexes, 1)
	near("B-43 columns per field", m.AvgDuplication, 4.0/5)
	near("B-43 B-44 simple score", o.Score, 1.8)
	near("B-36 requests per write", m.WriteRequests, (1*1+3*1)/4.0)
	near("B-36 unweighted", m.WriteMean, 1)
	near("B-38 storage", m.Storage, 1)
	near("B-40 look-ups", m.Read, (9*1+1*7)/10.0)
	near("B-41 surplus", m.Surplus, 0.01*(9*(4+40)+1*(10+30))/10) // of q1: age, address; of q6: fname, lname
	weighted := Weighted{Writes: 2, Storage: 3, Read: 4, Surplus: 5}
	near("B-42 weighted score", weighted.Of(m), 2*m.WriteRequests+3*m.Storage+4*m.Read+5*m.Surplus)
	r = find(t, w, Config{Indexes: 1, Score: fewest{}})
	if got := len(r.Options[0].Tables); r.Score != "fewest" || got != 1 {
		t.Errorf("B-42: by an own score %q, the best has %d tables", r.Score, got)
	}
}

// fewest is an own score.
type fewest struct{}

func (fewest) Name() string         { return "fewest" }
func (fewest) Of(m Metrics) float64 { return float64(m.Tables) }

// TestJoinRowsB39 (B-39): metric 2b is the same for all options.
func TestJoinRowsB39(t *testing.T) {
	r := find(t, twissandra(t), Config{Indexes: 1})
	for _, o := range r.Options {
		if o.Metrics.JoinRows != 2*(1000000+200000+200000) {
			t.Fatalf("%s: %g", o.Name, o.Metrics.JoinRows)
		}
	}
}

// TestTwissandraWritesB47 (B-47): what Twissandra's writes take in Figure 3. A tweet goes to three tables; a user without tweets has no
// row in the joins.
func TestTwissandraWritesB47(t *testing.T) {
	r := find(t, twissandra(t), Config{Indexes: 1})
	for id, want := range map[string]int{"create-user": 1, "create-tweet": 3, "create-friend": 1, "delete-friend": 1, "create-follower": 1, "delete-follower": 1} {
		if reads, writes := cost(t, r.Options[0], id); reads != 0 || writes != want {
			t.Errorf("%s takes %d reads and %d writes, want %d writes", id, reads, writes, want)
		}
	}
}

// TestConnectB31: a new pair of many to many has rows in the joined table, for which both ends' values must be known (B-37).
func TestConnectB31(t *testing.T) {
	r := find(t, read(t, pets+`- {id: clubs, text: "SELECT Club.town, Person.name FROM Person.clubs WHERE Person.pid = ?", weight: 1}
- {id: join, text: "CONNECT Person(?) TO clubs(?)", weight: 1}
- {id: leave, text: "DISCONNECT Person(?) FROM clubs(?)", weight: 1}
- {id: rename, text: "UPDATE Person SET name = ? WHERE Person.pid = ?", weight: 1}
`), Config{})
	want := `key Club.cid | index - | Club.town
key Person.pid | index - | Club.town, Person.name
key Person.pid | index - | Person.name`
	if got := schema(r.Options[0].Tables); got != want {
		t.Fatalf("tables\n%s\nwant\n%s", got, want)
	}
	for id, want := range map[string][2]int{"join": {2, 1}, "leave": {0, 1}, "rename": {1, 2}} {
		if reads, writes := cost(t, r.Options[0], id); reads != want[0] || writes != want[1] {
			t.Errorf("%s takes %d reads and %d writes, want %v", id, reads, writes, want)
		}
	}
}

// TestLookUpOverAnotherEntityB33: a DELETE that filters by another entity needs a look-up table over both.
func TestLookUpOverAnotherEntityB33(t *testing.T) {
	w := twissandra(t)
	var b strings.Builder
	if err := workload.Save(&b, w); err != nil {
		t.Fatal(err)
	}
	w = read(t, b.String()+`
- {id: friends, text: "SELECT Friend.since FROM Friend WHERE Friend.friend = ?", weight: 1}
- {id: purge, text: "DELETE FROM Friend.of WHERE User.password = ?", weight: 1}
`)
	w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool { return s.ID != "friends" && s.ID != "purge" })
	r := find(t, w, Config{Indexes: 1})
	want := "key Friend.friend | index - | Friend.since\nkey User.password | index - | Friend.friend, Friend.user"
	o := has(r, want)
	if o == nil {
		t.Fatalf("no option is\n%s\nthe first is\n%s", want, schema(r.Options[0].Tables))
	}
	if reads, writes := cost(t, o, "purge"); reads != 1 || writes != 2 || len(o.Warnings) > 0 {
		t.Errorf("purge takes %d reads and %d writes; %q", reads, writes, o.Warnings)
	}
	answered(t, r)
}

package recommend_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/schema"
)

// shop is case 04: orders by an index on user_id, or by ALLOW FILTERING, of few of many users, and names of random users.
func shop(filtering bool, rows, users, ofUsers float64, returned uint64) recommend.Input {
	in := hotel(1)
	orders := infertest.Table("hotel", "orders", "order_id uuid", "", "user_id uuid", "total int")
	text := "SELECT order_id, total FROM orders WHERE user_id = ?"
	if filtering {
		text += " ALLOW FILTERING"
	} else {
		orders.Indexes = []schema.Index{{Name: "orders_by_user", Column: "user_id", On: "values"}}
	}
	in.Schema = &schema.Schema{Keyspaces: []schema.Keyspace{{
		Name: "hotel", Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
		Tables: []schema.Table{orders, infertest.Table("hotel", "users", "user_id uuid", "", "name text")},
	}}}
	in.Statistics = []schema.Stats{
		infertest.Measured("hotel", "orders", rows, rows, fmt.Sprintf("order_id %g 16", rows), fmt.Sprintf("user_id %g 16", ofUsers), "total 1000 4"),
		infertest.Measured("hotel", "users", users, users, fmt.Sprintf("user_id %g 16", users), "name 15000 9"),
	}
	traffic := &infertest.Traffic{Keyspace: "hotel", Seconds: 300}
	traffic.Say(text, 2_000, 2_600, returned)
	traffic.Say("SELECT name FROM users WHERE user_id = ?", 2_000, 500, 1)
	traffic.Say("INSERT INTO orders (order_id, user_id, total) VALUES (?, ?, ?)", 10, 600, 0)
	in.Snapshot = traffic.Snapshot()
	for i := range in.Snapshot.Statements { // exactly so many
		st := &in.Snapshot.Statements[i]
		if st.Table == "orders" && st.Kind == "select" {
			st.Rows.Sum = st.Rows.Count * returned
		}
	}
	return in
}

// TestRowsAValueAreThoseSeen: an index of 60 rows a value is kept, whoever says that they are 60: the answers, or the column's values
// if there are too few answers. Child rows are not divided by parent rows: 12,000 of 20,000 users would be 0.6.
func TestRowsAValueAreThoseSeen(t *testing.T) {
	for _, answered := range []bool{true, false} {
		in := shop(false, 12_000, 20_000, 200, 60)
		for i := range in.Snapshot.Statements {
			if !answered {
				in.Snapshot.Statements[i].Rows.Count, in.Snapshot.Statements[i].Rows.Sum, in.Snapshot.Statements[i].Rows.Buckets = 0, 0, nil
			}
		}
		a := advise(t, in)
		if list := of(a, recommend.LookUpTable); len(list) != 0 {
			t.Errorf("answers known: %t: a look-up is advised: %s", answered, list[0].Why)
		}
		keeps := of(a, recommend.Keep)
		if len(keeps) != 1 || keeps[0].Column != "user_id" {
			t.Fatalf("answers known: %t: keeps: %+v", answered, keeps)
		}
		s := keeps[0].Statements[0]
		if ratio := s.PredictedWorkAfterMs / s.PredictedWorkBeforeMs; ratio < 2 {
			t.Errorf("answers known: %t: 60 rows one by one take %g times the work of the index", answered, ratio)
		}
		said := strings.Join(keeps[0].Evidence.Facts, "; ")
		if !strings.Contains(said, "60.0 for each value of user_id") || strings.Contains(said, "returned 60.0 rows in the mean of 2000 answers") != answered {
			t.Errorf("facts: %s", said)
		}
	}
}

// TestAnswersAreBelievedBeforeTheColumn: those who are asked for have more rows than the mean value, so what is advised is for those.
func TestAnswersAreBelievedBeforeTheColumn(t *testing.T) {
	few := advise(t, shop(true, 60_000, 60_000, 50_000, 1))
	list := of(few, recommend.LookUpTable)
	if len(list) != 1 {
		t.Fatalf("scans of one row: %+v", few.Dismissed)
	}
	cheap := list[0].Rewrite.Entries
	if cheap < 2 || cheap > 1_000 {
		t.Errorf("followed up to %d entries", cheap)
	}
	many := advise(t, shop(true, 60_000, 60_000, 50_000, uint64(4*cheap)))
	if list := of(many, recommend.LookUpTable); len(list) != 0 {
		t.Errorf("a look-up of %d rows is advised although it is cheaper up to %d", 4*cheap, cheap)
	}
	if r := list[0]; math.Abs(r.Statements[0].PredictedWorkBeforeMs) == 0 || !strings.Contains(r.Why, "user_id") {
		t.Errorf("%+v", r)
	}
}

// TestFollowingPagesAreTheSameRead: an execution that asks for the next page is no further read.
func TestFollowingPagesAreTheSameRead(t *testing.T) {
	in := shop(false, 12_000, 20_000, 200, 20)
	for i := range in.Snapshot.Statements {
		if st := &in.Snapshot.Statements[i]; st.Table == "orders" && st.Kind == "select" {
			st.Paged = st.Count * 2 / 3 // three pages of twenty
		}
	}
	keeps := of(advise(t, in), recommend.Keep)
	if len(keeps) != 1 || !strings.Contains(strings.Join(keeps[0].Evidence.Facts, ""), "returned 60.0 rows in the mean") && !strings.Contains(strings.Join(keeps[0].Evidence.Facts, ""), "returned 59.9 rows in the mean") {
		t.Errorf("%+v", keeps)
	}
}

// jobs is a table by whose status it is asked, with writes that set, change and clear it.
func jobs(values, rows, flips float64, stampedShare uint64) recommend.Input {
	in := hotel(1)
	in.Schema = &schema.Schema{Keyspaces: []schema.Keyspace{{
		Name: "hotel", Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
		Tables: []schema.Table{infertest.Table("hotel", "jobs", "id uuid", "", "status text", "body text")},
	}}}
	in.Statistics = []schema.Stats{infertest.Measured("hotel", "jobs", rows, rows, fmt.Sprintf("id %g 16", rows), fmt.Sprintf("status %g 9", values), "body 1000 100")}
	traffic := &infertest.Traffic{Keyspace: "hotel", Seconds: 3600}
	traffic.Say("SELECT id, body FROM jobs WHERE status = ? ALLOW FILTERING", 40_000, 280_000, 3)
	traffic.Say("INSERT INTO jobs (id, status, body) VALUES (?, ?, ?)", 1_000, 900, 0)
	traffic.Say("UPDATE jobs SET status = ? WHERE id = ?", uint64(flips), 900, 0)
	traffic.Say("UPDATE jobs SET body = ? WHERE id = ?", 1_000, 900, 0)
	traffic.Say("DELETE FROM jobs WHERE id = ?", 20, 900, 0)
	in.Snapshot = traffic.Snapshot()
	for i := range in.Snapshot.Statements {
		st := &in.Snapshot.Statements[i]
		st.Stamped = st.Count * stampedShare / 100
	}
	return in
}

// TestWritesCostWhatTheyCost: the advice says how many requests inside Cassandra a write is, by what it does and by whether its clients
// give timestamps; those that do not touch the column pay nothing.
func TestWritesCostWhatTheyCost(t *testing.T) {
	for _, tt := range []struct {
		share uint64
		want  map[string]float64
	}{
		{100, map[string]float64{"INSERT": 3, "UPDATE": 4, "DELETE": 3}},
		{0, map[string]float64{"INSERT": 5, "UPDATE": 6, "DELETE": 4}},
		{50, map[string]float64{"INSERT": 4, "UPDATE": 5, "DELETE": 3.5}},
	} {
		list := of(advise(t, jobs(20_000, 60_000, 100, tt.share)), recommend.LookUpTable)
		if len(list) != 1 || len(list[0].Writes) != 3 {
			t.Fatalf("%d %% stamped: %+v", tt.share, list)
		}
		for _, w := range list[0].Writes {
			if got, want := 1+w.Requests.Sum(), tt.want[w.Text[:6]]; got != want {
				t.Errorf("%d %% stamped, %s: %g requests, want %g (%s)", tt.share, w.Text, got, want, w.Plan)
			}
		}
		mean := (1_000*tt.want["INSERT"] + 100*tt.want["UPDATE"] + 20*tt.want["DELETE"]) / 1_120
		if got := list[0].WriteRequests; math.Abs(got-mean) > 1e-9 || !strings.Contains(list[0].Why, fmt.Sprintf("each of them is %.1f requests in the mean", mean)) {
			t.Errorf("%d %% stamped: %g requests in the mean, want %g: %s", tt.share, got, mean, list[0].Why)
		}
		if !strings.Contains(list[0].CQL[0], "gc_grace_seconds = 21600") {
			t.Error(list[0].CQL[0])
		}
	}
}

// TestQueues: a column whose values flip makes its look-up a queue: tombstones are priced, and too many of them refuse it.
func TestQueues(t *testing.T) {
	scan := func(a *recommend.Advice) string {
		for _, d := range a.Dismissed {
			if strings.Contains(d.Text, "ALLOW FILTERING") {
				return d.Reason
			}
		}
		return ""
	}
	some := advise(t, jobs(20_000, 60_000, 1e6, 100)) // 6,000,000 in six hours, 300 a value
	list := of(some, recommend.LookUpTable)
	if len(list) != 1 {
		t.Fatalf("300 tombstones a value: %s", scan(some))
	}
	few := of(advise(t, jobs(20_000, 60_000, 100, 100)), recommend.LookUpTable)[0]
	if d := list[0].Statements[0].PredictedAfterMs - few.Statements[0].PredictedAfterMs; d < 0.15 || d > 0.3 {
		t.Errorf("300 tombstones make a read %g ms longer", d)
	}
	if !strings.Contains(strings.Join(list[0].Risks, " "), "about 300 are passed by a read of one value") {
		t.Errorf("%q", list[0].Risks)
	}
	queue := advise(t, jobs(4, 3_000, 8_000, 100))
	if reason := scan(queue); len(of(queue, recommend.LookUpTable)) != 0 || !strings.Contains(reason, "would be a queue: status has about 4 different values") {
		t.Errorf("a queue: %q", reason)
	}
	crowded := advise(t, jobs(4, 60_000, 1, 100))
	if reason := scan(crowded); len(of(crowded, recommend.LookUpTable)) != 0 || !strings.Contains(reason, "status has about 4 different values only") {
		t.Errorf("partitions without bound: %q", reason)
	}
}

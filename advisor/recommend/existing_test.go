package recommend_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
)

const existing = recommend.Kind(plan.Existing)

// shopWithCopy is the shop, whose application keeps orders by buyer, too; of share of the orders, as was measured (0: it was not).
func shopWithCopy(filtering bool, ofUsers float64, returned uint64, share float64) recommend.Input {
	const rows = 60_000
	in := shop(filtering, rows, rows, ofUsers, returned)
	tables := &in.Schema.Keyspaces[0].Tables
	*tables = slices.Insert(*tables, 1, infertest.Table("hotel", "purchases", "buyer uuid", "order_no uuid", "total int")) // they are sorted
	if share > 0 {
		in.Statistics = append(in.Statistics, infertest.Measured("hotel", "purchases", share*rows, share*ofUsers, fmt.Sprintf("buyer %g 16", share*ofUsers), fmt.Sprintf("order_no %g 16", share*rows), "total 1000 4"))
	}
	t := &infertest.Traffic{Keyspace: "hotel", Seconds: 300}
	text := "SELECT order_id, total FROM orders WHERE user_id = ?"
	if filtering {
		text += " ALLOW FILTERING"
	}
	t.Say(text, 2_000, 2_600, returned)
	t.Say("SELECT total FROM purchases WHERE buyer = ? LIMIT 1", 500, 500, 1)
	order := t.Say("INSERT INTO orders (order_id, user_id, total) VALUES (?, ?, ?)", 100, 600, 0)
	also := t.Say("INSERT INTO purchases (buyer, order_no, total) VALUES (?, ?, ?)", 100, 600, 0)
	t.Together(order, also, [2]int{0, 1}, [2]int{1, 0}, [2]int{2, 2})
	in.Snapshot = t.Snapshot()
	for i := range in.Snapshot.Statements {
		if st := &in.Snapshot.Statements[i]; st.Table == "orders" && st.Kind == "select" {
			st.Rows.Sum = st.Rows.Count * returned
		}
	}
	return in
}

// TestRowsAreFoundByTheTableThatIsThere: where the application keeps what a look-up table would be, that is used, and no table is made; how the statement
// reads today is what it costs today.
func TestRowsAreFoundByTheTableThatIsThere(t *testing.T) {
	a := advise(t, shopWithCopy(true, 50_000, 1, 1))
	list := of(a, existing)
	if len(list) != 1 || len(of(a, recommend.LookUpTable)) != 0 {
		t.Fatalf("%d by the table that is there, %d look-ups; %+v", len(list), len(of(a, recommend.LookUpTable)), a.Dismissed)
	}
	r := list[0]
	copied, err := plan.ReadCopied(r.Rewrite)
	if err != nil || copied.As.Name != "purchases" || strings.Join(copied.Asked(), " ") != "user_id" || copied.Column("order_id") != "order_no" || copied.Coverage != 1 {
		t.Errorf("%+v, %v", copied, err)
	}
	s := r.Statements[0]
	switch {
	case !r.Eligible || r.Title != "find orders by purchases, which the application keeps" || r.Rewrite.Table != "" || r.StorageBytes != 0 || len(r.Writes) != 0 || r.WriteCostRatio != 1:
		t.Errorf("%+v", r)
	case r.MarginalSecondsPerSecond == nil || *r.MarginalSecondsPerSecond <= 0 || *r.MarginalSecondsPerSecond >= r.SavedSecondsPerSecond:
		t.Errorf("saves %g s/s by itself, and beside the rest %v: a look-up would take its place", r.SavedSecondsPerSecond, r.MarginalSecondsPerSecond)
	case s.PredictedBeforeMs != s.ObservedP50Ms || s.PredictedAfterMs >= s.PredictedBeforeMs/2:
		t.Errorf("today takes %g ms, observed %g; afterwards %g", s.PredictedBeforeMs, s.ObservedP50Ms, s.PredictedAfterMs)
	}
	var titles []string
	for _, x := range r.Alternatives {
		titles = append(titles, x.Title)
	}
	if got := strings.Join(titles, "\n"); got != "in the application: SELECT order_no AS order_id, total FROM hotel.purchases WHERE buyer = ? ALLOW FILTERING\nlook-up table helenus_orders_by_user_id" &&
		got != "in the application: SELECT order_no AS order_id, total FROM hotel.purchases WHERE buyer = ?\nlook-up table helenus_orders_by_user_id" {
		t.Errorf("alternatives:\n%s", got)
	}
	form, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "existing.json", append(form, '\n'))
	var page bytes.Buffer
	if err := recommend.Explain(&page, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "existing.txt", page.Bytes())
}

// TestPartOfTheRowsIsNoCopy: of a table with a hundredth of the rows, or of which nobody knows how many it has, nothing is made, and it keeps nobody from
// being advised of a look-up.
func TestPartOfTheRowsIsNoCopy(t *testing.T) {
	for share, says := range map[float64]string{0.01: "", 0: ""} {
		in := shopWithCopy(true, 50_000, 1, share)
		a := advise(t, in)
		if len(of(a, existing)) != 0 || len(of(a, recommend.ApplicationChange)) != 0 || len(of(a, recommend.LookUpTable)) != 1 {
			t.Errorf("share %g%s: %+v", share, says, a.Recommendations)
		}
	}
}

// TestDeclinedTableMakesWayForALookUp: who does not trust the application's table dismisses that, and is advised of a table that Helenus keeps.
func TestDeclinedTableMakesWayForALookUp(t *testing.T) {
	in := shopWithCopy(true, 50_000, 1, 1)
	in.Declined = []string{of(advise(t, in), existing)[0].ID}
	if a := advise(t, in); len(of(a, existing)) != 0 || len(of(a, recommend.LookUpTable)) != 1 {
		t.Errorf("%+v", a.Recommendations)
	}
}

// TestTableThatIsThereIsReadByTheApplication: 60 rows one by one are dearer than the index; the application's own table has them in one partition.
func TestTableThatIsThereIsReadByTheApplication(t *testing.T) {
	in := shopWithCopy(false, 1_000, 60, 1)
	in.Thresholds.SavedRatio = 0.05
	a := advise(t, in)
	list := of(a, recommend.ApplicationChange)
	if len(list) != 1 || len(of(a, existing)) != 0 || list[0].Eligible {
		t.Fatalf("%+v; %+v", a.Recommendations, a.Dismissed)
	}
	if r := list[0]; r.Title != "read orders from purchases" || r.Sketch.After != "SELECT order_no AS order_id, total FROM hotel.purchases WHERE buyer = ?" || r.Rewrite != nil {
		t.Errorf("%+v, %+v", r, r.Sketch)
	}
}

// A read of the copy itself is not "found by" the base, and one that reads a part that is there is planned over that part.
func TestEachStatementIsReadFromItsTable(t *testing.T) {
	in := shopWithCopy(true, 50_000, 1, 0.01)
	a := advise(t, in)
	for _, p := range a.Problems {
		t.Error(p)
	}
	for _, d := range a.Dismissed {
		if strings.Contains(d.Text, "FROM hotel.purchases") && !strings.Contains(d.Reason, "reads one partition by its key") {
			t.Errorf("%s: %s", d.Text, d.Reason)
		}
	}
}

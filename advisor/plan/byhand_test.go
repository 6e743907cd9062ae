package plan_test

import (
	"sort"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestOrByHand: of a query that is done by hand the plans are those that read a new table, and each plan of the first statement followed by each of the
// second; by hand alone they are the latter.
func TestOrByHand(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	tables := fig7(t, w.Graph)
	for _, old := range tables[2:] {
		old.Existing = true
	}
	isNew := func(x *model.Table) bool { return !x.Existing }
	query := func(text string) *workload.Query {
		s, err := workload.Parse(w.Graph, text)
		if err != nil {
			t.Fatal(err)
		}
		return s.Query
	}
	spaceOf := func(q *workload.Query, over ...*model.Table) *plan.Space {
		s, err := plan.NewSpace(q, over, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := spaceOf(w.Statement("fig7").Query, tables...)
	hands := []plan.Hand{
		{Statement: &workload.Statement{ID: "first"}, Space: spaceOf(query("SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity = ?"), tables...), Times: 1},
		{Statement: &workload.Statement{ID: "second"}, Space: spaceOf(query("SELECT Room.RoomRate FROM Room WHERE Room.RoomID = ?"), tables...), Times: 12},
	}
	texts := func(plans []*plan.Plan) (out []string) {
		for _, p := range plans {
			var steps []string
			for i := range p.Steps {
				steps = append(steps, p.Steps[i].String())
			}
			out = append(out, strings.Join(steps, "; "))
		}
		sort.Strings(out)
		return out
	}
	var byHand, want []*plan.Plan
	for _, a := range hands[0].Space.Plans(1000) {
		for _, b := range hands[1].Space.Plans(1000) {
			byHand = append(byHand, &plan.Plan{Steps: append(append([]plan.Step(nil), a.Steps...), b.Steps...)})
		}
	}
	want = append(want, byHand...)
	made, left := 0, 0
	for _, p := range whole.Plans(1000) {
		reads := false
		for _, x := range p.Tables() {
			reads = reads || isNew(x)
		}
		if reads {
			want, made = append(want, p), made+1
		} else {
			left++
		}
	}
	if len(byHand) == 0 || made != 2 || left != 1 { // figure 7: one table; one and one that is there; three that are there
		t.Fatalf("%d by hand, %d over new tables, %d not", len(byHand), made, left)
	}
	both := whole.OrByHand(isNew, hands)
	if got, want := texts(both.Plans(1000)), texts(want); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("plans:\n%s\nwant (%d of the tables that are there alone left out):\n%s", strings.Join(got, "\n"), left, strings.Join(want, "\n"))
	}
	if got, want := texts(both.ByHand().Plans(1000)), texts(byHand); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("by hand:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	path, price := both.ByHand().CheapestPath(func(a *plan.Arc) float64 { return a.Hand.Times }, func(*model.Table) bool { return true })
	if len(path) < 2 || price < 13 || path[0].Hand.Statement.ID != "first" || path[len(path)-1].Hand.Statement.ID != "second" {
		t.Errorf("%g, %v", price, path)
	}
}

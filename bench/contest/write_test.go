package contest

import (
	"math"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestWrites: what several tables ask is read once; what goes at once takes as long as the longest, and a share of the rest.
func TestPriceWrites(t *testing.T) {
	m, err := cost.NewCassandra(cost.CassandraParameters{Nodes: 1, Replication: 1, Consistency: "ONE", Parallel: 4, Request: 1, Replica: 1, Put: 1, Row: 1e-12, Byte: 1e-12, Tombstone: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	w, err := workload.Load("../../examples/designs/figure7.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g := w.Graph
	ask := func(text string) *plan.Plan {
		s, err := workload.Parse(g, text)
		if err != nil {
			t.Fatal(err)
		}
		return &plan.Plan{Query: s.Query, Steps: []plan.Step{{Kind: plan.Get, Table: &model.Table{Name: "any"}, Requests: 1}}}
	}
	rate, city := ask("SELECT Room.RoomRate FROM Room WHERE Room.RoomID = ?"), ask("SELECT Hotel.HotelCity FROM Hotel WHERE Hotel.HotelID = ?")
	put := plan.Step{Kind: plan.Put, Requests: 1, Rows: 1}
	several := plan.Step{Kind: plan.Put, Requests: 4, Rows: 4}
	remove := plan.Step{Kind: plan.Remove, Requests: 1, Rows: 1}
	for _, c := range []struct {
		what          string
		plans         []*plan.WritePlan
		work, latency float64
	}{
		{"nothing", nil, 0, 0},
		{"a put", []*plan.WritePlan{{Steps: []plan.Step{put}}}, 2, 2},
		{"two puts", []*plan.WritePlan{{Steps: []plan.Step{put}}, {Steps: []plan.Step{put}}}, 4, 2.5},
		{"a put and four", []*plan.WritePlan{{Steps: []plan.Step{put}}, {Steps: []plan.Step{several}}}, 10, 4},
		{"delete, put", []*plan.WritePlan{{Steps: []plan.Step{remove, put}}}, 4, 4},
		{"one support query for two tables", []*plan.WritePlan{{Support: []*plan.Plan{rate}}, {Support: []*plan.Plan{rate}}}, 2, 2},
		{"two support queries", []*plan.WritePlan{{Support: []*plan.Plan{rate, city}}, {Support: []*plan.Plan{rate}}}, 4, 2.5},
	} {
		got := priceWrites(m, c.plans)
		if math.Abs(got.Work-c.work) > 1e-6 || math.Abs(got.Latency-c.latency) > 1e-6 {
			t.Errorf("%s: %+v, want %g and %g", c.what, got, c.work, c.latency)
		}
		if len(c.plans) == 1 {
			if alone := cost.Write(m, c.plans[0]); alone != got {
				t.Errorf("%s: %+v, alone %+v", c.what, got, alone)
			}
		}
	}
	nose, err := cost.ByName("nose:cassandra")
	if err != nil {
		t.Fatal(err)
	}
	if c := priceWrites(nose, []*plan.WritePlan{{Steps: []plan.Step{put}}, {Steps: []plan.Step{put}}}); c.Work != c.Latency || c.Work <= 0 {
		t.Errorf("a model that knows nothing of time: %+v", c)
	}
}

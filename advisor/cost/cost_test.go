package cost_test

import (
	"math"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

func TestPublished(t *testing.T) {
	m, _ := cost.ByName("nose:cassandra")
	near(t, "N-34 get", m.Step(&plan.Step{Kind: plan.Get, Requests: 100, Rows: 500}, false).Work, 0.0078395645+100*0.0013692786+500*1.17093638386496e-05)
	near(t, "N-34 insert", m.Step(&plan.Step{Kind: plan.Put, Rows: 3}, false).Work, 3*0.013329108)
	near(t, "N-34 delete", m.Step(&plan.Step{Kind: plan.Remove, Rows: 3}, false).Work, 3*0.0013287903)
}

func TestModels(t *testing.T) {
	steps := []plan.Step{{Kind: plan.Get, Requests: 20, Rows: 200, Bytes: 4000}, {Kind: plan.Filter}, {Kind: plan.Limit}}
	for _, c := range []struct {
		name string
		want float64
	}{{"request_count", 20}, {"entity_count", 200}, {"field_size", 4000}, {"constants", 20*0.5 + 200*0.005 + 4000*0.000002}, {"nose:cassandra", 0.0078395645 + 20*0.0013692786 + 200*1.17093638386496e-05}} {
		t.Run("N-33 N-35 "+c.name, func(t *testing.T) {
			m, err := cost.ByName(c.name)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "filters and limits are free", cost.Plan(m, &plan.Plan{Steps: steps}).Work, c.want)
		})
	}
	if _, err := cost.ByName("constant"); err == nil {
		t.Error("an unknown model is found")
	}
	if sort := cost.NewConstants(cost.Parameters{}).Step(&plan.Step{Kind: plan.Sort, Rows: 10}, false).Work; sort <= 0 || sort > 0.1 {
		t.Errorf("N-33: a small sort costs %g, want a small penalty", sort)
	}
}

// TestIndexOrLookUp: ten rows by secondary index are cheaper than by a look-up table with ten base reads on one node, and
// dearer on many.
func TestIndexOrLookUp(t *testing.T) {
	index := &plan.Plan{Steps: []plan.Step{{Kind: plan.IndexGet, Requests: 1, Rows: 10, Scanned: 10, Bytes: 1000}}}
	lookUp := &plan.Plan{Steps: []plan.Step{{Kind: plan.Get, Requests: 1, Rows: 10, Bytes: 400}, {Kind: plan.Get, Requests: 10, Rows: 10, Bytes: 1000}}}
	for nodes, cheaper := range map[float64]bool{1: true, 2: true, 6: false, 12: false} {
		m := cost.NewConstants(cost.Parameters{Nodes: nodes})
		if i, l := cost.Plan(m, index), cost.Plan(m, lookUp); (i.Work < l.Work) != cheaper {
			t.Errorf("%g nodes: index %.3g, look-up %.3g", nodes, i.Work, l.Work)
		}
	}
	m := cost.NewConstants(cost.Parameters{})
	scan := m.Step(&plan.Step{Kind: plan.Scan, Requests: 1, Rows: 4, Scanned: 200000}, true)
	if scan.Work < 200 || scan.Work > 400 {
		t.Errorf("filtering 200,000 rows takes %g ms, want 200 to 400", scan.Work)
	}
	if c := cost.Plan(m, lookUp); c.Latency >= c.Work/2 {
		t.Errorf("ten parallel gets: latency %g, work %g", c.Latency, c.Work)
	}
}

func TestCalibrate(t *testing.T) {
	m, err := cost.NewConstants(cost.Parameters{}).Calibrate(5.9, 5, 500)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the read calibrated by", m.Step(&plan.Step{Kind: plan.Get, Requests: 1, Rows: 5, Bytes: 500}, true).Latency, 5.9)
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := m.Calibrate(bad, 1, 1); err == nil {
			t.Errorf("calibrated by %g", bad)
		}
	}
}

func TestWrite(t *testing.T) {
	m := cost.RequestCount{}
	w := &plan.WritePlan{Table: &model.Table{}, Support: []*plan.Plan{{Steps: []plan.Step{{Kind: plan.Get, Requests: 2}}}}, Steps: []plan.Step{{Kind: plan.Put, Requests: 3}}}
	near(t, "support queries and puts", cost.Write(m, w).Work, 5)
}

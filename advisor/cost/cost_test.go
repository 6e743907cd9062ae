package cost_test

import (
	"fmt"
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
	steps := []plan.Step{{Kind: plan.Get, Table: sensor(1e6, 1000), Requests: 20, Rows: 200, Bytes: 4000}, {Kind: plan.Filter, Rows: 200}, {Kind: plan.Limit, Rows: 20}}
	for _, c := range []struct {
		name string
		want float64
	}{{"cassandra", 20*(0.3+2*0.2) + 200*0.005*2 + 4000*0.000002}, {"nose:cassandra", 0.0078395645 + 20*0.0013692786 + 200*1.17093638386496e-05}} {
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
	if sort := cost.Default().Step(&plan.Step{Kind: plan.Sort, Rows: 10}, false).Work; sort <= 0 || sort > 0.1 {
		t.Errorf("N-33: a small sort costs %g, want a small penalty", sort)
	}
}

// TestIndexOrLookUp: ten rows by secondary index are cheaper than by a look-up table with ten base reads on one node, and
// dearer on many, whether each row has one replica or three.
func TestIndexOrLookUp(t *testing.T) {
	table := sensor(1e6, 1000)
	index := &plan.Plan{Steps: []plan.Step{{Kind: plan.IndexGet, Table: table, Requests: 1, Rows: 10, Scanned: 10, Bytes: 1000}}}
	lookUp := &plan.Plan{Steps: []plan.Step{{Kind: plan.Get, Table: table, Requests: 1, Rows: 10, Bytes: 400}, {Kind: plan.Get, Table: table, Requests: 10, Rows: 10, Bytes: 1000}}}
	for _, c := range []struct {
		nodes, replication float64
		index              bool
	}{{1, 1, true}, {2, 1, true}, {6, 1, false}, {12, 1, false}, {3, 3, true}, {24, 3, false}} {
		m := cassandra(t, cost.CassandraParameters{Nodes: c.nodes, Replication: c.replication})
		if i, l := cost.Plan(m, index), cost.Plan(m, lookUp); (i.Work < l.Work) != c.index {
			t.Errorf("%g nodes: index %.3g, look-up %.3g", c.nodes, i.Work, l.Work)
		}
	}
	m := cassandra(t, cost.CassandraParameters{Nodes: 1})
	scan := m.Step(&plan.Step{Kind: plan.Scan, Table: table, Requests: 1, Rows: 4, Scanned: 200000}, true)
	if scan.Work < 200 || scan.Work > 400 {
		t.Errorf("filtering 200,000 rows takes %g ms, want 200 to 400", scan.Work)
	}
	if c := cost.Plan(m, lookUp); c.Latency >= c.Work/2 {
		t.Errorf("ten parallel gets: latency %g, work %g", c.Latency, c.Work)
	}
}

// TestScaled: everything takes so much longer, on a cluster of the same shape.
func TestScaled(t *testing.T) {
	table := sensor(4e9, 1000)
	table.Indexes = []model.Index{{Field: table.Clustering[0]}}
	was := cassandra(t, cost.CassandraParameters{Nodes: 6})
	is := cassandra(t, was.Parameters().Scaled(2.5))
	for _, kind := range []plan.Kind{plan.Get, plan.IndexGet, plan.Scan, plan.Filter, plan.Sort, plan.Limit, plan.Put, plan.Remove} {
		s := &plan.Step{Kind: kind, Table: table, Requests: 3, Rows: 7, Scanned: 40, Bytes: 900}
		before, after := was.Step(s, true), is.Step(s, true)
		near(t, fmt.Sprint(kind, " work"), after.Work, 2.5*before.Work)
		near(t, fmt.Sprint(kind, " latency"), after.Latency, 2.5*before.Latency)
	}
	if was.Parameters().Nodes != is.Parameters().Nodes || was.Parameters() != was.Parameters().Scaled(1) {
		t.Error("what is not a time was scaled")
	}
}

func TestWrite(t *testing.T) {
	m := cost.Default()
	get, put := plan.Step{Kind: plan.Get, Requests: 2}, plan.Step{Kind: plan.Put, Requests: 3}
	w := &plan.WritePlan{Table: &model.Table{}, Support: []*plan.Plan{{Steps: []plan.Step{get}}}, Steps: []plan.Step{put}}
	near(t, "support queries and puts", cost.Write(m, w).Work, m.Step(&get, true).Work+m.Step(&put, false).Work)
}

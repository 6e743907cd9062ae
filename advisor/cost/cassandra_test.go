package cost_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

func cassandra(t *testing.T, p cost.CassandraParameters) *cost.Cassandra {
	t.Helper()
	m, err := cost.NewCassandra(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sensor is a table of readings by sensor: of 1,000 sensors, unless the partition key has fewer values.
func sensor(readings, distinct float64) *model.Table {
	id := &model.Attribute{Name: "id", Type: "uuid", Distinct: distinct}
	at := &model.Attribute{Name: "at", Type: "timestamp"}
	key := &model.Attribute{Name: "reading", Type: "uuid"}
	e := &model.Entity{Name: "reading", Count: readings, Key: []*model.Attribute{key}, Attributes: []*model.Attribute{key, id, at}}
	return &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Partition: []model.Field{e.Field("id")}, Clustering: []model.Field{e.Field("at"), e.Field("reading")}}
}

// TestCassandra: each kind of step by hand, on six nodes with three replicas, read and written by two.
func TestCassandra(t *testing.T) {
	p := cost.CassandraParameters{Nodes: 6, Replication: 3, Consistency: "QUORUM", Parallel: 4, Request: 1, Replica: 2, Row: 0.1, Cell: 0.01, Byte: 0.001,
		Put: 3, Batch: 0.5, BatchStart: 0.25, Spread: 0.5, Tombstone: 7, IndexNode: 5, IndexRow: 0.2, IndexPut: 0.7, SAINode: 4, SAIRow: 0.05, SAIPut: 0.3,
		Node: 6, Scanned: 0.01, ScanCell: 0.001, SortStart: 0.4, Sort: 0.03, Group: 0.02}
	m := cassandra(t, p)
	plain := sensor(1e6, 1000)
	indexed := sensor(1e6, 1000)
	indexed.Indexes = []model.Index{{Field: indexed.Clustering[0]}, {Field: indexed.Clustering[1], SAI: true}}
	by := func(i int) []plan.Binding { return []plan.Binding{{Field: indexed.Clustering[i], Op: workload.Equal}} }
	two, three := 0.5+0.5*1.5, 0.5+0.5*(1.0/3+1.0/2) // the slower of two; the second of three
	four := 0.5 + 0.5*(1.0/4+1.0/3+1.0/2+1)
	for name, c := range map[string]struct {
		step          plan.Step
		work, latency float64
	}{
		"a get asks two replicas": {plan.Step{Kind: plan.Get, Table: plain, Requests: 1, Rows: 10, Bytes: 400},
			1 + 2*2 + 10*0.1*2 + 0.4, 1 + 2*two + 1 + 0.4},
		"wide rows are dearer": {plan.Step{Kind: plan.Get, Table: indexed, Fields: indexed.Clustering, Requests: 1, Rows: 10, Bytes: 400},
			1 + 2*2 + 10*(0.1+2*0.01)*2 + 0.4, 1 + 2*two + 10*(0.1+2*0.01) + 0.4},
		"nine gets, four at a time": {plan.Step{Kind: plan.Get, Table: plain, Requests: 9, Rows: 10, Bytes: 400},
			9*(1+2*2) + 10*0.1*2 + 0.4, 3*(1+2*two) + 1 + 0.4},
		"a put writes three, waits for two": {plan.Step{Kind: plan.Put, Table: plain, Requests: 1, Rows: 1, Bytes: 100},
			1 + 3*3 + 0.3, 1 + 3*three + 0.1},
		"five puts, four at a time": {plan.Step{Kind: plan.Put, Table: plain, Requests: 5, Rows: 5, Bytes: 500},
			5*(1+3*3) + 1.5, 2*(1+3*three) + 0.5},
		"five puts in a batch": {plan.Step{Kind: plan.Put, Table: plain, Requests: 5, Rows: 5, Bytes: 500},
			1.25 + 5*3*3 + 1.5 + 4*0.5, 1.25 + 2*3*three + 0.5 + 4*0.5/4},
		"a delete leaves tombstones": {plan.Step{Kind: plan.Remove, Table: plain, Requests: 1, Rows: 1},
			1 + 3*(3+7), 1 + 3*three},
		"indexes are kept": {plan.Step{Kind: plan.Put, Table: indexed, Requests: 1, Rows: 1},
			1 + 3*(3+0.7+0.3), 1 + 4*three},
		"an index asks what holds all data twice": {plan.Step{Kind: plan.IndexGet, Table: indexed, Where: by(0), Requests: 1, Rows: 20, Scanned: 20},
			1 + 4*5 + 20*0.2*2 + 20*0.1, 1 + 5*four + 20*0.2*2/8 + 2},
		"a storage-attached one": {plan.Step{Kind: plan.IndexGet, Table: indexed, Where: by(1), Requests: 1, Rows: 20, Scanned: 20},
			1 + 4*4 + 20*0.05*2 + 20*0.1, 1 + 4*four + 20*0.05*2/8 + 2},
		"an index in one partition": {plan.Step{Kind: plan.IndexGet, Table: indexed, Partition: by(0), Where: by(0), Requests: 1, Rows: 20, Scanned: 20},
			1 + 2*(5+2) + 20*0.2*2 + 20*0.1, 1 + 7*two + 20*0.2*2/4 + 2},
		"a scan": {plan.Step{Kind: plan.Scan, Table: plain, Requests: 1, Rows: 4, Scanned: 1000},
			1 + 4*6 + 1000*0.013*2 + 0.4, 1 + 6*four + 1000*0.013*2/8 + 0.4}, // three columns
		"a sort":   {plan.Step{Kind: plan.Sort, Rows: 10}, 0.7, 0.7},
		"a group":  {plan.Step{Kind: plan.Group, Rows: 10}, 0.2, 0.2},
		"a filter": {plan.Step{Kind: plan.Filter, Rows: 10}, 0, 0},
		"a limit":  {plan.Step{Kind: plan.LimitEach, Rows: 10}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			at := m
			if strings.HasSuffix(name, " in a batch") {
				p.Logged = true
				at = cassandra(t, p)
			}
			got := at.Step(&c.step, true)
			near(t, "work", got.Work, c.work)
			near(t, "latency", got.Latency, c.latency)
		})
	}
}

// TestTogether: what goes on at the same time is as much work as one after the other, and takes as long as the longest and a share of the rest; where a model
// knows nothing of time, as long as all of it.
func TestTogether(t *testing.T) {
	m := cassandra(t, cost.CassandraParameters{Nodes: 1, Parallel: 4})
	list := []cost.Cost{{Work: 2, Latency: 2}, {Work: 3, Latency: 8}, {Work: 1, Latency: 2}}
	c := cost.Together(m, list)
	near(t, "work", c.Work, 6)
	near(t, "latency", c.Latency, 8+(2.0+2)/4)
	simple, _ := cost.ByName("nose:cassandra")
	near(t, "a model that knows no latency", cost.Together(simple, list).Latency, 12)
}

func TestConsistency(t *testing.T) {
	m := cassandra(t, cost.CassandraParameters{Nodes: 5, Replication: 5})
	get := &plan.Step{Kind: plan.Get, Requests: 1}
	put := &plan.Step{Kind: plan.Put, Requests: 1}
	base := m.Parameters()
	for level, k := range map[string]float64{"ONE": 1, "local_one": 1, "TWO": 2, "THREE": 3, "QUORUM": 3, "LOCAL_QUORUM": 3, "ALL": 5, "": 3} {
		at, err := cost.For(m, &workload.Statement{ID: "s", Consistency: level})
		if err != nil {
			t.Fatal(err)
		}
		near(t, level+" read", at.Step(get, true).Work, base.Request+k*base.Replica)
		near(t, level+" write", at.Step(put, true).Work, base.Request+5*base.Put)
	}
	one, _ := m.At("ONE")
	all, _ := m.At("ALL")
	if one.Step(put, true).Latency >= all.Step(put, true).Latency {
		t.Error("a write that waits for one replica takes as long as one that waits for all")
	}
	if _, err := cost.For(m, &workload.Statement{ID: "s", Consistency: "LOCAL_QUROUM"}); err == nil || !strings.Contains(err.Error(), "LOCAL_QUORUM") {
		t.Errorf("an unknown level: %v", err)
	}
	for _, name := range []string{"nose:request_count", "nose:cassandra"} {
		simple, _ := cost.ByName(name)
		if at, err := cost.For(simple, &workload.Statement{Consistency: "ALL"}); err != nil || at != simple {
			t.Errorf("%s knows of levels: %v", name, err)
		}
	}
}

func TestPartitions(t *testing.T) {
	m := cassandra(t, cost.CassandraParameters{Nodes: 12, Replication: 3})
	get := func(x *model.Table) float64 {
		return m.Step(&plan.Step{Kind: plan.Get, Table: x, Requests: 1}, true).Work
	}
	p := m.Parameters()
	small, few, large, huge := sensor(1e6, 1000), sensor(1e4, 2), sensor(4e9, 1000), sensor(4e9, 10)
	near(t, "small partitions", get(small), p.Request+2*p.Replica)
	near(t, "two partitions on 12 nodes: half of the nodes are idle", get(few), p.Request+2*p.Replica*(1+p.Hot*1))
	doublings := math.Log2(cost.PartitionBytes(large) / 1e8)
	near(t, "a large partition", get(large), p.Request+2*p.Replica*(1+p.Large*doublings))
	if doublings < 1 || cost.Refusal(m, large) != "" {
		t.Errorf("%.1f doublings, refused because of %q", doublings, cost.Refusal(m, large))
	}
	if why := cost.Refusal(m, huge); !strings.Contains(why, "MB") {
		t.Errorf("partitions of %g bytes are not refused: %q", cost.PartitionBytes(huge), why)
	}
	huge.Bucket = &model.Bucket{Count: 1000}
	if why := cost.Refusal(m, huge); why != "" {
		t.Errorf("in a thousand buckets: %s", why)
	}
	if simple, _ := cost.ByName("nose:cassandra"); cost.Refusal(simple, huge) != "" {
		t.Error("a model without limits refuses a table")
	}
}

func TestLargestPartition(t *testing.T) {
	key := func(name string, count float64) *model.Entity {
		id := &model.Attribute{Name: "id", Type: "uuid"}
		return &model.Entity{Name: name, Count: count, Key: []*model.Attribute{id}, Attributes: []*model.Attribute{id}}
	}
	user, post := key("user", 100), key("post", 1000)
	edge := &model.Relationship{Name: "wrote", From: post, To: user, Kind: model.ManyToOne, MostBack: 200}
	x := &model.Table{Tree: model.Tree{Entities: []*model.Entity{user, post}, Edges: []*model.Relationship{edge}}, Partition: user.KeyFields(), Clustering: post.KeyFields()}
	mean := x.Bytes() / x.Partitions()
	near(t, "one has 200 posts, the mean is ten", cost.PartitionBytes(x), 20*mean)
	edge.MostBack = 0
	near(t, "nothing is known", cost.PartitionBytes(x), mean)
}

func TestParameters(t *testing.T) {
	m := cassandra(t, cost.CassandraParameters{Nodes: 9, Request: 0.7, Consistency: "ONE"})
	var b bytes.Buffer
	if err := m.Save(&b); err != nil {
		t.Fatal(err)
	}
	back, err := cost.ReadCassandra("p.yaml", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if back.Parameters() != m.Parameters() {
		t.Errorf("saved %+v, read %+v", m.Parameters(), back.Parameters())
	}
	if _, err := cost.ReadCassandra("p.json", []byte(`{"model": "cassandra", "nodes": 5, "request_ms": 0.2}`)); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"nodes: 3":                    "model: cassandra",
		"model: cassandra\nnodes: -1": "nodes is -1",
		"model: cassandra\nnodes: 2\nreplication: 3": "one replica of a row",
		"model: cassandra\nconsistency: QUORUN":      "QUORUM",
		"model: cassandra\nspread: 2":                "at most 1",
		"model: cassandra\nrow_ms: .nan":             "row_ms is NaN",
		"model: cassandra\nrow_us: 3":                "row_us",
		"model: cassandra\nbyte_ms: many":            "p.yaml",
		"model: cassandra\npartition_bytes: 5e9":     "below partition_bytes",
		"model: cassandra\nparallel: 0.5":            "at least 1",
	} {
		if _, err := cost.ReadCassandra("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range cost.Names() {
		m, err := cost.ByName(name)
		if err != nil || m.Name() != name {
			t.Errorf("%s: %v", name, err)
		}
		if o, err := cost.Open(name); err != nil || o.Name() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, nearest := range map[string]string{"nose:casandra": "nose:cassandra", "casandra": "cassandra", "nose:requests": "nose:request_count"} {
		if _, err := cost.ByName(name); err == nil || !strings.Contains(err.Error(), `"`+nearest+`"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := cost.Open("none.yaml"); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Error(err)
	}
}

func FuzzReadCassandra(f *testing.F) {
	f.Add([]byte("model: cassandra\nnodes: 3\nrequest_ms: 0.3\nconsistency: ONE\n"))
	f.Add([]byte(`{"model": "cassandra", "hot": 1e300}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := cost.ReadCassandra("fuzz", data)
		if err != nil {
			return
		}
		for _, kind := range []plan.Kind{plan.Get, plan.IndexGet, plan.Scan, plan.Put, plan.Remove, plan.Sort, plan.Filter} {
			c := m.Step(&plan.Step{Kind: kind, Table: sensor(1e6, 10), Requests: 3, Rows: 4, Scanned: 5, Bytes: 6}, true)
			if !(c.Work >= 0 && c.Latency >= 0) || math.IsInf(c.Work, 0) || math.IsInf(c.Latency, 0) {
				t.Errorf("%s costs %+v with %+v", kind, c, m.Parameters())
			}
		}
	})
}

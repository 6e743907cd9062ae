package recommend

import (
	"sort"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
)

// calibrated is how many executions a statement needs before its latency is believed.
const calibrated = 20

// clusterParameters describes the cluster to the cost model: its nodes, the replicas that the keyspace most is asked of has of each
// row, and the consistency level most used. The model knows one of each, and so does the advice. The rest is as measured, or by
// default.
func clusterParameters(measured *cost.Cassandra, s *capture.Snapshot, tables *schema.Schema, nodes int) cost.CassandraParameters {
	keyspaces, levels := map[string]uint64{}, map[string]uint64{}
	for i := range s.Statements {
		st := &s.Statements[i]
		keyspaces[st.Keyspace] += st.Count
		for _, level := range st.Consistency {
			levels[level.Name] += level.Count
		}
	}
	p := cost.CassandraParameters{}
	if measured != nil {
		p = measured.Parameters()
	}
	p.Nodes, p.Replication = float64(nodes), 0
	most := uint64(0)
	for i := range tables.Keyspaces {
		if k := &tables.Keyspaces[i]; keyspaces[k.Name] > most {
			replicas, _ := k.Replicas()
			most, p.Replication = keyspaces[k.Name], min(float64(replicas), p.Nodes)
		}
	}
	most = 0
	for _, level := range sortedKeys(levels) {
		known := cost.CassandraParameters{Consistency: level}
		if _, err := cost.NewCassandra(known); err == nil && levels[level] > most {
			most, p.Consistency = levels[level], level
		}
	}
	return p
}

func sortedKeys(m map[string]uint64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// calibrateModel brings the cost model to the latencies that were observed here. These are fitted one after the other, each by the
// median over the statements that show it, weighted by executions:
//
//	all times               by reads of one partition: everything is measured in these
//	an index's node and row by reads through a secondary index, and through a storage-attached one
//	a scan's times          by scans: a node's part, a row and a cell together, as what was seen does not tell them apart
//
// The latency is linear in each time, so what it must be multiplied by for a read to take what was seen follows from the
// latencies with it and without. A kind of read that was not seen keeps the default, scaled. Executions that Helenus
// has answered itself are left out: their latencies are not those of the statement's plan.
func calibrateModel(reads []*read, p cost.CassandraParameters) (*cost.Cassandra, error) {
	base, err := cost.NewCassandra(p)
	if err != nil {
		return nil, err
	}
	type observed struct {
		step      *plan.Step
		ms, count float64
	}
	seen := map[plan.Kind][]observed{}
	for _, r := range reads {
		latency := r.statement.OriginalLatency()
		if latency.Count < calibrated {
			continue
		}
		current, _ := cheapestPlan(r.space, base)
		if current == nil || len(current.Steps) == 0 || current.Steps[0].Requests > 1 {
			continue
		}
		kind := current.Steps[0].Kind
		seen[kind] = append(seen[kind], observed{&current.Steps[0], latency.P50() / 1000, float64(latency.Count)})
	}
	fitted := base
	fit := func(kind plan.Kind, least, most float64, times func(p cost.CassandraParameters, by float64) cost.CassandraParameters) error {
		without, err := cost.NewCassandra(times(fitted.Parameters(), 1e-15))
		if err != nil {
			return err
		}
		var list []weighted
		for _, o := range seen[kind] {
			rest := without.Step(o.step, true).Latency
			if part := fitted.Step(o.step, true).Latency - rest; part > 1e-6 {
				list = append(list, weighted{(o.ms - rest) / part, o.count})
			}
		}
		if len(list) == 0 {
			return nil
		}
		fitted, err = cost.NewCassandra(times(fitted.Parameters(), min(max(weightedMedian(list), least), most)))
		return err
	}
	for _, step := range []struct {
		kind        plan.Kind
		least, most float64
		times       func(p cost.CassandraParameters, by float64) cost.CassandraParameters
	}{
		{plan.Get, 0.01, 1000, cost.CassandraParameters.Scaled},
		{plan.IndexGet, 0.1, 10, func(p cost.CassandraParameters, by float64) cost.CassandraParameters {
			p.IndexNode, p.IndexRow = p.IndexNode*by, p.IndexRow*by
			return p
		}},
		{plan.IndexGet, 0.1, 10, func(p cost.CassandraParameters, by float64) cost.CassandraParameters {
			p.SAINode, p.SAIRow = p.SAINode*by, p.SAIRow*by
			return p
		}},
		{plan.Scan, 0.01, 100, func(p cost.CassandraParameters, by float64) cost.CassandraParameters {
			p.Node, p.Scanned, p.ScanCell = p.Node*by, p.Scanned*by, p.ScanCell*by
			return p
		}},
	} {
		if err := fit(step.kind, step.least, step.most, step.times); err != nil {
			return nil, err
		}
	}
	return fitted, nil
}

type weighted struct{ value, weight float64 }

// weightedMedian is the weighted median, 0 of nothing.
func weightedMedian(list []weighted) float64 {
	sort.SliceStable(list, func(i, j int) bool { return list[i].value < list[j].value })
	all := 0.0
	for _, w := range list {
		all += w.weight
	}
	sum := 0.0
	for _, w := range list {
		if sum += w.weight; sum >= all/2 {
			return w.value
		}
	}
	return 0
}

// atNodes is the model for a larger cluster, on which rows have as many replicas.
func atNodes(m *cost.Cassandra, nodes int) (*cost.Cassandra, error) {
	p := m.Parameters()
	p.Nodes = float64(nodes)
	return cost.NewCassandra(p)
}

package recommend

import (
	"sort"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
)

// calibrated is how many executions a statement needs before its latency is believed.
const calibrated = 20

// calibrate brings the cost model to the latencies that were observed here. Three numbers are fitted, each as the median over the
// statements that show it, weighted by executions:
//
//	scale         by reads of one partition: everything is measured in these
//	index, node   by reads through a secondary index: what they take beyond one request
//	scanned       by scans: the same, per row of the table
//
// A kind of read that was not seen keeps the default, scaled. Statements that Helenus has answered itself are not used:
// their latencies are not those of their plans.
func calibrate(reads []*read, nodes int) *cost.Constants {
	p := cost.NewConstants(cost.Parameters{Nodes: float64(nodes)}).Parameters()
	base := cost.NewConstants(p)
	type observed struct {
		step  *plan.Step
		ms    float64
		count float64
	}
	seen := map[plan.Kind][]observed{}
	for _, r := range reads {
		if r.statement.Latency.Count < calibrated || r.statement.Rewritten > 0 {
			continue
		}
		current, _ := cheapest(r.space, base)
		if current == nil || len(current.Steps) == 0 || current.Steps[0].Requests > 1 {
			continue
		}
		kind := current.Steps[0].Kind
		seen[kind] = append(seen[kind], observed{&current.Steps[0], r.statement.Latency.P50() / 1000, float64(r.statement.Latency.Count)})
	}
	// Each ratio is of what was seen to what the defaults say.
	ratio := func(kind plan.Kind, of func(o observed) float64) float64 {
		var list []weighted
		for _, o := range seen[kind] {
			list = append(list, weighted{of(o), o.count})
		}
		return median(list)
	}
	if scale := ratio(plan.Get, func(o observed) float64 { return o.ms / base.Step(o.step, true).Latency }); scale > 0 {
		p.Scale = min(max(scale, 0.01), 1000)
	}
	data := func(s *plan.Step) float64 { return s.Rows*p.Row + s.Bytes*p.Byte }
	beyond := func(o observed) float64 { return o.ms/p.Scale - p.Request - data(o.step) }
	if k := ratio(plan.IndexGet, func(o observed) float64 {
		return beyond(o) / (base.Step(o.step, true).Latency - p.Request - data(o.step))
	}); k != 0 {
		k = min(max(k, 0.1), 10)
		p.Index, p.Node = p.Index*k, p.Node*k
	}
	if k := ratio(plan.Scan, func(o observed) float64 {
		return (beyond(o) - p.Node) / (o.step.Scanned * p.Scanned / p.Nodes)
	}); k != 0 {
		p.Scanned *= min(max(k, 0.1), 10)
	}
	return cost.NewConstants(p)
}

type weighted struct{ value, weight float64 }

// median is the weighted median, 0 of nothing.
func median(list []weighted) float64 {
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

// atNodes is the model for a cluster of another size.
func atNodes(m *cost.Constants, nodes int) *cost.Constants {
	p := m.Parameters()
	p.Nodes = float64(nodes)
	return cost.NewConstants(p)
}

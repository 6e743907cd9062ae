package cost

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/plan"
)

// Writes prices one write that is applied to several tables, as rewrite/exec does it: first all support queries, each once
// whichever tables ask it and all at once, then all deletes at once, then all puts. The work is that of the parts; of what
// goes at once the latency is that of the longest, and of the others as far as they wait for one another.
func Writes(m Model, plans []*plan.WritePlan) Cost {
	var support []Cost
	asked := map[string]bool{}
	var deletes, puts []*plan.Step
	for _, w := range plans {
		for _, p := range w.Support {
			if key := p.Query.Key(); !asked[key] {
				asked[key] = true
				support = append(support, Plan(m, p))
			}
		}
		for i := range w.Steps {
			if s := &w.Steps[i]; s.Kind == plan.Remove {
				deletes = append(deletes, s)
			} else {
				puts = append(puts, s)
			}
		}
	}
	return atOnce(m, support).Plus(together(m, deletes)).Plus(together(m, puts))
}

// parallel is how many requests of a step go at once; 1 of a model that does not say.
func parallel(m Model) float64 {
	if p, ok := m.(interface{ Parameters() CassandraParameters }); ok {
		return max(1, p.Parameters().Parallel)
	}
	return 1
}

// atOnce is the cost of things that begin at once.
func atOnce(m Model, list []Cost) (c Cost) {
	if len(list) == 0 {
		return c
	}
	longest := slices.MaxFunc(list, func(a, b Cost) int {
		if a.Latency < b.Latency {
			return -1
		}
		return 1
	}).Latency
	for _, x := range list {
		c = c.Plus(x)
	}
	c.Latency = longest + (c.Latency-longest)/parallel(m)
	return c
}

// together is the cost of deletes or puts of several tables as of one step.
func together(m Model, steps []*plan.Step) (c Cost) {
	if len(steps) == 0 {
		return c
	}
	all := *steps[0]
	all.Requests, all.Rows, all.Bytes = 0, 0, 0
	for _, s := range steps {
		c = c.Plus(m.Step(s, false))
		all.Requests += s.Requests
		all.Rows += s.Rows
		all.Bytes += s.Bytes
	}
	if parallel(m) > 1 {
		c.Latency = min(c.Latency, m.Step(&all, false).Latency)
	}
	return c
}

package design

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// transactionGroups numbers the statements by those of one transaction that share what they read before they write: they have the
// number of the first. They run equally often in every mix and time step, at one consistency level; statements of which that is not true
// do not run together always, whatever they are called, and share nothing. Conditions on the same fields are taken for
// conditions on the same values.
func transactionGroups(w *workload.Workload) []int {
	groups := make([]int, len(w.Statements))
	before := map[string][]int{} // of each transaction
	for i, s := range w.Statements {
		groups[i] = i
		if s.Transaction == "" {
			continue
		}
		for _, j := range before[s.Transaction] {
			if sameFrequency(w, s, w.Statements[j]) {
				groups[i] = groups[j]
				break
			}
		}
		before[s.Transaction] = append(before[s.Transaction], i)
	}
	return groups
}

func sameFrequency(w *workload.Workload, s, t *workload.Statement) bool {
	same := s.Weight == t.Weight && slices.Equal(s.Steps, t.Steps) && s.Consistency == t.Consistency
	for _, mix := range w.Mixes {
		same = same && s.WeightIn(mix) == t.WeightIn(mix) && slices.Equal(s.MixSteps[mix], t.MixSteps[mix])
	}
	return same
}

func arcCost(m cost.Model, a *plan.Arc) cost.Cost {
	var sum cost.Cost
	for i := range a.Steps {
		sum = sum.Plus(m.Step(&a.Steps[i], a.From == plan.SourceState && i == 0))
	}
	return sum
}

package design

import (
	"fmt"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// together numbers the statements by those of one transaction that share what they read before they write: they have the
// number of the first. They run equally often in every mix and time step, at one consistency level; statements of which that is not true
// do not run together always, whatever they are called, and share nothing. Conditions on the same fields are taken for
// conditions on the same values.
func together(w *workload.Workload) []int {
	groups := make([]int, len(w.Statements))
	for i, s := range w.Statements {
		groups[i] = i
		for j, t := range w.Statements[:i] {
			if s.Transaction != "" && s.Transaction == t.Transaction && alike(w, s, t) {
				groups[i] = groups[j]
				break
			}
		}
	}
	return groups
}

func alike(w *workload.Workload, s, t *workload.Statement) bool {
	same := s.Weight == t.Weight && slices.Equal(s.Steps, t.Steps) && s.Consistency == t.Consistency
	for _, mix := range w.Mixes {
		same = same && s.WeightIn(mix) == t.WeightIn(mix) && slices.Equal(s.MixSteps[mix], t.MixSteps[mix])
	}
	return same
}

// CeilingError says that no plan of a statement is as quick as it must be.
type CeilingError struct {
	Statement, Query string
	Ceiling, Least   float64 // milliseconds: what is allowed, and what the quickest plan takes
}

func (e *CeilingError) Error() string {
	return fmt.Sprintf("design: statement %s (%s) has no plan within its ceiling of %g ms: the quickest takes %.4g ms", e.Statement, e.Query, e.Ceiling, e.Least)
}

// inTime leaves out the plans that take longer than the statement's ceiling. A cost model that does not count in
// milliseconds knows no latency; then there is no ceiling.
func (t *task) inTime(statement int, s *plan.Space) (*plan.Space, error) {
	ceiling, m := t.work.Statements[statement].Ceiling, t.models[statement]
	if ceiling <= 0 || unit(m.Name()) != "ms" {
		return s, nil
	}
	within, least := s.Within(func(a *plan.Arc) float64 { return arcCost(m, a).Latency }, ceiling)
	if len(within.Arcs) == 0 && !math.IsInf(least, 1) && t.work.Statements[statement].Query != nil {
		return nil, &CeilingError{Statement: t.work.Statements[statement].ID, Query: s.Query.String(), Ceiling: ceiling, Least: least}
	}
	if within.Truncated && !s.Truncated {
		t.truncated = append(t.truncated, fmt.Sprintf("%s: plans within the ceiling cut off at %d arcs", s.Query, plan.MaxArcs))
	}
	return within, nil
}

// late lists the writes that take longer than their ceiling: what one takes in all depends on which tables are chosen, so
// only its support queries are held to it, each by itself.
func (d *Design) late() (list []string) {
	for _, s := range d.Statements {
		if c := s.Statement.Ceiling; c > 0 && s.Cost.Latency > c*(1+1e-9) && unit(d.Model) == "ms" {
			list = append(list, fmt.Sprintf("%s takes %.4g ms until done, its ceiling is %g: all tables that it changes are written", s.Statement.ID, s.Cost.Latency, c))
		}
	}
	return list
}

func arcCost(m cost.Model, a *plan.Arc) cost.Cost {
	var sum cost.Cost
	for i := range a.Steps {
		sum = sum.Plus(m.Step(&a.Steps[i], a.From == plan.Start && i == 0))
	}
	return sum
}

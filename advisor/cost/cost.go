package cost

import "github.com/helenus-db/helenus/advisor/plan"

// Cost is what something takes, per execution. For NoSE's models the unit is the model's own and both numbers are the same.
type Cost struct {
	Work    float64 `json:"work_ms"`    // milliseconds of cluster and client time, added up
	Latency float64 `json:"latency_ms"` // milliseconds until it is done
}

// Plus adds two costs that are paid one after the other.
func (c Cost) Plus(d Cost) Cost { return Cost{c.Work + d.Work, c.Latency + d.Latency} }

func same(v float64) Cost { return Cost{v, v} }

// Times is the cost of n executions.
func (c Cost) Times(n float64) Cost { return Cost{c.Work * n, c.Latency * n} }

// Model prices steps. It must be pure: the same step costs the same always. And more requests, rows, bytes, fields or rows scanned
// must not cost less, nor the first read more than the same one later with any before it, and filters and limits must cost
// nothing: plan spaces leave out what only a stranger model would prefer.
type Model interface {
	Name() string
	// Step prices one step with its estimates. first: it is the first read of its plan.
	Step(s *plan.Step, first bool) Cost
}

// Arithmetic returns how a model counts: what it says by a method Arithmetic() plan.Arithmetic, else plan.Means.
func Arithmetic(m Model) plan.Arithmetic {
	if own, ok := m.(interface{ Arithmetic() plan.Arithmetic }); ok {
		return own.Arithmetic()
	}
	return plan.Means{}
}

// Plan prices all steps of a plan.
func Plan(m Model, p *plan.Plan) Cost { return steps(m, p.Steps) }

// Write prices a write plan with its support queries.
func Write(m Model, w *plan.WritePlan) Cost {
	var sum Cost
	for _, s := range w.Support {
		sum = sum.Plus(Plan(m, s))
	}
	return sum.Plus(steps(m, w.Steps))
}

// Together prices what goes on at the same time: as a model says (by a method of that name), else one after the other.
func Together(m Model, list []Cost) (sum Cost) {
	if t, ok := m.(interface{ Together(list []Cost) Cost }); ok {
		return t.Together(list)
	}
	for _, c := range list {
		sum = sum.Plus(c)
	}
	return sum
}

func steps(m Model, list []plan.Step) Cost {
	var sum Cost
	for i := range list {
		sum = sum.Plus(m.Step(&list[i], i == 0))
	}
	return sum
}

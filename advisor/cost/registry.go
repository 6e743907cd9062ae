package cost

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/nose"
	"github.com/helenus-db/helenus/advisor/plan"
)

// models are the built-in models with default parameters.
func models() []Model {
	list := []Model{NewConstants(Parameters{}), RequestCount{}, EntityCount{}, FieldSize{}}
	for _, m := range nose.Models {
		list = append(list, noses{m})
	}
	return list
}

// Names are the names that ByName knows.
func Names() []string {
	var names []string
	for _, m := range models() {
		names = append(names, m.Name())
	}
	return names
}

// ByName returns the built-in model of a name, with default parameters. The error names the nearest.
func ByName(name string) (Model, error) {
	for _, m := range models() {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("cost: %w", &model.NameError{What: "cost model", Name: name, Known: Names()})
}

// noses is one of NoSE's models as a Model: its unit is its own, and work and latency are the same.
type noses struct{ *nose.Model }

// Step prices a step.
func (m noses) Step(s *plan.Step, first bool) Cost { return same(m.Price(s, first)) }

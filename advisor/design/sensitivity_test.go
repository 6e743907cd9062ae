package design_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/solve"
)

// TestSensitivityWithoutRanging: how far weights may move is the same whether a relaxation says where nothing changes or not.
func TestSensitivityWithoutRanging(t *testing.T) {
	type plain struct{ solve.Solver } // that knows no relaxations
	ids := []string{"rooms", "new-rate"}
	w := load(t, "figure7.yaml")
	with := choose(t, w, design.Options{Sensitivity: ids}).Sensitive
	without := choose(t, w, design.Options{Sensitivity: ids, Solver: plain{solver()}}).Sensitive
	if d := cmp.Diff(without, with); d != "" || len(with) != len(ids) {
		t.Error(d)
	}
}

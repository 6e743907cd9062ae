package main

import (
	"math"
	"testing"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestExportedModelDesignsTheSame: what `helenus model export` writes of what was learned makes the design that the learned model makes in the process: the same tables, each
// statement at the same cost.
func TestExportedModelDesignsTheSame(t *testing.T) {
	for _, v := range []variant{
		{&applications[1], "normalised", false, 8, 1},
		{&applications[0], "denormalised", false, 8, 1},
		{&applications[2], "messy", false, 8, 1},
	} {
		o := v.observe()
		m, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, s := range m.Workload.Statements {
			if s.Query != nil && s.Query.Returned > 0 {
				seen++
			}
		}
		text, err := m.File()
		if err != nil {
			t.Fatal(err)
		}
		read, err := workload.Read("exported", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		with := design.Options{Solver: solve.New(solve.Config{}), Limits: solve.Limits{Nodes: 2000, Gap: 1e-9}, Once: true}
		live, err := design.Choose(t.Context(), m.Workload, with)
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		again, err := design.Choose(t.Context(), read, with)
		if err != nil {
			t.Fatalf("%s, exported: %v", v, err)
		}
		if len(live.Statements) != len(again.Statements) || len(live.Tables) != len(again.Tables) {
			t.Fatalf("%s: %d statements over %d tables, exported %d over %d", v, len(live.Statements), len(live.Tables), len(again.Statements), len(again.Tables))
		}
		for i, x := range live.Tables {
			if y := again.Tables[i]; x.Table.String() != y.Table.String() || x.Name != y.Name || x.CQL != y.CQL || !alike(x.Bytes, y.Bytes) {
				t.Errorf("%s: table %s, %s; exported %s, %s", v, x.Name, x.Table, y.Name, y.Table)
			}
		}
		for i, x := range live.Statements {
			y := again.Statements[i]
			if x.Statement.ID != y.Statement.ID || !alike(x.Cost.Work, y.Cost.Work) || !alike(x.CurrentCost.Work, y.CurrentCost.Work) || !alike(x.Statement.Weight, y.Statement.Weight) {
				t.Errorf("%s: %s takes %g (now %g, %g times a second), exported %g (%g, %g)", v, x.Statement, x.Cost.Work, x.CurrentCost.Work, x.Statement.Weight, y.Cost.Work, y.CurrentCost.Work, y.Statement.Weight)
			}
		}
		if !alike(live.After, again.After) || !alike(live.Before, again.Before) {
			t.Errorf("%s: from %g to %g, exported from %g to %g", v, live.Before, live.After, again.Before, again.After)
		}
		t.Logf("%s: %d statements (%d with rows that were seen), %d tables, %g", v, len(live.Statements), seen, len(live.Tables), live.After)
	}
}

func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b), 1e-12) }

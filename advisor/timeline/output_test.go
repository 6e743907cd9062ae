package timeline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestOutput: what a calendar says.
func TestOutput(t *testing.T) {
	c := twoViews(t, Options{Exact: true})
	views, joins, leaves := 0, 0, 0
	for i, s := range c.Steps {
		t.Run("W-2 a schema and plans for each step, migration plans between them", func(t *testing.T) {
			if len(s.Tables) == 0 || len(s.Plans) != 2 {
				t.Errorf("step %d: %d tables, %d plans", i, len(s.Tables), len(s.Plans))
			}
			var filled []string
			for _, m := range s.Migrations {
				if filled = append(filled, m.Table); len(m.Sources) == 0 {
					t.Errorf("step %d: %s is filled from nothing", i, m.Table)
				}
			}
			if i > 0 && !slices.Equal(slices.Sorted(slices.Values(filled)), slices.Sorted(slices.Values(s.Created))) {
				t.Errorf("step %d: %v are created, %v filled", i, s.Created, filled)
			}
		})
		for _, p := range s.Plans {
			gets := 0
			for _, step := range p.Plan.Steps {
				if step.Kind == plan.Get {
					gets++
				}
			}
			if p.View() != (gets == 1) {
				t.Errorf("W-4: step %d: %s reads with %d gets, a view: %v", i, p.Statement.Statement.ID, gets, p.View())
			}
			if p.View() {
				views++
			} else {
				joins++
			}
			if slices.Contains(p.Tables, "CF3") {
				leaves++
			}
		}
	}
	if views == 0 || joins == 0 {
		t.Errorf("W-4: %d views, %d joins", views, joins)
	}
	if leaves == 0 {
		t.Error("W-15: no join reads a table of users alone")
	}
}

// TestTPCH: W-42, W-43: TPC-H's statements stand twice, and the copies' weights are the others' inverse.
func TestTPCH(t *testing.T) {
	for _, name := range []string{"tpch.yaml", "tpch-evolution.yaml"} {
		w, err := workload.Load("../../examples/designs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]*workload.Statement{}
		for _, s := range w.Statements {
			by[s.ID] = s
		}
		pairs := 0
		for id, s := range by {
			if strings.HasSuffix(id, "-dup") {
				continue
			}
			twin := by[id+"-dup"]
			if twin == nil {
				t.Errorf("W-42: %s: %s has no copy", name, id)
				continue
			}
			pairs++
			for step := range w.TimeSteps() {
				if sum := s.WeightAt(step) + twin.WeightAt(step); math.Abs(sum-1) > 1e-3 {
					t.Errorf("W-43: %s: %s and its copy at step %d: %g", name, id, step, sum)
				}
			}
		}
		if pairs != 23 || w.TimeSteps() != 12 {
			t.Errorf("W-42: %s: %d pairs, %d steps", name, pairs, w.TimeSteps())
		}
	}
}

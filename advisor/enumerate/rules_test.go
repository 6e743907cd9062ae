package enumerate_test

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// worth is what a table does for a workload by itself: what each query costs that it answers alone, what writing it costs,
// how large it is.
type worth struct {
	reads  map[int]float64 // by statement
	writes float64
	bytes  float64
}

// atLeast reports whether a table of worth v does all that one of worth u does, at no higher cost.
func (v worth) atLeast(u worth) bool {
	for s, price := range u.reads {
		if mine, ok := v.reads[s]; !ok || mine > price*(1+1e-9)+1e-12 {
			return false
		}
	}
	return v.writes <= u.writes*(1+1e-9)+1e-12 && v.bytes <= u.bytes*(1+1e-9)
}

func worthOf(t *testing.T, w *workload.Workload, m cost.Model, table *model.Table) worth {
	t.Helper()
	arithmetic := cost.Arithmetic(m)
	v := worth{reads: map[int]float64{}, bytes: arithmetic.TableBytes(table)}
	for i, s := range w.Statements {
		if s.Query != nil {
			space, err := plan.NewSpace(s.Query, []*model.Table{table}, arithmetic)
			if err != nil {
				t.Fatal(err)
			}
			if best, _ := space.Cheapest(func(a *plan.Arc) float64 {
				sum := 0.0
				for n := range a.Steps {
					sum += m.Step(&a.Steps[n], n == 0).Work
				}
				return sum
			}, func(*model.Table) bool { return true }); best != nil {
				v.reads[i] = cost.Plan(m, best).Work
			}
			continue
		}
		if !arithmetic.Modifies(s.Write, table) {
			continue
		}
		found := make([]float64, len(arithmetic.SupportQueries(s.Write, table)))
		for n := range found {
			found[n] = 1
		}
		for _, step := range arithmetic.WriteSteps(s.Write, table, found) {
			v.writes += s.Weight * m.Step(&step, false).Work
		}
	}
	return v
}

// TestRules: the rules by which forms are left out (rules.go) each promise for any table t one among the forms that does what t does at no higher cost. For all of
// NoSE's candidates that answer some query alone there is such a table, under cost models of requests, rows and bytes.
// (TestNoWorseThanNoSE has plans of several tables, and support queries.)
func TestRules(t *testing.T) {
	names := []string{"nose:request_count", "nose:entity_count", "nose:field_size", "nose:cassandra"}
	compared := 0
	for seed := range rounds(t, 25) {
		w := generate.Workload(small(seed), uint64(seed)+101)
		m, err := cost.ByName(names[seed%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		var ours []worth
		for _, table := range enumerate.Workload(w, enumerate.Options{Arithmetic: cost.Arithmetic(m)}).Tables {
			if v := worthOf(t, w, m, table); len(v.reads) > 0 {
				ours = append(ours, v)
			}
		}
		for _, table := range newReference(w, cost.Arithmetic(m)).tables {
			u := worthOf(t, w, m, table)
			if len(u.reads) == 0 {
				continue
			}
			compared++
			found := false
			for _, v := range ours {
				if found = v.atLeast(u); found {
					break
				}
			}
			if !found {
				t.Errorf("seed %d, %s: nothing does as well as %s over %s: %+v\n%s", seed, m.Name(), table, table.Tree.Path(), u, statements(w))
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d tables compared", compared)
}

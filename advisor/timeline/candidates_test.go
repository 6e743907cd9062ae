package timeline

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestCandidates: W-3, a table's key determines its values, by the entities whose keys are in it. W-19, no table answers a query without an
// equality: it is partitioned by what a statement compares for equality, or by keys that a join hands on.
func TestCandidates(t *testing.T) {
	w, err := workload.Load("../../examples/designs/market.yaml")
	if err != nil {
		t.Fatal(err)
	}
	x := prepared(t, w, Options{})
	compared := map[model.Field]bool{}
	for _, s := range x.work.Statements {
		if s.Query == nil {
			continue
		}
		for _, p := range s.Query.Where {
			if p.Op == workload.Equal {
				compared[p.Field] = true
			}
		}
	}
	keyed := func(f model.Field) bool { return slices.Contains(f.Entity.KeyFields(), f) }
	for _, table := range x.tables {
		determined := map[*model.Entity]bool{}
		for _, e := range table.Tree.Entities {
			if !slices.ContainsFunc(e.KeyFields(), func(f model.Field) bool { return !table.InKey(f) }) {
				for _, d := range table.Tree.Determined(e).Entities {
					determined[d] = true
				}
			}
		}
		for _, f := range table.Fields() {
			if !table.InKey(f) && !determined[f.Entity] {
				t.Errorf("W-3: %s: the key does not determine %s", table, f)
			}
		}
		if len(table.Partition) == 0 {
			t.Errorf("W-19: %s has no partition key", table)
		}
		for _, f := range table.Partition {
			if !compared[f] && !keyed(f) {
				t.Errorf("W-19: %s is partitioned by %s, which nothing compares for equality", table, f)
			}
		}
	}
	if len(x.tables) < 5 || len(compared) < 2 {
		t.Errorf("%d tables, %d fields", len(x.tables), len(compared))
	}
}

// TestGrowth: W-51, what is done for a calendar with a limit on space does not grow faster than its steps: single designs that are asked for, and integer
// programs that are solved. Of cycles it hardly grows at all, as periods ask what those before asked.
func TestGrowth(t *testing.T) {
	type figures struct{ designs, programs int }
	at := func(steps int) figures {
		var high, low []string
		for i := range steps {
			a, b := "90", "1"
			if (i/3)%2 == 1 {
				a, b = b, a
			}
			high, low = append(high, a), append(low, b)
		}
		w, tables := figured(t, strings.Join(high, ", "), strings.Join(low, ", "), 1, 2, 3, 4, 8)
		views := tables[0].Bytes() + tables[3].Bytes()
		s, b, in, ok := searched(t, w, Options{Candidates: tables, NoEnumeration: true, Space: views * 0.99})
		if !ok {
			t.Fatal("nothing fits")
		}
		c := &counting{Process: solve.New(solve.Config{})}
		s.options.Solver = c
		for _, open := range b.distinctDesigns() {
			s.offerCalendar(s.sameThroughout(open))
		}
		if _, err := s.searchByRuns(context.Background(), b, in); err != nil {
			t.Fatal(err)
		}
		if s.cost >= s.truthOf(s.sameThroughout(b.average.Open)) {
			t.Errorf("%d steps: no better than the mean design", steps)
		}
		return figures{len(s.answers), c.asked}
	}
	const few = 3 * togetherFrom // from so many steps on it is annealed after the program of what is near, too
	first := at(few)
	for _, steps := range []int{2 * few, 4 * few} {
		got := at(steps)
		t.Logf("%d steps: %+v; %d steps: %+v", steps, got, few, first)
		if got.designs*few > first.designs*steps || got.programs*few > first.programs*steps {
			t.Errorf("%d steps: %+v, with %d %+v", steps, got, few, first)
		}
	}
}

func (s *search) truthOf(open [][]bool) float64 {
	cost, _ := s.trueCost(open)
	return cost
}

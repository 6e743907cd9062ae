package design_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
)

// TestParetoOfAll: the front of space against cost has all points, and no others, that the sets of all tables have.
func TestParetoOfAll(t *testing.T) {
	points, fronts := 0, 0
	m := cost.Default()
	for seed := range trials(40) {
		w, pool := instance(uint64(seed))
		for _, x := range w.Statements { // tables that cost little to keep are worth more space
			if x.Write != nil {
				x.Weight /= 1000
			}
		}
		o := design.Options{Solver: solver(), Cost: m, Candidates: pool, NoEnumeration: true}
		s, err := design.NewStudy(context.Background(), w, o)
		if err != nil {
			continue
		}
		type point struct{ bytes, cost float64 }
		var all []point
		for mask := range 1 << len(pool) {
			var tables []*model.Table
			size := 0.0
			for i, x := range pool {
				if mask&(1<<i) != 0 {
					tables = append(tables, x)
					size += x.Bytes()
				}
			}
			if c := work(w, m, tables); !math.IsInf(c, 1) {
				all = append(all, point{size, c})
			}
		}
		var want []point
		slices.SortFunc(all, func(a, b point) int {
			switch {
			case a.bytes < b.bytes || a.bytes == b.bytes && a.cost < b.cost:
				return -1
			case a == b:
				return 0
			}
			return 1
		})
		for _, p := range all {
			if len(want) == 0 || p.cost < want[len(want)-1].cost*(1-1e-9) {
				want = append(want, p)
			}
		}
		got, err := s.Pareto(context.Background(), 1000)
		if len(want) == 0 {
			if err == nil {
				t.Fatalf("seed %d: a front where nothing answers everything", seed)
			}
			continue
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("seed %d: %+v (%v), want %+v", seed, got, err, want)
		}
		for i, p := range got {
			if math.Abs(p.Bytes-want[i].bytes) > 1e-9*want[i].bytes || math.Abs(p.Cost-want[i].cost) > 1e-9*want[i].cost || !p.Proven {
				t.Fatalf("seed %d: point %d is %+v, want %+v", seed, i, p, want[i])
			}
		}
		if points += len(got); len(got) > 2 {
			fronts++
		}
	}
	t.Logf("%d points, %d fronts of more than two", points, fronts)
	if fronts == 0 {
		t.Error("no front has more than two points")
	}
}

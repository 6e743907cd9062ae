package design_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/generate"
	"github.com/helenus-db/helenus/advisor/model"
)

// TestRobust: by all sets of tables of small instances, the mean design has the least mean cost, the worst-case one's
// greatest regret is between the least there is and its bound, and mostly is the least.
func TestRobust(t *testing.T) {
	m := cost.Default()
	solved, exact, differ := 0, 0, 0
	for seed := range trials(60) {
		w := generate.Workload(generate.Shape{Entities: 3, Queries: 2, Updates: 2, Inserts: 1, Attributes: 3, Count: 1000, Degree: 2, Rewire: 0.1, Walk: 3, Conditions: 2, Range: 0.3, Order: 0.2}, uint64(seed))
		pool := enumerate.Workload(w, enumerate.Options{}).Tables
		r := rand.New(rand.NewPCG(uint64(seed), 32))
		w.Mixes = []string{"a", "b", "c"}[:2+r.IntN(2)]
		for _, s := range w.Statements {
			s.Weights = map[string]float64{}
			for _, mix := range w.Mixes {
				s.Weights[mix] = math.Exp(10 * r.Float64())
			}
		}
		// Tables over which the mixes disagree: those of their own designs, and as many of the pool as can be tried.
		var chosen []*model.Table
		for _, mix := range w.Mixes {
			if err := w.SetMix(mix); err != nil {
				t.Fatal(err)
			}
			d, err := design.Choose(context.Background(), w, design.Options{Solver: solver(), Cost: m})
			if err != nil {
				continue
			}
			for _, x := range d.Tables {
				if !slices.ContainsFunc(chosen, func(y *model.Table) bool { return x.Table.ID() == y.ID() }) {
					chosen = append(chosen, x.Table)
				}
			}
		}
		if len(chosen) > 9 {
			continue
		}
		pool = append(chosen, pool[:min(len(pool), max(0, 8-len(chosen)))]...)
		var costs [][]float64 // by set and mix
		for mask := range 1 << len(pool) {
			var tables []*model.Table
			for i, x := range pool {
				if mask&(1<<i) != 0 {
					tables = append(tables, x)
				}
			}
			var c []float64
			for _, mix := range w.Mixes {
				if err := w.SetMix(mix); err != nil {
					t.Fatal(err)
				}
				c = append(c, work(w, m, tables))
			}
			costs = append(costs, c)
		}
		own := make([]float64, len(w.Mixes))
		for k := range own {
			own[k] = math.Inf(1)
			for _, c := range costs {
				own[k] = min(own[k], c[k])
			}
		}
		mean, worst := math.Inf(1), math.Inf(1)
		for _, c := range costs {
			sum, most := 0.0, 0.0
			for k := range c {
				sum += c[k] / float64(len(c))
				most = max(most, c[k]/own[k])
			}
			mean, worst = min(mean, sum), min(worst, most)
		}
		o := design.Options{Solver: solver(), Cost: m, Candidates: pool, NoEnumeration: true, Mixes: w.Mixes}
		d, err := design.Choose(context.Background(), w, o)
		if math.IsInf(mean, 1) {
			if err == nil {
				t.Fatalf("seed %d: a design of %g where there is none", seed, d.After)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		x := d.Robust
		if math.Abs(d.After-mean) > 1e-9*mean || !d.Proven {
			t.Errorf("seed %d: mean %g, the least is %g", seed, d.After, mean)
		}
		for k := range own {
			if math.Abs(x.Mixes[k].Own-own[k]) > 1e-9*own[k] || x.Mixes[k].Regret(0) < 1-1e-9 || x.Mixes[k].Regret(1) > x.Regret[1]+1e-9 {
				t.Errorf("seed %d: mix %+v, at best %g", seed, x.Mixes[k], own[k])
			}
		}
		if x.Bound > worst*(1+1e-7) || x.Regret[1] < worst*(1-1e-9) || x.Regret[1] > x.Regret[0]+1e-9 || x.Proven && x.Regret[1] > worst*(1+1e-6) {
			t.Errorf("seed %d: greatest regret %g, bound %g (proven %v), the least is %g", seed, x.Regret[1], x.Bound, x.Proven, worst)
		}
		if x.Regret[1] > worst*1.05 {
			t.Errorf("seed %d: greatest regret %g, but %g is possible", seed, x.Regret[1], worst)
		}
		solved++
		if x.Regret[1] <= worst*(1+1e-9) {
			exact++
		}
		if x.Regret[1] < x.Regret[0]-1e-9 {
			differ++
		}
	}
	t.Logf("%d solved, %d of them with the least regret, %d where the two designs differ", solved, exact, differ)
	if solved < trials(60)/4 || exact < solved*9/10 || differ == 0 {
		t.Errorf("%d solved, %d exact, %d differ", solved, exact, differ)
	}
}

// TestRobustReport: text and JSON say which design is shown, and costs by mix.
func TestRobustReport(t *testing.T) {
	w := load(t, "rubis.yaml")
	m, err := cost.ByName("nose:request_count")
	if err != nil {
		t.Fatal(err)
	}
	o := design.Options{Cost: m, Mixes: []string{"browsing", "write_medium"}, Worst: true}
	for _, s := range w.Schemas["rubis_expert"] { // few candidates
		o.Candidates = append(o.Candidates, s)
	}
	for _, s := range w.Schemas["rubis_baseline"] {
		o.Candidates = append(o.Candidates, s)
	}
	w.Statements = w.Statements[:9]
	d := choose(t, w, o)
	var text, out bytes.Buffer
	if err := d.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mean of browsing, write_medium", "greatest regret", "the worst-case one"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%.2000s", want, text.String())
		}
	}
	if err := d.JSON(&out); err != nil {
		t.Fatal(err)
	}
	var j struct {
		Robust struct {
			Design string
			Mixes  []struct {
				Mix   string
				Own   float64
				Worst float64 `json:"worst"`
			}
			Worst struct{ Regret float64 }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	if r := j.Robust; r.Design != "worst" || len(r.Mixes) != 2 || r.Mixes[1].Worst < r.Mixes[1].Own || r.Worst.Regret < 1 {
		t.Errorf("%+v", r)
	}
	if _, err := design.NewStudy(context.Background(), w, design.Options{Solver: solver(), Mixes: []string{"browsign"}}); err == nil || !strings.Contains(err.Error(), `nearest is "browsing"`) {
		t.Errorf("an unknown mix: %v", err)
	}
}

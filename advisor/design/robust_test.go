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
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// disagreeing is a workload of which reads and writes want other tables.
const disagreeing = `name: disagreeing
model:
  entities:
  - {name: Hotel, count: 100, key: [hotel_id], attributes: [{name: hotel_id, type: uuid}, {name: city, type: text, distinct: 10}, {name: name, type: text}]}
  - {name: Room, count: 1000, key: [room_id], attributes: [{name: room_id, type: uuid}, {name: rate, type: double}]}
  relationships:
  - {name: room_hotel, from: Room, to: Hotel, kind: "n:1", forward: hotel, backward: rooms}
mixes: [a, b, c]
statements:
- {id: rates, text: "SELECT Room.rate FROM Room.hotel WHERE Hotel.city = ?"}
- {id: names, text: "SELECT Hotel.name FROM Room.hotel WHERE Room.room_id = ?"}
- {id: reprice, text: "UPDATE Room SET rate = ? WHERE Room.room_id = ?"}
- {id: rename, text: "UPDATE Hotel SET name = ? WHERE Hotel.hotel_id = ?"}
`

// TestRobust: by all sets of tables of a small workload with weights at random, the mean design has the least mean cost, the
// worst-case one's greatest regret is between the least there is and its bound, and mostly is the least.
func TestRobust(t *testing.T) {
	w, err := workload.Read("disagreeing", []byte(disagreeing))
	if err != nil {
		t.Fatal(err)
	}
	m := cost.Default()
	r := rand.New(rand.NewPCG(2, 32))
	rates := func(mix string) {
		for _, s := range w.Statements {
			if s.Weights == nil {
				s.Weights = map[string]float64{}
			}
			s.Weights[mix] = math.Exp(8 * r.Float64())
		}
	}
	var pool []*model.Table // what designs for several weights have
	for range 12 {
		rates("a")
		if err := w.SetMix("a"); err != nil {
			t.Fatal(err)
		}
		for _, x := range choose(t, w, design.Options{Cost: m}).Tables {
			if len(pool) < 7 && !slices.ContainsFunc(pool, func(y *model.Table) bool { return x.Table.ID() == y.ID() }) {
				pool = append(pool, x.Table)
			}
		}
	}
	costs := make([][]float64, 1<<len(pool)) // by set and statement
	for mask := range costs {
		var tables []*model.Table
		for i, x := range pool {
			if mask&(1<<i) != 0 {
				tables = append(tables, x)
			}
		}
		for _, s := range w.Statements {
			alone, one := *w, *s
			one.Weight, alone.Statements = 1, []*workload.Statement{&one}
			costs[mask] = append(costs[mask], work(&alone, m, tables))
		}
	}
	at := func(mask int, mix string) float64 {
		sum := 0.0
		for i, s := range w.Statements {
			sum += s.Weights[mix] * costs[mask][i]
		}
		return sum
	}
	rounds, exact, differ := trials(60), 0, 0
	for round := range rounds {
		mixes := w.Mixes[:2+round%2]
		own := map[string]float64{}
		for _, mix := range mixes {
			rates(mix)
			own[mix] = math.Inf(1)
			for mask := range costs {
				own[mix] = min(own[mix], at(mask, mix))
			}
		}
		mean, worst := math.Inf(1), math.Inf(1)
		for mask := range costs {
			sum, most := 0.0, 0.0
			for _, mix := range mixes {
				sum += at(mask, mix) / float64(len(mixes))
				most = max(most, at(mask, mix)/own[mix])
			}
			mean, worst = min(mean, sum), min(worst, most)
		}
		d := choose(t, w, design.Options{Cost: m, Candidates: pool, NoEnumeration: true, Mixes: mixes})
		x := d.Robust
		if math.Abs(d.After-mean) > 1e-9*mean || !d.Proven {
			t.Errorf("round %d: mean %g, the least is %g", round, d.After, mean)
		}
		for k := range mixes {
			if y := x.Mixes[k]; math.Abs(y.Own-own[y.Mix]) > 1e-9*y.Own || y.Regret(0) < 1-1e-9 || y.Regret(1) > x.Regret[1]+1e-9 {
				t.Errorf("round %d: mix %+v, at best %g", round, y, own[y.Mix])
			}
		}
		if x.Bound > worst*(1+1e-7) || x.Regret[1] < worst*(1-1e-9) || x.Regret[1] > x.Regret[0]+1e-9 || x.Proven && x.Regret[1] > worst*(1+1e-6) {
			t.Errorf("round %d: greatest regret %g, bound %g (proven %v), the least is %g", round, x.Regret[1], x.Bound, x.Proven, worst)
		}
		if x.Regret[1] <= worst*(1+1e-9) {
			exact++
		}
		if x.Regret[1] < x.Regret[0]-1e-9 {
			differ++
		}
	}
	t.Logf("%d tables, %d rounds, %d with the least regret, %d where the two designs differ", len(pool), rounds, exact, differ)
	if exact < rounds*9/10 || differ == 0 {
		t.Errorf("of %d, %d exact, %d differ", rounds, exact, differ)
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
	o.Candidates = append(append(o.Candidates, w.Schemas["rubis_expert"]...), w.Schemas["rubis_baseline"]...)
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

package contest_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

func world(t *testing.T, w *workload.Workload) *data.World {
	t.Helper()
	made, err := data.New(w.Graph, data.Options{Seed: 1, Workload: w})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestDraws: every parameter of every statement of RUBiS gets a value, the same by the same seed.
func TestDraws(t *testing.T) {
	for _, file := range []string{"rubis", "eac", "figure7"} {
		w, err := workload.Load("../../examples/designs/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		contest.Scale(w, 0.05)
		draws := contest.NewDraws(world(t, w))
		for i, q := range contest.Requests(w) {
			draw := func(seed uint64) []contest.Parameters {
				list, err := draws.Draw(rand.New(rand.NewPCG(seed, uint64(i))), q)
				if err != nil {
					t.Fatalf("%s: %v", q.Name, err)
				}
				return list
			}
			list := draw(1)
			for k, s := range q.Statements {
				needed := parametersOf(s)
				for _, p := range needed {
					cells := list[k][p.Name]
					if len(cells) != max(1, p.Items) || cells[0] == nil {
						t.Errorf("%s: %s is %x", s.ID, p.Name, cells)
						continue
					}
					if _, err := planrun.Decode(p.Field.Attribute.Type, cells[0]); err != nil {
						t.Errorf("%s: %s: %v", s.ID, p.Name, err)
					}
				}
				if len(list[k]) != len(needed) {
					t.Errorf("%s: %v", s.ID, list[k])
				}
			}
			if !reflect.DeepEqual(list, draw(1)) {
				t.Errorf("%s: the same seed draws something else", q.Name)
			}
		}
	}
}

func parametersOf(s *workload.Statement) []workload.Parameter {
	if s.Query != nil {
		return s.Query.Parameters()
	}
	return s.Write.Parameters()
}

// TestDrawsRanges: a range lets a tenth of the values through, also where it has two ends; statements of one request speak of
// one entity; a comment is about somebody else.
func TestDrawsRanges(t *testing.T) {
	w, err := workload.Load("../../examples/designs/eac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	contest.Scale(w, 0.01)
	made := world(t, w)
	draws := contest.NewDraws(made)
	field, _ := w.Graph.Field("PlayerState.ServerTimestamp")
	random := rand.New(rand.NewPCG(1, 2))
	var share float64
	const times = 50
	for range times {
		for _, q := range contest.Requests(w) {
			if q.Name != "Q2" {
				continue
			}
			list, err := draws.Draw(random, q)
			if err != nil {
				t.Fatal(err)
			}
			from, to := list[0]["PlayerState.ServerTimestamp >"][0], list[0]["PlayerState.ServerTimestamp <="][0]
			share += within(t, made, field, from, to) / times
		}
	}
	if share < 0.09 || share > 0.11 {
		t.Errorf("a range of two ends lets %.3f through", share)
	}
	r := rubis(t)
	contest.Scale(r, 0.1)
	made = world(t, r)
	draws = contest.NewDraws(made)
	end, _ := r.Graph.Field("items.end_date")
	for _, q := range contest.Requests(r) {
		list, err := draws.Draw(random, q)
		if err != nil {
			t.Fatal(err)
		}
		switch q.Name {
		case "SearchItemsByCategory":
			if s := within(t, made, end, list[0]["items.end_date >="][0], nil); s < 0.09 || s > 0.11 {
				t.Errorf("a range lets %.3f through", s)
			}
		case "StoreBuyNow":
			if a, b := list[0]["items.id ="], list[2]["item.id"]; !reflect.DeepEqual(a, b) {
				t.Errorf("asked for item %x, bought %x", a, b)
			}
		case "StoreComment":
			if a, b := list[2]["to_user.id"], list[2]["from_user.id"]; reflect.DeepEqual(a, b) {
				t.Error("a comment on oneself")
			}
		}
	}
}

// within is the share of a field's values between two bounds, both included.
func within(t *testing.T, w *data.World, f model.Field, from, to []byte) (share float64) {
	t.Helper()
	n := w.Count(f.Entity)
	for i := range n {
		cell, err := planrun.Encode(f.Attribute.Type, w.Value(f.Entity, i, f.Attribute))
		if err != nil {
			t.Fatal(err)
		}
		if planrun.Compare(f.Attribute.Type, cell, from) >= 0 && (to == nil || planrun.Compare(f.Attribute.Type, cell, to) <= 0) {
			share += 1 / float64(n)
		}
	}
	return share
}

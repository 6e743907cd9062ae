package design_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// transaction has two writes that must ask the same before they can be applied to a table by city.
const transaction = `name: transaction
model:
  entities:
  - {name: Hotel, count: 100, key: [hotel_id], attributes: [{name: hotel_id, type: uuid}, {name: city, type: text, distinct: 10}]}
  - {name: Room, count: 1000, key: [room_id], attributes: [{name: room_id, type: uuid}, {name: rate, type: double}, {name: floor, type: int}]}
  relationships:
  - {name: room_hotel, from: Room, to: Hotel, kind: "n:1", forward: hotel, backward: rooms}
statements:
- {id: rooms, weight: 100, text: "SELECT Room.rate, Room.floor FROM Room.hotel WHERE Hotel.city = ?"}
- {id: reprice, weight: 3, text: "UPDATE Room SET rate = ? WHERE Room.room_id = ?"}
- {id: move, weight: 3, text: "UPDATE Room SET floor = ? WHERE Room.room_id = ?"}
`

// TestTransaction: what the statements of a transaction ask alike is paid once, unless they do not always run together or
// the arithmetic shares nothing.
func TestTransaction(t *testing.T) {
	read := func(change ...string) *workload.Workload {
		w, err := workload.Read("transaction", []byte(strings.NewReplacer(change...).Replace(transaction)))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	both := []string{"{id: reprice, ", "{id: reprice, transaction: change, ", "{id: move, ", "{id: move, transaction: change, "}
	for _, c := range []struct {
		name, model string
		change      []string
		saves       bool
	}{
		{"together", "cassandra", both, true},
		{"one of them more often", "cassandra", append(slices.Clone(both), "weight: 3, text: \"UPDATE Room SET floor", "weight: 4, text: \"UPDATE Room SET floor"), false},
		{"NoSE's arithmetic", "nose:request_count", both, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := cost.ByName(c.model)
			if err != nil {
				t.Fatal(err)
			}
			w := read(c.change...)
			var pool []*model.Table
			for _, text := range []string{"Hotel.city|Room.room_id|Room.rate Room.floor", "Room.room_id||Hotel.city"} {
				pool = append(pool, table(t, w.Graph, "Room.hotel", text))
			}
			o := design.Options{Cost: m, Candidates: pool, NoEnumeration: true}
			with := choose(t, w, o)
			for _, s := range w.Statements {
				s.Transaction = ""
			}
			without := choose(t, w, o)
			supports, asked := 0, 0.0
			for _, s := range without.Statements {
				for _, x := range s.Writes {
					for _, p := range x.Support {
						supports, asked = supports+1, s.Statement.Weight*cost.Plan(m, p).Work
					}
				}
			}
			if supports != 2 || !with.Proven {
				t.Fatalf("%d support queries, proven %v", supports, with.Proven)
			}
			if !c.saves {
				asked = 0
			}
			if got := without.After - with.After; math.Abs(got-asked) > 1e-9*without.After {
				t.Errorf("the transaction saves %g, want %g", got, asked)
			}
		})
	}
}

// TestCeiling: plans slower than the ceiling are left out, and the statement is named if none is left.
func TestCeiling(t *testing.T) {
	read := func() *workload.Workload {
		w, err := workload.Read("transaction", []byte(transaction))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := read()
	var pool []*model.Table
	for _, x := range [][2]string{{"Room.hotel", "Hotel.city|Room.room_id|Room.rate Room.floor"}, {"Room.hotel", "Hotel.city|Room.room_id|"}, {"Room.hotel", "Room.room_id||Hotel.city"}, {"Room", "Room.room_id||Room.rate Room.floor"}} {
		pool = append(pool, table(t, w.Graph, x[0], x[1]))
	}
	o := design.Options{Solver: solver(), Candidates: pool, NoEnumeration: true}
	for _, s := range w.Statements[1:] {
		s.Weight = 1e5 // so dear that the read is better done in two steps
	}
	free := choose(t, w, o)
	s, err := plan.NewSpace(w.Statements[0].Query, pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	least, slow := math.Inf(1), free.Statements[0].Cost.Latency
	for _, p := range s.Plans(100) {
		least = min(least, cost.Plan(cost.Default(), p).Latency)
	}
	if least >= slow {
		t.Fatalf("the quickest plan takes %g, the best %g", least, slow)
	}
	for _, ceiling := range []float64{slow, (least + slow) / 2, least} {
		w.Statements[0].Ceiling = ceiling
		d := choose(t, w, o)
		if got := d.Statements[0].Cost.Latency; got > ceiling*(1+1e-9) || !d.Proven {
			t.Errorf("ceiling %g: %g", ceiling, got)
		}
		if quick := ceiling < slow; quick != (d.After > free.After*(1+1e-12)) {
			t.Errorf("ceiling %g: costs %g, without %g", ceiling, d.After, free.After)
		}
	}
	w.Statements[0].Ceiling = least * 0.9
	var none *design.CeilingError
	if _, err := design.Choose(context.Background(), w, o); !errors.As(err, &none) || none.Statement != "rooms" || math.Abs(none.Least-least) > 1e-9*least {
		t.Errorf("no plan is as quick: %v", err)
	}
	w.Statements[0].Ceiling, w.Statements[1].Ceiling = 0, 1e-6
	w.Statements[1].Weight, w.Statements[2].Weight = 1, 1
	// Nothing can be done about the tables that are there.
	kept := *pool[3]
	kept.Kept, kept.Name = true, "rooms"
	if _, err := design.Choose(context.Background(), w, design.Options{Solver: solver(), Candidates: append(pool[:2:2], pool[2], &kept), NoEnumeration: true}); !errors.As(err, &none) || none.Statement != "reprice" || none.Query != "" {
		t.Errorf("a write above its ceiling: %v", err)
	}
}

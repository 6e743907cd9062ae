package design_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/generate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestGivenInKeys: what an application knows besides may be in keys, so that what writes must find out is in a table that
// another statement reads by it. Designs are no worse for that, and some are better.
func TestGivenInKeys(t *testing.T) {
	better, most := 0, 1.0
	for seed := range uint64(trials(10)) {
		w := generate.Workload(generate.Shape{Entities: 2, Queries: 3, Updates: 1, Inserts: 1, Attributes: 3, Count: 1000, Degree: 2, Rewire: 0.1, Walk: 1, Conditions: 2, Range: 0.2, Order: 0.2}, seed)
		r := rand.New(rand.NewPCG(seed, 33))
		for _, s := range w.Statements {
			if s.Write == nil || s.Write.Kind == workload.Insert {
				continue
			}
			s.Weight *= 5
			for _, a := range s.Write.Entity.Attributes {
				f := model.Field{Entity: s.Write.Entity, Attribute: a}
				if !f.IsKey() && r.IntN(2) == 0 && !slices.Contains(s.Write.Set, f) {
					s.Write.Given = append(s.Write.Given, f)
				}
			}
		}
		cost := func(o enumerate.Options) float64 {
			o.Collections = true
			return choose(t, w, design.Options{Candidates: enumerate.Workload(w, o).Tables, NoEnumeration: true}).After
		}
		with, without := cost(enumerate.Options{}), cost(enumerate.Options{NoGiven: true})
		if with > without*(1+1e-9) {
			t.Errorf("seed %d: %g with what is given in keys, %g without", seed, with, without)
		}
		if with < without*(1-1e-9) {
			better++
			most = min(most, with/without)
		}
	}
	t.Logf("%d of %d better, by up to %.1f %%", better, trials(10), 100*(1-most))
	if better == 0 {
		t.Error("nothing is better with what is given in keys")
	}
}

package main

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/internal/long"
)

// TestTruthIsTrue: what regret is measured by is scored as any other model, and must be right in all.
func TestTruthIsTrue(t *testing.T) {
	long.Only(t, "a quarter of a minute; it is about how regret is measured")
	for _, v := range []variant{
		{&applications[1], "normalised", true, 8, 1}, {&applications[0], "messy", false, 8, 1}, {&market, "grown, random", false, 8, 1}, {&depot, "grown, odd", false, 8, 1},
	} {
		o := v.truth(v.observe())
		_, s, err := o.known()
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		if s.structure() != 1 || s.feeds.precision() != 1 || s.feeds.recall() != 1 || share(s.weight, s.weights) > 0.1 {
			t.Errorf("%s: %s\n%v", v, s, s.notes)
		}
	}
}

// TestOwnNamesSameTraffic: with the tables' own names a case says the same as with others.
func TestOwnNamesSameTraffic(t *testing.T) {
	v := variant{&applications[1], "random", false, 8, 3}
	o := v.observe()
	own := v.truth(o)
	if len(own.site.out) != len(o.site.out) || own.site.tables[0].name == o.site.tables[0].name {
		t.Fatalf("%d executions and %d; tables called %s and %s", len(o.site.out), len(own.site.out), o.site.tables[0].name, own.site.tables[0].name)
	}
	for i, e := range o.site.out {
		if x := own.site.out[i]; x.Start != e.Start || x.End != e.End || x.Rows != e.Rows || len(x.Binds) != len(e.Binds) {
			t.Fatalf("execution %d: %+v, and %+v", i, x, e)
		}
	}
}

// TestCarriedOntoItself: a table of a model is the same table of that model. The tables that there are have made texts and, in workspace, sets among their columns.
func TestCarriedOntoItself(t *testing.T) {
	for _, v := range []variant{{&market, "grown", false, 8, 1}, {&depot, "grown, random", false, 8, 1}} {
		o := v.observe()
		m, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := o.carry(m)
		for _, table := range m.Tables {
			own := *table
			own.Existing, own.Indexes = false, nil
			x, why := c.onto(c, &own)
			if why != "" {
				t.Errorf("%s: %s: %s", v, &own, why)
			} else if x.ID() != own.ID() {
				t.Errorf("%s: %s became %s", v, own.ID(), x.ID())
			}
		}
	}
}

// TestAnswers: what is asked about counters under names that say nothing is the question worth most, and its answer mends the model.
func TestAnswers(t *testing.T) {
	o := variant{&market, "grown, random", false, 8, 1}.observe()
	a, err := o.answer()
	if err != nil {
		t.Fatal(err)
	}
	if s := o.score(a.model); s.byTables.f1() != 1 || len(a.asked) > mostAnswered {
		t.Errorf("%s; asked %v", s, a.asked)
	}
	for i := range a.model.Corrections {
		if c := &a.model.Corrections[i]; !c.InForce {
			t.Errorf("%s is not in force: %s", c.Text, c.Why)
		}
	}
}

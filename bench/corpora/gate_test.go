package main

import (
	"context"
	"testing"

	"github.com/helenus-db/helenus/internal/long"
)

// TestRegret holds what designs for inferred models cost to what those for the true ones do. What a case is compared with itself must cost the
// same, and over no tables everything runs as today.
func TestRegret(t *testing.T) {
	long.Only(t, "a quarter of a minute; TestModelsAreTrue holds the models")
	for _, c := range []struct {
		v    variant
		most float64
	}{
		{variant{&applications[1], "normalised", false, 1, 1}, 1},
		{variant{&applications[1], "random", false, 8, 1}, 1.15},
		{variant{&applications[0], "messy", false, 8, 1}, 1.15},
		{variant{&applications[2], "normalised", false, 64, 1}, 1.05},
	} {
		r, err := c.v.regret(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", c.v, err)
		}
		if x := r.cost / r.best; x > c.most+1e-9 || x < 0.9 || len(r.lost) > 0 || len(r.missing) > 0 {
			t.Errorf("%s: %.3f, %.2f at the most; not carried over %v; without an answer %v", c.v, x, c.most, r.lost, r.missing)
		}
	}
}

// TestModelsAreTrue holds what is inferred of two tuned applications to what was reached, with some slack: the whole table is
// printed by make bench-model.
func TestModelsAreTrue(t *testing.T) {
	var sum score
	for _, v := range []variant{
		{&applications[0], "denormalised", false, 8, 1}, {&applications[1], "messy", false, 8, 1}, {&applications[0], "random", false, 8, 1},
		{&applications[2], "normalised", false, 64, 1}, {&applications[4], "normalised", true, 8, 1},
	} {
		s, err := v.observe().judge()
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		t.Logf("%s: %s", v, s)
		sum.add(*s)
	}
	for _, c := range []struct {
		what         string
		got, atLeast float64
	}{
		{"entities by key and tables, F1", sum.byTables.f1(), 0.9},
		{"relationships, F1", sum.relationships.f1(), 0.8},
		{"feeds, precision", sum.feeds.precision(), 0.97},
		{"feeds, recall", sum.feeds.recall(), 0.85},
		{"feeds used", sum.used.recall(), 0.6},
		{"1 - weight error", 1 - share(sum.weight, sum.weights), 0.75},
	} {
		if c.got < c.atLeast {
			t.Errorf("%s: %.3f, at least %.2f is asked", c.what, c.got, c.atLeast)
		}
	}
}

// TestSameSeedSameTraffic: a case is what its seed makes of it.
func TestSameSeedSameTraffic(t *testing.T) {
	v := variant{&applications[3], "messy", false, 8, 7}
	a, err := v.observe().judge()
	if err != nil {
		t.Fatal(err)
	}
	b, err := v.observe().judge()
	if err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() {
		t.Errorf("%s, then %s", a, b)
	}
}

// TestGrownModelsAreTrue is the same of applications that are no plain ones, without the one that is kept back.
func TestGrownModelsAreTrue(t *testing.T) {
	long.Only(t, "half a minute; TestModelsAreTrue has the plain applications")
	for _, c := range []struct {
		v                                              variant
		byTables, relationships, precision, used, most float64 // most is the weight error
	}{
		{variant{&market, "grown", false, 8, 1}, 0.85, 0.95, 1, 1, 0.06},
		{variant{&market, "grown, random", false, 8, 1}, 0.8, 0.9, 1, 0.95, 0.06},
		{variant{&workspace, "grown", false, 8, 1}, 0.75, 0.95, 1, 0.9, 0.1},
		{variant{&retail, "grown, random", false, 8, 1}, 0.95, 0.9, 1, 0.9, 0.25},
		{variant{&outlet, "grown", false, 8, 1}, 0.95, 0.95, 1, 0.95, 0.1},
	} {
		s, err := c.v.observe().judge()
		if err != nil {
			t.Fatalf("%s: %v", c.v, err)
		}
		if s.byTables.f1() < c.byTables || s.relationships.f1() < c.relationships || s.feeds.precision() < c.precision || s.used.recall() < c.used ||
			share(s.weight, s.weights) > c.most {
			t.Errorf("%s: %s, which is worse than %+v", c.v, s, c)
		}
	}
}

package data_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
)

// designs are the workloads of the examples.
func designs(t *testing.T) map[string]*workload.Workload {
	t.Helper()
	names, err := filepath.Glob("../../examples/designs/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(err, "no designs")
	}
	list := map[string]*workload.Workload{}
	for _, name := range names {
		w, err := workload.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		list[filepath.Base(name)] = w
	}
	return list
}

// checkWorld checks everything that holds of every world: keys, partners from both sides, kinds and greatest degrees.
func checkWorld(t interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}, g *model.Graph, w *data.World) {
	t.Helper()
	for _, e := range g.Entities {
		for _, key := range append([][]*model.Attribute{e.Key}, e.Alternate...) {
			seen := map[string]int{}
			for i := range w.Count(e) {
				text, missing := "", false
				for _, a := range key {
					v := w.Value(e, i, a)
					missing = missing || v == nil
					text += fmt.Sprintf("%v|", v)
				}
				if other, there := seen[text]; there && !missing {
					t.Fatalf("%s %d and %d have key %s", e.Name, other, i, text)
				}
				seen[text] = i
			}
		}
	}
	for _, r := range g.Relationships {
		pairs := map[[2]int]bool{}
		back := map[int]int{}
		if err := w.Pairs(r, func(from, to int) error {
			p := [2]int{from, to}
			if pairs[p] {
				t.Fatalf("%s has pair %v twice", r.Name, p)
			}
			pairs[p] = true
			back[to]++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(pairs) != w.PairCount(r) {
			t.Fatalf("%s has %d pairs, and counts %d", r.Name, len(pairs), w.PairCount(r))
		}
		for _, forward := range []bool{true, false} {
			side, other := r.From, r.To
			if !forward {
				side, other = other, side
			}
			way, n := model.Way{Edge: r, Forward: forward}, 0
			for i := range w.Count(side) {
				degree := 0
				for j := range w.Partners(way, i) {
					if j < 0 || j >= w.Count(other) {
						t.Fatalf("%s leads from %d to %d of %d", r.Name, i, j, w.Count(other))
					}
					p := [2]int{i, j}
					if !forward {
						p = [2]int{j, i}
					}
					if !pairs[p] {
						t.Fatalf("%s: %v from one side only (forward %v)", r.Name, p, forward)
					}
					degree, n = degree+1, n+1
				}
				if degree != w.Degree(way, i) || way.ToOne() && degree > 1 {
					t.Fatalf("%s: %d has %d partners", r.Name, i, degree)
				}
			}
			if n != len(pairs) {
				t.Fatalf("%s: %d pairs from one side, %d from the other", r.Name, n, len(pairs))
			}
		}
	}
}

func TestWorldsOfTheExamples(t *testing.T) {
	for name, wl := range designs(t) {
		t.Run(name, func(t *testing.T) {
			for _, o := range []data.Options{{Seed: 1, Scale: 0.003}, {Seed: 2, Scale: 0.001, Skew: 1.1, Workload: wl}, {Seed: 3, Scale: 1e-6}} {
				w, err := data.New(wl.Graph, o)
				if name == "killrvideo.yaml" { // its tags are a set: nothing is made of those, and it is said
					var wrong *data.ModelError
					if !errors.As(err, &wrong) {
						t.Fatalf("not refused: %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				checkWorld(t, wl.Graph, w)
			}
		})
	}
}

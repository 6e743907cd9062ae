package generate_test

import (
	"bytes"
	"testing"

	"github.com/helenus-db/helenus/advisor/generate"
	"github.com/helenus-db/helenus/advisor/workload"
)

func saved(t *testing.T, w *workload.Workload) string {
	t.Helper()
	var b bytes.Buffer
	if err := workload.Save(&b, w); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestScaleOfThePaper(t *testing.T) { // N-61
	for factor := 1; factor <= 4; factor++ {
		for seed := uint64(1); seed <= 10; seed++ {
			w := generate.Workload(generate.Scale(factor), seed)
			kinds := map[workload.WriteKind]int{}
			for _, s := range w.Statements {
				if s.Write != nil {
					kinds[s.Write.Kind]++
					continue
				}
				kinds[""]++
				if len(s.Query.Where) == 0 || s.Query.Where[0].Op != workload.Equal {
					t.Errorf("seed %d, %s: no equality: %s", seed, s.ID, s)
				}
			}
			if n := len(w.Graph.Entities); n != 7*factor || kinds[""] != 30*factor || kinds[workload.Update] != 3*factor || kinds[workload.Insert] != 5*factor {
				t.Errorf("scale %d: %d entities, %v", factor, n, kinds)
			}
			if err := w.Graph.Validate(); err != nil {
				t.Errorf("scale %d, seed %d: %v", factor, seed, err)
			}
			if factor > 1 {
				continue
			}
			text := saved(t, w)
			back, err := workload.Read("saved.yaml", []byte(text))
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if again := saved(t, back); again != text {
				t.Errorf("seed %d: read back it is another workload", seed)
			}
		}
	}
}

func TestSameSeedSameWorkload(t *testing.T) {
	shape := generate.Scale(1)
	one, two, three := generate.Workload(shape, 1), generate.Workload(shape, 1), generate.Workload(shape, 2)
	if saved(t, one) != saved(t, two) {
		t.Error("the same seed made two workloads")
	}
	if saved(t, one) == saved(t, three) {
		t.Error("two seeds made the same workload")
	}
}

// TestSmallWorld: rewired at random, the graph is not the ring any more; without, it is.
func TestSmallWorld(t *testing.T) {
	ring := generate.Scale(4)
	ring.Rewire = 0
	for name, c := range map[string]struct {
		shape generate.Shape
		want  bool
	}{"ring": {ring, true}, "rewired": {generate.Scale(4), false}} {
		g := generate.Workload(c.shape, 3).Graph
		all := true
		for _, e := range g.Entities {
			all = all && len(g.Edges(e)) == 2
		}
		if all != c.want || len(g.Relationships) != len(g.Entities) {
			t.Errorf("%s: every entity has two neighbours: %v; %d edges over %d entities", name, all, len(g.Relationships), len(g.Entities))
		}
	}
}

package generate_test

import (
	"bytes"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
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
			shape := generate.Scale(factor)
			if seed%2 == 0 {
				shape = generate.Dense(factor)
			}
			w := generate.Workload(shape, seed)
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

// TestPlainAsDrawnByTheAuthors: the shares of nose-cli's bin/random_rubis, over many queries.
func TestPlainAsDrawnByTheAuthors(t *testing.T) {
	joins, conditions, ordered := map[int]int{}, map[int]int{}, 0
	const factor = 4
	for seed := range uint64(20) {
		for _, s := range generate.Workload(generate.Scale(factor), seed).Statements {
			switch {
			case s.Query != nil:
				joins[len(s.Query.Tree.Entities)]++
				conditions[len(s.Query.Where)]++
				ordered += min(1, len(s.Query.OrderBy))
				for _, p := range s.Query.Where[1:] {
					if p.Op != workload.Greater {
						t.Errorf("%s: a second condition that is no range", s)
					}
				}
				if s.Weight != 10 {
					t.Errorf("%s weighs %g", s, s.Weight)
				}
			case s.Weight != 1 || s.Write.Kind == workload.Update && len(s.Write.Where) != 1:
				t.Errorf("%s weighs %g", s, s.Weight)
			}
		}
	}
	const all = 20 * 30 * factor
	for name, c := range map[string]struct{ got, least, most int }{
		"over three entities": {joins[3], all * 2 / 100, all * 4 / 100}, // fewer than the thirtieth where a walk ends early
		"over two":            {joins[2], all * 7 / 100, all * 14 / 100},
		"one condition":       {conditions[1], all * 70 / 100, all * 80 / 100},
		"three":               {conditions[3], all * 3 / 100, all * 7 / 100},
		"ordered":             {ordered, all * 7 / 100, all * 13 / 100},
	} {
		if c.got < c.least || c.got > c.most {
			t.Errorf("%s: %d of %d", name, c.got, all)
		}
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

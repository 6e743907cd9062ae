package generate_test

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// TestVaried: what is made is valid, reads back to the same, and all seeds together have met the language.
func TestVaried(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(300) {
		w := generate.Varied(seed)
		if err := w.Graph.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		text := saved(t, w)
		back, err := workload.Read("saved.yaml", []byte(text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if saved(t, back) != text {
			t.Errorf("seed %d: read back it is another workload", seed)
		}
		if text != saved(t, generate.Varied(seed)) {
			t.Errorf("seed %d: another workload each time", seed)
		}
		for _, r := range w.Graph.Relationships {
			met[string(r.Kind)]++
			if r.From == r.To {
				met["to itself"]++
			}
		}
		for _, s := range w.Statements {
			if s.Write != nil {
				met[string(s.Write.Kind)]++
				continue
			}
			for _, p := range s.Query.Where {
				met[string(p.Op)]++
			}
			for what, there := range map[string]bool{
				"distinct": s.Query.Distinct, "limit": s.Query.Limit > 0, "per": s.Query.PerLimit > 0, "order": len(s.Query.OrderBy) > 0,
				"group": len(s.Query.GroupBy) > 0, "aggregates": len(s.Query.Aggregates) > 0, "chain of three": len(s.Query.Tree.Entities) > 2,
			} {
				if there {
					met[what]++
				}
			}
		}
	}
	for _, what := range []string{
		"1:1", "1:n", "n:1", "m:n", "to itself", "=", "!=", "<", "<=", ">", ">=", "IN", "LIKE", "INSERT", "UPDATE", "DELETE", "CONNECT", "DISCONNECT",
		"distinct", "limit", "per", "order", "group", "aggregates", "chain of three",
	} {
		if met[what] < 10 {
			t.Errorf("%s was met %d times", what, met[what])
		}
	}
	t.Log(met)
}

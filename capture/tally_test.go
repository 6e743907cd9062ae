package capture

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTallyIsAMap: it adds, subtracts, is written and read as the map is that it stands for.
func TestTallyIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.MapOfN(rapid.SampledFrom(consistencyNames[:]), rapid.Uint64Range(1, 9), 0, 6)
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		for name, op := range map[string]func(a, b uint64) uint64{"plus": plus, "minus": minus} {
			want := map[string]uint64{}
			for _, m := range []map[string]uint64{a, b} {
				for k := range m {
					want[k] = op(a[k], b[k])
				}
			}
			maps.DeleteFunc(want, func(_ string, n uint64) bool { return n == 0 })
			got := TallyOf(a).combine(TallyOf(b), op)
			if d := cmp.Diff(TallyOf(want), got); d != "" {
				t.Fatal(name, d)
			}
			for _, k := range consistencyNames {
				if got.Of(k) != want[k] {
					t.Fatalf("%s: %d of %s, want %d", name, got.Of(k), k, want[k])
				}
			}
			raw, err := json.Marshal(got)
			like, _ := json.Marshal(want)
			if err != nil || string(raw) != string(like) {
				t.Fatalf("%s is written as %s, %v, want %s", name, raw, err, like)
			}
			var back Tally
			if err := json.Unmarshal(raw, &back); err != nil || !cmp.Equal(back, got) {
				t.Fatalf("%s is read as %v, %v", raw, back, err)
			}
		}
	})
}

package safety

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/bench/generate"
)

// TestReasonsAreWords: S-15, for people. Why two writers can meet is said of rows, columns and statements, never of symbols of the
// grammar, and is said if and only if they can.
func TestReasonsAreWords(t *testing.T) {
	said := map[string]bool{}
	for seed := uint64(1); seed <= uint64(schemas(t))/4; seed++ {
		w := generate.Varied(seed)
		p := Principal{Entity: w.Graph.Entities[0]}
		for _, table := range Encode(w, tablesOf(w, rand.New(rand.NewPCG(seed, 10))), p) {
			for _, group := range Groups {
				f, err := Judge(table, group, p)
				if err != nil {
					t.Fatal(err)
				}
				if (f.Reason != "") != (f.Answer.Witness != nil) {
					t.Fatalf("seed %d: %s: %q, witness %v", seed, table.Name, f.Reason, f.Answer.Witness)
				}
				for _, sign := range []string{"put_", "del_", "put[", "del[", ".row", ".static", "·", table.Name + "("} {
					if strings.Contains(f.Reason, sign) {
						t.Errorf("seed %d: %s says %q", seed, f.Reason, sign)
					}
				}
				for _, words := range []string{"in a row:", "one in a row and one in another", "column ", "does not name its writer", "the writer of", "anyone may send"} {
					said[words] = said[words] || strings.Contains(f.Reason, words)
				}
			}
		}
	}
	for words, yes := range said {
		if !yes {
			t.Errorf("nowhere %q: that was not tried", words)
		}
	}
}

// TestPlacesAreWords names every symbol that a table's grammars have, by its own columns.
func TestPlacesAreWords(t *testing.T) {
	table := &Table{Name: "t", Partition: []string{"a"}, Clustering: []string{"b"}, Static: []string{"s"}, Values: []string{"v"}, Collections: []Collection{{"tags", "tag"}}}
	want := map[string]string{
		"t": "a partition: a", "t.row": "a row: a b", "t.static": "the static columns of a partition: a", "t.row.tags": "an element of tags: a b tag",
		"t.row.v": "column v of a row: a b", "t.static.s": "the static column s of a partition: a",
	}
	seen := map[string]bool{}
	for _, group := range Groups {
		for _, p := range table.Grammar(group).Productions {
			where, key := table.groupText(p.Kind)
			if got := where + ": " + strings.Join(key, " "); got != want[p.Kind] {
				t.Errorf("%s is %q, want %q", p.Kind, got, want[p.Kind])
			}
			seen[p.Kind] = true
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%v", seen)
	}
}

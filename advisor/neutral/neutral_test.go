package neutral_test

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/neutral"
	"github.com/helenus-db/helenus/advisor/workload"
)

var update = flag.Bool("update", false, "write the golden files")

func load(t testing.TB, name string) *workload.Workload {
	t.Helper()
	w, err := neutral.Load("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestImport compares what is made of the published files with the copies that are in examples (N-36, N-46, N-47, N-53, N-54).
func TestImport(t *testing.T) {
	for name, golden := range map[string]string{
		"hotel": "testdata/golden/hotel.yaml", "eac": "testdata/golden/eac.yaml",
		"rubis": "../../examples/designs/rubis.yaml", "tpch-cycles": "../../examples/designs/tpch.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			w := load(t, name)
			var saved bytes.Buffer
			if err := workload.Save(&saved, w); err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(golden, saved.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(filepath.Clean(golden))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), saved.String()); diff != "" {
				t.Error(diff)
			}
			back, err := workload.Read(golden, want)
			if err != nil {
				t.Fatal(err)
			}
			for schema, tables := range w.Schemas {
				for i, table := range tables {
					if got := back.Schemas[schema][i]; got.ID() != table.ID() || got.Name != table.Name {
						t.Errorf("%s.%s: saved and read it is %s, not %s", schema, table.Name, got.ID(), table.ID())
					}
				}
			}
			if data, err := os.ReadFile("testdata/" + name + ".yaml"); err != nil || !neutral.Is(data) || neutral.Is(want) {
				t.Errorf("%v; the neutral form or ours is not recognised", err)
			}
		})
	}
}

func TestRUBiS(t *testing.T) {
	w := load(t, "rubis")
	t.Run("N-53 entities and relationships", func(t *testing.T) {
		if len(w.Graph.Entities) != 7 || len(w.Graph.Relationships) != 10 {
			t.Errorf("%d and %d, want 7 and 10", len(w.Graph.Entities), len(w.Graph.Relationships))
		}
	})
	t.Run("N-54 request types and statements", func(t *testing.T) {
		groups, browsing := map[string]bool{}, map[string]bool{}
		kinds := map[workload.WriteKind]int{}
		for _, s := range w.Statements {
			groups[s.Group] = true
			if s.Weights["browsing"] > 0 {
				browsing[s.Group] = true
			}
			if s.Write != nil {
				kinds[s.Write.Kind]++
			} else {
				kinds["SELECT"]++
			}
			if s.Transaction != "" {
				t.Errorf("%s is part of a transaction: requests share nothing", s.ID)
			}
		}
		want := map[workload.WriteKind]int{"SELECT": 28, workload.Insert: 5, workload.Update: 3}
		if diff := cmp.Diff(want, kinds); diff != "" || len(groups) != 16 || len(browsing) != 7 {
			t.Errorf("%d groups, %d in browsing, statements %s", len(groups), len(browsing), diff)
		}
	})
	t.Run("N-55 share of the requests that bidding adds", func(t *testing.T) {
		all, added := map[string]float64{}, map[string]float64{}
		for _, s := range w.Statements {
			all[s.Group] = s.Weights["bidding"]
			if s.Weights["browsing"] == 0 {
				added[s.Group] = s.Weights["bidding"]
			}
		}
		if share := sum(added) / sum(all); len(added) != 9 || math.Abs(share-0.226) > 0.001 {
			t.Errorf("%d requests with %.1f %%, want 9 with 22.6 %%", len(added), 100*share)
		}
	})
	t.Run("schemas", func(t *testing.T) {
		if len(w.Schemas["rubis_expert"]) != 17 && len(w.Schemas["rubis_baseline"]) == 0 {
			t.Errorf("%d and %d tables", len(w.Schemas["rubis_expert"]), len(w.Schemas["rubis_baseline"]))
		}
		for _, tables := range w.Schemas {
			for _, table := range tables {
				if table.Existing {
					t.Errorf("%s is taken for a table of the application", table.Name)
				}
			}
		}
	})
	t.Run("cardinalities, meant and effective", func(t *testing.T) {
		for name, want := range map[string][2]float64{"regions.dummy": {1, 10}, "users.rating": {50, 10}, "users.balance": {10000, 0}, "comments.rating": {10, 0}} {
			f, err := w.Graph.Field(name)
			if err != nil || f.Distinct() != want[0] || f.Attribute.Effective != want[1] {
				t.Errorf("%s: %v, %g and %g, want %g", name, err, f.Distinct(), f.Attribute.Effective, want)
			}
		}
	})
}

func sum(of map[string]float64) (sum float64) {
	for _, x := range of {
		sum += x
	}
	return sum
}

func TestEAC(t *testing.T) {
	w := load(t, "eac")
	reads, writes := 0.0, 0.0
	for _, s := range w.Statements {
		if s.IsWrite() {
			writes += s.Weight
		} else {
			reads += s.Weight
		}
	}
	if len(w.Graph.Relationships) != 3 || reads != 20 || writes != 80 { // N-46, N-47
		t.Errorf("%d relationships, %g reads and %g writes", len(w.Graph.Relationships), reads, writes)
	}
}

func TestHotel(t *testing.T) {
	w := load(t, "hotel")
	if w.Graph.Entity("HotelToPOI") != nil || w.Graph.Relationship("Hotel_PointsOfInterest").Pairs() != 5000 {
		t.Error("the link entity is to become a relationship with its pairs")
	}
	if s := w.Statement("fig10-connect"); s == nil || s.String() != "CONNECT Guest(?) TO Reservations(?)" {
		t.Errorf("N-36: %v", s)
	}
}

// TestSteps reads the three workloads over time.
func TestSteps(t *testing.T) {
	for _, name := range []string{"tpch-cycles", "tpch-evolution", "tpch-spikes"} {
		w := load(t, name)
		for _, s := range w.Statements {
			if len(s.Steps) != 12 || s.Weight <= 0 || s.Weight >= 1 {
				t.Fatalf("%s: %s has %d steps of mean weight %g", name, s.ID, len(s.Steps), s.Weight)
			}
		}
		if q := w.Statement("Q5").Query; len(q.GroupBy) != 1 || len(q.Aggregates) != 2 || len(q.OrderBy) != 0 {
			t.Errorf("%s: Q5 is %s", name, q)
		}
		if key := w.Graph.Entity("lineitem").Key; len(key) != 2 || key[1].Name != "l_linenumber" {
			t.Errorf("%s: the composite key has %d parts", name, len(key))
		}
	}
}

func TestErrors(t *testing.T) {
	good, err := os.ReadFile("testdata/eac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"type", "type: boolean", "type: bool", `field Player.IsAdmin: no type is called "bool"; nearest is "boolean"`},
		{"count of zero", "count: 5000\n", "count: 0\n", "count 0 is not a number of entities"},
		{"kind", "kind: many_to_one", "kind: some_to_one", `kind "some_to_one" is none of`},
		{"end", "to: Player\n", "to: Playr\n", `no entity is called "Playr"; nearest is "Player"`},
		{"role twice", "fk: server", "fk: player", "Session has two relationships called player"},
		{"statement", "Server.ServerName, Server.ServerIP", "Server.ServrName, Server.ServerIP", `nearest is "ServerName"`},
		{"weight", "default: 71", "default: -71", "weight -71 is not a rate"},
		{"not a weight", "default: 71", "default: [1, [2]]", "is not a rate"},
		{"mix", "default: 71", "defaul: 71", `no mix is called "defaul"; nearest is "default"`},
		{"default mix", "default_mix: default", "default_mix: other", `no mix is called "other"`},
		{"aliases within anchors", "notes:", "other: &a [1]\nmore: &b [*a, *a]\nnotes:", "aliases within anchors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(string(good), c.from, c.to, 1)
			if text == string(good) {
				t.Fatal("the test changes nothing")
			}
			_, err := neutral.Read("eac.yaml", []byte(text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			var file *model.FileError
			if !errors.As(err, &file) {
				t.Errorf("%T is no *FileError", err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("name: x\nmodel:\n  entities:\n  - {name: A, count: 2, fields: [{name: id, type: id, id: true}]}\nmixes: [m]\nstatements:\n- {text: 'SELECT A.id FROM A WHERE A.id = ? -- 1', weights: {m: &1 [1, 2]}}\n- {text: 'DELETE FROM A WHERE A.id = ?', weights: {m: *1}}\n"))
	f.Add([]byte("model: {entities: [{fields: 1}]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := neutral.Read("fuzz", data)
		if err != nil {
			return
		}
		var saved bytes.Buffer
		if err := workload.Save(&saved, w); err != nil {
			t.Fatal(err)
		}
		if _, err := workload.Read("saved", saved.Bytes()); err != nil {
			t.Fatalf("%v\n%s", err, saved.String())
		}
	})
}

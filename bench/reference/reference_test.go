package reference_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/reference"
)

func load(t testing.TB, name string, scale float64) (*workload.Workload, *data.World, *reference.Reference) {
	t.Helper()
	wl, err := workload.Load(filepath.Join("../../examples/designs", name))
	if err != nil {
		t.Fatal(err)
	}
	w, err := data.New(wl.Graph, data.Options{Seed: 1, Scale: scale, Workload: wl})
	if err != nil {
		t.Fatal(err)
	}
	r, err := reference.Create("", w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return wl, w, r
}

func TestAnswers(t *testing.T) {
	for _, name := range []string{"rubis.yaml", "hotel.yaml", "eac.yaml", "twissandra.yaml"} {
		t.Run(name, func(t *testing.T) {
			wl, _, r := load(t, name, 0.002)
			random := rand.New(rand.NewPCG(1, 2))
			rows := 0
			for _, s := range wl.Statements {
				if s.Query == nil {
					continue
				}
				for range 5 {
					with, err := r.Draw(s, random)
					if err != nil {
						t.Fatal(err)
					}
					answer, err := r.Answer(s.Query, with)
					if err != nil {
						t.Fatal(err)
					}
					rows += len(answer)
				}
			}
			if rows == 0 {
				t.Error("no query has an answer")
			}
		})
	}
}

package reference_test

import (
	"path/filepath"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/reference"
)

// BenchmarkCreate measures how fast a copy is made, in rows of entities and relationships a second.
func BenchmarkCreate(b *testing.B) {
	wl, err := workload.Load("../../examples/designs/rubis.yaml")
	if err != nil {
		b.Fatal(err)
	}
	w, err := data.New(wl.Graph, data.Options{Seed: 1, Scale: 0.2})
	if err != nil {
		b.Fatal(err)
	}
	rows := 0
	for b.Loop() {
		r, err := reference.Create(filepath.Join(b.TempDir(), "copy.db"), w)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		for _, e := range wl.Graph.Entities {
			rows += w.Count(e)
		}
		for _, x := range wl.Graph.Relationships {
			rows += w.PairCount(x)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

package data_test

import (
	"errors"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
)

// BenchmarkContents measures how fast rows of a table come out of a world larger than any that is tested: RUBiS of twenty
// million bids.
func BenchmarkContents(b *testing.B) {
	wl, err := workload.Load("../../examples/designs/rubis.yaml")
	if err != nil {
		b.Fatal(err)
	}
	w, err := data.New(wl.Graph, data.Options{Seed: 1, Scale: 100})
	if err != nil {
		b.Fatal(err)
	}
	enough := errors.New("enough")
	for _, t := range wl.Schemas["rubis_expert"] {
		if t.Name != "item_bids" && t.Name != "items_with_category" {
			continue
		}
		b.Run(t.Name, func(b *testing.B) {
			b.ReportAllocs()
			// Each round makes as many rows as it has iterations.
			rows := 0
			if err := w.Contents(t, func([]any) error {
				if rows++; rows > b.N {
					return enough
				}
				return nil
			}); !errors.Is(err, enough) {
				b.Fatal(err)
			}
		})
	}
}

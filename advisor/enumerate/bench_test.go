package enumerate_test

import (
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// BenchmarkWorkload measures enumeration; tables/op is the size of the pool.
func BenchmarkWorkload(b *testing.B) {
	measure := func(name string, w *workload.Workload) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for range b.N {
				n = len(enumerate.Workload(w, enumerate.Options{}).Tables)
			}
			b.ReportMetric(float64(n), "tables/op")
		})
	}
	for _, name := range []string{"eac", "hotel", "nose-hotel", "rubis", "tpch"} {
		measure(name, load(b, name+".yaml"))
	}
	for scale := 1; scale <= 4; scale++ {
		measure(fmt.Sprintf("random-%dx", scale), generate.Workload(generate.Scale(scale), 1))
	}
}

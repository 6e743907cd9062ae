package native

import (
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"pgregory.net/rapid"
)

var desc = prometheus.NewDesc("took_seconds", "Time.", nil, nil)

// decoded is what Prometheus reads from spans and deltas: the count of each bucket by its index.
func decoded(h *dto.Histogram) map[int]int64 {
	out := map[int]int64{}
	at, n, k := 0, int64(0), 0
	for _, s := range h.PositiveSpan {
		at += int(s.GetOffset())
		for range s.GetLength() {
			n += h.PositiveDelta[k]
			if n != 0 {
				out[at] = n
			}
			at++
			k++
		}
	}
	return out
}

// Each number is in the native bucket that Prometheus defines for it, and the classic buckets are there too.
func TestBothForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := rapid.Int32Range(0, 4).Draw(t, "schema")
		values := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 1<<17), func(n int) float64 { return float64(n) / 1024 }), 1, 50).Draw(t, "values")
		h, want, zeroes, sum := New(schema), map[int]int64{}, uint64(0), 0.0
		below := uint64(0)
		for _, v := range values {
			h.Add(v, 1)
			sum += v
			if v <= 1 {
				below++
			}
			if v == 0 {
				zeroes++
				continue
			}
			k := 0 // by definition, with 2^schema buckets for each doubling: end(k-1) < v <= end(k)
			end := func(k int) float64 { return math.Exp2(float64(k) / math.Exp2(float64(schema))) }
			for end(k) < v {
				k++
			}
			for end(k-1) >= v {
				k--
			}
			want[k]++
		}
		var m dto.Metric
		if err := h.Metric(desc, uint64(len(values)), sum, map[float64]uint64{1: below}).Write(&m); err != nil {
			t.Fatal(err)
		}
		got := m.GetHistogram()
		if got.GetSchema() != schema || got.GetZeroCount() != zeroes || got.GetSampleCount() != uint64(len(values)) || got.GetSampleSum() != sum {
			t.Fatalf("%v", got)
		}
		if len(got.Bucket) != 1 || got.Bucket[0].GetCumulativeCount() != below || got.Bucket[0].GetUpperBound() != 1 {
			t.Fatalf("classic buckets: %v", got.Bucket)
		}
		for k, n := range decoded(got) {
			if want[k] != n {
				t.Fatalf("bucket %d has %d, want %d of %v", k, n, want[k], values)
			}
			delete(want, k)
		}
		if len(want) > 0 {
			t.Fatalf("missing: %v", want)
		}
	})
}

// A count that moved while it was read leaves the classic form.
func TestTornCount(t *testing.T) {
	h := New(3)
	h.Add(0.5, 2)
	var m dto.Metric
	if err := h.Metric(desc, 3, 1, map[float64]uint64{1: 2}).Write(&m); err != nil || m.GetHistogram().Schema != nil || len(m.GetHistogram().Bucket) != 1 {
		t.Errorf("%v %v", &m, err)
	}
}

// Package native gives a metric both forms of a histogram that Prometheus knows: classic buckets, which everything reads, and beside them
// the finer native ones, which a Prometheus that asks for protocol buffers takes as one series.
package native

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Histogram counts numbers in native buckets. Make it with New.
type Histogram struct {
	schema  int32
	zero    uint64
	buckets map[int]int64
}

// New returns an empty histogram with 2^schema buckets for each doubling; -4 <= schema <= 8.
func New(schema int32) *Histogram { return &Histogram{schema: schema, buckets: map[int]int64{}} }

// Add counts n numbers around v.
func (h *Histogram) Add(v float64, n uint64) {
	switch {
	case n == 0:
	case v <= 0:
		h.zero += n
	default:
		h.buckets[int(math.Ceil(math.Log2(v)*math.Exp2(float64(h.schema))))] += int64(n) //nolint:gosec // counts of one process
	}
}

// Metric is a histogram with its classic buckets (cumulative, by upper end) and its native ones. The counts of both must add up to count.
func (h *Histogram) Metric(d *prometheus.Desc, count uint64, sum float64, classic map[float64]uint64, labels ...string) prometheus.Metric {
	old := prometheus.MustNewConstHistogram(d, count, sum, classic, labels...)
	fine, err := prometheus.NewConstNativeHistogram(d, count, sum, h.buckets, nil, h.zero, h.schema, 0, time.Time{}, labels...)
	if err != nil { // numbers that do not add up, since some were counted meanwhile: the classic form is right all the same
		return old
	}
	return both{old, fine}
}

// both writes the native form and adds the classic buckets to it.
type both struct{ classic, native prometheus.Metric }

// Desc implements prometheus.Metric.
func (b both) Desc() *prometheus.Desc { return b.classic.Desc() }

// Write implements prometheus.Metric.
func (b both) Write(out *dto.Metric) error {
	var classic dto.Metric
	if err := b.classic.Write(&classic); err != nil {
		return err
	}
	if err := b.native.Write(out); err != nil {
		return err
	}
	out.Histogram.Bucket = classic.Histogram.Bucket
	out.Histogram.CreatedTimestamp = nil // nobody noted it
	return nil
}

// Package histogram counts non-negative numbers in buckets whose width grows with the number (log-linear, as in HdrHistogram):
// each octave is cut into four, so a quantile is off by at most an eighth of its value. A Histogram is for many
// concurrent writers (one atomic add a number, no lock); a Distribution is its picture, which can be added, subtracted,
// asked for quantiles and written as JSON. It imports nothing of ours.
//
// The bucket of v < 4 is v itself. For larger v let e be the position of its highest set bit (v in [2^e, 2^(e+1))): the two
// bits below the highest choose one of the octave's four buckets, so the index is 4(e-1) + those two bits.
// With 128 buckets the last one starts at 7*2^30 and holds everything above.
package histogram

import (
	"math/bits"
	"sync/atomic"
)

// Size is the number of buckets.
const Size = 128

// Histogram counts numbers. The zero value is empty. It must not be copied.
type Histogram struct {
	sum     atomic.Uint64
	buckets [Size]atomic.Uint64
}

// Add counts v. It may be called from many goroutines at once and does not allocate.
func (h *Histogram) Add(v uint64) {
	h.buckets[index(v)].Add(1)
	h.sum.Add(v)
}

// Run gathers numbers that one goroutine counts in one histogram, so that those of one bucket cost one addition. The zero
// value is empty.
type Run struct {
	bucket int
	n, sum uint64
}

// Add counts v in h, at the latest when the run is flushed.
func (r *Run) Add(h *Histogram, v uint64) {
	if i := index(v); i != r.bucket {
		r.Flush(h)
		r.bucket = i
	}
	r.n++
	r.sum += v
}

// Flush adds to h what was gathered.
func (r *Run) Flush(h *Histogram) {
	if r.n > 0 {
		h.buckets[r.bucket].Add(r.n)
		h.sum.Add(r.sum)
		r.n, r.sum = 0, 0
	}
}

// AddTo adds what was counted so far to d. Numbers that arrive meanwhile may be in the sum and not yet in a bucket, or
// the other way round.
func (h *Histogram) AddTo(d *Distribution) {
	var counts [Size]uint64
	for i := range h.buckets {
		counts[i] = h.buckets[i].Load()
	}
	part := Distribution{Sum: h.sum.Load()}
	for i, n := range counts {
		if n != 0 {
			part.Count += n
			part.Buckets = append(part.Buckets, Bucket{Low: lower(i), Count: n})
		}
	}
	*d = d.Plus(part)
}

// Distribution is a picture of a Histogram. The zero value is empty. It is immutable: Plus and Minus return new ones.
type Distribution struct {
	Count   uint64   `json:"count"`
	Sum     uint64   `json:"sum"`
	Buckets []Bucket `json:"buckets,omitempty"` // not empty, by Low
}

// Bucket counts the numbers from Low up to the next bucket's.
type Bucket struct {
	Low   uint64 `json:"low"`
	Count uint64 `json:"n"`
}

// Plus returns what both counted.
func (d Distribution) Plus(o Distribution) Distribution {
	return combine(d, o, func(a, b uint64) uint64 { return a + b })
}

// Minus returns what d counted and o had not: o is an earlier picture of the same histogram. Where o is the larger one (the
// histogram was begun anew) the result is 0 there.
func (d Distribution) Minus(o Distribution) Distribution {
	return combine(d, o, func(a, b uint64) uint64 {
		if b > a {
			return 0
		}
		return a - b
	})
}

func combine(a, b Distribution, op func(a, b uint64) uint64) Distribution {
	out := Distribution{Sum: op(a.Sum, b.Sum)}
	i, j := 0, 0
	for i < len(a.Buckets) || j < len(b.Buckets) {
		var x, y uint64
		var low uint64
		switch {
		case j == len(b.Buckets) || i < len(a.Buckets) && a.Buckets[i].Low < b.Buckets[j].Low:
			low, x = a.Buckets[i].Low, a.Buckets[i].Count
			i++
		case i == len(a.Buckets) || b.Buckets[j].Low < a.Buckets[i].Low:
			low, y = b.Buckets[j].Low, b.Buckets[j].Count
			j++
		default:
			low, x, y = a.Buckets[i].Low, a.Buckets[i].Count, b.Buckets[j].Count
			i++
			j++
		}
		if n := op(x, y); n != 0 {
			out.Count += n
			out.Buckets = append(out.Buckets, Bucket{Low: low, Count: n})
		}
	}
	return out
}

// Quantile returns an estimate of the q-quantile (q in 0..1): the middle of its bucket. It is 0 if nothing was counted.
func (d Distribution) Quantile(q float64) float64 {
	if d.Count == 0 {
		return 0
	}
	rank := q * float64(d.Count)
	seen := 0.0
	for i, b := range d.Buckets {
		seen += float64(b.Count)
		if seen >= rank || i == len(d.Buckets)-1 {
			k := index(b.Low)
			if k < 4 {
				return float64(b.Low)
			}
			return (float64(lower(k)) + float64(upper(k))) / 2
		}
	}
	return 0
}

// P50 is the median.
func (d Distribution) P50() float64 { return d.Quantile(0.50) }

// P99 is the 99th percentile.
func (d Distribution) P99() float64 { return d.Quantile(0.99) }

// Mean is the arithmetic mean, 0 if nothing was counted. It is exact.
func (d Distribution) Mean() float64 {
	if d.Count == 0 {
		return 0
	}
	return float64(d.Sum) / float64(d.Count)
}

// CountUpTo returns how many numbers were in buckets that end at or below v+1, so that none of them exceeded v.
func (d Distribution) CountUpTo(v uint64) uint64 {
	var n uint64
	for _, b := range d.Buckets {
		if k := index(b.Low); k == Size-1 || upper(k) > v+1 {
			break
		}
		n += b.Count
	}
	return n
}

func index(v uint64) int {
	if v < 4 {
		return int(v)
	}
	e := bits.Len64(v) - 1
	i := 4*(e-1) + int(v>>(e-2)&3)
	return min(i, Size-1)
}

// lower is the smallest number of bucket i.
func lower(i int) uint64 {
	if i < 4 {
		return uint64(i)
	}
	e := i/4 + 1
	return uint64(4+i%4) << (e - 2)
}

// upper is the smallest number above bucket i.
func upper(i int) uint64 {
	if i < 4 {
		return uint64(i) + 1
	}
	return lower(i) + 1<<(i/4-1)
}

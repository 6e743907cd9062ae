// Package histogram counts non-negative numbers in buckets whose width grows with the number (log-linear, as in HdrHistogram):
// each octave is cut into 32, so a quantile is off by at most a sixty-fourth (1.6 %) of its value. A Histogram is for many
// concurrent writers (one atomic add a number, no lock); a Distribution is its picture, which can be added, subtracted,
// asked for quantiles and written as JSON. Pictures add up exactly, in any order. It imports nothing of ours.
//
// The bucket of v < 32 is v itself. For larger v let e be the position of its highest set bit (v in [2^e, 2^(e+1))): the five
// bits below the highest choose one of the octave's 32 buckets, so the index is 32(e-4) + those five bits.
// With 36 octaves the last bucket starts at 63*2^34 and holds everything above.
//
// # Memory
//
// The buckets of an octave are made when its first number comes: a statement's latencies lie in three to six octaves, its
// rows and bytes in one or two, so a histogram takes 0.3 KB and 0.25 KB for each octave that it saw, 9.5 KB at most.
package histogram

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

const (
	perOctave = 32
	octaves   = 36
	// Error is how far a quantile may be off, as a share of it.
	Error = 1.0 / (2 * perOctave)
	// Size is the number of buckets.
	Size = octaves * perOctave
)

// octave is the buckets of one octave. Most have few that ever counted; used tells which, so that a picture looks at no others.
type octave struct {
	used    atomic.Uint32
	buckets [perOctave]atomic.Uint64
}

func (o *octave) plus(other *octave) {
	for left := other.used.Load(); left != 0; left &= left - 1 {
		i := bits.TrailingZeros32(left)
		o.buckets[i].Store(o.buckets[i].Load() + other.buckets[i].Load())
	}
	o.used.Or(other.used.Load())
}

// OctaveBytes is how much memory the first number of an octave takes.
const OctaveBytes = int(unsafe.Sizeof(octave{}))

// Histogram counts numbers. The zero value is empty. It must not be copied.
type Histogram struct {
	sum     atomic.Uint64
	made    atomic.Uint64 // bit i: octave i is there
	octaves [octaves]atomic.Pointer[octave]
}

// Add counts v. It may be called from many goroutines at once. It allocates only for the first number of an octave, and
// returns how many bytes it took: nearly always 0.
func (h *Histogram) Add(v uint64) (took int) {
	h.sum.Add(v)
	return h.count(index(v), 1)
}

func (h *Histogram) count(i int, n uint64) (took int) {
	p := &h.octaves[i/perOctave]
	o := p.Load()
	if o == nil {
		if o = new(octave); p.CompareAndSwap(nil, o) {
			h.made.Or(1 << (i / perOctave))
			took = OctaveBytes
		} else {
			o = p.Load()
		}
	}
	if o.buckets[i%perOctave].Add(n) == n {
		o.used.Or(1 << (i % perOctave))
	}
	return took
}

// Drain moves what was counted to another histogram, each number once, whoever else counts or drains meanwhile. It returns
// how many bytes the other took.
func (h *Histogram) Drain(to *Histogram) (took int) {
	if n := h.sum.Swap(0); n != 0 {
		to.sum.Add(n)
	}
	for i := range h.octaves {
		o := h.octaves[i].Load()
		if o == nil {
			continue
		}
		for j := range o.buckets {
			if n := o.buckets[j].Swap(0); n != 0 {
				took += to.count(i*perOctave+j, n)
			}
		}
	}
	return took
}

// Run gathers numbers that one goroutine counts in one histogram, so that those of one bucket cost one addition. The zero
// value is empty.
type Run struct {
	value  uint64 // that was counted last; its bucket is the one of the run
	bucket int
	n, sum uint64
}

// Add counts v in h so many times, at the latest when the run is flushed. It returns how many bytes h took, as Histogram.Add.
func (r *Run) Add(h *Histogram, v, times uint64) (took int) {
	if v != r.value {
		took = r.turn(h, v)
	}
	r.n += times
	r.sum += v * times
	return took
}

// turn goes on with v, which is another number than the one before.
func (r *Run) turn(h *Histogram, v uint64) (took int) {
	r.value = v
	if i := index(v); i != r.bucket {
		took = r.Flush(h)
		r.bucket = i
	}
	return took
}

// Flush adds to h what was gathered, and returns how many bytes it took.
func (r *Run) Flush(h *Histogram) (took int) {
	if r.n > 0 {
		h.sum.Add(r.sum)
		took = h.count(r.bucket, r.n)
		r.n, r.sum = 0, 0
	}
	return took
}

// AddTo adds what was counted so far to d. Numbers that arrive meanwhile may be in the sum and not yet in a bucket, or
// the other way round.
func (h *Histogram) AddTo(d *Distribution) { *d = d.Plus(new(Arena).Collect(h)) }

// Arena is where the buckets of many pictures are made, so that they need few allocations. The zero value is ready. It is for
// one goroutine; what it made may be shared.
type Arena struct {
	scratch, free []Bucket
	octaves       []*octave
}

// Fetch reads what the pictures of these histograms will be made from, one kind after the other. A picture takes steps, each of which waits
// for memory: the histogram, its octaves, their buckets. What does not wait for another read the processor has under way at once,
// so many pictures are made sooner if all are fetched first. What it returns means nothing: what is read must be used.
func (a *Arena) Fetch(list []*Histogram) (seen uint64) {
	o := a.octaves[:0]
	for _, h := range list {
		seen += h.sum.Load() + h.made.Load()
	}
	for _, h := range list {
		for left := h.made.Load(); left != 0; left &= left - 1 {
			if x := h.octaves[bits.TrailingZeros64(left)].Load(); x != nil {
				o = append(o, x)
			}
		}
	}
	for _, x := range o {
		seen += uint64(x.used.Load())
	}
	for _, x := range o {
		used := x.used.Load()
		for i := 0; i < perOctave; i += 8 { // a line of the cache
			if used>>i&0xff != 0 {
				seen += x.buckets[i+7].Load()
			}
		}
	}
	a.octaves = o
	return seen
}

const arenaSize = 4096

// Collect is the picture of several histograms together; nil ones count as empty.
func (a *Arena) Collect(parts ...*Histogram) (d Distribution) {
	out, made := a.scratch[:0], uint64(0)
	for _, h := range parts {
		if h != nil {
			d.Sum += h.sum.Load()
			made |= h.made.Load()
		}
	}
	for left := made; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		var seen *octave // the only one, or the sum of those seen
		var sum octave
		for _, h := range parts {
			if h == nil {
				continue
			}
			switch o := h.octaves[i].Load(); {
			case o == nil:
			case seen == nil:
				seen = o
			default:
				if seen != &sum {
					sum.plus(seen)
					seen = &sum
				}
				sum.plus(o)
			}
		}
		if seen == nil {
			continue
		}
		for left := seen.used.Load(); left != 0; left &= left - 1 {
			j := bits.TrailingZeros32(left)
			if n := seen.buckets[j].Load(); n != 0 {
				d.Count += n
				out = append(out, Bucket{Low: lower(i*perOctave + j), Count: n})
			}
		}
	}
	a.scratch = out[:0]
	d.Buckets = a.keep(out)
	return d
}

// keep copies b to a place of its own; nil if it is empty.
func (a *Arena) keep(b []Bucket) []Bucket {
	if len(b) == 0 {
		return nil
	}
	if cap(a.free)-len(a.free) < len(b) {
		a.free = make([]Bucket, 0, max(arenaSize, len(b)))
	}
	from := len(a.free)
	a.free = append(a.free, b...)
	return a.free[from:len(a.free):len(a.free)]
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
			if k < 2*perOctave {
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

// Each calls f with the middle of each bucket and what it counted, from the lowest on.
func (d Distribution) Each(f func(middle float64, n uint64)) {
	for _, b := range d.Buckets {
		middle := float64(b.Low)
		if k := index(b.Low); k >= perOctave {
			middle = (float64(lower(k)) + float64(upper(k))) / 2
		}
		f(middle, b.Count)
	}
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
	if v < perOctave {
		return int(v)
	}
	e := bits.Len64(v) - 1
	return min(perOctave*(e-4)+int(v>>(e-5)&(perOctave-1)), Size-1)
}

// lower is the smallest number of bucket i.
func lower(i int) uint64 {
	if i < perOctave {
		return uint64(i)
	}
	e := i/perOctave + 4
	return uint64(perOctave+i%perOctave) << (e - 5)
}

// upper is the smallest number above bucket i.
func upper(i int) uint64 {
	if i < perOctave {
		return uint64(i) + 1
	}
	return lower(i) + 1<<(i/perOctave-1)
}

package sketch

import (
	"math/bits"
	"slices"
)

// Octaves counts numbers by the position of their highest bit: bucket 0 is the number 0, bucket i the numbers from 2^(i-1) up to
// 2^i - 1. The zero value is empty.
type Octaves struct {
	Count   uint64 `json:"count"`
	Sum     uint64 `json:"sum"`
	Largest uint64 `json:"largest"`
	Buckets Counts `json:"buckets,omitempty"`
}

// Counts are counters by bucket, as far as the last that is not 0.
type Counts []uint64

func (c *Counts) add(i int, n uint64) {
	for len(*c) <= i {
		*c = append(*c, 0)
	}
	(*c)[i] += n
}

// Clone returns a copy.
func (o *Octaves) Clone() Octaves {
	c := *o
	c.Buckets = slices.Clone(o.Buckets)
	return c
}

// Add counts a number.
func (o *Octaves) Add(n uint64) {
	o.Count++
	o.Sum += n
	o.Largest = max(o.Largest, n)
	o.Buckets.add(bits.Len64(n), 1)
}

// Merge adds all that p has counted.
func (o *Octaves) Merge(p *Octaves) {
	o.Count += p.Count
	o.Sum += p.Sum
	o.Largest = max(o.Largest, p.Largest)
	for i, n := range p.Buckets {
		o.Buckets.add(i, n)
	}
}

// Mean is the arithmetic mean, 0 if nothing was counted.
func (o *Octaves) Mean() float64 {
	if o.Count == 0 {
		return 0
	}
	return float64(o.Sum) / float64(o.Count)
}

// Quantile returns a number that the q-quantile is at least half of and not above: the largest of its bucket.
func (o *Octaves) Quantile(q float64) uint64 {
	rank, seen := q*float64(o.Count), 0.0
	for i, n := range o.Buckets {
		if seen += float64(n); n > 0 && seen >= rank {
			return min(o.Largest, uint64(1)<<i-1)
		}
	}
	return o.Largest
}

// Largest keeps the keys with the largest numbers: at most as many as Keep. It is one list, by number, descending, then by key.
type Largest []Sized

// Keep is how many keys a Largest keeps.
const Keep = 16

// Sized is a key with the largest number that was seen with it.
type Sized struct {
	Key  uint64 `json:"key"`
	Size uint64 `json:"size"`
}

// Add notes a number for a key; of several for one key the largest counts.
func (l *Largest) Add(key, size uint64) {
	list := *l
	if len(list) == Keep && size < list[Keep-1].Size {
		return
	}
	if i := slices.IndexFunc(list, func(s Sized) bool { return s.Key == key }); i >= 0 {
		if list[i].Size >= size {
			return
		}
		list = slices.Delete(list, i, i+1)
	}
	at, _ := slices.BinarySearchFunc(list, Sized{key, size}, func(a, b Sized) int {
		switch {
		case a.Size > b.Size || a.Size == b.Size && a.Key < b.Key:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	list = slices.Insert(list, at, Sized{key, size})
	*l = list[:min(len(list), Keep)]
}

// Merge adds all that o has kept.
func (l *Largest) Merge(o Largest) {
	for _, s := range o {
		l.Add(s.Key, s.Size)
	}
}

// Recent tells whether a value was seen lately. It is a Bloom filter of two generations: when the young one is old or full it
// becomes the old one, and the old one is forgotten. Make it with NewRecent.
type Recent struct {
	young, old []uint64
	n, room    int
	span       int64
	turned     int64
}

// NewRecent returns a filter that remembers a value for at least span, in the unit of the times that it is told, unless
// more than size others come in between. It takes three bytes for each of size; one value in a hundred is taken for a known one
// wrongly.
func NewRecent(size int, span int64) *Recent {
	words := 1
	for words*64 < size*10 {
		words *= 2
	}
	return &Recent{young: make([]uint64, words), old: make([]uint64, words), room: size, span: span}
}

// Seen notes that a value was seen at a time, and tells whether it had been seen before.
func (r *Recent) Seen(hash uint64, at int64) bool {
	if r.n == 0 && r.turned == 0 {
		r.turned = at
	}
	if r.n >= r.room || at-r.turned > r.span {
		r.young, r.old = r.old, r.young
		clear(r.young)
		r.n, r.turned = 0, at
	}
	step, mask := hash>>32|1, uint64(len(r.young)*64-1)
	young, old := true, true
	for i := range uint64(7) {
		bit := (hash + i*step) & mask
		old = old && r.old[bit/64]>>(bit%64)&1 != 0
		young = young && r.young[bit/64]>>(bit%64)&1 != 0
		r.young[bit/64] |= 1 << (bit % 64)
	}
	if !young {
		r.n++
	}
	return young || old
}

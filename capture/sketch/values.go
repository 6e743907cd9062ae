package sketch

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/axiomhq/hyperloglog"
)

// precision of HyperLogLog: 2^12 registers, a standard error of 1.6 %.
const precision = 12

// Values summarises a multiset of hashed values. Make it with New.
type Values struct {
	k        int
	total    uint64
	hashes   []uint64 // the smallest ones, ascending
	counts   []uint64
	distinct *hyperloglog.Sketch // nil as long as there are at most k different values
	frequent *frequent           // likewise
}

// New returns an empty summary that keeps the k smallest hashes.
func New(k int) *Values { return &Values{k: k} }

// K is how many hashes are kept.
func (v *Values) K() int { return v.k }

// Total is how many values were added.
func (v *Values) Total() uint64 { return v.total }

// Complete tells whether all different values are kept, so that every figure is exact.
func (v *Values) Complete() bool { return v.distinct == nil }

// Add adds a value by its hash.
func (v *Values) Add(hash uint64) { v.add(hash, 1) }

func (v *Values) add(hash, n uint64) {
	v.total += n
	if v.distinct != nil {
		v.distinct.InsertHash(hash)
		v.frequent.add(hash, n)
		if hash > v.hashes[v.k-1] {
			return
		}
	}
	v.keep(hash, n)
}

// keep counts a hash if it is among the smallest.
func (v *Values) keep(hash, n uint64) {
	i, found := slices.BinarySearch(v.hashes, hash)
	if found {
		v.counts[i] += n
		return
	}
	v.hashes = slices.Insert(v.hashes, i, hash)
	v.counts = slices.Insert(v.counts, i, n)
	if len(v.hashes) <= v.k {
		return
	}
	if v.distinct == nil {
		v.overflow()
	}
	v.hashes, v.counts = v.hashes[:v.k], v.counts[:v.k]
}

// overflow makes what is needed beyond k different values, of all that was counted so far.
func (v *Values) overflow() {
	v.distinct, _ = hyperloglog.NewSketch(precision, false) // fails for other precisions only
	v.frequent = &frequent{}
	for i, h := range v.hashes {
		v.distinct.InsertHash(h)
		v.frequent.add(h, v.counts[i])
	}
}

// ErrMismatch says that two sketches were not made alike.
var ErrMismatch = errors.New("sketches of different sizes can not be merged")

// Merge adds all that o has counted to v. o is not changed.
func (v *Values) Merge(o *Values) error {
	if v.k != o.k {
		return fmt.Errorf("%w: %d and %d", ErrMismatch, v.k, o.k)
	}
	if o.distinct == nil {
		for i, h := range o.hashes {
			v.add(h, o.counts[i])
		}
		return nil
	}
	if v.distinct == nil {
		v.overflow()
	}
	if err := v.distinct.Merge(o.distinct); err != nil {
		return err
	}
	v.frequent.merge(o.frequent)
	v.total += o.total
	for i, h := range o.hashes {
		v.keep(h, o.counts[i])
	}
	return nil
}

// Clone returns a copy.
func (v *Values) Clone() *Values {
	c := &Values{k: v.k, total: v.total, hashes: slices.Clone(v.hashes), counts: slices.Clone(v.counts)}
	if v.distinct != nil {
		c.distinct = v.distinct.Clone()
		f := *v.frequent
		c.frequent = &f
	}
	return c
}

// Distinct is how many different values there are: exact if Complete, else within some 3 % in 19 cases of 20.
func (v *Values) Distinct() float64 {
	if v.distinct == nil {
		return float64(len(v.hashes))
	}
	return math.Max(float64(v.distinct.Estimate()), float64(v.k+1))
}

// Counted is a value with its count.
type Counted struct {
	Hash  uint64 `json:"hash"` // the highest 38 bits, the others are 0, unless the sketch is Complete
	Count uint64 `json:"count"`
}

// Top returns at most n of the most frequent values, the most frequent first. If the sketch is Complete they are exact, else
// they are those with a share of about 2 % and more, and a count may be a few percent of the total too high.
func (v *Values) Top(n int) []Counted {
	var all []Counted
	if v.distinct == nil {
		for i, h := range v.hashes {
			all = append(all, Counted{h, v.counts[i]})
		}
	} else {
		all = v.frequent.heavy(v.total / 64)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Count != all[j].Count {
			return all[i].Count > all[j].Count
		}
		return all[i].Hash < all[j].Hash
	})
	return all[:min(n, len(all))]
}

// Containment estimates the share of v's different values that o has too, with a 95 % interval. n is how many values that
// rests on; with n 0 nothing is known.
func (v *Values) Containment(o *Values) (share, low, high float64, n int) {
	limit := v.comparable(o)
	common, j := 0, 0
	for _, h := range v.hashes {
		if h > limit {
			break
		}
		n++
		for j < len(o.hashes) && o.hashes[j] < h {
			j++
		}
		if j < len(o.hashes) && o.hashes[j] == h {
			common++
		}
	}
	if n == 0 {
		return 0, 0, 1, 0
	}
	share = float64(common) / float64(n)
	if v.Complete() && limit == math.MaxUint64 {
		return share, share, share, n // all are known
	}
	low, high = Interval(common, n)
	return share, low, high, n
}

// Apart is what Containment says of a sketch with which it has no hash in common: how much of v's values o may have at most, and on how many that rests.
func (v *Values) Apart(o *Values) (high float64, n int) {
	limit := v.comparable(o)
	n = len(v.hashes)
	if limit < math.MaxUint64 {
		n = sort.Search(n, func(i int) bool { return v.hashes[i] > limit })
	}
	if n > 0 && v.Complete() && limit == math.MaxUint64 {
		return 0, n
	}
	_, high = Interval(0, n)
	return high, n
}

// comparable is the greatest hash up to which both sketches have all.
func (v *Values) comparable(o *Values) uint64 {
	limit := uint64(math.MaxUint64)
	for _, s := range []*Values{v, o} {
		if s.distinct != nil {
			limit = min(limit, s.hashes[s.k-1])
		}
	}
	return limit
}

// Hashes are those that are kept, ascending. They are the sketch's own: to be read only.
func (v *Values) Hashes() []uint64 { return v.hashes }

// Interval is Wilson's 95 % interval of k of n.
func Interval(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	middle, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return math.Max(0, (middle-half)/(1+z*z/m)), math.Min(1, (middle+half)/(1+z*z/m))
}

// maxK bounds what UnmarshalBinary makes.
const maxK = 1 << 16

// MarshalBinary writes the sketch: equal streams make equal bytes. Hashes are written as differences, in varints.
func (v *Values) MarshalBinary() ([]byte, error) {
	b := []byte{1} // version
	b = binary.AppendUvarint(b, uint64(v.k))
	b = binary.AppendUvarint(b, v.total)
	b = binary.AppendUvarint(b, uint64(len(v.hashes)))
	last := uint64(0)
	for i, h := range v.hashes {
		b = binary.AppendUvarint(b, h-last)
		b = binary.AppendUvarint(b, v.counts[i])
		last = h
	}
	if v.distinct == nil {
		return append(b, 0), nil
	}
	registers, err := v.distinct.MarshalBinary()
	if err != nil {
		return nil, err
	}
	b = append(b, 1)
	b = binary.AppendUvarint(b, uint64(len(registers)))
	return v.frequent.append(append(b, registers...)), nil
}

// ErrBroken says that bytes are no sketch.
var ErrBroken = errors.New("the bytes are no sketch that this version knows")

// UnmarshalBinary reads what MarshalBinary has written.
func (v *Values) UnmarshalBinary(b []byte) error {
	r := decoder{b: b}
	if r.byte() != 1 {
		return ErrBroken
	}
	out := Values{k: int(min(r.uvarint(), maxK+1)), total: r.uvarint()}
	n := r.uvarint()
	if out.k < 1 || out.k > maxK || n > uint64(out.k) || n > uint64(len(r.b)) {
		return ErrBroken
	}
	last, sum := uint64(0), uint64(0)
	for i := range n {
		h := last + r.uvarint()
		if i > 0 && h <= last {
			return ErrBroken
		}
		out.hashes = append(out.hashes, h)
		out.counts = append(out.counts, r.uvarint())
		last, sum = h, sum+out.counts[i]
	}
	switch r.byte() {
	case 0:
		if sum != out.total {
			return ErrBroken
		}
	case 1:
		registers := r.take(r.uvarint())
		empty, _ := hyperloglog.NewSketch(precision, false)
		like, err := empty.MarshalBinary()
		if err != nil || len(out.hashes) != out.k || len(registers) != len(like) || !bytes.Equal(registers[:4], like[:4]) ||
			empty.UnmarshalBinary(registers) != nil { // the first bytes say the version, the precision, and that these are registers
			return ErrBroken
		}
		out.distinct, out.frequent = empty, &frequent{}
		out.frequent.read(&r)
	default:
		return ErrBroken
	}
	if r.failed || len(r.b) != 0 {
		return ErrBroken
	}
	*v = out
	return nil
}

// decoder steps through an encoding; after the first field that does not fit it has failed and yields zeroes.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.b)) {
		d.failed = true
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0xFF
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.failed || n <= 0 {
		d.failed = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// MarshalText is MarshalBinary in base64, for JSON.
func (v *Values) MarshalText() ([]byte, error) {
	b, err := v.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText reads what MarshalText has written.
func (v *Values) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return v.UnmarshalBinary(b)
}

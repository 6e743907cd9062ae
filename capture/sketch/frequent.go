package sketch

import "encoding/binary"

// frequent tells frequent values, by group testing (Cormode and Muthukrishnan, "What's hot and what's not"): values are
// dealt out to buckets by the highest bits of their hash; each bucket counts its values, and for each of the next bits those that
// have it set. If one value makes up most of a bucket then the majority of each bit spells it. All is added, so it
// merges exactly.
type frequent struct {
	buckets [64]bucket
}

// idBits is how many bits of a hash are told apart within a bucket: with the bucket's own six that is 38.
const (
	bucketBits = 6
	idBits     = 32
)

type bucket struct {
	n   uint64
	set [idBits]uint64
}

func (f *frequent) add(hash, n uint64) {
	b := &f.buckets[hash>>(64-bucketBits)]
	b.n += n
	id := uint32(hash >> (64 - bucketBits - idBits))
	for i := range b.set {
		b.set[i] += n & -uint64(id>>i&1)
	}
}

func (f *frequent) merge(o *frequent) {
	for i := range f.buckets {
		b, c := &f.buckets[i], &o.buckets[i]
		b.n += c.n
		for k := range b.set {
			b.set[k] += c.set[k]
		}
	}
}

// heavy returns the values that dominate their bucket and were seen more often than least, as far as can be told.
func (f *frequent) heavy(least uint64) []Counted {
	var out []Counted
	for i := range f.buckets {
		b := &f.buckets[i]
		id, count := uint32(0), b.n
		for k, set := range b.set {
			if 2*set > b.n {
				id |= 1 << k
				count = min(count, set)
			} else {
				count = min(count, b.n-set)
			}
		}
		// Where nobody dominates, each bit is set in about half of the values.
		if count > least && 5*count > 3*b.n {
			out = append(out, Counted{uint64(i)<<(64-bucketBits) | uint64(id)<<(64-bucketBits-idBits), count})
		}
	}
	return out
}

func (f *frequent) append(b []byte) []byte {
	for i := range f.buckets {
		c := &f.buckets[i]
		b = binary.AppendUvarint(b, c.n)
		if c.n == 0 {
			continue
		}
		for _, set := range c.set {
			b = binary.AppendUvarint(b, set)
		}
	}
	return b
}

func (f *frequent) read(r *decoder) {
	for i := range f.buckets {
		c := &f.buckets[i]
		if c.n = r.uvarint(); c.n == 0 {
			continue
		}
		for k := range c.set {
			if c.set[k] = r.uvarint(); c.set[k] > c.n {
				r.failed = true
			}
		}
	}
}

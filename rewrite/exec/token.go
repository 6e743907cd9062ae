package exec

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Token is the place of a partition on the ring of Murmur3Partitioner.
type Token int64

// PartitionKey joins the values of the partition key columns as Cassandra does: one value stands for itself, several
// are each preceded by their length (two bytes) and followed by a zero byte.
func PartitionKey(values [][]byte) []byte {
	if len(values) == 1 {
		return values[0]
	}
	n := 0
	for _, v := range values {
		n += len(v) + 3
	}
	key := make([]byte, 0, n)
	for _, v := range values {
		key = binary.BigEndian.AppendUint16(key, uint16(len(v))) // #nosec G115 -- a key component is at most 65,535 bytes
		key = append(key, v...)
		key = append(key, 0)
	}
	return key
}

// TokenOf returns the token of a partition key as joined by PartitionKey.
func TokenOf(key []byte) Token {
	if len(key) == 0 {
		return math.MinInt64 // Cassandra's minimum token stands for the empty key
	}
	h := murmur3(key)
	if h == math.MinInt64 {
		return math.MaxInt64 // the minimum is no row's token
	}
	return Token(h)
}

// murmur3 is the first half of MurmurHash3_x64_128 with seed 0, with Cassandra's own deviation: the bytes of the tail
// are taken as signed, and so sign-extended.
func murmur3(data []byte) int64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	length := uint64(len(data))
	for len(data) >= 16 {
		k1, k2 := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		data = data[16:]
		h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var k1, k2 uint64
	for i, b := range data {
		signed := uint64(int64(int8(b))) // #nosec G115 -- the sign extension is the point
		if i < 8 {
			k1 ^= signed << (8 * i)
		} else {
			k2 ^= signed << (8 * (i - 8))
		}
	}
	h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
	h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
	h1 ^= length
	h2 ^= length
	h1 += h2
	h2 += h1
	h1, h2 = mix(h1), mix(h2)
	return int64(h1 + h2) // #nosec G115 -- a token is signed
}

func mix(k uint64) uint64 {
	k ^= k >> 33
	k *= 0xff51afd7ed558ccd
	k ^= k >> 33
	k *= 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}

// Range is the part of the ring after First up to and including Last.
type Range struct {
	First int64 `json:"first"` // exclusive, but for the smallest token, which is no row's
	Last  int64 `json:"last"`  // inclusive
}

// Ring cuts the whole ring into n ranges of about equal width.
func Ring(n int) []Range {
	n = max(n, 1)
	step := math.MaxUint64/uint64(n) + 1 // n == 1 overflows to 0, and is not used
	ranges := make([]Range, 0, n)
	first := int64(math.MinInt64)
	for i := 1; i <= n; i++ {
		last := int64(math.MaxInt64)
		if i < n {
			last = math.MinInt64 + int64(uint64(i)*step) // #nosec G115 -- wraps as two's complement should
		}
		ranges = append(ranges, Range{first, last})
		first = last
	}
	return ranges
}

// Split cuts a range in two; ok is false if it is too narrow.
func (r Range) Split() (a, b Range, ok bool) {
	width := uint64(r.Last) - uint64(r.First) // #nosec G115 -- the width of a range fits 64 bits unsigned
	if width < 2 {
		return r, Range{}, false
	}
	middle := r.First + int64(width/2) // #nosec G115
	return Range{r.First, middle}, Range{middle, r.Last}, true
}

package model

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"
)

// What a bucketed table's made-up column is called, and what is in it. DDL, loading, reading and writing take both from
// here. Buckets are numbered from 0 up to Count, so that all of them can be read without knowing which there are: buckets
// of time go round, and after Count times Width seconds the first one comes again.

// BucketColumn is the name of the bucket's column, one that no field has.
func (t *Table) BucketColumn() string {
	name := "bucket"
	for slices.ContainsFunc(t.Fields(), func(f Field) bool { return t.ColumnName(f) == name }) {
		name += "_"
	}
	return name
}

// Type is the CQL type of the bucket's column: int, or bigint for buckets of time.
func (b *Bucket) Type() string {
	if b.Width > 0 {
		return "bigint"
	}
	return "int"
}

// Buckets is how many there are.
func (b *Bucket) Buckets() int64 { return int64(max(1, b.Count)) }

// Number is the bucket of a value of Of, given in CQL's binary form (of the attribute's type): its CRC-32 (IEEE) modulo
// the number of buckets; or with Width the whole widths since the epoch, modulo the same. Null is in bucket 0.
func (b *Bucket) Number(cell []byte) int64 {
	if b.Of.IsZero() || cell == nil {
		return 0
	}
	n := b.Buckets()
	if w, ok := b.widths(cell); ok {
		return (w%n + n) % n
	}
	return int64(crc32.ChecksumIEEE(cell)) % n
}

// Between returns the buckets of the values from one up to another, both included, in ascending order; nil is no bound.
// All of them, if values follow one another in no bucket order.
func (b *Bucket) Between(from, to []byte) []int64 {
	n := b.Buckets()
	first, count := int64(0), n
	lower, isLower := b.widths(from)
	if upper, isUpper := b.widths(to); isLower && isUpper && upper-lower < n-1 {
		first, count = (lower%n+n)%n, max(0, upper-lower+1)
	}
	list := make([]int64, count)
	for i := range list {
		list[i] = (first + int64(i)) % n
	}
	slices.Sort(list)
	return list
}

// widths are the whole widths from the epoch to a time; false if the buckets are not of time.
func (b *Bucket) widths(cell []byte) (int64, bool) {
	if !(b.Width > 0) || b.Of.IsZero() {
		return 0, false
	}
	var seconds float64
	switch kind := strings.ToLower(b.Of.Attribute.Type); {
	case kind == "timestamp" && len(cell) == 8:
		seconds = float64(int64(binary.BigEndian.Uint64(cell))) / 1000 // #nosec G115 -- signed, milliseconds
	case kind == "date" && len(cell) == 4:
		seconds = (float64(binary.BigEndian.Uint32(cell)) - 1<<31) * (24 * time.Hour).Seconds()
	case kind == "bigint" && len(cell) == 8:
		seconds = float64(int64(binary.BigEndian.Uint64(cell))) // #nosec G115
	case kind == "int" && len(cell) == 4:
		seconds = float64(int32(binary.BigEndian.Uint32(cell))) // #nosec G115
	default:
		return 0, false
	}
	return int64(math.Floor(max(-1e18, min(1e18, seconds/b.Width)))), true
}

// Cell is a bucket's number in the binary form of its column.
func (b *Bucket) Cell(number int64) []byte {
	if b.Type() == "bigint" {
		return binary.BigEndian.AppendUint64(nil, uint64(number)) // #nosec G115
	}
	return binary.BigEndian.AppendUint32(nil, uint32(number)) // #nosec G115
}

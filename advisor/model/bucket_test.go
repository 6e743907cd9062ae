package model_test

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/model"
)

func bucketOf(cqlType string, width, count float64) *model.Bucket {
	e := &model.Entity{Name: "E", Count: 10}
	return &model.Bucket{Of: model.Field{Entity: e, Attribute: &model.Attribute{Name: "a", Type: cqlType}}, Width: width, Count: count}
}

func at(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli()))
}

func TestBucketNumbers(t *testing.T) {
	day := bucketOf("timestamp", 86400, 365)
	date := bucketOf("date", 86400, 365)
	for _, c := range []struct {
		bucket *model.Bucket
		cell   []byte
		want   int64
	}{
		{bucketOf("text", 0, 16), []byte("Ada"), int64(crc32.ChecksumIEEE([]byte("Ada")) % 16)},
		{bucketOf("text", 0, 16), nil, 0},
		{&model.Bucket{Count: 1}, []byte("Ada"), 0},
		{day, at(time.Unix(0, 0)), 0},
		{day, at(time.Unix(86400, 0)), 1},
		{day, at(time.Unix(-1, 0)), 364},
		{day, at(time.Unix(366*86400, 0)), 1},
		{date, []byte{0x80, 0, 0, 2}, 2},
		{date, []byte{0x7f, 0xff, 0xff, 0xff}, 364},
	} {
		if got := c.bucket.Number(c.cell); got != c.want {
			t.Errorf("%s of %x: %d, want %d", c.bucket, c.cell, got, c.want)
		}
		if n := len(c.bucket.Cell(c.want)); n != map[string]int{"int": 4, "bigint": 8}[c.bucket.Type()] {
			t.Errorf("%s: a cell of %d bytes", c.bucket, n)
		}
	}
}

// Whatever lies between two times is in one of the buckets between them, and those are no more than needed.
func TestBucketsBetween(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := bucketOf("timestamp", float64(rapid.IntRange(1, 50).Draw(r, "width")), float64(rapid.IntRange(1, 9).Draw(r, "count")))
		draw := func(what string) int64 { return rapid.Int64Range(-500, 500).Draw(r, what) }
		from, to, x := draw("from"), draw("to"), draw("x")
		cell := func(seconds int64) []byte { return at(time.Unix(seconds, 0)) }
		list := b.Between(cell(from), cell(to))
		if from <= x && x <= to && !slices.Contains(list, b.Number(cell(x))) {
			r.Fatalf("%d is in bucket %d, not in %v", x, b.Number(cell(x)), list)
		}
		if most := float64(to-from)/b.Width + 2; to >= from && float64(len(list)) > most || len(list) > int(b.Count) {
			r.Fatalf("%d buckets for %d to %d", len(list), from, to)
		}
		if to < from-int64(b.Width) && len(list) > 0 {
			r.Fatalf("%v for no time", list)
		}
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) || len(b.Between(cell(from), nil)) != int(b.Count) || len(b.Between(nil, cell(to))) != int(b.Count) {
			r.Fatalf("%v", list)
		}
	})
}

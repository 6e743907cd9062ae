package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy/wire"
)

// crc24 is Cassandra's loop, a bit at a time.
func crc24(v uint32) uint32 {
	c := uint32(0x875060)
	for range 3 {
		c ^= (v & 0xff) << 16
		v >>= 8
		for range 8 {
			if c <<= 1; c&0x1000000 != 0 {
				c ^= 0x1974F0B
			}
		}
	}
	return c
}

func TestSegmentsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame := wire.AppendFrame(nil, wire.Header{Version: 5, Opcode: wire.OpQuery}, make([]byte, rapid.OneOf(
			rapid.IntRange(0, 300), rapid.IntRange(wire.MaxSegmentPayload-20, wire.MaxSegmentPayload+20), rapid.IntRange(0, 400_000)).Draw(t, "length")))
		b := wire.AppendSegments(nil, frame)
		var got []byte
		for len(b) > 0 {
			n, whole, err := wire.ParseSegmentHeader(b)
			if err != nil {
				t.Fatal(err)
			}
			head := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
			if c := uint32(b[3]) | uint32(b[4])<<8 | uint32(b[5])<<16; c != crc24(head) {
				t.Fatalf("the header's checksum is %06x, want %06x", c, crc24(head))
			}
			if whole != (len(frame) <= wire.MaxSegmentPayload) {
				t.Fatalf("self-contained: %v, a frame of %d bytes", whole, len(frame))
			}
			size := wire.SegmentHeaderSize + n + wire.SegmentTrailerSize
			p, err := wire.SegmentPayload(b[:size])
			if err != nil {
				t.Fatal(err)
			}
			got, b = append(got, p...), b[size:]
		}
		if !bytes.Equal(got, frame) {
			t.Fatal("the frame changed")
		}
	})
}

func TestFramesAreNotCutBySegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var frames []byte
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			frames = wire.AppendFrame(frames, wire.Header{Version: 5}, make([]byte, rapid.IntRange(0, 200_000).Draw(t, "length")))
		}
		b := wire.AppendFrames(nil, frames)
		var got []byte
		for len(b) > 0 {
			n, whole, err := wire.ParseSegmentHeader(b)
			if err != nil {
				t.Fatal(err)
			}
			p := b[wire.SegmentHeaderSize : wire.SegmentHeaderSize+n]
			for at := 0; whole && at < n; {
				if at += wire.HeaderSize + wire.ParseHeader(p[at:]).Length; at > n {
					t.Fatal("a self-contained segment ends inside a frame")
				}
			}
			got, b = append(got, p...), b[wire.SegmentHeaderSize+n+wire.SegmentTrailerSize:]
		}
		if !bytes.Equal(got, frames) {
			t.Fatal("the frames changed")
		}
	})
}

func TestDamagedSegmentsAreNoticed(t *testing.T) {
	good := wire.AppendSegments(nil, []byte("a payload"))
	for bit := range 8 * len(good) {
		b := bytes.Clone(good)
		b[bit/8] ^= 1 << (bit % 8)
		n, _, err := wire.ParseSegmentHeader(b)
		if err == nil && wire.SegmentHeaderSize+n+wire.SegmentTrailerSize == len(b) {
			_, err = wire.SegmentPayload(b)
		}
		if err == nil {
			t.Errorf("bit %d can be turned unnoticed", bit)
		}
	}
}

// body builds the body of a request with every parameter that flags name.
func body(opcode, version byte, text string, flags uint32) []byte {
	var b []byte
	if opcode == wire.OpExecute {
		b = wire.AppendString(b, text)
		if version >= 5 {
			b = wire.AppendString(b, "meta")
		}
	} else {
		b = wire.AppendLongString(b, text)
	}
	b = wire.AppendShort(b, 6)
	if version >= 5 {
		b = wire.AppendInt(b, int32(flags))
	} else {
		b = append(b, byte(flags))
	}
	if flags&wire.ParamValues != 0 {
		b = wire.AppendShort(b, 3)
		for i := range 3 {
			if flags&wire.ParamNames != 0 {
				b = wire.AppendString(b, fmt.Sprint("n", i))
			}
			b = append(b, []string{"\x00\x00\x00\x05value", "\xff\xff\xff\xff", "\xff\xff\xff\xfe"}[i]...)
		}
	}
	if flags&wire.ParamPageSize != 0 {
		b = wire.AppendInt(b, 100)
	}
	if flags&wire.ParamPagingState != 0 {
		b = wire.AppendBytes(b, []byte("state"))
	}
	if flags&wire.ParamSerial != 0 {
		b = wire.AppendShort(b, 8)
	}
	if flags&wire.ParamTimestamp != 0 {
		b = wire.AppendLong(b, 12345)
	}
	if flags&wire.ParamKeyspace != 0 {
		b = wire.AppendString(b, "ks")
	}
	if flags&wire.ParamNow != 0 {
		b = wire.AppendInt(b, 99)
	}
	return b
}

func view(opcode, version, flags byte, body []byte) (v wire.View) {
	v.See(wire.Header{Opcode: opcode, Version: version, Flags: flags}, body)
	return v
}

// TestABodyIsReadOnce: what a view was asked for it does not look for again, and it holds for a copy.
func TestABodyIsReadOnce(t *testing.T) {
	for _, opcode := range []byte{wire.OpQuery, wire.OpExecute, wire.OpBatch} {
		b := body(opcode, 5, "text or id", 0x17F)
		if opcode == wire.OpBatch {
			b = wire.AppendShort(wire.AppendLongString(append(wire.AppendShort([]byte{1}, 1), 0), "text or id"), 0)
			b = wire.AppendInt(wire.AppendShort(b, 6), 0)
		}
		v := view(opcode, 5, 0, b)
		asked := func(v *wire.View) string {
			s := fmt.Sprint(v.Head(), v.Whole(), v.Consistency, v.Flags, v.PageSize, v.SerialConsistency, v.Timestamp, v.Kind, v.Children())
			if v.Children() > 0 {
				return s + string(v.Child(0).Text)
			}
			return s + string(v.Text()) + string(v.PagingState()) + string(v.Keyspace())
		}
		first := asked(&v)
		on := v.On(bytes.Clone(b))
		clear(b)
		if on := asked(&on); on != first || !strings.Contains(first, "true true 6") || !strings.Contains(first, "text or id") {
			t.Errorf("a copy says %q, the first said %q", on, first)
		}
		if again := asked(&v); again != strings.NewReplacer("text or id", strings.Repeat("\x00", 10), "state", strings.Repeat("\x00", 5), "ks", "\x00\x00").Replace(first) {
			t.Errorf("asked again it says %q, the first time it said %q", again, first)
		}
	}
}

// TestEveryCombinationOfParameters reads requests with every set of flags, and gives each a timestamp.
func TestEveryCombinationOfParameters(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		flagSets := uint32(0x80)
		if version >= 5 {
			flagSets = 0x200
		}
		for _, opcode := range []byte{wire.OpQuery, wire.OpExecute} {
			for flags := range flagSets {
				b := body(opcode, version, "text or id", flags)
				q := view(opcode, version, 0, b)
				if !q.Head() || q.Consistency != 6 || q.Flags != flags || q.Unknown || string(q.Text()) != "text or id" || string(q.ID()) != "text or id" {
					t.Fatalf("v%d %#x %#x: %+v", version, opcode, flags, q)
				}
				if !q.Whole() {
					t.Fatalf("v%d %#x %#x: %+v", version, opcode, flags, q)
				}
				has := func(f uint32) bool { return flags&f != 0 }
				if (q.PageSize == 100) != has(wire.ParamPageSize) || (string(q.PagingState()) == "state") != has(wire.ParamPagingState) ||
					(q.SerialConsistency == 8) != has(wire.ParamSerial) || (q.Timestamp == 12345) != has(wire.ParamTimestamp) ||
					(string(q.Keyspace()) == "ks") != has(wire.ParamKeyspace) {
					t.Fatalf("v%d %#x %#x: %+v", version, opcode, flags, q)
				}
				n, unset := 0, int32(-2)
				if version < 4 { // which does not know it: Cassandra takes a null
					unset = -1
				}
				q.Values(b, func(name, value []byte, length int32) {
					if (name != nil) != has(wire.ParamNames) || length != []int32{5, -1, unset}[n] || string(value) != []string{"value", "", ""}[n] {
						t.Fatalf("value %d: %q %q %d", n, name, value, length)
					}
					n++
				})
				if (n == 3) != has(wire.ParamValues) {
					t.Fatalf("%d values", n)
				}
				if opcode == wire.OpQuery {
					if got := q.AppendText(nil, "another, longer text"); !bytes.Equal(got, body(opcode, version, "another, longer text", flags)) {
						t.Fatalf("with another text: %x", got)
					}
				}
			}
		}
	}
}

// TestEveryTruncationIsNoticed cuts requests at each byte: what is left is malformed, and nothing panics.
func TestEveryTruncationIsNoticed(t *testing.T) {
	for _, version := range []byte{4, 5} {
		b := body(wire.OpQuery, version, "text", 0x7F)
		for n := range b {
			if q := view(wire.OpQuery, version, 0, b[:n]); q.Whole() {
				t.Errorf("v%d: %d of %d bytes read as %+v", version, n, len(b), q)
			}
		}
	}
}

func TestBatch(t *testing.T) {
	b := wire.AppendShort([]byte{2}, 2)
	b = wire.AppendShort(wire.AppendLongString(append(b, 0), "text"), 0)
	b = wire.AppendBytes(wire.AppendShort(wire.AppendString(append(b, 1), "id"), 1), []byte("v"))
	rest := append(wire.AppendShort(nil, 4), byte(wire.ParamSerial|wire.ParamTimestamp))
	rest = wire.AppendLong(wire.AppendShort(rest, 9), -5)
	b = append(b, rest...)
	var seen string
	p := view(wire.OpBatch, 4, 0, b)
	ok := p.Whole()
	for i := range p.Children() {
		c := p.Child(i)
		seen += string(c.Text) + string(c.ID) + ":"
		c.Values(b, func(_, value []byte, n int32) { seen += fmt.Sprint(string(value), n) })
		seen += ";"
	}
	if !ok || p.Kind != 2 || seen != "text:;id:v1;" || p.Consistency != 4 || p.SerialConsistency != 9 || p.Timestamp != -5 {
		t.Errorf("%d %q %+v %v", p.Kind, seen, p, ok)
	}
	for n := range b {
		if p := view(wire.OpBatch, 4, 0, b[:n]); p.Whole() {
			t.Errorf("%d of %d bytes are read", n, len(b))
		}
	}
}

// TestConditionalWrite: whether a conditional write was applied is its answer's first cell.
func TestConditionalWrite(t *testing.T) {
	answer := func(column string, rows ...[]byte) []byte {
		b := wire.AppendString(wire.AppendString(wire.AppendInt(wire.AppendInt(nil, wire.MetaGlobalTable), 1), "k"), "t")
		b = wire.AppendInt(wire.AppendShort(wire.AppendString(b, column), 4), int32(len(rows)))
		for _, row := range rows {
			b = wire.AppendBytes(b, row)
		}
		return b
	}
	for name, c := range map[string]struct {
		body []byte
		want byte
	}{
		"applied":     {answer("[applied]", []byte{1}), wire.Applied},
		"not applied": {answer("[applied]", []byte{0}), wire.NotApplied},
		"no row":      {answer("[applied]"), 0},
		"null":        {answer("[applied]", nil), 0},
		"other":       {answer("applied", []byte{1}), 0},
		"cut short":   {answer("[applied]", []byte{1})[:20], 0},
	} {
		r := wire.NewReader(c.body)
		if got := wire.CountKnownRows(&r, nil); got.Applied != c.want {
			t.Errorf("%s: %d, want %d", name, got.Applied, c.want)
		}
	}
	b := answer("[applied]", []byte{1})
	if n := testing.AllocsPerRun(100, func() {
		r := wire.NewReader(b)
		wire.CountKnownRows(&r, nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestWarnings: Cassandra's own words are told apart.
func TestWarnings(t *testing.T) {
	place := func(name string) uint16 { return 1 << slices.Index(wire.WarningNames[:], name) }
	body := func(texts ...string) []byte {
		b := wire.AppendShort(make([]byte, 16), uint16(len(texts)))
		for _, s := range texts {
			b = wire.AppendString(b, s)
		}
		return b
	}
	for _, c := range []struct {
		want  uint16
		texts []string
	}{
		{place("tombstones"), []string{"Read 0 live rows and 1500 tombstone cells for query SELECT * FROM k.t WHERE a = 1 LIMIT 5000; token -1 (see tombstone_warn_threshold)"}},
		{place("batch_size"), []string{"Batch for [k.t] is of size 6.1KiB, exceeding specified threshold of 5.0KiB by 1.1KiB."}},
		{place("batch_partitions"), []string{"Unlogged batch covering 20 partitions detected against table [k.t]. You should use a logged batch for atomicity, or asynchronous writes for performance."}},
		{place("aggregation") | place("other"), []string{"Aggregation query used without partition key", "something new"}},
		{0, nil},
	} {
		if got := wire.Warnings(wire.FlagWarnings|wire.FlagTracing, body(c.texts...)); got != c.want {
			t.Errorf("%q: %b, want %b", c.texts, got, c.want)
		}
	}
	if got := wire.Warnings(wire.FlagWarnings, []byte{0xFF, 0xFF, 0}); got != 0 {
		t.Errorf("a body that is cut short has warnings %b", got)
	}
}

func TestCountRows(t *testing.T) {
	types := binary.BigEndian.AppendUint16(nil, wire.TypeMap)
	types = wire.AppendString(wire.AppendShort(types, wire.TypeCustom), "vector")
	types = wire.AppendString(wire.AppendString(wire.AppendShort(types, wire.TypeUDT), "ks"), "udt")
	types = wire.AppendString(wire.AppendShort(types, 1), "field")
	types = wire.AppendShort(wire.AppendShort(wire.AppendShort(types, wire.TypeTuple), 2), wire.TypeSet)
	types = wire.AppendShort(wire.AppendShort(types, 9), 13)
	for name, c := range map[string]struct {
		b    []byte
		want int
		more bool
	}{
		"no metadata": {wire.AppendInt(wire.AppendNoMetadata(nil, 3), 7), 7, false},
		"global":      {wire.AppendInt(append(wire.AppendString(wire.AppendString(wire.AppendString(wire.AppendInt(wire.AppendInt(nil, 1), 1), "k"), "t"), "c"), types...), 5), 5, false},
		"each its own": {wire.AppendInt(append(wire.AppendString(wire.AppendString(wire.AppendString(wire.AppendBytes(wire.AppendInt(wire.AppendInt(nil, 2), 1), []byte("page")),
			"k"), "t"), "c"), types...), 3), 3, true},
		"changed":   {wire.AppendInt(wire.AppendString(wire.AppendInt(wire.AppendInt(nil, wire.MetaNoMetadata|wire.MetaChanged), 1), "new"), 1), 1, false},
		"cut short": {wire.AppendInt(nil, 4), -1, false},
	} {
		r := wire.NewReader(c.b)
		if m, n := wire.CountRows(&r); n != c.want || (m.Flags&wire.MetaMorePages != 0) != c.more {
			t.Errorf("%s: %d rows, %+v", name, n, m)
		}
		for _, known := range [][]byte{nil, c.b[:len(c.b)-4], []byte("anything else"), append(bytes.Clone(c.b), 0)} {
			r := wire.NewReader(c.b)
			if got := wire.CountKnownRows(&r, known); got.Rows != c.want || got.More != c.more {
				t.Errorf("%s, %d bytes known: %+v", name, len(known), got)
			}
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	r := wire.NewReader(bytes.Repeat([]byte{0, byte(wire.TypeList)}, 1_000_000))
	if wire.SkipType(&r); !r.Bad() {
		t.Error("a type of a million lists is followed")
	}
}

func TestNothingAllocates(t *testing.T) {
	execute := body(wire.OpExecute, 5, "0123456789abcdef", wire.ParamValues|wire.ParamTimestamp)
	segment := wire.AppendSegments(nil, wire.AppendFrame(nil, wire.Header{Version: 5, Opcode: wire.OpExecute}, execute))
	batch := wire.AppendShort(wire.AppendString(append(wire.AppendShort([]byte{0}, 1), 1), "0123456789abcdef"), 0)
	batch = wire.AppendInt(wire.AppendShort(batch, 1), 0)
	var q wire.View
	if n := testing.AllocsPerRun(100, func() {
		length, _, _ := wire.ParseSegmentHeader(segment)
		p, _ := wire.SegmentPayload(segment[:wire.SegmentHeaderSize+length+wire.SegmentTrailerSize])
		h := wire.ParseHeader(p)
		q.See(h, p[wire.HeaderSize:])
		if !q.Whole() || len(q.ID()) != 16 {
			t.Fatal(q)
		}
		if q.See(wire.Header{Version: 5, Opcode: wire.OpBatch}, batch); !q.Whole() || q.Children() != 1 {
			t.Fatal(q)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRequest(f *testing.F) {
	for _, version := range []byte{3, 4, 5} {
		f.Add(wire.OpQuery, version, byte(0), body(wire.OpQuery, version, "SELECT", 0x7F))
		f.Add(wire.OpExecute, version, wire.FlagCustomPayload, body(wire.OpExecute, version, "id", 0x21))
	}
	f.Add(wire.OpBatch, byte(4), byte(0), wire.AppendInt(wire.AppendShort(wire.AppendShort([]byte{0}, 0), 1), 0))
	f.Fuzz(func(t *testing.T, opcode, version, flags byte, b []byte) {
		if p, ok := wire.ParsePrepare(version, flags, b); ok {
			if len(p.Text)+len(p.Keyspace) > len(b) {
				t.Errorf("%x holds more than it is long", b)
			}
		}
		q := view(opcode, version, flags, b)
		if !q.Whole() {
			return
		}
		q.Values(b, func(_, _ []byte, _ int32) {})
		var same []byte
		switch opcode {
		case wire.OpBatch:
			instead := make([]string, q.Children())
			for i := range instead {
				c := q.Child(i)
				c.Values(b, func(_, _ []byte, _ int32) {})
				instead[i] = string(c.Text) + string(c.ID)
			}
			same = q.AppendBatch(nil, instead)
		case wire.OpExecute:
			same = q.AppendID(nil, string(q.ID()), string(q.MetadataID()))
		default:
			same = q.AppendText(nil, string(q.Text()))
		}
		if !bytes.Equal(same, b) {
			t.Errorf("what is put in the place of itself changes %x to %x", b, same)
		}
	})
}

func FuzzResult(f *testing.F) {
	f.Add(byte(0), wire.AppendInt(wire.AppendNoMetadata(nil, 3), 7))
	f.Add(wire.FlagTracing|wire.FlagWarnings|wire.FlagCustomPayload, make([]byte, 64))
	f.Fuzz(func(t *testing.T, flags byte, b []byte) {
		r := wire.NewReader(b)
		r.SkipResponsePrefix(flags)
		_, rows := wire.CountRows(&r)
		if r.Bad() && rows != -1 {
			t.Errorf("%x holds %d rows", b, rows)
		}
		r = wire.NewReader(b)
		r.StringMap(func(_, _ []byte) {})
	})
}

func FuzzSegment(f *testing.F) {
	f.Add(false, wire.AppendSegments(nil, []byte("payload")))
	f.Add(true, wire.LZ4Segments.Append(nil, []byte("payload"), 0, true))
	f.Add(true, wire.LZ4Segments.Append(nil, []byte("payload"), wire.MaxSegmentPayload, false))
	f.Fuzz(func(t *testing.T, lz4 bool, b []byte) {
		form, used := wire.PlainSegments, 2 // bits of the header's last byte that mean something
		if lz4 {
			form, used = wire.LZ4Segments, 3
		}
		if len(b) < int(form) {
			return
		}
		h, err := form.Parse(b)
		size := int(form) + h.Length + wire.SegmentTrailerSize
		if err != nil || len(b) < size {
			return
		}
		p, err := form.Payload(b[:size])
		// The bits that mean nothing may be set by a peer; then the bytes differ.
		if err == nil && b[form-4]>>used == 0 && !bytes.Equal(form.Append(nil, p, h.Decompressed, h.SelfContained), b[:size]) {
			t.Errorf("%x is written differently", b)
		}
	})
}

// TestLZ4SegmentHeader reads and writes the header of a segment of 1000 bytes that became 20, self-contained, and for
// a part of 131071 bytes that is not compressed.
func TestLZ4SegmentHeader(t *testing.T) {
	for _, x := range []wire.SegmentHeader{{Length: 20, Decompressed: 1000, SelfContained: true}, {Length: 131071}} {
		b := wire.LZ4Segments.Append(nil, make([]byte, x.Length), x.Decompressed, x.SelfContained)
		got, err := wire.LZ4Segments.Parse(b)
		if err != nil || got != x {
			t.Errorf("%+v is read as %+v: %v", x, got, err)
		}
		v := binary.LittleEndian.Uint64(b)
		if int(v&0x1FFFF) != x.Length || int(v>>17&0x1FFFF) != x.Decompressed || v>>34&1 == 1 != x.SelfContained || v>>35&0x1F != 0 {
			t.Errorf("%+v is written as %x", x, b[:8])
		}
		for i := range 40 {
			b[i/8] ^= 1 << (i % 8)
			if _, err := wire.LZ4Segments.Parse(b); err == nil {
				t.Errorf("bit %d is not noticed", i)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
	if want := (wire.SegmentHeader{Length: 5, Decompressed: 9}).Content(); want != 9 {
		t.Errorf("the content is %d bytes", want)
	}
}

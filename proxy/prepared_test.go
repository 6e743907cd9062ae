package proxy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/proxy/wire"
)

// preparedBody is an answer to a PREPARE after its kind, with types of all shapes.
func preparedBody(version byte) []byte {
	b := wire.AppendString(nil, "the id")
	if version >= 5 {
		b = wire.AppendString(b, "the metadata id")
	}
	b = wire.AppendInt(wire.AppendInt(b, wire.MetaGlobalTable), 2)
	if version >= 4 {
		b = wire.AppendShort(wire.AppendInt(b, 1), 1)
	}
	b = wire.AppendString(wire.AppendString(b, "k"), "t")
	b = wire.AppendShort(wire.AppendShort(wire.AppendString(b, "list"), wire.TypeList), 9)
	b = wire.AppendShort(wire.AppendString(b, "key"), 12)
	b = wire.AppendInt(wire.AppendInt(b, 0), 2)
	b = wire.AppendString(wire.AppendString(wire.AppendString(b, "k"), "t"), "vector")
	b = wire.AppendString(wire.AppendShort(b, wire.TypeCustom), "VectorType(FloatType, 3)")
	b = wire.AppendString(wire.AppendString(wire.AppendString(b, "k"), "t"), "udt")
	b = wire.AppendString(wire.AppendString(wire.AppendShort(b, wire.TypeUDT), "k"), "address")
	b = wire.AppendString(wire.AppendShort(b, 1), "street")
	return wire.AppendShort(b, 13)
}

func TestReadPrepared(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		b := preparedBody(version)
		r := wire.NewReader(b)
		p := Prepared{Version: version}
		if !readPrepared(&r, &p) {
			t.Fatal("not read")
		}
		want := Prepared{Version: version, ID: "the id",
			Variables: []Column{{"k", "t", "list", Type{Code: wire.TypeList, Elements: []Type{{Code: 9}}}}, {"k", "t", "key", Type{Code: 12}}},
			Results: []Column{{"k", "t", "vector", Type{Custom: "VectorType(FloatType, 3)"}},
				{"k", "t", "udt", Type{Code: wire.TypeUDT, Keyspace: "k", Name: "address", Fields: []string{"street"}, Elements: []Type{{Code: 13}}}}},
			ResultMetadata: p.ResultMetadata}
		if version >= 4 {
			want.PartitionKey = []int{1}
		}
		if version >= 5 {
			want.ResultMetadataID = "the metadata id"
		}
		if d := cmp.Diff(want, p); d != "" {
			t.Errorf("v%d: %s", version, d)
		}
		if n := len(p.ResultMetadata); n == 0 || string(p.ResultMetadata) != string(b[len(b)-n:]) {
			t.Errorf("v%d: the result's metadata is %q", version, p.ResultMetadata)
		}
		// Cut anywhere after the id, the id is still known.
		for n := len("the id") + 2 + 17; n < len(b); n++ {
			r, q := wire.NewReader(b[:n]), Prepared{Version: version}
			if !readPrepared(&r, &q) || q.ID != "the id" {
				t.Errorf("v%d: of %d bytes no id is known", version, n)
			}
		}
	}
}

func FuzzPrepared(f *testing.F) {
	for _, version := range []byte{3, 4, 5} {
		f.Add(version, preparedBody(version))
	}
	f.Fuzz(func(t *testing.T, version byte, b []byte) {
		r, p := wire.NewReader(b), Prepared{Version: version}
		if readPrepared(&r, &p); len(p.Variables)+len(p.Results) > len(b) {
			t.Errorf("%d columns out of %d bytes", len(p.Variables)+len(p.Results), len(b))
		}
		for _, k := range p.PartitionKey {
			if k >= len(p.Variables) {
				t.Errorf("partition key %v of %d variables", p.PartitionKey, len(p.Variables))
			}
		}
	})
}

// TestCachesAreBounded: by number and by bytes, however much one text takes; what was put last is there.
func TestCachesAreBounded(t *testing.T) {
	c := cache[*Prepared]{most: 5, mostBytes: 10_000}
	for i := range 100 {
		p := &Prepared{ID: string(rune('a' + i%7)), Text: string(make([]byte, i*i%9000))}
		c.put(p.ID, p)
		bytes := 0
		for _, p := range c.entries {
			bytes += p.size()
		}
		if len(c.entries) > 5 || bytes > 10_000 || bytes != c.bytes || c.entries[p.ID] != p {
			t.Fatalf("after %d: %d entries of %d bytes, %d are counted", i, len(c.entries), bytes, c.bytes)
		}
	}
	huge := &Prepared{ID: "huge", Text: string(make([]byte, 20_000))}
	if c.put("huge", huge); len(c.entries) != 1 || c.entries["huge"] != huge {
		t.Errorf("%d entries beside what alone is too much", len(c.entries))
	}
}

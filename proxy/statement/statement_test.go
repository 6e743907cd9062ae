package statement

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
		if !p.Read(&r) {
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
			if !q.Read(&r) || q.ID != "the id" {
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
		if p.Read(&r); len(p.Variables)+len(p.Results) > len(b) {
			t.Errorf("%d columns out of %d bytes", len(p.Variables)+len(p.Results), len(b))
		}
		for _, k := range p.PartitionKey {
			if k >= len(p.Variables) {
				t.Errorf("partition key %v of %d variables", p.PartitionKey, len(p.Variables))
			}
		}
	})
}

// TestATableIsBounded: by number and by bytes, however much one text takes; what was put last is there.
func TestATableIsBounded(t *testing.T) {
	var c Table[int]
	put := func(p *Prepared) { c.keep(p, 5, 10_000) }
	for i := range 100 {
		p := &Prepared{ID: string(rune('a' + i%7)), Text: string(make([]byte, i*i%9000))}
		put(p)
		bytes := 0
		for _, p := range c.entries {
			bytes += p.Load().size()
		}
		if len(c.entries) > 5 || bytes > 10_000 || bytes != c.bytes || c.Get([]byte(p.ID)).Prepared != p {
			t.Fatalf("after %d: %d entries of %d bytes, %d are counted", i, len(c.entries), bytes, c.bytes)
		}
	}
	huge := &Prepared{ID: "huge", Text: string(make([]byte, 20_000))}
	if put(huge); len(c.entries) != 1 || c.Get([]byte("huge")).Prepared != huge {
		t.Errorf("%d entries beside what alone is too much", len(c.entries))
	}
}

// TestReadersWaitForNobody: what many requests ask for is found while somebody holds the lock, what had to go is not, and what came in its
// place is.
func TestReadersWaitForNobody(t *testing.T) {
	var c Table[int]
	for i := range 3 {
		c.Put(&Prepared{ID: string(rune('a' + i)), Text: "text"})
	}
	for range 3 { // as many looks as there are ids
		c.Get([]byte("a"))
	}
	c.mu.Lock()
	for _, id := range []string{"a", "b", "c"} {
		if k := c.Get([]byte(id)); k == nil || k.ID != id {
			t.Errorf("%s is not found", id)
		}
	}
	c.mu.Unlock()
	c.keep(&Prepared{ID: "d", Text: "text"}, 1, 1<<20)
	for _, id := range []string{"a", "b", "c"} {
		if c.Get([]byte(id)) != nil {
			t.Errorf("%s had to go, and is found", id)
		}
	}
	again := &Prepared{ID: "a", Text: "another"}
	c.Put(again)
	for range 5 {
		if k := c.Get([]byte("a")); k == nil || k.Prepared != again {
			t.Error("what came in its place is not found")
		}
	}
}

// TestAnotherAnswerIsAChange: what was made of a statement lasts as long as Cassandra answers the same to its PREPARE, in whatever version.
func TestAnotherAnswerIsAChange(t *testing.T) {
	var c Table[int]
	of := func(version byte, kind uint16) *Prepared {
		p := &Prepared{ID: "id", Text: "text", Version: version, Variables: []Column{{Name: "a", Type: Type{Code: kind}}}}
		if version >= 4 {
			p.PartitionKey = []int{0}
		}
		return p
	}
	c.Put(of(4, 9))
	made := 1
	c.Get([]byte("id")).Use.Store(&made)
	for _, same := range []*Prepared{of(4, 9), of(3, 9)} {
		if c.Put(same); c.Changed() != 0 || c.Get([]byte("id")).Use.Load() != &made {
			t.Errorf("the same answer in version %d is taken for another", same.Version)
		}
	}
	if c.Put(of(4, 12)); c.Changed() != 1 || c.Get([]byte("id")).Use.Load() != nil || c.Get([]byte("id")).Variables[0].Type.Code != 12 {
		t.Error("another answer is not noticed")
	}
}

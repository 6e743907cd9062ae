package value

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
)

func columns(namesAndCodes ...any) (out []proxy.Column) {
	for i := 0; i < len(namesAndCodes); i += 2 {
		out = append(out, proxy.Column{Name: namesAndCodes[i].(string), Type: proxy.Type{Code: uint16(namesAndCodes[i+1].(int))}})
	}
	return out
}

// body is a RESULT Rows body without metadata.
func body(columns int, rows [][][]byte) []byte {
	b := []byte{0, 0, 0, 2, 0, 0, 0, 4}
	b = binary.BigEndian.AppendUint32(b, uint32(columns))
	b = binary.BigEndian.AppendUint32(b, uint32(len(rows)))
	for _, row := range rows {
		for _, cell := range row {
			if cell == nil {
				b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
				continue
			}
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(cell))), cell...)
		}
	}
	return b
}

func list(values [][]byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(values)))
	for _, v := range values {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return b
}

func TestRows(t *testing.T) {
	whole := body(2, [][][]byte{{{1}, {2}}, {nil, {3, 4}}})
	read := func(b []byte) (out []string) {
		Rows(b, columns("a", 0x21, "b", 0x30), func(row, c int, cell []byte) { out = append(out, fmt.Sprintf("%d.%d %v", row, c, cell)) })
		return out
	}
	want := []string{"0.0 [1]", "0.1 [2]", "1.0 []", "1.1 [3 4]"}
	for _, b := range [][]byte{whole, whole[4:]} { // with and without its kind
		if d := cmp.Diff(want, read(b)); d != "" {
			t.Error(d)
		}
	}
	for i := range whole {
		if got := read(whole[:i]); len(got) > len(want) {
			t.Errorf("cut at %d: %v", i, got)
		}
	}
	// With everything that may stand before the rows: paging state, new metadata id, table, columns of nested types.
	b := []byte{0, 0, 0, 2, 0, 0, 0, 0xB, 0, 0, 0, 2, 0, 0, 0, 1, 9, 0, 2, 8, 8, 0, 1, 'k', 0, 1, 't',
		0, 1, 'a', 0, 0x21, 0, 9, 0, 0x22, 0, 0x0C, // map<int, set<uuid>>
		0, 1, 'b', 0, 0x30, 0, 1, 'k', 0, 1, 'u', 0, 1, 0, 1, 'f', 0, 0x31, 0, 2, 0, 9, 0, 0, 0, 1, 'c', // udt{f tuple<int, custom>}
		0, 0, 0, 1, 0, 0, 0, 1, 7, 0xFF, 0xFF, 0xFF, 0xFF}
	if d := cmp.Diff([]string{"0.0 [7]", "0.1 []"}, read(b)); d != "" {
		t.Error(d)
	}
	// Metadata that has changed under the prepared id: nothing is read.
	b[bytes.IndexByte(b, 'a')] = 'x'
	if got := read(b); got != nil {
		t.Errorf("read by another's columns: %v", got)
	}
}

func FuzzRows(f *testing.F) {
	f.Add(body(2, [][][]byte{{{1}, {2}}, {nil, {3, 4}}}), 2)
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 'k', 0, 1, 't', 0, 1, 'a', 0, 9, 0, 0, 0, 0}, 1)
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF}, 1)
	f.Fuzz(func(t *testing.T, b []byte, columns int) {
		n := 0
		Rows(b, make([]proxy.Column, max(0, min(columns, 100))), func(row, c int, cell []byte) {
			n += len(cell)
			if c < 0 || c >= columns || row < 0 || row >= MaxRows {
				t.Fatalf("cell %d %v", c, cell)
			}
		})
		if n > len(b) {
			t.Fatalf("%d bytes of cells in %d bytes", n, len(b))
		}
	})
}

func TestCanonicalValues(t *testing.T) {
	h := Hasher{K0: 1, K1: 2}
	hash := func(code uint16, b ...byte) (out uint64) {
		h.Each(&proxy.Type{Code: code}, b, func(v Value) { out = v.Hash })
		return out
	}
	five := hash(0x0009, 0, 0, 0, 5)
	for name, v := range map[string]uint64{
		"bigint": hash(0x0002, 0, 0, 0, 0, 0, 0, 0, 5), "smallint": hash(0x0013, 0, 5), "tinyint": hash(0x0014, 5), "varint": hash(0x000E, 5),
		"counter": hash(0x0005, 0, 0, 0, 0, 0, 0, 0, 5),
	} {
		if v != five {
			t.Errorf("5 as %s is another value than as int", name)
		}
	}
	if hash(0x0009, 0xFF, 0xFF, 0xFF, 0xFB) != hash(0x0013, 0xFF, 0xFB) || hash(0x0009, 0, 0, 0, 0xFB) == hash(0x0014, 0xFB) {
		t.Error("negative integers are not canonical")
	}
	id := []byte{0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0x00}
	if u := hash(0x000C, id...); u == 0 || u != hash(0x000D, []byte("123E4567-e89b-12d3-a456-426614174000")...) || u != hash(0x000F, id...) {
		t.Error("a UUID as text is another value")
	}
	if hash(0x000D, 5) == hash(0x0014, 5) || hash(0x000D, []byte("123e4567-e89b-12d3-a456-42661417400g")...) == 0 {
		t.Error("classes are not kept apart")
	}
	for _, code := range []uint16{0x0003, 0x0007, 0x0008, 0x0006, 0x0015, 0x0000, 0x7777} { // blob, double, float, decimal, duration, custom, unknown
		if hash(code, 1, 2, 3, 4) != 0 {
			t.Errorf("type %#x is hashed", code)
		}
	}
	yes, no := hash(0x0004, 1), hash(0x0004, 0)
	if yes == 0 || no == 0 || yes == no || yes == hash(0x0009, 1) {
		t.Error("booleans are not told apart")
	}
	h.Each(&proxy.Type{Code: 0x0004}, []byte{1}, func(v Value) {
		if v.Class != None || v.Numeric {
			t.Errorf("a boolean has an identity: %+v", v)
		}
	})
	other := Hasher{K0: 3, K1: 2}
	other.Each(&proxy.Type{Code: 9}, []byte{0, 0, 0, 5}, func(v Value) {
		if v.Hash == five {
			t.Error("the key makes no difference")
		}
	})
	n := 0
	h.Each(&proxy.Type{Code: proxy.TypeList, Elements: []proxy.Type{{Code: 9}}}, append([]byte{0x7F, 0, 0, 0}, list([][]byte{{1}})[4:]...), func(Value) { n++ })
	if n != 1 {
		t.Errorf("%d elements of a list that lies about its length", n)
	}
}

func TestTextIsNormalised(t *testing.T) {
	h := Hasher{K0: 1, K1: 2}
	composed, decomposed := h.Of(Text, []byte("caf\u00e9")), h.Of(Text, []byte("cafe\u0301"))
	if composed.Hash != decomposed.Hash || composed.Bytes == decomposed.Bytes {
		t.Errorf("%+v %+v", composed, decomposed)
	}
	if v := h.Of(Text, bytes.Repeat([]byte("x"), MaxText+1)); v.Class != None || v.Hash != 0 {
		t.Error("a text too long to be a key is hashed")
	}
	if h.Of(Text, []byte{0xFF, 0xFE}).Hash == 0 {
		t.Error("broken UTF-8 is not hashed as it is")
	}
}

func TestNumbers(t *testing.T) {
	h := Hasher{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		v := h.Of(Integer, binary.BigEndian.AppendUint64(nil, uint64(n)))
		if !v.Numeric || v.Number != n {
			t.Fatalf("%d is read as %+v", n, v)
		}
		m := v.Magnitude()
		if n > 0 && (m < 1 || uint64(n)>>(m-1) != 1) || n == 0 && m != 0 || n < 0 && m >= 0 {
			t.Fatalf("magnitude %d of %d", m, n)
		}
	})
	for n, want := range map[int64]int8{-1: -1, -2: -2, -3: -3, -4: -3, math.MinInt64: -64, math.MaxInt64: 63, 1: 1} {
		if got := (&Value{Number: n}).Magnitude(); got != want {
			t.Errorf("magnitude of %d is %d, want %d", n, got, want)
		}
	}
	if d := h.Of(Date, []byte{0x80, 0, 0, 1}); d.Number != 1 {
		t.Errorf("%+v", d)
	}
}

// TestAnythingIsHarmless: whatever a value's bytes are, and whatever its type says, there is an answer.
func TestAnythingIsHarmless(t *testing.T) {
	h := Hasher{}
	rapid.Check(t, func(t *rapid.T) {
		ty := proxy.Type{Code: rapid.Uint16Range(0, 0x40).Draw(t, "code")}
		for range rapid.IntRange(0, 2).Draw(t, "elements") {
			ty.Elements = append(ty.Elements, proxy.Type{Code: rapid.Uint16Range(0, 0x40).Draw(t, "element")})
		}
		n := 0
		h.Each(&ty, rapid.SliceOf(rapid.Byte()).Draw(t, "value"), func(v Value) {
			if n++; (v.Class == None) != (v.Hash == 0) && ty.Code != proxy.TypeBoolean || n > MaxElements {
				t.Fatalf("%+v", v)
			}
		})
	})
}

func TestColumns(t *testing.T) {
	b := []byte{0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 1, 'k', 0, 1, 't', 0, 1, 'a', 0, 9, 0, 1, 'b', 0, 0x22, 0, 0x0C, 0, 1, 'c', 0, 0x21, 0, 9, 0, 0x0D,
		0, 0, 0, 1, 0, 0, 0, 1, 7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	of := func(name string, code uint16, elements ...proxy.Type) proxy.Column {
		return proxy.Column{Keyspace: "k", Table: "t", Name: name, Type: proxy.Type{Code: code, Elements: elements}}
	}
	want := []proxy.Column{of("a", 9), of("b", 0x22, proxy.Type{Code: 0x0C}), of("c", 0x21)}
	b = b[4:]
	if d := cmp.Diff(want, Columns(b)); d != "" {
		t.Error(d)
	}
	for i := range b[:35] {
		if got := Columns(b[:i]); got != nil {
			t.Errorf("cut at %d: %v", i, got)
		}
	}
	if Columns(body(2, nil)[4:]) != nil {
		t.Error("metadata that is not there")
	}
	rapid.Check(t, func(t *rapid.T) { Columns(append(b[:8:8], rapid.SliceOf(rapid.Byte()).Draw(t, "rest")...)) })
}

package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

func statement(name string) *Statement {
	return &Statement{Fingerprint: name, Keyspace: "k", Table: "t", Variables: []proxy.Column{{Keyspace: "k", Table: "t", Name: "a", Type: proxy.Type{Code: 9}}},
		PartitionKey: []int{0}, Shape: "a ="}
}

// TestNoValueIsInTheFile: neither a value, in any of the forms that it might take, nor a hash that the process knows, nor whole
// numbers in place of their magnitude.
func TestNoValueIsInTheFile(t *testing.T) {
	h := value.Hasher{K0: 1, K1: 2}
	st := statement("s")
	var file bytes.Buffer
	w, err := NewWriter(&file, 0)
	if err != nil {
		t.Fatal(err)
	}
	var secret []string
	for i := range 200 {
		text := fmt.Sprintf("Muster-%d@example.org", i*7919)
		number := int64(7_731_912_345_678) + int64(i)*1_234_577
		raw := binary.BigEndian.AppendUint64(nil, uint64(number))
		e := &Execution{Statement: st, Start: int64(i), End: int64(i) + 1, Process: h.Of(value.Text, []byte("10.0.0.7")).Hash, Partition: h.Tuple([]uint64{1, 2}), Batch: 1 << 60}
		for _, v := range []value.Value{h.Of(value.Text, []byte(text)), h.Of(value.Integer, raw)} {
			e.Binds = append(e.Binds, v)
			secret = append(secret, fmt.Sprint(v.Hash), fmt.Sprint(int64(v.Hash)))
		}
		secret = append(secret, text, fmt.Sprint(number), string(raw), hex.EncodeToString(raw), base64.StdEncoding.EncodeToString([]byte(text)),
			base64.StdEncoding.EncodeToString(raw), fmt.Sprint(e.Process), fmt.Sprint(e.Partition), strconv.Quote(text))
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	open, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range secret {
		if bytes.Contains(open, []byte(s)) || bytes.Contains(file.Bytes(), []byte(s)) {
			t.Errorf("%q is in the file", s)
		}
	}
	if len(open) < 200*50 || !bytes.Contains(open, []byte(`"Fingerprint":"s"`)) {
		t.Error("the file is not what was to be searched")
	}
	var second bytes.Buffer
	if w, err = NewWriter(&second, 0); err != nil {
		t.Fatal(err)
	}
	first := map[uint64]bool{}
	if err := Read(bytes.NewReader(file.Bytes()), func(e *Execution) error {
		for _, v := range e.Binds {
			first[v.Hash] = true
		}
		return w.Add(e)
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Read(&second, func(e *Execution) error {
		for _, v := range e.Binds {
			if first[v.Hash] {
				t.Fatal("two files have a hash in common")
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsWrittenIsRead: but for the hashes, which are others, though equal where they were, and numbers, of which the magnitude stays.
func TestWhatIsWrittenIsRead(t *testing.T) {
	statements := []*Statement{statement("a"), statement("b")}
	rapid.Check(t, func(t *rapid.T) {
		var want []*Execution
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			e := &Execution{
				Statement: rapid.SampledFrom(statements).Draw(t, "statement"), Start: rapid.Int64().Draw(t, "start"), End: rapid.Int64().Draw(t, "end"),
				Sequence: rapid.Uint32().Draw(t, "sequence"), Failed: rapid.Bool().Draw(t, "failed"), Last: rapid.Bool().Draw(t, "last"),
				Rows: rapid.IntRange(-1, 99).Draw(t, "rows"), Bytes: rapid.IntRange(0, 99).Draw(t, "bytes"),
			}
			for range rapid.IntRange(0, 4).Draw(t, "values") {
				e.Binds = append(e.Binds, value.Value{
					Hash: uint64(rapid.IntRange(0, 3).Draw(t, "hash")), Bytes: rapid.Uint32().Draw(t, "size"), Index: rapid.Uint16().Draw(t, "index"), Row: rapid.Uint16().Draw(t, "row"),
					Class: value.Class(rapid.IntRange(0, 7).Draw(t, "class")), Null: rapid.Bool().Draw(t, "null"), Numeric: rapid.Bool().Draw(t, "numeric"), Number: rapid.Int64().Draw(t, "number"),
				})
			}
			for i := range e.Binds {
				if rapid.Bool().Draw(t, "made") {
					e.MadeBinds = append(e.MadeBinds, value.Made{Hash: uint64(rapid.IntRange(0, 3).Draw(t, "hash")), Of: uint32(i), Piece: rapid.Uint8Range(0, 3).Draw(t, "piece"), Class: value.Integer})
				}
			}
			want = append(want, e)
		}
		var file bytes.Buffer
		w, err := NewWriter(&file, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range want {
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		i, same := 0, map[uint64]uint64{}
		if err := Read(&file, func(e *Execution) error {
			for k := range e.Binds {
				v, o := &e.Binds[k], &want[i].Binds[k]
				if before, known := same[o.Hash]; known && before != v.Hash || (o.Hash == 0) != (v.Hash == 0) {
					t.Fatal("equal hashes are not equal any more")
				}
				same[o.Hash] = v.Hash
				if o.Numeric && v.Magnitude() != o.Magnitude() {
					t.Fatalf("magnitude %d of %d, was %d", v.Magnitude(), v.Number, o.Magnitude())
				}
				v.Hash, v.Number = o.Hash, o.Number
			}
			for k := range e.MadeBinds {
				m, o := &e.MadeBinds[k], &want[i].MadeBinds[k]
				if before, known := same[o.Hash]; known && before != m.Hash {
					t.Fatal("what a text is made of is not equal to the like any more")
				}
				m.Hash = o.Hash
			}
			if d := cmp.Diff(want[i], e); d != "" {
				t.Fatal(d)
			}
			i++
			return nil
		}); err != nil || i != len(want) {
			t.Fatalf("%d of %d: %v", i, len(want), err)
		}
	})
}

func TestPlaces(t *testing.T) {
	k, shop := proxy.Column{Table: "users", Name: "id"}, proxy.Column{Table: "users", Name: "shop"}
	st := &Statement{Variables: []proxy.Column{k, shop, shop, k, k}, Ranges: []bool{false, false, false, false, true}}
	if d := cmp.Diff([]int{0, 1, 1, 2, 3}, Places(st)); d != "" {
		t.Error(d)
	}
	if Variable(st, 2) != 3 || Variable(st, 9) != -1 {
		t.Error("variables of places")
	}
	for name, want := range map[string]string{"in(a)": "a", "IN(a)": "a", "a": "a", "in()": "in()", "inner": "inner"} {
		if ColumnOf(name) != want {
			t.Errorf("%s stands for %s", name, ColumnOf(name))
		}
	}
}

func FuzzRead(f *testing.F) {
	pack := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return b.Bytes()
	}
	f.Add([]byte(`{"helenus_trace":{"version":1}}` + "\n" + `{"statement":{"Fingerprint":"a"}}` + "\n" + `{"x":{"s":0,"v":[[1,2,3,4,5,6,7]]}}`))
	f.Add([]byte(`{"helenus_trace":{"version":1}}` + "\n" + `{"x":{"s":7}}`))
	f.Add([]byte(`{"helenus_trace":{"version":2}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		err := Read(bytes.NewReader(pack(string(text))), func(e *Execution) error {
			if n++; e.Statement == nil {
				t.Fatal("an execution of nothing")
			}
			for _, v := range append(e.Binds, e.Cells...) {
				_ = v.Magnitude()
			}
			return nil
		})
		if n > 0 && !bytes.Contains(text, []byte("helenus_trace")) {
			t.Fatalf("%d executions of a file that is no trace: %v", n, err)
		}
		if err := Read(bytes.NewReader(text), func(*Execution) error { return nil }); !errors.Is(err, ErrFormat) && len(text) < 20 {
			t.Fatal(err)
		}
	})
}

func TestPlacesOfLists(t *testing.T) {
	for names, want := range map[string]string{
		"":            "[]",
		"a":           "[0]",
		"a b c":       "[0 1 2]",
		"a a a":       "[0 0 0]",
		"k a a a b":   "[0 1 1 1 2]",
		"k a b a b":   "[0 1 2 1 2]",
		"a b a b a b": "[0 1 0 1 0 1]",
		"a b a b c":   "[0 1 0 1 2]",
		"a b a":       "[0 1 2]", // SET a, WHERE b, IF a
		"a a> b a> b": "[0 1 2 3 4]",
	} {
		st := &Statement{}
		for _, n := range strings.Fields(names) {
			st.Variables = append(st.Variables, proxy.Column{Name: strings.TrimSuffix(n, ">")})
			st.Ranges = append(st.Ranges, strings.HasSuffix(n, ">"))
		}
		if got := fmt.Sprint(Places(st)); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
}

package merged

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

func drawnShare(t *rapid.T) *window.Share {
	s := &window.Share{From: rapid.Int64Range(0, 1e18).Draw(t, "from"), Off: rapid.Bool().Draw(t, "off"), Epoch: rapid.Int64Range(-5, 5).Draw(t, "epoch"), Key: rapid.Uint64().Draw(t, "key")}
	s.Until = s.From + rapid.Int64Range(0, 1e12).Draw(t, "long")
	for range rapid.IntRange(0, 3).Draw(t, "spans") {
		from := s.From + rapid.Int64Range(-1e9, 1e9).Draw(t, "at")
		s.Looked = append(s.Looked, window.Interval{From: from, To: from + rapid.Int64Range(0, 1e9).Draw(t, "for")})
	}
	statements := []*trace.Statement{
		{Fingerprint: "a", Keyspace: "k", Table: "t", Variables: []proxy.Column{{Keyspace: "k", Table: "t", Name: "id", Type: proxy.Type{Code: 9}}}, PartitionKey: []int{0}, Shape: "id ="},
		{Fingerprint: "b", Write: true, Sets: []string{"x"}, Conditional: true},
	}
	values := func(name string) (out []value.Value) {
		for range rapid.IntRange(0, 4).Draw(t, name) {
			v := value.Value{Index: rapid.Uint16().Draw(t, "index"), Row: rapid.Uint16().Draw(t, "row"), Class: value.Class(rapid.IntRange(0, value.Classes-1).Draw(t, "class"))}
			if v.Null = rapid.IntRange(0, 4).Draw(t, "null") == 0; !v.Null {
				v.Bytes, v.Hash = rapid.Uint32().Draw(t, "bytes"), rapid.Uint64Range(0, 6).Draw(t, "hash")*0x9E3779B97F4A7C15
				if v.Numeric = rapid.Bool().Draw(t, "numeric"); v.Numeric {
					v.Number = value.OfMagnitude(rapid.Int8Range(-64, 63).Draw(t, "magnitude"))
				}
			}
			out = append(out, v)
		}
		return out
	}
	made := func(of []value.Value) (out []value.Made) {
		for i := range of {
			if rapid.Bool().Draw(t, "made") {
				out = append(out, value.Made{Hash: rapid.Uint64Range(1, 6).Draw(t, "hash"), Of: uint32(i), Piece: rapid.Uint8Range(0, value.MaxPieces-1).Draw(t, "piece"), Class: value.Integer}) //nolint:gosec // few
			}
		}
		return out
	}
	for range rapid.IntRange(0, 6).Draw(t, "executions") {
		at := s.From + rapid.Int64Range(-1e9, 1e9).Draw(t, "start")
		s.Executions = append(s.Executions, &trace.Execution{
			Statement: rapid.SampledFrom(statements).Draw(t, "statement"), Start: at, End: at + rapid.Int64Range(0, 1e9).Draw(t, "took"),
			Process: rapid.Uint64().Draw(t, "process"), Batch: rapid.Uint64Range(0, 2).Draw(t, "batch"), Failed: rapid.Bool().Draw(t, "failed"), Last: rapid.Bool().Draw(t, "last"),
			Rows: rapid.IntRange(-1, 99).Draw(t, "rows"), Bytes: rapid.IntRange(0, 1e6).Draw(t, "size"), Partition: rapid.Uint64Range(0, 2).Draw(t, "partition"),
			Binds: values("binds"), Cells: values("cells"),
		})
		e := s.Executions[len(s.Executions)-1]
		e.MadeBinds, e.MadeCells = made(e.Binds), made(e.Cells)
	}
	return s
}

// TestShareIsReadAsItWasWritten: and cut short anywhere it is refused.
func TestShareIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawnShare(t)
		b, err := packShare(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpackShare(b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, got); d != "" {
			t.Fatal(d)
		}
		if _, err := unpackShare(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("a share that was cut short was read")
		}
	})
}

// FuzzUnpackShare: whatever lies in the store, reading it does no harm, and what is read can be written.
func FuzzUnpackShare(f *testing.F) {
	f.Add([]byte{shareVersion})
	whole, err := packShare(&window.Share{Looked: []window.Interval{{To: 1}}, Executions: []*trace.Execution{{Statement: &trace.Statement{Fingerprint: "a"}, Rows: -1,
		Binds: []value.Value{{Hash: 7, Class: value.Text, Bytes: 3}, {Hash: 7, Class: value.Text, Bytes: 3, Numeric: true, Number: 7}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := unpackShare(b)
		if err != nil {
			return
		}
		again, err := packShare(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unpackShare(again); err != nil && !bytes.Equal(b, again) {
			t.Fatal(err)
		}
	})
}

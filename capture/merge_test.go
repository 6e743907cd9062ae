package capture

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
)

// drawnSnapshot is what a registry counted of drawn traffic, as another process reads it.
func drawnSnapshot(t *rapid.T, outer testing.TB, name string) *Snapshot {
	now := start.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, name+" at")) * time.Second)
	r := registry(outer, Options{Fingerprints: rapid.IntRange(2, 6).Draw(t, name+" room"), Texts: 16, Now: func() time.Time { return now }})
	for range rapid.IntRange(0, 25).Draw(t, name+" length") {
		x := exchange(int64(rapid.IntRange(0, 100_000).Draw(t, "us")))
		x.Client = &proxy.Client{Application: rapid.SampledFrom([]string{"", "shop", "etl"}).Draw(t, "application")}
		x.Client.Mark = r.Mark(x.Client)
		x.Rows, x.ResponseBytes = rapid.IntRange(-1, 50).Draw(t, "rows"), rapid.IntRange(0, 1e6).Draw(t, "bytes")
		x.Consistency, x.InBatch = uint16(rapid.IntRange(0, 12).Draw(t, "level")), rapid.IntRange(0, 9).Draw(t, "batch") == 0
		if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
			x.Failed, x.ErrorCode = true, 0x1100
		}
		rec := r.Statement("k", fmt.Sprintf("SELECT a FROM t%d WHERE b = ?", rapid.IntRange(0, 9).Draw(t, "statement")))
		if rapid.IntRange(0, 3).Draw(t, "prepared") == 0 {
			rec.Prepared(&proxy.Prepared{Variables: []proxy.Column{{Name: "b", Type: proxy.Type{Code: uint16(rapid.IntRange(9, 10).Draw(t, "type"))}}}})
		}
		if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
			rec = r.Unknown()
		}
		rec.Done([]proxy.Exchange{*x})
	}
	r.Close()
	s := r.Counts()
	for i := range s.Statements {
		s.Statements[i].Born = 0
	}
	s.Other.Born, s.Unknown.Born = 0, 0
	return s
}

// TestMergeIsExactInAnyOrder: the snapshots of three proxies add up to the same, byte for byte, in any order and grouping, and no
// count is lost or doubled.
func TestMergeIsExactInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b, c := drawnSnapshot(rt, t, "a"), drawnSnapshot(rt, t, "b"), drawnSnapshot(rt, t, "c")
		want := a.Merge(b).Merge(c)
		for name, got := range map[string]*Snapshot{
			"a (b c)": a.Merge(b.Merge(c)), "(c a) b": c.Merge(a).Merge(b), "(b a) c": b.Merge(a).Merge(c), "c (b a)": c.Merge(b.Merge(a)),
		} {
			if d := cmp.Diff(want, got); d != "" {
				rt.Fatalf("%s is not (a b) c: %s", name, d)
			}
		}
		if n := a.Count() + b.Count() + c.Count(); want.Count() != n || want.Requests() != a.Requests()+b.Requests()+c.Requests() {
			rt.Fatalf("%d exchanges were merged from %d", want.Count(), n)
		}
		cut := want.Cut(3)
		if cut.Count() != want.Count() || cut.Requests() != want.Requests() || len(cut.Statements) > 3 {
			rt.Fatalf("cut to %d statements: %d exchanges of %d", len(cut.Statements), cut.Count(), want.Count())
		}
		if empty := (&Snapshot{Statements: []Statement{}}).Merge(a); cmp.Diff(a.Statements, empty.Statements) != "" {
			rt.Fatal("nothing and a are not a")
		}
	})
}

package merged

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/proxy"
)

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// drawnCounts is what a member counted, by the minute.
func drawnCounts(t *rapid.T, name string) *counted {
	from := start.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "from")) * time.Minute)
	s := &capture.Snapshot{From: from, To: from.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "for")) * time.Minute), Statements: []capture.Statement{}}
	s.Watched = s.To.Sub(s.From)
	for i := range 6 {
		if n := rapid.Uint64Range(0, 9).Draw(t, "n"); n > 0 {
			s.Statements = append(s.Statements, capture.Statement{Fingerprint: fmt.Sprint(i), Keyspace: "k", Kind: "SELECT", Text: fmt.Sprint("SELECT ", i), Count: n, First: s.From, Last: s.To})
		}
	}
	return countedBy(name, s, 100)
}

// TestSum: what members counted adds up the same in any order and grouping, with the empty sum too, and nothing is lost or doubled.
func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawnCounts(t, "a"), drawnCounts(t, "b"), drawnCounts(t, "c")
		of := func(parts ...*counted) *counted {
			out := &counted{Snapshot: &capture.Snapshot{Statements: []capture.Statement{}}}
			for _, c := range parts {
				out = out.plus(c)
			}
			return out
		}
		want := of(a, b, c)
		for name, got := range map[string]*counted{
			"a (b c)": of(a, of(b, c)), "(c a) b": of(of(c, a), b), "c (b a)": of(c, of(b, a)), "with nothing": of(of(), of(a, b), c, of()),
		} {
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s: (-a b c, +this) %s", name, d)
			}
		}
		if n := a.Snapshot.Count() + b.Snapshot.Count() + c.Snapshot.Count(); want.Snapshot.Count() != n {
			t.Fatalf("%d of %d", want.Snapshot.Count(), n)
		}
		listened := time.Duration(0) // minute by minute
		for at := start; at.Before(start.Add(time.Hour)); at = at.Add(time.Minute) {
			if slices.ContainsFunc([]*counted{a, b, c}, func(c *counted) bool { return !at.Before(c.Snapshot.From) && at.Before(c.Snapshot.To) }) {
				listened += time.Minute
			}
		}
		if got := want.Snapshot.To.Sub(want.Snapshot.From); got != listened {
			t.Fatalf("it is of %v, but there was one that listened for %v", got, listened)
		}
		body, err := packCounts(want)
		if err != nil {
			t.Fatal(err)
		}
		again, err := unpackCounts(body)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, again); d != "" {
			t.Fatalf("written and read it is another: %s", d)
		}
	})
}

// A sum remembers a bounded number of times; what it closes are the shortest gaps.
func TestTimesAreBounded(t *testing.T) {
	var list []span
	for i := range 200 {
		gap := time.Minute
		if i%20 == 0 {
			gap = time.Hour
		}
		from := start.Add(time.Duration(i) * 3 * time.Hour)
		list = append(list, span{from, from.Add(3*time.Hour - gap)})
	}
	got := union(list)
	if len(got) != maxTimes {
		t.Fatalf("%d times", len(got))
	}
	long := 0
	for i := range got[1:] {
		if got[i+1].From.Sub(got[i].To) >= time.Hour {
			long++
		}
	}
	if long != 10 {
		t.Errorf("%d long gaps are left", long)
	}
}

func TestUnreadableCounts(t *testing.T) {
	for _, body := range [][]byte{nil, []byte("no counts")} {
		if _, err := unpackCounts(body); err == nil {
			t.Errorf("%q was read", body)
		}
	}
	whole, err := packCounts(many(3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpackCounts(whole[:len(whole)/2]); err == nil {
		t.Error("half a row was read")
	}
}

// many is what a busy member counted.
func many(statements int) *counted {
	r := rand.New(rand.NewPCG(8, 9))
	drawn := func(top float64, n int) histogram.Distribution {
		var h histogram.Histogram
		for range n {
			h.Add(uint64(r.ExpFloat64() * top))
		}
		var d histogram.Distribution
		h.AddTo(&d)
		return d
	}
	s := &capture.Snapshot{From: start, To: start.Add(time.Hour), Watched: time.Hour, Statements: []capture.Statement{}}
	for i := range statements {
		n := 20 + r.IntN(100)
		s.Statements = append(s.Statements, capture.Statement{
			Fingerprint: fmt.Sprintf("%032x", i), Keyspace: "shop", Table: fmt.Sprint("customers_", i), Kind: "SELECT", Count: uint64(n),
			Text: fmt.Sprintf("SELECT name, street, city, country FROM customers_%d WHERE region = ? AND customer_id = ?", i), Consistency: capture.TallyOf(map[string]uint64{"LOCAL_QUORUM": uint64(n)}),
			Latency: drawn(2000, n), RequestBytes: drawn(8, n), ResponseBytes: drawn(900, n), Rows: drawn(5, n), First: start, Last: start.Add(time.Minute), Described: start.Add(time.Minute),
			Callers:   []capture.Share{{Caller: capture.Caller{Application: "web", Driver: "GoCQL"}, Count: uint64(n)}},
			Variables: []capture.Column{{Keyspace: "shop", Table: "customers", Name: "region", Type: proxy.Type{Code: 0x0020, Elements: []proxy.Type{{Code: 9}}}}},
		})
	}
	return countedBy("a", s, statements)
}

func TestCountsAreReadAsTheyWereWritten(t *testing.T) {
	want := many(50)
	body, err := packCounts(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := unpackCounts(body)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

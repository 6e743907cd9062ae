package feed

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFeedsOfOtherSeeds(t *testing.T) {
	for seed := uint64(100); seed < 104; seed++ {
		threads, ids, think := 16, uint16(tInt), 20*time.Millisecond
		if seed%2 == 1 {
			threads, think = 128, 200*time.Millisecond
		}
		if seed%3 == 1 {
			ids = tUUID
		}
		all := newSite(ids, seed).run(threads, 20_000, think)
		if precision, recall, wrong, missing := judge(mine(all, nil).Feeds()); precision != 1 || recall != 1 {
			t.Errorf("seed %d: precision %.2f, recall %.2f\nwrong: %q\nmissing: %q", seed, precision, recall, wrong, missing)
		}
	}
}

// TestNoCausalityNoFeeds: the same traffic with the values of each variable dealt out anew has the same distribution of
// values, and no feeds.
func TestNoCausalityNoFeeds(t *testing.T) {
	for _, ids := range []uint16{tInt, tUUID} {
		all := newSite(ids, 5).run(32, 15_000, 20*time.Millisecond)
		r := rand.New(rand.NewPCG(1, 2))
		type at struct {
			st *trace.Statement
			i  int
		}
		where := map[at][]*proxy.Value{}
		var order []at
		for k := range all {
			all[k].x.Values = append([]proxy.Value(nil), all[k].x.Values...)
			for i := range all[k].x.Values {
				a := at{all[k].st, i}
				if where[a] == nil {
					order = append(order, a)
				}
				where[a] = append(where[a], &all[k].x.Values[i])
			}
		}
		for _, a := range order {
			vs := where[a]
			r.Shuffle(len(vs), func(i, j int) { *vs[i], *vs[j] = *vs[j], *vs[i] })
		}
		if feeds := mine(all, nil).Feeds(); len(feeds) != 0 {
			t.Errorf("%d feeds in traffic without causality: %+v", len(feeds), feeds)
		}
	}
}

// TestDecoysAgainstDecoys is the false-discovery run of docs/design/mapping.md 2.5 D2: with a second decoy in place of the real value
// nothing may be accepted.
func TestDecoysAgainstDecoys(t *testing.T) {
	m := mine(newSite(tInt, 6).run(64, 15_000, 20*time.Millisecond), nil)
	m.Feeds()
	for at, p := range m.parameters {
		// A neighbour's decoy is drawn independently of mine.
		o := p.ordered()
		for i := range o {
			j := (i + 1) % len(o)
			o[i].hits, o[i].n = o[j].decoys, o[j].nd
		}
		if found := m.explain(o, anySource); len(found) != 0 {
			t.Errorf("%s[%d]: %d sources found in decoys", m.statements[at.statement()].statement.Fingerprint, at.index(), len(found))
		}
	}
}

// TestShapes: D-14, serial client-side joins, and what else the values of one execution may be used for.
func TestShapes(t *testing.T) {
	for _, threads := range []int{1, 8, 64} {
		feeds := mine(newSite(tUUID, 9).run(threads, 15_000, 20*time.Millisecond), nil).Feeds()
		for _, f := range feeds {
			name := fmt.Sprintf("%s.%s -> %s.%s", f.From.Fingerprint, f.From.Column, f.To.Fingerprint, f.To.Column)
			if want := truth[name]; f.Shape != want {
				t.Errorf("%d threads: %s is %s, want %s: %+v", threads, name, f.Shape, want, f)
			}
			if f.SupportRead != (f.To.Fingerprint == "insert_inbox") {
				t.Errorf("%s: support read is %t", name, f.SupportRead)
			}
			if f.Followed <= 0 || f.Followed > 1 || f.Producers == 0 || f.Confidence < 0.7 || f.Confidence > 1 || f.LagP50 <= 0 || f.LagP99 < f.LagP50 {
				t.Errorf("%s: %+v", name, f)
			}
			switch name {
			case "items_by_category.item -> items.id":
				if f.PerExecution < 4 || f.PerExecution > 7 {
					t.Errorf("%s: %.1f values followed per execution, the pages follow 5.5", name, f.PerExecution)
				}
			case "items.seller -> users.id":
				if f.PerExecution > 1.05 {
					t.Errorf("%s: %.1f values followed per execution", name, f.PerExecution)
				}
			}
		}
	}
}

func TestSameInputSameFeeds(t *testing.T) {
	a := mine(newSite(tInt, 4).run(16, 8_000, 20*time.Millisecond), nil).Feeds()
	b := mine(newSite(tInt, 4).run(16, 8_000, 20*time.Millisecond), nil).Feeds()
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(a, Merge(a[:3], b)); d != "" {
		t.Errorf("merging a part changes the whole: %s", d)
	}
}

// TestMergeInAnyOrder: findings of any number of proxies, whatever they say of one feed.
func TestMergeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts [3][]Feed
		for i := range parts {
			for range rapid.IntRange(0, 4).Draw(t, "n") {
				small := rapid.IntRange(0, 1)
				f := Feed{From: End{Fingerprint: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "from"), Bound: rapid.Bool().Draw(t, "bound")}, Hits: small.Draw(t, "hits"),
					Use: rapid.SampledFrom([]Use{"", UseAll, UseBy}).Draw(t, "use"), Race: rapid.Bool().Draw(t, "race"), Repeated: float64(small.Draw(t, "repeated"))}
				if rapid.Bool().Draw(t, "check") {
					f.Outcome = &Outcome{When: WhenRow, Found: small.Draw(t, "found")}
				}
				if rapid.Bool().Draw(t, "change") {
					f.Change = &Change{Columns: []string{rapid.SampledFrom([]string{"x", "y"}).Draw(t, "column")}}
				}
				parts[i] = Merge(parts[i], []Feed{f})
			}
		}
		one := Merge(Merge(parts[0], parts[1]), parts[2])
		for _, other := range [][]Feed{Merge(parts[2], Merge(parts[1], parts[0])), Merge(one, parts[1]), Merge(Merge(parts[1], parts[2]), parts[0])} {
			if d := cmp.Diff(one, other); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestPaginationIsNoJoin(t *testing.T) {
	events := &trace.Statement{Fingerprint: "page", Variables: []proxy.Column{col("events", "user", true, tUUID), col("events", "at", true, tInt)},
		Ranges: []bool{false, true}, Results: []proxy.Column{col("events", "at", true, tInt)}}
	var all []said
	client := &proxy.Client{Address: "h:1"}
	now, n := int64(0), uint32(1)
	user := make([]byte, 16)
	for i := range 400 {
		binary.BigEndian.PutUint64(user, uint64(i)*0x9E3779B97F4A7C15)
		last := []byte{0x7F, 0xFF, 0xFF, 0xFF}
		for range 3 {
			next := binary.BigEndian.AppendUint32(nil, n*7919)
			n++
			all = append(all, said{proxy.Exchange{Client: client, Start: now, End: now + 1e6, Values: []proxy.Value{{Bytes: append([]byte(nil), user...)}, {Bytes: last}},
				Response: body(1, [][][]byte{{next}})}, events})
			last = next
			now += 10e6
		}
	}
	feeds := mine(all, nil).Feeds()
	if len(feeds) != 1 || feeds[0].Shape != Pagination {
		t.Errorf("feeds: %+v", feeds)
	}
}

// TestListsOfAllLengthsAreOneVariable: IN (?, ?), IN (?, ?, ?) and IN ? have one fingerprint and are one consumer.
func TestListsOfAllLengthsAreOneVariable(t *testing.T) {
	k := col("users", "id", true, tUUID)
	shop := col("users", "shop", true, tInt)
	producer := &trace.Statement{Fingerprint: "p", Results: []proxy.Column{col("bids", "user", true, tUUID)}}
	var all []said
	c := &proxy.Client{Address: "h:1"}
	r := rand.New(rand.NewPCG(1, 1))
	now := int64(0)
	for i := range 300 {
		n := 2 + i%3
		var values [][]byte
		var cells [][][]byte
		st := &trace.Statement{Fingerprint: "c"}
		x := proxy.Exchange{Client: c, Start: now + 2e6, End: now + 3e6}
		for range n {
			id := make([]byte, 16)
			binary.BigEndian.PutUint64(id, r.Uint64())
			values, cells = append(values, id), append(cells, [][]byte{id})
			st.Variables = append(st.Variables, k)
			x.Values = append(x.Values, proxy.Value{Bytes: id})
		}
		if i%4 == 0 {
			st.Variables, x.Values = []proxy.Column{inCol("users", "id", tUUID)}, []proxy.Value{{Bytes: list(values)}}
		}
		st.Variables = append(st.Variables, shop)
		x.Values = append(x.Values, proxy.Value{Bytes: binary.BigEndian.AppendUint32(nil, uint32(i))})
		all = append(all, said{proxy.Exchange{Client: c, Start: now, End: now + 1e6, Response: body(1, cells)}, producer}, said{x, st})
		now += 20e6
	}
	feeds := mine(all, nil).Feeds()
	if len(feeds) != 1 || feeds[0].Shape != InList || feeds[0].To.Index != 0 || feeds[0].To.Column != "id" || feeds[0].PerExecution < 2.9 || feeds[0].PerExecution > 3.1 {
		t.Errorf("feeds: %+v", feeds)
	}
	if d := cmp.Diff([]int{0, 1, 1, 2, 3}, trace.Places(&trace.Statement{Variables: []proxy.Column{k, shop, shop, k, k}, Ranges: []bool{false, false, false, false, true}})); d != "" {
		t.Error(d)
	}
}

func TestRetriesAreLeftOut(t *testing.T) {
	st := &trace.Statement{Fingerprint: "a", Variables: []proxy.Column{col("t", "a", true, tInt)}}
	c := &proxy.Client{Address: "h:1"}
	say := func(ms int64, v byte) said {
		return said{proxy.Exchange{Client: c, Start: ms * 1e6, End: ms*1e6 + 15e6, Values: []proxy.Value{{Bytes: []byte{0, 0, 0, v}}}}, st}
	}
	fail := func(s said) said {
		s.x.Failed = true
		return s
	}
	for _, test := range []struct {
		name       string
		said       []said
		duplicates uint64
	}{
		{"while the first is under way", []said{say(0, 1), say(10, 1), say(20, 2), say(200, 1)}, 1},
		{"after the first was answered the application wants it again", []said{say(0, 1), say(20, 1)}, 0},
		{"after the first failed", []said{fail(say(0, 1)), say(20, 1), say(40, 1)}, 1},
		{"after the first failed by a time-out", []said{fail(say(0, 1)), say(400, 1)}, 1},
		{"long after the first failed", []said{fail(say(0, 1)), say(1100, 1)}, 0},
	} {
		m := mine(test.said, nil)
		m.Feeds()
		if s := m.Statistics(); s.Duplicates != test.duplicates || s.Parameters != 1 {
			t.Errorf("%s: %+v", test.name, s)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := New(Options{Seed: 1})
	for i := range 3 * maxParameters {
		st := &trace.Statement{Fingerprint: fmt.Sprint(i), Variables: []proxy.Column{col("t", "a", true, tInt)}, Results: []proxy.Column{col("t", "b", true, tInt)}}
		m.Add(&trace.Execution{Statement: st, Process: uint64(i % 100), Start: int64(i) * 1e6, End: int64(i)*1e6 + 1,
			Binds: []value.Value{{Hash: uint64(i), Class: value.Integer}}, Cells: []value.Value{{Hash: 2, Class: value.Integer}}})
	}
	m.Feeds()
	if len(m.parameters) > maxParameters || len(m.processes) > maxProcesses || m.refused == 0 || len(m.pending) != 0 {
		t.Errorf("%d parameters, %d processes, %d refused, %d pending", len(m.parameters), len(m.processes), m.refused, len(m.pending))
	}
	p := &parameter{}
	for i := range 1000 {
		quota := 500 - i/2
		p.observe(&observation{t0: int64(i)}, max(quota, 10))
		if len(p.observations) > max(quota, 10) && i > 500 {
			t.Fatalf("%d observations at a quota of %d", len(p.observations), quota)
		}
	}
	o := p.ordered()
	for i := range o {
		if o[i].t0 != int64(1000-len(o)+i) {
			t.Fatalf("observations out of order: %d at %d of %d", o[i].t0, i, len(o))
		}
	}
}

func BenchmarkObserveAndMine(b *testing.B) {
	all := newSite(tUUID, 3).run(16, 20_000, 20*time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		mine(all, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/exchange")
}

package feed

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFeedsOfOtherSeeds(t *testing.T) {
	for seed := uint64(100); seed < 106; seed++ {
		threads, ids, think := 16, uint16(tInt), 20*time.Millisecond
		if seed%2 == 1 {
			threads, think = 128, 200*time.Millisecond
		}
		if seed%3 == 1 {
			ids = tUUID
		}
		all := newSite(ids, seed).run(threads, 25_000, think)
		if precision, recall, wrong, missing := judge(mine(t, all, nil).Feeds()); precision != 1 || recall != 1 {
			t.Errorf("seed %d: precision %.2f, recall %.2f\nwrong: %q\nmissing: %q", seed, precision, recall, wrong, missing)
		}
	}
}

// TestNoCausalityNoFeeds: the same traffic with the values of each variable dealt out anew has the same distribution of
// values, and no feeds.
func TestNoCausalityNoFeeds(t *testing.T) {
	for _, ids := range []uint16{tInt, tUUID} {
		all := newSite(ids, 5).run(32, 25_000, 20*time.Millisecond)
		r := rand.New(rand.NewPCG(1, 2))
		type at struct {
			st *Statement
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
		if feeds := mine(t, all, nil).Feeds(); len(feeds) != 0 {
			t.Errorf("%d feeds in traffic without causality: %+v", len(feeds), feeds)
		}
	}
}

// TestDecoysAgainstDecoys is the false-discovery run of design/mapping.md 2.5 D2: with a second decoy in place of the real value
// nothing may be accepted.
func TestDecoysAgainstDecoys(t *testing.T) {
	m := mine(t, newSite(tInt, 6).run(64, 30_000, 20*time.Millisecond), nil)
	m.state.flush()
	for at, p := range m.state.parameters {
		// A neighbour's decoy is drawn independently of mine.
		o := p.ordered()
		for i := range o {
			j := (i + 1) % len(o)
			o[i].hits, o[i].n = o[j].decoys, o[j].nd
		}
		if found := explain(o); len(found) != 0 {
			t.Errorf("%s[%d]: %d sources found in decoys", m.state.statements[at.statement()].statement.Fingerprint, at.index(), len(found))
		}
	}
}

// TestShapes: D-14, serial client-side joins, and what else the values of one execution may be used for.
func TestShapes(t *testing.T) {
	for _, threads := range []int{1, 8, 64} {
		feeds := mine(t, newSite(tUUID, 9).run(threads, 30_000, 20*time.Millisecond), nil).Feeds()
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
	a := mine(t, newSite(tInt, 4).run(16, 20_000, 20*time.Millisecond), nil).Feeds()
	b := mine(t, newSite(tInt, 4).run(16, 20_000, 20*time.Millisecond), nil).Feeds()
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(a, Merge(a[:3], b)); d != "" {
		t.Errorf("merging a part changes the whole: %s", d)
	}
}

func TestPaginationIsNoJoin(t *testing.T) {
	events := &Statement{Fingerprint: "page", Variables: []proxy.Column{col("events", "user", true, tUUID), col("events", "at", true, tInt)},
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
	feeds := mine(t, all, nil).Feeds()
	if len(feeds) != 1 || feeds[0].Shape != Pagination {
		t.Errorf("feeds: %+v", feeds)
	}
}

// TestListsOfAllLengthsAreOneVariable: IN (?, ?), IN (?, ?, ?) and IN ? have one fingerprint and are one consumer.
func TestListsOfAllLengthsAreOneVariable(t *testing.T) {
	k := col("users", "id", true, tUUID)
	shop := col("users", "shop", true, tInt)
	producer := &Statement{Fingerprint: "p", Results: []proxy.Column{col("bids", "user", true, tUUID)}}
	var all []said
	c := &proxy.Client{Address: "h:1"}
	r := rand.New(rand.NewPCG(1, 1))
	now := int64(0)
	for i := range 300 {
		n := 2 + i%3
		var values [][]byte
		var cells [][][]byte
		st := &Statement{Fingerprint: "c"}
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
	feeds := mine(t, all, nil).Feeds()
	if len(feeds) != 1 || feeds[0].Shape != InList || feeds[0].To.Index != 0 || feeds[0].To.Column != "id" || feeds[0].PerExecution < 2.9 || feeds[0].PerExecution > 3.1 {
		t.Errorf("feeds: %+v", feeds)
	}
	if d := cmp.Diff([]int{0, 1, 1, 2, 3}, places(&Statement{Variables: []proxy.Column{k, shop, shop, k, k}, Ranges: []bool{false, false, false, false, true}})); d != "" {
		t.Error(d)
	}
}

func TestAnswersCutShortOrBrokenAreHarmless(t *testing.T) {
	st := &Statement{Fingerprint: "a", Variables: []proxy.Column{inCol("t", "a", tInt)}, Results: []proxy.Column{col("t", "b", true, tInt)}}
	rapid.Check(t, func(rt *rapid.T) {
		var s state
		s.init(1)
		s.decode(&sample{statement: st, values: [][]byte{rapid.SliceOf(rapid.Byte()).Draw(rt, "value")}, names: []string{rapid.SampledFrom([]string{"", "x", "in(a)"}).Draw(rt, "name")},
			response: rapid.SliceOf(rapid.Byte()).Draw(rt, "response")})
	})
}

func TestRows(t *testing.T) {
	whole := body(2, [][][]byte{{{1}, {2}}, {nil, {3, 4}}})
	read := func(b []byte) (out []string) {
		rows(b, 2, func(c int, cell []byte) { out = append(out, fmt.Sprintf("%d %v", c, cell)) })
		return out
	}
	want := []string{"0 [1]", "1 [2]", "1 [3 4]"}
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
	if d := cmp.Diff([]string{"0 [7]"}, read(b)); d != "" {
		t.Error(d)
	}
}

func FuzzRows(f *testing.F) {
	f.Add(body(2, [][][]byte{{{1}, {2}}, {nil, {3, 4}}}), 2)
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 'k', 0, 1, 't', 0, 1, 'a', 0, 9, 0, 0, 0, 0}, 1)
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF}, 1)
	f.Fuzz(func(t *testing.T, b []byte, columns int) {
		n := 0
		rows(b, columns, func(c int, cell []byte) {
			n += len(cell)
			if c < 0 || c >= columns || len(cell) == 0 {
				t.Fatalf("cell %d %v", c, cell)
			}
		})
		if n > len(b) {
			t.Fatalf("%d bytes of cells in %d bytes", n, len(b))
		}
	})
}

func TestCanonicalValues(t *testing.T) {
	h := hasher{k0: 1, k1: 2}
	hash := func(code uint16, b ...byte) (out uint64) {
		h.each(&proxy.Type{Code: code}, b, func(v uint64) { out = v })
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
	for _, code := range []uint16{0x0004, 0x0003, 0x0007, 0x0008, 0x0006, 0x0015, 0x0000, 0x7777} { // boolean, blob, double, float, decimal, duration, custom, unknown
		if hash(code, 1, 2, 3, 4) != 0 {
			t.Errorf("type %#x is hashed", code)
		}
	}
	other := hasher{k0: 3, k1: 2}
	other.each(&proxy.Type{Code: 9}, []byte{0, 0, 0, 5}, func(v uint64) {
		if v == five {
			t.Error("the key makes no difference")
		}
	})
	n := 0
	h.each(&proxy.Type{Code: typeList, Elements: []proxy.Type{{Code: 9}}}, append([]byte{0x7F, 0, 0, 0}, list([][]byte{{1}})[4:]...), func(uint64) { n++ })
	if n != 1 {
		t.Errorf("%d elements of a list that lies about its length", n)
	}
}

func TestSyntheticVariables(t *testing.T) {
	for name, want := range map[string]bool{
		"[limit]": true, "[ttl]": true, "[timestamp]": true, "key(m)": true, "value(m)": true, "idx(l)": true,
		"in(room_id)": false, "IN(room_id)": false, "room_id": false,
	} {
		if synthetic(name) != want {
			t.Errorf("%s: synthetic is %t", name, !want)
		}
	}
}

func TestWindows(t *testing.T) {
	m := New(Options{Window: 2 * time.Second, Period: 40 * time.Second, Warm: 10, Ticks: make(chan time.Time)})
	defer m.Close()
	at := func(d time.Duration) bool { m.tick(m.started.Add(d)); return m.Open() }
	if !at(0) {
		t.Error("closed at the start")
	}
	m.observed.Store(9)
	if !at(10*time.Second) || !at(100*time.Second) {
		t.Error("closed before it has warmed up")
	}
	m.observed.Store(10)
	if !at(5 * time.Second) {
		t.Error("closed before a few windows' time has been seen")
	}
	for d, want := range map[time.Duration]bool{12 * time.Second: false, 39 * time.Second: false, 41 * time.Second: true, 43 * time.Second: false} {
		if at(d) != want {
			t.Errorf("after %v: open is %t", d, !want)
		}
	}
	m.Extra(m.started.Add(50 * time.Second))
	m.Extra(m.started.Add(52 * time.Second)) // too soon
	if !m.Open() || !at(51*time.Second) || at(53*time.Second) {
		t.Error("the extra window is not 2 s long")
	}
}

func TestOff(t *testing.T) {
	m := New(Options{Off: true, Ticks: make(chan time.Time)})
	defer m.Close()
	m.Extra(m.started)
	if m.Open() {
		t.Error("open though it is off")
	}
	m.tick(m.started)
	if m.Open() {
		t.Error("open after a tick though it is off")
	}
}

// TestRotation: with the key everything that was hashed goes; what was found stays until it is found again.
func TestRotation(t *testing.T) {
	all := newSite(tUUID, 3).run(8, 20_000, 5*time.Millisecond)
	m := mine(t, all, nil)
	before := m.Feeds()
	m.options.Seed = 12
	k0 := m.state.hash.k0
	m.tick(m.started.Add(23 * time.Hour))
	if m.state.hash.k0 != k0 {
		t.Error("the key was changed too soon")
	}
	m.tick(m.started.Add(24 * time.Hour))
	if m.state.hash.k0 == k0 || len(m.state.processes) != 0 || len(m.state.parameters) != 0 || len(m.state.pending) != 0 {
		t.Error("the key was not changed, or something hashed is left")
	}
	if d := cmp.Diff(before, m.Feeds()); d != "" {
		t.Errorf("feeds are lost: %s", d)
	}
}

// TestFullQueueDropsAndCounts: with the miner held up, Observe does not block.
func TestFullQueueDropsAndCounts(t *testing.T) {
	m := New(Options{Queue: 4, Ticks: make(chan time.Time)})
	defer m.Close()
	st := &Statement{Fingerprint: "a", Variables: []proxy.Column{col("t", "a", true, tInt)}}
	x := &proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: []byte{0, 0, 0, 1}}}}
	m.mu.Lock()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 10 {
				m.Observe(x, st)
			}
		}()
	}
	wg.Wait()
	m.mu.Unlock()
	m.Feeds()
	s := m.Statistics()
	if s.Observed != 4 || s.Dropped != 36 {
		t.Errorf("%+v", s)
	}
}

func TestObserveKeepsNoSlice(t *testing.T) {
	m := New(Options{Ticks: make(chan time.Time)})
	defer m.Close()
	st := &Statement{Fingerprint: "a", Variables: []proxy.Column{col("t", "a", true, tInt)}, Results: []proxy.Column{col("t", "b", true, tInt)}}
	value, response := []byte{0, 0, 0, 1}, body(1, [][][]byte{{{0, 0, 0, 2}}})
	s := &sample{}
	s.fill(&proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: value}, {Null: true}}, Response: response}, st)
	clear(value)
	clear(response)
	if s.values[0][3] != 1 || len(s.values[1]) != 0 || s.response[3] != 2 {
		t.Errorf("sample changed with the caller's slices: %v %v", s.values, s.response)
	}
	if n := testing.AllocsPerRun(100, func() {
		s.fill(&proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: value}}, Response: response}, st)
	}); n > 2 {
		t.Errorf("%v allocations to copy an exchange into a used buffer", n)
	}
}

func TestRetriesAreLeftOut(t *testing.T) {
	st := &Statement{Fingerprint: "a", Variables: []proxy.Column{col("t", "a", true, tInt)}}
	c := &proxy.Client{Address: "h:1"}
	say := func(ms int64, v byte) said {
		return said{proxy.Exchange{Client: c, Start: ms * 1e6, End: ms*1e6 + 1e6, Values: []proxy.Value{{Bytes: []byte{0, 0, 0, v}}}}, st}
	}
	m := mine(t, []said{say(0, 1), say(10, 1), say(20, 2), say(200, 1)}, nil)
	m.Feeds()
	if s := m.Statistics(); s.Duplicates != 1 || s.Parameters != 1 || s.Observed != 4 {
		t.Errorf("%+v", s)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var s state
	s.init(1)
	st := func(i int) *Statement {
		return &Statement{Fingerprint: fmt.Sprint(i), Variables: []proxy.Column{col("t", "a", true, tInt)}, Results: []proxy.Column{col("t", "b", true, tInt)}}
	}
	for i := range 3 * maxParameters {
		e := s.decode(&sample{statement: st(i), process: uint64(i % 100), t0: int64(i) * 1e6, t1: int64(i)*1e6 + 1, names: []string{""},
			values: [][]byte{binary.BigEndian.AppendUint32(nil, uint32(i))}, response: body(1, [][][]byte{{{0, 0, 0, 2}}})})
		s.add(e)
	}
	s.flush()
	if len(s.parameters) > maxParameters || len(s.processes) > maxProcesses || s.refused == 0 || len(s.pending) != 0 {
		t.Errorf("%d parameters, %d processes, %d refused, %d pending", len(s.parameters), len(s.processes), s.refused, len(s.pending))
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
		mine(b, all, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/exchange")
}

// TestWindowHasABudget: a busy application closes its window before its time, and the next one opens all the same; warming
// up and extra windows are not cut short.
func TestWindowHasABudget(t *testing.T) {
	m := New(Options{Window: 2 * time.Second, Period: 40 * time.Second, Warm: 5, Budget: 3, Ticks: make(chan time.Time)})
	defer m.Close()
	st := &Statement{Fingerprint: "f", Variables: []proxy.Column{{Name: "v"}}}
	look := func(n int) {
		for range n {
			for m.Observe(&proxy.Exchange{Client: &proxy.Client{}}, st); len(m.full) > 0; {
				time.Sleep(time.Millisecond) // the miner has room again
			}
		}
	}
	at := func(d time.Duration) bool { m.tick(m.started.Add(d)); return m.Open() }
	at(0)
	if look(5); !m.Open() {
		t.Error("closed while it warms up")
	}
	if at(9*time.Second) || !at(40*time.Second) {
		t.Error("the windows do not follow the clock")
	}
	look(2)
	if !m.Open() || !at(41*time.Second) {
		t.Error("closed before its budget is spent")
	}
	if look(1); m.Open() || at(41500*time.Millisecond) {
		t.Error("open after its budget was spent")
	}
	if !at(80 * time.Second) {
		t.Error("the next window does not open")
	}
	m.Extra(m.started.Add(100 * time.Second))
	at(100 * time.Second)
	if look(9); !m.Open() {
		t.Error("an extra window has a budget")
	}
}

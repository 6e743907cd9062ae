package capture

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(closing{m}, cassandratest.Outliving()) }

// closing closes what a process has once, when the tests are done.
type closing struct{ *testing.M }

func (c closing) Run() int {
	defer trees().Close()
	return c.M.Run()
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func registry(t testing.TB, o Options) *Registry {
	now := start
	if o.Now == nil {
		o.Now = func() time.Time { now = now.Add(time.Second); return now }
	}
	o.Windows.Ticks = make(chan time.Time)
	o.Windows.Seed = 1
	o.Windows.Off = o.Windows.Queue == 0 // who looks at values says how many may wait
	r := New(o)
	t.Cleanup(r.Close)
	return r
}

var ignoreBorn = cmpopts.IgnoreFields(Statement{}, "Born")

var client = &proxy.Client{ID: 3, Address: "127.0.0.1:50000"}

func exchange(us int64) *proxy.Exchange {
	return &proxy.Exchange{Client: client, Opcode: proxy.OpExecute, Start: 1e9, End: 1e9 + us*1000, RequestBytes: 100, ResponseBytes: 1000, Rows: 2, Manner: proxy.Manner{Consistency: 6}}
}

func TestStatementsThatDifferInLiteralsOnlyAreOne(t *testing.T) {
	r := registry(t, Options{})
	a := r.Statement("hotel", "SELECT * FROM guests WHERE guest_id = 1")
	for _, same := range []string{
		"select * from hotel.guests where guest_id=2;",
		"SELECT * FROM guests /* who */ WHERE guest_id = ?",
		"SELECT * FROM guests WHERE guest_id = 1",
	} {
		if r.Statement("hotel", same) != a {
			t.Errorf("%q has another record", same)
		}
	}
	if r.Statement("motel", "SELECT * FROM guests WHERE guest_id = 1") == a {
		t.Error("two keyspaces share a record")
	}
}

// TestNormalisedTextIsAStatement: what is kept of a statement parses, and is the same statement.
func TestNormalisedTextIsAStatement(t *testing.T) {
	r := registry(t, Options{})
	for _, text := range []string{
		"SELECT a, writetime(b) AS w FROM t WHERE k IN (1, 2, 3) AND c > 'x' ORDER BY c DESC LIMIT 10 ALLOW FILTERING",
		"SELECT JSON * FROM \"T\" WHERE token(k) > -5 PER PARTITION LIMIT 2",
		"INSERT INTO t (k, m) VALUES (uuid(), {'a': 1, 'b': 2}) IF NOT EXISTS USING TTL 5",
		"UPDATE t USING TIMESTAMP 7 SET l = l + [1, 2], m['x'] = 3 WHERE k = 0xAB IF l = null",
		"DELETE m['x'], l[0] FROM t WHERE k = 1 AND c >= 1",
		"BEGIN COUNTER BATCH UPDATE n SET c = c + 1 WHERE k = 1; UPDATE n SET c = c + 2 WHERE k = 2; APPLY BATCH",
	} {
		first := r.Statement("k", text).(*record)
		if _, err := (&Statement{Text: first.description.Load().text}).Parse(); err != nil {
			t.Errorf("%s\nis normalised to\n%s\nwhich does not parse: %v", text, first.description.Load().text, err)
		}
		if again := r.Statement("other", first.description.Load().text); again != first {
			t.Errorf("%s\nis another statement when it is normalised:\n%s\n%s", text, first.description.Load().text, again.(*record).description.Load().text)
		}
	}
}

func TestLiteralsAreNotKept(t *testing.T) {
	r := registry(t, Options{})
	for _, text := range []string{
		"SELECT * FROM guests WHERE name = 'secret-1'",
		"INSERT INTO guests (id, tags) VALUES ('secret-2', {'secret-3': 'secret-4'})",
		"this does not parse 'secret-5' 4711",
		"CREATE ROLE bob WITH PASSWORD = 'secret-8' AND LOGIN = true",
		"ALTER USER bob WITH PASSWORD $$secret-9$$",
		"SELECT * FROM t WHERE a = 'secret-10' AND /* secret-11 */ b = 'unfinished secret-12",
		"BEGIN BATCH UPDATE t SET a = 'secret-6' WHERE b = 'secret-7'; APPLY BATCH",
	} {
		r.Statement("hotel", text).Done([]proxy.Exchange{*exchange(5)})
	}
	b, err := json.Marshal(r.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); strings.Contains(s, "secret") || strings.Contains(s, "4711") {
		t.Errorf("a literal is in the snapshot: %s", s)
	}
}

func TestCounters(t *testing.T) {
	r := registry(t, Options{})
	rec := r.Statement("hotel", "UPDATE rooms SET state = ? WHERE room_id = ? IF state = ?")
	rec.Prepared(&proxy.Prepared{Text: "...", Variables: []proxy.Column{{Keyspace: "hotel", Table: "rooms", Name: "state", Type: proxy.Type{Code: 13}}}})
	x := exchange(100)
	x.Applied = proxy.Applied
	rec.Done([]proxy.Exchange{*x})
	x = exchange(200)
	x.Applied, x.Warnings, x.SerialConsistency = proxy.NotApplied, 1<<1, 9
	x.Failed, x.ErrorCode, x.Consistency, x.Serial, x.Warned, x.Paged, x.MorePages, x.Rewritten, x.Rows, x.Stamped = true, 0x1700, 99, true, true, true, true, true, -1, true
	rec.Done([]proxy.Exchange{*x})
	x = exchange(300)
	x.InBatch, x.Failed, x.ErrorCode = true, true, 0x4242
	rec.Done([]proxy.Exchange{*x})

	s := r.Snapshot()
	if len(s.Statements) != 1 {
		t.Fatalf("%d statements", len(s.Statements))
	}
	got := s.Statements[0]
	if _, err := got.Parse(); err != nil {
		t.Errorf("the normalised text %q does not parse: %v", got.Text, err)
	}
	if got.Fingerprint == "" || s.Statement(got.Fingerprint) == nil {
		t.Errorf("fingerprint %q is not found", got.Fingerprint)
	}
	want := Statement{
		Fingerprint: got.Fingerprint, Keyspace: "hotel", Table: "rooms", Kind: "update", Text: got.Text,
		Count: 3, Errors: 2, ErrorCodes: TallyOf(map[string]uint64{"cas_write_unknown": 1, "other": 1}),
		Latency:       histogram.Distribution{Count: 2, Sum: 300, Buckets: []histogram.Bucket{{Low: 100, Count: 1}, {Low: 200, Count: 1}}},
		RequestBytes:  histogram.Distribution{Count: 2, Sum: 200, Buckets: []histogram.Bucket{{Low: 100, Count: 2}}},
		ResponseBytes: histogram.Distribution{Count: 2, Sum: 2000, Buckets: []histogram.Bucket{{Low: 992, Count: 2}}},
		Rows:          histogram.Distribution{Count: 1, Sum: 2, Buckets: []histogram.Bucket{{Low: 2, Count: 1}}},
		Consistency:   TallyOf(map[string]uint64{"LOCAL_QUORUM": 2, "UNKNOWN": 1}),
		Conditional:   true, InBatch: 1, Paged: 1, MorePages: 1, Serial: 1, Warned: 1, Rewritten: 1, Stamped: 1,
		RewrittenLatency: histogram.Distribution{Count: 1, Sum: 200, Buckets: []histogram.Bucket{{Low: 200, Count: 1}}},
		Variables:        []Column{{Keyspace: "hotel", Table: "rooms", Name: "state", Type: proxy.Type{Code: 13}}},
		Warnings:         TallyOf(map[string]uint64{"tombstones": 1}), SerialConsistency: TallyOf(map[string]uint64{"LOCAL_SERIAL": 1}), Applied: 1, NotApplied: 1,
		Callers: []Share{{Caller: Caller{Rest: true}, Count: 3, Errors: 2, Micros: 300}},
		First:   got.First, Last: got.Last, Described: got.Last,
	}
	if d := cmp.Diff(want, got, ignoreBorn); d != "" {
		t.Error(d)
	}
	original := histogram.Distribution{Count: 1, Sum: 100, Buckets: []histogram.Bucket{{Low: 100, Count: 1}}}
	if d := cmp.Diff(original, got.OriginalLatency()); d != "" {
		t.Error("latency of what Cassandra answered: " + d)
	}
	if got.First.Before(start) || got.Last.Before(got.First) {
		t.Errorf("first %v, last %v", got.First, got.Last)
	}
}

func TestEveryErrorCodeHasItsPlace(t *testing.T) {
	for code, name := range map[int32]string{
		0x0000: "server", 0x000A: "protocol", 0x0100: "credentials", 0x1000: "unavailable", 0x1001: "overloaded", 0x1002: "bootstrapping",
		0x1003: "truncate", 0x1100: "write_timeout", 0x1200: "read_timeout", 0x1300: "read_failure", 0x1400: "function_failure",
		0x1500: "write_failure", 0x1600: "cdc_write_failure", 0x1700: "cas_write_unknown", 0x2000: "syntax", 0x2100: "unauthorized",
		0x2200: "invalid", 0x2300: "config", 0x2400: "already_exists", 0x2500: "unprepared", 0x9999: "other", -1: "other",
	} {
		if got := proxy.ErrorNames[proxy.ErrorPlace(code)]; got != name {
			t.Errorf("%#x is counted as %s, want %s", code, got, name)
		}
	}
}

func TestFullRegistryCountsTheRestAsOther(t *testing.T) {
	r := registry(t, Options{Fingerprints: 3, Texts: 16})
	for i := range 10 {
		r.Statement("k", fmt.Sprintf("SELECT a FROM t%d", i)).Done([]proxy.Exchange{*exchange(10)})
	}
	r.Statement("k", "SELECT '"+strings.Repeat("x", maxText)+"' FROM t").Done([]proxy.Exchange{*exchange(10)})
	s := r.Snapshot()
	if len(s.Statements) != 3 || s.Other.Count != 8 {
		t.Errorf("%d statements, %d others", len(s.Statements), s.Other.Count)
	}
	if got := testutil.CollectAndCount(r, "helenus_statement_executions_total"); got != 4 {
		t.Errorf("%d series of executions, want 3 and other", got)
	}
}

func TestBatchOfEqualChildrenIsOneStatement(t *testing.T) {
	r := registry(t, Options{})
	a := r.Statement("k", "INSERT INTO t (a) VALUES (?)")
	b := r.Statement("k", "UPDATE u SET x = ? WHERE y = ?")
	two := r.Batch(1, []proxy.Record{a, a})
	if two != r.Batch(1, []proxy.Record{a, a, a, a}) {
		t.Error("length makes a difference")
	}
	if two == r.Batch(0, []proxy.Record{a}) || two == r.Batch(1, []proxy.Record{a, b}) {
		t.Error("kind or children make no difference")
	}
	if text := r.Statement("", "BEGIN UNLOGGED BATCH INSERT INTO k.t (a) VALUES (1); INSERT INTO k.t (a) VALUES (2) APPLY BATCH"); text != two {
		t.Errorf("the same batch as a text is %q, not %q", text.(*record).description.Load().text, two.(*record).description.Load().text)
	}
	if got := two.(*record).description.Load(); got.table != "t" || got.keyspace != "k" {
		t.Errorf("the batch is about %s.%s", got.keyspace, got.table)
	}
	if r.Batch(0, nil) == nil {
		t.Error("an empty batch has no record")
	}
	children := []proxy.Record{a, b, a}
	r.Batch(0, children)
	if n := testing.AllocsPerRun(100, func() { r.Batch(0, children) }); n != 0 {
		t.Errorf("%v allocations for a known batch", n)
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	r := registry(t, Options{})
	const text = "SELECT * FROM hotel.reservations WHERE guest_id = 7f3a7f3a-0000-0000-0000-000000000001 ALLOW FILTERING"
	rec := r.Statement("hotel", text)
	xs := []proxy.Exchange{*exchange(100)}
	for range hotAfter + 1 {
		rec.Done(xs)
	}
	if n := testing.AllocsPerRun(1000, func() { rec.Done(xs) }); n != 0 {
		t.Errorf("Done: %v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() { r.Statement("hotel", text) }); n != 0 {
		t.Errorf("Statement, known text: %v allocations", n)
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	r := registry(t, Options{Texts: 64, Now: time.Now})
	var wg sync.WaitGroup
	const writers, each = 8, 3000
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := exchange(50)
			x.Client = &proxy.Client{ID: uint64(w)}
			for i := range each {
				r.Statement("k", fmt.Sprintf("SELECT a FROM t WHERE b = %d", i)).Done([]proxy.Exchange{*x})
				if i%1000 == 0 {
					r.Snapshot()
				}
			}
		}()
	}
	wg.Wait()
	s := r.Snapshot()
	if len(s.Statements) != 1 || s.Statements[0].Count != writers*each || s.Statements[0].Latency.Count != writers*each {
		t.Errorf("counted %+v", s.Statements)
	}
}

func TestSnapshotSinceAndMerge(t *testing.T) {
	r := registry(t, Options{})
	say := func(table string, us int64) {
		r.Statement("k", "SELECT a FROM "+table).Done([]proxy.Exchange{*exchange(us)})
	}
	say("a", 10)
	say("b", 20)
	first := r.Snapshot()
	say("b", 30)
	say("c", 40)
	second := r.Snapshot()

	window := second.Since(first)
	tables := map[string]uint64{}
	for _, s := range window.Statements {
		tables[s.Table] = s.Count
	}
	if d := cmp.Diff(map[string]uint64{"b": 1, "c": 1}, tables); d != "" {
		t.Errorf("window: %s", d)
	}
	if !window.From.Equal(first.To) || !window.To.Equal(second.To) {
		t.Errorf("window from %v to %v", window.From, window.To)
	}
	for _, merged := range []*Snapshot{first.Merge(window), window.Merge(first)} {
		if d := cmp.Diff(second, merged, ignoreBorn); d != "" {
			t.Errorf("first and window are not second: %s", d)
		}
	}
	if second.Since(nil) != second || second.Merge(nil) != second {
		t.Error("nil is not nothing")
	}
	var back Snapshot
	b, err := json.Marshal(second)
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if d := cmp.Diff(second, &back, ignoreBorn); d != "" || err != nil {
		t.Errorf("JSON there and back: %v %s", err, d)
	}
}

func TestMetrics(t *testing.T) {
	r := registry(t, Options{})
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(r); err != nil {
		t.Fatal(err)
	}
	x := exchange(100)
	x.Failed, x.ErrorCode = true, 0x1100
	for i := range metricStatements + 5 {
		r.Statement("k\xff\n", fmt.Sprintf("SELECT a FROM t%d", i)).Done([]proxy.Exchange{*x})
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]int{}
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", f.GetName())
		}
	}
	if n := series["helenus_statement_latency_seconds"]; n != metricStatements+1 {
		t.Errorf("%d series of latency", n)
	}
	if n := series["helenus_table_executions_total"]; n != metricStatements+5 {
		t.Errorf("%d series of tables", n)
	}
	all := 0
	for name, n := range series {
		if strings.HasPrefix(name, "helenus_statement_") || strings.HasPrefix(name, "helenus_table_") {
			if all += n; name == "helenus_statement_latency_seconds" {
				all += n * (len(latencyEdges) + 2)
			}
		}
	}
	if all > metricSeries {
		t.Errorf("%d series", all)
	}
	want := strings.NewReader("# HELP helenus_capture_statements Different statements known.\n# TYPE helenus_capture_statements gauge\nhelenus_capture_statements 205\n")
	if err := testutil.GatherAndCompare(reg, want, "helenus_capture_statements"); err != nil {
		t.Error(err)
	}
}

// TestTableIsMadeAnew: after DROP and CREATE under the same name, with other types, the statement is the same, its counts go on, and
// its columns are those of the new table.
func TestTableIsMadeAnew(t *testing.T) {
	r := registry(t, Options{})
	p := func(code uint16) *proxy.Prepared {
		return &proxy.Prepared{Keyspace: "k", Text: "SELECT a FROM t WHERE b = ?", Variables: []proxy.Column{{Name: "b", Type: proxy.Type{Code: code}}}}
	}
	rec := r.Statement("k", p(9).Text)
	rec.Prepared(p(9))
	rec.Done([]proxy.Exchange{*exchange(5)})
	first := r.Snapshot()
	rec.Prepared(p(13))
	rec.Done([]proxy.Exchange{*exchange(5)})
	s := conserved(t, r, 2)
	if got := s.Statements[0]; len(s.Statements) != 1 || got.Count != 2 || got.Variables[0].Type.Code != 13 {
		t.Errorf("%+v", s.Statements)
	}
	if first.Statements[0].Variables[0].Type.Code != 9 {
		t.Error("an earlier snapshot was changed")
	}
	if used, _ := r.Memory(); used != rec.(*record).bytes.Load()+r.other.bytes.Load()+r.unknown.bytes.Load() {
		t.Errorf("%d bytes", used)
	}
}

func TestFeedsReachTheSnapshot(t *testing.T) {
	r := registry(t, Options{Windows: window.Options{Queue: 4096}})
	uuid := proxy.Type{Code: 0x000C}
	rooms := r.Statement("hotel", "SELECT room_id FROM rooms WHERE hotel_id = ?")
	rooms.Prepared(&proxy.Prepared{Variables: []proxy.Column{{Keyspace: "hotel", Table: "rooms", Name: "hotel_id", Type: uuid}},
		Results: []proxy.Column{{Keyspace: "hotel", Table: "rooms", Name: "room_id", Type: uuid}}})
	reservations := r.Statement("hotel", "SELECT * FROM reservations WHERE room_id = ?")
	reservations.Prepared(&proxy.Prepared{Variables: []proxy.Column{{Keyspace: "hotel", Table: "reservations", Name: "room_id", Type: uuid}}})
	if !r.Sampling(client) {
		t.Fatal("a new registry does not sample")
	}
	now := int64(0)
	id := func(kind, n int) []byte { return []byte(fmt.Sprintf("%08d%08d", kind, n)) }
	for page := range 400 {
		body := []byte{0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 3}
		for i := range 3 {
			body = append(append(body, 0, 0, 0, 16), id(2, page*3+i)...)
		}
		rooms.Done([]proxy.Exchange{{Client: client, Start: now, End: now + 1e6, Rows: 3, Values: []proxy.Value{{Bytes: id(1, page)}}, Response: body}})
		for i := range 3 {
			now += 2e6
			reservations.Done([]proxy.Exchange{{Client: client, Start: now, End: now + 1e6, Values: []proxy.Value{{Bytes: id(2, page*3+i)}}}})
		}
		now += 20e6
		if page%100 == 99 {
			r.Windows().Feeds() // the miner keeps up
		}
	}
	s := r.Snapshot()
	if len(s.Feeds) != 1 {
		t.Fatalf("feeds: %+v", s.Feeds)
	}
	f := s.Feeds[0]
	if f.From.Column != "room_id" || f.From.Table != "rooms" || f.To.Table != "reservations" || f.Shape != feed.NPlusOne || f.PerExecution < 2.9 {
		t.Errorf("feed: %+v", f)
	}
	if s.Statement(f.From.Fingerprint) == nil || s.Statement(f.To.Fingerprint) == nil {
		t.Error("the feed's fingerprints are not in the snapshot")
	}
}

// TestExchangesTogetherAreCountedAsOneByOne: what is said together of several exchanges counts as if each had been said alone.
func TestExchangesTogetherAreCountedAsOneByOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := func() time.Time { return start }
		one, many := registry(t, Options{Now: now}), registry(t, Options{Now: now})
		var xs []proxy.Exchange
		for range rapid.IntRange(1, 20).Draw(rt, "n") {
			x := *exchange(int64(rapid.IntRange(0, 3000).Draw(rt, "us")))
			x.Consistency, x.Paged, x.Rows = uint16(rapid.IntRange(0, 2).Draw(rt, "level")), rapid.Bool().Draw(rt, "paged"), rapid.IntRange(-1, 3).Draw(rt, "rows")
			if x.Failed = rapid.IntRange(0, 5).Draw(rt, "fails") == 0; x.Failed {
				x.ErrorCode = 0x1200
			}
			if x.Warned = rapid.IntRange(0, 5).Draw(rt, "warned") == 0; x.Warned {
				x.Warnings = 6
			}
			x.Stamped = rapid.Bool().Draw(rt, "stamped")
			x.Applied, x.SerialConsistency = byte(rapid.IntRange(0, 2).Draw(rt, "applied")), uint16(rapid.IntRange(7, 9).Draw(rt, "serial"))
			x.Serial, x.MorePages = rapid.Bool().Draw(rt, "serially"), rapid.Bool().Draw(rt, "more")
			x.Rewritten, x.InBatch = rapid.IntRange(0, 5).Draw(rt, "rewritten") == 0, rapid.IntRange(0, 5).Draw(rt, "in batch") == 0
			x.RequestBytes, x.ResponseBytes = rapid.IntRange(0, 100).Draw(rt, "request"), rapid.IntRange(0, 100).Draw(rt, "response")
			x.Hash = uint64(16 * rapid.IntRange(1, 3).Draw(rt, "hash"))
			xs = append(xs, x)
			for range rapid.IntRange(0, 3).Draw(rt, "alike") { // but for one thing, or nothing
				y := x
				switch rapid.IntRange(0, 9).Draw(rt, "what differs") {
				case 0:
					y.Start -= 1e6
				case 1:
					y.RequestBytes++
				case 2:
					y.ResponseBytes++
				case 3:
					y.Rows++
				case 4:
					y.Hash += 16
				case 5:
					y.Consistency++
				case 6:
					y.MorePages = !y.MorePages
				default:
				}
				xs = append(xs, y)
			}
		}
		a, b := one.Statement("k", "SELECT a FROM t"), many.Statement("k", "SELECT a FROM t")
		for i := range xs {
			a.Done(xs[i : i+1])
		}
		b.Done(xs)
		if d := cmp.Diff(one.Counts(), many.Counts(), cmpopts.IgnoreFields(Statement{}, "Last")); d != "" {
			rt.Fatal(d)
		}
	})
}

// TestPicturesAreUsedAgain: a snapshot that takes from the one before what was not executed since is the same as one that does not, whatever
// is executed, described anew, forgotten and known again in between; and the one before stays as it was.
func TestPicturesAreUsedAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := registry(t, Options{Fingerprints: rapid.IntRange(2, 12).Draw(rt, "room"), Texts: 16, Now: func() time.Time { return start }})
		var before *Snapshot
		var copied []byte
		for range rapid.IntRange(1, 12).Draw(rt, "snapshots") {
			for range rapid.IntRange(0, 6).Draw(rt, "said") {
				x := exchange(int64(rapid.IntRange(0, 3000).Draw(rt, "us")))
				x.Client = &proxy.Client{Application: rapid.SampledFrom([]string{"", "shop", "etl"}).Draw(rt, "application")}
				x.Client.Mark = r.Mark(x.Client)
				rec := r.Statement("k", fmt.Sprintf("SELECT a FROM t%d WHERE b = ?", rapid.IntRange(0, 15).Draw(rt, "statement")))
				switch rapid.IntRange(0, 3).Draw(rt, "what") {
				case 0:
					rec.Prepared(&proxy.Prepared{Variables: []proxy.Column{{Name: "b", Type: proxy.Type{Code: uint16(rapid.IntRange(9, 10).Draw(rt, "type"))}}}})
				default:
					rec.Done([]proxy.Exchange{*x})
				}
			}
			s := r.Counts()
			for _, x := range r.sorted {
				x.place = 0
			}
			if d := cmp.Diff(r.Counts(), s); d != "" {
				rt.Fatalf("a picture that was used again: %s", d)
			}
			if before != nil {
				if now, _ := json.Marshal(before); string(now) != string(copied) {
					rt.Fatal("an earlier snapshot was changed")
				}
			}
			before = s
			copied, _ = json.Marshal(s)
		}
	})
}

// A text that nobody said before, and that differs from another in its values alone, is counted with it and not parsed.
func TestOnlyNewShapesAreParsed(t *testing.T) {
	r := registry(t, Options{})
	said := func(keyspace, text string) proxy.Record {
		rec := r.Statement(keyspace, text)
		rec.Done([]proxy.Exchange{*exchange(100)})
		return rec
	}
	first := said("k", "SELECT a FROM t WHERE id = 'x' AND n IN (1, 2)")
	before := r.parsed.Load()
	for i := range 1000 {
		text := fmt.Sprintf("select a from t -- %d\n where id='%d' and n in (%d,%d)", i, i, i, -i)
		if rec := said("k", text); rec != first {
			t.Fatalf("%s has another record", text)
		}
	}
	if n := r.parsed.Load() - before; n != 0 {
		t.Errorf("%d texts of a known shape were parsed", n)
	}
	for _, other := range []string{"SELECT a FROM t WHERE id = 'x' AND n > 1", `SELECT "A" FROM t WHERE id = 'x' AND n IN (1, 2)`} {
		if said("k", other) == first {
			t.Errorf("%s is counted with another statement", other)
		}
	}
	if said("l", "SELECT a FROM t WHERE id = 'y' AND n IN (1, 2)") == first {
		t.Error("a statement is counted with that of another keyspace")
	}
	if n := r.Counts().Count(); n != 1004 {
		t.Errorf("%d exchanges counted of 1004", n)
	}
}

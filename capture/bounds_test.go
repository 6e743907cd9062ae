package capture

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
)

// conserved fails unless the registry counted n exchanges, wherever, and every kind of count agrees with that.
func conserved(t testing.TB, r *Registry, n uint64) *Snapshot {
	t.Helper()
	s := r.Counts()
	if got := s.Count(); got != n {
		t.Errorf("%d exchanges are counted of %d: %d under %d statements of their own, %d others, %d unknown",
			got, n, got-s.Other.Count-s.Unknown.Count, len(s.Statements), s.Other.Count, s.Unknown.Count)
	}
	for _, x := range append([]Statement{s.Other, s.Unknown}, s.Statements...) {
		var levels, said, micros uint64
		for _, level := range x.Consistency {
			levels += level.Count
		}
		for _, c := range x.Callers {
			said, micros = said+c.Count, micros+c.Micros
		}
		if levels != x.Count || said != x.Count || x.Latency.Count != x.Count-x.InBatch || micros != x.Latency.Sum {
			t.Errorf("%s: %d executions, %d consistency levels, %d of callers, %d latencies; %d us, %d of callers",
				x.Fingerprint, x.Count, levels, said, x.Latency.Count, x.Latency.Sum, micros)
		}
	}
	return s
}

// distinct is how many statements the flood has: 10 million if HELENUS_TEST_DISTINCT says so.
func distinct(t testing.TB) int {
	if v := os.Getenv("HELENUS_TEST_DISTINCT"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("HELENUS_TEST_DISTINCT: %v", err)
		}
		return n
	}
	return 40_000
}

// TestFlood: of many different statements, each said once, and a few that are said again and again among them, the few are kept with
// nearly all their counts, the sum is exact, and memory does not grow.
func TestFlood(t *testing.T) {
	n := distinct(t)
	records := max(1000, n/1000) // 10,000, as by default, of 10 million
	r := registry(t, Options{Fingerprints: records, Texts: 4096, Now: time.Now})
	const heavies = 100
	every := max(n/2000, 1) // each heavy one is said 2,000 times, or as often as there are others
	x := exchange(500)
	said := uint64(0)
	heavy := make([]uint64, heavies)
	var flat uint64
	began := time.Now()
	for i := range n {
		r.Statement("k", "SELECT a FROM made_up_"+strconv.Itoa(i)+" WHERE b = 'and a literal'").Done([]proxy.Exchange{*x})
		said++
		if i%every == 0 {
			for h := range heavy {
				// They begin in the midst of the flood, when the registry is full.
				if i >= n/10 {
					r.Statement("k", "SELECT a FROM heavy_"+strconv.Itoa(h)+" WHERE b = ?").Done([]proxy.Exchange{*x})
					heavy[h]++
					said++
				}
			}
		}
		if i == n/2 {
			flat = resident()
		}
	}
	took := time.Since(began)
	after := resident()
	s := conserved(t, r, said)
	kept := map[string]uint64{}
	for _, st := range s.Statements {
		kept[st.Table] = st.Count
	}
	for h, want := range heavy {
		if got := kept["heavy_"+strconv.Itoa(h)]; got < want*8/10 {
			t.Errorf("of %d executions of heavy statement %d its record has %d", want, h, got)
		}
	}
	used, most := r.Memory()
	t.Logf("%d statements in %v: %d records of %.1f MB, %d forgotten, floor %.0f; heap %.1f MB half way, %.1f MB at the end; other has %d of %d",
		n, took, len(s.Statements), float64(used)/1e6, r.forgotten.Load(), r.floor, float64(flat)/1e6, float64(after)/1e6, s.Other.Count, said)
	if used > most || len(s.Statements) > records {
		t.Errorf("%d records take %d bytes", len(s.Statements), used)
	}
	if after > flat+16<<20 {
		t.Errorf("the heap grew from %d to %d bytes in the second half", flat, after)
	}
	for _, st := range s.Statements {
		if st.Text == "" {
			t.Fatalf("a record without a text: %+v", st)
		}
	}
}

func resident() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryIsBounded: statements that take much memory each (long texts, numbers of every size) are forgotten before all of them
// take more than they may.
func TestMemoryIsBounded(t *testing.T) {
	const memory = 4 << 20
	r := registry(t, Options{Memory: memory, Now: time.Now})
	said := uint64(0)
	for i := range 2000 {
		x := r.Statement("k", fmt.Sprintf("SELECT a FROM t%d WHERE b%0*d = 1", i, 1+i%5000, 0))
		for e := range 20 {
			y := exchange(1 << e)
			y.ResponseBytes, y.Rows = 1<<e, 1<<e
			x.Done([]proxy.Exchange{*y})
			said++
		}
	}
	r.work.Wait()
	s := conserved(t, r, said)
	if used, _ := r.Memory(); used > memory/2+64<<10 || used <= 0 {
		t.Errorf("%d records take %d bytes of %d", len(s.Statements), used, memory/2)
	}
	var sum int64
	for _, x := range r.records {
		sum += x.bytes.Load()
	}
	if used, _ := r.Memory(); sum+r.other.bytes.Load()+r.unknown.bytes.Load() != used {
		t.Errorf("the records take %d bytes, the registry says %d", sum, used)
	}
}

// TestForgottenWhileCounting: writers hold records that are forgotten under their hands, and nothing is lost.
func TestForgottenWhileCounting(t *testing.T) {
	r := registry(t, Options{Fingerprints: 32, Texts: 64, Now: time.Now})
	const writers, each = 6, 4000
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			x := exchange(50)
			x.Client = &proxy.Client{ID: uint64(w), Mark: r.Mark(&proxy.Client{Application: "a" + strconv.Itoa(w)})}
			held := make([]proxy.Record, 50)
			texts := make([]string, len(held))
			for i := range held {
				texts[i] = fmt.Sprintf("SELECT a FROM t%d WHERE b = ?", i)
				held[i] = r.Statement("k", texts[i])
			}
			for i := range each {
				at := (i*i + w) % len(held)
				x.Prepared = &proxy.Prepared{Keyspace: "k", Text: texts[at], Variables: []proxy.Column{{Name: "b"}}}
				held[at].Done([]proxy.Exchange{*x})
				if i%100 == 0 {
					if s := r.Counts(); s.Count() > writers*each {
						t.Errorf("a snapshot has %d exchanges", s.Count())
					}
				}
			}
		})
	}
	wg.Wait()
	conserved(t, r, writers*each)
	if r.forgotten.Load() == 0 {
		t.Error("nothing was forgotten")
	}
}

// TestPreparedStatementComesBack: a prepared statement that is forgotten, while the proxy holds its old record, and then used much,
// gets a record again, with its columns.
func TestPreparedStatementComesBack(t *testing.T) {
	r := registry(t, Options{Fingerprints: 20, Texts: 64, Now: time.Now})
	p := &proxy.Prepared{Keyspace: "k", Text: "SELECT a FROM mine WHERE b = ?", Variables: []proxy.Column{{Name: "b"}}}
	held := r.Statement(p.Keyspace, p.Text)
	held.Prepared(p)
	said := uint64(0)
	for i := range 1000 {
		y := exchange(10)
		y.End += 5e6
		for range 3 {
			r.Statement("k", fmt.Sprintf("SELECT a FROM t%d", i)).Done([]proxy.Exchange{*y})
			said++
		}
	}
	if !held.(*record).gone.Load() {
		t.Fatal("the statement was not forgotten")
	}
	x := exchange(2000)
	x.Prepared = p
	for range 100 {
		held.Done([]proxy.Exchange{*x})
		said++
	}
	s := conserved(t, r, said)
	for _, st := range s.Statements {
		if st.Table == "mine" {
			if st.Count < 50 || len(st.Variables) != 1 || st.Text != "SELECT a FROM k.mine WHERE b = ?" {
				t.Errorf("it came back as %+v", st)
			}
			if b := r.Batch(0, []proxy.Record{held}); b == r.other {
				t.Error("a batch of it is counted as other")
			}
			return
		}
	}
	t.Errorf("it did not come back; %d records", len(s.Statements))
}

// TestWindowsAddUp: whatever is forgotten and known again between two snapshots, the windows have every exchange once.
func TestWindowsAddUp(t *testing.T) {
	r := registry(t, Options{Fingerprints: 16, Texts: 32, Now: time.Now})
	var before *Snapshot
	sum := &Snapshot{Statements: []Statement{}}
	said := uint64(0)
	for i := range 5000 {
		y := exchange(int64(i % 3000))
		if i%7 == 0 {
			y.Failed, y.ErrorCode = true, 0x1100
		}
		r.Statement("k", fmt.Sprintf("SELECT a FROM t%d", i*i%97)).Done([]proxy.Exchange{*y})
		said++
		if i%250 == 249 {
			now := r.Counts()
			window := now.Since(before)
			if window.Count() > 250 {
				t.Errorf("250 exchanges make a window of %d", window.Count())
			}
			sum, before = sum.Merge(window), now
		}
	}
	total := conserved(t, r, said)
	var errors, latencies, micros uint64
	for _, x := range append([]Statement{sum.Other}, sum.Statements...) {
		errors, latencies, micros = errors+x.Errors, latencies+x.Latency.Count, micros+x.Latency.Sum
	}
	if sum.Count() != said || errors != 715 || latencies != said {
		t.Errorf("the windows have %d exchanges, %d errors, %d latencies; %d were said", sum.Count(), errors, latencies, total.Count())
	}
	if r.forgotten.Load() < 10 {
		t.Errorf("%d were forgotten", r.forgotten.Load())
	}
}

// TestOldWeightFades: a statement that was heavy yesterday makes room for those of today.
func TestOldWeightFades(t *testing.T) {
	now := start
	r := registry(t, Options{Fingerprints: 10, Texts: 32, Now: func() time.Time { return now }})
	for range 500 {
		r.Statement("k", "SELECT a FROM yesterday").Done([]proxy.Exchange{*exchange(0)})
	}
	say := func(times int) {
		for range times {
			for i := range 30 {
				r.Statement("k", fmt.Sprintf("SELECT a FROM today%d", i)).Done([]proxy.Exchange{*exchange(0)})
			}
		}
	}
	has := func(table string) bool {
		for _, s := range r.Counts().Statements {
			if s.Table == table {
				return true
			}
		}
		return false
	}
	say(20)
	if !has("yesterday") {
		t.Error("the heaviest statement was forgotten")
	}
	now = now.Add(24 * time.Hour)
	say(40)
	if has("yesterday") {
		t.Error("it is kept for ever")
	}
	now = now.Add(-48 * time.Hour) // a clock that is set back does no harm
	say(40)
	conserved(t, r, 500+100*30)
}

// TestTextsAreLetGo: a record keeps its normalised text and the names in it, not the client's text with its literals, however long
// that is.
func TestTextsAreLetGo(t *testing.T) {
	r := registry(t, Options{})
	const n, size = 40, 256 << 10
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range n {
		secret := strings.Repeat("s", size)
		for _, text := range []string{
			"SELECT a FROM shop.t%d WHERE k = '%s' AND c > 5", "INSERT INTO shop.u%d (k, v) VALUES ('%s', 1)", "UPDATE shop.v%d SET v = '%s' WHERE k = 1", "DELETE FROM shop.w%d WHERE k = '%s'",
		} {
			r.Statement("k", fmt.Sprintf(text, i, secret)).Done([]proxy.Exchange{*exchange(10)})
		}
	}
	if after := heap(); after > before+4*n*size/2 {
		t.Errorf("%d kB are kept of %d kB of texts", (after-before)>>10, 4*n*size>>10)
	}
	if s := conserved(t, r, 4*n); len(s.Statements) != 4*n {
		t.Errorf("%d statements", len(s.Statements))
	}
}

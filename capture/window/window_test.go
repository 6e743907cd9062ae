package window

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	tInt  = 0x0009
	tText = 0x000D
)

func col(table, name string, code uint16) proxy.Column {
	return proxy.Column{Keyspace: "shop", Table: table, Name: name, Type: proxy.Type{Code: code}}
}

// body is a RESULT Rows body without metadata and kind.
func body(columns int, rows ...[][]byte) []byte {
	b := []byte{0, 0, 0, 4}
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

func number(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

func start(t testing.TB, o Options) (*Windows, *clock) {
	c := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	o.Now, o.Ticks = c.Now, make(chan time.Time)
	if o.Seed == 0 && o.Secret == "" {
		o.Seed = 7
	}
	w := New(o)
	t.Cleanup(w.Close)
	return w, c
}

var (
	orders = &trace.Statement{Fingerprint: "orders", Keyspace: "shop", Table: "orders", Variables: []proxy.Column{col("orders", "shop", tInt)},
		Results: []proxy.Column{col("orders", "buyer", tInt), col("orders", "state", tText)}, PartitionKey: []int{0}, Shape: "shop ="}
	users = &trace.Statement{Fingerprint: "users", Keyspace: "shop", Table: "users", Variables: []proxy.Column{col("users", "id", tInt)},
		Results: []proxy.Column{col("users", "name", tText)}, PartitionKey: []int{0}, Shape: "id ="}
)

// shopping says pages: the orders of a shop, then one of the buyers.
func shopping(w *Windows, from, to int) {
	c := &proxy.Client{ID: 1, Address: "10.0.0.1:1"}
	d := &proxy.Client{ID: 2, Address: "10.0.0.2:1"}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range to {
		buyer, shop := r.IntN(1_000_000), r.IntN(50)
		if i < from {
			continue
		}
		if i%2 == 0 {
			c, d = d, c
		}
		t := int64(i) * 20e6
		w.Observe(&proxy.Exchange{Client: c, Start: t, End: t + 1e6, Rows: 1, ResponseBytes: 40, Values: []proxy.Value{{Bytes: number(shop)}},
			Response: body(2, [][]byte{number(buyer), []byte([]string{"open", "paid"}[i%2])})}, orders)
		w.Observe(&proxy.Exchange{Client: c, Start: t + 2e6, End: t + 3e6, Rows: 1, ResponseBytes: 30, Values: []proxy.Value{{Bytes: number(buyer)}},
			Response: body(1, [][]byte{fmt.Appendf(nil, "secret name %d", buyer)})}, users)
		w.mu.Lock()
		w.catchUp()
		w.mu.Unlock()
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
	m := New(Options{Seed: 7, Window: 2 * time.Second, Period: 40 * time.Second, Warm: 10, Ticks: make(chan time.Time)})
	defer m.Close()
	at := func(d time.Duration) bool { m.tick(m.schedule.started.Add(d)); return m.Open() }
	if !at(0) {
		t.Error("closed at the start")
	}
	m.schedule.observed.Store(9)
	if !at(10*time.Second) || !at(100*time.Second) {
		t.Error("closed before it has warmed up")
	}
	m.schedule.observed.Store(10)
	if !at(5 * time.Second) {
		t.Error("closed before a few windows' time has been seen")
	}
	for d, want := range map[time.Duration]bool{12 * time.Second: false, 39 * time.Second: false, 41 * time.Second: true, 43 * time.Second: false} {
		if at(d) != want {
			t.Errorf("after %v: open is %t", d, !want)
		}
	}
	m.Extra(m.schedule.started.Add(50 * time.Second))
	m.Extra(m.schedule.started.Add(52 * time.Second)) // too soon
	if !m.Open() || !at(51*time.Second) || at(53*time.Second) {
		t.Error("the extra window is not 2 s long")
	}
}

func TestOff(t *testing.T) {
	m := New(Options{Off: true, Ticks: make(chan time.Time)})
	defer m.Close()
	m.Extra(m.schedule.started)
	if m.Open() {
		t.Error("open though it is off")
	}
	m.tick(m.schedule.started)
	if m.Open() {
		t.Error("open after a tick though it is off")
	}
}

// TestWindowHasABudget: a busy application closes its window before its time, and the next one opens all the same; warming
// up and extra windows are not cut short.
func TestWindowHasABudget(t *testing.T) {
	m := New(Options{Seed: 7, Window: 2 * time.Second, Period: 40 * time.Second, Warm: 5, Budget: 3, Ticks: make(chan time.Time)})
	defer m.Close()
	st := &trace.Statement{Fingerprint: "f", Variables: []proxy.Column{{Name: "v"}}}
	look := func(n int) {
		for range n {
			for m.Observe(&proxy.Exchange{Client: &proxy.Client{}}, st); len(m.ring.full) > 0; {
				time.Sleep(time.Millisecond) // the miner has room again
			}
		}
	}
	at := func(d time.Duration) bool { m.tick(m.schedule.started.Add(d)); return m.Open() }
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
	m.Extra(m.schedule.started.Add(100 * time.Second))
	at(100 * time.Second)
	if look(9); !m.Open() {
		t.Error("an extra window has a budget")
	}
}

// TestClocksThatJump: whatever the clock says, windows open and close.
func TestClocksThatJump(t *testing.T) {
	w, c := start(t, Options{Warm: 1})
	shopping(w, 0, 600)
	for _, jump := range []time.Duration{-100 * time.Hour, 1000 * time.Hour, -time.Hour, time.Nanosecond} {
		c.move(jump)
		open := 0
		for range 160 {
			if w.tick(c.move(500 * time.Millisecond)); w.Open() {
				open++
			}
		}
		if open == 0 || open > 40 {
			t.Errorf("after a jump of %v: open at %d of 160 ticks", jump, open)
		}
		w.Findings()
	}
}

// TestWindowsAdapt: they come twice as often as long as something that is said is known too little of.
func TestWindowsAdapt(t *testing.T) {
	w, c := start(t, Options{Warm: 1})
	page := 0
	opened := func() (n int) { // in the next ten minutes
		before := w.Open()
		for range 1200 {
			w.tick(c.move(500 * time.Millisecond))
			if now := w.Open(); now != before {
				before = now
				if now {
					n++
					page += 100
					shopping(w, page, page+2) // something is bound in every window
				}
			}
		}
		return n
	}
	shopping(w, 0, 1)
	if n := opened(); n < 25 || n > 30 {
		t.Errorf("%d windows in ten minutes while little is known", n)
	}
	shopping(w, page+100, page+700)
	page += 700
	if n := opened(); n < 14 || n > 16 {
		t.Errorf("%d windows in ten minutes when enough is known", n)
	}
}

// TestWindowsAreStaggered: of forty processes that start together few ever have a window open at once, after the first ones; and
// the same process has its windows at the same place again.
func TestWindowsAreStaggered(t *testing.T) {
	var all []*schedule
	begin := time.Unix(1_700_000_000, 0)
	for i := range 40 {
		s := &schedule{window: 2 * time.Second, period: 40 * time.Second, warm: 1, budget: 1_000_000, started: begin, begun: begin, offset: offset(fmt.Sprint("proxy ", i), 40*time.Second)}
		s.observed.Store(10)
		all = append(all, s)
	}
	most, opened := 0, 0
	for at := begin.Add(20 * time.Second); at.Before(begin.Add(140 * time.Second)); at = at.Add(500 * time.Millisecond) {
		open := 0
		for _, s := range all {
			if s.tick(at); s.open.Load() {
				open++
			}
		}
		most, opened = max(most, open), opened+open
	}
	if share := float64(opened) / 40 / 240; share < 0.04 || share > 0.06 || most > 8 {
		t.Errorf("open for %.3f of the time, %d at once", share, most)
	}
	again := offset("a", time.Minute)
	if offset("a", time.Minute) != again || offset("", time.Minute) != 0 || offset("a", time.Minute) == offset("b", time.Minute) {
		t.Error("the place of a process is not its own")
	}
	a, b := New(Options{Off: true}), New(Options{Off: true, Place: "another host 1"})
	defer a.Close()
	defer b.Close()
	if a.schedule.offset == b.schedule.offset || a.schedule.offset == 0 {
		t.Error("a process has no place of its own")
	}
}

func TestKillSwitch(t *testing.T) {
	w, c := start(t, Options{})
	shopping(w, 0, 600)
	found := w.Feeds()
	if len(found) != 1 || found[0].To.Table != "users" {
		t.Fatalf("feeds: %+v", found)
	}
	key := w.decoder.hash.K0
	w.options.Seed = 8
	if !w.Switch(false) || w.Open() || w.On() || w.Switch(false) {
		t.Error("it is not off")
	}
	w.tick(c.move(40 * time.Second))
	w.Extra(c.move(time.Hour))
	if w.Open() {
		t.Error("opened though it is off")
	}
	before := w.Statistics().Observed
	shopping(w, 0, 10)
	w.ring.put(&proxy.Exchange{Client: &proxy.Client{ID: 1}, End: 1, Rows: 1, Values: []proxy.Value{{Bytes: number(7)}}}, orders, "", "") // whose copying had begun before
	w.Feeds()
	if s := w.Statistics(); s.Observed != before || s.Columns != 0 {
		t.Errorf("something was looked at, or is remembered, though it is off: %+v", s)
	}
	if w.decoder.hash.K0 == key {
		t.Error("the key is still there")
	}
	if d := cmp.Diff(found, w.Feeds()); d != "" {
		t.Errorf("what was found is lost: %s", d)
	}
	if !w.Switch(true) || !w.On() {
		t.Error("it is not on")
	}
	w.tick(c.move(40 * time.Second))
	if shopping(w, 0, 10); w.Statistics().Columns == 0 {
		t.Error("nothing is looked at though it is on again")
	}
}

// TestRotation: with the key everything that was hashed goes; what was found stays until it is found again, or for its time.
func TestRotation(t *testing.T) {
	w, c := start(t, Options{Retention: 72 * time.Hour})
	shopping(w, 0, 600)
	before := w.Findings()
	w.options.Seed = 12
	key := w.decoder.hash.K0
	if w.tick(c.move(23 * time.Hour)); w.decoder.hash.K0 != key {
		t.Error("the key was changed too soon")
	}
	if w.tick(c.move(time.Hour)); w.decoder.hash.K0 == key || w.feeds.Statistics().Parameters != 0 || w.book.Columns() != 0 {
		t.Error("the key was not changed, or something hashed is left")
	}
	after := w.Findings()
	if d := cmp.Diff(before.Feeds, after.Feeds); d != "" {
		t.Errorf("feeds are lost: %s", d)
	}
	if len(after.Profiles.Epochs) != 1 || !after.Profiles.Epochs[0].Derived {
		t.Fatalf("epochs: %+v", after.Profiles.Epochs)
	}
	for i, p := range after.Profiles.Epochs[0].Columns {
		if b := before.Profiles.Epochs[0].Columns[i]; p.Values != nil || p.Read != b.Read || p.Distinct != b.Distinct || p.Distinct == 0 {
			t.Errorf("derived: %+v", p)
		}
	}
	if len(after.Profiles.Epochs[0].Keys) != 0 {
		t.Error("keys are left")
	}
	if w.tick(c.move(71 * time.Hour)); len(w.Findings().Feeds) != 0 || len(w.Findings().Profiles.Epochs) != 0 {
		t.Error("what is older than the retention is still there")
	}
}

// TestSharedSecret: processes that share a secret have one key for an epoch, and another for the next.
func TestSharedSecret(t *testing.T) {
	a, ca := start(t, Options{Secret: "s", Rotation: 24 * time.Hour})
	b, cb := start(t, Options{Secret: "s", Rotation: 24 * time.Hour})
	other, _ := start(t, Options{Secret: "t", Rotation: 24 * time.Hour})
	cb.move(5 * time.Hour)
	b.tick(cb.Now())
	shopping(a, 0, 300)
	shopping(b, 300, 600)
	whole, _ := start(t, Options{Secret: "s", Rotation: 24 * time.Hour})
	shopping(whole, 0, 600)
	if a.decoder.hash.K0 != b.decoder.hash.K0 || a.decoder.hash.K0 == other.decoder.hash.K0 {
		t.Error("keys")
	}
	merged := a.Findings().Profiles.Merge(b.Findings().Profiles).Joined()
	one := whole.Findings().Profiles.Joined()
	for i, c := range merged.Epochs[0].Columns {
		w := one.Epochs[0].Columns[i]
		if c.Distinct != w.Distinct || c.Read != w.Read || c.Bound != w.Bound || c.Name != w.Name {
			t.Errorf("%+v, want %+v", c, w)
		}
	}
	if len(merged.Epochs) != 1 || len(merged.Epochs[0].Columns) != len(one.Epochs[0].Columns) {
		t.Errorf("%d epochs", len(merged.Epochs))
	}
	key := a.decoder.hash.K0
	if a.tick(ca.move(13 * time.Hour)); a.decoder.hash.K0 == key {
		t.Error("a new day has the old key")
	}
}

// TestNeverSampled: of columns that are never to be sampled nothing is hashed or counted, wherever they come.
func TestNeverSampled(t *testing.T) {
	w, _ := start(t, Options{Never: []string{"shop.orders.buyer", "shop.users"}})
	shopping(w, 0, 600)
	f := w.Findings()
	for _, c := range f.Profiles.Epochs[0].Columns {
		if (c.Name == "buyer" || c.Table == "users") && (c.Read+c.Bound+c.Null+c.Bytes.Count+c.Values.Total() != 0 || len(c.Classes) != 0) {
			t.Errorf("looked at: %+v", c)
		}
	}
	for _, table := range f.Profiles.Epochs[0].Tables {
		if table.Name == "users" && table.Touched.Total() != 0 {
			t.Error("a partition key that is never to be sampled was hashed")
		}
		if table.Name == "orders" && table.Touched.Total() == 0 {
			t.Error("another was not")
		}
	}
	if len(f.Feeds) != 0 {
		t.Errorf("feeds: %+v", f.Feeds)
	}
	for _, k := range f.Profiles.Epochs[0].Keys {
		for _, r := range k.Rows {
			for _, c := range r.Cells {
				if c.Column == "buyer" || r.Table == "users" {
					t.Fatalf("kept: %+v", r)
				}
			}
		}
	}
}

// TestLiterals: only those of columns where they are allowed, seen often and by two clients, are ever there.
func TestLiterals(t *testing.T) {
	find := func(d *profile.Document, name string) profile.Column {
		for _, c := range d.Epochs[0].Columns {
			if c.Name == name {
				return c
			}
		}
		t.Fatal("no column " + name)
		return profile.Column{}
	}
	w, _ := start(t, Options{LiteralsAllowed: []string{"shop.orders.state", "shop.users.name"}})
	shopping(w, 0, 600)
	d := w.Findings().Profiles
	if diff := cmp.Diff(map[string]uint64{"open": 300, "paid": 300}, find(d, "state").Literals.Shown()); diff != "" {
		t.Error(diff)
	}
	for i := range 20 {
		w.Observe(&proxy.Exchange{Client: &proxy.Client{ID: 1, Address: "10.0.0.1:1"}, Start: int64(i), End: int64(i) + 1, Rows: 1,
			Response: body(2, [][]byte{number(1), []byte("rare")})}, orders)
	}
	state := find(w.Findings().Profiles, "state").Literals
	if _, shown := state.Shown()["rare"]; shown || state.Counts["rare"] != 20 {
		t.Error("a literal is shown that one client only has seen, or it was not counted")
	}
	if _, kept := find(w.Findings().Profiles.Derived(), "state").Literals.Counts["rare"]; kept {
		t.Error("it is in what is written to disk")
	}
	w, _ = start(t, Options{LiteralsAllowed: []string{"shop.orders"}})
	shopping(w, 0, 599)
	shopping(w, 0, 600)
	d = w.Findings().Profiles
	if r := find(d, "buyer").Range; r == nil || r.Low < 0 || r.High >= 1_000_000 || len(find(d, "buyer").Coarse) < 5 {
		t.Errorf("range: %+v", r)
	}
	if find(d, "id").Range != nil || find(d, "name").Literals != nil {
		t.Error("the literals of a column where they are not allowed")
	}
	if !find(d, "buyer").Literals.Many || len(find(d, "buyer").Literals.Counts) != 0 {
		t.Error("many literals are kept")
	}
}

// TestRecordAndReplay: a recording has no value in it, and what is found in it is what was found in the traffic.
func TestRecordAndReplay(t *testing.T) {
	w, _ := start(t, Options{})
	var file bytes.Buffer
	done, ended := make(chan struct{}), make(chan error)
	go func() { _, err := w.Record(&file, done); ended <- err }()
	for {
		w.mu.Lock()
		begun := w.record != nil
		w.mu.Unlock()
		if begun {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := w.Record(&file, done); !errors.Is(err, ErrRecording) {
		t.Error(err)
	}
	shopping(w, 0, 600)
	close(done)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	found, n, err := Replay(bytes.NewReader(file.Bytes()))
	if err != nil || n != 1200 {
		t.Fatalf("%d executions: %v", n, err)
	}
	want := w.Findings()
	clear := func(all []feed.Feed) []feed.Feed {
		for i := range all {
			all[i].Last = time.Time{}
		}
		return all
	}
	if len(found.Feeds) != 1 || len(want.Feeds) != 1 || found.Feeds[0].To != want.Feeds[0].To || found.Feeds[0].Hits != want.Feeds[0].Hits {
		t.Error(cmp.Diff(clear(want.Feeds), clear(found.Feeds)))
	}
	for i, c := range found.Profiles.Epochs[0].Columns {
		o := want.Profiles.Epochs[0].Columns[i]
		if c.Read != o.Read || c.Distinct != o.Distinct || cmp.Diff(c.Numbers, o.Numbers) != "" {
			t.Errorf("%+v, want %+v", c, o)
		}
	}
	for _, cut := range []int{0, 5, file.Len() / 2, file.Len() - 3} {
		if _, _, err := Replay(bytes.NewReader(file.Bytes()[:cut])); err == nil {
			t.Errorf("cut at %d it is read without an error", cut)
		}
	}
	w.Switch(false)
	if _, err := w.Record(&file, done); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
}

// TestLiteralsInQueries: a QUERY says its values in its text, and brings its columns with the answer. It is the same column, and the
// same value, as if it had been prepared.
func TestLiteralsInQueries(t *testing.T) {
	w, _ := start(t, Options{Never: []string{"shop.users.secret"}})
	r := rand.New(rand.NewPCG(1, 2))
	c := &proxy.Client{ID: 1, Address: "10.0.0.1:1"}
	found := &trace.Statement{Fingerprint: "found", Keyspace: "shop", Table: "users"}
	for i := range int64(600) {
		buyer := r.IntN(1_000_000)
		w.Observe(&proxy.Exchange{Client: c, Start: i * 20e6, End: i*20e6 + 1e6, Rows: 1, Values: []proxy.Value{{Bytes: number(int(i) % 50)}},
			Response: body(2, [][]byte{number(buyer), []byte("open")})}, orders)
		answer := []byte{0, 0, 0, 1, 0, 0, 0, 1, 0, 4, 's', 'h', 'o', 'p', 0, 5, 'u', 's', 'e', 'r', 's', 0, 4, 'n', 'a', 'm', 'e', 0, 0x0D, 0, 0, 0, 1, 0, 0, 0, 1, 'x'}
		w.ObserveText(&proxy.Exchange{Client: c, Opcode: proxy.OpQuery, Start: i*20e6 + 2e6, End: i*20e6 + 3e6, Rows: 1, Response: answer}, found, "shop",
			fmt.Sprintf("SELECT name FROM users WHERE id = %d AND secret = 'very secret' ALLOW FILTERING", buyer))
		w.mu.Lock()
		w.catchUp()
		w.mu.Unlock()
	}
	f := w.Findings()
	if len(f.Feeds) != 1 || f.Feeds[0].To.Column != "id" || f.Feeds[0].To.Table != "users" || f.Feeds[0].Hits < 400 {
		t.Errorf("feeds: %+v", f.Feeds)
	}
	seen := map[string]uint64{}
	for _, c := range f.Profiles.Epochs[0].Columns {
		seen[c.Table+"."+c.Name] = c.Read + c.Bound
	}
	if seen["users.id"] != 600 || seen["users.name"] != 600 || seen["users.secret"] != 0 || len(w.book.Document().Epochs[0].Parameters) != 3 {
		t.Errorf("columns: %v", seen)
	}
	w.ObserveText(&proxy.Exchange{Client: c}, found, "", strings.Repeat("x", maxSample+1))
	w.ObserveText(&proxy.Exchange{Client: c}, found, "", "no CQL")
	if before := w.Statistics().Columns; before != len(seen) {
		t.Errorf("%d columns", before)
	}
}

// TestFullRing: with the decoder held up, Observe does not block; what finds no room is counted, and the window pauses until
// there is room again.
func TestFullRing(t *testing.T) {
	w, _ := start(t, Options{Queue: 4})
	st := &trace.Statement{Fingerprint: "a", Variables: []proxy.Column{col("t", "a", tInt)}}
	x := &proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: number(1)}}}
	w.mu.Lock()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				w.Observe(x, st)
			}
		})
	}
	wg.Wait()
	if s := w.schedule.observed.Load(); s != 4 || w.ring.dropped.Load() != 36 || w.Open() {
		t.Errorf("%d observed, %d dropped, open: %t", s, w.ring.dropped.Load(), w.Open())
	}
	w.mu.Unlock()
	w.Findings()
	for w.schedule.paused.Load() {
		time.Sleep(time.Millisecond) // the decoder was woken
	}
	if !w.Open() {
		t.Error("the window does not open again")
	}
}

// TestEnormousValues: what waits is bounded in bytes.
func TestEnormousValues(t *testing.T) {
	w, _ := start(t, Options{})
	st := &trace.Statement{Fingerprint: "a", Variables: []proxy.Column{col("t", "a", tText), col("t", "b", tInt)}}
	x := &proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: make([]byte, 60<<10)}, {Bytes: make([]byte, 1<<20)}}}
	w.mu.Lock()
	for range 1000 {
		w.Observe(x, st)
	}
	if held := w.ring.held.Load(); held > maxHeld+maxSample {
		t.Errorf("%d bytes wait", held)
	}
	w.mu.Unlock()
	w.Findings()
}

func TestObserveKeepsNoSlice(t *testing.T) {
	st := &trace.Statement{Fingerprint: "a", Variables: []proxy.Column{col("t", "a", tInt)}, Results: []proxy.Column{col("t", "b", tInt)}}
	value, response := number(1), body(1, [][]byte{number(2)})
	s := &sample{}
	s.fill(&proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: value}, {Null: true}}, Response: response}, st, false)
	clear(value)
	clear(response)
	if s.values[0].Bytes[3] != 1 || len(s.values[1].Bytes) != 0 || s.response[3] != 4 {
		t.Errorf("sample changed with the caller's slices: %v %v", s.values, s.response)
	}
	x := &proxy.Exchange{Client: &proxy.Client{}, Values: []proxy.Value{{Bytes: value}}, Response: response}
	if n := testing.AllocsPerRun(100, func() { s.fill(x, st, false) }); n > 0 {
		t.Errorf("%v allocations to copy an exchange into a used buffer", n)
	}
}

// TestAnythingIsHarmless: broken values and answers, names that are not there, metadata of another statement.
func TestAnythingIsHarmless(t *testing.T) {
	w, _ := start(t, Options{LiteralsAllowed: []string{"shop"}})
	rapid.Check(t, func(rt *rapid.T) {
		kind := func(name string) proxy.Column {
			c := col("t", name, rapid.Uint16Range(0, 0x40).Draw(rt, "code"))
			if rapid.Bool().Draw(rt, "list") {
				c.Type = proxy.Type{Code: 0x20, Elements: []proxy.Type{c.Type}}
			}
			return c
		}
		st := &trace.Statement{Fingerprint: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "fp"), Keyspace: "shop", Table: "t", Write: rapid.Bool().Draw(rt, "write"),
			Variables: []proxy.Column{kind("in(a)"), kind("b")}, Results: []proxy.Column{kind("c")}, PartitionKey: []int{rapid.IntRange(-1, 9).Draw(rt, "pk")}}
		x := &proxy.Exchange{Client: &proxy.Client{}, Rows: rapid.IntRange(-1, 5).Draw(rt, "rows"), Manner: proxy.Manner{InBatch: rapid.Bool().Draw(rt, "batch")}}
		for range rapid.IntRange(0, 4).Draw(rt, "n") {
			x.Values = append(x.Values, proxy.Value{Name: rapid.SampledFrom([]string{"", "x", "in(a)"}).Draw(rt, "name"), Bytes: rapid.SliceOf(rapid.Byte()).Draw(rt, "value"), Null: rapid.Bool().Draw(rt, "null")})
		}
		x.Response = append(body(1)[:8], rapid.SliceOf(rapid.Byte()).Draw(rt, "response")...)
		w.Observe(x, st)
		w.mu.Lock()
		w.catchUp()
		w.mu.Unlock()
	})
	w.Findings()
}

func TestLiteralText(t *testing.T) {
	for want, c := range map[string]struct {
		code uint16
		b    []byte
	}{
		"-3": {0x13, []byte{0xFF, 0xFD}}, "true": {0x04, []byte{1}}, "DE": {0x0D, []byte("DE")}, "2026-11-21": {0x11, binary.BigEndian.AppendUint32(nil, 1<<31+20778)},
		"12345678-9abc-def0-1234-56789abcdef0":    {0x0C, []byte{0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0}},
		strings.Repeat("1970-01-01T00:00:00Z", 1): {0x0B, make([]byte, 8)},
	} {
		if got, ok := spell(&proxy.Type{Code: c.code}, c.b); !ok || got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, ok := spell(&proxy.Type{Code: 0x03}, []byte{1}); ok {
		t.Error("a blob is spelt")
	}
}

// BenchmarkObserve is what an exchange that is looked at costs the data path.
func BenchmarkObserve(b *testing.B) {
	w, _ := start(b, Options{})
	c := &proxy.Client{ID: 1, Address: "10.0.0.1:1"}
	x := &proxy.Exchange{Client: c, Start: 1, End: 2, Rows: 1, ResponseBytes: 40, Values: []proxy.Value{{Bytes: number(1)}}, Response: body(2, [][]byte{number(2), []byte("open")})}
	b.ReportAllocs()
	w.mu.Lock()
	defer w.mu.Unlock()
	for b.Loop() {
		w.Observe(x, orders)
		if len(w.ring.free) == 0 {
			b.StopTimer()
			for len(w.ring.full) > 0 {
				w.ring.give(<-w.ring.full)
			}
			b.StartTimer()
		}
	}
}

// BenchmarkLearn is what the rest costs, on another goroutine.
func BenchmarkLearn(b *testing.B) {
	w, _ := start(b, Options{})
	st := *orders
	b.ReportAllocs()
	w.mu.Lock()
	defer w.mu.Unlock()
	r := rand.New(rand.NewPCG(1, 2))
	for i := int64(0); b.Loop(); i++ {
		s := &sample{}
		s.fill(&proxy.Exchange{Client: &proxy.Client{ID: 1}, Start: i * 1e5, End: i*1e5 + 1e5, Rows: 1, ResponseBytes: 40, Values: []proxy.Value{{Bytes: number(r.IntN(1000))}},
			Response: body(2, [][]byte{number(r.IntN(1e6)), []byte("open")})}, &st, false)
		w.learn(w.decoder.decode(s))
	}
}

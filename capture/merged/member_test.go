package merged

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

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

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// process is a member with a registry of its own, whose clock is ahead of the others' by skew.
type process struct {
	*Member
	registry *capture.Registry
	ticks    chan time.Time
	started  time.Time
	clock    *clock
	skew     time.Duration
}

// fleet is several processes before one store.
type fleet struct {
	t      *testing.T
	store  *memory
	clock  *clock
	leader string
	secret string // "": one is agreed on
	all    []*process
}

func newFleet(t *testing.T) *fleet {
	return &fleet{t: t, store: newMemory(), clock: &clock{now: start}, leader: "a"}
}

// add starts a member of a fleet of n.
func (f *fleet) add(name string, n int, skew time.Duration) *process {
	f.t.Helper()
	p := &process{ticks: make(chan time.Time), clock: f.clock, skew: skew}
	now := func() time.Time { return f.clock.Now().Add(p.skew) }
	p.started = now()
	p.registry = capture.New(capture.Options{Now: now, Started: p.started, Windows: window.Options{Ticks: p.ticks, Budget: 1 << 20, Warm: 1 << 20}})
	f.t.Cleanup(p.registry.Close)
	p.Member = New(Options{
		Store: f.store, Name: name, Counts: p.registry.Counts, Windows: p.registry.Windows(), Leads: func() bool { return f.leader == name }, Members: func() int { return n },
		Skew: func() time.Duration { return -p.skew }, Log: slog.New(slog.DiscardHandler), Now: now, Seed: 5, Secret: f.secret,
	})
	f.all = append(f.all, p)
	return p
}

// exchange lets all members exchange, the leader last, so that it has what the others left, and then the others once more, for what it found.
func (f *fleet) exchange() {
	f.t.Helper()
	for range 2 {
		for _, leads := range []bool{false, true} {
			for _, p := range f.all {
				if (p.o.Name == f.leader) == leads {
					if err := p.Exchange(context.Background()); err != nil {
						f.t.Fatal(err)
					}
				}
			}
		}
	}
}

// say lets a client say a statement through a process.
func (p *process) say(c *proxy.Client, text string, x proxy.Exchange, variables, results []proxy.Column) {
	// Every registry marks connections by itself.
	own := *c
	own.Mark = p.registry.Mark(&own)
	record := p.registry.Statement("shop", text)
	prepared := &proxy.Prepared{Keyspace: "shop", Text: text, Variables: variables, Results: results, PartitionKey: []int{0}}
	record.Prepared(prepared)
	x.Client, x.Prepared = &own, prepared
	x.Start, x.End = x.Start-int64(p.started.Add(-p.skew).Sub(start)), x.End-int64(p.started.Add(-p.skew).Sub(start))
	record.Done([]proxy.Exchange{x})
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

func column(table, name string) proxy.Column {
	return proxy.Column{Keyspace: "shop", Table: table, Name: name, Type: proxy.Type{Code: 9}}
}

func number(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

const (
	ordersText = "SELECT buyer FROM orders WHERE shop = ?"
	usersText  = "SELECT name FROM users WHERE id = ?"
	seenText   = "UPDATE users SET seen = ? WHERE id = ?"
	logText    = "INSERT INTO log (id, seen) VALUES (?, ?)"
)

// apart says which of three members each statement goes through, so that none sees an answer and the request that it feeds, or both writes.
var apart = [...]int{0, 1, 2, 1}

// shop says pages, 5 a second: a shop's order, its buyer, and two writes about them. route says through which process each statement goes.
func shop(from, to int, route func(page, statement int) *process) {
	r := rand.New(rand.NewPCG(1, 2))
	clients := []*proxy.Client{{ID: 1, Address: "10.0.0.1:1", Application: "web"}, {ID: 2, Address: "10.0.0.2:1", Application: "web"}}
	for i := range to {
		buyer, at, seen := r.IntN(1_000_000), r.IntN(50), r.IntN(1_000_000_000)
		if i < from {
			continue
		}
		c, t := clients[i%2], int64(i)*200e6
		x := func(after, took int64, values ...[]byte) proxy.Exchange {
			e := proxy.Exchange{Client: c, Start: t + after*1e6, End: t + (after+took)*1e6, Rows: -1, ResponseBytes: 40}
			for _, v := range values {
				e.Values = append(e.Values, proxy.Value{Bytes: v})
			}
			return e
		}
		orders := x(0, 1, number(at))
		orders.Rows, orders.Response = 1, body(1, [][]byte{number(buyer)})
		route(i, 0).say(c, ordersText, orders, []proxy.Column{column("orders", "shop")}, []proxy.Column{column("orders", "buyer")})
		users := x(2, 1, number(buyer))
		users.Rows, users.Response = 1, body(1, [][]byte{number(buyer % 7)})
		route(i, 1).say(c, usersText, users, []proxy.Column{column("users", "id")}, []proxy.Column{column("users", "name")})
		route(i, 2).say(c, seenText, x(4, 1, number(seen), number(buyer)), []proxy.Column{column("users", "seen"), column("users", "id")}, nil)
		route(i, 3).say(c, logText, x(6, 1, number(buyer), number(seen)), []proxy.Column{column("log", "id"), column("log", "seen")}, nil)
	}
}

// learned is what a fleet of n has learned of the same traffic, sent through its members as route says.
func learned(t *testing.T, n int, skews []time.Duration, route func(all []*process, page, statement int) *process) (*fleet, *capture.Snapshot) {
	f := newFleet(t)
	f.secret = "so that estimates are the same, too"
	for i := range n {
		f.add(string(rune('a'+i)), n, skews[i])
	}
	f.exchange() // they look at the same time from now on
	f.clock.move(time.Second)
	const pages = 400
	for from := 5; from < pages; from += 100 {
		shop(from, min(from+100, pages), func(page, statement int) *process { return route(f.all, page, statement) })
		f.clock.now = start.Add(time.Duration(from+100)*200*time.Millisecond + 2*time.Second)
		f.exchange()
	}
	return f, f.all[0].Snapshot()
}

var alike = cmp.Options{
	cmpopts.IgnoreFields(capture.Snapshot{}, "Watched", "From", "To"), cmpopts.IgnoreFields(capture.Statement{}, "Born", "Described", "First", "Last"), cmpopts.IgnoreUnexported(feed.Feed{}),
	cmpopts.EquateEmpty(),
}

// TestThreeAreAsOne: what the leader knows of traffic that went through three members, whatever went through which, is what one knows through which all of it
// went: the joins, echoes and bursts whose halves no two went through one, too. So also if their clocks are ten minutes apart, as long as it is known by how much.
func TestThreeAreAsOne(t *testing.T) {
	single := []time.Duration{0}
	_, want := learned(t, 1, single, func(all []*process, _, _ int) *process { return all[0] })
	if len(want.Feeds) == 0 || len(want.Bursts) == 0 || len(want.Templates) == 0 || len(want.Statements) != 4 {
		t.Fatalf("one process alone found %d feeds, %d bursts, %d templates in %d statements", len(want.Feeds), len(want.Bursts), len(want.Templates), len(want.Statements))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for name, route := range map[string]func([]*process, int, int) *process{
		"by page":       func(all []*process, page, _ int) *process { return all[page%3] },
		"by statement":  func(all []*process, _, statement int) *process { return all[apart[statement]] },
		"as it happens": func(all []*process, _, _ int) *process { return all[random.IntN(3)] },
	} {
		for _, skews := range [][]time.Duration{{0, 0, 0}, {0, 10 * time.Minute, -10 * time.Minute}} {
			f, got := learned(t, 3, skews, route)
			if d := cmp.Diff(want, got, alike); d != "" {
				t.Errorf("%s, clocks apart by %v: (-one, +three) %s", name, skews, d)
			}
			if a, b := want.To.Sub(want.From), got.To.Sub(got.From); a.Round(time.Minute) != b.Round(time.Minute) && skews[1] == 0 {
				t.Errorf("%s: of %v, not of %v", name, b, a)
			}
			for _, p := range f.all[1:] {
				if d := cmp.Diff(got, p.Snapshot(), alike); d != "" {
					t.Errorf("%s: member %s says otherwise than the leader: %s", name, p.o.Name, d)
				}
			}
			for key, body := range f.store.rows[valuesKind] {
				if len(body) > 0 {
					t.Errorf("share %s was not read", key)
				}
			}
		}
	}
}

// What one member alone finds of traffic by statement is nothing: this is why executions are merged, not findings.
func TestNoMemberSeesAJoinAlone(t *testing.T) {
	f, _ := learned(t, 3, make([]time.Duration, 3), func(all []*process, _, statement int) *process { return all[apart[statement]] })
	for _, p := range f.all {
		if own := p.registry.Snapshot(); len(own.Feeds) > 0 || len(own.Bursts) > 0 {
			t.Errorf("%s found %d feeds and %d bursts by itself", p.o.Name, len(own.Feeds), len(own.Bursts))
		}
	}
}

// said is how often the shop's statement was said, by what a member knows of all.
func said(p *process) uint64 {
	if s := p.Snapshot(); s != nil {
		return s.Count()
	}
	return 0
}

func hello(p *process, times int) {
	for range times {
		p.say(&proxy.Client{ID: 1, Address: "10.0.0.1:1"}, ordersText, proxy.Exchange{Start: 1, End: 2, Rows: -1}, nil, nil)
	}
}

// TestMembersThatComeAndGo: each execution is counted once, whoever counted it, and what became of them.
func TestMembersThatComeAndGo(t *testing.T) {
	f := newFleet(t)
	a, b, c := f.add("a", 3, 0), f.add("b", 3, 0), f.add("c", 3, 0)
	hello(a, 1)
	hello(b, 10)
	hello(c, 100)
	f.clock.move(time.Minute)
	f.exchange()
	want := func(what string, n uint64) {
		t.Helper()
		for _, p := range f.all {
			if got := said(p); got != n {
				t.Errorf("%s: %s knows of %d executions, not %d", what, p.o.Name, got, n)
			}
		}
	}
	want("three", 111)

	f.all = []*process{a, b} // c is stopped, and started anew as another
	d := f.add("d", 3, 0)
	hello(d, 1_000)
	f.clock.move(time.Minute)
	f.exchange()
	want("one was started anew", 1_111)
	f.clock.move(gone)
	f.exchange()
	f.exchange()
	want("the one that left is summed up", 1_111)
	if n := f.store.count(countsKind); n != 3 || f.store.count(leftKind) != 1 {
		t.Errorf("%d rows of members, %d sums", n, f.store.count(leftKind))
	}

	hello(c, 7) // it was not stopped for good: it goes on
	f.all = append(f.all, c)
	f.exchange()
	want("it goes on, and does not know yet", 1_111)
	hello(c, 20_000)
	f.exchange()
	if got := said(a); got != 21_111 {
		t.Errorf("%d executions: what it counted since it went on is missing, or what it had counted is there twice", got)
	}

	f.leader = "b" // another leads
	f.clock.move(gone)
	f.exchange()
	if got := said(b); got != 21_111 {
		t.Errorf("under another leader there are %d executions", got)
	}

	b.o.Keep = time.Hour
	f.clock.move(2 * time.Hour)
	f.exchange()
	want("what is older than the history is forgotten", 21_011)
}

// A registered member may be silent for long: it is not summed up.
func TestRegisteredMembersAreWaitedFor(t *testing.T) {
	f := newFleet(t)
	a, b := f.add("a", 2, 0), f.add("b", 2, 0)
	a.o.Registered = func(name string) bool { return name == "b" }
	hello(b, 5)
	f.exchange()
	f.all = []*process{a}
	f.clock.move(2 * gone)
	f.exchange()
	if f.store.count(countsKind) != 2 || f.store.count(leftKind) != 0 || said(a) != 5 {
		t.Errorf("%d rows, %d sums, %d executions", f.store.count(countsKind), f.store.count(leftKind), said(a))
	}
}

// While the store is down nothing is lost, and what was known stays known.
func TestStoreIsDown(t *testing.T) {
	f := newFleet(t)
	a, b := f.add("a", 2, 0), f.add("b", 2, 0)
	hello(a, 1)
	f.exchange()
	f.store.fails = true
	hello(b, 5)
	for _, p := range f.all {
		if err := p.Exchange(t.Context()); err == nil || !strings.Contains(err.Error(), "no node answers") {
			t.Errorf("%s: %v", p.o.Name, err)
		}
		if said(p) != 1 {
			t.Errorf("%s knows of %d executions", p.o.Name, said(p))
		}
	}
	f.store.fails = false
	f.exchange()
	if said(a) != 6 {
		t.Errorf("%d executions", said(a))
	}
}

// TestNewLeaderKnowsWhatWasFound: what the leader before has found stays, and nothing that was hashed is needed for it.
func TestNewLeaderKnowsWhatWasFound(t *testing.T) {
	f, before := learned(t, 3, make([]time.Duration, 3), func(all []*process, page, _ int) *process { return all[page%3] })
	f.leader = "c"
	f.all = f.all[1:]
	f.clock.move(time.Minute)
	f.exchange()
	after := f.all[1].Snapshot()
	if d := cmp.Diff(before.Feeds, after.Feeds, alike); d != "" || len(after.Templates) != len(before.Templates) {
		t.Errorf("(-before, +after) %s", d)
	}
}

// What some members looked at and others did not is not looked through: half of a join would count as none. A member that is off is not waited for.
func TestOnlyWhatAllLookedAt(t *testing.T) {
	for _, off := range []bool{false, true} {
		f := newFleet(t)
		a, b := f.add("a", 2, 0), f.add("b", 2, 0)
		f.exchange()
		b.registry.Windows().Switch(false)
		if !off {
			b.o.Windows = blind{b.registry.Windows()}
		}
		f.clock.move(time.Second)
		shop(5, 300, func(int, int) *process { return a })
		f.clock.now = start.Add(62 * time.Second)
		f.exchange()
		found := len(a.Snapshot().Feeds)
		if off && found == 0 {
			t.Error("a member that is off was waited for")
		}
		if !off && found > 0 {
			t.Error("what one of two members did not look at was learned from")
		}
	}
}

// blind looks at nothing, but does not say that it is off.
type blind struct{ *window.Windows }

func (b blind) Share() (window.Share, bool) {
	s, ok := b.Windows.Share()
	s.Off, s.Looked = false, nil
	return s, ok
}

// TestMemberOfAnotherVersion: a row that can not be read is told, and the rest goes on.
func TestMemberOfAnotherVersion(t *testing.T) {
	f := newFleet(t)
	a := f.add("a", 2, 0)
	hello(a, 3)
	for kind, key := range map[string]string{countsKind: "z", valuesKind: "z/000000000001"} {
		if err := f.store.Put(t.Context(), Row{kind, key, []byte("of the future")}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	err := a.Exchange(t.Context())
	if err == nil || !strings.Contains(err.Error(), "row of member z") || !strings.Contains(err.Error(), "share of member z") || said(a) != 3 {
		t.Errorf("%v, %d executions", err, said(a))
	}
}

// TestSizes: what a member leaves is bounded, and leaving it, reading it and adding it up takes less than a hundredth of a processor.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	busy := many(6_000).Snapshot
	f := newFleet(t)
	m := New(Options{Store: f.store, Name: "a", Counts: func() *capture.Snapshot { return busy }, Log: slog.New(slog.DiscardHandler), Now: f.clock.Now})
	if err := m.Exchange(t.Context()); err != nil {
		t.Fatal(err)
	}
	size := len(f.store.rows[countsKind]["a"])
	t.Logf("6,000 statements: %d kB, %v of a processor for a leader's exchange with one member", size/1000, m.took)
	if s := m.Snapshot(); len(s.Statements) != 5_000 || s.Count() != busy.Count() {
		t.Errorf("%d statements, %d executions", len(s.Statements), s.Count())
	}
	if size > 2<<20 {
		t.Errorf("a row has %d bytes", size)
	}
	if want := max(30*time.Second, min(share*m.took, slowest)); m.took > 10*time.Second || m.every() != want {
		t.Errorf("it took %v of a processor, and the next is after %v", m.took, m.every())
	}
}

// The more an exchange takes, the later is the next; what the store takes is not this process's work.
func TestPace(t *testing.T) {
	f := newFleet(t)
	a := f.add("a", 1, 0)
	a.o.Store = slow{f.store}
	if err := a.Exchange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.took > 100*time.Millisecond {
		t.Errorf("waiting for the store took %v of a processor", a.took)
	}
	for took, want := range map[time.Duration]time.Duration{time.Millisecond: 30 * time.Second, time.Second: 100 * time.Second, time.Minute: slowest} {
		if a.took = took; a.every() != want {
			t.Errorf("after one that took %v the next is after %v", took, a.every())
		}
	}
}

// slow is a store that takes its time.
type slow struct{ *memory }

func (s slow) Put(ctx context.Context, row Row, keep time.Duration) error {
	time.Sleep(200 * time.Millisecond)
	return s.memory.Put(ctx, row, keep)
}

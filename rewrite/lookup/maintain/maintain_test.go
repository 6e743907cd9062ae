package maintain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// bench is a look-up over a base in memory, and who keeps it.
type bench struct {
	t      *testing.T
	db     *exectest.Memory
	l      *match.LookUp
	m      *Maintainer
	now    time.Time
	uptime time.Duration
	sent   *counting
}

func setup(t *testing.T, s Settings, change func(*schema.Table)) *bench {
	t.Helper()
	b := &bench{t: t, db: exectest.New(), now: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)}
	b.db.Now = func() time.Time { return b.now }
	base := schema.Table{Keyspace: "k", Name: "t", GCGrace: 864000, Columns: []schema.Column{
		{Name: "p", Kind: schema.PartitionKey, Position: 0, Type: "text"},
		{Name: "v", Kind: schema.Regular, Position: -1, Type: "text"},
		{Name: "w", Kind: schema.Regular, Position: -1, Type: "text"},
	}}
	if change != nil {
		change(&base)
	}
	b.db.Add(base)
	b.l = b.lookup(&base, "v")
	s.FirstID = 1000
	b.sent = &counting{Memory: b.db}
	b.m = New(Parts{Session: b.sent, Schema: b.db.Schema, Now: b.db.Now, Uptime: func() time.Duration { return b.uptime }}, s)
	return b
}

func (b *bench) lookup(base *schema.Table, column string) *match.LookUp {
	b.t.Helper()
	l, refusal := match.New(plan.Rewrite{Keyspace: "k", Base: "t", Column: column, Table: "t_by_" + column}, base)
	if refusal != nil {
		b.t.Fatal(refusal)
	}
	for _, text := range []string{l.Create("m"), l.CreatePending("m")} {
		_, err := b.db.Query(context.Background(), exec.Query{Text: text})
		b.must(err)
	}
	return l
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// write carries a change out as the engine does, at QUORUM, and returns how many requests of ours it took before the base was
// written, and after.
func (b *bench) write(x *Change) (before, after int) {
	b.t.Helper()
	begun := b.sent.all()
	_, err := b.m.Begin(context.Background(), []*Change{x}, gocql.Quorum)
	b.must(err)
	before = b.sent.all() - begun
	text, values := "UPDATE k.t SET v = ? WHERE p = ?", [][]byte{x.Value, x.Key[0]}
	if x.Clears {
		text, values = "DELETE FROM k.t WHERE p = ?", x.Key
	}
	b.now = b.now.Add(time.Millisecond)
	at := x.At
	if !x.Stamped {
		at = b.now.UnixMicro()
	}
	b.must(b.db.Write(text, values, at))
	b.m.End([]*Change{x}, kind.Applied, kind.Level{Consistency: gocql.Quorum})
	b.drain()
	return before, b.sent.all() - begun - before
}

// drain does what waits.
func (b *bench) drain() {
	for {
		select {
		case c := <-b.m.queue:
			b.m.complete(context.Background(), c)
		default:
			return
		}
	}
}

func (b *bench) entries(value string) int {
	b.t.Helper()
	list, err := b.m.entries(context.Background(), b.l, []byte(value), [][]byte{[]byte("p")}, gocql.Quorum)
	b.must(err)
	return len(list)
}

func (b *bench) change(value string) *Change {
	b.now = b.now.Add(time.Millisecond)
	x := &Change{LookUp: b.l, Key: [][]byte{[]byte("p")}, Stamped: true, At: b.now.UnixMicro()}
	if value == "" {
		x.Clears = true
	} else {
		x.Value = []byte(value)
	}
	return x
}

// The requests of ours for each kind of write, the base's own not counted: the figures that the advice states, and no entry
// too many afterwards.
func TestRequests(t *testing.T) {
	type figures struct{ before, after int }
	for _, c := range []struct {
		stamped                      bool
		insert, update, same, remove figures
	}{
		{true, figures{2, 0}, figures{1, 1}, figures{1, 0}, figures{0, 1}}, // what this process put last it knows
		{false, figures{2, 2}, figures{2, 2}, figures{2, 2}, figures{1, 2}},
	} {
		t.Run(fmt.Sprint("stamped ", c.stamped), func(t *testing.T) {
			b := setup(t, Settings{}, nil)
			do := func(what, value string, want figures) {
				t.Helper()
				x := b.change(value)
				x.Stamped = c.stamped
				if before, after := b.write(x); before != want.before || after != want.after {
					t.Errorf("%s: %d requests before the base and %d after, want %+v", what, before, after, want)
				}
				for _, v := range []string{"a", "b"} {
					want := 0
					if v == value {
						want = 1
					}
					if n := b.entries(v); n != want {
						t.Errorf("%s: %d entries of %s", what, n, v)
					}
				}
			}
			do("insert", "a", c.insert)
			do("update", "b", c.update)
			do("the same again", "b", c.same)
			do("delete", "", c.remove)
		})
	}
}

// A row that this process does not remember costs one read more.
func TestForgottenRowIsRead(t *testing.T) {
	b := setup(t, Settings{}, nil)
	b.write(b.change("a"))
	b.m.own = own{}
	if before, after := b.write(b.change("b")); before != 2 || after != 1 || b.entries("a") != 0 {
		t.Errorf("%d and %d requests, %d entries", before, after, b.entries("a"))
	}
}

// Several look-ups over one row share one read, and their entries one request.
func TestLookUpsShareRequests(t *testing.T) {
	b := setup(t, Settings{}, nil)
	x, y := b.change("a"), b.change("c")
	y.LookUp = b.lookup(b.l.Base, "w")
	_, err := b.m.Begin(context.Background(), []*Change{x, y}, gocql.Quorum)
	b.must(err)
	if b.sent.queries.Load() != 1 || b.sent.batches.Load() != 1 {
		t.Errorf("%d reads and %d batches", b.sent.queries.Load(), b.sent.batches.Load())
	}
}

type counting struct {
	*exectest.Memory
	queries, batches atomic.Int64
}

func (c *counting) all() int { return int(c.queries.Load() + c.batches.Load()) }

func (c *counting) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	c.queries.Add(1)
	return c.Memory.Query(ctx, q)
}

func (c *counting) Unlogged(ctx context.Context, writes []exec.Query) error {
	c.batches.Add(1)
	return c.Memory.Unlogged(ctx, writes)
}

// What Cassandra refused leaves nothing; what may yet be carried out leaves its entry.
func TestAnswers(t *testing.T) {
	for answer, want := range map[kind.Answer]int{kind.Refused: 0, kind.Lost: 1} {
		for _, stamped := range []bool{true, false} {
			b := setup(t, Settings{}, nil)
			x := b.change("a")
			x.Stamped = stamped
			_, err := b.m.Begin(context.Background(), []*Change{x}, gocql.Quorum)
			b.must(err)
			b.m.End([]*Change{x}, answer, kind.Level{Consistency: gocql.Quorum})
			b.drain()
			if n := b.entries("a"); n != want {
				t.Errorf("answer %d, stamped %t: %d entries", answer, stamped, n)
			}
		}
	}
	// An entry that was put again under an id is an earlier write's, too.
	b := setup(t, Settings{}, nil)
	b.write(b.change("a"))
	x := b.change("a")
	_, err := b.m.Begin(context.Background(), []*Change{x}, gocql.Quorum)
	b.must(err)
	b.m.End([]*Change{x}, kind.Refused, kind.Level{Consistency: gocql.Quorum})
	b.drain()
	if b.entries("a") != 1 {
		t.Error("the entry of the row is gone with a write that was refused")
	}
}

// The least timestamp has none below it, and stands for none at all.
func TestLeastTimestamp(t *testing.T) {
	b := setup(t, Settings{}, nil)
	x := b.change("a")
	x.At = math.MinInt64
	_, err := b.m.Begin(context.Background(), []*Change{x}, gocql.Quorum)
	b.must(err)
	if x.Stamped || b.entries("a") != 1 {
		t.Errorf("%+v", x)
	}
}

// C10: how long entries live.
func TestEntryTTL(t *testing.T) {
	for _, c := range []struct {
		name       string
		ttl, want  int32
		defaultTTL int
		now        time.Time
	}{
		{name: "none", ttl: 0, want: 0},
		{name: "negative", ttl: -1, want: 0},
		{name: "an hour more", ttl: 100, want: 3700},
		{name: "the longest", ttl: maxTTL, want: 0},
		{name: "over a default", ttl: 100, defaultTTL: 50, want: 0},
		{name: "over the end of 32 bits", ttl: 100, now: time.Unix(lastSecond-5000, 0), want: 0},
		{name: "near it, where other clocks may be over it", ttl: 100, now: time.Unix(lastSecond-6*3600, 0), want: 0},
		{name: "a day before it", ttl: 100, now: time.Unix(lastSecond-24*3600, 0), want: 3700},
	} {
		b := setup(t, Settings{}, func(x *schema.Table) { x.DefaultTTL = c.defaultTTL })
		if !c.now.IsZero() {
			b.now = c.now
		}
		if got := b.m.entryTTL(b.l, c.ttl); got != c.want {
			t.Errorf("%s: %d s, want %d", c.name, got, c.want)
		}
	}
}

// C13: at which consistency entries are put.
func TestPutLevel(t *testing.T) {
	b := setup(t, Settings{}, nil)
	b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3", "dc2": "3"})
	for c, want := range map[gocql.Consistency]gocql.Consistency{gocql.Any: gocql.Quorum, gocql.One: gocql.Quorum, gocql.Two: gocql.Quorum,
		gocql.LocalOne: gocql.LocalQuorum, gocql.LocalQuorum: gocql.LocalQuorum, gocql.Quorum: gocql.Quorum, gocql.Three: gocql.Three,
		gocql.EachQuorum: gocql.EachQuorum, gocql.All: gocql.All} {
		if got := b.m.putLevel(t.Context(), b.l, c); got != want {
			t.Errorf("the entry of a write at %s is put at %s, want %s", c, got, want)
		}
		if c == gocql.Any || c == gocql.One {
			want = gocql.LocalQuorum // the other data centre need not be there
		}
		if got := b.m.putLevel(exec.In(t.Context(), "dc2"), b.l, c); got != want {
			t.Errorf("in one of two data centres the entry of a write at %s is put at %s, want %s", c, got, want)
		}
	}
	const nodeLocal = gocql.Consistency(0x0B) // which Cassandra refuses to write at
	if got := b.m.putLevel(t.Context(), b.l, nodeLocal); got != gocql.Quorum {
		t.Errorf("the entry of a write that will be refused is put at %s", got)
	}
	b.db.Replicate("k", map[string]string{"class": "SimpleStrategy", "replication_factor": "1"})
	if got := b.m.putLevel(t.Context(), b.l, gocql.Three); got != gocql.Quorum {
		t.Errorf("the entry of a write at THREE is put at %s, where there is one replica", got)
	}
	b.db.Replicate("k", map[string]string{"class": "N", "dc1": "3", "dc2": "3"})
	if got := b.m.putLevel(exec.In(t.Context(), "dc3"), b.l, gocql.One); got != gocql.Quorum {
		t.Errorf("where there are no replicas the entry of a write at ONE is put at %s", got)
	}
}

// What an acknowledgement proves, by replicas.
func TestProves(t *testing.T) {
	one, three := map[string]string{"class": "S", "replication_factor": "1"}, map[string]string{"class": "S", "replication_factor": "3"}
	two := map[string]string{"class": "N", "dc1": "3", "dc2": "3"}
	for _, c := range []struct {
		replication map[string]string
		level       gocql.Consistency
		want        bool
	}{
		{one, gocql.One, true}, {one, gocql.Any, false}, {three, gocql.One, false}, {three, gocql.Two, true}, {three, gocql.LocalQuorum, true},
		{two, gocql.LocalQuorum, false}, {two, gocql.Quorum, true}, {two, gocql.Three, false}, {nil, gocql.One, false}, {nil, gocql.Quorum, true},
		{map[string]string{"class": "N", "dc1": "3/1"}, gocql.Two, true}, {map[string]string{"class": "N", "dc1": "many"}, gocql.Two, false},
	} {
		b := setup(t, Settings{}, nil)
		b.m.Schema = func() *schema.Schema {
			return &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "k", Replication: c.replication}}}
		}
		if got := b.m.proves(b.l, c.level); got != c.want {
			t.Errorf("%v at %s: %t", c.replication, c.level, got)
		}
	}
}

// Where a read at QUORUM does not bring what it saw to a quorum, what is evidence is read from every replica.
func TestReadRepair(t *testing.T) {
	for repair, want := range map[string]gocql.Consistency{"": gocql.Quorum, "BLOCKING": gocql.Quorum, "blocking": gocql.Quorum, "NONE": gocql.All} {
		b := setup(t, Settings{}, func(x *schema.Table) { x.ReadRepair = repair })
		var reads []gocql.Consistency
		b.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "SELECT") && strings.Contains(q.Text, "FROM k.t ") {
				reads = append(reads, q.Consistency)
			}
			return nil
		})
		x := b.change("a")
		x.Stamped = false
		b.write(x)
		_, err := b.m.Reconcile(context.Background(), b.l, []byte("a"), x.Key)
		b.must(err)
		if len(reads) < 3 || slices.ContainsFunc(reads, func(c gocql.Consistency) bool { return c != want }) {
			t.Errorf("read_repair %q: the base is read at %v, want %s", repair, reads, want)
		}
	}
}

// Of several rows one entry that fails is enough.
func TestPutFails(t *testing.T) {
	b := setup(t, Settings{}, nil)
	b.db.Before.Set(func(_ context.Context, q exec.Query) error {
		if strings.HasPrefix(q.Text, "INSERT") && string(q.Values[1]) == "c" {
			return exectest.Timeout
		}
		return nil
	})
	var changes []*Change
	for _, p := range []string{"a", "b", "c", "d"} {
		x := b.change("v")
		x.Key = [][]byte{[]byte(p)}
		changes = append(changes, x)
	}
	bad, err := b.m.Begin(context.Background(), changes, gocql.One)
	if !errors.Is(err, exectest.Timeout) || len(bad) == 0 {
		t.Errorf("%v %v", bad, err)
	}
}

// What finds the queue full is dropped and counted, and nothing blocks.
func TestQueueFull(t *testing.T) {
	b := setup(t, Settings{Queue: 3}, nil)
	for range 5 {
		x := b.change("v")
		_, err := b.m.Begin(t.Context(), []*Change{x}, gocql.Quorum)
		b.must(err)
		b.m.End([]*Change{x}, kind.Applied, kind.Level{Consistency: gocql.Quorum})
	}
	if c := b.m.Counts(); c.Pending != 3 || c.Dropped != 2 {
		t.Errorf("%+v", c)
	}
}

// An entry goes at a look when something above it is in the base, and a horizon after it was first seen otherwise.
func TestReconcile(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name  string
		kind  int8
		entry int64 // its timestamp
		base  string
		at    int64 // of the base, 0 if there is no row
		first Outcome
		later Outcome // 12 days later
	}{
		{"right", Stamped, 5, "v", 5, Kept, Kept},
		{"right, of a write without a timestamp", Unstamped, 1, "v", 5, Kept, Kept},
		{"overwritten later", Stamped, 5, "other", 6, Removed, Absent},
		{"an older one of the same value, by which alone the row is found", Stamped, 5, "v", 6, Kept, Kept},
		{"overwritten at the same time: its own write may win", Stamped, 5, "other", 5, Left, Removed},
		{"overwritten earlier: its own write is under way", Stamped, 5, "other", 4, Left, Removed},
		{"without a timestamp", Unstamped, 1, "other", 6, Left, Removed},
		{"gone, nobody knows when", Stamped, 5, "", 0, Left, Removed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t, Settings{}, nil)
			key := [][]byte{[]byte("p")}
			e := &entry{lookup: b.l, value: []byte("v"), key: key, kind: c.kind, id: 7, at: c.entry}
			_, err := b.db.Query(context.Background(), b.m.put(e, gocql.One))
			b.must(err)
			if c.at != 0 {
				b.must(b.db.Write("INSERT INTO k.t (v, p) VALUES (?, 'p')", [][]byte{[]byte(c.base)}, c.at))
			}
			look := func(want Outcome) {
				t.Helper()
				if got, err := b.m.Reconcile(context.Background(), b.l, []byte("v"), key); err != nil || got != want {
					t.Fatalf("%d, want %d; %v", got, want, err)
				}
			}
			look(c.first)
			b.uptime += 5 * day // gc_grace_seconds are ten
			if c.first == Left {
				look(Left)
			}
			// The age outlives the process.
			raw, err := json.Marshal(b.m.Ages())
			b.must(err)
			b.m = New(Parts{Session: b.db, Schema: b.db.Schema, Now: b.db.Now, Uptime: func() time.Duration { return b.uptime - 5*day }}, Settings{})
			b.must(b.m.RestoreAges(raw))
			b.uptime += 6 * day
			look(c.later)
		})
	}
}

// What a sweep does not meet any more is forgotten, and what is kept is bounded.
func TestAgesAreBounded(t *testing.T) {
	b := setup(t, Settings{Visits: 2}, nil)
	see := func(id int64) bool {
		_, noted := b.m.visits.age(&entry{lookup: b.l, value: []byte("v"), id: id}, b.m.Uptime)
		return noted
	}
	if !see(1) || !see(2) || see(3) {
		t.Error("not two are kept")
	}
	b.m.BeginSweep(b.l)
	see(2)
	b.m.EndSweep(b.l)
	if n := b.m.visits.len(); n != 1 || !see(3) {
		t.Errorf("%d are kept", n)
	}
}

// The ages of a look-up that was dropped do not keep those of others from being counted.
func TestAgesMakeRoom(t *testing.T) {
	b := setup(t, Settings{Visits: 2}, nil)
	dropped := *b.l
	dropped.Rewrite.Table = "t_by_another"
	see := func(l *match.LookUp, id int64) (time.Duration, bool) {
		return b.m.visits.age(&entry{lookup: l, value: []byte("v"), id: id}, b.m.Uptime)
	}
	see(&dropped, 1)
	see(b.l, 2)
	b.uptime += 5 * 24 * time.Hour
	see(b.l, 2)
	if _, noted := see(b.l, 3); noted {
		t.Error("what was looked at a few days ago is forgotten")
	}
	b.uptime += 3 * 24 * time.Hour
	if _, noted := see(b.l, 3); !noted || b.m.visits.len() != 2 {
		t.Errorf("nothing made room; %d are kept", b.m.visits.len())
	}
	if age, _ := see(b.l, 2); age != 8*24*time.Hour {
		t.Errorf("what is looked at is %v old", age)
	}
}

// Where a tombstone goes soon, what has expired or was deleted is no evidence.
func TestExpiringIsNoEvidence(t *testing.T) {
	for grace, want := range map[int]int{864000: 0, 60: 1, 0: 1} {
		b := setup(t, Settings{}, func(x *schema.Table) { x.GCGrace = grace })
		b.write(b.change("a"))
		x := b.change("b")
		x.TTL = 10
		b.write(x)
		if n := b.entries("a"); n != want {
			t.Errorf("gc_grace_seconds %d: %d entries of the former value", grace, n)
		}
	}
}

// Run ends with its context, and does what waits meanwhile.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, Settings{}, nil)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); b.m.Run(ctx) }()
		b.write(b.change("a"))
		b.write(b.change("b"))
		synctest.Wait()
		if c := b.m.Counts(); c.Pending != 0 || b.entries("a") != 0 {
			t.Errorf("%+v", c)
		}
		cancel()
		<-done
	})
}

// A request that brings its own time (now_in_seconds) may have its cell live longer than any clock of ours says: its entry stays.
func TestOwnTimeHasNoTTL(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		b := setup(t, Settings{}, nil)
		x := b.change("a")
		x.Stamped, x.TTL, x.OwnTime = stamped, 2, true
		if b.write(x); x.entry.ttl != 0 {
			t.Errorf("case 22: stamped %t: the entry lives for %d s", stamped, x.entry.ttl)
		}
		b.now = b.now.Add(3 * time.Hour)
		if b.entries("a") != 1 {
			t.Errorf("case 22: stamped %t: the entry is gone", stamped)
		}
	}
}

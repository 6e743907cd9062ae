package burst

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
)

// twissandra says what that application writes (docs/design/mapping.md 2.4): friends are stored both ways, a tweet goes into its table, into two
// lines of its author (one of them public) and into the timelines of the followers, found by a read.
type twissandra struct {
	r    *rand.Rand
	h    value.Hasher
	m    *Miner
	st   map[string]*trace.Statement
	said int
}

func newTwissandra(seed uint64) *twissandra {
	return &twissandra{r: rand.New(rand.NewPCG(seed, 1)), h: value.Hasher{K0: 3, K1: 4}, m: New(5), st: map[string]*trace.Statement{}}
}

func (w *twissandra) write(process uint64, batch uint64, at int64, name string, values ...int) {
	st := w.st[name]
	if st == nil {
		st = &trace.Statement{Fingerprint: name, Table: name, Write: true}
		w.st[name] = st
	}
	e := &trace.Execution{Statement: st, Process: process, Batch: batch, Start: at, End: at + 1e6}
	for i, n := range values {
		v := w.h.Of(value.Integer, binary.BigEndian.AppendUint32(nil, uint32(n)))
		v.Index = uint16(i)
		e.Binds = append(e.Binds, v)
	}
	w.m.Add(e)
	w.said++
}

const public = 999_999

// run lets some threads of a process write for a while.
func (w *twissandra) run(requests int, each int64) {
	at := int64(0)
	for i := range requests {
		at += int64(w.r.ExpFloat64() * float64(each))
		process, user := uint64(1+i%2), 1+w.r.IntN(300)
		now := 1_000_000 + i
		switch w.r.IntN(3) {
		case 0, 1:
			tweet := 2_000_000 + i
			w.write(process, 0, at, "tweets", tweet, user, 3_000_000+i)
			w.write(process, 0, at+2e6, "userline", user, now, tweet)
			w.write(process, 0, at+3e6, "userline", public, now, tweet)
			for f := range 3 {
				w.write(process, 0, at+4e6+int64(f)*2e6, "timeline", 1+w.r.IntN(300), now, tweet)
			}
		case 2:
			friend := 1 + w.r.IntN(300)
			batch := uint64(0)
			if i%2 == 0 {
				batch = uint64(i + 1)
			}
			w.write(process, batch, at, "friends", user, friend, now)
			w.write(process, batch, at+1e6, "followers", friend, user, now)
		}
		if w.r.IntN(3) == 0 { // something else, with keys of the same range
			w.write(process, 0, at+5e6, "log", 1+w.r.IntN(300))
		}
	}
}

// TestTwissandra: which writes go together, and which of their columns are the same, even when a dozen requests are under way at once and
// the followers are numbers like all others.
func TestTwissandra(t *testing.T) {
	columns := map[string][]string{"tweets": {"id", "author", "body"}, "userline": {"user", "time", "id"}, "timeline": {"user", "time", "id"},
		"friends": {"user", "friend", "since"}, "followers": {"user", "follower", "since"}}
	all := []string{"followers friends", "timeline tweets", "timeline userline", "tweets userline"}
	for _, each := range []int64{100e6, 10e6} {
		w := newTwissandra(uint64(each))
		w.run(3000, each)
		var found []string
		same := map[string]bool{}
		for _, p := range w.m.Pairs() {
			found = append(found, min(p.From, p.To)+" "+max(p.From, p.To))
			for _, e := range p.Equal {
				if e.Mean < 1 || e.Mean > p.Mean || p.From+" "+p.To == "tweets userline" && (e.From == 0 && e.Mean < 1.9 || e.From == 1 && e.Mean > 1.1) { // two lines of a tweet, one of its author
					t.Errorf("%s and %s: %+v", p.From, p.To, e)
				}
				if e.Same {
					ends := []string{p.From + "." + columns[p.From][e.From], p.To + "." + columns[p.To][e.To]}
					slices.Sort(ends)
					same[ends[0]+" = "+ends[1]] = true
				}
			}
			switch p.From + " " + p.To {
			case "tweets userline":
				if p.Mean < 1.9 || p.Mean > 2.1 || p.Batched != 0 || float64(p.Accompanied) < 0.95*float64(p.Writes) {
					t.Errorf("two lines: %+v", p)
				}
			case "followers friends":
				if p.Batched < p.Accompanied/3 || p.Batched > p.Accompanied*2/3 {
					t.Errorf("half of them in batches: %+v", p)
				}
			}
		}
		slices.Sort(found)
		if d := cmp.Diff(all, found); d != "" {
			t.Errorf("every %d ms: %s", each/1e6, d)
		}
		for _, name := range []string{"followers.user = friends.friend", "followers.follower = friends.user", "followers.since = friends.since", "timeline.id = tweets.id", "tweets.id = userline.id"} {
			if !same[name] {
				t.Errorf("every %d ms: %s is not found", each/1e6, name)
			}
		}
		if same["tweets.author = userline.user"] {
			t.Error("the author is one of two lines' users only: the other line is public")
		}
	}
}

// TestBusyWriters: writes that go together are found at every rate, also if they are looked at for two seconds in forty only.
func TestBusyWriters(t *testing.T) {
	for _, each := range []int64{1e6, 5e6, 25e6, 400e6} {
		for _, windows := range []bool{false, true} {
			w := newTwissandra(uint64(each))
			at := int64(0)
			for i := range max(2_000, int(4e9/each)) {
				if at += each; windows && at%40e9 > 2e9 {
					at += 40e9 - at%40e9
				}
				w.write(1, 0, at, "a", 10_000+i, i%7)
				w.write(1, 0, at+3e5, "b", 10_000+i, i%5)
			}
			if p := w.m.Pairs(); len(p) != 1 || len(w.m.Templates()) != 1 || p[0].Accompanied < p[0].Writes*9/10 || p[0].Tried < p[0].Writes/5 {
				t.Errorf("a write every %d us, in windows %t: %+v", each/1000, windows, p)
			}
		}
	}
}

func TestReadsAndFailuresAreNoWrites(t *testing.T) {
	m := New(1)
	st := &trace.Statement{Fingerprint: "w", Write: true}
	m.Add(&trace.Execution{Statement: &trace.Statement{Fingerprint: "r"}})
	m.Add(&trace.Execution{Statement: st, Failed: true})
	if len(m.clients) != 0 {
		t.Error("a read or a failed write is remembered")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	w := newTwissandra(1)
	for i := range 20_000 {
		w.write(uint64(i%30), 0, int64(i)*1e5, fmt.Sprint("s", i%500), i%7)
	}
	for _, c := range w.m.clients {
		if len(c.recent) > maxRecent+1 || len(c.vectors) > maxVectors {
			t.Errorf("%d writes, %d vectors", len(c.recent), len(c.vectors))
		}
		for _, v := range c.vectors {
			if v.Len() > reservoir {
				t.Errorf("%d former writes", v.Len())
			}
		}
	}
	if len(w.m.clients) > maxClients || len(w.m.pairs) > maxPairs {
		t.Errorf("%d clients, %d pairs", len(w.m.clients), len(w.m.pairs))
	}
}

func TestMergeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts [3][]Pair
		for i := range parts {
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, "names") {
				parts[i] = Merge(parts[i], []Pair{{From: name, To: "z", Writes: rapid.IntRange(0, 3).Draw(t, "writes"), Decoys: rapid.IntRange(0, 3).Draw(t, "decoys")}})
			}
		}
		one := Merge(Merge(parts[0], parts[1]), parts[2])
		if d := cmp.Diff(one, Merge(parts[2], Merge(parts[1], parts[0]))); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(one, Merge(one, parts[1])); d != "" {
			t.Fatal(d)
		}
	})
}

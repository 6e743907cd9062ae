package burst

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/trace"
)

// spelt writes templates down: statements with their rounded numbers.
func spelt(list []Template) (out []string) {
	for _, t := range list {
		var parts []string
		for _, w := range t.Writes {
			parts = append(parts, fmt.Sprintf("%s x%.0f", w.Fingerprint, w.Mean))
		}
		out = append(out, strings.Join(parts, ", "))
	}
	return out
}

// TestTemplates: docs/design/mapping.md 2.4: a tweet is one burst of three statements, with two lines and as many timelines as there are
// followers, always in this order; a friendship is another, half of the time in one BATCH.
func TestTemplates(t *testing.T) {
	for each, share := range map[int64]float64{100e6: 0.9, 10e6: 0.8} {
		w := newTwissandra(uint64(each))
		w.run(3000, each)
		list := w.m.Templates()
		if d := cmp.Diff([]string{"friends x1, followers x1", "tweets x1, userline x2, timeline x3"}, spelt(list)); d != "" {
			t.Fatalf("every %d ms: %s", each/1e6, d)
		}
		friends, tweets := list[0], list[1]
		if float64(tweets.Count) < share*2000 || tweets.Count > 2100 || float64(friends.Count) < share*1000 || friends.Count > 1100 {
			t.Errorf("every %d ms: %d tweets, %d friendships", each/1e6, tweets.Count, friends.Count)
		}
		if tweets.Batched != 0 || tweets.Ordered < 0.99 || tweets.Waited < 0.95 || tweets.Writes[2].Most < 3 || tweets.Writes[0].Table != "tweets" {
			t.Errorf("every %d ms: %+v", each/1e6, tweets)
		}
		if half := float64(friends.Batched) / float64(friends.Count); half < 0.4 || half > 0.6 || friends.Ordered != 1 || friends.Waited != 1 {
			t.Errorf("every %d ms: %+v", each/1e6, friends)
		}
	}
}

// TestLogIsNoBridge: a log that is written with orders and with refunds makes no burst of orders and refunds.
func TestLogIsNoBridge(t *testing.T) {
	w := newTwissandra(1)
	for i := range 600 {
		at, name := int64(i)*100e6, []string{"orders", "refunds"}[i%2]
		w.write(1, 0, at, name, 10_000+i, i%50)
		w.write(1, 0, at+2e6, "log", 10_000+i, 90_000+i)
	}
	if d := cmp.Diff([]string{"orders x1, log x1", "refunds x1, log x1"}, spelt(w.m.Templates())); d != "" {
		t.Error(d)
	}
	for _, p := range w.m.Pairs() {
		if p.Before+p.After+p.Batched != p.Accompanied || p.From == "log" && p.After != p.Accompanied || p.To == "log" && p.Before != p.Accompanied {
			t.Errorf("%+v", p)
		}
	}
}

// TestOrder: which statement is said first, whether that is always so, and whether the second waits for the first.
func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name            string
		gap             int64 // from one start to the next; a write takes 1 ms
		turned          int   // one of so many bursts is the other way round, 0 for none
		ordered, waited float64
	}{
		{"one after the other", 2e6, 0, 1, 1}, {"at once, one first", 1e5, 0, 1, 0}, {"as it comes", 1e5, 2, 0.5, 0}, {"seldom turned", 2e6, 10, 0.9, 1},
	} {
		w := newTwissandra(2)
		for i := range 400 {
			names := []string{"zebra", "ant"}
			if test.turned > 0 && i%test.turned == 0 {
				slices.Reverse(names)
			}
			for k, name := range names {
				w.write(1, 0, int64(i)*100e6+int64(k)*test.gap, name, 10_000+i, 20_000+i)
			}
		}
		list := w.m.Templates()
		if len(list) != 1 || test.ordered > 0.6 && list[0].Writes[0].Fingerprint != "zebra" || list[0].Ordered < test.ordered-0.02 || list[0].Ordered > test.ordered+0.02 || list[0].Waited != test.waited {
			t.Errorf("%s: %+v", test.name, list)
		}
	}
}

// TestBatchIsATemplate: children of one BATCH go together whatever they say; no other write does.
func TestBatchIsATemplate(t *testing.T) {
	w := newTwissandra(3)
	for i := range 100 {
		for k, name := range []string{"a", "b", "c", "c"} {
			w.write(1, uint64(i+1), int64(i)*20e6, name, 1_000_000+4*i+k)
		}
		w.write(1, 0, int64(i)*20e6+1e6, "d", 2_000_000+i)
	}
	list := w.m.Templates()
	if d := cmp.Diff([]string{"a x1, b x1, c x2"}, spelt(list)); d != "" || list[0].Batched != list[0].Count || list[0].Ordered != 0 {
		t.Errorf("%s %+v", d, list)
	}
}

// TestBurstsAreBounded: nothing of a burst is held once its writes are gone, however long the chain of those that belong together.
func TestBurstsAreBounded(t *testing.T) {
	w := newTwissandra(4)
	for i := range 20_000 { // each shares a value with the one before, and with the one after
		w.write(1, 0, int64(i)*1e6, fmt.Sprint("s", i%100), i, i+1)
	}
	held := map[*write]bool{}
	var walk func(x *write)
	walk = func(x *write) {
		if !held[x] {
			held[x] = true
			for _, u := range x.links {
				walk(u)
			}
		}
	}
	for _, c := range w.m.clients {
		for _, x := range c.recent {
			walk(x)
			if len(x.links) > maxLinks || x.settled {
				t.Fatalf("%d links", len(x.links))
			}
		}
	}
	if len(held) > 2*maxRecent+maxLinks {
		t.Errorf("%d writes are held", len(held))
	}
	m := New(1)
	r := rand.New(rand.NewPCG(1, 1))
	for range 5_000 {
		g := &group{}
		for range 2 + r.IntN(40) {
			g.add(&write{e: &trace.Execution{Statement: &trace.Statement{Fingerprint: fmt.Sprint(r.IntN(60))}}})
		}
		m.finish(g)
	}
	if len(m.templates) > maxTemplates {
		t.Errorf("%d templates", len(m.templates))
	}
	for _, x := range m.templates {
		if len(x.orders) > maxOrders || len(x.statements) > maxMembers {
			t.Errorf("%d orders of %d statements", len(x.orders), len(x.statements))
		}
	}
}

func TestMergeTemplatesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts [3][]Template
		for i := range parts {
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				names := rapid.Permutation([]string{"a", "b", "c"}).Draw(t, "names")[:rapid.IntRange(2, 3).Draw(t, "members")]
				one := Template{Count: rapid.IntRange(1, 3).Draw(t, "count"), Ordered: float64(rapid.IntRange(0, 1).Draw(t, "ordered"))}
				for _, n := range names {
					one.Writes = append(one.Writes, Member{Fingerprint: n, Mean: float64(rapid.IntRange(1, 2).Draw(t, "mean"))})
				}
				parts[i] = MergeTemplates(parts[i], []Template{one})
			}
		}
		one := MergeTemplates(MergeTemplates(parts[0], parts[1]), parts[2])
		for _, other := range [][]Template{MergeTemplates(parts[2], MergeTemplates(parts[1], parts[0])), MergeTemplates(one, parts[1])} {
			if d := cmp.Diff(one, other); d != "" {
				t.Fatal(d)
			}
		}
	})
}

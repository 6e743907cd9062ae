package limit_test

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy/limit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var here = netip.MustParseAddr("192.0.2.1")

const second = int64(1_000_000_000)

func TestConnections(t *testing.T) {
	g := limit.NewGuests(2, 0, 0)
	a, b := g.Join(here), g.Join(netip.MustParseAddr("::ffff:192.0.2.1")) // the same address
	if a == nil || a != b {
		t.Fatal("two connections of one address are two guests")
	}
	if g.Join(here) != nil {
		t.Error("the third connection is allowed")
	}
	if g.Join(netip.MustParseAddr("192.0.2.2")) == nil {
		t.Error("another address pays for the first")
	}
	a.Leave()
	if g.Join(here) != a {
		t.Error("who left made no room")
	}
	if a.Limited() {
		t.Error("requests are limited, though no rate was given")
	}
	a.Leave()
	b.Leave()
	if n := g.Len(); n != 1 {
		t.Errorf("%d guests are remembered, one has a connection", n)
	}
}

func TestBurstAndRate(t *testing.T) {
	o := limit.NewGuests(0, 10, 3).Join(here)
	ask := func(now int64) (n int) {
		for o.Allow(now) {
			n++
		}
		return n
	}
	for i, c := range []struct {
		now  int64
		want int
	}{{0, 3}, {second / 10, 1}, {second/10 + 1, 0}, {3 * second / 10, 2}, {10 * second, 3}, {9 * second, 0}} {
		if got := ask(c.now); got != c.want {
			t.Errorf("step %d: %d requests allowed, want %d", i, got, c.want)
		}
	}
}

// TestRateHoldsOverAnyStretch: between any two moments no more than the burst and the rate's share are allowed, and a guest
// that keeps to its rate is never refused.
func TestRateHoldsOverAnyStretch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate, burst := rapid.IntRange(1, 100_000).Draw(t, "rate"), rapid.IntRange(1, 100).Draw(t, "burst")
		o := limit.NewGuests(0, rate, burst).Join(here)
		interval := second / int64(rate)
		var allowed []int64
		now := int64(0)
		for range 200 {
			now += rapid.Int64Range(0, 3*interval).Draw(t, "pause")
			if o.Allow(now) {
				allowed = append(allowed, now)
			} else if len(allowed) < burst {
				t.Fatalf("refused at %d after %d requests, the burst is %d", now, len(allowed), burst)
			}
		}
		for i := range allowed {
			for j := i; j < len(allowed); j++ {
				if n, most := int64(j-i+1), int64(burst)+(allowed[j]-allowed[i])/interval; n > most {
					t.Fatalf("%d requests in %d ns, at most %d may be", n, allowed[j]-allowed[i], most)
				}
			}
		}
		steady := limit.NewGuests(0, rate, burst).Join(here)
		for i := range int64(100) {
			if !steady.Allow(i * interval) {
				t.Fatal("a guest that keeps to its rate is refused")
			}
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	g := limit.NewGuests(0, 1000, 500)
	var work sync.WaitGroup
	var allowed atomic.Int64
	first := g.Join(here)
	for range 8 {
		work.Go(func() {
			o := g.Join(here)
			defer o.Leave()
			for range 1000 {
				if o.Allow(second) {
					allowed.Add(1)
				}
			}
		})
	}
	work.Wait()
	if n := allowed.Load(); n != 500 {
		t.Errorf("%d requests allowed at one moment, the burst is 500", n)
	}
	first.Leave()
	if g.Len() != 0 {
		t.Error("a guest without connections is remembered")
	}
	if n := testing.AllocsPerRun(100, func() { first.Allow(second) }); n != 0 {
		t.Errorf("a request allocates %v times", n)
	}
}

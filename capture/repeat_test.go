package capture

import (
	"testing"

	"github.com/helenus-db/helenus/proxy"
)

// TestRepetitions: what comes again after it failed is a retry, what comes again while it is under way may be a speculative
// execution; of another process, later, or of other bytes it is neither.
func TestRepetitions(t *testing.T) {
	const at, hash = int64(100e9), uint64(0x123456789ABCDE10)
	one, two := &proxy.Client{ID: 1, Mark: 7 << 32}, &proxy.Client{ID: 2, Mark: 8 << 32}
	ok := func(start, end int64, hash uint64, c *proxy.Client) *proxy.Exchange {
		return &proxy.Exchange{Client: c, Start: at + start*1e6, End: at + end*1e6, Hash: hash}
	}
	failed := func(start, end int64, code int32) *proxy.Exchange {
		x := ok(start, end, hash, one)
		x.Failed, x.ErrorCode = true, code
		return x
	}
	for name, c := range map[string]struct {
		first, second *proxy.Exchange
		want          repetition
	}{
		"again after a timeout":      {failed(0, 10, 0x1200), ok(11, 20, hash, one), retried},
		"again after an overload":    {failed(0, 10, 0x1001), ok(4000, 4100, hash, one), retried},
		"long after":                 {failed(0, 10, 0x1200), ok(6000, 6001, hash, one), first},
		"after a syntax error":       {failed(0, 10, 0x2000), ok(11, 20, hash, one), first},
		"after a success":            {ok(0, 10, hash, one), ok(11, 20, hash, one), first},
		"while under way":            {ok(0, 10, hash, one), ok(5, 8, hash, one), twin},
		"of another process":         {ok(0, 10, hash, one), ok(5, 8, hash, two), first},
		"other bytes":                {ok(0, 10, hash, one), ok(5, 8, hash^1<<60, one), first},
		"failed, of another process": {failed(0, 10, 0x1200), ok(11, 20, hash, two), first},
		"not seen whole":             {ok(0, 10, 0, one), ok(5, 8, 0, one), first},
	} {
		r := new(repeats)
		r.lastFailure.Store(-1 << 62)
		if got := r.classifyRepeat(c.first); got != first {
			t.Errorf("%s: the first is %d", name, got)
		}
		if got := r.classifyRepeat(c.second); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestCallersAreToldApartUpToABound(t *testing.T) {
	r := registry(t, Options{})
	shop := &proxy.Client{Application: "shop", Driver: "gocql", Role: "ann", Address: "10.0.0.1:5"}
	rec := r.Statement("k", "SELECT a FROM t")
	said := uint64(0)
	say := func(c *proxy.Client, n int) {
		c.Mark = r.Mark(c)
		x := exchange(10)
		x.Client = c
		for range n {
			rec.Done([]proxy.Exchange{*x})
			said++
		}
	}
	say(shop, 3)
	again := *shop
	again.Address = "10.0.0.2:77"
	say(&again, 2) // another process of the same application
	for i := range 20 {
		say(&proxy.Client{Application: string(rune('a' + i))}, 1)
	}
	s := conserved(t, r, said).Statements[0]
	if c := s.Callers[0]; c.Caller != (Caller{Role: "ann", Application: "shop", Driver: "gocql"}) || c.Count != 5 || c.Micros != 50 {
		t.Errorf("first caller: %+v", c)
	}
	if c := s.Callers[len(s.Callers)-1]; len(s.Callers) != callers || !c.Rest || c.Count != 14 {
		t.Errorf("%d callers, the last %+v", len(s.Callers), c)
	}
	for i := range 2 * maxCallers {
		r.Mark(&proxy.Client{Application: "made up " + string(rune(i+1000))})
	}
	if len(r.callers.list) != maxCallers+1 {
		t.Errorf("%d callers are remembered", len(r.callers.list))
	}
	if n := r.Mark(&proxy.Client{Application: "one more"}); uint32(n) != 0 {
		t.Error("a caller beyond the bound is told apart")
	}
}

func TestUnknownRequestsAreCounted(t *testing.T) {
	r := registry(t, Options{})
	r.Unknown().Done([]proxy.Exchange{*exchange(10)})
	r.Unknown().Prepared(&proxy.Prepared{})
	if b := r.Batch(0, []proxy.Record{r.Unknown(), r.Statement("k", "INSERT INTO t (a) VALUES (1)")}); b != r.other {
		t.Error("a batch with an unknown child is not other")
	}
	if s := conserved(t, r, 1); s.Unknown.Count != 1 || s.Requests() != 1 {
		t.Errorf("unknown: %+v", s.Unknown)
	}
}

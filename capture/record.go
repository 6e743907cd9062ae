package capture

import (
	"reflect"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

// consistencyNames are in the order of the wire's codes; the last counts all others.
var consistencyNames = [...]string{
	"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE", "UNKNOWN",
}

// counters are one stripe of a record. Every field is added to atomically.
type counters struct {
	count, failed, inBatch, paged, morePages, serial, warned, rewritten atomic.Uint64

	errors      [len(proxy.ErrorNames)]atomic.Uint64
	consistency [len(consistencyNames)]atomic.Uint64

	latency, request, response, rows histogram.Histogram
}

// A record that is used much is spread over stripes, so that connections on different processors do not fight for its
// cache lines. Most records never are, and a stripe takes 4 KB.
const (
	stripes  = 8
	hotAfter = 4096 // executions after which a record is spread
)

// record counts one statement. It implements proxy.Record.
type record struct {
	registry    *Registry
	print       cql.Print
	fingerprint string
	keyspace    string
	table       string
	kind        cql.Kind
	text        string
	conditional bool
	ranges      func(variables []proxy.Column) []bool
	restricted  string   // by what it restricts its rows; see values.go
	shown       string   // what of the text may be logged; see slowrequest.go
	parts       []string // a BATCH: fingerprints of its first children

	first int64                    // Unix nanoseconds
	last  atomic.Int64             // nanoseconds since the proxy started, as Exchange.End
	base  atomic.Pointer[counters] // stripe 0
	more  [stripes - 1]atomic.Pointer[counters]
	shape atomic.Pointer[shape]
}

// shape is what Cassandra said of a statement when it was prepared.
type shape struct {
	variables []proxy.Column
	results   []proxy.Column
	sampled   *trace.Statement
}

// Prepared notes the columns of the statement. Of the client's own text nothing is kept.
func (r *record) Prepared(p *proxy.Prepared) {
	if p == nil || r == r.registry.other {
		return
	}
	before := r.shape.Load()
	if before != nil && reflect.DeepEqual(before.variables, p.Variables) && reflect.DeepEqual(before.results, p.Results) {
		return
	}
	r.shape.Store(&shape{variables: p.Variables, results: p.Results, sampled: r.described(p)})
	if before == nil && len(p.Variables)+len(p.Results) > 0 {
		r.registry.windows.Extra(r.registry.now())
	}
}

// Done counts exchanges. A child of a batch counts as executed, with its errors and consistency; time and bytes are the
// batch's. Those that were answered together are mostly alike, and what is alike in them is added at once.
func (r *record) Done(xs []proxy.Exchange) {
	c := r.stripe(xs[0].Client)
	c.count.Add(uint64(len(xs)))
	var alike alike
	var latency, request, response, rows histogram.Run
	var last int64
	for i := range xs {
		x := &xs[i]
		alike.add(c, manner{x.Consistency, x.Paged, x.MorePages, x.Serial})
		if x.Failed {
			c.failed.Add(1)
			c.errors[proxy.ErrorPlace(x.ErrorCode)].Add(1)
		}
		add(&c.warned, x.Warned, 1)
		add(&c.rewritten, x.Rewritten, 1)
		last = max(last, x.End)
		if x.InBatch {
			c.inBatch.Add(1)
		} else {
			latency.Add(&c.latency, natural(x.End-x.Start)/uint64(time.Microsecond))
			request.Add(&c.request, natural(int64(x.RequestBytes)))
			response.Add(&c.response, natural(int64(x.ResponseBytes)))
			if x.Rows >= 0 {
				rows.Add(&c.rows, natural(int64(x.Rows)))
			}
			if slow := r.registry.slow; slow != nil && x.End-x.Start >= r.registry.slowAfter {
				slow.Add(r.slow(x))
			}
		}
		if x.Values != nil || x.Response != nil {
			r.observe(x)
		}
	}
	alike.flush(c)
	latency.Flush(&c.latency)
	request.Flush(&c.request)
	response.Flush(&c.response)
	rows.Flush(&c.rows)
	if last > r.last.Load() {
		r.last.Store(last) // of two at once either may win; they are nanoseconds apart
	}
}

// manner is how a statement was asked for and answered, as far as few manners occur.
type manner struct {
	consistency              uint16
	paged, morePages, serial bool
}

// alike counts exchanges of one manner that follow one another.
type alike struct {
	manner
	n uint64
}

func (a *alike) add(c *counters, m manner) {
	if m != a.manner {
		a.flush(c)
		a.manner = m
	}
	a.n++
}

// flush adds what was counted.
func (a *alike) flush(c *counters) {
	if a.n == 0 {
		return
	}
	c.consistency[min(int(a.consistency), len(consistencyNames)-1)].Add(a.n)
	add(&c.paged, a.paged, a.n)
	add(&c.morePages, a.morePages, a.n)
	add(&c.serial, a.serial, a.n)
	a.n = 0
}

func add(n *atomic.Uint64, yes bool, times uint64) {
	if yes {
		n.Add(times)
	}
}

func natural(n int64) uint64 { return uint64(max(n, 0)) }

// stripe returns the counters for a client.
func (r *record) stripe(c *proxy.Client) *counters {
	base := r.base.Load()
	if base == nil {
		base = fresh(&r.base)
	}
	if r.registry.stripes == 1 || c == nil || base.count.Load() < hotAfter {
		return base
	}
	i := c.ID % uint64(r.registry.stripes)
	if i == 0 {
		return base
	}
	if s := r.more[i-1].Load(); s != nil {
		return s
	}
	return fresh(&r.more[i-1])
}

// fresh puts new counters in place, unless another goroutine was quicker.
func fresh(p *atomic.Pointer[counters]) *counters {
	p.CompareAndSwap(nil, &counters{})
	return p.Load()
}

// snapshot adds the stripes up. ok is false if the statement was never executed.
func (r *record) snapshot() (s Statement, ok bool) {
	s = Statement{
		Fingerprint: r.fingerprint, Keyspace: r.keyspace, Table: r.table, Kind: r.kind.String(), Text: r.text,
		Conditional: r.conditional,
	}
	var errors [len(proxy.ErrorNames)]uint64
	var consistency [len(consistencyNames)]uint64
	for i := range stripes {
		var c *counters
		if i == 0 {
			c = r.base.Load()
		} else {
			c = r.more[i-1].Load()
		}
		if c == nil {
			continue
		}
		s.Count += c.count.Load()
		s.Errors += c.failed.Load()
		s.InBatch += c.inBatch.Load()
		s.Paged += c.paged.Load()
		s.MorePages += c.morePages.Load()
		s.Serial += c.serial.Load()
		s.Warned += c.warned.Load()
		s.Rewritten += c.rewritten.Load()
		for i := range errors {
			errors[i] += c.errors[i].Load()
		}
		for i := range consistency {
			consistency[i] += c.consistency[i].Load()
		}
		c.latency.AddTo(&s.Latency)
		c.request.AddTo(&s.RequestBytes)
		c.response.AddTo(&s.ResponseBytes)
		c.rows.AddTo(&s.Rows)
	}
	if s.Count == 0 {
		return s, false
	}
	s.ErrorCodes = named(errors[:], proxy.ErrorNames[:])
	s.Consistency = named(consistency[:], consistencyNames[:])
	if p := r.shape.Load(); p != nil {
		s.Variables, s.Results = columns(p.variables), columns(p.results)
	}
	s.First = time.Unix(0, r.first).UTC()
	s.Last = r.registry.started.Add(time.Duration(r.last.Load())).UTC()
	if s.Last.Before(s.First) {
		s.Last = s.First
	}
	return s, true
}

func named(counts []uint64, names []string) map[string]uint64 {
	var out map[string]uint64
	for i, n := range counts {
		if n != 0 {
			if out == nil {
				out = map[string]uint64{}
			}
			out[names[i]] = n
		}
	}
	return out
}

func columns(in []proxy.Column) []Column {
	var out []Column
	for _, c := range in {
		out = append(out, Column(c))
	}
	return out
}

package capture

import (
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

// A record that is used much is spread over stripes, so that connections on different processors do not fight for its
// cache lines. Most records never are.
const (
	stripes  = 8
	hotAfter = 4096 // executions of one caller after which a record is spread
)

// record counts one statement. It implements proxy.Record.
//
// Who holds a record (the proxy, for a prepared statement; the cache of texts) may hold it for ever, so a record that the
// registry forgets is emptied and stays as a sign to elsewhere: gone. What is said to it is the registry's business
// (admit.go).
type record struct {
	registry    *Registry
	print       cql.Print
	born        uint64 // number of its admission, so that two lives of one statement are told apart
	description atomic.Pointer[description]
	gone        atomic.Bool
	heir        atomic.Pointer[record] // of one that is gone: where its statement is counted now
	hot         atomic.Bool
	bytes       atomic.Int64 // memory that it takes, as far as it is the registry's
	weight      float64      // when the registry made room last; under Registry.mu
	weighed     float64      // its work until then

	first  int64                    // Unix nanoseconds
	last   atomic.Int64             // nanoseconds since the proxy started, as Exchange.End, to the millisecond
	base   atomic.Pointer[counters] // stripe 0
	more   [stripes - 1]atomic.Pointer[counters]
	shape  atomic.Pointer[shape]
	wanted atomic.Pointer[executionWaiter] // somebody waits for an execution with its values (trace.go)

	// Where it stands in Registry.lastStatements, from 1, and its count then. Under Registry.snapshotting.
	place   int
	counted uint64
}

const recordBytes = int64(unsafe.Sizeof(record{}))

// shape is what Cassandra said of a statement when it was prepared.
type shape struct {
	variables, results []proxy.Column
	shown              [2][]Column // the same, for snapshots
	sampled            *trace.Statement
}

func (s *shape) bytes() int64 { return int64(256 + 256*(len(s.variables)+len(s.results))) }

// Prepared notes the columns of the statement. Of the client's own text nothing is kept.
func (r *record) Prepared(p *proxy.Prepared) {
	if p == nil || r.gone.Load() || r.isCatchAll() {
		return
	}
	before := r.shape.Load()
	if before != nil && reflect.DeepEqual(before.variables, p.Variables) && reflect.DeepEqual(before.results, p.Results) {
		return
	}
	s := &shape{variables: p.Variables, results: p.Results, shown: [2][]Column{columnsOf(p.Variables), columnsOf(p.Results)}, sampled: r.describedStatement(p)}
	if r.shape.Swap(s) == nil {
		r.addBytes(s.bytes())
	}
	if before == nil && len(p.Variables)+len(p.Results) > 0 {
		r.registry.windows.Extra(r.registry.now())
	}
}

// isCatchAll reports whether r is one of the records that count what has none of its own.
func (r *record) isCatchAll() bool { return r == r.registry.other || r == r.registry.unknown }

// Done counts exchanges, of one client. A child of a batch counts as executed, with its errors and consistency; time and
// bytes are the batch's.
//
// A record that is forgotten while it counts loses nothing: who forgets it says so (gone) and then takes what was
// counted; who counts looks afterwards whether it is gone, and if so takes what it counted itself to the same place. Go's
// atomics are sequentially consistent, so one of the two finds it.
func (r *record) Done(xs []proxy.Exchange) {
	if r.gone.Load() {
		r.registry.countForgotten(r, xs)
		return
	}
	c := r.countExchanges(xs)
	if r.gone.Load() {
		r.moveToOther(c)
	}
	r.showExchanges(xs)
}

// moveToOther takes what a record counted in c to other, and gives its memory back. The record is gone.
func (r *record) moveToOther(c *counters) {
	other := r.registry.other
	if took := c.drainTo(other.stripeFor(nil)); took != 0 {
		other.addBytes(int64(took))
	}
	r.base.Store(nil)
	for i := range r.more {
		r.more[i].Store(nil)
	}
	r.registry.used.Add(-r.bytes.Swap(0))
}

func (r *record) countExchanges(xs []proxy.Exchange) *counters {
	x := &xs[len(xs)-1]
	c := r.stripeFor(x.Client)
	took, n := c.addExchanges(xs, callerOf(x), &r.registry.repeats)
	if took != 0 {
		r.addBytes(int64(took))
	}
	if n >= hotAfter && !r.hot.Load() {
		r.hot.Store(true)
	}
	if end := x.End; end > r.last.Load()+int64(time.Millisecond) {
		r.last.Store(end) // of two at once either may win
	}
	return c
}

// showExchanges shows the exchanges to those that look at single ones. One with values comes alone.
func (r *record) showExchanges(xs []proxy.Exchange) {
	if slow := r.registry.slow; slow != nil {
		for i := range xs {
			if x := &xs[i]; x.End-x.Start >= r.registry.slowAfter && !x.InBatch {
				slow.Add(r.slowRequest(x))
			}
		}
	}
	if x := &xs[0]; x.Trace != nil && r.registry.options.Traced != nil {
		r.registry.options.Traced(r.traced(x))
	}
	if x := &xs[0]; x.Values != nil || x.Response != nil {
		if w := r.wanted.Load(); w != nil {
			w.deliver(x)
		}
		if r.registry.windows.Open() {
			r.showValues(x)
		}
	}
}

// addBytes notes that the record takes n bytes more.
func (r *record) addBytes(n int64) {
	r.bytes.Add(n)
	if r.registry.used.Add(n) > r.registry.budget {
		r.registry.makeRoom()
	}
}

// stripeFor returns the counters for a client.
func (r *record) stripeFor(c *proxy.Client) *counters {
	i := uint64(0)
	if c != nil && r.hot.Load() {
		i = c.ID % uint64(r.registry.stripes)
	}
	p := &r.base
	if i > 0 {
		p = &r.more[i-1]
	}
	if s := p.Load(); s != nil {
		return s
	}
	if p.CompareAndSwap(nil, &counters{}) { // else another goroutine was quicker
		r.addBytes(countersBytes)
	}
	if s := p.Load(); s != nil {
		return s
	}
	return r.registry.other.stripeFor(c) // it was forgotten this instant
}

// allStripes are the stripes that there are.
func (r *record) allStripes() (list [stripes]*counters) {
	list[0] = r.base.Load()
	for i := range r.more {
		list[i+1] = r.more[i].Load()
	}
	return list
}

// workDone is what was done so far: one for each execution and one for each millisecond that it took.
func (r *record) workDone() float64 {
	var n, micros uint64
	for _, c := range r.allStripes() {
		if c != nil {
			for i := range c.byCaller {
				n += c.byCaller[i].count.Load()
				micros += c.byCaller[i].micros.Load()
			}
		}
	}
	return float64(n) + float64(micros)/1000
}

func columnsOf(in []proxy.Column) []Column {
	var out []Column
	for _, c := range in {
		out = append(out, Column(c))
	}
	return out
}

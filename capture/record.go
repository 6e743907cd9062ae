package capture

import (
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/histogram"
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
	registry *Registry
	print    cql.Print
	born     uint64 // number of its admission, so that two lives of one statement are told apart
	about    atomic.Pointer[about]
	gone     atomic.Bool
	heir     atomic.Pointer[record] // of one that is gone: where its statement is counted now
	hot      atomic.Bool
	bytes    atomic.Int64 // memory that it takes, as far as it is the registry's
	weight   float64      // when the registry made room last; under Registry.mu
	weighed  float64      // its work until then

	first  int64                    // Unix nanoseconds
	last   atomic.Int64             // nanoseconds since the proxy started, as Exchange.End, to the millisecond
	base   atomic.Pointer[counters] // stripe 0
	more   [stripes - 1]atomic.Pointer[counters]
	shape  atomic.Pointer[shape]
	wanted atomic.Pointer[wanted] // somebody waits for an execution with its values (trace.go)

	// Where it stands in Registry.pictured, from 1, and its count then. Under Registry.picture.
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
	if p == nil || r.gone.Load() || r.aside() {
		return
	}
	before := r.shape.Load()
	if before != nil && reflect.DeepEqual(before.variables, p.Variables) && reflect.DeepEqual(before.results, p.Results) {
		return
	}
	s := &shape{variables: p.Variables, results: p.Results, shown: [2][]Column{columns(p.Variables), columns(p.Results)}, sampled: r.described(p)}
	if r.shape.Swap(s) == nil {
		r.grow(s.bytes())
	}
	if before == nil && len(p.Variables)+len(p.Results) > 0 {
		r.registry.windows.Extra(r.registry.now())
	}
}

// aside tells whether r is one of the records that count what has none of its own.
func (r *record) aside() bool { return r == r.registry.other || r == r.registry.unknown }

// Done counts exchanges, of one client. A child of a batch counts as executed, with its errors and consistency; time and
// bytes are the batch's.
//
// A record that is forgotten while it counts loses nothing: who forgets it says so (gone) and then takes what was
// counted; who counts looks afterwards whether it is gone, and if so takes what it counted itself to the same place. Go's
// atomics are sequentially consistent, so one of the two finds it.
func (r *record) Done(xs []proxy.Exchange) {
	if r.gone.Load() {
		r.registry.astray(r, xs)
		return
	}
	c := r.count(xs)
	if r.gone.Load() {
		r.leave(c)
	}
	r.observe(xs)
}

// leave takes what a record counted in c to other, and gives its memory back. The record is gone.
func (r *record) leave(c *counters) {
	other := r.registry.other
	if took := c.drain(other.stripe(nil)); took != 0 {
		other.grow(int64(took))
	}
	r.base.Store(nil)
	for i := range r.more {
		r.more[i].Store(nil)
	}
	r.registry.used.Add(-r.bytes.Swap(0))
}

func (r *record) count(xs []proxy.Exchange) *counters {
	x := &xs[len(xs)-1]
	c := r.stripe(x.Client)
	took, n := c.add(xs, callerOf(x), &r.registry.repeats)
	if took != 0 {
		r.grow(int64(took))
	}
	if n >= hotAfter && !r.hot.Load() {
		r.hot.Store(true)
	}
	if end := x.End; end > r.last.Load()+int64(time.Millisecond) {
		r.last.Store(end) // of two at once either may win
	}
	return c
}

// observe shows the exchanges to those that look at single ones.
func (r *record) observe(xs []proxy.Exchange) {
	for i := range xs {
		x := &xs[i]
		if slow := r.registry.slow; slow != nil && x.End-x.Start >= r.registry.slowAfter && !x.InBatch {
			slow.Add(r.slow(x))
		}
		if x.Values != nil || x.Response != nil {
			if w := r.wanted.Load(); w != nil {
				w.give(x)
			}
			if r.registry.windows.Open() {
				r.look(x)
			}
		}
	}
}

// grow notes that the record takes n bytes more.
func (r *record) grow(n int64) {
	r.bytes.Add(n)
	if r.registry.used.Add(n) > r.registry.budget {
		r.registry.shrink()
	}
}

// stripe returns the counters for a client.
func (r *record) stripe(c *proxy.Client) *counters {
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
		r.grow(countersBytes)
	}
	if s := p.Load(); s != nil {
		return s
	}
	return r.registry.other.stripe(c) // it was forgotten this instant
}

// all are the stripes that there are.
func (r *record) all() (list [stripes]*counters) {
	list[0] = r.base.Load()
	for i := range r.more {
		list[i+1] = r.more[i].Load()
	}
	return list
}

// work is what was done so far: one for each execution and one for each millisecond that it took.
func (r *record) work() float64 {
	var n, micros uint64
	for _, c := range r.all() {
		if c != nil {
			for i := range c.by {
				n += c.by[i].count.Load()
				micros += c.by[i].micros.Load()
			}
		}
	}
	return float64(n) + float64(micros)/1000
}

// painter makes the pictures of many records, one after the other. It is for one goroutine.
type painter struct {
	registry *Registry
	callers  []Caller
	before   []Statement // the pictures of the last time
	sums     sums
	buckets  histogram.Arena
	shares   []Share
}

// snapshot adds the stripes up into s, which is empty and stays so if the statement was never executed. What was not executed since the last
// time looks as it did then: an exchange counts in every number before it counts as one (counters.add).
func (p *painter) snapshot(r *record, s *Statement) {
	stripes := r.all()
	var n uint64
	for _, c := range stripes {
		if c != nil {
			n += c.executions()
		}
	}
	if n == 0 {
		r.place = 0
		return
	}
	if r.place > 0 && r.counted == n {
		*s = p.before[r.place-1]
	} else {
		p.sums.reset()
		for _, c := range stripes {
			if c != nil {
				p.sums.add(c)
			}
		}
		p.fill(s)
		r.counted = s.Count
	}
	a := r.about.Load()
	s.Fingerprint, s.Keyspace, s.Table, s.Kind, s.Text = a.fingerprint, a.keyspace, a.table, a.kind.String(), a.text
	s.Conditional, s.Born = a.conditional, r.born
	s.First = time.Unix(0, r.first).UTC()
	s.Last = r.registry.started.Add(time.Duration(r.last.Load())).UTC()
	if s.Last.Before(s.First) {
		s.Last = s.First
	}
	if p := r.shape.Load(); p != nil {
		s.Variables, s.Results, s.Described = p.shown[0], p.shown[1], s.Last
	}
}

// sums is stripes added up.
type sums struct {
	count                            uint64
	n                                [11]uint64
	errors                           [len(proxy.ErrorNames)]uint64
	warnings                         [len(proxy.WarningNames)]uint64
	consistency                      [len(consistencyNames)]uint64
	serials                          [len(serialNames)]uint64
	callers                          [stripes * callers]said
	known                            int
	parts                            int
	latency, request, response, rows [stripes]*histogram.Histogram
}

// said is what one caller did.
type said struct {
	caller                uint32
	count, failed, micros uint64
}

// reset empties it. The lists are written over.
func (t *sums) reset() {
	t.count, t.n, t.errors, t.warnings, t.consistency, t.serials = 0, [11]uint64{}, [len(proxy.ErrorNames)]uint64{}, [len(proxy.WarningNames)]uint64{},
		[len(consistencyNames)]uint64{}, [len(serialNames)]uint64{}
	t.known, t.parts = 0, 0
}

func (t *sums) add(c *counters) {
	i := t.parts
	t.latency[i], t.request[i], t.response[i], t.rows[i] = &c.latency, &c.request, &c.response, &c.rows
	t.parts++
	for i := range c.by {
		b := &c.by[i]
		n := b.count.Load()
		if n == 0 {
			continue
		}
		t.count += n
		one := t.caller(b.caller.Load())
		one.count += n
		one.failed += b.failed.Load()
		one.micros += b.micros.Load()
	}
	for i, n := range [...]*atomic.Uint64{&c.failed, &c.inBatch, &c.paged, &c.morePages, &c.serial, &c.warned, &c.rewritten, &c.applied, &c.notApplied, &c.retried, &c.speculative} {
		t.n[i] += n.Load()
	}
	for i := range t.errors {
		t.errors[i] += c.errors[i].Load()
	}
	for i := range t.warnings {
		t.warnings[i] += c.warnings[i].Load()
	}
	for i := range t.consistency {
		t.consistency[i] += c.consistency[i].Load()
	}
	for i := range t.serials {
		t.serials[i] += c.serials[i].Load()
	}
}

func (t *sums) caller(n uint32) *said {
	for i := range t.callers[:t.known] {
		if t.callers[i].caller == n {
			return &t.callers[i]
		}
	}
	one := &t.callers[t.known]
	*one = said{caller: n}
	t.known++
	return one
}

// fill writes the sums into a picture.
func (p *painter) fill(s *Statement) {
	t := &p.sums
	s.Count = t.count
	for i, n := range s.numbers() {
		*n = t.n[i]
	}
	s.ErrorCodes, s.Warnings = named(t.errors[:], proxy.ErrorNames[:]), named(t.warnings[:], proxy.WarningNames[:])
	s.Consistency, s.SerialConsistency = named(t.consistency[:], consistencyNames[:]), named(t.serials[:], serialNames[:])
	n := t.parts
	s.Latency, s.RequestBytes = p.buckets.Collect(t.latency[:n]...), p.buckets.Collect(t.request[:n]...)
	s.ResponseBytes, s.Rows = p.buckets.Collect(t.response[:n]...), p.buckets.Collect(t.rows[:n]...)
	if cap(p.shares)-len(p.shares) < t.known {
		p.shares = make([]Share, 0, max(1024, t.known))
	}
	from := len(p.shares)
	for _, one := range t.callers[:t.known] {
		if int(one.caller) >= len(p.callers) { // one that came meanwhile
			p.callers = p.registry.book.all()
		}
		p.shares = append(p.shares, Share{Caller: p.callers[one.caller], Count: one.count, Errors: one.failed, Micros: one.micros})
	}
	s.Callers = p.shares[from:len(p.shares):len(p.shares)]
	sortShares(s.Callers)
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

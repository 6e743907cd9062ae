package capture

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/proxy"
)

// consistencyNames are in the order of the wire's codes; the last counts all others.
var consistencyNames = [...]string{
	"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE", "UNKNOWN",
}

// serialNames are the serial consistencies of requests that name one.
var serialNames = [...]string{"SERIAL", "LOCAL_SERIAL"}

const (
	codeSerial      = 8
	codeLocalSerial = 9
)

// callers is how many callers a stripe tells apart; the last place is for the rest.
const callers = 8

// callerCounters counts what one caller did. Every execution is counted with exactly one caller, so their sum is the statement's
// count, and their micros the sum of its latencies.
type callerCounters struct {
	caller atomic.Uint32 // 0: the place is free, or, the last one, the rest
	count  atomic.Uint64
	failed atomic.Uint64
	micros atomic.Uint64
}

// counters are one stripe of a record. Every field is added to atomically.
type counters struct {
	byCaller [callers]callerCounters

	failed, inBatch, paged, morePages, serial, warned, rewritten atomic.Uint64
	applied, notApplied, retried, speculative, stamped           atomic.Uint64

	errors      [len(proxy.ErrorNames)]atomic.Uint64
	warnings    [len(proxy.WarningNames)]atomic.Uint64
	consistency [len(consistencyNames)]atomic.Uint64
	serials     [len(serialNames)]atomic.Uint64

	latency, request, response, rows histogram.Histogram

	own atomic.Pointer[histogram.Histogram] // of latency, what Helenus answered itself; nil if it never did
}

const countersBytes = int64(unsafe.Sizeof(counters{}))

// addExchanges counts exchanges of one caller. Those that were answered together are mostly alike, and what is alike in them is added
// at once. The count comes last: who reads it sees all of what it counts (snapshotter.snapshotRecord). It returns how many bytes it took, nearly
// always 0, and the caller's new count.
func (c *counters) addExchanges(xs []proxy.Exchange, caller uint32, repeats *repeats) (took int, count uint64) {
	b := c.placeOf(caller)
	var g gathered
	for rest := xs; len(rest) > 0; {
		some := rest[:sameManner(rest)]
		rest = rest[len(some):]
		c.addManner(b, &some[0].Manner, uint64(len(some)))
		if some[0].InBatch {
			continue
		}
		if again, twins := repeats.countRepeats(some); again|twins != 0 {
			c.retried.Add(again)
			c.speculative.Add(twins * twinsOf)
		}
		took += g.addExchanges(c, some)
		if some[0].Rewritten {
			took += c.addOwnLatency(some)
		}
	}
	if g.micros > 0 {
		b.micros.Add(g.micros)
	}
	took += g.latency.Flush(&c.latency) + g.request.Flush(&c.request) + g.response.Flush(&c.response) + g.rows.Flush(&c.rows)
	return took, b.count.Add(uint64(len(xs)))
}

// sameManner is how many exchanges, from the first on, are of one manner.
func sameManner(xs []proxy.Exchange) int {
	for i := 1; i < len(xs); i++ {
		if xs[i].Manner != xs[0].Manner {
			return i
		}
	}
	return len(xs)
}

// gathered is what is measured of exchanges that are counted together.
type gathered struct {
	latency, request, response, rows histogram.Run
	micros                           uint64
}

// addExchanges gathers exchanges, those that follow one another and do not differ as one.
func (g *gathered) addExchanges(c *counters, xs []proxy.Exchange) (took int) {
	for i := 0; i < len(xs); {
		x, times := &xs[i], uint64(1)
		for i++; i < len(xs); i++ {
			y := &xs[i]
			if y.ResponseBytes != x.ResponseBytes || y.RequestBytes != x.RequestBytes || y.Rows != x.Rows || y.Start != x.Start || y.End != x.End {
				break
			}
			times++
		}
		us := microsOf(x)
		g.micros += us * times
		took += g.latency.Add(&c.latency, us, times)
		took += g.request.Add(&c.request, nonNegative(int64(x.RequestBytes)), times)
		took += g.response.Add(&c.response, nonNegative(int64(x.ResponseBytes)), times)
		if x.Rows >= 0 {
			took += g.rows.Add(&c.rows, uint64(x.Rows), times)
		}
	}
	return took
}

// microsOf is how long an exchange took, microseconds.
func microsOf(x *proxy.Exchange) uint64 { return nonNegative(x.End-x.Start) / uint64(time.Microsecond) }

// addOwnLatency counts the latency of executions that Helenus answered itself, among the others and by itself: few statements have
// such, so the room for it is made by the first. It returns how many bytes it took.
func (c *counters) addOwnLatency(xs []proxy.Exchange) (took int) {
	h := c.own.Load()
	if h == nil {
		made := new(histogram.Histogram)
		if c.own.CompareAndSwap(nil, made) {
			took = int(unsafe.Sizeof(*made))
		}
		h = c.own.Load()
	}
	for i := range xs {
		took += h.Add(microsOf(&xs[i]))
	}
	return took
}

// executionCount is how many exchanges were counted.
func (c *counters) executionCount() (n uint64) {
	for i := range callers - 1 { // they are taken in order, but for the last
		if c.byCaller[i].caller.Load() == 0 {
			break
		}
		n += c.byCaller[i].count.Load()
	}
	return n + c.byCaller[callers-1].count.Load()
}

// addManner counts how n exchanges were said and answered. Most have nothing but a consistency.
func (c *counters) addManner(b *callerCounters, m *proxy.Manner, n uint64) {
	c.consistency[min(int(m.Consistency), len(consistencyNames)-1)].Add(n)
	addIf(&c.stamped, m.Stamped, n)
	if *m == (proxy.Manner{Consistency: m.Consistency, Stamped: m.Stamped}) {
		return
	}
	addIf(&c.paged, m.Paged, n)
	addIf(&c.morePages, m.MorePages, n)
	addIf(&c.serial, m.Serial, n)
	addIf(&c.inBatch, m.InBatch, n)
	addIf(&c.rewritten, m.Rewritten, n)
	if m.Failed {
		c.failed.Add(n)
		b.failed.Add(n)
		c.errors[proxy.ErrorPlace(m.ErrorCode)].Add(n)
	}
	if m.Warned {
		c.warned.Add(n)
		for i := range c.warnings {
			addIf(&c.warnings[i], m.Warnings&(1<<i) != 0, n)
		}
	}
	if m.SerialConsistency == codeSerial || m.SerialConsistency == codeLocalSerial {
		c.serials[m.SerialConsistency-codeSerial].Add(n)
	}
	if !m.InBatch {
		addIf(&c.applied, m.Applied == proxy.Applied, n)
		addIf(&c.notApplied, m.Applied == proxy.NotApplied, n)
	}
}

// placeOf is where a caller is counted.
func (c *counters) placeOf(caller uint32) *callerCounters {
	if caller == 0 {
		return &c.byCaller[callers-1]
	}
	for i := range callers - 1 {
		b := &c.byCaller[i]
		is := b.caller.Load()
		if is == 0 && !b.caller.CompareAndSwap(0, caller) {
			is = b.caller.Load()
		}
		if is == 0 || is == caller {
			return b
		}
	}
	return &c.byCaller[callers-1]
}

// drainTo moves all that was counted to another stripe, each number once, whoever else counts or drains meanwhile.
func (c *counters) drainTo(to *counters) (took int) {
	for i := range c.byCaller {
		b := &c.byCaller[i]
		if b.count.Load()|b.failed.Load()|b.micros.Load() != 0 {
			into := to.placeOf(b.caller.Load())
			moveCount(&b.count, &into.count)
			moveCount(&b.failed, &into.failed)
			moveCount(&b.micros, &into.micros)
		}
	}
	for _, p := range [...][2]*atomic.Uint64{
		{&c.failed, &to.failed}, {&c.inBatch, &to.inBatch}, {&c.paged, &to.paged}, {&c.morePages, &to.morePages}, {&c.serial, &to.serial},
		{&c.warned, &to.warned}, {&c.rewritten, &to.rewritten}, {&c.applied, &to.applied}, {&c.notApplied, &to.notApplied},
		{&c.retried, &to.retried}, {&c.speculative, &to.speculative}, {&c.stamped, &to.stamped},
	} {
		moveCount(p[0], p[1])
	}
	for i := range c.errors {
		moveCount(&c.errors[i], &to.errors[i])
	}
	for i := range c.warnings {
		moveCount(&c.warnings[i], &to.warnings[i])
	}
	for i := range c.consistency {
		moveCount(&c.consistency[i], &to.consistency[i])
	}
	for i := range c.serials {
		moveCount(&c.serials[i], &to.serials[i])
	}
	return c.latency.Drain(&to.latency) + c.request.Drain(&to.request) + c.response.Drain(&to.response) + c.rows.Drain(&to.rows)
}

func moveCount(from, to *atomic.Uint64) {
	if n := from.Swap(0); n != 0 {
		to.Add(n)
	}
}

func addIf(n *atomic.Uint64, yes bool, times uint64) {
	if yes {
		n.Add(times)
	}
}

func nonNegative(n int64) uint64 { return uint64(max(n, 0)) }

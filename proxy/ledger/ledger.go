// Package ledger counts what the proxy does, by listener, node and class of request. It imports proxy/wire only.
//
// A connection writes on a [Sheet] of its own, so the data path shares no cache line with another connection; the Ledger
// adds the sheets up when it is asked (at a scrape), and keeps the sum of a sheet whose connection has ended. Both happen
// under the ledger's lock, so a sum never goes back and nothing is counted twice. The sheet's few numbers are atomics: the
// connection's two goroutines, and a Rewriter's, write them, a scrape reads them. Numbers that arrive on a sheet after it
// was closed are lost; only a Rewriter that answers a connection that is gone writes such.
//
// # What it costs
//
// Answers that go to the client with one write and fall into the same class and bucket, as nearly all of one write do, are
// added together (Run): four additions a group. The clock is read once a write, never for a single request.
//
// # Bounds
//
// A [Place] is a listener and a node. Beyond maxPlaces places in the life of a process, new ones are counted together, as
// listener and node "other". A place has at most 5 classes * (3 numbers + 23 of the histogram) + 2 histograms of the added
// time + 21 errors + 21 refusals + 11 frames + 10 ends + 4 = 243 series, so the whole has at most 63,000, and a
// cluster of three nodes behind three listeners some 500. A sheet is 1.8 KB.
package ledger

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Class is a class of requests.
type Class uint8

// Classes. Other has the handshake's messages: OPTIONS, STARTUP, AUTH_RESPONSE, REGISTER.
const (
	Query Class = iota
	Execute
	Prepare
	Batch
	Other
	classes
)

var classNames = [classes]string{"query", "execute", "prepare", "batch", "other"}

func classOf(opcode byte) Class {
	switch opcode {
	case wire.OpQuery:
		return Query
	case wire.OpExecute:
		return Execute
	case wire.OpPrepare:
		return Prepare
	case wire.OpBatch:
		return Batch
	}
	return Other
}

// End is why a connection ended.
type End uint8

// Ends.
const (
	Unknown     End = iota // not said yet
	Client                 // the client closed it
	Cassandra              // the node closed it, or what it sent could not be read
	Refused                // too many connections
	Unreachable            // no node answered
	Malformed              // what the client sent could not be read
	Unfinished             // the handshake took too long
	Stalled                // a side did not take what was sent to it
	Untrusted              // its TLS handshake failed
	WithoutTLS             // it spoke CQL where TLS is spoken
	Drained                // the proxy stops, or the node left
	ends
)

var endNames = [ends]string{"unknown", "client", "cassandra", "refused", "unreachable", "malformed", "unfinished", "stalled", "untrusted", "without_tls", "drained"}

func (e End) String() string { return endNames[e] }

// Frame is why a frame was refused; its connection is closed.
type Frame uint8

// Reasons to refuse a frame.
const (
	Unnamed     Frame = iota // none of those below
	Direction                // it is a response
	Version                  // its protocol version is not spoken
	TooBig                   // longer than allowed
	Stream                   // its stream id is negative
	StreamInUse              // the last request on its stream id was not answered yet
	HeaderCRC                // the segment's header is damaged
	PayloadCRC               // the segment's payload is damaged
	Content                  // frames and segments do not fit together
	Compression              // what it compresses can not be decompressed, or not within its limit
	TLS                      // it is TLS, where that is not spoken
	Early                    // it is a statement, and the handshake is not over
	frameReasons
)

var frameNames = [frameReasons]string{"other", "direction", "version", "too_big", "stream", "stream_in_use", "header_crc", "payload_crc", "content", "compression", "tls", "early"}

// Direction of the proxy's own work.
type direction uint8

const (
	up direction = iota
	down
	directions
)

var directionNames = [directions]string{"request", "response"}

// steps is the number of a histogram's buckets but the last, which has no upper end. The end of bucket i is 2^(first+i)
// nanoseconds, so finding one is a count of bits.
const steps = 20

// First ends, as powers of two nanoseconds: latencies from 65.5 µs to 34 s, the proxy's own time from 1 µs to 0.54 s.
const (
	tookFirst  = 16
	addedFirst = 10
)

type histogram struct {
	sum     atomic.Uint64 // nanoseconds
	buckets [steps + 1]atomic.Uint64
}

// bucket is that of d nanoseconds in a histogram whose first bucket ends at 2^first, its end included.
func bucket(d int64, first int) int {
	if d <= 0 {
		return 0
	}
	return min(bits.Len64(uint64(d-1)>>first), steps)
}

func (h *histogram) add(bucket int, n, sum uint64) {
	h.buckets[bucket].Add(n)
	h.sum.Add(sum)
}

func (h *histogram) count() (n uint64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

func (h *histogram) take(o *histogram) {
	h.sum.Add(o.sum.Load())
	for i := range h.buckets {
		if n := o.buckets[i].Load(); n > 0 {
			h.buckets[i].Add(n)
		}
	}
}

// numbers are what is counted at a place, or on a connection.
type numbers struct {
	took               [classes]histogram // its count is that of the requests answered
	bytesUp, bytesDown [classes]atomic.Uint64
	added              [directions]histogram
	errors             [len(wire.ErrorNames)]atomic.Uint64
	refused            [len(wire.ErrorNames)]atomic.Uint64 // requests that the proxy answered with an error of its own
	frames             [frameReasons]atomic.Uint64
	taken, rewritten   atomic.Uint64
}

// take adds what o has.
func (n *numbers) take(o *numbers) {
	for i := range n.took {
		n.took[i].take(&o.took[i])
		n.bytesUp[i].Add(o.bytesUp[i].Load())
		n.bytesDown[i].Add(o.bytesDown[i].Load())
	}
	for i := range n.added {
		n.added[i].take(&o.added[i])
	}
	for i := range n.errors {
		n.errors[i].Add(o.errors[i].Load())
		n.refused[i].Add(o.refused[i].Load())
	}
	for i := range n.frames {
		n.frames[i].Add(o.frames[i].Load())
	}
	n.taken.Add(o.taken.Load())
	n.rewritten.Add(o.rewritten.Load())
}

// Sum is what a sheet says, added up.
type Sum struct {
	Requests, Errors   uint64 // answered; of those, by an ERROR
	BytesUp, BytesDown uint64 // of bodies
	Taken, Rewritten   uint64
}

func (n *numbers) sum() (s Sum) {
	for i := range n.took {
		s.Requests += n.took[i].count()
		s.BytesUp += n.bytesUp[i].Load()
		s.BytesDown += n.bytesDown[i].Load()
	}
	for i := range n.errors {
		s.Errors += n.errors[i].Load()
	}
	s.Taken, s.Rewritten = n.taken.Load(), n.rewritten.Load()
	return s
}

// Place is a listener and a node, both host:port.
type Place struct{ Listen, Node string }

// Any is the node of connections that have none yet.
const Any = "any"

// maxPlaces bounds the places.
const maxPlaces = 256

var otherPlace = Place{"other", "other"}

type page struct {
	accepted uint64
	ended    [ends]uint64
	past     numbers // of sheets that were closed
	sheets   map[*Sheet]struct{}
}

// Ledger has the sheets of all connections. The zero value is empty.
type Ledger struct {
	mu    sync.Mutex
	pages map[Place]*page
}

// at returns the page of a place; the lock is held.
func (l *Ledger) at(p Place) (Place, *page) {
	g := l.pages[p]
	if g == nil {
		if l.pages == nil {
			l.pages = map[Place]*page{}
		}
		if len(l.pages) >= maxPlaces && p != otherPlace {
			return l.at(otherPlace)
		}
		g = &page{sheets: map[*Sheet]struct{}{}}
		l.pages[p] = g
	}
	return p, g
}

// Open begins the sheet of a connection that was accepted.
func (l *Ledger) Open(p Place) *Sheet {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Sheet{ledger: l}
	var g *page
	s.place, g = l.at(p)
	g.accepted++
	g.sheets[s] = struct{}{}
	return s
}

// Turn counts a connection that was accepted and ended at once.
func (l *Ledger) Turn(p Place, why End) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, g := l.at(p)
	g.accepted++
	g.ended[why]++
}

// Sum adds up the whole ledger.
func (l *Ledger) Sum() (s Sum, accepted uint64, ended map[End]uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all numbers
	ended = map[End]uint64{}
	for _, g := range l.pages {
		accepted += g.accepted
		for e, n := range g.ended {
			ended[End(e)] += n
		}
		all.take(&g.past)
		for sheet := range g.sheets {
			all.take(&sheet.numbers)
		}
	}
	return all.sum(), accepted, ended
}

// Sheet is what one connection did.
type Sheet struct {
	ledger *Ledger
	place  Place // under the ledger's lock
	why    atomic.Uint32
	numbers
}

// Place is where it is counted.
func (s *Sheet) Place() Place {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.place
}

// Move counts the connection at another place from now on, before anything was counted on the sheet: its node is known.
// It stays accepted where it was.
func (s *Sheet) Move(p Place) {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	_, from := l.at(s.place)
	delete(from.sheets, s)
	to, g := l.at(p)
	s.place = to
	g.sheets[s] = struct{}{}
}

// Because notes why the connection ends. The first to know is right: what follows is its consequence.
func (s *Sheet) Because(why End) { s.why.CompareAndSwap(uint32(Unknown), uint32(why)) }

// Close ends the sheet.
func (s *Sheet) Close() {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	_, g := l.at(s.place)
	if _, open := g.sheets[s]; !open {
		return
	}
	delete(g.sheets, s)
	g.ended[s.why.Load()]++
	g.past.take(&s.numbers)
}

// Sum adds up the sheet.
func (s *Sheet) Sum() Sum { return s.sum() }

// Frame counts a frame that was refused.
func (s *Sheet) Frame(why Frame) { s.frames[why].Add(1) }

// Refuse counts a request that the proxy answered itself, with an error code, because it would not send it on.
func (s *Sheet) Refuse(code int32) { s.refused[wire.ErrorPlace(code)].Add(1) }

// Take counts a request that the Rewriter took.
func (s *Sheet) Take() { s.taken.Add(1) }

// Rewrite counts a request that the Rewriter answered; it is to be counted by a Run too.
func (s *Sheet) Rewrite() { s.rewritten.Add(1) }

// Fail counts an answer that is an ERROR of this code.
func (s *Sheet) Fail(code int32) { s.errors[wire.ErrorPlace(code)].Add(1) }

// Forwarded counts the time that n requests which were read together spent in the proxy until they were written,
// nanoseconds each.
func (s *Sheet) Forwarded(n int, each int64) { s.spent(up, n, each) }

// Returned is Forwarded for answers.
func (s *Sheet) Returned(n int, each int64) { s.spent(down, n, each) }

func (s *Sheet) spent(d direction, n int, each int64) {
	each = max(each, 0)
	s.added[d].add(bucket(each, addedFirst), uint64(n), uint64(n)*uint64(each))
}

// Run gathers requests that are counted at one moment. It is for one goroutine; the zero value is empty.
type Run struct {
	class     Class
	bucket    uint8
	n         uint64
	sum       uint64
	bytesUp   uint64
	bytesDown uint64
}

// Add counts a request of an opcode that was answered after took nanoseconds, on s.
func (r *Run) Add(s *Sheet, opcode byte, took int64, bytesUp, bytesDown int) {
	c, b := classOf(opcode), uint8(bucket(took, tookFirst))
	if c != r.class || b != r.bucket {
		r.Flush(s)
		r.class, r.bucket = c, b
	}
	r.n++
	r.sum += uint64(max(took, 0))
	r.bytesUp += uint64(bytesUp)
	r.bytesDown += uint64(bytesDown)
}

// Flush writes what was gathered on s.
func (r *Run) Flush(s *Sheet) {
	if r.n > 0 {
		s.took[r.class].add(int(r.bucket), r.n, r.sum)
		s.bytesUp[r.class].Add(r.bytesUp)
		s.bytesDown[r.class].Add(r.bytesDown)
		r.n, r.sum, r.bytesUp, r.bytesDown = 0, 0, 0, 0
	}
}

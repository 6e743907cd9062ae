package proxy

import (
	"errors"
	"sync/atomic"
)

// A request in flight is kept in the slot of the stream id under which Cassandra knows it, nearly always the client's own
// (alias.go). The slot's state word says whose it is:
//
//	from      to        by
//	free      busy      the upward goroutine, when it reads the request (claim)
//	answered  busy      the same: the client may use the id again before the downward goroutine came round to free it
//	busy      answered  whoever answers: the downward goroutine, or a taken request's responder
//	answered  free      the downward goroutine, after the answer was handed to the client's socket
//	busy      orphaned  the sweeper, which answers in Cassandra's place: it took too long (timeout.go)
//	orphaned  free      the downward goroutine, when the late answer came, which is dropped
//
// Above the two bits of the status the word counts claims, so that a state names one request: Barrier waits until the
// word is neither that request's busy, answered nor orphaned. Above that it holds the coarse time of the claim, so that the
// sweeper has to read nothing else of a slot that is not its own.
type status = uint64

const (
	free     status = 0
	busy     status = 1
	answered status = 2
	orphaned status = 3

	statusMask = 3
	occupied   = 1 // set in busy and orphaned: Cassandra may still answer
	claimStep  = 4
	claimMask  = 1<<tickAt - claimStep
	tickAt     = 34
	tickMask   = 1<<(64-tickAt) - 1

	// tickShift makes ticks of nanoseconds: 8.4 ms each, so they come round again after 104 days.
	tickShift = 23
)

func tickOf(now int64) uint64 { return uint64(now>>tickShift) & tickMask }

// age is how many ticks ago the request of a word was claimed; 0 if that is still to come (it was read just now).
func age(word, tick uint64) uint64 {
	a := (tick - word>>tickAt) & tickMask
	if a > tickMask/2 {
		return 0
	}
	return a
}

// nobody is the stream id of a request of our own: its answer is for no client.
const nobody int16 = -1

// pending is what is remembered of a request. It is written by the upward goroutine, in place, before the state becomes
// busy, and read by who answers: after it saw busy, or after it made it orphaned.
type pending struct {
	start       int64
	record      Record
	prepared    *Prepared
	extra       *extra // nil for nearly all
	bytes       int32
	events      uint32 // REGISTER: what for
	hash        uint64 // of the body (Exchange.Hash)
	consistency uint16
	// serialConsistency is 0 if none was sent.
	serialConsistency uint16
	stream            int16 // the client's id of it, or nobody
	id                int16 // Cassandra's id of it: the slot's number
	opcode            byte
	paged             bool
	serial            bool
	stamped           bool
	read              bool // a SELECT, for all that is known
	swapped           bool // prepared ids in it were swapped (extra.swaps)
	system            *ask // asks where nodes are: the answer is rewritten; nil for nearly all
}

// metadata is what the answer's rows are likely to begin with, nil if that is not known.
func (p *pending) metadata() []byte {
	if p.prepared == nil {
		return nil
	}
	return p.prepared.ResultMetadata
}

type slot struct {
	state atomic.Uint64
	taken atomic.Pointer[taken] // if the Rewriter has the request; set after the claim, so not part of pending
	pending
}

const (
	chunkBits = 6
	chunkSize = 1 << chunkBits
)

// streams is a connection's table of slots, by stream id. It grows by chunks as ids are used: most drivers use few.
type streams struct {
	chunks [1 << (15 - chunkBits)]atomic.Pointer[[chunkSize]slot]
}

// at returns the slot of a stream, nil if none was ever claimed near it. stream is not negative.
func (s *streams) at(stream int16) *slot {
	c := s.chunks[stream>>chunkBits].Load()
	if c == nil {
		return nil
	}
	return &c[stream&(chunkSize-1)]
}

// make returns the slot of a stream. Only the upward goroutine may: it alone makes chunks.
func (s *streams) make(stream int16) *slot {
	c := s.chunks[stream>>chunkBits].Load()
	if c == nil {
		c = new([chunkSize]slot)
		s.chunks[stream>>chunkBits].Store(c)
	}
	return &c[stream&(chunkSize-1)]
}

// Why a request gets no slot.
var (
	errReused  = errors.New("the stream id is used again before its last request was answered")
	errNoAlias = errors.New("too many requests wait for answers that are late")
)

// reserve returns the slot for a request that the client sent under a stream id, for the upward goroutine to fill, and the
// id under which Cassandra will know it.
func (s *streams) reserve(stream int16) (t *slot, id int16, err error) {
	if t = s.make(stream); t.state.Load()&occupied == 0 {
		return t, stream, nil
	}
	return s.reserveAlias(t, stream)
}

// claim makes a reserved slot busy, whose pending is filled. From now on Barrier sees the request.
func (t *slot) claim() {
	if t.taken.Load() != nil {
		t.taken.Store(nil)
	}
	t.state.Store((t.state.Load()+claimStep)&claimMask | tickOf(t.start)<<tickAt | busy)
}

// status is free if t is nil.
func (t *slot) status() status {
	if t == nil {
		return free
	}
	return t.state.Load() & statusMask
}

// answer moves the slot from busy to answered and returns its word; false if it was not busy.
func (t *slot) answer() (word uint64, ok bool) {
	w := t.state.Load()
	if w&statusMask != busy {
		return 0, false
	}
	word = w&^statusMask | answered
	return word, t.state.CompareAndSwap(w, word)
}

// release frees a slot that is still answered as word; a client that used the id again meanwhile keeps it.
func (t *slot) release(word uint64) { t.state.CompareAndSwap(word, word&^statusMask) }

// each calls f for every slot that was ever claimed.
func (s *streams) each(f func(stream int16, t *slot)) {
	for i := range s.chunks {
		if c := s.chunks[i].Load(); c != nil {
			for j := range c {
				f(int16(i<<chunkBits|j), &c[j])
			}
		}
	}
}

// inFlight tells whether the slot still holds the request that it held when its word was w.
func (t *slot) inFlight(w uint64) bool {
	now := t.state.Load()
	return now&statusMask != free && now&^statusMask == w&^statusMask
}

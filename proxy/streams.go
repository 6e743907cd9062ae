package proxy

import "sync/atomic"

// A request in flight is kept in the slot of its stream id. The slot's state word says whose it is:
//
//	from      to        by
//	free      busy      the upward goroutine, when it reads the request (claim)
//	answered  busy      the same: the client may use the id again before the downward goroutine came round to free it
//	busy      answered  whoever answers: the downward goroutine, or a taken request's responder
//	answered  free      the downward goroutine, after the answer was handed to the client's socket
//
// Above the two bits of the status the word counts claims, so that a state names one request: Barrier waits until the
// word is neither that request's busy nor its answered.
type status = uint64

const (
	free     status = 0
	busy     status = 1
	answered status = 2

	statusMask = 3
	claimStep  = 4
)

// pending is what is remembered of a request. It is written by the upward goroutine before the state becomes busy, and
// read by who answers, after it saw busy.
type pending struct {
	start       int64
	record      Record
	prepared    *Prepared
	extra       *extra // nil for nearly all
	bytes       int32
	events      uint32 // REGISTER: what for
	consistency uint16
	opcode      byte
	paged       bool
	serial      bool
	system      *ask // asks where nodes are: the answer is rewritten; nil for nearly all
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

// reserve returns the slot of a stream for the upward goroutine to fill, nil if its last request is not answered.
func (s *streams) reserve(stream int16) *slot {
	c := s.chunks[stream>>chunkBits].Load()
	if c == nil {
		c = new([chunkSize]slot)
		s.chunks[stream>>chunkBits].Store(c)
	}
	t := &c[stream&(chunkSize-1)]
	if t.state.Load()&statusMask == busy {
		return nil
	}
	return t
}

// claim makes a reserved slot busy. From now on Barrier sees the request.
func (t *slot) claim(p pending) {
	t.pending = p
	if t.taken.Load() != nil {
		t.taken.Store(nil)
	}
	t.state.Store(t.state.Load()&^statusMask + claimStep | busy)
}

// isBusy tells whether an answer is awaited.
func (t *slot) isBusy() bool { return t != nil && t.state.Load()&statusMask == busy }

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

// Package inflight is the life of a request in flight: the states of the slot of its stream id, and a table of slots by stream id. It imports
// nothing of ours.
//
// A request in flight is kept in the slot of the stream id under which Cassandra knows it, nearly always the client's own
// (proxy/streams.go). The slot's state word says whose it is:
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
package inflight

import "sync/atomic"

// Status is where a request is in its life.
type Status = uint64

// The statuses.
const (
	Free     Status = 0
	Busy     Status = 1
	Answered Status = 2
	Orphaned Status = 3

	statusMask = 3
	occupied   = 1 // set in busy and orphaned: Cassandra may still answer
	claimStep  = 4
	claimMask  = 1<<tickAt - claimStep
	tickAt     = 34
	tickMask   = 1<<(64-tickAt) - 1

	// tickShift makes ticks of nanoseconds: 8.4 ms each, so they come round again after 104 days.
	tickShift = 23
)

// Tick is the coarse time of a time in nanoseconds, or the length of one.
func Tick(now int64) uint64 { return uint64(now>>tickShift) & tickMask }

// Age is how many ticks before tick the request of a word was claimed; 0 if that is still to come (it was read just now).
func Age(word, tick uint64) uint64 {
	a := (tick - word>>tickAt) & tickMask
	if a > tickMask/2 {
		return 0
	}
	return a
}

// Of is the status that a word holds.
func Of(word uint64) Status { return word & statusMask }

// State is a slot's state word. The zero State is free.
type State struct{ word atomic.Uint64 }

// Word names the request that the slot holds, and its status.
func (s *State) Word() uint64 { return s.word.Load() }

// Status is where the request that the slot holds is in its life.
func (s *State) Status() Status {
	return s.word.Load() & statusMask
}

// Occupied reports whether Cassandra may still answer what the slot holds.
func (s *State) Occupied() bool { return s.word.Load()&occupied != 0 }

// Claim makes the slot busy with a request that was read at start.
func (s *State) Claim(start int64) {
	s.word.Store((s.word.Load()+claimStep)&claimMask | Tick(start)<<tickAt | Busy)
}

// Answer moves the slot from busy to answered and returns its word; false if it was not busy.
func (s *State) Answer() (word uint64, ok bool) {
	w := s.word.Load()
	if w&statusMask != Busy {
		return 0, false
	}
	word = w&^statusMask | Answered
	return word, s.word.CompareAndSwap(w, word)
}

// Orphan moves the slot from busy, while its word is word, to orphaned; false if it is another.
func (s *State) Orphan(word uint64) bool {
	return word&statusMask == Busy && s.word.CompareAndSwap(word, word&^statusMask|Orphaned)
}

// Reunite frees a slot that is orphaned; false if it is not.
func (s *State) Reunite() bool {
	w := s.word.Load()
	return w&statusMask == Orphaned && s.word.CompareAndSwap(w, w&^statusMask)
}

// Release frees a slot that is still answered as word; a client that used the id again meanwhile keeps it.
func (s *State) Release(word uint64) { s.word.CompareAndSwap(word, word&^statusMask) }

// Holds reports whether the slot still holds the request that it held when its word was w.
func (s *State) Holds(w uint64) bool {
	now := s.word.Load()
	return now&statusMask != Free && now&^statusMask == w&^statusMask
}

const (
	chunkBits = 6
	chunkSize = 1 << chunkBits
)

// Table is a connection's slots, by stream id. It grows by chunks as ids are used: most drivers use few.
type Table[S any] struct {
	chunks [1 << (15 - chunkBits)]atomic.Pointer[[chunkSize]S]
}

// At returns the slot of a stream, nil if none was ever claimed near it. stream is not negative.
func (t *Table[S]) At(stream int16) *S {
	c := t.chunks[stream>>chunkBits].Load()
	if c == nil {
		return nil
	}
	return &c[stream&(chunkSize-1)]
}

// Make returns the slot of a stream. Only the upward goroutine may: it alone makes chunks.
func (t *Table[S]) Make(stream int16) *S {
	c := t.chunks[stream>>chunkBits].Load()
	if c == nil {
		c = new([chunkSize]S)
		t.chunks[stream>>chunkBits].Store(c)
	}
	return &c[stream&(chunkSize-1)]
}

// Each calls f for every slot that was ever claimed, or lies near one.
func (t *Table[S]) Each(f func(stream int16, slot *S)) {
	for i := range t.chunks {
		if c := t.chunks[i].Load(); c != nil {
			for j := range c {
				f(int16(i<<chunkBits|j), &c[j])
			}
		}
	}
}

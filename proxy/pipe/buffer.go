package pipe

import (
	"sync"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Sizes of a direction's read buffer, bytes. A connection that waits has none, or a small one for the beginning of a frame that came: each
// time that it wakes it borrows a large one, most likely that in which another just left its bytes, which is still in the processor's cache. Where a
// read waits itself (TLS) it waits with a small one; a read that fills that swaps it for a large one, which goes back after calm reads in a row
// have used little of it.
const (
	smallBuffer = 4 << 10
	largeBuffer = 64 << 10
	calm        = 16
)

var (
	smallBuffers = sync.Pool{New: func() any { b := make([]byte, smallBuffer); return &b }}
	largeBuffers = sync.Pool{New: func() any { b := make([]byte, largeBuffer); return &b }}
)

// buffer holds what was read and not yet dealt with: b[start:end].
type buffer struct {
	b          []byte
	loan       *[]byte // the pool's own, if b is from one
	start, end int
	quiet      int  // reads in a row that were small
	rests      bool // it is told of waits
}

// space returns where the next read goes.
func (b *buffer) space() []byte {
	if b.b == nil {
		b.move(b.least())
	}
	return b.b[b.end:]
}

// least is the size of the buffer to begin with.
func (b *buffer) least() int {
	if b.rests {
		return largeBuffer
	}
	return smallBuffer
}

// rest lets go of what a connection that waits does not need.
func (b *buffer) rest() {
	b.rests = true
	switch held := b.end - b.start; {
	case held == 0:
		b.drop()
	case len(b.b) == largeBuffer && held <= smallBuffer/2:
		b.move(smallBuffer)
	}
}

// room prepares for the next read after one of n bytes; need bytes from start on are wanted. It never makes more room at
// once than twice what was received, so announcing a long body costs the peer the sending of it.
func (b *buffer) room(need, n int) {
	full, held := b.end == len(b.b), b.end-b.start
	if held == 0 {
		b.start, b.end = 0, 0
	}
	if n <= smallBuffer/2 {
		b.quiet++
	} else {
		b.quiet = 0
	}
	switch {
	case full && (need > len(b.b) || len(b.b) == smallBuffer):
		b.move(max(largeBuffer, min(need, 2*len(b.b))))
	case len(b.b) > largeBuffer && max(held, need) <= largeBuffer:
		b.move(largeBuffer)
	case !b.rests && len(b.b) > smallBuffer && b.quiet >= calm && max(held, need) <= smallBuffer/2:
		b.move(smallBuffer)
	case full && b.start > 0:
		copy(b.b, b.b[b.start:b.end])
		b.start, b.end = 0, held
	}
}

// move changes to a buffer of size bytes.
func (b *buffer) move(size int) {
	old := *b
	b.b, b.loan, b.quiet = nil, nil, 0
	switch size {
	case smallBuffer:
		b.loan = smallBuffers.Get().(*[]byte)
		b.b = *b.loan
	case largeBuffer:
		b.loan = largeBuffers.Get().(*[]byte)
		b.b = *b.loan
	default:
		b.b = make([]byte, size)
	}
	b.start, b.end = 0, copy(b.b, old.b[old.start:old.end])
	old.drop()
}

func (b *buffer) drop() {
	if b.loan != nil && len(b.b) == smallBuffer {
		smallBuffers.Put(b.loan)
	} else if b.loan != nil {
		largeBuffers.Put(b.loan)
	}
	*b = buffer{rests: b.rests}
}

// scratchSize holds a frame that is seen as a whole without being streamed, and what a segment becomes, bytes.
const scratchSize = wire.HeaderSize + wire.MaxSegmentPayload

var scratches = sync.Pool{New: func() any { b := make([]byte, scratchSize); return &b }}

// scratch is room that is borrowed from the pool for one scan, if it needs any at all.
type scratch struct{ loan *[]byte }

// borrow returns n bytes, the same at each call. More than scratchSize are made for the purpose and not kept: long
// frames are rare.
func (s *scratch) borrow(n int) []byte {
	if n > scratchSize {
		return make([]byte, n)
	}
	if s.loan == nil {
		s.loan = scratches.Get().(*[]byte)
	}
	return (*s.loan)[:n]
}

// giveBack ends the use of what borrow returned.
func (s *scratch) giveBack() {
	if s.loan != nil {
		scratches.Put(s.loan)
		s.loan = nil
	}
}

// outgoing collects what can not be written as it lies in the buffer, so that many changes cost one Write. It has room
// only while there is something in it.
type outgoing struct{ b *[]byte }

// fits tells whether n more bytes have room.
func (o *outgoing) fits(n int) bool {
	if o.b == nil {
		return n <= largeBuffer
	}
	return len(*o.b)+n <= largeBuffer
}

// room returns where n bytes can be appended; nil if they do not fit.
func (o *outgoing) room(n int) *[]byte {
	if !o.fits(n) {
		return nil
	}
	if o.b == nil {
		o.b = largeBuffers.Get().(*[]byte)
		*o.b = (*o.b)[:0]
	}
	return o.b
}

// empty forgets what was collected.
func (o *outgoing) empty() {
	*o.b = (*o.b)[:largeBuffer]
	largeBuffers.Put(o.b)
	o.b = nil
}

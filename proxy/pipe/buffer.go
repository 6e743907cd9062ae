package pipe

import "sync"

// Sizes of a direction's read buffer, bytes. An idle connection keeps two small ones; a read that fills the small one
// swaps it for a large one from the pool, which goes back after calm reads in a row have used little of it.
const (
	smallBuffer = 4 << 10
	largeBuffer = 64 << 10
	calm        = 16
)

var largeBuffers = sync.Pool{New: func() any { b := make([]byte, largeBuffer); return &b }}

// buffer holds what was read and not yet dealt with: b[start:end].
type buffer struct {
	b          []byte
	large      *[]byte // the pool's own, if b is from it
	start, end int
	quiet      int // reads in a row that were small
}

func newBuffer() buffer { return buffer{b: make([]byte, smallBuffer)} }

// space returns where the next read goes.
func (b *buffer) space() []byte { return b.b[b.end:] }

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
	case len(b.b) > smallBuffer && b.quiet >= calm && max(held, need) <= smallBuffer/2:
		b.move(smallBuffer)
	case full && b.start > 0:
		copy(b.b, b.b[b.start:b.end])
		b.start, b.end = 0, held
	}
}

// move changes to a buffer of size bytes.
func (b *buffer) move(size int) {
	old, oldLarge := b.b[b.start:b.end], b.large
	b.large = nil
	if size == largeBuffer {
		b.large = largeBuffers.Get().(*[]byte)
		b.b = *b.large
	} else {
		b.b = make([]byte, size)
	}
	b.start, b.end = 0, copy(b.b, old)
	b.quiet = 0
	if oldLarge != nil {
		largeBuffers.Put(oldLarge)
	}
}

func (b *buffer) drop() {
	if b.large != nil {
		largeBuffers.Put(b.large)
	}
	*b = buffer{}
}

package pipe

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy/wire"
)

// maxPosted bounds what waits for one socket, bytes. Beyond it the peer is not reading and the connection is closed.
const maxPosted = 32 << 20

var errNotReading = errors.New("the peer does not read its answers: more of them wait than may")

// Writer is the sending end of one direction. The direction's own goroutine writes and may block, which is the
// backpressure that TCP gives; others post, which never blocks: the bytes wait until a goroutine, started for the
// purpose and ending when nothing waits, could write them. Both keep frames whole.
type Writer struct {
	conn      net.Conn
	segmented atomic.Bool // protocol version 5 after its handshake
	fail      func(error)

	mu sync.Mutex // held while writing

	post struct {
		sync.Mutex
		waiting []byte
		spare   []byte
		running bool
		idle    sync.Cond // running became false
	}
}

// NewWriter returns the writer of a socket. fail is told when a frame that was sent could not be written, or when too much
// waits; it closes the connection. It is called from any goroutine.
func NewWriter(conn net.Conn, fail func(error)) *Writer {
	w := &Writer{conn: conn, fail: fail}
	w.post.idle.L = &w.post
	return w
}

// Segment makes frames that are sent from now on go in segments.
func (w *Writer) Segment() { w.segmented.Store(true) }

// write sends b, as it is, from the direction's own goroutine.
func (w *Writer) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	w.mu.Lock()
	_, err := w.conn.Write(b)
	w.mu.Unlock()
	return err
}

// Send queues one frame (header and body, not yet in a segment); it copies it.
func (w *Writer) Send(frame []byte) {
	q := &w.post
	q.Lock()
	defer q.Unlock()
	if len(q.waiting)+len(frame) > maxPosted {
		w.fail(errNotReading)
		return
	}
	if w.segmented.Load() {
		q.waiting = wire.AppendSegments(q.waiting, frame)
	} else {
		q.waiting = append(q.waiting, frame...)
	}
	if !q.running {
		q.running = true
		go w.flush()
	}
}

func (w *Writer) flush() {
	q := &w.post
	q.Lock()
	defer q.Unlock()
	for len(q.waiting) > 0 {
		b := q.waiting
		q.waiting, q.spare = q.spare[:0], nil
		q.Unlock()
		err := w.write(b)
		if err != nil {
			w.fail(err)
		}
		q.Lock()
		if err != nil {
			break
		}
		q.spare = b
	}
	q.waiting, q.spare = nil, nil
	q.running = false
	q.idle.Broadcast()
}

// Settle waits until everything that was sent is written, or failed.
func (w *Writer) Settle() {
	q := &w.post
	q.Lock()
	defer q.Unlock()
	for q.running {
		q.idle.Wait()
	}
}

package pipe

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/tcp"
)

// maxPosted bounds what waits for one socket, bytes. Beyond it the peer is not reading and the connection is closed.
const maxPosted = 32 << 20

var errNotReading = errors.New("the peer does not read its answers: more of them wait than may")

// Writer is the sending end of one direction. The direction's own goroutine writes and may block, which is the
// backpressure that TCP gives; others post, which never blocks: the bytes wait until a goroutine, started for the
// purpose and ending when nothing waits, could write them. Both keep frames whole: while the direction streams a long one,
// what was posted waits for its end.
type Writer struct {
	conn *tcp.Sender
	mode atomic.Int32 // a Mode: what the peer reads
	fail func(error)

	mu     sync.Mutex // held while writing; locked before post's
	inside bool       // the direction wrote the beginning of a frame, and not yet its end

	post struct {
		sync.Mutex
		waiting []byte
		spare   []byte
		running bool
		full    bool      // more was to wait than may
		idle    sync.Cond // running became false
	}
}

// NewWriter returns the writer of a socket. fail is told when a frame that was sent could not be written, or when too much
// waits. It is called from a goroutine that nobody waits for: it closes the connection, which takes until who reads from that is done with what came, and he may
// be the one who sends, or waits to.
func NewWriter(conn net.Conn, fail func(error)) *Writer {
	w := &Writer{conn: tcp.NewSender(conn), fail: fail}
	w.post.idle.L = &w.post
	return w
}

// Switch sets how the peer reads frames from now on. Where it may be sent compressed ones it takes plain ones too, and
// those it gets from here.
func (w *Writer) Switch(m Mode) { w.mode.Store(m) }

// write sends b, as it is, from the direction's own goroutine. inside tells that b ends inside a frame, busy that it
// is one of many frames.
func (w *Writer) write(b []byte, inside, busy bool) error {
	if len(b) == 0 {
		return nil
	}
	w.mu.Lock()
	write := w.conn.Write
	if busy {
		write = w.conn.WriteBusy
	}
	_, err := write(b)
	left := w.inside && !inside
	w.inside = inside
	w.mu.Unlock()
	if left {
		w.post.Lock()
		w.start()
		w.post.Unlock()
	}
	return err
}

// Send queues one frame (header and body, plain, not yet in a segment); it copies it.
func (w *Writer) Send(frame []byte) {
	q := &w.post
	q.Lock()
	defer q.Unlock()
	if len(q.waiting)+len(frame) > maxPosted {
		if !q.full {
			q.full = true
			guard.Go(guard.Relay, func() { w.fail(errNotReading) }, nil)
		}
		return
	}
	q.waiting = appendFrames(q.waiting, w.mode.Load(), frame)
	w.start()
}

// start starts a goroutine for what waits, if there is none. The post's lock is held.
func (w *Writer) start() {
	if q := &w.post; len(q.waiting) > 0 && !q.running {
		q.running = true
		go w.flush()
	}
}

func (w *Writer) flush() {
	defer guard.Recover(guard.Relay, w.fail)
	for w.flushWaiting() {
	}
}

// flushWaiting writes what waits; false if nothing does, or may be written now.
func (w *Writer) flushWaiting() bool {
	q := &w.post
	w.mu.Lock()
	q.Lock()
	b := q.waiting
	if w.inside || len(b) == 0 {
		q.running, q.spare = false, nil
		q.idle.Broadcast()
		q.Unlock()
		w.mu.Unlock()
		return false
	}
	q.waiting, q.spare = q.spare[:0], nil
	q.Unlock()
	_, err := w.conn.Write(b)
	w.mu.Unlock()
	if err != nil {
		w.fail(err)
	}
	q.Lock()
	defer q.Unlock()
	q.spare = b
	if err != nil {
		q.waiting = nil
	}
	return true
}

// Idle tells whether everything that was sent is written. What the direction's own goroutine writes is not looked at.
func (w *Writer) Idle() bool {
	q := &w.post
	q.Lock()
	defer q.Unlock()
	return !q.running && len(q.waiting) == 0
}

// Settle waits until everything that was sent is written, or failed. It does not wait for the end of a frame that is being
// streamed, nor then for what was sent.
func (w *Writer) Settle() {
	q := &w.post
	q.Lock()
	defer q.Unlock()
	for q.running {
		q.idle.Wait()
	}
}

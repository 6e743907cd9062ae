// Package pipe is one direction of a relayed connection: it reads as much as there is, shows every frame in place to a
// [Handler], and writes the run of frames that nobody changed with one Write, as received. It imports proxy/wire only.
//
// A frame that is longer than the buffer is streamed: its beginning is shown, the rest is only counted; unless the
// handler wants it Whole, then the buffer grows with what comes (buffer.go). Protocol version 5's frames come in
// checksummed segments, which are verified and, if nothing in them changes, forwarded as they are (segments.go). What
// other goroutines have for the same socket goes through its Writer (writer.go).
//
// Thin: an opaque connection (one that compresses) is passed on unread.
package pipe

import (
	"io"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Verdict is what becomes of a frame.
type Verdict byte

// Verdicts.
const (
	Pass    Verdict = iota // forward the bytes as received
	Drop                   // somebody else has it; only for a complete one
	Replace                // forward the frame that was given instead; only for a complete one
	Whole                  // show it again when it is complete; only for one that is not
)

// A Handler looks at the frames of one direction, on the goroutine of its Run. An error ends the pipe, after what came
// before the frame was written.
type Handler interface {
	// Admit judges a header before anything of the body is waited for.
	Admit(h wire.Header) error
	// Frame judges a frame. body is only its beginning if complete is false, and valid during the call. now is when it was
	// read. With Replace comes a whole frame, valid until the next call.
	Frame(h wire.Header, body []byte, complete bool, now int64) (Verdict, []byte, error)
	// Written is called when every frame shown so far was handed to the socket.
	Written()
}

// Mode is how the bytes of a connection are to be read. It only ever moves on, when the handshake ends.
type Mode = int32

// Modes.
const (
	Framed    Mode = iota // frame after frame: versions 3 and 4, and version 5 before its handshake is over
	Segmented             // frames in segments: version 5 after
	Opaque                // compressed: not read
)

// Pipe is one direction of a connection.
type Pipe struct {
	Source  io.Reader
	Out     *Writer
	Handler Handler
	Mode    *atomic.Int32 // a Mode, the connection's
	Now     func() int64

	buffer
	skip     int    // bytes still to come of a frame's body that is streamed
	held     int    // segmented: bytes from start on that were already added to assembly
	assembly []byte // segmented: a frame that is spread over segments and must be seen whole
	rebuilt  []byte // segmented: frames of a segment of which something changed
}

// Run relays until either end fails or the stream can not be understood. It returns why; never nil.
func (p *Pipe) Run() error {
	p.buffer = newBuffer()
	defer p.drop()
	for {
		n, err := p.Source.Read(p.space())
		p.end += n
		if n > 0 {
			need, bad := p.scan(p.Now())
			if bad != nil {
				return bad
			}
			p.room(need, n)
		}
		if err != nil {
			return err
		}
	}
}

// scan deals with all that was read and is complete. need is how many bytes from start on must be there before it is
// worth being called again.
func (p *Pipe) scan(now int64) (need int, err error) {
	for {
		var more bool
		switch p.Mode.Load() {
		case Segmented:
			need, more, err = p.segments(now)
		case Opaque:
			err = p.forward(p.end, p.end)
		default:
			need, more, err = p.frames(now)
		}
		if err != nil || !more {
			return need, err
		}
	}
}

// forward writes what is unwritten up to position to, and goes on at position next.
func (p *Pipe) forward(to, next int) error {
	if err := p.Out.write(p.b[p.start:to], p.skip > 0); err != nil {
		return err
	}
	p.start = next
	return nil
}

// frames is scan for unsegmented frames. more means that the mode changed on the way.
func (p *Pipe) frames(now int64) (need int, more bool, err error) {
	pos := p.start
	need = wire.HeaderSize
	for {
		n := min(p.skip, p.end-pos)
		p.skip -= n
		pos += n
		if p.end-pos < wire.HeaderSize {
			break
		}
		h := wire.ParseHeader(p.b[pos:])
		if err := p.Handler.Admit(h); err != nil {
			return 0, false, p.before(pos, err)
		}
		total := wire.HeaderSize + h.Length
		have := min(total, p.end-pos)
		if have < total && have < largeBuffer {
			need = min(total, largeBuffer)
			break
		}
		v, instead, err := p.Handler.Frame(h, p.b[pos+wire.HeaderSize:pos+have], have == total, now)
		if err != nil {
			return 0, false, p.before(pos, err)
		}
		switch v {
		case Pass:
			pos += have
			p.skip = total - have
		case Whole:
			need = total
		case Drop, Replace:
			if err := p.forward(pos, pos+total); err != nil {
				return 0, false, err
			}
			if err := p.Out.write(instead, false); err != nil {
				return 0, false, err
			}
			pos = p.start
		}
		if v == Whole {
			break
		}
		if p.Mode.Load() != Framed {
			more = true
			break
		}
	}
	if err := p.forward(pos, pos); err != nil {
		return 0, false, err
	}
	if p.skip == 0 {
		p.Handler.Written()
	}
	return need, more, nil
}

// before forwards what came before the frame at pos that can not be understood, and returns err.
func (p *Pipe) before(pos int, err error) error {
	if e := p.forward(pos, pos); e != nil {
		return e
	}
	p.Handler.Written()
	return err
}

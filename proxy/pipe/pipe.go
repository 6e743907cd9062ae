// Package pipe is one direction of a relayed connection: it reads as much as there is, shows every frame in place to a
// [Handler], and writes the run of frames that nobody changed with one Write, as received. It imports proxy/wire and
// proxy/compress.
//
// A frame that is longer than the buffer is streamed: its beginning is shown, the rest is only counted; unless the
// handler wants it Whole, then the buffer grows with what comes (buffer.go). What other goroutines have for the same
// socket goes through its Writer (writer.go).
//
// # Modes
//
// How bytes are to be read is the [Mode] of the end that they come from. What they are read as is the same in each: a
// header and a body, decompressed.
//
//	Framed                 frames                                           frames.go
//	FramedLZ4, -Snappy     frames, those that say so with compressed bodies  compressed.go
//	Segmented              frames in checksummed segments                    segments.go
//	SegmentedLZ4           the same, those that say so compressed            segments.go
//	Opaque                 not read
//
// The end that they go to has a mode too, its Writer's. It is the same one, and then what was decompressed was so for
// looking at only: the bytes go on as received, and what is new among them goes plain. Or it differs by compression
// alone, where the proxy took it out of the handshake: then every frame that is compressed goes on plain, and
// every segment in the other form with the same content.
//
// Decompressed bodies live in scratch that is borrowed for a scan of what one Read brought; a connection that waits has
// none. A frame that is long once decompressed is treated as a long one: its beginning alone is decompressed
// (compress.Prefix), all of it only when it is wanted Whole.
package pipe

import (
	"io"
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/tcp"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Verdict is what becomes of a frame.
type Verdict byte

// Verdicts.
const (
	Pass    Verdict = iota // forward the bytes as received
	Drop                   // somebody else has it; of one that is not complete what follows is dropped, too
	Replace                // forward the frame that was given instead; only for a complete one
	Whole                  // show it again when it is complete; only for one that is not
)

// A Handler looks at the frames of one direction, on the goroutine of its Run. An error ends the pipe, after what came
// before the frame was written. Of a body that was compressed the header that is shown has the length that it has
// decompressed, and no compressed flag.
type Handler interface {
	// Admit judges a header before anything of the body is waited for. One whose body is compressed is judged twice: with
	// the length that is sent, and with the length that the body announces, before it is decompressed.
	Admit(h wire.Header) error
	// Frame judges a frame. body is only its beginning if complete is false, and valid during the call. now is when it was
	// read. With Replace comes a whole frame, plain, valid until the next call.
	Frame(h wire.Header, body []byte, complete bool, now int64) (Verdict, []byte, error)
	// Written is called when every frame shown so far was handed to the socket.
	Written()
}

// Mode is how the bytes of one end are to be read. It only ever moves on from Framed, when the handshake ends.
type Mode = int32

// Modes.
const (
	Framed       Mode = iota // frame after frame: versions 3 and 4, and version 5 before its handshake is over
	FramedLZ4                // versions 3 and 4 after a handshake that asked for lz4
	FramedSnappy             // or snappy
	Segmented                // frames in segments: version 5 after its handshake
	SegmentedLZ4             // one that asked for lz4
	Opaque                   // not read
)

// algorithm is how frames' bodies may be compressed.
func algorithm(m Mode) compress.Algorithm {
	switch m {
	case FramedLZ4:
		return compress.LZ4
	case FramedSnappy:
		return compress.Snappy
	}
	return compress.None
}

// form is that of a segmented mode's segments; 0 for other modes.
func form(m Mode) wire.Segments {
	switch m {
	case Segmented:
		return wire.PlainSegments
	case SegmentedLZ4:
		return wire.LZ4Segments
	}
	return 0
}

// appendFrames appends frames as a peer of a mode reads them.
func appendFrames(b []byte, m Mode, frames []byte) []byte {
	if f := form(m); f != 0 {
		return f.AppendFrames(b, frames)
	}
	return append(b, frames...)
}

// Undecodable is the error of a frame whose body does not decompress to what it announces. It is a compress.ErrBroken.
type Undecodable struct{ Header wire.Header }

func (e *Undecodable) Error() string { return compress.ErrBroken.Error() }

// Unwrap implements errors.Is.
func (e *Undecodable) Unwrap() error { return compress.ErrBroken }

// Pipe is one direction of a connection.
type Pipe struct {
	Source  io.Reader
	Out     *Writer
	Handler Handler
	Mode    *atomic.Int32 // the Source's
	Now     func() int64

	buffer
	scratch
	in, out  Mode     // during a scan
	shown    [2]int   // frames, of what the last two reads brought
	skip     int      // bytes still to come of a frame's body that is streamed
	dropping int      // bytes still to come of one that was dropped
	held     int      // segmented: bytes from start on that were already added to assembly
	assembly []byte   // segmented: a frame that is spread over segments and must be seen whole
	rebuilt  []byte   // segmented: frames of a segment of which something changed
	changed  outgoing // what goes out before what is unwritten: from the first change on
}

// Run relays until either end fails or the stream can not be understood. It returns why; never nil.
func (p *Pipe) Run() error {
	defer p.drop()
	return tcp.Follow(p.Source, p.Now, p.space, p.took, p.rest)
}

// took deals with what a read of n bytes brought.
func (p *Pipe) took(n int, now int64) error {
	p.end += n
	p.shown[0], p.shown[1] = 0, p.shown[0]
	need, err := p.scan(now)
	p.giveBack()
	if err == nil {
		p.room(need, n)
	}
	return err
}

// scan deals with all that was read and is complete. need is how many bytes from start on must be there before it is
// worth being called again.
func (p *Pipe) scan(now int64) (need int, err error) {
	for {
		p.in, p.out = p.Mode.Load(), p.Out.mode.Load()
		var more bool
		switch {
		case p.in == Opaque:
			err = p.forward(p.end, p.end)
		case form(p.in) != 0:
			need, err = p.segments(now)
		default:
			need, more, err = p.frames(now)
		}
		if err != nil || !more {
			return need, err
		}
	}
}

// frame has the handler judge a frame.
func (p *Pipe) frame(h wire.Header, body []byte, complete bool, now int64) (Verdict, []byte, error) {
	p.shown[0]++
	return p.Handler.Frame(h, body, complete, now)
}

// write writes what is to go out.
func (p *Pipe) write(b []byte) error {
	return p.Out.write(b, p.skip > 0, max(p.shown[0], p.shown[1]) > 1)
}

// forward hands on what is unwritten up to position to, and goes on at position next.
func (p *Pipe) forward(to, next int) error {
	b := p.b[p.start:to]
	p.start = next
	if p.changed.b == nil {
		return p.write(b)
	}
	return p.add(b)
}

// add hands on b after what was changed.
func (p *Pipe) add(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	room, err := p.build(len(b))
	switch {
	case err != nil:
		return err
	case room == nil:
		return p.write(b)
	}
	*room = append(*room, b...)
	return nil
}

// build returns where n bytes can be appended to go out after what was changed; nil if they are too many to be kept.
func (p *Pipe) build(n int) (*[]byte, error) {
	if !p.changed.fits(n) {
		if err := p.flush(); err != nil {
			return nil, err
		}
	}
	return p.changed.room(n), nil
}

// flush writes what was changed.
func (p *Pipe) flush() error {
	if p.changed.b == nil {
		return nil
	}
	err := p.write(*p.changed.b)
	p.changed.empty()
	return err
}

// substitute hands on b instead of what was read from pos to next, after what came before.
func (p *Pipe) substitute(pos, next int, b []byte) error {
	if err := p.forward(pos, next); err != nil {
		return err
	}
	return p.add(b)
}

// settle hands on what is unwritten up to pos, and writes everything.
func (p *Pipe) settle(pos int) error {
	if err := p.forward(pos, pos); err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	if p.skip == 0 {
		p.Handler.Written()
	}
	return nil
}

// before hands on what came before the frame at pos that can not be understood, and returns err.
func (p *Pipe) before(pos int, err error) error {
	if e := p.settle(pos); e != nil {
		return e
	}
	return err
}

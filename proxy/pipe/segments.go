package pipe

import (
	"errors"

	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/wire"
)

// ErrContent is the error of a stream whose segments and frames contradict each other.
var ErrContent = errors.New("frames and segments do not fit together: a segment does not hold what its header says")

// segment is one that was read and verified, b[pos:next].
type segment struct {
	wire.SegmentHeader
	payload   []byte // as sent
	pos, next int
}

// segments is scan for version 5's segments. A segment is verified and forwarded whole; its frames are looked at inside
// it. Only if one of them is dropped or replaced, the others are put into a new segment. A segment is decompressed once,
// and not at all if it is from the middle of a frame that is streamed.
func (p *Pipe) segments(now int64) (need int, err error) {
	form := form(p.in)
	pos := p.start + p.held
	var wanted int // position that must be reached
	for {
		wanted = pos + int(form)
		if p.end < wanted {
			break
		}
		h, err := form.Parse(p.b[pos:])
		if err != nil {
			return 0, p.before(pos, err)
		}
		wanted += h.Length + wire.SegmentTrailerSize
		if p.end < wanted {
			break
		}
		payload, err := form.Payload(p.b[pos:wanted])
		if err != nil {
			return 0, p.before(pos, err)
		}
		s := segment{h, payload, pos, wanted}
		if h.SelfContained {
			err = p.selfContained(s, now)
		} else {
			err = p.part(s, now)
		}
		if err != nil {
			return 0, err
		}
		pos = wanted
	}
	if p.held == 0 {
		err = p.settle(pos)
	}
	return wanted - p.start, err
}

// content is what a segment carries, decompressed if it is compressed.
func (p *Pipe) content(s segment) ([]byte, error) {
	if s.Decompressed == 0 {
		return s.payload, nil
	}
	b := p.borrow(s.Decompressed)
	return b, compress.Block(b, s.payload)
}

// pass hands on a segment that nobody changed: it stays in the run, or goes on in the form that the other end reads.
func (p *Pipe) pass(s segment, content []byte) error {
	if p.in == p.out {
		return nil
	}
	if err := p.forward(s.pos, s.next); err != nil {
		return err
	}
	f := form(p.out)
	room, err := p.build(int(f) + len(content) + wire.SegmentTrailerSize)
	switch {
	case err != nil:
		return err
	case room == nil: // a long one is rare
		return p.write(f.Append(nil, content, 0, s.SelfContained))
	}
	*room = f.Append(*room, content, 0, s.SelfContained)
	return nil
}

// selfContained looks at the frames of a segment.
func (p *Pipe) selfContained(s segment, now int64) error {
	if p.skip > 0 || p.held > 0 || p.dropping > 0 {
		return p.before(s.pos, ErrContent)
	}
	content, err := p.content(s)
	if err != nil {
		return p.before(s.pos, err)
	}
	changed := false
	for at := 0; at < len(content); {
		if len(content)-at < wire.HeaderSize {
			return p.before(s.pos, ErrContent)
		}
		h := wire.ParseHeader(content[at:])
		if err := p.Handler.Admit(h); err != nil {
			return p.before(s.pos, err)
		}
		end := at + wire.HeaderSize + h.Length
		if end > len(content) {
			return p.before(s.pos, ErrContent)
		}
		v, instead, err := p.frame(h, content[at+wire.HeaderSize:end], true, now)
		if err != nil {
			return p.before(s.pos, err)
		}
		if v != Pass && !changed {
			changed = true
			p.rebuilt = append(p.rebuilt[:0], content[:at]...)
		}
		switch {
		case v == Replace:
			p.rebuilt = append(p.rebuilt, instead...)
		case v == Pass && changed:
			p.rebuilt = append(p.rebuilt, content[at:end]...)
		}
		at = end
	}
	if !changed {
		return p.pass(s, content)
	}
	err = p.exchange(s.pos, s.next, p.rebuilt)
	if cap(p.rebuilt) > largeBuffer { // many long frames in one segment are rare
		p.rebuilt = nil
	}
	return err
}

// part looks at a segment that holds a part of one long frame.
func (p *Pipe) part(s segment, now int64) error {
	if p.dropping > 0 {
		if s.Content() > p.dropping {
			return p.before(s.pos, ErrContent)
		}
		p.dropping -= s.Content()
		return p.forward(s.pos, s.next)
	}
	if p.skip > 0 && p.in == p.out { // only its length matters
		if s.Content() > p.skip {
			return p.before(s.pos, ErrContent)
		}
		p.skip -= s.Content()
		return nil
	}
	content, err := p.content(s)
	if err != nil {
		return p.before(s.pos, err)
	}
	switch {
	case p.skip > 0:
		if len(content) > p.skip {
			return p.before(s.pos, ErrContent)
		}
		p.skip -= len(content)
		return p.pass(s, content)
	case p.held > 0:
		p.assembly = append(p.assembly, content...)
		p.held = s.next - p.start
	default:
		if len(content) < wire.HeaderSize {
			return p.before(s.pos, ErrContent)
		}
		h := wire.ParseHeader(content)
		if err := p.Handler.Admit(h); err != nil {
			return p.before(s.pos, err)
		}
		rest := wire.HeaderSize + h.Length - len(content)
		if rest <= 0 {
			return p.before(s.pos, ErrContent)
		}
		v, _, err := p.frame(h, content[wire.HeaderSize:], false, now)
		if err != nil {
			return p.before(s.pos, err)
		}
		switch v {
		case Pass:
			p.skip = rest
			return p.pass(s, content)
		case Drop:
			p.dropping = rest
			return p.forward(s.pos, s.next)
		}
		if err := p.settle(s.pos); err != nil {
			return err
		}
		p.assembly = append(p.assembly[:0], content...)
		p.held = s.next - s.pos
		return nil
	}
	h := wire.ParseHeader(p.assembly)
	switch total := wire.HeaderSize + h.Length; {
	case len(p.assembly) > total:
		return ErrContent
	case len(p.assembly) < total:
		return nil
	}
	v, instead, err := p.frame(h, p.assembly[wire.HeaderSize:], true, now)
	if v == Pass {
		instead = p.assembly
	}
	p.held, p.assembly = 0, nil // long frames are rare: their memory is not kept
	if err != nil || v == Pass && p.in == p.out {
		return err
	}
	return p.exchange(p.start, s.next, instead)
}

// exchange sends frames instead of the segments b[pos:next], after what came before them.
func (p *Pipe) exchange(pos, next int, frames []byte) error {
	if err := p.forward(pos, next); err != nil || len(frames) == 0 {
		return err
	}
	if len(frames) > largeBuffer/2 {
		return p.add(form(p.out).AppendFrames(nil, frames))
	}
	room, err := p.build(int(form(p.out)) + len(frames) + wire.SegmentTrailerSize)
	if err == nil {
		*room = form(p.out).AppendFrames(*room, frames)
	}
	return err
}

package pipe

import (
	"errors"

	"github.com/helenus-db/helenus/proxy/wire"
)

// ErrContent is the error of a stream whose segments and frames contradict each other.
var ErrContent = errors.New("frames and segments do not fit together: a segment does not hold what its header says")

// segments is scan for version 5's segments. A segment is verified and forwarded whole; its frames are looked at inside
// it. Only if one of them is dropped or replaced, the others are put into a new segment.
func (p *Pipe) segments(now int64) (need int, more bool, err error) {
	pos := p.start + p.held
	var wanted int // position that must be reached
	for {
		wanted = pos + wire.SegmentHeaderSize
		if p.end < wanted {
			break
		}
		length, selfContained, err := wire.ParseSegmentHeader(p.b[pos:])
		if err != nil {
			return 0, false, p.before(pos, err)
		}
		wanted += length + wire.SegmentTrailerSize
		if p.end < wanted {
			break
		}
		payload, err := wire.SegmentPayload(p.b[pos:wanted])
		if err != nil {
			return 0, false, p.before(pos, err)
		}
		if selfContained {
			err = p.selfContained(payload, pos, wanted, now)
		} else {
			err = p.part(payload, pos, wanted, now)
		}
		if err != nil {
			return 0, false, err
		}
		pos = wanted
	}
	if p.held == 0 {
		if err := p.forward(pos, pos); err != nil {
			return 0, false, err
		}
		if p.skip == 0 {
			p.Handler.Written()
		}
	}
	return wanted - p.start, false, nil
}

// selfContained looks at the frames of the segment b[pos:next].
func (p *Pipe) selfContained(payload []byte, pos, next int, now int64) error {
	if p.skip > 0 || p.held > 0 {
		return p.before(pos, ErrContent)
	}
	changed := false
	for at := 0; at < len(payload); {
		if len(payload)-at < wire.HeaderSize {
			return p.before(pos, ErrContent)
		}
		h := wire.ParseHeader(payload[at:])
		if err := p.Handler.Admit(h); err != nil {
			return p.before(pos, err)
		}
		end := at + wire.HeaderSize + h.Length
		if end > len(payload) {
			return p.before(pos, ErrContent)
		}
		v, instead, err := p.Handler.Frame(h, payload[at+wire.HeaderSize:end], true, now)
		if err != nil {
			return p.before(pos, err)
		}
		if v != Pass && !changed {
			changed = true
			p.rebuilt = append(p.rebuilt[:0], payload[:at]...)
		}
		switch {
		case v == Replace:
			p.rebuilt = append(p.rebuilt, instead...)
		case v == Pass && changed:
			p.rebuilt = append(p.rebuilt, payload[at:end]...)
		}
		at = end
	}
	if !changed {
		return nil
	}
	err := p.substitute(p.rebuilt, pos, next)
	if cap(p.rebuilt) > largeBuffer { // many long frames in one segment are rare
		p.rebuilt = nil
	}
	return err
}

// part looks at a segment that holds a part of one long frame.
func (p *Pipe) part(payload []byte, pos, next int, now int64) error {
	switch {
	case p.skip > 0:
		if len(payload) > p.skip {
			return p.before(pos, ErrContent)
		}
		p.skip -= len(payload)
		return nil
	case p.held > 0:
		p.assembly = append(p.assembly, payload...)
		p.held = next - p.start
	default:
		if len(payload) < wire.HeaderSize {
			return p.before(pos, ErrContent)
		}
		h := wire.ParseHeader(payload)
		if err := p.Handler.Admit(h); err != nil {
			return p.before(pos, err)
		}
		rest := wire.HeaderSize + h.Length - len(payload)
		if rest <= 0 {
			return p.before(pos, ErrContent)
		}
		v, _, err := p.Handler.Frame(h, payload[wire.HeaderSize:], false, now)
		if err != nil {
			return p.before(pos, err)
		}
		if v == Pass {
			p.skip = rest
			return nil
		}
		if err := p.before(pos, nil); err != nil {
			return err
		}
		p.assembly = append(p.assembly[:0], payload...)
		p.held = next - pos
		return nil
	}
	h := wire.ParseHeader(p.assembly)
	switch total := wire.HeaderSize + h.Length; {
	case len(p.assembly) > total:
		return ErrContent
	case len(p.assembly) < total:
		return nil
	}
	v, instead, err := p.Handler.Frame(h, p.assembly[wire.HeaderSize:], true, now)
	p.held, p.assembly = 0, nil // long frames are rare: their memory is not kept
	if err != nil || v == Pass {
		return err
	}
	return p.substitute(instead, p.start, next)
}

// substitute sends frames instead of the segments b[pos:next], after what came before them.
func (p *Pipe) substitute(frames []byte, pos, next int) error {
	if err := p.forward(pos, next); err != nil {
		return err
	}
	if len(frames) == 0 {
		return nil
	}
	return p.Out.write(wire.AppendFrames(nil, frames), false)
}

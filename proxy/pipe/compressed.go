package pipe

import (
	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/wire"
)

// compressed is show for a compressed body. What the body announces is admitted before anything is decompressed.
//
//	announces             of it was read   the handler is shown
//	up to largeBuffer     all              all
//	more                  any part         the beginning, up to largeBuffer; all, if it wants it Whole and all was read
//	                                       (else it is shown the beginning again when more was read)
//	up to largeBuffer     a part           the same; for bodies that grow when they are compressed
//
// Where compression was taken out of the handshake the handler is shown every frame whole, and what it passes goes on
// decompressed.
func (p *Pipe) compressed(a compress.Algorithm, h wire.Header, body []byte, now int64) (Verdict, []byte, error) {
	sent := h
	complete, length := len(body) == h.Length, 0
	if h.Length > 0 { // an empty body announces nothing
		var err error
		if length, _, err = a.Length(body); err != nil {
			return Pass, nil, &Undecodable{sent}
		}
	}
	h.Flags &^= wire.FlagCompressed
	h.Length = length
	if err := p.Handler.Admit(h); err != nil {
		return Pass, nil, err
	}
	strip := algorithm(p.out) == compress.None
	if !strip && (!complete || length > largeBuffer) {
		shown := p.borrow(min(length, largeBuffer))
		n, err := a.Prefix(shown, body)
		if err != nil || complete && n < len(shown) {
			return Pass, nil, &Undecodable{sent}
		}
		if v, instead, err := p.frame(h, shown[:n], false, now); v != Whole || !complete || err != nil {
			return v, instead, err
		}
	}
	if !complete {
		return Whole, nil, nil
	}
	frame := p.borrow(wire.HeaderSize + length)
	if len(body) > 0 && a.Decode(frame[wire.HeaderSize:], body) != nil {
		return Pass, nil, &Undecodable{sent}
	}
	v, instead, err := p.frame(h, frame[wire.HeaderSize:], true, now)
	if v == Pass && strip {
		wire.AppendHeader(frame[:0], h)
		return Replace, frame, err
	}
	return v, instead, err
}

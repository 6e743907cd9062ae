package pipe

import (
	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/wire"
)

// frames is scan for unsegmented frames. more means that the mode changed on the way.
func (p *Pipe) frames(now int64) (need int, more bool, err error) {
	pos := p.start
	need = wire.HeaderSize
	for {
		n := min(p.skip, p.end-pos)
		p.skip -= n
		pos += n
		if p.dropping > 0 {
			n := min(p.dropping, p.end-pos)
			if err := p.forward(pos, pos+n); err != nil {
				return 0, false, err
			}
			p.dropping -= n
			pos = p.start
		}
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
		v, instead, err := p.show(h, p.b[pos+wire.HeaderSize:pos+have], now)
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
			if err := p.substitute(pos, pos+have, instead); err != nil {
				return 0, false, err
			}
			p.dropping = total - have
			pos = p.start
		}
		if v == Whole {
			break
		}
		if p.Mode.Load() != p.in {
			more = true
			break
		}
	}
	return need, more, p.settle(pos)
}

// show shows a frame to the handler, of whose body the beginning was read, or all.
func (p *Pipe) show(h wire.Header, body []byte, now int64) (Verdict, []byte, error) {
	if a := algorithm(p.in); a != compress.None && h.Flags&wire.FlagCompressed != 0 {
		return p.compressed(a, h, body, now)
	}
	return p.frame(h, body, len(body) == h.Length, now)
}

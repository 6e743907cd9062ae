package commitlog

import (
	"encoding/binary"
	"math/bits"
)

// reader takes values from the beginning of some bytes. After what is not there, all is 0 and failed is set.
type reader struct {
	b      []byte
	failed bool
}

// take takes n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.failed, r.b = true, nil
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) short() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// vint takes Cassandra's unsigned integer of 1 to 9 bytes: as many of the first one's bits are set, from the highest, as bytes follow.
func (r *reader) vint() uint64 {
	first := r.byte()
	more := bits.LeadingZeros8(^first)
	v := uint64(first)
	if more > 0 {
		v &= 0xff >> more
	}
	for range more {
		v = v<<8 | uint64(r.byte())
	}
	return v
}

// vints skips some.
func (r *reader) vints(n int) {
	for range n {
		r.vint()
	}
}

// sized takes bytes that their length precedes.
func (r *reader) sized() []byte { return r.take(r.vint()) }

package value

import (
	"bytes"
	"encoding/binary"
)

// Made is an identifier that a text is made of: 123 of "user:123", acme of "acme|bob". It is hashed like the identifier itself, so that the two can be told
// to be equal. Of a text nobody knows whether it is one: what other columns hold tells.
type Made struct {
	Hash  uint64
	Of    uint32 // which of an execution's Binds, or of its Cells, it is in
	Piece uint8  // which part of the text, from 0
	Class Class  // Integer, UUID or Text
}

// Bounds of texts that are looked into.
const (
	maxMade   = 128 // bytes
	MaxPieces = 4   // parts
	leastWord = 2   // bytes of a part that is a text
)

// joints are what parts of made keys are joined with.
const joints = ":#|/~;,"

// joins tells of each byte whether it is one of joints.
var joins = func() (of [256]bool) {
	for _, c := range []byte(joints) {
		of[c] = true
	}
	return of
}()

// Made calls yield for each integer and UUID that a text is made of: all of it ("123"), or parts that are joined ("user:123", "7|12", "order-123"); and for parts
// that are texts ("acme|bob"), but not for those that "-" or "_" join, which are in words and names. A text with spaces, or of more than four parts, is none.
func (h *Hasher) Made(text []byte, yield func(m Made)) {
	if len(text) == 0 || len(text) > maxMade || bytes.IndexByte(text, ' ') >= 0 {
		return
	}
	parts := uint8(1)
	for _, c := range text {
		if joins[c] {
			parts++
		}
	}
	if parts == 1 {
		if len(text) == 36 || h.identifier(0, text, yield) { // one that spells a UUID is hashed as that already
			return
		}
		if i := lastHyphen(text); i > 0 && lastHyphen(text[:i]) < 0 {
			h.identifier(1, text[i+1:], yield)
		}
		return
	}
	if parts > MaxPieces {
		return
	}
	from, n := 0, uint8(0)
	for to := 0; to <= len(text); to++ {
		if to < len(text) && !joins[text[to]] {
			continue
		}
		if one := text[from:to]; !h.identifier(n, one, yield) && len(one) >= leastWord {
			yield(Made{Hash: h.Of(Text, one).Hash, Piece: n, Class: Text})
		}
		from, n = to+1, n+1
	}
}

// lastHyphen is where the last "-" or "_" of a text is, -1 if there is none.
func lastHyphen(text []byte) int {
	return max(bytes.LastIndexByte(text, '-'), bytes.LastIndexByte(text, '_'))
}

// identifier calls yield for a part, if it is an integer or a UUID.
func (h *Hasher) identifier(n uint8, b []byte, yield func(m Made)) bool {
	var id [16]byte
	var v Value
	switch number, ok := natural(b); {
	case ok:
		h.number = binary.BigEndian.AppendUint64(h.number[:0], number)
		v = h.Of(Integer, h.number)
	case len(b) == 36 && parseUUID(&id, b):
		v = h.Of(UUID, id[:])
	default:
		return false
	}
	yield(Made{Hash: v.Hash, Piece: n, Class: v.Class})
	return true
}

// natural reads a number as programs write one: without a sign, and without zeroes before it.
func natural(b []byte) (n uint64, ok bool) {
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, true
}

package value

import (
	"bytes"
	"encoding/binary"
)

// Made is an identifier that a text is made of: 123 of "user:123". It is hashed like the identifier itself, so that the two can be told to be equal.
type Made struct {
	Hash  uint64
	Of    uint32 // which of an execution's Binds, or of its Cells, it is in
	Piece uint8  // which part of the text, from 0
	Class Class  // Integer or UUID
}

// Bounds of texts that are looked into.
const (
	maxMade   = 128 // bytes
	MaxPieces = 4   // parts
)

// joints are what parts of made keys are joined with.
const joints = ":#|/~;,"

// Made calls yield for each integer and UUID that a text is made of: all of it ("123"), or parts that are joined ("user:123", "7|12", "order-123"). A text
// with spaces, or of more than four parts, is none.
func (h *Hasher) Made(text []byte, yield func(m Made)) {
	if len(text) == 0 || len(text) > maxMade || bytes.IndexByte(text, ' ') >= 0 {
		return
	}
	if !bytes.ContainsAny(text, joints) {
		if len(text) == 36 || h.piece(0, text, yield) { // one that spells a UUID is hashed as that already
			return
		}
		if i := bytes.LastIndexAny(text, "-_"); i > 0 && !bytes.ContainsAny(text[:i], "-_") {
			h.piece(1, text[i+1:], yield)
		}
		return
	}
	parts := uint8(1)
	for _, c := range text {
		if bytes.IndexByte([]byte(joints), c) >= 0 {
			parts++
		}
	}
	for n := uint8(0); n < parts && parts <= MaxPieces; n++ {
		one := text
		if i := bytes.IndexAny(text, joints); i >= 0 {
			one, text = text[:i], text[i+1:]
		}
		h.piece(n, one, yield)
	}
}

// piece calls yield for a part, if it is an identifier.
func (h *Hasher) piece(n uint8, b []byte, yield func(m Made)) bool {
	var id [16]byte
	var v Value
	switch number, ok := natural(b); {
	case ok:
		v = h.Of(Integer, binary.BigEndian.AppendUint64(nil, number))
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

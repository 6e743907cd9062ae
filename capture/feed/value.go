package feed

import (
	"encoding/binary"
	"strings"

	"github.com/dchest/siphash"

	"github.com/helenus-db/helenus/proxy"
)

// class is the kind of thing a value is. Values of different classes are never equal.
type class byte

const (
	none class = iota // not looked into
	integer
	text
	uuid
	timestamp
	date
	clock
	address
)

// Type codes of the protocol that are looked into.
const (
	typeList = 0x0020
	typeSet  = 0x0022
)

var classes = map[uint16]class{
	0x0001: text, 0x000D: text, // ascii, varchar
	0x0002: integer, 0x0005: integer, 0x0009: integer, 0x000E: integer, 0x0013: integer, 0x0014: integer, // bigint, counter, int, varint, smallint, tinyint
	0x000C: uuid, 0x000F: uuid, // uuid, timeuuid
	0x000B: timestamp, 0x0011: date, 0x0012: clock, 0x0010: address,
	// Not here: boolean (no identity), blob, float, double, decimal, duration (2.7 forbids or equality is moot).
}

// MaxElements is how many elements of a bound list or of a collection cell are looked at.
const maxElements = 64

// hasher hashes values canonically under a secret key.
type hasher struct {
	k0, k1  uint64
	scratch []byte
}

// each calls yield with the hash of a value, or with those of its elements if it is a list or a set.
func (h *hasher) each(t *proxy.Type, b []byte, yield func(hash uint64)) {
	if len(b) == 0 {
		return
	}
	if t.Code == typeList || t.Code == typeSet {
		if len(t.Elements) != 1 || len(b) < 4 {
			return
		}
		n := int(int32(binary.BigEndian.Uint32(b)))
		b = b[4:]
		for i := 0; i < n && i < maxElements; i++ {
			cell, rest, ok := readBytes(b)
			if !ok {
				return
			}
			b = rest
			if c := classes[t.Elements[0].Code]; c != none && len(cell) > 0 {
				yield(h.hash(c, cell))
			}
		}
		return
	}
	if c := classes[t.Code]; c != none {
		yield(h.hash(c, b))
	}
}

// hash is SipHash of the class and the canonical bytes: integers as minimal two's complement, text that spells a UUID as one.
func (h *hasher) hash(c class, b []byte) uint64 {
	switch c {
	case integer:
		for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xFF && b[1] >= 0x80) {
			b = b[1:]
		}
	case text:
		var id [16]byte
		if len(b) == 36 && parseUUID(&id, b) {
			c, b = uuid, id[:]
		}
	}
	h.scratch = append(append(h.scratch[:0], byte(c)), b...)
	return siphash.Hash(h.k0, h.k1, h.scratch)
}

func parseUUID(id *[16]byte, b []byte) bool {
	n := 0
	for i, c := range b {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			return false
		}
		id[n/2] = id[n/2]<<4 | byte(d)
		n++
	}
	return true
}

// maxRows is how many rows of an answer are looked at.
const maxRows = 32

// rows calls yield for the cells of the first maxRows rows of a RESULT Rows body, which may be cut short. The body is taken
// with its kind (2: rows) or from behind it: the column count tells which.
func rows(body []byte, columns int, yield func(column int, cell []byte)) {
	r := reader{b: body}
	if kind := (reader{b: body}); kind.int() == 2 && kind.skip(4).int() == columns {
		r.skip(4)
	}
	flags := r.int()
	if n := r.int(); n != columns || n == 0 {
		return // the table has changed since the statement was prepared
	}
	if flags&0x2 != 0 { // paging state
		r.bytes()
	}
	if flags&0x8 != 0 { // new metadata id
		r.string()
	}
	if flags&0x4 == 0 { // the metadata itself
		if flags&0x1 != 0 {
			r.string()
			r.string()
		}
		for i := 0; i < columns && !r.failed; i++ {
			if flags&0x1 == 0 {
				r.string()
				r.string()
			}
			r.string()
			r.option(0)
		}
	}
	n := r.int()
	for row := 0; row < n && row < maxRows; row++ {
		for c := 0; c < columns; c++ {
			cell := r.bytes()
			if r.failed {
				return
			}
			if len(cell) > 0 {
				yield(c, cell)
			}
		}
	}
}

// reader steps through protocol fields; after the first that does not fit it is failed and yields zeroes.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.b) {
		r.failed = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) skip(n int) *reader {
	r.take(n)
	return r
}

func (r *reader) int() int {
	if b := r.take(4); b != nil {
		return int(int32(binary.BigEndian.Uint32(b)))
	}
	return 0
}

func (r *reader) short() int {
	if b := r.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) string() []byte { return r.take(r.short()) }

func (r *reader) bytes() []byte {
	n := r.int()
	if n <= 0 {
		return nil
	}
	return r.take(n)
}

// option steps over a type.
func (r *reader) option(depth int) {
	if depth > 32 {
		r.failed = true
	}
	code := r.short()
	n := 0
	switch code {
	case 0x0000:
		r.string()
	case typeList, typeSet:
		n = 1
	case 0x0021: // map
		n = 2
	case 0x0030: // user-defined type: keyspace, name, fields
		r.string()
		r.string()
		for i, fields := 0, r.short(); i < fields && !r.failed; i++ {
			r.string()
			r.option(depth + 1)
		}
	case 0x0031: // tuple
		n = r.short()
	}
	for i := 0; i < n && !r.failed; i++ {
		r.option(depth + 1)
	}
}

// readBytes reads one [bytes] off b.
func readBytes(b []byte) (cell, rest []byte, ok bool) {
	r := reader{b: b}
	cell = r.bytes()
	return cell, r.b, !r.failed
}

// Package value turns the values of requests and answers into hashes. It imports proxy, for the types that Cassandra has
// described.
//
// A value leaves this package only as SipHash-2-4 of its class and its canonical bytes under a secret key
// (docs/design/mapping.md 2.1 and 2.7). The class is that of the type, not of the column: values that are equal in two columns have
// to be equal as hashes, or nothing could be learnt from them. Canonical are: integers of all widths as minimal two's
// complement, text as NFC, text that spells a UUID as that UUID, timestamps as their milliseconds.
//
// With the hash go its size in bytes and, for integers and points in time, the number. The number stays in the process, and
// its summaries say no more of it than its highest bit unless the column is one of those whose literals are allowed.
//
// A boolean has no identity and no class, but a hash of its own: it tells rows of one answer apart, and joins nothing.
//
// Not hashed at all: blob, float, double, decimal, duration and vector (2.7 forbids, or equality is
// moot), and maps, tuples and user-defined types, whose parts are values of their own to who takes them apart (capture/window). They are counted and measured.
package value

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/dchest/siphash"
	"golang.org/x/text/unicode/norm"

	"github.com/helenus-db/helenus/proxy"
)

// Class is the kind of thing a value is. Values of different classes are never equal.
type Class byte

// The classes. None is not hashed.
const (
	None Class = iota
	Integer
	Text
	UUID
	Timestamp
	Date
	Clock
	Address
	Classes = iota // how many there are
)

// String is the class's name.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[None]
}

var classNames = [...]string{"none", "integer", "text", "uuid", "timestamp", "date", "time", "inet"}

var classes = map[uint16]Class{
	proxy.TypeASCII: Text, proxy.TypeVarchar: Text,
	proxy.TypeBigint: Integer, proxy.TypeCounter: Integer, proxy.TypeInt: Integer, proxy.TypeVarint: Integer, proxy.TypeSmallint: Integer, proxy.TypeTinyint: Integer,
	proxy.TypeUUID: UUID, proxy.TypeTimeuuid: UUID,
	proxy.TypeTimestamp: Timestamp, proxy.TypeDate: Date, proxy.TypeTime: Clock, proxy.TypeInet: Address,
}

// ClassOf is the class of a type's values, or of its elements' if it is a list or a set.
func ClassOf(t *proxy.Type) Class {
	if (t.Code == proxy.TypeList || t.Code == proxy.TypeSet) && len(t.Elements) == 1 {
		t = &t.Elements[0]
	}
	return classes[t.Code]
}

// MaxElements is how many elements of a bound list or of a collection cell are looked at.
const MaxElements = 64

// MaxText is the length in bytes beyond which a text is no key and is not hashed.
const MaxText = 1 << 10

// Value is a value as it leaves the decoder.
type Value struct {
	Hash    uint64
	Number  int64  // if Numeric; it is never written anywhere
	Bytes   uint32 // its size
	Index   uint16 // of the result column, or the place of the bind variable
	Row     uint16 // of the answer
	Class   Class  // None: not to be compared with others, and not hashed unless it is a boolean
	Numeric bool
	Null    bool // then there is nothing else
}

// Magnitude is the position of the number's highest bit, 1..64, negative for numbers below 0, and 0 for 0.
func (v *Value) Magnitude() int8 {
	if v.Number < 0 {
		return -int8(bits.Len64(uint64(-(v.Number + 1)))) - 1
	}
	return int8(bits.Len64(uint64(v.Number)))
}

// OfMagnitude is a number of a magnitude: the one farthest from 0.
func OfMagnitude(m int8) int64 {
	switch {
	case m > 0:
		return int64(uint64(1)<<min(m, 63) - 1) //nolint:gosec // 63 bits at most
	case m < 0:
		return -int64(uint64(1) << (min(-int(m), 64) - 1)) //nolint:gosec // the smallest number is its own negative
	}
	return 0
}

// Hasher hashes values under a secret key. It is for one goroutine.
type Hasher struct {
	K0, K1  uint64
	scratch []byte
	number  []byte
}

// Each calls yield for a value, or for each element if it is a list or a set: with its hash if its class has one.
func (h *Hasher) Each(t *proxy.Type, b []byte, yield func(v Value)) {
	if len(b) == 0 {
		return
	}
	if t.Code == proxy.TypeList || t.Code == proxy.TypeSet {
		if len(t.Elements) != 1 || len(b) < 4 {
			return
		}
		n := int(int32(binary.BigEndian.Uint32(b)))
		r := reader{b: b[4:]}
		for i := 0; i < n && i < MaxElements; i++ {
			cell := r.bytes()
			if r.failed {
				return
			}
			if len(cell) > 0 {
				yield(h.Of(classes[t.Elements[0].Code], cell))
			}
		}
		return
	}
	v := h.Of(classes[t.Code], b)
	if t.Code == proxy.TypeBoolean && len(b) == 1 {
		v.Hash = h.Tuple([]uint64{uint64(b[0])})
	}
	yield(v)
}

// Of hashes the bytes of one value of a class.
func (h *Hasher) Of(c Class, b []byte) Value {
	v := Value{Bytes: uint32(len(b)), Class: c}
	switch c {
	case None:
		return v
	case Integer:
		for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xFF && b[1] >= 0x80) {
			b = b[1:]
		}
		v.number(b)
	case Timestamp:
		v.number(b)
	case Date: // days, with 2^31 for 1970-01-01
		if len(b) == 4 {
			v.Number, v.Numeric = int64(binary.BigEndian.Uint32(b))-1<<31, true
		}
	case Text:
		var id [16]byte
		switch {
		case len(b) == 36 && parseUUID(&id, b):
			v.Class, b = UUID, id[:]
		case len(b) > MaxText:
			v.Class = None
			return v
		case !ascii(b) && utf8.Valid(b):
			b = norm.NFC.Bytes(b)
		}
	}
	h.scratch = append(append(h.scratch[:0], byte(v.Class)), b...)
	v.Hash = siphash.Hash(h.K0, h.K1, h.scratch)
	return v
}

// Tuple hashes several hashes into one: the key of a partition.
func (h *Hasher) Tuple(hashes []uint64) uint64 {
	h.scratch = append(h.scratch[:0], 0xFF) // no class
	for _, one := range hashes {
		h.scratch = binary.BigEndian.AppendUint64(h.scratch, one)
	}
	return siphash.Hash(h.K0, h.K1, h.scratch)
}

// number reads a two's complement number of at most 8 bytes.
func (v *Value) number(b []byte) {
	if len(b) == 0 || len(b) > 8 {
		return
	}
	n := int64(int8(b[0]))
	for _, c := range b[1:] {
		n = n<<8 | int64(c)
	}
	v.Number, v.Numeric = n, true
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
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

// MaxRows is how many rows of an answer are looked at.
const MaxRows = 32

// Rows calls yield for the cells of the first MaxRows rows of a RESULT Rows body, which may be cut short; a cell that is null is
// nil. The body is taken with its kind (2: rows) or from behind it: the column count tells which. If the answer has other
// columns than those that the statement was prepared with there is nothing to yield.
func Rows(body []byte, columns []proxy.Column, yield func(row, column int, cell []byte)) {
	r := reader{b: body}
	if kind := (reader{b: body}); kind.int() == 2 && kind.skip(4).int() == len(columns) {
		r.skip(4)
	}
	flags := r.int()
	if n := r.int(); n != len(columns) || n == 0 {
		return
	}
	if flags&0x2 != 0 { // paging state
		r.bytes()
	}
	if flags&0x8 != 0 { // new metadata id
		r.string()
	}
	if flags&0x4 == 0 && !r.metadata(flags&0x1 != 0, columns) {
		return
	}
	n := r.int()
	for row := 0; row < n && row < MaxRows; row++ {
		for c := range columns {
			cell := r.bytes()
			if r.failed {
				return
			}
			yield(row, c, cell)
		}
	}
}

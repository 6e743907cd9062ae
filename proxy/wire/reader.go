package wire

import "encoding/binary"

// Reader reads the protocol's notations one after another. After a field that is not there it is Bad for good.
type Reader struct {
	b   []byte
	off int
	bad bool
}

// NewReader reads b from its beginning.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Offset is the position of the next field.
func (r *Reader) Offset() int { return r.off }

// Bad tells whether a field was not there.
func (r *Reader) Bad() bool { return r.bad }

// Rest returns what is not read yet.
func (r *Reader) Rest() []byte { return r.b[r.off:] }

// Fail makes the reader Bad: what was read makes no sense.
func (r *Reader) Fail() { r.bad = true }

// Take returns the next n bytes.
func (r *Reader) Take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b)-r.off {
		r.bad = true
		return nil
	}
	s := r.b[r.off : r.off+n : r.off+n]
	r.off += n
	return s
}

// Byte reads a [byte].
func (r *Reader) Byte() byte {
	if r.bad || r.off >= len(r.b) {
		r.bad = true
		return 0
	}
	r.off++
	return r.b[r.off-1]
}

// Short reads a [short].
func (r *Reader) Short() uint16 {
	if r.bad || len(r.b)-r.off < 2 {
		r.bad = true
		return 0
	}
	r.off += 2
	return binary.BigEndian.Uint16(r.b[r.off-2:])
}

// Int reads an [int].
func (r *Reader) Int() int32 {
	if r.bad || len(r.b)-r.off < 4 {
		r.bad = true
		return 0
	}
	r.off += 4
	return int32(binary.BigEndian.Uint32(r.b[r.off-4:]))
}

// Long reads a [long].
func (r *Reader) Long() int64 {
	if s := r.Take(8); s != nil {
		return int64(binary.BigEndian.Uint64(s))
	}
	return 0
}

// String reads a [string] or a [short bytes]; both are a length of two bytes and the content.
func (r *Reader) String() []byte { return r.Take(int(r.Short())) }

// LongString reads a [long string].
func (r *Reader) LongString() []byte { return r.Take(int(r.Int())) }

// Bytes reads a [bytes]; null (a negative length) is returned as nil, ok.
func (r *Reader) Bytes() []byte {
	n := r.Int()
	if n < 0 {
		return nil
	}
	return r.Take(int(n))
}

// Value reads a [value]: n is its length, -1 for null, -2 for not set (in version 3 null, as all below 0).
func (r *Reader) Value() (b []byte, n int32) {
	n = r.Int()
	if n >= 0 {
		return r.Take(int(n)), n
	}
	return nil, n
}

// StringMap calls f for each pair of a [string map].
func (r *Reader) StringMap(f func(key, value []byte)) {
	for n := int(r.Short()); n > 0 && !r.bad; n-- {
		key := r.String()
		value := r.String()
		if !r.bad {
			f(key, value)
		}
	}
}

// skipBytesMap steps over a custom payload.
func (r *Reader) skipBytesMap() {
	for n := int(r.Short()); n > 0 && !r.bad; n-- {
		r.String()
		r.Bytes()
	}
}

// CustomPayload calls f for what the custom payload holds with which a request's body begins; value lies in the body. What can not be
// read, and what comes after it, is left out.
func CustomPayload(body []byte, f func(key string, value []byte)) {
	r := NewReader(body)
	for n := int(r.Short()); n > 0; n-- {
		key, value := r.String(), r.Bytes()
		if r.bad {
			return
		}
		f(string(key), value)
	}
}

// skipStringList steps over warnings.
func (r *Reader) skipStringList() {
	for n := int(r.Short()); n > 0 && !r.bad; n-- {
		r.String()
	}
}

// SkipRequestPrefix steps over what a request's header flags put before the message: the custom payload.
func (r *Reader) SkipRequestPrefix(flags byte) {
	if flags&FlagCustomPayload != 0 {
		r.skipBytesMap()
	}
}

// SkipResponsePrefix steps over what a response's header flags put before the message: tracing id, warnings, custom
// payload.
func (r *Reader) SkipResponsePrefix(flags byte) {
	if flags&FlagTracing != 0 {
		r.Take(16)
	}
	if flags&FlagWarnings != 0 {
		r.skipStringList()
	}
	if flags&FlagCustomPayload != 0 {
		r.skipBytesMap()
	}
}

// AppendShort appends a [short].
func AppendShort(b []byte, n uint16) []byte { return binary.BigEndian.AppendUint16(b, n) }

// AppendInt appends an [int].
func AppendInt(b []byte, n int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(n)) }

// AppendLong appends a [long].
func AppendLong(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

// AppendString appends a [string]; what exceeds its longest length is cut.
func AppendString(b []byte, s string) []byte {
	if len(s) > 0xFFFF {
		s = s[:0xFFFF]
	}
	return append(AppendShort(b, uint16(len(s))), s...)
}

// AppendLongString appends a [long string].
func AppendLongString(b []byte, s string) []byte {
	return append(AppendInt(b, int32(len(s))), s...)
}

// AppendBytes appends a [bytes]; nil is null.
func AppendBytes(b, s []byte) []byte {
	if s == nil {
		return AppendInt(b, -1)
	}
	return append(AppendInt(b, int32(len(s))), s...)
}

package wire

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Sizes of version 5's segments, bytes.
const (
	SegmentHeaderSize  = int(PlainSegments)
	SegmentTrailerSize = 4 // CRC32 of the payload as it is sent
	MaxSegmentPayload  = 1<<17 - 1
	MaxSegmentSize     = SegmentHeaderSize + MaxSegmentPayload + SegmentTrailerSize
)

// Segments is one of the two forms of segments; its number is the length of their header, bytes.
type Segments int

// Forms of segments. Which it is was agreed in STARTUP. The header is little-endian.
const (
	PlainSegments Segments = 6 // 17 bits of length, 1 bit "self-contained", 6 bits of nothing, and their CRC24
	LZ4Segments   Segments = 8 // 17 bits of length, 17 bits of length once decompressed, 1 bit "self-contained", 5 bits of nothing, and their CRC24
)

// SegmentHeader is a segment's header.
type SegmentHeader struct {
	Length        int  // of the payload as it is sent, bytes
	Decompressed  int  // of the payload once it is decompressed, bytes; 0 if it is sent as it is
	SelfContained bool // it is made of whole frames; if not, of one frame's next part
}

// Content is the length of the frames, or of the part of a frame, that the segment carries, bytes.
func (h SegmentHeader) Content() int {
	if h.Decompressed > 0 {
		return h.Decompressed
	}
	return h.Length
}

// Errors of segments. After either the stream can not be trusted any more, and the connection is closed.
var (
	ErrHeaderCRC  = errors.New("the checksum of a segment's header does not match: the stream is damaged or is not made of protocol version 5 segments")
	ErrPayloadCRC = errors.New("the checksum of a segment's payload does not match: the stream was damaged under way")
)

const (
	crc24Init = 0x875060
	crc24Poly = 0x1974F0B
)

// crc24Table drives the header's checksum a byte at a time: the eight shifts of each value of the top byte, done once.
var crc24Table = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 16
		for range 8 {
			c <<= 1
			if c&0x1000000 != 0 {
				c ^= crc24Poly
			}
		}
		t[i] = c & 0xFFFFFF
	}
	return t
}()

// crc24 is the checksum of a header's first n bytes.
func crc24(v uint64, n int) uint32 {
	c := uint32(crc24Init)
	for range n { // Cassandra feeds them from the lowest on
		c = (c<<8)&0xFFFFFF ^ crc24Table[byte(c>>16)^byte(v)] //nolint:gosec // the lowest byte
		v >>= 8
	}
	return c
}

// crc32Start is the checksum after the four bytes that Cassandra feeds before the payload.
var crc32Start = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

func crc32Of(p []byte) uint32 { return crc32.Update(crc32Start, crc32.IEEETable, p) }

// Parse reads the header at the beginning of b, which must hold as many bytes as the form's number. Error: ErrHeaderCRC.
func (f Segments) Parse(b []byte) (h SegmentHeader, err error) {
	n := int(f) - 3
	var v uint64
	for i := range n {
		v |= uint64(b[i]) << (8 * i)
	}
	if c := uint32(b[n]) | uint32(b[n+1])<<8 | uint32(b[n+2])<<16; crc24(v, n) != c {
		return h, ErrHeaderCRC
	}
	h.Length = int(v & MaxSegmentPayload)
	v >>= 17
	if f == LZ4Segments {
		h.Decompressed = int(v & MaxSegmentPayload)
		v >>= 17
	}
	h.SelfContained = v&1 != 0
	return h, nil
}

// Payload verifies a whole segment (header, payload, trailer; header already parsed) and returns its payload, compressed
// if it is. Error: ErrPayloadCRC.
func (f Segments) Payload(segment []byte) ([]byte, error) {
	end := len(segment) - SegmentTrailerSize
	p := segment[f:end]
	if crc32Of(p) != binary.LittleEndian.Uint32(segment[end:]) {
		return nil, ErrPayloadCRC
	}
	return p, nil
}

// Append appends a segment of a payload as it is sent; decompressed is the SegmentHeader's.
func (f Segments) Append(b, payload []byte, decompressed int, selfContained bool) []byte {
	v, n := uint64(len(payload)), 17
	if f == LZ4Segments {
		v, n = v|uint64(decompressed)<<17, 34 //nolint:gosec // at most MaxSegmentPayload
	}
	if selfContained {
		v |= 1 << n
	}
	c := crc24(v, int(f)-3)
	for range int(f) - 3 {
		b = append(b, byte(v)) //nolint:gosec // a byte at a time
		v >>= 8
	}
	b = append(b, byte(c), byte(c>>8), byte(c>>16)) //nolint:gosec // a byte at a time
	b = append(b, payload...)
	return binary.LittleEndian.AppendUint32(b, crc32Of(payload))
}

// AppendFrames appends a run of whole frames, uncompressed, in as few segments as hold them. A frame that is longer than
// MaxSegmentPayload goes in segments of its own.
func (f Segments) AppendFrames(b, frames []byte) []byte {
	start, end := 0, 0
	for end < len(frames) {
		n := HeaderSize + ParseHeader(frames[end:]).Length
		if end > start && end+n-start > MaxSegmentPayload {
			b = f.appendRun(b, frames[start:end])
			start = end
		}
		end += n
	}
	if end > start {
		b = f.appendRun(b, frames[start:end])
	}
	return b
}

// appendRun appends frames that fit into one segment, or one that does not.
func (f Segments) appendRun(b, frames []byte) []byte {
	if len(frames) <= MaxSegmentPayload {
		return f.Append(b, frames, 0, true)
	}
	for len(frames) > 0 {
		n := min(len(frames), MaxSegmentPayload)
		b = f.Append(b, frames[:n], 0, false)
		frames = frames[n:]
	}
	return b
}

// ParseSegmentHeader is Parse of plain segments.
func ParseSegmentHeader(b []byte) (length int, selfContained bool, err error) {
	h, err := PlainSegments.Parse(b)
	return h.Length, h.SelfContained, err
}

// SegmentPayload is Payload of plain segments.
func SegmentPayload(segment []byte) ([]byte, error) { return PlainSegments.Payload(segment) }

// AppendSegments appends, in plain segments, frames that fit into one segment, or one that does not.
func AppendSegments(b, frames []byte) []byte { return PlainSegments.appendRun(b, frames) }

// AppendFrames is AppendFrames of plain segments.
func AppendFrames(b, frames []byte) []byte { return PlainSegments.AppendFrames(b, frames) }

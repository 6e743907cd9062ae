package wire

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Sizes of version 5's segments, bytes.
const (
	SegmentHeaderSize  = 6 // 17 bits of length, 1 bit "self-contained", 6 bits of nothing, and their CRC24
	SegmentTrailerSize = 4 // CRC32 of the payload
	MaxSegmentPayload  = 1<<17 - 1
	MaxSegmentSize     = SegmentHeaderSize + MaxSegmentPayload + SegmentTrailerSize
)

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

func crc24(v uint32) uint32 {
	c := uint32(crc24Init)
	for range 3 { // Cassandra feeds the three bytes of the header from the lowest on
		c = (c<<8)&0xFFFFFF ^ crc24Table[byte(c>>16)^byte(v)]
		v >>= 8
	}
	return c
}

// crc32Start is the checksum after the four bytes that Cassandra feeds before the payload.
var crc32Start = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

func crc32Of(p []byte) uint32 { return crc32.Update(crc32Start, crc32.IEEETable, p) }

// ParseSegmentHeader reads the header at the beginning of b, which must hold SegmentHeaderSize bytes: the length of the
// payload, and whether it is made of whole frames (if not, of one frame's next part). Error: ErrHeaderCRC.
func ParseSegmentHeader(b []byte) (length int, selfContained bool, err error) {
	_ = b[SegmentHeaderSize-1]
	v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	c := uint32(b[3]) | uint32(b[4])<<8 | uint32(b[5])<<16
	if crc24(v) != c {
		return 0, false, ErrHeaderCRC
	}
	return int(v & MaxSegmentPayload), v&(1<<17) != 0, nil
}

// SegmentPayload verifies a whole segment (header, payload, trailer; header already parsed) and returns its payload.
// Error: ErrPayloadCRC.
func SegmentPayload(segment []byte) ([]byte, error) {
	end := len(segment) - SegmentTrailerSize
	p := segment[SegmentHeaderSize:end]
	if crc32Of(p) != binary.LittleEndian.Uint32(segment[end:]) {
		return nil, ErrPayloadCRC
	}
	return p, nil
}

// AppendSegments appends payload, which consists of whole frames: as one self-contained segment if it fits, else as
// segments that are not. In the second case payload must be one frame; a run of frames that is longer than
// MaxSegmentPayload is for [AppendFrames].
func AppendSegments(b, payload []byte) []byte {
	if len(payload) <= MaxSegmentPayload {
		return appendSegment(b, payload, true)
	}
	for len(payload) > 0 {
		n := min(len(payload), MaxSegmentPayload)
		b = appendSegment(b, payload[:n], false)
		payload = payload[n:]
	}
	return b
}

// AppendFrames appends a run of whole frames in as few segments as hold them.
func AppendFrames(b, frames []byte) []byte {
	start, end := 0, 0
	for end < len(frames) {
		n := HeaderSize + ParseHeader(frames[end:]).Length
		if end > start && end+n-start > MaxSegmentPayload {
			b = AppendSegments(b, frames[start:end])
			start = end
		}
		end += n
	}
	if end > start {
		b = AppendSegments(b, frames[start:end])
	}
	return b
}

func appendSegment(b, payload []byte, selfContained bool) []byte {
	v := uint32(len(payload))
	if selfContained {
		v |= 1 << 17
	}
	c := crc24(v)
	b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(c), byte(c>>8), byte(c>>16))
	b = append(b, payload...)
	return binary.LittleEndian.AppendUint32(b, crc32Of(payload))
}

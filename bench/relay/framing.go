package main

import (
	"github.com/pierrec/lz4/v4"

	"github.com/helenus-db/helenus/proxy/wire"
)

// framing is how a connection's frames lie on the wire, for the two ends of the bench. They trust each other: checksums
// are made (the relay verifies them), and looked at as far as the header's.
type framing struct {
	form       wire.Segments // 0: frames as they are
	compressor lz4.Compressor
	packed     []byte
	plain      []byte
}

// wrap appends frames as they go on the wire: in one segment, compressed if that makes it shorter. They fit into one.
func (f *framing) wrap(out, frames []byte) []byte {
	if f.form == 0 || len(frames) == 0 {
		return append(out, frames...)
	}
	if f.form == wire.LZ4Segments {
		if need := lz4.CompressBlockBound(len(frames)); cap(f.packed) < need {
			f.packed = make([]byte, need)
		}
		n, err := f.compressor.CompressBlock(frames, f.packed[:cap(f.packed)])
		if err == nil && n > 0 && n < len(frames) {
			return f.form.Append(out, f.packed[:n], len(frames), true)
		}
	}
	return f.form.Append(out, frames, 0, true)
}

// unwrap returns the frames at the beginning of b, whole ones, and how many bytes of b they took; 0 if not all is there.
func (f *framing) unwrap(b []byte) (frames []byte, size int, err error) {
	head := wire.HeaderSize
	if f.form != 0 {
		head = int(f.form)
	}
	if len(b) < head {
		return nil, 0, nil
	}
	if f.form == 0 {
		if size = head + wire.ParseHeader(b).Length; len(b) < size {
			return nil, 0, nil
		}
		return b[:size], size, nil
	}
	h, err := f.form.Parse(b)
	if err != nil {
		return nil, 0, err
	}
	if size = head + h.Length + wire.SegmentTrailerSize; len(b) < size {
		return nil, 0, nil
	}
	frames = b[head : head+h.Length]
	if h.Decompressed > 0 {
		if cap(f.plain) < h.Decompressed {
			f.plain = make([]byte, wire.MaxSegmentPayload)
		}
		n, err := lz4.UncompressBlock(frames, f.plain[:h.Decompressed])
		return f.plain[:n], size, err
	}
	return frames, size, nil
}

// inbox is what a peer sent and was not yet dealt with. It grows when a message does not fit.
type inbox struct {
	b          []byte
	start, end int
}

// space is where to read to; there is some.
func (i *inbox) space() []byte {
	if i.start > 0 {
		copy(i.b, i.b[i.start:i.end])
		i.start, i.end = 0, i.end-i.start
	}
	if i.end == len(i.b) {
		i.b = append(i.b, make([]byte, max(4<<10, 3*len(i.b)))...)
	}
	return i.b[i.end:]
}

// next returns the next frames, nil if they are not all there.
func (i *inbox) next(f *framing) ([]byte, error) {
	frames, n, err := f.unwrap(i.b[i.start:i.end])
	i.start += n
	return frames, err
}

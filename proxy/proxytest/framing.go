package proxytest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/golang/snappy"
	"github.com/pierrec/lz4/v4"

	"github.com/helenus-db/helenus/proxy/compress"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Framing is how a peer's frames lie on the wire. The zero value is frames as they are.
type Framing struct {
	Segments  wire.Segments      // 0: none
	Algorithm compress.Algorithm // of frames' bodies; with LZ4Segments it is LZ4
}

// Agreed is what follows a handshake that asked for a compression, "" for none. What is not known is left plain.
func Agreed(version byte, compression string) Framing {
	a, _ := compress.Named(compression)
	switch {
	case version < 5:
		return Framing{Algorithm: a}
	case a == compress.LZ4:
		return Framing{wire.LZ4Segments, a}
	}
	return Framing{Segments: wire.PlainSegments}
}

// Append appends frames, compressed if that is what was agreed; in segments, those of LZ4 only if they become shorter.
func (f Framing) Append(b, frames []byte) []byte {
	switch {
	case f.Segments == wire.LZ4Segments:
		return appendCompressed(b, frames)
	case f.Segments != 0:
		return f.Segments.AppendFrames(b, frames)
	}
	for len(frames) > 0 {
		h := wire.ParseHeader(frames)
		body := frames[wire.HeaderSize : wire.HeaderSize+h.Length]
		frames = frames[wire.HeaderSize+h.Length:]
		if len(body) > 0 && f.Algorithm != compress.None {
			h.Flags |= wire.FlagCompressed
			body = Compress(f.Algorithm, body)
		}
		b = wire.AppendFrame(b, h, body)
	}
	return b
}

// Compress compresses a body.
func Compress(a compress.Algorithm, body []byte) []byte {
	if a == compress.Snappy {
		return snappy.Encode(nil, body)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	if len(body) == 0 {
		return append(b, 0)
	}
	return append(b, block(body)...)
}

func block(b []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, _ := lz4.CompressBlock(b, out, nil) // there is room
	return out[:n]
}

// appendCompressed compresses the segments that plain ones would be.
func appendCompressed(b, frames []byte) []byte {
	for plain := wire.AppendFrames(nil, frames); len(plain) > 0; {
		h, _ := wire.PlainSegments.Parse(plain)
		size := wire.SegmentHeaderSize + h.Length + wire.SegmentTrailerSize
		payload, length := plain[wire.SegmentHeaderSize:size-wire.SegmentTrailerSize], 0
		if c := block(payload); len(c) > 0 && len(c) < len(payload) {
			payload, length = c, len(payload)
		}
		b = wire.LZ4Segments.Append(b, payload, length, h.SelfContained)
		plain = plain[size:]
	}
	return b
}

// frames reads frames off a stream.
type frames struct {
	r       *bufio.Reader
	framing Framing
	inner   bytes.Buffer // content of segments
}

func newFrames(r io.Reader) *frames { return &frames{r: bufio.NewReader(r)} }

// next returns the next frame, decompressed.
func (f *frames) next() (wire.Header, []byte, error) {
	head := make([]byte, wire.HeaderSize)
	if err := f.read(head); err != nil {
		return wire.Header{}, nil, err
	}
	h := wire.ParseHeader(head)
	body := make([]byte, h.Length)
	if err := f.read(body); err != nil {
		return h, nil, err
	}
	if a := f.framing.Algorithm; f.framing.Segments == 0 && a != compress.None && h.Flags&wire.FlagCompressed != 0 {
		h.Flags &^= wire.FlagCompressed
		if len(body) == 0 {
			return h, body, nil
		}
		n, _, err := a.Length(body)
		if err != nil {
			return h, nil, err
		}
		plain := make([]byte, n)
		h.Length = n
		return h, plain, a.Decode(plain, body)
	}
	return h, body, nil
}

func (f *frames) read(b []byte) error {
	for f.framing.Segments != 0 && f.inner.Len() < len(b) {
		if err := f.segment(); err != nil {
			return err
		}
	}
	var err error
	if f.framing.Segments != 0 {
		_, err = io.ReadFull(&f.inner, b)
	} else {
		_, err = io.ReadFull(f.r, b)
	}
	return err
}

// segment reads one more segment.
func (f *frames) segment() error {
	form := f.framing.Segments
	s := make([]byte, form)
	if _, err := io.ReadFull(f.r, s); err != nil {
		return err
	}
	h, err := form.Parse(s)
	if err != nil {
		return err
	}
	s = append(s, make([]byte, h.Length+wire.SegmentTrailerSize)...)
	if _, err := io.ReadFull(f.r, s[form:]); err != nil {
		return err
	}
	payload, err := form.Payload(s)
	if err != nil {
		return err
	}
	if h.Decompressed > 0 {
		plain := make([]byte, h.Decompressed)
		if err := compress.Block(plain, payload); err != nil {
			return err
		}
		payload = plain
	}
	f.inner.Write(payload)
	return nil
}

// Read returns the frames of a stream that ends with a whole one, plain.
func (f Framing) Read(b []byte) ([]byte, error) {
	in := newFrames(bytes.NewReader(b))
	in.framing = f
	var out []byte
	for {
		h, body, err := in.next()
		switch {
		case err == io.EOF && body == nil: //nolint:errorlint // the end, not something in a frame
			return out, nil
		case err != nil:
			return out, err
		}
		out = wire.AppendFrame(out, h, body)
	}
}

// AppendPlain is Append without compressing.
func (f Framing) AppendPlain(b, frames []byte) []byte {
	if f.Segments != 0 {
		return f.Segments.AppendFrames(b, frames)
	}
	return append(b, frames...)
}

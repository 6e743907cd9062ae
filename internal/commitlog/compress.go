package commitlog

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompressors are Cassandra's compressors, by class. Each makes exactly len(dst) bytes.
var decompressors = map[string]func(dst, block []byte) error{
	"LZ4Compressor": func(dst, block []byte) error {
		if len(block) < 4 || binary.LittleEndian.Uint32(block) != uint32(len(dst)) { //nolint:gosec // at most maxSegment
			return ErrBroken
		}
		n, err := lz4.UncompressBlock(block[4:], dst)
		return exactly(dst, n, err)
	},
	"SnappyCompressor": func(dst, block []byte) error {
		if n, err := snappy.DecodedLen(block); err != nil || n != len(dst) {
			return ErrBroken
		}
		out, err := snappy.Decode(dst, block)
		return exactly(dst, len(out), err)
	},
	"DeflateCompressor": func(dst, block []byte) error {
		r, err := zlib.NewReader(bytes.NewReader(block))
		if err != nil {
			return err
		}
		n, err := io.ReadFull(r, dst)
		return exactly(dst, n, err)
	},
	"ZstdCompressor": func(dst, block []byte) error {
		d, err := zstd.NewReader(bytes.NewReader(block), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(len(dst))+1<<20))
		if err != nil {
			return err
		}
		defer d.Close()
		n, err := io.ReadFull(d, dst)
		return exactly(dst, n, err)
	},
}

func exactly(dst []byte, n int, err error) error {
	if err != nil || n != len(dst) {
		return ErrBroken
	}
	return nil
}

// maxRatio is how much longer than its block a section is believed to be: a section is at most a segment, but a broken one may announce anything.
const maxRatio = 1 << 12

// decompress makes the entries of a section of the block after its marker.
func decompress(class string, b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, ErrBroken
	}
	length, block := int64(binary.BigEndian.Uint32(b)), b[4:]
	if length > maxSegment || length > maxRatio*int64(len(block)+1) {
		return nil, fmt.Errorf("%w: %d bytes that become %d", ErrBroken, len(block), length)
	}
	entries := make([]byte, length)
	return entries, decompressors[class](entries, block)
}

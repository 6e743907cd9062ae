// Package compress reads what CQL's peers compress: the bodies of protocol versions 3 and 4 (LZ4 and Snappy) and the
// payloads of version 5's segments (LZ4). It imports nothing of Helenus, and the two codecs.
//
// Everything compressed announces its length. The caller holds that against its own limit and brings the room, so
// nothing here allocates, and a small message that would become a huge one costs its sender the connection and nobody
// the memory. What does not become exactly as long as announced is [ErrBroken].
//
// A body that is long, or not all there yet, need not be decompressed to see how it begins: [Algorithm.Prefix].
//
// Thin: nothing is compressed here. What the proxy itself says goes out plain, which every peer must take.
package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/golang/snappy"
	"github.com/pierrec/lz4/v4"
)

// ErrBroken says that something compressed does not become what it announces. The stream can not be trusted any more.
var ErrBroken = errors.New("a compressed body or segment can not be decompressed to the length that it announces")

// Algorithm is how the bodies of versions 3 and 4 are compressed.
type Algorithm byte

// Algorithms.
const (
	None   Algorithm = iota
	LZ4              // four bytes of length (big-endian), and an LZ4 block
	Snappy           // a Snappy block, which begins with its length
)

// Named returns the algorithm that a STARTUP calls name, in any case as Cassandra takes it. Error: there is none.
func Named(name string) (Algorithm, error) {
	switch strings.ToLower(name) {
	case "lz4":
		return LZ4, nil
	case "snappy":
		return Snappy, nil
	}
	return None, fmt.Errorf("no compression is called %q: lz4 and snappy are known", name)
}

// String is the name in STARTUP.
func (a Algorithm) String() string {
	switch a {
	case LZ4:
		return "lz4"
	case Snappy:
		return "snappy"
	}
	return "none"
}

// MaxLengthSize is how many bytes of a body hold its announced length at most.
const MaxLengthSize = 5

// Length returns the length that a body announces, bytes, and how many bytes at its beginning say so. The beginning of
// the body is enough: MaxLengthSize bytes of it, if there are so many. Error: ErrBroken.
func (a Algorithm) Length(body []byte) (length, size int, err error) {
	switch a {
	case LZ4:
		if len(body) >= 4 {
			return int(binary.BigEndian.Uint32(body)), 4, nil
		}
	case Snappy:
		v, n := binary.Uvarint(body[:min(len(body), MaxLengthSize)])
		if n > 0 && v <= 0xFFFFFFFF {
			return int(v), n, nil //nolint:gosec // 32 bits
		}
	}
	return 0, 0, ErrBroken
}

// Decode decompresses a whole body into dst, which is as long as the body announces. Error: ErrBroken.
func (a Algorithm) Decode(dst, body []byte) error {
	length, size, err := a.Length(body)
	switch {
	case err != nil:
		return err
	case length != len(dst):
		return ErrBroken
	case a == LZ4 && length == 0:
		return nil // drivers do not agree on what follows
	case a == LZ4:
		return Block(dst, body[size:])
	}
	if got, err := snappy.Decode(dst, body); err != nil || len(got) != len(dst) {
		return ErrBroken
	}
	return nil
}

// Block decompresses an LZ4 block that becomes exactly as long as dst, which is how a segment's payload is compressed.
// Error: ErrBroken.
func Block(dst, block []byte) error {
	if n, err := lz4.UncompressBlock(block, dst); err != nil || n != len(dst) {
		return ErrBroken
	}
	return nil
}

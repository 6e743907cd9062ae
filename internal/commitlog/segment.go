package commitlog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
)

// The versions of the format: of Cassandra 4.0 and 4.1 (and of 5.0 as long as it stays compatible with 4), and of 5.0.
const (
	version40 = 7
	version50 = 8
)

const (
	markerSize = 8
	entryExtra = 12 // size and two CRCs

	// maxSegment bounds what a segment is believed to hold: Cassandra keeps positions in 31 bits.
	maxSegment = math.MaxInt32
)

// Errors of a segment as a whole.
var (
	ErrEncrypted = errors.New("the segment is encrypted, which is not read")
	ErrVersion   = errors.New("the segment's version is not known")
	ErrBroken    = errors.New("the segment can not be read")
)

// Segment is one file of the commit log.
type Segment struct {
	Version int
	ID      int64
	// Start is where its first marker is.
	Start int64

	file        io.ReaderAt
	size        int64
	compression string // class, "" for none
}

// Open reads the header of a segment that is size bytes long. Its errors wrap ErrEncrypted, ErrVersion or ErrBroken, or are the file's.
func Open(file io.ReaderAt, size int64) (*Segment, error) {
	const fixed = 4 + 8 + 2
	head := make([]byte, fixed)
	if err := readAt(file, head, 0, size); err != nil {
		return nil, err
	}
	s := &Segment{Version: int(binary.BigEndian.Uint32(head)), ID: int64(binary.BigEndian.Uint64(head[4:])), file: file, size: size} //nolint:gosec // as it is
	if s.Version != version40 && s.Version != version50 {
		return nil, fmt.Errorf("%w: %d, where %d (Cassandra 4) and %d (5.0) are", ErrVersion, s.Version, version40, version50)
	}
	parameters := make([]byte, binary.BigEndian.Uint16(head[12:]))
	tail := make([]byte, 4)
	if err := errors.Join(readAt(file, parameters, fixed, size), readAt(file, tail, fixed+int64(len(parameters)), size)); err != nil {
		return nil, err
	}
	id := uint64(s.ID)                                                                         //nolint:gosec // its bits
	sum := checksum(0, uint32(s.Version), uint32(id), uint32(id>>32), uint32(len(parameters))) //nolint:gosec // its bits
	if crc32.Update(sum, crc32.IEEETable, parameters) != binary.BigEndian.Uint32(tail) {
		return nil, fmt.Errorf("%w: the CRC of its header is wrong", ErrBroken)
	}
	var said map[string]json.RawMessage
	if len(parameters) > 0 {
		if err := json.Unmarshal(parameters, &said); err != nil {
			return nil, fmt.Errorf("%w: the parameters in its header: %w", ErrBroken, err)
		}
	}
	if said["encCipher"] != nil {
		return nil, ErrEncrypted
	}
	if class := said["compressionClass"]; class != nil {
		if err := json.Unmarshal(class, &s.compression); err != nil {
			return nil, fmt.Errorf("%w: the compression in its header: %w", ErrBroken, err)
		}
		s.compression = s.compression[strings.LastIndexByte(s.compression, '.')+1:]
		if decompressors[s.compression] == nil {
			return nil, fmt.Errorf("%w: its compression, %s, is not known", ErrBroken, s.compression)
		}
	}
	s.Start = fixed + int64(len(parameters)) + 4
	return s, nil
}

// Durable is up to where the file may be read when its index says that it is durable up to a place: of compressed sections the index tells where they
// would be if they were not. But such a file grows by whole sections as they are synced.
func (s *Segment) Durable(index int64) int64 {
	if s.compression != "" {
		return s.size
	}
	return min(index, s.size)
}

// readAt reads len(b) bytes that are within size.
func readAt(file io.ReaderAt, b []byte, at, size int64) error {
	if at < 0 || at+int64(len(b)) > size {
		return fmt.Errorf("%w: it ends after %d bytes", ErrBroken, size)
	}
	_, err := file.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends before %d bytes", ErrBroken, size)
	}
	return err
}

// checksum goes on with a CRC over numbers, as Cassandra writes them.
func checksum(sum uint32, numbers ...uint32) uint32 {
	for _, n := range numbers {
		sum = crc32.Update(sum, crc32.IEEETable, binary.BigEndian.AppendUint32(nil, n))
	}
	return sum
}

// Damage counts what could not be read.
type Damage struct {
	Entries  int // mutations whose CRC is wrong
	Sections int // sections of which the rest, or all, could not be read
}

// Read hands over every mutation of the sections that begin at or after from, a place that Start or an earlier Read gave, and end at or
// before until. next is where it may go on later. A mutation's bytes are only each's until it returns; an error of each ends the reading, with next at
// the section that it was in. Damage within a section is counted, and the next one is read; where no whole marker is, reading ends without error.
func (s *Segment) Read(from, until int64, each func(mutation []byte) error) (next int64, damage Damage, err error) {
	until = min(until, s.size)
	for next = max(from, s.Start); next+markerSize <= until; {
		end, ok, err := s.marker(next)
		if err != nil || !ok || end > until {
			return next, damage, err
		}
		section := make([]byte, end-next-markerSize)
		if err := readAt(s.file, section, next+markerSize, s.size); err != nil {
			return next, damage, err
		}
		if s.compression != "" {
			if section, err = decompress(s.compression, section); err != nil {
				damage.Sections++
				section = nil
			}
		}
		if err := entries(section, &damage, each); err != nil {
			return next, damage, err
		}
		next = end
	}
	return next, damage, nil
}

// marker reads where the section that begins at a place ends.
func (s *Segment) marker(at int64) (end int64, ok bool, err error) {
	b := make([]byte, markerSize)
	if err := readAt(s.file, b, at, s.size); err != nil {
		return 0, false, err
	}
	id := uint64(s.ID)                                         //nolint:gosec // its bits
	end = int64(int32(binary.BigEndian.Uint32(b)))             //nolint:gosec // as Java has it
	sum := checksum(0, uint32(id), uint32(id>>32), uint32(at)) //nolint:gosec // its bits
	return end, sum == binary.BigEndian.Uint32(b[4:]) && end >= at+markerSize && end <= s.size, nil
}

// entries hands over the mutations of a section.
func entries(section []byte, damage *Damage, each func([]byte) error) error {
	for len(section) >= entryExtra {
		size := binary.BigEndian.Uint32(section)
		if size == 0 {
			return nil
		}
		sum := checksum(0, size)
		if sum != binary.BigEndian.Uint32(section[4:]) || int64(size) > int64(len(section)-entryExtra) {
			damage.Sections++ // where the next begins is not known
			return nil
		}
		mutation := section[8 : 8+size]
		if crc32.Update(sum, crc32.IEEETable, mutation) != binary.BigEndian.Uint32(section[8+size:]) {
			damage.Entries++
		} else if err := each(mutation); err != nil {
			return err
		}
		section = section[entryExtra+size:]
	}
	return nil
}

// ParseIndex reads a segment's _cdc.idx: up to where it is durable, and whether nothing will be added to it.
func ParseIndex(text []byte) (durable int64, completed bool, err error) {
	first, rest, _ := bytes.Cut(text, []byte{'\n'})
	durable, err = strconv.ParseInt(strings.TrimSpace(string(first)), 10, 64)
	if err != nil || durable < 0 || durable > maxSegment {
		return 0, false, fmt.Errorf("an index of the commit log is to begin with an offset: %q", first)
	}
	return durable, strings.TrimSpace(string(rest)) == "COMPLETED", nil
}

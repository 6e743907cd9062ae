package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/helenus-db/helenus/proxy"
)

// ErrPaged says that an answer is not the last page, so it can not be compared.
var ErrPaged = errors.New("the answer has more pages")

const (
	kindRows            = 2
	flagGlobalTable     = 0x0001
	flagMorePages       = 0x0002
	flagNoMetadata      = 0x0004
	flagMetadataChanged = 0x0008

	maxTypeDepth = 32
)

// ParseRows reads the body of a RESULT Rows answer, from its kind on. The cells point into the body. Whatever does not
// fit is an error; a body costs no more memory than a small multiple of its size.
func ParseRows(body []byte) (proxy.Rows, error) {
	_, rows, err := parseRows(body)
	return rows, err
}

// parseRows is ParseRows, which also returns the names of the columns if the answer has them.
func parseRows(body []byte) (names []string, _ proxy.Rows, _ error) {
	d := decoder{rest: body}
	if kind := d.int32(); d.bad || kind != kindRows {
		return nil, nil, fmt.Errorf("not a RESULT Rows answer (kind %d)", kind)
	}
	flags, columns := d.int32(), d.int32()
	if flags&flagMorePages != 0 {
		return nil, nil, ErrPaged
	}
	if flags&flagMetadataChanged != 0 {
		d.skip(int(d.uint16()))
	}
	if flags&flagNoMetadata == 0 {
		if flags&flagGlobalTable != 0 {
			d.string()
			d.string()
		}
		for i := int32(0); i < columns && !d.bad; i++ {
			if flags&flagGlobalTable == 0 {
				d.string()
				d.string()
			}
			names = append(names, d.string())
			d.option(0)
		}
	}
	count := d.int32()
	// Each cell takes four bytes at least; divided, not multiplied, as a product of two such numbers may overflow.
	if d.bad || columns < 0 || count < 0 || (columns == 0 && count > 0) ||
		(columns > 0 && int64(count) > int64(len(d.rest))/4/int64(columns)) {
		return nil, nil, errors.New("a RESULT Rows answer that is cut short or malformed")
	}
	rows := make(proxy.Rows, 0, count)
	for range count {
		row := make([][]byte, columns)
		for i := range row {
			row[i] = d.bytes()
		}
		rows = append(rows, row)
	}
	if d.bad {
		return nil, nil, errors.New("a RESULT Rows answer that is cut short")
	}
	return names, rows, nil
}

// decoder reads the protocol's notations; the first thing that does not fit sets bad, and everything after is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) skip(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	out := d.rest[:n:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) int32() int32 {
	if b := d.skip(4); b != nil {
		return int32(binary.BigEndian.Uint32(b)) // #nosec G115
	}
	return 0
}

func (d *decoder) uint16() uint16 {
	if b := d.skip(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (d *decoder) string() string { return string(d.skip(int(d.uint16()))) }

func (d *decoder) bytes() []byte {
	n := d.int32()
	if n < 0 {
		return nil
	}
	b := d.skip(int(n))
	if b == nil && !d.bad {
		b = []byte{}
	}
	return b
}

// option steps over a type.
func (d *decoder) option(depth int) {
	if depth > maxTypeDepth {
		d.bad = true
		return
	}
	switch d.uint16() {
	case proxy.TypeCustom:
		d.string()
	case proxy.TypeList, proxy.TypeSet:
		d.option(depth + 1)
	case proxy.TypeMap:
		d.option(depth + 1)
		d.option(depth + 1)
	case proxy.TypeUDT:
		d.string()
		d.string()
		for n := d.uint16(); n > 0 && !d.bad; n-- {
			d.string()
			d.option(depth + 1)
		}
	case proxy.TypeTuple:
		for n := d.uint16(); n > 0 && !d.bad; n-- {
			d.option(depth + 1)
		}
	}
}

// Equal tells whether two answers have the same cells in the same order.
func Equal(a, b proxy.Rows) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if (a[i][j] == nil) != (b[i][j] == nil) || !bytes.Equal(a[i][j], b[i][j]) {
				return false
			}
		}
	}
	return true
}

// Digest is a short hash of an answer, to name it without telling what is in it.
func Digest(rows proxy.Rows) []byte {
	h := sha256.New()
	for _, row := range rows {
		for _, c := range row {
			n := int64(len(c))
			if c == nil {
				n = -1
			}
			_, _ = h.Write(FromInt64(n))
			_, _ = h.Write(c)
		}
	}
	return h.Sum(nil)[:8]
}

package value

import (
	"encoding/binary"

	"github.com/helenus-db/helenus/proxy"
)

// reader steps through protocol fields; after the first that does not fit it is failed and yields zeroes.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.b) {
		r.failed = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) skip(n int) *reader {
	r.take(n)
	return r
}

func (r *reader) int() int {
	if b := r.take(4); b != nil {
		return int(int32(binary.BigEndian.Uint32(b)))
	}
	return 0
}

func (r *reader) short() int {
	if b := r.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) string() []byte { return r.take(r.short()) }

func (r *reader) bytes() []byte {
	n := r.int()
	if n <= 0 {
		return nil
	}
	return r.take(n)
}

// option steps over a type and returns its code.
func (r *reader) option(depth int) uint16 {
	if depth > 32 {
		r.failed = true
	}
	code := uint16(r.short()) // #nosec G115 -- two bytes
	n := 0
	switch code {
	case proxy.TypeCustom:
		r.string()
	case proxy.TypeList, proxy.TypeSet:
		n = 1
	case proxy.TypeMap:
		n = 2
	case proxy.TypeUDT: // keyspace, name, fields
		r.string()
		r.string()
		for i, fields := 0, r.short(); i < fields && !r.failed; i++ {
			r.string()
			r.option(depth + 1)
		}
	case proxy.TypeTuple:
		n = r.short()
	}
	for i := 0; i < n && !r.failed; i++ {
		r.option(depth + 1)
	}
	return code
}

// metadata steps over the columns' names and types, and tells whether they are those expected.
func (r *reader) metadata(global bool, columns []proxy.Column) bool {
	if global {
		r.string()
		r.string()
	}
	same := true
	for i := 0; i < len(columns) && !r.failed; i++ {
		if !global {
			r.string()
			r.string()
		}
		name := r.string()
		code := r.option(0)
		same = same && string(name) == columns[i].Name && code == columns[i].Type.Code
	}
	return same
}

// maxColumns is how many columns of an answer are read from its metadata.
const maxColumns = 1_000

// Columns reads the metadata that a RESULT Rows body, taken from behind its kind, brings itself; nil if it brings none, or none
// that can be read.
func Columns(body []byte) []proxy.Column {
	r := reader{b: body}
	flags, n := r.int(), r.int()
	if flags&0x4 != 0 || n <= 0 || n > maxColumns {
		return nil
	}
	if flags&0x2 != 0 {
		r.bytes()
	}
	if flags&0x8 != 0 {
		r.string()
	}
	columns := r.columns(n, flags&0x1 != 0)
	if r.failed {
		return nil
	}
	return columns
}

func (r *reader) columns(n int, global bool) (out []proxy.Column) {
	var all proxy.Column
	if global {
		all.Keyspace, all.Table = string(r.string()), string(r.string())
	}
	for i := 0; i < n && !r.failed; i++ {
		c := all
		if !global {
			c.Keyspace, c.Table = string(r.string()), string(r.string())
		}
		c.Name = string(r.string())
		inner := *r
		c.Type.Code = r.option(0)
		if c.Type.Code == proxy.TypeList || c.Type.Code == proxy.TypeSet {
			inner.short()
			c.Type.Elements = []proxy.Type{{Code: inner.option(0)}}
		}
		out = append(out, c)
	}
	return out
}

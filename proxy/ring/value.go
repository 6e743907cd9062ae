package ring

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/proxy/wire"
)

// UUID is a host id or a schema version.
type UUID [16]byte

// Cell is a column's value: a netip.Addr (inet), an int32 (int), an int64 (bigint), a UUID, a string (text) or a
// []string (set<text>).
type Cell struct {
	Column string
	Value  any
}

// Row is some columns of a row, or all of them; a column that it does not have is left as it is, or null.
type Row []Cell

func (r Row) find(column string) (any, bool) {
	for _, c := range r {
		if c.Column == column {
			return c.Value, true
		}
	}
	return nil, false
}

// encode is a value as a cell; nil for null.
func encode(v any) []byte {
	switch v := v.(type) {
	case netip.Addr:
		return v.Unmap().AsSlice()
	case int32:
		return wire.AppendInt(nil, v)
	case int64:
		return wire.AppendLong(nil, v)
	case UUID:
		return v[:]
	case string:
		return append([]byte{}, v...)
	case []string:
		b := wire.AppendInt(nil, int32(len(v)))
		for _, s := range v {
			b = wire.AppendBytes(b, []byte(s))
		}
		return b
	}
	return nil
}

// asText is a value as CAST(... AS text) prints it.
func asText(v any) string {
	switch v := v.(type) {
	case netip.Addr:
		return v.Unmap().String()
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case UUID:
		h := hex.EncodeToString(v[:])
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	case string:
		return v
	case []string:
		return "{" + strings.Join(v, ", ") + "}"
	}
	return ""
}

// asJSON is a value as toJson prints it.
func asJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case int32, int64:
		return asText(v)
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = quote(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return quote(asText(v))
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string can be marshalled
	return string(b)
}

// same tells whether a value of the statement is v.
func (o operand) same(v any, bound []Bound) bool {
	if o.marker {
		var raw []byte
		found := false
		for i, b := range bound {
			if (b.Name != "" && b.Name == o.text) || (b.Name == "" && i == o.index) {
				raw, found = b.Value, true
			}
		}
		return found && raw != nil && string(raw) == string(encode(v))
	}
	if a, ok := v.(netip.Addr); ok {
		b, err := netip.ParseAddr(o.text)
		return err == nil && a.Unmap() == b.Unmap()
	}
	return v != nil && strings.EqualFold(asText(v), o.text)
}

// Bound is a value that came with a request; Name is "" if it is positional.
type Bound struct {
	Name  string
	Value []byte
}

func number(cell []byte) (int, bool) {
	if len(cell) != 4 {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(cell)), true
}

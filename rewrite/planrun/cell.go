package planrun

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// Cells are values in CQL's binary form, as Cassandra sends and takes them; a nil cell is null, one of no bytes is empty.
// They stay as they are from the server to the answer, and are looked into only where a client has to compare, sort or add.

// kind is how the cells of a CQL type are to be read.
type kind int

const (
	unknown kind = iota
	whole        // tinyint, smallint, int, bigint, counter: signed, of 1 to 8 bytes
	floating
	text
	boolean
	timestamp
	date
	timeOfDay
	uuid
	timeuuid
	blob
	inet
	decimal
	varint
)

// kinds are all types that are understood, with the number of bytes of their cells, 0 for any.
var kinds = map[string]struct {
	kind  kind
	width int
}{
	"tinyint": {whole, 1}, "smallint": {whole, 2}, "int": {whole, 4}, "bigint": {whole, 8}, "counter": {whole, 8},
	"float": {floating, 4}, "double": {floating, 8}, "text": {text, 0}, "varchar": {text, 0}, "ascii": {text, 0},
	"boolean": {boolean, 1}, "timestamp": {timestamp, 8}, "date": {date, 4}, "time": {timeOfDay, 8}, "uuid": {uuid, 16},
	"timeuuid": {timeuuid, 16}, "blob": {blob, 0}, "inet": {inet, 0}, "decimal": {decimal, 0}, "varint": {varint, 0},
}

func kindOf(cqlType string) (kind, int) {
	k := kinds[strings.ToLower(cqlType)]
	return k.kind, k.width
}

// TypeError says that a value is not one of a CQL type.
type TypeError struct {
	Type  string
	Value any // as given: a Go value, a literal or a cell
}

func (e *TypeError) Error() string {
	if b, ok := e.Value.([]byte); ok {
		return fmt.Sprintf("%d bytes are no value of the CQL type %s", len(b), e.Type)
	}
	return fmt.Sprintf("%v (%T) is no value of the CQL type %s", e.Value, e.Value, e.Type)
}

// dateZero is the day 1970-01-01 as a date.
const dateZero = 1 << 31

// Decode returns a cell as a Go value: int64 (also of tinyint and smallint), float64, string, bool, time.Time in UTC (of
// timestamp and date), time.Duration since midnight (of time), gocql.UUID, []byte, net.IP, *inf.Dec or *big.Int. Null is
// nil, and so is the empty cell of a type that has no empty values. It is a *TypeError if the cell does not fit the type, or
// the type is none of these.
func Decode(cqlType string, cell []byte) (any, error) {
	k, width := kindOf(cqlType)
	if cell == nil || len(cell) == 0 && k != text && k != blob && k != unknown {
		return nil, nil
	}
	if k == unknown || width > 0 && len(cell) != width || k == text && !utf8.Valid(cell) {
		return nil, &TypeError{cqlType, cell}
	}
	switch k {
	case whole:
		return signed(cell), nil
	case floating:
		return float(cell), nil
	case text:
		return string(cell), nil
	case boolean:
		return cell[0] != 0, nil
	case timestamp:
		return time.UnixMilli(signed(cell)).UTC(), nil
	case date:
		return time.Unix((int64(binary.BigEndian.Uint32(cell))-dateZero)*86400, 0).UTC(), nil
	case timeOfDay:
		return time.Duration(signed(cell)), nil
	case uuid, timeuuid:
		return gocql.UUID(cell), nil
	case blob:
		return bytes.Clone(cell), nil
	case inet:
		if len(cell) != net.IPv4len && len(cell) != net.IPv6len {
			return nil, &TypeError{cqlType, cell}
		}
		return net.IP(bytes.Clone(cell)), nil
	case decimal:
		if len(cell) < 5 {
			return nil, &TypeError{cqlType, cell}
		}
		return inf.NewDecBig(bigInt(cell[4:]), inf.Scale(int32(binary.BigEndian.Uint32(cell)))), nil // #nosec G115 -- signed
	default: // varint
		return bigInt(cell), nil
	}
}

// Encode makes a cell of a Go value of those that Decode returns; nil is null. Other sizes of whole and floating numbers
// are taken too, a whole number for a floating one, and for every type a string that is a literal of it (2026-11-22 for
// a date). It is a *TypeError if the value is not of the type or does not fit.
func Encode(cqlType string, value any) ([]byte, error) {
	k, width := kindOf(cqlType)
	if value == nil {
		return nil, nil
	}
	wrong := &TypeError{cqlType, value}
	switch v := value.(type) {
	case string:
		if k == text {
			if !utf8.ValidString(v) || strings.EqualFold(cqlType, "ascii") && !isASCII(v) {
				return nil, wrong
			}
			return append([]byte{}, v...), nil
		}
		parsed, ok := parse(k, v)
		if !ok {
			return nil, wrong
		}
		cell, err := Encode(cqlType, parsed)
		if err != nil {
			return nil, wrong
		}
		return cell, nil
	case bool:
		if k == boolean {
			return []byte{map[bool]byte{true: 1}[v]}, nil
		}
	case time.Time:
		switch k {
		case timestamp:
			return exec.FromInt64(v.UnixMilli()), nil
		case date:
			days := math.Floor(float64(v.Unix())/86400) + dateZero
			if days >= 0 && days <= math.MaxUint32 {
				return binary.BigEndian.AppendUint32(nil, uint32(days)), nil
			}
		}
	case time.Duration:
		if k == timeOfDay && v >= 0 && v < 24*time.Hour {
			return exec.FromInt64(int64(v)), nil
		}
	case gocql.UUID:
		if k == uuid || k == timeuuid && v.Version() == 1 {
			return v.Bytes(), nil
		}
	case []byte:
		if k == blob {
			return append([]byte{}, v...), nil
		}
	case net.IP:
		if k == inet {
			if four := v.To4(); four != nil {
				return bytes.Clone(four), nil
			}
			if len(v) == net.IPv6len {
				return bytes.Clone(v), nil
			}
		}
	case *inf.Dec:
		if v == nil {
			return nil, nil
		}
		if k == decimal {
			return append(exec.FromInt32(int32(v.Scale())), bigBytes(v.UnscaledBig())...), nil
		}
	case *big.Int:
		switch {
		case v == nil:
			return nil, nil
		case k == varint:
			return bigBytes(v), nil
		case v.IsInt64():
			return encodeWhole(k, width, v.Int64(), wrong)
		}
	case float64:
		return encodeFloat(k, width, v, wrong)
	case float32:
		return encodeFloat(k, width, float64(v), wrong)
	case int64:
		return encodeWhole(k, width, v, wrong)
	case int:
		return encodeWhole(k, width, int64(v), wrong)
	case int32:
		return encodeWhole(k, width, int64(v), wrong)
	}
	return nil, wrong
}

func encodeWhole(k kind, width int, n int64, wrong error) ([]byte, error) {
	switch k {
	case whole:
		if shift := 64 - 8*width; n<<shift>>shift != n {
			return nil, wrong
		}
		return exec.FromInt64(n)[8-width:], nil
	case varint:
		return bigBytes(big.NewInt(n)), nil
	case decimal:
		return append(exec.FromInt32(0), bigBytes(big.NewInt(n))...), nil
	case floating:
		return encodeFloat(k, width, float64(n), wrong)
	}
	return nil, wrong
}

func encodeFloat(k kind, width int, f float64, wrong error) ([]byte, error) {
	switch {
	case k != floating:
		return nil, wrong
	case width == 4:
		return binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(f))), nil
	}
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(f)), nil
}

// parse reads a literal without its quotes.
func parse(k kind, text string) (any, bool) {
	var (
		v   any
		err = errors.New("not a literal of the type")
	)
	switch k {
	case whole:
		v, err = strconv.ParseInt(text, 10, 64)
	case floating:
		v, err = strconv.ParseFloat(text, 64)
	case boolean:
		if v, err = strings.EqualFold(text, "true") || text == "1", nil; !v.(bool) && !strings.EqualFold(text, "false") && text != "0" { // NoSE's workloads write numbers
			return nil, false
		}
	case timestamp:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999Z07:00", "2006-01-02 15:04:05.999", "2006-01-02T15:04:05.999", "2006-01-02"} {
			if v, err = time.Parse(layout, text); err == nil {
				break
			}
		}
		if err != nil {
			var ms int64
			ms, err = strconv.ParseInt(text, 10, 64)
			v = time.UnixMilli(ms)
		}
	case date:
		v, err = time.Parse("2006-01-02", text)
	case timeOfDay:
		var at time.Time
		if at, err = time.Parse("15:04:05.999999999", text); err == nil {
			v = at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
		}
	case uuid, timeuuid:
		v, err = gocql.ParseUUID(text)
	case blob:
		v, err = hex.DecodeString(strings.TrimPrefix(text, "0x"))
	case inet:
		ip := net.ParseIP(text)
		return ip, ip != nil
	case decimal:
		return new(inf.Dec).SetString(text)
	case varint:
		return new(big.Int).SetString(text, 10)
	}
	return v, err == nil
}

// Compare orders two cells of a type as Cassandra orders them in a clustering key; null comes first, then what is empty.
// Cells of a type that is not understood, or that do not fit theirs, are ordered by their bytes.
func Compare(cqlType string, a, b []byte) int {
	k, width := kindOf(cqlType)
	return compare(k, width, a, b)
}

func compare(k kind, width int, a, b []byte) int {
	if a == nil || b == nil || len(a) == 0 || len(b) == 0 {
		if c := compareBool(a != nil, b != nil); c != 0 {
			return c
		}
		return cmp.Compare(min(len(a), 1), min(len(b), 1))
	}
	if width > 0 && (len(a) != width || len(b) != width) {
		return bytes.Compare(a, b)
	}
	switch k {
	case whole, timestamp, timeOfDay:
		return cmp.Compare(signed(a), signed(b))
	case floating:
		return compareFloat(float(a), float(b))
	case boolean:
		return compareBool(a[0] != 0, b[0] != 0)
	case uuid:
		return compareUUID(a, b)
	case timeuuid:
		if c := cmp.Compare(timeOf(a), timeOf(b)); c != 0 {
			return c
		}
		return cmp.Compare(eachSigned(a[8:]), eachSigned(b[8:]))
	case varint:
		return bigInt(a).Cmp(bigInt(b))
	case decimal:
		if len(a) > 4 && len(b) > 4 {
			return compareDecimals(decimalOf(a), decimalOf(b))
		}
	}
	return bytes.Compare(a, b)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareFloat is Java's order: -0 before 0, and NaN last.
func compareFloat(a, b float64) int {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return compareBool(math.IsNaN(a), math.IsNaN(b))
	case a == 0 && b == 0:
		return compareBool(math.Signbit(b), math.Signbit(a))
	}
	return cmp.Compare(a, b)
}

// compareUUID orders by version, those of version 1 then by their time, and all by their bytes.
func compareUUID(a, b []byte) int {
	if c := cmp.Compare(a[6]>>4, b[6]>>4); c != 0 {
		return c
	}
	if a[6]>>4 == 1 {
		if c := cmp.Compare(timeOf(a), timeOf(b)); c != 0 {
			return c
		}
	}
	return bytes.Compare(a, b)
}

// timeOf is the time of a UUID of version 1, and the version, as a number.
func timeOf(u []byte) uint64 {
	n := binary.BigEndian.Uint64(u)
	return n<<48 | n<<16&0xffff00000000 | n>>32
}

// eachSigned makes a number of eight bytes that compares as they do if each is signed.
func eachSigned(b []byte) uint64 { return binary.BigEndian.Uint64(b) ^ 0x8080808080808080 }

// signed reads a signed number of 1, 2, 4 or 8 bytes.
func signed(cell []byte) int64 {
	n := int64(int8(cell[0])) // #nosec G115 -- the sign extension is the point
	for _, b := range cell[1:] {
		n = n<<8 | int64(b)
	}
	return n
}

// float reads a number of 4 or 8 bytes.
func float(cell []byte) float64 {
	if len(cell) == 4 {
		return float64(math.Float32frombits(binary.BigEndian.Uint32(cell)))
	}
	return math.Float64frombits(binary.BigEndian.Uint64(cell))
}

// decimalOf reads a decimal of more than four bytes.
func decimalOf(cell []byte) *inf.Dec {
	return inf.NewDecBig(bigInt(cell[4:]), inf.Scale(int32(binary.BigEndian.Uint32(cell)))) // #nosec G115 -- signed
}

// compareDecimals compares without bringing both to one scale where that is not needed: scales may be anything, and a
// number of two thousand million digits can not be written out.
func compareDecimals(a, b *inf.Dec) int {
	sign := a.Sign()
	if c := cmp.Compare(sign, b.Sign()); c != 0 || sign == 0 {
		return c
	}
	x, before := digits(a)
	y, point := digits(b)
	c := cmp.Compare(before, point)
	if c == 0 {
		c = strings.Compare(x, y) // neither ends in a zero
	}
	return c * sign
}

// digits are those of a decimal without zeros at the end, and where the point is: so many of them come before it, were there
// zeros enough. Equal decimals have equal ones.
func digits(d *inf.Dec) (string, int64) {
	text := strings.TrimPrefix(d.UnscaledBig().String(), "-")
	return strings.TrimRight(text, "0"), int64(len(text)) - int64(d.Scale())
}

// bigInt reads a number in two's complement.
func bigInt(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b)))) // #nosec G115 -- a length
	}
	return n
}

// bigBytes writes a number in two's complement, in as few bytes as it takes.
func bigBytes(n *big.Int) []byte {
	switch n.Sign() {
	case 0:
		return []byte{0}
	case 1:
		if b := n.Bytes(); b[0] < 0x80 {
			return b
		}
		return append([]byte{0}, n.Bytes()...)
	}
	// -n-1 has the bits of n inverted.
	b := new(big.Int).Not(n).Bytes()
	if len(b) == 0 || b[0] >= 0x80 {
		b = append([]byte{0}, b...)
	}
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

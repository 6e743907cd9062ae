package reference

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// kind is how values of a CQL type are stored.
type kind struct {
	sql                          string // SQLite's type
	put                          func(any) (any, bool)
	take                         func(any) any
	number, whole, decimal, text bool
}

// ValueError tells of a value that is none of its column's type.
type ValueError struct {
	What  string // field or parameter
	Type  string
	Value any
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s is %s: %v (%T) is no such value", e.What, e.Type, e.Value, e.Value)
}

var (
	integer = kind{"INTEGER", putInteger, func(v any) any { return v }, true, true, false, false}
	real    = kind{"REAL", putReal, takeReal, true, false, false, false}
	letters = kind{"TEXT", putText, func(v any) any { return v }, false, false, false, true}
)

// scale is how many digits of decimals are kept.
const scale = 4

// kinds are those of all types that are understood.
var kinds = map[string]kind{
	"tinyint": integer, "smallint": integer, "int": integer, "bigint": integer, "counter": integer,
	"float": real, "double": real, "text": letters, "varchar": letters, "ascii": letters,
	"boolean":   {"INTEGER", putBoolean, func(v any) any { return v.(int64) != 0 }, false, false, false, false},
	"timestamp": {"INTEGER", putTimestamp, func(v any) any { return time.UnixMilli(v.(int64)).UTC() }, false, false, false, false},
	"date":      {"INTEGER", putDate, func(v any) any { return time.Unix(v.(int64)*86400, 0).UTC() }, false, false, false, false},
	"time":      {"INTEGER", putDuration, func(v any) any { return time.Duration(v.(int64)) }, false, false, false, false},
	"uuid":      {"BLOB", putUUID, takeUUID, false, false, false, false},
	"timeuuid":  {"BLOB", putTimeUUID, takeTimeUUID, false, false, false, false},
	"blob":      {"BLOB", putBlob, func(v any) any { return v }, false, false, false, false},
	"inet":      {"BLOB", putInet, func(v any) any { return net.IP(v.([]byte)) }, false, false, false, false},
	"decimal":   {"INTEGER", putDecimal, func(v any) any { return inf.NewDec(v.(int64), scale) }, true, false, true, false},
	"varint":    {"INTEGER", putVarint, func(v any) any { return big.NewInt(v.(int64)) }, true, true, false, false},
}

func kindOf(cqlType string) (kind, bool) {
	k, ok := kinds[strings.ToLower(strings.TrimSpace(cqlType))]
	return k, ok
}

// put makes what is stored of a value; null stays null.
func put(what, cqlType string, v any) (any, error) {
	k, ok := kindOf(cqlType)
	if v == nil {
		return nil, nil
	}
	if ok {
		if stored, ok := k.put(v); ok {
			return stored, nil
		}
	}
	return nil, &ValueError{what, cqlType, v}
}

// take makes a value of what is stored.
func take(cqlType string, stored any) any {
	if stored == nil {
		return nil
	}
	k, _ := kindOf(cqlType)
	return k.take(stored)
}

func putInteger(v any) (any, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case int:
		return int64(x), true
	case int32:
		return int64(x), true
	case int16:
		return int64(x), true
	case int8:
		return int64(x), true
	}
	return nil, false
}

func putReal(v any) (any, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case float32:
		return float64(x), true
	}
	if n, ok := putInteger(v); ok {
		return float64(n.(int64)), true
	}
	return nil, false
}

// takeReal takes a whole number too, of which SQLite may make one.
func takeReal(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}

func putText(v any) (any, bool) {
	s, ok := v.(string)
	return s, ok
}

func putBoolean(v any) (any, bool) {
	b, ok := v.(bool)
	return map[bool]int64{true: 1}[b], ok
}

func putTimestamp(v any) (any, bool) {
	at, ok := v.(time.Time)
	return at.UnixMilli(), ok
}

func putDate(v any) (any, bool) {
	at, ok := v.(time.Time)
	seconds := at.Unix()
	return (seconds - (seconds%86400+86400)%86400) / 86400, ok
}

func putDuration(v any) (any, bool) {
	d, ok := v.(time.Duration)
	return int64(d), ok
}

func putBlob(v any) (any, bool) {
	b, ok := v.([]byte)
	return b, ok
}

func putInet(v any) (any, bool) {
	ip, ok := v.(net.IP)
	if four := ip.To4(); four != nil {
		ip = four
	}
	return []byte(ip), ok
}

func putDecimal(v any) (any, bool) {
	d, ok := v.(*inf.Dec)
	if !ok {
		return nil, false
	}
	x := new(inf.Dec).Round(d, scale, inf.RoundExact)
	if x == nil || !x.UnscaledBig().IsInt64() {
		return nil, false
	}
	return x.UnscaledBig().Int64(), true
}

func putVarint(v any) (any, bool) {
	n, ok := v.(*big.Int)
	if !ok || !n.IsInt64() {
		return nil, false
	}
	return n.Int64(), true
}

func bytesOf(v any) (id [16]byte, ok bool) {
	switch x := v.(type) {
	case gocql.UUID:
		return x, true
	case [16]byte:
		return x, true
	case string:
		u, err := gocql.ParseUUID(x)
		return u, err == nil
	}
	return id, false
}

// putUUID puts version and, of version 1, the time in front: that is Cassandra's order.
func putUUID(v any) (any, bool) {
	id, ok := bytesOf(v)
	b := []byte{id[6] >> 4}
	if b[0] == 1 {
		b = append(b, inTime(id)...)
	}
	return append(b, id[:]...), ok
}

func takeUUID(v any) any {
	b := v.([]byte)
	return gocql.UUID(b[len(b)-16:])
}

// putTimeUUID puts time and the other half in front, of which Cassandra compares each byte as a signed one.
func putTimeUUID(v any) (any, bool) {
	id, ok := bytesOf(v)
	b := inTime(id)
	for _, x := range id[8:] {
		b = append(b, x^0x80)
	}
	return append(b, id[:]...), ok
}

func takeTimeUUID(v any) any { return gocql.UUID(v.([]byte)[16:]) }

// inTime are the bytes of a UUID's time, the highest first.
func inTime(id [16]byte) []byte {
	return append(append(append(make([]byte, 0, 33), id[6:8]...), id[4:6]...), id[:4]...)
}

// text is a stored value as a text that only equal ones have.
func text(stored any) string {
	switch x := stored.(type) {
	case nil:
		return "null"
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case []byte:
		return "x" + string(binary.AppendUvarint(nil, uint64(len(x)))) + string(x)
	}
	return fmt.Sprintf("%q", stored)
}

// compare orders stored values of one type, null first.
func compare(a, b any) int {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y)
		case float64:
			return cmp.Compare(float64(x), y)
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, float64(y))
		case float64:
			return cmp.Compare(x, y)
		}
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y)
		}
	case []byte:
		if y, ok := b.([]byte); ok {
			return bytes.Compare(x, y)
		}
	}
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	}
	return 1
}

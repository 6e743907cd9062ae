package rehearse

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Values are cells, as Cassandra has them; nil is null.

// sample is one of a type's values, by number, from 0 on; different numbers have different ones, but of a boolean. Greater numbers are not always greater values.
func sample(cqlType string, n int) []byte {
	order := n/5*5 + []int{3, 1, 4, 0, 2}[n%5]
	one := func(v any) []byte {
		cell, err := planrun.Encode(cqlType, v)
		if err != nil {
			return []byte(fmt.Sprintf("%02d", order)) // of a type that nobody looks into
		}
		return cell
	}
	switch kind := strings.ToLower(cqlType); kind {
	case "tinyint", "smallint", "int", "bigint", "counter":
		return one(int64(order - 2))
	case "float", "double":
		return one(float64(order)/2 - 0.5)
	case "decimal", "varint": // of as many bytes each, so that their bytes are ordered as they are
		return one(strconv.Itoa(1000 + order))
	case "boolean":
		return one(n%2 == 1)
	case "timestamp":
		return binary.BigEndian.AppendUint64(nil, uint64(1_700_000_000_000+int64(order)*86_400_000*3)) //nolint:gosec // positive
	case "date":
		return binary.BigEndian.AppendUint32(nil, uint32(1<<31+19_700+order)) //nolint:gosec // positive
	case "time":
		return binary.BigEndian.AppendUint64(nil, uint64(order)*60_000_000_000) //nolint:gosec // positive
	case "uuid", "timeuuid":
		version := map[string]byte{"uuid": 0x41, "timeuuid": 0x11}[kind]
		return []byte{0, 0, 0, byte(order), 4, 5, version, 7, 0x82, 9, 10, 11, 12, 13, 14, 15} //nolint:gosec // few
	case "inet":
		return []byte{10, 0, 0, byte(order)} //nolint:gosec // few
	case "text", "varchar", "ascii":
		return []byte{'a' + byte(order%3), 'a' + byte(order/3%3), 'a' + byte(order/9)} //nolint:gosec // few
	}
	switch memory.Collection(strings.ToLower(cqlType)) {
	case "map":
		return collected([]byte(strconv.Itoa(order)), []byte(strconv.Itoa(n)))
	case "set", "list":
		return planrun.ElementOf([]byte(strconv.Itoa(order)))
	}
	return one(nil)
}

// collected is a map of one entry.
func collected(key, value []byte) []byte { return joined(1, []string{string(key), string(value)}) }

// joined is a collection of so many elements, or entries of a map.
func joined(count int, parts []string) []byte {
	cell := exec.FromInt32(int32(count)) //nolint:gosec // few
	for _, p := range parts {
		cell = append(binary.BigEndian.AppendUint32(cell, uint32(len(p))), p...) //nolint:gosec // short
	}
	return cell
}

// literal is the cell of a literal of the language; nil if it is none of the type.
func literal(cqlType, text string) []byte {
	if inner, ok := strings.CutPrefix(text, "'"); ok {
		text = strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'")
	}
	if strings.EqualFold(text, "null") {
		return nil
	}
	cell, err := planrun.Encode(cqlType, text)
	if err != nil {
		return nil
	}
	return cell
}

// shown writes a cell, so that different ones look different.
func shown(cqlType string, cell []byte) string {
	if cell == nil {
		return "null"
	}
	v, err := planrun.Decode(cqlType, cell)
	switch x := v.(type) {
	case string:
		return "'" + x + "'"
	case float64:
		return strconv.FormatFloat(x, 'g', 9, 64)
	case fmt.Stringer:
		return x.String()
	case []byte:
		return fmt.Sprintf("0x%x", x)
	}
	if err != nil || v == nil {
		return fmt.Sprintf("0x%x", cell)
	}
	return fmt.Sprint(v)
}

// number is what a cell counts for.
func number(cqlType string, cell []byte) float64 {
	v, err := planrun.Decode(cqlType, cell)
	if err != nil {
		return 0
	}
	switch x := v.(type) {
	case int64:
		return float64(x)
	case float64:
		return x
	case *inf.Dec:
		f, _ := strconv.ParseFloat(x.String(), 64) // it is a number
		return f
	case fmt.Stringer:
		f, _ := strconv.ParseFloat(x.String(), 64) // a big.Int; else nothing is added
		return f
	}
	return 0
}

// sum adds two numbers of a type.
func sum(cqlType string, a, b []byte) []byte {
	total := number(cqlType, a) + number(cqlType, b)
	if kind := strings.ToLower(cqlType); kind == "float" || kind == "double" {
		cell, _ := planrun.Encode(cqlType, total) // a number is one
		return cell
	}
	return literal(cqlType, strconv.FormatFloat(total, 'f', -1, 64))
}

// signedTypes are those whose cells have a sign bit in front.
var signedTypes = map[string]bool{"tinyint": true, "smallint": true, "int": true, "bigint": true, "counter": true, "timestamp": true, "time": true}

// ordered is a cell as a text that is ordered as its type is.
func ordered(cqlType string, cell []byte) string {
	out := []byte(string(cell))
	switch kind := strings.ToLower(cqlType); {
	case len(out) == 0:
	case signedTypes[kind]:
		out[0] ^= 0x80
	case kind == "float" || kind == "double":
		if out[0]&0x80 != 0 {
			for i := range out {
				out[i] = ^out[i]
			}
		} else {
			out[0] ^= 0x80
		}
	}
	return string(out)
}

// unordered is the cell of such a text.
func unordered(cqlType, text string) []byte {
	out := []byte(text)
	switch kind := strings.ToLower(cqlType); {
	case len(out) == 0:
	case signedTypes[kind]:
		out[0] ^= 0x80
	case kind == "float" || kind == "double":
		if out[0]&0x80 == 0 {
			for i := range out {
				out[i] = ^out[i]
			}
		} else {
			out[0] ^= 0x80
		}
	}
	return out
}

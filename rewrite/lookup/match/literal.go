package match

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/helenus-db/helenus/capture/cql"
)

// state says what is known of a value of a statement.
type state uint8

// The states. A value is refused only where Cassandra is certain to refuse the statement for it.
const (
	known state = iota
	null
	unset
	unknown // Cassandra computes it, or its form is not one of those that are read here
	refused
)

// integerSize is the width of the integer types that a literal may be of, in bytes.
var integerSize = map[string]int{"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}

// takes are the types that each kind of constant may stand for; of other types Cassandra refuses it when it prepares the
// statement. Only native types are looked up.
var takes = map[cql.LiteralKind]string{
	cql.LiteralString:   " ascii text varchar inet date time timestamp ",
	cql.LiteralInteger:  " tinyint smallint int bigint counter varint decimal float double date time timestamp duration ",
	cql.LiteralFloat:    " decimal float double ",
	cql.LiteralBoolean:  " boolean ",
	cql.LiteralDuration: " duration ",
	cql.LiteralUUID:     " uuid timeuuid ",
	cql.LiteralBlob:     " blob ",
}

// native are the types whose names say all about them.
const native = " ascii text varchar inet date time timestamp tinyint smallint int bigint counter varint decimal float double duration boolean uuid timeuuid blob "

func among(list, name string) bool { return strings.Contains(list, " "+name+" ") }

// literal is the value that a term which stands in a text has as a cqlType, in the form of the protocol.
func literal(t cql.Term, cqlType string) ([]byte, state) {
	switch t := t.(type) {
	case *cql.Literal:
		return constant(t, cqlType)
	case *cql.List, *cql.Set, *cql.Map, *cql.UDT:
		if among(native, cqlType) {
			return nil, refused
		}
	}
	switch t := t.(type) {
	case *cql.List:
		if of, ok := elementsOf(cqlType, "list"); ok {
			return elements(t.Elements, of[0])
		}
	case *cql.Set:
		if of, ok := elementsOf(cqlType, "set"); ok {
			return set(t.Elements, of[0])
		}
	}
	return nil, unknown
}

func constant(l *cql.Literal, cqlType string) ([]byte, state) {
	if l.Kind == cql.LiteralNull {
		return nil, null
	}
	if !among(native, cqlType) || l.Kind == cql.LiteralBlob && cqlType == "tinyint" { // which Cassandra takes, as it means a byte by it
		return nil, unknown
	}
	if !among(takes[l.Kind], cqlType) {
		return nil, refused
	}
	b, s := written(l.Text, cqlType)
	if s == known {
		s = valid(b, cqlType)
	}
	return b, s
}

// written is a value of a native type that was written as text, in a statement or in JSON. What is not of a form that
// every version reads alike is unknown: a timestamp without a zone is of the zone in which the server runs.
func written(text, cqlType string) ([]byte, state) {
	if !utf8.ValidString(text) {
		return nil, unknown
	}
	switch cqlType {
	case "ascii", "text", "varchar":
		return []byte(text), known
	case "tinyint", "smallint", "int", "bigint":
		return integerOf(text, integerSize[cqlType])
	case "varint":
		if n, ok := bigInteger(text); ok {
			return twosComplement(n), known
		}
	case "decimal":
		return decimalOf(text)
	case "float":
		if f, ok := floating(text, 32); ok {
			bits := math.Float32bits(float32(f))
			if math.IsNaN(f) {
				bits = 0x7FC00000
			}
			return binary.BigEndian.AppendUint32(nil, bits), known
		}
	case "double":
		if f, ok := floating(text, 64); ok {
			bits := math.Float64bits(f)
			if math.IsNaN(f) {
				bits = 0x7FF8000000000000
			}
			return binary.BigEndian.AppendUint64(nil, bits), known
		}
	case "boolean":
		switch strings.ToLower(text) {
		case "true":
			return []byte{1}, known
		case "false":
			return []byte{0}, known
		}
	case "uuid", "timeuuid":
		return uuidOf(text, cqlType)
	case "blob":
		if b, err := hex.DecodeString(strings.TrimPrefix(text, "0x")); err == nil && strings.HasPrefix(text, "0x") {
			return b, known
		}
	case "inet":
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			return a.Unmap().AsSlice(), known
		}
	case "timestamp":
		return timestampOf(text)
	case "date":
		if d, err := time.Parse(time.DateOnly, text); err == nil {
			days := d.Unix() / 86400                                             // exact before 1970, too
			return binary.BigEndian.AppendUint32(nil, uint32(days+1<<31)), known // #nosec G115 -- of four digits of a year
		}
	case "time":
		return timeOf(text)
	}
	return nil, unknown
}

// digits are what Cassandra's grammar takes for an integer.
var digits = regexp.MustCompile(`^-?[0-9]+$`)

func integerOf(text string, size int) ([]byte, state) {
	if !digits.MatchString(text) {
		return nil, unknown
	}
	n, err := strconv.ParseInt(text, 10, 8*size)
	if err != nil {
		return nil, refused // out of range
	}
	return binary.BigEndian.AppendUint64(nil, uint64(n))[8-size:], known // #nosec G115 -- two's complement
}

// maxDigits bounds the numbers that are read.
const maxDigits = 1000

func bigInteger(text string) (*big.Int, bool) {
	if len(text) > maxDigits || !digits.MatchString(text) {
		return nil, false
	}
	return new(big.Int).SetString(text, 10)
}

// twosComplement is the shortest form of an integer, as Java's BigInteger writes it.
func twosComplement(n *big.Int) []byte {
	if n.Sign() >= 0 {
		b := n.Bytes()
		if len(b) == 0 || b[0] >= 0x80 {
			b = append([]byte{0}, b...)
		}
		return b
	}
	size := uint(new(big.Int).Not(n).BitLen()/8) + 1
	b := new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 8*size)).Bytes()
	return b
}

// plainDecimal is a decimal number without an exponent.
var plainDecimal = regexp.MustCompile(`^(-?[0-9]+)(?:\.([0-9]*))?$`)

// decimalOf writes a decimal: its scale, and its digits as a varint.
func decimalOf(text string) ([]byte, state) {
	m := plainDecimal.FindStringSubmatch(text)
	if m == nil {
		return nil, unknown
	}
	n, ok := bigInteger(m[1] + m[2])
	if !ok {
		return nil, unknown
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(m[2]))), twosComplement(n)...), known // #nosec G115 -- bounded by maxDigits
}

// number is what Cassandra's grammar takes for a float.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

func floating(text string, bits int) (float64, bool) {
	switch text {
	case "NaN":
		return math.NaN(), true
	case "Infinity", "-Infinity":
		return math.Inf(map[string]int{"Infinity": 1, "-Infinity": -1}[text]), true
	}
	if !number.MatchString(text) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(text, bits) // out of range it is infinite, or 0, as in Java
	return f, true
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

func uuidOf(text, cqlType string) ([]byte, state) {
	if !uuidForm.MatchString(text) {
		return nil, unknown
	}
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil {
		return nil, unknown
	}
	return b, valid(b, cqlType)
}

// timestampLayouts are the forms of a timestamp that say which zone they are of; the fraction, which older versions read
// otherwise if it is shorter, has three digits.
var timestampLayouts = func() (out []string) {
	for _, between := range []string{"T", " "} {
		for _, clock := range []string{"15:04", "15:04:05", "15:04:05.000"} {
			for _, zone := range []string{"Z07:00", "Z0700", "-07:00", "-0700"} {
				out = append(out, time.DateOnly+between+clock+zone)
			}
		}
	}
	return out
}()

// timestampForm is what time.Parse is not as strict about: it takes a fraction where the layout has none.
var timestampForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{3})?)?(Z|[+-][0-9]{2}:?[0-9]{2})$`)

func timestampOf(text string) ([]byte, state) {
	if digits.MatchString(text) {
		return integerOf(text, 8)
	}
	if !timestampForm.MatchString(text) {
		return nil, unknown
	}
	for _, layout := range timestampLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli())), known // #nosec G115 -- two's complement
		}
	}
	return nil, unknown
}

var timeForm = regexp.MustCompile(`^[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?$`)

// timeOf is a time of day in nanoseconds.
func timeOf(text string) ([]byte, state) {
	if !timeForm.MatchString(text) {
		return nil, unknown
	}
	t, err := time.Parse(time.TimeOnly, text)
	if err != nil {
		return nil, unknown
	}
	n := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	return binary.BigEndian.AppendUint64(nil, uint64(n)), known // #nosec G115 -- less than a day
}

// elementsOf are the types that a collection of the given kind is of.
func elementsOf(cqlType, kind string) ([]string, bool) {
	if inner, ok := strings.CutPrefix(cqlType, "frozen<"); ok {
		cqlType = strings.TrimSuffix(inner, ">")
	}
	inner, ok := strings.CutPrefix(cqlType, kind+"<")
	inner = strings.TrimSuffix(inner, ">")
	return []string{inner}, ok && among(native, inner)
}

// elements writes a list of constants.
func elements(terms []cql.Term, of string) ([]byte, state) {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(terms))) // #nosec G115 -- of one text
	for _, t := range terms {
		b, s := literal(t, of)
		if s != known {
			return nil, unknown
		}
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(b))), b...) // #nosec G115 -- of one text
	}
	return out, known
}

// sorted are the types whose elements Cassandra sorts by their bytes.
const sorted = " ascii text varchar blob date inet "

// set writes a set of constants in Cassandra's order, each once.
func set(terms []cql.Term, of string) ([]byte, state) {
	if !among(sorted, of) {
		return nil, unknown
	}
	var all []string
	for _, t := range terms {
		b, s := literal(t, of)
		if s != known {
			return nil, unknown
		}
		all = append(all, string(b))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	out := binary.BigEndian.AppendUint32(nil, uint32(len(all))) // #nosec G115 -- of one text
	for _, b := range all {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(b))), b...) // #nosec G115 -- of one text
	}
	return out, known
}

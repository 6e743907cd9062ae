package twintest

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is a value as it is bound, and as it is written in a text.
type sample struct {
	raw     []byte
	literal string
}

// json is the value as a document has it, "" if that is not said here.
func (s sample) json(cqlType string) string {
	switch {
	case cqlType == "text" || cqlType == "ascii":
		b, _ := json.Marshal(string(s.raw))
		return string(b)
	case cqlType == "int" && len(s.raw) == 0, !slices.Contains(keyTypes, cqlType):
		return ""
	case s.literal[0] == '\'':
		return `"` + strings.Trim(s.literal, "'") + `"`
	case cqlType == "uuid" || cqlType == "timeuuid" || cqlType == "blob":
		return `"` + s.literal + `"`
	}
	return s.literal
}

// number is an integer of width bytes, as it is bound.
func number(n int64, width int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(n))[8-width:] //nolint:gosec // two's complement is meant
}

func integer(n, width int) sample { return sample{number(int64(n-2), width), strconv.Itoa(n - 2)} }

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// collected is a list, a set or a map of as many elements.
func collected(n int, cells ...[]byte) []byte {
	b := number(int64(n), 4)
	for _, c := range cells {
		b = append(append(b, number(int64(len(c)), 4)...), c...)
	}
	return b
}

func identified(b []byte) sample {
	return sample{b, fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])}
}

// samples are the n-th values of the types: few of each, so that rows meet.
var samples = map[string]func(n int) sample{
	"text": func(n int) sample {
		s := []string{"a", "", "it's", "ünï", "a b", strings.Repeat("long", 60), "A", "null"}[n]
		return sample{[]byte(s), quoted(s)}
	},
	"ascii": func(n int) sample {
		s := []string{"x", "y", "xy", "$$"}[n%4]
		return sample{[]byte(s), quoted(s)}
	},
	"int": func(n int) sample {
		if n == 3 {
			return sample{[]byte{}, "3"} // a text has it by a function alone
		}
		return integer(n, 4)
	},
	"smallint": func(n int) sample { return integer(n, 2) },
	"tinyint":  func(n int) sample { return integer(n, 1) },
	"bigint": func(n int) sample {
		v := int64(n-2) << 40
		return sample{number(v, 8), strconv.FormatInt(v, 10)}
	},
	"uuid": func(n int) sample {
		return identified([]byte{1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, byte(n)})
	},
	"timeuuid": func(n int) sample { return identified(Ticket(n)) },
	"blob": func(n int) sample {
		b := []byte{byte(n), 0xff, 0}[:n%4]
		return sample{b, "0x" + hex.EncodeToString(b)}
	},
	"timestamp": func(n int) sample {
		v := 1_700_000_000_000 + int64(n)*86_400_000
		return sample{number(v, 8), strconv.FormatInt(v, 10)}
	},
	"date": func(n int) sample {
		day := int64(19_000 + n)
		return sample{number(1<<31+day, 4), quoted(time.Unix(86_400*day, 0).UTC().Format(time.DateOnly))}
	},
	"time": func(n int) sample {
		return sample{number(int64(n)*int64(time.Hour), 8), fmt.Sprintf("'%02d:00:00.000000000'", n)}
	},
	"inet": func(n int) sample {
		if n%2 == 0 {
			return sample{[]byte{10, 0, 0, byte(n)}, fmt.Sprintf("'10.0.0.%d'", n)}
		}
		b := make([]byte, 16)
		b[0], b[1], b[15] = 0x20, 1, byte(n)
		return sample{b, fmt.Sprintf("'2001::%x'", n)}
	},
	"boolean": func(n int) sample { return sample{[]byte{byte(n % 2)}, strconv.FormatBool(n%2 == 1)} },
	"double": func(n int) sample {
		v := float64(n) / 4
		return sample{binary.BigEndian.AppendUint64(nil, math.Float64bits(v)), strconv.FormatFloat(v, 'f', -1, 64)}
	},
	"decimal":           func(n int) sample { return sample{append(number(1, 4), byte(n)), fmt.Sprintf("0.%d", n)} },
	"varint":            func(n int) sample { return sample{[]byte{byte(n)}, strconv.Itoa(n)} },
	"list<int>":         func(n int) sample { return sample{collected(1, number(int64(n), 4)), fmt.Sprintf("[%d]", n)} },
	"frozen<list<int>>": func(n int) sample { return sample{collected(1, number(int64(n), 4)), fmt.Sprintf("[%d]", n)} },
	"set<text>":         func(n int) sample { return sample{collected(1, []byte{'a' + byte(n)}), fmt.Sprintf("{'%c'}", 'a'+n)} },
	"map<text, int>": func(n int) sample {
		return sample{collected(1, []byte{'a' + byte(n)}, number(int64(n), 4)), fmt.Sprintf("{'%c': %d}", 'a'+n, n)}
	},
	"duration": func(n int) sample { return sample{[]byte{0, byte(2 * n), 0}, fmt.Sprintf("%dd", n)} },
	"vector<float, 2>": func(n int) sample {
		return sample{append(binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(n))), 0, 0, 0, 0), fmt.Sprintf("[%d, 0]", n)}
	},
}

// keyTypes are those by which rows can be looked up; otherTypes are more that a column may have.
var (
	keyTypes   = []string{"text", "ascii", "int", "bigint", "smallint", "tinyint", "uuid", "timeuuid", "blob", "timestamp", "date", "time", "inet"}
	otherTypes = []string{"boolean", "double", "decimal", "varint", "list<int>", "set<text>", "map<text, int>", "frozen<list<int>>", "duration", "vector<float, 2>"}
)

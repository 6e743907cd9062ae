package match

// sizes are the lengths that a serialised value of a type may have. Cassandra refuses others when it binds them.
var sizes = map[string][]int{
	"tinyint": {1}, "smallint": {2}, "int": {0, 4}, "bigint": {0, 8}, "counter": {0, 8}, "float": {0, 4}, "double": {0, 8}, "boolean": {0, 1},
	"uuid": {0, 16}, "timeuuid": {0, 16}, "inet": {0, 4, 16}, "timestamp": {0, 8}, "date": {4}, "time": {8},
}

// valid tells whether Cassandra takes bytes as a value of a type: refused only if it certainly does not.
func valid(b []byte, cqlType string) state {
	if allowed, ok := sizes[cqlType]; ok {
		fits := false
		for _, n := range allowed {
			fits = fits || len(b) == n
		}
		if !fits {
			return refused
		}
	}
	switch cqlType {
	case "decimal":
		if len(b) > 0 && len(b) < 4 { // of which the scale
			return refused
		}
	case "ascii":
		for _, c := range b {
			if c >= 0x80 {
				return refused
			}
		}
	case "text", "varchar":
		if !validText(b) {
			return refused
		}
	case "timeuuid":
		if len(b) == 16 && b[6]&0xF0 != 0x10 {
			return refused
		}
	}
	return known
}

// validText tells whether bytes are UTF-8 as Cassandra checks it: surrogates, code points without end and a null of two
// bytes pass there, which Go's own check does not take.
func validText(b []byte) bool {
	for i := 0; i < len(b); {
		c, more, low := b[i], 0, byte(0x80)
		switch {
		case c < 0x80:
		case c == 0xC0:
			if i+1 >= len(b) || b[i+1] != 0x80 {
				return false
			}
			more = 1
		case c>>5 == 6 && c >= 0xC2:
			more = 1
		case c>>4 == 14:
			if more = 2; c == 0xE0 {
				low = 0xA0
			}
		case c>>3 == 30:
			if more = 3; c == 0xF0 {
				low = 0x90
			}
		default:
			return false
		}
		for n := 1; n <= more; n++ {
			if i+n >= len(b) || b[i+n] < low || b[i+n] > 0xBF {
				return false
			}
			low = 0x80
		}
		i += 1 + more
	}
	return true
}

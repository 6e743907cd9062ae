package planrun

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/helenus-db/helenus/advisor/workload"
)

// condition compares a field at hand with an operand.
type condition struct {
	slot    int
	operand int
	op      workload.Op
	type_   cellType
}

// holds tells whether a cell satisfies it; null satisfies nothing, and nothing compares with null.
func (c *condition) holds(cell []byte, with [][]byte) bool {
	if cell == nil || len(with) == 0 || with[0] == nil {
		return false
	}
	switch c.op {
	case workload.Equal:
		return c.type_.compare(cell, with[0]) == 0
	case workload.NotEqual:
		return c.type_.compare(cell, with[0]) != 0
	case workload.Greater:
		return c.type_.compare(cell, with[0]) > 0
	case workload.GreaterOrEqual:
		return c.type_.compare(cell, with[0]) >= 0
	case workload.Less:
		return c.type_.compare(cell, with[0]) < 0
	case workload.LessOrEqual:
		return c.type_.compare(cell, with[0]) <= 0
	case workload.Like:
		return bytes.HasPrefix(cell, with[0])
	case workload.In:
		return slices.ContainsFunc(with, func(v []byte) bool { return c.type_.compare(cell, v) == 0 })
	}
	return false
}

// unique returns the values in order, each once and none of them null.
func unique(cqlType string, list [][]byte) [][]byte {
	t := typeOf(cqlType)
	list = slices.DeleteFunc(slices.Clone(list), func(v []byte) bool { return v == nil })
	slices.SortFunc(list, t.compare)
	return slices.CompactFunc(list, func(a, b []byte) bool { return t.compare(a, b) == 0 })
}

// prefixOf is what comes before the % of a pattern; false if the pattern is not a prefix with one % after it.
func prefixOf(pattern []byte) ([]byte, bool) {
	prefix, ok := bytes.CutSuffix(pattern, []byte{'%'})
	return prefix, ok && !bytes.ContainsAny(prefix, "%_")
}

// after is the least text that is greater than all with a prefix: its last character is the next one. false: there is
// none. ascii takes characters of 7 bits alone.
func after(prefix []byte, ascii bool) ([]byte, bool) {
	for len(prefix) > 0 {
		last, size := utf8.DecodeLastRune(prefix)
		prefix = prefix[:len(prefix)-size]
		switch {
		case last == 0xd7ff: // what comes next are no characters
			last = 0xe000
		case last == utf8.MaxRune, ascii && last == 0x7f:
			continue
		default:
			last++
		}
		return utf8.AppendRune(bytes.Clone(prefix), last), true
	}
	return nil, false
}

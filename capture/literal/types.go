package literal

import (
	"strings"

	"github.com/helenus-db/helenus/proxy"
)

// codes are the protocol's, by the names that system_schema has. What is not among them is user-defined, or custom.
var codes = map[string]uint16{
	"ascii": 0x01, "bigint": 0x02, "blob": 0x03, "boolean": 0x04, "counter": 0x05, "decimal": 0x06, "double": 0x07, "float": 0x08, "int": 0x09,
	"timestamp": 0x0B, "uuid": 0x0C, "text": 0x0D, "varchar": 0x0D, "varint": 0x0E, "timeuuid": 0x0F, "inet": 0x10, "date": 0x11, "time": 0x12,
	"smallint": 0x13, "tinyint": 0x14, "duration": 0x15, "list": codeList, "map": codeMap, "set": codeSet, "tuple": codeTuple,
}

const (
	codeList  = 0x20
	codeMap   = 0x21
	codeSet   = 0x22
	codeUDT   = 0x30
	codeTuple = 0x31
)

// maxDepth is how deep a type may be nested; what is deeper is left out.
const maxDepth = 16

// TypeOf is a type as system_schema spells it ("frozen<list<uuid>>") in the form of the protocol. A user-defined type is without its
// fields, which nobody looks into.
func TypeOf(text string) proxy.Type { return typeOf(text, 0) }

func typeOf(text string, depth int) proxy.Type {
	text = strings.TrimSpace(text)
	name, rest, nested := strings.Cut(text, "<")
	if !nested {
		if code, ok := codes[name]; ok {
			return proxy.Type{Code: code}
		}
		return proxy.Type{Code: codeUDT, Name: name}
	}
	if depth == maxDepth {
		return proxy.Type{}
	}
	rest = strings.TrimSuffix(rest, ">")
	if name == "frozen" {
		return typeOf(rest, depth+1)
	}
	t := proxy.Type{Code: codes[name]}
	if t.Code == 0 {
		return t // a vector
	}
	open, from := 0, 0
	for i := range len(rest) {
		switch rest[i] {
		case '<':
			open++
		case '>':
			open--
		case ',':
			if open == 0 {
				t.Elements, from = append(t.Elements, typeOf(rest[from:i], depth+1)), i+1
			}
		}
	}
	t.Elements = append(t.Elements, typeOf(rest[from:], depth+1))
	return t
}

package literal

import (
	"strings"

	"github.com/helenus-db/helenus/proxy"
)

// codes are the protocol's, by the names that system_schema has. What is not among them is user-defined, or custom.
var codes = map[string]uint16{
	"ascii": proxy.TypeASCII, "bigint": proxy.TypeBigint, "blob": proxy.TypeBlob, "boolean": proxy.TypeBoolean, "counter": proxy.TypeCounter,
	"decimal": proxy.TypeDecimal, "double": proxy.TypeDouble, "float": proxy.TypeFloat, "int": proxy.TypeInt, "timestamp": proxy.TypeTimestamp,
	"uuid": proxy.TypeUUID, "text": proxy.TypeVarchar, "varchar": proxy.TypeVarchar, "varint": proxy.TypeVarint, "timeuuid": proxy.TypeTimeuuid,
	"inet": proxy.TypeInet, "date": proxy.TypeDate, "time": proxy.TypeTime, "smallint": proxy.TypeSmallint, "tinyint": proxy.TypeTinyint,
	"duration": proxy.TypeDuration, "list": proxy.TypeList, "map": proxy.TypeMap, "set": proxy.TypeSet, "tuple": proxy.TypeTuple,
}

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
		return proxy.Type{Code: proxy.TypeUDT, Name: name}
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

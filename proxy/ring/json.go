package ring

import (
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
)

// pair is a key of a JSON object, and where its value stands in the text.
type pair struct {
	key      string
	from, to int
}

// pairs finds the keys and values of the one object that text is; ok is false if it is something else.
func pairs(text []byte) (list []pair, ok bool) {
	if !json.Valid(text) {
		return nil, false
	}
	i := space(text, 0)
	if i == len(text) || text[i] != '{' {
		return nil, false
	}
	for i = space(text, i+1); text[i] != '}'; i = space(text, i) {
		if text[i] == ',' {
			i = space(text, i+1)
		}
		key := i
		i = value(text, i)
		p := pair{key: bareName(unquote(string(text[key:i])))}
		p.from = space(text, space(text, i)+1) // after the colon
		p.to = value(text, p.from)
		i = p.to
		list = append(list, p)
	}
	return list, true
}

// bareName is a column's name as SELECT JSON writes it: those that are not lower case are in double quotes of their own.
func bareName(key string) string {
	if len(key) > 1 && key[0] == '"' && key[len(key)-1] == '"' {
		return strings.ReplaceAll(key[1:len(key)-1], `""`, `"`)
	}
	return key
}

func space(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(" \t\r\n", b[i]) >= 0 {
		i++
	}
	return i
}

// value returns the end of the value that begins at i; the text is valid JSON.
func value(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']', ',', ':':
			if depth == 0 {
				return i
			}
			if c == '}' || c == ']' {
				depth--
			}
		case ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
		if depth == 0 && i > 0 && strings.IndexByte(`"}]`, b[i-1]) >= 0 {
			return i
		}
	}
	return i
}

// unquote is the content of a JSON string; what is none is returned as it is.
func unquote(s string) string {
	var v string
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	return v
}

// parse reads a value that is written out: a UUID, an address or a number.
func parse(s string) any {
	if isUUID(s) && len(s) == 36 {
		var id UUID
		if _, err := hex.Decode(id[:], []byte(strings.ReplaceAll(s, "-", ""))); err == nil {
			return id
		}
	}
	if ip, err := netip.ParseAddr(strings.TrimPrefix(s, "/")); err == nil {
		return ip.Unmap()
	}
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		return int32(n)
	}
	return nil
}

// tableColumns are the tables' columns in the order in which Cassandra 4 and 5 return them.
var tableColumns = map[Table][]string{
	Peers: {"peer", "data_center", "host_id", "preferred_ip", "rack", "release_version", "rpc_address", "schema_version", "tokens"},
	PeersV2: {"peer", "peer_port", "data_center", "host_id", "native_address", "native_port", "preferred_ip", "preferred_port",
		"rack", "release_version", "schema_version", "tokens"},
}

// invented is a row as JSON.
func (w *walk) invented(row Row) string {
	list := w.list
	if w.q.star {
		list = nil
		for _, column := range tableColumns[w.q.Table] {
			list = append(list, selector{column: column})
		}
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(s.label()) + ": ")
		v, _ := row.find(s.column)
		if v == nil || s.form > toJSON {
			b.WriteString("null")
			continue
		}
		b.WriteString(s.asJSON(v))
	}
	return "{" + b.String() + "}"
}

// label is the key that SELECT JSON gives the column.
func (s selector) label() string {
	name := s.name
	if name == "" {
		switch s.form {
		case bare:
			name = s.column
		case casted:
			name = "cast(" + s.column + " as text)"
		case toJSON:
			name = "system.tojson(" + s.column + ")"
		case counts:
			name = "count"
		}
	}
	if name != strings.ToLower(name) {
		return `"` + name + `"`
	}
	return name
}

package match

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/helenus-db/helenus/rewrite/kind"
)

// object reads the document of an INSERT JSON: the new value of the column, and the key of its row.
func (w *Write) object(v kind.Values) (given, [][]Cell, state) {
	b, s := value(v, w.json, "text")
	switch s {
	case known:
	case null, unset:
		return given{}, nil, refused
	default:
		return given{}, nil, s
	}
	fields, s := document(b)
	if s != known {
		return given{}, nil, s
	}
	key := make([]Cell, len(w.LookUp.Key))
	worst := known
	for i, k := range w.LookUp.Key {
		b, s := jsonValue(fields[k.Name], k.Type)
		if s == null || s == refused {
			return given{}, nil, refused // a null, or no key
		}
		worst = max(worst, s)
		key[i] = Cell{b}
	}
	if worst != known {
		return given{}, nil, worst
	}
	field, has := fields[w.LookUp.By.Name]
	if !has && w.unset {
		return given{state: unset}, [][]Cell{key}, known
	}
	b, s = jsonValue(field, w.LookUp.By.Type)
	return given{bytes: b, state: s}, [][]Cell{key}, known
}

// document reads the fields of an object by the names that Cassandra gives them: in lower case unless the name has quotes
// of its own. Of two fields of one name the last one counts. What follows the object Cassandra does not look at.
func document(b []byte) (map[string]json.RawMessage, state) {
	if !utf8.Valid(b) || strings.HasPrefix(string(b), "\uFEFF") {
		return nil, unknown
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, broken(err)
	}
	fields := map[string]json.RawMessage{}
	var order []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, broken(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, broken(err)
		}
		key, ok := name.(string)
		if !ok {
			return nil, refused
		}
		if _, has := fields[key]; !has {
			order = append(order, key)
		}
		fields[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, broken(err)
	}
	return fields, fold(fields, order)
}

// broken is what becomes of a document that can not be read: Cassandra's reader takes nothing that Go's does not.
func broken(err error) state {
	var syntax *json.SyntaxError
	if err == nil || errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refused
	}
	return unknown
}

// fold renames the fields as Cassandra does: one after the other, so a name in quotes or with capitals replaces a field
// that is called so already.
func fold(fields map[string]json.RawMessage, order []string) state {
	for _, key := range order {
		var name string
		switch {
		case key == `"`:
			return unknown
		case strings.HasPrefix(key, `"`) && strings.HasSuffix(key, `"`):
			name = key[1 : len(key)-1]
		default:
			for i := range len(key) {
				if key[i] >= 0x80 {
					return unknown // whose lower case may be a letter of a name
				}
			}
			name = strings.ToLower(key)
		}
		if name != key {
			value, has := fields[key]
			if !has {
				value = json.RawMessage("null")
			}
			delete(fields, key)
			fields[name] = value
		}
	}
	return known
}

// jsonStrings are the types whose values JSON has as strings only; jsonNumbers those that it has as numbers too.
const (
	jsonStrings = " ascii text varchar blob uuid timeuuid inet date time timestamp "
	jsonNumbers = " tinyint smallint int bigint varint decimal float double "
)

// jsonValue is a value of a document as a cqlType. A field that is not there is null. One of another kind than the type's is
// refused; a text or a number that is not of a form read here is unknown, as Cassandra's reader might take it.
func jsonValue(raw json.RawMessage, cqlType string) ([]byte, state) {
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "" || text == "null":
		return nil, null
	case text[0] == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil || strings.ContainsRune(s, utf8.RuneError) {
			return nil, unknown // a lone surrogate, perhaps
		}
		if !among(jsonStrings, cqlType) && !among(jsonNumbers, cqlType) && cqlType != "boolean" || cqlType == "timestamp" && digits.MatchString(s) {
			return nil, unknown
		}
		return plain(s, cqlType)
	case (text == "true" || text == "false") && cqlType == "boolean":
		return written(text, cqlType)
	case among(jsonStrings, cqlType) && cqlType != "timestamp", among(jsonNumbers, cqlType) && strings.IndexByte("tf[{", text[0]) >= 0:
		return nil, refused
	case (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && digits.MatchString(text):
		if among(jsonNumbers, cqlType) {
			return plain(text, cqlType)
		}
		if _, s := integerOf(text, 4); cqlType == "timestamp" && s != known { // a short one is an Integer to Cassandra, which it refuses
			return plain(text, cqlType)
		}
	}
	return nil, unknown
}

// plain is a value that was written as text, unless it is not certain to be read alike.
func plain(text, cqlType string) ([]byte, state) {
	b, s := written(text, cqlType)
	if s != known || valid(b, cqlType) != known {
		return nil, unknown
	}
	return b, known
}

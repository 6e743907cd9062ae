package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFile is the greatest size of a file, bytes.
const maxFile = 16 << 20

// FileError says what is wrong with a file, and where.
type FileError struct {
	File         string
	Line, Column int // from 1; 0 if it is the file as a whole
	Length       int // of what is wrong, bytes; 0: not known
	Reason       string
	Underlined   string // the text that is wrong, with carets below it; "": not known
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	}
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
	if e.Underlined != "" {
		text += "\n" + e.Underlined
	}
	return text
}

// Show adds the line of the file that is wrong to an error about it, underlined, if the error knows its place.
func Show(err error, data []byte) error {
	var e *FileError
	if !errors.As(err, &e) || e.Underlined != "" || e.Line == 0 {
		return err
	}
	lines := strings.Split(string(data), "\n")
	if e.Line > len(lines) {
		return err
	}
	line := strings.TrimRight(lines[e.Line-1], "\r")
	at := Offset(line, e.Column)
	length := e.Length
	if length == 0 {
		length = len(line) - at
		if i := strings.IndexAny(line[at:], " \t,:]}"); i > 0 {
			length = i
		}
	}
	e.Underlined = Underline(line, at, length)
	return err
}

// Offset is the offset of a column, which counts runes from 1, in bytes.
func Offset(line string, column int) int {
	for i := range line {
		if column--; column < 1 {
			return i
		}
	}
	return len(line)
}

// Number is a number of a YAML file that knows its place.
type Number struct {
	Value float64
	Placed
}

// UnmarshalYAML takes any number.
func (n *Number) UnmarshalYAML(node ast.Node) error {
	if err := n.Placed.UnmarshalYAML(node); err != nil {
		return err
	}
	scalar, _ := node.(ast.ScalarNode) // it is one: Placed took it
	switch v := scalar.GetValue().(type) {
	case int64:
		n.Value = float64(v)
	case uint64:
		n.Value = float64(v)
	case float64:
		n.Value = v
	default:
		return n.Wrong("", "expected a number, found %q", n.Text)
	}
	return nil
}

// at is where the number stands, or what it belongs to if it is missing.
func (n Number) at(owner Placed) Placed {
	if n.Line == 0 {
		return owner
	}
	return n.Placed
}

// MarshalYAML writes the number.
func (n Number) MarshalYAML() (any, error) { return n.Value, nil }

// IsZero tells whether it is 0 or is not there.
func (n Number) IsZero() bool { return n.Value == 0 }

// Placed is a text of a YAML file that knows its place.
type Placed struct {
	Text         string
	Line, Column int
}

// UnmarshalYAML takes any scalar.
func (p *Placed) UnmarshalYAML(node ast.Node) error {
	scalar, ok := node.(ast.ScalarNode)
	if !ok {
		err := &FileError{Reason: "expected a text, found a " + strings.ToLower(node.Type().String())}
		if at := node.GetToken(); at != nil && at.Position != nil {
			err.Line, err.Column = at.Position.Line, at.Position.Column
		}
		return err
	}
	p.Text = fmt.Sprint(scalar.GetValue())
	if at := node.GetToken(); at != nil && at.Position != nil {
		p.Line, p.Column = at.Position.Line, at.Position.Column
	}
	return nil
}

// MarshalYAML writes the text.
func (p Placed) MarshalYAML() (any, error) { return p.Text, nil }

// IsZero tells whether there is no text.
func (p Placed) IsZero() bool { return p.Text == "" }

// Wrong returns a *FileError at the text's place.
func (p Placed) Wrong(file string, format string, args ...any) error {
	first, _, _ := strings.Cut(p.Text, "\n")
	return &FileError{File: file, Line: p.Line, Column: p.Column, Length: len(first), Reason: fmt.Sprintf(format, args...)}
}

// ReadFile reads a file of at most 16 MiB.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, &FileError{File: name, Reason: fmt.Sprintf("larger than %d bytes", maxFile)}
	}
	return data, nil
}

// DecodeYAML reads one YAML document into a pointer to a struct. Keys that the struct does not know are errors, which name
// the nearest that it knows; so are anchors. Errors are *FileError.
func DecodeYAML(file string, data []byte, into any) error {
	body, err := ParseYAML(file, data)
	if err != nil {
		return err
	}
	anchors := &finder{types: []ast.NodeType{ast.AnchorType, ast.AliasType, ast.MergeKeyType}}
	if ast.Walk(anchors, body); anchors.found != nil {
		return placedError(file, anchors.found, "anchors and aliases are not supported: write the value out")
	}
	return DecodeNode(file, body, into, yaml.Strict())
}

// ParseYAML parses a file of one YAML document. Tags are refused. Errors are *FileError.
func ParseYAML(file string, data []byte) (body ast.Node, err error) {
	if err := shallow(file, data); err != nil {
		return nil, err
	}
	defer recovered(file, &err)
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fileError(file, err, nil)
	}
	if len(parsed.Docs) == 0 || len(parsed.Docs) == 1 && parsed.Docs[0].Body == nil {
		return nil, &FileError{File: file, Reason: "the file is empty: expected one YAML document"}
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return nil, &FileError{File: file, Reason: fmt.Sprintf("expected one YAML document, found %d", len(parsed.Docs))}
	}
	tags := &finder{types: []ast.NodeType{ast.TagType}}
	if ast.Walk(tags, parsed.Docs[0].Body); tags.found != nil {
		return nil, placedError(file, tags.found, "tags are not supported")
	}
	return parsed.Docs[0].Body, nil
}

// DecodeNode decodes what ParseYAML returned into a pointer. Errors are *FileError.
func DecodeNode(file string, body ast.Node, into any, options ...yaml.DecodeOption) (err error) {
	defer recovered(file, &err)
	if err := yaml.NewDecoder(bytes.NewReader(nil), options...).DecodeFromNode(body, into); err != nil {
		return fileError(file, err, into)
	}
	return nil
}

// recovered turns a panic of the YAML library, which odd files provoke, into an error.
func recovered(file string, err *error) {
	if r := recover(); r != nil {
		*err = &FileError{File: file, Reason: "this YAML can not be read: it is written in an unusual way"}
	}
}

// MarshalYAML writes a document, whole numbers without a fraction.
func MarshalYAML(document any) ([]byte, error) {
	return yaml.MarshalWithOptions(document, yaml.CustomMarshaler(func(x float64) ([]byte, error) {
		return strconv.AppendFloat(nil, x, 'f', -1, 64), nil
	}))
}

// The greatest nesting of a file. The YAML parser takes time with the square of it, and more.
const (
	maxFlow   = 32  // brackets within brackets
	maxIndent = 128 // blanks, dashes and question marks that a line begins with
)

// shallow refuses files that nest deeper than any of ours does, before the parser sees them. Brackets are counted wherever
// they stand.
func shallow(file string, data []byte) error {
	flow, line, lead := 0, 1, 0
	leading := true
	for i, c := range data {
		switch c {
		case '[', '{':
			flow++
		case ']', '}':
			flow = max(0, flow-1)
		case '\n':
			line, lead, leading = line+1, 0, true
			continue
		}
		if leading = leading && (c == ' ' || c == '-' || c == '?' || c == '\t' || c == ':'); leading {
			lead++
		}
		if c == '-' && leading && lead > 16 && i > 2 && data[i-2] == '-' {
			lead = maxIndent + 1 // lists within lists on one line
		}
		if flow > maxFlow || lead > maxIndent {
			return &FileError{File: file, Line: line, Column: 1, Reason: "nests too deeply"}
		}
	}
	return nil
}

// finder finds a node of certain types. Anchors and aliases: expanded, a small file could fill the memory.
type finder struct {
	types []ast.NodeType
	found *token.Token
}

func (v *finder) Visit(node ast.Node) ast.Visitor {
	if slices.Contains(v.types, node.Type()) {
		v.found = node.GetToken()
	}
	if v.found != nil {
		return nil
	}
	return v
}

func fileError(file string, err error, into any) error {
	var own *FileError
	if errors.As(err, &own) {
		own.File = file
		return own
	}
	var placed yaml.Error
	if !errors.As(err, &placed) {
		return &FileError{File: file, Reason: err.Error()}
	}
	reason := placed.GetMessage()
	var unknown *yaml.UnknownFieldError
	if at := placed.GetToken(); errors.As(err, &unknown) && at != nil && into != nil {
		keys := map[string]string{}
		yamlKeys(reflect.TypeOf(into), "", keys, map[reflect.Type]bool{})
		under, elsewhere := keys[at.Value]
		switch near := Nearest(at.Value, slices.Sorted(maps.Keys(keys))); {
		case elsewhere && under == "":
			reason += "; it belongs at the top of the file, under nothing"
		case elsewhere:
			reason += fmt.Sprintf("; it belongs under %q", under)
		case near != "":
			reason += fmt.Sprintf("; nearest is %q", near)
		}
	}
	return placedError(file, placed.GetToken(), reason)
}

func placedError(file string, at *token.Token, reason string) error {
	e := &FileError{File: file, Reason: reason}
	if at != nil && at.Position != nil {
		e.Line, e.Column = at.Position.Line, at.Position.Column
	}
	return e
}

// yamlKeys collects all keys that a type knows, at any depth, with the key under which each is first met; "" is that of the file.
func yamlKeys(t reflect.Type, under string, keys map[string]string, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" {
			name = ""
		}
		if _, met := keys[name]; name != "" && !met {
			keys[name] = under
		}
		if name == "" {
			name = under
		}
		yamlKeys(f.Type, name, keys, seen)
	}
}

// maxUnderlined is how much of a line an error shows, runes.
const maxUnderlined = 120

// Underline returns a line of text and below it carets under length bytes from offset on, at least one. A long line is cut
// on both sides.
func Underline(line string, offset, length int) string {
	offset = min(max(offset, 0), len(line))
	length = min(max(length, 1), max(len(line)-offset, 1))
	clean := func(s string) []rune { // what a terminal shows in one column each
		return []rune(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(s, "?")))
	}
	marks := min(offset+length, len(line))
	before, marked, after := clean(line[:offset]), clean(line[offset:marks]), clean(line[marks:])
	if cut := len(before) - maxUnderlined/2; cut > 0 {
		before = append([]rune("..."), before[cut:]...)
	}
	if len(marked) > maxUnderlined/2 {
		marked, after = marked[:maxUnderlined/2], []rune("...")
	}
	if room := maxUnderlined - len(before) - len(marked); len(after) > room && len(after) > 3 {
		after = append(after[:max(0, room)], []rune("...")...)
	}
	return "  " + string(before) + string(marked) + string(after) + "\n  " + strings.Repeat(" ", len(before)) + strings.Repeat("^", max(1, len(marked)))
}

package cql

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// Print is the fingerprint of a statement: the first 16 bytes of the SHA-256 of its normalised text. Statements that
// differ only in their values have the same.
type Print [16]byte

// String returns the fingerprint as 32 hexadecimal digits.
func (p Print) String() string { return hex.EncodeToString(p[:]) }

// Short returns the first 8 digits, for people.
func (p Print) Short() string { return hex.EncodeToString(p[:4]) }

// MarshalText writes the 32 digits.
func (p Print) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *Print) UnmarshalText(text []byte) error {
	if len(text) != 2*len(p) {
		return fmt.Errorf("fingerprint of %d characters: want %d hexadecimal digits", len(text), 2*len(p))
	}
	var read Print
	if _, err := hex.Decode(read[:], text); err != nil {
		return fmt.Errorf("fingerprint: %w", err)
	}
	*p = read
	return nil
}

// printers are kept, because the text of most fingerprints is hashed and forgotten.
var printers = sync.Pool{New: func() any { return &printer{out: make([]byte, 0, 512)} }}

// maxKept is the length of the longest text whose memory is used again.
const maxKept = 64 << 10

// normalised returns a printer that has printed the text that a fingerprint is made from, to be put back. keyspace is the one in use when the statement was sent, ""
// for none; it qualifies every table that has no keyspace. Literals and markers become "?"; lists of values, tuples and
// collections become "(?)" whatever their length; equal statements of a batch become one. No literal survives.
func normalised(st Statement, keyspace string) *printer {
	p, _ := printers.Get().(*printer)
	if cap(p.out) > maxKept {
		p.out = nil
	}
	*p = printer{out: p.out[:0], normal: true, keyspace: keyspace}
	st.print(p)
	return p
}

// Fingerprint returns the fingerprint of a statement; keyspace is the one in use when it was sent, "" for none.
func Fingerprint(st Statement, keyspace string) Print {
	p := normalised(st, keyspace)
	defer printers.Put(p)
	return printOf(p.out)
}

func printOf(text []byte) Print {
	sum := sha256.Sum256(text)
	return Print(sum[:16])
}

// FingerprintText parses and fingerprints a text. If it does not parse, st is nil, err says why, and the fingerprint is
// made from its tokens: those before the error as they are, after it only the keywords, and "?" for everything that may
// be a value. Such a normalised text has at most MaxUnparsed bytes.
func FingerprintText(text, keyspace string) (print Print, normal string, st Statement, err error) {
	st, err = Parse(text)
	if err == nil {
		p := normalised(st, keyspace)
		defer printers.Put(p)
		return printOf(p.out), p.String(), st, nil
	}
	good := 0
	if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) {
		good = syntax.Offset
	}
	p := printer{normal: true}
	p.tokens(text, good)
	return printOf(p.out), p.String(), nil, err
}

// MaxUnparsed limits the normalised text of a statement that does not parse, in bytes.
const MaxUnparsed = 4096

// tokens writes a text without a tree: names and keywords in lower case, one blank or none between tokens, "?" for one
// or several values. What stands after the first good bytes may be anything, a value that was not quoted, say; of that
// it keeps keywords and symbols only. It stops before it has written more than MaxUnparsed bytes.
func (p *printer) tokens(text string, good int) {
	l := lexer.Lexer{Source: text}
	last := "("
	for t := l.Next(); t.Kind != lexer.End; t = l.Next() {
		out := text[t.Start:t.End]
		switch {
		case t.Kind == lexer.Word && (int(t.Start) < good || t.Keyword.Class()&lexer.Reserved != 0):
			out = lexer.Fold(out)
		case (t.Kind == lexer.Quoted || t.Kind == lexer.Empty) && int(t.Start) < good, t.Kind == lexer.Symbol && t.Code != '?':
		default:
			out = "?"
		}
		if !utf8.ValidString(out) {
			out = "?"
		}
		if len(out) > MaxUnparsed-len(p.out)-2 {
			return
		}
		if out == "?" && (last == "?" || last == "?,") {
			last = "?"
			continue
		}
		if last == "?," {
			p.writeByte(',')
			last = ","
		}
		if out == "," && last == "?" {
			last = "?,"
			continue
		}
		if !strings.Contains("([.", last) && !slices.Contains([]string{",", ")", "]", ".", ";"}, out) {
			p.writeByte(' ')
		}
		p.write(out)
		last = out
	}
}

package cql

import (
	"fmt"
	"strings"
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenBad              // a character or an unclosed quotation that no token begins with
	tokenWord             // keyword or unquoted name
	tokenQuoted           // "name"
	tokenString           // 'text' or $$text$$
	tokenInteger
	tokenFloat
	tokenBoolean
	tokenDuration
	tokenUUID
	tokenBlob
	tokenSymbol
)

var tokenNames = [...]string{tokenEnd: "end of text", tokenBad: "unexpected character", tokenString: "string",
	tokenInteger: "integer", tokenFloat: "float", tokenBoolean: "boolean", tokenDuration: "duration", tokenUUID: "uuid", tokenBlob: "blob"}

// token is a piece of the source text.
type token struct {
	kind       tokenKind
	start, end int
}

// value reports whether the token is a constant.
func (t token) value() bool { return t.kind >= tokenString && t.kind <= tokenBlob }

// SyntaxError says where a text stops being CQL that this package knows. Found and Expected never hold a literal of the
// text, so the error may be logged.
type SyntaxError struct {
	Line, Column int // both from 1; Column counts bytes
	Offset       int // in bytes, from 0
	Found        string
	Expected     string
}

// Error describes the error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: found %s, expected %s", e.Line, e.Column, e.Found, e.Expected)
}

// lexer cuts src into tokens from pos on. It has no other state, so a copy of it looks ahead.
type lexer struct {
	src string
	pos int
}

func (l *lexer) at(i int) byte {
	if i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// next returns the next token, skipping white space and comments.
func (l *lexer) next() token {
	open := l.skip()
	start := l.pos
	if start >= len(l.src) {
		return token{tokenEnd, start, start}
	}
	if open {
		l.pos = len(l.src)
		return token{tokenBad, start, l.pos}
	}
	kind := tokenSymbol
	switch c := l.src[start]; {
	case c == '\'':
		kind = l.quoted('\'', tokenString)
	case c == '"':
		kind = l.quoted('"', tokenQuoted)
	case c == '$' && l.at(start+1) == '$':
		kind = l.dollars()
	case isDigit(c), isLetter(c):
		kind = l.word()
	case c == '-':
		kind = l.minus()
	case strings.IndexByte("()[]{},;?:=<>+*/%.!", c) >= 0:
		l.pos += symbolLen(c, l.at(start+1))
		if c == '!' && l.pos == start+1 {
			kind = tokenBad
		}
	default:
		l.pos++
		for l.pos < len(l.src) && l.src[l.pos] >= 0x80 {
			l.pos++
		}
		kind = tokenBad
	}
	return token{kind, start, l.pos}
}

func symbolLen(c, next byte) int {
	switch {
	case next == '=' && strings.IndexByte("<>!+-", c) >= 0, c == '.' && next == '.':
		return 2
	}
	return 1
}

// skip passes over white space and comments; it reports whether it stands at a comment that is never closed.
func (l *lexer) skip() (open bool) {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
			l.pos++
		case c == '-' && l.at(l.pos+1) == '-', c == '/' && l.at(l.pos+1) == '/':
			n := strings.IndexAny(l.src[l.pos:], "\r\n")
			if n < 0 {
				n = len(l.src) - l.pos
			}
			l.pos += n
		case c == '/' && l.at(l.pos+1) == '*':
			n := strings.Index(l.src[l.pos+2:], "*/")
			if n < 0 {
				return true
			}
			l.pos += n + 4
		default:
			return false
		}
	}
	return false
}

func (l *lexer) quoted(quote byte, kind tokenKind) tokenKind {
	for l.pos++; ; l.pos += 2 {
		n := strings.IndexByte(l.src[l.pos:], quote)
		if n < 0 {
			l.pos = len(l.src)
			return tokenBad
		}
		l.pos += n
		if l.at(l.pos+1) != quote {
			l.pos++
			return kind
		}
	}
}

func (l *lexer) dollars() tokenKind {
	n := strings.Index(l.src[l.pos+2:], "$$")
	if n < 0 {
		l.pos = len(l.src)
		return tokenBad
	}
	l.pos += n + 4
	return tokenString
}

// minus reads what begins with a minus sign: as in the server's lexer, a minus directly before a digit belongs to the
// number, whatever stands before it.
func (l *lexer) minus() tokenKind {
	start := l.pos
	if c := l.at(start + 1); isDigit(c) || isLetter(c) {
		l.pos++
		if isDigit(c) {
			return l.number()
		}
		if kind := l.word(); kind == tokenDuration || kind == tokenFloat { // -P1Y, -NaN, -Infinity
			return kind
		}
		l.pos = start
	}
	l.pos += symbolLen('-', l.at(start+1))
	return tokenSymbol
}

// word reads what begins with a letter or digit.
func (l *lexer) word() tokenKind {
	if n := uuidLen(l.src[l.pos:]); n > 0 {
		l.pos += n
		return tokenUUID
	}
	start := l.pos
	if l.src[start] == '0' && l.at(start+1)|0x20 == 'x' {
		l.pos += 2
		for isHex(l.at(l.pos)) {
			l.pos++
		}
		return tokenBlob
	}
	if isDigit(l.src[start]) {
		return l.number()
	}
	if l.src[start] == 'P' {
		if n := periodLen(l.src[start:]); n > 0 && !isWordByte(l.at(start+n)) {
			l.pos += n
			return tokenDuration
		}
	}
	for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
		l.pos++
	}
	switch w := l.src[start:l.pos]; {
	case equalFold(w, "true"), equalFold(w, "false"):
		return tokenBoolean
	case equalFold(w, "nan"), equalFold(w, "infinity"):
		return tokenFloat
	}
	return tokenWord
}

// number reads an integer, float or duration from a digit on.
func (l *lexer) number() tokenKind {
	l.digits()
	if n := unitLen(l.src[l.pos:]); n > 0 {
		for n > 0 {
			l.pos += n
			end := l.pos
			l.digits()
			if n = unitLen(l.src[l.pos:]); n == 0 || l.pos == end {
				l.pos, n = end, 0
			}
		}
		return tokenDuration
	}
	kind := tokenInteger
	if l.at(l.pos) == '.' && (l.at(l.pos+1) != '.' || l.at(l.pos+2) == '.') {
		kind = tokenFloat
		l.pos++
		l.digits()
	}
	if l.at(l.pos)|0x20 == 'e' {
		n := l.pos + 1
		if c := l.at(n); c == '+' || c == '-' {
			n++
		}
		if isDigit(l.at(n)) {
			kind = tokenFloat
			l.pos = n
			l.digits()
		}
	}
	return kind
}

func (l *lexer) digits() {
	for isDigit(l.at(l.pos)) {
		l.pos++
	}
}

// unitLen returns the length of the duration unit that s begins with, or 0.
func unitLen(s string) int {
	if strings.HasPrefix(s, "µs") || strings.HasPrefix(s, "µS") {
		return len("µs")
	}
	if len(s) == 0 {
		return 0
	}
	second := byte(0)
	if len(s) > 1 {
		second = s[1] | 0x20
	}
	switch s[0] | 0x20 {
	case 'y', 'w', 'd', 'h', 's':
		return 1
	case 'm':
		if second == 'o' || second == 's' {
			return 2
		}
		return 1
	case 'u', 'n':
		if second == 's' {
			return 2
		}
	}
	return 0
}

// periodLen returns the length of the ISO 8601 duration that s, which starts with P, begins with, or 0.
func periodLen(s string) int {
	if alternative := "Pdddd-dd-ddTdd:dd:dd"; matches(s, alternative) {
		return len(alternative)
	}
	i := designators(s, 1, "YMD")
	if i == 1 {
		i = designators(s, 1, "W")
	}
	if i < len(s) && s[i] == 'T' {
		if n := designators(s, i+1, "HMS"); n > i+1 {
			i = n
		}
	}
	if i == 1 {
		return 0
	}
	return i
}

// designators passes over digits followed by letters of units, in their order, from i on.
func designators(s string, i int, units string) int {
	for len(units) > 0 {
		n := i
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == i || n == len(s) {
			return i
		}
		u := strings.IndexByte(units, s[n])
		if u < 0 {
			return i
		}
		i, units = n+1, units[u+1:]
	}
	return i
}

// uuidLen returns 36 if s begins with a UUID, else 0.
func uuidLen(s string) int {
	if matches(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
		return 36
	}
	return 0
}

// matches reports whether s begins with pattern, in which x is a hexadecimal digit and d a decimal one.
func matches(s, pattern string) bool {
	if len(s) < len(pattern) {
		return false
	}
	for i := 0; i < len(pattern); i++ {
		switch c := s[i]; pattern[i] {
		case 'x':
			if !isHex(c) {
				return false
			}
		case 'd':
			if !isDigit(c) {
				return false
			}
		case c:
		default:
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// equalFold compares ASCII text without regard to case; strings.EqualFold would let the Kelvin sign pass for a K.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] && (a[i]|0x20 != b[i]|0x20 || !isLetter(a[i])) {
			return false
		}
	}
	return true
}

// fold returns the name that an unquoted identifier stands for. It allocates only if there is something to change.
func fold(word string) string {
	for i := 0; i < len(word); i++ {
		if c := word[i]; c >= 'A' && c <= 'Z' {
			return strings.ToLower(word)
		}
	}
	return word
}

package ring

import "strings"

// kind is what a token is.
type kind byte

const (
	end    kind = iota
	word        // a name, or a keyword; without quotes in lower case
	quoted      // a name in double quotes
	text        // a string literal
	plain       // a number, a UUID, a blob
	marker      // ? or :name
	sign        // any other character
)

type token struct {
	kind kind
	text string
}

// is tells whether the token is a keyword, or a sign.
func (t token) is(s string) bool { return (t.kind == word || t.kind == sign) && t.text == s }

// named tells whether the token may be a name.
func (t token) named() bool { return t.kind == word || t.kind == quoted }

// lexer cuts a statement into tokens. It never fails: what is cut off in the middle ends with the text, and Cassandra
// refuses it.
type lexer struct {
	s string
	i int
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func inWord(c byte) bool { return letter(c) || digit(c) || c == '_' }

// next returns the next token.
func (l *lexer) next() token {
	l.skip()
	if l.i >= len(l.s) {
		return token{}
	}
	from, c := l.i, l.s[l.i]
	switch {
	case isUUID(l.s[l.i:]):
		l.i += 36
		return token{plain, l.s[from:l.i]}
	case c == '\'' || c == '"':
		k := text
		if c == '"' {
			k = quoted
		}
		return token{k, l.delimited(c)}
	case strings.HasPrefix(l.s[l.i:], "$$"):
		l.i += 2
		n := strings.Index(l.s[l.i:], "$$")
		if n < 0 {
			n = len(l.s) - l.i
		}
		t := token{text, l.s[l.i : l.i+n]}
		l.i = min(l.i+n+2, len(l.s))
		return t
	case letter(c):
		l.word()
		return token{word, strings.ToLower(l.s[from:l.i])}
	case digit(c) || (c == '-' && l.i+1 < len(l.s) && digit(l.s[l.i+1])):
		for l.i++; l.i < len(l.s) && (inWord(l.s[l.i]) || l.s[l.i] == '.'); {
			l.i++
		}
		return token{plain, l.s[from:l.i]}
	case c == '?':
		l.i++
		return token{marker, ""}
	case c == ':' && l.i+1 < len(l.s) && (letter(l.s[l.i+1]) || l.s[l.i+1] == '"'):
		l.i++
		name := l.next()
		return token{marker, name.text}
	}
	l.i++
	return token{sign, l.s[from:l.i]}
}

// peek returns the next token without stepping over it.
func (l *lexer) peek() token {
	at := *l
	return at.next()
}

func (l *lexer) word() {
	for l.i < len(l.s) && inWord(l.s[l.i]) {
		l.i++
	}
}

// delimited reads what stands between two delimiters; a double one inside stands for one.
func (l *lexer) delimited(c byte) string {
	l.i++
	from, doubled := l.i, false
	for l.i < len(l.s) {
		if l.s[l.i] != c {
			l.i++
			continue
		}
		if l.i+1 < len(l.s) && l.s[l.i+1] == c {
			doubled = true
			l.i += 2
			continue
		}
		break
	}
	s := l.s[from:min(l.i, len(l.s))]
	l.i = min(l.i+1, len(l.s))
	if doubled {
		d := string([]byte{c})
		s = strings.ReplaceAll(s, d+d, d)
	}
	return s
}

// skip steps over white space and comments.
func (l *lexer) skip() {
	for l.i < len(l.s) {
		rest := l.s[l.i:]
		var n int
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			n = 1
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
			n = strings.IndexAny(rest, "\r\n")
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest[2:], "*/"); n >= 0 {
				n += 4
			}
		default:
			return
		}
		if n < 0 {
			n = len(rest)
		}
		l.i += n
	}
}

func isUUID(s string) bool {
	if len(s) < 36 {
		return false
	}
	for i := range 36 {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !digit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return false
			}
		}
	}
	return true
}

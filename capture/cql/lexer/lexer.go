// Package lexer cuts the text of a CQL statement into tokens, as Cassandra's own lexer does.
//
// It imports the standard library only. A token is a kind, a code and two offsets, never a copy; a Lexer is a text and a
// position, so that a copy of it looks ahead, and reading allocates nothing.
//
// The server's lexer is generated: it decides between two kinds of token at the first character that only one of them
// allows, and does not come back. So some texts are errors although a shorter token would fit, and they are errors here too:
// "1AND" (only a UUID goes on with a letter A after a 1), "1NULL" (a duration in nanoseconds), "-name" (minus NaN),
// "12345678-1" (a UUID), "1e" (an exponent), a comment with two dashes that no line break ends. What it never decides wrongly
// are texts with white space around their words.
//
// Where it is thin: numbers that run on into hexadecimal digits and units alternately ("1d2e3") are read by rule of thumb.
package lexer

import "strings"

// Kind says what a token is.
type Kind uint8

// The kinds of token.
const (
	End    Kind = iota
	Bad         // characters, or a quotation or comment that is not closed, which no token begins with
	Word        // keyword or unquoted name
	Quoted      // "name"
	Empty       // "", the name that only columns of very old tables have
	String      // 'text' or $$text$$
	Integer
	Float // also NaN and Infinity
	Boolean
	Duration
	UUID
	Blob
	Symbol
)

var kindNames = [...]string{End: "end of text", Bad: "unexpected character", Word: "name", Quoted: "quoted name", Empty: "empty name",
	String: "string", Integer: "integer", Float: "float", Boolean: "boolean", Duration: "duration", UUID: "uuid", Blob: "blob", Symbol: "symbol"}

// String names the kind for an error message.
func (k Kind) String() string { return kindNames[k] }

// Codes of the symbols of more than one character; those of one character are their own code.
const (
	LessEqual    = 'l' // <=
	GreaterEqual = 'g' // >=
	NotEqual     = 'n' // !=
	Plus         = 'p' // +=
	Minus        = 'm' // -=
	Range        = 'r' // ..
	Expr         = 'e' // expr( of a custom index expression, one token in lower case without a blank
)

// Token is a piece of the source text.
type Token struct {
	Kind       Kind
	Code       byte    // of a Symbol
	Keyword    Keyword // of a Word that is a keyword, else 0
	Start, End int32   // in bytes
}

// Value reports whether the token is a constant.
func (t Token) Value() bool { return t.Kind >= String && t.Kind <= Blob }

// Is reports whether the token is the symbol of that code.
func (t Token) Is(code byte) bool { return t.Kind == Symbol && t.Code == code }

// Lexer cuts Source into tokens from Position on.
type Lexer struct {
	Source   string
	Position int
}

func (l *Lexer) at(i int) byte {
	if i < len(l.Source) {
		return l.Source[i]
	}
	return 0
}

// what a token may begin with
const (
	beginsBad = iota
	beginsSpace
	beginsWord
	beginsDigit
	beginsSymbol
	beginsOther // needs a look at what follows
)

var begins = func() (table [256]uint8) {
	for c := range table {
		switch c := byte(c); {
		case isLetter(c):
			table[c] = beginsWord
		case isDigit(c):
			table[c] = beginsDigit
		case strings.IndexByte(" \t\r\n", c) >= 0:
			table[c] = beginsSpace
		case strings.IndexByte("()[]{},;?:=*%", c) >= 0:
			table[c] = beginsSymbol
		case strings.IndexByte("-/'\"$.<>+!", c) >= 0:
			table[c] = beginsOther
		}
	}
	return table
}()

// Next returns the next token, passing over white space and comments.
func (l *Lexer) Next() Token {
	for l.Position < len(l.Source) {
		start := l.Position
		c := l.Source[start]
		switch begins[c] {
		case beginsSpace:
			l.Position++
			continue
		case beginsWord:
			return l.word()
		case beginsSymbol:
			l.Position++
			return l.symbol(start, c)
		case beginsDigit:
			return l.token(l.number(true), start)
		case beginsOther:
			if n := l.comment(); n > 0 {
				l.Position += n
				continue
			}
			return l.other(c)
		}
		l.Position++
		for l.at(l.Position) >= 0x80 {
			l.Position++
		}
		return l.token(Bad, start)
	}
	return Token{Kind: End, Start: int32(len(l.Source)), End: int32(len(l.Source))} //nolint:gosec // a request has less than 2 GiB
}

func (l *Lexer) token(kind Kind, start int) Token {
	return Token{Kind: kind, Start: int32(start), End: int32(l.Position)} //nolint:gosec // as above
}

func (l *Lexer) symbol(start int, code byte) Token {
	return Token{Kind: Symbol, Code: code, Start: int32(start), End: int32(l.Position)} //nolint:gosec // as above
}

// comment returns the length of the comment that begins here, 0 if none does. One that is not closed is none.
func (l *Lexer) comment() int {
	rest := l.Source[l.Position:]
	switch {
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
		return strings.IndexAny(rest, "\r\n") + 1
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			return n + 4
		}
	}
	return 0
}

// other reads a token that begins with c, of which the next character decides what it is.
func (l *Lexer) other(c byte) Token {
	start := l.Position
	next := l.at(start + 1)
	switch {
	case c == '\'':
		return l.token(l.quoted(c, String), start)
	case c == '"':
		kind := l.quoted(c, Quoted)
		if kind == Quoted && l.Position == start+2 {
			kind = Empty
		}
		return l.token(kind, start)
	case c == '$' && next == '$':
		if n := strings.Index(l.Source[start+2:], "$$"); n >= 0 {
			l.Position += n + 4
			return l.token(String, start)
		}
	case c == '-' && next != '-' && next != '=':
		return l.minus()
	case c == '.' && next == '.':
		return l.pair(Range)
	case next == '=' && c != '/' && c != '.' && c != '$':
		return l.pair(map[byte]byte{'<': LessEqual, '>': GreaterEqual, '!': NotEqual, '+': Plus, '-': Minus}[c])
	case strings.IndexByte("+<>.", c) >= 0, c == '/' && next != '/' && next != '*':
		l.Position++
		return l.symbol(start, c)
	case c == '!':
		l.Position++
		return l.token(Bad, start)
	}
	l.Position = len(l.Source)
	return l.token(Bad, start)
}

func (l *Lexer) pair(code byte) Token {
	l.Position += 2
	return l.symbol(l.Position-2, code)
}

func (l *Lexer) quoted(quote byte, kind Kind) Kind {
	for l.Position++; ; l.Position += 2 {
		n := strings.IndexByte(l.Source[l.Position:], quote)
		if n < 0 {
			l.Position = len(l.Source)
			return Bad
		}
		l.Position += n
		if l.at(l.Position+1) != quote {
			l.Position++
			return kind
		}
	}
}

// minus reads what begins with one minus sign: a minus directly before a digit belongs to the number, whatever stands before
// it, and before N, I and P it can only begin NaN, Infinity and a duration.
func (l *Lexer) minus() Token {
	start := l.Position
	l.Position++
	rest := l.Source[l.Position:]
	switch c := l.at(l.Position); {
	case isDigit(c):
		return l.token(l.number(false), start)
	case c|0x20 == 'n':
		return l.prefix(start, rest, "nan")
	case c|0x20 == 'i':
		return l.prefix(start, rest, "infinity")
	case c == 'P':
		n := periodLen(rest)
		l.Position += max(n, 1)
		if n == 0 {
			return l.token(Bad, start)
		}
		return l.token(Duration, start)
	}
	return l.symbol(start, '-')
}

func (l *Lexer) prefix(start int, rest, word string) Token {
	if len(rest) < len(word) || !EqualFold(rest[:len(word)], word) {
		l.Position++
		return l.token(Bad, start)
	}
	l.Position += len(word)
	return l.token(Float, start)
}

// word reads what begins with a letter.
func (l *Lexer) word() Token {
	src, start := l.Source, l.Position
	i, hash := start, uint32(0)
	for ; i < len(src); i++ {
		c := folded[src[i]]
		if c == 0 {
			break
		}
		hash = hash*hashFactor + uint32(c)
	}
	l.Position = i
	t := l.token(Word, start)
	switch {
	case i-start == 8 && l.at(i) == '-' && hexRun(src[start:i]) == 8:
		return l.token(l.uuid(start), start)
	case src[start] == 'P' && start+1 < i && (isDigit(src[start+1]) || src[start+1] == 'T'):
		if n := periodLen(src[start:]); n > 0 && start+n >= i {
			l.Position = start + n
			return l.token(Duration, start)
		} else if i-start == 5 && l.at(i) == '-' && matches(src[start+1:], "dddd") {
			l.Position++
			return l.token(Bad, start)
		}
	case l.at(i) == '(' && src[start:i] == "expr":
		l.Position++
		return l.symbol(start, Expr)
	}
	t.Keyword = find(hash, src[start:i])
	switch t.Keyword {
	case keywordTrue, keywordFalse:
		t.Kind = Boolean
	case keywordNaN, keywordInfinity:
		t.Kind = Float
	}
	return t
}

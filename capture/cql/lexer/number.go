package lexer

import "strings"

// uuid reads the UUID that begins at start and of which nothing else can be made any more.
func (l *Lexer) uuid(start int) Kind {
	if matches(l.Source[start:], uuidPattern) {
		l.Position = start + len(uuidPattern)
		return UUID
	}
	l.Position = start + 8
	return Bad
}

const uuidPattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

// number reads an integer, float, duration or, unless a minus sign stands before it, a blob or UUID from a digit on.
func (l *Lexer) number(unsigned bool) Kind {
	start := l.Position
	if unsigned {
		if l.Source[start] == '0' && l.at(start+1)|0x20 == 'x' {
			l.Position += 2
			for isHex(l.at(l.Position)) {
				l.Position++
			}
			return Blob
		}
		run := hexRun(l.Source[start:])
		if run == 8 && l.at(start+8) == '-' {
			if kind := l.uuid(start); kind == UUID || l.at(start+7)|0x20 != 'e' {
				return kind
			}
			l.Position = start
		}
	}
	l.digits()
	digits := l.Position - start
	if n := unitLen(l.Source[l.Position:]); n > 0 {
		return l.units(n)
	}
	switch c := l.at(l.Position) | 0x20; {
	case c == 'u', c == 'n', // of a duration in micro- or nanoseconds, and it goes on otherwise
		unsigned && digits < 8 && (c == 'a' || c == 'b' || c == 'c' || c == 'f'): // of a UUID
		return Bad
	}
	kind := Integer
	if l.at(l.Position) == '.' && (l.at(l.Position+1) != '.' || l.at(l.Position+2) == '.') {
		kind = Float
		l.Position++
		l.digits()
	}
	if l.at(l.Position)|0x20 == 'e' {
		n := l.Position + 1
		if c := l.at(n); c == '+' || c == '-' {
			n++
		}
		l.Position = n
		if !isDigit(l.at(n)) {
			return Bad
		}
		kind = Float
		l.digits()
		if unsigned && l.Position-start < 8 && hexRun(l.Source[start:l.Position]) == l.Position-start && isHex(l.at(l.Position)) {
			return Bad
		}
	}
	return kind
}

// units reads the rest of a duration, whose first unit has n bytes.
func (l *Lexer) units(n int) Kind {
	for {
		l.Position += n
		end := l.Position
		l.digits()
		if l.Position == end {
			if l.Source[end-1]|0x20 == 'd' && isHex(l.at(end)) {
				return Bad
			}
			return Duration
		}
		if n = unitLen(l.Source[l.Position:]); n == 0 {
			return Bad
		}
	}
}

func (l *Lexer) digits() {
	for isDigit(l.at(l.Position)) {
		l.Position++
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
		if i = designators(s, 1, "W"); i > 1 {
			return i
		}
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

// hexRun returns how many hexadecimal digits s begins with, 9 for more than 8.
func hexRun(s string) int {
	n := 0
	for n < len(s) && n < 9 && isHex(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// folded gives each byte that a word may have, letters in lower case, and 0 for the others.
var folded = func() (table [256]byte) {
	for c := range table {
		switch c := byte(c); {
		case isLetter(c):
			table[c] = c | 0x20
		case isDigit(c), c == '_':
			table[c] = c
		}
	}
	return table
}()

// EqualFold compares ASCII text without regard to case; strings.EqualFold would let the Kelvin sign pass for a K.
func EqualFold(a, b string) bool {
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

// Fold returns the name that an unquoted identifier stands for. It allocates only if there is something to change.
func Fold(word string) string {
	for i := 0; i < len(word); i++ {
		if c := word[i]; c >= 'A' && c <= 'Z' {
			return strings.ToLower(word)
		}
	}
	return word
}

package cql

import "github.com/helenus-db/helenus/capture/cql/lexer"

// AppendShape appends a SELECT, INSERT, UPDATE or DELETE as its tokens with only the kind of each value: words in lower case,
// quoted names as they are, nothing of white space and comments. Texts of one shape have one fingerprint, and both
// parse or neither does; the reverse does not hold (a list of two values and one of three are two shapes). So a shape that was parsed once
// tells the fingerprint of the next text at the price of the lexer, without a tree. It holds no value, but the size of a
// vector, which is a part of its type.
//
// false is returned for what has to be parsed: other statements, and what the lexer refuses.
func AppendShape(b []byte, text string) ([]byte, bool) {
	l := lexer.Lexer{Source: text}
	t := l.Next()
	if t.Kind != lexer.Word || !modification(text[t.Start:t.End]) {
		return b, false
	}
	// Each token says by its first byte what it is, and where it ends: a word by a blank, a quoted name by its quotes, the others
	// are two bytes long.
	for t.Kind != lexer.End {
		next := l.Next()
		switch {
		case t.Kind == lexer.Bad:
			return b, false
		case t.Kind == lexer.Word:
			for i := t.Start; i < t.End; i++ {
				b = append(b, text[i]|0x20) // of letters, digits and "_" it makes different ones but for their case
			}
			b = append(b, ' ')
		case t.Kind == lexer.Symbol:
			b = append(b, 1, t.Code)
		case t.Kind == lexer.Integer && next.Is('>'): // vector<float, 3>
			b = append(b, 2)
			b = append(b, text[t.Start:t.End]...)
			b = append(b, ' ')
		case t.Value():
			b = append(b, 3, byte(t.Kind))
		default: // a quoted name
			b = append(b, text[t.Start:t.End]...)
		}
		t = next
	}
	return b, true
}

// modification tells whether a statement that begins with a word reads or changes rows, for all that the word says.
func modification(word string) bool {
	return len(word) == 6 && (lexer.EqualFold(word, "select") || lexer.EqualFold(word, "insert") ||
		lexer.EqualFold(word, "update") || lexer.EqualFold(word, "delete"))
}

package workload

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is the greatest length of a statement's text, bytes.
const longest = 1 << 16

// SyntaxError says where a text is not a statement of the language.
type SyntaxError struct {
	Text   string
	Offset int // bytes
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column(), e.Reason) }

// Column counts runes from 1.
func (e *SyntaxError) Column() int {
	return utf8.RuneCountInString(e.Text[:min(e.Offset, len(e.Text))]) + 1
}

type tokenKind byte

const (
	end tokenKind = iota
	word
	mark // ? or ?name
	literal
	symbol
)

type token struct {
	kind   tokenKind
	text   string
	offset int
}

// lex cuts a text into tokens; the last is of kind end.
func lex(text string) ([]token, error) {
	if len(text) > longest {
		return nil, &SyntaxError{Text: text, Offset: longest, Reason: fmt.Sprintf("a statement has at most %d bytes", longest)}
	}
	var tokens []token
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		start := i
		kind := symbol
		switch {
		case unicode.IsSpace(r):
			i += size
			continue
		case strings.HasPrefix(text[i:], "--"): // a comment, to the end of the line
			if i = strings.IndexByte(text[start:], '\n'); i < 0 {
				i = len(text) - start
			}
			i += start
			continue
		case isLetter(r):
			kind, i = word, wordEnd(text, i)
		case r == '?':
			kind, i = mark, wordEnd(text, i+1)
		case r == '\'':
			kind = literal
			if i = stringEnd(text, i); i < 0 {
				return nil, &SyntaxError{Text: text, Offset: start, Reason: "the string has no end"}
			}
		case unicode.IsDigit(r) || r == '-' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			kind, i = literal, i+size
			for i < len(text) && (text[i] == '.' || text[i] >= '0' && text[i] <= '9') {
				i++
			}
		case (r == '<' || r == '>' || r == '!') && i+1 < len(text) && text[i+1] == '=':
			i += 2
		case r == '.' || r == ',' || r == '(' || r == ')' || r == '=' || r == '<' || r == '>' || r == '*':
			i++
		default:
			return nil, &SyntaxError{Text: text, Offset: i, Reason: fmt.Sprintf("unexpected %q", r)}
		}
		tokens = append(tokens, token{kind, text[start:i], start})
	}
	return append(tokens, token{kind: end, offset: len(text)}), nil
}

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func wordEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	return i
}

// stringEnd returns the offset after a string that begins at i, -1 if it has no end. Two quotes stand for one.
func stringEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		if text[i] != '\'' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '\'' {
			i++
			continue
		}
		return i + 1
	}
	return -1
}

package workload

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helenus-db/helenus/advisor/model"
)

// longest is the greatest length of a statement's text, bytes.
const longest = 1 << 16

// SyntaxError says where a text is not a statement of the language.
type SyntaxError struct {
	Text   string
	Offset int // bytes
	Length int // of what is wrong, bytes; 0: a place
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column(), e.Reason) }

// Column counts runes from 1.
func (e *SyntaxError) Column() int {
	return utf8.RuneCountInString(e.Text[:min(e.Offset, len(e.Text))]) + 1
}

// Underlined is the line of the text that is wrong, with what is wrong underlined; a long line is cut on both sides.
func (e *SyntaxError) Underlined() string {
	start := strings.LastIndexByte(e.Text[:min(e.Offset, len(e.Text))], '\n') + 1
	line, _, _ := strings.Cut(e.Text[start:], "\n")
	return model.Underline(line, e.Offset-start, e.Length)
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

// isValue tells whether t can be compared with or assigned.
func (t token) isValue() bool { return t.kind == mark || t.kind == literal }

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
			if next := wordEnd(text, i+1); i < len(text) && text[i] == '#' && next > i+1 {
				i = next // a numbered occurrence: Room#2
			}
		case r == '?':
			kind, i = mark, wordEnd(text, i+1)
		case r == '\'':
			kind = literal
			if i = stringEnd(text, i); i < 0 {
				return nil, &SyntaxError{Text: text, Offset: start, Length: len(text) - start, Reason: "the string has no end"}
			}
		case unicode.IsDigit(r) || r == '-' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			kind, i = literal, i+size
			for i < len(text) && (text[i] == '.' || text[i] >= '0' && text[i] <= '9') {
				i++
			}
		case (r == '<' || r == '>' || r == '!') && i+1 < len(text) && text[i+1] == '=', strings.HasPrefix(text[i:], "<>"):
			i += 2
		case strings.ContainsRune(".,()=<>*+-", r):
			i++
		default:
			return nil, &SyntaxError{Text: text, Offset: i, Length: size, Reason: fmt.Sprintf("unexpected %q", r)}
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

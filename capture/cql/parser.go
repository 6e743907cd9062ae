package cql

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// MaxDepth is how deep terms, types and brackets may nest, and how long a chain of operators or of fields may be.
const MaxDepth = 200

// Version says which server's grammar a text is read by.
type Version uint8

// The versions.
const (
	Latest Version = iota // all that any version knows: that of 5.0 with BETWEEN and the NOT operators of later ones
	V41                   // Cassandra 4.0 and 4.1
	V50                   // Cassandra 5.0
)

// Parse reads one statement of any version, with any number of semicolons after it. The error is a *SyntaxError. The tree
// refers to the memory of text.
func Parse(text string) (Statement, error) { return ParseAs(text, Latest) }

// ParseAs reads a statement as servers of one version do: it accepts what they accept.
func ParseAs(text string, version Version) (Statement, error) {
	p := parser{src: text, lexer: lexer.Lexer{Source: text}, version: version}
	p.next()
	st := p.statement()
	for p.accept(';') {
	}
	if p.tok.Kind != lexer.End {
		p.fail("end of statement")
	}
	if !utf8.ValidString(text) {
		p.err = &SyntaxError{Offset: invalidAt(text), Found: "invalid UTF-8", Expected: "UTF-8"}
	}
	if p.err != nil {
		// Only now, not at every trial that failed, because it reads the text from its beginning.
		before := text[:p.err.Offset]
		p.err.Line = 1 + strings.Count(before, "\n")
		p.err.Column = len(before) - strings.LastIndexByte(before, '\n')
		return nil, p.err
	}
	return st, nil
}

// invalidAt returns where a text stops being UTF-8.
func invalidAt(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size < 2 {
				return i
			}
		}
	}
	return len(text)
}

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

// parser holds one token of look-ahead, and sometimes one more. A copy of it is a state to go back to.
type parser struct {
	src      string
	lexer    lexer.Lexer
	tok      lexer.Token
	ahead    lexer.Token // the token after tok, if hasAhead
	hasAhead bool
	version  Version
	depth    int
	markers  int
	scanned  int // tokens looked at by slices
	nodes    nodes
	err      *SyntaxError // the first; after it tok is lexer.End for good
}

// nodes are where the commonest parts of a tree are taken from, several at a time.
type nodes struct {
	columns  slab[ColumnRef]
	literals slab[Literal]
	markers  slab[Marker]
	names    slab[[1]string]
}

// slab hands out parts of a piece of memory: first a small one, then larger ones, so that it wastes less than it hands out.
type slab[T any] struct {
	free []T
	size int
}

func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.size = min(max(2*s.size, 4), 64)
		s.free = make([]T, s.size)
	}
	t := &s.free[0]
	s.free = s.free[1:]
	return t
}

// scan reads a token of the version: what is a keyword only in others is a name.
func (p *parser) scan(l *lexer.Lexer) lexer.Token {
	t := l.Next()
	if t.Keyword != 0 && p.version != Latest {
		if c := t.Keyword.Class(); c&lexer.Later != 0 || p.version == V41 && c&lexer.Since50 != 0 {
			t.Keyword = 0
		}
	}
	return t
}

func (p *parser) next() {
	switch {
	case p.err != nil:
	case p.hasAhead:
		p.tok, p.hasAhead = p.ahead, false
		p.lexer.Position = int(p.tok.End)
	default:
		p.tok = p.scan(&p.lexer)
	}
}

// peek returns the token after tok.
func (p *parser) peek() lexer.Token {
	if !p.hasAhead {
		l := p.lexer
		p.ahead, p.hasAhead = p.scan(&l), true
	}
	return p.ahead
}

// after returns the token after t.
func (p *parser) after(t lexer.Token) lexer.Token {
	l := lexer.Lexer{Source: p.src, Position: int(t.End)}
	return p.scan(&l)
}

func (p *parser) text(t lexer.Token) string { return p.src[t.Start:t.End] }

// fail records the first error and ends the text.
func (p *parser) fail(expected string) {
	if p.err != nil {
		return
	}
	p.err = &SyntaxError{Offset: int(p.tok.Start), Found: p.found(), Expected: expected}
	p.tok = lexer.Token{Kind: lexer.End, Start: p.end(), End: p.end()}
	p.hasAhead, p.lexer.Position = false, len(p.src)
}

func (p *parser) end() int32 { return int32(len(p.src)) } //nolint:gosec // a request has less than 2 GiB

// found describes the current token without telling a literal.
func (p *parser) found() string {
	text := p.text(p.tok)
	switch p.tok.Kind {
	case lexer.Symbol:
		return "'" + text + "'"
	case lexer.Word:
		if p.tok.Keyword != 0 {
			return strings.ToUpper(text)
		}
	case lexer.Bad:
		if strings.IndexByte(`'"$/-`, text[0]) >= 0 {
			return "unclosed " + text[:1]
		}
	}
	return p.tok.Kind.String()
}

// nested counts a step down and reports whether it is one too many.
func (p *parser) nested() bool {
	p.depth++
	if p.depth > MaxDepth {
		p.fail("less nesting")
		return true
	}
	return false
}

func (p *parser) is(symbol byte) bool { return p.tok.Is(symbol) }

func (p *parser) accept(symbol byte) bool {
	if !p.tok.Is(symbol) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(symbol byte) {
	if !p.accept(symbol) {
		p.fail("'" + string(rune(symbol)) + "'")
	}
}

func (p *parser) isWord(word string) bool { return wordAt(p.tok, word) }

// wordAt reports whether t is a keyword, which is given in upper case.
func wordAt(t lexer.Token, word string) bool { return t.Keyword != 0 && t.Keyword.Upper() == word }

// acceptWords passes over the words if all of them come next. Only one token of look-ahead is needed by the grammar
// after the first word, so the second decides.
func (p *parser) acceptWords(words ...string) bool {
	if !p.isWord(words[0]) || len(words) > 1 && !wordAt(p.peek(), words[1]) {
		return false
	}
	p.expectWords(words...)
	return true
}

func (p *parser) expectWords(words ...string) {
	for _, w := range words {
		if !p.isWord(w) {
			p.fail(w)
			return
		}
		p.next()
	}
}

// isName reports whether t may be a name.
func isName(t lexer.Token) bool {
	return t.Kind == lexer.Quoted || t.Kind == lexer.Word && t.Keyword.Class()&lexer.Reserved == 0
}

// isColumn reports whether t may be a column's name, which unlike any other name may be empty, as some tables of old have one.
func isColumn(t lexer.Token) bool { return isName(t) || t.Kind == lexer.Empty }

func (p *parser) name(what string) string {
	if !isName(p.tok) {
		p.fail(what)
		return ""
	}
	name := p.nameOf(p.tok)
	p.next()
	return name
}

func (p *parser) nameOf(t lexer.Token) string {
	text := p.text(t)
	if t.Kind == lexer.Quoted {
		return unquote(text[1:len(text)-1], `"`)
	}
	return lexer.Fold(text)
}

func unquote(text, quote string) string {
	if strings.Contains(text, quote) {
		return strings.ReplaceAll(text, quote+quote, quote)
	}
	return text
}

// column reads a column's name where it may be empty.
func (p *parser) column() string {
	if p.tok.Kind == lexer.Empty {
		p.next()
		return ""
	}
	return p.name("column")
}

// columns reads (column, ...).
func (p *parser) columns() []string {
	p.expect('(')
	columns := []string{p.column()}
	for p.accept(',') {
		columns = append(columns, p.column())
	}
	p.expect(')')
	return columns
}

func (p *parser) table() TableRef { return p.qualified("table") }

// qualified reads a name with or without its keyspace.
func (p *parser) qualified(what string) TableRef {
	first := p.name(what)
	if p.accept('.') {
		return TableRef{first, p.name(what)}
	}
	return TableRef{Table: first}
}

// stringLiteral reads a string and returns what it says.
func (p *parser) stringLiteral() string {
	if p.tok.Kind != lexer.String {
		p.fail("string")
		return ""
	}
	l, _ := p.literal().(*Literal)
	return l.Text
}

func (p *parser) ifNotExists() bool { return p.acceptIf("NOT", "EXISTS") }

func (p *parser) ifExists() bool { return p.acceptIf("EXISTS") }

func (p *parser) acceptIf(words ...string) bool {
	if !p.isWord("IF") {
		return false
	}
	p.next()
	p.expectWords(words...)
	return p.err == nil
}

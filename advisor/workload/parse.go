package workload

import (
	"errors"
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// Parse reads a statement. Errors are *SyntaxError; where a name is not known it wraps a *model.NameError.
func Parse(g *model.Graph, text string) (*Statement, error) { return parse(g, text, false) }

// ParseLoosely reads a statement as Parse does, but lets a grouped query be ordered by what has several values in a group,
// as files of other tools do. Such a query means nothing until that is taken out.
func ParseLoosely(g *model.Graph, text string) (*Statement, error) { return parse(g, text, true) }

func parse(g *model.Graph, text string, loose bool) (*Statement, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{graph: g, text: text, tokens: tokens, loose: loose, scope: model.Scope{Graph: g}}
	s := &Statement{}
	switch verb := p.next(); strings.ToUpper(verb.text) {
	case "SELECT":
		s.Query, err = p.query()
	case "INSERT":
		s.Write, err = p.insert()
	case "UPDATE":
		s.Write, err = p.update()
	case "DELETE":
		s.Write, err = p.remove()
	case "CONNECT":
		s.Write, err = p.connect(Connect, "TO")
	case "DISCONNECT":
		s.Write, err = p.connect(Disconnect, "FROM")
	default:
		err = p.wrong(verb, "expected SELECT, INSERT, UPDATE, DELETE, CONNECT or DISCONNECT")
	}
	if err == nil && p.take("GIVEN") {
		var given []model.Field
		if given, err = p.given(); s.Write != nil {
			s.Write.Given = given
		} else if err == nil {
			s.Query.Known = given
		}
	}
	if err == nil && p.peek().kind != end {
		err = p.wrong(p.peek(), "unexpected %q", p.peek().text)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

type parser struct {
	graph  *model.Graph
	text   string
	tokens []token
	at     int

	loose bool // ORDER BY may name what GROUP BY does not

	scope model.Scope
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// take steps over a keyword or symbol if it comes next.
func (p *parser) take(text string) bool {
	if t := p.peek(); (t.kind == word || t.kind == symbol) && strings.EqualFold(t.text, text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if p.take(text) {
		return nil
	}
	if t := p.peek(); t.kind != end {
		return p.wrong(t, "expected %s, not %q", text, t.text)
	}
	return p.wrong(p.peek(), "expected %s", text)
}

func (p *parser) wrong(t token, format string, args ...any) error {
	return &SyntaxError{Text: p.text, Offset: t.offset, Length: len(t.text), Reason: fmt.Sprintf(format, args...)}
}

// unknown wraps an error about a name with its place.
func (p *parser) unknown(t token, err error) error {
	var name *model.NameError
	if errors.As(err, &name) {
		return &placed{SyntaxError{Text: p.text, Offset: t.offset, Length: len(t.text), Reason: err.Error()}, err}
	}
	return p.wrong(t, "%s", err)
}

// placed is a SyntaxError with a cause.
type placed struct {
	SyntaxError
	cause error
}

func (e *placed) Unwrap() []error { return []error{&e.SyntaxError, e.cause} }

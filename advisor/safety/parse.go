package safety

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helenus-db/helenus/advisor/model"
)

// The most that a text may have, so that nothing that is read can bloat the process.
const (
	maxText  = 16 << 20
	maxDepth = 200
)

// Is reports whether a text is a grammar rather than YAML: after comments it begins with a production, a write or a fact.
func Is(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		if i := strings.Index(line, "--"); i >= 0 {
			line = line[:i]
		}
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		return strings.Contains(line, "::=") || strings.HasPrefix(line, "put") || strings.HasPrefix(line, "del") || strings.HasPrefix(line, "fd")
	}
	return false
}

// Parse reads a grammar; file is for messages. Errors are *model.FileError with line and column.
func Parse(file string, data []byte) (*Grammar, error) {
	if len(data) > maxText {
		return nil, &model.FileError{File: file, Reason: "the file is larger than 16 MiB"}
	}
	p := &parser{text: string(data)}
	if !utf8.ValidString(p.text) {
		return nil, &model.FileError{File: file, Reason: "this is no text in UTF-8"}
	}
	g, err := p.parseGrammar()
	if err == nil {
		err = g.Validate()
	}
	var bad *problem
	if !errors.As(err, &bad) {
		return g, err
	}
	from := strings.LastIndexByte(p.text[:bad.at], '\n') + 1
	line, _, _ := strings.Cut(p.text[from:], "\n")
	return nil, &model.FileError{File: file, Line: 1 + strings.Count(p.text[:bad.at], "\n"), Column: 1 + utf8.RuneCountInString(p.text[from:bad.at]),
		Length: bad.length, Reason: bad.reason, Underlined: model.Underline(line, bad.at-from, max(1, bad.length))}
}

// token is a word, a quoted constant, or a sign. A line that begins in the first column begins a new item.
type token struct {
	kind  byte // 'w' word, 'c' constant, 's' sign, 0 the end
	text  string
	at    int
	begin bool // the first of its line
}

type parser struct {
	text  string
	pos   int
	tok   token
	ahead []token
	depth int
}

// isName reports whether a variable can be written without brackets.
func isName(s string) bool {
	for _, r := range s {
		if !isLetter(r) || r == '.' || r == '#' {
			return false
		}
	}
	return s != ""
}

func isLetter(r rune) bool {
	return r == '_' || r == '.' || r == '#' || r == '-' || r == '’' || r == '′' || r != 'ε' && unicode.IsLetter(r) || unicode.IsDigit(r)
}

var signs = []string{"::=", "->", "→", "∈", "(", ")", "[", "]", "|", "*", "+", "?", ",", ":", "ε", "ǫ", "="}

// scan reads the next token. A name may end in apostrophes: u'. A constant is in apostrophes, and does not begin after a name.
func (p *parser) scan() (token, error) {
	begin := p.pos == 0
	for p.pos < len(p.text) {
		rest := p.text[p.pos:]
		if strings.HasPrefix(rest, "--") {
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.pos += end
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		if !unicode.IsSpace(r) {
			break
		}
		begin = begin || r == '\n'
		p.pos += n
	}
	start := p.pos
	if start == len(p.text) {
		return token{at: start, begin: true}, nil
	}
	rest := p.text[start:]
	if rest[0] == '\'' {
		return p.scanQuoted(begin)
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			p.pos += len(s)
			return token{'s', s, start, begin}, nil
		}
	}
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		if !isLetter(r) || r == '-' && (strings.HasPrefix(p.text[p.pos:], "->") || strings.HasPrefix(p.text[p.pos:], "--")) {
			break
		}
		p.pos += n
	}
	if p.pos == start {
		r, _ := utf8.DecodeRuneInString(rest)
		return token{}, problemAt(start, string(r), "%q has no meaning here", r)
	}
	for p.pos < len(p.text) && p.text[p.pos] == '\'' {
		p.pos++
	}
	word := strings.NewReplacer("’", "'", "′", "'").Replace(p.text[start:p.pos])
	return token{'w', word, start, begin}, nil
}

func (p *parser) scanQuoted(begin bool) (token, error) {
	start := p.pos
	var b strings.Builder
	for i := start + 1; i < len(p.text); i++ {
		switch {
		case p.text[i] == '\n':
			return token{}, problemAt(start, "'", "the constant does not end on its line")
		case p.text[i] != '\'':
			b.WriteByte(p.text[i])
		case strings.HasPrefix(p.text[i:], "''"):
			b.WriteByte('\'')
			i++
		default:
			p.pos = i + 1
			return token{'c', b.String(), start, begin}, nil
		}
	}
	return token{}, problemAt(start, "'", "the constant does not end")
}

func (p *parser) next() error {
	if len(p.ahead) > 0 {
		p.tok, p.ahead = p.ahead[0], p.ahead[1:]
		return nil
	}
	t, err := p.scan()
	p.tok = t
	return err
}

// peek returns the token after the current one.
func (p *parser) peek() (token, error) {
	if len(p.ahead) == 0 {
		t, err := p.scan()
		if err != nil {
			return t, err
		}
		p.ahead = append(p.ahead, t)
	}
	return p.ahead[0], nil
}

func (p *parser) is(sign string) bool { return p.tok.kind == 's' && p.tok.text == sign }

func (p *parser) expect(what string) error {
	if p.is(what) {
		return p.next()
	}
	return p.unexpected(what)
}

func (p *parser) unexpected(want string) error {
	if p.tok.kind == 0 {
		return problemAt(p.tok.at, "", "the text ends where %s should stand", want)
	}
	return problemAt(p.tok.at, p.tok.text, "found %s where %s should stand", p.tok.text, want)
}

// atItem reports whether the current token begins a production, a write or a fact.
func (p *parser) atItem() bool {
	if p.tok.kind != 'w' || !p.tok.begin {
		return p.tok.kind == 0
	}
	if p.tok.text == "root" || p.tok.text == "fd" || isVerb(p.tok.text) {
		return true
	}
	line, _, _ := strings.Cut(p.text[p.tok.at:], "\n")
	code, _, _ := strings.Cut(line, "--")
	head, _, ok := strings.Cut(code, "::=")
	head = strings.TrimSpace(head)
	return ok && (strings.Count(head, "(") == 1 && strings.HasSuffix(head, ")") || len(strings.Fields(head)) == 1 && !strings.Contains(head, "("))
}

func isVerb(word string) bool {
	return word == "put" || word == "del" || strings.HasPrefix(word, "put_") || strings.HasPrefix(word, "del_")
}

func (p *parser) parseGrammar() (*Grammar, error) {
	g := &Grammar{}
	if err := p.next(); err != nil {
		return nil, err
	}
	for p.tok.kind != 0 {
		if p.tok.kind != 'w' {
			return nil, p.unexpected("a production, a write or a fact")
		}
		var err error
		switch word := p.tok.text; {
		case word == "fd":
			err = p.parseFact(g)
		case isVerb(word):
			err = p.parseWrite(g)
		default:
			err = p.parseProduction(g)
		}
		if err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (p *parser) parseName(what string) (string, error) {
	if p.tok.kind != 'w' {
		return "", p.unexpected(what)
	}
	name := p.tok.text
	return name, p.next()
}

func (p *parser) parseProduction(g *Grammar) error {
	at := p.tok.at
	kind, err := p.parseName("a kind")
	if err != nil {
		return err
	}
	prod := &Production{Kind: kind, at: at}
	if p.is("(") {
		args, err := p.parseArgs()
		if err != nil {
			return err
		}
		for _, a := range args {
			if a.kind != variable {
				return problemAt(at, kind, "the parameters of %s are variables, not %s", kind, a)
			}
			prod.Params = append(prod.Params, a.Name)
		}
	}
	if err := p.expect("::="); err != nil {
		return err
	}
	if prod.Body, err = p.parseAlternatives(); err != nil {
		return err
	}
	switch {
	case kind != "root" || prod.Params != nil:
		g.Productions = append(g.Productions, prod)
	case g.Root != nil:
		return problemAt(at, kind, "root has two productions; join them by |")
	default:
		g.Root = prod.Body
	}
	return nil
}

func (p *parser) parseAlternatives() (*Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, problemAt(p.tok.at, p.tok.text, "more than %d brackets in brackets", maxDepth)
	}
	defer func() { p.depth-- }()
	at := p.tok.at
	first, err := p.parseSequence()
	if err != nil {
		return nil, err
	}
	list := []*Expr{first}
	for p.is("|") {
		if err := p.next(); err != nil {
			return nil, err
		}
		e, err := p.parseSequence()
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	if len(list) == 1 {
		return first, nil
	}
	return &Expr{op: alt, Parts: list, at: at}, nil
}

// parseSequence reads what stands side by side. At its beginning, | and variables bind them: |a' articles(u, a').
func (p *parser) parseSequence() (*Expr, error) {
	at := p.tok.at
	if p.is("|") {
		return p.parseBinding()
	}
	var list []*Expr
	for !p.atItem() && !p.is("|") && !p.is(")") {
		if p.is(",") {
			if err := p.next(); err != nil {
				return nil, err
			}
			continue
		}
		e, err := p.parseRepeated()
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	switch len(list) {
	case 0:
		return nil, p.unexpected("a child, or ε for none,")
	case 1:
		return list[0], nil
	}
	return &Expr{op: seq, Parts: list, at: at}, nil
}

func (p *parser) parseBinding() (*Expr, error) {
	e := &Expr{op: bind, at: p.tok.at}
	for p.is("|") || p.is(",") {
		if err := p.next(); err != nil {
			return nil, err
		}
		v, err := p.parseName("a variable")
		if err != nil {
			return nil, err
		}
		if slices.Contains(e.Vars, v) {
			return nil, problemAt(e.at, v, "%s is bound twice", v)
		}
		e.Vars = append(e.Vars, v)
		if p.is("∈") || p.tok.kind == 'w' && p.tok.text == "in" {
			if err := p.next(); err != nil {
				return nil, err
			}
			if _, err := p.parseName("the set's name"); err != nil {
				return nil, err
			}
		}
	}
	if p.depth++; p.depth > maxDepth {
		return nil, problemAt(p.tok.at, p.tok.text, "more than %d brackets in brackets", maxDepth)
	}
	defer func() { p.depth-- }()
	body, err := p.parseSequence()
	e.Parts = []*Expr{body}
	return e, err
}

func (p *parser) parseRepeated() (*Expr, error) {
	e, err := p.parseSingle()
	for n := 0; err == nil && (p.is("*") || p.is("+") || p.is("?")); n++ {
		if n == 3 { // (e+)? is e*: more than two say nothing
			return nil, problemAt(p.tok.at, p.tok.text, "%s has no meaning after so many of *, + and ?", p.tok.text)
		}
		switch p.tok.text {
		case "*":
			e = Star(e)
		case "+":
			e = Plus(e)
		case "?":
			e = Option(e)
		}
		err = p.next()
	}
	return e, err
}

func (p *parser) parseSingle() (*Expr, error) {
	at := p.tok.at
	switch {
	case p.is("ε") || p.is("ǫ"):
		return &Expr{op: empty, at: at}, p.next()
	case p.is("("):
		if err := p.next(); err != nil {
			return nil, err
		}
		e, err := p.parseAlternatives()
		if err != nil {
			return nil, err
		}
		return e, p.expect(")")
	case p.tok.kind == 'w':
		e := &Expr{op: symbol, Kind: p.tok.text, at: at}
		err := p.next()
		if err == nil && p.is("(") {
			e.Args, err = p.parseArgs()
		}
		return e, err
	}
	return nil, p.unexpected("a child")
}

// parseArgs reads terms in round brackets; there may be none.
func (p *parser) parseArgs() ([]Term, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var list []Term
	for !p.is(")") {
		if len(list) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		t, err := p.parseTerm()
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, p.next()
}

func (p *parser) parseTerm() (Term, error) {
	if p.depth++; p.depth > maxDepth {
		return Term{}, problemAt(p.tok.at, p.tok.text, "more than %d brackets in brackets", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.is("*"):
		return Anyone(), p.next()
	case p.tok.kind == 'c':
		t := Const(p.tok.text)
		return t, p.next()
	}
	name, err := p.parseName("a variable, a 'constant' or a function")
	if err != nil || !p.is("(") {
		return Var(name), err
	}
	args, err := p.parseArgs()
	return Func(name, args...), err
}

// parseWrite reads put_u(kind(key), value), put[term](kind(key)), and the class after it.
func (p *parser) parseWrite(g *Grammar) error {
	w := &Write{at: p.tok.at, Delete: strings.HasPrefix(p.tok.text, "del")}
	owner := strings.TrimPrefix(p.tok.text[3:], "_")
	if err := p.next(); err != nil {
		return err
	}
	switch {
	case owner != "":
		w.Owner = Var(owner)
	case p.is("["):
		if err := p.next(); err != nil {
			return err
		}
		var err error
		if w.Owner, err = p.parseTerm(); err != nil {
			return err
		}
		if err := p.expect("]"); err != nil {
			return err
		}
	default:
		return p.unexpected("the writer, as in put_u or put[u],")
	}
	if err := p.expect("("); err != nil {
		return err
	}
	w.at = p.tok.at
	kind, err := p.parseName("a kind")
	if err != nil {
		return err
	}
	w.Kind = kind
	if p.is("(") {
		if w.Key, err = p.parseArgs(); err != nil {
			return err
		}
	}
	if p.is(",") { // the value, which plays no part
		if err := p.next(); err != nil {
			return err
		}
		if _, err := p.parseTerm(); err != nil {
			return err
		}
	}
	if err := p.expect(")"); err != nil {
		return err
	}
	if p.tok.kind == 'w' && !p.tok.begin {
		if w.Class = Class(p.tok.text); !slices.Contains(classes, w.Class) {
			return problemAt(p.tok.at, p.tok.text, "no class of writes is called %s; there are lwt, counter, modify, overwrite, append and view", p.tok.text)
		}
		if err := p.next(); err != nil {
			return err
		}
	}
	g.Writes = append(g.Writes, w)
	return nil
}

// parseFact reads fd name: a, b -> c. Without a name the function is called c_of. fd? is one that is only probable.
func (p *parser) parseFact(g *Grammar) error {
	f := Fact{at: p.tok.at}
	if err := p.next(); err != nil {
		return err
	}
	if p.is("?") {
		f.Probable = true
		if err := p.next(); err != nil {
			return err
		}
	}
	if after, err := p.peek(); err == nil && after.kind == 's' && after.text == ":" {
		if f.Name, err = p.parseName("a name"); err != nil {
			return err
		}
		if err := p.next(); err != nil {
			return err
		}
	}
	for len(f.From) == 0 || p.is(",") {
		if len(f.From) > 0 {
			if err := p.next(); err != nil {
				return err
			}
		}
		v, err := p.parseName("a variable")
		if err != nil {
			return err
		}
		f.From = append(f.From, v)
	}
	if !p.is("→") && !p.is("->") {
		return p.unexpected("->")
	}
	if err := p.next(); err != nil {
		return err
	}
	to, err := p.parseName("a variable")
	if err != nil {
		return err
	}
	if f.To = to; f.Name == "" {
		f.Name = to + "_of_" + strings.Join(f.From, "_")
	}
	g.Facts = append(g.Facts, f)
	return nil
}

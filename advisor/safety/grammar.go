package safety

import (
	"fmt"
	"slices"
	"strings"
)

// op is what an expression does with its parts.
type op int

const (
	empty  op = iota
	symbol    // one child
	seq
	alt
	repeat // any number of times
	plus   // at least once
	option
	bind // for any values of variables
	void // no word at all: what has no finite tree
)

// Expr is a regular expression over children.
type Expr struct {
	op    op
	Kind  string   // symbol
	Args  []Term   // symbol: variables and constants
	Vars  []string // bind
	Parts []*Expr
	at    int // byte offset in the text
}

// Empty is the expression of a leaf.
func Empty() *Expr { return &Expr{op: empty} }

// Child is one child. Variables that are neither parameters nor bound around it may have any value.
func Child(kind string, args ...Term) *Expr { return &Expr{op: symbol, Kind: kind, Args: args} }

// Seq is one after the other.
func Seq(parts ...*Expr) *Expr { return &Expr{op: seq, Parts: parts} }

// Alt is one of them.
func Alt(parts ...*Expr) *Expr { return &Expr{op: alt, Parts: parts} }

// Star is any number of times.
func Star(e *Expr) *Expr { return &Expr{op: repeat, Parts: []*Expr{e}} }

// Plus is at least once.
func Plus(e *Expr) *Expr { return &Expr{op: plus, Parts: []*Expr{e}} }

// Option is once or not at all.
func Option(e *Expr) *Expr { return &Expr{op: option, Parts: []*Expr{e}} }

// String writes the expression as the grammar's text has it.
func (e *Expr) String() string {
	part := func(i int) string {
		p := e.Parts[i]
		if (p.op == alt || p.op == seq) && len(p.Parts) > 0 || p.op == bind {
			return "(" + p.String() + ")"
		}
		return p.String()
	}
	var list []string
	for i := range e.Parts {
		list = append(list, part(i))
	}
	switch e.op {
	case symbol:
		return e.Kind + "(" + termsText(e.Args) + ")"
	case seq:
		if len(list) > 0 {
			return strings.Join(list, " ")
		}
	case alt:
		return strings.Join(list, " | ")
	case repeat:
		return list[0] + "*"
	case plus:
		return list[0] + "+"
	case option:
		return list[0] + "?"
	case bind:
		return "|" + strings.Join(e.Vars, ", ") + " " + list[0]
	}
	return "ε"
}

// Production says which children entities of a kind have.
type Production struct {
	Kind   string
	Params []string
	Body   *Expr
	at     int
}

// String writes kind(params) ::= body.
func (p *Production) String() string {
	return p.Kind + "(" + strings.Join(p.Params, ", ") + ") ::= " + p.Body.String()
}

// Class is what happens when two writers meet (section 4.1 of the design: K1 to K6).
type Class string

// The classes.
const (
	Unclassed Class = ""
	LWT       Class = "lwt"       // K1: ballots collide, writes time out or are refused
	Counter   Class = "counter"   // K2: the leader's lock, and a read before each write
	Modify    Class = "modify"    // K3: the application reads, then writes: lost updates
	Overwrite Class = "overwrite" // K4: of the same cell; the last one wins
	Append    Class = "append"    // K5: rows of their own: only throughput suffers
	View      Class = "view"      // K6: the lock of a table with materialised views
)

var classes = []Class{LWT, Counter, Modify, Overwrite, Append, View}

// effect says what concurrency of the class does, for people.
var effect = map[Class]string{
	Unclassed: "writes of one group are throttled, and fail if too many come at once",
	LWT:       "lightweight transactions of one partition collide: retries, and timeouts",
	Counter:   "counters are read and locked before each write: latency, and timeouts",
	Modify:    "lost updates: the last writer wins over what the other read",
	Overwrite: "the last writer wins, silently",
	Append:    "no failure, but one set of replicas takes all the writes",
	View:      "writes wait for the lock of the views' base partition",
}

// Write is a template of writes: put or del of a key on behalf of a writer.
type Write struct {
	ID     string // of the statement; "": the text says enough
	Delete bool
	Owner  Term
	Kind   string
	Key    []Term
	Class  Class
	at     int
}

// String writes put_owner(kind(key)).
func (w *Write) String() string {
	verb := "put"
	if w.Delete {
		verb = "del"
	}
	owner := "[" + w.Owner.String() + "]"
	if w.Owner.kind == variable && isName(w.Owner.Name) {
		owner = "_" + w.Owner.Name
	}
	s := verb + owner + "(" + w.Kind + "(" + termsText(w.Key) + "))"
	if w.Class != Unclassed {
		s += " " + string(w.Class)
	}
	return s
}

// Fact is a functional dependency between variables of one write: From determine To. It holds in every write that has all
// of them, and is the same function in all.
type Fact struct {
	Name     string // of the function
	From     []string
	To       string
	Probable bool // not confirmed: never used for SAFE, only for SAFE-IF
	at       int
}

// String writes fd name: from -> to.
func (f Fact) String() string {
	word := "fd"
	if f.Probable {
		word = "fd?"
	}
	return word + " " + f.Name + ": " + strings.Join(f.From, ", ") + " -> " + f.To
}

// equationIn returns the equation of a fact in a write with these variables, ok if it has them all.
func (f Fact) equationIn(vars map[string]bool) (left, right Term, ok bool) {
	args := make([]Term, len(f.From))
	for i, v := range f.From {
		if !vars[v] {
			return left, right, false
		}
		args[i] = Var(v)
	}
	return Var(f.To), Func(f.Name, args...), vars[f.To]
}

// Grammar is a schema of entity groups, with who writes what: productions, write templates and facts.
type Grammar struct {
	Root        *Expr // each child in it is what a group may have at its top
	Productions []*Production
	Writes      []*Write
	Facts       []Fact
}

// String writes the grammar as text that Parse reads.
func (g *Grammar) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "root ::= %s\n", g.Root)
	for _, p := range g.Productions {
		fmt.Fprintln(&b, p)
	}
	for _, f := range g.Facts {
		fmt.Fprintln(&b, f)
	}
	for _, w := range g.Writes {
		fmt.Fprintln(&b, w)
	}
	return b.String()
}

func (g *Grammar) productionOf(kind string) *Production {
	for _, p := range g.Productions {
		if p.Kind == kind {
			return p
		}
	}
	return nil
}

// problem is what is wrong with a grammar, and where in its text.
type problem struct {
	at     int
	length int
	reason string
}

func (p *problem) Error() string { return p.reason }

func problemAt(at int, name, format string, args ...any) error {
	return &problem{at, len(name), fmt.Sprintf(format, args...)}
}

// Validate returns the first thing that is wrong: kinds that are not defined, or twice, or used with another number of
// parameters; functions in keys of productions; names that are missing.
func (g *Grammar) Validate() error {
	if g.Root == nil {
		return problemAt(0, "", "there is no production for root: say what a group has at its top")
	}
	arity := map[string]int{}
	for _, p := range g.Productions {
		if _, twice := arity[p.Kind]; twice {
			return problemAt(p.at, p.Kind, "%s has two productions; join them by |", p.Kind)
		}
		if p.Kind == "root" {
			return problemAt(p.at, p.Kind, "root has no parameters")
		}
		arity[p.Kind] = len(p.Params)
		for i, v := range p.Params {
			if slices.Contains(p.Params[:i], v) {
				return problemAt(p.at, p.Kind, "%s has the parameter %s twice", p.Kind, v)
			}
		}
	}
	known := func(at int, kind string, n int) error {
		want, ok := arity[kind]
		switch {
		case !ok:
			return problemAt(at, kind, "there is no production for %s; known are %s", kind, strings.Join(g.kindNames(), ", "))
		case want != n:
			return problemAt(at, kind, "%s has %d parameters, not %d", kind, want, n)
		}
		return nil
	}
	var visit func(e *Expr) error
	visit = func(e *Expr) error {
		if e.op == symbol {
			for _, a := range e.Args {
				if a.kind == function || a.kind == anyone {
					return problemAt(e.at, e.Kind, "%s: a production's keys are made of variables and constants, not %s; say it in the writes", e.Kind, a)
				}
			}
			return known(e.at, e.Kind, len(e.Args))
		}
		for _, p := range e.Parts {
			if err := visit(p); err != nil {
				return err
			}
		}
		return nil
	}
	for _, e := range g.allBodies() {
		if err := visit(e); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(leavesOf(g.Root), func(l leaf) bool { return l.symbol != nil }) {
		return problemAt(g.Root.at, "", "root names no entity")
	}
	functions := map[string]int{}
	sameArity := func(at int, name string, n int) error {
		if was, ok := functions[name]; ok && was != n {
			return problemAt(at, name, "the function %s has %d arguments here and %d elsewhere", name, n, was)
		}
		functions[name] = n
		return nil
	}
	var inTerm func(at int, t Term) error
	inTerm = func(at int, t Term) error {
		if t.kind == function {
			if err := sameArity(at, t.Name, len(t.Args)); err != nil {
				return err
			}
		}
		for _, a := range t.Args {
			if a.kind == anyone {
				return problemAt(at, "", "* is no argument")
			}
			if err := inTerm(at, a); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range g.Facts {
		if err := sameArity(f.at, f.Name, len(f.From)); err != nil {
			return err
		}
		if len(f.From) == 0 {
			return problemAt(f.at, "", "%s is determined by nothing; write the constant instead", f.To)
		}
	}
	for _, w := range g.Writes {
		if err := known(w.at, w.Kind, len(w.Key)); err != nil {
			return err
		}
		for _, t := range append([]Term{w.Owner}, w.Key...) {
			if err := inTerm(w.at, t); err != nil {
				return err
			}
		}
		for _, t := range w.Key {
			if t.kind == anyone {
				return problemAt(w.at, w.Kind, "* may be a writer, not a part of a key")
			}
		}
	}
	return nil
}

func (g *Grammar) allBodies() []*Expr {
	list := []*Expr{g.Root}
	for _, p := range g.Productions {
		list = append(list, p.Body)
	}
	return list
}

func (g *Grammar) kindNames() []string {
	var names []string
	for _, p := range g.Productions {
		names = append(names, p.Kind)
	}
	slices.Sort(names)
	return names
}

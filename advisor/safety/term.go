package safety

import (
	"fmt"
	"strings"
)

// Sort of a term.
type termKind int

const (
	variable termKind = iota
	constant
	function
	anyone // ⊤: no one knows who
)

// Term is a variable, a constant, a function of terms, or Anyone.
type Term struct {
	kind termKind
	Name string
	Args []Term
}

// Var returns a variable.
func Var(name string) Term { return Term{kind: variable, Name: name} }

// Const returns a constant. Different constants are different values.
func Const(value string) Term { return Term{kind: constant, Name: value} }

// Func returns a function of terms: what they determine.
func Func(name string, args ...Term) Term { return Term{kind: function, Name: name, Args: args} }

// Anyone is the owner of a write that anyone may send.
func Anyone() Term { return Term{kind: anyone, Name: "*"} }

// String writes the term as the grammar's text has it.
func (t Term) String() string {
	switch t.kind {
	case constant:
		return "'" + strings.ReplaceAll(t.Name, "'", "''") + "'"
	case function:
		return t.Name + "(" + termsText(t.Args) + ")"
	}
	return t.Name
}

func termsText(list []Term) string {
	s := make([]string, len(list))
	for i, t := range list {
		s[i] = t.String()
	}
	return strings.Join(s, ", ")
}

// eachVar calls f for each variable in the term.
func (t Term) eachVar(f func(string)) {
	if t.kind == variable {
		f(t.Name)
	}
	for _, a := range t.Args {
		a.eachVar(f)
	}
}

// replace returns the term with variables replaced.
func (t Term) replace(f func(string) Term) Term {
	switch t.kind {
	case variable:
		return f(t.Name)
	case function:
		args := make([]Term, len(t.Args))
		for i, a := range t.Args {
			args[i] = a.replace(f)
		}
		t.Args = args
	}
	return t
}

// renamedApart returns the term with its variables renamed apart.
func (t Term) renamedApart(mark string) Term {
	return t.replace(func(v string) Term { return Var(v + mark) })
}

// size counts the symbols of a term.
func (t Term) size() int {
	n := 1
	for _, a := range t.Args {
		n += a.size()
	}
	return n
}

// closure decides which terms are equal, given equations: congruence closure over a union-find, with the applications that
// mention a class kept with it, so that each merge looks again at those only (Downey, Sethi and Tarjan, 1980). Different
// constants are never equal; if equations say so, they contradict each other.
type closure struct {
	byName  map[string]int // leaves by their text, applications by function and classes of arguments
	parent  []int
	term    []Term
	args    [][]int
	uses    [][]int // by class
	fixed   []int   // by class: the constant in it, or -1
	clashes bool
}

func newClosure() *closure { return &closure{byName: map[string]int{}} }

func (c *closure) find(n int) int {
	for c.parent[n] != n {
		c.parent[n] = c.parent[c.parent[n]]
		n = c.parent[n]
	}
	return n
}

// add returns the number of a term.
func (c *closure) add(t Term) int {
	args := make([]int, len(t.Args))
	for i, a := range t.Args {
		args[i] = c.find(c.add(a))
	}
	name := c.termKey(t, args)
	if n, ok := c.byName[name]; ok {
		return n
	}
	n := len(c.parent)
	c.byName[name] = n
	c.parent, c.term, c.args = append(c.parent, n), append(c.term, t), append(c.args, args)
	c.uses, c.fixed = append(c.uses, nil), append(c.fixed, -1)
	if t.kind == constant {
		c.fixed[n] = n
	}
	for _, a := range args {
		c.uses[a] = append(c.uses[a], n)
	}
	return n
}

func (c *closure) termKey(t Term, args []int) string {
	if t.kind != function {
		return string(rune('a'+int(t.kind))) + t.Name
	}
	var b strings.Builder
	b.WriteString("f" + t.Name)
	for _, a := range args {
		fmt.Fprintf(&b, ",%d", c.find(a))
	}
	return b.String()
}

// equate adds an equation.
func (c *closure) equate(s, t Term) {
	todo := [][2]int{{c.add(s), c.add(t)}}
	for len(todo) > 0 {
		a, b := c.find(todo[0][0]), c.find(todo[0][1])
		todo = todo[1:]
		if a == b {
			continue
		}
		if len(c.uses[a]) > len(c.uses[b]) {
			a, b = b, a
		}
		c.parent[a] = b
		if c.fixed[a] >= 0 {
			if c.fixed[b] >= 0 {
				c.clashes = true // two constants: each has one node
			}
			c.fixed[b] = c.fixed[a]
		}
		for _, n := range c.uses[a] {
			name := c.termKey(c.term[n], c.args[n])
			if other, ok := c.byName[name]; ok {
				todo = append(todo, [2]int{n, other})
			} else {
				c.byName[name] = n
			}
			c.uses[b] = append(c.uses[b], n)
		}
		c.uses[a] = nil
	}
}

// equal reports whether the equations make two terms equal.
func (c *closure) equal(s, t Term) bool { return c.find(c.add(s)) == c.find(c.add(t)) }

// smallestEqual returns the smallest term that is equal to t and whose variables are all allowed, if there is one. It is built up
// from the allowed leaves, so that a function of what is equal to an allowed term counts too.
func (c *closure) smallestEqual(t Term, allowed func(string) bool) (Term, bool) {
	best := map[int]Term{}
	for changed := true; changed; {
		changed = false
		for n, own := range c.term {
			switch own.kind {
			case variable:
				if !allowed(own.Name) {
					continue
				}
			case anyone:
				continue
			case function:
				args, ok := make([]Term, len(c.args[n])), true
				for i, a := range c.args[n] {
					if args[i], ok = best[c.find(a)]; !ok {
						break
					}
				}
				if !ok {
					continue
				}
				own = Func(own.Name, args...)
			}
			r := c.find(n)
			if old, ok := best[r]; !ok || own.size() < old.size() {
				best[r], changed = own, true
			}
		}
	}
	found, ok := best[c.find(c.add(t))]
	return found, ok
}

package safety

import (
	"fmt"
	"slices"
	"strings"
)

// leaf is one place in an expression that makes a child, with the way to it: expressions from the outermost on, and which
// part of each the way takes.
type leaf struct {
	symbol *Expr
	above  []*Expr
	taken  []int
}

func leavesOf(e *Expr) []leaf {
	var list []leaf
	var walk func(e *Expr, above []*Expr, taken []int)
	walk = func(e *Expr, above []*Expr, taken []int) {
		if e.op == symbol {
			list = append(list, leaf{e, slices.Clone(above), slices.Clone(taken)})
		}
		for i, p := range e.Parts {
			walk(p, append(above, e), append(taken, i))
		}
	}
	walk(e, nil, nil)
	return list
}

// shareWord reports whether two leaves can both occur in one word, as two children, and which variables they then share: those
// bound around what both are in. It asks for the outermost repetition around both, since what can differ between two of its
// rounds can differ in most ways; a pair within one round is a case of that.
func shareWord(a, b leaf) (shared map[string]bool, ok bool) {
	shared = map[string]bool{}
	for i, e := range a.above {
		switch e.op {
		case repeat, plus:
			return shared, true
		case bind:
			for _, v := range e.Vars {
				shared[v] = true
			}
		}
		if a.taken[i] != b.taken[i] {
			return shared, e.op == seq // alternatives exclude each other
		}
	}
	return nil, false // the same leaf, once
}

// normalForm returns the expression with each variable bound in one place, under a name of its own: those that are neither
// parameters nor bound are bound at their symbol. Kinds that have no finite tree are taken out.
func normalForm(e *Expr, params []string, productive map[string]bool) *Expr {
	n := 0
	var walk func(e *Expr, bound map[string]string) *Expr
	walk = func(e *Expr, bound map[string]string) *Expr {
		out := &Expr{op: e.op, Kind: e.Kind, at: e.at}
		fresh := func(v string) string {
			n++
			return fmt.Sprintf("%s·%d", v, n)
		}
		switch e.op {
		case symbol:
			if !productive[e.Kind] {
				return &Expr{op: void}
			}
			own := map[string]string{}
			var vars []string
			for _, t := range e.Args {
				out.Args = append(out.Args, t.replace(func(v string) Term {
					if as, ok := bound[v]; ok {
						return Var(as)
					}
					if own[v] == "" {
						own[v] = fresh(v)
						vars = append(vars, own[v])
					}
					return Var(own[v])
				}))
			}
			if len(vars) > 0 {
				return &Expr{op: bind, Vars: vars, Parts: []*Expr{out}, at: e.at}
			}
			return out
		case bind:
			inner := map[string]string{}
			for v, as := range bound {
				inner[v] = as
			}
			for _, v := range e.Vars {
				inner[v] = fresh(v)
				out.Vars = append(out.Vars, inner[v])
			}
			bound = inner
		}
		for _, p := range e.Parts {
			out.Parts = append(out.Parts, walk(p, bound))
		}
		return dropVoid(out)
	}
	bound := map[string]string{}
	for _, p := range params {
		bound[p] = p
	}
	return walk(e, bound)
}

// dropVoid takes void parts out.
func dropVoid(e *Expr) *Expr {
	isVoid := func(p *Expr) bool { return p.op == void }
	if !slices.ContainsFunc(e.Parts, isVoid) {
		return e
	}
	switch e.op {
	case repeat, option:
		return &Expr{op: empty}
	case alt:
		if e.Parts = slices.DeleteFunc(e.Parts, isVoid); len(e.Parts) > 0 {
			return e
		}
	}
	return &Expr{op: void}
}

// productiveHeights returns the kinds that have a finite tree, with the height of their least one.
func (g *Grammar) productiveHeights() map[string]int {
	height := map[string]int{}
	for round := 1; ; round++ {
		var found []string
		for _, p := range g.Productions {
			if height[p.Kind] == 0 && hasWord(p.Body, height) {
				found = append(found, p.Kind)
			}
		}
		if len(found) == 0 {
			return height
		}
		for _, k := range found {
			height[k] = round
		}
	}
}

// hasWord reports whether an expression has a word of the kinds.
func hasWord(e *Expr, height map[string]int) bool {
	switch e.op {
	case empty, repeat, option:
		return true
	case symbol:
		return height[e.Kind] > 0
	case alt:
		return slices.ContainsFunc(e.Parts, func(p *Expr) bool { return hasWord(p, height) }) || len(e.Parts) == 0
	case void:
		return false
	}
	return !slices.ContainsFunc(e.Parts, func(p *Expr) bool { return !hasWord(p, height) })
}

// node is a kind of node of derivable trees: its key is made of variables and constants, where equal variables mean equal
// values. chain is how it is reached: one leaf for each level.
type node struct {
	kind  string
	args  []Term
	chain []leaf
}

// shapeKey names the node up to the names of variables; those in fixed keep theirs.
func (n node) shapeKey(fixed map[string]bool) string {
	names := map[string]string{}
	var b strings.Builder
	b.WriteString(n.kind)
	for _, t := range n.args {
		t = t.replace(func(v string) Term {
			if fixed[v] {
				return Var(v)
			}
			if names[v] == "" {
				names[v] = fmt.Sprintf("·%d", len(names))
			}
			return Var(names[v])
		})
		b.WriteString("\x00" + t.String())
	}
	return b.String()
}

package safety

import (
	"strings"
	"testing"
)

// derivable reports whether a tree of named keys is a group of a grammar, by matching it with the productions: an
// interpreter of its own, which knows nothing of automata. The keys' values are what the tree's are.
func derivable(g *Grammar, t *Tree) bool {
	for _, l := range leavesOf(g.Root) {
		if l.symbol.Kind != kindOf(t) {
			continue
		}
		if env := match(l.symbol.Args, valuesOf(t), map[string]string{}); env != nil && below(g, t) {
			return true
		}
	}
	return false
}

func kindOf(t *Tree) string { kind, _, _ := strings.Cut(t.Key, "("); return kind }

func valuesOf(t *Tree) []string {
	_, rest, _ := strings.Cut(strings.TrimSuffix(t.Key, ")"), "(")
	if rest == "" {
		return nil
	}
	return strings.Split(rest, ", ")
}

// match binds variables so that terms are values, nil if they can not be.
func match(args []Term, values []string, env map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range env {
		out[k] = v
	}
	for i, a := range args {
		want := a.Name
		if a.kind == variable {
			if bound, ok := out[a.Name]; ok && bound != "" {
				want = bound
			} else {
				out[a.Name], want = values[i], values[i]
			}
		}
		if want != values[i] {
			return nil
		}
	}
	return out
}

// below reports whether the children of a node match its production, and theirs.
func below(g *Grammar, t *Tree) bool {
	p := g.productionOf(kindOf(t))
	env := map[string]string{}
	for i, v := range p.Params {
		env[v] = valuesOf(t)[i]
	}
	ok := false
	spelled(p.Body, env, t.Children, func(_ map[string]string, rest []*Tree) bool {
		ok = ok || len(rest) == 0
		return ok
	})
	for _, c := range t.Children {
		ok = ok && below(g, c)
	}
	return ok
}

// spelled calls then with what is left of the children after each way to match the expression, until it returns true.
// Variables that a bind introduces are bound by the first symbol that has them.
func spelled(e *Expr, env map[string]string, kids []*Tree, then func(map[string]string, []*Tree) bool) bool {
	switch e.op {
	case empty:
		return then(env, kids)
	case symbol:
		if len(kids) == 0 || kindOf(kids[0]) != e.Kind {
			return false
		}
		after := match(e.Args, valuesOf(kids[0]), env)
		if after == nil {
			return false
		}
		for v := range after { // what was not bound is bound for this symbol only
			if _, ok := env[v]; !ok {
				delete(after, v)
			}
		}
		return then(after, kids[1:])
	case seq:
		if len(e.Parts) == 0 {
			return then(env, kids)
		}
		rest := &Expr{op: seq, Parts: e.Parts[1:]}
		return spelled(e.Parts[0], env, kids, func(env map[string]string, left []*Tree) bool { return spelled(rest, env, left, then) })
	case alt:
		for _, p := range e.Parts {
			if spelled(p, env, kids, then) {
				return true
			}
		}
		return false
	case option:
		return then(env, kids) || spelled(e.Parts[0], env, kids, then)
	case plus:
		return spelled(e.Parts[0], env, kids, func(env map[string]string, left []*Tree) bool {
			return spelled(Star(e.Parts[0]), env, left, then)
		})
	case repeat:
		return then(env, kids) || spelled(e.Parts[0], env, kids, func(env map[string]string, left []*Tree) bool {
			return len(left) < len(kids) && spelled(e, env, left, then)
		})
	case bind:
		inner := map[string]string{}
		for k, v := range env {
			inner[k] = v
		}
		for _, v := range e.Vars {
			inner[v] = "" // not yet known
		}
		return spelled(e.Parts[0], inner, kids, func(after map[string]string, left []*Tree) bool {
			outer := map[string]string{}
			for k := range env {
				outer[k] = after[k]
			}
			for _, v := range e.Vars {
				if was, ok := env[v]; ok {
					outer[v] = was
				}
			}
			return then(outer, left)
		})
	}
	return false
}

// TestS06: all groups of figures 1 and 2 are derivable, none deeper than three.
func TestS06(t *testing.T) {
	node := func(key string, children ...*Tree) *Tree { return &Tree{Key: key, Children: children} }
	article, user := read(t, "article.txt"), read(t, "user.txt")
	for name, c := range map[string]struct {
		g    *Grammar
		tree *Tree
		want bool
	}{
		"figure 3(a)":           {article, node("users(Alice)", node("articles(Alice, a1)", node("comments(Dave, a1)"), node("comments(Eve, a1)"))), true},
		"a user alone":          {article, node("users(Bob)"), true},
		"two articles":          {article, node("users(Bob)", node("articles(Bob, a2)"), node("articles(Bob, a3)", node("comments(Charlie, a3)"))), true},
		"an article on its own": {article, node("articles(Bob, a2)"), false},
		"another's article":     {article, node("users(Bob)", node("articles(Dave, a2)")), false},
		"a comment elsewhere":   {article, node("users(Bob)", node("articles(Bob, a2)", node("comments(Dave, a1)"))), false},
		"figure 2, mixed":       {user, node("users(Dave)", node("comments(Dave, a1)"), node("articles(Dave, a3)"), node("comments(Dave, a2)")), true},
		"figure 2, another's":   {user, node("users(Dave)", node("comments(Eve, a1)")), false},
	} {
		if got := derivable(c.g, c.tree); got != c.want {
			t.Errorf("%s: derivable %v, want %v", name, got, c.want)
		}
	}
}

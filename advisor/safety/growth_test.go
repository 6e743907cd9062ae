package safety

import (
	"fmt"
	"strings"
	"testing"
)

// related counts what search does at most: pairs of nodes, and of those whose writers do not agree the pairs of writes.
func related(c *checker) (pairs, writes int) {
	for _, p := range c.nodePairs() {
		pairs++
		if !c.sameWriter(p) {
			writes += len(c.writes[p.first.kind]) * len(c.writes[p.second.kind])
		}
	}
	return pairs, writes
}

// nested is a chain of kinds, each written by the user of the first, or by one of its own.
func nested(depth, templates int, owner string) string {
	var b strings.Builder
	b.WriteString("root ::= k0(u)\n")
	for i := range depth {
		fmt.Fprintf(&b, "k%d(u) ::= ", i)
		if i+1 < depth {
			fmt.Fprintf(&b, "k%d(u)*\n", i+1)
		} else {
			b.WriteString("ε\n")
		}
		for range templates {
			fmt.Fprintf(&b, "put_%s(k%d(u))\n", owner, i)
		}
	}
	return b.String()
}

// TestS19S20Growth: the seed's containment of automata takes exponential time (S-19), over keys that must be enumerated first (S-20). Ours
// names no key and no user: its steps grow with the schema by a power, and not at all with users, whose number the
// explicit automata grow with. Steps are counted, not timed.
func TestS19S20Growth(t *testing.T) {
	last := 0
	for _, depth := range []int{4, 8, 16} {
		pairs, _ := related(newChecker(parsed(t, nested(depth, 1, "f")), nil))
		if last > 0 && pairs > 10*last { // twice the depth: at most eight times as many, and some
			t.Errorf("%d kinds: %d pairs of nodes, %d with half as many", depth, pairs, last)
		}
		last = pairs
	}
	_, one := related(newChecker(parsed(t, nested(4, 1, "f")), nil))
	_, many := related(newChecker(parsed(t, nested(4, 200, "f")), nil))
	if one == 0 || many != one {
		t.Errorf("%d pairs of writes with one template for each kind, %d with 200 of the same form", one, many)
	}
	if _, own := related(newChecker(parsed(t, nested(4, 200, "u")), nil)); own != 0 {
		t.Errorf("%d pairs of writes where all writers agree, want none looked at", own)
	}

	sizes := []int{}
	g := read(t, "article.txt")
	for _, users := range []int{2, 4} {
		err := Explicitly(g, users, func(x *Explicit) bool {
			sizes = append(sizes, len(x.Symbols))
			return false
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(sizes) != 2 || sizes[1] <= sizes[0] {
		t.Errorf("%v keys enumerated for 2 and for 4 users", sizes)
	}
}

// TestS05Productions: a symbol has one production, its right side is an expression over symbols that have one, and root says
// which begin a group; a symbol that is a leaf in one place may have children in another, as terminals are no kind of their own.
func TestS05Productions(t *testing.T) {
	g := parsed(t, "root ::= a(u) | b(u)\na(u) ::= b(u)? c(u, x)*\nb(u) ::= c(u, x)* | ε\nc(u, x) ::= ε\nput_u(c(u, x))")
	for tree, want := range map[*Tree]bool{
		{Key: "b(Alice)"}: true,
		{Key: "a(Alice)", Children: []*Tree{{Key: "b(Alice)", Children: []*Tree{{Key: "c(Alice, x1)"}}}, {Key: "c(Alice, x1)"}}}: true,
		{Key: "a(Alice)", Children: []*Tree{{Key: "c(Alice, x1)"}, {Key: "b(Alice)"}}}:                                           false, // the order is the expression's
		{Key: "c(Alice, x1)"}: false, // not below root
	} {
		if got := derivable(g, tree); got != want {
			t.Errorf("%s: %t, want %t", tree, got, want)
		}
	}
	for text, want := range map[string]string{
		"a(u) ::= ε": "root", "root ::= a(u)": "a", "root ::= a(u)\na(u) ::= ε\na(u) ::= b(u)": "a",
	} {
		if g, err := Parse("bad", []byte(text)); err == nil {
			if _, err = Check(g); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want ...%s...", text, err, want)
			}
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want ...%s...", text, err, want)
		}
	}
}

// TestS10Nondeterministic: the schema's automaton may have several states for one tree: the same key as the child of two alternatives, and
// words that are read in two ways. The check by automata and ours agree on it.
func TestS10Nondeterministic(t *testing.T) {
	for text, want := range map[string]bool{
		"root ::= p(u)\np(u) ::= x(u)* x(u)* | x(u)\nx(u) ::= ε\nput_u(x(u))":                      true,
		"root ::= p(u, v)\np(u, v) ::= (x(u) | x(v))* x(u)*\nx(u) ::= ε\nput_u(x(u))":              false,
		"root ::= p(u)\np(u) ::= (|a' x(u, a'))* | (|b' x(u, b'))*\nx(u, a) ::= ε\nput_u(x(u, a))": true,
	} {
		g := parsed(t, text)
		a, err := Check(g)
		if err != nil {
			t.Fatal(err)
		}
		explicit, _, err := SafeExplicitly(g, 2)
		if err != nil || a.Safe != want || explicit != want {
			t.Errorf("%s\nours %t, by automata %t (%v), want %t", text, a.Safe, explicit, err, want)
		}
	}
}

// TestS11Updates: put and del with variables that are bound nowhere else, as of example 4; a value says nothing of who writes.
func TestS11Updates(t *testing.T) {
	g := read(t, "article.txt")
	forms := map[string]bool{}
	for _, w := range g.Writes {
		forms[fmt.Sprintf("%t %s %d", w.Delete, w.Kind, len(w.Key))] = true
	}
	for _, want := range []string{"users 1", "articles 2", "comments 2"} {
		for _, del := range []string{"false ", "true "} {
			if !forms[del+want] {
				t.Errorf("no %s%s in %v", del, want, forms)
			}
		}
	}
	base := "root ::= users(u)\nusers(u) ::= ε\n"
	for _, writes := range []string{"put_u(users(u), v)", "put_u(users(u), u)", "put_u(users(u), v)\ndel_u(users(u))"} {
		if a, err := Check(parsed(t, base+writes)); err != nil || !a.Safe {
			t.Errorf("%s: %+v %v", writes, a, err)
		}
	}
	if a, err := Check(parsed(t, base+"del_f(users(u))")); err != nil || a.Safe {
		t.Errorf("a deletion by anyone: %+v %v", a, err)
	}
}

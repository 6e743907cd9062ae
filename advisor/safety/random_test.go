package safety

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// schemas is how many random schemas the property tests try: two hundred, or as many as HELENUS_SAFETY_SCHEMAS says.
func schemas(t testing.TB) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("HELENUS_SAFETY_SCHEMAS")); err == nil && n > 0 {
		return n
	}
	return 200
}

// randomGrammar makes a grammar of at most four levels (more where it is recursive), with alternatives, options, bindings
// around several children, constants, functions, facts, and writes that anyone may send.
func randomGrammar(r *rand.Rand) *Grammar {
	g := &Grammar{}
	names := []string{"u", "a", "b"}
	n := 1 + r.IntN(4)
	for i := range n {
		p := &Production{Kind: fmt.Sprintf("k%d", i)}
		for _, v := range names {
			if r.IntN(2) == 0 && len(p.Params) < 2 {
				p.Params = append(p.Params, v)
			}
		}
		g.Productions = append(g.Productions, p)
	}
	child := func(from int, params, bound []string) *Expr {
		k := g.Productions[from+r.IntN(n-from)]
		e := Child(k.Kind)
		for _, want := range k.Params {
			var t Term
			switch pick := r.IntN(12); {
			case pick < 7 && len(params) > 0:
				t = Var(params[r.IntN(len(params))])
				for _, p := range params { // mostly what is inherited keeps its place
					if p == want && r.IntN(4) > 0 {
						t = Var(p)
					}
				}
			case pick < 9 && len(bound) > 0:
				t = Var(bound[r.IntN(len(bound))])
			case pick == 11 && r.IntN(2) == 0:
				t = Const("c")
			default:
				t = Var(want + "'")
			}
			e.Args = append(e.Args, t)
		}
		return e
	}
	var expr func(from int, params, bound []string, depth int) *Expr
	expr = func(from int, params, bound []string, depth int) *Expr {
		if depth == 0 || r.IntN(3) == 0 {
			return child(from, params, bound)
		}
		sub := func() *Expr { return expr(from, params, bound, depth-1) }
		switch r.IntN(8) {
		case 0, 1, 2:
			return Star(sub())
		case 3:
			return Option(sub())
		case 4:
			return Plus(sub())
		case 5:
			return Alt(sub(), sub())
		case 6:
			return Seq(sub(), sub())
		}
		v := fmt.Sprintf("x%d", depth)
		return Any(expr(from, params, append(bound[:len(bound):len(bound)], v), depth-1), v)
	}
	for i, p := range g.Productions {
		from := i + 1
		if r.IntN(6) == 0 {
			from = 0 // recursion
		}
		p.Body = Empty()
		if from < n {
			if p.Body = expr(from, p.Params, nil, 2); from == 0 && r.IntN(4) > 0 {
				p.Body = Option(p.Body)
			}
		}
	}
	if g.Root = child(0, nil, nil); r.IntN(4) == 0 {
		g.Root = Alt(g.Root, child(0, nil, nil))
	}
	for _, f := range []Fact{{Name: "f", From: []string{"a"}, To: "u"}, {Name: "g", From: []string{"b"}, To: "u"}, {Name: "h", From: []string{"b"}, To: "a"}} {
		if r.IntN(3) == 0 {
			g.Facts = append(g.Facts, f)
		}
	}
	for _, p := range g.Productions {
		for range r.IntN(3) {
			w := &Write{Kind: p.Kind, Owner: Var("u"), Delete: r.IntN(4) == 0}
			for _, v := range p.Params {
				switch r.IntN(12) {
				case 0:
					w.Key = append(w.Key, Const("c"))
				case 1:
					w.Key = append(w.Key, Var("z"))
				default:
					w.Key = append(w.Key, Var(v))
				}
			}
			switch r.IntN(16) {
			case 0:
				w.Owner = Anyone()
			case 1:
				w.Owner = Func("f", Var("a"))
			case 2:
				w.Owner = Const("c")
			case 3:
				w.Owner = Var("o")
			}
			g.Writes = append(g.Writes, w)
		}
	}
	return g
}

// disagreement returns how the symbolic and the explicit check differ, "" if they do not; ok is false if the automata would
// be too large.
func disagreement(t testing.TB, g *Grammar, users int) (text string, safe, ok bool) {
	t.Helper()
	a, err := Check(g)
	if err != nil {
		t.Fatalf("%v\n%s", err, g)
	}
	explicit, tree, err := SafeExplicitly(g, users)
	if errors.Is(err, ErrLarge) {
		return "", false, false
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, g)
	}
	if a.Safe == explicit {
		return "", a.Safe, true
	}
	text = fmt.Sprintf("symbolic safe %v, explicit safe %v (%s)", a.Safe, explicit, tree)
	if a.Witness != nil {
		text += "; witness " + a.Witness.Tree.String()
	}
	return text, a.Safe, true
}

// TestSymbolicIsExplicit holds the decision by congruence closure against the seed's automata.
func TestSymbolicIsExplicit(t *testing.T) {
	tried, safe, large := 0, 0, 0
	for seed := uint64(1); tried < schemas(t); seed++ {
		g := randomGrammar(rand.New(rand.NewPCG(seed, 2)))
		text, isSafe, ok := disagreement(t, g, 2)
		if !ok {
			large++
			continue
		}
		tried++
		if isSafe {
			safe++
		}
		if text != "" {
			t.Fatalf("seed %d: %s\n%s", seed, text, g)
		}
	}
	t.Logf("%d schemas, %d safe, %d more too large", tried, safe, large)
	if safe < tried/20 || safe > tried*19/20 || large > tried/10 {
		t.Errorf("the schemas say little: %d of %d safe, %d too large", safe, tried, large)
	}
}

// TestThreeUsers: two users find what three find.
func TestThreeUsers(t *testing.T) {
	for seed := uint64(1); seed <= uint64(schemas(t))/50; seed++ {
		g := randomGrammar(rand.New(rand.NewPCG(seed, 3)))
		if text, _, _ := disagreement(t, g, 3); text != "" {
			t.Fatalf("seed %d: %s\n%s", seed, text, g)
		}
	}
}

// TestMoreWritesAreNeverSafer: an unsafe schema stays unsafe when there are more writes.
func TestMoreWritesAreNeverSafer(t *testing.T) {
	for seed := uint64(1); seed <= uint64(schemas(t)); seed++ {
		g := randomGrammar(rand.New(rand.NewPCG(seed, 4)))
		before := true
		all := g.Writes
		for n := range len(all) + 1 {
			g.Writes = all[:n]
			a, err := Check(g)
			if err != nil {
				t.Fatal(err)
			}
			if a.Safe && !before {
				t.Fatalf("seed %d: safe again with %s\n%s", seed, all[n-1], g)
			}
			before = a.Safe
		}
	}
}

// TestTextReadsBack: a printed grammar is read as the same.
func TestTextReadsBack(t *testing.T) {
	for seed := uint64(1); seed <= uint64(schemas(t)); seed++ {
		g := randomGrammar(rand.New(rand.NewPCG(seed, 5)))
		again := parsed(t, g.String())
		if again.String() != g.String() {
			t.Fatalf("seed %d:\n%s\nread back:\n%s", seed, g, again)
		}
		a, err := Check(g)
		b, err2 := Check(again)
		if err != nil || err2 != nil || a.Safe != b.Safe {
			t.Fatalf("seed %d: %v %v\n%s", seed, a, b, g)
		}
	}
}

// TestWitnesses: each witness is a group of the schema in which two write: A_s accepts its tree.
func TestWitnesses(t *testing.T) {
	for seed := uint64(1); seed <= uint64(schemas(t)); seed++ {
		g := randomGrammar(rand.New(rand.NewPCG(seed, 6)))
		a, err := Check(g)
		if err != nil {
			t.Fatal(err)
		}
		if a.Safe {
			continue
		}
		w := a.Witness
		if w.Writes[0].Writer == w.Writes[1].Writer && w.Writes[0].Writer != "anyone" {
			t.Fatalf("seed %d: %s and %s are one writer\n%s", seed, w.Writes[0].Writer, w.Writes[1].Writer, g)
		}
		if !derivable(g, w.Tree) {
			t.Fatalf("seed %d: %s is no group\n%s", seed, w.Tree, g)
		}
	}
}

// TestS25: each unsafe schema comes with an edited one that is safe, also by the explicit automata.
func TestS25(t *testing.T) {
	edited := 0
	for seed := uint64(1); seed <= uint64(schemas(t)); seed++ {
		g := randomGrammar(rand.New(rand.NewPCG(seed, 7)))
		f, err := JudgeGrammar("random", g, Partition)
		if err != nil {
			t.Fatal(err)
		}
		if f.Verdict != Unsafe {
			continue
		}
		if len(f.Options) == 0 {
			t.Fatalf("seed %d: no edited schema\n%s", seed, g)
		}
		if edited++; edited > schemas(t)/10 {
			continue // the automata take their time
		}
		safe, tree, err := SafeExplicitly(g.byWriter(), 2)
		if err != nil && !errors.Is(err, ErrLarge) || err == nil && !safe {
			t.Fatalf("seed %d: %s %v\n%s", seed, tree, err, g.byWriter())
		}
	}
}

// Any is e for any values of the variables, the same throughout e.
func Any(e *Expr, vars ...string) *Expr { return &Expr{op: bind, Vars: vars, Parts: []*Expr{e}} }

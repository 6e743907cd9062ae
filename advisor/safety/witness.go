package safety

import (
	"fmt"
	"slices"
	"strings"
)

// Tree is an entity group, or a part of one.
type Tree struct {
	Key      string // kind(values)
	Writer   string // who writes this node, if it is one of the two of a witness
	Also     string // the second writer, if both write this one node
	Children []*Tree

	kind string
	args []Term
}

// String writes the tree on one line: users(Alice)/articles(Alice, a1)/{…}.
func (t *Tree) String() string {
	switch len(t.Children) {
	case 0:
		return t.Key
	case 1:
		return t.Key + "/" + t.Children[0].String()
	}
	parts := make([]string, len(t.Children))
	for i, c := range t.Children {
		parts[i] = c.String()
	}
	return t.Key + "/{" + strings.Join(parts, ", ") + "}"
}

func (t *Tree) walk(f func(*Tree)) {
	f(t)
	for _, c := range t.Children {
		c.walk(f)
	}
}

// Meeting is a write in a witness.
type Meeting struct {
	Write  *Write
	Key    string // the node that it writes
	Writer string
}

// Witness is a group that two may write at once.
type Witness struct {
	Tree   *Tree
	Writes [2]Meeting
	Reason string
}

// wantedNode is a node that a tree must have: the leaves on the way to it, how many of them it has in common with the other
// wants, and where to put it.
type wantedNode struct {
	path   []leaf
	common int
	target **Tree
}

// grower grows the least tree of a grammar that has some nodes. Each binding brings a new variable, so that nothing in the
// tree is equal that need not be.
type grower struct {
	c     *checker
	fresh int
}

// growNode grows a node; wants whose way ends here take it.
func (g *grower) growNode(kind string, args []Term, wants []wantedNode) *Tree {
	t := &Tree{kind: kind, args: args}
	var on []wantedNode
	for _, w := range wants {
		if len(w.path) == 0 {
			*w.target = t
		} else {
			on = append(on, w)
		}
	}
	env := map[string]Term{}
	for i, p := range g.c.params[kind] {
		env[p] = args[i]
	}
	t.Children = g.growWord(g.c.body[kind], env, on, 0)
	return t
}

// growWord grows the children of an expression that lies depth expressions deep.
func (g *grower) growWord(e *Expr, env map[string]Term, wants []wantedNode, depth int) []*Tree {
	switch e.op {
	case symbol:
		args := make([]Term, len(e.Args))
		for i, t := range e.Args {
			args[i] = t.replace(func(v string) Term { return env[v] })
		}
		on := slices.Clone(wants)
		for i := range on {
			on[i].path, on[i].common = on[i].path[1:], on[i].common-1
		}
		return []*Tree{g.growNode(e.Kind, args, on)}
	case bind:
		inner := map[string]Term{}
		for v, t := range env {
			inner[v] = t
		}
		for _, v := range e.Vars {
			g.fresh++
			inner[v] = Var(fmt.Sprintf("%s·t%d", v, g.fresh))
		}
		return g.growWord(e.Parts[0], inner, wants, depth+1)
	case seq:
		var list []*Tree
		for i, p := range e.Parts {
			var own []wantedNode
			for _, w := range wants {
				if w.path[0].taken[depth] == i {
					own = append(own, w)
				}
			}
			list = append(list, g.growWord(p, env, own, depth+1)...)
		}
		return list
	case alt:
		switch {
		case len(wants) > 0:
			return g.growWord(e.Parts[wants[0].path[0].taken[depth]], env, wants, depth+1)
		case len(e.Parts) > 0:
			return g.growWord(slices.MinFunc(e.Parts, func(p, q *Expr) int { return g.leastHeight(p) - g.leastHeight(q) }), env, nil, depth+1)
		}
	case repeat, plus:
		if len(wants) > 0 && wants[0].common > 0 {
			return g.growWord(e.Parts[0], env, wants, depth+1)
		}
		var list []*Tree
		for _, w := range wants {
			list = append(list, g.growWord(e.Parts[0], env, []wantedNode{w}, depth+1)...)
		}
		if e.op == plus && len(wants) == 0 {
			return g.growWord(e.Parts[0], env, nil, depth+1)
		}
		return list
	case option:
		if len(wants) > 0 {
			return g.growWord(e.Parts[0], env, wants, depth+1)
		}
	}
	return nil
}

// leastHeight is that of the least tree of an expression's least word.
func (g *grower) leastHeight(e *Expr) int {
	switch e.op {
	case symbol:
		return g.c.height[e.Kind]
	case alt:
		if len(e.Parts) == 0 {
			return 0
		}
		return g.leastHeight(slices.MinFunc(e.Parts, func(p, q *Expr) int { return g.leastHeight(p) - g.leastHeight(q) }))
	case seq, bind, plus:
		most := 0
		for _, p := range e.Parts {
			most = max(most, g.leastHeight(p))
		}
		return most
	}
	return 0
}

// buildWitness shows a pair of nodes with two writers.
func (c *checker) buildWitness(p pair, w, v *template) *Witness {
	g := &grower{c: c}
	var first, second *Tree
	way := func(rest []leaf) []leaf { return slices.Concat(p.from.chain, rest)[1:] }
	common := len(p.from.chain) - 1
	wants := []wantedNode{{way(p.first.chain), common, &first}, {way(p.second.chain), common, &second}}
	top := p.from.chain[0].symbol
	tree := g.growNode(top.Kind, top.Args, wants) // the root's bindings are fresh by their names
	cc := relateWrites(node{kind: first.kind, args: first.args}, node{kind: second.kind, args: second.args}, w, v)
	name := c.assignNames(cc, tree, w, v)
	owner := func(t *template, mark string) string {
		if t.Owner.kind == anyone {
			return "anyone"
		}
		return name(t.Owner.renamedApart(mark), writers)
	}
	out := &Witness{Tree: tree, Writes: [2]Meeting{{w.Write, first.Key, owner(w, firstMark)}, {v.Write, second.Key, owner(v, secondMark)}}}
	first.Writer = out.Writes[0].Writer
	if first == second {
		first.Also = out.Writes[1].Writer
		out.Reason = fmt.Sprintf("the key of %s does not determine the writer: %s", first.kind, explainOwner(w))
	} else {
		second.Writer = out.Writes[1].Writer
		out.Reason = fmt.Sprintf("nothing makes the writer of %s and that of %s the same in one group: %s", first.kind, second.kind, explainOwner(v))
	}
	return out
}

func explainOwner(t *template) string {
	if t.Owner.kind == anyone {
		return "anyone may send " + t.String()
	}
	return "of " + t.String() + " it is " + t.Owner.String()
}

// The seed's users come in the order in which its example 7 meets them.
var people = []string{"Alice", "Dave", "Eve", "Bob", "Charlie"}

// writers is the sort of writers.
const writers = "writer"

// assignNames gives the tree's nodes values and returns the name of a term: one for each class of equal terms, constants as they are.
func (c *checker) assignNames(cc *closure, tree *Tree, w, v *template) func(t Term, sort string) string {
	kinds := c.sortNames()
	given, taken := map[int]string{}, map[string]int{}
	name := func(t Term, sort string) string {
		class := cc.find(cc.add(t))
		if fixed := cc.fixed[class]; fixed >= 0 {
			return cc.term[fixed].Name
		}
		if given[class] == "" {
			n := taken[sort]
			taken[sort]++
			switch {
			case sort == writers && n < len(people):
				given[class] = people[n]
			case sort == writers:
				given[class] = fmt.Sprintf("user%d", n+1)
			default:
				given[class] = fmt.Sprintf("%s%d", sort, n+1)
			}
		}
		return given[class]
	}
	tree.walk(func(t *Tree) {
		values := make([]string, len(t.args))
		for i, a := range t.args {
			values[i] = name(a, kinds[fmt.Sprintf("%s/%d", t.kind, i)])
		}
		t.Key = t.kind + "(" + strings.Join(values, ", ") + ")"
	})
	_ = name(w.Owner.renamedApart(firstMark), writers)
	_ = name(v.Owner.renamedApart(secondMark), writers)
	return name
}

// sortNames names the sort of each place of each kind: writers where a writer may stand, else the first letters of a parameter.
func (c *checker) sortNames() map[string]string {
	s := sortsOf(c.g)
	out := map[string]string{}
	for _, p := range c.g.Productions {
		for i, v := range p.Params {
			place := fmt.Sprintf("%s/%d", p.Kind, i)
			if s.same("place:"+place, writers) {
				out[place] = writers
				continue
			}
			name := v[strings.LastIndexByte(v, '.')+1:]
			out[place] = strings.TrimRight(name, "'′0123456789")
		}
	}
	return out
}

// sortTable is a union-find of what must be of one sort: places of kinds, arguments and results of functions, writers.
type sortTable map[string]string

func (s sortTable) find(x string) string {
	for s[x] != "" && s[x] != x {
		x = s[x]
	}
	return x
}

func (s sortTable) join(x, y string) {
	if x, y = s.find(x), s.find(y); x != y {
		s[x] = y
	}
}

func (s sortTable) same(x, y string) bool { return s.find(x) == s.find(y) }

// sortsOf finds the sorts of a grammar: those of variables go from the productions and writes that they are in.
func sortsOf(g *Grammar) sortTable {
	s := sortTable{}
	var term func(t Term, where, scope string)
	term = func(t Term, where, scope string) {
		switch t.kind {
		case variable:
			s.join("var:"+scope+"/"+t.Name, where)
		case function:
			s.join("of:"+t.Name, where)
			for i, a := range t.Args {
				term(a, fmt.Sprintf("arg:%s/%d", t.Name, i), scope)
			}
		}
	}
	list := func(kind string, args []Term, scope string) {
		for i, a := range args {
			term(a, fmt.Sprintf("place:%s/%d", kind, i), scope)
		}
	}
	all := map[string]bool{}
	for _, p := range g.Productions {
		all[p.Kind] = true
	}
	body := func(e *Expr, params []string, kind string) {
		for i, p := range params {
			s.join("var:p:"+kind+"/"+p, fmt.Sprintf("place:%s/%d", kind, i))
		}
		for _, l := range leavesOf(normalForm(e, params, all)) {
			list(l.symbol.Kind, l.symbol.Args, "p:"+kind)
		}
	}
	body(g.Root, nil, "")
	for _, p := range g.Productions {
		body(p.Body, p.Params, p.Kind)
	}
	for n, w := range g.Writes {
		scope := fmt.Sprintf("w:%d", n)
		term(w.Owner, writers, scope)
		list(w.Kind, w.Key, scope)
		for _, f := range g.Facts {
			term(Func(f.Name, varsOf(f.From)...), "var:"+scope+"/"+f.To, scope)
		}
	}
	return s
}

func varsOf(names []string) []Term {
	list := make([]Term, len(names))
	for i, n := range names {
		list[i] = Var(n)
	}
	return list
}

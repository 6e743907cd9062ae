package safety

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Answer is what the check found of a grammar.
type Answer struct {
	Safe bool
	// By is the writer as a function of the group's top, if it is safe, written by one at all, and there is one such term;
	// ReadOnly: no write reaches a group.
	By       string
	ReadOnly bool
	If       []Fact // safe only if these facts, which are probable, hold
	Witness  *Witness
}

// Check decides whether any group of the grammar can have two writers.
func Check(g *Grammar) (*Answer, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	var accepted, probable []Fact
	for _, f := range g.Facts {
		if f.Probable {
			probable = append(probable, f)
		} else {
			accepted = append(accepted, f)
		}
	}
	c := newChecker(g, accepted)
	a := &Answer{}
	if a.Witness = c.findWitness(); a.Witness == nil {
		a.Safe = true
		a.By, a.ReadOnly = c.commonWriter()
		return a, nil
	}
	if len(probable) == 0 || newChecker(g, g.Facts).findWitness() != nil {
		return a, nil
	}
	need := slices.Clone(probable) // of which one after the other is left out if it is safe without
	for i := 0; i < len(need); {
		fewer := slices.Delete(slices.Clone(need), i, i+1)
		if newChecker(g, slices.Concat(accepted, fewer)).findWitness() == nil {
			need = fewer
		} else {
			i++
		}
	}
	a.If = need
	return a, nil
}

// template is a write with the facts that hold in it.
type template struct {
	*Write
	facts [][2]Term
	by    map[string]Term // the writer as terms over the places of the key, $0 and so on
}

// checker decides for one set of facts.
type checker struct {
	g       *Grammar
	height  map[string]int
	body    map[string]*Expr
	params  map[string][]string
	root    *Expr
	writes  map[string][]*template     // by kind, each form of write once
	by      map[string]map[string]Term // what all writes of a kind have in their by
	below   map[string][]node          // by kind: the nodes of its trees, in terms of its parameters, itself first
	reached []node                     // the nodes of all groups
}

func newChecker(g *Grammar, facts []Fact) *checker {
	c := &checker{g: g, height: g.productiveHeights(), body: map[string]*Expr{}, params: map[string][]string{}, writes: map[string][]*template{},
		by: map[string]map[string]Term{}, below: map[string][]node{}}
	can := map[string]bool{}
	for k := range c.height {
		can[k] = true
	}
	for _, p := range g.Productions {
		if can[p.Kind] {
			c.body[p.Kind], c.params[p.Kind] = normalForm(p.Body, p.Params, can), p.Params
		}
	}
	c.root = normalForm(g.Root, nil, can)
	c.prepareTemplates(facts)
	c.findReached()
	return c
}

// prepareTemplates readies the writes. Those that are the same but for the names of variables are one.
func (c *checker) prepareTemplates(facts []Fact) {
	seen := map[string]bool{}
	for _, w := range c.g.Writes {
		t := &template{Write: w, by: map[string]Term{}}
		vars := map[string]bool{}
		for _, k := range append([]Term{w.Owner}, w.Key...) {
			k.eachVar(func(v string) { vars[v] = true })
		}
		// A fact may speak of variables that only another fact brings in.
		used := make([]bool, len(facts))
		for again := true; again; {
			again = false
			for i, f := range facts {
				withTo := map[string]bool{f.To: true}
				for v := range vars {
					withTo[v] = true
				}
				if l, r, ok := f.equationIn(withTo); ok && !used[i] {
					t.facts, vars[f.To], used[i], again = append(t.facts, [2]Term{l, r}), true, true, true
				}
			}
		}
		form := t.canonicalForm()
		if seen[form] {
			continue
		}
		seen[form] = true
		cc := newClosure()
		for _, f := range t.facts {
			cc.equate(f[0], f[1])
		}
		for i, k := range w.Key {
			cc.equate(placeVar(i), k)
		}
		if w.Owner.kind != anyone {
			for i, k := range w.Key {
				if cc.equal(k, w.Owner) {
					t.by[placeVar(i).Name] = placeVar(i)
				}
			}
			if least, ok := cc.smallestEqual(w.Owner, func(v string) bool { return strings.HasPrefix(v, "$") }); ok {
				t.by[least.String()] = least
			}
		}
		c.writes[w.Kind] = append(c.writes[w.Kind], t)
	}
	for kind, list := range c.writes {
		c.by[kind] = map[string]Term{}
		for name, term := range list[0].by {
			if !slices.ContainsFunc(list, func(t *template) bool { _, ok := t.by[name]; return !ok }) {
				c.by[kind][name] = term
			}
		}
	}
}

// placeVar is the variable of a place of a key.
func placeVar(i int) Term { return Var(fmt.Sprintf("$%d", i)) }

// canonicalForm names a template up to the names of its variables.
func (t *template) canonicalForm() string {
	names := map[string]string{}
	var b strings.Builder
	add := func(x Term) {
		x = x.replace(func(v string) Term {
			if names[v] == "" {
				names[v] = fmt.Sprintf("·%d", len(names))
			}
			return Var(names[v])
		})
		b.WriteString(x.String() + "\x00")
	}
	b.WriteString(t.Kind + "\x00")
	for _, k := range t.Key {
		add(k)
	}
	add(t.Owner)
	for _, f := range t.facts {
		add(f[0])
		add(f[1])
	}
	return b.String()
}

// reachableNodes returns the nodes that are reached from some, each shape once, nearest first.
func (c *checker) reachableNodes(start []node, fixed map[string]bool) []node {
	seen := map[string]bool{}
	var list []node
	add := func(n node) {
		if s := n.shapeKey(fixed); !seen[s] {
			seen[s] = true
			list = append(list, n)
		}
	}
	for _, n := range start {
		add(n)
	}
	for i := 0; i < len(list); i++ {
		for _, l := range leavesOf(c.body[list[i].kind]) {
			add(c.childNode(list[i], l, ""))
		}
	}
	return list
}

// childNode is the child of a node at a leaf of its kind's body; variables bound there are renamed by the mark.
func (c *checker) childNode(n node, l leaf, mark string) node {
	level := fmt.Sprintf("·%d%s", len(n.chain), mark)
	args := make([]Term, len(l.symbol.Args))
	for i, t := range l.symbol.Args {
		args[i] = t.replace(func(v string) Term {
			if at := slices.Index(c.params[n.kind], v); at >= 0 {
				return n.args[at]
			}
			return Var(v + level)
		})
	}
	return node{l.symbol.Kind, args, append(slices.Clip(n.chain), l)}
}

// findReached finds the nodes of all groups, and those below each kind.
func (c *checker) findReached() {
	var tops []node
	for _, l := range leavesOf(c.root) {
		tops = append(tops, node{l.symbol.Kind, l.symbol.Args, []leaf{l}})
	}
	c.reached = c.reachableNodes(tops, nil)
	for kind, params := range c.params {
		self, fixed := node{kind: kind}, map[string]bool{}
		for i := range params {
			self.args, fixed[placeVar(i).Name] = append(self.args, placeVar(i)), true
		}
		c.below[kind] = c.reachableNodes([]node{self}, fixed)
	}
}

// instantiate returns a node of kind's trees, below one with these arguments; other variables are renamed by the mark.
func instantiate(n node, args []Term, mark string) node {
	out := node{n.kind, make([]Term, len(n.args)), n.chain}
	for i, t := range n.args {
		out.args[i] = t.replace(func(v string) Term {
			if i, ok := strings.CutPrefix(v, "$"); ok {
				k, _ := strconv.Atoi(i) // place made it
				return args[k]
			}
			return Var(v + mark)
		})
	}
	return out
}

// pair is two nodes that one group can have, or one node twice: where their ways part, and the ways on from there.
type pair struct {
	from   node // the last common one
	first  node
	second node
	rank   int // what is shown to people first
}

// nodePairs returns all pairs of written nodes.
func (c *checker) nodePairs() []pair {
	var list []pair
	add := func(p pair) {
		if len(c.writes[p.first.kind]) > 0 && len(c.writes[p.second.kind]) > 0 {
			list = append(list, p)
		}
	}
	for _, n := range c.reached {
		add(pair{n, node{kind: n.kind, args: n.args}, node{kind: n.kind, args: n.args}, 0})
		for _, d := range c.below[n.kind][1:] {
			add(pair{n, node{kind: n.kind, args: n.args}, instantiate(d, n.args, "·d"), 2 + len(d.chain)})
		}
		leaves := leavesOf(c.body[n.kind])
		for i, l := range leaves {
			for _, m := range leaves[i:] {
				if shared, ok := shareWord(l, m); ok {
					c.addSiblingPairs(n, l, m, shared, add)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(p, q pair) int { return cmp.Compare(p.rank, q.rank) })
	return list
}

// addSiblingPairs adds the pairs of nodes below two children of one node.
func (c *checker) addSiblingPairs(n node, l, m leaf, shared map[string]bool, add func(pair)) {
	bare := node{kind: n.kind, args: n.args}
	x, y := c.childNode(bare, l, ""), c.childNode(bare, m, "·y")
	for v := range shared { // the same in both
		for i, t := range m.symbol.Args {
			if t.kind == variable && t.Name == v {
				y.args[i] = Var(v + "·0")
			}
		}
	}
	for _, d := range c.below[x.kind] {
		for _, e := range c.below[y.kind] {
			p := pair{n, instantiate(d, x.args, "·l"), instantiate(e, y.args, "·r"), 1}
			p.first.chain = append([]leaf{l}, d.chain...)
			p.second.chain = append([]leaf{m}, e.chain...)
			if depth := len(d.chain) + len(e.chain); depth > 0 {
				p.rank = 4 + depth
			}
			add(p)
		}
	}
}

// findWitness returns how a group can have two writers, nil if none can.
func (c *checker) findWitness() *Witness {
	for _, p := range c.nodePairs() {
		if c.sameWriter(p) {
			continue
		}
		for i, w := range c.writes[p.first.kind] {
			for j, v := range c.writes[p.second.kind] {
				if p.rank == 0 && j < i {
					continue // the same node: the order does not matter
				}
				if cc := relateWrites(p.first, p.second, w, v); writersDiffer(cc, w, v) {
					return c.buildWitness(p, w, v)
				}
			}
		}
	}
	return nil
}

// sameWriter is the short way: all writes of both nodes have their writer as the same terms over the key, and in some those are
// the same value. It spares the pairs of writes, which are many.
func (c *checker) sameWriter(p pair) bool {
	for _, x := range c.by[p.first.kind] {
		for _, y := range c.by[p.second.kind] {
			if instantiate(node{args: []Term{x}}, p.first.args, "").args[0].String() == instantiate(node{args: []Term{y}}, p.second.args, "").args[0].String() {
				return true
			}
		}
	}
	return false
}

// The marks of the two writes' variables.
const (
	firstMark  = "·w1"
	secondMark = "·w2"
)

// relateWrites asserts that one write is to the first node and another, in a copy of its own, to the second.
func relateWrites(first, second node, w, v *template) *closure {
	cc := newClosure()
	assert := func(n node, t *template, mark string) {
		for i, k := range t.Key {
			cc.equate(n.args[i], k.renamedApart(mark))
		}
		for _, f := range t.facts {
			cc.equate(f[0].renamedApart(mark), f[1].renamedApart(mark))
		}
		if t.Owner.kind != anyone {
			cc.add(t.Owner.renamedApart(mark))
		}
	}
	assert(first, w, firstMark)
	assert(second, v, secondMark)
	return cc
}

// writersDiffer reports whether two writes that are related can have different writers.
func writersDiffer(cc *closure, w, v *template) bool {
	if cc.clashes {
		return false // no such writes
	}
	return w.Owner.kind == anyone || v.Owner.kind == anyone || !cc.equal(w.Owner.renamedApart(firstMark), v.Owner.renamedApart(secondMark))
}

// commonWriter returns the smallest term over the top's key that all writes of a safe grammar's groups have as writer.
func (c *checker) commonWriter() (term string, readOnly bool) {
	readOnly = true
	var found []string
	for _, l := range leavesOf(c.root) {
		top := node{kind: l.symbol.Kind}
		for i := range l.symbol.Args {
			top.args = append(top.args, Var(c.params[top.kind][i]))
		}
		for _, d := range c.below[top.kind] {
			for _, w := range c.writes[d.kind] {
				readOnly = false
				n := instantiate(d, top.args, "·d")
				cc := relateWrites(n, n, w, w)
				inTop := func(v string) bool { return slices.Contains(c.params[top.kind], v) }
				if t, ok := cc.smallestEqual(w.Owner.renamedApart(firstMark), inTop); ok && !cc.clashes && !slices.Contains(found, t.String()) {
					found = append(found, t.String())
				}
			}
		}
	}
	if len(found) == 1 {
		return found[0], false
	}
	return "", readOnly
}

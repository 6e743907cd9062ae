package timeline

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/sequence"
)

// mostFields is how many fields of one target are told apart: those that it has, and keys.
const mostFields = 128

// fields is a set of fields, by number.
type fields [2]uint64

func (s fields) has(i int) bool       { return s[i>>6]&(1<<(i&63)) != 0 }
func (s *fields) add(i int)           { s[i>>6] |= 1 << (i & 63) }
func (s fields) holds(t fields) bool  { return t[0]&^s[0]|t[1]&^s[1] == 0 }
func (s fields) and(t fields) fields  { return fields{s[0] & t[0], s[1] & t[1]} }
func (s fields) with(t fields) fields { return fields{s[0] | t[0], s[1] | t[1]} }

// loader makes the paths to fill tables.
type loader struct {
	task   *task
	tables []*model.Table // that may be read, besides the existing ones
	byTree map[string]*treeSources
	cut    bool // not all paths of some target are listed
}

// treeSources are the sources of the rows of one tree, the cheapest first.
type treeSources struct {
	tree    model.Tree // as the first target had it, by whose order entities are numbered: others may have the same in another order
	sources []plan.Source
	prices  []float64
	order   []int // entities: the root first, then neighbours
	number  []int // of candidates, or choice.None
	keys    []uint64
}

// joinState is what has been read so far.
type joinState struct {
	entities uint64
	fields   fields
}

func (l *loader) sourcesOf(tree model.Tree) *treeSources {
	key := tree.Key()
	if x := l.byTree[key]; x != nil {
		return x
	}
	x := &treeSources{tree: tree}
	all := plan.Sources(tree, append(append([]*model.Table(nil), l.task.study.Existing()...), l.tables...))
	slices.SortStableFunc(all, func(a, b plan.Source) int {
		return cmp.Compare(l.task.extractCost(a.Table).Work, l.task.extractCost(b.Table).Work)
	})
	x.sources = all
	for i := range all {
		n, ok := l.task.study.Number(all[i].Table)
		if !ok {
			n = choice.None
		}
		x.number = append(x.number, n)
		x.prices = append(x.prices, l.task.extractCost(all[i].Table).Work)
	}
	root := 0
	for i, e := range tree.Entities {
		determined := uint64(0)
		for _, d := range tree.Determined(e).Entities {
			determined |= 1 << slices.Index(tree.Entities, d)
		}
		if x.keys = append(x.keys, determined); bits.OnesCount64(determined) > bits.OnesCount64(x.keys[root]) {
			root = i
		}
	}
	for _, e := range tree.Reach(tree.Entities[root], func(*model.Relationship, *model.Entity) bool { return true }).Entities {
		x.order = append(x.order, slices.Index(tree.Entities, e))
	}
	l.byTree[key] = x
	return x
}

// leastCost is what filling a target costs at least, whatever there is; false if nothing fills it.
func (l *loader) leastCost(n int) (float64, bool) {
	target := l.task.tables[n]
	x := l.sourcesOf(target.Tree)
	for i := range x.sources {
		if s := &x.sources[i]; s.Table != target && s.Covers&(1<<x.order[0]) != 0 {
			return x.prices[i], true
		}
	}
	return 0, false
}

// fillPaths are the paths to fill a target, with what each arc reads.
type fillPaths struct {
	sequence.Load
	reads []*plan.Source
}

// mostPaths is how many arcs the paths to fill one target have at most.
const mostPaths = 20000

// fillPathsOf returns the paths to fill a candidate from allowed tables that cost no more than cap; allowed nil: from all.
func (l *loader) fillPathsOf(n int, most float64, allowed func(n int) bool) fillPaths {
	target := l.task.tables[n]
	x := l.sourcesOf(target.Tree)
	g := &fillGraph{loader: l, target: target, tree: x.tree, from: x, most: most, deepest: mostSources, index: map[joinState]int{}, number: map[model.Field]int{}}
	if allowed != nil {
		g.deepest = mostThere
	}
	g.buildPaths(allowed)
	return g.paths
}

// arcsOf is what a program is told of the paths to fill a candidate, as far as they are known. bound is what the dearest path
// that was needed costs: those up to it are listed, and for all others stands one that needs no table and costs as much, so
// that the program's cost is never above the truth. NaN: none was needed yet.
func (l *loader) arcsOf(n int, bound float64) sequence.Load {
	none := sequence.Load{States: 2}
	least, ok := l.leastCost(n)
	switch {
	case !ok:
		return none
	case math.IsNaN(bound):
		none.Arcs = []choice.Arc{{From: choice.Source, To: choice.Sink, Price: least, Table: choice.None}}
		return none
	}
	w := l.fillPathsOf(n, bound, nil)
	if !math.IsInf(bound, 1) {
		w.Arcs = append(w.Arcs, choice.Arc{From: choice.Source, To: choice.Sink, Price: bound, Table: choice.None})
	}
	return w.Load
}

// fillGraph is the paths to fill one target, under way.
type fillGraph struct {
	*loader
	target  *model.Table
	tree    model.Tree
	number  map[model.Field]int
	needed  fields
	keys    []fields // of entities
	from    *treeSources
	most    float64 // that a path may cost
	parts   []sourcePart
	index   map[joinState]int
	states  []joinState
	spent   []float64 // the least to reach each state
	depths  []int
	deepest int // tables that a path reads at most
	paths   fillPaths
}

// sourcePart is a source with what it brings.
type sourcePart struct {
	source *plan.Source
	fields fields
	price  float64
	n      int  // of the candidate, or choice.None
	whole  bool // it has all that is needed: a path that reads more is never cheaper
}

func (g *fillGraph) fieldNumber(f model.Field) int {
	n, ok := g.number[f]
	if !ok {
		n = len(g.number)
		g.number[f] = n
	}
	return n
}

// mostSources is how many tables a path reads at most by which a state is reached that is looked at further. Other, dearer paths to it may read more. Where
// it is known which tables there are, these few are looked at further: so what all candidates together could fill over tables that are there, those fill.
const (
	mostSources = 4
	mostThere   = 8
)

func (g *fillGraph) buildPaths(allowed func(n int) bool) {
	for _, f := range g.target.Fields() {
		g.needed.add(g.fieldNumber(f))
	}
	for _, e := range g.tree.Entities {
		k := fields{}
		for _, f := range e.KeyFields() {
			k.add(g.fieldNumber(f))
		}
		g.keys = append(g.keys, k)
	}
	if len(g.number) > mostFields || len(g.tree.Entities) > 64 {
		g.cut = true
		return
	}
	for i := range g.from.sources {
		s := &g.from.sources[i]
		n := g.from.number[i]
		if g.from.prices[i] > g.most {
			break
		}
		if s.Table == g.target || s.Beyond || allowed != nil && n != choice.None && !allowed(n) ||
			slices.ContainsFunc(s.Lacking, func(f model.Field) bool { return !g.target.InKey(f) }) {
			continue
		}
		p := sourcePart{source: s, price: g.from.prices[i], n: n}
		for _, f := range s.Fields {
			if n, ok := g.number[f]; ok {
				p.fields.add(n)
			}
		}
		p.whole = s.Covers == 1<<len(g.tree.Entities)-1 && p.fields.holds(g.needed)
		g.parts = append(g.parts, p)
	}
	g.stateOf(joinState{}, 0, 0)
	g.states, g.depths, g.spent = append(g.states, joinState{}), append(g.depths, 0), append(g.spent, 0) // Answered
	done := map[int]bool{choice.Sink: true}
	for len(done) < len(g.states) { // the one that costs least so far: what reaching it costs is settled then
		at := -1
		for i := range g.states {
			if !done[i] && (at < 0 || g.spent[i] < g.spent[at]) {
				at = i
			}
		}
		if done[at] = true; g.depths[at] < g.deepest {
			g.expandState(at)
		}
	}
	g.paths.States = len(g.states)
}

func (g *fillGraph) stateOf(s joinState, spent float64, depth int) int {
	if n, ok := g.index[s]; ok {
		if spent < g.spent[n] {
			g.spent[n], g.depths[n] = spent, depth
		}
		return n
	}
	n := len(g.states)
	g.index[s] = n
	g.states, g.depths, g.spent = append(g.states, s), append(g.depths, depth), append(g.spent, spent)
	return n
}

// expandState reads one more table: one that brings the first thing which is missing.
func (g *fillGraph) expandState(at int) {
	s := g.states[at]
	entity, field := g.firstMissing(s)
	last := g.depths[at] == g.deepest-1
	for i := range g.parts {
		p := &g.parts[i]
		spent := g.spent[at] + p.price
		switch {
		case spent > g.most*(1+1e-12):
			return // the dearer ones come after it
		case entity >= 0 && p.source.Covers&(1<<entity) == 0, field >= 0 && !p.fields.has(field):
			continue
		case s.entities != 0 && (p.whole || !g.joinsWith(s, p)):
			continue
		}
		next := joinState{s.entities | p.source.Covers, s.fields.with(p.fields)}
		to := choice.Sink
		if next.entities != 1<<len(g.tree.Entities)-1 || !next.fields.holds(g.needed) {
			if last {
				continue
			}
			if len(g.paths.Arcs) >= mostPaths {
				g.cut = true
				return
			}
			to = g.stateOf(next, spent, g.depths[at]+1)
		}
		g.paths.Arcs = append(g.paths.Arcs, choice.Arc{From: at, To: to, Price: p.price, Table: p.n})
		g.paths.reads = append(g.paths.reads, p.source)
	}
}

// firstMissing is the first entity that is not joined, or else the first field that is needed and not at hand.
func (g *fillGraph) firstMissing(s joinState) (entity, field int) {
	for _, e := range g.from.order {
		if s.entities&(1<<e) == 0 {
			return e, -1
		}
	}
	for n := range len(g.number) {
		if g.needed.has(n) && !s.fields.has(n) {
			return -1, n
		}
	}
	return -1, -1
}

// joinsWith reports whether a source's rows join those at hand rightly: each entity that both have is determined by one of which
// both have the key.
func (g *fillGraph) joinsWith(s joinState, p *sourcePart) bool {
	shared := s.entities & p.source.Covers
	if shared == 0 {
		return false
	}
	both := s.fields.and(p.fields)
	determined := uint64(0)
	for e := range g.keys {
		if shared&(1<<e) != 0 && both.holds(g.keys[e]) {
			determined |= g.from.keys[e]
		}
	}
	return shared&^determined == 0
}

// designKey tells designs apart.
func designKey(open []bool) string {
	key := make([]byte, (len(open)+7)/8)
	for n, is := range open {
		if is {
			key[n>>3] |= 1 << (n & 7)
		}
	}
	return string(key)
}

package timeline

import (
	"math/bits"
	"slices"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/sequence"
)

// most is how many fields of one target are told apart: those that it has, and keys.
const mostFields = 128

// fields is a set of fields, by number.
type fields [2]uint64

func (s fields) has(i int) bool       { return s[i>>6]&(1<<(i&63)) != 0 }
func (s *fields) add(i int)           { s[i>>6] |= 1 << (i & 63) }
func (s fields) holds(t fields) bool  { return t[0]&^s[0]|t[1]&^s[1] == 0 }
func (s fields) and(t fields) fields  { return fields{s[0] & t[0], s[1] & t[1]} }
func (s fields) with(t fields) fields { return fields{s[0] | t[0], s[1] | t[1]} }

// loader makes the ways to fill tables.
type loader struct {
	tables []*model.Table
	number map[*model.Table]int // of candidates; existing tables have none
	price  func(*model.Table) float64
	depth  int // tables that are read at most
	byTree map[string][]plan.Source
	arcs   int
}

// joined is what has been read so far.
type joined struct {
	entities uint64
	fields   fields
}

// load returns the ways to fill a target.
func (l *loader) load(target *model.Table) sequence.Load {
	tree := target.Tree
	key := tree.Key()
	sources, ok := l.byTree[key]
	if !ok {
		sources = plan.Sources(tree, l.tables)
		l.byTree[key] = sources
	}
	g := &graph{loader: l, target: target, tree: tree, index: map[joined]int{}, number: map[model.Field]int{}}
	return g.build(sources)
}

// graph is the ways to fill one target, under way.
type graph struct {
	*loader
	target  *model.Table
	tree    model.Tree
	number  map[model.Field]int
	needed  fields
	keys    []entityKey // by entity
	order   []int       // entities, the root first, neighbours after each other
	sources []part
	index   map[joined]int
	states  []joined
	depths  []int
	load    sequence.Load
}

type entityKey struct {
	fields     fields
	determined uint64
}

// part is a source with what it brings.
type part struct {
	table    *model.Table
	entities uint64
	fields   fields
	price    float64
	n        int // of the candidate, or choice.None
}

func (g *graph) field(f model.Field) int {
	n, ok := g.number[f]
	if !ok {
		n = len(g.number)
		g.number[f] = n
	}
	return n
}

func (g *graph) bit(e *model.Entity) uint64 { return 1 << slices.Index(g.tree.Entities, e) }

func (g *graph) build(sources []plan.Source) sequence.Load {
	for _, f := range g.target.Fields() {
		g.needed.add(g.field(f))
	}
	for _, e := range g.tree.Entities {
		k := entityKey{}
		for _, f := range e.KeyFields() {
			k.fields.add(g.field(f))
		}
		for _, d := range g.tree.Determined(e).Entities {
			k.determined |= g.bit(d)
		}
		g.keys = append(g.keys, k)
	}
	if len(g.number) > mostFields || len(g.tree.Entities) > 64 {
		return sequence.Load{}
	}
	g.arrange()
	for i := range sources {
		s := &sources[i]
		if s.Table == g.target || s.Beyond || slices.ContainsFunc(s.Lacking, func(f model.Field) bool { return !g.target.InKey(f) }) {
			continue
		}
		p := part{table: s.Table, entities: s.Covers, price: g.price(s.Table), n: choice.None}
		for _, f := range s.Fields {
			if n, ok := g.number[f]; ok {
				p.fields.add(n)
			}
		}
		if n, ok := g.loader.number[s.Table]; ok {
			p.n = n
		}
		g.sources = append(g.sources, p)
	}
	g.meet(joined{}, 0)
	g.states, g.depths = append(g.states, joined{}), append(g.depths, 0) // Answered
	for i := 0; i < len(g.states); i++ {
		if i != choice.Answered && g.depths[i] < g.depth {
			g.expand(i)
		}
	}
	g.load.States = len(g.states)
	g.arcs += len(g.load.Arcs)
	return g.load
}

// arrange orders the entities: first the one that determines most others, then neighbours.
func (g *graph) arrange() {
	root := 0
	for i := range g.keys {
		if bits.OnesCount64(g.keys[i].determined) > bits.OnesCount64(g.keys[root].determined) {
			root = i
		}
	}
	for _, e := range g.tree.Reach(g.tree.Entities[root], func(*model.Relationship, *model.Entity) bool { return true }).Entities {
		g.order = append(g.order, slices.Index(g.tree.Entities, e))
	}
}

func (g *graph) meet(s joined, depth int) int {
	if n, ok := g.index[s]; ok {
		return n
	}
	n := len(g.states)
	g.index[s] = n
	g.states, g.depths = append(g.states, s), append(g.depths, depth)
	return n
}

// expand reads one more table: one that brings the first thing which is missing.
func (g *graph) expand(at int) {
	s := g.states[at]
	entity, field := g.missing(s)
	last := g.depths[at] == g.depth-1
	for i := range g.sources {
		p := &g.sources[i]
		switch {
		case entity >= 0 && p.entities&(1<<entity) == 0, field >= 0 && !p.fields.has(field):
			continue
		case s.entities != 0 && !g.joins(s, p):
			continue
		}
		next := joined{s.entities | p.entities, s.fields.with(p.fields)}
		to := choice.Answered
		if next.entities != 1<<len(g.tree.Entities)-1 || !next.fields.holds(g.needed) {
			if last {
				continue
			}
			to = g.meet(next, g.depths[at]+1)
		}
		g.load.Arcs = append(g.load.Arcs, choice.Arc{From: at, To: to, Price: p.price, Table: p.n})
	}
}

// missing is the first entity that is not joined, or else the first field that is needed and not at hand.
func (g *graph) missing(s joined) (entity, field int) {
	for _, e := range g.order {
		if s.entities&(1<<e) == 0 {
			return e, -1
		}
	}
	for i := range g.number {
		_ = i
	}
	for n := range len(g.number) {
		if g.needed.has(n) && !s.fields.has(n) {
			return -1, n
		}
	}
	return -1, -1
}

// joins tells whether a source's rows join those at hand rightly: each entity that both have is determined by one of which
// both have the key.
func (g *graph) joins(s joined, p *part) bool {
	shared := s.entities & p.entities
	if shared == 0 {
		return false
	}
	both := s.fields.and(p.fields)
	determined := uint64(0)
	for e := range g.keys {
		if shared&(1<<e) != 0 && both.holds(g.keys[e].fields) {
			determined |= g.keys[e].determined
		}
	}
	return shared&^determined == 0
}

package plan

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Space is the plan space of a query over a set of tables: a graph of states without circles, in which every way from
// Start to Answered is a plan, and every plan is such a way (seed 003, figure 7, where states are the joints between
// column families).
//
// A state is what is known in the middle of a plan: which entities of the query are joined, which conditions hold, which
// fields are at hand, and whether the rows are in the order asked for. How many rows there are follows from that alone,
// or is part of the state (Estimator), so the cost of an arc does not depend on how its state was reached. An arc reads one table (or a look-up table and
// then its base) and filters at once by all conditions on fields at hand; the last one also sorts and limits.
//
// A table may be read first by parameters. It may be read later if its rows join the rows at hand rightly: they share
// entities, and the bound columns determine each shared entity. As query graphs have no circles, that is enough.
type Space struct {
	Query     *workload.Query
	Arcs      []*Arc
	States    int  // number of states
	Truncated bool // there are more plans than the limit let in

	out [][]*Arc // by the state that they leave
}

// The two states that every space has.
const (
	Start    = 0
	Answered = 1
)

// Arc is a stretch of a plan that reads one table.
type Arc struct {
	Number   int // in Space.Arcs
	From, To int
	// Table is what is read. A look-up table's base is read after it.
	Table *model.Table
	Steps []Step
}

// MaxArcs is the greatest number of arcs of a space. Beyond it plans are missing (Space.Truncated).
const MaxArcs = 20000

// set is a set of up to 256 fields, by index.
type set [4]uint64

func (s set) has(i int) bool   { return s[i>>6]&(1<<(i&63)) != 0 }
func (s *set) add(i int)       { s[i>>6] |= 1 << (i & 63) }
func (s set) holds(t set) bool { return t[0]&^s[0]|t[1]&^s[1]|t[2]&^s[2]|t[3]&^s[3] == 0 }

func (s *set) unite(t set) {
	for i := range s {
		s[i] |= t[i]
	}
}

// state is what is known in the middle of a plan.
type state struct {
	joined  uint64 // entities of the query
	applied uint64 // predicates of the query
	fields  set    // relevant fields at hand
	sorted  bool
	rows    float64 // at hand; only if the arithmetic makes them depend on the way (Estimator)
}

func (s state) point() Point { return Point{s.joined, s.applied, s.rows} }

// NewSpace builds the plan space of q over tables. It is an error if the query is too large to be planned at all; a
// query that the tables can not answer has a space without arcs.
//
// The steps' estimates are those of an arithmetic; nil is Means.
func NewSpace(q *workload.Query, tables []*model.Table, a Arithmetic) (*Space, error) {
	b, err := newBuilder(q, tables)
	if err != nil {
		return nil, err
	}
	if a == nil {
		a = Means{}
	}
	b.estimator = a.Reads(q)
	b.run()
	return b.space(), nil
}

type builder struct {
	query     *workload.Query
	estimator Estimator
	usable    []*usable
	fields    map[model.Field]int // relevant fields
	wanted    set                 // fields of SELECT and ORDER BY
	required  uint64              // entities that must be joined
	all       uint64              // all predicates

	states    []state
	index     map[state]int
	arcs      []*Arc
	truncated bool
}

// usable is a table that can take part in plans of the query.
type usable struct {
	table  *model.Table
	common uint64 // entities shared with the query
	fields set    // relevant fields that it holds
}

func newBuilder(q *workload.Query, tables []*model.Table) (*builder, error) {
	if len(q.Tree.Entities) > 64 || len(q.Where) > 64 {
		return nil, fmt.Errorf("query over %d entities with %d conditions: plans are made for up to 64 of each", len(q.Tree.Entities), len(q.Where))
	}
	b := &builder{query: q, fields: map[model.Field]int{}, index: map[state]int{}, all: 1<<len(q.Where) - 1}
	if len(q.Where) == 64 {
		b.all = ^uint64(0)
	}
	var listed []*usable
	for _, t := range tables {
		if u := b.usableFor(t); u != nil {
			listed = append(listed, u)
		}
	}
	for _, f := range append(append([]model.Field(nil), q.Select...), q.Ordered()...) {
		b.relevant(f)
	}
	for i := range len(b.fields) {
		b.wanted.add(i)
	}
	for _, p := range q.Where {
		b.relevant(p.Field)
	}
	// What binds later reads: the keys of entities, and whatever the application's own tables are keyed by.
	for _, e := range q.Tree.Entities {
		for _, f := range e.KeyFields() {
			b.relevant(f)
		}
	}
	for _, u := range listed {
		for _, f := range u.table.Key() {
			if u.table.Existing && q.Tree.Has(f.Entity) {
				b.relevant(f)
			}
		}
	}
	if len(b.fields) > 256 {
		return nil, fmt.Errorf("query with %d fields and keys: plans are made for up to 256", len(b.fields))
	}
	for _, u := range listed {
		for _, f := range u.table.Fields() {
			if i, ok := b.fields[f]; ok {
				u.fields.add(i)
			}
		}
	}
	b.usable = listed
	b.required = b.entities(needed(q))
	return b, nil
}

func (b *builder) relevant(f model.Field) {
	if _, ok := b.fields[f]; !ok {
		b.fields[f] = len(b.fields)
	}
}

// needed is the query's tree without the entities at its rim that change nothing: no field of them is asked for, and
// each row has exactly one.
func needed(q *workload.Query) model.Tree {
	used := map[*model.Entity]bool{}
	for _, f := range q.Select {
		used[f.Entity] = true
	}
	for _, f := range q.Ordered() {
		used[f.Entity] = true
	}
	for _, p := range q.Where {
		used[p.Field.Entity] = true
	}
	tree := q.Tree
	for again := true; again; {
		again = false
		for _, e := range tree.Entities {
			edge, ends := rim(tree, e)
			if used[e] || ends != 1 || !edge.ToOne(edge.Other(e)) || edge.Optional {
				continue
			}
			tree, _ = tree.Cut(edge, edge.Other(e))
			again = true
			break
		}
	}
	return tree
}

// rim returns an edge of e in the tree, and how many it has.
func rim(tree model.Tree, e *model.Entity) (edge *model.Relationship, n int) {
	for _, r := range tree.Edges {
		if r.Other(e) != nil {
			edge, n = r, n+1
		}
	}
	return edge, n
}

// entities returns the entities of tree as a set of entities of the query.
func (b *builder) entities(tree model.Tree) uint64 { return members(b.query.Tree, tree) }

// tree returns the part of the query's tree with these entities.
func (b *builder) tree(mask uint64) model.Tree { return part(b.query.Tree, mask) }

// usableFor returns nil if t can not take part: it shares nothing with the query, holds the shared entities in another
// relation to one another, or has rows that the query's join does not have one of each.
func (b *builder) usableFor(t *model.Table) *usable {
	common := b.query.Tree.Common(t.Tree)
	if len(common.Entities) == 0 || len(common.Edges) != len(common.Entities)-1 || !t.Identifies() {
		return nil
	}
	// What the table holds beyond the query must be there exactly once for each row.
	reached := t.Tree.Reach(common.Entities[0], func(r *model.Relationship, from *model.Entity) bool {
		return common.HasEdge(r) || !common.Has(r.Other(from)) && r.ToOne(from) && (!r.Optional || t.Existing)
	})
	if len(reached.Entities) != len(t.Tree.Entities) {
		return nil
	}
	return &usable{table: t, common: b.entities(common)}
}

// run expands states in the order in which they are met.
func (b *builder) run() {
	b.states = []state{{sorted: len(b.query.OrderBy) == 0}, {}}
	b.index[b.states[0]] = Start
	for i := 0; i < len(b.states); i++ {
		if i == Answered {
			continue
		}
		for _, u := range b.usable {
			for _, kind := range []Kind{Get, IndexGet, Scan} {
				b.expand(i, u, kind)
			}
			if len(b.arcs) >= MaxArcs {
				b.truncated = true
				return
			}
		}
	}
}

// expand adds the arc that reads u in a way from state i, if there is one.
func (b *builder) expand(i int, u *usable, kind Kind) {
	from := b.states[i]
	read, ok := b.access(from, u, kind)
	if !ok {
		return
	}
	to := state{joined: from.joined | u.common, fields: from.fields, sorted: from.sorted}
	if from.joined == 0 {
		to.sorted = len(b.query.OrderBy) == 0 || kind == Get && b.inOrder(u.table, read)
	}
	if base := u.table.Base; base != nil {
		held := b.usableFor(base)
		if held == nil || !covers(u.table, base) {
			return
		}
		to.joined |= held.common
		for _, f := range base.Fields() {
			if n, ok := b.fields[f]; ok {
				to.fields.add(n)
			}
		}
	} else {
		to.fields.unite(u.fields)
	}
	to.applied = from.applied | read.applied
	filtered := uint64(0)
	for n, p := range b.query.Where {
		if to.joined&b.bit(p.Field.Entity) == 0 {
			continue
		}
		if to.fields.has(b.fields[p.Field]) {
			filtered |= 1 << n &^ to.applied
		}
	}
	to.applied |= filtered
	for n, p := range b.query.Where { // the value of such a field is known
		if p.Op == workload.Equal && to.applied&(1<<n) != 0 {
			to.fields.add(b.fields[p.Field])
		}
	}
	answered := to.joined&b.required == b.required && to.applied == b.all && to.fields.holds(b.wanted)
	if from.joined == to.joined && from.applied == to.applied && from.fields == to.fields {
		return // nothing learnt
	}
	arc := &Arc{From: i, Table: u.table, Steps: b.steps(u, read, filtered)}
	if answered {
		b.finish(arc, from, to, filtered != 0)
	}
	served := Point{Joined: from.joined | u.common, Applied: from.applied | read.applied}
	to.rows = b.estimator.Estimate(&Read{Query: b.query, Table: u.table, From: from.point(), Served: served, To: to.point(), Fed: read.fed, Answers: answered, Sorted: to.sorted}, arc.Steps)
	if answered {
		arc.To = Answered
	} else {
		n, known := b.index[to]
		if !known {
			n = len(b.states)
			b.index[to] = n
			b.states = append(b.states, to)
		}
		arc.To = n
	}
	b.arcs = append(b.arcs, arc)
}

func (b *builder) bit(e *model.Entity) uint64 {
	for i, x := range b.query.Tree.Entities {
		if x == e {
			return 1 << i
		}
	}
	return 0
}

// covers tells whether a look-up table holds the whole primary key of its base.
func covers(lookUp, base *model.Table) bool {
	for _, f := range base.Key() {
		if !lookUp.InKey(f) {
			return false
		}
	}
	return true
}

// inOrder tells whether the rows of the first read come in the order asked for: the columns of ORDER BY follow the bound
// ones in the clustering key. Those bound by equality are the same in all rows.
func (b *builder) inOrder(t *model.Table, r access) bool {
	bound := map[model.Field]bool{}
	for _, x := range append(append([]Binding(nil), r.partition...), r.clustering...) {
		if x.Op == workload.Equal {
			bound[x.Field] = true
		}
	}
	at := 0
	for _, f := range b.query.Ordered() {
		if bound[f] {
			continue
		}
		for at < len(t.Clustering) && bound[t.Clustering[at]] {
			at++
		}
		if at == len(t.Clustering) || t.Clustering[at] != f {
			return false
		}
		at++
	}
	return true
}

// space drops the states and arcs that lead nowhere.
func (b *builder) space() *Space {
	back := make([][]int, len(b.states))
	for i, a := range b.arcs {
		back[a.To] = append(back[a.To], i)
	}
	live := make([]bool, len(b.states))
	live[Answered] = true
	for queue := []int{Answered}; len(queue) > 0; queue = queue[1:] {
		for _, i := range back[queue[0]] {
			if from := b.arcs[i].From; !live[from] {
				live[from] = true
				queue = append(queue, from)
			}
		}
	}
	number := make([]int, len(b.states))
	s := &Space{Query: b.query, Truncated: b.truncated}
	for i := range b.states {
		number[i] = s.States
		if live[i] || i <= Answered {
			s.States++
		}
	}
	for _, a := range b.arcs {
		if live[a.From] && live[a.To] {
			a.From, a.To = number[a.From], number[a.To]
			s.Arcs = append(s.Arcs, a)
		}
	}
	s.out = make([][]*Arc, s.States)
	for i, a := range s.Arcs {
		a.Number = i
		s.out[a.From] = append(s.out[a.From], a)
	}
	return s
}

// Plans returns all plans, up to a number.
func (s *Space) Plans(most int) []*Plan {
	var plans []*Plan
	var walk func(at int, way []*Arc)
	walk = func(at int, way []*Arc) {
		if len(plans) == most {
			return
		}
		if at == Answered {
			plans = append(plans, s.plan(way))
			return
		}
		for _, a := range s.out[at] {
			walk(a.To, append(way[:len(way):len(way)], a))
		}
	}
	walk(Start, nil)
	return plans
}

func (s *Space) plan(way []*Arc) *Plan {
	p := &Plan{Query: s.Query}
	for _, a := range way {
		p.Steps = append(p.Steps, a.Steps...)
	}
	return p
}

// Cheapest returns the plan of the least total price over the allowed tables, and the price; nil if there is none. Of
// equal ones it takes that whose arcs come first.
func (s *Space) Cheapest(price func(*Arc) float64, allowed func(*model.Table) bool) (*Plan, float64) {
	way, total := s.CheapestWay(price, allowed)
	if way == nil {
		return nil, 0
	}
	return s.plan(way), total
}

// CheapestWay is Cheapest for callers that want the arcs; nil if there is no plan.
func (s *Space) CheapestWay(price func(*Arc) float64, allowed func(*model.Table) bool) ([]*Arc, float64) {
	way, total, _ := s.CheapestBetween(Start, Answered, price, allowed)
	return way, total
}

// CheapestBetween returns the cheapest way from one state to another; false if there is none.
func (s *Space) CheapestBetween(from, to int, price func(*Arc) float64, allowed func(*model.Table) bool) ([]*Arc, float64, bool) {
	type best struct {
		arc   *Arc
		total float64
		known bool
	}
	found := make([]best, s.States)
	var rest func(at int) (float64, bool)
	rest = func(at int) (float64, bool) {
		if at == to {
			return 0, true
		}
		f := &found[at]
		if f.known {
			return f.total, f.arc != nil
		}
		f.known = true
		for _, a := range s.out[at] {
			if !allowed(a.Table) {
				continue
			}
			total, ok := rest(a.To)
			if !ok {
				continue
			}
			if total += price(a); f.arc == nil || total < f.total {
				f.arc, f.total = a, total
			}
		}
		return f.total, f.arc != nil
	}
	total, ok := rest(from)
	if !ok {
		return nil, 0, false
	}
	var way []*Arc
	for at := from; at != to; at = found[at].arc.To {
		way = append(way, found[at].arc)
	}
	return way, total, true
}

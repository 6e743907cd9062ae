package plan

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Space is the plan space of a query over a set of tables: a graph of states without circles, in which every path from
// SourceState to SinkState is a plan (seed 003, figure 7, where states are the joints between column families). Every plan is
// such a path, but for those that are never cheaper, whatever tables are chosen (dropDominatedArcs), and the dearest of very many
// (Truncated).
//
// A state is what is known in the middle of a plan: which entities of the query are joined, which conditions hold, which
// fields are at hand that can still be of use, and whether the rows are in the order asked for. How many rows there are follows from that alone,
// or is part of the state (Estimator), so the cost of an arc does not depend on how its state was reached. An arc reads
// one table (or a look-up table and then its base) and filters at once by all conditions on fields at hand; the last one
// also groups, sorts and limits.
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
	SourceState = 0
	SinkState   = 1
)

// Arc is a stretch of a plan that reads one table.
type Arc struct {
	Number   int // in Space.Arcs
	From, To int
	// Table is what is read. A look-up table's base is read after it.
	Table *model.Table
	Steps []Step
	// Hand, of an arc of what an application does by hand in place of the query, is the statement that it is of (OrByHand). Steps are those of one execution.
	Hand *Hand
}

// MaxArcs is about the greatest number of arcs of a space. Beyond it plans are missing, those of most requests and rows
// (Space.Truncated).
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
	rows    float64 // at hand; only if the arithmetic makes them depend on the path (Estimator)
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
	b.expandAll()
	b.dropDominatedArcs()
	return b.trimmedSpace(), nil
}

// expandAll expands states, always the one that is reached with the least effort: if the space gets too large, what is left out
// are plans of more effort than all that are in. It goes beyond MaxArcs only to find a plan at all.
func (b *builder) expandAll() {
	b.stateNumber(state{sorted: len(b.order) == 0}, 0)
	b.states, b.efforts = append(b.states, state{}), append(b.efforts, math.Inf(1))
	for len(b.open) > 0 {
		if len(b.arcs) >= MaxArcs && (!math.IsInf(b.efforts[SinkState], 1) || len(b.arcs) >= 4*MaxArcs) {
			b.truncated = true
			return
		}
		least := 0
		for n, i := range b.open {
			if b.efforts[i] < b.efforts[b.open[least]] {
				least = n
			}
		}
		i := b.open[least]
		b.open = slices.Delete(b.open, least, least+1)
		for _, u := range b.usable {
			for _, kind := range u.kinds {
				b.expandState(i, u, kind)
			}
		}
	}
}

// stateNumber returns the number of a state that is reached with some effort.
func (b *builder) stateNumber(s state, effort float64) int {
	n, known := b.index[s]
	if !known {
		n = len(b.states)
		b.index[s] = n
		b.states, b.efforts, b.open = append(b.states, s), append(b.efforts, effort), append(b.open, n)
	}
	b.efforts[n] = min(b.efforts[n], effort)
	return n
}

// arcEffort is a measure of an arc that all cost models roughly agree with: its requests, and a little for rows.
func arcEffort(steps []Step) float64 {
	sum := 0.0
	for i := range steps {
		s := &steps[i]
		sum += s.Requests + 0.01*s.Rows + 0.001*s.Scanned
	}
	return sum
}

// expandState adds the arc that reads u in a way from state i, if there is one.
func (b *builder) expandState(i int, u *usable, kind Kind) {
	from := b.states[i]
	nested := u.nestedEntities()
	if from.joined != 0 && (from.joined&u.common == 0 || from.joined&nested != 0 || !b.addsAnything(from, u)) {
		return
	}
	read, ok := b.accessTable(from, u, kind)
	if !ok {
		return
	}
	to := state{joined: from.joined | u.common, applied: from.applied | read.applied, fields: from.fields, sorted: from.sorted}
	if b.atMostOneRow(from) {
		to.sorted = len(b.order) == 0 || kind == Get && read.inOrder && !read.several
	}
	at := from.fields
	at.unite(u.fields)
	if u.base != nil {
		to.joined |= u.base.common
		at.unite(u.base.fields)
	}
	filtered := uint64(0)
	for n := range b.query.Where {
		if p := &b.predicates[n]; to.applied&(1<<n) == 0 && to.joined&p.entity != 0 && at.has(p.field) {
			filtered |= 1 << n
		}
	}
	to.applied |= filtered
	to.fields = b.usefulFields(at, to.applied)
	if from.joined == to.joined && from.applied == to.applied && from.fields == to.fields {
		return // nothing learnt that is of use
	}
	answered := to.joined&b.required == b.required && to.applied == b.all && to.fields.holds(b.wanted)
	arc := &Arc{From: i, Table: u.table, Steps: b.arcSteps(u, read, filtered)}
	arc.Steps[0].Reverse = read.reverse && to.sorted && b.atMostOneRow(from)
	if answered {
		b.finishArc(arc, from, to, u, read, filtered != 0)
	}
	served := Point{Joined: from.joined | u.common&^nested, Applied: from.applied | read.applied}
	to.rows = b.estimator.Estimate(&Read{Query: b.query, Table: u.table, From: from.point(), Served: served, To: to.point(), Fed: read.fed, Each: read.requests, Answers: answered, Sorted: to.sorted, Unnested: u.nested}, arc.Steps)
	spent := b.efforts[i] + arcEffort(arc.Steps)
	if arc.To = SinkState; answered {
		b.efforts[SinkState] = min(b.efforts[SinkState], spent)
	} else {
		arc.To = b.stateNumber(to, spent)
	}
	b.arcs = append(b.arcs, arc)
}

// Plans returns all plans, up to a number.
func (s *Space) Plans(most int) []*Plan {
	var plans []*Plan
	var walk func(at int, path []*Arc)
	walk = func(at int, path []*Arc) {
		if len(plans) == most {
			return
		}
		if at == SinkState {
			plans = append(plans, s.Plan(path))
			return
		}
		for _, a := range s.out[at] {
			walk(a.To, append(path[:len(path):len(path)], a))
		}
	}
	walk(SourceState, nil)
	return plans
}

// Plan is the plan along a path of the space's arcs; that along none has no steps.
func (s *Space) Plan(path []*Arc) *Plan {
	p := &Plan{Query: s.Query}
	for _, a := range path {
		p.Steps = append(p.Steps, a.Steps...)
	}
	return p
}

// Cheapest returns the plan of the least total price over the allowed tables, and the price; nil if there is none. Of
// equal ones it takes that whose arcs come first.
func (s *Space) Cheapest(price func(*Arc) float64, allowed func(*model.Table) bool) (*Plan, float64) {
	path, total := s.CheapestPath(price, allowed)
	if path == nil {
		return nil, 0
	}
	return s.Plan(path), total
}

// CheapestPath is Cheapest for callers that want the arcs; nil if there is no plan.
func (s *Space) CheapestPath(price func(*Arc) float64, allowed func(*model.Table) bool) ([]*Arc, float64) {
	type best struct {
		arc   *Arc
		total float64
		known bool
	}
	found := make([]best, s.States)
	var rest func(at int) (float64, bool)
	rest = func(at int) (float64, bool) {
		if at == SinkState {
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
	total, ok := rest(SourceState)
	if !ok {
		return nil, 0
	}
	var path []*Arc
	for at := SourceState; at != SinkState; at = found[at].arc.To {
		path = append(path, found[at].arc)
	}
	return path, total
}

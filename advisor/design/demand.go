package design

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/guard"
)

// demand is something to be answered: a query of the workload, always; or a support query of a write, if one of the
// tables that need it is chosen. Support queries of a statement, or of the statements of a transaction, that ask the same
// are one demand, unless the arithmetic says that nothing is shared.
type demand struct {
	name      string
	statement int // index in the workload
	times     float64
	space     *plan.Space
	prices    []float64           // of the arcs, work per execution
	needed    []int               // candidates that need the answer; nil for a query
	reads     []int               // candidates that occur in the space, ascending
	found     float64             // rows of the answer, by the cheapest plan with all candidates
	byTable   map[int][]*plan.Arc // arcs by candidate
	memo      map[string]answer
}

// answer is the cheapest path to satisfy a demand with some tables.
type answer struct {
	work     float64 // per execution
	feasible bool
}

// task is a workload prepared for choosing.
type task struct {
	work       *workload.Workload
	costs      cost.Model
	models     []cost.Model    // of the statements: at their consistency levels
	arithmetic plan.Arithmetic // the model's
	weights    []float64       // of the statements
	candidates []*model.Table
	existing   []*model.Table
	number     map[*model.Table]int // of candidates
	demands    []*demand
	queries    map[int]*demand     // of demands: those of the workload's queries, by statement
	supports   map[kept][]*demand  // of a write and a candidate that it modifies, in the order of SupportQueries
	puts       [][]float64         // by statement and candidate: work of deletes and puts, per execution
	readers    [][]int             // by candidate: the demands in whose space it occurs
	written    [][]int             // by statement: the candidates that it has to keep true
	writers    [][]int             // by candidate: the statements that have to keep it true
	asTheyAre  [][]*plan.WritePlan // by statement: how it writes the existing tables
	base       []float64           // by statement: work of writing the existing tables
	space      float64             // bytes, 0: no limit
	truncated  []string
	fixed      []bool // by candidate: it must be kept
	safe       *safetyCheck
	penalties  []float64 // by candidate: what each write to it costs besides its own work; empty: nothing
	graphs     map[*demand][]choice.Arc
	names      map[*model.Table]string                                 // of tables that are to have one; else the design makes some
	price      func(*workload.Statement, *plan.Arc, float64) float64   // Options.Price
	upkeep     func(*workload.Statement, *model.Table) (float64, bool) // Options.Upkeep
	hands      map[*workload.Statement]cost.Model                      // of statements said by hand

	phases []Phase
	last   time.Time // when the last phase ended
}

// kept is a candidate that is kept true under a write.
type kept struct{ statement, candidate int }

// newTask builds the plan spaces of all queries, and of all support queries that the candidates need, as far as those
// candidates can be of use.
//
// Tables with the IDs in fixed must be kept, as must those that are Kept.
func newTask(ctx context.Context, w *workload.Workload, o *Options, pool []*model.Table, fixed map[string]bool) (*task, error) {
	m := o.Cost
	t := &task{work: w, number: map[*model.Table]int{}, space: o.SpaceLimit, graphs: map[*demand][]choice.Arc{},
		costs: m, queries: map[int]*demand{}, arithmetic: cost.Arithmetic(m), supports: map[kept][]*demand{}, price: o.Price, upkeep: o.Upkeep, hands: map[*workload.Statement]cost.Model{}}
	for _, s := range w.Statements {
		at, err := cost.For(m, s)
		if err != nil {
			return nil, fmt.Errorf("design: %w", err)
		}
		t.weights, t.models = append(t.weights, s.Weight), append(t.models, at)
	}
	for _, table := range w.Tables {
		if !table.Kept {
			t.existing = append(t.existing, table)
		}
	}
	tables := append(append([]*model.Table(nil), t.existing...), pool...)
	spaces, seen := newSpaces(ctx, w, tables, t.arithmetic), map[*plan.Space]bool{}
	var queue []*model.Table
	useful := map[*model.Table]bool{}
	for _, table := range pool {
		if table.Kept || fixed[table.ID()] {
			useful[table] = true
			queue = append(queue, table)
		}
	}
	plans := func(q *workload.Query) (*plan.Space, error) {
		s, err := spaces.spaceOf(ctx, q)
		if err != nil || seen[s] {
			return s, err
		}
		seen[s] = true
		if s.Truncated {
			t.truncated = append(t.truncated, fmt.Sprintf("%s: plans cut off at %d arcs", q, plan.MaxArcs))
		}
		for _, a := range s.Arcs {
			if !a.Table.Existing && !useful[a.Table] {
				useful[a.Table] = true
				queue = append(queue, a.Table)
			}
		}
		return s, nil
	}
	for i, s := range w.Statements {
		if s.Query == nil {
			continue
		}
		space, err := plans(s.Query)
		if err != nil {
			return nil, fmt.Errorf("design: statement %s: %w", s.ID, err)
		}
		space = overOnly(s, space)
		if len(s.ByHand) > 0 {
			if space, err = t.orByHand(s, space, plans); err != nil {
				return nil, fmt.Errorf("design: statement %s: %w", s.ID, err)
			}
		}
		if len(space.Arcs) == 0 {
			return nil, &UnanswerableError{Statement: s.ID, Query: s.Query.String()}
		}
		if space, err = t.withinCeiling(i, space); err != nil {
			return nil, err
		}
		t.queries[i] = &demand{name: s.ID, statement: i, times: 1, space: space}
		t.demands = append(t.demands, t.queries[i])
	}
	groups := transactionGroups(w)
	shared := map[string]*demand{}
	for len(queue) > 0 {
		table := queue[0]
		queue = queue[1:]
		t.number[table] = len(t.candidates)
		t.candidates = append(t.candidates, table)
		t.fixed = append(t.fixed, table.Kept || fixed[table.ID()])
		for i, s := range w.Statements {
			if s.Write == nil || t.isGiven(i, table) || !t.arithmetic.Modifies(s.Write, table) {
				continue
			}
			for _, support := range t.arithmetic.SupportQueries(s.Write, table) {
				key := fmt.Sprintf("%d %g %s", groups[i], support.Times, support.Query.Key())
				if !t.arithmetic.Shares() {
					key = fmt.Sprintf("%s for %d by %d", key, t.number[table], i)
				}
				d := shared[key]
				if d == nil {
					space, err := plans(support.Query)
					if err != nil {
						return nil, fmt.Errorf("design: support query of %s: %w", s.ID, err)
					}
					d = &demand{name: s.ID + " support", statement: i, times: support.Times, space: space}
					shared[key] = d
					t.demands = append(t.demands, d)
				}
				if n := t.number[table]; len(d.needed) == 0 || d.needed[len(d.needed)-1] != n {
					d.needed = append(d.needed, n)
				}
				which := kept{i, t.number[table]}
				t.supports[which] = append(t.supports[which], d)
			}
		}
	}
	t.shareAnswers(groups)
	t.priceAll()
	return t, nil
}

// overOnly is the space of what a statement may read.
func overOnly(s *workload.Statement, space *plan.Space) *plan.Space {
	if only := s.Only; only != nil {
		return space.OverTables(func(t *model.Table) bool { return t == only || t.Base == only })
	}
	return space
}

// orByHand adds to the plans of a query what the application does by hand.
func (t *task) orByHand(s *workload.Statement, space *plan.Space, plans func(*workload.Query) (*plan.Space, error)) (*plan.Space, error) {
	var hands []plan.Hand
	for _, part := range s.ByHand {
		own, err := plans(part.Statement.Query)
		if err != nil {
			return nil, err
		}
		if t.hands[part.Statement], err = cost.For(t.costs, part.Statement); err != nil {
			return nil, err
		}
		hands = append(hands, plan.Hand{Statement: part.Statement, Space: overOnly(part.Statement, own), Times: part.Times})
	}
	whole := space.OverTables(func(table *model.Table) bool { return table.Base == nil }) // one statement of the application's: no look-up is between it and a table
	return whole.OrByHand(func(table *model.Table) bool { return !table.Existing }, hands), nil
}

// given is what a statement's upkeep of a table is known to cost (Options.Upkeep).
func (t *task) given(statement int, table *model.Table) (work float64, known bool) {
	if t.upkeep == nil {
		return 0, false
	}
	return t.upkeep(t.work.Statements[statement], table)
}

func (t *task) isGiven(statement int, table *model.Table) bool {
	_, known := t.given(statement, table)
	return known
}

// shareAnswers gives support queries the answers of others of their statement or transaction that ask for more: where a table is kept for
// which that is asked, nothing else is (plan.Holds, as package exec has it). Writes with a ceiling wait for each answer by itself
// (solveWithCeilings), and share only what asks the same.
func (t *task) shareAnswers(groups []int) {
	if !t.arithmetic.Shares() {
		return
	}
	waiting := map[int]bool{}
	for _, group := range t.ceilingWrites() {
		waiting[groups[group[0].statement]] = true
	}
	alike := map[string][]*demand{}
	for _, d := range t.demands {
		if g := groups[d.statement]; len(d.needed) > 0 && !waiting[g] {
			key := fmt.Sprintf("%d %g %v", g, d.times, d.space.Query.Where)
			alike[key] = append(alike[key], d)
		}
	}
	for _, d := range t.demands {
		if len(d.needed) == 0 || waiting[groups[d.statement]] {
			continue
		}
		var held []int
		for _, other := range alike[fmt.Sprintf("%d %g %v", groups[d.statement], d.times, d.space.Query.Where)] {
			if plan.AnswerHolds(other.space.Query, d.space.Query) {
				held = append(held, other.needed...)
			}
		}
		slices.Sort(held)
		var tables []*model.Table
		for _, n := range slices.Compact(held) {
			tables = append(tables, t.candidates[n])
		}
		if len(tables) > 0 {
			d.space = d.space.WithAnswers(tables)
		}
	}
}

// UnanswerableError says that no plan answers a query over the tables that are allowed.
type UnanswerableError struct {
	Statement, Query string
	Most             int // candidates that could be proposed, if there were more; 0: there were not
}

func (e *UnanswerableError) Error() string {
	if e.Most > 0 {
		return fmt.Sprintf("design: none of the %d tables that were proposed at most answers statement %s (%s): allow more", e.Most, e.Statement, e.Query)
	}
	return fmt.Sprintf("design: no table that is allowed answers statement %s (%s): it needs an equality condition, or existing tables that can be scanned", e.Statement, e.Query)
}

// priceAll prices all arcs and writes.
func (t *task) priceAll() {
	t.readers = make([][]int, len(t.candidates))
	guard.Each(guard.Advice, runtime.GOMAXPROCS(0), len(t.demands), func(i int) { t.priceReads(t.demands[i]) })
	for n, d := range t.demands {
		for _, c := range d.reads {
			t.readers[c] = append(t.readers[c], n)
		}
	}
	t.puts = make([][]float64, len(t.work.Statements))
	t.base = make([]float64, len(t.work.Statements))
	t.written, t.writers = make([][]int, len(t.work.Statements)), make([][]int, len(t.candidates))
	t.asTheyAre = make([][]*plan.WritePlan, len(t.work.Statements))
	for i, s := range t.work.Statements {
		t.puts[i] = make([]float64, len(t.candidates))
		if s.Write == nil {
			continue
		}
		for c := range t.candidates {
			work, known := t.given(i, t.candidates[c])
			switch {
			case known && work == 0, !known && !t.arithmetic.Modifies(s.Write, t.candidates[c]):
				continue
			case !known:
				work = stepsWork(t.models[i], t.writeSteps(i, c))
			}
			t.puts[i][c] = work
			t.written[i], t.writers[c] = append(t.written[i], c), append(t.writers[c], i)
		}
		for _, table := range t.existing {
			if t.writesExisting(s.Write, table) {
				p := &plan.WritePlan{Write: s.Write, Table: table, Steps: t.arithmetic.WriteSteps(s.Write, table, nil)}
				t.asTheyAre[i] = append(t.asTheyAre[i], p)
				t.base[i] += stepsWork(t.models[i], p.Steps)
			}
		}
	}
}

// writesExisting tells whether a write changes a table that is there. One by which the rows of another are found is among the others, too, as what it is: it is written once.
func (t *task) writesExisting(w *workload.Write, table *model.Table) bool {
	return table.Base == nil && t.arithmetic.Modifies(w, table)
}

// priceReads prices the arcs of a demand, and lists what it reads.
func (t *task) priceReads(d *demand) {
	d.memo = map[string]answer{}
	d.prices = make([]float64, len(d.space.Arcs))
	d.byTable = map[int][]*plan.Arc{}
	d.reads = nil
	for i, a := range d.space.Arcs {
		d.prices[i] = t.arcWork(d.statement, a)
		if c, ok := t.number[a.Table]; ok {
			d.byTable[c] = append(d.byTable[c], a)
		}
	}
	for c := range d.byTable {
		d.reads = append(d.reads, c)
	}
	sort.Ints(d.reads)
	path, _ := d.space.CheapestPath(func(a *plan.Arc) float64 {
		if len(a.Steps) == 0 { // it asks nothing
			return math.Inf(1)
		}
		return d.prices[a.Number]
	}, everything)
	if path != nil && len(path[len(path)-1].Steps) > 0 {
		last := path[len(path)-1].Steps
		d.found = last[len(last)-1].Left
	}
}

// arcWork is the work of an arc, for one execution of a statement.
func (t *task) arcWork(statement int, a *plan.Arc) float64 {
	s, m, times := t.work.Statements[statement], t.models[statement], 1.0
	if h := a.Hand; h != nil {
		s, m, times = h.Statement, t.hands[h.Statement], h.Times
	}
	work := arcCost(m, a).Work
	if t.price != nil {
		work = t.price(s, a, work)
	}
	return times * work
}

// writeSteps returns how a write statement is applied to a candidate, nothing if it does not modify it.
func (t *task) writeSteps(statement, candidate int) []plan.Step {
	w, table := t.work.Statements[statement].Write, t.candidates[candidate]
	if t.isGiven(statement, table) || !t.arithmetic.Modifies(w, table) {
		return nil
	}
	var found []float64
	for _, d := range t.supports[kept{statement, candidate}] {
		found = append(found, d.found)
	}
	return t.arithmetic.WriteSteps(w, table, found)
}

func stepsWork(m cost.Model, steps []plan.Step) float64 {
	sum := 0.0
	for i := range steps {
		sum += m.Step(&steps[i], false).Work
	}
	return sum
}

// selection is a set of candidates, by number.
type selection []bool

func (c selection) with(n int) selection {
	d := append(selection(nil), c...)
	d[n] = true
	return d
}

func everything(*model.Table) bool { return true }

// allowedBy allows the existing tables and those of a choice.
func (t *task) allowedBy(c selection) func(*model.Table) bool {
	return func(table *model.Table) bool {
		n, candidate := t.number[table]
		return !candidate || c[n]
	}
}

// presentUnder reports whether a demand is there under a choice.
func (d *demand) presentUnder(c selection) bool {
	if d.needed == nil {
		return true
	}
	for _, n := range d.needed {
		if c[n] {
			return true
		}
	}
	return false
}

// cheapestAnswer is the least work of a demand when candidates are allowed.
func (t *task) cheapestAnswer(d *demand, allowed func(n int) bool) answer {
	path, total := d.space.CheapestPath(t.priceOf(d), func(table *model.Table) bool {
		n, candidate := t.number[table]
		return !candidate || allowed(n)
	})
	return answer{total, path != nil}
}

// priceOf looks arcs' prices up.
func (t *task) priceOf(d *demand) func(*plan.Arc) float64 {
	return func(a *plan.Arc) float64 { return d.prices[a.Number] }
}

// cachedAnswer is the demand's cheapest answer under a choice, remembered.
func (t *task) cachedAnswer(d *demand, c selection) answer {
	key := make([]byte, (len(d.reads)+7)/8)
	for i, n := range d.reads {
		if c[n] {
			key[i>>3] |= 1 << (i & 7)
		}
	}
	if a, ok := d.memo[string(key)]; ok {
		return a
	}
	a := t.cheapestAnswer(d, func(n int) bool { return c[n] })
	d.memo[string(key)] = a
	return a
}

// totalWork is the weighted work under a choice, without that of existing tables' writes; false if something can not be
// answered, or not in time, or the tables are too large.
func (t *task) totalWork(c selection) (float64, bool) {
	sum, size := 0.0, 0.0
	for n, table := range t.candidates {
		if !c[n] {
			continue
		}
		sum += t.putWork(n)
		if !table.Kept {
			size += t.arithmetic.TableBytes(table)
		}
	}
	if t.space > 0 && size > t.space {
		return 0, false
	}
	for _, d := range t.demands {
		if !d.presentUnder(c) {
			continue
		}
		a := t.cachedAnswer(d, c)
		if !a.feasible {
			return 0, false
		}
		sum += t.weights[d.statement] * d.times * a.work
	}
	_, extra, inTime := t.ceilingPaths(c)
	return sum + extra, inTime
}

// putWork is the weighted work of keeping a candidate, without support queries.
func (t *task) putWork(n int) float64 {
	sum := 0.0
	for _, i := range t.writers[n] {
		sum += t.weights[i] * t.puts[i][n]
	}
	return sum
}

// existingWrites is the weighted work of writing the existing tables.
func (t *task) existingWrites() float64 {
	sum := 0.0
	for i, w := range t.weights {
		sum += w * t.base[i]
	}
	return sum
}

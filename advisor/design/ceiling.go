package design

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
)

// CeilingError says that a statement can not be as quick as it must be.
type CeilingError struct {
	Statement string
	Query     string  // that has no plan quick enough; empty: a write, over all that must be done for it
	Ceiling   float64 // milliseconds: what is allowed
	Least     float64 // and what the quickest plan takes; of a write, the quickest that was found
}

func (e *CeilingError) Error() string {
	if e.Query == "" {
		return fmt.Sprintf("design: no choice of tables keeps write %s within its ceiling of %g ms: the quickest found takes %.4g ms with all that it has to ask and to change", e.Statement, e.Ceiling, e.Least)
	}
	return fmt.Sprintf("design: statement %s (%s) has no plan within its ceiling of %g ms: the quickest takes %.4g ms", e.Statement, e.Query, e.Ceiling, e.Least)
}

// withinCeiling leaves out the plans of a query that take longer than the statement's ceiling. A cost model that does not count in
// milliseconds knows no latency; then there is no ceiling.
func (t *task) withinCeiling(statement int, s *plan.Space) (*plan.Space, error) {
	ceiling, m := t.work.Statements[statement].Ceiling, t.models[statement]
	if ceiling <= 0 || unitOf(m.Name()) != "ms" {
		return s, nil
	}
	within, least := s.WithinLatency(func(a *plan.Arc) float64 { return arcCost(m, a).Latency }, ceiling)
	if len(within.Arcs) == 0 && !math.IsInf(least, 1) {
		return nil, &CeilingError{Statement: t.work.Statements[statement].ID, Query: s.Query.String(), Ceiling: ceiling, Least: least}
	}
	if within.Truncated && !s.Truncated {
		t.truncated = append(t.truncated, fmt.Sprintf("%s: plans within the ceiling cut off at %d arcs", s.Query, plan.MaxArcs))
	}
	return within, nil
}

// lateWrites lists the writes that take longer than their ceiling. There are some only if the search for a choice without ended
// before it found one (solveWithCeilings).
func (d *Design) lateWrites() (list []string) {
	for _, s := range d.Statements {
		if c := s.Statement.Ceiling; c > 0 && s.Cost.Latency > c*(1+1e-9) && unitOf(d.Model) == "ms" {
			list = append(list, fmt.Sprintf("%s takes %.4g ms until done, its ceiling is %g: all tables that it changes are written", s.Statement.ID, s.Cost.Latency, c))
		}
	}
	return list
}

// ceilingWrite is a write with a ceiling.
type ceilingWrite struct {
	statement int
	ceiling   float64
}

// ceilingWrites are the writes with a ceiling, by transaction: those of one may share what they ask.
func (t *task) ceilingWrites() (groups [][]ceilingWrite) {
	number := transactionGroups(t.work)
	at := map[int]int{}
	for i, s := range t.work.Statements {
		if s.Write == nil || s.Ceiling <= 0 || unitOf(t.models[i].Name()) != "ms" {
			continue
		}
		n, known := at[number[i]]
		if !known {
			n = len(groups)
			at[number[i]], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], ceilingWrite{i, s.Ceiling * (1 + 1e-9)})
	}
	return groups
}

// supportOf are the support queries that a write needs answered for some candidates, each once. It waits for all, also for those
// that another statement of its transaction has asked.
func (t *task) supportOf(statement int, c selection) (list []*demand) {
	for n := range c {
		if !c[n] {
			continue
		}
		for _, d := range t.supports[kept{statement, n}] {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}

// applyLatency is how long the deletes and puts of a write take under a choice.
func (t *task) applyLatency(statement int, c selection) float64 {
	m := t.models[statement]
	var removed, put []cost.Cost
	add := func(steps []plan.Step) {
		for i := range steps {
			if price := m.Step(&steps[i], false); steps[i].Kind == plan.Remove {
				removed = append(removed, price)
			} else {
				put = append(put, price)
			}
		}
	}
	write := t.work.Statements[statement].Write
	for _, table := range t.existing {
		if t.writesExisting(write, table) {
			add(t.arithmetic.WriteSteps(write, table, nil))
		}
	}
	for n := range c {
		if c[n] {
			add(t.writeSteps(statement, n))
		}
	}
	return cost.Together(m, removed).Plus(cost.Together(m, put)).Latency
}

// askLatency is how long it takes to ask several things at once.
func (t *task) askLatency(statement int, each []float64) float64 {
	list := make([]cost.Cost, len(each))
	for i, x := range each {
		list[i] = cost.Cost{Work: x, Latency: x}
	}
	return cost.Together(t.models[statement], list).Latency
}

// writeLatency is how long a write takes until done under a choice, if support queries are answered by these paths, or else the
// cheapest.
func (t *task) writeLatency(statement int, c selection, paths map[*demand][]*plan.Arc) float64 {
	var each []float64
	for _, d := range t.supportOf(statement, c) {
		path := paths[d]
		if path == nil {
			path, _ = d.space.CheapestPath(t.priceOf(d), t.allowedBy(c))
		}
		sum := 0.0
		for _, a := range path {
			sum += arcCost(t.models[statement], a).Latency
		}
		each = append(each, sum*d.times)
	}
	return t.askLatency(statement, each) + t.applyLatency(statement, c)
}

// pricedPath is a path to answer a demand, with what it takes.
type pricedPath struct {
	path []*plan.Arc
	cost cost.Cost // with the demand's times
}

// paretoPaths are the paths to answer a demand over some tables of which no other is both cheaper and quicker, the cheapest first.
func (t *task) paretoPaths(d *demand, c selection) []pricedPath {
	m, allowed := t.models[d.statement], t.allowedBy(c)
	known := make([][]pricedPath, d.space.States)
	done := make([]bool, d.space.States)
	out := make([][]*plan.Arc, d.space.States)
	for _, a := range d.space.Arcs {
		if allowed(a.Table) {
			out[a.From] = append(out[a.From], a)
		}
	}
	var rest func(at int) []pricedPath
	rest = func(at int) []pricedPath {
		if at == plan.SinkState {
			return []pricedPath{{}}
		}
		if done[at] {
			return known[at]
		}
		done[at] = true
		var list []pricedPath
		for _, a := range out[at] {
			price := arcCost(m, a)
			for _, p := range rest(a.To) {
				list = append(list, pricedPath{append([]*plan.Arc{a}, p.path...), price.Plus(p.cost)})
			}
		}
		known[at] = undominated(list)
		return known[at]
	}
	list := slices.Clone(rest(plan.SourceState))
	for i := range list {
		list[i].cost = list[i].cost.Times(d.times)
	}
	return list
}

// mostPaths is how many paths are kept of one state: more than were ever met.
const mostPaths = 64

// undominated keeps the paths of which no other is cheaper and quicker; of too many the cheapest, and the quickest.
func undominated(list []pricedPath) []pricedPath {
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].cost.Work != list[j].cost.Work {
			return list[i].cost.Work < list[j].cost.Work
		}
		return list[i].cost.Latency < list[j].cost.Latency
	})
	var kept []pricedPath
	for _, p := range list {
		if len(kept) == 0 || p.cost.Latency < kept[len(kept)-1].cost.Latency*(1-1e-12) {
			kept = append(kept, p)
		}
	}
	if len(kept) > mostPaths {
		kept = append(kept[:mostPaths-1], kept[len(kept)-1])
	}
	return kept
}

// cheapestInTime chooses the paths by which the writes of a transaction learn what they need over a choice: the cheapest with which
// all are done in time. extra is what that costs more, per execution, than the cheapest paths do. False: some write is late
// whatever the paths; the paths are the quickest then.
func (t *task) cheapestInTime(group []ceilingWrite, c selection) (paths map[*demand][]*plan.Arc, extra float64, inTime bool) {
	var demands []*demand
	for _, h := range group {
		for _, d := range t.supportOf(h.statement, c) {
			if !slices.Contains(demands, d) {
				demands = append(demands, d)
			}
		}
	}
	options := make([][]pricedPath, len(demands))
	at := map[*demand]int{}
	quickest, chosen := make([]float64, len(demands)), make([]int, len(demands))
	for i, d := range demands {
		if options[i] = t.paretoPaths(d, c); len(options[i]) == 0 {
			return nil, 0, true // the choice does not answer it at all, which is not a question of time
		}
		at[d] = i
		quickest[i], chosen[i] = options[i][len(options[i])-1].cost.Latency, len(options[i])-1
	}
	type limit struct {
		statement int
		of        []int
		most      float64
	}
	var limits []limit
	for _, h := range group {
		l := limit{statement: h.statement, most: h.ceiling - t.applyLatency(h.statement, c)}
		for _, d := range t.supportOf(h.statement, c) {
			l.of = append(l.of, at[d])
		}
		limits = append(limits, l)
	}
	now := slices.Clone(quickest)
	within := func() bool {
		for _, l := range limits {
			each := make([]float64, len(l.of))
			for n, i := range l.of {
				each[n] = now[i]
			}
			if t.askLatency(l.statement, each) > l.most {
				return false
			}
		}
		return true
	}
	least, tries := math.Inf(1), 0
	if within() {
		least = 0
		for i := range options {
			least += options[i][chosen[i]].cost.Work - options[i][0].cost.Work
		}
		inTime = true
	}
	current := slices.Clone(chosen)
	var try func(i int, more float64)
	try = func(i int, more float64) {
		if tries++; more >= least || tries > mostTries || !within() {
			return
		}
		if i == len(options) {
			least = more
			copy(chosen, current)
			return
		}
		for n := range options[i] {
			current[i], now[i] = n, options[i][n].cost.Latency
			try(i+1, more+options[i][n].cost.Work-options[i][0].cost.Work)
		}
		now[i] = quickest[i]
	}
	if inTime {
		try(0, 0)
		extra = least
	}
	paths = map[*demand][]*plan.Arc{}
	for i, d := range demands {
		paths[d] = options[i][chosen[i]].path
	}
	return paths, extra, inTime
}

// mostTries bounds the combinations of paths that are looked at for one transaction.
const mostTries = 200_000

// ceilingPaths are the paths by which writes with a ceiling learn what they need, and what these cost more in all than the cheapest. False: a write is late whatever the paths.
func (t *task) ceilingPaths(c selection) (paths map[*demand][]*plan.Arc, extra float64, inTime bool) {
	inTime = true
	for _, group := range t.ceilingWrites() {
		own, more, ok := t.cheapestInTime(group, c)
		if paths == nil {
			paths = map[*demand][]*plan.Arc{}
		}
		maps.Copy(paths, own)
		extra, inTime = extra+t.weights[group[0].statement]*more, inTime && ok
	}
	return paths, extra, inTime
}

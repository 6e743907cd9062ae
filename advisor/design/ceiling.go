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

// inTime leaves out the plans of a query that take longer than the statement's ceiling. A cost model that does not count in
// milliseconds knows no latency; then there is no ceiling.
func (t *task) inTime(statement int, s *plan.Space) (*plan.Space, error) {
	ceiling, m := t.work.Statements[statement].Ceiling, t.models[statement]
	if ceiling <= 0 || unit(m.Name()) != "ms" {
		return s, nil
	}
	within, least := s.Within(func(a *plan.Arc) float64 { return arcCost(m, a).Latency }, ceiling)
	if len(within.Arcs) == 0 && !math.IsInf(least, 1) {
		return nil, &CeilingError{Statement: t.work.Statements[statement].ID, Query: s.Query.String(), Ceiling: ceiling, Least: least}
	}
	if within.Truncated && !s.Truncated {
		t.truncated = append(t.truncated, fmt.Sprintf("%s: plans within the ceiling cut off at %d arcs", s.Query, plan.MaxArcs))
	}
	return within, nil
}

// late lists the writes that take longer than their ceiling. There are some only if the search for a choice without ended
// before it found one (hold).
func (d *Design) late() (list []string) {
	for _, s := range d.Statements {
		if c := s.Statement.Ceiling; c > 0 && s.Cost.Latency > c*(1+1e-9) && unit(d.Model) == "ms" {
			list = append(list, fmt.Sprintf("%s takes %.4g ms until done, its ceiling is %g: all tables that it changes are written", s.Statement.ID, s.Cost.Latency, c))
		}
	}
	return list
}

// hurried is a write with a ceiling.
type hurried struct {
	statement int
	ceiling   float64
}

// hurries are the writes with a ceiling, by transaction: those of one may share what they ask.
func (t *task) hurries() (groups [][]hurried) {
	number := together(t.work)
	at := map[int]int{}
	for i, s := range t.work.Statements {
		if s.Write == nil || s.Ceiling <= 0 || unit(t.models[i].Name()) != "ms" {
			continue
		}
		n, known := at[number[i]]
		if !known {
			n = len(groups)
			at[number[i]], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], hurried{i, s.Ceiling * (1 + 1e-9)})
	}
	return groups
}

// asks are the support queries that a write needs answered for some candidates, each once. It waits for all, also for those
// that another statement of its transaction has asked.
func (t *task) asks(statement int, c selection) (list []*demand) {
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

// applied is how long the deletes and puts of a write take under a choice.
func (t *task) applied(statement int, c selection) float64 {
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
		if t.arithmetic.Modifies(write, table) {
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

// asked is how long it takes to ask several things at once.
func (t *task) asked(statement int, each []float64) float64 {
	list := make([]cost.Cost, len(each))
	for i, x := range each {
		list[i] = cost.Cost{Work: x, Latency: x}
	}
	return cost.Together(t.models[statement], list).Latency
}

// until is how long a write takes until done under a choice, if support queries are answered by these ways, or else the
// cheapest.
func (t *task) until(statement int, c selection, ways map[*demand][]*plan.Arc) float64 {
	var each []float64
	for _, d := range t.asks(statement, c) {
		way := ways[d]
		if way == nil {
			way, _ = d.space.CheapestWay(t.priceOf(d), t.chosen(c))
		}
		sum := 0.0
		for _, a := range way {
			sum += arcCost(t.models[statement], a).Latency
		}
		each = append(each, sum*d.times)
	}
	return t.asked(statement, each) + t.applied(statement, c)
}

// pace is a way to answer a demand, with what it takes.
type pace struct {
	way  []*plan.Arc
	cost cost.Cost // with the demand's times
}

// paces are the ways to answer a demand over some tables of which no other is both cheaper and quicker, the cheapest first.
func (t *task) paces(d *demand, c selection) []pace {
	m, allowed := t.models[d.statement], t.chosen(c)
	known := make([][]pace, d.space.States)
	done := make([]bool, d.space.States)
	out := make([][]*plan.Arc, d.space.States)
	for _, a := range d.space.Arcs {
		if allowed(a.Table) {
			out[a.From] = append(out[a.From], a)
		}
	}
	var rest func(at int) []pace
	rest = func(at int) []pace {
		if at == plan.Answered {
			return []pace{{}}
		}
		if done[at] {
			return known[at]
		}
		done[at] = true
		var list []pace
		for _, a := range out[at] {
			price := arcCost(m, a)
			for _, p := range rest(a.To) {
				list = append(list, pace{append([]*plan.Arc{a}, p.way...), price.Plus(p.cost)})
			}
		}
		known[at] = undominated(list)
		return known[at]
	}
	list := slices.Clone(rest(plan.Start))
	for i := range list {
		list[i].cost = list[i].cost.Times(d.times)
	}
	return list
}

// mostPaces is how many ways are kept of one state: more than were ever met.
const mostPaces = 64

// undominated keeps the ways of which no other is cheaper and quicker; of too many the cheapest, and the quickest.
func undominated(list []pace) []pace {
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].cost.Work != list[j].cost.Work {
			return list[i].cost.Work < list[j].cost.Work
		}
		return list[i].cost.Latency < list[j].cost.Latency
	})
	var kept []pace
	for _, p := range list {
		if len(kept) == 0 || p.cost.Latency < kept[len(kept)-1].cost.Latency*(1-1e-12) {
			kept = append(kept, p)
		}
	}
	if len(kept) > mostPaces {
		kept = append(kept[:mostPaces-1], kept[len(kept)-1])
	}
	return kept
}

// hurry chooses the ways by which the writes of a transaction learn what they need over a choice: the cheapest with which
// all are done in time. extra is what that costs more, per execution, than the cheapest ways do. False: some write is late
// whatever the ways; the ways are the quickest then.
func (t *task) hurry(group []hurried, c selection) (ways map[*demand][]*plan.Arc, extra float64, inTime bool) {
	var demands []*demand
	for _, h := range group {
		for _, d := range t.asks(h.statement, c) {
			if !slices.Contains(demands, d) {
				demands = append(demands, d)
			}
		}
	}
	options := make([][]pace, len(demands))
	at := map[*demand]int{}
	quickest, chosen := make([]float64, len(demands)), make([]int, len(demands))
	for i, d := range demands {
		if options[i] = t.paces(d, c); len(options[i]) == 0 {
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
		l := limit{statement: h.statement, most: h.ceiling - t.applied(h.statement, c)}
		for _, d := range t.asks(h.statement, c) {
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
			if t.asked(l.statement, each) > l.most {
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
	ways = map[*demand][]*plan.Arc{}
	for i, d := range demands {
		ways[d] = options[i][chosen[i]].way
	}
	return ways, extra, inTime
}

// mostTries bounds the combinations of ways that are looked at for one transaction.
const mostTries = 200_000

// hurried are the ways by which writes with a ceiling learn what they need, and what these cost more in all than the cheapest. False: a write is late whatever the ways.
func (t *task) hurried(c selection) (ways map[*demand][]*plan.Arc, extra float64, inTime bool) {
	inTime = true
	for _, group := range t.hurries() {
		own, more, ok := t.hurry(group, c)
		if ways == nil {
			ways = map[*demand][]*plan.Arc{}
		}
		maps.Copy(ways, own)
		extra, inTime = extra+t.weights[group[0].statement]*more, inTime && ok
	}
	return ways, extra, inTime
}

package sequence

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helenus-db/helenus/advisor/graph"
)

// AnnealOptions says how to look for a better sequence by chance.
type AnnealOptions struct {
	Start   [][]bool // a sequence to begin from: heat is measured by what it costs
	Changes int      // that are tried
	Rounds  int      // 0: from a heat at which little is left of Start; else so many, each from the best so far and not far from it (refine.go)
	Seed    uint64
}

// Anneal looks for a sequence that costs less than one. It answers the best that it met, within all limits; the error is an *InvalidError or an *UnsatisfiableError,
// or says that it met none. When the context ends it answers what it has.
func Anneal(ctx context.Context, p *Problem, o AnnealOptions) ([][]bool, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	s := newAnnealing(in, o.Seed)
	s.setSequence(o.Start)
	if o.Rounds == 0 || s.best == nil {
		s.coolDown(ctx, o.Changes)
	} else {
		s.neighbourhoodSearch(ctx, o.Changes, o.Rounds)
	}
	if s.best == nil {
		return nil, errNone
	}
	s.dropRedundant()
	return s.best, nil
}

// annealing looks for a better sequence by changes that it may take although they make it dearer, the less often the dearer and the later
// (simulated annealing). Where few large tables fit, most designs that no small change makes better are far from the best, and what leads from
// one to the other is dearer on its way; bounds and branching say little there, and an integer program's solver takes minutes.
//
// Space is paid for, at a rate for each step that rises while its tables take too much and falls while they do not, so that the search goes
// to and fro over the limit; what fits and is the cheapest so far is noted. A change opens or closes a table for an interval of steps, or
// opens the tables of a demand's path that is cheap at prices which are made up. Then demands that are without a path, or with a dearer one, may buy
// tables, and tables that were of use are closed where that does not cost. Every change is weighed with all it does:
// answering, keeping, space, creating, and filling what is created from what is there now.
//
// Most, Closed and Life are conditions like that of an answer. All randomness has a seed: the same problem has the same answer.
type annealing struct {
	in      *instance
	p       *Problem
	random  *rand.Rand
	s       *graph.Paths
	open    [][]bool
	bits    [][]uint64  // by step: the open tables, as a memo wants them
	asked   []*memo     // by demand
	filled  []*memo     // by table
	price   [][]float64 // by step and demand: of its path, weighed; +Inf if there is none
	path    [][]reads   // by step and demand
	load    [][]float64 // by step and table that is created for it
	from    [][]reads   // by step and table that is created for it: what it is filled from
	born    []int       // by step
	size    []float64   // by step
	rate    []float64   // by step: of space
	concern [][]use     // by table: the demands that can read it, or that it raises
	feeds   [][]use     // by table: the tables that can be filled from it
	cost    float64     // of all that is not broken
	broken  int         // demands without a path, tables that can not be filled, and creations and drops that are not allowed

	held [][]bool // by step and table: it is not closed for now

	journal []entry
	alike   [][]int // by step: the steps that weigh demands as it does
	chosen  []int   // steps of a change
	touched []int32 // tables that may be of no use any more
	u       []float64
	best    [][]bool
	least   float64
}

// reads are the tables of a path; count below 0: too many to be noted.
type reads struct {
	count int8
	list  [7]int32
}

// use is a demand, or the load of a table, that a table may be of use to.
type use struct {
	of    int32
	least float64 // no path of it that reads the table costs less, without a weight; -Inf: it raises the demand
}

func (w *reads) has(n int32) bool {
	if w.count < 0 {
		return true
	}
	return slices.Contains(w.list[:w.count], n)
}

// entry is what was before: of a table that was turned over, a demand's path or a load's.
type entry struct {
	kind  int8
	step  int32
	n     int32
	price float64
	path  reads
}

const (
	turned int8 = iota
	asked
	filledFrom
)

// mark is what a change began from.
type mark struct {
	at     int
	cost   float64
	broken int
}

func newAnnealing(in *instance, seed uint64) *annealing {
	steps, count := len(in.status), len(in.size)
	s := &annealing{in: in, p: in.p, random: rand.New(rand.NewPCG(seed, 8)), s: newPaths(in.states), born: make([]int, steps), size: make([]float64, steps),
		rate: make([]float64, steps), concern: make([][]use, count), feeds: make([][]use, count), least: math.Inf(1),
		asked: make([]*memo, len(in.demands)), filled: make([]*memo, count)}
	longest := 1
	least := graph.Infinities(count)
	note := func(uses [][]use, of int, tables []int32) {
		slices.Sort(tables)
		for _, n := range slices.Compact(tables) {
			uses[n] = append(uses[n], use{int32(of), least[n]})
			least[n] = math.Inf(1)
		}
	}
	for i := range in.demands {
		read := slices.Clone(in.needed[i])
		g := in.demands[i]
		longest = max(longest, len(g.Roles))
		s.asked[i] = newMemo(g, count)
		lowerToCheapest(g, least, s.s)
		for _, r := range g.Roles[1:] {
			read = append(read, r.Table)
		}
		for _, n := range in.needed[i] {
			least[n] = math.Inf(-1)
		}
		note(s.concern, i, read)
	}
	for n, g := range in.loads {
		s.filled[n] = newMemo(g, count)
		if !in.mayBeBorn(n) {
			continue
		}
		longest = max(longest, len(g.Roles))
		lowerToCheapest(g, least, s.s)
		var read []int32
		for _, r := range g.Roles[1:] {
			read = append(read, r.Table)
		}
		note(s.feeds, n, read)
	}
	s.u = make([]float64, longest)
	for t := range steps {
		s.alike = append(s.alike, nil)
		for k := range steps {
			if !slices.ContainsFunc(s.p.Demands, func(d Demand) bool { return d.Weights[k] != d.Weights[t] }) {
				s.alike[t] = append(s.alike[t], k)
			}
		}
	}
	for range steps {
		s.open, s.held = append(s.open, make([]bool, count)), append(s.held, make([]bool, count))
		s.bits = append(s.bits, make([]uint64, (count+63)/64))
		s.price, s.path = append(s.price, make([]float64, len(in.demands))), append(s.path, make([]reads, len(in.demands)))
		s.load, s.from = append(s.load, make([]float64, count)), append(s.from, make([]reads, count))
	}
	return s
}

// setSequence begins from a sequence; nil: from what must be open.
func (s *annealing) setSequence(list [][]bool) {
	s.cost, s.broken = 0, 0
	for t := range s.open {
		clear(s.open[t])
		clear(s.bits[t])
		clear(s.load[t])
		clear(s.price[t])
		s.born[t], s.size[t] = 0, 0
		for i := range s.price[t] {
			s.path[t][i] = reads{}
			s.repriceDemand(t, int32(i))
		}
		for n := range s.p.Tables {
			if s.p.Tables[n].There && t == 0 {
				s.cost += s.p.Tables[n].Drop
			}
		}
	}
	for t := range s.open {
		for n, status := range s.in.status[t] {
			if status == open || status == free && list != nil && list[t][n] {
				s.flipTable(t, int32(n))
			}
		}
	}
	s.journal = s.journal[:0]
	s.recordBest()
}

// repriceDemand finds a demand's cheapest path at a step.
func (s *annealing) repriceDemand(t int, i int32) {
	was := s.price[t][i]
	s.journal = append(s.journal, entry{asked, int32(t), i, was, s.path[t][i]})
	s.addCost(was, -1)
	now := 0.0
	w := &s.path[t][i]
	w.count = 0
	if s.in.demandPresent(int(i), s.open[t]) {
		price, path := s.asked[i].cheapestPath(s.open[t], s.bits[t], s.s)
		if now = price; !math.IsInf(now, 1) {
			now *= s.p.Demands[i].Weights[t]
			*w = *path
		}
	}
	s.price[t][i] = now
	s.addCost(now, 1)
}

// takePath notes the tables of the path that was found last.
func (w *reads) takePath(g *graph.Graph, s *graph.Paths) {
	w.count = 0
	g.Walk(s, func(_ int32, e *graph.Edge) {
		switch {
		case e.Role == 0 || w.count < 0:
		case int(w.count) == len(w.list):
			w.count = -1
		default:
			w.list[w.count] = g.Roles[e.Role].Table
			w.count++
		}
	})
}

// addCost counts what something costs, or that it can not be, or takes it back.
func (s *annealing) addCost(price, sign float64) {
	if math.IsInf(price, 1) {
		s.broken += int(sign)
	} else {
		s.cost += sign * price
	}
}

// repriceLoad finds the cheapest path to fill a table that is created for a step.
func (s *annealing) repriceLoad(t int, n int32) {
	s.journal = append(s.journal, entry{filledFrom, int32(t), n, s.load[t][n], s.from[t][n]})
	s.addCost(s.load[t][n], -1)
	w := &s.from[t][n]
	w.count = 0
	now := 0.0
	if t > 0 {
		price, path := s.filled[n].cheapestPath(s.open[t-1], s.bits[t-1], s.s)
		now, *w = price, *path
	}
	s.load[t][n] = now
	s.addCost(now, 1)
}

// setCreation creates a table for a step, or not any more.
func (s *annealing) setCreation(t int, n int32, is bool) {
	sign := 1.0
	if !is {
		sign = -1
	}
	s.cost += sign * s.p.Tables[n].Birth[t]
	if s.in.unborn[t][n] {
		s.broken += int(sign)
	}
	if t > 0 && s.p.Most > 0 {
		before := max(0, s.born[t]-s.p.Most)
		s.broken += max(0, s.born[t]+int(sign)-s.p.Most) - before
	}
	s.born[t] += int(sign)
	if is {
		s.repriceLoad(t, n)
		return
	}
	s.journal = append(s.journal, entry{filledFrom, int32(t), n, s.load[t][n], s.from[t][n]})
	s.addCost(s.load[t][n], -1)
	s.load[t][n], s.from[t][n].count = 0, 0
}

// flipTable opens or closes a table at a step.
func (s *annealing) flipTable(t int, n int32) {
	s.journal = append(s.journal, entry{kind: turned, step: int32(t), n: n})
	x := &s.p.Tables[n]
	is := !s.open[t][n]
	s.broken -= s.shortLives(n)
	s.open[t][n] = is
	s.broken += s.shortLives(n)
	s.bits[t][n/64] ^= 1 << (n % 64)
	before, after := x.There, t+1 < len(s.open) && s.open[t+1][n]
	if t > 0 {
		before = s.open[t-1][n]
	}
	sign := 1.0
	if !is {
		sign = -1
	}
	s.cost += sign * x.Upkeep[t]
	s.updateSize(t, n, sign, before, after)
	if before {
		s.cost -= sign * x.Drop
	} else {
		s.setCreation(t, n, is)
	}
	switch {
	case after:
		s.setCreation(t+1, n, !is)
	case t+1 < len(s.open):
		s.cost += sign * x.Drop
	}
	for _, x := range s.concern[n] {
		switch i := x.of; {
		case math.IsInf(x.least, -1):
			s.repriceDemand(t, i)
		case is && s.price[t][i] < s.p.Demands[i].Weights[t]*x.least*(1-opened):
		case is || s.path[t][i].has(n):
			s.repriceDemand(t, i)
		}
	}
	if t+1 == len(s.open) {
		return
	}
	for _, x := range s.feeds[n] {
		switch g := x.of; {
		case !s.open[t+1][g] || s.open[t][g]:
		case is && s.load[t+1][g] < x.least*(1-opened):
		case is || s.from[t+1][g].has(n):
			s.repriceLoad(t+1, g)
		}
	}
}

// shortLives is how often a table is dropped that has not been kept as long as it must be.
func (s *annealing) shortLives(n int32) (count int) {
	if s.p.Life < 2 {
		return 0
	}
	age := 0 // steps since it was created; 0: it was there before, or is not
	was := s.p.Tables[n].There
	for t := range s.open {
		is := s.open[t][n]
		switch {
		case is && !was:
			age = 1
		case is && age > 0:
			age++
		case was && !is:
			if age > 0 && age < s.p.Life {
				count++
			}
			age = 0
		}
		was = is
	}
	return count
}

// opened is by what share at least a path over a table that is opened has to be dearer than the present one for not being looked for: more than rounding makes of it.
const opened = 1e-9

// updateSize counts what space a table takes that is opened or closed: with Overlap also at the step before, in which it is filled.
func (s *annealing) updateSize(t int, n int32, sign float64, before, after bool) {
	size := sign * s.in.size[n]
	if !s.p.Overlap {
		s.size[t] += size
		return
	}
	if !after {
		s.size[t] += size
	}
	if t > 0 && !before {
		s.size[t-1] += size
	}
}

// mark and rollback: what was done since is undone.
func (s *annealing) mark() mark { return mark{len(s.journal), s.cost, s.broken} }

func (s *annealing) rollback(m mark) {
	for i := len(s.journal) - 1; i >= m.at; i-- {
		e := &s.journal[i]
		t, n := int(e.step), e.n
		switch e.kind {
		case asked:
			s.price[t][n], s.path[t][n] = e.price, e.path
		case filledFrom:
			s.load[t][n], s.from[t][n] = e.price, e.path
		default:
			s.unflipTable(t, n)
		}
	}
	s.journal, s.cost, s.broken = s.journal[:m.at], m.cost, m.broken
}

// unflipTable is flipTable for what is not in the journal, and not in sums that are restored as a whole.
func (s *annealing) unflipTable(t int, n int32) {
	is := !s.open[t][n]
	s.open[t][n] = is
	s.bits[t][n/64] ^= 1 << (n % 64)
	before, after := s.p.Tables[n].There, t+1 < len(s.open) && s.open[t+1][n]
	if t > 0 {
		before = s.open[t-1][n]
	}
	sign, count := 1.0, 1
	if !is {
		sign, count = -1, -1
	}
	s.updateSize(t, n, sign, before, after)
	if !before {
		s.born[t] += count
	}
	if after {
		s.born[t+1] -= count
	}
}

// penalisedCost is the cost with what is paid for space beyond the limits, and for what is broken.
func (s *annealing) penalisedCost(worst float64) float64 {
	v := s.cost + float64(s.broken)*worst
	for t, step := range s.p.Steps {
		if step.Space > 0 && s.size[t] > step.Space {
			v += s.rate[t] * (s.size[t] - step.Space)
		}
	}
	return v
}

// fitsSpace reports whether a step's tables are within its space.
func (s *annealing) fitsSpace(t int) bool {
	return s.p.Steps[t].holds(s.size[t])
}

// recordBest notes the present sequence if it is the best.
func (s *annealing) recordBest() {
	if s.broken > 0 || !better(s.cost, s.least) {
		return
	}
	for t := range s.size {
		if !s.fitsSpace(t) {
			return
		}
	}
	s.best, s.least = cloneBools(s.open), s.cost
}

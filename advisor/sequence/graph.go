package sequence

import (
	"math"
	"sort"

	"github.com/helenus-db/helenus/advisor/choice"
)

// graph is a compiled demand or load. Its arcs are in an order in which a path's arcs follow each other; those between the same two
// states are next to each other (a bundle), the cheapest first. Whatever multipliers and weights do, they add to a price or
// multiply all of them, so a bundle is left at the first arc whose bare price is too much. One graph serves all steps.
type graph struct {
	states  int
	arcs    []arc
	bundles []bundle
	roles   []role  // by the arcs' role numbers; the first is for no table
	floor   float64 // price of the cheapest path with all tables
}

// arc is a choice.Arc, with its table as the number of a role.
type arc struct {
	from, to, role int32
	price          float64
}

type bundle struct{ from, to, begin, end int32 }

// role is a table in a graph at a depth: how many arcs over the same table may come before it in a path. Of the arcs of one role a
// path takes at most one, so that all of them together are at most the table.
type role struct{ table, depth int32 }

const none = int32(choice.None)

// compileGraph orders a graph's states and arcs. It returns false if they go in a circle. dead tells which tables' arcs are never to be
// had, and unaided which are always: paths that are dearer than one over those only are of no use, and go.
func compileGraph(states int, arcs []choice.Arc, dead, unaided func(n int) bool) (*graph, bool) {
	out := make([][]int32, states)
	in := make([]int32, states)
	for i, a := range arcs {
		out[a.From] = append(out[a.From], int32(i))
		in[a.To]++
	}
	rank := make([]int32, states)
	var queue []int32
	for s := range in {
		if in[s] == 0 {
			queue = append(queue, int32(s))
		}
	}
	for next := 0; next < len(queue); next++ {
		s := queue[next]
		rank[s] = int32(next)
		for _, i := range out[s] {
			to := arcs[i].To
			if in[to]--; in[to] == 0 {
				queue = append(queue, int32(to))
			}
		}
	}
	if len(queue) < states {
		return nil, false
	}
	g := &graph{states: states}
	list := make([]arc, 0, len(arcs)) // role: the table for now
	for _, a := range arcs {
		n := int32(a.Table)
		if n != none && dead(int(n)) {
			continue
		}
		if n != none && unaided(int(n)) {
			n = none
		}
		list = append(list, arc{int32(a.From), int32(a.To), n, a.Price})
	}
	list = dropUselessArcs(states, rank, list)
	sort.SliceStable(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		switch {
		case a.from != b.from:
			return rank[a.from] < rank[b.from]
		case a.to != b.to:
			return rank[a.to] < rank[b.to]
		}
		return a.price < b.price
	})
	seen := map[int32]bool{}
	for i, a := range list {
		if i > 0 && (a.from != list[i-1].from || a.to != list[i-1].to) {
			clear(seen)
		}
		if seen[none] || seen[a.role] {
			continue // a cheaper arc over the same table, or none, leads there
		}
		seen[a.role] = true
		g.arcs = append(g.arcs, a)
	}
	g.numberRoles()
	return g, true
}

// dropUselessArcs leaves out what is on no path, or only on paths that are dearer than one over no table. Arcs need not be in order.
func dropUselessArcs(states int, rank []int32, list []arc) []arc {
	sort.SliceStable(list, func(i, j int) bool { return rank[list[i].from] < rank[list[j].from] })
	to, bare, back := infinities(states), infinities(states), infinities(states)
	to[choice.Source], bare[choice.Source], back[choice.Sink] = 0, 0, 0
	for _, a := range list {
		to[a.to] = min(to[a.to], to[a.from]+a.price)
		if a.role == none {
			bare[a.to] = min(bare[a.to], bare[a.from]+a.price)
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		a := &list[i]
		back[a.from] = min(back[a.from], back[a.to]+a.price)
	}
	limit := bare[choice.Sink]
	limit += tolerance(limit)
	kept := list[:0]
	for _, a := range list {
		if v := to[a.from] + a.price + back[a.to]; v <= limit && !math.IsInf(v, 1) {
			kept = append(kept, a)
		}
	}
	return kept
}

func infinities(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.Inf(1)
	}
	return list
}

// tolerance keeps rounding from leaving out what is as good.
func tolerance(v float64) float64 {
	if math.IsInf(v, 1) {
		return 0
	}
	return 2e-9 * math.Abs(v)
}

// numberRoles makes roles of the arcs' tables, and finds the bundles.
func (g *graph) numberRoles() {
	words := (g.states + 63) / 64
	reach := make([]uint64, g.states*words) // by state, a set of states
	for s := range g.states {
		reach[s*words+s/64] |= 1 << (s % 64)
	}
	for i := len(g.arcs) - 1; i >= 0; i-- {
		a := &g.arcs[i]
		from, to := reach[int(a.from)*words:][:words], reach[int(a.to)*words:][:words]
		for w := range from {
			from[w] |= to[w]
		}
	}
	type spot struct{ state, depth int32 }
	ends := map[int32][]spot{} // by table: where its arcs so far end
	numbers := map[role]int32{}
	g.roles = []role{{none, 0}}
	for i := range g.arcs {
		a := &g.arcs[i]
		n := a.role
		if n == none {
			a.role = 0
			continue
		}
		depth := int32(0)
		for _, e := range ends[n] {
			if reach[int(e.state)*words+int(a.from)/64]&(1<<(a.from%64)) != 0 {
				depth = max(depth, e.depth+1)
			}
		}
		known := false
		for _, e := range ends[n] {
			known = known || e == spot{a.to, depth}
		}
		if !known {
			ends[n] = append(ends[n], spot{a.to, depth})
		}
		r, ok := numbers[role{n, depth}]
		if !ok {
			r = int32(len(g.roles))
			numbers[role{n, depth}] = r
			g.roles = append(g.roles, role{n, depth})
		}
		a.role = r
	}
	g.buildBundles()
	g.floor = g.shortestPath(1, make([]float64, len(g.roles)), newScratch(g.states))
}

func (g *graph) buildBundles() {
	g.bundles = nil
	for i := range g.arcs {
		a := &g.arcs[i]
		if n := len(g.bundles); n > 0 && g.bundles[n-1].from == a.from && g.bundles[n-1].to == a.to {
			g.bundles[n-1].end++
			continue
		}
		g.bundles = append(g.bundles, bundle{a.from, a.to, int32(i), int32(i + 1)})
	}
}

// scratch is what a search for a path writes into.
type scratch struct {
	price []float64 // by state: of the cheapest path from Source
	back  []float64 // by state: to Sink
	over  []int32   // by state: the last arc of that path
	work  int       // arcs looked at
}

func newScratch(states int) *scratch {
	return &scratch{price: make([]float64, states), back: make([]float64, states), over: make([]int32, states)}
}

// shortestPath finds the cheapest path, with prices times a weight and what is to be paid by role added, and returns its price. A role at
// +Inf is not to be had.
func (g *graph) shortestPath(weight float64, u []float64, s *scratch) float64 {
	price := s.price[:g.states]
	for i := range price {
		price[i] = math.Inf(1)
	}
	price[choice.Source] = 0
	s.work += len(g.bundles)
	for _, b := range g.bundles {
		before, best := price[b.from], price[b.to]
		if before >= best {
			continue
		}
		arcs := g.arcs[b.begin:b.end]
		for i := range arcs {
			a := &arcs[i]
			v := before + weight*a.price
			if v >= best {
				s.work += i
				break
			}
			if v += u[a.role]; v < best {
				best, s.over[b.to] = v, b.begin+int32(i)
			}
		}
		price[b.to] = best
	}
	return price[choice.Sink]
}

// shortestToSink fills in the prices from each state to Sink.
func (g *graph) shortestToSink(weight float64, u []float64, s *scratch) {
	back := s.back[:g.states]
	for i := range back {
		back[i] = math.Inf(1)
	}
	back[choice.Sink] = 0
	for n := len(g.bundles) - 1; n >= 0; n-- {
		b := g.bundles[n]
		after, best := back[b.to], back[b.from]
		for i := b.begin; i < b.end; i++ {
			a := &g.arcs[i]
			v := after + weight*a.price
			if v >= best {
				break
			}
			best = min(best, v+u[a.role])
		}
		back[b.from] = best
	}
}

// cheapestPrice is the price of the cheapest path over open tables, without a weight; the arcs of that path are in s.over.
func (g *graph) cheapestPrice(open []bool, s *scratch) float64 {
	price := s.price[:g.states]
	for i := range price {
		price[i] = math.Inf(1)
	}
	price[choice.Source] = 0
	s.work += len(g.bundles)
	for _, b := range g.bundles {
		before, best := price[b.from], price[b.to]
		if before >= best {
			continue
		}
		for i := b.begin; i < b.end; i++ {
			a := &g.arcs[i]
			v := before + a.price
			if v >= best {
				break
			}
			s.work++
			if a.role == 0 || open[g.roles[a.role].table] {
				price[b.to], s.over[b.to] = v, i // no other of the bundle is cheaper
				break
			}
		}
	}
	return price[choice.Sink]
}

// lowerToCheapest lowers, by table, to what the cheapest path costs that reads the table, whatever else is open.
func (g *graph) lowerToCheapest(list []float64, s *scratch) {
	zero := make([]float64, len(g.roles))
	g.shortestPath(1, zero, s)
	g.shortestToSink(1, zero, s)
	for i := range g.arcs {
		if a := &g.arcs[i]; a.role != 0 {
			n := g.roles[a.role].table
			list[n] = min(list[n], s.price[a.from]+a.price+s.back[a.to])
		}
	}
}

// walkPath calls do for each arc of the path that shortestPath or cheapestPrice found last, from its end.
func (g *graph) walkPath(s *scratch, do func(i int32, a *arc)) {
	for at := int32(choice.Sink); at != choice.Source; {
		i := s.over[at]
		a := &g.arcs[i]
		do(i, a)
		at = a.from
	}
}

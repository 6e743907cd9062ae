// Package graph compiles the graphs of plans, and finds cheapest paths through them. A path from Source to Sink is a way to answer a statement, or to fill a table; its arcs read
// tables, and which of these are kept is what packages choice and sequence decide. There a graph is asked millions of times, so it is compiled once:
//
//   - arcs are in an order in which a path's arcs follow each other, so that one pass finds the cheapest path;
//   - those between the same two states are next to each other (a bundle), the cheapest first. Whatever multipliers and weights do, they add to a price or multiply all of
//     them, so a bundle is left at the first arc whose bare price is too much: mostly after a few of very many;
//   - a table that a path may use twice has a role for each time, so that of the arcs of one role a path takes at most one, and all of them together are at most the table;
//   - what is on no path, or only on paths that are dearer than one over no table, is left out.
package graph

import (
	"cmp"
	"math"
	"slices"
)

// Arc leads from one state to another. Paths lead from state Source to state Sink.
type Arc struct {
	From, To int
	Price    float64 // not negative
	Table    int     // that must be kept; None: no table
}

// The states that each graph has, and the table of an arc that reads none which is to be chosen.
const (
	Source = 0
	Sink   = 1
	None   = -1
)

// Graph is a compiled graph.
type Graph struct {
	States  int
	Edges   []Edge
	Roles   []Role // the first is for no table
	Bundles []Bundle
}

// Edge is a compiled Arc. Its table is that of its role, 0: none.
type Edge struct {
	From, To, Role int32
	Origin         int32   // the number of the Arc
	Price          float64 // times the weight that the graph was compiled with
}

// Role is a table in a graph at a depth: how many arcs over the same table may come before it in a path.
type Role struct{ Table, Depth int32 }

// Bundle is a stretch of the edges: those from one state to another.
type Bundle struct{ From, To, Begin, End int32 }

// Compile orders a graph's states and arcs, and multiplies prices by a weight. It returns false if the arcs go in a circle.
func Compile(states int, arcs []Arc, weight float64) (*Graph, bool) {
	rank, ok := orderStates(states, arcs)
	if !ok {
		return nil, false
	}
	g := &Graph{States: states, Edges: make([]Edge, 0, len(arcs))}
	for i, a := range arcs {
		g.Edges = append(g.Edges, Edge{int32(a.From), int32(a.To), int32(a.Table), int32(i), weight * a.Price}) // role: the table for now
	}
	slices.SortStableFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(rank[a.From], rank[b.From]), cmp.Compare(rank[a.To], rank[b.To]), cmp.Compare(a.Price, b.Price), cmp.Compare(a.Role, b.Role))
	})
	g.assignRoles()
	g.dropRepeated()
	g.compact()
	return g, true
}

// orderStates numbers states so that arcs lead to greater numbers.
func orderStates(states int, arcs []Arc) (rank []int32, ok bool) {
	out, in := make([][]int32, states), make([]int32, states)
	for i, a := range arcs {
		out[a.From] = append(out[a.From], int32(i))
		in[a.To]++
	}
	queue := make([]int32, 0, states)
	for s := range in {
		if in[s] == 0 {
			queue = append(queue, int32(s))
		}
	}
	rank = make([]int32, states)
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
	return rank, len(queue) == states
}

// reachable is, by state, the set of states that paths lead to from it, in words.
func (g *Graph) reachable() (reach []uint64, words int) {
	words = (g.States + 63) / 64
	reach = make([]uint64, g.States*words)
	for s := range g.States {
		reach[s*words+s/64] |= 1 << (s % 64)
	}
	for i := len(g.Edges) - 1; i >= 0; i-- {
		e := &g.Edges[i]
		from, to := reach[int(e.From)*words:][:words], reach[int(e.To)*words:][:words]
		for w := range from {
			from[w] |= to[w]
		}
	}
	return reach, words
}

// assignRoles makes roles of the tables that edges have in place of them.
func (g *Graph) assignRoles() {
	reach, words := g.reachable()
	type spot struct{ state, depth int32 }
	ends := map[int32][]spot{} // by table: where its edges so far end
	numbers := map[Role]int32{}
	g.Roles = []Role{{None, 0}}
	for i := range g.Edges {
		e := &g.Edges[i]
		n, depth := e.Role, int32(0)
		if n == None {
			e.Role = 0
			continue
		}
		for _, s := range ends[n] {
			if reach[int(s.state)*words+int(e.From)/64]&(1<<(e.From%64)) != 0 {
				depth = max(depth, s.depth+1)
			}
		}
		if s := (spot{e.To, depth}); !slices.Contains(ends[n], s) {
			ends[n] = append(ends[n], s)
		}
		r, known := numbers[Role{n, depth}]
		if !known {
			r = int32(len(g.Roles))
			numbers[Role{n, depth}] = r
			g.Roles = append(g.Roles, Role{n, depth})
		}
		e.Role = r
	}
}

// Reduce leaves out edges over closed tables, takes given tables as always there, and leaves out what then is of no use. Edges over no table remain of role 0; other roles get new
// numbers.
func (g *Graph) Reduce(closed, given func(table int32) bool) {
	state := make([]int8, len(g.Roles)) // by role
	for r, role := range g.Roles[1:] {
		switch {
		case closed(role.Table):
			state[r+1] = -1
		case given(role.Table):
			state[r+1] = 1
		}
	}
	kept := g.Edges[:0]
	for _, e := range g.Edges {
		switch state[e.Role] {
		case -1:
			continue
		case 1:
			e.Role = 0
		}
		kept = append(kept, e)
	}
	g.Edges = kept
	g.dropUseless()
	g.dropRepeated()
	g.compact()
}

// dropUseless leaves out edges that are on no path, or only on paths that are dearer than one that needs no table. No best choice uses them: whatever is kept, that path is there, too.
func (g *Graph) dropUseless() {
	to, bare, back := Infinities(g.States), Infinities(g.States), Infinities(g.States)
	to[Source], bare[Source], back[Sink] = 0, 0, 0
	for i := range g.Edges {
		e := &g.Edges[i]
		to[e.To] = min(to[e.To], to[e.From]+e.Price)
		if e.Role == 0 {
			bare[e.To] = min(bare[e.To], bare[e.From]+e.Price)
		}
	}
	for i := len(g.Edges) - 1; i >= 0; i-- {
		e := &g.Edges[i]
		back[e.From] = min(back[e.From], back[e.To]+e.Price)
	}
	limit := bare[Sink] * (1 + rounding)
	kept := g.Edges[:0]
	for _, e := range g.Edges {
		if v := to[e.From] + e.Price + back[e.To]; v <= limit && !math.IsInf(v, 1) {
			kept = append(kept, e)
		}
	}
	g.Edges = kept
}

// rounding keeps what is as good but for rounding.
const rounding = 2e-9

// Infinities are n prices of what is not to be had.
func Infinities(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.Inf(1)
	}
	return list
}

// dropRepeated leaves out edges in whose place a cheaper one between the same states can always be taken: over the same table, or none.
func (g *Graph) dropRepeated() {
	seen := make([]int, len(g.Roles)) // by role: the last bundle that had it
	bundle := 0
	kept := g.Edges[:0]
	var last Edge
	for i, e := range g.Edges {
		if i == 0 || e.From != last.From || e.To != last.To {
			bundle++
		}
		last = e
		if seen[0] == bundle || seen[e.Role] == bundle {
			continue
		}
		seen[e.Role] = bundle
		kept = append(kept, e)
	}
	g.Edges = kept
}

// compact numbers the roles that edges still have in their order, and finds the bundles. What other graphs may share is not written to.
func (g *Graph) compact() {
	number := make([]int32, len(g.Roles))
	roles := []Role{{None, 0}}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Role == 0 {
			continue
		}
		if number[e.Role] == 0 {
			number[e.Role] = int32(len(roles))
			roles = append(roles, g.Roles[e.Role])
		}
		e.Role = number[e.Role]
	}
	g.Roles, g.Bundles = roles, nil
	for i := range g.Edges {
		e := &g.Edges[i]
		if n := len(g.Bundles); n > 0 && g.Bundles[n-1].From == e.From && g.Bundles[n-1].To == e.To {
			g.Bundles[n-1].End++
			continue
		}
		g.Bundles = append(g.Bundles, Bundle{e.From, e.To, int32(i), int32(i + 1)})
	}
}

// Follows tells of each two roles whether a path may use the second after the first.
func (g *Graph) Follows() [][]bool {
	reach, words := g.reachable()
	begins, leads := make([]uint64, len(g.Roles)*words), make([]uint64, len(g.Roles)*words)
	for i := range g.Edges {
		e := &g.Edges[i]
		begins[int(e.Role)*words+int(e.From)/64] |= 1 << (e.From % 64)
		lead, to := leads[int(e.Role)*words:][:words], reach[int(e.To)*words:][:words]
		for w := range lead {
			lead[w] |= to[w]
		}
	}
	list := make([][]bool, len(g.Roles))
	for i := range list {
		list[i] = make([]bool, len(g.Roles))
		for j := range list {
			for w := range words {
				list[i][j] = list[i][j] || leads[i*words+w]&begins[j*words+w] != 0
			}
		}
	}
	return list
}

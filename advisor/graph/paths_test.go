package graph_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/graph"
)

// drawn is a graph before it is compiled, with the tables that its arcs are over.
type drawn struct {
	states, tables int
	arcs           []graph.Arc
}

// graphs draws graphs of up to six states in an order, between each two of which there may be several arcs, over the same table or not. Prices are small whole numbers, so that sums are exact.
func graphs(t *rapid.T) drawn {
	d := drawn{states: rapid.IntRange(2, 6).Draw(t, "states"), tables: rapid.IntRange(1, 4).Draw(t, "tables")}
	for range rapid.IntRange(0, 14).Draw(t, "arcs") {
		from := rapid.IntRange(0, d.states-2).Draw(t, "from")
		to := rapid.IntRange(from+1, d.states-1).Draw(t, "to")
		d.arcs = append(d.arcs, graph.Arc{From: d.at(from), To: d.at(to), Price: float64(rapid.IntRange(0, 9).Draw(t, "price")), Table: rapid.IntRange(graph.None, d.tables-1).Draw(t, "table")})
	}
	return d
}

// at is the state that is so far along the order: the second state of all, Sink, is the last there.
func (d drawn) at(place int) int {
	switch place {
	case 0:
		return graph.Source
	case d.states - 1:
		return graph.Sink
	}
	return place + 1
}

// compile compiles it, which has to work.
func (d drawn) compile(t *rapid.T, weight float64) *graph.Graph {
	g, ok := graph.Compile(d.states, d.arcs, weight)
	if !ok {
		t.Fatal("arcs in an order were taken for a circle")
	}
	return g
}

// chains are all ways to follow arcs one after the other from a state to another, as numbers of arcs: what every answer of a graph is held against.
func chains[A any](arcs []A, ends func(A) (from, to int), from, to int) (list [][]int) {
	var follow func(at int, path []int)
	follow = func(at int, path []int) {
		if at == to {
			list = append(list, slices.Clone(path))
			return
		}
		for i, a := range arcs {
			if begin, end := ends(a); begin == at {
				follow(end, append(path, i))
			}
		}
	}
	follow(from, nil)
	return list
}

func arcEnds(a graph.Arc) (from, to int) { return a.From, a.To }

func edgeEnds(e graph.Edge) (from, to int) { return int(e.From), int(e.To) }

// least is what the cheapest of some paths costs, if each arc of it costs what is said; +Inf if there is none.
func least(paths [][]int, price func(arc int) float64) float64 {
	best := math.Inf(1)
	for _, path := range paths {
		sum := 0.0
		for _, i := range path {
			sum += price(i)
		}
		best = min(best, sum)
	}
	return best
}

func room(g *graph.Graph) *graph.Paths {
	p := &graph.Paths{}
	p.Fit(g.States)
	return p
}

// TestAllPaths: over every set of open tables, and at every price of tables, the answer is the cheapest of all paths, which are tried; from the end as from the begin, and the same again.
func TestAllPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := graphs(t)
		weight := float64(rapid.IntRange(1, 3).Draw(t, "weight"))
		g, all := d.compile(t, weight), chains(d.arcs, arcEnds, graph.Source, graph.Sink)
		p := room(g)
		for mask := range 1 << d.tables {
			open := make([]bool, d.tables)
			for n := range open {
				open[n] = mask>>n&1 == 1
			}
			want := weight * least(all, func(i int) float64 {
				if n := d.arcs[i].Table; n != graph.None && !open[n] {
					return math.Inf(1)
				}
				return d.arcs[i].Price
			})
			if got := g.Cheapest(open, p); got != want {
				t.Fatalf("%g over %v, and the cheapest of %d paths is %g", got, open, len(all), want)
			}
		}
		price := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2, 5, math.Inf(1)}), d.tables, d.tables).Draw(t, "prices of tables")
		pay := make([]float64, len(g.Roles))
		for j, r := range g.Roles[1:] {
			pay[j+1] = price[r.Table]
		}
		factor := float64(rapid.IntRange(1, 3).Draw(t, "factor"))
		want := least(all, func(i int) float64 {
			v := factor * weight * d.arcs[i].Price
			if n := d.arcs[i].Table; n != graph.None {
				v += price[n]
			}
			return v
		})
		for range 2 {
			got := g.Shortest(factor, pay, p)
			if g.ShortestBack(factor, pay, p); got != want || p.Back[graph.Source] != want {
				t.Fatalf("%g, from the end %g, and the cheapest of %d paths is %g", got, p.Back[graph.Source], len(all), want)
			}
		}
		for s := range g.States { // each state's own
			onward := chains(g.Edges, edgeEnds, s, graph.Sink)
			if want := least(onward, func(i int) float64 { return factor*g.Edges[i].Price + pay[g.Edges[i].Role] }); p.Back[s] != want {
				t.Fatalf("%g from state %d to the end, and the cheapest of %d ways is %g", p.Back[s], s, len(onward), want)
			}
		}
	})
}

// TestOrder: bundles are all edges, one after the other, each between its two states and the cheapest first; no two are between the same, and none leads to where one before it began.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := graphs(t)
		g := d.compile(t, 1)
		at, begun := int32(0), map[int32]bool{}
		between := map[[2]int32]bool{}
		for _, b := range g.Bundles {
			if b.Begin != at || b.End <= b.Begin || between[[2]int32{b.From, b.To}] || begun[b.To] {
				t.Fatalf("bundle %+v after %d edges: %+v", b, at, g.Bundles)
			}
			between[[2]int32{b.From, b.To}], begun[b.From] = true, true
			for i := b.Begin; i < b.End; i++ {
				e := g.Edges[i]
				a := d.arcs[e.Origin]
				if e.From != b.From || e.To != b.To || i > b.Begin && e.Price < g.Edges[i-1].Price {
					t.Fatalf("edge %d is %+v in bundle %+v", i, e, b)
				}
				if a.From != int(e.From) || a.To != int(e.To) || a.Price != e.Price || a.Table != int(g.Roles[e.Role].Table) {
					t.Fatalf("edge %+v over %+v is of arc %+v", e, g.Roles[e.Role], a)
				}
			}
			at = b.End
		}
		if int(at) != len(g.Edges) || g.Roles[0].Table != graph.None {
			t.Fatalf("%d of %d edges are in bundles; the first role is %+v", at, len(g.Edges), g.Roles[0])
		}
	})
}

// TestDepth: along each way through a graph the roles of a table come in the order of their depths, none twice; and a role has an edge, the first of them no table.
func TestDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphs(t).compile(t, 1)
		used := make([]bool, len(g.Roles))
		used[0] = true
		for _, e := range g.Edges {
			used[e.Role] = true
		}
		if slices.Contains(used, false) {
			t.Fatalf("of the roles %+v no edge has one: %v", g.Roles, used)
		}
		for s := range g.States {
			for _, path := range chains(g.Edges, edgeEnds, s, graph.Sink) {
				depth := map[int32]int32{}
				for _, i := range path {
					r := g.Roles[g.Edges[i].Role]
					if last, met := depth[r.Table]; r.Table != graph.None && met && last >= r.Depth {
						t.Fatalf("table %d is met at depth %d after %d", r.Table, r.Depth, last)
					}
					depth[r.Table] = r.Depth
				}
			}
		}
	})
}

// TestReduce: what is left lies on a path, none of it over a closed table, given tables cost no role, and reducing once more changes nothing. A copy that shares roles with the graph
// leaves that as it is.
func TestReduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := graphs(t)
		whole := d.compile(t, 1)
		before := *whole
		before.Edges, before.Roles, before.Bundles = slices.Clone(whole.Edges), slices.Clone(whole.Roles), slices.Clone(whole.Bundles)
		state := rapid.SliceOfN(rapid.IntRange(0, 2), d.tables, d.tables).Draw(t, "0 may be, 1 closed, 2 given")
		closed, given := func(n int32) bool { return state[n] == 1 }, func(n int32) bool { return state[n] == 2 }
		g := *whole
		g.Edges = slices.Clone(whole.Edges)
		g.Reduce(closed, given)
		if !slices.Equal(whole.Edges, before.Edges) || !slices.Equal(whole.Roles, before.Roles) || !slices.Equal(whole.Bundles, before.Bundles) {
			t.Fatalf("%+v, and before its copy was reduced %+v", whole, before)
		}
		on := make([]bool, len(g.Edges))
		for _, path := range chains(g.Edges, edgeEnds, graph.Source, graph.Sink) {
			for _, i := range path {
				on[i] = true
			}
		}
		for i, e := range g.Edges {
			if !on[i] {
				t.Fatalf("edge %+v is on no path", e)
			}
			if n := d.arcs[e.Origin].Table; n != graph.None && (closed(int32(n)) || given(int32(n)) != (e.Role == 0)) {
				t.Fatalf("edge %+v over table %d, which is %d", e, n, state[n])
			}
		}
		again := g
		again.Edges = slices.Clone(g.Edges)
		if again.Reduce(closed, given); !slices.Equal(again.Edges, g.Edges) || !slices.Equal(again.Roles, g.Roles) || !slices.Equal(again.Bundles, g.Bundles) {
			t.Fatalf("%+v, and reduced again %+v", g, again)
		}
	})
}

// TestFollows: a role follows another if some way has an edge of it after one of the other.
func TestFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := graphs(t).compile(t, 1)
		nothing := func(int32) bool { return false }
		g.Reduce(nothing, nothing)
		want := make([][]bool, len(g.Roles))
		for i := range want {
			want[i] = make([]bool, len(g.Roles))
		}
		for _, path := range chains(g.Edges, edgeEnds, graph.Source, graph.Sink) {
			for i, a := range path {
				for _, b := range path[i+1:] {
					want[g.Edges[a].Role][g.Edges[b].Role] = true
				}
			}
		}
		for i, got := range g.Follows() {
			if !slices.Equal(got, want[i]) {
				t.Fatalf("role %+v is followed by %v, and on the paths by %v", g.Roles[i], got, want[i])
			}
		}
	})
}

// TestRenamed: in whatever order arcs come, and whatever the states between Source and Sink are called, a graph has as many edges and roles, and paths cost the same.
func TestRenamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := graphs(t)
		name := rapid.Permutation([]int{2, 3, 4, 5}[:d.states-2]).Draw(t, "names")
		other := d
		other.arcs = rapid.Permutation(d.arcs).Draw(t, "order")
		for i, a := range other.arcs {
			if a.From > graph.Sink {
				other.arcs[i].From = name[a.From-2]
			}
			if a.To > graph.Sink {
				other.arcs[i].To = name[a.To-2]
			}
		}
		a, b := d.compile(t, 1), other.compile(t, 1)
		if len(a.Edges) != len(b.Edges) || len(a.Roles) != len(b.Roles) || len(a.Bundles) != len(b.Bundles) {
			t.Fatalf("%+v, and renamed %+v", a, b)
		}
		open := rapid.SliceOfN(rapid.Bool(), d.tables, d.tables).Draw(t, "open")
		if x, y := a.Cheapest(open, room(a)), b.Cheapest(open, room(b)); x != y {
			t.Fatalf("%g, renamed %g", x, y)
		}
	})
}

// TestUseless: an edge goes that a path over no table makes useless, and stays where it is as good but for rounding; of edges over one table between two states the cheapest stays.
func TestUseless(t *testing.T) {
	arc := func(price float64, table int) graph.Arc {
		return graph.Arc{From: graph.Source, To: graph.Sink, Price: price, Table: table}
	}
	by := func(from, to int, price float64, table int) graph.Arc {
		return graph.Arc{From: from, To: to, Price: price, Table: table}
	}
	nothing := func(int32) bool { return false }
	for _, c := range []struct {
		name string
		arcs []graph.Arc
		left []int32 // the arcs that are left, in the order of the edges
	}{
		{"nothing", nil, nil},
		{"cheaper over a table", []graph.Arc{arc(2, graph.None), arc(1, 0)}, []int32{1, 0}},
		{"dearer over a table", []graph.Arc{arc(1, graph.None), arc(2, 0)}, []int32{0}},
		{"as dear over a table", []graph.Arc{arc(1, 0), arc(1, graph.None)}, []int32{1}},
		{"twice over a table", []graph.Arc{arc(3, 0), arc(2, 0), arc(2, 1)}, []int32{1, 2}},
		{"dearer than a way round it", []graph.Arc{arc(5, 0), by(graph.Source, 2, 2, graph.None), by(2, graph.Sink, 2, graph.None)}, []int32{1, 2}},
		{"as dear but for rounding", []graph.Arc{arc(4*(1+1e-9), 0), by(graph.Source, 2, 2, graph.None), by(2, graph.Sink, 2, graph.None)}, []int32{0, 1, 2}},
		{"more than rounding", []graph.Arc{arc(4*(1+1e-8), 0), by(graph.Source, 2, 2, graph.None), by(2, graph.Sink, 2, graph.None)}, []int32{1, 2}},
		{"it leads nowhere", []graph.Arc{arc(5, 0), by(graph.Source, 2, 0, graph.None), by(3, graph.Sink, 0, 1)}, []int32{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, ok := graph.Compile(4, c.arcs, 1)
			if !ok {
				t.Fatal("a circle")
			}
			g.Reduce(nothing, nothing)
			var left []int32
			for _, e := range g.Edges {
				left = append(left, e.Origin)
			}
			if slices.Sort(left); !slices.Equal(left, slices.Sorted(slices.Values(c.left))) {
				t.Errorf("arcs %v are left, want %v", left, c.left)
			}
		})
	}
}

// TestCircles: whatever goes in a circle is no graph of a plan, also where no path comes by.
func TestCircles(t *testing.T) {
	by := func(from, to int) graph.Arc { return graph.Arc{From: from, To: to, Table: graph.None} }
	for name, arcs := range map[string][]graph.Arc{
		"a state and itself": {by(2, 2)},
		"two states":         {by(2, 3), by(3, 2)},
		"three of four":      {by(graph.Source, 2), by(2, 3), by(3, 4), by(4, 2), by(4, graph.Sink)},
		"back to Source":     {by(graph.Source, 2), by(2, graph.Source)},
		"on from Sink":       {by(2, graph.Sink), by(graph.Sink, 2)},
	} {
		if g, ok := graph.Compile(5, arcs, 1); ok || g != nil {
			t.Errorf("%s: compiled", name)
		}
	}
}

// TestWork: what a search looks at is counted, an edge at a time, and a dear rest of a bundle is not looked at.
func TestWork(t *testing.T) {
	const tables = 100
	var arcs []graph.Arc
	for n := range tables {
		arcs = append(arcs, graph.Arc{From: graph.Source, To: graph.Sink, Price: float64(n), Table: n})
	}
	g, _ := graph.Compile(2, arcs, 1)
	p, pay, open := room(g), make([]float64, len(g.Roles)), make([]bool, tables)
	if v := g.Shortest(1, pay, p); v != 0 || p.Work != 2 { // the bundle, and its first edge
		t.Errorf("%g after %d", v, p.Work)
	}
	open[tables-1], p.Work = true, 0
	if v := g.Cheapest(open, p); v != tables-1 || p.Work != 1+tables {
		t.Errorf("%g after %d", v, p.Work)
	}
}

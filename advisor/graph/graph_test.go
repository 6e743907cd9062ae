package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/graph"
)

// random is a demand over some tables, of states between Source and Sink in their order.
func random(r *rand.Rand, tables int) *choice.Demand {
	d := &choice.Demand{States: 2 + r.IntN(4), Weight: 1 + float64(r.IntN(3))}
	place := func(k int) int { // of a state in the order
		switch k {
		case 0:
			return graph.Source
		case d.States - 1:
			return graph.Sink
		}
		return k + 1
	}
	for range 2 + r.IntN(20) {
		from := r.IntN(d.States - 1)
		to := from + 1 + r.IntN(d.States-1-from)
		d.Arcs = append(d.Arcs, graph.Arc{From: place(from), To: place(to), Price: float64(r.IntN(6)), Table: r.IntN(tables+1) - 1})
	}
	return d
}

// same reports whether two prices are but for rounding the same.
func same(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9*(1+math.Abs(b)) }

// TestCheapest: whatever tables are open, a compiled graph's cheapest path costs what the definition says (choice.Demand.CheapestPath), and reads open tables alone; after some were said to be closed or
// given, too.
func TestCheapest(t *testing.T) {
	const tables = 6
	left, compiled := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		d := random(r, tables)
		g, ok := graph.Compile(d.States, d.Arcs, d.Weight)
		if !ok {
			t.Fatalf("seed %d: no circle was made", seed)
		}
		is := make([]int, tables) // 0: may be, 1: closed, 2: given
		p := &graph.Paths{}
		p.Fit(d.States)
		for round := range 3 {
			for range 8 {
				open := make([]bool, tables)
				for n := range open {
					open[n] = is[n] == 2 || is[n] == 0 && r.IntN(2) == 0
				}
				_, want := d.CheapestPath(open)
				want *= d.Weight
				got := g.Cheapest(open, p)
				if !same(got, want) {
					t.Fatalf("seed %d, round %d: %g over %v, want %g", seed, round, got, open, want)
				}
				if math.IsInf(got, 1) {
					continue
				}
				sum := 0.0
				g.Walk(p, func(_ int32, e *graph.Edge) {
					sum += e.Price
					if a := d.Arcs[e.Origin]; a.Table != graph.None && !open[a.Table] || !same(e.Price, d.Weight*a.Price) {
						t.Fatalf("seed %d: the path is over arc %d, which is not to be had for %g", seed, e.Origin, e.Price)
					}
				})
				if !same(sum, got) {
					t.Fatalf("seed %d: a path of %g, and its edges are %g", seed, got, sum)
				}
			}
			for n := range is {
				if is[n] == 0 && r.IntN(4) == 0 {
					is[n] = 1 + r.IntN(2)
				}
			}
			g.Reduce(func(n int32) bool { return is[n] == 1 }, func(n int32) bool { return is[n] == 2 })
		}
		left, compiled = left+len(g.Edges), compiled+len(d.Arcs)
	}
	if left == 0 || left*2 > compiled {
		t.Errorf("of %d arcs %d are left", compiled, left)
	}
}

// TestRoles: what is paid by role is paid for every use of a table, once for each role, so that the cheapest path over roles at a price is that over tables at it, and no path takes a role twice.
func TestRoles(t *testing.T) {
	const tables = 3
	twice := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 5))
		d := random(r, tables)
		g, _ := graph.Compile(d.States, d.Arcs, 1)
		price := make([]float64, tables)
		for n := range price {
			if price[n] = float64(r.IntN(5)); r.IntN(4) == 0 {
				price[n] = math.Inf(1)
			}
		}
		pay := make([]float64, len(g.Roles))
		for j, role := range g.Roles[1:] {
			if pay[j+1] = price[role.Table]; role.Depth > 0 {
				twice++
			}
		}
		dear := *d
		dear.Arcs = nil
		for _, a := range d.Arcs {
			if a.Table != graph.None {
				if a.Price += price[a.Table]; math.IsInf(a.Price, 1) {
					continue
				}
			}
			dear.Arcs = append(dear.Arcs, graph.Arc{From: a.From, To: a.To, Price: a.Price, Table: graph.None})
		}
		p := &graph.Paths{}
		p.Fit(d.States)
		_, want := dear.CheapestPath(nil)
		if got := g.Shortest(1, pay, p); !same(got, want) {
			t.Fatalf("seed %d: %g, want %g", seed, got, want)
		}
		if g.ShortestBack(1, pay, p); !same(p.Back[graph.Source], want) {
			t.Fatalf("seed %d: %g from the end, want %g", seed, p.Back[graph.Source], want)
		}
		if math.IsInf(want, 1) {
			continue
		}
		met := map[int32]bool{}
		g.Walk(p, func(_ int32, e *graph.Edge) {
			if e.Role != 0 && met[e.Role] {
				t.Fatalf("seed %d: a path has role %d twice", seed, e.Role)
			}
			met[e.Role] = true
		})
	}
	if twice == 0 {
		t.Error("no table was met twice")
	}
}

// TestCircle: what goes in a circle is no graph of a plan.
func TestCircle(t *testing.T) {
	arcs := []graph.Arc{{From: graph.Source, To: 2, Table: graph.None}, {From: 2, To: 3, Table: 0}, {From: 3, To: 2, Table: graph.None}, {From: 3, To: graph.Sink, Table: 1}}
	if _, ok := graph.Compile(4, arcs, 1); ok {
		t.Error("it was compiled")
	}
}

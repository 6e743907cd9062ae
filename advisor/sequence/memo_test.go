package sequence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/graph"
)

// TestMemo: what a memo answers is what its graph does, whatever was asked before, over more tables than a word has bits.
func TestMemo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const tables, states = 150, 4
	for range trials(60) {
		arcs := []choice.Arc{}
		for from := range states {
			for range 2 + r.IntN(9) {
				// States are numbered Start, Answered, and those between.
				a := choice.Arc{From: from, To: choice.Sink, Table: r.IntN(tables), Price: float64(r.IntN(20))}
				if from == choice.Sink {
					continue
				}
				if to := max(from, choice.Sink) + 1; to < states && r.IntN(3) > 0 {
					a.To = to
				}
				arcs = append(arcs, a)
			}
		}
		g, ok := graph.Compile(states, arcs, 1)
		if !ok {
			t.Fatal("a circle")
		}
		m, s := newMemo(g, tables), newPaths(states)
		open, bits := make([]bool, tables), make([]uint64, (tables+63)/64)
		for range 2_000 {
			n := r.IntN(tables)
			if len(g.Roles) > 1 && r.IntN(2) == 0 {
				n = int(g.Roles[1+r.IntN(len(g.Roles)-1)].Table)
			}
			open[n] = !open[n]
			bits[n/64] ^= 1 << (n % 64)
			want, path := g.Cheapest(open, s), reads{}
			if !math.IsInf(want, 1) {
				path.takePath(g, s)
			}
			if got, w := m.cheapestPath(open, bits, s); got != want || w.count != path.count || !slices.Equal(w.list[:max(0, w.count)], path.list[:max(0, path.count)]) {
				t.Fatalf("%g by %v, and it is %g by %v", got, *w, want, path)
			}
		}
	}
}

package choice

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// TestDescentEnds: tables that do the same, of sizes that take all digits, a hair beyond the limit, where space is dear: sums that were kept up to date by adding and taking away
// fell by what rounding left of each exchange of one for the other, which looked better for ever. (A design of TPC-H's 40 steps did not end.)
func TestDescentEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // of milliseconds
	defer cancel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := &Problem{}
		for range 4 + r.IntN(10) {
			size, n := 1e9*(1+r.Float64()), len(p.Tables)
			p.Space += size
			p.Tables = append(p.Tables, Table{Size: size}, Table{Size: size})
			p.Demands = append(p.Demands, Demand{Weight: 1, States: 2, Arcs: []Arc{{Table: n, To: Sink, Price: 1e7}, {Table: n + 1, To: Sink, Price: 1e7}}})
		}
		first := &p.Demands[0]
		first.Arcs = append(first.Arcs, Arc{Table: len(p.Tables), To: Sink, Price: 1e9})
		p.Tables = append(p.Tables, Table{Size: p.Tables[0].Size - 1e6})
		p.Space -= 1e5 * (1 + r.Float64())
		in, err := compileProblem(p)
		if err != nil {
			t.Fatal(err)
		}
		in.done = ctx.Done()
		if open, _ := in.descendFrom(100_000, nil, 1e-3); ctx.Err() != nil {
			t.Fatalf("seed %d: it did not end", seed)
		} else if open == nil || !open[len(p.Tables)-1] {
			t.Errorf("seed %d: %v, and only the last table makes the others fit", seed, open)
		}
	}
}

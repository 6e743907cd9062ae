package infer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// aboveAll walks the whole graph, as place need not: the statements that some chain of edges leads from to i, and how many are in the longest.
func (f *flows) aboveAll(i int) (all []int, longest int) {
	for _, e := range f.in[i] {
		more, n := f.aboveAll(e.from)
		all, longest = append(append(all, e.from), more...), max(longest, n+1)
	}
	return all, longest
}

// TestPlacedEdges puts any edges in, one after the other, and looks at each whether it was refused for what is so, and at the depths.
func TestPlacedEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "statements")
		f := &flows{all: make([]*said, n)}
		f.clear()
		for range rapid.IntRange(0, 40).Draw(t, "edges") {
			e := &edge{from: rapid.IntRange(0, n-1).Draw(t, "from"), to: rapid.IntRange(0, n-1).Draw(t, "to")}
			first := e.from == e.to && f.self[e.to] == nil
			producers := len(f.in[e.to])
			over, depth := f.aboveAll(e.from)
			below := 0
			for i := range n {
				if from, _ := f.aboveAll(i); i == e.to || slices.Contains(from, e.to) {
					below = max(below, f.deepUnder(i, e.to))
				}
			}
			want := ""
			switch {
			case first:
			case e.from == e.to, slices.Contains(over, e.to):
				want = "circle"
			case producers >= maxProducers:
				want = "other statements"
			case depth+1+1+below > maxDepth:
				want = "a chain"
			}
			if got := f.place(e); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Fatalf("%d -> %d is refused as %q, for %q", e.from, e.to, got, want)
			}
			for i := range n {
				if _, depth := f.aboveAll(i); depth != f.depth[i] {
					t.Fatalf("statement %d has %d above it, not %d", i, depth, f.depth[i])
				}
			}
		}
	})
}

// deepUnder is how many edges are in the longest chain from one statement to another that it leads to, 0 for itself.
func (f *flows) deepUnder(i, from int) int {
	if i == from {
		return 0
	}
	most := -1
	for _, e := range f.in[i] {
		if over, _ := f.aboveAll(e.from); e.from == from || slices.Contains(over, from) {
			most = max(most, f.deepUnder(e.from, from))
		}
	}
	return most + 1
}

// BenchmarkPlace is 20,000 feeds among 5,000 statements.
func BenchmarkPlace(b *testing.B) {
	const statements, feeds = 5000, 20000
	for b.Loop() {
		f := &flows{all: make([]*said, statements)}
		f.clear()
		for i := range feeds {
			f.place(&edge{from: i * 7919 % statements, to: i * 104729 % 4999})
		}
	}
}

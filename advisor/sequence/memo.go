package sequence

import (
	"math"

	"github.com/helenus-db/helenus/advisor/ablation"
	"github.com/helenus-db/helenus/advisor/graph"
)

// memo keeps what a graph answered. A search by chance goes to and fro between the same few sets of open tables, as far as one graph can read them; what is open of those is the key,
// and what is kept under it is what the graph would answer again. A slot has one answer, the last one.
type memo struct {
	g     *graph.Graph
	mask  []uint64 // the tables that the graph reads
	keys  []uint64 // by slot, as many words as mask
	price []float64
	path  []reads
}

// memoSlots is how many answers of a graph are kept, a power of two: more are found, and fewer of them in the processor's cache.
const (
	memoBits  = 7
	memoSlots = 1 << memoBits
)

func newMemo(g *graph.Graph, tables int) *memo {
	words := (tables + 63) / 64
	m := &memo{g: g, mask: make([]uint64, words), keys: make([]uint64, memoSlots*words), price: make([]float64, memoSlots), path: make([]reads, memoSlots)}
	for _, r := range g.Roles[1:] {
		m.mask[r.Table/64] |= 1 << (r.Table % 64)
	}
	for i := range m.price {
		m.price[i] = math.NaN() // no answer
	}
	return m
}

// cheapestPath is the price of the graph's cheapest path over open tables, and what it reads; bits are the open tables, too.
func (m *memo) cheapestPath(open []bool, bits []uint64, s *graph.Paths) (float64, *reads) {
	hash := uint64(0)
	for i, word := range m.mask {
		hash = (hash ^ bits[i]&word) * 0x9E3779B97F4A7C15
		hash ^= hash >> 29
	}
	slot := int(hash * 0xBF58476D1CE4E5B9 >> (64 - memoBits))
	key := m.keys[slot*len(m.mask):][:len(m.mask)]
	same := !math.IsNaN(m.price[slot])
	for i, word := range m.mask {
		if now := bits[i] & word; now != key[i] {
			same, key[i] = false, now
		}
	}
	if !same || ablation.Without(ablation.Memory) {
		if m.price[slot] = m.g.Cheapest(open, s); math.IsInf(m.price[slot], 1) {
			m.path[slot].count = 0
		} else {
			m.path[slot].takePath(m.g, s)
		}
	}
	return m.price[slot], &m.path[slot]
}

// Package heavy tells which of very many keys weigh much, in constant memory: a count-min sketch with conservative update
// (Estan and Varghese). It imports nothing of ours.
//
// A key falls into one cell of each of four rows, chosen by its own bits (keys are hashes; who can choose them can
// make a key look heavier than it is, never lighter). Adding n to a key raises its cells to the lowest of them plus n, and no
// further, so a cell is never below what was added to any key that falls into it, and the lowest of a key's four is the
// estimate: too high by what other keys left there, never too low. With 4 x 2^16 cells, a flood of ten million keys
// of weight 1 leaves an error of about 60.
//
// Old weight fades: Halve halves all cells.
package heavy

import (
	"encoding/binary"
	"sync/atomic"
)

const (
	rows  = 4
	cells = 1 << 16
)

// Bytes is how much memory a Sketch takes.
const Bytes = rows * cells * 4

// Key is a hash of 128 bits.
type Key = [16]byte

// Sketch estimates the weight of keys. Its methods may be called from many goroutines; of two at once on the same
// cell one may be seen late, so an estimate may miss what is being added. Make one with New.
type Sketch struct{ cells [rows][cells]atomic.Uint32 }

// New makes an empty sketch.
func New() *Sketch { return new(Sketch) }

func places(k Key) (at [rows]uint32) {
	a, b := binary.LittleEndian.Uint64(k[:]), binary.LittleEndian.Uint64(k[8:])
	for i := range at {
		at[i] = uint32(a+uint64(i)*(b|1)) % cells
		a ^= a >> 29
	}
	return at
}

// Weight is the estimated weight of a key.
func (s *Sketch) Weight(k Key) uint32 {
	at := places(k)
	least := s.cells[0][at[0]].Load()
	for i := 1; i < rows; i++ {
		least = min(least, s.cells[i][at[i]].Load())
	}
	return least
}

// Add adds to a key's weight and returns the estimate after.
func (s *Sketch) Add(k Key, n uint32) uint32 {
	at := places(k)
	least := s.Weight(k)
	want := least + n
	if want < least {
		want = ^uint32(0)
	}
	s.raise(at, want)
	return want
}

// Raise sees to it that the estimate of a key is at least w.
func (s *Sketch) Raise(k Key, w uint32) { s.raise(places(k), w) }

func (s *Sketch) raise(at [rows]uint32, w uint32) {
	for i := range at {
		c := &s.cells[i][at[i]]
		for {
			is := c.Load()
			if is >= w || c.CompareAndSwap(is, w) {
				break
			}
		}
	}
}

// Halve halves all weights.
func (s *Sketch) Halve() {
	for i := range s.cells {
		for j := range s.cells[i] {
			c := &s.cells[i][j]
			for {
				is := c.Load()
				if c.CompareAndSwap(is, is/2) {
					break
				}
			}
		}
	}
}

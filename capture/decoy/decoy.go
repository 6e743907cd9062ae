// Package decoy keeps former values, to make each observation a second time with a value that can have nothing to do with it
// (docs/design/mapping.md 2.5: what is found with decoys as often as with the real values is coincidence). capture/feed and capture/burst use it. It imports
// nothing of ours.
package decoy

import (
	"math/rand/v2"
	"time"
)

// Age is how old a decoy is at least, nanoseconds.
const Age = int64(time.Second)

// Reservoir keeps former values: a fair sample of each of three generations of at least a second. Whatever the rate, the oldest generation
// is more than a second old, and not much more while values keep coming. It is for one goroutine.
type Reservoir[T any] struct {
	size        int              // of a generation
	generations [3]generation[T] // newest first
}

type generation[T any] struct {
	first, last int64
	seen        int
	values      []T
}

// New returns a reservoir for that many values in all, 3 at least.
func New[T any](size int) *Reservoir[T] { return &Reservoir[T]{size: max(size/3, 1)} }

// Keep takes in a value that was seen at a time, in nanoseconds.
func (r *Reservoir[T]) Keep(at int64, value T, random *rand.Rand) {
	if g := &r.generations[0]; g.seen > 0 && at-g.first >= Age {
		clear(r.generations[2].values)
		r.generations[2], r.generations[1], r.generations[0] = r.generations[1], r.generations[0], generation[T]{values: r.generations[2].values[:0]}
	}
	g := &r.generations[0]
	if g.seen == 0 {
		g.first = at
	}
	g.last = max(g.last, at)
	g.seen++
	if len(g.values) < r.size {
		g.values = append(g.values, value)
	} else if i := random.IntN(g.seen); i < len(g.values) {
		g.values[i] = value
	}
}

// Former returns a value that was seen more than Age before a time, chosen at random from the latest generation that ended before that.
func (r *Reservoir[T]) Former(at int64, random *rand.Rand) (value T, ok bool) {
	for i := range r.generations {
		if g := &r.generations[i]; g.seen > 0 && g.last < at-Age {
			return g.values[random.IntN(len(g.values))], true
		}
	}
	return value, false
}

// Len is how many values are kept.
func (r *Reservoir[T]) Len() (n int) {
	for i := range r.generations {
		n += len(r.generations[i].values)
	}
	return n
}

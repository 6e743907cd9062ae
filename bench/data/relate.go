package data

import (
	"iter"

	"github.com/helenus-db/helenus/advisor/model"
)

// relation knows the partners of a relationship, from both sides.
type relation interface {
	// pairs is how many there are.
	pairs() uint64
	// degree is the number of partners of number i of a side, partner the nth of them.
	degree(forward bool, i uint64) uint64
	partner(forward bool, i, nth uint64) uint64
}

// tree is a to-one relationship: children have one parent at most.
type tree struct {
	up       bool // From is the child
	spread   spread
	children permutation // to slots; those from spread.slots on have no parent
	parents  permutation // to bins
}

func (t *tree) pairs() uint64 { return t.spread.slots }

func (t *tree) degree(forward bool, i uint64) uint64 {
	if forward != t.up {
		if i >= t.parents.n {
			return 0
		}
		bin := t.parents.at(i)
		return t.spread.size(bin)
	}
	if i >= t.children.n || t.children.at(i) >= t.spread.slots {
		return 0
	}
	return 1
}

func (t *tree) partner(forward bool, i, nth uint64) uint64 {
	if forward == t.up {
		return t.parents.of(t.spread.bin(t.children.at(i)))
	}
	return t.children.of(t.spread.start(t.parents.at(i)) + nth)
}

// rank is the place of a child among those of its parent.
func (t *tree) rank(child uint64) uint64 {
	slot := t.children.at(child)
	return slot - t.spread.start(t.spread.bin(slot))
}

// mesh is a many-to-many relationship: pair number q is one of From's runs, and q*stride modulo the number of pairs one of To's.
// In turn, it is simply the next To.
type mesh struct {
	from, to       spread
	froms, tos     permutation // to bins
	stride, unstep uint64
	inTurn         bool
}

// newMesh relates so many of two sides; there are not more pairs than combinations.
func newMesh(seed uint64, from, to spread) *mesh {
	m := &mesh{from: from, to: to, froms: newPermutation(mix(seed, 1), from.bins), tos: newPermutation(mix(seed, 2), to.bins)}
	n := from.slots
	if m.fits(n) {
		return m
	}
	m.from.form, m.to.form = even, even
	m.inTurn = !m.fits(n)
	return m
}

// fits finds a stride that relates no two twice: no shorter than any run of To, and so that no run of From goes all the way
// round.
func (m *mesh) fits(n uint64) bool {
	if n == 0 {
		return false
	}
	for m.stride = max(1, m.to.most()); common(m.stride, n) != 1 && m.stride < n; {
		m.stride++
	}
	m.unstep = undo(m.stride, n)
	most := m.from.most()
	return n == 1 || m.stride < n && most <= n/m.stride
}

func (m *mesh) pairs() uint64 { return m.from.slots }

func (m *mesh) degree(forward bool, i uint64) uint64 {
	switch {
	case forward && i < m.froms.n:
		return m.from.size(m.froms.at(i))
	case !forward && i < m.tos.n && m.inTurn:
		at := m.tos.at(i)
		if at >= m.from.slots {
			return 0
		}
		return (m.from.slots-1-at)/m.to.bins + 1
	case !forward && i < m.tos.n:
		return m.to.size(m.tos.at(i))
	}
	return 0
}

func (m *mesh) partner(forward bool, i, nth uint64) uint64 {
	if forward {
		_, to := m.pair(m.from.start(m.froms.at(i)) + nth)
		return to
	}
	return m.froms.of(m.from.bin(m.number(i, nth)))
}

// number is that of the nth pair of a To.
func (m *mesh) number(to, nth uint64) uint64 {
	at := m.tos.at(to)
	if m.inTurn {
		return at + nth*m.to.bins
	}
	return modular(m.to.start(at)+nth, m.unstep, m.from.slots)
}

// pair is whom pair number q relates.
func (m *mesh) pair(q uint64) (from, to uint64) {
	from = m.froms.of(m.from.bin(q))
	if m.inTurn {
		return from, m.tos.of(q % m.to.bins)
	}
	return from, m.tos.of(m.to.bin(modular(q, m.stride, m.from.slots)))
}

// leg is one of the two relationships of an entity whose key are the keys of two others: entity number i is pair i of a mesh
// between those.
type leg struct {
	mesh    *mesh
	numbers permutation // of the entity, to pairs
	second  bool        // it leads to the mesh's To
	up      bool        // From is the entity
}

func (l *leg) pairs() uint64 { return l.mesh.pairs() }

func (l *leg) degree(forward bool, i uint64) uint64 {
	switch {
	case forward != l.up:
		return l.mesh.degree(!l.second, i)
	case i < l.numbers.n:
		return 1
	}
	return 0
}

func (l *leg) partner(forward bool, i, nth uint64) uint64 {
	switch {
	case forward == l.up:
		from, to := l.mesh.pair(l.numbers.at(i))
		if l.second {
			return to
		}
		return from
	case l.second:
		return l.numbers.of(l.mesh.number(i, nth))
	}
	return l.numbers.of(l.mesh.from.start(l.mesh.froms.at(i)) + nth)
}

// Pairs calls each with the numbers of the two ends of all pairs of a relationship, until it fails.
func (w *World) Pairs(r *model.Relationship, each func(from, to int) error) error {
	r = r.Base()
	forward := r.Kind != model.OneToMany // from the side with fewer partners
	side := r.From
	if !forward {
		side = r.To
	}
	for i := range w.Count(side) {
		for partner := range w.Partners(model.Way{Edge: r, Forward: forward}, i) {
			from, to := i, partner
			if !forward {
				from, to = to, from
			}
			if err := each(from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// Partners are the numbers of those that number i is related to, by way of a relationship in a direction.
func (w *World) Partners(way model.Way, i int) iter.Seq[int] {
	r := w.relations[way.Edge.Base()]
	return func(yield func(int) bool) {
		for nth := range r.degree(way.Forward, uint64(i)) {
			if !yield(int(r.partner(way.Forward, uint64(i), nth))) {
				return
			}
		}
	}
}

// Degree is how many Partners there are.
func (w *World) Degree(way model.Way, i int) int {
	return int(w.relations[way.Edge.Base()].degree(way.Forward, uint64(i)))
}

// PairCount is the number of pairs of a relationship.
func (w *World) PairCount(r *model.Relationship) int { return int(w.relations[r.Base()].pairs()) }

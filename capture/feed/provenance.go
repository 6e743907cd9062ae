package feed

import (
	"slices"

	"github.com/helenus-db/helenus/capture/decoy"
)

// source is a result column or a bind variable of a statement, in one number: statement, which of the two, index.
type source uint32

const (
	maxIndex = 1<<11 - 1
	echoBit  = 1 << 11
)

func result(fp uint32, index int) source { return source(fp<<12 | uint32(index)) }
func bound(fp uint32, index int) source  { return source(fp<<12 | echoBit | uint32(index)) }

func (s source) echo() bool        { return s&echoBit != 0 }
func (s source) statement() uint32 { return uint32(s >> 12) }
func (s source) index() int        { return int(s & maxIndex) }

const (
	maxSources   = 4       // sources remembered per value
	maxValues    = 1 << 15 // values per generation
	maxReservoir = 512     // former values per variable, for decoys
)

// origin is one place where a value was seen.
type origin struct {
	at     int64
	source source
	seq    uint32 // execution of the source's statement
}

// trail is where a value was seen latest, in no order.
type trail struct {
	n       uint8
	origins [maxSources]origin
}

// note enters an origin: in place of the same source's former one, else in free room, else in the oldest one's place.
func (t *trail) note(o origin) {
	oldest := 0
	for i := range t.n {
		if t.origins[i].source == o.source {
			if o.at > t.origins[i].at {
				t.origins[i] = o
			}
			return
		}
		if t.origins[i].at < t.origins[oldest].at {
			oldest = int(i)
		}
	}
	if t.n < maxSources {
		t.origins[t.n] = o
		t.n++
		return
	}
	if o.at > t.origins[oldest].at {
		t.origins[oldest] = o
	}
}

// memory is what is remembered of one process for a second or two: where values were seen, and what was asked. It keeps
// two generations; when the young one is full or a second old it becomes the old one, and the old one is forgotten.
type memory struct {
	last          int64
	turned        int64
	young, old    map[uint64]*trail
	asked, asked0 map[uint64]request                  // by the request's hash
	reservoirs    map[source]*decoy.Reservoir[tagged] // former values of a variable
}

// request is when a request was made, and until when the same one is a retry or a speculative execution of it: until it was answered,
// or for a while if it failed. After that the application wants the same again.
type request struct{ at, until int64 }

func newMemory() *memory {
	return &memory{
		young: map[uint64]*trail{}, old: map[uint64]*trail{},
		asked: map[uint64]request{}, asked0: map[uint64]request{},
		reservoirs: map[source]*decoy.Reservoir[tagged]{},
	}
}

func (m *memory) turn(now int64) {
	if now-m.turned > second || len(m.young) >= maxValues || len(m.asked) >= maxValues {
		m.old, m.young = m.young, map[uint64]*trail{}
		m.asked0, m.asked = m.asked, map[uint64]request{}
		m.turned = now
	}
}

func (m *memory) note(value uint64, o origin) {
	m.turn(o.at)
	t := m.young[value]
	if t == nil {
		t = &trail{}
		if before := m.old[value]; before != nil {
			*t = *before
		}
		m.young[value] = t
	}
	t.note(o)
}

func (m *memory) trail(value uint64) *trail {
	if t := m.young[value]; t != nil {
		return t
	}
	return m.old[value]
}

// answered enters the values of an answer, but those that the request itself had bound: they come from elsewhere.
func (m *memory) answered(e *execution) {
next:
	for _, c := range e.cells {
		for i := range e.binds { // they are few, but for long lists
			if b := &e.binds[i]; b.hash == c.hash || slices.Contains(b.made[:], c.hash) {
				continue next
			}
		}
		m.note(c.hash, origin{e.t1, result(e.fp, c.index), e.seq})
	}
}

// again reports whether the same request was made a moment ago: a retry or a speculative execution.
func (m *memory) again(e *execution) bool {
	if len(e.binds) == 0 {
		return false
	}
	h := uint64(e.fp) + 1
	for _, b := range e.binds {
		h = (h ^ b.hash ^ uint64(b.index)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	before, ok := m.asked[h]
	if !ok {
		before, ok = m.asked0[h]
	}
	until := max(e.t0, e.t1) + retrying
	if !e.failed {
		until = min(e.t0+duplication, e.t1)
	}
	m.asked[h] = request{e.t0, until}
	return ok && e.t0 >= before.at && e.t0 < before.until
}

// asked makes the observations of a request, then enters its values.
func (m *Miner) asked(of *memory, e *execution) {
	of.turn(e.t0)
	if of.again(e) {
		m.duplicates++
		return
	}
	for _, b := range e.binds {
		at := bound(e.fp, b.index)
		p := m.parameter(at)
		if p == nil {
			m.refused++
			continue
		}
		p.profile(b.hash)
		r := of.reservoirs[at]
		if r == nil {
			r = decoy.New[tagged](maxReservoir)
			of.reservoirs[at] = r
		}
		if former, ok := r.Former(e.t0, m.random); ok {
			o := observation{t0: e.t0, t1: e.t1, value: b.hash, seq: e.seq}
			o.hits, o.n = of.lookUp(&b, at, e.t0)
			o.decoys, o.nd = of.lookUp(&former, at, e.t0)
			p.observe(&o, m.quota())
		}
		r.Keep(e.t0, b, m.random)
	}
	for _, b := range e.binds {
		for i, hash := range b.known() {
			if i == 0 || hash != 0 {
				of.note(hash, origin{e.t0, bound(e.fp, b.index), e.seq})
			}
		}
	}
}

// lookUp finds where a value, or what it is made of, was seen within the second before at. A variable is no source of itself.
func (m *memory) lookUp(value *tagged, self source, at int64) (hits [maxSources]hit, n uint8) {
	for i, hash := range value.known() {
		t := m.trail(hash)
		if t == nil || i > 0 && hash == 0 {
			continue
		}
		for _, o := range t.origins[:t.n] {
			known := slices.ContainsFunc(hits[:n], func(h hit) bool { return h.source == o.source })
			if lag := at - o.at; o.source != self && lag > 0 && lag <= second && n < maxSources && !known {
				hits[n] = hit{source: o.source, seq: o.seq, lag: uint32(lag / 1000)}
				n++
			}
		}
	}
	return hits, n
}

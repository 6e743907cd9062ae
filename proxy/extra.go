package proxy

import "sync"

// extra is what few requests carry. A connection keeps those that it does not need at the moment.
type extra struct {
	prepare  *Prepared // PREPARE: what is known before the answer
	inUse    bool      // that is meant in the keyspace in use
	uses     uint32    // how many USEs had been sent
	children []childRecord
	sample   *sample
	swaps    []swap       // EXECUTE, BATCH: ids that are others' than the client's
	replaces *replacement // PREPARE of our own: what it is for
	asked    *asked       // of our own: who waits for the answer
	startup  bool
	// compression that STARTUP asked for, and whether Cassandra was not told.
	compression string
	stripped    bool
	trace       Trace // that the application keeps, if it says so
}

// need returns the extra of a request that is not claimed yet.
func (p *pending) need(s *spares) *extra {
	if p.extra == nil {
		p.extra = s.take()
	}
	return p.extra
}

// abandon is for a request of our own whose answer will not be looked at.
func (e *extra) abandon(why error) {
	if e.asked != nil {
		e.asked.end(reply{err: why})
		return
	}
	e.replaces.abandon()
}

type childRecord struct {
	record   Record
	prepared *Prepared
	from, to int // its values in the sample's
}

// sample is a copy of a request's values and of the beginning of its answer.
type sample struct {
	request  []byte
	values   []Value
	response []byte
}

// maxSampled is the longest request that is sampled, and how much of an answer is kept for a sample, and for a taken
// request's Done, bytes.
const maxSampled = 64 << 10

var samples = sync.Pool{New: func() any { return new(sample) }}

// maxSpare is how many extras a connection keeps.
const maxSpare = 128

// spares are a connection's extras that are not in use. The upward goroutine takes, the downward one gives back.
type spares struct {
	mu   sync.Mutex
	list []*extra
}

func (s *spares) take() *extra {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return new(extra)
	}
	e := s.list[n-1]
	s.list = s.list[:n-1]
	return e
}

func (s *spares) give(e *extra) {
	if e == nil {
		return
	}
	if v := e.sample; v != nil {
		clear(v.values)
		*v = sample{request: v.request[:0], values: v.values[:0], response: v.response[:0]}
		samples.Put(v)
	}
	clear(e.children)
	clear(e.swaps)
	*e = extra{children: e.children[:0], swaps: e.swaps[:0]}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) < maxSpare {
		s.list = append(s.list, e)
	}
}

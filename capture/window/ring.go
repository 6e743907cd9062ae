package window

import (
	"sync/atomic"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

// Bounds of what is copied.
const (
	maxResponse = 16 << 10 // bytes of an answer
	maxSample   = 64 << 10 // bytes of one exchange: enormous values are no keys
	maxHeld     = 16 << 20 // bytes of all that wait
	maxIdle     = 4 << 10  // bytes of a buffer that is kept for the next exchange
)

// sample is a copied exchange.
type sample struct {
	statement *trace.Statement
	client    *proxy.Client
	t0, t1    int64
	rows      int
	bytes     int
	failed    bool
	last      bool
	inBatch   bool
	keyspace  string        // of text
	text      string        // "", or the statement with its literals
	values    []proxy.Value // their bytes are in buffer
	response  []byte        // likewise
	buffer    []byte
}

// ring is where samples wait. Nothing in it blocks.
type ring struct {
	free, full chan *sample
	wake       chan struct{} // there is something in full
	held       atomic.Int64  // bytes in full
	dropped    atomic.Uint64
}

func newRing(size int) *ring {
	r := &ring{free: make(chan *sample, size), full: make(chan *sample, size), wake: make(chan struct{}, 1)}
	for range size {
		r.free <- &sample{}
	}
	return r
}

// put copies an exchange into the ring. false: there was no room.
func (r *ring) put(x *proxy.Exchange, st *trace.Statement, keyspace, text string) bool {
	var s *sample
	if r.held.Load() < maxHeld {
		select {
		case s = <-r.free:
		default:
		}
	}
	if s == nil {
		r.dropped.Add(1)
		return false
	}
	s.fill(x, st, text != "")
	s.keyspace, s.text = keyspace, text
	r.held.Add(s.size())
	r.full <- s // never blocks: there are no more samples than room
	select {
	case r.wake <- struct{}{}:
	default: // it is awake
	}
	return true
}

// relieved tells whether the ring is half empty.
func (r *ring) relieved() bool { return len(r.full) <= cap(r.full)/2 && r.held.Load() <= maxHeld/2 }

// give takes a sample back.
func (r *ring) give(s *sample) {
	r.held.Add(-s.size())
	if cap(s.buffer) > maxIdle {
		s.buffer = nil
	}
	clear(s.values)
	*s = sample{values: s.values[:0], buffer: s.buffer[:0]}
	r.free <- s
}

// size is the bytes that it holds.
func (s *sample) size() int64 { return int64(cap(s.buffer) + len(s.text)) }

// fill copies an exchange; with answer the answer too if nothing is known of its columns.
func (s *sample) fill(x *proxy.Exchange, st *trace.Statement, answer bool) {
	s.statement, s.client, s.t0, s.t1 = st, x.Client, x.Start, x.End
	s.rows, s.bytes, s.failed, s.last, s.inBatch = x.Rows, x.ResponseBytes, x.Failed, !x.MorePages && !x.Paged, x.InBatch
	need := min(len(x.Response), maxResponse)
	for i := range x.Values {
		need += len(x.Values[i].Bytes)
	}
	need = min(need, maxSample)
	if cap(s.buffer) < need {
		s.buffer = make([]byte, 0, need) // at once: slices into it must not move
	}
	s.buffer, s.values, s.response = s.buffer[:0], s.values[:0], nil
	if !x.Failed && (answer || len(st.Results) > 0) {
		s.response = s.keep(x.Response[:min(len(x.Response), maxResponse)])
	}
	for _, v := range x.Values {
		v.Bytes = s.keep(v.Bytes)
		s.values = append(s.values, v)
	}
}

func (s *sample) keep(b []byte) []byte {
	if len(s.buffer)+len(b) > cap(s.buffer) {
		return nil
	}
	at := len(s.buffer)
	s.buffer = append(s.buffer, b...)
	return s.buffer[at:len(s.buffer):len(s.buffer)]
}

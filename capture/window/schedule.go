package window

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// schedule says when a window is open.
type schedule struct {
	window, period time.Duration
	offset         time.Duration // of the windows in their periods, so that processes that start together do not look at once
	warm, budget   int

	open     atomic.Bool   // what the data path loads
	observed atomic.Uint64 // exchanges taken in
	taken    atomic.Int64  // by the present window
	limit    atomic.Int64  // what it may take in

	off    atomic.Bool // by setting or by hand
	paused atomic.Bool // the ring is full

	mu      sync.Mutex // guards the rest, and that open is settled
	due     bool       // the clock says that a window is open
	held    bool       // a recording is made
	started time.Time
	begun   time.Time // the last tick before the first exchange
	until   time.Time // of the latest extra window
	number  int64     // of the period
	eager   bool      // too little is known: every period is cut in two, and so is the budget
	were    bool      // due, at the tick before

	clock  func() int64 // nil: nobody asks when windows were open
	opened int64        // by clock, if it is open
	spans  []Interval   // in which it was open, since they were taken
}

// settle works out open from the rest. s.mu is held.
func (s *schedule) settle() {
	open := (s.due || s.held) && !s.off.Load() && !s.paused.Load()
	if s.clock == nil || open == s.open.Load() {
		s.open.Store(open)
		return
	}
	// Whoever loads open between the clock's reading and the store is left out of the span, or sees a closed window in it for an instant.
	if open {
		s.open.Store(true)
		s.opened = s.clock()
		return
	}
	s.spans = append(s.spans, Interval{s.opened, s.clock()})
	s.open.Store(false)
}

// tick opens and closes windows. It tells whether one was closed.
func (s *schedule) tick(now time.Time) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.observed.Load()
	if n == 0 || now.Before(s.begun) { // a clock may have been set back
		s.begun = now
	}
	// However many exchanges there are, the first break comes after four windows' time: decoys have to grow old.
	warm := n < uint64(s.warm) || now.Sub(s.begun) < 4*s.window
	age, period, limit := now.Sub(s.started)+s.offset, s.period, int64(s.budget)
	if s.eager {
		period, limit = max(period/2, s.window), limit/2
	}
	if number := int64(age / period); number != s.number {
		s.number = number
		s.taken.Store(0)
	}
	extra := now.Before(s.until) && !now.Before(s.until.Add(-s.window))
	if warm || extra {
		limit = math.MaxInt64
	}
	s.limit.Store(limit)
	phase := (age%period + period) % period // likewise
	s.due = warm || extra || phase < s.window && s.taken.Load() < limit
	s.settle()
	closed = s.were && !s.due
	s.were = s.due
	return closed
}

// adapt makes windows more frequent if too little is known, as long as they have budget to spare, and less so again.
func (s *schedule) adapt(wanting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eager = wanting && s.taken.Load() < int64(s.budget)/4
}

// take counts an exchange that was taken in, and closes the window that has no budget left.
func (s *schedule) take() {
	s.observed.Add(1)
	if s.taken.Add(1) == s.limit.Load() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.due = false
		s.settle()
	}
}

// extra opens the window for one window's length: something new is being said. It does so once in a period at most, so
// that an application that says new things all the time is not looked at all the time.
func (s *schedule) extra(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off.Load() || now.Before(s.until.Add(s.period-s.window)) {
		return
	}
	s.until = now.Add(s.window)
	s.due = true
	s.settle()
}

func (s *schedule) pause(yes bool) {
	if s.paused.Load() == yes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused.Store(yes)
	s.settle()
}

func (s *schedule) turn(off bool) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.off.Swap(off) != off
	s.settle()
	return changed
}

func (s *schedule) hold(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = yes
	s.settle()
}

package window

import (
	"cmp"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/trace"
)

// A client process whose connections go through several members of a fleet is seen by each in part: the answer passes one of them, the request that it
// feeds another. So what is found by one member alone is too little, and no sum of findings makes it good. Members therefore look at the same time, hash
// under the same key, and hand out the hashed executions (Share) with the times in which they looked without a gap; who has all of them finds in them what
// one process would have found (Learner). As all look at once, each has its part of the budget only: a fleet looks at as much as one process does.

// Together says how a process looks at values as one of several.
type Together struct {
	Members int           // how many they are, with this one
	Secret  string        // makes the keys of epochs the same for all
	Skew    time.Duration // what the clock that all go by is ahead of this process's
}

// Interval is a time from a moment on and before another, nanoseconds.
type Interval struct{ From, To int64 }

// Share is what a member looked at since its share before. Times are nanoseconds since 1970, by the clock that all go by.
type Share struct {
	// From and Until bound what it is of: what ended before From was in an earlier share, what ended before Until is in this one.
	From, Until int64
	Off         bool   // values are not looked at: nobody is to wait for this member
	Epoch       int64  // number of the key's epoch
	Key         uint64 // names the key without telling it
	// Looked are the times in which every request that was said is, or will be, among the executions.
	Looked     []Interval
	Executions []*trace.Execution
}

// maxShared is how many executions wait to be shared.
const maxShared = 1 << 15

// settling is how long after its end an execution may come at the latest to be in its share: it waits in queues of the relay.
const settling = time.Second

// sharing is what waits to be shared.
type sharing struct {
	Together
	from       int64 // by the clock that all go by
	key        uint64
	executions []*trace.Execution
	gap        int64 // when an execution was thrown away for want of room, on the executions' clock; 0: none was
}

func (s *sharing) add(e *trace.Execution) {
	switch {
	case s == nil:
	case len(s.executions) < maxShared:
		s.executions = append(s.executions, e)
	case s.gap == 0:
		s.gap = e.Start
	}
}

// rekeyShared throws away what was hashed under another key and is not shared yet, with the times in which it was looked at.
func (w *Windows) rekeyShared(key uint64) {
	if s := w.shared; s != nil {
		s.key, s.executions, s.gap = key, nil, 0
		_ = w.schedule.takeSpans()
	}
}

// common is a time of this process's as the clock that all go by shows it.
func (w *Windows) common(t time.Time) time.Time {
	if w.shared == nil {
		return t
	}
	return t.Add(w.shared.Skew)
}

// Join makes this process look when all members do, as much as its part of the budget, under their key. It is called again whenever one of these changes.
func (w *Windows) Join(t Together) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.options.Now()
	if w.shared == nil {
		w.shared = &sharing{from: now.Add(t.Skew).UnixNano()}
	}
	rekeyed := w.options.Secret != t.Secret
	w.shared.Together, w.options.Secret = t, t.Secret
	members := max(1, t.Members)
	w.schedule.join(func() int64 { return int64(w.options.Now().Sub(w.options.Started)) }, t.Skew, max(1, w.options.Budget/members), max(1, w.options.Warm/members))
	if rekeyed {
		w.rotate(now)
	}
}

// join makes windows open by the clock that all go by.
func (s *schedule) join(clock func() int64, skew time.Duration, budget, warm int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock == nil && s.open.Load() {
		s.opened = clock()
	}
	s.clock, s.started, s.offset, s.budget, s.warm = clock, time.Unix(0, 0).Add(-skew), 0, budget, warm
}

// takeSpans returns the times in which windows were open since they were taken last, on the executions' clock.
func (s *schedule) takeSpans() []Interval {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.spans
	s.spans = nil
	if now := s.clock(); s.open.Load() {
		out = append(out, Interval{s.opened, now})
		s.opened = now
	}
	return out
}

// Share takes what was looked at since it was taken last; false if this process looks for itself alone.
func (w *Windows) Share() (Share, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.shared
	if s == nil {
		return Share{}, false
	}
	w.catchUp()
	now := w.options.Now()
	out := Share{From: s.from, Until: now.Add(s.Skew - settling).UnixNano(), Off: !w.On(), Epoch: w.epoch(w.keyed), Key: s.key}
	out.Until = max(out.Until, out.From) // a clock may have been set back
	to := w.options.Started.Add(s.Skew).UnixNano()
	for _, span := range w.schedule.takeSpans() {
		if s.gap != 0 {
			span.To = min(span.To, s.gap)
		}
		if span.From < span.To {
			out.Looked = append(out.Looked, Interval{span.From + to, span.To + to})
		}
	}
	out.Executions = make([]*trace.Execution, len(s.executions))
	for i, e := range s.executions {
		own := *e // others have it, too
		own.Start, own.End = e.Start+to, e.End+to
		out.Executions[i] = &own
	}
	slices.SortStableFunc(out.Executions, func(a, b *trace.Execution) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Start, b.Start))
	})
	s.from = out.Until
	s.executions, s.gap = nil, 0
	return out, true
}

// Learner finds in executions that others have looked at what Windows finds in its own. It is for one goroutine.
type Learner struct{ w *Windows }

// NewLearner returns a learner for executions whose times are nanoseconds since 1970. Of the options Retention, Seed and Now matter.
func NewLearner(o Options) *Learner {
	o.Started = time.Unix(0, 0)
	o.complete()
	l := &Learner{&Windows{options: o, source: o.Seed, ring: newRing(1)}}
	l.w.rotate(o.Now())
	return l
}

// Learn takes an execution in. They come in the order of their ends.
func (l *Learner) Learn(e *trace.Execution) { l.w.learn(e) }

// Forget forgets all that was hashed, as when a key goes; what was found stays.
func (l *Learner) Forget() { l.w.rotate(l.w.options.Now()) }

// Remember adds what another has found.
func (l *Learner) Remember(f Findings) { l.w.former = f.Merge(l.w.former) }

// Findings are those so far, without hashes.
func (l *Learner) Findings() Findings {
	f := l.w.findings(l.w.options.Now())
	f.Profiles = f.Profiles.Derived()
	for _, list := range [...][]feed.Feed{f.Feeds, f.Echoes} {
		for i := range list {
			list[i].LastAt = 0 // Last says it; so they are as another reads them
		}
	}
	return f
}

package history

import (
	"context"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/store"
)

// Between is what was counted from a time on and before another (zero: until now), on all origins, in whole windows: its From and
// To say what it is of. While the shelf can not be read it is of what is in memory, and the error says so: the snapshot
// is valid all the same.
func (h *History) Between(ctx context.Context, from, to time.Time) (*capture.Snapshot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.o.Counts()
	sum := &capture.Snapshot{Statements: []capture.Statement{}}
	add := func(s *capture.Snapshot) {
		if sum.From.IsZero() {
			sum.From, sum.To = s.From, s.To
		}
		sum = sum.Merge(s)
	}
	shelf, err := h.openForReading(ctx)
	if err == nil {
		err = coverPeriod(ctx, shelf, from, to, func(w store.Window) error {
			s, err := unpackWindow(w)
			if err == nil {
				add(s)
			}
			return err
		})
	}
	for _, w := range h.waiting {
		if w.to.After(from) && (to.IsZero() || w.to.Before(to)) {
			s, bad := w.unpack()
			if bad != nil {
				return sum, bad
			}
			add(s)
		}
	}
	if to.IsZero() || !to.Before(now.To) {
		add(now.Since(h.last))
	}
	return sum, err
}

// coverPeriod calls yield for the coarsest windows that make up a period: whole days, whole hours at its ends, then minutes. Where
// finer ones were thrown away the coarse one answers though it reaches beyond the period.
func coverPeriod(ctx context.Context, shelf Shelf, from, to time.Time, yield func(store.Window) error) error {
	if to.IsZero() {
		to = time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC) // a clock may have been there
	}
	marks, err := readCuts(ctx, shelf)
	if err != nil {
		return err
	}
	origins := map[string]*[levels]map[time.Time]bool{}
	for level := range levels {
		list, err := shelf.Keys(ctx, store.Span{Level: level, From: from.Truncate(width[Day]), To: to})
		if err != nil {
			return err
		}
		for _, w := range list {
			has := origins[w.Origin]
			if has == nil {
				has = &[levels]map[time.Time]bool{{}, {}, {}}
				origins[w.Origin] = has
			}
			has[level][w.At] = true
		}
	}
	for origin, has := range origins {
		cut := marks[origin]
		if cut == nil {
			cut = new([levels]time.Time)
		}
		one := func(level int, at time.Time) error {
			return shelf.Each(ctx, store.Span{Level: level, Origin: origin, From: at, To: at.Add(1)}, yield)
		}
		// fits reports whether the window of a level at a time is to answer.
		fits := func(level int, at time.Time) bool {
			end := at.Add(width[level])
			return has[level][at] && end.After(from) && at.Before(to) && (at.Before(cut[level-1]) || !at.Before(from) && !end.After(to))
		}
		done := [levels]map[time.Time]bool{Hour: {}, Day: {}}
		for level := Day; level > Minute; level-- {
			for at := range has[level] {
				if level == Hour && done[Day][at.Truncate(width[Day])] || !fits(level, at) {
					continue
				}
				done[level][at] = true
				if err := one(level, at); err != nil {
					return err
				}
			}
		}
		for at := range has[Minute] {
			if at.Before(from) || done[Day][at.Truncate(width[Day])] || done[Hour][at.Truncate(time.Hour)] {
				continue
			}
			if err := one(Minute, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Point is what one statement did in one window.
type Point struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Count  uint64    `json:"count"`
	Errors uint64    `json:"errors"`
	P50    float64   `json:"p50"` // microseconds
	P99    float64   `json:"p99"`
	Micros uint64    `json:"micros"` // sum of latencies
}

// Series is what one statement did from a time on, window by window: minutes if that is at most three hours ago, hours if at most
// four days, else days. Windows in which it was not said have a count of 0.
func (h *History) Series(ctx context.Context, fingerprint string, from time.Time) ([]Point, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	level := Day
	switch ago := h.o.Now().Sub(from); {
	case ago <= 3*time.Hour:
		level = Minute
	case ago <= 4*width[Day]:
		level = Hour
	}
	out := []Point{}
	point := func(s *capture.Snapshot) {
		p := Point{From: s.From, To: s.To}
		if one := s.Statement(fingerprint); one != nil {
			p.Count, p.Errors, p.Micros = one.Count, one.Errors, one.Latency.Sum
			p.P50, p.P99 = one.Latency.P50(), one.Latency.P99()
		}
		out = append(out, p)
	}
	shelf, err := h.openForReading(ctx)
	if err == nil {
		err = shelf.Each(ctx, store.Span{Level: level, Origin: h.origin, From: from}, func(w store.Window) error {
			s, err := unpackWindow(w)
			if err == nil {
				point(s)
			}
			return err
		})
	}
	if level == Minute {
		for _, w := range h.waiting {
			s, bad := w.unpack()
			if bad != nil {
				return out, bad
			}
			point(s)
		}
	}
	return out, err
}

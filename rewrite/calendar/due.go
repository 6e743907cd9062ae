package calendar

import (
	"fmt"
	"time"

	"github.com/helenus-db/helenus/capture/cycle"
)

// stay is when a season is there by the calendar, from a moment on.
type stay struct {
	now         bool      // at the moment itself
	begin, ends time.Time // of the stay at the moment or else of the next; ends is zero if it never does
}

// stayAt looks forward through the cycle.
func stayAt(c *cycle.Cycle, steps []bool, now time.Time) stay {
	step, next := c.At(now)
	s := stay{now: steps[step]}
	at := now
	if s.now {
		s.begin = now
	}
	for range 2 * len(steps) {
		begun := !s.begin.IsZero()
		switch {
		case !begun && steps[step]:
			s.begin = at
		case begun && !steps[step]:
			s.ends = at
			return s
		}
		at = next
		step, next = c.At(at)
	}
	return s
}

// into is the time since midnight by the clock of the cycle's zone.
func into(c *cycle.Cycle, at time.Time) time.Duration {
	l := at.In(c.Location())
	return time.Duration(l.Hour())*time.Hour + time.Duration(l.Minute())*time.Minute + time.Duration(l.Second())*time.Second
}

// open tells whether changes may begin at a moment.
func (c *Calendar) open(at time.Time) bool {
	if len(c.Limits.Windows) == 0 {
		return true
	}
	for _, w := range c.Limits.Windows {
		if w.open(into(&c.Cycle, at)) {
			return true
		}
	}
	return false
}

// opens tells whether changes may begin at some moment from one on and not after another, to the minute.
func (c *Calendar) opens(from, to time.Time) bool {
	if to.Before(from) {
		return false
	}
	if c.open(from) || c.open(to) || to.Sub(from) >= day {
		return true
	}
	for _, w := range c.Limits.Windows {
		ahead := w.From - into(&c.Cycle, from)
		if ahead < 0 {
			ahead += day
		}
		if !from.Add(ahead).After(to) {
			return true
		}
	}
	return false
}

// ahead is how long before its step a season begins: as long as it took last, or is expected to take, and a quarter more, and a tick.
func (c *Calendar) ahead(n int, tick time.Duration) time.Duration {
	took := c.Seasons[n].Took
	if took == 0 {
		took = c.Plan.Seasons[n].Fill
	}
	return took + took/4 + tick
}

// wanted tells whether a season is to be there, or on its way, at a moment; and if it is to come now, for the begin of which step,
// or if it is not although its steps have begun or are about to, why.
//
// One that is out is wanted from its lead before a stay on, or earlier if no window for changes opens until then; but not if the
// stay would be over before it was filled. One that is there or coming is wanted until its stay ends, and besides if the next
// stay is so near that it would have to come again at once.
func (c *Calendar) wanted(n int, now time.Time, tick time.Duration) (wanted bool, at time.Time, late string) {
	s := stayAt(&c.Cycle, c.Plan.Seasons[n].Steps, now)
	lead := c.ahead(n, tick)
	season := &c.Seasons[n]
	due := !s.begin.IsZero() && (s.now || !now.Before(s.begin.Add(-lead)))
	switch {
	case season.Stage != Out:
		return due || now.Before(season.For), s.begin, ""
	case s.begin.IsZero():
		return false, time.Time{}, "" // never
	case !s.ends.IsZero() && now.Add(lead).After(s.ends):
		if due {
			late = fmt.Sprintf("making it takes about %v, and its steps are over at %s", lead.Round(time.Second), s.ends.In(c.Cycle.Location()).Format("15:04"))
		}
		return false, time.Time{}, late
	case due:
		return true, s.begin, ""
	}
	// The last window before: one more tick may be outside of it.
	last := len(c.Limits.Windows) > 0 && c.open(now) && now.Add(maxAhead).After(s.begin) && !c.opens(now.Add(tick), s.begin.Add(-lead))
	return last, s.begin, ""
}

// maxAhead is how long before its step a season may come because there is no later window.
const maxAhead = day

package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/internal/change"
)

// State is where a calendar stands.
type State string

// The states.
const (
	Following   State = "following"   // changes begin when they are due
	Paused      State = "paused"      // none begins until a person resumes it; what serves goes on serving
	Withdrawing State = "withdrawing" // what is not to stay is rolled back and dropped
	Withdrawn   State = "withdrawn"   // it is over
)

// stateOf is what the state of a calendar means for its change.
var stateOf = map[State]change.State{Following: change.Serving, Paused: change.Suspended, Withdrawing: change.RollingBack, Withdrawn: change.Dropped}

// Stage is where one look-up of a calendar stands.
type Stage string

// The stages.
const (
	Out    Stage = "out"    // not there, nothing is under way
	Coming Stage = "coming" // its migration was ordered
	There  Stage = "there"  // its migration has served
	Going  Stage = "going"  // its roll-back was ordered, and that its table be dropped
)

// Limits are what a person allows in approving a calendar. The zero value allows what the calendar says, until it is withdrawn.
type Limits struct {
	Until         time.Time `json:"until,omitzero"`            // then it is withdrawn; zero: no end
	ChangesPerDay int       `json:"changes_per_day,omitempty"` // tables created and dropped in 24 hours at most; 0: no limit
	MaxBytes      float64   `json:"max_bytes,omitempty"`       // that its tables may take together, as expected; 0: no limit
	Windows       []Window  `json:"windows,omitempty"`         // in which changes may begin; none: always
	Each          bool      `json:"each,omitempty"`            // every change waits until it is approved by itself (Grant)
	// Drop has what serves rolled back and dropped, too, when the calendar is withdrawn; else it is left to serve and named.
	Drop bool `json:"drop,omitempty"`
}

// LimitError says what is wrong with limits.
type LimitError struct{ Reason string }

// Error implements error.
func (e *LimitError) Error() string { return e.Reason }

// Check returns what is wrong with limits, a *LimitError.
func (l *Limits) Check(now time.Time) error {
	wrong := func(format string, args ...any) error { return &LimitError{fmt.Sprintf(format, args...)} }
	switch {
	case !l.Until.IsZero() && !l.Until.After(now):
		return wrong("until %s: that is over already", l.Until.Format(time.RFC3339))
	case l.ChangesPerDay < 0:
		return wrong("%d changes a day: a number from 0 (no limit) on", l.ChangesPerDay)
	case !(l.MaxBytes >= 0):
		return wrong("%g bytes at most: a number from 0 (no limit) on", l.MaxBytes)
	}
	for _, w := range l.Windows {
		if err := w.check(); err != nil {
			return &LimitError{err.Error()}
		}
	}
	return nil
}

// Window is a part of every day, by the clock of the cycle's zone, as "22:00-06:00".
type Window struct {
	From, To time.Duration // since midnight; a To that is not after From is on the next day
}

const day = 24 * time.Hour

// ParseWindow reads "22:00-06:00".
func ParseWindow(text string) (Window, error) {
	var w Window
	from, to, ok := strings.Cut(text, "-")
	var bad error
	read := func(s string) time.Duration {
		hour, minute, two := strings.Cut(strings.TrimSpace(s), ":")
		h, err1 := strconv.Atoi(hour)
		m, err2 := strconv.Atoi(minute)
		d := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
		if !two || err1 != nil || err2 != nil || h < 0 || h > 24 || m < 0 || m > 59 || d > day {
			bad = fmt.Errorf("window %q is not like 22:00-06:00", text)
		}
		return d
	}
	if !ok {
		return w, fmt.Errorf("window %q is not like 22:00-06:00", text)
	}
	if w.From, w.To = read(from), read(to); bad != nil {
		return Window{}, bad
	}
	return w, w.check()
}

func (w Window) check() error {
	if w.From < 0 || w.From >= day || w.To < 0 || w.To > day || w.From == w.To {
		return fmt.Errorf("window %s: it begins before 24:00, and ends at another time than it begins", w)
	}
	return nil
}

// String is how ParseWindow reads it.
func (w Window) String() string {
	clock := func(d time.Duration) string {
		return fmt.Sprintf("%02d:%02d", int(d/time.Hour), int(d%time.Hour/time.Minute))
	}
	return clock(w.From) + "-" + clock(w.To)
}

// MarshalText implements encoding.TextMarshaler.
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Window) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWindow(string(text))
	return err
}

// open tells whether a moment, as time since midnight, is in it.
func (w Window) open(at time.Duration) bool {
	if w.From < w.To {
		return at >= w.From && at < w.To
	}
	return at >= w.From || at < w.To
}

// Calendar is an approved calendar and all that is known of it.
type Calendar struct {
	Version  int           `json:"version"`
	ID       string        `json:"id"` // of the change; the name of ChangeID until the last release
	ChangeID string        `json:"change_id,omitempty"`
	Plan     plan.Calendar `json:"plan"`
	Cycle    cycle.Cycle   `json:"cycle"`
	Limits   Limits        `json:"limits"`
	State    State         `json:"state"`            // stored as what it means for the change
	Reason   string        `json:"reason,omitempty"` // why it is paused, withdrawing or withdrawn
	Actor    string        `json:"actor"`            // who approved it
	Approved time.Time     `json:"approved"`
	Seasons  []Season      `json:"seasons"` // those of Plan, in their order
	Begun    []time.Time   `json:"begun"`   // when the changes of the last 24 hours began
	// Holding is what the cycle said when it was last asked whether it still holds; nil: it was not yet.
	Holding *Asked  `json:"holding,omitempty"`
	Events  []Event `json:"events"`
}

// Asked is what the cycle said.
type Asked struct {
	At    time.Time `json:"at"`    // when it was asked
	Holds bool      `json:"holds"` //
	Known int       `json:"known"` // days since the approval that were looked at
	Off   float64   `json:"off"`   // how far off they were, and up to which they hold
	Limit float64   `json:"limit"`
	Why   string    `json:"why"`
}

// Season is one look-up of it.
type Season struct {
	ID    string    `json:"id"` // of its migrations, one after the other
	Stage Stage     `json:"stage"`
	Since time.Time `json:"since"` // when the stage was entered
	// For is the begin of the step that it came for: until then it is wanted, whatever is learnt of how long coming takes.
	For time.Time `json:"for,omitzero"`
	// Earlier is when the migration was approved that had the ID before the order: one that was approved at another time is the order's.
	Earlier time.Time     `json:"earlier,omitzero"`
	Filled  bool          `json:"filled,omitempty"` // of this coming: Took is of it
	Took    time.Duration `json:"took,omitempty"`   // from the last order until it was filled and verified, nanoseconds; 0: not known yet
	Served  int           `json:"served"`           // how often it has come
	Waiting string        `json:"waiting,omitempty"`
	// Granted is the change that a person has approved by itself (Limits.Each); nil: none.
	Granted *bool `json:"granted,omitempty"` // true: to create it, false: to drop it
}

// Event is one line of a calendar's history.
type Event struct {
	Time  time.Time `json:"time"`
	Actor string    `json:"actor,omitempty"` // the person who gave the order, "" if it happened by itself
	Text  string    `json:"text"`
}

// maxEvents is how many events a calendar keeps, the latest.
const maxEvents = 200

func (c *Calendar) note(now time.Time, actor, format string, args ...any) {
	c.Events = append(c.Events, Event{now, actor, fmt.Sprintf(format, args...)})
	if len(c.Events) > maxEvents {
		c.Events = append([]Event(nil), c.Events[len(c.Events)-maxEvents:]...)
	}
}

// clone is a copy that can be changed by itself. Plan and Cycle are never changed.
func (c *Calendar) clone() *Calendar {
	d := *c
	d.Seasons = append([]Season(nil), c.Seasons...)
	d.Begun = append([]time.Time(nil), c.Begun...)
	d.Events = append([]Event(nil), c.Events...)
	return &d
}

// Remaining lists the seasons whose tables are there, or may be.
func (c *Calendar) Remaining() []int {
	var out []int
	for n := range c.Seasons {
		if c.Seasons[n].Stage != Out {
			out = append(out, n)
		}
	}
	return out
}

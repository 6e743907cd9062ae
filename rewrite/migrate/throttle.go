package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/helenus-db/helenus/internal/sleep"
)

// A person may change the pace of a change while it goes on (as gh-ost's and Spirit's throttle): how many rows a second are filled and compared, and whether any are. The order
// is part of the change, so a restart keeps it, and every member of a fleet that fills obeys it: whoever goes through rows looks at it before each, and who waits for his
// turn, or for the pause to end, looks again every lookAgain.

// Throttle is the pace that a person ordered for a change. The zero value leaves it to the settings.
type Throttle struct {
	Rate   int  `json:"rate,omitempty"`   // rows a second, of all members together; 0: as the settings say
	Paused bool `json:"paused,omitempty"` // no row is filled, and none compared, in the states Backfill and Verify
}

// ThrottleOrder is what a person orders of it; what is nil stays as it is.
type ThrottleOrder struct {
	Rate   *int
	Paused *bool
}

// MaxRate is the highest that can be ordered, rows a second: there is no limit beyond it.
const MaxRate = 1_000_000_000

// Paused is why a change waits that is paused.
const Paused = "it is paused; `helenus throttle ID --resume` lets it go on"

// pausable are the states in which a change can be paused: all in which rows are still to be filled or compared before it serves. Sweeps while it serves are what finds that it is wrong:
// they can be slowed, not stopped.
var pausable = map[State]bool{Approved: true, Created: true, DualWrite: true, Backfill: true, Verify: true, Suspended: true, Failed: true}

// Paces tells whether a change goes through rows of the application's, now or later, so that it has a pace; and whether that may be a pause.
func (m *Change) Paces() (paces, pauses bool) {
	return phases[m.State].back, pausable[m.State]
}

// IsPaused tells whether it would go through rows now, and does not, since a person has paused it.
func (m *Change) IsPaused() bool {
	return m.Throttle.Paused && (m.State == Verify || m.State == Backfill && m.Fill != FillBulk)
}

// IsThrottled tells whether it goes through rows now, at a rate that a person ordered.
func (m *Change) IsThrottled() bool {
	return m.Throttle.Rate > 0 && !m.IsPaused() && (m.State == Verify || m.State == Backfill && m.Fill != FillBulk)
}

// String is the pace in words.
func (t Throttle) String() string {
	switch {
	case t.Paused:
		return "paused"
	case t.Rate > 0:
		return fmt.Sprintf("at most %d rows a second", t.Rate)
	}
	return "as the settings say"
}

// Throttle changes the pace of a change.
func (m *Manager) Throttle(ctx context.Context, id string, o ThrottleOrder, actor string) error {
	switch {
	case o.Rate == nil && o.Paused == nil:
		return fmt.Errorf("throttle %s: neither a rate nor a pause was ordered", id)
	case o.Rate != nil && (*o.Rate < 0 || *o.Rate > MaxRate):
		return fmt.Errorf("throttle %s: a rate of %d rows a second; it may be from 1 to %d, or 0 for what the settings say", id, *o.Rate, MaxRate)
	}
	text := "throttled: "
	if o.Rate != nil {
		text += Throttle{Rate: *o.Rate}.String()
	}
	if o.Paused != nil {
		text = map[bool]string{true: "paused", false: "goes on after a pause"}[*o.Paused]
		if o.Rate != nil {
			text += ", " + Throttle{Rate: *o.Rate}.String()
		}
	}
	return m.mark(ctx, id, order{actor, "throttle"}, text, func(x *Change) (bool, error) {
		was := x.Throttle
		paces, pauses := x.Paces()
		switch {
		case !paces:
			return false, &ErrState{id, "throttle", x.State, "nothing of it is filled or compared any more"}
		case o.Paused != nil && *o.Paused && !pauses:
			return false, &ErrState{id, "pause", x.State, "its table is filled and was compared; give it a rate, hold it, or roll it back"}
		case o.Paused != nil && !*o.Paused && !was.Paused:
			return false, &ErrState{id, "let go on", x.State, "it is not paused"}
		}
		if o.Rate != nil {
			x.Throttle.Rate = *o.Rate
		}
		if o.Paused != nil {
			x.Throttle.Paused = *o.Paused
		}
		return x.Throttle != was, nil
	})
}

// ordered is what whoever goes through rows looks at before each.
type ordered struct {
	state  State
	rate   int
	paused bool
}

// repace has those who go through rows see the pace as it is now; r.mu is held, or nobody else knows r yet.
func (r *run) repace() {
	r.pace.Store(&ordered{r.m.State, r.m.Throttle.Rate, r.m.IsPaused()})
}

// repacedElsewhere tells whether all that another process has stored of a change is another pace: then the work goes on, at that. r.mu is held.
func (r *run) repacedElsewhere(theirs *Change) bool {
	var ours Change
	if r.stored == nil || json.Unmarshal(r.stored, &ours) != nil || ours.Throttle == theirs.Throttle {
		return false
	}
	ours.ID, ours.State, ours.Throttle, ours.Events = theirs.ID, r.m.State, theirs.Throttle, theirs.Events
	have, err := json.Marshal(&ours)
	stored, bad := json.Marshal(theirs)
	return err == nil && bad == nil && bytes.Equal(have, stored)
}

// lookAgain is after how long one who waits looks at the order again.
const lookAgain = time.Second

// pace limits how fast the rows of a change are gone through: each caller waits for its turn.
type pace struct {
	usual   int                                              // rows a second where nobody ordered otherwise; 0: no limit
	ordered func() *ordered                                  // nil: nobody can
	sleep   func(ctx context.Context, d time.Duration) error // nil: by the machine's clock

	mu    sync.Mutex
	among int // members who share the rate; 0: one
	rate  int // of next
	next  time.Time
}

// paced is the pace of a run, by what is usual.
func (m *Manager) paced(r *run, usual int) pace {
	return pace{usual: usual, ordered: r.pace.Load, sleep: m.Wait}
}

// divide has several share the rate.
func (p *pace) divide(among int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.among = among
}

// now is the rate that holds, 0 for no limit, and whether nothing goes on.
func (p *pace) now() (rate int, paused bool) {
	rate = p.usual
	if p.ordered != nil {
		if o := p.ordered(); o != nil {
			if paused = o.paused; o.rate > 0 {
				rate = o.rate
			}
		}
	}
	return rate, paused
}

// turn takes the next turn at a rate. At another than before turns begin anew.
func (p *pace) turn(rate int, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rate != p.rate || p.next.Before(now) {
		p.rate, p.next = rate, now
	}
	at := p.next
	p.next = at.Add(time.Second * time.Duration(max(1, p.among)) / time.Duration(rate))
	return at
}

// wait returns when the caller's turn has come. It is asked again what holds whenever it had to wait: nobody rests on a turn that he took at another rate.
func (p *pace) wait(ctx context.Context) error {
	taken, at := 0, time.Time{} // the rate at which a turn was taken, and when that is
	for {
		rate, paused := p.now()
		left := lookAgain
		switch now := time.Now(); {
		case paused:
			taken = 0
		case rate <= 0:
			return nil
		default:
			if rate != taken {
				taken, at = rate, p.turn(rate, now)
			}
			if left = at.Sub(now); left < time.Millisecond {
				return nil
			}
		}
		wait := p.sleep
		if wait == nil {
			wait = sleep.For
		}
		if err := wait(ctx, min(left, lookAgain)); err != nil {
			return err
		}
	}
}

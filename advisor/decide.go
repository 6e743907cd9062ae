package advisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/words"
)

// named finds a recommendation by its id or the beginning of it.
func (b *book) named(id string) (*recommend.Recommendation, error) {
	if r := b.find(id); r != nil {
		return r, nil
	}
	var found *recommend.Recommendation
	for i := range b.Entries {
		if !strings.HasPrefix(b.Entries[i].ID, id) || len(id) < 3 {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("more than one recommendation begins with %q: %s and %s", id, found.ID, b.Entries[i].ID)
		}
		found = &b.Entries[i]
	}
	if found == nil {
		return nil, &NotFoundError{ID: id}
	}
	return found, nil
}

// wish is a decision of a person about a proposal: in which of its states it can be taken, by which order that is, and why not in the others.
type wish struct {
	order change.Order
	to    change.State
	from  map[recommend.State]bool
	why   map[recommend.State]string
}

// The places of the wishes.
const (
	approve = iota
	dismiss
	snooze
	reopen
)

var wishes = [...]wish{
	approve: {
		order: change.Approve, to: change.Approved,
		from: map[recommend.State]bool{recommend.Open: true},
		why: map[recommend.State]string{
			recommend.Approved:   "see `helenus changes`",
			recommend.Rejected:   "open it again first (`helenus reopen`)",
			recommend.Snoozed:    "open it again first (`helenus reopen`)",
			recommend.Superseded: "it is not advised any more",
			recommend.Expired:    "it is not advised any more",
		},
	},
	dismiss: {
		order: change.Dismiss, to: change.Dismissed,
		from: map[recommend.State]bool{recommend.Open: true, recommend.Snoozed: true},
		why: map[recommend.State]string{
			recommend.Approved:   "it is being carried out; roll it back first",
			recommend.Rejected:   "there is nothing left to do",
			recommend.Superseded: "it is not advised any more",
			recommend.Expired:    "it is not advised any more",
		},
	},
	snooze: {
		order: change.Snooze, to: change.Snoozed,
		from: map[recommend.State]bool{recommend.Open: true, recommend.Snoozed: true},
		why: map[recommend.State]string{
			recommend.Approved:   "it is being carried out; roll it back first",
			recommend.Rejected:   "open it again first (`helenus reopen`)",
			recommend.Superseded: "it is not advised any more",
			recommend.Expired:    "it is not advised any more",
		},
	},
	reopen: {
		order: change.Reopen, to: change.Proposed,
		from: map[recommend.State]bool{recommend.Rejected: true, recommend.Snoozed: true},
		why: map[recommend.State]string{
			recommend.Open:       "there is nothing left to do",
			recommend.Approved:   "roll it back and drop it first",
			recommend.Superseded: "it is not advised any more",
			recommend.Expired:    "it is not advised any more",
		},
	},
}

// Dismiss takes a recommendation off the list, with a reason. It comes back when the facts change materially: see the
// package comment.
func (a *Advisor) Dismiss(ctx context.Context, id, reason, actor string) (recommend.Recommendation, error) {
	if strings.TrimSpace(reason) == "" {
		return recommend.Recommendation{}, errors.New("a dismissal needs a reason: it is shown to whoever asks why nothing was done")
	}
	return a.decide(ctx, dismiss, id, reason, actor, 0)
}

// Bounds of a snooze.
const (
	MinSnooze = time.Minute
	MaxSnooze = 366 * 24 * time.Hour
)

// Snooze takes a recommendation off the list for a while, with a reason. It comes back when that is over, or before if the facts change
// materially.
func (a *Advisor) Snooze(ctx context.Context, id string, length time.Duration, reason, actor string) (recommend.Recommendation, error) {
	switch {
	case strings.TrimSpace(reason) == "":
		return recommend.Recommendation{}, errors.New("a snooze needs a reason: it is shown to whoever asks why nothing was done")
	case length < MinSnooze || length > MaxSnooze:
		return recommend.Recommendation{}, fmt.Errorf("it can be snoozed for %s to %s, not for %v", words.Span(MinSnooze), words.Span(MaxSnooze), length)
	}
	return a.decide(ctx, snooze, id, reason, actor, length)
}

// Reopen takes a dismissal or a snooze back.
func (a *Advisor) Reopen(ctx context.Context, id, reason, actor string) (recommend.Recommendation, error) {
	return a.decide(ctx, reopen, id, reason, actor, 0)
}

// Approvable says why a recommendation can not be approved though conditions are overruled, a *StateError; nil if it can.
//
// What is not eligible because of single statements is approved all the same if each such verdict is overruled, which is kept as
// the reason of its state.
func Approvable(r *recommend.Recommendation, despite ...plan.Overrule) error {
	w := &wishes[approve]
	var why string
	switch {
	case !w.from[r.State]:
		why = w.why[r.State]
	case !r.Executable():
		why = "Helenus can not carry it out: it is advice to people (" + string(r.Kind) + ")"
	case r.Kind != recommend.TimelineKind && r.Rewrite == nil:
		why = "it is not eligible: nothing is there to be carried out"
	default:
		why = ineligible(r, despite)
	}
	if why == "" {
		return nil
	}
	return &StateError{ID: r.ID, State: r.State, Wish: string(w.order), Why: why}
}

// Admit returns what lets a change be carried out as somebody approves it: its record says what he approved, and whether that may be. Who carries
// it out asks in the transaction in which he begins.
func (a *Advisor) Admit(actor string, despite ...plan.Overrule) change.Admission {
	return func(c *change.Record) (store.Entry, error) {
		if c.Advice == nil {
			return store.Entry{}, &NotFoundError{ID: c.ID}
		}
		now := a.o.Clock()
		r, err := proposal(c)
		if err != nil {
			return store.Entry{}, err
		}
		show(&r, c, now)
		if err := Approvable(&r, despite...); err != nil {
			return store.Entry{}, Standing(err, c.State)
		}
		if c.State == change.Snoozed { // its time is over, which no round has noted yet
			if err := c.Move(change.Propose, change.Proposed, c.Until); err != nil {
				return store.Entry{}, err
			}
		}
		reason := ""
		if len(despite) > 0 {
			words := make([]string, len(despite))
			for i, o := range despite {
				words[i] = o.String()
			}
			reason = "despite " + strings.Join(words, ", ")
		}
		c.Last = change.Decision{At: now, Actor: actor, Reason: reason}
		a.decided[approve].Add(1)
		return store.Entry{Target: r.ID}, nil
	}
}

// Standing has what is said of a proposal that was approved be of where its change stands: one that was rolled back is not to be rolled back again.
func Standing(err error, is change.State) error {
	var state *StateError
	if !errors.As(err, &state) || state.State != recommend.Approved {
		return err
	}
	switch is {
	case change.RollingBack:
		state.Why = "it is being rolled back; drop it then (`helenus drop " + state.ID + "`)"
	case change.RolledBack:
		state.Why = "it was rolled back; drop it first (`helenus drop " + state.ID + "`)"
	}
	return err
}

func (a *Advisor) decide(ctx context.Context, place int, id, reason, actor string, length time.Duration) (recommend.Recommendation, error) {
	if err := a.load(ctx); err != nil {
		return recommend.Recommendation{}, err
	}
	w, now := &wishes[place], a.o.Clock()
	a.mu.RLock()
	b := a.current(now)
	a.mu.RUnlock()
	r, err := b.named(id)
	if err != nil {
		return recommend.Recommendation{}, err
	}
	var entry store.Entry
	_, err = a.o.Changes.Change(ctx, r.ID, func(c *change.Record) ([]store.Entry, error) {
		before := c.State
		if show(r, c, now); !w.from[r.State] {
			return nil, Standing(&StateError{ID: r.ID, State: r.State, Wish: string(w.order), Why: w.why[r.State]}, c.State)
		}
		if err := c.Move(w.order, w.to, now); err != nil {
			return nil, err
		}
		if place == snooze {
			c.Until = now.Add(length)
		}
		c.Last = change.Decision{At: now, Actor: actor, Reason: reason}
		entry = store.Entry{Action: string(w.order), Target: r.ID, Reason: reason, Before: string(before), After: string(w.to)}.By(ctx, cmp.Or(actor, store.Self))
		if place == snooze {
			entry.Reason = "until " + c.Until.UTC().Format(time.RFC3339) + ": " + reason
		}
		show(r, c, now)
		return []store.Entry{entry}, nil
	})
	if err != nil {
		return *r, err
	}
	a.decided[place].Add(1)
	a.o.Log.Info("change", "change_id", r.ID, "order", entry.Action, "state", w.to, "actor", entry.Actor, "from", entry.From, "reason", entry.Reason)
	return *r, nil
}

// ineligible says why a recommendation can not be approved, though some verdicts are overruled; "" if it can.
func ineligible(r *recommend.Recommendation, despite []plan.Overrule) string {
	left := *r
	left.Verdicts = nil
	used := make([]bool, len(despite))
	refused := 0
	whole := false
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		covered := false
		for n, o := range despite {
			if o.Covers(v) {
				covered, used[n] = true, true
			}
		}
		if covered {
			continue
		}
		left.Verdicts = append(left.Verdicts, *v)
		if v.Refused && v.Statement == "" {
			whole = true
		} else if v.Refused {
			refused++
		}
	}
	for n, ok := range used {
		if !ok {
			what := "nothing else does either: approve it without --despite"
			if !r.Eligible {
				what = "what does: " + refusals(r)
			}
			return fmt.Sprintf("nothing refuses it, or warns, by %s because of a statement %s; %s", despite[n].Condition.Name(), despite[n].Statement, what)
		}
	}
	switch {
	case r.Eligible:
		return ""
	case len(despite) == 0 || whole || r.Rewrite == nil || refused >= len(r.Rewrite.Statements):
		return "it is not eligible: " + refusals(&left)
	}
	return ""
}

// refusals lists the verdicts that refuse, and how one is overruled that can be.
func refusals(r *recommend.Recommendation) string {
	var out []string
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Refused {
			text := v.Refusal().Error()
			if v.Overrulable() {
				text += fmt.Sprintf(" (a person may overrule it: --despite %s:%.12s)", v.Condition, v.Cause)
			}
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "nobody has judged it"
	}
	return strings.Join(out, "; ")
}

package advisor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
)

// A recommendation is the proposal of a change (package change): what it says is the advisor's part of the change's record, and its state is
// what the change's state means to who decides on proposals.

// meaning is what the state of a change means for its proposal; all others mean that it was approved.
var meaning = map[change.State]recommend.State{
	change.None: recommend.Open, change.Proposed: recommend.Open, change.Dismissed: recommend.Rejected, change.Snoozed: recommend.Snoozed,
	change.Superseded: recommend.Superseded, change.Expired: recommend.Expired, change.Dropped: recommend.Open,
}

// over is why a proposal that was approved waits for a decision again.
const over = "it was carried out, rolled back and dropped"

// show has a recommendation say the state of its change, at a time; zero: whatever time it is.
func show(r *recommend.Recommendation, c *change.Record, now time.Time) {
	state, ok := meaning[c.State]
	if !ok {
		state = recommend.Approved
	}
	r.ChangeID, r.State, r.StateReason, r.Actor, r.StateSince, r.Until = r.ID, state, c.Last.Reason, c.Last.Actor, c.Last.At, c.Until
	switch {
	case c.State == change.Dropped:
		r.StateReason, r.Actor, r.StateSince = over, "", c.Since
	case state == recommend.Snoozed && !now.IsZero() && !now.Before(c.Until): // the next round notes it
		r.State, r.StateReason, r.Actor, r.StateSince, r.Until = recommend.Open, awake(c.Until, c.Last.Reason), "", c.Until, time.Time{}
	}
}

// proposal reads what a record proposes.
func proposal(c *change.Record) (r recommend.Recommendation, err error) {
	if err := json.Unmarshal(c.Advice, &r); err != nil {
		return r, fmt.Errorf("what change %s proposes can not be read from the store: %w", c.ID, err)
	}
	return r, nil
}

// load reads what is proposed, once.
func (a *Advisor) load(ctx context.Context) error {
	b, err := a.proposals(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.loaded {
		a.book, a.loaded = b, true
	}
	return nil
}

// proposals are the changes that advice proposed, as they are stored.
func (a *Advisor) proposals(ctx context.Context) (b book, err error) {
	records, err := a.o.Changes.All(ctx)
	if err != nil {
		return b, err
	}
	for i := range records {
		if records[i].Advice == nil {
			continue
		}
		r, err := proposal(&records[i])
		if err != nil {
			return b, err
		}
		b.Entries = append(b.Entries, r)
	}
	return b, nil
}

// current is what is proposed, in the states of now, ordered for people; a.mu is held.
func (a *Advisor) current(now time.Time) book {
	b, known := a.book.clone(), a.o.Changes.Known()
	for i := range b.Entries {
		c := known[b.Entries[i].ID]
		show(&b.Entries[i], &c, now)
	}
	b.sort()
	return b
}

// written is what is stored of a recommendation: its state is the change's.
func written(r recommend.Recommendation) (json.RawMessage, error) {
	r.ChangeID, r.State, r.StateReason, r.Actor, r.StateSince, r.Until = "", "", "", "", time.Time{}, time.Time{}
	return change.Part(&r)
}

// keep stores what a round made of what was known before, change by change, and makes each the valid one once it is stored; a.mu is held.
func (a *Advisor) keep(ctx context.Context, before, after *book, at time.Time) error {
	for i := range after.Entries {
		r := &after.Entries[i]
		if err := a.note(ctx, before.find(r.ID), r, at); err != nil {
			return fmt.Errorf("keep the recommendations in the state directory: %w", err)
		}
		if have := a.book.find(r.ID); have != nil {
			*have = *r
		} else {
			a.book.Entries = append(a.book.Entries, *r)
		}
	}
	for i := range before.Entries {
		id := before.Entries[i].ID
		if after.find(id) != nil {
			continue
		}
		if _, err := a.o.Changes.Change(ctx, id, func(c *change.Record) ([]store.Entry, error) { c.Advice = nil; return nil, nil }); err != nil {
			return fmt.Errorf("forget a recommendation in the state directory: %w", err)
		}
		a.book.forget(id)
	}
	return nil
}

// ofRounds are the orders by which a round brings a change into the state that means this for its proposal.
var ofRounds = map[recommend.State]struct {
	order change.Order
	to    change.State
}{
	recommend.Open: {change.Propose, change.Proposed}, recommend.Superseded: {change.Supersede, change.Superseded}, recommend.Expired: {change.Expire, change.Expired},
}

// note stores one recommendation as a round left it. Who decided on it meanwhile is not overruled.
func (a *Advisor) note(ctx context.Context, old, r *recommend.Recommendation, at time.Time) error {
	text, err := written(*r)
	if err != nil {
		return err
	}
	if c, ok := a.o.Changes.Known()[r.ID]; ok && old != nil && old.State == r.State && c.State != change.Dropped && bytes.Equal(text, c.Advice) {
		return nil
	}
	_, err = a.o.Changes.Change(ctx, r.ID, func(c *change.Record) (trail []store.Entry, err error) {
		c.Advice = text
		have, was := recommend.Recommendation{ID: r.ID}, c.State
		show(&have, c, time.Time{})
		to, moves := ofRounds[r.State]
		again := was == change.None || was == change.Dropped && r.LastRefresh.Equal(at)
		if !moves || old != nil && (have.State != old.State || old.State == r.State && !again) || !change.Allowed(to.order, was, to.to) {
			return nil, nil
		}
		if err := c.Move(to.order, to.to, r.StateSince); err != nil {
			return nil, err
		}
		c.Last = change.Decision{At: r.StateSince, Reason: r.StateReason}
		if putOff(have.State) {
			trail = append(trail, store.Entry{Action: "reconsider", Target: r.ID, Reason: r.StateReason, Before: string(was), After: string(c.State)}.By(ctx, store.Self))
		}
		return trail, nil
	})
	return err
}

func (b *book) forget(id string) {
	for i := range b.Entries {
		if b.Entries[i].ID == id {
			b.Entries = append(b.Entries[:i], b.Entries[i+1:]...)
			return
		}
	}
}

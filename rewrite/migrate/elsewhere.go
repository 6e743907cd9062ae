package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
)

// Several processes may carry out the same changes: each has them in force, one of them drives them, and orders are given at any. What one stores the others take on
// (Follow). Each stores by compare and set against what it last took on or stored (run.stored), so an order that another gave is never written over: who
// was not first takes on what is there, and then sees whether his own order still is one (turn).

// taken is a change as its record has it.
func (m *Manager) taken(c *change.Record) (*run, error) {
	stored, err := worked(c)
	if err != nil {
		return nil, err
	}
	r := m.run(&stored.Rewrite)
	r.id, r.m, r.stored = stored.ID, stored, c.Work
	if r.m.OnEntryFailure == "" {
		r.m.OnEntryFailure = TurnBack
	}
	r.repace()
	return r, nil
}

// fitStored fits a change to its base as it was when it was stored. One that does not fit is broken for this process.
func (m *Manager) fitStored(r *run) {
	base := r.m.Base // of its own: what is fitted is read while the change is written
	fitted, refusal := r.refit(r.m.Rewrite, &base)
	r.unfit = ""
	if refusal != nil {
		r.unfit = refusal.Error()
		r.m.Broken, r.m.Reason = true, refusal.Error()
		if r.m.Active() && r.m.State != RollingBack {
			r.m.State = Suspended
		}
	}
	r.fits(fitted)
}

// adopt takes on what another process has stored of a change: what was worked on here is outdated, unless that is another pace alone, or nothing; it reports that. r.mu is held.
func (m *Manager) adopt(r *run) (outdated bool) {
	c, ok := m.Changes.Record(r.id)
	if !ok || c.Work == nil {
		return false
	}
	x, err := worked(&c)
	if err != nil {
		m.Log.Error("what another process has stored of a change can not be read", "change_id", r.id, "err", err)
		return false
	}
	if !x.Approved.Equal(r.m.Approved) { // it was dropped and approved again, which is another: Follow takes that on
		r.trail, r.m.Pending = nil, ""
		r.ended()
		return true
	}
	if r.repacedElsewhere(&x) {
		r.m.Throttle, r.m.Events, r.stored = x.Throttle, x.Events, c.Work
		r.repace()
		return false
	}
	refit := x.Base.Digest() != r.m.Base.Digest() || r.fitted() == nil
	was := r.m.State
	r.m, r.stored = x, c.Work
	if r.m.OnEntryFailure == "" {
		r.m.OnEntryFailure = TurnBack
	}
	if refit {
		m.fitStored(r)
	}
	r.repace()
	r.turns++
	if r.cancel != nil {
		r.cancel()
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
	if was != r.m.State {
		m.Log.Info("change", "change_id", r.id, "state", r.m.State, "before", was, "by", "another member")
	}
	return true
}

// back are the states from which work goes on once a change is stored, from that which asks least of what was done to that which asks most: an order that leads further back
// than where another process has come to is still an order.
var back = []State{RollingBack, Failed, Suspended, Approved, Created, DualWrite, Backfill, Verify, Shadow, Serving}

// rebase puts an order that is in force and not stored yet upon what another process has stored meanwhile, if it leads further back than that, and doubts whatever that is; else
// there is nothing left to store of it. Work that is done is no order: it was done for what the change was. Where no order waits to be stored it is adopt. r.mu is held.
func (m *Manager) rebase(r *run) {
	if r.m.Pending == "" {
		m.adopt(r)
		return
	}
	ours, doubts := r.m, r.unstored()
	ordered := slices.ContainsFunc(r.trail, func(e store.Entry) bool { return e.Action != advancing })
	refills := slices.ContainsFunc(r.trail, func(e store.Entry) bool { return e.Action == refilling })
	if !m.adopt(r) {
		return // all of it is as it was ordered here
	}
	theirs, left := r.m, false
	if theirs.Active() && doubts > 0 {
		r.m.Doubts += doubts
		r.m.Unfollowed, r.m.Reason = true, ours.Reason
		left = true
	}
	if theirs.Active() && refills { // they know nothing of why
		r.m.refill(ours.Keeps)
		left = true
	}
	if at := slices.Index(back, ours.State); ordered && at >= 0 && at < slices.Index(back, theirs.State) {
		r.m.State, r.m.Reason, r.m.Progress = ours.State, ours.Reason, Progress{Started: ours.Progress.Started}
		r.m.Broken, r.m.Unfollowed = theirs.Broken || ours.Broken, theirs.Unfollowed || ours.Unfollowed
		if ours.Refill {
			r.m.refill(ours.Keeps)
		}
		r.repace()
		left = true
	}
	if left {
		r.m.Pending = ours.Pending // until it is stored: another process may be first again
		return
	}
	r.trail = nil
}

// unstored is how many doubts of this process are not stored yet. r.mu is held.
func (r *run) unstored() int64 {
	var stored struct{ Doubts int64 }
	if json.Unmarshal(r.stored, &stored) != nil {
		return 0 // nothing is stored
	}
	return r.m.Doubts - stored.Doubts
}

// Follow takes on what other processes have stored, and has put it in force when it returns.
func (m *Manager) Follow(ctx context.Context) error {
	records, err := m.Changes.All(ctx)
	if err != nil {
		return err
	}
	var failed []error
	changed := false
	for i := range records {
		if records[i].Work == nil {
			continue
		}
		did, err := m.followOne(&records[i])
		changed = changed || did
		failed = append(failed, err)
	}
	if changed {
		m.publish()
	}
	m.lookUnfit()
	return errors.Join(failed...)
}

// followOne takes on one change; it reports whether that is another than before.
func (m *Manager) followOne(c *change.Record) (bool, error) {
	if m.known(c) {
		return false, nil
	}
	m.mu.Lock()
	newest, ok := m.Changes.Record(c.ID) // it may have been approved here since
	if !ok || newest.Work == nil {
		m.mu.Unlock()
		return false, nil
	}
	fresh, err := m.taken(&newest)
	if err != nil {
		m.mu.Unlock()
		return false, err
	}
	r := m.runs[c.ID]
	if r == nil || !r.same(fresh) {
		m.fitStored(fresh)
		m.runs[c.ID] = fresh
		m.start(fresh)
		m.mu.Unlock()
		if r != nil {
			r.over()
		}
		return true, nil
	}
	m.mu.Unlock()
	r.orders.Lock() // an order that is being given here is stored and in force, or neither
	defer r.orders.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	now, ok := m.Changes.Record(c.ID)
	if !ok || bytes.Equal(now.Work, r.stored) || r.m.Pending != "" { // what is pending is put upon it when it is stored
		return false, nil
	}
	m.adopt(r)
	return true, nil
}

// known tells whether a change is stored as this process last took it on or stored it: most are, whenever one is new.
func (m *Manager) known(c *change.Record) bool {
	m.mu.Lock()
	r := m.runs[c.ID]
	m.mu.Unlock()
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Equal(c.Work, r.stored)
}

// same tells whether two runs are of one approval: what was dropped and approved again is another.
func (r *run) same(other *run) bool {
	have := r.seen()
	return have.Approved.Equal(other.m.Approved)
}

// over ends the driving of a run that another has taken the place of.
func (r *run) over() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended()
}

// ended is over for those who hold r.mu.
func (r *run) ended() {
	r.m.State = Dropped
	r.turns++
	if r.cancel != nil {
		r.cancel()
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Unfit says which change this process can not follow, and why, though others may: it was made by a version that knows more. "" if there is none. While there is one nothing is
// verified anywhere, as its writes through this process have no entries.
func (m *Manager) Unfit() string {
	if why := m.unfit.Load(); why != nil {
		return *why
	}
	return ""
}

// lookUnfit looks for it.
func (m *Manager) lookUnfit() {
	var found *string
	m.mu.Lock()
	runs := m.sorted()
	m.mu.Unlock()
	for _, r := range runs {
		r.mu.Lock()
		why, active := r.unfit, r.m.Active() && r.m.State != RollingBack
		r.mu.Unlock()
		if why != "" && active {
			text := fmt.Sprintf("this version of helenus can not follow change %s: %s", r.id, why)
			found = &text
		}
	}
	m.unfit.Store(found)
}

// ReverifyAll turns the reads of all changes back until they were verified anew, and has stored so when it returns without error.
func (m *Manager) ReverifyAll(ctx context.Context, reason string) error {
	m.mu.Lock()
	runs := m.sorted()
	m.mu.Unlock()
	var failed []error
	for _, r := range runs {
		failed = append(failed, m.Reverify(ctx, r.id, reason))
	}
	return errors.Join(failed...)
}

// Relied reports whether something may rest on the entries of a change, by what is stored of it as far as is known here.
func (m *Manager) Relied(id string) bool {
	c, ok := m.Changes.Record(id)
	if !ok || c.Work == nil {
		return true
	}
	stored, err := worked(&c)
	return err != nil || stored.Mode().Rely
}

package calendar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Tick looks at every calendar once, and does what is to be done.
func (k *Keeper) Tick(ctx context.Context) {
	k.work.Lock()
	defer k.work.Unlock()
	var failed []error
	for _, c := range k.Calendars() {
		if err := k.tick(ctx, c.clone()); err != nil {
			failed = append(failed, fmt.Errorf("calendar %s: %w", c.ID, err))
		}
	}
	failed = append(failed, k.forget(ctx))
	why := ""
	if err := errors.Join(failed...); err != nil && ctx.Err() == nil {
		why = err.Error()
	}
	k.mu.Lock()
	changed := k.failing != why
	k.failing = why
	k.mu.Unlock()
	switch {
	case changed && why != "":
		k.o.Log.Warn("a calendar waits; it is tried again", "err", why)
	case changed:
		k.o.Log.Info("calendars go on")
	}
}

// tick looks at one calendar.
func (k *Keeper) tick(ctx context.Context, c *Calendar) error {
	now := k.o.Clock()
	if c.State == Withdrawn {
		return nil
	}
	if c.State != Withdrawing {
		if err := k.question(ctx, c, now); err != nil {
			return err
		}
	}
	var failed []error
	for n := range c.Seasons {
		if err := k.step(ctx, c, n, now); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.Seasons[n].ID, err))
			if ctx.Err() == nil { // whoever asks is told, too, not the log alone, which knows it if this can not be saved
				_ = k.waiting(ctx, c, n, "it is tried again: "+err.Error())
			}
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if c.State != Withdrawing {
		return nil
	}
	all := k.o.Migrations.Migrations()
	for n := range c.Seasons {
		if seen, _ := see(&c.Seasons[n], all); !settled(&c.Seasons[n], seen, !c.Limits.Drop) {
			return nil
		}
	}
	c.State = Withdrawn
	c.note(now, "", "it is over: %s", c.leaves())
	if err := k.save(ctx, c); err != nil {
		return err
	}
	k.o.Log.Info("calendar", "change_id", c.ID, "state", c.State, "actor", store.Self, "reason", c.Reason, "text", c.leaves())
	return nil
}

// leaves says what is there still, and what to do with it.
func (c *Calendar) leaves() string {
	var list []string
	for _, n := range c.Remaining() {
		lu, id := &c.Plan.Seasons[n].Rewrite, c.Seasons[n].ID
		list = append(list, fmt.Sprintf("%s serves still (change %s): let it, or `helenus rollback %s` and `helenus drop %s`", lu.FullTable(), id, id, id))
	}
	if list == nil {
		return "none of its tables is left"
	}
	return strings.Join(list, "; ")
}

// forget removes the oldest calendars that are over.
func (k *Keeper) forget(ctx context.Context) error {
	over := slices.DeleteFunc(k.Calendars(), func(c Calendar) bool { return c.State != Withdrawn })
	slices.SortFunc(over, func(a, b Calendar) int { return a.Approved.Compare(b.Approved) })
	for i := range max(0, len(over)-maxWithdrawn) {
		id := over[i].ID
		k.mu.RLock()
		have := k.raw[id]
		k.mu.RUnlock()
		_, err := k.o.Changes.Change(ctx, id, func(r *change.Record) ([]store.Entry, error) {
			if r.Calendar != nil && !bytes.Equal(have, r.Calendar) { // another process has approved it again
				return nil, errElsewhere
			}
			r.Calendar = nil
			return nil, nil
		})
		if errors.Is(err, errElsewhere) {
			return k.Restore(ctx)
		}
		if err != nil {
			return err
		}
		k.mu.Lock()
		delete(k.calendars, id)
		delete(k.raw, id)
		k.mu.Unlock()
	}
	return nil
}

// question asks whether the calendar is still to be followed: its date, and, when a further hour is known, its cycle.
func (k *Keeper) question(ctx context.Context, c *Calendar, now time.Time) error {
	if until := c.Limits.Until; !until.IsZero() && !now.Before(until) {
		c.withdraw(now, "", "it was approved until "+until.Format(time.RFC3339))
		return k.save(ctx, c)
	}
	if h := c.Holding; h != nil && h.At.Truncate(cycle.Bin).Equal(now.Truncate(cycle.Bin)) {
		return nil
	}
	record, err := k.o.Recent(ctx, c.Approved)
	if err != nil { // that it can not be asked does not end it: changes are safe, and cost at worst what they cost
		k.o.Log.Warn("whether a cycle still holds is not known: the history can not be read", "change_id", c.ID, "err", err)
		return nil
	}
	h := c.Cycle.Holds(record)
	c.Holding = &Asked{At: now, Holds: h.Holds, Known: h.Known, Off: h.Off, Limit: h.Limit, Why: h.Why}
	if !h.Holds {
		c.withdraw(now, "", fmt.Sprintf("the cycle does not hold any more since %s: %s", h.Since.Format("2006-01-02"), h.Why))
	}
	return k.save(ctx, c)
}

// step does what the table says of one season. The calendar, as it was changed, is saved before an order is given.
func (k *Keeper) step(ctx context.Context, c *Calendar, n int, now time.Time) error {
	s := &c.Seasons[n]
	seen, m := see(s, k.o.Migrations.Migrations())
	wanted, at, late := c.wanted(n, now, k.o.Every)
	if c.State == Withdrawing {
		wanted = !c.Limits.Drop
	}
	switch rules[row{c.State, s.Stage, wanted}][seen] {
	case rest:
		return k.waiting(ctx, c, n, late) // what was due is not any more
	case begin:
		return k.begin(ctx, c, n, now, at)
	case left:
		s.enter(Out, now)
		c.note(now, "", "%s: %s is not there", s.ID, c.Plan.Seasons[n].Rewrite.Table)
		return k.save(ctx, c)
	case filled:
		return k.learn(ctx, c, n, now)
	case arrived:
		if err := k.learn(ctx, c, n, now); err != nil {
			return err
		}
		s.enter(There, now)
		s.Served++
		c.note(now, "", "%s: %s serves", s.ID, c.Plan.Seasons[n].Rewrite.Table)
		return k.save(ctx, c)
	case turn:
		if why := c.waits(n, false, now); why != "" {
			return k.waiting(ctx, c, n, why)
		}
		c.Begun, s.Granted = append(c.Begun, now), nil
		return k.away(ctx, c, n, now, "the calendar does without it from here on")
	case undo:
		return k.away(ctx, c, n, now, "the calendar is withdrawn")
	case again:
		return k.o.Migrations.Rollback(ctx, s.ID, c.by())
	case drop:
		if err := k.o.Migrations.Drop(ctx, s.ID, c.by()); err != nil {
			return err
		}
		k.mu.Lock()
		k.dropped++
		k.mu.Unlock()
	case fail:
		c.pause(now, fmt.Sprintf("change %s is %s: %s", s.ID, m.State, m.Reason))
		return k.away(ctx, c, n, now, "it was "+string(m.State))
	case lost:
		c.pause(now, s.missing(m))
		s.enter(Going, now)
		return k.save(ctx, c)
	case stray:
		if c.State == Following {
			c.pause(now, fmt.Sprintf("change %s is %s, though the calendar has not ordered it", s.ID, m.State))
			return k.save(ctx, c)
		}
	}
	return nil
}

// by is who gives the calendar's orders.
func (c *Calendar) by() string { return "calendar " + c.ID }

func (s *Season) enter(stage Stage, now time.Time) {
	s.Stage, s.Since, s.Waiting = stage, now, ""
}

func (s *Season) missing(m *migrate.Change) string {
	if m == nil {
		return fmt.Sprintf("change %s is missing", s.ID)
	}
	for i := len(m.Events) - 1; i >= 0; i-- {
		if e := &m.Events[i]; e.Actor != "" {
			return fmt.Sprintf("change %s is %s: %s, by %s", s.ID, m.State, e.Text, e.Actor)
		}
	}
	return fmt.Sprintf("change %s is %s, which the calendar has not ordered", s.ID, m.State)
}

// pause pauses a calendar that is followed; of one that is paused already, the first reason stands.
func (c *Calendar) pause(now time.Time, why string) {
	if c.State == Following {
		c.State, c.Reason = Paused, why
	}
	c.note(now, "", "paused: %s", why)
}

// waits is why a change that is due does not begin now; "": it may.
func (c *Calendar) waits(n int, create bool, now time.Time) string {
	s := &c.Seasons[n]
	switch {
	case c.Limits.Each && (s.Granted == nil || *s.Granted != create):
		return fmt.Sprintf("it is due to %s it, and waits for `helenus approve %s`", verb(create), s.ID)
	case !c.open(now):
		return "it waits for a window in which changes may begin"
	case !c.begins(now):
		return fmt.Sprintf("%d changes have begun in the last 24 hours, and no more are allowed", len(c.Begun))
	}
	if sum := c.bytes() + c.Plan.Seasons[n].Bytes; create && c.Limits.MaxBytes > 0 && sum > c.Limits.MaxBytes {
		return fmt.Sprintf("with it the calendar's tables would take %.0f bytes, and %.0f are allowed", sum, c.Limits.MaxBytes)
	}
	return ""
}

// bytes is what the tables take that are there or may be.
func (c *Calendar) bytes() float64 {
	sum := 0.0
	for _, n := range c.Remaining() {
		sum += c.Plan.Seasons[n].Bytes
	}
	return sum
}

// waiting keeps why a change does not begin, when that changes.
func (k *Keeper) waiting(ctx context.Context, c *Calendar, n int, why string) error {
	s := &c.Seasons[n]
	if s.Waiting == why {
		return nil
	}
	s.Waiting = why
	return k.save(ctx, c)
}

// begin orders a season's migration.
func (k *Keeper) begin(ctx context.Context, c *Calendar, n int, now, at time.Time) error {
	s := &c.Seasons[n]
	if s.Stage == Out {
		if why := c.waits(n, true, now); why != "" {
			return k.waiting(ctx, c, n, why)
		}
		for _, m := range k.o.Migrations.Migrations() {
			if m.ID == s.ID {
				s.Earlier = m.Approved
			}
		}
		s.enter(Coming, now)
		s.For, s.Filled, s.Granted = at, false, nil
		c.Begun = append(c.Begun, now)
		c.note(now, "", "%s: %s is made for the step that begins at %s", s.ID, c.Plan.Seasons[n].Rewrite.Table, at.In(c.Cycle.Location()).Format("2006-01-02 15:04"))
		if err := k.save(ctx, c); err != nil {
			return err
		}
		k.mu.Lock()
		k.created++
		k.mu.Unlock()
	}
	_, err := k.o.Migrations.Approve(ctx, s.ID, c.Plan.Seasons[n].Rewrite, c.by())
	var (
		refused *condition.Refusal
		taken   *migrate.ErrAlreadyApproved
	)
	if errors.As(err, &refused) || errors.As(err, &taken) { // it would be refused again
		c.pause(now, fmt.Sprintf("%s could not be begun: %v", s.ID, err))
		s.enter(Out, now)
		return k.save(ctx, c)
	}
	return err
}

// learn keeps how long a season took until it was filled and verified.
func (k *Keeper) learn(ctx context.Context, c *Calendar, n int, now time.Time) error {
	s := &c.Seasons[n]
	if s.Filled {
		return nil
	}
	s.Filled, s.Took = true, max(now.Sub(s.Since), time.Nanosecond)
	c.note(now, "", "%s: filled and verified after %v (expected at first: %v)", s.ID, s.Took.Round(time.Millisecond), c.Plan.Seasons[n].Fill.Round(time.Millisecond))
	return k.save(ctx, c)
}

// away has a season rolled back; its table is dropped once it is.
func (k *Keeper) away(ctx context.Context, c *Calendar, n int, now time.Time, why string) error {
	s := &c.Seasons[n]
	s.enter(Going, now)
	c.note(now, "", "%s: statements go back to %s.%s: %s", s.ID, c.Plan.Seasons[n].Rewrite.Keyspace, c.Plan.Seasons[n].Rewrite.Base, why)
	if err := k.save(ctx, c); err != nil {
		return err
	}
	err := k.o.Migrations.Rollback(ctx, s.ID, c.by())
	var state *migrate.ErrState
	if errors.As(err, &state) { // it is on its way already: the next tick sees how far
		return nil
	}
	return err
}

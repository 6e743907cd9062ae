package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
)

// worked is a change as its record has it. One that is proposed anew, or was dismissed, since it was dropped, is dropped still.
func worked(r *change.Record) (x Change, err error) {
	if err := json.Unmarshal(r.Work, &x); err != nil {
		return x, fmt.Errorf("how change %s is carried out can not be read from the store: %w", r.ID, err)
	}
	if x.ID, x.State = r.ID, r.State; r.State.Proposal() {
		x.State = Dropped
	}
	return x, nil
}

// carry puts a change, as it is now, into its record.
func carry(r *change.Record, x *Change) (err error) {
	if x.State != Dropped || !r.State.Proposal() { // what is proposed again is not dropped again
		r.State, r.Since, r.Until = x.State, x.Progress.Started, time.Time{}
	}
	stored := *x
	stored.State = change.None // the record has it
	r.Work, err = change.Part(&stored)
	return err
}

// errElsewhere says that another process has stored something of a change that this one has not taken on yet.
var errElsewhere = errors.New("another process has changed it meanwhile")

// keep stores a change as it is now, along with lines of the audit trail, unless another process has changed it. r.mu is held, or nobody else knows r yet.
func (m *Manager) keep(ctx context.Context, r *run, x *Change, trail ...store.Entry) error {
	kept, err := m.Changes.Change(ctx, x.ID, func(c *change.Record) ([]store.Entry, error) {
		if r.stored != nil && c.Work != nil && !bytes.Equal(c.Work, r.stored) {
			return nil, errElsewhere
		}
		return trail, carry(c, x)
	})
	if err == nil {
		r.stored = kept.Work
	}
	return err
}

// begin stores a change that is approved: that it is, who approves it, and its first state, at once.
func (m *Manager) begin(ctx context.Context, run *run, t Terms) (begun store.Entry, err error) {
	x := &run.m
	kept, err := m.Changes.Change(ctx, x.ID, func(r *change.Record) ([]store.Entry, error) {
		order, before := change.Begin, r.State
		begun = store.Entry{}
		if t.Admit != nil {
			order = change.Approve
			if begun, err = t.Admit(r); err != nil {
				return nil, err
			}
		}
		if err := r.Move(order, Approved, x.Approved); err != nil {
			return nil, err
		}
		r.Part, _ = strings.CutPrefix(t.Actor, byCalendar)
		if r.Part == t.Actor {
			r.Part = ""
		}
		begun.At, begun.Action, begun.Target, begun.Before, begun.After = x.Approved, string(order), x.ID, string(before), string(Approved)
		begun.Reason = strings.TrimPrefix(begun.Reason+"; ", "; ") + "if an entry can not be written: " + t.OnEntryFailure
		begun.Despite = nil
		for _, o := range t.Despite {
			begun.Despite = append(begun.Despite, o.String())
		}
		begun = begun.By(ctx, t.Actor)
		return []store.Entry{begun}, carry(r, x)
	})
	run.stored = kept.Work
	return begun, err
}

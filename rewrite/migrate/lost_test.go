package migrate

import (
	"context"
	"errors"
	"testing"

	"github.com/helenus-db/helenus/rewrite/exec/exectest"
)

// TestPendingOutlivesUpdates: an order is in force here and could not be stored. Before it is tried again, another process has stored something, and something that is no order is
// stored here.
func TestPendingOutlivesUpdates(t *testing.T) {
	rate := 5
	reverify := func(ctx context.Context, m *Manager) error {
		return m.Reverify(ctx, "r", "an entry could not be written")
	}
	suspend := func(ctx context.Context, m *Manager) error { return m.Suspend(ctx, "r", "for the test", false) }
	refill := func(ctx context.Context, m *Manager) error { return m.Refill(ctx, "r", "the base was emptied") }
	note := func(ctx context.Context, m *Manager) error { _, err := m.Note(ctx, "r", "by the way"); return err }
	empty := func(ctx context.Context, m *Manager) error { return m.Emptying(ctx, "r") }
	throttle := func(ctx context.Context, m *Manager) error {
		return m.Throttle(ctx, "r", ThrottleOrder{Rate: &rate}, "ann")
	}
	resume := func(ctx context.Context, m *Manager) error { return m.Resume(ctx, "r", "ann") }
	rollback := func(ctx context.Context, m *Manager) error { return m.Rollback(ctx, "r", "ann") }
	_, _ = resume, rollback
	for name, c := range map[string]struct {
		order, then func(context.Context, *Manager) error
		want        State
	}{
		"verify, note":     {reverify, note, Verify},
		"verify, empty":    {reverify, empty, Verify},
		"verify, throttle": {reverify, throttle, Verify},
		"suspend, note":    {suspend, note, Suspended},
		"refill, note":     {refill, note, DualWrite},
	} {
		t.Run(name, func(t *testing.T) {
			db, ctx := &exectest.Store{}, t.Context()
			pair := newPair(t, db, Serving)
			db.Before.Set(func(string, string) error { return errors.New("no majority") })
			if err := c.order(ctx, pair.here); !errors.As(err, new(*ErrPending)) {
				t.Errorf("%v", err)
			}
			db.Before.Clear()
			pair.stores(Change{State: Serving, Passes: 7})
			if err := c.then(ctx, pair.here); err != nil {
				t.Log(err)
			}
			if have := pair.here.runs["r"].get(); have.State != c.want {
				t.Errorf("here it is %s", have.State)
			}
			pair.here.retryAll(ctx)
			if x := pair.stored(); x.State != c.want || x.Passes != 7 {
				t.Errorf("stored: %s", x.State)
			}
		})
	}
}

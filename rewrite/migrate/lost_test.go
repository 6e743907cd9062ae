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

// TestRefillOfWhatIsStoppedElsewhere: the base is emptied while another process stops the change.
func TestRefillOfWhatIsStoppedElsewhere(t *testing.T) {
	for _, state := range []State{Suspended, Failed} {
		db, ctx := &exectest.Store{}, t.Context()
		pair := newPair(t, db, Serving)
		pair.stores(Change{State: state, Emptying: 1})
		if err := pair.here.Emptied(ctx, "r", "the base was emptied"); err != nil {
			t.Error(err)
		}
		if x := pair.stored(); x.State != state || !x.Refill || x.Emptying != 0 {
			t.Errorf("it is %s, to be filled anew: %t, %d", x.State, x.Refill, x.Emptying)
		}
	}
}

// TestDoubtOfWhatIsFilledElsewhere: a write could not be followed while another process has the change filled anew, or stops it.
func TestDoubtOfWhatIsFilledElsewhere(t *testing.T) {
	for _, state := range []State{DualWrite, Backfill, Suspended} {
		db, ctx := &exectest.Store{}, t.Context()
		pair := newPair(t, db, Serving)
		pair.stores(Change{State: state})
		if err := pair.here.Reverify(ctx, "r", "an entry could not be written"); err != nil {
			t.Error(err)
		}
		if x := pair.stored(); x.State != state || x.Unfollowed != (state != Suspended) {
			t.Errorf("it is %s, unfollowed: %t", x.State, x.Unfollowed)
		}
	}
}

// TestSuspendWhatIsOver: another process rolls a change back that is to be suspended here.
func TestSuspendWhatIsOver(t *testing.T) {
	pair := newPair(t, &exectest.Store{}, Serving)
	pair.stores(Change{State: RollingBack})
	if err := pair.here.Suspend(t.Context(), "r", "for the test", false); err != nil {
		t.Error(err)
	}
}

// TestOrderUponAnotherIsInForce: what an order of here is put upon is in force here, too.
func TestOrderUponAnotherIsInForce(t *testing.T) {
	db, ctx := &exectest.Store{}, t.Context()
	pair := newPair(t, db, Serving)
	db.Before.Set(func(string, string) error { return errors.New("no majority") })
	if err := pair.here.Reverify(ctx, "r", "an entry could not be written"); !errors.As(err, new(*ErrPending)) {
		t.Errorf("%v", err)
	}
	db.Before.Clear()
	pair.stores(Change{State: RolledBack})
	var mode Mode
	pair.here.Publish = func(all []Published) {
		mode = Mode{}
		for _, p := range all {
			mode = p.Mode
		}
	}
	if pair.here.publish(); !mode.Write {
		t.Errorf("%+v", mode)
	}
	pair.here.retryAll(ctx)
	if _, err := pair.here.followOne(pair.record()); err != nil {
		t.Fatal(err)
	}
	if have := pair.here.runs["r"].get(); have.State != RolledBack || mode != (Mode{}) {
		t.Errorf("it is %s, and in force is %+v", have.State, mode)
	}
}

// TestTakenOnIsInForce: so is what an order of here has come too late for.
func TestTakenOnIsInForce(t *testing.T) {
	for state, order := range map[State]func(context.Context, *Manager) error{
		Backfill: func(ctx context.Context, m *Manager) error {
			return m.Reverify(ctx, "r", "an entry could not be written")
		},
		Verify: func(ctx context.Context, m *Manager) error {
			return m.Reverify(ctx, "r", "an entry could not be written")
		},
		Suspended: func(ctx context.Context, m *Manager) error { return m.Refill(ctx, "r", "the base was emptied") },
	} {
		pair := newPair(t, &exectest.Store{}, state)
		pair.stores(Change{State: RolledBack})
		mode := Mode{Write: true}
		pair.here.Publish = func(all []Published) {
			mode = Mode{}
			for _, p := range all {
				mode = p.Mode
			}
		}
		if err := order(t.Context(), pair.here); err != nil {
			t.Error(err)
		}
		if have := pair.here.runs["r"].get(); have.State != RolledBack || mode != (Mode{}) {
			t.Errorf("it was %s and is %s, and in force is %+v", state, have.State, mode)
		}
	}
}

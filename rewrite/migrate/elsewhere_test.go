package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// pair is two processes before one store, which has one change.
type pair struct {
	t           *testing.T
	here, there *Manager
}

// newPair begins with a change in a state, of two doubts if it was verified once.
func newPair(t *testing.T, db *exectest.Store, state State) *pair {
	t.Helper()
	p := &pair{t: t}
	begun := Change{ID: "r", State: state, Approved: time.Unix(1, 0).UTC()}
	if state == Verify {
		begun.Doubts = 2
	}
	for _, m := range []**Manager{&p.there, &p.here} {
		*m = New(Parts{Store: db, Now: time.Now, Log: slog.New(slog.DiscardHandler), Shared: true, Publish: func([]Published) {}}, Settings{})
		if m == &p.there {
			first := (*m).run(&begun.Rewrite)
			first.id, first.m = begun.ID, begun
			if err := (*m).keep(t.Context(), first, &begun); err != nil {
				t.Fatal(err)
			}
		}
		r, err := (*m).taken(p.recordOf(*m))
		if err != nil {
			t.Fatal(err)
		}
		r.fits(struct{ kind.Fitted }{}) // the base is as it was
		(*m).runs["r"] = r
	}
	return p
}

func (p *pair) recordOf(m *Manager) *change.Record {
	p.t.Helper()
	if err := m.Changes.Sync(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	records, err := m.Changes.All(p.t.Context())
	if err != nil || len(records) != 1 {
		p.t.Fatal(records, err)
	}
	return &records[0]
}

// record is what is stored, as it is known here.
func (p *pair) record() *change.Record { return p.recordOf(p.here) }

func (p *pair) stored() Change {
	x, err := worked(p.recordOf(p.there))
	if err != nil {
		p.t.Fatal(err)
	}
	return x
}

// stores has the other process store it otherwise.
func (p *pair) stores(theirs Change) {
	p.t.Helper()
	r := p.there.runs["r"]
	theirs.ID, theirs.Approved, theirs.Progress.Started = r.id, r.m.Approved, time.Unix(2, 0).UTC()
	if err := p.there.keep(p.t.Context(), r, &theirs); err != nil {
		p.t.Fatal(err)
	}
}

// TestRebase: an order that is in force here could not be stored, and another process has stored something else meanwhile. What of it is stored after all: what leads further back,
// and every doubt; not what was only work done.
func TestRebase(t *testing.T) {
	const orders, advances = "verify", advancing
	for _, c := range []struct {
		name         string
		ours, theirs Change
		action       string // of ours
		want         State
		doubts       int64
		refill       bool
	}{
		{"serving again elsewhere", Change{State: Verify, Doubts: 3}, Change{State: Serving, Doubts: 2}, orders, Verify, 3, false},
		{"doubted twice at once", Change{State: Verify, Doubts: 3}, Change{State: Verify, Doubts: 4}, orders, Verify, 5, false},
		{"doubted while it was filled", Change{State: Backfill, Doubts: 3}, Change{State: Verify, Doubts: 2}, "", Verify, 3, false},
		{"to be filled anew", Change{State: DualWrite, Doubts: 2, Refill: true}, Change{State: Verify, Doubts: 2}, "refill", DualWrite, 2, true},
		{"suspended while it was verified", Change{State: Suspended, Doubts: 2}, Change{State: Verify, Doubts: 2}, "suspend", Suspended, 2, false},
		{"suspended, and filled anew elsewhere", Change{State: Suspended, Doubts: 2}, Change{State: DualWrite, Refill: true, Doubts: 2}, "suspend", Suspended, 2, true},
		{"rolled back", Change{State: RollingBack, Doubts: 2}, Change{State: Suspended, Doubts: 2}, "roll-back", RollingBack, 2, false},
		{"rolled back before it was filled", Change{State: RollingBack, Doubts: 2}, Change{State: Created, Doubts: 2}, "roll-back", RollingBack, 2, false},
		{"rolled back elsewhere", Change{State: Suspended, Doubts: 3}, Change{State: RolledBack, Doubts: 2}, "suspend", RolledBack, 2, false},
		{"doubted, suspended elsewhere", Change{State: Verify, Doubts: 3}, Change{State: Suspended, Doubts: 2}, orders, Suspended, 3, false},
		{"to be filled anew, suspended elsewhere", Change{State: DualWrite, Doubts: 2, Refill: true}, Change{State: Suspended, Doubts: 2}, "refill", Suspended, 2, true},
		{"to be filled anew, rolled back elsewhere", Change{State: DualWrite, Doubts: 2, Refill: true}, Change{State: RolledBack, Doubts: 2}, "refill", RolledBack, 2, false},
		{"work of one who led until then", Change{State: Backfill, Doubts: 2}, Change{State: Verify, Doubts: 2}, advances, Verify, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			pair := newPair(t, &exectest.Store{}, Verify)
			pair.stores(c.theirs)
			r := pair.here.runs["r"]
			r.m.State, r.m.Doubts, r.m.Refill, r.m.Pending = c.ours.State, c.ours.Doubts, c.ours.Refill, "pending"
			if c.action != "" {
				r.trail = []store.Entry{{Action: c.action, Target: r.id}}
			}
			if err := pair.here.storeAgain(ctx, r); err != nil {
				t.Fatal(err)
			}
			if x := pair.stored(); x.State != c.want || x.Doubts != c.doubts || x.Refill != c.refill {
				t.Errorf("stored: %s, %d doubts, to be filled anew: %t", x.State, x.Doubts, x.Refill)
			}
			if have := r.get(); have.State != c.want || have.Pending != "" || len(r.trail) != 0 {
				t.Errorf("in force: %s, pending %q, %v", have.State, have.Pending, r.trail)
			}
		})
	}
}

// TestRebaseAgain: another process stores something once more while an order of here is put upon what it stored before: the order is stored nevertheless.
func TestRebaseAgain(t *testing.T) {
	for name, c := range map[string]struct {
		ours   Change
		action string
		holds  func(Change) bool
	}{
		"doubted":             {Change{State: Backfill, Doubts: 3}, "", func(x Change) bool { return x.Doubts == 3 }},
		"to be filled anew":   {Change{State: DualWrite, Doubts: 2, Refill: true}, "refill", func(x Change) bool { return x.Refill }},
		"suspended":           {Change{State: Suspended, Doubts: 2}, "suspend", func(x Change) bool { return x.State == Suspended }},
		"ordered by a person": {Change{State: RollingBack, Doubts: 2}, "rollback", func(x Change) bool { return x.State == RollingBack }},
	} {
		t.Run(name, func(t *testing.T) {
			db := &exectest.Store{}
			pair := newPair(t, db, Verify)
			pair.stores(Change{State: Verify, Doubts: 2, Passes: 1})
			r := pair.here.runs["r"]
			r.m.State, r.m.Doubts, r.m.Refill, r.m.Pending = c.ours.State, c.ours.Doubts, c.ours.Refill, "pending"
			if c.action != "" {
				r.trail = []store.Entry{{Action: c.action, Target: r.id}}
			}
			pair.here.Retry("change r", func(ctx context.Context) error { return pair.here.storeAgain(ctx, r) })
			others, busy := 3, false
			db.Before.Set(func(string, string) error {
				if !busy && others > 0 {
					busy = true
					others--
					pair.stores(Change{State: Verify, Doubts: 2, Passes: 2 + others})
					busy = false
				}
				return nil
			})
			for range 10 {
				pair.here.retryAll(t.Context())
			}
			if x := pair.stored(); !c.holds(x) || pair.here.Backlog() != 0 {
				t.Errorf("stored: %+v; %d orders are not stored", x, pair.here.Backlog())
			}
		})
	}
}

// TestPendingOrderOfBefore: an order about a change could not be stored here. Elsewhere that is rolled back, dropped and approved anew, which nobody here has ordered anything about.
func TestPendingOrderOfBefore(t *testing.T) {
	db, ctx := &exectest.Store{}, t.Context()
	pair := newPair(t, db, Serving)
	db.Before.Set(func(string, string) error { return errors.New("no majority") })
	if err := pair.here.Rollback(ctx, "r", "ann"); !errors.As(err, new(*ErrPending)) {
		t.Errorf("%v", err)
	}
	db.Before.Clear()
	r := pair.there.runs["r"]
	if err := pair.there.keep(ctx, r, &Change{ID: "r", State: Verify, Approved: time.Unix(100, 0).UTC()}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		pair.here.retryAll(ctx)
	}
	if x := pair.stored(); x.State != Verify || pair.here.Backlog() != 0 {
		t.Errorf("it is %s; %d orders are not stored", x.State, pair.here.Backlog())
	}
	if _, err := pair.here.followOne(pair.record()); err != nil {
		t.Fatal(err)
	}
	if have := pair.here.runs["r"].get(); have.State == RollingBack || have.Approved.Unix() != 100 {
		t.Errorf("here it is %s, approved at %v", have.State, have.Approved)
	}
}

// TestRefillWhileStopped: what empties the base of a change that was stopped is not forgotten, though another process resumes it at the same time, or the state fails.
func TestRefillWhileStopped(t *testing.T) {
	for name, c := range map[string]struct {
		fails bool
		first State // what another process stores first
		want  State
	}{
		"resumed elsewhere":               {false, Verify, DualWrite},
		"rolled back elsewhere":           {false, RollingBack, RollingBack},
		"the state fails for a while":     {true, "", Failed},
		"fails, and is resumed elsewhere": {true, Verify, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			db, ctx := &exectest.Store{}, t.Context()
			pair := newPair(t, db, Failed)
			if c.fails {
				db.Before.Set(func(string, string) error { return errors.New("no majority") })
				if err := pair.here.Refill(ctx, "r", "the base was emptied"); !errors.As(err, new(*ErrPending)) {
					t.Errorf("%v", err)
				}
				db.Before.Clear()
			}
			if c.first != "" {
				pair.stores(Change{State: c.first})
			}
			if !c.fails {
				if err := pair.here.Refill(ctx, "r", "the base was emptied"); err != nil {
					t.Error(err)
				}
			}
			pair.here.retryAll(ctx)
			if x := pair.stored(); x.State != c.want || x.Refill != (c.want != RollingBack) || pair.here.Backlog() != 0 {
				t.Errorf("it is %s, to be filled anew: %t; %d orders are not stored", x.State, x.Refill, pair.here.Backlog())
			}
		})
	}
}

// TestDoubtIsStoredLater: a member misses an entry while the table is filled, and can not store that. Before it can, the leader has come to verify: it is told all the same.
func TestDoubtIsStoredLater(t *testing.T) {
	db, ctx := &exectest.Store{}, t.Context()
	pair := newPair(t, db, Backfill)
	db.Before.Set(func(string, string) error { return errors.New("no majority") })
	if err := pair.here.Reverify(ctx, "r", "an entry could not be written"); !errors.As(err, new(*ErrPending)) {
		t.Errorf("%v", err)
	}
	db.Before.Set(func(string, string) error { return nil })
	pair.stores(Change{State: Verify})
	if _, err := pair.here.followOne(pair.record()); err != nil {
		t.Fatal(err)
	}
	pair.here.retryAll(ctx)
	if x := pair.stored(); x.State != Verify || x.Doubts != 1 || !x.Unfollowed {
		t.Errorf("stored is %s, with %d doubts, unfollowed: %t", x.State, x.Doubts, x.Unfollowed)
	}
	if n := pair.here.Backlog(); n != 0 {
		t.Errorf("%d orders are not stored", n)
	}
}

// TestGuardsArePatient: whatever the guard orders is carried out though another process stores something else each time first, or said to be given again; what comes
// from a person is given back to him.
func TestGuardsArePatient(t *testing.T) {
	for name, c := range map[string]struct {
		order func(context.Context, *Manager) error
		want  State
	}{
		"suspended": {func(ctx context.Context, m *Manager) error {
			return m.Suspend(ctx, "r", "a write that can not be known", false)
		}, Suspended},
		"filled anew": {func(ctx context.Context, m *Manager) error { return m.Refill(ctx, "r", "its table was emptied") }, DualWrite},
		"doubted":     {func(ctx context.Context, m *Manager) error { return m.Reverify(ctx, "r", "an entry is missing") }, Verify},
		"by a person": {func(ctx context.Context, m *Manager) error { return m.Rollback(ctx, "r", "ann") }, Serving},
	} {
		for _, given := range []time.Duration{time.Minute, 60 * time.Millisecond} { // the second is over before others are done
			t.Run(fmt.Sprint(name, " ", given), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					db := &exectest.Store{}
					pair := newPair(t, db, Serving)
					others := 12
					var busy bool
					db.Before.Set(func(string, string) error {
						if !busy && others > 0 {
							busy = true
							others--
							pair.stores(Change{State: Serving, Passes: others})
							busy = false
						}
						return nil
					})
					ctx, cancel := context.WithTimeout(t.Context(), given)
					defer cancel()
					err := c.order(ctx, pair.here)
					switch person := c.want == Serving; {
					case person && !errors.Is(err, errElsewhere), !person && given == time.Minute && err != nil, !person && given < time.Minute && !errors.Is(err, ErrContended):
						t.Errorf("it ends with %v", err)
					case errors.Is(err, ErrContended): // it is given again
						if err := c.order(t.Context(), pair.here); err != nil {
							t.Error(err)
						}
					}
					if x := pair.stored(); x.State != c.want {
						t.Errorf("it is %s", x.State)
					}
					if n := pair.here.Backlog(); n != 0 {
						t.Errorf("%d orders are not stored", n)
					}
				})
			})
		}
	}
}

// TestOrderBesideWork: while an order is being put in force the work under way stores what it has found, and finds that another process has stored something since. The order is given
// upon that.
func TestOrderBesideWork(t *testing.T) {
	for name, c := range map[string]struct {
		order func(context.Context, *Manager) error
		want  State
	}{
		"suspended":   {func(ctx context.Context, m *Manager) error { return m.Suspend(ctx, "r", "found wrong", false) }, Suspended},
		"doubted":     {func(ctx context.Context, m *Manager) error { return m.Reverify(ctx, "r", "an entry is missing") }, Verify},
		"filled anew": {func(ctx context.Context, m *Manager) error { return m.Refill(ctx, "r", "its table was emptied") }, DualWrite},
		"rolled back": {func(ctx context.Context, m *Manager) error { return m.Rollback(ctx, "r", "ann") }, RollingBack},
	} {
		t.Run(name, func(t *testing.T) {
			pair := newPair(t, &exectest.Store{}, Serving)
			r, first := pair.here.runs["r"], true
			var work sync.WaitGroup
			pair.here.Publish = func([]Published) {
				if !first {
					return
				}
				first = false
				pair.stores(Change{State: Serving, Passes: 1})
				stored := make(chan struct{})
				work.Go(func() { // it is published once this has been
					err := pair.here.update(t.Context(), r, func(x *Change) {
						if x.Repaired++; x.Passes == 1 {
							close(stored)
						}
					})
					if err != nil {
						t.Error(err)
					}
				})
				<-stored
			}
			if err := c.order(t.Context(), pair.here); err != nil {
				t.Error(err)
			}
			work.Wait()
			if x, have := pair.stored(), r.get(); x.State != c.want || have.State != c.want || x.Passes != 1 || x.Repaired != 1 {
				t.Errorf("stored is %s, in force %s; %d passes, %d repaired", x.State, have.State, x.Passes, x.Repaired)
			}
		})
	}
}

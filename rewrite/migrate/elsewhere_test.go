package migrate

import (
	"log/slog"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// TestRebase: an order that is in force here could not be stored, and another process has stored something else meanwhile. What of it is stored after all: what leads further back,
// and every doubt; not what was only work done.
func TestRebase(t *testing.T) {
	const orders, advances = "verify", advancing
	for _, c := range []struct {
		name         string
		ours, theirs Migration
		action       string // of ours
		want         State
		doubts       int64
		refill       bool
	}{
		{"serving again elsewhere", Migration{State: Verify, Doubts: 3}, Migration{State: Serving, Doubts: 2}, orders, Verify, 3, false},
		{"doubted twice at once", Migration{State: Verify, Doubts: 3}, Migration{State: Verify, Doubts: 4}, orders, Verify, 5, false},
		{"doubted while it was filled", Migration{State: Backfill, Doubts: 3}, Migration{State: Verify, Doubts: 2}, "", Verify, 3, false},
		{"to be filled anew", Migration{State: DualWrite, Doubts: 2, Refill: true}, Migration{State: Verify, Doubts: 2}, "refill", DualWrite, 2, true},
		{"suspended while it was verified", Migration{State: Suspended, Doubts: 2}, Migration{State: Verify, Doubts: 2}, "suspend", Suspended, 2, false},
		{"suspended, and filled anew elsewhere", Migration{State: Suspended, Doubts: 2}, Migration{State: DualWrite, Refill: true, Doubts: 2}, "suspend", Suspended, 2, true},
		{"rolled back", Migration{State: RollingBack, Doubts: 2}, Migration{State: Suspended, Doubts: 2}, "roll-back", RollingBack, 2, false},
		{"rolled back elsewhere", Migration{State: Suspended, Doubts: 3}, Migration{State: RolledBack, Doubts: 2}, "suspend", RolledBack, 2, false},
		{"doubted, suspended elsewhere", Migration{State: Verify, Doubts: 3}, Migration{State: Suspended, Doubts: 2}, orders, Suspended, 3, false},
		{"work of one who led until then", Migration{State: Backfill, Doubts: 2}, Migration{State: Verify, Doubts: 2}, advances, Verify, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, db, ctx := slog.New(slog.DiscardHandler), &exectest.Store{}, t.Context()
			begun := Migration{ID: "r", State: Verify, Doubts: 2, Approved: time.Unix(1, 0).UTC()}
			var here, there *Manager
			var r, other *run
			for _, p := range []struct {
				m **Manager
				r **run
			}{{&there, &other}, {&here, &r}} {
				*p.m = New(Parts{Store: db, Now: time.Now, Log: log, Shared: true}, Settings{})
				if *p.r == nil && other == nil { // the first stores what both have
					first := (*p.m).run(&begun.Rewrite)
					first.id, first.m = begun.ID, begun
					if err := (*p.m).keep(ctx, first, &begun); err != nil {
						t.Fatal(err)
					}
				}
				records, err := (*p.m).Changes.All(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if *p.r, err = (*p.m).taken(&records[0]); err != nil {
					t.Fatal(err)
				}
			}
			theirs := c.theirs
			theirs.ID, theirs.Approved, theirs.Progress.Started = begun.ID, begun.Approved, time.Unix(2, 0).UTC()
			if err := there.keep(ctx, other, &theirs); err != nil {
				t.Fatal(err)
			}

			r.fits(struct{ kind.Fitted }{}) // the base is as it was
			r.m.State, r.m.Doubts, r.m.Refill, r.m.Pending = c.ours.State, c.ours.Doubts, c.ours.Refill, "pending"
			if c.action != "" {
				r.trail = []store.Entry{{Action: c.action, Target: r.id}}
			}
			if err := here.storeAgain(ctx, r); err != nil {
				t.Fatal(err)
			}
			for _, m := range []*Manager{here, there} {
				if err := m.Changes.Sync(ctx); err != nil {
					t.Fatal(err)
				}
				records, err := m.Changes.All(ctx)
				if err != nil {
					t.Fatal(err)
				}
				stored, err := worked(&records[0])
				if err != nil {
					t.Fatal(err)
				}
				if stored.State != c.want || stored.Doubts != c.doubts || stored.Refill != c.refill {
					t.Errorf("stored: %s, %d doubts, to be filled anew: %t", stored.State, stored.Doubts, stored.Refill)
				}
			}
			if have := r.get(); have.State != c.want || have.Pending != "" || len(r.trail) != 0 {
				t.Errorf("in force: %s, pending %q, %v", have.State, have.Pending, r.trail)
			}
		})
	}
}

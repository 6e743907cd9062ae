package rewrite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// testOwner is whose the tables are that tests make by themselves.
const testOwner = "00112233445566778899aabbccddeeff"

// Two processes that know nothing of each other approve the same advice, which has the same id in both: the second neither takes
// the first one's table for its own, nor drops it, also after the first has gone.
func TestTwoOwnersOfOneId(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(4, 2)
		w.boot(quick())
		must(t, w.approve("r-1"))
		w.await(migrate.Serving)
		comment := w.db.Schema().Table("hotel", "stays_by_guest").Comment

		second := &world{t: t, db: w.db, store: &exectest.Store{}}
		second.boot(quick())
		must(t, second.approve("r-1"))
		second.await(migrate.Failed)
		if m := second.engine.Migrations()[0]; !strings.Contains(m.Reason, "belongs to another helenus") {
			t.Error(m.Reason)
		}
		w.stop()
		must(t, second.engine.Rollback(context.Background(), "r-1", "bob"))
		second.await(migrate.RolledBack)
		var ownership *migrate.ErrOwnership
		if err := second.engine.Drop(context.Background(), "r-1", "bob"); !errors.As(err, &ownership) {
			t.Errorf("drop: %v", err)
		}
		second.stop()
		if table := w.db.Schema().Table("hotel", "stays_by_guest"); table == nil || table.Comment != comment {
			t.Errorf("the first one's table: %+v", table)
		}
		w.boot(quick())
		defer func() { w.stop() }()
		w.await(migrate.Serving)
	})
}

// The table of a change from before there were owners is known by the store's own record, and gets the owner into its comment; also
// if the process ends between the two.
func TestTableFromBeforeOwners(t *testing.T) {
	for _, cut := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.fill(3, 1)
			base := stays()
			lookup, refusal := match.New(advice(t), &base)
			if refusal != nil {
				t.Fatal(refusal)
			}
			ctx := context.Background()
			_, err := w.db.Query(ctx, exec.Query{Text: lookup.Create("m1")})
			must(t, err)
			must(t, putChange(w.store, &Change{ID: "m1", Rewrite: advice(t), Base: base, State: migrate.Verify, T0: 1}))
			if cut {
				w.store.Before.Set(func(kind, _ string) error {
					if kind == change.Kind {
						return errors.New("disk full")
					}
					return nil
				})
				w.boot(quick())
				synctest.Wait()
				w.stop()
				w.store.Before.Set(func(string, string) error { return nil })
			}
			w.boot(quick())
			defer func() { w.stop() }()
			w.engine.Look()(w.db.Schema())
			w.await(migrate.Serving)
			table := w.db.Schema().Table("hotel", "stays_by_guest")
			if m := w.engine.Migrations()[0]; m.Owner == "" || migrate.OwnerOf(table.Comment) != m.Owner || m.TableID != table.ID {
				t.Errorf("cut %t: %+v, comment %q, id %s", cut, m, table.Comment, table.ID)
			}
			w.engine.Look()(w.db.Schema())
			if w.state() != migrate.Serving {
				t.Errorf("cut %t: %s", cut, w.engine.Migrations()[0].Reason)
			}
		})
	}
}

package rewrite

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
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

// TestNamesThatMeet: the table beside a change's first has the name of another change's table, as that of a look-up by `a` has if there is one by `a_pending`, or as the names were cut.
// The later change takes nothing of the earlier one's for its own, and leaves it alone when it is dropped.
func TestNamesThatMeet(t *testing.T) {
	long := strings.Repeat("x", schema.MaxName-2)
	for _, names := range [][2]string{{"stays_by_a_pending", "stays_by_a"}, {long + "_1", long + "_2"}} {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			w := newWorld(t)
			w.fill(4, 2)
			w.boot(quick())
			defer func() { w.stop() }()
			await := func(id string, want migrate.State) {
				t.Helper()
				for range 1000 {
					synctest.Wait()
					for _, m := range w.engine.Migrations() {
						if m.ID == id && m.State == want {
							return
						}
					}
					time.Sleep(time.Second)
				}
				t.Fatalf("%s does not become %s: %+v", id, want, w.engine.Migrations())
			}
			print, text, _, err := cql.FingerprintText("SELECT room, day, n, status FROM hotel.stays WHERE status = ? ALLOW FILTERING", "")
			must(t, err)
			earlier, later := advice(t), advice(t)
			earlier.Column, earlier.Statements, earlier.Texts = "status", []string{print.String()}, []string{text}
			earlier.Table, later.Table = names[0], names[1]
			_, err = w.engine.Approve(ctx, "m1", earlier, "ann")
			must(t, err)
			await("m1", migrate.Serving)
			before := w.db.Schema().Keyspace("hotel").Tables
			_, err = w.engine.Approve(ctx, "m2", later, "ann")
			must(t, err)
			await("m2", migrate.Failed)
			for _, m := range w.engine.Migrations() {
				if m.ID == "m2" && !strings.Contains(m.Reason, "ownership ambiguous") {
					t.Error(m.Reason)
				}
			}
			must(t, w.engine.Rollback(ctx, "m2", "ann"))
			await("m2", migrate.RolledBack)
			must(t, w.engine.Drop(ctx, "m2", "ann"))
			if after := w.db.Schema().Keyspace("hotel").Tables; !reflect.DeepEqual(before, after) {
				t.Errorf("there were %v, and there are %v", before, after)
			}
			w.engine.Look()(w.db.Schema())
			await("m1", migrate.Serving)
		})
	}
}

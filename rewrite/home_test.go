package rewrite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

const home = "helenus_data_hotel"

// apart is the advice of the tests, with its table in a keyspace of ours.
func apart(t testing.TB) plan.Rewrite {
	a := advice(t)
	a.TableKeyspace = schema.DataKeyspace("helenus_data", a.Keyspace)
	return a
}

// two is a replication in two data centres.
var two = map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "2", "dc2": "1"}

// apartWorld has its change approved with a table in a keyspace of ours.
func apartWorld(t *testing.T, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		w.db.Replicate("hotel", map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "1"})
		w.boot(quick())
		defer func() { w.stop() }()
		f(t, w)
	})
}

// names are the tables of a keyspace; nil if there is none.
func (w *world) names(keyspace string) []string {
	k := w.db.Schema().Keyspace(keyspace)
	if k == nil {
		return nil
	}
	out := []string{}
	for _, t := range k.Tables {
		out = append(out, t.Name)
	}
	return out
}

// missingFrom counts the rows of the base that have no entry.
func (w *world) missingFrom(t *testing.T) int64 {
	t.Helper()
	found, err := w.engine.manager.CheckOnce(context.Background(), "m1")
	must(t, err)
	return found.Missing
}

// Tables of ours lie in a keyspace of ours, replicated as the base's, and leave it when they are dropped.
func TestTablesLieInAKeyspaceOfOurs(t *testing.T) {
	apartWorld(t, func(t *testing.T, w *world) {
		_, err := w.engine.Approve(context.Background(), "m1", apart(t), "ann")
		must(t, err)
		w.await(migrate.Serving)
		if !w.served("guest1") {
			t.Error("not served")
		}
		w.ask(setGuest, str("guest9"), str("room1"), num(0), num(0))
		if !w.served("guest9") {
			t.Error("not served after a write")
		}
		if got := strings.Join(w.names("hotel"), " "); got != "stays" {
			t.Errorf("the application's keyspace has %s", got)
		}
		if got := strings.Join(w.names(home), " "); got != "stays_by_guest stays_by_guest_pending" {
			t.Errorf("ours has %s", got)
		}
		s := w.db.Schema()
		if !s.Keyspace(home).ReplicatedAs(s.Keyspace("hotel")) {
			t.Errorf("ours is replicated %v", s.Keyspace(home).Replication)
		}
		if seen := s.WithoutOwn("helenus_data"); len(seen.Keyspaces) != 1 || len(seen.Keyspaces[0].Tables) != 1 {
			t.Errorf("the application is said to have %+v", seen)
		}
		must(t, w.engine.Rollback(context.Background(), "m1", "ann"))
		w.await(migrate.RolledBack)
		must(t, w.engine.Drop(context.Background(), "m1", "ann"))
		if got := w.names(home); got == nil || len(got) != 0 {
			t.Errorf("after the drop ours has %v", got)
		}
		if seen := w.db.Schema().WithoutOwn("helenus_data"); len(seen.Keyspaces) != 1 {
			t.Errorf("the empty keyspace is shown as the application's: %+v", seen)
		}
	})
}

// Who may not make the keyspace is told at approval what an administrator has to say; nothing is taken on. With the keyspace there it is.
func TestApprovalSaysWhatAnAdministratorHasTo(t *testing.T) {
	apartWorld(t, func(t *testing.T, w *world) {
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "CREATE KEYSPACE") || strings.HasPrefix(q.Text, "ALTER KEYSPACE") {
				return exectest.Unauthorized
			}
			return nil
		})
		_, err := w.engine.Approve(context.Background(), "m1", apart(t), "ann")
		var refused *migrate.ErrKeyspace
		if !errors.As(err, &refused) {
			t.Fatalf("approved without the right: %v", err)
		}
		for _, want := range []string{"CREATE KEYSPACE IF NOT EXISTS " + home + " WITH replication = {'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'dc1': '1'};",
			"GRANT ALL PERMISSIONS ON KEYSPACE " + home + " TO helenus;", "has no CREATE permission"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %q", want, err)
			}
		}
		if len(w.engine.Migrations()) != 0 {
			t.Error("it was taken on nevertheless")
		}
		w.db.Replicate(home, map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "1"})
		_, err = w.engine.Approve(context.Background(), "m1", apart(t), "ann")
		must(t, err)
		w.await(migrate.Serving)
		w.db.Replicate("hotel", two) // which needs a right that it does not have
		w.engine.Look()(w.db.Schema())
		w.await(migrate.Failed)
		if why := w.engine.Migrations()[0].Reason; !strings.Contains(why, "ALTER KEYSPACE "+home+" WITH replication = {'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'dc1': '2', 'dc2': '1'};") {
			t.Errorf("it failed as %s", why)
		}
		w.db.Replicate(home, two) // as the administrator was told
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		w.await(migrate.Serving)
		if n := w.missingFrom(t); n != 0 {
			t.Errorf("%d rows without entry", n)
		}
	})
}

// Whenever the replication of the base is altered, at whichever statement of ours, reads are turned back, our keyspace follows, rows are read at ALL, and it
// serves again in the end; likewise if somebody alters ours.
func TestReplicationIsFollowed(t *testing.T) {
	for _, altered := range []string{"hotel", home} {
		for at, over := int64(1), false; !over; at += 3 {
			apartWorld(t, func(t *testing.T, w *world) {
				var said, all atomic.Int64
				var moved atomic.Bool
				w.db.Before.Set(func(_ context.Context, q exec.Query) error {
					if said.Add(1) == at {
						w.db.Replicate(altered, two)
						go func() { // as the event comes, and the schema is read
							w.engine.Look()(w.db.Schema())
							moved.Store(true)
						}()
					}
					if moved.Load() && q.Consistency == gocql.All && strings.Contains(q.Text, "FROM hotel.stays WHERE token(") {
						all.Add(1)
					}
					return nil
				})
				_, err := w.engine.Approve(context.Background(), "m1", apart(t), "ann")
				must(t, err)
				w.await(migrate.Serving)
				if over = said.Load() < at; over { // it served before: now while it serves
					w.db.Replicate(altered, two)
					w.engine.Look()(w.db.Schema())
					if w.engine.Rule("", byGuest) != nil && w.engine.rules.Load().active[0].serving() {
						t.Error("still served when the change of replication is known")
					}
					moved.Store(true)
					w.await(migrate.Serving)
				}
				s := w.db.Schema()
				if !s.Keyspace(home).ReplicatedAs(s.Keyspace("hotel")) {
					t.Errorf("%s altered at statement %d: ours is replicated %v", altered, at, s.Keyspace(home).Replication)
				}
				if over && all.Load() == 0 {
					t.Errorf("%s altered while serving: it was not filled at ALL", altered)
				}
				if n := w.missingFrom(t); n != 0 || !w.served("guest1") {
					t.Errorf("%s altered at statement %d: %d rows without entry", altered, at, n)
				}
			})
		}
	}
}

// A table is filled from all replicas: a row that was written at ONE before, or at LOCAL_QUORUM in the other data centre, may be on some of them alone, where reads find it.
func TestFilledFromAllReplicas(t *testing.T) {
	for _, replication := range []map[string]string{two, {"class": "SimpleStrategy", "replication_factor": "3"}} {
		apartWorld(t, func(t *testing.T, w *world) {
			w.db.Replicate("hotel", replication)
			var mu sync.Mutex
			levels := map[gocql.Consistency]int{}
			w.db.Before.Set(func(_ context.Context, q exec.Query) error {
				if mu.Lock(); strings.Contains(q.Text, "FROM hotel.stays WHERE token(") && len(w.engine.Migrations()) > 0 && w.state() == migrate.Backfill {
					levels[q.Consistency]++
				}
				mu.Unlock()
				return nil
			})
			_, err := w.engine.Approve(context.Background(), "m1", apart(t), "ann")
			must(t, err)
			w.await(migrate.Serving)
			if len(levels) != 1 || levels[gocql.All] == 0 {
				t.Errorf("the base was read at %v", levels)
			}
		})
	}
}

// A change whose table lies in its base's keyspace, from before there were others, goes on serving, and is filled anew if the replication changes, too.
func TestFormerHomeGoesOn(t *testing.T) {
	apartWorld(t, func(t *testing.T, w *world) {
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		w.stop()
		var was Change
		must(t, getChange(w.store, &was))
		was.Replication = nil
		must(t, putChange(w.store, &was))
		w.boot(quick())
		w.engine.Look()(w.db.Schema())
		w.await(migrate.Serving)
		if !w.served("guest1") || w.names(home) != nil {
			t.Errorf("not served from where it is; ours has %v", w.names(home))
		}
		passes := w.engine.Migrations()[0].Passes
		w.db.Replicate("hotel", two)
		w.engine.Look()(w.db.Schema())
		w.await(migrate.Serving)
		if m := w.engine.Migrations()[0]; m.Passes == passes || !strings.Contains(fmt.Sprint(m.Events), "filled anew: ") {
			t.Errorf("it was not filled and verified anew: %+v", m.Events)
		}
	})
}

// ALTER KEYSPACE through the proxy turns reads back before it goes on.
func TestAlterKeyspaceIsWatched(t *testing.T) {
	apartWorld(t, func(t *testing.T, w *world) {
		_, err := w.engine.Approve(context.Background(), "m1", apart(t), "ann")
		must(t, err)
		for _, keyspace := range []string{"hotel", home} {
			w.await(migrate.Serving)
			a := w.say("", "ALTER KEYSPACE "+keyspace+" WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}", false, proxy.Response{Opcode: proxy.OpResult})
			if a == nil || a.forwarded != 1 || a.serving {
				t.Errorf("ALTER KEYSPACE %s: %+v", keyspace, a)
			}
		}
		if a := w.say("", "ALTER KEYSPACE other WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}", false, proxy.Response{Opcode: proxy.OpResult}); a != nil {
			t.Errorf("another keyspace is looked at: %+v", a)
		}
	})
}

package rewrite

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// An event turns reads back before anybody has looked; a look that began before the event does not answer for it.
func TestSuspected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		w.boot(quick())
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		for _, other := range [][2]string{{"other", ""}, {"other", "stays"}, {"hotel", "rooms"}} {
			if w.engine.Suspect(other[0], other[1]); !w.served("guest1") {
				t.Errorf("%v: not served", other)
			}
		}
		for _, about := range [][2]string{{"", ""}, {"hotel", ""}, {"hotel", "stays"}, {"hotel", "stays_by_guest"}} {
			early := w.engine.Look()
			w.engine.Suspect(about[0], about[1])
			if w.served("guest1") {
				t.Errorf("%v: served", about)
			}
			if early(w.db.Schema()); w.served("guest1") {
				t.Errorf("%v: served after a look that began before the event", about)
			}
			_ = w.engine.Look() // which failed
			seen := w.engine.Look()
			w.engine.Suspect(about[0], about[1]) // meanwhile
			if seen(w.db.Schema()); w.served("guest1") {
				t.Errorf("%v: served though there was an event during the look", about)
			}
			if w.engine.Look()(w.db.Schema()); !w.served("guest1") {
				t.Errorf("%v: not served though all is as it was", about)
			}
		}
		w.engine.Suspect("hotel", "stays_by_guest")
		w.db.Drop("hotel", "stays_by_guest")
		w.engine.Look()(w.db.Schema())
		if w.served("guest1") || w.state() == migrate.Serving {
			t.Errorf("served from nothing: %s", w.state())
		}
	})
}

// It takes a while to read a schema, and changes go on meanwhile: what was read before the tables of one were created does not stop it.
func TestSchemaFromBeforeATable(t *testing.T) {
	for at, over := int64(1), false; !over; at += 2 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.fill(2, 1)
			w.boot(quick())
			defer func() { w.stop() }()
			seen, before := w.engine.Look(), w.db.Schema()
			var said atomic.Int64
			w.db.Before.Set(func(context.Context, exec.Query) error {
				if said.Add(1) == at {
					go seen(before)
				}
				return nil
			})
			must(t, w.approve("m1"))
			w.await(migrate.Serving)
			over = said.Load() < at
			if !w.served("guest1") {
				t.Errorf("a look from before, told at statement %d: not served", at)
			}
			w.db.Drop("hotel", "stays_by_guest")
			w.engine.Look()(w.db.Schema())
			if s := w.state(); s != migrate.Suspended {
				t.Errorf("a look from before, told at statement %d: %s after a look of today, which shows that the table is gone", at, s)
			}
		})
	}
}

// TestSuspectedSinceTheLook: while the schema is read another event comes. The base was altered before, so the change is fitted anew and verified, and serves again; but not before a look
// has answered that event.
func TestSuspectedSinceTheLook(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.redefine(func(b *schema.Table) {
			b.Columns = append(b.Columns, schema.Column{Name: "stars", Kind: schema.Regular, Position: -1, Type: "int"})
		})
		w.engine.Suspect("hotel", "stays")
		seen := w.engine.Look()
		w.engine.Suspect("hotel", "stays")
		seen(w.db.Schema())
		w.await(migrate.Serving)
		if w.served("guest1") {
			t.Error("served before it was looked at")
		}
		w.engine.Look()(w.db.Schema())
		if !w.served("guest1") {
			t.Error("not served")
		}
	})
}

// TestSchemaStatements: from before a client's statement about the schema of the base goes on nothing is answered from what may have changed by it, until a look that begins after its answer;
// who says it need not wait for the event. One that Cassandra refuses changes nothing.
func TestSchemaStatements(t *testing.T) {
	refusal := proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x2100}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		stale := 0
		e, err := New(Options{Session: w.db, Store: w.store, Traffic: w, Schema: w.db.Schema, Stale: func() { stale++ }, Migrate: quick(), Every: 1 << 60, Kinds: few()})
		must(t, err)
		must(t, e.Restore(context.Background()))
		w.run(e)
		defer func() { w.stop() }()
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		for text, about := range map[string]bool{
			"ALTER TABLE hotel.stays ADD stars int": true, "ALTER TABLE stays DROP guest": true, "ALTER TABLE stays RENAME n TO number": true,
			"CREATE INDEX ON hotel.stays (guest)": true, "CREATE CUSTOM INDEX IF NOT EXISTS i ON stays (guest) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}": true, "CREATE INDEX ON rooms (guest)": false,
			"DROP INDEX hotel.by_guest": true, "ALTER TYPE address ADD zip int": true, "DROP TYPE IF EXISTS hotel.address": true,
			"ALTER TABLE rooms ADD stars int": false, "DROP INDEX other.by_guest": false, "ALTER TYPE other.address ADD zip int": false, "DROP TABLE other.stays": false,
		} {
			stale = 0
			early := e.Look()
			if a := w.say("hotel", text, false, refusal); (a != nil) != about || a != nil && (a.serving || a.forwarded != 1) {
				t.Errorf("%s: %+v", text, a)
			}
			if stale != 0 || !w.served("guest1") {
				t.Errorf("%s was refused: not served", text)
			}
			for _, answer := range []proxy.Response{{Opcode: proxy.OpResult}, {Lost: true}} {
				if w.say("hotel", text, false, answer); w.served("guest1") == about {
					t.Errorf("%s: served: %t", text, !about)
				}
				if early(w.db.Schema()); w.served("guest1") == about {
					t.Errorf("%s: served: %t, upon a look from before", text, !about)
				}
				if e.Look()(w.db.Schema()); !w.served("guest1") || w.state() != migrate.Serving {
					t.Errorf("%s: not served though all is as it was", text)
				}
			}
			if (stale == 2) != about {
				t.Errorf("%s: the schema is to be read %d times", text, stale)
			}
		}
	})
}

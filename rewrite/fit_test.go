package rewrite

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

func fingerprint(t *testing.T, text string) string {
	t.Helper()
	print, _, _, err := cql.FingerprintText(text, "")
	must(t, err)
	return print.String()
}

// What a look-up rests on breaks it, which says what was and what is; it can be resumed once that was set back.
func TestSchemaBreaks(t *testing.T) {
	again := func(w *world) { w.db.Redefine(stays()) }
	for name, c := range map[string]struct {
		change, back func(w *world)
		says         []string
	}{
		"the base is gone": {func(w *world) { w.db.Drop("hotel", "stays") },
			func(w *world) { w.db.Add(stays()); w.fill(2, 1) }, []string{"hotel.stays", "not in the schema"}},
		"the base was made anew": {func(w *world) { w.redefine(func(b *schema.Table) { b.ID = "2" }) }, again, []string{"was 1 and is 2"}},
		"a key column has another name": {func(w *world) { w.redefine(func(b *schema.Table) { b.Columns[2].Name = "number" }) }, again,
			[]string{"was ((room text), day int DESC, n int) and is ((room text), day int DESC, number int)"}},
		"a clustering order is another": {func(w *world) { w.redefine(func(b *schema.Table) { b.Columns[1].Descending = false }) }, again,
			[]string{"was ((room text), day int DESC, n int) and is ((room text), day int, n int)"}},
		"the column is of another type": {func(w *world) { w.redefine(func(b *schema.Table) { b.Columns[3].Type = "blob" }) }, again,
			[]string{"column guest", "was text and is blob"}},
		"the column was dropped": {func(w *world) { w.redefine(func(b *schema.Table) { b.Columns = slices.Delete(b.Columns, 3, 4) }) }, again,
			[]string{"no column guest"}},
		"an index that folds case": {func(w *world) {
			w.redefine(func(b *schema.Table) {
				b.Indexes = []schema.Index{{Name: "i", Column: "guest", On: "values", Options: map[string]string{"case_sensitive": "false"}}}
			})
		}, again, []string{"index i", "case_sensitive"}},
		"the look-up is gone": {func(w *world) { w.db.Drop("hotel", "stays_by_guest") }, nil, []string{"hotel.stays_by_guest is gone", "roll the change back, drop it and approve it anew"}},
		"the look-up was made anew": {func(w *world) {
			made := *w.db.Schema().Table("hotel", "stays_by_guest")
			made.ID = "made anew"
			w.db.Redefine(made)
		}, nil, []string{"dropped and made again", "roll the change back, drop it and approve it anew"}},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				c.change(w)
				w.engine.Look()(w.db.Schema())
				if w.engine.Rule("", byGuest) != nil || w.engine.Rule("", setGuest) != nil {
					t.Error("statements are still looked at when Look has returned")
				}
				for _, want := range c.says {
					if m := w.migration(); !strings.Contains(m.Reason, want) {
						t.Errorf("%q does not say %q", m.Reason, want)
					}
				}
				by := w.migration().Conditions
				if len(by) != 1 || !strings.HasPrefix(w.migration().Reason, string(by[0].ID)+" "+by[0].Title+": ") {
					t.Errorf("suspended by %+v: %s", by, w.migration().Reason)
				}
				if err := w.engine.Resume(context.Background(), "m1", "ann"); err == nil || !strings.Contains(err.Error(), c.says[0]) {
					t.Errorf("resumed, though the look-up does not fit: %v", err)
				} else if strings.Contains(err.Error(), "set it back, or") == (c.back == nil) { // what is gone can not be set back
					t.Errorf("it helps to set it back: %t, but it is told %v", c.back != nil, err)
				}
				if c.back == nil {
					return
				}
				c.back(w)
				w.past("past", "guest1")
				w.engine.Look()(w.db.Schema())
				must(t, w.engine.Resume(context.Background(), "m1", "ann"))
				w.await(migrate.Serving)
				if !w.served("guest1") {
					t.Error("not served")
				}
			})
		})
	}
}

// redefine changes the base, and keeps its rows.
func (w *world) redefine(change func(*schema.Table)) {
	base := *w.db.Schema().Table("hotel", "stays")
	base.Columns = slices.Clone(base.Columns)
	change(&base)
	w.db.Redefine(base)
}

// All else turns reads back until it was verified again, and it serves again by itself; also if it is set back.
func TestSchemaGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*schema.Table)
		says   string
	}{
		"default_time_to_live": {func(b *schema.Table) { b.DefaultTTL = 100000 }, "default_time_to_live was 0 and is 100000"},
		"a column was added": {func(b *schema.Table) {
			b.Columns = append(b.Columns, schema.Column{Name: "x", Kind: schema.Regular, Position: -1, Type: "text"})
		}, "column x text was added"},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				w.redefine(c.change)
				w.engine.Look()(w.db.Schema())
				if w.served("guest1") {
					t.Error("served before it was verified again")
				}
				if m := w.migration(); !strings.Contains(m.Reason, c.says) {
					t.Errorf("%q", m.Reason)
				}
				w.await(migrate.Serving)
				if !w.served("guest1") {
					t.Error("not served")
				}
				if l := w.engine.active["m1"].change.(*lookup.Fitted); l.Base.Digest() != w.db.Schema().Table("hotel", "stays").Digest() {
					t.Errorf("the look-up is of another base: %+v", l.Base)
				}
				w.db.Redefine(stays()) // set back
				w.engine.Look()(w.db.Schema())
				w.await(migrate.Serving)
				if !w.served("guest1") {
					t.Error("not served when it was set back")
				}
				w.stop()
				w.boot(quick())
				w.await(migrate.Serving)
			})
		})
	}
}

// What a base may become while a change serves it may become before the change's table is made: nothing rests on it yet. What breaks a change ends it then, too,
// and it goes on when that is set back.
func TestAlteredBeforeItIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(6, 2)
		var down atomic.Bool
		down.Store(true)
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if down.Load() && strings.HasPrefix(q.Text, "CREATE") {
				return exectest.Timeout
			}
			return nil
		})
		w.boot(quick())
		defer w.stop()
		must(t, w.approve("m1"))
		time.Sleep(10 * time.Second)
		w.redefine(func(b *schema.Table) {
			b.Columns = append(b.Columns, schema.Column{Name: "x", Kind: schema.Regular, Position: -1, Type: "text"})
		})
		w.engine.Look()(w.db.Schema())
		w.redefine(func(b *schema.Table) { b.ID = "2" })
		w.engine.Look()(w.db.Schema())
		w.await(migrate.Suspended)
		if err := w.engine.Resume(context.Background(), "m1", "ann"); err == nil {
			t.Error("resumed over another table")
		}
		w.redefine(func(b *schema.Table) { b.ID = "1" })
		w.engine.Look()(w.db.Schema())
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		down.Store(false)
		w.await(migrate.Serving)
		if !w.served("guest1") {
			t.Error("not served")
		}
	})
}

// An entry that was written while rows were to expire does not outlive its use: when they live longer all are written anew.
func TestRowsLiveLonger(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.redefine(func(b *schema.Table) { b.DefaultTTL = 600 })
		w.engine.Look()(w.db.Schema())
		w.await(migrate.Serving)
		w.redefine(func(b *schema.Table) { b.DefaultTTL = 0 })
		// Helenus has not heard of that yet.
		w.ask(insertRow, str("late"), num(1), num(1), str("guest1"), str("x"))
		w.engine.Look()(w.db.Schema())
		w.await(migrate.Serving)
		time.Sleep(30 * time.Minute)
		if !w.served("guest1") { // and compares
			t.Error("not served")
		}
		if m := w.migration(); m.Last.Missing != 0 {
			t.Errorf("%+v", m.Last)
		}
	})
}

// A statement that reads a column that was dropped runs as it was written; the others of the advice go on. If none is left the
// change is suspended, and can be resumed when the column is back.
func TestColumnDropped(t *testing.T) {
	const other = "SELECT room, guest FROM hotel.stays WHERE guest = ? ALLOW FILTERING"
	without := func(name string) func(*schema.Table) {
		return func(b *schema.Table) {
			b.Columns = slices.DeleteFunc(b.Columns, func(c schema.Column) bool { return c.Name == name })
		}
	}
	serving(t, func(t *testing.T, w *world) { // byGuest alone
		w.redefine(without("status"))
		w.engine.Look()(w.db.Schema())
		if m := w.migration(); m.State != migrate.Suspended || m.Broken || !strings.Contains(m.Reason, "status") {
			t.Errorf("%s, %q", m.State, m.Reason)
		}
		w.db.Redefine(stays())
		w.engine.Look()(w.db.Schema())
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		w.await(migrate.Serving)
		must(t, w.engine.Rollback(context.Background(), "m1", "ann"))
		w.await(migrate.RolledBack)
		must(t, w.engine.Drop(context.Background(), "m1", "ann"))

		lu := advice(t)
		lu.Statements, lu.Texts = append(lu.Statements, fingerprint(t, other)), append(lu.Texts, other)
		_, err := w.engine.Approve(context.Background(), "m1", lu, "ann")
		must(t, err)
		w.await(migrate.Serving)
		w.redefine(without("status"))
		w.engine.Look()(w.db.Schema())
		w.await(migrate.Serving)
		if w.engine.Rule("", byGuest) != nil {
			t.Error("a statement that reads a dropped column is looked at")
		}
		if got := w.ask(other, str("guest1")); got.forwarded || got.failed || len(got.rows) == 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A statement without ALLOW FILTERING is Cassandra's to refuse once its index was dropped, so it is answered no more; those with it go on. It is answered again when
// there is an index again.
func TestIndexDropped(t *testing.T) {
	const plain = "SELECT room, guest FROM hotel.stays WHERE guest = ?"
	indexed := func(is bool) func(*schema.Table) {
		return func(b *schema.Table) {
			b.Indexes = nil
			if is {
				b.Indexes = []schema.Index{{Name: "i", Kind: "COMPOSITES", Column: "guest", On: "values"}}
			}
		}
	}
	serving(t, func(t *testing.T, w *world) { // byGuest alone
		must(t, w.engine.Rollback(context.Background(), "m1", "ann"))
		w.await(migrate.RolledBack)
		must(t, w.engine.Drop(context.Background(), "m1", "ann"))
		alter := func(is bool) {
			w.redefine(indexed(is))
			w.engine.Look()(w.db.Schema())
		}
		alter(true)
		lu := advice(t)
		lu.Statements, lu.Texts = append(lu.Statements, fingerprint(t, plain)), append(lu.Texts, plain)
		_, err := w.engine.Approve(context.Background(), "m1", lu, "ann")
		must(t, err)
		w.await(migrate.Serving)
		for _, is := range []bool{true, false, true} {
			alter(is)
			w.await(migrate.Serving)
			if served := w.engine.Rule("", plain) != nil; served != is {
				t.Errorf("an index is there: %t; answered without ALLOW FILTERING: %t", is, served)
			}
			if !w.served("guest1") {
				t.Error("what needs no index is not served")
			}
		}
		w.stop()
		w.redefine(indexed(false)) // while the process is down
		w.boot(quick())
		w.await(migrate.Serving)
		if w.engine.Rule("", plain) != nil {
			t.Error("answered after a start, though its index is gone")
		}
	})
}

// A failed change can be resumed once its cause is gone, and not before.
func TestResumeFailed(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.Contains(q.Text, "WHERE token") {
				return errRefused
			}
			return nil
		})
		must(t, w.engine.manager.Reverify(context.Background(), "m1", "C12"))
		w.await(migrate.Failed)
		w.past("past", "guest1")
		w.db.Before.Clear()
		must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		w.await(migrate.Serving)
		if !w.served("guest1") {
			t.Error("not served")
		}
	})
}

type invalid struct{}

func (invalid) Code() int       { return 0x2200 }
func (invalid) Message() string { return "invalid" }
func (invalid) Error() string   { return "invalid" }

var errRefused error = invalid{}

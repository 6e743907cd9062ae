package calendar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

var errCrashed = errors.New("the process was killed")

// world is a store, migrations and traffic that are made up, and a clock. It outlives the Keepers that work on it.
type world struct {
	t      *testing.T
	now    time.Time
	fill   time.Duration // what a migration takes until shadow
	docs   map[string][]byte
	list   []migrate.Change
	ready  []time.Time                               // when the work of the state is done
	rate   func(statement int, at time.Time) float64 // executions per hour
	from   time.Time                                 // of the traffic
	keeper *Keeper

	ops     int  // saves and orders so far
	crash   int  // at which of them the process is killed; 0: never
	after   bool // once it has had its effect
	killed  bool
	orders  []string
	trail   []store.Entry                 // of the audit
	broken  func(id string) migrate.State // what becomes of a migration that would serve
	reading error                         // why the history can not be read

	refusing error // why no migration can be begun
}

// op is one effect on the outside; the process may be killed before or after it.
func (w *world) op(effect func() error) error {
	if w.killed {
		return errCrashed
	}
	w.ops++
	if w.ops == w.crash && !w.after {
		w.killed = true
		return errCrashed
	}
	err := effect()
	if w.ops == w.crash {
		w.killed = true
		return errCrashed
	}
	return err
}

func (w *world) Replace(_ context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	return version + 1, w.op(func() error {
		raw, err := json.Marshal(v)
		w.docs[kind+"/"+id] = raw
		w.trail = append(w.trail, entries...)
		return err
	})
}

func (w *world) Remove(_ context.Context, kind, id string, _ int64, _ ...store.Entry) error {
	return w.op(func() error { delete(w.docs, kind+"/"+id); return nil })
}

func (w *world) List(_ context.Context, kind string) ([]store.Document, error) {
	var out []store.Document
	for name, raw := range w.docs {
		out = append(out, store.Document{ID: name[len(kind)+1:], Raw: raw})
	}
	slices.SortFunc(out, func(a, b store.Document) int { return len(a.ID) - len(b.ID) })
	return out, nil
}

func (w *world) find(id string) int {
	return slices.IndexFunc(w.list, func(m migrate.Change) bool { return m.ID == id })
}

func (w *world) Approve(_ context.Context, id string, lu plan.Rewrite, actor string) (m migrate.Change, err error) {
	err = w.op(func() error {
		if w.refusing != nil {
			return w.refusing
		}
		w.orders = append(w.orders, w.now.Format("Mon 15:04")+" create "+id)
		i := w.find(id)
		if i >= 0 && w.list[i].State != migrate.Dropped {
			return &migrate.ErrAlreadyApproved{Migration: id, State: w.list[i].State}
		}
		if i < 0 {
			w.list, w.ready, i = append(w.list, migrate.Change{}), append(w.ready, time.Time{}), len(w.list)
		}
		w.list[i] = migrate.Change{ID: id, Rewrite: lu, State: migrate.Backfill, Approved: w.now, Actor: actor}
		w.ready[i] = w.now.Add(w.fill)
		m = w.list[i]
		return nil
	})
	return m, err
}

func (w *world) Rollback(_ context.Context, id, actor string) error {
	return w.op(func() error {
		w.orders = append(w.orders, w.now.Format("Mon 15:04")+" back "+id)
		i := w.find(id)
		if i < 0 {
			w.t.Errorf("roll-back of %s, which there is not", id)
			return migrate.ErrUnknown
		}
		switch m := &w.list[i]; m.State {
		case migrate.RolledBack, migrate.Dropped:
			return &migrate.ErrState{Migration: id, Order: "roll back", State: m.State}
		case migrate.RollingBack:
			return nil
		default:
			m.State, w.ready[i] = migrate.RollingBack, w.now.Add(time.Minute)
			m.Events = append(m.Events, migrate.Event{Time: w.now, State: m.State, Actor: actor, Text: "roll-back ordered"})
			return nil
		}
	})
}

func (w *world) Drop(_ context.Context, id, _ string) error {
	return w.op(func() error {
		w.orders = append(w.orders, w.now.Format("Mon 15:04")+" drop "+id)
		i := w.find(id)
		if i < 0 || w.list[i].State != migrate.RolledBack {
			w.t.Errorf("%s is dropped before it was rolled back", id)
			return &migrate.ErrState{Migration: id, Order: "drop"}
		}
		w.list[i].State = migrate.Dropped
		return nil
	})
}

func (w *world) Migrations() []migrate.Change { return slices.Clone(w.list) }

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for i := range w.list {
		m := &w.list[i]
		if w.now.Before(w.ready[i]) {
			continue
		}
		switch m.State {
		case migrate.Backfill:
			m.State, w.ready[i] = migrate.Shadow, w.now.Add(5*time.Minute)
		case migrate.Shadow:
			if m.State = migrate.Serving; w.broken != nil {
				m.State = w.broken(m.ID)
				m.Reason = "a guard"
			}
		case migrate.RollingBack:
			m.State = migrate.RolledBack
		}
	}
}

// Hours implements cycle.Source.
func (w *world) Hours(_ context.Context, from, to time.Time, yield func(*history.HourOf) error) error {
	for at := w.from; !at.Add(time.Hour).After(w.now); at = at.Add(time.Hour) {
		h := &history.HourOf{At: at, Origin: "o", From: at, To: at.Add(time.Hour), Watched: time.Hour}
		for i := range 2 {
			if n := w.rate(i, at); n > 0 {
				h.Said = append(h.Said, history.Executions{Fingerprint: fmt.Sprint("f", i), Keyspace: "k", Kind: "select", Text: "SELECT a FROM t WHERE id = ?", Count: uint64(n), Micros: uint64(1000 * n)})
			}
		}
		if at.Before(from) || !to.IsZero() && !at.Before(to) {
			continue
		}
		if err := yield(h); err != nil {
			return err
		}
	}
	return nil
}

// office has one statement from 8 to 18 o'clock, and another by night.
func office(statement int, at time.Time) float64 {
	if (at.Hour() >= 8 && at.Hour() < 18) == (statement == 0) {
		return 1000 + float64(at.YearDay()%3)
	}
	return 20
}

// newWorld has two weeks of traffic behind it; it is midnight.
func newWorld(t *testing.T) *world {
	w := &world{t: t, from: monday, now: monday.AddDate(0, 0, 14), fill: 30 * time.Minute, docs: map[string][]byte{}, rate: office}
	w.boot()
	return w
}

// boot starts a Keeper on what there is, as a process does.
func (w *world) boot() {
	w.t.Helper()
	w.killed = false
	k, err := New(Options{Migrations: w, Changes: change.Open(w), Clock: func() time.Time { return w.now }, Every: 5 * time.Minute,
		Recent: func(ctx context.Context, from time.Time) (*cycle.Record, error) {
			if w.reading != nil {
				return nil, w.reading
			}
			return cycle.Read(ctx, w, from, time.Time{})
		}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := k.Restore(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.keeper = k
}

// cycle finds the cycle of the traffic so far: from 8 to 18, and the rest.
func (w *world) cycle() cycle.Cycle {
	w.t.Helper()
	record, err := cycle.Read(w.t.Context(), w, time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := cycle.Find(record, cycle.Options{})
	if err != nil || r.Cycle == nil || len(r.Cycle.Steps) != 2 || r.Cycle.When(0) != "08:00" || r.Cycle.When(1) != "18:00" {
		w.t.Fatalf("%v %+v", err, r)
	}
	return *r.Cycle
}

func lookUp(column string) plan.Rewrite {
	return plan.Rewrite{Keyspace: "k", Base: "t", Column: column, Table: "helenus_t_by_" + column}
}

// byDay and by night: two look-ups that take turns.
func twoSeasons() plan.Calendar {
	return plan.Calendar{Seasons: []plan.Season{
		{Rewrite: lookUp("a"), Steps: []bool{true, false}, Fill: time.Hour, Bytes: 1000},
		{Rewrite: lookUp("b"), Steps: []bool{false, true}, Fill: time.Hour, Bytes: 500},
	}}
}

func (w *world) approve(l Limits) {
	w.t.Helper()
	if _, err := w.keeper.Approve(w.t.Context(), "r-1", twoSeasons(), w.cycle(), l, "ann", nil); err != nil {
		w.t.Fatal(err)
	}
}

// live lets so much time pass, with a tick every five minutes; the process is started again when it was killed.
func (w *world) live(d time.Duration, look func()) {
	for range int(d / (5 * time.Minute)) {
		w.keeper.Tick(w.t.Context())
		if w.killed {
			w.boot()
		}
		if look != nil {
			look()
		}
		w.pass(5 * time.Minute)
	}
}

// serves tells which seasons serve.
func (w *world) serves() string {
	out := ""
	for _, m := range w.list {
		if m.State == migrate.Serving {
			out += m.ID[len(m.ID)-1:]
		}
	}
	return out
}

// there lists the tables that are in the keyspace.
func (w *world) there() (out []string) {
	for _, m := range w.list {
		if m.State != migrate.Dropped {
			out = append(out, m.Rewrite.Table)
		}
	}
	return out
}

func (w *world) calendar() Calendar {
	w.t.Helper()
	c, err := w.keeper.Calendar("r-1")
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// state is what the change of the calendar is, as stored.
func (w *world) state() change.State {
	w.t.Helper()
	all, err := change.Open(w).All(w.t.Context())
	if err != nil || len(all) != 1 {
		w.t.Fatalf("%v, %v", all, err)
	}
	return all[0].State
}

// told checks the audit trail of the calendar.
func (w *world) told(want ...string) {
	w.t.Helper()
	var got []string
	for _, e := range w.trail {
		got = append(got, e.Actor+" "+e.Action+" "+e.Before+">"+e.After)
		if e.Target != "r-1" || e.Reason == "" || e.At.IsZero() {
			w.t.Errorf("%+v", e)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the trail is %q, not %q", got, want)
	}
}

var moveNames = [numMoves]string{"rest", "begin", "left", "filled", "arrived", "turn", "undo", "again", "drop", "fail", "lost", "stray"}

func (m move) String() string { return moveNames[m] }

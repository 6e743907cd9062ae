package calendar

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// W-5, W-53: over days each look-up serves through its step and is gone in the other, it comes ahead of its step by what coming
// took last, and it is dropped after its statements were switched back.
func TestDays(t *testing.T) {
	w := newWorld(t)
	w.approve(Limits{})
	late := map[string]int{}
	w.live(4*24*time.Hour, func() {
		want := "1"
		if h := w.now.Hour(); h < 8 || h >= 18 {
			want = "2"
		}
		if w.now.Sub(monday.AddDate(0, 0, 14)) > 12*time.Hour && !strings.Contains(w.serves(), want) {
			late[w.now.Format("Mon 15")]++
		}
		if len(w.there()) > 1 && w.now.Minute() == 30 && (w.now.Hour() < 6 || w.now.Hour() > 8) && w.now.Hour() != 17 && w.now.Hour() != 18 {
			t.Errorf("%s: %v are there", w.now.Format("Mon 15:04"), w.there())
		}
	})
	if len(late) > 0 {
		t.Errorf("not served in time: %v", late)
	}
	want := []string{
		"Mon 00:00 create r-1.2", // the night's, at once
		"Mon 06:40 create r-1.1", // an hour, a quarter and a tick before 8, as expected
		"Mon 08:00 back r-1.2", "Mon 08:05 drop r-1.2",
		"Mon 17:20 create r-1.2", // by what it took: 30 minutes, a quarter, a tick
		"Mon 18:00 back r-1.1", "Mon 18:05 drop r-1.1",
		"Tue 07:20 create r-1.1",
		"Tue 08:00 back r-1.2", "Tue 08:05 drop r-1.2",
	}
	if got := w.orders[:min(len(want), len(w.orders))]; !slices.Equal(got, want) {
		t.Errorf("orders\n%s", strings.Join(got, "\n"))
	}
	c := w.calendar()
	if c.State != Following || c.Holding == nil || !c.Holding.Holds || c.Holding.Known < 3 || c.Seasons[0].Served != 4 || c.Seasons[0].Took != 30*time.Minute {
		t.Errorf("%+v", c)
	}
}

// Killed before or after any save and any order, the calendar goes on as if nothing had been.
func TestKilledAnywhere(t *testing.T) {
	day := func(crash int, after bool) (*world, string) {
		w := newWorld(t)
		w.approve(Limits{Drop: true})
		w.ops, w.crash, w.after = 0, crash, after
		var served strings.Builder
		w.live(36*time.Hour, func() {
			if w.now.Minute() == 30 {
				served.WriteString(w.serves() + " ")
			}
		})
		if w.calendar().State != Following {
			t.Fatalf("killed at %d: %s (%s)", crash, w.calendar().State, w.calendar().Reason)
		}
		if _, err := w.keeper.Withdraw(t.Context(), "r-1", true, "", "ann"); err != nil && crash > w.ops {
			t.Fatal(err)
		}
		for range 3 { // the order may be what is killed
			if w.killed {
				w.boot()
			}
			if w.calendar().State == Following {
				_, _ = w.keeper.Withdraw(t.Context(), "r-1", true, "", "ann")
			}
			w.live(2*time.Hour, nil)
		}
		if c := w.calendar(); c.State != Withdrawn || len(w.there()) > 0 || w.state() != change.Dropped {
			t.Errorf("killed at %d (after: %v): %s, %v are there, its change is %s", crash, after, c.State, w.there(), w.state())
		}
		return w, served.String()
	}
	calm, want := day(0, false)
	if calm.ops < 30 {
		t.Fatalf("only %d operations", calm.ops)
	}
	for at := 1; at <= calm.ops+1; at++ {
		for _, after := range []bool{false, true} {
			if _, got := day(at, after); got != want {
				t.Errorf("killed at %d (after: %v):\n%s\nnot\n%s", at, after, got, want)
			}
		}
	}
}

// Every position of the machine: there is a rule for it, it orders only what it may, and from it everything is cleared when the
// calendar is withdrawn, and comes right when it is followed.
func TestEveryPosition(t *testing.T) {
	stateOf := map[sight]migrate.State{working: migrate.Backfill, comparing: migrate.Shadow, serving: migrate.Serving, stopped: migrate.Suspended,
		turning: migrate.RollingBack, back: migrate.RolledBack, gone: migrate.Dropped}
	if len(rules) != 3*4*2 {
		t.Errorf("%d rows", len(rules))
	}
	for _, state := range []State{Following, Paused, Withdrawing} {
		for _, stage := range []Stage{Out, Coming, There, Going} {
			for _, wanted := range []bool{false, true} {
				for seen := none; seen < sights; seen++ {
					t.Run(fmt.Sprintf("%s %s %v %d", state, stage, wanted, seen), func(t *testing.T) {
						position := func(t *testing.T) *world {
							w := newWorld(t)
							w.now = w.now.Add(12 * time.Hour) // the first season is wanted
							w.approve(Limits{Drop: state == Withdrawing && !wanted})
							c := w.calendar()
							x := c.clone()
							x.State, x.Plan.Seasons = state, x.Plan.Seasons[:1]
							x.Seasons = x.Seasons[:1]
							if state != Withdrawing && !wanted {
								x.Plan.Seasons[0].Steps = []bool{false, true}
							}
							s := &x.Seasons[0]
							s.Stage, s.Since = stage, w.now.Add(-time.Hour)
							if seen != none {
								w.list = []migrate.Change{{ID: s.ID, Rewrite: lookUp("a"), State: stateOf[seen], Approved: w.now.Add(-time.Hour)}}
								w.ready = []time.Time{w.now.Add(time.Minute)}
							}
							if err := w.keeper.save(t.Context(), x); err != nil {
								t.Fatal(err)
							}
							w.ops, w.orders = 0, nil
							return w
						}
						w := position(t)
						w.keeper.Tick(t.Context())
						c, orders := w.calendar(), strings.Join(w.orders, "; ")
						switch {
						case strings.Contains(orders, "create") && (state != Following || !wanted):
							t.Errorf("%s", orders)
						case strings.Contains(orders, "drop") && (stage != Going || seen != back || state == Paused):
							t.Errorf("%s", orders)
						case strings.Contains(orders, "back") && c.Seasons[0].Stage != Going:
							t.Errorf("%s, and the season is %s", orders, c.Seasons[0].Stage)
						case seen == serving && wanted && stage == There && orders != "":
							t.Errorf("%s", orders)
						case seen == stopped && (stage == Coming || stage == There) && (c.State == Following || !strings.Contains(orders, "back")):
							t.Errorf("a guard has failed: %s, %s", c.State, orders)
						}
						if state == Withdrawing {
							w.live(2*time.Hour, nil)
							// What is there and verified again, as after a start, stays as what serves does.
							left := stage == There && wanted && (seen == working || seen == comparing || seen == serving) || stage == Coming && wanted && seen == serving || stage == Out && seen != none && seen != gone
							if c := w.calendar(); c.State != Withdrawn || (len(w.there()) > 0) != left {
								t.Errorf("%s, %v are there", c.State, w.there())
							}
							return
						}
						if stage == Out && seen != none && seen != gone {
							if w.calendar().State != Paused {
								t.Error("somebody else's change is not noticed")
							}
							return
						}
						for range 2 { // a person looks, and resumes it
							if w.calendar().State == Paused {
								if _, err := w.keeper.Resume(t.Context(), "r-1", "ann"); err != nil {
									t.Fatal(err)
								}
							}
							w.live(2*time.Hour, nil)
						}
						if c := w.calendar(); c.State != Following || (w.serves() == "1") != wanted {
							t.Errorf("%s (%s), wanted %v, serves %q\n%s", c.State, c.Reason, wanted, w.serves(), strings.Join(w.orders, "\n"))
						}
					})
				}
			}
		}
	}
}

// A cycle that stops holding withdraws the calendar: nothing more begins; what serves is left and named, or dropped.
func TestCycleStops(t *testing.T) {
	for _, remove := range []bool{false, true} {
		w := newWorld(t)
		turns := monday.AddDate(0, 0, 17)
		w.rate = func(statement int, at time.Time) float64 {
			if !at.Before(turns) { // from then on the statements have changed places
				return office(1-statement, at)
			}
			return office(statement, at)
		}
		w.approve(Limits{Drop: remove})
		w.live(9*24*time.Hour, nil)
		c := w.calendar()
		if c.State != Withdrawn || !strings.Contains(c.Reason, "does not hold any more since 2026-03-19") || w.state() != change.Dropped {
			t.Fatalf("%s: %s, its change is %s", c.State, c.Reason, w.state())
		}
		last := c.Events[len(c.Events)-1].Text
		switch {
		case remove && (len(w.there()) != 0 || !strings.Contains(last, "none of its tables is left")):
			t.Errorf("%v are there: %s", w.there(), last)
		case !remove && (len(w.there()) != 1 || w.serves() == "" || !strings.Contains(last, "`helenus rollback r-1.")):
			t.Errorf("%v are there, %s: %s", w.there(), w.serves(), last)
		}
		orders := len(w.orders)
		w.live(48*time.Hour, nil)
		if len(w.orders) != orders {
			t.Errorf("after it was withdrawn: %v", w.orders[orders:])
		}
	}
	t.Run("a history that can not be read ends nothing", func(t *testing.T) {
		w := newWorld(t)
		w.reading = errors.New("no disk")
		w.approve(Limits{})
		w.live(30*time.Hour, nil)
		if c := w.calendar(); c.State != Following || c.Holding != nil || w.serves() == "" {
			t.Errorf("%+v", c)
		}
	})
}

func TestGuardPauses(t *testing.T) {
	w := newWorld(t)
	w.approve(Limits{})
	w.broken = func(id string) migrate.State {
		if id == "r-1.1" {
			return migrate.Suspended
		}
		return migrate.Serving
	}
	w.live(20*time.Hour, nil)
	c := w.calendar()
	if c.State != Paused || !strings.Contains(c.Reason, "r-1.1 is suspended: a guard") || c.Seasons[0].Stage != Going || w.list[w.find("r-1.1")].State != migrate.RolledBack {
		t.Fatalf("%s: %s, %+v", c.State, c.Reason, c.Seasons)
	}
	if w.serves() != "2" {
		t.Errorf("what serves is to go on: %q", w.serves())
	}
	w.broken = nil
	if _, err := w.keeper.Resume(t.Context(), "r-1", "ann"); err != nil {
		t.Fatal(err)
	}
	w.live(24*time.Hour, nil)
	if c := w.calendar(); c.State != Following || c.Seasons[0].Served != 1 {
		t.Errorf("%s, %+v", c.State, c.Seasons)
	}
	w.live(15*time.Hour, nil) // Wednesday, 11:00: the first serves
	if err := w.Rollback(t.Context(), "r-1.1", "bob"); err != nil {
		t.Fatal(err)
	}
	w.live(time.Hour, nil)
	if c := w.calendar(); c.State != Paused || !strings.Contains(c.Reason, "roll-back ordered, by bob") {
		t.Errorf("%s: %s", c.State, c.Reason)
	}
	w.told("ann begin >following", "guard pause following>paused", "ann resume paused>following", "guard pause following>paused")
}

func TestLimits(t *testing.T) {
	at := func(w *world, what string) (out []string) {
		for _, o := range w.orders {
			if strings.Contains(o, what) {
				out = append(out, o)
			}
		}
		return out
	}
	t.Run("until", func(t *testing.T) {
		w := newWorld(t)
		w.approve(Limits{Until: w.now.Add(30 * time.Hour), Drop: true})
		w.live(48*time.Hour, nil)
		if c := w.calendar(); c.State != Withdrawn || !strings.Contains(c.Reason, "approved until 2026-03-17T06:00:00Z") || len(w.there()) != 0 {
			t.Errorf("%s: %s; %v", c.State, c.Reason, w.there())
		}
	})
	t.Run("changes per day", func(t *testing.T) {
		w := newWorld(t)
		w.approve(Limits{ChangesPerDay: 1})
		w.live(12*time.Hour, nil)
		if len(w.orders) != 1 || !strings.Contains(w.calendar().Seasons[0].Waiting, "1 changes have begun in the last 24 hours") {
			t.Errorf("%v; %+v", w.orders, w.calendar().Seasons)
		}
		w.live(14*time.Hour, nil)
		if c := w.calendar(); len(c.Begun) > 1 || c.Seasons[0].Waiting != "" {
			t.Errorf("%v; %+v", c.Begun, c.Seasons)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		w := newWorld(t)
		w.approve(Limits{MaxBytes: 1200}) // never both
		w.live(3*24*time.Hour, func() {
			if len(w.there()) > 1 {
				t.Fatalf("%v", w.there())
			}
		})
		if len(at(w, "create r-1.1")) < 2 || len(at(w, "create r-1.2")) < 2 {
			t.Errorf("%v", w.orders)
		}
	})
	t.Run("windows", func(t *testing.T) {
		w := newWorld(t)
		window, err := ParseWindow("02:00-04:00")
		if err != nil {
			t.Fatal(err)
		}
		w.approve(Limits{Windows: []Window{window}})
		w.live(3*24*time.Hour, nil)
		if len(w.orders) == 0 {
			t.Error("nothing was changed")
		}
		for _, o := range w.orders {
			if h := o[4:6]; strings.Contains(o, "create") && h != "02" && h != "03" || strings.Contains(o, "back") && h != "02" && h != "03" {
				t.Errorf("%s", o)
			}
		}
		if first := at(w, "create r-1.1"); len(first) == 0 || first[0] != "Mon 03:55 create r-1.1" { // the last moment in the window before 8
			t.Errorf("%v", w.orders)
		}
	})
	t.Run("each", func(t *testing.T) {
		w := newWorld(t)
		w.approve(Limits{Each: true})
		w.live(12*time.Hour, nil)
		if len(w.orders) != 0 || !strings.Contains(w.calendar().Seasons[0].Waiting, "waits for `helenus approve r-1.1`") {
			t.Fatalf("%v; %+v", w.orders, w.calendar().Seasons)
		}
		if _, create, err := w.keeper.Grant(t.Context(), "r-1.1", "ann"); err != nil || !create {
			t.Fatal(create, err)
		}
		var state *StateError
		if _, _, err := w.keeper.Grant(t.Context(), "r-1.1", "bob"); !errors.As(err, &state) || !strings.Contains(err.Error(), "to create helenus_t_by_a, is approved already") {
			t.Errorf("approved twice: %v", err)
		}
		w.live(24*time.Hour, nil)
		if got := strings.Join(w.orders, "; "); got != "Mon 12:00 create r-1.1" || w.serves() != "1" {
			t.Errorf("%s", got)
		}
		if _, create, err := w.keeper.Grant(t.Context(), "r-1.1", "ann"); err != nil || create {
			t.Fatal(create, err)
		}
		if _, _, err := w.keeper.Grant(t.Context(), "r-1.1", "bob"); !errors.As(err, &state) || !strings.Contains(err.Error(), "to drop helenus_t_by_a, is approved already") {
			t.Errorf("approved twice: %v", err)
		}
		w.live(12*time.Hour, nil)
		if got := strings.Join(w.orders[1:], "; "); got != "Tue 18:00 back r-1.1; Tue 18:05 drop r-1.1" {
			t.Errorf("%s", got)
		}
		if _, _, err := w.keeper.Grant(t.Context(), "r-1.7", "ann"); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	})
}

func TestOrders(t *testing.T) {
	w := newWorld(t)
	ctx, c := t.Context(), w.cycle()
	for name, try := range map[string]func() error{
		"over already": func() error {
			_, err := w.keeper.Approve(ctx, "r-1", twoSeasons(), c, Limits{Until: w.now}, "ann", nil)
			return err
		},
		"no number of changes": func() error {
			_, err := w.keeper.Approve(ctx, "r-1", twoSeasons(), c, Limits{ChangesPerDay: -1}, "ann", nil)
			return err
		},
		"no tables": func() error {
			_, err := w.keeper.Approve(ctx, "r-1", plan.Calendar{}, c, Limits{}, "ann", nil)
			return err
		},
		"other steps": func() error {
			p := twoSeasons()
			p.Seasons[1].Steps = []bool{true}
			_, err := w.keeper.Approve(ctx, "r-1", p, c, Limits{}, "ann", nil)
			return err
		},
		"a trend": func() error {
			x := c
			x.Period = cycle.Trend
			_, err := w.keeper.Approve(ctx, "r-1", twoSeasons(), x, Limits{}, "ann", nil)
			return err
		},
		"unknown": func() error { _, err := w.keeper.Resume(ctx, "r-9", "ann"); return err },
	} {
		if try() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w.approve(Limits{})
	var busy *Busy
	if _, err := w.keeper.Approve(ctx, "r-2", twoSeasons(), c, Limits{}, "ann", nil); !errors.As(err, &busy) || busy.By != "r-1" {
		t.Error(err)
	}
	lu := lookUp("a")
	if w.keeper.Holds(&lu) != "r-1" {
		t.Error("it does not know its own look-up")
	}
	var state *StateError
	if _, err := w.keeper.Resume(ctx, "r-1", "ann"); !errors.As(err, &state) {
		t.Error(err)
	}
	if _, _, err := w.keeper.Grant(ctx, "r-1.1", "ann"); !errors.As(err, &state) {
		t.Error(err)
	}
	if x, err := w.keeper.Pause(ctx, "r-1", "a sale", "bob"); err != nil || x.Reason != "paused by bob: a sale" {
		t.Error(x.Reason, err)
	}
	w.live(24*time.Hour, nil)
	if len(w.orders) > 0 {
		t.Errorf("while it is paused: %v", w.orders)
	}
	if _, err := w.keeper.Withdraw(ctx, "r-1", false, "", "bob"); err != nil {
		t.Error(err)
	}
	w.live(time.Hour, nil)
	if _, err := w.keeper.Withdraw(ctx, "r-1", false, "", "bob"); !errors.As(err, &state) || w.keeper.Holds(&lu) != "" {
		t.Error(err)
	}
	w.told("ann begin >following", "bob pause following>paused", "bob withdraw paused>withdrawing", "helenus end withdrawing>withdrawn")
	taken := newWorld(t)
	taken.list, taken.ready = []migrate.Change{{ID: "r-5", Rewrite: lookUp("b"), State: migrate.RolledBack}}, []time.Time{{}}
	if _, err := taken.keeper.Approve(ctx, "r-1", twoSeasons(), c, Limits{}, "ann", nil); !errors.As(err, &busy) || busy.By != "r-5" {
		t.Error(err)
	}
}

// What an order fails for is told with the season, not in the log alone, and forgotten when the order goes through.
func TestTellsWhatFails(t *testing.T) {
	w := newWorld(t)
	w.approve(Limits{})
	w.refusing = errors.New("requests bypass the rewriting")
	w.live(9*time.Hour, nil)
	if s := w.calendar().Seasons[0]; s.Stage != Coming || s.Waiting != "it is tried again: requests bypass the rewriting" {
		t.Errorf("%+v", s)
	}
	w.refusing = nil
	w.live(2*time.Hour, nil)
	if s := w.calendar().Seasons[0]; s.Stage != There || s.Waiting != "" {
		t.Errorf("%+v", s)
	}
}

// What takes longer to make than its steps last is not begun, and it is said why.
func TestTooLate(t *testing.T) {
	w := newWorld(t)
	w.now = w.now.Add(17*time.Hour + 30*time.Minute) // the first season's steps end at 18:00, and it is expected to take an hour
	w.approve(Limits{})
	w.live(20*time.Minute, nil)
	if c := w.calendar(); c.Seasons[0].Stage != Out || !strings.Contains(c.Seasons[0].Waiting, "making it takes about 1h20m0s, and its steps are over at 18:00") {
		t.Errorf("%+v", c.Seasons[0])
	}
	w.live(2*time.Hour, nil)
	if c := w.calendar(); c.Seasons[0].Waiting != "" || strings.Contains(strings.Join(w.orders, " "), "r-1.1") {
		t.Errorf("%+v, %v", c.Seasons[0], w.orders)
	}
}

// What is over is forgotten, the oldest first; not what another process has approved again meanwhile.
func TestForgetsOnlyWhatIsOver(t *testing.T) {
	w := newWorld(t)
	w.approve(Limits{})
	over := w.calendar()
	for i := range maxWithdrawn + 2 {
		x := over.clone()
		x.ID, x.State, x.Approved = fmt.Sprintf("o-%d", i), Withdrawn, w.now.Add(time.Duration(i)*time.Hour)
		if err := w.keeper.save(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	other, err := New(w.keeper.o)
	if err == nil {
		err = other.Restore(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := other.Calendar("o-0")
	if err != nil {
		t.Fatal(err)
	}
	again.State, again.Approved = Following, w.now.Add(1000*time.Hour)
	if err := other.save(t.Context(), &again); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := w.keeper.forget(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := w.keeper.Calendar("o-0"); err != nil || c.State != Following {
		t.Errorf("what was approved again is %s, %v", c.State, err)
	}
	known, _ := w.keeper.o.Changes.Record("o-0")
	if _, err := w.keeper.Calendar("o-1"); !errors.Is(err, ErrUnknown) || known.Calendar == nil || len(w.keeper.raw) != maxWithdrawn+2 {
		t.Errorf("the oldest: %v; %d are remembered, of what was approved again %s", err, len(w.keeper.raw), known.Calendar)
	}
}

// What was saved by another version is refused, and what is broken too.
func TestRestore(t *testing.T) {
	w := newWorld(t)
	for name, raw := range map[string]string{"broken": "{", "newer": `{"id": "r-1", "form": 1, "state": "serving", "calendar": {"version": 2, "id": "r-1"}}`} {
		w.keeper.o.Changes = change.Open(w)
		w.docs = map[string][]byte{change.Kind + "/r-1": []byte(raw)}
		if err := w.keeper.Restore(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Of calendars that are over the latest ten are kept.
func TestForgets(t *testing.T) {
	w := newWorld(t)
	c := w.cycle()
	for n := range 13 {
		id := fmt.Sprintf("r-%d", n)
		if _, err := w.keeper.Approve(t.Context(), id, twoSeasons(), c, Limits{}, "ann", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := w.keeper.Withdraw(t.Context(), id, true, "", "ann"); err != nil {
			t.Fatal(err)
		}
		w.live(time.Hour, nil)
	}
	if got := w.keeper.Calendars(); len(got) != 10 || len(w.docs) != 10 || slices.ContainsFunc(got, func(c Calendar) bool { return c.ID == "r-1" }) {
		t.Errorf("%d kept", len(got))
	}
}

func TestWindows(t *testing.T) {
	for text, want := range map[string]string{"22:00-06:00": "22:00-06:00", "0:00-24:00": "00:00-24:00", " 7:05 - 8:10 ": "07:05-08:10",
		"": "", "7-8": "", "25:00-26:00": "", "10:00-10:00": "", "10:60-11:00": "", "2251799813685248:00-06:00": "", "a:b-c:d": "", "24:00-01:00": ""} {
		got, err := ParseWindow(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err == nil {
			raw, _ := json.Marshal(got)
			var again Window
			if err := json.Unmarshal(raw, &again); err != nil || again != got {
				t.Errorf("%s: %v, %v", raw, again, err)
			}
		}
	}
	night := Window{From: 22 * time.Hour, To: 6 * time.Hour}
	for at, want := range map[time.Duration]bool{0: true, 5 * time.Hour: true, 6 * time.Hour: false, 21 * time.Hour: false, 22 * time.Hour: true} {
		if night.open(at) != want {
			t.Errorf("%v: %v", at, !want)
		}
	}
}

// The metrics are those of the one calendar that is not over.
func TestMetrics(t *testing.T) {
	w := newWorld(t)
	w.approve(Limits{ChangesPerDay: 1})
	w.live(25*time.Hour, nil)
	got := map[string]float64{}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.keeper)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	want := map[string]float64{
		"helenus_calendar_state r-1 following": 1, "helenus_calendar_state r-1 paused": 0, "helenus_calendar_state r-1 withdrawing": 0, "helenus_calendar_step r-1": 1, "helenus_calendar_next_step_timestamp_seconds r-1": float64(monday.AddDate(0, 0, 15).Add(8 * time.Hour).Unix()),
		"helenus_calendar_tables r-1 out": 1, "helenus_calendar_tables r-1 coming": 0, "helenus_calendar_tables r-1 there": 1, "helenus_calendar_tables r-1 going": 0,
		"helenus_calendar_waiting_changes r-1": 0, "helenus_calendar_off_ratio r-1": got["helenus_calendar_off_ratio r-1"],
		"helenus_calendar_changes_total create": 1, "helenus_calendar_changes_total drop": 0, "helenus_calendar_failing": 0,
	}
	if d := cmp.Diff(want, got); d != "" || got["helenus_calendar_off_ratio r-1"] > 1 {
		t.Error(d)
	}
}

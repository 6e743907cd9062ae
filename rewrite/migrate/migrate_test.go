package migrate

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
)

// The machine as a whole: what follows what, what the proxy does, and from where one may go back.
func TestMachine(t *testing.T) {
	var path []State
	for s := Approved; s != ""; s = phases[s].next {
		path = append(path, s)
		if !phases[s].back || phases[s].ends || phases[s].work == nil {
			t.Errorf("%s: %+v", s, phases[s])
		}
		if len(path) > len(phases) {
			t.Fatal("the machine goes round in circles")
		}
	}
	if diff := cmp.Diff([]State{Approved, Created, DualWrite, Backfill, Verify, Shadow, Serving}, path); diff != "" {
		t.Error(diff)
	}
	if phases[RollingBack].next != RolledBack || phases[RollingBack].back {
		t.Error("a roll-back does not end, or can be rolled back")
	}
	for s, p := range phases {
		if (p.mode.Serve || p.mode.Shadow) && !p.mode.Write {
			t.Errorf("%s answers reads without writing entries", s)
		}
		if p.mode.Serve != (s == Serving) {
			t.Errorf("%s serves: %t", s, p.mode.Serve)
		}
		if p.ends && (p.mode != Mode{} || p.work != nil || p.back) {
			t.Errorf("%s: %+v", s, p)
		}
	}
	broken := Change{State: Suspended, Broken: true, T0: 1}
	if broken.Mode() != (Mode{}) || !broken.Active() {
		t.Error("a broken look-up is still written to")
	}
}

func TestModeLess(t *testing.T) {
	none, write, serve := Mode{}, Mode{Write: true}, Mode{Write: true, Shadow: true, Serve: true}
	for _, c := range []struct {
		a, b Mode
		less bool
	}{{none, write, true}, {write, none, false}, {write, serve, true}, {serve, write, false}, {write, write, false}} {
		if c.a.less(c.b) != c.less {
			t.Errorf("%+v asks less than %+v: %t", c.a, c.b, !c.less)
		}
	}
}

// Who suspends what another is just suspending does not go on before that is published and saved.
func TestSuspendedTwiceAtOnce(t *testing.T) {
	begun, publishing := make(chan bool, 2), make(chan bool)
	m := New(Parts{
		Store: &exectest.Store{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Publish: func([]Published) { begun <- true; <-publishing },
	}, Settings{})
	r := m.run(&plan.Rewrite{})
	r.id, r.m = "m", Change{ID: "m", State: Serving}
	m.runs["m"] = r
	done := make(chan error, 2)
	suspend := func() { done <- m.Suspend(t.Context(), "m", "a write that can not be known", false) }
	go suspend()
	<-begun
	go suspend()
	select {
	case <-done:
		t.Error("suspended before it was published")
	case <-time.After(50 * time.Millisecond): // enough to find a fault often, and no fault where there is none
	}
	close(publishing)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if list, err := m.Changes.All(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// A change is kept as JSON, and comes back the same; its history stays bounded.
func TestMigrationJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := Change{ID: "m", Rewrite: plan.Rewrite{Keyspace: "k", Statements: []string{"f"}}, State: Serving, T0: 7, Approved: at}
	for range MaxEvents + 5 {
		m.note(at, "ann", "x")
	}
	if len(m.Events) != MaxEvents {
		t.Errorf("%d events", len(m.Events))
	}
	raw, err := json.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	var back Change
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, back); diff != "" {
		t.Error(diff)
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace{usual: 100}
		start := time.Now()
		for range 501 {
			if err := p.wait(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d < 5*time.Second-10*time.Millisecond || d > 5*time.Second+10*time.Millisecond {
			t.Errorf("500 entries at 100 a second took %s", d)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if p.wait(ctx) == nil {
			t.Error("waited after the end")
		}
	})
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for want, err := range map[string]error{
		"roll it back first":  &ErrAlreadyApproved{"m", Serving},
		"ownership ambiguous": &ErrOwnership{"k.t", ""},
		"can not drop":        &ErrState{"m", "drop", Serving, "roll it back first"},
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

// TestComparedSoFar: what Helenus has to ask by itself is done before a change serves, so nothing is whole before it, however many reads of the application were compared.
func TestComparedSoFar(t *testing.T) {
	for _, c := range []struct {
		compared int64
		toAsk    int
		total    int64
	}{{0, 99, 99}, {50, 60, 110}, {50, 0, 50}, {10, 0, 50}, {70, 0, 70}} {
		m := New(Parts{Now: time.Now}, Settings{ShadowReads: 50})
		r := &run{m: Change{State: Shadow, Compared: c.compared}}
		m.comparedSoFar(r, c.toAsk)
		if p := r.m.Progress; p.Done != c.compared || p.Total != c.total || (p.Ratio == 1) != (c.toAsk == 0 && c.compared >= 50) {
			t.Errorf("%d compared, %d to ask: %+v", c.compared, c.toAsk, p)
		}
	}
}

// TestAtMost: comparing that goes by what the application reads has an end by the clock, also when too little comes to foretell one.
func TestAtMost(t *testing.T) {
	begun := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	m := New(Parts{Now: func() time.Time { return begun.Add(time.Hour) }}, Settings{})
	for _, c := range []struct {
		done int64
		want time.Duration
	}{
		{0, 23 * time.Hour}, {10, 23 * time.Hour}, {100, 23 * time.Hour}, {5000, time.Hour},
	} {
		r := &run{m: Change{State: Shadow, Progress: Progress{Started: begun}}}
		m.progress(r, "reads compared", c.done, 10000)
		m.atMost(r, 23*time.Hour)
		if got := r.m.Progress.ETA; got != c.want {
			t.Errorf("%d of 10000 compared: %v to go, want %v", c.done, got, c.want)
		}
	}
	r := &run{m: Change{State: Shadow, Progress: Progress{Started: begun}}}
	m.atMost(r, -time.Minute)
	if got := r.m.Progress.ETA; got != 0 {
		t.Errorf("when the time is over: %v to go", got)
	}
}

// TestTurnedBackBesideWhatIsStored: while one change is being stored another is turned back at once. (In the machine's own time: it would wait for a lock.)
func TestTurnedBackBesideWhatIsStored(t *testing.T) {
	hangs, goOn, published := make(chan struct{}), make(chan struct{}), make(chan struct{}, 10)
	db := &exectest.Store{}
	var once sync.Once
	db.Before.Set(func(string, string) error {
		once.Do(func() { close(hangs) })
		<-goOn
		return nil
	})
	m := New(Parts{Store: db, Now: time.Now, Log: slog.New(slog.DiscardHandler), Publish: func([]Published) { published <- struct{}{} }}, Settings{})
	for _, id := range []string{"a", "b"} {
		r := m.run(&plan.Rewrite{})
		r.id, r.m = id, Change{ID: id, State: Serving}
		m.runs[id] = r
	}
	var wait sync.WaitGroup
	wait.Go(func() { _, _ = m.Note(t.Context(), "a", "a line") })
	<-hangs
	wait.Go(func() { _ = m.Suspend(t.Context(), "b", "a write that can not be known", false) })
	select {
	case <-published:
	case <-time.After(time.Minute):
		t.Error("it waits for what another change has stored")
	}
	close(goOn)
	wait.Wait()
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/proxy"
)

// past is a history that is lived through by a fake clock: a registry counts, and every half hour a window is written.
type past struct {
	t        *testing.T
	dir      string
	now      time.Time
	random   *rand.Rand
	registry *capture.Registry
	history  *history.History
}

func newPast(t *testing.T, dir string) *past {
	p := &past{t: t, dir: dir, now: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), random: rand.New(rand.NewPCG(1, 2))}
	p.start()
	return p
}

// start is a new process, whose counters begin at nothing.
func (p *past) start() {
	p.registry = capture.New(capture.Options{Now: func() time.Time { return p.now }, Windows: window.Options{Off: true}})
	p.t.Cleanup(p.registry.Close)
	p.history = history.New(history.Options{
		Counts: p.registry.Counts, Now: func() time.Time { return p.now }, Log: slog.New(slog.DiscardHandler),
		Open: func() (history.Shelf, error) { return store.OpenWindows(p.dir) },
	})
}

func (p *past) end() {
	if err := p.history.Close(context.Background()); err != nil {
		p.t.Fatal(err)
	}
}

// live lets so many days pass. By day, from eight to eighteen, lists of rooms are read, in the evening, from eighteen to
// twenty-three, reservations by guest, and a guest by his key now and then; at night nothing is said at all.
func (p *past) live(days int) {
	for range days * 24 * 2 {
		say := func(text string, mean int) {
			n := int(float64(mean) * (0.7 + 0.6*p.random.Float64()))
			p.registry.Statement("hotel", text).Done(make([]proxy.Exchange, n))
		}
		switch h := p.now.Hour(); {
		case h >= 8 && h < 18:
			say(infertest.RoomsOfHotel, 40)
			say(infertest.ArrivalsOfRoom, 30)
			say(infertest.GuestByID, 5)
		case h >= 18 && h < 23:
			say(infertest.GuestReservations, 60)
			say(infertest.Book, 20)
			say(infertest.GuestByID, 5)
		}
		p.now = p.now.Add(30 * time.Minute)
		if err := p.history.Tick(context.Background()); err != nil {
			p.t.Fatal(err)
		}
	}
}

// noMigrations stands for what the test does not ask for.
type noMigrations struct{ admin.Migrator }

// serve offers the history by the admin API.
func (p *past) serve() (address string) {
	s := admin.New(admin.Options{
		Gate: access.New(access.Options{Bootstrap: "secret", Log: slog.New(slog.DiscardHandler)}), Statements: p.registry.Snapshot, History: p.history, Migrator: noMigrations{},
		Schemas: admin.Schemas{
			Schema: infertest.HotelSchema, Measured: func() []schema.Stats { return infertest.HotelStatistics() },
			Lint: func(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats) (*lint.Report, error) {
				return lint.LiveCorrected(ctx, snapshot, s, stats, nil)
			},
			Weigh: func(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, c *cycle.Cycle) (string, error) {
				return infer.WeighedCorrected(ctx, snapshot, s, stats, nil, c)
			},
		},
		Connections: func() any { return nil }, Ready: func() []admin.Check { return nil }, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	p.t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			p.t.Error(err)
		}
		if err := <-ended; err != nil {
			p.t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestCyclesOfThreeWeeks: W-1: what is said for three weeks through the registry and the history, with a restart, nine hours of which
// nobody knows, and nights in which nothing is said, becomes steps and a workload that design reads: by the API and by the file.
func TestCyclesOfThreeWeeks(t *testing.T) {
	p := newPast(t, t.TempDir())
	p.live(9)
	p.end()
	p.now = p.now.Add(9 * time.Hour) // the process is down until nine
	p.start()
	p.live(12)
	defer p.end()

	out := filepath.Join(t.TempDir(), "workload.yaml")
	text, err, code := executed(t, "cycles", "--server", p.serve(), "--token", "secret", "--out", out)
	if code != 0 {
		t.Fatal(err)
	}
	for _, want := range []string{"98 % of them known (zone UTC)", "1  08:00   10h ", "2  18:00   5h ", "3  23:00   9h     -        -\n", "day", "reliable", "week", "none", "........|██████████|.....|.  0.02", "SELECT room_id, number FROM hotel.rooms"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	raw, err, code := executed(t, "cycles", "--history", p.dir, "--json")
	if code != 0 {
		t.Fatal(err)
	}
	var r cycle.Report
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatal(err)
	}
	if r.Cycle == nil || r.Cycle.Period != cycle.Day || fmt.Sprint(r.Cycle.Intervals()) != "[10h0m0s 5h0m0s 9h0m0s]" {
		t.Fatalf("%s", raw)
	}
	w, err := workload.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if w.TimeSteps() != 3 || fmt.Sprint(w.Interval) != fmt.Sprint(r.Cycle.Intervals()) || len(w.Statements) != 5 {
		t.Errorf("%d steps of %v, %d statements", w.TimeSteps(), w.Interval, len(w.Statements))
	}
	perSecond := func(n float64) float64 { return n / 1800 }
	for _, s := range w.Statements {
		var want [3]float64
		switch text := s.String(); {
		case strings.Contains(text, "number"):
			want = [3]float64{perSecond(39.5), 0, 0}
		case s.Write != nil:
			want = [3]float64{0, perSecond(19.5), 0}
		default:
			continue
		}
		for k, v := range want {
			if d := s.Steps[k] - v; d > 0.05*v+1e-6 || d < -0.05*v-1e-6 {
				t.Errorf("%s: %v, want %v", s, s.Steps, want)
			}
		}
	}
	if _, err, code := executed(t, "design", out); code != 0 {
		t.Errorf("design: %v", err)
	}
	calendar, err := timeline.Choose(context.Background(), w, timeline.Options{Solver: solve.New(solve.Config{}), NoBaselines: true})
	if err != nil {
		t.Fatal(err)
	}
	for k, step := range calendar.Steps {
		if step.Duration != w.Interval[k] || len(step.Plans) != len(w.Statements) {
			t.Errorf("step %d lasts %v and has %d plans", k, step.Duration, len(step.Plans))
		}
	}
	holds := func(days int) *cycle.Holding {
		since := p.now
		p.live(days)
		record, err := cycle.Read(context.Background(), p.history, since, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Cycle.Holds(record)
	}
	if h := holds(4); !h.Holds || h.Known < 3 {
		t.Errorf("%+v", h)
	}
}

func TestCyclesBadInput(t *testing.T) {
	fresh, corrupt, empty := t.TempDir(), t.TempDir(), t.TempDir()
	p := newPast(t, fresh)
	p.now = p.now.Add(9 * time.Hour)
	p.registry.Statement("hotel", infertest.GuestByID).Done(make([]proxy.Exchange, 3))
	p.now = p.now.Add(time.Minute)
	p.end() // one minute of history
	if w, err := store.OpenWindows(empty); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(corrupt, store.WindowsFile), []byte(strings.Repeat("garbage ", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"one minute":            {[]string{"--history", fresh}, 0, "no complete hour yet"},
		"an empty history":      {[]string{"--history", empty}, 0, "a daily cycle needs 4 complete days"},
		"no history":            {[]string{"--history", t.TempDir()}, exitUsage, "there is no history in"},
		"a damaged history":     {[]string{"--history", corrupt}, exitFailed, "not a store of Helenus"},
		"an unknown zone":       {[]string{"--history", fresh, "--zone", "Mars/Olympus"}, exitUsage, `there is no time zone "Mars/Olympus"`},
		"the machine's zone":    {[]string{"--history", fresh, "--zone", "Local"}, exitUsage, "another one on each machine"},
		"a negative time":       {[]string{"--history", fresh, "--since", "-5h"}, exitUsage, "such as 10s, 90m or 30d"},
		"no duration":           {[]string{"--history", fresh, "--since", "soon"}, exitUsage, "invalid"},
		"a negative step":       {[]string{"--history", fresh, "--min-step", "-1h"}, exitUsage, "such as 10s, 90m or 30d"},
		"a step too long":       {[]string{"--history", fresh, "--min-step", "300h"}, exitUsage, "least step"},
		"a negative limit":      {[]string{"--history", fresh, "--limit", "-1"}, exitUsage, "--limit"},
		"an unknown period":     {[]string{"--history", fresh, "--period", "month"}, exitUsage, "day, week, auto"},
		"out without a process": {[]string{"--history", fresh, "--out", "x.yaml"}, exitUsage, "leave --history out"},
		"no process":            {[]string{"--server", "127.0.0.1:1", "--token", "x"}, exitUnreachable, ""},
		"an argument":           {[]string{"x"}, exitUsage, "helenus cycles --help"},
	} {
		text, err, code := executed(t, "cycles", c.args...)
		if code != c.code || !strings.Contains(text+fmt.Sprint(err), c.want) {
			t.Errorf("%s: exit code %d, %v\n%s", name, code, err, text)
		}
	}
	out := filepath.Join(t.TempDir(), "w.yaml")
	q := newPast(t, t.TempDir())
	if _, err, code := executed(t, "cycles", "--server", q.serve(), "--token", "secret", "--out", out); code != exitRefused || !strings.Contains(fmt.Sprint(err), "no steps to give weights for") {
		t.Errorf("exit code %d, %v", code, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
	q.end()
}

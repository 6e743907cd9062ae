package history_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// world is a registry, a clock and a history in a directory.
type world struct {
	t        testing.TB
	dir      string
	now      time.Time
	registry *capture.Registry
	history  *history.History
	said     uint64
	log      bytes.Buffer
	options  history.Options
	shelf    history.Shelf
}

func newWorld(t testing.TB, dir string) *world {
	w := &world{t: t, dir: dir, now: time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC)}
	w.options = history.Options{
		Now: func() time.Time { return w.now }, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Open: func() (history.Shelf, error) {
			s, err := store.OpenWindows(dir)
			if err != nil {
				return nil, err
			}
			w.shelf = s
			return s, nil
		},
		Aside: func(now time.Time) (string, error) { return store.Aside(dir, now) },
	}
	w.start()
	return w
}

// start is a new process: a registry that knows nothing, and the history that there is.
func (w *world) start() {
	w.registry = capture.New(capture.Options{Fingerprints: 20, Texts: 64, Now: func() time.Time { return w.now }, Windows: window.Options{Off: true}})
	w.t.Cleanup(w.registry.Close)
	w.options.Counts = w.registry.Counts
	w.begin()
}

func (w *world) begin() { w.history = history.New(w.options) }

// say executes a statement n times.
func (w *world) say(statement, n int) {
	x := []proxy.Exchange{{Start: 0, End: 1e6, Rows: 1}}
	for range n {
		w.registry.Statement("k", fmt.Sprintf("SELECT a FROM t%d", statement)).Done(x)
		w.said++
	}
}

func (w *world) tick() error { return w.history.Tick(ctx) }

func (w *world) mustTick() {
	w.t.Helper()
	if err := w.tick(); err != nil {
		w.t.Fatal(err)
	}
}

// total fails unless the whole history has every exchange once.
func (w *world) total() {
	w.t.Helper()
	s, err := w.history.Between(ctx, time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	if s.Count() != w.said {
		w.t.Fatalf("the history has %d exchanges of %d", s.Count(), w.said)
	}
}

func (w *world) end() {
	w.t.Helper()
	if err := w.history.Close(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) metric(name string, want float64) {
	w.t.Helper()
	got := fmt.Sprintf("\n%s %v\n", name, want)
	b, err := testutil.CollectAndFormat(w.history, expfmt.TypeTextPlain, name)
	if err != nil || !strings.Contains(string(b), got) {
		w.t.Errorf("%s is not %v (%v):\n%s", name, want, err, b)
	}
}

// TestEveryExchangeIsThereOnce: over days of drawn traffic, restarts, clocks that jump and pruning, the history has every exchange
// once, whichever level answers.
func TestEveryExchangeIsThereOnce(t *testing.T) {
	// Each draw opens files and waits for the disk: a quarter of the usual number, unless somebody asks for another.
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		_ = f.Value.Set("25")
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "history")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := newWorld(t, dir)
		w.options.Keep = [3]time.Duration{2 * time.Hour, 48 * time.Hour, 100 * 24 * time.Hour}
		w.options.Statements = rapid.IntRange(1, 5).Draw(rt, "statements")
		w.begin()
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			w.say(rapid.IntRange(0, 30).Draw(rt, "statement"), rapid.IntRange(0, 5).Draw(rt, "n"))
			w.now = w.now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 20, 59, 60, 600, 3000, -30, -90}).Draw(rt, "minutes")) * time.Minute)
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				w.end()
				w.start()
			case 1:
				if s, err := w.history.Between(ctx, time.Time{}, time.Time{}); err != nil || s.Count() != w.said {
					rt.Fatalf("%d exchanges of %d (%v)", s.Count(), w.said, err)
				}
			default:
				if err := w.tick(); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if s, err := w.history.Between(ctx, time.Time{}, time.Time{}); err != nil || s.Count() != w.said {
			rt.Fatalf("at the end: %d exchanges of %d (%v)", s.Count(), w.said, err)
		}
		w.end()
	})
}

// TestRollUpAndPeriods: minutes become hours and days, a period is answered by the coarsest that fit, and what is asked in parts adds up.
func TestRollUpAndPeriods(t *testing.T) {
	w := newWorld(t, t.TempDir())
	begin := w.now
	for minute := range 60 * 30 { // 30 hours, from half past ten
		w.say(minute%7, 1)
		w.now = begin.Add(time.Duration(minute+1) * time.Minute)
		w.mustTick()
	}
	w.total()
	count := func(from, to time.Time) uint64 {
		s, err := w.history.Between(ctx, from, to)
		if err != nil {
			t.Fatal(err)
		}
		return s.Count()
	}
	for _, c := range []struct {
		from, to time.Time
		want     uint64
	}{
		{begin, begin.Add(10 * time.Minute), 10},
		{begin.Add(15 * time.Minute), begin.Add(3*time.Hour + 20*time.Minute), 185},
		{begin.Add(-time.Hour), begin.Add(24 * time.Hour), 24 * 60},
		{w.now.Add(-time.Hour), time.Time{}, 60},
	} {
		if got := count(c.from, c.to); got != c.want {
			t.Errorf("from %v to %v: %d, want %d", c.from, c.to, got, c.want)
		}
	}
	keys := func(level int) int {
		list, err := w.shelf.Keys(ctx, store.Span{Level: level})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if keys(0) != 1800 || keys(1) != 30 || keys(2) != 1 {
		t.Errorf("%d minutes, %d hours, %d days", keys(0), keys(1), keys(2))
	}
	fingerprint := w.registry.Counts().Statements[0].Fingerprint
	points, err := w.history.Series(ctx, fingerprint, w.now.Add(-70*time.Minute))
	if err != nil || len(points) != 70 {
		t.Fatalf("%d points (%v)", len(points), err)
	}
	var sum uint64
	for _, p := range points {
		sum += p.Count
	}
	if sum != 10 {
		t.Errorf("a statement of seven was said %d times in 70 minutes", sum)
	}
	w.end()
}

// TestSizeIsBounded: over its limit the history loses its minutes first, and no exchange.
func TestSizeIsBounded(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.options.Size = 150 << 10
	w.begin()
	for i := range 700 {
		w.say(i%20, 1)
		w.say(20+i%300, 1)
		w.now = w.now.Add(time.Minute)
		w.mustTick()
	}
	size, err := w.shelf.Size(ctx)
	if err != nil || size > w.options.Size+100<<10 {
		t.Errorf("the history has %d bytes (%v)", size, err)
	}
	w.total()
	w.metric("helenus_history_writable", 1)
	w.end()
}

// TestLockedAndFull: while the file is locked, or the disk full, windows wait; then they are written.
func TestLockedAndFull(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, dir)
	w.say(1, 3)
	w.now = w.now.Add(time.Minute)
	w.mustTick()

	db, err := sql.Open("sqlite", filepath.Join(dir, store.WindowsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	other, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	w.say(2, 4)
	w.now = w.now.Add(time.Minute)
	if err := w.tick(); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("a locked file was written: %v", err)
	}
	w.metric("helenus_history_writable", 0)
	w.metric("helenus_history_waiting_windows", 1)
	if s, err := w.history.Between(ctx, time.Time{}, time.Time{}); s.Count() != 7 {
		t.Errorf("while it is locked the history has %d exchanges: %v", s.Count(), err)
	}
	if _, err := other.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	w.now = w.now.Add(time.Minute)
	w.mustTick()
	w.metric("helenus_history_writable", 1)
	w.total()
	if said := w.log.String(); strings.Count(said, "can not be written") != 1 || strings.Count(said, "is written again") != 1 {
		t.Errorf("the log says:\n%s", said)
	}
	w.end()
}

// full is a shelf on a disk that is full.
type full struct{ history.Shelf }

func (full) Apply(context.Context, store.WindowsChange) error { return store.ErrFull }

func TestFullDisk(t *testing.T) {
	w := newWorld(t, t.TempDir())
	open, isFull := w.options.Open, true
	w.options.Open = func() (history.Shelf, error) {
		s, err := open()
		if err != nil || !isFull {
			return s, err
		}
		return full{s}, nil
	}
	w.begin()
	for range 300 { // more than may wait one by one
		w.say(1, 2)
		w.now = w.now.Add(time.Minute)
		if err := w.tick(); !errors.Is(err, store.ErrFull) {
			t.Fatal(err)
		}
	}
	w.metric("helenus_history_waiting_windows", 120)
	w.total()
	lost := w.said
	_ = w.history.Close(ctx) // the process ends with the disk full: what waits is lost
	isFull = false
	w.start()
	w.say(1, 2)
	w.mustTick()
	w.said -= lost
	w.total()
	w.end()
}

// TestSQLiteFull: what SQLite says when there is no room is understood.
func TestSQLiteFull(t *testing.T) {
	s, err := store.OpenWindows(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Limit(ctx, 20); err != nil {
		t.Fatal(err)
	}
	put := store.WindowsChange{Put: []store.Window{{Origin: "o", At: time.Unix(1, 0), Body: make([]byte, 1<<20)}}}
	if err := s.Apply(ctx, put); !errors.Is(err, store.ErrFull) {
		t.Errorf("%v", err)
	}
	put.Put[0].Body = []byte{1}
	if err := s.Apply(ctx, put); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestDamagedFileIsMovedAside: whatever is in the file, capture goes on and a new history is begun.
func TestDamagedFileIsMovedAside(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"garbage": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("garbage ", 5000)), 0o600) },
		"zeroed pages": func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(make([]byte, 20_000), 4096)
			return errors.Join(err, f.Close())
		},
		"cut short": func(path string) error { return os.Truncate(path, 5000) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := newWorld(t, dir)
			for i := range 30 {
				w.say(i, 5)
				w.now = w.now.Add(time.Minute)
				w.mustTick()
			}
			w.end()
			if err := damage(filepath.Join(dir, store.WindowsFile)); err != nil {
				t.Fatal(err)
			}
			w.start()
			w.said = 0
			w.say(1, 5)
			w.now = w.now.Add(time.Minute)
			if err := w.tick(); err != nil {
				w.now = w.now.Add(time.Minute)
				w.mustTick()
			}
			w.metric("helenus_history_moved_aside_total", 1)
			if list, _ := filepath.Glob(filepath.Join(dir, "*.damaged-*")); len(list) == 0 {
				t.Error("the damaged file is gone")
			}
			w.total()
			w.end()
		})
	}
}

// TestClockThatJumpsCostsNothing: for a moment it is the year 2040.
func TestClockThatJumpsCostsNothing(t *testing.T) {
	w := newWorld(t, t.TempDir())
	for range 100 {
		w.say(1, 1)
		w.now = w.now.Add(time.Minute)
		w.mustTick()
	}
	back := w.now
	w.now = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 3 {
		w.say(1, 1)
		w.now = w.now.Add(time.Minute)
		w.mustTick()
	}
	w.now = back
	for range 100 {
		w.say(1, 1)
		w.now = w.now.Add(time.Minute)
		w.mustTick()
	}
	w.total()
	if !strings.Contains(w.log.String(), "the clock jumped") {
		t.Error("the log does not say that the clock jumped")
	}
	w.end()
}

// TestExportAndImport: what is exported and imported is the same, twice too, and two proxies' histories add up.
func TestExportAndImport(t *testing.T) {
	a, b := newWorld(t, t.TempDir()), newWorld(t, t.TempDir())
	for i, w := range []*world{a, b} {
		for range 130 + 40*i {
			w.say(i, 2)
			w.say(5, 1)
			w.now = w.now.Add(time.Minute)
			w.mustTick()
		}
	}
	var file bytes.Buffer
	n, err := history.Export(ctx, b.shelf, &file, time.Time{}, time.Time{})
	if err != nil || n != 170+3 {
		t.Fatalf("%d windows exported, %v", n, err)
	}
	for _, taken := range []int{n, 0} {
		done, err := history.Import(ctx, a.shelf, bytes.NewReader(file.Bytes()))
		if err != nil || done != (history.Imported{Read: n, Taken: taken}) {
			t.Fatalf("%+v was imported, and not %d, of %d windows, %v", done, taken, n, err)
		}
	}
	a.said += b.said
	a.total()
	s, err := a.history.Between(ctx, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, x := range s.Statements {
		counts[x.Table] = x.Count
	}
	if d := cmp.Diff(map[string]uint64{"t0": 260, "t1": 340, "t5": 300}, counts); d != "" {
		t.Error(d)
	}
	a.end()
	b.end()
}

func FuzzImport(f *testing.F) {
	const head, tail = `{"format":"helenus-history","version":1}` + "\n", "\n" + `{"windows":1}` + "\n"
	f.Add(head + `{"level":0,"origin":"x","at":"2026-01-01T00:00:00Z","snapshot":{"statements":[{"fingerprint":"a","count":3}]}}` + tail)
	f.Add(head + `{"level":100,"origin":"x","at":"2026-01-01T00:00:00Z"}` + tail)
	s, err := store.OpenWindows(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := history.Import(ctx, s, strings.NewReader(text)); err == nil {
			if _, err := history.Export(ctx, s, io.Discard, time.Time{}, time.Time{}); err != nil {
				t.Fatalf("what was imported can not be exported: %v", err)
			}
		}
	})
}

// TestKilled: a process that is killed with SIGKILL while it writes loses at most what it counted since its last window, and the file
// is whole.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("HELENUS_HISTORY_TEST_CHILD"); dir != "" {
		tickForEver(t, dir)
		return
	}
	for round := range 3 {
		dir := t.TempDir()
		child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), "HELENUS_HISTORY_TEST_CHILD="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		written := uint64(0)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if written, err = strconv.ParseUint(lines.Text(), 10, 64); err != nil {
				t.Fatalf("the child said %q", lines.Text())
			}
			if written == uint64(500+130*round) {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait() // killed, as it should be
		w := newWorld(t, dir)
		s, err := w.history.Between(ctx, time.Time{}, time.Time{})
		if err != nil || s.Count() < written || s.Count() > written+10 {
			t.Errorf("%d exchanges were written, %d are there (%v)", written, s.Count(), err)
		}
		if why, err := w.shelf.(*store.Windows).Check(ctx); err != nil || why != "ok" {
			t.Errorf("the file is damaged: %s %v", why, err)
		}
		w.end()
	}
}

func tickForEver(t *testing.T, dir string) {
	w := newWorld(t, dir)
	for {
		w.say(int(w.said/10)%15, 10)
		w.now = w.now.Add(13 * time.Minute)
		w.mustTick()
		fmt.Println(w.said)
	}
}

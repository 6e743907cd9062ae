package cdc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/commitlog"
)

// segments are those that a real Cassandra wrote.
const segments = "../commitlog/testdata/segments"

// helenus is what an agent tells.
type helenus struct {
	tables  []Table
	told    []string
	reports int
	unread  int64
	fail    int // of the next reports
}

func (h *helenus) Tables(context.Context) ([]Table, error) { return h.tables, nil }

func (h *helenus) Tell(_ context.Context, r *Report) error {
	if h.fail > 0 {
		h.fail--
		return errors.New("it is away")
	}
	h.reports++
	h.unread += r.Unread
	for _, row := range r.Rows {
		h.told = append(h.told, fmt.Sprintf("%s %x", row.Table, row.Key))
	}
	return nil
}

// bed is a folder of segments, with an agent.
type bed struct {
	t      *testing.T
	dir    string
	server *helenus
	now    time.Time
	agent  *Agent
}

func newBed(t *testing.T, watch map[string][]string) *bed {
	b := &bed{t: t, dir: t.TempDir(), server: &helenus{}, now: time.Unix(1000, 0)}
	text, err := os.ReadFile(filepath.Join(segments, "tables.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Name    string
		Columns []commitlog.Column
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for id, table := range all {
		b.server.tables = append(b.server.tables, Table{Keyspace: "k", Name: table.Name, ID: id, Columns: table.Columns, Watch: watch[table.Name]})
	}
	if err := os.CopyFS(b.dir, os.DirFS(segments)); err != nil {
		t.Fatal(err)
	}
	return b
}

// start begins an agent as a process does.
func (b *bed) start(s Settings) {
	b.t.Helper()
	s.Dir = b.dir
	var err error
	if b.agent, err = New(s, b.server, slog.New(slog.DiscardHandler), func() time.Time { return b.now }); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) round() {
	b.t.Helper()
	if err := b.agent.Round(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// files are the segments that are there.
func (b *bed) files() int {
	names, err := filepath.Glob(filepath.Join(b.dir, "CommitLog-*"))
	if err != nil {
		b.t.Fatal(err)
	}
	return len(names)
}

// Of rows in which a watched column was written each key is told, once for all that is read at a time; of others none.
func TestKeysOfWatchedColumns(t *testing.T) {
	b := newBed(t, map[string][]string{"plain": {"v"}, "rows": {"v"}})
	b.start(Settings{})
	b.round()
	slices.Sort(b.server.told)
	day := fmt.Sprintf("%016x", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	row := func(n int) string {
		return fmt.Sprintf("rows [00000001 78 %s %08x 01020304050647088900000000000000]", day, n)
	}
	want := []string{"plain [00000001]", "plain [61]", "plain [62]", "plain [6c7774]", row(2), row(7), row(8)}
	if !slices.Equal(b.server.told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(b.server.told, "\n"), strings.Join(want, "\n"))
	}
	if n := b.agent.Counts(); n.Unread != 0 || n.Deletes == 0 || n.Told != int64(len(want)) {
		t.Errorf("counts %+v", n)
	}
}

// What was told is not told again, by this process or the next; what was not acknowledged is.
func TestAtLeastOnce(t *testing.T) {
	b := newBed(t, map[string][]string{"plain": {"v"}})
	b.start(Settings{Rows: 1})
	b.server.fail = 1
	if err := b.agent.Round(t.Context()); err == nil {
		t.Fatal("a report failed, and nobody says so")
	}
	b.start(Settings{Rows: 1})
	b.round()
	told := len(b.server.told)
	if told < 4 || b.files() != 8 {
		t.Fatalf("told %q, %d files", b.server.told, b.files())
	}
	b.round()
	b.start(Settings{Rows: 1, Delete: true})
	b.round()
	if len(b.server.told) != told {
		t.Errorf("told again: %q", b.server.told[told:])
	}
	if b.files() != 2 || b.agent.Counts().Removed != 3 { // the last one is not completed
		t.Errorf("%d files are there, %d removed", b.files(), b.agent.Counts().Removed)
	}
}

// Segments are removed only when all of them is told, and that is kept.
func TestNothingIsRemovedBeforeItIsTold(t *testing.T) {
	b := newBed(t, map[string][]string{"plain": {"v"}, "filler": {"v"}})
	b.start(Settings{Delete: true})
	b.server.fail = 1 << 30
	for range 3 {
		if err := b.agent.Round(t.Context()); err == nil {
			t.Fatal("it is away, and nobody says so")
		}
	}
	if b.files() != 8 {
		t.Errorf("%d files are left", b.files())
	}
}

// What can not be read is counted, told, and passed.
func TestBrokenSegments(t *testing.T) {
	b := newBed(t, map[string][]string{"filler": {"v"}})
	names, _ := filepath.Glob(filepath.Join(b.dir, "*.log"))
	slices.Sort(names)
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	text[5]++ // its id
	second, err := os.ReadFile(names[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(names[0], text, 0o600), os.WriteFile(names[1], bytes.Clone(second[:len(second)-9]), 0o600)); err != nil {
		t.Fatal(err)
	}
	b.start(Settings{Delete: true})
	b.round()
	if n := b.agent.Counts(); n.Unread != 2 || b.server.unread != 2 || n.Told == 0 || n.Removed != 3 {
		t.Errorf("counts %+v, told unread %d", n, b.server.unread)
	}
}

// An agent without news says now and then that it is at work.
func TestAlive(t *testing.T) {
	b := newBed(t, nil)
	b.start(Settings{Alive: time.Minute})
	b.round()
	first := b.server.reports
	b.round()
	if b.server.reports != first || len(b.server.told) != 0 {
		t.Errorf("%d reports, then %d; told %q", first, b.server.reports, b.server.told)
	}
	b.now = b.now.Add(time.Minute)
	b.round()
	if b.server.reports != first+1 {
		t.Errorf("%d reports, then %d", first, b.server.reports)
	}
}

func TestNoFolder(t *testing.T) {
	_, err := New(Settings{Dir: filepath.Join(t.TempDir(), "none")}, &helenus{}, slog.New(slog.DiscardHandler), time.Now)
	if err == nil || !strings.Contains(err.Error(), "cdc_raw_directory") {
		t.Error(err)
	}
}

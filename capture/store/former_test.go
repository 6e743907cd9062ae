package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// released is the state of the last release (version 3), as a run of it left it: testdata/README.md says how it was made.
const released = "testdata/v3.sql"

// release writes the state of the last release into a directory.
func release(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(released)
	must(t, err)
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	must(t, err)
	_, err = db.Exec(string(text))
	must(t, err)
	must(t, db.Close())
}

// states are the changes of a store as lines.
func states(t *testing.T, s *Store) (lines []string) {
	t.Helper()
	list, err := s.List(t.Context(), "change")
	must(t, err)
	for _, d := range list {
		var x one
		must(t, json.Unmarshal(d.Raw, &x))
		line := x.ID + " " + x.State
		for part, raw := range map[string]json.RawMessage{"advice": x.Advice, "work": x.Work, "calendar": x.Calendar} {
			var id struct{ ID string }
			if raw != nil {
				must(t, json.Unmarshal(raw, &id))
				if id.ID != x.ID {
					t.Errorf("the %s of %s is that of %q", part, x.ID, id.ID)
				}
			}
		}
		for _, part := range []struct {
			name string
			raw  json.RawMessage
		}{{"advice", x.Advice}, {"work", x.Work}, {"calendar", x.Calendar}} {
			if part.raw != nil {
				line += " " + part.name
			}
		}
		if x.Part != "" {
			line += " of " + x.Part
		}
		if x.Last != nil && x.Last.Actor != "" {
			line += ", " + x.Last.Actor
		}
		if x.Since.IsZero() || d.Version != 1 {
			t.Errorf("%s since %s, version %d", x.ID, x.Since, d.Version)
		}
		lines = append(lines, line)
	}
	return lines
}

// carried is what the state of the last release becomes.
var carried = []string{
	"r-a1 serving advice work, ann",
	"r-a2 proposed advice work, ann",
	"r-a3 failed advice work, ann",
	"r-a4 dismissed advice, bob",
	"r-a5 proposed advice",
	"r-a6 expired advice",
	"r-a7 rolled-back advice work, ann",
	"r-a8 suspended advice work, ann",
	"r-a9 proposed advice", // approved, and never begun
	"r-b2 dropped advice work, ann",
	"r-c1 proposed advice calendar",
	"r-c2 serving advice calendar, ann",
	"r-c2.1 serving work of r-c2",
}

// TestStateOfTheLastRelease: all that it holds of changes is one record each, its trail goes on, all else is as it was, and a copy of it is aside.
func TestStateOfTheLastRelease(t *testing.T) {
	dir := t.TempDir()
	release(t, dir)
	before, others := former3(t, filepath.Join(dir, File))
	s, told := beginIn(t, dir)
	if len(*told) > 0 {
		t.Fatal(*told)
	}
	if d := cmp.Diff(carried, states(t, s)); d != "" {
		t.Error(d)
	}
	for _, kind := range []string{"recommendations", "migration", "calendar"} {
		if list, err := s.List(t.Context(), kind); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v", kind, list, err)
		}
	}
	trail, err := s.Audit(t.Context(), AuditQuery{Limit: AuditLimit})
	must(t, err)
	if len(trail) != len(before)+1 || trail[0].Target != "r-a9" || trail[0].After != "proposed" || trail[0].Actor != Self {
		t.Errorf("%d lines of %d, the last %+v", len(trail), len(before), trail[0])
	}
	if d := cmp.Diff(before, trail[1:]); d != "" {
		t.Error(d)
	}
	must(t, s.Close())
	copied := Former(filepath.Join(dir, File), 3)
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	aside, left := former3(t, copied)
	if d := cmp.Diff(before, aside); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(others, left); d != "" {
		t.Error(d)
	}
	must(t, os.Remove(copied))
	s = open(t, dir) // a second time there is nothing to do
	if d := cmp.Diff(carried, states(t, s)); d != "" {
		t.Error(d)
	}
	if _, err := os.Stat(copied); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy of what is no former version: %v", err)
	}
}

// former3 reads a file of version 3: the trail, the latest line first, and the sums of the documents.
func former3(t *testing.T, path string) (trail []Entry, sums []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer func() { _ = db.Close() }()
	var version int
	must(t, db.QueryRow("PRAGMA user_version").Scan(&version))
	if version != 3 {
		t.Fatalf("%s is of version %d", path, version)
	}
	s := &Store{db: db, path: path}
	trail, err = s.Audit(t.Context(), AuditQuery{Limit: AuditLimit})
	must(t, err)
	rows, err := db.Query("SELECT kind || ' ' || id || ' ' || sum FROM documents ORDER BY kind, id")
	must(t, err)
	must(t, scan(rows, func(rows *sql.Rows) error {
		var line string
		err := rows.Scan(&line)
		sums = append(sums, line)
		return err
	}))
	return trail, sums
}

// TestKilledWhileBroughtForward: a process is killed with SIGKILL at any moment while it brings the state forward; the next one finds
// all of it, and the copy whole if the file is not as it was.
func TestKilledWhileBroughtForward(t *testing.T) {
	if dir := os.Getenv("HELENUS_FORMER_TEST_CHILD"); dir != "" {
		fmt.Println("begun")
		if _, err := Open(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("done")
		time.Sleep(time.Hour)
		return
	}
	done := false
	for wait := time.Duration(0); !done && wait < time.Minute; wait += wait/2 + time.Millisecond {
		dir := t.TempDir()
		release(t, dir)
		child := exec.Command(os.Args[0], "-test.run=^TestKilledWhileBroughtForward$")
		child.Env = append(os.Environ(), "HELENUS_FORMER_TEST_CHILD="+dir)
		out, err := child.StdoutPipe()
		must(t, err)
		must(t, child.Start())
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); err != nil || line != "begun\n" {
			t.Fatalf("the child said %q, %v", line, err)
		}
		time.Sleep(wait)
		must(t, child.Process.Kill())
		rest, _ := lines.ReadString('\n') // before Wait, which closes the pipe
		_ = child.Wait()                  // killed, as it should be
		done = strings.HasPrefix(rest, "done")
		s := open(t, dir)
		if d := cmp.Diff(carried, states(t, s)); d != "" {
			t.Fatalf("killed after %v: %s", wait, d)
		}
		must(t, s.Close())
		former3(t, Former(filepath.Join(dir, File), 3))
	}
	if !done {
		t.Error("no child came to an end: nothing was tried but the beginning")
	}
}

// TestBroughtForwardAtOnce: where any statement fails, nothing is changed, and the next attempt carries all over.
func TestBroughtForwardAtOnce(t *testing.T) {
	for name, spoil := range map[string]string{
		"a change that is there already": `INSERT INTO documents VALUES ('change', 'r-c2', 1, 5, '{}', '')`,
		"what can not be deleted":        `CREATE TRIGGER spoil BEFORE DELETE ON documents BEGIN SELECT RAISE(ABORT, 'no'); END`,
	} {
		dir := t.TempDir()
		release(t, dir)
		path := filepath.Join(dir, File)
		db, err := sql.Open("sqlite", path)
		must(t, err)
		_, err = db.Exec(spoil)
		must(t, err)
		must(t, db.Close())
		trail, sums := former3(t, path)
		if _, err := Open(dir); err == nil {
			t.Errorf("%s: opened", name)
		}
		after, left := former3(t, path) // and it is of version 3 still
		if !cmp.Equal(trail, after) || !cmp.Equal(sums, left) {
			t.Errorf("%s: it was changed", name)
		}
		db, err = sql.Open("sqlite", path)
		must(t, err)
		_, err = db.Exec(`DROP TRIGGER IF EXISTS spoil; DELETE FROM documents WHERE kind = 'change'`)
		must(t, err)
		must(t, db.Close())
		if d := cmp.Diff(carried, states(t, open(t, dir))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestDamagedFormerStateIsSetAside: what can not be carried over is not carried over by half.
func TestDamagedFormerStateIsSetAside(t *testing.T) {
	for name, damage := range map[string]string{
		"a sum":             `UPDATE documents SET sum = 'x' WHERE kind = 'migration' AND id = 'r-a1'`,
		"a state":           `DELETE FROM documents WHERE kind = 'migration' AND id = 'r-a1'; INSERT INTO documents VALUES ('migration', 'r-a1', 1, 5, '{"id":"r-a1"}', '` + sumOf("migration", "r-a1", 1, `{"id":"r-a1"}`) + `')`,
		"an unknown advice": `DELETE FROM documents WHERE kind = 'recommendations'; INSERT INTO documents VALUES ('recommendations', 'advisor', 1, 5, '{"entries":[{"id":"r-1","state":"new"}]}', '` + sumOf("recommendations", "advisor", 1, `{"entries":[{"id":"r-1","state":"new"}]}`) + `')`,
	} {
		dir := t.TempDir()
		release(t, dir)
		db, err := sql.Open("sqlite", filepath.Join(dir, File))
		must(t, err)
		_, err = db.Exec(damage)
		must(t, err)
		must(t, db.Close())
		s, told := beginIn(t, dir)
		if len(*told) != 1 || (*told)[0].Aside == "" || len(Damaged(dir)) != 1 {
			t.Errorf("%s: told %v", name, *told)
		}
		if got := states(t, s); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func sumOf(kind, id string, version int64, raw string) string {
	d := Document{Kind: kind, ID: id, Version: version, Raw: json.RawMessage(raw)}
	return d.sum()
}

// TestReplace: compare and set, of a document and lines of the trail, all or nothing.
func TestReplace(t *testing.T) {
	ctx, s := context.Background(), open(t, t.TempDir())
	for i, c := range []struct {
		version int64
		ok      bool
	}{{1, false}, {0, true}, {0, false}, {2, false}, {1, true}, {2, true}} {
		got, err := s.Replace(ctx, "note", "a", c.version, i, Entry{Action: fmt.Sprint(i)})
		if (err == nil) != c.ok || !c.ok && !errors.Is(err, ErrConflict) || c.ok && got != c.version+1 {
			t.Errorf("%d: version %d, %v", i, got, err)
		}
	}
	if err := s.Remove(ctx, "note", "a", 2); !errors.Is(err, ErrConflict) {
		t.Errorf("removed: %v", err)
	}
	must(t, s.Remove(ctx, "note", "a", 3, Entry{Action: "gone"}))
	list, err := s.Audit(ctx, AuditQuery{})
	must(t, err)
	var told []string
	for _, e := range slices.Backward(list) {
		told = append(told, e.Action)
	}
	if !slices.Equal(told, []string{"1", "4", "5", "gone"}) {
		t.Errorf("%q", told)
	}
	if err := s.Load(ctx, "note", "a", new(int)); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestTrim: what is older than is to be kept goes, with a line that says so; what is not can not be removed, then either.
func TestTrim(t *testing.T) {
	ctx, s := context.Background(), open(t, t.TempDir())
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return now }
	for days := range 10 {
		must(t, s.Append(ctx, Entry{At: now.AddDate(0, 0, -days), Action: "note", Target: fmt.Sprint(days)}))
	}
	for _, want := range []int64{4, 0} {
		if n, err := s.Trim(ctx, now.AddDate(0, 0, -5)); err != nil || n != want {
			t.Errorf("%d lines went, not %d: %v", n, want, err)
		}
	}
	list, err := s.Audit(ctx, AuditQuery{})
	if err != nil || len(list) != 7 || list[0].Action != "audit.trim" || list[0].Actor != Self || !strings.Contains(list[0].Reason, "4 lines") || list[1].Target != "5" {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := s.Trim(ctx, now.AddDate(0, 0, -9)); err != nil || n != 0 { // nor is the bound taken back
		t.Errorf("%d, %v", n, err)
	}
	for _, text := range []string{"DELETE FROM audit", "DELETE FROM audit WHERE seq = 1"} {
		if _, err := s.db.Exec(text); err == nil {
			t.Errorf("%s", text)
		}
	}
}

// Lines are found under the name that their action has now, and under the one that it had.
func TestRenamedActions(t *testing.T) {
	ctx, s := context.Background(), open(t, t.TempDir())
	must(t, s.Append(ctx, Entry{Action: "reject", Target: "r-1"}, Entry{Action: "dismiss", Target: "r-2"}, Entry{Action: "snooze", Target: "r-3"}))
	for _, action := range []string{"reject", "dismiss"} {
		if list, err := s.Audit(ctx, AuditQuery{Action: action}); err != nil || len(list) != 2 {
			t.Errorf("%s: %v, %v", action, list, err)
		}
	}
}

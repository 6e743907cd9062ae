package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/store"
)

// live says something in each of so many minutes.
func (w *world) live(minutes int) {
	w.t.Helper()
	for range minutes {
		w.say(1, 2)
		w.now = w.now.Add(time.Minute)
		w.mustTick()
	}
}

// exported is the history of a world as a file.
func (w *world) exported(from time.Time) []byte {
	w.t.Helper()
	var file bytes.Buffer
	if _, err := history.Export(ctx, w.shelf, &file, from, time.Time{}); err != nil {
		w.t.Fatal(err)
	}
	return file.Bytes()
}

// imports imports a file, and fails unless all of it can be.
func (w *world) imports(file []byte) {
	w.t.Helper()
	if _, err := history.Import(ctx, w.shelf, bytes.NewReader(file)); err != nil {
		w.t.Fatal(err)
	}
}

// TestImportOfBadFiles: each is told clearly, and by its line; what came before is there, and the whole file mends it.
func TestImportOfBadFiles(t *testing.T) {
	b := newWorld(t, t.TempDir())
	b.live(130)
	whole := string(b.exported(time.Time{}))
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	last := len(lines) // the number of the end's line
	const marks = 3    // after the head: nothing of any level was thrown away yet
	windows := last - 2 - marks
	middle := strings.Join(lines[:40], "")
	for _, c := range []struct {
		name, file string
		line, read int
		why        string
	}{
		{"nothing", "", 1, 0, "there is nothing to import"},
		{"another program's JSON", `{"name":"x","version":"1.2.0"}` + "\n", 1, 0, "does not begin a history as `helenus history export` writes it"},
		{"no JSON", "listen: 127.0.0.1:9042\n", 1, 0, "does not begin a history"},
		{"another form", `{"format":"helenus-trace","version":1}` + "\n", 1, 0, "does not begin a history"},
		{"without its head", strings.Join(lines[1:], ""), 1, 0, "does not begin a history"},
		{"a newer version", strings.Replace(whole, `"version":1}`, `"version":2,"packed":true}`, 1), 1, 0, "is of version 2; this program knows 1: import it with a newer Helenus"},
		{"cut off in a line", middle + lines[40][:20], 41, 39 - marks, "was cut off"},
		{"cut off between lines", middle, 41, 39 - marks, "is missing: it was cut off"},
		{"without lines in the middle", middle + strings.Join(lines[50:], ""), last - 10, windows - 10, fmt.Sprintf("says that there are %d windows before it, but there are %d", windows, windows-10)},
		{"an unknown field", middle + `{"level":0,"origin":"x","at":"2026-01-01T00:00:00Z","snapsht":{}}`, 41, 39 - marks, "snapsht"},
		{"an unknown level", middle + `{"level":7,"origin":"x","at":"2026-01-01T00:00:00Z","snapshot":{}}`, 41, 39 - marks, "level 7"},
		{"no snapshot", middle + `{"level":0,"origin":"x","at":"2026-01-01T00:00:00Z"}`, 41, 39 - marks, "level 0"},
		{"two on a line", middle + strings.TrimSpace(lines[40]) + lines[41], 41, 39 - marks, "more than one value"},
		{"nonsense after it", whole + "nonsense", last + 1, windows, "does not begin a history"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newWorld(t, t.TempDir())
			a.live(1)
			done, err := history.Import(ctx, a.shelf, strings.NewReader(c.file))
			var wrong *history.FormatError
			if !errors.As(err, &wrong) || wrong.Line != c.line || !strings.Contains(wrong.Why, c.why) || done.Read != c.read || done.Taken != c.read {
				t.Errorf("%+v, %v; line %d, %d windows and %q were expected", done, err, c.line, c.read, c.why)
			}
			a.imports([]byte(whole))
			a.said += b.said
			a.total()
			a.end()
		})
	}
	b.end()
}

// TestImportOfTwoFilesInOne: files may be put one after the other.
func TestImportOfTwoFilesInOne(t *testing.T) {
	a, b, c := newWorld(t, t.TempDir()), newWorld(t, t.TempDir()), newWorld(t, t.TempDir())
	b.live(70)
	c.live(10)
	a.live(1)
	a.imports(append(b.exported(time.Time{}), c.exported(time.Time{})...))
	a.said += b.said + c.said
	a.total()
	for _, w := range []*world{a, b, c} {
		w.end()
	}
}

// TestImportOfOlderAndNewerFiles: of one process, in any order and again, each count is there once: where the newer file has more in an hour,
// where finer windows were thrown away before it was written, and where its own process reads an old one.
func TestImportOfOlderAndNewerFiles(t *testing.T) {
	b := newWorld(t, t.TempDir())
	b.options.Keep = [3]time.Duration{3 * time.Hour, 30 * time.Hour, 1000 * time.Hour}
	b.begin()
	var files [][]byte
	backup, copied := t.TempDir(), time.Time{}
	for i := range 4 {
		b.live(5*60 + 17)
		if i == 1 {
			b.end()
			copied = b.now
			kept, err := os.ReadFile(filepath.Join(b.dir, store.WindowsFile))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(backup, store.WindowsFile), kept, 0o600); err != nil {
				t.Fatal(err)
			}
			b.start()
			b.mustTick()
		}
		files = append(files, b.exported(time.Time{}), b.exported(b.now.Add(-100*time.Minute)))
	}
	if keys, err := b.shelf.Keys(ctx, store.Span{}); err != nil || len(keys) > 4*60 {
		t.Fatalf("%d minutes are left, so none was thrown away (%v)", len(keys), err)
	}
	for _, order := range [][]int{{0, 2, 4, 6}, {6, 4, 2, 0}, {0, 6, 2, 4, 6}, {1, 3, 6, 5, 7, 0}, {7, 6, 7, 1}, {0, 7, 6}} {
		a := newWorld(t, t.TempDir())
		a.live(1)
		for _, i := range order {
			a.imports(files[i])
		}
		a.said += b.said
		a.total()
		a.end()
	}

	// Of its own, and where the file is newer than the copy of a state directory: after a restart, too, which looks for what is to be rolled up, nothing is there twice.
	for _, f := range files {
		b.imports(f)
	}
	b.total()
	b.end()
	restarted := newWorld(t, backup)
	restarted.now = copied
	restarted.mustTick()
	restarted.imports(files[6])
	restarted.end()
	restarted.now = b.now
	said := b.said
	for _, w := range []*world{b, restarted} {
		w.said = said
		w.start()
		w.live(65)
		w.total()
		w.end()
	}
}

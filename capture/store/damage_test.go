package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// filled makes a store with some documents and events, closes it, and returns its file's bytes.
func filled(t *testing.T, dir string) []byte {
	t.Helper()
	ctx := context.Background()
	s := open(t, dir)
	for i := range 40 {
		if err := s.Save(ctx, "note", fmt.Sprint("n", i), note{strings.Repeat("text ", 20), i}); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(ctx, Entry{Target: fmt.Sprint("n", i), Actor: "ann", Action: "said something"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// beginIn opens a store that may be damaged, and returns what it told.
func beginIn(t *testing.T, dir string) (*Store, *[]Damage) {
	t.Helper()
	told := &[]Damage{}
	s, err := Begin(dir, func(d Damage) { *told = append(*told, d) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, told
}

// works checks that a store takes documents, and gives them back.
func works(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	if err := s.Save(ctx, "other", "a", 7); err != nil {
		t.Error(err)
	}
	var got int
	if err := s.Load(ctx, "other", "a", &got); err != nil || got != 7 {
		t.Errorf("loaded %d, %v", got, err)
	}
}

// content is what a file holds; nil of what is no file.
func content(t *testing.T, path string) []byte {
	t.Helper()
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // of the test
	must(t, err)
	return text
}

func TestDamagedStateIsSetAside(t *testing.T) {
	whole := filled(t, t.TempDir())
	flip := func(at int) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			text := bytes.Clone(whole)
			text[at] ^= 0xFF
			put(t, path, text)
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		says   string
	}{
		{"empty", func(t *testing.T, path string) { put(t, path, nil) }, "empty"},
		{"cut in the header", func(t *testing.T, path string) { put(t, path, whole[:60]) }, ""},
		{"cut to a page", func(t *testing.T, path string) { put(t, path, whole[:4096]) }, ""},
		{"cut in a page", func(t *testing.T, path string) { put(t, path, whole[:len(whole)-1000]) }, ""},
		{"zeroes", func(t *testing.T, path string) { put(t, path, make([]byte, len(whole))) }, ""},
		{"text", func(t *testing.T, path string) { put(t, path, []byte(strings.Repeat("hello ", 2000))) }, ""},
		{"its first byte", flip(0), ""},
		{"whose it is", flip(68), ""},
		{"its version", flip(60), ""}, // becomes negative
		{"a document", func(t *testing.T, path string) {
			put(t, path, bytes.ReplaceAll(whole, []byte(`"text text`), []byte(`"text test`)))
		}, "is not as it was written"},
		{"a directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "no file"},
		{"a pipe", func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) }, "no file"},
		{"not readable", func(t *testing.T, path string) {
			if os.Geteuid() == 0 {
				t.Skip("root reads everything")
			}
			put(t, path, whole)
			must(t, os.Chmod(path, 0))
		}, "permission"},
		{"only its log", func(t *testing.T, path string) { put(t, path+"-wal", []byte("remnant")) }, "log"},
		{"its log is a directory", func(t *testing.T, path string) { put(t, path, whole); must(t, os.Mkdir(path+"-wal", 0o700)) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, File)
			c.damage(t, path)
			before := content(t, path)
			s, told := beginIn(t, dir)
			if len(*told) != 1 || (*told)[0].Aside == "" || (*told)[0].Memory || (*told)[0].Running || !strings.Contains((*told)[0].Why.Error(), c.says) {
				t.Fatalf("told %+v", *told)
			}
			works(t, s)
			if list, err := s.List(context.Background(), "note"); err != nil || len(list) > 0 {
				t.Errorf("the new store holds %v, %v", list, err)
			}
			if kept := content(t, (*told)[0].Aside); !bytes.Equal(kept, before) {
				t.Errorf("%d bytes were set aside, of %d", len(kept), len(before))
			}
			if trouble := s.Trouble(); !strings.Contains(trouble, (*told)[0].Aside) {
				t.Errorf("the trouble is %q", trouble)
			}
			must(t, s.Close())
			s, told = beginIn(t, dir) // the next start finds nothing wrong, but says what is missing still
			if len(*told) != 0 || s.Trouble() == "" {
				t.Errorf("the second start told %v, and has the trouble %q", *told, s.Trouble())
			}
			for _, one := range Damaged(dir) {
				for _, suffix := range []string{"", "-wal", "-shm"} {
					must(t, os.RemoveAll(one+suffix))
				}
			}
			if trouble := s.Trouble(); trouble != "" {
				t.Errorf("a person has removed it, and the trouble is %q", trouble)
			}
		})
	}
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	must(t, os.WriteFile(path, text, 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoFlippedByteIsBelieved: whatever byte is flipped, the documents are those that were saved, or the state was found
// to be damaged.
func TestNoFlippedByteIsBelieved(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	whole := filled(t, dir)
	s := open(t, dir)
	want, err := s.List(ctx, "note")
	must(t, err)
	must(t, s.Close())
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // reproducible
	found := 0
	for range 150 {
		text := bytes.Clone(whole)
		at, to := random.IntN(len(text)), byte(1<<random.IntN(8))
		text[at] ^= to
		dir := t.TempDir()
		put(t, filepath.Join(dir, File), text)
		s, told := beginIn(t, dir)
		if len(*told) > 0 {
			found++
			continue
		}
		got, err := s.List(ctx, "note")
		if err != nil || len(got) != len(want) {
			t.Fatalf("byte %d, flipped by %#x: %d documents, %v", at, to, len(got), err)
		}
		for i := range got {
			if got[i].ID != want[i].ID || got[i].Version != want[i].Version || string(got[i].Raw) != string(want[i].Raw) {
				t.Fatalf("byte %d, flipped by %#x: read %+v, want %+v", at, to, got[i], want[i])
			}
		}
		works(t, s)
		must(t, s.Close())
	}
	if found < 15 {
		t.Errorf("only %d of 150 were found", found)
	}
}

// TestDamageWhileRunning: what is saved after the file was lost is in the new one.
func TestDamageWhileRunning(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"removed":  func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"replaced": func(t *testing.T, path string) { must(t, os.Remove(path)); put(t, path, []byte("something else")) },
		"cut":      func(t *testing.T, path string) { must(t, os.Truncate(path, 100)) },
		"emptied":  func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := context.Background(), t.TempDir()
			filled(t, dir)
			s, told := beginIn(t, dir)
			must(t, s.Save(ctx, "note", "n1", note{"before", 1}))
			damage(t, s.path)
			must(t, s.Save(ctx, "note", "n2", note{"after", 2}))
			if len(*told) != 1 || !(*told)[0].Running || (*told)[0].Memory {
				t.Fatalf("told %+v", *told)
			}
			works(t, s)
			must(t, s.Close())
			s = open(t, dir)
			var got note
			if err := s.Load(ctx, "note", "n2", &got); err != nil || got.N != 2 {
				t.Errorf("what was saved after it is %v, %v", got, err)
			}
			if err := s.Load(ctx, "note", "n1", &got); !errors.Is(err, ErrNotFound) {
				t.Errorf("what was saved before it: %v", err)
			}
		})
	}
}

// TestReadOfADamagedDocument: it is an error, not that there is none.
func TestReadOfADamagedDocument(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	filled(t, dir)
	s, told := beginIn(t, dir)
	_, err := s.db.Exec("UPDATE documents SET body = ? WHERE id = 'n3'", []byte(`{"n": 4}`))
	must(t, err)
	var got note
	if err := s.Load(ctx, "note", "n3", &got); !errors.Is(err, ErrCorrupt) || len(*told) != 1 {
		t.Errorf("loaded %v, %v, told %v", got, err, *told)
	}
	works(t, s)
}

func TestStateWithoutADirectoryIsInMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	put(t, dir, nil)
	s, told := beginIn(t, dir)
	if len(*told) != 1 || !(*told)[0].Memory || !strings.Contains(s.Trouble(), "memory only") {
		t.Fatalf("told %+v, the trouble is %q", *told, s.Trouble())
	}
	works(t, s)
	if info, err := os.Stat(dir); err != nil || info.IsDir() {
		t.Errorf("what was in the way: %v, %v", info, err)
	}
}

// TestNeitherLockedNorNewerIsDamaged: another has it.
func TestNeitherLockedNorNewerIsDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	damaged := func(d Damage) { t.Errorf("told %+v", d) }
	if _, err := Begin(dir, damaged); !errors.Is(err, ErrLocked) {
		t.Errorf("locked: %v", err)
	}
	_, err := s.db.Exec("PRAGMA user_version = 99")
	must(t, err)
	must(t, s.Close())
	if _, err := Begin(dir, damaged); !errors.Is(err, ErrNewer) {
		t.Errorf("newer: %v", err)
	}
	if len(Damaged(dir)) > 0 {
		t.Error("it was set aside")
	}
}

// TestVersionOneGetsSums: a state of the version before is read, and its documents are guarded from then on.
func TestVersionOneGetsSums(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	must(t, err)
	_, err = db.Exec(steps[0].tables + fmt.Sprintf("PRAGMA user_version = 1; PRAGMA application_id = %d;", application) +
		`INSERT INTO documents VALUES ('note', 'a', 3, 5, '{"n": 9}')`)
	must(t, err)
	must(t, db.Close())
	s, told := beginIn(t, dir)
	var got note
	if err := s.Load(ctx, "note", "a", &got); err != nil || got.N != 9 || len(*told) > 0 {
		t.Errorf("loaded %v, %v, told %v", got, err, *told)
	}
	must(t, s.Save(ctx, "note", "a", note{"", 10}))
	list, err := s.List(ctx, "note")
	if err != nil || len(list) != 1 || list[0].Version != 4 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSettingAsideOverwritesNothing(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1, 0)
	path := filepath.Join(dir, File)
	for i := range 3 {
		put(t, path, []byte{byte(i)})
		to, err := setAside(path, now)
		must(t, err)
		if text, err := os.ReadFile(to); err != nil || text[0] != byte(i) { //nolint:gosec // of the test
			t.Errorf("%v, %v", text, err)
		}
	}
	if n := len(Damaged(dir)); n != 3 {
		t.Errorf("%d were set aside", n)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

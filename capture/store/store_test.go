package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

type note struct {
	Text string `json:"text"`
	N    int    `json:"n"`
}

func TestSaveLoadListDelete(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir())
	s.now = func() time.Time { return time.Unix(100, 5) }
	if err := s.Save(ctx, "note", "b", note{"second", 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(ctx, "note", "b", note{"second", 2}); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(ctx, "note", "a", note{"first", 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(ctx, "other", "a", 7); err != nil {
		t.Fatal(err)
	}
	var got note
	if err := s.Load(ctx, "note", "b", &got); err != nil || got != (note{"second", 2}) {
		t.Errorf("loaded %v, %v", got, err)
	}
	if err := s.Load(ctx, "note", "c", &got); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing document gives %v", err)
	}
	list, err := s.List(ctx, "note")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(100, 5).UTC()
	want := []Document{
		{"note", "a", 1, at, json.RawMessage(`{"text":"first","n":1}`)},
		{"note", "b", 2, at, json.RawMessage(`{"text":"second","n":2}`)},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Error(d)
	}
	if err := s.Delete(ctx, "note", "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "note", "a"); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
	if list, _ := s.List(ctx, "note"); len(list) != 1 {
		t.Errorf("%d documents after a deletion", len(list))
	}
}

func TestCommitIsAllOrNothing(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir())
	good, _ := NewDocument("note", "good", 1)
	bad := Document{Kind: "note", ID: "bad", Raw: json.RawMessage(`{`)}
	if err := s.Commit(ctx, Change{Save: []Document{good, bad}}); err == nil {
		t.Fatal("broken JSON was stored")
	}
	if list, _ := s.List(ctx, "note"); len(list) != 0 {
		t.Errorf("half a change was stored: %v", list)
	}
	if err := s.Commit(ctx, Change{Save: []Document{good}}); err != nil {
		t.Fatal(err)
	}
	if _, err := NewDocument("note", "x", func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := Open(dir)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second opening: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestForeignAndNewerFilesAreLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want error
	}{
		{"newer", func(t *testing.T, dir string) {
			s := open(t, dir)
			if _, err := s.db.Exec("PRAGMA user_version = 99"); err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
		}, ErrNewer},
		{"foreign database", func(t *testing.T, dir string) {
			s := open(t, dir)
			if _, err := s.db.Exec("PRAGMA application_id = 5"); err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
		}, ErrForeign},
		{"not a database", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, File), []byte(strings.Repeat("no database at all ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, ErrForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			before, err := os.ReadFile(filepath.Join(dir, File))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir); !errors.Is(err, c.want) {
				t.Errorf("opened: %v", err)
			}
			after, err := os.ReadFile(filepath.Join(dir, File))
			if err != nil || string(before) != string(after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func TestFileIsPrivate(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "new", "state"))
	info, err := os.Stat(s.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestStoreIsAMap(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir())
	model := map[Key]string{}
	rapid.Check(t, func(t *rapid.T) {
		k := Key{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "kind"), rapid.SampledFrom([]string{"", "1", "'; --", "ünï"}).Draw(t, "id")}
		if rapid.Bool().Draw(t, "delete") {
			if err := s.Delete(ctx, k.Kind, k.ID); err != nil {
				t.Fatal(err)
			}
			delete(model, k)
		} else {
			v := rapid.String().Draw(t, "value")
			if err := s.Save(ctx, k.Kind, k.ID, v); err != nil {
				t.Fatal(err)
			}
			b, _ := json.Marshal(v) // what JSON makes of invalid UTF-8
			_ = json.Unmarshal(b, &v)
			model[k] = v
		}
		for _, kind := range []string{"a", "b"} {
			list, err := s.List(ctx, kind)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for k := range model {
				if k.Kind == kind {
					n++
				}
			}
			if len(list) != n {
				t.Fatalf("%d documents of %s, want %d", len(list), kind, n)
			}
			for _, d := range list {
				var got string
				if err := json.Unmarshal(d.Raw, &got); err != nil || got != model[Key{kind, d.ID}] {
					t.Fatalf("%q holds %q, %v", d.ID, got, err)
				}
			}
		}
	})
}

// TestKilledWhileWriting: a child process writes and says so; it is killed with SIGKILL while it goes on; the last write that it
// acknowledged must be there.
func TestKilledWhileWriting(t *testing.T) {
	if dir := os.Getenv("HELENUS_STORE_TEST_CHILD"); dir != "" {
		writeForEver(dir)
		return
	}
	for round := range 3 {
		dir := t.TempDir()
		child := exec.Command(os.Args[0], "-test.run=^TestKilledWhileWriting$")
		child.Env = append(os.Environ(), "HELENUS_STORE_TEST_CHILD="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		last := -1
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("the child said %q", lines.Text())
			}
			last = n
			if n == 20+17*round {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait() // killed, as it should be
		if last < 20 {
			t.Fatalf("the child ended after %d writes", last)
		}
		s := open(t, dir)
		var n note
		if err := s.Load(context.Background(), "note", "counter", &n); err != nil || n.N < last {
			t.Errorf("write %d was acknowledged, %d is there (%v)", last, n.N, err)
		}
		trail, err := s.Audit(context.Background(), AuditQuery{Limit: 1})
		if err != nil || len(trail) != 1 || trail[0].Seq != int64(n.N+1) || trail[0].Target != strconv.Itoa(n.N) {
			t.Errorf("the trail ends with %v after %d writes: a transaction was torn (%v)", trail, n.N+1, err)
		}
	}
}

func writeForEver(dir string) {
	s, err := Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		d, _ := NewDocument("note", "counter", note{strings.Repeat("x", 1000), i})
		if err := s.Commit(context.Background(), Change{Save: []Document{d}, Audit: []Entry{{Target: strconv.Itoa(i)}}}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

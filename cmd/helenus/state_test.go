package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/proxy/proxytest"
)

// page is what the admin address answers to a GET without a token.
func (p *process) page(path string) string {
	p.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+p.admin+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = a.Body.Close() }()
	text, _ := io.ReadAll(a.Body)
	return string(text)
}

// TestDamagedStateForwards is case 25: a process whose state is damaged forwards, and says loudly what it does not know.
func TestDamagedStateForwards(t *testing.T) {
	m := startMock(t, proxytest.Default)
	save := func(t *testing.T, dir string, v any) []byte {
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Save(context.Background(), change.Kind, "r-1", v); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, store.File)) //nolint:gosec // of the test
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write := func(t *testing.T, path string, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(t *testing.T, path string){
		"truncated": func(t *testing.T, path string) { write(t, path, save(t, filepath.Dir(path), "one")[:5000]) },
		"flipped": func(t *testing.T, path string) {
			write(t, path, bytes.ReplaceAll(save(t, filepath.Dir(path), "one"), []byte(`"one"`), []byte(`"two"`)))
		},
		"a directory": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"sound, but not understood": func(t *testing.T, path string) { save(t, filepath.Dir(path), "a text is no change") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, m.Addr)
			damage(t, filepath.Join(p.state, store.File))
			p.start()
			await(t, "it forwards", p.serves)
			var readyz string
			await(t, "it says so", func() bool { readyz = p.page("/readyz"); return strings.Contains(readyz, "was set aside") })
			if !strings.Contains(p.page("/metrics"), "helenus_state_damaged 1") {
				t.Error("the metric does not say so")
			}
			if log := p.output.String(); !strings.Contains(log, "level=ERROR msg=\"the state is damaged\"") || !strings.Contains(log, "no change is known") {
				t.Error("the log does not say so")
			}
			if n := len(store.Damaged(p.state)); n != 1 {
				t.Errorf("%d states were set aside", n)
			}
			if code := p.stop(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestNoStateDirectoryForwards: not even a place to keep anything is needed.
func TestNoStateDirectoryForwards(t *testing.T) {
	m := startMock(t, proxytest.Default)
	p := newProcess(t, m.Addr)
	file := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.start("--state-dir", file)
	await(t, "it forwards", p.serves)
	await(t, "it says so", func() bool { return strings.Contains(p.page("/readyz"), "memory only") })
}

// TestStateLostWhileRunning: the process notices with the next thing that it saves, and forwards.
func TestStateLostWhileRunning(t *testing.T) {
	m := startMock(t, proxytest.Default)
	p := newProcess(t, m.Addr)
	p.start()
	await(t, "it forwards", p.serves)
	if err := os.Truncate(filepath.Join(p.state, store.File), 0); err != nil {
		t.Fatal(err)
	}
	var c *admin.Client
	await(t, "the API answers", func() bool { c = p.client(); return c.Get(context.Background(), "bypass", new(any)) == nil })
	if err := c.Post(context.Background(), "bypass/on", admin.Decision{Actor: "ann"}, new(any)); err != nil {
		t.Errorf("an order that is saved after the loss: %v", err)
	}
	if !strings.Contains(p.page("/readyz"), "was set aside") || !p.serves() {
		t.Errorf("readyz: %s", p.page("/readyz"))
	}
	p.kill()
	p.start()
	await(t, "the order holds after a restart", func() bool { return strings.Contains(p.page("/readyz"), "bypassed by ann") })
}

// TestLeftBehind: a process that begins in a keyspace does not forget what was decided in the file that lies in its directory.
func TestLeftBehind(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		state    change.State
		moved    bool
		want     string
		unlocked bool
	}{
		"a change serves":       {change.Serving, false, "holds 1 change that would be forgotten", true},
		"the process runs":      {change.Serving, false, "a process with state sqlite runs there", false},
		"it was moved":          {change.Serving, true, "", true},
		"it was only advised":   {change.Proposed, false, "", true},
		"its table was dropped": {change.Dropped, false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := leftBehind(ctx, dir); err != nil {
				t.Errorf("an empty directory: %v", err)
			}
			s, err := store.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }() // a second time in most cases
			if err := s.Save(ctx, change.Kind, "r-1", change.Record{ID: "r-1", Form: change.Form, State: c.state}); err != nil {
				t.Fatal(err)
			}
			if c.moved {
				if err := s.Save(ctx, store.KindMoved, store.KindMoved, store.Moved{To: "keyspace helenus"}); err != nil {
					t.Fatal(err)
				}
			}
			if c.unlocked {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := leftBehind(ctx, dir); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, should say %q", err, c.want)
			}
		})
	}
}

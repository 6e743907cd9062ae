package contexts_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/internal/contexts"
)

func load(t *testing.T, path string) *contexts.File {
	t.Helper()
	f, err := contexts.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestContextsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "helenus", "contexts.yaml")
	f := load(t, path)
	if len(f.Contexts) != 0 || f.Current != "" {
		t.Fatalf("a file that is not there: %+v", f)
	}
	for _, c := range []contexts.Context{{Name: "prod", Server: "https://h:19080", Token: "secret: #1", CA: "/ca.pem"}, {Name: "dev", Server: "localhost:19080"}} {
		if err := f.Add(c, false); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	f = load(t, path)
	if !slices.Equal(f.Names(), []string{"dev", "prod"}) || f.Current != "prod" {
		t.Errorf("%v, current %q", f.Names(), f.Current)
	}
	if c, err := f.Get("prod"); err != nil || c.Token != "secret: #1" || c.CA != "/ca.pem" {
		t.Errorf("%+v, %v", c, err)
	}
	if err := f.Add(contexts.Context{Name: "dev", Server: "other:1"}, false); !errors.Is(err, contexts.ErrTaken) {
		t.Errorf("added twice: %v", err)
	}
	if err := f.Add(contexts.Context{Name: "dev", Server: "other:1"}, true); err != nil || len(f.Contexts) != 2 {
		t.Errorf("replaced: %v, %v", err, f.Names())
	}
	if err := f.Add(contexts.Context{Name: "../x"}, false); err == nil || !strings.Contains(err.Error(), "letters") {
		t.Errorf("a name that is none: %v", err)
	}
	if err := f.Use("dev"); err != nil || load(t, path).Current != "dev" {
		t.Errorf("use: %v", err)
	}
	if err := f.Use("none"); !errors.Is(err, contexts.ErrUnknown) {
		t.Errorf("use of what is not there: %v", err)
	}
	if err := f.Remove("dev"); err != nil || load(t, path).Current != "" || len(load(t, path).Contexts) != 1 {
		t.Errorf("remove: %v", err)
	}
	if err := f.Remove("dev"); !errors.Is(err, contexts.ErrUnknown) {
		t.Errorf("removed twice: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

func TestAFileThatOthersMayReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "contexts.yaml")
	if err := os.WriteFile(path, []byte("contexts: []\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := contexts.Load(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("contexts:\n- name: a\n  sever: b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := contexts.Load(path); err == nil || !strings.Contains(err.Error(), "sever") {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestTheTokenOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := contexts.Context{Name: "a", TokenFile: file}
	if text, err := c.Secret(); err != nil || text != "abc" {
		t.Errorf("%q, %v", text, err)
	}
	c.TokenFile += ".gone"
	if _, err := c.Secret(); err == nil || !strings.Contains(err.Error(), "context a") {
		t.Errorf("%v", err)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/admin"
)

// TestHistoryIsCarried: what one process has counted is exported to a file, and imported to another's history while that runs: twice, and after a
// file that was cut off, each count is there once; by standard output and input as well.
func TestHistoryIsCarried(t *testing.T) {
	here, there := newPast(t, t.TempDir()), newPast(t, t.TempDir())
	here.live(1)
	there.live(2)
	defer here.end()
	defer there.end()
	calls := func(p *past) (n uint64) {
		text, err, code := executed(t, "tables", "--server", p.serve(), "--token", "secret", "--since", "100000h", "--json")
		var a admin.TablesAnswer
		if bad := json.Unmarshal([]byte(text), &a); code != 0 || bad != nil {
			t.Fatalf("%d %v %v", code, err, bad)
		}
		for i := range a.Tables {
			n += a.Tables[i].Reads + a.Tables[i].Writes
		}
		return n
	}
	mine, theirs := calls(here), calls(there)
	if mine == 0 || theirs <= mine {
		t.Fatalf("%d and %d were counted", mine, theirs)
	}

	file := filepath.Join(t.TempDir(), "history.jsonl")
	if _, err, code := executed(t, "history", "export", file, "--state-dir", there.dir); code != 0 {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file) //nolint:gosec // the test's own
	if info, failed := os.Stat(file); err != nil || failed != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v, %v", err, failed, info.Mode())
	}
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"cut off", whole[:len(whole)/2], "was cut off"},
		{"another kind", []byte("model:\n  entities: []\n"), "line 1 does not begin a history as `helenus history export` writes it"},
		{"newer", bytes.Replace(whole, []byte(`"version":1}`), []byte(`"version":7}`), 1), "of version 7; this program knows 1"},
		{"empty", nil, "there is nothing to import"},
	} {
		if err := os.WriteFile(bad, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err, code := executed(t, "history", "import", bad, "--state-dir", here.dir)
		if code != exitUsage || !strings.Contains(fmt.Sprint(err), c.want) || !strings.HasPrefix(fmt.Sprint(err), bad+": line ") {
			t.Errorf("%s: %d, %v", c.name, code, err)
		}
		if said := strings.Contains(fmt.Sprint(err), "import the whole file again"); said != (c.name == "cut off") || !said && !strings.Contains(fmt.Sprint(err), "nothing was imported") {
			t.Errorf("%s: it does not say what was imported: %v", c.name, err)
		}
	}
	for range 2 {
		if _, err, code := executed(t, "history", "import", file, "--state-dir", here.dir); code != 0 {
			t.Fatal(err)
		}
		if n := calls(here); n != mine+theirs {
			t.Errorf("%d are there, not %d and %d", n, mine, theirs)
		}
	}

	p := &process{state: there.dir}
	if code, out := command(t, p, "history", "export", "-"); code != 0 || strings.TrimSuffix(out, out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]) != string(whole) {
		t.Errorf("exported to standard output: %d, %d bytes, and %d to a file", code, len(out), len(whole))
	}
	if _, err, code := executed(t, "history", "export", filepath.Join(bad, "x"), "--state-dir", there.dir); code != exitUsage {
		t.Errorf("exported to a file in a file: %d %v", code, err)
	}
	empty := t.TempDir()
	if _, err, code := executed(t, "history", "export", "--state-dir", empty); code != exitUsage || !strings.Contains(fmt.Sprint(err), "there is no history in "+empty) {
		t.Errorf("exported where there is none: %d %v", code, err)
	}
	if _, err := os.Stat(filepath.Join(empty, store.WindowsFile)); err == nil {
		t.Error("exporting has made a history")
	}
}

// TestJSONIsChosenToo: what flags choose of a list is chosen of its JSON, too.
func TestJSONIsChosenToo(t *testing.T) {
	p := newPast(t, t.TempDir())
	p.live(1)
	defer p.end()
	address := p.serve()
	var all, one, none admin.TablesAnswer
	for only, into := range map[string]*admin.TablesAnswer{"": &all, "guests": &one, "nowhere": &none} {
		text, err, code := executed(t, "tables", "--server", address, "--token", "secret", "--table", only, "--json")
		if bad := json.Unmarshal([]byte(text), into); code != 0 || bad != nil {
			t.Fatalf("%d %v %v", code, err, bad)
		}
	}
	name := func(x []report.Table) (list []string) {
		for i := range x {
			list = append(list, x[i].Name)
		}
		return list
	}
	if len(all.Tables) < 3 || fmt.Sprint(name(one.Tables)) != "[guests]" || len(none.Tables) != 0 {
		t.Errorf("%v, %v, %v", name(all.Tables), name(one.Tables), name(none.Tables))
	}
}

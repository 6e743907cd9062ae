package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/capture/schema"
)

// TestWrongInputSaysWhatToDo: what an operator types wrong is answered at once, with the exit code of its kind, and with what would be right.
func TestWrongInputSaysWhatToDo(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	empty, web := t.TempDir(), filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(web, []byte("admin-web-config: nowhere.yml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hotel := "../../examples/designs/hotel.yaml"
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"config check --config " + web, exitUsage, "setting admin-web-config: "},
		{"context add p --server 127.0.0.1:1 --token-file nowhere", exitUsage, "--token-file: "},
		{"state move --to cassandra --state-dir " + empty, exitNotFound, "name its directory with --state-dir"},
		{"state move --to sqlite --contact-points 127.0.0.1:1 --state-dir " + empty, exitUnreachable, "no node of 127.0.0.1:1 can be reached"},
		{"design " + hotel + " --compare nowhere", exitUsage, "--compare: "},
		{"design " + hotel + " --time-limit 5", exitUsage, "such as 10s, 90m or 30d"},
		{"safety " + hotel + " --group x", exitUsage, "there are partition, row, cell"},
		{"cdc-agent --dir nowhere --node 127.0.0.1 --server 127.0.0.1:1 --token x --once", exitUsage, "nowhere"},
	} {
		out, err := said(strings.Fields(c.args)...)
		if exitCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: code %d, not %d: %v", c.args, exitCode(err), c.code, err)
		}
		if out != "" {
			t.Errorf("%s: it printed %s", c.args, out)
		}
	}
}

// TestWhyIsSaidAlike: a reason is --why at every command that takes one, and --reason as it was before.
func TestWhyIsSaidAlike(t *testing.T) {
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		why, reason := c.Flags().Lookup("why"), c.Flags().Lookup("reason")
		if (why == nil) != (reason == nil) {
			t.Errorf("%s has --why: %t, --reason: %t", c.CommandPath(), why != nil, reason != nil)
		}
		for _, below := range c.Commands() {
			look(below)
		}
	}
	look(root())
}

// TestSilencedMemberDoesNotRun: a member that died and was silenced just now is not one to be stopped.
func TestSilencedMemberDoesNotRun(t *testing.T) {
	one, two := json.RawMessage(`{"counter":1}`), json.RawMessage(`{"counter":2}`)
	for _, c := range []struct {
		before, after json.RawMessage
		runs          bool
	}{{one, two, true}, {nil, one, true}, {one, one, false}, {one, nil, false}, {nil, nil, false}} {
		if beats(c.before, c.after) != c.runs {
			t.Errorf("%s, then %s: runs %t", c.before, c.after, !c.runs)
		}
	}
}

// TestKeyspacesThatAreNotThere: one that is mistyped would have no advice for ever, without a word.
func TestKeyspacesThatAreNotThere(t *testing.T) {
	s := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "shop"}}}
	if got := absent(s, []string{"shop", "shp"}); !slices.Equal(got, []string{"shp"}) {
		t.Errorf("%q", got)
	}
	if got := absent(s, nil); got != nil {
		t.Errorf("all: %q", got)
	}
}

func TestSpansTakeDays(t *testing.T) {
	var s span
	if err := s.Set("30d"); err != nil || time.Duration(s) != 720*time.Hour {
		t.Errorf("%v, %v", time.Duration(s), err)
	}
	for _, bad := range []string{"5", "-1h", "soon", ""} {
		if err := s.Set(bad); err == nil || errors.Is(err, errInterrupted) {
			t.Errorf("%q is taken", bad)
		}
	}
	if text := knownPeriod(time.Time{}, time.Time{}); !strings.Contains(text, "nothing is known") {
		t.Error(text)
	}
}

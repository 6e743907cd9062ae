package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// referenceRoot is all commands as they are documented: whatever the environment of whoever writes the pages.
func referenceRoot(t *testing.T) *cobra.Command {
	for _, name := range []string{envServer, envContext, envState, "HELENUS_SERVER_CA", "HELENUS_SERVER_CERT", "HELENUS_SERVER_KEY", "HELENUS_SOLVER"} {
		if _, set := os.LookupEnv(name); set {
			t.Setenv(name, "")
			_ = os.Unsetenv(name)
		}
	}
	c := root()
	c.Version = "" // of the pages, not of who wrote them
	c.InitDefaultHelpCmd()
	c.InitDefaultCompletionCmd()
	c.DisableAutoGenTag = true
	return c
}

// markdown is docs/cli.md.
func markdown(c *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# The command line

Every command, in the order of the alphabet, as ` + "`helenus COMMAND --help`" + ` and ` + "`man helenus-COMMAND`" + ` have it. This page and docs/man are written from the program: ` + "`go generate ./cmd/helenus`" + `.

## What all have in common

**Where to.** Commands ask the running process: the one whose ` + "`--state-dir`" + ` is named, on the same machine; the one at ` + "`--server`" + ` (host:port, or https://host:port); or that of a context.
` + "`helenus context add prod --server https://... --token-file FILE`" + ` keeps a server, your token and its certificates in a file of your own (mode 0600); the one in use is asked unless a flag or a
variable (HELENUS_ADMIN, HELENUS_STATE_DIR) says where else. A context is used whole: its token is shown to no other server.

**Forms.** ` + "`-o table`" + ` is for people, ` + "`wide`" + ` has all columns and cuts nothing, ` + "`json`" + ` and ` + "`yaml`" + ` are what the API answers, for programs; ` + "`--json`" + ` is short for ` + "`-o json`" + `.
What goes wrong is said in words on standard error, in every form, and what kind of thing it is by the exit code; standard output has a whole document or none.

**Orders.** ` + "`--dry-run`" + ` says what an order would do, with the numbers that the console shows beside its button, and does nothing. What drops a table asks, at a terminal, to type its name; elsewhere it needs ` + "`--yes`" + `.

**Gains** are time of cluster work that is saved each second, with the share of what the reads in question cost.

**Completion.** ` + "`helenus completion bash|zsh|fish`" + ` prints what makes the shell complete commands, flags, their values, and the ids of changes, which it asks the process for; the packages install it.

## Exit codes

Each has one meaning, whatever the command.

| code | meaning |
| --- | --- |
`)
	for _, e := range exits {
		fmt.Fprintf(&b, "| %d | %s |\n", e.code, e.meaning)
	}
	b.WriteString("\n## Commands\n")
	each(c, func(path string, c *cobra.Command) {
		if path == "help" || strings.HasPrefix(path, "completion ") {
			return
		}
		fmt.Fprintf(&b, "\n### helenus %s\n\n%s.\n\n```\n%s\n```\n", path, strings.TrimSuffix(c.Short, "."), c.UseLine())
		if c.Long != "" {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", strings.TrimSpace(c.Long))
		}
		rows := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if rows++; rows == 1 {
				b.WriteString("\n| flag | default | what it does |\n| --- | --- | --- |\n")
			}
			name := "`--" + f.Name + "`"
			if f.Shorthand != "" {
				name = "`-" + f.Shorthand + "`, " + name
			}
			def := f.DefValue
			if def != "" && def != "false" && def != "[]" {
				def = "`" + def + "`"
			} else {
				def = ""
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, def, strings.ReplaceAll(strings.ReplaceAll(f.Usage, "|", "\\|"), "`", "'"))
		})
	})
	return b.String()
}

// manuals are the man pages, by file.
func manuals(t *testing.T, c *cobra.Command) map[string]string {
	pages := map[string]string{}
	page := func(c *cobra.Command) {
		var b bytes.Buffer
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		if err := doc.GenMan(c, &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &time.Time{}, Source: "Helenus", Manual: "Helenus"}, &b); err != nil {
			t.Fatal(err)
		}
		pages[name+".1"] = strings.Replace(b.String(), `"Jan 0001"`, `""`, 1) // a page has no date that would have to be kept
	}
	page(c)
	each(c, func(path string, c *cobra.Command) {
		if path != "help" {
			page(c)
		}
	})
	return pages
}

// TestReference holds docs/cli.md and docs/man to the commands; -update writes them.
func TestReference(t *testing.T) {
	const page, dir = "../../docs/cli.md", "../../docs/man"
	want := map[string]string{page: markdown(referenceRoot(t))}
	for name, text := range manuals(t, referenceRoot(t)) {
		want[filepath.Join(dir, name)] = text
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // of the sources
			t.Fatal(err)
		}
		for _, file := range there {
			if _, kept := want[file]; !kept {
				_ = os.Remove(file)
			}
		}
		for file, text := range want {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // of the sources
				t.Fatal(err)
			}
		}
		return
	}
	for file, text := range want {
		have, err := os.ReadFile(file)
		if diff := cmp.Diff(string(have), text); err != nil || diff != "" {
			t.Errorf("%s is not as the program has it (go generate ./cmd/helenus): %v\n%.2000s", file, err, diff)
		}
	}
	for _, file := range there {
		if _, known := want[file]; !known {
			t.Errorf("%s is of no command (go generate ./cmd/helenus)", file)
		}
	}
}

// TestEveryCommandSaysWhatItIs: help is all that many people read.
func TestEveryCommandSaysWhatItIs(t *testing.T) {
	each(referenceRoot(t), func(path string, c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s has no line of its own", path)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s does not say what it does", path, f.Name)
			}
		})
		if c.Flags().Lookup("server") != nil && c.Flags().Lookup("output") == nil && !slices.Contains([]string{"capture record", "cdc-agent", "diagram", "context add", "model export"}, path) {
			t.Errorf("%s asks a process, and has no -o", path)
		}
	})
}

func TestVersion(t *testing.T) {
	t.Cleanup(func() { version, revision = "", "" })
	for _, args := range [][]string{{"--version"}, {"version"}} {
		version, revision = "", ""
		if out, err := said(args...); err != nil || !strings.HasPrefix(out, "helenus devel") {
			t.Errorf("built without a version, %v: %v %q", args, err, out)
		}
		version, revision = "1.2.3", "abc"
		if out, err := said(args...); err != nil || !strings.HasPrefix(out, "helenus 1.2.3 (abc) go1.") || strings.Count(out, "\n") != 1 {
			t.Errorf("%v: %v %q", args, err, out)
		}
	}
	if out, err := said("version", "--json"); err != nil || !strings.Contains(out, `"version": "1.2.3"`) || !strings.Contains(out, `"revision": "abc"`) || !strings.Contains(out, `"go": "go1.`) {
		t.Errorf("%v %s", err, out)
	}
}

package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write golden files")

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestDefaultsAreValid(t *testing.T) {
	if err := Defaults().Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestEverySettingIsDocumentedAndReadsBack(t *testing.T) {
	for _, one := range All() {
		if one.Name == "" || one.Help == "" {
			t.Errorf("setting %d lacks a name or a help text", one.index)
		}
		s := Defaults()
		v := s.value(one)
		if err := v.Set(v.String()); err != nil {
			t.Errorf("%s: %v", one.Name, err)
		}
		if !reflect.DeepEqual(s, Defaults()) {
			t.Errorf("%s: its own text changes it", one.Name)
		}
	}
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "helenus.yaml")
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:1\nadmin: 127.0.0.1:1\nstate-dir: from-file\ncontact-points: [a:1, b:2]\nsettle: 2s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings := Flags(flags)
	if err := flags.Parse([]string{"--listen", "127.0.0.1:3", "--pprof"}); err != nil {
		t.Fatal(err)
	}
	s, err := settings(file, environment("HELENUS_LISTEN", "127.0.0.1:2", "HELENUS_ADMIN", "127.0.0.1:2"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != "127.0.0.1:3" || s.Admin != "127.0.0.1:2" || s.StateDir != "from-file" || s.Topology != "mirror" || !s.Pprof ||
		s.Settle != 2*time.Second || !reflect.DeepEqual(s.ContactPoints, []string{"a:1", "b:2"}) {
		t.Fatalf("%+v", s)
	}
}

func TestBadInputSaysWhere(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":   {"listen: 127.0.0.1:1\ncontact-point: x:1\n", `helenus.yaml:2:1: unknown key "contact-point"; the nearest known key is "contact-points"`},
		"key of no kin": {"upstreem: a:1\n", "unknown key \"upstreem\"; `helenus run --help` names all"},
		"three faults":  {"contact-points: a:1\nshadow-for: 10 parsecs\nlisten: [\"\"]\nworkers: many\n", `helenus.yaml:2:1: shadow-for: "10 parsecs"`},
		"and the last":  {"contact-points: a:1\nshadow-for: 10 parsecs\nlisten: [\"\"]\nworkers: many\n", `helenus.yaml:4:1: workers: "many"`},
		"key twice":     {"listen: a:1\nlisten: b:1\n", `listen`},
		"not a number":  {"workers: many\n", `helenus.yaml:1:1: workers: "many" is not a whole number`},
		"not a bool":    {"pprof: perhaps\n", `"perhaps" is neither true nor false`},
		"not a time":    {"settle: 5\n", `"5" is not a duration`},
		"nested":        {"listen: {a: b}\n", `helenus.yaml:1:1: listen: expected a value`},
		"a list":        {"- a\n", `helenus.yaml:1:1: expected`},
		"broken YAML":   {"password: hunter2\nlisten: [a\n", `helenus.yaml:2:9: sequence end token`},
		"a tab":         {"password: hunter2\ncontact-points:\n\t- a\n", `helenus.yaml:3:1: found character`},
		"not host:port": {"listen: nowhere\n", `setting listen: "nowhere" is not host:port`},
		"same port":     {"listen: a:1\nadmin: a:1\n", `setting admin: is "a:1", and so is listen`},
		"fleet's port":  {"topology: fleet\nfleet: [a]\n", `setting fleet: "a" is not host:port`},
		"member twice":  {"topology: fleet\nfleet: [a:1, b:1, a:1]\n", `setting fleet: names a:1 twice`},
		"no fleet":      {"fleet: [a:1]\n", `setting fleet: has no effect unless topology is fleet`},
		"enumeration":   {"topology: ring\n", `setting topology: is "ring"; it may be mirror, single`},
		"no key":        {"listen-tls-cert: a.pem\n", `setting listen-tls-key: is empty, but listen-tls-cert is set`},
		"no cert":       {"cassandra-tls: true\ncassandra-tls-key: a.key\n", `setting cassandra-tls-cert: is empty, but cassandra-tls-key is set`},
		"CA alone":      {"listen-tls-client-ca: ca.pem\n", `setting listen-tls-client-ca: asks clients for certificates`},
		"no TLS":        {"cassandra-tls-ca: ca.pem\n", `setting cassandra-tls-ca: has no effect unless cassandra-tls is true`},
		"no TLS either": {"cassandra-tls-verify: none\n", `setting cassandra-tls-verify: has no effect`},
		"old TLS":       {"listen-tls-min: \"1.1\"\n", `setting listen-tls-min: is "1.1"; it may be 1.2, 1.3`},
		"a number":      {"listen-tls-min: 1.3\nlisten-tls-cert: a\n", `listen-tls-key: is empty`},
		"verify":        {"cassandra-tls: true\ncassandra-tls-verify: some\n", `it may be full, chain, none`},
		"zone":          {"cycle-zone: Mars/Olympus\n", `setting cycle-zone: is "Mars/Olympus"; it may be UTC`},
		"a long lease":  {"serving-lease: 2h\n", `setting serving-lease: is 2h0m0s; an application's write may have to wait as long, so it may be 1m0s at most`},
		"zero":          {"workers: 0\n", `setting workers: is 0; it must be above 0`},
	} {
		t.Run(name, func(t *testing.T) {
			s := Defaults()
			err := s.read("helenus.yaml", []byte(c.text))
			if err == nil {
				err = s.Validate()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v: a password is shown", err)
			}
		})
	}
}

func TestEmptyFileIsFine(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		s := Defaults()
		if err := s.read("f", []byte(text)); err != nil || !reflect.DeepEqual(s, Defaults()) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("listen: a:1\n")
	f.Add("contact-points: [a, {b: c}]\n? x\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_ = Defaults().read("f", []byte(text)) // errors, never panics
	})
}

// TestDocumentation keeps docs/configuration.md what the struct says. Run with -update to write it.
func TestDocumentation(t *testing.T) {
	const path = "../../docs/configuration.md"
	want := Markdown()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Fatal("docs/configuration.md is not what config.Markdown writes; run: go test ./internal/config -update")
	}
}

func TestYAMLShowsNoSecret(t *testing.T) {
	s := Defaults()
	s.Password, s.AdminToken, s.SampleSecret = "hush-1", "hush-2", "hush-3"
	text := s.YAML()
	if strings.Contains(text, "hush") || strings.Count(text, "is set, and not shown") != 3 {
		t.Errorf("secrets are shown, or not said to be set:\n%s", text)
	}
}

func TestYAMLReadsBack(t *testing.T) {
	want := Defaults()
	want.ContactPoints = []string{"[::1]:9042", "10.0.0.2:9042"}
	want.Workers = 7
	got := Defaults()
	if err := got.read("f", []byte(want.YAML())); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v\n%s", err, want.YAML())
	}
}

// Markdown is docs/configuration.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Configuration

Every setting of ` + "`helenus run`" + ` is a flag, an environment variable and a YAML key. A flag beats the environment, which beats
the file (` + "`--config helenus.yaml`" + `), which beats the default. ` + "`helenus config check --config helenus.yaml`" + ` reads them all,
says what is wrong and where, and prints what is in force. This page is written from the program (` + "`internal/config`" + `).

| flag and YAML key | environment | type | default | what it does |
| --- | --- | --- | --- | --- |
`)
	for _, one := range All() {
		def := one.Default
		if def == "" {
			def = "(empty)"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | `%s` | %s |\n", one.Name, one.Env, one.Type, def, one.Help)
	}
	return b.String()
}

// TestContactPointsWithoutPort: people write them as drivers take them.
func TestContactPointsWithoutPort(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings := Flags(flags)
	if err := flags.Parse([]string{"--contact-points", "10.0.0.1, node-2,10.0.0.3:9043,::1,[::1]:9043"}); err != nil {
		t.Fatal(err)
	}
	s, err := settings("", environment())
	want := []string{"10.0.0.1:9042", "node-2:9042", "10.0.0.3:9043", "[::1]:9042", "[::1]:9043"}
	if err != nil || !reflect.DeepEqual(s.ContactPoints, want) {
		t.Fatalf("%q, %v", s.ContactPoints, err)
	}
	if _, err := settings("", environment("HELENUS_FLEET", "x:1")); err == nil || !strings.Contains(err.Error(), "setting fleet") {
		t.Errorf("the environment's settings are not checked: %v", err)
	}
	for _, bad := range []string{"", "a b", "node:", "[::1]", "cassandra://node"} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		settings := Flags(flags)
		_ = flags.Parse([]string{"--contact-points", bad})
		if s, err := settings("", environment()); err == nil {
			t.Errorf("%q is taken as %q", bad, s.ContactPoints)
		}
	}
}

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// TestExample holds the file that packages install to the settings; -update writes it.
func TestExample(t *testing.T) {
	const file = "../packaging/files/helenus.yaml"
	if *update {
		if err := os.WriteFile(file, []byte(exampleFile()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if diff := cmp.Diff(string(have), exampleFile()); err != nil || diff != "" {
		t.Errorf("%s is not as the settings have it (go test ./internal/config -update): %v\n%.2000s", file, err, diff)
	}
	s, err := Load(file)
	if err != nil || s.StateDir != "/var/lib/helenus" {
		t.Fatalf("%v, state-dir %q", err, s.StateDir)
	}
	// Whoever takes the # away from all lines has the defaults.
	all := filepath.Join(t.TempDir(), "all.yaml")
	var lines []string
	for line := range strings.Lines(exampleFile()) {
		if key := strings.TrimPrefix(line, "#"); key != line && !strings.HasPrefix(key, " ") {
			line = key
		}
		lines = append(lines, line)
	}
	if err := os.WriteFile(all, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load(all)
	want := Defaults()
	want.StateDir = "/var/lib/helenus"
	if err != nil || got.YAML() != want.YAML() {
		t.Errorf("%v\n%s", err, cmp.Diff(want.YAML(), got.YAML()))
	}
}

// Load is Flags for callers without flags: the file (or "") and the environment.
func Load(file string) (*Settings, error) {
	return Flags(pflag.NewFlagSet("", pflag.ContinueOnError))(file, os.LookupEnv)
}

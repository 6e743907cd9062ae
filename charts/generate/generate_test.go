package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/internal/config"
)

// What is committed is what the program writes, and nothing else lies beside it.
func TestRegenerationChangesNothing(t *testing.T) {
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for name, text := range files {
		name = filepath.Join("..", name)
		want[name] = true
		if got, err := os.ReadFile(name); err != nil || string(got) != string(text) {
			t.Errorf("%s is not what charts/generate writes (%v); run: go generate ./charts", name, err)
		}
	}
	for _, folder := range []string{"../dashboards", "../rules", "../../docs/runbooks"} {
		there, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil || len(there) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(there), err)
		}
		for _, name := range there {
			if !want[name] {
				t.Errorf("%s is not written by charts/generate: remove it", name)
			}
		}
	}
}

// Two runs write the same: nothing depends on the order of a map.
func TestGenerationIsDeterministic(t *testing.T) {
	first, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	again, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name := range first {
		if string(first[name]) != string(again[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// A value without a comment, or one whose form nobody says, is no value of the chart.
func TestValuesMustBeDescribed(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n":                         "a has no comment",
		"# Some.\na: {}\n":               "additionalProperties",
		"# Some.\na: []\n":               "items",
		"# Some.\n# @schema {x}\na: 1\n": "@schema",
		"a:\n  b: 1\n":                   "a.b has no comment",
		"a: [\n":                         "values.yaml",
	} {
		if _, err := readValues([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want it to say %q", text, err, want)
		}
	}
	all, err := readValues([]byte("# Of the file.\n\n# One.\na: 1\ngroup:\n  # Two,\n  # and more.\n  # @schema {\"items\": {}}\n  b:\n    - c: 1\n      d: 2\n"))
	if err != nil || len(all) != 2 || all[1].help != "Two, and more." || strings.Join(all[1].path, ".") != "group.b" {
		t.Errorf("%+v, %v", all, err)
	}
}

// What the chart sets itself are settings that there are; one that was renamed would come back as a value.
func TestOwnedSettingsExist(t *testing.T) {
	known := map[string]bool{}
	for _, s := range config.All() {
		known[s.Name] = true
	}
	for _, name := range owned {
		if !known[name] {
			t.Errorf("there is no setting %s", name)
		}
	}
}

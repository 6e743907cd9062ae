package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What is committed is what the program writes, and nothing else lies beside it.
func TestRegenerationChangesNothing(t *testing.T) {
	files, err := generate()
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
	first, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	again, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name := range first {
		if string(first[name]) != string(again[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

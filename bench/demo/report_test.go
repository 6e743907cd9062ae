package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Scans that Cassandra gave up are told apart from faults of ours.
func TestFaults(t *testing.T) {
	for text, want := range map[string]int{
		`{"errors": 3, "operations": [{"name": "guest-reservations", "errors": 3}], "complaints": [{"message": "Operation failed - received 0 responses and 1 failures: UNKNOWN from /127.0.0.1:1", "count": 3}]}`: 0,
		`{"errors": 3, "operations": [{"name": "guest-reservations", "errors": 2}, {"name": "book", "errors": 1}], "complaints": [{"message": "Operation timed out - received only 0 responses.", "count": 3}]}`:   1,
		`{"errors": 1, "operations": [{"name": "guest-reservations", "errors": 1}], "complaints": [{"message": "helenus: something", "count": 1}]}`:                                                                1,
		`{"errors": 0}`: 0,
	} {
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := readReport(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.faults(); got != want {
			t.Errorf("%s: %d faults, want %d", text, got, want)
		}
	}
}

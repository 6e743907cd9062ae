package main

import (
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestShadowSaysWhatItWaitsFor: comparing goes by what the application reads, which may be little: who approves is told at once how much of how much there is, and
// when it serves at the latest.
func TestShadowSaysWhatItWaitsFor(t *testing.T) {
	m := migrate.Change{ID: "r-1", State: migrate.Shadow, Progress: migrate.Progress{Done: 41, Total: 10000, Unit: "reads compared", Ratio: 0.0041, ETA: 23*time.Hour + 50*time.Minute}}
	line := progressOf(&m)
	if got, want := line.text(&m), "  0 %  41 of 10,000 reads compared  about 23h50m0s to go"; line == (progressLine{}) || got != want {
		t.Errorf("followed: %q, want %q", got, want)
	}
	var b strings.Builder
	if err := printMigration(&b, &m); err != nil || !strings.Contains(b.String(), "progress: 0 %, 41 of 10,000 reads compared, about 24 h to go\n") {
		t.Errorf("shown: %v\n%s", err, b.String())
	}
	m.State = migrate.Backfill
	if line := progressOf(&m); line != (progressLine{}) {
		t.Errorf("what is filled says so by tenths: %+v", line)
	}
	m.State = migrate.Serving
	b.Reset()
	if err := printMigration(&b, &m); err != nil || strings.Contains(b.String(), "progress") {
		t.Errorf("what serves has no progress: %v\n%s", err, b.String())
	}
}

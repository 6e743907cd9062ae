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

// What the change makes slower is told from what the machine does, which hits the control as well.
func TestSlower(t *testing.T) {
	run := func(through, control float64) abreast {
		of := func(p50 float64) *report {
			return &report{Statements: []figures{{Name: "arrivals-of-room", P50: p50}}}
		}
		odd := round{through: of(9 * through), control: of(control)} // in which the machine was not fair
		one := round{through: of(through), control: of(control)}
		return abreast{one, odd, one}
	}
	for name, c := range map[string]struct {
		before, after abreast
		want          bool
	}{
		"as it was":                                   {run(700, 700), run(700, 700), false},
		"the machine is slower":                       {run(700, 700), run(1400, 1400), false},
		"the machine is faster":                       {run(1400, 1400), run(700, 700), false},
		"a little slower":                             {run(700, 700), run(760, 700), false},
		"the control has always been slower":          {run(700, 800), run(700, 800), false},
		"the change is slower":                        {run(700, 700), run(780, 700), true},
		"the change is slower, the machine faster":    {run(1400, 1400), run(780, 700), true},
		"the change is slower, and so is the machine": {run(700, 700), run(1560, 1400), true},
		"it was not asked afterwards":                 {run(700, 700), run(0, 700), true},
		"the control was not asked":                   {run(700, 700), run(700, 0), true},
	} {
		if got := slower(c.before, c.after); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

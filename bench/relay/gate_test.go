package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// TestMain lets the test's own program be the bench's processes.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(serve(role))
	}
	os.Exit(m.Run())
}

func started(t *testing.T) *bench {
	t.Helper()
	b := &bench{turns: 7, scale: 0.25, progress: func(what string) { t.Log("measuring", what) }}
	t.Cleanup(b.stop)
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestForwardingDoesNotAllocate is a gate: less than 0.1 allocations for each request in the whole process that forwards
// it, with a real registry counting, between its value windows.
func TestForwardingDoesNotAllocate(t *testing.T) {
	b := started(t)
	if err := b.warm(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []shape{{4, 8, 16, false, false, nil}, {5, 8, 16, false, false, nil}, {5, 8, 16, false, true, nil}, {4, 8, 8, true, false, nil}} {
		c, err := compare(s, b.turns, b.requests(20_000), b.helenus) // the median leaves out what meets a window
		if err != nil {
			t.Fatal(err)
		}
		each := c.of(0, allocs)
		t.Logf("%+v: %.4f allocations for each request", s, each)
		if each >= 0.1 {
			t.Errorf("%+v: %.3f allocations for each request, 0.1 are allowed", s, each)
		}
	}
	if u, err := b.helenus.process.ask(""); err != nil || u.Requests < 100_000 {
		t.Errorf("Helenus counted %d requests, %v", u.Requests, err)
	}
}

// TestEveryRowCanBeMeasured runs the bench as a person would, in as few rounds as can be, and judges nothing of it but that
// all is there.
func TestEveryRowCanBeMeasured(t *testing.T) {
	b := started(t)
	b.turns, b.scale = 1, 0.02
	var rows []row
	for _, m := range measurements {
		if m.name == "idle" { // needs more file descriptors than every machine allows
			continue
		}
		made, err := m.make(b)
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		rows = append(rows, made...)
	}
	var out bytes.Buffer
	if err := write(&out, rows, true); err != nil {
		t.Fatal(err)
	}
	var again []row
	if err := json.Unmarshal(out.Bytes(), &again); err != nil || len(again) < len(measurements) {
		t.Fatalf("%d rows, %v", len(again), err)
	}
	for _, r := range again {
		// What a relay adds to a latency may come out below nothing on a loaded machine: only that it was measured counts.
		if r.What == "" || r.Splice == 0 && r.Helenus == 0 {
			t.Errorf("%+v", r)
		}
	}
	if err := write(&out, rows, false); err != nil {
		t.Fatal(err)
	}
}

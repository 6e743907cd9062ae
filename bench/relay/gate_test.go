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

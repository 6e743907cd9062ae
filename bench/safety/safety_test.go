package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// TestS23 repeats the experiment on a real Cassandra with few writes: on one partition some of 20 fail at first try (S-24), on
// one for each user none does.
func TestS23(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	folder := t.TempDir()
	s := settings{point: point, out: folder, command: "the test", sizes: []int{20}, writes: 60}
	if err := run(t.Context(), s, t.Logf); err != nil {
		t.Fatal(err)
	}
	session, err := connect(point)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var left string
	rows := session.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter()
	for rows.Scan(&left) {
		if strings.HasPrefix(left, "helenus_safety_") {
			t.Errorf("keyspace %s is left behind", left)
		}
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	r := read(t, folder)
	for _, c := range r.Cells {
		switch {
		case c.Writes != 60:
			t.Errorf("%+v: not 60 writes", c)
		case c.Schema == user && c.Succeeded != c.Writes:
			t.Errorf("%s, one partition for each: %d of %d succeeded: %v", c.Way, c.Succeeded, c.Writes, c.Failures)
		case c.Schema == article && c.Way != "blind" && c.Succeeded == c.Writes:
			t.Errorf("%s, one partition: all succeeded", c.Way)
		case c.Schema == article && c.Way == "optimistic" && c.Succeeded < 3:
			t.Errorf("%d of 3 rounds had a first", c.Succeeded)
		}
	}
}

// TestReport writes what was measured, and what was not when it was stopped.
func TestReport(t *testing.T) {
	r := &result{Command: "make", Started: time.Unix(0, 0).UTC(), Cassandra: "5", Incomplete: "context canceled"}
	for _, size := range []int{20, 100} {
		for _, w := range ways {
			r.cell(w.name, user, size).add([]outcome{{ok: true, took: time.Millisecond}, {ok: true, took: 3 * time.Millisecond}})
			r.cell(w.name, article, size).add([]outcome{{ok: true}, {kind: kindOf(nil)}})
		}
	}
	folder := t.TempDir()
	if err := r.write(folder); err != nil {
		t.Fatal(err)
	}
	again := read(t, folder)
	if c := again.cell("blind", user, 20); c.share() != 1 || c.MeanMs != 2 || again.cell("blind", article, 20).share() != 0.5 {
		t.Errorf("%+v", c)
	}
	var b bytes.Buffer
	if err := r.markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**Incomplete**: context canceled", "| 20 | blind | 50.0 % |", "somebody else was first, 2 of 4 writes"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {5, 10, 0.2366, 0.7634}, {10, 10, 0.7225, 1}} {
		low, high := wilson(c.k, c.n)
		if math.Abs(low-c.low) > 1e-3 || math.Abs(high-c.high) > 1e-3 {
			t.Errorf("%d of %d: %g to %g, want %g to %g", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

func read(t *testing.T, folder string) *result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "safety.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// W-53: at every step the answers of all statements are right, though the tables of each are filled out of those of the step
// before, on a real Cassandra, while the statements run. No keyspace is left behind.
func TestCalendarIsLivedThrough(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	folder := t.TempDir()
	var out bytes.Buffer
	o := options{file: "../../examples/designs/market.yaml", rows: 2000, share: 0.7, seed: 1, measure: 2 * time.Second, limit: time.Minute, checks: 10, exact: true, point: point, out: folder, command: "test"}
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "calendar-market.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	made, filled := 0, 0
	for _, s := range r.Steps {
		if len(s.Wrong) > 0 || s.Answers < 30 || s.Filled == 0 || len(s.Latency) != 1+len(baselines) {
			t.Errorf("step %d: %+v", s.Number, s)
		}
		for _, m := range s.Migrations {
			if made++; m.Rows > 0 && m.Scanned >= m.Rows {
				filled++
			}
		}
	}
	if len(r.Steps) != 4 || made < 2 || filled != made {
		t.Errorf("%d steps, %d tables made, %d filled\n%s", len(r.Steps), made, filled, &out)
	}
	for _, name := range []string{"calendar-market.md", "calendar-market.svg"} {
		if data, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !strings.Contains(string(data), "static average") {
			t.Errorf("%s: %v", name, err)
		}
	}
	session, err := cassandratest.Config(t, point).CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var name string
	for names := session.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter(); names.Scan(&name); {
		if strings.HasPrefix(name, prefix) {
			t.Errorf("%s is left behind", name)
		}
	}
}

// W-5, W-39: with writes going on at all times, beside filling, tables hold what they must when the step comes that they are
// for, and every answer is that of all writes so far.
func TestWritesWhileTablesAreFilled(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	folder := t.TempDir()
	var out bytes.Buffer
	o := options{file: "testdata/market-writes.yaml", rows: 1000, share: 0.75, seed: 1, measure: 4 * time.Second, limit: time.Minute, checks: 10, exact: true, point: point, out: folder, command: "test"}
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "calendar-market-writes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	writes, dual, held, made := 0, 0, 0, 0
	for _, s := range r.Steps {
		writes, dual = writes+s.Writes, dual+s.Dual
		if len(s.Wrong) > 0 || s.Answers < 30 {
			t.Errorf("step %d: %+v", s.Number, s)
		}
		for _, m := range s.Migrations {
			made++
			if held += m.Held; m.Differ > 0 || m.Held == 0 {
				t.Errorf("step %d: %+v", s.Number, m)
			}
		}
	}
	if writes < 20 || dual < 4 || made < 2 || held < 1000 {
		t.Errorf("%d writes, %d beside filling, %d tables made with %d rows\n%s", writes, dual, made, held, &out)
	}
}

func TestBadInput(t *testing.T) {
	for name, o := range map[string]options{
		"no such file": {file: "nowhere.yaml", rows: 10},
		"no rows":      {file: "cycles", files: "../../examples/designs"},
		"space":        {file: "cycles", files: "../../examples/designs", rows: 10, share: -1},
		"parameters":   {file: "cycles", files: "../../examples/designs", rows: 10, parameters: "nowhere.yaml"},
	} {
		var misuse *usageError
		if err := run(t.Context(), o, &bytes.Buffer{}); !errors.As(err, &misuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package commitlog

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var renew = flag.Bool("update", false, "keep the segments of TestRealSegments/5.0_LZ4 in testdata")

// kept is a folder of segments that a Cassandra 5.0 wrote, the tables that they are of, and what is in them.
const kept = "testdata/segments"

// described is a table of these segments, by its id.
type described struct {
	Name    string
	Columns []Column
}

func keep(t *testing.T, tables map[string]described, changes []string) {
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(tables, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(kept, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tables.json": text, "changes.txt": []byte(strings.Join(changes, "\n") + "\n")} {
		if err := os.WriteFile(filepath.Join(kept, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// keptTables are the tables of the kept segments.
func keptTables(t testing.TB) map[ID]*Table {
	text, err := os.ReadFile(filepath.Join(kept, "tables.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]described
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	known := map[ID]*Table{}
	for name, d := range all {
		id, err := ParseID(name)
		if err != nil {
			t.Fatal(err)
		}
		known[id] = NewTable("k", d.Name, d.Columns)
	}
	return known
}

// keptSegments are the names of the kept segments.
func keptSegments(t testing.TB) []string {
	names, err := filepath.Glob(filepath.Join(kept, "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatalf("segments %v, %v", names, err)
	}
	return names
}

// TestKeptSegments reads the segments that a real Cassandra wrote, where none can run.
func TestKeptSegments(t *testing.T) {
	known := keptTables(t)
	var got []string
	for _, name := range keptSegments(t) {
		text, err := os.ReadFile(strings.TrimSuffix(name, ".log") + "_cdc.idx")
		if err != nil {
			t.Fatal(err)
		}
		durable, whole, err := ParseIndex(text)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, readSegment(t, name, durable, whole, version40, known)...)
	}
	slices.Sort(got)
	want, err := os.ReadFile(filepath.Join(kept, "changes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(got, "\n") + "\n"; text != string(want) {
		t.Errorf("read\n%s\nwant\n%s", text, want)
	}
}

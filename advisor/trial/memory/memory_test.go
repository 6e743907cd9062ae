package memory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// store has t with a few rows: two partitions, of which one has static columns and no row.
func store(t *testing.T) *memory.Store {
	t.Helper()
	column := func(name string, kind schema.ColumnKind, position int, cqlType string, descending bool) schema.Column {
		return schema.Column{Name: name, Kind: kind, Position: position, Type: cqlType, Descending: descending}
	}
	s := memory.New(&schema.Schema{Keyspaces: []schema.Keyspace{{Name: "k", Tables: []schema.Table{{Keyspace: "k", Name: "t", Columns: []schema.Column{
		column("p", schema.PartitionKey, 0, "text", false), column("c", schema.Clustering, 0, "int", true), column("s", schema.Static, -1, "text", false),
		column("tags", schema.Regular, -1, "set<text>", false), column("m", schema.Regular, -1, "map<text, text>", false), column("v", schema.Regular, -1, "int", false),
	}}}}}}, "k")
	for _, text := range []string{
		"INSERT INTO t (p, c, v, tags, m) VALUES ('a', 1, 5, {'x', 'y'}, {'k': 'v'})", "INSERT INTO t (p, c) VALUES ('a', 2)", "UPDATE t SET v = 7 WHERE p = 'a' AND c = 3",
		"INSERT INTO t (p, c, v) VALUES ('b', 1, 5)", "INSERT INTO t (p, s) VALUES ('alone', 'st')", "UPDATE t SET s = 'sa' WHERE p = 'a'",
	} {
		say(t, s, text)
	}
	return s
}

func say(t *testing.T, s *memory.Store, text string) {
	t.Helper()
	st, err := cql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(st, nil); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// ask writes an answer in a line.
func ask(t *testing.T, s *memory.Store, text string) string {
	t.Helper()
	st, err := cql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Select(st.(*cql.Select), nil) //nolint:forcetypeassert // they are SELECTs
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var rows []string
	for _, r := range a.Rows {
		var cells []string
		for _, v := range r {
			cells = append(cells, memory.Text(v))
		}
		rows = append(rows, strings.Join(cells, ","))
	}
	return strings.Join(rows, " ")
}

// TestSelect: what Cassandra answers, by its documentation.
func TestSelect(t *testing.T) {
	s := store(t)
	for text, want := range map[string]string{
		"SELECT c FROM t WHERE p = 'a'":                                    "3 2 1",
		"SELECT c FROM t WHERE p = 'a' ORDER BY c ASC LIMIT 2":             "1 2",
		"SELECT c FROM t WHERE p = 'a' AND c >= 2":                         "3 2",
		"SELECT c, s FROM t WHERE p = 'a' AND c IN (1, 3)":                 "3,sa 1,sa",
		"SELECT p, c, s FROM t WHERE p = 'alone'":                          "alone,null,st",
		"SELECT c FROM t WHERE p = 'a' AND v = 5 ALLOW FILTERING":          "1",
		"SELECT c FROM t WHERE p = 'a' AND v < 9 ALLOW FILTERING":          "3 1",
		"SELECT tags FROM t WHERE tags CONTAINS 'y' ALLOW FILTERING":       "{x, y}",
		"SELECT c FROM t WHERE m CONTAINS KEY 'k' ALLOW FILTERING":         "1",
		"SELECT c FROM t WHERE m['k'] = 'v' ALLOW FILTERING":               "1",
		"SELECT count(*) FROM t WHERE p IN ('a', 'b')":                     "4",
		"SELECT c FROM t WHERE p IN ('a', 'b') ORDER BY c DESC LIMIT 2":    "3 2",
		"SELECT c FROM t WHERE p = 'a' PER PARTITION LIMIT 1":              "3",
		"SELECT DISTINCT p FROM t WHERE p IN ('a')":                        "a",
		"SELECT v FROM t WHERE p = 'a' AND c = 2":                          "null",
		"SELECT v FROM t WHERE p = 'a' AND c = 9":                          "",
		"SELECT c FROM t WHERE p = 'a' AND (c) > (1) ":                     "3 2",
		"SELECT c FROM t WHERE p = 'a' AND v IN (5, 7) ALLOW FILTERING":    "3 1",
		"SELECT count(*) FROM t WHERE s = 'st' ALLOW FILTERING":            "1",
		"SELECT c FROM t WHERE v = null ALLOW FILTERING":                   "",
		"SELECT c FROM t WHERE p = 'a' AND c > 1 AND c < 3":                "2",
		"SELECT s FROM t WHERE p = 'alone' AND c = 1":                      "",
		"SELECT c FROM t WHERE p = 'a' AND m CONTAINS 'v' ALLOW FILTERING": "1",
	} {
		if got := ask(t, s, text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestWrite: what is left of a partition.
func TestWrite(t *testing.T) {
	const all = "SELECT c, s, v, tags, m FROM t WHERE p = 'a'"
	for text, want := range map[string]string{
		"UPDATE t SET v = null WHERE p = 'a' AND c = 3":                                                         "2,sa,null,null,null 1,sa,5,{x, y},{k: v}", // it was there by its value only
		"UPDATE t SET v = null WHERE p = 'a' AND c = 2":                                                         "3,sa,7,null,null 2,sa,null,null,null 1,sa,5,{x, y},{k: v}",
		"UPDATE t SET tags = tags + {'z'}, v = 1 WHERE p = 'a' AND c = 1":                                       "3,sa,7,null,null 2,sa,null,null,null 1,sa,1,{x, y, z},{k: v}",
		"UPDATE t SET tags = tags - {'x', 'y'} WHERE p = 'a' AND c = 1":                                         "3,sa,7,null,null 2,sa,null,null,null 1,sa,5,null,{k: v}",
		"UPDATE t SET m['l'] = 'w' WHERE p = 'a' AND c = 1":                                                     "3,sa,7,null,null 2,sa,null,null,null 1,sa,5,{x, y},{k: v, l: w}",
		"DELETE m['k'] FROM t WHERE p = 'a' AND c = 1":                                                          "3,sa,7,null,null 2,sa,null,null,null 1,sa,5,{x, y},null",
		"DELETE FROM t WHERE p = 'a' AND c > 1":                                                                 "1,sa,5,{x, y},{k: v}",
		"DELETE FROM t WHERE p = 'a'":                                                                           "",
		"DELETE s FROM t WHERE p = 'a'":                                                                         "3,null,7,null,null 2,null,null,null,null 1,null,5,{x, y},{k: v}",
		"INSERT INTO t (p, c, v) VALUES ('a', 1, 8) IF NOT EXISTS":                                              "3,sa,7,null,null 2,sa,null,null,null 1,sa,5,{x, y},{k: v}",
		"UPDATE t SET v = 8 WHERE p = 'a' AND c = 1 IF v = 6":                                                   "3,sa,7,null,null 2,sa,null,null,null 1,sa,5,{x, y},{k: v}",
		"UPDATE t SET v = 8 WHERE p = 'a' AND c IN (2, 3)":                                                      "3,sa,8,null,null 2,sa,8,null,null 1,sa,5,{x, y},{k: v}",
		"UPDATE t SET v = 8 WHERE p = 'a' AND c = 2 IF v != 6":                                                  "3,sa,7,null,null 2,sa,8,null,null 1,sa,5,{x, y},{k: v}", // null differs
		"UPDATE t SET v = 8 WHERE p = 'a' AND c = 4 IF v = null":                                                "4,sa,8,null,null 3,sa,7,null,null 2,sa,null,null,null 1,sa,5,{x, y},{k: v}",
		"INSERT INTO t (p, s) VALUES ('a', 'other') IF NOT EXISTS":                                              "3,sa,7,null,null 2,sa,null,null,null 1,sa,5,{x, y},{k: v}",
		"DELETE FROM t WHERE p = 'a' AND c = 1 IF v = 5":                                                        "3,sa,7,null,null 2,sa,null,null,null",
		"BEGIN BATCH DELETE FROM t WHERE p = 'a' AND c = 1; DELETE FROM t WHERE p = 'a' AND c = 2; APPLY BATCH": "3,sa,7,null,null",
	} {
		s := store(t)
		say(t, s, text)
		if got := ask(t, s, all); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestUnknown: what is not known is refused, by name.
func TestUnknown(t *testing.T) {
	s := store(t)
	for _, text := range []string{"SELECT writetime(v) FROM t", "SELECT c FROM t WHERE token(p) > 1", "SELECT max(v) FROM t", "SELECT p FROM t GROUP BY p", "SELECT nope FROM t"} {
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var unknown *memory.UnknownError
		if _, err := s.Select(st.(*cql.Select), nil); !errors.As(err, &unknown) { //nolint:forcetypeassert // they are SELECTs
			t.Errorf("%s: %v", text, err)
		}
	}
}

package schema

import (
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/capture/cql"
)

const groupedTable = `CREATE TABLE %s.o (k int, l int, c int, d int, s int static, v int, w text, PRIMARY KEY ((k, l), c, d))`

// grouped are verdicts on that table that a real 5.0 gave; it is asked again where there is one.
var grouped = map[string]Filtering{
	"SELECT DISTINCT k, l FROM %s.o":                                           FilteringNotNeeded,
	"SELECT DISTINCT k, l, s FROM %s.o":                                        FilteringNotNeeded,
	"SELECT DISTINCT k FROM %s.o":                                              FilteringRefused,
	"SELECT DISTINCT s FROM %s.o":                                              FilteringRefused,
	"SELECT DISTINCT s FROM %s.o WHERE k = 1 AND l = 1":                        FilteringNotNeeded,
	"SELECT DISTINCT * FROM %s.o":                                              FilteringRefused,
	"SELECT DISTINCT k, l, v FROM %s.o":                                        FilteringRefused,
	"SELECT DISTINCT k, l FROM %s.o WHERE c = 1":                               FilteringRefused,
	"SELECT DISTINCT k, l FROM %s.o WHERE s = 1":                               FilteringNeeded,
	"SELECT DISTINCT k, l FROM %s.o WHERE v = 1":                               FilteringRefused,
	"SELECT DISTINCT k, l FROM %s.o WHERE token(k, l) > 1":                     FilteringNotNeeded,
	"SELECT DISTINCT k, l FROM %s.o PER PARTITION LIMIT 1":                     FilteringRefused,
	"SELECT DISTINCT k, l FROM %s.o WHERE k = 1":                               FilteringNeeded,
	"SELECT s FROM %s.o WHERE k = 1 AND l = 1 AND c = 1":                       FilteringRefused,
	"SELECT s, v FROM %s.o WHERE k = 1 AND l = 1 AND c = 1":                    FilteringNotNeeded,
	"SELECT k, count(*) FROM %s.o GROUP BY k, l":                               FilteringNotNeeded,
	"SELECT k, count(*) FROM %s.o GROUP BY k":                                  FilteringRefused,
	"SELECT k, count(*) FROM %s.o GROUP BY k, l, c":                            FilteringNotNeeded,
	"SELECT k, count(*) FROM %s.o GROUP BY k, l, d":                            FilteringRefused,
	"SELECT k, max(v) FROM %s.o WHERE k = 1 AND l = 1 GROUP BY c":              FilteringNotNeeded,
	"SELECT max(v) FROM %s.o WHERE k = 1 AND l = 1 AND c = 1 GROUP BY d":       FilteringNotNeeded,
	"SELECT max(v) FROM %s.o WHERE k = 1 AND l = 1 AND c IN (1, 2) GROUP BY d": FilteringRefused,
	"SELECT max(v) FROM %s.o WHERE k = 1 AND l = 1 AND c IN (1) GROUP BY d":    FilteringNotNeeded,
	"SELECT max(v) FROM %s.o WHERE k = 1 AND l = 1 GROUP BY v":                 FilteringRefused,
	"SELECT max(v) FROM %s.o WHERE v = 1 GROUP BY k, l":                        FilteringNeeded,
	"SELECT DISTINCT k, l FROM %s.o GROUP BY k, l":                             FilteringNotNeeded,
	"SELECT DISTINCT k, l FROM %s.o GROUP BY k, l, c":                          FilteringRefused,
	"SELECT count(*) FROM %s.o PER PARTITION LIMIT 1":                          FilteringRefused,
	"SELECT count(*) FROM %s.o GROUP BY k, l PER PARTITION LIMIT 1":            FilteringNotNeeded,
	"SELECT v FROM %s.o WHERE w LIKE 'a%%'":                                    FilteringRefused,
	"SELECT v FROM %s.o WHERE k = 1 AND l = 1 AND v LIKE 'a'":                  FilteringRefused,
	"SELECT nothing FROM %s.o":                                                 FilteringRefused,
}

func TestGroupedVerdicts(t *testing.T) {
	table := &Table{Keyspace: "x", Name: "o", Columns: []Column{
		{Name: "k", Kind: PartitionKey, Type: "int"}, {Name: "l", Kind: PartitionKey, Position: 1, Type: "int"}, {Name: "c", Kind: Clustering, Type: "int"},
		{Name: "d", Kind: Clustering, Position: 1, Type: "int"}, {Name: "s", Kind: Static, Position: -1, Type: "int"}, {Name: "v", Kind: Regular, Position: -1, Type: "int"},
		{Name: "w", Kind: Regular, Position: -1, Type: "text"},
	}}
	for text, want := range grouped {
		text = fmt.Sprintf(text, "x")
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, reason := VerdictOf(table, st.(*cql.Select)); got != want {
			t.Errorf("%s: %s (%s), want %s", text, got, reason, want)
		}
	}
}

// TestLike: only a SASI index knows LIKE, and what begins with %, only one that looks into values.
func TestLike(t *testing.T) {
	sasi := map[string]string{"class_name": "org.apache.cassandra.index.sasi.SASIIndex"}
	table := &Table{Columns: []Column{{Name: "k", Kind: PartitionKey, Type: "int"}, {Name: "w", Kind: Regular, Position: -1, Type: "text"}, {Name: "x", Kind: Regular, Position: -1, Type: "text"}},
		Indexes: []Index{{Name: "w", Kind: "CUSTOM", Column: "w", On: "values", Options: sasi},
			{Name: "x", Kind: "CUSTOM", Column: "x", On: "values", Options: map[string]string{"class_name": sasi["class_name"], "mode": "CONTAINS"}}}}
	for where, want := range map[string]Filtering{
		"w LIKE 'a%'": FilteringNotNeeded, "w LIKE 'a'": FilteringNotNeeded, "w LIKE '%a'": FilteringRefused, "w LIKE '%a%'": FilteringRefused, "w LIKE '%'": FilteringRefused,
		"w LIKE ?": FilteringNotNeeded, "x LIKE '%a'": FilteringNotNeeded, "x LIKE '%a%'": FilteringNotNeeded, "x LIKE '%%'": FilteringRefused, "w > 'a'": FilteringNeeded,
	} {
		st, err := cql.Parse("SELECT k FROM t WHERE " + where)
		if err != nil {
			t.Fatal(err)
		}
		if got, reason := VerdictOf(table, st.(*cql.Select)); got != want {
			t.Errorf("%s: %s (%s), want %s", where, got, reason, want)
		}
	}
}

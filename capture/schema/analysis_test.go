package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/cql"
)

func analysed(t *testing.T, text string) Analysis {
	t.Helper()
	st, err := cql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return Analyse(st, hotel(), "hotel")
}

func TestAnalyse(t *testing.T) {
	a := analysed(t, "SELECT * FROM reservations WHERE room_id = ? AND (start_date, reservation_id) > (?, ?) AND status IN ('a') ORDER BY start_date DESC PER PARTITION LIMIT 2 LIMIT 10 ALLOW FILTERING")
	want := []Predicate{{"room_id", PartitionKey, ByEquality, false}, {"start_date", Clustering, ByRange, false}, {"reservation_id", Clustering, ByRange, false},
		{"status", Regular, ByList, false}}
	if d := cmp.Diff(want, a.Predicates); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Order{{"start_date", true}}, a.Order); d != "" || !a.Limited || !a.LimitedPerPartition || a.AllowFiltering != FilteringNeeded || !a.Idempotent {
		t.Errorf("%s%+v", d, a)
	}
	a = analysed(t, "SELECT * FROM stays WHERE token(a, b) > 1 AND m['x'] = 'y' AND m CONTAINS KEY 'k' AND m CONTAINS 'v' ORDER BY m ANN OF [1]")
	want = []Predicate{{"a", PartitionKey, ByToken, false}, {"b", PartitionKey, ByToken, false}, {"m", Regular, ByEquality, true}, {"m", Regular, ByContainsKey, false},
		{"m", Regular, ByContains, false}, {"m", Regular, ByNeighbours, false}}
	if d := cmp.Diff(want, a.Predicates); d != "" {
		t.Error(d)
	}
}

// TestClassOfEveryStatement: D-12, every statement has exactly one class.
func TestClassOfEveryStatement(t *testing.T) {
	for text, want := range map[string]Class{
		"SELECT * FROM stays WHERE a = 1 AND b = 2 AND c = 3":              Row,
		"SELECT * FROM stays WHERE a = 1 AND b = 2":                        Partition,
		"SELECT * FROM stays WHERE a = 1 AND b IN (2, 3)":                  MultiPartition,
		"SELECT * FROM hotels WHERE city = 'x'":                            IndexRead,
		"SELECT * FROM hotels":                                             Scan,
		"TRUNCATE hotels":                                                  Unknown,
		"DROP TABLE hotels":                                                Unknown,
		"BEGIN BATCH APPLY BATCH":                                          Unknown,
		"BEGIN BATCH DELETE FROM stays WHERE a = 1 AND b = 2; APPLY BATCH": Partition,
		"BEGIN BATCH DELETE FROM stays WHERE a = 1 AND b = 2; INSERT INTO stays (a, b, c) VALUES (1, 2, 3); APPLY BATCH":            Partition,
		"BEGIN BATCH DELETE FROM stays WHERE a = 1 AND b = 2; INSERT INTO stays (a, b, c) VALUES (1, 3, 3); APPLY BATCH":            MultiPartition,
		"BEGIN BATCH DELETE FROM stays WHERE a = ? AND b = ?; INSERT INTO stays (a, b, c) VALUES (?, ?, ?); APPLY BATCH":            MultiPartition,
		"BEGIN BATCH DELETE FROM stays WHERE a = 1 AND b = 2; DELETE FROM nothing WHERE a = 1; APPLY BATCH":                         Unknown,
		"BEGIN BATCH UPDATE hotels SET stars = 1 WHERE hotel_id = ?; DELETE FROM stays WHERE a = 1 AND b = 2 AND c = 3 APPLY BATCH": MultiPartition,
	} {
		a := analysed(t, text)
		if a.Class != want || a.Class.Pattern() == "" {
			t.Errorf("%s: %s, want %s", text, a.Class, want)
		}
	}
}

func TestIdempotent(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT now() FROM stays":                                                  true,
		"INSERT INTO stays (a, b, c) VALUES (1, 2, 3)":                             true,
		"INSERT INTO stays (a, b, c) VALUES (1, 2, 3) IF NOT EXISTS":               false,
		"INSERT INTO hotels (hotel_id) VALUES (uuid())":                            false,
		"INSERT INTO hotels (hotel_id, stars) VALUES (?, token(1))":                true,
		"UPDATE hotels SET tags = tags + {'a'} WHERE hotel_id = ?":                 true,
		"UPDATE hotels SET stars = stars + 1 WHERE hotel_id = ?":                   false,
		"UPDATE stays SET m['a'] = 'b' WHERE a = 1 AND b = 2 AND c = 3":            true,
		"DELETE m['a'] FROM stays WHERE a = 1 AND b = 2 AND c = 3":                 true,
		"DELETE city['a'] FROM hotels WHERE hotel_id = ?":                          false,
		"DELETE FROM stays WHERE a = 1 AND b = 2 IF EXISTS":                        false,
		"BEGIN BATCH DELETE FROM stays WHERE a = 1 AND b = 2; APPLY BATCH":         true,
		"BEGIN COUNTER BATCH DELETE FROM stays WHERE a = 1 AND b = 2; APPLY BATCH": false,
		"TRUNCATE hotels": false,
	} {
		if a := analysed(t, text); a.Idempotent != want {
			t.Errorf("%s: %t", text, a.Idempotent)
		}
	}
}

// TestVerdicts are verdicts that a real 5.0 gave.
func TestVerdicts(t *testing.T) {
	for text, want := range map[string]Filtering{
		"SELECT * FROM reservations":                                                                                 FilteringNotNeeded,
		"SELECT * FROM reservations WHERE token(room_id) > 1":                                                        FilteringNotNeeded,
		"SELECT * FROM reservations WHERE room_id = ? AND start_date > ?":                                            FilteringNotNeeded,
		"SELECT * FROM reservations WHERE room_id = ? AND reservation_id = ?":                                        FilteringNeeded,
		"SELECT * FROM reservations WHERE room_id = ? AND start_date > ? AND reservation_id = ?":                     FilteringNeeded,
		"SELECT * FROM reservations WHERE start_date > ?":                                                            FilteringNeeded,
		"SELECT * FROM reservations WHERE room_id = ? AND status = 'x'":                                              FilteringNeeded,
		"SELECT * FROM reservations WHERE room_id = ? AND room_id = ?":                                               FilteringRefused,
		"SELECT * FROM reservations WHERE room_id > ?":                                                               FilteringNeeded,
		"SELECT * FROM reservations ORDER BY start_date":                                                             FilteringRefused,
		"SELECT * FROM reservations WHERE room_id = ? ORDER BY reservation_id":                                       FilteringRefused,
		"SELECT * FROM reservations WHERE room_id = ? ORDER BY start_date DESC":                                      FilteringNotNeeded,
		"SELECT * FROM hotels WHERE city = 'x'":                                                                      FilteringNotNeeded,
		"SELECT * FROM hotels WHERE city = 'x' AND stars = 1":                                                        FilteringNeeded,
		"SELECT * FROM hotels WHERE tags CONTAINS 'x'":                                                               FilteringNotNeeded,
		"SELECT * FROM hotels WHERE tags = {'x'}":                                                                    FilteringRefused,
		"SELECT * FROM hotels WHERE stars > 3 AND stars < 5":                                                         FilteringNotNeeded,
		"SELECT * FROM stays WHERE a = 1":                                                                            FilteringNeeded,
		"SELECT * FROM stays WHERE a = 1 AND b = 2 AND c != 3":                                                       FilteringRefused,
		"SELECT * FROM reservations WHERE room_id = ? AND (start_date, reservation_id) > (?, ?) AND start_date <= ?": FilteringNotNeeded,
		"SELECT * FROM reservations WHERE room_id = ? AND (start_date, reservation_id) > (?, ?) AND status = 'x'":    FilteringNeeded,
		"SELECT * FROM reservations WHERE (start_date, reservation_id) > (?, ?) AND status = 'x'":                    FilteringNeeded,
		"SELECT * FROM reservations WHERE room_id = ? AND (reservation_id, start_date) = (?, ?)":                     FilteringRefused,
		"SELECT * FROM reservations WHERE nothing = 1":                                                               FilteringRefused,
	} {
		if a := analysed(t, text); a.AllowFiltering != want {
			t.Errorf("%s: %s (%s), want %s", text, a.AllowFiltering, a.Refused, want)
		}
	}
}

package main

import (
	"maps"
	"testing"
)

// TestRead: figures are found in what the programs print.
func TestRead(t *testing.T) {
	got := map[string]figure{}
	note := func(name string, f figure) { got[name] = f }
	if err := readAdvisor([]byte(`[{"name": "eac", "cost": "nose:request_count", "value": 179, "processor_s": 0.22}, {"name": "eac", "value": 144.66, "processor_s": 0.1}]`), note); err != nil {
		t.Fatal(err)
	}
	row := "cost model cassandra, 2 cores\n\n| cycles, 12 steps, 80 %, pruned | 1.1125e+09 | 2.9 % | +5.29 % | +2.27 % | -38.40 % | -38.40 % | -38.60 % | 2>3 Q3- | 2>3 Q3+ | 156, 1 | 9.4 % | 13.1 s, 22.0 s |\n"
	if err := readTimeline([]byte(row), calendars[0], note); err != nil {
		t.Fatal(err)
	}
	if want := (map[string]figure{"eac, nose:request_count": {179, 0.22}, "eac": {144.66, 0.1}, calendars[0]: {1.1125e9, 22}}); !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if readTimeline([]byte(row), calendars[1], note) == nil {
		t.Error("a row that is not there is found")
	}
	if got := compare(figure{100, 2}, figure{101, 3}); got != "+1.00 %, 1.50x" {
		t.Error(got)
	}
}

package cql

import "testing"

// A normalised comparison of several columns must parse again, with as many values as columns.
func TestRowComparisonsNormaliseToCQL(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE (c, d) >= (1, 2)":                         "SELECT a FROM ks.t WHERE (c, d) >= (?, ?)",
		"SELECT a FROM t WHERE (c, d) < ?":                               "SELECT a FROM ks.t WHERE (c, d) < ?",
		"SELECT a FROM t WHERE (c, d) >= (1, ?) AND (c, d) < (5, 'x')":   "SELECT a FROM ks.t WHERE (c, d) >= (?, ?) AND (c, d) < (?, ?)",
		"SELECT a FROM t WHERE (c, d) IN ((1, 2), (3, 4))":               "SELECT a FROM ks.t WHERE (c, d) IN (?)",
		"SELECT a FROM t WHERE (c, d) BETWEEN (1, 2) AND (3, 4) AND k=1": "SELECT a FROM ks.t WHERE (c, d) BETWEEN (?, ?) AND (?, ?) AND k = ?",
	} {
		st, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := Normalise(st, "ks")
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		again, err := Parse(got)
		if err != nil {
			t.Errorf("%s does not parse: %v", got, err)
			continue
		}
		if twice := Normalise(again, ""); twice != got {
			t.Errorf("%s normalises to %s", got, twice)
		}
	}
}

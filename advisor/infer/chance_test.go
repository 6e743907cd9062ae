package infer

import "testing"

// TestDifferentAnyway: that rows have a value each says something of them only where it would be odd if they were drawn as they come.
func TestDifferentAnyway(t *testing.T) {
	for _, x := range []struct {
		rows, keys float64
		anyway     bool
	}{
		{278, 19920, true},    // a table that was measured while it was filled
		{19000, 19920, false}, // nearly all of them: by chance a third would be there twice
		{2000, 19920, false},
		{30, 40, false},
		{500, 0, false}, // not known of how many
		{0, 100, false},
	} {
		if got := differentAnyway(x.rows, x.keys); got != x.anyway {
			t.Errorf("%.0f rows of %.0f keys: %v", x.rows, x.keys, got)
		}
	}
}

// TestRoundest: a LIMIT is what people write, as far as the histogram can not tell it from that.
func TestRoundest(t *testing.T) {
	for v, want := range map[float64]int{0: 0, 1: 1, 7: 7, 10: 10, 33: 33, 63: 63, 101.5: 100, 202: 200, 251: 250, 507: 500, 999.5: 1000, 4960: 5000, 130: 130, 4224: 4200} {
		if got := roundest(v); got != want {
			t.Errorf("%g: %d, not %d", v, got, want)
		}
	}
}

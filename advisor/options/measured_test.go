package options

import "testing"

// TestTau compares rankings (B-52).
func TestTau(t *testing.T) {
	for name, c := range map[string]struct {
		measured []int
		want     float64
	}{"the same": {[]int{1, 2, 3}, 1}, "reversed": {[]int{3, 2, 1}, -1}, "one pair swapped": {[]int{2, 1, 3}, 1.0 / 3}} {
		var list []MeasuredOption
		for i, m := range c.measured {
			list = append(list, MeasuredOption{Computed: i + 1, Measured: m})
		}
		if got := Tau(list); got == nil || *got != c.want {
			t.Errorf("%s: %v, want %g", name, got, c.want)
		}
	}
	if Tau(nil) != nil || Tau([]MeasuredOption{{Computed: 1, Measured: 1}}) != nil {
		t.Error("a single option has a ranking")
	}
}

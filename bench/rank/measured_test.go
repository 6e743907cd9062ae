package main

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/options"
)

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
	// Of those that differ by more than the noise: the second and third do not.
	list := []MeasuredOption{{Computed: 1, Measured: 1, MeanMs: 1, ErrorMs: 0.1}, {Computed: 2, Measured: 3, MeanMs: 2.1, ErrorMs: 0.1}, {Computed: 3, Measured: 2, MeanMs: 2, ErrorMs: 0.1}}
	if pairs, tau := TauApart(list); pairs != 2 || tau == nil || *tau != 1 {
		t.Errorf("%d pairs, %v", pairs, tau)
	}
	if pairs, tau := TauApart(list[1:]); pairs != 0 || tau != nil {
		t.Errorf("%d pairs, %v", pairs, tau)
	}
	if c := perKey(options.Costs{Key: 0.5, Index: 2, Byte: 0.001}); c != (options.Costs{Key: 1, Index: 4, Byte: 0.002}) { // B-40, B-41
		t.Errorf("%+v", c)
	}
	if Tau(nil) != nil || Tau([]MeasuredOption{{Computed: 1, Measured: 1}}) != nil {
		t.Error("a single option has a ranking")
	}
}

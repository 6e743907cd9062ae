package main

import (
	"math"
	"testing"
)

// TestSlope: B-41, what a byte adds.
func TestSlope(t *testing.T) {
	for _, c := range []struct {
		ys   []float64
		want float64
	}{
		{[]float64{1 + 0.5*16, 1 + 0.5*1024, 1 + 0.5*4096, 1 + 0.5*16384}, 0.5},
		{[]float64{3, 3, 3, 3}, 0},
	} {
		if got := slope(widths, c.ys); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", c.ys, got, c.want)
		}
	}
}

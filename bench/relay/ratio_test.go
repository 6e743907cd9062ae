//go:build !race

package main

import "testing"

// The race detector slows down Helenus, and not the kernel that splices: this gate is not for it. `make test` runs it by
// itself.

// TestForwardingCostsLikeASplice is a gate: CPU time for each request, in one run side by side with a splice. What must hold
// is in the table; here a margin is added, as this may run beside other tests, and one good run of three is enough: noise
// only ever adds to a ratio of medians by chance, and a data path that became slower fails three times.
func TestForwardingCostsLikeASplice(t *testing.T) {
	b := started(t)
	if err := b.warm(); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		shape shape
		must  float64
	}{
		"8 x 16":       {shape{4, 8, 16, false, false, nil}, 1.5},
		"64 x 4":       {shape{4, 64, 4, false, false, nil}, 1.5},
		"12 kB, 8 x 8": {shape{4, 8, 8, true, false, nil}, 1.75},
	} {
		best := 1e9
		for try := 0; try < 3 && best > x.must; try++ {
			c, err := compare(x.shape, 11, b.requests(20_000), b.splice, b.helenus)
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, c.ratio(1, 0, cpu))
			t.Logf("%s: %.2f times the CPU time of a splice", name, c.ratio(1, 0, cpu))
		}
		if best > x.must {
			t.Errorf("%s: %.2f times the CPU time of a splice, %.2f is allowed", name, best, x.must)
		}
	}
}

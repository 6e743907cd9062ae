//go:build !race

package main

import "testing"

// Gates that are not for the race detector: it slows down Helenus, and not the kernel that splices, and it has sync.Pool
// forget a quarter of what it is given. `make test` runs them by themselves.

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

// TestForwardingDoesNotAllocate is a gate: less than 0.1 allocations for each request in the whole process that forwards
// it, with a real registry counting, between its value windows.
func TestForwardingDoesNotAllocate(t *testing.T) {
	b := started(t)
	if err := b.warm(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []shape{{4, 8, 16, false, false, nil}, {5, 8, 16, false, false, nil}, {5, 8, 16, false, true, nil}, {4, 8, 8, true, false, nil}} {
		c, err := compare(s, b.turns, b.requests(20_000), b.helenus) // the median leaves out what meets a window
		if err != nil {
			t.Fatal(err)
		}
		each := c.of(0, allocs)
		t.Logf("%+v: %.4f allocations for each request", s, each)
		if each >= 0.1 {
			t.Errorf("%+v: %.3f allocations for each request, 0.1 are allowed", s, each)
		}
	}
	if u, err := b.helenus.process.ask(""); err != nil || u.Requests < 100_000 {
		t.Errorf("Helenus counted %d requests, %v", u.Requests, err)
	}
}

package main

import (
	"testing"

	"github.com/helenus-db/helenus/internal/long"
)

// TestACrowdAgreesSoon: what 200 members ask of their state while 100 changes go up; a tenth of that unless HELENUS_TEST_LONG is set. Counts are held to a bound, and what the
// process took to twice as much, as the machine is shared.
func TestACrowdAgreesSoon(t *testing.T) {
	members, tables, changes := 20, 1000, 10
	if long.Tests() {
		members, tables, changes = 200, 10_000, 100
	}
	periods, err := simulateCrowd(t, members, tables, changes, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", scaleTable(periods))
	for _, p := range periods {
		t.Logf("%s: follower %.2v, leader %.2v", p.Name, p.Follower.Kinds, p.Leader.Kinds)
		if p.Agreed > 10 {
			t.Errorf("%s: an epoch was agreed on after %.1f s", p.Name, p.Agreed)
		}
		for name, c := range map[string]cost{"a follower": p.Follower, "the leader": p.Leader} {
			if share := c.Share - c.Filling; share > 0.01 {
				t.Errorf("%s: %s takes %.2f %% of a core to ask the state", p.Name, name, 100*share)
			}
		}
		if p.Process > 0.02 {
			t.Errorf("%s: a member takes %.2f %% of a core for what it is told", p.Name, 100*p.Process)
		}
	}
}

package plan

import (
	"strconv"
	"strings"
	"testing"
)

// TestUpkeep: the requests inside Cassandra, the statement's own included, are at most what was asked for.
func TestUpkeep(t *testing.T) {
	for _, tt := range []struct {
		effect             Effect
		stamped, unstamped float64
	}{{Sets, 3, 5}, {Replaces, 4, 6}, {Repeats, 4, 5}, {Clears, 3, 4}} {
		if got := 1 + Upkeep(tt.effect, 1).Sum(); got != tt.stamped {
			t.Errorf("effect %d, stamped: %g requests, want %g", tt.effect, got, tt.stamped)
		}
		if got := 1 + Upkeep(tt.effect, 0).Sum(); got != tt.unstamped {
			t.Errorf("effect %d, unstamped: %g requests, want %g", tt.effect, got, tt.unstamped)
		}
		if half := 1 + Upkeep(tt.effect, 0.5).Sum(); half != (tt.stamped+tt.unstamped)/2 {
			t.Errorf("effect %d, half of them: %g", tt.effect, half)
		}
	}
	if got := Upkeep(Replaces, 1).String(); got != "1 read and 1 write before it, 1 write after its answer: 4 requests in Cassandra in place of 1" {
		t.Error(got)
	}
	if !strings.HasSuffix(LookUpOptions, strconv.Itoa(GraceSeconds)) {
		t.Error(LookUpOptions)
	}
}

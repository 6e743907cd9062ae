package recommend

import (
	"math"
	"testing"
)

func TestGainsAreWordedByTheSecond(t *testing.T) {
	for saved, want := range map[float64]string{
		0: "0 ms", 1e-6: "less than 0.01 ms", 0.00028: "0.28 ms", 0.0529: "52.9 ms", 0.464: "464 ms", 0.09999: "100 ms", 1: "1,000 ms", 2.8: "2,800 ms", 1234: "1,234,000 ms", -0.01: "-10 ms",
	} {
		if got := WorkTime(saved); got != want {
			t.Errorf("%g s: %q, want %q", saved, got, want)
		}
	}
	r := Recommendation{Kind: LookUpTable, SavedSecondsPerSecond: 0.464, BenefitRatio: 0.412}
	if got, want := r.Gain(), "464 ms of cluster work each second, 41 % of what its reads cost"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Kind, r.BenefitRatio = TimelineKind, 0.004
	if got, want := r.Gain(), "464 ms of cluster work each second, less than 1 % of what depends on these tables, beside the best single choice"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	limits := Thresholds{SavedSeconds: 1}
	if got, want := limits.tooLittle(0.1, 0.05, 0.3), "would save 0.1 ms of cluster work each second (5 %): advice is given from 0.28 ms (setting min-saved) and 30 % on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := limits.tooLittle(-5, math.Copysign(0, -1), 0.3); got[:22] != "would save 0 ms of clu" {
		t.Errorf("what costs more than it saves: %q", got)
	}
}

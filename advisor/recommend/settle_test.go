package recommend

import "testing"

// Of two searches of which the second was cut off, too, the better one's result stands; of one that came to its end, that.
func TestSettle(t *testing.T) {
	of := func(cost float64, stopped bool) *finding {
		f := &finding{stopped: stopped, why: "none pays"}
		if cost > 0 {
			f.found, f.why = &Recommendation{Timeline: &Timeline{CostMs: cost}}, ""
		}
		return f
	}
	for _, c := range []struct {
		name          string
		before, after *finding
		want          float64 // 0: none
	}{
		{"nothing before", nil, of(5, true), 5},
		{"cheaper", of(7, true), of(5, true), 5},
		{"dearer", of(5, true), of(7, true), 5},
		{"none any more", of(5, true), of(0, true), 5},
		{"none yet", of(0, true), of(7, true), 7},
		{"none at all", of(0, true), of(0, true), 0},
		{"dearer, but all was looked at", of(5, true), of(7, false), 7},
		{"none, but all was looked at", of(5, true), of(0, false), 0},
	} {
		c.after.keepBetter(c.before)
		got := 0.0
		if c.after.found != nil {
			got = c.after.found.Timeline.CostMs
		}
		if got != c.want || (got == 0) != (c.after.why != "") {
			t.Errorf("%s: %g and %q, not %g", c.name, got, c.after.why, c.want)
		}
	}
}

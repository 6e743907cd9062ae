//go:build !race

package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// series are a pattern's weights as a list.
func series(at func(step int) float64) string {
	var list []string
	for step := range 12 {
		list = append(list, fmt.Sprintf("%.6g", 10*at(step)))
	}
	return strings.Join(list, ", ")
}

// What is here takes ten times as long under the race detector, and is about one goroutine: `make test` runs it by itself.

// TestPatterns: W-48 and W-49 on figure 1, whose two queries stand for the two groups, with space for one of the views: with evolution (0.1 to 0.9 and back)
// plans flip once, from step 5 to 6; with spikes each view is there when its query is asked for most; either is better than every
// single design, and next to what choosing anew at each step would cost for nothing.
func TestPatterns(t *testing.T) {
	rising := func(step int) float64 { return 0.1 + 0.8*float64(step)/11 }
	spike := func(from, to int) func(int) float64 {
		return func(step int) float64 {
			if step >= from && step <= to {
				return 0.9
			}
			return 0.1
		}
	}
	for _, c := range []struct {
		name  string
		q1    func(int) float64
		q2    func(int) float64
		views [12]string // which query has a view: 1, 2, or either
		least float64    // percent less than the best single design
	}{
		{"W-48 evolution", func(step int) float64 { return 1 - rising(step) }, rising, [12]string{"1", "1", "1", "1", "1", "1", "2", "2", "2", "2", "2", "2"}, 12.2},
		{"W-49 spikes", spike(3, 4), spike(7, 8), [12]string{"", "", "", "1", "1", "", "", "2", "2", "", "", ""}, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, tables := figured(t, series(c.q1), series(c.q2), 1, 2, 3, 4, 8)
			got := scheduled(t, w, Options{Candidates: tables, NoEnumeration: true, Space: (tables[0].Bytes() + tables[3].Bytes()) * 0.99})
			for step, want := range c.views {
				first, second := got.Steps[step].Plans[0].View(), got.Steps[step].Plans[1].View()
				if first == second || want == "1" && !first || want == "2" && !second {
					t.Errorf("step %d: views %v and %v, want %q", step, first, second, want)
				}
			}
			for _, name := range []string{Average, First, Last} {
				if by := 100 * got.Less(got.Baseline(name)); by < c.least {
					t.Errorf("%.1f %% less than %s, want %g", by, name, c.least)
				}
			}
			if ideal := got.Baseline(Ideal).Cost; got.Cost < ideal*(1-1e-9) || got.Cost > ideal*1.02 {
				t.Errorf("%g, the ideal costs %g", got.Cost, ideal)
			}
		})
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
)

// calendar is one of twelve steps in which plans of the original statements cost high but from some steps on low, and the copies' the other way.
func calendar(low func(step int) bool, total, ideal float64) *timeline.Calendar {
	c := &timeline.Calendar{Cost: total, Bound: total * 0.9, Gap: 0.1}
	for i := range 12 {
		s := &timeline.Step{Number: i}
		for _, id := range flipping {
			for _, suffix := range []string{"", "-dup"} {
				work := 69.62
				if low(i) == (suffix == "") {
					work = 10.46
				}
				s.Plans = append(s.Plans, &timeline.Plan{Statement: &design.Statement{Statement: &workload.Statement{ID: id + suffix}, Cost: cost.Cost{Work: work}}})
			}
		}
		c.Steps = append(c.Steps, s)
	}
	c.Steps[3].MigrationCost = total / 10
	for _, name := range []string{timeline.Average, timeline.First, timeline.Last} {
		c.Baselines = append(c.Baselines, &timeline.Baseline{Name: name, Cost: 1.5 * total})
	}
	c.Baselines = append(c.Baselines, &timeline.Baseline{Name: timeline.Ideal, Cost: ideal})
	return c
}

// TestMustShow: what W-46, W-47, W-48 and W-49 promise is held against calendars rightly.
func TestMustShow(t *testing.T) {
	cycles := func(i int) bool { return (i/3)%2 == 1 }
	r := &report{list: []*measured{
		{kase: atFourFifths("cycles", 12), calendar: calendar(cycles, 100, 95)},
		{kase: atFourFifths("evolution", 12), calendar: calendar(cycles, 100, 98)},
		{kase: atFourFifths("spikes", 12), calendar: calendar(cycles, 100, 98.5)},
		{kase: kase{pattern: "cycles", steps: 44, space: 0.8, exact: true}, calendar: calendar(cycles, 100, 95)},
		{kase: atFourFifths("cycles", 44), calendar: calendar(cycles, 102, 95)},
	}}
	proven := calendar(cycles, 98, 95)
	proven.Proven = true
	r.list = append(r.list, &measured{kase: kase{pattern: "cycles", steps: 12, space: 0.8, exact: true}, calendar: proven})
	few := calendar(func(int) bool { return true }, 100, 95)
	r.list = append(r.list, &measured{kase: kase{pattern: "cycles", steps: 12, space: 0.8, few: true}, calendar: few})
	text := r.mustShow()
	for name, line := range map[string]string{
		"W-47 the steps of table 1":                        "| cycles: plans of Q3, Q5, Q7, Q9 and their copies change as published | W-47: 2>3, 5>6, 8>9 | 8 of 8, 0 never | yes |",
		"W-47 plans that stay":                             "| cycles, of 2000 candidates: plans of Q3, Q5, Q7, Q9 and their copies change as published | W-47: 2>3, 5>6, 8>9 | 0 of 8, 8 never | no |",
		"W-48 not the step of table 2":                     "| evolution: plans of Q3, Q5, Q7, Q9 and their copies change as published | W-48: 5>6 | 0 of 8, 0 never | no |",
		"W-46 less than static designs":                    "| cycles: less than static average, changes included | 31.8 % | 33.3 % | yes |",
		"W-46 near the ideal":                              "| cycles: above the ideal, changes included | 5.41 % | 5.3 % | yes |",
		"W-48 the ideal is 3.4 % better":                   "| evolution: above the ideal, changes included | 3.4 % | 2.0 % | yes |",
		"W-49 statements alone may be less than the ideal": "| spikes: above the ideal, statements alone | 2 % | -8.6 % | yes |",
		"W-51 a gap, however soon":                         "| cycles, 44 steps, 80 %, exact | 600 s, or a gap of 1 % | 0.0 s, 0.0 s of processors, a gap of 10 % | no |",
		"pruned mode is not near":                          "| cycles, 12 steps, 80 %, pruned: above exact mode's | 0 to 1 % of what exact mode proves | 2.04 % | no |",
		"exact mode does not finish":                       "| cycles, 44 steps, 80 %, pruned: above exact mode's | 0 to 1 % of what exact mode proves | 2.00 %, and exact mode proves nothing | yes |",
		"12 steps":                                         "| cycles, 12 steps, 80 %, pruned | 15 s | 0.0 s, 0.0 s of processors | yes |",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s: %q is not in\n%s", name, line, text)
		}
	}
	dir := t.TempDir()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(dir, "timeline.md")) //nolint:gosec // just made
	if err != nil || !strings.Contains(string(written), text) || strings.Contains(string(written), ".svg") {
		t.Errorf("%v\n%s", err, written)
	}
}

// TestFlips: which plans change is told by step and direction.
func TestFlips(t *testing.T) {
	c := calendar(func(i int) bool { return i >= 6 }, 1, 1)
	if got := flips(c, ""); got != "5>6 Q3- Q5- Q7- Q9-" {
		t.Error(got)
	}
	if got := flips(c, "-dup"); got != "5>6 Q3+ Q5+ Q7+ Q9+" {
		t.Error(got)
	}
	if n, never := asPublished(c, map[int]int{6: -1}); n != 8 || never != 0 {
		t.Errorf("W-48: %d of 8", n)
	}
}

// TestSweep: a chart is drawn of three limits on space and more.
func TestSweep(t *testing.T) {
	r := &report{}
	for _, percent := range []float64{0.7, 0.75, 0.8} {
		if c, err := r.sweep(); err != nil || c != nil {
			t.Fatalf("%d limits: %v, %v", len(r.list), c, err)
		}
		r.list = append(r.list, &measured{kase: kase{pattern: "cycles", steps: 12, space: percent}, calendar: calendar(func(int) bool { return false }, 100, 90)})
	}
	if c, err := r.sweep(); err != nil || c == nil {
		t.Errorf("W-50: %v, %v", c, err)
	}
}

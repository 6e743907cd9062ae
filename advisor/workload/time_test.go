package workload_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/workload"
)

const timed = `name: timed
model:
  entities:
  - {name: E, count: 10, key: [id], attributes: [{name: id, type: uuid}, {name: a, type: text}]}
interval: %i
statements:
- {id: q, text: "SELECT E.a FROM E WHERE E.id = ?", steps: %q}
- {id: r, text: "SELECT E.id FROM E WHERE E.a = ?", weight: %r}
`

func read(t *testing.T, interval, q, r string) (*workload.Workload, error) {
	t.Helper()
	return workload.Read("w.yaml", []byte(strings.NewReplacer("%i", interval, "%q", q, "%r", r).Replace(timed)))
}

// TestTime: W-1, weights over time, zero among them, and steps of any length.
func TestTime(t *testing.T) {
	w, err := read(t, "[60, 0.5]", "[0, 3]", "2")
	if err != nil {
		t.Fatal(err)
	}
	q, r := w.Statement("q"), w.Statement("r")
	if w.TimeSteps() != 2 || q.WeightAt(0) != 0 || q.WeightAt(1) != 3 || r.WeightAt(1) != 2 || q.Weight != 1.5 {
		t.Errorf("%d steps, %v, %v", w.TimeSteps(), q, r)
	}
	if w.IntervalOf(0) != time.Minute || w.IntervalOf(1) != 500*time.Millisecond {
		t.Errorf("%v", w.Interval)
	}
	var b bytes.Buffer
	if err := workload.Save(&b, w); err != nil {
		t.Fatal(err)
	}
	again, err := workload.Read("w.yaml", b.Bytes())
	if err != nil || again.IntervalOf(1) != 500*time.Millisecond {
		t.Errorf("%v: %s", err, b.String())
	}
	if w, err := read(t, "7200", "[1, 2, 3]", "0"); err != nil || w.IntervalOf(2) != 2*time.Hour {
		t.Errorf("%v, %v", w, err)
	}
	if w := (&workload.Workload{}); w.IntervalOf(3) != workload.DefaultInterval || w.TimeSteps() != 0 {
		t.Error("a workload without steps has some")
	}
}

func TestTimeWrong(t *testing.T) {
	for name, c := range map[string]struct{ interval, q, r, want string }{
		"zero":         {"0", "[1, 1]", "1", "w.yaml:5:11: an interval of 0 seconds"},
		"negative":     {"[60, -1]", "[1, 1]", "1", "w.yaml:5:16: an interval of -1 seconds"},
		"no number":    {".nan", "[1, 1]", "1", "w.yaml:5:11: an interval of NaN seconds"},
		"text":         {"long", "[1, 1]", "1", `w.yaml:5:11: expected a number, found "long"`},
		"too many":     {"[60, 60, 60]", "[1, 1]", "1", "w.yaml:5:12: there are 3 intervals for 2 time steps"},
		"nothing left": {"60", "[1, 0, 1]", "0", "w.yaml:7:8: no statement is left in time step 1: all weights there are 0"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(t, c.interval, c.q, c.r); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

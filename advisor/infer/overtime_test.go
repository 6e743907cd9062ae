package infer_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
)

// halves is a cycle of two steps, 8 and 16 hours, in which each statement of a snapshot is executed so many times as often as in
// the snapshot.
func halves(m *infer.Model, s *capture.Snapshot, of func(text string) [2]float64) *cycle.Cycle {
	c := &cycle.Cycle{Period: cycle.Day, Zone: "UTC", Steps: []cycle.Step{{Begin: 8 * time.Hour, Length: 8 * time.Hour}, {Begin: 16 * time.Hour, Length: 16 * time.Hour}}}
	for _, st := range s.Statements {
		rate, f := float64(st.Count)/m.Seconds, of(st.Text)
		c.Members = append(c.Members, cycle.Member{Fingerprint: st.Fingerprint, Weights: []float64{rate * f[0], rate * f[1]}})
	}
	return c
}

// TestOverTime: W-1: every conceptual statement has a weight in each step, in which weights times uses are what is executed.
func TestOverTime(t *testing.T) {
	s := infertest.Hotel().Snapshot()
	m, err := infer.Infer(s, infertest.HotelSchema(), infertest.HotelStatistics())
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]func(text string) [2]float64{
		"all alike":        func(string) [2]float64 { return [2]float64{1.5, 0.25} },
		"nothing at night": func(string) [2]float64 { return [2]float64{3, 0} },
		"bookings by night": func(text string) [2]float64 {
			if strings.HasPrefix(text, "INSERT") || strings.Contains(text, "phone FROM guests") { // one of them only in each step
				return [2]float64{0, 1.5}
			}
			return [2]float64{3, 0.1}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := halves(m, s, of)
			w, missing := m.OverTime(c)
			for _, f := range missing {
				if !unexplained(m, f) {
					t.Errorf("%s is missing", f)
				}
			}
			if err := w.CheckTime(); err != nil {
				t.Fatal(err)
			}
			for k := range 2 {
				counted := map[string]float64{}
				for _, st := range w.Statements {
					if math.IsNaN(st.Steps[k]) || st.Steps[k] < 0 {
						t.Fatalf("%s: %v", st.ID, st.Steps)
					}
					for _, u := range m.UsesOf(st.ID) {
						counted[u.Fingerprint] += st.Steps[k] * u.PerExecution
					}
				}
				for i := range c.Members {
					x := &c.Members[i]
					if d := math.Abs(counted[x.Fingerprint] - x.Weights[k]); d > 0.01*x.Weights[k]+0.002 && !unexplained(m, x.Fingerprint) {
						t.Errorf("step %d: %s is executed %.4f times a second, %.4f in the workload", k, s.Statement(x.Fingerprint).Text, x.Weights[k], counted[x.Fingerprint])
					}
				}
			}
			var b bytes.Buffer
			if err := workload.Save(&b, w); err != nil {
				t.Fatal(err)
			}
			back, err := workload.Read("saved", b.Bytes())
			if err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
			if d := cmp.Diff(c.Intervals(), back.Interval); d != "" || back.TimeSteps() != 2 {
				t.Errorf("intervals: %s", d)
			}
			for i, st := range back.Statements {
				if fmt.Sprint(st.Steps) != fmt.Sprint(w.Statements[i].Steps) || st.Sources == nil {
					t.Errorf("%s: %v became %v", st.ID, w.Statements[i].Steps, st.Steps)
				}
			}
		})
	}
	t.Run("strangers", func(t *testing.T) {
		c := halves(m, s, func(string) [2]float64 { return [2]float64{1, 1} })
		gone := c.Members[0]
		c.Members[0] = cycle.Member{Fingerprint: cycle.Rest, Weights: []float64{30, 0}}
		c.Members = append(c.Members, cycle.Member{Fingerprint: "beef", Weights: []float64{1, 2}}, cycle.Member{Fingerprint: "dead", Weights: []float64{0, 0}})
		w, missing := m.OverTime(c)
		if !strings.Contains(strings.Join(missing, " "), "beef") || strings.Contains(strings.Join(missing, " "), "dead") {
			t.Error(missing)
		}
		for _, st := range w.Statements {
			if st.Sources[0] == gone.Fingerprint && len(m.UsesOf(st.ID)) == 1 {
				if before := m.Workload.Statement(st.ID).Weight; math.Abs(st.Steps[0]-3*before) > 1e-9 || st.Steps[1] != 0 {
					t.Errorf("a statement of the rest has %v, its mean is %v", st.Steps, before)
				}
			}
		}
	})
}

func unexplained(m *infer.Model, fingerprint string) bool {
	for _, u := range m.Unexplained {
		if u.Fingerprint == fingerprint {
			return true
		}
	}
	return false
}

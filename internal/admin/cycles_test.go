package admin

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
)

// TestCycles: the API finds the cycle of the history, and makes a workload of it that can be read.
func TestCycles(t *testing.T) {
	c := serve(t, &parts{}, false)
	ctx := context.Background()
	var r cycle.Report
	if err := c.Get(ctx, "cycles?zone=UTC&period=auto", &r); err != nil {
		t.Fatal(err)
	}
	if r.Cycle == nil || len(r.Cycle.Steps) != 2 || r.Cycle.When(0) != "08:00" || len(r.Statements) != 2 {
		t.Fatalf("%+v", r)
	}
	for path, want := range map[string]string{
		"cycles?zone=Mars/Olympus": "invalid", "cycles?zone=Local": "invalid", "cycles?period=month": "invalid", "cycles?min_step=x": "invalid", "cycles?min_step=-1h": "invalid",
		"cycles?since=-1h": "invalid", "cycles?period=week": "", "cycles/workload?period=week": "refused", "cycles?since=30m": "", "cycles/workload?since=30m": "refused",
		"cycles/workload": "unavailable", // the history of the test can not be read otherwise
	} {
		if got := code(t, c.Get(ctx, path, &[]byte{})); got != want {
			t.Errorf("GET %s: %q, want %q", path, got, want)
		}
	}
}

// whole is a history that can be read.
type whole struct{ remembered }

func (w whole) Between(ctx context.Context, from, to time.Time) (*capture.Snapshot, error) {
	s, _ := w.remembered.Between(ctx, from, to)
	return s, nil
}

func TestCycleWorkload(t *testing.T) {
	c := serve(t, &parts{history: whole{}}, false)
	var raw []byte
	if err := c.Get(context.Background(), "cycles/workload", &raw); err != nil {
		t.Fatal(err)
	}
	w, err := workload.Read("w", raw)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if w.TimeSteps() != 2 || fmt.Sprint(w.Interval) != "[10h0m0s 14h0m0s]" || len(w.Statements) != 1 || w.Statements[0].Steps[0] <= w.Statements[0].Steps[1] {
		t.Errorf("%s", raw)
	}
	if !strings.Contains(string(raw), "cccc0000") {
		t.Errorf("it does not say what is missing:\n%s", raw)
	}
}

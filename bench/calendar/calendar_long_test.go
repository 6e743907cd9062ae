//go:build !race

package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/timeline"
)

// TPC-H takes ten times as long under the race detector: `make test` runs this by itself.

// W-46: a calendar is better than every static baseline, and near the ideal, whatever the size of the data: over few rows what the linear relaxation makes something of has nothing
// to fill anything from, and calendars of that alone never change (decision 31).
func TestFewRowsHaveCalendars(t *testing.T) {
	b := &bench{options: options{file: "cycles", files: "../../examples/designs", rows: 20_000, share: 0.8}, out: &bytes.Buffer{}, begun: time.Now()}
	if err := b.design(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, x := range b.rivals {
		want, less := 0.07, 1-b.calendar.Cost/x.said
		if x.name == timeline.Ideal {
			want = -0.05
		}
		t.Logf("the calendar costs %g, %s %g", b.calendar.Cost, x.name, x.said)
		if less < want {
			t.Errorf("the calendar costs %g, %s %g: %.1f %% less, not %.1f", b.calendar.Cost, x.name, x.said, 100*less, 100*want)
		}
	}
	if len(b.rivals) != len(baselines) || len(b.rivals[len(baselines)-1].designs) != 2 {
		t.Errorf("%d rivals, the ideal with %d designs", len(b.rivals), len(b.rivals[len(b.rivals)-1].designs))
	}
}

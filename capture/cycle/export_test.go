package cycle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/history"
)

// Told is how much a record tells apart.
type Told struct{ Told, Executions int }

type strangers int

func (s strangers) Hours(_ context.Context, _, _ time.Time, yield func(*history.HourOf) error) error {
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	const each = 1000
	for hour := range int(s) / each {
		h := &history.HourOf{At: at.Add(time.Duration(hour) * time.Hour), Watched: time.Hour, Said: []history.Executions{{Fingerprint: "regular", Count: 2}}}
		for i := range each {
			h.Said = append(h.Said, history.Executions{Fingerprint: fmt.Sprint("s", hour, "/", i), Count: 1})
		}
		if err := yield(h); err != nil {
			return err
		}
	}
	return nil
}

// Strangers reads n statements that are said once, and one that is said each hour.
func Strangers(t *testing.T, n int) Told {
	t.Helper()
	r, err := Read(context.Background(), strangers(n), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if x := r.said["regular"]; x == nil || int(x.Count) != 2*r.Bins {
		t.Errorf("the regular one is lost: %+v", x)
	}
	out := Told{Told: len(r.said), Executions: int(r.rest.Count)}
	for _, x := range r.said {
		out.Executions += int(x.Count)
	}
	return out
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Hour is what a record knows of one: executions of a statement, and how long was listened.
func (r *Record) Hour(fingerprint string, bin int) (count, watched float64) {
	x := r.said[fingerprint]
	if x == nil {
		x = r.rest
	}
	for i, b := range x.bins {
		if b == bin {
			count = x.counts[i]
		}
	}
	return count, r.watched[bin]
}

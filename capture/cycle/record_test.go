package cycle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/history"
)

// hours are a source as it is written down.
type hours []history.HourOf

func (l hours) Hours(_ context.Context, _, _ time.Time, yield func(*history.HourOf) error) error {
	for i := range l {
		if err := yield(&l[i]); err != nil {
			return err
		}
	}
	return nil
}

// hour is one of a proxy, which listened for so many minutes and heard a statement n times.
func hour(at, minutes int, n uint64) history.HourOf {
	begin := monday.Add(time.Duration(at) * time.Hour)
	return history.HourOf{At: begin, From: begin, To: begin.Add(time.Hour), Watched: time.Duration(minutes) * time.Minute,
		Said: []history.Executions{{Fingerprint: "f", Count: n}}}
}

func TestRecord(t *testing.T) {
	long := hour(9, 240, 400) // four hours waited for the disk, and are filed under the last
	long.From, long.To = monday.Add(6*time.Hour), monday.Add(10*time.Hour)
	stray := hour(0, 60, 7)
	stray.At = monday.AddDate(-30, 0, 0)
	ahead := hour(0, 60, 7)
	ahead.At = monday.AddDate(14, 0, 0)
	for name, c := range map[string]struct {
		list hours
		want string // by hour: executions/share
	}{
		"one proxy":                        {hours{hour(0, 60, 10), hour(1, 30, 5), hour(3, 60, 8)}, "10/1 5/0.5 0/0 8/1"},
		"two proxies":                      {hours{hour(0, 60, 10), hour(0, 15, 20), hour(1, 60, 1), hour(1, 60, 2)}, "30/1 3/1"},
		"a window of several hours":        {hours{hour(5, 60, 90), hour(6, 0, 0), long}, "90/1 100/1 100/1 100/1 100/1"},
		"a clock that was back, and on":    {hours{stray, hour(0, 60, 1), hour(1, 60, 2), ahead}, "1/1 2/1"},
		"more minutes than an hour has":    {hours{hour(0, 61, 10)}, "10/1"},
		"an hour in which nothing is said": {hours{hour(0, 60, 0), hour(1, 60, 3)}, "0/1 3/1"},
		"nothing":                          {nil, ""},
	} {
		r, err := cycle.Read(ctx, c.list, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for bin := range r.Bins {
			count, watched := r.Hour("f", bin)
			if bin > 0 {
				got += " "
			}
			got += fmt.Sprintf("%g/%.2g", count, watched)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := cycle.Read(ended, hours{hour(0, 60, 1)}, time.Time{}, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

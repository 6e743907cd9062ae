package guard

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

func quiet(t *testing.T) *bytes.Buffer {
	var log bytes.Buffer
	LogTo(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { LogTo(nil) })
	return &log
}

func TestPanicIsAnError(t *testing.T) {
	log := quiet(t)
	before := Count(Advice)
	err := Do(Advice, func() error { panic("boom") })
	var e *Panic
	if !errors.As(err, &e) || e.Part != Advice || e.Value != "boom" || Count(Advice) != before+1 {
		t.Errorf("%v, %d", err, Count(Advice)-before)
	}
	if text := log.String(); !strings.Contains(text, "part=advice") || !strings.Contains(text, "boom") || !strings.Contains(text, "TestPanicIsAnError") {
		t.Errorf("the log says %q", text)
	}
	other := errors.New("other")
	if err := Do(Advice, func() error { return other }); err != other { //nolint:errorlint // the very one
		t.Error(err)
	}
}

func TestGoroutine(t *testing.T) {
	quiet(t)
	told := make(chan error)
	Go(Reads, func() { panic("for the test") }, func(err error) { told <- err })
	if err := <-told; err == nil {
		t.Error("nobody was told")
	}
}

// TestLoopBeginsAgain: after longer and longer waits, and after short ones again when it ran for long; then is told before.
func TestLoopBeginsAgain(t *testing.T) {
	quiet(t)
	now := time.Unix(0, 0)
	var waits []time.Duration
	clock := Clock{Now: func() time.Time { return now }, After: func(d time.Duration) <-chan time.Time {
		waits = append(waits, d)
		c := make(chan time.Time, 1)
		c <- now
		return c
	}}
	runs, told := 0, 0
	Loop(context.Background(), Schema, clock, func(context.Context) {
		runs++
		switch runs {
		case 9:
			now = now.Add(2 * lastRestart)
		case 11:
			return
		}
		panic(runs)
	}, func(error) {
		told++
		panic("what is told may panic, too")
	})
	s := time.Second
	if want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, time.Minute, time.Minute, s, 2 * s}; !slices.Equal(waits, want) || told != 10 {
		t.Errorf("waits %v, told %d", waits, told)
	}
	ctx, cancel := context.WithCancel(context.Background())
	Loop(ctx, Schema, Clock{}, func(context.Context) { cancel(); panic("once") }, nil) // returns
}

func TestEveryPartHasAName(t *testing.T) {
	seen := map[string]bool{"": true}
	for p := range parts {
		if seen[p.String()] {
			t.Errorf("part %d is called %q", p, p)
		}
		seen[p.String()] = true
	}
}

func TestGroupPanicsWhereItIsWaitedFor(t *testing.T) {
	quiet(t)
	before := Count(Advice)
	err := Do(Advice, func() error {
		var g Group
		for i := range 3 {
			g.Go(Advice, func() {
				if i == 1 {
					panic("one of them")
				}
			})
		}
		g.Wait()
		t.Error("it went on")
		return nil
	})
	if err == nil || Count(Advice) != before+1 {
		t.Errorf("%v, counted %d", err, Count(Advice)-before)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	n := testing.AllocsPerRun(100, func() {
		defer Recover(Relay, nil)
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

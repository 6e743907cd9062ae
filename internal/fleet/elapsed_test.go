package fleet

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// Elapsed is the kernel's own count of the time since it began, in which it counts that in which it was suspended.
func TestElapsed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere it is the runtime's clock")
	}
	raw, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Skip(err)
	}
	seconds, err := strconv.ParseFloat(strings.Fields(string(raw))[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	now := Elapsed()
	if d := now - time.Duration(seconds*float64(time.Second)); d < -time.Second || d > 10*time.Second {
		t.Errorf("%v, where the machine is up for %.2f s", now, seconds)
	}
	time.Sleep(20 * time.Millisecond)
	if d := Elapsed() - now; d < 20*time.Millisecond || d > 10*time.Second {
		t.Errorf("20 ms are %v", d)
	}
}

// asleep is a state during whose answers the machine may be suspended.
type asleep struct {
	lone
	sleep func(what string)
}

func (s *asleep) Beats(ctx context.Context) (map[string]json.RawMessage, error) {
	defer s.sleep("beats")
	return s.lone.Beats(ctx)
}

func (s *asleep) Epoch(ctx context.Context) (int64, error) {
	defer s.sleep("epoch")
	return s.lone.Epoch(ctx)
}

// TestASleeperServesNothing: whenever a machine was suspended for longer than the lease, its member serves nothing when it wakes, before it has looked anew.
func TestASleeperServesNothing(t *testing.T) {
	for _, when := range []string{"between looks", "beats", "epoch"} {
		at := 10 * time.Second
		s := &asleep{lone: lone{kinds: map[string][]store.Document{}, beats: map[string]json.RawMessage{}}}
		s.sleep = func(string) {}
		m := New(Options{Store: s, ID: "m", Form: 1, Now: func() time.Duration { return at }, Wait: func(_ context.Context, d time.Duration) error { at += d; return nil },
			Truth: Truth{Rules: func() uint64 { return 0 }, Withholding: func() bool { return false }, Blocked: func() string { return "" }}})
		if _, err := m.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		look := func() {
			at += m.o.Interval
			if err := m.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			look()
		}
		if !m.Serving() || !m.Leads() {
			t.Fatal("it does not serve")
		}
		moment := m.Moment()
		if when == "between looks" {
			at += time.Hour
		} else {
			s.sleep = func(what string) {
				if what == when {
					at += time.Hour
				}
			}
			look()
		}
		if m.Serving() || m.Followed(moment) {
			t.Errorf("%s: it serves, or knows that all have followed", when)
		}
		s.sleep = func(string) {}
		for range 4 {
			look()
		}
		if !m.Serving() {
			t.Errorf("%s: it does not serve again", when)
		}
	}
}

package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/store"
)

// state is a fleet's, in memory.
type state struct {
	rows  map[string]map[string][]byte
	puts  int
	fails func(kind string) error
}

func (s *state) Put(_ context.Context, kind, key string, body []byte, _ time.Duration) error {
	if err := s.fails(kind); err != nil {
		return err
	}
	if s.rows[kind] == nil {
		s.rows[kind] = map[string][]byte{}
	}
	s.rows[kind][key] = bytes.Clone(body)
	s.puts++
	return nil
}

func (s *state) All(_ context.Context, kind string) (map[string][]byte, error) {
	return maps.Clone(s.rows[kind]), s.fails(kind)
}

func newState() *state {
	return &state{rows: map[string]map[string][]byte{}, fails: func(string) error { return nil }}
}

func newMember(t *testing.T) *world {
	w := newWorld(t, t.TempDir())
	t.Cleanup(w.end)
	return w
}

// hours is what a member knows of hours: executions by hour.
func (w *world) hours() map[string]uint64 {
	w.t.Helper()
	list := map[string]uint64{}
	if err := w.history.Hours(ctx, time.Time{}, time.Time{}, func(h *history.HourOf) error {
		for _, e := range h.Said {
			list[h.At.Format("02T15 ")+e.Text] += e.Count
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return list
}

// exchange exchanges hours, without error.
func (w *world) exchange(s *state, name string) (left, taken int) {
	w.t.Helper()
	left, taken, err := w.history.Exchange(ctx, s, name)
	if err != nil {
		w.t.Fatal(err)
	}
	return left, taken
}

// TestMembersKnowEachOthersHours: what two members see of an application, each a part, is known to both, and to one that comes later, as to one that all of it passes: hour by
// hour, and with it the cycle, which neither of them sees alone.
func TestMembersKnowEachOthersHours(t *testing.T) {
	s := newState()
	all, a, b, late := newMember(t), newMember(t), newMember(t), newMember(t)
	for hour := range 8 * 24 {
		n := 1
		if (hour+10)%24 < 6 { // at night, by one of both in turn
			n = 40
		}
		for i, w := range []*world{a, b} {
			if hour%2 == i {
				w.say(1, n)
			} else {
				w.say(2, 1)
			}
		}
		all.say(1, n)
		all.say(2, 1)
		for _, w := range []*world{all, a, b} {
			w.now = w.now.Add(time.Hour)
			w.mustTick()
		}
		if hour%50 == 49 {
			a.exchange(s, "a")
			b.exchange(s, "b")
		}
	}
	for range 2 {
		a.exchange(s, "a")
		b.exchange(s, "b")
	}
	late.now = a.now
	if _, taken := late.exchange(s, "late"); taken == 0 {
		t.Error("who comes later learns nothing")
	}
	want := all.hours()
	if len(want) < 8*24 {
		t.Fatalf("%d hours", len(want))
	}
	cycles := func(w *world) string {
		r, err := cycle.Read(ctx, w.history, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := cycle.Find(r, cycle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Cycle == nil {
			return report.Why
		}
		return fmt.Sprintf("%+v", *report.Cycle)
	}
	if found := cycles(all); !strings.Contains(found, "Steps") {
		t.Errorf("one that sees all finds %s", found)
	}
	for name, w := range map[string]*world{"a": a, "b": b, "late": late} {
		if diff := cmp.Diff(want, w.hours()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := cycles(w); got != cycles(all) {
			t.Errorf("%s finds %s, one that sees all finds %s", name, got, cycles(all))
		}
		if left, taken := w.exchange(s, name); left+taken > 0 {
			t.Errorf("%s leaves %d hours again, and takes %d", name, left, taken)
		}
	}
}

// TestExchangeIsInterrupted: what could not be left is left the next time, nothing twice; a row that can not be read is told, and keeps nobody from the rest.
func TestExchangeIsInterrupted(t *testing.T) {
	s := newState()
	a, b := newMember(t), newMember(t)
	for range 6 {
		a.say(1, 3)
		a.now, b.now = a.now.Add(time.Hour), b.now.Add(time.Hour)
		a.mustTick()
		b.mustTick()
	}
	puts := 0
	s.fails = func(kind string) error {
		if strings.HasPrefix(kind, "hour ") {
			if puts++; puts > 2 {
				return errors.New("no majority")
			}
		}
		return nil
	}
	if left, _, err := a.history.Exchange(ctx, s, "a"); err == nil || left != 2 {
		t.Errorf("%d left: %v", left, err)
	}
	s.fails = func(string) error { return nil }
	a.exchange(s, "a")
	hours := 0
	for kind, rows := range s.rows {
		if strings.HasPrefix(kind, "hour ") {
			hours += len(rows)
		}
	}
	if hours < 5 || s.puts != hours+2 {
		t.Errorf("%d hours are left, by %d rows", hours, s.puts)
	}
	s.rows["hours"]["odd"] = []byte("{")
	for kind, rows := range s.rows {
		if strings.HasSuffix(kind, "12:00:00Z") {
			for key := range rows { // there is one
				rows[key] = []byte("nonsense")
			}
		}
	}
	_, taken, err := b.history.Exchange(ctx, s, "b")
	if taken != hours-1 || err == nil || !strings.Contains(err.Error(), "member odd") || !strings.Contains(err.Error(), "12:00:00") {
		t.Errorf("%d of %d taken: %v", taken, hours, err)
	}
}

// TestOldHoursAreNotLeft: hours from before Known are each member's own.
func TestOldHoursAreNotLeft(t *testing.T) {
	s, w := newState(), newMember(t)
	w.say(1, 1)
	w.mustTick()
	w.now = w.now.Add(history.Known + 2*time.Hour)
	w.say(1, 1)
	w.mustTick()
	w.now = w.now.Add(2 * time.Hour)
	w.mustTick()
	if left, _ := w.exchange(s, "a"); left == 0 || left > 3 {
		t.Errorf("%d hours are left", left)
	}
	list, err := w.shelf.Keys(ctx, store.Span{Level: history.Hour})
	if err != nil || len(list) < 2 {
		t.Errorf("%d hours are there (%v)", len(list), err)
	}
}

// TestOthersHoursLeaveRoom: with hours of others a history has half of its room at most, and they are the latest.
func TestOthersHoursLeaveRoom(t *testing.T) {
	s := newState()
	a, b := newMember(t), newMember(t)
	for range 40 {
		a.say(1, 3)
		a.now, b.now = a.now.Add(time.Hour), b.now.Add(time.Hour)
		a.mustTick()
		b.mustTick()
	}
	a.exchange(s, "a")
	size, err := b.shelf.Size(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.end()
	b.options.Size = 2*size + 16<<10 // room for a few
	b.begin()
	_, taken, err := b.history.Exchange(ctx, s, "b")
	if taken == 0 || taken > 30 || err == nil || !strings.Contains(err.Error(), "history-size") {
		t.Errorf("%d hours are taken: %v", taken, err)
	}
	last := slices.Max(slices.Collect(maps.Keys(a.hours())))
	if b.hours()[last] == 0 {
		t.Errorf("%s is not among them", last)
	}
	_, again, _ := b.history.Exchange(ctx, s, "b")
	if again > 0 {
		t.Errorf("%d more are taken", again)
	}
}

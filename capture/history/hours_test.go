package history_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/store"
)

// TestHours: hours say what was executed in them and for how long was listened: a night in which nothing is said is known, the time in
// which the process was down is not.
func TestHours(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.now = w.now.Add(30 * time.Minute) // eleven
	w.registry.Close()
	w.start()
	pass := func(minutes, each int) {
		for range minutes {
			w.say(1, each)
			w.now = w.now.Add(time.Minute)
			w.mustTick()
		}
	}
	pass(60, 2)  // 11
	pass(120, 0) // 12, 13
	pass(15, 3)  // 14
	w.end()
	w.now = w.now.Add(110 * time.Minute) // down until 16:05
	w.start()
	pass(55, 4)
	pass(1, 0)
	var list []history.HourOf
	read := func(yield func(*history.HourOf) error) error {
		return w.history.Hours(ctx, time.Time{}, time.Time{}, yield)
	}
	if err := read(func(h *history.HourOf) error { list = append(list, *h); return nil }); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		hour    int
		watched time.Duration
		count   uint64
	}{{11, time.Hour, 120}, {12, time.Hour, 0}, {13, time.Hour, 0}, {14, 15 * time.Minute, 45}, {16, 55 * time.Minute, 220}}
	if len(list) != len(want) {
		t.Fatalf("%+v", list)
	}
	for i, x := range want {
		h := &list[i]
		count := h.Rest.Count
		for _, e := range h.Said {
			count += e.Count
			if e.Micros != e.Count*1000 || e.Work() != 2*float64(e.Count) || e.Text == "" {
				t.Errorf("%+v", e)
			}
		}
		if h.At.Hour() != x.hour || h.Watched.Round(time.Second) != x.watched || count != x.count || h.Origin == "" {
			t.Errorf("hour %d: %+v, want %+v", i, h, x)
		}
	}
	stop := errors.New("enough")
	if err := read(func(*history.HourOf) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}

	// What is exported knows it, too.
	var b bytes.Buffer
	if _, err := history.Export(ctx, w.shelf, &b, time.Time{}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	other, err := store.OpenWindows(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if _, err := history.Import(ctx, other, &b); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := history.Hours(ctx, other, time.Time{}, time.Time{}, func(h *history.HourOf) error {
		if h.Watched != list[n].Watched {
			t.Errorf("imported, hour %d was listened to for %v, not %v", n, h.Watched, list[n].Watched)
		}
		n++
		return nil
	}); err != nil || n != len(list) {
		t.Errorf("%d hours, %v", n, err)
	}
	if err := other.Apply(context.Background(), store.WindowsChange{Put: []store.Window{{Level: history.Hour, Origin: "o", At: w.now, Body: []byte("garbage")}}}); err != nil {
		t.Fatal(err)
	}
	if err := history.Hours(ctx, other, w.now, time.Time{}, func(*history.HourOf) error { return nil }); err == nil {
		t.Error("garbage was read")
	}
	w.end()
}

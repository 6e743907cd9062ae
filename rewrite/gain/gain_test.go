package gain_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/rewrite/gain"
)

var start = time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)

// latencies are those of a statement: about a middle, one in twenty four times as long.
type latencies struct {
	r  *rand.Rand
	ms float64
}

func (l latencies) next() time.Duration {
	v := l.ms * (0.7 + 0.6*l.r.Float64())
	if l.r.IntN(20) == 0 {
		v *= 4
	}
	return time.Duration(v * float64(time.Millisecond))
}

func distribution(n int, ms float64) histogram.Distribution {
	var h histogram.Histogram
	l := latencies{rand.New(rand.NewPCG(7, 7)), ms}
	for range n {
		h.Add(uint64(l.next().Microseconds()))
	}
	var d histogram.Distribution
	h.AddTo(&d)
	return d
}

// life is a change that serves: what is read, as written or not, and when it is turned back.
type life struct {
	before, control, after float64 // milliseconds
	reads                  int
	alone, writes          float64 // milliseconds; 0: no writes
	written                float64 // what writes took before, milliseconds; 0: not known
	promise                gain.Promise
	every                  uint64 // of the engine's control; 0: 1,000
}

// run lives: a read a hundredth of a second, a verdict in ten seconds. It returns after how many reads what was ordered, and how many
// ran as written.
func (l life) run(m *gain.Meter) (order gain.Order, why string, reads, controls int) {
	r := rand.New(rand.NewPCG(1, 2))
	every := max(l.every, 1)
	if l.every == 0 {
		every = 1000
	}
	now := start
	for n := range l.reads {
		if n%1000 == 0 {
			now = now.Add(10 * time.Second)
			if order, why = m.Weigh(now, true); order != gain.Keep {
				return order, why, n, controls
			}
		}
		if uint64(n)%every == 0 || m.Tries(uint64(n)) {
			m.Control(latencies{r, l.control}.next())
			controls++
		} else {
			m.Read(latencies{r, l.after}.next())
		}
		if l.writes > 0 {
			alone := latencies{r, l.alone}.next()
			m.Write(alone+latencies{r, l.writes - l.alone}.next(), alone)
		}
	}
	return gain.Keep, "", l.reads, controls
}

func TestVerdicts(t *testing.T) {
	tests := []struct {
		name string
		life
		want     gain.Order
		why      string
		most     int // reads until the verdict
		controls int // most of them
	}{
		{name: "five times slower", life: life{before: 2.6, control: 2.6, after: 11.9, reads: 50_000}, want: gain.TurnBack, why: "slower than before: p50 11.", most: 5_000, controls: 300},
		{name: "a quarter slower", life: life{before: 2.6, control: 2.6, after: 3.25, reads: 50_000}, want: gain.TurnBack, why: "slower than before: p50", most: 10_000, controls: 600},
		{name: "faster", life: life{before: 11.9, control: 11.9, after: 2.6, reads: 50_000}, controls: 60},
		{name: "as fast", life: life{before: 2.6, control: 2.6, after: 2.6, reads: 200_000}, controls: 1_500},
		{name: "a twentieth slower is within the margin", life: life{before: 2.6, control: 2.6, after: 2.73, reads: 200_000}, controls: 1_500},
		{name: "the cluster has become slower, not the change", life: life{before: 2.6, control: 11.9, after: 5, reads: 200_000}, controls: 1_500},
		{name: "the cluster has become faster, and the change is in its way", life: life{before: 11.9, control: 2, after: 6, reads: 200_000}, want: gain.TurnBack, why: "slower than before", most: 60_000, controls: 100},
		{name: "nothing was known before", life: life{control: 2.6, after: 11.9, reads: 50_000}, want: gain.TurnBack, why: "p50", most: 6_000, controls: 600},
		{name: "nothing was known before, and it is faster", life: life{control: 11.9, after: 2.6, reads: 50_000}, controls: 600},
		{name: "too few reads to tell", life: life{before: 2.6, control: 2.6, after: 11.9, reads: 90}, controls: 1},
		{name: "writes as promised", life: life{before: 11.9, control: 11.9, after: 2.6, reads: 20_000, alone: 1, writes: 2.1, promise: gain.Promise{Writes: 2.1}}, controls: 30},
		{name: "writes take six times as long", life: life{before: 11.9, control: 11.9, after: 2.6, reads: 60_000, alone: 1, writes: 6, promise: gain.Promise{Writes: 2.1}},
			want: gain.RollBack, why: "its writes are slower than promised: p50 6.", most: 20_000, controls: 100},
		{name: "writes take six times as long, and longer than before", life: life{before: 11.9, control: 11.9, after: 2.6, reads: 60_000, alone: 1, writes: 6, written: 1.2, promise: gain.Promise{Writes: 2.1}},
			want: gain.RollBack, why: "its writes are slower than promised: p50 6.", most: 20_000, controls: 100},
		{name: "writes take six times as long as alone, and no longer than before", life: life{before: 11.9, control: 11.9, after: 2.6, reads: 60_000, alone: 1, writes: 6, written: 5, promise: gain.Promise{Writes: 2.1}}, controls: 70},
		{name: "writes of which nothing was promised", life: life{before: 11.9, control: 11.9, after: 2.6, reads: 60_000, alone: 1, writes: 6}, controls: 70},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gain.Record{Promise: tt.promise}
			if tt.before > 0 {
				r.Before.Reads = distribution(2_000, tt.before)
			}
			if tt.written > 0 {
				r.Before.Writes = distribution(2_000, tt.written)
			}
			m := gain.NewMeter(gain.Settings{}, r)
			order, why, reads, controls := tt.run(m)
			if order != tt.want || !strings.Contains(why, tt.why) {
				t.Fatalf("%d, %q after %d reads", order, why, reads)
			}
			if tt.want != gain.Keep && reads > tt.most || controls > tt.controls {
				t.Errorf("%d reads until the verdict, %d as written", reads, controls)
			}
			record := m.Record()
			if got := record.Report().Verdict; got != why {
				t.Errorf("the record says %q, the verdict was %q", got, why)
			}
		})
	}
}

// TestNoticedAfterALongTime: a change that was good for a month is noticed when it no longer is.
func TestNoticedAfterALongTime(t *testing.T) {
	m := gain.NewMeter(gain.Settings{}, gain.Record{Before: gain.Before{Reads: distribution(2_000, 5)}})
	if order, why, _, _ := (life{control: 5, after: 2, reads: 1_000_000}).run(m); order != gain.Keep {
		t.Fatal(why)
	}
	if order, why, reads, _ := (life{control: 5, after: 9, reads: 1_000_000}).run(m); order != gain.TurnBack || reads > 150_000 {
		t.Errorf("%d, %q after %d reads", order, why, reads)
	}
}

// TestTakenUpAgain: what is resumed is judged by what comes then.
func TestTakenUpAgain(t *testing.T) {
	m := gain.NewMeter(gain.Settings{}, gain.Record{Before: gain.Before{Reads: distribution(2_000, 5)}})
	slow := life{control: 5, after: 9, reads: 20_000}
	if order, _, _, _ := slow.run(m); order != gain.TurnBack {
		t.Fatal("not turned back")
	}
	m.Weigh(start, false)
	if r := m.Record(); r.Verdict == "" {
		t.Error("the verdict is gone while it is suspended")
	}
	if order, why, _, _ := (life{control: 5, after: 2, reads: 20_000}).run(m); order != gain.Keep {
		t.Errorf("resumed and good: %s", why)
	}
	if r := m.Record(); r.Verdict != "" {
		t.Errorf("resumed and good: %s", r.Verdict)
	}
	m.Weigh(start, false)
	if order, _, _, _ := slow.run(m); order != gain.TurnBack {
		t.Error("resumed and slow, and not turned back")
	}
}

func TestReport(t *testing.T) {
	m := gain.NewMeter(gain.Settings{}, gain.Record{Promise: gain.Promise{Reads: 4.5, Writes: 2}, Before: gain.Before{Reads: distribution(2_000, 12)}})
	life{control: 12, after: 3, reads: 10_000, alone: 1, writes: 2}.run(m)
	r := m.Record()
	report := r.Report()
	for _, want := range []string{"4.0 times as fast; promised were 4.5 times", "saved so far: ", "writes take p50", "promised were 2.0 times"} {
		if !strings.Contains(report.Text, want) {
			t.Errorf("%q is not in\n%s", want, report.Text)
		}
	}
	if report.Measured < 3.7 || report.Measured > 4.3 || report.SavedSeconds < 60 || report.SavedSeconds > 120 || report.Reads.Control != nil && report.Reads.Control.Count > 20 {
		t.Errorf("%+v", report)
	}
	if empty := (&gain.Record{}).Report(); empty.Text != "no read was answered yet; nothing was promised" || empty.Reads.After != nil {
		t.Errorf("%+v", empty)
	}
}

// memory is a Store.
type memory map[string][]byte

func (m memory) Save(_ context.Context, kind, id string, v any) (err error) {
	m[kind+"/"+id], err = json.Marshal(v)
	return err
}

func (m memory) List(_ context.Context, kind string) (out []store.Document, err error) {
	for key, raw := range m {
		if id, ok := strings.CutPrefix(key, kind+"/"); ok {
			out = append(out, store.Document{ID: id, Raw: raw})
		}
	}
	return out, nil
}

// TestKept: a restart keeps what was before and what was measured, and a change of the same id begins anew.
func TestKept(t *testing.T) {
	ctx, kept := context.Background(), memory{}
	k := gain.NewKeeper(kept, gain.Settings{})
	if err := k.Begin(ctx, "r-1", gain.Promise{Reads: 3}, gain.Before{Reads: distribution(500, 5)}); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		k.Meter("r-1").Read(2 * time.Millisecond)
	}
	if err := k.Save(ctx, start, false); err != nil {
		t.Fatal(err)
	}
	k.Meter("r-1").Control(time.Millisecond)
	if err := k.Save(ctx, start.Add(time.Second), false); err != nil { // not yet
		t.Fatal(err)
	}
	again := gain.NewKeeper(kept, gain.Settings{})
	kept["gain/r-2"] = []byte("{") // damaged: measured anew
	if err := again.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	again.Meter("r-1").Read(2 * time.Millisecond)
	r := again.Meter("r-1").Record()
	if r.Since.Reads.Count != 301 || r.Since.Controls.Count != 0 || r.Before.Reads.Count != 500 || r.Promise.Reads != 3 {
		t.Errorf("after a restart: %+v", r)
	}
	if err := again.Begin(ctx, "r-1", gain.Promise{}, gain.Before{}); err != nil {
		t.Fatal(err)
	}
	if r := again.Meter("r-1").Record(); r.Since.Reads.Count != 0 || r.Before.Reads.Count != 0 {
		t.Errorf("approved anew: %+v", r)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	m := gain.NewMeter(gain.Settings{}, gain.Record{})
	one := func() {
		m.Read(3 * time.Millisecond)
		m.Control(3 * time.Millisecond)
		m.Write(3*time.Millisecond, time.Millisecond)
		m.Tries(4)
	}
	one() // the octaves
	if n := testing.AllocsPerRun(100, one); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

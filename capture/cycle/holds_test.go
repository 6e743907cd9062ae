package cycle_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/cycle"
)

// TestACycleThatChanges: a cycle holds while the traffic is as it was, through a holiday, a quiet week and a gap; it does not from
// the day on at which the traffic changes for good, whatever kind of change that is.
func TestACycleThatChanges(t *testing.T) {
	learn := func(t *testing.T, seed uint64, days int, rates ...func(int, time.Time) float64) *cycle.Cycle {
		m := newMade(days, seed)
		m.noise, m.rates = 0.3, rates
		r := m.find(t, cycle.Options{})
		if r.Cycle == nil {
			t.Fatal(r.Why)
		}
		raw, err := json.Marshal(r.Cycle) // as it would be kept
		if err != nil {
			t.Fatal(err)
		}
		var c cycle.Cycle
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		return &c
	}
	from := func(day int, before, after func(int, time.Time) float64) func(int, time.Time) float64 {
		return func(hour int, at time.Time) float64 {
			if hour >= day*24 {
				return after(hour, at)
			}
			return before(hour, at)
		}
	}
	a, b := daily(500, first), daily(500, then)
	only := func(day int, other, usual func(int, time.Time) float64) func(int, time.Time) float64 {
		return from(day, usual, from(day+1, other, usual))
	}
	half := func(_ int, at time.Time) float64 { return 0.6 * a(0, at) }
	shifted := func(_ int, at time.Time) float64 { return a(0, at.Add(-6*time.Hour)) }
	for _, c := range []struct {
		name  string
		rates []func(int, time.Time) float64 // of the weeks after
		down  func(int) float64
		since int // day; -1: it holds
	}{
		{"as it was", []func(int, time.Time) float64{a, b}, nil, -1},
		{"less of everything", []func(int, time.Time) float64{half, func(_ int, at time.Time) float64 { return 0.6 * b(0, at) }}, nil, -1},
		{"a holiday", []func(int, time.Time) float64{only(5, constant(30), a), only(5, constant(30), b)}, nil, -1},
		{"the proxy was down", []func(int, time.Time) float64{a, b}, func(h int) float64 { return float64(b2i(h > 60 && h < 130)) }, -1},
		{"six hours later", []func(int, time.Time) float64{from(8, a, shifted), b}, nil, 8},
		{"it stops", []func(int, time.Time) float64{from(6, a, constant(90)), from(6, b, constant(90))}, nil, 6},
		{"the groups change places", []func(int, time.Time) float64{from(9, a, b), from(9, b, a)}, nil, 9},
		{"nothing more is executed", []func(int, time.Time) float64{from(10, a, constant(0)), from(10, b, constant(0))}, nil, 10},
		{"something new", []func(int, time.Time) float64{a, b, from(7, constant(0), constant(3000))}, nil, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(5) {
				known := learn(t, seed, 14, a, b)
				m := newMade(14, seed+100)
				m.start, m.noise, m.rates, m.down = monday.AddDate(0, 0, 14), 0.3, c.rates, c.down
				h := known.Holds(m.record(t))
				since := -1
				if !h.Since.IsZero() {
					since = int(h.Since.Sub(m.start).Hours() / 24)
				}
				if h.Holds != (c.since < 0) || since != c.since || h.Known < 10 || !strings.Contains(h.Why, "off by") {
					t.Errorf("seed %d: holds %v since day %d (%s)\n%+v", seed, h.Holds, since, h.Why, h.Days)
				}
			}
		})
	}
	t.Run("of a week", func(t *testing.T) {
		known := learn(t, 1, 28, office(false), constant(200))
		for want, rates := range map[bool]func(int, time.Time) float64{true: office(false), false: from(3, office(false), office(true))} {
			m := newMade(14, 9)
			m.start, m.noise = monday.AddDate(0, 0, 28), 0.3
			m.say(from(12, rates, rates)).say(constant(200))
			m.hours = 24 * 7
			if h := known.Holds(m.record(t)); h.Holds != want {
				t.Errorf("holds %v (%s)\n%+v", h.Holds, h.Why, h.Days)
			}
		}
	})
	t.Run("nothing recent", func(t *testing.T) {
		if h := learn(t, 1, 14, a, b).Holds(newMade(0, 1).record(t)); !h.Holds || h.Known != 0 || h.Why == "" {
			t.Errorf("%+v", h)
		}
	})
}

// TestManyStatements: 10,000 statements, of which the heaviest are looked at and the others make one group, in bounded memory and without losing an execution.
func TestManyStatements(t *testing.T) {
	const n = 10_000
	m := newMade(5, 3)
	m.exact = true
	want := 0.0
	for i := range n {
		rate := constant(3)
		if i%1000 == 0 {
			rate = daily(5000, low)
		}
		m.say(rate)
	}
	for hour := range m.hours {
		for _, rate := range m.rates {
			want += float64(uint64(rate(hour, m.start.Add(time.Duration(hour)*time.Hour))))
		}
	}
	record := m.record(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := cycle.Find(record, cycle.Options{Main: 50})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 200 {
		t.Errorf("looking took %d MB", taken)
	}
	if begins(r.Cycle) != "00:00 06:00 12:00 18:00" || r.Left != n-50 || len(r.Statements) != 51 {
		t.Fatalf("%s: %s; %d left", begins(r.Cycle), r.Why, r.Left)
	}
	got, share := 0.0, 0.0
	for _, s := range r.Statements {
		got, share = got+float64(s.Count), share+s.Share
	}
	if got != want || share < 0.999 || share > 1.001 {
		t.Errorf("%.0f executions of %.0f, shares %.3f", got, want, share)
	}
	sum := 0.0
	for i, length := range r.Cycle.Intervals() {
		for _, x := range r.Cycle.Members {
			sum += x.Weights[i] * length.Seconds()
		}
	}
	if mean := want / 5; sum < 0.97*mean || sum > 1.03*mean {
		t.Errorf("the weights are of %.0f executions a day, there were %.0f", sum, mean)
	}
}

// TestStrangersAreFolded: texts that are said once and never again do not fill the memory.
func TestStrangersAreFolded(t *testing.T) {
	r := cycle.Strangers(t, 50_000)
	if r.Told > 20_000 || r.Executions != 50_000+2*50 {
		t.Errorf("%+v", r)
	}
}

// TestADayIsNoWeek: days that vary in the busy hours only, and a daily cycle in a random walk, are no weekly cycle.
func TestADayIsNoWeek(t *testing.T) {
	weekly := 0
	const all = 15
	for seed := range uint64(all) {
		m := newMade(28, seed)
		m.noise = 0.5
		r := m.say(office(true)).say(daily(400, first)).find(t, cycle.Options{Seed: seed})
		if r.Cycle == nil || r.Cycle.Period != cycle.Day {
			t.Errorf("seed %d: %s: %s", seed, begins(r.Cycle), r.Why)
		}
		if pattern(r, cycle.Week).Chance <= 0.005 {
			weekly++
		}
	}
	if weekly > 1 {
		t.Errorf("%d of %d are weekly", weekly, all)
	}
}

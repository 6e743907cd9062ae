package cycle_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/cycle"
)

// W-43: the frequencies of TPC-H's two groups of queries over 12 steps.
var (
	low, high   = []float64{.1, .1, .1, .9, .9, .9, .1, .1, .1, .9, .9, .9}, []float64{.9, .9, .9, .1, .1, .1, .9, .9, .9, .1, .1, .1}
	first, then = []float64{.1, .1, .1, .9, .9, .1, .1, .1, .1, .1, .1, .1}, []float64{.1, .1, .1, .1, .1, .1, .1, .9, .9, .1, .1, .1}
)

// daily repeats frequencies each day, as W-43's interval of 7,200 s does with 12 of them.
func daily(scale float64, f []float64) func(int, time.Time) float64 {
	return func(_ int, at time.Time) float64 { return scale * f[at.Hour()*len(f)/24] }
}

func office(weekends bool) func(int, time.Time) float64 {
	return func(_ int, at time.Time) float64 {
		weekend := at.Weekday() == time.Saturday || at.Weekday() == time.Sunday
		if at.Hour() >= 8 && at.Hour() < 18 && (weekends || !weekend) {
			return 1000
		}
		return 50
	}
}

// within reports whether steps begin where they should, to within one bin.
func within(got *cycle.Cycle, want string) bool {
	if got == nil || len(got.Steps) != len(strings.Fields(want)) {
		return false
	}
	for i, text := range strings.Fields(want) {
		var hours int
		if _, err := fmt.Sscanf(text, "%d", &hours); err != nil {
			return false
		}
		if d := got.Steps[i].Begin - time.Duration(hours)*time.Hour; d > time.Hour || d < -time.Hour {
			return false
		}
	}
	return true
}

// TestKnownShapes: W-1, W-43: cycles of a known shape are found with their change points to within one bin, under noise that is real: rates
// vary by 30 % from hour to hour, and counts are drawn by them.
func TestKnownShapes(t *testing.T) {
	nightly := func(_ int, at time.Time) float64 {
		if at.Hour() == 3 {
			return 5000
		}
		return 0
	}
	mondays := func(_ int, at time.Time) float64 {
		if at.Weekday() == time.Monday && at.Hour() >= 6 && at.Hour() < 12 {
			return 900
		}
		return 30
	}
	for _, c := range []struct {
		name   string
		days   int
		rates  []func(int, time.Time) float64
		period string
		begins string // hours
	}{
		{"W-43 cycles", 14, []func(int, time.Time) float64{daily(500, low), daily(500, high)}, cycle.Day, "0 6 12 18"},
		{"W-43 cycles, the least history", 4, []func(int, time.Time) float64{daily(500, low), daily(500, high)}, cycle.Day, "0 6 12 18"},
		{"W-43 spikes", 14, []func(int, time.Time) float64{daily(500, first), daily(500, then)}, cycle.Day, "6 10 14 18"},
		{"few executions", 21, []func(int, time.Time) float64{daily(20, first), daily(20, then)}, cycle.Day, "6 10 14 18"},
		{"office hours", 7, []func(int, time.Time) float64{office(true), constant(300)}, cycle.Day, "8 18"},
		{"office hours but on weekends", 28, []func(int, time.Time) float64{office(false), constant(300)}, cycle.Week, "8 18 32 42 56 66 80 90 104 114"},
		{"a job at three", 10, []func(int, time.Time) float64{nightly, constant(400)}, cycle.Day, "3 4"},
		{"Mondays", 28, []func(int, time.Time) float64{mondays, constant(300)}, cycle.Week, "6 12"},
		{"one cycle among what is constant", 14, []func(int, time.Time) float64{office(true), constant(900), constant(800), constant(700)}, cycle.Day, "8 18"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hit := 0
			for seed := range uint64(5) {
				m := newMade(c.days, seed)
				m.noise, m.rates = 0.3, c.rates
				r := m.find(t, cycle.Options{})
				if r.Cycle != nil && r.Cycle.Period == c.period && within(r.Cycle, c.begins) {
					hit++
					continue
				}
				t.Logf("seed %d: %s: %s\n%+v", seed, begins(r.Cycle), r.Why, r.Workload)
			}
			if hit < 5 {
				t.Errorf("found in %d of 5 draws", hit)
			}
		})
	}
}

// TestWeights: W-1: one weight for each statement and step, executions per second, zero where nothing is executed; what does not go
// with the clock has the same in all steps.
func TestWeights(t *testing.T) {
	m := newMade(10, 1)
	m.exact = true
	m.say(daily(3600, []float64{0, 0, 0, 1, 0, 0, 0, 0})).say(constant(7200))
	r := m.find(t, cycle.Options{})
	if begins(r.Cycle) != "09:00 12:00" {
		t.Fatal(begins(r.Cycle), r.Why)
	}
	c := r.Cycle
	for i, want := range []string{"[2 2] false", "[1 0] true"} {
		if got := fmt.Sprintf("%.3g %v", c.Members[i].Weights, c.Members[i].Cyclic); got != want {
			t.Errorf("member %d: %s, want %s", i, got, want)
		}
	}
	if got := fmt.Sprint(c.Intervals()); got != "[3h0m0s 21h0m0s]" {
		t.Error(got)
	}
	if got := c.Rates()["f0000"]; len(got) != 2 || got[0] != 1 {
		t.Error(got)
	}
	for _, x := range []struct {
		at   time.Time
		step int
		next time.Time
	}{
		{monday, 1, monday.Add(9 * time.Hour)},
		{monday.Add(9 * time.Hour), 0, monday.Add(12 * time.Hour)},
		{monday.Add(30 * time.Hour), 1, monday.Add(33 * time.Hour)},
		{monday.Add(12 * time.Hour), 1, monday.Add(33 * time.Hour)},
	} {
		if step, next := c.At(x.at); step != x.step || !next.Equal(x.next) {
			t.Errorf("at %v: step %d until %v", x.at, step, next)
		}
	}
}

// TestLeastStep: no step is shorter than asked for, and the same record gives the same report.
func TestLeastStep(t *testing.T) {
	m := newMade(14, 2)
	m.say(daily(800, []float64{.1, 1, .1, .1, 1, .1, .1, .1, 1, .1, .1, .1})).say(constant(100))
	record := m.record(t)
	before := 99
	for _, least := range []time.Duration{0, 2 * time.Hour, 5 * time.Hour, 12 * time.Hour} {
		r, err := cycle.Find(record, cycle.Options{MinStep: least})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := cycle.Find(record, cycle.Options{MinStep: least})
		if fmt.Sprint(r) != fmt.Sprint(again) && fmt.Sprint(*r.Cycle) != fmt.Sprint(*again.Cycle) {
			t.Error("the same record gives another report")
		}
		steps := 1
		if r.Cycle != nil {
			steps = len(r.Cycle.Steps)
			sum := time.Duration(0)
			for _, s := range r.Cycle.Steps {
				sum += s.Length
				if s.Length < least {
					t.Errorf("a step of %v is shorter than %v", s.Length, least)
				}
			}
			if sum != 24*time.Hour {
				t.Errorf("all steps are %v", sum)
			}
		}
		if steps > before {
			t.Errorf("%d steps of %v at least, more than before", steps, least)
		}
		before = steps
	}
	twice := newMade(14, 2)
	twice.say(daily(800, low)) // any half of the day is as the other
	if r := twice.find(t, cycle.Options{MinStep: 12 * time.Hour}); r.Cycle != nil || !strings.Contains(r.Why, "no steps of 12h0m0s or longer are worth it") {
		t.Errorf("steps of half a day: %s: %s", begins(r.Cycle), r.Why)
	}
	for _, o := range []cycle.Options{{Period: "month"}, {MinStep: -1}, {MinStep: 400 * time.Hour}, {Period: cycle.Day, MinStep: 13 * time.Hour}} {
		if _, err := cycle.Find(record, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// TestEvolution: W-43: a linear change over the recorded time is a trend, whose steps are those of that time and do not repeat.
func TestEvolution(t *testing.T) {
	m := newMade(21, 4)
	m.noise = 0.2
	rising := func(h int, _ time.Time) float64 { return 500 * (.1 + .8*float64(h)/float64(m.hours)) }
	m.say(rising).say(func(h int, at time.Time) float64 { return 500 - rising(h, at) })
	r := m.find(t, cycle.Options{})
	if r.Cycle == nil || r.Cycle.Period != cycle.Trend || len(r.Cycle.Steps) < 2 || !r.Cycle.Start.Equal(monday) {
		t.Fatalf("%s: %s\n%+v", begins(r.Cycle), r.Why, r.Statements[0].Patterns)
	}
	sum := time.Duration(0)
	for i, s := range r.Cycle.Steps {
		if at, _ := r.Cycle.At(monday.Add(s.Begin)); at != i {
			t.Errorf("step %d is %d", i, at)
		}
		sum += s.Length
	}
	if sum != 21*24*time.Hour {
		t.Errorf("the steps are %v together", sum)
	}
	up := r.Cycle.Rates()["f0000"]
	if up[0] >= up[len(up)-1] || !strings.Contains(r.Why, "nothing is said of the time after") {
		t.Errorf("%v %s", up, r.Why)
	}
	if h := r.Cycle.Holds(m.record(t)); !h.Holds {
		t.Error("what does not repeat does not hold")
	}
}

// TestMisfortunes: what happens to real histories does not hide a cycle, nor make another one of it.
func TestMisfortunes(t *testing.T) {
	for name, change := range map[string]func(m *made){
		"the proxy is down for parts of hours and whole ones": func(m *made) {
			m.down = func(hour int) float64 {
				switch {
				case hour%97 < 4:
					return 1
				case hour%13 == 5:
					return 0.4
				}
				return 0
			}
		},
		"a day is missing": func(m *made) {
			m.down = func(hour int) float64 {
				if hour >= 120 && hour < 144 {
					return 1
				}
				return 0
			}
		},
		"one huge outlier": func(m *made) {
			own := m.rates[0]
			m.rates[0] = func(hour int, at time.Time) float64 {
				if hour == 149 {
					return 5e6
				}
				return own(hour, at)
			}
		},
		"it begins in the middle of a day": func(m *made) { m.start = m.start.Add(13 * time.Hour) },
		"a statement appears, another vanishes": func(m *made) {
			m.say(func(hour int, at time.Time) float64 {
				if hour < 200 {
					return 0
				}
				return daily(500, high)(hour, at)
			})
			m.say(func(hour int, _ time.Time) float64 {
				if hour > 150 {
					return 0
				}
				return 800
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMade(14, 11)
			m.noise = 0.2
			m.say(daily(500, first)).say(daily(500, high))
			change(m)
			r := m.find(t, cycle.Options{})
			if !within(r.Cycle, "0 6 10 12 18") && !within(r.Cycle, "6 10 12 18 24") && !within(r.Cycle, "6 10 12 18 23") {
				t.Fatalf("%s: %s", begins(r.Cycle), r.Why)
			}
			for i := range r.Cycle.Members {
				x := &r.Cycle.Members[i]
				for _, w := range x.Weights {
					if w < 0 || math.IsNaN(w) || w > 1 {
						t.Errorf("weights of %s are %v", x.Fingerprint, x.Weights)
					}
				}
			}
			for _, s := range r.Statements {
				switch s.Fingerprint {
				case "f0002":
					if !s.Appeared.Equal(monday.Add(200 * time.Hour)) {
						t.Errorf("%s appeared at %v", s.Fingerprint, s.Appeared)
					}
				case "f0003":
					if got := fmt.Sprint(r.Cycle.Rates()["f0003"]); s.Vanished.IsZero() || got != "[0 0 0 0 0]" {
						t.Errorf("%s vanished at %v, and has the weights %s", s.Fingerprint, s.Vanished, got)
					}
				default:
					if !s.Appeared.IsZero() || !s.Vanished.IsZero() {
						t.Errorf("%+v", s)
					}
				}
			}
		})
	}
}

// TestWallClock: 08:00 is 08:00 by the clock of the zone, on both sides of the night in which it is set.
func TestWallClock(t *testing.T) {
	for _, c := range []struct {
		zone  string
		start time.Time
		want  string
	}{
		{"Europe/Berlin", time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC), "08:00 18:00"},     // forward on the 29th
		{"America/New_York", time.Date(2026, 10, 22, 0, 0, 0, 0, time.UTC), "08:00 18:00"}, // back on 1 November
		{"Asia/Kolkata", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "07:30 17:30"},       // bins begin at half past
		{"UTC", monday, "08:00 18:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		m := newMade(20, 5)
		m.start, m.noise = c.start, 0.1
		local := func(at time.Time) time.Time { return at.In(zone).Add(30 * time.Minute) } // the middle of a bin
		if c.zone != "Asia/Kolkata" {
			local = func(at time.Time) time.Time { return at.In(zone) }
		}
		m.say(func(hour int, at time.Time) float64 { return office(true)(hour, local(at)) }).say(constant(100))
		r := m.find(t, cycle.Options{Zone: zone})
		if got := begins(r.Cycle); got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.zone, got, c.want, r.Why)
			continue
		}
		at := time.Date(2026, 3, 28, 20, 0, 0, 0, zone)
		if _, next := r.Cycle.At(at); next.In(zone).Format("02 15:04") != "29 "+c.want[:5] {
			t.Errorf("%s: after %v the next step begins at %v", c.zone, at, next.In(zone))
		}
		if h := r.Cycle.Holds(m.record(t)); !h.Holds || h.Known < 18 {
			t.Errorf("%s: %+v", c.zone, h)
		}
	}
}

// TestRefusals: what is too short or too irregular to rely on is said to be, with what is missing.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		hours int
		down  func(int) float64
		o     cycle.Options
		want  string
	}{
		"nothing":       {0, nil, cycle.Options{}, "no complete hour yet"},
		"one hour":      {1, nil, cycle.Options{}, "0 complete days are known, 4 are needed: 4 days more"},
		"three days":    {75, nil, cycle.Options{}, "3 complete days are known, 4 are needed: 1 day more"},
		"two weeks":     {24 * 14, nil, cycle.Options{Period: cycle.Week}, "2 complete weeks are known, 3 are needed: 7 days more"},
		"down at night": {24 * 20, func(h int) float64 { return float64(b2i(h%24 > 12)) }, cycle.Options{}, "of 19 days only 0 are known for three quarters, 4 are needed"},
		"down often":    {24 * 20, func(h int) float64 { return float64(b2i(h/24%3 > 0)) }, cycle.Options{}, "half of them are needed"},
		"more asked":    {24 * 6, nil, cycle.Options{Thresholds: cycle.Thresholds{Days: 10}}, "6 complete days are known, 10 are needed: 4 days more"},
	} {
		m := newMade(0, 6)
		m.hours, m.down = c.hours, c.down
		m.say(office(true))
		if r := m.find(t, c.o); r.Cycle != nil || !strings.Contains(r.Why, c.want) {
			t.Errorf("%s: %s: %s", name, begins(r.Cycle), r.Why)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

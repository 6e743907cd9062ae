package gain

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture/histogram"
)

// Settings of a Meter; zero values are replaced by the defaults named.
type Settings struct {
	Least      uint64        // 100; reads or writes that a verdict needs
	Controls   uint64        // 50; reads as written that a trial needs
	TrialEvery uint64        // 4; in a trial one read of so many runs as written
	Untried    uint64        // 1,000; reads after which a change is tried of which nothing is known before
	Window     time.Duration // 10 min; what is judged together
	Sustained  time.Duration // 3 min; how long writes must have been slow: a burst of load is no reason to give a change up
	Rest       time.Duration // 1 h after a trial that it passed until it may be suspected again
	Slower     float64       // 0.1; reads may be slower by so much
	Dearer     float64       // 0.5; writes may take so much more than was promised
	Every      time.Duration // 10 s between verdicts
	SaveEvery  time.Duration // 1 min between savings
}

// Defaults fills in what was left zero.
func (s Settings) Defaults() Settings {
	for _, d := range []struct {
		p *uint64
		v uint64
	}{{&s.Least, 100}, {&s.Controls, 50}, {&s.TrialEvery, 4}, {&s.Untried, 1000}} {
		if *d.p == 0 {
			*d.p = d.v
		}
	}
	for _, d := range []struct {
		p *time.Duration
		v time.Duration
	}{{&s.Window, 10 * time.Minute}, {&s.Sustained, 3 * time.Minute}, {&s.Rest, time.Hour}, {&s.Every, 10 * time.Second}, {&s.SaveEvery, time.Minute}} {
		if *d.p <= 0 {
			*d.p = d.v
		}
	}
	for _, d := range []struct {
		p *float64
		v float64
	}{{&s.Slower, 0.1}, {&s.Dearer, 0.5}} {
		if *d.p <= 0 {
			*d.p = d.v
		}
	}
	return s
}

// Promise is what a change was advised for; 0 is not known.
type Promise struct {
	Reads  float64 `json:"reads,omitempty"`  // how many times faster
	Writes float64 `json:"writes,omitempty"` // how many times as long, the dearest of them
}

// Before is what the statements took before the change, microseconds.
type Before struct {
	Reads  histogram.Distribution `json:"reads"`
	Writes histogram.Distribution `json:"writes"`
}

// Sides are the latencies since a change serves, microseconds.
type Sides struct {
	Reads    histogram.Distribution `json:"reads"`
	Controls histogram.Distribution `json:"controls"`
	Writes   histogram.Distribution `json:"writes"`
	Alone    histogram.Distribution `json:"alone"` // of the same writes, their own part
}

func (s Sides) minus(o Sides) Sides {
	return Sides{s.Reads.Minus(o.Reads), s.Controls.Minus(o.Controls), s.Writes.Minus(o.Writes), s.Alone.Minus(o.Alone)}
}

func (s Sides) plus(o Sides) Sides {
	return Sides{s.Reads.Plus(o.Reads), s.Controls.Plus(o.Controls), s.Writes.Plus(o.Writes), s.Alone.Plus(o.Alone)}
}

// Record is what is kept of a change over restarts.
type Record struct {
	Promise Promise   `json:"promise"`
	Before  Before    `json:"before"`
	Since   Sides     `json:"since"`
	Verdict string    `json:"verdict,omitempty"` // why it was turned back, "" if it was not
	At      time.Time `json:"at,omitzero"`       // of the verdict
}

// Meter measures one change. All its methods may be called from many goroutines.
type Meter struct {
	settings                       Settings
	reads, controls, writes, alone histogram.Histogram
	trial                          atomic.Bool

	mu     sync.Mutex
	record Record // Since: of earlier processes
	past   Sides  // what was counted of a change of the same id before
	window struct {
		began time.Time // zero: it does not serve
		from  Sides     // what was counted when it began
	}
	quiet time.Time // until when it is not suspected
}

// NewMeter goes on with what is known of a change.
func NewMeter(s Settings, r Record) *Meter { return &Meter{settings: s.Defaults(), record: r} }

func micros(d time.Duration) uint64 { return uint64(max(0, d.Microseconds())) } //nolint:gosec // not negative

// Read counts a read that the change answered, or tried to.
func (m *Meter) Read(d time.Duration) { m.reads.Add(micros(d)) }

// Control counts a read that ran as it was written while the change serves.
func (m *Meter) Control(d time.Duration) { m.controls.Add(micros(d)) }

// Write counts a write that the change has its part in: what it took as a whole, and the statement of the application alone.
func (m *Meter) Write(whole, alone time.Duration) {
	m.writes.Add(micros(whole))
	m.alone.Add(micros(alone))
}

// Tries tells whether a read, the nth, is to run as written for a trial.
func (m *Meter) Tries(n uint64) bool { return m.trial.Load() && n%m.settings.TrialEvery == 0 }

// counted is what was counted in this process.
func (m *Meter) counted() (s Sides) {
	m.reads.AddTo(&s.Reads)
	m.controls.AddTo(&s.Controls)
	m.writes.AddTo(&s.Writes)
	m.alone.AddTo(&s.Alone)
	return s
}

// Record is what is known so far.
func (m *Meter) Record() Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record
	r.Since = r.Since.plus(m.counted().minus(m.past))
	return r
}

// What a verdict asks for.
const (
	Keep     Order = iota
	TurnBack       // the reads: they are slower than before
	RollBack       // the writes too: they are slower than was promised, whoever answers the reads
)

// Order is what is to be done about a change.
type Order int

// Weigh judges what was counted of late. It is to be called now and then, also while the change does not serve.
func (m *Meter) Weigh(now time.Time, serving bool) (Order, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !serving {
		m.window.began = time.Time{}
		m.trial.Store(false)
		return Keep, ""
	}
	if m.window.began.IsZero() {
		m.begin(now)
		m.record.Verdict, m.record.At = "", time.Time{}
		return Keep, ""
	}
	w := m.counted().minus(m.window.from)
	order, why := m.judge(w, now)
	switch {
	case order != Keep:
		m.record.Verdict, m.record.At = why, now
		m.window.began = time.Time{}
		m.trial.Store(false)
	case now.Sub(m.window.began) >= m.settings.Window && w.Reads.Count >= m.settings.Least && !m.trial.Load():
		m.begin(now)
	}
	return order, why
}

func (m *Meter) begin(now time.Time) {
	m.window.began, m.window.from = now, m.counted()
}

// judge judges a window, and begins or ends a trial.
func (m *Meter) judge(w Sides, now time.Time) (Order, string) {
	s := &m.settings
	if p := m.record.Promise.Writes; p > 0 && w.Writes.Count >= s.Least && now.Sub(m.window.began) >= s.Sustained {
		most := p * (1 + s.Dearer)
		if q, slow := slower(w.Writes, w.Alone, most); slow && m.dearer(w.Writes, most) {
			return RollBack, "its writes are slower than promised: " + against(q, w.Writes, w.Alone) + " alone, promised " + times(p)
		}
	}
	if w.Reads.Count < s.Least {
		return Keep, ""
	}
	if w.Controls.Count >= s.Controls {
		m.trial.Store(false)
		if q, slow := slower(w.Reads, w.Controls, 1+s.Slower); slow {
			return TurnBack, "slower than before: " + against(q, w.Reads, w.Controls)
		}
		if now.After(m.quiet) {
			m.quiet = now.Add(s.Rest)
		}
		return Keep, ""
	}
	suspect := m.record.Before.Reads.Count < s.Least && w.Reads.Count >= s.Untried
	if m.record.Before.Reads.Count >= s.Least {
		_, suspect = slower(w.Reads, m.record.Before.Reads, 1+s.Slower)
	}
	if suspect && !m.trial.Load() && !now.Before(m.quiet) {
		m.begin(now) // the reads of the trial are among those that it is held against
		m.trial.Store(true)
	}
	return Keep, ""
}

// dearer tells whether writes take more times as long as before the change, too, as far as that is known. What they take alone is a part of
// what they take: on a machine that is short of processors the rest is waiting, which they did before as well.
func (m *Meter) dearer(writes histogram.Distribution, times float64) bool {
	if m.record.Before.Writes.Count < m.settings.Least {
		return true
	}
	_, slow := slower(writes, m.record.Before.Writes, times)
	return slow
}

// confident is how many standard deviations of a rank its bounds are away: 999 of 1,000 on one side.
const confident = 3.09

// slower tells whether a is slower than b, times a factor, for certain, and at which quantile.
func slower(a, b histogram.Distribution, factor float64) (at float64, is bool) {
	if deciles(a) <= factor*deciles(b) {
		return 0, false
	}
	for _, q := range []float64{0.5, 0.9} {
		low, _ := bound(a, q, -confident)
		high, known := bound(b, q, confident)
		if known && low > factor*high {
			return q, true
		}
	}
	return 0, false
}

// bound is the number of the rank that the q-quantile has, some standard deviations off; known is false if there is none.
func bound(d histogram.Distribution, q, off float64) (v float64, known bool) {
	n := float64(d.Count)
	rank := n*q + off*math.Sqrt(n*q*(1-q))
	if n == 0 || rank < 0 || rank > n {
		return 0, false
	}
	return d.Quantile(rank / n), true
}

// deciles is the mean of the middles of the ten tenths: that of all but the outliers.
func deciles(d histogram.Distribution) float64 {
	sum := 0.0
	for i := range 10 {
		sum += d.Quantile(0.05 + 0.1*float64(i))
	}
	return sum / 10
}

package cycle

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Cycle is what repeats, cut into steps. It is plain data: it may be kept, and asked later whether it still holds.
type Cycle struct {
	Period string `json:"period"` // Day or Week; Trend: it does not repeat, and the steps are the recorded time itself, from Start on
	Zone   string `json:"zone"`
	// Start is the begin of the first step of a course that does not repeat.
	Start   time.Time `json:"start,omitzero"`
	Steps   []Step    `json:"steps"`
	Members []Member  `json:"members"`
	// Usual is how far the days that it was made of were off (Deviation), in the middle, and by how much that differed (1.48 times the
	// median absolute deviation).
	Usual  float64 `json:"usual"`
	Spread float64 `json:"spread"`

	zone *time.Location // as found; nil in one that was kept
}

// Step is a part of the cycle. All steps together are the period; the last may reach over midnight.
type Step struct {
	Begin  time.Duration `json:"begin"`  // nanoseconds after midnight, or after midnight before Monday, by the wall clock; of a course after Start
	Length time.Duration `json:"length"` // nanoseconds, by the wall clock
}

// Member is one statement's part, or that of the rest together.
type Member struct {
	Fingerprint string    `json:"fingerprint"`
	Keyspace    string    `json:"keyspace,omitempty"`
	Kind        string    `json:"kind"`
	Text        string    `json:"text,omitempty"`
	Work        float64   `json:"work"`    // of one execution
	Share       float64   `json:"share"`   // of the work of all
	Cyclic      bool      `json:"cyclic"`  // false: its rate does not go with the clock, so that it is the same in all steps
	Weights     []float64 `json:"weights"` // executions per second, by step; 0 if it has vanished
	Mean        []float64 `json:"mean"`    // executions per second, by hour of the period (of a course: by day)
}

// binCount is the length of the period.
func (c *Cycle) binCount() int {
	if c.Period == Week {
		return perWeek
	}
	return perDay
}

// Location is the zone whose clock it goes by.
func (c *Cycle) Location() *time.Location {
	if c.zone != nil {
		return c.zone
	}
	zone, err := time.LoadLocation(c.Zone)
	if err != nil { // it was there when the cycle was found
		return time.UTC
	}
	return zone
}

// Intervals are the lengths of the steps, as workload.Workload has them.
func (c *Cycle) Intervals() []time.Duration {
	out := make([]time.Duration, len(c.Steps))
	for i, s := range c.Steps {
		out[i] = s.Length
	}
	return out
}

// Rates are the weights by fingerprint.
func (c *Cycle) Rates() map[string][]float64 {
	out := make(map[string][]float64, len(c.Members))
	for i := range c.Members {
		out[c.Members[i].Fingerprint] = c.Members[i].Weights
	}
	return out
}

// sinceBegin is how far a moment is in the period, by the wall clock.
func (c *Cycle) sinceBegin(at time.Time, zone *time.Location) time.Duration {
	now := wallTime(at, zone)
	d := now.Sub(now.Truncate(24 * time.Hour))
	if c.Period == Week {
		d += time.Duration((int(now.Weekday())+6)%7) * 24 * time.Hour
	}
	return d
}

// At is the step that a moment is in, and the moment at which the next one begins. Of a course that does not repeat it is the first step before it
// and the last after it.
func (c *Cycle) At(at time.Time) (step int, next time.Time) {
	if c.Period == Trend {
		since := at.Sub(c.Start)
		for i, s := range c.Steps {
			if step = i; since < s.Begin+s.Length {
				break
			}
		}
		last := c.Steps[step]
		return step, c.Start.Add(last.Begin + last.Length)
	}
	zone := c.Location()
	d := c.sinceBegin(at, zone)
	step = len(c.Steps) - 1 // before the first step it is the last one still
	for i, s := range c.Steps {
		if d >= s.Begin {
			step = i
		}
	}
	ends := c.Steps[(step+1)%len(c.Steps)].Begin - d
	if ends <= 0 {
		ends += time.Duration(c.binCount()) * Bin
	}
	return step, momentOf(wallTime(at, zone).Add(ends), zone)
}

// When says when a step begins, for people.
func (c *Cycle) When(step int) string {
	begin := c.Steps[step].Begin
	if c.Period == Trend {
		return c.Start.Add(begin).In(c.Location()).Format("2006-01-02 15:04")
	}
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(begin) // a Monday
	if c.Period == Week {
		return at.Format("Mon 15:04")
	}
	return at.Format("15:04")
}

// proposeCycle makes the cycle, or says why there is none to rely on.
func (f *finder) proposeCycle(workload []Pattern) (*Cycle, string) {
	reliable := func(name string) (bool, float64) {
		share := 0.0
		for _, s := range f.subjects {
			if !s.gone && s.verdictOn(name) == Reliable {
				share += s.share
			}
		}
		whole := slices.ContainsFunc(workload, func(p Pattern) bool { return p.Name == name && p.Verdict == Reliable })
		return whole || share >= 0.5, share
	}
	slight := ""
	for _, x := range []struct {
		name   string
		period int
	}{{Week, perWeek}, {Day, perDay}} {
		if ok, _ := reliable(x.name); !ok || f.o.Period != Auto && f.o.Period != x.name {
			continue
		}
		c := f.cutCycle(x.name, x.period)
		if len(c.Steps) < 2 {
			slight = fmt.Sprintf("the traffic goes with the %s, but no steps of %v or longer are worth it", x.name, max(Bin, f.o.MinStep))
			continue
		}
		c.learnUsual(f)
		return c, fmt.Sprintf("the traffic goes with the %s: %s", x.name, f.whyReliable(workload, x.name))
	}
	if slight != "" {
		return nil, slight
	}
	if ok, share := reliable(Trend); ok && f.o.Period == Auto {
		if c := f.cutTrend(); len(c.Steps) > 1 {
			return c, fmt.Sprintf("no cycle to rely on; statements of %.0f %% of the work change steadily: the steps are those of the recorded time, and nothing is said of the time after it", 100*share)
		}
	}
	return nil, f.whyNone(workload)
}

// whyReliable is what made a period reliable.
func (f *finder) whyReliable(workload []Pattern, name string) string {
	for _, p := range workload {
		if p.Name == name && p.Verdict == Reliable {
			return p.Why
		}
	}
	return "statements of more than half of the work do"
}

// whyNone says why there is no cycle, and what would be needed.
func (f *finder) whyNone(workload []Pattern) string {
	var reasons []string
	for _, p := range workload {
		if p.Name != Trend && (f.o.Period == Auto || f.o.Period == p.Name) {
			reasons = append(reasons, fmt.Sprintf("%s: %s (%s)", p.Name, p.Verdict, p.Why))
		}
	}
	return "no cycle to rely on; " + strings.Join(reasons, "; ")
}

// cutCycle cuts the period into steps.
func (f *finder) cutCycle(name string, period int) *Cycle {
	c := &Cycle{Period: name, Zone: f.o.Zone.String(), zone: f.o.Zone}
	cut := &segmentation{places: period, round: true}
	for _, s := range f.subjects {
		m := Member{Fingerprint: s.row.Fingerprint, Keyspace: s.row.Keyspace, Kind: s.row.Kind, Text: s.row.Text, Work: s.weight, Share: s.share}
		m.Mean, m.Cyclic = f.meanRate(s, period)
		if m.Cyclic {
			own, repeats := s.weeks, 1
			if period == perDay || !s.hasPattern(Week) {
				own, repeats = s.days, period/perDay
			}
			root := make([]float64, period)
			for j, v := range m.Mean {
				root[j] = math.Sqrt(v * Bin.Seconds() * s.weight)
			}
			cut.values = append(cut.values, root)
			cut.noise = append(cut.noise, s.weight*own.phaseVariance()/float64(max(1, len(own.kept)*repeats)))
		}
		c.Members = append(c.Members, m)
	}
	starts := cut.optimalCuts(int((f.o.MinStep + Bin - 1) / Bin))
	offset := f.wall.start.Sub(f.wall.start.Truncate(perDay * Bin)) // of a zone with half hours
	for i, at := range starts {
		length := period
		if len(starts) > 1 {
			length = (starts[(i+1)%len(starts)] - at + period) % period
		}
		c.Steps = append(c.Steps, Step{Begin: time.Duration(at)*Bin + offset, Length: time.Duration(length) * Bin})
		for m := range c.Members {
			c.Members[m].Weights = append(c.Members[m].Weights, circularMean(c.Members[m].Mean, at, length))
		}
	}
	return c
}

// circularMean is that of some places of a period, from one on.
func circularMean(list []float64, from, n int) float64 {
	sum := 0.0
	for i := range n {
		sum += list[(from+i)%len(list)]
	}
	return sum / float64(n)
}

// meanRate is a statement's rate by phase of a period, and whether that goes with the clock. What is not known to is constant, what
// has vanished is nothing.
func (f *finder) meanRate(s *subject, period int) ([]float64, bool) {
	out := make([]float64, period)
	switch {
	case s.gone:
		return out, false
	case period == perWeek && s.hasPattern(Week):
		return perSecond(s.weeks.byClock(meanSquares(s.weeks), f.wall.phaseOfFirst(perWeek))), true
	case s.hasPattern(Day):
		day := perSecond(s.days.byClock(meanSquares(s.days), 0))
		for j := range out {
			out[j] = day[j%perDay]
		}
		return out, true
	}
	var level float64
	if len(s.days.kept) > 0 {
		level = circularMean(meanSquares(s.days), 0, perDay)
	} else {
		squares := make([]float64, 0, len(s.root))
		for _, v := range s.root[s.alive:] {
			squares = append(squares, v*v)
		}
		level = flatMean(squares)[0]
	}
	for j := range out {
		out[j] = level / Bin.Seconds()
	}
	return out, false
}

// phaseVariance is that of a value about the mean of its phase.
func (r *rows) phaseVariance() float64 {
	told := phaseMeans(r.level, r.period, -1)
	sum, n := 0.0, 0.0
	for _, row := range r.level {
		for j, v := range row {
			if !math.IsNaN(v) {
				sum, n = sum+(v-told[j])*(v-told[j]), n+1
			}
		}
	}
	return sum / max(1, n-float64(r.period))
}

// cutTrend cuts the recorded days into steps.
func (f *finder) cutTrend() *Cycle {
	c := &Cycle{Period: Trend, Zone: f.o.Zone.String(), zone: f.o.Zone}
	most := 0
	for _, s := range f.subjects {
		most = max(most, s.days.cut)
	}
	c.Start = f.wall.timeOf(f.wall.n - most*perDay)
	cut := &segmentation{places: most}
	for _, s := range f.subjects {
		m := Member{Fingerprint: s.row.Fingerprint, Keyspace: s.row.Keyspace, Kind: s.row.Kind, Text: s.row.Text, Work: s.weight, Share: s.share}
		m.Mean = make([]float64, most)
		last := 0.0
		at := map[int]int{}
		for i, n := range s.days.kept {
			at[most-s.days.cut+n] = i
		}
		root := make([]float64, most)
		for d := range most { // a day that is not known is as the one before
			if i, ok := at[d]; ok {
				level := flatMean(s.days.level[i])[0]
				last = level * level
			}
			m.Mean[d], root[d] = last/Bin.Seconds(), math.Sqrt(last*perDay*s.weight)
		}
		m.Cyclic = s.verdictOn(Trend) == Reliable
		if m.Cyclic {
			cut.values = append(cut.values, root)
			cut.noise = append(cut.noise, s.weight*s.days.phaseVariance())
		}
		c.Members = append(c.Members, m)
	}
	starts := cut.optimalCuts(max(1, int((f.o.MinStep+perDay*Bin-1)/(perDay*Bin))))
	for i, at := range starts {
		end := most
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		day := time.Duration(perDay) * Bin
		c.Steps = append(c.Steps, Step{Begin: time.Duration(at) * day, Length: time.Duration(end-at) * day})
		for m := range c.Members {
			c.Members[m].Weights = append(c.Members[m].Weights, circularMean(c.Members[m].Mean, at, end-at))
		}
	}
	return c
}

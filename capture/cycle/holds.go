package cycle

import (
	"fmt"
	"math"
	"time"
)

// Deviation is how far one day was off what the cycle foretold.
type Deviation struct {
	Day time.Time `json:"day"` // its begin
	// Off is the sum of squares (of roots, weighted by work) between what was executed and what was foretold, as a share of
	// those between what was foretold and a flat line, of a mean day: 0 is perfect, at 1 a flat line is as good.
	Off   float64 `json:"off"`
	Scale float64 `json:"scale"` // by which all executions together were more than foretold
	Holds bool    `json:"holds"`
}

// Holding is whether a cycle still holds.
type Holding struct {
	Holds bool        `json:"holds"`
	Known int         `json:"known"`          // days that were looked at
	Off   float64     `json:"off"`            // of the last days that do not hold; of the last if all do
	Limit float64     `json:"limit"`          // up to which a day holds
	Since time.Time   `json:"since,omitzero"` // begin of the first of the last days that do not hold in a row
	Days  []Deviation `json:"days"`
	Why   string      `json:"why"`
}

// Bounds of what holds.
const (
	offLimit = 0.5 // a day may be off by so much in any case
	inRow    = 2   // days in a row that do not hold, after which the cycle does not
	scaleMax = 2   // all executions together may be so many times more or fewer
)

// deviationLimit is up to which a day holds.
func (c *Cycle) deviationLimit() float64 { return max(offLimit, c.Usual+clipAt*c.Spread) }

// Holds asks the recent past whether the cycle still holds: it does not after two known days in a row that are farther off than the days it was made of
// ever usually were, and by half of what it foretells at least. One such day is a holiday. Days of which
// less than three quarters are known count neither way; without any it holds, and Known is 0. What repeats not can not stop to.
func (c *Cycle) Holds(recent *Record) *Holding {
	h := &Holding{Holds: true, Limit: c.deviationLimit(), Days: []Deviation{}}
	if c.Period == Trend {
		h.Why = "it does not repeat, so there is nothing to hold"
		return h
	}
	h.Days = c.dayDeviations(recent)
	h.Known = len(h.Days)
	bad, sum := 0, 0.0
	for i := range h.Days {
		d := &h.Days[i]
		if d.Holds = d.Off <= h.Limit; d.Holds {
			bad, sum, h.Since, h.Off = 0, 0, time.Time{}, d.Off
			continue
		}
		if bad++; bad == 1 {
			h.Since = d.Day
		}
		sum += d.Off
		h.Off = sum / float64(bad)
	}
	h.Holds = bad < inRow
	switch {
	case h.Known == 0:
		h.Why = "no complete day is known yet"
	case bad == 0:
		h.Why = fmt.Sprintf("the last day was off by %.2f, %.2f at most", h.Off, h.Limit)
	case h.Holds:
		h.Since = time.Time{}
		h.Why = fmt.Sprintf("the last day was off by %.2f, %.2f at most; one such day may be a holiday", h.Off, h.Limit)
	default:
		h.Why = fmt.Sprintf("the last %d days were off by %.2f, %.2f at most", bad, h.Off, h.Limit)
	}
	return h
}

// dayDeviations are those of the complete days of a record.
func (c *Cycle) dayDeviations(r *Record) []Deviation {
	out := []Deviation{}
	if r.Bins == 0 {
		return out
	}
	w := newWall(r, c.Location())
	said := c.gatherExecutions(r, w)
	period := c.binCount()
	listening := w.seriesOf(r, &row{})
	foretold := c.foretoldSquares(period)
	days := map[int]bool{}
	for _, k := range w.at {
		days[k/perDay] = true
	}
	for day := range (w.n + perDay - 1) / perDay {
		if !days[day] || (day+1)*perDay > w.n {
			continue
		}
		there := 0
		for k := day * perDay; k < (day+1)*perDay; k++ {
			if !math.IsNaN(listening[k]) {
				there++
			}
		}
		if float64(there) < known*perDay {
			continue
		}
		out = append(out, c.deviationOf(w, said, day, foretold))
	}
	return out
}

// gatherExecutions adds the executions of statements that are no members to those of the rest.
func (c *Cycle) gatherExecutions(r *Record, w *wall) [][]float64 {
	own := make(map[string]*row, len(c.Members))
	for i := range c.Members {
		own[c.Members[i].Fingerprint] = &row{}
	}
	rest := own[Rest]
	if rest == nil {
		rest = &row{}
	}
	rest.addRow(r.rest)
	for _, x := range r.heaviestFirst() {
		if own[x.Fingerprint] != nil && x.Fingerprint != Rest {
			own[x.Fingerprint] = x
		} else {
			rest.addRow(x)
		}
	}
	out := make([][]float64, len(c.Members)+1)
	for i := range c.Members {
		out[i] = w.seriesOf(r, own[c.Members[i].Fingerprint])
	}
	if own[Rest] == nil { // there was none: what is new is off
		out[len(c.Members)] = w.seriesOf(r, rest)
	}
	return out
}

// foretoldSquares is the sum of squares about flat lines that a mean day of the cycle has.
func (c *Cycle) foretoldSquares(period int) float64 {
	sum := 0.0
	for i := range c.Members {
		m := &c.Members[i]
		root := make([]float64, len(m.Mean))
		for j, v := range m.Mean {
			root[j] = math.Sqrt(v * Bin.Seconds())
		}
		middle := circularMean(root, 0, len(root))
		for _, v := range root {
			sum += m.Work * (v - middle) * (v - middle)
		}
	}
	return sum * perDay / float64(period)
}

// deviationOf is that of one day.
func (c *Cycle) deviationOf(w *wall, said [][]float64, day int, foretold float64) Deviation {
	period := c.binCount()
	d := Deviation{Day: w.timeOf(day * perDay), Scale: 1}
	both, square := 0.0, 0.0
	each := func(yield func(seen, told, work float64)) {
		for i, list := range said {
			work := 1.0
			if i < len(c.Members) {
				work = c.Members[i].Work
			}
			for k := day * perDay; list != nil && k < (day+1)*perDay; k++ {
				told := 0.0
				if i < len(c.Members) {
					told = math.Sqrt(c.Members[i].Mean[w.phaseOf(k, period)] * Bin.Seconds())
				}
				if !math.IsNaN(list[k]) {
					yield(math.Sqrt(list[k]), told, work)
				}
			}
		}
	}
	each(func(seen, told, work float64) { both, square = both+work*seen*told, square+work*told*told })
	factor := 1.0
	if square > 0 {
		factor = both / square
		d.Scale = factor * factor
		factor = min(max(factor, math.Sqrt(1.0/scaleMax)), math.Sqrt(scaleMax))
	}
	each(func(seen, told, work float64) { d.Off += work * (seen - factor*told) * (seen - factor*told) })
	if foretold > 0 {
		d.Off /= foretold * factor * factor
	}
	return d
}

// learnUsual learns how far off the days were that the cycle was made of.
func (c *Cycle) learnUsual(f *finder) {
	var off []float64
	for _, d := range c.dayDeviations(f.r) {
		off = append(off, d.Off)
	}
	if len(off) == 0 {
		return
	}
	c.Usual = median(off)
	for i := range off {
		off[i] = math.Abs(off[i] - c.Usual)
	}
	c.Spread = 1.4826 * median(off)
}

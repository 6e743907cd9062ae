package cycle

import (
	"fmt"
	"math"
	"time"
)

// Zone is the time zone of a name such as Europe/Berlin; "" is UTC. The machine's own has no name that means the same elsewhere.
func Zone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, fmt.Errorf("zone %q is another one on each machine; name it as Europe/Berlin", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %q; it is named as Europe/Berlin: %w", name, err)
	}
	return zone, nil
}

// wall lays bins along a wall clock: index k is so many bins after midnight of the first day. A clock that is set forward leaves
// an index out (it stays NaN), one that is set back has two bins at one index (their mean counts). So 08:00 is 08:00 all year.
type wall struct {
	zone  *time.Location
	start time.Time // midnight, by the wall clock, as if it were UTC; of a zone with half hours, half an hour later
	at    []int     // by bin of the record
	n     int       // indices
}

// wallTime is the wall clock's time as if it were UTC, in which all days have 24 hours.
func wallTime(t time.Time, zone *time.Location) time.Time {
	l := t.In(zone)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
}

func newWall(r *Record, zone *time.Location) *wall {
	w := &wall{zone: zone, at: make([]int, r.Bins)}
	if r.Bins == 0 {
		return w
	}
	first := wallTime(r.Start, zone)
	midnight := first.Truncate(perDay * Bin)
	w.start = midnight.Add(first.Sub(midnight) % Bin)
	for bin := range w.at {
		w.at[bin] = int(wallTime(r.Start.Add(time.Duration(bin)*Bin), zone).Sub(w.start) / Bin)
		w.n = max(w.n, w.at[bin]+1)
	}
	return w
}

// Periods in bins.
const (
	perDay  = 24 // a Bin is an hour
	perWeek = 7 * perDay
)

// phaseOf is the place of an index in a period: from midnight, or from midnight before Monday.
func (w *wall) phaseOf(k, period int) int {
	return (k + w.phaseOfFirst(period)) % period
}

// phaseOfFirst is the phase of index 0.
func (w *wall) phaseOfFirst(period int) int {
	if period < perWeek {
		return 0
	}
	return (int(w.start.Weekday()) + 6) % 7 * perDay
}

// seriesOf lays a row along the clock: executions in each bin; NaN where they are not known.
func (w *wall) seriesOf(r *Record, x *row) []float64 {
	y, twice := make([]float64, w.n), map[int]int{}
	for k := range y {
		y[k] = math.NaN()
	}
	count := make([]float64, r.Bins)
	for i, bin := range x.bins {
		count[bin] = x.counts[i]
	}
	for bin, k := range w.at {
		if r.isUnknown(bin) {
			continue
		}
		v := count[bin] / r.watched[bin]
		if math.IsNaN(y[k]) {
			y[k] = v
			continue
		}
		twice[k]++
		y[k] += (v - y[k]) / float64(twice[k]+1)
	}
	return y
}

// timeOf is the moment at which the wall clock shows an index. One that it leaves out is the moment that it is set at.
func (w *wall) timeOf(k int) time.Time { return momentOf(w.start.Add(time.Duration(k)*Bin), w.zone) }

// momentOf turns a wall clock's time into a moment.
func momentOf(clock time.Time, zone *time.Location) time.Time {
	return time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), 0, 0, zone)
}

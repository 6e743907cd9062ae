package cycle

import (
	"math"
	"slices"
)

// rows is a series cut into periods, the last of which ends where the record does, and made ready to be compared.
type rows struct {
	period int
	first  int         // index of the clock at which the first row begins
	bins   int         // that there were to cut
	cut    int         // periods in the series, whether known well enough or not
	kept   []int       // which of them are known for three quarters: the rows
	level  [][]float64 // roots of executions, outliers clipped; NaN where nothing is known
	moves  [][]float64 // the same about its running mean
	units  [][]float64 // moves of mean 0 and length 1; all 0 if they do not differ
	noise  float64     // what the middle distance from the median of its phase amounts to, as a standard deviation
}

// Most periods that are looked at, and the share of one that must be known.
const (
	mostDays  = 42
	mostWeeks = 12
	known     = 0.75
	clipAt    = 6 // standard deviations
)

// cutRows cuts roots of executions from an index on. less is taken off the moves by phase of the clock (a shorter cycle that was found
// already); nil: nothing.
func cutRows(root []float64, from, period int, less []float64) *rows {
	r := &rows{period: period, bins: len(root) - from, cut: (len(root) - from) / period}
	most := mostDays
	if period > perDay {
		most = mostWeeks
	}
	r.cut = max(0, min(r.cut, most))
	r.first = len(root) - r.cut*period
	if r.cut == 0 {
		return r
	}
	part := slices.Clone(root[r.first:])
	gaps := make([]bool, len(part))
	medians := r.phaseMedians(part)
	var away []float64
	for i, v := range part {
		if gaps[i] = math.IsNaN(v); gaps[i] {
			part[i] = medians[i%period]
		} else {
			away = append(away, math.Abs(v-medians[i%period]))
		}
	}
	// A count of events varies by half about its root, so that is the least that it may be clipped by.
	r.noise = max(0.5, 1.4826*median(away))
	// One bound for all phases: to pull each value to the median of its own phase would make periods alike that are not.
	low, high := slices.Min(medians)-clipAt*r.noise, slices.Max(medians)+clipAt*r.noise
	for i, v := range part {
		part[i] = min(max(v, low), high)
	}
	running := runningMean(part, period)
	for n := range r.cut {
		level, moves, there := make([]float64, period), make([]float64, period), 0
		for j := range period {
			i := n*period + j
			if gaps[i] {
				level[j], moves[j] = math.NaN(), math.NaN()
				continue
			}
			there++
			level[j], moves[j] = part[i], part[i]-running[i]
			if less != nil {
				moves[j] -= less[(r.first+i)%len(less)]
			}
		}
		if float64(there) < known*float64(period) {
			continue
		}
		r.kept, r.level, r.moves = append(r.kept, n), append(r.level, level), append(r.moves, moves)
		r.units = append(r.units, unitRow(moves))
	}
	return r
}

// phaseMedians are those of the phases; of one that is never known, that of all.
func (r *rows) phaseMedians(part []float64) []float64 {
	out, all := make([]float64, r.period), median(part)
	column := make([]float64, 0, r.cut)
	for j := range out {
		column = column[:0]
		for i := j; i < len(part); i += r.period {
			column = append(column, part[i])
		}
		if out[j] = median(column); math.IsNaN(out[j]) {
			out[j] = all
		}
		if math.IsNaN(out[j]) {
			out[j] = 0
		}
	}
	return out
}

// median of what is known; NaN if nothing is.
func median(list []float64) float64 {
	own := slices.DeleteFunc(slices.Clone(list), math.IsNaN)
	if len(own) == 0 {
		return math.NaN()
	}
	slices.Sort(own)
	return (own[(len(own)-1)/2] + own[len(own)/2]) / 2
}

// runningMean is that of a whole period about each place; at both ends it goes on as it goes on the whole.
func runningMean(y []float64, period int) []float64 {
	out := make([]float64, len(y))
	sums := make([]float64, len(y)+1)
	for i, v := range y {
		sums[i+1] = sums[i] + v
	}
	if len(y) <= period {
		for i := range out {
			out[i] = sums[len(y)] / float64(len(y))
		}
		return out
	}
	half := period / 2
	last := len(y) - half - 1
	for i := half; i <= last; i++ { // an even period: half of the bin at each end
		out[i] = (sums[i+half] - sums[i-half] + (y[i+half]-y[i-half])/2) / float64(2*half)
	}
	slope := 0.0
	if last > half+period/2 {
		slope = (out[last] - out[half]) / float64(last-half)
	}
	for i := range half {
		out[i] = out[half] - slope*float64(half-i)
	}
	for i := last + 1; i < len(y); i++ {
		out[i] = out[last] + slope*float64(i-last)
	}
	return out
}

// unitRow turns a row into one of mean 0 and length 1, so that none counts for more than another. What is not known is 0; so are all if they do
// not differ.
func unitRow(list []float64) []float64 {
	out := make([]float64, len(list))
	middle, square := flatMean(list)[0], 0.0
	for i, v := range list {
		if !math.IsNaN(v) {
			out[i] = v - middle
			square += out[i] * out[i]
		}
	}
	if square < 1e-9 {
		return make([]float64, len(list))
	}
	for i := range out {
		out[i] /= math.Sqrt(square)
	}
	return out
}

// phaseMeans is the mean of rows by place, leaving out one of them (-1: none); 0 where nothing is known.
func phaseMeans(list [][]float64, period, without int) []float64 {
	out := make([]float64, period)
	for j := range out {
		n := 0.0
		for i, row := range list {
			if i != without && !math.IsNaN(row[j]) {
				n++
				out[j] += (row[j] - out[j]) / n
			}
		}
	}
	return out
}

// byClock turns a list by place in a row into one by phase of the clock that the index 0 has.
func (r *rows) byClock(list []float64, origin int) []float64 {
	out := make([]float64, r.period)
	for j, v := range list {
		out[(r.first+j+origin)%r.period] = v
	}
	return out
}

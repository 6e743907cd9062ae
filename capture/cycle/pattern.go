package cycle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Verdict is what is made of a pattern.
type Verdict string

// The verdicts. Steps are proposed of reliable cycles alone.
const (
	Reliable  Verdict = "reliable"
	Weak      Verdict = "weak"          // it is there, but most of what happens is something else
	Unstable  Verdict = "unstable"      // it is there on the whole, but does not tell the next period
	Chance    Verdict = "none"          // rows that know nothing of the clock are as like each other
	Irregular Verdict = "too irregular" // too many periods are not known for three quarters
	Short     Verdict = "too short"     // of too few periods
)

// Names of patterns.
const (
	Day   = "day"
	Week  = "week"
	Trend = "trend"
)

// Pattern is one way in which executions go with time.
type Pattern struct {
	Name    string  `json:"pattern"` // Day, Week or Trend
	Verdict Verdict `json:"verdict"`
	Periods int     `json:"periods"` // that were looked at: complete ones; of a trend, days
	Missing int     `json:"missing"` // that were left out, since too little is known of them
	// Strength is the share of the variance that it explains, 0 to 1, less what chance would (adjusted R²): of a day's or a week's, of the variance about the running
	// mean of that length, a week's without what the day explains.
	Strength float64 `json:"strength"`
	Chance   float64 `json:"chance"` // how likely so much likeness would be without it
	// Skill is by how much the periods before tell the later ones better than a flat line does: 1 all, 0 nothing, below 0 worse.
	Skill   float64 `json:"skill"`
	Share   float64 `json:"share"`              // of the periods that are like the others
	PerWeek float64 `json:"per_week,omitempty"` // of a trend: change of the rate in a week, as a share of its middle
	Why     string  `json:"why"`
}

// Thresholds are what a pattern must reach. Zero values are the defaults.
type Thresholds struct {
	Days     int     `json:"days"`     // 4: complete days that a daily cycle needs
	Weeks    int     `json:"weeks"`    // 3
	Chance   float64 `json:"chance"`   // 0.005: at most
	Strength float64 `json:"strength"` // 0.25
	Skill    float64 `json:"skill"`    // 0.2
	Share    float64 `json:"share"`    // 0.6
}

func (t Thresholds) withDefaults() Thresholds {
	for _, x := range []struct {
		at    *float64
		value float64
	}{{&t.Chance, 0.005}, {&t.Strength, 0.25}, {&t.Skill, 0.2}, {&t.Share, 0.6}} {
		if *x.at <= 0 {
			*x.at = x.value
		}
	}
	if t.Days <= 0 {
		t.Days = 4
	}
	if t.Weeks <= 0 {
		t.Weeks = 3
	}
	return t
}

// evidence is what speaks for a cycle: of one statement, or added up over many.
type evidence struct {
	rows, cut int // periods that are known well enough, and all complete ones
	bins      int // of the time in which they lie
	like      *likeness
	within    float64 // squares about the mean of the phase, weighted, and how many values went into it, and means
	total     float64 // squares about nothing
	values    float64
	means     float64
	missed    float64 // squares by which the rows before missed the later ones
	flat      float64 // and by which a flat line did
	agree     []float64
	pairs     []float64 // by row: units times the others' sum; lengths of both
}

func newEvidence(r *rows) *evidence {
	n := len(r.kept)
	return &evidence{rows: n, cut: r.cut, bins: r.bins, like: newLikeness(n, r.period), agree: make([]float64, n), pairs: make([]float64, 2*n)}
}

// addRows adds a statement's rows; a row that is nil is not known of it. weight turns squares of roots of executions into work.
func (e *evidence) addRows(r *statementRows, weight float64) {
	var there [][]float64
	for _, moves := range r.moves {
		if moves != nil {
			there = append(there, moves)
		}
	}
	if len(there) == 0 {
		return
	}
	mean := phaseMeans(there, r.period, -1)
	total, within, values := 0.0, 0.0, 0.0
	for _, row := range there {
		for j, v := range row {
			if !math.IsNaN(v) {
				values++
				total += v * v
				within += (v - mean[j]) * (v - mean[j])
			}
		}
	}
	if total == 0 {
		return
	}
	e.within, e.total = e.within+weight*within, e.total+weight*total
	// Degrees of freedom are weighted likewise, so that the adjustment is that of the statements that matter.
	e.values, e.means = e.values+weight*total*values, e.means+weight*total*float64(r.period)
	e.like.addRows(r.units, weight*total)
	e.addForecast(there, r.period, weight)
	e.compareRows(r, weight*total)
}

// addForecast holds out the later half of the rows, and tells each by those before it.
func (e *evidence) addForecast(there [][]float64, period int, weight float64) {
	for i := max(1, (len(there)+1)/2); i < len(there); i++ {
		told := phaseMeans(there[:i], period, -1)
		for j, v := range there[i] {
			if !math.IsNaN(v) {
				e.missed += weight * (v - told[j]) * (v - told[j])
				e.flat += weight * v * v
			}
		}
	}
}

// compareRows notes how like each row is to the others.
func (e *evidence) compareRows(r *statementRows, weight float64) {
	sum := make([]float64, r.period)
	for _, row := range r.units {
		for j := range row {
			sum[j] += row[j]
		}
	}
	for i, row := range r.units {
		own, others, both := 0.0, 0.0, 0.0
		for j := range row {
			rest := sum[j] - row[j]
			own, others, both = own+row[j]*row[j], others+rest*rest, both+row[j]*rest
		}
		e.agree[i] += weight * both
		if row != nil {
			e.pairs[2*i], e.pairs[2*i+1] = e.pairs[2*i]+weight*own, e.pairs[2*i+1]+weight*others
		}
	}
}

// statementRows are rows on a grid that several statements share.
type statementRows struct {
	period       int
	moves, units [][]float64 // nil where it is not known
}

// onGrid lays rows on the grid of others, which end at the same place: grid names the periods of those, counted from the last.
func (r *rows) onGrid(grid []int) *statementRows {
	s := &statementRows{period: r.period, moves: make([][]float64, len(grid)), units: make([][]float64, len(grid))}
	at := map[int]int{}
	for i, n := range r.kept {
		at[r.cut-n] = i
	}
	for g, back := range grid {
		if i, ok := at[back]; ok {
			s.moves[g], s.units[g] = r.moves[i], r.units[i]
		}
	}
	return s
}

// keptFromLast names the kept periods counted from the last.
func (r *rows) keptFromLast() []int {
	out := make([]int, len(r.kept))
	for i, n := range r.kept {
		out[i] = r.cut - n
	}
	return out
}

// judgePattern makes a pattern of the evidence.
func (e *evidence) judgePattern(name string, period int, t Thresholds, random *rand.Rand) Pattern {
	p := Pattern{Name: name, Periods: e.rows, Missing: e.cut - e.rows, Chance: 1}
	need := t.Days
	if period > perDay {
		need = t.Weeks
	}
	if e.rows < need {
		p.Verdict = Short
		p.Why = fmt.Sprintf("%d complete %ss are known, %d are needed: %s more", e.rows, name, need, daysText(time.Duration(max(1, need*period-e.bins))*Bin))
		if e.cut >= need {
			p.Verdict = Irregular
			p.Why = fmt.Sprintf("of %d %ss only %d are known for three quarters, %d are needed: let the proxy run without breaks", e.cut, name, e.rows, need)
		}
		return p
	}
	if 2*e.rows < e.cut {
		p.Verdict = Irregular
		p.Why = fmt.Sprintf("of %d %ss only %d are known for three quarters, half of them are needed: let the proxy run without breaks", e.cut, name, e.rows)
		return p
	}
	if e.total <= 0 {
		p.Verdict, p.Why = Chance, "it is executed equally at all times, or not at all"
		return p
	}
	p.Chance = e.like.chanceOfLikeness(random)
	if values, means := e.values/e.total, e.means/e.total; values > means {
		p.Strength = max(0, 1-e.within/(values-means)/(e.total/max(1, values-1)))
	}
	if e.flat > 0 {
		p.Skill = 1 - e.missed/e.flat
	}
	like, floor := 0, max(0.2, 2/math.Sqrt(float64(period)))
	for i, both := range e.agree {
		if length := math.Sqrt(e.pairs[2*i] * e.pairs[2*i+1]); length > 0 && both/length >= floor {
			like++
		}
	}
	p.Share = float64(like) / float64(e.rows)
	p.Verdict, p.Why = t.verdictOn(&p)
	return p
}

// verdictOn of a cycle that enough is known of.
func (t Thresholds) verdictOn(p *Pattern) (Verdict, string) {
	switch {
	case p.Chance > t.Chance:
		return Chance, fmt.Sprintf("%ss are not more like each other than if they knew nothing of the clock (chance %.3f, %.3f at most)", p.Name, p.Chance, t.Chance)
	case p.Strength < t.Strength:
		return Weak, fmt.Sprintf("it explains %.0f %% of the variance, %.0f %% are needed", 100*p.Strength, 100*t.Strength)
	case p.Skill < t.Skill:
		return Unstable, fmt.Sprintf("the %ss before tell the later ones by %.0f %% better than a flat line, %.0f %% are needed", p.Name, 100*p.Skill, 100*t.Skill)
	case p.Share < t.Share:
		return Unstable, fmt.Sprintf("%.0f %% of the %ss are like the others, %.0f %% are needed", 100*p.Share, p.Name, 100*t.Share)
	}
	return Reliable, fmt.Sprintf("%.0f %% of the variance over %d %ss, which foretold each other by %.0f %%", 100*p.Strength, p.Periods, p.Name, 100*p.Skill)
}

func daysText(d time.Duration) string {
	if n := math.Ceil(d.Hours() / 24); n != 1 {
		return fmt.Sprintf("%.0f days", n)
	}
	return "1 day"
}

// Bounds of a trend.
const (
	trendDays = 7   // complete days that it needs
	trendT    = 3.6 // of the mean change from day to day, in its standard errors
)

// trendPattern looks for a steady change of the daily level. The changes from day to day are tested, not the levels: a random walk has
// levels that rise for weeks, but its changes have the mean 0.
func trendPattern(d *rows, weekly bool, t Thresholds) Pattern {
	p := Pattern{Name: Trend, Periods: len(d.kept), Missing: d.cut - len(d.kept), Chance: 1}
	if len(d.kept) < trendDays {
		p.Verdict, p.Why = Short, fmt.Sprintf("%d complete days are known, %d are needed", len(d.kept), trendDays)
		return p
	}
	level := make([]float64, d.cut)
	for n := range level {
		level[n] = math.NaN()
	}
	rates := make([]float64, 0, len(level))
	for i, n := range d.kept {
		level[n] = phaseMeans([][]float64{flatMean(d.level[i])}, 1, -1)[0]
	}
	step := 1
	if weekly { // weekdays differ: each is compared with its like
		step = 7
	}
	changes := make([]float64, 0, len(level))
	for n := step; n < len(level); n++ {
		if c := (level[n] - level[n-step]) / float64(step); !math.IsNaN(c) {
			changes = append(changes, c)
		}
	}
	for _, v := range level {
		if !math.IsNaN(v) {
			rates = append(rates, v)
		}
	}
	mean, deviation := changeMoments(changes, step)
	slope, start := theilSenLine(level)
	middle := median(rates)
	if len(changes) < 3 || deviation == 0 && mean == 0 || middle == 0 {
		p.Verdict, p.Why = Chance, "its daily level does not change"
		return p
	}
	score := mean / max(deviation, 1e-12)
	p.Chance = math.Erfc(math.Abs(score) / math.Sqrt2)
	p.Strength, p.Skill = lineFit(level, slope, start)
	p.PerWeek = 2 * 7 * slope / middle // of the rate, which is the root's square
	up := 0
	for _, c := range changes {
		if c*slope > 0 {
			up++
		}
	}
	p.Share = float64(up) / float64(len(changes))
	switch {
	case math.Abs(score) < trendT:
		p.Verdict, p.Why = Chance, "its daily level changes no more steadily than a random walk does"
	case p.Strength < 0.5 || p.Skill < t.Skill:
		p.Verdict, p.Why = Weak, fmt.Sprintf("a line explains %.0f %% of the daily level, and foretells the last quarter by %.0f %%", 100*p.Strength, 100*p.Skill)
	default:
		p.Verdict, p.Why = Reliable, fmt.Sprintf("its rate changes by %+.0f %% of its middle in a week", 100*p.PerWeek)
	}
	return p
}

// flatMean is the mean of a row's known values, as a row of one.
func flatMean(row []float64) []float64 {
	sum, n := 0.0, 0.0
	for _, v := range row {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return []float64{sum / n}
}

// changeMoments are the mean of changes, after the farthest value on either side is left out, and its standard error. Changes of levels that are a line
// and noise undo each other, those of a random walk do not: the error takes their covariance over the next changes into account
// (Newey and West), down to a third of what it would be without. Changes over several days overlap, and are that much fewer.
func changeMoments(list []float64, overlap int) (mean, err float64) {
	if len(list) < 3 {
		return 0, 0
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	n := float64(len(list))
	all := sum / n
	covariance := func(lag int) float64 {
		c := 0.0
		for i := lag; i < len(list); i++ {
			c += (list[i] - all) * (list[i-lag] - all) / n
		}
		return c
	}
	own := covariance(0)
	variance := own
	const lags = 2
	for lag := 1; lag <= lags; lag++ {
		variance += 2 * (1 - float64(lag)/(lags+1)) * covariance(lag)
	}
	variance = max(variance, own/3)
	return (sum - slices.Max(list) - slices.Min(list)) / (n - 2), math.Sqrt(variance / max(1, (n-1)/float64(overlap)))
}

// theilSenLine is the Theil-Sen line: the median of all slopes, and the median start.
func theilSenLine(level []float64) (slope, start float64) {
	var slopes, starts []float64
	for i, a := range level {
		for j := i + 1; j < len(level); j++ {
			if s := (level[j] - a) / float64(j-i); !math.IsNaN(s) {
				slopes = append(slopes, s)
			}
		}
	}
	if slope = median(slopes); math.IsNaN(slope) {
		return 0, median(level)
	}
	for i, a := range level {
		starts = append(starts, a-slope*float64(i))
	}
	return slope, median(starts)
}

// lineFit is the share of the variance of levels that a line explains, and how much better the line of the first three quarters tells the last
// than their last level does.
func lineFit(level []float64, slope, start float64) (strength, skill float64) {
	squares := func(list []float64, told func(i int) float64) float64 {
		sum := 0.0
		for i, v := range list {
			if !math.IsNaN(v) {
				sum += (v - told(i)) * (v - told(i))
			}
		}
		return sum
	}
	middle := flatMean(level)[0]
	if all := squares(level, func(int) float64 { return middle }); all > 0 {
		strength = max(0, 1-squares(level, func(i int) float64 { return start + slope*float64(i) })/all)
	}
	n := len(level) - max(1, len(level)/4)
	before, origin := theilSenLine(level[:n])
	last := flatMean(level[max(0, n-3):n])[0]
	if math.IsNaN(last) {
		return strength, 0
	}
	if all := squares(level[n:], func(int) float64 { return last }); all > 0 {
		skill = 1 - squares(level[n:], func(i int) float64 { return origin + before*float64(n+i) })/all
	}
	return strength, skill
}

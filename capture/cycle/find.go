package cycle

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Rest is the fingerprint of the statements that are counted together: of little work each.
const Rest = "other"

// Auto lets the traffic decide between Day and Week.
const Auto = "auto"

// Options say how to look. The zero value is the default.
type Options struct {
	Zone       *time.Location // whose days and weeks are meant; nil: UTC
	Period     string         // Day, Week, or Auto (""): the longer of those that are reliable
	MinStep    time.Duration  // no step is shorter; 0: a bin
	Main       int            // statements looked at one by one, those of most work; the rest is one group; 0: 100
	Thresholds Thresholds
	Seed       uint64 // of the draws of chance
}

// Check says what is wrong with the options, if anything.
func (o *Options) Check() error {
	switch o.Period {
	case "", Auto, Day, Week:
	default:
		return fmt.Errorf("period %q is none of %s, %s, %s", o.Period, Day, Week, Auto)
	}
	if o.MinStep < 0 || o.MinStep > perWeek*Bin/2 {
		return fmt.Errorf("a least step of %v is not between 0 and half a week", o.MinStep)
	}
	if o.Period == Day && o.MinStep > perDay*Bin/2 {
		return fmt.Errorf("a least step of %v leaves no two steps in a day", o.MinStep)
	}
	return nil
}

// Report is what was found.
type Report struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Zone    string    `json:"zone"`
	Bins    int       `json:"bins"`    // of an hour
	Watched float64   `json:"watched"` // share of the time that was counted in

	Workload   []Pattern   `json:"workload"` // of all statements together
	Statements []Statement `json:"statements"`
	Left       int         `json:"left"` // statements that are in the group of the rest

	Cycle *Cycle `json:"cycle,omitempty"` // nil: there is none to rely on, and Why says why not
	Why   string `json:"why"`
}

// Statement is one statement's patterns.
type Statement struct {
	Fingerprint string    `json:"fingerprint"`
	Keyspace    string    `json:"keyspace,omitempty"`
	Kind        string    `json:"kind"`
	Text        string    `json:"text,omitempty"`
	Count       uint64    `json:"count"`
	Share       float64   `json:"share"` // of the work of all
	Appeared    time.Time `json:"appeared,omitzero"`
	Vanished    time.Time `json:"vanished,omitzero"` // it has not been executed since, though it was before
	Patterns    []Pattern `json:"patterns"`
	Mean        []float64 `json:"mean,omitempty"` // executions per second by hour of the cycle, or of the day if there is none; from midnight, or from Monday
}

// subject is a statement while it is looked at.
type subject struct {
	row    *row
	root   []float64 // of executions, by index of the clock; NaN where they are not known
	alive  int       // index from which on it is looked at
	weight float64   // work of one execution
	share  float64
	gone   bool
	days   *rows
	weeks  *rows
	found  []Pattern // day, week, trend
}

func (s *subject) verdictOn(name string) Verdict {
	for i := range s.found {
		if s.found[i].Name == name {
			return s.found[i].Verdict
		}
	}
	return Chance
}

// hasPattern reports whether a pattern is there, reliable or not.
func (s *subject) hasPattern(name string) bool {
	v := s.verdictOn(name)
	return v == Reliable || v == Weak
}

// finder is one search.
type finder struct {
	o        Options
	r        *Record
	wall     *wall
	random   *rand.Rand
	subjects []*subject
	left     int
	begin    int // index of the clock at which the record begins
}

// Find looks for patterns in a record, and proposes the steps of a cycle if there is one to rely on. The same record and options
// give the same report.
func Find(r *Record, o Options) (*Report, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	o.Period, o.Main, o.Thresholds = cmp.Or(o.Period, Auto), cmp.Or(max(0, o.Main), 100), o.Thresholds.withDefaults()
	f := &finder{o: o, r: r, wall: newWall(r, o.Zone), random: rand.New(rand.NewPCG(o.Seed, 0x6379636c65))} //nolint:gosec // draws, not secrets
	out := &Report{From: r.Start, To: r.End(), Zone: o.Zone.String(), Bins: r.Bins, Watched: r.Watched(), Workload: []Pattern{}, Statements: []Statement{}}
	if r.Bins == 0 {
		out.Why = fmt.Sprintf("the history has no complete hour yet; a daily cycle needs %d complete days, a weekly one %d weeks", o.Thresholds.Days, o.Thresholds.Weeks)
		return out, nil
	}
	f.begin = f.wall.at[0]
	f.makeSubjects()
	for _, s := range f.subjects {
		f.findPatterns(s)
	}
	out.Workload, out.Left = f.workloadPatterns(), f.left
	c, why := f.proposeCycle(out.Workload)
	out.Cycle, out.Why = c, why
	for _, s := range f.subjects {
		out.Statements = append(out.Statements, f.describeStatement(s, c))
	}
	return out, nil
}

// makeSubjects makes the subjects: the heaviest statements, and the rest as one.
func (f *finder) makeSubjects() {
	list := f.r.heaviestFirst()
	rest := &row{Executions: f.r.rest.Executions}
	rest.addRow(f.r.rest)
	rest.Executions = f.r.rest.Executions
	all := rest.Work()
	for i, x := range list {
		all += x.Work()
		if i >= f.o.Main {
			rest.addRow(x)
			f.left++
		}
	}
	list = list[:min(len(list), f.o.Main)]
	if len(rest.bins) > 0 {
		list = append(list, rest)
	}
	for _, x := range list {
		s := &subject{row: x, root: f.wall.seriesOf(f.r, x), alive: f.begin, weight: x.Work() / max(1, float64(x.Count)), share: x.Work() / max(1, all)}
		for k, v := range s.root {
			s.root[k] = math.Sqrt(v) // NaN stays
		}
		f.findLifetime(s)
		f.subjects = append(f.subjects, s)
	}
}

// findLifetime finds from when on a statement was executed, and whether it still is: it is gone if it has been silent for two days at
// least, and twice as long as ever before.
func (f *finder) findLifetime(s *subject) {
	silence := 0
	for i := 1; i < len(s.row.bins); i++ {
		silence = max(silence, s.row.bins[i]-s.row.bins[i-1])
	}
	first, last := s.row.first, f.r.Bins-s.row.last
	// Before it was first seen it may have been as silent as later.
	if first > max(2*perDay, 2*silence) {
		s.alive = f.wall.at[first]
	}
	s.gone = last > max(2*perDay, 2*silence)
}

// appearedAt and vanishedAt are zero for what was there from the beginning, to the end.
func (f *finder) appearedAt(s *subject) (t time.Time) {
	if s.alive > f.begin {
		t = f.r.Start.Add(time.Duration(s.row.first) * Bin)
	}
	return t
}

func (f *finder) vanishedAt(s *subject) (t time.Time) {
	if s.gone {
		t = f.r.Start.Add(time.Duration(s.row.last+1) * Bin)
	}
	return t
}

// findPatterns looks for the patterns of one statement.
func (f *finder) findPatterns(s *subject) {
	t := f.o.Thresholds
	s.days = cutRows(s.root, s.alive, perDay, nil)
	day := f.patternOf(s.days, Day)
	s.found = append(s.found, day)
	var less []float64 // what the day explains is not the week's
	if day.Verdict == Reliable || day.Verdict == Weak {
		less = s.days.byClock(phaseMeans(s.days.moves, perDay, -1), 0)
	}
	s.weeks = cutRows(s.root, s.alive, perWeek, less)
	week := f.patternOf(s.weeks, Week)
	s.found = append(s.found, week, trendPattern(s.days, week.Verdict == Reliable, t))
}

func (f *finder) patternOf(r *rows, name string) Pattern {
	e := newEvidence(r)
	e.addRows(r.onGrid(r.keptFromLast()), 1)
	return e.judgePattern(name, r.period, f.o.Thresholds, f.random)
}

// workloadPatterns looks for the patterns of all statements at once: the rows of all are turned together, and squares are weighted by work.
func (f *finder) workloadPatterns() []Pattern {
	known := &row{} // of the record itself: which periods are known
	root := f.wall.seriesOf(f.r, known)
	out := make([]Pattern, 0, 3)
	for _, x := range []struct {
		name   string
		period int
		of     func(*subject) *rows
	}{{Day, perDay, func(s *subject) *rows { return s.days }}, {Week, perWeek, func(s *subject) *rows { return s.weeks }}} {
		grid := cutRows(root, f.begin, x.period, nil)
		e := newEvidence(grid)
		for _, s := range f.subjects {
			if !s.gone {
				e.addRows(x.of(s).onGrid(grid.keptFromLast()), s.weight)
			}
		}
		out = append(out, e.judgePattern(x.name, x.period, f.o.Thresholds, f.random))
	}
	sum := make([]float64, f.wall.n)
	for _, s := range f.subjects {
		for k, v := range s.root {
			sum[k] += s.weight * v * v
		}
	}
	for k := range sum {
		sum[k] = math.Sqrt(sum[k])
	}
	return append(out, trendPattern(cutRows(sum, f.begin, perDay, nil), out[1].Verdict == Reliable, f.o.Thresholds))
}

// describeStatement is the report of one.
func (f *finder) describeStatement(s *subject, c *Cycle) Statement {
	x := Statement{Fingerprint: s.row.Fingerprint, Keyspace: s.row.Keyspace, Kind: s.row.Kind, Text: s.row.Text, Count: s.row.Count, Share: s.share,
		Appeared: f.appearedAt(s), Vanished: f.vanishedAt(s), Patterns: s.found}
	period := perDay
	if c != nil {
		period = c.binCount()
	}
	r := s.days
	if period == perWeek {
		r = s.weeks
	}
	if len(r.kept) > 0 {
		x.Mean = perSecond(r.byClock(meanSquares(r), f.wall.phaseOfFirst(period)))
	}
	return x
}

// meanSquares are executions by place in a period: squares of roots.
func meanSquares(r *rows) []float64 {
	list := make([][]float64, len(r.level))
	for i, row := range r.level {
		list[i] = make([]float64, len(row))
		for j, v := range row {
			list[i][j] = max(0, v) * max(0, v)
		}
	}
	return phaseMeans(list, r.period, -1)
}

// perSecond turns executions in a bin into executions per second.
func perSecond(list []float64) []float64 {
	for i := range list {
		list[i] /= Bin.Seconds()
	}
	return list
}

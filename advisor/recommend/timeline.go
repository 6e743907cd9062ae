package recommend

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/words"
)

// The timeline tier: look-up tables that follow a cycle of the traffic. The candidates are those of the transparent tier, so that
// each change is a migration like any other; the workload is that of the recorded history, with a weight for each step of
// the cycle that was found in it. What a calendar (advisor/timeline) costs over one cycle is held against the
// best single choice of look-ups and against none.
//
// A calendar of package timeline has a first and a last step, a cycle has not. So the steps are laid out three times in a row and
// the calendar of the middle one is taken, if it ends with the tables that it began after: then it can follow itself for ever,
// and what it costs includes every change of a cycle. At the ends alone are the tables that are there for nothing at first, and no
// reason to prepare for what follows.

// Past is what the recorded history says. It is not changed once it was handed over.
type Past struct {
	Report     *cycle.Report     // what repeats in it
	Counts     *capture.Snapshot // what was said in that time
	Statistics []schema.Stats    // of the tables when it was read; nil: those of the Input
}

// Timeline is a calendar with what it is worth. Costs are milliseconds of work in one cycle.
type Timeline struct {
	Cycle    cycle.Cycle    `json:"cycle"`
	Pattern  cycle.Pattern  `json:"pattern"` // of all statements together: how strong and how stable the cycle is
	Calendar plan.Calendar  `json:"calendar"`
	Steps    []TimelineStep `json:"steps"`

	CostMs    float64 `json:"cost_ms"`    // with all changes
	ChangesMs float64 `json:"changes_ms"` // of it: making and filling tables, and keeping them true meanwhile
	StaticMs  float64 `json:"static_ms"`  // of the best look-ups for all times
	NothingMs float64 `json:"nothing_ms"` // of the application's own tables alone
	Static    string  `json:"static"`     // what the former would be, in words
	Proven    bool    `json:"proven"`     // no calendar of these tables costs less
}

// TimelineStep is one step of the cycle.
type TimelineStep struct {
	Begins  string        `json:"begins"` // by the clock of the cycle's zone: "08:00", "Mon 08:00"
	Length  time.Duration `json:"length"` // nanoseconds
	Create  []string      `json:"create"` // look-up tables made for it, ahead of its begin
	Drop    []string      `json:"drop"`   // dropped at its begin
	Answers []Answered    `json:"answers"`
	WorkMs  float64       `json:"work_ms"` // of all statements in it
}

// Answered says from what a statement is answered in a step.
type Answered struct {
	Fingerprint string  `json:"fingerprint"`
	Text        string  `json:"text"`
	PerSecond   float64 `json:"per_second"`
	Table       string  `json:"table"` // the look-up table; "": the application's own, as it was written
	WorkMs      float64 `json:"work_ms"`
}

const (
	cyclesUnrolled = 3 // how often the cycle is laid out
	fillSlow       = 2 // filling and then verifying reads all twice
)

// fillLeast is what a migration takes besides: barriers, settling, schema agreement.
const fillLeast = 10 * time.Second

// adviseTimeline makes the advice of the timeline tier, or says why there is none (Advice.Timeline).
func (k *maker) adviseTimeline() error {
	in := k.Input
	if in.Past.Statistics != nil {
		in.Statistics = in.Past.Statistics
	}
	if in.Cache == nil {
		in.Cache = &CalendarCache{}
	}
	facts, err := factsOf(&in)
	if err != nil {
		return err
	}
	p, limit := in.Cache.lookUp(&in, facts), in.Limits.Wall
	if p == nil || p.retryDue(k.At, limit) {
		before := p
		in.Limits.Wall = in.Cache.nextWall(limit, before != nil)
		w := &judgeRecorder{judge: in.Judge}
		if in.Judge != nil {
			in.Judge = w
		}
		if p, err = overCycle(k.ctx, in); err != nil {
			return err
		}
		p.past, p.facts, p.asked, p.at, p.wall = in.Past, facts, w.asked, k.At, in.Limits.Wall
		p.keepBetter(before)
		in.Cache.store(p)
	}
	k.advice.Timeline = p.whyNone(limit)
	k.advice.Problems = append(k.advice.Problems, p.problems...)
	if p.found != nil {
		r := *p.found
		r.CreatedAt, r.LastRefresh, r.StateSince = k.At, k.At, k.At
		k.advice.Recommendations = append(k.advice.Recommendations, r)
	}
	return nil
}

// whyNone is why there is no calendar, and when it is looked for again, if it is.
func (p *finding) whyNone(limit time.Duration) string {
	switch {
	case !p.stopped || p.why == "":
		return p.why
	case p.wall < longest*limit:
		return fmt.Sprintf("%s; it had %v, and is looked for again, for twice as long, from %s on", p.why, p.wall, p.at.Add(patience*p.wall).UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s; it had %v, and is looked for again when the next hour of the history is known", p.why, p.wall)
}

// overCycle works out what the timeline tier says. The error is the context's.
func overCycle(ctx context.Context, in Input) (*finding, error) {
	c := in.Past.Report.Cycle
	switch {
	case c == nil:
		return &finding{why: in.Past.Report.Why}, nil
	case c.Period == cycle.Trend:
		return &finding{why: "the traffic changes steadily, but does not repeat: a calendar needs a cycle"}, nil
	}
	own, err := newMaker(ctx, in, in.Past.Counts)
	if err != nil {
		return nil, err
	}
	y := &cyclePlanner{maker: own, cycle: c, pattern: patternOf(in.Past.Report, c.Period)}
	if err := y.planHistory(); err != nil {
		return nil, err
	}
	r, why, err := y.chooseCalendar()
	switch {
	case ctx.Err() != nil: // what was found then is not what would be found otherwise
		return nil, ctx.Err()
	case err != nil:
		return &finding{why: "it could not be worked out: " + err.Error(), problems: []string{"no calendar: " + err.Error()}}, nil //nolint:nilerr // it is said with the advice
	}
	return &finding{found: r, why: why, stopped: y.stopped}, nil
}

func patternOf(r *cycle.Report, period string) cycle.Pattern {
	for _, p := range r.Workload {
		if p.Name == period {
			return p
		}
	}
	return cycle.Pattern{Name: period}
}

// cyclePlanner is the work on one calendar.
type cyclePlanner struct {
	*maker
	cycle   *cycle.Cycle
	pattern cycle.Pattern
	offers  []*offer // that Helenus may carry out
	timed   *workload.Workload
	index   map[*model.Table]*offer
	stopped bool // the time for looking was over before all was looked at
}

// planHistory plans the statements of the history, and finds which look-ups are allowed.
func (y *cyclePlanner) planHistory() error {
	if err := y.maker.planReads(); err != nil {
		return err
	}
	y.index = map[*model.Table]*offer{}
	refused := map[string]bool{}
	for _, o := range y.maker.listOffers() {
		r := y.newRecommendation(o, LookUpTable, o.reads)
		if y.judgeRewrite(&r); !r.Eligible {
			continue
		}
		for fingerprint := range refusedStatements(r.Verdicts) {
			refused[fingerprint] = true
		}
		y.offers, y.index[o.table] = append(y.offers, o), o
	}
	for _, o := range y.offers {
		o.reads = slices.DeleteFunc(o.reads, func(u *read) bool { return refused[u.statement.Fingerprint] })
	}
	// What may not be answered from a look-up is answered as it is now, in every calendar: it makes no difference.
	y.singles.Statements = slices.DeleteFunc(y.singles.Statements, func(s *workload.Statement) bool { return s.Query != nil && refused[s.Sources[0]] })
	y.timed = y.model.SinglesOverTime(y.singles, y.cycle)
	return nil
}

// unrolledWorkload is the workload over some cycles in a row.
func (y *cyclePlanner) unrolledWorkload() *workload.Workload {
	w := *y.timed
	w.Interval, w.Statements = nil, nil
	for range cyclesUnrolled {
		w.Interval = append(w.Interval, y.timed.Interval...)
	}
	for _, s := range y.timed.Statements {
		own := *s
		own.Steps = nil
		for range cyclesUnrolled {
			own.Steps = append(own.Steps, s.Steps...)
		}
		w.Statements = append(w.Statements, &own)
	}
	return &w
}

// designCalendar finds a calendar over some candidates.
func (y *cyclePlanner) designCalendar(ctx context.Context, candidates []*model.Table) (*timeline.Calendar, error) {
	found, err := timeline.Choose(ctx, y.unrolledWorkload(), timeline.Options{
		Cost: y.costs, Solver: y.Solver, Limits: y.Limits, Exact: true, Candidates: candidates, NoEnumeration: true, Allow: design.LookUpsOnly,
	})
	y.stopped = y.stopped || err == nil && found.Stopped == solve.LimitWall
	return found, err
}

// chooseCalendar makes the recommendation, or says why there is none.
func (y *cyclePlanner) chooseCalendar() (*Recommendation, string, error) {
	if len(y.offers) == 0 {
		return nil, "no look-up table is to be had, at any time", nil
	}
	var candidates []*model.Table
	for _, o := range y.offers {
		candidates = append(candidates, o.table)
	}
	found, err := y.designCalendar(y.ctx, candidates)
	if err != nil {
		return nil, "", err
	}
	bare, err := y.designCalendar(y.ctx, nil)
	if err != nil {
		return nil, "", err
	}
	n := len(y.cycle.Steps)
	middle := found.Steps[n : 2*n]
	tables := func(s *timeline.Step) string {
		var list []string
		for _, t := range s.Tables {
			if t.IsNew() {
				list = append(list, t.Table.ID())
			}
		}
		sort.Strings(list)
		return strings.Join(list, "\n")
	}
	if tables(found.Steps[n-1]) != tables(middle[n-1]) {
		return nil, "the best calendar found does not end with the tables that it begins after, so it can not follow itself", nil
	}
	t := &Timeline{Cycle: *y.cycle, Pattern: y.pattern, Proven: found.Proven, NothingMs: bare.Cost / cyclesUnrolled, StaticMs: math.Inf(1)}
	for _, s := range middle {
		t.CostMs += s.Cost + s.MigrationCost
		t.ChangesMs += s.MigrationCost
	}
	for _, name := range []string{timeline.Average, timeline.First, timeline.Last} {
		if b := found.Baseline(name); b != nil {
			sum := 0.0
			for _, x := range b.Steps[n : 2*n] {
				sum += x
			}
			if sum < t.StaticMs {
				t.StaticMs, t.Static = sum, fmt.Sprintf("%d look-up tables at all times", b.Tables)
				if b.Tables == 1 {
					t.Static = "1 look-up table at all times"
				}
			}
		}
	}
	if t.StaticMs >= t.NothingMs*(1-1e-9) {
		t.StaticMs, t.Static = t.NothingMs, "no look-up table at any time"
	}
	y.fillTimeline(t, middle)
	length := 0.0
	for _, d := range y.cycle.Intervals() {
		length += d.Seconds()
	}
	saved := (t.StaticMs - t.CostMs) / length // ms a second
	ratio := clamp((t.StaticMs - t.CostMs) / (t.StaticMs - y.unaffectedWork(bare.Steps[n:2*n])))
	switch {
	case len(t.Calendar.Turns(n)) == 0 && found.Stopped == solve.LimitWall:
		return nil, fmt.Sprintf("the traffic goes with the %s, but no calendar was found that pays before the time for looking was over; best so far is %s", y.cycle.Period, t.Static), nil
	case len(t.Calendar.Turns(n)) == 0:
		return nil, fmt.Sprintf("the traffic goes with the %s, but making and filling tables anew would cost more than it saves: best is %s", y.cycle.Period, t.Static), nil
	case perHour(saved) < y.Thresholds.SavedSeconds || ratio < y.Thresholds.CalendarRatio:
		return nil, fmt.Sprintf("changing tables with the %s, beside %s, %s", y.cycle.Period, t.Static, y.Thresholds.tooLittle(saved, ratio, y.Thresholds.CalendarRatio)), nil
	}
	return y.recommendCalendar(t, saved, ratio), "", nil
}

// unaffectedWork is the work of the statements that no look-up is for, without what look-ups add to writes, over some steps
// without look-ups.
func (y *cyclePlanner) unaffectedWork(bare []*timeline.Step) float64 {
	sum := 0.0
	for _, s := range bare {
		sum += s.Cost
		for _, p := range s.Plans {
			if u := y.reads[p.Statement.Statement.Sources[0]]; p.Statement.Statement.Query != nil && slices.ContainsFunc(y.offers, func(o *offer) bool { return slices.Contains(o.reads, u) }) {
				sum -= p.Total
			}
		}
	}
	return sum
}

// fillTimeline says of each step what changes and what answers, and of each table through which steps it is there.
func (y *cyclePlanner) fillTimeline(t *Timeline, steps []*timeline.Step) {
	seasons := map[*offer]int{}
	for _, o := range y.offers {
		there := make([]bool, len(steps))
		for i, s := range steps {
			for _, x := range s.Tables {
				there[i] = there[i] || y.offerOf(x.Table) == o
			}
		}
		if !slices.Contains(there, true) {
			continue
		}
		r := y.newRecommendation(o, LookUpTable, o.reads)
		took := cost.Seconds(y.costs, cost.Extract(y.costs, o.table.Base).Latency+cost.Load(y.costs, o.table).Latency)
		seasons[o] = len(t.Calendar.Seasons)
		t.Calendar.Seasons = append(t.Calendar.Seasons, plan.Season{Rewrite: *r.Rewrite, Steps: there, Bytes: r.StorageBytes, CQL: r.CQL[len(r.CQL)-1],
			Fill: fillLeast + time.Duration(fillSlow*took*float64(time.Second)).Round(time.Second)})
	}
	for i, s := range steps {
		x := TimelineStep{Begins: y.cycle.When(i), Length: y.cycle.Steps[i].Length, Create: []string{}, Drop: []string{}, Answers: []Answered{}, WorkMs: s.Cost}
		for _, turn := range t.Calendar.Turns(len(steps)) {
			name := t.Calendar.Seasons[turn.Season].Rewrite.Table
			switch {
			case turn.Step != i:
			case turn.Create:
				x.Create = append(x.Create, name)
			default:
				x.Drop = append(x.Drop, name)
			}
		}
		for _, p := range s.Plans {
			st := p.Statement.Statement
			u := y.reads[st.Sources[0]]
			if st.Query == nil || u == nil || !slices.ContainsFunc(y.offers, func(o *offer) bool { _, used := seasons[o]; return used && slices.Contains(o.reads, u) }) {
				continue
			}
			a := Answered{Fingerprint: u.statement.Fingerprint, Text: u.statement.Text, PerSecond: p.Rate, WorkMs: p.Cost.Work}
			for _, table := range p.Plan.Tables() {
				if o := y.offerOf(table); o != nil {
					a.Table = o.name
				}
			}
			x.Answers = append(x.Answers, a)
		}
		t.Steps = append(t.Steps, x)
	}
}

// offerOf is the offer of a table that a calendar has, nil of the application's own.
func (y *cyclePlanner) offerOf(t *model.Table) *offer {
	if o := y.index[t]; o != nil {
		return o
	}
	if t.Base == nil {
		return nil
	}
	for _, o := range y.offers {
		if o.table.ID() == t.ID() {
			return o
		}
	}
	return nil
}

// recommendCalendar words a calendar that pays.
func (y *cyclePlanner) recommendCalendar(t *Timeline, saved, ratio float64) *Recommendation {
	about, names := []string{string(TimelineKind), y.cycle.Period, y.cycle.Zone}, []string{}
	var used []*offer
	for i := range t.Calendar.Seasons {
		lu := &t.Calendar.Seasons[i].Rewrite
		about, names = append(about, lu.Keyspace, lu.Base, lu.Column), append(names, lu.Table)
		for _, o := range y.offers {
			if o.name == lu.Table && o.schema.Keyspace == lu.Keyspace {
				used = append(used, o)
			}
		}
	}
	r := &Recommendation{
		ID: idOf(about...), Kind: TimelineKind, State: Open, Keyspace: used[0].schema.Keyspace, Table: used[0].schema.Name, Nodes: y.Nodes,
		Title:    fmt.Sprintf("have %s follow the %s", enumerated(names), y.cycle.Period),
		Verdicts: []plan.Verdict{}, Alternatives: []Alternative{}, Statements: []Statement{}, Writes: []Write{}, Risks: []string{},
		WriteCostRatio: 1, Evidence: y.newEvidence(), CreatedAt: y.At, LastRefresh: y.At, StateSince: y.At, Eligible: true,
		Confidence: min(0.99, y.pattern.Share), SavedSecondsPerSecond: saved / 1000, BenefitRatio: ratio, Timeline: t,
	}
	digests := []string{}
	for _, o := range used {
		one := y.newRecommendation(o, LookUpTable, o.reads)
		y.judgeRewrite(&one)
		r.Verdicts = append(r.Verdicts, one.Verdicts...)
		r.Confidence = min(r.Confidence, one.Confidence)
		y.addReads(r, o, o.reads, y.costs)
		y.addWrites(r, o)
		digests = append(digests, one.SchemaDigest)
		r.StorageBytes += one.StorageBytes
		for _, text := range one.CQL {
			if !slices.Contains(r.CQL, text) { // one keyspace for all
				r.CQL = append(r.CQL, text)
			}
		}
		r.Evidence.Executions += one.Evidence.Executions
		r.Evidence.Facts = append(r.Evidence.Facts, one.Evidence.Facts...)
		r.Risks = append(r.Risks, one.Risks...)
	}
	r.SchemaDigest = idOf(digests...)[2:]
	p := &y.pattern
	r.Evidence.Facts = append([]string{
		fmt.Sprintf("the %s was seen %d times (%d more were not known well enough): %s", y.cycle.Period, p.Periods, p.Missing, p.Why),
		fmt.Sprintf("it explains %.0f %% of the variance; the periods before told the later ones %.0f %% better than a flat line; %.0f %% of them are alike", 100*p.Strength, 100*p.Skill, 100*p.Share),
	}, r.Evidence.Facts...)
	r.Risks = append(y.timelineRisks(t), r.Risks...)
	r.Alternatives = append(r.Alternatives,
		Alternative{Title: t.Static, WorkMs: t.StaticMs, Reason: fmt.Sprintf("the best single choice takes %s of work each %s instead of %s", ms(t.StaticMs), y.cycle.Period, ms(t.CostMs))},
		Alternative{Title: "leave it as it is", WorkMs: t.NothingMs, Reason: fmt.Sprintf("takes %s of work each %s", ms(t.NothingMs), y.cycle.Period)})
	r.Why = y.whyTimeline(t, saved)
	return r
}

func (y *cyclePlanner) timelineRisks(t *Timeline) []string {
	created := 0
	for _, turn := range t.Calendar.Turns(len(y.cycle.Steps)) {
		if turn.Create {
			created++
		}
	}
	risks := []string{
		fmt.Sprintf("Each %s %s filled anew: their bases are read whole, and every entry is written.", y.cycle.Period, words.Plural(created, "table is", "tables are")),
		"Cassandra keeps a snapshot of a table that is dropped unless auto_snapshot is off: its disk fills by the table's size each time. `nodetool clearsnapshot`, or auto_snapshot_ttl.",
		"The first time, a table serves only when enough of the application's own reads were compared, which may be some time after its step began.",
		"A cycle that stops holding is noticed after two days; until then tables come and go at the wrong time, which costs work and is never wrong.",
	}
	if !t.Proven {
		risks = append(risks, "The calendar was not proven to be the cheapest.")
	}
	return risks
}

// writeTimeline prints a calendar: what changes at each step, and what answers in it.
func (p *textPage) writeTimeline(t *Timeline) {
	if t == nil {
		return
	}
	p.heading("Calendar")
	work := func(v float64) string { return ms(v) + " of work" }
	p.line("  with its changes   %s each %s (%s for the changes)", work(t.CostMs), t.Cycle.Period, ms(t.ChangesMs))
	p.line("  otherwise at best  %s: %s", work(t.StaticMs), t.Static)
	p.line("  as it is           %s", work(t.NothingMs))
	for i := range t.Steps {
		s := &t.Steps[i]
		p.line("")
		p.line("  %s  for %s, %s", s.Begins, seconds(s.Length.Seconds()), work(s.WorkMs))
		for _, x := range []struct {
			what string
			list []string
		}{{"make ", s.Create}, {"drop ", s.Drop}} {
			for _, table := range x.list {
				text := x.what + table
				if n := slices.IndexFunc(t.Calendar.Seasons, func(s plan.Season) bool { return s.Rewrite.Table == table }); n >= 0 && x.what == "make " {
					text += fmt.Sprintf(" (%s; begun about %s before)", bytes(t.Calendar.Seasons[n].Bytes), seconds(t.Calendar.Seasons[n].Fill.Seconds()))
				}
				p.line("    %s", text)
			}
		}
		for _, a := range s.Answers {
			from := a.Table
			if from == "" {
				from = "as it was written"
			}
			often := "never"
			if a.PerSecond > 0 {
				often = rate(a.PerSecond)
			}
			p.line("    %s  %-14s %s, %s: %s", a.Fingerprint[:min(8, len(a.Fingerprint))], often, from, ms(a.WorkMs), a.Text)
		}
	}
}

// whyTimeline says in a paragraph why a calendar is advised.
func (y *cyclePlanner) whyTimeline(t *Timeline, saved float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The traffic goes with the %s, in %d steps (%d times seen, %.0f %% of them alike). ", y.cycle.Period, len(t.Steps), y.pattern.Periods, 100*y.pattern.Share)
	for i := range t.Calendar.Seasons {
		s := &t.Calendar.Seasons[i]
		if s.Always() {
			fmt.Fprintf(&b, "%s pays at all times. ", s.Rewrite.Table)
			continue
		}
		var when []string
		for step, there := range s.Steps {
			if there {
				when = append(when, fmt.Sprintf("from %s for %s", y.cycle.When(step), seconds(y.cycle.Steps[step].Length.Seconds())))
			}
		}
		fmt.Fprintf(&b, "%s pays %s; else its writes would cost more than its reads save. ", s.Rewrite.Table, enumerated(when))
	}
	fmt.Fprintf(&b, "With the changes (%s of work) one %s takes %s of work; with %s it would take %s, with the tables as they are %s: %s saved in every hour. ",
		ms(t.ChangesMs), y.cycle.Period, ms(t.CostMs), t.Static, ms(t.StaticMs), ms(t.NothingMs), seconds(perHour(saved)))
	b.WriteString("Each table is made ahead of its step and dropped when it is over; the application's own tables stay as they are.")
	return b.String()
}

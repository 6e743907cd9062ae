package recommend

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
)

// CalendarCache remembers what the timeline tier came to last, so that rounds of advice a minute apart need not design the same calendar
// each. It is told again only where everything that it depends on is as it was: the very same Past, which is read once an hour; schema, statistics (those of
// the Past, if it has any), nodes, cost model, thresholds and limits by their content; and each answer of the Judge, who
// is asked anew. So advice is the same with a cache and without, unless the time for looking was over first: such a search is
// repeated after a while, with twice the time, up to a bound (patience, longest). The zero value remembers nothing yet; it is safe for
// concurrent use.
type CalendarCache struct {
	mu       sync.Mutex
	last     *finding
	designed int
}

// finding is one result with what it was worked out from. It is not changed: rounds share it.
type finding struct {
	past     *Past
	facts    [sha256.Size]byte
	asked    []question
	found    *Recommendation // nil: there is none
	why      string
	problems []string

	at      time.Time     // of the round that looked for it
	wall    time.Duration // that it had for looking
	stopped bool          // it was over before all was looked at
}

// A search that the time was over for is tried again once ten times that time has gone by, so that looking takes a tenth of one processor; with
// twice the time each, until it had four times what the limits say: with half a minute these are tries after 5 and 15 minutes, of one and of two minutes.
// What that comes to is kept for as long as the Past. The next Past's search begins with the time that the last one had.
const (
	patience = 10
	longest  = 4
)

// retryDue reports whether a search is to be tried again.
func (p *finding) retryDue(at time.Time, limit time.Duration) bool {
	return p.stopped && p.wall < longest*limit && at.Sub(p.at) >= patience*p.wall
}

// nextWall is how long the next search may take; zero, as the limit, is for ever.
func (a *CalendarCache) nextWall(limit time.Duration, again bool) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	wall := limit
	if a.last != nil {
		wall = max(wall, a.last.wall)
	}
	if again {
		wall *= 2
	}
	return min(wall, longest*limit)
}

// keepBetter is what is told after a further search: where that was cut off, too, and came to less than the one before, it is the one before that stands.
func (p *finding) keepBetter(before *finding) {
	if before == nil || !p.stopped || before.found == nil || p.found != nil && p.found.Timeline.CostMs <= before.found.Timeline.CostMs {
		return
	}
	p.found, p.why, p.problems = before.found, before.why, before.problems
}

// question is one that the Judge was asked.
type question struct {
	about    plan.Rewrite
	verdicts []plan.Verdict
}

// Designed is how often a calendar had to be looked for.
func (a *CalendarCache) Designed() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.designed
}

// factsOf is a digest of what a calendar depends on besides the Past and the Judge.
func factsOf(in *Input) ([sha256.Size]byte, error) {
	facts := struct {
		Schema     *schema.Schema
		Statistics []schema.Stats
		Nodes      int
		Cost       *cost.CassandraParameters
		Limits     solve.Limits
		Thresholds Thresholds
	}{in.Schema, in.Statistics, in.Nodes, nil, in.Limits, in.Thresholds}
	if in.Cost != nil {
		p := in.Cost.Parameters()
		facts.Cost = &p
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("recommend: what a calendar depends on: %w", err)
	}
	return sha256.Sum256(text), nil
}

// lookUp is the last result if it would be the same again, or was only cut off (retryDue); else nil.
func (a *CalendarCache) lookUp(in *Input, facts [sha256.Size]byte) *finding {
	a.mu.Lock()
	p := a.last
	a.mu.Unlock()
	if p == nil || p.past != in.Past || p.facts != facts {
		return nil
	}
	for i := range p.asked {
		q := &p.asked[i]
		if in.Judge == nil || !reflect.DeepEqual(in.Judge.Judge(q.about, in.Past.Counts, in.Schema), q.verdicts) {
			return nil
		}
	}
	return p
}

// CacheState is what a CalendarCache remembers, as data: a round in another process takes it along, and hands it back.
type CacheState struct {
	Designed int
	Result   *Result // nil: none yet
}

// Result is what a search came to.
type Result struct {
	Current  bool // it is of the very Past that the page is written for
	Facts    [sha256.Size]byte
	Asked    []Question
	Found    *Recommendation
	Why      string
	Problems []string
	At       time.Time
	Wall     time.Duration
	Stopped  bool
}

// Question is one that the Judge was asked, with the answer.
type Question struct {
	About    plan.Rewrite
	Verdicts []plan.Verdict
}

// State writes down what is remembered, for a round with that Past.
func (a *CalendarCache) State(past *Past) CacheState {
	a.mu.Lock()
	defer a.mu.Unlock()
	page := CacheState{Designed: a.designed}
	if p := a.last; p != nil {
		r := &Result{p.past == past, p.facts, nil, p.found, p.why, p.problems, p.at, p.wall, p.stopped}
		for _, q := range p.asked {
			r.Asked = append(r.Asked, Question{q.about, q.verdicts})
		}
		page.Result = r
	}
	return page
}

// Restore makes the cache remember what a state says that was written for a round with that Past.
func (a *CalendarCache) Restore(page CacheState, past *Past) {
	var last *finding
	if r := page.Result; r != nil {
		last = &finding{past, r.Facts, nil, r.Found, r.Why, r.Problems, r.At, r.Wall, r.Stopped}
		if !r.Current {
			last.past = &Past{} // no other is that one
		}
		for _, q := range r.Asked {
			last.asked = append(last.asked, question{q.About, q.Verdicts})
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last, a.designed = last, page.Designed
}

func (a *CalendarCache) store(p *finding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = p
	a.designed++
}

// judgeRecorder writes down what a Judge answers.
type judgeRecorder struct {
	judge Judge
	asked []question
}

// Judge asks the one.
func (w *judgeRecorder) Judge(lu plan.Rewrite, s *capture.Snapshot, tables *schema.Schema) []plan.Verdict {
	verdicts := w.judge.Judge(lu, s, tables)
	if slices.ContainsFunc(w.asked, func(q question) bool { return reflect.DeepEqual(q.about, lu) }) {
		return verdicts
	}
	w.asked = append(w.asked, question{lu, slices.Clone(verdicts)})
	return verdicts
}

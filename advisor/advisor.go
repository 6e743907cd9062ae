package advisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
)

// Options configure an Advisor. Snapshots, Schema and Solver are required.
type Options struct {
	// Snapshots returns the traffic to learn from, Schema the tables as they are now. Either may return nil: then there
	// is no advice yet (ErrNothingSeen).
	Snapshots func() *capture.Snapshot
	Schema    func() *schema.Schema
	// Statistics returns what was measured of the tables (schema.MeasureAll). Nil, or a table that is missing: sizes are
	// assumed, and the model says so.
	Statistics func() []schema.Stats
	Nodes      func() int    // of the cluster; nil or less than 1: 1
	Driver     func() string // STARTUP's DRIVER_NAME of the application, for sketches; nil: not known
	// Past reads the recorded history; nil, or nil without an error: no calendar is looked for. An error is told with the advice.
	Past   func(ctx context.Context) (*recommend.Past, error)
	Judge  recommend.Judge // nil: nothing is eligible, and the verdict says so
	Solver solve.Solver    // see solve.New
	Ready  func() error    // why there is no exact solver, asked each round, see solve.Process; nil: there is
	// Opened is told of advice that is new, or asked again, once it is kept: what a person can act upon. It must not block; nil: nobody is.
	Opened  func([]recommend.Recommendation)
	Store   Store        // of what people said about the model; nil: it is kept in memory only
	Changes *change.Book // what is proposed, and what became of it; nil: it is kept in memory only
	// Leads reports whether this process is the one of several with the same Store and Changes that advises; the others read what it advised. nil: there is one.
	Leads      func() bool
	Log        *slog.Logger         // nil: slog.Default
	Clock      func() time.Time     // nil: time.Now
	Interval   time.Duration        // between rounds of Run; 0: a minute
	Thresholds recommend.Thresholds // what is worth advising
	// DataKeyspace is where tables of ours are to lie: see recommend.Input.
	DataKeyspace string
	Cost         *cost.Cassandra // measured here (helenus calibrate); nil: the defaults
	Limits       solve.Limits    // of each integer program; zero: 2,000 nodes, gap 0.1 %, half a minute
	// Make works a round out. Nil: recommend.Make, in this process; see round.Process for one that is bounded, and has a Judge and a Solver of its own.
	Make func(ctx context.Context, in recommend.Input) (*recommend.Advice, error)
	// Compare makes and reads model files. Nil: infer.Compare, in this process; see round.Process for one that is bounded.
	Compare func(context.Context, *capture.Snapshot, *schema.Schema, []schema.Stats, correction.List, string) (*infer.Comparison, error)
}

// Store keeps documents: what people said about the model. *store.Store of capture/store is one.
type Store interface {
	Save(ctx context.Context, kind, id string, v any) error
	// Decide is Save with lines of the audit trail, all or nothing.
	Decide(ctx context.Context, kind, id string, v any, entries ...store.Entry) error
	Load(ctx context.Context, kind, id string, v any) error // store.ErrNotFound if there is none
	List(ctx context.Context, kind string) ([]store.Document, error)
	// Replace is Decide if the version that is stored is the one given; else it is store.ErrConflict.
	Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error)
}

// ErrNothingSeen says that there is no traffic, or no schema, to learn from yet.
var ErrNothingSeen = errors.New("no traffic seen yet: send the application's statements through Helenus, then ask again")

// NotFoundError says that no recommendation has that id.
type NotFoundError struct{ ID string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no recommendation %q: `helenus recommendations` lists them", e.ID)
}

// StateError says that a decision does not fit the state of a recommendation.
type StateError struct {
	ID    string
	State recommend.State
	Wish  string // "dismiss", "snooze", "approve", "reopen"
	Why   string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("can not %s recommendation %s, it is %s: %s", e.Wish, e.ID, e.State, e.Why)
}

// Advisor gives advice and remembers what became of it. It is safe for concurrent use, and a prometheus.Collector.
type Advisor struct {
	o Options

	cache recommend.CalendarCache // the calendar of the rounds before

	round sync.Mutex // one round at a time

	mu      sync.RWMutex
	loaded  bool
	book    book
	latest  *recommend.Advice // of the latest round, as worked out
	last    time.Time         // when it was
	took    time.Duration
	rounds  map[result]uint64
	decided [len(wishes)]atomic.Uint64 // by the place of the wish
	trouble atomic.Pointer[string]     // why the latest round failed; nil if it did not
	without string                     // why there is no exact solver; "" if there is
	known   *ledger                    // of corrections; nil: not loaded yet
	ledger  int64                      // the version of its document
	stale   bool                       // another process may have advised since latest was read
	wished  time.Time                  // when another process last wanted a round
	against []string                   // what the latest round said that contradicts corrections

	poke chan struct{} // holds a token when the next round should not wait
}

// New makes an advisor. It fails if a required option is missing.
func New(o Options) (*Advisor, error) {
	if o.Snapshots == nil || o.Schema == nil || o.Solver == nil {
		return nil, errors.New("advisor: Snapshots, Schema and Solver are required")
	}
	if o.Statistics == nil {
		o.Statistics = func() []schema.Stats { return nil }
	}
	if o.Nodes == nil {
		o.Nodes = func() int { return 1 }
	}
	if o.Driver == nil {
		o.Driver = func() string { return "" }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Interval <= 0 {
		o.Interval = time.Minute
	}
	if o.Limits == (solve.Limits{}) {
		o.Limits = solve.Limits{Nodes: 2000, Gap: 0.001, Wall: 30 * time.Second}
	}
	if o.Make == nil {
		o.Make = recommend.Make
	}
	if o.Compare == nil {
		o.Compare = infer.Compare
	}
	if o.Changes == nil {
		o.Changes = change.Open(nil)
	}
	o.Thresholds = o.Thresholds.WithDefaults()
	return &Advisor{o: o, poke: make(chan struct{}, 1), rounds: map[result]uint64{}}, nil
}

// Advise works advice out from the traffic and the tables as they are now. It keeps nothing and decides nothing: the same
// inputs give the same advice, byte for byte. Recommendations are all open.
func (a *Advisor) Advise(ctx context.Context) (*recommend.Advice, error) {
	snapshot, tables := a.o.Snapshots(), a.o.Schema()
	if snapshot == nil || tables == nil || len(snapshot.Statements) == 0 {
		return nil, ErrNothingSeen
	}
	begun := time.Now()
	past, problem := a.past(ctx)
	said, err := a.corrected(ctx)
	if err != nil {
		return nil, err
	}
	advice, err := a.guarded(ctx, recommend.Input{
		Past: past, Cache: &a.cache, Corrections: said.current().Corrections, Shown: a.shown(), Declined: a.declined(),
		Snapshot: snapshot, Schema: tables, Statistics: a.o.Statistics(), Nodes: max(1, a.o.Nodes()), Driver: a.o.Driver(),
		Judge: a.o.Judge, Cost: a.o.Cost, Solver: a.o.Solver, Limits: a.o.Limits, Thresholds: a.o.Thresholds, At: a.o.Clock(), DataKeyspace: a.o.DataKeyspace,
	})
	if err != nil {
		return nil, err
	}
	if problem != nil {
		advice.Problems = append(advice.Problems, problem.Error())
	}
	advice.Duration = time.Since(begun)
	return advice, nil
}

// past is what the history says, if it is asked.
func (a *Advisor) past(ctx context.Context) (*recommend.Past, error) {
	if a.o.Past == nil {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	p, err := a.o.Past(ctx)
	if err != nil {
		return nil, fmt.Errorf("no calendar: the history can not be read: %w", err)
	}
	return p, nil
}

// PanicError says that working advice out ended in a panic: a defect of ours that some traffic brought to light.
type PanicError struct{ Value any }

func (e *PanicError) Error() string {
	return fmt.Sprintf("working the advice out failed (%v); this is a defect, please report it with the log: the proxy is not affected", e.Value)
}

// guarded keeps a defect in the advice from ending the process, whose data path applications depend on.
func (a *Advisor) guarded(ctx context.Context, in recommend.Input) (advice *recommend.Advice, err error) {
	defer func() {
		if v := recover(); v != nil {
			a.o.Log.Error("advice panicked", "value", v, "stack", string(debug.Stack()))
			advice, err = nil, &PanicError{v}
		}
	}()
	return a.o.Make(ctx, in)
}

// Refresh works advice out, merges it with the decisions, keeps the result and returns it: the advice, with Recommendations
// replaced by all that are remembered, in their states.
func (a *Advisor) Refresh(ctx context.Context) (*recommend.Advice, error) {
	if a.o.Leads != nil && !a.o.Leads() {
		return a.ask(ctx)
	}
	a.round.Lock()
	defer a.round.Unlock()
	out, err := a.refresh(ctx)
	if err == nil && a.o.Leads != nil {
		a.share(ctx)
	}
	return out, err
}

// refresh is Refresh in this process; a.round is held.
func (a *Advisor) refresh(ctx context.Context) (*recommend.Advice, error) {
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	without := a.unsolved()
	advice, err := a.Advise(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		return nil, a.failed(ctx, err)
	}
	before := a.current(time.Time{})
	merged := before.clone()
	changed := merged.merge(advice.Recommendations, advice.At, a.unheard(advice))
	fresh := opened(&before, &merged)
	if err := a.keep(ctx, &before, &merged, advice.At); err != nil {
		return nil, a.failed(ctx, err)
	}
	if a.o.Opened != nil && len(fresh) > 0 {
		a.o.Opened(fresh)
	}
	a.rounds[okResult]++
	a.trouble.Store(nil)
	a.latest, a.last, a.took = advice, advice.At, advice.Duration
	a.contradicted(advice.Model.Corrections)
	for _, problem := range advice.Problems {
		a.o.Log.Warn("advice is incomplete", "reason", problem)
	}
	if without != "" { // which is in the log already
		advice.Problems = append(advice.Problems, "calendars are worked out by a heuristic: "+without)
	}
	if changed > 0 {
		a.o.Log.Info("recommendations changed", "changed", changed, "known", len(merged.Entries), "took", advice.Duration)
	}
	return a.merged(), nil
}

// unsolved looks whether there is an exact solver, and says why there is none. The log has it once.
func (a *Advisor) unsolved() (why string) {
	if a.o.Ready != nil {
		if err := a.o.Ready(); err != nil {
			why = err.Error()
		}
	}
	a.mu.Lock()
	before := a.without
	a.without = why
	a.mu.Unlock()
	switch {
	case why != "" && why != before:
		a.o.Log.Warn("calendars are worked out by a heuristic, and are worse for it; all else works", "why", why)
	case why == "" && before != "":
		a.o.Log.Info("the exact solver is there")
	}
	return why
}

// failed notes that a round failed, and returns why. What was advised before stays. The lock is held.
func (a *Advisor) failed(ctx context.Context, why error) error {
	a.rounds[resultOf(why)]++
	if ctx.Err() != nil || errors.Is(why, ErrNothingSeen) { // nothing is wrong
		return why
	}
	trouble := fmt.Sprintf("the round of advice of %s failed, and what was advised before stays: %v", a.o.Clock().UTC().Format(time.RFC3339), why)
	a.trouble.Store(&trouble)
	var e *round.Error
	if errors.As(why, &e) && e.Words != "" {
		a.o.Log.Error("a round of advice failed in its process", "why", e.What, "said", e.Words)
	}
	return why
}

// Trouble says why the latest round failed; "" if it did not. It waits for nobody who stores something.
func (a *Advisor) Trouble() string {
	if why := a.trouble.Load(); why != nil {
		return *why
	}
	return ""
}

// merged is the latest advice with what is remembered; the lock is held.
func (a *Advisor) merged() *recommend.Advice {
	if a.latest == nil {
		return nil
	}
	out := *a.latest
	out.Recommendations = a.current(a.o.Clock()).Entries
	return &out
}

// Latest returns what the latest round gave, merged with all decisions since; nil if there was none in this process.
func (a *Advisor) Latest() *recommend.Advice {
	a.catchUp()
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.merged()
}

// Recommendations returns all that are remembered, also from before a restart.
func (a *Advisor) Recommendations(ctx context.Context) ([]recommend.Recommendation, error) {
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.current(a.o.Clock()).Entries, nil
}

// Recommendation returns one of them. The beginning of an id is enough if only one begins so.
func (a *Advisor) Recommendation(ctx context.Context, id string) (recommend.Recommendation, error) {
	all, err := a.Recommendations(ctx)
	if err != nil {
		return recommend.Recommendation{}, err
	}
	b := book{Entries: all}
	r, err := b.named(id)
	if err != nil {
		return recommend.Recommendation{}, err
	}
	return *r, nil
}

// Run refreshes at once and then at every interval, until ctx ends. Errors are logged; advice is not worth a crash.
func (a *Advisor) Run(ctx context.Context) {
	ticker := time.NewTicker(a.o.Interval)
	defer ticker.Stop()
	for {
		_, err := a.Refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrNothingSeen):
			a.o.Log.Debug("no advice yet", "reason", err)
		case err != nil:
			a.o.Log.Warn("no advice this time", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-a.poke:
		}
	}
}

// enough is how long traffic must have been looked at for advice to expire that was given on more.
const enough = time.Hour

// unheard tells of advice that is not given any more whether that may be because too little was said since this process started. It was given on what an
// earlier process saw: it stays until as much was seen again, or an hour of traffic was, unless its table is gone.
func (a *Advisor) unheard(advice *recommend.Advice) func(*recommend.Recommendation) bool {
	tables := a.o.Schema()
	return func(r *recommend.Recommendation) bool {
		seen := time.Duration(advice.Model.Window * float64(time.Second))
		return seen < min(enough, r.Evidence.To.Sub(r.Evidence.From)) && (tables == nil || tables.Table(r.Keyspace, r.Table) != nil)
	}
}

// shown are the ids of what is advised now: what a round needs in order not to change its mind for little. Nil before the first.
func (a *Advisor) shown() (ids []string) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.latest != nil {
		ids = []string{}
	}
	b := a.current(time.Time{})
	for i := range b.Entries {
		if r := &b.Entries[i]; r.State == recommend.Open || r.State == recommend.Approved {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// declined are the ids of what people have dismissed, or put off.
func (a *Advisor) declined() (ids []string) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	b := a.current(time.Time{})
	for i := range b.Entries {
		if r := &b.Entries[i]; r.State == recommend.Rejected || r.State == recommend.Snoozed {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// contradicted tells the log of corrections that the facts, or the tables, contradict: once, not each round. The lock is held.
func (a *Advisor) contradicted(list []infer.Corrected) {
	var now []string
	for i := range list {
		c := &list[i]
		if !c.Contradicted() {
			continue
		}
		text := c.Text + ": " + c.Contradiction()
		now = append(now, text)
		if !slices.ContainsFunc(a.against, func(before string) bool { return strings.HasPrefix(before, c.Text+": ") }) {
			a.o.Log.Warn("a correction of the model is contradicted", "correction", c.Text, "because", c.Because, "how", c.Contradiction())
		}
	}
	a.against = now
}

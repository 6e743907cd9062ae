package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/kinds"
)

// Store keeps changes over restarts; *store.Store is one. What Save returned for is there after a crash. Load answers
// store.ErrNotFound for what was never saved; List is in the order of the ids.
type Store interface {
	Save(ctx context.Context, kind, id string, v any) error
	// Decide is Save with lines of the audit trail, all or nothing.
	Decide(ctx context.Context, kind, id string, v any, entries ...store.Entry) error
	Load(ctx context.Context, kind, id string, v any) error
	change.Store // which it has the changes in
}

// KindBackfill is the kind of document of a checkpoint in the Store. It is none of the record: it is written all the time, by those who do the work.
const KindBackfill = "backfill"

// Traffic is the relay as far as a change needs it.
type Traffic interface {
	// Barrier returns when every request that was under way when it was called has been answered or lost.
	Barrier(ctx context.Context) error
}

// Published is a change as the proxy has to treat it from now on.
type Published struct {
	ID      string
	Rewrite *plan.Rewrite
	Change  kind.Fitted
	Runner  kind.Runner // a kind.Keeper, if Change is a kind.Derived
	Mode    Mode        // zero: it was stopped, and is only watched for what its tables would have to be filled anew after
	// OnEntryFailure is what becomes of a write whose entry can not be written: TurnBack or Refuse.
	OnEntryFailure string
	Refused        map[string]string // statements that it is not to answer, by fingerprint (Change.Refused)
	Empties        bool              // its tables are about to be emptied (kind.Emptied)
}

// Settings of a Manager; zero values are replaced by the defaults named.
type Settings struct {
	Settle      time.Duration     // 5 s after the barrier; longer than a request may be under way
	Ranges      int               // 256 parts of the ring
	Workers     int               // 4 parts at a time
	InFlight    int               // 64 entries written at a time, per part
	Rate        int               // entries a second, 0 for no limit
	Read        gocql.Consistency // of what we compare by ourselves; QUORUM
	Write       gocql.Consistency // of backfill; ALL
	Passes      int               // 5; passes of verification before it fails
	ShadowReads int64             // 10,000 reads compared
	ShadowFor   time.Duration     // 24 h, after which our own comparisons are enough
	ShadowLeast int64             // 100; enough then where we can make none
	ShadowSelf  int               // 100 requests of our own
	SweepFirst  time.Duration     // 1 min from the start, of serving or of the process, to the first pass
	SweepEvery  time.Duration     // 1 h between passes while serving
	Retry       time.Duration     // 1 s, doubled up to longestRetry
	ReadSamples int               // 3; times a difference is read again
	SampleDelay time.Duration     // 500 ms between them
}

// Defaults fills in what was left zero.
func (s Settings) Defaults() Settings {
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	dur := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	dur(&s.Settle, 5*time.Second)
	num(&s.Ranges, 256)
	num(&s.Workers, 4)
	num(&s.InFlight, 64)
	if s.Read == 0 {
		s.Read = gocql.Quorum
	}
	if s.Write == 0 {
		s.Write = gocql.All
	}
	num(&s.Passes, 5)
	if s.ShadowReads <= 0 {
		s.ShadowReads = 10000
	}
	dur(&s.ShadowFor, 24*time.Hour)
	if s.ShadowLeast <= 0 {
		s.ShadowLeast = 100
	}
	s.ShadowLeast = min(s.ShadowLeast, s.ShadowReads)
	num(&s.ShadowSelf, 100)
	dur(&s.SweepFirst, time.Minute)
	dur(&s.SweepEvery, time.Hour)
	dur(&s.Retry, time.Second)
	num(&s.ReadSamples, 3)
	dur(&s.SampleDelay, 500*time.Millisecond)
	return s
}

// Parts are what a Manager works with; all must be set but Changes, Blocked, Missed, Doubted, Current, Covered and Wait.
type Parts struct {
	Session exec.Session
	Kinds   kinds.Set
	Runners map[string]kind.Runner // by the names of Kinds
	Store   Store
	Changes *change.Book // in Store; nil: nobody else has a part in them
	Traffic Traffic
	Publish func([]Published) // puts in force, at once, for all statements from now on
	Schema  func() *schema.Schema
	Now     func() time.Time
	Log     *slog.Logger
	Role    string // that Session logs in with, "" if it does not
	// Blocked says why nothing can be verified now, "" if it can: while it does, verification waits. nil: it always can.
	Blocked func() string
	// Missed counts the writes that went on without their entry, of one change. nil: there are none.
	Missed func(id string) uint64
	// Doubted tells whether a difference is none here: reads of a change are being turned back by an order that is on its way, or what others noted is not known yet. nil: it always is one.
	Doubted func(id string) bool
	// Shared says that other processes carry out the same changes: what they verified is verified. Lead runs what one of them alone is to do, in a context that ends when it is
	// no more to; nil: there is no other.
	Shared bool
	Lead   func(ctx context.Context, f func(context.Context))
	// Current reports whether what is known here of the changes is all that others may have stored: this process's lease holds. nil: there is no other.
	Current func() bool
	// Covered says whether all writes around us are told of, by CDC agents. nil: they are not.
	Covered func() bool
	// Wait waits as long as it is told, or until the context ends, which is then its error. nil: by the machine's clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Manager drives all changes of one proxy.
type Manager struct {
	Parts

	settings Settings

	publishing sync.Mutex // orders calls of Publish
	mu         sync.Mutex // of what follows; never held while the store is waited for
	runs       map[string]*run
	reserved   map[string]*plan.Rewrite // by those who approve just now
	checked    bool                     // a schema was seen since the start; before that nothing is served
	ctx        context.Context          // of Run, nil before
	wait       sync.WaitGroup
	backlog    backlog
	tally      tally
	unfit      atomic.Pointer[string] // see Unfit
}

// run is one change under way.
type run struct {
	id      string // never changed
	orders  lock   // one transition after the other; held until it is published and saved
	mu      lock   // shows m as it was while m is being stored
	m       Change
	rewrite plan.Rewrite             // as in m, never changed
	kind    kind.Kind                // nil if this version knows none of its name
	runner  kind.Runner              // of its kind
	turns   int                      // how often its state was entered or begun anew: whose work is outdated finds another number
	now     atomic.Pointer[fittedTo] // nil if it does not fit its base at all
	cancel  context.CancelFunc       // of the work under way
	wake    chan struct{}
	samples chan struct{} // a read was compared
	pace    atomic.Pointer[ordered]
	doubts  doubts
	missed  *uint64 // entries in all (Parts.Missed), when the last pass began that found none missing; nil: there was none

	unanswered []unanswered // reads that failed as they were written, to be compared by token ranges
	failed     int64        // how many did, in this process

	trail  []store.Entry   // of the audit: what is in force, and not stored yet
	stored json.RawMessage // as it was stored last, here or elsewhere
	unfit  string          // why this version can not follow it as it was stored

	marked bool // the comment of its table says that it was turned back: see pending.go
}

// fittedTo is a change as it fits its base.
type fittedTo struct {
	kind.Fitted
	derived  kind.Derived  // the same, if it has tables of its own
	verified kind.Verified // the same, if there are tables to compare with the base
	tables   []kind.Table
}

// fits takes a change on as it fits its base; nil: it does not.
func (r *run) fits(f kind.Fitted) {
	if f == nil {
		r.now.Store(nil)
		return
	}
	now := &fittedTo{Fitted: f}
	now.verified, _ = f.(kind.Verified)
	if now.derived, _ = f.(kind.Derived); now.derived != nil {
		now.tables = now.derived.Tables()
	}
	r.now.Store(now)
}

// fitted is the change as it fits the base now, nil if it does not.
func (r *run) fitted() kind.Fitted {
	if f := r.now.Load(); f != nil {
		return f.Fitted
	}
	return nil
}

// derived is the change if it has tables of its own, nil if it has none.
func (r *run) derived() kind.Derived {
	if f := r.now.Load(); f != nil {
		return f.derived
	}
	return nil
}

// verified is the change if there are tables to compare with the base, nil if not.
func (r *run) verified() kind.Verified {
	if f := r.now.Load(); f != nil {
		return f.verified
	}
	return nil
}

// lost words that a pass found rows which reads did not find.
func (r *run) lost(rows int64) string {
	if f, ok := r.fitted().(kind.Foreign); ok {
		return f.Lacks(rows)
	}
	return fmt.Sprintf("a sweep found %d rows without entry: something writes past the proxy, or an entry was lost", rows)
}

// tables are those of its own.
func (r *run) tables() []kind.Table {
	if f := r.now.Load(); f != nil {
		return f.tables
	}
	return nil
}

// noun is what people call it.
func (r *run) noun() string {
	if r.kind == nil {
		return "change"
	}
	return r.kind.Noun()
}

// run begins the run of a change.
func (m *Manager) run(c *plan.Rewrite) *run {
	r := &run{wake: make(chan struct{}, 1), samples: make(chan struct{}, 1), kind: m.Kinds.Find(c)}
	if r.kind != nil {
		c.Kind = r.kind.Name()
		r.runner = m.Runners[c.Kind]
	}
	r.rewrite = *c
	return r
}

// refit fits a change to its base table, or says what forbids it.
func (r *run) refit(c plan.Rewrite, base *schema.Table) (kind.Fitted, *condition.Refusal) {
	if r.kind == nil {
		return nil, condition.Schema.Refuse("%s", kinds.Unknown(&c))
	}
	return r.runner.Fit(c, base)
}

// New returns a Manager without changes.
func New(p Parts, settings Settings) *Manager {
	settings = settings.Defaults()
	if p.Changes == nil {
		p.Changes = change.Open(p.Store)
	}
	if p.Wait == nil {
		p.Wait = sleep.For
	}
	if p.Lead == nil {
		p.Lead = func(ctx context.Context, f func(context.Context)) { f(ctx) }
	}
	if p.Missed == nil {
		p.Missed = func(string) uint64 { return 0 }
	}
	if p.Doubted == nil {
		p.Doubted = func(string) bool { return false }
	}
	if p.Current == nil {
		p.Current = func() bool { return true }
	}
	if p.Blocked == nil {
		p.Blocked = func() string { return "" }
	}
	return &Manager{Parts: p, settings: settings, runs: map[string]*run{}, reserved: map[string]*plan.Rewrite{}, backlog: newBacklog()}
}

// begun is why a change is verified that was verified before.
const begun = "the process began: what was written while it was not there is verified first; reads run as they were written meanwhile"

// Restore reads the changes from the store and puts their modes in force. It is called before the proxy accepts its
// first connection. What was verified is verified anew: nobody followed the writes before. Reads are not served before a
// schema was seen (Look).
func (m *Manager) Restore(ctx context.Context) error {
	records, err := m.Changes.All(ctx)
	if err != nil {
		return err
	}
	runs := map[string]*run{} // all or none
	for i := range records {
		if records[i].Work == nil {
			continue
		}
		r, err := m.taken(&records[i])
		if err != nil {
			return err
		}
		r.m.Unfollowed = r.m.Unfollowed || !m.Shared // the process before may have left writes inside Cassandra of which it gave no order any more
		if !m.Shared && r.m.Emptying > 0 {
			r.m.emptied(m.Now())
		}
		if s := r.m.State; !m.Shared && (s == Serving || s == Shadow || s == Verify && r.m.Served) {
			r.m.Served = r.m.Served || s == Serving
			r.m.State, r.m.Progress = Verify, Progress{Started: m.Now()}
			if r.m.Reason == "" {
				r.m.Reason = begun
			}
			r.m.note(m.Now(), "", "verified again: "+begun)
		}
		m.fitStored(r)
		m.renew(ctx, r)
		r.repace()
		runs[r.m.ID] = r
	}
	m.mu.Lock()
	maps.Copy(m.runs, runs)
	m.mu.Unlock()
	m.remember(ctx)
	m.publish()
	m.Look(ctx)(m.Schema())
	return nil
}

// emptied has a change be filled anew whose base the process before may have emptied.
func (m *Change) emptied(now time.Time) {
	m.Emptying = 0
	if !filled[m.State] {
		return
	}
	const why = "the process before ended while its base was being emptied"
	m.refill(false)
	if m.State != Suspended && m.State != Failed {
		m.Served = m.Served || m.State == Serving
		m.State, m.Reason, m.Progress = DualWrite, why, Progress{Started: now}
	}
	m.note(now, "", "to be emptied, and filled anew: "+why)
}

// renew has a change whose tables have an earlier version's form begin anew: nothing of them can be kept.
func (m *Manager) renew(ctx context.Context, r *run) {
	d := r.derived()
	if d == nil || r.m.Form == d.Form() || !r.m.Active() || r.m.State == RollingBack || r.m.Broken {
		return
	}
	r.m.Form = d.Form()
	before := r.m.State
	if r.m.State != Suspended && r.m.State != Failed {
		r.m.State = Approved
	}
	r.m.T0, r.m.Passes, r.m.Entries = 0, 0, 0
	r.m.refill(false)
	r.m.Earlier, r.m.Compared = r.m.Earlier+r.m.Compared, 0
	r.m.Progress = Progress{Started: m.Now()}
	const why = "its table has the form of an earlier version: it is made and filled anew"
	r.m.note(m.Now(), "", why)
	entry := store.Entry{At: m.Now(), Action: refilling, Target: r.m.ID, Reason: why, Before: string(before), After: string(r.m.State)}.By(ctx, store.Self)
	if err := m.keep(ctx, r, &r.m, entry); err != nil { // then the next process does so again
		m.Log.Error("that a table is made anew could not be saved", "change_id", r.m.ID, "err", err)
	}
}

// remember and memorise keep what kinds remember over restarts. What can not be kept is found again, which takes longer and harms nothing.
func (m *Manager) remember(ctx context.Context) {
	for _, k := range m.Kinds {
		keeps, ok := m.Runners[k.Name()].(kind.Remembering)
		if !ok {
			continue
		}
		name, _ := keeps.Memory()
		var raw json.RawMessage
		err := m.Store.Load(ctx, name, name, &raw)
		if err == nil {
			err = keeps.Remember(raw)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			m.Log.Warn("what was remembered could not be read; it is found again", "what", name, "err", err)
		}
	}
}

func (m *Manager) memorise(ctx context.Context, runner kind.Runner) {
	keeps, ok := runner.(kind.Remembering)
	if !ok {
		return
	}
	name, v := keeps.Memory()
	if err := m.Store.Save(ctx, name, name, v); err != nil {
		m.Log.Warn("what is to be remembered could not be saved", "what", name, "err", err)
	}
}

// Run stores what is to be stored again, and, as long as this process leads, drives the changes, until the context ends.
func (m *Manager) Run(ctx context.Context) {
	var catching sync.WaitGroup
	guard.In(&catching, guard.Migrations, func() { guard.Loop(ctx, guard.Migrations, guard.Clock{Now: m.Now}, m.catchUp, nil) })
	if m.Shared {
		guard.In(&catching, guard.Backfill, func() { guard.Loop(ctx, guard.Backfill, guard.Clock{Now: m.Now}, m.help, nil) })
	}
	m.Lead(ctx, m.driveAll)
	catching.Wait()
}

// driveAll drives the changes until the context ends.
func (m *Manager) driveAll(ctx context.Context) {
	m.mu.Lock()
	m.ctx = ctx
	for _, r := range m.sorted() {
		m.start(r)
	}
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	m.ctx = nil
	m.mu.Unlock()
	m.wait.Wait()
}

// start begins to drive a change; m.mu is held.
func (m *Manager) start(r *run) {
	if ctx := m.ctx; ctx != nil && ctx.Err() == nil {
		guard.In(&m.wait, guard.Migrations, func() {
			guard.Loop(ctx, guard.Migrations, guard.Clock{Now: m.Now}, func(ctx context.Context) { m.drive(ctx, r) }, func(err error) { m.drivePanicked(ctx, r, err) })
		})
	}
}

// drivePanicked turns the reads of a change back whose driving panicked; it is driven again in a while.
func (m *Manager) drivePanicked(ctx context.Context, r *run, err error) {
	if err := m.suspend(ctx, r, err.Error(), false); err != nil {
		m.Log.Error("a suspension could not be saved", "change_id", r.get().ID, "err", err)
	}
}

func (m *Manager) sorted() []*run {
	out := make([]*run, 0, len(m.runs))
	for _, r := range m.runs {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// Migrations lists all, by id. What is being stored is waited for by nobody who is told: that takes as long as the state takes.
func (m *Manager) Migrations() []Change {
	m.mu.Lock()
	runs := m.sorted()
	m.mu.Unlock()
	out := make([]Change, len(runs))
	for i, r := range runs {
		out[i] = m.shown(r)
	}
	return out
}

// shown is a change as people are shown it, with what is not saved of it.
func (m *Manager) shown(r *run) Change {
	x := r.seen()
	x.Conditions = condition.In(x.Reason)
	x.Title = m.Kinds.Title(&x.Rewrite)
	x.ChangeID = x.ID
	if x.IsPaused() {
		x.Progress.Throttled, x.Progress.ETA = Paused, 0
	}
	return x
}

func (r *run) get() Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m.clone()
}

// seen is get for who only tells: of a change that is being stored it is how that stood when it began.
func (r *run) seen() Change { return r.mu.look(func() Change { return r.m.clone() }) }

func (m *Manager) find(id string) (*run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[id]
	if r == nil {
		return nil, fmt.Errorf("%w: %s; `helenus changes` lists them", ErrUnknown, id)
	}
	return r, nil
}

// publish tells the proxy what holds now. Of a change that is being stored that is how it stood when that began: nobody's order waits for another's to be stored, and who asks
// more publishes once he has stored it.
func (m *Manager) publish() {
	m.publishing.Lock()
	defer m.publishing.Unlock()
	m.mu.Lock()
	runs, checked := m.sorted(), m.checked
	m.mu.Unlock()
	var out []Published
	for _, r := range runs {
		x := r.seen()
		mode := x.Mode()
		if !checked {
			mode.Serve, mode.Shadow = false, false
		}
		if f := r.fitted(); f != nil && (mode != (Mode{}) || x.stopped()) {
			out = append(out, Published{x.ID, &r.rewrite, f, r.runner, mode, x.OnEntryFailure, x.Refused, x.empties()})
		}
	}
	m.Publish(out)
}

// progress changes what is shown, without saving it. Why it waits is shown until it got somewhere.
func (m *Manager) progress(r *run, unit string, done, total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.m.Progress
	if done != p.Done {
		p.Throttled = ""
	}
	p.Done, p.Total, p.Unit, p.ETA, p.Ratio = done, total, unit, 0, 0
	if total <= 0 {
		return
	}
	p.Ratio = min(float64(done)/float64(total), 1)
	if p.Ratio >= 0.01 {
		spent := m.Now().Sub(p.Started)
		p.ETA = time.Duration(float64(spent) * (1 - p.Ratio) / p.Ratio)
	}
}

// atMost says of work that goes by what applications do that it takes so long at most, from now.
func (m *Manager) atMost(r *run, left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.m.Progress
	if left = max(left, 0); p.ETA == 0 || p.ETA > left {
		p.ETA = left
	}
}

func (r *run) throttle(reason string) {
	r.mu.Lock()
	r.m.Progress.Throttled = reason
	r.mu.Unlock()
}
